/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_worker.c - one thread's view of a file that is being read, and storing one event; see chunk.h.
 */
#include "read/event_worker.h"

#include "base/cpu.h"
#include "base/mem.h"
#include "json/json_text.h"

#include <string.h>

#define DROPPED UINT32_MAX /* an item that a later one of the same key replaces */

void ht_worker_init(struct ht_worker *w, struct ht_builder *builder)
{
	*w = (struct ht_worker){ .builder = builder };
	w->strings.pool = &builder->strings;
	w->shapes.pool = &builder->shapes;
	w->tracks.pool = &builder->tracks;
	w->categories.pool = &builder->categories;
	ht_arena_init(&w->arena, builder->mem);
	ht_layouts_init(&w->layouts, builder->mem);
}

void ht_worker_done(struct ht_worker *w)
{
	struct ht_mem *mem = w->builder->mem;
	ht_intern_done(&w->strings);
	ht_intern_done(&w->shapes);
	ht_intern_done(&w->tracks);
	ht_intern_done(&w->categories);
	ht_arena_done(&w->arena);
	ht_layouts_done(&w->layouts);
	ht_vec_free(mem, &w->marks, sizeof(struct ht_mark));
	ht_vec_free(mem, &w->keys, sizeof(struct ht_scan_key));
	ht_mem_free(mem, w->key_index.slots, w->key_index.cap * sizeof(struct ht_text));
	ht_vec_free(mem, &w->scratch, 1);
	ht_vec_free(mem, &w->repaired, 1);
	ht_mem_free(mem, w->items, w->cap_items * sizeof *w->items);
	ht_mem_free(mem, w->item_keys, w->cap_items * sizeof *w->item_keys);
	ht_mem_free(mem, w->item_values, w->cap_items * sizeof *w->item_values);
}

static enum ht_field field_of(const char *text, size_t n)
{
	static const char *const names[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur",
		"args" };
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], text, n) == 0)
			return (enum ht_field)i;
	return HT_FIELD_COUNT;
}

/* The id of a text of a pool that others may be adding to; HT_NONE when it has none. */
static uint32_t find_in(struct ht_pool *pool, const void *bytes, size_t n)
{
	pthread_mutex_lock(&pool->lock);
	const struct ht_text *text = ht_pool_find(pool, bytes, n, ht_hash(bytes, n));
	uint32_t id = text ? text->id : HT_NONE;
	pthread_mutex_unlock(&pool->lock);
	return id;
}

/* Is there no room for a column of this key any more? Such keys are not kept either: a file may have as many as args. */
static bool is_surplus(struct ht_worker *w, const char *text, size_t n, bool top_level)
{
	const struct ht_column_use *use = w->use;
	if (!use || use->n < HT_MAX_COLUMNS)
		return false;
	uint32_t string = find_in(&w->builder->strings, text, n);
	for (uint8_t type = 0; string != HT_NONE && type < HT_N_ARG_TYPES; type++) {
		struct ht_column_key key = { string, type, top_level, 0 };
		uint32_t column = find_in(&w->builder->columns, &key, sizeof key);
		if (column < use->used.n && ((uint8_t *)use->used.data)[column])
			return false;
	}
	return true;
}

/* One for all of them. */
static uint32_t surplus_key(struct ht_worker *w)
{
	struct ht_scan_key key = {
		.string = HT_NO_STR, .field = HT_FIELD_COUNT, .is_surplus = true
	};
	if (!w->surplus_1) {
		w->out_of_memory = !HT_VEC_PUSH(w->builder->mem, &w->keys, struct ht_scan_key, key);
		if (w->out_of_memory)
			return UINT32_MAX;
		w->surplus_1 = (uint32_t)w->keys.n;
	}
	return w->surplus_1 - 1;
}

