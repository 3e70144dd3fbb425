/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.c - every call of the host with its path, the launches inside it and the device work that they started.
 *
 * One row per event of the monitored categories that passes the depth filter, in the order of the calls; trees and
 * matching are those of call_forest.h. Numbers are inclusive: a launch counts in its event and in every ancestor, so a
 * column is never to be summed over depths. Device work counts whole, also when it ends after the host event.
 * aggregate makes one row of all events with the same path. follow-fwdbwd repeats the row of a backward pass's root under
 * the forward operator that its fwdbwd flow starts at.
 * Reads events of the chosen categories, correlations, flows, External ids. O(n log n) and the length of the lists.
 * Example: aten::conv2d [0,50) us around aten::convolution [5,45) around a launch [10,12) of a kernel of 70 us: both rows have
 * device 70 us and launch 2 us, the second is called aten::conv2d$$aten::convolution.
 * Definition: profile_parser.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "model/calls/call_forest.h"
#include "model/rows/cell_text.h"
#include "base/intern.h"
#include "store/trace.h"
#include "store/flow.h"

#include <stdlib.h>
#include <string.h>

/* Programs do not call deeper, and rows are listed as deep as that unless asked for otherwise. In a file that does, all paths
 * together could be as long as its square, so that of more than 2 * HT_FOREST_HALF names those in the middle are left out. */
#define MAX_PATH 1024
/* The same where paths or lists are longer together than so many names for each row: programs have some twenty. Of
 * such lists the first entries stay, and the number of the others. */
#define FAIR_NAMES 64
#define FAIR_FROM  ((uint64_t)1 << 20)
#define LIST_MOST  16

static enum ht_status check_options(struct ht_run *run);
static enum ht_status list_calls(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_NAME, "name", HT_STR, HT_KEY,                                                   \
	        "path from the outermost monitored event, joined by sep", NULL)                    \
	COLUMN(COL_HOST_NS, "host_ns", HT_DURATION, HT_MEASURE, "duration of the event", NULL)     \
	COLUMN(COL_DEVICE_NS, "device_ns", HT_DURATION, HT_MEASURE,                                \
	        "durations of the device activity launched inside, whole", NULL)                   \
	COLUMN(COL_LAUNCH_NS, "launch_ns", HT_DURATION, HT_MEASURE,                                \
	        "durations of the launches inside", NULL)                                          \
	COLUMN(COL_CUDA_RUNTIME, "cuda_runtime", HT_STR, HT_DETAIL,                                \
	        "the launches inside, with their durations in ms", NULL)                           \
	COLUMN(COL_KERNELS, "kernels", HT_STR, HT_DETAIL,                                          \
	        "the device activity, with its durations in ms", NULL)                             \
	COLUMN(COL_KERNEL_INFOS, "kernel_infos", HT_STR, HT_DETAIL,                                \
	        "the device activity, with its args", NULL)                                        \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEPTH, "depth", HT_I64, HT_DETAIL, "1 for an event inside no other", NULL)      \
	COLUMN(COL_THREAD, "thread", HT_STR, HT_DETAIL, "pid/tid", NULL)                           \
	COLUMN(COL_EVENT, "event", HT_EVENT, HT_DETAIL, "the event, the first of several", NULL)   \
	COLUMN(COL_N_WORK, "n_work", HT_I64, HT_DETAIL, "device activities", NULL)                 \
	COLUMN(COL_CALLS, "calls", HT_I64, HT_DETAIL,                                              \
	        "events in this row: more than 1 with aggregate", NULL)                            \
	COLUMN(COL_ARGS, "args", HT_STR, HT_DETAIL, "args of the event, with with-args", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "host-cat", HT_STR, NULL,
	        "categories of launches, separated by commas (default: cuda_runtime, on NPUs CANN)",
	        NULL },
	{ "device-cat", HT_STR, NULL,
	        "categories of device activity, separated by commas (default: kernel, on NPUs their kernels)",
	        NULL },
	{ "monitor-cat", HT_STR, "python_function", "categories of the events to list", NULL },
	{ "preset", HT_STR, "default",
	        "all: host-cat cuda_runtime,cuda_driver,xpu_runtime and device-cat "
	        "kernel,gpu_memcpy,gpu_memset",
	        "default|all" },
	{ "max-depth", HT_I64, "1024", "rows up to this depth; -1: no limit", NULL },
	{ "min-depth", HT_I64, "-1", "rows from this depth on; -1: no limit", NULL },
	{ "modules-only", HT_BOOL, "false", "only events whose name starts with nn.Module", NULL },
	{ "any-thread", HT_BOOL, "false", "launches count in events of all threads", NULL },
	{ "aggregate", HT_BOOL, "false", "one row for all events with the same path", NULL },
	{ "follow-fwdbwd", HT_BOOL, "false",
	        "also list the backward pass under its forward operator, as $$[backward]", NULL },
	{ "with-args", HT_BOOL, "false", "with the args of each event", NULL },
	{ "lists", HT_BOOL, "true", "with the lists of launches and device activity", NULL },
	{ "cells", HT_STR, "json", "how lists are written", "json|python" },
	{ "sep", HT_STR, "$$", "what joins the names of a path", NULL },
	{ "whole", HT_BOOL, "false", "paths and lists whole, however long they are together",
	        NULL },
};

