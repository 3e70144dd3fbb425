/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_time.c - see own_time.h.
 *
 *   arrivals, by group ─► cells [member][step] of each group ─► own time ─► who is late [member][step] ─► verdicts, set
 */
#include "model/stragglers/own_time.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/numbers/stats.h"
#include "store/columns.h"

#include <string.h>

const struct ht_column ht_step_work_columns[HT_N_STEP_WORK_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_STEP_WORK_COLUMNS);

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
		if (ht_step_of(t, row) == HT_NONE)
			continue;
		struct ht_interval *span = &spans[ht_step_of(t, row)];
		span->start = t->ts_ns[row] < span->start ? t->ts_ns[row] : span->start;
		span->end = ht_end_ns(t, row) > span->end ? ht_end_ns(t, row) : span->end;
	}
	/* a recording of the host alone has the host's steps */
	for (size_t i = 0; !frame->n_gpu && i < frame->n_rows; i++) {
		uint32_t step = ht_step_of(t, frame->rows[i]);
		if (step != HT_NONE)
			spans[step] = (struct ht_interval){ 0, 1 };
	}
	for (size_t i = 0; i < t->n_steps; i++) {
		if (spans[i].end <= spans[i].start)
			continue;
		int64_t gpu_ns = frame->n_gpu ? spans[i].end - spans[i].start : 0;
		int64_t host_ns = t->steps[i].end_ns - t->steps[i].ts_ns;
		ht_table_row(table);
		ht_table_put_i64(table, HT_STEP_WORK_STEP, t->steps[i].number);
		ht_table_put_i64(table, HT_STEP_WORK_SPAN_NS, gpu_ns > host_ns ? gpu_ns : host_ns);
	}
	return HT_OK;
}

/* ---- all ranks ---- */

/* A member of a group in a step. */
struct cell {
	int64_t last_end_ns; /* of its last collective */
	int64_t own_ns;      /* HT_NO_I64: the step does not count */
	int64_t unwaited_ns; /* its time without waits, hidden or not */
	int64_t late_ns;     /* above the latest of those that are not late, itself not counted */
	size_t n;            /* collectives */
	bool is_late;
};

struct group {
	const struct ht_arrival *arrivals;
	size_t n_arrivals;
	size_t *members; /* parts, ascending */
	size_t n;
	struct cell *cells; /* by member, then step */
	bool *counts;       /* by step: every member is in it, with as many collectives */
	int64_t *sorted_ns; /* by step: own times, ascending */
	int64_t *
	        usual_ns; /* by number of late members: what the others are apart; -1: not asked yet */
	bool *is_candidate;     /* by member */
	struct ht_late_set set; /* the candidates */
};

struct judging {
	struct ht_run *run;
	const struct ht_parts *parts;
	const struct ht_lateness *lateness;
	const struct ht_rank_waits *waits;
	int64_t *steps; /* different numbers, ascending */
	size_t n_steps;
	int64_t *span_ns; /* by part, then step; HT_NO_I64: not in that step */
	int64_t *
	        first_ns; /* by part, then step: start of its first communication; HT_NO_I64: none */
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
			j->steps[n_all++] =
			        ht_table_i64(j->parts->list[p].facts[k], i, HT_STEP_WORK_STEP);
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
	j->first_ns = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->first_ns);
	if (!j->span_ns || !j->first_ns)
		return ht_fail_nomem(j->run->ctx);
	for (size_t i = 0; i < n; i++)
		j->span_ns[i] = j->first_ns[i] = HT_NO_I64;
	for (size_t p = 0; p < j->parts->n; p++) {
		const ht_table *facts = j->parts->list[p].facts[k];
		for (size_t i = 0; i < ht_table_n_rows(facts); i++)
			j->span_ns[p * j->n_steps +
			           find_step(j, ht_table_i64(facts, i, HT_STEP_WORK_STEP))] =
			        ht_table_i64(facts, i, HT_STEP_WORK_SPAN_NS);
	}
	for (size_t i = 0; i < j->lateness->n_calls; i++) {
		const struct ht_chosen_call *chosen = &j->lateness->calls[i];
		size_t s = find_step(j, chosen->collective->step);
		if (s == SIZE_MAX)
			continue;
		int64_t *first_ns = &j->first_ns[chosen->i_part * j->n_steps + s];
		if (*first_ns == HT_NO_I64 || chosen->call->start_ns < *first_ns)
			*first_ns = chosen->call->start_ns;
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
	}
}

