/*
 * own_time.c - see own_time.h.
 *
 *   arrivals, by group ─► cells [member][step] of each group ─► own time ─► lateness [part][step] ─► verdict
 */
#include "model/stragglers/own_time.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/numbers/interval.h"
#include "model/numbers/stats.h"

#include <string.h>

const struct ht_column ht_step_work_columns[HT_N_STEP_WORK_COLUMNS] = {
	{ "step", HT_I64, HT_KEY, "profiler step that launched the work", NULL },
	{ "span_ns", HT_DURATION, HT_MEASURE,
	        "length of the step, or of its GPU work when that takes longer", NULL },
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
		/* a recording of the host alone has the host's steps */
		if (spans[i].end <= spans[i].start && frame->n_gpu)
			continue;
		int64_t gpu_ns = frame->n_gpu ? spans[i].end - spans[i].start : 0;
		int64_t host_ns = t->steps[i].end_ns - t->steps[i].ts_ns;
		ht_table_row(table);
		ht_table_put_i64(table, t->steps[i].number);
		ht_table_put_i64(table, gpu_ns > host_ns ? gpu_ns : host_ns);
	}
	return HT_OK;
}

/* ---- all ranks ---- */

/* A member of a group in a step. */
struct cell {
	int64_t inside_ns, wait_ns; /* time in its collectives, and waits in them */
	int64_t last_end_ns;        /* of its last collective */
	int64_t own_ns;             /* HT_NO_I64: no collective in the step */
	size_t n;
};

struct group {
	const struct ht_arrival *arrivals;
	size_t n_arrivals;
	size_t *members; /* parts, ascending */
	size_t n;
	struct cell *cells; /* by member, then step */
	int64_t *sorted_ns; /* by step: own times, ascending */
	size_t *n_sorted;   /* by step: how many */
};

struct judging {
	struct ht_run *run;
	const struct ht_parts *parts;
	const struct ht_lateness *lateness;
	int64_t *steps; /* different numbers, ascending */
	size_t n_steps;
	int64_t *span_ns, *wait_ns; /* by part, then step; span HT_NO_I64: not in that step */
	struct group *groups;
	size_t n_groups;
	size_t *member_of; /* by part, of the group in hand; SIZE_MAX: it is none */
	int64_t *values;   /* room for a number per rank, step or group */
};

/* What the middle half of some numbers is apart; sorts them. */
static int64_t middle_half_ns(int64_t *values, size_t n)
{
	if (n < 2)
		return HT_NO_I64;
	ht_sort_i64(values, n);
	return ht_sub_sat(values[n - 1 - n / 4], values[n / 4]);
}

/* ---- steps ---- */

static size_t find_step(const struct judging *j, int64_t step)
{
	size_t at = ht_lower_bound_i64(j->steps, j->n_steps, step);
	return at < j->n_steps && j->steps[at] == step ? at : SIZE_MAX;
}

static enum ht_status list_steps(struct judging *j, size_t k)
{
	size_t n = ht_parts_n_rows(j->parts, k), n_all = 0;
	j->steps = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->steps);
	if (!j->steps)
		return ht_fail_nomem(j->run->ctx);
	for (size_t p = 0; p < j->parts->n; p++)
		for (size_t i = 0; i < ht_table_n_rows(j->parts->list[p].facts[k]); i++)
			j->steps[n_all++] = ht_table_i64(j->parts->list[p].facts[k], i, STEP);
	ht_sort_i64(j->steps, n_all);
	for (size_t i = 0; i < n_all; i++)
		if (!i || j->steps[i] != j->steps[j->n_steps - 1])
			j->steps[j->n_steps++] = j->steps[i];
	return HT_OK;
}

