/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old_names.c - a program that was written before 0.1.0: every old name of holotrace.h is called, and what it
 * answers is that of its new one. old_names TRACE; test_abi.py compiles it.
 */
#include <holotrace.h>

#include <stdio.h>
#include <string.h>

static ht_ctx *ctx;

static void need(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "old_names: %s: %s\n", what, ht_error(ctx)->message);
	exit(1);
}

static bool hear(void *user, size_t i, enum ht_status status, ht_table *table)
{
	size_t *n_rows = (size_t *)user;
	need(status == HT_OK, "an answer");
	n_rows[i] = ht_table_n_rows(table);
	ht_table_free(table);
	return true;
}

static void ask(ht_set *set)
{
	static const char *const names[] = { "kernels", "steps" };
	struct ht_asked asked = { sizeof asked, "kernels", NULL, 0, NULL };
	struct ht_view first = { sizeof first, NULL, NULL, NULL, 1, 0 };
	const struct ht_view *views[] = { NULL, &first };
	size_t n_rows[2] = { 0, 0 };
	ht_table *table;
	need(ht_run(ctx, "kernels", &set, 1, NULL, 0, NULL, &table) == HT_OK, "ht_run");
	need(!ht_table_says_no(table), "ht_table_says_no");
	need(ht_run_all(ctx, set, names, 2, NULL, 0, views, hear, n_rows) == HT_OK, "ht_run_all");
	need(n_rows[0] == ht_table_n_rows(table) && n_rows[1] == 1, "rows of ht_run_all");
	ht_table_free(table);
	need(ht_ask(ctx, &set, 1, &asked, &table) == HT_OK, "ht_asked");
	need(n_rows[0] == ht_table_n_rows(table), "rows of ht_asked");
	ht_table_free(table);
}

static void add_missing(ht_set *set)
{
	static const char *const line = "rank7.json: it is gone";
	struct ht_query query = { sizeof query, "kernels", NULL, 0, NULL };
	ht_bundle *bundle;
	ht_table *table;
	size_t n_said = 0;
	need(ht_bundle_make(ctx, &set, 1, &query, &bundle) == HT_OK, "ht_bundle_make");
	need(ht_bundle_miss(ctx, bundle, &line, 1) == HT_OK, "ht_bundle_miss");
	need(ht_bundle_table(ctx, bundle, &table) == HT_OK, "ht_bundle_table");
	for (size_t i = 0; i < ht_table_n_notes(table); i++)
		n_said += strstr(ht_table_note(table, i), "rank7.json") != NULL;
	need(n_said == 1, "the note of what is missing");
	ht_table_free(table);
	ht_bundle_free(bundle);
}

int main(int argc, char **argv)
{
	ht_set *set;
	if (argc < 2 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	for (size_t i = 0; i < ht_n_formats(); i++) {
		const struct ht_format *format = ht_format_at(i);
		need(!strcmp(ht_format_name(i), format->name), "ht_format_name");
		need(ht_format_is_binary(format->name) == format->is_binary, "ht_format_is_binary");
	}
	need(!ht_format_name(ht_n_formats()) && !ht_format_is_binary("xml"), "no such format");
	need(ht_open_path(ctx, argv[1], &set) == HT_OK, "ht_open_path");
	ask(set);
	add_missing(set);
	ht_close(set);
	ht_ctx_free(ctx);
	return 0;
}
