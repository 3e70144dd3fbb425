/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - commands and analyses as one list, and the options that each of them takes.
 */
#include "verbs.h"

#include "profile_parser.h"
#include "cmd_run.h"

#include <stdio.h>
#include <string.h>

static const struct verb *const commands[] = {
#define COMMAND(x) &command_##x,
#include "commands.def"
#undef COMMAND
};

static const struct opt table_opts[] = {
	{ "format", 0, "FORMAT", NULL, "text", "how to write the table", "Result", false },
	{ "output", 'o', "FILE", NULL, NULL,
	        "write to FILE; its ending picks the format when --format is absent", "Result",
	        false },
	{ "columns", 0, "A,B,...", NULL, NULL, "which columns, in which order", "Result", false },
	{ "where", 0, "EXPR", NULL, NULL,
	        "keep rows for which EXPR holds: dur_ns > 1ms and name ~ nccl", "Result", false },
	{ "sort", 0, "COLUMNS", NULL, NULL,
	        "order by columns; a minus means descending: -sum_ns,name", "Result", false },
	{ "top", 0, "N|all", NULL, "all", "only the first N rows", "Result", false },
	{ "wide", 0, NULL, NULL, NULL, "neither shorten names nor drop columns", "Result", false },
	{ "color", 0, "auto|always|never", "auto|always|never", "auto",
	        "colour in text; auto: on a terminal unless NO_COLOR is set", "Result", false },
	{ "safe-csv", 0, NULL, NULL, NULL,
	        "csv: an apostrophe before texts that a spreadsheet would take for formulas; by default "
	        "texts are as in the trace, for programs",
	        "Result", false },
};

static const struct opt page_opts[] = {
	{ "format", 0, "text|md|html", "text|md|html", "text", "how to write the page", "Result",
	        false },
	{ "output", 'o', "FILE", NULL, NULL,
	        "write to FILE; its ending (.txt .md .html) picks the format when --format is absent",
	        "Result", false },
	{ "top", 0, "N|all", NULL, "500 of a page, 50 in md, 10 as text", "rows of each table",
	        "Result", false },
	{ "wide", 0, NULL, NULL, NULL, "neither shorten names nor drop columns", "Result", false },
	{ "color", 0, "auto|always|never", "auto|always|never", "auto",
	        "colour in text; auto: on a terminal unless NO_COLOR is set", "Result", false },
};

static const struct opt trace_opts[] = {
	{ "recursive", 'r', NULL, NULL, NULL, "descend into directories", "Reading", false },
	{ "attach", 0, "PATH", NULL, NULL,
	        "a file or folder that joins the traces (capture trace, compiler log, execution trace, ...), or RANK=PATH; may be repeated",
	        "Reading", false },
	{ "strict", 0, NULL, NULL, NULL, "what was not stored as written is an error", "Reading",
	        false },
	{ "kernel-rules", 0, "FILE", NULL, NULL,
	        "extra rules that sort kernels into classes by name", "Reading", false },
	{ "no-cache", 0, NULL, NULL, NULL, "neither read nor write the cache", "Reading", false },
	{ "cache-dir", 0, "DIR", NULL, "~/.cache/holotrace", "where the cache is", "Reading",
	        false },
	{ "cache-max", 0, "SIZE", NULL, "8G", "how large the cache may grow", "Reading", false },
	{ "verify-cache", 0, NULL, NULL, NULL,
	        "believe the cache only after hashing the whole trace file", "Reading", false },
	{ "prefer", 0, "KIND", "text|db", "text",
	        "which files to read of an Ascend rank that is there as text and as database",
	        "Reading", false },
	{ "partial", 0, NULL, NULL, NULL,
	        "go on without files that cannot be read; the result says which", "Reading",
	        false },
	{ "memory-limit", 0, "SIZE", NULL, "none", "stop instead of using more memory", "Reading",
	        false },
	{ "jobs", 'j', "N", NULL, "one per CPU", "threads to use; results do not depend on it",
	        "Reading", false },
	{ "quiet", 'q', NULL, NULL, NULL, "no progress line, hints or warnings", "Reading", false },
	{ "no-progress", 0, NULL, NULL, NULL, "no progress line", "Reading", false },
};

