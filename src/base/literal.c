/* SPDX-License-Identifier: Apache-2.0 */
/*
 * literal.c - see literal.h.
 */
#include "base/literal.h"

#include "base/number.h"
#include "base/status.h"
#include "holotrace/own.h"

#include <string.h>
#include <strings.h>

#define MAX_DIGITS   22 /* 10^22 in nanoseconds per second still fits 127 bits with room */
#define MAX_EXPONENT 30

static const struct ht_unit units[] = {
	{ "ns", HT_UNIT_TIME, 1, 1 },
	{ "us", HT_UNIT_TIME, 1000, 1 },
	{ "\xc2\xb5s", HT_UNIT_TIME, 1000, 1 }, /* micro sign */
	{ "\xce\xbcs", HT_UNIT_TIME, 1000, 1 }, /* Greek mu */
	{ "ms", HT_UNIT_TIME, 1000000, 1 },
	{ "s", HT_UNIT_TIME, 1000000000, 1 },
	{ "B", HT_UNIT_SIZE, 1, 1 },
	{ "bytes", HT_UNIT_SIZE, 1, 1 },
	{ "KB", HT_UNIT_SIZE, 1000, 1 },
	{ "kB", HT_UNIT_SIZE, 1000, 1 },
	{ "MB", HT_UNIT_SIZE, 1000000, 1 },
	{ "GB", HT_UNIT_SIZE, 1000000000, 1 },
	{ "TB", HT_UNIT_SIZE, 1000000000000, 1 },
	{ "KiB", HT_UNIT_SIZE, (int64_t)1 << 10, 1 },
	{ "MiB", HT_UNIT_SIZE, (int64_t)1 << 20, 1 },
	{ "GiB", HT_UNIT_SIZE, (int64_t)1 << 30, 1 },
	{ "TiB", HT_UNIT_SIZE, (int64_t)1 << 40, 1 },
	{ "%", HT_UNIT_SHARE, 1, 100 },
	{ "ratio", HT_UNIT_SHARE, 1, 1 },
};

const struct ht_unit *ht_unit_find(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strlen(units[i].text) == n && !memcmp(units[i].text, text, n))
			return &units[i];
	return NULL;
}

/* Digits with at most one point; false when there are none or too many. */
static bool parse_digits(const char **at, struct ht_literal *literal)
{
	int n_digits = 0, n_seen = 0;
	bool after_point = false;
	for (; (**at >= '0' && **at <= '9') || (**at == '.' && !after_point); ++*at) {
		if (**at == '.') {
			after_point = true;
			continue;
		}
		n_seen++;
		n_digits += n_digits || **at != '0';
		if (n_digits > MAX_DIGITS || n_seen > 2 * MAX_DIGITS)
			return false;
		literal->num = literal->num * 10 + (**at - '0');
		if (after_point)
			literal->den *= 10;
		if (literal->den > (ht_i128)1e25)
			return false;
	}
	return n_seen > 0;
}

/* An exponent, when one follows; "e" alone is left for the unit to complain. */
static bool parse_exponent(const char **at, struct ht_literal *literal)
{
	const char *p = *at;
	if (*p != 'e' && *p != 'E')
		return true;
	p++;
	bool negative = *p == '-';
	p += *p == '-' || *p == '+';
	int exponent = 0, n_digits = 0;
	for (; *p >= '0' && *p <= '9' && exponent < 1000; p++, n_digits++)
		exponent = exponent * 10 + (*p - '0');
	if (!n_digits)
		return true;
	*at = p;
	ht_i128 *side = negative ? &literal->den : &literal->num;
	while (exponent--)
		if (exponent > MAX_EXPONENT || __builtin_mul_overflow(*side, (ht_i128)10, side))
			return false;
	return true;
}

bool ht_literal_parse(const char *text, struct ht_literal *ret_literal)
{
	struct ht_literal literal = { .num = 0, .den = 1 };
	bool negative = *text == '-';
	const char *at = text + (*text == '-' || *text == '+');
	if (!parse_digits(&at, &literal) || !parse_exponent(&at, &literal))
		return false;
	at += strspn(at, " ");
	if (*at) {
		const struct ht_unit *unit = ht_unit_find(at, strlen(at));
		if (!unit ||
		        __builtin_mul_overflow(literal.num, (ht_i128)unit->num, &literal.num) ||
		        __builtin_mul_overflow(literal.den, (ht_i128)unit->den, &literal.den))
			return false;
		literal.kind = unit->kind;
	}
	if (negative)
		literal.num = -literal.num;
	*ret_literal = literal;
	return true;
}

