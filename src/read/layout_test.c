/*
 * layout_test.c - what is learned, what is shared, and what is refused.
 */
#include "read/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct ht_layout_node *nodes(const struct ht_layouts *layouts)
{
	return layouts->nodes.data;
}

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
	ht_layouts_learn(layouts, text, text + strlen(text), marks, n, shape);
}

static void shares_what_is_common(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_layouts layouts;
	ht_layouts_init(&layouts, mem);
	learn(&layouts, "{\"a\":#,\"b\":#}", 1, 5);
	assert_int_equal(layouts.nodes.n, 4); /* the root, two values, the end */
	learn(&layouts, "{\"a\":#,\"b\":#}", 1, 5);
	assert_int_equal(layouts.nodes.n, 4);
	learn(&layouts, "{\"a\":#,\"b\":#}", 2, 6); /* another type of b, and another end */
	assert_int_equal(layouts.nodes.n, 6);
	learn(&layouts, "{\"a\":#,\"c\":#}", 1, 7);
	assert_int_equal(layouts.nodes.n, 8);
	const struct ht_layout_node *first = &nodes(&layouts)[nodes(&layouts)[0].child];
	assert_int_equal(first->n, 5);
	assert_memory_equal(first->text, "{\"a\":", 5);
	size_t n_children = 0;
	for (uint32_t at = first->child; at; at = nodes(&layouts)[at].next)
		n_children++;
	assert_int_equal(n_children, 3);
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
	assert_int_equal(layouts.nodes.n, 0);
	memcpy(text + HT_MAX_LAYOUT_TEXT, "#}", 3);
	learn(&layouts, text, 1, 0);
	assert_int_equal(layouts.nodes.n, 3);
	/* no text is one that compares equal to nothing */
	learn(&layouts, "{##}", 1, 0);
	assert_int_equal(layouts.nodes.n, 3);
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
	assert_int_equal(layouts.nodes.n, 1 + 32 * 3);
	for (int i = 0; i < 100000; i++) {
		char text[64];
		snprintf(text, sizeof text, "{\"1\":#,\"%d\":#,\"%d\":#,\"%d\":#}", i % 30,
		        i / 30 % 30, i / 900 % 30);
		learn(&layouts, text, 1, 0);
	}
	assert_in_range(layouts.nodes.n, 1000, 4096);
	assert_in_range(mem->now, 1, 2 << 20);
	ht_layouts_done(&layouts);
	ht_mem_release(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_what_is_common),
		cmocka_unit_test(refuses_what_is_too_long),
		cmocka_unit_test(stays_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
