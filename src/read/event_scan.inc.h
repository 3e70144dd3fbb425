/*
 * event_scan.inc.h - the strict event scanner, compiled once per instruction set.
 *
 * The includer defines HT_SCAN_EVENT (the function's name) and, for SIMD, HT_SIMD_AVX2 or
 * HT_SIMD_NEON. The scanner reads exactly what RFC 8259 allows; at the first defect it returns NULL
 * and repair.c takes over for this event.
 *
 * Speed comes from guessing: events of one writer list the same keys in the same order, so each key
 * remembers which keys followed it, and a guess is checked with one comparison. Items are
 * kept aside until the event is complete, so a defect leaves no trace.
 */
#include "json/block.h"
#include "json/number.h"
#include "json/text.h"
#include "read/chunk.h"

#include <string.h>

#define KEYS(w) ((struct ht_scan_key *)(w)->keys.data)

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
	if (!ht_vec_reserve(w->load->mem, &w->scratch, 1, n * 3 + 1)) {
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

/* The list or object at p, kept as its JSON text. Each distinct text is validated once. */
static const char *scan_container(struct ht_worker *w, const char *start, uint32_t *ret_id)
{
	const char *p = start;
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
		p++;
	} while (depth);
	size_t n = (size_t)(p - start);
	uint64_t hash = ht_hash(start, n);
	const struct ht_text *known = ht_intern_find(&w->strings, start, n, hash);
	if (known) {
		*ret_id = known->id;
		return p;
	}
	/* the validator wants a zero behind the text */
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->load->mem, &w->scratch, 1, n + HT_PADDING)) {
		w->out_of_memory = true;
		return NULL;
	}
	memcpy(w->scratch.data, start, n);
	memset((char *)w->scratch.data + n, 0, HT_PADDING);
	if (!ht_json_valid(w->scratch.data, n))
		return NULL;
	if (!ht_intern_add(&w->strings, start, n, hash, ret_id)) {
		w->out_of_memory = true;
		return NULL;
	}
	return p;
}

