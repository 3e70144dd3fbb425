/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_stacks.c - see row_stacks.h.
 */
#include "model/rows/row_stacks.h"

#include "store/columns.h"

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
	if (added.id < stacks->paths.n)
		return true;
	const struct ht_stack_path *paths = stacks->paths.data;
	struct ht_stack_path path = { 1, added.id };
	if (parent != HT_NONE) {
		path.n = paths[parent].n + 1;
		path.head = path.n <= HT_STACK_HALF ? added.id : paths[parent].head;
	}
	if (path.n > stacks->deepest)
		stacks->deepest = path.n;
	return HT_VEC_PUSH(stacks->run->ctx->mem, &stacks->paths, struct ht_stack_path, path);
}

enum ht_status ht_stacks_init(struct ht_run *run, const struct ht_trace *t,
        const struct ht_autograd *autograd, ht_tree_match *match, const void *user,
        struct ht_stacks *ret_stacks)
{
	bool over_threads = autograd && autograd->callers;
	const uint32_t *parent = over_threads ? autograd->parent : t->parent;
	uint32_t *of = ht_arena_room(run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *of);
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
	if (!stacks->run)
		return;
	ht_vec_free(stacks->run->ctx->mem, &stacks->paths, sizeof(struct ht_stack_path));
	ht_vec_free(stacks->run->ctx->mem, &stacks->room, 1);
}

/* The names to spell, outermost first; the number of those left out before the last HT_STACK_HALF. */
static size_t choose_names(
        const struct ht_stacks *stacks, uint32_t stack, const char **names, size_t *ret_n_left_out)
{
	const struct ht_stack_path *path = (const struct ht_stack_path *)stacks->paths.data + stack;
	bool cut = stacks->deepest > HT_STACK_DEEP && path->n > 2 * HT_STACK_HALF;
	size_t n = cut ? 2 * HT_STACK_HALF : path->n, i = n;
	uint32_t at = stack;
	while (i > (cut ? HT_STACK_HALF : 0)) {
		struct ht_stack node = ht_stacks_at(stacks, at);
		names[--i] = ht_str(stacks->trace, node.name);
		at = node.parent;
	}
	for (at = path->head; i > 0;) {
		struct ht_stack node = ht_stacks_at(stacks, at);
		names[--i] = ht_str(stacks->trace, node.name);
		at = node.parent;
	}
	*ret_n_left_out = path->n - n;
	return n;
}

/* A name without what would look like the end of it; returns where it ends. */
static char *put_name(char *to, const char *name, char between)
{
	for (; *name; name++)
		*to++ = *name == between || *name == '\n' || *name == '\r' ? ' ' : *name;
	return to;
}

const char *ht_stacks_text(
        struct ht_stacks *stacks, uint32_t stack, const struct ht_stack_spelling *spelling)
{
	const char *names[HT_STACK_DEEP > 2 * HT_STACK_HALF ? HT_STACK_DEEP : 2 * HT_STACK_HALF];
	char middle[40];
	size_t n_left_out, n_between = strlen(spelling->between);
	size_t n = choose_names(stacks, stack, names, &n_left_out);
	size_t n_bytes = sizeof middle + n_between + 1;
	for (size_t i = 0; i < n; i++) {
		if (spelling->bare)
			names[i] = spelling->bare(names[i]);
		n_bytes += strlen(names[i]) + n_between;
	}
	stacks->room.n = 0;
	if (!ht_vec_reserve(stacks->run->ctx->mem, &stacks->room, 1, n_bytes))
		return NULL;
	snprintf(middle, sizeof middle, "… %zu more …", n_left_out);
	char *to = stacks->room.data;
	for (size_t i = 0; i < n; i++) {
		if (i)
			to = (char *)memcpy(to, spelling->between, n_between) + n_between;
		if (n_left_out && i == HT_STACK_HALF) {
			to = put_name(to, middle, '\n');
			to = (char *)memcpy(to, spelling->between, n_between) + n_between;
		}
		/* only one character can be told from a name's own */
		to = put_name(to, names[spelling->innermost_first ? n - 1 - i : i],
		        n_between == 1 ? spelling->between[0] : '\n');
	}
	*to = '\0';
	return stacks->room.data;
}
