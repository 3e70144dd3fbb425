/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.c - see fit.h.
 */
#include "model/origin/fit.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* What words of a name stand for, as bits: one kernel may be several. The first family is the name that is shown. */
enum {
	GEMM = 1,
	ATTENTION = 2,
	NORM = 4,
	SOFTMAX = 8,
	GATHER = 16,
	SORT = 32,
	COMM = 64,
	GELU = 128,
	SILU = 256,
	RELU = 512,
	SIGMOID = 1024,
	TANH = 2048,
	REDUCE = 4096,
	ELEMENTWISE = 8192,
	COPY = 16384,
};

struct word {
	const char *text;
	unsigned means;
};

static const struct word kernel_words[] = {
	{ "nccl", COMM },
	{ "rccl", COMM },
	{ "allreduce", COMM },
	{ "all_reduce", COMM },
	{ "flash", ATTENTION },
	{ "fmha", ATTENTION },
	{ "attention", ATTENTION },
	{ "mha_", ATTENTION },
	{ "gemm", GEMM },
	{ "nvjet", GEMM },
	{ "cijk_", GEMM },
	{ "xmma", GEMM },
	{ "wgmma", GEMM },
	{ "gemv", GEMM },
	{ "layer_norm", NORM },
	{ "layernorm", NORM },
	{ "rmsnorm", NORM },
	{ "rms_norm", NORM },
	{ "batch_norm", NORM },
	{ "softmax", SOFTMAX },
	{ "gather", GATHER },
	{ "embedding", GATHER },
	{ "index", GATHER },
	{ "scatter", GATHER },
	{ "topk", SORT },
	{ "sort", SORT },
	{ "gelu", GELU },
	{ "silu", SILU },
	{ "swish", SILU },
	{ "threshold", RELU },
	{ "relu", RELU },
	{ "sigmoid", SIGMOID },
	{ "tanh", TANH },
	{ "reduce", REDUCE },
	{ "copy", COPY },
	{ "catarray", COPY },
	{ "elementwise", ELEMENTWISE },
};

static const struct word op_words[] = {
	{ "aten::mm", GEMM },
	{ "addmm", GEMM },
	{ "bmm", GEMM },
	{ "matmul", GEMM },
	{ "linear", GEMM },
	{ "gemm", GEMM },
	{ "conv", GEMM },
	{ "attention", ATTENTION | GEMM | SOFTMAX | REDUCE },
	{ "flash", ATTENTION },
	{ "fmha", ATTENTION },
	{ "layer_norm", NORM },
	{ "rms_norm", NORM },
	{ "batch_norm", NORM },
	{ "group_norm", NORM },
	{ "softmax", SOFTMAX },
	{ "embedding", GATHER | SORT },
	{ "index", GATHER | SORT | ELEMENTWISE },
	{ "gather", GATHER },
	{ "scatter", GATHER | ELEMENTWISE },
	{ "topk", SORT | GATHER },
	{ "sort", SORT | GATHER },
	{ "nonzero", SORT | REDUCE },
	{ "nccl", COMM },
	{ "c10d", COMM },
	{ "all_reduce", COMM },
	{ "gelu", GELU | TANH },
	{ "silu", SILU | SIGMOID },
	{ "relu", RELU },
	{ "sigmoid", SIGMOID },
	{ "tanh", TANH },
	{ "aten::add", ELEMENTWISE },
	{ "aten::mul", ELEMENTWISE },
	{ "aten::sub", ELEMENTWISE },
	{ "aten::div", ELEMENTWISE },
	{ "aten::copy_", COPY | ELEMENTWISE },
	{ "aten::fill_", ELEMENTWISE },
	{ "aten::zero_", ELEMENTWISE },
	{ "aten::cat", COPY | ELEMENTWISE },
	{ "aten::sum", REDUCE },
	{ "aten::mean", REDUCE },
};

/* Families that a kernel has only for an operator that asks for them. */
#define TELLING                                                                                    \
	(GEMM | ATTENTION | NORM | SOFTMAX | GATHER | SORT | COMM | GELU | SILU | RELU | SIGMOID | \
	        TANH)

/* Whatever the case of its letters. A text begins with a small letter, which few places of a name have. */
static bool contains(const char *name, const char *text)
{
	size_t n = strlen(text);
	while (*name && ((*name | 0x20) != *text || strncasecmp(name, text, n) != 0))
		name++;
	return *name;
}

static unsigned meaning(const struct word *words, size_t n, const char *name)
{
	unsigned means = 0;
	for (size_t i = 0; i < n; i++)
		if (contains(name, words[i].text))
			means |= words[i].means;
	return means;
}

bool ht_origin_fits(const char *op, const char *kernel)
{
	unsigned of_op = meaning(op_words, sizeof op_words / sizeof op_words[0], op);
	unsigned of_kernel =
	        meaning(kernel_words, sizeof kernel_words / sizeof kernel_words[0], kernel);
	unsigned activations = GELU | SILU | RELU | SIGMOID | TANH;
	if (!of_op || !of_kernel)
		return true;
	/* an activation that the operator computes shows in the names of elementwise kernels */
	if ((of_op & activations) && (of_kernel & ELEMENTWISE) && !(of_op & of_kernel))
		return false;
	/* attention kernels may be named by all that they fuse */
	if (of_op & of_kernel)
		return true;
	return !(of_kernel & TELLING);
}

const char *ht_kernel_family(const char *kernel)
{
	static const struct word shown[] = { { "collective", COMM }, { "attention", ATTENTION },
		{ "gemm", GEMM }, { "norm", NORM }, { "softmax", SOFTMAX }, { "gather", GATHER },
		{ "sort", SORT }, { "activation", GELU | SILU | RELU | SIGMOID | TANH },
		{ "reduce", REDUCE }, { "copy", COPY }, { "elementwise", ELEMENTWISE } };
	unsigned means =
	        meaning(kernel_words, sizeof kernel_words / sizeof kernel_words[0], kernel);
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
		if (means & shown[i].means)
			return shown[i].text;
	return NULL;
}
