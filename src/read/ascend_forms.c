/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_forms.c - see ascend_forms.h.
 */
#include "read/ascend_forms.h"

#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/checked.h"
#include "read/ascend.h"
#include "read/ascend_db.h"
#include "read/discover.h"
#include "store/draft.h"

#include <strings.h>

enum what { KERNELS, COLLECTIVES, ALLOCATIONS, SAMPLES, STEPS, N_WHAT };

/* Of one form. */
struct tally {
	bool is_known[N_WHAT];
	int64_t count[N_WHAT], total[N_WHAT];
};

static void add(struct tally *tally, enum what what, int64_t value)
{
	tally->count[what]++;
	ht_sum(&tally->total[what], value);
}

/* ---- text ---- */

/* A table that is counted: its columns, and what a row adds. */
struct counting {
	struct tally *tally;
	size_t columns[4]; /* SIZE_MAX: not there */
};

struct counted {
	const char *file;
	enum what what[2]; /* what it tells of */
	/* the first of each list that the header has */
	const char *const names[4][4];
	void (*add)(struct counting *c, const struct ht_csv *row);
};

static const struct ht_csv_cell *cell_of(
        const struct counting *c, size_t i, const struct ht_csv *row)
{
	static const struct ht_csv_cell none = { "", 0 };
	return c->columns[i] < row->n_cells ? &row->cells[c->columns[i]] : &none;
}

static bool is_text(const struct ht_csv_cell *cell, const char *text)
{
	return cell->n == strlen(text) && !strncasecmp(cell->text, text, cell->n);
}

static void add_kernel(struct counting *c, const struct ht_csv *row)
{
	const struct ht_csv_cell *core = cell_of(c, 1, row);
	bool talks = is_text(core, "HCCL") || is_text(core, "COMMUNICATION");
	int64_t ns;
	if (ht_ascend_time(cell_of(c, 0, row), &ns))
		add(c->tally, talks ? COLLECTIVES : KERNELS, ns);
}

static void add_allocation(struct counting *c, const struct ht_csv *row)
{
	int64_t bytes;
	if (ht_ascend_bytes(cell_of(c, 0, row), 1024, &bytes) && bytes != INT64_MIN)
		add(c->tally, ALLOCATIONS, bytes < 0 ? -bytes : bytes);
}

static void add_sample(struct counting *c, const struct ht_csv *row)
{
	int64_t bytes = 0;
	bool in_mb = c->columns[0] != SIZE_MAX;
	(void)ht_ascend_bytes(cell_of(c, in_mb ? 0 : 1, row), in_mb ? 1 << 20 : 1 << 10, &bytes);
	add(c->tally, SAMPLES, bytes);
}

static void add_step(struct counting *c, const struct ht_csv *row)
{
	int64_t sum = 0, ns;
	for (size_t i = 0; i < 3; i++)
		ht_sum(&sum, ht_ascend_time(cell_of(c, i, row), &ns) ? ns : 0);
	add(c->tally, STEPS, sum);
}

static const struct counted tables[] = {
	{ "kernel_details.csv", { KERNELS, COLLECTIVES },
	        { { "Duration(us)", "Duration" }, { "Accelerator Core" } }, add_kernel },
	{ "operator_memory.csv", { ALLOCATIONS, ALLOCATIONS }, { { "Size(KB)" } }, add_allocation },
	{ "memory_record.csv", { SAMPLES, SAMPLES },
	        { { "Total Allocated(MB)" }, { "Total Allocated(KB)" } }, add_sample },
	{ "step_trace_time.csv", { STEPS, STEPS },
	        { { "Computing" }, { "Communication(Not Overlapped)" }, { "Free" } }, add_step },
};

static enum ht_status count_rows(struct ht_builder *builder, struct ht_source *source,
        const char *path, const struct counted *counted, struct tally *tally)
{
	struct ht_csv csv;
	bool more = false;
	struct counting c = { .tally = tally };
	ht_csv_init(&csv, builder->ctx, source, path);
	enum ht_status status = ht_csv_next(&csv, &more);
	size_t n_columns = csv.n_cells;
	for (size_t i = 0; i < HT_COUNT(c.columns); i++) {
		c.columns[i] = SIZE_MAX;
		for (size_t k = 0; more && counted->names[i][k] && c.columns[i] == SIZE_MAX; k++)
			c.columns[i] = ht_csv_find(&csv, counted->names[i][k]);
	}
	while (status == HT_OK && more) {
		status = ht_csv_next(&csv, &more);
		if (status == HT_OK && more && csv.n_cells >= n_columns)
			counted->add(&c, &csv);
	}
	ht_csv_done(&csv);
	for (size_t i = 0; status == HT_OK && i < HT_COUNT(counted->what); i++)
		tally->is_known[counted->what[i]] = true;
	return status;
}

static enum ht_status count_text(struct ht_builder *builder, const char *path, struct tally *tally)
{
	for (size_t i = 0; i < HT_COUNT(tables); i++) {
		struct ht_source *source;
		if (strncmp(ht_file_name(path), tables[i].file, strlen(tables[i].file)) != 0)
			continue;
		HT_TRY(ht_source_open(builder->ctx, path, &source));
		enum ht_status status = count_rows(builder, source, path, &tables[i], tally);
		ht_source_close(source);
		HT_TRY(status);
	}
	return HT_OK;
}

/* ---- database ---- */

/* A count and a sum, and the columns that they are over. */
struct question {
	enum what what;
	const char *table, *columns[4];
	const char *sql;
};

