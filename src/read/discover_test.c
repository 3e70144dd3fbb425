/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_test.c - each kind of source finds what it should, in order, and says what it left out.
 */
#include "base/mem.h"
#include "read/discover.h"
#include "read/sniff.h"
#include "base/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char trace[] = "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\"}]}";
static const char execution[] = "{\"schema\": \"1.1.1\", \"pid\": 3, \"nodes\": [{\"id\": 1}]}";

struct fixture {
	ht_ctx *ctx;
	char dir[64];
	struct ht_discovery result;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	snprintf(f->dir, sizeof f->dir, "/tmp/ht-find-XXXXXX");
	*state = f;
	return !mkdtemp(f->dir) || chdir(f->dir);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_discovery_done(&f->result);
	ht_ctx_memory(f->ctx, &now, &peak);
	int status = chdir("/") || nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) || now;
	ht_ctx_free(f->ctx);
	free(f);
	return status;
}

/* Write a file in the current directory, compressed as its name says; makes its directory. */
static void put(struct fixture *f, const char *path, const char *text)
{
	char dir[128];
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
		mkdir(dir, 0755);
	}
	struct ht_writer *writer;
	assert_int_equal(ht_writer_open(f->ctx, path, &writer), HT_OK);
	assert_int_equal(ht_writer_write(writer, text, strlen(text)), HT_OK);
	assert_int_equal(ht_writer_commit(writer), HT_OK);
}

static enum ht_status find(struct fixture *f, const char *source, bool recursive)
{
	ht_error_clear(f->ctx);
	ht_discovery_done(&f->result);
	f->result = (struct ht_discovery){ 0 };
	return ht_discover(f->ctx, &source, 1, recursive, false, &f->result);
}

/* All paths found, with their ranks, and all notes, each list joined by blanks and lines. */
static void expect(struct fixture *f, const char *paths, const char *notes)
{
	char text[4096] = "", said[4096] = "";
	size_t n = 0, n_said = 0;
	for (size_t i = 0; i < f->result.n_found; i++) {
		const struct ht_found *found = &f->result.found[i];
		if (found->rank != HT_NO_RANK)
			n += (size_t)snprintf(
			        text + n, sizeof text - n, "%lld=", (long long)found->rank);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s ", found->path);
	}
	for (size_t i = 0; i < f->result.n_notes; i++)
		n_said += (size_t)snprintf(
		        said + n_said, sizeof said - n_said, "%s\n", f->result.notes[i]);
	assert_string_equal(text, paths);
	assert_string_equal(said, notes);
}

static void directories_are_sorted_out(void **state)
{
	struct fixture *f = *state;
	put(f, "d/rank10.json.gz", trace);
	put(f, "d/rank2.json.zst", trace);
	put(f, "d/rank2.et.json.gz", execution);
	put(f, "d/a.pt.trace.json", "[{\"ph\": \"X\", \"ts\": 1}]");
	put(f, "d/lines.jsonl", "{\"ph\": \"X\"}\n{\"ph\": \"X\"}\n");
	put(f, "d/memory.json", "[[1, 2], [3]]");
	put(f, "d/log.txt", "hello");
	put(f, "d/x.pickle.gz", "\x80\x04xyz");
	put(f, "d/cut.json.gz.part", "x");
	put(f, "d/empty.json", "");
	put(f, "d/.hidden.json", trace);
	put(f, "d/sub/rank3.json", trace);
	assert_int_equal(find(f, "d", false), HT_OK);
	expect(f, "d/a.pt.trace.json d/lines.jsonl d/rank2.json.zst d/rank10.json.gz ",
	        "skipped cut.json.gz.part: not a trace by its name\n"
	        "skipped empty.json: empty\n"
	        "skipped log.txt: not a trace by its name\n"
	        "skipped memory.json: a memory timeline\n"
	        "skipped rank2.et.json.gz: an execution trace\n"
	        "skipped x.pickle.gz: a memory snapshot\n");
	assert_int_equal(find(f, "d/", true), HT_OK);
	assert_int_equal(f->result.n_found, 5);
	assert_string_equal(f->result.found[4].path, "d/sub/rank3.json");
}

