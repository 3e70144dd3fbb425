/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - a set of traces as files: one per rank, or all in one.
 */
#ifndef HT_WRITE_CONVERT_H
#define HT_WRITE_CONVERT_H

#include "write/trace_format.h"

/* Write the chosen ranks to path, whose "{rank}" is replaced by the rank; it may be missing when one file
 * is written (HT_USAGE else). Counters are added when the options say so; what overlays add comes
 * through extras (NULL: nothing). Merged ranks are brought to one clock (NULL: those of the files). Files appear complete or not at all. */
enum ht_status ht_convert_set(ht_ctx *ctx, const struct ht_set *set, const char *path,
        const struct ht_convert_options *options, const struct ht_clocks *clocks,
        const struct ht_write_extras *extras) HT_MUST_USE;

#endif
