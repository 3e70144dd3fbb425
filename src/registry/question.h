/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.h - a question as text: which analysis, with which arguments, shown how.
 *
 * It decides parameters, ranks and steps again wherever it is read, so it can travel with parts, or be known before
 * the traces are.
 */
#ifndef HT_REGISTRY_QUESTION_H
#define HT_REGISTRY_QUESTION_H

#include "holotrace.h"

#include "base/arena.h"

struct ht_question {
	const char *name;
	const struct ht_arg *args;
	size_t n_args;
	struct ht_view view;
};

/* A copy of text in an arena: NULL stays NULL, false when out of memory. */
bool ht_text_copy(struct ht_arena *arena, const char *text, const char **ret_copy);
/* All of it copied to the arena; view may be NULL. False when out of memory. */
bool ht_question_copy(struct ht_arena *arena, const char *name, const struct ht_arg *args,
        size_t n_args, const struct ht_view *view, struct ht_question *ret_question);
/* A caller's query as ours; HT_USAGE when it names no analysis. */
enum ht_status ht_query_take(
        ht_ctx *ctx, const struct ht_query *query, struct ht_query *ret_query) HT_MUST_USE;
bool ht_question_same(const struct ht_question *a, const struct ht_question *b);

#endif
