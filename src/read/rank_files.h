/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_files.h - a rank that is a directory: the files in it that readers know, in the order of reading.
 *
 * Ascend's profiler writes a directory per rank, {worker}_{span}_ascend_pt, with ASCEND_PROFILER_OUTPUT in it and
 * descriptions of the recording beside that. The rank may be named by either directory. Its data are there as text, as
 * databases, or both; one of the two is read.
 */
#ifndef HT_READ_RANK_FILES_H
#define HT_READ_RANK_FILES_H

#include "base/status.h"

#define HT_ASCEND_OUTPUT "ASCEND_PROFILER_OUTPUT"

struct ht_rank_files {
	const char **paths;    /* the timeline first, so that tables can add to it */
	size_t n, n_others;    /* behind those that are read: the files of the form that is not */
	bool has_text, has_db; /* there are some, read or not */
	bool is_text;          /* what is read is text */
	bool only_timeline;    /* one file, trace_view.json, and nothing else of either directory */
};

/* The files of the rank at dir; none when it is no rank. Memory in the arena. HT_IO when the directory cannot be
 * listed. */
enum ht_status ht_rank_files_list(ht_ctx *ctx, const char *dir, bool prefer_db,
        struct ht_arena *arena, struct ht_rank_files *ret_files) HT_MUST_USE;

#endif
