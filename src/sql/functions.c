/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.c - functions that queries over traces miss in SQL.
 *
 *   overlap_ns(s1, e1, s2, e2)      how long two intervals overlap
 *   union_ns(start, end)            aggregate: time that at least one interval covers
 *   overlap_ns(start, end, which)   aggregate: time that intervals of both kinds cover, which is true or false
 *   short_name(name)  human_ns(ns)  stack(event)  arg(event, key)
 *   text REGEXP pattern             extended regular expressions, as --where has them
 *
 * Aggregates keep merged intervals as long as these come in order of start, else all of them until the end; memory
 * comes from the context.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/sql.h"
#include "store/args.h"

#include "base/pattern.h"
#include "model/numbers/interval.h"
#include "model/rows/work_names.h"
#include "table/format.h"

#include <math.h>
#include <string.h>

const struct ht_sql_function ht_sql_functions[] = {
	{ "overlap_ns(start1, end1, start2, end2)", "how long two intervals overlap" },
	{ "overlap_ns(start, end, which)",
	        "aggregate: time in which intervals with a true which and intervals with a false one run "
	        "together" },
	{ "union_ns(start, end)", "aggregate: time that at least one of the intervals covers" },
	{ "median(x)", "aggregate: the middle value, or between the middle two" },
	{ "percentile(x, p)",
	        "aggregate: the value below which p of 100 are, interpolated: percentile(dur_ns, 99)" },
	{ "stddev(x)", "aggregate: standard deviation of a sample (n - 1)" },
	{ "regexp(pattern, text)",
	        "whether the pattern, an extended regular expression, is found; also as text REGEXP pattern" },
	{ "short_name(name)", "a name without template arguments, parameters and return type" },
	{ "human_ns(ns)", "a time as people read it: 1.24 ms" },
	{ "stack(event)",
	        "names from the outermost span down to the event, with ; between; GPU activity "
	        "stands under its launch" },
	{ "arg(event, key)", "an argument of an event, null when it has none" },
};
const size_t ht_sql_n_functions = HT_COUNT(ht_sql_functions);

static struct ht_sql_session *session_of(sqlite3_context *call)
{
	return *(struct ht_sql_session **)sqlite3_user_data(call);
}

static bool any_null(int n, sqlite3_value **values)
{
	for (int i = 0; i < n; i++)
		if (sqlite3_value_type(values[i]) == SQLITE_NULL)
			return true;
	return false;
}

/* ---- intervals ---- */

static void overlap_of_two(sqlite3_context *call, int n, sqlite3_value **values)
{
	if (any_null(n, values))
		return;
	int64_t start = sqlite3_value_int64(values[0]), end = sqlite3_value_int64(values[1]);
	int64_t start2 = sqlite3_value_int64(values[2]), end2 = sqlite3_value_int64(values[3]);
	start = start2 > start ? start2 : start;
	end = end2 < end ? end2 : end;
	sqlite3_result_int64(call, end > start ? ht_sub_sat(end, start) : 0);
}

/* Intervals of an aggregate: of the first kind, and of the second where there are two. */
struct gathered {
	struct ht_vec lists[2]; /* struct ht_interval */
	bool failed;
};

/* No time is beyond these, and what lies between two of them is still a number. */
static int64_t time_of(sqlite3_value *value)
{
	int64_t time = sqlite3_value_int64(value), most = HT_MAX_TIME_NS - 1;
	return time > most ? most : time < -most ? -most : time;
}

static void gather(sqlite3_context *call, struct gathered *g, int which, sqlite3_value **values)
{
	struct ht_mem *mem = session_of(call)->ctx->mem;
	struct ht_vec *list = &g->lists[which];
	struct ht_interval new = { time_of(values[0]), time_of(values[1]) };
	struct ht_interval *last = list->n ? (struct ht_interval *)list->data + list->n - 1 : NULL;
	if (new.end <= new.start)
		return;
	if (last && new.start >= last->start &&new.start <= last->end) {
		last->end = new.end > last->end ? new.end : last->end;
		return;
	}
	g->failed |= !HT_VEC_PUSH(mem, list, struct ht_interval, new);
	/* at once: there may be no end to what comes */
	if (g->failed)
		sqlite3_result_error_nomem(call);
}

