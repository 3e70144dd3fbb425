/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pft_bodies.c - what a row says, as fields of a TrackEvent: name, category, args, arrows; see pft.h.
 */
#include "write/pft.h"

#include "base/mem.h"
#include "base/sort.h"
#include "store/flow.h"
#include "store/shape.h"
#include "store/trace.h"

#define PROGRESS_ROWS 65536

#define MAX_DEVICES   64

struct pft_args {
	struct ht_args_out base;
	struct ht_pft *p;
	uint32_t n;
};

bool ht_pft_is_timed(const struct ht_trace *t, uint32_t row)
{
	size_t n;
	const uint32_t *items = ht_row_items(t, row, &n);
	if (t->flags[row] & HT_EV_NO_TS)
		return false;
	for (size_t i = 0; i < n; i++)
		if (items[i] == HT_FIELD_TS)
			return true;
	return false;
}

bool ht_pft_has_duration(const struct ht_trace *t, uint32_t row)
{
	size_t n;
	const uint32_t *items = ht_row_items(t, row, &n);
	for (size_t i = 0; i < n; i++)
		if (items[i] == HT_FIELD_DUR)
			return true;
	return false;
}

/* ---- values ---- */

static void put_value(struct ht_pft *p, uint32_t key, const struct ht_cell *cell)
{
	struct ht_message *m = &p->inner;
	ht_message_u64(m, HT_PF_ARG_NAME_IID, key);
	switch (cell->type) {
	case HT_ARG_I64: ht_message_u64(m, HT_PF_ARG_I64, (uint64_t)cell->i64); break;
	case HT_ARG_U64: ht_message_u64(m, HT_PF_ARG_U64, (uint64_t)cell->i64); break;
	case HT_ARG_F64: ht_message_f64(m, HT_PF_ARG_F64, cell->f64); break;
	case HT_ARG_BOOL: ht_message_u64(m, HT_PF_ARG_BOOL, cell->i64 != 0); break;
	case HT_ARG_STR:
	case HT_ARG_JSON:
		ht_message_u64(m, HT_PF_ARG_TEXT_IID,
		        ht_pft_value_text(
		                p, cell->type == HT_ARG_STR ? 'S' : 'J', cell->text, cell->n));
		break;
	default: break;
	}
	ht_message_end(&p->bodies, HT_PF_EVENT_ANNOTATION, m);
}

static void put_added(struct ht_args_out *base, const char *key, const struct ht_cell *value)
{
	struct pft_args *args = (struct pft_args *)base;
	args->n++;
	put_value(args->p, ht_pft_text(args->p, HT_PFT_KEYS, key, strlen(key)), value);
}

/* ---- layouts ---- */

static const char *const field_names[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "args" };

/* The keys of a row and their order as the message that says them, without its number. */
static uint32_t find_layout(struct ht_pft *p, uint32_t row, bool adds_args)
{
	const struct ht_trace *t = p->t;
	struct ht_message *m = &p->inner;
	size_t n;
	const uint32_t *items = ht_row_items(t, row, &n);
	bool in_args = false;
	m->bytes.n = 0;
	ht_message_bytes(m, HT_PF_LAYOUT_PHASE, &t->ph[row], 1);
	for (size_t i = 0; i < n; i++) {
		if (items[i] == HT_FIELD_ARGS || items[i] == HT_FIELD_ARGS_END)
			in_args = items[i] == HT_FIELD_ARGS;
		if (items[i] < HT_FIELD_ARGS_END)
			ht_message_text(m, HT_PF_LAYOUT_KEY, field_names[items[i]]);
		else if (items[i] >= HT_FIELD_COUNT && !in_args) {
			uint32_t key = t->arg_columns[items[i] - HT_FIELD_COUNT].key;
			ht_message_bytes(m, HT_PF_LAYOUT_KEY, ht_str(t, key), ht_str_len(t, key));
		}
	}
	if (adds_args)
		ht_message_text(m, HT_PF_LAYOUT_KEY, "args");
	uint32_t layout = ht_pft_text(p, HT_PFT_LAYOUTS, m->bytes.data, m->bytes.n);
	m->bytes.n = 0;
	return layout;
}

static uint32_t layout_of(struct ht_pft *p, uint32_t row, bool adds_args)
{
	uint32_t shape = ht_shape_of(p->t, row);
	if (adds_args)
		return find_layout(p, row, true);
	if (!p->shapes[shape] || p->shape_phases[shape] != p->t->ph[row]) {
		p->shapes[shape] = find_layout(p, row, false);
		p->shape_phases[shape] = p->t->ph[row];
	}
	return p->shapes[shape];
}

