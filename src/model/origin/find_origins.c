/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_origins.c - see find_origins.h.
 */
#include "model/origin/find_origins.h"

#include "base/hash.h"
#include "base/text_compare.h"
#include "model/calls/row_owners.h"
#include "model/origin/compiled.h"
#include "model/origin/fit.h"
#include "model/origin/fused_name.h"
#include "model/origin/replays.h"
#include "model/run_memo.h"
#include "store/columns.h"

#include <string.h>

/* What the names of generated kernels say, for those of which nothing better is known. */
static enum ht_status read_names(struct ht_run *run, const char *const **ret_fused)
{
	const struct ht_trace *t = run->trace;
	const char **fused = NULL;
	*ret_fused = NULL;
	for (uint32_t id = 0; id + 1 < t->n_string_offsets; id++) {
		const char *name = ht_str(t, id);
		if (name[0] != 't' || !ht_text_starts(name, "triton_"))
			continue;
		if (!fused)
			fused = ht_arena_alloc(
			        run->scratch, (t->n_string_offsets + 1) * sizeof *fused);
		if (!fused)
			return ht_fail_nomem(run->ctx);
		fused[id] = ht_fused_ops(run->scratch, name);
	}
	*ret_fused = fused;
	return HT_OK;
}

/* By string id, each name once, as replays repeat them by the million; only where there can be activities of which nothing else is known. */
static enum ht_status read_families(struct ht_run *run, struct ht_origins *o)
{
	const struct ht_trace *t = run->trace;
	const char **families = NULL;
	uint8_t *is_seen = NULL;
	size_t first = 0;
	while (!o->of_graph && first < t->n_gpu && t->gpu[first].op != HT_NONE)
		first++;
	if (first == t->n_gpu)
		return HT_OK;
	families = ht_arena_alloc(run->scratch, (t->n_string_offsets + 1) * sizeof *families);
	is_seen = ht_arena_alloc(run->scratch, t->n_string_offsets + 1);
	if (!families || !is_seen)
		return ht_fail_nomem(run->ctx);
	for (size_t i = first; i < t->n_gpu; i++) {
		uint32_t id = t->name[t->gpu[i].row];
		if (id == HT_NO_STR || is_seen[id])
			continue;
		families[id] = ht_kernel_family(ht_str(t, id));
		is_seen[id] = 1;
	}
	o->families = families;
	return HT_OK;
}

bool ht_origins_deepen(const struct ht_run *run)
{
	return ht_has_graph_launches(run->trace) || ht_compiled_joins(run);
}

/* ---- modules of compiled graphs ---- */

/* Texts that were spelled before: regions are called again and again. */
#define N_SPELLED 1024
struct spelled {
	const char *around, *below, *text;
};

static const char *spell_inside(
        struct ht_run *run, struct spelled *known, const char *around, const char *below)
{
	uint64_t hash = ht_hash_mix(ht_hash(around, strlen(around)), (uint64_t)(uintptr_t)below);
	struct spelled *slot = &known[hash % N_SPELLED];
	if (slot->text && slot->below == below && !strcmp(slot->around, around))
		return slot->text;
	const char *text =
	        ht_arena_printf(run->scratch, "%s%s%s", around, *around ? " / " : "", below);
	*slot = (struct spelled){ around, below, text };
	return text;
}

/* By activity: the modules around its launch, then those that the log has for its call. */
static enum ht_status add_inside(struct ht_run *run, struct ht_origins *o)
{
	const struct ht_trace *t = run->trace;
	struct spelled *known = ht_arena_alloc(run->scratch, N_SPELLED * sizeof *known);
	const char **inside = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *inside);
	if (!known || !inside)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		const char *below = ht_origin_below(o, i).text;
		uint32_t module = o->modules ? o->modules[t->gpu[i].row] : HT_NONE;
		const char *around = module == HT_NONE ? "" : o->module_texts[module];
		if (below && *below && !(inside[i] = spell_inside(run, known, around, below)))
			return ht_fail_nomem(run->ctx);
	}
	o->inside = inside;
	return HT_OK;
}

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	struct ht_origins origins = { .trace = run->trace };
	struct ht_attribution attribution;
	struct ht_compiled compiled;
	HT_TRY(ht_replays_read(run, &origins));
	HT_TRY(ht_compiled_find(run, &compiled));
	origins.calls = compiled.call;
	HT_TRY(ht_own_lines_make(run, run->trace, &origins.own));
	HT_TRY(ht_lines_make(run, run->trace, &origins.own, &origins.lines));
	HT_TRY(read_names(run, &origins.fused));
	HT_TRY(read_families(run, &origins));
	if (*(const bool *)of) {
		HT_TRY(ht_attribution_make(run, run->trace, HT_ATTRIBUTE_MODULES, &attribution));
		origins.modules = attribution.modules;
		origins.module_links = attribution.module_links;
		HT_TRY(ht_named_modules_make(run, attribution.modules != NULL, &origins.named));
		origins.module_texts = attribution.module_texts;
		if (origins.calls)
			HT_TRY(add_inside(run, &origins));
	}
	*(struct ht_origins *)ret_value = origins;
	return HT_OK;
}

enum ht_status ht_origins_make(
        struct ht_run *run, bool with_modules, struct ht_origins *ret_origins)
{
	static const char kind;
	const struct ht_memoized how = { &kind, with_modules, make, sizeof *ret_origins };
	return ht_run_memoize(run, &how, &with_modules, ret_origins);
}
