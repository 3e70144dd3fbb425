/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.c - see discover.h.
 *
 * Each source adds to one growing list; what a directory or glob turns up passes consider(), which
 * looks into the file. At the end the list is sorted and files that came up twice are dropped.
 */
#include "read/discover.h"

#include "base/door.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/search.h"
#include "read/lone_files.h"
#include "read/look.h"
#include "read/part_path.h"
#include "read/rank_files.h"
#include "read/raw_forms.h"
#include "read/reader.h"
#include "read/source_lines.h"
#include "read/wildcard.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST_MAX_BYTES     ((size_t)16 << 20)
#define LIST_MAX_SOURCES   65536
#define MAX_DEPTH          64
#define MAX_NAME_NOTES     10 /* per directory; the rest are counted */
#define PEEK_MAX_ENTRIES   20000
#define LOOKS_PER_PROGRESS 1024

/* A file that will be read, with what tells whether two paths are the same file. */
struct entry {
	struct ht_found found;
	dev_t device;
	ino_t inode;
	int64_t part;             /* of a file of several ranks, else HT_NO_RANK */
	size_t i_path;            /* place in the order of paths */
	const char *derived_from; /* the file it was made from by drawing into it; NULL: none */
	bool is_dropped;
};

struct finder {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_vec entries;  /* struct entry */
	struct ht_vec notes;    /* const char * */
	struct ht_vec skipped;  /* struct ht_skipped */
	struct ht_vec missing;  /* const char * */
	struct entry **by_file; /* all entries by device and inode, once all are found */
	size_t n_skipped, n_looked_at;
	char *sniff_buf; /* HT_SNIFF_BYTES */
	bool recursive;
	bool is_live; /* files come and go meanwhile */
	bool partial; /* what cannot be read is done without */
};

static enum ht_status add_source(
        struct finder *finder, const char *base, const char *text, bool may_list);

static struct entry *entries_of(const struct finder *finder)
{
	return finder->entries.data;
}

static enum ht_status note(struct finder *finder, const char *text)
{
	if (!text || !HT_VEC_PUSH(finder->ctx->mem, &finder->notes, const char *, text))
		return ht_fail_nomem(finder->ctx);
	return HT_OK;
}

static enum ht_status note_skipped(struct finder *finder, const char *name, const char *why)
{
	finder->n_skipped++;
	return note(finder, ht_arena_printf(finder->arena, "skipped %s: %s", name, why));
}

static enum ht_status add_entry(struct finder *finder, const char *path, dev_t device, ino_t inode)
{
	struct entry entry = {
		.found = { path, HT_NO_RANK }, .device = device, .inode = inode, .part = HT_NO_RANK
	};
	if (!HT_VEC_PUSH(finder->ctx->mem, &finder->entries, struct entry, entry))
		return ht_fail_nomem(finder->ctx);
	return HT_OK;
}

/* dir/name in the arena; a NULL dir or an absolute name leaves the name alone. */
static char *join(struct finder *finder, const char *dir, const char *name)
{
	if (!dir || name[0] == '/')
		return ht_arena_strndup(finder->arena, name, strlen(name));
	size_t n = strlen(dir);
	return ht_arena_printf(finder->arena, n && dir[n - 1] == '/' ? "%s%s" : "%s/%s", dir, name);
}

static bool exists(const char *path)
{
	struct stat st;
	return !stat(path, &st);
}

static enum ht_status look_into(struct finder *finder, const char *path, struct ht_look *ret_look)
{
	return ht_look_into(finder->ctx, path, finder->arena, finder->sniff_buf, ret_look);
}

/* Done without when that was asked for: what cannot be looked into. */
static enum ht_status miss(struct finder *finder, const char *path, enum ht_status status)
{
	if (!finder->partial || !ht_is_missing(status))
		return status;
	const char *text = ht_missing_text(finder->ctx, finder->arena, path);
	if (!text || !HT_VEC_PUSH(finder->ctx->mem, &finder->missing, const char *, text))
		return ht_fail_nomem(finder->ctx);
	ht_error_clear(finder->ctx);
	return HT_OK;
}

