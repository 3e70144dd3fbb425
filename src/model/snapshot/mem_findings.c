/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_findings.c - see mem_findings.h.
 */
#include "model/snapshot/mem_findings.h"

#include "base/sort.h"
#include "model/numbers/stats.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_oom.h"
#include "table/optional.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Less in private pools is not worth a word. */
#define MIN_IDLE_BYTES ((int64_t)64 << 20)
/* Steps that a leak needs to be told from what the first ones leave. */
#define MIN_STEPS 4
/* Ranks of which one can be unlike the others, and how far away that is. */
#define MIN_RANKS     3
#define OUTLIER_SHARE 0.05
#define OUTLIER_TIMES 5

const struct ht_column ht_mem_summary_columns[N_SUMMARY_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_MEM_SUMMARY_COLUMNS);

static struct ht_finding make(const char *kind, bool is_found, const char *view)
{
	struct ht_finding f = ht_finding(kind, is_found ? HT_STATE_FOUND : HT_STATE_NONE);
	ht_finding_next(&f, "memory-snapshot");
	ht_finding_arg(&f, "view", view);
	return f;
}

/* ---- one device ---- */

static struct ht_finding peak(const ht_table *rows, size_t row)
{
	static const size_t keys[] = { SUMMARY_PEAK_KEY, SUMMARY_PEAK_KEY_2, SUMMARY_PEAK_KEY_3 };
	int64_t bytes = ht_table_i64_or(rows, row, SUMMARY_PEAK_ALLOCATED_BYTES, HT_NO_I64);
	int64_t reserved = ht_table_i64_or(rows, row, SUMMARY_PEAK_RESERVED_BYTES, HT_NO_I64);
	struct ht_finding f = make("memory-peak", true, "peak");
	ht_finding_value(&f, (double)bytes, "bytes");
	ht_finding_bytes(&f, "reserved", reserved > 0 ? reserved : HT_NO_I64);
	if (reserved > 0 && reserved < bytes)
		f.variant = "contradicted";
	ht_finding_text(&f, "annotation", ht_table_str_or_null(rows, row, SUMMARY_PEAK_ANNOTATION));
	for (size_t i = 0; i < HT_COUNT(keys); i++) {
		struct ht_finding_item item = ht_item("", ht_table_str_or_null(rows, row, keys[i]));
		item.share = ht_table_f64_or_nan(rows, row, keys[i] + 1);
		if (item.name && !isnan(item.share))
			ht_finding_item(&f, &item);
	}
	if (f.n_items) {
		ht_finding_subject(&f, "line", f.items[0].name);
		ht_finding_share(&f, f.items[0].share, "of.peak", HT_NO_I64);
	}
	return f;
}

static struct ht_finding oom(const ht_table *rows, size_t row)
{
	const char *class_ = ht_table_str_or_null(rows, row, SUMMARY_OOM_CLASS);
	struct ht_finding f = make("out-of-memory", class_ != NULL, "oom");
	if (!class_)
		return f;
	bool is_expandable = ht_table_i64_or(rows, row, SUMMARY_EXPANDABLE, HT_NO_I64) == 1;
	f.variant = class_;
	ht_finding_subject(&f, "line", ht_table_str_or_null(rows, row, SUMMARY_OOM_KEY));
	ht_finding_value(&f,
	        (double)ht_table_i64_or(rows, row, SUMMARY_OOM_REQUESTED_BYTES, HT_NO_I64),
	        "bytes");
	ht_finding_bytes(&f, "driver_free",
	        ht_table_i64_or(rows, row, SUMMARY_OOM_DRIVER_FREE_BYTES, HT_NO_I64));
	ht_finding_bytes(&f, "allocated",
	        ht_table_i64_or(rows, row, SUMMARY_OOM_ALLOCATED_BYTES, HT_NO_I64));
	ht_finding_bytes(&f, "free", ht_table_i64_or(rows, row, SUMMARY_OOM_FREE_BYTES, HT_NO_I64));
	ht_finding_bytes(&f, "largest",
	        ht_table_i64_or(rows, row, SUMMARY_OOM_LARGEST_FREE_BYTES, HT_NO_I64));
	ht_finding_bytes(&f, "elsewhere",
	        ht_table_i64_or(rows, row, SUMMARY_OOM_OTHER_FREE_BYTES, HT_NO_I64));
	ht_finding_bytes(
	        &f, "outside", ht_table_i64_or(rows, row, SUMMARY_OOM_OUTSIDE_BYTES, HT_NO_I64));
	f.advice = ht_mem_oom_help(class_, is_expandable);
	return f;
}

