/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_checks.c - does the trace agree with itself.
 *
 * Nothing is repaired here; each finding is a counter that `holotrace health` shows with what it weakens. Checks go by
 * ranges of rows, of GPU work or of the rows of tracks, and each thread counts for itself.
 */
#include "base/checked.h"
#include "store/args.h"
#include "store/seal.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/search.h"
#include "base/thread.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <string.h>

struct checks {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_tally *tally;   /* of all */
	struct ht_tally *tallies; /* by thread */
	struct ht_arena arena;
	/* for what one check asks of the range of another thread */
	atomic_uchar *
	        launching; /* by string id: 2 the name is of a call that launches, 1 it is not, 0 not yet known */
	atomic_uchar *has_host; /* by track: some row is of the host */
	atomic_ullong n_ends;   /* of the capture window */
	uint64_t *keys;         /* record function ids, or bits for them */
	atomic_ullong max_id;   /* the largest of them, as an unsigned number */
	uint32_t *rows;
	uint32_t name; /* what to look for */
	struct streams *streams;
};

static void add(struct checks *c, enum ht_stat_code code, uint64_t n)
{
	ht_tally_add(c->tally, code, n);
}

/* What is done with a range. */
typedef void check_fn(struct checks *c, struct ht_range range, struct ht_tally *tally);

struct by_ranges {
	struct checks *c;
	check_fn *check;
	uint64_t n;
};

static enum ht_status check_range(void *user, size_t i_range, int i_worker)
{
	const struct by_ranges *r = user;
	r->check(r->c, ht_range_at(r->c->ctx, r->n, i_range), &r->c->tallies[i_worker]);
	return HT_OK;
}

static enum ht_status by_ranges(struct checks *c, uint64_t n, check_fn *check)
{
	struct by_ranges r = { c, check, n };
	return ht_parallel(c->ctx, ht_n_ranges(c->ctx, n), check_range, &r);
}

static enum ht_status by_rows(struct checks *c, check_fn *check)
{
	return by_ranges(c, ht_n_events(c->t), check);
}

/* The place of a row in a column; rows that are asked for one after the other are mostly near each other: hint is where
 * the last one was. False when it has none. */
static bool find_near(
        const struct ht_trace *t, const struct ht_arg_column *column, uint32_t row, size_t *hint)
{
	*hint = HT_LOWER_BOUND_NEAR(at, column->n, *hint, ht_arg_row(t, column, at) < row);
	return *hint < column->n && ht_arg_row(t, column, *hint) == row;
}

/* 1, 8, 9: GPU work against its launch and operator. */
static void check_launches(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *external = ht_arg_find(t, "External id", HT_ARG_I64);
	struct ht_arg_cursor cursor = ht_arg_cursor_of(t, external); /* GPU rows ascend */
	size_t hint = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (gpu->launch == HT_NONE) {
			ht_tally_add(tally, HT_STAT_gpu_without_launch, 1);
			continue;
		}
		ht_tally_add(tally, HT_STAT_kernel_before_launch,
		        t->ts_ns[gpu->row] < t->ts_ns[gpu->launch]);
		/* on Ascend a queue stands between operator and launch, on another thread */
		if (!external || t->meta_->dialect == HT_DIALECT_ASCEND)
			continue;
		int64_t own = ht_arg_cursor_i64(&cursor, gpu->row, HT_NO_I64);
		if (own == HT_NO_I64)
			continue;
		bool differs = find_near(t, external, gpu->launch, &hint) &&
		               ht_arg_i64_at(t, external, hint) != own;
		bool outside = gpu->op != HT_NONE &&
		               (t->track[gpu->op] != t->track[gpu->launch] ||
		                       t->ts_ns[gpu->op] > t->ts_ns[gpu->launch] ||
		                       ht_end_ns(t, gpu->op) < ht_end_ns(t, gpu->launch));
		ht_tally_add(tally, HT_STAT_external_id_mismatch, differs || outside);
	}
}

