/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_db_events.c - spans of a database: the host's calls, and the work of the NPU; see ascend_db.c.
 */
#include "read/rows.h"
#include "store/trace.h"

#if defined(HT_HAVE_SQLITE)

#include "base/checked.h"
#include "base/search.h"
#include "read/ascend_db.h"
#include "store/trace_meta.h"

#include <stdio.h>
#include <stdlib.h>

/* Of globalTid: the process is in its upper half. */
static void put_thread(struct ht_db *db, int64_t global_tid)
{
	ht_row_process(&db->rows, global_tid >> 32, global_tid & UINT32_MAX);
}

static void begin_span(struct ht_db *db, const char *category, uint32_t name, int64_t start_ns)
{
	ht_row_begin(&db->rows, 'X', ht_rows_text(&db->rows, category, strlen(category)), name);
	ht_row_time(&db->rows, start_ns);
}

/* Take the rows of a query one by one. */
static enum ht_status each(struct ht_db *db, sqlite3_stmt *query,
        enum ht_status (*put)(struct ht_db *db, sqlite3_stmt *query, void *user), void *user)
{
	enum ht_status status = HT_OK;
	while (ht_db_next(db, query, &status))
		status = put(db, query, user);
	sqlite3_finalize(query);
	return status;
}

/* ---- host ---- */

/* Types of ENUM_API_TYPE. */
enum { API_OP = 50001, API_QUEUE = 50002, API_PYTHON = 50003, API_MSTX = 50004 };

enum {
	P_START,
	P_END,
	P_TID,
	P_CONNECTION,
	P_NAME,
	P_SEQUENCE,
	P_FWD,
	P_TYPES,
	P_DIMS,
	P_CHAIN,
	P_TYPE
};
static const char *const pytorch_columns[] = { "startNs", "endNs", "globalTid", "connectionId",
	"name", "sequenceNumber", "fwdThreadId", "inputDtypes", "inputShapes", "callchainId",
	"type", NULL };

/* Call chains have a row per frame. They are sorted, so that the frames of one follow each other, and each becomes a text
 * once, when the first operator that has it asks. */
struct frame {
	int64_t chain, depth;
	const char *text;
	size_t n;
};

struct host {
	struct ht_vec frames;      /* struct frame */
	struct ht_db_words stacks; /* by chain */
	bool has_steps;            /* an operator is a step */
	uint32_t stack;            /* column */
	struct ht_db_arg *args;
	size_t n_args;
	struct ht_vec text;
};

static int compare_frames(const void *x, const void *y)
{
	const struct frame *a = x, *b = y;
	if (a->chain != b->chain)
		return a->chain < b->chain ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static enum ht_status read_frames(struct ht_db *db, struct host *host)
{
	static const char *const columns[] = { "id", "stackDepth", "stack", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "PYTORCH_CALLCHAINS", columns, NULL, &query));
	while (ht_db_next(db, query, &status)) {
		const struct ht_db_word *word =
		        ht_db_words_find(&db->strings, ht_db_i64(query, 2, 0));
		struct frame frame = { ht_db_i64(query, 0, 0), ht_db_i64(query, 1, 0),
			word ? word->text : NULL, word ? word->n : 0 };
		if (ht_db_is_null(query, 0) || ht_db_is_null(query, 2) || !word)
			continue;
		if (!HT_VEC_PUSH(db->builder->mem, &host->frames, struct frame, frame)) {
			status = ht_fail_nomem(db->ctx);
			break;
		}
	}
	sqlite3_finalize(query);
	if (host->frames.n)
		qsort(host->frames.data, host->frames.n, sizeof(struct frame), compare_frames);
	return status;
}

/* The frames of a call chain as one text, as in the timeline: HT_NO_STR when it has none. */
static enum ht_status make_stack(
        struct ht_db *db, struct host *host, int64_t chain, uint32_t *ret_str)
{
	const struct frame *frames = host->frames.data;
	size_t at = HT_LOWER_BOUND(i, host->frames.n, frames[i].chain < chain);
	host->text.n = 0;
	for (; at < host->frames.n && frames[at].chain == chain; at++) {
		size_t n = frames[at].n, n_gap = host->text.n ? 3 : 0;
		if (!ht_vec_reserve(db->builder->mem, &host->text, 1, n + 3))
			return ht_fail_nomem(db->ctx);
		db->file.n_cell_bytes += n;
		if (db->file.n_cell_bytes > db->file.max_cell_bytes)
			break;
		char *end = (char *)host->text.data + host->text.n;
		memcpy(end, ";\r\n", n_gap);
		memcpy(end + n_gap, frames[at].text, n);
		host->text.n += n + n_gap;
	}
	*ret_str =
	        host->text.n ? ht_rows_text(&db->rows, host->text.data, host->text.n) : HT_NO_STR;
	return HT_OK;
}

