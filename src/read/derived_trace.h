/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived_trace.h - files that were made from a trace by drawing into it, told by what they say at their start.
 *
 * A trace with counters or with the result of an analysis begins with {"holotrace_made_from":"NAME", NAME being
 * the file it was made from. Next to that file it is no rank of its own.
 */
#ifndef HT_READ_DERIVED_TRACE_H
#define HT_READ_DERIVED_TRACE_H

#include "base/arena.h"

/* The file of that name beside path, in the arena, when the text at the start of a file says one; else NULL.
 * False when out of memory. */
bool ht_derived_trace_source(struct ht_arena *arena, const char *path, const char *text, size_t n,
        const char **ret_source);

#endif
