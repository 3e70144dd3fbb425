/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.c - see dtype.h.
 */
#include "model/rows/dtype.h"

#include "base/status.h"

#include <string.h>

static const struct {
	const char *name;
	uint8_t bytes;
} dtypes[HT_N_DTYPES] = {
	[HT_DTYPE_F64] = { "fp64", 8 },
	[HT_DTYPE_F32] = { "fp32", 4 },
	[HT_DTYPE_TF32] = { "tf32", 4 },
	[HT_DTYPE_BF16] = { "bf16", 2 },
	[HT_DTYPE_F16] = { "fp16", 2 },
	[HT_DTYPE_F8] = { "fp8", 1 },
	[HT_DTYPE_F4] = { "fp4", 1 },
	[HT_DTYPE_I64] = { "int64", 8 },
	[HT_DTYPE_I32] = { "int32", 4 },
	[HT_DTYPE_I16] = { "int16", 2 },
	[HT_DTYPE_I8] = { "int8", 1 },
	[HT_DTYPE_BOOL] = { "bool", 1 },
	[HT_DTYPE_C64] = { "complex64", 8 },
	[HT_DTYPE_C128] = { "complex128", 16 },
};

/* As type names of C++ are written in traces. */
static const struct {
	const char *text;
	enum ht_dtype dtype;
} spellings[] = {
	{ "double", HT_DTYPE_F64 },
	{ "float", HT_DTYPE_F32 },
	{ "c10::BFloat16", HT_DTYPE_BF16 },
	{ "c10::Half", HT_DTYPE_F16 },
	{ "c10::Float8_e4m3fn", HT_DTYPE_F8 },
	{ "c10::Float8_e5m2", HT_DTYPE_F8 },
	{ "c10::Float8_e4m3fnuz", HT_DTYPE_F8 },
	{ "c10::Float8_e5m2fnuz", HT_DTYPE_F8 },
	{ "c10::Float4_e2m1fn_x2", HT_DTYPE_F4 },
	{ "long int", HT_DTYPE_I64 },
	{ "long", HT_DTYPE_I64 },
	{ "int64_t", HT_DTYPE_I64 },
	{ "int", HT_DTYPE_I32 },
	{ "short", HT_DTYPE_I16 },
	{ "short int", HT_DTYPE_I16 },
	{ "signed char", HT_DTYPE_I8 },
	{ "unsigned char", HT_DTYPE_I8 },
	{ "c10::Float8_e8m0fnu", HT_DTYPE_I8 },
	{ "bool", HT_DTYPE_BOOL },
	{ "c10::complex<float>", HT_DTYPE_C64 },
	{ "c10::complex<double>", HT_DTYPE_C128 },
};

const char *ht_dtype_name(enum ht_dtype dtype)
{
	return dtypes[dtype].name;
}

uint64_t ht_element_bytes(enum ht_dtype dtype)
{
	return dtypes[dtype].bytes;
}

enum ht_dtype ht_dtype_of(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
		if (strlen(spellings[i].text) == n && !memcmp(spellings[i].text, text, n))
			return spellings[i].dtype;
	return HT_DTYPE_UNKNOWN;
}

enum ht_dtype ht_dtype_of_number(int64_t number)
{
	/* c10::ScalarType */
	static const uint8_t numbers[] = { HT_DTYPE_I8, HT_DTYPE_I8, HT_DTYPE_I16, HT_DTYPE_I32,
		HT_DTYPE_I64, HT_DTYPE_F16, HT_DTYPE_F32, HT_DTYPE_F64, 0, HT_DTYPE_C64,
		HT_DTYPE_C128, HT_DTYPE_BOOL, 0, 0, 0, HT_DTYPE_BF16, 0, 0, 0, 0, 0, 0, 0,
		HT_DTYPE_F8, HT_DTYPE_F8, HT_DTYPE_F8, HT_DTYPE_F8 };
	return number >= 0 && (size_t)number < sizeof numbers ? numbers[number] : 0;
}

int64_t ht_dtype_bytes(const char *dtype)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} types[] = { { "Float", 4 }, { "Double", 8 }, { "Half", 2 }, { "BFloat16", 2 },
		{ "Byte", 1 }, { "Char", 1 }, { "Bool", 1 }, { "Short", 2 }, { "Int", 4 },
		{ "Long", 8 }, { "UInt16", 2 }, { "UInt32", 4 }, { "UInt64", 8 },
		{ "ComplexHalf", 4 }, { "ComplexFloat", 8 }, { "ComplexDouble", 16 } };
	for (size_t i = 0; dtype && i < HT_COUNT(types); i++)
		if (!strcmp(dtype, types[i].name))
			return types[i].bytes;
	return dtype && !strncmp(dtype, "Float8", 6) ? 1 : 0;
}
