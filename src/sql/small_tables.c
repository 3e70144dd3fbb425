/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_tables.c - ranks, steps and tracks, and what the connection says about itself.
 *
 * sql_tables and sql_columns are what .tables and .schema show, and what the reference page is generated from.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/memory_tables.h"
#include "store/columns.h"

#include "registry/registry.h"

#include <string.h>

/* ---- ranks ---- */

#define RANK_COLUMNS(COLUMN)                                                                       \
	COLUMN(RANK_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(RANK_PATH, "path", HT_STR, HT_MEASURE, "its file, as given", NULL)                  \
	COLUMN(RANK_N_EVENTS, "n_events", HT_I64, HT_MEASURE, "events", NULL)                      \
	COLUMN(RANK_JSON_BYTES, "json_bytes", HT_BYTES, HT_MEASURE,                                \
	        "length of its text, decompressed", NULL)                                          \
	COLUMN(RANK_N_STEPS, "n_steps", HT_I64, HT_MEASURE, "profiler steps", NULL)                \
	COLUMN(RANK_FIRST_NS, "first_ns", HT_TIME, HT_MEASURE, "first start, in the file's clock", \
	        NULL)                                                                              \
	COLUMN(RANK_LAST_NS, "last_ns", HT_TIME, HT_MEASURE, "last end, in the file's clock",      \
	        NULL)                                                                              \
	COLUMN(RANK_BASE_NS, "base_ns", HT_TIME, HT_DETAIL,                                        \
	        "unix time of the file's zero, where it has one", NULL)                            \
	COLUMN(RANK_SHIFT_NS, "shift_ns", HT_DURATION, HT_DETAIL,                                  \
	        "added to the file's clock to get that of all ranks, at its first event", NULL)    \
	COLUMN(RANK_WORLD_SIZE, "world_size", HT_I64, HT_DETAIL,                                   \
	        "ranks of the job, as the file says", NULL)
HT_COLUMNS(rank_columns, RANK_COLUMNS);

static enum ht_status fill_ranks(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct ht_rank *rank = &s->set->roster.ranks[i];
		struct ht_time_move move;
		bool has_time = rank->min_ts_ns != HT_NO_I64;
		if (ht_sql_move(s, i, &move) != SQLITE_OK)
			return s->failed;
		ht_table_row(table);
		ht_table_put_i64(table, RANK_RANK, rank->number);
		ht_table_put_str(table, RANK_PATH, rank->path);
		ht_table_put_i64(table, RANK_N_EVENTS, (int64_t)rank->n_events);
		ht_table_put_i64(table, RANK_JSON_BYTES, (int64_t)rank->json_bytes);
		ht_table_put_i64(table, RANK_N_STEPS, (int64_t)rank->n_steps);
		ht_table_put_known(table, RANK_FIRST_NS, rank->min_ts_ns, HT_NO_I64);
		ht_table_put_known(table, RANK_LAST_NS, rank->max_end_ns, HT_NO_I64);
		ht_table_put_known(table, RANK_BASE_NS, rank->base_ns, HT_NO_I64);
		ht_table_put_known(table, RANK_SHIFT_NS,
		        has_time
		                ? ht_sub_sat(ht_time_moved(&move, rank->min_ts_ns), rank->min_ts_ns)
		                : HT_NO_I64,
		        HT_NO_I64);
		ht_table_put_known(table, RANK_WORLD_SIZE, rank->job.world_size, HT_NO_I64);
	}
	return HT_OK;
}

/* ---- steps ---- */

