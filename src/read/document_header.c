/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_header.c - the keys of the top-level object, before and behind the list of events.
 *
 * Their values are kept as JSON text. One that damage has joined with events is not: it is given up, so that they are found.
 */
#include "read/document_scan.h"
#include "json/events_key.h"

#include "json/block.h"
#include "json/json_text.h"
#include "read/repair.h"
#include "store/trace_meta.h"

#include <string.h>

#define MAX_HEADER_KEY_BYTES ((ptrdiff_t)64 << 10)

static enum ht_status store_header(
        struct ht_scan *s, const char *key, size_t n_key, const char *value, size_t n_value)
{
	struct ht_worker *w = s->w;
	struct ht_header header = { .document = ht_scan_document(s),
		.after_events = s->state->after_events };
	size_t bad;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->builder->mem, &w->scratch, 1, n_key * 3 + 1))
		return ht_scan_fail_memory(s);
	size_t n = ht_json_decode(key, n_key, w->scratch.data, &bad);
	if (bad)
		ht_scan_count(s, HT_STAT_invalid_utf8, key);
	for (size_t i = 0; i < n_key; i++)
		if ((unsigned char)key[i] < ' ') {
			ht_scan_count(s, HT_STAT_control_bytes, key);
			break;
		}
	if (!ht_intern(&w->strings, w->scratch.data, n, &header.key) ||
	        !ht_intern(&w->strings, value, n_value, &header.value) ||
	        !HT_VEC_PUSH(w->builder->mem, &w->chunk->headers, struct ht_header, header))
		return ht_scan_fail_memory(s);
	return HT_OK;
}

