/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kineto.c - the reader of JSON event lists: PyTorch's profiler (Kineto), its predecessors, other writers of
 * Chrome's format, and the timeline of Ascend's exporter.
 *
 * The text is scanned in pieces on all threads (load.c); what it looks like is described in docs/formats.
 */
#include "read/load.h"
#include "read/reader.h"
#include "store/columns.h"
#include "store/trace_meta.h"

static bool sniff(const struct ht_head *head)
{
	return ht_sniff_is_trace(ht_sniff_trace(head->text, head->n, head->is_all).kind);
}

static bool has_header(const struct ht_builder *builder, size_t first, const char *key)
{
	const struct ht_header *headers = builder->all.headers.data;
	const struct ht_text *texts = builder->strings.texts.data;
	for (size_t i = first; i < builder->all.headers.n; i++)
		if (!strcmp(texts[headers[i].key].bytes, key))
			return true;
	return false;
}

/* What the builder held before this file. */
struct before {
	uint32_t n_rows;
	size_t n_headers;
	uint64_t n_lists, n_skipped, n_lost, n_others;
};

/* Is one of the rows from the first on an event? What has neither phase nor name is some other object. */
static bool has_event(const struct ht_chunk *all, uint32_t first)
{
	for (uint32_t i = first; i < all->n; i++)
		if (all->ph[i] || all->name[i] != HT_NO_STR)
			return true;
	return false;
}

/* Refuse a file in which nothing was found, with the reason that helps most. */
static enum ht_status check_found(const struct ht_builder *builder, const struct before *before,
        const struct ht_reading *reading, const struct ht_doc_state *state)
{
	ht_ctx *ctx = builder->ctx;
	const struct ht_chunk_stat *stats = builder->all.stats;
	if (!ht_source_pos(reading->source))
		return ht_fail(ctx, HT_FORMAT, reading->path, 0,
		        "the export may have been interrupted", "the file is empty");
	if (!state->any_events) {
		bool nodes = has_header(builder, before->n_headers, "nodes");
		return ht_fail(ctx, HT_FORMAT, reading->path, 0,
		        nodes ? "this is an execution trace; give the Kineto trace of the same run"
		              : "expected a JSON object with traceEvents, a list of events, or one event per line",
		        "no traceEvents in the file");
	}
	if (builder->all.n > before->n_rows)
		return has_event(&builder->all, before->n_rows)
		               ? HT_OK
		               : ht_fail(ctx, HT_FORMAT, reading->path, 0,
		                         "expected events, which are JSON objects with ph, ts and name",
		                         "not a trace: none of its objects has ph or name");
	uint64_t n_lists = stats[HT_STAT_nested_array].count - before->n_lists;
	if (n_lists)
		return ht_fail(ctx, HT_FORMAT, reading->path, 0,
		        "this does not look like a profiler trace",
		        "not a trace: no event in %llu nested lists", (unsigned long long)n_lists);
	const struct ht_chunk_stat *skipped = &stats[HT_STAT_bytes_skipped];
	const struct ht_chunk_stat *lost = &stats[HT_STAT_events_lost];
	if (skipped->count > before->n_skipped || lost->count > before->n_lost)
		return ht_fail(ctx, HT_FORMAT, reading->path,
		        skipped->count > before->n_skipped ? skipped->first_offset
		                                           : lost->first_offset,
		        "the file may be damaged or not a trace",
		        "no event could be understood; the first defect is");
	const struct ht_chunk_stat *others = &stats[HT_STAT_element_not_event];
	if (others->count > before->n_others)
		return ht_fail(ctx, HT_FORMAT, reading->path, others->first_offset,
		        "expected events, which are JSON objects with ph, ts and name",
		        "not a trace: a list of other things");
	return HT_OK;
}

static enum ht_status read_events(struct ht_builder *builder, const struct ht_reading *reading)
{
	const struct ht_chunk_stat *stats = builder->all.stats;
	struct before before = { builder->all.n, builder->all.headers.n,
		stats[HT_STAT_nested_array].count, stats[HT_STAT_bytes_skipped].count,
		stats[HT_STAT_events_lost].count, stats[HT_STAT_element_not_event].count };
	struct ht_doc_state state;
	HT_TRY(ht_load_text(builder, reading->source, reading->chunk_bytes, &state));
	HT_TRY(check_found(builder, &before, reading, &state));
	builder->n_documents =
	        (uint16_t)(builder->n_documents + state.document + (state.phase != HT_DOC_START));
	return HT_OK;
}

const struct ht_reader ht_reader_kineto = {
	.name = "kineto",
	.what = "a trace",
	.endings = ".json|.jsonl",
	.sniff = sniff,
	.read = read_events,
};
