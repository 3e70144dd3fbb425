/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_test.c - what each format prints, that nothing harmful gets through, and that csv and json
 * read back as the table's own values. Arrow has its own test.
 */
#include "table/table_test_help.h"

#include "base/checked.h"
#include "base/mem.h"
#include "table/escape.h"
#include "table/format.h"
#include "base/utf8.h"
#include "holotrace/own.h"

#include <stdio.h>

static const struct ht_column columns[] = {
	{ "name", HT_STR, HT_KEY, "kernel", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "time it \"ran\"", NULL },
	{ "share", HT_RATIO, HT_MEASURE, "of busy time", NULL },
	{ "tid", HT_I64, HT_DETAIL, "thread", NULL },
};

static ht_table *small(ht_ctx *ctx)
{
	ht_table *t;
	assert_ok(ht_table_new(ctx, "Kernels", columns, HT_COUNT(columns), &t));
	assert_ok(ht_table_set_method(t, "2 ranks"));
	static const struct {
		const char *name;
		int64_t dur_ns;
		double share;
	} rows[] = { { "gemm|<4>", 41200000, 0.5 }, { "\x1b[2J", 3070, 0.124 }, { "c", 0, 0 } };
	for (size_t i = 0; i < HT_COUNT(rows); i++) {
		ht_table_row(t);
		ht_table_put_str(t, 0, rows[i].name);
		ht_table_put_i64(t, 1, rows[i].dur_ns);
		ht_table_put_f64(t, 2, rows[i].share);
		ht_table_put_known(t, 3, i ? 12345 : 0, 0);
	}
	ht_table_set_bar(t, ht_table_find_column(t, "share"));
	assert_ok(ht_table_add_note(t, "1 event lost"));
	assert_ok(ht_table_finish(ctx, t));
	return t;
}

static void check(ht_ctx *ctx, const ht_table *t, const char *format,
        const struct ht_render_options *options, const char *want)
{
	struct memory_sink got = render(ctx, t, format, options);
	assert_string_equal(got.data, want);
	free(got.data);
}

static void test_text(void **state)
{
	ht_table *t = small(*state);
	check(*state, t, "text", NULL,
	        "Kernels · 2 ranks\n\n"
	        "name           dur   share     tid\n"
	        "gemm|<4>  41.2  ms  50.0 %       –\n"
	        "\\x1b[2J    3.07 µs  12.4 %  12\u2009345\n"
	        "c          0         0      12\u2009345\n"
	        "\n1 event lost\n");
	ht_table_free(t);
}

static void test_text_narrow(void **state)
{
	ht_table *t = small(*state);
	struct ht_render_options options = { .width = 28, .no_title = true };
	assert_ok(ht_table_apply_view(*state, t, &(struct ht_view){ .top = 2 }));
	check(*state, t, "text", &options,
	        "name           dur   share\n"
	        "gemm|<4>  41.2  ms  50.0 %\n"
	        "\\x1b[2J    3.07 µs  12.4 %\n"
	        "… 1 more row\n"
	        "not shown: tid; --wide shows\nall\n"
	        "\n1 event lost\n");
	assert_ok(ht_table_apply_view(*state, t, &(struct ht_view){ .top = 1 }));
	check(*state, t, "text", &options,
	        "name          dur   share\n"
	        "gemm|<4>  41.2 ms  50.0 %\n"
	        "… 2 more rows\n"
	        "empty columns not shown: tid\n"
	        "\n1 event lost\n");
	options.wide = true;
	struct memory_sink got = render(*state, t, "text", &options);
	assert_null(strstr(got.data, "--wide"));
	free(got.data);
	ht_table_free(t);
}

/* What was asked for outranks the length of names; what was not goes first. */
static void test_text_asked_for(void **state)
{
	static const struct ht_column long_named[] = {
		{ "name", HT_STR, HT_KEY, "", NULL },
		{ "dur_ns", HT_DURATION, HT_MEASURE, "", NULL },
		{ "tid", HT_I64, HT_DETAIL, "", NULL },
	};
	struct ht_render_options options = { .width = 40, .no_title = true };
	ht_table *t;
	assert_ok(ht_table_new(*state, "T", long_named, HT_COUNT(long_named), &t));
	ht_table_row(t);
	ht_table_put_str(t, 0, "a_name_that_is_much_too_long_for_the_line");
	ht_table_put_i64(t, 1, 1000);
	ht_table_put_i64(t, 2, 7);
	struct memory_sink got = render(*state, t, "text", &options);
	assert_non_null(strstr(got.data, "not shown: tid"));
	free(got.data);
	assert_ok(
	        ht_table_apply_view(*state, t, &(struct ht_view){ .columns = "name,dur_ns,tid" }));
	got = render(*state, t, "text", &options);
	assert_null(strstr(got.data, "--wide"));
	assert_non_null(strstr(got.data, "  1.00 µs    7\n"));
	free(got.data);
	options.width = 28;
	got = render(*state, t, "text", &options);
	assert_non_null(strstr(got.data, "not shown: tid"));
	free(got.data);
	ht_table_free(t);
}

