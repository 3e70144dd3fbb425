/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c - see choose.h.
 */
#include "model/origin/choose.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "store/args.h"
#include "store/trace_meta.h"

#include <inttypes.h>
#include <string.h>

/* So many places in an eager run are tried that are no exact match. */
#define MAX_WINDOWS 48

enum ht_status ht_chooser_init(struct ht_run *run, struct ht_chooser *ret_chooser)
{
	struct ht_chooser c = { .run = run };
	HT_TRY(ht_tapes_make(run, &c.tapes));
	c.twins = ht_arena_alloc(run->scratch, (c.tapes.n + 1) * sizeof *c.twins);
	if (!c.twins)
		return ht_fail_nomem(run->ctx);
	*ret_chooser = c;
	return HT_OK;
}

/* ---- captures ---- */

/* The least size that was captured and holds the batch; -1 when none does, or nothing says a size. */
static int64_t padded_size(const struct ht_tapes *tapes, int64_t size)
{
	int64_t best = -1;
	for (size_t i = 0; i < tapes->n && size >= 0; i++) {
		const struct ht_tape *tape = &tapes->list[i];
		if (tape->is_capture && tape->size >= size && (best < 0 || tape->size < best))
			best = tape->size;
	}
	return best;
}

/* Whether two tapes say the same of every position. */
static bool say_the_same(const struct ht_tape *a, const struct ht_tape *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		uint32_t x = a->entries[i].op, y = b->entries[i].op;
		if ((x == HT_NONE) != (y == HT_NONE))
			return false;
		if (x == HT_NONE)
			continue;
		if (strcmp(ht_str(a->trace, a->trace->name[x]),
		            ht_str(b->trace, b->trace->name[y])) != 0 ||
		        !ht_text_same(ht_arg_str(a->trace, "Input Dims", x),
		                ht_arg_str(b->trace, "Input Dims", y)))
			return false;
	}
	return true;
}

/* The better of two: more that match, then the later capture, which is the one that replays use. Two captures that match
 * alike and say different things are ambiguous, unless the size chose them both. */
struct best {
	struct ht_choice choice;
	const struct ht_tape *rival;
	size_t n_alike; /* captures of one size that match alike and differ from the one before */
	bool is_dated;  /* all of them say when they were made */
};

/* When a capture was made, in Unix time; HT_NO_I64: its trace does not say. */
static int64_t captured_ns(const struct ht_tape *tape)
{
	const struct ht_trace *t = tape->trace;
	if (!tape->n || t->meta->base_ns == HT_NO_I64)
		return HT_NO_I64;
	return ht_add_sat(t->meta->base_ns, t->ts_ns[tape->entries[0].launch]);
}

/* Of two of one size the replays use the one that was captured last; without times that is the later one of the list. */
static bool is_older(struct best *best, const struct ht_tape *tape)
{
	int64_t then = captured_ns(best->choice.tape), now = captured_ns(tape);
	best->n_alike++;
	best->is_dated = then != HT_NO_I64 && now != HT_NO_I64;
	return best->is_dated && now < then;
}

static void offer(struct best *best, const struct ht_tape *tape, const struct ht_matched *matched,
        bool is_sized)
{
	const struct ht_tape *now = best->choice.tape;
	if (now && matched->confidence < best->choice.matched.confidence)
		return;
	bool is_tie = now && matched->confidence <= best->choice.matched.confidence;
	if (!is_tie)
		best->n_alike = 0;
	if (is_tie && is_sized && !say_the_same(now, tape) && is_older(best, tape))
		return;
	best->rival = is_tie && !is_sized && !say_the_same(now, tape) ? now
	              : is_tie                                        ? best->rival
	                                                              : NULL;
	best->choice.tape = tape;
	best->choice.matched = *matched;
}

