/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_kinds.c - what each event is: category first, then phase, then the dialect's process names.
 */
#include "base/checked.h"
#include "store/args.h"
#include "store/seal.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "base/thread.h"
#include "store/trace_meta.h"

#include <string.h>

static bool category_kind(const char *name, enum ht_kind *ret_kind)
{
	static const struct {
		const char *name;
		enum ht_kind kind;
	} known[] = {
#define CATEGORY(text, kind) { text, HT_KIND_##kind },
#include "store/kinds.def"
#undef CATEGORY
	};
	for (size_t i = 0; i < HT_COUNT(known); i++)
		if (!strcmp(name, known[i].name)) {
			*ret_kind = known[i].kind;
			return true;
		}
	if (ht_text_ends(name, "_runtime"))
		*ret_kind = HT_KIND_RUNTIME;
	else if (ht_text_ends(name, "_driver"))
		*ret_kind = HT_KIND_DRIVER;
	else
		return false;
	return true;
}

/* Phases that decide alone; false for those where the category does. */
static bool phase_kind(char ph, enum ht_kind *ret_kind)
{
	switch (ph) {
	case 'M': *ret_kind = HT_KIND_METADATA; return true;
	case 'C': *ret_kind = HT_KIND_COUNTER; return true;
	case 's':
	case 't':
	case 'f': *ret_kind = HT_KIND_FLOW; return true;
	case 'b':
	case 'n':
	case 'e': *ret_kind = HT_KIND_ASYNC; return true;
	default: return false;
	}
}

static bool same_pid(const struct ht_track *a, const struct ht_track *b)
{
	return a->pid == b->pid && a->pid_type == b->pid_type && a->document == b->document;
}

