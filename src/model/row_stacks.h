/*
 * row_stacks.h - rows that are called in the same way: one number per chain of names from the outermost row in.
 *
 *     train.py(9): step ; nn.Module: Net_0 ; aten::linear      each is a stack; its parent is the one without the last
 *
 * Which rows make a level is the caller's choice. From an autograd thread a stack goes on to the thread that waits
 * for it (autograd.h), or ends at its top.
 */
#ifndef HT_MODEL_ROW_STACKS_H
#define HT_MODEL_ROW_STACKS_H

#include "base/intern.h"
#include "model/autograd.h"
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
/* Its names joined by ";", outermost or innermost first. Of a stack with more than HT_STACK_FRAMES names those
 * in the middle are left out. Memory in scratch, NULL when out of it. */
#define HT_STACK_FRAMES 256
const char *ht_stacks_text(const struct ht_stacks *stacks, uint32_t stack, bool innermost_first);

#endif
