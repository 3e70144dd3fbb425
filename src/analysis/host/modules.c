/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - which modules take the time, forward and backward, on the host and on the device.
 *
 * One row per path of modules, in the order of the model; sums over calls and ranks (module_groups.h):
 *   host total    length of the calls                host self    without modules, operators and runtime calls inside
 *   device total  GPU work launched inside           device self  but not inside a module inside
 *   backward      the same of the backward pass, by the autograd links
 * Device times are sums of durations: work that runs at the same time counts twice.
 * Reads Python frames nn.Module: ... (record with with_stack and with_modules), annotations [pl][module]... of PyTorch
 * Lightning, and compiled regions of torch.compile; below these, with the structured log attached, the modules whose parameters the generated code takes, or the
 * places where the model calls them. Without any calls of modules GPU activity is under what else names modules (origin/named_modules.h). A note says how much of the GPU activity is in modules exactly, by alignment, or not at all. O(n log n). Unless steps are chosen, all of the trace.
 * Example: Net_0 [0,100) us calls Linear_0 [10,50), which launches 30 us of GPU work, and whose backward pass is 40 us of GPU work:
 * Linear_0 has device 30 and backward device 40 us; Net_0 as total the same, of its own nothing.
 */
#include "analysis/analysis.h"
#include "model/finding/hint.h"
#include "model/rows/frame.h"
#include "model/groups/module_groups.h"

#include <math.h>
#include <stdio.h>

static enum ht_status group(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_PATH, "path", HT_STR, HT_KEY, "the modules around it and itself, / between",    \
	        NULL)                                                                              \
	COLUMN(COL_CALLS, "calls", HT_I64, HT_MEASURE, "calls of the module", NULL)                \
	COLUMN(COL_OPERATORS, "operators", HT_I64, HT_DETAIL, "operators that it called itself",   \
	        NULL)                                                                              \
	COLUMN(COL_HOST_SELF_NS, "host_self_ns", HT_DURATION, HT_MEASURE,                          \
	        "time of its calls without modules, operators and runtime calls inside", NULL)     \
	COLUMN(COL_HOST_TOTAL_NS, "host_total_ns", HT_DURATION, HT_MEASURE, "time of its calls",   \
	        NULL)                                                                              \
	COLUMN(COL_DEVICE_SELF_NS, "device_self_ns", HT_DURATION, HT_MEASURE,                      \
	        "GPU activity launched inside, but not inside a module inside", NULL)              \
	COLUMN(COL_DEVICE_TOTAL_NS, "device_total_ns", HT_DURATION, HT_MEASURE,                    \
	        "GPU activity launched inside", NULL)                                              \
	COLUMN(COL_BACKWARD_HOST_SELF_NS, "backward_host_self_ns", HT_DURATION, HT_DETAIL,         \
	        "time of the operators of its own backward pass", NULL)                            \
	COLUMN(COL_BACKWARD_HOST_TOTAL_NS, "backward_host_total_ns", HT_DURATION, HT_MEASURE,      \
	        "with those of the modules inside", NULL)                                          \
	COLUMN(COL_BACKWARD_DEVICE_SELF_NS, "backward_device_self_ns", HT_DURATION, HT_DETAIL,     \
	        "GPU activity of its own backward pass", NULL)                                     \
	COLUMN(COL_BACKWARD_DEVICE_TOTAL_NS, "backward_device_total_ns", HT_DURATION, HT_MEASURE,  \
	        "with that of the modules inside", NULL)                                           \
	COLUMN(COL_DEVICE_SHARE, "device_share", HT_RATIO, HT_DETAIL,                              \
	        "its own GPU activity, forward and backward, of that of all modules", NULL)        \
	COLUMN(COL_NAME, "name", HT_STR, HT_DETAIL, "module", NULL)                                \
	COLUMN(COL_DEPTH, "depth", HT_I64, HT_DETAIL, "1 for a module inside no other", NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_modules = {
	.info = {
		.name = "modules",
		.group = "views",
		.page_view = "modules",
		.title = "Modules",
		.question = "Which modules of the model take the time, forward and backward?",
		.method = "Times of module calls by path, total with and self without what is inside; GPU activity "
			  "by where it was launched, of the backward pass by the forward operator. In the order of "
			  "the model.",
		HT_ONE_SCHEMA(columns),
		.n_sets = 1,
	},
	.facts = { { "modules", ht_module_group_columns, HT_N_MODULE_GROUP_COLUMNS },
	        { "shares", ht_module_share_columns, HT_N_MODULE_SHARE_COLUMNS } },
	.per_rank = group,
	.finish = finish,
};

static enum ht_status group(struct ht_run *run, struct ht_part *part)
{
	return ht_module_groups_put(run, part->facts[0], part->facts[1]);
}

static int64_t own_device_ns(const struct ht_pooled *p, size_t i)
{
	return ht_add_sat(ht_pooled_i64(p, i, 0, HT_MODULE_DEVICE_SELF),
	        ht_pooled_i64(p, i, 0, HT_MODULE_BACKWARD_DEVICE_SELF));
}

/* What the modules are known by, in the order in which it is asked; calls around launches go without saying. */
static enum ht_status note_methods(ht_table *table, const int64_t *ns, int64_t all)
{
	static const char *const ways[] = { "module_fqn of annotated nodes", "calls",
		"Module Hierarchy", "parameters in generated code",
		"generated code before and after", "stacks of generated code",
		"the forward operator", "names of annotations (no calls of modules recorded)" };
	char text[512] = "";
	size_t n = 0;
	bool is_plain = true;
	for (size_t k = 0; k < HT_COUNT(ways); k++) {
		is_plain &= !ns[k] || k == HT_MODULE_FRAMES_NS - HT_MODULE_BY_NS ||
		            k == HT_MODULE_BACKWARD_NS - HT_MODULE_BY_NS;
		if (ns[k])
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", n ? ", " : "",
			        ways[k], ht_share_text((double)ns[k] / (double)all).text);
	}
	return is_plain ? HT_OK : ht_table_add_note(table, "modules are known by: %s", text);
}

