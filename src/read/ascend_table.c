/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_table.c - the reader of all other CSV files of Ascend's exporter: they become side tables.
 *
 * A table has the name of its file without ending (step_trace_time, operator_details, op_statistic, l2_cache, ...),
 * the columns and the numbers of the file. Stamps of time do not fit a double: columns that hold them are read in
 * nanoseconds, and "(us)" in their names becomes "(ns)".
 */
#include "read/ascend.h"

#include "base/number.h"
#include "store/draft.h"

#include <strings.h>

static const char *const stamps[] = { "Timestamp(us)", "task_start(us)", "task_stop(us)",
	"Start Time(us)" };

/* Files that are known; others need a header that looks like one. */
static const char *const files[] = { "step_trace_time", "operator_details", "op_statistic",
	"api_statistic", "l2_cache", "data_preprocess", "task_time", "static_op_mem", "hccs",
	"pcie", "nic", "roce", "soc_pmu", "communication_statistic", "cluster_step_trace_time" };

struct column {
	uint32_t at;
	bool is_stamp;
};

struct reading {
	struct ht_builder *builder;
	const char *name;
	uint32_t table;
	struct column *columns;
	size_t n_columns;
	struct ht_arena arena;
};

static bool is_stamp(const struct ht_csv_cell *cell)
{
	for (size_t i = 0; i < HT_COUNT(stamps); i++)
		if (strlen(stamps[i]) == cell->n && !strncasecmp(stamps[i], cell->text, cell->n))
			return true;
	return false;
}

static enum ht_status begin(void *user, const struct ht_csv *header)
{
	struct reading *r = user;
	const char *dot = strchr(r->name, '.');
	size_t n_name = dot ? (size_t)(dot - r->name) : strlen(r->name);
	char *name = ht_arena_strndup(&r->arena, r->name, n_name);
	r->columns = ht_arena_alloc(&r->arena, (header->n_cells + 1) * sizeof *r->columns);
	r->n_columns = header->n_cells;
	r->table = name ? ht_draft_table(r->builder, name) : UINT32_MAX;
	for (size_t i = 0; r->columns && i < header->n_cells; i++) {
		const struct ht_csv_cell *cell = &header->cells[i];
		char *key = ht_arena_strndup(&r->arena, cell->text, cell->n);
		r->columns[i].is_stamp = is_stamp(cell);
		if (!key)
			return ht_fail_nomem(header->ctx);
		if (r->columns[i].is_stamp)
			memcpy(key + cell->n - 4, "(ns)", 4);
		r->columns[i].at = ht_draft_column(r->builder, r->table, key, cell->n);
		if (r->columns[i].at == UINT32_MAX)
			return ht_fail_nomem(header->ctx);
	}
	return r->columns && r->table != UINT32_MAX ? HT_OK : ht_fail_nomem(header->ctx);
}

static bool put_cell(struct reading *r, const struct column *column, const struct ht_csv_cell *cell)
{
	struct ht_builder *b = r->builder;
	int64_t ns;
	if (column->is_stamp && ht_ascend_time(cell, &ns))
		return ht_draft_put_i64(b, r->table, column->at, ns);
	struct ht_number number = ht_number_parse(cell->text);
	if (number.end != cell->text + cell->n)
		number.type = HT_NUMBER_NONE;
	switch (number.type) {
	case HT_NUMBER_I64: return ht_draft_put_i64(b, r->table, column->at, number.i);
	case HT_NUMBER_F64: return ht_draft_put_f64(b, r->table, column->at, number.f);
	case HT_NUMBER_U64:
	case HT_NUMBER_NONE: break;
	}
	return ht_draft_put_str(b, r->table, column->at, cell->text, cell->n);
}

static enum ht_status put(void *user, const struct ht_csv *row)
{
	struct reading *r = user;
	ht_draft_row(r->builder, r->table);
	for (size_t i = 0; i < r->n_columns && i < row->n_cells; i++)
		if (!ht_ascend_is_missing(&row->cells[i]) &&
		        !put_cell(r, &r->columns[i], &row->cells[i]))
			return ht_fail_nomem(row->ctx);
	return HT_OK;
}

static bool sniff(const struct ht_head *head)
{
	const char *end = memchr(head->text, '\n', head->n);
	if (!end || !memchr(head->text, ',', (size_t)(end - head->text)))
		return false;
	for (size_t i = 0; i < HT_COUNT(files); i++)
		if (!strncmp(head->name, files[i], strlen(files[i])))
			return true;
	return false;
}

static enum ht_status read_table(struct ht_builder *builder, const struct ht_reading *reading)
{
	const char *slash = strrchr(reading->path, '/');
	struct reading r = { .builder = builder, .name = slash ? slash + 1 : reading->path };
	struct ht_ascend_table table = { begin, put, &r, NULL, NULL };
	ht_arena_init(&r.arena, builder->mem);
	enum ht_status status = ht_ascend_read_table(builder, reading, &table);
	ht_arena_done(&r.arena);
	return status;
}

const struct ht_reader ht_reader_ascend_table = {
	.name = "ascend-table",
	.what = "a table of Ascend",
	.by_name_only = true,
	.sniff = sniff,
	.read = read_table,
};
