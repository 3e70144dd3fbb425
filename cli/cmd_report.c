/*
 * cmd_report.c - run every analysis that the traces support and write one page.
 *
 * In the registry's order: the verdict and the health of the data come first. Left out are comparisons, which need a
 * second run, and the event list, which is the trace itself. An analysis without data is named in one
 * line; one that fails says why in its place, and the rest goes on.
 */
#include "report.h"
#include "result.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_ROWS     50
#define TERMINAL_ROWS 10

static int run(struct cli *cli);

const struct verb command_report = {
	.name = "report",
	.usage = "TRACE...",
	.summary = "Summarise a run: every analysis that the traces support, on one page",
	.text = "Runs all analyses over one set of traces and writes the tables as text, Markdown or a "
	        "self-contained HTML page, with the verdict and the health of the data first. Analyses that find nothing are "
	        "listed in one line; each table ends with the number of rows that are not shown.",
	.takes = TAKES_TRACES | TAKES_CHOICE | TAKES_PAGE,
	.deals = true,
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

/* Run one analysis into the report; an exit code other than EXIT_DONE ends the report. */
static int add_section(struct cli *cli, ht_set *set, const struct ht_analysis_info *info,
        uint64_t top, struct report *report)
{
	struct ht_arg args[OPTS_MAX];
	size_t n_args = session_args(cli, NULL, args);
	struct ht_view view = { .struct_size = sizeof(view), .top = top };
	if (top != 0)
		view.where = info->overview;
	struct report_section section = { .info = info };
	enum ht_status status =
	        session_run(cli, info->name, &set, 1, args, n_args, &view, &section.table);
	if (status == HT_USAGE)
		return cli_fail(cli);
	if (status == HT_MISSING || (status == HT_OK && ht_table_n_rows(section.table) == 0)) {
		if (status == HT_OK)
			ht_table_free(section.table);
		report->empty[report->n_empty++] = info->name;
		return EXIT_DONE;
	}
	if (status != HT_OK) {
		section.problem = describe(session_error(cli));
		if (section.problem == NULL)
			return cli_fail_nomem();
	}
	report->sections[report->n_sections++] = section;
	return EXIT_DONE;
}

static int collect(struct cli *cli, ht_set *set, uint64_t top, struct report *report)
{
	size_t n = ht_n_analyses();
	report->sections = calloc(n + 1, sizeof(*report->sections));
	report->empty = calloc(n + 1, sizeof(*report->empty));
	if (report->sections == NULL || report->empty == NULL)
		return cli_fail_nomem();
	report->n_ranks = ht_set_n_ranks(set);
	for (size_t i = 0; i < report->n_ranks; i++)
		report->n_events += ht_set_n_events(set, i);
	report->loss = ht_set_loss_note(set);
	int code = EXIT_DONE;
	for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets == 1 && !info->lists_events)
			code = add_section(cli, set, info, top, report);
	}
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

static int report_set(struct cli *cli, ht_set *set, const char *format, uint64_t top)
{
	const struct opts *opts = &cli->opts;
	struct report report = { .name = opts->args[0] };
	char name[256];
	if (opts->n_args > 1) {
		snprintf(name, sizeof(name), "%s and %zu more", opts->args[0], opts->n_args - 1);
		report.name = name;
	}
	int code = collect(cli, set, top, &report);
	if (code == EXIT_DONE)
		code = write_report(cli, &report, format);
	if (code == EXIT_DONE)
		code = count_failures(&report);
	report_done(&report);
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
	int code = result_top(opts, strcmp(format, "text") == 0 ? TERMINAL_ROWS : PAGE_ROWS, &top);
	if (code == EXIT_DONE)
		code = session_start(cli);
	ht_set *set = NULL;
	if (code == EXIT_DONE)
		code = session_open(cli, opts->args, opts->n_args, &set);
	if (code == EXIT_DONE) {
		code = session_refuse_sources(cli, &set, 1);
		if (code == EXIT_DONE)
			code = report_set(cli, set, format, top);
		session_warn_loss(cli, set, cli->opts.args, cli->opts.n_args);
		session_close(cli, set);
	}
	session_end(cli);
	return code;
}
