/*
 * collective_match.c - see collective_match.h.
 *
 *   calls of all ranks ─ sort ─► families (group) ─► buckets (sequence, or step) ─► collectives
 */
#include "model/communication/collective_match.h"
#include "base/sort.h"
#include "base/intern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_TEXT UINT32_MAX

/* A call that has no collective yet. */
struct loose {
	struct ht_comm_call call;
	uint32_t family; /* id of the group; of the name where there is none */
	uint32_t group, name, dtype;
	enum ht_comm_kind kind;
	int64_t size, seq, order_ns, elements;
	int64_t nth; /* HT_NO_I64: matches nothing */
	bool mismatched;
};

struct match {
	ht_ctx *ctx;
	struct ht_arena *arena, *scratch;
	const struct ht_roster *roster;
	struct ht_pool texts;
	const char **names; /* of texts, by id; in the arena */
	struct loose *calls;
	size_t n;
	struct ht_matches found;
	int64_t mismatch_ns; /* start of the first mismatch */
};

/* ---- texts ---- */

static bool intern(struct match *m, const char *text, uint32_t *ret_id)
{
	struct ht_text found;
	size_t n = strlen(text);
	if (!ht_pool_add(&m->texts, text, n, ht_hash(text, n), &found))
		return false;
	*ret_id = found.id;
	return true;
}

static bool keep_texts(struct match *m)
{
	const struct ht_text *texts = m->texts.texts.data;
	m->names = ht_arena_alloc(m->arena, (m->texts.texts.n + 1) * sizeof *m->names);
	for (size_t i = 0; m->names && i < m->texts.texts.n; i++) {
		m->names[texts[i].id] = ht_arena_strndup(m->arena, texts[i].bytes, texts[i].n);
		if (!m->names[texts[i].id])
			return false;
	}
	return m->names != NULL;
}

static const char *text_of(const struct match *m, uint32_t id)
{
	return id == NO_TEXT ? NULL : m->names[id];
}

/* ---- calls ---- */

static int64_t known(const ht_table *table, size_t row, size_t column, int64_t shift)
{
	if (ht_table_is_null(table, row, column))
		return HT_NO_I64;
	return ht_add_sat(ht_table_i64(table, row, column), shift);
}

static bool get_call(
        struct match *m, const ht_table *table, size_t row, size_t i_rank, struct loose *ret)
{
	int64_t shift = m->roster->ranks[i_rank].offset_ns;
	const char *group = ht_table_str(table, row, HT_CALL_GROUP);
	struct loose l = { .dtype = NO_TEXT,
		.kind = (enum ht_comm_kind)ht_table_i64(table, row, HT_CALL_KIND),
		.size = known(table, row, HT_CALL_SIZE, 0),
		.seq = known(table, row, HT_CALL_SEQ, 0),
		.order_ns = known(table, row, HT_CALL_ORDER, shift),
		.elements = known(table, row, HT_CALL_ELEMENTS, 0),
		.nth = HT_NO_I64 };
	l.call = (struct ht_comm_call){ .i_rank = i_rank,
		.row = ht_table_i64(table, row, HT_CALL_ROW),
		.start_ns = known(table, row, HT_CALL_START, shift),
		.launch_ns = known(table, row, HT_CALL_LAUNCH, shift),
		.step = known(table, row, HT_CALL_STEP, 0),
		.bytes = known(table, row, HT_CALL_BYTES, 0),
		.wait_ns = HT_NO_I64,
		.tie = (int)ht_table_i64(table, row, HT_CALL_TIE) };
	l.call.end_ns = ht_add_sat(l.call.start_ns, ht_table_i64(table, row, HT_CALL_DUR));
	if (!intern(m, group, &l.group) ||
	        !intern(m, ht_table_str(table, row, HT_CALL_NAME), &l.name))
		return false;
	if (!ht_table_is_null(table, row, HT_CALL_DTYPE) &&
	        !intern(m, ht_table_str(table, row, HT_CALL_DTYPE), &l.dtype))
		return false;
	l.family = *group ? l.group : l.name;
	*ret = l;
	return true;
}

