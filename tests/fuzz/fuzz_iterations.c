/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_iterations.c - any text as the name of an annotation: the grammars of serving engines.
 *
 * Each line of the input is a name. Names of no grammar are no iterations; counts are never negative, and no time is made up.
 * Most inputs are only parsed; for the others there is a trace with these names.
 */
#include "fuzz.h"

#include "model/serving/grammar.h"

static void iterations_event(struct fuzz_text *text, const uint8_t *name, size_t n, size_t i)
{
	char part[160];
	int n_part = snprintf(part, sizeof part,
	        "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"pid\":9,\"tid\":9,\"ts\":%zu,\"dur\":8,\"name\":\"",
	        i ? ",\n" : "", 10 * i);
	fuzz_append(text, part, (size_t)n_part);
	for (size_t k = 0; k < n; k++) {
		n_part = snprintf(part, sizeof part, "\\u%04x", name[k]);
		fuzz_append(text, part, (size_t)n_part);
	}
	fuzz_append(text, "\"}", 2);
}

/* -1 is what the name does not say. */
static void iterations_parse(const uint8_t *name, size_t n)
{
	char *text = malloc(n + 1);
	struct ht_iteration_name said;
	int64_t size = 0;
	FUZZ_REQUIRE(text);
	if (n)
		memcpy(text, name, n);
	text[n] = 0;
	if (ht_iteration_parse(text, &said)) {
		FUZZ_REQUIRE(said.requests >= -1 && said.tokens >= -1);
		FUZZ_REQUIRE(said.context_requests >= -1 && said.context_tokens >= -1);
		FUZZ_REQUIRE(said.generation_requests >= -1 && said.generation_tokens >= -1);
		FUZZ_REQUIRE(said.batch >= -1 && said.padded >= -1 && said.kv_tokens >= -1);
		FUZZ_REQUIRE(*ht_phase_name(said.phase));
	}
	if (ht_capture_parse(text, &size))
		FUZZ_REQUIRE(size >= 0);
	free(text);
}

static void iterations_ask(const uint8_t *data, size_t size)
{
	struct fuzz_text text = { 0 };
	size_t n = 0;
	fuzz_append(&text, "{\"schemaVersion\":1,\"traceEvents\":[", 35);
	for (size_t at = 0; at < size && n < 64; n++) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n_name = end ? (size_t)(end - data) - at : size - at;
		iterations_event(&text, data + at, n_name < 512 ? n_name : 512, n);
		at += n_name + 1;
	}
	fuzz_append(&text, "]}", 2);
	const char *path = fuzz_file("", 0, (const uint8_t *)text.bytes, text.n);
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	ht_table *table;
	if (fuzz_open(ctx, path, 0, NULL, &set) == HT_OK) {
		struct ht_view view = { .columns = "iterations,wall_ns,requests,tokens" };
		FUZZ_REQUIRE(ht_ask(ctx, &set, 1,
		                     &(struct ht_query){ sizeof(struct ht_query), "iterations",
		                             NULL, 0, &view },
		                     &table) == HT_OK);
		int64_t sum = 0;
		for (size_t row = 0; row < ht_table_n_rows(table); row++) {
			sum += ht_table_i64(table, row, 0);
			for (size_t column = 1; column < 4; column++)
				FUZZ_REQUIRE(ht_table_is_null(table, row, column) ||
				             ht_table_i64(table, row, column) >= 0);
		}
		FUZZ_REQUIRE(sum >= 0 && (size_t)sum <= n);
		ht_table_free(table);
		ht_close(set);
	}
	fuzz_ctx_done(ctx);
	free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;
		iterations_parse(data + at, n);
		at += n + 1;
	}
	if (fuzz_is_chosen(data, size, 4 * FUZZ_ONE_IN))
		iterations_ask(data, size);
	return 0;
}
