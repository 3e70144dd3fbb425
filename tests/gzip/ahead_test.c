/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead_test.c - a gzip file that several threads inflate gives the same bytes, damage and positions as one that
 * the decoder reads alone, whatever is in it.
 */
#include "base/io.h"
#include "base/mem.h"

#include "make_deflate.h"
#include "../test_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>

/* Some steps of 256 KiB. */
#define N_TEXT ((size_t)1500000)
/* Many chunks of all sizes but the largest: for what is done many times. */
#define N_SHORT ((size_t)300000)
#define N_HANDS 3

struct fixture {
	ht_ctx *ctx;
	uint64_t seed;
	struct deflate_out out;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	f->seed = 0x2545F4914F6CDD1Du;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_ctx_memory(f->ctx, &now, &peak);
	ht_ctx_free(f->ctx);
	free(f->out.bytes);
	free(f);
	return now != 0;
}

/* How to read: chunk_bytes 0 is without help. */
struct way {
	size_t chunk_bytes;
	bool threads; /* who helps: other threads, or the reader itself between reads */
	size_t n_peek;
};

struct outcome {
	enum ht_status status;
	bool is_ahead; /* to the end */
	char *bytes;
	size_t n;
	struct ht_damage damage;
	uint64_t pos, file_pos;
	char message[256];
};

struct helping {
	ht_ctx *ctx;
	struct ht_source *source;
	atomic_bool is_over;
};

static void *help(void *user)
{
	struct helping *h = user;
	while (!atomic_load(&h->is_over)) {
		if (ht_source_wants_help(h->source, false))
			ht_source_help(h->ctx, h->source);
		else
			sched_yield();
	}
	return NULL;
}

static enum ht_status read_rest(
        struct fixture *f, struct ht_source *source, const struct way *way, struct outcome *o)
{
	size_t cap = 0, n = 1;
	while (n) {
		size_t n_want = 1 + deflate_random(&f->seed, 1000000);
		while (way->chunk_bytes && !way->threads && deflate_random(&f->seed, 4) &&
		        ht_source_wants_help(source, deflate_random(&f->seed, 2)))
			ht_source_help(f->ctx, source);
		(void)ht_source_is_ready(source, n_want);
		if (o->n + n_want > cap) {
			cap = (o->n + n_want) * 2;
			o->bytes = realloc(o->bytes, cap);
		}
		HT_TRY(ht_source_read(f->ctx, source, o->bytes + o->n, n_want, &n));
		o->n += n;
	}
	return HT_OK;
}

static void read_source(
        struct fixture *f, struct ht_source *source, const struct way *way, struct outcome *o)
{
	struct ht_source_limits limits = HT_SOURCE_LIMITS;
	limits.ahead_bytes = way->chunk_bytes;
	limits.max_ratio = 0;
	ht_source_set_limits(source, &limits);
	const char *seen;
	size_t n_seen;
	struct helping helping = { .ctx = f->ctx, .source = source };
	pthread_t hands[N_HANDS];
	if (way->n_peek)
		o->status = ht_source_peek(f->ctx, source, way->n_peek, &seen, &n_seen);
	if (way->chunk_bytes && o->status == HT_OK)
		(void)ht_source_start_ahead(f->ctx, source, N_HANDS + 1);
	for (size_t i = 0; way->threads && i < N_HANDS; i++)
		assert_int_equal(pthread_create(&hands[i], NULL, help, &helping), 0);
	if (o->status == HT_OK)
		o->status = read_rest(f, source, way, o);
	atomic_store(&helping.is_over, true);
	for (size_t i = 0; way->threads && i < N_HANDS; i++)
		pthread_join(hands[i], NULL);
	o->damage = *ht_source_damage(source);
	o->pos = ht_source_pos(source);
	o->is_ahead = ht_source_is_ahead(source);
	o->file_pos = ht_source_file_pos(source);
}

