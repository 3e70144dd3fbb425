/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - a flame graph: which stacks of Python functions, annotations and operators the time is spent in.
 *
 * time host    the time of each event of the host that no event inside it has, under the events around it on its thread
 * time device  the duration of each piece of GPU work, under the events around its launch; from an autograd thread the
 *              stack goes on to what is open on the thread that waits for it; of a graph launch with what a recording of the
 *              graph has around the operator (graph_stacks.h)
 * Equal stacks are one row, over ranks; addresses of objects do not make them differ. Lines of --format folded are what flame
 * graph programs read: the names from the outermost in, joined by ";", and the time in ns. Rows add up to the time of the
 * threads, or of the GPU work.
 * Reads Python functions, annotations, operators, runtime and driver calls, GPU work. O(n log n). Unless steps are
 * chosen, all of the trace.
 * Example: f [0,10) us calls aten::mm [2,8) which launches [4,5) a kernel k of 20 us: host rows f 4, f;aten::mm 5,
 * f;aten::mm;cudaLaunchKernel 1 us; device row f;aten::mm;cudaLaunchKernel;k 20 us.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "base/sort.h"
#include "model/groups/graph_stacks.h"
#include "model/rows/addresses.h"
#include "model/rows/frame.h"
#include "model/rows/name_tree.h"
#include "model/rows/row_names.h"
#include "model/rows/row_stacks.h"
#include "store/columns.h"

#include <math.h>

static enum ht_status fold(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_STACK, "stack", HT_STR, HT_KEY,                                                 \
	        "names from the outermost in, ; between; others: stacks beyond the "               \
	        "65,536 with most time",                                                           \
	        NULL)                                                                              \
	COLUMN(COL_SELF_NS, "self_ns", HT_DURATION, HT_MEASURE,                                    \
	        "time in this stack and in none inside it", NULL)                                  \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "events, or GPU activities", NULL)          \
	COLUMN(COL_SHARE, "share", HT_RATIO, HT_MEASURE, "self_ns of that of all stacks", NULL)
HT_COLUMNS(columns, COLUMNS);

#define GROUP_COLUMNS(COLUMN)                                                                      \
	COLUMN(GROUP_STACK, "stack", HT_I64, HT_KEY, "number of its path", NULL)                   \
	COLUMN(GROUP_SELF_NS, "self_ns", HT_DURATION, HT_MEASURE, "time", NULL)                    \
	COLUMN(GROUP_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)
HT_COLUMNS(group_columns, GROUP_COLUMNS);

/* No reader looks at more, and their texts could be many times what was read. */
#define MOST_ROWS 65536

/* One row a rank: whether there is anything that with_stack would have recorded. */
#define PYTHON_COLUMNS(COLUMN)                                                                     \
	COLUMN(PYTHON_HAS_PYTHON, "has_python", HT_BOOL, HT_MEASURE,                               \
	        "whether the trace has Python functions", NULL)
HT_COLUMNS(python_columns, PYTHON_COLUMNS);
enum { STACKS, PYTHON, PATHS };

static const struct ht_param params[] = {
	{ "time", HT_STR, "host", "time of the host, or of GPU activity by where it was launched",
	        "host|device" },
	{ "all-rows", HT_BOOL, "false", "show every stack, not only the 65,536 with most time",
	        NULL },
};

const struct ht_analysis ht_analysis_stacks = {
	.info = {
		.name = "stacks",
		.group = "views",
		.page_view = "flame",
		.title = "Stacks",
		.question = "Which stacks of Python functions and operators is the time spent in?",
		.method = "Time of GPU activity under the events around its launch, or own time of host events under "
			  "those around them; equal stacks are one row. --format folded writes the lines that "
			  "flame graph programs read. Largest self_ns first.",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.lists_events = true,
	},
	.facts = { [STACKS] = { "stacks", group_columns, HT_COUNT(group_columns) },
	        [PYTHON] = { "python", python_columns, HT_COUNT(python_columns) },
	        [PATHS] = { "paths", ht_name_path_columns, HT_N_NAME_PATH_COLUMNS } },
	.per_rank = fold,
	.finish = finish,
};

struct folder {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_frame frame;
	struct ht_stacks stacks;
	struct ht_graph_stacks graphs;
	struct ht_vec self, count; /* int64_t by stack */
	struct ht_vec room;        /* char: of a name without addresses */
};

/* Steps are left out, so that what is done in each of them is one stack. */
static bool is_level(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	switch ((enum ht_kind)t->kind[row]) {
	case HT_KIND_CPU_OP:
	case HT_KIND_ANNOTATION: return !ht_is_step_name(ht_str(t, t->name[row]));
	case HT_KIND_PYTHON:
	case HT_KIND_RUNTIME:
	case HT_KIND_DRIVER: return true;
	default: return false;
	}
}

