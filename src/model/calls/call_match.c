/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_match.c - see call_match.h.
 */
#include "model/calls/call_match.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/run.h"
#include "store/args.h"
#include "store/flow.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* ---- categories ---- */

static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; *at;) {
		at += strspn(at, " ,");
		size_t n_item = strcspn(at, ",");
		size_t n_used = n_item;
		while (n_used && at[n_used - 1] == ' ')
			n_used--;
		if (n_used == n && n && !strncmp(at, word, n))
			return true;
		at += n_item;
	}
	return false;
}

/* What a row is chosen by: its category; of Ascend's rows that have none, their process. */
static const char *category_of(const struct ht_trace *t, uint32_t row)
{
	uint32_t name = t->categories[t->cat[row]].name;
	if (name == HT_NO_STR && t->meta_->dialect == HT_DIALECT_ASCEND)
		name = t->tracks[t->track[row]].process_name;
	return ht_str(t, name);
}

static bool *mark_rows(const struct ht_match *m, const bool *in, const char *list)
{
	const struct ht_trace *t = m->t;
	bool *marks = ht_arena_alloc(m->run->scratch, ht_n_events(t) + (size_t)1);
	uint32_t track = HT_NONE, cat = HT_NONE;
	bool is_listed = false;
	for (uint32_t row = 0; marks && row < ht_n_events(t); row++) {
		if (!in[row])
			continue;
		if (t->track[row] != track || t->cat[row] != cat)
			is_listed = list_has(list, category_of(t, row));
		track = t->track[row];
		cat = t->cat[row];
		marks[row] = is_listed;
	}
	return marks;
}

/* Kernels of an NPU, which have no category of their own; with copies and sets when all are meant. */
static bool *mark_npu_work(const struct ht_match *m, const bool *in)
{
	const struct ht_trace *t = m->t;
	bool *marks = ht_arena_alloc(m->run->scratch, ht_n_events(t) + (size_t)1);
	for (size_t i = 0; marks && i < t->n_gpu; i++) {
		enum ht_class class_ = t->gpu[i].class_;
		bool is_kernel = class_ == HT_CLASS_COMPUTE || class_ == HT_CLASS_COMM;
		bool is_copy = class_ == HT_CLASS_MEMCPY || class_ == HT_CLASS_MEMSET;
		marks[t->gpu[i].row] =
		        in[t->gpu[i].row] && (is_kernel || (m->options->npu_copies && is_copy));
	}
	return marks;
}

enum ht_status ht_match_rows(struct ht_match *m, const bool *in)
{
	bool is_npu = m->t->meta_->dialect == HT_DIALECT_ASCEND;
	m->monitor = mark_rows(m, in, m->options->monitor);
	m->launch = mark_rows(m, in,
	        is_npu && m->options->npu_launch ? m->options->npu_launch : m->options->launch);
	m->device = is_npu && m->options->npu_kernels ? mark_npu_work(m, in)
	                                              : mark_rows(m, in, m->options->device);
	return m->monitor && m->launch && m->device ? HT_OK : ht_fail_nomem(m->run->ctx);
}

/* ---- work and its owner ---- */

/* A row with an id: correlation of a launch, or External id of an operator. */
struct keyed {
	int64_t key, ts;
	uint32_t row;
};

static int compare_keyed(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

struct keys {
	struct keyed *list; /* by key, then start */
	size_t n;
};

/* The marked rows that have the argument; 0 and -1 are no ids. */
static enum ht_status list_keys(
        struct ht_match *m, const bool *marks, const char *arg, struct keys *ret_keys)
{
	const struct ht_trace *t = m->t;
	struct ht_arg_cursor cursor = ht_arg_cursor(t, arg);
	struct keys keys = { 0 };
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += marks[row];
	keys.list = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *keys.list);
	if (!keys.list)
		return ht_fail_nomem(m->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!marks[row])
			continue;
		int64_t key = ht_arg_cursor_i64(&cursor, row, 0);
		if (key != 0 && key != -1)
			keys.list[keys.n++] = (struct keyed){ key, t->ts_ns[row], row };
	}
	ht_sort_items(m->run->ctx->mem, keys.list, keys.n, sizeof *keys.list, compare_keyed);
	*ret_keys = keys;
	return HT_OK;
}

/* The first of a key; n when there is none. */
static size_t find_key(const struct keys *keys, int64_t key)
{
	size_t i = HT_LOWER_BOUND(at, keys->n, keys->list[at].key < key);
	return i < keys->n && keys->list[i].key == key ? i : keys->n;
}

