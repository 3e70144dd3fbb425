/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_test.c - random text written with random codes is read back, from any block on, in any pieces; what is not
 * deflate is refused; what is accepted of damaged data means the same to the library that reads them otherwise.
 */
#include "base/deflate.h"
#include "base/io_deflate.h"
#include "base/mem.h"
#include "base/status.h"

#include "make_deflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define N_ROUNDS 60

struct fixture {
	ht_ctx *ctx;
	struct ht_codes *codes;
	struct ht_copier *copier;
	struct deflate_text text;
	struct deflate_out out; /* with padding behind */
	uint64_t seed;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	f->codes = malloc(sizeof *f->codes);
	f->copier = malloc(sizeof *f->copier);
	f->seed = 0x9E3779B97F4A7C15u;
	*state = f;
	return 0;
}

static void drop(struct fixture *f)
{
	deflate_free_text(&f->text);
	free(f->out.bytes);
	f->out = (struct deflate_out){ 0 };
	f->text = (struct deflate_text){ 0 };
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_ctx_memory(f->ctx, &now, &peak);
	drop(f);
	free(f->codes);
	free(f->copier);
	ht_ctx_free(f->ctx);
	free(f);
	return now != 0;
}

static void make(struct fixture *f, size_t n, enum deflate_blocks kind, size_t per_block)
{
	static const uint32_t distances[] = { 32768, 300, 3, 1 }, lengths[] = { 258, 30, 5, 3 };
	drop(f);
	deflate_make_text(&f->text, &f->seed, n, deflate_random(&f->seed, 8),
	        distances[deflate_random(&f->seed, 4)], lengths[deflate_random(&f->seed, 4)]);
	deflate_put_text(&f->out, &f->text, kind, per_block, &f->seed);
	f->out.bytes = realloc(f->out.bytes, f->out.n + HT_BITS_PADDING);
	memset(f->out.bytes + f->out.n, 0xa5, HT_BITS_PADDING);
}

static struct ht_bits bits_of(const struct fixture *f, size_t n)
{
	return (struct ht_bits){
		.base = f->out.bytes, .next = f->out.bytes, .end = f->out.bytes + n
	};
}

/* Text of the tokens in parts of random sizes. */
static void check_text(struct fixture *f, const struct ht_tokens *tokens)
{
	struct ht_copier *copier = f->copier;
	copier->i_match = copier->i_literal = 0;
	for (uint64_t left = tokens->n_text; left;) {
		size_t n = 1 + deflate_random(&f->seed, deflate_random(&f->seed, 2) ? 70000 : 50);
		n = n < left ? n : (size_t)left;
		const uint8_t *expected = f->text.bytes + copier->n_text;
		/* in two goes, of which the second sees the text of the first in its place */
		uint8_t *part = malloc(n);
		size_t n_first = deflate_random(&f->seed, (uint32_t)n + 1);
		ht_copier_begin(copier, part);
		assert_true(ht_copier_make(copier, tokens, n_first));
		assert_true(ht_copier_make(copier, tokens, n - n_first));
		ht_copier_end(copier);
		assert_memory_equal(part, expected, n);
		free(part);
		left -= n;
	}
}

