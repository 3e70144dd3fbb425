/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_step_facts.c - see seal_step_facts.h.
 *
 * Traces whose launches all have their activity are by far the most: one walk over the calls tells. Only where some are
 * missing it is looked at which calls those are, and what happened around them.
 */
#include "store/seal_step_facts.h"

#include "base/search.h"
#include "base/sort.h"
#include "store/earlier_work.h"
#include "store/seal.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

struct facts {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_step *steps; /* the section */
	struct ht_arena *arena;
	uint8_t *launching;    /* by string id: some call of that name has an activity */
	struct ht_vec missing; /* uint32_t: rows of launches without one, in steps */
};

/* ---- activities ---- */

static void add_activities(struct facts *f)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; i < t->n_steps; i++)
		f->steps[i].begin_ns = f->steps[i].ts_ns, f->steps[i].done_ns = f->steps[i].end_ns;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row, step = ht_step_of(t, row);
		if (step == HT_NONE || !ht_is_span(t, row))
			continue;
		f->steps[step].n_work++;
		if (ht_end_ns(t, row) > f->steps[step].done_ns)
			f->steps[step].done_ns = ht_end_ns(t, row);
	}
}

/* ---- launches without activity ---- */

static bool find_launching(struct facts *f)
{
	const struct ht_trace *t = f->t;
	f->launching = ht_arena_alloc(f->arena, t->n_string_offsets + 1);
	for (size_t i = 0; f->launching && i < t->n_launch_rows; i++)
		if (t->name[t->launch_rows[i]] != HT_NO_STR)
			f->launching[t->name[t->launch_rows[i]]] = 1;
	return f->launching != NULL;
}

static bool is_call_of_step(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_call(t->kind[row]) && t->name[row] != HT_NO_STR &&
	       ht_step_of(t, row) != HT_NONE;
}

static bool list_missing(struct facts *f)
{
	const struct ht_trace *t = f->t;
	bool ok = true;
	size_t next = 0;
	for (uint32_t row = 0; ok && row < ht_n_events(t); row++) {
		while (next < t->n_launch_rows && t->launch_rows[next] < row)
			next++;
		bool has = next < t->n_launch_rows && t->launch_rows[next] == row;
		if (!has && is_call_of_step(t, row) && f->launching[t->name[row]])
			ok = HT_VEC_PUSH(f->ctx->mem, &f->missing, uint32_t, row);
	}
	return ok;
}

/* When a graph is captured, in any thread: the times at which that changes. */
struct change {
	int64_t ts_ns;
	int by;
};

static int by_time(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	int order = ht_order_i64(a->ts_ns, b->ts_ns);
	return order ? order : b->by - a->by;
}

static bool list_captures(struct facts *f, struct ht_vec *changes)
{
	const struct ht_trace *t = f->t;
	int8_t *by = ht_arena_alloc(f->arena, t->n_string_offsets + 1);
	size_t n_strings = t->n_string_offsets ? t->n_string_offsets - 1 : 0;
	bool ok = by != NULL, any = false;
	for (uint32_t id = 0; ok && id < n_strings; id++) {
		const char *name = ht_str(t, id);
		by[id] = strstr(name, "StreamBeginCapture") ? 1
		         : strstr(name, "StreamEndCapture") ? -1
		                                            : 0;
		any |= by[id] != 0;
	}
	for (uint32_t row = 0; ok && any && row < ht_n_events(t); row++) {
		if (!ht_kind_is_call(t->kind[row]) || t->name[row] == HT_NO_STR ||
		        !by[t->name[row]])
			continue;
		struct change change = { t->ts_ns[row], by[t->name[row]] };
		ok = HT_VEC_PUSH(f->ctx->mem, changes, struct change, change);
	}
	if (ok && changes->n)
		qsort(changes->data, changes->n, sizeof(struct change), by_time);
	return ok;
}

/* Launches while a graph is captured are no loss. */
static void excuse_captured(struct facts *f, const struct ht_vec *changes)
{
	const struct change *list = changes->data;
	uint32_t *rows = f->missing.data;
	size_t n = 0;
	for (size_t i = 1; i < changes->n; i++)
		((struct change *)changes->data)[i].by += list[i - 1].by;
	for (size_t i = 0; i < f->missing.n; i++) {
		int64_t ts = f->t->ts_ns[rows[i]];
		size_t k = HT_LOWER_BOUND(at, changes->n, list[at].ts_ns <= ts);
		if (!k || list[k - 1].by <= 0)
			rows[n++] = rows[i];
	}
	f->missing.n = n;
}

