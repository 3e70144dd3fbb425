/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_names.c - see cp_names.h.
 */
#include "graph/cp_names.h"
#include "base/pattern.h"
#include "base/text_compare.h"
#include "model/device/launch.h"
#include "store/columns.h"

#include <string.h>

static uint8_t look_at_wait(const struct ht_cp_names *names, const char *name)
{
	if (names->waits)
		return names->waits(name) ? HT_CP_NAME_WAITS : 0;
	if (ht_text_starts(name, "cudaMemcpy") || ht_text_starts(name, "hipMemcpy") ||
	        ht_text_starts(name, "cuMemcpy") || ht_text_starts(name, "urEnqueueUSMMemcpy"))
		return HT_CP_NAME_WAITS | HT_CP_NAME_COPIES;
	if (!ht_is_wait_name(name))
		return 0;
	bool device = strstr(name, "Device") || strstr(name, "Ctx");
	return device ? HT_CP_NAME_WAITS | HT_CP_NAME_DEVICE : HT_CP_NAME_WAITS;
}

static uint8_t look_at_name(const struct ht_cp_names *names, const char *name)
{
	uint8_t bits = HT_CP_NAME_KNOWN | look_at_wait(names, name);
	if (!strcmp(name, "cudaHostAlloc") || !strcmp(name, "cudaLaunchKernel") ||
	        !strcmp(name, "cudaMemcpyAsync"))
		bits |= HT_CP_NAME_LOCKS;
	if (strstr(name, "EventRecord"))
		bits |= HT_CP_NAME_RECORDS;
	if (ht_text_starts(name, "autograd::engine::evaluate_function"))
		bits |= HT_CP_NAME_AUTOGRAD;
	if (names->data_load && !regexec(names->data_load, name, 0, NULL, 0))
		bits |= HT_CP_NAME_DATA_LOAD;
	return bits;
}

enum ht_status ht_cp_names_make(struct ht_run *run, const struct ht_trace *trace,
        const char *data_load, bool (*waits)(const char *name), struct ht_cp_names *ret_names)
{
	struct ht_cp_names names = { .trace = trace, .waits = waits };
	names.bits = ht_arena_alloc(run->scratch, trace->n_string_offsets + 1);
	if (!names.bits)
		return ht_fail_nomem(run->ctx);
	if (data_load) {
		names.data_load = ht_arena_alloc(run->scratch, sizeof(regex_t));
		if (!names.data_load)
			return ht_fail_nomem(run->ctx);
		char why[HT_PATTERN_WHY];
		enum ht_status status = ht_pattern_compile(data_load, names.data_load, why);
		if (status != HT_OK)
			return ht_fail(run->ctx, status, NULL, -1,
			        "data-load-events is an extended regular expression",
			        "bad expression '%s': %s", data_load, why);
	}
	*ret_names = names;
	return HT_OK;
}

void ht_cp_names_done(struct ht_cp_names *names)
{
	if (names->data_load)
		regfree(names->data_load);
	names->data_load = NULL;
}

void ht_cp_names_look(struct ht_cp_names *names, uint32_t id)
{
	names->bits[id] = look_at_name(names, ht_str(names->trace, id));
}
