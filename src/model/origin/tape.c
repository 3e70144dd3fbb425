/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.c - see tape.h.
 */
#include "model/origin/tape.h"

#include "attach/kind.h"
#include "base/hash.h"
#include "base/sort.h"
#include "model/device/launch.h"
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

uint32_t ht_op_around(const struct ht_trace *t, uint32_t row)
{
	while (row != HT_NONE && t->kind[row] != HT_KIND_CPU_OP)
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
	const struct ht_trace *t = tp->t;
	const char *name = kind == HT_KIND_KERNEL ? ht_arg_cursor_str(&tp->kernel, row) : NULL;
	return (struct ht_tape_entry){
		.launch = row,
		.op = ht_op_around(t, row),
		.key = kind != HT_KIND_KERNEL ? kind
		       : name                 ? name_key(name, strlen(name))
		                              : 0,
		.kind = kind,
		.stream = ht_arg_cursor_i64(&tp->stream, row, -1),
	};
}

/* Launches between two times that ran nothing: those that did are warm-up. */
static enum ht_status tape_capture(
        struct taping *tp, int64_t from_ns, int64_t to_ns, struct ht_tape *tape)
{
	const struct ht_trace *t = tp->t;
	size_t first = 0, n_room = 0;
	while (first < tp->n_calls && t->ts_ns[tp->calls[first]] < from_ns)
		first++;
	for (size_t i = first; i < tp->n_calls && t->ts_ns[tp->calls[i]] < to_ns; i++)
		n_room++;
	tape->entries = ht_arena_room(tp->run->scratch, (n_room + 1) * sizeof *tape->entries);
	if (!tape->entries)
		return ht_fail_nomem(tp->run->ctx);
	tape->has_names = true;
	for (size_t i = first; i < first + n_room; i++) {
		const uint32_t *gpus;
		size_t n_gpus;
		uint8_t kind = launched_kind(ht_str(t, t->name[tp->calls[i]]));
		if (kind == HT_KIND_OTHER)
			continue;
		ht_launch_gpus(t, tp->calls[i], &gpus, &n_gpus);
		if (n_gpus)
			continue;
		struct ht_tape_entry entry = captured_entry(tp, tp->calls[i], kind);
		tape->has_names &= entry.key != 0;
		tape->entries[tape->n++] = entry;
	}
	return HT_OK;
}

static enum ht_status push_capture(
        struct taping *tp, struct ht_tape *tape, int64_t from_ns, int64_t to_ns)
{
	HT_TRY(tape_capture(tp, from_ns, to_ns, tape));
	if (!tape->n)
		return HT_OK;
	tape->trace = tp->t;
	tape->from = tp->from;
	tape->is_capture = true;
	return HT_VEC_PUSH(tp->run->ctx->mem, tp->tapes, struct ht_tape, *tape)
	               ? HT_OK
	               : ht_fail_nomem(tp->run->ctx);
}

/* The graphs that are captured between two times: one per pair of begin and end; without any, all of it. */
static enum ht_status tape_graphs(
        struct taping *tp, int64_t from_ns, int64_t to_ns, const char *label, int64_t size)
{
	const struct ht_trace *t = tp->t;
	size_t n_before = tp->tapes->n;
	int64_t begun_ns = HT_NO_I64;
	bool has_pairs = false;
	for (size_t i = 0; i < tp->n_calls; i++) {
		uint32_t row = tp->calls[i];
		const char *name = ht_str(t, t->name[row]);
		if (t->ts_ns[row] < from_ns || t->ts_ns[row] >= to_ns || !strstr(name, "Capture"))
			continue;
		if (strstr(name, "BeginCapture")) {
			begun_ns = t->ts_ns[row];
		} else if (strstr(name, "EndCapture") && begun_ns != HT_NO_I64) {
			struct ht_tape tape = { .size = size, .label = label };
			HT_TRY(push_capture(tp, &tape, begun_ns, t->ts_ns[row]));
			begun_ns = HT_NO_I64;
			has_pairs = true;
		}
	}
	if (!has_pairs && *label) {
		struct ht_tape tape = { .size = size, .label = label };
		HT_TRY(push_capture(tp, &tape, from_ns, to_ns));
	}
	struct ht_tape *list = tp->tapes->data;
	for (size_t i = n_before; i < tp->tapes->n; i++) {
		list[i].ordinal = (uint32_t)(i - n_before);
		list[i].n_of = (uint32_t)(tp->tapes->n - n_before);
	}
	return HT_OK;
}

/* Whether an annotation can name a capture: texts are fewer than rows. */
static bool names_captures(const struct ht_trace *t)
{
	int64_t size;
	for (uint32_t id = 0; id + 1 < t->n_string_offsets; id++)
		if (ht_capture_parse(ht_str(t, id), &size))
			return true;
	return false;
}

static enum ht_status tape_captures(struct taping *tp, bool *ret_has_any)
{
	const struct ht_trace *t = tp->t;
	uint32_t n_rows = names_captures(t) ? ht_n_events(t) : 0;
	*ret_has_any = false;
	for (uint32_t row = 0; row < n_rows; row++) {
		int64_t size;
		if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row) ||
		        !ht_capture_parse(ht_str(t, t->name[row]), &size))
			continue;
		*ret_has_any = true;
		HT_TRY(tape_graphs(
		        tp, t->ts_ns[row], ht_end_ns(t, row), ht_str(t, t->name[row]), size));
	}
	/* captures that nobody annotated */
	if (!*ret_has_any && t->n_tracks) {
		size_t n = tp->tapes->n;
		HT_TRY(tape_graphs(tp, INT64_MIN, INT64_MAX, "", -1));
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
