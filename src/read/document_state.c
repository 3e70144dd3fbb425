/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_state.c - see document_state.h.
 */
#include "read/document_state.h"

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
		.phase = lines ? HT_DOC_LINES : HT_DOC_EVENTS, .comma = true, .any_events = true
	};
}
