/*
 * name_traits.h - what the name of a row says about it: a step, a data loader, an optimizer, communication, a
 * module, tensor cores.
 *
 * Category decides first (trace.h); these are the questions that only names answer. Each name is looked at once.
 *
 *   STEP        ProfilerStep#N
 *   LOADER      enumerate(DataLoader)#....__next__, enumerate(DataPipe)#...
 *   OPTIMIZER   Optimizer.step...
 *   OPTIMIZERS  Optimizer....
 *   PARALLEL    DataParallel.forward, DistributedDataParallel.forward
 *   COMM        nccl:..., gloo:..., hccl:..., xccl:..., ucc:..., mpi:... and record_param_comms
 *   MODULE      nn.Module: ..., and [pl][module]Type: path of PyTorch Lightning
 *   TC_OP       an operator that can run on tensor cores, TC_KERNEL a kernel that does (tensor_cores.def)
 */
#ifndef HT_MODEL_ROWS_NAME_TRAITS_H
#define HT_MODEL_ROWS_NAME_TRAITS_H

#include "model/run.h"

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
};

/* Of any text. */
unsigned ht_name_traits(const char *name);
/* The same for HT_TRAIT_MODULE alone. */
bool ht_is_module_name(const char *name);

/* The traits of the names of one trace, found when first asked for. Not for several threads at once. */
struct ht_traits {
	const struct ht_trace *trace;
	uint16_t *of;                    /* by string id; SEEN marks those that were looked at */
	struct ht_arg_cursor core, task; /* what a task of an NPU runs on */
};

/* Memory in scratch. */
enum ht_status ht_traits_init(
        struct ht_run *run, const struct ht_trace *trace, struct ht_traits *ret_traits) HT_MUST_USE;
/* Of the name of a row. */
unsigned ht_traits_of(struct ht_traits *traits, uint32_t row);
/* What the trace says that a kernel runs on, or the type of its task, and if the other first; NULL: neither. */
const char *ht_traits_core(struct ht_traits *traits, uint32_t row, bool by_task);
/* Does a kernel run on tensor cores, or on what an NPU has for them? By its name; where the trace says what a task runs
 * on, when that is AI_CORE: by the type of the task, as the profiler counts for operators, or else by the core that
 * its details name, which tells vector cores apart. */
bool ht_traits_on_tc(struct ht_traits *traits, uint32_t row, bool by_task);

#endif
