/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.c - see tape.h.
 */
#include "model/origin/tape.h"

#include "attach/kind.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/device/launch.h"
#include "model/rows/around.h"
#include "model/serving/grammar.h"
#include "store/args.h"

#include <string.h>

bool ht_is_graph_launch_name(const char *name)
{
	return strstr(name, "GraphLaunch") != NULL;
}

static uint64_t name_key(const char *name, size_t n)
{
	return ht_hash(name, n) | 256;
}

uint64_t ht_tape_key(const struct ht_trace *t, uint32_t row)
{
	/* copies and sets are named by memory that a graph does not know: Memset (Unknown) */
	if (t->kind[row] != HT_KIND_KERNEL)
		return t->kind[row];
	return name_key(ht_str(t, t->name[row]), ht_str_len(t, t->name[row]));
}

bool ht_is_op(const void *trace, uint32_t row)
{
	return ((const struct ht_trace *)trace)->kind[row] == HT_KIND_CPU_OP;
}

uint32_t ht_op_around(const struct ht_trace *t, uint32_t row)
{
	while (row != HT_NONE && !ht_is_op(t, row))
		row = t->parent[row];
	return row;
}

/* One trace on its way onto tapes. */
struct taping {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_attachment *from;
	struct ht_vec *tapes; /* struct ht_tape */
	uint32_t *calls;      /* rows of calls of the runtime and the driver, by start */
	size_t n_calls;
	struct ht_arg_cursor kernel, stream;
	struct ht_around ops; /* from the first capture on */
};

/* HT_KIND_OTHER: it launches nothing that a graph holds. */
static uint8_t launched_kind(const char *name)
{
	if (ht_is_kernel_launch_name(name))
		return HT_KIND_KERNEL;
	if (strstr(name, "Memset"))
		return HT_KIND_MEMSET;
	return strstr(name, "Memcpy") ? HT_KIND_MEMCPY : HT_KIND_OTHER;
}

static enum ht_status sort_calls(struct taping *tp)
{
	const struct ht_trace *t = tp->t;
	size_t n = ht_n_of_kind(t, HT_KIND_RUNTIME) + ht_n_of_kind(t, HT_KIND_DRIVER);
	uint64_t *keys = ht_arena_room(tp->run->scratch, (n + 1) * sizeof *keys);
	tp->calls = ht_arena_room(tp->run->scratch, (n + 1) * sizeof *tp->calls);
	if (!keys || !tp->calls)
		return ht_fail_nomem(tp->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t) && tp->n_calls < n; row++) {
		if (!ht_kind_is_call(t->kind[row]) || !ht_is_span(t, row))
			continue;
		keys[tp->n_calls] = ht_sort_key_i64(t->ts_ns[row]);
		tp->calls[tp->n_calls++] = row;
	}
	return ht_sort_keys(tp->run->ctx->mem, keys, tp->calls, tp->n_calls)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

/* ---- captures ---- */

/* Name and stream stand on the launches of HIP only. */
static struct ht_tape_entry captured_entry(struct taping *tp, uint32_t row, uint8_t kind)
{
	const char *name = kind == HT_KIND_KERNEL ? ht_arg_cursor_str(&tp->kernel, row) : NULL;
	return (struct ht_tape_entry){
		.launch = row,
		.op = ht_around_find(&tp->ops, row),
		.key = kind != HT_KIND_KERNEL ? kind
		       : name                 ? name_key(name, strlen(name))
		                              : 0,
		.kind = kind,
		.stream = ht_arg_cursor_i64(&tp->stream, row, -1),
	};
}

/* Calls that belong together, by start. */
struct calls {
	const uint32_t *rows;
	size_t n;
};

/* Launches between two times that ran nothing: those that did are warm-up. */
static enum ht_status tape_capture(struct taping *tp, const struct calls *calls, int64_t from_ns,
        int64_t to_ns, struct ht_tape *tape)
{
	const struct ht_trace *t = tp->t;
	size_t first = HT_LOWER_BOUND(i, calls->n, t->ts_ns[calls->rows[i]] < from_ns);
	size_t end = HT_LOWER_BOUND(i, calls->n, t->ts_ns[calls->rows[i]] < to_ns);
	if (end <= first)
		return HT_OK;
	tape->entries = ht_arena_room(tp->run->scratch, (end - first) * sizeof *tape->entries);
	if (!tape->entries)
		return ht_fail_nomem(tp->run->ctx);
	if (!tp->ops.found)
		HT_TRY(ht_around_init(tp->run, t, ht_is_op, t, &tp->ops));
	tape->has_names = true;
	for (size_t i = first; i < end; i++) {
		const uint32_t *gpus;
		size_t n_gpus;
		uint8_t kind = launched_kind(ht_str(t, t->name[calls->rows[i]]));
		if (kind == HT_KIND_OTHER)
			continue;
		ht_launch_gpus(t, calls->rows[i], &gpus, &n_gpus);
		if (n_gpus)
			continue;
		struct ht_tape_entry entry = captured_entry(tp, calls->rows[i], kind);
		tape->has_names &= entry.key != 0;
		tape->entries[tape->n++] = entry;
	}
	return HT_OK;
}

