/*
 * diff.c - what changed between two runs: counts and times per operator and kernel.
 *
 * Per name (or call path, or name and input shape), over the chosen ranks and steps of each set:
 *     count, time = sum of durations; diff = test - control
 *     change: added, removed, increased, decreased or equal, by the counts
 * Host and GPU rows are kept apart. Times of host rows include what they call. ProfilerStep rows and
 * the GPU copies of annotations are left out: they say nothing that their content does not. So are Python
 * functions, which are no operators and whose names may hold addresses. A path goes on from an autograd thread
 * to what is open on the thread that waits for it (autograd.h); of more than 16 names it shows 8 and 8.
 *
 * Which ranks and steps: see diff_sides.h; a note under the table tells.
 * With hta-compat: HTA's rows (every row with a duration, by stream argument and iteration), names of
 * host and GPU merged, first rank, first step, HTA's order.
 *
 * O(n) + sorting the names. Order: largest |diff_ns| first, then name, then device.
 *
 * Example: control has aten::mm 2x for 30 us in all, test 3x for 24 us: count +1 (increased),
 * diff_ns -6000, change_share -20 %.
 */
#include "analysis/analysis.h"
#include "model/autograd.h"
#include "model/diff_sides.h"
#include "model/frame.h"
#include "hta/hta_names.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/list.h"
#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status count_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "name", HT_STR, HT_KEY, "operator, annotation, runtime call, kernel, copy or set", NULL },
	{ "device", HT_STR, HT_KEY, "cpu or gpu; null with hta-compat", NULL },
	{ "control_count", HT_I64, HT_MEASURE, "events of this name in control", NULL },
	{ "test_count", HT_I64, HT_MEASURE, "events of this name in test", NULL },
	{ "diff_count", HT_I64, HT_DETAIL, "test minus control", NULL },
	{ "control_ns", HT_DURATION, HT_MEASURE, "sum of their durations in control", NULL },
	{ "test_ns", HT_DURATION, HT_MEASURE, "sum of their durations in test", NULL },
	{ "diff_ns", HT_DURATION, HT_MEASURE, "test minus control", NULL },
	{ "change_share", HT_RATIO, HT_DETAIL, "diff_ns over control_ns, null without control",
	        NULL },
	{ "change", HT_STR, HT_MEASURE,
	        "added, removed, increased, decreased or equal, by the counts", NULL },
};