static struct ht_finding leak(const ht_table *rows, size_t row)
{
	const char *line = ht_table_str_or_null(rows, row, SUMMARY_LEAK_KEY);
	int64_t n_leaks = ht_table_i64_or(rows, row, SUMMARY_LEAKS, HT_NO_I64),
	        steps = ht_table_i64_or(rows, row, SUMMARY_STEPS, HT_NO_I64);
	struct ht_finding f = make("memory-leak", line != NULL, "leaks");
	if (!line) {
		f.state = steps < MIN_STEPS ? HT_STATE_UNKNOWN : HT_STATE_NONE;
		ht_finding_count(&f, "n_steps", steps);
		return f;
	}
	ht_finding_subject(&f, "line", line);
	ht_finding_value(&f, ht_table_f64_or_nan(rows, row, SUMMARY_LEAK_BYTES_PER_STEP), "bytes");
	ht_finding_count(&f, "n_steps", steps);
	ht_finding_count(&f, "n_others", n_leaks > 1 ? n_leaks - 1 : HT_NO_I64);
	return f;
}

static struct ht_finding fragmentation(const ht_table *rows, size_t row)
{
	double ratio = ht_table_f64_or_nan(rows, row, SUMMARY_FRAGMENTATION);
	int64_t pieces = ht_table_i64_or(rows, row, SUMMARY_IN_PIECES_BYTES, 0);
	/* false where it is not known */
	bool is_bad = ht_mem_is_fragmented(
	        ratio, pieces, ht_table_i64_or(rows, row, SUMMARY_PEAK_RESERVED_BYTES, 0));
	bool is_expandable = ht_table_i64_or(rows, row, SUMMARY_EXPANDABLE, HT_NO_I64) == 1;
	struct ht_finding f = make("fragmentation", is_bad, "fragmentation");
	ht_finding_number(&f, "times", ratio);
	ht_finding_bytes(&f, "wanted", ht_table_i64_or(rows, row, SUMMARY_WANTED_BYTES, HT_NO_I64));
	ht_finding_bytes(
	        &f, "free", ht_table_i64_or(rows, row, SUMMARY_IN_PIECES_BYTES, HT_NO_I64));
	if (!is_bad)
		return f;
	ht_finding_value(&f, (double)pieces, "bytes");
	f.advice = ht_mem_fragmentation_help(is_expandable);
	return f;
}

static struct ht_finding pools(const ht_table *rows, size_t row)
{
	int64_t idle = ht_table_i64_or(rows, row, SUMMARY_IDLE_POOL_BYTES, HT_NO_I64);
	int64_t reserved = ht_table_i64_or(rows, row, SUMMARY_POOL_RESERVED_BYTES, HT_NO_I64);
	struct ht_finding f = make("idle-pools", idle >= MIN_IDLE_BYTES, "pools");
	ht_finding_value(&f, (double)idle, "bytes");
	if (reserved > 0)
		ht_finding_share(
		        &f, (double)idle / (double)reserved, "of.private_pools", HT_NO_I64);
	return f;
}

struct ht_finding ht_mem_finding(
        const ht_table *rows, size_t row, enum ht_mem_topic topic, bool names_place)
{
	static struct ht_finding (*const topics[HT_MEM_N_TOPICS])(
	        const ht_table *, size_t) = { [HT_MEM_TOPIC_OOM] = oom,
		[HT_MEM_TOPIC_LEAK] = leak,
		[HT_MEM_TOPIC_FRAGMENTATION] = fragmentation,
		[HT_MEM_TOPIC_POOLS] = pools,
		[HT_MEM_TOPIC_PEAK] = peak };
	struct ht_finding f = topics[topic](rows, row);
	ht_finding_count(&f, "rank",
	        names_place ? ht_table_i64_or(rows, row, SUMMARY_RANK, HT_NO_I64) : HT_NO_I64);
	ht_finding_count(&f, "device",
	        names_place ? ht_table_i64_or(rows, row, SUMMARY_DEVICE, HT_NO_I64) : HT_NO_I64);
	return f;
}

