/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 *
 * Written without printf where rows are many: a text of ten million rows formats each cell twice.
 */
#include "table/format.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THIN_SPACE       "\xe2\x80\x89"
#define DASH             "\xe2\x80\x93"
#define MICRO            "\xc2\xb5"

#define UNITS(what, ...) static const char *const what[] = { __VA_ARGS__ };
#include "table/units.def"
#undef UNITS

static size_t put(char *buf, const char *text)
{
	size_t n = strlen(text);
	memcpy(buf, text, n + 1);
	return n;
}

size_t ht_format_u64(char *buf, uint64_t value)
{
	char digits[20];
	size_t n = 0;
	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	for (size_t i = 0; i < n; i++)
		buf[i] = digits[n - 1 - i];
	buf[n] = '\0';
	return n;
}

size_t ht_format_i64(char *buf, int64_t value)
{
	if (value >= 0)
		return ht_format_u64(buf, (uint64_t)value);
	buf[0] = '-';
	return 1 + ht_format_u64(buf + 1, 0 - (uint64_t)value);
}

size_t ht_format_count(char *buf, uint64_t value)
{
	char digits[HT_FORMAT_BYTES];
	size_t n = ht_format_u64(digits, value), used = 0;
	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			used += put(buf + used, THIN_SPACE);
		buf[used++] = digits[i];
	}
	buf[used] = '\0';
	return used;
}

size_t ht_format_f64(char *buf, double value)
{
	if (fabs(value) < 1e15 && value == (double)(int64_t)value && !signbit(value))
		return ht_format_i64(buf, (int64_t)value);
	return (size_t)ht_double_print_short(buf, value);
}

/* "3:1234": row 1234 of rank 3. */
static size_t put_event(char *buf, int64_t id)
{
	size_t n = ht_format_i64(buf, ht_event_rank(id));
	buf[n++] = ':';
	return n + ht_format_u64(buf + n, ht_event_row(id));
}

size_t ht_format_exact(char *buf, const struct ht_cells *cells, size_t row)
{
	if (ht_type_is_f64(cells->meta.type))
		return ht_format_f64(buf, cells->f64[row]);
	if (cells->meta.type == HT_U64)
		return ht_format_u64(buf, cells->u64[row]);
	if (cells->meta.type == HT_BOOL)
		return put(buf, cells->i64[row] ? "true" : "false");
	if (cells->meta.type == HT_EVENT)
		return put_event(buf, cells->i64[row]);
	return ht_format_i64(buf, cells->i64[row]);
}

/* A value of 0 or more with so many decimals, 0 to 6. */
static size_t put_fixed(char *buf, double value, int decimals)
{
	static const uint64_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	uint64_t scaled = (uint64_t)(value * (double)tens[decimals] + 0.5);
	size_t n = ht_format_count(buf, scaled / tens[decimals]);
	if (!decimals)
		return n;
	buf[n++] = '.';
	uint64_t rest = scaled % tens[decimals];
	for (int i = decimals; i--; rest %= tens[i])
		buf[n++] = (char)('0' + rest / tens[i]);
	buf[n] = '\0';
	return n;
}

