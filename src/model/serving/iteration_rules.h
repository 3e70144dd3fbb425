/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iteration_rules.h - annotations of serving engines that we do not know, by rules of the user's own: one per line of a text.
 *
 *     # phase           annotation
 *     iteration prefill myengine.prefill n={requests} tokens={tokens}*
 *     iteration decode  myengine.decode bs={requests}/{padded} kv={kv_tokens}
 *     iteration auto    batch c={context_requests}({context_tokens}) g={generation_requests}({generation_tokens})
 *     model layers=32 kv_heads=8 head_dim=128 kv_element_bytes=2
 *
 * {field} is a whole number, * any text, everything else stands for itself; the whole annotation must fit. Fields are those of
 * struct ht_iteration_name. The phase auto is told by the requests: decode without context, prefill without generation, else mixed. The
 * first rule that fits counts, before any grammar of ours. Of a decode iteration without tokens these are its requests, as each has one. A line model says
 * how large the KV entry of a token is: 2 x layers x kv_heads x head_dim x kv_element_bytes.
 */
#ifndef HT_MODEL_SERVING_ITERATION_RULES_H
#define HT_MODEL_SERVING_ITERATION_RULES_H

#include "base/status.h"
#include "model/serving/grammar.h"

struct ht_run;

struct ht_iteration_rule {
	enum ht_phase phase; /* HT_PHASE_OTHER: auto */
	const char *pattern;
};

struct ht_iteration_rules {
	struct ht_iteration_rule *list;
	size_t n;
	int64_t kv_token_bytes; /* -1: no line says */
};

/* Read a text; HT_FORMAT with the line when it is none such. Memory in the arena. */
enum ht_status ht_iteration_rules_read(ht_ctx *ctx, const char *file, const char *text,
        struct ht_arena *arena, struct ht_iteration_rules *ret) HT_MUST_USE;
/* Those that were attached to the rank in hand; NULL: none. */
enum ht_status ht_iteration_rules_attached(
        struct ht_run *run, const struct ht_iteration_rules **ret_rules) HT_MUST_USE;
/* What an annotation says by the rules, which may be NULL, or by a grammar of ours; false: it is of none. */
bool ht_iteration_read(const struct ht_iteration_rules *rules, const char *name,
        struct ht_iteration_name *ret_name);

#endif
