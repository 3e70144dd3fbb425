/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_memory.c - the readers of memory_record.csv, npu_module_mem.csv and operator_memory.csv.
 *
 * All become [memory] events, as PyTorch's profiler writes them for GPUs:
 *   memory_record     a sample: totals of a component (PTA, GE, PTA+GE, APP, WORKSPACE) and no bytes of its own
 *   npu_module_mem    a sample of what a module of the driver has reserved; its component is "module " and its name
 *   operator_memory   an allocation and its release, each with its bytes, the operator, and a made-up address that
 *                     tells which belong together. cann:: operators allocate for GE, all others for PTA. A time that
 *                     is missing lies outside the recording, and that half is left out.
 * Sizes are in bytes: MB and KB are 1024's.
 */
#include "read/ascend.h"

#include <strings.h>

static const char *const component_names[] = { "Component", "Tag", NULL };
static const char *const time_names[] = { "Timestamp(us)", "Timestamp", NULL };
static const char *const device_names[] = { "Device Type", "Device", "Device_id", NULL };

/* A size column: KB or MB, whichever the header has. */
struct size {
	size_t at; /* SIZE_MAX: none */
	int64_t unit;
	uint32_t column;
};

enum { ALLOCATED, RESERVED, ACTIVE, N_TOTALS };
static const char *const total_names[N_TOTALS] = { "Total Allocated", "Total Reserved",
	"Total Active" };

/* The args that memory events have. */
struct args {
	uint32_t category, name;
	uint32_t device_type, device_id, bytes, addr, component, operator, totals[N_TOTALS];
};

struct reading {
	struct ht_builder *builder;
	struct ht_rows rows;
	struct ht_ascend_plan plan;
	bool has_plan;
	struct args args;
	size_t component, time, device;
	struct size totals[2 * N_TOTALS]; /* of a sample or an allocation, then of a release */
	/* operator_memory */
	size_t name, release;
	struct size size;
	int64_t next_addr;
};

static struct args make_args(struct ht_rows *rows)
{
	struct args args = { .category = ht_rows_text(rows, "cpu_instant_event", 17),
		.name = ht_rows_text(rows, "[memory]", 8),
		.device_type = ht_rows_column(rows, "Device Type", 11, HT_ARG_I64),
		.device_id = ht_rows_column(rows, "Device Id", 9, HT_ARG_I64),
		.bytes = ht_rows_column(rows, "Bytes", 5, HT_ARG_I64),
		.addr = ht_rows_column(rows, "Addr", 4, HT_ARG_I64),
		.component = ht_rows_column(rows, "Component", 9, HT_ARG_STR),
		.operator= ht_rows_column(rows, "Operator", 8, HT_ARG_STR) };
	for (size_t i = 0; i < N_TOTALS; i++)
		args.totals[i] =
		        ht_rows_column(rows, total_names[i], strlen(total_names[i]), HT_ARG_I64);
	return args;
}

/* The column "prefix name(MB)" or "(KB)". */
static struct size find_size(struct reading *r, const struct ht_csv *header, const char *prefix,
        const char *name, uint32_t column)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} units[] = { { "(MB)", 1 << 20 }, { "(KB)", 1 << 10 }, { "(B)", 1 } };
	struct size size = { .at = SIZE_MAX, .column = column };
	for (size_t i = 0; i < HT_COUNT(units) && size.at == SIZE_MAX; i++) {
		char *text = ht_arena_printf(&r->plan.arena, "%s%s%s", prefix, name, units[i].text);
		const char *const names[] = { text, NULL };
		if (text)
			size.at = ht_ascend_take(&r->plan, header, names);
		size.unit = units[i].bytes;
	}
	return size;
}

static enum ht_status begin(struct reading *r, const struct ht_csv *header)
{
	HT_TRY(ht_ascend_plan_make(header, &r->plan));
	r->has_plan = true;
	r->args = make_args(&r->rows);
	r->component = ht_ascend_take(&r->plan, header, component_names);
	r->device = ht_ascend_take(&r->plan, header, device_names);
	return HT_OK;
}

static enum ht_status fail_columns(const struct ht_csv *header)
{
	return ht_fail(header->ctx, HT_FORMAT, header->path, 0, NULL,
	        "the table does not have the columns of its kind");
}

