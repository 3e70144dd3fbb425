/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_attach.c - any bytes as what joins a trace: structured logs of torch.compile with wrappers and provenance, generated code and
 * provenance on disk, rules for annotations, operators and memory, annotations of graph nodes, captures; and as rules for kernels.
 *
 * The trace calls a compiled graph and launches a CUDA graph whose kernels have node ids. Whatever is attached, the GPU time of all methods
 * and of all operators stays what it is. Most inputs are only loaded, as the kind that their first bytes tell.
 */
#include "fuzz.h"

#include "attach/kind.h"
#include "read/sniff.h"

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

/* Traces are what other targets read. */
static void attach_load(const char *path, const uint8_t *data, size_t size)
{
	static const struct ht_attach_kind *const kinds[] = {
#define ATTACH(x) &ht_attach_kind_##x,
#include "attach/attach.def"
#undef ATTACH
	};
	ht_ctx *ctx = fuzz_common_ctx();
	const struct ht_attach_head head = { path, (const char *)data,
		size < HT_SNIFF_BYTES ? size : HT_SNIFF_BYTES, size < HT_SNIFF_BYTES };
	size_t i = 0;
	while (i < HT_COUNT(kinds) && !kinds[i]->sniff(&head))
		i++;
	if (i == HT_COUNT(kinds) || !kinds[i]->load || kinds[i]->load == ht_attach_load_trace)
		return;
	const struct ht_attachment attachment = {
		.kind = kinds[i], .path = path, .files = &path, .n_files = 1, .rank = HT_NO_I64
	};
	void *loaded;
	if (kinds[i]->load(ctx, &attachment, &loaded) == HT_OK)
		kinds[i]->free(loaded);
	else
		FUZZ_REQUIRE(*ht_error(ctx)->message);
}

/* Rules for kernels are a file of their own, which is no attachment. */
static void attach_rules(const char *path)
{
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_kernel_rules rules;
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	if (ht_kernel_rules_read(ctx, path, &arena, &rules) == HT_OK)
		(void)ht_kernel_class(&rules, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	else
		FUZZ_REQUIRE(*ht_error(ctx)->message);
	ht_arena_done(&arena);
}

static void attach_ask(const char *path)
{
	static const char *const views[] = { "origins", "lines", "graphs", "compile",
		"compile-timeline" };
	const char *trace = fuzz_file_at(1, "", 0, attach_trace, sizeof attach_trace - 1);
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .attach = path
	};
	if (ht_open(ctx, &trace, 1, &options, &set) == HT_OK) {
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file("", 0, data, size);
	attach_rules(path);
	attach_load(path, data, size);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		attach_ask(path);
	return 0;
}