/* No line is longer than the terminal is wide; what fits a line stays whole. */
static void test_text_long_words(void **state)
{
	ht_table *t = small(*state);
	struct ht_render_options options = { .width = 28, .no_title = true };
	assert_ok(ht_table_add_note(t,
	        "see a_name_of_28_cells_that_fits and_one_that_is_longer_than_any_line_of_28 end"));
	struct memory_sink got = render(*state, t, "text", &options);
	assert_non_null(strstr(got.data, "\nsee\na_name_of_28_cells_that_fits\n"));
	assert_non_null(strstr(got.data, "\nand_one_that_is_longer_than_\nany_line_of_28 end\n"));
	free(got.data);
	/* a number and its unit stay together */
	assert_ok(ht_table_add_note(
	        t, "copies take no more than 12 %%, or 3.5 \xc2\xb5s, of 17 steps"));
	got = render(*state, t, "text", &options);
	assert_non_null(strstr(
	        got.data, "\ncopies take no more than\n12 %, or 3.5 \xc2\xb5s, of 17 steps\n"));
	free(got.data);
	ht_table_free(t);
}

static void test_text_bars_and_color(void **state)
{
	ht_table *t = small(*state);
	struct ht_render_options options = { .bars = true, .no_title = true };
	struct memory_sink got = render(*state, t, "text", &options);
	assert_non_null(strstr(got.data, "–  ██████████\n"));
	assert_non_null(strstr(got.data, "12\u2009345  ██▌\n"));
	assert_null(strchr(got.data, '\x1b'));
	free(got.data);
	options.color = true;
	got = render(*state, t, "text", &options);
	assert_non_null(strstr(got.data, "\x1b[34m██▌\x1b[0m\n"));
	assert_null(strstr(got.data, "\x1b[2J"));
	free(got.data);
	ht_table_free(t);
}

static void test_text_fits(void **state)
{
	ht_table *t = every_type_table(*state);
	for (int width = 40; width < 240; width += 7) {
		struct ht_render_options options = { .width = width, .bars = width % 2 };
		struct memory_sink got = render(*state, t, "text", &options);
		for (const char *line = got.data, *end; (end = strchr(line, '\n'));
		        line = end + 1) {
			size_t cells = ht_utf8_width(line, (size_t)(end - line));
			if (cells > (size_t)width)
				fail_msg("%zu cells of %d: %.*s", cells, width, (int)(end - line),
				        line);
			if (end > line && end[-1] == ' ')
				fail_msg("blank at the end: %.*s", (int)(end - line), line);
		}
		free(got.data);
	}
	ht_table_free(t);
}

static void test_csv(void **state)
{
	ht_table *t = small(*state);
	check(*state, t, "csv", NULL,
	        "name,dur_ns,share,tid\n"
	        "gemm|<4>,41200000,0.5,\n"
	        "\\x1b[2J,3070,0.124,12345\n"
	        "c,0,0,12345\n");
	ht_table_free(t);
}

static ht_table *texts_table(ht_ctx *ctx, const char *const *texts, size_t n)
{
	ht_table *t;
	assert_ok(ht_table_new(ctx, "Texts", columns, 1, &t));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(t);
		ht_table_put_str(t, 0, texts[i]);
	}
	assert_ok(ht_table_finish(ctx, t));
	return t;
}

/* C0, DEL and C1 are shown; tabs and line breaks are the field's own; no other text changes. */
static void test_csv_shows_controls(void **state)
{
	static const char *const texts[] = { "\a\b", "a\x1b]0;x\a,", "\x7f", "\xc2\x80\xc2\x9f",
		"\u00a0", "a\tb", "a\r\nb", "\u202eabc\u200d" };
	ht_table *t = texts_table(*state, texts, HT_COUNT(texts));
	check(*state, t, "csv", NULL,
	        "name\n\\x07\\x08\n\"a\\x1b]0;x\\x07,\"\n\\x7f\n\\x80\\x9f\n\u00a0\na\tb\n"
	        "\"a\r\nb\"\n\u202eabc\u200d\n");
	ht_table_free(t);
}

