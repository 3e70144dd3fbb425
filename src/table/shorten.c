/*
 * shorten.c - see shorten.h.
 */
#include "table/shorten.h"
#include "table/utf8.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS       "\xe2\x80\xa6"
#define ELLIPSIS_BYTES 3
#define MAX_DEPTH      32

/* An angle bracket that opens or closes template arguments: not part of operator< or ->. */
static bool is_angle(const char *text, size_t i)
{
	static const char word[] = "operator";
	if (text[i] != '<' && text[i] != '>')
		return false;
	if (i && text[i] == '>' && text[i - 1] == '-')
		return false;
	size_t start = i;
	while (start &&
	        (text[start - 1] == '<' || text[start - 1] == '>' || text[start - 1] == '='))
		start--;
	size_t n = sizeof word - 1;
	return start < n || memcmp(text + start - n, word, n) != 0;
}

/* Depth of the deepest template argument list, 0 when there is none or brackets do not pair. */
static int template_depth(const char *text, size_t n)
{
	int depth = 0, deepest = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_angle(text, i))
			continue;
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

/* Function arguments: the last round bracket that opens outside all others becomes (…). */
static size_t fold_arguments(char *text, size_t n)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t open = n, close = n;
	int depth = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_angle(text, i))
			depth += text[i] == '<' ? 1 : -1;
		else if (text[i] == '(' && depth++ == 0 &&
		         (n - i < sizeof anonymous - 1 ||
		                 memcmp(text + i, anonymous, sizeof anonymous - 1) != 0))
			open = i;
		else if (text[i] == ')' && --depth == 0)
			close = i;
		if (depth < 0)
			return n;
	}
	if (depth || open == n || close < open + 1 + ELLIPSIS_BYTES || close == n)
		return n;
	memcpy(text + open + 1, ELLIPSIS, ELLIPSIS_BYTES);
	memmove(text + open + 1 + ELLIPSIS_BYTES, text + close, n - close);
	return open + 1 + ELLIPSIS_BYTES + (n - close);
}

/* Bytes of the first so many code points. */
static size_t bytes_of(const char *text, size_t n_points)
{
	const char *at = text;
	while (n_points--)
		ht_utf8_next(&at);
	return (size_t)(at - text);
}

/* Three fifths of the front, the rest from the end. */
static size_t cut_middle(char *text, size_t n, size_t width)
{
	size_t total = ht_utf8_width(text, n), front = (width - 1) * 3 / 5,
	       back = width - 1 - front;
	size_t n_front = bytes_of(text, front);
	size_t from = bytes_of(text, total - back);
	memmove(text + n_front + ELLIPSIS_BYTES, text + from, n - from);
	memcpy(text + n_front, ELLIPSIS, ELLIPSIS_BYTES);
	return n_front + ELLIPSIS_BYTES + (n - from);
}

size_t ht_shorten(const char *text, size_t n, size_t width, char *dst)
{
	memcpy(dst, text, n);
	if (ht_utf8_width(dst, n) <= width)
		return n;
	if (n > 5 && !memcmp(dst, "void ", 5)) {
		n -= 5;
		memmove(dst, dst + 5, n);
	}
	for (int depth = template_depth(dst, n); depth && ht_utf8_width(dst, n) > width; depth--)
		n = fold_templates(dst, n, depth);
	if (ht_utf8_width(dst, n) > width)
		n = fold_arguments(dst, n);
	if (ht_utf8_width(dst, n) > width)
		n = cut_middle(dst, n, width);
	return n;
}
