/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_args.h - the arguments of an operator as the profiler recorded them (record_shapes): one entry per argument of its schema.
 *
 *   Input Dims       [[1024, 768], [768, 2304], []]        sizes; [] is a scalar, nothing, or a list of tensors that is too long
 *   Input type       ["c10::BFloat16", "c10::BFloat16", "Scalar"]
 *   Input Strides    [[768, 1], [1, 768], []]
 *   Concrete Inputs  ["", "", "1"]                          scalars and lists of scalars as text
 *
 * A list of tensors has one list of sizes per tensor, and no types. What is missing in the trace is absent here; nothing is assumed.
 */
#ifndef HT_MODEL_EFFICIENCY_OP_ARGS_H
#define HT_MODEL_EFFICIENCY_OP_ARGS_H

#include "model/rows/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HT_OP_MAX_ARGS 24
#define HT_OP_MAX_DIMS 8
/* A size beyond this is no size: what would hold such a tensor does not exist. */
#define HT_OP_MAX_DIM ((int64_t)1 << 40)

struct ht_op_tensor {
	int64_t dims[HT_OP_MAX_DIMS], strides[HT_OP_MAX_DIMS];
	uint8_t n_dims;
	uint8_t dtype; /* enum ht_dtype */
	bool has_strides;
	bool is_tensor;       /* it has a type of elements, or sizes */
	bool is_list;         /* of tensors: n_elements are those of all */
	bool is_bad;          /* sizes that no tensor has */
	uint64_t n_elements;  /* product of the sizes; 1 for a tensor without any */
	uint64_t n_unique;    /* without dimensions that are expanded: stride 0 */
	uint64_t n_matrix;    /* of a list: of its tensors with two dimensions or more */
	const char *concrete; /* text of a scalar, NULL: none; without quotes */
	size_t n_concrete;
};

struct ht_op_args {
	struct ht_op_tensor list[HT_OP_MAX_ARGS];
	size_t n;
	bool has_dims; /* sizes were recorded at all */
};

/* The four texts of an operator; any may be NULL. What is no list of JSON is as if it were missing. */
struct ht_op_texts {
	const char *dims, *types, *strides, *concrete;
};
void ht_op_args_read(const struct ht_op_texts *texts, struct ht_op_args *ret_args);

/* The i-th argument when it is a tensor with so many dimensions (-1: any); else NULL. */
const struct ht_op_tensor *ht_op_tensor(const struct ht_op_args *args, int i, int n_dims);
/* Scalars: absent or unreadable ones are the fallback. */
int64_t ht_op_int(const struct ht_op_args *args, int i, int64_t fallback);
bool ht_op_bool(const struct ht_op_args *args, int i, bool fallback);
/* A list of integers or of booleans ("[True, False]") into at most max values; how many there are, 0 when it is none. */
size_t ht_op_ints(const struct ht_op_args *args, int i, int64_t *ret_values, size_t max);

#endif