static bool launches_work(const char *name)
{
	static const char *const parts[] = { "LaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
		"GraphLaunch", "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream" };
	for (size_t i = 0; i < HT_COUNT(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static bool is_launching(struct checks *c, uint32_t name)
{
	atomic_uchar *memo = &c->launching[name];
	unsigned char known = atomic_load_explicit(memo, memory_order_relaxed);
	if (!known) {
		known = launches_work(ht_str(c->t, name)) ? 2 : 1;
		atomic_store_explicit(memo, known, memory_order_relaxed);
	}
	return known == 2;
}

/* Launches whose work is not in the file. */
static void check_lost_work(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	size_t next = ht_lower_bound_u32(t->launch_rows, t->n_launch_rows, range.first);
	uint64_t n = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		bool call = ht_kind_is_call(t->kind[row]);
		if (!call || t->name[row] == HT_NO_STR)
			continue;
		while (next < t->n_launch_rows && t->launch_rows[next] < row)
			next++;
		bool known = next < t->n_launch_rows && t->launch_rows[next] == row;
		n += !known && is_launching(c, t->name[row]);
	}
	ht_tally_add(tally, HT_STAT_launch_without_gpu, n);
}

static enum ht_status check_lost(struct checks *c)
{
	c->launching = ht_arena_alloc(&c->arena, c->t->n_string_offsets);
	if (!c->launching)
		return ht_fail_nomem(c->ctx);
	return c->t->n_gpu ? by_rows(c, check_lost_work) : HT_OK;
}

/* Tracks of devices by (pid, stream), for waits that name a stream. */
struct streams {
	uint64_t *keys; /* hashes, ascending */
	uint32_t *tracks;
	size_t n;
};

static uint64_t stream_key(int64_t pid, int64_t stream)
{
	return ht_hash_mix((uint64_t)pid, (uint64_t)stream);
}

static enum ht_status index_streams(struct checks *c, struct streams *ret)
{
	const struct ht_trace *t = c->t;
	struct streams s = { .keys = ht_arena_alloc(&c->arena, (t->n_tracks + 1) * sizeof *s.keys),
		.tracks = ht_arena_alloc(&c->arena, (t->n_tracks + 1) * sizeof *s.tracks) };
	if (!s.keys || !s.tracks)
		return ht_fail_nomem(c->ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++)
		if (t->tracks[k].n && t->tracks[k].device >= 0) {
			s.keys[s.n] = stream_key(t->tracks[k].pid, t->tracks[k].tid);
			s.tracks[s.n++] = k;
		}
	if (!ht_sort_keys(c->ctx->mem, s.keys, s.tracks, s.n))
		return ht_fail_nomem(c->ctx);
	*ret = s;
	return HT_OK;
}

/* First of the ascending keys that is not below. */
static size_t first_from(const uint64_t *keys, size_t n, uint64_t key)
{
	return HT_LOWER_BOUND(at, n, keys[at] < key);
}

/* Does the last work of a track that starts before a wait run on after it? */
static bool runs_on(const struct ht_trace *t, const struct ht_track *track, uint32_t wait)
{
	const uint32_t *rows = t->track_rows + track->first;
	size_t low = HT_LOWER_BOUND(at, track->n, t->ts_ns[rows[at]] < t->ts_ns[wait]);
	return low && ht_kind_is_gpu_work(t->kind[rows[low - 1]]) &&
	       ht_end_ns(t, rows[low - 1]) > ht_end_ns(t, wait);
}

static void check_waits(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	const struct streams *streams = c->streams;
	struct ht_arg_cursor cursor = ht_arg_cursor(t, "stream");
	for (uint32_t row = range.first; row < range.end; row++) {
		if (t->name[row] != c->name || t->kind[row] != HT_KIND_SYNC)
			continue;
		int64_t stream = ht_arg_cursor_i64(&cursor, row, -1),
		        pid = t->tracks[t->track[row]].pid;
		uint64_t key = stream_key(pid, stream);
		for (size_t i = first_from(streams->keys, streams->n, key);
		        i < streams->n && streams->keys[i] == key; i++) {
			const struct ht_track *track = &t->tracks[streams->tracks[i]];
			ht_tally_add(tally, HT_STAT_kernel_during_stream_sync,
			        track->pid == pid && track->tid == stream &&
			                runs_on(t, track, row));
		}
	}
}

/* 2, 3: waits refer to records; a stream that was waited for is done when the wait ends. */
static enum ht_status check_syncs(struct checks *c)
{
	const struct ht_trace *t = c->t;
	struct streams streams = { 0 };
	const struct ht_arg_column *column =
	        ht_arg_find(t, "wait_on_cuda_event_record_corr_id", HT_ARG_I64);
	for (uint64_t i = 0; column && i < column->n; i++)
		add(c, HT_STAT_sync_record_missing, ht_arg_i64_at(t, column, i) < 0);
	c->name = ht_str_find(t, "Stream Sync");
	if (c->name == HT_NO_STR)
		return HT_OK;
	HT_TRY(index_streams(c, &streams));
	c->streams = &streams;
	return by_rows(c, check_waits);
}

/* 4: collectives have their five core fields. */
static void check_collectives(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	static const char *const core[] = { "Collective name", "dtype", "In msg nelems",
		"Out msg nelems", "Group size" };
	const struct ht_trace *t = c->t;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (t->name[row] != c->name)
			continue;
		bool all = true;
		for (size_t k = 0; all && k < HT_COUNT(core); k++)
			all = ht_arg_str(t, core[k], row) ||
			      ht_arg_i64(t, core[k], row, HT_NO_I64) != HT_NO_I64;
		ht_tally_add(tally, HT_STAT_collective_args_missing, !all);
	}
}

static const struct ht_arg_column *sequence_numbers(const struct ht_trace *t)
{
	return ht_arg_find(t, "Sequence number", HT_ARG_I64);
}

static size_t pick_backward(const void *user, struct ht_range range, uint32_t *to)
{
	static const char prefix[] = "autograd::engine::evaluate_function";
	const struct ht_trace *t = user;
	const struct ht_arg_column *column = sequence_numbers(t);
	size_t n = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint32_t row = ht_arg_row(t, column, i);
		if (t->kind[row] != HT_KIND_CPU_OP ||
		        strncmp(ht_str(t, t->name[row]), prefix, sizeof prefix - 1))
			continue;
		if (to)
			to[n] = i;
		n++;
	}
	return n;
}

