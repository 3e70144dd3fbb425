/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.c - how fast a serving engine answers: its iterations by phase.
 *
 * Iterations are annotations of vLLM, SGLang and ATOM, or execute_<n> (model/serving/grammar.h); prefill handles prompts, decode one token per request,
 * mixed both. Wall time of an iteration is from its start to the next one's, which for decode is the time per output token. GPU time is what it
 * launched, whenever that ran; gap is how long the GPU waited between the work of two iterations.
 *
 *   tokens_per_s = tokens / wall     p50, p99: of the wall time of single iterations, nearest rank
 *
 * Example: decode iterations of 4 requests that start at 0, 10 and 20 us and run until 30 us: wall 10 us each, 12 tokens, 400,000 tokens/s.
 */
#include "analysis/analysis.h"
#include "model/efficiency/kv_entry.h"
#include "model/efficiency/peaks.h"
#include "model/serving/iteration_rules.h"
#include "model/serving/phases.h"
#include "store/columns.h"

#include <math.h>

static enum ht_status check(struct ht_run *run);
static enum ht_status per_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define PHASE_COLUMNS(COLUMN)                                                                       \
	COLUMN(PHASE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(PHASE_PHASE, "phase", HT_STR, HT_KEY, "prefill, decode, mixed or other", NULL)       \
	COLUMN(PHASE_ITERATIONS, "iterations", HT_I64, HT_MEASURE, "iterations of the phase",       \
	        NULL)                                                                               \
	COLUMN(PHASE_REQUESTS, "requests", HT_I64, HT_MEASURE,                                      \
	        "requests handled, summed over iterations", NULL)                                   \
	COLUMN(PHASE_TOKENS, "tokens", HT_I64, HT_MEASURE, "tokens scheduled", NULL)                \
	COLUMN(PHASE_WALL_NS, "wall_ns", HT_DURATION, HT_MEASURE,                                   \
	        "from the start of each iteration to that of the next one, summed", NULL)           \
	COLUMN(PHASE_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                     \
	        "summed time of the GPU activities that they launched", NULL)                       \
	COLUMN(PHASE_GAP_NS, "gap_ns", HT_DURATION, HT_MEASURE,                                     \
	        "GPU idle between the work of the iteration before and theirs", NULL)               \
	COLUMN(PHASE_TOKENS_PER_S, "tokens_per_s", HT_F64, HT_MEASURE, "tokens over wall time",     \
	        NULL)                                                                               \
	COLUMN(PHASE_P50_NS, "p50_ns", HT_DURATION, HT_MEASURE,                                     \
	        "median wall time of an iteration; of decode, time per output token", NULL)         \
	COLUMN(PHASE_P99_NS, "p99_ns", HT_DURATION, HT_MEASURE, "99th percentile of it", NULL)      \
	COLUMN(PHASE_FILL, "batch_fill", HT_RATIO, HT_MEASURE,                                      \
	        "requests over the padded batch size, where annotations say both", NULL)            \
	COLUMN(PHASE_KV_TOKENS, "kv_tokens", HT_I64, HT_DETAIL,                                     \
	        "KV entries that decoding requests read, summed over iterations", NULL)             \
	COLUMN(PHASE_STEADY, "steady_iterations", HT_I64, HT_DETAIL,                                \
	        "longest run of decode iterations whose batch stays within 10 % of the median, "    \
	        "the first 10 % left out",                                                          \
	        NULL)                                                                               \
	COLUMN(PHASE_STEADY_TOKENS_PER_S, "steady_tokens_per_s", HT_F64, HT_DETAIL,                 \
	        "tokens over wall time in it", NULL)                                                \
	COLUMN(PHASE_STEADY_P50_NS, "steady_p50_ns", HT_DURATION, HT_DETAIL,                        \
	        "median wall time of its iterations", NULL)                                         \
	COLUMN(PHASE_STEADY_P99_NS, "steady_p99_ns", HT_DURATION, HT_DETAIL,                        \
	        "99th percentile of it", NULL)                                                      \
	COLUMN(PHASE_KV_BYTES, "kv_bytes", HT_BYTES, HT_DETAIL,                                     \
	        "KV entries read x bytes of one; null where the size of one is not known", NULL)    \
	COLUMN(PHASE_KV_BYTES_PER_S, "kv_bytes_per_s", HT_F64, HT_DETAIL,                           \
	        "of them, per second of the phase's GPU time", NULL)                                \
	COLUMN(PHASE_KV_SHARE, "kv_bandwidth_share", HT_RATIO, HT_DETAIL,                           \
	        "of the peak memory bandwidth of the device; null where that is not known", NULL)   \
	COLUMN(PHASE_KV_ENTRY, "kv_entry_bytes", HT_BYTES, HT_DETAIL,                               \
	        "KV entry of one token over all layers of the rank", NULL)                          \
	COLUMN(PHASE_KV_FROM, "kv_from", HT_STR, HT_DETAIL,                                         \
	        "how the entry is known: given (kv-bytes-per-token), rules (attached), shapes (of " \
	        "operators that write the cache)",                                                  \
	        NULL)
HT_COLUMNS(phase_columns, PHASE_COLUMNS);

#define LIST_COLUMNS(COLUMN)                                                                       \
	COLUMN(LIST_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(LIST_EVENT, "event", HT_EVENT, HT_KEY, "the annotation", NULL)                      \
	COLUMN(LIST_START_NS, "start_ns", HT_TIME, HT_MEASURE, "its start", NULL)                  \
	COLUMN(LIST_PHASE, "phase", HT_STR, HT_MEASURE, "prefill, decode, mixed or other", NULL)   \
	COLUMN(LIST_REQUESTS, "requests", HT_I64, HT_MEASURE, "requests handled", NULL)            \
	COLUMN(LIST_TOKENS, "tokens", HT_I64, HT_MEASURE, "tokens scheduled", NULL)                \
	COLUMN(LIST_WALL_NS, "wall_ns", HT_DURATION, HT_MEASURE,                                   \
	        "from its start to that of the next one", NULL)                                    \
	COLUMN(LIST_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                     \
	        "summed time of the GPU activities that it launched", NULL)                        \
	COLUMN(LIST_GAP_NS, "gap_ns", HT_DURATION, HT_MEASURE,                                     \
	        "GPU idle before its first activity", NULL)                                        \
	COLUMN(LIST_NAME, "name", HT_STR, HT_DETAIL, "the annotation's text", NULL)
HT_COLUMNS(list_columns, LIST_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "phases", phase_columns, HT_COUNT(phase_columns) },
	{ "list", list_columns, HT_COUNT(list_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "phases", "sums by phase, or a row per iteration", "phases|list" },
	{ "kv-bytes-per-token", HT_I64, "0",
	        "bytes of the KV entry of a token over all layers: 2 x layers x KV heads x head size x "
	        "bytes of an element; 0: what attached rules say, or the shapes of operators that write the cache",
	        NULL },
	{ "device-spec", HT_STR, NULL, "what the device can do, as efficiency takes it: hbm=3350",
	        NULL },
};

const struct ht_analysis ht_analysis_iterations = {
	.info = {
		.name = "iterations",
		.group = "gpu",
		.page_view = "iterations",
		.title = "Iterations of a serving engine",
		.question = "How fast are prefill and decode, and does the GPU wait between iterations?",
		.method = "Iterations are the annotations of vLLM (execute_...), SGLang (step[...]) and ATOM (prefill[...], decode[...]). Wall time is from "
			  "start to next start; GPU time is what an iteration launched, whenever it ran, because scheduling runs ahead; gap is GPU idle time "
			  "between the work of two iterations. p50 and p99 are those of single iterations.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.details = "list",
	},
	.choose = check,
	.per_rank = per_rank,
	.finish = finish,
};

static void put_rate(ht_table *table, size_t column, int64_t tokens, int64_t wall_ns)
{
	if (tokens >= 0 && wall_ns > 0)
		ht_table_put_f64(table, column, (double)tokens * 1e9 / (double)wall_ns);
	else
		ht_table_put_null(table, column);
}

static void put_steady(const struct ht_phase_sum *p, ht_table *table)
{
	if (!p->steady_n) {
		ht_table_put_nulls(table, PHASE_STEADY, PHASE_KV_BYTES);
		return;
	}
	ht_table_put_i64(table, PHASE_STEADY, p->steady_n);
	put_rate(table, PHASE_STEADY_TOKENS_PER_S, p->tokens < 0 ? -1 : p->steady_tokens,
	        p->steady_wall_ns);
	ht_table_put_i64(table, PHASE_STEADY_P50_NS, p->steady_p50_ns);
	ht_table_put_i64(table, PHASE_STEADY_P99_NS, p->steady_p99_ns);
}

/* What reading KV entries takes. */
struct kv {
	int64_t token_bytes; /* -1: not known */
	double peak;         /* bytes per second; 0: not known */
	const char *from;    /* how the size is known */
};

static void put_kv(const struct ht_phase_sum *p, const struct kv *kv, ht_table *table)
{
	__int128 bytes = (__int128)p->kv_tokens * kv->token_bytes;
	bool is_known = kv->token_bytes >= 0 && p->kv_tokens >= 0 && bytes <= INT64_MAX;
	bool has_rate = is_known && p->gpu_ns > 0;
	double rate = has_rate ? (double)bytes * 1e9 / (double)p->gpu_ns : NAN;
	ht_table_put_known(table, PHASE_KV_BYTES, is_known ? (int64_t)bytes : -1, -1);
	ht_table_put_f64(table, PHASE_KV_BYTES_PER_S, rate);
	ht_table_put_f64(table, PHASE_KV_SHARE, kv->peak > 0 ? rate / kv->peak : NAN);
	ht_table_put_known(table, PHASE_KV_ENTRY, kv->token_bytes, -1);
	ht_table_put_str(table, PHASE_KV_FROM, kv->token_bytes < 0 ? NULL : kv->from);
}

/* Of the device that ran most of the rank's GPU work: engines have one per rank. */
static enum ht_status find_kv(
        struct ht_run *run, const struct ht_iteration *list, size_t n, struct kv *ret_kv)
{
	const struct ht_trace *t = run->trace;
	const struct ht_iteration_rules *rules;
	struct ht_peaks peaks;
	HT_TRY(ht_iteration_rules_attached(run, &rules));
	int64_t given = ht_run_i64(run, "kv-bytes-per-token");
	*ret_kv = (struct kv){ .token_bytes = given > 0 ? given
		                              : rules   ? rules->kv_token_bytes
		                                        : -1,
		.from = given > 0 ? "given" : "rules" };
	if (ret_kv->token_bytes < 0) {
		HT_TRY(ht_kv_entry_find(run, list, n, &ret_kv->token_bytes));
		ret_kv->from = "shapes";
	}
	if (!t->n_gpu || ret_kv->token_bytes < 0)
		return HT_OK;
	HT_TRY(ht_peaks_find(run, t->gpu[0].device, ht_run_str(run, "device-spec"), &peaks));
	ret_kv->peak = peaks.is_known ? peaks.bytes : 0;
	return HT_OK;
}

static void put_phase(
        struct ht_run *run, const struct ht_phase_sum *p, const struct kv *kv, ht_table *table)
{
	ht_table_row(table);
	ht_table_put_i64(table, PHASE_RANK, run->rank);
	ht_table_put_str(table, PHASE_PHASE, ht_phase_name(p->phase));
	ht_table_put_i64(table, PHASE_ITERATIONS, p->n);
	ht_table_put_known(table, PHASE_REQUESTS, p->requests, -1);
	ht_table_put_known(table, PHASE_TOKENS, p->tokens, -1);
	ht_table_put_i64(table, PHASE_WALL_NS, p->wall_ns);
	ht_table_put_i64(table, PHASE_GPU_NS, p->gpu_ns);
	ht_table_put_i64(table, PHASE_GAP_NS, p->gap_ns);
	put_rate(table, PHASE_TOKENS_PER_S, p->tokens, p->wall_ns);
	ht_table_put_i64(table, PHASE_P50_NS, p->p50_ns);
	ht_table_put_i64(table, PHASE_P99_NS, p->p99_ns);
	if (p->padded)
		ht_table_put_f64(table, PHASE_FILL, (double)p->filled / (double)p->padded);
	else
		ht_table_put_null(table, PHASE_FILL);
	ht_table_put_known(table, PHASE_KV_TOKENS, p->kv_tokens, -1);
	put_steady(p, table);
	put_kv(p, kv, table);
}

static enum ht_status sum_phases(
        struct ht_run *run, const struct ht_iteration *list, size_t n, ht_table *table)
{
	struct ht_phase_sum sums[HT_MOST_PHASES];
	size_t n_sums;
	struct kv kv;
	HT_TRY(ht_phases_sum(run, list, n, sums, &n_sums));
	HT_TRY(find_kv(run, list, n, &kv));
	for (size_t i = 0; i < n_sums; i++)
		put_phase(run, &sums[i], &kv, table);
	return HT_OK;
}

static void list_all(struct ht_run *run, const struct ht_iteration *list, size_t n, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, LIST_RANK, run->rank);
		ht_table_put_i64(table, LIST_EVENT, ht_event_id(run->rank, list[i].row));
		ht_table_put_i64(table, LIST_START_NS, list[i].start_ns);
		ht_table_put_str(table, LIST_PHASE, ht_phase_name(list[i].name.phase));
		ht_table_put_known(table, LIST_REQUESTS, list[i].name.requests, -1);
		ht_table_put_known(table, LIST_TOKENS, list[i].name.tokens, -1);
		ht_table_put_i64(table, LIST_WALL_NS, list[i].wall_ns);
		ht_table_put_i64(table, LIST_GPU_NS, list[i].gpu_ns);
		ht_table_put_i64(table, LIST_GAP_NS, list[i].gap_ns);
		ht_table_put_str(table, LIST_NAME, ht_str(t, t->name[list[i].row]));
	}
}

