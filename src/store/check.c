/*
 * check.c - see check.h.
 *
 * One small function per group of sections, run as independent tasks. Loops over rows have no exit of
 * their own, so that they run at memory speed; the verdict follows after the loop.
 */
#include "store/check.h"

#include "base/thread.h"
#include "json/text.h"
#include "store/shape.h"

#include <string.h>

struct check {
	const struct ht_trace *t;
	struct ht_mem *mem;
	uint32_t n_rows, n_strings, n_shapes;
	atomic_bool unsound;
	atomic_bool out_of_memory;
};

/* ---- building blocks ---- */

/* Loops run over blocks of this many, which compilers turn into vector code at any level. */
#define BLOCK 64

/* All values are below limit, or HT_NONE where that is allowed. Adding one turns HT_NONE into 0. */
static bool all_below(const uint32_t *values, size_t n, uint32_t limit, bool none_allowed)
{
	uint32_t add = none_allowed, top = none_allowed ? limit : limit - 1, bad = 0;
	if (!n)
		return true;
	if (!limit && !none_allowed)
		return false;
	size_t i = 0;
	for (; i + BLOCK <= n; i += BLOCK)
		for (size_t k = 0; k < BLOCK; k++)
			bad |= values[i + k] + add > top;
	for (; i < n; i++)
		bad |= values[i] + add > top;
	return !bad;
}

static bool all_bytes_below(const uint8_t *values, size_t n, uint8_t limit)
{
	uint8_t bad = 0;
	size_t i = 0;
	for (; i + BLOCK <= n; i += BLOCK)
		for (size_t k = 0; k < BLOCK; k++)
			bad |= values[i + k] >= limit;
	for (; i < n; i++)
		bad |= values[i] >= limit;
	return !bad;
}

static bool is_ascending(const uint32_t *values, size_t n)
{
	uint32_t bad = 0;
	size_t i = 1;
	for (; i + BLOCK <= n; i += BLOCK)
		for (size_t k = 0; k < BLOCK; k++)
			bad |= values[i + k] <= values[i + k - 1];
	for (; i < n; i++)
		bad |= values[i] <= values[i - 1];
	return !bad;
}

/* Ascending rows. */
static bool are_rows(const struct check *c, const uint32_t *rows, size_t n)
{
	return !n || (is_ascending(rows, n) && rows[n - 1] < c->n_rows);
}

/* offsets[0] is 0, none is below the one before, the last is total. */
static bool is_slicing(const uint32_t *offsets, size_t n, size_t total)
{
	uint32_t bad = 0;
	for (size_t i = 1; i < n; i++)
		bad |= offsets[i] < offsets[i - 1];
	return n && !bad && !offsets[0] && offsets[n - 1] == total;
}

static bool is_row(const struct check *c, uint32_t row)
{
	return row < c->n_rows;
}

static bool is_row_or_none(const struct check *c, uint32_t row)
{
	return row < c->n_rows || row == HT_NONE;
}

static bool is_string_or_none(const struct check *c, uint32_t id)
{
	return id < c->n_strings || id == HT_NO_STR;
}

/* ---- one task each ---- */

static bool check_lengths(struct check *c)
{
	const struct ht_trace *t = c->t;
	size_t n = t->n_ts_ns;
	return t->n_dur_ns == n && t->n_name == n && t->n_cat == n && t->n_ph == n &&
	       t->n_kind == n && t->n_flags == n && t->n_track == n && t->n_shape == n &&
	       t->n_parent == n && t->n_step == n && n < UINT32_MAX - 1 && t->n_meta_ == 1 &&
	       t->n_string_offsets && t->n_string_offsets < UINT32_MAX && t->n_shape_offsets &&
	       t->n_shape_offsets < UINT32_MAX && t->n_steps < UINT32_MAX &&
	       t->n_tracks < UINT32_MAX && t->n_gpu < UINT32_MAX &&
	       t->n_python_rows == t->n_python_parent;
}

/* No time or duration beyond what reading lets through. */
static bool check_times(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = true;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		bool in_range = t->ts_ns[row] > -HT_MAX_TIME_NS && t->ts_ns[row] < HT_MAX_TIME_NS;
		sound &= in_range && t->dur_ns[row] >= 0 && t->dur_ns[row] <= HT_MAX_DURATION_NS;
	}
	return sound;
}

static bool is_time_or_none(int64_t ns)
{
	return ns == HT_NO_I64 ||
	       (ns >= -HT_MAX_TIME_NS && ns <= HT_MAX_TIME_NS + HT_MAX_DURATION_NS);
}

