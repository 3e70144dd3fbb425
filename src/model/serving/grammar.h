/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.h - what the annotation of a serving engine says about its iteration.
 *
 *   execute_context_2(14721)_generation_30(30)        vLLM: requests and tokens of prefill and decode
 *   execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)
 *                                                     vLLM, detailed: tokens, then sums over requests of query and KV length
 *   execute_8                                         a batch size alone
 *   step[EXTEND bs=2 toks=14721]  step[DECODE bs=64]  step[MIXED bs=2 c=1 g=1 c_sq=.. g_sk=..]
 *   step[TARGET_VERIFY bs=..]  step[DRAFT_LOOP raw_bs=7 bs=8 topk=4]                          SGLang
 *   prefill[bs=2 tok=14721 ctx=[..]]  decode[bs=117/128 tok=117 d=117]                        ATOM, real and padded size
 *   capture_32_FULL                                   a graph that is being captured
 */
#ifndef HT_MODEL_SERVING_GRAMMAR_H
#define HT_MODEL_SERVING_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

enum ht_phase { HT_PHASE_OTHER, HT_PHASE_PREFILL, HT_PHASE_DECODE, HT_PHASE_MIXED };

/* -1 where the annotation does not say. */
struct ht_iteration_name {
	enum ht_phase phase;
	int64_t requests, tokens;
	int64_t context_requests, context_tokens;
	int64_t generation_requests, generation_tokens;
	int64_t batch;     /* what a graph is chosen by */
	int64_t padded;    /* the size that ran */
	int64_t kv_tokens; /* sum of the KV lengths of the decoding requests */
};

/* Of which nothing is said. */
extern const struct ht_iteration_name ht_iteration_unknown;
/* False when the text is of no grammar. */
bool ht_iteration_parse(const char *name, struct ht_iteration_name *ret_name);
/* The size of capture_<n>_<mode>; false for another text. */
bool ht_capture_parse(const char *name, int64_t *ret_size);
/* "prefill", "decode", "mixed", "other" */
const char *ht_phase_name(enum ht_phase phase);

#endif