static enum ht_status fill_spans(struct judging *j, size_t k)
{
	size_t n = j->parts->n * j->n_steps;
	j->span_ns = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->span_ns);
	j->wait_ns = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->wait_ns);
	if (!j->span_ns || !j->wait_ns)
		return ht_fail_nomem(j->run->ctx);
	for (size_t i = 0; i < n; i++)
		j->span_ns[i] = HT_NO_I64;
	for (size_t p = 0; p < j->parts->n; p++) {
		const ht_table *facts = j->parts->list[p].facts[k];
		for (size_t i = 0; i < ht_table_n_rows(facts); i++)
			j->span_ns[p * j->n_steps + find_step(j, ht_table_i64(facts, i, STEP))] =
			        ht_table_i64(facts, i, SPAN);
	}
	for (size_t i = 0; i < j->lateness->n_calls; i++) {
		const struct ht_chosen_call *chosen = &j->lateness->calls[i];
		size_t s = find_step(j, chosen->collective->step);
		if (s != SIZE_MAX && chosen->call->wait_ns != HT_NO_I64)
			ht_sum(&j->wait_ns[chosen->i_part * j->n_steps + s], chosen->call->wait_ns);
	}
	return HT_OK;
}

/* ---- groups ---- */

static int by_group(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	int order = strcmp(a->collective->group, b->collective->group);
	if (order)
		return order;
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

static enum ht_status list_groups(struct judging *j)
{
	size_t n = j->lateness->n;
	struct ht_arrival *arrivals = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *arrivals);
	j->groups = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->groups);
	if (!arrivals || !j->groups)
		return ht_fail_nomem(j->run->ctx);
	if (n)
		memcpy(arrivals, j->lateness->arrivals, n * sizeof *arrivals);
	ht_sort_items(j->run->ctx->mem, arrivals, n, sizeof *arrivals, by_group);
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(arrivals[i - 1].collective->group, arrivals[i].collective->group))
			j->groups[j->n_groups++] = (struct group){ .arrivals = &arrivals[i] };
		j->groups[j->n_groups - 1].n_arrivals++;
	}
	return HT_OK;
}

static enum ht_status list_members(struct judging *j, struct group *g)
{
	size_t n = 0;
	for (size_t p = 0; p < j->parts->n; p++)
		j->member_of[p] = SIZE_MAX;
	for (size_t i = 0; i < g->n_arrivals; i++)
		for (size_t k = 0; k < g->arrivals[i].n; k++) {
			size_t *member = &j->member_of[g->arrivals[i].calls[k].i_part];
			n += *member == SIZE_MAX;
			*member = 0;
		}
	g->members = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *g->members);
	if (!g->members)
		return ht_fail_nomem(j->run->ctx);
	for (size_t p = 0; p < j->parts->n; p++)
		if (j->member_of[p] != SIZE_MAX) {
			j->member_of[p] = g->n;
			g->members[g->n++] = p;
		}
	return HT_OK;
}

static bool is_member(const struct group *g, size_t part)
{
	size_t at = HT_LOWER_BOUND(m, g->n, g->members[m] < part);
	return at < g->n && g->members[at] == part;
}

static void add_arrival(const struct judging *j, struct group *g, const struct ht_arrival *a)
{
	size_t s = find_step(j, a->collective->step);
	for (size_t i = 0; s != SIZE_MAX && i < a->n; i++) {
		const struct ht_comm_call *call = a->calls[i].call;
		size_t m = j->member_of[a->calls[i].i_part];
		struct cell *cell = &g->cells[m * j->n_steps + s];
		if (!cell->n++ || call->end_ns > cell->last_end_ns)
			cell->last_end_ns = call->end_ns;
		ht_sum(&cell->inside_ns, ht_sub_sat(call->end_ns, call->start_ns));
		if (call->wait_ns != HT_NO_I64)
			ht_sum(&cell->wait_ns, call->wait_ns);
	}
}

/* Whether all members that are in a step were in the one before. */
static bool has_before(const struct judging *j, const struct group *g, size_t s)
{
	if (!s || j->steps[s - 1] != j->steps[s] - 1)
		return false;
	for (size_t m = 0; m < g->n; m++) {
		const struct cell *cell = &g->cells[m * j->n_steps + s];
		if (cell->n && !cell[-1].n)
			return false;
	}
	return true;
}

