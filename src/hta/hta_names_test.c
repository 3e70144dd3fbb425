/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_names_test.c - HTA's name rules on the names that make them interesting.
 */
#include "hta/hta_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void types_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum ht_work_type type;
	} cases[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		        HT_WORK_COMM },
		{ "void ncclKernel_x()", HT_WORK_COMM },
		{ "hcclKernel", HT_WORK_COMM },
		{ "hipMemcpyAsync", HT_WORK_COMM },
		{ "Memcpy HtoD (Pageable -> Device)", HT_WORK_MEMORY },
		{ "Memset (Device)", HT_WORK_MEMORY },
		{ "dma_copy", HT_WORK_MEMORY },
		{ "ampere_sgemm_128x64_tn", HT_WORK_COMPUTE },
		{ "void kernel_with_dma<int>()", HT_WORK_OTHER },
		{ "grid_Sync_kernel", HT_WORK_OTHER },
		{ "Stream Wait Event", HT_WORK_OTHER },
		{ "Event Sync", HT_WORK_OTHER },
		{ "cudaLaunchKernel", HT_WORK_OTHER },
		{ "cuLaunchKernel", HT_WORK_COMPUTE },
		{ "runFunction - job", HT_WORK_OTHER },
		{ "", HT_WORK_COMPUTE },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_string_equal(ht_hta_type_words[ht_hta_type(cases[i].name)],
		        ht_hta_type_words[cases[i].type]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
