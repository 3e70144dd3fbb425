/*
 * name_traits.c - see name_traits.h.
 */
#include "model/rows/name_traits.h"

#include "base/text.h"
#include "model/rows/row_names.h"

#include <string.h>

/* Lists of tensor_cores.def, in the order in which they decide. */
enum core { CUDA_INSTRUCTION, TENSOR, CUDA, LISTED, UNCLEAR };
static const struct {
	enum core core;
	const char *text;
} kernels[] = {
#define CUDA_CORE_INSTRUCTION(text) { CUDA_INSTRUCTION, text },
#define TENSOR_CORE_KERNEL(text)    { TENSOR, text },
#define CUDA_CORE_KERNEL(text)      { CUDA, text },
#define LISTED_KERNEL(text)         { LISTED, text },
#define UNCLEAR_KERNEL(text)        { UNCLEAR, text },
#define TENSOR_CORE_OP(name)
#include "model/rows/tensor_cores.def"
#undef CUDA_CORE_INSTRUCTION
#undef TENSOR_CORE_KERNEL
#undef CUDA_CORE_KERNEL
#undef LISTED_KERNEL
#undef UNCLEAR_KERNEL
#undef TENSOR_CORE_OP
};

static const char *const tc_ops[] = {
#define CUDA_CORE_INSTRUCTION(text)
#define TENSOR_CORE_KERNEL(text)
#define CUDA_CORE_KERNEL(text)
#define LISTED_KERNEL(text)
#define UNCLEAR_KERNEL(text)
#define TENSOR_CORE_OP(name) name,
#include "model/rows/tensor_cores.def"
#undef CUDA_CORE_INSTRUCTION
#undef TENSOR_CORE_KERNEL
#undef CUDA_CORE_KERNEL
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

static unsigned core_traits(const char *name)
{
	size_t i = 0;
	while (i < HT_COUNT(kernels) && !strstr(name, kernels[i].text))
		i++;
	if (i == HT_COUNT(kernels))
		return 0;
	switch (kernels[i].core) {
	case TENSOR: return HT_TRAIT_TC_KERNEL;
	case LISTED:
		return strstr(name, "f32f32_f32f32") ? HT_TRAIT_TC_UNCLEAR : HT_TRAIT_TC_KERNEL;
	case UNCLEAR: return HT_TRAIT_TC_UNCLEAR;
	case CUDA_INSTRUCTION:
	case CUDA: break;
	}
	return 0;
}

bool ht_is_module_name(const char *name)
{
	return ht_text_starts(name, "nn.Module: ") || ht_text_starts(name, "[pl][module]");
}

bool ht_is_region_name(const char *name)
{
	return ht_text_starts(name, "Torch-Compiled Region");
}

unsigned ht_name_traits(const char *name)
{
	unsigned traits = 0;
	if (ht_is_step_name(name))
		traits |= HT_TRAIT_STEP;
	if (is_loader(name))
		traits |= HT_TRAIT_LOADER;
	if (ht_text_starts(name, "Optimizer.step"))
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
	return traits | core_traits(name);
}

enum ht_status ht_traits_init(
        struct ht_run *run, const struct ht_trace *trace, struct ht_traits *ret_traits)
{
	struct ht_traits traits = { .trace = trace,
		.of = ht_arena_alloc(run->scratch, trace->n_string_offsets * sizeof(uint16_t)),
		.core = ht_arg_cursor(trace, "Accelerator Core"),
		.task = ht_arg_cursor(trace, "Task Type") };
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

bool ht_traits_on_tc(struct ht_traits *traits, uint32_t row, bool by_task)
{
	const char *core = ht_traits_core(traits, row, by_task);
	return core ? !strcmp(core, "AI_CORE") : ht_traits_of(traits, row) & HT_TRAIT_TC_KERNEL;
}