static void damaged_files_are_skipped_in_directories(void **state)
{
	struct fixture *f = *state;
	put(f, "d/good.json", trace);
	put(f, "d/bad.json", "\x1f\x8b\x08 and no more");
	assert_int_equal(find(f, "d", false), HT_OK);
	expect(f, "d/good.json ", "skipped bad.json: damaged compressed data\n");
	assert_int_equal(ht_error(f->ctx)->status, HT_OK);
}

static void many_other_files_are_counted(void **state)
{
	struct fixture *f = *state;
	put(f, "d/a.json", trace);
	for (int i = 0; i < 13; i++) {
		char name[32];
		snprintf(name, sizeof name, "d/log%d.txt", i);
		put(f, name, "x");
	}
	assert_int_equal(find(f, "d", false), HT_OK);
	assert_int_equal(f->result.n_notes, 11);
	assert_string_equal(f->result.notes[9], "skipped log9.txt: not a trace by its name");
	assert_string_equal(
	        f->result.notes[10], "skipped 3 more files in d: not traces by their names");
}

static void ascend_runs_are_found(void **state)
{
	struct fixture *f = *state;
	static const char events[] = "[{\"ph\": \"X\"}]";
	put(f, "run/rank1_99_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", events);
	put(f, "run/rank1_99_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json",
	        "{\"step\": {}}");
	put(f, "run/rank0_99_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json.gz", events);
	put(f, "run/rank0_99_ascend_pt/profiler_info_0.json", "{\"config\": {}}");
	put(f, "run/rank2_99/ASCEND_PROFILER_OUTPUT/trace_view.json", events);
	put(f, "run/rank3_99/ASCEND_PROFILER_OUTPUT/notes.txt", "nothing that anybody reads");
#define RANK(n)  "run/rank" n "_99_ascend_pt "
#define ONE_FILE "run/rank2_99/ASCEND_PROFILER_OUTPUT/trace_view.json "
	/* a rank is its directory; a timeline without anything else is a file like others */
	assert_int_equal(find(f, "run", false), HT_OK);
	expect(f, RANK("0") RANK("1") ONE_FILE, "");
	assert_int_equal(ht_rank_from_name(f->result.found[1].path), 1);
	assert_int_equal(find(f, "run/rank0_99_ascend_pt", false), HT_OK);
	expect(f, RANK("0"), "");
	assert_int_equal(find(f, "run/rank1_99_ascend_pt/ASCEND_PROFILER_OUTPUT", false), HT_OK);
	expect(f, "run/rank1_99_ascend_pt/ASCEND_PROFILER_OUTPUT ", "");
	assert_int_equal(find(f, "run", true), HT_OK);
	assert_int_equal(f->result.n_found, 3);
#undef RANK
#undef ONE_FILE
}

static void directories_without_traces_say_so(void **state)
{
	struct fixture *f = *state;
	put(f, "d/a.et.json", execution);
	put(f, "e/deep/sub/a.json", trace);
	assert_int_equal(find(f, "d", false), HT_MISSING);
	assert_string_equal(ht_error(f->ctx)->file, "d");
	assert_non_null(
	        strstr(ht_error(f->ctx)->message, "skipped 1 (first a.et.json: an execution"));
	assert_null(strstr(ht_error(f->ctx)->hint, "--recursive"));
	assert_int_equal(find(f, "e", false), HT_MISSING);
	assert_non_null(strstr(ht_error(f->ctx)->message, "*.json, *.jsonl, plain or compressed"));
	assert_non_null(strstr(ht_error(f->ctx)->hint, "--recursive"));
	assert_int_equal(find(f, "e", true), HT_OK);
	expect(f, "e/deep/sub/a.json ", "");
	assert_int_equal(find(f, "nowhere", false), HT_IO);
	assert_string_equal(ht_error(f->ctx)->file, "nowhere");
}

static void named_files_are_never_skipped(void **state)
{
	struct fixture *f = *state;
	put(f, "a.et.json", execution);
	put(f, "picture.png", "\x89PNG\r\n\x1a\n");
	put(f, "text", "just some words\n[and] more? yes*\n");
	assert_int_equal(find(f, "a.et.json", false), HT_OK);
	expect(f, "a.et.json ", "");
	assert_int_equal(find(f, "picture.png", false), HT_OK);
	expect(f, "picture.png ", "");
	assert_int_equal(find(f, "text", false), HT_OK);
	expect(f, "text ", "");
	assert_int_equal(find(f, "-", false), HT_OK);
	expect(f, "- ", "");
}

