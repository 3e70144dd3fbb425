/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_frame.c - see hta_frame.h.
 *
 * HTA's table of a rank, with its habits: GPU copies of step annotations count as steps, a GPU row
 * stays once per kept host row of the same correlation id, and a rank without steps loses everything
 * when the set has two. Nothing here is better than HTA; it is for comparing with it.
 */
#include "hta/hta_frame.h"
#include "hta/hta_facts.h"
#include "hta/hta_mtia.h"
#include "hta/hta_names.h"
#include "base/sort.h"
#include "base/search.h"
#include "hta/hta_row.h"
#include "model/policy.h"
#include "store/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_PREFIX "ProfilerStep"
/* Frames may have so many times the rows of the trace, or so many rows. */
#define MAX_COPIES 64
#define MAX_ROWS   ((size_t)1 << 24)

/* ---- rows ---- */

/* Where HTA sees a row. */
enum side { NOWHERE, HOST, GPU };

struct hta_args {
	int64_t *stream, *correlation; /* by row, as in the file; -1 when absent */
	uint8_t *side;                 /* by row, enum side */
};

/* Rows of the table, and which of them are GPU rows by their name alone. */
static enum ht_status mark_rows(struct ht_run *run, const struct ht_trace *t, uint8_t **ret_side)
{
	uint8_t *side = ht_arena_alloc(run->scratch, t->n_kind + 1);
	uint8_t *known = ht_arena_alloc(run->scratch, t->n_categories + 1);
	if (!side || !known)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_categories; i++)
		known[i] = t->categories[i].name != HT_NO_STR;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		uint8_t kind = t->kind[row];
		if ((t->flags[row] & HT_EV_NO_DUR) || !known[t->cat[row]] ||
		        kind == HT_KIND_TRACE_SPAN || ht_time_was_refused(t, row))
			continue;
		bool wait = kind == HT_KIND_SYNC && ht_hta_is_gpu_sync(ht_str(t, t->name[row]));
		side[row] = wait ? GPU : HOST;
	}
	*ret_side = side;
	return HT_OK;
}

/* HTA calls a row with stream and correlation GPU work, whatever it is. */
static void mark_gpu(uint8_t *side, uint32_t row, int64_t stream, int64_t correlation)
{
	if (side[row] == HOST && stream >= 0 && correlation >= 0)
		side[row] = GPU;
}

static enum ht_status read_hta_args(
        struct ht_run *run, const struct ht_trace *t, struct hta_args *ret_args)
{
	struct hta_args a = { 0 };
	HT_TRY(ht_arg_dense_i64(run->ctx, t, "stream", -1, run->scratch, &a.stream));
	HT_TRY(ht_arg_dense_i64(run->ctx, t, "correlation", -1, run->scratch, &a.correlation));
	HT_TRY(mark_rows(run, t, &a.side));
	for (uint32_t row = 0; row < t->n_kind; row++)
		mark_gpu(a.side, row, a.stream[row], a.correlation[row]);
	*ret_args = a;
	return HT_OK;
}

struct linked {
	int64_t correlation;
	uint32_t row;
};

/* Rows with a correlation, ascending, and the side of every row. */
struct hta_links {
	uint8_t *side;
	struct linked *list;
	size_t n;
};

static enum ht_status list_linked(struct ht_run *run, const struct ht_trace *t,
        const struct hta_args *a, struct hta_links *ret_links)
{
	struct hta_links links = { .side = a->side };
	for (uint32_t row = 0; row < t->n_kind; row++)
		links.n += a->correlation[row] != -1;
	links.list = ht_arena_alloc(run->scratch, (links.n + 1) * sizeof *links.list);
	if (!links.list)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (a->correlation[row] != -1)
			links.list[n++] = (struct linked){ a->correlation[row], row };
	}
	*ret_links = links;
	return HT_OK;
}