static const struct opt draw_opt = { "save-trace", 0, "FILE", NULL, NULL,
	"also write the trace with the result drawn into it; {rank} is replaced by the rank",
	"This analysis", false };

static const struct opt help_opt = { "help", 'h', NULL, NULL, NULL, "show this text", "Other",
	false };

static const char *usage_of(const struct ht_analysis_info *info)
{
	static char usage[64];
	if (info->files != NULL)
		return info->traces_option != NULL ? "ET... [--kineto KINETO...]" : "ET...";
	if (info->sides[0] == NULL)
		return info->n_sets == 2 ? "BASELINE RUN" : "TRACE...";
	snprintf(usage, sizeof(usage), "--%s RUN... --%s RUN...", info->sides[0], info->sides[1]);
	return usage;
}

/* Programs whose options an analysis takes, too. */
static const struct spelling {
	const char *program;
	const struct opt *opts;
	const size_t *n_opts;
	void (*respell)(const char **argv, size_t n);
	int (*run)(struct cli *cli);
} spellings[] = {
	{ "profile_parser", call_tree_opts, &n_call_tree_opts, call_tree_respell, run_call_tree },
};

static void fill_analysis(const struct ht_analysis_info *info, struct verb *verb)
{
	*verb = (struct verb){
		.name = info->name,
		.usage = usage_of(info),
		.summary = info->question,
		.text = info->method,
		.takes = TAKES_TRACES | TAKES_CHOICE | TAKES_TABLE,
		.run = run_analysis,
		.analysis = info,
		.is_distributable = info->n_sets > 0 && info->files == NULL,
	};
	for (size_t i = 0; i < COUNT(spellings); i++) {
		const struct spelling *also = &spellings[i];
		if (info->replaces == NULL || strcmp(info->replaces, also->program) != 0)
			continue;
		verb->opts = also->opts;
		verb->n_opts = *also->n_opts;
		verb->respell = also->respell;
		verb->run = also->run;
	}
}

size_t verb_count(void)
{
	return ht_n_analyses() + COUNT(commands);
}

void verb_at(size_t i, struct verb *ret_verb)
{
	if (i < ht_n_analyses())
		fill_analysis(ht_analysis_at(i), ret_verb);
	else
		*ret_verb = *commands[i - ht_n_analyses()];
}

bool verb_find(const char *name, struct verb *ret_verb)
{
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		if (strcmp(verb.name, name) == 0) {
			*ret_verb = verb;
			return true;
		}
	}
	return false;
}

const char *verb_near(const char *name)
{
	struct near_miss miss = { .wanted = name };
	for (size_t i = 0; i < verb_count(); i++) {
		struct verb verb;
		verb_at(i, &verb);
		if (!verb.hidden)
			near_miss_offer(&miss, verb.name);
	}
	return miss.best;
}

/* "text|csv|json|..." */
static const char *formats(void)
{
	static char formats[128];
	if (formats[0] == '\0') {
		size_t n = 0;
		for (size_t i = 0; i < ht_n_formats() && n < sizeof(formats); i++)
			n += (size_t)snprintf(formats + n, sizeof(formats) - n, "%s%s",
			        i > 0 ? "|" : "", ht_format_at(i)->name);
	}
	return formats;
}

const char choices_drawn[] = "those that can be drawn";

static const char *names_drawn(void)
{
	static char names[512];
	size_t n = strlen(names);
	for (size_t i = 0; n == 0 && i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		size_t at = strlen(names);
		if (info->draws && at < sizeof(names))
			snprintf(names + at, sizeof(names) - at, "%s%s", at > 0 ? "|" : "",
			        info->name);
	}
	return names;
}

