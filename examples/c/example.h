/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example.h - what the examples share: the end after an error, and a sink that prints.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <holotrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says what went wrong, and what to do about it. */
static inline void need(const ht_ctx *ctx, enum ht_status status)
{
	const struct ht_error *error = ht_error(ctx);
	if (status == HT_OK)
		return;
	fprintf(stderr, "%s: %s%s%s%s%s\n", ht_status_name(status), error->file ? error->file : "",
	        error->file ? ": " : "", error->message, error->hint ? ". " : "",
	        error->hint ? error->hint : "");
	exit(1);
}

static inline bool print_bytes(void *user, const void *bytes, size_t n)
{
	(void)user;
	return fwrite(bytes, 1, n, stdout) == n;
}

/* Bytes in memory, for what is read again. */
struct bytes {
	char *data;
	size_t n;
};

static inline bool keep_bytes(void *user, const void *bytes, size_t n)
{
	struct bytes *kept = (struct bytes *)user;
	char *data = (char *)realloc(kept->data, kept->n + n + 1);
	if (data == NULL)
		return false;
	memcpy(data + kept->n, bytes, n);
	kept->data = data;
	kept->n += n;
	return true;
}

#endif
