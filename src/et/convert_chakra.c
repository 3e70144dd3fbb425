/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_chakra.c - a plan as Chakra's messages: length GlobalMetadata, length Node, length Node, ...
 *
 * proto3 leaves zeros out, but a member of AttributeProto's oneof is written whatever its value. Lists of ids are packed.
 */
#include "et/et_convert.h"
#include "store/columns.h"

#include "et/et_files.h"
#include "wire/message.h"

#include <string.h>

/* Fields of AttributeProto's values. */
enum { AS_INT32 = 7, AS_INT64 = 9, AS_UINT64 = 13, AS_BOOL = 27, AS_STRING = 29 };

struct chakra {
	const struct ht_et_out *out;
	const struct ht_et_plan *plan;
	struct ht_message node, inner, repr;
};

/* A number that is left out when it is zero. */
static void put_nonzero(struct ht_message *m, uint32_t field, uint64_t value)
{
	if (value)
		ht_message_u64(m, field, value);
}

static void put_text(struct ht_message *m, uint32_t field, const char *text)
{
	if (*text)
		ht_message_bytes(m, field, text, strlen(text));
}

/* ---- attributes ---- */

static void end_attr(struct chakra *c, uint32_t field)
{
	ht_message_bytes(&c->node, field, c->inner.bytes.data, c->inner.bytes.n);
	c->node.failed |= c->inner.failed;
}

static void begin_attr(struct chakra *c, const char *name)
{
	c->inner.bytes.n = 0;
	put_text(&c->inner, 1, name);
}

static void put_attr(struct chakra *c, uint32_t field, const char *name, uint32_t as, int64_t value)
{
	begin_attr(c, name);
	ht_message_u64(&c->inner, as, (uint64_t)value);
	end_attr(c, field);
}

static void put_text_attr(struct chakra *c, uint32_t field, const char *name, const char *text)
{
	begin_attr(c, name);
	ht_message_bytes(&c->inner, AS_STRING, text, strlen(text));
	end_attr(c, field);
}

static enum ht_status end_message(struct chakra *c)
{
	struct ht_message length = { .mem = c->out->ctx->mem };
	ht_message_varint(&length, c->node.bytes.n);
	enum ht_status status =
	        c->node.failed || length.failed ? ht_fail_nomem(c->out->ctx) : HT_OK;
	if (status == HT_OK)
		status = ht_writer_write(c->out->writer, length.bytes.data, length.bytes.n);
	if (status == HT_OK && c->node.bytes.n)
		status = ht_writer_write(c->out->writer, c->node.bytes.data, c->node.bytes.n);
	ht_vec_free(length.mem, &length.bytes, 1);
	c->node.bytes.n = 0;
	return status;
}

static enum ht_status put_metadata(struct chakra *c)
{
	const struct ht_et *et = c->plan->et;
	if (et->headers & HT_ET_HAS_SCHEMA)
		put_text_attr(c, 2, "schema", ht_et_str(et, et->schema));
	if (et->headers & HT_ET_HAS_PID)
		put_attr(c, 2, "pid", AS_UINT64, et->pid);
	if (et->headers & HT_ET_HAS_TIME)
		put_text_attr(c, 2, "time", ht_et_str(et, et->time));
	if (et->headers & HT_ET_HAS_START)
		put_attr(c, 2, "start_ts", AS_UINT64, et->start_ts);
	if (et->headers & HT_ET_HAS_FINISH)
		put_attr(c, 2, "finish_ts", AS_UINT64, et->finish_ts);
	return end_message(c);
}

/* ---- nodes ---- */

static void put_repr(struct chakra *c, uint32_t field, uint32_t text)
{
	c->repr.bytes.n = 0;
	if (!ht_et_repr(c->repr.mem, &c->repr.bytes, ht_et_str(c->plan->et, text)))
		c->node.failed = true;
	if (c->repr.bytes.n)
		ht_message_bytes(&c->inner, field, c->repr.bytes.data, c->repr.bytes.n);
}

static void put_io(struct chakra *c, uint32_t field, const struct ht_et_io *io)
{
	c->inner.bytes.n = 0;
	put_repr(c, 1, io->values);
	put_repr(c, 2, io->shapes);
	put_repr(c, 3, io->types);
	end_attr(c, field);
}

static void put_deps(struct chakra *c, const struct ht_et_item *item)
{
	const struct ht_et_plan *plan = c->plan;
	c->inner.bytes.n = 0;
	if (item->parent != HT_ET_NONE) {
		ht_message_varint(&c->inner, item->parent);
		ht_message_bytes(&c->node, 4, c->inner.bytes.data, c->inner.bytes.n);
	}
	c->inner.bytes.n = 0;
	for (uint32_t i = 0; i < item->n_deps; i++)
		ht_message_varint(&c->inner, plan->deps[item->first_dep + i]);
	if (item->n_deps)
		ht_message_bytes(&c->node, 5, c->inner.bytes.data, c->inner.bytes.n);
}