static enum ht_status put_stack(struct ht_db *db, struct host *host, int64_t chain)
{
	struct ht_db_word *known = ht_db_words_find(&host->stacks, chain);
	if (!known) {
		known = ht_db_words_add(db, &host->stacks, chain);
		if (!known)
			return ht_fail_nomem(db->ctx);
		HT_TRY(make_stack(db, host, chain, &known->str));
	}
	if (known->str != HT_NO_STR)
		ht_row_put(&db->rows, host->stack, known->str);
	return HT_OK;
}

static const char *category_of(int64_t type, const char *name)
{
	switch (type) {
	case API_QUEUE: return !strncmp(name, "Dequeue", 7) ? "dequeue" : "enqueue";
	case API_PYTHON: return "python_function";
	case API_MSTX: return "user_annotation";
	default: return "cpu_op";
	}
}

static enum ht_status put_call(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	struct host *host = user;
	const char *name = ht_db_string(db, query, P_NAME);
	int64_t start_ns = ht_db_i64(query, P_START, 0), type = ht_db_i64(query, P_TYPE, API_OP);
	host->has_steps |= name && !strncmp(name, "ProfilerStep#", 13);
	const char *category = category_of(type, name ? name : "");
	begin_span(db, category, ht_db_string_id(db, query, P_NAME), start_ns);
	ht_row_duration(&db->rows, ht_sub_sat(ht_db_i64(query, P_END, start_ns), start_ns));
	put_thread(db, ht_db_i64(query, P_TID, 0));
	if (type == API_OP)
		ht_db_args_put(db, query, host->args, host->n_args);
	if (type == API_OP && !ht_db_is_null(query, P_CHAIN))
		HT_TRY(put_stack(db, host, ht_db_i64(query, P_CHAIN, 0)));
	return ht_row_end(&db->rows, -1);
}

static enum ht_status read_calls(struct ht_db *db, bool *ret_has_steps)
{
	struct ht_db_arg args[] = { { P_CONNECTION, "External id", HT_ARG_I64, 0, NULL },
		{ P_SEQUENCE, "Sequence number", HT_ARG_I64, 0, NULL },
		{ P_FWD, "Fwd thread id", HT_ARG_I64, 0, NULL },
		{ P_TYPES, "Input type", HT_ARG_STR, 0, NULL },
		{ P_DIMS, "Input Dims", HT_ARG_STR, 0, NULL } };
	struct host host = { .args = args, .n_args = HT_COUNT(args) };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "PYTORCH_API", pytorch_columns, NULL, &query));
	ht_db_args_make(db, args, HT_COUNT(args));
	host.stack = ht_rows_column(&db->rows, "Call stack", 10, HT_ARG_STR);
	enum ht_status status = query ? read_frames(db, &host) : HT_OK;
	if (status == HT_OK)
		status = each(db, query, put_call, &host);
	else
		sqlite3_finalize(query);
	*ret_has_steps = host.has_steps;
	ht_db_words_done(db, &host.stacks);
	ht_vec_free(db->builder->mem, &host.frames, sizeof(struct frame));
	ht_vec_free(db->builder->mem, &host.text, 1);
	return status;
}

/* CANN is a process of its own in the timeline, with the threads of the one that calls it: its calls are not inside
 * operators, whose own time they are. A pid beyond all of the system's, and named. */
#define CANN_PIDS ((int64_t)1 << 32)

struct cann {
	struct ht_db_arg connection;
	int64_t pid; /* that was named last */
};

static enum ht_status name_process(struct ht_db *db, int64_t pid, const char *name)
{
	ht_row_begin(&db->rows, 'M', HT_NO_STR, ht_rows_text(&db->rows, "process_name", 12));
	ht_row_process(&db->rows, pid, 0);
	ht_row_put(&db->rows, ht_rows_column(&db->rows, "name", 4, HT_ARG_STR),
	        ht_rows_text(&db->rows, name, strlen(name)));
	return ht_row_end(&db->rows, -1);
}

