/*
 * ascend_db_tables.c - memory and analysis tables of a database; see ascend_db.c.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/ascend.h"
#include "read/ascend_db.h"

#include <math.h>
#include <stdio.h>

/* ---- memory ---- */

struct memory {
	uint32_t category, name, device_type, device_id, bytes, addr, component, operator,
	        totals[3];
	int64_t next_addr;
};

static struct memory make_memory(struct ht_rows *rows)
{
	return (struct memory){ .category = ht_rows_text(rows, "cpu_instant_event", 17),
		.name = ht_rows_text(rows, "[memory]", 8),
		.device_type = ht_rows_column(rows, "Device Type", 11, HT_ARG_I64),
		.device_id = ht_rows_column(rows, "Device Id", 9, HT_ARG_I64),
		.bytes = ht_rows_column(rows, "Bytes", 5, HT_ARG_I64),
		.addr = ht_rows_column(rows, "Addr", 4, HT_ARG_I64),
		.component = ht_rows_column(rows, "Component", 9, HT_ARG_STR),
		.operator= ht_rows_column(rows, "Operator", 8, HT_ARG_STR),
		.totals = { ht_rows_column(rows, "Total Allocated", 15, HT_ARG_I64),
		        ht_rows_column(rows, "Total Reserved", 14, HT_ARG_I64),
		        ht_rows_column(rows, "Total Active", 12, HT_ARG_I64) } };
}

static void begin_memory(struct ht_db *db, const struct memory *m, int64_t ts_ns, int64_t device)
{
	ht_row_begin(&db->rows, 'i', m->category, m->name);
	ht_row_time(&db->rows, ts_ns);
	ht_row_put(&db->rows, m->device_type, HT_ASCEND_DEVICE_TYPE);
	ht_row_put(&db->rows, m->device_id, (uint64_t)device);
}

/* Three cells from first on. */
static void put_totals(struct ht_db *db, const struct memory *m, sqlite3_stmt *query, int first)
{
	for (int i = 0; i < 3; i++)
		if (!ht_db_is_null(query, first + i))
			ht_row_put(&db->rows, m->totals[i],
			        (uint64_t)sqlite3_column_int64(query, first + i));
}

static enum ht_status read_records(struct ht_db *db, struct memory *m)
{
	static const char *const columns[] = { "timestamp", "deviceId", "~component",
		"totalAllocated", "totalReserved", "totalActive", NULL };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "MEMORY_RECORD", columns, NULL, &query));
	bool more = query != NULL;
	enum ht_status status = HT_OK;
	while (status == HT_OK && more) {
		status = ht_db_step(db, query, &more);
		if (status != HT_OK || !more)
			break;
		begin_memory(db, m, ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0));
		if (!ht_db_is_null(query, 2))
			ht_row_put(&db->rows, m->component, ht_db_text(db, query, 2));
		put_totals(db, m, query, 3);
		status = ht_row_end(&db->rows, -1);
	}
	sqlite3_finalize(query);
	return status;
}

enum {
	M_NAME,
	M_SIZE,
	M_ALLOC,
	M_FREE,
	M_DEVICE,
	M_STREAM,
	M_ALLOC_TOTALS,
	M_FREE_TOTALS = M_ALLOC_TOTALS + 3
};

static enum ht_status put_half(
        struct ht_db *db, struct memory *m, sqlite3_stmt *query, int time, int totals)
{
	const char *name = (const char *)sqlite3_column_text(query, M_NAME);
	/* GE has no streams, and the text files mark its operators */
	bool is_ge = name && ht_db_is_null(query, M_STREAM);
	const char *prefix = is_ge && !strstr(name, "::") ? "cann::" : "";
	char shown[512];
	int64_t bytes = sqlite3_column_int64(query, M_SIZE);
	if (ht_db_is_null(query, time))
		return HT_OK;
	bytes = bytes < 0 && bytes != INT64_MIN ? -bytes : bytes;
	begin_memory(db, m, sqlite3_column_int64(query, time), ht_db_i64(query, M_DEVICE, 0));
	ht_row_put(&db->rows, m->bytes, (uint64_t)(time == M_ALLOC ? bytes : -bytes));
	ht_row_put(&db->rows, m->addr, (uint64_t)m->next_addr);
	ht_row_put(&db->rows, m->component,
	        ht_rows_text(&db->rows, is_ge ? "GE" : "PTA", is_ge ? 2 : 3));
	int n = snprintf(shown, sizeof shown, "%s%s", prefix, name ? name : "");
	n = n < (int)sizeof shown ? n : (int)sizeof shown - 1;
	if (n)
		ht_row_put(&db->rows, m->operator, ht_rows_text(&db->rows, shown, (size_t)n));
	put_totals(db, m, query, totals);
	return ht_row_end(&db->rows, -1);
}