static void union_step(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct gathered *g = sqlite3_aggregate_context(call, sizeof *g);
	if (g && !any_null(n, values))
		gather(call, g, 0, values);
	else if (!g)
		sqlite3_result_error_nomem(call);
}

static void overlap_step(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct gathered *g = sqlite3_aggregate_context(call, sizeof *g);
	if (g && !any_null(n, values))
		gather(call, g, sqlite3_value_int(values[2]) ? 0 : 1, values);
	else if (!g)
		sqlite3_result_error_nomem(call);
}

static void forget(sqlite3_context *call, struct gathered *g)
{
	for (size_t i = 0; i < HT_COUNT(g->lists); i++)
		ht_vec_free(session_of(call)->ctx->mem, &g->lists[i], sizeof(struct ht_interval));
}

static void union_final(sqlite3_context *call)
{
	struct gathered *g = sqlite3_aggregate_context(call, 0);
	if (!g) {
		sqlite3_result_int64(call, 0);
		return;
	}
	struct ht_interval *list = g->lists[0].data;
	size_t n = ht_interval_merge(session_of(call)->ctx->mem, list, g->lists[0].n);
	if (g->failed)
		sqlite3_result_error_nomem(call);
	else
		sqlite3_result_int64(call, ht_interval_length(list, n));
	forget(call, g);
}

static void overlap_final(sqlite3_context *call)
{
	struct gathered *g = sqlite3_aggregate_context(call, 0);
	if (!g) {
		sqlite3_result_int64(call, 0);
		return;
	}
	struct ht_interval *a = g->lists[0].data, *b = g->lists[1].data;
	size_t n_a = ht_interval_merge(session_of(call)->ctx->mem, a, g->lists[0].n);
	size_t n_b = ht_interval_merge(session_of(call)->ctx->mem, b, g->lists[1].n);
	if (g->failed)
		sqlite3_result_error_nomem(call);
	else
		sqlite3_result_int64(call, ht_interval_overlap(a, n_a, b, n_b));
	forget(call, g);
}

/* ---- texts ---- */

static void short_name(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct ht_arena arena;
	const char *name = (const char *)sqlite3_value_text(values[0]);
	(void)n;
	if (!name)
		return;
	ht_arena_init(&arena, session_of(call)->ctx->mem);
	const struct ht_run run = { .scratch = &arena, .policy = &ht_own_policy };
	const char *text = ht_name_shorten(&run, name);
	if (text)
		sqlite3_result_text(call, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_error_nomem(call);
	ht_arena_done(&arena);
}

static void human_ns(sqlite3_context *call, int n, sqlite3_value **values)
{
	char text[HT_FORMAT_BYTES];
	double value = sqlite3_value_double(values[0]);
	if (any_null(n, values) || !isfinite(value))
		return;
	ht_format_double(text, HT_DURATION_F64, value);
	sqlite3_result_text(call, text, -1, SQLITE_TRANSIENT);
}

/* ---- events ---- */

/* The event that a value names; false when there is none, or after an error of the call. */
static bool find_event(
        sqlite3_context *call, sqlite3_value *value, size_t *ret_rank, uint32_t *ret_row)
{
	struct ht_sql_session *s = session_of(call);
	bool found = false;
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return false;
	int code = ht_sql_find_event(s, sqlite3_value_int64(value), ret_rank, ret_row, &found);
	if (code != SQLITE_OK)
		sqlite3_result_error_code(call, code);
	return found;
}

/* Deeper than programs call: a file may nest as deep as it likes. */
#define MAX_DEPTH 1024

static void stack(sqlite3_context *call, int n, sqlite3_value **values)
{
	uint32_t rows[MAX_DEPTH], row;
	size_t i_rank, depth = 0;
	(void)n;
	if (!find_event(call, values[0], &i_rank, &row))
		return;
	const struct ht_trace *t = session_of(call)->ranks[i_rank].trace;
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	if (gpu && gpu->launch != HT_NONE) {
		rows[depth++] = row;
		row = gpu->launch;
	}
	for (; row != HT_NONE && depth < MAX_DEPTH; row = t->parent[row])
		rows[depth++] = row;
	sqlite3_str *text = sqlite3_str_new(NULL);
	if (row != HT_NONE)
		sqlite3_str_appendall(text, "…;");
	while (depth--) {
		const char *name = ht_str(t, t->name[rows[depth]]);
		sqlite3_str_appendall(text, name);
		if (depth)
			sqlite3_str_appendchar(text, 1, ';');
	}
	char *whole = sqlite3_str_finish(text);
	if (whole)
		sqlite3_result_text(call, whole, -1, sqlite3_free);
	else
		sqlite3_result_text(call, "", 0, SQLITE_STATIC);
}

static void arg(sqlite3_context *call, int n, sqlite3_value **values)
{
	size_t i_rank;
	uint32_t row;
	const char *key = (const char *)sqlite3_value_text(values[1]);
	(void)n;
	if (!key || !find_event(call, values[0], &i_rank, &row))
		return;
	const struct ht_trace *t = session_of(call)->ranks[i_rank].trace;
	uint32_t id = ht_str_find(t, key);
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		if (column->key != id || column->top_level)
			continue;
		uint64_t at = ht_arg_position(t, column, row);
		if (at != UINT64_MAX) {
			ht_sql_result_argument(call, t, column, at);
			return;
		}
	}
}

