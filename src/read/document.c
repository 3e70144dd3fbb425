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

#include "json/block.h"
#include "read/document_scan.h"
#include "read/repair.h"

#include <string.h>

/* ---- events ---- */

/* The strict scanner found a defect: repair a copy and read that. */
static enum ht_status tolerant_event(struct ht_scan *s)
{
	const char *end;
	bool read = false;
	enum ht_repair repair = ht_repair_event(s->w, s->p, s->limit, &end);
	if (repair == HT_REPAIR_NOMEM)
		return ht_scan_fail_memory(s);
	if (end - s->p > (ptrdiff_t)HT_MAX_VALUE_BYTES)
		return ht_scan_fail_long(s, s->p);
	if (repair == HT_INCOMPLETE && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (ht_scan_must_wait(s, end)) {
		s->w->repair_bits = 0;
		return HT_OK;
	}
	if (repair == HT_REPAIRED) {
		ht_worker_set_text(s->w, (char *)s->w->repaired.data + s->w->repaired.n);
		read = s->scan_event(s->w, s->w->repaired.data) != NULL;
		ht_worker_set_text(s->w, s->limit);
		s->w->repair_bits = 0;
		if (s->w->out_of_memory)
			return s->w->too_many_columns ? HT_LIMIT : ht_scan_fail_memory(s);
	}
	if (!read) {
		s->incomplete = repair == HT_INCOMPLETE;
		ht_scan_lose_event(s);
		return HT_OK;
	}
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

/* Is what follows an event a comma and the next one? That is where it goes on then. */
static inline bool goes_on(struct ht_scan *s)
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
static enum ht_status scan_some_events(struct ht_scan *s)
{
	s->w->document = ht_scan_document(s);
	if (!s->state->comma && s->state->phase == HT_DOC_EVENTS)
		ht_scan_count(s, HT_STAT_missing_comma, s->p);
	do {
		const char *start = s->p;
		s->w->event_offset = ht_scan_offset(s, start);
		const char *end = s->scan_event(s->w, start);
		if (!end && s->w->too_many_columns)
			return HT_LIMIT;
		if (!end && s->w->out_of_memory)
			return ht_scan_fail_memory(s);
		if (!end)
			return tolerant_event(s);
		s->p = end;
		s->state->comma = s->state->opened = false;
		if (end - start > (ptrdiff_t)HT_MAX_VALUE_BYTES)
			return ht_scan_fail_long(s, start);
	} while (goes_on(s));
	return HT_OK;
}

/* Something in the list that is neither an event nor a list: null, a number, a text, or damage. */
static enum ht_status skip_element(struct ht_scan *s)
{
	const char *end;
	if (ht_scan_must_wait(s, s->p))
		return HT_OK;
	bool lines = s->state->phase == HT_DOC_LINES;
	uint8_t wanted = HT_RESUME_BIT(HT_RESUME_EVENT);
	if (!lines)
		wanted |= HT_RESUME_BIT(HT_RESUME_LIST_END) | HT_RESUME_BIT(HT_RESUME_KEY);
	if (!lines && ht_outer_key_form(s->p, s->limit)) {
		ht_scan_count(s, HT_STAT_list_mended, s->p);
		ht_scan_leave_events(s);
		return HT_OK;
	}
	if (!*s->p || !strchr("\"-+.0123456789tfnNiI", *s->p) ||
	        ht_key_form(s->p, s->limit, HT_ANY_KEY)) {
		ht_scan_skip_junk(s, wanted);
		return HT_OK;
	}
	enum ht_repair repair = ht_repair_header(s->w, s->p, s->limit, &end);
	s->w->repair_bits = 0;
	if (repair == HT_REPAIR_NOMEM)
		return ht_scan_fail_memory(s);
	if (end - s->p > (ptrdiff_t)HT_MAX_VALUE_BYTES)
		return ht_scan_fail_long(s, s->p);
	if (repair == HT_INCOMPLETE && !s->final) {
		s->stop = true;
		return HT_OK;
	}
	if (ht_scan_must_wait(s, end))
		return HT_OK;
	const char *next = ht_skip_blanks(end, ht_look_limit(end, s->limit));
	bool alone = next >= s->limit || memchr(",]{[", *next, 4) || (lines && next > end);
	if (repair != HT_REPAIRED || !alone) {
		s->incomplete = repair == HT_INCOMPLETE;
		ht_scan_skip_junk(s, wanted);
		return HT_OK;
	}
	ht_scan_count(s, HT_STAT_element_not_event, s->p);
	s->p = end;
	s->state->comma = s->state->opened = false;
	return HT_OK;
}

/* A list in the list of events; its elements are taken as the events of the one around it. */
static enum ht_status open_list(struct ht_scan *s)
{
	if (ht_scan_must_wait(s, s->p))
		return HT_OK;
	const char *next = ht_skip_blanks(s->p + 1, ht_look_limit(s->p, s->limit));
	if (next < s->limit && *next == '"') {
		/* an event whose brace is damaged */
		ht_scan_skip_junk(s, HT_RESUME_BIT(HT_RESUME_EVENT) |
		                             HT_RESUME_BIT(HT_RESUME_LIST_END) |
		                             HT_RESUME_BIT(HT_RESUME_KEY));
		return HT_OK;
	}
	s->state->list_depth++;
	s->state->comma = s->state->opened = true;
	ht_scan_count(s, HT_STAT_nested_array, s->p);
	s->p++;
	return HT_OK;
}

/* What a bracket in the list of events is, by what follows it. */
enum bracket { BRACKET_INNER, BRACKET_LAST, BRACKET_STRAY };

static enum bracket judge_bracket(const struct ht_scan *s)
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

static void close_list(struct ht_scan *s)
{
	if (ht_scan_must_wait(s, s->p))
		return;
	enum bracket bracket = judge_bracket(s);
	ht_scan_closing_comma(s, s->p);
	s->state->opened = s->state->comma = false;
	if (bracket == BRACKET_STRAY || (bracket == BRACKET_LAST && s->state->list_depth))
		ht_scan_count(s, HT_STAT_list_mended, s->p);
	s->p++;
	if (bracket == BRACKET_STRAY)
		return;
	if (bracket == BRACKET_INNER) {
		s->state->list_depth--;
		return;
	}
	s->state->list_depth = 0;
	if (s->state->bare_list) {
		s->state->phase = HT_DOC_START;
		s->state->bare_list = false;
		s->state->document++;
	} else {
		s->state->phase = HT_DOC_HEADER;
		s->state->after_events = true;
	}
}

static enum ht_status scan_events(struct ht_scan *s)
{
	while (!s->stop && !s->state->skipping && s->state->phase == HT_DOC_EVENTS) {
		s->p = ht_skip_space(s->p);
		if (s->p >= s->limit) {
			ht_scan_end_text(s);
		} else if (*s->p == '{') {
			HT_TRY(scan_some_events(s));
		} else if (*s->p == ',') {
			ht_scan_comma(s);
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

static enum ht_status scan_lines(struct ht_scan *s)
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
			const char *end = ht_quote_end(p, limit);
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
static enum ht_status scan_no_start(struct ht_scan *s)
{
	size_t n = (size_t)(s->limit - s->p);
	if (s->state->document) {
		ht_scan_skip_junk(
		        s, HT_RESUME_BIT(HT_RESUME_EVENT) | HT_RESUME_BIT(HT_RESUME_DOCUMENT));
		return HT_OK;
	}
	const char *what = ht_sniff_magic(s->p, n);
	n = n < HT_SNIFF_BYTES ? n : HT_SNIFF_BYTES;
	if ((!*s->p || !what) && (ht_find_events_key(s->p, n) || ht_has_phase(s->p, n))) {
		s->state->phase = HT_DOC_HEADER;
		ht_scan_lose_header(s);
		return HT_OK;
	}
	if (s->w->guessing)
		return HT_FORMAT;
	return ht_fail(s->w->builder->ctx, HT_FORMAT, s->w->builder->path, ht_scan_offset(s, s->p),
	        "expected a JSON trace as torch.profiler writes it, plain, .gz or .zst",
	        "not a trace: the file starts with %s", what ? what : "text that is no JSON");
}

/* Nothing read yet, or a document has just ended. */
static enum ht_status scan_start(struct ht_scan *s)
{
	if (ht_scan_offset(s, s->p) == 0 && !memcmp(s->p, "\xEF\xBB\xBF", 3))
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
		ht_scan_count(s, HT_STAT_concatenated_documents, s->p);
	if (*s->p == '[') {
		s->state->phase = HT_DOC_EVENTS;
		s->state->bare_list = s->state->opened = s->state->any_events = true;
		ht_scan_count(s, HT_STAT_legacy_array, s->p);
		s->p++;
	} else if (is_event_line(s->p, end)) {
		s->state->phase = HT_DOC_LINES;
		s->state->any_events = true;
		ht_scan_count(s, HT_STAT_json_lines, s->p);
	} else {
		s->state->phase = HT_DOC_HEADER;
		s->state->opened = true;
		s->p++;
	}
	return HT_OK;
}

enum ht_status ht_scan_text(struct ht_worker *w, const char *text, size_t n, bool final,
        struct ht_doc_state *state, size_t *ret_used)
{
	struct ht_scan s = { .w = w,
		.state = state,
		.text = text,
		.p = text,
		.limit = text + n,
		.final = final,
		.scan_event = ht_scan_event_best() };
	ht_worker_set_text(w, s.limit);
	while (!s.stop) {
		if (state->skipping) {
			ht_scan_skip(&s);
			continue;
		}
		switch (state->phase) {
		case HT_DOC_START: HT_TRY(scan_start(&s)); break;
		case HT_DOC_HEADER: HT_TRY(ht_scan_header(&s)); break;
		case HT_DOC_EVENTS: HT_TRY(scan_events(&s)); break;
		case HT_DOC_LINES: HT_TRY(scan_lines(&s)); break;
		}
	}
	*ret_used = (size_t)(s.p - text);
	return HT_OK;
}
