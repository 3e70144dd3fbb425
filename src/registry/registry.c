/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c - the list of analyses, and what parameters choose: values, ranks, steps, columns.
 */
#include "registry/registry.h"

#include "registry/params.h"
#include "base/list.h"
#include "base/literal.h"
#include "model/rows/selection.h"
#include "hta/hta_policy.h"
#include "holotrace/own.h"
#include "store/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Here and not in analysis.h: a line more in the list concerns nobody else. */
#define ANALYSIS(x) extern const struct ht_analysis ht_analysis_##x;
#include "analysis/analyses.def"
#undef ANALYSIS

static const struct ht_analysis *const analyses[] = {
#define ANALYSIS(x) &ht_analysis_##x,
#include "analysis/analyses.def"
#undef ANALYSIS
};

static const struct ht_param common[] = {
	{ "rank", HT_STR, "all", "ranks to look at: numbers, ranges, all", NULL },
	{ "step", HT_STR, NULL,
	        "profiler steps: numbers, ranges, last, all (the whole trace); by default all complete "
	        "steps, the whole trace where there are none",
	        NULL },
	{ "annotation", HT_STR, NULL, "only what runs inside annotations whose name contains this",
	        NULL },
	{ "hta-compat", HT_BOOL, "false", "HTA's values where its oddities are selectable", NULL },
	{ "hta-rows", HT_BOOL, "false", "HTA's choice of rows when it cuts the last step", NULL },
};
enum { COMMON_RANK, COMMON_STEP, COMMON_ANNOTATION, COMMON_COMPAT, COMMON_ROWS };

size_t ht_n_analyses(void)
{
	return HT_COUNT(analyses);
}

const struct ht_analysis_info *ht_analysis_at(size_t i)
{
	return i < HT_COUNT(analyses) ? &analyses[i]->info : NULL;
}

const char *ht_group_title(const char *group)
{
	static const char *const titles[][2] = {
#define GROUP(name, title) { name, title },
#include "registry/groups.def"
#undef GROUP
	};
	for (size_t i = 0; i < HT_COUNT(titles); i++)
		if (!strcmp(titles[i][0], group))
			return titles[i][1];
	return NULL;
}

const struct ht_analysis *ht_analysis_named(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(analyses); i++)
		if (!strcmp(analyses[i]->info.name, name))
			return analyses[i];
	return NULL;
}

enum ht_status ht_analysis_get(
        ht_ctx *ctx, const char *name, const struct ht_analysis **ret_analysis)
{
	const struct ht_analysis *analysis = ht_analysis_named(name);
	if (!analysis)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "holotrace list shows all",
		        "no analysis named %s", name);
	*ret_analysis = analysis;
	return HT_OK;
}

const struct ht_analysis_info *ht_analysis_find(const char *name)
{
	const struct ht_analysis *analysis = ht_analysis_named(name);
	return analysis ? &analysis->info : NULL;
}

bool ht_analysis_takes(const struct ht_analysis_info *info, size_t n_sets)
{
	bool several = info->sides[0] && n_sets > info->n_sets && n_sets <= HT_MAX_SETS;
	return several || n_sets == info->n_sets || (info->files && n_sets == 1);
}

const struct ht_schema *ht_analysis_schema(const struct ht_analysis_info *info, size_t i)
{
	return i < info->n_schemas ? &info->schemas[i] : NULL;
}

const struct ht_param *ht_analysis_param(const struct ht_analysis_info *info, size_t i)
{
	return i < info->n_params ? &info->params[i] : NULL;
}

const struct ht_column *ht_analysis_further(const struct ht_analysis_info *info, size_t i)
{
	return i < info->n_further ? &info->further[i] : NULL;
}

const struct ht_column *ht_schema_column(const struct ht_schema *schema, size_t i)
{
	return i < schema->n_columns ? &schema->columns[i] : NULL;
}

size_t ht_n_common_params(void)
{
	return HT_COUNT(common);
}

const struct ht_param *ht_common_param(size_t i)
{
	return i < HT_COUNT(common) ? &common[i] : NULL;
}

/* ---- the analysis of a run ---- */

void ht_run_set_analysis(struct ht_run *run, const struct ht_analysis *analysis)
{
	run->analysis = analysis;
	run->params = analysis->info.params;
	run->n_params = analysis->info.n_params;
}

enum ht_status ht_run_find_analysis(struct ht_run *run, const char *name)
{
	const struct ht_analysis *analysis = NULL;
	HT_TRY(ht_analysis_get(run->ctx, name, &analysis));
	ht_run_set_analysis(run, analysis);
	return HT_OK;
}

const struct ht_schema *ht_run_schema(const struct ht_run *run)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	for (size_t i = 0; info->chosen_by && i < info->n_schemas; i++)
		if (ht_run_is(run, info->chosen_by, info->schemas[i].name))
			return &info->schemas[i];
	return info->schemas;
}

/* ---- what the parameters choose ---- */

