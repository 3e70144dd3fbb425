/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_state.h - where in a document the text of a piece begins, and ends: all that the next piece has to know.
 */
#ifndef HT_READ_DOCUMENT_STATE_H
#define HT_READ_DOCUMENT_STATE_H

#include "read/recover.h"

/* Longest event or header value. */
#define HT_MAX_VALUE_BYTES ((size_t)64 << 20)
/* So many damaged header keys, and only events are looked for: each attempt may read on to the end. */
#define HT_MAX_LOST_KEYS 64
/* Lists of events nest no deeper in a file that was meant as a trace. */
#define HT_MAX_LIST_DEPTH 16

enum ht_doc_phase {
	HT_DOC_START,  /* nothing read yet, or between documents */
	HT_DOC_HEADER, /* inside the top-level object */
	HT_DOC_EVENTS, /* inside the list of events */
	HT_DOC_LINES,  /* one event after the other without a list */
};

struct ht_doc_state {
	enum ht_doc_phase phase;
	uint16_t document;       /* documents seen before this one */
	uint64_t list_depth;     /* lists nested in the list of events */
	bool comma;              /* a comma, or the opening bracket, stands before the next event */
	bool opened;             /* the list or object has no element yet */
	bool bare_list;          /* the list is the whole document */
	bool after_events;       /* header keys now come after the list */
	bool any_events;         /* this file had a list of events or an event line */
	uint8_t n_lost_keys;     /* header keys lost in this document, up to HT_MAX_LOST_KEYS */
	bool skipping;           /* behind damage, on the way to the next place that makes sense */
	struct ht_search search; /* while skipping: what for; else zero */
	int64_t skip_offset;     /* while skipping: where the damage starts; else zero */
};

/* Do both go on alike? Damaged header keys before do not matter to text that has none. */
bool ht_doc_state_equal(const struct ht_doc_state *a, const struct ht_doc_state *b);
/* The state in which almost every piece of a trace starts: before an event of the first document. */
struct ht_doc_state ht_doc_state_guess(bool lines);

#endif