/* What a rank contributes: one row per name, path or shape. */
static const struct ht_column group_columns[] = {
	{ "name", HT_STR, HT_KEY, "name, path, or name and shape", NULL },
	{ "device", HT_I64, HT_KEY, "host, GPU or neither", NULL },
	{ "count", HT_I64, HT_MEASURE, "events", NULL },
	{ "ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL },
};
enum { NAME, DEVICE, COUNT, NS };

static const struct ht_param params[] = {
	{ "device", HT_STR, "all", "which rows to compare", "all|cpu|gpu" },
	{ "by", HT_STR, "name", "what makes two events the same", "name|path|shape" },
	{ "control-rank", HT_STR, NULL, "ranks of control: 0,2-3 or all", NULL },
	{ "test-rank", HT_STR, NULL, "ranks of test: 0,2-3 or all", NULL },
	{ "control-step", HT_STR, NULL, "steps of control: 3-5,7 or all", NULL },
	{ "test-step", HT_STR, NULL, "steps of test: 3-5,7 or all", NULL },
	{ "short-names", HT_BOOL, "false", "without template arguments and parameters", NULL },
};

const struct ht_analysis ht_analysis_diff = {
	.info = { .name = "diff",
	        .group = "compare",
	        .title = "Differences between two runs",
	        .question =
	                "Which operators and kernels were added, removed, or take more or less time?",
	        .method =
	                "Counts and summed durations per name over the chosen ranks and steps of both "
	                "runs; test minus control.",
	        .hta = "TraceDiff.compare_traces, TraceDiff.ops_diff",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 2 },
	.facts = { { "groups", group_columns, HT_COUNT(group_columns) } },
	.choose = ht_diff_choose,
	.per_rank = count_rank,
	.finish = finish,
};

enum by { BY_NAME, BY_PATH, BY_SHAPE };
enum device { DEVICE_NONE, DEVICE_CPU, DEVICE_GPU };

/* What is counted: a name under a parent (paths) or with a shape, on a device; shared by both sides. */
struct node {
	uint32_t parent; /* HT_NONE */
	uint32_t name;   /* id in the pool of texts */
	uint32_t shape;  /* likewise, HT_NONE */
	uint32_t device;
};

/* Of one rank by node; of both sides when ranks are brought together. */
struct group {
	uint64_t count[2];
	int64_t ns[2];
};

struct compare {
	struct ht_run *run;
	enum by by;
	bool cpu, gpu, short_names;
	struct ht_pool texts, nodes; /* names; keys are struct node */
	struct ht_vec groups;        /* struct group by node */
};

/* One trace of one side. */
struct scan {
	struct compare *compare;
	const struct ht_trace *trace;
	const uint32_t *parent; /* by row, over threads */
	uint32_t *text_of;      /* by string id: text in the pool, HT_NONE until asked */
	uint32_t *node_of[3];   /* by device and string id: node by name, HT_NONE until asked */
	uint32_t *context_of;   /* by row: node that its children hang under, UNKNOWN until asked */
	uint32_t *way;          /* room for the rows from one to the top */
};
#define UNKNOWN (UINT32_MAX - 1)

/* ---- keys ---- */

static bool add_text(struct compare *compare, const char *text, uint32_t *ret_id)
{
	struct ht_text added;
	size_t n = strlen(text);
	if (!ht_pool_add(&compare->texts, text, n, ht_hash(text, n), &added))
		return false;
	*ret_id = added.id;
	return true;
}

static bool text_of_name(struct scan *scan, uint32_t name, uint32_t *ret_id)
{
	if (name == HT_NO_STR)
		return add_text(scan->compare, "", ret_id);
	if (scan->text_of[name] == HT_NONE) {
		const char *text = ht_str(scan->trace, name);
		if (scan->compare->short_names)
			text = ht_hta_shorten_name(scan->compare->run->scratch, text);
		if (!text || !add_text(scan->compare, text, &scan->text_of[name]))
			return false;
	}
	*ret_id = scan->text_of[name];
	return true;
}

static bool add_node(struct compare *compare, struct node key, uint32_t *ret_node)
{
	struct ht_text added;
	if (!ht_pool_add(&compare->nodes, (const char *)&key, sizeof key, ht_hash(&key, sizeof key),
	            &added))
		return false;
	while (compare->groups.n <= added.id)
		if (!HT_VEC_PUSH(compare->run->ctx->mem, &compare->groups, struct group,
		            (struct group){ 0 }))
			return false;
	*ret_node = added.id;
	return true;
}

static bool is_step_name(const char *name)
{
	return strncmp(name, "ProfilerStep", 12) == 0;
}

/* Rows that appear in paths: operators and annotations. */
static bool is_on_path(const struct ht_trace *trace, uint32_t row)
{
	if (trace->kind[row] == HT_KIND_CPU_OP)
		return true;
	return trace->kind[row] == HT_KIND_ANNOTATION &&
	       !is_step_name(ht_str(trace, trace->name[row]));
}

/* The node that the children of a row hang under. */
static bool context(struct scan *scan, uint32_t row, uint32_t *ret_node)
{
	const struct ht_trace *trace = scan->trace;
	size_t n_way = 0;
	while (row != HT_NONE && scan->context_of[row] == UNKNOWN) {
		scan->way[n_way++] = row;
		row = scan->parent[row];
	}
	uint32_t node = row == HT_NONE ? HT_NONE : scan->context_of[row];
	while (n_way) {
		row = scan->way[--n_way];
		struct node key = { .parent = node, .shape = HT_NONE, .device = DEVICE_CPU };
		if (is_on_path(trace, row) && (!text_of_name(scan, trace->name[row], &key.name) ||
		                                      !add_node(scan->compare, key, &node)))
			return false;
		scan->context_of[row] = node;
	}
	*ret_node = node;
	return true;
}

static bool make_node(struct scan *scan, uint32_t row, enum device device, uint32_t *ret_node)
{
	const struct ht_trace *trace = scan->trace;
	struct compare *compare = scan->compare;
	struct node key = { .parent = HT_NONE, .shape = HT_NONE, .device = device };
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(trace->kind[row]) && compare->by != BY_NAME
	                                   ? ht_gpu_of_row(trace, row)
	                                   : NULL;
	if (compare->by == BY_PATH &&
	        !context(scan, gpu ? gpu->launch : scan->parent[row], &key.parent))
		return false;
	if (compare->by == BY_SHAPE) {
		uint32_t op = gpu ? gpu->op : row;
		const char *shape = op == HT_NONE ? NULL : ht_arg_str(trace, "Input Dims", op);
		if (shape && !add_text(compare, shape, &key.shape))
			return false;
	}
	return text_of_name(scan, trace->name[row], &key.name) && add_node(compare, key, ret_node);
}

static bool node_of_row(struct scan *scan, uint32_t row, enum device device, uint32_t *ret_node)
{
	uint32_t name = scan->trace->name[row];
	if (scan->compare->by != BY_NAME || name == HT_NO_STR)
		return make_node(scan, row, device, ret_node);
	uint32_t *known = &scan->node_of[device][name];
	if (*known == HT_NONE && !make_node(scan, row, device, known))
		return false;
	*ret_node = *known;
	return true;
}

/* ---- counting ---- */

static enum device device_of(const struct ht_trace *trace, uint32_t row)
{
	switch (trace->kind[row]) {
	case HT_KIND_KERNEL:
	case HT_KIND_MEMCPY:
	case HT_KIND_MEMSET: return DEVICE_GPU;
	case HT_KIND_GPU_ANNOTATION:
	case HT_KIND_SYNC:
	case HT_KIND_CUDA_EVENT:
	case HT_KIND_PROFILER_RANGE: return DEVICE_NONE;
	/* functions are no operators, and the addresses in their names differ from run to run */
	case HT_KIND_PYTHON: return DEVICE_NONE;
	case HT_KIND_ANNOTATION:
		return is_step_name(ht_str(trace, trace->name[row])) ? DEVICE_NONE : DEVICE_CPU;
	default: return DEVICE_CPU;
	}
}

static bool count_row(struct scan *scan, uint32_t row, enum device device)
{
	uint32_t node;
	if (!node_of_row(scan, row, device, &node))
		return false;
	struct group *group = (struct group *)scan->compare->groups.data + node;
	group->count[0]++;
	ht_sum(&group->ns[0], scan->trace->dur_ns[row]);
	return true;
}

static enum ht_status count_own(struct scan *scan, const struct ht_frame *frame)
{
	struct compare *compare = scan->compare;
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		enum device device = device_of(scan->trace, row);
		if ((device == DEVICE_CPU && compare->cpu) ||
		        (device == DEVICE_GPU && compare->gpu))
			if (!count_row(scan, row, device))
				return ht_fail_nomem(compare->run->ctx);
	}
	return HT_OK;
}

