/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.c - see source_lines.h.
 */
#include "read/source_lines.h"

#include "read/wildcard.h"

#include <stdlib.h>
#include <string.h>

const char *ht_source_after_rank(const char *text, int64_t *ret_rank)
{
	size_t n_digits = strspn(text, "0123456789");
	if (!n_digits || n_digits > 9 || text[n_digits] != '=' || !text[n_digits + 1])
		return NULL;
	*ret_rank = strtol(text, NULL, 10);
	return text + n_digits + 1;
}

bool ht_source_next_line(char **rest, char **ret_line)
{
	char *line = *rest;
	if (!*line)
		return false;
	char *end = line + strcspn(line, "\n");
	*rest = *end ? end + 1 : end;
	*end = '\0';
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
		end[-1] = '\0';
	if (*line == '#')
		*line = '\0';
	*ret_line = line;
	return true;
}

/* A line that can be a path by its form; n bytes. JSON, markup and binary data cannot. */
static bool is_path_line(const char *line, size_t n)
{
	if (n >= HT_MAX_PATH_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' ? !strchr("\t\r", line[i])
		                                 : line[i] == 0x7f || strchr("\"{}<>|", line[i]))
			return false;
	return true;
}

bool ht_source_has_path_lines(const char *text, size_t n)
{
	for (const char *end = text + n, *line = text; line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		if (memchr(line, 0, (size_t)(next - line)) ||
		        !is_path_line(line, (size_t)(next - line)))
			return false;
		line = next + 1;
	}
	return true;
}
