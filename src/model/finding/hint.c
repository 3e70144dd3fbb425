/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.c - see hint.h.
 */
#include "model/finding/hint.h"
#include "model/finding/finding.h"
#include "store/event.h"
#include "table/shorten.h"

#include <stdio.h>
#include <string.h>

#define NAME_CELLS 60

double ht_hint_total(const ht_table *table, const char *column)
{
	double sum = 0;
	size_t at = ht_table_find_column(table, column);
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, at))
			sum += (double)ht_table_i64(table, row, at);
	return sum;
}

double ht_hint_total_of(
        const ht_table *table, const char *column, const char *key, const char *text)
{
	double sum = 0;
	size_t at = ht_table_find_column(table, column), at_key = ht_table_find_column(table, key);
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, at) && !ht_table_is_null(table, row, at_key) &&
		        !strcmp(ht_table_str(table, row, at_key), text))
			sum += (double)ht_table_i64(table, row, at);
	return sum;
}

const char *ht_hint_name(struct ht_arena *arena, const char *name)
{
	size_t n = strlen(name);
	char *text = ht_arena_alloc(arena, n + 5);
	if (text)
		text[ht_shorten(name, n, NAME_CELLS, text)] = '\0';
	return text;
}

struct ht_share_text ht_share_text(double share)
{
	struct ht_share_text said;
	bool is_most = share < 1 && share >= 0.995, is_hardly = share > 0 && share < 0.005;
	snprintf(said.text, sizeof said.text, "%s%.0f %%",
	        is_most     ? "more than "
	        : is_hardly ? "less than "
	                    : "",
	        is_most     ? 99
	        : is_hardly ? 1
	                    : 100 * share);
	return said;
}

enum ht_status ht_hint_largest(struct ht_arena *arena, ht_table *table, const char *column,
        const char *key, const char *of, const struct ht_hint *hints, size_t n_hints)
{
	double total = ht_hint_total(table, column), largest = 0;
	const struct ht_hint *hint = NULL;
	for (size_t i = 0; i < n_hints; i++) {
		double sum = ht_hint_total_of(table, column, key, hints[i].text);
		if (sum > largest) {
			largest = sum;
			hint = &hints[i];
		}
	}
	if (!hint || !(largest > HT_WORTH_A_HINT * total))
		return HT_OK;
	struct ht_finding f = ht_finding("largest-part", HT_STATE_FOUND);
	ht_finding_subject(&f, "cause", hint->is);
	ht_finding_share(&f, largest / total, of, HT_NO_I64);
	ht_finding_next(&f, hint->next);
	return ht_finding_note(arena, &f, table);
}
