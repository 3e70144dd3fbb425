/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_attrs.c - rules about attributes: ET030 to ET051.
 */
#include "et/et_findings.h"

#include "base/search.h"
#include "base/sort.h"
#include "et/et_args.h"
#include "et/et_groups.h"
#include "et/et_reader.h"
#include "et/et_schema.h"
#include "json/json_text.h"

#include <string.h>
#include <unistd.h>

static const char *const base_names[HT_ET_N_BASE_ATTRS] = { "rf_id", "fw_parent", "seq_id", "scope",
	"tid", "fw_tid", "op_schema", "kernel_backend", "kernel_file", "tensor_range" };

/* ---- ET030 ---- */

static bool fits(const char *type, const char *value)
{
	size_t n = strlen(value);
	uint64_t u;
	int64_t i;
	if (!strcmp(type, "uint64") || !strcmp(type, "uint32") || !strcmp(type, "uint"))
		return ht_et_parse_u64(value, n, &u);
	if (!strcmp(type, "int64") || !strcmp(type, "int32") || !strcmp(type, "int"))
		return ht_et_parse_i64(value, n, &i);
	if (!strcmp(type, "bool"))
		return !strcmp(value, "true") || !strcmp(value, "false");
	if (!strcmp(type, "string"))
		return n >= 2 && value[0] == '"';
	return true;
}

static void check_tags(struct ht_et_check *c, uint32_t row)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	const struct ht_et_attr *attrs = ht_et_attrs_of(et, node);
	/* all ten came with 1.1.1, whose last was added without a new version */
	unsigned n_wanted = c->version >= 10101 ? 9 : 7;
	for (unsigned i = 0; i < n_wanted; i++)
		if (!(node->flags & 1u << i))
			ht_et_report(c, HT_ET030, HT_ET_ERROR, row,
			        "%s is missing or not of its type", base_names[i]);
	if (node->flags & HT_ET_BAD_ATTR)
		ht_et_report(c, HT_ET030, HT_ET_ERROR, row,
		        "an attribute has no name, type or value, or another type than it should");
	for (uint32_t i = 0; i < node->n_attrs; i++) {
		const char *name = ht_et_str(et, attrs[i].name),
		           *value = ht_et_str(et, attrs[i].value);
		/* PyTorch tags it as a string and writes 0 or 1 */
		if (attrs[i].type == HT_ET_NO_STR || !strcmp(name, "is_asynchronized_op"))
			continue;
		if (!fits(ht_et_str(et, attrs[i].type), value))
			ht_et_report(c, HT_ET030, HT_ET_ERROR, row,
			        "%.64s is tagged %.32s but is %.64s", name,
			        ht_et_str(et, attrs[i].type), value);
	}
}

/* ---- ET031 ---- */

static enum ht_status check_rf_ids(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *nodes = ht_et_nodes(et);
	size_t n = 0, n_ops = 0, n_zero = 0;
	uint64_t *ids = ht_arena_alloc(c->scratch, ((size_t)ht_et_n(et) + 1) * sizeof *ids);
	uint32_t *rows = ht_arena_alloc(c->scratch, ((size_t)ht_et_n(et) + 1) * sizeof *rows);
	if (!ids || !rows)
		return ht_fail_nomem(c->ctx);
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		bool is_op = ht_et_kind(et, row) == HT_ET_OP;
		n_ops += is_op;
		n_zero += is_op && !nodes[row].rf_id;
		if (!is_op && nodes[row].rf_id)
			ht_et_report(c, HT_ET031, HT_ET_ERROR, row, "rf_id is %llu, not 0",
			        (unsigned long long)nodes[row].rf_id);
		if (is_op && nodes[row].rf_id) {
			ids[n] = nodes[row].rf_id;
			rows[n++] = row;
		}
	}
	if (n_ops > 1 && n_zero == n_ops)
		ht_et_report(c, HT_ET031, HT_ET_ERROR, HT_ET_NONE,
		        "rf_id is 0 on every node: this PyTorch did not ask for ids");
	for (uint32_t row = 0; row < ht_et_n(et) && (n_ops <= 1 || n_zero < n_ops); row++)
		if (!nodes[row].rf_id && ht_et_kind(et, row) == HT_ET_OP)
			ht_et_report(c, HT_ET031, HT_ET_ERROR, row, "rf_id is 0");
	if (!ht_sort_keys(c->ctx->mem, ids, rows, n))
		return ht_fail_nomem(c->ctx);
	for (size_t i = 1; i < n; i++)
		if (ids[i] == ids[i - 1])
			ht_et_report(c, HT_ET031, HT_ET_ERROR, rows[i],
			        "rf_id %llu is also that of node %llu", (unsigned long long)ids[i],
			        (unsigned long long)nodes[rows[i - 1]].id);
	return HT_OK;
}