static struct outcome read_way(struct fixture *f, const char *path, const struct way *way)
{
	struct outcome o = { 0 };
	struct ht_source *source;
	ht_error_clear(f->ctx);
	o.status = ht_source_open(f->ctx, path, &source);
	if (o.status == HT_OK) {
		read_source(f, source, way, &o);
		ht_source_close(source);
	}
	if (o.status != HT_OK)
		snprintf(o.message, sizeof o.message, "%s", ht_error(f->ctx)->message);
	return o;
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->status, b->status);
	assert_string_equal(a->message, b->message);
	assert_int_equal(a->n, b->n);
	if (a->n)
		assert_memory_equal(a->bytes, b->bytes, a->n);
	assert_int_equal(a->damage.kind, b->damage.kind);
	assert_int_equal(a->damage.offset, b->damage.offset);
	assert_true(!a->damage.text == !b->damage.text);
	if (a->damage.text)
		assert_string_equal(a->damage.text, b->damage.text);
	assert_int_equal(a->pos, b->pos);
	assert_int_equal(a->file_pos, b->file_pos);
}

/* Read the bytes in all ways, with chunks of at least so many bytes surely ahead to the end; the decoder's outcome, for
 * more to be asked of it. The text is freed by the caller. */
static struct outcome check(struct fixture *f, const uint8_t *bytes, size_t n, size_t ahead_from)
{
	static const struct way ways[] = { { 300, false, 0 }, { 4000, false, 100 },
		{ 20000, true, 0 }, { 70000, true, 300000 }, { 1500, true, 50 } };
	char path[TEST_FILE_PATH];
	int fd = test_file_open(path);
	assert_int_equal(write(fd, bytes, n), n);
	struct outcome alone = read_way(f, path, &(struct way){ 0 });
	for (size_t i = 0; i < HT_COUNT(ways); i++) {
		struct outcome o = read_way(f, path, &ways[i]);
		size_t chunk = ways[i].chunk_bytes;
		assert_same(&alone, &o);
		/* of short text all may have been looked at before */
		assert_true(o.is_ahead || chunk < ahead_from || chunk > n / 4 || o.n < 1000000);
		free(o.bytes);
	}
	test_file_close(fd, path);
	return alone;
}

static void make(struct fixture *f, struct deflate_text *text, size_t n, enum deflate_blocks kind,
        size_t per_block, uint8_t flags)
{
	deflate_make_text(text, &f->seed, n, 5, 32768, 100);
	deflate_put_member(&f->out, text, kind, per_block, flags, &f->seed);
}

static void clear(struct fixture *f, struct deflate_text *text)
{
	deflate_free_text(text);
	f->out.n = 0;
}

/* Kinds of blocks, how many tokens each has: from many tiny ones to one that is all. */
static const struct {
	enum deflate_blocks kind;
	size_t per_block;
	size_t ahead_from; /* chunks of so many bytes are read in this way to the end */
} kinds[] = {
	{ DEFLATE_DYNAMIC, 2000, 20000 },
	{ DEFLATE_DYNAMIC, 200, 1500 },
	{ DEFLATE_DYNAMIC, 20000, SIZE_MAX },
	{ DEFLATE_DYNAMIC, 1000000, SIZE_MAX },
	{ DEFLATE_MIXED, 1000, 20000 },
	{ DEFLATE_FIXED, 1000, SIZE_MAX },
	{ DEFLATE_STORED, 100000, SIZE_MAX },
};

static void good_files_are_the_same(void **state)
{
	struct fixture *f = *state;
	static const size_t sizes[] = { N_TEXT, 1, 100000, 4 << 18, (4 << 18) - 1 };
	for (size_t i = 0; i < HT_COUNT(kinds) * HT_COUNT(sizes); i++) {
		struct deflate_text text;
		size_t n = sizes[i / HT_COUNT(kinds)], i_kind = i % HT_COUNT(kinds);
		make(f, &text, n, kinds[i_kind].kind, kinds[i_kind].per_block, 0);
		struct outcome o = check(f, f->out.bytes, f->out.n, kinds[i_kind].ahead_from);
		assert_int_equal(o.status, HT_OK);
		assert_int_equal(o.damage.kind, HT_DAMAGE_NONE);
		assert_int_equal(o.n, text.n);
		assert_memory_equal(o.bytes, text.bytes, text.n);
		free(o.bytes);
		clear(f, &text);
	}
}

