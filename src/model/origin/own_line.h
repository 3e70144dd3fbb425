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

#include "store/event.h"

#include <stdbool.h>

struct ht_trace;

/* Of a name like "file.py(30): forward". The page tells the same of frames of call stacks, which no row has (web/src/app/frames.ts);
 * tests/page/own_frames.json is held against both. */
bool ht_is_own_line(const char *name);
/* Whether a row is a call of such a function, for ht_tree_nearest. user: a pointer to a pointer to zeros, one for each string of the trace and
 * one more; what was found out of a name is kept there, as names repeat by the million. */
bool ht_is_own_call(const struct ht_trace *trace, uint32_t row, const void *user);

#endif
