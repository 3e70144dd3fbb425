/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et.c - the store of an execution trace: indexes, lookups, what kind of file and node it is.
 */
#include "et/et.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "et/et_number.h"
#include "wire/wire.h"
#include "json/json_text.h"

#include <string.h>

/* Longer metadata is none. */
#define MAX_METADATA_BYTES ((uint64_t)1 << 24)
/* Ids per node up to which rows are looked up in a table: tensors are numbered by the same counter. */
#define MAX_GAP 16

/* ---- sniffing ---- */

/* The keys at the outermost level of a JSON object tell, as far as the bytes go. */
static bool is_json(const char *text, size_t n)
{
	static const struct {
		const char *key;
		unsigned bit;
	} keys[] = { { "\"schema\"", 1 }, { "\"nodes\"", 2 }, { "\"traceEvents\"", 4 },
		{ "\"start_ts\"", 8 } };
	size_t i = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	unsigned found = 0;
	while (i < n && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	if (i == n || text[i] != '{')
		return false;
	for (size_t depth = 0; i < n && !(found & 2); i++) {
		depth += text[i] == '{' || text[i] == '[';
		depth -= depth && (text[i] == '}' || text[i] == ']');
		if (!depth)
			break;
		if (text[i] != '"')
			continue;
		for (size_t k = 0; depth == 1 && k < HT_COUNT(keys); k++)
			if (n - i >= strlen(keys[k].key) &&
			        !memcmp(text + i, keys[k].key, strlen(keys[k].key)))
				found |= keys[k].bit;
		for (i++; i < n && text[i] != '"'; i++)
			i += text[i] == '\\';
	}
	return !(found & 4) && (found & 2 || (found & 9) == 9);
}

/* A length and a GlobalMetadata message: fields 1 and 2 are strings and messages, nothing else. Metadata without
 * content is one zero byte, and a node follows. */
static bool is_chakra(const unsigned char *bytes, size_t n, bool is_all)
{
	uint64_t length;
	size_t at = ht_wire_varint(bytes, n, &length);
	if (!at || length > MAX_METADATA_BYTES || (is_all && length > n - at))
		return false;
	bool is_whole = length <= n - at;
	struct ht_wire wire = { bytes + at, bytes + (is_whole ? at + length : n), false };
	struct ht_wire_field field;
	bool any = false;
	while (ht_wire_next(&wire, &field)) {
		if (field.type != HT_WIRE_BYTES || field.number > 2)
			return false;
		any = true;
	}
	if (length)
		return any && (!wire.bad || !is_whole);
	size_t used = ht_wire_varint(bytes + at, n - at, &length);
	return used && length && n > at + used && bytes[at + used] == 8;
}

bool ht_et_sniff(const char *bytes, size_t n, bool is_all, enum ht_et_format *ret_format)
{
	if (is_json(bytes, n))
		*ret_format = HT_ET_JSON;
	else if (n && is_chakra((const unsigned char *)bytes, n, is_all))
		*ret_format = HT_ET_CHAKRA;
	else
		return false;
	return true;
}

/* ---- lookups ---- */

enum ht_et_kind ht_et_kind(const struct ht_et *et, uint32_t row)
{
	static const char before[] = "[pytorch|profiler|execution_";
	const char *name = ht_et_str(et, ht_et_nodes(et)[row].name);
	if (strncmp(name, before, sizeof before - 1) != 0)
		return HT_ET_OP;
	name += sizeof before - 1;
	if (!strcmp(name, "trace|process]") || !strcmp(name, "graph|process]"))
		return HT_ET_PROCESS;
	if (!strcmp(name, "trace|thread]") || !strcmp(name, "graph|thread]"))
		return HT_ET_THREAD;
	return HT_ET_OP;
}

uint32_t ht_et_find(const struct ht_et *et, uint64_t id)
{
	const struct ht_et_node *nodes = ht_et_nodes(et);
	size_t i = HT_LOWER_BOUND(at, et->nodes.n, nodes[et->by_id[at]].id < id);
	return i < et->nodes.n && nodes[et->by_id[i]].id == id ? et->by_id[i] : HT_ET_NONE;
}

const char *ht_et_attr(const struct ht_et *et, uint32_t row, const char *name)
{
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	const struct ht_et_attr *attrs = et->attrs.data;
	for (uint32_t i = node->n_attrs; i > 0; i--) {
		const struct ht_et_attr *attr = &attrs[node->first_attr + i - 1];
		if (!strcmp(ht_et_str(et, attr->name), name))
			return ht_et_str(et, attr->value);
	}
	return NULL;
}

const char *ht_et_attr_text(const struct ht_et *et, uint32_t row, const char *name, size_t *ret_n)
{
	const char *text = ht_et_attr(et, row, name);
	if (!text)
		return NULL;
	size_t n = strlen(text);
	bool quoted = n >= 2 && *text == '"';
	*ret_n = quoted ? n - 2 : n;
	return text + quoted;
}

bool ht_et_attr_i64(const struct ht_et *et, uint32_t row, const char *name, int64_t *ret_value)
{
	size_t n;
	const char *text = ht_et_attr_text(et, row, name, &n);
	return text && ht_et_parse_i64(text, n, ret_value);
}

/* ---- indexes ---- */

static enum ht_status sort_ids(ht_ctx *ctx, struct ht_et *et, uint64_t *keys)
{
	for (uint32_t i = 0; i < ht_et_n(et); i++) {
		keys[i] = ht_et_nodes(et)[i].id;
		et->by_id[i] = i;
	}
	return ht_sort_keys(ctx->mem, keys, et->by_id, et->nodes.n) ? HT_OK : ht_fail_nomem(ctx);
}

/* Rows by id where ids are dense enough; the first row of an id that repeats. */
struct id_table {
	uint32_t *row_1; /* 1 + row; 0: none. NULL: look it up */
	uint64_t first_id, n;
};

static struct id_table make_id_table(ht_ctx *ctx, const struct ht_et *et)
{
	const struct ht_et_node *nodes = ht_et_nodes(et);
	struct id_table table = { 0 };
	size_t n = et->nodes.n;
	if (!n)
		return table;
	table.first_id = nodes[et->by_id[0]].id;
	uint64_t span = nodes[et->by_id[n - 1]].id - table.first_id;
	if (span >= (uint64_t)n * MAX_GAP)
		return table;
	table.n = span + 1;
	/* without it parents are looked up one by one */
	table.row_1 = ht_mem_zalloc(ctx->mem, table.n * sizeof *table.row_1);
	for (size_t i = n; table.row_1 && i > 0; i--)
		table.row_1[nodes[et->by_id[i - 1]].id - table.first_id] = et->by_id[i - 1] + 1;
	return table;
}

static uint32_t row_of(const struct ht_et *et, const struct id_table *table, uint64_t id)
{
	if (!table->row_1)
		return ht_et_find(et, id);
	uint64_t at = id - table->first_id;
	return at < table->n ? table->row_1[at] - 1 : HT_ET_NONE;
}

/* Rows of parents; lists of children ascend by id, as by_id does. */
static void link_children(struct ht_et *et, const struct id_table *table)
{
	struct ht_et_node *nodes = et->nodes.data;
	uint32_t n = ht_et_n(et), n_children = 0;
	et->root = HT_ET_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = et->by_id[i];
		struct ht_et_node *node = &nodes[row];
		bool has_parent = node->flags & HT_ET_PARENT;
		node->parent = has_parent ? row_of(et, table, node->parent_id) : HT_ET_NONE;
		if (et->root == HT_ET_NONE && ht_et_kind(et, row) == HT_ET_PROCESS)
			et->root = row;
		if (node->parent != HT_ET_NONE && node->parent != row) {
			et->first_child[node->parent + 1]++;
			n_children++;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		et->first_child[i + 1] += et->first_child[i];
	for (uint32_t i = n; i > 0; i--) {
		uint32_t row = et->by_id[i - 1], parent = nodes[row].parent;
		if (parent != HT_ET_NONE && parent != row)
			et->children[--et->first_child[parent + 1]] = row;
	}
	/* the ends were moved down to the starts: row i's children start at first_child[i + 1] now */
	memmove(et->first_child, et->first_child + 1, (size_t)n * sizeof *et->first_child);
	et->first_child[n] = n_children;
}

enum ht_status ht_et_index(ht_ctx *ctx, struct ht_et *et)
{
	size_t n = et->nodes.n;
	uint64_t *keys = ht_mem_alloc(ctx->mem, (n + 1) * sizeof *keys);
	et->by_id = ht_mem_zalloc(et->mem, (n + 1) * sizeof *et->by_id);
	et->first_child = ht_mem_zalloc(et->mem, (n + 2) * sizeof *et->first_child);
	et->children = ht_mem_zalloc(et->mem, (n + 1) * sizeof *et->children);
	enum ht_status status = keys && et->by_id && et->first_child && et->children
	                                ? sort_ids(ctx, et, keys)
	                                : ht_fail_nomem(ctx);
	ht_mem_free(ctx->mem, keys, (n + 1) * sizeof *keys);
	if (status == HT_OK) {
		struct id_table table = make_id_table(ctx, et);
		link_children(et, &table);
		ht_mem_free(ctx->mem, table.row_1, table.n * sizeof *table.row_1);
	}
	return status;
}

void ht_et_free(struct ht_et *et)
{
	if (!et)
		return;
	struct ht_mem *mem = et->mem;
	size_t n = et->nodes.n;
	if (et->by_id)
		ht_mem_free(mem, et->by_id, (n + 1) * sizeof *et->by_id);
	if (et->first_child)
		ht_mem_free(mem, et->first_child, (n + 2) * sizeof *et->first_child);
	if (et->children)
		ht_mem_free(mem, et->children, (n + 1) * sizeof *et->children);
	ht_vec_free(mem, &et->nodes, sizeof(struct ht_et_node));
	ht_vec_free(mem, &et->attrs, sizeof(struct ht_et_attr));
	ht_vec_free(mem, &et->tensors, sizeof(struct ht_et_tensor));
	ht_vec_free(mem, &et->chakra, sizeof(struct ht_et_chakra));
	ht_vec_free(mem, &et->deps, sizeof(uint64_t));
	ht_vec_free(mem, &et->more_heads, sizeof(struct ht_et_attr));
	ht_pool_done(&et->pool);
	if (et->path)
		ht_mem_free(mem, et->path, strlen(et->path) + 1);
	ht_mem_free(mem, et, sizeof *et);
	ht_mem_release(mem);
}