static void globs_match(void **state)
{
	struct fixture *f = *state;
	put(f, "rank2.json", trace);
	put(f, "rank10.json", trace);
	put(f, "rank10.et.json", execution);
	put(f, "odd[1].json", trace);
	assert_int_equal(find(f, "rank*.json", false), HT_OK);
	expect(f, "rank2.json rank10.json ", "skipped rank10.et.json: an execution trace\n");
	assert_int_equal(find(f, "odd[1].json", false), HT_OK);
	expect(f, "odd[1].json ", "");
	assert_int_equal(find(f, "none*.json", false), HT_MISSING);
	assert_int_equal(find(f, "*.et.json", false), HT_MISSING);
}

static void ranks_can_be_given(void **state)
{
	struct fixture *f = *state;
	put(f, "a.json", trace);
	put(f, "d/b.json", trace);
	put(f, "d/c.json", trace);
	put(f, "4=e.json", trace);
	assert_int_equal(find(f, "7=a.json", false), HT_OK);
	expect(f, "7=a.json ", "");
	assert_int_equal(find(f, "3=d/b*", false), HT_OK);
	expect(f, "3=d/b.json ", "");
	assert_int_equal(find(f, "4=e.json", false), HT_OK);
	expect(f, "4=e.json ", "");
	assert_int_equal(f->result.found[0].rank, HT_NO_RANK);
	assert_int_equal(find(f, "0=-", false), HT_OK);
	expect(f, "0=- ", "");
	assert_int_equal(find(f, "3=d", false), HT_USAGE);
	assert_int_equal(find(f, "3=none", false), HT_IO);
	assert_int_equal(find(f, "12345678901=a.json", false), HT_IO);
}

static void lists_are_followed(void **state)
{
	struct fixture *f = *state;
	put(f, "x/a.json", trace);
	put(f, "x/d/b.json", trace);
	put(f, "x/c.json", trace);
	put(f, "x/list", "# ranks\n\n  5=a.json \r\nd\nc*.json\n");
	put(f, "x/late", "not there\na.json\n");
	put(f, "x/none", "# nothing\n");
	put(f, "x/wrong", "a.json\nmissing.json\n");
	assert_int_equal(find(f, "x/list", false), HT_OK);
	expect(f, "5=x/a.json x/c.json x/d/b.json ", "");
	assert_int_equal(find(f, "@x/list", false), HT_OK);
	assert_int_equal(f->result.n_found, 3);
	assert_int_equal(find(f, "x/late", false), HT_OK);
	expect(f, "x/late ", "");
	assert_int_equal(find(f, "@x/late", false), HT_IO);
	assert_int_equal(find(f, "@x/none", false), HT_MISSING);
	assert_int_equal(find(f, "x/wrong", false), HT_IO);
	assert_string_equal(ht_error(f->ctx)->file, "x/missing.json");
	assert_non_null(strstr(ht_error(f->ctx)->message, "line 2 of x/wrong: cannot open"));
	assert_int_equal(chdir("x"), 0);
	assert_int_equal(find(f, "list", false), HT_OK);
	expect(f, "5=a.json c.json d/b.json ", "");
}

static void repeated_files_are_left_out(void **state)
{
	struct fixture *f = *state;
	put(f, "a.json", trace);
	put(f, "b.json", trace);
	assert_int_equal(link("a.json", "z.json"), 0);
	assert_int_equal(symlink("b.json", "y.json"), 0);
	const char *sources[] = { ".", "3=b.json", "0=a.json", "1=a.json", "-", "-" };
	assert_int_equal(
	        ht_discover(f->ctx, sources, HT_COUNT(sources), false, false, &f->result), HT_OK);
	assert_int_equal(f->result.n_found, 4);
	assert_int_equal(f->result.n_notes, 5);
	assert_string_equal(f->result.found[0].path, "-");
	assert_int_equal(f->result.found[1].rank, 0);
	assert_int_equal(f->result.found[2].rank, 1);
	assert_int_equal(f->result.found[3].rank, 3);
}