/* From sparse columns that are walked together; marks sides. */
static enum ht_status read_linked(
        struct ht_run *run, const struct ht_trace *t, struct hta_links *ret_links)
{
	struct hta_links links = { 0 };
	struct ht_arg_cursor correlations = ht_arg_cursor(t, "correlation"),
	                     streams = ht_arg_cursor(t, "stream");
	size_t n = ht_arg_cursor_n(&correlations);
	HT_TRY(mark_rows(run, t, &links.side));
	links.list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *links.list);
	if (!links.list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; n && row < t->n_kind; row++) {
		int64_t correlation = ht_arg_cursor_i64(&correlations, row, -1);
		if (correlation == -1)
			continue;
		mark_gpu(links.side, row, ht_arg_cursor_i64(&streams, row, -1), correlation);
		links.list[links.n++] = (struct linked){ correlation, row };
	}
	*ret_links = links;
	return HT_OK;
}

/* Positions in a list of links, ascending by correlation, then by row. */
struct sorted_links {
	uint64_t *keys; /* of the correlations */
	uint32_t *at;
	size_t n;
};

/* The links of one side; of host rows those that start before the cut. */
static enum ht_status sort_links(struct ht_run *run, const struct ht_trace *t,
        const struct hta_links *links, enum side side, int64_t cut, struct sorted_links *ret_sorted)
{
	struct sorted_links s = { 0 };
	s.keys = ht_arena_alloc(run->scratch, (links->n + 1) * sizeof *s.keys);
	s.at = ht_arena_alloc(run->scratch, (links->n + 1) * sizeof *s.at);
	if (!s.keys || !s.at)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < links->n; i++) {
		uint32_t row = links->list[i].row;
		if (links->side[row] != side || (side == HOST && t->ts_ns[row] >= cut))
			continue;
		s.keys[s.n] = ht_sort_key_i64(links->list[i].correlation);
		s.at[s.n++] = (uint32_t)i;
	}
	if (!ht_sort_keys(run->ctx->mem, s.keys, s.at, s.n))
		return ht_fail_nomem(run->ctx);
	*ret_sorted = s;
	return HT_OK;
}

/* By string id: is it the name of a step? Names are few, rows are many. */
static enum ht_status find_step_names(struct ht_run *run, const struct ht_trace *t,
        bool (*is_step)(const char *), bool **ret_names)
{
	size_t n = t->n_string_offsets ? t->n_string_offsets - 1 : 0;
	bool *names = ht_arena_alloc(run->scratch, n + 1);
	if (!names)
		return ht_fail_nomem(run->ctx);
	for (uint32_t id = 0; id < n; id++)
		names[id] = is_step(ht_str(t, id));
	*ret_names = names;
	return HT_OK;
}

static bool has_name_of(const struct ht_trace *t, const bool *names, uint32_t row)
{
	return t->name[row] != HT_NO_STR && names[t->name[row]];
}

/* Start of the last step; of the first host row in a rank without steps. */
static enum ht_status find_cut(
        struct ht_run *run, const struct ht_trace *t, const uint8_t *side, int64_t *ret_cut)
{
	bool *steps = NULL;
	HT_TRY(find_step_names(run, t, ht_hta_is_step_name, &steps));
	int64_t last = INT64_MIN, first = INT64_MAX;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (side[row] != HOST)
			continue;
		if (t->ts_ns[row] < first)
			first = t->ts_ns[row];
		if (t->ts_ns[row] > last && has_name_of(t, steps, row))
			last = t->ts_ns[row];
	}
	*ret_cut = last != INT64_MIN ? last : first;
	return HT_OK;
}

/* By link: how often HTA shows a GPU row, which is once per kept host row of its correlation. */
static enum ht_status count_copies(struct ht_run *run, const struct ht_trace *t,
        const struct hta_links *links, int64_t cut, uint32_t **ret_count, size_t *ret_total)
{
	struct sorted_links host = { 0 }, gpu = { 0 };
	uint32_t *count = ht_arena_alloc(run->scratch, (links->n + 1) * sizeof *count);
	size_t total = 0, first = 0, end = 0;
	if (!count)
		return ht_fail_nomem(run->ctx);
	HT_TRY(sort_links(run, t, links, HOST, cut, &host));
	HT_TRY(sort_links(run, t, links, GPU, cut, &gpu));
	for (size_t i = 0; i < gpu.n; i++) {
		while (first < host.n && host.keys[first] < gpu.keys[i])
			first++;
		if (end < first)
			end = first;
		while (end < host.n && host.keys[end] == gpu.keys[i])
			end++;
		count[gpu.at[i]] = (uint32_t)(end - first);
		total += end - first;
	}
	/* ids that mean nothing (all 0) pair every row with every other */
	if (total > MAX_ROWS && total > t->n_kind * (size_t)MAX_COPIES)
		return ht_fail(run->ctx, HT_LIMIT, t->path, -1,
		        "its correlation ids do not identify launches; leave HTA's row selection off",
		        "HTA's row selection has %zu rows for %zu events", total,
		        (size_t)t->n_kind);
	*ret_count = count;
	*ret_total = total;
	return HT_OK;
}

