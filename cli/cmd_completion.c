/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_completion.c - completion scripts for bash, zsh and fish, from the option tables.
 *
 * The build runs this to install them, so they know every verb and option of this very program.
 */
#include "output.h"
#include "verbs.h"

#include <string.h>

static int run(struct cli *cli);

const struct verb command_completion = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "Write a completion script for a shell",
	.hidden = true,
	.run = run,
};

/* Values that are files or directories: the shell completes them by itself. */
static bool takes_path(const struct opt *opt)
{
	return opt->value != NULL &&
	       (strcmp(opt->value, "FILE") == 0 || strcmp(opt->value, "DIR") == 0);
}

/* Values that are lists of columns. */
static bool takes_columns(const struct verb *verb, const struct opt *opt)
{
	return verb->analysis != NULL &&
	       (strcmp(opt->name, "columns") == 0 || strcmp(opt->name, "sort") == 0);
}

/* Of all views, each name once. */
static void print_columns(struct output *output, const struct ht_analysis_info *info)
{
	struct ht_analysis_info before = *info;
	for (before.n_schemas = 0; before.n_schemas < info->n_schemas; before.n_schemas++) {
		const struct ht_schema *schema = &info->schemas[before.n_schemas];
		for (size_t k = 0; k < schema->n_columns; k++) {
			if (!verb_has_column(&before, schema->columns[k].name))
				output_print(output, " %s", schema->columns[k].name);
		}
	}
	for (size_t i = 0; i < info->n_further; i++) {
		if (!verb_has_column(info, info->further[i].name))
			output_print(output, " %s", info->further[i].name);
	}
}

/* "a|b|c" as "a b c". */
static void print_choices(struct output *output, const char *choices)
{
	for (const char *at = choices; *at != '\0'; at++)
		output_print(output, "%c", *at == '|' ? ' ' : *at);
}

/* For single quotes in a shell: ' becomes '\'' (fish and POSIX alike). */
static void print_quoted(struct output *output, const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		output_print(output, *at == '\'' ? "'\\''" : "%c", *at);
}

static void print_verbs(struct output *output)
{
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		if (!verb.hidden)
			output_print(output, "%s ", verb.name);
	}
}

static void bash_verb(struct output *output, const struct verb *verb)
{
	struct opts opts;
	verb_options(verb, &opts);
	output_print(output, "\t%s)\n\t\topts='", verb->name);
	for (size_t i = 0; i < opts.n; i++)
		output_print(output, "%s--%s", i > 0 ? " " : "", opts.list[i].name);
	output_text(output, "'\n\t\tcase $prev in\n");
	for (size_t i = 0; i < opts.n; i++) {
		const struct opt *opt = &opts.list[i];
		if (opt->value == NULL || takes_path(opt))
			continue;
		output_print(output, "\t\t--%s) %svalues='", opt->name,
		        takes_columns(verb, opt) ? "list=1 " : "");
		if (takes_columns(verb, opt))
			print_columns(output, verb->analysis);
		else
			print_choices(output, opt->choices != NULL ? opt->choices : " ");
		output_text(output, "' ;;\n");
	}
	output_text(output, "\t\tesac ;;\n");
}

static void write_bash(struct output *output)
{
	output_text(output,
	        "# bash completion for holotrace, written by `holotrace completion bash`\n"
	        "_holotrace()\n{\n"
	        "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	        "\tlocal opts= values= list= head=\n\tlocal verbs='");
	print_verbs(output);
	output_text(output,
	        "'\n\tif ((COMP_CWORD == 1)); then\n"
	        "\t\tCOMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$cur\"))\n"
	        "\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		bash_verb(output, &verb);
	}
	output_text(output,
	        "\tesac\n"
	        "\tif [[ -n $list ]]; then\n"
	        "\t\t[[ $cur == *,* ]] && head=${cur%,*},\n"
	        "\t\tcompopt -o nospace\n"
	        "\t\tCOMPREPLY=($(compgen -P \"$head\" -W \"$values\" -- \"${cur##*,}\"))\n"
	        "\telif [[ -n $values ]]; then\n"
	        "\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
	        "\telif [[ $cur == -* ]]; then\n"
	        "\t\tCOMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
	        "\telif [[ ${COMP_WORDS[1]} == help ]]; then\n"
	        "\t\tCOMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))\n"
	        "\telse\n\t\tcompopt -o filenames\n"
	        "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
	        "complete -F _holotrace holotrace\n");
}

/* In zsh specs brackets and colons have a meaning of their own. */
static void print_zsh_text(struct output *output, const char *text)
{
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '\'')
			output_text(output, "'\\''");
		else
			output_print(output, strchr("[]:\\", *at) != NULL ? "\\%c" : "%c", *at);
	}
}