/* A step counts when no recording ends in it: each member has as many collectives. */
static void find_whole_steps(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		size_t n = g->cells[s].n;
		g->counts[s] = n > 0;
		for (size_t m = 0; m < g->n; m++)
			g->counts[s] &= g->cells[m * j->n_steps + s].n == n &&
			                j->span_ns[g->members[m] * j->n_steps + s] != HT_NO_I64;
	}
}

/* From leaving the last collective of the step before. Where that is not looked at all have as much time, and only waits
 * are compared. */
static void find_own_time(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		bool before = s && g->counts[s - 1] && j->steps[s - 1] == j->steps[s] - 1;
		for (size_t m = 0; m < g->n; m++) {
			struct cell *cell = &g->cells[m * j->n_steps + s];
			const struct ht_times *exposed = &j->waits[g->members[m]].exposed,
			                      *waits = &j->waits[g->members[m]].waits;
			cell->own_ns = HT_NO_I64;
			if (!g->counts[s])
				continue;
			int64_t from_ns = before ? cell[-1].last_end_ns
			                         : j->first_ns[g->members[m] * j->n_steps + s];
			int64_t to_ns = cell->last_end_ns;
			int64_t all_ns = before ? ht_sub_sat(to_ns, from_ns) : 0;
			cell->own_ns = all_ns - ht_interval_within(
			                                exposed->list, exposed->n, from_ns, to_ns);
			cell->unwaited_ns =
			        all_ns - ht_interval_within(waits->list, waits->n, from_ns, to_ns);
		}
	}
}

/* Own times of a step, sorted. */
static void sort_own_times(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		int64_t *sorted = &g->sorted_ns[s * g->n];
		if (!g->counts[s])
			continue;
		for (size_t m = 0; m < g->n; m++)
			sorted[m] = g->cells[m * j->n_steps + s].own_ns;
		ht_sort_i64(sorted, g->n);
	}
}

/* What the middle half of the members is apart in a step, without the latest. */
static int64_t apart_ns(const struct group *g, size_t s, size_t n_late)
{
	const int64_t *sorted = &g->sorted_ns[s * g->n];
	size_t n = g->n - n_late;
	if (n < 2 || !g->counts[s])
		return HT_NO_I64;
	return ht_sub_sat(sorted[n - 1 - n / 4], sorted[n / 4]);
}

static enum ht_status fill_group(struct judging *j, struct group *g)
{
	struct ht_arena *scratch = j->run->scratch;
	HT_TRY(list_members(j, g));
	g->cells = ht_arena_alloc(scratch, (g->n * j->n_steps + 1) * sizeof *g->cells);
	g->counts = ht_arena_alloc(scratch, (j->n_steps + 1) * sizeof *g->counts);
	g->sorted_ns = ht_arena_alloc(scratch, (g->n * j->n_steps + 1) * sizeof *g->sorted_ns);
	g->usual_ns = ht_arena_alloc(scratch, (g->n + 1) * sizeof *g->usual_ns);
	g->is_candidate = ht_arena_alloc(scratch, (g->n + 1) * sizeof *g->is_candidate);
	g->set.parts = ht_arena_alloc(scratch, (g->n + 1) * sizeof *g->set.parts);
	if (!g->cells || !g->counts || !g->sorted_ns || !g->usual_ns || !g->is_candidate ||
	        !g->set.parts)
		return ht_fail_nomem(j->run->ctx);
	for (size_t i = 0; i < g->n_arrivals; i++)
		add_arrival(j, g, &g->arrivals[i]);
	find_whole_steps(j, g);
	find_own_time(j, g);
	sort_own_times(j, g);
	memset(g->usual_ns, 0xff, (g->n + 1) * sizeof *g->usual_ns);
	return HT_OK;
}

/* ---- who is late in a step ---- */

/* What the other groups are apart, in the median: for a group of two, which leaves one to compare with. Larger groups tell it; pairs,
 * where there are only those, may be all of a slow and a fast rank, so those with ranks of this one tell nothing. */
