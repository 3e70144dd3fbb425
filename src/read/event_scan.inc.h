/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan.inc.h - the strict event scanner, compiled once per instruction set.
 *
 * The includer defines HT_SCAN_EVENT (the function's name) and, for SIMD, HT_SIMD_AVX2 or
 * HT_SIMD_NEON. The scanner reads exactly what RFC 8259 allows; at the first defect it returns NULL
 * and repair.c takes over for this event.
 *
 * Speed comes from guessing that an event is laid out like one before (layout.h). Any other is read key by
 * key. Items are kept aside until the event is complete, so a defect leaves no trace.
 */
#include "json/block.h"
#include "base/number.h"
#include "json/json_text.h"
#include "read/recover.h"
#include "read/event_worker.h"

#include <string.h>

#define KEYS(w) ((struct ht_scan_key *)(w)->keys.data)
/* Texts of valid lists and objects are known by another hash than the same text as a string value. */
#define VALID_JSON 0x9E3779B97F4A7C15u

_Static_assert(
        HT_MAX_LAYOUT_TEXT <= HT_PADDING, "texts of layouts are compared within the padding");

/* The rest of a string that has escapes or bytes beyond ASCII; p stands on the first such byte. */
static const char *scan_string_slow(
        struct ht_worker *w, const char *body, const char *p, uint32_t *ret_id)
{
	for (;;) {
		unsigned char c = (unsigned char)*p;
		if (c == '"')
			break;
		if (c == '\\') {
			if (!p[1])
				return NULL;
			p += 2;
		} else if (c >= 0x80) {
			size_t n = ht_utf8_length(p, strnlen(p, 4));
			if (!n)
				return NULL;
			p += n;
		} else {
			return NULL;
		}
		p = ht_string_stop(p);
	}
	size_t n = (size_t)(p - body), bad;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->builder->mem, &w->scratch, 1, n * 3 + 1)) {
		w->out_of_memory = true;
		return NULL;
	}
	n = ht_json_decode(body, n, w->scratch.data, &bad);
	if (bad)
		return NULL;
	if (!ht_intern(&w->strings, w->scratch.data, n, ret_id)) {
		w->out_of_memory = true;
		return NULL;
	}
	return p + 1;
}

/* The string at p (the quote); returns the byte after its closing quote. */
static inline const char *scan_string(struct ht_worker *w, const char *p, uint32_t *ret_id)
{
	const char *body = p + 1, *stop = ht_string_stop(body);
	if (*stop != '"')
		return scan_string_slow(w, body, stop, ret_id);
	if (!ht_intern(&w->strings, body, (size_t)(stop - body), ret_id)) {
		w->out_of_memory = true;
		return NULL;
	}
	return stop + 1;
}

static const char *skip_raw_string(const char *p)
{
	for (p++;;) {
		p = ht_string_stop(p);
		if (*p == '"')
			return p + 1;
		if (!*p || (*p == '\\' && !p[1]))
			return NULL;
		p += *p == '\\' ? 2 : 1;
	}
}

/* The end of the list or object at p by brackets alone, step by step; NULL when the text ends before, or
 * when they nest deeper than is valid, so that brackets nobody closes cost a few events, not the file. */
static const char *step_over_container(const char *p)
{
	size_t depth = 0;
	do {
		p = ht_structure_stop(p);
		if (!*p)
			return NULL;
		if (*p == '"') {
			if (!(p = skip_raw_string(p)))
				return NULL;
			continue;
		}
		depth += *p == '{' || *p == '[' ? 1 : (size_t)-1;
		if (depth > HT_MAX_DEPTH)
			return NULL;
		p++;
	} while (depth);
	return p;
}

