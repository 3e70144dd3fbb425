/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.h - clients of the Model Context Protocol that are remembered between requests, by an id that nobody can guess.
 *
 * A bounded number, in the order of use: who comes then takes the place of the one that was idle for longest. An id is no
 * permission: the guard asks for the token all the same.
 */
#ifndef SERVE_SESSIONS_H
#define SERVE_SESSIONS_H

#include "holotrace.h"
#include "holotrace/mcp.h"

#define SESSION_ID_BYTES 33 /* 128 bits in hexadecimal, and the end */

struct sessions;

struct session_limits {
	size_t max;
	uint64_t idle_ms; /* without a message; a request under way is none */
};

struct sessions *sessions_new(const struct session_limits *limits);
/* Cancels what is under way. */
void sessions_free(struct sessions *sessions);
/* A session when the message is an initialize that begins one, with its id; else the id is empty. False when out of memory
 * or of random numbers. */
bool sessions_begin(struct sessions *sessions, const char *message, size_t n, uint64_t now_ms,
        char ret_id[SESSION_ID_BYTES]);

enum session_found { SESSION_TAKEN, SESSION_UNKNOWN, SESSION_NOMEM };
/* Take a message of a session, see ht_mcp_client_take. */
enum session_found sessions_take(struct sessions *sessions, const char *id, const char *message,
        size_t n, uint64_t now_ms, ht_mcp_request **ret_request);
/* Cancel its requests and forget it; false when there is none. */
bool sessions_end(struct sessions *sessions, const char *id, uint64_t now_ms);

#endif
