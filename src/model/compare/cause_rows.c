/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause_rows.c - causes and ranks of a comparison as rows; see causes.h.
 */
#include "model/compare/causes.h"

#include "base/checked.h"
#include "model/stragglers/rank_names.h"

#include <math.h>
#include <string.h>

/* Chance of an interval to miss on each side. */
#define MISS 0.025

const struct ht_column ht_cause_columns[] = HT_COLUMN_ENTRIES(HT_CAUSE_COLUMNS);
const struct ht_column ht_rank_change_columns[] = HT_COLUMN_ENTRIES(HT_RANK_CHANGE_COLUMNS);

void ht_interval_put(
        ht_table *table, size_t low, size_t high, const struct ht_gap *gap, double reach)
{
	bool is_known = !isnan(reach);
	ht_table_put_known(
	        table, low, is_known ? ht_round_sat(gap->mean - reach) : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        table, high, is_known ? ht_round_sat(gap->mean + reach) : HT_NO_I64, HT_NO_I64);
}

/* ---- causes ---- */

static const char *what_of(enum ht_cause_kind kind)
{
	static const char *const words[HT_N_CAUSE_KINDS] = {
		[HT_CAUSE_KERNEL] = "kernel",
		[HT_CAUSE_COPY] = "copy",
		[HT_CAUSE_TRANSFER] = "transfer",
		[HT_CAUSE_CPU] = "CPU",
		[HT_CAUSE_RANK_WAIT] = "rank wait",
		[HT_CAUSE_DEVICE_WAIT] = "device wait",
	};
	return words[kind];
}

static const char *change_of(const struct ht_cause *cause)
{
	if (!cause->count[0] != !cause->count[1])
		return cause->count[0] ? "removed" : "added";
	return cause->gap.mean > 0 ? "slower" : "faster";
}

static enum ht_status put_cause(
        struct ht_run *run, const struct ht_causes *causes, size_t i, ht_table *table)
{
	const struct ht_cause *cause = &causes->list[i];
	const char *ranks = cause->n_ranks
	                            ? ht_ranks_text(run->scratch, cause->ranks, cause->n_ranks)
	                            : "all ranks";
	if (!ranks)
		return ht_fail_nomem(run->ctx);
	ht_table_row(table);
	ht_table_put_str(
	        table, HT_CAUSE_ROLE, ht_cause_is_consequence(cause) ? "consequence" : "cause");
	ht_table_put_str(table, HT_CAUSE_WHAT, what_of(cause->kind));
	ht_table_put_str(table, HT_CAUSE_RANKS, ranks);
	ht_table_put_str(table, HT_CAUSE_NAME, cause->name);
	ht_table_put_str(table, HT_CAUSE_SOURCE, cause->source);
	ht_table_put_str(table, HT_CAUSE_CHANGE, change_of(cause));
	ht_table_put_f64(table, HT_CAUSE_CONTROL_NS, cause->mean[0]);
	ht_table_put_f64(table, HT_CAUSE_TEST_NS, cause->mean[1]);
	ht_table_put_f64(table, HT_CAUSE_DIFF_NS, cause->gap.mean);
	ht_interval_put(table, HT_CAUSE_LOW_NS, HT_CAUSE_HIGH_NS, &cause->gap,
	        ht_gap_reach(&cause->gap, MISS));
	ht_table_put_f64(table, HT_CAUSE_SHARE, cause->gap.mean / causes->known_ns);
	return HT_OK;
}

enum ht_status ht_causes_put(struct ht_run *run, const struct ht_causes *causes, ht_table *table)
{
	for (size_t i = 0; i < causes->n; i++)
		HT_TRY(put_cause(run, causes, i, table));
	return HT_OK;
}

/* ---- ranks ---- */

static const char *word_of(const struct ht_gap *gap)
{
	if (gap->mean == 0)
		return "equal";
	if (ht_gap_may_be_noise(gap))
		return "within noise";
	return gap->mean > 0 ? "slower" : "faster";
}

static void put_rank(
        ht_table *table, int64_t rank, const struct ht_sample *own, const struct ht_sample *wait)
{
	struct ht_gap gap = ht_sample_gap(&own[0], &own[1], (struct ht_noise){ 0 });
	ht_table_row(table);
	ht_table_put_i64(table, HT_RANK_CHANGE_RANK, rank);
	ht_table_put_f64(table, HT_RANK_CHANGE_CONTROL_NS, own[0].mean);
	ht_table_put_f64(table, HT_RANK_CHANGE_TEST_NS, own[1].mean);
	ht_table_put_f64(table, HT_RANK_CHANGE_DIFF_NS, gap.mean);
	ht_interval_put(table, HT_RANK_CHANGE_LOW_NS, HT_RANK_CHANGE_HIGH_NS, &gap,
	        ht_gap_reach(&gap, MISS));
	ht_table_put_str(table, HT_RANK_CHANGE_CHANGE, word_of(&gap));
	ht_table_put_f64(table, HT_RANK_CHANGE_CONTROL_WAIT_NS, wait[0].mean);
	ht_table_put_f64(table, HT_RANK_CHANGE_TEST_WAIT_NS, wait[1].mean);
	ht_table_put_f64(table, HT_RANK_CHANGE_DIFF_WAIT_NS, wait[1].mean - wait[0].mean);
}

/* Ranks that both sides have: parts stand by side, then rank. */
enum ht_status ht_rank_changes_put(const struct ht_step_samples *samples, ht_table *table)
{
	const struct ht_parts *parts = samples->parts;
	double *room = ht_step_samples_room(samples);
	size_t n_control = 0;
	if (!room)
		return ht_fail_nomem(samples->run->ctx);
	while (n_control < parts->n && parts->list[n_control].side == 0)
		n_control++;
	for (size_t i = 0, k = n_control; i < n_control && k < parts->n;) {
		int64_t control = parts->list[i].rank, test = parts->list[k].rank;
		struct ht_sample own[2], wait[2];
		if (control == test) {
			ht_step_samples_part(samples, i, room, &own[0], &wait[0]);
			ht_step_samples_part(samples, k, room, &own[1], &wait[1]);
			put_rank(table, control, own, wait);
		}
		i += control <= test;
		k += test <= control;
	}
	return HT_OK;
}
