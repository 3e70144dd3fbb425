/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - the overview, the page of one verb, and the same as JSON.
 *
 * All of it is read from the option tables and the analyses' descriptors. The JSON is what
 * tools/gen_docs turns into man pages and reference pages.
 */
#include "help.h"
#include "examples.h"
#include "output.h"

#include <string.h>

#define NAME_WIDTH 22

static const char trace_text[] =
        "A TRACE is a file (.json, .json.gz, .json.zst), a directory, a glob, rank=path, a text file "
        "that lists such sources line by line, or - for standard input; several make a set of ranks.";

static const struct {
	int number;
	const char *sentence;
} exit_codes[] = {
#define EXIT_CODE(name, number, sentence) { number, sentence },
	EXIT_CODES(EXIT_CODE)
#undef EXIT_CODE
};

static void heading(const struct cli *cli, struct output *output, const char *text)
{
	output_print(output, cli->term.color ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

static void item(struct cli *cli, struct output *output, const char *name, const char *text)
{
	output_print(output, "  %-*s", NAME_WIDTH, name);
	if (strlen(name) >= NAME_WIDTH)
		output_print(output, "\n  %*s", NAME_WIDTH, "");
	output_wrapped(output, text, NAME_WIDTH + 2, cli->term.width);
	output_text(output, "\n");
}

static const char *group_of(const struct verb *verb)
{
	return verb->analysis != NULL ? verb->analysis->group : "commands";
}

/* True when an earlier verb is of the same group, so that the group has been listed. */
static bool is_listed(size_t i, const char *group)
{
	for (size_t before = 0; before < i; before++) {
		struct verb verb;
		verb_at(before, &verb);
		if (!verb.hidden && strcmp(group_of(&verb), group) == 0)
			return true;
	}
	return false;
}

static void list_group(struct cli *cli, struct output *output, const char *group, size_t first)
{
	if (first > 0)
		output_text(output, "\n");
	heading(cli, output, group);
	for (size_t i = first; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		if (!verb.hidden && strcmp(group_of(&verb), group) == 0)
			item(cli, output, verb.name, verb.summary);
	}
}

void help_verb_list(struct cli *cli, struct output *output)
{
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		if (!verb.hidden && !is_listed(i, group_of(&verb)))
			list_group(cli, output, group_of(&verb), i);
	}
}

void help_overview(struct cli *cli, FILE *file)
{
	struct output output = { .file = file };
	char codes[512] = "Exit codes:";
	output_text(&output,
	        "holotrace VERB [options] TRACE...\n\nAnalyse PyTorch profiler traces.\n\n");
	output_wrapped(&output, trace_text, 0, cli->term.width);
	output_text(&output, "\n\n");
	help_verb_list(cli, &output);
	output_text(&output, "\nholotrace help VERB shows options, columns and method.\n");
	for (size_t i = 0; i < COUNT(exit_codes); i++) {
		size_t n = strlen(codes);
		snprintf(codes + n, sizeof(codes) - n, " %d %s%s", exit_codes[i].number,
		        exit_codes[i].sentence, i + 1 < COUNT(exit_codes) ? "," : ".");
	}
	output_wrapped(&output, codes, 0, cli->term.width);
	output_text(&output, "\n");
}

/* "-o, --output FILE" */
static void option_name(const struct opt *opt, char *text, size_t n)
{
	char letter[8] = "";
	if (opt->letter != 0)
		snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	snprintf(text, n, "%s--%s%s%s", letter, opt->name, opt->value != NULL ? " " : "",
	        opt->value != NULL ? opt->value : "");
}

static void help_options(struct cli *cli, struct output *output, const struct verb *verb)
{
	struct opts opts;
	const char *group = NULL;
	verb_options(verb, &opts);
	for (size_t i = 0; i < opts.n; i++) {
		const struct opt *opt = &opts.list[i];
		char name[128], text[512];
		if (group == NULL || strcmp(group, opt->heading) != 0) {
			output_text(output, "\n");
			heading(cli, output, opt->heading);
			group = opt->heading;
		}
		option_name(opt, name, sizeof(name));
		bool has_default = opt->default_value != NULL;
		snprintf(text, sizeof(text), "%s%s%s%s", opt->help,
		        has_default ? " (default: " : "", has_default ? opt->default_value : "",
		        has_default ? ")" : "");
		item(cli, output, name, text);
	}
}

/* "Columns", or "Columns with --view series". */
static void help_schema(struct cli *cli, struct output *output, const struct ht_analysis_info *info,
        const struct ht_schema *schema)
{
	char title[96] = "Columns";
	if (info->chosen_by != NULL)
		snprintf(title, sizeof(title), "Columns with --%s %s", info->chosen_by,
		        schema->name);
	output_text(output, "\n");
	heading(cli, output, title);
	for (size_t i = 0; i < schema->n_columns; i++)
		item(cli, output, schema->columns[i].name, schema->columns[i].sentence);
	if (info->more_columns && info->n_further == 0)
		output_text(output, "  and further columns from the data\n");
}

static void help_further(
        struct cli *cli, struct output *output, const struct ht_analysis_info *info)
{
	if (info->n_further == 0)
		return;
	output_text(output, "\n");
	heading(cli, output, "Columns on request, with --columns");
	for (size_t i = 0; i < info->n_further; i++) {
		if (!verb_has_column(info, info->further[i].name))
			item(cli, output, info->further[i].name, info->further[i].sentence);
	}
	item(cli, output, "args.KEY", "an argument of the event; args.* for all that there are");
	item(cli, output, "event.KEY", "any other key of the event");
}

/* A paragraph per line, wrapped. */
static void help_paragraphs(struct output *output, const char *text, int width)
{
	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		char line[4096];
		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		output_wrapped(output, line, 0, width);
		output_text(output, "\n");
	}
}

