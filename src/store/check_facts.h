/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_facts.h - what the checks of sections know of the whole; see check.c.
 */
#ifndef HT_STORE_CHECK_FACTS_H
#define HT_STORE_CHECK_FACTS_H

#include "store/check_loops.h"
#include "store/columns.h"

struct ht_check_facts {
	const struct ht_check_loops *loops;
	uint32_t n_rows, n_strings, n_shapes;
	uint8_t *sound_shapes; /* per shape: every column that it names exists */
	/* A bit per row, and per entry of python_rows: it is known to lead up to a top. */
	atomic_uchar *known, *known_python;
};

static inline bool ht_check_all_below(const struct ht_check_facts *f, const uint32_t *values,
        size_t n, size_t limit, bool none_allowed)
{
	return !n || f->loops->all_below(values, n, (uint32_t)limit, none_allowed);
}

/* Ascending rows; first tells whether there is one before. */
static inline bool ht_check_are_rows(
        const struct ht_check_facts *f, const uint32_t *rows, size_t first, size_t n)
{
	return f->loops->is_ascending(rows + first, n) &&
	       (!first || rows[first - 1] < rows[first]) && rows[first + n - 1] < f->n_rows;
}

static inline bool ht_check_is_string(const struct ht_check_facts *f, uint32_t id)
{
	return id < f->n_strings;
}

/* Names that every check has. */
#define KNOWN                                                                                      \
	const struct ht_trace *t = store;                                                          \
	struct ht_check_facts *f = facts;                                                          \
	(void)t;                                                                                   \
	(void)f

/* Every arg column is a slice of the arrays that columns share, and none begins before the end of the one before. */
bool ht_check_columns(const struct ht_trace *t, const struct ht_check_facts *f);
/* Parts of the sections of args; see ht_check_fn. */
bool ht_check_arg_rows(const void *store, void *facts, size_t first, size_t n);
bool ht_check_arg_values(const void *store, void *facts, size_t first, size_t n);
bool ht_check_arg_blocks(const void *store, void *facts, size_t first, size_t n);
bool ht_check_row_blocks(const void *store, void *facts, size_t first, size_t n);

#endif
