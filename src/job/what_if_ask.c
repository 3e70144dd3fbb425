/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_ask.c - see what_if_steps.h: questions about the traces of a job, each answered by a replay.
 */
#include "job/what_if_steps.h"

#include "base/sort.h"
#include "job/event_repeat.h"
#include "job/what_if_job.h"
#include "model/communication/collective_match.h"
#include "model/finding/finding.h"
#include "store/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_RESAMPLES    200
#define N_RANKS_ASKED  5
#define N_GROUPS_ASKED 4
/* Of step time: the second slowest rank takes so much longer than its peers that the two may hide each other. */
#define MIN_PAIR 0.02

const struct ht_column ht_what_if_columns[HT_N_WHAT_IF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_WHAT_IF_COLUMNS);

/* What the mean of the steps would be if others of the same kind had been recorded: resampled, the same in every run. */
static void find_interval(struct ht_what_if_job *a, double *ret_low, double *ret_high)
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
		means[k] = ht_what_if_mean(sample, a->n);
	}
	qsort(means, N_RESAMPLES, sizeof *means, ht_compare_f64);
	*ret_low = means[N_RESAMPLES / 40];
	*ret_high = means[N_RESAMPLES - 1 - N_RESAMPLES / 40];
}

static void put_question(struct ht_what_if_job *a, const char *question)
{
	ht_table_row(a->table);
	ht_table_put_str(a->table, HT_WHAT_IF_QUESTION, question);
	ht_table_put_f64(a->table, HT_WHAT_IF_RECORDED, a->recorded_ns);
}

/* The answer to a question, by the steps in edited, whose mean is now. */
static void put_answer(struct ht_what_if_job *a, const char *question, double now)
{
	double low, high;
	find_interval(a, &low, &high);
	put_question(a, question);
	ht_table_put_f64(a->table, HT_WHAT_IF_NEW, now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SAVED, a->replayed_ns - now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SHARE, (a->replayed_ns - now) / a->replayed_ns);
	ht_table_put_f64(a->table, HT_WHAT_IF_LOW, low);
	ht_table_put_f64(a->table, HT_WHAT_IF_HIGH, high);
	ht_table_put_f64(a->table, HT_WHAT_IF_ERROR, a->error);
	ht_table_put_f64(a->table, HT_WHAT_IF_WORST_ERROR, a->worst_error);
	ht_table_put_i64(a->table, HT_WHAT_IF_STEPS, (int64_t)a->n);
}

/* The answer to a question whose edit is in the editor, which is empty afterwards. */
static void ask(struct ht_what_if_job *a, const char *question)
{
	double now = ht_what_if_replay(a);
	put_answer(a, question, now);
}

static const char *say(struct ht_what_if_job *a, const char *format, const char *name)
{
	const char *text = ht_arena_printf(a->run->scratch, format, name);
	return text ? text : name;
}

/* Nodes with any of these flags, and all of these values of them. */
static void scale_flagged(struct ht_what_if_job *a, unsigned flags, unsigned values, double factor)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		if ((a->job.flags[i] & flags) == values)
			ht_event_scale(&a->editor, i, factor);
}

static bool has_flagged(const struct ht_what_if_job *a, unsigned flags)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		if ((a->job.flags[i] & flags) && a->job.dur[i] > 0)
			return true;
	return false;
}

/* ---- which ranks ---- */

/* One rank, or two of them (other SIZE_MAX: one). */
static enum ht_status ask_like_peers(struct ht_what_if_job *a, size_t i_rank, size_t other)
{
	const struct ht_event_rank *ranks = a->job.ranks;
	const char *question =
	        other == SIZE_MAX ? ht_arena_printf(a->run->scratch,
	                                    "rank %" PRId64 " like its peers", ranks[i_rank].number)
	                          : ht_arena_printf(a->run->scratch,
	                                    "ranks %" PRId64 " and %" PRId64 " like their peers",
	                                    ranks[i_rank].number, ranks[other].number);
	if (!question)
		return ht_fail_nomem(a->run->ctx);
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		a->editor.is_chosen[i] = a->job.i_rank[i] == i_rank || a->job.i_rank[i] == other;
	HT_TRY(ht_event_like_peers(&a->editor, HT_PEER_OTHERS, a->editor.is_chosen));
	ask(a, question);
	return HT_OK;
}

