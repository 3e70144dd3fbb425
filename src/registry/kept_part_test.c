/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_part_test.c - kept parts whose hash is right and whose numbers lie are made anew.
 */
#include "base/sink_test_help.h"

#include "base/hash.h"
#include "graph/cp_across.h"
#include "registry/bundle.h"
#include "table/storage.h"
#include "table/table_bytes.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A number that is changed: in which table and column of a summary, to what. */
struct lie {
	size_t table, column;
	int64_t value;
};

struct opened {
	ht_ctx *ctx;
	ht_set *set;
};

static char cache[] = "/tmp/holotrace-kept-XXXXXX";

static void check(ht_ctx *ctx, enum ht_status status)
{
	if (status != HT_OK)
		print_error("%s: %s\n", ht_status_name(status), ht_error(ctx)->message);
	assert_int_equal(status, HT_OK);
}

static struct opened open_example(void)
{
	char path[1024];
	const char *source = path, *root = getenv("HT_SOURCE_ROOT");
	struct ht_open_options options = { .struct_size = sizeof options, .cache_dir = cache };
	struct opened o;
	snprintf(path, sizeof path, "%s/examples/ddp", root ? root : ".");
	assert_int_equal(ht_ctx_new(&o.ctx), HT_OK);
	check(o.ctx, ht_open(o.ctx, &source, 1, &options, &o.set));
	return o;
}

static void close_example(struct opened *o)
{
	ht_close(o->set);
	ht_ctx_free(o->ctx);
}

static const struct ht_query query = { .struct_size = sizeof query, .name = "summary" };

static struct memory_sink read_file(const char *path)
{
	struct memory_sink all = { 0 };
	char block[4096];
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
		assert_true(memory_write(&all, block, n));
	fclose(file);
	return all;
}

/* So that it is made of parts. */
static void forget_answers(void)
{
	static const char front[] = "holotrace kept answer";
	DIR *dir = opendir(cache);
	assert_non_null(dir);
	for (struct dirent *item; (item = readdir(dir));) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", cache, item->d_name);
		if (!strstr(item->d_name, ".part-"))
			continue;
		struct memory_sink all = read_file(path);
		if (all.n > strlen(front) && !memcmp(all.data, front, strlen(front)))
			unlink(path);
		free(all.data);
	}
	closedir(dir);
}

/* The answer as the cache has it, opened anew. */
static struct memory_sink ask(void)
{
	forget_answers();
	struct opened o = open_example();
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	ht_table *table;
	check(o.ctx, ht_ask(o.ctx, &o.set, 1, &query, &table));
	check(o.ctx, ht_render(o.ctx, table, "json", NULL, &sink));
	ht_table_free(table);
	close_example(&o);
	return text;
}

static struct memory_sink pack(ht_ctx *ctx, const ht_table *table)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	struct memory_sink bytes = { 0 };
	ht_table_pack(table, &out);
	assert_false(out.failed);
	assert_true(memory_write(&bytes, out.bytes.data, out.bytes.n));
	ht_vec_free(out.mem, &out.bytes, 1);
	return bytes;
}

/* Put other bytes in place of some in a kept part, with the right hash; whether it has them. */
static bool forge(
        const char *path, const struct memory_sink *honest, const struct memory_sink *lying)
{
	struct memory_sink all = read_file(path);
	char *at = memmem(all.data, all.n, honest->data, honest->n);
	assert_int_equal(honest->n, lying->n);
	if (at) {
		memcpy(at, lying->data, lying->n);
		uint64_t hash = ht_hash(all.data, all.n - sizeof hash);
		memcpy(all.data + all.n - sizeof hash, &hash, sizeof hash);
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(all.data, 1, all.n, file), all.n);
		fclose(file);
	}
	free(all.data);
	return at != NULL;
}

static bool forge_one(const struct memory_sink *honest, const struct memory_sink *lying,
        char *ret_path, size_t cap)
{
	bool found = false;
	DIR *dir = opendir(cache);
	assert_non_null(dir);
	for (struct dirent *item; !found && (item = readdir(dir));) {
		snprintf(ret_path, cap, "%s/%s", cache, item->d_name);
		found = strstr(item->d_name, ".part-") && forge(ret_path, honest, lying);
	}
	closedir(dir);
	return found;
}

/* The same table of the first rank with one number changed. */
static void make_lie(
        const struct lie *lie, struct memory_sink *ret_honest, struct memory_sink *ret_lying)
{
	struct opened o = open_example();
	ht_bundle *bundle;
	check(o.ctx, ht_bundle_make(o.ctx, &o.set, 1, &query, &bundle));
	const ht_table *facts = bundle->parts.list[0].facts[lie->table];
	size_t row = 0;
	while (row < facts->n_rows && ht_table_is_null(facts, row, lie->column))
		row++;
	assert_true(row < facts->n_rows);
	*ret_honest = pack(o.ctx, facts);
	ht_cells_at(facts, lie->column)->i64[row] = lie->value;
	*ret_lying = pack(o.ctx, facts);
	ht_bundle_free(bundle);
	close_example(&o);
}

static void lies_are_made_anew(void **state)
{
	static const struct lie lies[] = {
		{ HT_CP_FACTS_PIECES, HT_CP_PIECE_BOUND, HT_CP_N_BOUNDS },
		{ HT_CP_FACTS_PIECES, HT_CP_PIECE_START, INT64_MAX },
		{ HT_CP_FACTS_CHAINS, HT_CP_CHAIN_FIRST, (int64_t)1 << 32 },
		{ HT_CP_FACTS_CHAINS, HT_CP_CHAIN_N, (int64_t)1 << 40 },
	};
	struct memory_sink answer = ask();
	(void)state;
	for (size_t i = 0; i < HT_COUNT(lies); i++) {
		char path[1024];
		struct memory_sink honest, lying;
		make_lie(&lies[i], &honest, &lying);
		if (!forge_one(&honest, &lying, path, sizeof path))
			fail_msg("lie %zu: no part has the table", i);
		struct memory_sink again = ask();
		assert_int_equal(again.n, answer.n);
		assert_memory_equal(again.data, answer.data, answer.n);
		struct memory_sink mended = read_file(path);
		assert_non_null(memmem(mended.data, mended.n, honest.data, honest.n));
		free(mended.data);
		free(again.data);
		free(honest.data);
		free(lying.data);
	}
	free(answer.data);
}

static int make_cache(void **state)
{
	(void)state;
	return mkdtemp(cache) ? 0 : -1;
}

static int remove_cache(void **state)
{
	char path[1024];
	DIR *dir = opendir(cache);
	(void)state;
	for (struct dirent *item; dir && (item = readdir(dir));) {
		snprintf(path, sizeof path, "%s/%s", cache, item->d_name);
		if (item->d_name[0] != '.')
			unlink(path);
	}
	if (dir)
		closedir(dir);
	return rmdir(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lies_are_made_anew) };
	return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
