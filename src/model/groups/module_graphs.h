/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_graphs.h - GPU activity of graph launches and compiled graphs under the modules that a recording, or the log of
 * torch.compile, has for it.
 *
 * Where the launch is itself inside a module, the recorded modules stand below that one, unless they begin with it: then they are
 * the whole path. Activity of which no module is known stays with the module around its launch; outside of any it has a row with the
 * name of the launch call. So the table has all GPU activity of graph launches, whatever is known of it.
 *
 *     launched in   recorded            table
 *     -             Net_0 / Linear_0    Net_0 / Linear_0
 *     Runner_0      Net_0 / Linear_0    Runner_0 / Net_0 / Linear_0
 *     Net_0         Net_0 / Linear_0    Net_0 / Linear_0
 *     Runner_0      -                   Runner_0
 *     -             -                   cudaGraphLaunch
 *
 * Of a kernel that torch.compile generated the log says whose parameters it reads, or where the modules are called that it comes from: these
 * stand below the compiled region, forward and backward. GPU activity that no module is around has the modules that are named otherwise
 * (origin/named_modules.h).
 */
#ifndef HT_MODEL_GROUPS_MODULE_GRAPHS_H
#define HT_MODEL_GROUPS_MODULE_GRAPHS_H

#include "model/groups/module_columns.h"
#include "model/numbers/pooled.h"
#include "model/rows/frame.h"

/* Where the table has GPU activity by its launch. */
struct ht_module_places {
	/* of an activity: a number of the caller's, and whether it is of the backward pass; HT_NONE: in no module; HT_MODULE_STAYS: in
	 * one too deep for more */
	uint32_t (*find)(void *user, size_t i_gpu, bool *ret_is_backward);
	/* its path, alive until the next call; NULL when out of memory */
	const char *(*spell)(void *user, uint32_t place);
	void *user;
	bool has_modules; /* the trace has calls of modules */
};
#define HT_MODULE_STAYS (HT_NONE - 1)

/* Add what the frame ran to the groups of ht_module_groups_put, which have the modules of the trace, and a row of how modules are known to
 * shares, which may be NULL. */
enum ht_status ht_module_graphs_add(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_module_places *places, struct ht_pooled *pooled,
        ht_table *shares) HT_MUST_USE;
/* The name of a module without what marks it as one. */
const char *ht_module_bare_name(const char *name);

#endif