static void test_safe_csv(void **state)
{
	static const char *const texts[] = { "=1+1", "+a", "-a", "@SUM(a)", "\tx", " =1", "\uff1dx",
		"a=1", "", "=\"a\"", "'=1" };
	struct ht_render_options safe = { .safe_csv = true };
	ht_table *t = texts_table(*state, texts, HT_COUNT(texts));
	check(*state, t, "csv", &safe,
	        "name\n\"'=1+1\"\n\"'+a\"\n\"'-a\"\n\"'@SUM(a)\"\n\"'\tx\"\n\"' =1\"\n\"'\uff1dx\"\na=1\n"
	        "\"\"\n\"'=\"\"a\"\"\"\n'=1\n");
	check(*state, t, "csv", NULL,
	        "name\n=1+1\n+a\n-a\n@SUM(a)\n\tx\n\" =1\"\n\uff1dx\na=1\n\"\"\n\"=\"\"a\"\"\"\n'=1\n");
	ht_table_free(t);
	/* numbers are numbers */
	t = every_type_table(*state);
	struct memory_sink got = render(*state, t, "csv", &safe);
	assert_non_null(strstr(got.data, ",-1234567,"));
	free(got.data);
	ht_table_free(t);
}

static void check_escape(ht_ctx *ctx, const char *text, const char *format, const char *want)
{
	struct memory_sink memory = { 0 };
	struct ht_sink sink = { memory_write, &memory };
	assert_ok(ht_escape(ctx, text, format, &sink));
	assert_string_equal(memory.data ? memory.data : "", want);
	free(memory.data);
}

static void test_escape(void **state)
{
	static const char text[] = "<a>\x1b[1m\xc2\x9b\"\\ *\xff\n";
	check_escape(*state, text, "html", "&lt;a&gt;\\x1b[1m\\x9b&quot;\\ *\ufffd\\n");
	check_escape(*state, text, "md", "\\<a\\>\\\\x1b\\[1m\\\\x9b\"\\\\ \\*\ufffd\\\\n");
	check_escape(*state, text, "json", "\"<a>\\u001b[1m\\u009b\\\"\\\\ *\ufffd\\n\"");
	check_escape(*state, text, "text", "<a>\\x1b[1m\\x9b\"\\ *\ufffd\\n");
	check_escape(*state, "\u00a0\u00e9", "json", "\"\u00a0\u00e9\"");
	check_escape(*state, "", "html", "");
	struct memory_sink memory = { 0 };
	struct ht_sink sink = { memory_write, &memory };
	assert_int_equal(ht_escape(*state, "a", "arrow", &sink), HT_USAGE);
	ht_error_clear(*state);
}

static void test_md(void **state)
{
	ht_table *t = small(*state);
	check(*state, t, "md", NULL,
	        "**Kernels** · 2 ranks\n\n"
	        "| name | dur | share | tid |\n"
	        "| --- | ---: | ---: | ---: |\n"
	        "| gemm\\|\\<4\\> | 41.2 ms | 50.0 % | – |\n"
	        "| \\\\x1b\\[2J | 3.07 µs | 12.4 % | 12\u2009345 |\n"
	        "| c | 0 | 0 | 12\u2009345 |\n"
	        "\n1 event lost\n");
	ht_table_free(t);
}

static void test_folded(void **state)
{
	ht_table *t = small(*state);
	check(*state, t, "folded", NULL, "gemm|<4> 41200000\n\\x1b[2J 3070\n");
	ht_table_free(t);
}

static void test_html(void **state)
{
	ht_table *t = small(*state);
	struct memory_sink got = render(*state, t, "html", NULL);
	static const char *const parts[] = { "<table class=\"ht-table\">\n<caption>Kernels ",
		"title=\"time it &quot;ran&quot;\">dur</th>",
		"<td class=\"ht-text\" data-value=\"gemm|&lt;4&gt;\">gemm|&lt;4&gt;</td>",
		"<td class=\"ht-num\" data-value=\"41200000\">41.2 ms</td>",
		"<td class=\"ht-null\">–</td>", "data-value=\"\\x1b[2J\"",
		"<td colspan=\"4\" class=\"ht-note\">1 event lost</td>" };
	for (size_t i = 0; i < HT_COUNT(parts); i++)
		if (!strstr(got.data, parts[i]))
			fail_msg("%s\nlacks %s", got.data, parts[i]);
	free(got.data);
	ht_table_free(t);
}

