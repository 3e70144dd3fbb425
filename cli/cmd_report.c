/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - run every analysis that the traces support and write one page.
 *
 * In the registry's order: the verdict and the health of the data come first. Comparisons need a second run (--base);
 * left out is the event list, which is the trace itself. An analysis without data is named in one
 * line; one that fails says why in its place, and the rest goes on.
 */
#include "report.h"
#include "result.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHART_ROWS    500 /* of the page, whose tables open row by row */
#define PAGE_ROWS     50
#define TERMINAL_ROWS 10
#define RANK_ROWS     20000 /* of tables by rank and step, which charts show whole */

static int run(struct cli *cli);

static const struct opt report_opts[] = {
	{ "base", 0, "RUN", NULL, NULL,
	        "also compare with this run: what became slower and faster since", "Result",
	        false },
};

const struct verb command_report = {
	.name = "report",
	.usage = "TRACE...",
	.summary = "Summarise a run: every analysis that the traces support, on one page",
	.text = "Runs all analyses over one set of traces and writes the tables as text, Markdown or a "
	        "self-contained HTML page with charts, with the verdict and the health of the data first; --base adds a "
	        "comparison with another run. Analyses that find nothing are "
	        "listed in one line; each table ends with the number of rows that are not shown.",
	.takes = TAKES_TRACES | TAKES_CHOICE | TAKES_PAGE,
	.opts = report_opts,
	.n_opts = COUNT(report_opts),
	.is_distributable = true,
	.run = run,
};

static char *describe(const struct ht_error *error)
{
	size_t n = strlen(error->message) + (error->hint != NULL ? strlen(error->hint) : 0) + 4;
	char *text = malloc(n);
	if (text != NULL)
		snprintf(text, n, "%s%s%s", error->message, error->hint != NULL ? ". " : "",
		        error->hint != NULL ? error->hint : "");
	return text;
}

/* The analyses that are asked, and where their answers go. */
struct questions {
	struct cli *cli;
	struct report *report;
	const struct ht_analysis_info **infos;
	struct ht_view *views;
	struct ht_query *asked; /* the analyses, then what is behind charts */
	size_t n, n_charts;
	struct ht_arg args[OPTS_MAX];
	size_t n_args;
	uint64_t top; /* rows of a table */
	bool is_page;
	int code; /* other than EXIT_DONE: the report ends */
};

/* How many rows of it are shown: the page's charts want tables by rank and step, which no text tells apart, whole. */
static uint64_t rows_of(const struct questions *q, const struct ht_analysis_info *info)
{
	const struct ht_schema *schema = &info->schemas[0];
	if (!q->is_page || q->top != CHART_ROWS)
		return q->top;
	for (size_t i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].role == HT_KEY && schema->columns[i].type == HT_STR)
			return q->top;
	}
	return RANK_ROWS;
}

/* Put one answer into the report; false ends it. */
static bool add_section(void *user, size_t i, enum ht_status status, ht_table *table)
{
	struct questions *q = user;
	struct report *report = q->report;
	struct report_section section = { .info = q->infos[i], .table = table };
	if (section.info == NULL) {
		report_take_chart(report, i - (q->n - q->n_charts), table);
		return true;
	}
	if (status == HT_USAGE) {
		q->code = cli_fail(q->cli);
		return false;
	}
	if (status == HT_MISSING || (status == HT_OK && ht_table_n_rows(table) == 0)) {
		ht_table_free(table);
		report->empty[report->n_empty++] = section.info->name;
		return true;
	}
	if (status != HT_OK) {
		section.problem = describe(session_error(q->cli));
		if (section.problem == NULL) {
			q->code = cli_fail_nomem();
			return false;
		}
	}
	report->sections[report->n_sections++] = section;
	if (q->is_page && table != NULL && q->views[i].where == NULL)
		report_note_peaks(report, section.info, table);
	if (q->is_page && table != NULL)
		q->code = report_cut(q->cli, &report->sections[report->n_sections - 1].table,
		        rows_of(q, section.info));
	return q->code == EXIT_DONE;
}

static void add_question(struct questions *q, const struct ht_analysis_info *info)
{
	/* the page shows what costs most; the others keep the order of the analysis */
	struct ht_view *view = &q->views[q->n];
	*view = (struct ht_view){ .struct_size = sizeof(*view), .top = q->is_page ? 0 : q->top };
	if (q->top != 0)
		view->where = info->overview;
	q->infos[q->n] = info;
	q->asked[q->n++] =
	        (struct ht_query){ sizeof(struct ht_query), info->name, q->args, q->n_args, view };
}

/* The comparisons with another run, one after the other. */
static void compare(struct questions *q)
{
	ht_set *sets[] = { q->report->base_set, q->report->set };
	bool more = sets[0] != NULL;
	for (size_t i = 0; more && q->code == EXIT_DONE && i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets != 2 || info->sides[0] != NULL || info->lists_events)
			continue;
		ht_table *table = NULL;
		size_t at = q->n;
		add_question(q, info);
		enum ht_status status = session_run(
		        q->cli, info->name, sets, 2, q->args, q->n_args, q->asked[at].view, &table);
		more = add_section(q, at, status, table);
	}
}

