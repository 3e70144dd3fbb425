/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - the kernels that operators launch, as patterns "operator|kernel|kernel|...".
 *
 * Roots: the outermost host rows whose name contains the given text (outermost operators when there is
 * none). The pattern of a root is its name and the names of all GPU work launched inside it, by start
 * time. Roots with fewer than min_length pieces of GPU work do not count.
 */
#ifndef HT_MODEL_CALLS_SEQUENCE_H
#define HT_MODEL_CALLS_SEQUENCE_H

#include "model/drawing.h"
#include "model/rows/frame.h"

struct ht_sequence_options {
	const char *operator_name; /* NULL: every outermost operator */
	int64_t min_length;
	bool short_names; /* without template arguments and parameters */
};

struct ht_sequence {
	const char *operator_name;
	const char *pattern;
	uint64_t count;
	size_t n_kernels;
	int64_t gpu_ns; /* sum over all occurrences */
	int64_t op_ns;
};

struct ht_sequences {
	struct ht_sequence *list; /* by count descending, then pattern */
	size_t n;
	const uint32_t *root_of;     /* by row: the root it is under or is, HT_NONE when none */
	const uint32_t *sequence_of; /* by root row: index into list, HT_NONE when too short */
};

/* Memory in scratch. O(n log n). */
enum ht_status ht_sequences_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sequence_options *options, struct ht_sequences *ret_sequences) HT_MUST_USE;

/* What to write into a trace to show the first n_top patterns: for each row of their subtrees, host
 * rows and GPU work, the JSON object {"pattern": count}. Ascending by row. Memory in scratch. */
enum ht_status ht_sequences_overlay(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sequences *sequences, size_t n_top, const struct ht_row_text **ret_rows,
        size_t *ret_n) HT_MUST_USE;

#endif
