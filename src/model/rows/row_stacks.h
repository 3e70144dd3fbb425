/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_stacks.h - rows that are called in the same way: one number per chain of names from the outermost row in.
 *
 *     train.py(9): step ; nn.Module: Net_0 ; aten::linear      each is a stack; its parent is the one without the last
 *
 * Which rows make a level is the caller's choice. From an autograd thread a stack goes on to the thread that waits
 * for it (autograd.h), or ends at its top.
 */
#ifndef HT_MODEL_ROWS_ROW_STACKS_H
#define HT_MODEL_ROWS_ROW_STACKS_H

#include "base/intern.h"
#include "model/rows/autograd.h"
#include "store/tree.h"

struct ht_stack {
	uint32_t parent; /* HT_NONE at the top */
	uint32_t name;   /* string id of the trace */
};

struct ht_stacks {
	struct ht_run *run;
	const struct ht_trace *trace;
	struct ht_pool nodes; /* struct ht_stack by number; parents before children */
	const uint32_t *of;   /* by row: the stack that it is, or is in; HT_NONE: none */
	struct ht_vec paths;  /* struct ht_stack_path by number */
	uint32_t deepest;     /* names of the longest */
	struct ht_vec room;   /* char: of the text asked for last */
};

/* How to spell a stack without going all the way up. */
struct ht_stack_path {
	uint32_t n;    /* names */
	uint32_t head; /* the stack of its first HT_STACK_HALF names, or itself */
};

/* autograd may be NULL. End it with done, also after a failure. */
enum ht_status ht_stacks_init(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_autograd *autograd, ht_tree_match *match, const void *user,
        struct ht_stacks *ret_stacks) HT_MUST_USE;
void ht_stacks_done(struct ht_stacks *stacks);
/* A stack with one more name inside; false when out of memory. */
bool ht_stacks_push(struct ht_stacks *stacks, uint32_t parent, uint32_t name, uint32_t *ret_stack);
static inline size_t ht_stacks_n(const struct ht_stacks *stacks)
{
	return stacks->nodes.texts.n;
}
struct ht_stack ht_stacks_at(const struct ht_stacks *stacks, uint32_t stack);
/* Its names, outermost or innermost first, with a text between; prefix marks are left out by bare (may be NULL).
 * Programs do not call deeper than HT_STACK_DEEP: in a file that does, all stacks together could be as long as its
 * square, so of more than 2 * HT_STACK_HALF names those in the middle are left out.
 * Alive until the next call; NULL when out of memory. */
#define HT_STACK_DEEP 1024
#define HT_STACK_HALF 8
struct ht_stack_spelling {
	const char *between;
	bool innermost_first;
	const char *(*bare)(const char *name);
};
const char *ht_stacks_text(
        struct ht_stacks *stacks, uint32_t stack, const struct ht_stack_spelling *spelling);

#endif