static int ask(struct questions *q)
{
	struct cli *cli = q->cli;
	size_t n = ht_n_analyses(), n_room = n + REPORT_MAX_EXTRAS + 1;
	struct report_chart_args charts[REPORT_MAX_EXTRAS];
	q->n_args = session_args(cli, NULL, q->args);
	q->infos = calloc(n_room, sizeof(*q->infos));
	q->views = calloc(n_room, sizeof(*q->views));
	q->asked = calloc(n_room, sizeof(*q->asked));
	if (q->infos == NULL || q->views == NULL || q->asked == NULL)
		return cli_fail_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets == 1 && !info->lists_events)
			add_question(q, info);
	}
	if (q->is_page) {
		report_list_charts(q->report);
		q->n_charts =
		        report_ask_charts(q->report, q->args, q->n_args, charts, &q->asked[q->n]);
		q->n += q->n_charts;
	}
	if (session_run_all(cli, q->report->set, q->asked, q->n, add_section, q) != HT_OK)
		return cli_fail(cli);
	compare(q);
	return q->code;
}

static void questions_done(struct questions *q)
{
	free(q->infos);
	free(q->views);
	free(q->asked);
}

static int collect(struct cli *cli, struct report *report, uint64_t top, bool is_page)
{
	size_t n = ht_n_analyses();
	report->sections = calloc(n + 1, sizeof(*report->sections));
	report->empty = calloc(n + 1, sizeof(*report->empty));
	if (report->sections == NULL || report->empty == NULL)
		return cli_fail_nomem();
	report->n_ranks = ht_set_n_ranks(report->set);
	for (size_t i = 0; i < report->n_ranks; i++)
		report->n_events += ht_set_n_events(report->set, i);
	report->loss = ht_set_loss_note(report->set);
	struct questions questions = {
		.cli = cli, .report = report, .top = top, .is_page = is_page
	};
	int code = ask(&questions);
	questions_done(&questions);
	if (is_page && code == EXIT_DONE)
		code = report_add_extras(cli, report);
	progress_clear(&cli->progress);
	return code;
}

static int write_report(struct cli *cli, const struct report *report, const char *format)
{
	struct output output;
	struct ht_render_options look = result_look(cli);
	int code = output_open(&output, cli->ctx, opts_value(&cli->opts, "output"));
	if (code != EXIT_DONE)
		return code;
	enum ht_status status = report_write(cli->ctx, report, format, &look, &output);
	if (status != HT_OK && !output.failed) {
		(void)output_close(&output, false);
		return cli_fail(cli);
	}
	return output_close(&output, true);
}

static void report_done(struct report *report)
{
	for (size_t i = 0; i < report->n_sections; i++) {
		if (report->sections[i].table != NULL)
			ht_table_free(report->sections[i].table);
		free(report->sections[i].problem);
	}
	report_extras_done(report);
	free(report->sections);
	free(report->empty);
}

/* Say how many analyses failed; the exit code of the whole. */
static int count_failures(const struct report *report)
{
	size_t n_failed = 0;
	for (size_t i = 0; i < report->n_sections; i++)
		n_failed += report->sections[i].table == NULL;
	if (n_failed == 0)
		return EXIT_DONE;
	cli_say("%zu of %zu analyses failed; the report says why", n_failed, report->n_sections);
	return EXIT_LIMIT;
}

static int report_sets(
        struct cli *cli, ht_set *set, ht_set *base, const char *format, uint64_t top, bool is_page)
{
	const struct opts *opts = &cli->opts;
	struct report report = {
		.name = opts->args[0],
		.base = opts_value(opts, "base"),
		.set = set,
		.base_set = base,
	};
	char name[256];
	if (opts->n_args > 1) {
		snprintf(name, sizeof(name), "%s and %zu more", opts->args[0], opts->n_args - 1);
		report.name = name;
	}
	int code = collect(cli, &report, top, is_page);
	if (code == EXIT_DONE)
		code = write_report(cli, &report, format);
	if (code == EXIT_DONE)
		code = count_failures(&report);
	report_done(&report);
	return code;
}

/* Open what the arguments and --base name, and report on it; an exit code. */
static int open_and_report(struct cli *cli, const char *format, uint64_t top, bool is_page)
{
	const struct opts *opts = &cli->opts;
	const char *base_path = opts_value(opts, "base");
	ht_set *sets[2] = { NULL, NULL };
	int code = session_open(cli, opts->args, opts->n_args, &sets[0]);
	if (code == EXIT_DONE && base_path != NULL)
		code = session_open(cli, &base_path, 1, &sets[1]);
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, sets, COUNT(sets));
	if (code == EXIT_DONE)
		code = report_sets(cli, sets[0], sets[1], format, top, is_page);
	if (sets[0] != NULL) {
		session_warn_loss(cli, sets[0], opts->args, opts->n_args);
		session_close(cli, sets[0]);
	}
	if (sets[1] != NULL) {
		session_warn_loss(cli, sets[1], &base_path, 1);
		session_close(cli, sets[1]);
	}
	return code;
}

static int run(struct cli *cli)
{
	const struct opts *opts = &cli->opts;
	const char *format = result_format(opts);
	uint64_t top;
	if (result_refuse_ending(opts) != EXIT_DONE)
		return EXIT_USAGE;
	if (!choice_has("text|md|html", format)) {
		cli_say("a report can be text, md or html, not %s", format);
		return EXIT_USAGE;
	}
	bool is_page = strcmp(format, "html") == 0 && report_has_page();
	int code = result_top(opts,
	        is_page                       ? CHART_ROWS
	        : strcmp(format, "text") == 0 ? TERMINAL_ROWS
	                                      : PAGE_ROWS,
	        &top);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE)
		code = open_and_report(cli, format, top, is_page);
	session_end(cli);
	return code;
}
