/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - see nodes.h.
 */
#include "record/nodes.h"

#include "record/any_text.h"

#define PROCESS_NODE 1

#define FIXED_BYTES  1024 /* of a node: everything but names, values and added attributes */

static const char thread_name[] = "[pytorch|profiler|execution_trace|thread]";
static const char process_name[] = "[pytorch|profiler|execution_trace|process]";

/* Room for n bytes, in the output's buffer when it can hold them. NULL when out of memory. */
static char *make_room(struct ht_nodes *nodes, size_t n)
{
	struct ht_emit *out = nodes->out;
	if (n <= out->cap) {
		if (out->cap - out->n < n)
			ht_emit_drain(out);
		return out->bytes + out->n;
	}
	nodes->large.n = 0;
	return ht_vec_reserve(nodes->ctx->mem, &nodes->large, 1, n) ? nodes->large.data : NULL;
}

/* What was written into the room goes out. */
static enum ht_status keep_room(struct ht_nodes *nodes, const char *start, const char *end)
{
	if (start == nodes->large.data)
		ht_emit_text(nodes->out, start, (size_t)(end - start));
	else
		nodes->out->n += (size_t)(end - start);
	return nodes->out->status;
}

static char *put_head(char *at, uint64_t id, struct ht_name name, uint64_t parent)
{
	at = HT_PUT(at, "{\"id\":");
	at = ht_put_number(at, (int64_t)id);
	at = HT_PUT(at, ",\"name\":\"");
	at = ht_put_name(at, name);
	at = HT_PUT(at, "\",\"ctrl_deps\":");
	at = ht_put_number(at, (int64_t)parent);
	return HT_PUT(at, ",\"inputs\":");
}

