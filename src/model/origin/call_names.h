/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_names.h - the calls of a compiled graph by the operators that they can be.
 *
 * An operator of a trace and a call of a wrapper are the same when they have one name, as generated kernels have, or when what
 * stands behind the operator's namespace is a part of the call behind a dot, up to a dot or its end: aten::mm is extern_kernels.mm and
 * torch.ops.aten.mm.default. A namespace alone is no call.
 */
#ifndef HT_MODEL_ORIGIN_CALL_NAMES_H
#define HT_MODEL_ORIGIN_CALL_NAMES_H

#include "model/origin/compiled_graph.h"
#include "model/run.h"

struct ht_call_names;

/* Memory in scratch; the graph must stay. */
enum ht_status ht_call_names_new(struct ht_run *run, const struct ht_compiled_graph *graph,
        struct ht_call_names **ret_names) HT_MUST_USE;
/* Whose they are. */
const struct ht_compiled_graph *ht_call_names_graph(const struct ht_call_names *names);
/* The graph is called again: no call is taken. */
void ht_call_names_restart(struct ht_call_names *names);
/* The first call that the operator can be and that is not taken, which it then is; NULL: none. */
enum ht_status ht_call_names_take(struct ht_run *run, struct ht_call_names *names, const char *op,
        const struct ht_compiled_call **ret_call) HT_MUST_USE;

#endif
