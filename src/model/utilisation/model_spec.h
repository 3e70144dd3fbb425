/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_spec.h - what the user says of a decoder model, and its FLOPs per token by PaLM's definition (appendix B).
 *
 *     --model n=23068672,layers=6,heads=8,head=64,seq=256      and tokens=2048, of a rank and step
 *
 * n are the parameters without embeddings but with the output head, of the whole model or of the share that a rank has of it;
 * layers, heads, size of a head and length of sequences are those of attention. A token costs 6 n + 12 layers heads head seq,
 * forward and backward; recomputation is not counted, and a causal mask does not make attention cheaper.
 */
#ifndef HT_MODEL_UTILISATION_MODEL_SPEC_H
#define HT_MODEL_UTILISATION_MODEL_SPEC_H

#include "model/run.h"

struct ht_model_spec {
	bool is_given;
	double n, layers, heads, head, seq;
	double tokens; /* of a rank and step; 0: not said */
};

/* NULL is none. HT_USAGE when it cannot be read, or lacks something. */
enum ht_status ht_model_spec_read(
        struct ht_run *run, const char *text, struct ht_model_spec *ret) HT_MUST_USE;
double ht_model_flops_per_token(const struct ht_model_spec *spec);

#endif
