/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_worker.h - one thread's part in reading a file: local views of the builder's pools, and the event that is
 * being read.
 */
#ifndef HT_READ_EVENT_WORKER_H
#define HT_READ_EVENT_WORKER_H

#include "read/event_layout.h"
#include "store/builder.h"

/* A key of an event or of args as this worker knows it. */
struct ht_scan_key {
	uint32_t string;
	uint8_t field; /* enum ht_field, HT_FIELD_COUNT for all others */
	uint8_t top_level;
	bool is_surplus; /* stands for all keys that came when there were too many */
	uint32_t column[HT_N_ARG_TYPES]; /* column id + 1 by type, 0 not yet known */
	struct ht_text_memo memo;
};

/* The columns that have values so far, when a file has more than can be kept. */
struct ht_column_use {
	struct ht_vec used; /* uint8_t by column id */
	uint32_t n;
};

struct ht_worker {
	struct ht_builder *builder;
	struct ht_intern strings, shapes, tracks, categories;
	struct ht_arena arena; /* texts of keys */
	struct ht_vec keys;    /* struct ht_scan_key */
	struct ht_text_table key_index;
	uint32_t surplus_1;     /* 1 + the key for all that are too many, 0 until there is one */
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
	/* the place and text of its pid, when that is not the last one */
	struct ht_layout_node *pid_node;
	const char *pid_text;
	/* memo of the last event's ids */
	struct ht_track_key last_track;
	uint32_t last_track_id, last_cat, last_cat_id;
	bool has_last_track, has_last_cat;
};

void ht_worker_init(struct ht_worker *worker, struct ht_builder *builder);
void ht_worker_done(struct ht_worker *worker);
/* Look a key up by its raw text, adding it when new; UINT32_MAX when out of memory. */
uint32_t ht_worker_key(struct ht_worker *worker, const char *text, size_t n, bool top_level);
/* The number of a column, given out when it is first asked for; false when out of memory. Keys keep it: no worker has
 * a table of its own. */
bool ht_column_number(
        struct ht_builder *builder, const struct ht_column_key *key, uint32_t *ret_column);
/* Column id of a key and type; false when out of memory, or when there are too many. */
bool ht_worker_column(struct ht_worker *worker, struct ht_scan_key *key, enum ht_arg_type type,
        uint32_t *ret_column);
/* Text scanned next; memos of other texts are forgotten, as they point into them. */
void ht_worker_set_text(struct ht_worker *worker, const char *end);
/* Forget the args read so far: a second args object replaces the first. */
void ht_worker_drop_args(struct ht_worker *worker);
void ht_worker_begin_event(struct ht_worker *worker);
/* Find the shape of the event that was read. False when out of memory. */
bool ht_worker_shape(struct ht_worker *worker, uint32_t *ret_shape);
/* One value of a row of the chunk that is stored already. False when out of memory. */
bool ht_worker_put_arg(struct ht_worker *worker, uint32_t row, uint32_t column, uint64_t value);
/* Store the event that was read. False when out of memory. */
bool ht_worker_store(struct ht_worker *worker, uint32_t shape);

/* Spans of one category that come together, with numbers as pids and tids. */
struct ht_spans {
	size_t n;
	uint32_t category;
	const uint32_t *names;
	const int64_t *pids, *tids, *ts_ns, *dur_ns;
};

/* Is there nothing to say of its times? */
static inline bool ht_span_is_plain(const struct ht_spans *spans, size_t i)
{
	int64_t ts_ns = spans->ts_ns[i];
	return ts_ns < HT_MAX_TIME_NS && ts_ns > -HT_MAX_TIME_NS && spans->dur_ns[i] >= 0;
}

/* Store n of them from the first on, all plain and of one shape, without args. False when out of memory. */
bool ht_worker_store_spans(struct ht_worker *worker, const struct ht_spans *spans, size_t first,
        size_t n, uint32_t shape);

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

_Static_assert(HT_STAT_absolute_time <= 64, "an event's counters are bits of one word");
static inline void ht_worker_stat(struct ht_worker *worker, enum ht_stat_code code)
{
	worker->stat_bits |= (uint64_t)1 << code;
}

/* Note a value of the event that is read key by key. False when out of memory. */
static inline bool ht_worker_mark(struct ht_worker *w, const char *start, const char *end,
        uint32_t item, uint32_t key, uint8_t type)
{
	struct ht_mark mark = { start, end, item, key, type };
	if (HT_VEC_PUSH(w->builder->mem, &w->marks, struct ht_mark, mark))
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
