/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_text.c - execution traces as text: JSON, a linked trace, DOT, a timeline.
 */
#include "et/et_convert.h"
#include "store/columns.h"

#include "et/et_files.h"
#include "json/json_text.h"

#include <string.h>

static enum ht_status flush(void *user, const void *bytes, size_t n)
{
	return ht_writer_write(user, bytes, n);
}

static void emit_str(struct ht_emit *e, const char *text)
{
	ht_emit_text(e, text, strlen(text));
}

/* JSON text as read; what is none, for the reader does not look into values, becomes a string. */
static void emit_json(struct ht_emit *e, const struct ht_et *et, uint32_t id)
{
	const char *text = ht_et_str(et, id);
	size_t n = ht_et_str_len(et, id);
	if (ht_json_valid(text, n))
		ht_emit_text(e, text, n);
	else
		ht_emit_string(e, text, n);
}

static void emit_quoted(struct ht_emit *e, const struct ht_et *et, uint32_t id)
{
	ht_emit_string(e, ht_et_str(et, id), ht_et_str_len(et, id));
}

/* ---- PyTorch's layout ---- */

static void emit_list(struct ht_emit *e, const struct ht_et *et, uint32_t id)
{
	if (id == HT_ET_NO_STR)
		HT_EMIT(e, "[]");
	else
		emit_json(e, et, id);
}

static void emit_io(
        struct ht_emit *e, const struct ht_et *et, const char *name, const struct ht_et_io *io)
{
	static const char *const names[] = { "values", "shapes", "types", "strides" };
	const uint32_t ids[] = { io->values, io->shapes, io->types, io->strides };
	HT_EMIT(e, "        \"");
	emit_str(e, name);
	HT_EMIT(e, "\": {");
	for (size_t i = 0; i < 4; i++) {
		if (i == 3 && ids[i] == HT_ET_NO_STR)
			continue;
		if (i)
			HT_EMIT(e, ", ");
		ht_emit_char(e, '"');
		emit_str(e, names[i]);
		HT_EMIT(e, "\": ");
		emit_list(e, et, ids[i]);
	}
	HT_EMIT(e, "}");
}

static void emit_attr(struct ht_emit *e, const char *name, const char *type, const char **comma)
{
	emit_str(e, *comma);
	*comma = ",";
	HT_EMIT(e, "{\"name\": ");
	ht_emit_string(e, name, strlen(name));
	HT_EMIT(e, ", \"type\": ");
	ht_emit_string(e, type, strlen(type));
	HT_EMIT(e, ", \"value\": ");
}

static void emit_base_attrs(struct ht_emit *e, const struct ht_et *et,
        const struct ht_et_node *node, uint64_t fw_parent, const char **comma)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = { { "rf_id", node->rf_id }, { "fw_parent", fw_parent },
		{ "seq_id", (uint64_t)node->seq_id }, { "scope", node->scope },
		{ "tid", node->tid }, { "fw_tid", node->fw_tid } };
	const struct {
		const char *name;
		uint32_t text;
	} texts[] = { { "op_schema", node->op_schema }, { "kernel_backend", node->kernel_backend },
		{ "kernel_file", node->kernel_file }, { "tensor_range", node->tensor_range } };
	for (size_t i = 0; i < HT_COUNT(numbers); i++) {
		if (!(node->flags & 1u << i) && !(node->flags & HT_ET_MADE))
			continue;
		bool is_signed = i == 2;
		emit_attr(e, numbers[i].name, is_signed ? "int64" : "uint64", comma);
		if (is_signed)
			ht_emit_i64(e, (int64_t)numbers[i].value);
		else
			ht_emit_u64(e, numbers[i].value);
		ht_emit_char(e, '}');
	}
	for (size_t i = 0; i < HT_COUNT(texts); i++) {
		if (texts[i].text == HT_ET_NO_STR && !(i == 0 && node->flags & HT_ET_MADE))
			continue;
		emit_attr(e, texts[i].name, "string", comma);
		emit_quoted(e, et, texts[i].text);
		ht_emit_char(e, '}');
	}
}