/* HTA's rows: by stream argument and iteration, host and GPU under one name. */
static enum ht_status count_hta(
        struct scan *scan, struct ht_run *run, const struct ht_frame *frame, const char *steps)
{
	struct compare *compare = scan->compare;
	struct ht_hta_columns hta;
	HT_TRY(ht_frame_hta_columns(run, frame, true, &hta));
	struct ht_list list = { 0 };
	HT_TRY(ht_list_parse(run->ctx, "step", steps, &list));
	bool ok = true;
	for (size_t i = 0; i < frame->n_rows && ok; i++) {
		uint32_t row = frame->rows[i];
		bool wanted = hta.stream[row] == -1 ? compare->cpu : compare->gpu;
		if (wanted && ht_list_has(&list, hta.iteration[row]))
			ok = count_row(scan, row, DEVICE_NONE);
	}
	ht_list_done(run->ctx, &list);
	return ok ? HT_OK : ht_fail_nomem(run->ctx);
}

/* n ids, each of that value; NULL when out of memory. */
static uint32_t *fill(struct compare *compare, size_t n, uint32_t value)
{
	uint32_t *ids = ht_arena_alloc(compare->run->scratch, n * sizeof *ids);
	for (size_t i = 0; ids && i < n; i++)
		ids[i] = value;
	return ids;
}

