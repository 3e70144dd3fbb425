/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torture_test.c - the n-th allocation fails, the n-th read or write fails, for every n.
 *
 * Each scenario runs again and again: in run n the n-th allocation (or I/O) is refused. The answer must
 * be a status with a message or, where the failure can be lived with (no cache), the same result as
 * without it; nothing may leak or crash. It ends with the first run that was over before its n-th.
 * Build with AddressSanitizer to make this worth most.
 *
 * Small n go one by one, later ones in steps of a few percent that start at a different offset in
 * each scenario; with HOLOTRACE_TORTURE=full all of them. AddressSanitizer makes a run take twelve times as long: there are
 * fewer and larger steps, as with HOLOTRACE_TORTURE=few, unless HOLOTRACE_LONG is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/sink_test_help.h"
#include "base/status.h"
#include "holotrace/own.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define IS_SLOW 1
#else
#define IS_SLOW 0
#endif

static const char tiny[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 2}, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 99, \"tid\": 99, \"ts\": 1,"
        " \"dur\": 90, \"args\": {\"External id\": 1}},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 99, \"tid\": 99, \"ts\": 2.5, \"dur\": 9.125,"
        " \"args\": {\"External id\": 2, \"Input Dims\": [[2, 3], []]}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 99, \"tid\": 99, \"ts\": 3,"
        " \"dur\": 2, \"args\": {\"correlation\": 7, \"External id\": 2}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"bad \xff \"quote\"\", \"pid\": 0, \"tid\": 7, \"ts\": 15, \"dur\": 20,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"Comms Id\": 18446744073709551615}},\n"
        "{\"ph\": \"B\", \"name\": \"b\", \"pid\": \"p\", \"tid\": \"t\", \"ts\": \"4\"}, 17,\n"
        "{\"ph\": \"E\", \"pid\": \"p\", \"tid\": \"t\", \"ts\": 5}, {\"ph\": \"s\", \"id\": 7, \"cat\": \"ac2g\","
        " \"name\": \"ac2g\", \"pid\": 99, \"tid\": 99, \"ts\": 3}],\n"
        "\"traceName\": \"x\"}\n";

/* A rank of an NPU: packed columns, side tables, the environment. */
static const char npu_kernels[] =
        "Step Id,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Block Num,Input Shapes,"
        "aic_mac_ratio,Surprise\n"
        "5,16,MatMul_1,MatMulV2,dynamic,AI_CORE,1736408883704643.212\t,100.5,32,\"\"\"8,16;16,8\"\"\",0.5,x\n"
        "5,N/A,hcom_allReduce__1,N/A,N/A,HCCL,1736408883704763,30,0,N/A,N/A,1\n"
        "5,16,Add_1,Add,static,AI_CPU,1736408883704800,25,1,8,18446744073709551615,y\n";
static const char npu_steps[] =
        "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n5,126,30,0,2\n";
static const char npu_communication[] =
        "{\"step5\": {\"collective\": {\"hcom_allReduce__1@7\": {\"Communication Time Info\": {\"Elapse Time(ms)\": 0.03,"
        " \"Transit Time(ms)\": 0.02, \"Wait Time(ms)\": 0.01}, \"Communication Bandwidth Info\": {\"HCCS\": {"
        "\"Transit Size(MB)\": 1, \"Transit Time(ms)\": 0.02, \"Size Distribution\": {\"1\": [1, 0.02]}}}}}}}";
static const char npu_about[] =
        "{\"ENV_VARIABLES\": {\"ACLNN_CACHE_LIMIT\": \"\", \"HCCL_ALGO\": \"x\"}}";

