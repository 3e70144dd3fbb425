/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_deflate.h - gzip members, by whichever library the build has: io_deflate_isal.c or io_deflate_zlib.c.
 * Private to base/io_gzip.c, which knows what a file of members looks like, and io_ahead.c.
 */
#ifndef HT_BASE_IO_DEFLATE_H
#define HT_BASE_IO_DEFLATE_H

#include "base/status.h"

/* The libraries count in 32 bits; no step is given more. */
#define HT_DEFLATE_MAX_STEP ((size_t)1 << 30)

/* One call's work: bytes in and out, and what of them was used. */
struct ht_deflate_step {
	const uint8_t *in;
	size_t n_in;
	uint8_t *out;
	size_t n_out;
	size_t used, made; /* set by the call */
	bool is_done;      /* set by the call: the member is complete */
};

struct ht_inflater;
struct ht_deflater;

enum ht_status ht_inflater_open(ht_ctx *ctx, struct ht_inflater **ret_inflater) HT_MUST_USE;
void ht_inflater_close(struct ht_mem *mem, struct ht_inflater *inflater);
/* The next bytes begin a member. */
void ht_inflater_reset(struct ht_inflater *inflater);
/* Inflate header, data and trailer of a member. What was made is good also when HT_FORMAT is answered;
 * ret_damage then has a static text. HT_NOMEM is the only other failure. */
enum ht_status ht_inflater_run(struct ht_inflater *inflater, struct ht_deflate_step *step,
        const char **ret_damage) HT_MUST_USE;

/* A member that favours speed. */
enum ht_status ht_deflater_open(ht_ctx *ctx, struct ht_deflater **ret_deflater) HT_MUST_USE;
void ht_deflater_close(struct ht_mem *mem, struct ht_deflater *deflater);
/* False when the library fails. last: the input ends the member. */
bool ht_deflater_run(struct ht_deflater *deflater, struct ht_deflate_step *step, bool last);

/* The CRC-32 of gzip, of bytes that follow others; 0 for the first. */
uint32_t ht_deflate_crc(uint32_t crc, const uint8_t *bytes, size_t n);

/* "ISA-L 2.30.0" */
const char *ht_deflate_library(void);

#endif
