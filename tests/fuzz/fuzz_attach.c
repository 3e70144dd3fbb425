/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_attach.c - any bytes as what joins a trace: structured logs of torch.compile with wrappers and provenance, generated code and
 * provenance on disk, rules for annotations, annotations of graph nodes, captures.
 *
 * The trace calls a compiled graph and launches a CUDA graph whose kernels have node ids. Whatever is attached, the GPU time of all methods
 * and of all operators stays what it is.
 */
#include "fuzz.h"

static const char attach_trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"Torch-Compiled Region: 0/1\",\"pid\":9,\"tid\":9,\"ts\":0,\"dur\":50},\n"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"## Call CompiledFxGraph fk ##\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":40},\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"triton_poi_fused_add_0\",\"pid\":9,\"tid\":9,\"ts\":2,\"dur\":5},\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuLaunchKernel\",\"pid\":9,\"tid\":9,\"ts\":3,\"dur\":1,\"args\":{\"correlation\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":9,\"tid\":9,\"ts\":10,\"dur\":5,\"args\":{\"correlation\":2}},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"triton_poi_fused_add_0\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":5,\"args\":{\"correlation\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"triton_poi_fused_add_0\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":6,\"args\":{\"correlation\":2,\"graph node id\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":7,\"args\":{\"correlation\":2,\"graph node id\":2}}]}\n";

/* The sum of a column, -1 when the verb did not answer: attachments may be refused. */
static int64_t attach_sum(ht_ctx *ctx, ht_set *set, const char *verb, const char *columns)
{
	ht_table *table;
	struct ht_view view = { .columns = columns };
	int64_t sum = 0;
	if (ht_ask(ctx, &set, 1,
	            &(struct ht_query){ sizeof(struct ht_query), verb, NULL, 0, &view },
	            &table) != HT_OK) {
		FUZZ_REQUIRE(*ht_error(ctx)->message);
		return -1;
	}
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		sum += ht_table_i64(table, row, 0);
	ht_table_free(table);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const views[] = { "origins", "lines", "graphs", "compile",
		"compile-timeline" };
	char path[TEST_FILE_PATH], trace[TEST_FILE_PATH];
	int trace_fd = test_file_open(trace);
	FUZZ_REQUIRE(trace_fd >= 0);
	FUZZ_REQUIRE(write(trace_fd, attach_trace, sizeof attach_trace - 1) ==
	             (ssize_t)(sizeof attach_trace - 1));
	int fd = fuzz_file("", 0, data, size, path);
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	const char *paths[] = { trace };
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .attach = path
	};
	if (ht_open(ctx, paths, 1, &options, &set) == HT_OK) {
		int64_t methods = attach_sum(ctx, set, "attribution", "gpu_ns");
		int64_t operators = attach_sum(ctx, set, "operators", "device_self_ns");
		FUZZ_REQUIRE(methods == 18000 || methods == -1);
		FUZZ_REQUIRE(operators == 18000 || operators == -1);
		for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
			const struct ht_arg view = { "view", views[i] };
			ht_table *table;
			if (ht_ask(ctx, &set, 1,
			            &(struct ht_query){ sizeof(struct ht_query), "attribution",
			                    &view, 1, NULL },
			            &table) == HT_OK)
				ht_table_free(table);
		}
		(void)fuzz_run(ctx, set, "info", "csv", NULL);
		(void)fuzz_run(ctx, set, "modules", "csv", NULL);
		(void)fuzz_run(ctx, set, "iterations", "csv", NULL);
		ht_close(set);
	}
	fuzz_ctx_done(ctx);
	test_file_close(fd, path);
	test_file_close(trace_fd, trace);
	return 0;
}
