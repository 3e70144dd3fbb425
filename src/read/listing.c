/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.c - which files a set is read from, before any is: found once, to be dealt to several processes.
 *
 * A listed source is "RANK=PATH" or "=PATH" and taken as it stands: what was found is not looked for again, and
 * a name with an equals sign, a star or an at sign in it means itself.
 */
#include "base/mem.h"
#include "base/options.h"
#include "read/discover.h"
#include "read/own_options.h"
#include "read/part_path.h"
#include "read/rank_files.h"
#include "store/rank_numbering.h"
#include "store/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ht_listing {
	struct ht_mem *mem;
	struct ht_discovery found;
	const char **sources;
	uint64_t *sizes;
};

bool ht_is_missing(enum ht_status status)
{
	return status == HT_IO || status == HT_FORMAT || status == HT_MISSING;
}

const char *ht_missing_text(ht_ctx *ctx, struct ht_arena *arena, const char *path)
{
	const struct ht_error *error = ht_error(ctx);
	return ht_arena_printf(arena, "%s: %s", error->file ? error->file : path, error->message);
}

/* ---- as listed ---- */

static enum ht_status take_listed(
        ht_ctx *ctx, const char *const *sources, size_t n, struct ht_discovery *found)
{
	found->found = ht_arena_alloc(&found->arena, (n + 1) * sizeof *found->found);
	if (!found->found)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(sources[i], '=');
		size_t n_digits = strspn(sources[i], "0123456789");
		if (!equals || !equals[1] || equals != sources[i] + n_digits || n_digits > 9)
			return ht_fail(ctx, HT_USAGE, sources[i], -1, NULL,
			        "the source is not one of a listing");
		char *path = ht_arena_strndup(&found->arena, equals + 1, strlen(equals + 1));
		if (!path)
			return ht_fail_nomem(ctx);
		found->found[i] = (struct ht_found){ path,
			n_digits ? strtol(sources[i], NULL, 10) : HT_NO_RANK };
	}
	found->n_found = n;
	return HT_OK;
}

/* What a user says twice is a mistake, told before anything is read. */
static enum ht_status check_given(ht_ctx *ctx, struct ht_discovery *found)
{
	size_t n = found->n_found;
	int64_t *given = ht_arena_alloc(&found->arena, (n + 1) * sizeof *given);
	const char **paths = ht_arena_alloc(&found->arena, (n + 1) * sizeof *paths);
	if (!given || !paths)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		given[i] = found->found[i].rank;
		paths[i] = found->found[i].path;
	}
	return ht_given_check(ctx, &found->arena, given, paths, n);
}

enum ht_status ht_find_files(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, struct ht_discovery *ret_discovery)
{
	struct ht_discovery found = { 0 };
	enum ht_status status;
	if (ht_open_own(options).claim) {
		ht_arena_init(&found.arena, ctx->mem);
		status = take_listed(ctx, sources, n_sources, &found);
	} else {
		HT_TRY(ht_discover(
		        ctx, sources, n_sources, options->recursive, options->partial, &found));
		status = check_given(ctx, &found);
	}
	if (status != HT_OK) {
		ht_discovery_done(&found);
		return status;
	}
	*ret_discovery = found;
	return HT_OK;
}

/* ---- the listing ---- */

/* Bytes on disk; of a rank that is a directory those of its files. 0 when it cannot be told. */
static enum ht_status size_of(ht_ctx *ctx, const char *path, bool prefer_db, uint64_t *ret_bytes)
{
	struct stat st;
	struct ht_arena arena;
	struct ht_rank_files files = { 0 };
	int64_t part;
	*ret_bytes = 0;
	ht_arena_init(&arena, ctx->mem);
	const char *file = ht_part_path_split(ctx, path, &arena, &part);
	bool is_there = file && !stat(file, &st);
	if (is_there && !S_ISDIR(st.st_mode))
		*ret_bytes = (uint64_t)st.st_size;
	enum ht_status status = file ? HT_OK : ht_fail_nomem(ctx);
	if (is_there && S_ISDIR(st.st_mode))
		status = ht_rank_files_list(ctx, path, prefer_db, &arena, &files);
	for (size_t i = 0; status == HT_OK && i < files.n; i++)
		if (!stat(files.paths[i], &st))
			*ret_bytes += (uint64_t)st.st_size;
	ht_arena_done(&arena);
	return status;
}