uint32_t ht_worker_key(struct ht_worker *w, const char *text, size_t n, bool top_level)
{
	/* the two scopes have keys of their own: the scope is part of the hash */
	uint64_t hash = ht_hash(text, n) ^ (top_level ? 0x9E3779B97F4A7C15u : 0);
	const struct ht_text *known = ht_text_table_find(&w->key_index, text, n, hash);
	if (known)
		return known->id;
	size_t bad;
	w->scratch.n = 0;
	w->out_of_memory = !ht_vec_reserve(w->builder->mem, &w->scratch, 1, n * 3 + 1);
	if (w->out_of_memory)
		return UINT32_MAX;
	size_t decoded = ht_json_decode(text, n, w->scratch.data, &bad);
	if (bad)
		return UINT32_MAX;
	struct ht_scan_key key = { .top_level = top_level };
	key.field = (uint8_t)(top_level ? field_of(w->scratch.data, decoded) : HT_FIELD_COUNT);
	if (key.field == HT_FIELD_COUNT && is_surplus(w, w->scratch.data, decoded, top_level))
		return surplus_key(w);
	char *raw = ht_arena_strndup(&w->arena, text, n);
	/* a key is asked for once: the worker's own table of texts has no use for it */
	struct ht_text string;
	w->out_of_memory = !raw || !ht_pool_add(&w->builder->strings, w->scratch.data, decoded,
	                                   ht_hash(w->scratch.data, decoded), &string);
	if (w->out_of_memory)
		return UINT32_MAX;
	key.string = string.id;
	struct ht_text entry = { raw, hash, (uint32_t)n, (uint32_t)w->keys.n };
	w->out_of_memory = !HT_VEC_PUSH(w->builder->mem, &w->keys, struct ht_scan_key, key) ||
	                   !ht_text_table_put(w->builder->mem, &w->key_index, &entry);
	return w->out_of_memory ? UINT32_MAX : entry.id;
}

bool ht_column_number(
        struct ht_builder *builder, const struct ht_column_key *key, uint32_t *ret_column)
{
	struct ht_text text;
	if (!ht_pool_add(&builder->columns, (const char *)key, sizeof *key,
	            ht_hash(key, sizeof *key), &text))
		return false;
	*ret_column = text.id;
	return true;
}

bool ht_worker_column(
        struct ht_worker *w, struct ht_scan_key *key, enum ht_arg_type type, uint32_t *ret_column)
{
	struct ht_column_key column = { key->string, (uint8_t)type, key->top_level, 0 };
	if (!ht_column_number(w->builder, &column, ret_column))
		return false;
	if (*ret_column >= HT_MAX_COLUMNS && !w->use) {
		w->too_many_columns = true;
		return false;
	}
	key->column[type] = *ret_column + 1;
	return true;
}

/* What a column id stands for; false for an id that is not this load's. */
static bool column_key(struct ht_worker *w, uint32_t column, struct ht_column_key *ret_key)
{
	struct ht_pool *pool = &w->builder->columns;
	pthread_mutex_lock(&pool->lock);
	bool known = column < pool->texts.n;
	if (known)
		memcpy(ret_key, ((struct ht_text *)pool->texts.data)[column].bytes,
		        sizeof *ret_key);
	pthread_mutex_unlock(&pool->lock);
	return known;
}

void ht_worker_set_text(struct ht_worker *w, const char *end)
{
	w->text_end = end;
	w->epoch++;
}

void ht_worker_begin_event(struct ht_worker *w)
{
	w->n_items = 0;
	w->marks.n = 0;
	w->first_arg_item = SIZE_MAX;
	w->ts_ns = w->dur_ns = 0;
	w->track = (struct ht_track_key){ .document = w->document };
	w->name = w->cat = HT_NO_STR;
	w->ts_digits = w->dur_digits = 0;
	w->ph = 0;
	w->has_ts = w->has_dur = w->has_cat = false;
	w->stat_bits = w->repair_bits;
}

bool ht_worker_grow_items(struct ht_worker *w)
{
	struct ht_mem *mem = w->builder->mem;
	size_t old = w->cap_items, cap = old ? old * 2 : 256;
	if (cap > UINT32_MAX / 2)
		return false;
	uint32_t *items = ht_mem_alloc(mem, cap * sizeof *items);
	uint32_t *keys = ht_mem_alloc(mem, cap * sizeof *keys);
	uint64_t *values = ht_mem_alloc(mem, cap * sizeof *values);
	if (!items || !keys || !values) {
		ht_mem_free(mem, items, cap * sizeof *items);
		ht_mem_free(mem, keys, cap * sizeof *keys);
		ht_mem_free(mem, values, cap * sizeof *values);
		w->out_of_memory = true;
		return false;
	}
	if (old) {
		memcpy(items, w->items, old * sizeof *items);
		memcpy(keys, w->item_keys, old * sizeof *keys);
		memcpy(values, w->item_values, old * sizeof *values);
	}
	ht_mem_free(mem, w->items, old * sizeof *items);
	ht_mem_free(mem, w->item_keys, old * sizeof *keys);
	ht_mem_free(mem, w->item_values, old * sizeof *values);
	w->items = items;
	w->item_keys = keys;
	w->item_values = values;
	w->cap_items = (uint32_t)cap;
	return true;
}

