/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inductor_graph.c - see inductor_graph.h.
 */
#include "model/origin/inductor_graph.h"

#include "base/text_compare.h"
#include "model/origin/fit.h"
#include "store/columns.h"

#include <string.h>

struct matching {
	const struct ht_graph_replay *replay;
	const struct ht_compiled_graph *graph;
	const struct ht_compiled_call **calls; /* by activity */
	size_t n;
};

static const char *activity_name(const struct matching *m, size_t i)
{
	const struct ht_trace *t = m->replay->trace;
	return ht_str(t, t->name[t->gpu[m->replay->gpus[i]].row]);
}

static bool is_generated(const char *name)
{
	return ht_text_starts(name, "triton_");
}

/* What both a library's kernel and a call can say that they compute. */
enum family { PRODUCT, ATTENTION, N_FAMILIES };

/* N_FAMILIES: something else, or nothing is known. */
static enum family family_of(const char *kernel)
{
	const char *family = ht_kernel_family(kernel);
	if (!family)
		return N_FAMILIES;
	return !strcmp(family, "gemm")        ? PRODUCT
	       : !strcmp(family, "attention") ? ATTENTION
	                                      : N_FAMILIES;
}

/* extern_kernels.mm and torch.ops.aten.mm.default as an operator's name. */
static bool computes(const struct ht_compiled_call *call, enum family family)
{
	return family == PRODUCT ? strstr(call->name, "mm") || strstr(call->name, "conv")
	                         : strstr(call->name, "attention") != NULL;
}

static void assign(struct matching *m, size_t i, const struct ht_compiled_call *call)
{
	m->calls[i] = call;
	m->n++;
}

/* Activities [i, end) belong to the calls [c, last), none of which is generated. */
static void match_between(struct matching *m, size_t i, size_t end, size_t c, size_t last)
{
	const struct ht_compiled_call *calls = m->graph->calls;
	if (last - c == 1 || end - i == last - c) {
		for (size_t k = 0; i + k < end; k++)
			assign(m, i + k, &calls[last - c == 1 ? c : c + k]);
		return;
	}
	/* what comes before the kernel that tells its call is for that call, too */
	size_t next[N_FAMILIES] = { c, c }; /* calls before it are of another family, or taken */
	for (size_t first = i; i < end; i++) {
		enum family family = family_of(activity_name(m, i));
		if (family == N_FAMILIES)
			continue;
		size_t *at = &next[family];
		*at = *at < c ? c : *at;
		while (*at < last && !computes(&calls[*at], family))
			(*at)++;
		if (*at == last)
			continue;
		for (; first <= i; first++)
			assign(m, first, &calls[*at]);
		c = *at + 1;
	}
}

enum ht_status ht_inductor_match(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_compiled_graph *graph, const struct ht_compiled_call ***ret_calls,
        size_t *ret_n)
{
	struct matching m = { .replay = replay,
		.graph = graph,
		.calls = ht_arena_alloc(run->scratch, (replay->n + 1) * sizeof *m.calls) };
	if (!m.calls)
		return ht_fail_nomem(run->ctx);
	size_t i = 0, c = 0;
	bool fits = true;
	while (fits && (i < replay->n || c < graph->n)) {
		size_t end = i, last = c;
		while (end < replay->n && !is_generated(activity_name(&m, end)))
			end++;
		while (last < graph->n && !is_generated(graph->calls[last].name))
			last++;
		if (end > i && last > c)
			match_between(&m, i, end, c, last);
		bool both_end = end == replay->n && last == graph->n;
		fits = both_end ||
		       (end < replay->n && last < graph->n &&
		               !strcmp(activity_name(&m, end), graph->calls[last].name));
		if (fits && !both_end)
			assign(&m, end, &graph->calls[last]);
		i = end + 1;
		c = last + 1;
	}
	*ret_calls = m.calls;
	*ret_n = fits ? m.n : 0;
	return HT_OK;
}
