/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cells.c - see hta_cells.h.
 */
#include "hta/hta_cells.h"

#include "hta/hta_facts.h"
#include "hta/hta_frame.h"
#include "hta/hta_mtia.h"
#include "model/calls/call_graph.h"
#include "store/shape.h"
#include "table/table.h"

#include <string.h>

enum field {
	TS,
	END,
	STREAM,
	CORRELATION,
	PARTNER,
	ITERATION,
	KEYS,
	ARG_KEYS,
	FIRST_OF_GRAPH,
	DEPTH = FIRST_OF_GRAPH,
	HEIGHT,
	PARENT,
	N_KERNELS,
	KERNEL_SUM,
	KERNEL_SPAN,
	FIRST_KERNEL,
	LAST_KERNEL,
	N_FIELDS
};

static const struct ht_column fields[N_FIELDS] = {
	[TS] = { "hta.ts_ns", HT_TIME, HT_DETAIL, "start, from the first event of all files",
	        NULL },
	[END] = { "hta.end_ns", HT_TIME, HT_DETAIL, "end, from the first event of all files",
	        NULL },
	[STREAM] = { "hta.stream", HT_I64, HT_DETAIL, "stream argument, -1 without", NULL },
	[CORRELATION] = { "hta.correlation", HT_I64, HT_DETAIL, "correlation id, -1 without",
	        NULL },
	[PARTNER] = { "hta.index_correlation", HT_I64, HT_DETAIL,
	        "launch of GPU activity, last GPU row of a launch; 0 not in the file, -1 none",
	        NULL },
	[ITERATION] = { "hta.iteration", HT_I64, HT_DETAIL, "profiler step, -1 outside", NULL },
	[KEYS] = { "hta.keys", HT_STR, HT_DETAIL,
	        "keys of the file's events in the order in which they first appear", NULL },
	[ARG_KEYS] = { "hta.arg_keys", HT_STR, HT_DETAIL,
	        "keys of the events' arguments, one per line", NULL },
	[DEPTH] = { "hta.depth", HT_I64, HT_DETAIL, "depth on the call tree, -1 in no tree", NULL },
	[HEIGHT] = { "hta.height", HT_I64, HT_DETAIL, "0 for GPU activity, 1 and up on the host",
	        NULL },
	[PARENT] = { "hta.parent", HT_I64, HT_DETAIL, "index of the parent, -1 without", NULL },
	[N_KERNELS] = { "hta.num_kernels", HT_I64, HT_DETAIL, "GPU activity below and including",
	        NULL },
	[KERNEL_SUM] = { "hta.kernel_dur_sum_ns", HT_DURATION, HT_DETAIL, "their durations", NULL },
	[KERNEL_SPAN] = { "hta.kernel_span_ns", HT_DURATION, HT_DETAIL,
	        "from their first start to their last end", NULL },
	[FIRST_KERNEL] = { "hta.first_kernel_start_ns", HT_TIME, HT_DETAIL,
	        "their first start, null without", NULL },
	[LAST_KERNEL] = { "hta.last_kernel_end_ns", HT_TIME, HT_DETAIL,
	        "their last end, null without", NULL },
};

/* What the cells of one rank are read from. */
struct cells {
	const struct ht_trace *trace;
	bool raw;        /* policy raw_columns */
	bool mtia;       /* copies that nobody launched have the step they start in */
	int64_t zero_ns; /* HTA's time zero on the trace's clock */
	const char *keys, *arg_keys;
	struct ht_row_columns columns;
	struct ht_call_graph graph; /* empty unless asked for */
};

static int find(const char *name, struct ht_column *ret_column)
{
	for (int i = 0; i < N_FIELDS; i++) {
		if (!strcmp(fields[i].name, name)) {
			*ret_column = fields[i];
			return i;
		}
	}
	return -1;
}

static bool needs_graph(int field)
{
	return field >= FIRST_OF_GRAPH;
}

