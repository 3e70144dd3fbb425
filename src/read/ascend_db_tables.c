/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_db_tables.c - memory and analysis tables of a database; see ascend_db.c.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/ascend.h"
#include "base/checked.h"
#include "base/number.h"
#include "json/json_text.h"
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
	static const char *const columns[] = { "timestamp", "deviceId", "component",
		"totalAllocated", "totalReserved", "totalActive", NULL };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "MEMORY_RECORD", columns, NULL, &query));
	enum ht_status status = HT_OK;
	while (ht_db_next(db, query, &status)) {
		begin_memory(db, m, ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0));
		uint32_t component = ht_db_string_id(db, query, 2);
		if (component != HT_NO_STR)
			ht_row_put(&db->rows, m->component, component);
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
	const char *name = ht_db_string(db, query, M_NAME);
	/* GE has no streams, and the text files mark its operators */
	bool is_ge = name && ht_db_is_null(query, M_STREAM);
	const char *prefix = is_ge && !strstr(name, "::") ? "cann::" : "";
	char shown[512];
	int64_t bytes = sqlite3_column_int64(query, M_SIZE);
	if (ht_db_is_null(query, time))
		return HT_OK;
	bytes = bytes < 0 ? ht_sub_sat(0, bytes) : bytes;
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
	static const char *const columns[] = { "name", "size", "allocationTime", "releaseTime",
		"deviceId", "streamPtr", "allocationTotalAllocated", "allocationTotalReserved",
		"allocationTotalActive", "releaseTotalAllocated", "releaseTotalReserved",
		"releaseTotalActive", NULL };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "OP_MEMORY", columns, NULL, &query));
	enum ht_status status = HT_OK;
	while (ht_db_next(db, query, &status)) {
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
	struct ht_db_words names = { 0 };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "NPU_MODULE_MEM", columns, NULL, &query));
	enum ht_status status =
	        query ? ht_db_words_read(db, "ENUM_MODULE", "id", "name", &names) : HT_OK;
	while (ht_db_next(db, query, &status)) {
		char name[128];
		int64_t id = ht_db_i64(query, 2, -1);
		int n = snprintf(name, sizeof name, "module %lld", (long long)id);
		const struct ht_db_word *word = ht_db_words_find(&names, id);
		if (word)
			n = snprintf(name, sizeof name, "module %.100s", word->text);
		begin_memory(db, m, ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0));
		ht_row_put(&db->rows, m->component, ht_rows_text(&db->rows, name, (size_t)n));
		if (!ht_db_is_null(query, 3))
			ht_row_put(
			        &db->rows, m->totals[1], (uint64_t)sqlite3_column_int64(query, 3));
		status = ht_row_end(&db->rows, -1);
	}
	ht_db_words_done(db, &names);
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
	size_t n;
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
		text = ht_database_text(&db->file, query, i, &n);
		/* none: there are more bytes than the file can hold, which the next row says */
		if (!text || !*text || !strcmp(text, "step"))
			return true;
		if (!cell->scale && strcmp(cell->key, "group") != 0 && whole_number(text, &whole))
			return ht_draft_put_i64(b, table, column, whole);
		return ht_draft_put_str(b, table, column, text, strlen(text));
	}
	value = round(sqlite3_column_double(query, i) * cell->scale);
	if (fabs(value) >= 9e18)
		return ht_draft_put_f64(b, table, column, value);
	return ht_draft_put_i64(b, table, column, (int64_t)value);
}

static enum ht_status select_cells(struct ht_db *db, const char *from, const struct cell *cells,
        size_t n, const char *const *more, sqlite3_stmt **ret_query)
{
	const char *columns[16] = { NULL };
	size_t n_columns = 0;
	for (size_t i = 0; i < n && n_columns + 1 < HT_COUNT(columns); i++)
		columns[n_columns++] = cells[i].column;
	for (; *more && n_columns + 1 < HT_COUNT(columns); more++)
		columns[n_columns++] = *more;
	return ht_db_select(db, from, columns, NULL, ret_query);
}

static enum ht_status read_table(
        struct ht_db *db, const char *from, const char *to, const struct cell *cells, size_t n)
{
	static const char *const none[] = { NULL };
	sqlite3_stmt *query;
	HT_TRY(select_cells(db, from, cells, n, none, &query));
	if (!query)
		return HT_OK;
	uint32_t table = ht_draft_table(db->builder, to);
	bool ok = table != UINT32_MAX;
	enum ht_status status = HT_OK;
	while (ok && ht_db_next(db, query, &status)) {
		ht_draft_row(db->builder, table);
		for (size_t i = 0; ok && i < n; i++)
			ok = put_cell(db, table, &cells[i], query, (int)i);
	}
	sqlite3_finalize(query);
	return status == HT_OK && !ok ? ht_fail_nomem(db->ctx) : status;
}

/* ---- bandwidth ---- */

/* A transport of an operation, which has a row per size of its packets: the sizes as the text files have them. */
struct packets {
	struct ht_vec text; /* {"size in MB": [count, ms], ... */
	uint64_t of;        /* hash of the cells that are the same in all rows */
	bool any;
};

static bool append(struct ht_db *db, struct packets *p, const char *text, size_t n)
{
	if (!ht_vec_reserve(db->builder->mem, &p->text, 1, n))
		return false;
	memcpy((char *)p->text.data + p->text.n, text, n);
	p->text.n += n;
	return true;
}

