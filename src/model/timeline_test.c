/*
 * timeline_test.c - a rank's tracks by time, through the public interface.
 */
#include "holotrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	ht_ctx *ctx;
	ht_timeline *timeline;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	char path[4096];
	const char *root = getenv("HT_SOURCE_ROOT"), *source = path;
	ht_set *set;
	snprintf(path, sizeof path, "%s/examples/train/train.json.gz", root ? root : ".");
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &set), HT_OK);
	assert_int_equal(ht_timeline_open(f->ctx, set, 0, &f->timeline), HT_OK);
	/* the timeline keeps what it needs */
	ht_close(set);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_timeline_close(f->timeline);
	ht_ctx_free(f->ctx);
	free(f);
	return 0;
}

struct seen {
	size_t n, n_spans;
	int64_t first_ns, last_ns;
	struct ht_span longest;
};

static bool see(void *user, const struct ht_span *span)
{
	struct seen *seen = user;
	seen->n++;
	seen->n_spans += span->n;
	if (seen->n == 1 || span->start_ns < seen->first_ns)
		seen->first_ns = span->start_ns;
	if (seen->n == 1 || span->end_ns > seen->last_ns)
		seen->last_ns = span->end_ns;
	if (span->end_ns - span->start_ns > seen->longest.end_ns - seen->longest.start_ns)
		seen->longest = *span;
	return true;
}

static void test_tracks_hold_their_spans(void **state)
{
	struct fixture *f = *state;
	struct ht_track_info track;
	bool device = false;
	assert_true(ht_timeline_n_tracks(f->timeline) > 2);
	for (size_t i = 0; ht_timeline_track(f->timeline, i, &track); i++) {
		struct seen seen = { 0 }, far = { 0 };
		ht_timeline_range(f->timeline, i, INT64_MIN, INT64_MAX, 0, see, &seen);
		ht_timeline_range(f->timeline, i, INT64_MIN, INT64_MAX, 10000000, see, &far);
		assert_int_equal(seen.n, track.n_spans);
		assert_int_equal(far.n_spans, track.n_spans);
		device |= track.device >= 0 && track.n_spans;
		if (!track.n_spans)
			continue;
		assert_int_equal(seen.first_ns, track.first_ns);
		assert_int_equal(seen.last_ns, track.last_ns);
		assert_true(track.n_lanes > 0 && seen.longest.lane < track.n_lanes);
	}
	assert_true(device);
	assert_false(ht_timeline_track(f->timeline, SIZE_MAX, &track));
}

static void test_an_event_tells_everything(void **state)
{
	struct fixture *f = *state;
	ht_table *table;
	char id[32];
	bool has_args = false;
	assert_int_equal(ht_timeline_event(f->ctx, f->timeline, 1, &table), HT_OK);
	snprintf(id, sizeof id, "0:1");
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		const char *key = ht_table_str(table, row, 0), *value = ht_table_str(table, row, 1);
		if (!strcmp(key, "id"))
			assert_string_equal(value, id);
		if (!strcmp(key, "name"))
			assert_string_equal(value, "NllLossBackward0");
		has_args |= !strcmp(key, "args.Sequence number") && !strcmp(value, "1421");
	}
	assert_true(has_args);
	ht_table_free(table);
	assert_int_equal(ht_timeline_event(f->ctx, f->timeline, UINT32_MAX, &table), HT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracks_hold_their_spans),
		cmocka_unit_test(test_an_event_tells_everything),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