/* False when out of memory. What is no span, which only a forged cache file says of an operator, is in no stack. */
static bool add(struct folder *f, uint32_t stack, int64_t self_ns, int64_t count)
{
	struct ht_mem *mem = f->run->ctx->mem;
	if (stack == HT_NONE)
		return true;
	while (f->self.n <= stack)
		if (!HT_VEC_PUSH(mem, &f->self, int64_t, 0) ||
		        !HT_VEC_PUSH(mem, &f->count, int64_t, 0))
			return false;
	ht_sum(&((int64_t *)f->self.data)[stack], self_ns);
	((int64_t *)f->count.data)[stack] += count;
	return true;
}

/* An event gives its time to its stack, and takes it from that of the event around it. */
static enum ht_status add_host(struct folder *f)
{
	const struct ht_trace *t = f->t;
	uint32_t *around = NULL;
	int64_t *ends = NULL;
	bool *in = NULL;
	HT_TRY(ht_stacks_init(f->run, t, NULL, is_level, NULL, &f->stacks));
	HT_TRY(ht_tree_nearest(f->run->ctx, t, is_level, NULL, f->run->scratch, &around));
	HT_TRY(ht_tree_ends(f->run->ctx, t, f->run->scratch, &ends));
	HT_TRY(ht_frame_marks(f->run, &f->frame, &in));
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!in[row] || !is_level(t, row, NULL))
			continue;
		int64_t ns = ht_sub_sat(ends[row], t->ts_ns[row]);
		uint32_t up = around[row];
		if (!add(f, f->stacks.of[row], ns, 1) ||
		        (up != HT_NONE && in[up] && !add(f, f->stacks.of[up], -ns, 0)))
			return ht_fail_nomem(f->run->ctx);
	}
	return HT_OK;
}

static enum ht_status add_device(struct folder *f)
{
	const struct ht_trace *t = f->t;
	struct ht_autograd autograd = { 0 };
	HT_TRY(ht_autograd_make(f->run, t, &autograd));
	HT_TRY(ht_stacks_init(f->run, t, &autograd, is_level, NULL, &f->stacks));
	HT_TRY(ht_graph_stacks_init(f->run, &f->stacks, is_level, &f->graphs));
	for (size_t i = 0; i < f->frame.n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[f->frame.gpu[i]];
		uint32_t from = gpu->launch != HT_NONE ? gpu->launch : gpu->op, stack;
		if (!ht_graph_stacks_below(&f->graphs, f->frame.gpu[i],
		            from == HT_NONE ? HT_NONE : f->stacks.of[from], &stack) ||
		        !ht_stacks_push(&f->stacks, stack, t->name[gpu->row], &stack) ||
		        !add(f, stack, t->dur_ns[gpu->row], 1))
			return ht_fail_nomem(f->run->ctx);
	}
	return HT_OK;
}

/* Stacks are numbered in the order in which the file calls them, the same however it was read. */
static enum ht_status fold_rank(struct folder *f, struct ht_part *part)
{
	ht_table *table = part->facts[STACKS];
	HT_TRY(ht_frame_make(f->run, &f->frame));
	HT_TRY((ht_run_is(f->run, "time", "host") ? add_host : add_device)(f));
	for (uint32_t i = 0; i < ht_stacks_n(&f->stacks); i++) {
		struct ht_stack stack = ht_stacks_at(&f->stacks, i);
		const char *name = f->graphs.stacks ? ht_graph_stacks_name(&f->graphs, stack.name)
		                                    : ht_str(f->t, stack.name);
		name = ht_without_addresses(f->run->ctx->mem, &f->room, name);
		if (!name)
			return ht_fail_nomem(f->run->ctx);
		ht_name_path_put(part->facts[PATHS], name, stack.parent);
	}
	for (uint32_t i = 0; i < f->self.n; i++) {
		int64_t n = ((int64_t *)f->count.data)[i];
		if (!n)
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, GROUP_STACK, i);
		ht_table_put_i64(table, GROUP_SELF_NS, ((int64_t *)f->self.data)[i]);
		ht_table_put_i64(table, GROUP_COUNT, n);
	}
	return HT_OK;
}

static bool has_python(const struct ht_trace *t)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (t->kind[row] == HT_KIND_PYTHON)
			return true;
	return false;
}

static enum ht_status fold(struct ht_run *run, struct ht_part *part)
{
	struct folder f = { .run = run, .t = run->trace };
	ht_table_row(part->facts[PYTHON]);
	ht_table_put_i64(part->facts[PYTHON], PYTHON_HAS_PYTHON, has_python(run->trace));
	enum ht_status status = fold_rank(&f, part);
	ht_graph_stacks_done(&f.graphs);
	ht_stacks_done(&f.stacks);
	ht_vec_free(run->ctx->mem, &f.self, sizeof(int64_t));
	ht_vec_free(run->ctx->mem, &f.count, sizeof(int64_t));
	ht_vec_free(run->ctx->mem, &f.room, 1);
	return status;
}

