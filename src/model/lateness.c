/*
 * lateness.c - see lateness.h.
 */
#include "model/lateness.h"
#include "model/stats.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_step_work_columns[HT_N_STEP_WORK_COLUMNS] = {
	{ "step", HT_I64, HT_KEY, "profiler step that launched the work", NULL },
	{ "span_ns", HT_DURATION, HT_MEASURE, "first start to last end of its GPU work", NULL },
};
enum { STEP, SPAN };

/* ---- one rank ---- */

enum ht_status ht_step_work_put(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	const struct ht_trace *t = frame->trace;
	struct ht_interval *spans = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *spans);
	if (!spans)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_steps; i++)
		spans[i] = (struct ht_interval){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < frame->n_gpu; i++) {
		uint32_t row = t->gpu[frame->gpu[i]].row;
		if (t->step[row] == HT_NONE)
			continue;
		struct ht_interval *span = &spans[t->step[row]];
		span->start = t->ts_ns[row] < span->start ? t->ts_ns[row] : span->start;
		span->end = ht_end_ns(t, row) > span->end ? ht_end_ns(t, row) : span->end;
	}
	for (size_t i = 0; i < t->n_steps; i++) {
		if (spans[i].end <= spans[i].start)
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, t->steps[i].number);
		ht_table_put_i64(table, spans[i].end - spans[i].start);
	}
	return HT_OK;
}

/* ---- all ranks ---- */

/* A rank in a step; span is HT_NO_I64 where it has none. */
struct cell {
	int64_t span_ns, wait_ns;
	int64_t excess_ns; /* of delays over their uncertainty */
	int64_t delay_ns;  /* those delays */
};

struct lateness {
	struct ht_run *run;
	const struct ht_parts *parts;
	struct ht_arrival *arrivals;
	size_t n;
	struct ht_late_rank *ranks;
	int64_t *steps; /* different numbers, ascending */
	size_t n_steps;
	struct cell *cells; /* by part, then step */
	int64_t *
	        apart_ns; /* by part: how far from the others it leaves collectives of a group at most */
	int64_t *values; /* room for a number per rank or step */
};

static int compare_i64(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static enum ht_status list_steps(struct lateness *l, size_t k)
{
	size_t n = ht_parts_n_rows(l->parts, k), n_all = 0;
	l->steps = ht_arena_alloc(l->run->scratch, (n + 1) * sizeof *l->steps);
	if (!l->steps)
		return ht_fail_nomem(l->run->ctx);
	for (size_t p = 0; p < l->parts->n; p++)
		for (size_t i = 0; i < ht_table_n_rows(l->parts->list[p].facts[k]); i++)
			l->steps[n_all++] = ht_table_i64(l->parts->list[p].facts[k], i, STEP);
	qsort(l->steps, n_all, sizeof *l->steps, compare_i64);
	for (size_t i = 0; i < n_all; i++)
		if (!i || l->steps[i] != l->steps[l->n_steps - 1])
			l->steps[l->n_steps++] = l->steps[i];
	return HT_OK;
}

/* The cell of a part in a step, NULL when that step is not looked at. */
static struct cell *cell_of(const struct lateness *l, size_t i_part, int64_t step)
{
	const int64_t *at = bsearch(&step, l->steps, l->n_steps, sizeof *l->steps, compare_i64);
	return at ? &l->cells[i_part * l->n_steps + (size_t)(at - l->steps)] : NULL;
}

static enum ht_status make_cells(struct lateness *l, size_t k)
{
	size_t n = l->parts->n * l->n_steps;
	size_t n_values = l->parts->n > l->n_steps ? l->parts->n : l->n_steps;
	l->cells = ht_arena_alloc(l->run->scratch, (n + 1) * sizeof *l->cells);
	l->values = ht_arena_alloc(l->run->scratch, (n_values + 1) * sizeof *l->values);
	l->ranks = ht_arena_alloc(l->run->scratch, (l->parts->n + 1) * sizeof *l->ranks);
	l->apart_ns = ht_arena_alloc(l->run->scratch, (l->parts->n + 1) * sizeof *l->apart_ns);
	if (!l->cells || !l->values || !l->ranks || !l->apart_ns)
		return ht_fail_nomem(l->run->ctx);
	for (size_t i = 0; i < n; i++)
		l->cells[i].span_ns = HT_NO_I64;
	for (size_t p = 0; p < l->parts->n; p++) {
		const ht_table *facts = l->parts->list[p].facts[k];
		l->ranks[p] = (struct ht_late_rank){ .i_part = p, .rank = l->parts->list[p].rank };
		for (size_t i = 0; i < ht_table_n_rows(facts); i++)
			cell_of(l, p, ht_table_i64(facts, i, STEP))->span_ns =
			        ht_table_i64(facts, i, SPAN);
	}
	return HT_OK;
}

/* ---- arrivals ---- */

static bool makes_wait(const struct ht_clocks *clocks, const struct ht_chosen_call *calls, size_t n)
{
	enum ht_comm_kind kind = calls[0].collective->kind;
	if (n < 2 || !(ht_comm_kind_synchronises(kind) || kind == HT_COMM_OTHER))
		return false;
	for (size_t i = 0; !clocks->from_files && i < n; i++)
		if (!clocks->of[calls[i].call->i_rank].is_tied)
			return false;
	return true;
}

static void arrive(struct ht_arrival *a)
{
	const struct ht_chosen_call *calls = a->calls;
	int64_t before_ns = INT64_MIN;
	for (size_t i = 1; i < a->n; i++) {
		if (calls[i].call->start_ns < calls[a->first].call->start_ns)
			a->first = i;
		if (calls[i].call->start_ns > calls[a->last].call->start_ns)
			a->last = i;
	}
	for (size_t i = 0; i < a->n; i++)
		if (i != a->last && calls[i].call->start_ns > before_ns)
			before_ns = calls[i].call->start_ns;
	a->late_ns = calls[a->last].call->start_ns - calls[a->first].call->start_ns;
	a->delay_ns = calls[a->last].call->start_ns - before_ns;
}

static enum ht_status list_arrivals(struct lateness *l, size_t k)
{
	const struct ht_chosen_call *calls = NULL;
	size_t n = 0;
	HT_TRY(ht_chosen_calls_get(l->run, l->parts, k, &calls, &n));
	l->arrivals = ht_arena_alloc(l->run->scratch, (n + 1) * sizeof *l->arrivals);
	if (!l->arrivals)
		return ht_fail_nomem(l->run->ctx);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && calls[end].collective == calls[i].collective; end++)
			;
		if (!makes_wait(l->run->clocks[0], calls + i, end - i))
			continue;
		l->arrivals[l->n] = (struct ht_arrival){
			.collective = calls[i].collective, .calls = calls + i, .n = end - i
		};
		arrive(&l->arrivals[l->n++]);
	}
	return HT_OK;
}