static enum ht_status collect(struct match *m, const struct ht_parts *parts)
{
	m->calls = ht_arena_alloc(m->scratch, (ht_parts_n_rows(parts, 0) + 1) * sizeof *m->calls);
	if (!m->calls)
		return ht_fail_nomem(m->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		size_t i_rank = ht_roster_find(m->roster, parts->list[i].rank);
		const ht_table *facts = parts->list[i].facts[0];
		for (size_t row = 0; i_rank != SIZE_MAX && row < ht_table_n_rows(facts); row++)
			if (!get_call(m, facts, row, i_rank, &m->calls[m->n++]))
				return ht_fail_nomem(m->ctx);
	}
	return keep_texts(m) ? HT_OK : ht_fail_nomem(m->ctx);
}

/* ---- order ---- */

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_rank_and_order(const struct loose *a, const struct loose *b)
{
	if (a->call.i_rank != b->call.i_rank)
		return a->call.i_rank < b->call.i_rank ? -1 : 1;
	int order = compare_i64(a->order_ns, b->order_ns);
	return order ? order : compare_i64(a->call.row, b->call.row);
}

/* What matches nothing is behind everything else. */
static bool is_placeless(const struct loose *l, const char *group)
{
	return l->order_ns == HT_NO_I64 || (l->kind == HT_COMM_SEND_RECV && !*group);
}

static int by_family(const void *left, const void *right)
{
	const struct loose *a = left, *b = right;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return by_rank_and_order(a, b);
}

static int by_sequence(const void *left, const void *right)
{
	const struct loose *a = left, *b = right;
	int order = compare_i64(a->seq, b->seq);
	return order ? order : by_rank_and_order(a, b);
}

static int by_step(const void *left, const void *right)
{
	const struct loose *a = left, *b = right;
	int order = compare_i64(a->call.step, b->call.step);
	return order ? order : by_rank_and_order(a, b);
}

static int by_position(const void *left, const void *right)
{
	const struct loose *a = left, *b = right;
	int order = compare_i64(a->nth, b->nth);
	return order ? order : by_rank_and_order(a, b);
}

/* ---- checks ---- */

/* Ranks of the others may send and get different amounts. */
static bool must_agree(enum ht_comm_kind kind)
{
	return kind == HT_COMM_ALLREDUCE || kind == HT_COMM_BROADCAST || kind == HT_COMM_REDUCE ||
	       kind == HT_COMM_SEND_RECV;
}

static bool is_same(const struct loose *a, const struct loose *b)
{
	bool types = a->dtype == b->dtype || a->dtype == NO_TEXT || b->dtype == NO_TEXT;
	bool elements = !must_agree(a->kind) || a->elements == b->elements ||
	                a->elements == HT_NO_I64 || b->elements == HT_NO_I64;
	return a->name == b->name && types && elements;
}

static const char *call_text(struct match *m, const struct loose *l)
{
	const char *text;
	if (l->elements == HT_NO_I64)
		text = ht_arena_printf(m->arena, "%s", m->names[l->name]);
	else
		text = ht_arena_printf(m->arena, "%s of %" PRId64 "%s%s", m->names[l->name],
		        l->elements, l->dtype == NO_TEXT ? "" : " ",
		        l->dtype == NO_TEXT ? "" : m->names[l->dtype]);
	return text ? text : "?";
}

static const char *step_text(struct match *m, const struct loose *l)
{
	const char *text = l->call.step == HT_NO_I64
	                           ? ""
	                           : ht_arena_printf(m->arena, "step %" PRId64 ", ", l->call.step);
	return text ? text : "";
}

static const char *family_text(const struct match *m, const struct loose *l)
{
	return *m->names[l->group] ? m->names[l->group] : m->names[l->name];
}

/* Count them, and keep the words of the earliest. */
static enum ht_status tell(
        struct match *m, struct loose *calls, size_t n, const struct loose *first, const char *text)
{
	if (!text)
		return ht_fail_nomem(m->ctx);
	for (size_t i = 0; i < n; i++)
		calls[i].mismatched = calls[i].nth == HT_NO_I64;
	if (!m->found.n_mismatches++ || first->call.start_ns < m->mismatch_ns) {
		m->mismatch_ns = first->call.start_ns;
		m->found.first_mismatch = text;
	}
	return HT_OK;
}

static enum ht_status tell_difference(struct match *m, struct loose *calls, size_t n,
        const struct loose *a, const struct loose *b, bool by_seq)
{
	int64_t nth = by_seq ? a->seq : a - calls;
	return tell(m, calls, n, a,
	        ht_arena_printf(m->arena,
	                "%sgroup %s, %s %" PRId64 ": %s on rank %" PRId64 ", %s on rank %" PRId64,
	                step_text(m, a), family_text(m, a), by_seq ? "sequence" : "call", nth,
	                call_text(m, a), m->roster->ranks[a->call.i_rank].number, call_text(m, b),
	                m->roster->ranks[b->call.i_rank].number));
}