/* The ten attributes that every node has, in their order. */
static char *put_attributes(
        char *at, const struct ht_image *image, const struct ht_op *op, uint64_t thread)
{
	at = HT_PUT(at, ",\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":");
	at = ht_put_number(at, (int64_t)op->record_id);
	at = HT_PUT(at, "},{\"name\":\"fw_parent\",\"type\":\"uint64\",\"value\":");
	at = ht_put_number(at, (int64_t)op->forward_node);
	at = HT_PUT(at, "},{\"name\":\"seq_id\",\"type\":\"int64\",\"value\":");
	at = ht_put_number(at, op->sequence);
	at = HT_PUT(at, "},{\"name\":\"scope\",\"type\":\"uint64\",\"value\":");
	at = ht_put_number(at, op->scope);
	at = HT_PUT(at, "},{\"name\":\"tid\",\"type\":\"uint64\",\"value\":");
	at = ht_put_number(at, (int64_t)thread);
	at = HT_PUT(at, "},{\"name\":\"fw_tid\",\"type\":\"uint64\",\"value\":");
	at = ht_put_number(at, (int64_t)op->forward_thread);
	at = HT_PUT(at, "},{\"name\":\"op_schema\",\"type\":\"string\",\"value\":\"");
	at = ht_put_name(at, ht_image_name(image, op->schema));
	at = HT_PUT(at, "\"},{\"name\":\"kernel_backend\",\"type\":\"string\",\"value\":\"");
	at = ht_put_name(at, ht_image_name(image, op->kernel_backend));
	at = HT_PUT(at, "\"},{\"name\":\"kernel_file\",\"type\":\"string\",\"value\":\"");
	at = ht_put_name(at, ht_image_name(image, op->kernel_file));
	at = HT_PUT(at, "\"},{\"name\":\"tensor_range\",\"type\":\"string\",\"value\":\"");
	at = ht_put_name(at, ht_image_name(image, op->tensor_range));
	return HT_PUT(at, "\"}");
}

/* What the program added: {"name":..,"type":..,"value":..} each. */
static void emit_more_attributes(struct ht_nodes *nodes, struct ht_bytes *bytes)
{
	struct ht_emit *out = nodes->out;
	uint64_t n = ht_get_u64(bytes);
	for (uint64_t i = 0; i < n && !bytes->bad; i++) {
		bool is_text = ht_get_byte(bytes) != 0;
		struct ht_name name = ht_image_name(nodes->image, ht_get_u64(bytes));
		HT_EMIT(out, ",{\"name\":\"");
		ht_emit_text(out, name.bytes, name.n);
		if (is_text) {
			uint64_t n_text = ht_get_u64(bytes);
			const char *text = ht_get_raw(bytes, n_text);
			HT_EMIT(out, "\",\"type\":\"string\",\"value\":");
			ht_emit_any(out, text ? text : "", text ? (size_t)n_text : 0);
		} else {
			HT_EMIT(out, "\",\"type\":\"uint64\",\"value\":");
			ht_emit_i64(out, ht_get_i64(bytes));
		}
		ht_emit_char(out, '}');
	}
}

/* A node that is no call: the process, or a thread. */
static enum ht_status emit_special(
        struct ht_nodes *nodes, uint64_t id, struct ht_name name, uint64_t parent, uint64_t thread)
{
	static const struct ht_op none = { .scope = HT_RECORD_ANNOTATION, .sequence = -1 };
	char *start = make_room(nodes, FIXED_BYTES), *at = put_head(start, id, name, parent);
	at = HT_PUT(at, "{\"values\":[],\"shapes\":[],\"types\":[],\"strides\":[]},\"outputs\":");
	at = HT_PUT(at, "{\"values\":[],\"shapes\":[],\"types\":[],\"strides\":[]}");
	at = put_attributes(at, nodes->image, &none, thread);
	at = HT_PUT(at, "]}");
	return keep_room(nodes, start, at);
}

static enum ht_status name_thread(struct ht_nodes *nodes, struct ht_replay_thread *thread)
{
	struct ht_name name = { thread_name, sizeof thread_name - 1 };
	thread->node = ++nodes->ids.n_given;
	HT_TRY(emit_special(nodes, thread->node, name, PROCESS_NODE, thread->number));
	HT_EMIT(nodes->out, ",\n");
	return HT_OK;
}

static enum ht_status begin(void *user, struct ht_replay *replay, struct ht_op *op)
{
	struct ht_nodes *nodes = user;
	struct ht_replay_thread *thread = ht_replay_thread(replay, op->i_thread);
	if (!thread->node)
		HT_TRY(name_thread(nodes, thread));
	const struct ht_op *parent = ht_replay_top(thread);
	op->node = ++nodes->ids.n_given;
	op->parent_node = parent ? parent->node : thread->node;
	if (op->forward_thread) {
		const struct ht_replay_thread *f = ht_replay_find(replay, op->forward_thread);
		const struct ht_op *top = f ? ht_replay_top(f) : NULL;
		op->forward_node = top ? top->node : f ? f->node : 0;
	}
	struct ht_bytes inputs = op->inputs;
	HT_TRY(ht_values_read(&nodes->values, &inputs));
	op->text.n = 0;
	if (!ht_vec_reserve(nodes->ctx->mem, &op->text, 1, nodes->values.bound))
		return ht_fail_nomem(nodes->ctx);
	char *start = op->text.data;
	op->text.n = (size_t)(ht_values_put(start, &nodes->values) - start);
	return HT_OK;
}

static enum ht_status end(
        void *user, struct ht_replay *replay, struct ht_op *op, struct ht_bytes *outputs)
{
	struct ht_nodes *nodes = user;
	const struct ht_image *image = nodes->image;
	struct ht_name name = ht_image_name(image, op->name);
	HT_TRY(ht_values_read(&nodes->values, outputs));
	size_t bound =
	        FIXED_BYTES + name.n + op->text.n + nodes->values.bound +
	        ht_image_name(image, op->schema).n + ht_image_name(image, op->kernel_backend).n +
	        ht_image_name(image, op->kernel_file).n + ht_image_name(image, op->tensor_range).n;
	char *start = make_room(nodes, bound);
	if (!start)
		return ht_fail_nomem(nodes->ctx);
	char *at = put_head(start, op->node, name, op->parent_node);
	memcpy(at, op->text.data, op->text.n);
	at = HT_PUT(at + op->text.n, ",\"outputs\":");
	at = ht_values_put(at, &nodes->values);
	at = put_attributes(at, image, op, ht_replay_thread(replay, op->i_thread)->number);
	HT_TRY(keep_room(nodes, start, at));
	emit_more_attributes(nodes, outputs);
	HT_EMIT(nodes->out, "]},\n");
	return nodes->out->status;
}

void ht_nodes_init(struct ht_nodes *nodes, const struct ht_image *image, struct ht_emit *out)
{
	*nodes = (struct ht_nodes){ .ctx = image->ctx,
		.image = image,
		.out = out,
		.values = { .image = image,
		        .exact_doubles = (image->header->flags & HT_RECORD_EXACT_DOUBLES) != 0 },
		.ids = { .mem = image->ctx->mem, .n_given = PROCESS_NODE } };
	nodes->values.ids = &nodes->ids;
}

static void forget(void *user, uint64_t address)
{
	struct ht_nodes *nodes = user;
	ht_ids_forget(&nodes->ids, address);
}

void ht_nodes_done(struct ht_nodes *nodes)
{
	struct ht_mem *mem = nodes->ctx->mem;
	ht_values_done(&nodes->values);
	ht_vec_free(mem, &nodes->large, 1);
	ht_ids_done(&nodes->ids);
}

struct ht_replay_sink ht_nodes_sink(struct ht_nodes *nodes)
{
	return (struct ht_replay_sink){
		.user = nodes, .begin = begin, .end = end, .freed = forget
	};
}

void ht_nodes_head(struct ht_nodes *nodes)
{
	const struct ht_part_header *header = nodes->image->header;
	struct ht_emit *out = nodes->out;
	HT_EMIT(out, "{\n\"schema\":\"1.1.1-chakra.0.0.4\",\"pid\":");
	ht_emit_i64(out, header->pid);
	HT_EMIT(out, ",\"time\":");
	ht_emit_string(out, header->time, strlen(header->time));
	HT_EMIT(out, ",\"start_ts\":");
	ht_emit_i64(out, header->start_ns / 1000000);
	HT_EMIT(out, ",\n\"nodes\":[\n");
}

enum ht_status ht_nodes_tail(struct ht_nodes *nodes, int64_t finish_ns)
{
	struct ht_emit *out = nodes->out;
	struct ht_name name = { process_name, sizeof process_name - 1 };
	HT_TRY(emit_special(nodes, PROCESS_NODE, name, PROCESS_NODE, 0));
	HT_EMIT(out, "\n],\n\"finish_ts\":");
	ht_emit_i64(out, finish_ns / 1000000);
	HT_EMIT(out, "\n}\n");
	return out->status;
}
