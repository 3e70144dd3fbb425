/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_snapshot.c - what makes the peak, what leaks, why memory ran out: memory snapshots of the caching allocator.
 *
 * Reads the snapshot of a rank (store/allocator_snapshot.h), replayed event by event (model/snapshot/mem_history.h): sizes are those
 * of the allocator's blocks, so that peak and end are what torch.cuda.max_memory_allocated and memory_allocated report.
 * What lives at a moment is grouped by the user's own line, the stack, an annotation, ... (mem_names.h); a moment is the peak,
 * the end, an out-of-memory error, an event or a time.
 *
 * Views: summary, a row per device; peak, what lives at a moment by key; leaks, stacks whose blocks pile up from step to
 * step (mem_steps.h); oom, why requests failed (mem_oom.h); fragmentation (mem_state.h); segments; churn, allocations per step; pools;
 * blocks, the address map at a moment; map, the same in few rows for pictures (mem_view_map.c); events; timeline, bytes by key over time; fullest, that of the rank and device
 * with the highest peak alone. O(events × log).
 *
 * Example: alloc 600 B at 0, alloc 3 MiB, free the first: blocks of 1,024 B and 3 MiB; peak 3,146,752 B after the second
 * event, with 2 blocks; end 3 MiB.
 */
#include "analysis/analysis.h"
#include "et/et_memory.h"
#include "model/memory/memory_bands.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_findings.h"
#include "model/snapshot/mem_view.h"

static enum ht_status look_at_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);
static enum ht_status choose(struct ht_run *run);

static const struct ht_column peak_columns[] = HT_COLUMN_ENTRIES(HT_MEM_PEAK_COLUMNS);
static const struct ht_column leak_columns[] = HT_COLUMN_ENTRIES(HT_MEM_LEAK_COLUMNS);
static const struct ht_column oom_columns[] = HT_COLUMN_ENTRIES(HT_MEM_OOM_COLUMNS);
static const struct ht_column fragmentation_columns[] = HT_COLUMN_ENTRIES(HT_MEM_FRAG_COLUMNS);
static const struct ht_column segment_columns[] = HT_COLUMN_ENTRIES(HT_MEM_SEGMENT_COLUMNS);
static const struct ht_column churn_columns[] = HT_COLUMN_ENTRIES(HT_MEM_CHURN_COLUMNS);
static const struct ht_column pool_columns[] = HT_COLUMN_ENTRIES(HT_MEM_POOL_COLUMNS);
static const struct ht_column block_columns[] = HT_COLUMN_ENTRIES(HT_MEM_BLOCK_COLUMNS);
static const struct ht_column map_columns[] = HT_COLUMN_ENTRIES(HT_MEM_MAP_COLUMNS);
static const struct ht_column event_columns[] = HT_COLUMN_ENTRIES(HT_MEM_EVENT_COLUMNS);
static const struct ht_column timeline_columns[] = HT_COLUMN_ENTRIES(HT_MEM_TIMELINE_COLUMNS);
#define VIEW(name)                                                                                 \
	{                                                                                          \
#name, name##_columns, HT_COUNT(name##_columns)                                    \
	}
static const struct ht_schema schemas[] = {
	{ "summary", ht_mem_summary_columns, N_SUMMARY_COLUMNS },
	VIEW(peak),
	{ "leaks", leak_columns, HT_COUNT(leak_columns) },
	VIEW(oom),
	VIEW(fragmentation),
	{ "segments", segment_columns, HT_COUNT(segment_columns) },
	VIEW(churn),
	{ "pools", pool_columns, HT_COUNT(pool_columns) },
	{ "blocks", block_columns, HT_COUNT(block_columns) },
	VIEW(map),
	{ "events", event_columns, HT_COUNT(event_columns) },
	VIEW(timeline),
	{ "fullest", timeline_columns, HT_COUNT(timeline_columns) },
};

static const ht_mem_view_fn views[] = { ht_mem_view_summary, ht_mem_view_peak, ht_mem_view_leaks,
	ht_mem_view_oom, ht_mem_view_fragmentation, ht_mem_view_segments, ht_mem_view_churn,
	ht_mem_view_pools, ht_mem_view_blocks, ht_mem_view_map, ht_mem_view_events,
	ht_mem_view_timeline, ht_mem_view_fullest };

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "what to show",
	        "summary|peak|leaks|oom|fragmentation|segments|churn|pools|blocks|map|events|timeline|fullest" },
	{ "by", HT_STR, "frame",
	        "what blocks are grouped by: the user's own line, the stack, the module's forward, annotations, the category, the pool, the size; with --attach the operator or step of the trace",
	        "frame|stack|module|annotation|category|pool|size|operator|step" },
	{ "at", HT_STR, NULL,
	        "moment that peak, fragmentation, blocks and map show: peak, end, oom, number of an event, or time since the first (1.5s)",
	        NULL },
	{ "rules", HT_STR, NULL,
	        "categories of your own, tried first: \"category=text,...\", text of a frame like \"train.py:62 step\"",
	        NULL },
	{ "every", HT_DURATION, "0", "length of a step where no annotation names steps", NULL },
	{ "range", HT_STR, NULL,
	        "part of the history to look at, from A to B: \"1s:1.5s\", \"4000:5000\", \"peak:\"; summary, segments and pools are of the whole file",
	        NULL },
	{ "points", HT_I64, "500", "points of the timeline, and of the longest segment of map",
	        NULL },
	{ "bands", HT_I64, "10", "keys of the timeline; the rest is one", NULL },
};

