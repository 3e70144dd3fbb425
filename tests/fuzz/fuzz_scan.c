/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_scan.c - the SIMD scanner and its scalar twin see the same event in any bytes.
 *
 * Both start at each opening brace of the input and must agree on where the event ends, or that there is
 * none, and on all they stored. On a machine without SIMD variant this compares the twin with itself.
 */
#include "fuzz.h"
#include "store/build.h"

#include "json/block.h"
#include "read/event_worker.h"

#define SCAN_MAX_EVENTS 64

struct scan_side {
	struct ht_builder builder;
	struct ht_worker worker;
	struct ht_chunk chunk;
};

static void scan_begin(struct scan_side *side, ht_ctx *ctx)
{
	ht_builder_init(&side->builder, ctx, "trace");
	ht_worker_init(&side->worker, &side->builder);
	ht_chunk_init(&side->chunk, side->builder.mem);
	side->worker.chunk = &side->chunk;
}

static void scan_end(struct scan_side *side)
{
	ht_chunk_done(&side->chunk);
	ht_worker_done(&side->worker);
	ht_builder_done(&side->builder);
}

static void scan_compare_columns(const struct ht_chunk *a, const struct ht_chunk *b)
{
	FUZZ_REQUIRE(a->columns.n == b->columns.n);
	const struct ht_chunk_column *x = a->columns.data, *y = b->columns.data;
	for (size_t i = 0; i < a->columns.n; i++) {
		FUZZ_REQUIRE(x[i].n == y[i].n);
		FUZZ_REQUIRE(x[i].width == y[i].width && x[i].type == y[i].type);
		size_t n = x[i].n, n_bytes = n * x[i].width;
		FUZZ_REQUIRE(!n || !memcmp(x[i].rows, y[i].rows, n * sizeof(uint32_t)));
		FUZZ_REQUIRE(!n_bytes || !memcmp(x[i].values, y[i].values, n_bytes));
	}
}

static void scan_compare(const struct ht_chunk *a, const struct ht_chunk *b)
{
	FUZZ_REQUIRE(a->n == b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		FUZZ_REQUIRE(a->ts_ns[i] == b->ts_ns[i] && a->dur_ns[i] == b->dur_ns[i]);
		FUZZ_REQUIRE(a->name[i] == b->name[i] && a->track[i] == b->track[i]);
		FUZZ_REQUIRE(a->shape[i] == b->shape[i] && a->cat[i] == b->cat[i]);
		FUZZ_REQUIRE(a->ph[i] == b->ph[i] && a->flags[i] == b->flags[i]);
	}
	for (size_t i = 0; i < HT_N_STATS; i++)
		FUZZ_REQUIRE(a->stats[i].count == b->stats[i].count);
	scan_compare_columns(a, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + HT_PADDING);
	FUZZ_REQUIRE(text);
	if (size)
		memcpy(text, data, size);
	ht_ctx *ctx = fuzz_ctx(1);
	static struct scan_side scalar, simd;
	scan_begin(&scalar, ctx);
	scan_begin(&simd, ctx);
	ht_worker_set_text(&scalar.worker, text + size);
	ht_worker_set_text(&simd.worker, text + size);
	ht_scan_event_fn best = ht_scan_event_best();
	size_t n_events = 0;
	for (size_t i = 0; i < size && n_events < SCAN_MAX_EVENTS; i++) {
		if (text[i] != '{')
			continue;
		const char *a = ht_scan_event_scalar(&scalar.worker, text + i);
		const char *b = best(&simd.worker, text + i);
		FUZZ_REQUIRE(a == b);
		FUZZ_REQUIRE(!a || (a > text + i && a <= text + size));
		n_events++;
	}
	scan_compare(&scalar.chunk, &simd.chunk);
	scan_end(&scalar);
	scan_end(&simd);
	fuzz_ctx_done(ctx);
	free(text);
	return 0;
}
