/*
 * chunk.h - what scanning one piece of a file gives: rows, args and counters, with ids that all
 * pieces of the file share.
 *
 *   ht_load    one per file: pools that give ids to strings, arg columns, shapes, tracks, categories
 *   ht_worker  one per thread: local views of the pools, scratch of the event being read
 *   ht_chunk   one per piece of text: rows in file order, numbered from 0
 *
 * Because the ids are shared, joining chunks is concatenation.
 */
#ifndef HT_READ_CHUNK_H
#define HT_READ_CHUNK_H

#include "base/intern.h"
#include "read/layout.h"
#include "store/shape.h"
#include "store/trace.h"

#include <string.h>

/* Distinct (key, type) pairs in one file; real traces have some 150. Of more, the first ones stored in file
 * order are kept, and the args of the others are counted as too_many_keys. */
#define HT_MAX_COLUMNS 16384

/* Keys of the pools; all bytes are significant, so zero-initialise. */
struct ht_track_key {
	int64_t pid, tid;
	uint8_t pid_type, tid_type;
	uint16_t document;
	uint32_t zero;
};

struct ht_column_key {
	uint32_t key; /* string id */
	uint8_t type, top_level;
	uint16_t zero;
};

struct ht_load {
	ht_ctx *ctx;
	struct ht_mem *mem;
	const char *path;
	struct ht_pool strings, columns, shapes, tracks, categories;
};

void ht_load_init(struct ht_load *load, ht_ctx *ctx, const char *path);
void ht_load_done(struct ht_load *load);

/* Values of one arg column of one chunk. */
struct ht_chunk_column {
	uint32_t *rows;
	char *values; /* width bytes each */
	uint32_t n, cap;
	uint8_t width, type;
};

struct ht_chunk_stat {
	uint64_t count;
	int64_t first_offset;
};

/* What tells unpadded fractions of times (12.5 for 12.005) from decimal ones; see fix_fractions. */
struct ht_fractions {
	bool decimal; /* some fraction rules it out: the rest is not looked at */
	uint8_t saw;  /* enum ht_fraction_form */
	uint64_t n;   /* fractions seen */
	struct ht_vec
	        rows; /* uint64_t: row << 16 | ts digits << 8 | dur digits, where one is short */
};
enum ht_fraction_form {
	HT_FRACTION_ONE = 1,
	HT_FRACTION_TWO = 2,
	HT_FRACTION_THREE = 4,
	HT_FRACTION_ENDS_0 = 8, /* three digits, the last 0 */
	HT_FRACTION_ALL = 15,
};

struct ht_chunk {
	struct ht_mem *mem;
	uint32_t n, cap;
	int64_t *ts_ns, *dur_ns;
	uint32_t *name, *track, *shape;
	uint16_t *cat;
	char *ph;
	uint8_t *flags;
	struct ht_vec columns; /* struct ht_chunk_column by column id */
	struct ht_vec headers; /* struct ht_header */
	struct ht_fractions fractions;
	struct ht_chunk_stat stats[HT_N_STATS];
};

void ht_chunk_init(struct ht_chunk *chunk, struct ht_mem *mem);
void ht_chunk_done(struct ht_chunk *chunk);
/* Empty it, keep its memory for the next piece. */
void ht_chunk_clear(struct ht_chunk *chunk);
/* Room for more rows; after false the chunk is empty and to be given up. */
bool ht_chunk_grow(struct ht_chunk *chunk);
/* Set the capacity of the row arrays exactly; at least n. */
bool ht_chunk_resize(struct ht_chunk *chunk, uint32_t cap);
/* The column of an id, made when it is new; NULL when out of memory. */
struct ht_chunk_column *ht_chunk_column(struct ht_chunk *chunk, uint32_t i_column, uint8_t type);
/* Room for one more entry, wide enough for the value. */
bool ht_chunk_make_room(struct ht_chunk *chunk, struct ht_chunk_column *column, uint64_t value);
/* Append the rows, args, headers and counters of part to all. False when out of memory. */
bool ht_chunk_append(struct ht_chunk *all, struct ht_chunk *part);
void ht_chunk_stat(struct ht_chunk *chunk, enum ht_stat_code code, int64_t offset, uint64_t n);

static inline bool ht_chunk_column_fits(const struct ht_chunk_column *column, uint64_t value)
{
	return column->width != 4 || column->type != HT_ARG_I64 ||
	       (int64_t)value == (int64_t)(int32_t)value;
}

static inline bool ht_chunk_push(
        struct ht_chunk *chunk, struct ht_chunk_column *column, uint32_t row, uint64_t value)
{
	if ((column->n == column->cap || !ht_chunk_column_fits(column, value)) &&
	        !ht_chunk_make_room(chunk, column, value))
		return false;
	uint32_t i = column->n++;
	column->rows[i] = row;
	if (column->width == 4)
		((uint32_t *)(void *)column->values)[i] = (uint32_t)value;
	else if (column->width == 8)
		((uint64_t *)(void *)column->values)[i] = value;
	else if (column->width == 1)
		column->values[i] = (char)value;
	return true;
}

/* A key of an event or of args as this worker knows it. */
struct ht_scan_key {
	uint32_t string;
	uint8_t field; /* enum ht_field, HT_FIELD_COUNT for all others */
	uint8_t top_level;
	uint32_t column[HT_N_ARG_TYPES]; /* column id + 1 by type, 0 not yet known */
	struct ht_text_memo memo;
};

