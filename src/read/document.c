/*
 * document.c - see document.h.
 */
#define _GNU_SOURCE
#include "read/document.h"

#include "json/block.h"
#include "json/text.h"
#include "read/repair.h"

#include <string.h>

/* Repairs look at most so far past the end of an event to decide; nearer to the end of the text than
 * this, they wait for more, so that their decisions do not depend on where the text was cut. */
#define LOOK_AHEAD 1024

/* One call of ht_scan_text. */
struct scan {
	struct ht_worker *w;
	struct ht_doc_state *state;
	const char *text, *p, *limit;
	bool final;
	bool stop; /* the text is used up, or more is needed */
	ht_scan_event_fn scan_event;
};

bool ht_doc_state_equal(const struct ht_doc_state *a, const struct ht_doc_state *b)
{
	return a->phase == b->phase && a->document == b->document &&
	       a->list_depth == b->list_depth && a->comma == b->comma && a->opened == b->opened &&
	       a->bare_list == b->bare_list && a->after_events == b->after_events &&
	       a->any_events == b->any_events;
}

struct ht_doc_state ht_doc_state_guess(bool lines)
{
	return (struct ht_doc_state){
		.phase = lines ? HT_PHASE_LINES : HT_PHASE_EVENTS, .comma = true, .any_events = true
	};
}

static int64_t offset_of(const struct scan *s, const char *p)
{
	return s->w->text_offset + (p - s->text);
}

static void count(struct scan *s, enum ht_stat_code code, const char *p)
{
	ht_chunk_stat(s->w->chunk, code, offset_of(s, p));
}

static enum ht_status fail_memory(struct scan *s)
{
	if (s->w->guessing)
		return HT_NOMEM;
	if (s->w->too_many_columns)
		return ht_fail(s->w->load->ctx, HT_LIMIT, s->w->load->path, offset_of(s, s->p),
		        "this does not look like a profiler trace",
		        "more than %d distinct arg keys", HT_MAX_COLUMNS);
	return ht_fail_nomem(s->w->load->ctx);
}

/* Wait for more text; at the end of the file what is left is lost. */
static void need_more(struct scan *s)
{
	s->stop = true;
	if (!s->final)
		return;
	if (s->p < s->limit)
		count(s, HT_STAT_events_lost, s->p);
	count(s, HT_STAT_truncated, s->p);
	s->p = s->limit;
}

static void resync(struct scan *s)
{
	const char *next = ht_next_event(s->p, s->limit, true);
	if (!s->final && s->limit - next < LOOK_AHEAD) {
		s->stop = true;
		return;
	}
	count(s, HT_STAT_events_lost, s->p);
	s->p = next;
	s->state->comma = true;
}