#define STEP_COLUMNS(COLUMN)                                                                       \
	COLUMN(STEP_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(STEP_STEP, "step", HT_I64, HT_KEY, "number of the profiler step", NULL)             \
	COLUMN(STEP_ID, "id", HT_EVENT, HT_DETAIL, "its event: ProfilerStep#N", NULL)              \
	COLUMN(STEP_TS_NS, "ts_ns", HT_TIME, HT_MEASURE, "start, in the file's clock", NULL)       \
	COLUMN(STEP_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE, "duration", NULL)                   \
	COLUMN(STEP_END_NS, "end_ns", HT_TIME, HT_MEASURE, "end, in the file's clock", NULL)       \
	COLUMN(STEP_TIME_NS, "time_ns", HT_TIME, HT_MEASURE,                                       \
	        "start in the clock that all ranks share, from 0", NULL)
HT_COLUMNS(step_columns, STEP_COLUMNS);

static enum ht_status fill_steps(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct ht_rank *rank = &s->set->roster.ranks[i];
		struct ht_time_move move;
		if (ht_sql_move(s, i, &move) != SQLITE_OK)
			return s->failed;
		for (size_t k = 0; k < rank->n_steps; k++) {
			const struct ht_step *step = &rank->steps[k];
			ht_table_row(table);
			ht_table_put_i64(table, STEP_RANK, rank->number);
			ht_table_put_i64(table, STEP_STEP, step->number);
			ht_table_put_i64(table, STEP_ID, ht_event_id(rank->number, step->row));
			ht_table_put_i64(table, STEP_TS_NS, step->ts_ns);
			ht_table_put_i64(table, STEP_DUR_NS, step->end_ns - step->ts_ns);
			ht_table_put_i64(table, STEP_END_NS, step->end_ns);
			ht_table_put_i64(table, STEP_TIME_NS, ht_time_moved(&move, step->ts_ns));
		}
	}
	return HT_OK;
}

/* ---- tracks ---- */

#define TRACK_COLUMNS(COLUMN)                                                                      \
	COLUMN(TRACK_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(TRACK_TRACK, "track", HT_I64, HT_KEY,                                               \
	        "number of the thread or stream in its trace", NULL)                               \
	COLUMN(TRACK_PID, "pid", HT_STR, HT_MEASURE,                                               \
	        "process id or name; device index for streams", NULL)                              \
	COLUMN(TRACK_TID, "tid", HT_STR, HT_MEASURE, "thread id or name; stream", NULL)            \
	COLUMN(TRACK_PROCESS_NAME, "process_name", HT_STR, HT_MEASURE, "name of the process",      \
	        NULL)                                                                              \
	COLUMN(TRACK_THREAD_NAME, "thread_name", HT_STR, HT_MEASURE,                               \
	        "name of the thread or stream", NULL)                                              \
	COLUMN(TRACK_DEVICE, "device", HT_I64, HT_MEASURE,                                         \
	        "device of a stream, null for threads of the host", NULL)                          \
	COLUMN(TRACK_N_EVENTS, "n_events", HT_I64, HT_MEASURE, "events with a time", NULL)         \
	COLUMN(TRACK_N_SPANS, "n_spans", HT_I64, HT_MEASURE, "of them spans", NULL)
HT_COLUMNS(track_columns, TRACK_COLUMNS);

static void put_id(
        ht_table *table, size_t column, const struct ht_trace *t, int64_t id, uint8_t type)
{
	char text[24];
	sqlite3_snprintf(sizeof text, text, "%lld", (long long)id);
	ht_table_put_str(table, column,
	        type == HT_ID_STR   ? ht_str(t, (uint32_t)id)
	        : type == HT_ID_INT ? text
	                            : NULL);
}

static void put_name(ht_table *table, size_t column, const struct ht_trace *t, uint32_t id)
{
	ht_table_put_str(table, column, id == HT_NO_STR ? NULL : ht_str(t, id));
}

static enum ht_status fill_tracks(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct ht_trace *t;
		if (ht_sql_take(s, i, &t) != SQLITE_OK)
			return s->failed;
		for (size_t k = 0; k < t->n_tracks; k++) {
			const struct ht_track *track = &t->tracks[k];
			ht_table_row(table);
			ht_table_put_i64(table, TRACK_RANK, s->set->roster.ranks[i].number);
			ht_table_put_i64(table, TRACK_TRACK, (int64_t)k);
			put_id(table, TRACK_PID, t, track->pid, track->pid_type);
			put_id(table, TRACK_TID, t, track->tid, track->tid_type);
			put_name(table, TRACK_PROCESS_NAME, t, track->process_name);
			put_name(table, TRACK_THREAD_NAME, t, track->name);
			ht_table_put_known(table, TRACK_DEVICE, track->device, -1);
			ht_table_put_i64(table, TRACK_N_EVENTS, track->n);
			ht_table_put_i64(table, TRACK_N_SPANS, track->n_spans);
		}
	}
	return HT_OK;
}