const struct ht_analysis ht_analysis_call_tree = {
	.info = {
		.name = "call-tree",
		.group = "views",
		.title = "Call tree",
		.question = "Which call on the host started which device activity, call by call?",
		.method = "One row per monitored event with the path of calls around it; launches inside it on its "
			  "thread and the device activity with their correlation, counted whole. Inclusive: do not add "
			  "up rows of different depth.",
		HT_ONE_SCHEMA(columns),
		.replaces = "profile_parser",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.lists_events = true,
	},
	.choose = check_options,
	.per_rank = list_calls,
	.finish = finish,
};

/* -1: no limit, which is also meant by who asks for what is below the usual one. */
static int64_t max_depth_of(const struct ht_run *run)
{
	int64_t max = ht_run_i64(run, "max-depth");
	return max == MAX_PATH && ht_run_i64(run, "min-depth") > max ? -1 : max;
}

static enum ht_status check_options(struct ht_run *run)
{
	int64_t min = ht_run_i64(run, "min-depth"), max = max_depth_of(run);
	if (min >= 0 && max >= 0 && min > max)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give the smaller one as min-depth",
		        "no depth is at least %lld and at most %lld", (long long)min,
		        (long long)max);
	return ht_frame_choose_whole(run);
}

static struct ht_forest_options read_options(const struct ht_run *run)
{
	bool all = ht_run_is(run, "preset", "all");
	const char *launch = ht_run_str(run, "host-cat"), *device = ht_run_str(run, "device-cat");
	return (struct ht_forest_options){
		.npu_launch = launch ? NULL : "CANN,cann_runtime",
		.npu_kernels = !device,
		.npu_copies = all,
		.monitor = ht_run_str(run, "monitor-cat"),
		.launch = launch ? launch
		          : all  ? "cuda_runtime,cuda_driver,xpu_runtime"
		                 : "cuda_runtime",
		.device = device ? device
		          : all  ? "kernel,gpu_memcpy,gpu_memset"
		                 : "kernel",
		.modules_only = ht_run_bool(run, "modules-only"),
		.any_thread = ht_run_bool(run, "any-thread"),
	};
}

/* A row to be: the event that it is about, and the path it stands under. */
struct item {
	uint32_t event, place; /* indexes into the forest's rows; different for a backward pass */
	uint32_t next;         /* further item of the same path, HT_NONE: none */
	uint32_t n_calls, last;
	bool is_further; /* has been added to another one */
};

/* Columns that list what is inside a call. */
enum list { LAUNCHES, WORKS, INFOS };

struct lister {
	struct ht_run *run;
	struct ht_forest forest;
	struct ht_cell_text cell;
	struct item *items;
	size_t n_items;
	int64_t min_depth, max_depth; /* -1: open */
	const char *sep;
	bool python, with_args;
	bool cuts_paths, cuts_lists;
	bool wanted[INFOS + 1]; /* by list */
};