/* An execution trace with most of what is repaired, and the Kineto trace of the same window. */
static const char et_text[] =
        "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 7, \"time\": \"\", \"start_ts\": 1, \"x\": {\"y\": [1]}, \"nodes\": [\n"
        "{\"id\": 2, \"name\": \"[pytorch|profiler|execution_trace|thread]\", \"ctrl_deps\": 1, \"inputs\": {}, \"outputs\": {},"
        " \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 0},{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]},\n"
        "{\"id\": 3, \"name\": \"## process_group:init ##\", \"ctrl_deps\": 2, \"inputs\": {\"values\":"
        " [\"[{\\\"pg_name\\\": \\\"0\\\", \\\"group_size\\\": 2}]\"], \"shapes\": [[]], \"types\": [\"String\"]}, \"outputs\": {},"
        " \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 1},{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]},,\n"
        "{\"id\": 4, \"name\": \"a \"b\"\", \"ctrl_deps\": 2, \"inputs\": {\"values\": [[5,6,0,4,4,\"cuda:0\"],[[7,8,0,1,8,\"cpu\"],1],"
        "\"caf\\uffffffc3\\uffffffa9\"], \"shapes\": [[4],[[1],[]],[]], \"types\": [\"Tensor(float)\",\"Tuple[Tensor(long),Int]\","
        "\"String\"], \"strides\": [[1],[[1],[]],[]]}, \"outputs\": {\"values\": [[5,6,0,4,4,\"\xff\"]], \"shapes\": [[4]],"
        " \"types\": [\"Tensor(float)\"]}, \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 2},"
        "{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1},{\"name\": \"own\", \"type\": \"string\", \"value\": \"v\"}]}\n"
        "{\"id\": 9, \"name\": \"lost\", {{ ]\n";
static const char et_kineto[] =
        "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a \\\"b\\\"\", \"pid\": 7, \"tid\": 1, \"ts\": 0, \"dur\": 9,"
        " \"args\": {\"Record function id\": 2}}, {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7,"
        " \"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"correlation\": 3}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0,"
        " \"tid\": 7, \"ts\": 4, \"dur\": 1, \"args\": {\"correlation\": 3, \"stream\": 7, \"device\": 0}}]}";

static char et_path[96], et_kineto_path[96], et_out[96];
static char dir[64], npu[96], plain[96], gz[96], zst[96], folder[96], cache_dir[96], out_json[96],
        out_gz[96];

/* A scenario does one job with a context and writes what it found. */
struct scenario {
	const char *name;
	enum ht_status (*run)(ht_ctx *ctx, struct ht_sink *sink);
};

static enum ht_status open_dump(
        ht_ctx *ctx, const char *path, const char *cache, struct ht_sink *sink)
{
	const struct ht_open_own own = { .chunk_bytes = 200 };
	struct ht_open_options options = {
		.no_cache = !cache, .cache_dir = cache, .own = &own, .recursive = true
	};
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = ht_dump(ctx, set, sink);
	ht_close(set);
	return status;
}

static enum ht_status read_plain(ht_ctx *ctx, struct ht_sink *sink)
{
	return open_dump(ctx, plain, NULL, sink);
}

static enum ht_status read_plain_threads(ht_ctx *ctx, struct ht_sink *sink)
{
	ht_ctx_set_jobs(ctx, 3);
	return open_dump(ctx, plain, NULL, sink);
}

static enum ht_status read_gzip(ht_ctx *ctx, struct ht_sink *sink)
{
	ht_ctx_set_jobs(ctx, 2);
	return open_dump(ctx, gz, NULL, sink);
}

static enum ht_status read_zstd(ht_ctx *ctx, struct ht_sink *sink)
{
	return open_dump(ctx, zst, NULL, sink);
}

static enum ht_status read_folder(ht_ctx *ctx, struct ht_sink *sink)
{
	return open_dump(ctx, folder, NULL, sink);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
	(void)info;
	(void)type;
	(void)ftw;
	return remove(path);
}

