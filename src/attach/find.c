/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - see find.h.
 *
 * What a file is, is told by its first decompressed bytes. A file that is named must be of a kind; in folders the others
 * are passed over. Folders are walked in natural order, bounded in depth and number, and each once: links may lead to
 * folders elsewhere, but also back to where they are.
 */
#include "attach/find.h"

#include "attach/kind.h"
#include "base/door.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/io.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/platform.h"
#include "read/discover.h"
#include "read/sniff.h"
#include "read/wildcard.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEPTH 8
#define MAX_FILES 200000

static const struct ht_attach_kind *const kinds[] = {
#define ATTACH(x) &ht_attach_kind_##x,
#include "attach/attach.def"
#undef ATTACH
};

/* One source. */
struct source {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_vec *found; /* struct ht_attachment */
	const char *path;
	int64_t rank;
	size_t first; /* where its attachments begin */
	size_t n_looked_at;
	bool is_lenient;              /* nobody named it */
	struct ht_text_table folders; /* that were walked: bytes of struct place */
};

/* What a folder is, by whichever path. */
struct place {
	uint64_t device, inode;
};

static bool is_directory(const ht_ctx *ctx, const char *path, struct place *ret_place)
{
	struct stat about;
	if (ht_door_stat(ctx, path, &about) || !S_ISDIR(about.st_mode))
		return false;
	*ret_place = (struct place){ (uint64_t)about.st_dev, (uint64_t)about.st_ino };
	return true;
}

static enum ht_status count(struct source *s)
{
	return ++s->n_looked_at <= MAX_FILES
	               ? HT_OK
	               : ht_fail(s->ctx, HT_LIMIT, s->path, -1, "attach a smaller folder",
	                         "more than %d files in a folder to attach", MAX_FILES);
}

/* NULL: no kind knows the file. */
static enum ht_status find_kind(
        ht_ctx *ctx, const char *path, const struct ht_attach_kind **ret_kind)
{
	struct ht_attach_head head = { .path = path };
	struct ht_source *source;
	*ret_kind = NULL;
	HT_TRY(ht_source_open(ctx, path, &source));
	enum ht_status status = ht_source_peek(ctx, source, HT_SNIFF_BYTES, &head.text, &head.n);
	head.is_all = head.n < HT_SNIFF_BYTES;
	for (size_t i = 0; status == HT_OK && !*ret_kind && i < HT_COUNT(kinds); i++)
		if (kinds[i]->sniff(&head))
			*ret_kind = kinds[i];
	ht_source_close(source);
	return status;
}

/* Files of a kind that gathers join the attachment of their source. */
static enum ht_status gather(
        struct source *s, const struct ht_attach_kind *kind, const char *path, bool *ret_done)
{
	struct ht_attachment *list = s->found->data;
	*ret_done = false;
	for (size_t i = s->first; kind->gathers && i < s->found->n; i++) {
		struct ht_attachment *a = &list[i];
		if (a->kind != kind)
			continue;
		/* room doubles: the list is copied when its length is a power of two */
		if (!(a->n_files & (a->n_files - 1))) {
			const char **more = ht_arena_alloc(s->arena, 2 * a->n_files * sizeof *more);
			if (!more)
				return ht_fail_nomem(s->ctx);
			memcpy(more, a->files, a->n_files * sizeof *more);
			a->files = more;
		}
		((const char **)(uintptr_t)a->files)[a->n_files++] = path;
		a->path = s->path;
		*ret_done = true;
	}
	return HT_OK;
}

static enum ht_status add(struct source *s, const struct ht_attach_kind *kind, const char *path)
{
	bool is_done;
	HT_TRY(gather(s, kind, path, &is_done));
	if (is_done)
		return HT_OK;
	const char **files = ht_arena_alloc(s->arena, sizeof *files);
	if (!files)
		return ht_fail_nomem(s->ctx);
	files[0] = path;
	int64_t named = ht_rank_from_name(path);
	struct ht_attachment a = { .kind = kind,
		.path = path,
		.files = files,
		.n_files = 1,
		.rank = s->rank != HT_NO_I64  ? s->rank
		        : named != HT_NO_RANK ? named
		                              : HT_NO_I64 };
	return HT_VEC_PUSH(s->ctx->mem, s->found, struct ht_attachment, a) ? HT_OK
	                                                                   : ht_fail_nomem(s->ctx);
}

