/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_size.c - see group_size.h.
 */
#include "model/communication/group_size.h"

#include "store/side_table.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* The last three digits of a number; -1: it has fewer, or is none. */
static int suffix_of(const char *text, size_t n)
{
	int suffix = 0;
	for (size_t i = n < 3 ? n : n - 3; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		suffix = suffix * 10 + (text[i] - '0');
	}
	return n < 3 ? -1 : suffix;
}

static void note(struct ht_group_sizes *sizes, const char *group, int64_t number)
{
	int suffix = group ? suffix_of(group, strlen(group)) : -1;
	if (number < 0 || number >= INT32_MAX)
		return;
	if (number >= sizes->job)
		sizes->job = number + 1;
	if (suffix >= 0 && number >= sizes->of[suffix])
		sizes->of[suffix] = number + 1;
}

enum ht_status ht_group_sizes_make(struct ht_run *run, struct ht_group_sizes *ret_sizes)
{
	static const char *const keys[] = { "src_rank", "dst_rank" };
	const struct ht_trace *t = run->trace;
	const struct ht_side_table *matrix = ht_side_table_find(t, "communication_matrix");
	struct ht_group_sizes sizes = {
		.job = t->meta->world_size == HT_NO_I64 ? 0 : t->meta->world_size
	};
	if (matrix) {
		sizes.of = ht_arena_alloc(run->scratch, HT_GROUP_SUFFIXES * sizeof *sizes.of);
		if (!sizes.of)
			return ht_fail_nomem(run->ctx);
	}
	for (size_t k = 0; matrix && k < HT_COUNT(keys); k++) {
		const struct ht_side_column *column = ht_side_column_find(t, matrix, keys[k]);
		const struct ht_side_column *group = ht_side_column_find(t, matrix, "group");
		int64_t number;
		for (uint64_t row = 0; column && row < matrix->n_rows; row++)
			if (ht_side_i64(t, column, row, &number))
				note(&sizes, group ? ht_side_str(t, group, row) : NULL, number);
	}
	*ret_sizes = sizes;
	return HT_OK;
}

int64_t ht_group_size_of(const struct ht_group_sizes *sizes, const char *name)
{
	const char *digits = !strncmp(name, "hcom_", 5) ? strstr(name, "__") : NULL;
	size_t n = digits ? strspn(digits + 2, "0123456789") : 0;
	int suffix = n && digits[2 + n] == '_' ? suffix_of(digits + 2, n) : -1;
	/* a rank that used no link but its own knows of no other */
	if (sizes->of && suffix >= 0 && sizes->of[suffix] > 1)
		return sizes->of[suffix];
	return sizes->job > 1 ? sizes->job : HT_NO_I64;
}