static bool check_meta(struct check *c)
{
	const struct ht_trace_meta *meta = c->t->meta_;
	return meta->dialect <= HT_DIALECT_ASCEND && meta->n_documents <= UINT16_MAX + 1 &&
	       meta->compression <= 2 && is_time_or_none(meta->min_ts_ns) &&
	       is_time_or_none(meta->max_end_ns) &&
	       (meta->min_ts_ns == HT_NO_I64) == (meta->max_end_ns == HT_NO_I64);
}

static bool check_names(struct check *c)
{
	return all_below(c->t->name, c->n_rows, c->n_strings, true);
}

static bool check_cats(struct check *c)
{
	const struct ht_trace *t = c->t;
	uint32_t limit = t->n_categories > UINT16_MAX ? UINT16_MAX + 1 : (uint32_t)t->n_categories;
	uint32_t bad = 0;
	size_t at = 0;
	for (; at + BLOCK <= t->n_cat; at += BLOCK)
		for (size_t k = 0; k < BLOCK; k++)
			bad |= t->cat[at + k] >= limit;
	for (; at < t->n_cat; at++)
		bad |= t->cat[at] >= limit;
	bool sound = !bad;
	for (size_t i = 0; i < t->n_categories; i++)
		sound &= t->categories[i].kind < HT_N_KINDS &&
		         is_string_or_none(c, t->categories[i].name);
	return sound;
}

static bool check_kinds(struct check *c)
{
	const uint8_t all_flags = HT_EV_SPAN | HT_EV_NO_TS | HT_EV_NO_DUR | HT_EV_BAD_TIME;
	return all_bytes_below(c->t->kind, c->n_rows, HT_N_KINDS) &&
	       all_bytes_below(c->t->flags, c->n_rows, all_flags + 1);
}

static bool check_strings(struct check *c)
{
	const struct ht_trace *t = c->t;
	uint64_t bad = t->string_offsets[0] != 0;
	for (size_t i = 0; i < c->n_strings; i++)
		bad |= t->string_offsets[i + 1] <= t->string_offsets[i];
	if (bad || t->string_offsets[c->n_strings] != t->n_string_bytes)
		return false;
	for (size_t i = 0; i < c->n_strings; i++)
		bad |= (uint64_t)t->string_bytes[t->string_offsets[i + 1] - 1];
	return !bad;
}

/* A search in the index must meet a free slot. */
static bool check_string_index(struct check *c)
{
	const struct ht_trace *t = c->t;
	size_t n = t->n_string_index, n_free = 0;
	for (size_t i = 0; i < n; i++)
		n_free += t->string_index[i] == HT_NO_STR;
	return n && !(n & (n - 1)) && n_free && all_below(t->string_index, n, c->n_strings, true);
}

/* Unused shapes may name columns that do not exist: only shapes of rows are looked into. */
static bool check_shapes(struct check *c)
{
	const struct ht_trace *t = c->t;
	if (!is_slicing(t->shape_offsets, t->n_shape_offsets, t->n_shape_items) ||
	        !all_below(t->shape, c->n_rows, c->n_shapes, false))
		return false;
	uint8_t *used = ht_mem_zalloc(c->mem, (size_t)c->n_shapes + 1);
	if (!used) {
		atomic_store(&c->out_of_memory, true);
		return false;
	}
	for (size_t i = 0; i < c->n_rows; i++)
		used[t->shape[i]] = 1;
	bool sound = true;
	for (size_t i = 0; i < c->n_shapes; i++)
		if (used[i])
			sound &= all_below(t->shape_items + t->shape_offsets[i],
			        t->shape_offsets[i + 1] - t->shape_offsets[i],
			        (uint32_t)(HT_FIELD_COUNT + t->n_arg_columns), false);
	ht_mem_free(c->mem, used, (size_t)c->n_shapes + 1);
	return sound;
}

static bool is_id(const struct check *c, uint8_t type, int64_t value)
{
	return type <= HT_ID_STR &&
	       (type != HT_ID_STR || (value >= 0 && (uint64_t)value < c->n_strings));
}

static bool check_tracks(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = all_below(t->track, c->n_rows, (uint32_t)t->n_tracks, false) &&
	             all_below(t->track_rows, t->n_track_rows, c->n_rows, false);
	for (size_t i = 0; i < t->n_tracks; i++) {
		const struct ht_track *track = &t->tracks[i];
		sound &= is_id(c, track->pid_type, track->pid) &&
		         is_id(c, track->tid_type, track->tid) &&
		         (uint64_t)track->first + track->n <= t->n_track_rows &&
		         track->n_spans <= track->n && is_string_or_none(c, track->name) &&
		         is_string_or_none(c, track->process_name) && track->device >= -1;
	}
	return sound;
}

