/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - what both kinds of series share. See series.h.
 */
#include "model/device/series.h"

enum ht_status ht_series_starts(struct ht_run *run, const void *events, size_t n_events,
        size_t n_bytes, bool (*same)(const void *a, const void *b), size_t **ret_starts,
        size_t *ret_n)
{
	const char *at = events;
	size_t n = 0;
	size_t *starts = ht_arena_alloc(run->scratch, (n_events + 1) * sizeof *starts);
	if (!starts)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_events; i++)
		if (!i || !same(at + (i - 1) * n_bytes, at + i * n_bytes))
			starts[n++] = i;
	starts[n] = n_events;
	*ret_starts = starts;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_series_put(struct ht_run *run, const struct ht_series_rows *how,
        const struct ht_frame *frame, const void *series, size_t n, ht_table *table)
{
	bool points = ht_run_is(run, "view", "series");
	const char *at = series;
	for (size_t i = 0; i < n; i++, at += how->n_bytes) {
		if (points)
			how->put_points(table, frame, at);
		else
			HT_TRY(how->put_summary(run, table, frame, at));
	}
	return HT_OK;
}
