/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_traits.h - what the name of a row says about it: a step, a data loader, an optimizer, communication, a
 * module, tensor cores.
 *
 * Category decides first (event.h); these are the questions that only names answer. Each name is looked at once.
 *
 *   STEP        ProfilerStep#N
 *   LOADER      enumerate(DataLoader)#....__next__, enumerate(DataPipe)#...
 *   OPTIMIZER   Optimizer.step...
 *   OPTIMIZERS  Optimizer....
 *   PARALLEL    DataParallel.forward, DistributedDataParallel.forward
 *   COMM        nccl:..., gloo:..., hccl:..., xccl:..., ucc:..., mpi:... and record_param_comms; HOST_COMM those of them that
 *               communicate in calls of the CPU: gloo:..., ucc:..., mpi:...
 *   MODULE      nn.Module: ..., and [pl][module]Type: path of PyTorch Lightning
 *   TC_OP       an operator that can run on tensor cores, TC_KERNEL a kernel that does, TC_UNCLEAR one that multiplies
 *               matrices and does not say on what, TC_BY_TYPE one of which the types of its operator may tell, CUDA_KERNEL one that
 *               multiplies on other cores (tensor_cores.def)
 *   LAYOUT      a kernel that brings the channels of images to another place: NCHW to NHWC or back
 */
#ifndef HT_MODEL_ROWS_NAME_TRAITS_H
#define HT_MODEL_ROWS_NAME_TRAITS_H

#include "model/run.h"
#include "store/args.h"

enum ht_trait {
	HT_TRAIT_STEP = 1,
	HT_TRAIT_LOADER = 2,
	HT_TRAIT_OPTIMIZER = 4,
	HT_TRAIT_OPTIMIZERS = 8,
	HT_TRAIT_PARALLEL = 16,
	HT_TRAIT_COMM = 32,
	HT_TRAIT_MODULE = 64,
	HT_TRAIT_TC_OP = 128,
	HT_TRAIT_TC_KERNEL = 256,
	HT_TRAIT_TC_UNCLEAR = 512,
	HT_TRAIT_HOST_COMM = 1024,
	HT_TRAIT_TC_BY_TYPE = 2048,
	HT_TRAIT_REGION =
	        4096, /* a compiled region of torch.compile: an operator, and a level of modules */
	HT_TRAIT_CUDA_KERNEL = 8192,
	HT_TRAIT_LAYOUT = 16384,
	HT_TRAIT_SEEN = 0x8000, /* of a name that was looked at, for ht_traits_of */
};

/* Of any text. */
unsigned ht_name_traits(const char *name);
/* The same for HT_TRAIT_MODULE alone. */
bool ht_is_module_name(const char *name);
/* And for HT_TRAIT_REGION. */
bool ht_is_region_name(const char *name);
/* And for HT_TRAIT_OPTIMIZER. */
bool ht_is_optimizer_name(const char *name);

/* The traits of the names of one trace, found when first asked for. Not for several threads at once. */
struct ht_traits {
	const struct ht_trace *trace;
	uint16_t *of;                    /* by string id */
	struct ht_arg_cursor core, task; /* what a task of an NPU runs on */
	struct ht_arg_cursor types;      /* of the inputs of operators */
	size_t near;                     /* for ht_gpu_of_row_near */
	int64_t device, capability;      /* the last device that was asked for; see capability_of */
};

/* Memory in scratch. */
enum ht_status ht_traits_init(
        struct ht_run *run, const struct ht_trace *trace, struct ht_traits *ret_traits) HT_MUST_USE;
/* Of the name of a row. */
void ht_traits_look(struct ht_traits *traits, uint32_t id);
static inline unsigned ht_traits_of(struct ht_traits *traits, uint32_t row)
{
	uint32_t id = traits->trace->name[row];
	if (id == HT_NO_STR)
		return 0;
	if (!(traits->of[id] & HT_TRAIT_SEEN))
		ht_traits_look(traits, id);
	return traits->of[id] & ~(unsigned)HT_TRAIT_SEEN;
}
/* What the trace says that a kernel runs on, or the type of its task, and if the other first; NULL: neither. */
const char *ht_traits_core(struct ht_traits *traits, uint32_t row, bool by_task);
/* What a kernel runs on: tensor cores, or what an NPU has for them; others; or nothing tells. By its name; where that multiplies
 * matrices and does not say on what, by the recorded types of its operator's inputs and what the device has. Where the trace says
 * what a task runs on, when that is AI_CORE: by the type of the task, as the profiler counts for operators, or else by the core
 * that its details name, which tells vector cores apart. */
enum ht_core { HT_CORE_OTHER, HT_CORE_TENSOR, HT_CORE_UNKNOWN };
enum ht_core ht_traits_runs_on(struct ht_traits *traits, uint32_t row, bool by_task);

#endif
