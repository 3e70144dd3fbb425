/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_columns.c - see module_columns.h.
 */
#include "model/groups/module_columns.h"

#include "model/numbers/pooled.h"

const uint8_t ht_module_rules[HT_N_MODULE_VALUES] = {
	[HT_MODULE_DEPTH] = HT_POOL_MAX,
	[HT_MODULE_ORDER] = HT_POOL_MIN,
};

const struct ht_column ht_module_group_columns[] = {
	{ "path", HT_STR, HT_KEY, "modules around it and itself", NULL },
	{ "name", HT_STR, HT_KEY, "module", NULL },
	{ "calls", HT_I64, HT_MEASURE, "calls", NULL },
	{ "operators", HT_I64, HT_MEASURE, "operators that it called itself", NULL },
	{ "host_self_ns", HT_DURATION, HT_MEASURE, "without what is inside", NULL },
	{ "host_total_ns", HT_DURATION, HT_MEASURE, "duration", NULL },
	{ "device_self_ns", HT_DURATION, HT_MEASURE, "GPU activity of its own", NULL },
	{ "device_total_ns", HT_DURATION, HT_MEASURE, "GPU activity", NULL },
	{ "backward_host_self_ns", HT_DURATION, HT_MEASURE, "host, backward, own", NULL },
	{ "backward_host_total_ns", HT_DURATION, HT_MEASURE, "host, backward", NULL },
	{ "backward_device_self_ns", HT_DURATION, HT_MEASURE, "GPU activity, backward, own", NULL },
	{ "backward_device_total_ns", HT_DURATION, HT_MEASURE, "GPU activity, backward", NULL },
	{ "depth", HT_I64, HT_MEASURE, "1 at the top", NULL },
	{ "first", HT_I64, HT_MEASURE, "when it was first called", NULL },
};

const struct ht_column ht_module_share_columns[] = HT_COLUMN_ENTRIES(HT_MODULE_SHARE_COLUMNS);