static void emit_attrs(struct ht_emit *e, const struct ht_et *et, const struct ht_et_node *node,
        uint64_t fw_parent)
{
	const struct ht_et_attr *attrs = ht_et_attrs_of(et, node);
	const char *comma = "";
	HT_EMIT(e, "        \"attrs\": [");
	emit_base_attrs(e, et, node, fw_parent, &comma);
	for (uint32_t i = 0; i < node->n_attrs; i++) {
		if (attrs[i].type == HT_ET_NO_STR)
			continue;
		emit_attr(e, ht_et_str(et, attrs[i].name), ht_et_str(et, attrs[i].type), &comma);
		emit_json(e, et, attrs[i].value);
		ht_emit_char(e, '}');
	}
	HT_EMIT(e, "]");
}

/* Keys of the node itself that have no field. */
static void emit_keys(struct ht_emit *e, const struct ht_et *et, const struct ht_et_node *node)
{
	const struct ht_et_attr *attrs = ht_et_attrs_of(et, node);
	for (uint32_t i = 0; i < node->n_attrs; i++) {
		const char *name = ht_et_str(et, attrs[i].name);
		if (attrs[i].type != HT_ET_NO_STR || !strcmp(name, "ctrl_deps") ||
		        !strcmp(name, "parent"))
			continue;
		HT_EMIT(e, ", ");
		ht_emit_string(e, name, strlen(name));
		HT_EMIT(e, ": ");
		emit_json(e, et, attrs[i].value);
	}
}

static void emit_head(struct ht_emit *e, const struct ht_et *et)
{
	const struct ht_et_attr *heads = et->more_heads.data;
	bool is_flat = et->nodes.n && ht_et_nodes(et)[0].flags & HT_ET_FLAT;
	HT_EMIT(e, "{\n  \"schema\": ");
	/* attributes of the flat layout become those of the first nested one */
	if (is_flat)
		HT_EMIT(e, "\"1.0.2-chakra.0.0.4\"");
	else
		emit_quoted(e, et, et->schema);
	HT_EMIT(e, ", \"pid\": ");
	ht_emit_i64(e, et->pid);
	HT_EMIT(e, ", \"time\": ");
	emit_quoted(e, et, et->time);
	HT_EMIT(e, ", \"start_ts\": ");
	ht_emit_i64(e, et->start_ts);
	for (size_t i = 0; i < et->more_heads.n; i++) {
		HT_EMIT(e, ", ");
		emit_quoted(e, et, heads[i].name);
		HT_EMIT(e, ": ");
		emit_json(e, et, heads[i].value);
	}
	HT_EMIT(e, ",\n  \"nodes\": [");
}

static void emit_tail(struct ht_emit *e, const struct ht_et *et)
{
	HT_EMIT(e, "\n  ],\n  \"finish_ts\": ");
	ht_emit_i64(e, et->headers & HT_ET_HAS_FINISH ? et->finish_ts : et->start_ts);
	HT_EMIT(e, "\n}\n");
}

/* What only Chakra's nodes have. */
static void emit_chakra(struct ht_emit *e, const struct ht_et *et, uint32_t row)
{
	const struct ht_et_chakra *c = (const struct ht_et_chakra *)et->chakra.data + row;
	const uint64_t *ids = et->deps.data;
	const struct {
		const char *name;
		uint32_t first, n;
	} lists[] = { { "ctrl_deps", c->first_ctrl, c->n_ctrl },
		{ "data_deps", c->first_dep, c->n_deps } };
	for (size_t i = 0; i < HT_COUNT(lists); i++) {
		HT_EMIT(e, ", \"");
		emit_str(e, lists[i].name);
		HT_EMIT(e, "\": [");
		for (uint32_t j = 0; j < lists[i].n; j++) {
			if (j)
				ht_emit_char(e, ',');
			ht_emit_u64(e, ids[lists[i].first + j]);
		}
		ht_emit_char(e, ']');
	}
	HT_EMIT(e, ", \"type\": ");
	ht_emit_u64(e, c->type);
	HT_EMIT(e, ", \"start_time_micros\": ");
	ht_emit_u64(e, c->start_us);
	HT_EMIT(e, ", \"duration_micros\": ");
	ht_emit_u64(e, c->dur_us);
}

