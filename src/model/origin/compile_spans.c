/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_spans.c - see compile_spans.h.
 */
#include "model/origin/compile_spans.h"

#include "attach/kind.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/origin/compile_log.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* So far apart may the two records of one beginning be. */
#define SAME_NS 1000000

static int by_start(const void *left, const void *right)
{
	const struct ht_compile_span *a = left, *b = right;
	int order = ht_order_i64(a->ts_ns, b->ts_ns);
	if (!order)
		order = ht_order_i64(b->dur_ns, a->dur_ns);
	return order ? order : strcmp(a->name, b->name);
}

static enum ht_status collect(struct ht_run *run, struct ht_vec *spans)
{
	const struct ht_attachment *a;
	size_t at = 0;
	while ((a = ht_attached_next(run->attached, &ht_attach_kind_compile_log, run->rank, &at))) {
		const void *data;
		HT_TRY(ht_attachment_load(run->ctx, a, &data));
		const struct ht_vec *own = &((const struct ht_compile_log *)data)->spans;
		const struct ht_compile_span *list = own->data;
		for (size_t i = 0; i < own->n; i++)
			if (!HT_VEC_PUSH(run->ctx->mem, spans, struct ht_compile_span, list[i]))
				return ht_fail_nomem(run->ctx);
	}
	return HT_OK;
}

/* The span of a name that begins nearest to a time. */
static struct ht_compile_span *find_near(
        struct ht_compile_span *list, size_t n, const char *name, int64_t ts_ns)
{
	size_t at = HT_LOWER_BOUND(i, n, list[i].ts_ns < ts_ns - SAME_NS);
	struct ht_compile_span *best = NULL;
	for (; at < n && list[at].ts_ns <= ts_ns + SAME_NS; at++) {
		bool is_nearer =
		        !best || llabs(list[at].ts_ns - ts_ns) < llabs(best->ts_ns - ts_ns);
		if (list[at].row == HT_NONE && is_nearer && !strcmp(list[at].name, name))
			best = &list[at];
	}
	return best;
}

/* The trace's own events of the same. */
static enum ht_status find_rows(struct ht_run *run, struct ht_compile_span *list, size_t n)
{
	const struct ht_trace *t = run->trace;
	uint8_t *is_named = ht_arena_alloc(run->scratch, t->n_string_offsets + 1);
	if (!is_named)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		uint32_t id = ht_str_find(t, list[i].name);
		if (id != HT_NO_STR)
			is_named[id] = 1;
	}
	for (uint32_t row = 0; n && row < ht_n_events(t); row++) {
		uint32_t id = t->name[row];
		if (id == HT_NO_STR || !is_named[id] || !ht_is_span(t, row))
			continue;
		struct ht_compile_span *span = find_near(list, n, ht_str(t, id), t->ts_ns[row]);
		if (span)
			span->row = row;
	}
	return HT_OK;
}

enum ht_status ht_compile_spans_find(
        struct ht_run *run, struct ht_compile_span **ret_list, size_t *ret_n)
{
	int64_t base_ns = run->trace->meta->base_ns;
	struct ht_vec spans = { 0 };
	enum ht_status status = collect(run, &spans);
	size_t n = status == HT_OK ? spans.n : 0;
	struct ht_compile_span *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (status == HT_OK && !list)
		status = ht_fail_nomem(run->ctx);
	if (status == HT_OK && n)
		memcpy(list, spans.data, n * sizeof *list);
	ht_vec_free(run->ctx->mem, &spans, sizeof *list);
	HT_TRY(status);
	for (size_t i = 0; i < n; i++)
		list[i].ts_ns = ht_sub_sat(list[i].ts_ns, base_ns == HT_NO_I64 ? 0 : base_ns);
	if (n)
		qsort(list, n, sizeof *list, by_start);
	HT_TRY(find_rows(run, list, n));
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

bool ht_compile_span_is_inside(const struct ht_trace *t, const struct ht_compile_span *span)
{
	return t->meta->min_ts_ns != HT_NO_I64 && span->ts_ns < t->meta->max_end_ns &&
	       ht_add_sat(span->ts_ns, span->dur_ns) > t->meta->min_ts_ns;
}