enum { C_START, C_END, C_TYPE, C_TID, C_CONNECTION, C_NAME };
static const char *const cann_columns[] = { "startNs", "endNs", "type", "globalTid", "connectionId",
	"name", NULL };

static enum ht_status put_cann(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	static const struct {
		int64_t type;
		const char *name;
	} levels[] = { { 5000, "Runtime" }, { 5500, "HCCL" }, { 10000, "Node" }, { 15000, "Model" },
		{ 20000, "AscendCL" } };
	struct cann *cann = user;
	int64_t start_ns = ht_db_i64(query, C_START, 0), type = ht_db_i64(query, C_TYPE, 0);
	int64_t tid = ht_db_i64(query, C_TID, 0), pid = CANN_PIDS + (tid >> 32 & UINT32_MAX);
	const char *text = ht_db_string(db, query, C_NAME), *level = "CANN";
	char name[512];
	if (pid != cann->pid)
		HT_TRY(name_process(db, pid, "CANN"));
	cann->pid = pid;
	for (size_t i = 0; i < HT_COUNT(levels); i++)
		if (levels[i].type == type)
			level = levels[i].name;
	int n = snprintf(name, sizeof name, "%s@%s", level, text ? text : "");
	n = n < (int)sizeof name ? n : (int)sizeof name - 1;
	begin_span(db, "cann_runtime", ht_rows_text(&db->rows, name, (size_t)n), start_ns);
	ht_row_duration(&db->rows, ht_sub_sat(ht_db_i64(query, C_END, start_ns), start_ns));
	ht_row_process(&db->rows, pid, tid & UINT32_MAX);
	ht_db_args_put(db, query, &cann->connection, 1);
	return ht_row_end(&db->rows, -1);
}

static enum ht_status put_step(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	char name[64];
	int64_t start_ns = ht_db_i64(query, 1, 0);
	(void)user;
	int n = snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)ht_db_i64(query, 0, 0));
	begin_span(db, "user_annotation", ht_rows_text(&db->rows, name, (size_t)n), start_ns);
	ht_row_duration(&db->rows, ht_sub_sat(ht_db_i64(query, 2, start_ns), start_ns));
	ht_row_process(&db->rows, 0, 0);
	return ht_row_end(&db->rows, -1);
}

static enum ht_status put_rank(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	struct ht_header header = { 0 };
	char text[32];
	(void)user;
	int n = snprintf(text, sizeof text, "%lld", (long long)ht_db_i64(query, 0, 0));
	header.key = ht_rows_text(&db->rows, "rank_id", 7);
	header.value = ht_rows_text(&db->rows, text, (size_t)n);
	/* -1: not a rank of a job */
	if (ht_db_i64(query, 0, -1) < 0)
		return HT_OK;
	return HT_VEC_PUSH(db->builder->mem, &db->builder->all.headers, struct ht_header, header)
	               ? HT_OK
	               : ht_fail_nomem(db->ctx);
}

enum ht_status ht_db_read_host(struct ht_db *db)
{
	static const char *const step_columns[] = { "id", "startNs", "endNs", NULL };
	static const char *const rank_columns[] = { "rankId", NULL };
	bool has_steps = false;
	struct cann cann = { { C_CONNECTION, "connection_id", HT_ARG_I64, 0, NULL }, -1 };
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, "RANK_DEVICE_MAP", rank_columns, NULL, &query));
	HT_TRY(each(db, query, put_rank, NULL));
	HT_TRY(read_calls(db, &has_steps));
	HT_TRY(ht_db_select(db, "CANN_API", cann_columns, NULL, &query));
	ht_db_args_make(db, &cann.connection, 1);
	HT_TRY(each(db, query, put_cann, &cann));
	if (has_steps)
		return HT_OK;
	HT_TRY(ht_db_select(db, "STEP_TIME", step_columns, NULL, &query));
	return each(db, query, put_step, NULL);
}

/* ---- device ---- */

