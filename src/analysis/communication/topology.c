/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - where each rank stands in its job: the node, and its places in the ways in which the job is split.
 *
 * Places are those of process groups whose description names one way of splitting (group_axis.h): the position of the rank in the
 * list of the group. Of several groups of one way the largest counts, of which the others are parts. A rank of a stage, or of a replica, is one
 * with that position; of a tensor-, context- or expert-parallel group one of the same list, which is known by its first rank.
 *
 * A node is, by the first rule that holds for all ranks of the recording:
 *   file names     the host in them, as tensorboard_trace_handler writes them (HOST_PID.TIME.pt.trace.json), of which there are several
 *   devices        rank / d, where every file lists d > 1 devices, fewer than there are ranks, and rank r works on device r mod d alone
 *   process groups rank / 8, where a group of a larger job has just the ranks 8k to 8k + 7
 * Otherwise it is unknown. Ascend's files say groups in their header parallel_group_info.
 *
 * Views: "ranks", one row per rank; "axes", one per way of splitting that is known of any rank. Blind to groups without a description.
 *
 * Example: 16 ranks, mesh_tp [0..7] and [8..15], mesh_dp [0, 8] ...: rank 9 has node 1 (process groups), tensor group 8 with place 1, replica
 * 1. Axes: node 2 of 8 ranks, data 2 replicas of 8, tensor 2 groups of 8.
 */
#include "analysis/analysis.h"
#include "base/sort.h"
#include "json/json_text.h"
#include "model/communication/group_axis.h"
#include "model/run_tree.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status look(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define RANK_COLUMNS(COLUMN)                                                                       \
	COLUMN(RANK_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(RANK_NODE, "node", HT_STR, HT_MEASURE,                                              \
	        "machine: its name, or its number by the order of ranks; null: unknown", NULL)     \
	COLUMN(RANK_STAGE, "stage", HT_I64, HT_MEASURE,                                            \
	        "pipeline stage, from 0; null: not in a pipeline-parallel group", NULL)            \
	COLUMN(RANK_REPLICA, "replica", HT_I64, HT_MEASURE,                                        \
	        "place in its data-parallel group, from 0; null: not in one", NULL)                \
	COLUMN(RANK_TENSOR_GROUP, "tensor_group", HT_I64, HT_MEASURE,                              \
	        "first rank of its tensor-parallel group; null: not in one", NULL)                 \
	COLUMN(RANK_TENSOR_PLACE, "tensor_place", HT_I64, HT_DETAIL,                               \
	        "place in that group, from 0", NULL)                                               \
	COLUMN(RANK_CONTEXT_GROUP, "context_group", HT_I64, HT_MEASURE,                            \
	        "first rank of its context-parallel group; null: not in one", NULL)                \
	COLUMN(RANK_CONTEXT_PLACE, "context_place", HT_I64, HT_DETAIL,                             \
	        "place in that group, from 0", NULL)                                               \
	COLUMN(RANK_EXPERT_GROUP, "expert_group", HT_I64, HT_MEASURE,                              \
	        "first rank of its expert-parallel group; null: not in one", NULL)                 \
	COLUMN(RANK_EXPERT_PLACE, "expert_place", HT_I64, HT_DETAIL,                               \
	        "place in that group, from 0", NULL)                                               \
	COLUMN(RANK_DEVICE, "device", HT_I64, HT_DETAIL,                                           \
	        "GPU index on its node; null: none, or several", NULL)
HT_COLUMNS(rank_columns, RANK_COLUMNS);

#define AXIS_COLUMNS(COLUMN)                                                                       \
	COLUMN(AXIS_AXIS, "axis", HT_STR, HT_KEY,                                                  \
	        "node, pipeline, data, tensor, context or expert", NULL)                           \
	COLUMN(AXIS_GROUPS, "groups", HT_I64, HT_MEASURE,                                          \
	        "nodes, stages, replicas or groups that the ranks are of", NULL)                   \
	COLUMN(AXIS_RANKS, "ranks", HT_I64, HT_MEASURE, "ranks of the largest of them", NULL)      \
	COLUMN(AXIS_SIZE, "size", HT_I64, HT_MEASURE,                                              \
	        "parallel degree: ranks of a process group; null of nodes", NULL)                  \
	COLUMN(AXIS_KNOWN, "known", HT_I64, HT_MEASURE, "ranks of which it is known", NULL)        \
	COLUMN(AXIS_FROM, "from", HT_STR, HT_MEASURE,                                              \
	        "what says so: file names, devices or process groups", NULL)
HT_COLUMNS(axis_columns, AXIS_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "ranks", rank_columns, HT_COUNT(rank_columns) },
	{ "axes", axis_columns, HT_COUNT(axis_columns) },
};

