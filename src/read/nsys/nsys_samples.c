/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_samples.c - what an export measured at points in time: CPU samples, scheduling, GPU metrics, device memory; and when
 * the nodes of graphs were made.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/search.h"
#include "read/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Begin an instant of a thread; false when the row has no time. */
static bool begin_instant(struct ht_nsys *n, sqlite3_stmt *query, char ph,
        enum ht_nsys_category category, uint32_t name, int64_t pid, int64_t tid)
{
	int64_t ts_ns, dur_ns;
	bool is_open;
	if (!ht_nsys_times(n, query, &ts_ns, &dur_ns, &is_open))
		return false;
	ht_nsys_begin(n, ph, category, name);
	ht_row_process(&n->db.rows, pid, tid);
	ht_row_time(&n->db.rows, ts_ns);
	return true;
}

static enum ht_status name_process(struct ht_nsys *n, int64_t pid, const char *name)
{
	ht_row_begin(&n->db.rows, 'M', HT_NO_STR, ht_rows_text(&n->db.rows, "process_name", 12));
	ht_row_process(&n->db.rows, pid, 0);
	ht_row_put(&n->db.rows, n->arg_name, ht_rows_text(&n->db.rows, name, strlen(name)));
	return ht_row_end(&n->db.rows, -1);
}

/* ---- CPU samples ---- */

/* A frame of a call chain, the innermost one first. */
struct frame {
	int64_t chain, depth, symbol;
};