static enum ht_status list_works(struct ht_match *m)
{
	const struct ht_trace *t = m->t;
	uint64_t *keys;
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += m->device[row];
	m->works = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *m->works);
	m->owner = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *m->owner);
	keys = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *keys);
	if (!m->works || !m->owner || !keys)
		return ht_fail_nomem(m->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!m->device[row])
			continue;
		keys[m->n_works] = ht_sort_key_i64(t->ts_ns[row]);
		m->owner[m->n_works] = HT_NONE;
		m->works[m->n_works++] = row;
	}
	if (!ht_sort_keys(m->run->ctx->mem, keys, m->works, m->n_works))
		return ht_fail_nomem(m->run->ctx);
	return HT_OK;
}

/* from[row]: the launch that a flow leads from to this device row; NULL when there is no flow at all. */
static enum ht_status list_flows(struct ht_match *m, uint32_t **ret_from)
{
	const struct ht_trace *t = m->t;
	uint32_t *from = NULL;
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		if (flow->from == HT_NONE || flow->to == HT_NONE || !m->launch[flow->from] ||
		        !m->device[flow->to])
			continue;
		if (!from) {
			from = ht_arena_alloc(
			        m->run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *from);
			if (!from)
				return ht_fail_nomem(m->run->ctx);
			memset(from, 0xff, (ht_n_events(t) + (size_t)1) * sizeof *from);
		}
		if (from[flow->to] == HT_NONE)
			from[flow->to] = flow->from;
	}
	*ret_from = from;
	return HT_OK;
}

/* By correlation: of several launches the one that the flow of the work starts at, else the first. */
static bool own_by_correlation(struct ht_match *m, const struct keys *launches,
        const uint32_t *flow_from, size_t i, struct ht_forest *f)
{
	uint32_t row = m->works[i];
	int64_t key = ht_arg_i64(m->t, "correlation", row, 0);
	size_t k = key == 0 || key == -1 ? launches->n : find_key(launches, key);
	if (k == launches->n)
		return false;
	m->owner[i] = launches->list[k].row;
	bool shared = k + 1 < launches->n && launches->list[k + 1].key == key;
	uint32_t from = flow_from ? flow_from[row] : HT_NONE;
	if (shared && from != HT_NONE && ht_arg_i64(m->t, "correlation", from, 0) == key)
		m->owner[i] = from;
	f->n_shared_correlations += shared;
	f->n_by_correlation++;
	return true;
}

/* By flow; last, for work that has no correlation at all, as the store found it by another id. */
static bool own_by_link(
        struct ht_match *m, const uint32_t *flow_from, size_t i, struct ht_forest *f)
{
	uint32_t row = m->works[i];
	uint32_t owner = flow_from ? flow_from[row] : HT_NONE;
	if (owner == HT_NONE) {
		bool has_id = ht_arg_i64(m->t, "correlation", row, HT_NO_I64) != HT_NO_I64;
		const struct ht_gpu *gpu = has_id ? NULL : ht_gpu_of_row(m->t, row);
		owner = gpu ? gpu->launch : HT_NONE;
		if (owner == HT_NONE || !m->launch[owner])
			return false;
	}
	m->owner[i] = owner;
	f->n_by_flow++;
	return true;
}

/* By the operator that the exporter's flow starts at, where no launch is known: it is credited itself. */
static void own_by_op(struct ht_match *m, size_t i, struct ht_forest *f)
{
	const struct ht_gpu *gpu = ht_gpu_of_row(m->t, m->works[i]);
	if (m->t->meta_->dialect != HT_DIALECT_ASCEND || !gpu || gpu->op == HT_NONE ||
	        m->launch[gpu->op])
		return;
	m->owner[i] = gpu->op;
	f->n_by_op++;
}

static enum ht_status own_by_external(struct ht_match *m, struct ht_forest *f)
{
	struct keys ops = { 0 };
	HT_TRY(list_keys(m, m->monitor, "External id", &ops));
	for (size_t i = 0; i < m->n_works; i++) {
		int64_t key = ht_arg_i64(m->t, "External id", m->works[i], 0);
		size_t k = key == 0 || key == -1 ? ops.n : find_key(&ops, key);
		if (k == ops.n || m->t->kind[ops.list[k].row] != HT_KIND_CPU_OP)
			continue;
		m->owner[i] = ops.list[k].row;
		f->n_by_external++;
	}
	return HT_OK;
}

