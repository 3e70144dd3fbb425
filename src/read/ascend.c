/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.c - see ascend.h.
 */
#include "read/ascend.h"

#include "base/checked.h"
#include "base/mem.h"
#include "base/number.h"
#include "read/decimals.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

/* Columns in whose cells N/A is a text, and names that have changed: the older ones are kept. */
static const char *const texts[] = { "Type", "OP State", "Accelerator Core", "HF32 Eligible",
	"Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types",
	"Output Formats", "Name" };
static const struct {
	const char *from, *to;
} renamed[] = { { "Block Num", "Block Dim" }, { "Mix Block Num", "Mix Block Dim" } };
/* Other columns that somebody asks for: these, and the counters of pipes. */
static const char *const others[] = { "Step Id", "Device_id", "Model ID", "Task ID", "Stream ID",
	"Block Dim", "Mix Block Dim", "Wait Time(us)", "Context ID", "aicore_time(us)",
	"aiv_time(us)", "total_cycles", "aic_total_cycles", "aiv_total_cycles", "memory_bound",
	"cube_utilization(%)" };
static const char *const cores[] = { "aic_", "aiv_", "" };
static const char *const pipes[] = { "vec", "mac", "scalar", "mte1", "mte2", "mte3", "fixpipe" };
static const char *const counters[] = { "_time(us)", "_ratio", "_exe_time(us)", "_exe_ratio" };

/* A document, which may be one line of gigabytes, with every word of a header somewhere in it. */
static bool is_json(const struct ht_head *head)
{
	bool has_mark = head->n >= 3 && !memcmp(head->text, "\xef\xbb\xbf", 3);
	size_t i = has_mark ? 3 : 0;
	while (i < head->n && strchr(" \t\r\n", head->text[i]) && head->text[i])
		i++;
	return i < head->n && (head->text[i] == '{' || head->text[i] == '[');
}

bool ht_ascend_header_has(const struct ht_head *head, const char *const *columns)
{
	const char *text = head->text, *end = memchr(text, '\n', head->n);
	if (is_json(head))
		return false;
	end = end ? end : text + head->n;
	for (; *columns; columns++) {
		size_t n = strlen(*columns);
		bool found = false;
		for (const char *p = text; !found && p + n <= end; p++) {
			bool starts = p == text || strchr(", \t\"", p[-1]) ||
			              (p == text + 3 && !memcmp(text, "\xef\xbb\xbf", 3));
			found = starts && !strncasecmp(p, *columns, n) &&
			        (p + n == end || strchr(", \t\"\r", p[n]));
		}
		if (!found)
			return false;
	}
	return true;
}

bool ht_ascend_time(const struct ht_csv_cell *cell, int64_t *ret_ns)
{
	if (ht_ascend_is_missing(cell))
		return false;
	struct ht_time time = ht_time_parse(cell->text);
	*ret_ns = time.ns;
	return time.end == cell->text + cell->n;
}

bool ht_ascend_bytes(const struct ht_csv_cell *cell, int64_t unit, int64_t *ret_bytes)
{
	struct ht_number number = ht_number_parse(cell->text);
	if (ht_ascend_is_missing(cell) || number.end != cell->text + cell->n)
		return false;
	double units = number.type == HT_NUMBER_I64 ? (double)number.i : number.f;
	if (number.type == HT_NUMBER_U64 || number.type == HT_NUMBER_NONE ||
	        fabs(units) > 9e18 / (double)unit)
		return false;
	if (number.type == HT_NUMBER_I64)
		*ret_bytes = number.i * unit;
	else
		*ret_bytes = ht_round_sat(units * (double)unit);
	return true;
}

bool ht_ascend_i64(const struct ht_csv_cell *cell, int64_t *ret_value)
{
	uint8_t scale;
	if (ht_decimal_read(cell->text, cell->n, ret_value, &scale))
		return !scale;
	struct ht_number number = ht_number_parse(cell->text);
	if (!cell->n || number.type != HT_NUMBER_I64 || number.end != cell->text + cell->n)
		return false;
	*ret_value = number.i;
	return true;
}

void ht_ascend_device(const struct ht_csv_cell *cell, int64_t *ret_type, int64_t *ret_id)
{
	struct ht_csv_cell id = *cell;
	*ret_type = cell->n >= 3 && !strncasecmp(cell->text, "CPU", 3) ? 0 : HT_ASCEND_DEVICE_TYPE;
	if (cell->n > 4 && cell->text[3] == ':')
		id = (struct ht_csv_cell){ cell->text + 4, cell->n - 4 };
	if (!ht_ascend_i64(&id, ret_id))
		*ret_id = 0;
}

