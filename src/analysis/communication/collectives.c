/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - what collectives wait for, and how fast they move data.
 *
 * A collective is one call on every rank of its group (collective_match.h says how calls are matched), on the
 * clocks of clocks.h. For each of its calls:
 *   skew      from the first start to the last, over its ranks
 *   wait      from its own start until the last rank had started; for a broadcast, a receive and the like, the
 *             last that started before it ended
 *   transfer  = duration - wait
 *   algorithm bandwidth = bytes / transfer, bytes being those of the larger side, input or output, of the rank
 *             that has most: what nccl-tests calls size
 *   bus bandwidth = algorithm bandwidth * factor, as nccl-tests defines it for n ranks: 2(n-1)/n for allreduce,
 *             (n-1)/n for allgather, reduce_scatter, alltoall, gather and scatter, 1 for broadcast, reduce, send
 *   peak share = bus bandwidth over that of a link in one direction (model/utilisation/links.h); trees and NVLS can exceed it
 * Wait, transfer and bandwidth are null when a rank of the group is missing. Bandwidths of calls that share the device with compute, and of
 * those that have it alone, stand apart.
 *
 * Views: "summary", sums by group and kind, longest first; bandwidths there are all bytes over all transfer.
 * "calls", one row per matched collective and rank, by start. "lateness", one per rank and step, of the call that is latest in
 * it. "ranks", which rank waits for which (wait_pairs.h). Sends and receives are a kind of their own.
 * Reads communication kernels, their arguments and launches. Blind to what carries no arguments but its kernel's
 * name, and to data that kernels other than communication move. O(n log n).
 *
 * Example: an allreduce of 1000 bytes on two ranks runs from 0 to 10 us and from 4 to 10 us: skew 4, waits 4
 * and 0, transfers 6 and 6 us, algorithm bandwidth 0.167 GB/s, and the bus bandwidth is the same.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"
#include "model/communication/wait_pairs.h"
#include "model/utilisation/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status extract(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SUMMARY_COLUMNS(COLUMN)                                                                                                              \
	COLUMN(SUMMARY_GROUP, "group", HT_STR, HT_KEY,                                                                                       \
	        "process group and its ranks, or the pair of a send", NULL)                                                                  \
	COLUMN(SUMMARY_KIND, "kind", HT_STR, HT_KEY, "kind of collective", NULL)                                                             \
	COLUMN(SUMMARY_RANKS, "ranks", HT_I64, HT_MEASURE, "ranks of the group that are there",                                              \
	        NULL)                                                                                                                        \
	COLUMN(SUMMARY_COLLECTIVES, "collectives", HT_I64, HT_MEASURE,                                                                       \
	        "collectives matched over ranks", NULL)                                                                                      \
	COLUMN(SUMMARY_CALLS, "calls", HT_I64, HT_DETAIL, "their calls on all ranks", NULL)                                                  \
	COLUMN(SUMMARY_BYTES, "bytes", HT_BYTES, HT_MEASURE,                                                                                 \
	        "larger side of each collective, added up", NULL)                                                                            \
	COLUMN(SUMMARY_DURATION_NS, "duration_ns", HT_DURATION, HT_DETAIL,                                                                   \
	        "duration of the calls, added up", NULL)                                                                                     \
	COLUMN(SUMMARY_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE,                                                                          \
	        "of that, until the last rank had arrived; null unless all ranks are there", NULL)                                           \
	COLUMN(SUMMARY_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE,                                                                  \
	        "the rest of the duration", NULL)                                                                                            \
	COLUMN(SUMMARY_WAIT_SHARE, "wait_share", HT_RATIO, HT_MEASURE, "wait over duration", NULL)                                           \
	COLUMN(SUMMARY_SKEW_MEAN_NS, "skew_mean_ns", HT_DURATION_F64, HT_DETAIL,                                                             \
	        "mean of first to last arrival", NULL)                                                                                       \
	COLUMN(SUMMARY_SKEW_MAX_NS, "skew_max_ns", HT_DURATION, HT_DETAIL,                                                                   \
	        "largest first to last arrival", NULL)                                                                                       \
	COLUMN(SUMMARY_UNCERTAINTY_NS, "uncertainty_ns", HT_DURATION, HT_DETAIL,                                                             \
	        "how far the clocks of two of its ranks leave arrivals open, at most", NULL)                                                 \
	COLUMN(SUMMARY_ALGBW_GB_PER_S, "algbw_gb_per_s", HT_F64, HT_MEASURE,                                                                 \
	        "bytes of all calls over their transfer", "GB/s")                                                                            \
	COLUMN(SUMMARY_BUSBW_GB_PER_S, "busbw_gb_per_s", HT_F64, HT_MEASURE,                                                                 \
	        "that times the factor of its kind and group size", "GB/s")                                                                  \
	COLUMN(SUMMARY_PEAK_SHARE, "peak_share", HT_RATIO, HT_MEASURE,                                                                       \
	        "bus bandwidth over that of a link in one direction: --link, else half of the fabric where the ranks are those of one node", \
	        NULL)                                                                                                                        \
	COLUMN(SUMMARY_ALONE_GB_PER_S, "busbw_alone_gb_per_s", HT_F64, HT_DETAIL,                                                            \
	        "bus bandwidth of the calls during which the device hardly computes", "GB/s")                                                \
	COLUMN(SUMMARY_OVERLAPPED_GB_PER_S, "busbw_overlapped_gb_per_s", HT_F64, HT_DETAIL,                                                  \
	        "that of the other calls, which share the device with compute kernels", "GB/s")
