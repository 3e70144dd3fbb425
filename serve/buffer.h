/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - bytes that grow: what an answer is written into.
 *
 * A failure is remembered, not reported: write everything, then ask once. A buffer has a limit, so that no answer
 * can take all memory.
 */
#ifndef SERVE_BUFFER_H
#define SERVE_BUFFER_H

#include "holotrace.h"

struct serve_buffer {
	char *bytes;
	size_t n, cap;
	size_t max;  /* 0: SERVE_MAX_ANSWER */
	bool failed; /* out of memory, or over the limit */
};

#define SERVE_MAX_ANSWER ((size_t)1 << 30)

void serve_buffer_done(struct serve_buffer *buffer);
/* Room for n more bytes at the end, to be filled by the caller; NULL when there is none. */
void *serve_buffer_extend(struct serve_buffer *buffer, size_t n);
void serve_put(struct serve_buffer *buffer, const void *bytes, size_t n);
void serve_puts(struct serve_buffer *buffer, const char *text);
void serve_printf(struct serve_buffer *buffer, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* For ht_render and others that write to a sink. */
struct ht_sink serve_buffer_sink(struct serve_buffer *buffer);

#endif
