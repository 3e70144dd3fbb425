/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_test.c - tiles against the list of events: nothing that is as long as a unit is lost, and what comes together
 * adds up, at every level.
 */
#include "tile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the file says ---- */

struct event {
	int64_t start_ns, dur_ns;
	uint32_t row, track;
	char name[16];
};

struct fixture {
	ht_ctx *ctx;
	ht_timeline *timeline;
	struct event *events;
	size_t n;
	int64_t end_ns;
};

enum { N_EVENTS = 4000 };

static uint64_t seed = 7;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* Three threads of spans from nothing to most of the trace, in ns; the list is made along with the file. */
static void make_events(struct fixture *f, FILE *file)
{
	f->events = calloc(N_EVENTS, sizeof(*f->events));
	f->n = N_EVENTS;
	fputs("{\"schemaVersion\":1,\"traceEvents\":[", file);
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		struct event *e = &f->events[i];
		uint64_t shape = random_below(30);
		e->row = i;
		e->track = i % 3;
		e->start_ns = i < 3 ? 0 : (int64_t)random_below(50000000);
		e->dur_ns = (int64_t)(shape == 0   ? random_below(40000000)
		                      : shape == 1 ? 0
		                      : shape < 20 ? random_below(900)
		                                   : random_below(200000));
		snprintf(e->name, sizeof(e->name), "name %d", (int)random_below(40));
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":%u,"
		        "\"ts\":%lld.%03d,\"dur\":%lld.%03d}",
		        i > 0 ? "," : "", e->name, e->track, (long long)e->start_ns / 1000,
		        (int)(e->start_ns % 1000), (long long)e->dur_ns / 1000,
		        (int)(e->dur_ns % 1000));
		if (e->start_ns + e->dur_ns > f->end_ns)
			f->end_ns = e->start_ns + e->dur_ns;
	}
	fputs("]}", file);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[64];
	const char *source = path;
	ht_set *set;
	snprintf(path, sizeof(path), "/tmp/holotrace-tile-%d.json", (int)getpid());
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	make_events(f, file);
	fclose(file);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &set), HT_OK);
	assert_int_equal(ht_timeline_open(f->ctx, set, 0, &f->timeline), HT_OK);
	ht_close(set);
	unlink(path);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_timeline_close(f->timeline);
	ht_ctx_free(f->ctx);
	free(f->events);
	free(f);
	return 0;
}

/* ---- a tile as the page reads it ---- */

struct view {
	struct serve_buffer bytes;
	uint32_t n, n_names, n_waits;
	double from_ns, to_ns, unit_ns;
	const double *start_ns, *end_ns, *sum_ns;
	const uint32_t *row, *count, *name, *track, *name_id, *name_end;
	const uint16_t *lane;
	const uint8_t *kind, *work;
	const char *names;
};

static const void *take(const struct view *v, size_t *at, size_t n)
{
	const void *here = v->bytes.bytes + *at;
	*at += n;
	assert_true(*at <= v->bytes.n);
	return here;
}

static void read_tile(const ht_timeline *timeline, int64_t level, int64_t index, struct view *v)
{
	size_t at = 0;
	*v = (struct view){ 0 };
	assert_true(serve_tile_write(timeline, level, index, &v->bytes));
	assert_false(v->bytes.failed);
	assert_memory_equal(take(v, &at, 4), "HTT1", 4);
	const uint32_t *counts = take(v, &at, 12);
	v->n = counts[0];
	v->n_names = counts[1];
	v->n_waits = counts[2];
	const double *times = take(v, &at, 24);
	v->from_ns = times[0];
	v->to_ns = times[1];
	v->unit_ns = times[2];
	v->start_ns = take(v, &at, v->n * 8);
	v->end_ns = take(v, &at, v->n * 8);
	v->sum_ns = take(v, &at, v->n * 8);
	(void)take(v, &at, v->n_waits * 12);
	v->row = take(v, &at, v->n * 4);
	v->count = take(v, &at, v->n * 4);
	v->name = take(v, &at, v->n * 4);
	v->track = take(v, &at, v->n * 4);
	v->name_id = take(v, &at, v->n_names * 4);
	v->name_end = take(v, &at, v->n_names * 4);
	v->lane = take(v, &at, v->n * 2);
	v->kind = take(v, &at, v->n);
	v->work = take(v, &at, v->n);
	v->names = take(v, &at, v->n_names > 0 ? v->name_end[v->n_names - 1] : 0);
	assert_int_equal(at, v->bytes.n);
}

static void check_name(const struct view *v, uint32_t id, const char *text)
{
	for (uint32_t i = 0; i < v->n_names; i++) {
		uint32_t begin = i > 0 ? v->name_end[i - 1] : 0;
		if (v->name_id[i] != id)
			continue;
		assert_int_equal(v->name_end[i] - begin, strlen(text));
		assert_memory_equal(v->names + begin, text, strlen(text));
		return;
	}
	fail_msg("the tile lacks a name");
}

/* ---- against the list ---- */

static bool is_in(const struct event *e, double from_ns, double to_ns)
{
	double start = (double)e->start_ns, end = (double)(e->start_ns + e->dur_ns);
	return start < to_ns && (end > from_ns || start >= from_ns);
}