HT_COLUMNS(summary_columns, SUMMARY_COLUMNS);

#define CALL_COLUMNS(COLUMN)                                                                       \
	COLUMN(CALL_GROUP, "group", HT_STR, HT_KEY,                                                \
	        "process group and its ranks, or the pair of a send", NULL)                        \
	COLUMN(CALL_NAME, "name", HT_STR, HT_KEY, "collective, or its kernel", NULL)               \
	COLUMN(CALL_KIND, "kind", HT_STR, HT_DETAIL, "kind of collective", NULL)                   \
	COLUMN(CALL_STEP, "step", HT_I64, HT_KEY, "step of its launch, null outside steps", NULL)  \
	COLUMN(CALL_SEQUENCE, "sequence", HT_I64, HT_KEY,                                          \
	        "sequence number in the group, or position in the step from 0", NULL)              \
	COLUMN(CALL_RANK, "rank", HT_I64, HT_KEY, "rank of this call", NULL)                       \
	COLUMN(CALL_ROW, "row", HT_I64, HT_DETAIL, "index of its kernel in the rank's trace",      \
	        NULL)                                                                              \
	COLUMN(CALL_RANKS, "ranks", HT_I64, HT_DETAIL, "ranks whose call was found", NULL)         \
	COLUMN(CALL_GROUP_SIZE, "group_size", HT_I64, HT_DETAIL, "ranks of the group", NULL)       \
	COLUMN(CALL_BYTES, "bytes", HT_BYTES, HT_MEASURE, "bytes of the call's larger side", NULL) \
	COLUMN(CALL_DTYPE, "dtype", HT_STR, HT_MEASURE, "type of its elements", NULL)              \
	COLUMN(CALL_START_NS, "start_ns", HT_TIME, HT_DETAIL,                                      \
	        "its start, from the first event of all ranks", NULL)                              \
	COLUMN(CALL_DURATION_NS, "duration_ns", HT_DURATION, HT_DETAIL, "duration of its kernel",  \
	        NULL)                                                                              \
	COLUMN(CALL_LATE_NS, "late_ns", HT_DURATION, HT_DETAIL, "its start after the first start", \
	        NULL)                                                                              \
	COLUMN(CALL_SKEW_NS, "skew_ns", HT_DURATION, HT_MEASURE,                                   \
	        "first start to last start of the collective", NULL)                               \
	COLUMN(CALL_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE,                                   \
	        "until the last rank had arrived; null unless all ranks are there", NULL)          \
	COLUMN(CALL_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE,                           \
	        "the rest of the duration", NULL)                                                  \
	COLUMN(CALL_UNCERTAINTY_NS, "uncertainty_ns", HT_DURATION, HT_DETAIL,                      \
	        "how far the clocks of two of its ranks leave arrivals open, at most", NULL)       \
	COLUMN(CALL_ALGBW_GB_PER_S, "algbw_gb_per_s", HT_F64, HT_MEASURE,                          \
	        "bytes of the collective over transfer", "GB/s")                                   \
	COLUMN(CALL_BUSBW_GB_PER_S, "busbw_gb_per_s", HT_F64, HT_MEASURE,                          \
	        "that times the factor of its kind and group size", "GB/s")                        \
	COLUMN(CALL_PEAK_SHARE, "peak_share", HT_RATIO, HT_DETAIL,                                 \
	        "bus bandwidth over that of a link in one direction", NULL)                        \
	COLUMN(CALL_COMPUTE_SHARE, "compute_share", HT_RATIO, HT_DETAIL,                           \
	        "of its duration, with a compute kernel on the device", NULL)