/* ---- by sequence ---- */

/* Calls of one sequence number; what a rank has twice is counted on. */
static enum ht_status place_sequence(struct match *m, struct loose *calls, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!is_same(&calls[0], &calls[i]) && calls[i].call.i_rank != calls[0].call.i_rank)
			return tell_difference(m, calls, n, &calls[0], &calls[i], true);
	for (size_t i = 0; i < n; i++)
		calls[i].nth = i && calls[i - 1].call.i_rank == calls[i].call.i_rank
		                       ? calls[i - 1].nth + 1
		                       : 0;
	return HT_OK;
}

static enum ht_status match_sequences(struct match *m, struct loose *calls, size_t n)
{
	ht_sort_items(m->ctx->mem, calls, n, sizeof *calls, by_sequence);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && calls[end].seq == calls[i].seq; end++)
			;
		HT_TRY(place_sequence(m, calls + i, end - i));
	}
	return HT_OK;
}

/* ---- by position ---- */

/* Calls of one step by rank, each rank with as many as the first: from the first difference on nothing
 * matches. */
static enum ht_status place_step(struct match *m, struct loose *calls, size_t n, size_t n_each)
{
	size_t n_same = n_each;
	const struct loose *differs = NULL;
	for (size_t i = n_each; i < n; i++) {
		size_t nth = i % n_each;
		if (nth < n_same && !is_same(&calls[nth], &calls[i])) {
			n_same = nth;
			differs = &calls[i];
		}
	}
	for (size_t i = 0; i < n; i++)
		calls[i].nth = i % n_each < n_same ? (int64_t)(i % n_each) : HT_NO_I64;
	return differs ? tell_difference(m, calls, n, &calls[n_same], differs, false) : HT_OK;
}

static enum ht_status match_step(struct match *m, struct loose *calls, size_t n, bool only)
{
	size_t n_first = 0, n_here;
	for (size_t i = 0; i < n; i += n_here) {
		for (n_here = 1;
		        i + n_here < n && calls[i + n_here].call.i_rank == calls[i].call.i_rank;
		        n_here++)
			;
		if (!i)
			n_first = n_here;
		if (n_here == n_first)
			continue;
		/* the recordings of ranks begin and end between different calls */
		if (calls[0].call.step == HT_NO_I64 && !only)
			return HT_OK;
		return tell(m, calls, n, &calls[0],
		        ht_arena_printf(m->arena,
		                "%sgroup %s: %zu calls on rank %" PRId64 ", %zu on rank %" PRId64,
		                step_text(m, calls), family_text(m, calls), n_first,
		                m->roster->ranks[calls[0].call.i_rank].number, n_here,
		                m->roster->ranks[calls[i].call.i_rank].number));
	}
	return place_step(m, calls, n, n_first);
}

static enum ht_status match_steps(struct match *m, struct loose *calls, size_t n)
{
	ht_sort_items(m->ctx->mem, calls, n, sizeof *calls, by_step);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && calls[end].call.step == calls[i].call.step; end++)
			;
		HT_TRY(match_step(m, calls + i, end - i, end - i == n));
	}
	return HT_OK;
}

/* ---- collectives ---- */

static void found_one(struct match *m, const struct loose *calls, size_t n, bool by_seq,
        struct ht_comm_call *flat)
{
	struct ht_collective *c = &m->found.collectives[m->found.n++];
	*c = (struct ht_collective){ .group = m->names[calls[0].group],
		.name = m->names[calls[0].name],
		.kind = calls[0].kind,
		.step = calls[0].call.step,
		.nth = calls[0].nth != HT_NO_I64 && by_seq ? calls[0].seq : calls[0].nth,
		.elements = HT_NO_I64,
		.bytes = HT_NO_I64,
		.size = HT_NO_I64,
		.calls = flat,
		.n = n,
		.mismatched = calls[0].mismatched };
	for (size_t i = 0; i < n; i++) {
		flat[i] = calls[i].call;
		if (!c->dtype)
			c->dtype = text_of(m, calls[i].dtype);
		c->elements = calls[i].elements > c->elements ? calls[i].elements : c->elements;
		c->bytes = calls[i].call.bytes > c->bytes ? calls[i].call.bytes : c->bytes;
		c->size = calls[i].size > c->size ? calls[i].size : c->size;
	}
	int64_t all = c->size == HT_NO_I64 ? (int64_t)m->roster->n : c->size;
	c->complete = (int64_t)n == all;
	m->found.n_unmatched += n == 1 && !ht_collective_is_matched(c);
}