static void test_json(void **state)
{
	ht_table *t = small(*state);
	assert_ok(ht_table_apply_view(
	        *state, t, &(struct ht_view){ .columns = "name,dur_ns", .top = 2 }));
	check(*state, t, "json", NULL,
	        "{\"schema\":\"holotrace/1\",\"version\":\"0.1.0\",\"verb\":null,\n"
	        "\"parameters\":{},\n\"selection\":{\"sets\":[]},\n\"inputs\":[],\n"
	        "\"title\":\"Kernels\",\n\"method\":\"2 ranks\",\n\"columns\":[\n"
	        " {\"name\":\"name\",\"label\":\"name\",\"type\":\"string\",\"unit\":null,\"role\":\"key\","
	        "\"sentence\":\"kernel\"},\n"
	        " {\"name\":\"dur_ns\",\"label\":\"dur\",\"type\":\"duration\",\"unit\":\"ns\",\"role\":\"measure\","
	        "\"sentence\":\"time it \\\"ran\\\"\"}],\n"
	        "\"rows\":[\n [\"gemm|<4>\",41200000],\n [\"\\u001b[2J\",3070]],\n"
	        "\"notes\":[\n \"1 event lost\"],\n"
	        "\"findings\":[\n {\"severity\":\"info\",\"kind\":\"note\",\"state\":null,"
	        "\"sentence\":\"1 event lost\",\"values\":{},\"next\":null}],\n"
	        "\"n_hidden\":1,\"truncated\":true,\"check_failed\":false,\n\"next\":[]}\n");
	check(*state, t, "ndjson", NULL,
	        "{\"type\":\"begin\",\"schema\":\"holotrace/1\",\"version\":\"0.1.0\",\"verb\":null, "
	        "\"parameters\":{}, \"selection\":{\"sets\":[]}, \"inputs\":[], "
	        "\"title\":\"Kernels\",\"method\":\"2 ranks\",\"columns\":[ "
	        " {\"name\":\"name\",\"label\":\"name\",\"type\":\"string\",\"unit\":null,\"role\":\"key\","
	        "\"sentence\":\"kernel\"}, "
	        " {\"name\":\"dur_ns\",\"label\":\"dur\",\"type\":\"duration\",\"unit\":\"ns\",\"role\":\"measure\","
	        "\"sentence\":\"time it \\\"ran\\\"\"}]}\n"
	        "{\"type\":\"row\",\"row\":{\"name\":\"gemm|<4>\",\"dur_ns\":41200000}}\n"
	        "{\"type\":\"row\",\"row\":{\"name\":\"\\u001b[2J\",\"dur_ns\":3070}}\n"
	        "{\"type\":\"end\",\"notes\":[  \"1 event lost\"], "
	        "\"findings\":[  {\"severity\":\"info\",\"kind\":\"note\",\"state\":null,"
	        "\"sentence\":\"1 event lost\",\"values\":{},\"next\":null}],"
	        "\"n_hidden\":1,\"truncated\":true,\"check_failed\":false, \"next\":[]}\n");
	ht_table_free(t);
}

/* What JavaScript would round is text: from 2^53 on, on both sides; neighbours are not. */
static void test_json_for_page(void **state)
{
	static const struct ht_column wide[] = { { "at_ns", HT_TIME, HT_KEY, "when", NULL },
		{ "id", HT_U64, HT_KEY, "which", NULL },
		{ "share", HT_RATIO, HT_MEASURE, "how much", NULL } };
	ht_table *t;
	assert_ok(ht_table_new(*state, "T", wide, HT_COUNT(wide), &t));
	static const int64_t times[] = { 9007199254740991, 9007199254740992, -9007199254740992 };
	static const uint64_t ids[] = { 0, UINT64_MAX, 9007199254740991 };
	for (size_t i = 0; i < HT_COUNT(times); i++) {
		ht_table_row(t);
		ht_table_put_i64(t, 0, times[i]);
		ht_table_put_i64(t, 1, (int64_t)ids[i]);
		ht_table_put_f64(t, 2, 0.5);
	}
	assert_ok(ht_table_finish(*state, t));
	struct memory_sink got = { 0 };
	struct ht_sink sink = { memory_write, &got };
	assert_ok(ht_render_for_page(*state, t, "json", NULL, &sink));
	const char *rows = strstr(got.data, "\"rows\"");
	assert_non_null(rows);
	assert_string_equal(rows,
	        "\"rows\":[\n [9007199254740991,0,0.5],\n"
	        " [\"9007199254740992\",\"18446744073709551615\",0.5],\n"
	        " [\"-9007199254740992\",9007199254740991,0.5]],\n"
	        "\"notes\":[],\n\"findings\":[],\n\"hidden\":0,\n\"bar\":null,\n\"check_failed\":false}\n");
	free(got.data);
	ht_table_free(t);
}