/* The same by blocks, where there are masks of them and no escapes. */
static inline const char *skip_container(const char *start)
{
#ifdef HT_BLOCK
	size_t depth = 0;
	uint32_t in_string = 0; /* all ones: the block begins inside a string */
	for (const char *p = start;; p += HT_BLOCK) {
		struct ht_block block = ht_block_read(p);
		if (block.stops)
			break;
		uint32_t inside = ht_prefix_xor(block.quotes) ^ in_string;
		uint32_t opens = block.opens & ~inside, closes = block.closes & ~inside;
		size_t n_closes = (size_t)__builtin_popcount(closes);
		in_string = -(inside >> 31);
		if (n_closes < depth) {
			depth += (size_t)__builtin_popcount(opens) - n_closes;
			if (depth > HT_MAX_DEPTH + HT_BLOCK)
				return NULL;
			continue;
		}
		/* the bracket that closes as many as were opened before it */
		for (uint32_t bits = closes, n = 1; bits; bits &= bits - 1, n++)
			if (depth + (size_t)__builtin_popcount(opens & (bits ^ (bits - 1))) == n)
				return p + __builtin_ctz(bits) + 1;
		depth += (size_t)__builtin_popcount(opens) - n_closes;
	}
#endif
	return step_over_container(start);
}

/* The events of a trace are in no event: then this one ran into another copy of what stood before them. */
static bool is_event_list(const char *start, size_t n)
{
	const char *first = ht_skip_blanks(start + 1, start + n);
	return *start == '[' && ht_phase_form(first, start + n);
}

/* A list or object whose text is new to this worker, as its id. */
static bool add_container(struct ht_worker *w, const char *start, size_t n, uint32_t *ret_id)
{
	uint64_t hash = ht_hash(start, n);
	/* the validator wants a zero behind the text */
	w->scratch.n = 0;
	w->out_of_memory = !ht_vec_reserve(w->builder->mem, &w->scratch, 1, n + HT_PADDING);
	if (w->out_of_memory)
		return false;
	memcpy(w->scratch.data, start, n);
	memset((char *)w->scratch.data + n, 0, HT_PADDING);
	if (!ht_json_valid(w->scratch.data, n) || is_event_list(start, n))
		return false;
	const struct ht_text *known = NULL;
	if (ht_intern(&w->strings, start, n, ret_id))
		known = ht_intern_find(&w->strings, start, n, hash);
	struct ht_text valid = known ? *known : (struct ht_text){ 0 };
	valid.hash = hash ^ VALID_JSON;
	w->out_of_memory = !known || !ht_text_table_put(w->builder->mem, &w->strings.table, &valid);
	return !w->out_of_memory;
}

/* The list or object at p, kept as its JSON text. Each distinct text is validated once. */
static const char *scan_container(struct ht_worker *w, const char *start, uint32_t *ret_id)
{
	const char *p = skip_container(start);
	if (!p)
		return NULL;
	size_t n = (size_t)(p - start);
	const struct ht_text *known =
	        ht_intern_find(&w->strings, start, n, ht_hash(start, n) ^ VALID_JSON);
	if (known)
		*ret_id = known->id;
	return known || add_container(w, start, n, ret_id) ? p : NULL;
}

/* A number of up to 15 digits and nothing else; NULL for any other. */
static inline const char *scan_digits(const char *p, uint64_t *ret_value)
{
	size_t n = ht_digits(p, ret_value);
	const char *end = p + n;
	bool is_plain = n - 1 < 15 && *end != '.' && (*end | 0x20) != 'e';
	return is_plain && (n == 1 || *p != '0') ? end : NULL;
}

/* Any number as type and bits. */
static const char *scan_number_slow(
        struct ht_worker *w, const char *p, enum ht_arg_type *ret_type, uint64_t *ret_bits)
{
	struct ht_number number = ht_number_parse(p);
	if (number.type == HT_NUMBER_NONE)
		return NULL;
	if (number.clamped)
		ht_worker_stat(w, HT_STAT_number_clamped);
	*ret_type = number.type == HT_NUMBER_I64   ? HT_ARG_I64
	            : number.type == HT_NUMBER_U64 ? HT_ARG_U64
	                                           : HT_ARG_F64;
	*ret_bits = number.u;
	return number.end;
}

static inline const char *scan_number(
        struct ht_worker *w, const char *p, enum ht_arg_type *ret_type, uint64_t *ret_bits)
{
	const char *end = scan_digits(p, ret_bits);
	*ret_type = HT_ARG_I64;
	return end ? end : scan_number_slow(w, p, ret_type, ret_bits);
}