static enum ht_status write_cache(ht_ctx *ctx, struct ht_sink *sink)
{
	nftw(cache_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return open_dump(ctx, plain, cache_dir, sink);
}

static enum ht_status read_cache(ht_ctx *ctx, struct ht_sink *sink)
{
	return open_dump(ctx, plain, cache_dir, sink);
}

/* A table of parts that the cache keeps, or does not. */
static enum ht_status ask_cached(ht_ctx *ctx, struct ht_sink *sink)
{
	struct ht_open_options options = { .cache_dir = cache_dir };
	const char *path = plain;
	const struct ht_query query = { .struct_size = sizeof query, .name = "kernels" };
	ht_set *set;
	ht_table *table;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = ht_ask(ctx, &set, 1, &query, &table);
	if (status == HT_OK) {
		status = ht_render(ctx, table, "csv", NULL, sink);
		ht_table_free(table);
	}
	ht_close(set);
	return status;
}

static enum ht_status keep_parts(ht_ctx *ctx, struct ht_sink *sink)
{
	nftw(cache_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return ask_cached(ctx, sink);
}

static enum ht_status convert_to(ht_ctx *ctx, const char *target)
{
	struct ht_open_options options = { .no_cache = true };
	const char *path = plain;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	unlink(target);
	enum ht_status status =
	        ht_convert(ctx, set, target, &(struct ht_convert_options){ .partial = true });
	ht_close(set);
	if (status != HT_OK)
		assert_int_equal(access(target, F_OK), -1);
	return status;
}

static enum ht_status convert_plain(ht_ctx *ctx, struct ht_sink *sink)
{
	(void)sink;
	return convert_to(ctx, out_json);
}

static enum ht_status convert_gzip(ht_ctx *ctx, struct ht_sink *sink)
{
	(void)sink;
	return convert_to(ctx, out_gz);
}

/* Every analysis of one set, each in every format, with a view that filters and sorts. */
static enum ht_status analyse(ht_ctx *ctx, struct ht_sink *sink)
{
	struct ht_open_options options = { .no_cache = true };
	const char *path = plain;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < ht_n_analyses() && status == HT_OK; i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets != 1)
			continue;
		ht_table *table;
		status = ht_ask(ctx, &set, 1,
		        &(struct ht_query){ sizeof(struct ht_query), info->name, NULL, 0, NULL },
		        &table);
		for (size_t f = 0; f < ht_n_formats() && status == HT_OK; f++) {
			status = ht_render(ctx, table, ht_format_at(f)->name, NULL, sink);
			if (status != HT_OK || f + 1 == ht_n_formats())
				ht_table_free(table);
		}
	}
	ht_close(set);
	return status;
}

static enum ht_status view(ht_ctx *ctx, struct ht_sink *sink)
{
	struct ht_open_options options = { .no_cache = true };
	const char *path = plain;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	struct ht_view wanted = { .columns = "index,name,args.External id",
		.sort = "-dur_ns,name",
		.where = "(ts_ns > 1us or name ~ aten) and not pid == 3",
		.top = 3 };
	ht_table *table;
	enum ht_status status = ht_ask(ctx, &set, 1,
	        &(struct ht_query){ sizeof(struct ht_query), "events", NULL, 0, &wanted }, &table);
	if (status == HT_OK) {
		struct ArrowArrayStream stream;
		status = ht_table_arrow(ctx, table, &stream);
		if (status == HT_OK)
			stream.release(&stream);
		if (status == HT_OK)
			status = ht_render(ctx, table, "csv", NULL, sink);
		ht_table_free(table);
	}
	ht_close(set);
	return status;
}

/* An analysis with each of some lists of three arguments. */
static enum ht_status run_each(ht_ctx *ctx, const char *verb, const struct ht_arg (*args)[3],
        size_t n, struct ht_sink *sink)
{
	struct ht_open_options options = { .no_cache = true };
	const char *path = plain;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < n && status == HT_OK; i++) {
		ht_table *table;
		status = ht_ask(ctx, &set, 1,
		        &(struct ht_query){ sizeof(struct ht_query), verb, args[i], 3, NULL },
		        &table);
		if (status == HT_OK) {
			status = ht_render(ctx, table, "csv", NULL, sink);
			ht_table_free(table);
		}
	}
	ht_close(set);
	return status;
}

/* The views of the critical path share little code. */
static enum ht_status critical_paths(ht_ctx *ctx, struct ht_sink *sink)
{
	static const struct ht_arg args[][3] = {
		{ { "view", "graph" }, { "hta-compat", "false" }, { "tolerance", "1us" } },
		{ { "view", "edges" }, { "data-load-events", "aten" }, { "instance", "0" } },
		{ { "view", "events" }, { "hta-compat", "false" }, { "annotation", "aten" } },
		{ { "view", "what-if" }, { "scale", "mm=0.5,quote=0" }, { "step", "1" } },
		{ { "view", "what-if" }, { "scale", "quote=0" }, { "hta-compat", "true" } },
		{ { "view", "collectives" }, { "tolerance", "5us" }, { "annotation", "" } },
		{ { "view", "path" }, { "across", "true" }, { "step", "all" } },
	};
	return run_each(ctx, "critical-path", args, HT_COUNT(args), sink);
}

