/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_link.c - an execution trace with its Kineto trace: when each node ran, what it launched, what it waited for.
 *
 * Nodes and events are joined on record function ids; see et/link_nodes.h for how GPU work and dependencies are found.
 * Views: summary, a row per rank; nodes, a row per node in file order; gpu, a row per piece of GPU work with the
 * node it belongs to, by node and start.
 */
#include "analysis/analysis.h"
#include "model/policy.h"
#include "store/columns.h"

#include "et/et_files.h"
#include "et/link_nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum ht_status link_rank(struct ht_run *run, struct ht_part *part);
static bool wants_facts(const struct ht_run *run);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_RANK, "rank", HT_I64, HT_KEY, "rank of the traces", NULL)                   \
	COLUMN(SUMMARY_JOINED_BY, "joined_by", HT_STR, HT_MEASURE,                                 \
	        "what joins them: rf_id, external_id or none", NULL)                               \
	COLUMN(SUMMARY_NODES, "nodes", HT_I64, HT_MEASURE, "nodes of the execution trace", NULL)   \
	COLUMN(SUMMARY_LINKED, "linked", HT_I64, HT_MEASURE, "nodes that have an event", NULL)     \
	COLUMN(SUMMARY_OTHER_NAMES, "other_names", HT_I64, HT_MEASURE,                             \
	        "of these, names that differ", NULL)                                               \
	COLUMN(SUMMARY_ONLY_IN_ET, "only_in_et", HT_I64, HT_MEASURE,                               \
	        "nodes with an id that no event has", NULL)                                        \
	COLUMN(SUMMARY_ONLY_IN_KINETO, "only_in_kineto", HT_I64, HT_MEASURE,                       \
	        "events with an id that no node has", NULL)                                        \
	COLUMN(SUMMARY_KERNELS, "kernels", HT_I64, HT_MEASURE, "kernels attached to nodes", NULL)  \
	COLUMN(SUMMARY_COPIES, "copies", HT_I64, HT_MEASURE, "copies attached to nodes", NULL)     \
	COLUMN(SUMMARY_SETS, "sets", HT_I64, HT_MEASURE, "memory sets attached to nodes", NULL)    \
	COLUMN(SUMMARY_ORPHANS, "orphans", HT_I64, HT_MEASURE,                                     \
	        "GPU activity launched before the window", NULL)                                   \
	COLUMN(SUMMARY_THREAD_DEPS, "thread_deps", HT_I64, HT_DETAIL,                              \
	        "nodes that wait for one of another thread", NULL)                                 \
	COLUMN(SUMMARY_SYNC_DEPS, "sync_deps", HT_I64, HT_DETAIL,                                  \
	        "waits of nodes for GPU activity", NULL)                                           \
	COLUMN(SUMMARY_SELF_NS, "self_ns", HT_DURATION, HT_MEASURE,                                \
	        "time of calls without the calls inside, profiler steps left out", NULL)
HT_COLUMNS(summary_columns, SUMMARY_COLUMNS);

#define NODE_COLUMNS(COLUMN)                                                                       \
	COLUMN(NODE_RANK, "rank", HT_I64, HT_KEY, "rank of the traces", NULL)                      \
	COLUMN(NODE_ID, "id", HT_U64, HT_KEY, "node id", NULL)                                     \
	COLUMN(NODE_NAME, "name", HT_STR, HT_MEASURE, "name of the node", NULL)                    \
	COLUMN(NODE_RF_ID, "rf_id", HT_U64, HT_DETAIL, "record function id", NULL)                 \
	COLUMN(NODE_EVENT, "event", HT_EVENT, HT_MEASURE, "its event in the Kineto trace", NULL)   \
	COLUMN(NODE_TS_NS, "ts_ns", HT_TIME, HT_MEASURE, "start of the event", NULL)               \
	COLUMN(NODE_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE, "duration of the event", NULL)      \
	COLUMN(NODE_SELF_NS, "self_ns", HT_DURATION, HT_MEASURE,                                   \
	        "the same without the calls inside", NULL)                                         \
	COLUMN(NODE_GPU_EVENTS, "gpu_events", HT_I64, HT_MEASURE, "GPU activity that it launched", \
	        NULL)                                                                              \
	COLUMN(NODE_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL)     \
	COLUMN(NODE_THREAD_DEP, "thread_dep", HT_U64, HT_MEASURE,                                  \
	        "node of another thread that it waits for", NULL)                                  \
	COLUMN(NODE_SYNC_DEPS, "sync_deps", HT_STR, HT_MEASURE, "GPU events that it waits for",    \
	        NULL)
HT_COLUMNS(node_columns, NODE_COLUMNS);

