/*
 * what_if_ask.c - see what_if.h: questions about the traces of a job, each answered by a replay.
 */
#include "job/what_if.h"

#include "base/sort.h"
#include "job/chain_replay.h"
#include "model/numbers/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this the replay is not the job. */
#define MAX_ERROR     0.05
#define N_RESAMPLES   200
#define N_RANKS_ASKED 5
/* Ranks whose slowdown is replayed, those with the most first, and the share that is the worst. */
#define N_RANKS_JUDGED 64
#define WORST_SHARE    0.03

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
	bool *only = ht_arena_alloc(a->run->scratch, parts->n + 1);
	if (!left || !only)
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
		memset(only, 0, parts->n);
		only[most] = true;
		struct ht_chain_edit edit = { .like_peers = true, .of_parts = only };
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
	a->error = ht_middle_f64(errors, a->n, a->room);
	a->recorded_ns = mean_of(a->recorded, a->n);
	return ht_table_add_note(a->table,
	        "replay without edits: %.2f %% off the recorded step time in the median, %.2f %% at most, over %zu "
	        "steps; %zu transfers ended before they began and count as 0",
	        100 * a->error, 100 * a->worst_error, a->n, ht_chain_job_n_negative(a->job));
}

static enum ht_status start(struct asking *a, const struct ht_parts *parts)
{
	HT_TRY(ht_chain_job_make(a->run, parts, &a->job));
	a->n = ht_chain_job_n_steps(a->job);
	a->recorded = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->replayed = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->edited = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->room = ht_arena_alloc(a->run->scratch, 3 * (a->n + 1) * sizeof(double));
	return a->recorded && a->replayed && a->edited && a->room ? HT_OK
	                                                          : ht_fail_nomem(a->run->ctx);
}

enum ht_status ht_what_if_ask(
        struct ht_run *run, const struct ht_parts *parts, const char *scale, ht_table *table)
{
	struct asking a = { .run = run, .table = table };
	HT_TRY(start(&a, parts));
	if (!a.n)
		return ht_table_add_note(table, "n/a: fewer than two steps that all ranks have");
	HT_TRY(measure(&a));
	if (a.error > MAX_ERROR)
		return ht_table_add_warning(table,
		        "the replay is more than 5 %% off: no savings are shown; critical-path --view path has the gaps");
	return ask_all(&a, parts, scale);
}

/* ---- whose slowdown it is ---- */

static double replay_mean(struct asking *a, const struct ht_chain_edit *edit)
{
	ht_chain_job_replay(a->job, edit, a->edited);
	return mean_of(a->edited, a->n);
}

struct by_excess {
	double excess;
	size_t i_part;
};

static int compare_excess(const void *left, const void *right)
{
	const struct by_excess *a = left, *b = right;
	return a->excess != b->excess ? (a->excess > b->excess ? -1 : 1)
	                              : ht_order_i64((int64_t)a->i_part, (int64_t)b->i_part);
}

/* Slowdown of the ranks that can have one, and the share of the worst of them. */
static enum ht_status find_workers(
        struct asking *a, size_t n_parts, struct ht_what_if_slowdown *ret)
{
	const double *excess = ht_chain_job_excess_ns(a->job);
	struct by_excess *order = ht_arena_alloc(a->run->scratch, (n_parts + 1) * sizeof *order);
	bool *of = ht_arena_alloc(a->run->scratch, n_parts + 1);
	ret->of_part = ht_arena_alloc(a->run->scratch, (n_parts + 1) * sizeof *ret->of_part);
	ret->is_worst = ht_arena_alloc(a->run->scratch, n_parts + 1);
	if (!order || !of || !ret->of_part || !ret->is_worst)
		return ht_fail_nomem(a->run->ctx);
	struct ht_chain_edit edit = { .like_peers = true, .of_parts = of };
	for (size_t i = 0; i < n_parts; i++) {
		order[i] = (struct by_excess){ excess[i], i };
		ret->of_part[i] = 1;
	}
	qsort(order, n_parts, sizeof *order, compare_excess);
	/* a rank whose chains are never longer than the median slows nobody down */
	for (size_t k = 0; k < n_parts && k < N_RANKS_JUDGED && order[k].excess > 0; k++) {
		memset(of, true, n_parts);
		of[order[k].i_part] = false;
		ret->of_part[order[k].i_part] = replay_mean(a, &edit) / ret->ideal_ns;
	}
	for (size_t i = 0; i < n_parts; i++)
		order[i].excess = ret->of_part[order[i].i_part];
	qsort(order, n_parts, sizeof *order, compare_excess);
	size_t n_worst = (size_t)ceil(WORST_SHARE * (double)n_parts);
	for (size_t k = 0; k < n_worst; k++)
		ret->is_worst[order[k].i_part] = true;
	double lost = ret->time_ns - ret->ideal_ns;
	edit.of_parts = ret->is_worst;
	ret->left_ns = replay_mean(a, &edit);
	for (size_t i = 0; i < n_parts; i++)
		of[i] = !ret->is_worst[i];
	edit.of_parts = of;
	ret->share = (ret->time_ns - ret->left_ns) / lost;
	ret->added = (replay_mean(a, &edit) - ret->ideal_ns) / lost;
	return HT_OK;
}

enum ht_status ht_what_if_slowdown_find(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_slowdown *ret)
{
	struct asking a = { .run = run, .table = table };
	*ret = (struct ht_what_if_slowdown){ 0 };
	HT_TRY(start(&a, parts));
	if (!a.n || parts->n < 2 || !ht_chain_job_n_kernels(a.job))
		return ht_table_add_note(table,
		        "n/a: whose slowdown it is needs two or more steps and ranks that communicate on the GPU");
	HT_TRY(measure(&a));
	if (a.error > MAX_ERROR)
		return ht_table_add_warning(
		        table, "the replay is more than 5 %% off: no slowdown is shown");
	ret->time_ns = mean_of(a.replayed, a.n);
	ret->ideal_ns = replay_mean(&a, &(struct ht_chain_edit){ .like_peers = true });
	ret->is_known = true;
	return find_workers(&a, parts->n, ret);
}