/* A trace with something drawn in is no rank beside its source; alone, or given a rank, it is one. */
static void made_files_are_left_out(void **state)
{
	struct fixture *f = *state;
	put(f, "d/a \"1\".json.gz", trace);
	put(f, "d/drawn.json.gz",
	        "{\"holotrace_made_from\":\"a \\\"1\\\".json.gz\",\n\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}");
	put(f, "d/other.json",
	        "{\"holotrace_made_from\":\"not here.json\",\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}");
	put(f, "d/cut.json", "{\"holotrace_made_from\":\"a");
	assert_int_equal(find(f, "d", false), HT_OK);
	expect(f, "d/a \"1\".json.gz d/other.json ",
	        "skipped cut.json: JSON without traceEvents\n"
	        "left out d/drawn.json.gz: made from d/a \"1\".json.gz\n");
	assert_int_equal(f->result.n_repeated, 0);
	assert_int_equal(find(f, "d/drawn.json.gz", false), HT_OK);
	expect(f, "d/drawn.json.gz ", "");
	ht_discovery_done(&f->result);
	const char *named[] = { "d/drawn.json.gz", "d/a \"1\".json.gz" };
	assert_int_equal(ht_discover(f->ctx, named, 2, false, false, &f->result), HT_OK);
	expect(f, "d/a \"1\".json.gz ", "left out d/drawn.json.gz: made from d/a \"1\".json.gz\n");
	ht_discovery_done(&f->result);
	const char *ranked[] = { "1=d/drawn.json.gz", "0=d/a \"1\".json.gz" };
	assert_int_equal(ht_discover(f->ctx, ranked, 2, false, false, &f->result), HT_OK);
	expect(f, "0=d/a \"1\".json.gz 1=d/drawn.json.gz ", "");
}

static void names_tell_ranks(void **state)
{
	static const struct {
		const char *path;
		int64_t rank;
	} cases[] = {
		{ "rank3.json", 3 },
		{ "ddp_rank-12.json.gz", 12 },
		{ "a/RANK_7.pt.trace.json", 7 },
		{ "rank[4].json", 4 },
		{ "worker0.1623143089861.pt.trace.json.gz", 0 },
		{ "worker1_rank2.json", 2 },
		{ "run/rank5/trace.json", 5 },
		{ "rank5/x/trace.json", 5 },
		{ "rank5/x/y/trace.json", HT_NO_RANK },
		{ "rank1/rank2.json", 2 },
		{ "frank3.json", HT_NO_RANK },
		{ "rank.json", HT_NO_RANK },
		{ "rank1736408884003.json", HT_NO_RANK },
		{ "host_1234.1623143089861.pt.trace.json", HT_NO_RANK },
		{ "", HT_NO_RANK },
		{ "/", HT_NO_RANK },
	};
	(void)state;
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_int_equal(ht_rank_from_name(cases[i].path), cases[i].rank);
}

