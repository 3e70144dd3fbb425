/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c - see demangle.h. The grammar is that of the Itanium C++ ABI, §5.1.
 *
 * What a name may refer back to (S_, S0_ ...) is remembered as the stretch of the output that it became.
 */
#include "table/demangle.h"

#include <stdbool.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_SEEN  512

struct stretch {
	size_t from, n;
};

struct reader {
	const char *at, *end;
	char *dst;
	size_t n, cap;
	struct stretch seen[MAX_SEEN]; /* what may be referred to, in the order of its first use */
	size_t n_seen;
	int depth;
	bool failed;
};

static void put(struct reader *r, const char *text, size_t n)
{
	if (r->failed || n > r->cap - r->n) {
		r->failed = true;
		return;
	}
	memmove(r->dst + r->n, text, n);
	r->n += n;
}

static void put_str(struct reader *r, const char *text)
{
	put(r, text, strlen(text));
}

/* The output since a place may be referred to from here on. */
static void remember(struct reader *r, size_t from)
{
	if (r->n_seen == MAX_SEEN)
		r->failed = true;
	else
		r->seen[r->n_seen++] = (struct stretch){ from, r->n - from };
}

static char peek(const struct reader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

static bool take(struct reader *r, char c)
{
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 3foo */
static void read_source_name(struct reader *r)
{
	size_t n = 0;
	while (is_digit(peek(r)) && n < 100000)
		n = n * 10 + (size_t)(*r->at++ - '0');
	if (!n || n > (size_t)(r->end - r->at)) {
		r->failed = true;
		return;
	}
	if (n >= 10 && !memcmp(r->at, "_GLOBAL__N", 10))
		put_str(r, "(anonymous namespace)");
	else
		put(r, r->at, n);
	r->at += n;
}

/* The number in S_ (0), S0_ (1), SZ_ (36), T_, T0_. */
static size_t read_number(struct reader *r)
{
	size_t number = 0;
	bool any = false;
	for (; is_digit(peek(r)) || (peek(r) >= 'A' && peek(r) <= 'Z'); r->at++, any = true)
		if (number <= MAX_SEEN)
			number = number * 36 +
			         (size_t)(is_digit(*r->at) ? *r->at - '0' : *r->at - 'A' + 10);
	r->failed |= !take(r, '_');
	return any ? number + 1 : 0;
}

/* What stands for itself after S: Ss, Sa ...; NULL for references. */
static const char *abbreviated(char c)
{
	switch (c) {
	case 'a': return "std::allocator";
	case 'b': return "std::basic_string";
	case 's': return "std::string";
	case 'i': return "std::istream";
	case 'o': return "std::ostream";
	case 'd': return "std::iostream";
	default: return NULL;
	}
}

/* What S refers to, as a stretch of the output; S is read already. */
static struct stretch read_reference(struct reader *r)
{
	size_t number = read_number(r);
	if (r->failed || number >= r->n_seen) {
		r->failed = true;
		return (struct stretch){ 0 };
	}
	return r->seen[number];
}

static void read_type(struct reader *r);
static void read_name(struct reader *r);

/* After L: i4E, b1E, N..E1E (an enumerator by its number), _Z3fooiE (a function). */
static void read_literal(struct reader *r)
{
	char type = peek(r);
	if (type == '_' && r->end - r->at >= 2 && r->at[1] == 'Z') {
		r->at += 2;
		read_name(r);
		put_str(r, "(");
		for (bool first = true; !r->failed && peek(r) != 'E'; first = false) {
			put_str(r, first ? "" : ", ");
			read_type(r);
		}
		put_str(r, ")");
		r->failed |= !take(r, 'E');
		return;
	}
	if (type == 'b') {
		r->at++;
		put_str(r, peek(r) == '1' ? "true" : "false");
		r->at += r->at < r->end;
		r->failed |= !take(r, 'E');
		return;
	}
	if (type == 'N' || type == 'S' || is_digit(type)) {
		put_str(r, "(");
		read_type(r);
		put_str(r, ")");
	} else {
		r->at += r->at < r->end;
	}
	if (take(r, 'n'))
		put_str(r, "-");
	const char *from = r->at;
	while (r->at < r->end && *r->at != 'E')
		r->at++;
	put(r, from, (size_t)(r->at - from));
	r->failed |= from == r->at || !take(r, 'E');
}

/* One of a list of template arguments: a type, a literal, a pack (J ... E), an address (X ad L ... E E). */
static void read_argument(struct reader *r);

/* Up to E, with what is empty left out. */
static void read_arguments(struct reader *r)
{
	if (++r->depth > MAX_DEPTH)
		r->failed = true;
	for (bool first = true; !r->failed && peek(r) != 'E';) {
		size_t before = r->n;
		put_str(r, first ? "" : ", ");
		size_t empty = r->n;
		read_argument(r);
		if (r->n == empty)
			r->n = before;
		else
			first = false;
	}
	r->failed |= !take(r, 'E');
	r->depth--;
}

static void read_argument(struct reader *r)
{
	if (take(r, 'L')) {
		read_literal(r);
	} else if (take(r, 'J')) {
		read_arguments(r);
	} else if (r->end - r->at >= 4 && !memcmp(r->at, "XadL", 4)) {
		r->at += 4;
		put_str(r, "&");
		read_literal(r);
		r->failed |= !take(r, 'E');
	} else {
		read_type(r);
	}
}

/* I ... E */
static void read_template_arguments(struct reader *r)
{
	put_str(r, "<");
	read_arguments(r);
	put_str(r, ">");
}

/* S in a nested name: a scope that was named before is not said again, unless its arguments tell it from others of its name. */
static void read_scope(struct reader *r)
{
	struct stretch scope = read_reference(r);
	bool is_last = peek(r) == 'I' || peek(r) == 'E';
	if (!r->failed && scope.n && (is_last || r->dst[scope.from + scope.n - 1] == '>'))
		put(r, r->dst + scope.from, scope.n);
}

/* What stands between N and E, joined by ::. */
static void read_nested(struct reader *r)
{
	size_t before = r->n;
	while (peek(r) == 'K' || peek(r) == 'V' || peek(r) == 'r')
		r->at++;
	while (!r->failed && peek(r) != 'E') {
		if (take(r, 'I')) {
			read_template_arguments(r);
		} else if (r->end - r->at >= 2 && r->at[0] == 'S' && r->at[1] == 't') {
			r->at += 2;
			put_str(r, "std");
			continue;
		} else if (take(r, 'S')) {
			read_scope(r);
			continue;
		} else if (take(r, 'T')) {
			read_number(r);
			put_str(r, "\xe2\x80\xa6");
		} else {
			if (r->n > before)
				put_str(r, "::");
			read_source_name(r);
		}
		remember(r, before);
	}
	r->failed |= !take(r, 'E') || r->n == before;
}

static const char *builtin(char c)
{
	static const char letters[] = "vbcahstijlmxyfdenow";
	static const char *const names[] = { "void", "bool", "char", "signed char", "unsigned char",
		"short", "unsigned short", "int", "unsigned int", "long", "unsigned long",
		"long long", "unsigned long long", "float", "double", "long double", "__int128",
		"unsigned __int128", "wchar_t" };
	_Static_assert(sizeof letters == sizeof names / sizeof *names + 1, "one name per letter");
	const char *found = c ? strchr(letters, c) : NULL;
	return found ? names[found - letters] : NULL;
}

/* D and what follows: types of 16 bits and others that came later; NULL for what is no type of its own. */
static const char *later_builtin(struct reader *r)
{
	static const char *const names[][2] = { { "F16_", "_Float16" }, { "F16b", "__bf16" },
		{ "F32_", "_Float32" }, { "F64_", "_Float64" }, { "h", "half" },
		{ "n", "std::nullptr_t" }, { "u", "char8_t" }, { "s", "char16_t" },
		{ "i", "char32_t" } };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i][0]);
		if (n < (size_t)(r->end - r->at) && !memcmp(r->at + 1, names[i][0], n)) {
			r->at += n + 1;
			return names[i][1];
		}
	}
	return NULL;
}