/* Read it all in spans, each with bits that end anywhere and go on then. */
static void check_all(struct fixture *f)
{
	struct ht_tokens tokens = { 0 };
	struct ht_deflate_span span = { .max_bytes = SIZE_MAX };
	memset(f->copier, 0, sizeof *f->copier);
	size_t n_span = 1 + deflate_random(&f->seed, (uint32_t)f->out.n + 1);
	for (size_t n = 0; !span.is_last;) {
		span.start = span.end;
		span.stop = span.end + n_span * 8;
		tokens = (struct ht_tokens){ .matches.data = tokens.matches.data,
			.matches.cap = tokens.matches.cap,
			.literals.data = tokens.literals.data,
			.literals.cap = tokens.literals.cap };
		for (;;) {
			struct ht_bits in = bits_of(f, n);
			enum ht_deflate_result result = HT_DEFLATE_SHORT;
			if (span.start <= n * 8)
				result = ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span);
			if (result == HT_DEFLATE_OK)
				break;
			assert_int_equal(result, HT_DEFLATE_SHORT);
			/* the last symbols are asked for with some bytes to come: a trailer follows */
			assert_true(n < f->out.n + 8);
			n += 1 + deflate_random(&f->seed, 3000);
			n = n < f->out.n + 8 ? n : f->out.n + 8;
			span.start = span.end;
		}
		check_text(f, &tokens);
	}
	assert_int_equal((span.end + 7) / 8, f->out.n);
	assert_int_equal(f->copier->n_text, f->text.n);
	ht_tokens_free(f->ctx->mem, &tokens);
}

static void any_blocks_are_read(void **state)
{
	struct fixture *f = *state;
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		static const size_t per_block[] = { 1, 7, 300, 9000, 1000000 };
		size_t n = 1 + deflate_random(&f->seed, i % 4 ? 60000 : 200000);
		make(f, n, (enum deflate_blocks)(i % 4), per_block[i % 5]);
		check_all(f);
	}
}

/* From any bit on the finder answers the first block that reading comes to. */
static void blocks_are_found(void **state)
{
	struct fixture *f = *state;
	/* each place is read up to from the start: twice the text takes four times as long */
	make(f, 120000, DEFLATE_DYNAMIC, 500);
	uint64_t n_bits = (uint64_t)f->out.n * 8, at = 0;
	unsigned n_found = 0;
	for (uint64_t from = 0; from < n_bits; from += 1 + deflate_random(&f->seed, 9000)) {
		struct ht_tokens tokens = { 0 };
		struct ht_bits in = bits_of(f, f->out.n + 8);
		struct ht_deflate_span span = { .stop = from, .max_bytes = SIZE_MAX };
		bool found = ht_deflate_find(f->codes, &in, from, n_bits, &at);
		assert_int_equal(
		        ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span), HT_DEFLATE_OK);
		ht_tokens_free(f->ctx->mem, &tokens);
		assert_true(found == !span.is_last);
		if (!found)
			continue;
		assert_int_equal(at, span.end);
		/* not in bits that end before it, or in the middle of its header */
		struct ht_bits cut = bits_of(f, (size_t)(at / 8) + 8);
		assert_false(ht_deflate_find(f->codes, &cut, from, n_bits, &at));
		assert_false(ht_deflate_find(f->codes, &in, from, span.end, &at));
		n_found++;
	}
	assert_true(n_found > 20);
}

/* Every cut is short; flipped bits may mean anything, but not what stands behind the end of the bits. */
static void damage_is_contained(void **state)
{
	struct fixture *f = *state;
	for (unsigned i = 0; i < 400; i++) {
		bool is_damaged = i % 20 >= 10;
		if (i % 20 == 0)
			make(f, 3000, (enum deflate_blocks)(i / 20 % 4), 400);
		if (is_damaged)
			f->out.bytes[deflate_random(&f->seed, (uint32_t)f->out.n)] ^=
			        (uint8_t)(1u << deflate_random(&f->seed, 8));
		struct ht_tokens tokens = { 0 };
		size_t n = deflate_random(&f->seed, (uint32_t)f->out.n);
		struct ht_bits in = bits_of(f, n);
		struct ht_deflate_span span = { .stop = UINT64_MAX, .max_bytes = SIZE_MAX };
		enum ht_deflate_result result =
		        ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span);
		assert_true(is_damaged || result == HT_DEFLATE_SHORT);
		assert_true(span.end <= n * 8);
		ht_tokens_free(f->ctx->mem, &tokens);
	}
}

