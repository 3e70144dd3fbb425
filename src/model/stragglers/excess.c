/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excess.c - see excess.h.
 */
#include "model/stragglers/excess.h"
#include "model/communication/comm_calls.h"
#include "model/origin/own_line.h"
#include "model/numbers/interval.h"
#include "model/numbers/stats.h"
#include "base/checked.h"
#include "model/rows/row_ends.h"
#include "model/rows/work_names.h"
#include "store/columns.h"
#include "store/tree.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_excess_columns[HT_N_EXCESS_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EXCESS_COLUMNS);

/* By string id. */
struct profile {
	int64_t *ns;
	uint32_t *row; /* the longest; HT_NONE: none seen */
};

static void see(const struct ht_trace *trace, struct profile *profile, uint32_t row, int64_t dur_ns)
{
	uint32_t id = trace->name[row];
	/* the first of equals */
	if (profile->row[id] == HT_NONE || trace->dur_ns[row] > trace->dur_ns[profile->row[id]])
		profile->row[id] = row;
	ht_sum(&profile->ns[id], dur_ns);
}

/* By string id, time summed first, so that each name is put once. */
static enum ht_status put_names(struct ht_run *run, const struct ht_trace *trace,
        const struct profile *profile, bool host, ht_table *table)
{
	for (uint32_t id = 0; id < trace->n_string_offsets; id++) {
		if (!profile->ns[id] || profile->row[id] == HT_NONE)
			continue;
		const char *name = ht_str(trace, id);
		if (!host)
			name = ht_name_shorten(run, name);
		else if (strncmp(name, "ProfilerStep", 12) == 0)
			name = "ProfilerStep";
		if (!name)
			return ht_fail_nomem(run->ctx);
		ht_table_row(table);
		ht_table_put_i64(table, HT_EXCESS_HOST, host);
		ht_table_put_str(table, HT_EXCESS_NAME, name);
		ht_table_put_i64(table, HT_EXCESS_NS, profile->ns[id]);
		ht_table_put_i64(table, HT_EXCESS_ROW, profile->row[id]);
		ht_table_put_i64(table, HT_EXCESS_LONGEST_NS, trace->dur_ns[profile->row[id]]);
	}
	return HT_OK;
}

static void sum_gpu(const struct ht_frame *frame, struct profile *profile)
{
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_COMM && trace->name[gpu->row] != HT_NO_STR)
			see(trace, profile, gpu->row, trace->dur_ns[gpu->row]);
	}
}

/* What has time of its own: an annotation, or a function of the user's own code. */
static bool is_named(const struct ht_trace *trace, uint32_t row, const struct ht_own_lines *own)
{
	return trace->kind[row] == HT_KIND_ANNOTATION ? trace->name[row] != HT_NO_STR
	                                              : ht_own_lines_has(own, trace, row);
}

static bool is_payer(const struct ht_trace *trace, uint32_t row, const void *own)
{
	return ht_kind_is_call(trace->kind[row]) || trace->kind[row] == HT_KIND_ANNOTATION ||
	       is_named(trace, row, own);
}

/* When calls of the host communicate, merged: whoever waits for them on another thread has nothing of his own to do. */
struct comm_times {
	struct ht_interval *list;
	size_t n;
};

static enum ht_status find_comm_times(
        struct ht_run *run, const struct ht_trace *trace, struct comm_times *ret_times)
{
	const uint32_t *rows = NULL;
	size_t n = 0;
	HT_TRY(ht_comm_host_calls(run, &rows, &n));
	struct ht_interval *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		list[i] = (struct ht_interval){ trace->ts_ns[rows[i]], ht_end_ns(trace, rows[i]) };
	*ret_times = (struct comm_times){ list, ht_interval_merge(run->ctx->mem, list, n) };
	return HT_OK;
}

/* A row's time is taken off the annotation or function around it; not off one around another API call, whose time has
 * been taken off already. */
static enum ht_status sum_host(
        struct ht_run *run, const struct ht_frame *frame, struct profile *profile)
{
	const struct ht_trace *trace = frame->trace;
	uint32_t *payer = NULL;
	const int64_t *ends = NULL;
	struct ht_own_lines own;
	HT_TRY(ht_own_lines_make(run, trace, &own));
	HT_TRY(ht_tree_nearest(run->ctx, trace, is_payer, &own, run->scratch, &payer));
	struct comm_times comm = { 0 };
	HT_TRY(ht_ends_find(run, trace, &ends));
	HT_TRY(find_comm_times(run, trace, &comm));
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		if (!is_payer(trace, row, &own))
			continue;
		int64_t dur_ns = ends[row] - trace->ts_ns[row];
		if (comm.n)
			dur_ns -=
			        ht_interval_within(comm.list, comm.n, trace->ts_ns[row], ends[row]);
		if (is_named(trace, row, &own))
			see(trace, profile, row, dur_ns);
		uint32_t up = payer[row];
		if (up != HT_NONE && is_named(trace, up, &own))
			ht_sum(&profile->ns[trace->name[up]], -dur_ns);
	}
	return HT_OK;
}

struct profiles {
	struct profile of[2]; /* of the GPU, of the host */
};

