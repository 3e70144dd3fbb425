/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_owners.c - see row_owners.h.
 */
#include "model/calls/row_owners.h"

#include "base/mem.h"
#include "model/rows/inside.h"
#include "model/device/launch.h"
#include "model/rows/name_traits.h"
#include "model/run_memo.h"

#include <string.h>

/* Where a row's surroundings are: at the row, or at the launch of GPU work; HT_NONE: unknown. */
static uint32_t place_of(const struct ht_trace *t, uint32_t row)
{
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	return gpu ? ht_host_place(t, gpu) : row;
}

static bool is_module(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	if (t->kind[row] == HT_KIND_CPU_OP)
		return ht_is_region_name(ht_str(t, t->name[row]));
	if (t->kind[row] != HT_KIND_PYTHON && t->kind[row] != HT_KIND_ANNOTATION)
		return false;
	return ht_is_module_name(ht_str(t, t->name[row]));
}

/* The module of a host row and how it was found. */
static uint32_t choose_module(const struct ht_attribution *a, const uint32_t *nearest, uint32_t row,
        enum ht_autograd_link *ret_link)
{
	const struct ht_trace *t = a->trace;
	uint32_t own = nearest[row], forward = ht_autograd_forward(&a->autograd, row);
	uint32_t of_forward = forward == HT_NONE ? HT_NONE : nearest[forward];
	bool on_thread = own != HT_NONE && t->track[own] == t->track[row];
	/* a module inside a backward row has that row's forward operator itself */
	bool called_again = on_thread && ht_autograd_forward(&a->autograd, own) != HT_NONE;
	if (of_forward != HT_NONE && !called_again) {
		*ret_link = HT_AUTOGRAD_LINK_FORWARD;
		return of_forward;
	}
	*ret_link = own == HT_NONE ? HT_AUTOGRAD_LINK_NONE
	            : on_thread    ? HT_AUTOGRAD_LINK_LAUNCH
	                           : HT_AUTOGRAD_LINK_BACKWARD;
	return own;
}

/* The text of every module, its path over threads included. Chains are large, and texts are what is left of them. */
static enum ht_status spell_chains(struct ht_run *run, struct ht_attribution *a,
        ht_tree_match *match, const void *user, const uint32_t *nearest, struct ht_arena *temporary)
{
	const struct ht_trace *t = a->trace;
	struct ht_chains chains;
	HT_TRY(ht_chains_make(
	        run->ctx, t, match, user, nearest, a->autograd.callers, temporary, &chains));
	a->module_texts = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *a->module_texts);
	if (!a->module_texts)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		const struct ht_chain *chain = &chains.list[chains.of[row]];
		if (chain->n &&
		        !(a->module_texts[row] = ht_chain_text(run->scratch, t, chain, " / ")))
			return ht_fail_nomem(run->ctx);
	}
	return HT_OK;
}

static enum ht_status spell_modules(struct ht_run *run, struct ht_attribution *a,
        ht_tree_match *match, const void *user, const uint32_t *nearest)
{
	struct ht_arena temporary;
	ht_arena_init_like(&temporary, run->scratch);
	enum ht_status status = spell_chains(run, a, match, user, nearest, &temporary);
	ht_arena_done(&temporary);
	return status;
}

static enum ht_status find_modules(
        struct ht_run *run, struct ht_attribution *a, ht_tree_match *match, const void *user)
{
	const struct ht_trace *t = a->trace;
	uint32_t *nearest = NULL;
	uint32_t *modules = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *modules);
	uint8_t *links = ht_arena_alloc(run->scratch, t->n_kind + 1);
	if (!modules || !links)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_inside_nearest(run, t, &a->autograd, match, user, &nearest));
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		enum ht_autograd_link link = HT_AUTOGRAD_LINK_NONE;
		uint32_t at = place_of(t, row);
		modules[row] = at == HT_NONE ? HT_NONE : choose_module(a, nearest, at, &link);
		links[row] = (uint8_t)link;
	}
	a->modules = modules;
	a->module_links = links;
	return spell_modules(run, a, match, user, nearest);
}

static bool has_annotations(const struct ht_trace *t)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (t->kind[row] == HT_KIND_ANNOTATION || t->kind[row] == HT_KIND_GPU_ANNOTATION)
			return true;
	return false;
}

static bool has_any(const struct ht_trace *t, ht_tree_match *match, const void *user)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (match(t, row, user))
			return true;
	return false;
}

static enum ht_status find_annotations(struct ht_run *run, struct ht_attribution *a)
{
	size_t n = ht_n_events(a->trace);
	uint32_t *rows = ht_mem_alloc(run->ctx->mem, (n + 1) * sizeof *rows);
	struct ht_annotated *found = ht_arena_alloc(run->scratch, (n + 1) * sizeof *found);
	enum ht_status status = rows && found ? HT_OK : ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; status == HT_OK && row < n; row++)
		rows[row] = row;
	if (status == HT_OK)
		status = ht_annotate_rows(run, a->trace, &a->autograd, rows, n, true, found);
	ht_mem_free(run->ctx->mem, rows, (n + 1) * sizeof *rows);
	a->annotations = found;
	return status;
}

struct wanted {
	const struct ht_trace *trace;
	unsigned parts;
};

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	const struct wanted *wanted = of;
	const struct ht_trace *t = wanted->trace;
	unsigned parts = wanted->parts;
	struct ht_attribution a = { .trace = t };
	if (parts)
		HT_TRY(ht_autograd_make(run, t, &a.autograd));
	if ((parts & HT_ATTRIBUTE_ANNOTATIONS) && has_annotations(t))
		HT_TRY(find_annotations(run, &a));
	if ((parts & HT_ATTRIBUTE_MODULES) && has_any(t, is_module, NULL))
		HT_TRY(find_modules(run, &a, is_module, NULL));
	*(struct ht_attribution *)ret_value = a;
	return HT_OK;
}

enum ht_status ht_attribution_make(struct ht_run *run, const struct ht_trace *t, unsigned parts,
        struct ht_attribution *ret_attribution)
{
	static const char kind;
	/* forward operators are told with all the others */
	const struct wanted wanted = { t, parts };
	uint32_t variant = parts ? parts | HT_ATTRIBUTE_FORWARD : 0;
	const struct ht_memoized how = { &kind, variant, make, sizeof *ret_attribution };
	return ht_run_memoize(run, &how, &wanted, ret_attribution);
}

enum ht_status ht_attribution_by(struct ht_run *run, const struct ht_trace *t, ht_tree_match *match,
        const void *user, struct ht_attribution *ret_attribution)
{
	struct ht_attribution a = { .trace = t };
	HT_TRY(ht_autograd_make(run, t, &a.autograd));
	if (has_any(t, match, user))
		HT_TRY(find_modules(run, &a, match, user));
	*ret_attribution = a;
	return HT_OK;
}

uint32_t ht_attribution_forward(const struct ht_attribution *a, uint32_t row)
{
	uint32_t at = place_of(a->trace, row);
	return at == HT_NONE ? HT_NONE : ht_autograd_forward(&a->autograd, at);
}
