/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stragglers.c - which ranks keep the others waiting, by how much, why, and at which collectives.
 *
 * A collective cannot finish before its last rank has started it. lateness.h defines late, delay and their
 * uncertainty for a collective, on the clocks of clocks.h. own_time.h defines lateness in a step: what the step would lose
 * without the rank; and when a rank is a candidate, alone or with others, up to half of a group: in most steps it has more
 * to do than the rest, by more than that varies, than the rest differs, and than 3 % of the step. Nothing is a candidate
 * by its place in a ranking, so a healthy run has none. Sends, receives and broadcasts make no lateness. Where no rank
 * is a candidate and the trace of one is missing, there is no verdict: all may be waiting for that one.
 *
 * The cause of a candidate is what it does more of than the ranks of its group (straggler.h): the GPU work or the
 * annotation whose excess is at least half of its lateness, the larger of the two; else, when all its GPU work
 * together (or all its annotations) is, the largest part of that. Its longest event is the evidence.
 *
 * Views: "ranks", sums per rank, largest delay first; "collectives", one row per collective, largest delay
 * first. A note says the verdict in words.
 *
 * Reads communication kernels, their arguments and launches, GPU work and annotations. Blind to collectives
 * inside graphs without arguments and to ranks whose trace is missing; without two steps there is no verdict.
 * O(n log n).
 *
 * Example: an allreduce starts at 0, 1 and 9 us on ranks 0 1 2 and ends at 20 us on all: late 0 1 9 us, delay of
 * rank 2 8 us. It spends 11 us in it, the others 20 and 19: lateness 8 us, and the others are 1 us apart. When it
 * is so in two steps of less than 160 us, rank 2 is a candidate. When it ends at 28 us on rank 2, all spend 19 or
 * 20 us in it, and nobody is late: nothing tells rank 2 from one whose clock is 8 us off.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "model/communication/breakdown.h"
#include "model/communication/exposed.h"
#include "model/stragglers/straggler.h"
#include "store/columns.h"

#include <stdlib.h>

