/*
 * seal_checks.c - does the trace agree with itself.
 *
 * Nothing is repaired here; each finding is a counter that `holotrace health` shows with what it weakens.
 */
#include "store/seal.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/search.h"

#include <string.h>

struct checks {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_tally *tally;
	struct ht_arena arena;
};

static void add(struct checks *c, enum ht_stat_code code, uint64_t n)
{
	ht_tally_add(c->tally, code, n);
}

/* 1, 8, 9: GPU work against its launch and operator. */
static void check_launches(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *external = ht_arg_find(t, "External id", HT_ARG_I64);
	struct ht_arg_cursor cursor = ht_arg_cursor_of(t, external); /* GPU rows ascend */
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (gpu->launch == HT_NONE) {
			add(c, HT_STAT_gpu_without_launch, 1);
			continue;
		}
		add(c, HT_STAT_kernel_before_launch, t->ts_ns[gpu->row] < t->ts_ns[gpu->launch]);
		/* on Ascend a queue stands between operator and launch, on another thread */
		if (!external || t->meta_->dialect == HT_DIALECT_ASCEND)
			continue;
		int64_t own = ht_arg_cursor_i64(&cursor, gpu->row, HT_NO_I64);
		if (own == HT_NO_I64)
			continue;
		uint64_t at = ht_arg_position(t, external, gpu->launch);
		bool differs = at != UINT64_MAX && ht_arg_i64_at(t, external, at) != own;
		bool outside = gpu->op != HT_NONE &&
		               (t->track[gpu->op] != t->track[gpu->launch] ||
		                       t->ts_ns[gpu->op] > t->ts_ns[gpu->launch] ||
		                       ht_end_ns(t, gpu->op) < ht_end_ns(t, gpu->launch));
		add(c, HT_STAT_external_id_mismatch, differs || outside);
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

/* Launches whose work is not in the file. */
static enum ht_status check_lost_work(struct checks *c)
{
	const struct ht_trace *t = c->t;
	uint8_t *launching = ht_arena_alloc(&c->arena, t->n_string_offsets);
	if (!launching)
		return ht_fail_nomem(c->ctx);
	size_t next = 0;
	for (uint32_t row = 0; t->n_gpu && row < ht_n_events(t); row++) {
		while (next < t->n_launch_rows && t->launch_rows[next] < row)
			next++;
		bool known = next < t->n_launch_rows && t->launch_rows[next] == row;
		bool call = t->kind[row] == HT_KIND_RUNTIME || t->kind[row] == HT_KIND_DRIVER;
		if (known || !call || t->name[row] == HT_NO_STR)
			continue;
		uint8_t *memo = &launching[t->name[row]];
		if (!*memo)
			*memo = launches_work(ht_str(t, t->name[row])) ? 2 : 1;
		add(c, HT_STAT_launch_without_gpu, *memo == 2);
	}
	return HT_OK;
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

/* 2, 3: waits refer to records; a stream that was waited for is done when the wait ends. */
static enum ht_status check_syncs(struct checks *c)
{
	const struct ht_trace *t = c->t;
	struct streams streams = { 0 };
	const struct ht_arg_column *column =
	        ht_arg_find(t, "wait_on_cuda_event_record_corr_id", HT_ARG_I64);
	for (uint64_t i = 0; column && i < column->n; i++)
		add(c, HT_STAT_sync_record_missing, ht_arg_i64_at(t, column, i) < 0);
	uint32_t name = ht_str_find(t, "Stream Sync");
	if (name == HT_NO_STR)
		return HT_OK;
	HT_TRY(index_streams(c, &streams));
	struct ht_arg_cursor cursor = ht_arg_cursor(t, "stream");
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (t->name[row] != name || t->kind[row] != HT_KIND_SYNC)
			continue;
		int64_t stream = ht_arg_cursor_i64(&cursor, row, -1),
		        pid = t->tracks[t->track[row]].pid;
		uint64_t key = stream_key(pid, stream);
		for (size_t i = first_from(streams.keys, streams.n, key);
		        i < streams.n && streams.keys[i] == key; i++) {
			const struct ht_track *track = &t->tracks[streams.tracks[i]];
			add(c, HT_STAT_kernel_during_stream_sync,
			        track->pid == pid && track->tid == stream &&
			                runs_on(t, track, row));
		}
	}
	return HT_OK;
}

/* 4: collectives have their five core fields. */
static void check_collectives(struct checks *c)
{
	static const char *const core[] = { "Collective name", "dtype", "In msg nelems",
		"Out msg nelems", "Group size" };
	const struct ht_trace *t = c->t;
	uint32_t name = ht_str_find(t, "record_param_comms");
	for (uint32_t row = 0; name != HT_NO_STR && row < ht_n_events(t); row++) {
		if (t->name[row] != name)
			continue;
		bool all = true;
		for (size_t k = 0; all && k < HT_COUNT(core); k++)
			all = ht_arg_str(t, core[k], row) ||
			      ht_arg_i64(t, core[k], row, HT_NO_I64) != HT_NO_I64;
		add(c, HT_STAT_collective_args_missing, !all);
	}
}

/* 5: one sequence number, one backward operator: rows with a forward thread other than 0 are backward. */
static enum ht_status check_sequences(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *column = ht_arg_find(t, "Sequence number", HT_ARG_I64);
	static const char prefix[] = "autograd::engine::evaluate_function";
	size_t n = 0, cap = column ? column->n : 0;
	uint64_t *keys = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *keys);
	uint32_t *rows = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *rows);
	if (!keys || !rows)
		return ht_fail_nomem(c->ctx);
	for (uint64_t i = 0; column && i < column->n; i++) {
		uint32_t row = ht_arg_rows(t, column)[i];
		if (t->kind[row] != HT_KIND_CPU_OP ||
		        strncmp(ht_str(t, t->name[row]), prefix, sizeof prefix - 1))
			continue;
		keys[n] = ht_sort_key_i64(ht_arg_i64_at(t, column, i));
		rows[n++] = row;
	}
	if (!ht_sort_keys(c->ctx->mem, keys, rows, n))
		return ht_fail_nomem(c->ctx);
	for (size_t i = 1; i < n; i++)
		add(c, HT_STAT_sequence_many_backward,
		        keys[i] == keys[i - 1] && t->name[rows[i]] != t->name[rows[i - 1]] &&
		                keys[i] != ht_sort_key_i64(-1));
	return HT_OK;
}

