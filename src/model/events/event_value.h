/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_value.h - any column or argument of any event, by name: the one way in for tables, queries and details.
 *
 *     struct ht_event_column c;
 *     if (ht_event_column_find(trace, "args.bytes", &c)) {
 *             ht_event_column_start(&c, &source);
 *             ht_event_value(&c, row, &value);
 *     }
 *
 * Rows may be asked for in any order, O(log n) each; ascending rows cost O(1).
 */
#ifndef HT_MODEL_EVENTS_EVENT_VALUE_H
#define HT_MODEL_EVENTS_EVENT_VALUE_H

#include "model/calls/row_owners.h"
#include "model/efficiency/row_costs.h"
#include "model/origin/origin.h"

/* A value by the column's type: i64 (also times, durations, events, booleans), u64, f64, or text. */
struct ht_event_value {
	bool is_null;
	int64_t i64; /* u64 as its bits */
	double f64;
	const char *text; /* need not end in NUL; in the trace or in the source's scratch memory */
	size_t n;
};

/* Where events are read from. */
struct ht_event_source {
	ht_ctx *ctx;
	struct ht_arena *scratch; /* for texts that are put together */
	const struct ht_trace *trace;
	int64_t rank;
	/* with what the columns in use read of it; NULL when they read nothing */
	const struct ht_attribution *attribution;
	const struct ht_origins *origins; /* likewise */
	const struct ht_row_costs *costs; /* likewise */
};

/* An argument column of one trace and where reading was last. */
struct ht_event_cursor {
	const struct ht_arg_column *column;
	uint64_t at;
};

struct ht_event_column {
	struct ht_column column; /* name, type, sentence */
	int field;               /* enum in event_value.c; -1: an argument */
	const char *key;         /* of an argument */
	bool top_level;
	bool type_only; /* the argument's type in the file, not its value */
	struct ht_event_source source;
	struct ht_event_cursor cursors[8]; /* one per type the argument has */
	size_t n_cursors;
};

/* Fields and links of every event. */
#define HT_N_EVENT_FIELDS 43
extern const struct ht_column ht_event_fields[HT_N_EVENT_FIELDS];
/* False when no field, link or argument of the trace has that name: "name", "args.bytes", "event.s";
 * "type.bytes" is what the argument is in the file: string, json (a list or an object), int, float, bool
 * or null. */
bool ht_event_column_find(
        const struct ht_trace *trace, const char *name, struct ht_event_column *ret_column);
/* The parts of the trace's attribution that the column reads; 0: none. */
unsigned ht_event_column_attribution(const struct ht_event_column *column);
/* Whether it reads origins. */
bool ht_event_column_needs_origins(const struct ht_event_column *column);
/* Whether it reads costs. */
bool ht_event_column_needs_costs(const struct ht_event_column *column);
/* Times in the clock of all ranks are the trace's own: who knows the clock moves them. */
void ht_event_column_start(struct ht_event_column *column, const struct ht_event_source *source);
void ht_event_value(struct ht_event_column *column, uint32_t row, struct ht_event_value *ret_value);
/* Where the argument of a row stands, whatever its type there; NULL: the row has none. Alive until the next call. */
const struct ht_event_cursor *ht_event_argument(struct ht_event_column *column, uint32_t row);
/* Append the value as a cell of that type. */
void ht_event_value_put(
        const struct ht_event_value *value, enum ht_type type, ht_table *table, size_t column);

#endif