static enum ht_status push_capture(struct taping *tp, const struct calls *calls,
        struct ht_tape *tape, int64_t from_ns, int64_t to_ns)
{
	HT_TRY(tape_capture(tp, calls, from_ns, to_ns, tape));
	if (!tape->n)
		return HT_OK;
	tape->trace = tp->t;
	tape->from = tp->from;
	tape->is_capture = true;
	return HT_VEC_PUSH(tp->run->ctx->mem, tp->tapes, struct ht_tape, *tape)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

/* The graphs that are captured by some calls: one per pair of begin and end; without any, all of it. */
static enum ht_status tape_graphs(
        struct taping *tp, const struct calls *calls, const char *label, int64_t size)
{
	const struct ht_trace *t = tp->t;
	size_t n_before = tp->tapes->n;
	int64_t begun_ns = HT_NO_I64;
	bool has_pairs = false;
	for (size_t i = 0; i < calls->n; i++) {
		uint32_t row = calls->rows[i];
		const char *name = ht_str(t, t->name[row]);
		if (!strstr(name, "Capture"))
			continue;
		if (strstr(name, "BeginCapture")) {
			begun_ns = t->ts_ns[row];
		} else if (strstr(name, "EndCapture") && begun_ns != HT_NO_I64) {
			struct ht_tape tape = { .size = size, .label = label };
			HT_TRY(push_capture(tp, calls, &tape, begun_ns, t->ts_ns[row]));
			begun_ns = HT_NO_I64;
			has_pairs = true;
		}
	}
	if (!has_pairs && *label) {
		struct ht_tape tape = { .size = size, .label = label };
		HT_TRY(push_capture(tp, calls, &tape, INT64_MIN, INT64_MAX));
	}
	struct ht_tape *list = tp->tapes->data;
	for (size_t i = n_before; i < tp->tapes->n; i++) {
		list[i].ordinal = (uint32_t)(i - n_before);
		list[i].n_of = (uint32_t)(tp->tapes->n - n_before);
	}
	return HT_OK;
}

/* ---- annotations of captures ---- */

/* Whether an annotation can name a capture: texts are fewer than rows. */
static bool names_captures(const struct ht_trace *t)
{
	int64_t size;
	for (uint32_t id = 0; id + 1 < t->n_string_offsets; id++)
		if (ht_capture_parse(ht_str(t, id), &size))
			return true;
	return false;
}

/* Annotations that name a capture. */
struct notes {
	uint32_t *rows;
	uint32_t *by_start; /* places in rows; of those that start together the longer one first */
	size_t n;
};

static enum ht_status find_notes(struct taping *tp, struct notes *ret_notes)
{
	const struct ht_trace *t = tp->t;
	struct ht_arena *scratch = tp->run->scratch;
	size_t n_room = names_captures(t) ? ht_n_of_kind(t, HT_KIND_ANNOTATION) : 0;
	struct notes notes = { .rows = ht_arena_room(scratch, (n_room + 1) * sizeof *notes.rows),
		.by_start = ht_arena_room(scratch, (n_room + 1) * sizeof *notes.by_start) };
	uint64_t *keys = ht_arena_room(scratch, (n_room + 1) * sizeof *keys);
	if (!notes.rows || !notes.by_start || !keys)
		return ht_fail_nomem(tp->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t) && notes.n < n_room; row++) {
		int64_t size;
		if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row) ||
		        !ht_capture_parse(ht_str(t, t->name[row]), &size))
			continue;
		keys[notes.n] = ~ht_sort_key_i64(ht_end_ns(t, row));
		notes.by_start[notes.n] = (uint32_t)notes.n;
		notes.rows[notes.n++] = row;
	}
	bool ok = ht_sort_keys(tp->run->ctx->mem, keys, notes.by_start, notes.n);
	for (size_t i = 0; i < notes.n; i++)
		keys[i] = ht_sort_key_i64(t->ts_ns[notes.rows[notes.by_start[i]]]);
	*ret_notes = notes;
	return ok && ht_sort_keys(tp->run->ctx->mem, keys, notes.by_start, notes.n)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

/* Bring the calls into the order of the annotations that they are in, by start in each; ret_first[i] is where those of the i-th start,
 * and the last one's end. A call is of the annotation that started last and has not ended: of the innermost one. */
