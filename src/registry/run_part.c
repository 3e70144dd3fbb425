/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_part.c - see run_part.h.
 */
#include "registry/run_part.h"

#include "model/communication/comm_calls.h"
#include "model/policy.h"

/* From the first one on that is not there yet. */
static enum ht_status make_tables(ht_ctx *ctx, const struct ht_run *run, struct ht_part *part)
{
	const struct ht_analysis *analysis = run->analysis;
	const struct ht_schema *only = ht_run_schema(run);
	for (size_t k = 0; k < HT_PART_TABLES; k++) {
		const struct ht_schema *schema = &analysis->facts[k];
		if (!k && !schema->columns)
			schema = only;
		if (schema->columns && !part->facts[k])
			HT_TRY(ht_table_new(ctx, schema->name ? schema->name : analysis->info.name,
			        schema->columns, schema->n_columns, &part->facts[k]));
	}
	return HT_OK;
}

static enum ht_status finish_tables(ht_ctx *ctx, struct ht_part *part, size_t first, size_t end)
{
	for (size_t k = first; k < end; k++)
		if (part->facts[k])
			HT_TRY(ht_table_finish(ctx, part->facts[k]));
	return HT_OK;
}

typedef enum ht_status (*per_rank_fn)(struct ht_run *run, struct ht_part *part);

/* What it needed is let go. */
static enum ht_status fill_alone(struct ht_run *run, per_rank_fn fill, struct ht_part *part)
{
	struct ht_arena own, *whole = run->scratch;
	ht_arena_init_like(&own, whole);
	run->scratch = &own;
	enum ht_status status = fill(run, part);
	run->scratch = whole;
	ht_arena_done(&own);
	return status;
}

/* The common facts come last: they are the larger ones, and stay. */
enum ht_status ht_run_fill_part(struct ht_run *run, bool has_common, struct ht_part *part)
{
	const struct ht_analysis *analysis = run->analysis;
	size_t n_common = analysis->common ? analysis->common->n : 0;
	HT_TRY(make_tables(run->ctx, run, part));
	if (analysis->per_rank)
		HT_TRY(fill_alone(run, analysis->per_rank, part));
	HT_TRY(finish_tables(run->ctx, part, n_common, HT_PART_TABLES));
	if (!n_common || has_common)
		return HT_OK;
	HT_TRY(fill_alone(run, analysis->common->per_rank, part));
	return finish_tables(run->ctx, part, 0, n_common);
}

static enum ht_status put_calls(struct ht_run *run, struct ht_part *part)
{
	return ht_comm_calls_put(run, part->facts[0]);
}

static bool are_calls(const struct ht_part *part)
{
	return ht_facts_below(part->facts[0], HT_CALL_KIND, HT_N_COMM_KINDS) &&
	       ht_facts_below(part->facts[0], HT_CALL_DUR, HT_MAX_DURATION_NS + (size_t)1);
}

const struct ht_analysis ht_calls_analysis = {
	.info = { .title = "Communication calls" },
	.facts = { { "calls", ht_call_columns, HT_N_CALL_COLUMNS } },
	.per_rank = put_calls,
	.is_sound = are_calls,
};

enum ht_status ht_run_fill(
        struct ht_run *run, const struct ht_analysis *analysis, struct ht_part *part)
{
	struct ht_run one = *run;
	ht_run_set_analysis(&one, analysis);
	*part = (struct ht_part){ .side = run->side, .rank = run->rank };
	return ht_run_fill_part(&one, false, part);
}

static bool has_times(const struct ht_schema *schema)
{
	for (size_t c = 0; schema && c < schema->n_columns; c++)
		if (schema->columns[c].type == HT_TIME)
			return true;
	return false;
}

bool ht_run_needs_clocks(const struct ht_run *run)
{
	bool several = run->is_partial;
	for (size_t i = 0; i < run->n_sets; i++)
		several |= run->rosters[i]->n > 1;
	return several && (run->across || has_times(ht_run_schema(run)));
}

bool ht_run_wants_facts(const struct ht_run *run)
{
	return run->policy->needs_facts ||
	       (run->analysis->wants_facts && run->analysis->wants_facts(run));
}
