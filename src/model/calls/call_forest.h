/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_forest.h - events of some categories as call trees, with the launches and the device work inside each.
 *
 * Monitored events make the levels. Trees are per thread: by start, longer first, then as in the file; the parent of an
 * event is the nearest earlier one whose closed interval contains its own, so events that overlap in part are siblings. In a
 * file of whole microseconds an event may end 1 us after its parent.
 *
 * A launch event matches every monitored event that contains its interval, of its thread (or any). Device work matches
 * the launch with its correlation (0 and -1 are none; of several the one that its flow starts at, else the
 * earliest), or else by an ac2g flow; in a file with neither, the monitored operator with its External id. It counts
 * whole, whenever it runs. A launch without length where one sibling ends and the next begins is the later one's.
 * Of launches inside each other only the outer one's duration counts.
 *
 * On an NPU operators queue calls that another thread makes. A launch of a thread without monitored events counts where the
 * operator is that the exporter's flow connects with its device work; calls that started no work are no launches.
 */
#ifndef HT_MODEL_CALLS_CALL_FOREST_H
#define HT_MODEL_CALLS_CALL_FOREST_H

#include "model/calls/forest.h"
#include "model/rows/frame.h"

/* Of the rows of a frame. Memory in scratch. O(n log n). */
enum ht_status ht_forest_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_forest_options *options, struct ht_forest *ret_forest) HT_MUST_USE;

/* The launches of a row, one after the other: begin, then next until NULL. */
struct ht_forest_walk {
	const struct ht_forest *forest;
	const struct ht_forest_row *row;
	size_t at, end;
};
struct ht_forest_walk ht_forest_walk(
        const struct ht_forest *forest, const struct ht_forest_row *row);
const struct ht_forest_launch *ht_forest_next(struct ht_forest_walk *walk);

#endif