/* A name of any form, with its template arguments. */
static void read_name(struct reader *r)
{
	size_t before = r->n;
	if (take(r, 'N')) {
		read_nested(r);
		return;
	}
	if (r->end - r->at >= 2 && r->at[0] == 'S' && r->at[1] == 't') {
		r->at += 2;
		put_str(r, "std::");
	}
	read_source_name(r);
	remember(r, before);
	if (take(r, 'I')) {
		read_template_arguments(r);
		remember(r, before);
	}
}

/* After F: what it returns, then what it takes. */
static void read_function(struct reader *r)
{
	take(r, 'Y');
	read_type(r);
	put_str(r, " (");
	for (bool first = true; !r->failed && peek(r) != 'E'; first = false) {
		put_str(r, first ? "" : ", ");
		read_type(r);
	}
	r->failed |= !take(r, 'E');
	put_str(r, ")");
}

/* S or T that is a type by itself, perhaps of a template. */
static void read_referring_type(struct reader *r, size_t before)
{
	bool is_parameter = *r->at++ == 'T';
	const char *whole = is_parameter ? NULL : abbreviated(peek(r));
	if (whole) {
		r->at++;
		put_str(r, whole);
	} else if (is_parameter) {
		read_number(r);
		put_str(r, "\xe2\x80\xa6");
		remember(r, before);
	} else {
		struct stretch named = read_reference(r);
		if (!r->failed)
			put(r, r->dst + named.from, named.n);
	}
	if (take(r, 'I')) {
		read_template_arguments(r);
		remember(r, before);
	}
}