static int64_t elsewhere_apart_ns(const struct judging *j, const struct group *of, size_t s)
{
	size_t n[2] = { 0 };
	for (int pairs = 0; pairs < 2 && !n[0]; pairs++)
		for (size_t i = 0; i < j->n_groups; i++) {
			const struct group *g = &j->groups[i];
			int64_t ns = apart_ns(g, s, 0);
			bool shares = false;
			for (size_t m = 0; pairs && m < of->n; m++)
				shares |= is_member(g, of->members[m]);
			if (ns != HT_NO_I64 && !shares && (g->n == 2) == pairs)
				j->values[n[pairs]++] = ns;
		}
	size_t n_all = n[0] ? n[0] : n[1];
	return n_all ? ht_median_i64(j->values, n_all) : 0;
}

static int64_t others_apart_ns(
        const struct judging *j, const struct group *g, size_t s, size_t n_late)
{
	int64_t ns = apart_ns(g, s, n_late);
	return ns != HT_NO_I64 ? ns : elsewhere_apart_ns(j, g, s);
}

/* What is not exceeded in three quarters of the steps. The room of values is used behind that for groups. */
static int64_t usually_apart_ns(const struct judging *j, struct group *g, size_t n_late)
{
	int64_t *values = j->values + j->n_groups;
	size_t n = 0;
	if (g->usual_ns[n_late] >= 0)
		return g->usual_ns[n_late];
	for (size_t s = 0; s < j->n_steps; s++)
		if (g->counts[s])
			values[n++] = others_apart_ns(j, g, s, n_late);
	ht_sort_i64(values, n);
	return g->usual_ns[n_late] = n ? values[n - 1 - n / 4] : 0;
}

static int64_t span_of(const struct judging *j, const struct group *g, size_t s)
{
	return j->span_ns[g->members[0] * j->n_steps + s];
}

/* How many members are late in a step: as many as stand apart from the rest, half of them at most. */
static size_t count_late(const struct judging *j, struct group *g, size_t s)
{
	const int64_t *sorted = &g->sorted_ns[s * g->n];
	for (size_t n_late = g->n / 2; n_late; n_late--) {
		int64_t gap_ns = ht_sub_sat(sorted[g->n - n_late], sorted[g->n - n_late - 1]);
		if ((double)gap_ns <= HT_LATE_SHARE * (double)span_of(j, g, s))
			continue;
		int64_t apart = others_apart_ns(j, g, s, n_late);
		int64_t usual = usually_apart_ns(j, g, n_late);
		apart = apart > usual ? apart : usual;
		if (gap_ns > ht_add_sat(apart, apart))
			return n_late;
	}
	return 0;
}

/* How much less any of the others waits. */
static int64_t least_waiting_ns(const struct judging *j, const struct group *g, size_t s)
{
	int64_t most_ns = INT64_MIN;
	for (size_t m = 0; m < g->n; m++) {
		const struct cell *cell = &g->cells[m * j->n_steps + s];
		if (!cell->is_late && cell->unwaited_ns > most_ns)
			most_ns = cell->unwaited_ns;
	}
	return most_ns;
}

/* What others do not wait for is no loss: where communication takes longer than computing, a rank that computes for longer
 * delays nothing. */
static void cap_lateness(const struct judging *j, struct group *g, size_t s)
{
	int64_t rest_ns = least_waiting_ns(j, g, s);
	for (size_t m = 0; m < g->n; m++) {
		struct cell *cell = &g->cells[m * j->n_steps + s];
		int64_t waited_ns = ht_sub_sat(cell->unwaited_ns, rest_ns);
		if (!cell->is_late || waited_ns >= cell->late_ns)
			continue;
		cell->late_ns = waited_ns;
		cell->is_late = (double)waited_ns > HT_LATE_SHARE * (double)span_of(j, g, s);
	}
}

static void mark_late(const struct judging *j, struct group *g)
{
	for (size_t s = 0; s < j->n_steps; s++) {
		const int64_t *sorted = &g->sorted_ns[s * g->n];
		if (!g->counts[s])
			continue;
		size_t n_rest = g->n - count_late(j, g, s);
		int64_t latest = sorted[n_rest - 1];
		int64_t second = n_rest > 1 ? sorted[n_rest - 2] : latest;
		for (size_t m = 0; m < g->n; m++) {
			struct cell *cell = &g->cells[m * j->n_steps + s];
			cell->is_late = n_rest < g->n && cell->own_ns >= sorted[n_rest];
			/* with nobody late, the latest is compared with the one before it */
			cell->late_ns = ht_sub_sat(cell->own_ns,
			        !cell->is_late && cell->own_ns == latest ? second : latest);
		}
		if (n_rest < g->n)
			cap_lateness(j, g, s);
	}
}

