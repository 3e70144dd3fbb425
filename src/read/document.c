/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.c - see document.h.
 *
 * Damage costs the event it is in. What makes no sense is skipped up to the next place that does
 * (recover.h), and counted: events_lost where something of an event was in it, bytes_skipped always. The
 * brackets around the events are not trusted blindly: one that closes the list too early is seen by what
 * follows it.
 */
#include "read/document.h"
#include "json/events_key.h"
#include "store/trace.h"

#include "json/block.h"
#include "json/json_text.h"
#include "read/repair.h"
#include "store/trace_meta.h"

#include <string.h>

#define BIT(place)           (uint8_t)(1u << (place))
#define MAX_HEADER_KEY_BYTES ((ptrdiff_t)64 << 10)

/* One call of ht_scan_text. */
struct scan {
	struct ht_worker *w;
	struct ht_doc_state *state;
	const char *text, *p, *limit;
	bool final;
	bool stop;       /* the text is used up, or more is needed */
	bool incomplete; /* what is being skipped had no end in the file */
	ht_scan_event_fn scan_event;
};

static bool search_equal(const struct ht_search *a, const struct ht_search *b)
{
	return a->before.last == b->before.last &&
	       a->before.next_to_last == b->before.next_to_last && a->wanted == b->wanted &&
	       a->in_header == b->in_header && a->saw_event == b->saw_event && a->depth == b->depth;
}

bool ht_doc_state_equal(const struct ht_doc_state *a, const struct ht_doc_state *b)
{
	return a->phase == b->phase && a->document == b->document &&
	       a->list_depth == b->list_depth && a->comma == b->comma && a->opened == b->opened &&
	       a->bare_list == b->bare_list && a->after_events == b->after_events &&
	       a->any_events == b->any_events && a->skipping == b->skipping &&
	       a->skip_offset == b->skip_offset && search_equal(&a->search, &b->search);
}

struct ht_doc_state ht_doc_state_guess(bool lines)
{
	return (struct ht_doc_state){
		.phase = lines ? HT_PHASE_LINES : HT_PHASE_EVENTS, .comma = true, .any_events = true
	};
}

/* Among the documents of all files of the trace. */
static uint16_t document_of(const struct scan *s)
{
	return (uint16_t)(s->w->builder->n_documents + s->state->document);
}

static int64_t offset_of(const struct scan *s, const char *p)
{
	return s->w->text_offset + (p - s->text);
}

static void count(struct scan *s, enum ht_stat_code code, const char *p)
{
	ht_chunk_stat(s->w->chunk, code, offset_of(s, p), 1);
}

static enum ht_status fail_memory(struct scan *s)
{
	if (s->w->guessing)
		return HT_NOMEM;
	return ht_fail_nomem(s->w->builder->ctx);
}

static enum ht_status fail_long(struct scan *s, const char *start)
{
	if (s->w->guessing)
		return HT_LIMIT;
	return ht_fail(s->w->builder->ctx, HT_LIMIT, s->w->builder->path, offset_of(s, start),
	        "this does not look like a profiler trace",
	        "an event or header value is longer than %zu MiB", HT_MAX_VALUE_BYTES >> 20);
}

/* True when what follows p is needed for a decision and not here yet. */
static bool must_wait(struct scan *s, const char *p)
{
	if (s->final || s->limit - p >= HT_LOOK_AHEAD)
		return false;
	s->stop = true;
	return true;
}

/* The text ends here; at the end of the file something is missing. */
static void end_text(struct scan *s)
{
	s->stop = true;
	if (s->final)
		count(s, HT_STAT_truncated, s->p);
}

/* ---- skipping ---- */

static void skip_to(struct scan *s, const char *p)
{
	if (p > s->p)
		ht_chunk_stat(s->w->chunk, HT_STAT_bytes_skipped, s->state->skip_offset,
		        (uint64_t)(p - s->p));
	s->p = p;
}

/* Skip from here on; the first n bytes are no place to resume at. */
static void start_skip(struct scan *s, size_t n, const struct ht_search *search)
{
	s->state->skipping = true;
	s->state->search = *search;
	s->state->skip_offset = offset_of(s, s->p);
	skip_to(s, s->p + n);
}

