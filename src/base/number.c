/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - see number.h.
 *
 * Doubles: mantissa below 2^53 and a power of ten up to 22 are exact in one multiplication; the rest
 * goes through strtod in the C locale, whatever locale the program has.
 */
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h> /* uselocale, before it was in locale.h */
#endif

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Parts of a JSON number: sign, digits before and after the point, exponent. */
struct parts {
	const char *whole, *whole_end, *fraction, *fraction_end, *end;
	int64_t exponent;
	bool negative, has_exponent;
};

static bool split(const char *p, struct parts *ret)
{
	*ret = (struct parts){ 0 };
	if (*p == '-') {
		ret->negative = true;
		p++;
	}
	ret->whole = p;
	while (ht_is_digit(*p))
		p++;
	ret->whole_end = ret->fraction = ret->fraction_end = p;
	if (p == ret->whole || (p - ret->whole > 1 && *ret->whole == '0'))
		return false;
	if (*p == '.') {
		ret->fraction = ++p;
		while (ht_is_digit(*p))
			p++;
		ret->fraction_end = p;
		if (p == ret->fraction)
			return false;
	}
	if (*p == 'e' || *p == 'E') {
		bool minus = *++p == '-';
		if (*p == '-' || *p == '+')
			p++;
		const char *digits = p;
		while (ht_is_digit(*p)) {
			if (ret->exponent < 1000000)
				ret->exponent = ret->exponent * 10 + (*p - '0');
			p++;
		}
		if (p == digits)
			return false;
		ret->has_exponent = true;
		if (minus)
			ret->exponent = -ret->exponent;
	}
	ret->end = p;
	return true;
}

static double slow_double(const char *start, const char *end)
{
	char small[512];
	size_t n = (size_t)(end - start);
	char *text = n < sizeof small ? small : malloc(n + 1);
	if (!text)
		return NAN;
	memcpy(text, start, n);
	text[n] = '\0';
	pthread_once(&c_locale_once, make_locale);
	locale_t before = uselocale(c_locale);
	double value = strtod(text, NULL);
	uselocale(before);
	if (text != small)
		free(text);
	return value;
}

static double to_double(const char *start, const struct parts *n)
{
	static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	uint64_t mantissa = 0;
	size_t n_digits =
	        (size_t)(n->whole_end - n->whole) + (size_t)(n->fraction_end - n->fraction);
	int64_t power = n->exponent - (n->fraction_end - n->fraction);
	if (n_digits > 18 || power < -22 || power > 22)
		return slow_double(start, n->end);
	for (const char *p = n->whole; p < n->whole_end; p++)
		mantissa = mantissa * 10 + (uint64_t)(*p - '0');
	for (const char *p = n->fraction; p < n->fraction_end; p++)
		mantissa = mantissa * 10 + (uint64_t)(*p - '0');
	if (mantissa > (uint64_t)1 << 53)
		return slow_double(start, n->end);
	double value =
	        power < 0 ? (double)mantissa / powers[-power] : (double)mantissa * powers[power];
	return n->negative ? -value : value;
}

struct ht_number ht_number_parse(const char *p)
{
	struct parts n;
	if (!split(p, &n))
		return (struct ht_number){ .type = HT_NUMBER_NONE };
	struct ht_number number = { .end = n.end };
	size_t n_digits = (size_t)(n.whole_end - n.whole);
	if (n.fraction == n.fraction_end && !n.has_exponent && n_digits <= 20) {
		unsigned __int128 value = 0;
		for (const char *q = n.whole; q < n.whole_end; q++)
			value = value * 10 + (unsigned)(*q - '0');
		if (value <= (unsigned __int128)INT64_MAX + n.negative) {
			number.type = HT_NUMBER_I64;
			number.i = n.negative ? (int64_t)(0 - (uint64_t)value) : (int64_t)value;
			return number;
		}
		if (!n.negative && value <= UINT64_MAX) {
			number.type = HT_NUMBER_U64;
			number.u = (uint64_t)value;
			return number;
		}
		number.clamped = true;
	} else if (n.fraction == n.fraction_end && !n.has_exponent) {
		number.clamped = true;
	}
	number.type = HT_NUMBER_F64;
	number.f = to_double(p, &n);
	if (isinf(number.f)) {
		number.f = number.f > 0 ? 1.7976931348623157e308 : -1.7976931348623157e308;
		number.clamped = true;
	}
	return number;
}

/* The digit at decimal position `at` of whole.fraction, 0 outside. at 0 is the first whole digit. */
static unsigned digit_at(const struct parts *n, int64_t at)
{
	int64_t n_whole = n->whole_end - n->whole, n_fraction = n->fraction_end - n->fraction;
	if (at < 0 || at >= n_whole + n_fraction)
		return 0;
	return (unsigned)((at < n_whole ? n->whole[at] : n->fraction[at - n_whole]) - '0');
}