/* The list has room for all host rows after these. */
static enum ht_status put_gpu_rows(struct ht_run *run, const struct hta_links *links, int64_t cut,
        struct ht_frame *frame, uint32_t **ret_rows)
{
	const struct ht_trace *t = frame->trace;
	uint32_t *count = NULL, *rows, *gpu;
	size_t total = 0, k = 0;
	HT_TRY(count_copies(run, t, links, cut, &count, &total));
	HT_TRY(ht_frame_alloc_lists(run, t->n_kind + total, t->n_gpu + total, &rows, &gpu));
	for (size_t i = 0; i < links->n; i++) {
		uint32_t row = links->list[i].row;
		while (k < t->n_gpu && t->gpu[k].row < row)
			k++;
		bool work = k < t->n_gpu && t->gpu[k].row == row;
		for (size_t n = count[i]; n; n--) {
			rows[frame->n_rows++] = row;
			if (work)
				gpu[frame->n_gpu++] = (uint32_t)k;
		}
	}
	frame->rows = *ret_rows = rows;
	frame->gpu = gpu;
	return HT_OK;
}

static enum ht_status make_hta_cut(struct ht_run *run, struct ht_frame *frame, bool include_last)
{
	const struct ht_trace *t = frame->trace;
	struct hta_links links = { 0 };
	/* Its mode that keeps the last step compares a relative with an absolute time and so keeps every
	 * host row. */
	int64_t cut = INT64_MAX;
	uint32_t *rows = NULL;
	HT_TRY(read_linked(run, t, &links));
	if (!include_last)
		HT_TRY(find_cut(run, t, links.side, &cut));
	HT_TRY(put_gpu_rows(run, &links, cut, frame, &rows));
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (links.side[row] == HOST && t->ts_ns[row] < cut)
			rows[frame->n_rows++] = row;
	}
	frame->cut = true;
	return HT_OK;
}

static enum ht_status make_hta_whole(struct ht_run *run, struct ht_frame *frame)
{
	const struct ht_trace *t = frame->trace;
	uint32_t *rows, *gpu;
	HT_TRY(ht_frame_alloc_lists(run, t->n_kind, t->n_gpu, &rows, &gpu));
	size_t k = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		while (k < t->n_gpu && t->gpu[k].row < row)
			k++;
		if (!ht_hta_is_row(t, row))
			continue;
		rows[frame->n_rows++] = row;
		if (k < t->n_gpu && t->gpu[k].row == row)
			gpu[frame->n_gpu++] = (uint32_t)k;
	}
	frame->rows = rows;
	frame->gpu = gpu;
	return HT_OK;
}

enum ht_status ht_hta_frame_fill(struct ht_run *run, struct ht_frame *frame)
{
	if (run->facts->two_steps && ht_hta_is_mtia(frame->trace))
		return ht_hta_mtia_fill(run, frame);
	if (run->facts->two_steps)
		return make_hta_cut(run, frame, run->step != NULL);
	return make_hta_whole(run, frame);
}

double ht_hta_us(int64_t ns)
{
	/* wide enough for absolute unix times, which a double of ns would round twice */
	return (double)((long double)ns / 1000);
}

int64_t ht_hta_ns(int64_t ns)
{
	return (int64_t)llrintl((long double)ht_hta_us(ns) * 1000);
}

/* ---- columns ---- */

