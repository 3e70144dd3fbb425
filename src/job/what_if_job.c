/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_job.c - see what_if_job.h.
 */
#include "job/what_if_job.h"

#include "base/sort.h"
#include "job/stages.h"
#include "model/finding/finding.h"
#include "model/numbers/stats.h"
#include "table/optional.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Above this the replay is not the job. */
#define MAX_ERROR 0.05

double ht_what_if_mean(const double *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

double ht_what_if_replay(struct ht_what_if_job *a)
{
	struct ht_event_edit edit = ht_event_editor_edit(&a->editor);
	ht_event_job_replay(&a->job, &edit, a->edited);
	ht_event_editor_reset(&a->editor);
	return ht_what_if_mean(a->edited, a->n);
}

static enum ht_status put_unknown(
        struct ht_run *run, ht_table *table, const char *kind, const char *why, const char *subject)
{
	struct ht_finding f = ht_finding(kind, HT_STATE_UNKNOWN);
	f.variant = why;
	f.severity = HT_NOTE_WARNING;
	if (subject)
		ht_finding_subject(&f, NULL, subject);
	return ht_finding_note(run->scratch, &f, table);
}

enum ht_status ht_what_if_unknown(
        struct ht_run *run, ht_table *table, const char *kind, const char *why)
{
	return put_unknown(run, table, kind, why, NULL);
}

/* ---- which ranks ---- */

int ht_what_if_compare_excess(const void *left, const void *right)
{
	const struct ht_what_if_excess *a = left, *b = right;
	return a->excess != b->excess ? (a->excess > b->excess ? -1 : 1)
	                              : ht_order_i64((int64_t)a->i_rank, (int64_t)b->i_rank);
}

enum ht_status ht_what_if_order_ranks(
        struct ht_what_if_job *a, struct ht_what_if_excess **ret_order)
{
	size_t n = a->job.n_ranks;
	struct ht_what_if_excess *order = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *order);
	if (!order)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < n; i++)
		order[i].i_rank = i;
	HT_TRY(ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, NULL));
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		order[a->job.i_rank[i]].excess += a->job.dur[i] - a->editor.dur[i];
	ht_event_editor_reset(&a->editor);
	qsort(order, n, sizeof *order, ht_what_if_compare_excess);
	*ret_order = order;
	return HT_OK;
}

/* ---- the replay as recorded ---- */

/* Gaps of GPU activity that nothing explains, of all ranks: how much of all step time, and the largest. */
static enum ht_status note_gaps(struct ht_what_if_job *a)
{
	double sum = 0, most = 0;
	const struct ht_event_rank *of = NULL;
	uint32_t at = 0;
	for (size_t k = 0; k < a->job.n_ranks; k++) {
		const struct ht_event_rank *r = &a->job.ranks[k];
		const ht_table *nodes = r->part->facts[HT_EVENT_FACTS_NODES];
		for (uint32_t i = 0; i < r->n; i++) {
			double gap = (double)ht_table_i64(nodes, i, HT_EVENT_GAP);
			if (a->job.step[r->first + i] == HT_NONE)
				continue;
			sum += gap;
			if (gap > most) {
				most = gap;
				of = r;
				at = i;
			}
		}
	}
	double total = (a->job.recorded_ends[a->job.n_windows - 1] - a->job.begins[0]) *
	               (double)a->job.n_ranks;
	if (!of)
		return ht_table_add_note(a->table, "no unexplained gaps before GPU activity");
	return ht_table_add_note(a->table,
	        "unexplained gaps before GPU activity: %.2f %% of step time of all ranks; the longest, %.3f ms, before "
	        "event %" PRId64 " of rank %" PRId64 "; --view gaps lists them",
	        100 * sum / total, most / 1e6,
	        ht_table_i64_or(of->part->facts[HT_EVENT_FACTS_NODES], at, HT_EVENT_ROW, -1),
	        of->number);
}

static enum ht_status measure(struct ht_what_if_job *a)
{
	double *errors = a->room + a->n;
	ht_event_job_replay(&a->job, &(struct ht_event_edit){ 0 }, a->replayed);
	for (size_t i = 0; i < a->n; i++) {
		/* a step in which nothing happens has no end */
		if (!isfinite(a->replayed[i])) {
			a->n = 0;
			return ht_what_if_unknown(a->run, a->table, "what-if-answer", "empty_step");
		}
		a->recorded[i] = ht_event_job_recorded_ns(&a->job, i);
		errors[i] = a->recorded[i] > 0
		                    ? fabs(a->replayed[i] - a->recorded[i]) / a->recorded[i]
		                    : 0;
		a->worst_error = fmax(a->worst_error, errors[i]);
	}
	a->error = ht_middle_f64(errors, a->n, a->room);
	a->recorded_ns = ht_what_if_mean(a->recorded, a->n);
	a->replayed_ns = ht_what_if_mean(a->replayed, a->n);
	HT_TRY(ht_table_add_note(a->table,
	        "replay without edits: %.2f %% off the recorded step time in the median, %.2f %% at most, over %zu "
	        "steps; %zu transfers ended before they began and count as 0",
	        100 * a->error, 100 * a->worst_error, a->n, a->job.n_negative));
	if (a->job.n_broken)
		HT_TRY(ht_table_add_warning(a->table,
		        "%zu collectives wait for each other, the first a %s: their ranks do not wait in the replay",
		        a->job.n_broken, a->job.broken));
	return note_gaps(a);
}

static enum ht_status start(struct ht_what_if_job *a, const struct ht_parts *parts)
{
	HT_TRY(ht_event_job_make(a->run, parts, &a->job));
	HT_TRY(ht_event_job_stages(&a->job));
	a->n = a->job.n_steps;
	a->recorded = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->replayed = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->edited = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->room = ht_arena_alloc(a->run->scratch, 3 * (a->n + 1) * sizeof(double));
	if (!a->recorded || !a->replayed || !a->edited || !a->room)
		return ht_fail_nomem(a->run->ctx);
	return ht_event_editor_make(&a->job, &a->editor);
}

/* A call of the host that communicates: threads wait for it, which nobody recorded. NULL: there is none. */
static const char *find_host_call(const struct ht_parts *parts)
{
	for (size_t k = 0; k < parts->n; k++) {
		const ht_table *windows = parts->list[k].facts[HT_EVENT_FACTS_WINDOWS];
		for (size_t i = 0; i < ht_table_n_rows(windows); i++)
			if (!ht_table_is_null(windows, i, HT_WINDOW_CALL))
				return ht_table_str(windows, i, HT_WINDOW_CALL);
	}
	return NULL;
}

enum ht_status ht_what_if_job_make(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_job *ret)
{
	const char *call = find_host_call(parts);
	*ret = (struct ht_what_if_job){ .run = run, .table = table };
	if (call)
		return put_unknown(run, table, "what-if-answer", "host_calls", call);
	HT_TRY(start(ret, parts));
	if (!ret->n)
		return ht_what_if_unknown(run, table, "what-if-answer", "no_steps");
	HT_TRY(measure(ret));
	ret->is_trusted = ret->n && ret->error <= MAX_ERROR;
	return ret->n && !ret->is_trusted
	               ? ht_what_if_unknown(run, table, "what-if-answer", "replay")
	               : HT_OK;
}
