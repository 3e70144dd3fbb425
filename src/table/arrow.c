/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c - a table through the Arrow C data interface, as a stream of one struct batch.
 *
 *   schema or array ─► export { refs, table, arena }     children hold a reference each, because a
 *        └─ children ─────────┘                          consumer may move them out and outlive the rest
 *
 * Numeric columns are the table's own arrays, alive through the reference on the table. Validity and
 * booleans become bitmaps, string ids become offsets and text, both in the export's arena.
 */
#include "table/arrow.h"

#include "base/mem.h"
#include "table/table.h"

#include <errno.h>
#include <string.h>

enum ht_arrow_type ht_arrow_type_of(const ht_table *table, size_t column)
{
	switch (ht_cells_at(table, column)->meta.type) {
	case HT_STR:
		return ht_arrow_text_bytes(table, column, 0, table->n_rows) > INT32_MAX
		               ? HT_ARROW_LARGE_UTF8
		               : HT_ARROW_UTF8;
	case HT_BOOL: return HT_ARROW_BOOL;
	case HT_U64: return HT_ARROW_UINT64;
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: return HT_ARROW_FLOAT64;
	default: return HT_ARROW_INT64;
	}
}

size_t ht_arrow_column_pairs(const struct ht_column *column, struct ht_arrow_pair *ret_pairs)
{
	size_t n = 0;
	if (ht_column_unit(column))
		ret_pairs[n++] = (struct ht_arrow_pair){ "unit", ht_column_unit(column) };
	ret_pairs[n++] = (struct ht_arrow_pair){ "sentence", column->sentence };
	ret_pairs[n++] = (struct ht_arrow_pair){ "role", ht_role_name(column->role) };
	ret_pairs[n++] = (struct ht_arrow_pair){ "type", ht_type_name(column->type) };
	return n;
}

bool ht_arrow_table_pairs(const ht_table *table, struct ht_arena *arena,
        struct ht_arrow_pair *ret_pairs, size_t *ret_n)
{
	size_t n_bytes = 1;
	for (size_t i = 0; i < table->notes.n; i++)
		n_bytes += strlen(ht_table_note(table, i)) + 1;
	char *notes = ht_arena_alloc(arena, n_bytes), *end = notes;
	if (!notes)
		return false;
	for (size_t i = 0; i < table->notes.n; i++) {
		if (i)
			*end++ = '\n';
		end = stpcpy(end, ht_table_note(table, i));
	}
	ret_pairs[0] = (struct ht_arrow_pair){ "title", table->title };
	ret_pairs[1] = (struct ht_arrow_pair){ "method", table->method };
	ret_pairs[2] = (struct ht_arrow_pair){ "notes", notes };
	*ret_n = 3;
	return true;
}

size_t ht_arrow_null_count(const struct ht_cells *cells, size_t row, size_t n)
{
	size_t n_null = 0;
	for (size_t i = row; cells->valid && i < row + n; i++)
		n_null += !cells->valid[i];
	return n_null;
}

uint64_t ht_arrow_text_bytes(const ht_table *table, size_t column, size_t row, size_t n)
{
	const uint32_t *ids = ht_cells_at(table, column)->str;
	uint64_t n_bytes = 0;
	for (size_t i = row; i < row + n; i++)
		n_bytes += ht_table_pool_at(table, ids[i])->n;
	return n_bytes;
}

uint8_t ht_arrow_valid_bits(const struct ht_cells *cells, size_t row, size_t n)
{
	unsigned bits = 0;
	for (size_t i = 0; i < 8 && i < n; i++)
		bits |= (unsigned)cells->valid[row + i] << i;
	return (uint8_t)bits;
}

uint8_t ht_arrow_bool_bits(const struct ht_cells *cells, size_t row, size_t n)
{
	unsigned bits = 0;
	for (size_t i = 0; i < 8 && i < n; i++)
		bits |= (unsigned)(cells->i64[row + i] != 0) << i;
	return (uint8_t)bits;
}

/* What one schema or array and its children own together. */
struct export
{
	atomic_size_t n_refs;
	ht_table *table;
	struct ht_arena arena;
};

static struct export *export_new(ht_table *table)
{
	struct export *export = ht_mem_zalloc(table->mem, sizeof *export);
	if (!export)
		return NULL;
	atomic_store(&export->n_refs, 1);
	export->table = ht_table_retain(table);
	ht_arena_init(&export->arena, table->mem);
	return export;
}