static enum ht_status find_owners(struct ht_match *m, struct ht_forest *f)
{
	struct keys launches = { 0 };
	uint32_t *flow_from = NULL;
	HT_TRY(list_works(m));
	HT_TRY(list_keys(m, m->launch, "correlation", &launches));
	HT_TRY(list_flows(m, &flow_from));
	for (size_t i = 0; i < m->n_works; i++)
		if (!own_by_correlation(m, &launches, flow_from, i, f) &&
		        !own_by_link(m, flow_from, i, f))
			own_by_op(m, i, f);
	if (!launches.n && !flow_from && !f->n_by_flow && !f->n_by_op)
		return own_by_external(m, f);
	return HT_OK;
}

/* ---- launches ---- */

static int compare_launch(const struct ht_trace *t, bool by_track, uint32_t a, uint32_t b)
{
	if (by_track && t->track[a] != t->track[b])
		return t->track[a] < t->track[b] ? -1 : 1;
	if (t->ts_ns[a] != t->ts_ns[b])
		return t->ts_ns[a] < t->ts_ns[b] ? -1 : 1;
	if (t->dur_ns[a] != t->dur_ns[b])
		return t->dur_ns[a] > t->dur_ns[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* A launch, or an operator that device work is credited to, while they are sorted. */
struct entry {
	const struct ht_trace *t;
	uint32_t row;
	uint32_t op;    /* that it was queued by, on another thread; HT_NONE: it is on its own */
	uint32_t place; /* the row where it counts: itself, or that operator */
	bool is_op, is_nested, by_track;
};

static int compare_entry(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return compare_launch(a->t, a->by_track, a->place, b->place);
}

/* NPUs have their calls from a thread of their own, which empties a queue that operators fill: such a launch, of a thread
 * that has no monitored event, counts where the operator is whose flow leads to the first of its work. */
static enum ht_status find_queued(struct ht_match *m, struct entry *entries, size_t n)
{
	const struct ht_trace *t = m->t;
	bool *is_own = ht_arena_alloc(m->run->scratch, t->n_tracks + 1);
	uint32_t *op = ht_arena_alloc(m->run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *op);
	if (!is_own || !op)
		return ht_fail_nomem(m->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		is_own[t->track[row]] |= m->monitor[row];
	memset(op, 0xff, (ht_n_events(t) + (size_t)1) * sizeof *op);
	for (size_t i = m->n_works; i--;) {
		const struct ht_gpu *gpu = ht_gpu_of_row(t, m->works[i]);
		if (m->owner[i] != HT_NONE && gpu && gpu->op != HT_NONE)
			op[m->owner[i]] = gpu->op;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t row = entries[i].row;
		if (!is_own[t->track[row]] && op[row] != HT_NONE)
			entries[i].op = op[row];
	}
	return HT_OK;
}

/* A launch inside another one of its thread; one that counts elsewhere than the other stands for itself. */
static void mark_nested(struct entry *entries, size_t n)
{
	int64_t ends[2] = { INT64_MIN, INT64_MIN };
	for (size_t i = 0; i < n; i++) {
		const struct ht_trace *t = entries[i].t;
		uint32_t row = entries[i].row;
		int64_t *end = &ends[entries[i].op != HT_NONE];
		if (i && t->track[entries[i - 1].row] != t->track[row])
			ends[0] = ends[1] = INT64_MIN;
		entries[i].is_nested = *end >= ht_end_ns(t, row);
		if (ht_end_ns(t, row) > *end)
			*end = ht_end_ns(t, row);
	}
}

/* Is it a launch to be listed? Of the many calls to an NPU only those that started something are. */
static bool is_launch(const struct ht_match *m, const bool *owns, uint32_t row)
{
	return m->launch[row] && (owns[row] || m->t->meta_->dialect != HT_DIALECT_ASCEND);
}

/* Is it an operator that owns work itself? With External ids also one that is a launch. */
static bool is_credited(
        const struct ht_match *m, const struct ht_forest *f, const bool *owns, uint32_t row)
{
	return owns[row] && (f->n_by_external || !m->launch[row]);
}

/* Every launch, and the operators that own work. */
static enum ht_status list_entries(
        struct ht_match *m, struct ht_forest *f, struct entry **ret_entries, size_t *ret_n)
{
	const struct ht_trace *t = m->t;
	bool *owns = ht_arena_alloc(m->run->scratch, ht_n_events(t) + (size_t)1);
	size_t n = 0;
	if (!owns)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < m->n_works; i++)
		if (m->owner[i] != HT_NONE)
			owns[m->owner[i]] = true;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += (size_t)is_launch(m, owns, row) + is_credited(m, f, owns, row);
	struct entry *entries = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *entries);
	if (!entries)
		return ht_fail_nomem(m->run->ctx);
	n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (is_launch(m, owns, row))
			entries[n++] = (struct entry){ t, row, HT_NONE, row, false, false, true };
	}
	ht_sort_items(m->run->ctx->mem, entries, n, sizeof *entries, compare_entry);
	if (t->meta_->dialect == HT_DIALECT_ASCEND)
		HT_TRY(find_queued(m, entries, n));
	mark_nested(entries, n);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (is_credited(m, f, owns, row))
			entries[n++] = (struct entry){ t, row, HT_NONE, row, true, false, true };
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].by_track = !f->any_thread;
		if (entries[i].op != HT_NONE)
			entries[i].place = entries[i].op;
	}
	ht_sort_items(m->run->ctx->mem, entries, n, sizeof *entries, compare_entry);
	*ret_entries = entries;
	*ret_n = n;
	return HT_OK;
}

