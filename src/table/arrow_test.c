/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow_test.c - both Arrow exports, decoded by hand: the C stream through its callbacks, the IPC
 * stream message by message with a FlatBuffers reader of its own.
 */
#include "base/mem.h"
#include "table/table_test_help.h"

#include <stdio.h>

static bool bit(const void *bits, size_t i)
{
	return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

/* A decoded column, from either export: rows of it against rows of the table from first on. */
struct decoded {
	const void *valid, *values, *text; /* valid NULL: none is null */
	size_t n;
};

static void check_column(const ht_table *t, size_t column, size_t first, const struct decoded *d)
{
	enum ht_type type = ht_table_column(t, column)->type;
	for (size_t i = 0; i < d->n; i++) {
		size_t row = first + i;
		bool is_null = d->valid && !bit(d->valid, i);
		assert_int_equal(is_null, ht_table_is_null(t, row, column));
		if (is_null)
			continue;
		if (type == HT_STR) {
			const int32_t *offsets = d->values;
			const char *want = ht_table_str(t, row, column);
			size_t n = (size_t)(offsets[i + 1] - offsets[i]);
			assert_int_equal(n, strlen(want));
			assert_memory_equal((const char *)d->text + offsets[i], want, n);
		} else if (type == HT_BOOL) {
			assert_int_equal(bit(d->values, i), ht_table_i64(t, row, column));
		} else if (ht_type_is_f64(type)) {
			assert_f64(((const double *)d->values)[i], ht_table_f64(t, row, column));
		} else {
			assert_int_equal(
			        ((const int64_t *)d->values)[i], ht_table_i64(t, row, column));
		}
	}
}

static void check_array(const ht_table *t, size_t column, const struct ArrowArray *array)
{
	bool is_text = ht_table_column(t, column)->type == HT_STR;
	assert_int_equal(array->length, ht_table_n_rows(t));
	assert_int_equal(array->offset, 0);
	assert_int_equal(array->n_buffers, is_text ? 3 : 2);
	assert_int_equal(array->null_count > 0, array->buffers[0] != NULL);
	struct decoded d = { array->buffers[0], array->buffers[1],
		is_text ? array->buffers[2] : NULL, (size_t)array->length };
	check_column(t, column, 0, &d);
}

/* The value of a key in the interface's metadata encoding, compared. */
static void check_metadata(const char *metadata, const char *key, const char *want)
{
	int32_t n_pairs, n;
	memcpy(&n_pairs, metadata, 4);
	metadata += 4;
	for (int32_t i = 0; i < 2 * n_pairs; i += 2) {
		memcpy(&n, metadata, 4);
		bool found = (size_t)n == strlen(key) && !memcmp(metadata + 4, key, (size_t)n);
		metadata += 4 + n;
		memcpy(&n, metadata, 4);
		if (found) {
			assert_int_equal(n, strlen(want));
			assert_memory_equal(metadata + 4, want, (size_t)n);
			return;
		}
		metadata += 4 + n;
	}
	fail_msg("no metadata %s", key);
}

static void test_schema(void **state)
{
	static const char *const formats[] = { "u", "l", "L", "g", "b", "l", "l", "g", "l", "g" };
	ht_table *t = every_type_table(*state);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	assert_ok(ht_table_arrow(*state, t, &stream));
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	stream.release(&stream);
	assert_null(stream.release);
	ht_table_free(t);
	assert_string_equal(schema.format, "+s");
	check_metadata(schema.metadata, "title", "Kernels");
	check_metadata(schema.metadata, "notes", "3 of <many>");
	assert_int_equal(schema.n_children, HT_COUNT(every_type));
	for (size_t c = 0; c < HT_COUNT(every_type); c++) {
		const struct ArrowSchema *field = schema.children[c];
		assert_string_equal(field->name, every_type[c].name);
		assert_string_equal(field->format, formats[c]);
		assert_int_equal(field->flags, ARROW_FLAG_NULLABLE);
		check_metadata(field->metadata, "sentence", every_type[c].sentence);
	}
	check_metadata(schema.children[3]->metadata, "unit", "GB/s");
	check_metadata(schema.children[6]->metadata, "unit", "ns");
	check_metadata(schema.children[0]->metadata, "role", "key");
	schema.release(&schema);
	assert_null(schema.release);
}

static void test_stream_holds_the_values(void **state)
{
	ht_table *t = every_type_table(*state);
	struct ArrowArrayStream stream;
	struct ArrowArray array, end;
	assert_ok(ht_table_arrow(*state, t, &stream));
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_int_equal(stream.get_next(&stream, &end), 0);
	assert_null(end.release);
	assert_null(stream.get_last_error(&stream));
	assert_int_equal(array.n_children, HT_COUNT(every_type));
	for (size_t c = 0; c < HT_COUNT(every_type); c++)
		check_array(t, c, array.children[c]);
	assert_ptr_equal(array.children[1]->buffers[1], ht_cells_at(t, 1)->any);
	assert_ptr_equal(array.children[9]->buffers[1], ht_cells_at(t, 9)->any);
	array.release(&array);
	stream.release(&stream);
	ht_table_free(t);
}

/* A consumer may take a child out and release everything else first. */
static void test_moved_child_outlives_all(void **state)
{
	ht_ctx *ctx;
	assert_ok(ht_ctx_new(&ctx));
	ht_table *t = every_type_table(ctx);
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	assert_ok(ht_table_arrow(ctx, t, &stream));
	assert_int_equal(stream.get_next(&stream, &array), 0);
	struct ArrowArray child = *array.children[6], text = *array.children[0];
	array.children[6]->release = NULL;
	array.children[0]->release = NULL;
	array.release(&array);
	stream.release(&stream);
	ht_table_free(t);
	ht_ctx_free(ctx);
	assert_int_equal(((const int64_t *)child.buffers[1])[0], 3070);
	child.release(&child);
	assert_memory_equal(text.buffers[2], "ncclDevKernel_AllReduce", 23);
	text.release(&text);
	assert_null(child.release);
	(void)state;
}

static void test_empty_stream(void **state)
{
	ht_table *t;
	struct ArrowArrayStream stream;
	struct ArrowArray array;
	assert_ok(ht_table_new(*state, "t", every_type, HT_COUNT(every_type), &t));
	assert_ok(ht_table_finish(*state, t));
	assert_ok(ht_table_arrow(*state, t, &stream));
	assert_int_equal(stream.get_next(&stream, &array), 0);
	assert_int_equal(array.length, 0);
	for (size_t c = 0; c < HT_COUNT(every_type); c++)
		assert_non_null(array.children[c]->buffers[1]);
	array.release(&array);
	stream.release(&stream);
	ht_table_free(t);
}

static void test_each_allocation_may_fail(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *t = every_type_table(ctx);
	for (int n = 1, done = 0; !done; n++) {
		struct ArrowArrayStream stream;
		struct ArrowSchema schema;
		struct ArrowArray array;
		atomic_store(&ctx->mem->fail_in, n);
		enum ht_status status = ht_table_arrow(ctx, t, &stream);
		int schema_rc = status == HT_OK ? stream.get_schema(&stream, &schema) : 1;
		int array_rc = status == HT_OK ? stream.get_next(&stream, &array) : 1;
		done = atomic_load(&ctx->mem->fail_in) > 0;
		atomic_store(&ctx->mem->fail_in, 0);
		assert_int_equal(done, !schema_rc && !array_rc);
		if (status == HT_OK && !done)
			assert_string_equal(stream.get_last_error(&stream), "out of memory");
		if (!schema_rc)
			schema.release(&schema);
		if (!array_rc)
			array.release(&array);
		if (status == HT_OK)
			stream.release(&stream);
	}
	ht_table_free(t);
}

/* FlatBuffers: the position of a field of the table at a position, 0 when absent. */
static uint32_t u32_at(const char *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static int64_t i64_at(const char *at)
{
	int64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static const char *field(const char *table, size_t id)
{
	const char *vtable = table - (int32_t)u32_at(table);
	uint16_t n_vtable, offset = 0;
	memcpy(&n_vtable, vtable, 2);
	if (4 + 2 * id < n_vtable)
		memcpy(&offset, vtable + 4 + 2 * id, 2);
	return offset ? table + offset : NULL;
}

static const char *follow(const char *at)
{
	assert_non_null(at);
	return at + u32_at(at);
}

static void check_fb_schema(const ht_table *t, const char *schema)
{
	static const int types[] = { 5, 2, 2, 3, 6, 2, 2, 3, 2, 3 };
	const char *fields = follow(field(schema, 1));
	assert_int_equal(u32_at(fields), ht_table_n_columns(t));
	for (size_t c = 0; c < ht_table_n_columns(t); c++) {
		const char *f = follow(fields + 4 + 4 * c);
		const char *name = follow(field(f, 0));
		assert_string_equal(name + 4, ht_table_column(t, c)->name);
		assert_int_equal(u32_at(name), strlen(name + 4));
		assert_int_equal(*field(f, 1), 1);
		assert_int_equal(*field(f, 2), types[c]);
		const char *type = follow(field(f, 3));
		if (types[c] == 2) {
			assert_int_equal(u32_at(field(type, 0)), 64);
			assert_int_equal(*field(type, 1), ht_table_column(t, c)->type != HT_U64);
		}
		assert_int_equal(u32_at(follow(field(f, 5))), 0);
		assert_in_range(u32_at(follow(field(f, 6))), 3, 4);
	}
	const char *pairs = follow(field(schema, 2));
	assert_int_equal(u32_at(pairs), 3);
	const char *title = follow(pairs + 4);
	assert_string_equal(follow(field(title, 0)) + 4, "title");
	assert_string_equal(follow(field(title, 1)) + 4, ht_table_title(t));
}

/* Checks one record batch against the rows from first on; returns how many it has. */
static size_t check_batch(
        const ht_table *t, size_t first, const char *batch, const char *body, int64_t n_body)
{
	size_t n = (size_t)i64_at(field(batch, 0)), b = 0;
	const char *nodes = follow(field(batch, 1)), *buffers = follow(field(batch, 2));
	assert_int_equal(u32_at(nodes), ht_table_n_columns(t));
	for (size_t c = 0; c < ht_table_n_columns(t); c++) {
		assert_int_equal(i64_at(nodes + 4 + 16 * c), n);
		bool has_null = i64_at(nodes + 12 + 16 * c) > 0;
		const char *parts[3] = { NULL };
		size_t n_parts = ht_table_column(t, c)->type == HT_STR ? 3 : 2;
		for (size_t i = 0; i < n_parts; i++, b++) {
			int64_t at = i64_at(buffers + 4 + 16 * b),
			        size = i64_at(buffers + 12 + 16 * b);
			assert_int_equal(at % 64, 0);
			assert_true(at + size <= n_body);
			parts[i] = body + at;
		}
		struct decoded d = { has_null ? parts[0] : NULL, parts[1], parts[2], n };
		check_column(t, c, first, &d);
	}
	assert_int_equal(u32_at(buffers), b);
	return n;
}

static void check_ipc(ht_ctx *ctx, const ht_table *t, size_t n_batches)
{
	struct memory_sink got = render(ctx, t, "arrow", NULL);
	size_t at = 0, n_rows = 0, n_messages = 0;
	/* Positions in the stream are aligned, so a copy that is aligned may be read in place. */
	for (; at + 8 < got.n; n_messages++) {
		assert_int_equal(at % 8, 0);
		assert_true(u32_at(got.data + at) == 0xffffffff);
		uint32_t n_header = u32_at(got.data + at + 4);
		assert_int_equal(n_header % 8, 0);
		const char *header = got.data + at + 8, *message = follow(header);
		int16_t version;
		memcpy(&version, field(message, 0), 2);
		assert_int_equal(version, 4);
		assert_int_equal(*field(message, 1), n_messages ? 3 : 1);
		int64_t n_body = i64_at(field(message, 3));
		const char *inner = follow(field(message, 2)), *body = header + n_header;
		assert_true(at + 8 + n_header + (size_t)n_body <= got.n);
		if (n_messages)
			n_rows += check_batch(t, n_rows, inner, body, n_body);
		else
			check_fb_schema(t, inner);
		at += 8 + n_header + (size_t)n_body;
	}
	assert_int_equal(n_messages, 1 + n_batches);
	assert_int_equal(n_rows, ht_table_n_rows(t));
	assert_int_equal(got.n - at, 8);
	assert_memory_equal(got.data + at, "\xff\xff\xff\xff\0\0\0\0", 8);
	free(got.data);
}

static void test_ipc(void **state)
{
	ht_table *t = every_type_table(*state);
	check_ipc(*state, t, 1);
	ht_table_free(t);
	assert_ok(ht_table_new(*state, "t", every_type, HT_COUNT(every_type), &t));
	assert_ok(ht_table_finish(*state, t));
	check_ipc(*state, t, 0);
	ht_table_free(t);
}

static void test_ipc_of_many_batches(void **state)
{
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", every_type, HT_COUNT(every_type), &t));
	for (int i = 0; i < 300001; i++) {
		char name[16];
		snprintf(name, sizeof name, "k%d", i % 777);
		put_row(t, i % 1001 ? name : NULL, i, i * 0.5);
	}
	assert_ok(ht_table_finish(*state, t));
	check_ipc(*state, t, 2);
	ht_table_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_ctx, teardown_ctx)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_schema),
		TEST(test_stream_holds_the_values),
		TEST(test_moved_child_outlives_all),
		TEST(test_empty_stream),
		TEST(test_each_allocation_may_fail),
		TEST(test_ipc),
		TEST(test_ipc_of_many_batches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
