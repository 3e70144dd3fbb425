/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_values.c - see npu_values.h.
 */
#include "model/advice/npu_values.h"

#include "store/args.h"

#include <math.h>
#include <string.h>

struct ht_npu_values ht_npu_values_open(const struct ht_trace *t, const char *key)
{
	return (struct ht_npu_values){ t,
		{ ht_arg_find(t, key, HT_ARG_F64), ht_arg_find(t, key, HT_ARG_I64),
		        ht_arg_find(t, key, HT_ARG_STR) },
		{ 0 } };
}

bool ht_npu_values_any(const struct ht_npu_values *v)
{
	return v->columns[0] || v->columns[1] || v->columns[2];
}

/* Where the row's value is in the k-th column. */
static bool find_value(struct ht_npu_values *v, size_t k, uint32_t row, uint64_t *ret_at)
{
	const struct ht_arg_column *column = v->columns[k];
	if (!column)
		return false;
	while (v->at[k] < column->n && ht_arg_row(v->t, column, v->at[k]) < row)
		v->at[k]++;
	*ret_at = v->at[k];
	return v->at[k] < column->n && ht_arg_row(v->t, column, v->at[k]) == row;
}

double ht_npu_number(struct ht_npu_values *v, uint32_t row)
{
	uint64_t at;
	for (size_t k = 0; k < 2; k++)
		if (find_value(v, k, row, &at))
			return ht_arg_f64_at(v->t, v->columns[k], at);
	return NAN;
}

const char *ht_npu_text(struct ht_npu_values *v, uint32_t row)
{
	uint64_t at;
	if (!find_value(v, 2, row, &at))
		return "";
	const char *text = ht_str(v->t, (uint32_t)ht_arg_i64_at(v->t, v->columns[2], at));
	return strcmp(text, "N/A") != 0 ? text : "";
}
