/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_et.h - what the targets for execution traces share: everything that can be done with one.
 */
#ifndef FUZZ_ET_H
#define FUZZ_ET_H

#include "fuzz.h"

#include "et/et.h"

static inline enum ht_status fuzz_et_run(
        ht_ctx *ctx, const char *path, const char *name, const char *view, ht_set *kineto)
{
	struct ht_arg args[] = { { "et", path }, { "view", view } };
	ht_table *table;
	enum ht_status status = ht_ask(ctx, &kineto, kineto ? 1 : 0,
	        &(struct ht_query){ sizeof(struct ht_query), name, args, view ? 2 : 1, NULL },
	        &table);
	if (status != HT_OK) {
		FUZZ_REQUIRE(ht_error(ctx)->message && *ht_error(ctx)->message);
		return status;
	}
	struct fuzz_text text = { 0 };
	struct ht_sink sink = { fuzz_append, &text };
	FUZZ_REQUIRE(ht_render(ctx, table, "csv", NULL, &sink) == HT_OK);
	ht_table_free(table);
	free(text.bytes);
	return HT_OK;
}

/* Ids 1 to 4 as calls, one of which launches a kernel. */
static const char fuzz_kineto[] =
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":9,\"args\":{\"Record function id\":1,\"External id\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":3,\"args\":{\"Record function id\":2,\"External id\":2}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":1,\"args\":{\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":1,\"args\":{\"correlation\":7,\"stream\":7,\"device\":0}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":1,\"args\":{\"correlation\":8}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":2000,\"dur\":3,\"args\":{\"Record function id\":3}},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"d\",\"pid\":1,\"tid\":2,\"ts\":1990,\"dur\":3,\"args\":{\"Record function id\":4}}]}";

/* Written as JSON; false when it cannot be read. */
static inline bool fuzz_et_json(
        ht_ctx *ctx, const char *path, const char *target, struct fuzz_text *ret_text)
{
	struct ht_et_convert_options options = { .to = "json", .partial = true };
	if (ht_et_convert(ctx, path, NULL, target, &options) != HT_OK)
		return false;
	int fd = open(target, O_RDONLY | O_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	char buf[65536];
	for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
		fuzz_append(ret_text, buf, (size_t)n);
	close(fd);
	return true;
}

static inline void fuzz_et_write(ht_ctx *ctx, const char *path, ht_set *kineto)
{
	static const char *const forms[] = { "chakra", "linked", "dot", "timeline" };
	for (size_t i = 0; i < 4; i++)
		for (int as_chakra = 0; as_chakra < 2; as_chakra++) {
			struct ht_et_convert_options options = {
				.to = forms[i], .as_chakra = as_chakra, .partial = true
			};
			enum ht_status status =
			        ht_et_convert(ctx, path, kineto, "/dev/null", &options);
			FUZZ_REQUIRE(status == HT_OK || *ht_error(ctx)->message);
		}
}

static inline void fuzz_et_read(const char *path, bool is_strict)
{
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_et *et;
	if (ht_et_read(ctx, path, is_strict, &et) == HT_OK)
		ht_et_free(et);
	else
		FUZZ_REQUIRE(*ht_error(ctx)->message);
}

static inline void fuzz_et_ask(const char *path, bool is_json)
{
	char target[3][64];
	const char *kineto_path = fuzz_file_at(1, fuzz_kineto, sizeof fuzz_kineto - 1, NULL, 0);
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *kineto;
	struct fuzz_text text[3] = { { 0 } };
	FUZZ_REQUIRE(fuzz_open(ctx, kineto_path, 0, NULL, &kineto) == HT_OK);
	if (fuzz_et_run(ctx, path, "et-nodes", "nodes", NULL) == HT_OK) {
		FUZZ_REQUIRE(fuzz_et_run(ctx, path, "et-nodes", "tensors", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_et_run(ctx, path, "et-nodes", "groups", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_et_run(ctx, path, "et-check", NULL, kineto) == HT_OK);
		(void)fuzz_et_run(ctx, path, "et-link", "nodes", kineto);
		(void)fuzz_et_run(ctx, path, "et-link", "gpu", kineto);
		fuzz_et_write(ctx, path, NULL);
		fuzz_et_write(ctx, path, kineto);
		const char *from = path;
		for (int i = 0; i < 3; i++) {
			snprintf(target[i], sizeof target[i], "/dev/shm/holotrace-fuzz-et-%d-%d",
			        (int)getpid(), i);
			FUZZ_REQUIRE(fuzz_et_json(ctx, from, target[i], &text[i]));
			from = target[i];
		}
		FUZZ_REQUIRE(fuzz_same(&text[is_json ? 0 : 1], &text[is_json ? 1 : 2]));
		for (int i = 0; i < 3; i++)
			unlink(target[i]);
	}
	for (int i = 0; i < 3; i++)
		free(text[i].bytes);
	ht_close(kineto);
	fuzz_ctx_done(ctx);
}

/* Most inputs are only read, strictly or not. */
static inline void fuzz_et(const uint8_t *data, size_t size, bool is_json)
{
	const char *path = fuzz_file("", 0, data, size);
	if (fuzz_is_chosen(data, size, 4 * FUZZ_ONE_IN))
		fuzz_et_ask(path, is_json);
	else
		fuzz_et_read(path, size % 2);
}

#endif