static void emit_node(struct ht_emit *e, const struct ht_et *et, uint32_t row)
{
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	emit_str(e, row ? ",\n      {\n        \"id\": " : "\n      {\n        \"id\": ");
	ht_emit_u64(e, node->id);
	HT_EMIT(e, ", \"name\": ");
	emit_quoted(e, et, node->name);
	if (et->format == HT_ET_CHAKRA) {
		emit_chakra(e, et, row);
	} else {
		HT_EMIT(e, ", \"ctrl_deps\": ");
		ht_emit_u64(e, node->parent_id);
	}
	emit_keys(e, et, node);
	HT_EMIT(e, ",\n");
	emit_io(e, et, "inputs", &node->in);
	HT_EMIT(e, ",\n");
	emit_io(e, et, "outputs", &node->out);
	HT_EMIT(e, ",\n");
	emit_attrs(e, et, node, node->fw_parent);
	HT_EMIT(e, "\n      }");
}

enum ht_status ht_et_write_json(const struct ht_et_out *out, const struct ht_et *et)
{
	struct ht_emit e;
	HT_TRY(ht_emit_init(&e, out->ctx, flush, out->writer));
	emit_head(&e, et);
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		emit_node(&e, et, row);
	emit_tail(&e, et);
	return ht_emit_done(&e);
}

/* ---- linked ---- */

static void emit_times(
        struct ht_emit *e, const struct ht_et_plan *plan, const struct ht_et_item *item)
{
	int64_t ts_ns, dur_ns, self_ns;
	if (!ht_et_item_time(plan, item, &ts_ns, &dur_ns, &self_ns))
		return;
	HT_EMIT(e, ", \"ts\": ");
	ht_emit_us(e, ts_ns);
	HT_EMIT(e, ", \"inclusive_dur\": ");
	ht_emit_us(e, dur_ns);
	HT_EMIT(e, ", \"exclusive_dur\": ");
	ht_emit_us(e, self_ns);
}

static void emit_gpu_keys(struct ht_emit *e, const struct ht_et_plan *plan,
        const struct ht_et_item *item, struct ht_arena *arena)
{
	const struct ht_et_gpu *gpu = &plan->link->gpus[item->gpu];
	const struct ht_gpu *work = &plan->trace->gpu[gpu->gpu];
	const char *cat = gpu->is_orphan ? "pre_window" : ht_cat(plan->trace, work->row);
	HT_EMIT(e, ", \"cat\": ");
	ht_emit_string(e, cat, strlen(cat));
	HT_EMIT(e, ", \"ph\": \"X\", \"stream\": ");
	ht_emit_i64(e, work->stream);
	const char *group = item->type == HT_ET_COMP ? NULL : ht_et_item_group(plan, item, arena);
	if (group) {
		HT_EMIT(e, ", \"pg_name\": ");
		ht_emit_string(e, group, strlen(group));
	}
}

static void emit_call_keys(struct ht_emit *e, const struct ht_et_plan *plan,
        const struct ht_et_item *item, const uint32_t *item_of_gpu)
{
	const struct ht_et_linked *linked = &plan->link->nodes[item->row];
	HT_EMIT(e, ", \"inter_thread_dep\": ");
	if (linked->after == HT_ET_NONE)
		HT_EMIT(e, "null");
	else
		ht_emit_u64(e, plan->item_of[linked->after]);
	HT_EMIT(e, ", \"sync_dep\": [");
	for (uint32_t i = 0; i < linked->n_sync; i++) {
		if (i)
			ht_emit_char(e, ',');
		ht_emit_u64(e, item_of_gpu[plan->link->syncs[linked->first_sync + i]]);
	}
	ht_emit_char(e, ']');
}

