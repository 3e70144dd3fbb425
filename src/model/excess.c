/*
 * excess.c - see excess.h.
 */
#include "model/excess.h"
#include "hta/hta_names.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_excess_columns[HT_N_EXCESS_COLUMNS] = {
	{ "host", HT_BOOL, HT_KEY, "on the host, or on the GPU", NULL },
	{ "name", HT_STR, HT_KEY, "annotation, or GPU work", NULL },
	{ "ns", HT_DURATION, HT_MEASURE, "time of that name", NULL },
};
enum { ON_HOST, NAME, NS };

/* By string id, time summed first, so that each name is put once. */
static enum ht_status put_names(struct ht_run *run, const struct ht_trace *trace, const int64_t *ns,
        bool host, ht_table *table)
{
	for (uint32_t id = 0; id < trace->n_string_offsets; id++) {
		if (!ns[id])
			continue;
		const char *name = ht_str(trace, id);
		if (!host)
			name = ht_hta_shorten_name(run->scratch, name);
		else if (strncmp(name, "ProfilerStep", 12) == 0)
			name = "ProfilerStep";
		if (!name)
			return ht_fail_nomem(run->ctx);
		ht_table_row(table);
		ht_table_put_i64(table, host);
		ht_table_put_str(table, name);
		ht_table_put_i64(table, ns[id]);
	}
	return HT_OK;
}

static void sum_gpu(const struct ht_frame *frame, int64_t *ns)
{
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_COMM && trace->name[gpu->row] != HT_NO_STR)
			ns[trace->name[gpu->row]] += trace->dur_ns[gpu->row];
	}
}

static bool is_api_call(const struct ht_trace *trace, uint32_t row)
{
	return trace->kind[row] == HT_KIND_RUNTIME || trace->kind[row] == HT_KIND_DRIVER;
}

/* What a row's time is taken off: the annotation around it; none inside another API call, whose time
 * has been taken off already. */
static uint32_t payer(const struct ht_trace *trace, uint32_t row)
{
	for (uint32_t up = trace->parent[row]; up != HT_NONE; up = trace->parent[up]) {
		if (trace->kind[up] == HT_KIND_ANNOTATION)
			return up;
		if (is_api_call(trace, up))
			return HT_NONE;
	}
	return HT_NONE;
}

static void sum_host(const struct ht_frame *frame, int64_t *ns)
{
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		bool annotation = trace->kind[row] == HT_KIND_ANNOTATION;
		if (annotation && trace->name[row] != HT_NO_STR)
			ns[trace->name[row]] += trace->dur_ns[row];
		if (!annotation && !is_api_call(trace, row))
			continue;
		uint32_t up = payer(trace, row);
		if (up != HT_NONE && trace->name[up] != HT_NO_STR)
			ns[trace->name[up]] -= trace->dur_ns[row];
	}
}

enum ht_status ht_excess_put(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	for (int host = 0; host < 2; host++) {
		int64_t *ns = ht_arena_alloc(
		        run->scratch, (frame->trace->n_string_offsets + 1) * sizeof *ns);
		if (!ns)
			return ht_fail_nomem(run->ctx);
		(host ? sum_host : sum_gpu)(frame, ns);
		HT_TRY(put_names(run, frame->trace, ns, host, table));
	}
	return HT_OK;
}

/* ---- all ranks ---- */

/* Time of one name on one rank. */
struct share {
	const char *name;
	size_t i_part;
	int64_t ns;
};

static int compare_shares(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	if (order)
		return order;
	return a->i_part < b->i_part ? -1 : a->i_part > b->i_part;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* One name on all ranks: times has an entry per part, sorted is room for as many. */
static void follow_name(
        const char *name, const int64_t *times, int64_t *sorted, size_t n, struct ht_excess *ret)
{
	memcpy(sorted, times, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare);
	for (size_t i = 0; i < n; i++) {
		int64_t excess_ns = times[i] - sorted[(n - 1) / 2];
		if (excess_ns > ret[i].ns)
			ret[i] = (struct ht_excess){ name, excess_ns };
	}
}

static enum ht_status find(struct ht_run *run, const struct ht_parts *parts, size_t k, bool host,
        struct ht_excess *ret)
{
	size_t n_rows = ht_parts_n_rows(parts, k), n = 0;
	struct share *shares = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *shares);
	int64_t *times = ht_arena_alloc(run->scratch, (2 * parts->n + 1) * sizeof *times);
	if (!shares || !times)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[k];
		ret[i] = (struct ht_excess){ NULL, 0 };
		for (size_t row = 0; row < ht_table_n_rows(facts); row++)
			if (ht_table_i64(facts, row, ON_HOST) == host)
				shares[n++] = (struct share){ ht_table_str(facts, row, NAME), i,
					ht_table_i64(facts, row, NS) };
	}
	qsort(shares, n, sizeof *shares, compare_shares);
	for (size_t start = 0, end; start < n; start = end) {
		memset(times, 0, parts->n * sizeof *times);
		for (end = start; end < n && !strcmp(shares[end].name, shares[start].name); end++)
			times[shares[end].i_part] += shares[end].ns;
		follow_name(shares[start].name, times, times + parts->n, parts->n, ret);
	}
	return HT_OK;
}

enum ht_status ht_excess_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        struct ht_excess *ret_host, struct ht_excess *ret_gpu)
{
	HT_TRY(find(run, parts, k, true, ret_host));
	return find(run, parts, k, false, ret_gpu);
}
