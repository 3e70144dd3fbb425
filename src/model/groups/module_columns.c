/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_columns.c - see module_columns.h.
 */
#include "model/groups/module_columns.h"

const uint8_t ht_module_rules[HT_N_MODULE_VALUES] = HT_POOL_RULES(HT_MODULE_VALUES);
const struct ht_column ht_module_group_columns[HT_N_MODULE_GROUP_COLUMNS] =
        HT_POOL_COLUMNS(HT_MODULE_KEYS, HT_MODULE_VALUES);

const struct ht_column ht_module_share_columns[HT_N_MODULE_SHARE_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_MODULE_SHARE_COLUMNS);