enum {
	T_START,
	T_END,
	T_DEVICE,
	T_STREAM,
	T_CONNECTION,
	T_TASK_TYPE,
	T_ID,
	T_MODEL,
	T_TASK,
	T_NAME,
	T_CORE,
	T_OP_TYPE,
	T_BLOCKS,
	T_MIX_BLOCKS,
	T_IN_SHAPES,
	T_IN_TYPES,
	T_IN_FORMATS,
	T_OUT_SHAPES,
	T_OUT_TYPES,
	T_OUT_FORMATS,
	T_WAIT,
	T_PIECE,
	T_OP,
	T_STATE,
	T_TRANSPORT,
	T_LINK,
	T_BYTES,
	T_SPEED
};

/* TASK with what the other tables say about it, made by us: missing tables and columns become nulls there. */
static const char *const task_columns[] = { "startNs", "endNs", "deviceId", "streamId",
	"connectionId", "taskType", "globalTaskId", "modelId", "taskId", "name", "core", "opType",
	"blockDim", "mixBlockDim", "inputShapes", "inputDataTypes", "inputFormats", "outputShapes",
	"outputDataTypes", "outputFormats", "wait", "piece", "op", "opState", "transport", "link",
	"size", "speed", NULL };

struct task {
	int64_t id;
	uint32_t row;
};

struct device {
	struct ht_db_arg *args;
	size_t n_args;
	struct ht_vec tasks; /* struct task, by id once all are there */
	/* counters of one task, which come together; of collectives id is the device */
	int64_t id;
	bool has_task;
	uint32_t column; /* of the arg "device" */
	struct ht_db_words
	        groups;      /* names of those that collectives have, with their numbers as ids */
	sqlite3_stmt *op_of; /* the operator of a connection, NULL: nothing says */
	uint32_t op_column;  /* of the arg \"External id\" */
};

static enum ht_status put_task(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	struct device *device = user;
	int64_t start_ns = ht_db_i64(query, T_START, 0);
	bool is_piece = ht_db_i64(query, T_PIECE, 0) != 0;
	uint32_t name = ht_db_string_id(db, query, T_NAME);
	if (name == HT_NO_STR)
		name = ht_db_string_id(db, query, T_TASK_TYPE);
	begin_span(db, is_piece ? "npu_collective_task" : "kernel", name, start_ns);
	ht_row_duration(&db->rows, ht_sub_sat(ht_db_i64(query, T_END, start_ns), start_ns));
	ht_row_process(&db->rows, ht_db_i64(query, T_DEVICE, 0), ht_db_i64(query, T_STREAM, -1));
	ht_db_args_put(db, query, device->args, device->n_args);
	struct task task = { ht_db_i64(query, T_ID, -1), db->builder->all.n };
	if (!HT_VEC_PUSH(db->builder->mem, &device->tasks, struct task, task))
		return ht_fail_nomem(db->ctx);
	return ht_row_end(&db->rows, -1);
}

