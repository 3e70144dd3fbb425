/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_doing.c - see host_doing.h.
 */
#include "model/advice/host_doing.h"

#include "base/checked.h"
#include "store/columns.h"

static bool is_python(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_PYTHON;
}

static bool is_call(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_CPU_OP || ht_kind_is_call(t->kind[row]);
}

/* The outermost ones, and n_more others: what is directly inside another of its kind adds nothing. */
static enum ht_status list(struct ht_run *run, bool (*is)(const struct ht_trace *t, uint32_t row),
        const struct ht_interval *more, size_t n_more, struct ht_interval **ret, size_t *ret_n)
{
	const struct ht_trace *t = run->trace;
	size_t n = 0;
	for (int fill = 0; fill < 2; fill++) {
		size_t at = 0;
		for (uint32_t row = 0; row < t->n_kind; row++) {
			if (!is(t, row) || !ht_is_span(t, row) ||
			        (t->parent[row] != HT_NONE && is(t, t->parent[row])))
				continue;
			if (fill)
				(*ret)[at] =
				        (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
			at++;
		}
		n = at;
		if (!fill)
			*ret = ht_arena_room(run->scratch, (n + n_more + 1) * sizeof **ret);
		if (!*ret)
			return ht_fail_nomem(run->ctx);
	}
	for (size_t i = 0; i < n_more; i++)
		(*ret)[n++] = more[i];
	*ret_n = ht_interval_merge(run->ctx->mem, *ret, n);
	return HT_OK;
}

static void add_stretch(
        const struct ht_host_doing *doing, int64_t from, int64_t until, struct ht_quiet *quiet)
{
	int64_t ns = ht_sub_sat(until, from);
	if (ns < HT_QUIET_NS)
		return;
	int64_t python_ns = ht_interval_within(doing->python, doing->n_python, from, until);
	ht_sum(&quiet->python_ns, python_ns);
	ht_sum(&quiet->nothing_ns, ns - python_ns);
}

enum ht_status ht_host_doing_make(struct ht_run *run, const struct ht_interval *awaits,
        size_t n_awaits, struct ht_host_doing *ret_doing)
{
	struct ht_host_doing doing = { 0 };
	HT_TRY(list(run, is_call, awaits, n_awaits, &doing.calls, &doing.n_calls));
	HT_TRY(list(run, is_python, NULL, 0, &doing.python, &doing.n_python));
	doing.before = ht_arena_alloc(run->scratch, (doing.n_calls + 1) * sizeof *doing.before);
	if (!doing.before)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 1; i < doing.n_calls; i++) {
		doing.before[i] = doing.before[i - 1];
		add_stretch(&doing, doing.calls[i - 1].end, doing.calls[i].start, &doing.before[i]);
	}
	*ret_doing = doing;
	return HT_OK;
}

void ht_host_quiet_add(const struct ht_host_doing *doing, int64_t from_ns, int64_t until_ns,
        struct ht_quiet *quiet)
{
	size_t n;
	const struct ht_interval *calls =
	        ht_interval_slice(doing->calls, doing->n_calls, from_ns, until_ns, &n);
	if (n) {
		const struct ht_quiet *first = &doing->before[calls - doing->calls],
		                      *last = first + n - 1;
		add_stretch(doing, from_ns, calls[0].start, quiet);
		ht_sum(&quiet->python_ns, last->python_ns - first->python_ns);
		ht_sum(&quiet->nothing_ns, last->nothing_ns - first->nothing_ns);
		from_ns = calls[n - 1].end > from_ns ? calls[n - 1].end : from_ns;
	}
	add_stretch(doing, from_ns, until_ns, quiet);
}
