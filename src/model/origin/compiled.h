/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled.h - which call of which compiled graph launched what.
 *
 * GPU work that is launched inside "## Call CompiledFxGraph <key> ##" belongs to the outermost operator there: a generated
 * kernel (triton_...), or a library's (aten::addmm for extern_kernels.addmm). The k-th operator of a name is the k-th call of that
 * name in the wrapper, which the structured log has (compile_log.h), or code on disk (code_files.h).
 */
#ifndef HT_MODEL_ORIGIN_COMPILED_H
#define HT_MODEL_ORIGIN_COMPILED_H

#include "model/origin/code_files.h"
#include "model/run.h"

struct ht_compiled {
	const struct ht_compiled_call *
	        *call;       /* by GPU activity, NULL: unknown; NULL: no log joins the rank */
	size_t n_activities; /* launched inside compiled graphs, by calls of their own */
	size_t n_found;      /* of them, those with a call */
};

/* Of the rank in hand. Memory in scratch; calls live with what is attached. */
enum ht_status ht_compiled_find(struct ht_run *run, struct ht_compiled *ret_compiled) HT_MUST_USE;
/* Whether a log or code joins the rank. */
bool ht_compiled_joins(const struct ht_run *run);
/* The graph of a key in the logs and the code that join the rank; NULL: none has it. */
enum ht_status ht_compiled_graph(struct ht_run *run, struct ht_last_calls *calls, const char *key,
        const struct ht_compiled_graph **ret_graph) HT_MUST_USE;
/* Why a compile id was compiled again, NULL when no log says. */
enum ht_status ht_recompile_reason(
        struct ht_run *run, const char *compile_id, const char **ret_reason) HT_MUST_USE;
/* Whether a row is the call of a compiled graph; for ht_around_init. */
bool ht_is_compiled_call(const void *trace, uint32_t row);
/* The key of "## Call CompiledFxGraph <key> ##", of *ret_n bytes; NULL for another name. */
const char *ht_compiled_key(const char *name, size_t *ret_n);

#endif
