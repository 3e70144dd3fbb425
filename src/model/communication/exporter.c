/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.c - see exporter.h.
 *
 * Rows of the tables become items with a key and numbers; items of one key are added up.
 */
#include "model/communication/exporter.h"

#include "base/checked.h"
#include "base/list.h"
#include "base/sort.h"
#include "json/json_text.h"
#include "store/side_table.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ht_column ht_exporter_step_columns[] = HT_COLUMN_ENTRIES(HT_EXPORTER_STEP_COLUMNS);
const struct ht_column ht_exporter_collective_columns[] =
        HT_COLUMN_ENTRIES(HT_EXPORTER_COLLECTIVE_COLUMNS);
const struct ht_column ht_exporter_bandwidth_columns[] =
        HT_COLUMN_ENTRIES(HT_EXPORTER_BANDWIDTH_COLUMNS);
const struct ht_column ht_exporter_link_columns[] = HT_COLUMN_ENTRIES(HT_EXPORTER_LINK_COLUMNS);
/* ---- items ---- */

enum { CALLS, BYTES, ELAPSED, TRANSIT, WAIT, SYNCHRONIZATION, IDLE, PACKETS, SMALL, N_NUMBERS };
/* of steps */
enum { COMPUTING, OVERLAPPED, EXPOSED, FREE, PREPARING, BUBBLE, STAGE };

struct item {
	int64_t step;                                /* HT_NO_I64: none, or all */
	const char *type, *name, *group, *transport; /* "" where that is no key */
	int64_t src, dst;
	int64_t numbers[N_NUMBERS]; /* HT_NO_I64: not said */
};

struct reading {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_list steps;
	bool by_rank;
	struct item *items;
	size_t n;
};

/* A whole number of a cell in ns or bytes. */
static int64_t whole(const struct ht_trace *t, const struct ht_side_table *table,
        const char *column, uint64_t row, double unit)
{
	double value;
	int64_t exact;
	const struct ht_side_column *cells = ht_side_column_find(t, table, column);
	if (unit == 1 && ht_side_i64(t, cells, row, &exact))
		return exact;
	if (!ht_side_f64(t, cells, row, &value) || !(fabs(value * unit) < 9e18))
		return HT_NO_I64;
	return ht_round_sat(value * unit);
}

static const char *text(const struct ht_trace *t, const struct ht_side_table *table,
        const char *column, uint64_t row)
{
	const char *found = ht_side_str(t, ht_side_column_find(t, table, column), row);
	return found ? found : "";
}

/* A new item of a row's step, unless that was not chosen. */
static struct item *add(struct reading *r, const struct ht_side_table *table, uint64_t row)
{
	int64_t step = whole(r->t, table, "step", row, 1);
	if (r->steps.some && (step == HT_NO_I64 || !ht_list_has(&r->steps, step)))
		return NULL;
	struct item *item = &r->items[r->n++];
	*item = (struct item){ .step = r->by_rank ? HT_NO_I64 : step,
		.type = "",
		.name = "",
		.group = "",
		.transport = "",
		.src = HT_NO_I64,
		.dst = HT_NO_I64 };
	for (size_t i = 0; i < N_NUMBERS; i++)
		item->numbers[i] = HT_NO_I64;
	return item;
}

static int by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int by = ht_order_i64(a->step, b->step);
	by = by ? by : strcmp(a->type, b->type);
	by = by ? by : strcmp(a->name, b->name);
	by = by ? by : strcmp(a->group, b->group);
	by = by ? by : ht_order_i64(a->src, b->src);
	by = by ? by : ht_order_i64(a->dst, b->dst);
	return by ? by : strcmp(a->transport, b->transport);
}

/* Items of one key become one; numbers that nobody says stay unsaid. */
static void add_up(struct reading *r)
{
	size_t n = 0;
	qsort(r->items, r->n, sizeof *r->items, by_key);
	for (size_t i = 0; i < r->n; i++) {
		if (!n || by_key(&r->items[n - 1], &r->items[i])) {
			r->items[n++] = r->items[i];
			continue;
		}
		int64_t *to = r->items[n - 1].numbers;
		for (size_t k = 0; k < N_NUMBERS; k++)
			if (to[k] == HT_NO_I64)
				to[k] = r->items[i].numbers[k];
			else if (r->items[i].numbers[k] != HT_NO_I64)
				ht_sum(&to[k], r->items[i].numbers[k]);
	}
	r->n = n;
}