#define ABOUT_COLUMNS(COLUMN)                                                                      \
	COLUMN(ABOUT_DEVICES, "devices", HT_I64, HT_MEASURE, "devices that the file lists", NULL)  \
	COLUMN(ABOUT_DEVICE, "device", HT_I64, HT_MEASURE, "the only one with work", NULL)
HT_COLUMNS(about_columns, ABOUT_COLUMNS);
#define PLACE_COLUMNS(COLUMN)                                                                      \
	COLUMN(PLACE_AXIS, "axis", HT_I64, HT_KEY, "number of the way of splitting", NULL)         \
	COLUMN(PLACE_FIRST, "first", HT_I64, HT_MEASURE, "first rank of the group", NULL)          \
	COLUMN(PLACE_PLACE, "place", HT_I64, HT_MEASURE, "place of the rank in it", NULL)          \
	COLUMN(PLACE_SIZE, "size", HT_I64, HT_MEASURE, "ranks of the group", NULL)                 \
	COLUMN(PLACE_LAST, "last", HT_I64, HT_MEASURE, "last rank of the group", NULL)
HT_COLUMNS(place_columns, PLACE_COLUMNS);
enum { ABOUT, PLACES };

static const struct ht_param params[] = {
	{ "view", HT_STR, "ranks", "one row per rank, or one per way of splitting the job",
	        "ranks|axes" },
};

const struct ht_analysis ht_analysis_topology = {
	.info = { .name = "topology",
	        .group = "distributed",
	        .page_view = "ranks",
	        .title = "Ranks by node and parallel group",
	        .question =
	                "Which node is each rank on, and where does it stand in tensor, pipeline, data, context and expert parallelism?",
	        .method =
	                "Places in process groups whose description names one way of splitting; nodes by hosts in file names, else by the devices that "
	                "ranks work on, else by process groups of eight.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { [ABOUT] = { "about", about_columns, HT_COUNT(about_columns) },
	        [PLACES] = { "places", place_columns, HT_COUNT(place_columns) } },
	.per_rank = look,
	.of = "from process groups, devices and file names",
	.finish = finish,
};

/* Ranks of a node, where only process groups say what a node is. */
#define NODE 8

/* ---- one rank ---- */

/* The only device that the rank works on; -1: none, or several. */
static int64_t only_device(const struct ht_trace *t)
{
	int64_t device = -1;
	for (size_t i = 0; i < t->n_tracks; i++) {
		if (t->tracks[i].device < 0 || !t->tracks[i].n_spans)
			continue;
		if (device >= 0 && device != t->tracks[i].device)
			return -1;
		device = t->tracks[i].device;
	}
	return device;
}

/* The last number of a list that holds the rank, which is "[0, 1, 2]". */
static int64_t last_of(const char *ranks)
{
	struct ht_json reader = { ranks };
	struct ht_json_value list = ht_json_next(&reader), item;
	int64_t last = -1;
	reader = ht_json_enter(&list);
	while (ht_json_element(&reader, &item))
		if (!ht_json_i64(&item, &last))
			last = -1;
	return last;
}