/* 5: one sequence number, one backward operator: rows with a forward thread other than 0 are backward. */
static enum ht_status check_sequences(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *column = sequence_numbers(t);
	uint32_t *rows;
	size_t n;
	if (!column)
		return HT_OK;
	HT_TRY(ht_pick(c->ctx, (uint32_t)column->n, pick_backward, t, &c->arena, &rows, &n));
	uint64_t *keys = ht_arena_alloc(&c->arena, (n + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(c->ctx);
	for (size_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(ht_arg_i64_at(t, column, rows[i]));
		rows[i] = ht_arg_row(t, column, rows[i]);
	}
	HT_TRY(ht_sort_keys_shared(c->ctx, keys, rows, n));
	for (size_t i = 1; i < n; i++)
		add(c, HT_STAT_sequence_many_backward,
		        keys[i] == keys[i - 1] && t->name[rows[i]] != t->name[rows[i - 1]] &&
		                keys[i] != ht_sort_key_i64(-1));
	return HT_OK;
}

/* 10: the capture window. */
static void check_window(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	uint64_t n = 0, late = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		n += t->name[row] == c->name;
		late += ht_is_span(t, row) && t->kind[row] != HT_KIND_TRACE_SPAN &&
		        ht_end_ns(t, row) > t->meta_->window_end_ns;
	}
	atomic_fetch_add(&c->n_ends, n);
	ht_tally_add(tally, HT_STAT_window_end_oddity, late);
}

/* A value of a row in a column whose rows are mostly those of another: try its position first. */
static int64_t beside(const struct ht_trace *t, const struct ht_arg_column *column, uint64_t hint,
        uint32_t row, int64_t fallback)
{
	if (!column)
		return fallback;
	uint64_t at = hint < column->n && ht_arg_row(t, column, hint) == row
	                      ? hint
	                      : ht_arg_position(t, column, row);
	return at == UINT64_MAX ? fallback : ht_arg_i64_at(t, column, at);
}

/* 11: Total Allocated follows the sum of Bytes, per device, in time order. One thread only: with
 * several, the order of events that are written together is not known. */
static enum ht_status check_memory(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *bytes = ht_arg_find(t, "Bytes", HT_ARG_I64);
	const struct ht_arg_column *id = ht_arg_find(t, "Device Id", HT_ARG_I64);
	const struct ht_arg_column *type = ht_arg_find(t, "Device Type", HT_ARG_I64);
	const struct ht_arg_column *total = ht_arg_find(t, "Total Allocated", HT_ARG_I64);
	const struct ht_arg_column *component = ht_arg_find(t, "Component", HT_ARG_STR);
	enum { N_DEVICES = 64 };
	struct {
		int64_t total;
		bool known;
	} device[N_DEVICES] = { 0 };
	size_t n = 0, cap = bytes ? bytes->n : 0;
	uint64_t *keys = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *keys);
	uint32_t *at = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *at);
	if (!keys || !at)
		return ht_fail_nomem(c->ctx);
	uint32_t track = HT_NONE;
	for (uint64_t i = 0; i < cap && cap < UINT32_MAX; i++) {
		uint32_t row = ht_arg_row(t, bytes, i);
		/* allocators that report apart have totals of their own */
		if (t->kind[row] != HT_KIND_MEMORY ||
		        (component && ht_arg_position(t, component, row) != UINT64_MAX))
			continue;
		if (track != HT_NONE && track != t->track[row])
			return HT_OK;
		track = t->track[row];
		keys[n] = ht_sort_key_i64(t->ts_ns[row]);
		at[n++] = (uint32_t)i;
	}
	HT_TRY(ht_sort_keys_shared(c->ctx, keys, at, n));
	for (size_t i = 0; i < n; i++) {
		uint32_t row = ht_arg_row(t, bytes, at[i]);
		int64_t slot = beside(t, id, at[i], row, 0) + 1 +
		               17 * (beside(t, type, at[i], row, 0) != 0);
		int64_t now = beside(t, total, at[i], row, HT_NO_I64), expected;
		if (slot < 0 || slot >= N_DEVICES || now == HT_NO_I64)
			continue;
		if (device[slot].known && !__builtin_add_overflow(device[slot].total,
		                                  ht_arg_i64_at(t, bytes, at[i]), &expected))
			add(c, HT_STAT_memory_total_mismatch, expected != now);
		device[slot].total = now;
		device[slot].known = true;
	}
	return HT_OK;
}

