/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_texts.c - see ascend_texts.h.
 *
 * What was seen is kept up to some number of stretches, then forgotten. When most of them were not seen a second time it
 * is not worth it, and cells are looked up one by one from there on.
 */
#include "read/ascend_texts.h"

#include "base/mem.h"
#include "base/number.h"

#define KNOWN_BITS  10 /* a column remembers so many texts, as a power of two */
#define N_KNOWN     ((size_t)1 << KNOWN_BITS)
#define MAX_LINES   4096
#define MAX_BYTES   ((size_t)1 << 20) /* of all lines */
#define MAX_STRETCH 2048

/* A text that was seen. */
struct known_text {
	const char *bytes;
	uint64_t head, tail;
	uint32_t n, id;
};

struct ht_known_texts {
	struct known_text slots[N_KNOWN];
};

/* A stretch that was seen. */
struct line {
	const char *bytes;
	size_t n;
	struct line *next; /* that came behind it the last time */
	uint32_t ids[];
};

struct ht_ascend_texts {
	struct ht_rows *rows;
	struct ht_arena *own; /* what it lies in */
	size_t first, n_columns;
	struct ht_known_texts **known; /* of each column; NULL until it has a text */
	uint32_t *loose;               /* ids of cells that were looked up one by one, row by row */
	struct ht_arena arena;         /* of lines */
	struct ht_text_table index;
	struct ht_vec lines; /* struct line * */
	size_t n_bytes, n_again;
	struct line *last;
	bool is_off;
};

/* ---- one column ---- */

struct ht_known_texts *ht_known_texts_make(struct ht_arena *arena)
{
	return ht_arena_alloc(arena, sizeof(struct ht_known_texts));
}

/* Do n bytes agree behind the first eight and before the last eight? */
static inline bool same_middle(const char *p, const char *q, size_t n)
{
	if (n <= 16)
		return true;
	if (n <= 32)
		return !((ht_eight_bytes(p + 8) ^ ht_eight_bytes(q + 8)) |
		         (ht_eight_bytes(p + n - 16) ^ ht_eight_bytes(q + n - 16)));
	return !memcmp(p + 8, q + 8, n - 16);
}

/* Is the text of an id this one? One that had to be repaired is another, and is repaired, and counted, every time. */
static bool is_text_of(
        struct ht_rows *rows, uint32_t id, const struct ht_csv_cell *cell, const char **ret_kept)
{
	size_t n;
	*ret_kept = ht_rows_text_at(rows, id, &n);
	return id != HT_NO_STR && n == cell->n && !memcmp(*ret_kept, cell->text, n);
}

uint32_t ht_known_text(
        struct ht_known_texts *known, struct ht_rows *rows, const struct ht_csv_cell *cell)
{
	size_t n = cell->n;
	const char *kept;
	uint64_t head = ht_first_bytes(ht_eight_bytes(cell->text), n);
	uint64_t tail = ht_eight_bytes(cell->text + n - 8);
	tail = n > 8 ? tail : 0;
	uint64_t hash = (head ^ (tail << 7 | tail >> 57) ^ n) * 0x9E3779B97F4A7C15u;
	struct known_text *slot = &known->slots[hash >> (64 - KNOWN_BITS)];
	if (((slot->n ^ n) | (slot->head ^ head) | (slot->tail ^ tail)) == 0 &&
	        same_middle(slot->bytes, cell->text, n))
		return slot->id;
	uint32_t id = ht_rows_text(rows, cell->text, n);
	if (is_text_of(rows, id, cell, &kept))
		*slot = (struct known_text){ kept, head, tail, (uint32_t)n, id };
	return id;
}

/* ---- columns side by side ---- */

struct ht_ascend_texts *ht_ascend_texts_make(
        struct ht_rows *rows, struct ht_arena *arena, size_t first, size_t n_columns)
{
	struct ht_ascend_texts *t = ht_arena_alloc(arena, sizeof *t);
	if (!t)
		return NULL;
	*t = (struct ht_ascend_texts){
		.rows = rows, .own = arena, .first = first, .n_columns = n_columns
	};
	ht_arena_init(&t->arena, rows->builder->mem);
	t->known = ht_arena_alloc(arena, n_columns * sizeof *t->known);
	t->loose = ht_arena_alloc(arena, HT_CSV_ROWS * n_columns * sizeof *t->loose);
	return t->known && t->loose ? t : NULL;
}

