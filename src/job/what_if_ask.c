/*
 * what_if_ask.c - see what_if.h: questions about the traces of a job, each answered by a replay.
 */
#include "job/what_if.h"

#include "base/sort.h"
#include "job/chain_replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Above this the replay is not the job. */
#define MAX_ERROR     0.05
#define N_RESAMPLES   200
#define N_RANKS_ASKED 5

const struct ht_column ht_what_if_columns[HT_N_WHAT_IF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_WHAT_IF_COLUMNS);

struct asking {
	struct ht_run *run;
	struct ht_chain_job *job;
	ht_table *table;
	size_t n;
	double *recorded, *replayed, *edited, *room; /* by step */
	double recorded_ns;                          /* mean */
	double error, worst_error;                   /* of the replay: median and most */
};

static double median_of(const double *values, size_t n, double *room)
{
	for (size_t i = 0; i < n; i++)
		room[i] = values[i];
	qsort(room, n, sizeof *room, ht_compare_f64);
	return n % 2 ? room[n / 2] : (room[n / 2 - 1] + room[n / 2]) / 2;
}

static double mean_of(const double *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* What the mean of the steps would be if others of the same kind had been recorded: resampled, the same in every run. */
static void find_interval(struct asking *a, double *ret_low, double *ret_high)
{
	double means[N_RESAMPLES], *sample = a->room;
	uint64_t state = 88172645463325252u;
	for (size_t k = 0; k < N_RESAMPLES; k++) {
		for (size_t i = 0; i < a->n; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			sample[i] = a->edited[state % a->n];
		}
		means[k] = mean_of(sample, a->n);
	}
	qsort(means, N_RESAMPLES, sizeof *means, ht_compare_f64);
	*ret_low = means[N_RESAMPLES / 40];
	*ret_high = means[N_RESAMPLES - 1 - N_RESAMPLES / 40];
}

static void ask(struct asking *a, const char *question, const struct ht_chain_edit *edit)
{
	double low, high;
	ht_chain_job_replay(a->job, edit, a->edited);
	double now = mean_of(a->edited, a->n);
	find_interval(a, &low, &high);
	ht_table_row(a->table);
	ht_table_put_str(a->table, HT_WHAT_IF_QUESTION, question);
	ht_table_put_f64(a->table, HT_WHAT_IF_RECORDED, a->recorded_ns);
	ht_table_put_f64(a->table, HT_WHAT_IF_NEW, now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SAVED, a->recorded_ns - now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SHARE, (a->recorded_ns - now) / a->recorded_ns);
	ht_table_put_f64(a->table, HT_WHAT_IF_LOW, low);
	ht_table_put_f64(a->table, HT_WHAT_IF_HIGH, high);
	ht_table_put_f64(a->table, HT_WHAT_IF_ERROR, a->error);
	ht_table_put_i64(a->table, HT_WHAT_IF_STEPS, (int64_t)a->n);
}

/* Those ranks whose chains are longest above those of the others. */
static enum ht_status ask_ranks(struct asking *a, const struct ht_parts *parts)
{
	const double *excess = ht_chain_job_excess_ns(a->job);
	double *left = ht_arena_alloc(a->run->scratch, (parts->n + 1) * sizeof *left);
	if (!left)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < parts->n; i++)
		left[i] = excess[i];
	for (size_t k = 0; k < N_RANKS_ASKED && k < parts->n; k++) {
		size_t most = 0;
		for (size_t i = 1; i < parts->n; i++)
			most = left[i] > left[most] ? i : most;
		if (left[most] <= 0)
			break;
		left[most] = 0;
		struct ht_chain_edit edit = {
			.like_peers = true, .one_rank = true, .i_part = most
		};
		const char *question = ht_arena_printf(
		        a->run->scratch, "rank %" PRId64 " like its peers", parts->list[most].rank);
		if (!question)
			return ht_fail_nomem(a->run->ctx);
		ask(a, question, &edit);
	}
	return HT_OK;
}

static enum ht_status ask_own(struct asking *a, const char *text)
{
	struct ht_cp_rules rules;
	struct ht_trace none = { 0 };
	if (!text)
		return HT_OK;
	HT_TRY(ht_cp_rules_read(a->run, &none, text, &rules));
	struct ht_chain_edit edit = { .rules = &rules };
	ask(a, text, &edit);
	ht_cp_rules_done(&rules);
	return HT_OK;
}