static void begin_event(struct reading *r, const struct ht_csv *row, int64_t ts_ns)
{
	int64_t type = HT_ASCEND_DEVICE_TYPE, id = 0;
	if (r->device != SIZE_MAX)
		ht_ascend_device(&row->cells[r->device], &type, &id);
	ht_row_begin(&r->rows, 'i', r->args.category, r->args.name);
	ht_row_time(&r->rows, ts_ns);
	ht_row_put(&r->rows, r->args.device_type, (uint64_t)type);
	ht_row_put(&r->rows, r->args.device_id, (uint64_t)id);
}

/* Sizes that the row has, of totals[first, first + N_TOTALS). */
static void put_totals(struct reading *r, const struct ht_csv *row, size_t first)
{
	for (size_t i = first; i < first + N_TOTALS; i++) {
		const struct size *size = &r->totals[i];
		int64_t bytes;
		if (size->at != SIZE_MAX &&
		        ht_ascend_bytes(&row->cells[size->at], size->unit, &bytes))
			ht_row_put(&r->rows, size->column, (uint64_t)bytes);
	}
}

/* ---- samples ---- */

static enum ht_status begin_samples(void *user, const struct ht_csv *header)
{
	struct reading *r = user;
	HT_TRY(begin(r, header));
	r->time = ht_ascend_take(&r->plan, header, time_names);
	for (size_t i = 0; i < N_TOTALS; i++)
		r->totals[i] = find_size(r, header, "", total_names[i], r->args.totals[i]);
	return r->component == SIZE_MAX || r->time == SIZE_MAX ? fail_columns(header) : HT_OK;
}

static enum ht_status put_named_sample(
        struct reading *r, const struct ht_csv *row, const char *component, size_t n)
{
	int64_t ts_ns;
	if (!n || !ht_ascend_time(&row->cells[r->time], &ts_ns)) {
		ht_ascend_lose_row(r->builder, row->is_cut, row->offset);
		return HT_OK;
	}
	begin_event(r, row, ts_ns);
	ht_row_put(&r->rows, r->args.component, ht_rows_text(&r->rows, component, n));
	put_totals(r, row, 0);
	ht_ascend_put_rest(&r->plan, row, &r->rows);
	return ht_row_end(&r->rows, row->offset);
}

static enum ht_status put_sample(void *user, const struct ht_csv *row)
{
	struct reading *r = user;
	const struct ht_csv_cell *component = &row->cells[r->component];
	return put_named_sample(r, row, component->text, component->n);
}

static enum ht_status put_module(void *user, const struct ht_csv *row)
{
	struct reading *r = user;
	const struct ht_csv_cell *component = &row->cells[r->component];
	char name[128] = "module ";
	size_t n = component->n < 100 ? component->n : 100;
	memcpy(name + 7, component->text, n);
	return put_named_sample(r, row, name, n ? n + 7 : 0);
}

/* ---- allocations ---- */

static enum ht_status begin_allocations(void *user, const struct ht_csv *header)
{
	static const char *const names[] = { "Name", "Operator", NULL };
	static const char *const allocation[] = { "Allocation Time(us)", NULL };
	static const char *const release[] = { "Release Time(us)", NULL };
	struct reading *r = user;
	HT_TRY(begin(r, header));
	r->name = ht_ascend_take(&r->plan, header, names);
	r->time = ht_ascend_take(&r->plan, header, allocation);
	r->release = ht_ascend_take(&r->plan, header, release);
	r->size = find_size(r, header, "", "Size", r->args.bytes);
	for (size_t i = 0; i < N_TOTALS; i++) {
		r->totals[i] =
		        find_size(r, header, "Allocation ", total_names[i], r->args.totals[i]);
		r->totals[N_TOTALS + i] =
		        find_size(r, header, "Release ", total_names[i], r->args.totals[i]);
	}
	bool complete = r->name != SIZE_MAX && r->time != SIZE_MAX && r->release != SIZE_MAX &&
	                r->size.at != SIZE_MAX;
	return complete ? HT_OK : fail_columns(header);
}

