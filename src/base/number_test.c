/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_test.c - numbers out and in: shortest doubles in any locale, sizes and times as people type them.
 */
#include "base/json_escape.h"
#include "base/literal.h"
#include "base/number.h"
#include "holotrace.h"
#include "holotrace/own.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void prints_the_shortest(void **state)
{
	static const struct {
		double value;
		const char *text, *with_point;
	} cases[] = { { 0.1, "0.1", "0.1" }, { 1, "1", "1.0" },
		{ 1.0 / 3, "0.3333333333333333", NULL }, { 0.1 + 0.2, "0.30000000000000004", NULL },
		{ 1e300, "1e+300", "1e+300" }, { -2.5e-8, "-2.5e-08", NULL },
		{ 123456789012345680.0, "1.2345678901234568e+17", NULL } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[32];
		size_t n = (size_t)ht_double_print_short(text, cases[i].value);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(text));
		assert_true(strtod(text, NULL) == cases[i].value);
		ht_double_print(text, cases[i].value);
		assert_string_equal(
		        text, cases[i].with_point ? cases[i].with_point : cases[i].text);
	}
}

static double random_double(uint64_t *seed)
{
	uint64_t bits[2];
	for (size_t i = 0; i < 2; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		bits[i] = *seed >> 11;
	}
	double power = pow(10, (double)(bits[0] % 33) - 17), value;
	switch (bits[0] >> 8 & 3) {
	case 0: return (double)(bits[1] % 1000000) / (double)(1 + bits[0] % 1000000);
	case 1: return -(double)(bits[1] % 100000000000) / 1000;
	case 2: return ldexp(1 + (double)bits[1] / 0x1p53, (int)(bits[0] % 110) - 58);
	default: break;
	}
	/* a power of ten, of two, or a neighbour of one */
	value = bits[1] & 8 ? power : ldexp(1, (int)(bits[0] % 110) - 58);
	for (uint64_t i = bits[1] & 3; i; i--)
		value = nextafter(value, bits[1] & 4 ? 0 : INFINITY);
	return value;
}

/* What is printed without printf is what the shortest of three would be. */
static void prints_as_printf_does(void **state)
{
	uint64_t seed = 1;
	(void)state;
	for (size_t i = 0; i < 200000; i++) {
		char text[32], want[32];
		double value = random_double(&seed);
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(want, sizeof want, "%.*g", digits, value);
			if (strtod(want, NULL) == value)
				break;
		}
		assert_int_equal(ht_double_print_short(text, value), strlen(want));
		assert_string_equal(text, want);
	}
}

/* A program that uses the library may have a comma for the point; where no such locale is installed the values are
 * checked all the same. */
static void knows_no_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8",
		"fr_FR.utf8" };
	const char *set = NULL;
	char text[32];
	(void)state;
	for (size_t i = 0; i < 4 && !set; i++)
		set = setlocale(LC_ALL, names[i]);
	ht_double_print_short(text, 0.5);
	assert_string_equal(text, "0.5");
	ht_double_print_power(text, 2, 1.5e9);
	assert_string_equal(text, "1.50e+09");
	struct ht_literal literal;
	assert_true(ht_literal_parse("1.5us", &literal));
	assert_int_equal((int)ht_literal_round(&literal), 1500);
	uint64_t bytes;
	assert_true(ht_size_parse("1.5K", &bytes));
	assert_int_equal(bytes, 1536);
	setlocale(LC_ALL, "C");
}

static void rounds_away_from_zero(void **state)
{
	static const struct {
		const char *text;
		int value;
	} cases[] = { { "0.4", 0 }, { "0.5", 1 }, { "-0.5", -1 }, { "-0.4", 0 }, { "1.5us", 1500 },
		{ "1.5 us", 1500 }, { "0.0005us", 1 }, { "2", 2 }, { "-2.6", -3 } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ht_literal literal;
		assert_true(ht_literal_parse(cases[i].text, &literal));
		assert_int_equal((int)ht_literal_round(&literal), cases[i].value);
	}
	struct ht_literal third;
	assert_true(ht_literal_parse("0.1", &third));
	assert_true(ht_literal_f64(&third) == 0.1);
}

