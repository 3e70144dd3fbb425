/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_check.c - is an execution trace sound, and does it fit its Kineto trace?
 *
 * Rules and their findings are in src/et; here is the table. Errors make the answer "no" (exit code 1), warnings
 * and information do not. Rows are ordered by what is looked at: the file, the tree, arguments, attributes, the
 * pair; then how many findings were left out, and the counts.
 */
#include "analysis/analysis.h"

#include "et/et_findings.h"
#include "et/et_files.h"

#include <string.h>

static enum ht_status check_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_param params[] = {
	{ "et", HT_STR, NULL, "execution traces: files, folders or RANK=FILE, one per line", NULL },
	{ "limit", HT_I64, "20", "findings that are told one by one per rule; 0 tells all", NULL },
};

const struct ht_analysis ht_analysis_et_check = {
	.info = { .name = "et-check",
	        .group = "execution traces",
	        .title = "Defects of execution traces",
	        .question = "Is an execution trace sound, and does it belong to its Kineto trace?",
	        .method =
	                "Rules ET001 to ET070 over the file, its tree, arguments and attributes; with "
	                "the Kineto trace of the same window also ids, names, parents and threads.",
	        .schemas = (const struct ht_schema[]){ { "", ht_et_check_columns,
	                HT_ET_N_CHECK_COLUMNS } },
	        .n_schemas = 1,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .input_param = "et",
	        .files = "et",
	        .traces_option = "kineto" },
	.per_rank = check_rank,
	.finish = finish,
};

struct checking {
	struct ht_run *run;
	ht_table *table;
	const struct ht_trace *trace; /* NULL: the file alone */
};

static enum ht_status check(void *user, const struct ht_et *et, int64_t rank)
{
	const struct checking *k = user;
	int64_t limit = ht_run_i64(k->run, "limit");
	struct ht_et_check *c = ht_arena_alloc(k->run->scratch, sizeof *c);
	if (!c)
		return ht_fail_nomem(k->run->ctx);
	*c = (struct ht_et_check){ .ctx = k->run->ctx,
		.scratch = k->run->scratch,
		.et = et,
		.table = k->table,
		.rank = rank,
		.limit = limit > 0 ? (uint64_t)limit : 0 };
	HT_TRY(ht_et_check_file(c));
	if (k->trace)
		HT_TRY(ht_et_check_pair(c, k->trace));
	ht_et_check_end(c);
	return HT_OK;
}

static enum ht_status check_rank(struct ht_run *run, struct ht_part *part)
{
	struct checking k = { run, part->facts[0], run->trace };
	struct ht_et *et;
	HT_TRY(ht_et_take(run, true, &et));
	if (!et)
		return HT_OK;
	enum ht_status status = check(&k, et, run->rank);
	ht_et_free(et);
	return status;
}

static enum ht_status answer(ht_table *table)
{
	size_t n_errors = 0, n_warnings = 0;
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		const char *severity = ht_table_str(table, row, HT_ET_CHECK_SEVERITY);
		n_errors += !strcmp(severity, "error");
		n_warnings += !strcmp(severity, "warning");
	}
	if (n_errors)
		ht_table_set_check_failed(table);
	return ht_table_add_note(table, "%s",
	        n_errors     ? "the execution trace has errors"
	        : n_warnings ? "no errors; see the warnings"
	                     : "nothing is wrong");
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const char *list = ht_run_str(run, "et");
	struct checking k = { run, table, NULL };
	if (!list)
		return ht_table_add_note(table, "no execution trace was given");
	if (run->n_sets)
		HT_TRY(ht_et_finish_ranks(run, parts, table));
	else
		HT_TRY(ht_et_each(run->ctx, list, true, run->scratch, check, &k));
	return answer(table);
}