static void forget(struct ht_ascend_texts *t)
{
	ht_arena_done(&t->arena);
	ht_arena_init(&t->arena, t->rows->builder->mem);
	if (t->index.cap)
		memset(t->index.slots, 0, t->index.cap * sizeof *t->index.slots);
	t->index.n = 0;
	t->lines.n = t->n_bytes = t->n_again = 0;
	t->last = NULL;
}

void ht_ascend_texts_done(struct ht_ascend_texts *t)
{
	struct ht_mem *mem = t->rows->builder->mem;
	ht_arena_done(&t->arena);
	ht_mem_free(mem, t->index.slots, t->index.cap * sizeof *t->index.slots);
	ht_vec_free(mem, &t->lines, sizeof(struct line *));
}

/* The cells one by one; false when they are not to be kept. */
static bool find_cells(
        struct ht_ascend_texts *t, struct ht_csv_rows *batch, size_t row, uint32_t *ret_ids)
{
	bool can_keep = true;
	const char *kept;
	for (size_t i = 0; i < t->n_columns; i++) {
		struct ht_csv_cell cell = ht_csv_rows_cell(batch, t->first + i, row);
		ret_ids[i] = HT_NO_STR;
		if (!cell.n)
			continue;
		if (!t->known[i] && !(t->known[i] = ht_known_texts_make(t->own))) {
			t->rows->worker.out_of_memory = true;
			return false;
		}
		ret_ids[i] = ht_known_text(t->known[i], t->rows, &cell);
		can_keep &= is_text_of(t->rows, ret_ids[i], &cell, &kept);
	}
	return can_keep;
}

/* NULL when out of memory. */
static struct line *add_line(
        struct ht_ascend_texts *t, const char *text, size_t n, uint64_t hash, const uint32_t *ids)
{
	size_t n_ids = t->n_columns * sizeof *ids;
	struct line *line = ht_arena_alloc(&t->arena, sizeof *line + n_ids);
	char *copy = ht_arena_strndup(&t->arena, text, n);
	if (!line || !copy)
		return NULL;
	*line = (struct line){ copy, n, NULL };
	memcpy(line->ids, ids, n_ids);
	struct ht_mem *mem = t->rows->builder->mem;
	struct ht_text entry = { copy, hash, (uint32_t)n, (uint32_t)t->lines.n };
	t->n_bytes += n;
	return HT_VEC_PUSH(mem, &t->lines, struct line *, line) &&
	                       ht_text_table_put(mem, &t->index, &entry)
	               ? line
	               : NULL;
}

static const uint32_t *find_line(struct ht_ascend_texts *t, struct ht_csv_rows *batch, size_t row)
{
	const uint32_t *stops = batch->stops + row * batch->n_columns + t->first;
	const char *text = batch->text + (uint32_t)(stops[-1] + 1);
	size_t n = (size_t)(batch->text + stops[t->n_columns - 1] - text);
	uint32_t *loose = t->loose + row * t->n_columns;
	struct line *line = t->last ? t->last->next : NULL;
	t->n_again++;
	if (line && line->n == n && !memcmp(line->bytes, text, n)) {
		t->last = line;
		return line->ids;
	}
	if (n > MAX_STRETCH) {
		(void)find_cells(t, batch, row, loose);
		return loose;
	}
	uint64_t hash = ht_hash(text, n);
	const struct ht_text *known = ht_text_table_find(&t->index, text, n, hash);
	if (known) {
		line = ((struct line **)t->lines.data)[known->id];
	} else {
		t->n_again--;
		if (!find_cells(t, batch, row, loose))
			return loose;
		line = add_line(t, text, n, hash, loose);
		t->rows->worker.out_of_memory |= !line;
		if (!line)
			return loose;
	}
	if (t->last)
		t->last->next = line;
	t->last = line;
	return line->ids;
}

void ht_ascend_texts_find(
        struct ht_ascend_texts *t, struct ht_csv_rows *batch, const uint32_t *ret_ids[HT_CSV_ROWS])
{
	if (t->lines.n >= MAX_LINES || t->n_bytes >= MAX_BYTES) {
		t->is_off = t->n_again < t->lines.n;
		forget(t);
	}
	for (size_t row = 0; row < batch->n; row++) {
		/* the bytes of a row that was put together are not those of the file */
		if (t->is_off || batch->is_tidy) {
			ret_ids[row] = t->loose + row * t->n_columns;
			(void)find_cells(t, batch, row, t->loose + row * t->n_columns);
		} else {
			ret_ids[row] = find_line(t, batch, row);
		}
	}
}
