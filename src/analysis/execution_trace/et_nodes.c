/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_nodes.c - the nodes of execution traces: what was called with what, under what, on which tensors.
 *
 * One row per node in file order, which is the order in which calls ended. Texts of arguments are those of the
 * file: JSON lists, an entry per argument; Chakra's files have Python's repr of the same lists. What only these have
 * (type, data dependencies, times) stands in columns of its own.
 *
 * Views: nodes; tensors, a row per tensor that a node takes or gives; groups, the process groups declared.
 * ancestors-of and descendants-of walk the tree of one node, itself included; producers-of and consumers-of choose
 * the nodes that give or take a tensor, by its id. Ids are addresses with numbers: after a free the same id may
 * be another tensor.
 */
#include "analysis/analysis.h"

#include "base/json_escape.h"
#include "et/et_args.h"
#include "et/et_files.h"
#include "et/et_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum ht_status list_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define NODE_COLUMNS(COLUMN)                                                                       \
	COLUMN(NODE_RANK, "rank", HT_I64, HT_KEY, "rank of the execution trace", NULL)             \
	COLUMN(NODE_ID, "id", HT_U64, HT_KEY, "node id; ids ascend in the order of starts", NULL)  \
	COLUMN(NODE_PARENT, "parent", HT_U64, HT_MEASURE,                                          \
	        "id of the node that called it (ctrl_deps)", NULL)                                 \
	COLUMN(NODE_NAME, "name", HT_STR, HT_MEASURE, "operator, annotation or kernel", NULL)      \
	COLUMN(NODE_KIND, "kind", HT_STR, HT_MEASURE, "op, process or thread", NULL)               \
	COLUMN(NODE_RF_ID, "rf_id", HT_U64, HT_MEASURE,                                            \
	        "record function id, which Kineto's events carry too", NULL)                       \
	COLUMN(NODE_TID, "tid", HT_U64, HT_MEASURE, "logical thread, from 1", NULL)                \
	COLUMN(NODE_SEQ_ID, "seq_id", HT_I64, HT_MEASURE,                                          \
	        "autograd sequence number, -1 when none", NULL)                                    \
	COLUMN(NODE_SCOPE, "scope", HT_U64, HT_DETAIL,                                             \
	        "record scope: 0 function, 1 backward, 7 user", NULL)                              \
	COLUMN(NODE_FW_PARENT, "fw_parent", HT_U64, HT_DETAIL,                                     \
	        "node around the call to backward, 0 when none", NULL)                             \
	COLUMN(NODE_FW_TID, "fw_tid", HT_U64, HT_DETAIL,                                           \
	        "thread of the forward operator, 0 when none", NULL)                               \
	COLUMN(NODE_OP_SCHEMA, "op_schema", HT_STR, HT_DETAIL, "schema of the operator", NULL)     \
	COLUMN(NODE_INPUTS, "inputs", HT_STR, HT_DETAIL, "values of the inputs", NULL)             \
	COLUMN(NODE_INPUT_SHAPES, "input_shapes", HT_STR, HT_MEASURE, "shapes of the inputs",      \
	        NULL)                                                                              \
	COLUMN(NODE_INPUT_TYPES, "input_types", HT_STR, HT_DETAIL, "types of the inputs", NULL)    \
	COLUMN(NODE_INPUT_STRIDES, "input_strides", HT_STR, HT_DETAIL, "strides of the inputs",    \
	        NULL)                                                                              \
	COLUMN(NODE_OUTPUTS, "outputs", HT_STR, HT_DETAIL, "values of the outputs", NULL)          \
	COLUMN(NODE_OUTPUT_SHAPES, "output_shapes", HT_STR, HT_DETAIL, "shapes of the outputs",    \
	        NULL)                                                                              \
	COLUMN(NODE_OUTPUT_TYPES, "output_types", HT_STR, HT_DETAIL, "types of the outputs", NULL) \
	COLUMN(NODE_OUTPUT_STRIDES, "output_strides", HT_STR, HT_DETAIL, "strides of the outputs", \
	        NULL)                                                                              \
	COLUMN(NODE_INPUT_TENSORS, "input_tensors", HT_STR, HT_DETAIL,                             \
	        "ids of the tensors that it takes", NULL)                                          \
	COLUMN(NODE_OUTPUT_TENSORS, "output_tensors", HT_STR, HT_DETAIL,                           \
	        "ids of the tensors that it gives", NULL)                                          \
	COLUMN(NODE_COLLECTIVE, "collective", HT_STR, HT_DETAIL, "collective that it records",     \
	        NULL)                                                                              \
	COLUMN(NODE_DTYPE, "dtype", HT_STR, HT_DETAIL, "data type of the collective", NULL)        \
	COLUMN(NODE_IN_MSG_NELEMS, "in_msg_nelems", HT_I64, HT_DETAIL,                             \
	        "elements that go into the collective", NULL)                                      \
	COLUMN(NODE_OUT_MSG_NELEMS, "out_msg_nelems", HT_I64, HT_DETAIL,                           \
	        "elements that come out of it", NULL)                                              \
	COLUMN(NODE_IN_SPLIT_SIZE, "in_split_size", HT_STR, HT_DETAIL,                             \
	        "elements per peer that go out", NULL)                                             \
	COLUMN(NODE_OUT_SPLIT_SIZE, "out_split_size", HT_STR, HT_DETAIL,                           \
	        "elements per peer that come in", NULL)                                            \
	COLUMN(NODE_GLOBAL_RANK_START, "global_rank_start", HT_I64, HT_DETAIL,                     \
	        "first rank of the group", NULL)                                                   \
	COLUMN(NODE_GLOBAL_RANK_STRIDE, "global_rank_stride", HT_I64, HT_DETAIL,                   \
	        "distance of its ranks", NULL)                                                     \
	COLUMN(NODE_PG_NAME, "pg_name", HT_STR, HT_DETAIL, "process group", NULL)                  \
	COLUMN(NODE_PG_DESC, "pg_desc", HT_STR, HT_DETAIL, "what the process group is for", NULL)  \
	COLUMN(NODE_PG_SIZE, "pg_size", HT_I64, HT_DETAIL, "ranks in the process group", NULL)     \
	COLUMN(NODE_KERNEL_BACKEND, "kernel_backend", HT_STR, HT_DETAIL,                           \
	        "triton for generated kernels", NULL)                                              \
	COLUMN(NODE_KERNEL_FILE, "kernel_file", HT_STR, HT_DETAIL, "file of a generated kernel",   \
	        NULL)                                                                              \
	COLUMN(NODE_TENSOR_RANGE, "tensor_range", HT_STR, HT_DETAIL,                               \
	        "least and greatest values of integral inputs", NULL)                              \
	COLUMN(NODE_OTHER_ATTRS, "other_attrs", HT_STR, HT_DETAIL,                                 \
	        "further attributes, as a JSON object", NULL)                                      \
	COLUMN(NODE_NODE_TYPE, "node_type", HT_STR, HT_DETAIL,                                     \
	        "of Chakra's files: what the node is", NULL)                                       \
	COLUMN(NODE_DATA_DEPS, "data_deps", HT_STR, HT_DETAIL,                                     \
	        "of Chakra's files: nodes that it waits for", NULL)                                \
	COLUMN(NODE_START_US, "start_us", HT_U64, HT_DETAIL, "of Chakra's files: start time",      \
	        "us")                                                                              \
	COLUMN(NODE_DURATION_US, "duration_us", HT_U64, HT_DETAIL, "of Chakra's files: duration",  \
	        "us")
