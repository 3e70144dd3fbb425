/*
 * nodes.c - see nodes.h.
 */
#include "record/nodes.h"

#include "base/hash.h"

#define PROCESS_NODE 1

/* ---- ids --------------------------------------------------------------------------------------- */

static bool grow_ids(struct ht_mem *mem, struct ht_ids *ids)
{
	struct ht_ids grown = { .cap = ids->cap ? ids->cap * 2 : 1024 };
	grown.keys = ht_mem_zalloc(mem, grown.cap * sizeof *grown.keys);
	grown.ids = ht_mem_alloc(mem, grown.cap * sizeof *grown.ids);
	if (!grown.keys || !grown.ids) {
		ht_mem_free(mem, grown.keys, grown.cap * sizeof *grown.keys);
		ht_mem_free(mem, grown.ids, grown.cap * sizeof *grown.ids);
		return false;
	}
	for (size_t i = 0; i < ids->cap; i++) {
		if (!ids->keys[i])
			continue;
		size_t j = ht_hash_u64(ids->keys[i]) & (grown.cap - 1);
		while (grown.keys[j])
			j = (j + 1) & (grown.cap - 1);
		grown.keys[j] = ids->keys[i];
		grown.ids[j] = ids->ids[i];
		grown.n++;
	}
	ht_mem_free(mem, ids->keys, ids->cap * sizeof *ids->keys);
	ht_mem_free(mem, ids->ids, ids->cap * sizeof *ids->ids);
	*ids = grown;
	return true;
}

/* The id of an address, a new one when it is met first. */
static bool id_of(struct ht_nodes *nodes, uint64_t address, uint64_t *ret_id)
{
	struct ht_ids *ids = &nodes->ids;
	if (ids->n * 2 >= ids->cap && !grow_ids(nodes->ctx->mem, ids))
		return false;
	/* 0 marks a free slot, so it stands for itself at another place. */
	uint64_t key = address ? address : UINT64_MAX;
	size_t i = ht_hash_u64(key) & (ids->cap - 1);
	while (ids->keys[i] && ids->keys[i] != key)
		i = (i + 1) & (ids->cap - 1);
	if (!ids->keys[i] || !ids->ids[i]) {
		ids->n += !ids->keys[i];
		ids->keys[i] = key;
		ids->ids[i] = ++nodes->n_ids;
	}
	*ret_id = ids->ids[i];
	return true;
}

/* The next one at this address is another. */
static void forget(void *user, uint64_t address)
{
	struct ht_nodes *nodes = user;
	struct ht_ids *ids = &nodes->ids;
	uint64_t key = address ? address : UINT64_MAX;
	for (size_t i = ids->cap ? ht_hash_u64(key) & (ids->cap - 1) : 0; ids->cap && ids->keys[i];
	        i = (i + 1) & (ids->cap - 1))
		if (ids->keys[i] == key)
			ids->ids[i] = 0;
}

static bool number_tensors(struct ht_nodes *nodes)
{
	struct ht_value *v = nodes->values.list.data;
	for (size_t i = 0; i < nodes->values.list.n; i++) {
		if (v[i].kind != HT_RECORD_TENSOR && v[i].kind != HT_RECORD_UNDEFINED)
			continue;
		if (!id_of(nodes, v[i].object, &v[i].object_id))
			return false;
		v[i].storage_id = 0;
		if (v[i].storage && !id_of(nodes, v[i].storage, &v[i].storage_id))
			return false;
	}
	return true;
}

/* ---- text -------------------------------------------------------------------------------------- */

static enum ht_status keep_scratch(void *user, const void *bytes, size_t n)
{
	struct ht_nodes *nodes = user;
	struct ht_vec *to = nodes->scratch_to;
	if (!ht_vec_reserve(nodes->ctx->mem, to, 1, n))
		return ht_fail_nomem(nodes->ctx);
	memcpy((char *)to->data + to->n, bytes, n);
	to->n += n;
	return HT_OK;
}

static void emit_io(struct ht_emit *emit, struct ht_nodes *nodes)
{
	HT_EMIT(emit, "{\"values\": ");
	ht_values_emit(emit, &nodes->values, &nodes->style);
	HT_EMIT(emit, ", \"shapes\": ");
	ht_values_emit_shapes(emit, &nodes->values);
	HT_EMIT(emit, ", \"types\": ");
	ht_values_emit_types(emit, &nodes->values, &nodes->style);
	HT_EMIT(emit, ", \"strides\": ");
	ht_values_emit_strides(emit, &nodes->values);
	ht_emit_char(emit, '}');
}

