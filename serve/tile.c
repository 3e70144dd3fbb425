/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - see tile.h.
 */
#include "tile.h"

#include <stdlib.h>
#include <string.h>

struct tile_span {
	struct ht_span span;
	uint32_t track;
};

struct tile {
	int64_t from_ns, to_ns, unit_ns;
	uint32_t track;            /* in hand */
	struct serve_buffer spans; /* struct tile_span */
	struct serve_buffer names; /* uint32_t, each once */
	struct serve_buffer seen;  /* by name: 1 when it is among them */
	size_t n_waits;
};

static void note_name(struct tile *tile, uint32_t name)
{
	size_t n_seen = tile->seen.n;
	if (name == UINT32_MAX) /* an event without a name */
		return;
	if (name >= n_seen) {
		char *room = serve_buffer_extend(&tile->seen, name + 1 - n_seen);
		if (room == NULL)
			return;
		memset(room, 0, name + 1 - n_seen);
	}
	if (tile->seen.bytes[name])
		return;
	tile->seen.bytes[name] = 1;
	serve_put(&tile->names, &name, sizeof(name));
}

static bool add_span(void *user, const struct ht_span *span)
{
	struct tile *tile = user;
	bool is_short = span->end_ns - span->start_ns < tile->unit_ns;
	if (is_short && span->start_ns < tile->from_ns)
		return true; /* of the tile before */
	struct tile_span one = { *span, tile->track };
	serve_put(&tile->spans, &one, sizeof(one));
	note_name(tile, span->name);
	tile->n_waits += span->wait_ns > 0;
	return !tile->spans.failed;
}

/* ---- writing ---- */

static size_t n_spans(const struct tile *tile)
{
	return tile->spans.n / sizeof(struct tile_span);
}

static const struct tile_span *span_at(const struct tile *tile, size_t i)
{
	return (const struct tile_span *)(const void *)tile->spans.bytes + i;
}

/* A column: of each span the value that an expression gives. */
#define PUT_COLUMN(out, tile, type, value)                                                         \
	do {                                                                                       \
		type *column_ = serve_buffer_extend((out), n_spans(tile) * sizeof(type));          \
		for (size_t i_ = 0; column_ != NULL && i_ < n_spans(tile); i_++) {                 \
			const struct tile_span *s = span_at((tile), i_);                           \
			column_[i_] = (type)(value);                                               \
		}                                                                                  \
	} while (0)

static void put_waits(struct serve_buffer *out, const struct tile *tile)
{
	for (size_t i = 0; i < n_spans(tile); i++) {
		double wait_ns = (double)span_at(tile, i)->span.wait_ns;
		if (wait_ns > 0)
			serve_put(out, &wait_ns, sizeof(wait_ns));
	}
	for (uint32_t i = 0; i < n_spans(tile); i++)
		if (span_at(tile, i)->span.wait_ns > 0)
			serve_put(out, &i, sizeof(i));
}

size_t serve_cut(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);
	if (n <= max)
		return n;
	n = max;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void put_names(
        struct serve_buffer *out, const struct tile *tile, const ht_timeline *timeline, bool texts)
{
	size_t n = tile->names.n / sizeof(uint32_t);
	const uint32_t *names = (const uint32_t *)(const void *)tile->names.bytes;
	uint32_t end = 0;
	if (!texts)
		serve_put(out, names, tile->names.n);
	for (size_t i = 0; i < n; i++) {
		const char *text = ht_timeline_name(timeline, names[i]);
		size_t length = serve_cut(text, SERVE_TILE_NAME);
		end += (uint32_t)length;
		if (texts)
			serve_put(out, text, length);
		else
			serve_put(out, &end, sizeof(end));
	}
}

static void put_tile(struct serve_buffer *out, const struct tile *tile, const ht_timeline *timeline)
{
	const uint32_t counts[] = { (uint32_t)n_spans(tile),
		(uint32_t)(tile->names.n / sizeof(uint32_t)), (uint32_t)tile->n_waits };
	const double times[] = { (double)tile->from_ns, (double)tile->to_ns,
		(double)tile->unit_ns };
	serve_put(out, "HTT1", 4);
	serve_put(out, counts, sizeof(counts));
	serve_put(out, times, sizeof(times));
	PUT_COLUMN(out, tile, double, s->span.start_ns);
	PUT_COLUMN(out, tile, double, s->span.end_ns);
	PUT_COLUMN(out, tile, double, s->span.sum_ns);
	put_waits(out, tile);
	PUT_COLUMN(out, tile, uint32_t, ht_event_row(s->span.id));
	PUT_COLUMN(out, tile, uint32_t, s->span.n);
	PUT_COLUMN(out, tile, uint32_t, s->span.name);
	PUT_COLUMN(out, tile, uint32_t, s->track);
	put_names(out, tile, timeline, false);
	PUT_COLUMN(out, tile, uint16_t, s->span.lane);
	PUT_COLUMN(out, tile, uint8_t, s->span.kind);
	PUT_COLUMN(out, tile, uint8_t, s->span.work);
	put_names(out, tile, timeline, true);
}

bool serve_tile_write(
        const ht_timeline *timeline, int64_t level, int64_t index, struct serve_buffer *out)
{
	struct tile tile = { 0 };
	int64_t length_ns;
	if (level < 0 || level > SERVE_TILE_MAX_LEVEL)
		return false;
	tile.unit_ns = (int64_t)1 << level;
	length_ns = tile.unit_ns * SERVE_TILE_UNITS;
	if (__builtin_mul_overflow(index, length_ns, &tile.from_ns) ||
	        __builtin_add_overflow(tile.from_ns, length_ns, &tile.to_ns))
		return false;
	for (size_t track = 0; track < ht_timeline_n_tracks(timeline); track++) {
		tile.track = (uint32_t)track;
		ht_timeline_range(
		        timeline, track, tile.from_ns, tile.to_ns, tile.unit_ns, add_span, &tile);
	}
	put_tile(out, &tile, timeline);
	out->failed |= tile.spans.failed || tile.names.failed || tile.seen.failed;
	serve_buffer_done(&tile.spans);
	serve_buffer_done(&tile.names);
	serve_buffer_done(&tile.seen);
	return true;
}
