/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_text.h - texts of a recording, which may be any bytes, as JSON strings.
 */
#ifndef HT_RECORD_ANY_TEXT_H
#define HT_RECORD_ANY_TEXT_H

#include "base/emit.h"

/* The inside of a JSON string of any bytes, appended to a vector of char. */
enum ht_status ht_rec_escape(
        ht_ctx *ctx, const char *bytes, size_t n, struct ht_vec *text) HT_MUST_USE;
/* A JSON string of bytes that may be anything; what is not UTF-8 becomes U+FFFD. */
void ht_emit_any(struct ht_emit *emit, const char *bytes, size_t n);

#endif