static void reads_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "0", 0 }, { "100", 100 }, { "1k", 1024 }, { "500M", (uint64_t)500 << 20 },
		{ "8GiB", (uint64_t)8 << 30 }, { "1.5g", (uint64_t)3 << 29 },
		{ "2Tb", (uint64_t)2 << 40 }, { "1e3", 1000 },
		{ "9007199254740993", 9007199254740993 } };
	static const char *const bad[] = { "", "lots", "1Q", "-1", " 1", "1KK", "1iB", "1000000T",
		"1.2.3", ".5K", "inf" };
	uint64_t bytes = 7;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(ht_size_parse(good[i].text, &bytes));
		assert_true(bytes == good[i].bytes);
	}
	bytes = 7;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (ht_size_parse(bad[i], &bytes) || bytes != 7)
			fail_msg("\"%s\" is taken for a size", bad[i]);
}

static void counts_edits(void **state)
{
	static const struct {
		const char *a, *b;
		size_t n;
	} cases[] = { { "", "", 0 }, { "", "abc", 3 }, { "rank", "rank", 0 }, { "rnak", "rank", 1 },
		{ "ranks", "rank", 1 }, { "kitten", "sitting", 3 }, { "ab", "ba", 1 },
		{ "abc", "xyz", 3 } };
	char longer[66];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *a = cases[i].a, *b = cases[i].b;
		assert_int_equal(ht_edit_distance(a, strlen(a), b, strlen(b)), cases[i].n);
		assert_int_equal(ht_edit_distance(b, strlen(b), a, strlen(a)), cases[i].n);
	}
	memset(longer, 'a', sizeof longer);
	assert_int_equal(ht_edit_distance(longer, 64, "a", 1), 63);
	assert_true(ht_edit_distance(longer, 65, "a", 1) == SIZE_MAX);
}

static void escapes(void **state)
{
	static const struct {
		unsigned char code;
		const char *text;
	} cases[] = { { '\n', "\\n" }, { '\r', "\\r" }, { '"', "\\\"" }, { '\\', "\\\\" },
		{ 0, "\\u0000" }, { 0x1f, "\\u001f" }, { 0x9b, "\\u009b" } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[HT_JSON_ESCAPE_BYTES + 1] = "";
		assert_int_equal(ht_json_escape(text, cases[i].code), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
	assert_true(ht_json_needs_escape('"') && ht_json_needs_escape('\\') &&
	            ht_json_needs_escape(0x1f));
	assert_false(ht_json_needs_escape(' ') || ht_json_needs_escape('/') ||
	             ht_json_needs_escape(0xc3));
}

/* Digits, as many as there are up to 16, whatever byte is behind them. */
static void digits_are_counted_and_read(void **state)
{
	(void)state;
	static const char digits[] = "9070503010204060899";
	for (size_t n = 0; n < sizeof digits; n++)
		for (int behind = 0; behind < 256; behind++) {
			char text[64] = "";
			uint64_t value, expected = 0;
			if (behind >= '0' && behind <= '9')
				continue;
			memcpy(text, digits, n);
			memset(text + n, behind, sizeof text - n);
			size_t n_read = n < 16 ? n : 16;
			for (size_t i = 0; i < n_read; i++)
				expected = expected * 10 + (uint64_t)(digits[i] - '0');
			assert_int_equal(ht_digits(text, &value), n_read);
			assert_int_equal(value, expected);
		}
}

/* The quick way and the general one agree on every form of a time. */
static void times_are_read_as_by_the_slow_way(void **state)
{
	(void)state;
	static const char *const wholes[] = { "", "0", "00", "7", "01", "123", "12345678",
		"123456789", "3844339662634", "999999999999999", "8999999999999999",
		"9000000000000000", "12345678901234567", "99999999999999999999", "-5", "-" };
	static const char *const ends[] = { "", ".", ".1", ".12", ".123", ".1234", ".1239996",
		".000", "e3", "E-3", ".5e2", ",", "}", " " };
	for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
		for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
			char text[64] = "";
			snprintf(text, sizeof text, "%s%s", wholes[i], ends[k]);
			struct ht_time a = ht_time_parse(text), b = ht_time_parse_slow(text);
			assert_ptr_equal(a.end, b.end);
			if (!a.end)
				continue;
			assert_int_equal(a.ns, b.ns);
			assert_int_equal(a.n_fraction, b.n_fraction);
			assert_int_equal(a.rounded, b.rounded);
			assert_int_equal(a.clamped, b.clamped);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_counted_and_read),
		cmocka_unit_test(times_are_read_as_by_the_slow_way),
		cmocka_unit_test(prints_the_shortest),
		cmocka_unit_test(prints_as_printf_does),
		cmocka_unit_test(knows_no_locale),
		cmocka_unit_test(rounds_away_from_zero),
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(counts_edits),
		cmocka_unit_test(escapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
