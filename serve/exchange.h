/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - one request on its way: from the raw target to the answer. Knows nothing of sockets.
 *
 *   begin ─► DONE (refused, known, or acted)
 *         ─► COMPUTE: exchange_compute on a worker's thread, then everyone who waits is told
 *         ─► WAIT_ANSWER: another exchange computes the same
 *         ─► WAIT_NEWS: until the runs change
 */
#ifndef SERVE_EXCHANGE_H
#define SERVE_EXCHANGE_H

#include "answers.h"
#include "guard.h"
#include "route.h"
#include "server.h"
#include "sessions.h"

#define EXCHANGE_MAX_BODY ((size_t)1 << 20)

enum next_step { STEP_DONE, STEP_COMPUTE, STEP_WAIT_ANSWER, STEP_WAIT_NEWS };

struct exchange {
	struct waiter waiter; /* first: a waiter is an exchange */
	struct server *server;
	void *connection; /* of http.c */
	struct exchange *next_news;
	uint64_t news_ms; /* when to stop waiting for them */
	char *target;     /* as it came; the request points into it */
	size_t n_target;
	const char *method;
	struct guard_headers headers;
	const char *accept_encoding, *if_none_match;
	struct serve_buffer body;
	struct serve_request request;
	struct serve_response response;
	const struct route *route;
	char *question;
	struct answer *answer;
	bool is_refused;  /* it is not understood; the response says why */
	bool is_modified; /* the client has another version */
	bool is_own;      /* of a session: the answer is for nobody else */
	bool is_short;    /* of a session, and no request: done at once */
	bool sets_cookie; /* opened with the token in the URL */
	bool wants_slash; /* the prefix without its slash */
	bool is_told;     /* computed, or given up */
	/* under the lock of http.c, from when it is computed on */
	bool is_suspended; /* nothing is sent until somebody resumes it */
	bool is_computing; /* a worker has it: who ends first leaves it to the other */
	bool is_gone;      /* the client is: the worker frees it */
	struct serve_buffer
	        events; /* told before the answer, as text/event-stream; with it at the end */
	size_t n_events_sent;
	bool has_end;                      /* the answer is among the events */
	char allow[ROUTE_ALLOWED_BYTES];   /* of a wrong method: the right ones */
	char session_id[SESSION_ID_BYTES]; /* of the session that it begins; empty: none */
	uint64_t deadline_ms;
};

struct exchange *exchange_new(struct server *server, const char *target);
void exchange_free(struct exchange *exchange);
/* Whether who asks may ask; refused otherwise. Method and headers are set, the body need not be there. */
bool exchange_admit(struct exchange *exchange);
/* Everything that can be said at once, to who was admitted. */
enum next_step exchange_begin(struct exchange *exchange);
/* How long that may take, before it is computed. */
unsigned exchange_cost_ms(const struct exchange *exchange);
/* Compute the answer, and give it to all who wait for it: told is called for each, this one included. */
void exchange_compute(struct exchange *exchange, void (*told)(struct exchange *exchange));
/* Refuse all who wait for it. */
void exchange_give_up(struct exchange *exchange, void (*told)(struct exchange *exchange));
/* A refusal as the answer. */
void exchange_refuse(struct exchange *exchange, int status, const char *hint, const char *message);

#endif