static inline bool starts(const char *p, const char *word, size_t n)
{
	return memcmp(p, word, n) == 0;
}

/* Does the text at p begin with that of the memo? */
static inline bool is_again(
        const struct ht_worker *w, const struct ht_text_memo *memo, const char *p)
{
	if (memo->epoch != w->epoch)
		return false;
	if (memo->n <= HT_PADDING)
		return ht_same_text(p, memo->text, memo->n);
	return (size_t)(w->text_end - p) >= memo->n && memcmp(p, memo->text, memo->n) == 0;
}

/* A text or container, as its id. Values of one place repeat: the last one is tried first. */
static inline const char *scan_text(
        struct ht_worker *w, struct ht_text_memo *memo, const char *p, uint32_t *ret_id)
{
	if (is_again(w, memo, p)) {
		*ret_id = (uint32_t)memo->value;
		return p + memo->n;
	}
	const char *end = *p == '"' ? scan_string(w, p, ret_id) : scan_container(w, p, ret_id);
	if (end && end - p < (ptrdiff_t)UINT32_MAX)
		*memo = (struct ht_text_memo){ p, w->epoch, *ret_id, (uint32_t)(end - p) };
	return end;
}

static inline const char *scan_word(const char *p, const char *word, size_t n)
{
	return starts(p, word, n) ? p + n : NULL;
}

/* Any value, as type and bits. */
static inline const char *scan_any(struct ht_worker *w, struct ht_text_memo *memo, const char *p,
        enum ht_arg_type *ret_type, uint64_t *ret_bits)
{
	uint32_t id = 0;
	switch (*p) {
	case '"':
		*ret_type = HT_ARG_STR;
		p = scan_text(w, memo, p, &id);
		*ret_bits = id;
		return p;
	case '[':
	case '{':
		*ret_type = HT_ARG_JSON;
		p = scan_text(w, memo, p, &id);
		*ret_bits = id;
		return p;
	case 't':
		*ret_type = HT_ARG_BOOL;
		*ret_bits = 1;
		return scan_word(p, "true", 4);
	case 'f':
		*ret_type = HT_ARG_BOOL;
		*ret_bits = 0;
		return scan_word(p, "false", 5);
	case 'n':
		*ret_type = HT_ARG_NULL;
		*ret_bits = 0;
		return scan_word(p, "null", 4);
	default: return scan_number(w, p, ret_type, ret_bits);
	}
}

/* Any value, as an arg of key. */
static const char *scan_value(struct ht_worker *w, uint32_t i_key, const char *p)
{
	struct ht_scan_key *key = &KEYS(w)[i_key];
	enum ht_arg_type type;
	uint64_t value;
	const char *end = scan_any(w, &key->memo, p, &type, &value);
	if (!end)
		return NULL;
	if (key->is_surplus) {
		ht_worker_stat(w, HT_STAT_too_many_keys);
		return end;
	}
	uint32_t column = key->column[type] - 1;
	if (!key->column[type] && !ht_worker_column(w, key, type, &column)) {
		w->out_of_memory = true;
		return NULL;
	}
	uint32_t item = HT_FIELD_COUNT + column;
	return ht_worker_item(w, item, i_key, value) &&
	                       ht_worker_mark(w, p, end, item, i_key, (uint8_t)type)
	               ? end
	               : NULL;
}

/* The key at p (the quote); returns the byte where its value starts. */
static inline const char *scan_key(
        struct ht_worker *w, const char *p, bool top_level, uint32_t *ret_key)
{
	if (*p++ != '"')
		return NULL;
	const char *stop = ht_string_stop(p);
	while ((*stop == '\\' && stop[1]) || (unsigned char)*stop >= 0x80)
		stop = ht_string_stop(stop + (*stop == '\\' ? 2 : 1));
	if (*stop != '"')
		return NULL;
	*ret_key = ht_worker_key(w, p, (size_t)(stop - p), top_level);
	if (*ret_key == UINT32_MAX)
		return NULL;
	p = ht_skip_space(stop + 1);
	return *p == ':' ? ht_skip_space(p + 1) : NULL;
}

