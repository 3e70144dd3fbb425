/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_db.c - the reader of the databases that torch_npu writes: ascend_pytorch_profiler_N.db and analysis.db.
 *
 * They hold what the text files hold, in nanoseconds and bytes, and become the same events and side tables:
 *   PYTORCH_API          operators, queue and Python spans        CANN_API             runtime calls
 *   TASK, COMPUTE_TASK_INFO, TASK_PMU_INFO                        work of the NPU with shapes and counters
 *   COMMUNICATION_OP     collectives; COMMUNICATION_TASK_INFO says which tasks are pieces of them
 *   STEP_TIME            steps, when no operator is one           RANK_DEVICE_MAP      the rank
 *   MEMORY_RECORD, OP_MEMORY, NPU_MODULE_MEM                      [memory] events as from their tables
 *   StepTraceTime, CommAnalyzerTime, -Bandwidth, -Matrix          side tables as from their files
 * An operator and the tasks it started are tied by CONNECTION_IDS; both get its id as External id.
 *
 * Tables and columns that are not there are read as empty, so that older and newer schemas do. The file is opened
 * read-only and nothing in it is executed.
 */
#include "read/ascend.h"
#include "read/reader.h"
#include "read/rows.h"

static bool sniff(const struct ht_head *head)
{
	return head->n >= 16 && !memcmp(head->text, "SQLite format 3", 16);
}

#if !defined(HT_HAVE_SQLITE)

static enum ht_status read_db(struct ht_builder *builder, const struct ht_reading *reading)
{
	return ht_fail(builder->ctx, HT_USAGE, reading->path, -1,
	        "build with libsqlite3 (Debian: libsqlite3-dev), or export the run as text",
	        "this build cannot read databases");
}

static const struct ht_reader *look_inside(ht_ctx *ctx, const char *path)
{
	(void)ctx, (void)path;
	return &ht_reader_ascend_db;
}

#else

#include "read/ascend_db.h"
#include "read/nsys/nsys_file.h"

/* The names of tables are anywhere in a database. */
static const struct ht_reader *look_inside(ht_ctx *ctx, const char *path)
{
	return ht_nsys_is_file(ctx, path) ? &ht_reader_nsys : &ht_reader_ascend_db;
}

/* Any SQLite file begins alike; one of these tables is in every database of the profiler. */
static bool is_ours(struct ht_db *db)
{
	static const char *const tables[] = { "STRING_IDS", "PYTORCH_API", "CANN_API", "TASK",
		"COMMUNICATION_OP", "RANK_DEVICE_MAP", "MEMORY_RECORD", "OP_MEMORY",
		"NPU_MODULE_MEM", "StepTraceTime", "CommAnalyzerTime", "CommAnalyzerBandwidth",
		"CommAnalyzerMatrix", "STEP_TIME", "META_DATA", "AICORE_FREQ" };
	for (size_t i = 0; i < HT_COUNT(tables); i++)
		if (ht_database_has_table(&db->file, tables[i]))
			return true;
	return false;
}

static enum ht_status read_tables(struct ht_db *db)
{
	if (!is_ours(db))
		return ht_fail(db->ctx, HT_FORMAT, db->file.path, -1,
		        "expected ascend_pytorch_profiler_N.db or analysis.db of torch_npu",
		        "not a trace: a SQLite database without any table of Ascend's profiler");
	HT_TRY(ht_db_read_host(db));
	HT_TRY(ht_db_read_device(db));
	HT_TRY(ht_db_read_memory(db));
	return ht_db_read_analysis(db);
}

static enum ht_status read_db(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct ht_db db;
	HT_TRY(ht_db_open(&db, builder, reading->path));
	/* told by its tables, where the first bytes of the file did not */
	if (ht_database_has_table(&db.file, "StringIds")) {
		ht_db_close(&db);
		return ht_reader_nsys.read(builder, reading);
	}
	db.has_quotes = true;
	enum ht_status status = ht_db_read_strings(&db, "STRING_IDS");
	if (status == HT_OK)
		status = read_tables(&db);
	ht_db_close(&db);
	builder->n_documents++;
	builder->dialect = HT_DIALECT_ASCEND;
	return status;
}

#endif

const struct ht_reader ht_reader_ascend_db = {
	.name = "ascend-db",
	.what = "a database of Ascend",
	.by_name_only = true,
	.sniff = sniff,
	.look_inside = look_inside,
	.read = read_db,
};
