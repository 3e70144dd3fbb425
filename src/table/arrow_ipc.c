/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow_ipc.c - a table as an Arrow IPC stream, or as an IPC file (Feather): what pyarrow, polars, duckdb and others
 * open.
 *
 *   stream  schema message | record batch message, body | ... | end of stream
 *   file    ARROW1 00 00 | the stream | footer: schema, where each batch is | int32 its size | ARROW1
 *   message = FFFFFFFF, int32 header size, header (FlatBuffers), padding to 8
 *   body    = per column: validity bits, [offsets,] values, each padded to 64
 *
 * Bodies are written straight from the columns, BATCH_ROWS rows at a time, so that a table of any size
 * needs no copy of itself. Layout: https://arrow.apache.org/docs/format/Columnar.html.
 */
#include "base/mem.h"
#include "table/arrow.h"
#include "table/flatbuf.h"
#include "table/render.h"

#define BATCH_ROWS ((size_t)1 << 18)
#define BODY_ALIGN 64

/* Numbers of the format's own schema files. */
enum { METADATA_V5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3, PRECISION_DOUBLE = 2 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_LARGE_UTF8 = 20 };

#define OFFSET                                                                                     \
	{                                                                                          \
		4, 0                                                                               \
	}

static uint64_t pad(uint64_t n, uint64_t align)
{
	return (n + align - 1) / align * align;
}

static void write_i32(struct ht_out *out, int32_t value)
{
	ht_out_bytes(out, &value, sizeof value);
}

/* A batch of a file, as the footer has it. */
struct block {
	int64_t offset, header_bytes, body_bytes;
};

/* Where writing is, for the footer. */
struct ipc {
	struct ht_out *out;
	uint64_t at;
	struct ht_vec blocks; /* struct block */
};

/* Header and padding of a message whose body the caller writes. */
static enum ht_status write_message(struct ipc *ipc, const struct ht_flatbuf *fb)
{
	struct ht_out *out = ipc->out;
	if (fb->failed)
		return ht_fail_nomem(out->ctx);
	size_t n = pad(fb->bytes.n, 8);
	ipc->at += 8 + n;
	write_i32(out, -1);
	write_i32(out, (int32_t)n);
	ht_out_bytes(out, fb->bytes.data, fb->bytes.n);
	ht_out_fill(out, 0, n - fb->bytes.n);
	return HT_OK;
}

/* The root table; returns the hole of the header that follows. */
static size_t put_message(struct ht_flatbuf *fb, int header_type, int64_t body_bytes)
{
	const struct ht_flatbuf_field fields[] = { { 2, METADATA_V5 }, { 1, header_type }, OFFSET,
		{ 8, body_bytes } };
	size_t at[HT_COUNT(fields)];
	ht_flatbuf_table(fb, 0, fields, HT_COUNT(fields), at);
	return at[2];
}

static void put_pairs(
        struct ht_flatbuf *fb, size_t hole, const struct ht_arrow_pair *pairs, size_t n)
{
	size_t vector = ht_flatbuf_vector(fb, hole, n, 4, 4);
	for (size_t i = 0; i < n; i++) {
		const struct ht_flatbuf_field fields[] = { OFFSET, OFFSET };
		size_t at[HT_COUNT(fields)];
		ht_flatbuf_table(fb, vector + 4 * i, fields, HT_COUNT(fields), at);
		ht_flatbuf_string(fb, at[0], pairs[i].key);
		ht_flatbuf_string(fb, at[1], pairs[i].value);
	}
}

static void put_type(struct ht_flatbuf *fb, size_t hole, enum ht_arrow_type type)
{
	const struct ht_flatbuf_field integer[] = { { 4, 64 }, { 1, type == HT_ARROW_INT64 } };
	const struct ht_flatbuf_field floating[] = { { 2, PRECISION_DOUBLE } };
	size_t at[2];
	if (type == HT_ARROW_INT64 || type == HT_ARROW_UINT64)
		ht_flatbuf_table(fb, hole, integer, 2, at);
	else
		ht_flatbuf_table(fb, hole, floating, type == HT_ARROW_FLOAT64, at);
}