HT_COLUMNS(call_columns, CALL_COLUMNS);

#define LATENESS_COLUMNS(COLUMN)                                                                   \
	COLUMN(LATENESS_RANK, "rank", HT_I64, HT_KEY, "rank of the calls", NULL)                   \
	COLUMN(LATENESS_STEP, "step", HT_I64, HT_KEY, "step of their launch, null outside steps",  \
	        NULL)                                                                              \
	COLUMN(LATENESS_LATE_NS, "late_ns", HT_DURATION, HT_MEASURE,                               \
	        "start after the first start, of the call of the step that is latest", NULL)       \
	COLUMN(LATENESS_UNCERTAINTY_NS, "uncertainty_ns", HT_DURATION, HT_MEASURE,                 \
	        "how far the clocks of two ranks of that collective leave it open", NULL)          \
	COLUMN(LATENESS_CALLS, "calls", HT_I64, HT_DETAIL, "calls of the rank in the step", NULL)  \
	COLUMN(LATENESS_ROW, "row", HT_I64, HT_DETAIL,                                             \
	        "index of the kernel of that call in the rank's trace", NULL)
HT_COLUMNS(lateness_columns, LATENESS_COLUMNS);

#define PAIR_COLUMNS(COLUMN)                                                                       \
	COLUMN(PAIR_RANK, "rank", HT_I64, HT_KEY, "rank of the calls", NULL)                       \
	COLUMN(PAIR_LAST_RANK, "last_rank", HT_I64, HT_KEY,                                        \
	        "rank whose arrival ends their wait; its own: they wait for nobody", NULL)         \
	COLUMN(PAIR_CALLS, "calls", HT_I64, HT_MEASURE, "its calls that wait for that rank", NULL) \
	COLUMN(PAIR_BYTES, "bytes", HT_BYTES, HT_MEASURE, "their bytes, larger side", NULL)        \
	COLUMN(PAIR_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE, "their wait for that rank", NULL) \
	COLUMN(PAIR_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE,                           \
	        "the rest of their duration", NULL)                                                \
	COLUMN(PAIR_SHARE, "share", HT_RATIO, HT_MEASURE,                                          \
	        "of the wait of all ranks in this table", NULL)
HT_COLUMNS(pair_columns, PAIR_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary_columns, HT_COUNT(summary_columns) },
	{ "calls", call_columns, HT_COUNT(call_columns) },
	{ "lateness", lateness_columns, HT_COUNT(lateness_columns) },
	{ "ranks", pair_columns, HT_COUNT(pair_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary",
	        "sums by group and kind, every call, how late each rank is in each step, or which rank waits for which",
	        "summary|calls|lateness|ranks" },
	{ "link", HT_F64, NULL,
	        "bandwidth of a link in one direction in GB/s, of NVLink or the network, for peak_share",
	        NULL },
};

/* The tables of a part. */
enum { FACTS_CALLS, FACTS_OVERLAPS, FACTS_DEVICES };