/* ---- counters ---- */

static void put_counter(struct ht_pft *p, uint64_t track, int64_t ts_ns, const struct ht_cell *cell)
{
	struct ht_pft_value value = { cell->type == HT_ARG_F64, cell->i64, cell->f64 };
	struct ht_pft_op op = { track, (uint32_t)p->values.n, HT_PF_COUNTER };
	p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->values, struct ht_pft_value, value);
	ht_pft_push_op(p, ts_ns, op);
}

/* Did the memory of a device have this value before? */
static bool was_counted(struct ht_pft *p, uint32_t i_column, int64_t id, int64_t value)
{
	struct ht_pft_memory *seen = p->memory.data, one = { i_column, id, value };
	for (size_t i = 0; i < p->memory.n; i++)
		if (seen[i].column == i_column && seen[i].id == id) {
			bool is_same = seen[i].value == value;
			seen[i].value = value;
			return is_same;
		}
	/* of devices beyond any real number all values are written */
	if (p->memory.n < MAX_DEVICES)
		p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->memory, struct ht_pft_memory, one);
	return false;
}

/* A value of a C row, or of the memory that an allocation says is in use. */
static void count_arg(struct ht_pft *p, uint32_t row, uint32_t i_column, const struct ht_cell *cell)
{
	const struct ht_trace *t = p->t;
	const struct ht_arg_column *column = &t->arg_columns[i_column];
	bool is_memory = t->kind[row] == HT_KIND_MEMORY;
	const char *key = ht_str(t, column->key);
	int64_t id;
	if (column->top_level || (cell->type != HT_ARG_I64 && cell->type != HT_ARG_F64) ||
	        !ht_pft_is_timed(t, row))
		return;
	if (is_memory && strncmp(key, "Total ", 6) != 0)
		return;
	id = is_memory ? ht_arg_i64(t, "Device Id", row, -1) : -1;
	/* most allocations leave what is reserved as it is */
	if (is_memory && was_counted(p, i_column, id, cell->i64))
		return;
	uint64_t track = ht_pft_counter_track(p, p->process_of[t->track[row]],
	        is_memory ? "Memory" : ht_str(t, t->name[row]), key, id);
	put_counter(p, track, ht_time_moved(&p->out->move, t->ts_ns[row]), cell);
}

/* ---- rows ---- */

static uint32_t key_of(struct ht_pft *p, uint32_t i_column)
{
	uint32_t key = p->t->arg_columns[i_column].key;
	if (!p->columns[i_column])
		p->columns[i_column] =
		        ht_pft_text(p, HT_PFT_KEYS, ht_str(p->t, key), ht_str_len(p->t, key));
	return p->columns[i_column];
}

static void ask_extras(struct ht_pft *p, uint32_t row, struct pft_args *args)
{
	const struct ht_write_extras *extras = p->out->extras;
	if (extras && extras->row_args)
		extras->row_args(extras->user, p->out->i_trace, row, &args->base);
}

static void put_name(struct ht_pft *p, uint32_t name, uint32_t cat)
{
	const struct ht_trace *t = p->t;
	if (cat != HT_NO_STR)
		ht_message_u64(&p->bodies, HT_PF_EVENT_CATEGORY_IID,
		        ht_pft_text(p, HT_PFT_CATEGORIES, ht_str(t, cat), ht_str_len(t, cat)));
	if (name != HT_NO_STR)
		ht_message_u64(&p->bodies, HT_PF_EVENT_NAME_IID,
		        ht_pft_text(p, HT_PFT_NAMES, ht_str(t, name), ht_str_len(t, name)));
}

static void put_row(struct ht_pft *p, uint32_t row)
{
	const struct ht_trace *t = p->t;
	struct ht_pft_item item = { .at = p->bodies.bytes.n };
	struct pft_args args = { { put_added }, p, 0 };
	bool counts = t->ph[row] == 'C' || t->kind[row] == HT_KIND_MEMORY, has_args = false;
	size_t n;
	const uint32_t *items = ht_row_items(t, row, &n);
	put_name(p, t->name[row], t->categories[t->cat[row]].name);
	for (size_t i = 0; i < n; i++) {
		struct ht_cell cell;
		has_args |= items[i] == HT_FIELD_ARGS;
		if (items[i] == HT_FIELD_ARGS_END)
			ask_extras(p, row, &args);
		if (items[i] < HT_FIELD_COUNT)
			continue;
		ht_row_cell(p->out, row, items[i] - HT_FIELD_COUNT, &cell);
		put_value(p, key_of(p, items[i] - HT_FIELD_COUNT), &cell);
		if (counts)
			count_arg(p, row, items[i] - HT_FIELD_COUNT, &cell);
	}
	if (!has_args)
		ask_extras(p, row, &args);
	item.layout = layout_of(p, row, !has_args && args.n);
	/* of spans it is where they end */
	if (!ht_is_span(t, row) && ht_pft_has_duration(t, row))
		ht_message_u64(&p->bodies, HT_PF_EVENT_OWN_DURATION, (uint64_t)t->dur_ns[row]);
	item.n = (uint32_t)(p->bodies.bytes.n - item.at);
	p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->items, struct ht_pft_item, item);
}