static enum ht_status extract(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define RANK_COLUMNS(COLUMN)                                                                       \
	COLUMN(RANK_RANK, "rank", HT_I64, HT_KEY, "rank", NULL)                                    \
	COLUMN(RANK_CANDIDATE, "candidate", HT_BOOL, HT_MEASURE,                                   \
	        "whether it is late in most steps, beyond its own variation and that of "          \
	        "the others",                                                                      \
	        NULL)                                                                              \
	COLUMN(RANK_DELAY_NS, "delay_ns", HT_DURATION, HT_MEASURE,                                 \
	        "time in which collectives wait for it alone, those that wait at the same "        \
	        "time counted once",                                                               \
	        NULL)                                                                              \
	COLUMN(RANK_DELAY_SHARE, "delay_share", HT_RATIO, HT_MEASURE,                              \
	        "that over the time its trace covers", NULL)                                       \
	COLUMN(RANK_UNCERTAINTY_NS, "uncertainty_ns", HT_DURATION, HT_MEASURE,                     \
	        "how far clocks and ends of collectives leave the delay open", NULL)               \
	COLUMN(RANK_LATENESS_NS, "lateness_ns", HT_DURATION, HT_MEASURE,                           \
	        "what a step would lose without it, on average; of a rank that is no "             \
	        "candidate its time between waits above that of the latest other rank, in "        \
	        "the median step",                                                                 \
	        NULL)                                                                              \
	COLUMN(RANK_STEP_COST_NS, "step_cost_ns", HT_DURATION, HT_MEASURE,                         \
	        "what a step would lose, on average, if all candidates of its group were "         \
	        "as fast as the rest",                                                             \
	        NULL)                                                                              \
	COLUMN(RANK_LATE_STEPS, "late_steps", HT_I64, HT_MEASURE, "steps in which it is late",     \
	        NULL)                                                                              \
	COLUMN(RANK_STEPS, "steps", HT_I64, HT_DETAIL, "steps with collectives", NULL)             \
	COLUMN(RANK_CAUSE, "cause", HT_STR, HT_MEASURE,                                            \
	        "kernel or host: what explains a candidate's delay", NULL)                         \
	COLUMN(RANK_CAUSE_NAME, "cause_name", HT_STR, HT_MEASURE,                                  \
	        "the kernel, or the annotation or function on the host", NULL)                     \
	COLUMN(RANK_CAUSE_NS, "cause_ns", HT_DURATION, HT_MEASURE,                                 \
	        "its time per step above the median of the other ranks of its group", NULL)        \
	COLUMN(RANK_CAUSE_ROW, "cause_row", HT_I64, HT_DETAIL,                                     \
	        "index of its longest event in the rank's trace", NULL)                            \
	COLUMN(RANK_COLLECTIVES, "collectives", HT_I64, HT_DETAIL,                                 \
	        "collectives that could be compared", NULL)                                        \
	COLUMN(RANK_TIMES_LAST, "times_last", HT_I64, HT_DETAIL,                                   \
	        "of them with this rank the last to start", NULL)                                  \
	COLUMN(RANK_LATE_MEAN_NS, "late_mean_ns", HT_DURATION_F64, HT_DETAIL,                      \
	        "mean start after the earliest rank", NULL)                                        \
	COLUMN(RANK_LATE_MAX_NS, "late_max_ns", HT_DURATION, HT_DETAIL,                            \
	        "largest start after the earliest rank", NULL)                                     \
	COLUMN(RANK_WORST_STEP, "worst_step", HT_I64, HT_DETAIL, "step of that collective", NULL)  \
	COLUMN(RANK_WORST_COLLECTIVE, "worst_collective", HT_STR, HT_DETAIL, "that collective",    \
	        NULL)                                                                              \
	COLUMN(RANK_WORST_ROW, "worst_row", HT_I64, HT_DETAIL,                                     \
	        "index of its kernel in the rank's trace", NULL)                                   \
	COLUMN(RANK_GPU_EXCESS_NS, "gpu_excess_ns", HT_DURATION, HT_DETAIL,                        \
	        "GPU time per step above the median of the other ranks of its group", NULL)        \
	COLUMN(RANK_GPU_EXCESS_NAME, "gpu_excess_name", HT_STR, HT_DETAIL,                         \
	        "GPU activity with the largest such time", NULL)                                   \
	COLUMN(RANK_HOST_EXCESS_NS, "host_excess_ns", HT_DURATION, HT_DETAIL,                      \
	        "host time per step, without CUDA calls, above the median of the other "           \
	        "ranks of its group",                                                              \
	        NULL)                                                                              \
	COLUMN(RANK_HOST_EXCESS_NAME, "host_excess_name", HT_STR, HT_DETAIL,                       \
	        "annotation or function with the largest such time", NULL)
HT_COLUMNS(rank_columns, RANK_COLUMNS);

#define COLLECTIVE_COLUMNS(COLUMN)                                                                 \
	COLUMN(COLLECTIVE_STEP, "step", HT_I64, HT_KEY,                                            \
	        "step of the collective, null outside steps", NULL)                                \
	COLUMN(COLLECTIVE_COLLECTIVE, "collective", HT_STR, HT_KEY, "collective, or its kernel",   \
	        NULL)                                                                              \
	COLUMN(COLLECTIVE_GROUP, "group", HT_STR, HT_KEY, "process group and its ranks", NULL)     \
	COLUMN(COLLECTIVE_NTH, "nth", HT_I64, HT_DETAIL,                                           \
	        "sequence number, or position within the step from 0", NULL)                       \
	COLUMN(COLLECTIVE_ELEMENTS, "elements", HT_I64, HT_DETAIL, "elements in its larger side",  \
	        NULL)                                                                              \
	COLUMN(COLLECTIVE_RANKS, "ranks", HT_I64, HT_MEASURE, "ranks whose call was found", NULL)  \
	COLUMN(COLLECTIVE_FIRST_RANK, "first_rank", HT_I64, HT_DETAIL, "rank that started first",  \
	        NULL)                                                                              \
	COLUMN(COLLECTIVE_LAST_RANK, "last_rank", HT_I64, HT_MEASURE, "rank that started last",    \
	        NULL)                                                                              \
	COLUMN(COLLECTIVE_LAST_ROW, "last_row", HT_I64, HT_DETAIL,                                 \
	        "index of its kernel in that rank's trace", NULL)                                  \
	COLUMN(COLLECTIVE_LATE_NS, "late_ns", HT_DURATION, HT_MEASURE,                             \
	        "from the first start to the last", NULL)                                          \
	COLUMN(COLLECTIVE_LAST_DELAY_NS, "last_delay_ns", HT_DURATION, HT_MEASURE,                 \
	        "from the last start but one to the last", NULL)                                   \
	COLUMN(COLLECTIVE_UNCERTAINTY_NS, "uncertainty_ns", HT_DURATION, HT_MEASURE,               \
	        "how far clocks and ends of collectives leave both open", NULL)                    \
	COLUMN(COLLECTIVE_HOST_LATE_NS, "host_late_ns", HT_DURATION, HT_DETAIL,                    \
	        "launch call of the last rank after the earliest launch call", NULL)               \
	COLUMN(COLLECTIVE_START_NS, "start_ns", HT_TIME, HT_DETAIL,                                \
	        "first start, from the first event of all ranks", NULL)
HT_COLUMNS(collective_columns, COLLECTIVE_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "ranks", rank_columns, HT_COUNT(rank_columns) },
	{ "collectives", collective_columns, HT_COUNT(collective_columns) },
};

