/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_entry.c - see kv_entry.h.
 */
#include "model/efficiency/kv_entry.h"

#include "base/checked.h"
#include "base/search.h"
#include "model/efficiency/op_args.h"
#include "model/origin/find_origins.h"
#include "model/origin/replays.h"
#include "model/rows/around.h"
#include "store/args.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* An operator that calls the one that launches. */
#define MAX_CLIMB 4

/* Elements of a token in a tensor of many; 0: it has no such sizes. */
static uint64_t token_elements(const struct ht_op_tensor *tensor)
{
	return tensor && tensor->n_dims >= 2 && tensor->dims[0] > 0 && !tensor->is_bad &&
	                       !tensor->is_list
	               ? tensor->n_elements / (uint64_t)tensor->dims[0]
	               : 0;
}

/* Whether the last sizes of a cache are those of a token. */
static bool holds(const struct ht_op_tensor *cache, uint64_t n)
{
	uint64_t last = 1;
	for (size_t i = cache->n_dims; i-- > 1 && last < n;)
		last *= (uint64_t)cache->dims[i];
	return last == n && !cache->is_bad;
}

/* What an operator writes per token; 0: it writes no cache, or its sizes are not recorded. */
static int64_t written_bytes(const struct ht_trace *t, uint32_t op)
{
	const struct ht_op_texts texts = { ht_arg_str(t, "Input Dims", op),
		ht_arg_str(t, "Input type", op), NULL, NULL };
	struct ht_op_args args;
	ht_op_args_read(&texts, &args);
	const struct ht_op_tensor *in[4];
	for (int i = 0; i < 4; i++)
		if (!(in[i] = ht_op_tensor(&args, i, -1)) || in[i]->n_dims < 2)
			return 0;
	uint64_t key = token_elements(in[0]), value = token_elements(in[1]);
	uint64_t bytes = ht_element_bytes((enum ht_dtype)in[2]->dtype);
	if (!key || !value || in[0]->dims[0] != in[1]->dims[0] || in[2]->dtype != in[3]->dtype ||
	        !holds(in[2], key) || !holds(in[3], value) ||
	        (__int128)(key + value) * (__int128)bytes > INT32_MAX)
		return 0;
	return (int64_t)((key + value) * bytes);
}

static bool is_cache_name(const char *name)
{
	return strstr(name, "cache") || strstr(name, "kv_buffer");
}

struct finder {
	const struct ht_trace *t;
	struct ht_origins origins;
	uint32_t *rows; /* of the iterations, ascending */
	int64_t *sums;  /* of them */
	size_t n;
	uint8_t *is_cache; /* by string id of the trace: 1 no, 2 yes */
	struct ht_around around;
};

static int ascending(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static bool is_iteration(const void *finder, uint32_t row)
{
	const struct finder *f = finder;
	size_t at = ht_lower_bound_u32(f->rows, f->n, row);
	return f->t->kind[row] == HT_KIND_ANNOTATION && at < f->n && f->rows[at] == row;
}

/* The iteration that a launch is in, n: none. */
static size_t iteration_of(struct finder *f, uint32_t launch)
{
	uint32_t row = ht_around_find(&f->around, launch);
	return row == HT_NONE ? f->n : ht_lower_bound_u32(f->rows, f->n, row);
}

/* The operator around a row that writes the cache; HT_NONE: none. */
static uint32_t cache_op(struct finder *f, const struct ht_trace *t, uint32_t op)
{
	for (size_t i = 0; i < MAX_CLIMB && op != HT_NONE; i++, op = t->parent[op]) {
		uint32_t id = t->name[op];
		bool is_own = t == f->t && id != HT_NO_STR;
		if (t->kind[op] != HT_KIND_CPU_OP || (is_own && f->is_cache[id] == 1))
			continue;
		bool is_cache = is_cache_name(ht_str(t, id));
		if (is_own)
			f->is_cache[id] = is_cache ? 2 : 1;
		if (is_cache)
			return op;
	}
	return HT_NONE;
}

/* Activities of one call follow each other. */
static void add_calls(struct finder *f)
{
	uint32_t last_op = HT_NONE, last_launch = HT_NONE;
	for (size_t i = 0; i < f->t->n_gpu; i++) {
		const struct ht_gpu *gpu = &f->t->gpu[i];
		const struct ht_origin *site =
		        f->origins.trace ? ht_origin_in_graph(&f->origins, i) : NULL;
		const struct ht_trace *t = site ? site->op_trace : f->t;
		uint32_t op = site ? (site->op_trace ? site->op_row : HT_NONE) : gpu->op;
		op = t ? cache_op(f, t, op) : HT_NONE;
		bool is_again = op == last_op && (!site || gpu->launch == last_launch);
		if (op == HT_NONE || gpu->launch == HT_NONE || is_again)
			continue;
		last_op = op;
		last_launch = gpu->launch;
		size_t at = iteration_of(f, gpu->launch);
		if (at < f->n)
			ht_sum(&f->sums[at], written_bytes(t, op));
	}
}

enum ht_status ht_kv_entry_find(
        struct ht_run *run, const struct ht_iteration *list, size_t n, int64_t *ret_bytes)
{
	struct finder f = { .t = run->trace,
		.n = n,
		.rows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *f.rows),
		.sums = ht_arena_alloc(run->scratch, (n + 1) * sizeof *f.sums),
		.is_cache = ht_arena_alloc(run->scratch, run->trace->n_string_offsets + 1) };
	*ret_bytes = -1;
	if (!f.rows || !f.sums || !f.is_cache)
		return ht_fail_nomem(run->ctx);
	if (!n)
		return HT_OK;
	for (size_t i = 0; i < n; i++)
		f.rows[i] = list[i].row;
	qsort(f.rows, n, sizeof *f.rows, ascending);
	if (ht_has_graph_launches(run->trace))
		HT_TRY(ht_origins_make(run, false, &f.origins));
	HT_TRY(ht_around_init(run, f.t, is_iteration, &f, &f.around));
	add_calls(&f);
	int64_t bytes = -1;
	for (size_t i = 0; i < n; i++) {
		if (f.sums[i] && bytes >= 0 && f.sums[i] != bytes)
			return HT_OK; /* iterations differ */
		bytes = f.sums[i] ? f.sums[i] : bytes;
	}
	*ret_bytes = bytes;
	return HT_OK;
}