/* Tables and columns that are missing leave it unknown. */
static void ask(struct ht_database *file, struct tally *tally, const struct question *question)
{
	enum what what = question->what;
	sqlite3_stmt *query;
	if (!ht_database_has_table(file, question->table))
		return;
	for (size_t i = 0; i < HT_COUNT(question->columns) && question->columns[i]; i++)
		if (!ht_database_has_column(file, question->table, question->columns[i]))
			return;
	if (sqlite3_prepare_v2(file->handle, question->sql, -1, &query, NULL) != SQLITE_OK)
		return;
	if (sqlite3_step(query) == SQLITE_ROW) {
		tally->is_known[what] = true;
		tally->count[what] += sqlite3_column_int64(query, 0);
		ht_sum(&tally->total[what], sqlite3_column_int64(query, 1));
	}
	sqlite3_finalize(query);
}

static enum ht_status count_db(struct ht_builder *builder, const char *path, struct tally *tally)
{
	static const struct question computed = { KERNELS, "COMPUTE_TASK_INFO", { "globalTaskId" },
		"SELECT COUNT(*), SUM(endNs-startNs) FROM main.TASK WHERE globalTaskId IN "
		"(SELECT globalTaskId FROM main.COMPUTE_TASK_INFO)" };
	static const struct question others[] = {
		{ COLLECTIVES, "COMMUNICATION_OP", { "startNs", "endNs" },
		        "SELECT COUNT(*), SUM(endNs-startNs) FROM main.COMMUNICATION_OP" },
		{ ALLOCATIONS, "OP_MEMORY", { "size" },
		        "SELECT COUNT(*), SUM(ABS(size)) FROM main.OP_MEMORY" },
		{ SAMPLES, "MEMORY_RECORD", { "totalAllocated" },
		        "SELECT COUNT(*), SUM(totalAllocated) FROM main.MEMORY_RECORD" },
		{ STEPS, "StepTraceTime", { "computing", "communication_not_overlapped", "free" },
		        "SELECT COUNT(*), CAST(ROUND(SUM(computing+communication_not_overlapped+"
		        "free)*1000) AS INTEGER) FROM main.StepTraceTime" },
	};
	struct ht_database file;
	HT_TRY(ht_database_open(&file, builder->ctx, path));
	if (ht_database_has_table(&file, "TASK") &&
	        ht_database_has_column(&file, "TASK", "globalTaskId") &&
	        ht_database_has_column(&file, "TASK", "startNs") &&
	        ht_database_has_column(&file, "TASK", "endNs"))
		ask(&file, tally, &computed);
	for (size_t i = 0; i < HT_COUNT(others); i++)
		ask(&file, tally, &others[i]);
	enum ht_status status = file.stopped ? ht_database_fail(&file) : HT_OK;
	ht_database_close(&file);
	return status;
}

/* ---- both ---- */

static bool is_db(const char *path)
{
	size_t n = strlen(path);
	return n > 3 && !strcmp(path + n - 3, ".db");
}

/* How much a row of the text may be off: times have three decimals of a microsecond, of which each end of a span may be
 * rounded, and steps are sums in doubles; sizes have a few decimals of a kilobyte or megabyte. */
static int64_t tolerance_of(enum what what, int64_t count)
{
	static const int64_t each[N_WHAT] = { 2, 2, 1, 1 << 14, 1000 };
	return count < INT64_MAX / each[what] ? count * each[what] : INT64_MAX;
}

static bool put_row(struct ht_builder *b, uint32_t table, enum what what, const struct tally *text,
        const struct tally *db)
{
	static const char *const names[] = { "kernels", "collectives", "allocations",
		"memory samples", "steps" };
	static const char *const units[] = { "ns", "ns", "bytes", "bytes", "ns" };
	const struct {
		const char *key;
		int64_t value;
	} cells[] = { { "text_count", text->count[what] }, { "database_count", db->count[what] },
		{ "text_total", text->total[what] }, { "database_total", db->total[what] },
		{ "tolerance", tolerance_of(what, text->count[what]) } };
	ht_draft_row(b, table);
	bool ok = ht_draft_put_str(b, table, ht_draft_column(b, table, "what", 4), names[what],
	                  strlen(names[what])) &&
	          ht_draft_put_str(b, table, ht_draft_column(b, table, "unit", 4), units[what],
	                  strlen(units[what]));
	for (size_t i = 0; ok && i < HT_COUNT(cells); i++) {
		uint32_t column = ht_draft_column(b, table, cells[i].key, strlen(cells[i].key));
		ok = column != UINT32_MAX && ht_draft_put_i64(b, table, column, cells[i].value);
	}
	return ok;
}

enum ht_status ht_ascend_forms_compare(
        struct ht_builder *builder, const struct ht_rank_files *files)
{
	struct tally text = { .count = { 0 } }, db = { .count = { 0 } };
	if (!files->has_text || !files->has_db)
		return HT_OK;
	for (size_t i = 0; i < files->n + files->n_others; i++) {
		const char *path = files->paths[i];
		enum ht_status status = is_db(path) ? count_db(builder, path, &db)
		                                    : count_text(builder, path, &text);
		if (status == HT_FORMAT)
			ht_error_clear(builder->ctx);
		else
			HT_TRY(status);
	}
	uint32_t table = ht_draft_table(builder, "forms");
	bool ok = table != UINT32_MAX;
	for (int what = 0; ok && what < N_WHAT; what++)
		if (text.is_known[what] && db.is_known[what])
			ok = put_row(builder, table, (enum what)what, &text, &db);
	return ok ? HT_OK : ht_fail_nomem(builder->ctx);
}

#else

enum ht_status ht_ascend_forms_compare(
        struct ht_builder *builder, const struct ht_rank_files *files)
{
	(void)builder;
	(void)files;
	return HT_OK;
}

#endif