const struct ht_analysis ht_analysis_memory_snapshot = {
	.info = { .name = "memory-snapshot",
	        .group = "memory",
	        .title = "Memory snapshot",
	        .question =
	                "What makes the peak of GPU memory, what leaks, and why did it run out?",
	        .method =
	                "Events of the caching allocator replayed with its own rounding and splitting; "
	                "blocks live from alloc to free_requested.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1,
	        .charts = "fullest",
	        .page_view = "memory" },
	.choose = choose,
	.per_rank = look_at_rank,
	.finish = finish,
};

static enum ht_status choose(struct ht_run *run)
{
	const char *at = ht_run_str(run, "at"), *range = ht_run_str(run, "range");
	if (range)
		HT_TRY(ht_mem_range_check(run, range));
	if (!at) {
		ht_run_set(run, "at", ht_run_is(run, "view", "peak") ? "peak" : "end");
		return HT_OK;
	}
	return ht_mem_moment_check(run, at);
}

/* Whether a view shows what the file states of its end, or of all of its events. */
static bool of_whole_file(const struct ht_run *run)
{
	return ht_run_is(run, "view", "summary") || ht_run_is(run, "view", "segments") ||
	       ht_run_is(run, "view", "pools");
}

static size_t view_of(const struct ht_run *run)
{
	size_t i = 0;
	while (i + 1 < HT_COUNT(schemas) && !ht_run_is(run, "view", schemas[i].name))
		i++;
	return i;
}

/* Categories that other files of the run know, where the trace joins them: a memory timeline, then an execution trace. */
static enum ht_status derive_categories(struct ht_run *run, struct ht_mem_view *view)
{
	struct ht_et_memory memory;
	size_t n = ht_n_events(run->trace);
	if (!n)
		return HT_OK;
	struct ht_mem_derived *by_row = ht_arena_room(run->scratch, n * sizeof *by_row);
	if (!by_row)
		return ht_fail_nomem(run->ctx);
	for (size_t row = 0; row < n; row++)
		by_row[row] = (struct ht_mem_derived){ HT_MEMORY_UNKNOWN, false };
	HT_TRY(ht_et_memory_derive(run, &memory));
	for (size_t i = 0; memory.is_there && i < memory.events.n; i++)
		by_row[memory.events.list[i].row].category = memory.category[i];
	HT_TRY(ht_mem_timeline_derive(run, by_row));
	return ht_mem_view_use_derived(run, by_row, view);
}

static enum ht_status look_at_rank(struct ht_run *run, struct ht_part *part)
{
	enum ht_mem_by by = ht_mem_by_parse(ht_run_str(run, "by"));
	struct ht_mem_view v;
	bool is_there;
	HT_TRY(ht_mem_view_make(run, by, ht_run_str(run, "rules"), &v, &is_there));
	if (!is_there)
		return HT_OK;
	if (by == HT_MEM_BY_CATEGORY)
		HT_TRY(derive_categories(run, &v));
	v.table = part->facts[0];
	v.every_ns = ht_run_duration_ns(run, "every");
	if (!of_whole_file(run))
		HT_TRY(ht_mem_view_narrow(&v));
	return views[view_of(run)](&v);
}

/* What is to be known of the rows of a view. */
static enum ht_status add_notes(struct ht_run *run, ht_table *table)
{
	if (ht_run_is(run, "by", "category") &&
	        (ht_run_is(run, "view", "peak") || ht_run_is(run, "view", "timeline")))
		HT_TRY(ht_table_add_note(table,
		        "categories that neither the snapshot records nor an attached memory timeline or execution trace shows are estimated by rules over the stacks"));
	if (ht_run_is(run, "view", "peak"))
		ht_table_set_bar(table, PEAK_SHARE);
	return HT_OK;
}

/* What was found, where there is most of it, and of ranks beside each other, before the rows are taken. */
static enum ht_status note_findings(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_finding f;
	size_t i_part;
	for (int topic = 0; topic < HT_MEM_N_TOPICS; topic++) {
		f = ht_mem_finding_worst(parts, 0, (enum ht_mem_topic)topic, &i_part);
		if (f.state == HT_STATE_FOUND)
			HT_TRY(ht_finding_note(run->scratch, &f, table));
	}
	HT_TRY(ht_mem_finding_ranks(run, parts, 0, &f));
	return f.state == HT_STATE_FOUND ? ht_finding_note(run->scratch, &f, table) : HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	static const char none[] =
	        "no memory snapshot: record one with torch.cuda.memory._record_memory_history and give the file of _dump_snapshot";
	bool is_leaks = ht_run_is(run, "view", "leaks"), is_oom = ht_run_is(run, "view", "oom");
	HT_TRY(add_notes(run, table));
	if (ht_run_is(run, "view", "summary"))
		HT_TRY(note_findings(run, parts, table));
	struct ht_parts one = *parts;
	if (ht_run_is(run, "view", "fullest") && parts->n > 1) {
		one.list = ht_memory_fullest(parts, TIMELINE_ALLOCATED_BYTES);
		one.n = 1;
	}
	return ht_parts_rows_or(run, &one, table,
	        is_leaks
	                ? "no stack holds more from step to step, or no steps are known: see --every"
	        : is_oom                   ? "no request failed"
	        : ht_run_str(run, "range") ? "no event of the history is in that range"
	                                   : none);
}
