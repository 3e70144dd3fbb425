/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_layout_test.c - what is learned, what is shared, and what is refused.
 */
#include "base/mem.h"
#include "base/status.h"
#include "read/event_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Learn a text whose values are single characters marked by '#'. */
static void learn(struct ht_layouts *layouts, const char *text, uint8_t last_type, uint32_t shape)
{
	static struct ht_mark marks[8192];
	size_t n = 0;
	for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
		marks[n] = (struct ht_mark){ p, p + 1, (uint32_t)n, 0, 1 };
		n++;
	}
	marks[n - 1].type = last_type;
	struct ht_layout_end known = { .shape = shape };
	ht_layouts_learn(layouts, text, text + strlen(text), marks, n, &known);
}

static void shares_what_is_common(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_layouts layouts;
	ht_layouts_init(&layouts, mem);
	learn(&layouts, "{\"a\":#,\"b\":#}", 1, 5);
	assert_int_equal(layouts.n_nodes, 3); /* two values, the end */
	learn(&layouts, "{\"a\":#,\"b\":#}", 1, 5);
	assert_int_equal(layouts.n_nodes, 3);
	learn(&layouts, "{\"a\":#,\"b\":#}", 2, 6); /* another type of b, and another end */
	assert_int_equal(layouts.n_nodes, 5);
	learn(&layouts, "{\"a\":#,\"c\":#}", 1, 7);
	assert_int_equal(layouts.n_nodes, 7);
	const struct ht_layout_node *first = layouts.first;
	assert_int_equal(first->n, 5);
	assert_memory_equal(first->text, "{\"a\":", 5);
	size_t n_children = 0;
	for (const struct ht_layout_node *node = first->child; node; node = node->next)
		n_children++;
	assert_int_equal(n_children, 3);
	ht_layouts_done(&layouts);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

/* Learn {"ph":"X","cat":"?","name":#} with another letter for the question mark and so many spaces before the name. */
static void learn_event(struct ht_layouts *layouts, char letter, int n_spaces)
{
	char text[128];
	int n = snprintf(text, sizeof text, "{\"ph\":\"X\",\"cat\":\"%c\",%*s\"name\":", letter,
	        n_spaces, "");
	const char *name = text + n;
	snprintf(text + n, sizeof text - (size_t)n, "#}");
	const struct ht_mark marks[] = {
		{ text + 6, text + 9, HT_FIELD_PH, 0, HT_LAYOUT_FIELD + HT_FIELD_PH },
		{ text + 16, text + 19, HT_FIELD_CAT, 0, HT_LAYOUT_FIELD + HT_FIELD_CAT },
		{ name, name + 1, HT_FIELD_NAME, 0, HT_LAYOUT_FIELD + HT_FIELD_NAME },
	};
	struct ht_layout_end known = { .shape = 3, .cat = (uint32_t)letter, .ph = 'X' };
	ht_layouts_learn(layouts, text, name + 2, marks, HT_COUNT(marks), &known);
}

static void phases_and_categories_are_text(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_layouts layouts;
	ht_layouts_init(&layouts, mem);
	learn_event(&layouts, 'a', 0);
	assert_int_equal(layouts.n_nodes, 2); /* the name and the end */
	assert_string_equal(layouts.first->text, "{\"ph\":\"X\",\"cat\":\"a\",\"name\":");
	const struct ht_layout_end *end = &layouts.first->child->end;
	assert_true(end->fixes_ph && end->fixes_cat && end->ph == 'X' && end->cat == 'a' &&
	            end->shape == 3);
	/* as far as they fit: the category is a value here */
	learn_event(&layouts, 'b', 50);
	assert_int_equal(layouts.n_nodes, 5);
	const struct ht_layout_node *second = layouts.first->next;
	assert_string_equal(second->text, "{\"ph\":\"X\",\"cat\":");
	end = &second->child->child->end;
	assert_true(end->fixes_ph && !end->fixes_cat);
	/* 16 at one place; then the phase is a value, and behind it 16 again, and then the category is one, too */
	for (char letter = 'c'; letter < 'c' + 14; letter++)
		learn_event(&layouts, letter, 0);
	assert_int_equal(layouts.n_nodes, 5 + 14 * 2);
	for (char letter = 'A'; letter < 'Z'; letter++)
		learn_event(&layouts, letter, 0);
	assert_int_equal(layouts.n_nodes, 5 + 14 * 2 + 1 + 16 * 2 + 3);
	learn_event(&layouts, 'd', 0);
	assert_int_equal(layouts.n_nodes, 5 + 14 * 2 + 1 + 16 * 2 + 3);
	ht_layouts_done(&layouts);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

static void refuses_what_is_too_long(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_layouts layouts;
	char text[HT_MAX_LAYOUT_TEXT + 4];
	ht_layouts_init(&layouts, mem);
	memset(text, ' ', sizeof text);
	memcpy(text + HT_MAX_LAYOUT_TEXT, " #}", 4);
	learn(&layouts, text, 1, 0);
	assert_int_equal(layouts.n_nodes, 0);
	memcpy(text + HT_MAX_LAYOUT_TEXT, "#}", 3);
	learn(&layouts, text, 1, 0);
	assert_int_equal(layouts.n_nodes, 2);
	/* no text is one that compares equal to nothing */
	learn(&layouts, "{##}", 1, 0);
	assert_int_equal(layouts.n_nodes, 2);
	ht_layouts_done(&layouts);
	ht_mem_release(mem);
}

/* Many layouts that differ at once, and many that differ late. */
static void stays_bounded(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_layouts layouts;
	ht_layouts_init(&layouts, mem);
	for (int i = 0; i < 1000; i++) {
		char text[32];
		snprintf(text, sizeof text, "{\"%d\":#,\"b\":#}", i);
		learn(&layouts, text, 1, 0);
	}
	assert_int_equal(layouts.n_nodes, 32 * 3);
	for (int i = 0; i < 100000; i++) {
		char text[64];
		snprintf(text, sizeof text, "{\"1\":#,\"%d\":#,\"%d\":#,\"%d\":#}", i % 30,
		        i / 30 % 30, i / 900 % 30);
		learn(&layouts, text, 1, 0);
	}
	assert_in_range(layouts.n_nodes, 1000, 4096);
	assert_in_range(mem->now, 1, 2 << 20);
	ht_layouts_done(&layouts);
	ht_mem_release(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_what_is_common),
		cmocka_unit_test(phases_and_categories_are_text),
		cmocka_unit_test(refuses_what_is_too_long),
		cmocka_unit_test(stays_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