/* ---- all ranks ---- */

bool ht_mem_findings_any(const struct ht_parts *parts, size_t k)
{
	return ht_parts_n_rows(parts, k) > 0;
}

/* What was found comes before what was not, then by value. */
static bool is_worse(const struct ht_finding *a, const struct ht_finding *b)
{
	if (a->state != b->state)
		return a->state > b->state;
	return !isnan(a->value) && (isnan(b->value) || a->value > b->value);
}

struct ht_finding ht_mem_finding_worst(
        const struct ht_parts *parts, size_t k, enum ht_mem_topic topic, size_t *ret_part)
{
	struct ht_finding worst = { .kind = NULL };
	bool names_place = ht_parts_n_rows(parts, k) > 1;
	*ret_part = SIZE_MAX;
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *rows = parts->list[p].facts[k];
		for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
			struct ht_finding f = ht_mem_finding(rows, i, topic, names_place);
			if (worst.kind && !is_worse(&f, &worst))
				continue;
			worst = f;
			*ret_part = p;
		}
	}
	return worst.kind ? worst : ht_finding("memory-peak", HT_STATE_UNKNOWN);
}

/* The peak of a rank, that of its fullest device; HT_NO_I64: no snapshot. */
static int64_t peak_of_rank(const ht_table *rows)
{
	int64_t most = HT_NO_I64;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
		int64_t bytes = ht_table_i64_or(rows, i, SUMMARY_PEAK_ALLOCATED_BYTES, HT_NO_I64);
		most = bytes > most ? bytes : most;
	}
	return most;
}

static double distance(int64_t a, int64_t b)
{
	return fabs((double)a - (double)b);
}

enum ht_status ht_mem_finding_ranks(
        struct ht_run *run, const struct ht_parts *parts, size_t k, struct ht_finding *ret)
{
	struct ht_finding f = ht_finding("memory-ranks", HT_STATE_UNKNOWN);
	int64_t *peaks = ht_arena_room(run->scratch, (parts->n + 1) * sizeof *peaks);
	int64_t *away = ht_arena_room(run->scratch, (parts->n + 1) * sizeof *away);
	size_t n = 0;
	*ret = f;
	if (!peaks || !away)
		return ht_fail_nomem(run->ctx);
	for (size_t p = 0; p < parts->n; p++)
		if ((peaks[n] = peak_of_rank(parts->list[p].facts[k])) != HT_NO_I64)
			n++;
	if (n < MIN_RANKS)
		return HT_OK;
	int64_t median = ht_median_i64(peaks, n);
	for (size_t i = 0; i < n; i++)
		away[i] = (int64_t)distance(peaks[i], median);
	double usual = (double)ht_median_i64(away, n), most = 0;
	f = make("memory-ranks", false, "summary");
	ht_finding_bytes(&f, "median", median);
	for (size_t p = 0; p < parts->n; p++) {
		int64_t bytes = peak_of_rank(parts->list[p].facts[k]);
		double far = distance(bytes, median);
		if (bytes == HT_NO_I64 || far <= OUTLIER_SHARE * (double)median ||
		        far <= OUTLIER_TIMES * usual)
			continue;
		struct ht_finding_item item = ht_item(bytes > median ? "more" : "less",
		        ht_arena_printf(run->scratch, "%" PRId64, parts->list[p].rank));
		item.share = far / (double)median;
		if (!item.name)
			return ht_fail_nomem(run->ctx);
		ht_finding_item(&f, &item);
		if (far <= most)
			continue;
		most = far;
		ht_finding_subject(&f, "rank", item.name);
		ht_finding_value(&f, (double)bytes, "bytes");
	}
	f.state = f.n_items ? HT_STATE_FOUND : HT_STATE_NONE;
	*ret = f;
	return HT_OK;
}