/* 12: record function ids are unique and grow with time within a thread. */
static bool has_record_id(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_CPU_OP || t->kind[row] == HT_KIND_ANNOTATION;
}

static const struct ht_arg_column *record_ids(const struct ht_trace *t)
{
	return ht_arg_find(t, "Record function id", HT_ARG_I64);
}

/* The id of an operator, 0 when it has none. */
static int64_t record_id(
        const struct ht_trace *t, const struct ht_arg_column *column, uint32_t row, size_t *hint)
{
	if (t->kind[row] != HT_KIND_CPU_OP || !find_near(t, column, row, hint))
		return 0;
	return ht_arg_i64_at(t, column, *hint);
}

/* Places in track_rows. */
static void check_growth(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *column = record_ids(t);
	uint32_t track = HT_NONE;
	size_t hint = 0;
	uint64_t n = 0;
	int64_t last = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		int64_t id = record_id(t, column, t->track_rows[i], &hint);
		if (!id)
			continue;
		if (t->track[t->track_rows[i]] != track) {
			track = t->track[t->track_rows[i]];
			last = 0;
			/* the first of the range: what comes before it in its track */
			size_t back = hint;
			uint32_t k = i;
			while (!last && k > t->tracks[track].first)
				last = record_id(t, column, t->track_rows[--k], &back);
		}
		n += id < last;
		last = id;
	}
	ht_tally_add(tally, HT_STAT_record_function_id_oddity, n);
}