/* ---- which rows ---- */

static bool is_wanted(const struct lister *l, int64_t depth)
{
	return (l->min_depth < 0 || depth >= l->min_depth) &&
	       (l->max_depth < 0 || depth <= l->max_depth);
}

/* A backward pass under its forward operator; sorted by the latter. */
struct link {
	uint32_t forward, backward; /* indexes into the forest's rows */
};

static uint32_t around(const struct lister *l, const uint32_t *at, uint32_t row)
{
	const struct ht_trace *t = l->forest.trace;
	while (row != HT_NONE && at[row] == HT_NONE)
		row = t->parent[row];
	return row == HT_NONE ? HT_NONE : at[row];
}

static bool is_fwdbwd(const char *category)
{
	return !strcmp(category, "fwdbwd") || !strcmp(category, "forward_backward");
}

/* ret_first[i] is the first link of row i, sorted after it; one more than there are rows. */
static enum ht_status find_links(struct lister *l, struct link **ret_links, uint32_t **ret_first)
{
	const struct ht_trace *t = l->forest.trace;
	size_t n = 0, n_rows = l->forest.n_rows;
	struct ht_arena *scratch = l->run->scratch;
	uint32_t *at = ht_arena_alloc(scratch, (ht_n_events(t) + (size_t)1) * sizeof *at);
	uint32_t *first = ht_arena_alloc(scratch, (n_rows + 2) * sizeof *first);
	struct link *found = ht_arena_alloc(scratch, (t->more->n_flows + 1) * sizeof *found);
	struct link *links = ht_arena_alloc(scratch, (t->more->n_flows + 1) * sizeof *links);
	if (!at || !first || !found || !links)
		return ht_fail_nomem(l->run->ctx);
	memset(at, 0xff, (ht_n_events(t) + (size_t)1) * sizeof *at);
	for (uint32_t i = 0; i < n_rows; i++)
		at[l->forest.rows[i].row] = i;
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		if (!is_fwdbwd(ht_str(t, flow->cat)))
			continue;
		struct link link = { around(l, at, flow->from), around(l, at, flow->to) };
		if (link.forward == HT_NONE || link.backward == HT_NONE)
			continue;
		while (l->forest.rows[link.backward].parent != HT_NONE)
			link.backward = l->forest.rows[link.backward].parent;
		found[n++] = link;
		first[link.forward + 1]++;
	}
	for (size_t i = 0; i <= n_rows; i++)
		first[i + 1] += first[i];
	for (size_t i = n; i--;)
		/* filled from the back: first[i + 1] ends as the start of row i */
		links[--first[found[i].forward + 1]] = found[i];
	*ret_links = links;
	*ret_first = first + 1;
	return HT_OK;
}

static enum ht_status choose_items(struct lister *l)
{
	bool follow = ht_run_bool(l->run, "follow-fwdbwd");
	struct link *links = NULL;
	uint32_t *first = NULL;
	size_t n_links = follow ? l->forest.trace->more->n_flows : 0;
	l->items = ht_arena_alloc(
	        l->run->scratch, (l->forest.n_rows + n_links + 1) * sizeof *l->items);
	if (!l->items)
		return ht_fail_nomem(l->run->ctx);
	if (follow)
		HT_TRY(find_links(l, &links, &first));
	for (uint32_t i = 0; i < l->forest.n_rows; i++) {
		int64_t depth = l->forest.rows[i].depth;
		if (is_wanted(l, depth))
			l->items[l->n_items++] = (struct item){ i, i, HT_NONE, 1, 0, false };
		for (uint32_t k = follow ? first[i] : 0;
		        follow && k < first[i + 1] && is_wanted(l, depth + 1); k++)
			l->items[l->n_items++] =
			        (struct item){ links[k].backward, i, HT_NONE, 1, 0, false };
	}
	return HT_OK;
}