static void find_own_time(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		bool before = has_before(j, g, s);
		for (size_t m = 0; m < g->n; m++) {
			struct cell *cell = &g->cells[m * j->n_steps + s];
			size_t at = g->members[m] * j->n_steps + s;
			int64_t elsewhere_ns = ht_sub_sat(j->wait_ns[at], cell->wait_ns);
			cell->own_ns = HT_NO_I64;
			if (!cell->n || j->span_ns[at] == HT_NO_I64)
				continue;
			cell->own_ns = ht_sub_sat(0, cell->inside_ns);
			if (elsewhere_ns > 0)
				cell->own_ns = ht_sub_sat(cell->own_ns, elsewhere_ns);
			if (before)
				ht_sum(&cell->own_ns,
				        ht_sub_sat(cell->last_end_ns, cell[-1].last_end_ns));
		}
	}
}

/* Own times of a step, sorted. */
static void sort_own_times(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		int64_t *sorted = &g->sorted_ns[s * g->n];
		for (size_t m = 0; m < g->n; m++) {
			int64_t own_ns = g->cells[m * j->n_steps + s].own_ns;
			if (own_ns != HT_NO_I64)
				sorted[g->n_sorted[s]++] = own_ns;
		}
		ht_sort_i64(sorted, g->n_sorted[s]);
	}
}

/* What the middle half of the members is apart in a step, without the one at a position (SIZE_MAX: of all). */
static int64_t apart_ns(const struct group *g, size_t s, size_t but)
{
	const int64_t *sorted = &g->sorted_ns[s * g->n];
	size_t n = g->n_sorted[s] - (but != SIZE_MAX);
	if (n < 2 || !g->n_sorted[s])
		return HT_NO_I64;
	return ht_sub_sat(
	        ht_sorted_but(sorted, but, n - 1 - n / 4), ht_sorted_but(sorted, but, n / 4));
}

static enum ht_status fill_group(struct judging *j, struct group *g)
{
	struct ht_arena *scratch = j->run->scratch;
	HT_TRY(list_members(j, g));
	g->cells = ht_arena_alloc(scratch, (g->n * j->n_steps + 1) * sizeof *g->cells);
	g->sorted_ns = ht_arena_alloc(scratch, (g->n * j->n_steps + 1) * sizeof *g->sorted_ns);
	g->n_sorted = ht_arena_alloc(scratch, (j->n_steps + 1) * sizeof *g->n_sorted);
	if (!g->cells || !g->sorted_ns || !g->n_sorted)
		return ht_fail_nomem(j->run->ctx);
	for (size_t i = 0; i < g->n_arrivals; i++)
		add_arrival(j, g, &g->arrivals[i]);
	find_own_time(j, g);
	sort_own_times(j, g);
	return HT_OK;
}

/* ---- lateness ---- */

/* A member of a group by step. */
struct series {
	int64_t *late_ns;  /* HT_NO_I64: not in that step */
	int64_t *apart_ns; /* what ranks differ by without it; 0 when nothing tells */
};

/* What the other groups are apart, in the median: for a group of two, which leaves one to compare with. */
static int64_t elsewhere_apart_ns(const struct judging *j, size_t i_part, size_t s)
{
	size_t n = 0;
	for (size_t i = 0; i < j->n_groups; i++) {
		const struct group *g = &j->groups[i];
		int64_t ns = apart_ns(g, s, SIZE_MAX);
		if (ns != HT_NO_I64 && !is_member(g, i_part))
			j->values[n++] = ns;
	}
	return n ? ht_median_i64(j->values, n) : 0;
}

static void measure(const struct judging *j, const struct group *g, size_t m, struct series *series)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		const int64_t *sorted = &g->sorted_ns[s * g->n];
		int64_t own_ns = g->cells[m * j->n_steps + s].own_ns;
		size_t n = g->n_sorted[s];
		series->late_ns[s] = HT_NO_I64;
		series->apart_ns[s] = 0;
		if (own_ns == HT_NO_I64 || n < 2)
			continue;
		size_t but = ht_sorted_find(sorted, n, own_ns);
		int64_t apart = apart_ns(g, s, but);
		series->late_ns[s] = ht_sub_sat(own_ns, ht_sorted_but(sorted, but, (n - 1) / 2));
		series->apart_ns[s] =
		        apart != HT_NO_I64 ? apart : elsewhere_apart_ns(j, g->members[m], s);
	}
}