static enum ht_status remember_skipped(struct finder *finder, const char *path, const char *why)
{
	struct ht_skipped skipped = { path, why };
	if (!HT_VEC_PUSH(finder->ctx->mem, &finder->skipped, struct ht_skipped, skipped))
		return ht_fail_nomem(finder->ctx);
	return HT_OK;
}

/* Of directories that are written to: pass over what cannot be looked at, and say so. */
static enum ht_status forgive(struct finder *finder, enum ht_status status, const char *path)
{
	ht_ctx *ctx = finder->ctx;
	if (!finder->is_live || (status != HT_IO && status != HT_MISSING))
		return status;
	char *why = ht_arena_strndup(finder->arena, ctx->error.message, strlen(ctx->error.message));
	ht_error_clear(ctx);
	if (status == HT_MISSING)
		return HT_OK;
	return why ? remember_skipped(finder, path, why) : ht_fail_nomem(ctx);
}

static enum ht_status add_part(
        struct finder *finder, const char *path, int64_t part, const struct stat *st)
{
	char *name = ht_arena_printf(finder->arena, "%s#%lld", path, (long long)part);
	if (!name)
		return ht_fail_nomem(finder->ctx);
	HT_TRY(add_entry(finder, name, st->st_dev, st->st_ino));
	entries_of(finder)[finder->entries.n - 1].part = part;
	return HT_OK;
}

static enum ht_status add_looked_at(
        struct finder *finder, const char *path, const struct stat *st, const struct ht_look *look)
{
	int64_t *parts;
	size_t n = 0;
	if (look->reader && look->reader->parts)
		HT_TRY(look->reader->parts(finder->ctx, path, finder->arena, &parts, &n));
	for (size_t i = 0; i < n; i++)
		HT_TRY(add_part(finder, path, parts[i], st));
	if (n)
		return HT_OK;
	HT_TRY(add_entry(finder, path, st->st_dev, st->st_ino));
	entries_of(finder)[finder->entries.n - 1].derived_from = look->derived_from;
	return HT_OK;
}

/* A file that a directory or glob turned up: take it when it is a trace, else say why not. */
static enum ht_status consider(
        struct finder *finder, const char *path, const char *shown, const struct stat *st)
{
	struct ht_look look;
	if (!S_ISREG(st->st_mode))
		return note_skipped(finder, shown, "not a regular file");
	enum ht_status status = look_into(finder, path, &look);
	if (status != HT_OK)
		return miss(finder, path, status);
	if (!look.reader || look.reader->by_name_only) {
		HT_TRY(remember_skipped(finder, path, look.what));
		return note_skipped(finder, shown, look.what);
	}
	return add_looked_at(finder, path, st, &look);
}

/* The visible names in a directory, sorted. */
static enum ht_status list_names(struct finder *finder, const char *dir, struct ht_vec *names)
{
	ht_ctx *ctx = finder->ctx;
	DIR *stream = ht_io_should_fail(ctx) ? (errno = EIO, NULL) : ht_door_list(ctx, dir);
	if (!stream)
		return ht_fail_errno(ctx, dir, "cannot list the directory", errno);
	enum ht_status status = HT_OK;
	while (status == HT_OK) {
		errno = 0;
		struct dirent *item = readdir(stream);
		if (!item) {
			if (errno)
				status =
				        ht_fail_errno(ctx, dir, "cannot list the directory", errno);
			break;
		}
		if (item->d_name[0] == '.')
			continue;
		char *name = ht_arena_strndup(finder->arena, item->d_name, strlen(item->d_name));
		if (!name || !HT_VEC_PUSH(ctx->mem, names, char *, name))
			status = ht_fail_nomem(ctx);
	}
	closedir(stream);
	if (names->n)
		qsort(names->data, names->n, sizeof(char *), ht_natural_compare_names);
	return status;
}