static void zsh_verb(struct output *output, const struct verb *verb)
{
	struct opts opts;
	verb_options(verb, &opts);
	output_print(output, "\t%s)\n\t\t_arguments \\\n", verb->name);
	for (size_t i = 0; i < opts.n; i++) {
		const struct opt *opt = &opts.list[i];
		output_print(output, "\t\t\t'--%s%s[", opt->name, opt->value != NULL ? "=" : "");
		print_zsh_text(output, opt->help);
		output_text(output, "]");
		if (takes_columns(verb, opt)) {
			output_print(output, ":%s:_values -s , column", opt->name);
			print_columns(output, verb->analysis);
		} else if (opt->choices != NULL) {
			output_print(output, ":%s:(", opt->name);
			print_choices(output, opt->choices);
			output_text(output, ")");
		} else if (opt->value != NULL) {
			output_print(output, ":%s:%s", opt->name, takes_path(opt) ? "_files" : " ");
		}
		output_text(output, "' \\\n");
	}
	output_print(output, "\t\t\t'*:%s:%s' ;;\n", verb->takes_verb_names ? "verb" : "trace",
	        verb->takes_verb_names ? "($verbs)" : "_files");
}

static void write_zsh(struct output *output)
{
	output_text(output, "#compdef holotrace\n"
	                    "# zsh completion, written by `holotrace completion zsh`\n"
	                    "local -a verbs\nverbs=(");
	print_verbs(output);
	output_text(output, ")\nif ((CURRENT == 2)); then\n\t_values verb $verbs\n\treturn\nfi\n"
	                    "local verb=$words[2]\nshift words\n((CURRENT--))\ncase $verb in\n");
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		zsh_verb(output, &verb);
	}
	output_text(output, "esac\n");
}

static void fish_verb(struct output *output, const struct verb *verb)
{
	struct opts opts;
	verb_options(verb, &opts);
	if (!verb->hidden) {
		output_print(output, "complete -c holotrace -n __fish_use_subcommand -f -a %s -d '",
		        verb->name);
		print_quoted(output, verb->summary);
		output_text(output, "'\n");
	}
	for (size_t i = 0; i < opts.n; i++) {
		const struct opt *opt = &opts.list[i];
		output_print(output,
		        "complete -c holotrace -n '__fish_seen_subcommand_from %s' -l %s",
		        verb->name, opt->name);
		if (opt->letter != 0)
			output_print(output, " -s %c", opt->letter);
		if (opt->value != NULL)
			output_text(output, takes_path(opt) ? " -r" : " -x");
		if (takes_columns(verb, opt)) {
			output_text(output, " -a '(__fish_append ,");
			print_columns(output, verb->analysis);
			output_text(output, ")'");
		} else if (opt->choices != NULL) {
			output_text(output, " -a '");
			print_choices(output, opt->choices);
			output_text(output, "'");
		}
		output_text(output, " -d '");
		print_quoted(output, opt->help);
		output_text(output, "'\n");
	}
}

static void write_fish(struct output *output)
{
	output_text(output,
	        "# fish completion for holotrace, written by `holotrace completion fish`\n");
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		fish_verb(output, &verb);
	}
}

static int run(struct cli *cli)
{
	struct output output;
	const char *shell = cli->opts.n_args == 1 ? cli->opts.args[0] : "";
	void (*write)(struct output *) = NULL;
	if (strcmp(shell, "bash") == 0)
		write = write_bash;
	else if (strcmp(shell, "zsh") == 0)
		write = write_zsh;
	else if (strcmp(shell, "fish") == 0)
		write = write_fish;
	if (write == NULL) {
		cli_say("completion is for one of: bash, zsh, fish");
		return EXIT_USAGE;
	}
	(void)output_open(&output, NULL, NULL);
	write(&output);
	return output_close(&output, true);
}