/* A device that computes for less than this of a call leaves it alone. */
#define ALONE 0.05

const struct ht_analysis ht_analysis_collectives = {
	.info = { .name = "collectives",
	        .group = "distributed",
	        .page_view = "communication",
	        .title = "Collectives",
	        .question = "What do collectives wait for, and how fast do they move data?",
	        .method =
	                "Calls matched over ranks on one clock: wait is until the last rank has started, "
	                "transfer is the rest of the duration; bandwidths as in nccl-tests, over "
	                "transfer.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .details = "calls",
	        .charts = "lateness",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { [FACTS_CALLS] = { "calls", ht_chosen_call_columns, HT_N_CHOSEN_CALL_COLUMNS },
	        [FACTS_OVERLAPS] = { "overlaps", ht_link_call_columns, HT_N_LINK_CALL_COLUMNS },
	        [FACTS_DEVICES] = { "devices", ht_link_device_columns, HT_N_LINK_DEVICE_COLUMNS } },
	.across = true,
	.per_rank = extract,
	.of = "calls matched over ranks on one clock",
	.finish = finish,
};

static enum ht_status extract(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	const uint32_t *calls = NULL;
	size_t n_calls = 0;
	HT_TRY(ht_comm_host_calls(run, &calls, &n_calls));
	/* rows of the host are looked at only where they are calls */
	if (n_calls)
		HT_TRY(ht_frame_make(run, &frame));
	else
		HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_links_put(run, &frame, part->facts[FACTS_OVERLAPS], part->facts[FACTS_DEVICES]));
	return ht_chosen_calls_put(run, &frame, part->facts[FACTS_CALLS]);
}

/* ---- one collective ---- */

struct arrivals {
	int64_t first_ns, last_ns, uncertainty_ns;
};

/* Over all ranks that are there, chosen or not. */
static struct arrivals arrivals_of(const struct ht_clocks *clocks, const struct ht_collective *c)
{
	struct arrivals a = { INT64_MAX, INT64_MIN, 0 };
	int64_t most_ns = 0, next_ns = 0;
	for (size_t i = 0; i < c->n; i++) {
		int64_t ns = clocks->of[c->calls[i].i_rank].uncertainty_ns;
		a.first_ns = c->calls[i].start_ns < a.first_ns ? c->calls[i].start_ns : a.first_ns;
		a.last_ns = c->calls[i].start_ns > a.last_ns ? c->calls[i].start_ns : a.last_ns;
		if (ns == HT_NO_I64)
			a.uncertainty_ns = HT_NO_I64;
		if (ns > most_ns) {
			next_ns = most_ns;
			most_ns = ns;
		} else if (ns > next_ns) {
			next_ns = ns;
		}
	}
	if (a.uncertainty_ns != HT_NO_I64)
		a.uncertainty_ns = ht_add_sat(most_ns, next_ns);
	return a;
}

/* GB/s is bytes per ns. Returns the bus bandwidth. */
static double put_bandwidths(ht_table *table, size_t column, double bytes, double transfer_ns,
        enum ht_comm_kind kind, int64_t n_ranks)
{
	double gbps = transfer_ns > 0 ? bytes / transfer_ns : NAN;
	ht_table_put_f64(table, column, gbps);
	ht_table_put_f64(table, column + 1, gbps * ht_comm_bus_factor(kind, n_ranks));
	return gbps * ht_comm_bus_factor(kind, n_ranks);
}

/* Of the duration of a call, with compute; NAN: not known. */
static double compute_share(const struct ht_parts *parts, const struct ht_chosen_call *chosen)
{
	int64_t ns =
	        ht_link_compute_ns(&parts->list[chosen->i_part], FACTS_OVERLAPS, chosen->call->row);
	int64_t duration_ns = ht_comm_duration_ns(chosen->call);
	return ns == HT_NO_I64 || duration_ns <= 0 ? NAN : (double)ns / (double)duration_ns;
}

