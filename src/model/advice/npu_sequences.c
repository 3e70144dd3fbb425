/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_sequences.c - kernels that follow each other again and again and could be one; see npu_fusion.h.
 *
 * A sequence is 2 to MAX_LENGTH types of kernels that run one behind the other on a stream. It counts when it comes more than
 * MIN_COUNT times (occurrences do not overlap), its kernels have more than 1 % of the steps, and either
 *   - the kernels have less than 0.4 of the time from its first start to its last end, without that in which other work
 *     of the device runs: the host launches them too slowly, and one kernel would need one launch. It costs the time
 *     between them;
 *   - or all are of vector cores and more than 0.8 of their time moves data (mte2 and mte3): what lies between them
 *     would stay on the chip. It costs all kernels but one: (n - 1) / n of their time. Matrix products move data
 *     while they compute, and stay kernels of their own.
 * The one that costs most is told. Of more than MAX_KNOWN different sequences of a length the first ones are looked at.
 * O(n * MAX_LENGTH).
 */
#include "model/advice/npu_fusion.h"

#include "base/checked.h"
#include "base/intern.h"
#include "base/mem.h"
#include "model/advice/npu_values.h"
#include "model/numbers/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 10
#define MIN_COUNT  5
#define MAX_KNOWN  ((size_t)1 << 16)

struct kernel {
	uint32_t row, type; /* type: string id */
	int32_t device;
	int64_t stream, ts_ns, dur_ns;
	int64_t idle_ns; /* in which nothing runs between the kernel before on the stream and this one */
	int64_t moves_ns; /* in which it moves data, HT_NO_I64: not of a vector core, or not measured */
};

/* A sequence and its occurrences so far. */
struct sequence {
	size_t first, end; /* its first kernel; behind the last one of its last occurrence */
	int64_t count, dur_ns, idle_ns, moves_ns, measured_ns;
};

struct reading {
	struct ht_run *run;
	const struct ht_trace *t;
	struct kernel *kernels; /* by device, stream and time */
	uint32_t *types;        /* of them */
	size_t n;
	struct ht_text_table index; /* of sequences of the length in hand */
	struct ht_vec known;        /* struct sequence */
	int64_t steps_ns;
};

/* ---- kernels ---- */

static int compare_kernels(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Time in which the pipes from and to memory work, of whichever unit has more of that. */
static int64_t moves_of(struct ht_npu_values pipes[6], uint32_t row, int64_t dur_ns)
{
	double most = NAN;
	for (size_t i = 0; i < 6; i += 2) {
		double in = ht_npu_number(&pipes[i], row), out = ht_npu_number(&pipes[i + 1], row);
		double both = isnan(in) ? out : isnan(out) ? in : in + out;
		if (!isnan(both) && !(most >= both))
			most = both;
	}
	return most > 0 ? ht_round_sat((double)dur_ns * (most < 1 ? most : 1)) : HT_NO_I64;
}

static enum ht_status list_kernels(struct reading *r, const struct ht_bounds *bounds)
{
	const struct ht_trace *t = r->t;
	static const char *const keys[] = { "mte2_ratio", "mte3_ratio", "aic_mte2_ratio",
		"aic_mte3_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio" };
	struct ht_npu_values pipes[HT_COUNT(keys)], type = ht_npu_values_open(t, "Type");
	struct ht_npu_values core = ht_npu_values_open(t, "Accelerator Core");
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		pipes[i] = ht_npu_values_open(t, keys[i]);
	r->kernels = ht_arena_alloc(r->run->scratch, (t->n_gpu + 1) * sizeof *r->kernels);
	r->types = ht_arena_alloc(r->run->scratch, (t->n_gpu + 1) * sizeof *r->types);
	if (!r->kernels || !r->types)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (gpu->class_ != HT_CLASS_COMPUTE || !ht_is_span(t, gpu->row) ||
		        !ht_bounds_hold(bounds, t->ts_ns[gpu->row]))
			continue;
		const char *text = ht_npu_text(&type, gpu->row);
		const char *where = ht_npu_text(&core, gpu->row);
		if (!*text || !strcmp(where, "AI_CPU"))
			continue;
		r->kernels[r->n++] = (struct kernel){ .row = gpu->row,
			.type = ht_str_find(t, text),
			.device = gpu->device,
			.stream = gpu->stream,
			.ts_ns = t->ts_ns[gpu->row],
			.dur_ns = t->dur_ns[gpu->row],
			.moves_ns = HT_NO_I64 };
		if (!strcmp(where, "AI_VECTOR_CORE") || !strcmp(where, "MIX_AIV"))
			r->kernels[r->n - 1].moves_ns =
			        moves_of(pipes, gpu->row, t->dur_ns[gpu->row]);
	}
	qsort(r->kernels, r->n, sizeof *r->kernels, compare_kernels);
	for (size_t i = 0; i < r->n; i++)
		r->types[i] = r->kernels[i].type;
	return HT_OK;
}

