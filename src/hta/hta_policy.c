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

/* Its derived columns, and what mixes definitions. */
#define ALWAYS .cells = &ht_hta_cells, .path_waits = ht_hta_cp_waits

#define ROWS                                                                                       \
	.select_rows = ht_hta_frame_fill, .needs_facts = true, .events_of_frame = true,            \
	.only_chosen = true, .file_clocks = true, .one_device = true, .assumed_queue_limit = true

#define VALUES                                                                                     \
	.label = "as HTA", .refuse = refuse, .rows_with_gpu = true, .columns = ht_hta_columns,     \
	.raw_columns = true, .streams_by_number = true, .span_to_last_start = true,                \
	.shortest_copy_ns = 1000, .series_zero = series_zero, .collect_work = ht_hta_work_collect, \
	.collect_annotated = ht_hta_work_annotated, .sum_types = ht_hta_work_types,                \
	.type_by_name = type_by_name, .type_words = ht_hta_type_words, .only_known_types = true,   \
	.waits_are_work = true, .waits_in_transfers = true, .is_launch = ht_hta_is_launch,         \
	.counts_launch = ht_hta_is_stats_launch, .collect_idle = ht_hta_idle_collect,              \
	.no_hints = true, .single_pieces = true, .by_name = true, .no_empty_rows = true,           \
	.full_names = true, .raw_short_names = true, .zero_spread = true, .folds_sums = true,      \
	.one_backward = true, .roots_at_one_depth = true, .compares_counts = true,                 \
	.put_path = ht_hta_cp_put, .draw_path = ht_hta_cp_draw

const struct ht_policy *ht_hta_policy(bool values, bool rows)
{
	static const struct ht_policy of_columns = { ALWAYS }, of_rows = { ALWAYS, ROWS },
	                              of_values = { ALWAYS, ROWS, VALUES };
	return values ? &of_values : rows ? &of_rows : &of_columns;
}