/* Every row of one side points to the last row of the other side with the same correlation. */
static void point(int64_t *partner, const struct linked *list, const struct sorted_links *from,
        const struct sorted_links *to)
{
	for (size_t i = 0, j = 0; i < from->n; i++) {
		while (j < to->n && to->keys[j] <= from->keys[i])
			j++;
		if (j && to->keys[j - 1] == from->keys[i])
			partner[list[from->at[i]].row] = list[to->at[j - 1]].row;
	}
}

static enum ht_status fill_partner(
        struct ht_run *run, const struct ht_trace *t, const struct hta_args *a, int64_t *partner)
{
	struct hta_links links = { 0 };
	struct sorted_links host = { 0 }, gpu = { 0 };
	HT_TRY(list_linked(run, t, a, &links));
	HT_TRY(sort_links(run, t, &links, HOST, INT64_MAX, &host));
	HT_TRY(sort_links(run, t, &links, GPU, INT64_MAX, &gpu));
	for (size_t row = 0; row < t->n_kind; row++)
		partner[row] = a->correlation[row] < 0 ? a->correlation[row] : 0;
	point(partner, links.list, &host, &gpu);
	point(partner, links.list, &gpu, &host);
	return HT_OK;
}

/* Which step a time belongs to when later rows paint over earlier ones: segments between all borders,
 * painted from the last step row to the first, each segment once.
 *
 *   step 15   [--------)            row 10
 *   step 16        [--------)       row 20      → 15 15 | 16 16 16
 */
struct step_map {
	int64_t *border; /* sorted, n + 1 borders enclose n segments */
	int64_t *number; /* per segment, -1: none */
	size_t n;
};

static bool step_number(const char *name, int64_t *ret_number)
{
	if (strncmp(name, STEP_PREFIX, strlen(STEP_PREFIX)) != 0)
		return false;
	const char *at = name + strlen(STEP_PREFIX);
	at += strspn(at, " \t");
	if (*at != '#')
		return false;
	at++;
	at += strspn(at, " \t");
	if (*at < '0' || *at > '9')
		return false;
	*ret_number = strtoll(at, NULL, 10);
	return true;
}

static bool is_numbered_step(const char *name)
{
	int64_t number;
	return step_number(name, &number);
}

static void paint_steps(struct step_map *map, const struct ht_trace *t, const uint32_t *steps,
        size_t n_steps, size_t *next)
{
	for (size_t i = 0; i <= map->n; i++)
		next[i] = i;
	for (size_t i = 0; i < map->n; i++)
		map->number[i] = -1;
	for (size_t k = n_steps; k--;) {
		int64_t number = -1;
		step_number(ht_str(t, t->name[steps[k]]), &number);
		size_t end = ht_lower_bound_i64(map->border, map->n + 1, ht_end_ns(t, steps[k]));
		for (size_t i = ht_lower_bound_i64(map->border, map->n + 1, t->ts_ns[steps[k]]);
		        i < end;) {
			size_t free = i;
			while (next[free] != free)
				free = next[free] = next[next[free]];
			if (free >= end)
				break;
			map->number[free] = number;
			next[free] = free + 1;
			i = free + 1;
		}
	}
}

static enum ht_status make_step_map(struct ht_run *run, const struct ht_trace *t,
        const struct hta_args *a, struct step_map *ret_map)
{
	struct step_map map = { 0 };
	size_t n = 0;
	bool *names = NULL;
	HT_TRY(find_step_names(run, t, is_numbered_step, &names));
	for (uint32_t row = 0; row < t->n_kind; row++)
		n += a->side[row] != NOWHERE && has_name_of(t, names, row);
	uint32_t *steps = ht_arena_alloc(run->scratch, (n + 1) * sizeof *steps);
	size_t *next = ht_arena_alloc(run->scratch, (2 * n + 2) * sizeof *next);
	map.border = ht_arena_alloc(run->scratch, (2 * n + 2) * sizeof *map.border);
	map.number = ht_arena_alloc(run->scratch, (2 * n + 2) * sizeof *map.number);
	if (!steps || !next || !map.border || !map.number)
		return ht_fail_nomem(run->ctx);
	size_t n_steps = 0, n_border = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (a->side[row] == NOWHERE || !has_name_of(t, names, row))
			continue;
		steps[n_steps++] = row;
		map.border[n_border++] = t->ts_ns[row];
		map.border[n_border++] = ht_end_ns(t, row);
	}
	qsort(map.border, n_border, sizeof *map.border, ht_compare_i64);
	map.n = n_border ? n_border - 1 : 0;
	paint_steps(&map, t, steps, n_steps, next);
	*ret_map = map;
	return HT_OK;
}

