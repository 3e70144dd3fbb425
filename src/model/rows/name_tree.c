/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_tree.c - see name_tree.h.
 *
 * Parents are added before their children, so a pass over the numbers sees the tree from above, and one from the last to
 * the first from below: no walk needs a stack, however deep the tree is.
 */
#include "model/rows/name_tree.h"

#include "base/mem.h"
#include "base/sort.h"
#include "store/event.h"

#include <stdio.h>

/* Names at either end of a path that is cut. */
#define HALF 8

const struct ht_column ht_name_path_columns[HT_N_NAME_PATH_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_NAME_PATH_COLUMNS);

void ht_name_path_put(ht_table *table, const char *name, uint32_t parent)
{
	ht_table_row(table);
	ht_table_put_str(table, HT_PATH_NAME, name);
	ht_table_put_known(table, HT_PATH_PARENT, parent, HT_NONE);
}

struct node {
	uint32_t parent; /* HT_NONE */
	uint32_t name;
	uint32_t depth; /* names of the path, its own included */
	uint32_t head;  /* the path of the first HALF of them, itself when there are fewer */
	uint64_t hash;  /* of all of them */
};

void ht_name_tree_init(struct ht_name_tree *tree, struct ht_mem *mem)
{
	*tree = (struct ht_name_tree){ .mem = mem };
}

void ht_name_tree_done(struct ht_name_tree *tree)
{
	struct ht_mem *mem = tree->mem;
	ht_mem_free(mem, tree->texts.slots, tree->texts.cap * sizeof(struct ht_text));
	ht_vec_free(mem, &tree->names, sizeof(struct ht_text));
	ht_vec_free(mem, &tree->nodes, sizeof(struct node));
	ht_mem_free(mem, tree->slots, tree->n_slots * sizeof *tree->slots);
	ht_vec_free(mem, &tree->room, 1);
}

bool ht_name_tree_name(struct ht_name_tree *tree, const char *name, uint32_t *ret_id)
{
	size_t n = strlen(name);
	uint64_t hash = ht_hash(name, n);
	const struct ht_text *known = ht_text_table_find(&tree->texts, name, n, hash);
	struct ht_text added = { name, hash, (uint32_t)n, (uint32_t)tree->names.n };
	if (!known && (!ht_text_table_put(tree->mem, &tree->texts, &added) ||
	                      !HT_VEC_PUSH(tree->mem, &tree->names, struct ht_text, added)))
		return false;
	*ret_id = known ? known->id : added.id;
	return true;
}

static const struct ht_text *name_at(const struct ht_name_tree *tree, uint32_t name)
{
	return (const struct ht_text *)tree->names.data + name;
}

static const struct node *node_at(const struct ht_name_tree *tree, uint32_t number)
{
	return (const struct node *)tree->nodes.data + number;
}

/* ---- adding ---- */

static uint64_t hash_of(uint32_t parent, uint32_t name)
{
	return ht_hash_u64((uint64_t)parent << 32 | name);
}

/* Room for one more path in at most half of the slots. */
static bool reserve_slot(struct ht_name_tree *tree)
{
	if (tree->nodes.n * 2 < tree->n_slots)
		return true;
	size_t n = tree->n_slots ? tree->n_slots * 2 : 256;
	uint32_t *slots = ht_mem_zalloc(tree->mem, n * sizeof *slots);
	if (!slots)
		return false;
	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		const struct node *node = node_at(tree, i);
		slots[HT_PROBE(at, n, hash_of(node->parent, node->name), !slots[at])] = i + 1;
	}
	ht_mem_free(tree->mem, tree->slots, tree->n_slots * sizeof *slots);
	tree->slots = slots;
	tree->n_slots = n;
	return true;
}

static bool is_node(const struct node *node, uint32_t parent, uint32_t name)
{
	return node->parent == parent && node->name == name;
}

