/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_use.h - how well a step uses the device: what it computes over what the device could have computed meanwhile.
 *
 *   HFU   sum of F / P over the matrix products that were executed, each at the dense peak of its type, over step time and devices
 *   MFU   the same without what the backward pass recomputes (op_calls.h)
 *   by PaLM's definition: tokens (6 N + 12 L H Q T) / (step time * devices * P), with P the peak of the type that most of the
 *         products have (model_spec.h). Tokens are what the user says, else the indices that the step looks up in its
 *         largest table of embeddings
 * Step time is the one of timed_steps.h; a trace without steps is one, over its operators. Calls belong to the step that launched
 * them. Where a product has no known peak nothing is said of the step.
 */
#ifndef HT_MODEL_UTILISATION_STEP_USE_H
#define HT_MODEL_UTILISATION_STEP_USE_H

#include "model/efficiency/cost_groups.h"
#include "model/utilisation/model_spec.h"
#include "model/utilisation/worst_op.h"

struct ht_step_use {
	int64_t number; /* HT_NO_I64: all that were looked at */
	int64_t n_steps;
	int64_t time_ns;
	int64_t n_devices; /* that the calls ran on */
	int64_t tokens;    /* HT_NO_I64: not known */
	struct ht_cost_group sum;
	enum ht_dtype dtype; /* of most of the products */
	double peak;         /* its peak; 0: not known */
};

struct ht_step_uses {
	struct ht_step_use *list; /* by step, then all of them together */
	size_t n;
	bool has_steps;
	struct ht_worst_op worst; /* of all of them together */
};

/* Of the calls of the rank in hand. Memory in scratch. */
enum ht_status ht_step_uses_make(struct ht_run *run, const struct ht_op_calls *calls,
        const struct ht_model_spec *spec, struct ht_step_uses *ret) HT_MUST_USE;

/* Why a figure is not known; HT_USE_OK: it is. */
enum ht_use_state {
	HT_USE_OK,
	HT_USE_NO_TIME,     /* no step time */
	HT_USE_NO_PRODUCTS, /* nothing that counts: no shapes, or no matrix products */
	HT_USE_NO_PEAK,     /* the device, or the type on it, is not known */
	HT_USE_NO_MODEL,    /* PaLM's needs --model */
	HT_USE_NO_TOKENS,   /* and tokens */
	HT_USE_FP8, /* PaLM's divides by one peak, and fp8 products are never all of a model */
	HT_N_USE_STATES
};
const char *ht_use_why(enum ht_use_state state); /* NULL: it is known */

enum ht_use_state ht_step_use_state(const struct ht_step_use *use);
/* NAN unless the state is OK. */
double ht_step_hfu(const struct ht_step_use *use);
double ht_step_mfu(const struct ht_step_use *use);
/* That with one peak for all products. */
double ht_step_mfu_of_one_peak(const struct ht_step_use *use);
enum ht_use_state ht_step_palm_state(
        const struct ht_step_use *use, const struct ht_model_spec *spec);
double ht_step_palm_mfu(const struct ht_step_use *use, const struct ht_model_spec *spec);

#endif
