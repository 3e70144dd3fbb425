/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_traits.c - see name_traits.h.
 */
#include "model/rows/name_traits.h"

#include "base/text_compare.h"
#include "json/json_text.h"
#include "model/rows/dtype.h"
#include "model/rows/row_names.h"
#include "store/job.h"
#include "store/trace_meta.h"

#include <string.h>

/* Lists of tensor_cores.def, in the order in which they decide. */
enum core { CUDA_INSTRUCTION, TENSOR, CUDA, HELPER, LISTED, UNCLEAR };
static const struct {
	enum core core;
	const char *text;
} kernels[] = {
#define CUDA_CORE_INSTRUCTION(text) { CUDA_INSTRUCTION, text },
#define TENSOR_CORE_KERNEL(text)    { TENSOR, text },
#define CUDA_CORE_KERNEL(text)      { CUDA, text },
#define HELPER_KERNEL(text)         { HELPER, text },
#define LISTED_KERNEL(text)         { LISTED, text },
#define UNCLEAR_KERNEL(text)        { UNCLEAR, text },
#define TENSOR_CORE_OP(name)
#include "model/rows/tensor_cores.def"
#undef CUDA_CORE_INSTRUCTION
#undef TENSOR_CORE_KERNEL
#undef CUDA_CORE_KERNEL
#undef HELPER_KERNEL
#undef LISTED_KERNEL
#undef UNCLEAR_KERNEL
#undef TENSOR_CORE_OP
};

static const char *const tc_ops[] = {
#define CUDA_CORE_INSTRUCTION(text)
#define TENSOR_CORE_KERNEL(text)
#define CUDA_CORE_KERNEL(text)
#define HELPER_KERNEL(text)
#define LISTED_KERNEL(text)
#define UNCLEAR_KERNEL(text)
#define TENSOR_CORE_OP(name) name,
#include "model/rows/tensor_cores.def"
#undef CUDA_CORE_INSTRUCTION
#undef TENSOR_CORE_KERNEL
#undef CUDA_CORE_KERNEL
#undef HELPER_KERNEL
#undef LISTED_KERNEL
#undef UNCLEAR_KERNEL
#undef TENSOR_CORE_OP
};

static bool is_loader(const char *name)
{
	return (ht_text_starts(name, "enumerate(DataLoader)#") &&
	               ht_text_ends(name, ".__next__")) ||
	       ht_text_starts(name, "enumerate(DataPipe)#");
}

static bool is_comm(const char *name)
{
	static const char *const backends[] = {
		"nccl:", "gloo:", "hccl:", "xccl:", "ucc:", "mpi:"
	};
	for (size_t i = 0; i < HT_COUNT(backends); i++)
		if (ht_text_starts(name, backends[i]) && name[strlen(backends[i])] != ':')
			return true;
	return !strcmp(name, "record_param_comms");
}

/* Libraries that communicate in the CPU's own calls; the calls of others put it into the queue of a device. */
static bool is_host_comm(const char *name)
{
	return ht_text_starts(name, "gloo:") || ht_text_starts(name, "ucc:") ||
	       ht_text_starts(name, "mpi:");
}

static bool is_tc_op(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(tc_ops); i++)
		if (!strcmp(name, tc_ops[i]))
			return true;
	return false;
}

/* Is the text in the name of the function itself, behind its namespaces and before its parameters? A mangled name is one piece. */
static bool is_own_name(const char *name, const char *text)
{
	static const char *const general[] = { "cutlass::Kernel", "cutlass::device_kernel" };
	static const char unnamed[] = "(anonymous namespace)";
	for (size_t i = 0; i < HT_COUNT(general); i++)
		if (strstr(name, general[i]))
			return strstr(name, text) != NULL;
	const char *start = name, *end = name;
	while (*end && *end != '<' && (*end != '(' || ht_text_starts(end, unnamed))) {
		end += *end == '(' ? strlen(unnamed) : 1;
		if (ht_text_starts(end, "::"))
			start = end + 2;
	}
	const char *at = strstr(start, text);
	return at && at < end;
}

static bool decides(size_t i, const char *name)
{
	return kernels[i].core == UNCLEAR ? is_own_name(name, kernels[i].text)
	                                  : strstr(name, kernels[i].text) != NULL;
}