/* A directory that is a rank: all of its files together, or its timeline when there is nothing else. */
static enum ht_status add_rank_dir(
        struct finder *finder, const char *dir, const char *shown_dir, bool *ret_added)
{
	struct ht_rank_files files;
	struct stat st;
	*ret_added = false;
	HT_TRY(ht_rank_files_list(finder->ctx, dir, false, finder->arena, &files));
	if (!files.n)
		return HT_OK;
	*ret_added = true;
	const char *path = files.only_timeline ? files.paths[0] : dir;
	if (ht_door_stat(finder->ctx, path, &st) < 0)
		return ht_fail_errno(finder->ctx, path, "cannot open", errno);
	if (!files.only_timeline)
		return add_entry(finder, path, st.st_dev, st.st_ino);
	char *shown = join(finder, shown_dir, path + strlen(dir) + (dir[strlen(dir) - 1] != '/'));
	return shown ? consider(finder, path, shown, &st) : ht_fail_nomem(finder->ctx);
}

static enum ht_status scan_dir(
        struct finder *finder, const char *dir, const char *shown_dir, int depth);

static enum ht_status scan_subdir(
        struct finder *finder, const char *path, const char *shown, int depth)
{
	struct stat st;
	bool is_rank;
	if (!finder->recursive)
		return add_rank_dir(finder, path, shown, &is_rank);
	/* Links to directories may lead in circles; the user can name their targets. */
	if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode) || depth >= MAX_DEPTH)
		return note_skipped(finder, shown,
		        depth >= MAX_DEPTH ? "nested too deep" : "a link to a directory");
	return scan_dir(finder, path, shown, depth + 1);
}

/* What cannot be looked at. That a link leads out of where files may come from is told like a file that is no trace. */
static enum ht_status pass_over(
        struct finder *finder, const char *path, const char *shown, int error)
{
	const char *why = error == EXDEV    ? "a link leads out of the folder"
	                  : error == ENOENT ? "a link to nowhere"
	                                    : "it cannot be looked at";
	if (error == EXDEV && ht_reader_looks_for(ht_file_name(path)))
		HT_TRY(remember_skipped(finder, path, why));
	return note_skipped(finder, shown, why);
}

/* One name of a directory. n_unnamed counts the files that are none by their name. */
static enum ht_status scan_name(struct finder *finder, const char *dir, const char *shown_dir,
        const char *name, int depth, size_t *n_unnamed)
{
	char *path = join(finder, dir, name), *shown = join(finder, shown_dir, name);
	struct stat st;
	/* whoever serves a folder may be told to stop meanwhile */
	if (finder->is_live && ++finder->n_looked_at % LOOKS_PER_PROGRESS == 0)
		HT_TRY(ht_progress(finder->ctx, "looking for files", finder->n_looked_at, 0));
	if (!path || !shown)
		return ht_fail_nomem(finder->ctx);
	if (ht_door_stat(finder->ctx, path, &st) < 0)
		return pass_over(finder, path, shown, errno);
	if (S_ISDIR(st.st_mode))
		return forgive(finder, scan_subdir(finder, path, shown, depth), path);
	if (ht_reader_looks_for(name))
		return forgive(finder, consider(finder, path, shown, &st), path);
	if (finder->is_live && ht_has_database_name(name))
		return remember_skipped(finder, path, ht_not_by_name);
	if (++*n_unnamed <= MAX_NAME_NOTES)
		return note_skipped(finder, shown, ht_not_by_name);
	finder->n_skipped++;
	return HT_OK;
}

/* shown_dir is how notes call the directory: relative to what the user named, NULL for that itself. */
static enum ht_status scan_dir(
        struct finder *finder, const char *dir, const char *shown_dir, int depth)
{
	struct ht_vec names = { 0 };
	size_t n_unnamed = 0;
	bool is_rank;
	HT_TRY(add_rank_dir(finder, dir, shown_dir, &is_rank));
	if (is_rank)
		return HT_OK;
	enum ht_status status = list_names(finder, dir, &names);
	for (size_t i = 0; i < names.n && status == HT_OK; i++)
		status = scan_name(
		        finder, dir, shown_dir, ((char **)names.data)[i], depth, &n_unnamed);
	ht_vec_free(finder->ctx->mem, &names, sizeof(char *));
	if (status == HT_OK && n_unnamed > MAX_NAME_NOTES)
		status = note(
		        finder, ht_arena_printf(finder->arena,
		                        "skipped %zu more files in %s: not traces by their names",
		                        n_unnamed - MAX_NAME_NOTES, dir));
	return status;
}