static int64_t step_at(const struct step_map *map, int64_t t)
{
	if (!map->n || t < map->border[0] || t >= map->border[map->n])
		return -1;
	/* the last border at or before t: of equal borders only the last opens a real segment */
	return map->number[ht_lower_bound_i64(map->border, map->n + 1, t + 1) - 1];
}

static enum ht_status fill_hta_iteration(struct ht_run *run, const struct ht_trace *t,
        const struct hta_args *a, const int64_t *partner, int64_t *iteration)
{
	struct step_map map = { 0 };
	HT_TRY(make_step_map(run, t, a, &map));
	for (uint32_t row = 0; row < t->n_kind; row++) {
		bool host = a->stream[row] < 0 ||
		            (a->stream[row] == 0 && !strcmp(ht_cat(t, row), "cpu_op"));
		iteration[row] = host             ? step_at(&map, t->ts_ns[row])
		                 : a->stream[row] ? -1
		                                  : HT_NO_I64;
	}
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (a->stream[row] > 0 && partner[row] > 0)
			iteration[row] = iteration[partner[row]];
	}
	return HT_OK;
}

int64_t ht_hta_step_of(const struct ht_trace *t, uint32_t row)
{
	const struct ht_gpu *work =
	        ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	uint32_t at = work && work->launch != HT_NONE ? work->launch : row;
	if (ht_step_of(t, row) == HT_NONE || t->kind[row] == HT_KIND_SYNC)
		return -1;
	const struct ht_step *step = &t->steps[ht_step_of(t, row)];
	bool is_device = ht_kind_is_device(t->kind[at]);
	return is_device || t->ts_ns[at] < step->end_ns ? step->number : -1;
}

static void fill_own_iteration(const struct ht_trace *t, int64_t *iteration)
{
	for (uint32_t row = 0; row < t->n_kind; row++)
		iteration[row] = ht_hta_step_of(t, row);
}

static enum ht_status fill_iteration(struct ht_run *run, const struct ht_trace *t,
        const struct hta_args *a, const int64_t *partner, int64_t **ret_iteration)
{
	int64_t *iteration = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *iteration);
	if (!iteration)
		return ht_fail_nomem(run->ctx);
	if (run->policy->select_rows)
		HT_TRY(fill_hta_iteration(run, t, a, partner, iteration));
	else
		fill_own_iteration(t, iteration);
	*ret_iteration = iteration;
	return HT_OK;
}

enum ht_status ht_hta_columns(struct ht_run *run, const struct ht_frame *frame, bool with_iteration,
        struct ht_row_columns *ret_columns)
{
	const struct ht_trace *t = frame->trace;
	struct hta_args a = { 0 };
	HT_TRY(read_hta_args(run, t, &a));
	int64_t *partner = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *partner);
	int64_t *iteration = NULL;
	if (!partner)
		return ht_fail_nomem(run->ctx);
	HT_TRY(fill_partner(run, t, &a, partner));
	if (with_iteration)
		HT_TRY(fill_iteration(run, t, &a, partner, &iteration));
	/* HTA itself keeps Kineto's unsigned -1, and so counts such waits as GPU rows */
	for (size_t row = 0; row < t->n_kind && !run->policy->raw_columns; row++) {
		if (a.stream[row] == UINT32_MAX)
			a.stream[row] = -1;
	}
	if (run->policy->select_rows && run->facts->two_steps && ht_hta_is_mtia(t))
		HT_TRY(ht_hta_mtia_mend(run, t, a.stream, iteration));
	*ret_columns = (struct ht_row_columns){ a.stream, a.correlation, partner, iteration };
	return HT_OK;
}

bool ht_hta_is_gpu_row(
        const struct ht_trace *trace, const struct ht_row_columns *columns, uint32_t row)
{
	return (columns->stream[row] >= 0 && columns->correlation[row] >= 0) ||
	       ht_hta_is_gpu_sync(ht_str(trace, trace->name[row]));
}