/* Edits of a job: those of durations, and those that make its graph anew. */
static enum ht_status what_ifs(ht_ctx *ctx, struct ht_sink *sink)
{
	static const struct ht_arg args[][3] = {
		{ { "view", "answers" }, { "step", "all" },
		        { "scale", "@annotation:Step@operator:mm=repeat:2,quote=serial,mm=+1us" } },
		{ { "view", "answers" }, { "step", "all" },
		        { "scale", "quote=fuse,mm=3us,aten=median" } },
		{ { "view", "answers" }, { "step", "1" },
		        { "scale", "kernel@size:1KB-=ranks:8,quote=apart" } },
		{ { "view", "slowdown" }, { "step", "all" }, { "scale", "quote=0" } },
		{ { "view", "gaps" }, { "step", "all" }, { "scale", "quote=0" } },
	};
	return run_each(ctx, "what-if", args, HT_COUNT(args), sink);
}

/* A rank of several files, and what only such ranks have. */
static enum ht_status read_npu(ht_ctx *ctx, struct ht_sink *sink)
{
	static const struct {
		const char *verb, *view;
	} asked[] = { { "distributed", "steps" }, { "distributed", "collectives" },
		{ "distributed", "bandwidth" }, { "advice", "rules" }, { "tables", "cells" } };
	struct ht_open_options options = { .no_cache = true };
	const char *path = npu;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = ht_dump(ctx, set, sink);
	for (size_t i = 0; i < HT_COUNT(asked) && status == HT_OK; i++) {
		struct ht_arg arg = { "view", asked[i].view };
		ht_table *table;
		status = ht_ask(ctx, &set, 1,
		        &(struct ht_query){ sizeof(struct ht_query), asked[i].verb, &arg, 1, NULL },
		        &table);
		if (status == HT_OK) {
			status = ht_render(ctx, table, "csv", NULL, sink);
			ht_table_free(table);
		}
	}
	ht_close(set);
	return status;
}

/* Tables of every kind, groups, indexes, aggregates and an analysis, in SQL. */
static enum ht_status ask_in_sql(ht_ctx *ctx, struct ht_sink *sink)
{
	static const char *const queries[] = {
		"SELECT name, kind, sum(dur_ns) FROM events GROUP BY name, kind",
		"SELECT name, sum(dur_ns) FROM gpu WHERE name LIKE '%bad%' GROUP BY name",
		"SELECT g.id, stack(g.id), short_name(l.name), arg(g.id, 'stream') FROM gpu g JOIN launches l "
		"ON l.id = g.launch WHERE g.correlation = 7",
		"SELECT * FROM args WHERE rank = 0",
		"SELECT key, value FROM arg_values JOIN strings ON text = key ORDER BY key, value",
		"SELECT union_ns(ts_ns, end_ns), count(module) FROM events WHERE time_ns BETWEEN 0 AND 99000",
		"SELECT count(*) FROM tracks, ranks, steps, sql_columns",
		"SELECT * FROM kernel_breakdown('by=all')",
	};
	struct ht_open_options options = { .no_cache = true };
	const char *path = plain;
	ht_set *set;
	HT_TRY(ht_open(ctx, &path, 1, &options, &set));
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < HT_COUNT(queries) && status == HT_OK; i++) {
		ht_table *table;
		status = ht_sql(ctx, set, queries[i], NULL, &table);
		if (status == HT_USAGE && strstr(ht_build_info(), "no databases"))
			status = HT_OK;
		else if (status == HT_OK) {
			status = ht_render(ctx, table, "csv", NULL, sink);
			ht_table_free(table);
		}
	}
	ht_close(set);
	return status;
}

