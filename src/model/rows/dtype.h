/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - types of elements as traces and PyTorch write them.
 */
#ifndef HT_MODEL_ROWS_DTYPE_H
#define HT_MODEL_ROWS_DTYPE_H

#include <stddef.h>
#include <stdint.h>

/* Types of elements, and as what kernels compute with them. */
enum ht_dtype {
	HT_DTYPE_UNKNOWN,
	HT_DTYPE_F64,
	HT_DTYPE_F32,
	HT_DTYPE_TF32, /* of kernels only: elements are float */
	HT_DTYPE_BF16,
	HT_DTYPE_F16,
	HT_DTYPE_F8,
	HT_DTYPE_F4, /* two values in a byte */
	HT_DTYPE_I64,
	HT_DTYPE_I32,
	HT_DTYPE_I16,
	HT_DTYPE_I8,
	HT_DTYPE_BOOL,
	HT_DTYPE_C64,
	HT_DTYPE_C128,
	HT_N_DTYPES
};

/* "bf16", "tf32", ...; NULL when unknown. */
const char *ht_dtype_name(enum ht_dtype dtype);
/* Of one element as it lies in memory, 0 when unknown. */
uint64_t ht_element_bytes(enum ht_dtype dtype);
/* "c10::BFloat16", "float", "long int", ... */
enum ht_dtype ht_dtype_of(const char *text, size_t n);
/* The number that PyTorch has for a type: 15 is bfloat16. */
enum ht_dtype ht_dtype_of_number(int64_t number);
/* Bytes per element of a type as PyTorch writes it of collectives ("BFloat16"), 0 when unknown. */
int64_t ht_dtype_bytes(const char *dtype);

#endif