/* A number as type and bits. */
static inline const char *scan_number(
        struct ht_worker *w, const char *p, enum ht_arg_type *ret_type, uint64_t *ret_bits)
{
	const char *start = p;
	uint64_t value = 0;
	while (ht_is_digit(*p))
		value = value * 10 + (uint64_t)(*p++ - '0');
	size_t n = (size_t)(p - start);
	if (n && n <= 18 && *p != '.' && (*p | 0x20) != 'e' && (n == 1 || *start != '0')) {
		*ret_type = HT_ARG_I64;
		*ret_bits = value;
		return p;
	}
	struct ht_number number = ht_number_parse(start);
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

static inline bool starts(const char *p, const char *word, size_t n)
{
	return memcmp(p, word, n) == 0;
}

/* A text or container, as its id. Values of one key repeat: the last one is tried first. */
static inline const char *scan_text(
        struct ht_worker *w, uint32_t i_key, const char *p, uint32_t *ret_id)
{
	struct ht_scan_key *key = &KEYS(w)[i_key];
	if (key->last_n && (size_t)(w->text_end - p) >= key->last_n &&
	        memcmp(p, key->last, key->last_n) == 0) {
		*ret_id = key->last_id;
		return p + key->last_n;
	}
	const char *end = *p == '"' ? scan_string(w, p, ret_id) : scan_container(w, p, ret_id);
	if (end) {
		key->last = p;
		key->last_n = end - p < (ptrdiff_t)UINT32_MAX ? (uint32_t)(end - p) : 0;
		key->last_id = *ret_id;
	}
	return end;
}

/* Any value, as an arg of key. */
static const char *scan_value(struct ht_worker *w, uint32_t i_key, const char *p)
{
	enum ht_arg_type type;
	uint64_t value = 0;
	uint32_t id = 0, column;
	switch (*p) {
	case '"':
		type = HT_ARG_STR;
		p = scan_text(w, i_key, p, &id);
		value = id;
		break;
	case '[':
	case '{':
		type = HT_ARG_JSON;
		p = scan_text(w, i_key, p, &id);
		value = id;
		break;
	case 't':
		type = HT_ARG_BOOL;
		value = 1;
		p = starts(p, "true", 4) ? p + 4 : NULL;
		break;
	case 'f':
		type = HT_ARG_BOOL;
		p = starts(p, "false", 5) ? p + 5 : NULL;
		break;
	case 'n':
		type = HT_ARG_NULL;
		p = starts(p, "null", 4) ? p + 4 : NULL;
		break;
	default: p = scan_number(w, p, &type, &value); break;
	}
	if (!p)
		return NULL;
	struct ht_scan_key *key = &KEYS(w)[i_key];
	column = key->column[type] - 1;
	if (!key->column[type] && !ht_worker_column(w, key, type, &column)) {
		w->out_of_memory = true;
		return NULL;
	}
	return ht_worker_item(w, HT_FIELD_COUNT + column, i_key, value) ? p : NULL;
}

/* A key that no guess found: look it up, and make it the last guess after *previous. */
static const char *scan_new_key(struct ht_worker *w, const char *p, uint32_t *previous)
{
	const char *stop = ht_string_stop(p);
	while ((*stop == '\\' && stop[1]) || (unsigned char)*stop >= 0x80)
		stop = ht_string_stop(stop + (*stop == '\\' ? 2 : 1));
	if (*stop != '"')
		return NULL;
	uint32_t key = ht_worker_key(w, p, (size_t)(stop - p), KEYS(w)[*previous].top_level);
	if (key == UINT32_MAX)
		return NULL;
	uint32_t *guesses = KEYS(w)[*previous].next;
	size_t free = 0;
	while (free < HT_N_GUESSES - 1 && guesses[free])
		free++;
	guesses[free] = key;
	*previous = key;
	return stop + 1;
}

/* The key at p (the quote) by guess or lookup; returns the byte where its value starts. */
static inline const char *scan_key(struct ht_worker *w, const char *p, uint32_t *previous)
{
	if (*p != '"')
		return NULL;
	p++;
	uint32_t *guesses = KEYS(w)[*previous].next;
	const struct ht_scan_key *guess = &KEYS(w)[guesses[0]];
	size_t i = 0;
	while (!ht_scan_key_matches(guess, p) && ++i < HT_N_GUESSES)
		guess = &KEYS(w)[guesses[i]];
	if (i < HT_N_GUESSES) {
		uint32_t key = guesses[i];
		if (i) {
			guesses[i] = guesses[i - 1]; /* what is found moves forward */
			guesses[i - 1] = key;
		}
		*previous = key;
		p += guess->n + 1;
	} else if (!(p = scan_new_key(w, p, previous))) {
		return NULL;
	}
	if (p[0] == ':' && p[1] == ' ' && (unsigned char)p[2] > ' ')
		return p + 2;
	p = ht_skip_space(p);
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
	uint32_t key = 1;
	bool end = false;
	if (!ht_worker_item(w, HT_FIELD_ARGS, UINT32_MAX, 0))
		return NULL;
	p = ht_skip_space(p + 1);
	if (*p == '}') {
		p++;
		end = true;
	}
	while (!end) {
		if (!(p = scan_key(w, p, &key)) || !(p = scan_value(w, key, p)) ||
		        !(p = scan_separator(p, &end)))
			return NULL;
	}
	return ht_worker_item(w, HT_FIELD_ARGS_END, UINT32_MAX, 0) ? p : NULL;
}

/* A pid or tid; NULL when the value is neither a whole number nor a string. */
static inline const char *scan_id(
        struct ht_worker *w, const char *p, int64_t *ret_id, uint8_t *ret_type)
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

/* ts or dur, number or numeric string; NULL when it is neither. */
static inline const char *scan_time(
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

/* A field with a column of its own. NULL: its value is of another type, and the caller keeps it as
 * a plain arg of the event. */
static inline const char *scan_field(
        struct ht_worker *w, uint32_t key, enum ht_field field, const char *p)
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
		if (*p == '"' && (end = scan_text(w, key, p, &id))) {
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
		if ((end = scan_time(w, p, &w->ts_ns, &w->ts_digits)))
			w->has_ts = true;
		break;
	case HT_FIELD_DUR:
		if ((end = scan_time(w, p, &w->dur_ns, &w->dur_digits)))
			w->has_dur = true;
		break;
	default: break;
	}
	return end;
}

const char *HT_SCAN_EVENT(struct ht_worker *w, const char *p)
{
	uint32_t key = 0;
	bool end = false;
	ht_worker_begin_event(w);
	p = ht_skip_space(p + 1);
	if (*p == '}') {
		p++;
		end = true;
	}
	while (!end) {
		if (!(p = scan_key(w, p, &key)))
			return NULL;
		enum ht_field field = KEYS(w)[key].field;
		const char *after = NULL;
		if (field == HT_FIELD_ARGS && *p == '{') {
			if (w->first_arg_item != SIZE_MAX)
				ht_worker_drop_args(w);
			w->first_arg_item = w->n_items;
			if (!(p = scan_args(w, p)))
				return NULL;
		} else if (field < HT_FIELD_ARGS && (after = scan_field(w, key, field, p))) {
			p = after;
			if (!ht_worker_item(w, field, key, 0))
				return NULL;
		} else if (w->out_of_memory || !(p = scan_value(w, key, p))) {
			return NULL;
		}
		if (!(p = scan_separator(p, &end)))
			return NULL;
	}
	return ht_worker_commit(w) ? p : NULL;
}