/* Give each launch its slice of work, by start. at[row] is the launch of an owner. */
static enum ht_status hand_out(struct ht_match *m, const uint32_t *at, struct ht_forest *f)
{
	uint32_t n = 0;
	f->works = ht_arena_alloc(m->run->scratch, (m->n_works + 1) * sizeof *f->works);
	if (!f->works)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < m->n_works; i++)
		if (m->owner[i] != HT_NONE)
			f->launches[at[m->owner[i]]].n_works++;
	for (size_t i = 0; i < f->n_launches; i++) {
		f->launches[i].first = n;
		n += f->launches[i].n_works;
		f->launches[i].n_works = 0;
	}
	for (size_t i = 0; i < m->n_works; i++) {
		if (m->owner[i] == HT_NONE)
			continue;
		struct ht_forest_launch *launch = &f->launches[at[m->owner[i]]];
		f->works[launch->first + launch->n_works++] = m->works[i];
		ht_sum(&launch->device_ns, m->t->dur_ns[m->works[i]]);
	}
	return HT_OK;
}

enum ht_status ht_match_launches(struct ht_match *m, struct ht_forest *f)
{
	const struct ht_trace *t = m->t;
	struct entry *entries = NULL;
	size_t n = 0;
	HT_TRY(find_owners(m, f));
	HT_TRY(list_entries(m, f, &entries, &n));
	uint32_t *at = ht_arena_alloc(m->run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *at);
	struct ht_forest_slice *slices =
	        ht_arena_alloc(m->run->scratch, (t->n_tracks + 1) * sizeof *slices);
	f->launches = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *f->launches);
	if (!at || !slices || !f->launches)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = entries[i].row, place = entries[i].place;
		struct ht_forest_slice *slice = &slices[f->any_thread ? 0 : t->track[place]];
		if (!slice->n++)
			slice->first = i;
		/* work by External id is an operator's own, also where that is a launch */
		if (entries[i].is_op || !f->n_by_external)
			at[row] = (uint32_t)i;
		f->launches[i] = (struct ht_forest_launch){
			.row = entries[i].is_op ? HT_NONE : row,
			.start = t->ts_ns[place],
			.end = ht_end_ns(t, place),
			.own_ns = entries[i].is_op || entries[i].is_nested ? 0 : t->dur_ns[row],
		};
	}
	f->n_launches = n;
	f->slices = slices;
	return hand_out(m, at, f);
}

/* ---- what is left ---- */

void ht_match_count_unmatched(const struct ht_match *m, const bool *taken, struct ht_forest *f)
{
	const struct ht_trace *t = m->t;
	int64_t taken_ns = 0;
	size_t n_taken = 0;
	for (size_t i = 0; i < m->n_works; i++)
		ht_sum(&f->work_ns, t->dur_ns[m->works[i]]);
	for (size_t i = 0; i < f->n_launches; i++) {
		if (!taken[i])
			continue;
		n_taken += f->launches[i].n_works;
		ht_sum(&taken_ns, f->launches[i].device_ns);
	}
	f->n_unmatched_works = m->n_works - n_taken;
	f->unmatched_work_ns = ht_sub_sat(f->work_ns, taken_ns);
	for (size_t i = 0; i < m->n_works; i++) {
		const struct ht_gpu *gpu = ht_gpu_of_row(t, m->works[i]);
		if (m->owner[i] != HT_NONE || !gpu || gpu->launch == HT_NONE ||
		        m->launch[gpu->launch])
			continue;
		ht_sum(&f->missed_ns, t->dur_ns[m->works[i]]);
		f->missed = category_of(t, gpu->launch);
	}
}
