/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - see run.h.
 */
#include "model/run.h"

#include "base/list.h"
#include "base/literal.h"

#include <string.h>

/* Where the text of a parameter is; NULL: there is no such parameter. */
static const char **find_value(const struct ht_run *run, const char *param)
{
	for (size_t i = 0; i < run->n_params; i++)
		if (!strcmp(run->params[i].name, param))
			return &run->values[i];
	return NULL;
}

static const char *value_of(const struct ht_run *run, const char *param)
{
	const char **value = find_value(run, param);
	return value ? *value : NULL;
}

void ht_run_set(struct ht_run *run, const char *param, const char *value)
{
	const char **found = find_value(run, param);
	if (found)
		*found = value;
}

int64_t ht_run_i64(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	int64_t value = 0;
	return text && ht_parse_i64(text, &value) ? value : 0;
}

double ht_run_f64(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	double value = 0;
	return text && ht_parse_ratio(text, &value) ? value : 0;
}

bool ht_run_bool(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	bool value = false;
	return text && ht_parse_bool(text, &value) && value;
}

const char *ht_run_str(const struct ht_run *run, const char *param)
{
	return value_of(run, param);
}

bool ht_run_is(const struct ht_run *run, const char *param, const char *value)
{
	const char *text = value_of(run, param);
	return text && !strcmp(text, value);
}

int64_t ht_run_duration_ns(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	int64_t value = 0;
	return text && ht_parse_duration(text, &value) ? value : 0;
}
