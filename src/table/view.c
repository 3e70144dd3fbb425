/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - where, sort, top and columns, once for all tables; see table.h.
 */
#include "base/glob.h"
#include "base/mem.h"
#include "base/options.h"
#include "table/filter.h"
#include "table/order.h"
#include "table/table_origin.h"
#include "table/resolve.h"
#include "table/storage.h"
#include "table/table.h"

#include <stdio.h>
#include <string.h>

#define MAX_SORT_KEYS 16

/* The next name of a comma-separated list, without blanks around it; NULL at the end. *at moves on.
 * Out of memory sets *ret_nomem. */
static char *next_name(struct ht_arena *arena, const char **at, bool *ret_nomem)
{
	while (**at) {
		size_t n = strcspn(*at, ",");
		const char *start = *at, *end = start + n;
		*at = *end ? end + 1 : end;
		start += strspn(start, " \t");
		while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		if (end <= start)
			continue;
		char *name = ht_arena_strndup(arena, start, (size_t)(end - start));
		*ret_nomem = !name;
		return name;
	}
	return NULL;
}

/* The columns chosen, in order and once each; chosen holds as many as the table has. */
static enum ht_status choose_columns(ht_ctx *ctx, const ht_table *table, const char *list,
        struct ht_arena *arena, size_t *chosen, size_t *ret_n)
{
	size_t n = 0, n_columns = ht_n_columns(table);
	bool nomem = false, *taken = ht_arena_alloc(arena, n_columns + 1);
	const char *name;
	if (!taken)
		return ht_fail_nomem(ctx);
	while ((name = next_name(arena, &list, &nomem))) {
		size_t first = 0, n_matches = 0;
		bool is_glob = strpbrk(name, "*?") && ht_table_find_column(table, name) == SIZE_MAX;
		if (!is_glob)
			HT_TRY(ht_table_resolve(ctx, table, name, &first));
		for (size_t c = first; c < (is_glob ? n_columns : first + 1); c++) {
			if (is_glob && !ht_glob_matches(name, ht_cells_at(table, c)->meta.name))
				continue;
			n_matches++;
			if (!taken[c])
				chosen[n++] = c;
			taken[c] = true;
		}
		if (!n_matches)
			return ht_table_fail_column(ctx, table, name);
	}
	if (nomem)
		return ht_fail_nomem(ctx);
	if (!n)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "empty list of columns");
	*ret_n = n;
	return HT_OK;
}

static enum ht_status apply_columns(
        ht_ctx *ctx, ht_table *table, const char *list, struct ht_arena *arena)
{
	size_t n_columns = ht_n_columns(table), n = 0;
	size_t *chosen = ht_arena_alloc(arena, (n_columns + 1) * sizeof *chosen);
	struct ht_cells *old = ht_arena_alloc(arena, (n_columns + 1) * sizeof *old);
	if (!chosen || !old)
		return ht_fail_nomem(ctx);
	HT_TRY(choose_columns(ctx, table, list, arena, chosen, &n));
	memcpy(old, table->columns.data, n_columns * sizeof *old);
	size_t bar = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		*ht_cells_at(table, i) = old[chosen[i]];
		ht_cells_at(table, i)->is_asked_for = true;
		if (chosen[i] == table->bar)
			bar = i;
		old[chosen[i]].any = NULL;
		old[chosen[i]].valid = NULL;
	}
	for (size_t c = 0; c < n_columns; c++) {
		ht_mem_free(table->mem, old[c].any, old[c].cap * ht_cell_bytes(old[c].meta.type));
		ht_mem_free(table->mem, old[c].valid, old[c].valid_cap);
	}
	table->columns.n = n;
	table->cursor = n;
	table->bar = bar;
	return HT_OK;
}

static enum ht_status sort_rows(ht_ctx *ctx, const ht_table *table, const char *list,
        struct ht_arena *arena, uint32_t *rows, size_t n)
{
	size_t columns[MAX_SORT_KEYS], n_keys = 0;
	bool descending[MAX_SORT_KEYS], nomem = false;
	const char *name;
	while ((name = next_name(arena, &list, &nomem))) {
		if (n_keys == MAX_SORT_KEYS)
			return ht_fail(ctx, HT_LIMIT, NULL, -1, NULL,
			        "limit of %d sort columns reached", MAX_SORT_KEYS);
		descending[n_keys] = *name == '-';
		name += *name == '-' || *name == '+';
		HT_TRY(ht_table_resolve(ctx, table, name, &columns[n_keys++]));
	}
	if (nomem)
		return ht_fail_nomem(ctx);
	while (n_keys--)
		HT_TRY(ht_order_rows(ctx, table, columns[n_keys], descending[n_keys], rows, n));
	return HT_OK;
}

static enum ht_status apply_rows(ht_ctx *ctx, ht_table *table, const struct ht_view *view,
        struct ht_arena *arena, uint32_t *rows)
{
	size_t n = table->n_rows;
	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)i;
	if (view->where && view->where[strspn(view->where, " \t\r\n")]) {
		struct ht_where *tree;
		HT_TRY(ht_where_parse(ctx, view->where, arena, &tree));
		HT_TRY(ht_filter_rows(ctx, table, tree, arena, rows, &n));
	}
	if (view->sort)
		HT_TRY(sort_rows(ctx, table, view->sort, arena, rows, n));
	size_t first = view->offset < n ? (size_t)view->offset : n;
	size_t n_kept = view->top && view->top < n - first ? (size_t)view->top : n - first;
	bool ascending = !view->sort;
	if (!ascending || n_kept < table->n_rows)
		HT_TRY(ht_table_keep_rows(ctx, table, rows + first, n_kept, ascending));
	table->n_hidden += n - n_kept;
	return HT_OK;
}