HT_COLUMNS(node_columns, NODE_COLUMNS);

#define TENSOR_COLUMNS(COLUMN)                                                                     \
	COLUMN(TENSOR_RANK, "rank", HT_I64, HT_KEY, "rank of the execution trace", NULL)           \
	COLUMN(TENSOR_TENSOR, "tensor", HT_U64, HT_KEY, "tensor id", NULL)                         \
	COLUMN(TENSOR_STORAGE, "storage", HT_U64, HT_MEASURE, "storage id, 0 when it has none",    \
	        NULL)                                                                              \
	COLUMN(TENSOR_OFFSET, "offset", HT_U64, HT_DETAIL, "offset in the storage, in elements",   \
	        NULL)                                                                              \
	COLUMN(TENSOR_ELEMENTS, "elements", HT_U64, HT_MEASURE, "elements of the tensor", NULL)    \
	COLUMN(TENSOR_ITEM_BYTES, "item_bytes", HT_BYTES, HT_MEASURE, "bytes of an element", NULL) \
	COLUMN(TENSOR_DEVICE, "device", HT_STR, HT_MEASURE, "device", NULL)                        \
	COLUMN(TENSOR_DTYPE, "dtype", HT_STR, HT_MEASURE, "type of the elements", NULL)            \
	COLUMN(TENSOR_SHAPE, "shape", HT_STR, HT_MEASURE, "sizes", NULL)                           \
	COLUMN(TENSOR_STRIDES, "strides", HT_STR, HT_DETAIL, "strides", NULL)                      \
	COLUMN(TENSOR_NODE, "node", HT_U64, HT_KEY, "id of the node that takes or gives it", NULL) \
	COLUMN(TENSOR_NODE_NAME, "node_name", HT_STR, HT_MEASURE, "name of that node", NULL)       \
	COLUMN(TENSOR_USE, "use", HT_STR, HT_KEY, "input or output", NULL)                         \
	COLUMN(TENSOR_ARGUMENT, "argument", HT_I64, HT_KEY, "which argument of the node, from 0",  \
	        NULL)