static void emit_name(struct ht_nodes *nodes, uint64_t number)
{
	struct ht_name name = ht_image_name(nodes->style.image, number);
	ht_emit_text(nodes->out, name.bytes, name.n);
}

static void emit_attributes(struct ht_nodes *nodes, const struct ht_op *op, uint64_t thread)
{
	struct ht_emit *out = nodes->out;
	HT_EMIT(out, "        \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": ");
	ht_emit_u64(out, op->record_id);
	HT_EMIT(out, "},{\"name\": \"fw_parent\", \"type\": \"uint64\", \"value\": ");
	ht_emit_u64(out, op->forward_node);
	HT_EMIT(out, "},{\"name\": \"seq_id\", \"type\": \"int64\", \"value\": ");
	ht_emit_i64(out, op->sequence);
	HT_EMIT(out, "},{\"name\": \"scope\", \"type\": \"uint64\", \"value\": ");
	ht_emit_u64(out, op->scope);
	HT_EMIT(out, "},{\"name\": \"tid\", \"type\": \"uint64\", \"value\": ");
	ht_emit_u64(out, thread);
	HT_EMIT(out, "},{\"name\": \"fw_tid\", \"type\": \"uint64\", \"value\": ");
	ht_emit_u64(out, op->forward_thread);
	HT_EMIT(out, "},{\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"");
	emit_name(nodes, op->schema);
	HT_EMIT(out, "\"},{\"name\": \"kernel_backend\", \"type\": \"string\", \"value\": \"");
	emit_name(nodes, op->kernel_backend);
	HT_EMIT(out, "\"},{\"name\": \"kernel_file\", \"type\": \"string\", \"value\": \"");
	emit_name(nodes, op->kernel_file);
	HT_EMIT(out, "\"},{\"name\": \"tensor_range\", \"type\": \"string\", \"value\": \"");
	emit_name(nodes, op->tensor_range);
	HT_EMIT(out, "\"}");
}

/* What the program added: {"name": .., "type": .., "value": ..} each. */
static void emit_more_attributes(struct ht_nodes *nodes, struct ht_bytes *bytes)
{
	struct ht_emit *out = nodes->out;
	uint64_t n = ht_get_u64(bytes);
	for (uint64_t i = 0; i < n && !bytes->bad; i++) {
		bool is_text = ht_get_byte(bytes) != 0;
		HT_EMIT(out, ",{\"name\": \"");
		emit_name(nodes, ht_get_u64(bytes));
		if (is_text) {
			uint64_t n_text = ht_get_u64(bytes);
			const char *text = ht_get_raw(bytes, n_text);
			HT_EMIT(out, "\", \"type\": \"string\", \"value\": ");
			ht_emit_any(out, text ? text : "", text ? (size_t)n_text : 0);
		} else {
			HT_EMIT(out, "\", \"type\": \"uint64\", \"value\": ");
			ht_emit_i64(out, ht_get_i64(bytes));
		}
		ht_emit_char(out, '}');
	}
}

static void emit_node_head(struct ht_emit *out, uint64_t id, struct ht_name name, uint64_t parent)
{
	HT_EMIT(out, "      {\n        \"id\": ");
	ht_emit_u64(out, id);
	HT_EMIT(out, ", \"name\": \"");
	ht_emit_text(out, name.bytes, name.n);
	HT_EMIT(out, "\", \"ctrl_deps\": ");
	ht_emit_u64(out, parent);
	HT_EMIT(out, ",\n        \"inputs\": ");
}

/* A node that is no call: the process, or a thread. */
static void emit_special(
        struct ht_nodes *nodes, uint64_t id, struct ht_name name, uint64_t parent, uint64_t thread)
{
	static const struct ht_op none = { .scope = HT_RECORD_ANNOTATION, .sequence = -1 };
	static const char empty[] = "{\"values\": [], \"shapes\": [], \"types\": [], \"strides\": []}";
	struct ht_emit *out = nodes->out;
	emit_node_head(out, id, name, parent);
	ht_emit_text(out, empty, sizeof empty - 1);
	HT_EMIT(out, ",\n        \"outputs\": ");
	ht_emit_text(out, empty, sizeof empty - 1);
	HT_EMIT(out, ",\n");
	emit_attributes(nodes, &none, thread);
	HT_EMIT(out, "]\n      }");
}

static const char thread_name[] = "[pytorch|profiler|execution_trace|thread]";
static const char process_name[] = "[pytorch|profiler|execution_trace|process]";

static enum ht_status begin(void *user, struct ht_replay *replay, struct ht_op *op)
{
	struct ht_nodes *nodes = user;
	struct ht_replay_thread *thread = ht_replay_thread(replay, op->i_thread);
	if (!thread->node) {
		thread->node = ++nodes->n_ids;
		struct ht_name name = { thread_name, sizeof thread_name - 1 };
		emit_special(nodes, thread->node, name, PROCESS_NODE, thread->number);
		HT_EMIT(nodes->out, ",\n");
	}
	const struct ht_op *parent = ht_replay_top(thread);
	op->node = ++nodes->n_ids;
	op->parent_node = parent ? parent->node : thread->node;
	if (op->forward_thread) {
		const struct ht_replay_thread *f = ht_replay_find(replay, op->forward_thread);
		const struct ht_op *top = f ? ht_replay_top(f) : NULL;
		op->forward_node = top ? top->node : f ? f->node : 0;
	}
	struct ht_bytes inputs = op->inputs;
	if (!ht_values_read(&nodes->values, &inputs) || !number_tensors(nodes))
		return ht_fail_nomem(nodes->ctx);
	nodes->scratch_to = &op->text;
	emit_io(&nodes->scratch, nodes);
	ht_emit_drain(&nodes->scratch);
	return nodes->scratch.status;
}

static enum ht_status end(
        void *user, struct ht_replay *replay, struct ht_op *op, struct ht_bytes *outputs)
{
	struct ht_nodes *nodes = user;
	struct ht_emit *out = nodes->out;
	if (!ht_values_read(&nodes->values, outputs) || !number_tensors(nodes))
		return ht_fail_nomem(nodes->ctx);
	emit_node_head(out, op->node, ht_image_name(nodes->style.image, op->name), op->parent_node);
	ht_emit_text(out, op->text.data, op->text.n);
	HT_EMIT(out, ",\n        \"outputs\": ");
	emit_io(out, nodes);
	HT_EMIT(out, ",\n");
	emit_attributes(nodes, op, ht_replay_thread(replay, op->i_thread)->number);
	emit_more_attributes(nodes, outputs);
	HT_EMIT(out, "]\n      },\n");
	return out->status;
}

enum ht_status ht_nodes_init(
        struct ht_nodes *nodes, const struct ht_image *image, struct ht_emit *out)
{
	*nodes = (struct ht_nodes){ .ctx = image->ctx,
		.out = out,
		.values.mem = image->ctx->mem,
		.style = { image, (image->header->flags & HT_RECORD_EXACT_DOUBLES) != 0 },
		.n_ids = PROCESS_NODE };
	return ht_emit_init(&nodes->scratch, image->ctx, keep_scratch, nodes);
}

void ht_nodes_done(struct ht_nodes *nodes)
{
	struct ht_mem *mem = nodes->ctx->mem;
	nodes->scratch.n = 0;
	(void)!ht_emit_done(&nodes->scratch);
	ht_values_done(&nodes->values);
	ht_mem_free(mem, nodes->ids.keys, nodes->ids.cap * sizeof *nodes->ids.keys);
	ht_mem_free(mem, nodes->ids.ids, nodes->ids.cap * sizeof *nodes->ids.ids);
}

struct ht_replay_sink ht_nodes_sink(struct ht_nodes *nodes)
{
	return (struct ht_replay_sink){ .user = nodes, .begin = begin, .end = end, .freed = forget };
}

void ht_nodes_head(struct ht_nodes *nodes)
{
	const struct ht_part_header *header = nodes->style.image->header;
	struct ht_emit *out = nodes->out;
	HT_EMIT(out, "{\n  \"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": ");
	ht_emit_i64(out, header->pid);
	HT_EMIT(out, ", \"time\": ");
	ht_emit_string(out, header->time, strlen(header->time));
	HT_EMIT(out, ", \"start_ts\": ");
	ht_emit_i64(out, header->start_ns / 1000000);
	HT_EMIT(out, ",\n  \"nodes\": [\n");
}

void ht_nodes_tail(struct ht_nodes *nodes, int64_t finish_ns)
{
	struct ht_emit *out = nodes->out;
	struct ht_name name = { process_name, sizeof process_name - 1 };
	emit_special(nodes, PROCESS_NODE, name, PROCESS_NODE, 0);
	HT_EMIT(out, "\n  ],\n  \"finish_ts\": ");
	ht_emit_i64(out, finish_ns / 1000000);
	HT_EMIT(out, "\n}\n");
}