static enum ht_status share_calls(struct taping *tp, const struct notes *notes, size_t **ret_first)
{
	const struct ht_trace *t = tp->t;
	struct ht_arena *scratch = tp->run->scratch;
	uint64_t *owner = ht_arena_room(scratch, (tp->n_calls + 1) * sizeof *owner);
	uint32_t *open = ht_arena_room(scratch, (notes->n + 1) * sizeof *open);
	size_t *first = ht_arena_alloc(scratch, (notes->n + 2) * sizeof *first);
	size_t n_open = 0, next = 0;
	if (!owner || !open || !first)
		return ht_fail_nomem(tp->run->ctx);
	for (size_t i = 0; i < tp->n_calls; i++) {
		int64_t ts_ns = t->ts_ns[tp->calls[i]];
		for (; next < notes->n && t->ts_ns[notes->rows[notes->by_start[next]]] <= ts_ns;
		        next++)
			open[n_open++] = notes->by_start[next];
		while (n_open && ht_end_ns(t, notes->rows[open[n_open - 1]]) <= ts_ns)
			n_open--;
		owner[i] = n_open ? open[n_open - 1] : notes->n;
		first[owner[i] + 1]++;
	}
	for (size_t i = 0; i < notes->n; i++)
		first[i + 1] += first[i];
	*ret_first = first;
	return ht_sort_keys(tp->run->ctx->mem, owner, tp->calls, tp->n_calls)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

static enum ht_status tape_captures(struct taping *tp, bool *ret_has_any)
{
	const struct ht_trace *t = tp->t;
	struct notes notes = { 0 };
	HT_TRY(find_notes(tp, &notes));
	*ret_has_any = notes.n > 0;
	if (notes.n) {
		size_t *first = NULL;
		HT_TRY(share_calls(tp, &notes, &first));
		for (size_t i = 0; i < notes.n; i++) {
			const char *label = ht_str(t, t->name[notes.rows[i]]);
			struct calls own = { tp->calls + first[i], first[i + 1] - first[i] };
			int64_t size = -1;
			(void)ht_capture_parse(label, &size);
			HT_TRY(tape_graphs(tp, &own, label, size));
		}
	} else if (t->n_tracks) {
		/* captures that nobody annotated */
		struct calls all = { tp->calls, tp->n_calls };
		size_t n = tp->tapes->n;
		HT_TRY(tape_graphs(tp, &all, "", -1));
		*ret_has_any = tp->tapes->n > n;
	}
	return HT_OK;
}

/* ---- eager runs ---- */

static enum ht_status tape_eager(struct taping *tp)
{
	const struct ht_trace *t = tp->t;
	struct ht_tape tape = {
		.trace = t, .from = tp->from, .has_names = true, .size = -1, .label = "", .n_of = 1
	};
	tape.entries = ht_arena_room(tp->run->scratch, (t->n_gpu + 1) * sizeof *tape.entries);
	if (!tape.entries)
		return ht_fail_nomem(tp->run->ctx);
	for (size_t i = 0; i < tp->n_calls; i++) {
		const uint32_t *gpus;
		size_t n;
		ht_launch_gpus(t, tp->calls[i], &gpus, &n);
		if (n != 1 || t->gpu[gpus[0]].op == HT_NONE ||
		        ht_is_graph_launch_name(ht_str(t, t->name[tp->calls[i]])))
			continue;
		const struct ht_gpu *gpu = &t->gpu[gpus[0]];
		tape.entries[tape.n++] = (struct ht_tape_entry){ .launch = tp->calls[i],
			.op = gpu->op,
			.key = ht_tape_key(t, gpu->row),
			.kind = t->kind[gpu->row],
			.stream = gpu->stream };
	}
	if (!tape.n)
		return HT_OK;
	return HT_VEC_PUSH(tp->run->ctx->mem, tp->tapes, struct ht_tape, tape)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

enum ht_status ht_tapes_of(struct ht_run *run, const struct ht_trace *t,
        const struct ht_attachment *from, struct ht_vec *tapes)
{
	struct taping tp = { .run = run,
		.t = t,
		.from = from,
		.tapes = tapes,
		.kernel = ht_arg_cursor(t, "kernel"),
		.stream = ht_arg_cursor(t, "stream") };
	bool has_captures;
	HT_TRY(sort_calls(&tp));
	HT_TRY(tape_captures(&tp, &has_captures));
	return has_captures ? HT_OK : tape_eager(&tp);
}

enum ht_status ht_tapes_make(struct ht_run *run, struct ht_tapes *ret_tapes)
{
	struct ht_vec tapes = { 0 };
	enum ht_status status = HT_OK;
	size_t at = 0;
	for (const struct ht_attachment *a;
	        status == HT_OK &&
	        (a = ht_attached_next(run->attached, &ht_attach_kind_trace, run->rank, &at));) {
		const void *trace;
		status = ht_attachment_load(run->ctx, a, &trace);
		if (status == HT_OK)
			status = ht_tapes_of(run, trace, a, &tapes);
	}
	if (status == HT_OK)
		status = ht_tapes_of(run, run->trace, NULL, &tapes);
	struct ht_tape *list = ht_arena_alloc(run->scratch, (tapes.n + 1) * sizeof *list);
	if (status == HT_OK && !list)
		status = ht_fail_nomem(run->ctx);
	if (status == HT_OK) {
		if (tapes.n)
			memcpy(list, tapes.data, tapes.n * sizeof *list);
		*ret_tapes = (struct ht_tapes){ list, tapes.n };
	}
	ht_vec_free(run->ctx->mem, &tapes, sizeof(struct ht_tape));
	return status;
}