/* Whether all paths, and all lists, together are as long as they may be. */
static void choose_lengths(struct lister *l)
{
	uint64_t n_names = 0, n_entries = 0, most = FAIR_FROM + FAIR_NAMES * (uint64_t)l->n_items;
	for (size_t i = 0; i < l->n_items; i++) {
		const struct ht_forest_row *row = &l->forest.rows[l->items[i].event];
		struct ht_forest_walk walk = ht_forest_walk(&l->forest, row);
		n_names += l->forest.rows[l->items[i].place].depth;
		n_entries += (walk.end - walk.at) + row->n_works;
	}
	bool whole = ht_run_bool(l->run, "whole");
	l->cuts_paths = l->forest.deepest > MAX_PATH || (n_names > most && !whole);
	l->cuts_lists = n_entries > most && !whole;
}

/* ---- paths ---- */

/* The rows whose names make the path of a row, innermost first; how many in between are left out. */
static uint32_t choose_names(
        const struct lister *l, uint32_t at, uint32_t *chain, uint32_t *ret_left_out)
{
	const struct ht_forest_row *rows = l->forest.rows;
	uint32_t depth = rows[at].depth, n = 0, head = rows[at].head;
	bool cut = l->cuts_paths && depth > 2 * HT_FOREST_HALF;
	for (; n < (cut ? HT_FOREST_HALF : depth); at = rows[at].parent)
		chain[n++] = rows[at].row;
	for (at = head; n < (cut ? 2 * HT_FOREST_HALF : depth); at = rows[at].parent)
		chain[n++] = rows[at].row;
	*ret_left_out = depth - n;
	return n;
}

static void emit_path(struct lister *l, const struct item *item)
{
	const struct ht_trace *t = l->forest.trace;
	struct ht_emit *emit = &l->cell.emit;
	uint32_t chain[MAX_PATH], left_out = 0;
	uint32_t n = choose_names(l, item->place, chain, &left_out);
	for (uint32_t i = n; i-- > 0;) {
		uint32_t name = t->name[chain[i]];
		if (left_out && i == HT_FOREST_HALF - 1) {
			HT_EMIT(emit, "… ");
			ht_emit_u64(emit, left_out);
			HT_EMIT(emit, " more …");
			ht_emit_text(emit, l->sep, strlen(l->sep));
		}
		ht_emit_text(emit, ht_str(t, name), ht_str_len(t, name));
		if (i)
			ht_emit_text(emit, l->sep, strlen(l->sep));
	}
	if (item->event != item->place) {
		ht_emit_text(emit, l->sep, strlen(l->sep));
		HT_EMIT(emit, "[backward]");
	}
}

/* The number of a path, by the number of the one around it and a name. False when out of memory. */
static bool add_path(struct ht_pool *paths, uint32_t around, uint32_t name, uint32_t *ret_path)
{
	uint32_t key[2] = { around, name };
	struct ht_text path;
	if (!ht_pool_add(paths, (const char *)key, sizeof key, ht_hash(key, sizeof key), &path))
		return false;
	*ret_path = path.id;
	return true;
}

/* Items of one path become one, in the place of the first. Paths are as long as they are, whatever is shown of them. */
static enum ht_status aggregate(struct lister *l, struct ht_pool *paths)
{
	const struct ht_forest *f = &l->forest;
	uint32_t *path_of = ht_arena_alloc(l->run->scratch, (f->n_rows + 1) * sizeof *path_of);
	uint32_t *first =
	        ht_arena_alloc(l->run->scratch, (f->n_rows + l->n_items + 1) * sizeof *first);
	bool ok = path_of && first;
	/* parents stand before their children */
	for (size_t i = 0; ok && i < f->n_rows; i++)
		ok = add_path(paths,
		        f->rows[i].parent == HT_NONE ? HT_NONE : path_of[f->rows[i].parent],
		        f->trace->name[f->rows[i].row], &path_of[i]);
	for (uint32_t i = 0; ok && i < l->n_items; i++) {
		uint32_t path = path_of[l->items[i].place];
		/* no name has this number */
		if (l->items[i].event != l->items[i].place)
			ok = add_path(paths, path, HT_NONE, &path);
		if (!first[path]) {
			l->items[i].last = i;
			first[path] = i + 1;
			continue;
		}
		struct item *head = &l->items[first[path] - 1];
		l->items[head->last].next = i;
		head->last = i;
		head->n_calls++;
		l->items[i].is_further = true;
	}
	return ok ? HT_OK : ht_fail_nomem(l->run->ctx);
}