static void help_example(struct cli *cli, struct output *output, const char *verb)
{
	const struct example *example = example_of(verb);
	if (example == NULL)
		return;
	output_text(output, "\n");
	heading(cli, output, "Example");
	output_text(output, example->text);
	if (example->reading[0] != '\0' && example->reading[0] != '\n') {
		output_text(output, "\n");
		heading(cli, output, "How to read it");
		help_paragraphs(output, example->reading, cli->term.width);
	}
}

int help_verb(struct cli *cli, const struct verb *verb)
{
	struct output output;
	const struct ht_analysis_info *info = verb->analysis;
	int width = cli->term.width;
	(void)output_open(&output, NULL, NULL);
	output_print(&output, "holotrace %s %s%s\n\n", verb->name,
	        strstr(verb->usage, "[options]") != NULL ? "" : "[options] ", verb->usage);
	output_wrapped(&output, verb->summary, 0, width);
	output_text(&output, "\n");
	if (verb->text != NULL) {
		output_text(&output, "\n");
		output_wrapped(&output, verb->text, 0, width);
		output_text(&output, "\n");
	}
	if (info != NULL && info->hta != NULL)
		output_print(&output, "\nAnswers what %s of HTA answers.\n", info->hta);
	for (size_t i = 0; info != NULL && i < info->n_schemas; i++)
		help_schema(cli, &output, info, &info->schemas[i]);
	if (info != NULL)
		help_further(cli, &output, info);
	help_options(cli, &output, verb);
	help_example(cli, &output, verb->name);
	return output_close(&output, true);
}

static void json_member(struct output *output, const char *name, const char *value)
{
	output_print(output, ",\"%s\":", name);
	output_json(output, value);
}

static void json_columns(
        struct output *output, const char *key, const struct ht_column *columns, size_t n)
{
	output_print(output, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		const struct ht_column *column = &columns[i];
		output_text(output, i > 0 ? ",{\"name\":" : "{\"name\":");
		output_json(output, column->name);
		json_member(output, "type", ht_type_name(column->type));
		json_member(output, "role", ht_role_name(column->role));
		json_member(output, "unit", ht_column_unit(column));
		json_member(output, "sentence", column->sentence);
		output_text(output, "}");
	}
	output_text(output, "]");
}

static void json_views(struct output *output, const struct ht_analysis_info *info)
{
	if (info->chosen_by != NULL)
		json_member(output, "chosen_by", info->chosen_by);
	output_text(output, ",\"views\":[");
	for (size_t i = 0; i < info->n_schemas; i++) {
		output_text(output, i > 0 ? ",{\"name\":" : "{\"name\":");
		output_json(output, info->schemas[i].name);
		json_columns(
		        output, "columns", info->schemas[i].columns, info->schemas[i].n_columns);
		output_text(output, "}");
	}
	output_text(output, "]");
}

static void json_options(struct output *output, const struct verb *verb)
{
	struct opts opts;
	verb_options(verb, &opts);
	output_text(output, ",\"options\":[");
	for (size_t i = 0; i < opts.n; i++) {
		const struct opt *opt = &opts.list[i];
		char letter[2] = { opt->letter, '\0' };
		output_text(output, i > 0 ? ",{\"name\":" : "{\"name\":");
		output_json(output, opt->name);
		json_member(output, "letter", opt->letter != 0 ? letter : NULL);
		json_member(output, "value", opt->value);
		json_member(output, "choices", opt->choices);
		json_member(output, "default", opt->default_value);
		json_member(output, "heading", opt->heading);
		json_member(output, "help", opt->help);
		output_text(output, "}");
	}
	output_text(output, "]");
}

static void json_verb(struct output *output, const struct verb *verb)
{
	const struct ht_analysis_info *info = verb->analysis;
	output_text(output, "{\"name\":");
	output_json(output, verb->name);
	json_member(output, "kind", info != NULL ? "analysis" : "command");
	output_print(output, ",\"hidden\":%s", verb->hidden ? "true" : "false");
	json_member(output, "usage", verb->usage);
	json_member(output, "summary", verb->summary);
	json_member(output, "text", verb->text);
	json_options(output, verb);
	if (info != NULL) {
		json_member(output, "group", info->group);
		json_member(output, "title", info->title);
		json_member(output, "hta", info->hta);
		output_print(output, ",\"n_sets\":%zu,\"lists_events\":%s", info->n_sets,
		        info->lists_events ? "true" : "false");
		json_views(output, info);
		if (info->n_further > 0)
			json_columns(output, "further", info->further, info->n_further);
	}
	output_text(output, "}");
}

static void json_exit_codes(struct output *output)
{
	output_text(output, ",\"exit_codes\":[");
	for (size_t i = 0; i < COUNT(exit_codes); i++) {
		output_print(output, "%s{\"code\":%d", i > 0 ? "," : "", exit_codes[i].number);
		json_member(output, "sentence", exit_codes[i].sentence);
		output_text(output, "}");
	}
	output_text(output, "]");
}

int help_json(const struct verb *only)
{
	struct output output;
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return cli_fail_nomem();
	(void)output_open(&output, ctx, NULL);
	output_text(&output, "{\"version\":");
	output_json(&output, ht_version());
	json_member(&output, "trace", trace_text);
	json_exit_codes(&output);
	output_text(&output, ",\"verbs\":[");
	if (only != NULL)
		json_verb(&output, only);
	for (size_t i = 0; only == NULL && i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		output_text(&output, i > 0 ? ",\n" : "\n");
		json_verb(&output, &verb);
	}
	output_text(&output, "]}\n");
	int code = output_close(&output, true);
	ht_ctx_free(ctx);
	return code;
}