/* The event at s->p makes no sense. */
static void lose_event(struct scan *s)
{
	uint8_t wanted = BIT(HT_PLACE_EVENT);
	if (s->state->phase == HT_PHASE_EVENTS)
		wanted |= BIT(HT_PLACE_LIST_END);
	count(s, HT_STAT_events_lost, s->p);
	start_skip(s, 1,
	        &(struct ht_search){
	                .before = { '{', 0 }, .wanted = wanted, .saw_event = true, .n_lost = 1 });
}

/* What stands between events, or behind a document, makes no sense. */
static void skip_junk(struct scan *s, uint8_t wanted)
{
	start_skip(s, 0, &(struct ht_search){ .before = { '}', 0 }, .wanted = wanted });
}

/* The top-level key or value at s->p makes no sense: go on at the next one, or at the events. */
static void lose_header(struct scan *s)
{
	uint8_t wanted = BIT(HT_PLACE_EVENT);
	if (s->state->n_lost_keys < HT_MAX_LOST_KEYS) {
		s->state->n_lost_keys++;
		wanted |= BIT(HT_PLACE_KEY);
	}
	count(s, HT_STAT_header_lost, s->p);
	start_skip(s, 1,
	        &(struct ht_search){ .before = { '"', 0 }, .wanted = wanted, .in_header = true });
}

static void open_events(struct scan *s)
{
	s->state->phase = HT_PHASE_EVENTS;
	s->state->list_depth = 0;
	s->state->comma = s->state->opened = s->state->any_events = true;
}

/* The list is over although nothing closed it. */
static void leave_events(struct scan *s)
{
	s->state->phase = HT_PHASE_HEADER;
	s->state->bare_list = false;
	s->state->after_events = true;
	s->state->list_depth = 0;
}

static void resume(struct scan *s, enum ht_place place)
{
	struct ht_doc_state *state = s->state;
	state->comma = state->opened = true;
	switch (place) {
	case HT_PLACE_NONE: return;
	case HT_PLACE_EVENT:
		/* behind a document: it was not over */
		if (state->phase == HT_PHASE_START && state->document)
			state->document--;
		if (state->phase == HT_PHASE_START || state->phase == HT_PHASE_HEADER)
			open_events(s);
		break;
	case HT_PLACE_LIST_END:
		state->list_depth = 0;
		state->comma = false;
		break;
	case HT_PLACE_KEY:
		if (state->phase == HT_PHASE_EVENTS)
			leave_events(s);
		break;
	case HT_PLACE_DOCUMENT: state->phase = HT_PHASE_START; break;
	}
}

static void scan_skip(struct scan *s)
{
	struct ht_doc_state *state = s->state;
	const char *at;
	enum ht_place place = ht_search_place(&state->search, s->p, s->limit, s->final, &at);
	uint32_t n_lost = ht_search_events(&state->search);
	if (n_lost > state->search.n_lost) {
		ht_chunk_stat(s->w->chunk, HT_STAT_events_lost, state->skip_offset,
		        n_lost - state->search.n_lost);
		state->search.n_lost = n_lost;
	}
	skip_to(s, at);
	s->stop = place == HT_PLACE_NONE;
	if (s->stop && !s->final)
		return;
	if (s->stop && (state->phase == HT_PHASE_EVENTS || s->incomplete))
		ht_chunk_stat(s->w->chunk, HT_STAT_truncated, state->skip_offset, 1);
	resume(s, place);
	state->skipping = false;
	state->search = (struct ht_search){ 0 };
	state->skip_offset = 0;
}

/* ---- events ---- */

