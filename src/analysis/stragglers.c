/*
 * stragglers.c - which ranks keep the others waiting, by how much, and at which collectives.
 *
 * A collective cannot finish before its last rank has started it. For every collective that two or more
 * ranks take part in (collective_match.h says how calls are matched):
 *     late of a rank   = its start - the earliest start
 *     delay of a rank  = its start - the start of the rank before it, for the last rank; 0 for others:
 *                        how much earlier the collective would have begun without it
 * Starts are in the common clock of the ranks. Where clocks cannot be compared, a rank's late is the
 * longest duration of the collective minus its own: all ranks leave it at about the same time.
 *
 * Views: "ranks", sums per rank, largest delay first; the first num-candidates with a delay are
 * candidates. gpu_excess and host_excess are what the rank does most above the median of all ranks
 * (excess.h): the likely reason. "collectives", one row per collective, largest delay first.
 *
 * Reads communication kernels, their arguments and launches. Blind to collectives inside graphs without
 * arguments and to ranks whose trace is missing. O(n log n).
 *
 * Example: an allreduce starts at 0, 1 and 9 us on ranks 0 1 2: late 0 1 9 us, delay of rank 2 8 us.
 */
#include "analysis/analysis.h"
#include "model/collective_match.h"
#include "model/excess.h"

#include <stdlib.h>
#include <string.h>

static enum ht_status extract(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column rank_columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank", NULL },
	{ "candidate", HT_BOOL, HT_MEASURE, "1 for the ranks that delay the others most", NULL },
	{ "delay_ns", HT_DURATION, HT_MEASURE,
	        "how much earlier the collectives at which it was last would have begun without it",
	        NULL },
	{ "delay_share", HT_RATIO, HT_MEASURE, "that over the time its trace covers", NULL },
	{ "collectives", HT_I64, HT_DETAIL, "collectives that could be compared", NULL },
	{ "times_last", HT_I64, HT_DETAIL, "of them with this rank the last to start", NULL },
	{ "late_mean_ns", HT_DURATION_F64, HT_DETAIL, "mean start after the earliest rank", NULL },
	{ "late_max_ns", HT_DURATION, HT_DETAIL, "largest start after the earliest rank", NULL },
	{ "worst_step", HT_I64, HT_DETAIL, "step of that collective", NULL },
	{ "worst_collective", HT_STR, HT_DETAIL, "that collective", NULL },
	{ "gpu_excess_ns", HT_DURATION, HT_MEASURE, "GPU time above the median of all ranks",
	        NULL },
	{ "gpu_excess_name", HT_STR, HT_MEASURE, "GPU work with the largest such time", NULL },
	{ "host_excess_ns", HT_DURATION, HT_MEASURE,
	        "host time, without CUDA calls, above the median of all ranks", NULL },
	{ "host_excess_name", HT_STR, HT_MEASURE, "annotation with the largest such time", NULL },
};

static const struct ht_column collective_columns[] = {
	{ "step", HT_I64, HT_KEY, "step of the collective, null outside steps", NULL },
	{ "collective", HT_STR, HT_KEY, "collective, or its kernel", NULL },
	{ "group", HT_STR, HT_KEY, "process group and its ranks, or the pair of a send", NULL },
	{ "nth", HT_I64, HT_DETAIL, "sequence number, or position within the step from 0", NULL },
	{ "elements", HT_I64, HT_DETAIL, "elements in its input", NULL },
	{ "ranks", HT_I64, HT_MEASURE, "ranks whose call was found", NULL },
	{ "first_rank", HT_I64, HT_DETAIL, "rank that started first", NULL },
	{ "last_rank", HT_I64, HT_MEASURE, "rank that started last", NULL },
	{ "late_ns", HT_DURATION, HT_MEASURE, "from the first start to the last", NULL },
	{ "last_delay_ns", HT_DURATION, HT_MEASURE, "from the last start but one to the last",
	        NULL },
	{ "host_late_ns", HT_DURATION, HT_DETAIL,
	        "launch call of the last rank after the earliest launch call", NULL },
	{ "start_ns", HT_TIME, HT_DETAIL, "first start, from the first event of all ranks", NULL },
};

