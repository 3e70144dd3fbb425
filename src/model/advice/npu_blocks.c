/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_blocks.c - kernels whose blocks leave cores idle; see npu_fusion.h.
 *
 * No exported file says how many cores there are, but cube_utilization(%) = cycles / (clock * cores * duration), and a
 * kernel's cycles are clock * aicore_time * blocks. So
 *
 *     cores = sum of aicore_time * blocks / sum of duration * utilisation
 *
 * which is a whole number when the columns mean what they should; otherwise nothing is said. Where cube and vector cores
 * are apart (counters aic_* and aiv_*) there are two vector cores for each cube core; that counts when some kernel uses
 * just as many.
 * b blocks on c cores take ceil(b / c) rounds, of whose room they use b / (c * rounds): the rest of the kernel's time is
 * what it costs, at most.
 * Example: 16 blocks on 24 cores use 2/3; of 300 us the cores rest for 100.
 */
#include "model/advice/npu_fusion.h"

#include "base/checked.h"
#include "model/advice/npu_values.h"

#include <math.h>
#include <string.h>

struct reading {
	const struct ht_trace *t;
	struct ht_npu_values core, blocks, mix_blocks;
	int64_t n_cubes, n_vectors; /* 0: not known */
};

static void open(struct reading *r)
{
	r->core = ht_npu_values_open(r->t, "Accelerator Core");
	r->blocks = ht_npu_values_open(r->t, "Block Dim");
	r->mix_blocks = ht_npu_values_open(r->t, "Mix Block Dim");
}

/* The i-th piece of GPU work, when it computes; HT_NONE: it does not. */
static uint32_t kernel_at(const struct ht_trace *t, size_t i)
{
	uint32_t row = t->gpu[i].row;
	return t->gpu[i].class_ == HT_CLASS_COMPUTE && ht_is_span(t, row) ? row : HT_NONE;
}

/* 0: the columns do not say. */
static int64_t count_cubes(struct reading *r)
{
	struct ht_npu_values use = ht_npu_values_open(r->t, "cube_utilization(%)");
	struct ht_npu_values time = ht_npu_values_open(r->t, "aicore_time(us)");
	double worked = 0, room = 0;
	if (!ht_npu_values_any(&use) || !ht_npu_values_any(&time))
		return 0;
	for (size_t i = 0; i < r->t->n_gpu; i++) {
		uint32_t row = kernel_at(r->t, i);
		if (row == HT_NONE)
			continue;
		double share = ht_npu_number(&use, row), us = ht_npu_number(&time, row);
		double blocks = ht_npu_number(&r->blocks, row);
		if (!(share > 0) || !(us > 0) || !(blocks > 0))
			continue;
		worked += us * 1000 * blocks;
		room += (double)r->t->dur_ns[row] * share / 100;
	}
	double cores = room > 0 ? worked / room : 0;
	return cores >= 1 && cores < 4096 && fabs(cores - round(cores)) < 0.1 ? ht_round_sat(cores)
	                                                                      : 0;
}

/* 0: the columns do not say. */
static int64_t count_vectors(struct reading *r)
{
	struct ht_npu_values time = ht_npu_values_open(r->t, "aiv_time(us)");
	double wanted = 2 * (double)r->n_cubes;
	if (!ht_npu_values_any(&time))
		return 0;
	for (size_t i = 0; i < r->t->n_gpu; i++) {
		uint32_t row = kernel_at(r->t, i);
		if (row == HT_NONE)
			continue;
		bool is_vector = !strcmp(ht_npu_text(&r->core, row), "AI_VECTOR_CORE");
		if ((is_vector ? ht_npu_number(&r->blocks, row)
		               : ht_npu_number(&r->mix_blocks, row)) == wanted)
			return 2 * r->n_cubes;
	}
	return 0;
}

/* What share of the cores' room blocks leave; 0: none, or nothing says. */
static double unused(double blocks, int64_t n_cores)
{
	if (!(blocks >= 1) || !n_cores)
		return 0;
	return 1 - blocks / (ceil(blocks / (double)n_cores) * (double)n_cores);
}

enum ht_status ht_npu_blocks_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	struct reading r = { .t = t };
	struct ht_rule_sum sum = HT_RULE_SUM;
	double most_blocks = 0;
	int64_t n_judged = 0, most_cores = 0;
	open(&r);
	r.n_cubes = count_cubes(&r);
	open(&r);
	r.n_vectors = count_vectors(&r);
	open(&r);
	for (size_t i = 0; r.n_cubes && i < t->n_gpu; i++) {
		uint32_t row = kernel_at(t, i);
		if (row == HT_NONE || !ht_bounds_hold(bounds, t->ts_ns[row]))
			continue;
		const char *core = ht_npu_text(&r.core, row);
		double blocks = ht_npu_number(&r.blocks, row);
		double mix = ht_npu_number(&r.mix_blocks, row);
		bool is_mix = !strcmp(core, "MIX_AIC"), is_vector = !strcmp(core, "AI_VECTOR_CORE");
		int64_t cores = is_vector ? r.n_vectors : r.n_cubes;
		if ((!is_mix && !is_vector && strcmp(core, "AI_CORE") != 0) || !cores)
			continue;
		double idle = unused(blocks, cores),
		       vector_idle = is_mix ? unused(mix, r.n_vectors) : 0;
		int64_t ns = ht_round_sat(
		        (double)t->dur_ns[row] * (idle > vector_idle ? idle : vector_idle));
		n_judged++;
		if (idle <= 0 && vector_idle <= 0)
			continue;
		if (sum.row == HT_NONE || ns > sum.row_ns) {
			most_blocks = idle > vector_idle ? blocks : mix;
			most_cores = idle > vector_idle ? cores : r.n_vectors;
		}
		ht_rule_sum_add(&sum, ns, row, ns);
	}
	if (!n_judged)
		return HT_OK;
	sum.aux[0] = ht_round_sat(most_blocks);
	sum.aux[1] = most_cores;
	ht_rule_fact_put(t, table, HT_METRIC_BLOCKS, HT_NO_I64, &sum);
	return HT_OK;
}