bool ht_name_tree_add(
        struct ht_name_tree *tree, uint32_t parent, uint32_t name, uint32_t *ret_number)
{
	if (!reserve_slot(tree))
		return false;
	uint32_t *slots = tree->slots;
	size_t slot = HT_PROBE(at, tree->n_slots, hash_of(parent, name),
	        !slots[at] || is_node(node_at(tree, slots[at] - 1), parent, name));
	if (!slots[slot]) {
		uint32_t number = (uint32_t)tree->nodes.n;
		struct node outer = { 0 };
		if (parent != HT_NONE)
			outer = *node_at(tree, parent);
		struct node node = { parent, name, outer.depth + 1,
			outer.depth < HALF ? number : outer.head,
			ht_hash_mix(outer.hash, name_at(tree, name)->hash) };
		if (!HT_VEC_PUSH(tree->mem, &tree->nodes, struct node, node))
			return false;
		if (node.depth > tree->deepest)
			tree->deepest = node.depth;
		slots[slot] = number + 1;
	}
	*ret_number = slots[slot] - 1;
	return true;
}

/* Names first, each once: names[] by text of the table. */
static enum ht_status add_paths(ht_ctx *ctx, struct ht_name_tree *tree, const ht_table *paths,
        uint32_t *names, uint32_t *numbers)
{
	const uint32_t *texts = ht_table_cells(paths, HT_PATH_NAME);
	for (uint32_t i = 0; i < ht_table_n_texts(paths); i++)
		if (!ht_name_tree_name(tree, ht_table_text(paths, i), &names[i]))
			return ht_fail_nomem(ctx);
	for (size_t i = 0; i < ht_table_n_rows(paths); i++) {
		bool top = ht_table_is_null(paths, i, HT_PATH_PARENT);
		uint64_t parent = top ? 0 : (uint64_t)ht_table_i64(paths, i, HT_PATH_PARENT);
		if (!top && parent >= i)
			return ht_fail(ctx, HT_FORMAT, NULL, -1, "make it again",
			        "the part does not hold what it should");
		if (!ht_name_tree_add(
		            tree, top ? HT_NONE : numbers[parent], names[texts[i]], &numbers[i]))
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}

enum ht_status ht_name_tree_read(ht_ctx *ctx, struct ht_name_tree *tree, const ht_table *paths,
        struct ht_arena *arena, uint32_t **ret_numbers)
{
	size_t n_bytes = (ht_table_n_texts(paths) + (size_t)1) * sizeof(uint32_t);
	uint32_t *names = ht_mem_alloc(tree->mem, n_bytes);
	*ret_numbers = ht_arena_alloc(arena, (ht_table_n_rows(paths) + 1) * sizeof(uint32_t));
	enum ht_status status = names && *ret_numbers
	                                ? add_paths(ctx, tree, paths, names, *ret_numbers)
	                                : ht_fail_nomem(ctx);
	ht_mem_free(tree->mem, names, n_bytes);
	return status;
}

/* ---- order ---- */

static int compare_texts(const void *left, const void *right)
{
	const struct ht_text *a = left, *b = right;
	return strcmp(a->bytes, b->bytes);
}

/* By id: the position of a name among all names. */
static bool rank_names(const struct ht_name_tree *tree, uint32_t *ranks)
{
	size_t n = tree->names.n, n_bytes = (n + 1) * sizeof(struct ht_text);
	struct ht_text *sorted = ht_mem_alloc(tree->mem, n_bytes);
	if (!sorted)
		return false;
	if (n)
		memcpy(sorted, tree->names.data, n * sizeof *sorted);
	ht_sort_items(tree->mem, sorted, n, sizeof *sorted, compare_texts);
	for (uint32_t i = 0; i < n; i++)
		ranks[sorted[i].id] = i;
	ht_mem_free(tree->mem, sorted, n_bytes);
	return true;
}

/* Numbers by parent, then name; those without a parent first. */
static bool sort_siblings(const struct ht_name_tree *tree, uint32_t *ranks, uint32_t *sorted)
{
	size_t n = tree->nodes.n, n_bytes = (n + 1) * sizeof(uint64_t);
	uint64_t *keys = ht_mem_alloc(tree->mem, n_bytes);
	bool ok = keys && rank_names(tree, ranks);
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct node *node = node_at(tree, i);
		sorted[i] = i;
		keys[i] = (uint64_t)(node->parent + 1) << 32 | ranks[node->name];
	}
	ok = ok && ht_sort_keys(tree->mem, keys, sorted, n);
	ht_mem_free(tree->mem, keys, n_bytes);
	return ok;
}

