/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_policy.c - see hta_policy.h.
 */
#include "hta/hta_policy.h"

#include "hta/hta_cells.h"
#include "hta/hta_cp_graph.h"
#include "hta/hta_facts.h"
#include "hta/hta_frame.h"
#include "hta/hta_names.h"
#include "hta/hta_work.h"

/* Series start at the first event of all ranks that has a duration and a category. */
static int64_t series_zero(const struct ht_run *run)
{
	return run->facts->zero_ns;
}

static unsigned type_by_name(const char *name)
{
	return ht_hta_type(name);
}

static enum ht_status refuse(struct ht_run *run, const char *what)
{
	return ht_fail(
	        run->ctx, HT_USAGE, NULL, -1, "leave out --hta-compat", "HTA has no %s", what);
}

static void take_rows(struct ht_policy *policy)
{
	policy->select_rows = ht_hta_frame_fill;
	policy->needs_facts = true;
	policy->events_of_frame = true;
	policy->only_chosen = true;
	policy->file_clocks = true;
	policy->one_device = true;
	policy->assumed_queue_limit = true;
}

static void take_values(struct ht_policy *policy)
{
	policy->label = "as HTA";
	policy->refuse = refuse;
	policy->rows_with_gpu = true;
	policy->columns = ht_hta_columns;
	policy->raw_columns = true;
	policy->streams_by_number = true;
	policy->span_to_last_start = true;
	policy->shortest_copy_ns = 1000;
	policy->series_zero = series_zero;
	policy->collect_work = ht_hta_work_collect;
	policy->collect_annotated = ht_hta_work_annotated;
	policy->sum_types = ht_hta_work_types;
	policy->type_by_name = type_by_name;
	policy->type_words = ht_hta_type_words;
	policy->only_known_types = true;
	policy->waits_are_work = true;
	policy->waits_in_transfers = true;
	policy->is_launch = ht_hta_is_launch;
	policy->counts_launch = ht_hta_is_stats_launch;
	policy->collect_idle = ht_hta_idle_collect;
	policy->no_hints = true;
	policy->single_pieces = true;
	policy->by_name = true;
	policy->no_empty_rows = true;
	policy->full_names = true;
	policy->raw_short_names = true;
	policy->zero_spread = true;
	policy->folds_sums = true;
	policy->one_backward = true;
	policy->roots_at_one_depth = true;
	policy->compares_counts = true;
	policy->put_path = ht_hta_cp_put;
	policy->draw_path = ht_hta_cp_draw;
}

struct ht_policy ht_hta_policy(bool values, bool rows)
{
	struct ht_policy policy = { .cells = &ht_hta_cells, .path_waits = ht_hta_cp_waits };
	if (values || rows)
		take_rows(&policy);
	if (values)
		take_values(&policy);
	return policy;
}
