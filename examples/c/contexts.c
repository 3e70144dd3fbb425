/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts.c - limits, threads, progress and memory of a context, and what a set says of its files: contexts TRACE...
 */
#include "example.h"

static void *allocate(void *user, size_t n_bytes)
{
	(void)user;
	return malloc(n_bytes);
}

static void release(void *user, void *block, size_t n_bytes)
{
	(void)user;
	(void)n_bytes;
	free(block);
}

static bool tell_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user;
	fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 "\r", what, done, total);
	return true; /* false cancels */
}

/* A context with an allocator of one's own, two threads and at most 4 GiB, which reads below one folder only. */
static ht_ctx *make_context(const char *folder)
{
	struct ht_ctx_options options = {
		.struct_size = sizeof(options), .allocate = allocate, .release = release
	};
	ht_ctx *ctx;
	if (ht_ctx_new_with(&options, &ctx) != HT_OK)
		exit(1);
	ht_ctx_set_jobs(ctx, 2);
	ht_ctx_set_memory_limit(ctx, (uint64_t)4 << 30);
	ht_ctx_set_progress(ctx, tell_progress, NULL);
	if (folder != NULL)
		need(ctx, ht_ctx_confine(ctx, &folder, 1));
	return ctx;
}

/* What the files are, and what reading them has to say. */
static void describe(ht_ctx *ctx, const char *path)
{
	ht_set *set;
	need(ctx, ht_open_path(ctx, path, &set));
	for (size_t i = 0; i < ht_set_n_ranks(set); i++)
		printf("rank %" PRId64 ": %" PRIu64 " events in %s\n", ht_set_rank(set, i),
		        ht_set_n_events(set, i), ht_set_path(set, i));
	if (ht_set_loss_note(set) != NULL)
		printf("%s\n", ht_set_loss_note(set));
	for (size_t i = 0; i < ht_set_n_notes(set); i++)
		printf("%s\n", ht_set_note(set, i));
	printf("%s would %sbe written over\n", path, ht_set_reads(set, path) ? "not " : "");
	ht_close(set);
}

/* Ranks of several sets as one, and a text that tells two of them apart. */
static void join(ht_ctx *ctx, const char *path)
{
	ht_set *one, *both;
	struct bytes text = { NULL, 0 };
	struct ht_sink sink = { keep_bytes, &text };
	need(ctx, ht_open(ctx, &path, 1, NULL, &one));
	struct ht_member members[] = { { one, 0 }, { one, 0 } };
	need(ctx, ht_set_join(ctx, members, 2, &both));
	ht_close(one);
	need(ctx, ht_dump(ctx, both, &sink));
	printf("%zu ranks, %zu bytes of dump\n", ht_set_n_ranks(both), text.n);
	free(text.data);
	ht_close(both);
}

/* What there is to open below a folder. */
static void look(ht_ctx *ctx, const char *folder)
{
	ht_catalog *catalog;
	need(ctx, ht_catalog_find(ctx, &folder, 1, &catalog));
	for (size_t i = 0; i < ht_catalog_n(catalog); i++) {
		const struct ht_recording *recording = ht_catalog_at(catalog, i);
		printf("%s: %s\n", recording->path,
		        recording->why_not ? recording->why_not : "a trace");
	}
	ht_catalog_free(catalog);
}

int main(int argc, char **argv)
{
	uint64_t now, peak;
	if (argc < 2)
		return 2;
	printf("holotrace %s, %s\n", ht_version(), ht_build_info());
	ht_ctx *ctx = make_context(argc > 2 ? argv[2] : NULL);
	describe(ctx, argv[1]);
	join(ctx, argv[1]);
	if (argc > 2)
		look(ctx, argv[2]);
	ht_ctx_memory(ctx, &now, &peak);
	printf("%s\n", peak > 0 ? "memory was used, and is free again" : "no memory was used");
	ht_ctx_free(ctx);
	return now == 0 ? 0 : 1;
}