static void put_field(struct ht_flatbuf *fb, size_t hole, const ht_table *table, size_t column)
{
	static const int numbers[] = { TYPE_INT, TYPE_INT, TYPE_FLOAT, TYPE_BOOL, TYPE_UTF8,
		TYPE_LARGE_UTF8 };
	const struct ht_column *meta = &ht_cells_at(table, column)->meta;
	enum ht_arrow_type type = ht_arrow_type_of(table, column);
	/* name, nullable, type's number, type, dictionary, children, metadata */
	const struct ht_flatbuf_field fields[] = { OFFSET, { 1, 1 }, { 1, numbers[type] }, OFFSET,
		{ 0, 0 }, OFFSET, OFFSET };
	size_t at[HT_COUNT(fields)];
	ht_flatbuf_table(fb, hole, fields, HT_COUNT(fields), at);
	ht_flatbuf_string(fb, at[0], meta->name);
	put_type(fb, at[3], type);
	ht_flatbuf_vector(fb, at[5], 0, 4, 4);
	struct ht_arrow_pair pairs[HT_ARROW_MAX_PAIRS];
	put_pairs(fb, at[6], pairs, ht_arrow_column_pairs(meta, pairs));
}

static void put_schema(
        struct ht_flatbuf *fb, size_t hole, const ht_table *table, struct ht_arena *arena)
{
	struct ht_arrow_pair pairs[HT_ARROW_MAX_PAIRS];
	size_t n_pairs = 0, n = ht_n_columns(table);
	if (!ht_arrow_table_pairs(table, arena, pairs, &n_pairs))
		fb->failed = true;
	/* endianness, fields, metadata */
	const struct ht_flatbuf_field fields[] = { { 2, 0 }, OFFSET, OFFSET };
	size_t at[HT_COUNT(fields)];
	ht_flatbuf_table(fb, hole, fields, HT_COUNT(fields), at);
	size_t vector = ht_flatbuf_vector(fb, at[1], n, 4, 4);
	for (size_t c = 0; c < n; c++)
		put_field(fb, vector + 4 * c, table, c);
	put_pairs(fb, at[2], pairs, n_pairs);
}

static enum ht_status write_schema(struct ipc *ipc, const ht_table *table)
{
	struct ht_flatbuf fb;
	struct ht_arena arena;
	struct ht_mem *mem = ipc->out->ctx->mem;
	ht_arena_init(&arena, mem);
	ht_flatbuf_init(&fb, mem);
	put_schema(&fb, put_message(&fb, HEADER_SCHEMA, 0), table, &arena);
	enum ht_status status = write_message(ipc, &fb);
	ht_flatbuf_done(&fb);
	ht_arena_done(&arena);
	return status;
}

/* Rows of one record batch. */
struct batch {
	const ht_table *table;
	const enum ht_arrow_type *types;
	size_t row, n;
};

/* Sizes of a column's buffers, unpadded; returns how many there are. */
static size_t buffer_sizes(const struct batch *b, size_t column, uint64_t *ret_sizes)
{
	bool has_null = ht_arrow_null_count(ht_cells_at(b->table, column), b->row, b->n) > 0;
	uint64_t n_bits = (b->n + 7) / 8;
	ret_sizes[0] = has_null ? n_bits : 0;
	switch (b->types[column]) {
	case HT_ARROW_BOOL: ret_sizes[1] = n_bits; return 2;
	case HT_ARROW_UTF8:
	case HT_ARROW_LARGE_UTF8:
		ret_sizes[1] = (b->n + 1) * (b->types[column] == HT_ARROW_UTF8 ? 4 : 8);
		ret_sizes[2] = ht_arrow_text_bytes(b->table, column, b->row, b->n);
		return 3;
	default: ret_sizes[1] = b->n * 8; return 2;
	}
}

static void write_bits(struct ht_out *out, const struct batch *b, const struct ht_cells *cells,
        uint8_t (*bits)(const struct ht_cells *, size_t, size_t))
{
	for (size_t i = 0; i < b->n; i += 8)
		ht_out_char(out, (char)bits(cells, b->row + i, b->n - i));
}

