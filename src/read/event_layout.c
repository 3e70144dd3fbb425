/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_layout.c - see layout.h.
 */
#include "read/event_layout.h"

#include <string.h>

/* Real files have some hundred nodes; the bound keeps a hostile one from filling the memory. */
#define MAX_NODES 4096
/* They are tried one after the other, for every event. */
#define MAX_SIBLINGS 32
/* From so many on phases and categories are values: files may have more of them. */
#define MAX_FIXED 16

void ht_layouts_init(struct ht_layouts *layouts, struct ht_mem *mem)
{
	*layouts = (struct ht_layouts){ 0 };
	ht_arena_init(&layouts->arena, mem);
}

void ht_layouts_done(struct ht_layouts *layouts)
{
	ht_arena_done(&layouts->arena);
}

static bool is_short(const char *from, const char *to)
{
	return to > from && to - from <= HT_MAX_LAYOUT_TEXT;
}

static bool can_learn(const struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks)
{
	if (layouts->n_nodes + n_marks + 2 > MAX_NODES)
		return false;
	for (size_t i = 0; i < n_marks; i++) {
		if (!is_short(start, marks[i].start))
			return false;
		start = marks[i].end;
	}
	return is_short(start, end);
}

/* An event whose nodes are being found or made. */
struct learning {
	struct ht_layouts *layouts;
	const char *start; /* of the next text */
	const struct ht_mark *marks;
	size_t n_marks, i; /* i: the next value; n_marks: the end */
	struct ht_mark stop;
	struct ht_layout_end end;
	struct ht_layout_node *parent;
};

static const struct ht_mark *mark_at(const struct learning *l, size_t i)
{
	return i < l->n_marks ? &l->marks[i] : &l->stop;
}

static bool is_fixed(const struct ht_mark *mark)
{
	return mark->type == HT_LAYOUT_FIELD + HT_FIELD_PH ||
	       mark->type == HT_LAYOUT_FIELD + HT_FIELD_CAT;
}

/* How many values from the next on can be part of the text before the one behind them. */
static size_t count_fixed(const struct learning *l)
{
	size_t n = 0;
	while (is_fixed(mark_at(l, l->i + n)) &&
	        is_short(l->start, mark_at(l, l->i + n + 1)->start))
		n++;
	return n;
}

/* The node before the i-th value. */
static struct ht_layout_node make_node(const struct learning *l, size_t i)
{
	const struct ht_mark *mark = mark_at(l, i);
	struct ht_layout_node node = {
		.n = (uint32_t)(mark->start - l->start), .item = mark->item, .type = mark->type
	};
	memcpy(node.text, l->start, node.n);
	return node;
}

/* Where a node is after the parent, or would have to be put; and how many are before. */
static struct ht_layout_node **find_node(
        struct learning *l, const struct ht_layout_node *wanted, size_t *ret_n)
{
	struct ht_layout_node **at = l->parent ? &l->parent->child : &l->layouts->first;
	for (*ret_n = 0; *at; at = &(*at)->next, ++*ret_n)
		if ((*at)->n == wanted->n && (*at)->type == wanted->type &&
		        (*at)->item == wanted->item &&
		        !memcmp((*at)->text, wanted->text, wanted->n))
			break;
	return at;
}

static void note_fixed(struct learning *l, size_t n)
{
	for (size_t i = l->i; i < l->i + n; i++)
		if (l->marks[i].type == HT_LAYOUT_FIELD + HT_FIELD_PH)
			l->end.fixes_ph = true;
		else
			l->end.fixes_cat = true;
}

/* Go on to the node before the next value that is not part of its text; false when there is no room for it. */
static bool step(struct learning *l)
{
	size_t n_fixed = count_fixed(l), n_before;
	struct ht_layout_node node = make_node(l, l->i + n_fixed);
	struct ht_layout_node **at = find_node(l, &node, &n_before);
	if (!*at && n_fixed && n_before >= MAX_FIXED) {
		n_fixed = 0;
		node = make_node(l, l->i);
		at = find_node(l, &node, &n_before);
	}
	note_fixed(l, n_fixed);
	if (!*at) {
		struct ht_layout_node *made =
		        n_before < MAX_SIBLINGS ? ht_arena_alloc(&l->layouts->arena, sizeof *made)
		                                : NULL;
		if (!made)
			return false;
		*made = node;
		if (node.type == HT_LAYOUT_END)
			made->end = l->end;
		*at = made;
		l->layouts->n_nodes++;
	}
	l->parent = *at;
	l->i += n_fixed;
	l->start = mark_at(l, l->i)->end;
	return true;
}

void ht_layouts_learn(struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks, const struct ht_layout_end *known)
{
	struct learning l = { .layouts = layouts,
		.start = start,
		.marks = marks,
		.n_marks = n_marks,
		.stop = { end, end, known->shape, 0, HT_LAYOUT_END },
		.end = *known };
	l.end.fixes_ph = l.end.fixes_cat = false;
	if (!can_learn(layouts, start, end, marks, n_marks))
		return;
	for (; l.i <= n_marks; l.i++)
		if (!step(&l))
			return;
}