static void put_place(
        const struct ht_run *run, const char *description, const char *ranks, ht_table *table)
{
	int64_t first, size, place = ht_group_place(ranks, run->rank, &first, &size);
	if (place < 0)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, PLACE_AXIS, ht_axis_of(description));
	ht_table_put_i64(table, PLACE_FIRST, first);
	ht_table_put_i64(table, PLACE_PLACE, place);
	ht_table_put_i64(table, PLACE_SIZE, size);
	ht_table_put_i64(table, PLACE_LAST, last_of(ranks));
}

/* Text of a JSON value in scratch: of a string what it says. */
static const char *text_of(struct ht_run *run, const struct ht_json_value *value)
{
	bool is_string = value->type == HT_JSON_STRING && value->n >= 2;
	return ht_arena_printf(run->scratch, "%.*s", (int)(is_string ? value->n - 2 : value->n),
	        is_string ? value->text + 1 : value->text);
}

/* {"group_12": {"group_name": "tp", "global_ranks": [0, 1]}, ...} */
static enum ht_status put_ascend(struct ht_run *run, const char *header, ht_table *table)
{
	struct ht_json reader = { header };
	struct ht_json_value groups = ht_json_next(&reader), key, info;
	if (groups.type != HT_JSON_OBJECT)
		return HT_OK;
	reader = ht_json_enter(&groups);
	while (ht_json_member(&reader, &key, &info)) {
		if (info.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value name = ht_json_get(&info, "group_name");
		struct ht_json_value ranks = ht_json_get(&info, "global_ranks");
		if (name.type != HT_JSON_STRING || ranks.type != HT_JSON_ARRAY)
			continue;
		const char *name_text = text_of(run, &name), *ranks_text = text_of(run, &ranks);
		if (!name_text || !ranks_text)
			return ht_fail_nomem(run->ctx);
		put_place(run, name_text, ranks_text, table);
	}
	return HT_OK;
}

static enum ht_status look(struct ht_run *run, struct ht_part *part)
{
	const struct ht_trace *t = run->trace;
	ht_table_row(part->facts[ABOUT]);
	ht_table_put_i64(part->facts[ABOUT], ABOUT_DEVICES, (int64_t)t->more->n_devices);
	ht_table_put_known(part->facts[ABOUT], ABOUT_DEVICE, only_device(t), -1);
	for (size_t i = 0; i < t->more->n_process_groups; i++) {
		const struct ht_process_group *g = &t->more->process_groups[i];
		if (g->ranks != HT_NO_STR)
			put_place(run, g->description == HT_NO_STR ? "" : ht_str(t, g->description),
			        ht_str(t, g->ranks), part->facts[PLACES]);
	}
	for (size_t i = 0; i < t->more->n_headers; i++)
		if (!strcmp(ht_str(t, t->more->headers[i].key), "parallel_group_info"))
			HT_TRY(put_ascend(
			        run, ht_str(t, t->more->headers[i].value), part->facts[PLACES]));
	return HT_OK;
}

/* ---- all ranks ---- */

/* Where a rank stands on an axis; size 0: nowhere. */
struct place {
	int64_t first, place, size;
};

struct standing {
	int64_t rank;
	const char *node; /* NULL: unknown */
	struct place on[HT_N_AXES];
	int64_t n_devices, device; /* -1: none, or several */
};

struct topology {
	struct ht_run *run;
	struct standing *ranks;
	size_t n;
	const char *nodes_from; /* NULL: nodes are unknown */
};

static void read_part(const struct ht_part *part, struct standing *s)
{
	const ht_table *places = part->facts[PLACES], *about = part->facts[ABOUT];
	*s = (struct standing){ .rank = part->rank, .device = -1 };
	if (ht_table_n_rows(about)) {
		s->n_devices = ht_table_i64(about, 0, ABOUT_DEVICES);
		if (!ht_table_is_null(about, 0, ABOUT_DEVICE))
			s->device = ht_table_i64(about, 0, ABOUT_DEVICE);
	}
	for (size_t i = 0; i < ht_table_n_rows(places); i++) {
		int64_t axis = ht_table_i64(places, i, PLACE_AXIS);
		int64_t size = ht_table_i64(places, i, PLACE_SIZE);
		if (axis <= HT_AXIS_NONE || axis >= HT_N_AXES || size <= s->on[axis].size)
			continue;
		s->on[axis] = (struct place){ ht_table_i64(places, i, PLACE_FIRST),
			ht_table_i64(places, i, PLACE_PLACE), size };
	}
}

/* By the hosts in the names of files. */
static enum ht_status nodes_by_name(struct topology *top, bool *ret_found)
{
	const struct ht_roster *roster = top->run->rosters[0];
	const struct ht_run_place *places;
	bool all = top->n > 0, several = false;
	if (ht_run_tree_find(roster, top->run->scratch, &places) != HT_OK)
		return ht_fail_nomem(top->run->ctx);
	for (size_t i = 0; i < roster->n && all; i++) {
		all = places[i].is_known && places[i].process != HT_NO_I64;
		several |= all && strcmp(places[i].node, places[0].node) != 0;
	}
	*ret_found = all && several;
	for (size_t i = 0; *ret_found && i < top->n; i++)
		top->ranks[i].node = places[ht_roster_find(roster, top->ranks[i].rank)].node;
	return HT_OK;
}

/* Ranks of a node if each works on the device of its number; 0: they do not. */
static int64_t devices_of_node(const struct topology *top)
{
	int64_t n_devices = top->n ? top->ranks[0].n_devices : 0;
	for (size_t i = 0; i < top->n; i++) {
		const struct standing *s = &top->ranks[i];
		if (s->n_devices != n_devices || n_devices < 2 || s->device != s->rank % n_devices)
			return 0;
	}
	return (int64_t)top->n > n_devices ? n_devices : 0;
}

static bool has_group_of_node(const struct topology *top, const struct ht_parts *parts)
{
	for (size_t i = 0; top->n > NODE && i < parts->n; i++) {
		const ht_table *places = parts->list[i].facts[PLACES];
		for (size_t k = 0; k < ht_table_n_rows(places); k++) {
			int64_t first = ht_table_i64(places, k, PLACE_FIRST);
			if (ht_table_i64(places, k, PLACE_SIZE) == NODE && first % NODE == 0 &&
			        ht_table_i64(places, k, PLACE_LAST) == first + NODE - 1)
				return true;
		}
	}
	return false;
}

static enum ht_status find_nodes(struct topology *top, const struct ht_parts *parts)
{
	bool by_name;
	HT_TRY(nodes_by_name(top, &by_name));
	if (by_name) {
		top->nodes_from = "file names";
		return HT_OK;
	}
	int64_t size = devices_of_node(top);
	top->nodes_from = size ? "devices" : NULL;
	if (!size && has_group_of_node(top, parts)) {
		size = NODE;
		top->nodes_from = "process groups";
	}
	for (size_t i = 0; size && i < top->n; i++) {
		top->ranks[i].node =
		        ht_arena_printf(top->run->scratch, "%" PRId64, top->ranks[i].rank / size);
		if (!top->ranks[i].node)
			return ht_fail_nomem(top->run->ctx);
	}
	return HT_OK;
}

static void put_on(ht_table *table, size_t group, size_t place, const struct place *on)
{
	ht_table_put_known(table, group, on->size ? on->first : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(table, place, on->size ? on->place : HT_NO_I64, HT_NO_I64);
}

static void put_rank(ht_table *table, const struct standing *s)
{
	const struct place *stage = &s->on[HT_AXIS_PIPELINE], *replica = &s->on[HT_AXIS_DATA];
	ht_table_row(table);
	ht_table_put_i64(table, RANK_RANK, s->rank);
	ht_table_put_str(table, RANK_NODE, s->node);
	ht_table_put_known(table, RANK_STAGE, stage->size ? stage->place : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        table, RANK_REPLICA, replica->size ? replica->place : HT_NO_I64, HT_NO_I64);
	put_on(table, RANK_TENSOR_GROUP, RANK_TENSOR_PLACE, &s->on[HT_AXIS_TENSOR]);
	put_on(table, RANK_CONTEXT_GROUP, RANK_CONTEXT_PLACE, &s->on[HT_AXIS_CONTEXT]);
	put_on(table, RANK_EXPERT_GROUP, RANK_EXPERT_PLACE, &s->on[HT_AXIS_EXPERT]);
	ht_table_put_known(table, RANK_DEVICE, s->device, -1);
}

/* ---- axes ---- */

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* A row about n keys, texts of which equal ones are of one group. */
static void put_axis(ht_table *table, const char *axis, const char **keys, size_t n, int64_t size,
        const char *from)
{
	int64_t n_groups = 0, most = 0, own = 0;
	qsort(keys, n, sizeof *keys, compare_texts);
	for (size_t i = 0; i < n; i++) {
		bool is_new = i == 0 || strcmp(keys[i], keys[i - 1]) != 0;
		n_groups += is_new;
		own = is_new ? 1 : own + 1;
		most = own > most ? own : most;
	}
	if (!n)
		return;
	ht_table_row(table);
	ht_table_put_str(table, AXIS_AXIS, axis);
	ht_table_put_i64(table, AXIS_GROUPS, n_groups);
	ht_table_put_i64(table, AXIS_RANKS, most);
	ht_table_put_known(table, AXIS_SIZE, size, 0);
	ht_table_put_i64(table, AXIS_KNOWN, (int64_t)n);
	ht_table_put_str(table, AXIS_FROM, from);
}

static enum ht_status put_axes(const struct topology *top, ht_table *table)
{
	static const struct {
		const char *name;
		enum ht_axis axis;
		bool by_place; /* ranks of one place belong together, not those of one list */
	} axes[] = { { "pipeline", HT_AXIS_PIPELINE, true }, { "data", HT_AXIS_DATA, true },
		{ "tensor", HT_AXIS_TENSOR, false }, { "context", HT_AXIS_CONTEXT, false },
		{ "expert", HT_AXIS_EXPERT, false } };
	const char **keys = ht_arena_alloc(top->run->scratch, (top->n + 1) * sizeof *keys);
	size_t n = 0;
	if (!keys)
		return ht_fail_nomem(top->run->ctx);
	for (size_t i = 0; i < top->n; i++)
		if (top->ranks[i].node)
			keys[n++] = top->ranks[i].node;
	put_axis(table, "node", keys, n, 0, top->nodes_from);
	for (size_t k = 0; k < HT_COUNT(axes); k++) {
		int64_t size = 0;
		n = 0;
		for (size_t i = 0; i < top->n; i++) {
			const struct place *on = &top->ranks[i].on[axes[k].axis];
			if (!on->size)
				continue;
			size = on->size > size ? on->size : size;
			keys[n] = ht_arena_printf(top->run->scratch, "%" PRId64,
			        axes[k].by_place ? on->place : on->first);
			if (!keys[n++])
				return ht_fail_nomem(top->run->ctx);
		}
		put_axis(table, axes[k].name, keys, n, size, "process groups");
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct topology top = { .run = run, .n = parts->n };
	top.ranks = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *top.ranks);
	if (!top.ranks)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++)
		read_part(&parts->list[i], &top.ranks[i]);
	HT_TRY(find_nodes(&top, parts));
	if (ht_run_is(run, "view", "axes"))
		HT_TRY(put_axes(&top, table));
	for (size_t i = 0; i < top.n && !ht_run_is(run, "view", "axes"); i++)
		put_rank(table, &top.ranks[i]);
	if (!top.nodes_from)
		HT_TRY(ht_table_add_note(table,
		        "nodes are unknown: neither file names nor devices nor process groups say them"));
	return HT_OK;
}
