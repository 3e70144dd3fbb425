/*
 * events.c - the events themselves, with any column: what every other number can be walked back to.
 *
 * One row per event in file order (rank, index); index is the position in the file's traceEvents. ts_ns
 * is the file's ts exactly, in nanoseconds, without base time; dur_ns is null where the file has none.
 * Further columns on request by name: those below, args.KEY for any argument, event.KEY for any further
 * key of the event. All events are shown, whatever the step, unless --step or --annotation say otherwise.
 *
 * ancestors-of, descendants-of and kernels-under walk the call tree of one event (by index); with several
 * ranks give --rank as well. kernels-under also takes an operator's name and then means all its calls.
 */
#include "analysis/analysis.h"

#include "analysis/common/event_cells.h"
#include "analysis/common/event_filter.h"

#include <string.h>

static enum ht_status run(struct ht_run *r, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "index", HT_I64, HT_KEY, "position in the file's traceEvents, from 0", NULL },
	{ "ts_ns", HT_TIME, HT_MEASURE, "start as in the file, base time not added", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "duration as in the file; absent when the file has none", NULL },
	{ "ph", HT_STR, HT_MEASURE, "phase: X span, i instant, C counter, M metadata, s t f flow, B E b n e", NULL },
	{ "cat", HT_STR, HT_MEASURE, "category as in the file", NULL },
	{ "name", HT_STR, HT_MEASURE, "name", NULL },
	{ "pid", HT_STR, HT_MEASURE, "process id or name; device index for GPU work", NULL },
	{ "tid", HT_STR, HT_MEASURE, "thread id or name; stream for GPU work", NULL },
	{ "device", HT_I64, HT_DETAIL, "device of GPU work", NULL },
	{ "stream", HT_I64, HT_DETAIL, "stream argument", NULL },
	{ "correlation", HT_I64, HT_DETAIL, "correlation id that launch and GPU work share", NULL },
};

static const struct ht_param params[] = {
	{ "ancestors-of", HT_I64, NULL, "only the events around this index on the call tree", NULL },
	{ "descendants-of", HT_I64, NULL, "only the events inside this index on the call tree", NULL },
	{ "kernels-under", HT_STR, NULL, "only GPU work launched inside this index, or operator name", NULL },
	{ "leaves", HT_BOOL, "false", "only spans that enclose no other span", NULL },
	{ "from", HT_TIME, NULL, "only events that end after this time of the file's clock", NULL },
	{ "to", HT_TIME, NULL, "only events that start before this time of the file's clock", NULL },
};

const struct ht_analysis ht_analysis_events = {
	.info = {
		.name = "events",
		.group = "engine",
		.title = "Events",
		.question = "Which events are behind a number?",
		.method = "The events as read, one per row, in file order.",
		.columns = columns,
		.n_columns = HT_COUNT(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.run = run,
};

/* Columns that the request names and the table does not have yet. */
static enum ht_status add_columns(struct ht_run *r, ht_table *table, struct ht_event_column **ret_columns,
	size_t *ret_n)
{
	const char *const *names = NULL;
	size_t n_names = 0, n = 0;
	if (r->view)
		HT_TRY(ht_view_columns(r->ctx, r->view, r->scratch, &names, &n_names));
	struct ht_event_column *all =
		ht_arena_alloc(r->scratch, (HT_COUNT(columns) + n_names + 1) * sizeof *all);
	if (!all)
		return ht_fail_nomem(r->ctx);
	for (size_t i = 0; i < HT_COUNT(columns); i++)
		(void)ht_event_column_find(r, columns[i].name, &all[n++]);
	for (size_t i = 0; i < n_names; i++) {
		if (ht_table_find_column(table, names[i]) != SIZE_MAX ||
			!ht_event_column_find(r, names[i], &all[n]))
			continue;
		HT_TRY(ht_table_add_column(table, &all[n].column));
		n++;
	}
	*ret_columns = all;
	*ret_n = n;
	return HT_OK;
}

static enum ht_status run(struct ht_run *r, ht_table *table)
{
	struct ht_event_column *all = NULL;
	size_t n = 0;
	HT_TRY(add_columns(r, table, &all, &n));
	for (size_t i = 0; i < r->n; i++) {
		const uint8_t *keep;
		HT_TRY(ht_event_filter_make(r, i, &keep));
		for (size_t k = 0; k < n; k++)
			ht_event_column_start(&all[k], r, i);
		for (uint32_t row = 0; row < ht_n_events(r->traces[i]); row++) {
			if (keep && !keep[row])
				continue;
			ht_table_row(table);
			for (size_t k = 0; k < n; k++)
				ht_event_column_put(&all[k], row, table);
		}
	}
	return HT_OK;
}