/* Bits turned, of the codes more often than of the rest, and bytes put in or taken out. */
static void damage(struct fixture *f)
{
	for (uint32_t k = deflate_random(&f->seed, 4); k > 0; k--) {
		uint32_t n = (uint32_t)f->out.n;
		size_t at =
		        deflate_random(&f->seed, deflate_random(&f->seed, 2) || n < 60 ? n : 60);
		uint8_t *byte = f->out.bytes + at;
		if (deflate_random(&f->seed, 4))
			*byte ^= (uint8_t)(1u << deflate_random(&f->seed, 8));
		else if (deflate_random(&f->seed, 2))
			memmove(byte, byte + 1, n - at - 1);
		else
			memmove(byte + 1, byte, n - at - 1);
	}
}

/* The text of all blocks; NULL when it is refused. */
static uint8_t *read_text(
        struct fixture *f, const struct ht_tokens *tokens, enum ht_deflate_result result)
{
	uint8_t *text = malloc((size_t)tokens->n_text + 1);
	memset(f->copier, 0, sizeof *f->copier);
	ht_copier_begin(f->copier, text);
	if (result == HT_DEFLATE_OK && ht_copier_make(f->copier, tokens, (size_t)tokens->n_text))
		return text;
	free(text);
	return NULL;
}

/* The same bytes as a gzip member, whose length and checksum are those of the text, read by the library. */
static void check_by_library(struct fixture *f, struct ht_inflater *inflater, size_t n_used,
        const uint8_t *text, size_t n)
{
	struct deflate_out file = { 0 };
	const char *said = NULL;
	deflate_put_header(&file, 0);
	for (size_t i = 0; i < n_used; i++)
		deflate_byte(&file, f->out.bytes[i]);
	deflate_bits(&file, ht_deflate_crc(0, text, n), 32);
	deflate_bits(&file, (uint32_t)n, 32);
	uint8_t *out = malloc(n + 1);
	struct ht_deflate_step step = {
		.in = file.bytes, .n_in = file.n, .out = out, .n_out = n + 1
	};
	ht_inflater_reset(inflater);
	assert_int_equal(ht_inflater_run(inflater, &step, &said), HT_OK);
	assert_true(step.is_done);
	assert_int_equal(step.used, file.n);
	assert_int_equal(step.made, n);
	assert_memory_equal(out, text, n);
	free(out);
	free(file.bytes);
}

static void what_is_accepted_is_what_the_library_reads(void **state)
{
	struct fixture *f = *state;
	struct ht_inflater *inflater;
	unsigned n_accepted = 0, n_refused = 0;
	assert_int_equal(ht_inflater_open(f->ctx, &inflater), HT_OK);
	for (unsigned i = 0; i < 4000; i++) {
		static const size_t per_block[] = { 3, 40, 10000 };
		struct ht_tokens tokens = { 0 };
		struct ht_deflate_span span = { .stop = UINT64_MAX, .max_bytes = SIZE_MAX };
		make(f, 1 + deflate_random(&f->seed, 500), (enum deflate_blocks)(i % 4),
		        per_block[i % 3]);
		damage(f);
		struct ht_bits in = bits_of(f, f->out.n + 8);
		enum ht_deflate_result result =
		        ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span);
		uint8_t *text = read_text(f, &tokens, result);
		if (text && span.end <= f->out.n * 8) {
			check_by_library(f, inflater, (size_t)(span.end + 7) / 8, text,
			        (size_t)tokens.n_text);
			n_accepted++;
		}
		n_refused += !text;
		free(text);
		ht_tokens_free(f->ctx->mem, &tokens);
	}
	ht_inflater_close(f->ctx->mem, inflater);
	assert_true(n_accepted > 1200 && n_refused > 600);
}

static void tokens_are_bounded(void **state)
{
	struct fixture *f = *state;
	make(f, 200000, DEFLATE_DYNAMIC, 100000);
	struct ht_tokens tokens = { 0 };
	struct ht_bits in = bits_of(f, f->out.n + 8);
	struct ht_deflate_span span = { .stop = UINT64_MAX, .max_bytes = 1000 };
	assert_int_equal(
	        ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span), HT_DEFLATE_BAD);
	assert_int_equal(tokens.n_text, 0);
	ht_tokens_free(f->ctx->mem, &tokens);
}

