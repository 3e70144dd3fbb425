/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.c - aggregates over numbers that SQLite does not have: median, percentile, stddev.
 *
 * As the tables of the analyses give them: between two values the percentile is interpolated, and the deviation is that
 * of a sample (n - 1). Values are kept until the end, in memory of the context; nulls and texts do not count.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/sql.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	struct ht_vec values; /* double */
	double percent;       /* of percentile, that of the first row */
	bool failed, mixed;
};

static struct ht_mem *mem_of(sqlite3_context *call)
{
	return (*(struct ht_sql_session **)sqlite3_user_data(call))->ctx->mem;
}

static struct sample *take(sqlite3_context *call, sqlite3_value *value)
{
	struct sample *sample = sqlite3_aggregate_context(call, sizeof *sample);
	int type = sqlite3_value_type(value);
	if (!sample)
		sqlite3_result_error_nomem(call);
	else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		sample->failed |= !HT_VEC_PUSH(
		        mem_of(call), &sample->values, double, sqlite3_value_double(value));
	/* at once: there may be no end to what comes */
	if (sample && sample->failed)
		sqlite3_result_error_nomem(call);
	return sample;
}

static void take_one(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct sample *sample = take(call, values[0]);
	(void)n;
	if (sample)
		sample->percent = 50;
}

static void take_percent(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct sample *sample = sqlite3_aggregate_context(call, sizeof *sample);
	double percent = sqlite3_value_double(values[1]);
	bool is_first = sample && !sample->values.n;
	(void)n;
	if (!sample) {
		sqlite3_result_error_nomem(call);
		return;
	}
	sample->mixed |= sqlite3_value_numeric_type(values[1]) == SQLITE_NULL ||
	                 !(percent >= 0 && percent <= 100) ||
	                 (!is_first && percent < sample->percent) ||
	                 (!is_first && percent > sample->percent);
	sample->percent = percent;
	(void)take(call, values[0]);
}

static void forget(sqlite3_context *call, struct sample *sample)
{
	ht_vec_free(mem_of(call), &sample->values, sizeof(double));
}

static void give_percentile(sqlite3_context *call)
{
	struct sample *sample = sqlite3_aggregate_context(call, 0);
	if (!sample)
		return;
	double *values = sample->values.data;
	size_t n = sample->values.n;
	if (sample->failed) {
		sqlite3_result_error_nomem(call);
	} else if (sample->mixed) {
		sqlite3_result_error(
		        call, "the second argument of percentile is one number from 0 to 100", -1);
	} else if (n) {
		qsort(values, n, sizeof *values, ht_compare_f64);
		double at = sample->percent / 100 * (double)(n - 1);
		size_t below = (size_t)at;
		double rest = at - (double)below;
		double high = below + 1 < n ? values[below + 1] : values[below];
		sqlite3_result_double(call, values[below] + rest * (high - values[below]));
	}
	forget(call, sample);
}

static void give_stddev(sqlite3_context *call)
{
	struct sample *sample = sqlite3_aggregate_context(call, 0);
	if (!sample)
		return;
	const double *values = sample->values.data;
	size_t n = sample->values.n;
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
	if (sample->failed)
		sqlite3_result_error_nomem(call);
	else if (n > 1)
		sqlite3_result_double(call, sqrt(squares / (double)(n - 1)));
	forget(call, sample);
}

int ht_sql_register_statistics(sqlite3 *db, struct ht_sql_session **session)
{
	static const struct {
		const char *name;
		int n;
		void (*step)(sqlite3_context *, int, sqlite3_value **);
		void (*final)(sqlite3_context *);
	} list[] = {
		{ "median", 1, take_one, give_percentile },
		{ "percentile", 2, take_percent, give_percentile },
		{ "stddev", 1, take_one, give_stddev },
	};
	int code = SQLITE_OK;
	for (size_t i = 0; i < HT_COUNT(list) && code == SQLITE_OK; i++)
		code = sqlite3_create_function(db, list[i].name, list[i].n,
		        SQLITE_UTF8 | SQLITE_DETERMINISTIC, session, NULL, list[i].step,
		        list[i].final);
	return code;
}

#endif
