/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_folder.c - see log_folder.h.
 *
 *   sources ─► listing (a run per folder that has traces; looked for again after two seconds)
 *                 └─► opened (sets of the runs that were asked for last; a run whose files changed is opened anew)
 *
 * One thread opens a run, others that want it wait for that one. Everything is under one lock but the opening itself.
 */
#include "mcp/log_folder.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text_compare.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_AGAIN_MS 2000
#define MAX_OPEN      8
#define WAIT_MS       50

struct run {
	struct ht_mcp_run info;
	const char **paths; /* sources for ht_open */
	uint64_t hash;      /* of names, sizes and times of its files */
};

struct listing {
	struct ht_arena arena;
	struct run *runs;
	size_t n;
	uint64_t looked_ms; /* 0: never */
};

struct opened {
	struct opened *next; /* the one that was used before */
	char *name;
	uint64_t hash;
	ht_set *set;
	int n_users; /* who opens it is one */
	bool is_opening;
	enum ht_status status;
	char why[HT_MCP_WHY_BYTES];
};

struct mcp_folder {
	ht_ctx *ctx; /* memory of what is kept */
	struct ht_arena arena;
	struct ht_mcp_options options; /* without open, which is below */
	struct ht_open_options open;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct listing listing;
	struct opened *opened; /* the newest first */
};

uint64_t mcp_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- new and free ---- */

static bool keep(struct ht_arena *arena, const char **text)
{
	*text = *text ? ht_arena_strndup(arena, *text, strlen(*text)) : NULL;
	return *text != NULL;
}

enum ht_status mcp_folder_new(
        ht_ctx *ctx, const struct ht_mcp_options *options, struct mcp_folder **ret_folder)
{
	struct ht_open_options taken;
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_open_options, own, options->open, &taken));
	struct mcp_folder *folder = ht_mem_zalloc(ctx->mem, sizeof *folder);
	const char **sources = NULL;
	if (!folder)
		return ht_fail_nomem(ctx);
	folder->ctx = ctx;
	folder->options = *options;
	folder->options.open = NULL;
	folder->open = taken;
	ht_arena_init(&folder->arena, ctx->mem);
	ht_arena_init(&folder->listing.arena, ctx->mem);
	pthread_mutex_init(&folder->lock, NULL);
	pthread_cond_init(&folder->changed, NULL);
	struct ht_open_options *open = &folder->open;
	const char **texts[] = { &open->cache_dir, &open->kernel_rules, &open->reader };
	sources = ht_arena_alloc(&folder->arena, (options->n_sources + 1) * sizeof *sources);
	bool ok = sources != NULL;
	for (size_t i = 0; ok && i < options->n_sources; i++) {
		sources[i] = options->sources[i];
		ok = keep(&folder->arena, &sources[i]);
		/* without slashes at its end, as paths below it are told by their beginning */
		for (size_t n = ok ? strlen(sources[i]) : 0; n > 1 && sources[i][n - 1] == '/'; n--)
			((char *)(uintptr_t)sources[i])[n - 1] = '\0';
	}
	for (size_t i = 0; ok && i < HT_COUNT(texts); i++)
		ok = !*texts[i] || keep(&folder->arena, texts[i]);
	open->attach = NULL;
	open->attach_beside = true;
	folder->options.sources = sources;
	if (!ok) {
		mcp_folder_free(folder);
		return ht_fail_nomem(ctx);
	}
	*ret_folder = folder;
	return HT_OK;
}

static void free_opened(struct mcp_folder *folder, struct opened *opened)
{
	ht_close(opened->set);
	ht_mem_free(folder->ctx->mem, opened->name, strlen(opened->name) + 1);
	ht_mem_free(folder->ctx->mem, opened, sizeof *opened);
}

void mcp_folder_free(struct mcp_folder *folder)
{
	struct ht_mem *mem = folder->ctx->mem;
	for (struct opened *at = folder->opened, *next; at; at = next) {
		next = at->next;
		free_opened(folder, at);
	}
	pthread_cond_destroy(&folder->changed);
	pthread_mutex_destroy(&folder->lock);
	ht_arena_done(&folder->listing.arena);
	ht_arena_done(&folder->arena);
	ht_mem_free(mem, folder, sizeof *folder);
}

/* ---- looking ---- */

static const char *source_path(const char *source)
{
	size_t n = strspn(source, "0123456789");
	return n && source[n] == '=' ? source + n + 1 : source;
}

enum ht_status mcp_folder_confine(struct mcp_folder *folder, ht_ctx *ctx)
{
	const char *folders[64];
	size_t n = 0;
	for (; n < folder->options.n_sources && n < HT_COUNT(folders); n++)
		folders[n] = source_path(folder->options.sources[n]);
	return folder->options.follow_links ? HT_OK : ht_ctx_confine(ctx, folders, n);
}