static unsigned core_traits(const char *name)
{
	size_t i = 0;
	while (i < HT_COUNT(kernels) && !decides(i, name))
		i++;
	if (i == HT_COUNT(kernels))
		return 0;
	/* a mangled name has the product anywhere, be it the function or what it works for */
	unsigned by_type = ht_text_starts(name, "_Z") ? 0 : HT_TRAIT_TC_BY_TYPE;
	switch (kernels[i].core) {
	case TENSOR: return HT_TRAIT_TC_KERNEL;
	case LISTED:
		return by_type |
		       (strstr(name, "f32f32_f32f32") ? HT_TRAIT_TC_UNCLEAR : HT_TRAIT_TC_KERNEL);
	case UNCLEAR: return by_type | HT_TRAIT_TC_UNCLEAR;
	case CUDA_INSTRUCTION:
	case CUDA: return HT_TRAIT_CUDA_KERNEL;
	case HELPER: break;
	}
	return 0;
}

/* cuDNN's, and those that MIOpen's products of NHWC are surrounded by. */
static bool is_layout(const char *name)
{
	return strstr(name, "nchwToNhwc") || strstr(name, "nhwcToNchw") ||
	       ht_text_starts(name, "batched_transpose_");
}

bool ht_is_module_name(const char *name)
{
	return ht_text_starts(name, "nn.Module: ") || ht_text_starts(name, "[pl][module]");
}

bool ht_is_region_name(const char *name)
{
	return ht_text_starts(name, "Torch-Compiled Region");
}

bool ht_is_optimizer_name(const char *name)
{
	return ht_text_starts(name, "Optimizer.step");
}

unsigned ht_name_traits(const char *name)
{
	unsigned traits = 0;
	if (ht_is_step_name(name))
		traits |= HT_TRAIT_STEP;
	if (is_loader(name))
		traits |= HT_TRAIT_LOADER;
	if (ht_is_optimizer_name(name))
		traits |= HT_TRAIT_OPTIMIZER;
	if (ht_text_starts(name, "Optimizer."))
		traits |= HT_TRAIT_OPTIMIZERS;
	if (!strcmp(name, "DataParallel.forward") ||
	        !strcmp(name, "DistributedDataParallel.forward"))
		traits |= HT_TRAIT_PARALLEL;
	if (is_comm(name))
		traits |= HT_TRAIT_COMM | (is_host_comm(name) ? HT_TRAIT_HOST_COMM : 0);
	if (ht_is_module_name(name))
		traits |= HT_TRAIT_MODULE;
	if (ht_is_region_name(name))
		traits |= HT_TRAIT_REGION;
	if (is_tc_op(name))
		traits |= HT_TRAIT_TC_OP;
	if (is_layout(name))
		traits |= HT_TRAIT_LAYOUT;
	return traits | core_traits(name);
}

enum ht_status ht_traits_init(
        struct ht_run *run, const struct ht_trace *trace, struct ht_traits *ret_traits)
{
	struct ht_traits traits = { .trace = trace,
		.of = ht_arena_alloc(run->scratch, trace->n_string_offsets * sizeof(uint16_t)),
		.core = ht_arg_cursor(trace, "Accelerator Core"),
		.task = ht_arg_cursor(trace, "Task Type"),
		.types = ht_arg_cursor(trace, "Input type"),
		.device = HT_NO_I64 };
	if (!traits.of)
		return ht_fail_nomem(run->ctx);
	*ret_traits = traits;
	return HT_OK;
}

void ht_traits_look(struct ht_traits *traits, uint32_t id)
{
	traits->of[id] = (uint16_t)(HT_TRAIT_SEEN | ht_name_traits(ht_str(traits->trace, id)));
}

const char *ht_traits_core(struct ht_traits *traits, uint32_t row, bool by_task)
{
	struct ht_arg_cursor *first = by_task ? &traits->task : &traits->core;
	const char *core = ht_arg_cursor_str(first, row);
	return core ? core : ht_arg_cursor_str(by_task ? &traits->core : &traits->task, row);
}

/* What operators multiply: the type that the first two tensors have in common; unknown when they differ. */
static enum ht_dtype product_type(const char *types)
{
	enum ht_dtype found = HT_DTYPE_UNKNOWN;
	/* a text of the trace may be anything, and the reader takes only what is JSON */
	if (!types || !ht_json_valid(types, strlen(types)))
		return HT_DTYPE_UNKNOWN;
	struct ht_json reader = { types };
	struct ht_json_value list = ht_json_next(&reader), item;
	if (list.type != HT_JSON_ARRAY)
		return HT_DTYPE_UNKNOWN;
	struct ht_json items = ht_json_enter(&list);
	while (ht_json_element(&items, &item)) {
		enum ht_dtype type = item.type == HT_JSON_STRING && item.n >= 2
		                             ? ht_dtype_of(item.text + 1, item.n - 2)
		                             : HT_DTYPE_UNKNOWN;
		if (type == HT_DTYPE_UNKNOWN)
			continue;
		if (found != HT_DTYPE_UNKNOWN)
			return found == type ? type : HT_DTYPE_UNKNOWN;
		found = type;
	}
	return HT_DTYPE_UNKNOWN;
}