static int compare_arrows(const void *left, const void *right)
{
	const struct ht_pft_arrow *a = left, *b = right;
	return a->row != b->row ? (a->row < b->row ? -1 : 1) : (a->id > b->id) - (a->id < b->id);
}

enum ht_status ht_pft_bodies(struct ht_pft *p)
{
	uint32_t n = ht_n_events(p->t);
	const struct ht_pft_arrow *arrows = p->arrows.data;
	size_t i_arrow = 0;
	ht_sort_items(p->ctx->mem, p->arrows.data, p->arrows.n, sizeof *arrows, compare_arrows);
	for (uint32_t row = 0; row < n; row++) {
		if (row % PROGRESS_ROWS == 0)
			HT_TRY(ht_progress(p->ctx, "writing", row, n));
		while (i_arrow < p->arrows.n && arrows[i_arrow].row < row)
			i_arrow++;
		if (p->item_of[row] == HT_NONE)
			continue;
		put_row(p, row);
		for (; i_arrow < p->arrows.n && arrows[i_arrow].row == row; i_arrow++) {
			struct ht_pft_item *item =
			        (struct ht_pft_item *)p->items.data + p->items.n - 1;
			ht_message_fixed64(&p->bodies, HT_PF_EVENT_FLOW, arrows[i_arrow].id);
			item->n = (uint32_t)(p->bodies.bytes.n - item->at);
		}
		if (p->failed || p->bodies.failed)
			return ht_fail_nomem(p->ctx);
	}
	return HT_OK;
}

/* ---- arrows ---- */

static void push_arrow(struct ht_pft *p, uint32_t row, uint64_t id)
{
	struct ht_pft_arrow arrow = { row, id ? id : 1 };
	p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->arrows, struct ht_pft_arrow, arrow);
}

static bool is_drawn(const struct ht_pft *p, uint32_t row)
{
	return row != HT_NONE && p->item_of[row] != HT_NONE && ht_is_span(p->t, row);
}

/* Those that the trace has, and those from launches to work that it has no arrow for. */
enum ht_status ht_pft_find_arrows(struct ht_pft *p)
{
	const struct ht_trace *t = p->t;
	uint8_t *has = ht_mem_zalloc(p->ctx->mem, (size_t)ht_n_events(t) + 1);
	uint64_t rank = (uint64_t)p->out->rank;
	if (!has)
		return ht_fail_nomem(p->ctx);
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		if (!is_drawn(p, flow->from) || !is_drawn(p, flow->to) || flow->from == flow->to)
			continue;
		const char *cat = ht_str(t, flow->cat);
		/* one for each arrow: those of one number would be a chain through all that a launch of a graph started */
		uint64_t id = ht_hash_mix(ht_hash_mix(rank, flow->id), ht_hash(cat, strlen(cat)));
		id = ht_hash_mix(id, flow->to);
		push_arrow(p, flow->from, id);
		push_arrow(p, flow->to, id);
		has[flow->to] = 1;
	}
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (!is_drawn(p, gpu->row) || !is_drawn(p, gpu->launch) || has[gpu->row])
			continue;
		uint64_t id = ht_hash_mix(ht_hash_mix(rank, gpu->launch), gpu->row);
		push_arrow(p, gpu->launch, id);
		push_arrow(p, gpu->row, id);
	}
	ht_mem_free(p->ctx->mem, has, (size_t)ht_n_events(t) + 1);
	return p->failed ? ht_fail_nomem(p->ctx) : HT_OK;
}

/* ---- added events ---- */

