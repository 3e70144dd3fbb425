/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_modules.h - modules of GPU activities where no calls of modules are recorded: by what else names them.
 *
 *   arg "Module Hierarchy" of the operator that launched it, or of its forward operator
 *                          TorchScript writes "top(Net)::forward.fc(Linear)::forward", others "model.layers.0.mlp"
 *   annotations            around the launch on its thread, or around the forward operator; only of a trace that has neither calls of modules nor
 *                          hierarchies. Steps, iterations of serving engines, captures, data loaders, collectives and
 *                          calls of compiled graphs are no modules. Of any trace those of optimizers (Optimizer.step#AdamW.step) and of
 *                          sharding (FSDP::all_gather): what they launch is of no module's call.
 */
#ifndef HT_MODEL_ORIGIN_NAMED_MODULES_H
#define HT_MODEL_ORIGIN_NAMED_MODULES_H

#include "model/run.h"

struct ht_named_modules {
	const char *const *texts;   /* by GPU activity: "layers.0 / mlp"; NULL: none has any */
	const uint8_t *is_backward; /* by GPU activity: they are those of the forward operator */
	bool is_hierarchy;          /* they are of "Module Hierarchy", else of annotations */
};

/* Of the rank in hand. has_frames: its trace has calls of modules. */
enum ht_status ht_named_modules_make(
        struct ht_run *run, bool has_frames, struct ht_named_modules *ret_named) HT_MUST_USE;
/* NULL: none. */
static inline const char *ht_named_module(const struct ht_named_modules *named, size_t i_gpu)
{
	return named->texts ? named->texts[i_gpu] : NULL;
}
/* The path that an operator of any trace has as its arg; NULL: none. Memory in scratch. */
enum ht_status ht_hierarchy_of(struct ht_run *run, const struct ht_trace *trace, uint32_t op,
        const char **ret_path) HT_MUST_USE;

#endif
