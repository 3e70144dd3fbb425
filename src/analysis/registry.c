/*
 * registry.c - the list of analyses, and running one: parameters, chosen ranks, table, view.
 */
#include "analysis/analysis.h"

#include "analysis/params.h"
#include "base/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct ht_analysis *const analyses[] = {
#define ANALYSIS(x) &ht_analysis_##x,
#include "analysis/analyses.def"
#undef ANALYSIS
};

static const struct ht_param common[] = {
	{ "rank", HT_STR, "all", "ranks to look at: numbers, ranges, all", NULL },
	{ "step", HT_STR, NULL,
	        "profiler steps: numbers, ranges, all; by default all but the last, which is cut short",
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

static const struct ht_analysis *find(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(analyses); i++)
		if (!strcmp(analyses[i]->info.name, name))
			return analyses[i];
	return NULL;
}

const struct ht_analysis_info *ht_analysis_find(const char *name)
{
	const struct ht_analysis *analysis = find(name);
	return analysis ? &analysis->info : NULL;
}

size_t ht_n_common_params(void)
{
	return HT_COUNT(common);
}

const struct ht_param *ht_common_param(size_t i)
{
	return i < HT_COUNT(common) ? &common[i] : NULL;
}

/* ---- parameter values of a run ---- */

static const char *value_of(const struct ht_run *run, const char *param)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	for (size_t i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, param))
			return run->values[i];
	return NULL;
}

int64_t ht_run_i64(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	int64_t value = 0;
	return text && ht_parse_i64(text, &value) ? value : 0;
}

double ht_run_f64(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	double value = 0;
	return text && ht_parse_f64(text, &value) ? value : 0;
}

bool ht_run_bool(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	bool value = false;
	return text && ht_parse_bool(text, &value) && value;
}

const char *ht_run_str(const struct ht_run *run, const char *param)
{
	return value_of(run, param);
}

int64_t ht_run_duration_ns(const struct ht_run *run, const char *param)
{
	const char *text = value_of(run, param);
	int64_t value = 0;
	return text && ht_parse_duration(text, &value) ? value : 0;
}

/* ---- running ---- */

/* Texts of common parameters and of the analysis's own, defaults filled in. */
static enum ht_status read_args(
        struct ht_run *run, const struct ht_arg *args, size_t n_args, const char **common_values)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	const char **values = ht_arena_alloc(run->scratch, (info->n_params + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(run->ctx);
	run->values = values;
	for (size_t i = 0; i < HT_COUNT(common); i++)
		common_values[i] = common[i].default_value;
	for (size_t i = 0; i < info->n_params; i++)
		values[i] = info->params[i].default_value;
	for (size_t k = 0; k < n_args; k++) {
		const char **slot = NULL;
		const struct ht_param *param = NULL;
		for (size_t i = 0; i < HT_COUNT(common); i++)
			if (!strcmp(args[k].name, common[i].name)) {
				slot = &common_values[i];
				param = &common[i];
			}
		for (size_t i = 0; i < info->n_params; i++)
			if (!strcmp(args[k].name, info->params[i].name)) {
				slot = &values[i];
				param = &info->params[i];
			}
		if (!slot)
			return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL, "%s has no parameter %s",
			        info->name, args[k].name);
		HT_TRY(ht_param_check(run->ctx, param, args[k].value));
		*slot = args[k].value;
	}
	return HT_OK;
}

static enum ht_status fail_rank(struct ht_run *run, const char *text)
{
	char have[256] = "";
	size_t n = 0;
	for (size_t i = 0; i < run->set->n && n < sizeof have - 24; i++)
		n += (size_t)snprintf(
		        have + n, sizeof have - n, "%s%" PRId64, i ? ", " : "", run->set->ranks[i]);
	return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL, "--rank %s: no such rank; there are %s",
	        text, have);
}

static enum ht_status choose_ranks(struct ht_run *run, const char *text)
{
	struct ht_list list;
	size_t n = run->set->n;
	run->traces = ht_arena_alloc(run->scratch, (n + 1) * sizeof *run->traces);
	run->ranks = ht_arena_alloc(run->scratch, (n + 1) * sizeof *run->ranks);
	run->offset_ns = ht_arena_alloc(run->scratch, (n + 1) * sizeof *run->offset_ns);
	if (!run->traces || !run->ranks || !run->offset_ns)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_list_parse(run->ctx, "--rank", text, &list));
	for (size_t i = 0; i < n; i++)
		if (ht_list_has(&list, run->set->ranks[i])) {
			run->traces[run->n] = run->set->traces[i];
			run->ranks[run->n] = run->set->ranks[i];
			run->offset_ns[run->n++] = run->set->offset_ns[i];
		}
	ht_list_done(run->ctx, &list);
	return n && !run->n ? fail_rank(run, text) : HT_OK;
}

