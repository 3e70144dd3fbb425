/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - see job.h.
 */
#include "store/job.h"

#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

/* Of the operators that either of two traces has, both have a third at least, when each has so many. */
#define LEAST_SHARED_OF 3
#define FEW_OPERATORS   4

enum { UNKNOWN, NVIDIA, AMD, ASCEND };

static const struct {
	const char *name;
	uint64_t maker;
} calls[] = {
	{ "cudaLaunchKernel", NVIDIA },
	{ "cudaLaunchKernelExC", NVIDIA },
	{ "cudaMemcpyAsync", NVIDIA },
	{ "hipLaunchKernel", AMD },
	{ "hipExtModuleLaunchKernel", AMD },
	{ "hipMemcpyAsync", AMD },
	{ "hipMemcpyWithStream", AMD },
	{ "async_npu", ASCEND },
	{ "HostToDevice", ASCEND },
};

/* Each model has some of these and not others, whatever else it does. At most 64. */
static const char *const operators[] = { "aten::conv1d", "aten::conv2d", "aten::conv3d",
	"aten::convolution", "aten::conv_transpose2d", "aten::batch_norm", "aten::group_norm",
	"aten::layer_norm", "aten::native_layer_norm", "aten::rms_norm", "aten::instance_norm",
	"aten::max_pool2d", "aten::avg_pool2d", "aten::adaptive_avg_pool2d", "aten::linear",
	"aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm", "aten::einsum", "aten::embedding",
	"aten::embedding_bag", "aten::softmax", "aten::log_softmax",
	"aten::scaled_dot_product_attention", "aten::relu", "aten::relu_", "aten::gelu",
	"aten::silu", "aten::sigmoid", "aten::tanh", "aten::leaky_relu", "aten::hardtanh",
	"aten::dropout", "aten::lstm", "aten::gru", "aten::cross_entropy_loss", "aten::nll_loss",
	"aten::mse_loss", "aten::binary_cross_entropy_with_logits", "aten::upsample_nearest2d",
	"aten::upsample_bilinear2d", "aten::grid_sampler", "aten::index_select", "aten::gather",
	"aten::scatter_add_", "aten::topk", "aten::sort", "aten::cumsum", "aten::fft_fft",
	"aten::pixel_shuffle", "aten::_to_copy" };

const char *ht_job_maker(const struct ht_job *job)
{
	static const char *const names[] = { "", "NVIDIA", "AMD", "Ascend" };
	return names[job->maker < HT_COUNT(names) ? job->maker : UNKNOWN];
}

void ht_job_describe(const struct ht_trace *trace, struct ht_job *ret_job)
{
	_Static_assert(HT_COUNT(operators) <= 64, "a bit each");
	struct ht_job job = { .world_size = trace->meta->world_size };
	if (trace->meta->dialect == HT_DIALECT_ASCEND)
		job.maker = ASCEND;
	for (size_t i = 0; i < HT_COUNT(calls) && job.maker == UNKNOWN; i++)
		if (ht_str_find(trace, calls[i].name) != HT_NO_STR)
			job.maker = calls[i].maker;
	for (size_t i = 0; i < HT_COUNT(operators); i++)
		if (ht_str_find(trace, operators[i]) != HT_NO_STR)
			job.operators |= (uint64_t)1 << i;
	*ret_job = job;
}

bool ht_job_is_amd(const struct ht_job *job)
{
	return job->maker == AMD;
}

bool ht_job_is_ascend(const struct ht_job *job)
{
	return job->maker == ASCEND;
}

bool ht_job_is_other_model(const struct ht_job *a, const struct ht_job *b)
{
	int both = __builtin_popcountll(a->operators & b->operators);
	int either = __builtin_popcountll(a->operators | b->operators);
	return __builtin_popcountll(a->operators) >= FEW_OPERATORS &&
	       __builtin_popcountll(b->operators) >= FEW_OPERATORS &&
	       both * LEAST_SHARED_OF < either;
}