static const char *explain_refusal(struct ht_chooser *c, const struct ht_graph_replay *replay,
        const struct best *best, int64_t size)
{
	struct ht_arena *scratch = c->run->scratch;
	const struct ht_tape *tape = best->choice.tape;
	if (best->rival && tape)
		return ht_arena_printf(scratch,
		        "ambiguous: %s and %s both have %zu launches and no annotation says which",
		        tape->label, best->rival->label, tape->n);
	if (tape)
		return ht_arena_printf(scratch,
		        "%zu of %zu activities match %s with %zu launches: of another model?",
		        best->choice.matched.n, replay->n,
		        *tape->label ? tape->label : "the capture", tape->n);
	if (size >= 0)
		return ht_arena_printf(scratch,
		        "no capture for size %" PRId64 " has %zu launches: of another model?", size,
		        replay->n);
	return ht_arena_printf(
	        scratch, "no capture has %zu launches: of another model?", replay->n);
}

/* Of several graphs under one annotation the one at the launch's place there, when all of them are launched. */
static enum ht_status choose_capture(struct ht_chooser *c, const struct ht_graph_replay *replay,
        struct ht_choice *ret_choice, bool *ret_has_any)
{
	struct best best = { 0 };
	int64_t size = padded_size(&c->tapes, replay->size);
	*ret_has_any = false;
	*ret_choice = (struct ht_choice){ 0 };
	for (size_t i = 0; i < c->tapes.n; i++) {
		const struct ht_tape *tape = &c->tapes.list[i];
		struct ht_matched matched;
		if (!tape->is_capture)
			continue;
		*ret_has_any = true;
		if (size >= 0 && tape->size != size)
			continue;
		HT_TRY(ht_match(c->run, replay, tape, 0, tape->n, &matched));
		if (!matched.n)
			continue;
		offer(&best, tape, &matched, size >= 0 && tape->n_of == 1);
	}
	bool is_refused =
	        !best.choice.tape || best.rival || best.choice.matched.confidence < HT_MIN_MATCHED;
	if (*ret_has_any && is_refused) {
		ret_choice->why = explain_refusal(c, replay, &best, size);
		return ret_choice->why ? HT_OK : ht_fail_nomem(c->run->ctx);
	}
	if (is_refused)
		return HT_OK;
	*ret_choice = best.choice;
	if (best.n_alike)
		ret_choice->note = ht_arena_printf(c->run->scratch,
		        "%zu captures of size %" PRId64 " fit and differ: the %s one is used",
		        best.n_alike + 1, best.choice.tape->size,
		        best.is_dated ? "newest" : "last attached");
	return !best.n_alike || ret_choice->note ? HT_OK : ht_fail_nomem(c->run->ctx);
}

/* ---- eager runs ---- */

/* Whether an annotation around an entry names the size: eager_8, ## batch 8 ##, or a grammar. */
static bool names_size(const struct ht_tape *tape, size_t entry, int64_t size)
{
	const struct ht_trace *t = tape->trace;
	for (uint32_t row = tape->entries[entry].launch; row != HT_NONE; row = t->parent[row]) {
		const char *at = t->kind[row] == HT_KIND_ANNOTATION ? ht_str(t, t->name[row]) : "";
		while (*(at += strcspn(at, "0123456789"))) {
			int64_t number = 0;
			for (; *at >= '0' && *at <= '9' && number < INT32_MAX; at++)
				number = number * 10 + (*at - '0');
			if (number == size)
				return true;
		}
	}
	return false;
}

/* How far the text matches itself, for Knuth, Morris and Pratt. */
static enum ht_status find_borders(
        struct ht_run *run, const uint64_t *keys, size_t n, uint32_t **ret)
{
	uint32_t *border = ht_arena_alloc(run->scratch, (n + 1) * sizeof *border);
	if (!border)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 1, k = 0; i < n; i++) {
		while (k && keys[i] != keys[k])
			k = border[k - 1];
		k += keys[i] == keys[k];
		border[i] = (uint32_t)k;
	}
	*ret = border;
	return HT_OK;
}

/* Where the replay's names stand in the run, one after the other: a place whose annotation names the size, else the first;
 * SIZE_MAX: nowhere. */