HT_COLUMNS(tensor_columns, TENSOR_COLUMNS);

#define GROUP_COLUMNS(COLUMN)                                                                      \
	COLUMN(GROUP_RANK, "rank", HT_I64, HT_KEY, "rank of the execution trace", NULL)            \
	COLUMN(GROUP_PG_NAME, "pg_name", HT_STR, HT_KEY, "name of the process group", NULL)        \
	COLUMN(GROUP_PG_DESC, "pg_desc", HT_STR, HT_MEASURE, "what it is for", NULL)               \
	COLUMN(GROUP_BACKEND, "backend", HT_STR, HT_MEASURE, "backends by device", NULL)           \
	COLUMN(GROUP_SIZE, "size", HT_I64, HT_MEASURE, "ranks in it", NULL)                        \
	COLUMN(GROUP_RANKS, "ranks", HT_STR, HT_MEASURE, "its ranks; an empty list means all",     \
	        NULL)                                                                              \
	COLUMN(GROUP_GROUPS, "groups", HT_I64, HT_DETAIL,                                          \
	        "how many groups there were when it was recorded", NULL)                           \
	COLUMN(GROUP_COLLECTIVES, "collectives", HT_I64, HT_MEASURE,                               \
	        "nodes that record a collective of it", NULL)
HT_COLUMNS(group_columns, GROUP_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "nodes", node_columns, HT_COUNT(node_columns) },
	{ "tensors", tensor_columns, HT_COUNT(tensor_columns) },
	{ "groups", group_columns, HT_COUNT(group_columns) },
};

static const struct ht_param params[] = {
	{ "et", HT_STR, NULL, "execution traces: files, folders or RANK=FILE, one per line", NULL },
	{ "view", HT_STR, "nodes", "nodes, the tensors that they use, or process groups",
	        "nodes|tensors|groups" },
	{ "ancestors-of", HT_I64, NULL, "only this node and those around it", NULL },
	{ "descendants-of", HT_I64, NULL, "only this node and those inside it", NULL },
	{ "producers-of", HT_I64, NULL, "only nodes that give this tensor", NULL },
	{ "consumers-of", HT_I64, NULL, "only nodes that take this tensor", NULL },
};

const struct ht_analysis ht_analysis_et_nodes = {
	.info = {
		.name = "et-nodes",
		.group = "execution traces",
		.title = "Nodes of execution traces",
		.question = "Which operators were recorded, with which arguments, tensors and process groups?",
		.method = "The nodes as recorded, one per row, in file order unless sorted.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.lists_events = true,
		.input_param = "et",
		.files = "et",
	},
	.per_rank = list_rank,
	.finish = finish,
};

struct listing {
	struct ht_run *run;
	ht_table *table;
	const struct ht_et *et;
	int64_t rank;
};

/* ---- which nodes ---- */

