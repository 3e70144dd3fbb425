/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_files.c - see et_files.h.
 */
#include "et/et_files.h"

#include "attach/kind.h"
#include "base/io.h"
#include "base/list.h"
#include "model/part.h"
#include "read/discover.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct finding {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_vec found; /* struct ht_et_file */
};

static bool is_directory(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum ht_status add(struct finding *f, const char *path, int64_t rank)
{
	if (rank == HT_ET_NO_RANK)
		rank = ht_rank_from_name(path);
	if (rank == HT_NO_RANK)
		rank = HT_ET_NO_RANK;
	struct ht_et_file file = { path, rank };
	return HT_VEC_PUSH(f->ctx->mem, &f->found, struct ht_et_file, file) ? HT_OK
	                                                                    : ht_fail_nomem(f->ctx);
}

/* Whether a file's first bytes are those of an execution trace; what cannot be read is none. */
static bool looks_right(ht_ctx *ctx, const char *path)
{
	char bytes[4096];
	struct ht_source *source;
	struct stat about;
	enum ht_et_format format;
	ht_ctx child;
	size_t n = 0;
	bool is_et = false;
	if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return false;
	ht_ctx_begin_task(ctx, &child);
	if (ht_source_open(&child, path, &source) == HT_OK) {
		is_et = ht_source_read(&child, source, bytes, sizeof bytes, &n) == HT_OK &&
		        ht_et_sniff(bytes, n, n < sizeof bytes, &format);
		ht_source_close(source);
	}
	/* its error is not ours */
	ht_error_clear(&child);
	return ht_ctx_end_task(ctx, &child, HT_OK) == HT_OK && is_et;
}

static int by_name(const void *left, const void *right)
{
	return ht_natural_compare(
	        ((const struct ht_et_file *)left)->path, ((const struct ht_et_file *)right)->path);
}

static enum ht_status add_directory(struct finding *f, const char *path)
{
	size_t first = f->found.n;
	enum ht_status status = HT_OK;
	DIR *directory = opendir(path);
	if (!directory)
		return ht_fail_errno(f->ctx, path, "cannot look into", errno);
	for (const struct dirent *entry; status == HT_OK && (entry = readdir(directory));) {
		if (entry->d_name[0] == '.')
			continue;
		char *name = ht_arena_printf(f->arena, "%s/%s", path, entry->d_name);
		if (!name)
			status = ht_fail_nomem(f->ctx);
		else if (looks_right(f->ctx, name))
			status = add(f, name, HT_ET_NO_RANK);
	}
	closedir(directory);
	if (status == HT_OK && f->found.n == first)
		return ht_fail(f->ctx, HT_MISSING, path, -1,
		        "give the files that ExecutionTraceObserver wrote",
		        "no execution trace in the directory");
	if (f->found.n > first)
		qsort((struct ht_et_file *)f->found.data + first, f->found.n - first,
		        sizeof(struct ht_et_file), by_name);
	return status;
}

/* RANK=SOURCE, unless a file has such a name. */
static enum ht_status add_source(struct finding *f, char *source)
{
	char *equals = strchr(source, '=');
	int64_t rank = HT_ET_NO_RANK;
	if (equals && access(source, F_OK) != 0) {
		*equals = '\0';
		if (ht_parse_i64(source, &rank))
			source = equals + 1;
		else
			*equals = '=';
	}
	return is_directory(source) ? add_directory(f, source) : add(f, source, rank);
}

enum ht_status ht_et_files_find(
        ht_ctx *ctx, const char *list, struct ht_arena *arena, struct ht_et_files *ret_files)
{
	struct finding f = { .ctx = ctx, .arena = arena };
	enum ht_status status = HT_OK;
	for (const char *line = list; *line && status == HT_OK;) {
		size_t n = strcspn(line, "\n");
		char *source = ht_arena_strndup(arena, line, n);
		if (!source)
			status = ht_fail_nomem(ctx);
		else if (n)
			status = add_source(&f, source);
		line += n + (line[n] == '\n');
	}
	size_t n_bytes = f.found.n * sizeof(struct ht_et_file);
	struct ht_et_file *copy = ht_arena_alloc(arena, n_bytes + 1);
	if (status == HT_OK && !copy)
		status = ht_fail_nomem(ctx);
	if (status == HT_OK) {
		if (n_bytes)
			memcpy(copy, f.found.data, n_bytes);
		*ret_files = (struct ht_et_files){ copy, f.found.n };
	}
	ht_vec_free(ctx->mem, &f.found, sizeof(struct ht_et_file));
	return status;
}

/* The file of a rank: the one that says so, or the only one there is when there is only one rank. NULL: none. */
static const struct ht_et_file *file_of(
        const struct ht_et_files *files, int64_t rank, size_t n_ranks)
{
	for (size_t i = 0; i < files->n; i++)
		if (files->list[i].rank == rank)
			return &files->list[i];
	return n_ranks == 1 && files->n == 1 ? &files->list[0] : NULL;
}

enum ht_status ht_et_each(ht_ctx *ctx, const char *list, bool is_strict, struct ht_arena *arena,
        ht_et_fn fn, void *user)
{
	struct ht_et_files files;
	HT_TRY(ht_et_files_find(ctx, list, arena, &files));
	for (size_t i = 0; i < files.n; i++) {
		const struct ht_et_file *file = &files.list[i];
		struct ht_et *et;
		HT_TRY(ht_et_read(ctx, file->path, is_strict, &et));
		enum ht_status status =
		        fn(user, et, file->rank == HT_ET_NO_RANK ? (int64_t)i : file->rank);
		ht_et_free(et);
		HT_TRY(status);
	}
	return HT_OK;
}

enum ht_status ht_et_take(struct ht_run *run, bool is_strict, struct ht_et **ret_et)
{
	const char *list = ht_run_str(run, "et");
	struct ht_et_files files;
	size_t at = 0;
	*ret_et = NULL;
	if (!list) {
		const struct ht_attachment *a = ht_attached_next(
		        run->attached, &ht_attach_kind_execution_trace, run->rank, &at);
		return a ? ht_et_read(run->ctx, a->files[0], is_strict, ret_et) : HT_OK;
	}
	HT_TRY(ht_et_files_find(run->ctx, list, run->scratch, &files));
	const struct ht_et_file *file = file_of(&files, run->rank, run->chosen[run->side].n);
	return file ? ht_et_read(run->ctx, file->path, is_strict, ret_et) : HT_OK;
}

enum ht_status ht_et_finish_ranks(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_et_files files;
	HT_TRY(ht_et_files_find(run->ctx, ht_run_str(run, "et"), run->scratch, &files));
	const struct ht_chosen *chosen = &run->chosen[0];
	uint8_t *is_used = ht_arena_alloc(run->scratch, files.n + 1);
	if (!is_used)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	for (size_t i = 0; i < chosen->n; i++) {
		int64_t rank = ht_run_chosen(run, 0, i)->number;
		const struct ht_et_file *file = file_of(&files, rank, chosen->n);
		if (file)
			is_used[file - files.list] = 1;
		else
			HT_TRY(ht_table_add_warning(
			        table, "rank %" PRId64 " has no execution trace", rank));
	}
	for (size_t i = 0; i < files.n; i++)
		if (!is_used[i])
			HT_TRY(ht_table_add_warning(table,
			        "%s was not looked at: no Kineto trace is of its rank",
			        files.list[i].path));
	return HT_OK;
}
