/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - the grammar around the events: header keys, the list of events, keys after it.
 *
 * Text comes in pieces. A piece is scanned from a state and leaves a state; what it could not finish
 * (an event cut at the end) is left to be scanned again with the next piece. Scanning a piece from the
 * right state gives the same rows whatever the pieces are, which is what makes it safe to scan pieces
 * in parallel from a guessed state and to keep the result only if the guess was right.
 */
#ifndef HT_READ_DOCUMENT_H
#define HT_READ_DOCUMENT_H

#include "read/document_state.h"
#include "read/event_worker.h"

/* Scan text (followed by HT_PADDING zero bytes) into worker->chunk from *state on; *state becomes the
 * state after the last complete item, *ret_used how much was used. final: nothing follows, so what is
 * incomplete is lost and counted. */
enum ht_status ht_scan_text(struct ht_worker *worker, const char *text, size_t n, bool final,
        struct ht_doc_state *state, size_t *ret_used) HT_MUST_USE;

#endif
