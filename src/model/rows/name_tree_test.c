/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_tree_test.c - paths are equal by their names alone, and their order and texts do not depend on who came first.
 */
#include "model/rows/name_tree.h"

#include "base/mem.h"
#include "store/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ht_mem *mem;
static const struct ht_name_spelling slashes = { " / ", 16, 0 };

/* Add a path of names; returns its number. */
static uint32_t add(struct ht_name_tree *tree, const char *const *names, size_t n)
{
	uint32_t number = HT_NONE, name;
	for (size_t i = 0; i < n; i++) {
		assert_true(ht_name_tree_name(tree, names[i], &name));
		assert_true(ht_name_tree_add(tree, number, name, &number));
	}
	return number;
}

/* In the order that is expected of them. */
static const char *const paths[][3] = { { "a" }, { "a", "b" }, { "a", "b", "x" }, { "a", "c" },
	{ "a!" }, { "b" }, { "b", "a" } };
static const char *const texts[] = { "a", "a / b", "a / b / x", "a / c", "a!", "b", "b / a" };
enum { N_PATHS = sizeof paths / sizeof *paths };

static size_t length(const char *const *path)
{
	size_t n = 0;
	while (n < 3 && path[n])
		n++;
	return n;
}

/* Adds every path, beginning at the first-th and in steps that come by all of them. */
static void check_order(size_t first, size_t step)
{
	struct ht_name_tree tree;
	struct ht_arena arena;
	uint32_t numbers[N_PATHS];
	ht_name_tree_init(&tree, mem);
	ht_arena_init(&arena, mem);
	for (size_t i = 0; i < N_PATHS; i++) {
		size_t k = (first + i * step) % N_PATHS;
		numbers[k] = add(&tree, paths[k], length(paths[k]));
		assert_int_equal(add(&tree, paths[k], length(paths[k])), numbers[k]);
	}
	assert_int_equal(tree.nodes.n, N_PATHS);
	const uint32_t *places = ht_name_tree_places(&tree, &arena);
	assert_non_null(places);
	for (size_t i = 0; i < N_PATHS; i++) {
		assert_int_equal(places[numbers[i]], i);
		assert_string_equal(ht_name_tree_text(&tree, numbers[i], &slashes), texts[i]);
	}
	ht_arena_done(&arena);
	ht_name_tree_done(&tree);
}

static void order_is_that_of_the_names(void **state)
{
	(void)state;
	for (size_t first = 0; first < N_PATHS; first++)
		for (size_t step = 1; step < N_PATHS; step++)
			check_order(first, step);
}

/* A path of n names n0, n1, ...; below the top one of them may be another. */
static uint32_t add_deep(struct ht_name_tree *tree, size_t n, size_t other)
{
	static char names[40][24];
	const char *path[40];
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "n%zu", i);
		path[i] = i == other ? "other" : names[i];
	}
	return add(tree, path, n);
}

static void a_deep_path_shows_both_ends(void **state)
{
	(void)state;
	struct ht_name_tree tree;
	char text[256];
	ht_name_tree_init(&tree, mem);
	assert_string_equal(ht_name_tree_text(&tree, add_deep(&tree, 16, 99), &slashes),
	        "n0 / n1 / n2 / n3 / n4 / n5 / n6 / n7 / n8 / n9 / n10 / n11 / n12 / n13 / n14 / n15");
	snprintf(text, sizeof text, "%s",
	        ht_name_tree_text(&tree, add_deep(&tree, 30, 99), &slashes));
	const char *middle = strstr(text, "… 14 more, ");
	assert_non_null(middle);
	assert_memory_equal(text, "n0 / n1 / n2 / n3 / n4 / n5 / n6 / n7 / …", 40);
	assert_string_equal(strstr(middle, " … / ") + strlen(" … / "),
	        "n22 / n23 / n24 / n25 / n26 / n27 / n28 / n29");
	/* what is left out still keeps paths apart */
	assert_string_not_equal(ht_name_tree_text(&tree, add_deep(&tree, 30, 12), &slashes), text);
	ht_name_tree_done(&tree);
}

static void a_reserved_character_is_no_part_of_a_name(void **state)
{
	(void)state;
	static const struct ht_name_spelling folded = { ";", HT_NAME_PATH_MOST, ';' };
	static const char *const path[] = { "a;b", "c\nd" };
	struct ht_name_tree tree;
	ht_name_tree_init(&tree, mem);
	assert_string_equal(ht_name_tree_text(&tree, add(&tree, path, 1), &folded), "a b");
	assert_string_equal(ht_name_tree_text(&tree, add(&tree, path, 2), &folded), "a b;c d");
	/* as deep as asked for, all is spelled */
	const char *text = ht_name_tree_text(&tree, add_deep(&tree, 40, 99), &folded);
	assert_null(strstr(text, "…"));
	assert_int_equal(tree.deepest, 40);
	ht_name_tree_done(&tree);
}

static void an_empty_tree_has_no_places(void **state)
{
	(void)state;
	struct ht_name_tree tree;
	struct ht_arena arena;
	ht_name_tree_init(&tree, mem);
	ht_arena_init(&arena, mem);
	assert_non_null(ht_name_tree_places(&tree, &arena));
	ht_arena_done(&arena);
	ht_name_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_that_of_the_names),
		cmocka_unit_test(a_deep_path_shows_both_ends),
		cmocka_unit_test(a_reserved_character_is_no_part_of_a_name),
		cmocka_unit_test(an_empty_tree_has_no_places),
	};
	mem = ht_mem_new();
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_mem_release(mem);
	return n_failed;
}
