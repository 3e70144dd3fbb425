/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.h - the language of --where, as a tree; knows no table.
 *
 *   expression = term { "or" term }          term   = factor { "and" factor }
 *   factor     = "not" factor | "(" expression ")" | test
 *   test       = column op value | column "is" [ "not" ] "null"
 *   op         = == = != < <= > >= ~ !~      value  = word | "text" | 'text' | number [ unit ]
 *                                                   | /regular expression/ after ~ and !~
 *
 * A word ends at a blank, a bracket or an operator; anything else wants quotes, column names included.
 * Keywords are lower or upper case.
 */
#ifndef HT_TABLE_WHERE_H
#define HT_TABLE_WHERE_H

#include "base/status.h"

enum ht_where_kind { HT_WHERE_AND, HT_WHERE_OR, HT_WHERE_NOT, HT_WHERE_NULL, HT_WHERE_TEST };

enum ht_where_op { HT_EQ, HT_NE, HT_LT, HT_LE, HT_GT, HT_GE, HT_LIKE, HT_UNLIKE };

struct ht_where {
	enum ht_where_kind kind;
	struct ht_where *left, *right; /* and, or; not has left only */
	const char *column, *value;
	enum ht_where_op op;
	bool is_regex;
	struct ht_test *test; /* the filter's own, see filter.c */
};

/* Limits, so that a stranger's expression costs little. */
#define HT_WHERE_MAX_BYTES 65536
#define HT_WHERE_MAX_DEPTH 64
#define HT_WHERE_MAX_TESTS 1000

/* Parse text into a tree in the arena. HT_USAGE tells what was expected and where. */
enum ht_status ht_where_parse(ht_ctx *ctx, const char *text, struct ht_arena *arena,
        struct ht_where **ret_tree) HT_MUST_USE;
/* "==", "~" ... for messages. */
const char *ht_where_op_text(enum ht_where_op op);

#endif