static enum ht_status run_et(ht_ctx *ctx, const char *name, const char *path, const char *view,
        ht_set *kineto, struct ht_sink *sink)
{
	struct ht_arg args[] = { { "et", path }, { "view", view } };
	ht_table *table;
	HT_TRY(ht_ask(ctx, &kineto, kineto ? 1 : 0,
	        &(struct ht_query){ sizeof(struct ht_query), name, args, view ? 2 : 1, NULL },
	        &table));
	enum ht_status status = ht_render(ctx, table, "csv", NULL, sink);
	ht_table_free(table);
	return status;
}

static enum ht_status with_kineto(ht_ctx *ctx, ht_set *kineto, struct ht_sink *sink)
{
	struct ht_et_convert_options options = { .to = "chakra", .partial = true };
	HT_TRY(run_et(ctx, "et-check", et_path, NULL, kineto, sink));
	HT_TRY(run_et(ctx, "et-link", et_path, "nodes", kineto, sink));
	HT_TRY(run_et(ctx, "et-link", et_path, "gpu", kineto, sink));
	HT_TRY(ht_et_convert(ctx, et_path, kineto, et_out, &options));
	return run_et(ctx, "et-nodes", et_out, "tensors", NULL, sink);
}

static enum ht_status execution_trace(ht_ctx *ctx, struct ht_sink *sink)
{
	struct ht_open_options options = { .no_cache = true };
	const char *path = et_kineto_path;
	ht_set *kineto;
	HT_TRY(run_et(ctx, "et-nodes", et_path, "nodes", NULL, sink));
	HT_TRY(run_et(ctx, "et-nodes", et_path, "groups", NULL, sink));
	HT_TRY(ht_open(ctx, &path, 1, &options, &kineto));
	enum ht_status status = with_kineto(ctx, kineto, sink);
	ht_close(kineto);
	return status;
}

static const struct scenario scenarios[] = {
	{ "ask in SQL", ask_in_sql },
	{ "read plain", read_plain },
	{ "read plain, three threads", read_plain_threads },
	{ "read gzip", read_gzip },
	{ "read zstd", read_zstd },
	{ "read a folder", read_folder },
	{ "write the cache", write_cache },
	{ "read the cache", read_cache },
	{ "keep parts", keep_parts },
	{ "read kept parts", ask_cached },
	{ "convert", convert_plain },
	{ "convert to gzip", convert_gzip },
	{ "run all analyses", analyse },
	{ "apply a view", view },
	{ "critical paths", critical_paths },
	{ "what-ifs", what_ifs },
	{ "a rank of an NPU", read_npu },
	{ "an execution trace", execution_trace },
};

enum fault { FAULT_MEMORY, FAULT_IO };
static const char *const fault_names[] = { "allocation", "I/O operation" };

/* One run with the n-th operation failing. False when the run ended before it. */
static bool run_once(const struct scenario *scenario, enum fault fault, long long n,
        const struct memory_sink *reference)
{
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_ctx_set_jobs(ctx, 1);
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	atomic_llong *fuse = fault == FAULT_MEMORY ? &ctx->mem->fail_in : &ctx->fail_io_in;
	atomic_store(fuse, n);
	enum ht_status status = scenario->run(ctx, &sink);
	bool struck = atomic_load(fuse) <= 0;
	atomic_store(fuse, 0);
	if (status != HT_OK) {
		const char *message = ht_error(ctx)->message;
		if (status != (fault == FAULT_MEMORY ? HT_NOMEM : HT_IO) || !message || !*message)
			fail_msg("%s, %s %lld: status %s, message %s", scenario->name,
			        fault_names[fault], n, ht_status_name(status),
			        message ? message : "missing");
	} else if (text.n != reference->n ||
	           (text.n && memcmp(text.data, reference->data, text.n))) {
		fail_msg("%s: %s %lld failed, was hidden and changed the result", scenario->name,
		        fault_names[fault], n);
	}
	uint64_t now, peak;
	ht_ctx_memory(ctx, &now, &peak);
	if (now)
		fail_msg("%s, %s %lld: %llu bytes leak", scenario->name, fault_names[fault], n,
		        (unsigned long long)now);
	ht_ctx_free(ctx);
	free(text.data);
	/* files of a set have contexts of their own: there the fuse above may look untouched */
	return struck || status != HT_OK;
}

