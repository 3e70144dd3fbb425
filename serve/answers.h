/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - answers that were given before, by question: bounded, the longest unused ones go.
 *
 * A question that is being answered is known too: whoever asks it meanwhile waits for the same answer, so that many
 * clients cost one computation.
 */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include "answer.h"

struct answers;

/* Whoever waits for an answer; linked into the question's list. */
struct waiter {
	struct waiter *next;
};

enum asked {
	ASKED_KNOWN, /* here it is */
	ASKED_FIRST, /* nobody has asked: the caller computes it and calls answers_give */
	ASKED_WAIT,  /* somebody computes it; the waiter is in the list that answers_give returns */
	ASKED_NOMEM,
};

struct answers *answers_new(size_t max_bytes);
void answers_free(struct answers *answers);
/* Look a question up. ret_answer is held for the caller when it is known. */
enum asked answers_ask(struct answers *answers, const char *question, struct waiter *waiter,
        struct answer **ret_answer);
/* The answer, which is kept when keep says so and it is a good one; those who wait for it. NULL: there is none. */
struct waiter *answers_give(
        struct answers *answers, const char *question, struct answer *answer, bool keep);

#endif