/* All work of a device, merged; in scratch. */
static enum ht_status list_work(
        struct reading *r, int32_t device, struct ht_interval **ret, size_t *ret_n)
{
	const struct ht_trace *t = r->t;
	struct ht_interval *list = ht_arena_alloc(r->run->scratch, (t->n_gpu + 1) * sizeof *list);
	size_t n = 0;
	if (!list)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row;
		if (t->gpu[i].device == device && ht_is_span(t, row))
			list[n++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	*ret_n = ht_interval_merge(r->run->ctx->mem, list, n);
	*ret = list;
	return HT_OK;
}

static enum ht_status find_idle(struct reading *r)
{
	struct ht_interval *work = NULL;
	size_t n_work = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct kernel *own = &r->kernels[i], *before = own - 1;
		if (!i || own->device != before->device) {
			HT_TRY(list_work(r, own->device, &work, &n_work));
			continue;
		}
		int64_t end = ht_add_sat(before->ts_ns, before->dur_ns);
		if (own->stream == before->stream && end < own->ts_ns)
			own->idle_ns = own->ts_ns - end -
			               ht_interval_within(work, n_work, end, own->ts_ns);
	}
	return HT_OK;
}

/* ---- sequences ---- */

/* Do its kernels have too little of the time that they and what is between them take? */
static bool is_launched_slowly(const struct sequence *s)
{
	return (double)s->dur_ns < 0.4 * ((double)s->dur_ns + (double)s->idle_ns);
}

/* The sequence that starts at a kernel; NULL: there are too many others. *ret_ok is false when out of memory. */
static struct sequence *find_sequence(struct reading *r, size_t first, size_t length, bool *ret_ok)
{
	const char *bytes = (const char *)(r->types + first);
	size_t n_bytes = length * sizeof *r->types;
	uint64_t hash = ht_hash(bytes, n_bytes);
	const struct ht_text *text = ht_text_table_find(&r->index, bytes, n_bytes, hash);
	*ret_ok = true;
	if (!text && r->known.n < MAX_KNOWN) {
		struct ht_text entry = { bytes, hash, (uint32_t)n_bytes, (uint32_t)r->known.n };
		struct sequence own = { .first = first };
		*ret_ok = ht_text_table_put(r->run->ctx->mem, &r->index, &entry) &&
		          HT_VEC_PUSH(r->run->ctx->mem, &r->known, struct sequence, own);
		return *ret_ok ? (struct sequence *)r->known.data + r->known.n - 1 : NULL;
	}
	return text ? (struct sequence *)r->known.data + text->id : NULL;
}

static void add_occurrence(
        const struct reading *r, struct sequence *sequence, size_t first, size_t length)
{
	const struct kernel *list = r->kernels + first;
	if (first < sequence->end)
		return;
	sequence->end = first + length;
	sequence->count++;
	for (size_t i = 0; i < length; i++) {
		ht_sum(&sequence->dur_ns, list[i].dur_ns);
		ht_sum(&sequence->idle_ns, i ? list[i].idle_ns : 0);
		if (list[i].moves_ns == HT_NO_I64)
			continue;
		ht_sum(&sequence->moves_ns, list[i].moves_ns);
		ht_sum(&sequence->measured_ns, list[i].dur_ns);
	}
}

