/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.c - a report as one page with charts: style, script and tables in one file, nothing fetched.
 *
 * The script comes from web/src/report and reads the tables as JSON from the page itself. The policy in the head lets
 * the browser run that script only (by its hash), so nothing in a trace's names could run even if it got out of its
 * quotes. Without the script, in a browser that refuses it, a sentence says where the same numbers are.
 */
#include "asset.h"
#include "report.h"
#include "report_timeline.h"
#include "script_json.h"
#include "holotrace/own.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE_BYTES (400 << 10)
#define MAX_CURVE_BYTES (700 << 10)

bool report_has_page(void)
{
	return ht_asset_find("report.js") != NULL && ht_asset_find("report.css") != NULL;
}

static void write_asset(struct output *output, const struct ht_asset *asset)
{
	struct ht_sink sink = output_sink(output);
	(void)sink.write(sink.user, asset->bytes, asset->n);
}

static void write_head(struct output *output, const struct report *report)
{
	const struct ht_asset *script = ht_asset_find("report.js");
	const struct ht_asset *style = ht_asset_find("report.css");
	output_text(output,
	        "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n");
	output_print(output,
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	        "script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
	        "form-action 'none'\">\n",
	        script->sha256);
	output_text(output,
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	        "<meta name=\"color-scheme\" content=\"light\">\n<title>");
	output_escaped(output, report->name, "html");
	output_text(output, " · Holotrace report</title>\n<style>");
	write_asset(output, style);
	output_text(output,
	        "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n<noscript><p>This page "
	        "needs JavaScript, which is inside of it; nothing is fetched. The same "
	        "tables as text: <code>holotrace report</code>.</p></noscript>\n");
}

static void write_section(struct script_json *json, const struct report_section *section)
{
	const struct ht_analysis_info *info = section->info;
	const char *const texts[][2] = {
		{ "name", info->name },
		{ "group", info->group },
		{ "group_title", ht_group_title(info->group) },
		{ "title", info->title },
		{ "question", info->question },
		{ "method", info->method },
		{ "problem", section->problem },
	};
	script_json_raw(json, "{");
	for (size_t i = 0; i < COUNT(texts); i++) {
		script_json_key(json, texts[i][0], i == 0);
		script_json_text(json, texts[i][1]);
	}
	script_json_key(json, "table", false);
	if (section->table != NULL)
		script_json_table(json, section->table, NULL, MAX_TABLE_BYTES);
	else
		script_json_raw(json, "null");
	script_json_raw(json, "}");
}

static void write_extras(struct script_json *json, const struct report *report)
{
	script_json_key(json, "extras", false);
	script_json_raw(json, "{");
	for (size_t i = 0; i < report->n_extras; i++) {
		const struct report_extra *extra = &report->extras[i];
		script_json_key(json, extra->key, i == 0);
		script_json_raw(json, "{");
		script_json_key(json, "series", true);
		script_json_i64(json, (int64_t)extra->n_series);
		script_json_key(json, "of", false);
		script_json_i64(json, (int64_t)extra->n_of);
		script_json_key(json, "table", false);
		script_json_table(json, extra->table, extra->kept, MAX_CURVE_BYTES);
		script_json_raw(json, "}\n");
	}
	script_json_raw(json, "}");
}

static void write_data(struct script_json *json, const struct report *report)
{
	script_json_raw(json, "{");
	script_json_key(json, "version", true);
	script_json_text(json, ht_version());
	script_json_key(json, "name", false);
	script_json_text(json, report->name);
	script_json_key(json, "base", false);
	script_json_text(json, report->base);
	script_json_key(json, "ranks", false);
	script_json_i64(json, (int64_t)report->n_ranks);
	script_json_key(json, "events", false);
	script_json_i64(json, (int64_t)report->n_events);
	script_json_key(json, "loss", false);
	script_json_text(json, report->loss);
	script_json_key(json, "sections", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < report->n_sections; i++) {
		script_json_raw(json, i > 0 ? ",\n" : "\n");
		write_section(json, &report->sections[i]);
	}
	script_json_raw(json, "]");
	write_extras(json, report);
	script_json_key(json, "timeline", false);
	report_write_timeline(json->ctx, json, report);
	script_json_key(json, "empty", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < report->n_empty; i++) {
		if (i > 0)
			script_json_raw(json, ",");
		script_json_text(json, report->empty[i]);
	}
	script_json_raw(json, "]}");
}

enum ht_status report_write_page(ht_ctx *ctx, const struct report *report, struct output *output)
{
	struct script_json *json = malloc(sizeof(*json));
	if (json == NULL) {
		output->failed = true;
		return HT_NOMEM;
	}
	write_head(output, report);
	output_text(output, "<script type=\"application/json\" id=\"data\">");
	script_json_init(json, ctx, output);
	write_data(json, report);
	script_json_flush(json);
	free(json);
	output_text(output, "</script>\n<script>");
	write_asset(output, ht_asset_find("report.js"));
	output_text(output, "</script>\n</body>\n</html>\n");
	return HT_OK;
}