static void put_times(struct chakra *c, const struct ht_et_item *item)
{
	int64_t ts_ns, dur_ns, self_ns;
	if (!ht_et_item_time(c->plan, item, &ts_ns, &dur_ns, &self_ns))
		return;
	if (!c->plan->as_chakra)
		put_nonzero(&c->node, 6, (uint64_t)(ts_ns - c->plan->zero_ns) / 1000);
	bool is_optimizer = strstr(ht_et_item_name(c->plan, item), "Optimizer.step") != NULL;
	if (self_ns > 0 && !is_optimizer)
		put_nonzero(&c->node, 7, (uint64_t)self_ns / 1000);
}

static void put_comm(struct chakra *c, const struct ht_et_item *item)
{
	const struct ht_et_plan *plan = c->plan;
	const char *group = ht_et_item_group(plan, item, c->out->arena);
	if (item->type != HT_ET_COLL && item->type != HT_ET_SEND && item->type != HT_ET_RECV)
		return;
	if (item->type == HT_ET_COLL)
		put_attr(c, 10, "comm_type", AS_INT64, item->comm_type < 0 ? 0 : item->comm_type);
	put_attr(c, 10, "comm_size", AS_INT64, item->comm_bytes);
	put_text_attr(c, 10, "pg_name", group ? group : "");
	if (item->peer < 0 || plan->as_chakra)
		return;
	int64_t own = plan->rank;
	bool sends = item->type == HT_ET_SEND;
	put_attr(c, 10, "comm_src", AS_INT32, sends ? own : item->peer);
	put_attr(c, 10, "comm_dst", AS_INT32, sends ? item->peer : own);
	put_attr(c, 10, "comm_tag", AS_INT32, item->tag);
}

static void put_attrs(struct chakra *c, const struct ht_et_item *item)
{
	const struct ht_et_plan *plan = c->plan;
	const struct ht_et_node *node = &ht_et_nodes(plan->et)[item->row];
	int64_t fw_parent = (int64_t)node->fw_parent, stream = 0;
	if (!plan->as_chakra && fw_parent) {
		uint32_t row = ht_et_find(plan->et, node->fw_parent);
		fw_parent = row == HT_ET_NONE ? 0 : plan->item_of[row];
	}
	if (item->gpu != HT_ET_NONE)
		stream = plan->trace->gpu[plan->link->gpus[item->gpu].gpu].stream;
	put_attr(c, 10, "rf_id", AS_INT64, (int64_t)node->rf_id);
	put_attr(c, 10, "fw_parent", AS_INT64, fw_parent);
	put_attr(c, 10, "seq_id", AS_INT64, node->seq_id);
	put_attr(c, 10, "scope", AS_INT64, (int64_t)node->scope);
	put_attr(c, 10, "tid", AS_INT64, (int64_t)node->tid);
	put_attr(c, 10, "fw_tid", AS_INT64, (int64_t)node->fw_tid);
	put_text_attr(c, 10, "op_schema", ht_et_str(plan->et, node->op_schema));
	put_attr(c, 10, "is_cpu_op", AS_BOOL, item->is_cpu_op);
	put_attr(c, 10, "stream", AS_INT64, stream);
	put_comm(c, item);
}

static enum ht_status put_node(struct chakra *c, size_t i)
{
	const struct ht_et_item *item = &c->plan->items[i];
	const struct ht_et_node *node = &ht_et_nodes(c->plan->et)[item->row];
	put_nonzero(&c->node, 1, i);
	put_text(&c->node, 2, ht_et_item_name(c->plan, item));
	ht_message_u64(&c->node, 3, item->type);
	put_deps(c, item);
	put_times(c, item);
	put_io(c, 8, &node->in);
	put_io(c, 9, &node->out);
	put_attrs(c, item);
	return end_message(c);
}

/* Sends and receives name both ranks. */
static enum ht_status check_rank(const struct ht_et_out *out, const struct ht_et_plan *plan)
{
	for (size_t i = 0; i < plan->n_items && plan->rank == HT_ET_NO_RANK; i++)
		if (plan->items[i].peer >= 0)
			return ht_fail(out->ctx, HT_MISSING, plan->et->path, -1,
			        "name it: RANK=FILE",
			        "the trace sends or receives, and its rank is unknown");
	return HT_OK;
}

enum ht_status ht_et_write_chakra(const struct ht_et_out *out, const struct ht_et_plan *plan)
{
	struct ht_mem *mem = out->ctx->mem;
	struct chakra c = {
		.out = out, .plan = plan, .node.mem = mem, .inner.mem = mem, .repr.mem = mem
	};
	HT_TRY(check_rank(out, plan));
	enum ht_status status = put_metadata(&c);
	for (size_t i = 0; i < plan->n_items && status == HT_OK; i++)
		if (!plan->items[i].is_left_out)
			status = put_node(&c, i);
	ht_vec_free(mem, &c.node.bytes, 1);
	ht_vec_free(mem, &c.inner.bytes, 1);
	ht_vec_free(mem, &c.repr.bytes, 1);
	return status;
}
