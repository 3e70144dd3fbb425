/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.c - see shorten.h.
 */
#include "table/shorten.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS       "\xe2\x80\xa6"
#define ELLIPSIS_BYTES 3
#define MAX_DEPTH      32
#define ANONYMOUS      "(anonymous namespace)"
/* Brackets in a row that may belong to an operator: names of many cost their length. */
#define MAX_OPERATOR 8

/* An angle bracket that opens or closes template arguments: not part of operator< or ->. */
static bool is_angle(const char *text, size_t i)
{
	static const char word[] = "operator";
	if (text[i] != '<' && text[i] != '>')
		return false;
	if (i && text[i] == '>' && text[i - 1] == '-')
		return false;
	size_t start = i;
	while (start && i - start < MAX_OPERATOR &&
	        (text[start - 1] == '<' || text[start - 1] == '>' || text[start - 1] == '='))
		start--;
	size_t n = sizeof word - 1;
	return start < n || memcmp(text + start - n, word, n) != 0;
}

/* Depth of the deepest template argument list, 0 when there is none or brackets do not pair. A list follows the name
 * of its template: "<built-in method mm>" and "a.py(3): <lambda>" are none. */
static int template_depth(const char *text, size_t n)
{
	int depth = 0, deepest = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_angle(text, i))
			continue;
		if (!depth && text[i] == '<' && (!i || text[i - 1] == ' '))
			return 0;
		depth += text[i] == '<' ? 1 : -1;
		if (depth < 0 || depth > MAX_DEPTH)
			return 0;
		deepest = depth > deepest ? depth : deepest;
	}
	return depth ? 0 : deepest;
}

/* What lies in angle brackets at this depth or deeper becomes an ellipsis. Works in place, as the
 * result never outgrows the text: lists shorter than the ellipsis stay. */
static size_t fold_templates(char *text, size_t n, int at_depth)
{
	size_t used = 0, open = 0;
	int depth = 0;
	/* The writer is never ahead of the reader. After a fold is_angle may look back at moved bytes: that
	 * can misjudge an operator inside a list, which costs looks but never bounds. */
	for (size_t i = 0; i < n; i++) {
		bool angle = is_angle(text, i);
		char c = text[i];
		if (angle && c == '>' && depth-- == at_depth && used - open > ELLIPSIS_BYTES) {
			memcpy(text + open, ELLIPSIS, ELLIPSIS_BYTES);
			used = open + ELLIPSIS_BYTES;
		}
		text[used++] = c;
		if (angle && c == '<' && ++depth == at_depth)
			open = used;
	}
	return used;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool begins(const char *text, size_t n, const char *with)
{
	size_t n_with = strlen(with);
	return n >= n_with && !memcmp(text, with, n_with);
}

/* Is it a C++ name, whose brackets hold types? Other brackets mean something: "Memcpy HtoD (Pinned -> Device)". */
static bool is_cpp(const char *text, size_t n)
{
	if (begins(text, n, "void ") || template_depth(text, n))
		return true;
	for (size_t i = 1; i < n; i++)
		if (text[i - 1] == ':' && text[i] == ':')
			return true;
	return false;
}

/* Function arguments: the last round bracket that opens outside all others becomes (…). */
static size_t fold_arguments(char *text, size_t n)
{
	size_t open = n, close = n;
	int depth = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_angle(text, i))
			depth += text[i] == '<' ? 1 : -1;
		else if (text[i] == '(' && depth++ == 0 && !begins(text + i, n - i, ANONYMOUS))
			open = i;
		else if (text[i] == ')' && --depth == 0)
			close = i;
		if (depth < 0)
			return n;
	}
	if (depth || !open || open == n || text[open - 1] == ' ' || close == n ||
	        close < open + 1 + ELLIPSIS_BYTES)
		return n;
	memcpy(text + open + 1, ELLIPSIS, ELLIPSIS_BYTES);
	memmove(text + open + 1 + ELLIPSIS_BYTES, text + close, n - close);
	return open + 1 + ELLIPSIS_BYTES + (n - close);
}

/* (…) at the end tells nothing but that it is a function. */
static size_t drop_folded_arguments(char *text, size_t n)
{
	static const char folded[] = "(" ELLIPSIS ")";
	size_t n_folded = sizeof folded - 1;
	return n > n_folded && !memcmp(text + n - n_folded, folded, n_folded) ? n - n_folded : n;
}

/* at::native::add and (anonymous namespace)::add become add; what stands before :: and is no plain word stays. */
static size_t drop_namespaces(char *text, size_t n)
{
	size_t used = 0, word = 0;
	for (size_t i = 0; i < n; i++) {
		if (begins(text + i, n - i, ANONYMOUS "::")) {
			i += sizeof ANONYMOUS;
			continue;
		}
		if (text[i] == ':' && i + 1 < n && text[i + 1] == ':' && word < used) {
			used = word;
			i++;
			continue;
		}
		text[used++] = text[i];
		if (!is_word(text[i]))
			word = used;
	}
	return used;
}

/* Three fifths of the front, the rest from the end. */
static size_t cut_middle(char *text, size_t n, size_t width)
{
	size_t total = ht_utf8_width(text, n), front = (width - 1) * 3 / 5,
	       back = width - 1 - front;
	size_t n_front = ht_utf8_bytes(text, n, front);
	size_t from = ht_utf8_bytes(text, n, total - back);
	memmove(text + n_front + ELLIPSIS_BYTES, text + from, n - from);
	memcpy(text + n_front, ELLIPSIS, ELLIPSIS_BYTES);
	return n_front + ELLIPSIS_BYTES + (n - from);
}