/* ---- cells ---- */

static void emit_entry(struct lister *l, enum list list, uint32_t row, bool *first)
{
	const struct ht_trace *t = l->forest.trace;
	struct ht_emit *emit = &l->cell.emit;
	const char *name = ht_str(t, t->name[row]);
	size_t n = ht_str_len(t, t->name[row]);
	if (*first && !l->python)
		ht_emit_char(emit, '[');
	if (!*first)
		ht_emit_text(emit, ", ", l->python ? 1 : 2);
	*first = false;
	ht_emit_char(emit, '{');
	if (!l->python)
		HT_EMIT(emit, "\"name\": ");
	ht_cell_string(emit, name, n, l->python);
	if (l->python)
		HT_EMIT(emit, ": ");
	else if (list == INFOS)
		HT_EMIT(emit, ", \"args\": ");
	else
		HT_EMIT(emit, ", \"ms\": ");
	if (list == INFOS)
		ht_cell_args(emit, t, row, l->python);
	else
		ht_cell_ms(emit, t->dur_ns[row]);
	ht_emit_char(emit, '}');
}

/* What a list says of those that it has not. */
static void emit_more(struct lister *l, uint64_t n)
{
	struct ht_emit *emit = &l->cell.emit;
	ht_emit_text(emit, l->python ? ",{'more': " : ", {\"more\": ", l->python ? 10 : 11);
	ht_emit_u64(emit, n);
	ht_emit_char(emit, '}');
}

static bool put_list(struct lister *l, const struct item *item, enum list list, ht_table *table)
{
	const struct ht_forest *f = &l->forest;
	uint64_t n = 0, most = l->cuts_lists ? LIST_MOST : UINT64_MAX;
	bool first = true;
	for (; item; item = item->next == HT_NONE ? NULL : &l->items[item->next]) {
		struct ht_forest_walk walk = ht_forest_walk(f, &f->rows[item->event]);
		for (const struct ht_forest_launch *launch; (launch = ht_forest_next(&walk));) {
			if (list == LAUNCHES && launch->row != HT_NONE && n++ < most)
				emit_entry(l, list, launch->row, &first);
			for (uint32_t k = 0; list != LAUNCHES && k < launch->n_works; k++)
				if (n++ < most)
					emit_entry(l, list, f->works[launch->first + k], &first);
		}
	}
	if (n > most)
		emit_more(l, n - most);
	if (!first && !l->python)
		ht_emit_char(&l->cell.emit, ']');
	const char *text = ht_cell_text_take(&l->cell);
	ht_table_put_str(table, COL_CUDA_RUNTIME + list, first ? NULL : text);
	return text != NULL;
}

static void emit_id(struct ht_emit *emit, const struct ht_trace *t, uint8_t type, int64_t id)
{
	if (type == HT_ID_INT)
		ht_emit_i64(emit, id);
	else if (type == HT_ID_STR)
		ht_emit_text(emit, ht_str(t, (uint32_t)id), ht_str_len(t, (uint32_t)id));
}

static bool put_thread(struct lister *l, uint32_t row, ht_table *table)
{
	const struct ht_trace *t = l->forest.trace;
	const struct ht_track *track = &t->tracks[t->track[row]];
	emit_id(&l->cell.emit, t, track->pid_type, track->pid);
	ht_emit_char(&l->cell.emit, '/');
	emit_id(&l->cell.emit, t, track->tid_type, track->tid);
	const char *text = ht_cell_text_take(&l->cell);
	ht_table_put_str(table, COL_THREAD, text);
	return text != NULL;
}

static bool put_args(struct lister *l, uint32_t row, ht_table *table)
{
	if (!l->with_args) {
		ht_table_put_null(table, COL_ARGS);
		return true;
	}
	ht_cell_args(&l->cell.emit, l->forest.trace, row, l->python);
	const char *text = ht_cell_text_take(&l->cell);
	ht_table_put_str(table, COL_ARGS, text);
	return text != NULL;
}