/* The strict scanner found a defect: repair a copy and read that. */
static enum ht_status tolerant_event(struct scan *s)
{
	const char *end;
	bool read = false;
	enum ht_repair repair = ht_repair_event(s->w, s->p, s->limit, &end);
	if (repair == HT_REPAIR_NOMEM)
		return fail_memory(s);
	if (end - s->p > (ptrdiff_t)HT_MAX_VALUE_BYTES)
		return fail_long(s, s->p);
	if (repair == HT_INCOMPLETE && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (must_wait(s, end)) {
		s->w->repair_bits = 0;
		return HT_OK;
	}
	if (repair == HT_REPAIRED) {
		ht_worker_set_text(s->w, (char *)s->w->repaired.data + s->w->repaired.n);
		read = s->scan_event(s->w, s->w->repaired.data) != NULL;
		ht_worker_set_text(s->w, s->limit);
		s->w->repair_bits = 0;
		if (s->w->out_of_memory)
			return s->w->too_many_columns ? HT_LIMIT : fail_memory(s);
	}
	if (!read) {
		s->incomplete = repair == HT_INCOMPLETE;
		lose_event(s);
		return HT_OK;
	}
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

/* Is what follows an event a comma and the next one? That is where it goes on then. */
static inline bool goes_on(struct scan *s)
{
	const char *p = s->p;
	if (*p != ',')
		return false;
	p = ht_skip_space(p + 1);
	if (*p != '{')
		return false;
	s->p = p;
	s->state->comma = true;
	return true;
}

/* The event here, and those that follow it as they should. */
static enum ht_status scan_some_events(struct scan *s)
{
	s->w->document = document_of(s);
	if (!s->state->comma && s->state->phase == HT_PHASE_EVENTS)
		count(s, HT_STAT_missing_comma, s->p);
	do {
		const char *start = s->p;
		s->w->event_offset = offset_of(s, start);
		const char *end = s->scan_event(s->w, start);
		if (!end && s->w->too_many_columns)
			return HT_LIMIT;
		if (!end && s->w->out_of_memory)
			return fail_memory(s);
		if (!end)
			return tolerant_event(s);
		s->p = end;
		s->state->comma = s->state->opened = false;
		if (end - start > (ptrdiff_t)HT_MAX_VALUE_BYTES)
			return fail_long(s, start);
	} while (goes_on(s));
	return HT_OK;
}

/* Something in the list that is neither an event nor a list: null, a number, a text, or damage. */
static enum ht_status skip_element(struct scan *s)
{
	const char *end;
	if (must_wait(s, s->p))
		return HT_OK;
	bool lines = s->state->phase == HT_PHASE_LINES;
	uint8_t wanted = BIT(HT_PLACE_EVENT);
	if (!lines)
		wanted |= BIT(HT_PLACE_LIST_END) | BIT(HT_PLACE_KEY);
	if (!lines && ht_key_form(s->p, s->limit, HT_ANY_KEY) &&
	        !ht_key_form(s->p, s->limit, HT_EVENT_FIELD)) {
		count(s, HT_STAT_list_mended, s->p);
		leave_events(s);
		return HT_OK;
	}
	if (!*s->p || !strchr("\"-+.0123456789tfnNiI", *s->p) ||
	        ht_key_form(s->p, s->limit, HT_ANY_KEY)) {
		skip_junk(s, wanted);
		return HT_OK;
	}
	enum ht_repair repair = ht_repair_header(s->w, s->p, s->limit, &end);
	s->w->repair_bits = 0;
	if (repair == HT_REPAIR_NOMEM)
		return fail_memory(s);
	if (end - s->p > (ptrdiff_t)HT_MAX_VALUE_BYTES)
		return fail_long(s, s->p);
	if (repair == HT_INCOMPLETE && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (must_wait(s, end))
		return HT_OK;
	const char *next = ht_skip_blanks(end, ht_look_limit(end, s->limit));
	bool alone = next >= s->limit || memchr(",]{[", *next, 4) || (lines && next > end);
	if (repair != HT_REPAIRED || !alone) {
		s->incomplete = repair == HT_INCOMPLETE;
		skip_junk(s, wanted);
		return HT_OK;
	}
	count(s, HT_STAT_element_not_event, s->p);
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

/* A list in the list of events; its elements are taken as the events of the one around it. */
static enum ht_status open_list(struct scan *s)
{
	if (must_wait(s, s->p))
		return HT_OK;
	const char *next = ht_skip_blanks(s->p + 1, ht_look_limit(s->p, s->limit));
	if (next < s->limit && *next == '"') {
		/* an event whose brace is damaged */
		skip_junk(s, BIT(HT_PLACE_EVENT) | BIT(HT_PLACE_LIST_END) | BIT(HT_PLACE_KEY));
		return HT_OK;
	}
	s->state->list_depth++;
	s->state->comma = s->state->opened = true;
	count(s, HT_STAT_nested_array, s->p);
	s->p++;
	return HT_OK;
}

/* What a bracket in the list of events is, by what follows it. */
enum bracket { BRACKET_INNER, BRACKET_LAST, BRACKET_STRAY };

static enum bracket judge_bracket(const struct scan *s)
{
	const char *limit = ht_look_limit(s->p, s->limit);
	const char *next = ht_skip_blanks(s->p + 1, limit);
	bool comma = next < limit && *next == ',';
	if (comma)
		next = ht_skip_blanks(next + 1, limit);
	bool opens = next < limit && (*next == '{' || *next == '[');
	bool closes = next < limit && (comma ? *next == '"' : *next == '}');
	if (s->state->list_depth)
		return closes ? BRACKET_LAST : BRACKET_INNER;
	/* behind a bare list another document may start */
	return opens && (comma || !s->state->bare_list) ? BRACKET_STRAY : BRACKET_LAST;
}

static void close_list(struct scan *s)
{
	if (must_wait(s, s->p))
		return;
	enum bracket bracket = judge_bracket(s);
	if (s->state->comma && !s->state->opened)
		count(s, HT_STAT_stray_comma, s->p);
	s->state->opened = s->state->comma = false;
	if (bracket == BRACKET_STRAY || (bracket == BRACKET_LAST && s->state->list_depth))
		count(s, HT_STAT_list_mended, s->p);
	s->p++;
	if (bracket == BRACKET_STRAY)
		return;
	if (bracket == BRACKET_INNER) {
		s->state->list_depth--;
		return;
	}
	s->state->list_depth = 0;
	if (s->state->bare_list) {
		s->state->phase = HT_PHASE_START;
		s->state->bare_list = false;
		s->state->document++;
	} else {
		s->state->phase = HT_PHASE_HEADER;
		s->state->after_events = true;
	}
}

static enum ht_status scan_events(struct scan *s)
{
	while (!s->stop && !s->state->skipping && s->state->phase == HT_PHASE_EVENTS) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			end_text(s);
		} else if (*s->p == '{') {
			HT_TRY(scan_some_events(s));
		} else if (*s->p == ',') {
			if (s->state->comma)
				count(s, HT_STAT_stray_comma, s->p);
			s->state->comma = true;
			s->p++;
		} else if (*s->p == ']') {
			close_list(s);
		} else if (*s->p == '[') {
			HT_TRY(open_list(s));
		} else {
			HT_TRY(skip_element(s));
		}
	}
	return HT_OK;
}

static enum ht_status scan_lines(struct scan *s)
{
	while (!s->stop && !s->state->skipping) {
		s->p = ht_skip_space(s->p);
		s->state->comma = true;
		if (s->p >= s->limit)
			s->stop = true;
		else if (*s->p == '{')
			HT_TRY(scan_some_events(s));
		else if (*s->p == ',')
			s->p++;
		else
			HT_TRY(skip_element(s));
	}
	s->state->comma = true;
	return HT_OK;
}

/* ---- header ---- */

static enum ht_status store_header(
        struct scan *s, const char *key, size_t n_key, const char *value, size_t n_value)
{
	struct ht_worker *w = s->w;
	struct ht_header header = { .document = document_of(s),
		.after_events = s->state->after_events };
	size_t bad;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->builder->mem, &w->scratch, 1, n_key * 3 + 1))
		return fail_memory(s);
	size_t n = ht_json_decode(key, n_key, w->scratch.data, &bad);
	if (bad)
		count(s, HT_STAT_invalid_utf8, key);
	for (size_t i = 0; i < n_key; i++)
		if ((unsigned char)key[i] < ' ') {
			count(s, HT_STAT_control_bytes, key);
			break;
		}
	if (!ht_intern(&w->strings, w->scratch.data, n, &header.key) ||
	        !ht_intern(&w->strings, value, n_value, &header.value) ||
	        !HT_VEC_PUSH(w->builder->mem, &w->chunk->headers, struct ht_header, header))
		return fail_memory(s);
	return HT_OK;
}

