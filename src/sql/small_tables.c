/*
 * small_tables.c - ranks, steps and tracks, and what the connection says about itself.
 *
 * sql_tables and sql_columns are what .tables and .schema show, and what the reference page is generated from.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/result_table.h"

#include "registry/registry.h"

#include <string.h>

/* ---- ranks ---- */

static const struct ht_column rank_columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "path", HT_STR, HT_MEASURE, "its file, as given", NULL },
	{ "n_events", HT_I64, HT_MEASURE, "events", NULL },
	{ "json_bytes", HT_BYTES, HT_MEASURE, "length of its text, decompressed", NULL },
	{ "n_steps", HT_I64, HT_MEASURE, "profiler steps", NULL },
	{ "first_ns", HT_TIME, HT_MEASURE, "first start, in the file's clock", NULL },
	{ "last_ns", HT_TIME, HT_MEASURE, "last end, in the file's clock", NULL },
	{ "base_ns", HT_TIME, HT_DETAIL, "unix time of the file's zero, where it has one", NULL },
	{ "shift_ns", HT_DURATION, HT_DETAIL,
	        "added to the file's clock to get that of all ranks, at its first event", NULL },
	{ "world_size", HT_I64, HT_DETAIL, "ranks of the job, as the file says", NULL },
};

static enum ht_status fill_ranks(struct ht_sql_session *s, ht_table *table)
{
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct ht_rank *rank = &s->set->roster.ranks[i];
		struct ht_time_move move;
		bool has_time = rank->min_ts_ns != HT_NO_I64;
		if (ht_sql_move(s, i, &move) != SQLITE_OK)
			return s->failed;
		ht_table_row(table);
		ht_table_put_i64(table, rank->number);
		ht_table_put_str(table, rank->path);
		ht_table_put_i64(table, (int64_t)rank->n_events);
		ht_table_put_i64(table, (int64_t)rank->json_bytes);
		ht_table_put_i64(table, (int64_t)rank->n_steps);
		ht_table_put_known(table, rank->min_ts_ns, HT_NO_I64);
		ht_table_put_known(table, rank->max_end_ns, HT_NO_I64);
		ht_table_put_known(table, rank->base_ns, HT_NO_I64);
		ht_table_put_known(table,
		        has_time
		                ? ht_sub_sat(ht_time_moved(&move, rank->min_ts_ns), rank->min_ts_ns)
		                : HT_NO_I64,
		        HT_NO_I64);
		ht_table_put_known(table, rank->job.world_size, HT_NO_I64);
	}
	return HT_OK;
}

/* ---- steps ---- */

static const struct ht_column step_columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "step", HT_I64, HT_KEY, "number of the profiler step", NULL },
	{ "id", HT_EVENT, HT_DETAIL, "its event: ProfilerStep#N", NULL },
	{ "ts_ns", HT_TIME, HT_MEASURE, "start, in the file's clock", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "duration", NULL },
	{ "end_ns", HT_TIME, HT_MEASURE, "end, in the file's clock", NULL },
	{ "time_ns", HT_TIME, HT_MEASURE, "start in the clock that all ranks share, from 0", NULL },
};

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
			ht_table_put_i64(table, rank->number);
			ht_table_put_i64(table, step->number);
			ht_table_put_i64(table, ht_event_id(rank->number, step->row));
			ht_table_put_i64(table, step->ts_ns);
			ht_table_put_i64(table, step->end_ns - step->ts_ns);
			ht_table_put_i64(table, step->end_ns);
			ht_table_put_i64(table, ht_time_moved(&move, step->ts_ns));
		}
	}
	return HT_OK;
}

/* ---- tracks ---- */

static const struct ht_column track_columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "track", HT_I64, HT_KEY, "number of the thread or stream in its trace", NULL },
	{ "pid", HT_STR, HT_MEASURE, "process id or name; device index for streams", NULL },
	{ "tid", HT_STR, HT_MEASURE, "thread id or name; stream", NULL },
	{ "process_name", HT_STR, HT_MEASURE, "name of the process", NULL },
	{ "thread_name", HT_STR, HT_MEASURE, "name of the thread or stream", NULL },
	{ "device", HT_I64, HT_MEASURE, "device of a stream, null for threads of the host", NULL },
	{ "n_events", HT_I64, HT_MEASURE, "events with a time", NULL },
	{ "n_spans", HT_I64, HT_MEASURE, "of them spans", NULL },
};