static enum ht_status count_sequences(struct reading *r, size_t length)
{
	r->index.n = r->known.n = 0;
	if (r->index.cap)
		memset(r->index.slots, 0, r->index.cap * sizeof *r->index.slots);
	for (size_t i = 0; i + length <= r->n; i++) {
		const struct kernel *first = &r->kernels[i], *last = first + length - 1;
		bool ok;
		if (first->device != last->device || first->stream != last->stream)
			continue;
		struct sequence *sequence = find_sequence(r, i, length, &ok);
		if (!ok)
			return ht_fail_nomem(r->run->ctx);
		if (sequence)
			add_occurrence(r, sequence, i, length);
	}
	return HT_OK;
}

/* What it costs that its kernels are not one; 0: nothing says that they could be. */
static int64_t cost_of(const struct sequence *s, size_t length, int64_t steps_ns)
{
	int64_t cost = 0;
	if (s->count <= MIN_COUNT || s->dur_ns <= steps_ns / 100)
		return 0;
	if (is_launched_slowly(s))
		cost = s->idle_ns;
	if (s->measured_ns == s->dur_ns && (double)s->moves_ns > 0.8 * (double)s->dur_ns) {
		int64_t others = s->dur_ns / (int64_t)length * (int64_t)(length - 1);
		cost = others > cost ? others : cost;
	}
	return cost;
}

/* ---- the one that costs most ---- */

static const char *name_of(const struct reading *r, const struct sequence *s, size_t length)
{
	const char *name = "";
	for (size_t i = 0; name && i < length; i++)
		name = ht_arena_printf(r->run->scratch, "%s%s%s", name, i ? ", " : "",
		        ht_str(r->t, r->types[s->first + i]));
	return name;
}

/* Of the time from first to last, what runs; or of their own time, what moves data: in millionths. */
static int64_t share_of(const struct sequence *s, bool by_host)
{
	double share = by_host ? (double)s->dur_ns / ((double)s->dur_ns + (double)s->idle_ns)
	                       : (double)s->moves_ns / (double)s->measured_ns;
	return ht_round_sat(1e6 * share);
}

static enum ht_status put_most(struct reading *r, ht_table *table)
{
	struct sequence most = { .first = 0 };
	int64_t most_ns = 0;
	size_t most_length = 0;
	for (size_t length = MAX_LENGTH; length >= 2; length--) {
		HT_TRY(count_sequences(r, length));
		const struct sequence *known = r->known.data;
		for (size_t i = 0; i < r->known.n; i++) {
			int64_t ns = cost_of(&known[i], length, r->steps_ns);
			if (ns <= most_ns)
				continue;
			most = known[i];
			most_ns = ns;
			most_length = length;
		}
	}
	struct ht_rule_sum sum = HT_RULE_SUM;
	if (most_length) {
		sum.part = sum.row_ns = most_ns;
		sum.count = most.count;
		sum.row = r->kernels[most.first].row;
		bool by_host = is_launched_slowly(&most) && most_ns == most.idle_ns;
		sum.name = name_of(r, &most, most_length);
		sum.aux[0] = by_host;
		sum.aux[1] = share_of(&most, by_host);
		if (!sum.name)
			return ht_fail_nomem(r->run->ctx);
	}
	ht_rule_fact_put(r->t, table, HT_METRIC_SEQUENCES, HT_NO_I64, &sum);
	return HT_OK;
}

enum ht_status ht_npu_sequences_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	struct reading r = { .run = run, .t = run->trace };
	HT_TRY(list_kernels(&r, bounds));
	HT_TRY(find_idle(&r));
	for (size_t i = 0; i < bounds->n; i++)
		ht_sum(&r.steps_ns, ht_sub_sat(bounds->list[i].end, bounds->list[i].start));
	enum ht_status status = r.n ? put_most(&r, table) : HT_OK;
	ht_mem_free(run->ctx->mem, r.index.slots, r.index.cap * sizeof *r.index.slots);
	ht_vec_free(run->ctx->mem, &r.known, sizeof(struct sequence));
	return status;
}