static enum ht_status make_profiles(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_frame *frame = of;
	struct profiles *profiles = ret_value;
	size_t n = frame->trace->n_string_offsets + 1;
	for (int host = 0; host < 2; host++) {
		struct profile *profile = &profiles->of[host];
		*profile = (struct profile){ ht_arena_alloc(run->scratch, n * sizeof *profile->ns),
			ht_arena_room(run->scratch, n * sizeof *profile->row) };
		if (!profile->ns || !profile->row)
			return ht_fail_nomem(run->ctx);
		memset(profile->row, 0xff, n * sizeof *profile->row);
	}
	sum_gpu(frame, &profiles->of[0]);
	/* what else it needs is let go */
	struct ht_run own = *run;
	struct ht_arena scratch;
	ht_arena_init_like(&scratch, run->scratch);
	own.scratch = &scratch;
	enum ht_status status = sum_host(&own, frame, &profiles->of[1]);
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_excess_put(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make_profiles, sizeof(struct profiles) };
	struct profiles profiles;
	HT_TRY(ht_frame_share(run, frame, &how, frame, &profiles));
	for (int host = 0; host < 2; host++)
		HT_TRY(put_names(run, frame->trace, &profiles.of[host], host, table));
	return HT_OK;
}

/* ---- all ranks ---- */

/* One name on one rank. */
struct share {
	const char *name;
	size_t i_member;
	int64_t ns, row, longest_ns;
};

static int compare_shares(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	if (order)
		return order;
	if (a->i_member != b->i_member)
		return a->i_member < b->i_member ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static bool is_late(const struct ht_members *members, size_t m)
{
	return members->is_late && members->is_late[members->parts[m]];
}

/* One name on all members: all has an entry for each, sorted is room for as many numbers. */
static void follow_name(const struct share *all, int64_t *sorted, const struct ht_members *members,
        const char *name, struct ht_excess *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < members->n; i++)
		if (!is_late(members, i))
			sorted[n++] = all[i].ns;
	bool some = n > 0;
	for (size_t i = 0; !some && i < members->n; i++)
		sorted[n++] = all[i].ns;
	ht_sort_i64(sorted, n);
	for (size_t i = 0; i < members->n; i++) {
		bool is_there = !some || !is_late(members, i);
		if (is_there && n < 2)
			continue;
		size_t but = is_there ? ht_sorted_find(sorted, n, all[i].ns) : n;
		int64_t usual_ns = ht_sorted_but(sorted, but, (is_there ? n - 1 : n) / 2);
		int64_t excess_ns = ht_sub_sat(all[i].ns, usual_ns);
		ht_sum(&ret[i].total_ns, excess_ns);
		if (excess_ns > ret[i].ns) {
			ret[i].name = name;
			ret[i].ns = excess_ns;
			ret[i].row = all[i].row;
		}
	}
}

/* The shares of one name, short for several, by part. */
static size_t gather(const struct share *shares, size_t n, struct share *all, size_t n_parts)
{
	size_t end = 0;
	memset(all, 0, n_parts * sizeof *all);
	for (; end < n && !strcmp(shares[end].name, shares[0].name); end++) {
		struct share *one = &all[shares[end].i_member];
		if (shares[end].longest_ns > one->longest_ns || !one->name) {
			one->row = shares[end].row;
			one->longest_ns = shares[end].longest_ns;
		}
		one->name = shares[end].name;
		ht_sum(&one->ns, shares[end].ns);
	}
	return end;
}

static enum ht_status find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        size_t steps_k, const struct ht_members *members, bool host, struct ht_excess *ret)
{
	size_t n_rows = 0, n = 0;
	for (size_t m = 0; m < members->n; m++)
		n_rows += ht_table_n_rows(parts->list[members->parts[m]].facts[k]);
	struct share *shares = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *shares);
	struct share *all = ht_arena_alloc(run->scratch, (members->n + 1) * sizeof *all);
	int64_t *sorted = ht_arena_alloc(run->scratch, (members->n + 1) * sizeof *sorted);
	if (!shares || !all || !sorted)
		return ht_fail_nomem(run->ctx);
	memset(ret, 0, members->n * sizeof *ret);
	for (size_t m = 0; m < members->n; m++) {
		const struct ht_part *part = &parts->list[members->parts[m]];
		const ht_table *facts = part->facts[k];
		size_t n_steps = ht_table_n_rows(part->facts[steps_k]);
		for (size_t row = 0; row < ht_table_n_rows(facts); row++)
			if (ht_table_i64(facts, row, HT_EXCESS_HOST) == host)
				shares[n++] =
				        (struct share){ ht_table_str(facts, row, HT_EXCESS_NAME), m,
					        ht_table_i64(facts, row, HT_EXCESS_NS) /
					                (int64_t)(n_steps ? n_steps : 1),
					        ht_table_i64(facts, row, HT_EXCESS_ROW),
					        ht_table_i64(facts, row, HT_EXCESS_LONGEST_NS) };
	}
	qsort(shares, n, sizeof *shares, compare_shares);
	for (size_t start = 0; start < n && members->n > 1;) {
		size_t n_here = gather(shares + start, n - start, all, members->n);
		follow_name(all, sorted, members, shares[start].name, ret);
		start += n_here;
	}
	return HT_OK;
}

enum ht_status ht_excess_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        size_t steps_k, const struct ht_members *members, struct ht_excess *ret_host,
        struct ht_excess *ret_gpu)
{
	HT_TRY(find(run, parts, k, steps_k, members, true, ret_host));
	return find(run, parts, k, steps_k, members, false, ret_gpu);
}