static bool is_total(const char *op)
{
	return !strcmp(op, "Total Op Info");
}

/* ---- tables ---- */

static void read_steps(struct reading *r, const struct ht_side_table *table)
{
	static const struct {
		int to;
		const char *column;
	} cells[] = { { COMPUTING, "Computing" }, { OVERLAPPED, "Overlapped" },
		{ EXPOSED, "Communication(Not Overlapped)" }, { FREE, "Free" },
		{ PREPARING, "Preparing" }, { BUBBLE, "Bubble" }, { STAGE, "Stage" } };
	for (uint64_t row = 0; row < table->n_rows; row++) {
		struct item *item = add(r, table, row);
		for (size_t i = 0; item && i < HT_COUNT(cells); i++)
			item->numbers[cells[i].to] = whole(r->t, table, cells[i].column, row, 1000);
	}
}

/* Operations of a kind: their name up to the first digit; NULL when out of memory. */
static const char *kind_of(struct reading *r, const char *op)
{
	return ht_arena_strndup(r->run->scratch, op, strcspn(op, "0123456789"));
}

static enum ht_status read_operations(struct reading *r, const struct ht_side_table *table)
{
	static const struct {
		int to;
		const char *column;
	} cells[] = { { ELAPSED, "elapse_ns" }, { TRANSIT, "transit_ns" }, { WAIT, "wait_ns" },
		{ SYNCHRONIZATION, "synchronization_ns" }, { IDLE, "idle_ns" } };
	for (uint64_t row = 0; row < table->n_rows; row++) {
		const char *op = text(r->t, table, "op", row);
		struct item *item = is_total(op) ? NULL : add(r, table, row);
		if (!item)
			continue;
		item->type = text(r->t, table, "type", row);
		item->group = text(r->t, table, "group", row);
		item->name = kind_of(r, op);
		item->numbers[CALLS] = 1;
		for (size_t i = 0; i < HT_COUNT(cells); i++)
			item->numbers[cells[i].to] = whole(r->t, table, cells[i].column, row, 1);
		if (!item->name)
			return ht_fail_nomem(r->run->ctx);
	}
	return HT_OK;
}

/* What operations moved: SDMA, which is a sum, and RDMA. */
static enum ht_status read_bytes(struct reading *r, const struct ht_side_table *table)
{
	for (uint64_t row = 0; row < table->n_rows; row++) {
		const char *op = text(r->t, table, "op", row);
		const char *transport = text(r->t, table, "transport", row);
		bool counts = !strcmp(transport, "SDMA") || !strcmp(transport, "RDMA");
		struct item *item = is_total(op) || !counts ? NULL : add(r, table, row);
		if (!item)
			continue;
		item->type = text(r->t, table, "type", row);
		item->group = text(r->t, table, "group", row);
		item->name = kind_of(r, op);
		item->numbers[BYTES] = whole(r->t, table, "transit_bytes", row, 1);
		if (!item->name)
			return ht_fail_nomem(r->run->ctx);
	}
	return HT_OK;
}

/* {"size in MB": [count, ms], ...} */
static void count_packets(struct item *item, const char *distribution, int64_t small_bytes)
{
	struct ht_json reader = { distribution };
	struct ht_json_value key, value, count;
	if (!*distribution || !ht_json_valid(distribution, strlen(distribution)))
		return;
	struct ht_json_value root = ht_json_next(&reader);
	if (root.type != HT_JSON_OBJECT)
		return;
	for (reader = ht_json_enter(&root); ht_json_member(&reader, &key, &value);) {
		struct ht_number size = ht_number_parse(key.text), n = { .type = HT_NUMBER_NONE };
		struct ht_json list = ht_json_enter(&value);
		if (value.type == HT_JSON_ARRAY && ht_json_element(&list, &count) &&
		        count.type == HT_JSON_NUMBER)
			n = ht_number_parse(count.text);
		double mb = size.type == HT_NUMBER_I64 ? (double)size.i : size.f;
		if (n.type != HT_NUMBER_I64 || n.i < 0 || size.type == HT_NUMBER_NONE)
			continue;
		if (item->numbers[PACKETS] == HT_NO_I64)
			item->numbers[PACKETS] = item->numbers[SMALL] = 0;
		ht_sum(&item->numbers[PACKETS], n.i);
		ht_sum(&item->numbers[SMALL], mb * 1e6 < (double)small_bytes ? n.i : 0);
	}
}

