/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_tables.h - the tables of memory snapshots, for small_tables.c.
 */
#ifndef HT_SQL_MEMORY_TABLES_H
#define HT_SQL_MEMORY_TABLES_H

#include "sql/result_table.h"

/* A table that is filled on demand. */
struct ht_sql_small {
	struct ht_sql_table table;
	enum ht_status (*fill)(struct ht_sql_session *s, ht_table *table);
};

#define HT_SQL_N_MEMORY 5
extern const struct ht_sql_small ht_sql_memory_tables[HT_SQL_N_MEMORY];

#endif