/* No match in it, or all from one byte back: codes of no distance, and of one. */
static void few_distances_are_the_same(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 2 * HT_COUNT(kinds); i++) {
		struct deflate_text text;
		deflate_make_text(&text, &f->seed, N_SHORT, i % 2 ? 5 : 0, 1, 258);
		deflate_put_member(
		        &f->out, &text, kinds[i / 2].kind, kinds[i / 2].per_block, 0, &f->seed);
		struct outcome o = check(f, f->out.bytes, f->out.n, SIZE_MAX);
		assert_int_equal(o.damage.kind, HT_DAMAGE_NONE);
		assert_int_equal(o.n, text.n);
		assert_memory_equal(o.bytes, text.bytes, text.n);
		free(o.bytes);
		clear(f, &text);
	}
}

/* What libraries write, and what the engine writes itself. */
static void text_like_a_trace_is_the_same(void **state)
{
	struct fixture *f = *state;
	char path[TEST_FILE_PATH], line[128], name[] = "/tmp/ht-ahead-XXXXXX.gz";
	int fd = test_file_open(path), named = mkstemps(name, 3);
	assert_true(named >= 0);
	struct ht_writer *writer;
	assert_int_equal(ht_writer_open(f->ctx, name, &writer), HT_OK);
	for (unsigned i = 0; i < 40000; i++) {
		int n = snprintf(line, sizeof line,
		        "{\"ph\": \"X\", \"name\": \"k%u\", \"ts\": %u.%03u, \"dur\": %u},\n",
		        deflate_random(&f->seed, 50), i * 7, deflate_random(&f->seed, 1000),
		        deflate_random(&f->seed, 100));
		assert_int_equal(ht_writer_write(writer, line, (size_t)n), HT_OK);
	}
	assert_int_equal(ht_writer_commit(writer), HT_OK);
	FILE *file = fopen(name, "rb");
	uint8_t *bytes = malloc(4 << 20);
	size_t n = fread(bytes, 1, 4 << 20, file);
	fclose(file);
	struct outcome o = check(f, bytes, n, 20000);
	assert_int_equal(o.damage.kind, HT_DAMAGE_NONE);
	free(o.bytes);
	free(bytes);
	close(named);
	unlink(name);
	test_file_close(fd, path);
}

/* Text that is deflate data itself, stored between blocks that are not: what is found in it is no block. */
static void false_starts_are_noticed(void **state)
{
	struct fixture *f = *state;
	for (uint32_t every = 2; every <= 64; every *= 4) {
		struct deflate_text text, inner;
		struct deflate_out fake = { 0 };
		struct deflate_place at = { 0 };
		deflate_make_text(&inner, &f->seed, 600, 3, 300, 20);
		deflate_put_text(&fake, &inner, DEFLATE_DYNAMIC, 40, &f->seed);
		deflate_make_text(&text, &f->seed, N_TEXT, 5, 300, 100);
		/* in every so many blocks of 500 tokens the first bytes are such, and no match is close behind */
		text.n = 0;
		for (size_t i = 0; i < text.n_tokens; i++) {
			size_t in_block = i % 500;
			if (i / 500 % every == 1 && in_block < fake.n && in_block < 400)
				text.tokens[i] = (struct deflate_token){ 0, fake.bytes[in_block] };
			text.n += text.tokens[i].length ? text.tokens[i].length : 1;
		}
		text.bytes = realloc(text.bytes, text.n);
		deflate_spell(&text);
		deflate_put_header(&f->out, 0);
		while (at.i_token < text.n_tokens)
			deflate_put_block(&f->out, &text, &at,
			        at.i_token / 500 % every == 1 ? DEFLATE_STORED : DEFLATE_DYNAMIC,
			        500, &f->seed);
		deflate_align(&f->out);
		deflate_put_trailer(&f->out, &text);
		struct outcome o = check(f, f->out.bytes, f->out.n, every < 64 ? SIZE_MAX : 4000);
		assert_int_equal(o.damage.kind, HT_DAMAGE_NONE);
		assert_int_equal(o.n, text.n);
		assert_memory_equal(o.bytes, text.bytes, text.n);
		free(o.bytes);
		free(fake.bytes);
		deflate_free_text(&inner);
		clear(f, &text);
	}
}