enum ht_status ht_table_apply_view(ht_ctx *ctx, ht_table *table, const struct ht_view *view)
{
	if (!view)
		return HT_OK;
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = HT_OK;
	/* A table in the making ends here; a row that is not whole fails it. */
	if (table->building)
		status = ht_table_finish(ctx, table);
	if (status == HT_OK && (view->where || view->sort || view->top || view->offset)) {
		size_t n_bytes = (table->n_rows + 1) * sizeof(uint32_t);
		uint32_t *rows = ht_mem_alloc(ctx->mem, n_bytes);
		status = rows ? apply_rows(ctx, table, view, &arena, rows) : ht_fail_nomem(ctx);
		ht_mem_free(ctx->mem, rows, n_bytes);
	}
	if (status == HT_OK && view->columns)
		status = apply_columns(ctx, table, view->columns, &arena);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_table_sort(ht_ctx *ctx, ht_table *table, const char *sort)
{
	struct ht_view view = { .struct_size = sizeof view, .sort = sort };
	return ht_table_apply_view(ctx, table, &view);
}

/* Headings may be in other words than names. */
static enum ht_status copy_labels(ht_table *copy, const ht_table *table)
{
	for (size_t c = 0; c < ht_n_columns(copy); c++) {
		const char *label = ht_cells_at(table, c)->label;
		label = ht_table_copy_text(copy, label, strlen(label));
		if (!label)
			return ht_table_fail(copy, HT_NOMEM);
		ht_cells_at(copy, c)->label = label;
	}
	return HT_OK;
}

enum ht_status ht_table_view(
        ht_ctx *ctx, const ht_table *table, const struct ht_view *view, ht_table **ret_table)
{
	ht_table *copy = NULL;
	struct ht_view taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, view, &taken));
	HT_TRY(ht_table_new(ctx, table->title, NULL, 0, &copy));
	enum ht_status status = ht_table_append(copy, table, NULL);
	if (status == HT_OK)
		status = copy_labels(copy, table);
	if (status == HT_OK)
		status = ht_table_set_method(copy, table->method);
	if (status == HT_OK)
		status = ht_table_finish(ctx, copy);
	copy->bar = table->bar;
	copy->n_hidden = table->n_hidden;
	copy->check_failed = table->check_failed;
	if (status == HT_OK && table->origin)
		status = ht_table_set_origin(copy, table->origin);
	if (status == HT_OK)
		status = ht_table_apply_view(ctx, copy, &taken);
	if (status != HT_OK) {
		ht_table_free(copy);
		return status;
	}
	*ret_table = copy;
	return HT_OK;
}

/* Names collected so far, in the caller's arena. */
struct names {
	struct ht_arena *arena;
	struct ht_vec list; /* const char *, from the context's memory until copied */
	struct ht_mem *mem;
};

static bool add_name(struct names *names, const char *name)
{
	const char **list = names->list.data;
	for (size_t i = 0; i < names->list.n; i++)
		if (!strcmp(list[i], name))
			return true;
	return HT_VEC_PUSH(names->mem, &names->list, const char *, name);
}

static bool add_list(struct names *names, const char *list, bool signs)
{
	bool nomem = false;
	const char *name;
	while (list && (name = next_name(names->arena, &list, &nomem)))
		if (!add_name(names, name + (signs && (*name == '-' || *name == '+'))))
			return false;
	return !nomem;
}

static bool add_tree(struct names *names, const struct ht_where *node)
{
	return (!node->left || add_tree(names, node->left)) &&
	       (!node->right || add_tree(names, node->right)) &&
	       (!node->column || add_name(names, node->column));
}

static enum ht_status collect_names(ht_ctx *ctx, const struct ht_view *view, struct names *names,
        const char *const **ret_names, size_t *ret_n)
{
	struct ht_where *tree = NULL;
	if (view && view->where && view->where[strspn(view->where, " \t\r\n")])
		HT_TRY(ht_where_parse(ctx, view->where, names->arena, &tree));
	if (view && (!add_list(names, view->columns, false) || (tree && !add_tree(names, tree)) ||
	                    !add_list(names, view->sort, true)))
		return ht_fail_nomem(ctx);
	size_t n_bytes = names->list.n * sizeof(const char *);
	const char **list = ht_arena_alloc(names->arena, n_bytes + 1);
	if (!list)
		return ht_fail_nomem(ctx);
	if (n_bytes)
		memcpy(list, names->list.data, n_bytes);
	*ret_names = list;
	*ret_n = names->list.n;
	return HT_OK;
}

enum ht_status ht_view_columns(ht_ctx *ctx, const struct ht_view *view, struct ht_arena *arena,
        const char *const **ret_names, size_t *ret_n)
{
	struct names names = { .arena = arena, .mem = ctx->mem };
	enum ht_status status = collect_names(ctx, view, &names, ret_names, ret_n);
	ht_vec_free(ctx->mem, &names.list, sizeof(const char *));
	return status;
}
