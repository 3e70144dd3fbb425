/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.c - see question.h.
 */
#include "registry/question.h"

#include "base/options.h"
#include "base/text_compare.h"

#include <string.h>

bool ht_text_copy(struct ht_arena *arena, const char *text, const char **ret_copy)
{
	*ret_copy = text ? ht_arena_strndup(arena, text, strlen(text)) : NULL;
	return !text || *ret_copy;
}

enum ht_status ht_query_take(ht_ctx *ctx, const struct ht_query *query, struct ht_query *ret_query)
{
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_query, view, query, ret_query));
	return ret_query->name
	               ? HT_OK
	               : ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "the query names no analysis");
}

bool ht_question_copy(struct ht_arena *arena, const char *name, const struct ht_arg *args,
        size_t n_args, const struct ht_view *view, struct ht_question *ret_question)
{
	struct ht_arg *copies = ht_arena_alloc(arena, (n_args + 1) * sizeof *copies);
	struct ht_question q = { .args = copies, .n_args = n_args };
	bool ok = copies && ht_text_copy(arena, name, &q.name);
	for (size_t i = 0; ok && i < n_args; i++)
		ok = ht_text_copy(arena, args[i].name, &copies[i].name) &&
		     ht_text_copy(arena, args[i].value, &copies[i].value);
	if (view && ok)
		ok = ht_text_copy(arena, view->columns, &q.view.columns) &&
		     ht_text_copy(arena, view->where, &q.view.where) &&
		     ht_text_copy(arena, view->sort, &q.view.sort);
	q.view.top = view ? view->top : 0;
	q.view.offset = view ? view->offset : 0;
	*ret_question = q;
	return ok;
}

bool ht_question_same(const struct ht_question *a, const struct ht_question *b)
{
	bool same = ht_text_same(a->name, b->name) && a->n_args == b->n_args &&
	            ht_text_same(a->view.columns, b->view.columns) &&
	            ht_text_same(a->view.where, b->view.where) &&
	            ht_text_same(a->view.sort, b->view.sort) && a->view.top == b->view.top &&
	            a->view.offset == b->view.offset;
	for (size_t i = 0; same && i < a->n_args; i++)
		same = ht_text_same(a->args[i].name, b->args[i].name) &&
		       ht_text_same(a->args[i].value, b->args[i].value);
	return same;
}