/* The name of a run: its folder below the source, or the last part of the source's own path. */
static const char *run_name(struct mcp_folder *folder, struct ht_arena *arena, const char *dir)
{
	for (size_t i = 0; i < folder->options.n_sources; i++) {
		const char *root = source_path(folder->options.sources[i]);
		size_t n = strlen(root);
		if (!strncmp(dir, root, n) && dir[n] == '/' && dir[n + strspn(dir + n, "/")]) {
			const char *below = dir + n + strspn(dir + n, "/");
			size_t n_below = strlen(below);
			while (n_below && below[n_below - 1] == '/')
				n_below--;
			return ht_arena_strndup(arena, below, n_below);
		}
	}
	char *real = realpath(*dir ? dir : ".", NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	const char *last = slash && slash[1] ? slash + 1 : ".";
	const char *name = ht_arena_strndup(arena, last, strlen(last));
	free(real);
	return name;
}

static struct run *find_run(struct listing *listing, const char *name)
{
	for (size_t i = 0; i < listing->n; i++)
		if (!strcmp(listing->runs[i].info.name, name))
			return &listing->runs[i];
	return NULL;
}

/* One recording goes to its run. Paths have room for all. */
static bool add_recording(struct mcp_folder *folder, struct listing *listing,
        const struct ht_recording *place, size_t n_places)
{
	const char *name = run_name(folder, &listing->arena, place->dir);
	struct run *run = name ? find_run(listing, name) : NULL;
	if (name && !run) {
		run = &listing->runs[listing->n];
		run->info = (struct ht_mcp_run){ sizeof run->info, name, "ready", 0, 0, 0 };
		run->paths = ht_arena_alloc(&listing->arena, n_places * sizeof *run->paths);
		listing->n += run->paths != NULL;
	}
	if (!run || !run->paths)
		return false;
	const char *path = place->rank >= 0 ? ht_arena_printf(&listing->arena, "%lld=%s",
	                                              (long long)place->rank, place->path)
	                                    : ht_arena_strndup(&listing->arena, place->path,
	                                              strlen(place->path));
	run->paths[run->info.n_files++] = path;
	run->info.size_bytes += place->size_bytes;
	run->info.mtime_ns =
	        place->mtime_ns > run->info.mtime_ns ? place->mtime_ns : run->info.mtime_ns;
	run->hash = ht_hash_mix(run->hash, ht_hash(place->path, strlen(place->path)));
	run->hash = ht_hash_mix(run->hash, place->size_bytes ^ place->file_id);
	run->hash = ht_hash_mix(run->hash, (uint64_t)place->mtime_ns);
	return path != NULL;
}

/* Look for runs, unless that was done a moment ago; under the lock. */
static enum ht_status look(struct mcp_folder *folder, ht_ctx *ctx)
{
	struct listing *listing = &folder->listing;
	ht_catalog *catalog;
	if (listing->looked_ms && mcp_now_ms() - listing->looked_ms < LOOK_AGAIN_MS)
		return HT_OK;
	HT_TRY(ht_catalog_find(ctx, folder->options.sources, folder->options.n_sources, &catalog));
	size_t n = 0;
	while (ht_catalog_at(catalog, n) && !ht_catalog_at(catalog, n)->why_not)
		n++;
	ht_arena_done(&listing->arena);
	*listing = (struct listing){ .n = 0 };
	ht_arena_init(&listing->arena, folder->ctx->mem);
	listing->runs = ht_arena_alloc(&listing->arena, (n + 1) * sizeof *listing->runs);
	bool ok = listing->runs != NULL;
	/* room for the paths of a run is that of the places from its first on: runs stand together */
	for (size_t i = 0; ok && i < n; i++)
		ok = add_recording(folder, listing, ht_catalog_at(catalog, i), n - i);
	ht_catalog_free(catalog);
	listing->looked_ms = ok ? mcp_now_ms() : 0;
	if (!ok)
		listing->n = 0;
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

static enum ht_status list_runs(void *user, ht_ctx *ctx, ht_mcp_run_fn fn, void *to)
{
	struct mcp_folder *folder = user;
	pthread_mutex_lock(&folder->lock);
	enum ht_status status = look(folder, ctx);
	for (size_t i = 0; status == HT_OK && i < folder->listing.n; i++)
		if (!fn(to, &folder->listing.runs[i].info))
			break;
	pthread_mutex_unlock(&folder->lock);
	return status;
}

/* ---- opening ---- */

static bool ask_caller(void *user, const char *what, uint64_t done, uint64_t total)
{
	ht_ctx *ctx = user;
	return !ctx->progress || ctx->progress(ctx->progress_user, what, done, total);
}

/* Read the run with a context of its own: a set outlives the call that opened it. Without the lock. */
static enum ht_status read_run(struct mcp_folder *folder, ht_ctx *caller, const char *const *paths,
        size_t n, struct opened *opened)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return HT_NOMEM;
	ht_ctx_set_jobs(ctx, folder->options.n_jobs);
	ht_ctx_set_memory_limit(ctx, folder->options.read_bytes);
	ht_ctx_set_progress(ctx, ask_caller, caller);
	enum ht_status status = mcp_folder_confine(folder, ctx);
	if (status == HT_OK)
		status = ht_open(ctx, paths, n, &folder->open, &opened->set);
	if (status != HT_OK) {
		const struct ht_error *error = ht_error(ctx);
		snprintf(opened->why, sizeof opened->why, "%.400s%s%.100s", error->message,
		        error->hint ? ". " : "", error->hint ? error->hint : "");
	}
	ht_ctx_free(ctx);
	return status;
}

/* Copies of the paths, as the listing may go while the run is read. */
static const char **copy_paths(struct ht_arena *arena, const struct run *run)
{
	const char **paths = ht_arena_alloc(arena, (run->info.n_files + 1) * sizeof *paths);
	for (size_t i = 0; paths && i < run->info.n_files; i++)
		if (!(paths[i] = ht_arena_strndup(arena, run->paths[i], strlen(run->paths[i]))))
			return NULL;
	return paths;
}

/* Of those that nobody uses, all but the newest go; those of files that changed, too. Under the lock. */
static void drop_unused(struct mcp_folder *folder)
{
	size_t n = 0;
	for (struct opened **at = &folder->opened; *at;) {
		struct opened *one = *at;
		struct run *run = find_run(&folder->listing, one->name);
		bool is_stale = run && run->hash != one->hash;
		if (!one->n_users && (one->status != HT_OK || is_stale || ++n > MAX_OPEN)) {
			*at = one->next;
			free_opened(folder, one);
		} else {
			at = &one->next;
		}
	}
}

static struct opened *add_opened(struct mcp_folder *folder, const struct run *run)
{
	struct ht_mem *mem = folder->ctx->mem;
	size_t n = strlen(run->info.name) + 1;
	struct opened *opened = ht_mem_zalloc(mem, sizeof *opened);
	char *name = ht_mem_alloc(mem, n);
	if (!opened || !name) {
		ht_mem_free(mem, opened, sizeof *opened);
		ht_mem_free(mem, name, n);
		return NULL;
	}
	memcpy(name, run->info.name, n);
	*opened = (struct opened){ folder->opened, name, run->hash, .n_users = 1,
		.is_opening = true };
	folder->opened = opened;
	return opened;
}

/* Wait until another thread has opened it, or the caller gives up; under the lock. */
static bool wait_for(struct mcp_folder *folder, ht_ctx *ctx, const struct opened *opened)
{
	bool goes_on = true;
	while (opened->is_opening && goes_on) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)WAIT_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&folder->changed, &folder->lock, &until);
		goes_on = ask_caller(ctx, "Reading", 0, 0);
	}
	return goes_on;
}