static void read_transports(struct reading *r, const struct ht_side_table *table)
{
	for (uint64_t row = 0; row < table->n_rows; row++) {
		int64_t bytes = whole(r->t, table, "transit_bytes", row, 1);
		bool counts = bytes > 0 && !is_total(text(r->t, table, "op", row));
		struct item *item = counts ? add(r, table, row) : NULL;
		if (!item)
			continue;
		item->transport = text(r->t, table, "transport", row);
		item->numbers[BYTES] = bytes;
		item->numbers[TRANSIT] = whole(r->t, table, "transit_ns", row, 1);
		count_packets(item, text(r->t, table, "size_distribution", row),
		        !strcmp(item->transport, "RDMA") ? HT_SMALL_RDMA_BYTES
		                                         : HT_SMALL_SDMA_BYTES);
	}
}

/* Rows of an operation's kind: "allreduce-top1", -middle, -bottom1; "-total" is the sum. */
static const char *part_of(const char *op)
{
	static const char *const parts[] = { "-total", "-top", "-middle", "-bottom" };
	const char *dash = strrchr(op, '-');
	for (size_t i = 0; dash && i < HT_COUNT(parts); i++)
		if (!strncmp(dash, parts[i], strlen(parts[i])))
			return parts[i];
	return "";
}

static void read_links(struct reading *r, const struct ht_side_table *table)
{
	for (uint64_t row = 0; row < table->n_rows; row++) {
		const char *op = text(r->t, table, "op", row), *part = part_of(op);
		bool counts = !is_total(op) && (!*part || !strcmp(part, "-total"));
		struct item *item = counts ? add(r, table, row) : NULL;
		if (!item)
			continue;
		item->group = text(r->t, table, "group", row);
		item->transport = text(r->t, table, "transport", row);
		item->src = whole(r->t, table, "src_rank", row, 1);
		item->dst = whole(r->t, table, "dst_rank", row, 1);
		item->numbers[BYTES] = whole(r->t, table, "transit_bytes", row, 1);
		item->numbers[TRANSIT] = whole(r->t, table, "transit_ns", row, 1);
	}
}

/* ---- rows ---- */

static void put_number(ht_table *table, size_t column, int64_t value)
{
	ht_table_put_known(table, column, value, HT_NO_I64);
}

static double ratio(int64_t part, int64_t other)
{
	if (part == HT_NO_I64 || other == HT_NO_I64 || other <= 0)
		return NAN;
	return (double)part / (double)other;
}

/* Computing, exposed communication and free time, when all are said. */
static int64_t length_of(const struct item *item)
{
	const int64_t *ns = item->numbers;
	if (ns[COMPUTING] == HT_NO_I64 || ns[EXPOSED] == HT_NO_I64 || ns[FREE] == HT_NO_I64)
		return HT_NO_I64;
	return ht_add_sat(ht_add_sat(ns[COMPUTING], ns[EXPOSED]), ns[FREE]);
}

static void put_step(const struct item *item, ht_table *table)
{
	const int64_t *ns = item->numbers;
	put_number(table, HT_EXPORTER_STEP_NS, length_of(item));
	put_number(table, HT_EXPORTER_COMPUTING, ns[COMPUTING]);
	put_number(table, HT_EXPORTER_OVERLAPPED, ns[OVERLAPPED]);
	put_number(table, HT_EXPORTER_EXPOSED, ns[EXPOSED]);
	put_number(table, HT_EXPORTER_FREE, ns[FREE]);
	put_number(table, HT_EXPORTER_PREPARING, ns[PREPARING]);
	put_number(table, HT_EXPORTER_BUBBLE, ns[BUBBLE]);
	put_number(table, HT_EXPORTER_STAGE, ns[STAGE]);
}

