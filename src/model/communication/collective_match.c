/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_match.c - see collective_match.h.
 *
 *   calls of all ranks ─ sort ─► families (group) ─► buckets (sequence, or step) ─► collectives
 */
#include "model/communication/collective_match.h"

#include "base/sort.h"
#include "base/thread.h"
#include "model/communication/unmatched_calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many collectives are filled in by one task. */
#define TASK_COLLECTIVES 64

/* Calls are named by their places in the list: sorting moves no more than these. */
struct match {
	ht_ctx *ctx;
	struct ht_arena *arena, *scratch;
	const struct ht_roster *roster;
	struct ht_unmatched_calls calls;
	uint32_t *places; /* of all calls, in the order that is being made */
	uint64_t *keys;   /* to sort by; as many as calls */
	uint32_t *firsts; /* by collective: where its calls begin in places */
	bool *by_seq;     /* by collective: matched by sequence numbers */
	struct ht_comm_call *flat;
	struct ht_matches found;
	int64_t mismatch_ns; /* start of the first mismatch */
};

static struct ht_unmatched_call *call_at(const struct match *m, uint32_t place)
{
	return &m->calls.list[place];
}

static const char *text_of(const struct match *m, uint32_t id)
{
	return id == HT_NO_TEXT ? NULL : m->calls.texts[id];
}

/* ---- order ---- */

/* What matches nothing is behind everything else. */
static bool is_placeless(const struct match *m, const struct ht_unmatched_call *l)
{
	return l->order_ns == HT_NO_I64 ||
	       (l->kind == HT_COMM_SEND_RECV && !*m->calls.texts[l->group]);
}

/* What a sort is by. It is stable, and places are in the order of rank, moment and row before the first one. */
enum key { BY_FAMILY, BY_SEQUENCE, BY_STEP, BY_POSITION };

static enum ht_status sort_by(struct match *m, enum key key, uint32_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ht_unmatched_call *l = call_at(m, at[i]);
		m->keys[i] = key == BY_FAMILY ? l->family
		                              : ht_sort_key_i64(key == BY_SEQUENCE ? l->seq
		                                                : key == BY_STEP   ? l->call.step
		                                                                   : l->nth);
	}
	return ht_sort_keys(m->ctx->mem, m->keys, at, n) ? HT_OK : ht_fail_nomem(m->ctx);
}

/* ---- checks ---- */

/* Ranks of the others may send and get different amounts. */
static bool must_agree(enum ht_comm_kind kind)
{
	return kind == HT_COMM_ALLREDUCE || kind == HT_COMM_BROADCAST || kind == HT_COMM_REDUCE ||
	       kind == HT_COMM_SEND_RECV;
}

static bool is_same(const struct ht_unmatched_call *a, const struct ht_unmatched_call *b)
{
	bool types = a->dtype == b->dtype || a->dtype == HT_NO_TEXT || b->dtype == HT_NO_TEXT;
	bool elements = !must_agree(a->kind) || a->elements == b->elements ||
	                a->elements == HT_NO_I64 || b->elements == HT_NO_I64;
	return a->name == b->name && types && elements;
}

static const char *call_text(struct match *m, const struct ht_unmatched_call *l)
{
	const char *text;
	if (l->elements == HT_NO_I64)
		text = ht_arena_printf(m->arena, "%s", m->calls.texts[l->name]);
	else
		text = ht_arena_printf(m->arena, "%s of %" PRId64 "%s%s", m->calls.texts[l->name],
		        l->elements, l->dtype == HT_NO_TEXT ? "" : " ",
		        l->dtype == HT_NO_TEXT ? "" : m->calls.texts[l->dtype]);
	return text ? text : "?";
}

static const char *step_text(struct match *m, const struct ht_unmatched_call *l)
{
	const char *text = l->call.step == HT_NO_I64
	                           ? ""
	                           : ht_arena_printf(m->arena, "step %" PRId64 ", ", l->call.step);
	return text ? text : "";
}

static const char *family_text(const struct match *m, const struct ht_unmatched_call *l)
{
	return *m->calls.texts[l->group] ? m->calls.texts[l->group] : m->calls.texts[l->name];
}

/* Count them, and keep the words of the earliest. */
static enum ht_status tell(struct match *m, const uint32_t *at, size_t n,
        const struct ht_unmatched_call *first, const char *text)
{
	if (!text)
		return ht_fail_nomem(m->ctx);
	for (size_t i = 0; i < n; i++)
		call_at(m, at[i])->mismatched = call_at(m, at[i])->nth == HT_NO_I64;
	if (!m->found.n_mismatches++ || first->call.start_ns < m->mismatch_ns) {
		m->mismatch_ns = first->call.start_ns;
		m->found.first_mismatch = text;
	}
	return HT_OK;
}

