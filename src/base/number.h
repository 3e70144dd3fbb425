/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - decimal numbers as JSON writes them: exact nanoseconds, and the ladder int64, uint64, double.
 */
#ifndef HT_BASE_NUMBER_H
#define HT_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum ht_number_type { HT_NUMBER_NONE, HT_NUMBER_I64, HT_NUMBER_U64, HT_NUMBER_F64 };

struct ht_number {
	enum ht_number_type type; /* NONE: not a JSON number */
	union {
		int64_t i;
		uint64_t u;
		double f;
	};
	const char *end; /* first byte after it */
	bool clamped;    /* beyond double or 64 bits: digits were lost */
};

/* Read the number at p (p must be followed by a byte that ends it, zero included). */
struct ht_number ht_number_parse(const char *p);

struct ht_time {
	int64_t ns;
	const char *end;    /* NULL: not a number */
	uint8_t n_fraction; /* digits after the point, at most 255; 255 with an exponent */
	bool rounded;       /* digits below 1 ns were not zero */
	bool clamped;       /* beyond int64 ns */
};

/* Read a decimal count of microseconds as nanoseconds, exactly. */
struct ht_time ht_time_parse_slow(const char *p);

static inline bool ht_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Eight values of 0 to 9, the first in the lowest byte, as one number. */
static inline uint64_t ht_eight_values(uint64_t values)
{
	values = values * 10 + (values >> 8);
	return ((values & 0x000000FF000000FFu) * 0x000F424000000064u +
	               (values >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >>
	       32;
}

/* Eight digits, the first in the lowest byte, as a number, or -1 when one of them is no digit. */
static inline int64_t ht_eight_digits_of(uint64_t word)
{
	uint64_t values = word - 0x3030303030303030u;
	if (((word + 0x4646464646464646u) | values) & 0x8080808080808080u)
		return -1;
	return (int64_t)ht_eight_values(values);
}

static inline uint64_t ht_eight_bytes(const char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	return word;
}

/* The first n bytes of a word, at most eight. */
static inline uint64_t ht_first_bytes(uint64_t word, size_t n)
{
	static const uint64_t masks[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, ~(uint64_t)0 };
	return word & masks[n < 8 ? n : 8];
}

/* The digits that eight bytes at p begin with; returns how many. There is no branch for each: how long a number is
 * cannot be foreseen. */
static inline unsigned ht_some_digits(const char *p, uint64_t *ret_value)
{
	uint64_t word = ht_eight_bytes(p) ^ 0x3030303030303030u;
	/* the lowest byte beyond 9 is marked; a carry goes up only */
	uint64_t other = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
	unsigned n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	/* the digits become the last of eight, behind zeros */
	*ret_value = n ? ht_eight_values(word << (64 - 8 * n)) : 0;
	return n;
}

/* The digits at p up to 16, of which there may be more; returns how many. Eight bytes must be readable from p on, and
 * sixteen when the first eight are digits. */
static inline unsigned ht_digits(const char *p, uint64_t *ret_value)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
		100000000 };
	uint64_t more;
	unsigned n = ht_some_digits(p, ret_value);
	if (n < 8)
		return n;
	n = ht_some_digits(p + 8, &more);
	*ret_value = *ret_value * powers[n] + more;
	return 8 + n;
}

/* The form that profilers write, 1 to 16 digits that fit as ns, and mostly a point and three digits: its end, or NULL
 * for any other. Readable must be what ht_digits reads. */
static inline const char *ht_time_plain(const char *p, int64_t *ret_ns, uint8_t *ret_n_fraction)
{
	const char *start = p;
	uint64_t us;
	size_t n = ht_digits(p, &us);
	p += n;
	if (n == 0 || (n == 16 && (*start > '8' || ht_is_digit(*p))) || (n > 1 && *start == '0'))
		return NULL;
	if (*p == '.' && ht_is_digit(p[1]) && ht_is_digit(p[2]) && ht_is_digit(p[3]) &&
	        !ht_is_digit(p[4]) && (p[4] | 0x20) != 'e') {
		uint64_t ns = (uint64_t)(p[1] - '0') * 100 + (uint64_t)(p[2] - '0') * 10 +
		              (uint64_t)(p[3] - '0');
		*ret_ns = (int64_t)(us * 1000 + ns);
		*ret_n_fraction = 3;
		return p + 4;
	}
	if (*p == '.' || (*p | 0x20) == 'e')
		return NULL;
	*ret_ns = (int64_t)(us * 1000);
	*ret_n_fraction = 0;
	return p;
}

/* Any form. */
static inline struct ht_time ht_time_parse(const char *p)
{
	struct ht_time time = { .end = NULL };
	time.end = ht_time_plain(p, &time.ns, &time.n_fraction);
	return time.end ? time : ht_time_parse_slow(p);
}

/* Shortest decimal text that reads back as the same double, in the C locale whatever the program has; at least 32
 * bytes at buffer. Returns its length. */
int ht_double_print_short(char *buffer, double value);
/* "1.50e+09", with so many decimals, at most 16. */
int ht_double_print_power(char *buffer, int n_decimals, double value);
/* As ht_double_print_short, and ".0" where it would read as an integer. */
int ht_double_print(char *buffer, double value);

#endif
