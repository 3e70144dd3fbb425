/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_scan.h - a piece of text being scanned, and what its parts (document.c, document_header.c) do with damage: count it,
 * and skip to where reading can go on.
 */
#ifndef HT_READ_DOCUMENT_SCAN_H
#define HT_READ_DOCUMENT_SCAN_H

#include "read/document_state.h"
#include "read/event_worker.h"
#include "read/sniff.h"

/* One call of ht_scan_text. */
struct ht_scan {
	struct ht_worker *w;
	struct ht_doc_state *state;
	const char *text, *p, *limit;
	bool final;
	bool stop;       /* the text is used up, or more is needed */
	bool incomplete; /* what is being skipped had no end in the file */
	ht_scan_event_fn scan_event;
};

/* The keys of the top-level object, up to the list of events or the end of the document. */
enum ht_status ht_scan_header(struct ht_scan *s) HT_MUST_USE;

/* Of p in the file. */
static inline int64_t ht_scan_offset(const struct ht_scan *s, const char *p)
{
	return s->w->text_offset + (p - s->text);
}

/* Among the documents of all files of the trace. */
uint16_t ht_scan_document(const struct ht_scan *s);

void ht_scan_count(struct ht_scan *s, enum ht_stat_code code, const char *p);
/* The comma at s->p, which is one too many behind another. */
void ht_scan_comma(struct ht_scan *s);
/* A comma right before a bracket that closes is counted. */
void ht_scan_closing_comma(struct ht_scan *s, const char *bracket);

enum ht_status ht_scan_fail_memory(struct ht_scan *s);
enum ht_status ht_scan_fail_long(struct ht_scan *s, const char *start);

/* True when what follows p is needed for a decision and not here yet. */
bool ht_scan_must_wait(struct ht_scan *s, const char *p);
/* The text ends here; at the end of the file something is missing. */
void ht_scan_end_text(struct ht_scan *s);

void ht_scan_open_events(struct ht_scan *s);
/* The list is over although nothing closed it. */
void ht_scan_leave_events(struct ht_scan *s);

/* The event at s->p makes no sense. */
void ht_scan_lose_event(struct ht_scan *s);
/* The top-level key or value at s->p makes no sense: go on at the next one, or at the events. */
void ht_scan_lose_header(struct ht_scan *s);
/* What stands between events, or behind a document, makes no sense; wanted: places to go on at. */
void ht_scan_skip_junk(struct ht_scan *s, uint8_t wanted);
/* While state->skipping: on to such a place. */
void ht_scan_skip(struct ht_scan *s);

#endif
