/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_test.c - parts whose hash is right and whose numbers lie are refused when they are read.
 */
#include "base/sink_test_help.h"

#include "graph/cp_across.h"
#include "registry/bundle.h"
#include "table/storage.h"

#include <stdio.h>

/* A number that is changed: in which analysis, table, column, to what. The first row that has one is. */
struct lie {
	const char *name;
	size_t table, column;
	int64_t value;
};

static void check(ht_ctx *ctx, enum ht_status status)
{
	if (status != HT_OK)
		print_error("%s: %s\n", ht_status_name(status), ht_error(ctx)->message);
	assert_int_equal(status, HT_OK);
}

static struct memory_sink write_bundle(ht_ctx *ctx, const ht_bundle *bundle)
{
	struct memory_sink bytes = { 0 };
	struct ht_sink sink = { memory_write, &bytes };
	check(ctx, ht_bundle_write(ctx, bundle, &sink));
	return bytes;
}

static ht_bundle *make_bundle(ht_ctx *ctx, ht_set *set, const char *name)
{
	ht_bundle *bundle;
	check(ctx, ht_bundle_make(ctx, &set, 1,
	                   &(struct ht_query){ sizeof(struct ht_query), name, NULL, 0, NULL },
	                   &bundle));
	assert_true(bundle->parts.n > 0);
	return bundle;
}

static void tell(const struct lie *lie, ht_bundle *bundle)
{
	const ht_table *facts = bundle->parts.list[0].facts[lie->table];
	assert_non_null(facts);
	for (size_t row = 0; row < facts->n_rows; row++) {
		if (ht_table_is_null(facts, row, lie->column))
			continue;
		ht_cells_at(facts, lie->column)->i64[row] = lie->value;
		return;
	}
	fail_msg("%s: no number in column %zu of table %zu", lie->name, lie->column, lie->table);
}

static ht_set *open_example(ht_ctx **ret_ctx)
{
	char path[1024];
	const char *source = path, *root = getenv("HT_SOURCE_ROOT");
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	ht_set *set;
	snprintf(path, sizeof path, "%s/examples/ddp", root ? root : ".");
	assert_int_equal(ht_ctx_new(ret_ctx), HT_OK);
	check(*ret_ctx, ht_open(*ret_ctx, &source, 1, &options, &set));
	return set;
}

static void lies_are_refused(void **state)
{
	static const struct lie lies[] = {
		{ "kernel-types", 0, 0, -1 },
		{ "kernel-types", 0, 0, 1 << 20 },
		{ "kernel-breakdown", 0, 0, 99 },
		{ "summary", HT_CP_FACTS_PIECES, HT_CP_PIECE_BOUND, HT_CP_N_BOUNDS },
		{ "summary", HT_CP_FACTS_PIECES, HT_CP_PIECE_START, INT64_MAX },
		{ "summary", HT_CP_FACTS_CHAINS, HT_CP_CHAIN_FIRST, (int64_t)1 << 32 },
		{ "summary", HT_CP_FACTS_CHAINS, HT_CP_CHAIN_N, (int64_t)1 << 40 },
		{ "summary", HT_CP_FACTS_CHAINS, HT_CP_CHAIN_NEXT_INFERRED, 2 },
		{ "summary", HT_CP_FACTS_PIECES, HT_CP_PIECE_BOUND, -1 },
	};
	ht_ctx *ctx;
	ht_set *set = open_example(&ctx);
	(void)state;
	for (size_t i = 0; i < HT_COUNT(lies); i++) {
		ht_bundle *bundle = make_bundle(ctx, set, lies[i].name), *again = NULL;
		struct memory_sink honest = write_bundle(ctx, bundle);
		check(ctx, ht_bundle_read(ctx, honest.data, honest.n, &again));
		ht_bundle_free(again);
		tell(&lies[i], bundle);
		struct memory_sink lying = write_bundle(ctx, bundle);
		if (ht_bundle_read(ctx, lying.data, lying.n, &again) != HT_FORMAT)
			fail_msg("lie %zu, of %s, was taken", i, lies[i].name);
		ht_bundle_free(bundle);
		free(honest.data);
		free(lying.data);
	}
	ht_close(set);
	ht_ctx_free(ctx);
}

/* Rows of a part that are about a rank are about its own: of every analysis, table and column, one cell says otherwise. */
static void rows_of_other_ranks_are_refused(void **state)
{
	static const char *const names[] = { "summary", "advice", "collectives", "stragglers",
		"distributed", "critical-path", "kernel-breakdown", "temporal-breakdown", "steps",
		"idle-breakdown", "comm-overlap" };
	ht_ctx *ctx;
	ht_set *set = open_example(&ctx);
	size_t n_lies = 0;
	(void)state;
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		ht_bundle *bundle = make_bundle(ctx, set, names[i]), *again = NULL;
		const struct ht_part *part = &bundle->parts.list[0];
		for (size_t k = 0; k < HT_PART_TABLES; k++) {
			const ht_table *facts = part->facts[k];
			size_t column = facts ? ht_table_find_column(facts, "rank") : SIZE_MAX;
			if (column == SIZE_MAX || !facts->n_rows ||
			        ht_table_column(facts, column)->type != HT_I64)
				continue;
			size_t row = facts->n_rows - 1;
			int64_t *cell = &ht_cells_at(facts, column)->i64[row], kept = *cell;
			*cell = part->rank + 1;
			struct memory_sink lying = write_bundle(ctx, bundle);
			if (ht_bundle_read(ctx, lying.data, lying.n, &again) != HT_FORMAT)
				fail_msg("%s, table %zu: a row of another rank was taken", names[i],
				        k);
			free(lying.data);
			*cell = kept;
			n_lies++;
		}
		ht_bundle_free(bundle);
	}
	assert_true(n_lies >= 10);
	ht_close(set);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(rows_of_other_ranks_are_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