/* Two ranks that are both slow hide each other: each alone saves little, both together much. */
static enum ht_status ask_ranks(struct ht_what_if_job *a)
{
	struct ht_what_if_excess *order;
	double all_ns = a->recorded_ns * (double)a->n;
	HT_TRY(ht_what_if_order_ranks(a, &order));
	if (a->job.n_ranks > 2 && order[1].excess > MIN_PAIR * all_ns)
		HT_TRY(ask_like_peers(a, order[0].i_rank, order[1].i_rank));
	for (size_t k = 0; k < N_RANKS_ASKED && k < a->job.n_ranks && order[k].excess > 0; k++)
		HT_TRY(ask_like_peers(a, order[k].i_rank, SIZE_MAX));
	return HT_OK;
}

/* ---- which groups and kernels ---- */

/* Each process group that takes part in more than one collective, in the order of its first. */
static enum ht_status ask_groups(struct ht_what_if_job *a)
{
	const char *asked[N_GROUPS_ASKED];
	size_t n = 0;
	for (uint32_t u = 0; u < a->job.n_units && n < N_GROUPS_ASKED; u++) {
		const char *group = a->job.units[u].of->group;
		bool is_new = *group != '\0';
		for (size_t k = 0; k < n && is_new; k++)
			is_new = strcmp(asked[k], group) != 0;
		if (!is_new)
			continue;
		asked[n++] = group;
		for (uint32_t i = 0; i < a->job.n_nodes; i++) {
			uint32_t unit = a->job.unit[i];
			if (unit != HT_NONE && !strcmp(a->job.units[unit].of->group, group))
				ht_event_scale(&a->editor, i, 0.5);
		}
		ask(a, say(a, "group %s twice as fast", group));
	}
	return HT_OK;
}

/* The kernel that computes longest in all steps. */
static const char *find_kernel(struct ht_what_if_job *a)
{
	const struct ht_event_job *job = &a->job;
	const char *best = NULL;
	double most = 0;
	for (size_t k = 0; k < job->n_ranks; k++) {
		const struct ht_event_rank *r = &job->ranks[k];
		double *sums =
		        ht_arena_alloc(a->run->scratch, (r->n_texts + (size_t)1) * sizeof *sums);
		for (uint32_t i = 0; sums && i < r->n; i++) {
			uint32_t node = r->first + i;
			bool computes = (job->flags[node] & (HT_EVENT_WORK | HT_EVENT_COMM)) ==
			                        HT_EVENT_WORK &&
			                ht_event_job_name(job, node);
			if (!computes || (sums[r->text[i]] += job->dur[node]) <= most)
				continue;
			most = sums[r->text[i]];
			best = ht_event_job_name(job, node);
		}
	}
	return best;
}

static void ask_kernel(struct ht_what_if_job *a, const char *name)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++) {
		const char *own =
		        a->job.flags[i] & HT_EVENT_WORK ? ht_event_job_name(&a->job, i) : NULL;
		if (own && !strcmp(own, name))
			ht_event_scale(&a->editor, i, 0.8);
	}
	ask(a, say(a, "20 %% faster: %s", name));
}

/* ---- questions ---- */

/* No answer, and why not. */
static enum ht_status put_unknown(
        struct ht_what_if_job *a, const char *question, const struct ht_event_unknown *unknown)
{
	struct ht_finding f = ht_finding("what-if-answer", HT_STATE_UNKNOWN);
	f.variant = unknown->why;
	if (unknown->name)
		ht_finding_subject(&f, NULL, unknown->name);
	put_question(a, question);
	ht_table_put_nulls_to_end(a->table, HT_WHAT_IF_NEW);
	return ht_finding_note(a->run->scratch, &f, a->table);
}