/* What a node must be to be shown, one bit each. */
enum wanted { INSIDE = 1, AROUND = 2, PRODUCER = 4, CONSUMER = 8 };

/* A node and all below it; a list of open ones instead of recursion, for trees may be deep. */
static enum ht_status mark_inside(const struct listing *l, uint32_t from, uint8_t *marks)
{
	uint32_t *open = ht_arena_alloc(l->run->scratch, (ht_et_n(l->et) + 1) * sizeof *open);
	size_t n = 0;
	if (!open)
		return ht_fail_nomem(l->run->ctx);
	marks[from] |= INSIDE;
	open[n++] = from;
	while (n) {
		uint32_t row = open[--n];
		for (uint32_t i = l->et->first_child[row]; i < l->et->first_child[row + 1]; i++) {
			uint32_t child = l->et->children[i];
			if (marks[child] & INSIDE)
				continue;
			marks[child] |= INSIDE;
			open[n++] = child;
		}
	}
	return HT_OK;
}

static void mark_around(const struct listing *l, uint32_t from, uint8_t *marks)
{
	const struct ht_et_node *nodes = ht_et_nodes(l->et);
	for (uint32_t row = from; row != HT_ET_NONE && !(marks[row] & AROUND);
	        row = nodes[row].parent)
		marks[row] |= AROUND;
}

static void mark_users(const struct listing *l, uint64_t tensor, bool of_outputs, uint8_t *marks)
{
	const struct ht_et_tensor *tensors = l->et->tensors.data;
	for (uint32_t row = 0; row < ht_et_n(l->et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(l->et)[row];
		uint32_t first = node->first_tensor + (of_outputs ? node->n_in : 0);
		uint32_t n = of_outputs ? node->n_out : node->n_in;
		for (uint32_t i = first; i < first + n; i++)
			if (tensors[i].id == tensor)
				marks[row] |= of_outputs ? PRODUCER : CONSUMER;
	}
}

static enum ht_status mark_nodes(const struct listing *l, uint8_t *marks, unsigned *ret_wanted)
{
	static const char *const names[] = { "descendants-of", "ancestors-of", "producers-of",
		"consumers-of" };
	*ret_wanted = 0;
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		if (!ht_run_str(l->run, names[i]))
			continue;
		uint64_t id = (uint64_t)ht_run_i64(l->run, names[i]);
		uint32_t row = i < 2 ? ht_et_find(l->et, id) : HT_ET_NONE;
		*ret_wanted |= 1u << i;
		if (i >= 2)
			mark_users(l, id, i == 2, marks);
		else if (row == HT_ET_NONE)
			continue;
		else if (i == 0)
			HT_TRY(mark_inside(l, row, marks));
		else
			mark_around(l, row, marks);
	}
	return HT_OK;
}

/* ---- cells ---- */

static void put_text(const struct listing *l, size_t column, uint32_t id)
{
	ht_table_put_str(l->table, column, id == HT_ET_NO_STR ? NULL : ht_et_str(l->et, id));
}

static void put_number(const struct listing *l, size_t column, const struct ht_et_node *node,
        unsigned flag, uint64_t value)
{
	if (node->flags & flag)
		ht_table_put_i64(l->table, column, (int64_t)value);
	else
		ht_table_put_null(l->table, column);
}

/* "[7,9]": ids that stand in memory each_bytes apart. */
static void put_ids(
        const struct listing *l, size_t column, const void *ids, size_t each_bytes, size_t n)
{
	char *text = ht_arena_alloc(l->run->scratch, 22 * n + 3), *at = text;
	if (!text) {
		ht_table_put_null(l->table, column);
		return;
	}
	*at++ = '[';
	for (size_t i = 0; i < n; i++) {
		uint64_t id;
		memcpy(&id, (const char *)ids + i * each_bytes, sizeof id);
		at += snprintf(at, 22, "%s%" PRIu64, i ? "," : "", id);
	}
	*at++ = ']';
	ht_table_put_strn(l->table, column, text, (size_t)(at - text));
}

static const char *const comm_attrs[] = { "collective_name", "dtype", "in_msg_nelems",
	"out_msg_nelems", "in_split_size", "out_split_size", "global_rank_start",
	"global_rank_stride", "pg_name", "pg_desc", "pg_size" };