static enum ht_status scan_init(struct scan *scan)
{
	size_t n_strings = scan->trace->n_string_offsets + 1;
	size_t n_rows = scan->compare->by == BY_PATH ? scan->trace->n_kind : 1;
	scan->text_of = fill(scan->compare, n_strings, HT_NONE);
	scan->context_of = fill(scan->compare, n_rows, UNKNOWN);
	scan->way = fill(scan->compare, n_rows, 0);
	bool ok = scan->text_of && scan->context_of && scan->way;
	for (size_t i = 0; i < HT_COUNT(scan->node_of); i++) {
		scan->node_of[i] = fill(scan->compare, n_strings, HT_NONE);
		ok = ok && scan->node_of[i];
	}
	return ok ? HT_OK : ht_fail_nomem(scan->compare->run->ctx);
}

static enum ht_status count_trace(struct compare *compare)
{
	struct ht_run *run = compare->run;
	const char *steps = run->step;
	struct ht_frame frame;
	if (run->hta_compat)
		run->step = "all";
	HT_TRY(ht_frame_make(run, &frame));
	struct ht_autograd autograd = { .parent = frame.trace->parent };
	if (compare->by == BY_PATH)
		HT_TRY(ht_autograd_make(run, frame.trace, &autograd));
	struct scan scan = { .compare = compare, .trace = frame.trace, .parent = autograd.parent };
	HT_TRY(scan_init(&scan));
	if (run->hta_compat)
		return count_hta(&scan, run, &frame, steps);
	return count_own(&scan, &frame);
}

/* ---- facts of a rank ---- */

static struct node node_at(const struct compare *compare, uint32_t i)
{
	struct node node;
	memcpy(&node, ((const struct ht_text *)compare->nodes.texts.data)[i].bytes, sizeof node);
	return node;
}

/* Copy a text in front of end; returns its start. */
static char *put_before(const struct compare *compare, char *end, uint32_t text)
{
	const struct ht_text *texts = compare->texts.texts.data;
	return memcpy(end - texts[text].n, texts[text].bytes, texts[text].n);
}

/* Of a path with more than 16 names the 8 outermost and the 8 innermost are spelled: all paths together could be
 * as long as the square of the file. */
#define HALF 8

/* What spelling needs to know of a node's path. */
struct path {
	uint32_t n;    /* names, its own included */
	uint32_t head; /* the node with the first HALF of them, itself when there are fewer */
	uint64_t hash; /* of all of them */
};

/* Parents have been added before their children. */
static struct path *measure_paths(struct compare *compare)
{
	const struct ht_text *texts = compare->texts.texts.data;
	struct path *paths =
	        ht_arena_alloc(compare->run->scratch, (compare->groups.n + 1) * sizeof *paths);
	for (uint32_t i = 0; paths && i < compare->groups.n; i++) {
		struct node node = node_at(compare, i);
		struct path outer = { 0 };
		if (node.parent != HT_NONE)
			outer = paths[node.parent];
		paths[i] = (struct path){ outer.n + 1, outer.n < HALF ? i : outer.head,
			ht_hash_mix(outer.hash, texts[node.name].hash) };
	}
	return paths;
}

/* The nodes whose names are spelled, innermost first. Returns how many; in ret_middle what stands for those left
 * out, between the innermost HALF and the rest: "" for none. */