static const char *key_end(const char *p, const char *limit)
{
	for (p++; p < limit && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < limit ? p : NULL;
}

/* Where a value ends if it is well-formed; NULL when the text ends before. */
static const char *value_end(const char *p, const char *limit)
{
	size_t depth = 0;
	for (; p < limit; p++) {
		if (*p == '"') {
			if (!(p = key_end(p, limit)))
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
static enum ht_repair copy_value(struct scan *s, const char *p, const char **ret_end)
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
static bool opens_events(struct scan *s, const char *key, size_t n_key, const char *value)
{
	if (*value == '[' && ht_is_exact_events_key(key, n_key)) {
		s->p = value + 1;
		open_events(s);
		return true;
	}
	if (!ht_is_events_key(key, n_key) || s->state->any_events)
		return false;
	const char *first = *value == '[' ? ht_skip_blanks(value + 1, s->limit) : value;
	if (first >= s->limit || *first != '{' || !ht_event_form(first, s->limit))
		return false;
	count(s, HT_STAT_list_mended, s->p);
	s->p = first;
	open_events(s);
	return true;
}

/* A value that has the list of events inside and the end of the file behind it: its brace is missing. */
static bool swallowed_events(const struct scan *s, const char *end)
{
	return s->final && ht_skip_blanks(end, s->limit) >= s->limit &&
	       ht_find_events_key(s->w->repaired.data, s->w->repaired.n);
}

/* Is there the key that every event has? */
static bool has_phase(const char *p, size_t n)
{
	const char *limit = p + n;
	while (p < limit && (p = memmem(p, (size_t)(limit - p), "\"ph\"", 4)))
		if (ht_key_form(p++, limit, HT_ANY_KEY))
			return true;
	return false;
}

/* Are events in a value, and no list of them close behind it? Then the key of the list is missing, and what stood before it
 * runs into the events: text that may still be valid. */
static bool runs_into_events(const struct scan *s, const char *end)
{
	return !s->state->any_events &&
	       !ht_find_events_key(end, (size_t)(ht_look_limit(end, s->limit) - end)) &&
	       has_phase(s->w->repaired.data, s->w->repaired.n);
}

/* The value of a top-level key; everything but the list of events is kept as its JSON text. */
static enum ht_status scan_header_value(
        struct scan *s, const char *key, size_t n_key, const char *value)
{
	if (must_wait(s, value))
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
		return fail_memory(s);
	if (repair == HT_INCOMPLETE && !s->final && !is_long) {
		s->stop = true;
		return HT_OK;
	}
	if (!is_long && must_wait(s, end))
		return HT_OK;
	if (repair != HT_REPAIRED || is_long || swallowed_events(s, end) ||
	        runs_into_events(s, end)) {
		s->incomplete = repair == HT_INCOMPLETE && !is_long;
		lose_header(s);
		return HT_OK;
	}
	for (; bits; bits &= bits - 1)
		count(s, (enum ht_stat_code)__builtin_ctzll(bits), value);
	HT_TRY(store_header(s, key, n_key, s->w->repaired.data, s->w->repaired.n));
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

static enum ht_status scan_header_key(struct scan *s)
{
	bool is_far = s->limit - s->p > MAX_HEADER_KEY_BYTES;
	const char *end = key_end(s->p, is_far ? s->p + MAX_HEADER_KEY_BYTES : s->limit);
	if (!end && !is_far && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (end && must_wait(s, end))
		return HT_OK;
	const char *limit = end ? ht_look_limit(end, s->limit) : s->limit;
	const char *colon = end ? ht_skip_blanks(end + 1, limit) : limit;
	if (colon < limit && *colon == ':' && !s->state->comma) {
		count(s, HT_STAT_missing_comma, s->p);
		s->state->comma = true;
	}
	if (colon < limit && *colon == ':')
		return scan_header_value(
		        s, s->p + 1, (size_t)(end - s->p - 1), ht_skip_blanks(colon + 1, limit));
	s->incomplete = colon >= s->limit;
	lose_header(s);
	return HT_OK;
}

/* The brace that closes a document, unless more of it follows. */
static void close_document(struct scan *s)
{
	if (must_wait(s, s->p))
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
		count(s, HT_STAT_list_mended, s->p - 1);
		return;
	}
	if (s->state->comma && !s->state->opened)
		count(s, HT_STAT_stray_comma, s->p - 1);
	s->state->phase = HT_PHASE_START;
	s->state->after_events = false;
	s->state->n_lost_keys = 0;
	s->state->document++;
}

static enum ht_status scan_header(struct scan *s)
{
	while (!s->stop && !s->state->skipping && s->state->phase == HT_PHASE_HEADER) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			end_text(s);
		} else if (*s->p == ',') {
			if (s->state->comma)
				count(s, HT_STAT_stray_comma, s->p);
			s->state->comma = true;
			s->p++;
		} else if (*s->p == '}') {
			close_document(s);
		} else if (*s->p == '"') {
			HT_TRY(scan_header_key(s));
		} else if (*s->p == '{' && !must_wait(s, s->p) && ht_event_form(s->p, s->limit)) {
			count(s, HT_STAT_list_mended, s->p);
			open_events(s);
		} else if (!must_wait(s, s->p)) {
			lose_header(s);
		}
	}
	return HT_OK;
}

/* Does the object at p look like an event line: its own keys, as far as they are here, have "ph"? */
static bool is_event_line(const char *p, const char *limit)
{
	unsigned depth = 0;
	for (; p < limit; p++) {
		if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (!--depth)
				return false;
		} else if (*p == '"') {
			const char *end = key_end(p, limit);
			if (!end)
				return false;
			const char *colon = ht_skip_blanks(end + 1, limit);
			bool is_key = depth == 1 && colon < limit && *colon == ':';
			if (is_key && end - p == 3 && p[1] == 'p' && p[2] == 'h')
				return true;
			if (is_key && ht_is_exact_events_key(p + 1, (size_t)(end - p - 1)))
				return false;
			p = end;
		}
	}
	return false;
}

/* What is here starts no document: damage, or the file is no trace at all. */
static enum ht_status scan_no_start(struct scan *s)
{
	size_t n = (size_t)(s->limit - s->p);
	if (s->state->document) {
		skip_junk(s, BIT(HT_PLACE_EVENT) | BIT(HT_PLACE_DOCUMENT));
		return HT_OK;
	}
	const char *what = ht_sniff_magic(s->p, n);
	n = n < HT_SNIFF_BYTES ? n : HT_SNIFF_BYTES;
	if ((!*s->p || !what) && (ht_find_events_key(s->p, n) || has_phase(s->p, n))) {
		s->state->phase = HT_PHASE_HEADER;
		lose_header(s);
		return HT_OK;
	}
	if (s->w->guessing)
		return HT_FORMAT;
	return ht_fail(s->w->builder->ctx, HT_FORMAT, s->w->builder->path, offset_of(s, s->p),
	        "expected a JSON trace as torch.profiler writes it, plain, .gz or .zst",
	        "not a trace: the file starts with %s", what ? what : "no JSON");
}

/* Nothing read yet, or a document has just ended. */
static enum ht_status scan_start(struct scan *s)
{
	if (offset_of(s, s->p) == 0 && !memcmp(s->p, "\xEF\xBB\xBF", 3))
		s->p += 3;
	s->p = ht_skip_space(s->p);
	if (s->p >= s->limit) {
		s->stop = true;
		return HT_OK;
	}
	if (!s->final && s->limit - s->p < (ptrdiff_t)HT_SNIFF_BYTES) {
		s->stop = true;
		return HT_OK;
	}
	if (*s->p != '{' && *s->p != '[')
		return scan_no_start(s);
	const char *end =
	        s->limit - s->p > (ptrdiff_t)HT_SNIFF_BYTES ? s->p + HT_SNIFF_BYTES : s->limit;
	s->state->comma = true;
	if (s->state->document)
		count(s, HT_STAT_concatenated_documents, s->p);
	if (*s->p == '[') {
		s->state->phase = HT_PHASE_EVENTS;
		s->state->bare_list = s->state->opened = s->state->any_events = true;
		count(s, HT_STAT_legacy_array, s->p);
		s->p++;
	} else if (is_event_line(s->p, end)) {
		s->state->phase = HT_PHASE_LINES;
		s->state->any_events = true;
		count(s, HT_STAT_json_lines, s->p);
	} else {
		s->state->phase = HT_PHASE_HEADER;
		s->state->opened = true;
		s->p++;
	}
	return HT_OK;
}

enum ht_status ht_scan_text(struct ht_worker *w, const char *text, size_t n, bool final,
        struct ht_doc_state *state, size_t *ret_used)
{
	struct scan s = { .w = w,
		.state = state,
		.text = text,
		.p = text,
		.limit = text + n,
		.final = final,
		.scan_event = ht_scan_event_best() };
	ht_worker_set_text(w, s.limit);
	while (!s.stop) {
		if (state->skipping) {
			scan_skip(&s);
			continue;
		}
		switch (state->phase) {
		case HT_PHASE_START: HT_TRY(scan_start(&s)); break;
		case HT_PHASE_HEADER: HT_TRY(scan_header(&s)); break;
		case HT_PHASE_EVENTS: HT_TRY(scan_events(&s)); break;
		case HT_PHASE_LINES: HT_TRY(scan_lines(&s)); break;
		}
	}
	*ret_used = (size_t)(s.p - text);
	return HT_OK;
}