static void put_comm(const struct listing *l, uint32_t row)
{
	static const bool is_number[HT_COUNT(comm_attrs)] = { false, false, true, true, false,
		false, true, true, false, false, true };
	for (size_t i = 0; i < HT_COUNT(comm_attrs); i++) {
		size_t n;
		int64_t number;
		const char *text = ht_et_attr_text(l->et, row, comm_attrs[i], &n);
		const char *decoded = text && memchr(text, '\\', n)
		                              ? ht_et_decode(l->run->scratch, text - 1, n + 2)
		                              : NULL;
		if (decoded && !is_number[i])
			ht_table_put_str(l->table, NODE_COLLECTIVE + i, decoded);
		else if (text && !is_number[i])
			ht_table_put_strn(l->table, NODE_COLLECTIVE + i, text, n);
		else if (text && ht_et_attr_i64(l->et, row, comm_attrs[i], &number))
			ht_table_put_i64(l->table, NODE_COLLECTIVE + i, number);
		else
			ht_table_put_null(l->table, NODE_COLLECTIVE + i);
	}
}

/* Attributes without a column, as an object. */
static void put_others(const struct listing *l, const struct ht_et_node *node)
{
	const struct ht_et_attr *attrs = ht_et_attrs_of(l->et, node);
	size_t n_bytes = 3, n = 0;
	for (uint32_t i = 0; i < node->n_attrs; i++)
		n_bytes += HT_JSON_ESCAPE_BYTES * ht_et_str_len(l->et, attrs[i].name) +
		           ht_et_str_len(l->et, attrs[i].value) + 8;
	char *text = ht_arena_alloc(l->run->scratch, n_bytes), *at = text;
	for (uint32_t i = 0; text && i < node->n_attrs; i++) {
		const char *name = ht_et_str(l->et, attrs[i].name);
		bool known = false;
		for (size_t k = 0; k < HT_COUNT(comm_attrs); k++)
			known |= !strcmp(name, comm_attrs[k]);
		if (known)
			continue;
		at += snprintf(at, n_bytes - (size_t)(at - text), n++ ? ", \"" : "{\"");
		at = ht_json_escape_text(at, name);
		at += snprintf(at, n_bytes - (size_t)(at - text), "\": %s",
		        ht_et_str(l->et, attrs[i].value));
	}
	if (n) {
		*at++ = '}';
		ht_table_put_strn(l->table, NODE_OTHER_ATTRS, text, (size_t)(at - text));
	} else {
		ht_table_put_null(l->table, NODE_OTHER_ATTRS);
	}
}

static void put_chakra(const struct listing *l, uint32_t row)
{
	static const char *const types[] = { "invalid", "metadata", "mem_load", "mem_store", "comp",
		"send", "recv", "coll" };
	if (row >= l->et->chakra.n) {
		ht_table_put_nulls_to_end(l->table, NODE_NODE_TYPE);
		return;
	}
	const struct ht_et_chakra *c = (const struct ht_et_chakra *)l->et->chakra.data + row;
	const uint64_t *deps = l->et->deps.data;
	ht_table_put_str(
	        l->table, NODE_NODE_TYPE, c->type < HT_COUNT(types) ? types[c->type] : "unknown");
	put_ids(l, NODE_DATA_DEPS, deps ? deps + c->first_dep : NULL, sizeof *deps, c->n_deps);
	ht_table_put_i64(l->table, NODE_START_US, (int64_t)c->start_us);
	ht_table_put_i64(l->table, NODE_DURATION_US, (int64_t)c->dur_us);
}

static void put_io(const struct listing *l, size_t column, const struct ht_et_io *io)
{
	put_text(l, column, io->values);
	put_text(l, column + 1, io->shapes);
	put_text(l, column + 2, io->types);
	put_text(l, column + 3, io->strides);
}