static int64_t number_of(const struct match *m, const struct ht_unmatched_call *l)
{
	return m->roster->ranks[l->call.i_rank].number;
}

/* The i-th of the calls at these places, and another one. */
static enum ht_status tell_difference(struct match *m, const uint32_t *at, size_t n, size_t i,
        const struct ht_unmatched_call *b, bool by_seq)
{
	const struct ht_unmatched_call *a = call_at(m, at[i]);
	return tell(m, at, n, a,
	        ht_arena_printf(m->arena,
	                "%sgroup %s, %s %" PRId64 ": %s on rank %" PRId64 ", %s on rank %" PRId64,
	                step_text(m, a), family_text(m, a), by_seq ? "sequence" : "call",
	                by_seq ? a->seq : (int64_t)i, call_text(m, a), number_of(m, a),
	                call_text(m, b), number_of(m, b)));
}

/* ---- by sequence ---- */

/* Calls of one sequence number; what a rank has twice is counted on. */
static enum ht_status place_sequence(struct match *m, const uint32_t *at, size_t n)
{
	const struct ht_unmatched_call *first = call_at(m, at[0]);
	for (size_t i = 1; i < n; i++) {
		const struct ht_unmatched_call *l = call_at(m, at[i]);
		if (!is_same(first, l) && l->call.i_rank != first->call.i_rank)
			return tell_difference(m, at, n, 0, l, true);
	}
	for (size_t i = 0; i < n; i++) {
		const struct ht_unmatched_call *before = i ? call_at(m, at[i - 1]) : NULL;
		struct ht_unmatched_call *l = call_at(m, at[i]);
		l->nth = before && before->call.i_rank == l->call.i_rank ? before->nth + 1 : 0;
	}
	return HT_OK;
}

static enum ht_status match_sequences(struct match *m, uint32_t *at, size_t n)
{
	HT_TRY(sort_by(m, BY_SEQUENCE, at, n));
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && call_at(m, at[end])->seq == call_at(m, at[i])->seq;)
			end++;
		HT_TRY(place_sequence(m, at + i, end - i));
	}
	return HT_OK;
}

/* ---- by position ---- */

/* Calls of one step by rank, each rank with as many as the first: from the first difference on nothing
 * matches. */
static enum ht_status place_step(struct match *m, const uint32_t *at, size_t n, size_t n_each)
{
	size_t n_same = n_each;
	const struct ht_unmatched_call *differs = NULL;
	for (size_t i = n_each; i < n; i++) {
		size_t nth = i % n_each;
		if (nth < n_same && !is_same(call_at(m, at[nth]), call_at(m, at[i]))) {
			n_same = nth;
			differs = call_at(m, at[i]);
		}
	}
	for (size_t i = 0; i < n; i++)
		call_at(m, at[i])->nth = i % n_each < n_same ? (int64_t)(i % n_each) : HT_NO_I64;
	return differs ? tell_difference(m, at, n, n_same, differs, false) : HT_OK;
}

static enum ht_status match_step(struct match *m, const uint32_t *at, size_t n, bool only)
{
	const struct ht_unmatched_call *first = call_at(m, at[0]);
	size_t n_first = 0, n_here;
	for (size_t i = 0; i < n; i += n_here) {
		const struct ht_unmatched_call *l = call_at(m, at[i]);
		for (n_here = 1; i + n_here < n &&
		                 call_at(m, at[i + n_here])->call.i_rank == l->call.i_rank;)
			n_here++;
		if (!i)
			n_first = n_here;
		if (n_here == n_first)
			continue;
		/* the recordings of ranks begin and end between different calls */
		if (first->call.step == HT_NO_I64 && !only)
			return HT_OK;
		return tell(m, at, n, first,
		        ht_arena_printf(m->arena,
		                "%sgroup %s: %zu calls on rank %" PRId64 ", %zu on rank %" PRId64,
		                step_text(m, first), family_text(m, first), n_first,
		                number_of(m, first), n_here, number_of(m, l)));
	}
	return place_step(m, at, n, n_first);
}

static enum ht_status match_steps(struct match *m, uint32_t *at, size_t n)
{
	HT_TRY(sort_by(m, BY_STEP, at, n));
	for (size_t i = 0, end; i < n; i = end) {
		int64_t step = call_at(m, at[i])->call.step;
		for (end = i + 1; end < n && call_at(m, at[end])->call.step == step;)
			end++;
		HT_TRY(match_step(m, at + i, end - i, end - i == n));
	}
	return HT_OK;
}