/* ---- uncertainty ---- */

static int by_group(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	int order = strcmp(a->collective->group, b->collective->group);
	if (order)
		return order;
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

static int by_collective(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

/* How far each rank leaves from the middle of all, at most. */
static void measure_ends(struct lateness *l, const struct ht_arrival *a)
{
	for (size_t i = 0; i < a->n; i++)
		l->values[i] = a->calls[i].call->end_ns;
	int64_t middle_ns = ht_median_i64(l->values, a->n);
	for (size_t i = 0; i < a->n; i++) {
		int64_t ns = llabs(a->calls[i].call->end_ns - middle_ns);
		int64_t *apart_ns = &l->apart_ns[a->calls[i].i_part];
		*apart_ns = ns > *apart_ns ? ns : *apart_ns;
	}
}

static int64_t between_ns(
        const struct lateness *l, const struct ht_chosen_call *a, const struct ht_chosen_call *b)
{
	int64_t clocks_ns =
	        ht_clocks_between_ns(l->run->clocks[0], a->call->i_rank, b->call->i_rank);
	int64_t ends_ns = l->apart_ns[a->i_part] + l->apart_ns[b->i_part];
	return clocks_ns != HT_NO_I64 && clocks_ns < ends_ns ? clocks_ns : ends_ns;
}

/* Of the last rank against whom it is compared with; the larger of the two. */
static void find_uncertainty(const struct lateness *l, struct ht_arrival *a)
{
	const struct ht_chosen_call *last = &a->calls[a->last];
	for (size_t i = 0; i < a->n; i++) {
		bool is_before = last->call->start_ns - a->calls[i].call->start_ns == a->delay_ns;
		if (i == a->last || (i != a->first && !is_before))
			continue;
		int64_t ns = between_ns(l, last, &a->calls[i]);
		a->uncertainty_ns = ns > a->uncertainty_ns ? ns : a->uncertainty_ns;
	}
}

static void compare_ends(struct lateness *l)
{
	qsort(l->arrivals, l->n, sizeof *l->arrivals, by_group);
	for (size_t i = 0, end; i < l->n; i = end) {
		const char *group = l->arrivals[i].collective->group;
		memset(l->apart_ns, 0, l->parts->n * sizeof *l->apart_ns);
		for (end = i; end < l->n && !strcmp(l->arrivals[end].collective->group, group);
		        end++)
			measure_ends(l, &l->arrivals[end]);
		for (size_t k = i; k < end; k++)
			find_uncertainty(l, &l->arrivals[k]);
	}
	qsort(l->arrivals, l->n, sizeof *l->arrivals, by_collective);
}

/* ---- sums ---- */

static void add_up(struct lateness *l, const struct ht_arrival *a)
{
	int64_t first_ns = a->calls[a->first].call->start_ns;
	int64_t last_ns = a->calls[a->last].call->start_ns;
	int64_t step = a->collective->step;
	for (size_t i = 0; i < a->n; i++) {
		const struct ht_comm_call *call = a->calls[i].call;
		struct ht_late_rank *rank = &l->ranks[a->calls[i].i_part];
		struct cell *cell = cell_of(l, a->calls[i].i_part, step);
		int64_t late_ns = call->start_ns - first_ns;
		rank->n_collectives++;
		rank->late_ns += late_ns;
		if (!rank->worst || late_ns > rank->late_max_ns) {
			rank->worst = a->collective;
			rank->worst_call = call;
			rank->late_max_ns = late_ns;
		}
		if (cell)
			cell->wait_ns += last_ns - call->start_ns;
	}
	if (!a->late_ns)
		return;
	struct ht_late_rank *rank = &l->ranks[a->calls[a->last].i_part];
	struct cell *cell = cell_of(l, a->calls[a->last].i_part, step);
	rank->n_last++;
	rank->delay_ns += a->delay_ns;
	rank->uncertainty_ns += a->uncertainty_ns;
	if (cell && a->delay_ns > a->uncertainty_ns) {
		cell->excess_ns += a->delay_ns - a->uncertainty_ns;
		cell->delay_ns += a->delay_ns;
	}
}

/* ---- verdict ---- */

/* What the middle half of the steps of a rank vary by in their own time; HT_NO_I64 for fewer than two. */
static int64_t variation_ns(struct lateness *l, size_t i_part, size_t *ret_n_steps)
{
	const struct cell *cells = &l->cells[i_part * l->n_steps];
	size_t n = 0;
	for (size_t s = 0; s < l->n_steps; s++)
		if (cells[s].span_ns != HT_NO_I64)
			l->values[n++] = cells[s].span_ns - cells[s].wait_ns;
	*ret_n_steps = n;
	if (n < 2)
		return HT_NO_I64;
	qsort(l->values, n, sizeof *l->values, compare_i64);
	return l->values[n - 1 - n / 4] - l->values[n / 4];
}

/* What the other ranks exceed by in the same step. */
static int64_t usual_ns(struct lateness *l, size_t i_part, size_t s)
{
	size_t n = 0;
	for (size_t p = 0; p < l->parts->n; p++)
		if (p != i_part && l->cells[p * l->n_steps + s].span_ns != HT_NO_I64)
			l->values[n++] = l->cells[p * l->n_steps + s].excess_ns;
	return n ? ht_median_i64(l->values, n) : 0;
}

static void judge(struct lateness *l, size_t i_part)
{
	struct ht_late_rank *rank = &l->ranks[i_part];
	int64_t varies_ns = variation_ns(l, i_part, &rank->n_steps);
	for (size_t s = 0; varies_ns != HT_NO_I64 && s < l->n_steps; s++) {
		const struct cell *cell = &l->cells[i_part * l->n_steps + s];
		if (cell->span_ns == HT_NO_I64 || !cell->excess_ns ||
		        cell->excess_ns - usual_ns(l, i_part, s) <= varies_ns)
			continue;
		if (!rank->n_late_steps++ || cell->delay_ns < rank->least_ns)
			rank->least_ns = cell->delay_ns;
		rank->most_ns = cell->delay_ns > rank->most_ns ? cell->delay_ns : rank->most_ns;
		rank->late_steps_ns += cell->delay_ns;
	}
	rank->is_candidate = 2 * rank->n_late_steps > rank->n_steps;
}

enum ht_status ht_lateness_find(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        size_t steps_k, struct ht_arrival **ret_arrivals, size_t *ret_n,
        struct ht_late_rank **ret_ranks)
{
	struct lateness l = { .run = run, .parts = parts };
	HT_TRY(list_arrivals(&l, calls_k));
	HT_TRY(list_steps(&l, steps_k));
	HT_TRY(make_cells(&l, steps_k));
	compare_ends(&l);
	for (size_t i = 0; i < l.n; i++)
		add_up(&l, &l.arrivals[i]);
	for (size_t p = 0; p < parts->n; p++)
		judge(&l, p);
	*ret_arrivals = l.arrivals;
	*ret_n = l.n;
	*ret_ranks = l.ranks;
	return HT_OK;
}