/* 90 of a device with compute capability 9.0; HT_NO_I64: the trace does not say, or it is none of NVIDIA's. */
static int64_t capability_of(struct ht_traits *traits, int64_t device)
{
	struct ht_job job;
	const struct ht_device *of = ht_trace_device(traits->trace, device);
	if (traits->device == device)
		return traits->capability;
	traits->device = device;
	traits->capability = HT_NO_I64;
	ht_job_describe(traits->trace, &job);
	if (!of || of->properties == HT_NO_STR || ht_job_is_amd(&job))
		return HT_NO_I64;
	struct ht_json reader = { ht_str(traits->trace, of->properties) };
	struct ht_json_value object = ht_json_next(&reader);
	struct ht_json_value major = ht_json_get(&object, "computeMajor"),
	                     minor = ht_json_get(&object, "computeMinor");
	int64_t numbers[2];
	if (ht_json_i64(&major, &numbers[0]) && ht_json_i64(&minor, &numbers[1]) &&
	        numbers[0] >= 0 && numbers[0] < 1000 && numbers[1] >= 0 && numbers[1] < 10)
		traits->capability = 10 * numbers[0] + numbers[1];
	return traits->capability;
}

/* Types of 16 bits and fewer have nothing faster than tensor cores from some capability on, and no tensor cores before. Of 7.5
 * there are devices without any. FP32 may be TF32 from 8.0 on, FP64 may be either: the type does not tell. */
static enum ht_core core_of_type(enum ht_dtype type, int64_t capability, enum ht_core by_name)
{
	static const int64_t since[HT_N_DTYPES] = {
		[HT_DTYPE_F16] = 70,
		[HT_DTYPE_BF16] = 80,
		[HT_DTYPE_F8] = 89,
		[HT_DTYPE_F4] = 100,
		[HT_DTYPE_I8] = 72,
		[HT_DTYPE_F32] = 80,
		[HT_DTYPE_F64] = 80,
		[HT_DTYPE_C64] = 80,
		[HT_DTYPE_C128] = 80,
	};
	bool is_narrow = type == HT_DTYPE_F16 || type == HT_DTYPE_BF16 || type == HT_DTYPE_F8 ||
	                 type == HT_DTYPE_F4 || type == HT_DTYPE_I8;
	if (capability == HT_NO_I64 || (is_narrow && capability == 75))
		return is_narrow ? by_name : HT_CORE_UNKNOWN;
	if (since[type] && capability < since[type])
		return HT_CORE_OTHER;
	return is_narrow ? HT_CORE_TENSOR : HT_CORE_UNKNOWN;
}

/* Operators around the launch of a graph are not those of its kernels. */
static enum ht_core core_by_type(struct ht_traits *traits, uint32_t row, enum ht_core by_name)
{
	const struct ht_trace *t = traits->trace;
	const struct ht_gpu *gpu = ht_gpu_of_row_near(t, row, &traits->near);
	if (!gpu || gpu->op == HT_NONE ||
	        (gpu->launch != HT_NONE && t->name[gpu->launch] != HT_NO_STR &&
	                strstr(ht_str(t, t->name[gpu->launch]), "GraphLaunch")))
		return by_name;
	enum ht_dtype type = product_type(ht_arg_cursor_str(&traits->types, gpu->op));
	return type == HT_DTYPE_UNKNOWN
	               ? by_name
	               : core_of_type(type, capability_of(traits, gpu->device), by_name);
}

enum ht_core ht_traits_runs_on(struct ht_traits *traits, uint32_t row, bool by_task)
{
	const char *core = ht_traits_core(traits, row, by_task);
	if (core)
		return strcmp(core, "AI_CORE") ? HT_CORE_OTHER : HT_CORE_TENSOR;
	unsigned of = ht_traits_of(traits, row);
	enum ht_core by_name = of & HT_TRAIT_TC_KERNEL    ? HT_CORE_TENSOR
	                       : of & HT_TRAIT_TC_UNCLEAR ? HT_CORE_UNKNOWN
	                                                  : HT_CORE_OTHER;
	return of & HT_TRAIT_TC_BY_TYPE ? core_by_type(traits, row, by_name) : by_name;
}