static enum ht_status refuse(struct source *s, const char *path)
{
	char list[512];
	size_t n = 0;
	for (size_t i = 0; i < HT_COUNT(kinds) && n < sizeof list; i++)
		n += (size_t)snprintf(
		        list + n, sizeof list - n, "%s%s", i ? ", " : "", kinds[i]->what);
	return ht_fail(s->ctx, HT_FORMAT, path, -1,
	        ht_arena_printf(s->arena, "attach one of: %s", list),
	        "nothing that can be attached");
}

/* What cannot be read in a folder is passed over, like what is of no kind. */
static enum ht_status look_at_file(struct source *s, const char *path, bool is_named)
{
	const struct ht_attach_kind *kind = NULL;
	ht_ctx child;
	struct stat about;
	HT_TRY(count(s));
	if (is_named) {
		HT_TRY(find_kind(s->ctx, path, &kind));
		return kind ? add(s, kind, path) : refuse(s, path);
	}
	if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return HT_OK;
	ht_ctx_begin_task(s->ctx, &child);
	enum ht_status status = find_kind(&child, path, &kind);
	if (status != HT_NOMEM && status != HT_CANCELLED)
		status = HT_OK;
	if (status == HT_OK)
		ht_error_clear(&child);
	HT_TRY(ht_ctx_end_task(s->ctx, &child, status));
	return kind ? add(s, kind, path) : HT_OK;
}

/* Paths of what is in a folder, in natural order. */
static enum ht_status list_folder(struct source *s, const char *path, struct ht_vec *ret_paths)
{
	DIR *folder = ht_door_list(s->ctx, path);
	enum ht_status status = HT_OK;
	if (!folder)
		return ht_fail_errno(s->ctx, path, "cannot look into", errno);
	for (const struct dirent *entry; status == HT_OK && (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		char *name = ht_arena_printf(s->arena, "%s/%s", path, entry->d_name);
		if (!name || !HT_VEC_PUSH(s->ctx->mem, ret_paths, char *, name))
			status = ht_fail_nomem(s->ctx);
		else if (ret_paths->n > MAX_FILES)
			status = ht_fail(s->ctx, HT_LIMIT, path, -1, "attach a smaller folder",
			        "more than %d files in a folder to attach", MAX_FILES);
	}
	closedir(folder);
	if (ret_paths->n)
		qsort(ret_paths->data, ret_paths->n, sizeof(char *), ht_natural_compare_names);
	return status;
}

/* Note that a folder is walked. */
static enum ht_status enter(struct source *s, const struct place *place, bool *ret_is_new)
{
	struct ht_text text = { .n = sizeof *place, .hash = ht_hash(place, sizeof *place) };
	*ret_is_new = false;
	HT_TRY(count(s));
	if (ht_text_table_find(&s->folders, (const char *)place, text.n, text.hash))
		return HT_OK;
	text.bytes = ht_arena_strndup(s->arena, (const char *)place, text.n);
	if (!text.bytes || !ht_text_table_put(s->ctx->mem, &s->folders, &text))
		return ht_fail_nomem(s->ctx);
	*ret_is_new = true;
	return HT_OK;
}

static enum ht_status walk(struct source *s, const char *path, struct place place, int depth)
{
	struct ht_vec paths = { 0 };
	bool is_new;
	HT_TRY(enter(s, &place, &is_new));
	enum ht_status status = is_new ? list_folder(s, path, &paths) : HT_OK;
	for (size_t i = 0; status == HT_OK && i < paths.n; i++) {
		const char *name = ((char **)paths.data)[i];
		if (!is_directory(s->ctx, name, &place))
			status = look_at_file(s, name, false);
		else if (depth < MAX_DEPTH)
			status = walk(s, name, place, depth + 1);
	}
	ht_vec_free(s->ctx->mem, &paths, sizeof(char *));
	return status;
}

static enum ht_status look_at(struct source *s)
{
	struct place place;
	s->first = s->found->n;
	if (!is_directory(s->ctx, s->path, &place))
		return look_at_file(s, s->path, !s->is_lenient);
	enum ht_status status = walk(s, s->path, place, 0);
	ht_mem_free(s->ctx->mem, s->folders.slots, s->folders.cap * sizeof *s->folders.slots);
	s->folders = (struct ht_text_table){ 0 };
	HT_TRY(status);
	return s->found->n > s->first || s->is_lenient ? HT_OK : refuse(s, s->path);
}

/* RANK=SOURCE, unless a file has such a name. */
static void split_rank(struct source *s, char *text)
{
	char *equals = strchr(text, '=');
	s->path = text;
	s->rank = HT_NO_I64;
	if (!equals || access(text, F_OK) == 0)
		return;
	*equals = '\0';
	if (ht_parse_i64(text, &s->rank))
		s->path = equals + 1;
	else
		*equals = '=';
}

enum ht_status ht_attach_find(
        ht_ctx *ctx, const char *list, struct ht_arena *arena, struct ht_vec *found)
{
	for (const char *line = list; *line;) {
		struct source s = { .ctx = ctx, .arena = arena, .found = found };
		size_t n = strcspn(line, "\n");
		char *text = ht_arena_strndup(arena, line, n);
		if (!text)
			return ht_fail_nomem(ctx);
		split_rank(&s, text);
		if (n)
			HT_TRY(look_at(&s));
		line += n + (line[n] == '\n');
	}
	return HT_OK;
}

/* Folders in which nothing fits a pattern, so that each of thousands of files in one does not list it again: hashes of
 * the folder as it was then, and the pattern. A change of the folder changes its time, except within a moment. */
#define N_KNOWN    256
#define SETTLED_NS ((int64_t)2000000000)
static _Atomic uint64_t known_empty[N_KNOWN];

/* 0: do not rely on it. */
static uint64_t folder_key(const ht_ctx *ctx, const char *whole, const char *pattern, size_t n)
{
	struct stat st;
	struct timespec now;
	char folder[HT_MAX_PATH_BYTES];
	const char *slash = strrchr(whole, '/');
	size_t n_folder = slash ? (size_t)(slash - whole) : 0;
	if (!n_folder || n_folder >= sizeof folder)
		return 0;
	memcpy(folder, whole, n_folder);
	folder[n_folder] = '\0';
	if (ht_door_stat(ctx, folder, &st) || clock_gettime(CLOCK_REALTIME, &now))
		return 0;
	struct timespec changed = HT_STAT_MTIME(&st);
	int64_t changed_ns = (int64_t)changed.tv_sec * 1000000000 + changed.tv_nsec;
	if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec - changed_ns < SETTLED_NS)
		return 0;
	uint64_t place = ht_hash_mix((uint64_t)st.st_dev, (uint64_t)st.st_ino);
	return ht_hash_mix(ht_hash_mix(place, (uint64_t)changed_ns), ht_hash(pattern, n)) | 1;
}