/* A pattern, compiled for the texts that came. */
struct patterns {
	regex_t regex[2]; /* for short texts, for long ones */
	bool is_made[2];
};

static void free_patterns(void *user)
{
	struct patterns *made = user;
	for (size_t i = 0; i < HT_COUNT(made->regex); i++)
		if (made->is_made[i])
			regfree(&made->regex[i]);
	sqlite3_free(made);
}

/* False after what is wrong with it has been said. */
static bool compile(sqlite3_context *call, struct patterns *made, const char *pattern, bool is_long)
{
	char why[HT_PATTERN_WHY];
	if (made->is_made[is_long])
		return true;
	enum ht_status status = is_long ? ht_pattern_compile_long(pattern, &made->regex[1], why)
	                                : ht_pattern_compile(pattern, &made->regex[0], why);
	made->is_made[is_long] = status == HT_OK;
	if (status == HT_OK)
		return true;
	char *message = sqlite3_mprintf("the pattern '%.200s': %s", pattern, why);
	sqlite3_result_error(call, message ? message : why, -1);
	sqlite3_free(message);
	return false;
}

/* The compiled pattern stays with the statement. */
static void match(sqlite3_context *call, int n, sqlite3_value **values)
{
	const char *pattern = (const char *)sqlite3_value_text(values[0]);
	const char *text = (const char *)sqlite3_value_text(values[1]);
	struct patterns *made = sqlite3_get_auxdata(call, 0);
	bool is_new = !made;
	(void)n;
	if (!pattern || !text)
		return;
	bool is_long = sqlite3_value_bytes(values[1]) > HT_PATTERN_LONG;
	if (is_new)
		made = sqlite3_malloc(sizeof *made);
	if (!made) {
		sqlite3_result_error_nomem(call);
		return;
	}
	if (is_new)
		*made = (struct patterns){ .is_made = { false } };
	if (compile(call, made, pattern, is_long))
		sqlite3_result_int(call, !regexec(&made->regex[is_long], text, 0, NULL, 0));
	if (is_new)
		sqlite3_set_auxdata(call, 0, made, free_patterns);
}

int ht_sql_register_functions(sqlite3 *db, struct ht_sql_session **session)
{
	static const struct {
		const char *name;
		int n;
		void (*call)(sqlite3_context *, int, sqlite3_value **);
		void (*step)(sqlite3_context *, int, sqlite3_value **);
		void (*final)(sqlite3_context *);
	} list[] = {
		{ "overlap_ns", 4, overlap_of_two, NULL, NULL },
		{ "overlap_ns", 3, NULL, overlap_step, overlap_final },
		{ "union_ns", 2, NULL, union_step, union_final },
		{ "short_name", 1, short_name, NULL, NULL },
		{ "human_ns", 1, human_ns, NULL, NULL },
		{ "stack", 1, stack, NULL, NULL },
		{ "arg", 2, arg, NULL, NULL },
		{ "regexp", 2, match, NULL, NULL },
	};
	int code = ht_sql_register_statistics(db, session);
	for (size_t i = 0; i < HT_COUNT(list) && code == SQLITE_OK; i++)
		code = sqlite3_create_function(db, list[i].name, list[i].n,
		        SQLITE_UTF8 | SQLITE_DETERMINISTIC, session, list[i].call, list[i].step,
		        list[i].final);
	return code;
}

#endif