struct ht_time ht_time_parse_slow(const char *p)
{
	struct parts n;
	if (!split(p, &n))
		return (struct ht_time){ .end = NULL };
	int64_t n_whole = n.whole_end - n.whole, n_fraction = n.fraction_end - n.fraction;
	struct ht_time time = { .end = n.end };
	time.n_fraction = n_fraction > 255 || n.has_exponent ? 255 : (uint8_t)n_fraction;
	/* value in ns = digits with the point moved right by 3 + exponent */
	int64_t point = n_whole + 3 + n.exponent;
	unsigned __int128 ns = 0;
	for (int64_t at = 0; at < point && ns <= (unsigned __int128)INT64_MAX; at++) {
		if (at >= n_whole + n_fraction && ns == 0)
			break;
		ns = ns * 10 + digit_at(&n, at);
	}
	if (point >= 0 && digit_at(&n, point) >= 5)
		ns++;
	for (int64_t at = point < 0 ? 0 : point; at < n_whole + n_fraction && !time.rounded; at++)
		time.rounded = digit_at(&n, at) != 0;
	time.clamped = ns > (unsigned __int128)INT64_MAX;
	time.ns = time.clamped ? INT64_MAX : (int64_t)ns;
	if (n.negative)
		time.ns = -time.ns;
	return time;
}

/* ---- printing ---- */

/* Exact products of a mantissa and a power of five. */
__extension__ typedef unsigned __int128 wide;

static const uint64_t fives[] = { 1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625,
	48828125, 244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
	3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625,
	11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625,
	7450580596923828125 };

/* 10^n, for n up to 19. */
static uint64_t ten_to(int n)
{
	return fives[n] << n;
}

/* mantissa / 2^shift * 10^scale, rounded as printf does; false when that does not read back as the same double. */
static bool round_to_digits(uint64_t mantissa, int shift, int scale, uint64_t *ret_digits)
{
	wide power = scale <= 27 ? (wide)fives[scale] : (wide)fives[27] * fives[scale - 27];
	wide exact = mantissa * power, unit = (wide)1 << (shift - scale), rest = exact & (unit - 1);
	uint64_t digits = (uint64_t)(exact >> (shift - scale));
	bool is_up = rest > unit / 2 || (rest == unit / 2 && digits % 2);
	wide error = is_up ? unit - rest : rest;
	*ret_digits = digits + is_up;
	/* below a power of two doubles are half as far from each other */
	if (!is_up && mantissa == (uint64_t)1 << 52)
		error *= 2;
	return error * 2 < power || (error * 2 == power && mantissa % 2 == 0);
}

/* The power of ten of the first digit of 1e-15 to 1e14; wrong by one at powers of ten where the products are rounded. */
static int first_power(double size)
{
	int power = 0;
	for (; size >= (double)ten_to(power + 1); power++)
		continue;
	for (; size < 1; size *= 10)
		power--;
	return power;
}

/* Digits, the first of which stands for 10^power, as %g writes them. */
static char *put_digits(char *p, const char *digits, int n, int power)
{
	int exponent = power < -4 ? power : 0;
	power -= exponent;
	for (int i = power; i < 0; i++) {
		*p++ = '0';
		if (i == power)
			*p++ = '.';
	}
	for (int i = 0; i < n || i <= power; i++) {
		if (power >= 0 && i == power + 1)
			*p++ = '.';
		*p++ = i < n ? digits[i] : '0';
	}
	if (exponent) {
		memcpy(p, "e-", 2);
		p[2] = (char)('0' + -exponent / 10);
		p[3] = (char)('0' + -exponent % 10);
		p += 4;
	}
	*p = '\0';
	return p;
}

/* Most numbers of a table, some ten times as fast as printf, which tries up to three lengths; 0 for one that is not printed here. */
static int print_quickly(char *buffer, double value)
{
	double size = fabs(value);
	if (!(size >= 1e-15 && size < 1e14))
		return 0;
	uint64_t bits, digits;
	memcpy(&bits, &size, sizeof bits);
	uint64_t one = (uint64_t)1 << 52, mantissa = (bits & (one - 1)) | one;
	int shift = 1075 - (int)(bits >> 52), power = first_power(size), n = 15;
	while (!round_to_digits(mantissa, shift, n - 1 - power, &digits))
		if (++n > 17)
			return 0;
	if (digits < ten_to(n - 1) || digits >= ten_to(n))
		return 0;
	for (; digits % 10 == 0; n--)
		digits /= 10;
	char text[20];
	for (int i = n; i--; digits /= 10)
		text[i] = (char)('0' + digits % 10);
	char *p = buffer;
	if (value < 0)
		*p++ = '-';
	return (int)(put_digits(p, text, n, power) - buffer);
}

int ht_double_print_short(char *buffer, double value)
{
	int n = print_quickly(buffer, value);
	if (n)
		return n;
	pthread_once(&c_locale_once, make_locale);
	locale_t before = uselocale(c_locale);
	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(buffer, 32, "%.*g", digits, value);
		if (strtod(buffer, NULL) == value)
			break;
	}
	uselocale(before);
	return n;
}

int ht_double_print_power(char *buffer, int n_decimals, double value)
{
	pthread_once(&c_locale_once, make_locale);
	locale_t before = uselocale(c_locale);
	int n = snprintf(buffer, 32, "%.*e", n_decimals, value);
	uselocale(before);
	return n;
}

int ht_double_print(char *buffer, double value)
{
	int n = ht_double_print_short(buffer, value);
	if (!strpbrk(buffer, ".eEn"))
		n += snprintf(buffer + n, 8, ".0");
	return n;
}