/* One pattern of a kind, from the folder of the trace on. */
static enum ht_status look_for(struct source *s, const char *folder, const char *pattern, size_t n)
{
	struct ht_vec paths = { 0 };
	char *whole = ht_arena_printf(s->arena, "%s/%.*s", folder, (int)n, pattern);
	if (!whole)
		return ht_fail_nomem(s->ctx);
	uint64_t key = folder_key(s->ctx, whole, pattern, n);
	if (key && atomic_load(&known_empty[key / 2 % N_KNOWN]) == key)
		return HT_OK;
	enum ht_status status = ht_wildcard_expand(s->ctx, whole, false, s->arena, &paths);
	if (status == HT_OK && !paths.n && key)
		atomic_store(&known_empty[key / 2 % N_KNOWN], key);
	if (status == HT_OK && paths.n)
		qsort(paths.data, paths.n, sizeof(char *), ht_natural_compare_names);
	for (size_t i = 0; status == HT_OK && i < paths.n; i++) {
		s->path = ((char **)paths.data)[i];
		status = look_at(s);
	}
	ht_vec_free(s->ctx->mem, &paths, sizeof(char *));
	return status;
}

enum ht_status ht_attach_find_beside(
        ht_ctx *ctx, const char *trace_path, struct ht_arena *arena, struct ht_vec *found)
{
	const char *slash = strrchr(trace_path, '/');
	char *folder = slash ? ht_arena_strndup(arena, trace_path, (size_t)(slash - trace_path))
	                     : ht_arena_strndup(arena, ".", 1);
	if (!folder)
		return ht_fail_nomem(ctx);
	if (slash == trace_path)
		folder = "/.";
	for (size_t i = 0; i < HT_COUNT(kinds); i++) {
		struct source s = { .ctx = ctx,
			.arena = arena,
			.found = found,
			.rank = HT_NO_I64,
			.is_lenient = true };
		for (const char *at = kinds[i]->patterns; at && *at;) {
			size_t n = strcspn(at, "|");
			HT_TRY(look_for(&s, folder, at, n));
			at += n + (at[n] == '|');
		}
	}
	return HT_OK;
}
