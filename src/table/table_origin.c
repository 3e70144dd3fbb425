/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_origin.c - see table_origin.h.
 */
#include "table/table_origin.h"

#include "table/storage.h"

#include <string.h>

/* The table's own, NULL for NULL; what there is no memory for is remembered. */
static const char *keep(ht_table *table, const char *text, bool *ok)
{
	const char *copy = text && *ok ? ht_table_copy_text(table, text, strlen(text)) : NULL;
	*ok &= !text || copy;
	return copy;
}

static void *room(ht_table *table, size_t n, size_t size, bool *ok)
{
	void *list = *ok ? ht_arena_alloc(&table->arena, (n + 1) * size) : NULL;
	*ok &= list != NULL;
	return list;
}

static void keep_params(ht_table *table, struct ht_table_origin *own, bool *ok)
{
	struct ht_arg *params = room(table, own->n_params, sizeof *params, ok);
	for (size_t i = 0; *ok && i < own->n_params; i++)
		params[i] = (struct ht_arg){ keep(table, own->params[i].name, ok),
			keep(table, own->params[i].value, ok) };
	own->params = params;
}

static void keep_sides(ht_table *table, struct ht_table_origin *own, bool *ok)
{
	struct ht_table_origin_side *sides = room(table, own->n_sides, sizeof *sides, ok);
	for (size_t i = 0; *ok && i < own->n_sides; i++) {
		const struct ht_table_origin_side *from = &own->sides[i];
		int64_t *ranks = room(table, from->n_ranks, sizeof *ranks, ok);
		if (*ok && from->n_ranks)
			memcpy(ranks, from->ranks, from->n_ranks * sizeof *ranks);
		sides[i] = (struct ht_table_origin_side){ keep(table, from->steps, ok), ranks,
			from->n_ranks };
	}
	own->sides = sides;
}

static void keep_inputs(ht_table *table, struct ht_table_origin *own, bool *ok)
{
	struct ht_table_origin_input *inputs = room(table, own->n_inputs, sizeof *inputs, ok);
	for (size_t i = 0; *ok && i < own->n_inputs; i++) {
		inputs[i] = own->inputs[i];
		inputs[i].path = keep(table, own->inputs[i].path, ok);
	}
	own->inputs = inputs;
}

enum ht_status ht_table_set_origin(ht_table *table, const struct ht_table_origin *origin)
{
	bool ok = true;
	struct ht_table_origin *own = room(table, 0, sizeof *own, &ok);
	if (!ok)
		return ht_table_fail(table, HT_NOMEM);
	*own = *origin;
	own->verb = keep(table, origin->verb, &ok);
	keep_params(table, own, &ok);
	keep_sides(table, own, &ok);
	keep_inputs(table, own, &ok);
	if (!ok)
		return ht_table_fail(table, HT_NOMEM);
	table->origin = own;
	return HT_OK;
}