static const struct ht_schema schemas[] = {
	{ "ranks", rank_columns, HT_COUNT(rank_columns) },
	{ "collectives", collective_columns, HT_COUNT(collective_columns) },
};

/* What a rank contributes besides its calls and profiles. */
static const struct ht_column span_columns[] = {
	{ "span_ns", HT_DURATION, HT_MEASURE, "time that its trace covers", NULL },
};
enum { CALLS, PROFILES, SPAN };

static const struct ht_param params[] = {
	{ "view", HT_STR, "ranks", "sums per rank, or every collective", "ranks|collectives" },
	{ "num-candidates", HT_I64, "2", "how many ranks to mark as candidates", NULL },
};

const struct ht_analysis ht_analysis_stragglers = {
	.info = { .name = "stragglers",
	        .group = "distributed",
	        .title = "Straggling ranks",
	        .question =
	                "Which ranks keep the others waiting, by how much, and at which collectives?",
	        .method =
	                "Per collective, matched over ranks, how long after the earliest start each "
	                "rank starts; delay is the last start minus the last but one.",
	        .hta = "get_potential_stragglers",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { [CALLS] = { "calls", ht_collective_columns, HT_N_COLLECTIVE_COLUMNS },
	        [PROFILES] = { "profiles", ht_excess_columns, HT_N_EXCESS_COLUMNS },
	        [SPAN] = { "span", span_columns, HT_COUNT(span_columns) } },
	.per_rank = extract,
	.finish = finish,
};

/* A collective with the lateness of its ranks. */
struct arrival {
	const struct ht_collective *collective;
	size_t first, last; /* positions in collective->calls */
	int64_t late_ns, delay_ns;
};

struct rank_sum {
	size_t i_part;
	int64_t rank;
	size_t n_collectives, n_last;
	int64_t late_ns, late_max_ns, delay_ns;
	const struct ht_collective *worst;
};

/* When a call starts, on a scale that all ranks of the collective share. */
static int64_t arrival_ns(const struct ht_collective_call *call, bool aligned)
{
	return aligned ? call->start_ns : -call->dur_ns;
}

static struct arrival arrive(const struct ht_collective *collective, bool aligned)
{
	struct arrival a = { .collective = collective };
	const struct ht_collective_call *calls = collective->calls;
	int64_t before_ns = INT64_MIN;
	for (size_t i = 1; i < collective->n; i++) {
		int64_t at_ns = arrival_ns(&calls[i], aligned);
		if (at_ns < arrival_ns(&calls[a.first], aligned))
			a.first = i;
		if (at_ns > arrival_ns(&calls[a.last], aligned))
			a.last = i;
	}
	for (size_t i = 0; i < collective->n; i++) {
		int64_t at_ns = arrival_ns(&calls[i], aligned);
		if (i != a.last && at_ns > before_ns)
			before_ns = at_ns;
	}
	int64_t last_ns = arrival_ns(&calls[a.last], aligned);
	a.late_ns = last_ns - arrival_ns(&calls[a.first], aligned);
	a.delay_ns = last_ns - before_ns;
	return a;
}

static void add_up(const struct arrival *arrival, bool aligned, struct rank_sum *sums)
{
	const struct ht_collective *collective = arrival->collective;
	const struct ht_collective_call *calls = collective->calls;
	int64_t first_ns = arrival_ns(&calls[arrival->first], aligned);
	for (size_t i = 0; i < collective->n; i++) {
		struct rank_sum *sum = &sums[calls[i].i_part];
		int64_t late_ns = arrival_ns(&calls[i], aligned) - first_ns;
		sum->n_collectives++;
		sum->late_ns += late_ns;
		if (!sum->worst || late_ns > sum->late_max_ns) {
			sum->worst = collective;
			sum->late_max_ns = late_ns;
		}
	}
	if (arrival->late_ns == 0)
		return;
	sums[calls[arrival->last].i_part].n_last++;
	sums[calls[arrival->last].i_part].delay_ns += arrival->delay_ns;
}

/* ---- ranks ---- */

static int by_delay(const void *left, const void *right)
{
	const struct rank_sum *a = left, *b = right;
	if (a->delay_ns != b->delay_ns)
		return a->delay_ns > b->delay_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int64_t span_ns(const struct ht_frame *frame)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t i = 0; i < frame->n_rows; i++) {
		int64_t ts_ns = frame->trace->ts_ns[frame->rows[i]];
		int64_t end_ns = ht_end_ns(frame->trace, frame->rows[i]);
		first_ns = ts_ns < first_ns ? ts_ns : first_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

static void put_excess(ht_table *table, const struct ht_excess *excess)
{
	ht_table_put_known(table, excess->name ? excess->ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_str(table, excess->name);
}

static void put_rank(ht_table *table, const struct rank_sum *sum, bool candidate, int64_t all_ns,
        const struct ht_excess *gpu, const struct ht_excess *host)
{
	ht_table_row(table);
	ht_table_put_i64(table, sum->rank);
	ht_table_put_i64(table, candidate);
	ht_table_put_i64(table, sum->delay_ns);
	if (all_ns > 0)
		ht_table_put_f64(table, (double)sum->delay_ns / (double)all_ns);
	else
		ht_table_put_null(table);
	ht_table_put_i64(table, (int64_t)sum->n_collectives);
	ht_table_put_i64(table, (int64_t)sum->n_last);
	if (sum->worst) {
		ht_table_put_f64(table, (double)sum->late_ns / (double)sum->n_collectives);
		ht_table_put_i64(table, sum->late_max_ns);
		ht_table_put_known(table, sum->worst->step, HT_NO_I64);
		ht_table_put_str(table, sum->worst->name);
	} else {
		for (int i = 0; i < 4; i++)
			ht_table_put_null(table);
	}
	put_excess(table, gpu);
	put_excess(table, host);
}

static enum ht_status put_ranks(
        struct ht_run *run, ht_table *table, const struct ht_parts *parts, struct rank_sum *sums)
{
	size_t n = parts->n;
	int64_t n_candidates = ht_run_i64(run, "num-candidates");
	if (n_candidates < 1)
		n_candidates = 1;
	struct ht_excess *host = ht_arena_alloc(run->scratch, (n + 1) * sizeof *host);
	struct ht_excess *gpu = ht_arena_alloc(run->scratch, (n + 1) * sizeof *gpu);
	if (!host || !gpu)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_excess_find(run, parts, PROFILES, host, gpu));
	qsort(sums, n, sizeof *sums, by_delay);
	for (size_t i = 0; i < n; i++) {
		size_t p = sums[i].i_part;
		bool candidate = (int64_t)i < n_candidates && sums[i].delay_ns > 0;
		put_rank(table, &sums[i], candidate, ht_table_i64(parts->list[p].facts[SPAN], 0, 0),
		        &gpu[p], &host[p]);
	}
	return HT_OK;
}

/* ---- collectives ---- */

static int by_last_delay(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;
	if (a->delay_ns != b->delay_ns)
		return a->delay_ns > b->delay_ns ? -1 : 1;
	/* the list of collectives is in a total order */
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

static int64_t host_late_ns(const struct arrival *arrival)
{
	const struct ht_collective *collective = arrival->collective;
	int64_t first_ns = INT64_MAX;
	for (size_t i = 0; i < collective->n; i++)
		if (collective->calls[i].launch_ns != HT_NO_I64 &&
		        collective->calls[i].launch_ns < first_ns)
			first_ns = collective->calls[i].launch_ns;
	int64_t last_ns = collective->calls[arrival->last].launch_ns;
	return last_ns == HT_NO_I64 ? HT_NO_I64 : last_ns - first_ns;
}

static void put_collective(
        ht_table *table, const struct ht_parts *parts, const struct arrival *arrival, bool aligned)
{
	const struct ht_collective *collective = arrival->collective;
	const struct ht_collective_call *calls = collective->calls;
	ht_table_row(table);
	ht_table_put_known(table, collective->step, HT_NO_I64);
	ht_table_put_str(table, collective->name);
	ht_table_put_str(table, *collective->group ? collective->group : NULL);
	ht_table_put_i64(table, collective->nth);
	ht_table_put_known(table, collective->elements, HT_NO_I64);
	ht_table_put_i64(table, (int64_t)collective->n);
	ht_table_put_i64(table, parts->list[calls[arrival->first].i_part].rank);
	ht_table_put_i64(table, parts->list[calls[arrival->last].i_part].rank);
	ht_table_put_i64(table, arrival->late_ns);
	ht_table_put_i64(table, arrival->delay_ns);
	ht_table_put_known(table, aligned ? host_late_ns(arrival) : HT_NO_I64, HT_NO_I64);
	ht_table_put_i64(table, calls[arrival->first].start_ns);
}

/* ---- run ---- */

static enum ht_status note_absence(struct ht_run *run, ht_table *table, size_t n_collectives)
{
	if (run->chosen[0].n < 2)
		return ht_table_add_note(table, "one rank has nobody to wait for: give all ranks");
	if (n_collectives == 0)
		return ht_table_add_note(table, "no communication kernels in the traces");
	return ht_table_add_note(table, "no collective is on two or more of the ranks");
}

static enum ht_status extract(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_collective_calls_put(run, &frame, part->facts[CALLS]));
	HT_TRY(ht_excess_put(run, &frame, part->facts[PROFILES]));
	ht_table_row(part->facts[SPAN]);
	ht_table_put_i64(part->facts[SPAN], span_ns(&frame));
	return HT_OK;
}

static enum ht_status show(struct ht_run *run, ht_table *table, const struct ht_parts *parts,
        struct arrival *arrivals, size_t n, struct rank_sum *sums)
{
	if (ht_run_is(run, "view", "ranks"))
		return put_ranks(run, table, parts, sums);
	qsort(arrivals, n, sizeof *arrivals, by_last_delay);
	for (size_t i = 0; i < n; i++)
		put_collective(table, parts, &arrivals[i], run->rosters[0]->aligned);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool aligned = run->rosters[0]->aligned;
	const struct ht_collective *collectives = NULL;
	size_t n_collectives = 0, n = 0;
	struct rank_sum *sums = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *sums);
	HT_TRY(ht_collectives_match(run, parts, CALLS, &collectives, &n_collectives));
	struct arrival *arrivals =
	        ht_arena_alloc(run->scratch, (n_collectives + 1) * sizeof *arrivals);
	if (!arrivals || !sums)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++)
		sums[i] = (struct rank_sum){ .i_part = i, .rank = parts->list[i].rank };
	for (size_t i = 0; i < n_collectives; i++) {
		if (collectives[i].n < 2)
			continue;
		arrivals[n] = arrive(&collectives[i], aligned);
		add_up(&arrivals[n++], aligned, sums);
	}
	if (n == 0)
		return note_absence(run, table, n_collectives);
	HT_TRY(show(run, table, parts, arrivals, n, sums));
	if (!aligned)
		HT_TRY(ht_table_add_note(table,
		        "clocks of the ranks cannot be compared: late is the longest duration of the "
		        "collective minus the rank's own"));
	if (n < n_collectives)
		HT_TRY(ht_table_add_note(table, "%zu of %zu collectives are on one rank only",
		        n_collectives - n, n_collectives));
	return HT_OK;
}