/* 10: the capture window. */
static void check_window(struct checks *c)
{
	const struct ht_trace *t = c->t;
	uint32_t name = ht_str_find(t, "Record Window End");
	uint64_t n = 0, late = 0;
	/* the name alone may be from text that was read by a wrong guess */
	if (t->meta_->dialect != HT_DIALECT_KINETO || t->meta_->window_end_ns == HT_NO_I64)
		return;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		n += t->name[row] == name;
		late += ht_is_span(t, row) && t->kind[row] != HT_KIND_TRACE_SPAN &&
		        ht_end_ns(t, row) > t->meta_->window_end_ns;
	}
	add(c, HT_STAT_window_end_oddity, (n > 1) + late);
}

/* A value of a row in a column whose rows are mostly those of another: try its position first. */
static int64_t beside(const struct ht_trace *t, const struct ht_arg_column *column, uint64_t hint,
        uint32_t row, int64_t fallback)
{
	if (!column)
		return fallback;
	uint64_t at = hint < column->n && ht_arg_rows(t, column)[hint] == row
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
		uint32_t row = ht_arg_rows(t, bytes)[i];
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
	if (!ht_sort_keys(c->ctx->mem, keys, at, n))
		return ht_fail_nomem(c->ctx);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = ht_arg_rows(t, bytes)[at[i]];
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
static enum ht_status check_record_ids(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const struct ht_arg_column *column = ht_arg_find(t, "Record function id", HT_ARG_I64);
	size_t n = 0, cap = column ? column->n : 0;
	uint64_t *keys = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *keys);
	uint32_t *rows = ht_arena_alloc(&c->arena, (cap + 1) * sizeof *rows);
	int64_t *ids = NULL;
	if (!keys || !rows)
		return ht_fail_nomem(c->ctx);
	if (!cap)
		return HT_OK;
	HT_TRY(ht_arg_dense_i64(c->ctx, t, "Record function id", 0, &c->arena, &ids));
	for (uint64_t i = 0; i < cap; i++) {
		uint32_t row = ht_arg_rows(t, column)[i];
		bool host = t->kind[row] == HT_KIND_CPU_OP || t->kind[row] == HT_KIND_ANNOTATION;
		if (!host || !ids[row])
			continue;
		keys[n] = ht_sort_key_i64(ids[row]);
		rows[n++] = row;
	}
	if (!ht_sort_keys(c->ctx->mem, keys, rows, n))
		return ht_fail_nomem(c->ctx);
	for (size_t i = 1; i < n; i++)
		add(c, HT_STAT_record_function_id_oddity, keys[i] == keys[i - 1]);
	for (size_t i = 0; i < t->n_tracks; i++) {
		int64_t last = 0;
		for (uint32_t k = 0; k < t->tracks[i].n; k++) {
			uint32_t row = t->track_rows[t->tracks[i].first + k];
			if (t->kind[row] != HT_KIND_CPU_OP || !ids[row])
				continue;
			add(c, HT_STAT_record_function_id_oddity, ids[row] < last);
			last = ids[row];
		}
	}
	return HT_OK;
}

