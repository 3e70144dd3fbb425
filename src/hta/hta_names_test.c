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
		enum ht_hta_type type;
	} cases[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		        HT_HTA_COMMUNICATION },
		{ "void ncclKernel_x()", HT_HTA_COMMUNICATION },
		{ "hcclKernel", HT_HTA_COMMUNICATION },
		{ "hipMemcpyAsync", HT_HTA_COMMUNICATION },
		{ "Memcpy HtoD (Pageable -> Device)", HT_HTA_MEMORY },
		{ "Memset (Device)", HT_HTA_MEMORY },
		{ "dma_copy", HT_HTA_MEMORY },
		{ "ampere_sgemm_128x64_tn", HT_HTA_COMPUTATION },
		{ "void kernel_with_dma<int>()", HT_HTA_OTHER },
		{ "grid_Sync_kernel", HT_HTA_OTHER },
		{ "Stream Wait Event", HT_HTA_OTHER },
		{ "Event Sync", HT_HTA_OTHER },
		{ "cudaLaunchKernel", HT_HTA_OTHER },
		{ "cuLaunchKernel", HT_HTA_COMPUTATION },
		{ "runFunction - job", HT_HTA_OTHER },
		{ "", HT_HTA_COMPUTATION },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_string_equal(ht_hta_type_name(ht_hta_type(cases[i].name)),
		        ht_hta_type_name(cases[i].type));
}

static void shortens(void **state)
{
	static const char *const cases[][2] = {
		{ "void at::native::(anonymous namespace)::k<int>(x)", "at::native::::k" },
		{ "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)" },
		{ "ampere_sgemm", "ampere_sgemm" },
		{ "## forward (fast) ##", "##" },
		{ "nccl:_all_gather (x)", "" },
		{ "f<a->b, g(int)>(c) tail", "tail" },
		{ "a > b < c", "c" },
		{ "k<(1>2)>", "" },
	};
	struct ht_arena *arena = *state;
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_string_equal(ht_hta_shorten_name(arena, cases[i][0]), cases[i][1]);
}

static void names_kinds_of_copies(void **state)
{
	struct ht_arena *arena = *state;
	assert_string_equal(
	        ht_hta_memory_kind(arena, "Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH");
	assert_string_equal(ht_hta_memory_kind(arena, "Memset (Device)"), "Memset");
	assert_string_equal(ht_hta_memory_kind(arena, "Memcpy"), "Memcpy");
	assert_string_equal(ht_hta_memory_kind(arena, "dma"), "Memcpy Unknown");
}

static int setup(void **state)
{
	static struct ht_arena arena;
	struct ht_mem *mem = ht_mem_new();
	if (!mem)
		return 1;
	ht_arena_init(&arena, mem);
	*state = &arena;
	return 0;
}

static int teardown(void **state)
{
	struct ht_arena *arena = *state;
	struct ht_mem *mem = arena->mem;
	ht_arena_done(arena);
	ht_mem_release(mem);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_by_name),
		cmocka_unit_test(shortens),
		cmocka_unit_test(names_kinds_of_copies),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