static void put_collective(const struct item *item, ht_table *table)
{
	const int64_t *numbers = item->numbers;
	int64_t both = numbers[WAIT] == HT_NO_I64 || numbers[TRANSIT] == HT_NO_I64
	                       ? HT_NO_I64
	                       : ht_add_sat(numbers[WAIT], numbers[TRANSIT]);
	ht_table_put_str(table, HT_EXPORTER_COLLECTIVE_TYPE, item->type);
	ht_table_put_str(table, HT_EXPORTER_COLLECTIVE_NAME, item->name);
	ht_table_put_str(table, HT_EXPORTER_COLLECTIVE_GROUP, *item->group ? item->group : NULL);
	put_number(table, HT_EXPORTER_COLLECTIVE_CALLS, numbers[CALLS]);
	put_number(table, HT_EXPORTER_COLLECTIVE_BYTES, numbers[BYTES]);
	put_number(table, HT_EXPORTER_COLLECTIVE_ELAPSED_NS, numbers[ELAPSED]);
	put_number(table, HT_EXPORTER_COLLECTIVE_TRANSIT_NS, numbers[TRANSIT]);
	put_number(table, HT_EXPORTER_COLLECTIVE_WAIT_NS, numbers[WAIT]);
	put_number(table, HT_EXPORTER_COLLECTIVE_SYNCHRONIZATION_NS, numbers[SYNCHRONIZATION]);
	put_number(table, HT_EXPORTER_COLLECTIVE_IDLE_NS, numbers[IDLE]);
	ht_table_put_f64(table, HT_EXPORTER_COLLECTIVE_WAIT_SHARE, ratio(numbers[WAIT], both));
}

static void put_bandwidth(const struct item *item, ht_table *table)
{
	const int64_t *numbers = item->numbers;
	ht_table_put_str(table, HT_EXPORTER_BANDWIDTH_TRANSPORT, item->transport);
	put_number(table, HT_EXPORTER_BANDWIDTH_BYTES, numbers[BYTES]);
	put_number(table, HT_EXPORTER_BANDWIDTH_TRANSIT_NS, numbers[TRANSIT]);
	ht_table_put_f64(
	        table, HT_EXPORTER_BANDWIDTH_GB_PER_S, ratio(numbers[BYTES], numbers[TRANSIT]));
	put_number(table, HT_EXPORTER_BANDWIDTH_PACKETS, numbers[PACKETS]);
	put_number(table, HT_EXPORTER_BANDWIDTH_SMALL_PACKETS, numbers[SMALL]);
	ht_table_put_f64(
	        table, HT_EXPORTER_BANDWIDTH_SMALL_SHARE, ratio(numbers[SMALL], numbers[PACKETS]));
	ht_table_put_i64(table, HT_EXPORTER_BANDWIDTH_IS_SUM, !strcmp(item->transport, "SDMA"));
}

/* The rank that has a number in a group, as parallel_group_info says; HT_NO_I64: it does not. */
static int64_t rank_in_group(const struct ht_trace *t, const char *group, int64_t number)
{
	struct ht_json_value rank = { .type = HT_JSON_END };
	for (size_t i = 0; *group && i < t->more->n_headers; i++) {
		struct ht_json reader = { ht_str(t, t->more->headers[i].value) };
		if (strcmp(ht_str(t, t->more->headers[i].key), "parallel_group_info") != 0)
			continue;
		struct ht_json_value groups = ht_json_next(&reader);
		if (groups.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value info = ht_json_get(&groups, group);
		if (info.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value ranks = ht_json_get(&info, "global_ranks");
		struct ht_json list = ht_json_enter(&ranks);
		for (int64_t k = 0; ranks.type == HT_JSON_ARRAY && k <= number; k++)
			if (!ht_json_element(&list, &rank))
				return HT_NO_I64;
	}
	struct ht_number value = { .type = HT_NUMBER_NONE };
	if (rank.type == HT_JSON_NUMBER)
		value = ht_number_parse(rank.text);
	return value.type == HT_NUMBER_I64 ? value.i : HT_NO_I64;
}

static void put_link(const struct reading *r, const struct item *item, ht_table *table)
{
	ht_table_put_str(table, HT_EXPORTER_LINK_GROUP, *item->group ? item->group : NULL);
	put_number(table, HT_EXPORTER_LINK_SRC, item->src);
	put_number(table, HT_EXPORTER_LINK_DST, item->dst);
	ht_table_put_str(
	        table, HT_EXPORTER_LINK_TRANSPORT, *item->transport ? item->transport : NULL);
	put_number(table, HT_EXPORTER_LINK_SRC_RANK, rank_in_group(r->t, item->group, item->src));
	put_number(table, HT_EXPORTER_LINK_DST_RANK, rank_in_group(r->t, item->group, item->dst));
	put_number(table, HT_EXPORTER_LINK_BYTES, item->numbers[BYTES]);
	put_number(table, HT_EXPORTER_LINK_TRANSIT_NS, item->numbers[TRANSIT]);
	ht_table_put_f64(table, HT_EXPORTER_LINK_GB_PER_S,
	        ratio(item->numbers[BYTES], item->numbers[TRANSIT]));
}

static void put(const struct reading *r, enum ht_exporter_view view, ht_table *table)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct item *item = &r->items[i];
		ht_table_row(table);
		ht_table_put_i64(table, HT_EXPORTER_RANK, r->run->rank);
		put_number(table, HT_EXPORTER_STEP, item->step);
		switch (view) {
		case HT_EXPORTER_STEPS: put_step(item, table); break;
		case HT_EXPORTER_COLLECTIVES: put_collective(item, table); break;
		case HT_EXPORTER_BANDWIDTH: put_bandwidth(item, table); break;
		case HT_EXPORTER_LINKS: put_link(r, item, table); break;
		case HT_N_EXPORTER_VIEWS: break;
		}
	}
}

