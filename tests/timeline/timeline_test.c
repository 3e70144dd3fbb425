/* SPDX-License-Identifier: Apache-2.0 */
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
#include <unistd.h>

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
	struct ht_track_info track = { .struct_size = sizeof track };
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

/* ---- a trace of its own ---- */

/* Two host spans, a launch, and on device 0 a kernel from 0 to 10 us and a copy from 8 to 12 us. */
static const char small[] =
        "{\"schemaVersion\":1,\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":1,\"tid\":1,"
        "\"ts\":0,\"dur\":30},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,"
        "\"args\":{\"External id\":4}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
        "\"ts\":0,\"dur\":2,\"args\":{\"External id\":4,\"correlation\":9}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":10,"
        "\"args\":{\"External id\":4,\"correlation\":9,\"device\":0,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":8,\"ts\":8,"
        "\"dur\":4,\"args\":{\"correlation\":10,\"device\":0,\"stream\":8}},"
        "{\"ph\":\"s\",\"id\":3,\"pid\":1,\"tid\":1,\"ts\":3,\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"},"
        "{\"ph\":\"f\",\"id\":3,\"pid\":1,\"tid\":2,\"ts\":15,\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\","
        "\"bp\":\"e\"},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"MmBackward0\",\"pid\":1,\"tid\":2,\"ts\":15,"
        "\"dur\":5,\"args\":{\"Fwd thread id\":1,\"Sequence number\":5}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":2,\"ts\":16,\"dur\":1}]}";

static ht_timeline *open_small(ht_ctx *ctx)
{
	char path[64];
	const char *source = path;
	ht_set *set;
	ht_timeline *timeline;
	snprintf(path, sizeof path, "/tmp/holotrace-timeline-%d.json", (int)getpid());
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(small, file);
	fclose(file);
	assert_int_equal(ht_open(ctx, &source, 1, NULL, &set), HT_OK);
	assert_int_equal(ht_timeline_open(ctx, set, 0, &timeline), HT_OK);
	ht_close(set);
	unlink(path);
	return timeline;
}

static void test_steps_and_single_spans(void **state)
{
	struct fixture *f = *state;
	ht_timeline *timeline = open_small(f->ctx);
	struct ht_step_info step = { .struct_size = sizeof step };
	struct ht_span span = { .struct_size = sizeof span };
	struct ht_track_info info = { .struct_size = sizeof info };
	size_t track;
	assert_true(ht_timeline_step(timeline, 0, &step));
	assert_int_equal(step.number, 7);
	assert_int_equal(step.start_ns, 0);
	assert_int_equal(step.end_ns, 30000);
	assert_int_equal(step.id, ht_event_id(0, 0));
	assert_false(ht_timeline_step(timeline, 1, &step));
	assert_true(ht_timeline_span(timeline, 2, &track, &span));
	assert_int_equal(span.lane, 2); /* inside the operator inside the step */
	assert_int_equal(span.end_ns, 2000);
	assert_string_equal(ht_timeline_name(timeline, span.name), "cudaLaunchKernel");
	assert_true(ht_timeline_span(timeline, 4, &track, &span));
	assert_string_equal(ht_timeline_work(span.work), "memcpy");
	assert_true(ht_timeline_track(timeline, track, &info));
	assert_int_equal(info.tid, 8);
	assert_null(info.layer);
	assert_false(ht_timeline_span(timeline, 5, &track, &span)); /* a flow */
	assert_false(ht_timeline_span(timeline, 99, &track, &span));
	assert_int_equal(ht_timeline_info(timeline)->to_ns, 30000);
	ht_timeline_close(timeline);
}

static bool write_link(void *user, const struct ht_link *link)
{
	char *text = user;
	size_t n = strlen(text);
	snprintf(text + n, 512 - n, "%s %u>%u, ", link->name, ht_event_row(link->from),
	        ht_event_row(link->to));
	return true;
}

static void test_links_of_events(void **state)
{
	struct fixture *f = *state;
	ht_timeline *timeline = open_small(f->ctx);
	const struct {
		uint32_t row;
		const char *links;
	} cases[] = {
		/* around the launch; who launched it; which operator */
		{ 3, "parent 2>3, parent 1>2, parent 0>1, launch 2>3, operator 1>3, " },
		{ 2, "parent 1>2, parent 0>1, launch 2>3, " },
		{ 1, "parent 0>1, operator 1>3, fwdbwd 1>7, " },
		{ 4, "" },
		/* the thread that waits for the backward pass is around it; the flow says what it is of */
		{ 7, "parent 0>7, fwdbwd 1>7, " },
		{ 8, "parent 7>8, parent 0>7, forward 1>8, " },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512] = "";
		assert_int_equal(
		        ht_timeline_links(f->ctx, timeline, cases[i].row, write_link, text), HT_OK);
		assert_string_equal(text, cases[i].links);
	}
	char text[512] = "";
	assert_int_equal(ht_timeline_links(f->ctx, timeline, 9, write_link, text), HT_USAGE);
	ht_timeline_close(timeline);
}

