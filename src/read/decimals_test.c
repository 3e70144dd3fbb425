/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimals_test.c - both ways of reading decimals agree with each other and with the general reader of numbers.
 */
#include "read/decimals.h"

#include "base/cpu.h"
#include "base/number.h"
#include "store/bit_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define MAX_CELLS 64

/* Cells with what has to be around them. */
struct column {
	char text[HT_CSV_FRONT + 2048 + 64];
	uint32_t stops[MAX_CELLS + 1];
	const uint32_t *rows[MAX_CELLS]; /* of one cell each */
};

static void make_column(struct column *column, char (*cells)[24], size_t n)
{
	size_t at = 0;
	memset(column->text, '7', sizeof column->text);
	column->stops[0] = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t n_cell = strlen(cells[i]);
		memcpy(column->text + HT_CSV_FRONT + at, cells[i], n_cell);
		at += n_cell;
		column->stops[i + 1] = (uint32_t)at;
		column->text[HT_CSV_FRONT + at++] = ',';
	}
	for (size_t i = 0; i < n; i++)
		column->rows[i] = column->stops + i;
}

/* They are in the second column of their rows. */
static size_t read_column(
        ht_decimals_fn read, const struct column *column, size_t n, uint8_t scale, int64_t *ret)
{
	return read(column->text + HT_CSV_FRONT, column->rows, n, 1, scale, ret);
}

/* By definition: a JSON number of 1 to 15 digits and at most one point. */
static bool is_decimal(const char *cell, int *ret_scale, int64_t *ret_value)
{
	size_t n = strlen(cell);
	const char *point = strchr(cell, '.');
	char digits[24];
	if (!n || n - (point != NULL) > 15 || strspn(cell, "0123456789.") != n ||
	        ht_number_parse(cell).end != cell + n)
		return false;
	*ret_scale = point ? (int)(n - 1 - (size_t)(point - cell)) : 0;
	snprintf(digits, sizeof digits, "%.*s%s", point ? (int)(point - cell) : (int)n, cell,
	        point ? point + 1 : "");
	*ret_value = 0;
	for (const char *p = digits; *p; p++)
		*ret_value = *ret_value * 10 + (*p - '0');
	return true;
}

static void check(char (*cells)[24], size_t n, uint8_t scale)
{
	struct column column;
	int64_t wanted[MAX_CELLS], values[MAX_CELLS];
	size_t n_wanted = 0;
	int own;
	make_column(&column, cells, n);
	for (; n_wanted < n; n_wanted++) {
		if (!is_decimal(cells[n_wanted], &own, &wanted[n_wanted]) || own > scale ||
		        (int)strlen(cells[n_wanted]) - (own > 0) + scale - own > 15)
			break;
		wanted[n_wanted] *= ht_pack_factors[scale - own];
	}
	assert_int_equal(read_column(ht_decimals_base, &column, n, scale, values), n_wanted);
	assert_memory_equal(values, wanted, n_wanted * sizeof *wanted);
#if defined(__x86_64__)
	if (!ht_cpu_has_avx2())
		return;
	assert_int_equal(read_column(ht_decimals_avx2, &column, n, scale, values), n_wanted);
	assert_memory_equal(values, wanted, n_wanted * sizeof *wanted);
#endif
}

static void known_cells(void **state)
{
	static const struct {
		const char *cell;
		bool is;
		int64_t value;
		uint8_t scale;
	} cases[] = { { "0", true, 0, 0 }, { "0.0", true, 0, 1 }, { "31.620", true, 31620, 3 },
		{ "40", true, 40, 0 }, { "4294967295", true, 4294967295, 0 },
		{ "123456789012345", true, 123456789012345, 0 },
		{ "567.816000", true, 567816000, 6 },
		{ "1234567.1234567", true, 12345671234567, 7 },
		{ "1234567.12345678", true, 123456712345678, 8 },
		{ "1234567.123456789", false, 0, 0 }, { "", false, 0, 0 }, { ".5", false, 0, 0 },
		{ "5.", false, 0, 0 }, { "01", false, 0, 0 }, { "00.5", false, 0, 0 },
		{ "-1", false, 0, 0 }, { "1.2.3", false, 0, 0 }, { "1e3", false, 0, 0 },
		{ "N/A", false, 0, 0 }, { ".", false, 0, 0 }, { "1234567890123456", false, 0, 0 },
		{ " 1", false, 0, 0 } };
	(void)state;
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		char text[64] = "";
		int64_t value;
		uint8_t scale;
		snprintf(text, sizeof text, "%s", cases[i].cell);
		assert_int_equal(ht_decimal_read(text, strlen(text), &value, &scale), cases[i].is);
		if (cases[i].is) {
			assert_int_equal(value, cases[i].value);
			assert_int_equal(scale, cases[i].scale);
		}
	}
}

static void random_cells(void **state)
{
	static const char letters[] = "0123456789.0000..-e";
	unsigned seed = 11;
	(void)state;
	for (int round = 0; round < 40000; round++) {
		char cells[MAX_CELLS][24];
		size_t n = 1 + (size_t)round % 8;
		for (size_t i = 0; i < n; i++) {
			size_t n_cell = (seed >> 16) % 18, k;
			/* mostly digits, so that there are good ones */
			size_t n_letters = round % 3 ? 11 : sizeof letters - 1;
			for (k = 0; k < n_cell; k++) {
				seed = seed * 1103515245 + 12345;
				cells[i][k] = letters[(seed >> 16) % n_letters];
			}
			cells[i][k] = '\0';
			seed = seed * 1103515245 + 12345;
		}
		check(cells, n, (uint8_t)(round / 8 % 16));
	}
}

/* Many decimals, of all lengths that there may be, and among them one that is none, or none. */
static void good_cells(void **state)
{
	static const char *const bad[] = { "", "01", ".5", "5.", "-1", "1.2.3", "N/A", "00", "00.5",
		"1234567890123456", "123456789012345.6", "0x1", "1,5", "1 ", "\"1\"", "." };
	unsigned seed = 5;
	(void)state;
	for (int round = 0; round < 4000; round++) {
		char cells[MAX_CELLS][24];
		uint8_t scale = (uint8_t)(round % 16);
		for (size_t i = 0; i < MAX_CELLS; i++) {
			seed = seed * 1103515245 + 12345;
			unsigned n_front = 1 + (seed >> 16) % 15, n_behind = (seed >> 20) % 8;
			unsigned long long front = 1 + (seed >> 8) % 9, behind = seed % 97;
			for (unsigned k = 1; k < n_front; k++)
				front = front * 10 + (seed >> k) % 10;
			if ((seed >> 24) % 4 == 0)
				front = 0;
			if (n_behind)
				snprintf(cells[i], sizeof cells[i], "%llu.%0*llu", front,
				        (int)n_behind, behind % (n_behind > 1 ? 97 : 10));
			else
				snprintf(cells[i], sizeof cells[i], "%llu", front);
		}
		if (round % 2)
			snprintf(cells[seed % MAX_CELLS], sizeof cells[0], "%s",
			        bad[(seed >> 8) % HT_COUNT(bad)]);
		/* some that fit, from each of them on */
		for (size_t i = 0; i < MAX_CELLS; i += 3)
			check(cells + i, MAX_CELLS - i, scale);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_cells),
		cmocka_unit_test(random_cells),
		cmocka_unit_test(good_cells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