static void cut_files_are_the_same(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < HT_COUNT(kinds) * 6; i++) {
		struct deflate_text text;
		make(f, &text, N_SHORT, kinds[i / 6].kind, kinds[i / 6].per_block, 0);
		/* in the trailer, close before it, and anywhere */
		size_t less = i % 6 < 2 ? 1 + 7 * (i % 6)
		                        : 9 + deflate_random(&f->seed,
		                                      i % 6 < 4 ? 300 : (uint32_t)f->out.n - 20);
		struct outcome o = check(f, f->out.bytes, f->out.n - less, SIZE_MAX);
		assert_int_equal(o.damage.kind, HT_DAMAGE_TRUNCATED);
		free(o.bytes);
		clear(f, &text);
	}
}

static void flipped_bits_are_the_same(void **state)
{
	struct fixture *f = *state;
	unsigned n_damaged = 0;
	for (size_t i = 0; i < HT_COUNT(kinds) * 10; i++) {
		struct deflate_text text;
		make(f, &text, N_SHORT, kinds[i / 10].kind, kinds[i / 10].per_block, 0);
		uint32_t n = (uint32_t)f->out.n;
		size_t at = i % 10 < 2   ? n - 1 - deflate_random(&f->seed, 8)
		            : i % 10 < 3 ? deflate_random(&f->seed, 10)
		                         : deflate_random(&f->seed, n);
		f->out.bytes[at] ^= (uint8_t)(1u << deflate_random(&f->seed, 8));
		struct outcome o = check(f, f->out.bytes, f->out.n, SIZE_MAX);
		n_damaged += o.damage.kind != HT_DAMAGE_NONE;
		free(o.bytes);
		clear(f, &text);
	}
	/* all but those in unimportant bytes of the header */
	assert_true(n_damaged > HT_COUNT(kinds) * 8);
}

static void members_and_other_bytes_may_follow(void **state)
{
	struct fixture *f = *state;
	static const char *const tails[] = { "\0\0\0\0\0\0\0\0\0\0\0\0", "no gzip data",
		"\x1f\x8b\x08 no data" };
	for (size_t i = 0; i < 2 * HT_COUNT(tails) + 2; i++) {
		struct deflate_text text, more = { 0 };
		make(f, &text, i % 2 ? N_TEXT / 2 : 3000, DEFLATE_DYNAMIC, 1000, 0);
		if (i < 2 * HT_COUNT(tails))
			for (size_t j = 0; j < 12; j++)
				deflate_byte(&f->out, (uint8_t)tails[i / 2][j]);
		else
			make(f, &more, N_TEXT / 2, DEFLATE_DYNAMIC, 1000, 0);
		struct outcome o = check(f, f->out.bytes, f->out.n, SIZE_MAX);
		assert_int_equal(o.n, text.n + more.n);
		free(o.bytes);
		deflate_free_text(&more);
		clear(f, &text);
	}
}

static void headers_may_have_more(void **state)
{
	struct fixture *f = *state;
	for (uint8_t flags = 0; flags < 64; flags++) {
		struct deflate_text text;
		/* those that are read ahead need some text for it */
		make(f, &text, flags & ~24 ? 100000 : N_TEXT, DEFLATE_DYNAMIC, 1000, flags);
		struct outcome o = check(f, f->out.bytes, f->out.n, flags & ~24 ? SIZE_MAX : 4000);
		assert_true(flags >= 32 || o.n == text.n);
		free(o.bytes);
		clear(f, &text);
	}
}

