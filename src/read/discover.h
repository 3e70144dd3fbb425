/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - from what the user typed to the trace files meant.
 *
 * A source is one of
 *   -            standard input
 *   FILE         a trace, never skipped; or a text file that lists sources, one per line, relative to
 *                the list's own directory; empty lines and lines from # on are ignored. A list is told
 *                by its form: lines short enough for paths, without quotes and braces, the first of
 *                which names something that exists
 *   @FILE        such a list, whatever it looks like
 *   DIRECTORY    a rank of Ascend's profiler (rank_files.h); else the traces directly in it, and those of
 *                its subdirectories that are such ranks; with recursive, the traces at any depth, as for a log
 *                directory that has runs below it and nothing else
 *   GLOB         with * ? [ when no such file exists: what matches, files and directories
 *   RANK=SOURCE  digits before the = when no such file exists: the rank of the one file it means
 *
 * Files found in directories and by globs are looked into: what is no trace is skipped with a note.
 * A list in a list is not followed.
 */
#ifndef HT_READ_DISCOVER_H
#define HT_READ_DISCOVER_H

#include "base/natural.h"
#include "base/status.h"
#include "read/file_name.h"
#include "read/skipped.h"

struct ht_found {
	const char *path; /* to open with ht_source_open */
	int64_t rank;     /* as given with RANK=, else HT_NO_RANK */
};

struct ht_discovery {
	struct ht_found *found; /* in natural order of path: rank2 before rank10; no file twice */
	size_t n_found;
	const char **notes; /* sentences: "skipped a.et.json.gz: an execution trace" */
	size_t n_notes;
	struct ht_skipped
	        *skipped; /* of directories and globs, in the order in which they were met */
	size_t n_skipped;
	size_t n_repeated;    /* other names of files that are in found already */
	const char **missing; /* with the option partial: "name: why it cannot be read" */
	size_t n_missing;
	struct ht_arena arena; /* owns all of the above */
};

/* Find the files meant. HT_MISSING when a directory or glob holds no trace, HT_IO when a path does not
 * exist or cannot be looked into. The caller ends the result with ht_discovery_done. */
enum ht_status ht_discover(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        bool recursive, bool partial, struct ht_discovery *ret_discovery) HT_MUST_USE;
/* The same at any depth, for directories that others write to meanwhile: what cannot be looked at is skipped,
 * and that nothing is there is an answer. */
enum ht_status ht_discover_live(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        struct ht_discovery *ret_discovery) HT_MUST_USE;
/* The same by the options, or the sources as a listing gave them; a rank that is given twice is HT_USAGE. */
enum ht_status ht_find_files(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, struct ht_discovery *ret_discovery) HT_MUST_USE;
void ht_discovery_done(struct ht_discovery *discovery);

/* Whether a file that answered so can be done without. */
bool ht_is_missing(enum ht_status status);
/* "name: why", of the error of the context, in the arena; NULL when out of memory. */
const char *ht_missing_text(ht_ctx *ctx, struct ht_arena *arena, const char *path);

#endif
