/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed_bytes.h - what stands around plain data that leaves the process: what it is, who wrote it, and a hash.
 *
 *   magic, library version | contents | hash of all before
 *
 * Data is read by the version that wrote it and by no other. Numbers are little endian on every machine.
 */
#ifndef HT_BASE_SEALED_BYTES_H
#define HT_BASE_SEALED_BYTES_H

#include "base/bytes.h"
#include "base/status.h"

/* What a kind of data is called when it cannot be read. */
struct ht_sealed_kind {
	const char *magic; /* ends with a newline */
	const char *what;  /* "the part" */
	const char *none;  /* "this is no part of an analysis" */
	const char *maker; /* a hint: where it comes from */
};

void ht_sealed_begin(struct ht_bytes_out *out, const struct ht_sealed_kind *kind);
/* Add the hash and hand all to the sink. The bytes are freed, whatever the answer. */
enum ht_status ht_sealed_write(ht_ctx *ctx, struct ht_bytes_out *out,
        const struct ht_sealed_kind *kind, const struct ht_sink *sink) HT_MUST_USE;
/* Check what is around, and leave the contents in the input. HT_FORMAT when it is something else, of another
 * version or damaged. */
enum ht_status ht_sealed_open(ht_ctx *ctx, struct ht_bytes_in *in, struct ht_arena *arena,
        const struct ht_sealed_kind *kind) HT_MUST_USE;

#endif
