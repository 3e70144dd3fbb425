/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c - see sources.h.
 */
#include "sources.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *source_path(const char *source)
{
	struct stat st;
	size_t n_digits = strspn(source, "0123456789");
	bool is_ranked = n_digits > 0 && source[n_digits] == '=' && stat(source, &st) != 0;
	return is_ranked ? source + n_digits + 1 : source;
}

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *sources_root(const char *const *sources, size_t n_sources)
{
	const char *first = source_path(sources[0]);
	size_t n = strlen(first);
	if (n_sources == 1 && is_directory(first)) {
		char *root = malloc(n + 2);
		if (root != NULL)
			snprintf(root, n + 2, "%s%s", first,
			        n > 0 && first[n - 1] == '/' ? "" : "/");
		return root;
	}
	for (size_t i = 1; i < n_sources; i++) {
		const char *other = source_path(sources[i]);
		size_t k = 0;
		while (k < n && other[k] == first[k])
			k++;
		n = k;
	}
	while (n > 0 && first[n - 1] != '/')
		n--;
	return strndup(first, n);
}
