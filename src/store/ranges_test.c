/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges_test.c - range queries against walking all spans: with and without resolution; lanes without overlap.
 */
#include "store/ranges.h"
#include "store/set.h"
#include "store/columns.h"
#include "store/trace_refs.h"

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
/* Times are multiples of 20 us, so that many spans touch or start together. */
static void write_trace(const char *path)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("{\"schemaVersion\":1,\"traceEvents\":[", file);
	for (int i = 0; i < N_SPANS; i++) {
		uint64_t kind = random_below(20), ts = 20 * random_below(5000);
		uint64_t dur = 20 * (kind == 0          ? random_below(4500)
		                            : kind == 1 ? 0
		                                        : random_below(4));
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
	const struct ht_trace *trace;
	uint8_t seen[N_SPANS];
	uint32_t lane;
	int64_t last_end;
	bool in_order;
};

static bool note(void *user, const struct ht_range_hit *hit)
{
	struct answer *a = user;
	a->in_order &=
	        hit->lane > a->lane || (hit->lane == a->lane && hit->start_ns >= a->last_end);
	a->lane = hit->lane;
	a->last_end = hit->end_ns;
	assert_int_equal(hit->n, 1);
	assert_int_equal(hit->start_ns, a->trace->ts_ns[hit->row]);
	assert_int_equal(hit->end_ns, ht_end_ns(a->trace, hit->row));
	assert_int_equal(hit->sum_ns, a->trace->dur_ns[hit->row]);
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
			a = (struct answer){
				.trace = f->trace, .last_end = INT64_MIN, .in_order = true
			};
			ht_track_range(&f->ranges, track, from, to, 0, note, &a);
			assert_true(a.in_order);
			for (uint32_t row = 0; row < N_SPANS; row++)
				assert_int_equal(
				        a.seen[row], f->trace->track[row] == track &&
				                             should_be(f->trace, row, from, to));
		}
	}
}

/* ---- from far away ---- */

struct far {
	const struct fixture *f;
	int64_t from_ns, to_ns, resolution_ns;
	uint8_t alone[N_SPANS];
	size_t n_hits, n_spans;
	int64_t sum_ns;
};

static int64_t piece_of(const struct far *far, int64_t start_ns)
{
	return (start_ns - far->from_ns) / far->resolution_ns;
}

/* What the spans of the hit's lane and piece are, by looking at each. */
static void check_run(const struct far *far, const struct ht_range_hit *hit)
{
	const struct ht_trace *t = far->f->trace;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, sum_ns = 0, longest_ns = -1;
	uint32_t n = 0, track = t->track[hit->row], longest = 0;
	for (uint32_t row = 0; row < N_SPANS; row++) {
		uint32_t lane;
		if (t->track[row] != track || t->dur_ns[row] >= far->resolution_ns ||
		        t->ts_ns[row] < far->from_ns || t->ts_ns[row] >= far->to_ns ||
		        piece_of(far, t->ts_ns[row]) != piece_of(far, hit->start_ns) ||
		        !ht_track_lane(&far->f->ranges, track, row, &lane) || lane != hit->lane)
			continue;
		n++;
		sum_ns += t->dur_ns[row];
		first_ns = t->ts_ns[row] < first_ns ? t->ts_ns[row] : first_ns;
		last_ns = ht_end_ns(t, row) > last_ns ? ht_end_ns(t, row) : last_ns;
		if (t->dur_ns[row] > longest_ns ||
		        (t->dur_ns[row] == longest_ns && t->ts_ns[row] < t->ts_ns[longest])) {
			longest_ns = t->dur_ns[row];
			longest = row;
		}
	}
	assert_int_equal(hit->n, n);
	assert_int_equal(hit->sum_ns, sum_ns);
	assert_int_equal(hit->start_ns, first_ns);
	assert_int_equal(hit->end_ns, last_ns);
	assert_int_equal(hit->row, longest);
}

static bool note_far(void *user, const struct ht_range_hit *hit)
{
	struct far *far = user;
	far->n_hits++;
	far->n_spans += hit->n;
	far->sum_ns += hit->sum_ns;
	if (hit->n == 1)
		far->alone[hit->row]++;
	else
		check_run(far, hit);
	return true;
}