/* Long spans are there as they are, once; short ones are counted where they start. */
static void check_tile(const struct fixture *f, const struct view *v)
{
	size_t n_long = 0, n_short = 0, n_counted = 0, n_alone = 0;
	double sum_ns = 0, sum_counted_ns = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct event *e = &f->events[i];
		if ((double)e->dur_ns >= v->unit_ns) {
			n_long += is_in(e, v->from_ns, v->to_ns);
		} else if ((double)e->start_ns >= v->from_ns && (double)e->start_ns < v->to_ns) {
			n_short++;
			sum_ns += (double)e->dur_ns;
		}
	}
	for (uint32_t i = 0; i < v->n; i++) {
		const struct event *e = &f->events[v->row[i]];
		assert_int_equal(v->work[i], UINT8_MAX);
		check_name(v, v->name[i], e->name);
		if (v->count[i] == 1) {
			assert_true(v->start_ns[i] == (double)e->start_ns);
			assert_true(v->end_ns[i] == (double)(e->start_ns + e->dur_ns));
			assert_true(v->sum_ns[i] == (double)e->dur_ns);
		} else {
			assert_true((double)e->dur_ns < v->unit_ns);
		}
		if (v->count[i] == 1 && (double)e->dur_ns >= v->unit_ns) {
			n_alone++;
			assert_true(is_in(e, v->from_ns, v->to_ns));
			continue;
		}
		n_counted += v->count[i];
		sum_counted_ns += v->sum_ns[i];
		assert_true(v->start_ns[i] >= v->from_ns && v->start_ns[i] < v->to_ns);
	}
	assert_int_equal(n_alone, n_long);
	assert_int_equal(n_counted, n_short);
	assert_true(sum_counted_ns == sum_ns);
}

/* In the order that is promised, nothing on top of anything, and no more than the units have room for. */
static void check_order(const struct view *v)
{
	for (uint32_t i = 1; i < v->n; i++) {
		bool same = v->track[i] == v->track[i - 1] && v->lane[i] == v->lane[i - 1];
		assert_true(v->track[i] > v->track[i - 1] ||
		            (v->track[i] == v->track[i - 1] && v->lane[i] >= v->lane[i - 1]));
		assert_true(!same || v->start_ns[i] >= v->end_ns[i - 1]);
	}
	for (uint32_t first = 0, i = 1; i <= v->n; i++) {
		if (i < v->n && v->track[i] == v->track[first] && v->lane[i] == v->lane[first])
			continue;
		assert_true(i - first <= 2 * SERVE_TILE_UNITS + 1);
		first = i;
	}
}

static void test_tiles_are_what_the_list_says(void **state)
{
	struct fixture *f = *state;
	for (int64_t level = 0; level <= SERVE_TILE_MAX_LEVEL; level++) {
		int64_t length_ns = SERVE_TILE_UNITS * ((int64_t)1 << level);
		int64_t n_tiles = f->end_ns / length_ns + 1;
		for (int k = 0; k < 12; k++) {
			struct view v;
			int64_t index = (int64_t)random_below((uint64_t)n_tiles + 1);
			read_tile(f->timeline, level, index, &v);
			assert_true(v.from_ns == (double)(index * length_ns));
			assert_true(v.to_ns == (double)((index + 1) * length_ns));
			check_tile(f, &v);
			check_order(&v);
			serve_buffer_done(&v.bytes);
		}
	}
}

/* Over all tiles of a level every short span is counted once. */
static void test_counts_add_up_over_tiles(void **state)
{
	struct fixture *f = *state;
	const int64_t level = 12, length_ns = SERVE_TILE_UNITS * ((int64_t)1 << level);
	size_t n_short = 0, n_counted = 0;
	for (size_t i = 0; i < f->n; i++)
		n_short += f->events[i].dur_ns < (1 << level);
	for (int64_t index = 0; index <= f->end_ns / length_ns; index++) {
		struct view v;
		read_tile(f->timeline, level, index, &v);
		for (uint32_t i = 0; i < v.n; i++)
			if (v.count[i] > 1 ||
			        (double)f->events[v.row[i]].dur_ns < (double)v.unit_ns)
				n_counted += v.count[i];
		serve_buffer_done(&v.bytes);
	}
	assert_true(n_short > 1000);
	assert_int_equal(n_counted, n_short);
}

static void test_there_are_no_other_tiles(void **state)
{
	struct fixture *f = *state;
	struct serve_buffer out = { 0 };
	assert_false(serve_tile_write(f->timeline, -1, 0, &out));
	assert_false(serve_tile_write(f->timeline, SERVE_TILE_MAX_LEVEL + 1, 0, &out));
	assert_false(serve_tile_write(f->timeline, 20, INT64_MAX / 1000, &out));
	assert_false(serve_tile_write(f->timeline, 20, INT64_MIN / 1000, &out));
	assert_int_equal(out.n, 0);
	assert_true(serve_tile_write(f->timeline, 0, -5, &out)); /* before everything */
	serve_buffer_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tiles_are_what_the_list_says),
		cmocka_unit_test(test_counts_add_up_over_tiles),
		cmocka_unit_test(test_there_are_no_other_tiles),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
