/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.c - what the names of trace files tell: their order and their rank.
 */
#include "read/file_name.h"

#include "base/text_compare.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

const char *ht_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool ht_has_database_name(const char *path)
{
	return ht_text_ends(path, ".db") || ht_text_ends(path, ".sqlite") ||
	       ht_text_ends(path, ".sqlite3");
}

bool ht_is_summed_form(const char *path, const char *other)
{
	static const char raw[] = ".raw.json";
	size_t n = strlen(path);
	n -= ht_text_ends(path, ".gz") ? 3 : 0;
	if (n < 5 || memcmp(path + n - 5, ".json", 5) != 0)
		return false;
	return !strncmp(other, path, n - 5) && !strncmp(other + n - 5, raw, sizeof raw - 1);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The number after word in name[0, n), with at most one sign between; else HT_NO_RANK. The word must
 * not be the end of a longer one. */
static int64_t number_after(const char *name, size_t n, const char *word)
{
	size_t n_word = strlen(word);
	for (size_t i = 0; i + n_word < n; i++) {
		if (strncasecmp(name + i, word, n_word) || (i && is_letter(name[i - 1])))
			continue;
		size_t at = i + n_word;
		if (at < n && strchr("-_=:.[( ", name[at]))
			at++;
		int64_t number = 0;
		size_t n_digits = 0;
		for (; at < n && is_digit(name[at]) && n_digits < 10; at++, n_digits++)
			number = number * 10 + (name[at] - '0');
		/* Longer ones are times and the like. */
		if (n_digits && n_digits < 10)
			return number;
	}
	return HT_NO_RANK;
}

int64_t ht_rank_from_name(const char *path)
{
	size_t end = strlen(path);
	for (int level = 0; level < 3 && end; level++) {
		size_t start = end;
		while (start && path[start - 1] != '/')
			start--;
		int64_t rank = number_after(path + start, end - start, "rank");
		if (rank == HT_NO_RANK)
			rank = number_after(path + start, end - start, "worker");
		if (rank != HT_NO_RANK)
			return rank;
		for (end = start; end && path[end - 1] == '/';)
			end--;
	}
	return HT_NO_RANK;
}
