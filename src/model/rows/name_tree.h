/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_tree.h - call paths of many ranks as one tree of names: each path is the path around it and a name.
 *
 *     number  parent  name
 *     0       none    forward
 *     1       0       linear     "forward / linear"
 *     2       1       addmm      "forward / linear / addmm"
 *
 * So a path costs the same however deep it is, where its text would repeat all that is around it. Numbers follow the order
 * in which paths were added; what must not depend on that goes by ht_name_tree_places.
 */
#ifndef HT_MODEL_ROWS_NAME_TREE_H
#define HT_MODEL_ROWS_NAME_TREE_H

#include "base/intern.h"
#include "table/table.h"

/* Paths in a part: the row is the number within it, parents come before what is inside them. */
#define HT_NAME_PATH_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_PATH_NAME, "name", HT_STR, HT_KEY, "the innermost name", NULL)                   \
	COLUMN(HT_PATH_PARENT, "parent", HT_I64, HT_KEY,                                           \
	        "number of the path around it, null at the top", NULL)
HT_COLUMN_NUMBERS(HT_NAME_PATH_COLUMNS, HT_N_NAME_PATH_COLUMNS);
extern const struct ht_column ht_name_path_columns[HT_N_NAME_PATH_COLUMNS];
/* Append a row; parent is the number of a row before it, or HT_NONE. */
void ht_name_path_put(ht_table *table, const char *name, uint32_t parent);

struct ht_name_tree {
	struct ht_mem *mem;
	struct ht_text_table texts; /* the caller's; the id is the position in names */
	struct ht_vec names;        /* struct ht_text */
	struct ht_vec nodes;        /* by number */
	uint32_t *slots;            /* number + 1 by parent and name; 0: free */
	size_t n_slots;             /* a power of two, or 0 */
	struct ht_vec room;         /* char: of the text asked for last */
	uint32_t deepest;           /* names of the longest path */
};

void ht_name_tree_init(struct ht_name_tree *tree, struct ht_mem *mem);
void ht_name_tree_done(struct ht_name_tree *tree);
/* The id of a name, which stays where it is while the tree lives; false when out of memory. */
bool ht_name_tree_name(struct ht_name_tree *tree, const char *name, uint32_t *ret_id);
/* The number of a path: parent is a number or HT_NONE, name an id. False when out of memory. */
bool ht_name_tree_add(
        struct ht_name_tree *tree, uint32_t parent, uint32_t name, uint32_t *ret_number);
/* The numbers of the paths of a part, by row, in the arena. HT_FORMAT when a parent cannot be one. */
enum ht_status ht_name_tree_read(ht_ctx *ctx, struct ht_name_tree *tree, const ht_table *paths,
        struct ht_arena *arena, uint32_t **ret_numbers) HT_MUST_USE;
/* By number: where a path stands when paths are compared name by name, those around before those inside; the same
 * for the same paths in whatever order they were added. Memory in the arena; NULL when out of memory. */
uint32_t *ht_name_tree_places(const struct ht_name_tree *tree, struct ht_arena *arena);
/* How a path is spelled: of more than most names, at least 16 and at most HT_NAME_PATH_MOST, the 8 outermost and the 8
 * innermost, as all paths together could be as long as the square of the file. */
#define HT_NAME_PATH_MOST 1024
struct ht_name_spelling {
	const char *between;
	size_t most;
	char reserved; /* in names a space stands for it and for line breaks; 0: names stay as they are */
};
/* "outer / inner / name". A name that stays as it is, without a path around it, is the caller's own text; others live
 * until the next call; NULL when out of memory. */
const char *ht_name_tree_text(
        struct ht_name_tree *tree, uint32_t number, const struct ht_name_spelling *spelling);

#endif