/* The id of the i-th entry of the column, when it is of an operator or annotation; 0: none. */
static int64_t entry_id(const struct ht_trace *t, const struct ht_arg_column *column, uint32_t i)
{
	int64_t id = ht_arg_i64_at(t, column, i);
	return id && has_record_id(t, ht_arg_row(t, column, i)) ? id : 0;
}

static size_t pick_records(const void *user, struct ht_range range, uint32_t *to)
{
	const struct ht_trace *t = user;
	const struct ht_arg_column *column = record_ids(t);
	size_t n = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		if (!entry_id(t, column, i))
			continue;
		if (to)
			to[n] = i;
		n++;
	}
	return n;
}

/* The ids that were picked, to be sorted. */
static void list_records(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_arg_column *column = record_ids(c->t);
	(void)tally;
	for (uint32_t i = range.first; i < range.end; i++)
		c->keys[i] = ht_sort_key_i64(ht_arg_i64_at(c->t, column, c->rows[i]));
}

static void check_unique(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	uint64_t n = 0;
	for (uint32_t i = range.first + (range.first == 0); i < range.end; i++)
		n += c->keys[i] == c->keys[i - 1];
	ht_tally_add(tally, HT_STAT_record_function_id_oddity, n);
}

/* Ids anywhere: sort them. */
static enum ht_status check_scattered(struct checks *c)
{
	const struct ht_trace *t = c->t;
	size_t n;
	HT_TRY(ht_pick(
	        c->ctx, (uint32_t)record_ids(t)->n, pick_records, t, &c->arena, &c->rows, &n));
	c->keys = ht_arena_alloc(&c->arena, (n + 1) * sizeof *c->keys);
	if (!c->keys)
		return ht_fail_nomem(c->ctx);
	HT_TRY(by_ranges(c, n, list_records));
	HT_TRY(ht_sort_keys_shared(c->ctx, c->keys, c->rows, n));
	return by_ranges(c, n, check_unique);
}

static void bound_records(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_arg_column *column = record_ids(c->t);
	uint64_t max = 0;
	(void)tally;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint64_t id = (uint64_t)entry_id(c->t, column, i);
		max = id > max ? id : max;
	}
	unsigned long long known = atomic_load_explicit(&c->max_id, memory_order_relaxed);
	while (max > known && !atomic_compare_exchange_weak(&c->max_id, &known, max))
		;
}

/* A bit for each id: who finds it set has an id that another row has. */
static void check_marks(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_arg_column *column = record_ids(c->t);
	uint64_t n = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint64_t id = (uint64_t)entry_id(c->t, column, i), bit = (uint64_t)1 << id % 64;
		if (id)
			n += (__atomic_fetch_or(&c->keys[id / 64], bit, __ATOMIC_RELAXED) & bit) !=
			     0;
	}
	ht_tally_add(tally, HT_STAT_record_function_id_oddity, n);
}

/* The profiler counts from 1, so ids are mostly as many as there are rows or a few times that: bits for them are less than
 * a list to sort. */
static enum ht_status check_record_ids(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *column = record_ids(t);
	const uint64_t most_bits = 32;
	if (!column)
		return HT_OK;
	HT_TRY(by_ranges(c, column->n, bound_records));
	if (atomic_load(&c->max_id) / most_bits > column->n) {
		HT_TRY(check_scattered(c));
	} else {
		size_t n_words = (size_t)(atomic_load(&c->max_id) / 64 + 1);
		c->keys = ht_arena_alloc(&c->arena, n_words * sizeof *c->keys);
		if (!c->keys)
			return ht_fail_nomem(c->ctx);
		HT_TRY(by_ranges(c, column->n, check_marks));
	}
	return by_ranges(c, t->n_track_rows, check_growth);
}