static enum ht_status ask_all(struct asking *a, const struct ht_parts *parts, const char *scale)
{
	struct ht_chain_edit even = { .like_peers = true };
	struct ht_chain_edit half = { .scales_transfers = true, .transfer = 0.5 };
	struct ht_chain_edit instant = { .scales_transfers = true, .transfer = 0 };
	struct ht_chain_edit no_cpu = { .instant = 1u << HT_CP_BOUND_CPU |
		                                   1u << HT_CP_BOUND_LAUNCH_DELAY |
		                                   1u << HT_CP_BOUND_DATA_LOADING };
	struct ht_chain_edit no_loading = { .instant = 1u << HT_CP_BOUND_DATA_LOADING };
	struct ht_chain_edit faster = { .name = ht_chain_job_kernel(a->job), .name_factor = 0.8 };
	HT_TRY(ask_own(a, scale));
	if (parts->n > 1 && !ht_chain_job_n_kernels(a->job))
		HT_TRY(ht_table_add_note(a->table,
		        "no communication kernels: every rank is replayed alone, and nobody waits for another"));
	if (parts->n > 1 && ht_chain_job_n_kernels(a->job)) {
		ask(a, "no stragglers", &even);
		HT_TRY(ask_ranks(a, parts));
	}
	if (ht_chain_job_has(a->job, HT_CP_BOUND_GPU_COMMUNICATION)) {
		ask(a, "communication twice as fast", &half);
		ask(a, "communication instant", &instant);
	}
	if (ht_chain_job_has(a->job, HT_CP_BOUND_GPU_COMPUTE) ||
	        ht_chain_job_has(a->job, HT_CP_BOUND_LAUNCH_DELAY) ||
	        ht_chain_job_has(a->job, HT_CP_BOUND_GPU_COMMUNICATION))
		ask(a, "no CPU time", &no_cpu);
	if (ht_chain_job_has(a->job, HT_CP_BOUND_DATA_LOADING))
		ask(a, "data loading instant", &no_loading);
	if (faster.name) {
		const char *question =
		        ht_arena_printf(a->run->scratch, "20 %% faster: %s", faster.name);
		if (!question)
			return ht_fail_nomem(a->run->ctx);
		ask(a, question, &faster);
	}
	return HT_OK;
}

static enum ht_status measure(struct asking *a)
{
	double *errors = a->room + a->n;
	ht_chain_job_replay(a->job, &(struct ht_chain_edit){ 0 }, a->replayed);
	for (size_t i = 0; i < a->n; i++) {
		a->recorded[i] = ht_chain_job_recorded_ns(a->job, i);
		errors[i] = a->recorded[i] > 0
		                    ? fabs(a->replayed[i] - a->recorded[i]) / a->recorded[i]
		                    : 0;
		a->worst_error = fmax(a->worst_error, errors[i]);
	}
	a->error = median_of(errors, a->n, a->room);
	a->recorded_ns = mean_of(a->recorded, a->n);
	return ht_table_add_note(a->table,
	        "replay without edits: %.2f %% off the recorded step time in the median, %.2f %% at most, over %zu "
	        "steps; %zu transfers ended before they began and count as 0",
	        100 * a->error, 100 * a->worst_error, a->n, ht_chain_job_n_negative(a->job));
}

enum ht_status ht_what_if_ask(
        struct ht_run *run, const struct ht_parts *parts, const char *scale, ht_table *table)
{
	struct asking a = { .run = run, .table = table };
	HT_TRY(ht_chain_job_make(run, parts, &a.job));
	a.n = ht_chain_job_n_steps(a.job);
	if (!a.n)
		return ht_table_add_note(table, "n/a: fewer than two steps that all ranks have");
	a.recorded = ht_arena_alloc(run->scratch, a.n * sizeof(double));
	a.replayed = ht_arena_alloc(run->scratch, a.n * sizeof(double));
	a.edited = ht_arena_alloc(run->scratch, a.n * sizeof(double));
	a.room = ht_arena_alloc(run->scratch, 3 * a.n * sizeof(double));
	if (!a.recorded || !a.replayed || !a.edited || !a.room)
		return ht_fail_nomem(run->ctx);
	HT_TRY(measure(&a));
	if (a.error > MAX_ERROR)
		return ht_table_add_warning(table,
		        "the replay is more than 5 %% off: no savings are shown; critical-path --view path has the gaps");
	return ask_all(&a, parts, scale);
}