static bool check_gpu(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = true;
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		sound &= is_row(c, gpu->row) && is_row_or_none(c, gpu->launch) &&
		         is_row_or_none(c, gpu->op) && gpu->class_ < HT_N_CLASSES &&
		         gpu->device >= -1 && (!i || gpu->row > t->gpu[i - 1].row);
	}
	return sound;
}

static bool check_launches(struct check *c)
{
	const struct ht_trace *t = c->t;
	if (!t->n_launch_rows && !t->n_launch_offsets)
		return !t->n_launch_gpu;
	return t->n_launch_offsets == t->n_launch_rows + 1 &&
	       is_slicing(t->launch_offsets, t->n_launch_offsets, t->n_launch_gpu) &&
	       are_rows(c, t->launch_rows, t->n_launch_rows) &&
	       all_below(t->launch_gpu, t->n_launch_gpu, (uint32_t)t->n_gpu, false);
}

static bool check_steps(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = all_below(t->step, c->n_rows, (uint32_t)t->n_steps, true);
	for (size_t i = 0; i < t->n_steps; i++)
		sound &= is_row(c, t->steps[i].row);
	return sound;
}

static bool check_flows(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = true;
	for (size_t i = 0; i < t->n_flows; i++) {
		const struct ht_flow *flow = &t->flows[i];
		sound &= is_string_or_none(c, flow->cat) && is_row_or_none(c, flow->start_row) &&
		         is_row_or_none(c, flow->finish_row) && is_row_or_none(c, flow->from) &&
		         is_row_or_none(c, flow->to);
	}
	return sound;
}

/* Header values are parsed again by readers, who take them for valid. Needs sound strings. */
static bool is_json(const struct check *c, uint32_t id, bool none_allowed)
{
	if (id >= c->n_strings)
		return none_allowed && id == HT_NO_STR;
	uint64_t start = c->t->string_offsets[id], end = c->t->string_offsets[id + 1];
	return ht_json_valid(c->t->string_bytes + start, end - start - 1);
}

static bool check_headers(struct check *c)
{
	const struct ht_trace *t = c->t;
	bool sound = check_strings(c);
	for (size_t i = 0; sound && i < t->n_headers; i++)
		sound = t->headers[i].key < c->n_strings && t->headers[i].after_events <= 1 &&
		        is_json(c, t->headers[i].value, false);
	for (size_t i = 0; sound && i < t->n_devices; i++)
		sound = is_string_or_none(c, t->devices[i].name) &&
		        is_json(c, t->devices[i].properties, true);
	for (size_t i = 0; sound && i < t->n_process_groups; i++) {
		const struct ht_process_group *group = &t->process_groups[i];
		sound = is_string_or_none(c, group->name) &&
		        is_string_or_none(c, group->description) &&
		        is_string_or_none(c, group->backend) && is_string_or_none(c, group->ranks);
	}
	for (size_t i = 0; sound && i < t->n_stats; i++)
		sound = t->stats[i].code < HT_N_STATS;
	return sound;
}

/* ---- chains of parents end ---- */