/* Where a value ends if it is well-formed; NULL when the text ends before. */
static const char *value_end(const char *p, const char *limit)
{
	size_t depth = 0;
	for (; p < limit; p++) {
		if (*p == '"') {
			if (!(p = ht_quote_end(p, limit)))
				return NULL;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (!depth)
				return p; /* of the object around a number */
			depth--;
		} else if (depth || (*p != ',' && ht_skip_space(p) == p)) {
			continue;
		} else {
			return p; /* behind a number or word */
		}
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* Copy the value at p to w->repaired: as it is when it is valid, else repaired. */
static enum ht_repair copy_value(struct ht_scan *s, const char *p, const char **ret_end)
{
	struct ht_vec *copy = &s->w->repaired;
	const char *end = value_end(p, s->limit);
	size_t n = end ? (size_t)(end - p) : 0;
	copy->n = 0;
	if (end && !ht_vec_reserve(s->w->builder->mem, copy, 1, n + HT_PADDING))
		return HT_REPAIR_NOMEM;
	if (end) {
		memcpy(copy->data, p, n);
		memset((char *)copy->data + n, 0, HT_PADDING);
		copy->n = n;
		*ret_end = end;
		if (ht_json_valid(copy->data, n))
			return HT_REPAIRED;
	}
	return ht_repair_header(s->w, p, s->limit, ret_end);
}

/* The list of events is told by its key, or by what it holds when one byte of that is damaged. */
static bool opens_events(struct ht_scan *s, const char *key, size_t n_key, const char *value)
{
	if (*value == '[' && ht_is_exact_events_key(key, n_key)) {
		s->p = value + 1;
		ht_scan_open_events(s);
		return true;
	}
	if (!ht_is_events_key(key, n_key) || s->state->any_events)
		return false;
	const char *first = *value == '[' ? ht_skip_blanks(value + 1, s->limit) : value;
	if (first >= s->limit || *first != '{' || !ht_event_form(first, s->limit))
		return false;
	ht_scan_count(s, HT_STAT_list_mended, s->p);
	s->p = first;
	ht_scan_open_events(s);
	return true;
}

/* A value that has the list of events inside and the end of the file behind it: its brace is missing. */
static bool swallowed_events(const struct ht_scan *s, const char *end)
{
	return s->final && ht_skip_blanks(end, s->limit) >= s->limit &&
	       ht_find_events_key(s->w->repaired.data, s->w->repaired.n);
}

/* Are events in a value, and no list of them close behind it? Then the key of the list is missing, and what stood before it
 * runs into the events: text that may still be valid. */
static bool runs_into_events(const struct ht_scan *s, const char *value, const char *end)
{
	return !s->state->any_events &&
	       !ht_find_events_key(end, (size_t)(ht_look_limit(end, s->limit) - end)) &&
	       ht_has_phase(value, (size_t)(end - value));
}

/* Is the quote that closes a text that of the first key of an event? Then the text lost its own, and took the brace. */
static bool takes_brace(const struct ht_scan *s, const char *value, const char *end)
{
	const char *p = end - 2;
	if (*value != '"')
		return false;
	while (p > value && ht_skip_space(p) > p)
		p--;
	return *p == '{' && ht_event_form(p, s->limit);
}

/* The value of a top-level key; everything but the list of events is kept as its JSON text. */
static enum ht_status scan_header_value(
        struct ht_scan *s, const char *key, size_t n_key, const char *value)
{
	if (ht_scan_must_wait(s, value))
		return HT_OK;
	if (value < s->limit && opens_events(s, key, n_key, value))
		return HT_OK;
	const char *end = value;
	enum ht_repair repair = HT_INCOMPLETE;
	if (value < s->limit)
		repair = copy_value(s, value, &end);
	bool is_long = end - value > (ptrdiff_t)HT_MAX_VALUE_BYTES;
	uint64_t bits = s->w->repair_bits;
	s->w->repair_bits = 0;
	if (repair == HT_REPAIR_NOMEM)
		return ht_scan_fail_memory(s);
	if (repair == HT_INCOMPLETE && !s->final && !is_long) {
		s->stop = true;
		return HT_OK;
	}
	if (!is_long && ht_scan_must_wait(s, end))
		return HT_OK;
	if (repair != HT_REPAIRED || is_long || swallowed_events(s, end) ||
	        runs_into_events(s, value, end) || takes_brace(s, value, end)) {
		s->incomplete = repair == HT_INCOMPLETE && !is_long;
		ht_scan_lose_header(s);
		return HT_OK;
	}
	for (; bits; bits &= bits - 1)
		ht_scan_count(s, (enum ht_stat_code)__builtin_ctzll(bits), value);
	HT_TRY(store_header(s, key, n_key, s->w->repaired.data, s->w->repaired.n));
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

static enum ht_status scan_header_key(struct ht_scan *s)
{
	bool is_far = s->limit - s->p > MAX_HEADER_KEY_BYTES;
	const char *end = ht_quote_end(s->p, is_far ? s->p + MAX_HEADER_KEY_BYTES : s->limit);
	if (!end && !is_far && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (end && ht_scan_must_wait(s, end))
		return HT_OK;
	const char *limit = end ? ht_look_limit(end, s->limit) : s->limit;
	const char *colon = end ? ht_skip_blanks(end + 1, limit) : limit;
	if (colon < limit && *colon == ':' && !s->state->comma) {
		ht_scan_count(s, HT_STAT_missing_comma, s->p);
		s->state->comma = true;
	}
	if (colon < limit && *colon == ':')
		return scan_header_value(
		        s, s->p + 1, (size_t)(end - s->p - 1), ht_skip_blanks(colon + 1, limit));
	s->incomplete = colon >= s->limit;
	ht_scan_lose_header(s);
	return HT_OK;
}

/* The brace that closes a document, unless more of it follows. */
static void close_document(struct ht_scan *s)
{
	if (ht_scan_must_wait(s, s->p))
		return;
	const char *limit = ht_look_limit(s->p, s->limit);
	const char *next = ht_skip_blanks(s->p + 1, limit);
	bool comma = next < limit && *next == ',';
	if (comma)
		next = ht_skip_blanks(next + 1, limit);
	bool more = next < limit && (*next == '{' ? comma && ht_event_form(next, limit)
	                                          : ht_key_form(next, limit, HT_ANY_KEY));
	s->p++;
	if (more) {
		ht_scan_count(s, HT_STAT_list_mended, s->p - 1);
		return;
	}
	ht_scan_closing_comma(s, s->p - 1);
	s->state->phase = HT_DOC_START;
	s->state->after_events = false;
	s->state->n_lost_keys = 0;
	s->state->document++;
}

enum ht_status ht_scan_header(struct ht_scan *s)
{
	while (!s->stop && !s->state->skipping && s->state->phase == HT_DOC_HEADER) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			ht_scan_end_text(s);
		} else if (*s->p == ',') {
			ht_scan_comma(s);
		} else if (*s->p == '}') {
			close_document(s);
		} else if (*s->p == '"') {
			HT_TRY(scan_header_key(s));
		} else if (*s->p == '{' && !ht_scan_must_wait(s, s->p) &&
		           ht_event_form(s->p, s->limit)) {
			ht_scan_count(s, HT_STAT_list_mended, s->p);
			ht_scan_open_events(s);
		} else if (!ht_scan_must_wait(s, s->p)) {
			ht_scan_lose_header(s);
		}
	}
	return HT_OK;
}