/* What the clock and the GPU part of the file are. */
static void check_facts(struct checks *c)
{
	const struct ht_trace *t = c->t;
	const int64_t year_2001_ns = 1000000000000000000;
	if (!t->n_gpu)
		add(c, HT_STAT_no_gpu_events, 1);
	if (t->meta_->base_ns == HT_NO_I64 && t->meta_->min_ts_ns != HT_NO_I64)
		add(c,
		        t->meta_->min_ts_ns > year_2001_ns ? HT_STAT_absolute_time
		                                           : HT_STAT_relative_time,
		        1);
	uint64_t colliding = 0;
	for (size_t i = 0; i < t->n_tracks; i++) {
		const struct ht_track *track = &t->tracks[i];
		bool host = false;
		for (uint32_t k = 0; track->pid_type == HT_ID_INT && track->pid >= 0 &&
		                     track->pid < 16 && k < track->n;
		        k++) {
			uint8_t kind = t->kind[t->track_rows[track->first + k]];
			host |= kind == HT_KIND_CPU_OP || kind == HT_KIND_PYTHON;
		}
		colliding += host && track->pid_type == HT_ID_INT && t->n_gpu;
	}
	add(c, HT_STAT_colliding_pid, colliding);
}

static enum ht_status check_rows(struct checks *c)
{
	check_collectives(c);
	check_window(c);
	return HT_OK;
}

static enum ht_status check_series(struct checks *c)
{
	HT_TRY(check_sequences(c));
	return check_memory(c);
}

static enum ht_status check_gpu(struct checks *c)
{
	check_facts(c);
	check_launches(c);
	return check_syncs(c);
}

static enum ht_status run(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally,
        enum ht_status (*checks)(struct checks *c))
{
	struct checks c = { .ctx = ctx, .t = t, .tally = tally };
	ht_arena_init(&c.arena, ctx->mem);
	enum ht_status status = checks(&c);
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
	return run(ctx, t, tally, check_lost_work);
}

enum ht_status ht_seal_gpu_checks(ht_ctx *ctx, const struct ht_trace *t, struct ht_tally *tally)
{
	return run(ctx, t, tally, check_gpu);
}
