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
#include "model/serving/phases.h"

static enum ht_status per_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define PHASE_COLUMNS(COLUMN)                                                                      \
	COLUMN(PHASE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(PHASE_PHASE, "phase", HT_STR, HT_KEY, "prefill, decode, mixed or other", NULL)      \
	COLUMN(PHASE_ITERATIONS, "iterations", HT_I64, HT_MEASURE, "iterations of the phase",      \
	        NULL)                                                                              \
	COLUMN(PHASE_REQUESTS, "requests", HT_I64, HT_MEASURE,                                     \
	        "requests handled, summed over iterations", NULL)                                  \
	COLUMN(PHASE_TOKENS, "tokens", HT_I64, HT_MEASURE, "tokens scheduled", NULL)               \
	COLUMN(PHASE_WALL_NS, "wall_ns", HT_DURATION, HT_MEASURE,                                  \
	        "from the start of each iteration to that of the next one, summed", NULL)          \
	COLUMN(PHASE_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                    \
	        "summed time of the GPU activities that they launched", NULL)                      \
	COLUMN(PHASE_GAP_NS, "gap_ns", HT_DURATION, HT_MEASURE,                                    \
	        "GPU idle between the work of the iteration before and theirs", NULL)              \
	COLUMN(PHASE_TOKENS_PER_S, "tokens_per_s", HT_F64, HT_MEASURE, "tokens over wall time",    \
	        NULL)                                                                              \
	COLUMN(PHASE_P50_NS, "p50_ns", HT_DURATION, HT_MEASURE,                                    \
	        "median wall time of an iteration; of decode, time per output token", NULL)        \
	COLUMN(PHASE_P99_NS, "p99_ns", HT_DURATION, HT_MEASURE, "99th percentile of it", NULL)     \
	COLUMN(PHASE_FILL, "batch_fill", HT_RATIO, HT_MEASURE,                                     \
	        "requests over the padded batch size, where annotations say both", NULL)           \
	COLUMN(PHASE_KV_TOKENS, "kv_tokens", HT_I64, HT_DETAIL,                                    \
	        "KV entries that decoding requests read, summed over iterations", NULL)            \
	COLUMN(PHASE_STEADY, "steady_iterations", HT_I64, HT_DETAIL,                               \
	        "longest run of decode iterations whose batch stays within 10 % of the median, "   \
	        "the first 10 % left out",                                                         \
	        NULL)                                                                              \
	COLUMN(PHASE_STEADY_TOKENS_PER_S, "steady_tokens_per_s", HT_F64, HT_DETAIL,                \
	        "tokens over wall time in it", NULL)                                               \
	COLUMN(PHASE_STEADY_P50_NS, "steady_p50_ns", HT_DURATION, HT_DETAIL,                       \
	        "median wall time of its iterations", NULL)                                        \
	COLUMN(PHASE_STEADY_P99_NS, "steady_p99_ns", HT_DURATION, HT_DETAIL,                       \
	        "99th percentile of it", NULL)
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
};

const struct ht_analysis ht_analysis_iterations = {
	.info = {
		.name = "iterations",
		.group = "gpu",
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

static void put_phase(struct ht_run *run, const struct ht_phase_sum *p, ht_table *table)
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
	if (!p->steady_n) {
		ht_table_put_nulls_to_end(table, PHASE_STEADY);
		return;
	}
	ht_table_put_i64(table, PHASE_STEADY, p->steady_n);
	put_rate(table, PHASE_STEADY_TOKENS_PER_S, p->tokens < 0 ? -1 : p->steady_tokens,
	        p->steady_wall_ns);
	ht_table_put_i64(table, PHASE_STEADY_P50_NS, p->steady_p50_ns);
	ht_table_put_i64(table, PHASE_STEADY_P99_NS, p->steady_p99_ns);
}

static enum ht_status sum_phases(
        struct ht_run *run, const struct ht_iteration *list, size_t n, ht_table *table)
{
	struct ht_phase_sum sums[HT_MOST_PHASES];
	size_t n_sums;
	HT_TRY(ht_phases_sum(run, list, n, sums, &n_sums));
	for (size_t i = 0; i < n_sums; i++)
		put_phase(run, &sums[i], table);
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

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(
	        run, parts, table, "no iterations of a serving engine in the traces");
}