ht_i128 ht_literal_floor(const struct ht_literal *literal)
{
	ht_i128 quotient = literal->num / literal->den;
	return quotient - (literal->num % literal->den < 0);
}

ht_i128 ht_literal_ceil(const struct ht_literal *literal)
{
	ht_i128 quotient = literal->num / literal->den;
	return quotient + (literal->num % literal->den > 0);
}

ht_i128 ht_literal_round(const struct ht_literal *literal)
{
	ht_i128 quotient = literal->num / literal->den, rest = literal->num % literal->den;
	ht_i128 size = rest < 0 ? -rest : rest;
	if (size < literal->den - size)
		return quotient;
	return rest < 0 ? quotient - 1 : quotient + 1;
}

double ht_literal_f64(const struct ht_literal *literal)
{
	/* one rounding where both are exact, which what people type is */
	const ht_i128 exact = (ht_i128)1 << 53, largest = (ht_i128)10000000000000000 * 1000000;
	if (literal->num <= exact && -literal->num <= exact && literal->den <= largest)
		return (double)literal->num / (double)literal->den;
	return (double)((long double)literal->num / (long double)literal->den);
}

bool ht_size_parse(const char *text, uint64_t *ret_bytes)
{
	static const char letters[] = "KMGT";
	struct ht_literal literal = { .num = 0, .den = 1 };
	const char *at = text;
	if (*text < '0' || *text > '9' || !parse_digits(&at, &literal) ||
	        !parse_exponent(&at, &literal))
		return false;
	const char *unit = *at ? strchr(letters, *at >= 'a' ? *at - 'a' + 'A' : *at) : NULL;
	if (unit) {
		ht_i128 bytes = (ht_i128)1 << (10 * (unit - letters + 1));
		if (__builtin_mul_overflow(literal.num, bytes, &literal.num))
			return false;
		at += 1 + (at[1] == 'i');
		at += *at == 'B' || *at == 'b';
	}
	ht_i128 bytes = ht_literal_floor(&literal);
	if (*at || bytes >= (ht_i128)1000000000000000000)
		return false;
	*ret_bytes = (uint64_t)bytes;
	return true;
}

/* The number at the start of a text; *ret_rest is what follows. */
static bool leading_number(const char *text, double *ret, const char **ret_rest)
{
	struct ht_number number = ht_number_parse(text);
	switch (number.type) {
	case HT_NUMBER_I64: *ret = (double)number.i; break;
	case HT_NUMBER_U64: *ret = (double)number.u; break;
	case HT_NUMBER_F64: *ret = number.f; break;
	case HT_NUMBER_NONE: return false;
	}
	*ret_rest = number.end + strspn(number.end, " ");
	return true;
}

bool ht_parse_f64(const char *text, double *ret)
{
	const char *rest;
	return leading_number(text, ret, &rest) && !*rest;
}

bool ht_parse_ratio(const char *text, double *ret)
{
	const char *rest;
	double value = 0;
	if (!leading_number(text, &value, &rest) || (*rest && strcmp(rest, "%") != 0))
		return false;
	*ret = *rest ? value / 100 : value;
	return true;
}

bool ht_parse_duration(const char *text, int64_t *ret_ns)
{
	struct ht_literal literal;
	if (!ht_literal_parse(text, &literal) ||
	        (literal.kind != HT_UNIT_NONE && literal.kind != HT_UNIT_TIME))
		return false;
	ht_i128 ns = ht_literal_round(&literal);
	if (ns < -INT64_MAX || ns > INT64_MAX)
		return false;
	*ret_ns = (int64_t)ns;
	return true;
}

bool ht_parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };
	for (size_t i = 0; i < HT_COUNT(yes); i++)
		if (!strcasecmp(text, yes[i])) {
			*ret = true;
			return true;
		}
	for (size_t i = 0; i < HT_COUNT(no); i++)
		if (!strcasecmp(text, no[i])) {
			*ret = false;
			return true;
		}
	return false;
}