/* Forget n items from the first on. */
static void drop_items(struct ht_worker *w, size_t first, size_t n)
{
	size_t from = first + n, left = w->n_items - from;
	memmove(&w->items[first], &w->items[from], left * sizeof *w->items);
	memmove(&w->item_keys[first], &w->item_keys[from], left * sizeof *w->item_keys);
	memmove(&w->item_values[first], &w->item_values[from], left * sizeof *w->item_values);
	w->n_items -= (uint32_t)n;
}

/* The field's value came first and something of another type last: forget it. */
static void clear_field(struct ht_worker *w, uint32_t field)
{
	switch (field) {
	case HT_FIELD_PH: w->ph = 0; break;
	case HT_FIELD_CAT:
		w->cat = HT_NO_STR;
		w->has_cat = false;
		break;
	case HT_FIELD_NAME: w->name = HT_NO_STR; break;
	case HT_FIELD_PID:
		w->track.pid = 0;
		w->track.pid_type = HT_ID_ABSENT;
		break;
	case HT_FIELD_TID:
		w->track.tid = 0;
		w->track.tid_type = HT_ID_ABSENT;
		break;
	case HT_FIELD_TS:
		w->ts_ns = 0;
		w->ts_digits = 0;
		w->has_ts = false;
		break;
	case HT_FIELD_DUR:
		w->dur_ns = 0;
		w->dur_digits = 0;
		w->has_dur = false;
		break;
	default: break;
	}
}

void ht_worker_drop_args(struct ht_worker *w)
{
	size_t end = w->first_arg_item;
	while (w->items[end] != HT_FIELD_ARGS_END)
		end++;
	drop_items(w, w->first_arg_item, end + 1 - w->first_arg_item);
	ht_worker_stat(w, HT_STAT_duplicate_key);
}

/* Same key, same object: fields and columns of one key are equal here. */
static bool same_key(const struct ht_worker *w, size_t i, size_t j)
{
	const struct ht_scan_key *keys = w->keys.data;
	const struct ht_scan_key *a = &keys[w->item_keys[i]], *b = &keys[w->item_keys[j]];
	return a->string == b->string && a->top_level == b->top_level;
}

/* The slot of an item's key in a table of items + 1, taken or free. */
static uint32_t *find_slot(const struct ht_worker *w, uint32_t *slots, size_t cap, size_t i)
{
	const struct ht_scan_key *key = (struct ht_scan_key *)w->keys.data + w->item_keys[i];
	return &slots[HT_PROBE(at, cap, ht_hash_mix(key->string, key->top_level),
	        !slots[at] || same_key(w, i, slots[at] - 1))];
}

/* Duplicate keys: the last one wins. Only for shapes not seen before. False when out of memory. */
static bool drop_duplicates(struct ht_worker *w)
{
	size_t cap = 16, n = 0;
	while (cap < 2 * (size_t)w->n_items)
		cap *= 2;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->builder->mem, &w->scratch, 1, cap * sizeof(uint32_t)))
		return false;
	uint32_t *slots = w->scratch.data;
	unsigned n_again = 0; /* fields that every event has once */
	memset(slots, 0, cap * sizeof *slots);
	for (size_t i = w->n_items; i-- > 0;) {
		if (w->item_keys[i] == UINT32_MAX)
			continue;
		uint32_t *slot = find_slot(w, slots, cap, i);
		if (*slot && w->items[i] != w->items[*slot - 1])
			clear_field(w, w->items[i]);
		if (*slot)
			n_again += w->items[i] == HT_FIELD_PH || w->items[i] == HT_FIELD_TS;
		if (*slot)
			w->items[i] = DROPPED;
		else
			*slot = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < w->n_items; i++) {
		if (w->items[i] == DROPPED) {
			ht_worker_stat(w, HT_STAT_duplicate_key);
			continue;
		}
		w->items[n] = w->items[i];
		w->item_keys[n] = w->item_keys[i];
		w->item_values[n++] = w->item_values[i];
	}
	w->n_items = (uint32_t)n;
	/* what stood between two events is missing, or has become part of a text */
	if (n_again >= 2 || (n_again && w->stat_bits >> HT_STAT_unescaped_quote & 1))
		ht_worker_stat(w, HT_STAT_events_lost);
	return true;
}

/* May the column have values? The first HT_MAX_COLUMNS that ask may. */
static bool take_column(struct ht_worker *w, uint32_t column, bool *ret_taken)
{
	struct ht_vec *used = &w->use->used;
	if (column >= used->n) {
		size_t extra = column + 1 - used->n;
		if (!ht_vec_reserve(w->builder->mem, used, 1, extra))
			return false;
		memset((uint8_t *)used->data + used->n, 0, extra);
		used->n += extra;
	}
	uint8_t *is_used = (uint8_t *)used->data + column;
	if (!*is_used && w->use->n < HT_MAX_COLUMNS) {
		*is_used = 1;
		w->use->n++;
	}
	*ret_taken = *is_used;
	return true;
}