static int compare_frames(const void *x, const void *y)
{
	const struct frame *a = x, *b = y;
	if (a->chain != b->chain)
		return a->chain < b->chain ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static enum ht_status read_frames(struct ht_nsys *n, struct ht_vec *frames)
{
	static const char *const columns[] = { "id", "stackDepth", "symbol", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "SAMPLING_CALLCHAINS", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		struct frame frame = { ht_db_i64(query, 0, -1), ht_db_i64(query, 1, 0),
			ht_db_i64(query, 2, -1) };
		if (!HT_VEC_PUSH(n->db.builder->mem, frames, struct frame, frame)) {
			status = ht_fail_nomem(n->db.ctx);
			break;
		}
	}
	sqlite3_finalize(query);
	if (frames->n)
		qsort(frames->data, frames->n, sizeof(struct frame), compare_frames);
	return status;
}

/* What is known of a chain: many samples may have one. */
struct chain {
	int64_t id;
	size_t first_frame;
	uint32_t text, name; /* HT_NO_STR: it has none */
	bool is_known;
};

static enum ht_status list_chains(
        struct ht_nsys *n, const struct ht_vec *frames, struct ht_vec *chains)
{
	const struct frame *list = frames->data;
	for (size_t i = 0; i < frames->n; i++) {
		struct chain chain = { list[i].chain, i, HT_NO_STR, HT_NO_STR, false };
		if (i && list[i - 1].chain == list[i].chain)
			continue;
		if (!HT_VEC_PUSH(n->db.builder->mem, chains, struct chain, chain))
			return ht_fail_nomem(n->db.ctx);
	}
	return HT_OK;
}

/* The names of a chain, one a line, as far as they fit, and the innermost. */
static void name_chain(struct ht_nsys *n, const struct ht_vec *frames, struct chain *chain)
{
	const struct frame *list = frames->data;
	char text[8192];
	size_t length = 0;
	for (size_t i = chain->first_frame; i < frames->n && list[i].chain == chain->id; i++) {
		const struct ht_db_word *word = ht_db_words_find(&n->db.strings, list[i].symbol);
		if (!word || length + word->n + 2 > sizeof text)
			continue;
		if (!length)
			chain->name = ht_rows_text(&n->db.rows, word->text, word->n);
		else
			text[length++] = '\n';
		memcpy(text + length, word->text, word->n);
		length += word->n;
	}
	if (length)
		chain->text = ht_rows_text(&n->db.rows, text, length);
	chain->is_known = true;
}

/* NULL: no frames are known of it. */
static const struct chain *find_chain(
        struct ht_nsys *n, const struct ht_vec *frames, const struct ht_vec *chains, int64_t id)
{
	struct chain *list = chains->data;
	size_t i = HT_LOWER_BOUND(at, chains->n, list[at].id < id);
	if (i == chains->n || list[i].id != id)
		return NULL;
	if (!list[i].is_known)
		name_chain(n, frames, &list[i]);
	return &list[i];
}

enum { P_START, P_NO_END, P_ID, P_TID, P_CPU, P_CYCLES };
static const char *const sample_columns[] = { "start", "none", "id", "globalTid", "cpu",
	"cpuCycles", NULL };

static enum ht_status put_samples(
        struct ht_nsys *n, const struct ht_vec *frames, const struct ht_vec *chains)
{
	uint32_t arg = ht_nsys_text_arg(n, "Call stack");
	uint32_t unknown = ht_rows_text(&n->db.rows, "CPU sample", 10);
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "COMPOSITE_EVENTS", sample_columns, "globalTid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t tid = ht_db_i64(query, P_TID, 0);
		const struct chain *chain =
		        find_chain(n, frames, chains, ht_db_i64(query, P_ID, -1));
		uint32_t name = chain && chain->name != HT_NO_STR ? chain->name : unknown;
		if (!begin_instant(n, query, 'i', HT_NSYS_CAT_SAMPLE, name, ht_nsys_pid(tid),
		            ht_nsys_tid(tid)))
			continue;
		if (chain && chain->text != HT_NO_STR)
			ht_row_put(&n->db.rows, arg, chain->text);
		ht_nsys_put_cell(n, HT_NSYS_CPU, query, P_CPU);
		ht_nsys_put_cell(n, HT_NSYS_CYCLES, query, P_CYCLES);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_samples(struct ht_nsys *n)
{
	struct ht_vec frames = { 0 }, chains = { 0 };
	enum ht_status status = read_frames(n, &frames);
	if (status == HT_OK)
		status = list_chains(n, &frames, &chains);
	if (status == HT_OK)
		status = put_samples(n, &frames, &chains);
	ht_vec_free(n->db.builder->mem, &chains, sizeof(struct chain));
	ht_vec_free(n->db.builder->mem, &frames, sizeof(struct frame));
	return status;
}

/* ---- scheduling ---- */

/* Processors are tracks of a process beyond all of the system's: what runs on one ends before the next begins, while spans
 * in the thread's own track would cut its calls. */
#define CPU_PID ((int64_t)1 << 32)
#define MAX_CPU 65536

enum { D_START, D_NO_END, D_CPU, D_IN, D_TID };
static const char *const sched_columns[] = { "start", "none", "cpu", "isSchedIn", "globalTid",
	NULL };

struct running {
	int64_t since_ns, tid;
	bool is_on;
};

static enum ht_status put_running(
        struct ht_nsys *n, int64_t cpu, const struct running *r, int64_t end_ns, uint32_t name)
{
	ht_nsys_begin(n, 'X', HT_NSYS_CAT_SCHED, name);
	ht_row_process(&n->db.rows, CPU_PID, cpu);
	ht_row_time(&n->db.rows, r->since_ns);
	ht_row_duration(&n->db.rows, ht_sub_sat(end_ns, r->since_ns));
	ht_nsys_put(n, HT_NSYS_CPU, cpu);
	return ht_nsys_end(n);
}

static enum ht_status put_switch(struct ht_nsys *n, struct running *cpus, sqlite3_stmt *query)
{
	int64_t cpu = ht_db_i64(query, D_CPU, -1), tid = ht_db_i64(query, D_TID, 0), ts_ns, dur_ns;
	bool is_open;
	char text[48];
	if (!ht_nsys_times(n, query, &ts_ns, &dur_ns, &is_open))
		return HT_OK;
	if (cpu < 0 || cpu >= MAX_CPU) {
		ht_chunk_stat(&n->db.builder->all, HT_STAT_row_lost, -1, 1);
		return HT_OK;
	}
	struct running *r = &cpus[cpu];
	enum ht_status status = HT_OK;
	if (r->is_on) {
		int length = snprintf(text, sizeof text, "thread %" PRId64, ht_nsys_tid(r->tid));
		status = put_running(
		        n, cpu, r, ts_ns, ht_rows_text(&n->db.rows, text, (size_t)length));
	}
	*r = (struct running){ ts_ns, tid, ht_db_i64(query, D_IN, 0) != 0 };
	return status;
}

static enum ht_status read_scheduling(struct ht_nsys *n)
{
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "SCHED_EVENTS", sched_columns, "globalTid", &query));
	if (!query)
		return HT_OK;
	struct running *cpus = ht_arena_alloc(&n->arena, MAX_CPU * sizeof *cpus);
	status = cpus ? name_process(n, CPU_PID, "CPU") : ht_fail_nomem(n->db.ctx);
	while (ht_db_next(&n->db, query, &status))
		status = put_switch(n, cpus, query);
	sqlite3_finalize(query);
	return status;
}

/* ---- GPU metrics ---- */

enum { M_START, M_NO_END, M_TYPE, M_METRIC, M_VALUE };
static const char *const metric_columns[] = { "timestamp", "none", "typeId", "metricId", "value",
	NULL };

/* Names by type and number; a name stands for that number on every device. */
static enum ht_status read_metric_names(struct ht_nsys *n, struct ht_db_words *names)
{
	return ht_db_words_read(&n->db, "TARGET_INFO_GPU_METRICS", "metricId", "metricName", names);
}

/* Its number is none of the dictionary of the file. */
static uint32_t metric_name(struct ht_nsys *n, const struct ht_db_words *names, sqlite3_stmt *query)
{
	char text[40];
	uint32_t name = ht_db_word_id(&n->db, names, query, M_METRIC);
	if (name != HT_NO_STR)
		return name;
	int length =
	        snprintf(text, sizeof text, "<metric %" PRId64 ">", ht_db_i64(query, M_METRIC, -1));
	return ht_rows_text(&n->db.rows, text, (size_t)length);
}

