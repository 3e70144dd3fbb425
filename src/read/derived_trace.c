/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived_trace.c - see derived_trace.h.
 */
#include "read/derived_trace.h"

#include "json/json_text.h"
#include "read/file_name.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

bool ht_derived_trace_source(struct ht_arena *arena, const char *path, const char *text, size_t n,
        const char **ret_source)
{
	static const char start[] = "{\"" HT_DERIVED_FROM_KEY "\":\"";
	const size_t n_start = sizeof start - 1;
	*ret_source = NULL;
	if (n < n_start || memcmp(text, start, n_start) != 0)
		return true;
	const char *body = text + n_start;
	size_t n_body = 0, n_bad;
	while (n_start + n_body < n && body[n_body] != '"')
		n_body += body[n_body] == '\\' ? 2 : 1;
	if (n_start + n_body >= n)
		return true;
	size_t n_dir = (size_t)(ht_file_name(path) - path);
	char *source = ht_arena_alloc(arena, n_dir + 3 * n_body + 1);
	if (!source)
		return false;
	memcpy(source, path, n_dir);
	source[n_dir + ht_json_decode(body, n_body, source + n_dir, &n_bad)] = '\0';
	*ret_source = source;
	return true;
}
