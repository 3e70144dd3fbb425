/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_forms.c - see raw_forms.h. Sorted once and looked up, so that many files in a folder cost no more each.
 */
#include "read/raw_forms.h"

#include "base/search.h"
#include "base/text_compare.h"
#include "read/file_name.h"

#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool ht_raw_forms_list(struct ht_raw_forms *raw, struct ht_arena *arena,
        const struct ht_skipped *files, size_t n_files)
{
	const char **paths = ht_arena_room(arena, (n_files + 1) * sizeof *paths);
	*raw = (struct ht_raw_forms){ .arena = arena, .paths = paths };
	for (size_t i = 0; paths && i < n_files; i++)
		if (strstr(files[i].path, ".raw.json"))
			paths[raw->n++] = files[i].path;
	if (paths)
		qsort(paths, raw->n, sizeof *paths, compare_texts);
	return paths != NULL;
}

bool ht_raw_forms_has(const struct ht_raw_forms *raw, const char *path)
{
	size_t n = strlen(path) - (ht_text_ends(path, ".gz") ? 3 : 0);
	/* the least text that such a name can start with */
	const char *first =
	        n > 5 ? ht_arena_printf(raw->arena, "%.*s.raw.json", (int)n - 5, path) : NULL;
	if (!first)
		return false;
	size_t i = HT_LOWER_BOUND(at, raw->n, strcmp(raw->paths[at], first) < 0);
	return i < raw->n && ht_is_summed_form(path, raw->paths[i]);
}