static void natural_order_reads_numbers(void **state)
{
	static const char *const ordered[] = { "", "a", "a/2", "a/b", "a1", "a01b", "a1c", "a2",
		"a10", "a10/x", "a10.", "a99999999999999999999", "a100000000000000000000", "b" };
	(void)state;
	for (size_t i = 0; i < HT_COUNT(ordered); i++)
		for (size_t j = 0; j < HT_COUNT(ordered); j++) {
			int order = ht_natural_compare(ordered[i], ordered[j]);
			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
}

static void starts_tell_kinds(void **state)
{
	static const struct {
		const char *text;
		enum ht_sniff_kind kind;
	} cases[] = {
		{ "\xef\xbb\xbf\n {\"traceEvents\" : []}", HT_SNIFF_OBJECT },
		{ "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\"", HT_SNIFF_OBJECT },
		{ "{\"a\": {\"traceEvents\": []}}", HT_SNIFF_OTHER },
		{ "{\"a\": \"\\\"traceEvents\\\": \"}", HT_SNIFF_OTHER },
		{ "{\"a\": [\"{\", 1], \"traceEvents\": [", HT_SNIFF_OBJECT },
		{ "{\"schema\": \"1\", \"nodes\": [], \"traceEvents\": []}", HT_SNIFF_OBJECT },
		{ "{\"schema\": \"1\", \"nodes\": [{\"ph\": 1", HT_SNIFF_EXECUTION_TRACE },
		{ "{\"workload_graph\": [", HT_SNIFF_EXECUTION_TRACE },
		{ "{\"schema\": \"1\"}", HT_SNIFF_OTHER },
		{ "{\"name\": \"a\", \"ph\": \"X\"}\n{", HT_SNIFF_LINES },
		{ "{}", HT_SNIFF_OTHER },
		{ "{", HT_SNIFF_OTHER },
		{ "[", HT_SNIFF_ARRAY },
		{ " [ ] ", HT_SNIFF_ARRAY },
		{ "[{\"name\": 1, \"args\": {}, \"ph\": \"X\"}", HT_SNIFF_ARRAY },
		{ "[{\"name\": \"cut he", HT_SNIFF_ARRAY },
		{ "[{\"name\": 1}]", HT_SNIFF_OTHER },
		{ "[1, 2]", HT_SNIFF_OTHER },
		{ "[[-1, 1, 512, 7]", HT_SNIFF_MEMORY_TIMELINE },
		{ "\x89PNG", HT_SNIFF_OTHER },
		{ "plain text", HT_SNIFF_OTHER },
		{ "}]", HT_SNIFF_OTHER },
		{ "", HT_SNIFF_OTHER },
	};
	(void)state;
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		size_t n = strlen(cases[i].text);
		/* A copy of exact size, so that reading past the end is noticed. */
		char *text = malloc(n ? n : 1);
		memcpy(text, cases[i].text, n);
		assert_int_equal(ht_sniff_trace(text, n, true).kind, cases[i].kind);
		for (size_t k = 0; k < n; k++)
			assert_non_null(ht_sniff_trace(text, k, false).what);
		free(text);
	}
	assert_string_equal(ht_sniff_trace("\0\0\0\0", 4, false).what, "zero bytes");
}

static void every_failure_is_clean(void **state)
{
	struct fixture *f = *state;
	put(f, "d/rank1.json.gz", trace);
	put(f, "d/rank2.json.zst", trace);
	put(f, "d/log.txt", trace);
	put(f, "d/rank1_counters.json",
	        "{\"holotrace_made_from\":\"rank1.json.gz\",\"traceEvents\":[{}]}");
	put(f, "list", "d\n3=d/rank1.json.gz\n");
	const char *sources[] = { "list", "d/*", "-" };
	for (int kind = 0; kind < 2; kind++) {
		enum ht_status status = HT_IO;
		int n = 0;
		while (status != HT_OK) {
			n++;
			if (kind)
				atomic_store(&f->ctx->mem->fail_in, n);
			else
				atomic_store(&f->ctx->fail_io_in, n);
			ht_error_clear(f->ctx);
			struct ht_discovery result;
			status = ht_discover(
			        f->ctx, sources, HT_COUNT(sources), false, false, &result);
			assert_true(status == HT_OK || status == (kind ? HT_NOMEM : HT_IO));
			if (status == HT_OK)
				ht_discovery_done(&result);
			uint64_t now, peak;
			ht_ctx_memory(f->ctx, &now, &peak);
			assert_int_equal(now, 0);
		}
		assert_true(n > 5);
		atomic_store(&f->ctx->mem->fail_in, 0);
		atomic_store(&f->ctx->fail_io_in, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directories_are_sorted_out),
		TEST(damaged_files_are_skipped_in_directories),
		TEST(many_other_files_are_counted),
		TEST(ascend_runs_are_found),
		TEST(directories_without_traces_say_so),
		TEST(named_files_are_never_skipped),
		TEST(globs_match),
		TEST(ranks_can_be_given),
		TEST(lists_are_followed),
		TEST(repeated_files_are_left_out),
		TEST(made_files_are_left_out),
		cmocka_unit_test(names_tell_ranks),
		cmocka_unit_test(natural_order_reads_numbers),
		cmocka_unit_test(starts_tell_kinds),
		TEST(every_failure_is_clean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
