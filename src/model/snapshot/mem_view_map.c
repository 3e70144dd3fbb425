/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view_map.c - the address map of a moment in a bounded number of rows, for pictures. See mem_view.h.
 *
 * The largest segments, by address. What is smaller than a cell of the map (a part of the longest segment, or of all of them where
 * these are many) is one row with its neighbours until a cell is full: its bytes, how many of them blocks hold, how many blocks, and
 * who holds most of it. A block that is as large as a cell has a row of its own. No byte is lost: rows of a segment cover it.
 *
 * Example: a segment of 8 KiB in 4 cells: blocks of 1 KiB and 512 B, 512 B free, a block of 6 KiB: two rows, of 2 KiB with 1,536 B held in 2
 * blocks, and of 6 KiB.
 */
#include "model/snapshot/mem_state.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_view.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SEGMENTS 64
/* Cells of all segments together, as multiples of those of one. */
#define MAX_STRIPS 16

/* A row that is being filled. */
struct cell {
	uint64_t addr;
	int64_t bytes, held, blocks;
	int64_t most; /* bytes of key in it */
	const char *key, *state;
};

struct map {
	struct ht_mem_view *v;
	const struct ht_mem_device *d;
	const struct ht_mem_layout *layout;
	int64_t event;
	int64_t cell_bytes;
	const struct ht_mem_extent *extent; /* that is being drawn */
};

static int64_t length_of(const struct ht_mem_extent *extent)
{
	return (int64_t)(extent->end - extent->addr);
}

static int by_length(const void *x, const void *y)
{
	const struct ht_mem_extent *a = *(const struct ht_mem_extent *const *)x;
	const struct ht_mem_extent *b = *(const struct ht_mem_extent *const *)y;
	int64_t left = length_of(a), right = length_of(b);
	return left != right ? (left < right) - (left > right) : (a > b) - (a < b);
}

/* By extent whether it is drawn; false when out of memory. */
static bool choose(struct map *m, bool *is_drawn)
{
	size_t n = m->layout->n_extents;
	const struct ht_mem_extent **list =
	        ht_arena_room(m->v->run->scratch, (n + 1) * sizeof(*list));
	int64_t points = ht_run_i64(m->v->run, "points"), sum = 0;
	if (!list)
		return false;
	for (size_t i = 0; i < n; i++)
		list[i] = &m->layout->extents[i];
	qsort(list, n, sizeof(*list), by_length);
	for (size_t i = 0; i < n && i < MAX_SEGMENTS; i++) {
		is_drawn[list[i] - m->layout->extents] = true;
		ht_sum(&sum, length_of(list[i]));
	}
	points = points < 1 ? 1 : points;
	int64_t of_one = n ? length_of(list[0]) / points : 0, of_all = sum / points / MAX_STRIPS;
	m->cell_bytes = of_one > of_all ? of_one : of_all;
	return true;
}

static void put_cell(const struct map *m, struct cell *cell)
{
	ht_table *table = m->v->table;
	if (!cell->bytes)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, MAP_RANK, m->v->run->rank);
	ht_table_put_i64(table, MAP_DEVICE, m->d->device);
	ht_table_put_str(table, MAP_SEGMENT, ht_mem_address_text(m->v->run, m->extent->addr));
	ht_table_put_str(table, MAP_POOL, ht_mem_pool_text(m->v->run, m->extent->pool));
	ht_table_put_i64(table, MAP_OFFSET_BYTES, (int64_t)(cell->addr - m->extent->addr));
	ht_table_put_i64(table, MAP_BYTES, cell->bytes);
	ht_table_put_i64(table, MAP_HELD_BYTES, cell->held);
	ht_table_put_i64(table, MAP_BLOCKS, cell->blocks);
	ht_table_put_str(table, MAP_STATE, cell->state);
	ht_table_put_str(table, MAP_KEY, cell->key);
	ht_table_put_i64(table, MAP_SEGMENTS, (int64_t)m->layout->n_extents);
	*cell = (struct cell){ 0 };
}

/* One more piece at the end of a cell; false when out of memory. */
static bool add_piece(const struct map *m, const struct ht_mem_piece *piece, struct cell *cell)
{
	const struct ht_mem_life *life = piece->life;
	const char *key = life ? ht_mem_name_of(&m->v->names, life) : NULL;
	const char *state = ht_mem_piece_state(life, m->event);
	if (!cell->bytes)
		*cell = (struct cell){ .addr = piece->addr, .state = state };
	if (strcmp(cell->state, state) != 0)
		cell->state = "several";
	cell->bytes += piece->size;
	if (!life)
		return true;
	cell->held += piece->size;
	cell->blocks++;
	/* neighbours of one key are summed; else the larger stays */
	if (cell->key && key && !strcmp(cell->key, key)) {
		cell->most += piece->size;
	} else if (piece->size > cell->most) {
		cell->most = piece->size;
		cell->key = key;
	}
	return key != NULL;
}

static bool draw(struct map *m, const bool *is_drawn)
{
	struct cell cell = { 0 };
	for (size_t i = 0; i < m->layout->n_pieces; i++) {
		const struct ht_mem_piece *piece = &m->layout->pieces[i];
		const struct ht_mem_extent *extent = &m->layout->extents[piece->extent];
		if (!is_drawn[piece->extent])
			continue;
		if (extent != m->extent || piece->size >= m->cell_bytes)
			put_cell(m, &cell);
		m->extent = extent;
		if (!add_piece(m, piece, &cell))
			return false;
		if (cell.bytes >= m->cell_bytes)
			put_cell(m, &cell);
	}
	put_cell(m, &cell);
	return true;
}

enum ht_status ht_mem_view_map(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		struct ht_mem_layout layout;
		struct map m = { .v = v, .d = &v->history->devices[i], .layout = &layout };
		if (!ht_mem_view_moment(v, m.d, &m.event))
			continue;
		HT_TRY(ht_mem_layout_at(v->run, v->history, m.d, m.event, &layout));
		bool *is_drawn = ht_arena_alloc(v->run->scratch, layout.n_extents + 1);
		if (!is_drawn || !choose(&m, is_drawn) || !draw(&m, is_drawn))
			return ht_fail_nomem(v->run->ctx);
	}
	return HT_OK;
}
