/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_lines.c - see work_lines.h.
 */
#include "model/compare/work_lines.h"

#include "base/search.h"
#include "base/sort.h"
#include "model/calls/row_owners.h"
#include "model/origin/find_origins.h"
#include "store/columns.h"

#include <string.h>

const struct ht_column ht_work_line_columns[] = HT_COLUMN_ENTRIES(HT_WORK_LINE_COLUMNS);

/* An activity, or all of a name and line. */
struct launched {
	uint32_t id; /* of the name */
	const char *name, *source;
	int64_t ns;
};

static int by_name_and_line(const void *left, const void *right)
{
	const struct launched *a = left, *b = right;
	return a->id != b->id           ? (a->id > b->id) - (a->id < b->id)
	       : a->source == b->source ? 0
	                                : strcmp(a->source, b->source);
}

static int by_name(const void *left, const void *right)
{
	const struct launched *a = left, *b = right;
	return strcmp(a->name, b->name);
}

/* Adds up what has the same name and line; answers how many are left. */
static size_t join(struct launched *list, size_t n)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct launched *last = n_kept ? &list[n_kept - 1] : NULL;
		if (last && !by_name_and_line(last, &list[i]))
			last->ns += list[i].ns;
		else
			list[n_kept++] = list[i];
	}
	return n_kept;
}

/* Of each name the line with the most; answers how many names there are. */
static size_t keep_largest(struct launched *list, size_t n)
{
	size_t n_kept = 0;
	for (size_t i = 0, end; i < n; i = end) {
		struct launched most = list[i];
		for (end = i; end < n && list[end].id == list[i].id; end++)
			if (list[end].ns > most.ns)
				most = list[end];
		list[n_kept++] = most;
	}
	return n_kept;
}

/* Lines of forward operators, with what they are put behind: there are few, and work of each by the thousand. */
struct forwards {
	struct ht_attribution attribution;
	const struct ht_origins *origins;
	const char *last, *text; /* the line looked up last, and the text made of it */
};

/* NULL: not known, or no memory. */
static const char *find_forward(struct ht_run *run, struct forwards *f, uint32_t row)
{
	const char *line = ht_forward_line(&f->attribution, f->origins->lines, row);
	if (line && line != f->last) {
		f->last = line;
		f->text = ht_arena_printf(run->scratch, HT_BACKWARD_OF "%s", line);
	}
	return line ? f->text : NULL;
}

enum ht_status ht_work_lines_put(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	struct ht_origins origins;
	struct forwards forwards = { .origins = &origins };
	size_t n = 0;
	HT_TRY(ht_origins_make(run, false, &origins));
	HT_TRY(ht_attribution_make(
	        run, t, origins.lines ? HT_ATTRIBUTE_FORWARD : 0, &forwards.attribution));
	struct launched *list = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		struct ht_origin origin;
		if (t->gpu[i].class_ == HT_CLASS_COMM)
			continue;
		ht_origin_get(&origins, i, &origin);
		if (!origin.source)
			origin.source = find_forward(run, &forwards, t->gpu[i].row);
		if (origin.source)
			list[n++] = (struct launched){ t->name[t->gpu[i].row], NULL, origin.source,
				t->dur_ns[t->gpu[i].row] };
	}
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_name_and_line);
	n = keep_largest(list, join(list, n));
	for (size_t i = 0; i < n; i++)
		list[i].name = ht_str(t, list[i].id);
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_name);
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_str(table, HT_WORK_LINE_NAME, list[i].name);
		ht_table_put_str(table, HT_WORK_LINE_SOURCE, list[i].source);
	}
	return HT_OK;
}

const char *ht_work_line_find(const ht_table *lines, const char *name)
{
	size_t n = ht_table_n_rows(lines);
	size_t at =
	        HT_LOWER_BOUND(i, n, strcmp(ht_table_str(lines, i, HT_WORK_LINE_NAME), name) < 0);
	return at < n && !strcmp(ht_table_str(lines, at, HT_WORK_LINE_NAME), name)
	               ? ht_table_str(lines, at, HT_WORK_LINE_SOURCE)
	               : NULL;
}