/* A path's place is that of its parent, plus the paths inside the siblings before it. */
static void place_nodes(const struct ht_name_tree *tree, const uint32_t *sorted, uint32_t *n_inside,
        uint32_t *places)
{
	size_t n = tree->nodes.n;
	uint32_t parent = HT_NONE, next = 0;
	for (size_t i = n; i-- > 0;) {
		uint32_t up = node_at(tree, (uint32_t)i)->parent;
		n_inside[i]++;
		if (up != HT_NONE)
			n_inside[up] += n_inside[i];
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t up = node_at(tree, sorted[i])->parent;
		if (up != parent)
			next = places[up] + 1;
		parent = up;
		places[sorted[i]] = next;
		next += n_inside[sorted[i]];
	}
}

uint32_t *ht_name_tree_places(const struct ht_name_tree *tree, struct ht_arena *arena)
{
	size_t n = tree->nodes.n, n_bytes = (n + tree->names.n + 1) * sizeof(uint32_t);
	uint32_t *places = ht_arena_alloc(arena, (n + 1) * sizeof *places);
	uint32_t *sorted = ht_mem_alloc(tree->mem, n_bytes),
	         *room = ht_mem_zalloc(tree->mem, n_bytes);
	bool ok = places && sorted && room && sort_siblings(tree, room, sorted);
	if (ok) {
		memset(room, 0, n_bytes);
		place_nodes(tree, sorted, room, places);
	}
	ht_mem_free(tree->mem, sorted, n_bytes);
	ht_mem_free(tree->mem, room, n_bytes);
	return ok ? places : NULL;
}

/* ---- texts ---- */

/* Copy a text in front of end; returns its start. */
static char *put_before(char *end, const char *text, size_t n)
{
	return memcpy(end - n, text, n);
}

/* A name without what would look like the end of it. */
static char *put_name_before(char *end, const struct ht_text *name, char reserved)
{
	char *start = put_before(end, name->bytes, name->n);
	for (char *at = start; reserved && at < end; at++)
		if (*at == reserved || *at == '\n' || *at == '\r')
			*at = ' ';
	return start;
}

/* The names that are spelled, innermost first. Returns how many; in ret_middle what stands for those left out,
 * between the innermost HALF and the rest: "" for none. */
static size_t choose_names(const struct ht_name_tree *tree, uint32_t number, size_t most,
        const struct ht_text **names, char *ret_middle, size_t n_middle)
{
	const struct node *last = node_at(tree, number);
	bool cut = last->depth > most;
	size_t n = 0;
	uint32_t at = number;
	for (; at != HT_NONE && n < (cut ? HALF : most); at = node_at(tree, at)->parent)
		names[n++] = name_at(tree, node_at(tree, at)->name);
	*ret_middle = 0;
	if (!cut)
		return n;
	/* the hash keeps paths apart that differ only in what is left out */
	snprintf(ret_middle, n_middle, "… %u more, %08x …", last->depth - 2 * HALF,
	        (unsigned)node_at(tree, at)->hash);
	for (at = last->head; at != HT_NONE; at = node_at(tree, at)->parent)
		names[n++] = name_at(tree, node_at(tree, at)->name);
	return n;
}

const char *ht_name_tree_text(
        struct ht_name_tree *tree, uint32_t number, const struct ht_name_spelling *spelling)
{
	const struct ht_text *names[HT_NAME_PATH_MOST];
	char middle[48];
	size_t n_between = strlen(spelling->between);
	size_t n_names = choose_names(tree, number, spelling->most, names, middle, sizeof middle);
	size_t n = 1 + strlen(middle) + n_between;
	if (n_names == 1 && !spelling->reserved)
		return names[0]->bytes;
	for (size_t k = 0; k < n_names; k++)
		n += names[k]->n + n_between;
	tree->room.n = 0;
	if (!ht_vec_reserve(tree->mem, &tree->room, 1, n))
		return NULL;
	char *text = (char *)tree->room.data + n - 1;
	*text = '\0';
	for (size_t k = 0; k < n_names; k++) {
		if (k)
			text = put_before(text, spelling->between, n_between);
		if (k == HALF && *middle) {
			text = put_before(text, middle, strlen(middle));
			text = put_before(text, spelling->between, n_between);
		}
		text = put_name_before(text, names[k], spelling->reserved);
	}
	return text;
}