/* After a value: steps over the comma, or returns with *ret_end set after the closing brace. */
static inline const char *scan_separator(const char *p, bool *ret_end)
{
	p = ht_skip_space(p);
	if (*p == ',')
		return ht_skip_space(p + 1);
	if (*p != '}')
		return NULL;
	*ret_end = true;
	return p + 1;
}

static const char *scan_args(struct ht_worker *w, const char *p)
{
	uint32_t key;
	bool end = false;
	if (!ht_worker_item(w, HT_FIELD_ARGS, UINT32_MAX, 0))
		return NULL;
	p = ht_skip_space(p + 1);
	if (*p == '}') {
		p++;
		end = true;
	}
	while (!end) {
		if (!(p = scan_key(w, p, false, &key)) || !(p = scan_value(w, key, p)) ||
		        !(p = scan_separator(p, &end)))
			return NULL;
	}
	return ht_worker_item(w, HT_FIELD_ARGS_END, UINT32_MAX, 0) ? p : NULL;
}

/* A pid or tid; NULL when the value is neither a whole number nor a string. */
static const char *scan_id(struct ht_worker *w, const char *p, int64_t *ret_id, uint8_t *ret_type)
{
	if (*p == '"') {
		uint32_t id;
		if ((p = scan_string(w, p, &id))) {
			*ret_id = id;
			*ret_type = HT_ID_STR;
		}
		return p;
	}
	enum ht_arg_type type;
	uint64_t bits;
	if ((p = scan_number(w, p, &type, &bits)) && type == HT_ARG_I64) {
		*ret_id = (int64_t)bits;
		*ret_type = HT_ID_INT;
		return p;
	}
	return NULL;
}

/* ts or dur, number or numeric string, in any form; NULL when it is neither. */
static const char *scan_other_time(
        struct ht_worker *w, const char *p, int64_t *ret_ns, uint8_t *ret_digits)
{
	bool quoted = *p == '"';
	struct ht_time time = ht_time_parse(p + quoted);
	if (!time.end || (quoted && *time.end != '"'))
		return NULL;
	if (quoted)
		ht_worker_stat(w, HT_STAT_string_numbers);
	if (time.rounded)
		ht_worker_stat(w, HT_STAT_sub_nanosecond);
	if (time.clamped)
		ht_worker_stat(w, HT_STAT_number_clamped);
	*ret_ns = time.ns;
	*ret_digits = time.n_fraction;
	return time.end + quoted;
}

static inline const char *scan_time(
        struct ht_worker *w, const char *p, int64_t *ret_ns, uint8_t *ret_digits)
{
	const char *end = ht_time_plain(p, ret_ns, ret_digits);
	return end ? end : scan_other_time(w, p, ret_ns, ret_digits);
}

/* A field with a column of its own. NULL: its value is of another type, and the caller keeps it as
 * a plain arg of the event. */
static const char *scan_field(
        struct ht_worker *w, struct ht_text_memo *memo, enum ht_field field, const char *p)
{
	const char *end = NULL;
	uint32_t id;
	switch (field) {
	case HT_FIELD_PH:
		if (*p == '"' && (unsigned char)p[1] >= ' ' && (signed char)p[1] > 0 &&
		        p[1] != '"' && p[1] != '\\' && p[2] == '"') {
			w->ph = p[1];
			end = p + 3;
		}
		break;
	case HT_FIELD_CAT:
		if (*p == '"' && (end = scan_text(w, memo, p, &id))) {
			w->cat = id;
			w->has_cat = true;
		}
		break;
	case HT_FIELD_NAME:
		if (*p == '"' && (end = scan_string(w, p, &id)))
			w->name = id;
		break;
	case HT_FIELD_PID: end = scan_id(w, p, &w->track.pid, &w->track.pid_type); break;
	case HT_FIELD_TID: end = scan_id(w, p, &w->track.tid, &w->track.tid_type); break;
	case HT_FIELD_TS:
		if ((end = scan_other_time(w, p, &w->ts_ns, &w->ts_digits)))
			w->has_ts = true;
		break;
	case HT_FIELD_DUR:
		if ((end = scan_other_time(w, p, &w->dur_ns, &w->dur_digits)))
			w->has_dur = true;
		break;
	default: break;
	}
	return end;
}

