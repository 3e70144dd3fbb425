/*
 * layout.c - see layout.h.
 */
#include "read/layout.h"

#include <string.h>

/* Real files have some hundred nodes; the bound keeps a hostile one from filling the memory. */
#define MAX_NODES 4096
/* They are tried one after the other, for every event. */
#define MAX_SIBLINGS 32

void ht_layouts_init(struct ht_layouts *layouts, struct ht_mem *mem)
{
	*layouts = (struct ht_layouts){ .mem = mem };
}

void ht_layouts_done(struct ht_layouts *layouts)
{
	ht_vec_free(layouts->mem, &layouts->nodes, sizeof(struct ht_layout_node));
}

static bool is_short(const char *from, const char *to)
{
	return to > from && to - from <= HT_MAX_LAYOUT_TEXT;
}

static bool can_learn(const struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks)
{
	if (layouts->nodes.n + n_marks + 2 > MAX_NODES)
		return false;
	for (size_t i = 0; i < n_marks; i++) {
		if (!is_short(start, marks[i].start))
			return false;
		start = marks[i].end;
	}
	return is_short(start, end);
}

/* The node after another one, made when it is new; 0 when there is no room. */
static uint32_t step(
        struct ht_layouts *layouts, uint32_t parent, const struct ht_layout_node *wanted)
{
	struct ht_layout_node *nodes = layouts->nodes.data;
	uint32_t last = 0, n_siblings = 0;
	for (uint32_t at = nodes[parent].child; at; at = nodes[at].next, n_siblings++) {
		const struct ht_layout_node *node = &nodes[at];
		if (node->n == wanted->n && node->type == wanted->type &&
		        node->item == wanted->item && !memcmp(node->text, wanted->text, node->n))
			return at;
		last = at;
	}
	uint32_t id = (uint32_t)layouts->nodes.n;
	if (n_siblings >= MAX_SIBLINGS ||
	        !HT_VEC_PUSH(layouts->mem, &layouts->nodes, struct ht_layout_node, *wanted))
		return 0;
	nodes = layouts->nodes.data;
	if (last)
		nodes[last].next = id;
	else
		nodes[parent].child = id;
	return id;
}

void ht_layouts_learn(struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks, uint32_t shape)
{
	static const struct ht_layout_node root;
	uint32_t at = 0;
	if (!can_learn(layouts, start, end, marks, n_marks))
		return;
	if (!layouts->nodes.n &&
	        !HT_VEC_PUSH(layouts->mem, &layouts->nodes, struct ht_layout_node, root))
		return;
	for (size_t i = 0; i < n_marks; i++) {
		struct ht_layout_node node = { .n = (uint32_t)(marks[i].start - start),
			.item = marks[i].item,
			.type = marks[i].type };
		memcpy(node.text, start, node.n);
		at = step(layouts, at, &node);
		if (!at)
			return;
		start = marks[i].end;
	}
	struct ht_layout_node last = {
		.n = (uint32_t)(end - start), .item = shape, .type = HT_LAYOUT_END
	};
	memcpy(last.text, start, last.n);
	(void)step(layouts, at, &last);
}