/* n, sum and busy of a class on the device, or the host when device is null. */
static void check_class(
        const ht_table *table, const char *name, int64_t n, int64_t sum_ns, int64_t busy_ns)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		if (strcmp(ht_table_str(table, row, 2), name) != 0)
			continue;
		assert_int_equal(ht_table_i64(table, row, 3), n);
		assert_int_equal(ht_table_i64(table, row, 4), sum_ns);
		assert_int_equal(ht_table_i64(table, row, 5), busy_ns);
		return;
	}
	fail_msg("no class %s", name);
}

/* The worked example of timeline_sum.c: [5, 20) us. */
static void test_sums_of_a_selection(void **state)
{
	struct fixture *f = *state;
	ht_timeline *timeline = open_small(f->ctx);
	const ht_timeline *const one[] = { timeline };
	ht_table *table;
	assert_int_equal(ht_timeline_sum(f->ctx, one, 1,
	                         &(struct ht_sum_options){ sizeof(struct ht_sum_options), 5000,
	                                 20000, NULL, "class" },
	                         &table),
	        HT_OK);
	check_class(table, "compute", 1, 5000, 5000);
	check_class(table, "memcpy", 1, 4000, 4000);
	check_class(table, "idle", 0, 8000, 8000);
	check_class(table, "annotation", 1, 15000, 15000);
	check_class(table, "cpu_op", 2, 6000, 5000); /* one inside the other */
	ht_table_free(table);
	assert_int_equal(ht_timeline_sum(f->ctx, one, 1,
	                         &(struct ht_sum_options){
	                                 sizeof(struct ht_sum_options), 0, 30000, NULL, "name" },
	                         &table),
	        HT_OK);
	assert_string_equal(ht_table_str(table, 0, 0), "ProfilerStep#7");
	assert_string_equal(ht_table_str(table, 1, 0), "gemm");
	assert_int_equal(ht_table_i64(table, 1, 3), 10000);
	assert_int_equal(ht_table_i64(table, 1, 6), ht_event_id(0, 3));
	ht_table_free(table);
	assert_int_equal(ht_timeline_sum(f->ctx, one, 1,
	                         &(struct ht_sum_options){
	                                 sizeof(struct ht_sum_options), 0, 1, "0:x", "name" },
	                         &table),
	        HT_USAGE);
	assert_int_equal(ht_timeline_sum(f->ctx, one, 1,
	                         &(struct ht_sum_options){
	                                 sizeof(struct ht_sum_options), 1, 0, NULL, "name" },
	                         &table),
	        HT_USAGE);
	assert_int_equal(
	        ht_timeline_sum(f->ctx, one, 1,
	                &(struct ht_sum_options){ sizeof(struct ht_sum_options), 0, 1, NULL, "x" },
	                &table),
	        HT_USAGE);
	ht_timeline_close(timeline);
}

static void test_only_the_tracks_that_are_asked_for(void **state)
{
	struct fixture *f = *state;
	ht_timeline *timeline = open_small(f->ctx);
	const ht_timeline *const one[] = { timeline };
	struct ht_span span = { .struct_size = sizeof span };
	char tracks[32];
	size_t track;
	ht_table *table;
	assert_true(ht_timeline_span(timeline, 4, &track, &span));
	snprintf(tracks, sizeof tracks, "3:0,0:%zu", track);
	assert_int_equal(ht_timeline_sum(f->ctx, one, 1,
	                         &(struct ht_sum_options){ sizeof(struct ht_sum_options), 5000,
	                                 20000, tracks, "class" },
	                         &table),
	        HT_OK);
	assert_int_equal(ht_table_n_rows(table), 2);
	check_class(table, "memcpy", 1, 4000, 4000);
	check_class(table, "idle", 0, 11000, 11000);
	ht_table_free(table);
	ht_timeline_close(timeline);
}

/* ---- several ranks ---- */

static ht_set *open_ranks(ht_ctx *ctx)
{
	char path[4096];
	const char *root = getenv("HT_SOURCE_ROOT"), *source = path;
	ht_set *set;
	snprintf(path, sizeof path, "%s/examples/straggler", root ? root : ".");
	assert_int_equal(ht_open(ctx, &source, 1, NULL, &set), HT_OK);
	assert_true(ht_set_n_ranks(set) > 1);
	return set;
}

