/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - what is in the traces: a fact per row.
 *
 * Facts come in topics, in this order: file, capture (header keys), device, process group, events (per
 * category), span, steps, stream, thread, attached (attach/attach.h), run (run_tree.h); of several ranks also clock (clocks.h): the correction of the
 * file's clock, how far it could be off against the reference, and what it was found from. Values are text as a person would write it; the numbers behind
 * them are in the other analyses.
 */
#include "analysis/analysis.h"
#include "attach/kind.h"
#include "store/job.h"
#include "model/clocks/clocks.h"
#include "model/run_tree.h"
#include "store/side_table.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status describe(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_TOPIC, "topic", HT_STR, HT_KEY, "what kind of fact it is", NULL)                \
	COLUMN(COL_ITEM, "item", HT_STR, HT_KEY, "what the fact is about", NULL)                   \
	COLUMN(COL_VALUE, "value", HT_STR, HT_MEASURE, "the fact, with its unit", NULL)
HT_COLUMNS(columns, COLUMNS);

#define RUN_COLUMNS(COLUMN)                                                                        \
	COLUMN(RUN_RUN, "run", HT_STR, HT_KEY,                                                     \
	        "directory of the run, from where those of all runs part", NULL)                   \
	COLUMN(RUN_WORKER, "worker", HT_STR, HT_KEY, "process that was recorded", NULL)            \
	COLUMN(RUN_SPAN, "span", HT_STR, HT_KEY, "recording of that worker: 1, 2, ... or default", \
	        NULL)                                                                              \
	COLUMN(RUN_STAMP, "stamp", HT_STR, HT_DETAIL, "stamp of time in the name", NULL)           \
	COLUMN(RUN_TARGET, "target", HT_STR, HT_MEASURE, "gpu or npu", NULL)                       \
	COLUMN(RUN_NODE, "node", HT_STR, HT_DETAIL, "machine, as the worker is named", NULL)       \
	COLUMN(RUN_PROCESS, "process", HT_I64, HT_DETAIL,                                          \
	        "process on it, when the name of the worker says so", NULL)                        \
	COLUMN(RUN_RANK, "rank", HT_I64, HT_MEASURE, "number of the trace here", NULL)             \
	COLUMN(RUN_EVENTS, "events", HT_I64, HT_MEASURE, "events that were read", NULL)            \
	COLUMN(RUN_PATH, "path", HT_STR, HT_MEASURE, "file or directory", NULL)
HT_COLUMNS(run_columns, RUN_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "facts", columns, HT_COUNT(columns) },
	{ "runs", run_columns, HT_COUNT(run_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "facts", "a fact per row, or the tree of runs, workers and spans",
	        "facts|runs" },
};

const struct ht_analysis ht_analysis_info = {
	.info = {
		.name = "info",
		.group = "engine",
		.tells_facts = true,
		.title = "What the traces hold",
		.question = "Which ranks, devices, versions, capture options, events, steps and streams are in the files?",
		.method = "Facts from the files' headers and counts over their events.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.overview = "topic = device or topic = step or item = length",
	},
	.across = true,
	.per_rank = describe,
	.finish = finish,
};

struct facts {
	struct ht_run *r;
	const struct ht_trace *t;
	ht_table *table;
	int64_t rank;
};

static void put(const struct facts *f, const char *topic, const char *item, const char *value)
{
	ht_table_row(f->table);
	ht_table_put_i64(f->table, COL_RANK, f->rank);
	ht_table_put_str(f->table, COL_TOPIC, topic);
	ht_table_put_str(f->table, COL_ITEM, item);
	ht_table_put_str(f->table, COL_VALUE, value);
}

