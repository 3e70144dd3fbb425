/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wildcard.c - see wildcard.h.
 *
 * A pattern is taken part by part, between slashes. The paths that fit so far are a list; a part without
 * wildcards is appended to each, a part with them replaces each by the entries of its directory that fit.
 * Directories that cannot be listed hold nothing that fits.
 */
#include "read/wildcard.h"

#include "base/door.h"
#include "base/io.h"
#include "json/json_text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NAMES ((size_t)1 << 20)

bool ht_has_wildcard(const char *text)
{
	return text[strcspn(text, "*?[")] != '\0';
}

/* The end of the set whose bracket is at p, NULL when it has none: then the bracket is a bracket. */
static const char *set_end(const char *p)
{
	p += p[1] == '!' || p[1] == '^' ? 2 : 1;
	for (const char *first = p; *p && (*p != ']' || p == first); p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p : NULL;
}

static bool in_set(const char *p, const char *end, unsigned char c)
{
	bool negated = p[1] == '!' || p[1] == '^', found = false;
	for (p += negated ? 2 : 1; p < end; p++) {
		if (*p == '\\')
			p++;
		unsigned char low = (unsigned char)*p, high = low;
		if (p[1] == '-' && p + 2 < end) {
			p += p[2] == '\\' && p + 3 < end ? 3 : 2;
			high = (unsigned char)*p;
		}
		found |= c >= low && c <= high;
	}
	return found != negated;
}

/* One step of the pattern against one character; the pattern behind it, or NULL when it does not fit. */
static const char *fit_one(const char *pattern, const char *name, size_t *ret_used)
{
	size_t n = ht_utf8_length(name, strnlen(name, 4));
	const char *end = *pattern == '[' ? set_end(pattern) : NULL;
	*ret_used = 1;
	if (*pattern == '?') {
		*ret_used = n ? n : 1;
		return pattern + 1;
	}
	if (end)
		return in_set(pattern, end, (unsigned char)*name) ? end + 1 : NULL;
	if (*pattern == '\\' && pattern[1])
		pattern++;
	return *pattern == *name ? pattern + 1 : NULL;
}

bool ht_wildcard_fits(const char *pattern, const char *name)
{
	const char *star = NULL,
	           *from = NULL; /* behind the last *, and where its text ends so far */
	if (*name == '.' && *pattern != '.' && strncmp(pattern, "\\.", 2) != 0)
		return false;
	while (*name) {
		size_t used;
		const char *next;
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern && (next = fit_one(pattern, name, &used))) {
			pattern = next;
			name += used;
		} else if (star) {
			/* only the last * needs to take more: earlier ones took the least that works */
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

struct expansion {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_vec paths, next; /* char *: what fits the parts so far, and the next one too */
	size_t n_names;
	bool one; /* at the last part, one is enough */
};

static enum ht_status add_path(struct expansion *e, const char *dir, const char *name)
{
	const char *slash = *dir && dir[strlen(dir) - 1] != '/' ? "/" : "";
	char *path = ht_arena_printf(e->arena, "%s%s%s", dir, slash, name);
	if (!path || !HT_VEC_PUSH(e->ctx->mem, &e->next, char *, path))
		return ht_fail_nomem(e->ctx);
	return HT_OK;
}

static enum ht_status list_fitting(
        struct expansion *e, const char *dir, const char *part, const char *pattern)
{
	DIR *stream = ht_door_list(e->ctx, *dir ? dir : ".");
	if (!stream)
		return errno == ENOMEM ? ht_fail_nomem(e->ctx) : HT_OK;
	enum ht_status status = HT_OK;
	for (struct dirent *item; status == HT_OK && (item = readdir(stream));) {
		if (e->one && e->next.n)
			break;
		if (++e->n_names > MAX_NAMES)
			status = ht_fail(e->ctx, HT_LIMIT, pattern, -1,
			        "name the files or a directory",
			        "the pattern looks at more than %zu names", MAX_NAMES);
		else if (strcmp(item->d_name, ".") && strcmp(item->d_name, "..") &&
		         ht_wildcard_fits(part, item->d_name))
			status = add_path(e, dir, item->d_name);
	}
	closedir(stream);
	return status;
}

/* A part without wildcards, its backslashes resolved. */
static void unescape(char *part)
{
	char *out = part;
	for (; *part; part++) {
		if (*part == '\\' && part[1])
			part++;
		*out++ = *part;
	}
	*out = '\0';
}

static enum ht_status take_part(struct expansion *e, char *part, const char *pattern)
{
	bool wild = ht_has_wildcard(part);
	struct stat st;
	e->next.n = 0;
	if (!wild)
		unescape(part);
	for (size_t i = 0; i < e->paths.n; i++) {
		const char *dir = ((char **)e->paths.data)[i];
		if (wild)
			HT_TRY(list_fitting(e, dir, part, pattern));
		else
			HT_TRY(add_path(e, dir, part));
	}
	struct ht_vec old = e->paths;
	e->paths = e->next;
	e->next = old;
	/* only what exists goes on */
	size_t n = 0;
	char **paths = e->paths.data;
	for (size_t i = 0; i < e->paths.n; i++)
		if (!lstat(paths[i], &st))
			paths[n++] = paths[i];
	e->paths.n = n;
	return HT_OK;
}

static enum ht_status expand(struct expansion *e, const char *pattern, bool one)
{
	char *text = ht_arena_strndup(e->arena, pattern, strlen(pattern));
	char *start = text ? ht_arena_strndup(e->arena, pattern, *pattern == '/') : NULL;
	if (!start || !HT_VEC_PUSH(e->ctx->mem, &e->paths, char *, start))
		return ht_fail_nomem(e->ctx);
	for (char *part = text + strspn(text, "/"); *part && e->paths.n;) {
		char *end = part + strcspn(part, "/"), *after = end + strspn(end, "/");
		bool slash = *end == '/', last = !*after;
		*end = '\0';
		e->one = one && last;
		HT_TRY(take_part(e, part, pattern));
		/* dir/: nothing but directories */
		if (slash && last)
			HT_TRY(take_part(e, end, pattern));
		part = after;
	}
	return HT_OK;
}

enum ht_status ht_wildcard_expand(ht_ctx *ctx, const char *pattern, bool one,
        struct ht_arena *arena, struct ht_vec *ret_paths)
{
	struct expansion e = { .ctx = ctx, .arena = arena };
	if (strlen(pattern) >= HT_MAX_PATH_BYTES)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "name the files or a directory",
		        "a pattern of %zu bytes is too long", strlen(pattern));
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, pattern, "cannot list", EIO);
	enum ht_status status = expand(&e, pattern, one);
	for (size_t i = 0; status == HT_OK && i < e.paths.n; i++)
		if (!HT_VEC_PUSH(ctx->mem, ret_paths, char *, ((char **)e.paths.data)[i]))
			status = ht_fail_nomem(ctx);
	ht_vec_free(ctx->mem, &e.paths, sizeof(char *));
	ht_vec_free(ctx->mem, &e.next, sizeof(char *));
	return status;
}
