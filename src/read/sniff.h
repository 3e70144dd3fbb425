/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sniff.h - what JSON text holds, told by its first bytes.
 */
#ifndef HT_READ_SNIFF_H
#define HT_READ_SNIFF_H

#include "base/status.h"

/* Enough bytes to decide on any file seen so far. */
#define HT_SNIFF_BYTES ((size_t)64 << 10)

enum ht_sniff_kind {
	HT_SNIFF_OBJECT,          /* { ... "traceEvents": [ ... ] ... } */
	HT_SNIFF_ARRAY,           /* [ event, event ... */
	HT_SNIFF_LINES,           /* event newline event ... */
	HT_SNIFF_EXECUTION_TRACE, /* { "schema": ..., "nodes": [ ... ] } */
	HT_SNIFF_MEMORY_TIMELINE, /* [ [ number ... */
	HT_SNIFF_OTHER,
};

struct ht_sniff {
	enum ht_sniff_kind kind;
	const char *what; /* static; "an execution trace", "not JSON" */
};

/* Tell from the first decompressed bytes what a file holds. is_all: there are no further bytes. */
struct ht_sniff ht_sniff_trace(const char *text, size_t n, bool is_all);
bool ht_sniff_is_trace(enum ht_sniff_kind kind);
/* What starts like this and is no JSON: "a PNG image"; NULL when it is not known. */
const char *ht_sniff_magic(const char *p, size_t n);
/* traceEvents, or a top-level key that only stands in traces. */
bool ht_is_header_key(const char *name, size_t n);

#endif
