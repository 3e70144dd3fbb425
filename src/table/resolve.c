/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - see resolve.h.
 */
#include "table/resolve.h"

#include "table/storage.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <string.h>

/* The column that was probably meant, or NULL. */
static const char *nearest(const ht_table *table, const char *name)
{
	const char *best = NULL;
	size_t best_distance = 1 + strlen(name) / 3;
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const char *candidate = ht_cells_at(table, c)->meta.name;
		size_t distance =
		        ht_edit_distance(name, strlen(name), candidate, strlen(candidate));
		if (distance > 1 && strlen(name) > 2 && strstr(candidate, name))
			distance = 1;
		if (distance > best_distance || (best && distance == best_distance))
			continue;
		best = candidate;
		best_distance = distance;
	}
	return best;
}

enum ht_status ht_table_fail_column(ht_ctx *ctx, const ht_table *table, const char *name)
{
	char list[800] = "", hint[128];
	size_t used = 0;
	for (size_t c = 0; c < ht_n_columns(table) && used < sizeof list; c++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", c ? ", " : "",
		        ht_cells_at(table, c)->meta.name);
	const char *near = nearest(table, name);
	if (near)
		snprintf(hint, sizeof hint, "did you mean %s?", near);
	return ht_fail(ctx, HT_USAGE, NULL, -1, near ? hint : NULL,
	        "unknown column \"%.100s\"; columns are %s", name, list);
}

enum ht_status ht_table_resolve(
        ht_ctx *ctx, const ht_table *table, const char *name, size_t *ret_column)
{
	size_t found = ht_table_find_column(table, name), n_labels = 0;
	for (size_t c = 0; found == SIZE_MAX && c < ht_n_columns(table); c++)
		n_labels += !strcmp(ht_cells_at(table, c)->label, name);
	for (size_t c = 0; n_labels == 1 && c < ht_n_columns(table); c++)
		if (!strcmp(ht_cells_at(table, c)->label, name))
			found = c;
	if (found == SIZE_MAX)
		return ht_table_fail_column(ctx, table, name);
	*ret_column = found;
	return HT_OK;
}