/* ---- ET032 to ET035 ---- */

/* Sequence numbers of forward nodes, ascending, mixed with their threads. */
struct forwards {
	uint64_t *keys;
	size_t n;
};

static uint64_t forward_key(int64_t seq_id, uint64_t tid)
{
	return (uint64_t)seq_id << 16 ^ (tid & 0xffff);
}

static enum ht_status find_forwards(struct ht_et_check *c, struct forwards *ret_forwards)
{
	const struct ht_et *et = c->et;
	size_t n_room = (size_t)ht_et_n(et) + 1;
	struct forwards f = { ht_arena_alloc(c->scratch, n_room * sizeof *f.keys), 0 };
	uint32_t *rows = ht_arena_alloc(c->scratch, n_room * sizeof *rows);
	if (!f.keys || !rows)
		return ht_fail_nomem(c->ctx);
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		if (node->seq_id >= 0 && node->scope != 1)
			f.keys[f.n++] = forward_key(node->seq_id, node->tid);
	}
	if (!ht_sort_keys(c->ctx->mem, f.keys, rows, f.n))
		return ht_fail_nomem(c->ctx);
	*ret_forwards = f;
	return HT_OK;
}

static bool has_forward(const struct forwards *f, uint64_t key)
{
	size_t low = HT_LOWER_BOUND(at, f->n, f->keys[at] < key);
	return low < f->n && f->keys[low] == key;
}

static void check_backward(struct ht_et_check *c, uint32_t row, const struct forwards *f)
{
	const struct ht_et_node *node = &ht_et_nodes(c->et)[row];
	if (node->fw_parent && ht_et_find(c->et, node->fw_parent) == HT_ET_NONE)
		ht_et_report(c, HT_ET032, HT_ET_WARNING, row, "fw_parent %llu is absent",
		        (unsigned long long)node->fw_parent);
	if ((node->fw_tid != 0) != (node->scope == 1))
		ht_et_report(c, HT_ET032, HT_ET_WARNING, row, "scope is %llu but fw_tid is %llu",
		        (unsigned long long)node->scope, (unsigned long long)node->fw_tid);
	if (node->scope == 1 && node->seq_id >= 0 && node->fw_tid &&
	        !has_forward(f, forward_key(node->seq_id, node->fw_tid)))
		ht_et_report(c, HT_ET033, HT_ET_WARNING, row,
		        "no forward node has sequence number %lld on thread %llu",
		        (long long)node->seq_id, (unsigned long long)node->fw_tid);
	if (node->scope > 9)
		ht_et_report(c, HT_ET034, HT_ET_ERROR, row, "scope is %llu",
		        (unsigned long long)node->scope);
}

static void check_schema(struct ht_et_check *c, uint32_t row)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	const char *text = ht_et_str(et, node->op_schema), *name = ht_et_str(et, node->name);
	if (!*text)
		return;
	struct ht_et_piece of_schema = ht_et_schema_name(text);
	struct ht_et_schema schema = ht_et_schema_enter(text);
	struct ht_et_schema_arg arg;
	size_t n_args = 0, n_inputs = ht_et_list_count(ht_et_str(et, node->in.values));
	if (strcspn(name, ".") != of_schema.n || memcmp(name, text, of_schema.n) != 0)
		ht_et_report(c, HT_ET035, HT_ET_WARNING, row, "%.80s has the schema of %.*s", name,
		        (int)(of_schema.n < 80 ? of_schema.n : 80), of_schema.text);
	while (ht_et_schema_next(&schema, &arg))
		n_args++;
	if (n_args != n_inputs)
		ht_et_report(c, HT_ET035, HT_ET_WARNING, row,
		        "the schema has %zu arguments, not %zu", n_args, n_inputs);
}