static size_t column_of(const ht_table *table, const char *name)
{
	for (size_t i = 0; i < ht_table_n_columns(table); i++)
		if (!strcmp(ht_table_column(table, i)->name, name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

/* Timelines say what the tables say: when events start, and how long collectives wait. */
static void test_ranks_are_on_the_clock_of_the_tables(void **state)
{
	struct fixture *f = *state;
	ht_set *set = open_ranks(f->ctx);
	const struct ht_arg args[] = { { "view", "calls" }, { "step", "all" } };
	const struct ht_view view = {
		.struct_size = sizeof view, .columns = "id,time_ns", .where = "kind = kernel"
	};
	ht_table *calls, *events;
	size_t n_waits = 0;
	assert_int_equal(
	        ht_ask(f->ctx, &set, 1,
	                &(struct ht_query){ sizeof(struct ht_query), "collectives", args, 2, NULL },
	                &calls),
	        HT_OK);
	assert_int_equal(
	        ht_ask(f->ctx, &set, 1,
	                &(struct ht_query){ sizeof(struct ht_query), "events", NULL, 0, &view },
	                &events),
	        HT_OK);
	assert_true(ht_table_n_rows(events) > 100);
	for (size_t i = 0; i < ht_set_n_ranks(set); i++) {
		ht_timeline *timeline;
		struct ht_span span = { .struct_size = sizeof span };
		size_t track;
		assert_int_equal(ht_timeline_open(f->ctx, set, i, &timeline), HT_OK);
		for (size_t row = 0; row < ht_table_n_rows(events); row++) {
			int64_t id = ht_table_i64(events, row, 0);
			if (ht_event_rank(id) != ht_set_rank(set, i))
				continue;
			assert_true(ht_timeline_span(timeline, ht_event_row(id), &track, &span));
			assert_int_equal(span.start_ns, ht_table_i64(events, row, 1));
		}
		for (size_t row = 0; row < ht_table_n_rows(calls); row++) {
			if (ht_table_i64(calls, row, column_of(calls, "rank")) !=
			        ht_set_rank(set, i))
				continue;
			int64_t at = ht_table_i64(calls, row, column_of(calls, "row"));
			assert_true(ht_timeline_span(timeline, (uint32_t)at, &track, &span));
			assert_int_equal(span.wait_ns,
			        ht_table_i64(calls, row, column_of(calls, "wait_ns")));
			n_waits += span.wait_ns > 0;
		}
		ht_timeline_close(timeline);
	}
	assert_true(n_waits > 10);
	ht_table_free(calls);
	ht_table_free(events);
	ht_close(set);
}

static bool count_peers(void *user, const struct ht_link *link)
{
	size_t *n = user;
	if (!strcmp(link->name, "collective")) {
		assert_int_not_equal(ht_event_rank(link->from), ht_event_rank(link->to));
		++*n;
	}
	return true;
}

static void test_a_collective_is_linked_with_itself_on_other_ranks(void **state)
{
	struct fixture *f = *state;
	ht_set *set = open_ranks(f->ctx);
	const struct ht_arg args[] = { { "view", "calls" }, { "step", "all" } };
	ht_table *calls;
	ht_timeline *timeline;
	assert_int_equal(
	        ht_ask(f->ctx, &set, 1,
	                &(struct ht_query){ sizeof(struct ht_query), "collectives", args, 2, NULL },
	                &calls),
	        HT_OK);
	assert_int_equal(ht_timeline_open(f->ctx, set, 0, &timeline), HT_OK);
	size_t n_seen = 0;
	for (size_t row = 0; row < ht_table_n_rows(calls); row++) {
		size_t n = 0;
		if (ht_table_i64(calls, row, column_of(calls, "rank")) != ht_set_rank(set, 0))
			continue;
		int64_t at = ht_table_i64(calls, row, column_of(calls, "row"));
		assert_int_equal(
		        ht_timeline_links(f->ctx, timeline, (uint32_t)at, count_peers, &n), HT_OK);
		assert_int_equal(n, ht_table_i64(calls, row, column_of(calls, "ranks")) - 1);
		n_seen++;
	}
	assert_true(n_seen > 10);
	ht_table_free(calls);
	ht_timeline_close(timeline);
	ht_close(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracks_hold_their_spans),
		cmocka_unit_test(test_an_event_tells_everything),
		cmocka_unit_test(test_steps_and_single_spans),
		cmocka_unit_test(test_links_of_events),
		cmocka_unit_test(test_sums_of_a_selection),
		cmocka_unit_test(test_only_the_tracks_that_are_asked_for),
		cmocka_unit_test(test_ranks_are_on_the_clock_of_the_tables),
		cmocka_unit_test(test_a_collective_is_linked_with_itself_on_other_ranks),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
