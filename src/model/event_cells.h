/*
 * event_cells.h - columns of the events table by name: fields, links and arguments of an event.
 */
#ifndef HT_MODEL_EVENT_CELLS_H
#define HT_MODEL_EVENT_CELLS_H

#include "model/run.h"

/* An argument column of one trace and how far reading has come; rows ascend. */
struct ht_event_cursor {
	const struct ht_arg_column *column;
	const uint32_t *rows;
	uint64_t at;
};

struct ht_event_column {
	struct ht_column column; /* name, type, sentence */
	int field;               /* enum in event_cells.c; -1: an argument */
	const char *key;         /* of an argument */
	bool top_level;
	/* of the trace being read */
	const struct ht_trace *trace;
	int64_t rank, base_ns;
	struct ht_event_cursor cursors[8]; /* one per type the argument has */
	size_t n_cursors;
	struct ht_run *run;
};

/* False when no field, link or argument of the rank in hand has that name. */
bool ht_event_column_find(struct ht_run *run, const char *name, struct ht_event_column *ret_column);
/* Begin with the rank in hand. Times in the clock of all ranks are put as the trace's own. */
void ht_event_column_start(struct ht_event_column *column, struct ht_run *run);
/* Append the cell of a row; rows must ascend. */
void ht_event_column_put(struct ht_event_column *column, uint32_t row, ht_table *table);

#endif
