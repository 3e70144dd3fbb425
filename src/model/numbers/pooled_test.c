/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pooled_test.c - rules of values, and that each key and value is set once, or the table says which was not.
 */
#include "base/mem.h"
#include "model/numbers/pooled.h"
#include "store/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define KEYS(KEY)                                                                                  \
	KEY(KEY_NAME, "name", HT_STR, HT_KEY, "a name", NULL)                                      \
	KEY(KEY_SHAPE, "shape", HT_STR, HT_KEY, "a shape", NULL)
#define VALUES(VALUE)                                                                              \
	VALUE(VALUE_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "calls", NULL)                        \
	VALUE(VALUE_AREA, SUM_WIDE, "area", HT_I64, HT_MEASURE, "area", NULL)                      \
	VALUE(VALUE_SHORTEST, MIN, "shortest", HT_I64, HT_MEASURE, "shortest", NULL)               \
	VALUE(VALUE_LONGEST, MAX, "longest", HT_I64, HT_MEASURE, "longest", NULL)                  \
	VALUE(VALUE_ANY, ANY, "any", HT_I64, HT_MEASURE, "any", NULL)
HT_COLUMN_NUMBERS(KEYS, N_KEYS);
HT_COLUMN_NUMBERS(VALUES, N_VALUES);
static const uint8_t rules[N_VALUES] = HT_POOL_RULES(VALUES);
static const struct ht_column columns[] = HT_POOL_COLUMNS(KEYS, VALUES);
_Static_assert(HT_COUNT(columns) == HT_POOL_N_COLUMNS(KEYS, VALUES), "a wide value is two");

struct pooling {
	ht_ctx *ctx;
	struct ht_arena scratch;
	struct ht_run run;
	struct ht_pooled pooled;
	ht_table *table;
};

static void begin(struct pooling *p)
{
	assert_int_equal(ht_ctx_new(&p->ctx), HT_OK);
	ht_arena_init(&p->scratch, p->ctx->mem);
	p->run = (struct ht_run){ .ctx = p->ctx, .scratch = &p->scratch };
	ht_pooled_init(&p->pooled, &p->run, N_KEYS, 1, rules, N_VALUES);
	assert_int_equal(
	        ht_table_new(p->ctx, "Operators", columns, HT_COUNT(columns), &p->table), HT_OK);
}

static enum ht_status end(struct pooling *p)
{
	assert_int_equal(ht_pooled_put(&p->pooled, p->table), HT_OK);
	return ht_table_finish(p->ctx, p->table);
}

static void done(struct pooling *p)
{
	ht_table_free(p->table);
	ht_pooled_done(&p->pooled);
	ht_arena_done(&p->scratch);
	ht_ctx_free(p->ctx);
}

/* Pools a row; which key (from 0) or value (from N_KEYS) is not set, and which twice. -1: none. */
static void add(struct pooling *p, const char *name, int64_t value, int without, int twice)
{
	const char *const keys[N_KEYS] = { name, NULL };
	const __int128 values[N_VALUES] = { 1, (__int128)value << 60, value, value, value > 5 };
	size_t group;
	for (int i = 0; i < N_KEYS; i++)
		for (int n = (i != without) + (i == twice); n > 0; n--)
			assert_true(ht_pooled_set_text(&p->pooled, (size_t)i, keys[i]));
	assert_true(ht_pooled_group(&p->pooled, &group));
	for (int i = 0; i < N_VALUES; i++)
		for (int n = (N_KEYS + i != without) + (N_KEYS + i == twice); n > 0; n--)
			ht_pooled_set(&p->pooled, (size_t)i, values[i]);
	ht_pooled_add(&p->pooled, group, 0);
}

static void values_follow_their_rules(void **state)
{
	struct pooling p;
	(void)state;
	begin(&p);
	add(&p, "mm", 3, -1, -1);
	add(&p, "add", 7, -1, -1);
	add(&p, "mm", 9, -1, -1);
	assert_int_equal(end(&p), HT_OK);
	assert_int_equal(ht_table_n_rows(p.table), 2);
	assert_string_equal(ht_table_str(p.table, 1, KEY_NAME), "mm");
	assert_true(ht_table_is_null(p.table, 1, KEY_SHAPE));
	assert_int_equal(ht_pooled_i64(&p.pooled, 0, 0, VALUE_CALLS), 2);
	assert_true(ht_table_i128(p.table, 1, N_KEYS + VALUE_AREA) == (__int128)12 << 60);
	assert_int_equal(ht_pooled_i64(&p.pooled, 0, 0, VALUE_SHORTEST), 3);
	assert_int_equal(ht_pooled_i64(&p.pooled, 0, 0, VALUE_LONGEST), 9);
	assert_int_equal(ht_pooled_i64(&p.pooled, 0, 0, VALUE_ANY), 1);
	done(&p);
}

static void each_key_and_value_is_set_once(void **state)
{
	static const char *const names[N_KEYS + N_VALUES] = { "column name (0)", "column shape (1)",
		"column calls (2)", "column area_high (3)", "column shortest (5)",
		"column longest (6)", "column any (7)" };
	(void)state;
	for (int i = 0; i < N_KEYS + N_VALUES; i++)
		for (int twice = 0; twice < 2; twice++) {
			struct pooling p;
			begin(&p);
			add(&p, "mm", 3, -1, -1);
			add(&p, "mm", 3, twice ? -1 : i, twice ? i : -1);
			add(&p, "mm", 3, -1, -1);
			assert_int_equal(end(&p), HT_INTERNAL);
			assert_non_null(strstr(ht_error(p.ctx)->message, "table 'Operators': "));
			assert_non_null(strstr(ht_error(p.ctx)->message, names[i]));
			done(&p);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_follow_their_rules),
		cmocka_unit_test(each_key_and_value_is_set_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
