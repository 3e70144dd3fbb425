/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_schema.h - payloads of NVTX events by the schemas that their library registered: bytes to a JSON object.
 *
 * NVTX_PAYLOAD_SCHEMA_ENTRIES has the fields of each schema of a domain: type, name and offset; NVTX_PAYLOAD_ENUM_ENTRIES the names of values.
 * A payload in binaryData begins with four numbers of 8 bytes, domain, schema, size and where its bytes begin from the start; it may be written as
 * hexadecimal digits. All numbers are little-endian. Bytes without such a beginning are of the schema of their size, where the domain has one of that size only.
 *
 * Not read: arrays, pointers and schemas in schemas.
 */
#ifndef HT_READ_NSYS_NSYS_SCHEMA_H
#define HT_READ_NSYS_NSYS_SCHEMA_H

#include "read/nsys/nsys.h"

struct ht_nsys_schemas {
	bool is_read;
	struct ht_vec fields, sizes, names; /* struct field, struct sized, struct value_name */
	struct ht_arena arena;
	char text[4096];
};

void ht_nsys_schemas_init(struct ht_nsys_schemas *s, struct ht_mem *mem);
void ht_nsys_schemas_done(struct ht_nsys_schemas *s, struct ht_mem *mem);

/* The payload of an event of a domain that is in a cell of the row; *ret_text is NULL when it cannot be told what it is, else valid until the next call. */
enum ht_status ht_nsys_schema_decode(struct ht_nsys *n, struct ht_nsys_schemas *s, int64_t domain,
        sqlite3_stmt *query, int column, const char **ret_text, size_t *ret_n) HT_MUST_USE;
/* The bytes of the payload in a cell, for those who know its layout; at most cap, 0: there are none, or more. */
size_t ht_nsys_schema_payload(
        sqlite3_stmt *query, int column, int64_t domain, unsigned char *room, size_t cap);

#endif
