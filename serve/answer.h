/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - a finished answer: bytes as they are sent, shared by all who asked for the same.
 */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include "response.h"

#include <stdatomic.h>

struct answer {
	atomic_int n_refs;
	int status;
	const char *type,
	        *save_as;   /* static; save_as: the ending of the file, NULL: shown, not saved */
	const char *coding; /* static: "gzip", "zstd"; NULL: as it is */
	char etag[48];      /* quoted; "": none */
	char *bytes;
	size_t n;
};

/* What a route answered, compressed when that helps; a Problem for a failure, with the error of the context. Takes the
 * body. NULL when out of memory. */
struct answer *answer_new(
        ht_ctx *ctx, enum ht_status status, struct serve_response *response, const char *coding);
struct answer *answer_hold(struct answer *answer);
void answer_release(struct answer *answer);

/* The best of zstd and gzip that a header Accept-Encoding allows; NULL: none. */
const char *answer_coding(const char *accept);

#endif