/* The columns that have values so far, when a file has more than can be kept. */
struct ht_column_use {
	struct ht_vec used; /* uint8_t by column id */
	uint32_t n;
};

struct ht_worker {
	struct ht_load *load;
	struct ht_intern strings, columns, shapes, tracks, categories;
	struct ht_arena arena; /* texts of keys */
	struct ht_vec keys;    /* struct ht_scan_key */
	struct ht_text_table key_index;
	struct ht_vec scratch;  /* decoded strings */
	struct ht_vec repaired; /* text of a repaired event */
	/* the items of the event in order, three arrays of one length: fields and args, which are the shape;
	 * args only when the shape is known by the layout */
	uint32_t *items;       /* enum ht_field, or HT_FIELD_COUNT + column */
	uint32_t *item_keys;   /* index into keys, UINT32_MAX for brackets */
	uint64_t *item_values; /* of args */
	uint32_t n_items, cap_items;
	struct ht_layouts layouts;
	struct ht_vec marks;  /* struct ht_mark: values of the event, while its layout is unknown */
	const char *text_end; /* end of the text being scanned; padding follows */
	uint64_t epoch;       /* which text it is, for memos */
	struct ht_chunk *chunk;
	int64_t text_offset;  /* offset in the file of the text being scanned */
	int64_t event_offset; /* offset in the file of the event being read, for counters */
	uint16_t document;
	bool guessing; /* scanning from a guessed state: failures are not reported */
	bool out_of_memory;
	bool too_many_columns;     /* set together with out_of_memory: to be read again in order */
	struct ht_column_use *use; /* of the worker that reads in order: which columns are kept */
	/* the event being read */
	int64_t ts_ns, dur_ns;
	struct ht_track_key track;
	uint32_t name, cat;
	size_t first_arg_item; /* where args began in items, SIZE_MAX before */
	uint64_t repair_bits;  /* counters that repairing this event raised */
	uint64_t stat_bits;    /* counters this event raises by one, set when it is stored */
	uint8_t ts_digits, dur_digits;
	char ph;
	bool has_ts, has_dur, has_cat;
	/* memo of the last event's ids */
	struct ht_track_key last_track;
	uint32_t last_track_id, last_cat, last_cat_id;
	bool has_last_track, has_last_cat;
};

void ht_worker_init(struct ht_worker *worker, struct ht_load *load);
void ht_worker_done(struct ht_worker *worker);
/* Look a key up by its raw text, adding it when new; UINT32_MAX when out of memory. */
uint32_t ht_worker_key(struct ht_worker *worker, const char *text, size_t n, bool top_level);
/* Column id of a key and type; false when out of memory, or when there are too many. */
bool ht_worker_column(struct ht_worker *worker, struct ht_scan_key *key, enum ht_arg_type type,
        uint32_t *ret_column);
/* What a column id stands for; false for an id that is not this load's. */
bool ht_worker_column_key(struct ht_worker *worker, uint32_t column, struct ht_column_key *ret_key);
/* Text scanned next; memos of other texts are forgotten, as they point into them. */
void ht_worker_set_text(struct ht_worker *worker, const char *end);
/* Forget the args read so far: a second args object replaces the first. */
void ht_worker_drop_args(struct ht_worker *worker);
void ht_worker_begin_event(struct ht_worker *worker);
/* Find the shape of the event that was read. False when out of memory. */
bool ht_worker_shape(struct ht_worker *worker, uint32_t *ret_shape);
/* Store the event that was read. False when out of memory. */
bool ht_worker_store(struct ht_worker *worker, uint32_t shape);

/* Append an item to the event. False when out of memory. */
bool ht_worker_grow_items(struct ht_worker *worker);
static inline bool ht_worker_item(struct ht_worker *w, uint32_t item, uint32_t key, uint64_t value)
{
	if (w->n_items == w->cap_items && !ht_worker_grow_items(w))
		return false;
	w->items[w->n_items] = item;
	w->item_keys[w->n_items] = key;
	w->item_values[w->n_items++] = value;
	return true;
}

_Static_assert(HT_N_STATS <= 64, "an event's counters are bits of one word");
static inline void ht_worker_stat(struct ht_worker *worker, enum ht_stat_code code)
{
	worker->stat_bits |= (uint64_t)1 << code;
}

/* Note a value of the event that is read key by key. False when out of memory. */
static inline bool ht_worker_mark(struct ht_worker *w, const char *start, const char *end,
        uint32_t item, uint32_t key, uint8_t type)
{
	struct ht_mark mark = { start, end, item, key, type };
	if (HT_VEC_PUSH(w->load->mem, &w->marks, struct ht_mark, mark))
		return true;
	w->out_of_memory = true;
	return false;
}

/* Read one event at p ('{'); returns its end, or NULL when the text has a defect or ends inside the
 * event, and then nothing was stored. The three variants agree. */
typedef const char *(*ht_scan_event_fn)(struct ht_worker *worker, const char *p);
const char *ht_scan_event_scalar(struct ht_worker *worker, const char *p);
const char *ht_scan_event_avx2(struct ht_worker *worker, const char *p);
const char *ht_scan_event_neon(struct ht_worker *worker, const char *p);
/* The best one for this CPU. */
ht_scan_event_fn ht_scan_event_best(void);

#endif