/* Drop the args whose columns are too many. False when out of memory. */
static bool drop_surplus(struct ht_worker *w)
{
	size_t n = 0;
	for (size_t i = 0; w->use && i < w->n_items; i++) {
		bool taken = true;
		if (w->items[i] >= HT_FIELD_COUNT &&
		        !take_column(w, w->items[i] - HT_FIELD_COUNT, &taken))
			return false;
		if (!taken) {
			ht_worker_stat(w, HT_STAT_too_many_keys);
			continue;
		}
		w->items[n] = w->items[i];
		w->item_keys[n] = w->item_keys[i];
		w->item_values[n++] = w->item_values[i];
	}
	if (w->use)
		w->n_items = (uint32_t)n;
	return true;
}

bool ht_worker_shape(struct ht_worker *w, uint32_t *ret_shape)
{
	size_t n = w->n_items * sizeof(uint32_t);
	const char *bytes = n ? (const char *)w->items : "";
	uint64_t hash = ht_hash(bytes, n);
	const struct ht_text *known = ht_intern_find(&w->shapes, bytes, n, hash);
	if (known) {
		*ret_shape = known->id;
		return true;
	}
	if (drop_duplicates(w) && drop_surplus(w) &&
	        ht_intern(&w->shapes, bytes, w->n_items * sizeof(uint32_t), ret_shape))
		return true;
	w->out_of_memory = true;
	return false;
}

static bool find_ids(struct ht_worker *w, uint32_t *ret_track, uint32_t *ret_cat)
{
	if (!w->has_last_track || memcmp(&w->last_track, &w->track, sizeof w->track) != 0) {
		if (!ht_intern(&w->tracks, (const char *)&w->track, sizeof w->track,
		            &w->last_track_id))
			return false;
		w->last_track = w->track;
		w->has_last_track = true;
	}
	if (!w->has_last_cat || w->last_cat != w->cat) {
		if (!ht_intern(
		            &w->categories, (const char *)&w->cat, sizeof w->cat, &w->last_cat_id))
			return false;
		w->last_cat = w->cat;
		w->has_last_cat = true;
	}
	*ret_track = w->last_track_id;
	/* the 65,536th category and later ones share the last number; far beyond any real trace */
	*ret_cat = w->last_cat_id < UINT16_MAX ? w->last_cat_id : UINT16_MAX;
	return true;
}

/* One fraction of a time; false when it is surely a decimal one: longer than nanoseconds, or with a 0 before
 * another digit, which a count of nanoseconds never has. */
static bool note_fraction(struct ht_fractions *f, int64_t ns, uint8_t digits)
{
	uint64_t fraction = (ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns) % 1000;
	if (!digits)
		return true;
	if (digits > 3 || (digits > 1 && fraction < 100))
		return false;
	f->n++;
	f->saw |= (uint8_t)(1u << (digits - 1));
	if (digits == 3 && fraction % 10 == 0)
		f->saw |= HT_FRACTION_ENDS_0;
	return true;
}

/* Remember which times have short fractions until it is settled that fractions are decimal. */
static bool note_fractions(struct ht_worker *w, uint32_t row)
{
	struct ht_fractions *f = &w->chunk->fractions;
	if (f->decimal || (!w->ts_digits && !w->dur_digits))
		return true;
	if (!note_fraction(f, w->ts_ns, w->ts_digits) ||
	        !note_fraction(f, w->dur_ns, w->dur_digits)) {
		f->decimal = true;
		ht_vec_free(w->chunk->mem, &f->rows, sizeof(uint64_t));
		return true;
	}
	if (w->ts_digits % 3 == 0 && w->dur_digits % 3 == 0)
		return true;
	uint64_t entry = (uint64_t)row << 16 | (uint64_t)w->ts_digits << 8 | w->dur_digits;
	return HT_VEC_PUSH(w->chunk->mem, &f->rows, uint64_t, entry);
}