/* What recording again would give. */
static enum ht_status add_advice(
        struct ht_run *run, const struct ht_parts *parts, bool any, ht_table *table)
{
	bool is_host = ht_run_is(run, "time", "host"), found = false;
	if (!any && is_host)
		return ht_table_add_note(table,
		        "no events of the host in the selection: record with ProfilerActivity.CPU, and "
		        "with_stack=True for Python functions");
	if (!any)
		return ht_table_add_note(table,
		        "no GPU activity in the selection: record with the activity of the device, such as "
		        "ProfilerActivity.CUDA");
	for (size_t i = 0; i < parts->n; i++)
		found |= ht_table_i64(parts->list[i].facts[PYTHON], 0, PYTHON_HAS_PYTHON) != 0;
	if (found)
		return HT_OK;
	return ht_table_add_note(table,
	        "the trace has no Python functions: record with with_stack=True to see them in the stacks");
}

/* ---- all ranks ---- */

/* One stack of all ranks. */
struct stack {
	int64_t self_ns, count;
	uint32_t number, place; /* in the tree; among all stacks by name */
};

static int by_time(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;
	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static enum ht_status add_part(struct ht_run *run, struct ht_name_tree *tree,
        const struct ht_part *part, struct ht_vec *stacks)
{
	const ht_table *rows = part->facts[STACKS];
	uint32_t *numbers = NULL;
	HT_TRY(ht_name_tree_read(run->ctx, tree, part->facts[PATHS], run->scratch, &numbers));
	for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
		uint64_t path = (uint64_t)ht_table_i64(rows, i, GROUP_STACK);
		if (path >= ht_table_n_rows(part->facts[PATHS]))
			return ht_fail(run->ctx, HT_FORMAT, NULL, -1, "make it again",
			        "the part does not hold what it should");
		while (stacks->n <= numbers[path]) {
			struct stack none = { .number = (uint32_t)stacks->n };
			if (!HT_VEC_PUSH(run->ctx->mem, stacks, struct stack, none))
				return ht_fail_nomem(run->ctx);
		}
		struct stack *stack = (struct stack *)stacks->data + numbers[path];
		ht_sum(&stack->self_ns, ht_table_i64(rows, i, GROUP_SELF_NS));
		ht_sum(&stack->count, ht_table_i64(rows, i, GROUP_COUNT));
	}
	return HT_OK;
}

/* Those with events, the most time first; the sum of all in ret_sum. */
static enum ht_status sort_stacks(struct ht_run *run, const struct ht_name_tree *tree,
        struct ht_vec *stacks, int64_t *ret_sum)
{
	struct stack *list = stacks->data;
	const uint32_t *places = ht_name_tree_places(tree, run->scratch);
	size_t n = 0;
	if (!places)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < stacks->n; i++) {
		if (!list[i].count)
			continue;
		ht_sum(ret_sum, list[i].self_ns);
		list[n] = list[i];
		list[n++].place = places[list[i].number];
	}
	stacks->n = n;
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_time);
	return HT_OK;
}

static void put_row(ht_table *table, const char *text, const struct stack *stack, int64_t sum)
{
	ht_table_row(table);
	ht_table_put_str(table, COL_STACK, text);
	ht_table_put_i64(table, COL_SELF_NS, stack->self_ns);
	ht_table_put_i64(table, COL_COUNT, stack->count);
	ht_table_put_f64(table, COL_SHARE, sum ? (double)stack->self_ns / (double)sum : NAN);
}

static enum ht_status put_stacks(struct ht_run *run, struct ht_name_tree *tree,
        const struct ht_parts *parts, struct ht_vec *stacks, ht_table *table)
{
	int64_t sum = 0;
	struct stack others = { 0 };
	for (size_t i = 0; i < parts->n; i++)
		HT_TRY(add_part(run, tree, &parts->list[i], stacks));
	HT_TRY(sort_stacks(run, tree, stacks, &sum));
	bool is_deep = tree->deepest > HT_NAME_PATH_MOST;
	const struct ht_name_spelling spelling = { ";", is_deep ? 16 : HT_NAME_PATH_MOST, ';' };
	bool all = ht_run_bool(run, "all-rows");
	for (size_t i = 0; i < stacks->n; i++) {
		const struct stack *stack = (struct stack *)stacks->data + i;
		if (i >= MOST_ROWS && !all) {
			ht_sum(&others.self_ns, stack->self_ns);
			others.count += stack->count;
			continue;
		}
		const char *text = ht_name_tree_text(tree, stack->number, &spelling);
		if (!text)
			return ht_fail_nomem(run->ctx);
		put_row(table, text, stack, sum);
	}
	if (others.count)
		put_row(table, "others", &others, sum);
	HT_TRY(ht_frame_set_method(run, table, "sums over events and ranks"));
	ht_table_set_bar(table, COL_SHARE);
	return add_advice(run, parts, stacks->n > 0, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_name_tree tree;
	struct ht_vec stacks = { 0 };
	ht_name_tree_init(&tree, run->ctx->mem);
	enum ht_status status = put_stacks(run, &tree, parts, &stacks, table);
	ht_vec_free(run->ctx->mem, &stacks, sizeof(struct stack));
	ht_name_tree_done(&tree);
	return status;
}