static bool is_asked(const char *steps)
{
	const char *asked = getenv("HOLOTRACE_TORTURE");
	return asked != NULL && strcmp(asked, steps) == 0;
}

static void torture(enum fault fault)
{
	for (size_t i = 0; i < HT_COUNT(scenarios); i++) {
		const struct scenario *scenario = &scenarios[i];
		ht_ctx *ctx;
		struct memory_sink reference = { 0 };
		struct ht_sink sink = { memory_write, &reference };
		assert_int_equal(ht_ctx_new(&ctx), HT_OK);
		ht_ctx_set_jobs(ctx, 1);
		enum ht_status status = scenario->run(ctx, &sink);
		if (status != HT_OK)
			fail_msg("%s: %s", scenario->name, ht_error(ctx)->message);
		ht_ctx_free(ctx);
		bool full = is_asked("full");
		bool few = is_asked("few") || (IS_SLOW && !full && !getenv("HOLOTRACE_LONG"));
		long long n = 1, one_by_one = few ? 80 : 400, part = few ? 12 : 32;
		while (run_once(scenario, fault, n, &reference))
			n += full || n < one_by_one ? 1 : n / part + (long long)i % 5;
		free(reference.data);
	}
}

static void fail_allocations(void **state)
{
	(void)state;
	torture(FAULT_MEMORY);
}

static void fail_io(void **state)
{
	(void)state;
	torture(FAULT_IO);
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void write_npu(void)
{
	static const struct {
		const char *name, *text;
	} files[] = { { "ASCEND_PROFILER_OUTPUT/kernel_details.csv", npu_kernels },
		{ "ASCEND_PROFILER_OUTPUT/step_trace_time.csv", npu_steps },
		{ "ASCEND_PROFILER_OUTPUT/communication.json", npu_communication },
		{ "profiler_metadata.json", npu_about } };
	char path[192];
	snprintf(npu, sizeof npu, "%s/rank0_1_ascend_pt", dir);
	assert_int_equal(mkdir(npu, 0700), 0);
	snprintf(path, sizeof path, "%s/ASCEND_PROFILER_OUTPUT", npu);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < HT_COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/%s", npu, files[i].name);
		write_file(path, files[i].text, strlen(files[i].text));
	}
}

/* The inputs, in a folder of their own; compressed ones are made by the library itself. */
static int prepare(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/holotrace-torture-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(plain, sizeof plain, "%s/plain.json", dir);
	snprintf(gz, sizeof gz, "%s/t.json.gz", dir);
	snprintf(zst, sizeof zst, "%s/t.json.zst", dir);
	snprintf(folder, sizeof folder, "%s/folder", dir);
	snprintf(cache_dir, sizeof cache_dir, "%s/cache", dir);
	snprintf(out_json, sizeof out_json, "%s/out.json", dir);
	snprintf(out_gz, sizeof out_gz, "%s/out.json.gz", dir);
	snprintf(et_path, sizeof et_path, "%s/et.json", dir);
	snprintf(et_kineto_path, sizeof et_kineto_path, "%s/kineto.json", dir);
	snprintf(et_out, sizeof et_out, "%s/out.et", dir);
	write_file(et_path, et_text, sizeof et_text - 1);
	write_file(et_kineto_path, et_kineto, sizeof et_kineto - 1);
	write_file(plain, tiny, sizeof tiny - 1);
	assert_int_equal(mkdir(folder, 0700), 0);
	char path[128];
	for (int rank = 0; rank < 2; rank++) {
		snprintf(path, sizeof path, "%s/rank%d.json", folder, rank);
		write_file(path, tiny, sizeof tiny - 1);
	}
	snprintf(path, sizeof path, "%s/notes.txt", folder);
	write_file(path, "nothing", 7);
	write_npu();
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(convert_to(ctx, gz), HT_OK);
	assert_int_equal(convert_to(ctx, zst), HT_OK);
	ht_ctx_free(ctx);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_allocations),
		cmocka_unit_test(fail_io),
	};
	return cmocka_run_group_tests(tests, prepare, clean);
}