/* ---- collectives ---- */

/* One whose calls begin here in places; they end where the next one's begin. */
static void found_one(struct match *m, const uint32_t *at, bool by_seq)
{
	m->by_seq[m->found.n] = by_seq;
	m->firsts[m->found.n++] = (uint32_t)(at - m->places);
}

static bool goes_with(
        const struct ht_unmatched_call *a, const struct ht_unmatched_call *b, bool by_seq)
{
	if (a->nth == HT_NO_I64 || a->nth != b->nth)
		return false;
	return by_seq ? a->seq == b->seq : a->call.step == b->call.step;
}

/* Calls of a family that stand together by sequence or step become collectives. */
static enum ht_status group_calls(struct match *m, uint32_t *at, size_t n, bool by_seq)
{
	for (size_t i = 0, end; i < n; i = end) {
		const struct ht_unmatched_call *first = call_at(m, at[i]);
		for (end = i + 1; end < n; end++) {
			const struct ht_unmatched_call *l = call_at(m, at[end]);
			if (by_seq ? l->seq != first->seq : l->call.step != first->call.step)
				break;
		}
		HT_TRY(sort_by(m, BY_POSITION, at + i, end - i));
		for (size_t k = i, next; k < end; k = next) {
			for (next = k + 1; next < end && goes_with(call_at(m, at[k]),
			                                         call_at(m, at[next]), by_seq);)
				next++;
			found_one(m, at + k, by_seq);
		}
	}
	return HT_OK;
}

static enum ht_status match_family(struct match *m, uint32_t *at, size_t n)
{
	bool by_seq = true;
	for (size_t i = 0; i < n; i++)
		by_seq &= call_at(m, at[i])->seq != HT_NO_I64;
	HT_TRY(by_seq ? match_sequences(m, at, n) : match_steps(m, at, n));
	return group_calls(m, at, n, by_seq);
}

static void fill_in(const struct match *m, size_t i)
{
	size_t first = m->firsts[i], n = m->firsts[i + 1] - first;
	struct ht_collective *c = &m->found.collectives[i];
	const struct ht_unmatched_call *l = call_at(m, m->places[first]);
	*c = (struct ht_collective){ .group = m->calls.texts[l->group],
		.name = m->calls.texts[l->name],
		.kind = l->kind,
		.step = l->call.step,
		.nth = l->nth != HT_NO_I64 && m->by_seq[i] ? l->seq : l->nth,
		.elements = HT_NO_I64,
		.bytes = HT_NO_I64,
		.size = HT_NO_I64,
		.calls = m->flat + first,
		.n = n,
		.mismatched = l->mismatched };
	for (size_t k = 0; k < n; k++) {
		l = call_at(m, m->places[first + k]);
		c->calls[k] = l->call;
		if (!c->dtype)
			c->dtype = text_of(m, l->dtype);
		c->elements = l->elements > c->elements ? l->elements : c->elements;
		c->bytes = l->call.bytes > c->bytes ? l->call.bytes : c->bytes;
		c->size = l->size > c->size ? l->size : c->size;
	}
	int64_t all = c->size == HT_NO_I64 ? (int64_t)m->roster->n : c->size;
	c->complete = (int64_t)n == all;
}

static enum ht_status fill_some(void *user, size_t i_task, int i_worker)
{
	const struct match *m = user;
	size_t end = (i_task + 1) * TASK_COLLECTIVES;
	(void)i_worker;
	for (size_t i = i_task * TASK_COLLECTIVES; i < end && i < m->found.n; i++)
		fill_in(m, i);
	return HT_OK;
}

/* Calls without a place go last, and each is alone; how many have one. */
static size_t set_aside(struct match *m)
{
	size_t n = 0, n_aside = 0;
	for (size_t i = 0; i < m->calls.n; i++) {
		uint32_t place = m->calls.order[i];
		if (is_placeless(m, call_at(m, place)))
			m->calls.order[n_aside++] = place;
		else
			m->places[n++] = place;
	}
	for (size_t i = 0; i < n_aside; i++)
		m->places[n + i] = m->calls.order[i];
	return n;
}