/* Parents of rows, or of entries of python_rows; HT_NONE at the top. */
static uint32_t parent_of(const struct ht_trace *t, bool python, uint32_t i)
{
	if (!python)
		return t->parent[i];
	uint32_t row = t->python_parent[i];
	if (row == HT_NONE)
		return HT_NONE;
	size_t low = 0, high = t->n_python_rows;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (t->python_rows[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n_python_rows && t->python_rows[low] == row ? (uint32_t)low : HT_NONE;
}

/* A cycle has at least one entry whose parent does not start before it. From those few, walk up and
 * stamp each entry once: meeting the own stamp again is a cycle. */
static bool chains_end(struct check *c, bool python, size_t n)
{
	const struct ht_trace *t = c->t;
	uint32_t *stamps = NULL;
	bool sound = true;
	for (uint32_t i = 0; sound && i < n; i++) {
		uint32_t row = python ? t->python_rows[i] : i;
		uint32_t parent = python ? t->python_parent[i] : t->parent[i];
		if (parent == HT_NONE || t->ts_ns[parent] < t->ts_ns[row])
			continue;
		if (!stamps && !(stamps = ht_mem_zalloc(c->mem, n * sizeof *stamps))) {
			atomic_store(&c->out_of_memory, true);
			return false;
		}
		uint32_t at = i;
		for (; at != HT_NONE && !stamps[at]; at = parent_of(t, python, at))
			stamps[at] = i + 1;
		sound = at == HT_NONE || stamps[at] != i + 1;
	}
	ht_mem_free(c->mem, stamps, n * sizeof *stamps);
	return sound;
}

static bool check_parents(struct check *c)
{
	return all_below(c->t->parent, c->n_rows, c->n_rows, true) &&
	       chains_end(c, false, c->n_rows);
}

static bool check_python(struct check *c)
{
	const struct ht_trace *t = c->t;
	return are_rows(c, t->python_rows, t->n_python_rows) &&
	       all_below(t->python_parent, t->n_python_rows, c->n_rows, true) &&
	       chains_end(c, true, t->n_python_rows);
}

/* ---- arg columns ---- */

static bool is_width(uint8_t type, uint8_t width)
{
	switch (type) {
	case HT_ARG_I64: return width == 4 || width == 8;
	case HT_ARG_U64:
	case HT_ARG_F64: return width == 8;
	case HT_ARG_STR:
	case HT_ARG_JSON: return width == 4;
	case HT_ARG_BOOL: return width == 1;
	case HT_ARG_NULL: return width == 0;
	default: return false;
	}
}

static bool check_column(struct check *c, const struct ht_arg_column *column)
{
	const struct ht_trace *t = c->t;
	if (column->key >= c->n_strings || column->top_level > 1 ||
	        !is_width(column->type, column->width) || column->n > t->n_arg_rows ||
	        column->first_row > t->n_arg_rows - column->n || column->first_byte % 8 ||
	        column->first_byte > t->n_arg_values ||
	        column->n * column->width > t->n_arg_values - column->first_byte)
		return false;
	const uint32_t *rows = t->arg_rows + column->first_row;
	if (!are_rows(c, rows, column->n))
		return false;
	const void *values = t->arg_values + column->first_byte;
	return (column->type != HT_ARG_STR && column->type != HT_ARG_JSON) ||
	       all_below(values, column->n, c->n_strings, false);
}

static bool (*const tasks[])(struct check *) = { check_parents, check_python, check_shapes,
	check_headers, check_string_index, check_tracks, check_names, check_cats, check_kinds,
	check_steps, check_gpu, check_launches, check_flows, check_meta, check_times };

static enum ht_status run_task(void *user, size_t i_task, int i_worker)
{
	struct check *c = user;
	(void)i_worker;
	if (atomic_load_explicit(&c->unsound, memory_order_relaxed))
		return HT_OK;
	bool sound = i_task < HT_COUNT(tasks)
	                     ? tasks[i_task](c)
	                     : check_column(c, &c->t->arg_columns[i_task - HT_COUNT(tasks)]);
	if (!sound)
		atomic_store(&c->unsound, true);
	return HT_OK;
}

static bool start(struct check *c, const struct ht_trace *t, struct ht_mem *mem)
{
	*c = (struct check){ .t = t, .mem = mem };
	if (!check_lengths(c) || t->n_arg_columns > UINT32_MAX - HT_FIELD_COUNT)
		return false;
	c->n_rows = (uint32_t)t->n_ts_ns;
	c->n_strings = (uint32_t)(t->n_string_offsets - 1);
	c->n_shapes = (uint32_t)(t->n_shape_offsets - 1);
	return true;
}

enum ht_status ht_trace_check_all(ht_ctx *ctx, const struct ht_trace *trace, bool *ret_sound)
{
	struct check c;
	bool sound = start(&c, trace, ctx->mem);
	if (sound) {
		HT_TRY(ht_parallel(ctx, HT_COUNT(tasks) + trace->n_arg_columns, run_task, &c));
		if (atomic_load(&c.out_of_memory))
			return ht_fail_nomem(ctx);
		sound = !atomic_load(&c.unsound);
	}
	*ret_sound = sound;
	return HT_OK;
}

bool ht_trace_check(const struct ht_trace *trace)
{
	struct check c;
	struct ht_mem *mem = ht_mem_new();
	bool sound = mem && start(&c, trace, mem);
	for (size_t i = 0; sound && i < HT_COUNT(tasks) + trace->n_arg_columns; i++)
		sound = run_task(&c, i, 0) == HT_OK && !atomic_load(&c.unsound);
	ht_mem_release(mem);
	return sound;
}