/* ---- verdicts ---- */

/* What a member's lateness varies by. A rank may be late in some steps only: where its lateness has two levels, far apart,
 * what it varies by within them. Sorts the values. */
static int64_t variation_ns(int64_t *values, size_t n)
{
	int64_t all_ns = middle_half_ns(values, n), widest = 0;
	size_t at = 0;
	for (size_t i = 1; i < n; i++)
		if (ht_sub_sat(values[i], values[i - 1]) > widest) {
			widest = ht_sub_sat(values[i], values[i - 1]);
			at = i;
		}
	if (at < 2 || n - at < 2)
		return all_ns;
	int64_t low_ns = ht_sub_sat(values[at - 1], values[0]);
	int64_t high_ns = ht_sub_sat(values[n - 1], values[at]);
	int64_t within_ns = low_ns > high_ns ? low_ns : high_ns;
	return widest > ht_add_sat(within_ns, within_ns) ? within_ns : all_ns;
}

static bool is_beyond(
        const struct judging *j, const struct group *g, size_t m, size_t s, int64_t varies_ns)
{
	const struct cell *cell = &g->cells[m * j->n_steps + s];
	return cell->is_late && g->counts[s] && varies_ns != HT_NO_I64 && cell->late_ns > varies_ns;
}

/* In which of its steps a member is late beyond what it varies by. Of a candidate all count in which it is late: who gets slower from step
 * to step varies by that. */
static void judge_member(const struct judging *j, struct group *g, size_t m)
{
	struct cell *cells = &g->cells[m * j->n_steps];
	size_t n = 0, n_late = 0;
	for (size_t s = 0; s < j->n_steps; s++)
		if (g->counts[s])
			j->values[n++] = cells[s].late_ns;
	int64_t varies_ns = variation_ns(j->values, n);
	for (size_t s = 0; s < j->n_steps; s++)
		n_late += is_beyond(j, g, m, s, varies_ns);
	g->is_candidate[m] = 2 * n_late > n || (2 * n_late == n && n_late >= HT_LATE_HALF_LEAST);
	for (size_t s = 0; s < j->n_steps; s++)
		cells[s].is_late &=
		        g->counts[s] && (g->is_candidate[m] || is_beyond(j, g, m, s, varies_ns));
}

/* What a step would lose without those of the candidates that are late in it: the latest of them against everybody else. */
static void measure_set(const struct judging *j, struct group *g)
{
	for (size_t m = 0; m < g->n; m++)
		if (g->is_candidate[m])
			g->set.parts[g->set.n++] = g->members[m];
	for (size_t s = 0; g->set.n && s < j->n_steps; s++) {
		int64_t latest_ns = INT64_MIN, rest_ns = INT64_MIN, late_ns = 0;
		g->set.n_steps += g->counts[s];
		for (size_t m = 0; g->counts[s] && m < g->n; m++) {
			const struct cell *cell = &g->cells[m * j->n_steps + s];
			bool is_of = g->is_candidate[m] && cell->is_late;
			int64_t *of = is_of ? &latest_ns : &rest_ns;
			*of = cell->own_ns > *of ? cell->own_ns : *of;
			late_ns = is_of && cell->late_ns > late_ns ? cell->late_ns : late_ns;
		}
		if (latest_ns <= rest_ns || rest_ns == INT64_MIN)
			continue;
		int64_t lost_ns = ht_sub_sat(latest_ns, rest_ns);
		g->set.n_late_steps++;
		ht_sum(&g->set.lost_ns, lost_ns < late_ns ? lost_ns : late_ns);
	}
}