static enum ht_status make_room(struct match *m)
{
	size_t n = m->calls.n + 1;
	m->places = ht_arena_room(m->scratch, n * sizeof *m->places);
	m->keys = ht_arena_room(m->scratch, n * sizeof *m->keys);
	m->firsts = ht_arena_room(m->scratch, n * sizeof *m->firsts);
	m->by_seq = ht_arena_room(m->scratch, n * sizeof *m->by_seq);
	m->flat = ht_arena_room(m->arena, n * sizeof *m->flat);
	return m->places && m->keys && m->firsts && m->by_seq && m->flat ? HT_OK
	                                                                 : ht_fail_nomem(m->ctx);
}

static enum ht_status match_all(struct match *m)
{
	HT_TRY(make_room(m));
	size_t n = set_aside(m);
	HT_TRY(sort_by(m, BY_FAMILY, m->places, n));
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t family = call_at(m, m->places[i])->family;
		for (end = i + 1; end < n && call_at(m, m->places[end])->family == family;)
			end++;
		HT_TRY(match_family(m, m->places + i, end - i));
	}
	for (size_t i = n; i < m->calls.n; i++)
		found_one(m, &m->places[i], false);
	m->firsts[m->found.n] = (uint32_t)m->calls.n;
	m->found.n_calls = m->calls.n;
	m->found.collectives =
	        ht_arena_room(m->arena, (m->found.n + 1) * sizeof *m->found.collectives);
	if (!m->found.collectives)
		return ht_fail_nomem(m->ctx);
	HT_TRY(ht_parallel(
	        m->ctx, (m->found.n + TASK_COLLECTIVES - 1) / TASK_COLLECTIVES, fill_some, m));
	for (size_t i = 0; i < m->found.n; i++) {
		const struct ht_collective *c = &m->found.collectives[i];
		m->found.n_unmatched += c->n == 1 && !ht_collective_is_matched(c);
	}
	return HT_OK;
}

static int by_start(const void *left, const void *right)
{
	const struct ht_collective *a = left, *b = right;
	int order = ht_order_i64(a->calls[0].start_ns, b->calls[0].start_ns);
	if (order)
		return order;
	if (a->calls[0].i_rank != b->calls[0].i_rank)
		return a->calls[0].i_rank < b->calls[0].i_rank ? -1 : 1;
	return ht_order_i64(a->calls[0].row, b->calls[0].row);
}

/* ---- places ---- */

static int by_row(const void *left, const void *right)
{
	const struct ht_call_place *a = left, *b = right;
	return ht_order_i64(a->row, b->row);
}

enum ht_status ht_matches_order(
        ht_ctx *ctx, struct ht_arena *arena, size_t n_ranks, struct ht_matches *found)
{
	struct ht_call_place *all = ht_arena_alloc(arena, (found->n_calls + 1) * sizeof *all);
	found->places = ht_arena_alloc(arena, (n_ranks + 1) * sizeof *found->places);
	found->n_places = ht_arena_alloc(arena, (n_ranks + 1) * sizeof *found->n_places);
	if (!all || !found->places || !found->n_places)
		return ht_fail_nomem(ctx);
	ht_sort_items(ctx->mem, found->collectives, found->n, sizeof *found->collectives, by_start);
	for (size_t i = 0; i < found->n; i++)
		for (size_t k = 0; k < found->collectives[i].n; k++)
			found->n_places[found->collectives[i].calls[k].i_rank]++;
	for (size_t i = 0; i < n_ranks; i++) {
		found->places[i] = all;
		all += found->n_places[i];
		found->n_places[i] = 0;
	}
	for (size_t i = 0; i < found->n; i++) {
		const struct ht_collective *c = &found->collectives[i];
		for (size_t k = 0; k < c->n; k++) {
			size_t rank = c->calls[k].i_rank;
			found->places[rank][found->n_places[rank]++] =
			        (struct ht_call_place){ c->calls[k].row, c, &c->calls[k] };
		}
	}
	for (size_t i = 0; i < n_ranks; i++)
		ht_sort_items(ctx->mem, found->places[i], found->n_places[i],
		        sizeof *found->places[i], by_row);
	return HT_OK;
}

enum ht_status ht_collectives_match(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *parts,
        struct ht_matches *ret_matches)
{
	struct match m = { .ctx = ctx, .arena = arena, .scratch = scratch, .roster = roster };
	HT_TRY(ht_unmatched_collect(ctx, arena, scratch, roster, parts, &m.calls));
	HT_TRY(match_all(&m));
	*ret_matches = m.found;
	return HT_OK;
}

const struct ht_call_place *ht_matches_find(
        const struct ht_matches *matches, size_t i_rank, int64_t row)
{
	struct ht_call_place key = { .row = row };
	return bsearch(
	        &key, matches->places[i_rank], matches->n_places[i_rank], sizeof key, by_row);
}
