/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_files.c - see rank_files.h.
 */
#include "read/rank_files.h"

#include "base/door.h"
#include "base/io.h"
#include "base/text_compare.h"
#include "base/natural.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum role { ROLE_NONE, ROLE_TIMELINE, ROLE_KERNELS, ROLE_TABLE, ROLE_DB, ROLE_ABOUT };

struct file {
	const char *path;
	enum role role;
};

/* Is the last part of the path that name? */
static bool path_ends_in(const char *path, const char *name)
{
	size_t n = strlen(path), m = strlen(name);
	while (n && path[n - 1] == '/')
		n--;
	return n >= m && !memcmp(path + n - m, name, m) && (n == m || path[n - m - 1] == '/');
}

/* What a file of ASCEND_PROFILER_OUTPUT is for. */
static enum role output_role(const char *name)
{
	if (!strcmp(name, "trace_view.json") || !strcmp(name, "trace_view.json.gz") ||
	        !strcmp(name, "trace_view.json.zst"))
		return ROLE_TIMELINE;
	if (ht_text_starts(name, "kernel_details.csv"))
		return ROLE_KERNELS;
	if (ht_text_ends(name, ".csv") || ht_text_ends(name, ".csv.gz") ||
	        ht_text_ends(name, ".csv.zst") || ht_text_starts(name, "communication.json") ||
	        ht_text_starts(name, "communication_matrix.json"))
		return ROLE_TABLE;
	if (!strcmp(name, "analysis.db") ||
	        (ht_text_starts(name, "ascend_pytorch_profiler") && ht_text_ends(name, ".db")))
		return ROLE_DB;
	return ROLE_NONE;
}

/* And of the directory around it. */
static enum role about_role(const char *name)
{
	bool about =
	        ht_text_starts(name, "profiler_info") || ht_text_starts(name, "profiler_metadata");
	return about && ht_text_ends(name, ".json") ? ROLE_ABOUT : ROLE_NONE;
}

static enum ht_status add_files(ht_ctx *ctx, const char *dir, enum role (*role_of)(const char *),
        struct ht_arena *arena, struct ht_vec *files)
{
	DIR *stream = ht_io_should_fail(ctx) ? (errno = EIO, NULL) : ht_door_list(ctx, dir);
	if (!stream)
		return ht_fail_errno(ctx, dir, "cannot list the directory", errno);
	enum ht_status status = HT_OK;
	for (struct dirent *item; status == HT_OK && (item = readdir(stream));) {
		struct file file = { .role = role_of(item->d_name) };
		struct stat st;
		/* what is hidden is not meant: an editor keeps its copies so */
		if (file.role == ROLE_NONE || item->d_name[0] == '.')
			continue;
		file.path = ht_arena_printf(arena, "%s/%s", dir, item->d_name);
		if (!file.path)
			status = ht_fail_nomem(ctx);
		else if (ht_door_stat(ctx, file.path, &st) < 0)
			status = errno == EXDEV
			                 ? ht_fail_errno(ctx, file.path, "cannot open", errno)
			                 : HT_OK;
		else if (S_ISREG(st.st_mode) && !HT_VEC_PUSH(ctx->mem, files, struct file, file))
			status = ht_fail_nomem(ctx);
	}
	closedir(stream);
	return status;
}

static int compare_files(const void *x, const void *y)
{
	const struct file *a = x, *b = y;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return ht_natural_compare(a->path, b->path);
}

static bool is_dir(const ht_ctx *ctx, const char *path)
{
	struct stat st;
	return !ht_door_stat(ctx, path, &st) && S_ISDIR(st.st_mode);
}

/* dir/name, without doubled slashes. */
static char *join(struct ht_arena *arena, const char *dir, const char *name)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	return ht_arena_printf(arena, "%.*s/%s", (int)n, dir, name);
}

static enum ht_status choose(ht_ctx *ctx, const struct ht_vec *files, bool prefer_db,
        struct ht_arena *arena, struct ht_rank_files *ret)
{
	const struct file *list = files->data;
	ret->paths = ht_arena_alloc(arena, (files->n + 1) * sizeof *ret->paths);
	if (!ret->paths)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < files->n; i++) {
		ret->has_db |= list[i].role == ROLE_DB;
		ret->has_text |= list[i].role != ROLE_DB && list[i].role != ROLE_ABOUT;
	}
	bool from_db = ret->has_db && (prefer_db || !ret->has_text);
	if (!ret->has_db && !ret->has_text)
		return HT_OK;
	ret->is_text = !from_db;
	for (size_t i = 0; i < files->n; i++)
		if (list[i].role == ROLE_ABOUT || (list[i].role == ROLE_DB) == from_db)
			ret->paths[ret->n++] = list[i].path;
	for (size_t i = 0; i < files->n; i++)
		if (list[i].role != ROLE_ABOUT && (list[i].role == ROLE_DB) != from_db)
			ret->paths[ret->n + ret->n_others++] = list[i].path;
	ret->only_timeline = files->n == 1 && list[0].role == ROLE_TIMELINE;
	return HT_OK;
}

enum ht_status ht_rank_files_list(ht_ctx *ctx, const char *dir, bool prefer_db,
        struct ht_arena *arena, struct ht_rank_files *ret_files)
{
	*ret_files = (struct ht_rank_files){ 0 };
	bool is_output = path_ends_in(dir, HT_ASCEND_OUTPUT);
	char *output = is_output ? join(arena, dir, ".") : join(arena, dir, HT_ASCEND_OUTPUT);
	char *around = is_output ? join(arena, dir, "..") : join(arena, dir, ".");
	if (!output || !around)
		return ht_fail_nomem(ctx);
	if (is_output)
		output[strlen(output) - 2] = '\0';
	else
		around[strlen(around) - 2] = '\0';
	if (!is_dir(ctx, output))
		return HT_OK;
	struct ht_vec files = { 0 };
	enum ht_status status = add_files(ctx, output, output_role, arena, &files);
	if (status == HT_OK)
		status = add_files(ctx, around, about_role, arena, &files);
	if (files.n)
		qsort(files.data, files.n, sizeof(struct file), compare_files);
	if (status == HT_OK)
		status = choose(ctx, &files, prefer_db, arena, ret_files);
	ht_vec_free(ctx->mem, &files, sizeof(struct file));
	return status;
}