/* The size, count and time of the row in hand, in columns from first on. */
static bool add_packets(struct ht_db *db, struct packets *p, sqlite3_stmt *query, int first)
{
	char text[128], size[32], ms[32];
	int64_t count = sqlite3_column_int64(query, first + 1);
	if (count <= 0)
		return true;
	int n_size = ht_double_print_short(size, sqlite3_column_double(query, first));
	int n_ms = ht_double_print_short(ms, sqlite3_column_double(query, first + 2));
	int n = snprintf(text, sizeof text, "%s\"%.*s\": [%lld, %.*s]", p->text.n > 1 ? ", " : "",
	        n_size, size, (long long)count, n_ms, ms);
	return append(db, p, text, (size_t)n);
}

static bool end_packets(struct ht_db *db, struct packets *p, uint32_t table)
{
	static const char key[] = "size_distribution";
	uint32_t column = ht_draft_column(db->builder, table, key, sizeof key - 1);
	bool ok = !p->any ||
	          (append(db, p, "}", 1) && column != UINT32_MAX &&
	                  ht_draft_put_str(db->builder, table, column, p->text.data, p->text.n));
	p->text.n = 0;
	p->any = false;
	return ok;
}

static bool put_transport(struct ht_db *db, struct packets *p, uint32_t table, sqlite3_stmt *query)
{
	const size_t n = HT_COUNT(bandwidth_cells);
	uint64_t hash = 1;
	bool ok = true;
	for (int i = 0; i < (int)n; i++) {
		size_t n_text;
		const char *text = ht_database_text(&db->file, query, i, &n_text);
		hash = ht_hash_mix(hash, text ? ht_hash(text, strlen(text)) : 0);
	}
	if (!p->any || hash != p->of) {
		ok = end_packets(db, p, table) && append(db, p, "{", 1);
		ht_draft_row(db->builder, table);
		for (size_t i = 0; ok && i < n; i++)
			ok = put_cell(db, table, &bandwidth_cells[i], query, (int)i);
		p->any = true;
		p->of = hash;
	}
	return ok && add_packets(db, p, query, (int)n);
}

static enum ht_status read_bandwidth(struct ht_db *db)
{
	static const char *const packet_columns[] = { "package_size", "count", "total_duration",
		NULL };
	struct packets packets = { .any = false };
	sqlite3_stmt *query;
	HT_TRY(select_cells(db, "CommAnalyzerBandwidth", bandwidth_cells, HT_COUNT(bandwidth_cells),
	        packet_columns, &query));
	if (!query)
		return HT_OK;
	uint32_t table = ht_draft_table(db->builder, "communication_bandwidth");
	bool ok = table != UINT32_MAX;
	enum ht_status status = HT_OK;
	while (ok && ht_db_next(db, query, &status)) {
		ok = put_transport(db, &packets, table, query);
	}
	ok = ok && end_packets(db, &packets, table);
	ht_vec_free(db->builder->mem, &packets.text, 1);
	sqlite3_finalize(query);
	return status == HT_OK && !ok ? ht_fail_nomem(db->ctx) : status;
}

/* ---- the rest ---- */

/* Clocks of the AI core as counters, as in the timeline. */
static enum ht_status read_clocks(struct ht_db *db)
{
	static const char *const columns[] = { "timestampNs", "deviceId", "freq", NULL };
	uint32_t name = ht_rows_text(&db->rows, "AI Core Freq", 12);
	uint32_t mhz = ht_rows_column(&db->rows, "MHz", 3, HT_ARG_F64);
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "AICORE_FREQ", columns, NULL, &query));
	enum ht_status status = HT_OK;
	while (ht_db_next(db, query, &status)) {
		double value = sqlite3_column_double(query, 2);
		uint64_t bits;
		memcpy(&bits, &value, sizeof bits);
		ht_row_begin(&db->rows, 'C', HT_NO_STR, name);
		ht_row_process(&db->rows, ht_db_i64(query, 1, 0), 0);
		ht_row_time(&db->rows, ht_db_i64(query, 0, 0));
		ht_row_put(&db->rows, mhz, bits);
		status = ht_row_end(&db->rows, -1);
	}
	sqlite3_finalize(query);
	return status;
}

/* What is JSON about the recording, as keys of the header, as from profiler_metadata.json. */
static enum ht_status read_about(struct ht_db *db)
{
	static const char *const columns[] = { "name", "value", NULL };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "META_DATA", columns, NULL, &query));
	enum ht_status status = HT_OK;
	while (ht_db_next(db, query, &status)) {
		size_t n_name, n_value;
		const char *name = ht_database_text(&db->file, query, 0, &n_name);
		const char *value = ht_database_text(&db->file, query, 1, &n_value);
		if (!name || !value || *value != '{' || !ht_json_valid(value, strlen(value)))
			continue;
		if (!ht_builder_header(db->builder, name, strlen(name), value, strlen(value)))
			status = ht_fail_nomem(db->ctx);
	}
	sqlite3_finalize(query);
	return status;
}

enum ht_status ht_db_read_analysis(struct ht_db *db)
{
	HT_TRY(read_clocks(db));
	HT_TRY(read_about(db));
	HT_TRY(read_table(
	        db, "StepTraceTime", "step_trace_time", step_cells, HT_COUNT(step_cells)));
	HT_TRY(read_table(
	        db, "CommAnalyzerTime", "communication", time_cells, HT_COUNT(time_cells)));
	HT_TRY(read_bandwidth(db));
	return read_table(db, "CommAnalyzerMatrix", "communication_matrix", matrix_cells,
	        HT_COUNT(matrix_cells));
}

#endif
