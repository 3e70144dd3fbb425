/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_files.h - which execution traces are meant, and which of them belongs to a rank.
 *
 * A list has a source per line: a file, a directory whose execution traces are meant, or RANK=SOURCE. The rank
 * of a file is what the list says, else what its name says.
 */
#ifndef HT_ET_ET_FILES_H
#define HT_ET_ET_FILES_H

#include "et/et.h"
#include "model/run.h"

#define HT_ET_NO_RANK INT64_MIN

struct ht_et_file {
	const char *path;
	int64_t rank; /* HT_ET_NO_RANK: unknown */
};

struct ht_et_files {
	struct ht_et_file *list;
	size_t n;
};

/* Memory is the arena's. HT_MISSING when a directory holds no execution trace. */
enum ht_status ht_et_files_find(ht_ctx *ctx, const char *list, struct ht_arena *arena,
        struct ht_et_files *ret_files) HT_MUST_USE;

/* Read the files of a list one after the other. Where a file does not say its rank, that is its place in the list. */
typedef enum ht_status (*ht_et_fn)(void *user, const struct ht_et *et, int64_t rank);
enum ht_status ht_et_each(ht_ctx *ctx, const char *list, bool is_strict, struct ht_arena *arena,
        ht_et_fn fn, void *user) HT_MUST_USE;

/* The execution trace of the rank in hand, among those that the run's parameter "et" names, else those attached; NULL when
 * there is none.
 * The caller frees it. */
enum ht_status ht_et_take(struct ht_run *run, bool is_strict, struct ht_et **ret_et) HT_MUST_USE;

/* Rows of the parts of ranks, with notes on files without a rank and ranks without a file. */
struct ht_parts;
enum ht_status ht_et_finish_ranks(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table) HT_MUST_USE;

#endif