/* What a rank contributes besides its calls, profiles and steps. */
#define SPAN_COLUMNS(COLUMN)                                                                       \
	COLUMN(SPAN_SPAN_NS, "span_ns", HT_DURATION, HT_MEASURE, "time that its trace covers", NULL)
HT_COLUMNS(span_columns, SPAN_COLUMNS);
enum { CALLS, PROFILES, STEPS, SPAN, EXPOSED, GAPS };
static const struct ht_straggler_facts facts_at = { CALLS, PROFILES, STEPS, EXPOSED, GAPS };

static const struct ht_param params[] = {
	{ "view", HT_STR, "ranks", "sums per rank, or every collective", "ranks|collectives" },
	{ "num-candidates", HT_I64, NULL, "at most so many candidates; by default all", NULL },
};

const struct ht_analysis ht_analysis_stragglers = {
	.info = { .name = "stragglers",
	        .group = "distributed",
	        .page_view = "stragglers",
	        .title = "Straggling ranks",
	        .question =
	                "Which ranks keep the others waiting, by how much, why, and at which collectives?",
	        .method =
	                "Per collective, matched over ranks, how long after the earliest start each "
	                "rank starts; delay: gap between the last and the second-last rank. A candidate "
	                "has more to do than the others in most steps, alone or as one of several.",
	        .hta = "get_potential_stragglers",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { [CALLS] = { "calls", ht_chosen_call_columns, HT_N_CHOSEN_CALL_COLUMNS },
	        [PROFILES] = { "profiles", ht_excess_columns, HT_N_EXCESS_COLUMNS },
	        [STEPS] = { "steps", ht_step_work_columns, HT_N_STEP_WORK_COLUMNS },
	        [SPAN] = { "span", span_columns, HT_COUNT(span_columns) },
	        [EXPOSED] = { "exposed", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },
	        [GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS } },
	.across = true,
	.per_rank = extract,
	.of = "delay: time in which collectives wait for the rank alone",
	.finish = finish,
};

/* ---- one rank ---- */

static int64_t span_ns(const struct ht_frame *frame)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t i = 0; i < frame->n_rows; i++) {
		int64_t ts_ns = frame->trace->ts_ns[frame->rows[i]];
		int64_t end_ns = ht_end_ns(frame->trace, frame->rows[i]);
		first_ns = ts_ns < first_ns ? ts_ns : first_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns > first_ns ? ht_sub_sat(last_ns, first_ns) : 0;
}

static enum ht_status extract(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_stragglers_put(run, &frame, &facts_at, part));
	ht_table_row(part->facts[SPAN]);
	ht_table_put_i64(part->facts[SPAN], SPAN_SPAN_NS, span_ns(&frame));
	return ht_breakdown_put_exposed(run, part->facts[EXPOSED], part->facts[GAPS]);
}

/* ---- ranks ---- */