static enum ht_status put_half(struct reading *r, const struct ht_csv *row, int64_t ts_ns,
        int64_t bytes, size_t first_total)
{
	const struct ht_csv_cell *name = &row->cells[r->name];
	bool is_ge = name->n > 6 && !memcmp(name->text, "cann::", 6);
	begin_event(r, row, ts_ns);
	ht_row_put(&r->rows, r->args.bytes, (uint64_t)bytes);
	ht_row_put(&r->rows, r->args.addr, (uint64_t)r->next_addr);
	ht_row_put(&r->rows, r->args.component,
	        ht_rows_text(&r->rows, is_ge ? "GE" : "PTA", is_ge ? 2 : 3));
	if (name->n)
		ht_row_put(&r->rows, r->args.operator, ht_rows_text(&r->rows, name->text, name->n));
	put_totals(r, row, first_total);
	if (bytes >= 0)
		ht_ascend_put_rest(&r->plan, row, &r->rows);
	return ht_row_end(&r->rows, row->offset);
}

static enum ht_status put_allocation(void *user, const struct ht_csv *row)
{
	struct reading *r = user;
	int64_t bytes, alloc_ns, free_ns;
	bool has_alloc = ht_ascend_time(&row->cells[r->time], &alloc_ns);
	bool has_free = ht_ascend_time(&row->cells[r->release], &free_ns);
	if (!ht_ascend_bytes(&row->cells[r->size.at], r->size.unit, &bytes) || bytes == INT64_MIN ||
	        (!has_alloc && !has_free)) {
		ht_ascend_lose_row(r->builder, row->is_cut, row->offset);
		return HT_OK;
	}
	bytes = bytes < 0 ? -bytes : bytes;
	r->next_addr++;
	if (has_alloc)
		HT_TRY(put_half(r, row, alloc_ns, bytes, 0));
	return has_free ? put_half(r, row, free_ns, -bytes, N_TOTALS) : HT_OK;
}

/* ---- readers ---- */

static enum ht_status read_with(struct ht_builder *builder, const struct ht_reading *reading,
        enum ht_status (*begin_table)(void *, const struct ht_csv *),
        enum ht_status (*put_row)(void *, const struct ht_csv *))
{
	struct reading r = { .builder = builder };
	struct ht_ascend_table table = { begin_table, put_row, &r, NULL, NULL };
	ht_rows_init(&r.rows, builder);
	enum ht_status status = ht_ascend_read_table(builder, reading, &table);
	ht_rows_done(&r.rows);
	if (r.has_plan)
		ht_ascend_plan_done(&r.plan);
	return status;
}

static bool starts_with(const struct ht_head *head, const char *name)
{
	return !strncasecmp(head->name, name, strlen(name));
}

static bool has_samples(const struct ht_head *head)
{
	static const char *const now[] = { "Component", "Timestamp(us)", NULL };
	static const char *const before[] = { "Tag", "Timestamp(us)", NULL };
	return ht_ascend_header_has(head, now) || ht_ascend_header_has(head, before);
}

static bool sniff_record(const struct ht_head *head)
{
	return has_samples(head) && !starts_with(head, "npu_module_mem");
}

static bool sniff_module(const struct ht_head *head)
{
	return has_samples(head) && starts_with(head, "npu_module_mem");
}

static bool sniff_operator(const struct ht_head *head)
{
	static const char *const columns[] = { "Size(KB)", "Allocation Time(us)",
		"Release Time(us)", NULL };
	return ht_ascend_header_has(head, columns);
}

static enum ht_status read_record(struct ht_builder *builder, const struct ht_reading *reading)
{
	return read_with(builder, reading, begin_samples, put_sample);
}

static enum ht_status read_module(struct ht_builder *builder, const struct ht_reading *reading)
{
	return read_with(builder, reading, begin_samples, put_module);
}

static enum ht_status read_operator(struct ht_builder *builder, const struct ht_reading *reading)
{
	return read_with(builder, reading, begin_allocations, put_allocation);
}

const struct ht_reader ht_reader_ascend_memory_record = {
	.name = "ascend-memory-record",
	.what = "memory samples of Ascend",
	.by_name_only = true,
	.sniff = sniff_record,
	.read = read_record,
};

const struct ht_reader ht_reader_ascend_module_memory = {
	.name = "ascend-module-memory",
	.what = "memory of Ascend's modules",
	.by_name_only = true,
	.sniff = sniff_module,
	.read = read_module,
};

const struct ht_reader ht_reader_ascend_operator_memory = {
	.name = "ascend-operator-memory",
	.what = "allocations of Ascend",
	.by_name_only = true,
	.sniff = sniff_operator,
	.read = read_operator,
};