static void put_node(const struct listing *l, uint32_t row)
{
	static const char *const kinds[] = { "op", "process", "thread" };
	const struct ht_et_node *node = &ht_et_nodes(l->et)[row];
	const struct ht_et_tensor *tensors = ht_et_tensors_of(l->et, node);
	ht_table_row(l->table);
	ht_table_put_i64(l->table, NODE_RANK, l->rank);
	put_number(l, NODE_ID, node, HT_ET_ID, node->id);
	put_number(l, NODE_PARENT, node, HT_ET_PARENT, node->parent_id);
	put_text(l, NODE_NAME, node->name);
	ht_table_put_str(l->table, NODE_KIND, kinds[ht_et_kind(l->et, row)]);
	put_number(l, NODE_RF_ID, node, HT_ET_RF_ID, node->rf_id);
	put_number(l, NODE_TID, node, HT_ET_TID, node->tid);
	put_number(l, NODE_SEQ_ID, node, HT_ET_SEQ_ID, (uint64_t)node->seq_id);
	put_number(l, NODE_SCOPE, node, HT_ET_SCOPE, node->scope);
	put_number(l, NODE_FW_PARENT, node, HT_ET_FW_PARENT, node->fw_parent);
	put_number(l, NODE_FW_TID, node, HT_ET_FW_TID, node->fw_tid);
	put_text(l, NODE_OP_SCHEMA, node->op_schema);
	put_io(l, NODE_INPUTS, &node->in);
	put_io(l, NODE_OUTPUTS, &node->out);
	put_ids(l, NODE_INPUT_TENSORS, tensors, sizeof *tensors, node->n_in);
	put_ids(l, NODE_OUTPUT_TENSORS, tensors ? tensors + node->n_in : NULL, sizeof *tensors,
	        node->n_out);
	put_comm(l, row);
	put_text(l, NODE_KERNEL_BACKEND, node->kernel_backend);
	put_text(l, NODE_KERNEL_FILE, node->kernel_file);
	put_text(l, NODE_TENSOR_RANGE, node->tensor_range);
	put_others(l, node);
	put_chakra(l, row);
}

/* ---- tensors and groups ---- */

struct tensor_rows {
	const struct listing *l;
	const struct ht_et_node *node;
	bool of_outputs;
};

static void put_piece(ht_table *table, size_t column, struct ht_et_piece piece)
{
	if (piece.text)
		ht_table_put_strn(table, column, piece.text, piece.n);
	else
		ht_table_put_null(table, column);
}

static bool put_tensor(void *user, const struct ht_et_arg *arg)
{
	const struct tensor_rows *rows = user;
	ht_table *table = rows->l->table;
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	if (!arg->value.text || !ht_et_tensor_parse(arg->value.text, &tensor, &device, &n_fields))
		return true;
	ht_table_row(table);
	ht_table_put_i64(table, TENSOR_RANK, rows->l->rank);
	ht_table_put_i64(table, TENSOR_TENSOR, (int64_t)tensor.id);
	ht_table_put_i64(table, TENSOR_STORAGE, (int64_t)tensor.storage);
	ht_table_put_i64(table, TENSOR_OFFSET, (int64_t)tensor.offset);
	ht_table_put_i64(table, TENSOR_ELEMENTS, (int64_t)tensor.numel);
	ht_table_put_i64(table, TENSOR_ITEM_BYTES, (int64_t)tensor.itemsize);
	put_piece(table, TENSOR_DEVICE, device);
	put_piece(table, TENSOR_DTYPE, arg->type.inner);
	put_piece(table, TENSOR_SHAPE, arg->shape);
	put_piece(table, TENSOR_STRIDES, arg->stride);
	ht_table_put_i64(table, TENSOR_NODE, (int64_t)rows->node->id);
	ht_table_put_str(table, TENSOR_NODE_NAME, ht_et_str(rows->l->et, rows->node->name));
	ht_table_put_str(table, TENSOR_USE, rows->of_outputs ? "output" : "input");
	ht_table_put_i64(table, TENSOR_ARGUMENT, (int64_t)arg->index);
	return true;
}

static void put_tensors(const struct listing *l, uint32_t row)
{
	const struct ht_et_node *node = &ht_et_nodes(l->et)[row];
	struct tensor_rows in = { l, node, false }, out = { l, node, true };
	if (node->n_in)
		ht_et_each_tensor(l->et, &node->in, put_tensor, &in);
	if (node->n_out)
		ht_et_each_tensor(l->et, &node->out, put_tensor, &out);
}

