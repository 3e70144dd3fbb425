/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_cost.h - what a call of an operator has to compute and to move, from the sizes of its arguments (op_formulas.def).
 *
 * A multiply-add is two operations. flops are those of matrix products: GEMM, convolution, attention; everything else
 * that is computed is vector_flops. bytes are compulsory: each input element read once (expanded ones once in all), each
 * result written once; caches can make it look like less, repeated reads like more. Where sizes leave it open (lengths of
 * sequences, arguments that are read and written) the second number is the upper bound.
 * A call without a formula, or whose sizes do not fit it, costs nothing here, and the state says why.
 */
#ifndef HT_MODEL_EFFICIENCY_OP_COST_H
#define HT_MODEL_EFFICIENCY_OP_COST_H

#include "model/efficiency/op_args.h"

enum ht_cost_state {
	HT_COST_KNOWN,
	HT_COST_INTERVAL,    /* the truth lies between the two numbers */
	HT_COST_NO_FORMULA,  /* nothing is known about the operator */
	HT_COST_NO_SHAPES,   /* sizes were not recorded */
	HT_COST_LONG_LIST,   /* PyTorch records no sizes of a list of more than 30 tensors */
	HT_COST_MISMATCH,    /* sizes do not fit each other or the schema */
	HT_COST_TOO_LARGE,   /* no such tensor exists */
	HT_COST_NO_OPERATOR, /* the activity belongs to none */
	HT_N_COST_STATES
};

/* "formula", "interval", "none: no formula", ... */
const char *ht_cost_method(enum ht_cost_state state);
static inline bool ht_cost_is_known(enum ht_cost_state state)
{
	return state <= HT_COST_INTERVAL;
}

/* How many of the pairs of queries and keys causal attention counts. */
enum ht_causal { HT_CAUSAL_EXACT, HT_CAUSAL_HALF, HT_CAUSAL_FULL };

struct ht_op_cost {
	uint64_t flops, flops_max;
	uint64_t vector_flops;
	/* of a product: elements of rows that are no multiple of 16 bytes, as tensor cores load them; 0: all are */
	uint64_t odd_size;
	uint64_t bytes, bytes_max; /* 0 and has_bytes false: the type of elements is not known */
	uint8_t dtype;             /* enum ht_dtype: of operand A, or of what is moved */
	uint8_t state;             /* enum ht_cost_state */
	bool has_bytes;
	bool is_matrix;    /* GEMM, convolution, attention */
	bool is_causal;    /* attention that a mask halves */
	bool is_copy;      /* elements are read and written as they are, or in another type */
	uint8_t cast_from; /* enum ht_dtype: that other type, of a copy into dtype; unknown: none */
};

/* The formula of an operator by its name, NULL: none. */
struct ht_op_formula;
const struct ht_op_formula *ht_op_formula_find(const char *name);
/* Whether it is one of matrix products. */
bool ht_op_formula_is_matrix(const struct ht_op_formula *formula);

/* formula NULL: a generated kernel of Inductor ("triton_..."), whose arguments are what it moves. */
struct ht_op_cost ht_op_cost(
        const struct ht_op_formula *formula, const struct ht_op_args *args, enum ht_causal causal);

#endif