static void put_event_keys(struct ht_pft *p, const struct ht_new_event *event, bool has_args)
{
	struct ht_message *m = &p->event;
	const struct ht_track *track = event->row ? &p->t->tracks[p->t->track[*event->row]] : NULL;
	m->bytes.n = 0;
	ht_message_bytes(m, HT_PF_LAYOUT_PHASE, &event->ph, 1);
	ht_message_text(m, HT_PF_LAYOUT_KEY, "ph");
	const struct {
		bool has;
		const char *key;
	} keys[] = { { event->cat != NULL, "cat" }, { event->name != NULL, "name" },
		{ event->id != NULL, "id" },
		{ track ? track->pid_type != HT_ID_ABSENT : event->pid != NULL, "pid" },
		{ track ? track->tid_type != HT_ID_ABSENT : event->tid != NULL, "tid" },
		{ event->ph != 'M', "ts" }, { event->dur_ns != NULL, "dur" },
		{ event->bp != NULL, "bp" }, { has_args, "args" } };
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		if (keys[i].has)
			ht_message_text(m, HT_PF_LAYOUT_KEY, keys[i].key);
}

struct counting {
	struct pft_args args;
	const struct ht_new_event *event;
	uint64_t process;
};

static void put_counted(struct ht_args_out *base, const char *key, const struct ht_cell *value)
{
	struct counting *c = (struct counting *)base;
	struct ht_pft *p = c->args.p;
	put_added(base, key, value);
	if (value->type != HT_ARG_I64 && value->type != HT_ARG_F64)
		return;
	uint64_t track = ht_pft_counter_track(
	        p, c->process, c->event->name, key, c->event->id ? *c->event->id : -1);
	put_counter(p, track, ht_time_moved(&p->out->move, c->event->ts_ns), value);
}

static void put_event_args(struct ht_pft *p, const struct ht_new_event *event, uint64_t process)
{
	struct counting c = { { { event->ph == 'C' ? put_counted : put_added }, p, 0 }, event,
		process };
	uint32_t key = 0;
	if (event->id) {
		key = ht_pft_text(p, HT_PFT_KEYS, "id", 2);
		put_value(p, key,
		        &(struct ht_cell){
		                .type = HT_ARG_I64, .i64 = ht_moved_id(p->out, *event->id) });
	}
	if (event->bp) {
		key = ht_pft_text(p, HT_PFT_KEYS, "bp", 2);
		put_value(p, key,
		        &(struct ht_cell){
		                .type = HT_ARG_STR, .text = event->bp, .n = strlen(event->bp) });
	}
	if (event->args)
		event->args(event->args_user, &c.args.base);
	put_event_keys(p, event, c.args.n > 0);
}

void ht_pft_add_event(struct ht_trace_out *out, const struct ht_new_event *event)
{
	struct ht_pft *p = out->own;
	struct ht_pft_extra extra = { .item.at = p->bodies.bytes.n,
		.has_ts = event->ph != 'M',
		.ts_ns = ht_time_moved(&out->move, event->ts_ns) };
	const struct ht_pid *pid = NULL;
	int64_t number = event->pid ? *event->pid : 0;
	if (out->pids && event->pid && !event->is_placed)
		pid = ht_pids_find(out->pids, *event->pid);
	if (pid)
		number = out->pids->first + pid->number;
	extra.track = event->row ? p->track_of[p->t->track[*event->row]]
	                         : ht_pft_extra_track(p, number, event->tid);
	if (event->cat)
		ht_message_u64(&p->bodies, HT_PF_EVENT_CATEGORY_IID,
		        ht_pft_text(p, HT_PFT_CATEGORIES, event->cat, strlen(event->cat)));
	if (event->name)
		ht_message_u64(&p->bodies, HT_PF_EVENT_NAME_IID,
		        ht_pft_text(p, HT_PFT_NAMES, event->name, strlen(event->name)));
	put_event_args(p, event, event->pid ? ht_pft_process(p, number) : 0);
	extra.item.layout = ht_pft_text(p, HT_PFT_LAYOUTS, p->event.bytes.data, p->event.bytes.n);
	p->event.bytes.n = 0;
	if (event->dur_ns)
		ht_message_u64(&p->bodies, HT_PF_EVENT_OWN_DURATION, (uint64_t)*event->dur_ns);
	extra.item.n = (uint32_t)(p->bodies.bytes.n - extra.item.at);
	p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->extras, struct ht_pft_extra, extra);
	if (event->row && event->id && event->cat && is_drawn(p, *event->row))
		push_arrow(p, *event->row,
		        ht_hash_mix(ht_hash_mix((uint64_t)out->rank, (uint64_t)*event->id),
		                ht_hash(event->cat, strlen(event->cat))));
}
