/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_kernels.c - a kernel_details.csv of the size asked, as Ascend's exporter writes it.
 *
 *     bench_generate_kernels BYTES OUTPUT [narrow]
 *
 * Rows are those of a transformer that trains: layer after layer the kernels of a fixed list, each with its types,
 * core, shapes and counters (PipeUtilization), 46 columns in all; every so often a collective, whose row has N/A in
 * most of them. What a profiler measures differs from row to row: starts, durations, waits, cycles, times and ratios
 * of the pipes. Texts are few, as in real files, but every layer of the network gives its kernels another shape. Times
 * end in a tab and shapes are quoted twice, as they are there. A narrow one has the eight columns of Level0. The same size
 * gives the same bytes.
 */
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS    24
#define ROW_BYTES 2048

static const char header[] =
        "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
        "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,"
        "Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),"
        "aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,"
        "aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),"
        "aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),"
        "aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,"
        "aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)\n";

static const char narrow_header[] =
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n";

enum core { CUBE, VECTOR, MIX };

struct kind {
	const char *name, *type;
	enum core core;
	unsigned n_inputs, n_blocks, mean_ns;
};

static const struct kind kinds[] = {
	{ "aclnnRmsNorm_RmsNorm_RmsNorm", "RmsNorm", VECTOR, 2, 40, 31000 },
	{ "aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3", CUBE, 2, 20, 131000 },
	{ "aclnnSplitWithSize_SplitVD_SplitVD", "SplitVD", VECTOR, 1, 40, 48000 },
	{ "aclnnRotaryPositionEmbedding_RotaryPositionEmbedding", "RotaryPositionEmbedding", VECTOR,
	        3, 40, 25000 },
	{ "aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore", "FlashAttentionScore",
	        MIX, 4, 20, 612000 },
	{ "aclnnMatmul_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 2, 20, 90000 },
	{ "aclnnAdd_AddAiCore_Add", "Add", VECTOR, 2, 40, 31000 },
	{ "aclnnInplaceCopy_CastAiCore_Cast", "Cast", VECTOR, 1, 40, 12000 },
	{ "aclnnSwiGlu_SwiGlu_SwiGlu", "SwiGlu", VECTOR, 1, 40, 52000 },
	{ "aclnnMul_MulAiCore_Mul", "Mul", VECTOR, 2, 40, 2200 },
	{ "aclnnReduceSum_ReduceSumOpAiCore_ReduceSum", "ReduceSum", VECTOR, 2, 48, 7400 },
	{ "aclnnDropoutV3_StatelessDropOutGenMask_StatelessDropOutGenMask",
	        "StatelessDropOutGenMask", MIX, 5, 1, 5900 },
};

struct state {
	uint64_t seed;
	uint64_t start_ns, task;
	char *at;
};

/* xorshift64* */
static uint64_t pick(struct state *s, uint64_t below)
{
	s->seed ^= s->seed >> 12;
	s->seed ^= s->seed << 25;
	s->seed ^= s->seed >> 27;
	return (s->seed * 0x2545F4914F6CDD1Du >> 32) % below;
}

#define PUT(s, ...) ((s)->at += sprintf((s)->at, __VA_ARGS__))

/* A number of thousandths as Python prints it: no zeros at its end but one behind the point. */
static void put_milli(struct state *s, uint64_t milli)
{
	PUT(s, "%" PRIu64 ".%03" PRIu64, milli / 1000, milli % 1000);
	while (s->at[-1] == '0' && s->at[-2] != '.')
		s->at--;
	*s->at++ = ',';
}

/* Time and share of so many pipes of a unit that ran that long; none when it did not. */
static void put_unit(struct state *s, unsigned n_pipes, uint64_t ns)
{
	put_milli(s, ns);
	PUT(s, "%" PRIu64 ",", ns * 33 + (ns ? pick(s, 1000) : 0));
	for (unsigned i = 0; i < n_pipes; i++) {
		uint64_t share = pick(s, 1000);
		put_milli(s, ns * share / 1000);
		put_milli(s, ns ? share : 0);
	}
	put_milli(s, ns ? pick(s, 250) : 0);
}

static void put_list(struct state *s, unsigned n, const char *text)
{
	for (unsigned i = 0; i < n; i++)
		PUT(s, "%s%s", i ? ";" : "", text);
	*s->at++ = ',';
}

static void put_shapes(struct state *s, unsigned n, unsigned layer, unsigned kind)
{
	PUT(s, "\"\"\"");
	for (unsigned i = 0; i < n; i++)
		PUT(s, "%s%u,%u,%u", i ? ";" : "", 4096u >> i, 1 + layer % 4,
		        128 * (layer + kind + 1));
	PUT(s, "\"\"\",");
}

static void put_stamps(struct state *s, uint64_t dur_ns, uint64_t wait_ns)
{
	PUT(s, "%" PRIu64 ".%03" PRIu64 "\t,", s->start_ns / 1000, s->start_ns % 1000);
	PUT(s, "%" PRIu64 ".%03" PRIu64 ",", dur_ns / 1000, dur_ns % 1000);
	PUT(s, "%" PRIu64 ".%03" PRIu64 "000,", wait_ns / 1000, wait_ns % 1000);
	s->start_ns += dur_ns + wait_ns;
}

static void put_kernel(struct state *s, unsigned layer, unsigned which, uint64_t step)
{
	static const char *const cores[] = { "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC" };
	const struct kind *kind = &kinds[which];
	uint64_t dur_ns = kind->mean_ns * (90 + pick(s, 30)) / 100 / 20 * 20;
	PUT(s, "%" PRIu64 ",0,4294967295,%" PRIu64 ",2,%s,%s,dynamic,%s,", step, s->task++ % 65536,
	        kind->name, kind->type, cores[kind->core]);
	put_stamps(s, dur_ns, pick(s, 3) ? 20 + pick(s, 200) * 10 : pick(s, 900000));
	PUT(s, "%u,0,NO,", kind->n_blocks);
	put_shapes(s, kind->n_inputs, layer, which);
	put_list(s, kind->n_inputs, "DT_BF16");
	put_list(s, kind->n_inputs, "ND");
	put_shapes(s, 1, layer, which);
	PUT(s, "DT_BF16,ND,%s,", kind->core == MIX ? "0" : "N/A");
	put_unit(s, 5, kind->core != VECTOR ? dur_ns * (90 + pick(s, 8)) / 100 : 0);
	put_unit(s, 4, kind->core != CUBE ? dur_ns * (85 + pick(s, 12)) / 100 : 0);
	PUT(s, "%u.%03u\n", kind->core == CUBE ? 80 + (unsigned)pick(s, 20) : 0,
	        kind->core == CUBE ? (unsigned)pick(s, 1000) : 0);
}

static void put_narrow(struct state *s, unsigned which, uint64_t step)
{
	const struct kind *kind = &kinds[which];
	uint64_t dur_ns = kind->mean_ns * (90 + pick(s, 30)) / 100 / 20 * 20;
	PUT(s, "%" PRIu64 ",%s,N/A,N/A,", step, kind->name);
	put_stamps(s, dur_ns, pick(s, 3) ? 20 + pick(s, 200) * 10 : pick(s, 900000));
	PUT(s, "0\n");
}

static void put_collective(struct state *s, uint64_t layer, uint64_t step)
{
	PUT(s,
	        "%" PRIu64 ",0,4294967295,N/A,N/A,hcom_allReduce__%03u_%" PRIu64
	        "_1,hcom_allReduce_,N/A,",
	        step, 371, layer);
	PUT(s, "COMMUNICATION,");
	put_stamps(s, 400000 + pick(s, 900000), pick(s, 50000));
	PUT(s, "0");
	for (unsigned i = 13; i < 47; i++)
		PUT(s, ",N/A");
	PUT(s, "\n");
}

int main(int argc, char **argv)
{
	char row[ROW_BYTES];
	struct state s = { .seed = 88172645463325252u, .start_ns = 1764246877073569640u };
	bool is_narrow = argc == 4;
	uint64_t n_bytes = argc == 3 || is_narrow ? strtoull(argv[1], NULL, 10) : 0, written;
	FILE *out = n_bytes ? fopen(argv[2], "wb") : NULL;
	if (!out) {
		fprintf(stderr, "usage: bench_generate_kernels BYTES OUTPUT [narrow]\n");
		return 2;
	}
	const char *columns = is_narrow ? narrow_header : header;
	bool ok = fputs(columns, out) >= 0;
	written = strlen(columns);
	for (uint64_t i = 0; ok && written < n_bytes; i++) {
		uint64_t layer = i / HT_COUNT(kinds), step = layer / LAYERS;
		unsigned which = i % HT_COUNT(kinds);
		s.at = row;
		if (is_narrow)
			put_narrow(&s, which, step);
		else
			put_kernel(&s, layer % LAYERS, which, step);
		if (!is_narrow && which + 1 == HT_COUNT(kinds) && layer % 4 == 3)
			put_collective(&s, layer % LAYERS, step);
		size_t n = (size_t)(s.at - row);
		ok = fwrite(row, 1, n, out) == n;
		written += n;
	}
	if (fclose(out) || !ok) {
		fprintf(stderr, "bench_generate_kernels: %s cannot be written\n", argv[2]);
		return 1;
	}
	return 0;
}