/* Matches that reach back before the text, by one byte. */
static void text_has_a_start(void **state)
{
	struct fixture *f = *state;
	uint32_t match = HT_TOKEN(2, 0, 2 - 1), far = HT_TOKEN(2, 0, 3 - 1);
	uint8_t literals[2 + HT_COPY_PADDING] = "ab", out[5];
	struct ht_tokens tokens = { .matches = { &match, 1, 1 }, .literals = { literals, 2, 2 } };
	memset(f->copier, 0, sizeof *f->copier);
	ht_copier_begin(f->copier, out);
	assert_true(ht_copier_make(f->copier, &tokens, 5));
	assert_memory_equal(out, "ababa", 5);
	memset(f->copier, 0, sizeof *f->copier);
	tokens.matches.data = &far;
	ht_copier_begin(f->copier, out);
	assert_false(ht_copier_make(f->copier, &tokens, 5));
}

/* A header of a dynamic block with these lengths: 257 + more_literals, then distances. */
static enum ht_deflate_result read_codes(struct fixture *f, const struct deflate_code *literals,
        const struct deflate_code *distances)
{
	drop(f);
	deflate_put_codes(&f->out, literals, distances, &f->seed);
	deflate_align(&f->out);
	for (int i = 0; i < HT_BITS_PADDING; i++)
		deflate_byte(&f->out, 0);
	struct ht_bits in = bits_of(f, f->out.n);
	ht_bits_seek(&in, 0);
	return ht_codes_read(f->codes, &in);
}

static void codes_have_to_be_whole(void **state)
{
	struct fixture *f = *state;
	struct deflate_code literals = { .n = 257 }, distances = { .n = 1 };
	literals.lengths['a'] = literals.lengths[256] = 1;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_OK);
	distances.lengths[0] =
	        1; /* one distance leaves half of all bits without a meaning: allowed */
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_OK);
	distances.lengths[0] = 2;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	distances = (struct deflate_code){ .lengths = { 1, 2 }, .n = 2 };
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	distances = (struct deflate_code){ .lengths = { 1, 1, 1 }, .n = 3 };
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	distances = (struct deflate_code){ .lengths = { 1, 1 }, .n = 31 };
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	distances.n = 30;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_OK);
	literals.n = 287;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	literals.n = 286;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_OK);
	literals.lengths['b'] = 15;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	literals.lengths['b'] = literals.lengths['a'] = 0;
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
	literals.lengths['b'] = literals.lengths['a'] = 1;
	literals.lengths[256] = 0; /* no end */
	assert_int_equal(read_codes(f, &literals, &distances), HT_DEFLATE_BAD);
}

static void memory_may_run_out(void **state)
{
	struct fixture *f = *state;
	make(f, 100000, DEFLATE_MIXED, 900);
	enum ht_deflate_result result = HT_DEFLATE_BAD;
	for (int n = 1; result != HT_DEFLATE_OK; n++) {
		struct ht_tokens tokens = { 0 };
		struct ht_bits in = bits_of(f, f->out.n + 8);
		struct ht_deflate_span span = { .stop = UINT64_MAX, .max_bytes = SIZE_MAX };
		atomic_store(&f->ctx->mem->fail_in, n);
		result = ht_tokens_read(&tokens, f->ctx->mem, f->codes, &in, &span);
		atomic_store(&f->ctx->mem->fail_in, 0);
		ht_tokens_free(f->ctx->mem, &tokens);
		assert_true(result != HT_DEFLATE_SHORT && n < 1000);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_blocks_are_read),
		TEST(blocks_are_found),
		TEST(damage_is_contained),
		TEST(what_is_accepted_is_what_the_library_reads),
		TEST(tokens_are_bounded),
		TEST(text_has_a_start),
		TEST(codes_have_to_be_whole),
		TEST(memory_may_run_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