static void write_offsets(struct ht_out *out, const struct batch *b, size_t column)
{
	const uint32_t *ids = ht_cells_at(b->table, column)->str + b->row;
	size_t width = b->types[column] == HT_ARROW_UTF8 ? 4 : 8;
	uint64_t offset = 0;
	ht_out_bytes(out, &offset, width);
	for (size_t i = 0; i < b->n; i++) {
		offset += ht_table_pool_at(b->table, ids[i])->n;
		ht_out_bytes(out, &offset, width);
	}
}

static void write_texts(struct ht_out *out, const struct batch *b, size_t column)
{
	const uint32_t *ids = ht_cells_at(b->table, column)->str + b->row;
	for (size_t i = 0; i < b->n; i++) {
		const struct ht_table_pool_text *text = ht_table_pool_at(b->table, ids[i]);
		ht_out_bytes(out, text->text, text->n);
	}
}

static void write_padding(struct ht_out *out, uint64_t n)
{
	ht_out_fill(out, 0, (size_t)(pad(n, BODY_ALIGN) - n));
}

static void write_column(struct ht_out *out, const struct batch *b, size_t column)
{
	const struct ht_cells *cells = ht_cells_at(b->table, column);
	uint64_t sizes[3];
	size_t n_buffers = buffer_sizes(b, column, sizes);
	if (sizes[0])
		write_bits(out, b, cells, ht_arrow_valid_bits);
	write_padding(out, sizes[0]);
	if (n_buffers == 3)
		write_offsets(out, b, column);
	else if (b->types[column] == HT_ARROW_BOOL)
		write_bits(out, b, cells, ht_arrow_bool_bits);
	else
		ht_out_bytes(out, cells->u64 + b->row, b->n * 8);
	write_padding(out, sizes[1]);
	if (n_buffers == 3) {
		write_texts(out, b, column);
		write_padding(out, sizes[2]);
	}
}

/* Header of a batch: a (length, nulls) pair per column, an (offset, length) pair per buffer. */
static enum ht_status write_batch_header(struct ipc *ipc, const struct batch *b)
{
	struct ht_flatbuf fb;
	uint64_t sizes[3], body = 0;
	size_t n = ht_n_columns(b->table), n_buffers = 0;
	for (size_t c = 0; c < n; c++) {
		size_t n_own = buffer_sizes(b, c, sizes);
		for (size_t i = 0; i < n_own; i++)
			body += pad(sizes[i], BODY_ALIGN);
		n_buffers += n_own;
	}
	struct ht_mem *mem = ipc->out->ctx->mem;
	struct block block = { .offset = (int64_t)ipc->at, .body_bytes = (int64_t)body };
	ht_flatbuf_init(&fb, mem);
	const struct ht_flatbuf_field fields[] = { { 8, (int64_t)b->n }, OFFSET, OFFSET };
	size_t at[HT_COUNT(fields)];
	size_t hole = put_message(&fb, HEADER_BATCH, (int64_t)body);
	ht_flatbuf_table(&fb, hole, fields, HT_COUNT(fields), at);
	size_t node = ht_flatbuf_vector(&fb, at[1], n, 16, 8);
	for (size_t c = 0; c < n; c++, node += 16) {
		const struct ht_cells *cells = ht_cells_at(b->table, c);
		ht_flatbuf_set_i64(&fb, node, (int64_t)b->n);
		ht_flatbuf_set_i64(
		        &fb, node + 8, (int64_t)ht_arrow_null_count(cells, b->row, b->n));
	}
	size_t buffer = ht_flatbuf_vector(&fb, at[2], n_buffers, 16, 8);
	body = 0;
	for (size_t c = 0; c < n; c++) {
		size_t n_own = buffer_sizes(b, c, sizes);
		for (size_t i = 0; i < n_own; i++, buffer += 16) {
			ht_flatbuf_set_i64(&fb, buffer, (int64_t)body);
			ht_flatbuf_set_i64(&fb, buffer + 8, (int64_t)sizes[i]);
			body += pad(sizes[i], BODY_ALIGN);
		}
	}
	enum ht_status status = write_message(ipc, &fb);
	ht_flatbuf_done(&fb);
	block.header_bytes = (int64_t)ipc->at - block.offset;
	ipc->at += body;
	if (status == HT_OK && !HT_VEC_PUSH(mem, &ipc->blocks, struct block, block))
		status = ht_fail_nomem(ipc->out->ctx);
	return status;
}

