/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_groups.h - the modules of a rank by their path, with the time of their forward and backward pass.
 *
 * A module is a Python frame nn.Module: X, an annotation [pl][module]X, or a compiled region of torch.compile, which is
 * an operator as well; its path are the modules around it. Of
 * its calls in the frame:
 *   host        total: their length; self: without modules, operators and runtime calls inside
 *   device      total: GPU work launched inside; self: but not inside a module inside
 *   deeper than 4,096 modules: what is of its own counts for the one around it at that depth
 *   backward    GPU work and host time of operators whose forward operator ran in the module (row_owners.h); what
 *               accumulates a gradient belongs where the operator before it on its thread does
 */
#ifndef HT_MODEL_GROUPS_MODULE_GROUPS_H
#define HT_MODEL_GROUPS_MODULE_GROUPS_H

#include "model/groups/module_columns.h"

/* Group the modules of the rank in hand; shares may be NULL. */
enum ht_status ht_module_groups_put(
        struct ht_run *run, ht_table *table, ht_table *shares) HT_MUST_USE;
/* The groups as a tree: each module before those inside it, by when it was first called. Memory in scratch. */
enum ht_status ht_module_order(
        const struct ht_pooled *pooled, const size_t **ret_order) HT_MUST_USE;

#endif