static bool put_item(struct lister *l, const struct item *head, ht_table *table)
{
	const struct ht_forest *f = &l->forest;
	int64_t host_ns = 0, device_ns = 0, launch_ns = 0, n_works = 0;
	uint32_t row = f->rows[head->event].row;
	for (const struct item *i = head; i; i = i->next == HT_NONE ? NULL : &l->items[i->next]) {
		ht_sum(&host_ns, f->trace->dur_ns[f->rows[i->event].row]);
		ht_sum(&device_ns, f->rows[i->event].device_ns);
		ht_sum(&launch_ns, f->rows[i->event].launch_ns);
		ht_sum(&n_works, f->rows[i->event].n_works);
	}
	emit_path(l, head);
	const char *path = ht_cell_text_take(&l->cell);
	if (!path)
		return false;
	ht_table_row(table);
	ht_table_put_str(table, COL_NAME, path);
	ht_table_put_i64(table, COL_HOST_NS, host_ns);
	ht_table_put_i64(table, COL_DEVICE_NS, device_ns);
	ht_table_put_i64(table, COL_LAUNCH_NS, launch_ns);
	for (size_t list = LAUNCHES; list <= INFOS; list++) {
		if (!l->wanted[list])
			ht_table_put_null(table, COL_CUDA_RUNTIME + list);
		else if (!put_list(l, head, (enum list)list, table))
			return false;
	}
	ht_table_put_i64(table, COL_RANK, l->run->rank);
	ht_table_put_i64(table, COL_DEPTH,
	        f->rows[head->place].depth + (int64_t)(head->event != head->place));
	if (!put_thread(l, row, table))
		return false;
	ht_table_put_i64(table, COL_EVENT, ht_event_id(l->run->rank, row));
	ht_table_put_i64(table, COL_N_WORK, n_works);
	ht_table_put_i64(table, COL_CALLS, head->n_calls);
	return put_args(l, row, table);
}

/* ---- notes ---- */

static bool is_call(uint8_t kind)
{
	return kind == HT_KIND_CPU_OP || kind == HT_KIND_PYTHON || kind == HT_KIND_ANNOTATION ||
	       kind == HT_KIND_RUNTIME || kind == HT_KIND_DRIVER;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Which categories there would be to monitor. */
static enum ht_status add_other_categories(struct lister *l, const char *asked, ht_table *table)
{
	const struct ht_trace *t = l->forest.trace;
	const char **names = ht_arena_alloc(l->run->scratch, (t->n_categories + 1) * sizeof *names);
	size_t n = 0;
	if (!names)
		return ht_fail_nomem(l->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_call(t->kind[row]) && *ht_cat(t, row))
			names[t->cat[row]] = ht_cat(t, row);
	for (size_t i = 0; i < t->n_categories; i++)
		if (names[i])
			names[n++] = names[i];
	qsort(names, n, sizeof *names, compare_names);
	for (size_t i = 0; i < n; i++) {
		ht_emit_text(&l->cell.emit, i ? ", " : ", of which there are: ", i ? 2 : 22);
		ht_emit_text(&l->cell.emit, names[i], strlen(names[i]));
	}
	const char *others = ht_cell_text_take(&l->cell);
	return others ? ht_table_add_warning(table,
	                        "rank %lld has no events of category %s; monitor-cat chooses "
	                        "others%s",
	                        (long long)l->run->rank, asked, others)
	              : ht_fail_nomem(l->run->ctx);
}

static enum ht_status add_notes(
        struct lister *l, const struct ht_forest_options *options, ht_table *table)
{
	const struct ht_forest *f = &l->forest;
	long long rank = (long long)l->run->rank;
	if (!f->n_rows)
		HT_TRY(add_other_categories(l, options->monitor, table));
	HT_TRY(ht_table_add_note(table,
	        "rank %lld: device activity matched by correlation %zu, flow %zu, External id %zu",
	        rank, f->n_by_correlation, f->n_by_flow + f->n_by_op, f->n_by_external));
	if (l->max_depth == MAX_PATH && f->deepest > MAX_PATH)
		HT_TRY(ht_table_add_warning(table,
		        "rank %lld calls %u deep, and is listed up to depth %d; max-depth -1 lists "
		        "all of it",
		        rank, f->deepest, MAX_PATH));
	if (l->cuts_paths)
		HT_TRY(ht_table_add_warning(table,
		        "rank %lld: of paths of more than %d names those in the middle are left out%s",
		        rank, 2 * HT_FOREST_HALF,
		        f->deepest > MAX_PATH ? "" : "; whole shows all"));
	if (l->cuts_lists)
		HT_TRY(ht_table_add_warning(table,
		        "rank %lld: lists end after %d entries with the number of the others; whole "
		        "shows all",
		        rank, LIST_MOST));
	if (f->n_unmatched_launches || f->n_unmatched_works)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld: in no row: %zu launches of %.6f ms, %zu device activities of "
		        "%.6f ms",
		        rank, f->n_unmatched_launches, (double)f->unmatched_launch_ns / 1e6,
		        f->n_unmatched_works, (double)f->unmatched_work_ns / 1e6));
	if (f->n_shared_correlations)
		HT_TRY(ht_table_add_warning(table,
		        "rank %lld: %zu device activities have the correlation of several "
		        "launches; each counts with one of them",
		        rank, f->n_shared_correlations));
	if (f->missed && f->missed_ns > f->work_ns / 100)
		HT_TRY(ht_table_add_warning(table,
		        "rank %lld: %.0f %% of the device time was launched by calls of category "
		        "%s; add it: --host-cat %s,%s (-hc)",
		        rank, 100.0 * (double)f->missed_ns / (double)f->work_ns, f->missed,
		        options->launch, f->missed));
	return HT_OK;
}