/* ---- collectives ---- */

/* [1, 2]: whole numbers, or nothing. */
static bool is_list_text(const char *text, size_t n)
{
	struct ht_et_list list = ht_et_list(text);
	struct ht_et_piece piece;
	int64_t number;
	if (n < 2 || !list.p || memchr(text, ']', n) != text + n - 1)
		return false;
	while (ht_et_list_next(&list, &piece))
		if (!ht_et_parse_i64(piece.text, piece.n, &number))
			return false;
	return true;
}

static bool is_decimal(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return n > 0;
}

static void check_group_name(struct ht_et_check *c, uint32_t row, const struct ht_et_groups *groups)
{
	size_t n;
	const char *text = ht_et_attr_text(c->et, row, "pg_name", &n);
	if (!text)
		return;
	char *name = ht_arena_strndup(c->scratch, text, n);
	if (name && !ht_et_group_of(groups, name))
		ht_et_report(c, HT_ET041, HT_ET_WARNING, row,
		        "process group %.64s is not declared by process_group:init", name);
	if (!is_decimal(text, n))
		ht_et_report(c, HT_ET041, HT_ET_WARNING, row,
		        "process group %.*s is no number, which replay and simulators need",
		        (int)(n < 64 ? n : 64), text);
}

static void check_comm(struct ht_et_check *c, uint32_t row, const struct ht_et_groups *groups)
{
	static const char *const wanted[] = { "collective_name", "dtype", "in_msg_nelems",
		"out_msg_nelems", "pg_size" };
	static const char *const lists[] = { "in_split_size", "out_split_size" };
	const struct ht_et *et = c->et;
	if (strcmp(ht_et_str(et, ht_et_nodes(et)[row].name), "record_param_comms") != 0)
		return;
	if (c->version >= 10100 && ht_et_attr(et, row, "debug")) {
		ht_et_report(c, HT_ET040, HT_ET_ERROR, row,
		        "PyTorch had no data of the collective: %.80s",
		        ht_et_attr(et, row, "debug"));
		return;
	}
	for (size_t i = 0; i < HT_COUNT(wanted) && c->version >= 10100; i++)
		if (!ht_et_attr(et, row, wanted[i]))
			ht_et_report(c, HT_ET040, HT_ET_ERROR, row, "%s is missing", wanted[i]);
	for (size_t i = 0; i < HT_COUNT(lists); i++) {
		size_t n;
		const char *text = ht_et_attr_text(et, row, lists[i], &n);
		if (text && !is_list_text(text, n))
			ht_et_report(c, HT_ET040, HT_ET_ERROR, row, "%s is no list: %.*s", lists[i],
			        (int)(n < 64 ? n : 64), text);
	}
	check_group_name(c, row, groups);
}

static void check_groups(struct ht_et_check *c, const struct ht_et_groups *groups)
{
	if (groups->n_bad)
		ht_et_report(c, HT_ET042, HT_ET_ERROR, groups->first_bad,
		        "the declaration of process groups is not valid JSON");
	for (size_t i = 0; i < groups->n; i++)
		if (groups->list[i].is_repeated)
			ht_et_report(c, HT_ET042, HT_ET_WARNING, groups->list[i].node,
			        "process group %.64s is declared twice", groups->list[i].name);
}

/* ---- kernels and ranges ---- */

/* Whether a copied source is in the folder beside the trace: its name without .json, and _resources. PyTorch leaves
 * .json there when the trace is compressed, for it takes off one ending. */
static bool has_resource(struct ht_et_check *c, const char *file)
{
	static const char *const endings[] = { ".gz", ".zst", ".json" };
	const char *path = c->et->path;
	size_t n = strlen(path);
	for (size_t i = 0; i < HT_COUNT(endings); i++) {
		size_t n_ending = strlen(endings[i]);
		if (n <= n_ending || memcmp(path + n - n_ending, endings[i], n_ending) != 0)
			continue;
		n -= n_ending;
		const char *resource =
		        ht_arena_printf(c->scratch, "%.*s_resources/%s", (int)n, path, file);
		if (resource && access(resource, R_OK) == 0)
			return true;
	}
	return false;
}