static void release_run(void *user, void *hold)
{
	struct mcp_folder *folder = user;
	struct opened *opened = hold;
	pthread_mutex_lock(&folder->lock);
	opened->n_users--;
	drop_unused(folder);
	pthread_mutex_unlock(&folder->lock);
}

/* Under the lock, which it lets go while reading. */
static enum ht_status open_run(
        struct mcp_folder *folder, ht_ctx *ctx, const struct run *run, struct opened **ret_opened)
{
	struct ht_arena arena;
	size_t n = run->info.n_files;
	ht_arena_init(&arena, ctx->mem);
	const char **paths = copy_paths(&arena, run);
	struct opened *opened = paths ? add_opened(folder, run) : NULL;
	if (opened) {
		pthread_mutex_unlock(&folder->lock);
		enum ht_status status = read_run(folder, ctx, paths, n, opened);
		pthread_mutex_lock(&folder->lock);
		opened->status = status;
		opened->is_opening = false;
		pthread_cond_broadcast(&folder->changed);
	}
	ht_arena_done(&arena);
	*ret_opened = opened;
	return opened ? HT_OK : ht_fail_nomem(ctx);
}

static enum ht_status hold_run(void *user, ht_ctx *ctx, const char *name, ht_set **ret_set,
        void **ret_hold, char why[HT_MCP_WHY_BYTES])
{
	struct mcp_folder *folder = user;
	struct opened *opened = NULL;
	pthread_mutex_lock(&folder->lock);
	enum ht_status status = look(folder, ctx);
	const struct run *run = status == HT_OK ? find_run(&folder->listing, name) : NULL;
	for (opened = run ? folder->opened : NULL; opened; opened = opened->next)
		if (!strcmp(opened->name, name) && opened->hash == run->hash &&
		        (opened->is_opening || opened->status == HT_OK))
			break;
	if (opened) {
		opened->n_users++;
		if (!wait_for(folder, ctx, opened))
			status = HT_CANCELLED;
	} else if (run) {
		status = open_run(folder, ctx, run, &opened);
	} else if (status == HT_OK) {
		snprintf(why, HT_MCP_WHY_BYTES, "it is gone");
		status = HT_MISSING;
	}
	if (opened && status == HT_OK && opened->status != HT_OK) {
		snprintf(why, HT_MCP_WHY_BYTES, "%s", opened->why);
		status = opened->status;
	}
	pthread_mutex_unlock(&folder->lock);
	if (opened && status != HT_OK)
		release_run(folder, opened);
	if (status == HT_OK) {
		*ret_set = opened->set;
		*ret_hold = opened;
	}
	return status;
}

void mcp_folder_host(struct mcp_folder *folder, struct ht_mcp_host *host)
{
	host->user = folder;
	host->list = list_runs;
	host->hold = hold_run;
	host->release = release_run;
}
