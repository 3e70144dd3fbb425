/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_schema.c - see nsys_schema.h.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/number.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "read/nsys/nsys_schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Larger payloads than any that is of use here. */
#define MAX_PAYLOAD_BYTES 1024
/* Libraries register a few dozen fields; a file may claim more, and for one schema more than its payload has bytes. */
#define MAX_FIELDS 65536
#define MAX_OF_ONE MAX_PAYLOAD_BYTES
/* Ids from here on are of schemas and enumerations, not of types. */
#define FIRST_SCHEMA_ID ((int64_t)1 << 24)
#define HEADER_BYTES    32
/* Flags of a field that is no plain value: pointers, offsets and arrays. */
#define NO_VALUE_FLAGS 0x7e

struct field {
	int64_t domain, schema, index;
	int64_t type, flags, offset; /* HT_NO_I64: behind the one before */
	int64_t payload_bytes; /* of the first: the whole schema's, HT_NO_I64: it does not say */
	const char *name;      /* as JSON text, without quotes */
};

/* A schema by how long it is. */
struct sized {
	int64_t domain, n_bytes, schema;
};

struct value_name {
	int64_t domain, schema, value;
	const char *name;
};

/* ---- types ---- */

enum form { FORM_NONE, FORM_SIGNED, FORM_UNSIGNED, FORM_FLOAT };

/* Types of the payload extension of NVTX, from 1 on: char, short, int, long and long long, each signed and unsigned, then
 * those with a size, float, double, long double, size_t, address. */
static enum form form_of(int64_t type, size_t *ret_bytes)
{
	static const uint8_t sizes[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4,
		8, 0, 8, 8 };
	*ret_bytes = type > 0 && type < (int64_t)HT_COUNT(sizes) ? sizes[type] : 0;
	if (!*ret_bytes)
		return FORM_NONE;
	if (type == 19 || type == 20)
		return FORM_FLOAT;
	return type < 19 && type % 2 ? FORM_SIGNED : FORM_UNSIGNED;
}

/* ---- tables ---- */

void ht_nsys_schemas_init(struct ht_nsys_schemas *s, struct ht_mem *mem)
{
	s->is_read = false;
	s->fields = s->sizes = s->names = (struct ht_vec){ 0 };
	ht_arena_init(&s->arena, mem);
}

void ht_nsys_schemas_done(struct ht_nsys_schemas *s, struct ht_mem *mem)
{
	ht_vec_free(mem, &s->fields, sizeof(struct field));
	ht_vec_free(mem, &s->sizes, sizeof(struct sized));
	ht_vec_free(mem, &s->names, sizeof(struct value_name));
	ht_arena_done(&s->arena);
}

/* A text as it stands in JSON; control characters become spaces. NULL when out of memory. */
static char *json_text(struct ht_arena *arena, const char *text, size_t n)
{
	char *out = ht_arena_alloc(arena, 2 * n + 1), *at = out;
	for (size_t i = 0; out && i < n; i++) {
		if (text[i] == '"' || text[i] == '\\')
			*at++ = '\\';
		*at++ = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	}
	return out;
}

/* As long as it may be printed: of a longer one it is enough that it does not fit. */
static char *cell_text(
        struct ht_nsys *n, struct ht_nsys_schemas *s, sqlite3_stmt *query, int column)
{
	size_t n_text;
	const char *text = ht_database_text(&n->db.file, query, column, &n_text);
	/* repaired where it is no UTF-8 */
	uint32_t id = ht_rows_text(&n->db.rows, text ? text : "", text ? n_text : 0);
	if (id == HT_NO_STR)
		return NULL;
	text = ht_rows_text_at(&n->db.rows, id, &n_text);
	return json_text(&s->arena, text, n_text < sizeof s->text ? n_text : sizeof s->text);
}

static int compare_fields(const void *x, const void *y)
{
	const struct field *a = x, *b = y;
	int order = ht_order_i64(a->domain, b->domain);
	order = order ? order : ht_order_i64(a->schema, b->schema);
	return order ? order : ht_order_i64(a->index, b->index);
}

static int compare_sizes(const void *x, const void *y)
{
	const struct sized *a = x, *b = y;
	int order = ht_order_i64(a->domain, b->domain);
	order = order ? order : ht_order_i64(a->n_bytes, b->n_bytes);
	return order ? order : ht_order_i64(a->schema, b->schema);
}

