/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_scan.c - see document_scan.h.
 */
#include "read/document_scan.h"

uint16_t ht_scan_document(const struct ht_scan *s)
{
	return (uint16_t)(s->w->builder->n_documents + s->state->document);
}

void ht_scan_count(struct ht_scan *s, enum ht_stat_code code, const char *p)
{
	ht_chunk_stat(s->w->chunk, code, ht_scan_offset(s, p), 1);
}

enum ht_status ht_scan_fail_memory(struct ht_scan *s)
{
	if (s->w->guessing)
		return HT_NOMEM;
	return ht_fail_nomem(s->w->builder->ctx);
}

enum ht_status ht_scan_fail_long(struct ht_scan *s, const char *start)
{
	if (s->w->guessing)
		return HT_LIMIT;
	return ht_fail(s->w->builder->ctx, HT_LIMIT, s->w->builder->path, ht_scan_offset(s, start),
	        "this does not look like a profiler trace",
	        "an event or header value is longer than %zu MiB", HT_MAX_VALUE_BYTES >> 20);
}

bool ht_scan_must_wait(struct ht_scan *s, const char *p)
{
	if (s->final || s->limit - p >= HT_LOOK_AHEAD)
		return false;
	s->stop = true;
	return true;
}

void ht_scan_end_text(struct ht_scan *s)
{
	s->stop = true;
	if (s->final)
		ht_scan_count(s, HT_STAT_truncated, s->p);
}

void ht_scan_comma(struct ht_scan *s)
{
	if (s->state->comma)
		ht_scan_count(s, HT_STAT_stray_comma, s->p);
	s->state->comma = true;
	s->p++;
}

void ht_scan_closing_comma(struct ht_scan *s, const char *bracket)
{
	if (s->state->comma && !s->state->opened)
		ht_scan_count(s, HT_STAT_stray_comma, bracket);
}

/* ---- skipping ---- */

static void skip_to(struct ht_scan *s, const char *p)
{
	if (p > s->p)
		ht_chunk_stat(s->w->chunk, HT_STAT_bytes_skipped, s->state->skip_offset,
		        (uint64_t)(p - s->p));
	s->p = p;
}

/* Skip from here on; the first n bytes are no place to resume at. */
static void start_skip(struct ht_scan *s, size_t n, const struct ht_search *search)
{
	s->state->skipping = true;
	s->state->search = *search;
	s->state->skip_offset = ht_scan_offset(s, s->p);
	skip_to(s, s->p + n);
}

void ht_scan_lose_event(struct ht_scan *s)
{
	uint8_t wanted = HT_RESUME_BIT(HT_RESUME_EVENT);
	if (s->state->phase == HT_DOC_EVENTS)
		wanted |= HT_RESUME_BIT(HT_RESUME_LIST_END);
	ht_scan_count(s, HT_STAT_events_lost, s->p);
	start_skip(s, 1,
	        &(struct ht_search){
	                .before = { '{', 0 }, .wanted = wanted, .saw_event = true, .n_lost = 1 });
}

void ht_scan_skip_junk(struct ht_scan *s, uint8_t wanted)
{
	start_skip(s, 0, &(struct ht_search){ .before = { '}', 0 }, .wanted = wanted });
}

void ht_scan_lose_header(struct ht_scan *s)
{
	uint8_t wanted = HT_RESUME_BIT(HT_RESUME_EVENT);
	if (s->state->n_lost_keys < HT_MAX_LOST_KEYS) {
		s->state->n_lost_keys++;
		wanted |= HT_RESUME_BIT(HT_RESUME_KEY);
	}
	ht_scan_count(s, HT_STAT_header_lost, s->p);
	start_skip(s, 1,
	        &(struct ht_search){ .before = { '"', 0 }, .wanted = wanted, .in_header = true });
}

void ht_scan_open_events(struct ht_scan *s)
{
	s->state->phase = HT_DOC_EVENTS;
	s->state->list_depth = 0;
	s->state->comma = s->state->opened = s->state->any_events = true;
}

void ht_scan_leave_events(struct ht_scan *s)
{
	s->state->phase = HT_DOC_HEADER;
	s->state->bare_list = false;
	s->state->after_events = true;
	s->state->list_depth = 0;
}

static void resume(struct ht_scan *s, enum ht_resume_at place)
{
	struct ht_doc_state *state = s->state;
	state->comma = state->opened = true;
	switch (place) {
	case HT_RESUME_NONE: return;
	case HT_RESUME_EVENT:
		/* behind a document: it was not over */
		if (state->phase == HT_DOC_START && state->document)
			state->document--;
		if (state->phase == HT_DOC_START || state->phase == HT_DOC_HEADER)
			ht_scan_open_events(s);
		break;
	case HT_RESUME_LIST_END:
		state->list_depth = 0;
		state->comma = false;
		break;
	case HT_RESUME_KEY:
		if (state->phase == HT_DOC_EVENTS)
			ht_scan_leave_events(s);
		break;
	case HT_RESUME_DOCUMENT: state->phase = HT_DOC_START; break;
	}
}

void ht_scan_skip(struct ht_scan *s)
{
	struct ht_doc_state *state = s->state;
	const char *at;
	enum ht_resume_at place = ht_search_resume(&state->search, s->p, s->limit, s->final, &at);
	uint32_t n_lost = ht_search_events(&state->search);
	if (n_lost > state->search.n_lost) {
		ht_chunk_stat(s->w->chunk, HT_STAT_events_lost, state->skip_offset,
		        n_lost - state->search.n_lost);
		state->search.n_lost = n_lost;
	}
	skip_to(s, at);
	s->stop = place == HT_RESUME_NONE;
	if (s->stop && !s->final)
		return;
	if (s->stop && (state->phase == HT_DOC_EVENTS || s->incomplete))
		ht_chunk_stat(s->w->chunk, HT_STAT_truncated, state->skip_offset, 1);
	resume(s, place);
	state->skipping = false;
	state->search = (struct ht_search){ 0 };
	state->skip_offset = 0;
}