/* Of each call, in how many steps it is: name and step, each pair once. */
static bool count_steps(struct facts *f, bool only_missing, uint32_t *n_steps)
{
	const struct ht_trace *t = f->t;
	struct ht_vec pairs = { 0 };
	const uint32_t *rows = f->missing.data;
	size_t n = only_missing ? f->missing.n : ht_n_events(t);
	bool ok = true;
	uint64_t last = UINT64_MAX;
	for (size_t i = 0; ok && i < n; i++) {
		uint32_t row = only_missing ? rows[i] : (uint32_t)i;
		if (!is_call_of_step(t, row) || !f->launching[t->name[row]])
			continue;
		uint64_t pair = (uint64_t)t->name[row] << 32 | ht_step_of(t, row);
		if (pair != last)
			ok = HT_VEC_PUSH(f->ctx->mem, &pairs, uint64_t, pair);
		last = pair;
	}
	uint64_t *keys = pairs.data;
	if (ok && pairs.n)
		qsort(keys, pairs.n, sizeof *keys, ht_compare_i64);
	for (size_t i = 0; ok && i < pairs.n; i++)
		if (!i || keys[i] != keys[i - 1])
			n_steps[keys[i] >> 32]++;
	ht_vec_free(f->ctx->mem, &pairs, sizeof(uint64_t));
	return ok;
}

/* A call of which some launches lack their activity in every step tells nothing. */
static bool add_missing(struct facts *f)
{
	const struct ht_trace *t = f->t;
	size_t n_names = t->n_string_offsets + 1;
	uint32_t *n_all = ht_arena_alloc(f->arena, n_names * sizeof *n_all);
	uint32_t *n_lacking = ht_arena_alloc(f->arena, n_names * sizeof *n_lacking);
	const uint32_t *rows = f->missing.data;
	if (!n_all || !n_lacking || !count_steps(f, false, n_all) ||
	        !count_steps(f, true, n_lacking))
		return false;
	for (size_t i = 0; i < f->missing.n; i++) {
		uint32_t name = t->name[rows[i]];
		f->steps[ht_step_of(t, rows[i])].n_missing += n_lacking[name] < n_all[name];
	}
	return true;
}

static enum ht_status find_missing(struct facts *f)
{
	struct ht_vec changes = { 0 };
	bool ok = find_launching(f) && list_missing(f);
	if (ok && f->missing.n) {
		ok = list_captures(f, &changes);
		if (ok)
			excuse_captured(f, &changes);
		ok = ok && add_missing(f);
	}
	ht_vec_free(f->ctx->mem, &changes, sizeof(struct change));
	ht_vec_free(f->ctx->mem, &f->missing, sizeof(uint32_t));
	return ok ? HT_OK : ht_fail_nomem(f->ctx);
}

/* ---- threads ---- */

static uint64_t n_work_of(const struct facts *f, const struct ht_step_threads *threads, size_t k)
{
	const struct ht_step_thread *thread = &threads->list[k];
	uint64_t n = 0;
	for (size_t i = 0; i < thread->n; i++)
		n += f->steps[threads->steps[thread->first + i]].n_work;
	return n;
}

/* Of a thread: n_work is what all its steps have. */
static void judge(struct facts *f, const struct ht_step_threads *threads, size_t k, uint64_t n_work)
{
	const struct ht_step_thread *thread = &threads->list[k];
	int64_t before = INT64_MIN;
	for (size_t i = 0; i < thread->n; i++) {
		struct ht_step *step = &f->steps[threads->steps[thread->first + i]];
		step->done_ns = step->done_ns < before ? before : step->done_ns;
		before = step->done_ns;
		bool has_its_work = step->n_work || !n_work;
		step->is_complete =
		        f->t->n_steps == 1 || step->is_named || (!step->n_missing && has_its_work);
	}
}

/* What the device does for calls of before is none of its time. */
static void begin_first(struct facts *f, uint32_t i_step)
{
	struct ht_step *step = &f->steps[i_step];
	int64_t begin_ns = ht_earlier_end(f->t, i_step, step->ts_ns);
	step->begin_ns = begin_ns < step->done_ns ? begin_ns : step->done_ns;
}

enum ht_status ht_seal_step_facts(ht_ctx *ctx, struct ht_trace *t,
        const struct ht_step_threads *threads, struct ht_arena *arena)
{
	struct facts f = {
		.ctx = ctx, .t = t, .steps = HT_MUTABLE(struct ht_step, t->steps), .arena = arena
	};
	size_t main_thread = 0;
	uint64_t most = 0;
	add_activities(&f);
	HT_TRY(find_missing(&f));
	for (size_t k = 0; k < threads->n; k++) {
		uint64_t n_work = n_work_of(&f, threads, k);
		judge(&f, threads, k, n_work);
		bool more = n_work != most ? n_work > most
		                           : threads->list[k].n > threads->list[main_thread].n;
		if (!k || more) {
			main_thread = k;
			most = n_work;
		}
	}
	const struct ht_step_thread *first = &threads->list[main_thread];
	for (size_t i = 0; i < first->n; i++)
		f.steps[threads->steps[first->first + i]].is_main = 1;
	if (first->n && t->meta_->has_host_steps)
		begin_first(&f, threads->steps[first->first]);
	return HT_OK;
}
