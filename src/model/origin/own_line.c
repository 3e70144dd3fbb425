/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_line.c - see own_line.h.
 */
#include "model/origin/own_line.h"

#include "base/arena.h"
#include "base/text_compare.h"
#include "model/run.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* Traces of Windows have the other one. */
static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

/* Has the path of a frame a folder whose name ends like this, or is this: "torch" and no "mytorch"? */
static bool has_folder(const char *path, const char *name, bool is_whole)
{
	size_t n = strlen(name);
	for (const char *at = path; (at = strstr(at, name)); at++)
		if (is_slash(at[n]) && (!is_whole || at == path || is_slash(at[-1])))
			return true;
	return false;
}

/* .../c56k3yxaynoxuqvbmqqn6bum5n7dafbirh67l4zamb6e75p3s5q7.py(486): call: code that Inductor generated. */
static bool is_generated_file(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	const char *end = strstr(name, ".py("), *at = end;
	while (at && at > name && !is_slash(at[-1]))
		at--;
	return at && at[0] == 'c' && end - at == 52 && strspn(at, letters) == 52;
}

static int by_text(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

/* "typing.py(2154): cast", "multiprocessing/connection.py(...": of the standard library, without a folder before it. */
static bool is_standard_file(const char *name)
{
#define STANDARD_MODULE(name) name,
	static const char *const modules[] = {
#include "model/origin/standard_modules.def"
	};
#undef STANDARD_MODULE
	char module[32];
	size_t n = strcspn(name, "/\\.(");
	if (n >= sizeof module || (name[n] == '.' && !ht_text_starts(name + n, ".py(")))
		return false;
	memcpy(module, name, n);
	module[n] = '\0';
	return bsearch(module, modules, HT_COUNT(modules), sizeof *modules, by_text) != NULL;
}

static bool is_library_frame(const char *name)
{
	return name[0] == '<' || ht_text_starts(name, "nn.Module") || is_standard_file(name) ||
	       has_folder(name, "torch", true) || has_folder(name, "site-packages", false) ||
	       has_folder(name, "dist-packages", false) || strstr(name, "lib/python") ||
	       strstr(name, "lib\\python") || is_generated_file(name);
}

bool ht_is_own_line(const char *name)
{
	return !is_library_frame(name) && strchr(name, '(');
}

enum ht_status ht_own_lines_make(
        struct ht_run *run, const struct ht_trace *t, struct ht_own_lines *ret_own)
{
	enum { UNSEEN, LIBRARY, OWN };
	uint8_t *seen = NULL;
	if (ht_n_of_kind(t, HT_KIND_PYTHON)) {
		seen = ht_arena_alloc(run->scratch, t->n_string_offsets + 1);
		if (!seen)
			return ht_fail_nomem(run->ctx);
	}
	for (uint32_t row = 0; seen && row < ht_n_events(t); row++) {
		uint32_t id = t->name[row];
		if (t->kind[row] == HT_KIND_PYTHON && id != HT_NO_STR && seen[id] == UNSEEN)
			seen[id] = ht_is_own_line(ht_str(t, id)) ? OWN : LIBRARY;
	}
	for (size_t id = 0; seen && id <= t->n_string_offsets; id++)
		seen[id] = seen[id] == OWN;
	ret_own->is_own = seen;
	return HT_OK;
}

bool ht_own_lines_has(const struct ht_own_lines *own, const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_PYTHON && t->name[row] != HT_NO_STR &&
	       own->is_own[t->name[row]];
}