/* No byte below a blank but the line end, no delete, no raw C1: for the formats people look at. */
static void test_controls_never_pass(void **state)
{
	static const char *const formats[] = { "text", "md", "html" };
	static const struct ht_column name = { "na\x1bme\n", HT_STR, HT_KEY, "sen\x07tence",
		"u\x1b" };
	ht_table *t;
	assert_ok(ht_table_new(*state, "ti\x1btle", &name, 1, &t));
	assert_ok(ht_table_set_method(t, "me\x08thod"));
	for (int c = 1; c < 0x120; c++) {
		char text[8] = { 'a', (char)c, 'b', 0 };
		if (c >= 0x80)
			snprintf(text, sizeof text, "a%c%cb", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
		ht_table_row(t);
		ht_table_put_str(t, 0, text);
	}
	assert_ok(ht_table_add_note(t, "no\x1b]0;te\x9c"));
	assert_ok(ht_table_finish(*state, t));
	for (size_t f = 0; f < HT_COUNT(formats); f++) {
		struct memory_sink got = render(*state, t, formats[f], NULL);
		for (size_t i = 0; i < got.n; i++) {
			unsigned char byte = (unsigned char)got.data[i];
			unsigned char next = (unsigned char)got.data[i + 1];
			bool bad = (byte < 0x20 && byte != '\n') || byte == 0x7f ||
			           (byte == 0xc2 && next < 0xa0);
			if (bad)
				fail_msg("%s: byte %02x at %zu", formats[f], byte, i);
		}
		free(got.data);
	}
	ht_table_free(t);
}

/* Cell (row, column) against the text a format printed for it, parsed by the C library. */
static void check_cell(
        const ht_table *t, size_t row, size_t column, const char *text, bool shows_controls)
{
	enum ht_type type = ht_table_column(t, column)->type;
	const char *want = type == HT_STR ? ht_table_str(t, row, column) : NULL;
	const char *control = shows_controls && want ? strchr(want, 0x1b) : NULL;
	char shown[256];
	if (control) {
		snprintf(shown, sizeof shown, "%.*s\\x1b%s", (int)(control - want), want,
		        control + 1);
		want = shown;
	}
	if (type == HT_STR)
		assert_string_equal(text, want);
	else if (type == HT_BOOL)
		assert_string_equal(text, ht_table_i64(t, row, column) ? "true" : "false");
	else if (type == HT_U64)
		assert_true(strtoull(text, NULL, 10) == (uint64_t)ht_table_i64(t, row, column));
	else if (ht_type_is_f64(type))
		assert_f64(strtod(text, NULL), ht_table_f64(t, row, column));
	else
		assert_int_equal(strtoll(text, NULL, 10), ht_table_i64(t, row, column));
}

static void test_csv_reads_back(void **state)
{
	ht_table *t = every_type_table(*state);
	struct memory_sink got = render(*state, t, "csv", NULL);
	const char *at = strchr(got.data, '\n') + 1;
	for (size_t row = 0; row < ht_table_n_rows(t); row++)
		for (size_t c = 0; c < ht_table_n_columns(t); c++) {
			char field[256];
			size_t n = 0;
			bool quoted = *at == '"';
			at += quoted;
			while (quoted ? *at != '"' || at[1] == '"' : *at != ',' && *at != '\n') {
				at += quoted && *at == '"';
				field[n++] = *at++;
			}
			field[n] = '\0';
			at += quoted;
			assert_int_equal(*at, c + 1 < ht_table_n_columns(t) ? ',' : '\n');
			at++;
			assert_int_equal(!n && !quoted, ht_table_is_null(t, row, c));
			if (n || quoted)
				check_cell(t, row, c, field, true);
		}
	assert_int_equal(*at, '\0');
	free(got.data);
	ht_table_free(t);
}

/* A JSON string or other scalar; moves past it. */
static const char *take_scalar(const char *at, char *ret_text)
{
	size_t n = 0;
	if (*at != '"') {
		n = strcspn(at, ",]");
		memcpy(ret_text, at, n);
		ret_text[n] = '\0';
		return at + n;
	}
	for (at++; *at != '"'; at++) {
		if (*at != '\\') {
			ret_text[n++] = *at;
			continue;
		}
		at++;
		unsigned code = 0;
		if (*at == 'u' && sscanf(at + 1, "%4x", &code) == 1)
			at += 4;
		ret_text[n++] = *at == 'n' ? '\n' : code ? (char)code : *at;
	}
	ret_text[n] = '\0';
	return at + 1;
}

static void test_json_reads_back(void **state)
{
	ht_table *t = every_type_table(*state);
	struct memory_sink got = render(*state, t, "json", NULL);
	const char *at = strstr(got.data, "\"rows\":[") + 8;
	for (size_t row = 0; row < ht_table_n_rows(t); row++) {
		at = strchr(at, '[') + 1;
		for (size_t c = 0; c < ht_table_n_columns(t); c++) {
			char text[256];
			at = take_scalar(at, text);
			bool is_null = !strcmp(text, "null");
			assert_int_equal(is_null, ht_table_is_null(t, row, c));
			if (!is_null)
				check_cell(t, row, c, text, false);
			assert_int_equal(*at++, c + 1 < ht_table_n_columns(t) ? ',' : ']');
		}
	}
	free(got.data);
	ht_table_free(t);
}

static void test_empty_tables(void **state)
{
	ht_table *t;
	assert_ok(ht_table_new(*state, "Nothing", columns, HT_COUNT(columns), &t));
	assert_ok(ht_table_finish(*state, t));
	check(*state, t, "text", NULL, "Nothing\n\nno rows\n");
	check(*state, t, "csv", NULL, "name,dur_ns,share,tid\n");
	for (size_t i = 0; i < ht_n_formats(); i++)
		free(render(*state, t, ht_format_at(i)->name, NULL).data);
	ht_table_free(t);
	assert_ok(ht_table_new(*state, "", NULL, 0, &t));
	assert_ok(ht_table_finish(*state, t));
	for (size_t i = 0; i < ht_n_formats(); i++)
		free(render(*state, t, ht_format_at(i)->name, NULL).data);
	ht_table_free(t);
}

static void test_unknown_format(void **state)
{
	ht_table *t = small(*state);
	struct memory_sink memory = { 0 };
	struct ht_sink sink = { memory_write, &memory };
	assert_int_equal(ht_render(*state, t, "xml", NULL, &sink), HT_USAGE);
	assert_string_equal(ht_error(*state)->message,
	        "unknown format \"xml\"; formats are text, csv, json, ndjson, md, html, folded, arrow, feather");
	assert_null(ht_format_at(ht_n_formats()));
	ht_table_free(t);
}

/* What a stream of text has written of the first rows is how the whole begins; no other text is like that. */
static void test_streams_grow_at_their_end(void **state)
{
	ht_table *t = every_type_table(*state), *first;
	struct ht_view view = { .struct_size = sizeof view, .top = 1 };
	assert_ok(ht_table_view(*state, t, &view, &first));
	for (size_t i = 0; i < ht_n_formats(); i++) {
		const struct ht_format *format = ht_format_at(i);
		if (format->is_binary)
			continue;
		struct memory_sink some = render(*state, first, format->name, NULL);
		struct memory_sink all = render(*state, t, format->name, NULL);
		bool is_prefix = some.n <= all.n && !memcmp(some.data, all.data, some.n);
		assert_int_equal(is_prefix, format->is_stream);
		free(some.data);
		free(all.data);
	}
	ht_table_free(first);
	ht_table_free(t);
}

/* Notes and bytes are what the descriptor says. */
static void test_descriptors(void **state)
{
	ht_table *t = small(*state);
	for (size_t i = 0; i < ht_n_formats(); i++) {
		const struct ht_format *format = ht_format_at(i);
		struct memory_sink got = render(*state, t, format->name, NULL);
		bool has_note = !format->is_binary && strstr(got.data, "1 event lost");
		assert_int_equal(has_note, format->has_notes);
		assert_int_equal(format->is_binary, memchr(got.data, 0, got.n) != NULL);
		assert_ptr_equal(ht_format_find(format->name), format);
		assert_int_equal(format->ending[0], '.');
		assert_non_null(strchr(format->type, '/'));
		free(got.data);
	}
	assert_null(ht_format_find("xml"));
	assert_null(ht_format_find(NULL));
	ht_table_free(t);
}

static ht_table *million(ht_ctx *ctx)
{
	ht_table *t;
	assert_ok(ht_table_new(ctx, "t", columns, HT_COUNT(columns), &t));
	for (int i = 0; i < 1000000; i++) {
		ht_table_row(t);
		ht_table_put_str(t, 0, i % 3 ? "one" : "another");
		ht_table_put_i64(t, 1, i);
		ht_table_put_f64(t, 2, i / 1e6);
		ht_table_put_null(t, 3);
	}
	assert_ok(ht_table_finish(ctx, t));
	return t;
}

static void test_million_rows(void **state)
{
	ht_table *t = million(*state);
	struct memory_sink got = render(*state, t, "csv", NULL);
	size_t n_lines = 0;
	for (size_t i = 0; i < got.n; i++)
		n_lines += got.data[i] == '\n';
	assert_int_equal(n_lines, 1000001);
	assert_non_null(strstr(got.data + got.n - 40, "\nanother,999999,0.999999,\n"));
	free(got.data);
	struct memory_sink text = render(*state, t, "text", NULL);
	assert_true(text.n > 1000000);
	free(text.data);
	ht_table_free(t);
}

static void test_a_refusing_sink_is_one_error(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *t = every_type_table(ctx);
	for (size_t i = 0; i < ht_n_formats(); i++) {
		struct memory_sink memory = { .accept = 1 };
		struct ht_sink sink = { memory_write, &memory };
		assert_int_equal(ht_render(ctx, t, ht_format_at(i)->name, NULL, &sink), HT_IO);
		assert_string_equal(ht_error(ctx)->message, "the output could not be written");
		memory.accept = 0;
		atomic_store(&ctx->fail_io_in, 1);
		assert_int_equal(ht_render(ctx, t, ht_format_at(i)->name, NULL, &sink), HT_IO);
		assert_int_equal(memory.n, 0);
		free(memory.data);
	}
	ht_table_free(t);
}

static void test_each_allocation_may_fail(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *t = every_type_table(ctx);
	for (size_t i = 0; i < ht_n_formats(); i++)
		for (int n = 1;; n++) {
			struct memory_sink memory = { 0 };
			struct ht_sink sink = { memory_write, &memory };
			atomic_store(&ctx->mem->fail_in, n);
			enum ht_status status =
			        ht_render(ctx, t, ht_format_at(i)->name, NULL, &sink);
			bool fired = atomic_load(&ctx->mem->fail_in) <= 0;
			atomic_store(&ctx->mem->fail_in, 0);
			free(memory.data);
			assert_int_equal(status, fired ? HT_NOMEM : HT_OK);
			if (!fired)
				break;
		}
	ht_table_free(t);
}

static void test_numbers_for_people(void **state)
{
	(void)state;
	static const struct {
		enum ht_type type;
		double value;
		const char *want;
	} cases[] = {
		{ HT_DURATION, 1, "1 ns" },
		{ HT_DURATION, 999, "999 ns" },
		{ HT_DURATION, 1000, "1.00 µs" },
		{ HT_DURATION, 3070, "3.07 µs" },
		{ HT_DURATION, 9995, "10.0 µs" },
		{ HT_DURATION, 99949, "99.9 µs" },
		{ HT_DURATION, 999499, "999 µs" },
		{ HT_DURATION, 999500, "1.00 ms" },
		{ HT_DURATION, 41200000, "41.2 ms" },
		{ HT_DURATION, 1380000000, "1.38 s" },
		{ HT_DURATION, -3070, "-3.07 µs" },
		{ HT_DURATION, 4321e9, "4\u2009321 s" },
		{ HT_DURATION_F64, 5.25, "5.25 ns" },
		{ HT_DURATION_F64, 0.004, "0.00 ns" },
		{ HT_DURATION_F64, 999.6, "1.00 µs" },
		{ HT_DURATION_F64, 1e30, "1.00e+21 s" },
		{ HT_BYTES, 1023, "1\u2009023 B" },
		{ HT_BYTES, 1024, "1.00 KiB" },
		{ HT_BYTES, 1536, "1.50 KiB" },
		{ HT_BYTES, 1048575, "1.00 MiB" },
		{ HT_BYTES, 3.1 * (1 << 30), "3.10 GiB" },
		{ HT_RATIO, 0.124, "12.4 %" },
		{ HT_RATIO, 1, "100.0 %" },
		{ HT_RATIO, 0.0001, "0.0 %" },
		{ HT_RATIO, -0.5, "-50.0 %" },
		{ HT_I64, 1234567, "1\u2009234\u2009567" },
		{ HT_I64, -999, "-999" },
		{ HT_F64, 0.5, "0.500" },
		{ HT_F64, 0.0123, "0.0123" },
		{ HT_F64, 1234.5, "1\u2009235" },
		{ HT_F64, 1e-7, "1.00e-07" },
		{ HT_F64, 1e20, "1.00e+20" },
		{ HT_TIME, 1234567890, "1\u2009234\u2009567.890 µs" },
		{ HT_TIME, 0, "0.000 µs" },
		{ HT_BOOL, 1, "yes" },
		{ HT_F64, 0, "0" },
		{ HT_RATIO, 0, "0" },
		{ HT_BYTES, 0, "0" },
		{ HT_DURATION, 0, "0" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		char buf[HT_FORMAT_BYTES];
		int64_t integer = ht_cut_sat(cases[i].value);
		double floating = cases[i].value;
		struct ht_cells cells = { .meta = { .type = cases[i].type, .role = HT_MEASURE } };
		cells.any = ht_type_is_f64(cases[i].type) ? (void *)&floating : (void *)&integer;
		assert_int_equal(ht_format_human(buf, &cells, 0), strlen(cases[i].want));
		assert_string_equal(buf, cases[i].want);
	}
}

static void test_doubles_read_back(void **state)
{
	(void)state;
	static const double values[] = { 0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123456789,
		1e15, 0.1 + 0.2, 2e-10, 9007199254740993.0 };
	for (size_t i = 0; i < HT_COUNT(values); i++) {
		char buf[HT_FORMAT_BYTES];
		ht_format_f64(buf, values[i]);
		assert_f64(strtod(buf, NULL), values[i]);
	}
	char buf[HT_FORMAT_BYTES];
	ht_format_f64(buf, 0.1);
	assert_string_equal(buf, "0.1");
	ht_format_i64(buf, INT64_MIN);
	assert_string_equal(buf, "-9223372036854775808");
}

/* Texts of words are wrapped in their column, not cut. */
static void test_sentences_wrap(void **state)
{
	static const struct ht_column texts[] = { { .name = "check", .type = HT_STR },
		{ .name = "sentence", .type = HT_STR } };
	ht_table *t = NULL;
	assert_ok(ht_table_new(*state, "", texts, 2, &t));
	ht_table_row(t);
	ht_table_put_str(t, 0, "lost");
	ht_table_put_str(t, 1, "an event could not be read and was left out");
	ht_table_row(t);
	ht_table_put_str(t, 0, "odd");
	ht_table_put_str(t, 1, "it is odd");
	assert_ok(ht_table_finish(*state, t));
	check(*state, t, "text", &(struct ht_render_options){ .width = 30, .no_title = true },
	        "check  sentence\n"
	        "lost   an event could not be\n"
	        "       read and was left out\n"
	        "odd    it is odd\n");
	ht_table_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_ctx, teardown_ctx)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_text_narrow),
		TEST(test_text_asked_for),
		TEST(test_text_long_words),
		TEST(test_text_bars_and_color),
		TEST(test_text_fits),
		TEST(test_csv),
		TEST(test_csv_shows_controls),
		TEST(test_safe_csv),
		TEST(test_escape),
		TEST(test_md),
		TEST(test_folded),
		TEST(test_html),
		TEST(test_json),
		TEST(test_json_for_page),
		TEST(test_controls_never_pass),
		TEST(test_csv_reads_back),
		TEST(test_json_reads_back),
		TEST(test_empty_tables),
		TEST(test_unknown_format),
		TEST(test_streams_grow_at_their_end),
		TEST(test_descriptors),
		TEST(test_million_rows),
		TEST(test_a_refusing_sink_is_one_error),
		TEST(test_each_allocation_may_fail),
		TEST(test_numbers_for_people),
		TEST(test_doubles_read_back),
		TEST(test_sentences_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
