/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - what a route answers.
 *
 * A route fills the body and sets the type, and returns HT_OK; headers, compression, ETag, caching and sending are
 * not its business. When it returns a failure, the body is dropped and the answer is a Problem (web/src/model.ts)
 * with the text of the request's context, or that of serve_refuse:
 *
 *   HT_USAGE 400    HT_MISSING, HT_FORMAT 422    HT_LIMIT 413    HT_IO, HT_INTERNAL 500    HT_NOMEM, HT_CANCELLED 503
 */
#ifndef SERVE_RESPONSE_H
#define SERVE_RESPONSE_H

#include "buffer.h"
#include "json_out.h"

struct serve_response {
	struct serve_buffer body;
	const char *type; /* static; NULL: application/json */
	const char *
	        save_as; /* the ending of the file when the answer is to be saved, NULL: shown; static */
	int status;      /* 0: 200, or by the failure */
	/* a refusal: the text is the route's own */
	char message[512], hint[256];
};

/* Refuse with this status of HTTP; hint may be NULL. Returns HT_USAGE, for `return serve_refuse(...)`. */
enum ht_status serve_refuse(struct serve_response *response, int status, const char *hint,
        const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