/* The strict scanner found a defect: repair a copy and read that. */
static enum ht_status tolerant_event(struct scan *s)
{
	const char *end;
	switch (ht_repair_event(s->w, s->p, s->limit, &end)) {
	case HT_REPAIR_NOMEM: return fail_memory(s);
	case HT_INCOMPLETE: need_more(s); return HT_OK;
	case HT_HOPELESS: resync(s); return HT_OK;
	case HT_REPAIRED: break;
	}
	if (!s->final && s->limit - end < LOOK_AHEAD) {
		s->w->repair_bits = 0;
		s->stop = true;
		return HT_OK;
	}
	ht_worker_set_text(s->w, (char *)s->w->repaired.data + s->w->repaired.n);
	bool read = s->scan_event(s->w, s->w->repaired.data) != NULL;
	ht_worker_set_text(s->w, s->limit);
	s->w->repair_bits = 0;
	if (s->w->out_of_memory)
		return fail_memory(s);
	if (!read) {
		resync(s);
		return HT_OK;
	}
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

static enum ht_status check_length(struct scan *s, const char *start)
{
	if (s->p - start <= (ptrdiff_t)HT_MAX_VALUE_BYTES)
		return HT_OK;
	if (s->w->guessing)
		return HT_LIMIT;
	return ht_fail(s->w->load->ctx, HT_LIMIT, s->w->load->path, offset_of(s, start),
	        "this does not look like a profiler trace",
	        "an event or header value is longer than %zu MiB", HT_MAX_VALUE_BYTES >> 20);
}

static enum ht_status scan_one_event(struct scan *s)
{
	const char *start = s->p;
	if (!s->state->comma && s->state->phase == HT_PHASE_EVENTS)
		count(s, HT_STAT_missing_comma, s->p);
	s->w->event_offset = offset_of(s, s->p);
	s->w->document = s->state->document;
	const char *end = s->scan_event(s->w, s->p);
	if (!end && s->w->out_of_memory)
		return fail_memory(s);
	if (!end) {
		HT_TRY(tolerant_event(s));
		return check_length(s, start);
	}
	s->p = end;
	s->state->comma = s->state->opened = false;
	return check_length(s, start);
}

/* Something in the list that is neither an event nor a list: null, a number, a text. */
static void skip_element(struct scan *s)
{
	const char *end;
	if (ht_repair_header(s->w, s->p, s->limit, &end) == HT_REPAIRED) {
		s->w->repair_bits = 0;
		count(s, HT_STAT_element_not_event, s->p);
		s->p = end;
		s->state->comma = false;
		return;
	}
	resync(s);
}

static enum ht_status open_list(struct scan *s)
{
	if (s->state->list_depth == HT_MAX_LIST_DEPTH && s->w->guessing)
		return HT_LIMIT;
	if (s->state->list_depth == HT_MAX_LIST_DEPTH)
		return ht_fail(s->w->load->ctx, HT_LIMIT, s->w->load->path, offset_of(s, s->p),
		        "this does not look like a profiler trace",
		        "lists of events nested more than %d deep", HT_MAX_LIST_DEPTH);
	s->state->list_depth++;
	s->state->comma = s->state->opened = true;
	count(s, HT_STAT_nested_array, s->p);
	s->p++;
	return HT_OK;
}

static void close_list(struct scan *s)
{
	if (s->state->comma && !s->state->opened)
		count(s, HT_STAT_stray_comma, s->p);
	s->state->opened = false;
	s->p++;
	s->state->comma = false;
	if (s->state->list_depth) {
		s->state->list_depth--;
	} else if (s->state->bare_list) {
		s->state->phase = HT_PHASE_START;
		s->state->bare_list = false;
		s->state->document++;
	} else {
		s->state->phase = HT_PHASE_HEADER;
		s->state->after_events = true;
		s->state->comma = false;
	}
}

static enum ht_status scan_events(struct scan *s)
{
	while (!s->stop && s->state->phase == HT_PHASE_EVENTS) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			need_more(s);
		} else if (*s->p == '{') {
			HT_TRY(scan_one_event(s));
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
			skip_element(s);
		}
	}
	return HT_OK;
}

static enum ht_status scan_lines(struct scan *s)
{
	while (!s->stop) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			s->stop = true;
		} else if (*s->p == '{') {
			HT_TRY(scan_one_event(s));
			s->state->comma = true;
		} else if (*s->p == ',') {
			s->p++;
		} else {
			skip_element(s);
			s->state->comma = true;
		}
	}
	return HT_OK;
}

/* A top-level key could not be read: go on at the next one. */
static void lose_header(struct scan *s)
{
	const char *next = ht_next_key(s->p, s->limit);
	if (!s->final && s->limit - next < LOOK_AHEAD) {
		s->stop = true;
		return;
	}
	count(s, HT_STAT_header_lost, s->p);
	s->p = next;
	if (next >= s->limit)
		s->stop = true;
	s->state->comma = true;
}

static enum ht_status store_header(
        struct scan *s, const char *key, size_t n_key, const char *value, size_t n_value)
{
	struct ht_worker *w = s->w;
	struct ht_header header = { .document = s->state->document,
		.after_events = s->state->after_events };
	size_t bad;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->load->mem, &w->scratch, 1, n_key * 3 + 1))
		return fail_memory(s);
	size_t n = ht_json_decode(key, n_key, w->scratch.data, &bad);
	if (!ht_intern(&w->strings, w->scratch.data, n, &header.key) ||
	        !ht_intern(&w->strings, value, n_value, &header.value) ||
	        !HT_VEC_PUSH(w->load->mem, &w->chunk->headers, struct ht_header, header))
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
	if (end && !ht_vec_reserve(s->w->load->mem, copy, 1, n + HT_PADDING))
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