/* ---- args ---- */

static bool is_named(const struct ht_csv_cell *cell, const char *name)
{
	return strlen(name) == cell->n && !strncasecmp(name, cell->text, cell->n);
}

/* The one of a list that a cell is, case aside; NULL: none. */
static const char *find_name(
        const struct ht_csv_cell *cell, const char *const *names, size_t n_names)
{
	for (size_t i = 0; i < n_names; i++)
		if (is_named(cell, names[i]))
			return names[i];
	return NULL;
}

/* A counter of a pipe, as "aic_mte2_ratio"; case aside. */
static bool is_counter(const struct ht_csv_cell *cell)
{
	char name[64];
	for (size_t i = 0; i < HT_COUNT(cores); i++)
		for (size_t k = 0; k < HT_COUNT(pipes); k++)
			for (size_t m = 0; m < HT_COUNT(counters); m++) {
				(void)snprintf(name, sizeof name, "%s%s%s", cores[i], pipes[k],
				        counters[m]);
				if (is_named(cell, name))
					return true;
			}
	return false;
}

/* The name that a column is known by, as it is written there; of others as it is. NULL when out of memory. */
static const char *name_of(const struct ht_csv_cell *header, struct ht_arena *arena, bool *ret_text)
{
	const char *known = find_name(header, texts, HT_COUNT(texts));
	*ret_text = known != NULL;
	if (!known)
		known = find_name(header, others, HT_COUNT(others));
	for (size_t i = 0; !known && i < HT_COUNT(renamed); i++)
		if (is_named(header, renamed[i].from))
			known = renamed[i].to;
	if (known)
		return known;
	char *name = ht_arena_strndup(arena, header->text, header->n);
	bool has_case = !is_counter(header);
	for (size_t i = 0; name && !has_case && i < header->n; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] + ('a' - 'A'));
	return name;
}

/* Whether a column of that name was there before; false when out of memory. */
static bool note_name(
        struct ht_mem *mem, struct ht_text_table *names, const char *name, bool *ret_repeated)
{
	size_t n = strlen(name);
	struct ht_text text = { name, ht_hash(name, n), (uint32_t)n, 0 };
	*ret_repeated = ht_text_table_find(names, name, n, text.hash) != NULL;
	return *ret_repeated || ht_text_table_put(mem, names, &text);
}

enum ht_status ht_ascend_plan_make(const struct ht_csv *header, struct ht_ascend_plan *ret_plan)
{
	struct ht_ascend_plan plan = { .n = 0 };
	struct ht_mem *mem = header->ctx->mem;
	struct ht_text_table names = { 0 };
	ht_arena_init(&plan.arena, mem);
	plan.columns = ht_arena_alloc(&plan.arena, (header->n_cells + 1) * sizeof *plan.columns);
	bool ok = plan.columns != NULL;
	for (size_t i = 0; ok && i < header->n_cells; i++) {
		struct ht_ascend_column column = { .n_key = 0 };
		column.key = name_of(&header->cells[i], &plan.arena, &column.is_text);
		ok = column.key && note_name(mem, &names, column.key, &column.is_used);
		column.n_key = ok ? strlen(column.key) : 0;
		column.is_used |= !column.n_key;
		memset(column.of, 0xff, sizeof column.of);
		plan.columns[plan.n++] = column;
	}
	ht_mem_free(mem, names.slots, names.cap * sizeof *names.slots);
	if (!ok) {
		ht_arena_done(&plan.arena);
		return ht_fail_nomem(header->ctx);
	}
	*ret_plan = plan;
	return HT_OK;
}

void ht_ascend_plan_done(struct ht_ascend_plan *plan)
{
	ht_arena_done(&plan->arena);
}

size_t ht_ascend_take(
        struct ht_ascend_plan *plan, const struct ht_csv *header, const char *const *names)
{
	for (; *names; names++) {
		size_t i = ht_csv_find(header, *names);
		if (i == SIZE_MAX)
			continue;
		plan->columns[i].is_used = true;
		return i;
	}
	return SIZE_MAX;
}

static uint32_t column_of(
        struct ht_ascend_column *column, enum ht_arg_type type, struct ht_rows *rows)
{
	if (column->of[type] == UINT32_MAX)
		column->of[type] = ht_rows_column(rows, column->key, column->n_key, type);
	return column->of[type];
}