__attribute__((format(printf, 4, 5))) static void putf(
        const struct facts *f, const char *topic, const char *item, const char *format, ...)
{
	char value[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(value, sizeof value, format, ap);
	va_end(ap);
	put(f, topic, item, value);
}

/* What the file is; of Perfetto's files also whose events are in it. */
static void put_dialect(const struct facts *f)
{
	static const char *const dialects[] = { "Chrome trace", "Kineto", "Ascend",
		"memory timeline", "memory snapshot", "Nsight Systems" };
	const struct ht_trace_meta *meta = f->t->meta;
	const struct ht_side_table *file = ht_side_table_find(f->t, HT_PERFETTO_TABLE);
	const char *dialect = dialects[meta->dialect < HT_COUNT(dialects) ? meta->dialect : 0];
	if (!file)
		put(f, "file", "dialect", dialect);
	else if (meta->dialect == HT_DIALECT_CHROME)
		put(f, "file", "dialect", "Perfetto");
	else
		putf(f, "file", "dialect", "Perfetto, with events of %s", dialect);
	const char *producer =
	        !file || !file->n_rows
	                ? NULL
	                : ht_side_str(f->t, ht_side_column_find(f->t, file, "producer"), 0);
	if (producer)
		put(f, "file", "producer", producer);
}

static void put_file(const struct facts *f)
{
	static const char *const compressions[] = { "none", "gzip", "zstd" };
	const struct ht_trace_meta *meta = f->t->meta;
	put(f, "file", "path", f->t->path);
	putf(f, "file", "size", "%" PRIu64 " bytes", meta->file_bytes);
	if (meta->dialect != HT_DIALECT_NSYS && !ht_side_table_find(f->t, HT_PERFETTO_TABLE))
		putf(f, "file", "json", "%" PRIu64 " bytes", meta->json_bytes);
	put(f, "file", "compression", compressions[meta->compression < 3 ? meta->compression : 0]);
	put_dialect(f);
	if (meta->n_documents > 1)
		putf(f, "file", "documents", "%u", meta->n_documents);
	if (meta->world_size != HT_NO_I64)
		putf(f, "file", "world size", "%" PRId64, meta->world_size);
}

static bool is_shown_elsewhere(const char *key)
{
	return !strcmp(key, "deviceProperties") || !strcmp(key, "distributedInfo");
}

static void put_capture(const struct facts *f)
{
	for (size_t i = 0; i < f->t->more->n_headers; i++) {
		const char *key = ht_str(f->t, f->t->more->headers[i].key);
		const char *value = ht_str(f->t, f->t->more->headers[i].value);
		size_t n = strlen(value);
		if (is_shown_elsewhere(key))
			continue;
		if (n >= 2 && value[0] == '"') {
			ht_table_row(f->table);
			ht_table_put_i64(f->table, COL_RANK, f->rank);
			ht_table_put_str(f->table, COL_TOPIC, "capture");
			ht_table_put_str(f->table, COL_ITEM, key);
			ht_table_put_strn(f->table, COL_VALUE, value + 1, n - 2);
		} else {
			putf(f, "capture", key, n > 400 ? "%.400s..." : "%s", value);
		}
	}
}

static void put_devices(const struct facts *f)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; i < t->more->n_devices; i++) {
		const struct ht_device *d = &t->more->devices[i];
		char item[32];
		snprintf(item, sizeof item, "%" PRId64, d->id == HT_NO_I64 ? (int64_t)i : d->id);
		const char *name = *ht_str(t, d->name) ? ht_str(t, d->name) : "unnamed";
		if (d->total_memory_bytes != HT_NO_I64 && d->n_sms != HT_NO_I64)
			putf(f, "device", item, "%s, %.1f GiB, %" PRId64 " %s", name,
			        (double)d->total_memory_bytes / (1 << 30), d->n_sms,
			        ht_job_is_amd(&ht_run_rank(f->r)->job) ? "CUs" : "SMs");
		else
			put(f, "device", item, name);
	}
	for (size_t i = 0; i < t->more->n_process_groups; i++) {
		const struct ht_process_group *g = &t->more->process_groups[i];
		putf(f, "process group", ht_str(t, g->name), "%s, %s, ranks %s",
		        ht_str(t, g->description), ht_str(t, g->backend), ht_str(t, g->ranks));
	}
}

static void put_events(const struct facts *f)
{
	const struct ht_trace *t = f->t;
	putf(f, "events", "all", "%u", ht_n_events(t));
	for (size_t i = 0; i < t->n_categories; i++)
		if (t->categories[i].n)
			putf(f, "events",
			        t->categories[i].name == HT_NO_STR
			                ? "(no category)"
			                : ht_str(t, t->categories[i].name),
			        "%u", t->categories[i].n);
	for (int class_ = 0; class_ < HT_N_CLASSES; class_++) {
		uint64_t n = 0;
		for (size_t i = 0; i < t->n_gpu; i++)
			n += t->gpu[i].class_ == class_;
		if (n)
			putf(f, "gpu activity", ht_class_name((enum ht_class)class_), "%" PRIu64,
			        n);
	}
}

