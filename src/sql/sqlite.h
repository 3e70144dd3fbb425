/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.h - SQLite as this folder sees it: linked, or, inside the loadable extension, that of the host program.
 */
#ifndef HT_SQL_SQLITE_H
#define HT_SQL_SQLITE_H

#ifdef HT_SQL_EXTENSION
#include <sqlite3ext.h>
/* defined in extension.c */
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