static double link_of(const struct ht_run *run, const struct ht_parts *parts)
{
	return ht_link_peak(
	        run, parts, FACTS_DEVICES, ht_run_str(run, "link") ? ht_run_f64(run, "link") : NAN);
}

/* The bus bandwidth that stands in the table, of the peak. */
static void put_peak_share(ht_table *table, size_t column, double busbw, double peak)
{
	ht_table_put_f64(table, column, peak > 0 ? busbw / peak : NAN);
}

static int64_t size_of(const struct ht_collective *c)
{
	return c->size == HT_NO_I64 ? (int64_t)c->n : c->size;
}

/* ---- calls ---- */

static void put_call(ht_table *table, const struct ht_run *run, const struct ht_parts *parts,
        const struct ht_chosen_call *chosen, double link)
{
	const struct ht_collective *c = chosen->collective;
	const struct ht_comm_call *call = chosen->call;
	struct arrivals a = arrivals_of(run->clocks[0], c);
	int64_t transfer_ns = ht_comm_transfer_ns(call);
	bool measured = transfer_ns != HT_NO_I64 && c->bytes != HT_NO_I64;
	ht_table_row(table);
	ht_table_put_str(table, CALL_GROUP, *c->group ? c->group : NULL);
	ht_table_put_str(table, CALL_NAME, c->name);
	ht_table_put_str(table, CALL_KIND, ht_comm_kind_name(c->kind));
	ht_table_put_known(table, CALL_STEP, c->step, HT_NO_I64);
	ht_table_put_known(table, CALL_SEQUENCE, c->nth, HT_NO_I64);
	ht_table_put_i64(table, CALL_RANK, parts->list[chosen->i_part].rank);
	ht_table_put_i64(table, CALL_ROW, call->row);
	ht_table_put_i64(table, CALL_RANKS, (int64_t)c->n);
	ht_table_put_known(table, CALL_GROUP_SIZE, c->size, HT_NO_I64);
	ht_table_put_known(table, CALL_BYTES, call->bytes, HT_NO_I64);
	ht_table_put_str(table, CALL_DTYPE, c->dtype);
	ht_table_put_i64(table, CALL_START_NS, call->start_ns);
	ht_table_put_i64(table, CALL_DURATION_NS, ht_comm_duration_ns(call));
	ht_table_put_i64(table, CALL_LATE_NS, ht_sub_sat(call->start_ns, a.first_ns));
	ht_table_put_i64(table, CALL_SKEW_NS, ht_sub_sat(a.last_ns, a.first_ns));
	ht_table_put_known(table, CALL_WAIT_NS, call->wait_ns, HT_NO_I64);
	ht_table_put_known(table, CALL_TRANSFER_NS, transfer_ns, HT_NO_I64);
	ht_table_put_known(table, CALL_UNCERTAINTY_NS, a.uncertainty_ns, HT_NO_I64);
	double busbw = put_bandwidths(table, CALL_ALGBW_GB_PER_S, measured ? (double)c->bytes : NAN,
	        (double)transfer_ns, c->kind, size_of(c));
	put_peak_share(table, CALL_PEAK_SHARE, busbw, link);
	ht_table_put_f64(table, CALL_COMPUTE_SHARE, compute_share(parts, chosen));
}

/* ---- ranks ---- */

static enum ht_status put_pairs(
        struct ht_run *run, const struct ht_chosen_call *calls, size_t n, ht_table *table)
{
	const struct ht_wait_pair *pairs = NULL;
	const struct ht_roster *roster = run->rosters[0];
	size_t n_pairs = 0;
	int64_t wait_ns = 0;
	HT_TRY(ht_wait_pairs_make(run, calls, n, &pairs, &n_pairs));
	for (size_t i = 0; i < n_pairs; i++)
		ht_sum(&wait_ns, pairs[i].wait_ns);
	for (size_t i = 0; i < n_pairs; i++) {
		const struct ht_wait_pair *pair = &pairs[i];
		ht_table_row(table);
		ht_table_put_i64(table, PAIR_RANK, roster->ranks[pair->i_rank].number);
		ht_table_put_i64(table, PAIR_LAST_RANK, roster->ranks[pair->i_last].number);
		ht_table_put_i64(table, PAIR_CALLS, pair->n_calls);
		ht_table_put_known(table, PAIR_BYTES, pair->bytes, HT_NO_I64);
		ht_table_put_i64(table, PAIR_WAIT_NS, pair->wait_ns);
		ht_table_put_i64(table, PAIR_TRANSFER_NS, pair->transfer_ns);
		ht_table_put_f64(table, PAIR_SHARE,
		        wait_ns > 0 ? (double)pair->wait_ns / (double)wait_ns : NAN);
	}
	ht_table_set_bar(table, PAIR_SHARE);
	return HT_OK;
}