static size_t choose_names(const struct compare *compare, const struct path *paths, uint32_t i,
        uint32_t *nodes, char *ret_middle, size_t n_middle)
{
	size_t n = 0;
	uint32_t at = i;
	bool cut = paths[i].n > 2 * HALF;
	for (; at != HT_NONE && n < (cut ? HALF : 2 * HALF); at = node_at(compare, at).parent)
		nodes[n++] = at;
	*ret_middle = 0;
	if (!cut)
		return n;
	/* the hash keeps paths apart that differ only in what is left out */
	snprintf(ret_middle, n_middle, "… %u more, %08x …", paths[i].n - 2 * HALF,
	        (unsigned)paths[at].hash);
	for (at = paths[i].head; at != HT_NONE; at = node_at(compare, at).parent)
		nodes[n++] = at;
	return n;
}

/* "outer / inner / name" or "name shape"; NULL when out of memory. */
static const char *spell_node(struct compare *compare, const struct path *paths, uint32_t i)
{
	const struct ht_text *texts = compare->texts.texts.data;
	struct node node = node_at(compare, i);
	uint32_t nodes[2 * HALF];
	char middle[48];
	size_t n_names = choose_names(compare, paths, i, nodes, middle, sizeof middle);
	size_t n = 4 + strlen(middle) + (node.shape == HT_NONE ? 0 : texts[node.shape].n + 1);
	for (size_t k = 0; k < n_names; k++)
		n += texts[node_at(compare, nodes[k]).name].n + 3;
	char *room = ht_arena_alloc(compare->run->scratch, n);
	if (!room)
		return NULL;
	char *text = room + n - 1;
	if (node.shape != HT_NONE) {
		text = put_before(compare, text, node.shape);
		*--text = ' ';
	}
	for (size_t k = 0; k < n_names; k++) {
		if (k)
			text = memcpy(text - 3, " / ", 3);
		if (k == HALF && *middle) {
			text = memcpy(text - strlen(middle), middle, strlen(middle));
			text = memcpy(text - 3, " / ", 3);
		}
		text = put_before(compare, text, node_at(compare, nodes[k]).name);
	}
	return text;
}

static enum ht_status put_groups(struct compare *compare, ht_table *table)
{
	const struct group *groups = compare->groups.data;
	const struct path *paths = measure_paths(compare);
	if (!paths)
		return ht_fail_nomem(compare->run->ctx);
	for (uint32_t i = 0; i < compare->groups.n; i++) {
		/* nodes that only carry paths have no rows of their own */
		if (!groups[i].count[0])
			continue;
		const char *name = spell_node(compare, paths, i);
		if (!name)
			return ht_fail_nomem(compare->run->ctx);
		ht_table_row(table);
		ht_table_put_str(table, name);
		ht_table_put_i64(table, node_at(compare, i).device);
		ht_table_put_i64(table, (int64_t)groups[i].count[0]);
		ht_table_put_i64(table, groups[i].ns[0]);
	}
	return HT_OK;
}

static enum ht_status count_rank(struct ht_run *run, struct ht_part *part)
{
	struct compare compare = { .run = run,
		.by = ht_run_is(run, "by", "path")    ? BY_PATH
		      : ht_run_is(run, "by", "shape") ? BY_SHAPE
		                                      : BY_NAME,
		.cpu = !ht_run_is(run, "device", "gpu"),
		.gpu = !ht_run_is(run, "device", "cpu"),
		.short_names = ht_run_bool(run, "short-names") };
	ht_pool_init(&compare.texts, run->ctx->mem);
	ht_pool_init(&compare.nodes, run->ctx->mem);
	enum ht_status status = count_trace(&compare);
	if (status == HT_OK)
		status = put_groups(&compare, part->facts[0]);
	ht_pool_done(&compare.texts);
	ht_pool_done(&compare.nodes);
	ht_vec_free(run->ctx->mem, &compare.groups, sizeof(struct group));
	return status;
}

/* ---- rows ---- */

struct line {
	const char *name;
	struct group group;
	uint32_t device;
};