/* Give every track of a process the name that the last process_name event of that pid had. */
static enum ht_status spread_process_names(
        ht_ctx *ctx, struct ht_trace *t, const uint32_t *named_at, struct ht_arena *arena)
{
	struct ht_track *tracks = HT_MUTABLE(struct ht_track, t->tracks);
	size_t n = t->n_tracks;
	uint64_t *keys = ht_arena_alloc(arena, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(arena, (n + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		keys[i] = ht_hash_mix((uint64_t)tracks[i].pid,
		        (uint64_t)tracks[i].document << 8 | tracks[i].pid_type);
	}
	if (!ht_sort_keys(ctx->mem, keys, order, n))
		return ht_fail_nomem(ctx);
	for (size_t i = 0, j; i < n; i = j) {
		uint32_t last = order[i];
		for (j = i; j < n && keys[j] == keys[i]; j++)
			if (same_pid(&tracks[order[j]], &tracks[order[i]]) &&
			        named_at[order[j]] > named_at[last])
				last = order[j];
		uint32_t name = named_at[last] ? tracks[last].process_name : HT_NO_STR;
		for (size_t k = i; k < j; k++)
			if (same_pid(&tracks[order[k]], &tracks[order[i]]))
				tracks[order[k]].process_name = name;
	}
	return HT_OK;
}

/* Names of processes and threads from metadata events; the last one wins. */
static enum ht_status name_tracks(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena)
{
	struct ht_track *tracks = HT_MUTABLE(struct ht_track, t->tracks);
	const struct ht_arg_column *column = ht_arg_find(t, "name", HT_ARG_STR);
	uint32_t process = ht_str_find(t, "process_name"), thread = ht_str_find(t, "thread_name");
	uint32_t *named_at = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *named_at);
	if (!named_at)
		return ht_fail_nomem(ctx);
	for (uint64_t i = 0; column && i < column->n; i++) {
		uint32_t row = ht_arg_row(t, column, i),
		         value = (uint32_t)ht_arg_i64_at(t, column, i);
		struct ht_track *track = &tracks[t->track[row]];
		if (t->ph[row] != 'M' || t->name[row] == HT_NO_STR)
			continue;
		if (t->name[row] == thread && value != track->process_name)
			track->name = value;
		if (t->name[row] == process) {
			track->process_name = value;
			named_at[t->track[row]] = row + 1;
		}
	}
	return spread_process_names(ctx, t, named_at, arena);
}

/* Tasks that collectives are made of, by their task type: the collective itself is an event of its own. */
static bool is_piece_of_collective(const struct ht_trace *t, uint32_t row)
{
	static const char *const pieces[] = { "SDMA", "RDMA", "RDMASend", "Write Value",
		"Notify Wait", "Notify Record", "Notify_Wait", "Notify_Record", "Reduce Inline",
		"Reduce_Inline", "Reduce TBE", "Memcpy" };
	const char *type = ht_arg_str(t, "Task Type", row);
	for (size_t i = 0; type && i < HT_COUNT(pieces); i++)
		if (!strcmp(type, pieces[i]))
			return true;
	return false;
}

/* Events of Ascend's exporter have no category; their process says what they are. */
static enum ht_kind ascend_kind(const struct ht_trace *t, uint32_t row)
{
	const char *process = ht_str(t, t->tracks[t->track[row]].process_name);
	if (!strcmp(process, "Ascend Hardware") || !strcmp(process, "NPU"))
		return is_piece_of_collective(t, row) ? HT_KIND_SYNC : HT_KIND_KERNEL;
	/* collectives as a whole; the tasks they are made of are on the hardware's streams */
	bool collectives = !strcmp(process, "Communication") || !strcmp(process, "HCCL");
	if (collectives && !strncmp(ht_str(t, t->name[row]), "hcom_", 5))
		return HT_KIND_KERNEL;
	if (!strcmp(process, "CANN"))
		return HT_KIND_RUNTIME;
	if (!strcmp(process, "Python"))
		return HT_KIND_PYTHON;
	return HT_KIND_OTHER;
}

static uint8_t row_kind(
        const struct ht_trace *t, const enum ht_kind *by_category, const bool *known, uint32_t row)
{
	enum ht_kind kind = HT_KIND_OTHER;
	char ph = t->ph[row];
	uint16_t cat = t->cat[row];
	if (phase_kind(ph, &kind))
		return (uint8_t)kind;
	if (known[cat])
		kind = by_category[cat];
	else if (t->meta_->dialect == HT_DIALECT_ASCEND && t->categories[cat].name == HT_NO_STR)
		kind = ascend_kind(t, row);
	bool instant = ph == 'i' || ph == 'I' || ph == 'R';
	/* memory events had no category until 2022 */
	if (instant && t->categories[cat].name == HT_NO_STR)
		kind = HT_KIND_MEMORY;
	if (instant && kind != HT_KIND_MEMORY && kind != HT_KIND_MEMORY_TIMELINE)
		kind = HT_KIND_INSTANT;
	if (kind == HT_KIND_MEMORY) {
		const char *text = ht_str(t, t->name[row]);
		if (!instant || (strcmp(text, "[memory]") && strcmp(text, "[OutOfMemory]")))
			kind = instant ? HT_KIND_INSTANT : HT_KIND_OTHER;
	}
	if (kind == HT_KIND_FLOW)
		kind = HT_KIND_OTHER; /* a flow's category on a span */
	/* the profiler's steps were written as operators until 2021 */
	const char *name = kind == HT_KIND_CPU_OP ? ht_str(t, t->name[row]) : "";
	if (*name == 'P' && ht_step_number(name) != HT_NO_I64)
		kind = HT_KIND_ANNOTATION;
	return (uint8_t)kind;
}

/* Spans cut at the window (or at a week) and GPU work without any time. */
static void mend_time(struct ht_trace *t, uint32_t row, struct ht_tally *tally)
{
	int64_t *dur = HT_MUTABLE(int64_t, t->dur_ns);
	uint8_t *flags = HT_MUTABLE(uint8_t, t->flags);
	int64_t window = t->meta_->window_end_ns, ts = t->ts_ns[row], length;
	if (dur[row] > HT_MAX_DURATION_NS || ts > HT_MAX_TIME_NS - 1 - dur[row]) {
		bool inside = window != HT_NO_I64 && window > ts &&
		              !__builtin_sub_overflow(window, ts, &length) &&
		              length <= HT_MAX_DURATION_NS;
		dur[row] = inside ? length : 0;
		ht_tally_add(tally, HT_STAT_absurd_duration, 1);
	}
	bool work = (flags[row] & HT_EV_SPAN) && ht_kind_is_gpu_work(t->kind[row]);
	if (work && !ts && !dur[row]) {
		flags[row] |= HT_EV_BAD_TIME;
		ht_tally_add(tally, HT_STAT_zero_kernels, 1);
	}
}

static void find_window(struct ht_trace *t)
{
	struct ht_trace_meta *meta = HT_MUTABLE(struct ht_trace_meta, t->meta_);
	uint32_t name = ht_str_find(t, "Record Window End");
	meta->window_end_ns = HT_NO_I64;
	for (uint32_t row = ht_n_events(t); name != HT_NO_STR && row-- > 0;)
		if (t->name[row] == name && !(t->flags[row] & HT_EV_NO_TS)) {
			meta->window_end_ns = t->ts_ns[row];
			return;
		}
}

/* What one thread has seen of a category. */
struct seen {
	uint32_t n, last_row; /* last_row: HT_NONE when n is 0 */
};

struct kinds {
	ht_ctx *ctx;
	struct ht_trace *t;
	uint8_t *kind;             /* the section */
	enum ht_kind *by_category; /* of those that are known */
	bool *known;
	struct seen *seen; /* by thread and category */
	size_t n_seen;     /* of a thread: some more, so that no two write to one cache line */
	struct ht_tally *tallies; /* by thread */
};

static enum ht_status do_range(void *user, size_t i_range, int i_worker)
{
	struct kinds *k = user;
	struct ht_trace *t = k->t;
	struct seen *seen = k->seen + (size_t)i_worker * k->n_seen;
	struct ht_tally *tally = &k->tallies[i_worker];
	struct ht_range range = ht_range_at(k->ctx, ht_n_events(t), i_range);
	for (uint32_t row = range.first; row < range.end; row++) {
		uint16_t cat = t->cat[row];
		k->kind[row] = row_kind(t, k->by_category, k->known, row);
		bool later = !seen[cat].n || row > seen[cat].last_row;
		seen[cat].last_row = later ? row : seen[cat].last_row;
		seen[cat].n++;
		if (!k->known[cat] && t->categories[cat].name != HT_NO_STR &&
		        k->kind[row] == HT_KIND_OTHER)
			ht_tally_add(tally, HT_STAT_unknown_category, 1);
		mend_time(t, row, tally);
	}
	return HT_OK;
}

/* A category is of the kind that its last row is. */
static void join_seen(struct kinds *k, size_t n_workers, struct ht_tally *tally)
{
	struct ht_trace *t = k->t;
	struct ht_category *categories = HT_MUTABLE(struct ht_category, t->categories);
	for (size_t c = 0; c < t->n_categories; c++) {
		uint32_t last = 0;
		for (size_t w = 0; w < n_workers; w++) {
			const struct seen *seen = &k->seen[w * k->n_seen + c];
			categories[c].n += seen->n;
			last = seen->n && seen->last_row > last ? seen->last_row : last;
		}
		if (categories[c].n)
			categories[c].kind = k->kind[last];
	}
	for (size_t w = 0; w < n_workers; w++)
		for (int code = 0; code < HT_N_STATS; code++)
			ht_tally_add(tally, (enum ht_stat_code)code, k->tallies[w].count[code]);
}

static enum ht_status seal(
        ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena, struct ht_tally *tally)
{
	size_t n_workers = (size_t)ht_ctx_jobs(ctx), n = t->n_categories;
	size_t n_seen = n + 64 / sizeof(struct seen);
	struct kinds k = { .ctx = ctx,
		.t = t,
		.n_seen = n_seen,
		.kind = HT_SECTION_ALLOC(ctx, t, kind, uint8_t, ht_n_events(t)),
		.by_category = ht_arena_alloc(arena, (n + 1) * sizeof *k.by_category),
		.known = ht_arena_alloc(arena, n + 1),
		.seen = ht_arena_alloc(arena, n_workers * n_seen * sizeof *k.seen),
		.tallies = ht_arena_alloc(arena, n_workers * sizeof *k.tallies) };
	if (!k.kind || !k.by_category || !k.known || !k.seen || !k.tallies)
		return ht_fail_nomem(ctx);
	HT_TRY(name_tracks(ctx, t, arena));
	for (size_t i = 0; i < n; i++)
		k.known[i] = category_kind(ht_str(t, t->categories[i].name), &k.by_category[i]);
	find_window(t);
	HT_TRY(ht_parallel(ctx, ht_n_ranges(ctx, ht_n_events(t)), do_range, &k));
	join_seen(&k, n_workers, tally);
	return HT_OK;
}

enum ht_status ht_seal_kinds(ht_ctx *ctx, struct ht_trace *t, struct ht_tally *tally)
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = seal(ctx, t, &arena, tally);
	ht_arena_done(&arena);
	return status;
}