/* The verdict from one of its groups; numbers are those of the group in which it is latest. */
static void say_verdict(
        const struct judging *j, const struct group *g, size_t m, struct ht_verdict *verdict)
{
	const struct cell *cells = &g->cells[m * j->n_steps];
	struct ht_verdict v = { .members = g->members,
		.n_members = g->n,
		.i_member = m,
		.lateness_ns = HT_NO_I64,
		.is_candidate = g->is_candidate[m],
		.set = g->is_candidate[m] ? &g->set : NULL };
	for (size_t s = 0; s < j->n_steps; s++) {
		if (g->counts[s])
			j->values[v.n_steps++] = cells[s].late_ns;
		if (!cells[s].is_late)
			continue;
		if (!v.n_late_steps++ || cells[s].late_ns < v.least_ns)
			v.least_ns = cells[s].late_ns;
		v.most_ns = cells[s].late_ns > v.most_ns ? cells[s].late_ns : v.most_ns;
		ht_sum(&v.late_steps_ns, cells[s].late_ns);
	}
	if (v.n_steps)
		v.lateness_ns = v.is_candidate ? v.late_steps_ns / (int64_t)v.n_steps
		                               : ht_median_i64(j->values, v.n_steps);
	if (verdict->lateness_ns == HT_NO_I64 || v.is_candidate > verdict->is_candidate ||
	        (v.is_candidate == verdict->is_candidate && v.lateness_ns > verdict->lateness_ns))
		*verdict = v;
}

static void judge_all(const struct judging *j, struct ht_verdict *verdicts)
{
	for (size_t p = 0; p < j->parts->n; p++)
		verdicts[p] = (struct ht_verdict){ .lateness_ns = HT_NO_I64 };
	for (size_t i = 0; i < j->n_groups; i++)
		mark_late(j, &j->groups[i]);
	for (size_t i = 0; i < j->n_groups; i++) {
		struct group *g = &j->groups[i];
		for (size_t m = 0; m < g->n; m++)
			judge_member(j, g, m);
		measure_set(j, g);
		for (size_t m = 0; m < g->n; m++)
			say_verdict(j, g, m, &verdicts[g->members[m]]);
	}
}

/* ---- ranks that differ ---- */

static int64_t middle_unwaited_ns(const struct judging *j, const struct group *g, size_t s)
{
	for (size_t m = 0; m < g->n; m++)
		j->values[m] = g->cells[m * j->n_steps + s].unwaited_ns;
	ht_sort_i64(j->values, g->n);
	return j->values[g->n / 2];
}

static enum ht_status measure_spread(
        const struct judging *j, const struct group *g, struct ht_rank_spread *ret_spread)
{
	struct ht_rank_spread spread = { 0 };
	bool *is_latest = ht_arena_alloc(j->run->scratch, g->n + 1);
	if (!is_latest)
		return ht_fail_nomem(j->run->ctx);
	for (size_t s = 0; s < j->n_steps; s++) {
		const int64_t *sorted = &g->sorted_ns[s * g->n];
		size_t latest = 0;
		if (!g->counts[s])
			continue;
		for (size_t m = 0; m < g->n; m++)
			if (g->cells[m * j->n_steps + s].own_ns == sorted[g->n - 1])
				latest = m;
		int64_t more_ns = ht_sub_sat(sorted[g->n - 1], sorted[(g->n - 1) / 2]);
		int64_t waited_ns = ht_sub_sat(
		        g->cells[latest * j->n_steps + s].unwaited_ns, middle_unwaited_ns(j, g, s));
		more_ns = more_ns < waited_ns ? more_ns : waited_ns;
		ht_sum(&spread.lost_ns, more_ns > 0 ? more_ns : 0);
		ht_sum(&spread.span_ns, span_of(j, g, s));
		spread.n_latest += !is_latest[latest];
		is_latest[latest] = true;
		spread.n_steps++;
	}
	if (spread.lost_ns > ret_spread->lost_ns)
		*ret_spread = spread;
	return HT_OK;
}

enum ht_status ht_own_time_judge(struct ht_run *run, const struct ht_parts *parts, size_t steps_k,
        const struct ht_lateness *lateness, const struct ht_rank_waits *waits,
        struct ht_verdict **ret_verdicts, struct ht_rank_spread *ret_spread)
{
	struct judging j = { .run = run, .parts = parts, .lateness = lateness, .waits = waits };
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
	judge_all(&j, verdicts);
	*ret_spread = (struct ht_rank_spread){ 0 };
	for (size_t i = 0; i < j.n_groups; i++)
		HT_TRY(measure_spread(&j, &j.groups[i], ret_spread));
	*ret_verdicts = verdicts;
	return HT_OK;
}
