/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_test_help.h - what tests of any folder share: a sink into memory.
 */
#ifndef HT_SINK_TEST_HELP_H
#define HT_SINK_TEST_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Bytes that a sink received; NUL-terminated for string asserts. The test frees data. */
struct memory_sink {
	char *data;
	size_t n, cap;
	size_t accept; /* bytes after which write refuses, 0: never */
};

static inline bool memory_write(void *user, const void *bytes, size_t n)
{
	struct memory_sink *sink = user;
	if (sink->accept && sink->n + n > sink->accept)
		return false;
	if (sink->n + n + 1 > sink->cap) {
		sink->cap = 2 * (sink->n + n + 1);
		sink->data = realloc(sink->data, sink->cap);
		assert_non_null(sink->data);
	}
	memcpy(sink->data + sink->n, bytes, n);
	sink->n += n;
	sink->data[sink->n] = '\0';
	return true;
}

#endif