static void emit_item(struct ht_emit *e, const struct ht_et_plan *plan, size_t i,
        const uint32_t *item_of_gpu, struct ht_arena *arena)
{
	const struct ht_et *et = plan->et;
	const struct ht_et_item *item = &plan->items[i];
	const struct ht_et_node *node = &ht_et_nodes(et)[item->row];
	const char *name = ht_et_item_name(plan, item);
	uint32_t fw = node->fw_parent ? ht_et_find(et, node->fw_parent) : HT_ET_NONE;
	uint64_t fw_parent = plan->as_chakra    ? node->fw_parent
	                     : fw == HT_ET_NONE ? 0
	                                        : plan->item_of[fw];
	emit_str(e, i ? ",\n      {\n        \"id\": " : "\n      {\n        \"id\": ");
	ht_emit_u64(e, i);
	HT_EMIT(e, ", \"name\": ");
	ht_emit_string(e, name, strlen(name));
	HT_EMIT(e, ", \"ctrl_deps\": ");
	ht_emit_u64(e, item->parent == HT_ET_NONE ? 0 : item->parent);
	emit_times(e, plan, item);
	if (item->gpu != HT_ET_NONE)
		emit_gpu_keys(e, plan, item, arena);
	else
		emit_call_keys(e, plan, item, item_of_gpu);
	HT_EMIT(e, ",\n");
	emit_io(e, et, "inputs", &node->in);
	HT_EMIT(e, ",\n");
	emit_io(e, et, "outputs", &node->out);
	HT_EMIT(e, ",\n");
	emit_attrs(e, et, node, fw_parent);
	HT_EMIT(e, "\n      }");
}

enum ht_status ht_et_write_linked(const struct ht_et_out *out, const struct ht_et_plan *plan)
{
	struct ht_emit e;
	uint32_t *item_of_gpu =
	        ht_arena_alloc(out->arena, (plan->link->n_gpus + 1) * sizeof *item_of_gpu);
	if (!item_of_gpu)
		return ht_fail_nomem(out->ctx);
	for (size_t i = 0; i < plan->n_items; i++)
		if (plan->items[i].gpu != HT_ET_NONE)
			item_of_gpu[plan->items[i].gpu] = (uint32_t)i;
	HT_TRY(ht_emit_init(&e, out->ctx, flush, out->writer));
	emit_head(&e, plan->et);
	for (size_t i = 0; i < plan->n_items; i++)
		emit_item(&e, plan, i, item_of_gpu, out->arena);
	emit_tail(&e, plan->et);
	return ht_emit_done(&e);
}

/* ---- DOT ---- */

enum ht_status ht_et_write_dot(const struct ht_et_out *out, const struct ht_et_plan *plan)
{
	struct ht_emit e;
	HT_TRY(ht_emit_init(&e, out->ctx, flush, out->writer));
	HT_EMIT(&e, "digraph et {\n\tnode [shape=box];\n");
	for (size_t i = 0; i < plan->n_items; i++) {
		const struct ht_et_item *item = &plan->items[i];
		if (item->is_left_out)
			continue;
		const char *name = ht_et_item_name(plan, item);
		HT_EMIT(&e, "\tn");
		ht_emit_u64(&e, i);
		HT_EMIT(&e, " [label=");
		ht_emit_string(&e, name, strlen(name));
		emit_str(&e, item->type >= HT_ET_SEND ? ", style=filled, fillcolor=orange"
		             : item->is_cpu_op        ? ""
		                                      : ", style=filled, fillcolor=lightblue");
		HT_EMIT(&e, "];\n");
		for (uint32_t j = 0; j < item->n_deps; j++) {
			HT_EMIT(&e, "\tn");
			ht_emit_u64(&e, plan->deps[item->first_dep + j]);
			HT_EMIT(&e, " -> n");
			ht_emit_u64(&e, i);
			HT_EMIT(&e, ";\n");
		}
	}
	HT_EMIT(&e, "}\n");
	return ht_emit_done(&e);
}

