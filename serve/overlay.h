/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay.h - results drawn into the timeline: curves over time, and the critical path.
 *
 * Which results, and of which columns, the analyses say (over_time of their description). The rows of a rank come from its analysis once and
 * stay in a store while they are asked for again and again with other stretches of time; an answer has at most some
 * points per curve, each with the least, the most and the last value of what it stands for, so that no peak is lost. Of the stretch as a
 * whole a curve says the least, the most and the mean over the time in which it has a value.
 */
#ifndef SERVE_OVERLAY_H
#define SERVE_OVERLAY_H

#include "json_out.h"

/* The results of one set; any number of threads may ask. */
struct serve_overlays;

/* NULL when out of memory. */
struct serve_overlays *serve_overlays_new(void);
void serve_overlays_free(struct serve_overlays *overlays);

struct serve_overlay_question {
	const char *name; /* of the analysis */
	int64_t rank;
	int64_t from_ns, to_ns;
	int64_t n_points;
	const char *series; /* the only curve that is wanted; NULL: all */
};

/* Whether an analysis can be drawn. */
bool serve_overlay_exists(const char *name);
/* The curves or spans over [from_ns, to_ns) (Overlay). HT_USAGE when there is no such overlay. */
enum ht_status serve_overlay_write(struct serve_overlays *overlays, ht_set *set,
        const struct serve_overlay_question *question, struct serve_json *json) HT_MUST_USE;

#endif