static enum ht_status note_shares(const struct ht_parts *parts, ht_table *table)
{
	int64_t ns[HT_N_MODULE_SHARE_COLUMNS] = { 0 }, all = 0;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *shares = parts->list[i].facts[1];
		for (size_t row = 0; row < ht_table_n_rows(shares); row++)
			for (size_t k = 0; k < HT_N_MODULE_SHARE_COLUMNS; k++)
				ht_sum(&ns[k], ht_table_i64(shares, row, k));
	}
	for (size_t k = 0; k < HT_MODULE_BY_NS; k++)
		ht_sum(&all, ns[k]);
	if (!all)
		return HT_OK;
	/* that an annotation is a module, nobody says */
	int64_t exact = ht_sub_sat(ns[HT_MODULE_EXACT_NS], ns[HT_MODULE_ANNOTATION_NS]);
	HT_TRY(ht_table_add_note(table,
	        "GPU activity by module: %s exact, %s aligned with a recording, shared or between others, %s in no module",
	        ht_share_text((double)exact / (double)all).text,
	        ht_share_text((double)ns[HT_MODULE_ALIGNED_NS] / (double)all).text,
	        ht_share_text((double)ns[HT_MODULE_UNKNOWN_NS] / (double)all).text));
	return note_methods(table, &ns[HT_MODULE_BY_NS], all);
}

static enum ht_status put_groups(
        struct ht_run *run, const struct ht_parts *parts, struct ht_pooled *p, ht_table *table)
{
	const size_t *order = NULL;
	int64_t sum = 0;
	HT_TRY(ht_pooled_parts(p, parts, 0));
	HT_TRY(ht_module_order(p, &order));
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		ht_sum(&sum, own_device_ns(p, i));
	for (size_t i = 0; i < ht_pooled_n(p); i++) {
		ht_table_row(table);
		ht_table_put_str(table, COL_PATH, ht_pooled_key(p, order[i], HT_MODULE_PATH));
		for (size_t k = HT_MODULE_CALLS; k <= HT_MODULE_BACKWARD_DEVICE_TOTAL; k++)
			ht_table_put_i64(table, COL_CALLS + k, ht_pooled_i64(p, order[i], 0, k));
		ht_table_put_f64(table, COL_DEVICE_SHARE,
		        sum ? (double)own_device_ns(p, order[i]) / (double)sum : NAN);
		ht_table_put_str(table, COL_NAME, ht_pooled_key(p, order[i], HT_MODULE_NAME));
		ht_table_put_i64(table, COL_DEPTH, ht_pooled_i64(p, order[i], 0, HT_MODULE_DEPTH));
	}
	HT_TRY(ht_frame_set_method(run, table, "sums over calls and ranks"));
	ht_table_set_bar(table, COL_DEVICE_SHARE);
	if (!ht_pooled_n(p))
		return ht_table_add_note(table,
		        "no modules in the trace: record with with_stack=True and with_modules=True");
	return note_shares(parts, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_pooled pooled;
	ht_pooled_init(&pooled, run, HT_N_MODULE_KEYS, 1, ht_module_rules, HT_N_MODULE_VALUES);
	enum ht_status status = put_groups(run, parts, &pooled, table);
	ht_pooled_done(&pooled);
	return status;
}
