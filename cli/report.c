/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - a report as text for the terminal, as Markdown, or as one HTML page.
 *
 * The tables themselves are written by the library's renderers; here is only what stands around them. HTML is the page
 * with charts (report_page.c) where the build has it, and plain tables otherwise.
 */
#include "report.h"
#include "page.h"

#include <string.h>

/* A count with a thin space between thousands, as in the tables, and its noun. */
static void print_count(struct output *output, uint64_t n, const char *noun)
{
	char digits[24];
	int n_digits = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	for (int i = 0; i < n_digits; i++)
		output_print(output, "%s%c", i > 0 && (n_digits - i) % 3 == 0 ? "\u2009" : "",
		        digits[i]);
	output_print(output, " %s%s", noun, n == 1 ? "" : "s");
}

static void print_size(const struct report *report, struct output *output)
{
	print_count(output, report->n_ranks, "rank");
	output_text(output, " · ");
	print_count(output, report->n_events, "event");
	output_print(output, " · holotrace %s", ht_version());
}

static void print_empty(const struct report *report, struct output *output)
{
	for (size_t i = 0; i < report->n_empty; i++)
		output_print(output, "%s%s", i > 0 ? ", " : "No data for: ", report->empty[i]);
}

static void bold(struct output *output, const char *text, bool color)
{
	output_print(output, color ? "\033[1m%s\033[0m" : "%s", text);
}

static enum ht_status write_text(ht_ctx *ctx, const struct report *report,
        const struct ht_render_options *look, struct output *output)
{
	struct ht_sink sink = output_sink(output);
	bold(output, "Report", look->color);
	output_text(output, " · ");
	output_escaped(output, report->name, "text");
	output_text(output, " · ");
	print_size(report, output);
	output_text(output, "\n");
	for (size_t i = 0; i < report->n_sections; i++) {
		const struct report_section *section = &report->sections[i];
		output_text(output, "\n");
		bold(output, section->info->title, look->color);
		output_print(output, " · holotrace %s\n", section->info->name);
		if (section->table == NULL) {
			output_text(output, "failed: ");
			output_escaped(output, section->problem, "text");
			output_text(output, "\n");
			continue;
		}
		enum ht_status status = ht_render(ctx, section->table, "text", look, &sink);
		if (status != HT_OK)
			return status;
	}
	if (report->n_empty > 0) {
		output_text(output, "\n");
		print_empty(report, output);
		output_text(output, "\n");
	}
	return HT_OK;
}

static enum ht_status write_md(ht_ctx *ctx, const struct report *report,
        const struct ht_render_options *look, struct output *output)
{
	struct ht_sink sink = output_sink(output);
	output_text(output, "# Holotrace report: ");
	output_escaped(output, report->name, "md");
	output_text(output, "\n\n");
	print_size(report, output);
	if (report->loss != NULL)
		output_print(output, "\n\n**%s.**", report->loss);
	output_text(output, "\n");
	for (size_t i = 0; i < report->n_sections; i++) {
		const struct report_section *section = &report->sections[i];
		output_print(
		        output, "\n## %s\n\n%s\n\n", section->info->title, section->info->question);
		if (section->table == NULL) {
			output_text(output, "**Failed:** ");
			output_escaped(output, section->problem, "md");
			output_text(output, "\n");
			continue;
		}
		enum ht_status status = ht_render(ctx, section->table, "md", look, &sink);
		if (status != HT_OK)
			return status;
		output_print(output, "\n*%s* (`holotrace %s`)\n", section->info->method,
		        section->info->name);
	}
	if (report->n_empty > 0) {
		output_text(output, "\n");
		print_empty(report, output);
		output_text(output, "\n");
	}
	return HT_OK;
}

static void write_html_head(const struct report *report, struct output *output)
{
	page_begin(output, "Holotrace report");
	output_text(output, "<h1>Holotrace report: ");
	output_escaped(output, report->name, "html");
	output_text(output, "</h1>\n<p class=\"dim\">");
	print_size(report, output);
	output_text(output, "</p>\n");
	if (report->loss != NULL) {
		output_text(output, "<p class=\"bad\">");
		output_escaped(output, report->loss, "html");
		output_text(output, "</p>\n");
	}
	output_text(output, "<nav>\n");
	for (size_t i = 0; i < report->n_sections; i++)
		output_print(output, "<a href=\"#%s\">%s</a>\n", report->sections[i].info->name,
		        report->sections[i].info->title);
	output_text(output, "</nav>\n");
}

static enum ht_status write_html_section(ht_ctx *ctx, const struct report_section *section,
        const struct ht_render_options *look, struct output *output)
{
	const struct ht_analysis_info *info = section->info;
	struct ht_sink sink = output_sink(output);
	enum ht_status status = HT_OK;
	output_print(output, "<section id=\"%s\">\n<h2>", info->name);
	output_escaped(output, info->title, "html");
	output_text(output, "</h2>\n<p>");
	output_escaped(output, info->question, "html");
	output_text(output, "</p>\n");
	if (section->table != NULL) {
		status = ht_render(ctx, section->table, "html", look, &sink);
	} else {
		output_text(output, "<p class=\"bad\">Failed: ");
		output_escaped(output, section->problem, "html");
		output_text(output, "</p>\n");
	}
	output_text(output, "<details><summary>Method</summary><p>");
	output_escaped(output, info->method, "html");
	output_print(output,
	        "</p><p class=\"dim\"><code>holotrace %s</code></p></details>\n</section>\n",
	        info->name);
	return status;
}

static enum ht_status write_html(ht_ctx *ctx, const struct report *report,
        const struct ht_render_options *look, struct output *output)
{
	write_html_head(report, output);
	for (size_t i = 0; i < report->n_sections; i++) {
		enum ht_status status = write_html_section(ctx, &report->sections[i], look, output);
		if (status != HT_OK)
			return status;
	}
	if (report->n_empty > 0) {
		output_text(output, "<p class=\"dim\">");
		print_empty(report, output);
		output_text(output, "</p>\n");
	}
	page_end(output);
	return HT_OK;
}

enum ht_status report_write(ht_ctx *ctx, const struct report *report, const char *format,
        struct ht_render_options *look, struct output *output)
{
	look->no_title = true;
	if (strcmp(format, "html") == 0 && report_has_page())
		return report_write_page(ctx, report, output);
	if (strcmp(format, "html") == 0)
		return write_html(ctx, report, look, output);
	if (strcmp(format, "md") == 0)
		return write_md(ctx, report, look, output);
	return write_text(ctx, report, look, output);
}
