/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry_test.c - what descriptors say about their own views and columns is true.
 */
#include "registry/registry.h"

#include "holotrace/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct ht_schema *find_view(
        const struct ht_analysis_info *info, const char *name, size_t n)
{
	for (size_t i = 0; i < info->n_schemas; i++)
		if (strlen(info->schemas[i].name) == n && !memcmp(info->schemas[i].name, name, n))
			return &info->schemas[i];
	fail_msg("%s has no view %.*s", info->name, (int)n, name);
	return NULL;
}

static const struct ht_column *find_column(const struct ht_analysis_info *info,
        const struct ht_schema *view, const char *name, size_t n)
{
	for (size_t i = 0; i < view->n_columns; i++)
		if (strlen(view->columns[i].name) == n && !memcmp(view->columns[i].name, name, n))
			return &view->columns[i];
	fail_msg("%s has no column %.*s in %s", info->name, (int)n, name, view->name);
	return NULL;
}

/* Every item of a list is a view. */
static void check_views(const struct ht_analysis_info *info, const char *list)
{
	assert_non_null(info->chosen_by);
	for (const char *at = list; *at; at += strcspn(at, "|"), at += *at == '|')
		assert_non_null(find_view(info, at, strcspn(at, "|")));
}

static void check_over_time(const struct ht_analysis_info *info, const struct ht_over_time *of)
{
	static const enum ht_type spans[] = { HT_TIME, HT_DURATION, HT_STR, HT_STR, HT_I64 };
	const struct ht_schema *view = find_view(info, of->view, strlen(of->view));
	size_t n = 0;
	assert_non_null(find_column(info, view, "rank", 4));
	for (const char *at = of->columns; *at; at += strcspn(at, ","), at += *at == ',', n++) {
		enum ht_type type = find_column(info, view, at, strcspn(at, ","))->type;
		if (!of->n_keys)
			assert_true(n < HT_COUNT(spans) && type == spans[n]);
		else
			assert_true((type == HT_TIME) == (n == 0));
	}
	assert_true(of->n_keys ? n > 1 + of->n_keys : n == HT_COUNT(spans));
	if (of->peak)
		assert_non_null(find_column(info, info->schemas, of->peak, strlen(of->peak)));
	bool has_points = !of->points;
	for (size_t i = 0; i < info->n_params; i++)
		has_points |= of->points && !strcmp(info->params[i].name, of->points);
	assert_true(has_points);
}

static void test_views_that_are_named_exist(void **state)
{
	(void)state;
	size_t n_over_time = 0;
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->charts)
			check_views(info, info->charts);
		if (info->details)
			check_views(info, info->details);
		if (info->over_time) {
			check_views(info, info->over_time->view);
			check_over_time(info, info->over_time);
			n_over_time++;
		}
	}
	assert_true(n_over_time > 0);
}

static void test_groups_have_titles(void **state)
{
	(void)state;
	for (size_t i = 0; i < ht_n_analyses(); i++)
		if (!ht_group_title(ht_analysis_at(i)->group))
			fail_msg("%s: registry/groups.def has no group %s", ht_analysis_at(i)->name,
			        ht_analysis_at(i)->group);
	assert_string_equal(ht_group_title("engine"), "The data");
	assert_null(ht_group_title("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_views_that_are_named_exist),
		cmocka_unit_test(test_groups_have_titles) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