static uint8_t event_flags(struct ht_worker *w)
{
	uint8_t flags = 0;
	bool span = w->ph == 'X' || (!w->ph && w->has_ts && w->has_dur);
	/* beyond this range differences and sums of times would not fit 64 bits */
	if (w->ts_ns >= HT_MAX_TIME_NS || w->ts_ns <= -HT_MAX_TIME_NS) {
		w->ts_ns = 0;
		w->has_ts = false;
		flags |= HT_EV_BAD_TIME;
		ht_worker_stat(w, HT_STAT_absurd_time);
	}
	if (!w->has_ts)
		flags |= HT_EV_NO_TS;
	if (!w->has_dur)
		flags |= HT_EV_NO_DUR;
	if (span && w->has_ts)
		flags |= HT_EV_SPAN;
	if (span && !w->has_dur)
		ht_worker_stat(w, HT_STAT_missing_duration);
	if (span && !w->has_cat)
		ht_worker_stat(w, HT_STAT_missing_category);
	if (w->dur_ns < 0) {
		w->dur_ns = 0;
		ht_worker_stat(w, HT_STAT_negative_duration);
	}
	return flags;
}

bool ht_worker_put_arg(struct ht_worker *w, uint32_t row, uint32_t i_column, uint64_t value)
{
	struct ht_chunk *c = w->chunk;
	struct ht_chunk_column *column = NULL;
	if (i_column < c->columns.n)
		column = (struct ht_chunk_column *)c->columns.data + i_column;
	if (!column || !column->cap) {
		struct ht_column_key key;
		if (!column_key(w, i_column, &key) ||
		        !(column = ht_chunk_column(c, i_column, key.type)))
			return false;
	}
	return ht_chunk_push(c, column, row, value);
}

/* The args of a row, which go into columns with room for them but for a few times. */
static bool put_args(struct ht_worker *w, uint32_t row)
{
	const uint32_t *items = w->items;
	const uint64_t *values = w->item_values;
	struct ht_chunk_column *columns = w->chunk->columns.data;
	size_t n_items = w->n_items, n_columns = w->chunk->columns.n;
	for (size_t i = 0; i < n_items; i++) {
		/* fields wrap around to what is no column */
		uint32_t i_column = items[i] - HT_FIELD_COUNT;
		if (i_column < n_columns && ht_chunk_put(&columns[i_column], row, values[i]))
			continue;
		if (items[i] < HT_FIELD_COUNT)
			continue;
		if (!ht_worker_put_arg(w, row, i_column, values[i]))
			return false;
		columns = w->chunk->columns.data;
		n_columns = w->chunk->columns.n;
	}
	return true;
}

bool ht_worker_store(struct ht_worker *w, uint32_t shape)
{
	struct ht_chunk *c = w->chunk;
	uint32_t track, cat, row = c->n;
	if ((row == c->cap && !ht_chunk_grow(c, 1)) || !find_ids(w, &track, &cat) ||
	        !note_fractions(w, row) || !put_args(w, row)) {
		w->out_of_memory = true;
		return false;
	}
	c->n = row + 1;
	c->flags[row] = event_flags(w);
	c->ts_ns[row] = w->ts_ns;
	c->dur_ns[row] = w->dur_ns;
	c->name[row] = w->name;
	c->track[row] = track;
	c->shape[row] = shape;
	c->cat[row] = (uint16_t)cat;
	c->ph[row] = w->ph;
	for (uint64_t bits = w->stat_bits; bits; bits &= bits - 1)
		ht_chunk_stat(c, (enum ht_stat_code)__builtin_ctzll(bits), w->event_offset, 1);
	return true;
}

bool ht_worker_store_spans(
        struct ht_worker *w, const struct ht_spans *spans, size_t first, size_t n, uint32_t shape)
{
	struct ht_chunk *c = w->chunk;
	uint32_t row = c->n, cat;
	bool ok = c->cap - row >= n || ht_chunk_grow(c, (uint32_t)n);
	ht_worker_begin_event(w);
	w->cat = spans->category;
	w->track.pid_type = w->track.tid_type = HT_ID_INT;
	for (size_t i = 0; ok && i < n; i++, row++) {
		w->track.pid = spans->pids[first + i];
		w->track.tid = spans->tids[first + i];
		ok = find_ids(w, &c->track[row], &cat);
		c->cat[row] = (uint16_t)cat;
		c->shape[row] = shape;
		c->flags[row] = HT_EV_SPAN;
		c->ph[row] = 'X';
	}
	w->out_of_memory |= !ok;
	if (!ok)
		return false;
	memcpy(c->ts_ns + c->n, spans->ts_ns + first, n * sizeof *c->ts_ns);
	memcpy(c->dur_ns + c->n, spans->dur_ns + first, n * sizeof *c->dur_ns);
	memcpy(c->name + c->n, spans->names + first, n * sizeof *c->name);
	c->n = row;
	return true;
}

ht_scan_event_fn ht_scan_event_best(void)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return ht_scan_event_avx2;
#elif defined(__aarch64__)
	return ht_scan_event_neon;
#endif
	return ht_scan_event_scalar;
}