static void put_id(ht_table *table, const struct ht_trace *t, int64_t id, uint8_t type)
{
	char text[24];
	sqlite3_snprintf(sizeof text, text, "%lld", (long long)id);
	ht_table_put_str(table, type == HT_ID_STR   ? ht_str(t, (uint32_t)id)
	                        : type == HT_ID_INT ? text
	                                            : NULL);
}

static void put_name(ht_table *table, const struct ht_trace *t, uint32_t id)
{
	ht_table_put_str(table, id == HT_NO_STR ? NULL : ht_str(t, id));
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
			ht_table_put_i64(table, s->set->roster.ranks[i].number);
			ht_table_put_i64(table, (int64_t)k);
			put_id(table, t, track->pid, track->pid_type);
			put_id(table, t, track->tid, track->tid_type);
			put_name(table, t, track->process_name);
			put_name(table, t, track->name);
			ht_table_put_known(table, track->device, -1);
			ht_table_put_i64(table, track->n);
			ht_table_put_i64(table, track->n_spans);
		}
	}
	return HT_OK;
}

/* ---- tables, columns and functions ---- */

static const struct ht_column table_columns[] = {
	{ "name", HT_STR, HT_KEY, "name of the table or function", NULL },
	{ "kind", HT_STR, HT_MEASURE, "table, analysis (a table that takes arguments) or function",
	        NULL },
	{ "sentence", HT_STR, HT_MEASURE, "what its rows are, or what it answers", NULL },
	{ "arguments", HT_STR, HT_DETAIL, "parameters of an analysis, as in 'by=all, top=3'",
	        NULL },
};

static const struct ht_column column_columns[] = {
	{ "table_name", HT_STR, HT_KEY, "name of the table", NULL },
	{ "view", HT_STR, HT_KEY, "of an analysis with several: the argument that shows it", NULL },
	{ "name", HT_STR, HT_KEY, "name of the column", NULL },
	{ "type", HT_STR, HT_MEASURE, "type in SQL; the second word says what the number is",
	        NULL },
	{ "unit", HT_STR, HT_MEASURE, "unit", NULL },
	{ "sentence", HT_STR, HT_MEASURE, "what the value is", NULL },
};

static enum ht_status fill_tables(struct ht_sql_session *s, ht_table *table);
static enum ht_status fill_columns(struct ht_sql_session *s, ht_table *table);

enum { RANKS, STEPS, TRACKS, TABLES, COLUMNS, N_SMALL };
static const struct {
	struct ht_sql_table table;
	enum ht_status (*fill)(struct ht_sql_session *s, ht_table *table);
} small[N_SMALL] = {
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

const struct ht_sql_table *ht_sql_result_table(size_t i)
{
	return i < N_SMALL ? &small[i].table : NULL;
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
	ht_table_put_str(table, name);
	ht_table_put_str(table, kind);
	ht_table_put_str(table, sentence);
	ht_table_put_str(table, arguments);
}

/* "by=rank|all, num-kernels" */
static const char *list_arguments(struct ht_arena *arena, const struct ht_analysis_info *info)
{
	const char *text = "";
	for (size_t i = 0; text && i < info->n_params; i++) {
		const struct ht_param *param = &info->params[i];
		if (info->instead && !strcmp(param->name, info->instead))
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
		ht_table_put_str(table, name);
		ht_table_put_str(table, view);
		ht_table_put_str(table, columns[i].name);
		ht_table_put_str(table, ht_sql_type_text(columns[i].type));
		ht_table_put_str(table, ht_column_unit(&columns[i]));
		ht_table_put_str(table, columns[i].sentence);
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
	for (size_t i = 0; i < N_SMALL && code == SQLITE_OK; i++)
		code = ht_sql_register_result(s, small[i].table.name,
		        (struct ht_result_source){
		                .table = &small[i].table, .fill = small[i].fill });
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