static void export_release(struct export *export)
{
	if (atomic_fetch_sub(&export->n_refs, 1) != 1)
		return;
	ht_table *table = export->table;
	ht_arena_done(&export->arena);
	ht_mem_free(table->mem, export, sizeof *export);
	ht_table_free(table);
}

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	schema->release = NULL;
	export_release(schema->private_data);
}

static void release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	array->release = NULL;
	export_release(array->private_data);
}

static char *put_sized(char *at, const char *text)
{
	int32_t n = (int32_t)strlen(text);
	memcpy(at, &n, sizeof n);
	memcpy(at + sizeof n, text, (size_t)n);
	return at + sizeof n + n;
}

/* The interface's own encoding: count, then length-prefixed keys and values. */
static char *encode_pairs(struct ht_arena *arena, const struct ht_arrow_pair *pairs, size_t n)
{
	size_t n_bytes = sizeof(int32_t);
	for (size_t i = 0; i < n; i++)
		n_bytes += 2 * sizeof(int32_t) + strlen(pairs[i].key) + strlen(pairs[i].value);
	char *text = ht_arena_alloc(arena, n_bytes);
	if (!text)
		return NULL;
	int32_t count = (int32_t)n;
	memcpy(text, &count, sizeof count);
	char *at = text + sizeof count;
	for (size_t i = 0; i < n; i++)
		at = put_sized(put_sized(at, pairs[i].key), pairs[i].value);
	return text;
}

/* One field; false when out of memory. The reference is taken last, so a failure owes nothing. */
static bool fill_field(struct export *export, size_t column, struct ArrowSchema *field)
{
	static const char *const formats[] = { "l", "L", "g", "b", "u", "U" };
	const ht_table *table = export->table;
	const struct ht_column *meta = &ht_cells_at(table, column)->meta;
	struct ht_arrow_pair pairs[HT_ARROW_MAX_PAIRS];
	size_t n_pairs = ht_arrow_column_pairs(meta, pairs);
	field->metadata = encode_pairs(&export->arena, pairs, n_pairs);
	if (!field->metadata)
		return false;
	field->format = formats[ht_arrow_type_of(table, column)];
	field->name = meta->name;
	field->flags = ARROW_FLAG_NULLABLE;
	field->release = release_schema;
	field->private_data = export;
	atomic_fetch_add(&export->n_refs, 1);
	return true;
}

static bool fill_schema(struct export *export, struct ArrowSchema *schema)
{
	struct ht_arena *arena = &export->arena;
	size_t n = ht_n_columns(export->table), n_pairs;
	struct ArrowSchema *fields = ht_arena_alloc(arena, (n + 1) * sizeof *fields);
	struct ht_arrow_pair pairs[HT_ARROW_MAX_PAIRS];
	schema->children = ht_arena_alloc(arena, (n + 1) * sizeof *schema->children);
	if (!fields || !schema->children ||
	        !ht_arrow_table_pairs(export->table, arena, pairs, &n_pairs))
		return false;
	schema->metadata = encode_pairs(arena, pairs, n_pairs);
	schema->format = "+s";
	schema->name = "";
	for (size_t c = 0; c < n; c++) {
		if (!schema->metadata || !fill_field(export, c, &fields[c]))
			return false;
		schema->children[schema->n_children++] = &fields[c];
	}
	return schema->metadata != NULL;
}

static uint8_t *make_bits(struct ht_arena *arena, const struct ht_cells *cells, size_t n_rows,
        uint8_t (*bits)(const struct ht_cells *, size_t, size_t))
{
	uint8_t *bytes = ht_arena_alloc(arena, n_rows / 8 + 1);
	for (size_t row = 0; bytes && row < n_rows; row += 8)
		bytes[row / 8] = bits(cells, row, n_rows - row);
	return bytes;
}

static bool fill_text(struct export *export, size_t column, bool large, const void **buffers)
{
	const ht_table *table = export->table;
	const uint32_t *ids = ht_cells_at(table, column)->str;
	size_t n = table->n_rows, width = large ? sizeof(int64_t) : sizeof(int32_t);
	uint64_t n_bytes = ht_arrow_text_bytes(table, column, 0, n);
	void *offsets = ht_arena_alloc(&export->arena, (n + 1) * width);
	char *text = ht_arena_alloc(&export->arena, n_bytes + 1);
	if (!offsets || !text)
		return false;
	size_t used = 0;
	for (size_t row = 0; row < n; row++) {
		const struct ht_table_pool_text *entry = ht_table_pool_at(table, ids[row]);
		memcpy(text + used, entry->text, entry->n);
		used += entry->n;
		if (large)
			((int64_t *)offsets)[row + 1] = (int64_t)used;
		else
			((int32_t *)offsets)[row + 1] = (int32_t)used;
	}
	buffers[1] = offsets;
	buffers[2] = text;
	return true;
}

