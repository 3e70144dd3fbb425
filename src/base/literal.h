/* SPDX-License-Identifier: Apache-2.0 */
/*
 * literal.h - values as people type them: "200", "1.5ms", "64KiB", "12.5%", ".5", "yes".
 *
 * A number is the exact fraction num / den in base units (ns, bytes, 1), so that a comparison with a
 * 64-bit integer column is exact: 1697123456.123456789s is that very nanosecond.
 */
#ifndef HT_BASE_LITERAL_H
#define HT_BASE_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 ht_i128;

enum ht_unit_kind { HT_UNIT_NONE, HT_UNIT_TIME, HT_UNIT_SIZE, HT_UNIT_SHARE };

struct ht_unit {
	const char *text;
	enum ht_unit_kind kind;
	int64_t num, den; /* base units in one of these */
};

struct ht_literal {
	ht_i128 num, den; /* den > 0 */
	enum ht_unit_kind kind;
};

/* NULL when the text is no unit. */
const struct ht_unit *ht_unit_find(const char *text, size_t n);
/* False when the text is not a number with at most one unit, or has more digits than are kept. */
bool ht_literal_parse(const char *text, struct ht_literal *ret_literal);
/* The largest integer not above, the smallest not below. */
ht_i128 ht_literal_floor(const struct ht_literal *literal);
ht_i128 ht_literal_ceil(const struct ht_literal *literal);
/* The nearest integer, away from 0 when there are two. */
ht_i128 ht_literal_round(const struct ht_literal *literal);
double ht_literal_f64(const struct ht_literal *literal);

/* What fills the text; false when something else does. */
bool ht_parse_f64(const char *text, double *ret);
/* "0.03" or "3%". */
bool ht_parse_ratio(const char *text, double *ret);
/* "30us", "1.5 ms", "200" (ns). */
bool ht_parse_duration(const char *text, int64_t *ret_ns);
/* true, yes, on, 1 or their opposites. */
bool ht_parse_bool(const char *text, bool *ret);

#endif
