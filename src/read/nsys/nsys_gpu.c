/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_gpu.c - GPU activity of an export: kernels, memcpy, memset, graph launches, waits and event records.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_EVENT 4294967295

/* All tables of activities begin so. */
enum {
	A_START,
	A_END,
	A_DEVICE,
	A_CONTEXT,
	A_GREEN,
	A_STREAM,
	A_CORRELATION,
	A_NODE,
	A_OWN /* what is the table's own */
};
#define ACTIVITY_COLUMNS                                                                           \
	"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId",    \
	        "graphNodeId"

/* The event of an activity, begun with what all have; false when the row is no event. */
static bool begin_activity(
        struct ht_nsys *n, sqlite3_stmt *query, enum ht_nsys_category category, uint32_t name)
{
	int64_t start_ns, dur_ns, device = ht_db_i64(query, A_DEVICE, 0);
	bool is_open;
	if (!ht_nsys_times(n, query, &start_ns, &dur_ns, &is_open))
		return false;
	ht_nsys_begin(n, 'X', category, name);
	ht_row_process(&n->db.rows, device, ht_db_i64(query, A_STREAM, -1));
	ht_row_time(&n->db.rows, start_ns);
	ht_row_duration(&n->db.rows, dur_ns);
	ht_nsys_put(n, HT_NSYS_DEVICE, device);
	ht_nsys_put_cell(n, HT_NSYS_CONTEXT, query, A_CONTEXT);
	if (ht_db_i64(query, A_GREEN, 0))
		ht_nsys_put_cell(n, HT_NSYS_GREEN_CONTEXT, query, A_GREEN);
	ht_nsys_put_cell(n, HT_NSYS_STREAM, query, A_STREAM);
	ht_nsys_put_cell(n, HT_NSYS_CORRELATION, query, A_CORRELATION);
	ht_nsys_put_cell(n, HT_NSYS_GRAPH_NODE, query, A_NODE);
	return true;
}

/* ---- kernels ---- */

enum {
	K_NAME = A_OWN,
	K_SHORT,
	K_MANGLED,
	K_REGISTERS,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_STATIC = K_BLOCK + 3,
	K_DYNAMIC,
	K_GRAPH
};
static const char *const kernel_columns[] = { ACTIVITY_COLUMNS, "demangledName", "shortName",
	"mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY",
	"blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphId", NULL };

/* Grids repeat: the last one is not written again. */
struct shape {
	int64_t of[3];
	uint32_t text;
};

static bool put_shape(struct ht_nsys *n, sqlite3_stmt *query, int column, enum ht_nsys_cell cell,
        struct shape *last)
{
	char text[80];
	int64_t of[3];
	for (int i = 0; i < 3; i++)
		of[i] = ht_db_i64(query, column + i, -1);
	if (of[0] < 0 || of[1] < 0 || of[2] < 0)
		return false;
	if (last->text == HT_NO_STR || memcmp(of, last->of, sizeof of) != 0) {
		int length = snprintf(text, sizeof text, "[%" PRId64 ", %" PRId64 ", %" PRId64 "]",
		        of[0], of[1], of[2]);
		memcpy(last->of, of, sizeof of);
		last->text = ht_rows_text(&n->db.rows, text, (size_t)length);
	}
	ht_nsys_put(n, cell, last->text);
	return true;
}

static double product(const struct shape *shape)
{
	return (double)shape->of[0] * (double)shape->of[1] * (double)shape->of[2];
}

static void put_occupation(
        struct ht_nsys *n, int64_t device, const struct shape *grid, const struct shape *block)
{
	if (device < 0 || device >= (int64_t)HT_COUNT(n->n_sms) || n->n_sms[device] <= 0)
		return;
	double blocks = product(grid) / (double)n->n_sms[device];
	ht_nsys_put_f64(n, HT_NSYS_BLOCKS, blocks);
	ht_nsys_put_f64(n, HT_NSYS_WARPS, blocks * product(block) / 32);
}

static uint32_t kernel_name(struct ht_nsys *n, sqlite3_stmt *query)
{
	static const int names[] = { K_NAME, K_SHORT, K_MANGLED };
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		uint32_t name = ht_db_string_id(&n->db, query, names[i]);
		if (name != HT_NO_STR)
			return name;
	}
	return ht_nsys_name(n, query, K_NAME);
}

