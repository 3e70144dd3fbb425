/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_owners.h - what every row of a trace belongs to: annotations, modules, forward operators.
 *
 * The answers of inside.h, annotate.h and autograd.h by row, with the way each was found.
 *
 * module  the nn.Module calls (or [pl][module] annotations, or regions of torch.compile) around the row (or the launch of GPU work). Work of the backward pass belongs to
 *         the modules around its forward operator, unless a module was called again inside the backward
 *         row itself (recomputed activations).
 */
#ifndef HT_MODEL_CALLS_ROW_OWNERS_H
#define HT_MODEL_CALLS_ROW_OWNERS_H

#include "model/calls/annotate.h"

enum {
	HT_ATTRIBUTE_ANNOTATIONS = 1,
	HT_ATTRIBUTE_MODULES = 2,
	HT_ATTRIBUTE_FORWARD = 4,
	HT_ATTRIBUTE_ALL = 7
};

struct ht_attribution {
	const struct ht_trace *trace;
	struct ht_autograd autograd;
	const struct ht_annotated *annotations; /* by row, steps included; NULL: not asked for */
	const uint32_t *modules;     /* by row: the innermost module; NULL: not asked for */
	const uint8_t *module_links; /* by row: enum ht_autograd_link */
	const char **module_texts;   /* by row of a module: "outer / inner" */
};

/* parts: what to answer; nothing when 0. Memory in scratch. */
enum ht_status ht_attribution_make(struct ht_run *run, const struct ht_trace *trace, unsigned parts,
        struct ht_attribution *ret_attribution) HT_MUST_USE;

/* Its modules with the rows that match as modules. Memory in scratch. */
enum ht_status ht_attribution_by(struct ht_run *run, const struct ht_trace *trace,
        ht_tree_match *match, const void *user, struct ht_attribution *ret_attribution) HT_MUST_USE;

/* The forward operator whose gradient a host row, or GPU work, computes; HT_NONE: none. */
uint32_t ht_attribution_forward(const struct ht_attribution *attribution, uint32_t row);

#endif