/* What is not exceeded in three quarters of the steps in which the rank is. */
static int64_t usually_apart_ns(const struct judging *j, const struct series *series)
{
	size_t n = 0;
	for (size_t s = 0; s < j->n_steps; s++)
		if (series->late_ns[s] != HT_NO_I64)
			j->values[n++] = series->apart_ns[s];
	if (!n)
		return 0;
	ht_sort_i64(j->values, n);
	return j->values[n - 1 - n / 4];
}

/* The verdict from one of its groups; the numbers of steps are those of the group in which it is latest. */
static void judge(const struct judging *j, const struct group *g, size_t m,
        const struct series *series, struct ht_verdict *verdict)
{
	size_t i_part = g->members[m];
	struct ht_verdict v = {
		.members = g->members, .n_members = g->n, .i_member = m, .lateness_ns = HT_NO_I64
	};
	int64_t usual_ns = usually_apart_ns(j, series);
	for (size_t s = 0; s < j->n_steps; s++)
		if (series->late_ns[s] != HT_NO_I64)
			j->values[v.n_steps++] = series->late_ns[s];
	int64_t varies_ns = middle_half_ns(j->values, v.n_steps);
	if (v.n_steps)
		v.lateness_ns = ht_median_i64(j->values, v.n_steps);
	for (size_t s = 0; varies_ns != HT_NO_I64 && s < j->n_steps; s++) {
		int64_t late_ns = series->late_ns[s], apart_ns = series->apart_ns[s];
		int64_t span_ns = j->span_ns[i_part * j->n_steps + s];
		apart_ns = apart_ns > usual_ns ? apart_ns : usual_ns;
		if (late_ns == HT_NO_I64 || late_ns <= varies_ns ||
		        late_ns <= ht_add_sat(apart_ns, apart_ns) ||
		        (double)late_ns <= HT_LATE_SHARE * (double)span_ns)
			continue;
		if (!v.n_late_steps++ || late_ns < v.least_ns)
			v.least_ns = late_ns;
		v.most_ns = late_ns > v.most_ns ? late_ns : v.most_ns;
		ht_sum(&v.late_steps_ns, late_ns);
	}
	v.is_candidate = 2 * v.n_late_steps > v.n_steps;
	if (verdict->lateness_ns == HT_NO_I64 || v.is_candidate > verdict->is_candidate ||
	        (v.is_candidate == verdict->is_candidate && v.lateness_ns > verdict->lateness_ns))
		*verdict = v;
}

static enum ht_status judge_all(struct judging *j, struct ht_verdict *verdicts)
{
	struct series series = { ht_arena_alloc(j->run->scratch,
		                         (j->n_steps + 1) * sizeof *series.late_ns),
		ht_arena_alloc(j->run->scratch, (j->n_steps + 1) * sizeof *series.apart_ns) };
	if (!series.late_ns || !series.apart_ns)
		return ht_fail_nomem(j->run->ctx);
	for (size_t p = 0; p < j->parts->n; p++)
		verdicts[p] = (struct ht_verdict){ .lateness_ns = HT_NO_I64 };
	for (size_t i = 0; i < j->n_groups; i++) {
		const struct group *g = &j->groups[i];
		for (size_t m = 0; m < g->n; m++) {
			measure(j, g, m, &series);
			judge(j, g, m, &series, &verdicts[g->members[m]]);
		}
	}
	return HT_OK;
}

enum ht_status ht_own_time_judge(struct ht_run *run, const struct ht_parts *parts, size_t steps_k,
        const struct ht_lateness *lateness, struct ht_verdict **ret_verdicts)
{
	struct judging j = { .run = run, .parts = parts, .lateness = lateness };
	struct ht_verdict *verdicts =
	        ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *verdicts);
	HT_TRY(list_steps(&j, steps_k));
	HT_TRY(fill_spans(&j, steps_k));
	HT_TRY(list_groups(&j));
	size_t n = parts->n + j.n_steps + j.n_groups;
	j.values = ht_arena_alloc(run->scratch, (n + 1) * sizeof *j.values);
	j.member_of = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *j.member_of);
	if (!verdicts || !j.values || !j.member_of)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < j.n_groups; i++)
		HT_TRY(fill_group(&j, &j.groups[i]));
	HT_TRY(judge_all(&j, verdicts));
	*ret_verdicts = verdicts;
	return HT_OK;
}