/* ---- summary ---- */

struct sum {
	const struct ht_collective *example;
	int64_t n_ranks, n_collectives, n_calls;
	int64_t bytes, duration_ns, wait_ns; /* HT_NO_I64 when one is not known */
	double call_bytes; /* bytes of the collective for every call: transfers are of calls */
	int64_t skew_ns, skew_max_ns, uncertainty_ns;
	/* of calls that share the device with compute, and of those that do not */
	double part_bytes[2], part_transfer_ns[2];
};

static int compare_keys(const struct ht_collective *a, const struct ht_collective *b)
{
	int order = strcmp(a->group, b->group);
	return order ? order : (int)a->kind - (int)b->kind;
}

static int by_key(const void *left, const void *right)
{
	const struct ht_chosen_call *a = left, *b = right;
	int order = compare_keys(a->collective, b->collective);
	if (order)
		return order;
	if (a->collective != b->collective)
		return a->collective < b->collective ? -1 : 1;
	return a->i_part < b->i_part ? -1 : a->i_part > b->i_part;
}

static int by_duration(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return compare_keys(a->example, b->example);
}

/* Calls by whether the device computes meanwhile. */
static void add_part(struct sum *sum, const struct ht_chosen_call *chosen, double share)
{
	int64_t transfer_ns = ht_comm_transfer_ns(chosen->call);
	bool overlapped = share >= ALONE;
	if (isnan(share) || transfer_ns == HT_NO_I64 || chosen->collective->bytes == HT_NO_I64)
		return;
	sum->part_bytes[overlapped] += (double)chosen->collective->bytes;
	sum->part_transfer_ns[overlapped] += (double)transfer_ns;
}

static double part_busbw(const struct sum *sum, bool overlapped)
{
	const struct ht_collective *c = sum->example;
	return sum->part_transfer_ns[overlapped] > 0
	               ? sum->part_bytes[overlapped] / sum->part_transfer_ns[overlapped] *
	                         ht_comm_bus_factor(c->kind, size_of(c))
	               : NAN;
}

static void add_call(struct sum *sum, const struct ht_clocks *clocks,
        const struct ht_chosen_call *chosen, bool first)
{
	const struct ht_collective *c = chosen->collective;
	const struct ht_comm_call *call = chosen->call;
	sum->n_calls++;
	ht_sum(&sum->duration_ns, ht_comm_duration_ns(call));
	sum->call_bytes += c->bytes == HT_NO_I64 ? NAN : (double)c->bytes;
	ht_comm_sum_known(&sum->wait_ns, call->wait_ns);
	if (!first)
		return;
	struct arrivals a = arrivals_of(clocks, c);
	int64_t skew_ns = ht_sub_sat(a.last_ns, a.first_ns);
	sum->n_collectives++;
	sum->n_ranks = (int64_t)c->n > sum->n_ranks ? (int64_t)c->n : sum->n_ranks;
	ht_comm_sum_known(&sum->bytes, c->bytes);
	ht_sum(&sum->skew_ns, skew_ns);
	sum->skew_max_ns = skew_ns > sum->skew_max_ns ? skew_ns : sum->skew_max_ns;
	if (a.uncertainty_ns == HT_NO_I64 || sum->uncertainty_ns == HT_NO_I64)
		sum->uncertainty_ns = HT_NO_I64;
	else if (a.uncertainty_ns > sum->uncertainty_ns)
		sum->uncertainty_ns = a.uncertainty_ns;
}