/* ---- tables, columns and functions ---- */

#define TABLE_COLUMNS(COLUMN)                                                                      \
	COLUMN(TABLE_NAME, "name", HT_STR, HT_KEY, "name of the table or function", NULL)          \
	COLUMN(TABLE_KIND, "kind", HT_STR, HT_MEASURE,                                             \
	        "table, analysis (a table that takes arguments) or function", NULL)                \
	COLUMN(TABLE_SENTENCE, "sentence", HT_STR, HT_MEASURE,                                     \
	        "what its rows are, or what it answers", NULL)                                     \
	COLUMN(TABLE_ARGUMENTS, "arguments", HT_STR, HT_DETAIL,                                    \
	        "parameters of an analysis, as in 'by=all, top=3'", NULL)
HT_COLUMNS(table_columns, TABLE_COLUMNS);

#define COLUMN_COLUMNS(COLUMN)                                                                     \
	COLUMN(COLUMN_TABLE_NAME, "table_name", HT_STR, HT_KEY, "name of the table", NULL)         \
	COLUMN(COLUMN_VIEW, "view", HT_STR, HT_KEY,                                                \
	        "of an analysis with several: the argument that shows it", NULL)                   \
	COLUMN(COLUMN_NAME, "name", HT_STR, HT_KEY, "name of the column", NULL)                    \
	COLUMN(COLUMN_TYPE, "type", HT_STR, HT_MEASURE,                                            \
	        "type in SQL; the second word says what the number is", NULL)                      \
	COLUMN(COLUMN_UNIT, "unit", HT_STR, HT_MEASURE, "unit", NULL)                              \
	COLUMN(COLUMN_SENTENCE, "sentence", HT_STR, HT_MEASURE, "what the value is", NULL)
HT_COLUMNS(column_columns, COLUMN_COLUMNS);

static enum ht_status fill_tables(struct ht_sql_session *s, ht_table *table);
static enum ht_status fill_columns(struct ht_sql_session *s, ht_table *table);

enum { RANKS, STEPS, TRACKS, TABLES, COLUMNS, N_SMALL };
static const struct ht_sql_small small[N_SMALL] = {
	[RANKS] = { { "ranks", "the ranks of the set", rank_columns, HT_COUNT(rank_columns) },
	        fill_ranks },
	[STEPS] = { { "steps", "the profiler steps of each rank", step_columns,
	                    HT_COUNT(step_columns) },
	        fill_steps },
	[TRACKS] = { { "tracks", "the threads and streams of each rank", track_columns,
	                     HT_COUNT(track_columns) },
	        fill_tracks },
	[TABLES] = { { "sql_tables", "the tables and functions that there are", table_columns,
	                     HT_COUNT(table_columns) },
	        fill_tables },
	[COLUMNS] = { { "sql_columns", "the columns of all tables", column_columns,
	                      HT_COUNT(column_columns) },
	        fill_columns },
};

/* Ours, then those of memory snapshots; NULL beyond the last. */
static const struct ht_sql_small *small_at(size_t i)
{
	if (i < N_SMALL)
		return &small[i];
	return i < N_SMALL + HT_SQL_N_MEMORY ? &ht_sql_memory_tables[i - N_SMALL] : NULL;
}

const struct ht_sql_table *ht_sql_result_table(size_t i)
{
	const struct ht_sql_small *found = small_at(i);
	return found ? &found->table : NULL;
}

