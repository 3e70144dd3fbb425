/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.c - what there is to open: discovery (read/discover.h) and the places of runs (model/run_tree.h) as one list.
 *
 * It stands above both, which do not know each other.
 */
#include "base/door.h"
#include "base/mem.h"
#include "base/platform.h"
#include "history/history.h"
#include "model/run_tree.h"
#include "read/discover.h"
#include "read/part_path.h"
#include "read/rank_files.h"

#include <string.h>
#include <sys/stat.h>

struct ht_catalog {
	struct ht_mem *mem;
	struct ht_arena arena;
	struct ht_recording *places;
	size_t n;
};

static void add_stat(struct ht_recording *place, const struct stat *st)
{
	int64_t mtime_ns =
	        (int64_t)HT_STAT_MTIME(st).tv_sec * 1000000000 + HT_STAT_MTIME(st).tv_nsec;
	place->size_bytes += (uint64_t)st->st_size;
	place->mtime_ns = mtime_ns > place->mtime_ns ? mtime_ns : place->mtime_ns;
}

/* Size and age. A place that is gone meanwhile has none; whoever opens it will hear. */
static enum ht_status measure(ht_ctx *ctx, struct ht_arena *arena, struct ht_recording *place)
{
	struct ht_rank_files files;
	struct stat st;
	int64_t part;
	const char *path = ht_part_path_split(ctx, place->path, arena, &part);
	if (!path)
		return ht_fail_nomem(ctx);
	if (ht_door_stat(ctx, path, &st) < 0)
		return HT_OK;
	place->file_id = (uint64_t)st.st_ino;
	if (!S_ISDIR(st.st_mode)) {
		add_stat(place, &st);
		return HT_OK;
	}
	enum ht_status status = ht_rank_files_list(ctx, place->path, false, arena, &files);
	if (status == HT_IO) {
		ht_error_clear(ctx);
		return HT_OK;
	}
	HT_TRY(status);
	for (size_t i = 0; i < files.n; i++)
		if (!ht_door_stat(ctx, files.paths[i], &st))
			add_stat(place, &st);
	return HT_OK;
}

static const char *copy_text(struct ht_arena *arena, const char *text)
{
	return ht_arena_strndup(arena, text, strlen(text));
}

/* A database with a name of its own choice is listed only when it is a store. */
static enum ht_status add_place(
        ht_ctx *ctx, struct ht_catalog *catalog, struct ht_recording place, bool is_history)
{
	struct ht_arena *arena = &catalog->arena;
	place.path = copy_text(arena, place.path);
	place.is_history = is_history;
	const char *why_not = is_history ? "a history of runs" : place.why_not;
	place.why_not = why_not ? copy_text(arena, why_not) : NULL;
	if (!place.path || (why_not && !place.why_not))
		return ht_fail_nomem(ctx);
	HT_TRY(measure(ctx, arena, &place));
	catalog->places[catalog->n++] = place;
	return HT_OK;
}

/* Paths and what they are, before their names are looked at; traces first. */
static enum ht_status list_places(ht_ctx *ctx, struct ht_catalog *catalog,
        const struct ht_discovery *found, size_t *ret_n_traces)
{
	size_t n = found->n_found + found->n_skipped;
	catalog->places = ht_arena_alloc(&catalog->arena, (n + 1) * sizeof *catalog->places);
	bool *is_history = ht_arena_alloc(&catalog->arena, n + 1);
	if (!catalog->places || !is_history)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const char *path = i < found->n_found ? found->found[i].path
		                                      : found->skipped[i - found->n_found].path;
		is_history[i] = ht_has_database_name(path) && ht_history_is_store(ctx, path);
	}
	for (size_t i = 0; i < found->n_found; i++) {
		const struct ht_found *trace = &found->found[i];
		struct ht_recording place = { .path = trace->path,
			.rank = trace->rank != HT_NO_RANK ? trace->rank : -1 };
		if (!is_history[i])
			HT_TRY(add_place(ctx, catalog, place, false));
	}
	*ret_n_traces = catalog->n;
	for (size_t i = 0; i < n; i++) {
		const struct ht_skipped *other =
		        i < found->n_found ? NULL : &found->skipped[i - found->n_found];
		struct ht_recording place = { .path = other ? other->path : found->found[i].path,
			.rank = -1,
			.why_not = other ? other->why : NULL };
		if (is_history[i] || (other && !ht_is_unnamed_database(other)))
			HT_TRY(add_place(ctx, catalog, place, is_history[i]));
	}
	return HT_OK;
}

static enum ht_status fill(
        ht_ctx *ctx, struct ht_catalog *catalog, const struct ht_discovery *found)
{
	struct ht_arena *arena = &catalog->arena;
	const struct ht_run_place *of;
	size_t n_traces = 0;
	HT_TRY(list_places(ctx, catalog, found, &n_traces));
	const char **paths = ht_arena_alloc(arena, (catalog->n + 1) * sizeof *paths);
	if (!paths)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < catalog->n; i++)
		paths[i] = catalog->places[i].path;
	/* what is no trace must not count among the spans of those that are */
	for (size_t first = 0, end = n_traces; first < catalog->n; first = end, end = catalog->n) {
		if (ht_run_tree_place(paths + first, end - first, arena, &of) != HT_OK)
			return ht_fail_nomem(ctx);
		for (size_t i = first; i < end; i++) {
			struct ht_recording *place = &catalog->places[i];
			place->dir = of[i - first].dir;
			place->worker = of[i - first].worker;
			place->stamp = of[i - first].stamp;
			place->span = of[i - first].span;
			place->is_npu = of[i - first].target[0] == 'n';
			place->is_known = of[i - first].is_known;
		}
	}
	return HT_OK;
}

enum ht_status ht_catalog_find(
        ht_ctx *ctx, const char *const *sources, size_t n_sources, ht_catalog **ret_catalog)
{
	struct ht_discovery found;
	ht_error_clear(ctx);
	struct ht_catalog *catalog = ht_mem_zalloc(ctx->mem, sizeof *catalog);
	if (!catalog)
		return ht_fail_nomem(ctx);
	catalog->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&catalog->arena, catalog->mem);
	enum ht_status status = ht_discover_live(ctx, sources, n_sources, &found);
	if (status == HT_OK) {
		status = fill(ctx, catalog, &found);
		ht_discovery_done(&found);
	}
	if (status != HT_OK) {
		ht_catalog_free(catalog);
		return status;
	}
	*ret_catalog = catalog;
	return HT_OK;
}

void ht_catalog_free(ht_catalog *catalog)
{
	if (!catalog)
		return;
	struct ht_mem *mem = catalog->mem;
	ht_arena_done(&catalog->arena);
	ht_mem_free(mem, catalog, sizeof *catalog);
	ht_mem_release(mem);
}

size_t ht_catalog_n(const ht_catalog *catalog)
{
	return catalog->n;
}

const struct ht_recording *ht_catalog_at(const ht_catalog *catalog, size_t i)
{
	return i < catalog->n ? &catalog->places[i] : NULL;
}
