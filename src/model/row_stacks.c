/*
 * row_stacks.c - see row_stacks.h.
 */
#include "model/row_stacks.h"

#include <stdio.h>
#include <string.h>

struct ht_stack ht_stacks_at(const struct ht_stacks *stacks, uint32_t stack)
{
	struct ht_stack node;
	memcpy(&node, ((const struct ht_text *)stacks->nodes.texts.data)[stack].bytes, sizeof node);
	return node;
}

bool ht_stacks_push(struct ht_stacks *stacks, uint32_t parent, uint32_t name, uint32_t *ret_stack)
{
	struct ht_stack node = { parent, name };
	struct ht_text added;
	if (!ht_pool_add(&stacks->nodes, (const char *)&node, sizeof node,
	            ht_hash(&node, sizeof node), &added))
		return false;
	*ret_stack = added.id;
	return true;
}

enum ht_status ht_stacks_init(struct ht_run *run, const struct ht_trace *t,
        const struct ht_autograd *autograd, ht_tree_match *match, const void *user,
        struct ht_stacks *ret_stacks)
{
	bool over_threads = autograd && autograd->callers;
	const uint32_t *parent = over_threads ? autograd->parent : t->parent;
	uint32_t *of = ht_arena_alloc(run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *of);
	*ret_stacks = (struct ht_stacks){ .run = run, .trace = t, .of = of };
	ht_pool_init(&ret_stacks->nodes, run->ctx->mem);
	if (!of)
		return ht_fail_nomem(run->ctx);
	memset(of, 0xff, (ht_n_events(t) + (size_t)1) * sizeof *of);
	/* threads that wait come before those that they wait for */
	for (int late = 0, n_passes = over_threads ? 2 : 1; late < n_passes; late++)
		for (size_t i = 0; i < t->n_track_rows; i++) {
			uint32_t row = t->track_rows[i], up = parent[row];
			if (over_threads && (autograd->callers[row] != HT_NONE) != late)
				continue;
			of[row] = up == HT_NONE ? HT_NONE : of[up];
			if (ht_is_span(t, row) && match(t, row, user) &&
			        !ht_stacks_push(ret_stacks, of[row], t->name[row], &of[row]))
				return ht_fail_nomem(run->ctx);
		}
	return HT_OK;
}

void ht_stacks_done(struct ht_stacks *stacks)
{
	ht_pool_done(&stacks->nodes);
}

/* A name without what separates names in a folded line. */
static size_t copy_name(char *to, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = name[i] == ';' || name[i] == '\n' || name[i] == '\r' ? ' ' : name[i];
	return n;
}

/* The names to spell, innermost first; of a long chain the ends. Returns their number. */
static size_t choose_frames(const struct ht_stacks *stacks, uint32_t stack, uint32_t *names)
{
	const size_t half = HT_STACK_FRAMES / 2;
	size_t n = 0, n_all = 0, k = 0;
	for (uint32_t at = stack; at != HT_NONE; at = ht_stacks_at(stacks, at).parent)
		n_all++;
	for (uint32_t at = stack; at != HT_NONE; at = ht_stacks_at(stacks, at).parent, k++)
		if (n_all <= HT_STACK_FRAMES || k < half || k >= n_all - half)
			names[n++] = ht_stacks_at(stacks, at).name;
	return n;
}

const char *ht_stacks_text(const struct ht_stacks *stacks, uint32_t stack, bool innermost_first)
{
	const struct ht_trace *t = stacks->trace;
	uint32_t names[HT_STACK_FRAMES];
	size_t n = choose_frames(stacks, stack, names), n_bytes = 1, at = 0;
	for (size_t i = 0; i < n; i++)
		n_bytes += ht_str_len(t, names[i]) + 1;
	char *text = ht_arena_alloc(stacks->run->scratch, n_bytes);
	for (size_t i = 0; text && i < n; i++) {
		uint32_t name = names[innermost_first ? i : n - 1 - i];
		if (i)
			text[at++] = ';';
		at += copy_name(text + at, ht_str(t, name), ht_str_len(t, name));
	}
	return text;
}