/* Tracks that have a device's number for a process, and rows of the host. */
static void find_hosts(struct checks *c, struct ht_range range, struct ht_tally *tally)
{
	const struct ht_trace *t = c->t;
	(void)tally;
	for (uint32_t row = range.first; row < range.end; row++) {
		const struct ht_track *track = &t->tracks[t->track[row]];
		if (t->kind[row] != HT_KIND_CPU_OP && t->kind[row] != HT_KIND_PYTHON)
			continue;
		if (track->pid_type == HT_ID_INT && track->pid >= 0 && track->pid < 16 &&
		        !(t->flags[row] & HT_EV_NO_TS))
			atomic_store_explicit(&c->has_host[t->track[row]], 1, memory_order_relaxed);
	}
}

/* What the clock and the GPU part of the file are. */
static enum ht_status check_facts(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const int64_t year_2001_ns = 1000000000000000000;
	if (t->meta_->base_ns == HT_NO_I64 && t->meta_->min_ts_ns != HT_NO_I64)
		add(c,
		        t->meta_->min_ts_ns > year_2001_ns ? HT_STAT_absolute_time
		                                           : HT_STAT_relative_time,
		        1);
	if (!t->n_gpu) {
		/* a memory snapshot has no events at all, and means none */
		add(c, HT_STAT_no_gpu_events, t->n_ts_ns || !t->more->n_mem_about);
		return HT_OK;
	}
	c->has_host = ht_arena_alloc(&c->arena, t->n_tracks + 1);
	if (!c->has_host)
		return ht_fail_nomem(c->ctx);
	HT_TRY(by_rows(c, find_hosts));
	for (size_t i = 0; i < t->n_tracks; i++)
		add(c, HT_STAT_colliding_pid,
		        atomic_load_explicit(&c->has_host[i], memory_order_relaxed));
	return HT_OK;
}

static enum ht_status check_rows(struct checks *c)
{
	const struct ht_trace *t = c->t;
	c->name = ht_str_find(t, "record_param_comms");
	if (c->name != HT_NO_STR)
		HT_TRY(by_rows(c, check_collectives));
	/* the name alone may be from text that was read by a wrong guess */
	if (t->meta_->dialect != HT_DIALECT_KINETO || t->meta_->window_end_ns == HT_NO_I64)
		return HT_OK;
	c->name = ht_str_find(t, "Record Window End");
	HT_TRY(by_rows(c, check_window));
	add(c, HT_STAT_window_end_oddity, atomic_load(&c->n_ends) > 1);
	return HT_OK;
}

static enum ht_status check_series(struct checks *c)
{
	HT_TRY(check_sequences(c));
	return check_memory(c);
}

static enum ht_status check_gpu(struct checks *c)
{
	HT_TRY(check_facts(c));
	HT_TRY(by_ranges(c, c->t->n_gpu, check_launches));
	return check_syncs(c);
}

static enum ht_status run(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally,
        enum ht_status (*checks)(struct checks *c))
{
	struct checks c = { .ctx = ctx, .t = t, .tally = tally };
	size_t n_workers = (size_t)ht_ctx_jobs(ctx);
	ht_arena_init(&c.arena, ctx->mem);
	c.tallies = ht_arena_alloc(&c.arena, n_workers * sizeof *c.tallies);
	enum ht_status status = c.tallies ? checks(&c) : ht_fail_nomem(ctx);
	for (size_t w = 0; status == HT_OK && w < n_workers; w++)
		for (int code = 0; code < HT_N_STATS; code++)
			add(&c, (enum ht_stat_code)code, c.tallies[w].count[code]);
	ht_arena_done(&c.arena);
	return status;
}

enum ht_status ht_seal_row_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_rows);
}

enum ht_status ht_seal_series_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_series);
}

enum ht_status ht_seal_record_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_record_ids);
}

enum ht_status ht_seal_launch_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_lost);
}

enum ht_status ht_seal_gpu_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_gpu);
}
