/*
 * ranges_test.c - range queries against walking all spans, lanes without overlap, blocks that add up.
 */
#include "store/ranges.h"
#include "store/set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_SPANS = 3000 };

struct fixture {
	ht_ctx *ctx;
	ht_set *set;
	const struct ht_trace *trace;
	struct ht_arena arena;
	struct ht_ranges ranges;
	char path[64];
};

static uint64_t seed = 42;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* Short spans, a few that last nearly for ever, some of no length, on two threads. */
static void write_trace(const char *path)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("{\"schemaVersion\":1,\"traceEvents\":[", file);
	for (int i = 0; i < N_SPANS; i++) {
		uint64_t kind = random_below(20), ts = random_below(100000);
		uint64_t dur = kind == 0 ? random_below(90000) : kind == 1 ? 0 : random_below(60);
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x\",\"pid\":1,\"tid\":%d,\"ts\":%llu,"
		        "\"dur\":%llu}",
		        i ? "," : "", i % 2, (unsigned long long)ts, (unsigned long long)dur);
	}
	fputs("]}", file);
	fclose(file);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	snprintf(f->path, sizeof f->path, "/tmp/holotrace-ranges-%d.json", (int)getpid());
	write_trace(f->path);
	const char *source = f->path;
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &f->set), HT_OK);
	assert_int_equal(ht_set_acquire(f->ctx, f->set, 0, &f->trace), HT_OK);
	ht_arena_init(&f->arena, f->ctx->mem);
	assert_int_equal(ht_ranges_make(f->ctx, f->trace, &f->arena, &f->ranges), HT_OK);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_arena_done(&f->arena);
	ht_trace_release(f->trace);
	ht_close(f->set);
	ht_ctx_free(f->ctx);
	unlink(f->path);
	free(f);
	return 0;
}

struct answer {
	uint8_t seen[N_SPANS];
	size_t n, n_spans;
	int64_t last_start;
	bool in_order;
};

static bool note(void *user, const struct ht_range_hit *hit)
{
	struct answer *a = user;
	a->in_order &= hit->start_ns >= a->last_start;
	a->last_start = hit->start_ns;
	a->n++;
	a->n_spans += hit->n;
	if (hit->n == 1)
		a->seen[hit->row]++;
	return true;
}

static bool should_be(const struct ht_trace *t, uint32_t row, int64_t from, int64_t to)
{
	int64_t start = t->ts_ns[row], end = ht_end_ns(t, row);
	return start < to && (end > from || start >= from);
}

static void test_every_overlap_is_found(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(f->ranges.n_tracks, 2);
	for (int i = 0; i < 400; i++) {
		int64_t from = (int64_t)random_below(110000) * 1000;
		int64_t to = from + (int64_t)random_below(i % 2 ? 300 : 60000) * 1000;
		for (uint32_t track = 0; track < 2; track++) {
			static struct answer a;
			a = (struct answer){ .last_start = INT64_MIN, .in_order = true };
			ht_track_range(&f->ranges, track, from, to, 0, note, &a);
			assert_true(a.in_order);
			for (uint32_t row = 0; row < N_SPANS; row++)
				assert_int_equal(
				        a.seen[row], f->trace->track[row] == track &&
				                             should_be(f->trace, row, from, to));
		}
	}
}

static void test_from_far_away_spans_come_together(void **state)
{
	struct fixture *f = *state;
	static struct answer near_by, far;
	near_by = (struct answer){ .last_start = INT64_MIN };
	far = (struct answer){ .last_start = INT64_MIN };
	ht_track_range(&f->ranges, 0, INT64_MIN, INT64_MAX, 0, note, &near_by);
	ht_track_range(&f->ranges, 0, INT64_MIN, INT64_MAX, 2000000, note, &far);
	assert_int_equal(near_by.n, near_by.n_spans);
	assert_int_equal(far.n_spans, near_by.n_spans);
	assert_true(far.n < near_by.n / 4);
}

static void test_no_lane_hides_a_span(void **state)
{
	struct fixture *f = *state;
	for (uint32_t track = 0; track < 2; track++) {
		const struct ht_track_ranges *r = &f->ranges.tracks[track];
		int64_t *end = calloc(r->n_lanes, sizeof *end);
		for (size_t i = 0; i < r->n_lanes; i++)
			end[i] = INT64_MIN;
		for (size_t i = 0; i < r->n; i++) {
			uint32_t row = r->rows[i];
			assert_true(r->lanes[i] < r->n_lanes);
			assert_true(end[r->lanes[i]] <= f->trace->ts_ns[row]);
			end[r->lanes[i]] = ht_end_ns(f->trace, row);
		}
		free(end);
	}
}

static bool stop(void *user, const struct ht_range_hit *hit)
{
	(void)hit;
	return ++*(int *)user < 5;
}

static void test_a_query_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	int n = 0;
	ht_track_range(&f->ranges, 0, INT64_MIN, INT64_MAX, 0, stop, &n);
	assert_int_equal(n, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_overlap_is_found),
		cmocka_unit_test(test_from_far_away_spans_come_together),
		cmocka_unit_test(test_no_lane_hides_a_span),
		cmocka_unit_test(test_a_query_can_be_stopped),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