static enum ht_status read_allocations(struct ht_db *db, struct memory *m)
{
	static const char *const columns[] = { "~name", "size", "allocationTime", "releaseTime",
		"deviceId", "streamPtr", "allocationTotalAllocated", "allocationTotalReserved",
		"allocationTotalActive", "releaseTotalAllocated", "releaseTotalReserved",
		"releaseTotalActive", NULL };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "OP_MEMORY", columns, NULL, &query));
	bool more = query != NULL;
	enum ht_status status = HT_OK;
	while (status == HT_OK && more) {
		status = ht_db_step(db, query, &more);
		if (status != HT_OK || !more)
			break;
		m->next_addr++;
		status = put_half(db, m, query, M_ALLOC, M_ALLOC_TOTALS);
		if (status == HT_OK)
			status = put_half(db, m, query, M_FREE, M_FREE_TOTALS);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_modules(struct ht_db *db, struct memory *m)
{
	static const char *const columns[] = { "timestampNs", "deviceId", "moduleId",
		"totalReserved", NULL };
	sqlite3_stmt *query, *names = NULL;
	HT_TRY(ht_db_select(db, "NPU_MODULE_MEM", columns, NULL, &query));
	bool more = query != NULL;
	if (sqlite3_prepare_v2(db->handle, "SELECT name FROM ENUM_MODULE WHERE id=?", -1, &names,
	            NULL) != SQLITE_OK)
		names = NULL;
	enum ht_status status = HT_OK;
	while (status == HT_OK && more) {
		char name[128];
		status = ht_db_step(db, query, &more);
		if (status != HT_OK || !more)
			break;
		int64_t id = ht_db_i64(query, 2, -1);
		int n = snprintf(name, sizeof name, "module %lld", (long long)id);
		if (names) {
			sqlite3_reset(names);
			sqlite3_bind_int64(names, 1, id);
			if (sqlite3_step(names) == SQLITE_ROW && !ht_db_is_null(names, 0))
				n = snprintf(name, sizeof name, "module %.100s",
				        (const char *)sqlite3_column_text(names, 0));
		}
		begin_memory(db, m, ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0));
		ht_row_put(&db->rows, m->component, ht_rows_text(&db->rows, name, (size_t)n));
		if (!ht_db_is_null(query, 3))
			ht_row_put(
			        &db->rows, m->totals[1], (uint64_t)sqlite3_column_int64(query, 3));
		status = ht_row_end(&db->rows, -1);
	}
	sqlite3_finalize(names);
	sqlite3_finalize(query);
	return status;
}

enum ht_status ht_db_read_memory(struct ht_db *db)
{
	struct memory m = make_memory(&db->rows);
	HT_TRY(read_records(db, &m));
	HT_TRY(read_allocations(db, &m));
	return read_modules(db, &m);
}

/* ---- side tables ---- */

/* A column of the database and of the side table; scale makes whole nanoseconds or bytes of it, 0: as it is. */
struct cell {
	const char *column, *key;
	double scale;
};

static const struct cell step_cells[] = { { "deviceId", "Device_id", 0 }, { "step", "Step", 0 },
	{ "computing", "Computing", 0 },
	{ "communication_not_overlapped", "Communication(Not Overlapped)", 0 },
	{ "overlapped", "Overlapped", 0 }, { "communication", "Communication", 0 },
	{ "free", "Free", 0 }, { "stage", "Stage", 0 }, { "bubble", "Bubble", 0 },
	{ "communication_not_overlapped_and_exclude_receive",
	        "Communication(Not Overlapped and Exclude Receive)", 0 },
	{ "preparing", "Preparing", 0 } };
static const struct cell time_cells[] = { { "step", "step", 0 }, { "type", "type", 0 },
	{ "hccl_op_name", "op", 0 }, { "group_name", "group", 0 },
	{ "start_timestamp", "start_ns", 1e3 }, { "elapse_time", "elapse_ns", 1e6 },
	{ "transit_time", "transit_ns", 1e6 }, { "wait_time", "wait_ns", 1e6 },
	{ "synchronization_time", "synchronization_ns", 1e6 }, { "idle_time", "idle_ns", 1e6 } };
static const struct cell bandwidth_cells[] = { { "step", "step", 0 }, { "type", "type", 0 },
	{ "hccl_op_name", "op", 0 }, { "group_name", "group", 0 },
	{ "transport_type", "transport", 0 }, { "transit_size", "transit_bytes", 1e6 },
	{ "transit_time", "transit_ns", 1e6 }, { "bandwidth", "bandwidth_gb_per_s", 0 },
	{ "large_packet_ratio", "large_packet_ratio", 0 } };