static int compare_tasks(const void *x, const void *y)
{
	const struct task *a = x, *b = y;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The column of kernel_details.csv that a counter is, into a buffer of 128 bytes; times are in ns here and in us there.
 * Returns what to multiply it with. */
static double rename_counter(const char *name, char *key)
{
	static const char *const totals[][2] = { { "aic_total_time", "aicore_time(us)" },
		{ "aiv_total_time", "aiv_time(us)" }, { "total_time", "aicore_time(us)" } };
	size_t n = strlen(name);
	bool is_time = n > 5 && !strcmp(name + n - 5, "_time");
	(void)snprintf(key, 128, "%.100s%s", name, is_time ? "(us)" : "");
	for (size_t i = 0; i < HT_COUNT(totals); i++)
		if (!strcmp(name, totals[i][0]))
			(void)snprintf(key, 128, "%s", totals[i][1]);
	return is_time ? 1e-3 : 1;
}

/* One counter of a task; those of one task follow each other. */
static enum ht_status put_counter(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	struct device *device = user;
	struct task key = { ht_db_i64(query, 0, -1), 0 };
	const char *name = ht_db_string(db, query, 1);
	if (device->has_task && key.id != device->id) {
		device->has_task = false;
		HT_TRY(ht_row_end(&db->rows, -1));
	}
	if (!device->has_task) {
		const struct task *task =
		        device->tasks.n ? bsearch(&key, device->tasks.data, device->tasks.n,
		                                  sizeof key, compare_tasks)
		                        : NULL;
		if (!task)
			return HT_OK;
		ht_row_extend(&db->rows, task->row);
		device->has_task = true;
		device->id = key.id;
	}
	char counter[128];
	double value = sqlite3_column_double(query, 2) * rename_counter(name ? name : "", counter);
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	if (name && !ht_db_is_null(query, 2))
		ht_row_put(&db->rows,
		        ht_rows_column(&db->rows, counter, strlen(counter), HT_ARG_F64), bits);
	return HT_OK;
}

static enum ht_status read_counters(struct ht_db *db, struct device *device)
{
	static const char *const columns[] = { "globalTaskId", "name", "value", NULL };
	sqlite3_stmt *query;
	if (device->tasks.n)
		qsort(device->tasks.data, device->tasks.n, sizeof(struct task), compare_tasks);
	HT_TRY(ht_db_select(db, "TASK_PMU_INFO", columns, "ORDER BY globalTaskId, name", &query));
	HT_TRY(each(db, query, put_counter, device));
	return device->has_task ? ht_row_end(&db->rows, -1) : HT_OK;
}

/* A table of its own with the columns that are wanted, whatever the database has. */
static enum ht_status copy_table(
        struct ht_db *db, const char *to, const char *from, const char *const *columns)
{
	struct ht_arena arena;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, from, columns, NULL, &query));
	ht_arena_init(&arena, db->builder->mem);
	char *sql = ht_arena_printf(&arena, "CREATE TEMP TABLE %s(", to);
	for (size_t i = 0; sql && columns[i]; i++)
		sql = ht_arena_printf(&arena, "%s%s\"%s\"%s", sql, i ? "," : "", columns[i],
		        i ? "" : " INTEGER PRIMARY KEY");
	/* the text of the query says which columns are nulls */
	if (sql && query)
		sql = ht_arena_printf(
		        &arena, "%s); INSERT OR IGNORE INTO %s %s", sql, to, sqlite3_sql(query));
	else if (sql)
		sql = ht_arena_printf(&arena, "%s)", sql);
	enum ht_status status = sql ? ht_database_run(&db->file, sql) : ht_fail_nomem(db->ctx);
	sqlite3_finalize(query);
	ht_arena_done(&arena);
	return status;
}

/* What tasks are joined with. */
static enum ht_status join_tasks(struct ht_db *db)
{
	static const char *const compute[] = { "globalTaskId", "name", "taskType", "opType",
		"blockDim", "mixBlockDim", "inputShapes", "inputDataTypes", "inputFormats",
		"outputShapes", "outputDataTypes", "outputFormats", "waitNs", "opState", NULL };
	static const char *const pieces[] = { "globalTaskId", "transportType", "linkType", "size",
		NULL };
	static const char *const connections[] = { "connectionId", "id", NULL };
	static const char *const collectives[] = { "connectionId", NULL };
	static const char *const tasks[] = { "globalTaskId", "startNs", "endNs", "deviceId",
		"streamId", "connectionId", "taskType", "modelId", "taskId", NULL };
	HT_TRY(copy_table(db, "ht_compute", "COMPUTE_TASK_INFO", compute));
	HT_TRY(copy_table(db, "ht_piece", "COMMUNICATION_TASK_INFO", pieces));
	HT_TRY(copy_table(db, "ht_connection", "CONNECTION_IDS", connections));
	HT_TRY(copy_table(db, "ht_plain_task", "TASK", tasks));
	HT_TRY(copy_table(db, "ht_collective", "COMMUNICATION_OP", collectives));
	return ht_database_run(&db->file,
	        "CREATE TEMP VIEW " HT_DATABASE_VIEW
	        " AS SELECT k.startNs, k.endNs, k.deviceId, k.streamId, "
	        "k.connectionId, k.taskType, k.globalTaskId, k.modelId, k.taskId, c.name, "
	        "c.taskType AS core, c.opType, c.blockDim, c.mixBlockDim, c.inputShapes, "
	        "c.inputDataTypes, c.inputFormats, c.outputShapes, c.outputDataTypes, "
	        "c.outputFormats, c.waitNs/1000.0 AS wait, p.globalTaskId IS NOT NULL OR (o.connectionId IS NOT NULL AND c.name IS NULL) AS piece, "
	        "n.id AS op, c.opState, p.transportType AS transport, p.linkType AS link, p.size, "
	        "CASE WHEN k.endNs > k.startNs THEN p.size*1.0/(k.endNs-k.startNs) END AS speed FROM ht_plain_task k LEFT JOIN ht_compute c USING(globalTaskId) LEFT JOIN "
	        "ht_piece p USING(globalTaskId) LEFT JOIN ht_collective o ON o.connectionId=k.connectionId LEFT JOIN ht_connection n ON "
	        "n.connectionId=k.connectionId ORDER BY k.globalTaskId");
}

