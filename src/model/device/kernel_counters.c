/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_counters.c - see kernel_counters.h.
 *
 * Column by column of the args, so that the group of a kernel's name is found once per counter.
 */
#include "model/device/kernel_counters.h"

#include "base/checked.h"
#include "model/device/launch.h"
#include "model/rows/frame.h"
#include "store/args.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_VALUE 9e12 /* beyond, millionths do not fit */

const uint8_t ht_kernel_counter_rules[HT_N_KC_VALUES] = HT_POOL_RULES(HT_KC_VALUES);
const struct ht_column ht_kernel_counter_columns[HT_N_KERNEL_COUNTER_COLUMNS] =
        HT_POOL_COLUMNS(HT_KC_KEYS, HT_KC_VALUES);

struct counting {
	const struct ht_trace *t;
	struct ht_pooled pooled;
	bool *is_chosen;   /* by row: a kernel of the frame */
	uint32_t *core;    /* by row: string id, HT_NO_STR */
	size_t *group_of;  /* by string id of the name: group + 1 of the counter in hand */
	uint32_t *core_of; /* and of which core */
};

static bool is_counter(const struct ht_trace *t, const struct ht_arg_column *column)
{
	static const char *const others[] = { "device", "stream", "context", "correlation",
		"Block Dim", "Mix Block Dim", "priority", "queued", "ts", "dur" };
	const char *key = ht_str(t, column->key);
	size_t n = strlen(key);
	if (column->top_level || (column->type != HT_ARG_I64 && column->type != HT_ARG_F64))
		return false;
	if (n >= 2 && !strcasecmp(key + n - 2, "id"))
		return false;
	for (size_t i = 0; i < HT_COUNT(others); i++)
		if (!strcmp(key, others[i]))
			return false;
	return true;
}

static enum ht_status choose_kernels(struct ht_run *run, struct counting *c)
{
	const struct ht_trace *t = c->t;
	struct ht_frame frame = { 0 };
	size_t n_rows = ht_n_events(t), n_strings = t->n_string_offsets;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	c->is_chosen = ht_arena_alloc(run->scratch, n_rows + 1);
	c->core = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *c->core);
	c->group_of = ht_arena_alloc(run->scratch, (n_strings + 1) * sizeof *c->group_of);
	c->core_of = ht_arena_alloc(run->scratch, (n_strings + 1) * sizeof *c->core_of);
	if (!c->is_chosen || !c->core || !c->group_of || !c->core_of)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame.n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[frame.gpu[i]];
		c->is_chosen[gpu->row] =
		        ht_is_counted_kernel(t, gpu) && t->name[gpu->row] != HT_NO_STR;
	}
	memset(c->core, 0xff, n_rows * sizeof *c->core);
	const struct ht_arg_column *cores = ht_arg_find(t, "Accelerator Core", HT_ARG_STR);
	for (uint64_t i = 0; cores && i < cores->n; i++)
		c->core[ht_arg_row(t, cores, i)] = (uint32_t)ht_arg_i64_at(t, cores, i);
	return HT_OK;
}

/* The group of a kernel and the counter in hand; false when out of memory. */
static bool find_group(
        struct counting *c, const struct ht_arg_column *column, uint32_t row, size_t *ret)
{
	const struct ht_trace *t = c->t;
	uint32_t name = t->name[row], core = c->core[row];
	if (c->group_of[name] && c->core_of[name] == core) {
		*ret = c->group_of[name] - 1;
		return true;
	}
	if (!ht_pooled_set_text(&c->pooled, HT_KC_NAME, ht_str(t, name)) ||
	        !ht_pooled_set_text(
	                &c->pooled, HT_KC_CORE, core == HT_NO_STR ? NULL : ht_str(t, core)) ||
	        !ht_pooled_set_text(&c->pooled, HT_KC_COUNTER, ht_str(t, column->key)) ||
	        !ht_pooled_group(&c->pooled, ret))
		return false;
	c->group_of[name] = *ret + 1;
	c->core_of[name] = core;
	return true;
}

static bool count_column(struct counting *c, const struct ht_arg_column *column)
{
	const struct ht_trace *t = c->t;
	memset(c->group_of, 0, t->n_string_offsets * sizeof *c->group_of);
	for (uint64_t i = 0; i < column->n; i++) {
		size_t group;
		uint32_t row = ht_arg_row(t, column, i);
		if (!c->is_chosen[row])
			continue;
		double value = ht_arg_f64_at(t, column, i);
		if (!(fabs(value) < MAX_VALUE))
			continue;
		if (!find_group(c, column, row, &group))
			return false;
		int64_t millionths = ht_round_sat(value * HT_KC_ONE), dur_ns = t->dur_ns[row];
		ht_pooled_set(&c->pooled, HT_KC_CALLS, 1);
		ht_pooled_set(&c->pooled, HT_KC_TOTAL, dur_ns);
		ht_pooled_set(&c->pooled, HT_KC_MIN, millionths);
		ht_pooled_set(&c->pooled, HT_KC_MAX, millionths);
		ht_pooled_set(&c->pooled, HT_KC_SUM_NS, (__int128)millionths * dur_ns);
		ht_pooled_set(&c->pooled, HT_KC_SUM, millionths);
		ht_pooled_add(&c->pooled, group, 0);
	}
	return true;
}

static enum ht_status count_all(struct ht_run *run, struct counting *c, ht_table *table)
{
	HT_TRY(choose_kernels(run, c));
	for (size_t i = 0; i < c->t->n_arg_columns; i++)
		if (is_counter(c->t, &c->t->arg_columns[i]) &&
		        !count_column(c, &c->t->arg_columns[i]))
			return ht_fail_nomem(run->ctx);
	return ht_pooled_put(&c->pooled, table);
}

enum ht_status ht_kernel_counters_put(struct ht_run *run, ht_table *table)
{
	struct counting c = { .t = run->trace };
	ht_pooled_init(&c.pooled, run, HT_N_KC_KEYS, 1, ht_kernel_counter_rules, HT_N_KC_VALUES);
	enum ht_status status = count_all(run, &c, table);
	ht_pooled_done(&c.pooled);
	return status;
}