static void check_triton(struct ht_et_check *c, uint32_t row, uint8_t *is_told)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	const char *file = ht_et_str(et, node->kernel_file);
	if (strcmp(ht_et_str(et, node->kernel_backend), "triton") != 0)
		return;
	if (!*file)
		ht_et_report(c, HT_ET050, HT_ET_ERROR, row, "kernel_file is empty");
	if (ht_et_list_count(ht_et_str(et, node->out.values)))
		ht_et_report(c, HT_ET050, HT_ET_ERROR, row, "it has outputs");
	if (!ht_et_list_count(ht_et_str(et, node->in.values)))
		ht_et_report(c, HT_ET050, HT_ET_ERROR, row, "it has no inputs");
	if (!*file || is_told[node->kernel_file])
		return;
	if (!has_resource(c, file)) {
		is_told[node->kernel_file] = 1;
		ht_et_report(
		        c, HT_ET050, HT_ET_WARNING, row, "%.200s is not beside the trace", file);
	}
}

/* {"0":[1,4],"1":[0,1]}: index of a tensor among the inputs, least and greatest value. */
static void check_range(struct ht_et_check *c, uint32_t row)
{
	const struct ht_et_node *node = &ht_et_nodes(c->et)[row];
	const char *text = ht_et_str(c->et, node->tensor_range);
	struct ht_json_value object, key, value, bounds[2];
	if (!*text)
		return;
	struct ht_json reader = { text };
	if (ht_json_valid(text, strlen(text)))
		object = ht_json_next(&reader);
	else
		object.type = HT_JSON_END;
	if (object.type != HT_JSON_OBJECT) {
		ht_et_report(c, HT_ET051, HT_ET_WARNING, row, "tensor_range is no JSON object");
		return;
	}
	reader = ht_json_enter(&object);
	while (ht_json_member(&reader, &key, &value)) {
		uint64_t index;
		struct ht_json list = ht_json_enter(&value);
		struct ht_number low = { 0 }, high = { 0 };
		bool is_pair = value.type == HT_JSON_ARRAY && ht_json_element(&list, &bounds[0]) &&
		               ht_json_element(&list, &bounds[1]);
		if (is_pair) {
			low = ht_number_parse(bounds[0].text);
			high = ht_number_parse(bounds[1].text);
		}
		if (!ht_et_parse_u64(key.text, key.n, &index) || index >= node->n_in)
			ht_et_report(c, HT_ET051, HT_ET_WARNING, row,
			        "tensor_range is about input tensor %.*s of %u",
			        (int)(key.n < 32 ? key.n : 32), key.text, node->n_in);
		else if (low.type != HT_NUMBER_I64 || high.type != HT_NUMBER_I64 || low.i > high.i)
			ht_et_report(c, HT_ET051, HT_ET_WARNING, row,
			        "the range of input tensor %llu is not [least, greatest]",
			        (unsigned long long)index);
	}
}

enum ht_status ht_et_check_attrs(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	struct ht_et_groups groups;
	struct forwards forwards = { 0 };
	if (et->format == HT_ET_CHAKRA)
		return HT_OK;
	uint8_t *is_told = ht_arena_alloc(c->scratch, et->pool.texts.n + 1);
	if (!is_told)
		return ht_fail_nomem(c->ctx);
	HT_TRY(ht_et_groups_find(c->ctx, et, c->scratch, &groups));
	HT_TRY(find_forwards(c, &forwards));
	HT_TRY(check_rf_ids(c));
	check_groups(c, &groups);
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		if (ht_et_nodes(et)[row].flags & HT_ET_MADE)
			continue;
		check_tags(c, row);
		check_backward(c, row, &forwards);
		check_schema(c, row);
		check_comm(c, row, &groups);
		check_triton(c, row, is_told);
		check_range(c, row);
	}
	return HT_OK;
}
