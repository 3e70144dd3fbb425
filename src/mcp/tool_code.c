/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_code.c - tools that are no analyses: the runs, single events, SQL.
 */
#include "mcp/tool.h"

#include "base/list.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_EVENTS   40
#define MAX_SQL_ROWS 10000

/* The value of an argument of the tool's own; NULL: absent. */
static const char *own_arg(const struct mcp_args *args, const char *name)
{
	for (size_t i = 0; i < args->n; i++)
		if (!strcmp(args->list[i].name, name))
			return args->list[i].value;
	return NULL;
}

static enum ht_status check_own(
        struct mcp_call *call, const struct mcp_args *args, const char *name, bool is_needed)
{
	for (size_t i = 0; i < args->n; i++)
		if (strcmp(args->list[i].name, name) != 0)
			return ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL,
			        "there is no argument %.60s", args->list[i].name);
	if (is_needed && !own_arg(args, name))
		return ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL, "%s is missing", name);
	return HT_OK;
}

/* ---- runs ---- */

#define RUN_COLUMNS(COLUMN)                                                                        \
	COLUMN(RUN_NAME, "run", HT_STR, HT_KEY, "name of the run, for the argument run", NULL)     \
	COLUMN(RUN_STATE, "state", HT_STR, HT_MEASURE, "ready, or what it waits for", NULL)        \
	COLUMN(RUN_FILES, "files", HT_I64, HT_MEASURE, "traces of it, mostly one per rank", NULL)  \
	COLUMN(RUN_BYTES, "size", HT_BYTES, HT_MEASURE, "size of the files", NULL)                 \
	COLUMN(RUN_WRITTEN, "written", HT_STR, HT_MEASURE,                                         \
	        "when its newest file was written, UTC", NULL)
HT_COLUMNS(run_columns, RUN_COLUMNS);

/* The newest first; of the same time, by name from the end, so that the base of a pair comes last. */
static int compare_runs(const void *x, const void *y)
{
	const struct ht_mcp_run *a = x, *b = y;
	if (a->mtime_ns != b->mtime_ns)
		return a->mtime_ns < b->mtime_ns ? 1 : -1;
	return strcmp(b->name, a->name);
}

static void put_run(ht_table *table, const struct ht_mcp_run *run)
{
	char when[32] = "";
	time_t seconds = (time_t)(run->mtime_ns / 1000000000);
	struct tm tm;
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
	ht_table_row(table);
	ht_table_put_str(table, RUN_NAME, run->name);
	ht_table_put_str(table, RUN_STATE, run->state);
	ht_table_put_i64(table, RUN_FILES, (int64_t)run->n_files);
	ht_table_put_i64(table, RUN_BYTES, (int64_t)run->size_bytes);
	ht_table_put_str(table, RUN_WRITTEN, when);
}

/* Two runs ask to be compared; of more than two the newest is looked at. */
static void next_of_runs(struct mcp_result *result, const struct ht_mcp_run *runs, size_t n)
{
	if (n == 2) {
		const struct mcp_next compare = { .tool = "compare_runs",
			.args = { { "run", runs[0].name }, { "base", runs[1].name } },
			.n_args = 2 };
		mcp_next_add(result, &compare);
	}
	for (size_t i = 0; i < n && i < 3; i++) {
		const struct mcp_next summary = {
			.tool = "summary", .args = { { "run", runs[i].name } }, .n_args = 1
		};
		mcp_next_add(result, &summary);
	}
}

MCP_RUNNER(mcp_run_find)
{
	const char *match = own_arg(args, "match");
	const struct ht_view view = {
		.struct_size = sizeof view, .top = args->limit, .offset = args->offset
	};
	struct mcp_runs runs;
	struct mcp_part *part = &result->parts[0];
	size_t n = 0;
	(void)tool;
	HT_TRY(check_own(call, args, "match", false));
	HT_TRY(mcp_runs_list(call, &runs));
	for (size_t i = 0; i < runs.n; i++)
		if (!match || strstr(runs.list[i].name, match))
			runs.list[n++] = runs.list[i];
	qsort(runs.list, n, sizeof *runs.list, compare_runs);
	HT_TRY(ht_table_new(call->ctx, "Runs", run_columns, HT_COUNT(run_columns), &part->table));
	*part = (struct mcp_part){ "find_runs", part->table, args->offset, true };
	result->n_parts = 1;
	for (size_t i = 0; i < n; i++)
		put_run(part->table, &runs.list[i]);
	if (!n)
		HT_TRY(ht_table_add_note(part->table, "no run %s",
		        match ? "has such a name" : "was found below the log directory"));
	HT_TRY(ht_table_finish(call->ctx, part->table));
	next_of_runs(result, runs.list, n);
	return ht_table_apply_view(call->ctx, part->table, &view);
}