static bool fill_column(struct export *export, size_t column, struct ArrowArray *array)
{
	const ht_table *table = export->table;
	const struct ht_cells *cells = ht_cells_at(table, column);
	enum ht_arrow_type type = ht_arrow_type_of(table, column);
	bool is_text = type == HT_ARROW_UTF8 || type == HT_ARROW_LARGE_UTF8, ok = true;
	const void **buffers = ht_arena_alloc(&export->arena, 3 * sizeof *buffers);
	if (!buffers)
		return false;
	array->length = (int64_t)table->n_rows;
	array->null_count = (int64_t)ht_arrow_null_count(cells, 0, table->n_rows);
	array->n_buffers = is_text ? 3 : 2;
	array->buffers = buffers;
	if (array->null_count) {
		buffers[0] = make_bits(&export->arena, cells, table->n_rows, ht_arrow_valid_bits);
		ok = buffers[0] != NULL;
	}
	if (ok && is_text) {
		ok = fill_text(export, column, type == HT_ARROW_LARGE_UTF8, buffers);
	} else if (ok && type == HT_ARROW_BOOL) {
		buffers[1] = make_bits(&export->arena, cells, table->n_rows, ht_arrow_bool_bits);
		ok = buffers[1] != NULL;
	} else if (ok) {
		/* A column without rows has no array, and consumers want an address. */
		buffers[1] = cells->any ? cells->any : (const void *)buffers;
	}
	if (!ok)
		return false;
	array->release = release_array;
	array->private_data = export;
	atomic_fetch_add(&export->n_refs, 1);
	return true;
}

static bool fill_array(struct export *export, struct ArrowArray *array)
{
	struct ht_arena *arena = &export->arena;
	size_t n = ht_n_columns(export->table);
	struct ArrowArray *columns = ht_arena_alloc(arena, (n + 1) * sizeof *columns);
	array->children = ht_arena_alloc(arena, (n + 1) * sizeof *array->children);
	array->buffers = ht_arena_alloc(arena, sizeof *array->buffers);
	if (!columns || !array->children || !array->buffers)
		return false;
	array->length = (int64_t) export->table->n_rows;
	array->n_buffers = 1;
	for (size_t c = 0; c < n; c++) {
		if (!fill_column(export, c, &columns[c]))
			return false;
		array->children[array->n_children++] = &columns[c];
	}
	return true;
}

struct stream {
	ht_table *table;
	bool done;
	const char *error;
};

static int out_of_memory(struct stream *stream)
{
	stream->error = "out of memory";
	return ENOMEM;
}

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *ret_schema)
{
	struct stream *stream = self->private_data;
	struct ArrowSchema schema = { .release = release_schema };
	struct export *export = export_new(stream->table);
	if (!export)
		return out_of_memory(stream);
	schema.private_data = export;
	if (!fill_schema(export, &schema)) {
		release_schema(&schema);
		return out_of_memory(stream);
	}
	*ret_schema = schema;
	return 0;
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *ret_array)
{
	struct stream *stream = self->private_data;
	struct ArrowArray array = { .release = release_array };
	if (stream->done) {
		*ret_array = (struct ArrowArray){ 0 };
		return 0;
	}
	struct export *export = export_new(stream->table);
	if (!export)
		return out_of_memory(stream);
	array.private_data = export;
	if (!fill_array(export, &array)) {
		release_array(&array);
		return out_of_memory(stream);
	}
	stream->done = true;
	*ret_array = array;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
	return ((struct stream *)self->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *self)
{
	struct stream *stream = self->private_data;
	ht_table *table = stream->table;
	ht_mem_free(table->mem, stream, sizeof *stream);
	self->release = NULL;
	ht_table_free(table);
}

enum ht_status ht_table_arrow(ht_ctx *ctx, ht_table *table, struct ArrowArrayStream *ret_stream)
{
	ht_error_clear(ctx);
	struct stream *stream = ht_mem_zalloc(table->mem, sizeof *stream);
	if (!stream)
		return ht_fail_nomem(ctx);
	stream->table = ht_table_retain(table);
	*ret_stream = (struct ArrowArrayStream){ .get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = stream };
	return HT_OK;
}
