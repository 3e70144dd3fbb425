/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_lines.h - the lines of source that a compiled call was made from, as one text: "a.py(3): f + b.py(4): g".
 */
#ifndef HT_MODEL_ORIGIN_CALL_LINES_H
#define HT_MODEL_ORIGIN_CALL_LINES_H

#include "base/status.h"
#include "model/origin/stack_frames.h"

struct ht_compiled_call;

/* No path and function are longer; what is, is no line. */
#define HT_CALL_LINE_BYTES 4096

/* The next line from *at on, which moves behind it, to NULL behind the last; false: there is none. */
bool ht_call_line_next(const char **at, struct ht_piece *ret_line);
/* Which of the lines of a text it is; SIZE_MAX: none. */
size_t ht_call_line_find(const char *lines, struct ht_piece line);
/* One more line of a call, once, and as many as a call may have. */
enum ht_status ht_call_line_add(ht_ctx *ctx, struct ht_arena *arena, struct ht_compiled_call *call,
        struct ht_piece line) HT_MUST_USE;

#endif
