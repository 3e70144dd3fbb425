/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_test.c - numbers, times and strings come out as JSON wants them, across buffer borders too.
 */
#include "base/emit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
	char *bytes;
	size_t n;
	size_t fail_at; /* the flush that fails, from 1; 0: none */
};

static enum ht_status collect(void *user, const void *bytes, size_t n)
{
	struct text *text = user;
	if (text->fail_at && !--text->fail_at)
		return HT_IO;
	text->bytes = realloc(text->bytes, text->n + n + 1);
	assert_non_null(text->bytes);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	text->bytes[text->n] = '\0';
	return HT_OK;
}

struct fixture {
	ht_ctx *ctx;
	struct ht_emit emit;
	struct text text;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	*state = f;
	return ht_emit_init(&f->emit, f->ctx, collect, &f->text) != HT_OK;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_ctx_memory(f->ctx, &now, &peak);
	ht_ctx_free(f->ctx);
	free(f->text.bytes);
	free(f);
	return now != 0;
}

static void numbers(void **state)
{
	struct fixture *f = *state;
	static const int64_t values[] = { 0, 9, 10, 99, 100, 12345, -1, -100, INT64_MAX,
		INT64_MIN };
	static const int64_t times[] = { 0, 1, 999, 1000, 1001, 1234567, -1, -1500, INT64_MAX };
	static const double doubles[] = { 0.5, 0.1, -0.0, 1e22, 5, INFINITY, -INFINITY, NAN, 0.5 };
	for (size_t i = 0; i < HT_COUNT(values); i++) {
		ht_emit_i64(&f->emit, values[i]);
		ht_emit_char(&f->emit, ' ');
	}
	ht_emit_u64(&f->emit, UINT64_MAX);
	for (size_t i = 0; i < HT_COUNT(times); i++) {
		ht_emit_char(&f->emit, ' ');
		ht_emit_us(&f->emit, times[i]);
	}
	for (size_t i = 0; i < HT_COUNT(doubles); i++) {
		ht_emit_char(&f->emit, ' ');
		ht_emit_f64(&f->emit, doubles[i]);
	}
	assert_int_equal(ht_emit_done(&f->emit), HT_OK);
	assert_string_equal(f->text.bytes,
	        "0 9 10 99 100 12345 -1 -100 9223372036854775807 -9223372036854775808 "
	        "18446744073709551615 0.000 0.001 0.999 1.000 1.001 1234.567 -0.001 -1.500 "
	        "9223372036854775.807 0.5 0.1 -0.0 1e+22 5.0 \"inf\" \"-inf\" \"nan\" 0.5");
}

static void strings(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text;
		size_t n;
	} cases[] = { { "", 0 }, { "plain", 5 }, { "exactly8", 8 }, { "say \"hi\"\\\n", 10 },
		{ "a\0b", 3 }, { "\x01\x1f\x7f\t\r\b\f", 7 },
		{ "gr\xc3\xbc\xc3\x9f e \xe2\x82\xac", 12 } };
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		ht_emit_string(&f->emit, cases[i].text, cases[i].n);
	assert_int_equal(ht_emit_done(&f->emit), HT_OK);
	assert_string_equal(f->text.bytes,
	        "\"\"\"plain\"\"exactly8\"\"say \\\"hi\\\"\\\\\\n\"\"a\\u0000b\""
	        "\"\\u0001\\u001f\x7f\\t\\r\\b\\f\"\"gr\xc3\xbc\xc3\x9f e \xe2\x82\xac\"");
}

static void any_length_arrives(void **state)
{
	struct fixture *f = *state;
	size_t n = 3 * HT_EMIT_CAP + 17;
	char *long_text = malloc(n);
	assert_non_null(long_text);
	for (size_t i = 0; i < n; i++)
		long_text[i] = (char)('a' + i % 26);
	ht_emit_text(&f->emit, long_text, n);
	ht_emit_escaped(&f->emit, long_text, n);
	for (size_t i = 0; i < HT_EMIT_CAP; i++)
		ht_emit_text(&f->emit, "\x01\x02", 2);
	assert_int_equal(ht_emit_done(&f->emit), HT_OK);
	assert_int_equal(f->text.n, 2 * n + 2 * HT_EMIT_CAP);
	assert_memory_equal(f->text.bytes, long_text, n);
	assert_memory_equal(f->text.bytes + n, long_text, n);
	free(long_text);
}

static void first_failure_is_kept(void **state)
{
	struct fixture *f = *state;
	f->text.fail_at = 2;
	for (size_t i = 0; i < 4 * HT_EMIT_CAP; i++)
		ht_emit_char(&f->emit, 'x');
	assert_int_equal(f->emit.status, HT_IO);
	assert_int_equal(ht_emit_done(&f->emit), HT_IO);
	assert_true(f->text.n <= HT_EMIT_CAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(strings, setup, teardown),
		cmocka_unit_test_setup_teardown(any_length_arrives, setup, teardown),
		cmocka_unit_test_setup_teardown(first_failure_is_kept, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