static enum ht_status replay_own(struct ht_what_if_job *a, const struct ht_cp_rules *rules,
        double *ret_ns, struct ht_event_unknown *ret_unknown)
{
	HT_TRY(ht_event_apply(&a->editor, rules, ret_unknown));
	if (ret_unknown->why)
		return HT_OK;
	if (!a->editor.copies) {
		*ret_ns = ht_what_if_replay(a);
		return HT_OK;
	}
	struct ht_event_edit edit = ht_event_editor_edit(&a->editor);
	HT_TRY(ht_event_job_replay_repeated(&a->editor, &edit, a->edited, ret_unknown));
	*ret_ns = ht_what_if_mean(a->edited, a->n);
	return HT_OK;
}

static enum ht_status ask_own(struct ht_what_if_job *a, const char *text)
{
	struct ht_cp_rules rules;
	struct ht_whole_trace none;
	struct ht_event_unknown unknown = { 0 };
	double now = 0;
	if (!text)
		return HT_OK;
	HT_TRY(ht_cp_rules_read(a->run, ht_whole_trace_init(&none), text, &rules));
	enum ht_status status = replay_own(a, &rules, &now, &unknown);
	ht_cp_rules_done(&rules);
	ht_event_editor_reset(&a->editor);
	if (status != HT_OK)
		return status;
	if (unknown.why)
		return put_unknown(a, text, &unknown);
	put_answer(a, text, now);
	return HT_OK;
}

static enum ht_status ask_communication(struct ht_what_if_job *a)
{
	if (a->job.n_ranks > 1 && !a->job.n_units)
		HT_TRY(ht_table_add_note(a->table,
		        "no collective is on two ranks: every rank is replayed alone, and none waits for another"));
	if (a->job.n_units) {
		HT_TRY(ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, NULL));
		ask(a, "no stragglers");
		HT_TRY(ask_ranks(a));
		HT_TRY(ask_groups(a));
	}
	if (!has_flagged(a, HT_EVENT_COMM))
		return HT_OK;
	scale_flagged(a, HT_EVENT_COMM, HT_EVENT_COMM, 0.5);
	ask(a, "communication twice as fast");
	scale_flagged(a, HT_EVENT_COMM, HT_EVENT_COMM, 0);
	ask(a, "communication instant");
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		a->editor.is_apart[i] = a->job.flags[i] & HT_EVENT_COMM;
	ask(a, "communication overlapped, on a stream of its own");
	return HT_OK;
}

static enum ht_status ask_all(struct ht_what_if_job *a, const char *scale)
{
	static const struct {
		const char *question;
		unsigned flag;
	} flagged[] = { { "data loading instant", HT_EVENT_LOADS },
		{ "no garbage collection", HT_EVENT_GC }, { "no recomputation", HT_EVENT_AGAIN } };
	const char *kernel = find_kernel(a);
	HT_TRY(ask_own(a, scale));
	HT_TRY(ask_communication(a));
	if (has_flagged(a, HT_EVENT_WORK)) {
		scale_flagged(a, HT_EVENT_WORK, 0, 0);
		ask(a, "no CPU time");
	}
	for (size_t i = 0; i < HT_COUNT(flagged); i++) {
		if (!has_flagged(a, flagged[i].flag))
			continue;
		scale_flagged(a, flagged[i].flag, flagged[i].flag, 0);
		ask(a, flagged[i].question);
	}
	if (kernel)
		ask_kernel(a, kernel);
	return HT_OK;
}

enum ht_status ht_what_if_ask(
        struct ht_run *run, const struct ht_parts *parts, const char *scale, ht_table *table)
{
	struct ht_what_if_job a;
	HT_TRY(ht_what_if_job_make(run, parts, table, &a));
	return a.is_trusted ? ask_all(&a, scale) : HT_OK;
}