static enum ht_status find_exact(struct ht_chooser *c, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, size_t *ret_at)
{
	uint32_t *border = NULL;
	*ret_at = SIZE_MAX;
	if (!replay->n || tape->n < replay->n)
		return HT_OK;
	HT_TRY(find_borders(c->run, replay->keys, replay->n, &border));
	for (size_t i = 0, k = 0; i < tape->n; i++) {
		while (k && tape->entries[i].key != replay->keys[k])
			k = border[k - 1];
		k += tape->entries[i].key == replay->keys[k];
		if (k < replay->n)
			continue;
		size_t at = i + 1 - replay->n;
		bool is_sized = replay->size >= 0 && names_size(tape, at, replay->size);
		if (*ret_at == SIZE_MAX || is_sized)
			*ret_at = at;
		if (is_sized || replay->size < 0)
			return HT_OK;
		k = border[k - 1];
	}
	return HT_OK;
}

/* The entries launched inside an annotation; those of an eager run are by start. */
static void find_window(
        const struct ht_tape *tape, uint32_t annotation, size_t *ret_first, size_t *ret_n)
{
	const struct ht_trace *t = tape->trace;
	int64_t from = t->ts_ns[annotation], to = ht_end_ns(t, annotation);
	size_t low = HT_LOWER_BOUND(i, tape->n, t->ts_ns[tape->entries[i].launch] < from);
	size_t high = HT_LOWER_BOUND(i, tape->n, t->ts_ns[tape->entries[i].launch] < to);
	*ret_first = low;
	*ret_n = high > low ? high - low : 0;
}

static enum ht_status try_window(struct ht_chooser *c, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, size_t first, size_t m, struct ht_choice *best)
{
	struct ht_matched matched;
	HT_TRY(ht_match(c->run, replay, tape, first, m, &matched));
	if (!best->tape || matched.confidence > best->matched.confidence)
		*best = (struct ht_choice){ .tape = tape, .matched = matched };
	return HT_OK;
}

/* Stretches of the run that are about as long: what is inside its annotations, or all of it. */
static enum ht_status try_windows(struct ht_chooser *c, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, struct ht_choice *best)
{
	const struct ht_trace *t = tape->trace;
	size_t n_tried = 0;
	if (tape->n <= 2 * replay->n && replay->n <= 2 * tape->n)
		HT_TRY(try_window(c, replay, tape, 0, tape->n, best));
	for (int sized = 1; sized >= 0; sized--)
		for (uint32_t row = 0; row < ht_n_events(t) && n_tried < MAX_WINDOWS; row++) {
			size_t first, m;
			if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row))
				continue;
			find_window(tape, row, &first, &m);
			if (m > 2 * replay->n || replay->n > 2 * m ||
			        (replay->size >= 0 && names_size(tape, first, replay->size)) !=
			                sized)
				continue;
			n_tried++;
			HT_TRY(try_window(c, replay, tape, first, m, best));
		}
	return HT_OK;
}

/* Share of the replay's GPU time that has a partner. */
static double matched_time(const struct ht_graph_replay *replay, const struct ht_matched *matched)
{
	const struct ht_trace *t = replay->trace;
	int64_t all = 0, with = 0;
	for (size_t i = 0; i < replay->n; i++) {
		int64_t ns = t->dur_ns[t->gpu[replay->gpus[i]].row];
		ht_sum(&all, ns);
		ht_sum(&with, matched->partner[i] != UINT32_MAX ? ns : 0);
	}
	return all ? (double)with / (double)all : 0;
}

static enum ht_status choose_eager(struct ht_chooser *c, const struct ht_graph_replay *replay,
        const char *why, struct ht_choice *ret_choice)
{
	struct ht_choice best = { 0 };
	bool has_any = false;
	for (size_t i = 0; i < c->tapes.n; i++) {
		const struct ht_tape *tape = &c->tapes.list[i];
		size_t at;
		if (tape->is_capture)
			continue;
		/* that the trace itself has eager work beside its graphs is no recording to be told about */
		has_any |= tape->from != NULL;
		HT_TRY(find_exact(c, replay, tape, &at));
		if (at != SIZE_MAX)
			HT_TRY(try_window(c, replay, tape, at, replay->n, &best));
		else
			HT_TRY(try_windows(c, replay, tape, &best));
	}
	double share = best.tape ? matched_time(replay, &best.matched) : 0;
	bool fits = best.tape && share >= HT_MIN_EAGER_TIME &&
	            best.matched.confidence >= HT_MIN_MATCHED;
	*ret_choice = fits ? best : (struct ht_choice){ .why = why };
	if (!fits && has_any && !why)
		ret_choice->why = ht_arena_printf(c->run->scratch,
		        "%.1f %% of the GPU time matches the eager run, %.0f %% are needed",
		        100 * share, 100 * HT_MIN_EAGER_TIME);
	if (!fits && !ret_choice->why)
		ret_choice->why = "no recording of its capture: attach one";
	return ret_choice->why || fits ? HT_OK : ht_fail_nomem(c->run->ctx);
}