static uint64_t magnitude(const struct line *line)
{
	int64_t diff_ns = line->group.ns[1] - line->group.ns[0];
	return diff_ns < 0 ? 0 - (uint64_t)diff_ns : (uint64_t)diff_ns;
}

static int by_change(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (magnitude(a) != magnitude(b))
		return magnitude(a) > magnitude(b) ? -1 : 1;
	int by_name = strcmp(a->name, b->name);
	return by_name ? by_name : (int)a->device - (int)b->device;
}

static int by_hta(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	bool a_new = a->group.count[0] == 0, b_new = b->group.count[0] == 0;
	return a_new != b_new ? a_new - b_new : strcmp(a->name, b->name);
}

static const char *change_name(const struct group *group)
{
	if (group->count[0] == 0)
		return "added";
	if (group->count[1] == 0)
		return "removed";
	if (group->count[1] == group->count[0])
		return "equal";
	return group->count[1] > group->count[0] ? "increased" : "decreased";
}

static void put_line(ht_table *table, const struct line *line)
{
	static const char *const devices[] = { NULL, "cpu", "gpu" };
	const struct group *group = &line->group;
	int64_t diff_ns = group->ns[1] - group->ns[0];
	ht_table_row(table);
	ht_table_put_str(table, line->name);
	ht_table_put_str(table, devices[line->device]);
	ht_table_put_i64(table, (int64_t)group->count[0]);
	ht_table_put_i64(table, (int64_t)group->count[1]);
	ht_table_put_i64(table, (int64_t)group->count[1] - (int64_t)group->count[0]);
	ht_table_put_i64(table, group->ns[0]);
	ht_table_put_i64(table, group->ns[1]);
	ht_table_put_i64(table, diff_ns);
	if (group->ns[0] > 0)
		ht_table_put_f64(table, (double)diff_ns / (double)group->ns[0]);
	else
		ht_table_put_null(table);
	ht_table_put_str(table, change_name(group));
}

static int by_key(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int by_name = strcmp(a->name, b->name);
	return by_name ? by_name : (int)a->device - (int)b->device;
}

/* Rows of the parts, equal names of all ranks and of both sides as one. */
static enum ht_status unite(
        struct ht_run *run, const struct ht_parts *parts, struct line **ret_lines, size_t *ret_n)
{
	size_t n = 0, n_kept = 0;
	struct line *lines =
	        ht_arena_alloc(run->scratch, (ht_parts_n_rows(parts, 0) + 1) * sizeof *lines);
	if (!lines)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[0];
		size_t side = parts->list[i].side;
		for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
			struct line *line = &lines[n++];
			line->name = ht_table_str(facts, row, NAME);
			line->device = (uint32_t)ht_table_i64(facts, row, DEVICE);
			line->group.count[side] = (uint64_t)ht_table_i64(facts, row, COUNT);
			line->group.ns[side] = ht_table_i64(facts, row, NS);
		}
	}
	qsort(lines, n, sizeof *lines, by_key);
	for (size_t i = 0; i < n; i++) {
		if (!n_kept || by_key(&lines[n_kept - 1], &lines[i])) {
			lines[n_kept++] = lines[i];
			continue;
		}
		for (size_t side = 0; side < 2; side++) {
			lines[n_kept - 1].group.count[side] += lines[i].group.count[side];
			lines[n_kept - 1].group.ns[side] += lines[i].group.ns[side];
		}
	}
	*ret_lines = lines;
	*ret_n = n_kept;
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct line *lines = NULL;
	size_t n = 0;
	const char *control = ht_diff_describe(run, 0), *test = ht_diff_describe(run, 1);
	if (!control || !test)
		return ht_fail_nomem(run->ctx);
	HT_TRY(unite(run, parts, &lines, &n));
	qsort(lines, n, sizeof *lines, run->hta_compat ? by_hta : by_change);
	for (size_t i = 0; i < n; i++)
		put_line(table, &lines[i]);
	if (n == 0)
		HT_TRY(ht_table_add_note(table, "no events to compare"));
	return ht_table_add_note(table, "control: %s; test: %s", control, test);
}