/* A pid. Where it and the tid behind it are the last ones, both: then *at is the place of the tid. */
static inline const char *scan_pid(struct ht_worker *w, struct ht_layout_node **at, const char *p)
{
	struct ht_layout_node *node = *at;
	if (is_again(w, &node->memo, p)) {
		*at = node->then;
		w->track.pid = node->memo.value;
		w->track.tid = node->then->memo.value;
		w->track.pid_type = w->track.tid_type = HT_ID_INT;
		return p + node->memo.n - 1;
	}
	w->pid_node = node;
	w->pid_text = p;
	return scan_id(w, p, &w->track.pid, &w->track.pid_type);
}

/* A tid; with the pid before it, it may come again. */
static const char *scan_tid(struct ht_worker *w, struct ht_layout_node *node, const char *p)
{
	const char *end = scan_id(w, p, &w->track.tid, &w->track.tid_type);
	struct ht_layout_node *before = w->pid_node, *child = before ? before->child : NULL;
	while (child && child != node)
		child = child->next;
	if (!end || !child || w->track.pid_type != HT_ID_INT || w->track.tid_type != HT_ID_INT ||
	        end - w->pid_text >= HT_PADDING)
		return end;
	before->then = node;
	before->memo = (struct ht_text_memo){ w->pid_text, w->epoch, w->track.pid,
		(uint32_t)(end - w->pid_text) + 1 };
	node->memo.value = w->track.tid;
	return end;
}

/* The value of a node, when it is an arg; NULL when it is of another type. */
static inline const char *scan_node(
        struct ht_worker *w, struct ht_layout_node **at, const char *p, uint64_t *ret_value)
{
	struct ht_layout_node *node = *at;
	enum ht_arg_type type;
	uint32_t id = 0;
	const char *end = NULL;
	bool is_ts = node->type == HT_LAYOUT_FIELD + HT_FIELD_TS;
	switch (node->type) {
	case HT_ARG_I64:
		if ((end = scan_digits(p, ret_value)))
			return end;
		break;
	case HT_ARG_STR:
	case HT_ARG_JSON:
		if ((*p == '"') == (node->type == HT_ARG_STR) &&
		        (*p == '"' || *p == '[' || *p == '{'))
			end = scan_text(w, &node->memo, p, &id);
		*ret_value = id;
		return end;
	case HT_LAYOUT_FIELD + HT_FIELD_NAME:
		return *p == '"' ? scan_text(w, &node->memo, p, &w->name) : NULL;
	case HT_LAYOUT_FIELD + HT_FIELD_PID: return scan_pid(w, at, p);
	case HT_LAYOUT_FIELD + HT_FIELD_TID: return scan_tid(w, node, p);
	case HT_LAYOUT_FIELD + HT_FIELD_TS:
	case HT_LAYOUT_FIELD + HT_FIELD_DUR:
		end = scan_time(w, p, is_ts ? &w->ts_ns : &w->dur_ns,
		        is_ts ? &w->ts_digits : &w->dur_digits);
		*(is_ts ? &w->has_ts : &w->has_dur) = end != NULL;
		return end;
	default: break;
	}
	if (node->type >= HT_LAYOUT_FIELD)
		return scan_field(w, &node->memo, (enum ht_field)(node->type - HT_LAYOUT_FIELD), p);
	end = scan_any(w, &node->memo, p, &type, ret_value);
	return end && type == node->type ? end : NULL;
}

static inline struct ht_layout_node *find_node(struct ht_layout_node *node, const char *p)
{
	while (node && !ht_same_text(p, node->text, node->n))
		node = node->next;
	return node;
}

/* Store the event that ends with a node, and expect the next to begin as the one after it did last time. */
static inline bool store_layout(
        struct ht_worker *w, struct ht_layout_node *node, struct ht_layout_node *first)
{
	const struct ht_layout_end *end = &node->end;
	if (end->fixes_ph)
		w->ph = end->ph;
	if (end->fixes_cat) {
		w->cat = end->cat;
		w->has_cat = true;
	}
	if (w->layouts.last)
		w->layouts.last->then = first;
	w->layouts.last = node;
	return ht_worker_store(w, end->shape);
}