static bool is_telling(const char *word, size_t n)
{
#define PLAIN_TYPE(word) word,
	static const char *const plain[] = {
#include "table/plain_types.def"
	};
#undef PLAIN_TYPE
	if (n < 3 || (word[0] >= '0' && word[0] <= '9') ||
	        (word[n - 2] == '_' && word[n - 1] == 't'))
		return false;
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strlen(plain[i]) == n && !memcmp(plain[i], word, n))
			return false;
	return true;
}

/* The first word within the template arguments that is no plain type: the functor. 0 when there is none. */
static size_t find_functor(const char *text, size_t n, size_t *ret_n)
{
	const char *angle = memchr(text, '<', n);
	size_t at = angle ? (size_t)(angle - text) : n;
	while (at < n) {
		size_t end = at;
		while (end < n && is_word(text[end]))
			end++;
		*ret_n = end - at;
		if (is_telling(text + at, end - at))
			return at;
		at = end > at ? end : at + 1;
	}
	return 0;
}

/* kernel<4, Functor<…>, …> as "ker…Functor": a third at least for the kernel, the functor as far as it goes. */
static size_t keep_functor(char *text, size_t n, size_t width)
{
	size_t n_functor, at = find_functor(text, n, &n_functor);
	if (!at || width < 12)
		return n;
	size_t n_head = (size_t)((const char *)memchr(text, '<', n) - text);
	size_t most = width - 1 - width / 3;
	n_functor = n_functor < most ? n_functor : most;
	n_head = ht_utf8_bytes(text, n_head, width - 1 - n_functor);
	if (n_head + ELLIPSIS_BYTES + n_functor > n)
		return n;
	memmove(text + n_head + ELLIPSIS_BYTES, text + at, n_functor);
	memcpy(text + n_head, ELLIPSIS, ELLIPSIS_BYTES);
	return n_head + ELLIPSIS_BYTES + n_functor;
}

static size_t shorten_cpp(char *text, size_t n, size_t width)
{
	if (begins(text, n, "void ") && n > 5) {
		n -= 5;
		memmove(text, text + 5, n);
	}
	if (ht_utf8_width(text, n) > width)
		n = fold_arguments(text, n);
	if (ht_utf8_width(text, n) > width)
		n = drop_namespaces(text, n);
	if (ht_utf8_width(text, n) > width)
		n = drop_folded_arguments(text, n);
	int depth = template_depth(text, n);
	for (; depth > 1 && ht_utf8_width(text, n) > width; depth--)
		n = fold_templates(text, n, depth);
	if (depth && ht_utf8_width(text, n) > width)
		n = keep_functor(text, n, width);
	if (depth && ht_utf8_width(text, n) > width)
		n = fold_templates(text, n, 1);
	return n;
}

/* Of a stack, names with ";" between, the innermost ones that fit; 0 when the text is none. */
static size_t shorten_stack(const char *text, size_t n, size_t width, char *dst)
{
	const char *last = NULL, *rest = text;
	size_t rest_width = ht_utf8_width(text, n);
	for (const char *at = text; (at = memchr(at, ';', n - (size_t)(at - text))); at++) {
		size_t n_rest = n - (size_t)(at + 1 - text);
		rest_width -= ht_utf8_width(rest, (size_t)(at + 1 - rest));
		rest = at + 1;
		if (n_rest && 1 + rest_width <= width) {
			memcpy(dst, ELLIPSIS, ELLIPSIS_BYTES);
			memcpy(dst + ELLIPSIS_BYTES, at + 1, n_rest);
			return ELLIPSIS_BYTES + n_rest;
		}
		last = n_rest ? at + 1 : last;
	}
	/* the innermost alone is too long; what is before it makes room for the ellipsis */
	if (!last || last - text < ELLIPSIS_BYTES || width < 2)
		return 0;
	memcpy(dst, ELLIPSIS, ELLIPSIS_BYTES);
	return ELLIPSIS_BYTES +
	       ht_shorten(last, n - (size_t)(last - text), width - 1, dst + ELLIPSIS_BYTES);
}

size_t ht_shorten(const char *text, size_t n, size_t width, char *dst)
{
	size_t n_stack = ht_utf8_width(text, n) > width ? shorten_stack(text, n, width, dst) : 0;
	if (n_stack)
		return n_stack;
	memcpy(dst, text, n);
	if (ht_utf8_width(dst, n) > width && is_cpp(dst, n))
		n = shorten_cpp(dst, n, width);
	if (ht_utf8_width(dst, n) > width)
		n = cut_middle(dst, n, width);
	return n;
}

size_t ht_shorten_cell(const char *unit, const char *text, size_t n, size_t width, char *dst)
{
	if (!unit || strcmp(unit, HT_UNIT_INNERMOST_FIRST) != 0 || ht_utf8_width(text, n) <= width)
		return ht_shorten(text, n, width, dst);
	size_t n_front = ht_utf8_bytes(text, n, width - 1);
	memcpy(dst, text, n_front);
	memcpy(dst + n_front, ELLIPSIS, ELLIPSIS_BYTES);
	return n_front + ELLIPSIS_BYTES;
}
