/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_share.c - what another process says of its ranks: a description whose hash is right, with anything inside.
 *
 * This process has a trace and says the truth about it. The first byte of the input, modulo two, says what the rest is:
 *     0   the contents of the other description
 *     1   edits of a good one, three bytes each: which of its words, then a number at the edge of something
 * Descriptions that are joined make a set: parts can be made of it for every analysis, and finished.
 */
#include "fuzz.h"

#include "base/sealed_bytes.h"
#include "holotrace/cluster.h"
#include "store/set.h"

static const char share_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 2}, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#4\", \"pid\": 9, \"tid\": 9, \"ts\": 1, \"dur\": 20},\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 9, \"tid\": 9, \"ts\": 21, \"dur\": 20},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 9, \"tid\": 9, \"ts\": 22, \"dur\": 9, \"args\": {\"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": 9, \"ts\": 23, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", \"pid\": 0, \"tid\": 7, \"ts\": 26, \"dur\": 6,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"Collective name\": \"allreduce\", \"In msg nelems\": 8,"
        " \"Out msg nelems\": 8, \"Group size\": 2, \"dtype\": \"Float\", \"Process Group Name\": \"0\","
        " \"Process Group Ranks\": \"[0, 1]\"}}]}\n";

static struct {
	ht_ctx *ctx;
	ht_set *set;
	struct fuzz_text own; /* the whole of it */
	size_t head;          /* where its contents begin */
} share;

static void share_done(void)
{
	ht_close(share.set);
	free(share.own.bytes);
	fuzz_ctx_done(share.ctx);
}

static void share_prepare(void)
{
	struct ht_sink sink = { fuzz_append, &share.own };
	struct ht_bytes_out out;
	share.ctx = fuzz_ctx(1);
	const char *path = fuzz_file_at(1, "", 0, share_trace, sizeof share_trace - 1);
	FUZZ_REQUIRE(fuzz_open(share.ctx, path, 0, NULL, &share.set) == HT_OK);
	FUZZ_REQUIRE(ht_set_describe(share.ctx, share.set, true, &sink) == HT_OK);
	out = (struct ht_bytes_out){ .mem = share.ctx->mem };
	ht_sealed_begin(&out, &ht_roster_kind);
	share.head = out.bytes.n;
	ht_vec_free(share.ctx->mem, &out.bytes, 1);
	atexit(share_done);
}

/* A description of these contents. */
static void share_seal(const void *contents, size_t n, struct fuzz_text *ret_text)
{
	struct ht_sink sink = { fuzz_append, ret_text };
	struct ht_bytes_out out = { .mem = share.ctx->mem };
	ht_sealed_begin(&out, &ht_roster_kind);
	for (size_t i = 0; i < n; i++)
		FUZZ_REQUIRE(
		        HT_VEC_PUSH(share.ctx->mem, &out.bytes, char, ((const char *)contents)[i]));
	FUZZ_REQUIRE(ht_sealed_write(share.ctx, &out, &ht_roster_kind, &sink) == HT_OK);
}

static void share_edit(const uint8_t *data, size_t size, struct fuzz_text *ret_text)
{
	static const int64_t odd[] = { -1, 0, 1, 2, 3, 255, 65536, INT32_MAX, UINT32_MAX,
		(int64_t)1 << 32, (int64_t)1 << 62, INT64_MAX, INT64_MIN };
	size_t n = share.own.n - share.head - sizeof(uint64_t);
	char *contents = malloc(n);
	FUZZ_REQUIRE(contents && n >= sizeof(uint64_t));
	memcpy(contents, share.own.bytes + share.head, n);
	for (size_t i = 0; i + 3 <= size; i += 3) {
		/* texts have any length: words begin anywhere behind the first one */
		size_t at = (size_t)(data[i] | data[i + 1] << 8) % (n - sizeof(uint64_t) + 1);
		memcpy(contents + at, &odd[data[i + 2] % HT_COUNT(odd)], sizeof *odd);
	}
	share_seal(contents, n, ret_text);
	free(contents);
}

/* A part of the joined set, and the table of it: there, or refused with a reason. */
static void share_ask(ht_set *joined, const char *name)
{
	ht_bundle *bundle;
	ht_table *table;
	const struct ht_query query = { .struct_size = sizeof query, .name = name };
	if (ht_bundle_make(share.ctx, &joined, 1, &query, &bundle) != HT_OK) {
		FUZZ_REQUIRE(*ht_error(share.ctx)->message);
		return;
	}
	if (ht_bundle_finish(share.ctx, bundle, &joined, 1, &table) == HT_OK)
		ht_table_free(table);
	else
		FUZZ_REQUIRE(*ht_error(share.ctx)->message);
	ht_bundle_free(bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_text other = { 0 };
	ht_set *joined;
	if (!share.ctx)
		share_prepare();
	if (!size)
		return 0;
	if (data[0] % 2)
		share_edit(data + 1, size - 1, &other);
	else
		share_seal(data + 1, size - 1, &other);
	const struct ht_description both[] = { { share.own.bytes, share.own.n },
		{ other.bytes, other.n } };
	if (ht_shares_join(share.ctx, share.set, 0, both, 2, &joined) == HT_OK) {
		bool all = fuzz_is_chosen(data, size, 4 * FUZZ_ONE_IN);
		for (size_t i = 0; i < ht_n_analyses(); i++)
			if (ht_analysis_at(i)->n_sets == 1 && (all || size % ht_n_analyses() == i))
				share_ask(joined, ht_analysis_at(i)->name);
		ht_close(joined);
	} else {
		FUZZ_REQUIRE(*ht_error(share.ctx)->message);
	}
	free(other.bytes);
	return 0;
}