/* ---- timeline ---- */

/* Without times a node lasts from its place in the order of starts to that of the last node inside of it. */
static enum ht_status find_ends(
        const struct ht_et_out *out, const struct ht_et_plan *plan, uint32_t **ret_ends)
{
	uint32_t *ends = ht_arena_alloc(out->arena, (plan->n_items + 1) * sizeof *ends);
	if (!ends)
		return ht_fail_nomem(out->ctx);
	for (size_t i = 0; i < plan->n_items; i++)
		ends[i] = (uint32_t)i + 1;
	for (size_t i = plan->n_items; i-- > 0;) {
		uint32_t parent = plan->items[i].parent;
		if (parent != HT_ET_NONE && parent < i && ends[i] > ends[parent])
			ends[parent] = ends[i];
	}
	*ret_ends = ends;
	return HT_OK;
}

static void emit_event(
        struct ht_emit *e, const struct ht_et_plan *plan, size_t i, const uint32_t *ends)
{
	const struct ht_et_item *item = &plan->items[i];
	const struct ht_et_node *node = &ht_et_nodes(plan->et)[item->row];
	const char *name = ht_et_item_name(plan, item);
	int64_t ts_ns, dur_ns, self_ns;
	bool is_gpu = item->gpu != HT_ET_NONE;
	if (!ht_et_item_time(plan, item, &ts_ns, &dur_ns, &self_ns)) {
		if (plan->link)
			return;
		ts_ns = (int64_t)i * 1000;
		dur_ns = (int64_t)(ends[i] - i) * 1000;
	}
	HT_EMIT(e, ",\n{\"ph\": \"X\", \"cat\": \"");
	emit_str(e, !is_gpu ? node->scope == 7 ? "user_annotation" : "cpu_op"
	                    : ht_cat(plan->trace,
	                              plan->trace->gpu[plan->link->gpus[item->gpu].gpu].row));
	HT_EMIT(e, "\", \"name\": ");
	ht_emit_string(e, name, strlen(name));
	HT_EMIT(e, ", \"pid\": ");
	emit_str(e, is_gpu ? "1" : "0");
	HT_EMIT(e, ", \"tid\": ");
	if (is_gpu)
		ht_emit_i64(e, plan->trace->gpu[plan->link->gpus[item->gpu].gpu].stream);
	else
		ht_emit_u64(e, node->tid);
	HT_EMIT(e, ", \"ts\": ");
	ht_emit_us(e, ts_ns);
	HT_EMIT(e, ", \"dur\": ");
	ht_emit_us(e, dur_ns);
	HT_EMIT(e, ", \"args\": {\"id\": ");
	ht_emit_u64(e, i);
	if (!is_gpu) {
		HT_EMIT(e, ", \"Record function id\": ");
		ht_emit_u64(e, node->rf_id);
	}
	HT_EMIT(e, "}}");
}

enum ht_status ht_et_write_timeline(const struct ht_et_out *out, const struct ht_et_plan *plan)
{
	struct ht_emit e;
	uint32_t *ends = NULL;
	HT_TRY(find_ends(out, plan, &ends));
	HT_TRY(ht_emit_init(&e, out->ctx, flush, out->writer));
	HT_EMIT(&e,
	        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
	        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"tid\": 0, \"args\": {\"name\": \"host\"}}");
	if (plan->link && plan->link->n_gpus)
		HT_EMIT(&e,
		        ",\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": \"GPU\"}}");
	for (size_t i = 0; i < plan->n_items; i++)
		if (plan->items[i].gpu != HT_ET_NONE ||
		        ht_et_kind(plan->et, plan->items[i].row) == HT_ET_OP)
			emit_event(&e, plan, i, ends);
	HT_EMIT(&e, "\n]}\n");
	return ht_emit_done(&e);
}