enum ht_status ht_choose(
        struct ht_chooser *c, const struct ht_graph_replay *replay, struct ht_choice *ret_choice)
{
	bool has_captures;
	HT_TRY(choose_capture(c, replay, ret_choice, &has_captures));
	return ret_choice->tape ? HT_OK : choose_eager(c, replay, ret_choice->why, ret_choice);
}

/* ---- what is recorded there ---- */

/* Modules and lines of a trace that joins, by a run of its own: what runs share is of the rank in hand. */
static enum ht_status find_twin(
        struct ht_chooser *c, const struct ht_trace *trace, struct ht_twin **ret_twin)
{
	size_t i = 0;
	while (i < c->n_twins && c->twins[i].trace != trace)
		i++;
	struct ht_twin *twin = &c->twins[i];
	if (i == c->n_twins) {
		struct ht_run alone = *c->run;
		alone.shares_rank = false;
		alone.memo = NULL;
		alone.trace = trace;
		*twin = (struct ht_twin){ .trace = trace };
		HT_TRY(ht_attribution_make(&alone, trace, HT_ATTRIBUTE_MODULES, &twin->modules));
		struct ht_own_lines own;
		HT_TRY(ht_own_lines_make(&alone, trace, &own));
		HT_TRY(ht_lines_make(&alone, trace, &own, &twin->lines));
		c->n_twins++;
	}
	*ret_twin = twin;
	return HT_OK;
}

enum ht_status ht_recorded_site(struct ht_chooser *c, const struct ht_trace *t, uint32_t row,
        uint32_t op, struct ht_origin *ret_site)
{
	struct ht_twin *twin;
	HT_TRY(find_twin(c, t, &twin));
	uint32_t module = twin->modules.modules ? twin->modules.modules[row] : HT_NONE;
	*ret_site = (struct ht_origin){
		.op = op == HT_NONE ? NULL : ht_str(t, t->name[op]),
		.shapes = op == HT_NONE ? NULL : ht_arg_str(t, "Input Dims", op),
		.module = module == HT_NONE ? NULL : twin->modules.module_texts[module],
		.source = ht_line_around(t, twin->lines, row),
		.op_trace = op == HT_NONE ? NULL : t,
		.op_row = op,
		.is_backward = module != HT_NONE &&
		               twin->modules.module_links[row] == HT_AUTOGRAD_LINK_FORWARD,
	};
	if (!ret_site->module && op != HT_NONE)
		HT_TRY(ht_hierarchy_of(c->run, t, op, &ret_site->module));
	ret_site->module_via = !ret_site->module       ? HT_MODULE_VIA_NONE
	                       : module == HT_NONE     ? HT_MODULE_VIA_HIERARCHY
	                       : ret_site->is_backward ? HT_MODULE_VIA_BACKWARD
	                                               : HT_MODULE_VIA_FRAMES;
	return HT_OK;
}

enum ht_status ht_choice_site(
        struct ht_chooser *c, const struct ht_choice *choice, size_t i, struct ht_origin *ret_site)
{
	const struct ht_tape_entry *entry = &choice->tape->entries[choice->matched.partner[i]];
	return ht_recorded_site(c, choice->tape->trace, entry->launch, entry->op, ret_site);
}

enum ht_status ht_origin_mark_calls(
        struct ht_run *run, struct ht_origin *sites, uint32_t *order, size_t n)
{
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		keys[i] = sites[order[i]].op ? sites[order[i]].op_row : HT_NONE;
	if (!ht_sort_keys(run->ctx->mem, keys, order, n))
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		sites[order[i]].starts_call = keys[i] != HT_NONE && (!i || keys[i] != keys[i - 1]);
	return HT_OK;
}