static enum ht_status read_kernels(struct ht_nsys *n)
{
	struct shape grid = { .text = HT_NO_STR }, block = { .text = HT_NO_STR };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(
	        n, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		if (!begin_activity(n, query, HT_NSYS_CAT_KERNEL, kernel_name(n, query)))
			continue;
		ht_nsys_put_cell(n, HT_NSYS_REGISTERS, query, K_REGISTERS);
		if (!ht_db_is_null(query, K_STATIC) || !ht_db_is_null(query, K_DYNAMIC))
			ht_nsys_put(n, HT_NSYS_SHARED,
			        ht_add_sat(ht_db_i64(query, K_STATIC, 0),
			                ht_db_i64(query, K_DYNAMIC, 0)));
		ht_nsys_put_cell(n, HT_NSYS_GRAPH, query, K_GRAPH);
		if (put_shape(n, query, K_GRID, HT_NSYS_GRID, &grid) &&
		        put_shape(n, query, K_BLOCK, HT_NSYS_BLOCK, &block))
			put_occupation(n, ht_db_i64(query, A_DEVICE, -1), &grid, &block);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

/* ---- memcpy and memset ---- */

static void put_bandwidth(struct ht_nsys *n, sqlite3_stmt *query, int column)
{
	double dur = (double)ht_sub_sat(ht_db_i64(query, A_END, 0), ht_db_i64(query, A_START, 0));
	if (ht_db_is_null(query, column))
		return;
	ht_nsys_put_cell(n, HT_NSYS_BYTES, query, column);
	if (dur > 0)
		ht_nsys_put_f64(
		        n, HT_NSYS_BANDWIDTH, (double)sqlite3_column_int64(query, column) / dur);
}

enum { C_BYTES = A_OWN, C_KIND, C_FROM, C_TO };
static const char *const copy_columns[] = { ACTIVITY_COLUMNS, "bytes", "copyKind", "srcKind",
	"dstKind", NULL };

/* What the numbers of copies stand for, in the file's own words; empty where it has none. */
struct copy_words {
	struct ht_db_words ways, kinds;
};

static const char *kind_name(const struct copy_words *words, int64_t kind)
{
	static const char *const kinds[] = { "Pageable", "Pinned", "Device", "Array", "Managed",
		"Device Static", "Managed Static", "Unknown" };
	const struct ht_db_word *word = ht_db_words_find(&words->kinds, kind);
	if (word)
		return word->text;
	return kinds[kind >= 0 && kind < (int64_t)HT_COUNT(kinds) ? kind : 7];
}

/* "HtoD" of CUDA_MEMCPY_KIND_UVM_HTOD. */
static const char *way_name(const struct copy_words *words, int64_t way, char ret_text[8])
{
	static const char *const ways[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
		"AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD" };
	const struct ht_db_word *word = ht_db_words_find(&words->ways, way);
	const char *last = word ? strrchr(word->text, '_') : NULL;
	if (last && strlen(last) == 5 && last[2] == 'T' && last[3] == 'O') {
		(void)snprintf(ret_text, 8, "%cto%c", last[1], last[4]);
		return ret_text;
	}
	return ways[way >= 0 && way < (int64_t)HT_COUNT(ways) ? way : 0];
}

static uint32_t copy_name(struct ht_nsys *n, const struct copy_words *words, sqlite3_stmt *query)
{
	char text[160], way[8];
	int length = snprintf(text, sizeof text, "Memcpy %s (%.60s -> %.60s)",
	        way_name(words, ht_db_i64(query, C_KIND, 0), way),
	        kind_name(words, ht_db_i64(query, C_FROM, 7)),
	        kind_name(words, ht_db_i64(query, C_TO, 7)));
	return ht_rows_text(&n->db.rows, text, (size_t)length);
}

static enum ht_status put_copies(struct ht_nsys *n, const struct copy_words *words)
{
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		if (!begin_activity(n, query, HT_NSYS_CAT_MEMCPY, copy_name(n, words, query)))
			continue;
		put_bandwidth(n, query, C_BYTES);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_copies(struct ht_nsys *n)
{
	struct copy_words words = { 0 };
	enum ht_status status =
	        ht_db_words_read(&n->db, "ENUM_CUDA_MEMCPY_OPER", "id", "name", &words.ways);
	if (status == HT_OK)
		status =
		        ht_db_words_read(&n->db, "ENUM_CUDA_MEM_KIND", "id", "label", &words.kinds);
	if (status == HT_OK)
		status = put_copies(n, &words);
	ht_db_words_done(&n->db, &words.ways);
	ht_db_words_done(&n->db, &words.kinds);
	return status;
}

enum { S_BYTES = A_OWN, S_VALUE, S_KIND };
static const char *const set_columns[] = { ACTIVITY_COLUMNS, "bytes", "value", "memKind", NULL };

static enum ht_status read_sets(struct ht_nsys *n)
{
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "CUPTI_ACTIVITY_KIND_MEMSET", set_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		bool is_host = ht_db_i64(query, S_KIND, 2) < 2;
		const char *name = is_host ? "Memset (Host)" : "Memset (Device)";
		if (!begin_activity(n, query, HT_NSYS_CAT_MEMSET,
		            ht_rows_text(&n->db.rows, name, strlen(name))))
			continue;
		put_bandwidth(n, query, S_BYTES);
		ht_nsys_put_cell(n, HT_NSYS_VALUE, query, S_VALUE);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

/* ---- graphs ---- */

enum { G_GRAPH = A_OWN, G_EXEC };
static const char *const graph_columns[] = { ACTIVITY_COLUMNS, "graphId", "graphExecId", NULL };

/* A launch of a graph as a whole: its kernels are not in the file. */
static enum ht_status read_graphs(struct ht_nsys *n)
{
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(
	        n, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		char text[48];
		/* CUPTI had no time for it */
		if (!ht_db_i64(query, A_START, 0) && !ht_db_i64(query, A_END, 0)) {
			ht_chunk_stat(&n->db.builder->all, HT_STAT_zero_kernels, -1, 1);
			continue;
		}
		int length = snprintf(
		        text, sizeof text, "CUDA graph %" PRId64, ht_db_i64(query, G_GRAPH, 0));
		if (!begin_activity(n, query, HT_NSYS_CAT_GPU_GRAPH,
		            ht_rows_text(&n->db.rows, text, (size_t)length)))
			continue;
		ht_nsys_put_cell(n, HT_NSYS_GRAPH, query, G_GRAPH);
		ht_nsys_put_cell(n, HT_NSYS_GRAPH_EXEC, query, G_EXEC);
		ht_chunk_stat(&n->db.builder->all, HT_STAT_graph_as_whole, -1, 1);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

/* ---- waits and records ---- */

enum { Y_TYPE = A_OWN, Y_EVENT, Y_SYNC };
static const char *const sync_columns[] = { ACTIVITY_COLUMNS, "syncType", "eventId", "eventSyncId",
	NULL };

enum { KIND_EVENT = 1, KIND_WAIT, KIND_STREAM, KIND_CONTEXT };

/* By the call: exporters that are older than the driver number kinds otherwise. */
static int64_t sync_kind(struct ht_nsys *n, sqlite3_stmt *query)
{
	static const struct {
		const char *call;
		int64_t kind;
	} calls[] = { { "cudaStreamWaitEvent", KIND_WAIT }, { "cuStreamWaitEvent", KIND_WAIT },
		{ "cudaStreamSynchronize", KIND_STREAM }, { "cuStreamSynchronize", KIND_STREAM },
		{ "cudaEventSynchronize", KIND_EVENT }, { "cuEventSynchronize", KIND_EVENT },
		{ "cudaEventQuery", KIND_EVENT }, { "cuEventQuery", KIND_EVENT },
		{ "cudaDeviceSynchronize", KIND_CONTEXT }, { "cuCtxSynchronize", KIND_CONTEXT } };
	const struct ht_db_word *call =
	        ht_db_words_find(&n->calls, ht_db_i64(query, A_CORRELATION, -1));
	for (size_t i = 0; call && i < HT_COUNT(calls); i++)
		if (!strncmp(call->text, calls[i].call, strlen(calls[i].call)))
			return calls[i].kind;
	return ht_db_i64(query, Y_TYPE, 0);
}

static enum ht_status read_syncs(struct ht_nsys *n)
{
	static const char *const kinds[] = { "Unknown Sync", "Event Sync", "Stream Wait Event",
		"Stream Sync", "Context Sync" };
	uint32_t arg = ht_nsys_text_arg(n, "cuda_sync_kind");
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(
	        n, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t kind = sync_kind(n, query), event = ht_db_i64(query, Y_EVENT, NO_EVENT);
		kind = kind > 0 && kind < (int64_t)HT_COUNT(kinds) ? kind : 0;
		uint32_t name = ht_rows_text(&n->db.rows, kinds[kind], strlen(kinds[kind]));
		if (!begin_activity(n, query, HT_NSYS_CAT_SYNC, name))
			continue;
		ht_row_put(&n->db.rows, arg, name);
		if (kind == KIND_EVENT || kind == KIND_WAIT) {
			/* of several records of an event, the one of the same turn */
			int64_t turn = ht_db_i64(query, Y_SYNC, 0);
			const struct ht_nsys_record *record = ht_nsys_find_record(n, event, turn);
			ht_nsys_put(n, HT_NSYS_WAIT_STREAM, record ? record->stream : -1);
			ht_nsys_put(n, HT_NSYS_WAIT_RECORD, record ? record->correlation : -1);
			ht_nsys_put(n, HT_NSYS_WAIT_EVENT, event == NO_EVENT ? -1 : event);
		}
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

enum { V_TIME, V_DEVICE, V_CONTEXT, V_STREAM, V_CORRELATION, V_EVENT, V_SYNC };
static const char *const event_columns[] = { "timestamp", "deviceId", "contextId", "streamId",
	"correlationId", "eventId", "eventSyncId", NULL };

static int compare_records(const void *x, const void *y)
{
	const struct ht_nsys_record *a = x, *b = y;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->turn < b->turn ? -1 : a->turn > b->turn;
}

const struct ht_nsys_record *ht_nsys_find_record(
        const struct ht_nsys *n, int64_t event, int64_t turn)
{
	const struct ht_nsys_record key = { .event = event, .turn = turn };
	return n->records.n
	               ? bsearch(&key, n->records.data, n->records.n, sizeof key, compare_records)
	               : NULL;
}

/* The time that is said is often 0: the call's is the record's. */
static enum ht_status read_events(struct ht_nsys *n)
{
	uint32_t name = ht_rows_text(&n->db.rows, "cudaEventRecord", 15);
	struct ht_mem *mem = n->db.builder->mem;
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(
	        n, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_columns, "globalPid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		struct ht_nsys_record record = { ht_db_i64(query, V_EVENT, -1),
			ht_db_i64(query, V_SYNC, 0), ht_db_i64(query, V_STREAM, -1),
			ht_db_i64(query, V_CORRELATION, -1) };
		const struct ht_db_word *call = ht_db_words_find(&n->calls, record.correlation);
		int64_t device = ht_db_i64(query, V_DEVICE, 0), ts_ns = ht_db_i64(query, V_TIME, 0);
		ts_ns = call ? (int64_t)call->n : ts_ns;
		if (!HT_VEC_PUSH(mem, &n->records, struct ht_nsys_record, record)) {
			status = ht_fail_nomem(n->db.ctx);
			break;
		}
		ht_nsys_begin(n, 'X', HT_NSYS_CAT_CUDA_EVENT, name);
		ht_row_process(&n->db.rows, device, record.stream);
		ht_row_time(&n->db.rows, ts_ns);
		ht_row_duration(&n->db.rows, 0);
		ht_nsys_put(n, HT_NSYS_DEVICE, device);
		ht_nsys_put_cell(n, HT_NSYS_CONTEXT, query, V_CONTEXT);
		ht_nsys_put(n, HT_NSYS_STREAM, record.stream);
		ht_nsys_put(n, HT_NSYS_CORRELATION, record.correlation);
		ht_nsys_put(n, HT_NSYS_EVENT, record.event);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	if (n->records.n)
		qsort(n->records.data, n->records.n, sizeof(struct ht_nsys_record),
		        compare_records);
	return status;
}

enum ht_status ht_nsys_read_gpu(struct ht_nsys *n)
{
	HT_TRY(read_kernels(n));
	HT_TRY(read_copies(n));
	HT_TRY(read_sets(n));
	HT_TRY(read_graphs(n));
	HT_TRY(read_events(n));
	return read_syncs(n);
}

#endif