static void put_time(const struct facts *f)
{
	const struct ht_trace *t = f->t;
	const struct ht_trace_meta *meta = t->meta;
	if (meta->min_ts_ns != HT_NO_I64) {
		putf(f, "span", "first event", "%" PRId64 " ns", meta->min_ts_ns);
		putf(f, "span", "last end", "%" PRId64 " ns", meta->max_end_ns);
		putf(f, "span", "length", "%.3f ms",
		        (double)(meta->max_end_ns - meta->min_ts_ns) / 1e6);
	}
	if (meta->base_ns != HT_NO_I64)
		putf(f, "span", "base time", "%" PRId64 " ns since 1970", meta->base_ns);
	for (size_t i = 0; i < t->n_steps; i++) {
		char item[32];
		snprintf(item, sizeof item, "%" PRId64, t->steps[i].number);
		putf(f, "step", item, "%.3f ms",
		        (double)(t->steps[i].end_ns - t->steps[i].ts_ns) / 1e6);
	}
}

static void put_id(char *out, size_t n, const struct ht_trace *t, int64_t id, uint8_t type)
{
	if (type == HT_ID_STR)
		snprintf(out, n, "%s", ht_str(t, (uint32_t)id));
	else if (type == HT_ID_INT)
		snprintf(out, n, "%" PRId64, id);
	else
		snprintf(out, n, "none");
}

static void put_tracks(const struct facts *f)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; i < t->n_tracks; i++) {
		const struct ht_track *track = &t->tracks[i];
		char pid[128], tid[128], item[300];
		if (!track->n_spans)
			continue;
		put_id(pid, sizeof pid, t, track->pid, track->pid_type);
		put_id(tid, sizeof tid, t, track->tid, track->tid_type);
		snprintf(item, sizeof item, "%s/%s", pid, tid);
		putf(f, track->device >= 0 ? "stream" : "thread", item, "%u spans%s%s",
		        track->n_spans, track->name == HT_NO_STR ? "" : ", ",
		        ht_str(t, track->name));
	}
}

/* What joins the rank from another file, and how much of it found its partner. */
static enum ht_status put_attached(const struct facts *f)
{
	for (size_t i = 0; i < ht_attached_n(f->r->attached); i++) {
		const struct ht_attachment *a = ht_attached_at(f->r->attached, i);
		struct ht_attach_use use = { 0 };
		if (!ht_attachment_is_for(a, f->rank))
			continue;
		if (a->kind->judge)
			HT_TRY(a->kind->judge(f->r, a, &use));
		char share[160] = "";
		if (use.n)
			snprintf(share, sizeof share, ", %" PRIu64 " of %" PRIu64 " %s (%.1f %%)",
			        use.matched, use.n, use.things ? use.things : "",
			        100.0 * (double)use.matched / (double)use.n);
		putf(f, "attached", a->path, "%s%s%s%s%s", a->kind->name, use.text ? ": " : "",
		        use.text ? use.text : "", share, use.is_refused ? "; not used" : "");
	}
	return HT_OK;
}

static enum ht_status describe(struct ht_run *run, struct ht_part *part)
{
	struct facts f = { run, run->trace, part->facts[0], run->rank };
	if (ht_run_is(run, "view", "runs"))
		return HT_OK; /* the roster says all */
	put_file(&f);
	put_capture(&f);
	put_devices(&f);
	put_events(&f);
	put_time(&f);
	put_tracks(&f);
	return put_attached(&f);
}