static enum ht_status list_rank(struct lister *l, struct ht_pool *paths, ht_table *table)
{
	struct ht_frame frame = { 0 };
	struct ht_forest_options options = read_options(l->run);
	HT_TRY(ht_cell_text_init(&l->cell, l->run->ctx));
	HT_TRY(ht_frame_make(l->run, &frame));
	HT_TRY(ht_forest_make(l->run, &frame, &options, &l->forest));
	HT_TRY(choose_items(l));
	choose_lengths(l);
	if (ht_run_bool(l->run, "aggregate"))
		HT_TRY(aggregate(l, paths));
	for (size_t i = 0; i < l->n_items; i++)
		if (!l->items[i].is_further && !put_item(l, &l->items[i], table))
			return ht_fail_nomem(l->run->ctx);
	return add_notes(l, &options, table);
}

/* Lists are as long as all device work at every depth, so those that nobody looks at are not made. */
static bool is_asked_for(const struct ht_run *run, const char *column)
{
	const struct ht_view *view = run->view;
	if (!ht_run_bool(run, "lists"))
		return false;
	return !view || !view->columns || strstr(view->columns, column) ||
	       (view->where && strstr(view->where, column)) ||
	       (view->sort && strstr(view->sort, column));
}

static enum ht_status list_calls(struct ht_run *run, struct ht_part *part)
{
	struct lister l = { .run = run,
		.min_depth = ht_run_i64(run, "min-depth"),
		.max_depth = max_depth_of(run),
		.sep = ht_run_str(run, "sep"),
		.wanted = { [LAUNCHES] = is_asked_for(run, "cuda_runtime"),
		        [WORKS] = is_asked_for(run, "kernels"),
		        [INFOS] = is_asked_for(run, "kernel_infos") },
		.python = ht_run_is(run, "cells", "python"),
		.with_args = ht_run_bool(run, "with-args") };
	struct ht_pool paths;
	ht_pool_init(&paths, run->ctx->mem);
	enum ht_status status = list_rank(&l, &paths, part->facts[0]);
	enum ht_status written = ht_cell_text_done(&l.cell);
	ht_pool_done(&paths);
	return status != HT_OK ? status : written;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(run, parts, table, "no rows: no monitored event has this depth");
}