static int compare_names(const void *x, const void *y)
{
	const struct value_name *a = x, *b = y;
	int order = ht_order_i64(a->domain, b->domain);
	order = order ? order : ht_order_i64(a->schema, b->schema);
	return order ? order : ht_order_i64(a->value, b->value);
}

static enum ht_status read_names(struct ht_nsys *n, struct ht_nsys_schemas *s)
{
	static const char *const columns[] = { "domainId", "schemaId", "value|idx", "name", NULL };
	enum ht_status status;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "NVTX_PAYLOAD_ENUM_ENTRIES", columns, NULL, &query));
	status = HT_OK;
	while (ht_db_next(&n->db, query, &status)) {
		struct value_name one = { .domain = ht_db_i64(query, 0, 0),
			.schema = ht_db_i64(query, 1, 0),
			.value = ht_db_i64(query, 2, 0),
			.name = cell_text(n, s, query, 3) };
		if (s->names.n < MAX_FIELDS &&
		        (!one.name || !HT_VEC_PUSH(n->db.builder->mem, &s->names, struct value_name,
		                              one)))
			status = ht_fail_nomem(n->db.ctx);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_fields(struct ht_nsys *n, struct ht_nsys_schemas *s)
{
	static const char *const columns[] = { "domainId", "schemaId", "idx", "type", "flags",
		"offset", "name", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		struct field one = { .domain = ht_db_i64(query, 0, 0),
			.schema = ht_db_i64(query, 1, 0),
			.index = ht_db_i64(query, 2, 0),
			.type = ht_db_i64(query, 3, 0),
			.flags = ht_db_i64(query, 4, 0),
			.offset = ht_db_i64(query, 5, HT_NO_I64),
			.payload_bytes = HT_NO_I64,
			.name = cell_text(n, s, query, 6) };
		if (s->fields.n < MAX_FIELDS &&
		        (!one.name ||
		                !HT_VEC_PUSH(n->db.builder->mem, &s->fields, struct field, one)))
			status = ht_fail_nomem(n->db.ctx);
	}
	sqlite3_finalize(query);
	return status;
}

/* The fields of a schema, in order, as many as are read; *ret_n is 0 when it is not there. */
static struct field *fields_of(
        const struct ht_nsys_schemas *s, int64_t domain, int64_t schema, size_t *ret_n)
{
	struct field *all = s->fields.data,
	             key = { .domain = domain, .schema = schema, .index = INT64_MIN };
	size_t first = HT_LOWER_BOUND(at, s->fields.n, compare_fields(&all[at], &key) < 0),
	       end = first;
	while (end < s->fields.n && end - first < MAX_OF_ONE && all[end].domain == domain &&
	        all[end].schema == schema)
		end++;
	*ret_n = end - first;
	return all ? all + first : NULL;
}

static enum ht_status read_sizes(struct ht_nsys *n, struct ht_nsys_schemas *s)
{
	static const char *const columns[] = { "domainId", "schemaId", "payloadSize", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "NVTX_PAYLOAD_SCHEMAS", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		size_t n_fields;
		struct field *fields =
		        fields_of(s, ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0), &n_fields);
		if (n_fields)
			fields->payload_bytes = ht_db_i64(query, 2, HT_NO_I64);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status sort_sizes(struct ht_nsys *n, struct ht_nsys_schemas *s)
{
	const struct field *all = s->fields.data;
	for (size_t i = 0; i < s->fields.n; i++) {
		struct sized one = { all[i].domain, all[i].payload_bytes, all[i].schema };
		if (one.n_bytes != HT_NO_I64 &&
		        !HT_VEC_PUSH(n->db.builder->mem, &s->sizes, struct sized, one))
			return ht_fail_nomem(n->db.ctx);
	}
	ht_sort_items(
	        n->db.builder->mem, s->sizes.data, s->sizes.n, sizeof(struct sized), compare_sizes);
	return HT_OK;
}

/* Every process registers its schemas: each field is there several times. The first counts. */
static void unite_fields(struct ht_nsys_schemas *s)
{
	struct field *all = s->fields.data;
	size_t n = 0;
	for (size_t i = 0; i < s->fields.n; i++)
		if (!n || compare_fields(&all[n - 1], &all[i]) != 0)
			all[n++] = all[i];
	s->fields.n = n;
}

static enum ht_status read_schemas(struct ht_nsys *n, struct ht_nsys_schemas *s)
{
	/* another table is being read meanwhile, whose damage and rows are counted */
	const char *table = n->db.table;
	uint64_t n_rows = n->db.n_rows;
	s->is_read = true;
	HT_TRY(read_fields(n, s));
	ht_sort_items(n->db.builder->mem, s->fields.data, s->fields.n, sizeof(struct field),
	        compare_fields);
	unite_fields(s);
	HT_TRY(read_sizes(n, s));
	HT_TRY(sort_sizes(n, s));
	HT_TRY(read_names(n, s));
	ht_sort_items(n->db.builder->mem, s->names.data, s->names.n, sizeof(struct value_name),
	        compare_names);
	n->db.table = table;
	n->db.n_rows = n_rows;
	return HT_OK;
}

/* ---- bytes ---- */

/* The bytes of a cell that is a blob or hexadecimal digits; 0: neither, or too long. */
static size_t cell_bytes(sqlite3_stmt *query, int column, unsigned char *room, size_t cap)
{
	int type = sqlite3_column_type(query, column);
	if (type != SQLITE_BLOB && type != SQLITE_TEXT)
		return 0;
	const char *bytes = sqlite3_column_blob(query, column);
	size_t n = bytes ? (size_t)sqlite3_column_bytes(query, column) : 0;
	if (type == SQLITE_BLOB) {
		n = n <= cap ? n : 0;
		if (n)
			memcpy(room, bytes, n);
		return n;
	}
	if (n % 2 || n / 2 > cap)
		return 0;
	for (size_t i = 0; i < n; i += 2) {
		int high = ht_hex_digit(bytes[i]), low = ht_hex_digit(bytes[i + 1]);
		if (high < 0 || low < 0)
			return 0;
		room[i / 2] = (unsigned char)(high << 4 | low);
	}
	return n / 2;
}

static uint64_t number_at(const unsigned char *bytes, size_t n)
{
	uint64_t value = 0;
	for (size_t i = n; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* The schema of bytes that say it, and where they begin; false when they do not. */
static bool has_header(const unsigned char *bytes, size_t n, int64_t domain, int64_t *ret_schema,
        size_t *ret_first, size_t *ret_n)
{
	if (n < HEADER_BYTES || number_at(bytes, 8) != (uint64_t)domain)
		return false;
	uint64_t size = number_at(bytes + 16, 8), first = number_at(bytes + 24, 8);
	if (first < HEADER_BYTES || first > n || size > n - first)
		return false;
	*ret_schema = (int64_t)number_at(bytes + 8, 8);
	*ret_first = (size_t)first;
	*ret_n = (size_t)size;
	return true;
}

/* The only schema of a domain that is so long, HT_NO_I64: none, or several. */
static int64_t schema_by_size(const struct ht_nsys_schemas *s, int64_t domain, size_t n)
{
	const struct sized *all = s->sizes.data,
	                   key = { .domain = domain, .n_bytes = (int64_t)n, .schema = INT64_MIN };
	size_t first = HT_LOWER_BOUND(at, s->sizes.n, compare_sizes(&all[at], &key) < 0),
	       end = first;
	while (end < s->sizes.n && end - first < 2 && all[end].domain == domain &&
	        all[end].n_bytes == (int64_t)n)
		end++;
	return end - first == 1 ? all[first].schema : HT_NO_I64;
}

size_t ht_nsys_schema_payload(
        sqlite3_stmt *query, int column, int64_t domain, unsigned char *room, size_t cap)
{
	size_t n = cell_bytes(query, column, room, cap), first;
	int64_t schema;
	if (has_header(room, n, domain, &schema, &first, &n))
		memmove(room, room + first, n);
	return n;
}

/* ---- JSON ---- */

static const char *name_of(
        const struct ht_nsys_schemas *s, int64_t domain, int64_t schema, int64_t value)
{
	const struct value_name *all = s->names.data, key = { domain, schema, value, NULL };
	size_t at = HT_LOWER_BOUND(i, s->names.n, compare_names(&all[i], &key) < 0);
	return at < s->names.n && !compare_names(&all[at], &key) ? all[at].name : NULL;
}

/* A value as JSON text; false when it is none of those that are read. */
static bool print_value(const struct ht_nsys_schemas *s, const struct field *field,
        const unsigned char *bytes, size_t n_bytes, char *text, size_t cap)
{
	size_t size;
	enum form form = form_of(field->type, &size);
	uint64_t bits = number_at(bytes, n_bytes);
	int64_t value = (int64_t)(bits << (64 - 8 * n_bytes)) >> (64 - 8 * n_bytes);
	if (field->type >= FIRST_SCHEMA_ID) {
		const char *name = name_of(s, field->domain, field->type, value);
		if (name)
			return snprintf(text, cap, "\"%s\"", name) < (int)cap;
		form = FORM_SIGNED;
	}
	if (form == FORM_SIGNED)
		return snprintf(text, cap, "%" PRId64, value) < (int)cap;
	if (form == FORM_UNSIGNED)
		return snprintf(text, cap, "%" PRIu64, bits) < (int)cap;
	double number;
	float narrow;
	memcpy(&narrow, bytes, sizeof narrow);
	if (n_bytes == sizeof number)
		memcpy(&number, &bits, sizeof number);
	else
		number = narrow;
	if (!isfinite(number) || cap < 40)
		return false;
	text[ht_double_print(text, number)] = '\0';
	return true;
}

/* Whether an id is that of an enumeration. */
static bool is_enumeration(const struct ht_nsys_schemas *s, int64_t domain, int64_t schema)
{
	const struct value_name *all = s->names.data, key = { domain, schema, INT64_MIN, NULL };
	size_t at = HT_LOWER_BOUND(i, s->names.n, compare_names(&all[i], &key) < 0);
	return at < s->names.n && all[at].domain == domain && all[at].schema == schema;
}

/* How many bytes a field has, 0: it is none that is read. Enumerations are int, as in C. */
static size_t size_of(const struct ht_nsys_schemas *s, const struct field *field)
{
	size_t size;
	if (field->flags & NO_VALUE_FLAGS)
		return 0;
	if (field->type >= FIRST_SCHEMA_ID)
		return is_enumeration(s, field->domain, field->type) ? 4 : 0;
	return form_of(field->type, &size) == FORM_NONE ? 0 : size;
}

static size_t print_fields(struct ht_nsys_schemas *s, const struct field *fields, size_t n_fields,
        const unsigned char *bytes, size_t n_bytes)
{
	size_t at = 0, length = 1;
	char value[256];
	s->text[0] = '{';
	for (size_t i = 0; i < n_fields; i++) {
		size_t size = size_of(s, &fields[i]);
		if (!size) {
			/* what follows without an offset cannot be found */
			at = n_bytes;
			continue;
		}
		if (fields[i].offset == HT_NO_I64)
			at = (at + size - 1) / size * size;
		else
			at = fields[i].offset < (int64_t)n_bytes && fields[i].offset >= 0
			             ? (size_t)fields[i].offset
			             : n_bytes;
		if (at > n_bytes || size > n_bytes - at)
			continue;
		if (print_value(s, &fields[i], bytes + at, size, value, sizeof value)) {
			int more = snprintf(s->text + length, sizeof s->text - length,
			        "%s\"%s\": %s", length > 1 ? ", " : "", fields[i].name, value);
			if (more < 0 || (size_t)more >= sizeof s->text - length - 1)
				break;
			length += (size_t)more;
		}
		at += size;
	}
	s->text[length++] = '}';
	/* what was there before is longer, or did not fit */
	s->text[length] = '\0';
	return length > 2 ? length : 0;
}

enum ht_status ht_nsys_schema_decode(struct ht_nsys *n, struct ht_nsys_schemas *s, int64_t domain,
        sqlite3_stmt *query, int column, const char **ret_text, size_t *ret_n)
{
	unsigned char bytes[MAX_PAYLOAD_BYTES];
	size_t n_bytes = cell_bytes(query, column, bytes, sizeof bytes), first = 0, n_fields;
	int64_t schema;
	*ret_text = NULL;
	*ret_n = 0;
	if (!n_bytes)
		return HT_OK;
	if (!s->is_read)
		HT_TRY(read_schemas(n, s));
	if (!has_header(bytes, n_bytes, domain, &schema, &first, &n_bytes))
		schema = schema_by_size(s, domain, n_bytes);
	const struct field *fields = fields_of(s, domain, schema, &n_fields);
	size_t length = n_fields ? print_fields(s, fields, n_fields, bytes + first, n_bytes) : 0;
	*ret_text = length ? s->text : NULL;
	*ret_n = length;
	return HT_OK;
}

#endif