static enum ht_status fill(ht_ctx *ctx, struct ht_listing *listing, bool prefer_db)
{
	struct ht_discovery *found = &listing->found;
	size_t n = found->n_found;
	listing->sources = ht_arena_alloc(&found->arena, (n + 1) * sizeof *listing->sources);
	listing->sizes = ht_arena_alloc(&found->arena, (n + 1) * sizeof *listing->sizes);
	if (!listing->sources || !listing->sizes)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_found *file = &found->found[i];
		listing->sources[i] = file->rank == HT_NO_RANK
		                              ? ht_arena_printf(&found->arena, "=%s", file->path)
		                              : ht_arena_printf(&found->arena, "%" PRId64 "=%s",
		                                        file->rank, file->path);
		if (!listing->sources[i])
			return ht_fail_nomem(ctx);
		HT_TRY(size_of(ctx, file->path, prefer_db, &listing->sizes[i]));
	}
	return HT_OK;
}

enum ht_status ht_listing_make(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_listing **ret_listing)
{
	struct ht_open_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_open_options, own, options, &taken));
	struct ht_listing *listing = ht_mem_zalloc(ctx->mem, sizeof *listing);
	if (!listing)
		return ht_fail_nomem(ctx);
	listing->mem = ht_mem_retain(ctx->mem);
	enum ht_status status = ht_find_files(ctx, sources, n_sources, &taken, &listing->found);
	if (status == HT_OK)
		status = fill(ctx, listing, taken.prefer_db);
	if (status != HT_OK) {
		ht_listing_free(listing);
		return status;
	}
	*ret_listing = listing;
	return HT_OK;
}

void ht_listing_free(ht_listing *listing)
{
	if (!listing)
		return;
	struct ht_mem *mem = listing->mem;
	if (listing->found.arena.mem)
		ht_discovery_done(&listing->found);
	ht_mem_free(mem, listing, sizeof *listing);
	ht_mem_release(mem);
}

size_t ht_listing_n(const ht_listing *listing)
{
	return listing->found.n_found;
}

const char *ht_listing_source(const ht_listing *listing, size_t i)
{
	return i < listing->found.n_found ? listing->sources[i] : "";
}

uint64_t ht_listing_size_bytes(const ht_listing *listing, size_t i)
{
	return i < listing->found.n_found ? listing->sizes[i] : 0;
}

enum ht_status ht_listing_describe(
        ht_ctx *ctx, const ht_listing *listing, const struct ht_sink *sink)
{
	ht_error_clear(ctx);
	const struct ht_discovery *found = &listing->found;
	struct ht_roster roster = { .notes = found->notes,
		.n_notes = found->n_notes,
		.n_repeated = found->n_repeated,
		.missing = found->missing,
		.n_missing = found->n_missing };
	return ht_roster_write(ctx, &roster, sink);
}

/* ---- dealing ---- */

struct lot {
	uint64_t bytes;
	size_t i;
};

static int compare_lots(const void *x, const void *y)
{
	const struct lot *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* The share with the least on top: a heap by bytes, then by share. */
static void sift_down(struct lot *heap, size_t n)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
		/* compare_lots puts the smaller later */
		if (child + 1 < n && (heap[child + 1].bytes < heap[child].bytes ||
		                             (heap[child + 1].bytes == heap[child].bytes &&
		                                     heap[child + 1].i < heap[child].i)))
			child++;
		if (heap[at].bytes < heap[child].bytes ||
		        (heap[at].bytes == heap[child].bytes && heap[at].i < heap[child].i))
			return;
		struct lot swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
	}
}

enum ht_status ht_deal(
        ht_ctx *ctx, const uint64_t *sizes_bytes, size_t n, size_t n_shares, size_t *ret_shares)
{
	ht_error_clear(ctx);
	if (!n_shares)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "there is nobody to deal to");
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	struct lot *lots = ht_arena_alloc(&arena, (n + 1) * sizeof *lots);
	struct lot *heap = ht_arena_alloc(&arena, n_shares * sizeof *heap);
	enum ht_status status = lots && heap ? HT_OK : ht_fail_nomem(ctx);
	for (size_t i = 0; status == HT_OK && i < n; i++)
		lots[i] = (struct lot){ sizes_bytes[i], i };
	for (size_t i = 0; status == HT_OK && i < n_shares; i++)
		heap[i] = (struct lot){ 0, i };
	if (status == HT_OK)
		qsort(lots, n, sizeof *lots, compare_lots);
	for (size_t i = 0; status == HT_OK && i < n; i++) {
		ret_shares[lots[i].i] = heap[0].i;
		/* a file costs something beside its bytes */
		heap[0].bytes += lots[i].bytes + 1;
		sift_down(heap, n_shares);
	}
	ht_arena_done(&arena);
	return status;
}
