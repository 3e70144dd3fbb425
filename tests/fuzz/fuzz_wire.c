/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire.c - what a worker of holotrace-mpi is asked, by a leader of another build: any requests, one after the other.
 *
 * The input is a list of requests: a byte for the kind, two of length, then the message. The worker has a trace and is one of two
 * processes. Every request is answered by an item, and what does not hold what it should by an error.
 */
#include "fuzz.h"

#include "../../mpi/desk.c"

#include "../../mpi/board.c"
#include "../../mpi/timing.c"
#include "../../mpi/frames.c"

static const char wire_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 1}, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 9, \"tid\": 9, \"ts\": 1, \"dur\": 9},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0}}]}\n";

/* As the program has it, without looking ahead to the question. */
enum ht_status question_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct question *q, ht_set **ret_set)
{
	(void)q;
	return ht_open(ctx, sources, n_sources, options, ret_set);
}

static _Atomic uint32_t wire_marks[BOARD_FILES];
static const uint64_t wire_nodes[2];
static struct desk wire_desk = { .seat = { .id = 1, .n = 2, .n_jobs = 1, .has_board = true },
	.nodes = wire_nodes,
	.marks = wire_marks };
static struct holding wire_first;

static void wire_done(void)
{
	for (size_t i = 0; i < HT_MAX_SETS; i++)
		desk_close(&wire_desk, i);
	fuzz_ctx_done(wire_desk.ctx);
}

/* The first set, open and joined, unless it still is. */
static void wire_prepare(struct desk *desk)
{
	static const struct holding nothing;
	struct wire told[2] = { { 0 } };
	struct holding *held = &desk->sets[0];
	if (desk->ctx && held->own == wire_first.own && held->joined == wire_first.joined)
		return;
	const char *path = fuzz_file_at(1, "", 0, wire_trace, sizeof wire_trace - 1);
	if (!desk->ctx) {
		desk->ctx = fuzz_ctx(1);
		/* names in messages are of this folder */
		FUZZ_REQUIRE(!chdir(fuzz_folder));
		atexit(wire_done);
	}
	holding_close(held);
	FUZZ_REQUIRE(fuzz_open(desk->ctx, path, 0, NULL, &held->own) == HT_OK);
	for (size_t i = 0; i < 2; i++)
		FUZZ_REQUIRE(describe(desk, i ? held : &nothing, i, &told[i]) == HT_OK);
	const struct ht_description both[] = { { told[0].bytes, told[0].n },
		{ told[1].bytes, told[1].n } };
	FUZZ_REQUIRE(ht_shares_join(desk->ctx, held->own, 1, both, 2, &held->joined) == HT_OK);
	wire_first = *held;
	wire_free(&told[0]);
	wire_free(&told[1]);
}

/* One item, whole, with a text where it is an error. */
static void wire_check(const struct wire *answer)
{
	struct wire_in in = { answer->bytes, answer->n, false };
	struct item item;
	struct ht_error error;
	FUZZ_REQUIRE(!answer->failed && item_get(&in, &item) && in.n == 0);
	FUZZ_REQUIRE(item.id == 1 && item.node == 0);
	struct wire_in text = { item.bytes, item.n, false };
	if (item.state == ITEM_ERROR)
		FUZZ_REQUIRE(error_get(&text, &error) && *error.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct desk *desk = &wire_desk;
	/* texts may name files: none but those beside the trace */
	if (size && memchr(data, '/', size))
		return 0;
	/* which the input before may have changed */
	if (desk->ctx) {
		ht_ctx_set_jobs(desk->ctx, 1);
		ht_ctx_set_memory_limit(desk->ctx, (uint64_t)1 << 30);
	}
	wire_prepare(desk);
	for (size_t at = 0; at + 3 <= size;) {
		size_t n = (size_t)(data[at + 1] | data[at + 2] << 8);
		n = n < size - at - 3 ? n : size - at - 3;
		struct wire answer = { 0 };
		/* a message of its own, so that reading past its end is seen */
		char *message = malloc(n ? n : 1);
		FUZZ_REQUIRE(message);
		memcpy(message, data + at + 3, n);
		desk_answer(desk, (enum kind)(data[at] % (KIND_CLOSE + 1)),
		        (struct wire_in){ message, n, false }, &answer);
		wire_check(&answer);
		wire_free(&answer);
		free(message);
		at += n + 3;
	}
	for (size_t i = 1; i < HT_MAX_SETS; i++)
		desk_close(desk, i);
	return 0;
}
