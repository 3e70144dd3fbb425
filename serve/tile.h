/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - a piece of one rank's timeline as bytes, at some distance.
 *
 * At level L one unit of the picture, at most a pixel or so, is 2^L ns, and a tile is SERVE_TILE_UNITS of them:
 *
 *     tile I of level L = [I, I + 1) * SERVE_TILE_UNITS * 2^L ns of set time
 *
 * A span that is as long as a unit is in every tile that it overlaps, as it is. Shorter ones are in the tile that
 * they start in; those of a lane that start in one unit come together, with their number, the sum of their
 * durations, and id, name and kind of the longest. So the counts and sums of short spans add up over tiles, and
 * nothing that can be seen is lost.
 *
 * Layout, little-endian:
 *
 *     u32 magic "HTT1", n spans, n names, n waits;  f64 from_ns, to_ns, unit_ns
 *     f64 start_ns[spans], end_ns[spans], sum_ns[spans], wait_ns[waits]
 *     u32 wait_at[waits]           which span waits for wait_ns at its start: a collective's call
 *     u32 row[spans], n[spans], name[spans], track[spans]
 *     u32 name_id[names], name_end[names]
 *     u16 lane[spans];  u8 kind[spans], work[spans] (255: none)
 *     names, UTF-8, one after the other; name_end is where each ends; cut at SERVE_TILE_NAME bytes
 *
 * Spans come track by track and lane by lane, ascending by start. Times are whole numbers below 2^53, set time.
 */
#ifndef SERVE_TILE_H
#define SERVE_TILE_H

#include "buffer.h"

#define SERVE_TILE_UNITS     512
#define SERVE_TILE_NAME      160
#define SERVE_TILE_MAX_LEVEL 44

/* How many bytes of a text to carry: at most so many, whole characters only. */
size_t serve_cut(const char *text, size_t max);
/* False when there is no such tile: a level or an index out of range. */
bool serve_tile_write(
        const ht_timeline *timeline, int64_t level, int64_t index, struct serve_buffer *out);

#endif