static enum ht_status prepare(struct ht_run *run, const struct ht_arg *args, size_t n_args)
{
	const char *values[HT_COUNT(common)];
	struct ht_list steps;
	HT_TRY(read_args(run, args, n_args, values));
	HT_TRY(choose_ranks(run, values[COMMON_RANK]));
	HT_TRY(ht_list_parse(run->ctx, "--step", values[COMMON_STEP], &steps));
	ht_list_done(run->ctx, &steps);
	run->step = values[COMMON_STEP] && *values[COMMON_STEP] ? values[COMMON_STEP] : NULL;
	run->annotation = values[COMMON_ANNOTATION];
	(void)ht_parse_bool(values[COMMON_COMPAT], &run->hta_compat);
	(void)ht_parse_bool(values[COMMON_ROWS], &run->hta_rows);
	run->hta_rows |= run->hta_compat;
	return HT_OK;
}

static enum ht_status fill(struct ht_run *run, ht_table *table)
{
	HT_TRY(ht_table_set_method(table, run->analysis->info.method));
	HT_TRY(run->analysis->run(run, table));
	for (size_t i = 0; i < run->n_sets; i++)
		if (run->sets[i]->loss_note)
			HT_TRY(ht_table_add_note(table, "%s", run->sets[i]->loss_note));
	HT_TRY(ht_table_finish(run->ctx, table));
	return run->view ? ht_table_apply_view(run->ctx, table, run->view) : HT_OK;
}

static enum ht_status run_analysis(
        struct ht_run *run, const struct ht_arg *args, size_t n_args, ht_table **ret_table)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	ht_table *table;
	HT_TRY(prepare(run, args, n_args));
	HT_TRY(ht_table_new(run->ctx, info->title, info->columns, info->n_columns, &table));
	enum ht_status status = fill(run, table);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

enum ht_status ht_run_prepare(ht_ctx *ctx, const char *name, const struct ht_set *set,
        const struct ht_arg *args, size_t n_args, struct ht_arena *scratch, struct ht_run *ret_run)
{
	const struct ht_analysis *analysis = find(name);
	if (!analysis)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "holotrace list shows all",
		        "no analysis named %s", name);
	*ret_run = (struct ht_run){ .ctx = ctx,
		.scratch = scratch,
		.analysis = analysis,
		.set = set,
		.sets = { set },
		.n_sets = 1 };
	return prepare(ret_run, args, n_args);
}

static bool is_given(const char *name, const struct ht_arg *args, size_t n_args)
{
	for (size_t i = 0; name && i < n_args; i++)
		if (!strcmp(args[i].name, name))
			return true;
	return false;
}

enum ht_status ht_run(ht_ctx *ctx, const char *name, ht_set *const *sets, size_t n_sets,
        const struct ht_arg *args, size_t n_args, const struct ht_view *view, ht_table **ret_table)
{
	const struct ht_analysis *analysis = find(name);
	ht_error_clear(ctx);
	if (!analysis)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "holotrace list shows all",
		        "no analysis named %s", name);
	static const struct ht_set nothing;
	bool replaced = !n_sets && is_given(analysis->info.instead, args, n_args);
	if (n_sets != analysis->info.n_sets && !replaced)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL,
		        "%s takes %zu set%s of traces, not %zu", name, analysis->info.n_sets,
		        analysis->info.n_sets == 1 ? "" : "s", n_sets);
	struct ht_arena scratch;
	ht_arena_init(&scratch, ctx->mem);
	struct ht_run run = { .ctx = ctx,
		.scratch = &scratch,
		.analysis = analysis,
		.set = replaced ? &nothing : sets[0],
		.n_sets = n_sets,
		.view = view };
	for (size_t i = 0; i < n_sets; i++)
		run.sets[i] = sets[i];
	enum ht_status status = run_analysis(&run, args, n_args, ret_table);
	ht_arena_done(&scratch);
	/* tables are filled without a context at hand: give their failure its text here */
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}
