/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - see job.h.
 */
#include "store/job.h"
#include "store/set.h"

#include <inttypes.h>
#include <string.h>

/* Of the operators that either of two traces has, both have a third at least, when each has so many. */
#define LEAST_SHARED_OF 3
#define FEW_OPERATORS   4
#define MAX_APART_NS    ((int64_t)60 * 1000000000)

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

static const char *maker_name(uint64_t maker)
{
	static const char *const names[] = { "", "NVIDIA", "AMD", "Ascend" };
	return names[maker < HT_COUNT(names) ? maker : UNKNOWN];
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

static bool are_other_models(const struct ht_job *a, const struct ht_job *b)
{
	int both = __builtin_popcountll(a->operators & b->operators);
	int either = __builtin_popcountll(a->operators | b->operators);
	return __builtin_popcountll(a->operators) >= FEW_OPERATORS &&
	       __builtin_popcountll(b->operators) >= FEW_OPERATORS &&
	       both * LEAST_SHARED_OF < either;
}

/* Time between two recordings of which neither was running during the other; 0 when they meet. */
static int64_t apart_ns(const struct ht_rank *a, const struct ht_rank *b)
{
	if (a->min_ts_ns == HT_NO_I64 || b->min_ts_ns == HT_NO_I64)
		return 0;
	int64_t after = b->min_ts_ns + b->offset_ns - (a->max_end_ns + a->offset_ns);
	int64_t before = a->min_ts_ns + a->offset_ns - (b->max_end_ns + b->offset_ns);
	int64_t gap = after > before ? after : before;
	return gap > 0 ? gap : 0;
}

/* Why b cannot be of the job of a; NULL when it can, or when memory ran out, which ret_status tells. */
static const char *differs(const struct ht_roster *roster, const struct ht_rank *a,
        const struct ht_rank *b, struct ht_arena *arena, enum ht_status *ret_status)
{
	const struct ht_job *x = &a->job, *y = &b->job;
	char *why = NULL;
	*ret_status = HT_OK;
	if (x->maker && y->maker && x->maker != y->maker)
		why = ht_arena_printf(arena, "rank %" PRId64 " ran on %s, rank %" PRId64 " on %s",
		        a->number, maker_name(x->maker), b->number, maker_name(y->maker));
	else if (x->world_size != HT_NO_I64 && y->world_size != HT_NO_I64 &&
	         x->world_size != y->world_size)
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " says it is one of %" PRId64 " ranks, rank %" PRId64
		        " one of %" PRId64,
		        a->number, x->world_size, b->number, y->world_size);
	else if (are_other_models(x, y))
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " and rank %" PRId64 " run operators of different models",
		        a->number, b->number);
	else if (roster->aligned && apart_ns(a, b) > MAX_APART_NS)
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " and rank %" PRId64 " were recorded %" PRId64 " s apart",
		        a->number, b->number, apart_ns(a, b) / 1000000000);
	else
		return NULL;
	*ret_status = why ? HT_OK : HT_NOMEM;
	return why;
}

enum ht_status ht_job_compare(
        const struct ht_roster *roster, struct ht_arena *arena, const char **ret_note)
{
	*ret_note = NULL;
	for (size_t i = 1; i < roster->n; i++) {
		enum ht_status status;
		const char *why =
		        differs(roster, &roster->ranks[0], &roster->ranks[i], arena, &status);
		if (status != HT_OK)
			return status;
		if (!why)
			continue;
		*ret_note = ht_arena_printf(arena,
		        "these look like different jobs: %s. Name the files of one job, "
		        "or compare two with diff",
		        why);
		return *ret_note ? HT_OK : HT_NOMEM;
	}
	return HT_OK;
}