enum { O_START, O_END, O_CONNECTION, O_NAME, O_GROUP, O_TYPE, O_ALGORITHM, O_COUNT, O_DEVICE };
static const char *const collective_columns[] = { "startNs", "endNs", "connectionId", "opName",
	"groupName", "opType", "algType", "count", "deviceId", NULL };

/* The device that most tasks run on: that of the collectives, which do not name theirs in older databases. */
static enum ht_status find_device(struct ht_db *db, int64_t *ret_device)
{
	sqlite3_stmt *query = NULL;
	bool more = false;
	if (!ht_database_has_table(&db->file, "ht_plain_task"))
		return HT_OK;
	if (sqlite3_prepare_v2(db->file.handle,
	            "SELECT deviceId FROM temp.ht_plain_task WHERE deviceId IS NOT NULL GROUP BY deviceId "
	            "ORDER BY COUNT(*) DESC, deviceId LIMIT 1",
	            -1, &query, NULL) != SQLITE_OK)
		return HT_OK;
	enum ht_status status = ht_database_step(&db->file, query, &more);
	if (status == HT_OK && more)
		*ret_device = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return status;
}

/* Groups are numbered as they come, and are streams; -1 when out of memory. */
static int64_t find_group(struct ht_db *db, struct device *device, uint32_t name)
{
	struct ht_db_word *group = ht_db_words_find(&device->groups, name);
	if (!group) {
		uint32_t n = (uint32_t)device->groups.n;
		group = ht_db_words_add(db, &device->groups, name);
		if (group)
			group->str = n;
	}
	return group ? (int64_t)group->str : -1;
}

static enum ht_status put_operator(struct ht_db *db, struct device *device, int64_t connection)
{
	bool more = false;
	if (!device->op_of)
		return HT_OK;
	sqlite3_reset(device->op_of);
	sqlite3_bind_int64(device->op_of, 1, connection);
	HT_TRY(ht_database_step(&db->file, device->op_of, &more));
	if (more && !ht_db_is_null(device->op_of, 0))
		ht_row_put(&db->rows, device->op_column,
		        (uint64_t)sqlite3_column_int64(device->op_of, 0));
	return HT_OK;
}

static enum ht_status put_collective(struct ht_db *db, sqlite3_stmt *query, void *user)
{
	struct device *device = user;
	int64_t start_ns = ht_db_i64(query, O_START, 0);
	begin_span(db, "kernel", ht_db_string_id(db, query, O_NAME), start_ns);
	ht_row_duration(&db->rows, ht_sub_sat(ht_db_i64(query, O_END, start_ns), start_ns));
	int64_t group = find_group(db, device, ht_db_string_id(db, query, O_GROUP));
	if (group < 0)
		return ht_fail_nomem(db->ctx);
	ht_row_process(&db->rows, ht_db_i64(query, O_DEVICE, device->id), group);
	ht_row_put(&db->rows, device->column, (uint64_t)ht_db_i64(query, O_DEVICE, device->id));
	ht_db_args_put(db, query, device->args, device->n_args);
	HT_TRY(put_operator(db, device, ht_db_i64(query, O_CONNECTION, -1)));
	/* as in kernel_details.csv */
	ht_row_put(&db->rows, ht_rows_column(&db->rows, "Accelerator Core", 16, HT_ARG_STR),
	        ht_rows_text(&db->rows, "HCCL", 4));
	return ht_row_end(&db->rows, -1);
}