static enum ht_status read_view(struct reading *r, enum ht_exporter_view view,
        const struct ht_side_table *table, const struct ht_side_table *moved)
{
	switch (view) {
	case HT_EXPORTER_STEPS: read_steps(r, table); break;
	case HT_EXPORTER_COLLECTIVES:
		HT_TRY(read_operations(r, table));
		if (moved)
			return read_bytes(r, moved);
		break;
	case HT_EXPORTER_BANDWIDTH: read_transports(r, table); break;
	case HT_EXPORTER_LINKS: read_links(r, table); break;
	case HT_N_EXPORTER_VIEWS: break;
	}
	return HT_OK;
}

/* The items of a view. */
static enum ht_status collect(struct reading *r, enum ht_exporter_view view)
{
	static const char *const tables[] = { "step_trace_time", "communication",
		"communication_bandwidth", "communication_matrix" };
	struct ht_run *run = r->run;
	const struct ht_side_table *from = ht_side_table_find(run->trace, tables[view]);
	const struct ht_side_table *moved =
	        ht_side_table_find(run->trace, tables[HT_EXPORTER_BANDWIDTH]);
	if (!from)
		return HT_OK;
	HT_TRY(ht_list_parse(run->ctx, "--step", run->step, &r->steps));
	r->items = ht_arena_alloc(
	        run->scratch, (from->n_rows + (moved ? moved->n_rows : 0) + 1) * sizeof *r->items);
	enum ht_status status =
	        r->items ? read_view(r, view, from, moved) : ht_fail_nomem(run->ctx);
	ht_list_done(run->ctx, &r->steps);
	HT_TRY(status);
	add_up(r);
	return HT_OK;
}

enum ht_status ht_exporter_put(
        struct ht_run *run, enum ht_exporter_view view, bool by_rank, ht_table *table)
{
	struct reading r = { .run = run, .t = run->trace, .by_rank = by_rank };
	HT_TRY(collect(&r, view));
	put(&r, view, table);
	return HT_OK;
}

enum ht_status ht_exporter_steps(
        struct ht_run *run, bool by_rank, struct ht_exporter_step **ret_steps, size_t *ret_n)
{
	struct reading r = { .run = run, .t = run->trace, .by_rank = by_rank };
	size_t n = 0;
	HT_TRY(collect(&r, HT_EXPORTER_STEPS));
	struct ht_exporter_step *steps = ht_arena_alloc(run->scratch, (r.n + 1) * sizeof *steps);
	if (!steps)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < r.n; i++) {
		const int64_t *ns = r.items[i].numbers;
		int64_t length = length_of(&r.items[i]);
		if (length != HT_NO_I64 && ns[OVERLAPPED] != HT_NO_I64)
			steps[n++] = (struct ht_exporter_step){ r.items[i].step, length,
				ns[COMPUTING], ns[OVERLAPPED], ns[EXPOSED], ns[FREE] };
	}
	*ret_steps = steps;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_exporter_note(struct ht_run *run, ht_table *table)
{
	return ht_table_add_note(table,
	        "rank %lld has no events: its steps are those of the exporter's step_trace_time",
	        (long long)run->rank);
}