static void put_sum(ht_table *table, const struct sum *sum, double link)
{
	const struct ht_collective *c = sum->example;
	bool known = sum->wait_ns != HT_NO_I64;
	int64_t transfer_ns = known ? ht_sub_sat(sum->duration_ns, sum->wait_ns) : HT_NO_I64;
	ht_table_row(table);
	ht_table_put_str(table, SUMMARY_GROUP, *c->group ? c->group : NULL);
	ht_table_put_str(table, SUMMARY_KIND, ht_comm_kind_name(c->kind));
	ht_table_put_i64(table, SUMMARY_RANKS, sum->n_ranks);
	ht_table_put_i64(table, SUMMARY_COLLECTIVES, sum->n_collectives);
	ht_table_put_i64(table, SUMMARY_CALLS, sum->n_calls);
	ht_table_put_known(table, SUMMARY_BYTES, sum->bytes, HT_NO_I64);
	ht_table_put_i64(table, SUMMARY_DURATION_NS, sum->duration_ns);
	ht_table_put_known(table, SUMMARY_WAIT_NS, sum->wait_ns, HT_NO_I64);
	ht_table_put_known(table, SUMMARY_TRANSFER_NS, transfer_ns, HT_NO_I64);
	ht_table_put_f64(table, SUMMARY_WAIT_SHARE,
	        known && sum->duration_ns ? (double)sum->wait_ns / (double)sum->duration_ns : NAN);
	ht_table_put_f64(
	        table, SUMMARY_SKEW_MEAN_NS, (double)sum->skew_ns / (double)sum->n_collectives);
	ht_table_put_i64(table, SUMMARY_SKEW_MAX_NS, sum->skew_max_ns);
	ht_table_put_known(table, SUMMARY_UNCERTAINTY_NS, sum->uncertainty_ns, HT_NO_I64);
	double busbw = put_bandwidths(table, SUMMARY_ALGBW_GB_PER_S, known ? sum->call_bytes : NAN,
	        (double)transfer_ns, c->kind, size_of(c));
	put_peak_share(table, SUMMARY_PEAK_SHARE, busbw, link);
	ht_table_put_f64(table, SUMMARY_ALONE_GB_PER_S, part_busbw(sum, false));
	ht_table_put_f64(table, SUMMARY_OVERLAPPED_GB_PER_S, part_busbw(sum, true));
}

static enum ht_status put_summary(struct ht_run *run, const struct ht_parts *parts,
        struct ht_chosen_call *calls, size_t n, ht_table *table)
{
	size_t n_sums = 0;
	struct sum *sums = ht_arena_alloc(run->scratch, (n + 1) * sizeof *sums);
	if (!sums)
		return ht_fail_nomem(run->ctx);
	qsort(calls, n, sizeof *calls, by_key);
	for (size_t i = 0; i < n; i++) {
		if (!i || compare_keys(calls[i - 1].collective, calls[i].collective))
			sums[n_sums++].example = calls[i].collective;
		add_call(&sums[n_sums - 1], run->clocks[0], &calls[i],
		        !i || calls[i - 1].collective != calls[i].collective);
		add_part(&sums[n_sums - 1], &calls[i], compute_share(parts, &calls[i]));
	}
	qsort(sums, n_sums, sizeof *sums, by_duration);
	double link = link_of(run, parts);
	for (size_t i = 0; i < n_sums; i++)
		put_sum(table, &sums[i], link);
	ht_table_set_bar(table, SUMMARY_WAIT_SHARE);
	return HT_OK;
}

/* ---- lateness ---- */

/* A call, and how late it is. */
struct late {
	size_t i_part;
	int64_t step, late_ns, uncertainty_ns, row;
};

static int by_rank_and_step(const void *left, const void *right)
{
	const struct late *a = left, *b = right;
	if (a->i_part != b->i_part)
		return a->i_part < b->i_part ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->late_ns != b->late_ns)
		return a->late_ns > b->late_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* A row for each rank and step: its call that is latest, the first of several. Calls are ascending by collective. */
