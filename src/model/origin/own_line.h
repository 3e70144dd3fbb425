/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_line.h - which Python functions of a trace are of the user's own code.
 *
 * Frames of the interpreter, of PyTorch, of packages and of generated code are not. The profiler leaves out what Python finds modules by, so that
 * files of the standard library have no folder ("typing.py(2154): cast"): those that jobs come through are known by name. A script of the
 * user's that is called like one of them is taken for it.
 */
#ifndef HT_MODEL_ORIGIN_OWN_LINE_H
#define HT_MODEL_ORIGIN_OWN_LINE_H

#include "base/status.h"

struct ht_run;
struct ht_trace;

/* Of a name like "file.py(30): forward". The page tells the same of frames of call stacks, which no row has (web/src/app/frames.ts);
 * tests/page/own_frames.json is held against both. */
bool ht_is_own_line(const char *name);

/* The same of the Python functions of a trace: each name is looked at once, as names repeat by the million. */
struct ht_own_lines {
	const uint8_t *is_own; /* by string id; NULL: the trace has no Python functions */
};
enum ht_status ht_own_lines_make(
        struct ht_run *run, const struct ht_trace *trace, struct ht_own_lines *ret_own) HT_MUST_USE;
/* Is a row a function of the user's own? */
bool ht_own_lines_has(const struct ht_own_lines *own, const struct ht_trace *trace, uint32_t row);

#endif