static void test_from_far_away_short_spans_come_together(void **state)
{
	struct fixture *f = *state;
	static struct far far;
	for (int i = 0; i < 60; i++) {
		int64_t from = (int64_t)random_below(90000) * 1000;
		int64_t to = from + (int64_t)random_below(30000) * 1000;
		int64_t resolution = 1 + (int64_t)random_below(i % 3 ? 40000 : 5000000);
		const struct ht_trace *t = f->trace;
		size_t n = 0;
		int64_t sum_ns = 0;
		far = (struct far){ f, from, to, resolution, { 0 }, 0, 0, 0 };
		ht_track_range(&f->ranges, 0, from, to, resolution, note_far, &far);
		for (uint32_t row = 0; row < N_SPANS; row++) {
			if (t->track[row] != 0 || !should_be(t, row, from, to)) {
				assert_int_equal(far.alone[row], 0);
				continue;
			}
			n++;
			sum_ns += t->dur_ns[row];
			/* as long as a piece, or begun before: told by itself, once */
			if (t->dur_ns[row] >= resolution || t->ts_ns[row] < from)
				assert_int_equal(far.alone[row], 1);
		}
		assert_int_equal(far.n_spans, n);
		assert_int_equal(far.sum_ns, sum_ns);
	}
}

static void test_an_answer_is_bounded_by_its_pieces(void **state)
{
	struct fixture *f = *state;
	static struct far far;
	far = (struct far){ .f = f, .to_ns = 100000000, .resolution_ns = 10000000 };
	ht_track_range(&f->ranges, 0, 0, far.to_ns, far.resolution_ns, note_far, &far);
	assert_true(far.n_spans > 1000);
	assert_true(far.n_hits <= 2 * 10 * f->ranges.tracks[0].n_lanes);
}

static void test_no_lane_hides_a_span(void **state)
{
	struct fixture *f = *state;
	for (uint32_t track = 0; track < 2; track++) {
		const struct ht_track_ranges *r = &f->ranges.tracks[track];
		assert_int_equal(r->first[0], 0);
		assert_int_equal(r->first[r->n_lanes], r->n);
		for (size_t lane = 0; lane < r->n_lanes; lane++)
			for (size_t i = r->first[lane] + 1; i < r->first[lane + 1]; i++)
				assert_true(ht_end_ns(f->trace, r->rows[i - 1]) <=
				            f->trace->ts_ns[r->rows[i]]);
	}
}

/* As many lanes as spans are open at once, and no more: one that ends where another starts makes room for it. */
static void test_no_lane_is_too_many(void **state)
{
	struct fixture *f = *state;
	const struct ht_trace *t = f->trace;
	for (uint32_t track = 0; track < 2; track++) {
		const struct ht_track_ranges *r = &f->ranges.tracks[track];
		size_t most = 0;
		for (size_t i = 0; i < r->n; i++) {
			int64_t start = t->ts_ns[r->rows[i]];
			size_t n_open = 1;
			/* of two that start together the longer one is around the other */
			for (size_t k = 0; k < r->n; k++) {
				bool is_before =
				        t->ts_ns[r->rows[k]] != start ? t->ts_ns[r->rows[k]] < start
				        : t->dur_ns[r->rows[k]] != t->dur_ns[r->rows[i]]
				                ? t->dur_ns[r->rows[k]] > t->dur_ns[r->rows[i]]
				                : r->rows[k] < r->rows[i];
				n_open += is_before && ht_end_ns(t, r->rows[k]) > start;
			}
			most = n_open > most ? n_open : most;
		}
		assert_int_equal(r->n_lanes, most);
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
		cmocka_unit_test(test_from_far_away_short_spans_come_together),
		cmocka_unit_test(test_an_answer_is_bounded_by_its_pieces),
		cmocka_unit_test(test_no_lane_hides_a_span),
		cmocka_unit_test(test_no_lane_is_too_many),
		cmocka_unit_test(test_a_query_can_be_stopped),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