/* Whether some directory below holds a file that may be a trace; looks at names only, and not at all
 * of a huge tree, as it only serves a hint. */
static bool peek_below(struct finder *finder, const char *dir, int depth, size_t *n_looked_at)
{
	DIR *stream = depth < 5 ? ht_door_list(finder->ctx, dir) : NULL;
	if (!stream)
		return false;
	bool is_found = false;
	for (struct dirent *item; !is_found && (item = readdir(stream));) {
		if (++*n_looked_at > PEEK_MAX_ENTRIES)
			break;
		if (item->d_name[0] == '.')
			continue;
		char *path = join(finder, dir, item->d_name);
		struct stat st;
		if (!path || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			is_found = peek_below(finder, path, depth + 1, n_looked_at);
		else
			is_found = depth && ht_reader_looks_for(item->d_name);
	}
	closedir(stream);
	return is_found;
}

/* Whether the directories below are those of a log directory: runs with workers in them. */
static bool has_runs_below(struct finder *finder, const char *dir, int depth, size_t *n_looked_at)
{
	DIR *stream = depth < 5 ? ht_door_list(finder->ctx, dir) : NULL;
	if (!stream)
		return false;
	bool is_found = false;
	for (struct dirent *item; !is_found && (item = readdir(stream));) {
		const char *name = item->d_name;
		if (++*n_looked_at > PEEK_MAX_ENTRIES)
			break;
		if (name[0] == '.')
			continue;
		char *path = join(finder, dir, name);
		struct stat st;
		if (!path || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			is_found = !strcmp(name, HT_ASCEND_OUTPUT) ||
			           has_runs_below(finder, path, depth + 1, n_looked_at);
		else
			is_found = depth && strstr(name, ".pt.trace.json");
	}
	closedir(stream);
	return is_found;
}

static enum ht_status fail_no_traces(
        struct finder *finder, const char *dir, size_t n_skipped, size_t i_note)
{
	const char *globs = ht_reader_globs(finder->arena);
	char *looked_for = globs ? ht_arena_printf(finder->arena,
	                                   "files named %s, plain or compressed (.gz, .zst), and "
	                                   "*/" HT_ASCEND_OUTPUT,
	                                   globs)
	                         : NULL;
	if (!looked_for)
		return ht_fail_nomem(finder->ctx);
	size_t n_looked_at = 0;
	const char *hint = "name the trace files, or the directory that holds them";
	if (!finder->recursive && peek_below(finder, dir, 0, &n_looked_at))
		hint = "its subdirectories may hold some: add --recursive";
	if (!n_skipped)
		return ht_fail(finder->ctx, HT_MISSING, dir, -1, hint,
		        "no traces in the directory: looked for %s", looked_for);
	return ht_fail(finder->ctx, HT_MISSING, dir, -1, hint,
	        "no traces in the directory: looked for %s, skipped %zu (first %s)", looked_for,
	        n_skipped, ((const char **)finder->notes.data)[i_note] + strlen("skipped "));
}

/* What was skipped from the i-th on, where a reader of files that are given by name knows it and no trace is beside it: memory
 * snapshots alone in a directory are ranks, and without those memory timelines. */
static enum ht_status add_skipped(struct finder *finder, size_t i, const struct ht_reader *reader)
{
	struct ht_raw_forms raw;
	struct ht_dirs taken;
	if (!ht_raw_forms_list(&raw, finder->arena, finder->skipped.data, finder->skipped.n) ||
	        !ht_dirs_list(&taken, finder->arena, finder->entries.data, finder->entries.n,
	                sizeof(struct entry)))
		return ht_fail_nomem(finder->ctx);
	struct ht_skipped *files = finder->skipped.data;
	size_t n = i;
	for (struct stat st; i < finder->skipped.n; i++) {
		if (files[i].why == reader->what && !ht_dirs_has(&taken, files[i].path) &&
		        !stat(files[i].path, &st) && !ht_raw_forms_has(&raw, files[i].path))
			HT_TRY(add_entry(finder, files[i].path, st.st_dev, st.st_ino));
		else
			files[n++] = files[i];
	}
	finder->skipped.n = n; /* what is taken is no longer skipped */
	return HT_OK;
}

static enum ht_status add_dir(struct finder *finder, const char *dir)
{
	size_t n_entries = finder->entries.n, n_skipped = finder->n_skipped,
	       i_note = finder->notes.n, i_skipped = finder->skipped.n;
	HT_TRY(scan_dir(finder, dir, NULL, 0));
	size_t n_looked_at = 0;
	if (finder->entries.n == n_entries && !finder->recursive &&
	        has_runs_below(finder, dir, 0, &n_looked_at)) {
		finder->recursive = true;
		enum ht_status status = scan_dir(finder, dir, NULL, 0);
		finder->recursive = false;
		HT_TRY(status);
	}
	/* a set of traces stays one; of what there is to open each directory is looked at for itself */
	if (finder->entries.n > n_entries && !finder->is_live)
		return HT_OK;
	HT_TRY(add_skipped(finder, i_skipped, &ht_reader_snapshot));
	if (finder->entries.n == n_entries || finder->is_live)
		HT_TRY(add_skipped(finder, i_skipped, &ht_reader_memory_timeline));
	if (finder->entries.n == n_entries)
		return fail_no_traces(finder, dir, finder->n_skipped - n_skipped, i_note);
	finder->notes.n = i_note; /* that it was skipped */
	return HT_OK;
}

static enum ht_status add_matches(
        struct finder *finder, const char *pattern, char *const *paths, size_t n_paths)
{
	size_t n_entries = finder->entries.n;
	for (size_t i = 0; i < n_paths; i++) {
		struct stat st;
		if (ht_door_stat(finder->ctx, paths[i], &st) < 0)
			HT_TRY(note_skipped(finder, paths[i], "it cannot be looked at"));
		else if (S_ISDIR(st.st_mode))
			HT_TRY(scan_dir(finder, paths[i], paths[i], 0));
		else
			HT_TRY(consider(finder, paths[i], paths[i], &st));
	}
	if (finder->entries.n == n_entries)
		return ht_fail(finder->ctx, HT_MISSING, pattern, -1,
		        "check the pattern, or name the files",
		        "no traces among the %zu files and directories that match", n_paths);
	return HT_OK;
}

static enum ht_status add_glob(struct finder *finder, const char *pattern)
{
	struct ht_vec paths = { 0 };
	enum ht_status status =
	        ht_wildcard_expand(finder->ctx, pattern, false, finder->arena, &paths);
	if (status == HT_OK && !paths.n)
		status = ht_fail(finder->ctx, HT_MISSING, pattern, -1, "check the pattern",
		        "nothing matches");
	if (status == HT_OK) {
		qsort(paths.data, paths.n, sizeof(char *), ht_natural_compare_names);
		status = add_matches(finder, pattern, paths.data, paths.n);
	}
	ht_vec_free(finder->ctx->mem, &paths, sizeof(char *));
	return status;
}

static char *directory_of(struct finder *finder, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return ht_arena_strndup(finder->arena, ".", 1);
	return ht_arena_strndup(finder->arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static enum ht_status add_lines(struct finder *finder, const char *path, char *text)
{
	const char *base = strchr(path, '/') ? directory_of(finder, path) : NULL;
	if (!base && strchr(path, '/'))
		return ht_fail_nomem(finder->ctx);
	size_t n_sources = 0, i_line = 0;
	for (char *line; ht_source_next_line(&text, &line);) {
		i_line++;
		if (!*line)
			continue;
		if (strlen(line) >= HT_MAX_PATH_BYTES || ++n_sources > LIST_MAX_SOURCES)
			return ht_fail(finder->ctx, HT_LIMIT, path, -1,
			        "write one path on each line, or name a directory",
			        "the list is too long: line %zu", i_line);
		enum ht_status status = miss(finder, line, add_source(finder, base, line, false));
		if (status != HT_OK) {
			ht_error_prefix(finder->ctx, "line %zu of %s", i_line, path);
			return status;
		}
	}
	if (!n_sources)
		return ht_fail(finder->ctx, HT_MISSING, path, -1, "write one path on each line",
		        "the list names no traces");
	return HT_OK;
}

static enum ht_status add_list(struct finder *finder, const char *path)
{
	struct ht_vec text;
	HT_TRY(ht_read_all(finder->ctx, path, LIST_MAX_BYTES, &text));
	enum ht_status status = add_lines(finder, path, text.data);
	ht_vec_free(finder->ctx->mem, &text, 1);
	return status;
}

/* Whether a pattern fits anything; a pattern that cannot be followed fits nothing. */
static enum ht_status fits_something(struct finder *finder, const char *pattern, bool *ret_fits)
{
	struct ht_vec paths = { 0 };
	enum ht_status status =
	        ht_wildcard_expand(finder->ctx, pattern, true, finder->arena, &paths);
	*ret_fits = paths.n != 0;
	ht_vec_free(finder->ctx->mem, &paths, sizeof(char *));
	if (status == HT_LIMIT || status == HT_USAGE) {
		ht_error_clear(finder->ctx);
		return HT_OK;
	}
	return status;
}

/* Whether the start of a file, which is no trace, reads like a list: lines that are paths by their form, the
 * first of which names something that exists. n bytes of text, which is changed. */
static enum ht_status looks_like_list(
        struct finder *finder, const char *path, char *text, size_t n, bool *ret_is_list)
{
	*ret_is_list = false;
	if (!ht_source_has_path_lines(text, n))
		return HT_OK;
	text[n] = '\0';
	char *line = text;
	do {
		if (!ht_source_next_line(&text, &line))
			return HT_OK;
	} while (!*line);
	int64_t rank;
	const char *rest = ht_source_after_rank(line, &rank);
	char *dir = directory_of(finder, path);
	char *whole = dir ? join(finder, dir, line) : NULL;
	char *part = dir ? join(finder, dir, rest ? rest : line) : NULL;
	if (!whole || !part)
		return ht_fail_nomem(finder->ctx);
	*ret_is_list = exists(whole) || exists(part);
	if (*ret_is_list || !ht_has_wildcard(line))
		return HT_OK;
	return fits_something(finder, part, ret_is_list);
}

/* A file the user named. */
static enum ht_status add_file(
        struct finder *finder, const char *path, const struct stat *st, bool may_list)
{
	if (may_list && S_ISREG(st->st_mode)) {
		struct ht_look look;
		bool is_list = false;
		HT_TRY(look_into(finder, path, &look));
		if (!look.reader && look.is_plain)
			HT_TRY(looks_like_list(finder, path, finder->sniff_buf, look.n, &is_list));
		return is_list ? add_list(finder, path) : add_looked_at(finder, path, st, &look);
	}
	return add_entry(finder, path, st->st_dev, st->st_ino);
}

/* "3=source": the source must mean one file. */
static enum ht_status add_ranked(
        struct finder *finder, const char *base, const char *text, int64_t rank, const char *rest)
{
	size_t n_entries = finder->entries.n;
	HT_TRY(add_source(finder, base, rest, false));
	if (finder->entries.n != n_entries + 1)
		return ht_fail(finder->ctx, HT_USAGE, text, -1, "give each file its own rank",
		        "rank %lld is given to %zu files", (long long)rank,
		        finder->entries.n - n_entries);
	entries_of(finder)[n_entries].found.rank = rank;
	return HT_OK;
}

static enum ht_status add_source(
        struct finder *finder, const char *base, const char *text, bool may_list)
{
	if (!strcmp(text, "-"))
		return add_entry(finder, "-", 0, 0);
	char *path = join(finder, base, text);
	if (!path)
		return ht_fail_nomem(finder->ctx);
	if (ht_io_should_fail(finder->ctx))
		return ht_fail_errno(finder->ctx, path, "cannot open", EIO);
	struct stat st;
	if (!ht_door_stat(finder->ctx, path, &st))
		return S_ISDIR(st.st_mode) ? add_dir(finder, path)
		                           : add_file(finder, path, &st, may_list);
	int error = errno;
	if (error != ENOENT && error != ENOTDIR)
		return ht_fail_errno(finder->ctx, path, "cannot open", error);
	int64_t rank;
	const char *rest = ht_source_after_rank(text, &rank);
	if (rest)
		return add_ranked(finder, base, text, rank, rest);
	int64_t part;
	const char *file = ht_part_path_split(finder->ctx, path, finder->arena, &part);
	if (file && part != HT_NO_RANK && !ht_door_stat(finder->ctx, file, &st) &&
	        S_ISREG(st.st_mode))
		return add_part(finder, file, part, &st);
	if (text[0] == '@' && may_list)
		return add_list(finder, path + 1);
	if (ht_has_wildcard(text))
		return add_glob(finder, path);
	return ht_fail_errno(finder->ctx, path, "cannot open", error);
}

static int compare_paths(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = ht_natural_compare(a->found.path, b->found.path);
	return order ? order : (a->found.rank > b->found.rank) - (a->found.rank < b->found.rank);
}

/* Same files together; in a group those with a rank first, by rank, then by path. */
static int compare_files(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	uint64_t rank_a = (uint64_t)a->found.rank, rank_b = (uint64_t)b->found.rank;
	if (rank_a != rank_b) /* HT_NO_RANK is the largest as unsigned */
		return rank_a < rank_b ? -1 : 1;
	return (a->i_path > b->i_path) - (a->i_path < b->i_path);
}

/* A file given under two ranks is meant twice; any other repetition is dropped. */
static enum ht_status drop_repeated(struct finder *finder, size_t *ret_n)
{
	size_t n = finder->entries.n;
	struct entry *entries = finder->entries.data, **order;
	order = ht_arena_alloc(finder->arena, n * sizeof(*order));
	if (!order)
		return ht_fail_nomem(finder->ctx);
	for (size_t i = 0; i < n; i++) {
		entries[i].i_path = i;
		order[i] = &entries[i];
	}
	qsort(order, n, sizeof(*order), compare_files);
	finder->by_file = order;
	for (size_t i = 1; i < n; i++) {
		const struct entry *kept = order[i - 1];
		struct entry *entry = order[i];
		if (kept->device != entry->device || kept->inode != entry->inode ||
		        kept->part != entry->part)
			continue;
		if (entry->found.rank != HT_NO_RANK && entry->found.rank != kept->found.rank)
			continue;
		entry->is_dropped = true;
		++*ret_n;
		HT_TRY(note(
		        finder, ht_arena_printf(finder->arena, "left out %s: the same file as %s",
		                        entry->found.path, kept->found.path)));
	}
	return HT_OK;
}

static bool is_before(const struct entry *entry, const struct stat *st)
{
	return entry->device != st->st_dev ? entry->device < st->st_dev : entry->inode < st->st_ino;
}

/* Whether a file is an entry, other than one. */
static bool is_found(const struct finder *finder, const struct stat *st, const struct entry *other)
{
	struct entry *const *list = finder->by_file;
	size_t n = finder->entries.n;
	for (size_t i = HT_LOWER_BOUND(at, n, is_before(list[at], st)); i < n; i++) {
		if (list[i]->device != st->st_dev || list[i]->inode != st->st_ino)
			return false;
		if (list[i] != other)
			return true;
	}
	return false;
}

/* A file that was made from another one here is no rank of its own, unless it was given one. */
static enum ht_status drop_derived(struct finder *finder)
{
	struct entry *entries = finder->entries.data;
	size_t n = finder->entries.n;
	struct stat st;
	for (size_t i = 0; i < n; i++) {
		struct entry *derived = &entries[i];
		if (derived->is_dropped || !derived->derived_from ||
		        derived->found.rank != HT_NO_RANK ||
		        ht_door_stat(finder->ctx, derived->derived_from, &st))
			continue;
		derived->is_dropped = is_found(finder, &st, derived);
		if (derived->is_dropped)
			HT_TRY(note(
			        finder, ht_arena_printf(finder->arena, "left out %s: made from %s",
			                        derived->found.path, derived->derived_from)));
	}
	return HT_OK;
}

/* What a growing list holds, in the arena; NULL when out of memory. */
static void *settle(struct finder *finder, const struct ht_vec *list, size_t item_bytes)
{
	void *items = ht_arena_alloc(finder->arena, (list->n + 1) * item_bytes);
	if (items && list->n)
		memcpy(items, list->data, list->n * item_bytes);
	return items;
}

static enum ht_status finish(struct finder *finder, struct ht_discovery *discovery)
{
	struct entry *entries = finder->entries.data;
	size_t n = finder->entries.n;
	if (n)
		qsort(entries, n, sizeof(*entries), compare_paths);
	HT_TRY(drop_repeated(finder, &discovery->n_repeated));
	HT_TRY(drop_derived(finder));
	discovery->found = ht_arena_alloc(finder->arena, n * sizeof(*discovery->found));
	discovery->missing = settle(finder, &finder->missing, sizeof(char *));
	discovery->notes = settle(finder, &finder->notes, sizeof(char *));
	discovery->skipped = settle(finder, &finder->skipped, sizeof *discovery->skipped);
	if (!discovery->found || !discovery->missing || !discovery->notes || !discovery->skipped)
		return ht_fail_nomem(finder->ctx);
	for (size_t i = 0; i < n; i++)
		if (!entries[i].is_dropped)
			discovery->found[discovery->n_found++] = entries[i].found;
	discovery->n_missing = finder->missing.n;
	discovery->n_notes = finder->notes.n;
	discovery->n_skipped = finder->skipped.n;
	return HT_OK;
}

static enum ht_status discover(struct finder finder, const char *const *sources, size_t n_sources,
        struct ht_discovery *ret_discovery)
{
	ht_ctx *ctx = finder.ctx;
	struct ht_discovery discovery = { 0 };
	finder.arena = &discovery.arena;
	enum ht_status status = HT_OK;
	ht_arena_init(&discovery.arena, ctx->mem);
	/* One more byte: looks_like_list() ends the text. */
	finder.sniff_buf = ht_mem_alloc(ctx->mem, HT_SNIFF_BYTES + 1);
	if (!finder.sniff_buf)
		status = ht_fail_nomem(ctx);
	for (size_t i = 0; i < n_sources && status == HT_OK; i++)
		status = miss(&finder, sources[i],
		        forgive(&finder, add_source(&finder, NULL, sources[i], true), sources[i]));
	if (status == HT_OK)
		status = finish(&finder, &discovery);
	ht_mem_free(ctx->mem, finder.sniff_buf, HT_SNIFF_BYTES + 1);
	ht_vec_free(ctx->mem, &finder.entries, sizeof(struct entry));
	ht_vec_free(ctx->mem, &finder.notes, sizeof(const char *));
	ht_vec_free(ctx->mem, &finder.missing, sizeof(const char *));
	ht_vec_free(ctx->mem, &finder.skipped, sizeof(struct ht_skipped));
	if (status != HT_OK) {
		ht_arena_done(&discovery.arena);
		return status;
	}
	*ret_discovery = discovery;
	return HT_OK;
}

enum ht_status ht_discover(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        bool recursive, bool partial, struct ht_discovery *ret_discovery)
{
	struct finder finder = { .ctx = ctx, .recursive = recursive, .partial = partial };
	return discover(finder, sources, n_sources, ret_discovery);
}

enum ht_status ht_discover_live(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        struct ht_discovery *ret_discovery)
{
	struct finder finder = { .ctx = ctx, .recursive = true, .is_live = true };
	return discover(finder, sources, n_sources, ret_discovery);
}

void ht_discovery_done(struct ht_discovery *discovery)
{
	ht_arena_done(&discovery->arena);
}