static int by_delay(const void *left, const void *right)
{
	const struct ht_late_rank *a = left, *b = right;
	if (a->delay_ns != b->delay_ns)
		return a->delay_ns > b->delay_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static void put_excess(ht_table *table, size_t column, const struct ht_excess *excess)
{
	ht_table_put_known(table, column, excess->name ? excess->ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_str(table, column + 1, excess->name);
}

static void put_cause(ht_table *table, const struct ht_straggler_cause *cause)
{
	if (!cause->side) {
		ht_table_put_nulls(table, RANK_CAUSE, RANK_CAUSE_ROW + 1);
		return;
	}
	ht_table_put_str(table, RANK_CAUSE, cause->side);
	ht_table_put_str(table, RANK_CAUSE_NAME, cause->excess->name);
	ht_table_put_i64(table, RANK_CAUSE_NS, cause->excess->ns);
	ht_table_put_i64(table, RANK_CAUSE_ROW, cause->excess->row);
}

static void put_rank(
        ht_table *table, const struct ht_stragglers *a, const struct ht_late_rank *rank)
{
	int64_t all_ns = ht_table_i64(a->parts->list[rank->i_part].facts[SPAN], 0, SPAN_SPAN_NS);
	const struct ht_verdict *verdict = &a->verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(a, rank);
	ht_table_row(table);
	ht_table_put_i64(table, RANK_RANK, rank->rank);
	ht_table_put_i64(table, RANK_CANDIDATE, verdict->is_candidate);
	ht_table_put_i64(table, RANK_DELAY_NS, rank->delay_ns);
	if (all_ns > 0)
		ht_table_put_f64(table, RANK_DELAY_SHARE, (double)rank->delay_ns / (double)all_ns);
	else
		ht_table_put_null(table, RANK_DELAY_SHARE);
	ht_table_put_i64(table, RANK_UNCERTAINTY_NS, rank->uncertainty_ns);
	ht_table_put_known(table, RANK_LATENESS_NS, verdict->lateness_ns, HT_NO_I64);
	ht_table_put_known(table, RANK_STEP_COST_NS, ht_straggler_cost_ns(verdict), HT_NO_I64);
	ht_table_put_i64(table, RANK_LATE_STEPS, (int64_t)verdict->n_late_steps);
	ht_table_put_i64(table, RANK_STEPS, (int64_t)verdict->n_steps);
	put_cause(table, &cause);
	ht_table_put_i64(table, RANK_COLLECTIVES, (int64_t)rank->n_collectives);
	ht_table_put_i64(table, RANK_TIMES_LAST, (int64_t)rank->n_last);
	if (rank->worst) {
		ht_table_put_f64(table, RANK_LATE_MEAN_NS,
		        (double)rank->late_ns / (double)rank->n_collectives);
		ht_table_put_i64(table, RANK_LATE_MAX_NS, rank->late_max_ns);
		ht_table_put_known(table, RANK_WORST_STEP, rank->worst->step, HT_NO_I64);
		ht_table_put_str(table, RANK_WORST_COLLECTIVE, rank->worst->name);
		ht_table_put_i64(table, RANK_WORST_ROW, rank->worst_call->row);
	} else {
		ht_table_put_nulls(table, RANK_LATE_MEAN_NS, RANK_WORST_ROW + 1);
	}
	put_excess(table, RANK_GPU_EXCESS_NS, &a->gpu[rank->i_part]);
	put_excess(table, RANK_HOST_EXCESS_NS, &a->host[rank->i_part]);
}

static enum ht_status put_ranks(struct ht_stragglers *a, ht_table *table)
{
	for (size_t i = 0; i < a->parts->n; i++)
		put_rank(table, a, &a->lateness.ranks[i]);
	return HT_OK;
}

/* ---- collectives ---- */

static int by_last_delay(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	if (a->delay_ns != b->delay_ns)
		return a->delay_ns > b->delay_ns ? -1 : 1;
	/* the list of collectives is in a total order */
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

static int64_t host_late_ns(const struct ht_arrival *arrival)
{
	int64_t first_ns = INT64_MAX, last_ns = arrival->calls[arrival->last].call->launch_ns;
	for (size_t i = 0; i < arrival->n; i++) {
		int64_t launch_ns = arrival->calls[i].call->launch_ns;
		if (launch_ns != HT_NO_I64 && launch_ns < first_ns)
			first_ns = launch_ns;
	}
	return last_ns == HT_NO_I64 ? HT_NO_I64 : ht_sub_sat(last_ns, first_ns);
}

static void put_collective(
        ht_table *table, const struct ht_parts *parts, const struct ht_arrival *arrival)
{
	const struct ht_collective *collective = arrival->collective;
	const struct ht_chosen_call *first = &arrival->calls[arrival->first];
	const struct ht_chosen_call *last = &arrival->calls[arrival->last];
	ht_table_row(table);
	ht_table_put_known(table, COLLECTIVE_STEP, collective->step, HT_NO_I64);
	ht_table_put_str(table, COLLECTIVE_COLLECTIVE, collective->name);
	ht_table_put_str(table, COLLECTIVE_GROUP, *collective->group ? collective->group : NULL);
	ht_table_put_i64(table, COLLECTIVE_NTH, collective->nth);
	ht_table_put_known(table, COLLECTIVE_ELEMENTS, collective->elements, HT_NO_I64);
	ht_table_put_i64(table, COLLECTIVE_RANKS, (int64_t)arrival->n);
	ht_table_put_i64(table, COLLECTIVE_FIRST_RANK, parts->list[first->i_part].rank);
	ht_table_put_i64(table, COLLECTIVE_LAST_RANK, parts->list[last->i_part].rank);
	ht_table_put_i64(table, COLLECTIVE_LAST_ROW, last->call->row);
	ht_table_put_i64(table, COLLECTIVE_LATE_NS, arrival->late_ns);
	ht_table_put_i64(table, COLLECTIVE_LAST_DELAY_NS, arrival->delay_ns);
	ht_table_put_i64(table, COLLECTIVE_UNCERTAINTY_NS, arrival->uncertainty_ns);
	ht_table_put_known(table, COLLECTIVE_HOST_LATE_NS, host_late_ns(arrival), HT_NO_I64);
	ht_table_put_i64(table, COLLECTIVE_START_NS, first->call->start_ns);
}

/* ---- all ranks ---- */

static enum ht_status note_absence(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	if (!ht_parts_n_rows(parts, CALLS))
		return ht_table_add_note(table, "no communication kernels in the selection");
	if (run->chosen[0].n < 2)
		return ht_table_add_note(table, "one rank has nobody to wait for: give all ranks");
	HT_TRY(ht_table_add_note(
	        table, "no collective that makes ranks wait is on two or more of them"));
	return ht_clocks_note(run, table);
}

/* Is a candidate before it, in the order of the table, of the same set? */
static bool was_said(const struct ht_stragglers *a, size_t i)
{
	const struct ht_late_set *set = a->verdicts[a->lateness.ranks[i].i_part].set;
	for (size_t k = 0; k < i; k++) {
		const struct ht_verdict *v = &a->verdicts[a->lateness.ranks[k].i_part];
		if (v->is_candidate && v->set == set)
			return true;
	}
	return false;
}

static enum ht_status note_verdict(const struct ht_stragglers *a, ht_table *table)
{
	size_t n_candidates = 0;
	for (size_t i = 0; i < a->parts->n; i++) {
		const struct ht_late_rank *rank = &a->lateness.ranks[i];
		const struct ht_verdict *v = &a->verdicts[rank->i_part];
		if (!v->is_candidate)
			continue;
		n_candidates++;
		/* one sentence for those that are late together */
		if (was_said(a, i))
			continue;
		struct ht_finding f;
		HT_TRY(ht_straggler_finding(a, rank, &f));
		ht_finding_next(&f, NULL); /* it is here */
		HT_TRY(ht_finding_note(a->run->scratch, &f, table));
	}
	if (n_candidates)
		return HT_OK;
	struct ht_finding none = ht_straggler_nobody(a);
	return ht_finding_note(a->run->scratch, &none, table);
}

/* The ranks with the largest delays come first; no more candidates than asked for. */
static void order_ranks(struct ht_stragglers *a)
{
	int64_t most = ht_run_i64(a->run, "num-candidates"), n = 0;
	struct ht_late_rank *ranks = a->lateness.ranks;
	qsort(ranks, a->parts->n, sizeof *ranks, by_delay);
	for (size_t i = 0; i < a->parts->n; i++) {
		struct ht_verdict *verdict = &a->verdicts[ranks[i].i_part];
		n += verdict->is_candidate;
		if (most > 0 && n > most)
			verdict->is_candidate = false;
	}
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_stragglers a;
	if (!run->clocks[0])
		return note_absence(run, parts, table);
	HT_TRY(ht_stragglers_find(run, parts, &facts_at, &a));
	if (!a.lateness.n)
		return note_absence(run, parts, table);
	order_ranks(&a);
	if (ht_run_is(run, "view", "ranks")) {
		HT_TRY(put_ranks(&a, table));
	} else {
		qsort(a.lateness.arrivals, a.lateness.n, sizeof *a.lateness.arrivals,
		        by_last_delay);
		for (size_t i = 0; i < a.lateness.n; i++)
			put_collective(table, parts, &a.lateness.arrivals[i]);
	}
	HT_TRY(note_verdict(&a, table));
	HT_TRY(ht_chosen_calls_note(table, &a.lateness.alone, a.lateness.n_calls));
	return ht_clocks_note(run, table);
}