/* ---- events ---- */

/* "2:10006" at the text, which moves behind it and the comma; false when it is none. */
static bool take_event(const char **text, int64_t *ret_rank, uint32_t *ret_row)
{
	char *end;
	*text += strspn(*text, " ,[]\"");
	if (**text < '0' || **text > '9')
		return false;
	unsigned long long rank = strtoull(*text, &end, 10);
	if (*end != ':' || end[1] < '0' || end[1] > '9' || rank > INT32_MAX)
		return false;
	unsigned long long row = strtoull(end + 1, &end, 10);
	if (row >= UINT32_MAX)
		return false;
	*ret_rank = (int64_t)rank;
	*ret_row = (uint32_t)row;
	*text = end + strspn(end, " ,[]\"");
	return true;
}

static enum ht_status add_event(struct mcp_call *call, const struct mcp_held *held, int64_t rank,
        uint32_t row, const struct mcp_args *args, struct mcp_result *result)
{
	const struct ht_view view = { .struct_size = sizeof view, .top = args->limit };
	struct mcp_part part = { .verb = "event" };
	ht_timeline *timeline;
	size_t i = 0, n = ht_set_n_ranks(held->set);
	while (i < n && ht_set_rank(held->set, i) != rank)
		i++;
	if (i == n || row >= ht_set_n_events(held->set, i))
		return ht_fail(call->ctx, HT_USAGE, NULL, -1,
		        "ids come from evidence and from rows of events",
		        "there is no event %lld:%lu", (long long)rank, (unsigned long)row);
	HT_TRY(ht_timeline_open(call->ctx, held->set, i, &timeline));
	ht_table *whole;
	enum ht_status status = ht_timeline_event(call->ctx, timeline, row, &whole);
	ht_timeline_close(timeline);
	HT_TRY(status);
	status = ht_table_view(call->ctx, whole, &view, &part.table);
	ht_table_free(whole);
	if (status == HT_OK)
		result->parts[result->n_parts++] = part;
	return status;
}

MCP_RUNNER(mcp_run_events)
{
	const char *text = own_arg(args, "events");
	struct mcp_held held;
	enum ht_status status = HT_OK;
	int64_t rank;
	uint32_t row;
	size_t n = 0;
	(void)tool;
	HT_TRY(check_own(call, args, "events", true));
	HT_TRY(mcp_run_hold(call, args->run, &held));
	result->run = held.name;
	while (status == HT_OK && take_event(&text, &rank, &row) && n < MAX_EVENTS)
		if (n++ < MCP_MAX_TABLES)
			status = add_event(call, &held, rank, row, args, result);
	if (status == HT_OK && (!n || *text))
		status = ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL,
		        "events are up to %d ids rank:row, separated by commas, not %.60s",
		        MAX_EVENTS, text);
	if (n > MCP_MAX_TABLES)
		result->lead = ht_arena_printf(&call->arena,
		        "The first %d of %zu events; ask for the others by their ids.",
		        MCP_MAX_TABLES, n);
	mcp_run_release(call, &held);
	return status;
}

/* ---- SQL ---- */

MCP_RUNNER(mcp_run_sql)
{
	const struct ht_sql_options options = { .struct_size = sizeof options,
		.max_rows = MAX_SQL_ROWS };
	const struct ht_view view = {
		.struct_size = sizeof view, .top = args->limit, .offset = args->offset
	};
	struct mcp_part part = { "sql", NULL, args->offset, true };
	struct mcp_held held;
	ht_table *whole;
	(void)tool;
	HT_TRY(check_own(call, args, "query", true));
	HT_TRY(mcp_run_hold(call, args->run, &held));
	result->run = held.name;
	enum ht_status status =
	        ht_sql(call->ctx, held.set, own_arg(args, "query"), &options, &whole);
	if (status == HT_OK) {
		status = ht_table_view(call->ctx, whole, &view, &part.table);
		ht_table_free(whole);
	}
	if (status == HT_OK)
		result->parts[result->n_parts++] = part;
	mcp_run_release(call, &held);
	return status;
}
