/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawing.h - a result drawn into the trace of one rank: plain data for whoever writes that trace.
 *
 * Marked events get an argument; arrows become pairs of flow events with one id: ph "s" where they start, ph "f" with
 * bp "e" where they end, args weight (in microseconds), critical and type, pid and tid those of the rows' tracks.
 * Spans are complete events (ph X) on a thread of their own in the process that the trace is of.
 */
#ifndef HT_MODEL_DRAWING_H
#define HT_MODEL_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ht_row_text {
	uint32_t row;
	const char *text;
};

struct ht_arrow {
	uint32_t from_row, to_row;
	int64_t from_ns, to_ns; /* in the trace's own clock; inside the slice of the row */
	int64_t weight_ns;
	const char *type;
	bool critical;
};

struct ht_drawn_span {
	const char *name;
	const char *text; /* an argument; NULL: none */
	int64_t ts_ns, dur_ns;
};

/* Members that are zero draw nothing. */
struct ht_drawing {
	const char *key;                 /* of the argument that marked events get */
	const struct ht_row_text *marks; /* ascending by row; the text is the argument's JSON */
	size_t n_marks;
	const char *arrow_name;        /* name and category of arrows */
	const struct ht_arrow *arrows; /* flow id = position */
	size_t n_arrows;
	const char *spans_track, *spans_key; /* name of their thread, key of their argument */
	const struct ht_drawn_span *spans;
	size_t n_spans;
	const uint8_t *hidden; /* by row: left out of the trace; NULL: none */
};

#endif
