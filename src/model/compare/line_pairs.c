/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_pairs.c - see line_pairs.h.
 */
#include "model/compare/line_pairs.h"

#include "base/search.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* "file(line): function" */
struct function {
	const char *text;
	size_t n_file;
	const char *name;
	long line;
	size_t side;
};

static bool parse(const char *text, size_t side, struct function *ret_function)
{
	const char *end = strstr(text, "): ");
	const char *open = end;
	while (open && open > text && *open != '(')
		open--;
	if (!end || *open != '(')
		return false;
	char *after;
	*ret_function = (struct function){ .text = text,
		.n_file = (size_t)(open - text),
		.name = end + 3,
		.line = strtol(open + 1, &after, 10),
		.side = side };
	return after == end;
}

static int by_function(const struct function *a, const struct function *b)
{
	if (a->n_file != b->n_file)
		return a->n_file < b->n_file ? -1 : 1;
	int file = memcmp(a->text, b->text, a->n_file);
	return file ? file : strcmp(a->name, b->name);
}

static int by_place(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int function = by_function(a, b);
	if (function)
		return function;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int by_control(const void *left, const void *right)
{
	const struct ht_line_pair *a = left, *b = right;
	return strcmp(a->control, b->control);
}

/* Each once: ranks of a side have the same. */
static size_t list_functions(const struct ht_parts *parts, size_t k, struct function *list)
{
	size_t n = 0, n_kept = 0;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *table = parts->list[i].facts[k];
		for (uint32_t at = 0; at < ht_table_n_texts(table); at++)
			n += parse(ht_table_text(table, at), parts->list[i].side, &list[n]);
	}
	qsort(list, n, sizeof *list, by_place);
	for (size_t i = 0; i < n; i++)
		if (!n_kept || by_place(&list[n_kept - 1], &list[i]))
			list[n_kept++] = list[i];
	return n_kept;
}

static void pair_group(const struct function *list, size_t n, struct ht_line_pairs *pairs)
{
	size_t n_control = 0;
	while (n_control < n && !list[n_control].side)
		n_control++;
	if (2 * n_control != n)
		return;
	for (size_t i = 0; i < n_control; i++)
		if (list[i].line != list[n_control + i].line)
			pairs->list[pairs->n++] =
			        (struct ht_line_pair){ list[i].text, list[n_control + i].text };
}

enum ht_status ht_line_pairs_make(
        struct ht_run *run, const struct ht_parts *parts, size_t k, struct ht_line_pairs *ret_pairs)
{
	size_t n = 0;
	for (size_t i = 0; i < parts->n; i++)
		n += ht_table_n_texts(parts->list[i].facts[k]);
	struct function *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	*ret_pairs = (struct ht_line_pairs){ .list = ht_arena_room(run->scratch,
		                                     (n + 1) * sizeof *ret_pairs->list) };
	if (!list || !ret_pairs->list)
		return ht_fail_nomem(run->ctx);
	n = list_functions(parts, k, list);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && !by_function(&list[first], &list[end]);)
			end++;
		pair_group(list + first, end - first, ret_pairs);
	}
	qsort(ret_pairs->list, ret_pairs->n, sizeof *ret_pairs->list, by_control);
	return HT_OK;
}

const char *ht_line_pairs_find(const struct ht_line_pairs *pairs, const char *text)
{
	size_t at = HT_LOWER_BOUND(i, pairs->n, strcmp(pairs->list[i].control, text) < 0);
	return at < pairs->n && !strcmp(pairs->list[at].control, text) ? pairs->list[at].test
	                                                               : text;
}