/* How often each text is the value of a pg_name, by string id. */
static enum ht_status count_groups(const struct listing *l, uint32_t **ret_counts)
{
	const struct ht_et *et = l->et;
	const struct ht_et_attr *attrs = et->attrs.data;
	uint32_t *counts = ht_arena_alloc(l->run->scratch, (et->pool.texts.n + 1) * sizeof *counts);
	if (!counts)
		return ht_fail_nomem(l->run->ctx);
	for (size_t i = 0; i < et->attrs.n; i++)
		if (!strcmp(ht_et_str(et, attrs[i].name), "pg_name"))
			counts[attrs[i].value]++;
	*ret_counts = counts;
	return HT_OK;
}

static int64_t count_of(const struct listing *l, const uint32_t *counts, const char *name)
{
	char *quoted = ht_arena_printf(l->run->scratch, "\"%s\"", name ? name : "");
	size_t n = quoted ? strlen(quoted) : 0;
	const struct ht_text *text = ht_pool_find(&l->et->pool, quoted, n, ht_hash(quoted, n));
	return text ? counts[text->id] : 0;
}

static enum ht_status put_groups(const struct listing *l)
{
	struct ht_et_groups groups;
	ht_table *table = l->table;
	uint32_t *counts = NULL;
	HT_TRY(count_groups(l, &counts));
	HT_TRY(ht_et_groups_find(l->run->ctx, l->et, l->run->scratch, &groups));
	for (size_t i = 0; i < groups.n; i++) {
		const struct ht_et_group *group = &groups.list[i];
		ht_table_row(table);
		ht_table_put_i64(table, GROUP_RANK, l->rank);
		ht_table_put_str(table, GROUP_PG_NAME, group->name);
		ht_table_put_str(table, GROUP_PG_DESC, group->description);
		ht_table_put_str(table, GROUP_BACKEND, group->backend);
		ht_table_put_known(table, GROUP_SIZE, group->size, -1);
		ht_table_put_str(table, GROUP_RANKS, group->ranks);
		ht_table_put_known(table, GROUP_GROUPS, group->count, -1);
		ht_table_put_i64(table, GROUP_COLLECTIVES, count_of(l, counts, group->name));
	}
	return HT_OK;
}

/* ---- the whole ---- */

static enum ht_status put_et(void *user, const struct ht_et *et, int64_t rank)
{
	struct listing l = *(const struct listing *)user;
	bool tensors = ht_run_is(l.run, "view", "tensors");
	unsigned wanted = 0;
	l.et = et;
	l.rank = rank;
	for (int code = 0; code < HT_ET_N_STATS; code++)
		if (et->stats[code].count)
			HT_TRY(ht_table_add_warning(l.table, "%s: %llu %s (first at byte %lld)",
			        et->path, (unsigned long long)et->stats[code].count,
			        ht_et_stat_info((enum ht_et_stat_code)code)->sentence,
			        (long long)et->stats[code].first_offset));
	if (ht_run_is(l.run, "view", "groups"))
		return put_groups(&l);
	uint8_t *marks = ht_arena_alloc(l.run->scratch, ht_et_n(et) + 1);
	if (!marks)
		return ht_fail_nomem(l.run->ctx);
	HT_TRY(mark_nodes(&l, marks, &wanted));
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		if (marks[row] == wanted)
			(tensors ? put_tensors : put_node)(&l, row);
	return HT_OK;
}

static enum ht_status list_rank(struct ht_run *run, struct ht_part *part)
{
	struct listing l = { .run = run, .table = part->facts[0] };
	struct ht_et *et;
	HT_TRY(ht_et_take(run, false, &et));
	if (!et)
		return HT_OK;
	enum ht_status status = put_et(&l, et, run->rank);
	ht_et_free(et);
	return status;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const char *list = ht_run_str(run, "et");
	struct listing l = { .run = run, .table = table };
	if (!list)
		return ht_table_add_note(table, "no execution trace was given");
	return run->n_sets ? ht_et_finish_ranks(run, parts, table)
	                   : ht_et_each(run->ctx, list, false, run->scratch, put_et, &l);
}