/* The slot of a parameter's text, and what it is. */
static const char **find_slot(const struct ht_analysis_info *info, const char *name,
        const char **common_values, const char **values, const struct ht_param **ret_param)
{
	const char **slot = NULL;
	for (size_t i = 0; i < HT_COUNT(common); i++)
		if (!strcmp(name, common[i].name)) {
			slot = &common_values[i];
			*ret_param = &common[i];
		}
	for (size_t i = 0; i < info->n_params; i++)
		if (!strcmp(name, info->params[i].name)) {
			slot = &values[i];
			*ret_param = &info->params[i];
		}
	return slot;
}

static enum ht_status read_values(
        struct ht_run *run, const struct ht_arg *args, size_t n_args, const char **common_values)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	const char **values =
	        ht_arena_alloc(run->scratch, (info->n_params + HT_COUNT(common)) * sizeof *values);
	if (!values)
		return ht_fail_nomem(run->ctx);
	run->values = values;
	for (size_t i = 0; i < HT_COUNT(common); i++)
		common_values[i] = common[i].default_value;
	for (size_t i = 0; i < info->n_params; i++)
		values[i] = info->params[i].default_value;
	for (size_t k = 0; k < n_args; k++) {
		const struct ht_param *param = NULL;
		const char **slot = find_slot(info, args[k].name, common_values, values, &param);
		if (!slot)
			return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL, "%s has no parameter %s",
			        info->name, args[k].name);
		HT_TRY(ht_param_check(run->ctx, param, args[k].value));
		*slot = args[k].value;
	}
	/* behind its own, for who tells what was asked: ht_run_common_value */
	memcpy(values + info->n_params, common_values, HT_COUNT(common) * sizeof *values);
	return HT_OK;
}

const char *ht_run_common_value(const struct ht_run *run, size_t i)
{
	return run->values[run->n_params + i];
}

static enum ht_status fail_rank(
        struct ht_run *run, const struct ht_roster *roster, const char *text)
{
	char have[256] = "";
	size_t n = 0;
	for (size_t i = 0; i < roster->n && n < sizeof have - 24; i++)
		n += (size_t)snprintf(have + n, sizeof have - n, "%s%" PRId64, i ? ", " : "",
		        roster->ranks[i].number);
	return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL, "--rank %s: no such rank; there are %s",
	        text, have);
}

static enum ht_status choose_ranks(struct ht_run *run, size_t side, const char *text)
{
	const struct ht_roster *roster = run->rosters[side];
	struct ht_list list;
	size_t *at = ht_arena_alloc(run->scratch, (roster->n + 1) * sizeof *at), n = 0;
	if (!at)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_list_parse(run->ctx, "--rank", text, &list));
	for (size_t i = 0; i < roster->n; i++)
		if (ht_list_has(&list, roster->ranks[i].number))
			at[n++] = i;
	ht_list_done(run->ctx, &list);
	run->chosen[side] = (struct ht_chosen){ at, n };
	/* of a comparison the second side may lack ranks of the first */
	return roster->n && !n && !side && !run->is_partial ? fail_rank(run, roster, text) : HT_OK;
}

/* Steps that no chosen rank has would answer with rows of nothing. */
static enum ht_status check_steps(struct ht_run *run, const char *text)
{
	struct ht_list list = { 0 };
	bool is_last = !strcmp(text, "last"), has = false;
	int64_t first = INT64_MAX, last = INT64_MIN;
	if (!is_last)
		HT_TRY(ht_list_parse(run->ctx, "--step", text, &list));
	for (size_t i = 0; i < run->chosen[0].n && !has; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, 0, i);
		for (size_t k = 0; k < rank->n_steps; k++) {
			int64_t number = rank->steps[k].number;
			has |= ht_list_has(&list, number);
			first = number < first ? number : first;
			last = number > last ? number : last;
		}
	}
	ht_list_done(run->ctx, &list);
	if (has)
		return HT_OK;
	if (first > last)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "call profiler.step() in the training loop to mark steps",
		        "--step %s: the traces have no steps", run->step);
	return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL,
	        "--step %s: no such step; there are %" PRId64 " to %" PRId64, run->step, first,
	        last);
}

enum ht_status ht_run_read_args(struct ht_run *run, const struct ht_arg *args, size_t n_args)
{
	const char *values[HT_COUNT(common)];
	HT_TRY(read_values(run, args, n_args, values));
	for (size_t side = 0; side < run->n_sets; side++)
		HT_TRY(choose_ranks(run, side, values[COMMON_RANK]));
	HT_TRY(ht_steps_check(run->ctx, "--step", values[COMMON_STEP]));
	run->step = values[COMMON_STEP] && *values[COMMON_STEP] ? values[COMMON_STEP] : NULL;
	if (ht_steps_are_named(run->step) && !run->is_partial && run->chosen[0].n)
		HT_TRY(check_steps(run, run->step));
	for (size_t side = 0; side < run->n_sets; side++)
		run->steps[side] = run->step;
	run->annotation = values[COMMON_ANNOTATION];
	bool values_of_hta = false, rows_of_hta = false;
	(void)ht_parse_bool(values[COMMON_COMPAT], &values_of_hta);
	(void)ht_parse_bool(values[COMMON_ROWS], &rows_of_hta);
	run->policy = ht_hta_policy(values_of_hta, rows_of_hta);
	run->across = run->analysis->across;
	return run->analysis->choose ? run->analysis->choose(run) : HT_OK;
}