#define GPU_COLUMNS(COLUMN)                                                                        \
	COLUMN(GPU_RANK, "rank", HT_I64, HT_KEY, "rank of the traces", NULL)                       \
	COLUMN(GPU_EVENT, "event", HT_EVENT, HT_KEY, "the GPU event", NULL)                        \
	COLUMN(GPU_NAME, "name", HT_STR, HT_MEASURE, "kernel, copy or set", NULL)                  \
	COLUMN(GPU_KIND, "kind", HT_STR, HT_MEASURE,                                               \
	        "kernel, memcpy, memset, or pre_window when launched before", NULL)                \
	COLUMN(GPU_TS_NS, "ts_ns", HT_TIME, HT_MEASURE, "start", NULL)                             \
	COLUMN(GPU_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE, "duration", NULL)                    \
	COLUMN(GPU_DEVICE, "device", HT_I64, HT_DETAIL, "device", NULL)                            \
	COLUMN(GPU_STREAM, "stream", HT_I64, HT_MEASURE, "stream", NULL)                           \
	COLUMN(GPU_ID, "id", HT_U64, HT_MEASURE, "node that launched it", NULL)                    \
	COLUMN(GPU_NODE_NAME, "node_name", HT_STR, HT_MEASURE, "name of that node", NULL)
HT_COLUMNS(gpu_columns, GPU_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary_columns, HT_COUNT(summary_columns) },
	{ "nodes", node_columns, HT_COUNT(node_columns) },
	{ "gpu", gpu_columns, HT_COUNT(gpu_columns) },
};

static const struct ht_param params[] = {
	{ "et", HT_STR, NULL, "execution traces: files, folders or RANK=FILE, one per line", NULL },
	{ "view", HT_STR, "summary", "a row per rank, per node, or per GPU activity",
	        "summary|nodes|gpu" },
	{ "mode", HT_STR, "ours", "ours, or what Chakra's linker does", "ours|chakra" },
	{ "gap", HT_DURATION, "1ms",
	        "calls of a thread that are further apart wait for what another thread did before",
	        NULL },
};

const struct ht_analysis ht_analysis_et_link = {
	.info = { .name = "et-link",
	        .group = "execution traces",
	        .title = "Execution trace and Kineto trace",
	        .question =
	                "When did each node of an execution trace run, and what did it launch and wait for?",
	        .method =
	                "Nodes and events with the same record function id are the same call; GPU activity "
	                "belongs to the call around its launch.",
	        .hta = "correlate_execution_trace",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .input_param = "et",
	        .files = "et",
	        .traces_option = "kineto" },
	.per_rank = link_rank,
	.wants_facts = wants_facts,
	.finish = finish,
};

struct linked {
	struct ht_run *run;
	ht_table *table;
	const struct ht_et *et;
	struct ht_et_link link;
};

static void put_summary(const struct linked *l)
{
	const struct ht_et_link *link = &l->link;
	const struct ht_et_join *join = &link->join;
	const size_t counts[] = { ht_et_n(l->et), join->n_pairs, join->n_pairs - join->n_same_name,
		join->n_nodes - join->n_pairs, join->n_events - join->n_pairs, link->n_kernels,
		link->n_copies, link->n_sets, link->n_orphans, link->n_after, link->n_syncs };
	ht_table_row(l->table);
	ht_table_put_i64(l->table, SUMMARY_RANK, l->run->rank);
	ht_table_put_str(l->table, SUMMARY_JOINED_BY, ht_et_join_key_name(join->key));
	for (size_t i = 0; i < HT_COUNT(counts); i++)
		ht_table_put_i64(l->table, SUMMARY_NODES + i, (int64_t)counts[i]);
	ht_table_put_i64(l->table, SUMMARY_SELF_NS, link->self_ns);
}

/* "[0:12,0:15]" */
static void put_syncs(const struct linked *l, const struct ht_et_linked *node)
{
	const struct ht_et_link *link = &l->link;
	size_t n_bytes = 48 * (size_t)node->n_sync + 3;
	char *text = node->n_sync ? ht_arena_alloc(l->run->scratch, n_bytes) : NULL, *at = text;
	if (!text) {
		ht_table_put_null(l->table, NODE_SYNC_DEPS);
		return;
	}
	*at++ = '[';
	for (uint32_t i = 0; i < node->n_sync; i++) {
		const struct ht_et_gpu *gpu = &link->gpus[link->syncs[node->first_sync + i]];
		at += snprintf(at, 48, "%s%" PRId64 ":%u", i ? "," : "", l->run->rank,
		        l->run->trace->gpu[gpu->gpu].row);
	}
	*at++ = ']';
	ht_table_put_strn(l->table, NODE_SYNC_DEPS, text, (size_t)(at - text));
}