static const char *placeholder(const struct ht_param *param)
{
	if (param->choices != NULL)
		return param->choices;
	switch (param->type) {
	case HT_BOOL: return NULL;
	case HT_I64:
	case HT_U64: return "N";
	case HT_F64: return "X";
	case HT_RATIO: return "SHARE";
	case HT_TIME:
	case HT_DURATION:
	case HT_DURATION_F64: return "TIME";
	case HT_BYTES: return "SIZE";
	case HT_EVENT: return "RANK:ROW";
	case HT_STR: break;
	}
	return "TEXT";
}

static void add_param(struct opts *opts, const struct ht_param *param, const char *heading)
{
	struct opt opt = {
		.name = param->name,
		.value = placeholder(param),
		.choices = param->choices,
		.default_value = param->type == HT_BOOL ? NULL : param->default_value,
		.help = param->help,
		.heading = heading,
		.from_library = true,
	};
	opts_add(opts, &opt);
}

static void add_all(struct opts *opts, const struct opt *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		opts_add(opts, &list[i]);
}

/* A run is what other verbs take as one argument. */
static void add_sides(struct opts *opts, const struct ht_analysis_info *info)
{
	for (size_t i = 0; i < COUNT(info->sides); i++) {
		struct opt opt = {
			.name = info->sides[i],
			.value = "RUN",
			.help = "a run of this side: a file, a folder of ranks, or several files "
			        "joined by commas; may be given several times",
			.heading = "Runs",
		};
		opts_add(opts, &opt);
	}
}

/* Traces beside the files that an analysis is over. */
static void add_traces_option(struct opts *opts, const char *name)
{
	struct opt opt = {
		.name = name,
		.value = "FILE",
		.help = "the Kineto trace of the same window, or a folder of ranks; may be given "
		        "several times",
		.heading = "This analysis",
	};
	opts_add(opts, &opt);
}

/* The parameter that tells how many runs the first side has follows from how often its option is given. */
static bool counts_side(const struct ht_analysis_info *info, const char *param)
{
	return info->sides[0] != NULL && strncmp(param, "n-", 2) == 0 &&
	       strcmp(param + 2, info->sides[0]) == 0;
}

/* The parameter that the arguments fill. */
static bool names_files(const struct ht_analysis_info *info, const char *param)
{
	return info->files != NULL && strcmp(param, info->files) == 0;
}

void verb_options(const struct verb *verb, struct opts *opts)
{
	*opts = (struct opts){ 0 };
	if (verb->analysis != NULL && verb->analysis->traces_option != NULL)
		add_traces_option(opts, verb->analysis->traces_option);
	if (verb->analysis != NULL && verb->analysis->sides[0] != NULL)
		add_sides(opts, verb->analysis);
	for (size_t i = 0; verb->analysis != NULL && i < verb->analysis->n_params; i++)
		if (!counts_side(verb->analysis, verb->analysis->params[i].name) &&
		        !names_files(verb->analysis, verb->analysis->params[i].name))
			add_param(opts, &verb->analysis->params[i], "This analysis");
	if (verb->analysis != NULL && verb->analysis->draws)
		opts_add(opts, &draw_opt);
	for (size_t i = 0; i < verb->n_opts; i++) {
		struct opt opt = verb->opts[i];
		if (opt.choices == choices_drawn)
			opt.choices = names_drawn();
		opts_add(opts, &opt);
	}
	for (size_t i = 0; (verb->takes & TAKES_CHOICE) && i < ht_n_common_params(); i++)
		add_param(opts, ht_common_param(i), "Choice of data");
	if (verb->takes & TAKES_TABLE) {
		struct opt format = table_opts[0];
		format.value = format.choices = formats();
		opts_add(opts, &format);
		add_all(opts, table_opts + 1, COUNT(table_opts) - 1);
	}
	if (verb->takes & TAKES_PAGE)
		add_all(opts, page_opts, COUNT(page_opts));
	if (verb->takes & TAKES_TRACES)
		add_all(opts, trace_opts, COUNT(trace_opts));
	opts_add(opts, &help_opt);
}

bool verb_has_column(const struct ht_analysis_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_schemas; i++) {
		for (size_t k = 0; k < info->schemas[i].n_columns; k++) {
			if (strcmp(info->schemas[i].columns[k].name, name) == 0)
				return true;
		}
	}
	return false;
}