static enum ht_status read_collectives(struct ht_db *db)
{
	struct ht_db_arg args[] = { { O_CONNECTION, "connection_id", HT_ARG_I64, 0, NULL },
		{ O_GROUP, "group", HT_ARG_STR, 0, NULL }, { O_TYPE, "Type", HT_ARG_STR, 0, NULL },
		{ O_ALGORITHM, "alg_type", HT_ARG_STR, 0, NULL },
		{ O_COUNT, "count", HT_ARG_I64, 0, NULL } };
	struct device device = { .args = args, .n_args = HT_COUNT(args) };
	sqlite3_stmt *query;
	HT_TRY(find_device(db, &device.id));
	device.column = ht_rows_column(&db->rows, "device", 6, HT_ARG_I64);
	HT_TRY(ht_db_select(
	        db, "COMMUNICATION_OP", collective_columns, "ORDER BY startNs", &query));
	ht_db_args_make(db, args, HT_COUNT(args));
	device.op_column = ht_rows_column(&db->rows, "External id", 11, HT_ARG_I64);
	if (sqlite3_prepare_v2(db->file.handle,
	            "SELECT id FROM temp.ht_connection WHERE connectionId=?", -1, &device.op_of,
	            NULL) != SQLITE_OK)
		device.op_of = NULL;
	enum ht_status status = each(db, query, put_collective, &device);
	sqlite3_finalize(device.op_of);
	ht_db_words_done(db, &device.groups);
	return status;
}

static enum ht_status read_tasks(struct ht_db *db, struct device *device)
{
	sqlite3_stmt *query;
	if (!ht_database_has_table(&db->file, "TASK"))
		return HT_OK;
	HT_TRY(join_tasks(db));
	HT_TRY(ht_db_select(db, HT_DATABASE_VIEW, task_columns, NULL, &query));
	ht_db_args_make(db, device->args, device->n_args);
	HT_TRY(each(db, query, put_task, device));
	return read_counters(db, device);
}

enum ht_status ht_db_read_device(struct ht_db *db)
{
	struct ht_db_words transports = { 0 }, links = { 0 };
	struct ht_db_arg args[] = { { T_DEVICE, "device", HT_ARG_I64, 0, NULL },
		{ T_STREAM, "stream", HT_ARG_I64, 0, NULL },
		{ T_CONNECTION, "connection_id", HT_ARG_I64, 0, NULL },
		{ T_OP, "External id", HT_ARG_I64, 0, NULL },
		{ T_TASK_TYPE, "Task Type", HT_ARG_STR, 0, NULL },
		{ T_MODEL, "Model ID", HT_ARG_I64, 0, NULL },
		{ T_TASK, "Task ID", HT_ARG_I64, 0, NULL },
		{ T_CORE, "Accelerator Core", HT_ARG_STR, 0, NULL },
		{ T_OP_TYPE, "Type", HT_ARG_STR, 0, NULL },
		{ T_BLOCKS, "Block Dim", HT_ARG_I64, 0, NULL },
		{ T_MIX_BLOCKS, "Mix Block Dim", HT_ARG_I64, 0, NULL },
		{ T_IN_SHAPES, "Input Shapes", HT_ARG_STR, 0, NULL },
		{ T_IN_TYPES, "Input Data Types", HT_ARG_STR, 0, NULL },
		{ T_IN_FORMATS, "Input Formats", HT_ARG_STR, 0, NULL },
		{ T_OUT_SHAPES, "Output Shapes", HT_ARG_STR, 0, NULL },
		{ T_OUT_TYPES, "Output Data Types", HT_ARG_STR, 0, NULL },
		{ T_OUT_FORMATS, "Output Formats", HT_ARG_STR, 0, NULL },
		{ T_WAIT, "Wait Time(us)", HT_ARG_F64, 0, NULL },
		{ T_STATE, "OP State", HT_ARG_STR, 0, NULL },
		{ T_TRANSPORT, "transport type", HT_ARG_STR, 0, &transports },
		{ T_LINK, "link type", HT_ARG_STR, 0, &links },
		{ T_BYTES, "size(Byte)", HT_ARG_I64, 0, NULL },
		{ T_SPEED, "bandwidth(GB/s)", HT_ARG_F64, 0, NULL } };
	struct device device = { .args = args, .n_args = HT_COUNT(args) };
	enum ht_status status =
	        ht_db_words_read(db, "ENUM_HCCL_TRANSPORT_TYPE", "id", "name", &transports);
	if (status == HT_OK)
		status = ht_db_words_read(db, "ENUM_HCCL_LINK_TYPE", "id", "name", &links);
	if (status == HT_OK)
		status = read_tasks(db, &device);
	ht_db_words_done(db, &transports);
	ht_db_words_done(db, &links);
	ht_vec_free(db->builder->mem, &device.tasks, sizeof(struct task));
	HT_TRY(status);
	return read_collectives(db);
}

#endif
