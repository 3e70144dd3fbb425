/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.h - the nearest, or the outermost, row of some kind around others, which may be they themselves.
 *
 * Rows that lie below the same ones, however deep, cost what is between them: a row is looked at once.
 */
#ifndef HT_MODEL_ROWS_AROUND_H
#define HT_MODEL_ROWS_AROUND_H

#include "model/run.h"

struct ht_around {
	const struct ht_trace *trace;
	bool (*is_it)(const void *data, uint32_t row);
	bool (*is_end)(const void *data,
	        uint32_t row); /* where to look no further for the outermost; NULL: nowhere */
	const void *data;
	uint32_t *found; /* by row: what is around it + 2, 0: not looked for */
};

/* Memory in scratch. */
enum ht_status ht_around_init(struct ht_run *run, const struct ht_trace *trace,
        bool (*is_it)(const void *data, uint32_t row), const void *data,
        struct ht_around *ret_around) HT_MUST_USE;
/* The nearest; HT_NONE: there is none. */
uint32_t ht_around_find(struct ht_around *around, uint32_t row);
/* The outermost. One struct is for one of both. */
uint32_t ht_around_outermost(struct ht_around *around, uint32_t row);

#endif
