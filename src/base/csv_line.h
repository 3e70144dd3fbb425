/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_line.h - lines of plain CSV: cells by commas, quotes around a cell that has some.
 */
#ifndef HT_BASE_CSV_LINE_H
#define HT_BASE_CSV_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Split a line in place; quotes around a cell go, a quote inside one is not known. False: more cells than there is room for, or a
 * quote that does not close. */
static inline bool ht_csv_split(char *line, const char **ret_cells, size_t room, size_t *ret_n)
{
	*ret_n = 0;
	for (char *at = line;; at++) {
		bool quoted = *at == '"';
		char *end = quoted ? strchr(at + 1, '"') : at + strcspn(at, ",");
		if (*ret_n == room || !end)
			return false;
		ret_cells[(*ret_n)++] = at + quoted;
		at = end + quoted;
		bool more = *at == ',';
		if (!more && *at)
			return false;
		*end = '\0';
		*at = '\0';
		if (!more)
			return true;
	}
}

/* The next line of a text, without its end; NULL after the last one. */
static inline char *ht_csv_line(char **text)
{
	char *line = *text;
	if (!line)
		return NULL;
	char *end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*text = end ? end + 1 : NULL;
	size_t n = strlen(line);
	if (n && line[n - 1] == '\r')
		line[n - 1] = '\0';
	return line;
}

#endif