/* Decimals that make three significant digits. */
static int three_digits(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

static size_t put_power(char *buf, double value)
{
	return (size_t)ht_double_print_power(buf, 2, value);
}

/* A value of 0 or more in the largest unit that keeps it at 1 or more. whole: the first unit is not
 * divisible. */
static size_t put_scaled(
        char *buf, double value, const char *const *units, size_t n_units, double base, bool whole)
{
	size_t u = 0;
	for (; u + 1 < n_units && value >= base - 0.5; u++)
		value /= base;
	size_t n = value < 1e15 ? put_fixed(buf, value, whole && !u ? 0 : three_digits(value))
	                        : put_power(buf, value);
	n += put(buf + n, " ");
	return n + put(buf + n, units[u]);
}

/* A plain double above 0. */
static size_t put_plain(char *buf, double value)
{
	if (value >= 1e15 || value < 0.0001)
		return put_power(buf, value);
	if (value >= 0.9995)
		return put_fixed(buf, value, three_digits(value));
	return put_fixed(buf, value,
	        value >= 0.09995     ? 3
	        : value >= 0.009995  ? 4
	        : value >= 0.0009995 ? 5
	                             : 6);
}

/* Digits and unit of a value whose sign is written already. */
static size_t put_double(char *buf, enum ht_type type, double value)
{
	if (type == HT_RATIO && value < 1e12) {
		size_t n = put_fixed(buf, value * 100, 1);
		return n + put(buf + n, " %");
	}
	if (type == HT_DURATION_F64)
		return put_scaled(buf, value, time_units, HT_COUNT(time_units), 1000, false);
	if (type == HT_BYTES)
		return put_scaled(buf, value, byte_units, HT_COUNT(byte_units), 1024, true);
	return put_plain(buf, value);
}

static size_t put_integer(char *buf, const struct ht_column *column, uint64_t value)
{
	size_t n;
	switch (column->type) {
	case HT_DURATION:
		return put_scaled(buf, (double)value, time_units, HT_COUNT(time_units), 1000, true);
	case HT_BYTES:
		return put_scaled(buf, (double)value, byte_units, HT_COUNT(byte_units), 1024, true);
	case HT_TIME:
		/* An instant keeps its digits: microseconds with three decimals, as timelines show. */
		n = ht_format_count(buf, value / 1000);
		buf[n++] = '.';
		for (uint64_t rest = value % 1000, ten = 100; ten; rest %= ten, ten /= 10)
			buf[n++] = (char)('0' + rest / ten);
		return n + put(buf + n, " " MICRO "s");
	default:
		/* Keys are ids, which people copy and search for. */
		return column->role == HT_KEY ? ht_format_u64(buf, value)
		                              : ht_format_count(buf, value);
	}
}

static bool has_own_unit(const struct ht_column *column)
{
	return column->unit && column->unit[0] && strlen(column->unit) < HT_FORMAT_BYTES / 4 &&
	       (column->type == HT_I64 || column->type == HT_U64 || column->type == HT_F64);
}

/* Of a size of 1 or more: "590 GFLOP", "6.33 MiB". False: the unit has no prefixes. */
static bool put_prefixed(char *buf, const struct ht_column *column, double size, size_t *ret_n)
{
	if (!has_own_unit(column) || column->role == HT_KEY || size < 1)
		return false;
	/* means of bytes */
	if (!strcmp(column->unit, "bytes")) {
		*ret_n = put_scaled(buf, size, byte_units, HT_COUNT(byte_units), 1024,
		        !ht_type_is_f64(column->type));
		return true;
	}
	for (size_t i = 0; i < HT_COUNT(prefixed_units); i++) {
		if (strcmp(column->unit, prefixed_units[i]) != 0)
			continue;
		size_t n = put_scaled(buf, size, prefixes, HT_COUNT(prefixes), 1000,
		        !ht_type_is_f64(column->type));
		*ret_n = n + put(buf + n, column->unit);
		return true;
	}
	return false;
}

/* The size of a number that has one. */
static double size_of(const struct ht_cells *cells, size_t row)
{
	if (ht_type_is_f64(cells->meta.type))
		return fabs(cells->f64[row]);
	return cells->meta.type == HT_U64 ? (double)cells->u64[row] : fabs((double)cells->i64[row]);
}

size_t ht_format_double(char *buf, enum ht_type type, double value)
{
	size_t n = 0;
	if (value == 0)
		return put(buf, "0");
	if (value < 0)
		buf[n++] = '-';
	return n + put_double(buf + n, type, fabs(value));
}

size_t ht_format_human(char *buf, const struct ht_cells *cells, size_t row)
{
	const struct ht_column *column = &cells->meta;
	if (ht_cell_is_null(cells, row))
		return put(buf, DASH);
	if (column->type == HT_BOOL)
		return put(buf, cells->i64[row] ? "yes" : "no");
	if (column->type == HT_EVENT)
		return put_event(buf, cells->i64[row]);
	size_t n = 0, n_prefixed;
	bool negative = ht_type_is_f64(column->type)
	                        ? cells->f64[row] < 0
	                        : column->type != HT_U64 && cells->i64[row] < 0;
	if (put_prefixed(buf + negative, column, size_of(cells, row), &n_prefixed)) {
		buf[0] = negative ? '-' : buf[0];
		return n_prefixed + negative;
	}
	if (ht_type_is_f64(column->type)) {
		n = ht_format_double(buf, column->type, cells->f64[row]);
	} else {
		uint64_t value = cells->u64[row];
		if (!value && column->type != HT_TIME)
			return put(buf, "0");
		if (negative) {
			buf[n++] = '-';
			value = 0 - value;
		}
		n += put_integer(buf + n, column, value);
	}
	if (has_own_unit(column)) {
		n += put(buf + n, " ");
		n += put(buf + n, column->unit);
	}
	return n;
}