/* An event with a layout that was learned; NULL for any other. There is room for its items: as many were read key by
 * key. */
static const char *scan_layout(struct ht_worker *w, const char *p)
{
	struct ht_layouts *layouts = &w->layouts;
	struct ht_layout_node *expected = layouts->last ? layouts->last->then : NULL;
	struct ht_layout_node *node = expected, *first = NULL;
	uint32_t n_items = 0;
	if (!node || !ht_same_text(p, node->text, node->n))
		node = find_node(layouts->first, p);
	while (node) {
		const char *value = p + node->n, *end;
		if (node->type == HT_LAYOUT_END) {
			w->n_items = n_items;
			return store_layout(w, node, first ? first : node) ? value : NULL;
		}
		struct ht_layout_node *read = node;
		end = scan_node(w, &read, value, &w->item_values[n_items]);
		if (!end) {
			/* others before the expected one may have its text, too */
			node = find_node(
			        !first && node == expected ? layouts->first : node->next, p);
			expected = NULL;
			continue;
		}
		first = first ? first : node;
		p = end;
		if (node->type < HT_LAYOUT_FIELD)
			w->items[n_items++] = node->item;
		node = find_node(read->child, p);
	}
	return NULL;
}

/* Layouts with repeated or dropped keys are not learned, nor those where a field has a value of another type: a value
 * is read as the field first. */
static bool can_learn(const struct ht_worker *w)
{
	const struct ht_mark *marks = w->marks.data;
	for (size_t i = 0; i < w->marks.n; i++)
		if (marks[i].type < HT_LAYOUT_FIELD &&
		        KEYS(w)[marks[i].key].field != HT_FIELD_COUNT)
			return false;
	return !(w->stat_bits >> HT_STAT_duplicate_key & 1) &&
	       !(w->stat_bits >> HT_STAT_too_many_keys & 1);
}

static bool finish(struct ht_worker *w, const char *start, const char *end)
{
	uint32_t shape;
	if (!ht_worker_shape(w, &shape))
		return false;
	struct ht_layout_end known = { .shape = shape, .cat = w->cat, .ph = w->ph };
	if (can_learn(w))
		ht_layouts_learn(&w->layouts, start, end, w->marks.data, w->marks.n, &known);
	return ht_worker_store(w, shape);
}

/* One member of an event; p stands where its value starts. */
static inline const char *scan_member(struct ht_worker *w, uint32_t key, const char *p)
{
	enum ht_field field = KEYS(w)[key].field;
	if (field == HT_FIELD_ARGS && *p == '{') {
		if (w->first_arg_item != SIZE_MAX)
			ht_worker_drop_args(w);
		w->first_arg_item = w->n_items;
		return scan_args(w, p);
	}
	const char *end = NULL;
	if (field < HT_FIELD_ARGS)
		end = scan_field(w, &KEYS(w)[key].memo, field, p);
	if (end)
		return ht_worker_item(w, field, key, 0) &&
		                       ht_worker_mark(w, p, end, field, key,
		                               (uint8_t)(HT_LAYOUT_FIELD + field))
		               ? end
		               : NULL;
	return w->out_of_memory ? NULL : scan_value(w, key, p);
}

const char *HT_SCAN_EVENT(struct ht_worker *w, const char *start)
{
	uint32_t key;
	bool end = false;
	ht_worker_begin_event(w);
	const char *p = scan_layout(w, start);
	if (p || w->out_of_memory)
		return p;
	ht_worker_begin_event(w);
	p = ht_skip_space(start + 1);
	if (*p == '}') {
		p++;
		end = true;
	}
	while (!end) {
		if (!(p = scan_key(w, p, true, &key)) || !(p = scan_member(w, key, p)) ||
		        !(p = scan_separator(p, &end)))
			return NULL;
	}
	return finish(w, start, p) ? p : NULL;
}
