/*
 * demangle.c - see demangle.h. The grammar is that of the Itanium C++ ABI, §5.1.
 */
#include "table/demangle.h"

#include <stdbool.h>
#include <string.h>

#define MAX_DEPTH 24

struct reader {
	const char *at, *end;
	char *dst;
	size_t n, cap;
	int depth;
	bool failed;
};

static void put(struct reader *r, const char *text, size_t n)
{
	if (n > r->cap - r->n) {
		r->failed = true;
		return;
	}
	memcpy(r->dst + r->n, text, n);
	r->n += n;
}

static void put_str(struct reader *r, const char *text)
{
	put(r, text, strlen(text));
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

/* S_, S1_, T_, T0_: which one is not known here. */
static void skip_reference(struct reader *r)
{
	while (is_digit(peek(r)) || (peek(r) >= 'A' && peek(r) <= 'Z'))
		r->at++;
	if (!take(r, '_'))
		r->failed = true;
}

static void read_type(struct reader *r);

/* Li4E, Lb1E; other literals are shown by their digits. */
static void read_literal(struct reader *r)
{
	char type = peek(r);
	r->at += r->at < r->end;
	if (type == '_' || type == 'N' || is_digit(type)) {
		r->failed = true;
		return;
	}
	if (type == 'b') {
		put_str(r, peek(r) == '1' ? "true" : "false");
	} else {
		if (peek(r) == 'n')
			put_str(r, "-");
		const char *from = r->at + (peek(r) == 'n');
		while (r->at < r->end && *r->at != 'E')
			r->at++;
		put(r, from, (size_t)(r->at - from));
		r->failed |= from == r->at;
	}
	if (type == 'b' && r->at < r->end)
		r->at++;
	r->failed |= !take(r, 'E');
}

/* I ... E */
static void read_template_arguments(struct reader *r)
{
	put_str(r, "<");
	for (bool first = true; !r->failed && peek(r) != 'E'; first = false) {
		if (!first)
			put_str(r, ", ");
		if (take(r, 'L'))
			read_literal(r);
		else
			read_type(r);
	}
	r->failed |= !take(r, 'E');
	put_str(r, ">");
}

/* What stands between N and E, joined by ::; a reference at the front is left out. */
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
		} else if (take(r, 'S')) {
			skip_reference(r);
		} else {
			if (r->n > before)
				put_str(r, "::");
			read_source_name(r);
		}
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

/* A name of any form, with its template arguments. */
static void read_name(struct reader *r)
{
	if (take(r, 'N')) {
		read_nested(r);
		return;
	}
	if (r->end - r->at >= 2 && r->at[0] == 'S' && r->at[1] == 't') {
		r->at += 2;
		put_str(r, "std::");
	}
	read_source_name(r);
	if (take(r, 'I'))
		read_template_arguments(r);
}

static void read_type(struct reader *r)
{
	char suffix[MAX_DEPTH];
	size_t n_suffix = 0;
	if (++r->depth > MAX_DEPTH) {
		r->failed = true;
		return;
	}
	for (; n_suffix < sizeof suffix && r->at < r->end && strchr("PRK", *r->at); r->at++)
		suffix[n_suffix++] = *r->at;
	const char *name = builtin(peek(r));
	if (name) {
		r->at++;
		put_str(r, name);
	} else if (peek(r) == 'T' || (peek(r) == 'S' && r->end - r->at > 1 && r->at[1] != 't')) {
		r->at++;
		skip_reference(r);
		put_str(r, "\xe2\x80\xa6");
		if (take(r, 'I'))
			read_template_arguments(r);
	} else if (take(r, 'J')) {
		for (bool first = true; !r->failed && peek(r) != 'E'; first = false) {
			if (!first)
				put_str(r, ", ");
			read_type(r);
		}
		r->failed |= !take(r, 'E');
	} else {
		read_name(r);
	}
	while (n_suffix--)
		put_str(r, suffix[n_suffix] == 'P'   ? "*"
		           : suffix[n_suffix] == 'R' ? "&"
		                                     : " const");
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