static void put_clock(struct ht_run *run, int64_t rank, ht_table *table)
{
	const struct ht_clocks *clocks = run->clocks[0];
	const struct ht_clock *clock = &clocks->of[ht_roster_find(run->rosters[0], rank)];
	const struct facts f = { run, NULL, table, rank };
	int64_t reference = run->rosters[0]->ranks[clocks->reference].number;
	if (!clocks->from_files)
		put(&f, "clock", "offset",
		        clock->is_tied ? "set by collectives; the files have no common clock"
		                       : "unknown; the files have no common clock");
	else if (clock->moved_ns || clock->drift_ppt)
		putf(&f, "clock", "offset", "%+.6f ms", (double)clock->moved_ns / 1e6);
	else
		put(&f, "clock", "offset", "0 ms, as in the file");
	if (clock->drift_ppt)
		putf(&f, "clock", "drift", "%+.3f ppm", (double)clock->drift_ppt / 1e6);
	if (rank == reference)
		put(&f, "clock", "uncertainty", "reference of the others");
	else if (clock->uncertainty_ns == HT_NO_I64)
		putf(&f, "clock", "uncertainty", "unknown: not tied to rank %" PRId64, reference);
	else
		putf(&f, "clock", "uncertainty", "%.6f ms against rank %" PRId64,
		        (double)clock->uncertainty_ns / 1e6, reference);
	putf(&f, "clock", "found from", "%zu collectives, %zu pairs of send and receive",
	        clock->n_collectives, clock->n_pairs);
}

/* Where the rank stands, when its path is one of a log directory. */
static void put_run(
        struct ht_run *run, const struct ht_run_place *place, int64_t rank, ht_table *table)
{
	const struct facts f = { run, NULL, table, rank };
	put(&f, "run", "name", place->run);
	put(&f, "run", "worker", place->worker);
	if (place->span)
		putf(&f, "run", "span", "%" PRId64 ", stamp %s", place->span, place->stamp);
	else
		put(&f, "run", "span", "default");
	put(&f, "run", "target", place->target);
}

static int compare_places(const void *x, const void *y)
{
	const struct ht_run_place *a = *(const struct ht_run_place *const *)x,
	                          *b = *(const struct ht_run_place *const *)y;
	int by = strcmp(a->run, b->run);
	by = by ? by : strcmp(a->worker, b->worker);
	by = by ? by : (a->span > b->span) - (a->span < b->span);
	return by ? by : (a > b) - (a < b);
}

static void put_place(const struct ht_run_place *place, const struct ht_rank *rank, ht_table *table)
{
	char span[24] = "default";
	if (place->span)
		snprintf(span, sizeof span, "%" PRId64, place->span);
	ht_table_row(table);
	ht_table_put_str(table, RUN_RUN, place->run);
	ht_table_put_str(table, RUN_WORKER, place->worker);
	ht_table_put_str(table, RUN_SPAN, span);
	ht_table_put_str(table, RUN_STAMP, place->stamp);
	ht_table_put_str(table, RUN_TARGET, place->target);
	ht_table_put_str(table, RUN_NODE, place->node);
	ht_table_put_known(table, RUN_PROCESS, place->process, HT_NO_I64);
	ht_table_put_i64(table, RUN_RANK, rank->number);
	ht_table_put_i64(table, RUN_EVENTS, (int64_t)rank->n_events);
	ht_table_put_str(table, RUN_PATH, rank->path);
}

/* Runs, their workers, and the spans of these. */
static enum ht_status put_tree(struct ht_run *run, ht_table *table)
{
	const struct ht_roster *roster = run->rosters[0];
	const struct ht_run_place *places;
	size_t n = run->chosen[0].n;
	const struct ht_run_place **order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *order);
	if (!order || ht_run_tree_find(roster, run->scratch, &places) != HT_OK)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		order[i] = &places[run->chosen[0].at[i]];
	qsort(order, n, sizeof *order, compare_places);
	for (size_t i = 0; i < n; i++)
		put_place(order[i], &roster->ranks[order[i] - places], table);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const struct ht_roster *roster = run->rosters[0];
	const struct ht_run_place *places;
	if (ht_run_is(run, "view", "runs"))
		return put_tree(run, table);
	if (ht_run_tree_find(roster, run->scratch, &places) != HT_OK)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		struct ht_time_move move = ht_part_move(run, &parts->list[i]);
		HT_TRY(ht_table_append(table, parts->list[i].facts[0], &move));
		if (run->clocks[0])
			put_clock(run, parts->list[i].rank, table);
		size_t at = ht_roster_find(roster, parts->list[i].rank);
		if (at != SIZE_MAX && places[at].is_known)
			put_run(run, &places[at], parts->list[i].rank, table);
	}
	for (size_t i = 0; i < roster->n_notes; i++)
		HT_TRY(ht_table_add_note(table, "%s", roster->notes[i]));
	return roster->clock_note ? ht_table_add_note(table, "%s", roster->clock_note) : HT_OK;
}