static enum ht_status write_batches(
        struct ipc *ipc, const ht_table *table, const enum ht_arrow_type *types)
{
	struct ht_out *out = ipc->out;
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row += BATCH_ROWS) {
		size_t n = table->n_rows - row < BATCH_ROWS ? table->n_rows - row : BATCH_ROWS;
		struct batch batch = { table, types, row, n };
		HT_TRY(write_batch_header(ipc, &batch));
		for (size_t c = 0; c < ht_n_columns(table); c++)
			write_column(out, &batch, c);
	}
	return HT_OK;
}

static enum ht_status write_stream(struct ipc *ipc, const ht_table *table)
{
	struct ht_out *out = ipc->out;
	size_t n = ht_n_columns(table), n_bytes = (n + 1) * sizeof(enum ht_arrow_type);
	enum ht_arrow_type *types = ht_mem_alloc(out->ctx->mem, n_bytes);
	if (!types)
		return ht_fail_nomem(out->ctx);
	for (size_t c = 0; c < n; c++)
		types[c] = ht_arrow_type_of(table, c);
	enum ht_status status = write_schema(ipc, table);
	if (status == HT_OK)
		status = write_batches(ipc, table, types);
	ht_mem_free(out->ctx->mem, types, n_bytes);
	write_i32(out, -1);
	write_i32(out, 0);
	return status;
}

static void ipc_done(struct ipc *ipc)
{
	ht_vec_free(ipc->out->ctx->mem, &ipc->blocks, sizeof(struct block));
}

enum ht_status ht_render_arrow(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	struct ipc ipc = { .out = out };
	(void)options;
	enum ht_status status = write_stream(&ipc, table);
	ipc_done(&ipc);
	return status;
}

/* ---- files ---- */

static const char magic[8] = "ARROW1";

static enum ht_status write_footer(struct ipc *ipc, const ht_table *table)
{
	enum { BLOCK_BYTES = 24 };
	struct ht_flatbuf fb;
	struct ht_arena arena;
	struct ht_mem *mem = ipc->out->ctx->mem;
	const struct block *blocks = ipc->blocks.data;
	/* version, schema, dictionaries, batches */
	const struct ht_flatbuf_field fields[] = { { 2, METADATA_V5 }, OFFSET, OFFSET, OFFSET };
	size_t at[HT_COUNT(fields)];
	ht_arena_init(&arena, mem);
	ht_flatbuf_init(&fb, mem);
	ht_flatbuf_table(&fb, 0, fields, HT_COUNT(fields), at);
	put_schema(&fb, at[1], table, &arena);
	ht_flatbuf_vector(&fb, at[2], 0, BLOCK_BYTES, 8);
	size_t place = ht_flatbuf_vector(&fb, at[3], ipc->blocks.n, BLOCK_BYTES, 8);
	for (size_t i = 0; i < ipc->blocks.n; i++, place += BLOCK_BYTES) {
		ht_flatbuf_set_i64(&fb, place, blocks[i].offset);
		/* 32 bits and as many of nothing */
		ht_flatbuf_set_i64(&fb, place + 8, blocks[i].header_bytes);
		ht_flatbuf_set_i64(&fb, place + 16, blocks[i].body_bytes);
	}
	enum ht_status status = fb.failed ? ht_fail_nomem(ipc->out->ctx) : HT_OK;
	if (status == HT_OK) {
		ht_out_bytes(ipc->out, fb.bytes.data, fb.bytes.n);
		write_i32(ipc->out, (int32_t)fb.bytes.n);
	}
	ht_flatbuf_done(&fb);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_render_feather(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	struct ipc ipc = { .out = out, .at = sizeof magic };
	(void)options;
	ht_out_bytes(out, magic, sizeof magic);
	enum ht_status status = write_stream(&ipc, table);
	if (status == HT_OK)
		status = write_footer(&ipc, table);
	ht_out_bytes(out, magic, 6);
	ipc_done(&ipc);
	return status;
}