/* The value of a top-level key; everything but the list of events is kept as its JSON text. */
static enum ht_status scan_header_value(
        struct scan *s, const char *key, size_t n_key, const char *value)
{
	if (value >= s->limit) {
		need_more(s);
		return HT_OK;
	}
	if (n_key == 11 && !memcmp(key, "traceEvents", 11) && *value == '[') {
		s->p = value + 1;
		s->state->phase = HT_PHASE_EVENTS;
		s->state->comma = s->state->opened = s->state->any_events = true;
		return HT_OK;
	}
	const char *end;
	switch (copy_value(s, value, &end)) {
	case HT_REPAIR_NOMEM: return fail_memory(s);
	case HT_INCOMPLETE: need_more(s); return HT_OK;
	case HT_HOPELESS: lose_header(s); return HT_OK;
	case HT_REPAIRED: break;
	}
	uint64_t bits = s->w->repair_bits;
	s->w->repair_bits = 0;
	for (; bits; bits &= bits - 1)
		count(s, (enum ht_stat_code)__builtin_ctzll(bits), value);
	HT_TRY(store_header(s, key, n_key, s->w->repaired.data, s->w->repaired.n));
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

static enum ht_status scan_header(struct scan *s)
{
	while (!s->stop && s->state->phase == HT_PHASE_HEADER) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			need_more(s);
		} else if (*s->p == ',') {
			if (s->state->comma)
				count(s, HT_STAT_stray_comma, s->p);
			s->state->comma = true;
			s->p++;
		} else if (*s->p == '}') {
			s->p++;
			s->state->phase = HT_PHASE_START;
			s->state->after_events = false;
			s->state->document++;
		} else if (*s->p == '"') {
			const char *end = key_end(s->p, s->limit);
			const char *colon = end ? ht_skip_space(end + 1) : s->limit;
			if (colon >= s->limit)
				need_more(s);
			else if (*colon != ':')
				lose_header(s);
			else
				HT_TRY(scan_header_value(s, s->p + 1, (size_t)(end - s->p - 1),
				        ht_skip_space(colon + 1)));
		} else {
			lose_header(s);
		}
	}
	return HT_OK;
}

static const char *what_is_it(const char *p, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} known[] = { { "\x89PNG", 4, "a PNG image" }, { "PK\x03\x04", 4, "a zip archive" },
		{ "\x7f"
		  "ELF",
		        4, "a program" },
		{ "%PDF", 4, "a PDF" }, { "<", 1, "HTML or XML" },
		{ "SQLite", 6, "an SQLite database" }, { "\x0a", 1, "a binary file" } };
	if (n && !*p)
		return "zero bytes";
	for (size_t i = 0; i < HT_COUNT(known); i++)
		if (n >= known[i].n && !memcmp(p, known[i].magic, known[i].n))
			return known[i].what;
	return "no JSON";
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
			if (depth == 1 && end - p == 3 && p[1] == 'p' && p[2] == 'h')
				return true;
			if (depth == 1 && end - p == 12 && !memcmp(p + 1, "traceEvents", 11))
				return false;
			p = end;
		}
	}
	return false;
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
	if (*s->p != '{' && *s->p != '[') {
		if (s->state->document) {
			/* junk behind a complete document */
			count(s, HT_STAT_events_lost, s->p);
			s->p = s->limit;
			s->stop = true;
			return HT_OK;
		}
		if (s->w->guessing)
			return HT_FORMAT;
		return ht_fail(s->w->load->ctx, HT_FORMAT, s->w->load->path, offset_of(s, s->p),
		        "expected a JSON trace as torch.profiler writes it, plain, .gz or .zst",
		        "not a trace: the file starts with %s",
		        what_is_it(s->p, (size_t)(s->limit - s->p)));
	}
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