static void put_node(const struct linked *l, uint32_t row)
{
	const struct ht_et_node *node = &ht_et_nodes(l->et)[row];
	const struct ht_et_linked *linked = &l->link.nodes[row];
	const struct ht_trace *t = l->run->trace;
	uint32_t event = l->link.join.event[row];
	int64_t gpu_ns = 0;
	for (uint32_t i = 0; i < linked->n_gpu; i++)
		gpu_ns += t->dur_ns[t->gpu[l->link.gpus[linked->first_gpu + i].gpu].row];
	ht_table_row(l->table);
	ht_table_put_i64(l->table, NODE_RANK, l->run->rank);
	ht_table_put_i64(l->table, NODE_ID, (int64_t)node->id);
	ht_table_put_str(l->table, NODE_NAME, ht_et_str(l->et, node->name));
	ht_table_put_i64(l->table, NODE_RF_ID, (int64_t)node->rf_id);
	if (event == HT_NONE) {
		ht_table_put_nulls(l->table, NODE_EVENT, NODE_SELF_NS + 1);
	} else {
		ht_table_put_i64(l->table, NODE_EVENT, ht_event_id(l->run->rank, event));
		ht_table_put_i64(l->table, NODE_TS_NS, t->ts_ns[event]);
		ht_table_put_i64(l->table, NODE_DUR_NS, t->dur_ns[event]);
		ht_table_put_i64(l->table, NODE_SELF_NS, linked->self_ns);
	}
	ht_table_put_i64(l->table, NODE_GPU_EVENTS, linked->n_gpu);
	ht_table_put_i64(l->table, NODE_GPU_NS, gpu_ns);
	if (linked->after == HT_ET_NONE)
		ht_table_put_null(l->table, NODE_THREAD_DEP);
	else
		ht_table_put_i64(
		        l->table, NODE_THREAD_DEP, (int64_t)ht_et_nodes(l->et)[linked->after].id);
	put_syncs(l, linked);
}

static void put_gpu(const struct linked *l, const struct ht_et_gpu *item)
{
	const struct ht_trace *t = l->run->trace;
	const struct ht_gpu *gpu = &t->gpu[item->gpu];
	const struct ht_et_node *host = &ht_et_nodes(l->et)[item->host];
	uint8_t kind = t->kind[gpu->row];
	ht_table_row(l->table);
	ht_table_put_i64(l->table, GPU_RANK, l->run->rank);
	ht_table_put_i64(l->table, GPU_EVENT, ht_event_id(l->run->rank, gpu->row));
	ht_table_put_str(l->table, GPU_NAME, ht_str(t, t->name[gpu->row]));
	ht_table_put_str(l->table, GPU_KIND,
	        item->is_orphan          ? "pre_window"
	        : kind == HT_KIND_MEMCPY ? "memcpy"
	        : kind == HT_KIND_MEMSET ? "memset"
	                                 : "kernel");
	ht_table_put_i64(l->table, GPU_TS_NS, t->ts_ns[gpu->row]);
	ht_table_put_i64(l->table, GPU_DUR_NS, t->dur_ns[gpu->row]);
	ht_table_put_known(l->table, GPU_DEVICE, gpu->device, -1);
	ht_table_put_known(l->table, GPU_STREAM, gpu->stream, -1);
	ht_table_put_i64(l->table, GPU_ID, (int64_t)host->id);
	ht_table_put_str(l->table, GPU_NODE_NAME, ht_et_str(l->et, host->name));
}

static enum ht_status put_link(struct linked *l)
{
	struct ht_et_link_options options = { .as_chakra = ht_run_is(l->run, "mode", "chakra"),
		.gap_ns = ht_run_duration_ns(l->run, "gap") };
	struct ht_path_wait *waits = NULL;
	if (options.as_chakra)
		HT_TRY(l->run->policy->path_waits(l->run, &waits, &options.n_waits));
	options.waits = waits;
	HT_TRY(ht_et_link_make(
	        l->run->ctx, l->et, l->run->trace, &options, l->run->scratch, &l->link));
	HT_TRY(ht_et_link_demand(l->run->ctx, l->et, &l->link));
	if (ht_run_is(l->run, "view", "summary"))
		put_summary(l);
	for (uint32_t row = 0; row < ht_et_n(l->et) && ht_run_is(l->run, "view", "nodes"); row++)
		put_node(l, row);
	for (size_t i = 0; i < l->link.n_gpus && ht_run_is(l->run, "view", "gpu"); i++)
		put_gpu(l, &l->link.gpus[i]);
	return HT_OK;
}

/* Chakra asks the critical path of another definition. */
static bool wants_facts(const struct ht_run *run)
{
	return ht_run_is(run, "mode", "chakra");
}

static enum ht_status link_rank(struct ht_run *run, struct ht_part *part)
{
	struct ht_et *et;
	HT_TRY(ht_et_take(run, false, &et));
	if (!et)
		return HT_OK;
	struct linked l = { .run = run, .table = part->facts[0], .et = et };
	enum ht_status status = put_link(&l);
	ht_et_free(et);
	return status;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	if (!ht_run_str(run, "et"))
		return ht_table_add_note(table, "no execution trace was given");
	if (!run->n_sets)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give it with --kineto FILE",
		        "et-link needs the Kineto trace of the same window");
	return ht_et_finish_ranks(run, parts, table);
}
