/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_db.h - the parts in which a database of Ascend is read; see ascend_db.c.
 */
#ifndef HT_READ_ASCEND_DB_H
#define HT_READ_ASCEND_DB_H

#include "read/db.h"
#include "store/draft.h"

enum ht_status ht_db_read_host(struct ht_db *db) HT_MUST_USE;
enum ht_status ht_db_read_device(struct ht_db *db) HT_MUST_USE;
enum ht_status ht_db_read_memory(struct ht_db *db) HT_MUST_USE;
enum ht_status ht_db_read_analysis(struct ht_db *db) HT_MUST_USE;

#endif