/* Text that repeats without end takes the way of one thread, and little memory. */
static void bombs_need_no_memory(void **state)
{
	struct fixture *f = *state;
	struct deflate_text text = { .bytes = calloc(1, 20000000) };
	text.tokens = calloc(100000, sizeof *text.tokens);
	text.tokens[text.n_tokens++] = (struct deflate_token){ 0, 0 };
	for (text.n = 1; text.n < 19000000; text.n += 258)
		text.tokens[text.n_tokens++] = (struct deflate_token){ 258, 1 };
	deflate_put_member(&f->out, &text, DEFLATE_DYNAMIC, 20000, 0, &f->seed);
	char path[TEST_FILE_PATH];
	int fd = test_file_open(path);
	assert_int_equal(write(fd, f->out.bytes, f->out.n), f->out.n);
	struct ht_source_limits limits = HT_SOURCE_LIMITS;
	limits.ahead_bytes = 4000;
	limits.max_ratio = 400;
	limits.ratio_from_bytes = 10000000;
	struct outcome o[2] = { 0 };
	uint64_t now, peak, seed = f->seed;
	for (int i = 0; i < 2; i++) {
		struct ht_source *source;
		f->seed = seed; /* the limit is looked at after each read: of the same sizes */
		ht_error_clear(f->ctx);
		assert_int_equal(ht_source_open(f->ctx, path, &source), HT_OK);
		ht_source_set_limits(source, &limits);
		if (i)
			assert_true(ht_source_start_ahead(f->ctx, source, 4));
		o[i].status = read_rest(f, source, &(struct way){ 0 }, &o[i]);
		snprintf(o[i].message, sizeof o[i].message, "%s", ht_error(f->ctx)->message);
		ht_source_close(source);
	}
	ht_ctx_memory(f->ctx, &now, &peak);
	assert_int_equal(o[0].status, HT_LIMIT);
	assert_same(&o[0], &o[1]);
	assert_true(peak < 8 << 20);
	free(o[0].bytes);
	free(o[1].bytes);
	test_file_close(fd, path);
	clear(f, &text);
}

/* Whatever allocation or read fails, the text is the same, or the failure is told. */
static void failures_are_clean(void **state)
{
	struct fixture *f = *state;
	struct deflate_text text;
	char path[TEST_FILE_PATH];
	int fd = test_file_open(path);
	make(f, &text, 600000, DEFLATE_DYNAMIC, 3000, 0);
	assert_int_equal(write(fd, f->out.bytes, f->out.n), f->out.n);
	for (unsigned i = 0; i < 240; i++) {
		struct way way = { 20000, i % 3 == 0, i % 5 ? 0 : 100 };
		atomic_llong *fail = i % 2 ? &f->ctx->mem->fail_in : &f->ctx->fail_io_in;
		atomic_store(fail, 1 + i / 2);
		struct outcome o = read_way(f, path, &way);
		atomic_store(&f->ctx->mem->fail_in, 0);
		atomic_store(&f->ctx->fail_io_in, 0);
		assert_true(o.status == HT_OK || o.status == (i % 2 ? HT_NOMEM : HT_IO));
		if (o.status == HT_OK) {
			assert_int_equal(o.n, text.n);
			assert_memory_equal(o.bytes, text.bytes, text.n);
		}
		free(o.bytes);
	}
	test_file_close(fd, path);
	clear(f, &text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(good_files_are_the_same),
		TEST(few_distances_are_the_same),
		TEST(text_like_a_trace_is_the_same),
		TEST(false_starts_are_noticed),
		TEST(cut_files_are_the_same),
		TEST(flipped_bits_are_the_same),
		TEST(members_and_other_bytes_may_follow),
		TEST(headers_may_have_more),
		TEST(bombs_need_no_memory),
		TEST(failures_are_clean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
