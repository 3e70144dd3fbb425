/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.h - what the names of trace files tell: their rank and their form.
 */
#ifndef HT_READ_FILE_NAME_H
#define HT_READ_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define HT_NO_RANK INT64_MIN

/* The rank that a path names, else HT_NO_RANK: the digits after "rank", else after "worker", with at
 * most one sign between (rank3, rank-3, rank_3, rank[3]); in the file name first, then in the two
 * directories above it. */
int64_t ht_rank_from_name(const char *path);

/* The name of a file without its directories. */
const char *ht_file_name(const char *path);
/* Whether it is called as people call a database: what of it is no trace may be something else to show. */
bool ht_has_database_name(const char *path);
/* Whether a path is "x.json" and the other "x.raw.json": the same memory timeline summed up and raw; compressed or not. */
bool ht_is_summed_form(const char *path, const char *other);

#endif