static enum ht_status per_rank(struct ht_run *run, struct ht_part *part)
{
	struct ht_iteration *list;
	size_t n;
	HT_TRY(ht_iterations_find(run, &list, &n));
	if (!ht_run_is(run, "view", "list"))
		return sum_phases(run, list, n, part->facts[0]);
	list_all(run, list, n, part->facts[0]);
	return HT_OK;
}

/* No memory moves more than its peak: then the size of an entry, or the device, is another. */
static enum ht_status check_kv(ht_table *table)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, PHASE_KV_TOKENS) &&
		        ht_table_i64(table, row, PHASE_KV_TOKENS) &&
		        ht_table_is_null(table, row, PHASE_KV_ENTRY))
			return ht_table_add_note(table,
			        "KV bytes n/a: no operator that writes the cache has its shapes recorded, or iterations differ; --kv-bytes-per-token gives the size of an entry");
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, PHASE_KV_SHARE) &&
		        ht_table_f64(table, row, PHASE_KV_SHARE) > 1.05)
			return ht_table_add_warning(table,
			        "KV entries need more than the peak memory bandwidth: check kv-bytes-per-token, the rules, and the device");
	return HT_OK;
}

static enum ht_status check(struct ht_run *run)
{
	return ht_peaks_check(run, ht_run_str(run, "device-spec"));
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows_or(run, parts, table,
	        "no iterations of a serving engine in the traces; --attach takes rules for other annotations"));
	return ht_run_is(run, "view", "phases") ? check_kv(table) : HT_OK;
}