static const struct cell matrix_cells[] = { { "step", "step", 0 }, { "type", "type", 0 },
	{ "hccl_op_name", "op", 0 }, { "group_name", "group", 0 }, { "src_rank", "src_rank", 0 },
	{ "dst_rank", "dst_rank", 0 }, { "transit_size", "transit_bytes", 1e6 },
	{ "transit_time", "transit_ns", 1e6 }, { "bandwidth", "bandwidth_gb_per_s", 0 },
	{ "transport_type", "transport", 0 }, { "op_name", "op_name", 0 } };

/* A text that is a whole number, "step" in front aside. */
static bool whole_number(const char *text, int64_t *ret_value)
{
	int n = 0;
	long long value;
	if (!strncmp(text, "step", 4))
		text += 4;
	if (sscanf(text, "%18lld%n", &value, &n) != 1 || text[n])
		return false;
	*ret_value = value;
	return true;
}

static bool put_cell(
        struct ht_db *db, uint32_t table, const struct cell *cell, sqlite3_stmt *query, int i)
{
	struct ht_builder *b = db->builder;
	uint32_t column = ht_draft_column(b, table, cell->key, strlen(cell->key));
	const char *text;
	int64_t whole;
	double value;
	switch (sqlite3_column_type(query, i)) {
	case SQLITE_NULL: return true;
	case SQLITE_INTEGER:
		whole = sqlite3_column_int64(query, i);
		if (!cell->scale)
			return ht_draft_put_i64(b, table, column, whole);
		break;
	case SQLITE_FLOAT:
		if (!cell->scale)
			return ht_draft_put_f64(b, table, column, sqlite3_column_double(query, i));
		break;
	default:
		text = (const char *)sqlite3_column_text(query, i);
		if (!text || !*text || !strcmp(text, "step"))
			return text != NULL;
		if (!cell->scale && strcmp(cell->key, "group") != 0 && whole_number(text, &whole))
			return ht_draft_put_i64(b, table, column, whole);
		return ht_draft_put_str(b, table, column, text, strlen(text));
	}
	value = round(sqlite3_column_double(query, i) * cell->scale);
	if (fabs(value) >= 9e18)
		return ht_draft_put_f64(b, table, column, value);
	return ht_draft_put_i64(b, table, column, (int64_t)value);
}

static enum ht_status read_table(struct ht_db *db, const char *from, const char *to,
        const struct cell *cells, size_t n, bool once)
{
	const char *columns[16] = { NULL };
	sqlite3_stmt *query;
	for (size_t i = 0; i < n && i + 1 < HT_COUNT(columns); i++)
		columns[i] = cells[i].column;
	HT_TRY(ht_db_select(db, from, columns, NULL, &query));
	if (!query)
		return HT_OK;
	uint32_t table = ht_draft_table(db->builder, to);
	uint64_t hash_before = 0;
	bool more = true, ok = table != UINT32_MAX;
	enum ht_status status = HT_OK;
	while (ok && status == HT_OK) {
		uint64_t hash = 1;
		status = ht_db_step(db, query, &more);
		if (status != HT_OK || !more)
			break;
		for (int i = 0; once && i < (int)n; i++) {
			const char *text = (const char *)sqlite3_column_text(query, i);
			hash = ht_hash_mix(hash, text ? ht_hash(text, strlen(text)) : 0);
		}
		if (once && hash == hash_before)
			continue;
		hash_before = hash;
		ht_draft_row(db->builder, table);
		for (size_t i = 0; ok && i < n; i++)
			ok = put_cell(db, table, &cells[i], query, (int)i);
	}
	sqlite3_finalize(query);
	return status == HT_OK && !ok ? ht_fail_nomem(db->ctx) : status;
}

enum ht_status ht_db_read_analysis(struct ht_db *db)
{
	HT_TRY(read_table(
	        db, "StepTraceTime", "step_trace_time", step_cells, HT_COUNT(step_cells), false));
	HT_TRY(read_table(
	        db, "CommAnalyzerTime", "communication", time_cells, HT_COUNT(time_cells), false));
	/* one row per size of packages; what is read is the same in all of a transport */
	HT_TRY(read_table(db, "CommAnalyzerBandwidth", "communication_bandwidth", bandwidth_cells,
	        HT_COUNT(bandwidth_cells), true));
	return read_table(db, "CommAnalyzerMatrix", "communication_matrix", matrix_cells,
	        HT_COUNT(matrix_cells), false);
}

#endif
