/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - see buffer.h.
 */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void serve_buffer_done(struct serve_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct serve_buffer){ .max = buffer->max };
}

void *serve_buffer_extend(struct serve_buffer *buffer, size_t n)
{
	size_t max = buffer->max > 0 ? buffer->max : SERVE_MAX_ANSWER;
	if (buffer->failed || n > max || buffer->n > max - n) {
		buffer->failed = true;
		return NULL;
	}
	if (buffer->cap - buffer->n < n) {
		size_t cap = buffer->cap < 512 ? 512 : buffer->cap;
		while (cap - buffer->n < n)
			cap *= 2;
		char *bytes = realloc(buffer->bytes, cap);
		if (bytes == NULL) {
			buffer->failed = true;
			return NULL;
		}
		buffer->bytes = bytes;
		buffer->cap = cap;
	}
	void *room = buffer->bytes + buffer->n;
	buffer->n += n;
	return room;
}

void serve_put(struct serve_buffer *buffer, const void *bytes, size_t n)
{
	void *room = serve_buffer_extend(buffer, n);
	if (room != NULL && n > 0)
		memcpy(room, bytes, n);
}

void serve_puts(struct serve_buffer *buffer, const char *text)
{
	serve_put(buffer, text, strlen(text));
}

void serve_printf(struct serve_buffer *buffer, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (n < 0 || (size_t)n >= sizeof(text))
		buffer->failed = true; /* for short texts of our own */
	else
		serve_put(buffer, text, (size_t)n);
}

static bool write_to(void *user, const void *bytes, size_t n)
{
	struct serve_buffer *buffer = user;
	serve_put(buffer, bytes, n);
	return !buffer->failed;
}

struct ht_sink serve_buffer_sink(struct serve_buffer *buffer)
{
	return (struct ht_sink){ write_to, buffer };
}