static bool goes_with(const struct loose *a, const struct loose *b, bool by_seq)
{
	if (a->nth == HT_NO_I64 || a->nth != b->nth)
		return false;
	return by_seq ? a->seq == b->seq : a->call.step == b->call.step;
}

/* Calls of a family that stand together by sequence or step become collectives. */
static void group_calls(
        struct match *m, struct loose *calls, size_t n, bool by_seq, struct ht_comm_call *flat)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && (by_seq ? calls[end].seq == calls[i].seq
		                                     : calls[end].call.step == calls[i].call.step);
		        end++)
			;
		ht_sort_items(m->ctx->mem, calls + i, end - i, sizeof *calls, by_position);
		for (size_t k = i, next; k < end; k = next) {
			for (next = k + 1; next < end && goes_with(&calls[k], &calls[next], by_seq);
			        next++)
				;
			found_one(m, calls + k, next - k, by_seq, flat + k);
		}
	}
}

static enum ht_status match_family(
        struct match *m, struct loose *calls, size_t n, struct ht_comm_call *flat)
{
	bool by_seq = true;
	for (size_t i = 0; i < n; i++)
		by_seq &= calls[i].seq != HT_NO_I64;
	HT_TRY(by_seq ? match_sequences(m, calls, n) : match_steps(m, calls, n));
	group_calls(m, calls, n, by_seq, flat);
	return HT_OK;
}

static int by_start(const void *left, const void *right)
{
	const struct ht_collective *a = left, *b = right;
	int order = compare_i64(a->calls[0].start_ns, b->calls[0].start_ns);
	if (order)
		return order;
	if (a->calls[0].i_rank != b->calls[0].i_rank)
		return a->calls[0].i_rank < b->calls[0].i_rank ? -1 : 1;
	return compare_i64(a->calls[0].row, b->calls[0].row);
}

/* Calls without a place go last, and each is alone. */
static size_t set_aside(struct match *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++) {
		if (is_placeless(&m->calls[i], m->names[m->calls[i].group]))
			continue;
		struct loose l = m->calls[i];
		m->calls[i] = m->calls[n];
		m->calls[n++] = l;
	}
	return n;
}

static enum ht_status match_all(struct match *m)
{
	struct ht_comm_call *flat = ht_arena_alloc(m->arena, (m->n + 1) * sizeof *flat);
	m->found.collectives = ht_arena_alloc(m->arena, (m->n + 1) * sizeof *m->found.collectives);
	if (!flat || !m->found.collectives)
		return ht_fail_nomem(m->ctx);
	size_t n = set_aside(m);
	ht_sort_items(m->ctx->mem, m->calls, n, sizeof *m->calls, by_family);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && m->calls[end].family == m->calls[i].family; end++)
			;
		HT_TRY(match_family(m, m->calls + i, end - i, flat + i));
	}
	for (size_t i = n; i < m->n; i++)
		found_one(m, &m->calls[i], 1, false, flat + i);
	m->found.n_calls = m->n;
	return HT_OK;
}

/* ---- places ---- */

static int by_row(const void *left, const void *right)
{
	const struct ht_call_place *a = left, *b = right;
	return compare_i64(a->row, b->row);
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

static enum ht_status match(struct match *m, const struct ht_parts *parts)
{
	HT_TRY(collect(m, parts));
	return match_all(m);
}

enum ht_status ht_collectives_match(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *parts,
        struct ht_matches *ret_matches)
{
	struct match m = { .ctx = ctx, .arena = arena, .scratch = scratch, .roster = roster };
	ht_pool_init(&m.texts, ctx->mem);
	enum ht_status status = match(&m, parts);
	ht_pool_done(&m.texts);
	if (status == HT_OK)
		*ret_matches = m.found;
	return status;
}

const struct ht_call_place *ht_matches_find(
        const struct ht_matches *matches, size_t i_rank, int64_t row)
{
	struct ht_call_place key = { .row = row };
	return bsearch(
	        &key, matches->places[i_rank], matches->n_places[i_rank], sizeof key, by_row);
}