const struct ht_sql_table *ht_sql_fixed_table(size_t i)
{
	const struct ht_sql_table *(*const lists[])(
	        size_t) = { ht_sql_event_table, ht_sql_value_table, ht_sql_result_table };
	for (size_t k = 0; k < HT_COUNT(lists); k++) {
		size_t n = 0;
		while (lists[k](n))
			n++;
		if (i < n)
			return lists[k](i);
		i -= n;
	}
	return NULL;
}

static void put_table(ht_table *table, const char *name, const char *kind, const char *sentence,
        const char *arguments)
{
	ht_table_row(table);
	ht_table_put_str(table, TABLE_NAME, name);
	ht_table_put_str(table, TABLE_KIND, kind);
	ht_table_put_str(table, TABLE_SENTENCE, sentence);
	ht_table_put_str(table, TABLE_ARGUMENTS, arguments);
}

/* "by=rank|all, num-kernels" */
static const char *list_arguments(struct ht_arena *arena, const struct ht_analysis_info *info)
{
	const char *text = "";
	for (size_t i = 0; text && i < info->n_params; i++) {
		const struct ht_param *param = &info->params[i];
		if (info->input_param && !strcmp(param->name, info->input_param))
			continue;
		text = ht_arena_printf(arena, "%s%s%s%s%s", text, *text ? ", " : "", param->name,
		        param->choices ? "=" : "", param->choices ? param->choices : "");
	}
	return text;
}

static enum ht_status fill_tables(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; ht_sql_fixed_table(i); i++)
		put_table(table, ht_sql_fixed_table(i)->name, "table",
		        ht_sql_fixed_table(i)->sentence, NULL);
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		char name[HT_SQL_NAME_BYTES];
		if (!ht_sql_offers(info))
			continue;
		const char *arguments = list_arguments(&s->arena, info);
		if (!arguments)
			return ht_fail_nomem(s->ctx);
		ht_sql_analysis_name(info, name);
		put_table(table, name, "analysis", info->question, *arguments ? arguments : NULL);
	}
	for (size_t i = 0; i < ht_sql_n_functions; i++)
		put_table(table, ht_sql_functions[i].call, "function", ht_sql_functions[i].sentence,
		        NULL);
	return HT_OK;
}

static void put_columns(ht_table *table, const char *name, const char *view,
        const struct ht_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_str(table, COLUMN_TABLE_NAME, name);
		ht_table_put_str(table, COLUMN_VIEW, view);
		ht_table_put_str(table, COLUMN_NAME, columns[i].name);
		ht_table_put_str(table, COLUMN_TYPE, ht_sql_type_text(columns[i].type));
		ht_table_put_str(table, COLUMN_UNIT, ht_column_unit(&columns[i]));
		ht_table_put_str(table, COLUMN_SENTENCE, columns[i].sentence);
	}
}

static enum ht_status fill_columns(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; ht_sql_fixed_table(i); i++)
		put_columns(table, ht_sql_fixed_table(i)->name, NULL,
		        ht_sql_fixed_table(i)->columns, ht_sql_fixed_table(i)->n_columns);
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		char name[HT_SQL_NAME_BYTES];
		ht_sql_analysis_name(info, name);
		for (size_t k = 0; ht_sql_offers(info) && k < info->n_schemas; k++) {
			const struct ht_schema *schema = &info->schemas[k];
			const char *view = info->chosen_by ? ht_arena_printf(&s->arena, "%s=%s",
			                                             info->chosen_by, schema->name)
			                                   : NULL;
			put_columns(table, name, view, schema->columns, schema->n_columns);
		}
	}
	return HT_OK;
}

int ht_sql_register_small(struct ht_sql_session *s)
{
	int code = SQLITE_OK;
	for (size_t i = 0; small_at(i) && code == SQLITE_OK; i++)
		code = ht_sql_register_result(s, small_at(i)->table.name,
		        (struct ht_result_source){
		                .table = &small_at(i)->table, .fill = small_at(i)->fill });
	return code;
}

bool ht_sql_is_fixed_table(const char *name)
{
	for (size_t i = 0; ht_sql_fixed_table(i); i++)
		if (!sqlite3_stricmp(ht_sql_fixed_table(i)->name, name))
			return true;
	return false;
}

#endif