/* A type without what is said of it by P, R, O and K. */
static void read_plain_type(struct reader *r, size_t before)
{
	char c = peek(r);
	const char *name = c == 'D' ? later_builtin(r) : builtin(c);
	if (name) {
		r->at += c != 'D';
		put_str(r, name);
	} else if (c == 'T' || (c == 'S' && r->end - r->at > 1 && r->at[1] != 't')) {
		read_referring_type(r, before);
	} else if (take(r, 'F')) {
		read_function(r);
		remember(r, before);
	} else if (take(r, 'A')) {
		const char *from = r->at;
		while (is_digit(peek(r)))
			r->at++;
		size_t n = (size_t)(r->at - from);
		r->failed |= !take(r, '_');
		read_type(r);
		put_str(r, " [");
		put(r, from, n);
		put_str(r, "]");
		remember(r, before);
	} else {
		read_name(r);
	}
}

static void read_type(struct reader *r)
{
	char suffix[MAX_DEPTH];
	size_t n_suffix = 0, before = r->n;
	if (++r->depth > MAX_DEPTH) {
		r->failed = true;
		return;
	}
	for (; n_suffix < sizeof suffix && r->at < r->end && strchr("PROK", *r->at); r->at++)
		suffix[n_suffix++] = *r->at;
	read_plain_type(r, before);
	while (n_suffix--) {
		char c = suffix[n_suffix];
		put_str(r, c == 'P' ? "*" : c == 'R' ? "&" : c == 'O' ? "&&" : " const");
		remember(r, before);
	}
	r->depth--;
}

size_t ht_demangle(const char *text, size_t n, char *dst, size_t cap)
{
	if (n < 4 || memcmp(text, "_Z", 2) != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] >= 0x80)
			return 0;
	struct reader r = { .at = text + 2, .end = text + n, .dst = dst, .cap = cap };
	read_name(&r);
	return r.failed ? 0 : r.n;
}
