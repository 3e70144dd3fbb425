/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_text.h - what stands in cells that hold lists of events: strings, times, args, as JSON or as Python literals.
 */
#ifndef HT_MODEL_ROWS_CELL_TEXT_H
#define HT_MODEL_ROWS_CELL_TEXT_H

#include "base/emit.h"
#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* Text of one cell at a time: emit, take, emit the next. */
struct ht_cell_text {
	struct ht_emit emit;
	struct ht_vec bytes; /* char */
};

/* End it with done, also after a failure. */
enum ht_status ht_cell_text_init(struct ht_cell_text *cell, ht_ctx *ctx) HT_MUST_USE;
enum ht_status ht_cell_text_done(struct ht_cell_text *cell) HT_MUST_USE;
/* What was written since the last take, ended by NUL and alive until the next text; NULL when out of memory. */
const char *ht_cell_text_take(struct ht_cell_text *cell);

/* Nanoseconds as milliseconds, exactly and as short as can be: 0.020993. */
void ht_cell_ms(struct ht_emit *emit, int64_t ns);
/* In quotes: "a\"b", or as Python shows it: 'a"b'. */
void ht_cell_string(struct ht_emit *emit, const char *text, size_t n, bool python);
/* The args of an event in the order of the file: {"a": 1}, or {'a': 1}. */
void ht_cell_args(struct ht_emit *emit, const struct ht_trace *trace, uint32_t row, bool python);

#endif