static uint32_t text_of(
        struct ht_ascend_column *column, const struct ht_csv_cell *cell, struct ht_rows *rows)
{
	if (column->last && column->n_last == cell->n && !memcmp(column->last, cell->text, cell->n))
		return column->last_id;
	column->last_id = ht_rows_text(rows, cell->text, cell->n);
	/* the pool's own text does not move, this one does */
	column->last = ht_rows_text_at(rows, column->last_id, &column->n_last);
	return column->last_id;
}

void ht_ascend_put_rest(struct ht_ascend_plan *plan, const struct ht_csv *row, struct ht_rows *rows)
{
	for (size_t i = 0; i < plan->n && i < row->n_cells; i++) {
		struct ht_ascend_column *column = &plan->columns[i];
		const struct ht_csv_cell *cell = &row->cells[i];
		if (column->is_used || !cell->n)
			continue;
		if (!column->is_text && ht_ascend_is_missing(cell))
			continue;
		struct ht_number number = { .type = HT_NUMBER_NONE };
		if (!column->is_text)
			number = ht_ascend_number(cell);
		if (number.end != cell->text + cell->n)
			number.type = HT_NUMBER_NONE;
		uint64_t value;
		enum ht_arg_type type = HT_ARG_STR;
		switch (number.type) {
		case HT_NUMBER_I64: type = HT_ARG_I64; break;
		case HT_NUMBER_U64: type = HT_ARG_U64; break;
		case HT_NUMBER_F64: type = HT_ARG_F64; break;
		case HT_NUMBER_NONE: break;
		}
		if (type == HT_ARG_STR)
			value = text_of(column, cell, rows);
		else
			memcpy(&value, &number.i, sizeof value);
		ht_row_put(rows, column_of(column, type, rows), value);
	}
}

/* ---- tables ---- */

void ht_ascend_lose_row(struct ht_builder *builder, bool is_cut, int64_t offset)
{
	ht_chunk_stat(&builder->all, is_cut ? HT_STAT_truncated : HT_STAT_row_lost, offset, 1);
}

static enum ht_status read_rows(
        struct ht_builder *builder, struct ht_csv *csv, const struct ht_ascend_table *table)
{
	size_t n_columns = csv->n_cells;
	for (bool more;;) {
		HT_TRY(ht_csv_next(csv, &more));
		if (!more)
			return HT_OK;
		if (csv->n_cells < n_columns)
			ht_ascend_lose_row(builder, csv->is_cut, csv->offset);
		else
			HT_TRY(table->put(table->user, csv));
	}
}

static enum ht_status read_many(
        struct ht_builder *builder, struct ht_csv *csv, const struct ht_ascend_table *table)
{
	struct ht_csv_rows rows;
	enum ht_status status;
	ht_csv_rows_init(&rows, csv->ctx, csv->n_cells);
	while ((status = ht_csv_next_rows(csv, &rows)) == HT_OK && rows.n) {
		if (rows.is_short)
			ht_ascend_lose_row(builder, rows.is_cut, rows.offset);
		else if ((status = table->put_rows(table->user, &rows)) != HT_OK)
			break;
	}
	ht_csv_rows_done(&rows);
	return status;
}

enum ht_status ht_ascend_read_table(struct ht_builder *builder, const struct ht_reading *reading,
        const struct ht_ascend_table *table)
{
	struct ht_csv csv;
	bool more = false;
	ht_csv_init(&csv, builder->ctx, reading->source, reading->path);
	if (reading->chunk_bytes)
		csv.piece_bytes = reading->chunk_bytes;
	enum ht_status status = ht_csv_next(&csv, &more);
	if (status == HT_OK && !more)
		status = ht_fail(builder->ctx, HT_FORMAT, reading->path, 0,
		        "the export may have been interrupted", "the file is empty");
	if (status == HT_OK)
		status = table->begin(table->user, &csv);
	if (status == HT_OK)
		status = table->many && *table->many ? read_many(builder, &csv, table)
		                                     : read_rows(builder, &csv, table);
	ht_csv_done(&csv);
	const struct ht_damage *damage = ht_source_damage(reading->source);
	if (status == HT_OK && damage->kind != HT_DAMAGE_NONE)
		ht_chunk_stat(&builder->all,
		        damage->kind == HT_DAMAGE_TRUNCATED ? HT_STAT_truncated
		                                            : HT_STAT_corrupt_stream,
		        (int64_t)ht_source_pos(reading->source), 1);
	builder->dialect = HT_DIALECT_ASCEND;
	return status;
}