/* The key that an item of a shape stands for, NULL for arguments. */
static const char *key_of_item(const struct ht_trace *t, uint32_t item)
{
	static const char *const keys[HT_FIELD_COUNT] = { "ph", "cat", "name", "pid", "tid", "ts",
		"dur", "args", NULL };
	if (item < HT_FIELD_COUNT)
		return keys[item];
	const struct ht_arg_column *column = &t->arg_columns[item - HT_FIELD_COUNT];
	return column->top_level ? ht_str(t, column->key) : NULL;
}

static bool has_key(const char *keys, const char *key)
{
	size_t n = strlen(key);
	for (const char *at = keys; (at = strstr(at, key)); at += n)
		if ((at == keys || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

/* Each shape is looked at where it appears first. */
static enum ht_status list_keys(struct ht_run *run, const struct ht_trace *t, const char **ret_keys)
{
	size_t n_shapes = t->n_shape_offsets;
	uint8_t *seen = ht_arena_alloc(run->scratch, n_shapes + 1);
	const char *keys = "";
	if (!seen)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (seen[ht_shape_of(t, row)])
			continue;
		seen[ht_shape_of(t, row)] = 1;
		size_t n;
		const uint32_t *items = ht_row_items(t, row, &n);
		for (size_t i = 0; i < n; i++) {
			const char *key = key_of_item(t, items[i]);
			if (!key || has_key(keys, key))
				continue;
			keys = ht_arena_printf(run->scratch, *keys ? "%s,%s" : "%s%s", keys, key);
			if (!keys)
				return ht_fail_nomem(run->ctx);
		}
	}
	*ret_keys = keys;
	return HT_OK;
}

static enum ht_status list_arg_keys(
        struct ht_run *run, const struct ht_trace *t, const char **ret_keys)
{
	size_t n_bytes = 1;
	for (size_t i = 0; i < t->n_arg_columns; i++)
		n_bytes += ht_str_len(t, t->arg_columns[i].key) + 1;
	char *keys = ht_arena_alloc(run->scratch, n_bytes), *at = keys;
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		if (t->arg_columns[i].top_level)
			continue;
		if (at != keys)
			*at++ = '\n';
		at = stpcpy(at, ht_str(t, t->arg_columns[i].key));
	}
	*ret_keys = keys;
	return HT_OK;
}

static enum ht_status start(
        struct ht_run *run, const struct ht_frame *frame, bool with_graph, const void **ret_cells)
{
	struct cells *cells = ht_arena_alloc(run->scratch, sizeof *cells);
	if (!cells)
		return ht_fail_nomem(run->ctx);
	*cells = (struct cells){ .trace = frame->trace,
		.raw = run->policy->raw_columns,
		.mtia = run->policy->select_rows && ht_hta_is_mtia(frame->trace),
		.zero_ns = run->facts->first_ts_ns };
	HT_TRY(ht_hta_columns(run, frame, true, &cells->columns));
	HT_TRY(list_keys(run, frame->trace, &cells->keys));
	HT_TRY(list_arg_keys(run, frame->trace, &cells->arg_keys));
	if (with_graph) {
		HT_TRY(ht_call_graph_make(run, frame, true, &cells->graph));
		HT_TRY(ht_call_graph_sum(run, frame, &cells->graph));
	}
	*ret_cells = cells;
	return HT_OK;
}

static bool is_gpu(const void *user, uint32_t row)
{
	const struct cells *cells = user;
	return ht_hta_is_gpu_row(cells->trace, &cells->columns, row);
}

/* A wait on a stream: HTA hangs it under its call like GPU work. */
static bool is_leaf_wait(const struct cells *cells, uint32_t row)
{
	return cells->trace->kind[row] == HT_KIND_SYNC && cells->columns.stream[row] > 0 &&
	       cells->columns.partner[row] > 0 &&
	       cells->graph.depth[cells->columns.partner[row]] >= 0;
}

static void put_time(ht_table *table, size_t column, int64_t time, int64_t zero)
{
	if (time == HT_NO_I64)
		ht_table_put_null(table, column);
	else
		ht_table_put_i64(table, column, time - zero);
}

static void put_wait(
        const struct cells *cells, int field, uint32_t row, ht_table *table, size_t column)
{
	const struct ht_trace *t = cells->trace;
	int64_t call = cells->columns.partner[row];
	switch (field) {
	case DEPTH: ht_table_put_i64(table, column, cells->graph.depth[call] + 1); break;
	case PARENT: ht_table_put_i64(table, column, call); break;
	case N_KERNELS: ht_table_put_i64(table, column, 1); break;
	case KERNEL_SUM:
	case KERNEL_SPAN: ht_table_put_i64(table, column, t->dur_ns[row]); break;
	case FIRST_KERNEL: put_time(table, column, t->ts_ns[row], cells->zero_ns); break;
	case LAST_KERNEL: put_time(table, column, ht_end_ns(t, row), cells->zero_ns); break;
	default: ht_table_put_i64(table, column, 0); break;
	}
}

static void put_graph(
        const struct cells *cells, int field, uint32_t row, ht_table *table, size_t column)
{
	const struct ht_call_graph *g = &cells->graph;
	bool has = g->n_kernels[row] != 0;
	switch (field) {
	case DEPTH: ht_table_put_i64(table, column, g->depth[row]); break;
	case HEIGHT: ht_table_put_i64(table, column, g->height[row]); break;
	case PARENT:
		ht_table_put_i64(
		        table, column, g->parent[row] == HT_NONE ? -1 : (int64_t)g->parent[row]);
		break;
	case N_KERNELS: ht_table_put_i64(table, column, g->n_kernels[row]); break;
	case KERNEL_SUM: ht_table_put_i64(table, column, g->kernel_ns[row]); break;
	case KERNEL_SPAN:
		ht_table_put_i64(
		        table, column, has ? g->last_kernel_ns[row] - g->first_kernel_ns[row] : 0);
		break;
	case FIRST_KERNEL: put_time(table, column, g->first_kernel_ns[row], cells->zero_ns); break;
	default: put_time(table, column, g->last_kernel_ns[row], cells->zero_ns); break;
	}
}

/* GPU work whose launch is not in the file: its step is a guess from its own start, which HTA does not make. */
static bool has_lost_launch(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_gpu_work(t->kind[row]) && ht_gpu_of_row(t, row)->launch == HT_NONE;
}

/* Steps of the host; HTA lets GPU copies of steps paint over them. */
static void put_iteration(const struct cells *cells, uint32_t row, ht_table *table, size_t column)
{
	const struct ht_trace *t = cells->trace;
	int64_t number = -1;
	/* a wait belongs to the step of the call that waits */
	if (t->kind[row] == HT_KIND_SYNC && cells->columns.partner[row] > 0 && !cells->raw)
		row = (uint32_t)cells->columns.partner[row];
	if (cells->raw)
		number = cells->columns.iteration[row];
	else if (has_lost_launch(t, row))
		number = cells->mtia ? cells->columns.iteration[row] : -1;
	else
		number = ht_hta_step_of(t, row);
	put_time(table, column, number, 0);
}

static void put(const void *user, int field, uint32_t row, ht_table *table, size_t column)
{
	const struct cells *cells = user;
	const struct ht_trace *t = cells->trace;
	switch (field) {
	case TS: put_time(table, column, t->ts_ns[row], cells->zero_ns); break;
	case END: put_time(table, column, ht_end_ns(t, row), cells->zero_ns); break;
	case STREAM: ht_table_put_i64(table, column, cells->columns.stream[row]); break;
	case CORRELATION: ht_table_put_i64(table, column, cells->columns.correlation[row]); break;
	case PARTNER: ht_table_put_i64(table, column, cells->columns.partner[row]); break;
	case KEYS: ht_table_put_str(table, column, cells->keys); break;
	case ARG_KEYS: ht_table_put_str(table, column, cells->arg_keys); break;
	case ITERATION: put_iteration(cells, row, table, column); break;
	default:
		if (is_leaf_wait(cells, row))
			put_wait(cells, field, row, table, column);
		else
			put_graph(cells, field, row, table, column);
		break;
	}
}

const struct ht_cell_source ht_hta_cells = {
	.prefix = "hta.",
	.find = find,
	.needs_graph = needs_graph,
	.start = start,
	.put = put,
	.is_gpu = is_gpu,
};