static enum ht_status put_lateness(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_chosen_call *calls, size_t n, ht_table *table)
{
	struct late *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	struct arrivals a = { 0 };
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_collective *c = calls[i].collective;
		if (!i || c != calls[i - 1].collective)
			a = arrivals_of(run->clocks[0], c);
		list[i] = (struct late){ calls[i].i_part, c->step,
			ht_sub_sat(calls[i].call->start_ns, a.first_ns), a.uncertainty_ns,
			calls[i].call->row };
	}
	qsort(list, n, sizeof *list, by_rank_and_step);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].i_part == list[i].i_part &&
		                  list[end].step == list[i].step;)
			end++;
		ht_table_row(table);
		ht_table_put_i64(table, LATENESS_RANK, parts->list[list[i].i_part].rank);
		ht_table_put_known(table, LATENESS_STEP, list[i].step, HT_NO_I64);
		ht_table_put_i64(table, LATENESS_LATE_NS, list[i].late_ns);
		ht_table_put_known(
		        table, LATENESS_UNCERTAINTY_NS, list[i].uncertainty_ns, HT_NO_I64);
		ht_table_put_i64(table, LATENESS_CALLS, (int64_t)(end - i));
		ht_table_put_i64(table, LATENESS_ROW, list[i].row);
	}
	return HT_OK;
}

/* ---- all ranks ---- */

static enum ht_status add_hint(struct ht_arena *arena, ht_table *table)
{
	double wait = ht_hint_total(table, "wait_ns"),
	       all = wait + ht_hint_total(table, "transfer_ns");
	if (!(all > 0))
		return HT_OK;
	bool waits = wait > HT_WORTH_A_HINT * all;
	struct ht_finding f = ht_finding("collective-time", HT_STATE_FOUND);
	f.variant = waits ? "waiting" : "transfer";
	ht_finding_share(&f, (waits ? wait : all - wait) / all, "of.communication", HT_NO_I64);
	/* who waits for whom in sends and receives is a matter of the schedule: stragglers compares ranks of collectives */
	double p2p =
	        ht_hint_total_of(table, "wait_ns", "kind", ht_comm_kind_name(HT_COMM_SEND_RECV));
	bool of_schedule = waits && p2p > wait / 2;
	ht_finding_next(&f, !waits ? "comm-overlap" : of_schedule ? "critical-path" : "stragglers");
	if (of_schedule)
		ht_finding_arg(&f, "across", "true");
	return ht_finding_note(arena, &f, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const struct ht_chosen_call *all = NULL;
	struct ht_alone_calls alone = { 0 };
	size_t n_all = 0, n = 0;
	if (!ht_parts_n_rows(parts, 0))
		return ht_table_add_note(table, "no communication kernels in the selection");
	if (!run->clocks[0])
		return ht_table_add_note(
		        table, "one rank has no counterpart: give all ranks of a group");
	HT_TRY(ht_chosen_calls_get(run, parts, 0, &all, &n_all));
	struct ht_chosen_call *calls = ht_arena_alloc(run->scratch, (n_all + 1) * sizeof *calls);
	if (!calls)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_all; i++)
		if (ht_collective_is_matched(all[i].collective))
			calls[n++] = all[i];
		else
			ht_alone_calls_add(&alone, all[i].call);
	if (ht_run_is(run, "view", "summary")) {
		HT_TRY(put_summary(run, parts, calls, n, table));
		HT_TRY(add_hint(run->scratch, table));
	} else if (ht_run_is(run, "view", "lateness")) {
		HT_TRY(put_lateness(run, parts, calls, n, table));
	} else if (ht_run_is(run, "view", "ranks")) {
		HT_TRY(put_pairs(run, calls, n, table));
	} else {
		double link = link_of(run, parts);
		for (size_t i = 0; i < n; i++)
			put_call(table, run, parts, &calls[i], link);
	}
	HT_TRY(ht_chosen_calls_note(table, &alone, n_all));
	return ht_clocks_note(run, table);
}