/* Counters of the devices that the process uses; of all, when that is not known. */
static enum ht_status read_metrics(struct ht_nsys *n)
{
	struct ht_db_words names = { 0 };
	int64_t own = n->n_processes > 1 ? n->processes[n->own].device : HT_NO_I64;
	sqlite3_stmt *query = NULL;
	enum ht_status status = read_metric_names(n, &names);
	if (status == HT_OK)
		status = ht_db_select(&n->db, "GPU_METRICS", metric_columns, NULL, &query);
	while (ht_db_next(&n->db, query, &status)) {
		int64_t gpu = ht_db_i64(query, M_TYPE, 0) & 0xff;
		if (own != HT_NO_I64 && gpu != own)
			continue;
		uint32_t name = metric_name(n, &names, query);
		if (!begin_instant(n, query, 'C', HT_NSYS_CAT_METRIC, name, gpu, 0))
			continue;
		ht_nsys_put_cell(n, HT_NSYS_VALUE, query, M_VALUE);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	ht_db_words_done(&n->db, &names);
	return status;
}

/* ---- device memory ---- */

enum { E_START, E_NO_END, E_TID, E_ADDRESS, E_BYTES, E_OPERATION, E_KIND, E_DEVICE };
static const char *const memory_columns[] = { "start", "none", "globalTid", "address", "bytes",
	"memoryOperationType", "memKind", "deviceId", NULL };
#define MAX_MEMORY_DEVICES 64

static enum ht_status read_memory(struct ht_nsys *n)
{
	int64_t totals[MAX_MEMORY_DEVICES] = { 0 };
	uint32_t name = ht_rows_text(&n->db.rows, "[memory]", 8);
	const char *process =
	        ht_database_has_column(&n->db.file, "CUDA_GPU_MEMORY_USAGE_EVENTS", "globalTid")
	                ? "globalTid"
	                : "globalPid";
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "CUDA_GPU_MEMORY_USAGE_EVENTS", memory_columns, process, &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t tid = ht_db_i64(query, E_TID, 0), bytes = ht_db_i64(query, E_BYTES, 0),
		        device = ht_db_i64(query, E_DEVICE, 0), kind = ht_db_i64(query, E_KIND, 2);
		bool is_free = ht_db_i64(query, E_OPERATION, 0) == 1, is_host = kind < 2;
		if (!begin_instant(n, query, 'i', HT_NSYS_CAT_MEMORY, name, ht_nsys_pid(tid),
		            ht_nsys_tid(tid)))
			continue;
		int64_t change = is_free ? ht_sub_sat(0, bytes) : bytes;
		ht_nsys_put_cell(n, HT_NSYS_MEMORY_ADDRESS, query, E_ADDRESS);
		ht_nsys_put(n, HT_NSYS_MEMORY_BYTES, change);
		ht_nsys_put(n, HT_NSYS_DEVICE_TYPE, is_host ? 0 : 1);
		ht_nsys_put(n, HT_NSYS_DEVICE_ID, is_host ? -1 : device);
		if (!is_host && device >= 0 && device < MAX_MEMORY_DEVICES) {
			totals[device] = ht_add_sat(totals[device], change);
			ht_nsys_put(n, HT_NSYS_MEMORY_TOTAL, totals[device]);
		}
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

/* ---- graphs ---- */

enum { H_START, H_END, H_TID, H_NAME, H_GRAPH, H_NODE, H_ORIGINAL, H_EXEC };
static const char *const node_columns[] = { "start", "end", "globalTid", "nameId", "graphId",
	"graphNodeId", "originalGraphNodeId", "graphExecId", NULL };

/* When and where nodes and graphs were made, or copied from others: as spans, mostly without length, so that what was around
 * them is known. */
static enum ht_status read_graph_events(struct ht_nsys *n, const char *table)
{
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, table, node_columns, "globalTid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t tid = ht_db_i64(query, H_TID, 0), ts_ns, dur_ns;
		bool is_open;
		if (!ht_nsys_times(n, query, &ts_ns, &dur_ns, &is_open))
			continue;
		ht_nsys_begin(n, 'X', HT_NSYS_CAT_GRAPH_NODE_MADE, ht_nsys_name(n, query, H_NAME));
		ht_row_process(&n->db.rows, ht_nsys_pid(tid), ht_nsys_tid(tid));
		ht_row_time(&n->db.rows, ts_ns);
		ht_row_duration(&n->db.rows, is_open ? 0 : dur_ns);
		ht_nsys_put_cell(n, HT_NSYS_GRAPH, query, H_GRAPH);
		ht_nsys_put_cell(n, HT_NSYS_GRAPH_NODE, query, H_NODE);
		ht_nsys_put_cell(n, HT_NSYS_ORIGINAL_NODE, query, H_ORIGINAL);
		ht_nsys_put_cell(n, HT_NSYS_GRAPH_EXEC, query, H_EXEC);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

enum ht_status ht_nsys_read_samples(struct ht_nsys *n)
{
	HT_TRY(read_graph_events(n, "CUDA_GRAPH_NODE_EVENTS"));
	HT_TRY(read_graph_events(n, "CUDA_GRAPH_EVENTS"));
	HT_TRY(read_samples(n));
	HT_TRY(read_scheduling(n));
	HT_TRY(read_metrics(n));
	return read_memory(n);
}

#endif
