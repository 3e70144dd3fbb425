/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys.h - an export of Nsight Systems while one of its processes is read; see nsys.c.
 *
 * All events go through one table of args (store/arg_table.h), which packs their numbers: an export has tens of millions of
 * rows, and few of their numbers need eight bytes.
 */
#ifndef HT_READ_NSYS_NSYS_H
#define HT_READ_NSYS_NSYS_H

#include "base/checked.h"
#include "read/db.h"
#include "read/reader.h"

/* Upper parts of globalPid and globalTid: the process on its machine. The lower 24 bits of the latter are the thread. */
#define HT_NSYS_THREAD_BITS 24
static inline int64_t ht_nsys_process_of(int64_t global_id)
{
	return global_id >> HT_NSYS_THREAD_BITS;
}
/* As the system numbers them; beyond 24 bits they wrap in the file, so nothing is joined by them. */
static inline int64_t ht_nsys_pid(int64_t global_id)
{
	return global_id >> HT_NSYS_THREAD_BITS & 0xffffff;
}
static inline int64_t ht_nsys_tid(int64_t global_id)
{
	return global_id & 0xffffff;
}

/* A process whose work is a rank of its own. */
struct ht_nsys_process {
	int64_t key;    /* ht_nsys_process_of */
	int64_t device; /* that it uses, HT_NO_I64: none, or several */
	int64_t number; /* what it is called: its pid, or the key where several machines have one of that pid */
};
/* A file is read once for each rank, so there is a bound; one of more is read process by process, as they are named. */
#define HT_NSYS_MAX_RANKS 256

/* Args: CELL(name, key). Those before HT_NSYS_DEVICE are ids of texts that are JSON, the others numbers. */
#define HT_NSYS_CELLS(CELL)                                                                        \
	CELL(GRID, "grid")                                                                         \
	CELL(BLOCK, "block")                                                                       \
	CELL(DIMS, "Input Dims")                                                                   \
	CELL(DEVICE, "device")                                                                     \
	CELL(CONTEXT, "context")                                                                   \
	CELL(GREEN_CONTEXT, "green context")                                                       \
	CELL(STREAM, "stream")                                                                     \
	CELL(CORRELATION, "correlation")                                                           \
	CELL(REGISTERS, "registers per thread")                                                    \
	CELL(SHARED, "shared memory")                                                              \
	CELL(BLOCKS, "blocks per SM")                                                              \
	CELL(WARPS, "warps per SM")                                                                \
	CELL(GRAPH, "graph id")                                                                    \
	CELL(GRAPH_EXEC, "graph exec id")                                                          \
	CELL(GRAPH_NODE, "graph node id")                                                          \
	CELL(ORIGINAL_NODE, "original graph node id")                                              \
	CELL(BYTES, "bytes")                                                                       \
	CELL(BANDWIDTH, "memory bandwidth (GB/s)")                                                 \
	CELL(VALUE, "value")                                                                       \
	CELL(RETURNED, "return value")                                                             \
	CELL(WAIT_STREAM, "wait_on_stream")                                                        \
	CELL(WAIT_EVENT, "wait_on_cuda_event_id")                                                  \
	CELL(WAIT_RECORD, "wait_on_cuda_event_record_corr_id")                                     \
	CELL(EVENT, "event_id")                                                                    \
	CELL(SEQUENCE, "Sequence number")                                                          \
	CELL(OP_ID, "Record function id")                                                          \
	CELL(COLOR, "color")                                                                       \
	CELL(PAYLOAD, "payload")                                                                   \
	CELL(RANGE_ID, "id")                                                                       \
	CELL(RECEIVED, "received bytes")                                                           \
	CELL(PEER, "peer rank")                                                                    \
	CELL(ROOT, "root rank")                                                                    \
	CELL(TAG, "tag")                                                                           \
	CELL(COMMUNICATOR, "communicator")                                                         \
	CELL(NESTING, "nesting level")                                                             \
	CELL(CPU, "cpu")                                                                           \
	CELL(CYCLES, "cpu cycles")                                                                 \
	CELL(MEMORY_BYTES, "Bytes")                                                                \
	CELL(MEMORY_ADDRESS, "Addr")                                                               \
	CELL(MEMORY_TOTAL, "Total Allocated")                                                      \
	CELL(DEVICE_TYPE, "Device Type")                                                           \
	CELL(DEVICE_ID, "Device Id")
enum ht_nsys_cell {
#define CELL(name, key) HT_NSYS_##name,
	HT_NSYS_CELLS(CELL)
#undef CELL
	        HT_NSYS_N_CELLS
};

/* Categories: CATEGORY(name, text). */
#define HT_NSYS_CATEGORIES(CATEGORY)                                                               \
	CATEGORY(KERNEL, "kernel")                                                                 \
	CATEGORY(MEMCPY, "gpu_memcpy")                                                             \
	CATEGORY(MEMSET, "gpu_memset")                                                             \
	CATEGORY(GPU_GRAPH, "gpu_graph")                                                           \
	CATEGORY(RUNTIME, "cuda_runtime")                                                          \
	CATEGORY(DRIVER, "cuda_driver")                                                            \
	CATEGORY(SYNC, "cuda_sync")                                                                \
	CATEGORY(CUDA_EVENT, "cuda_event")                                                         \
	CATEGORY(OP, "cpu_op")                                                                     \
	CATEGORY(ANNOTATION, "user_annotation")                                                    \
	CATEGORY(MARK, "nvtx_mark")                                                                \
	CATEGORY(RANGE, "nvtx_range")                                                              \
	CATEGORY(OS, "os_runtime")                                                                 \
	CATEGORY(LIBRARY, "library_call")                                                          \
	CATEGORY(OVERHEAD, "overhead")                                                             \
	CATEGORY(GRAPH_NODE_MADE, "graph_node")                                                    \
	CATEGORY(SAMPLE, "cpu_sample")                                                             \
	CATEGORY(SCHED, "cpu_sched")                                                               \
	CATEGORY(METRIC, "gpu_metric")                                                             \
	CATEGORY(MEMORY, "cpu_instant_event")
enum ht_nsys_category {
#define CATEGORY(name, text) HT_NSYS_CAT_##name,
	HT_NSYS_CATEGORIES(CATEGORY)
#undef CATEGORY
	        HT_NSYS_N_CATEGORIES
};

/* A record of an event on a stream; turn counts those of one event. */
struct ht_nsys_record {
	int64_t event, turn, stream, correlation;
};

struct ht_nsys {
	struct ht_db db;
	struct ht_arena arena;
	struct ht_arg_table *table;
	uint8_t has[HT_NSYS_N_CELLS]; /* of the event in hand */
	uint32_t category[HT_NSYS_N_CATEGORIES];
	uint32_t arg_name;                 /* of metadata */
	struct ht_nsys_process *processes; /* by key */
	size_t n_processes;
	size_t own;               /* the one that is read */
	int64_t window_end_ns;    /* ends what did not end */
	int64_t n_sms[64];        /* by device, 0: nobody says */
	bool is_graph_mode;       /* kernels in graphs were not recorded */
	int64_t rank, world_size; /* HT_NO_I64: nobody says */
	int64_t largest;          /* communicator that was made, HT_NO_I64: none */
	/* calls that wait or record, by correlation: their name, and as length their start */
	struct ht_db_words calls;
	struct ht_db_words communicators; /* of NCCL: as length their ranks */
	struct ht_vec records;            /* struct ht_nsys_record, by event and turn */
};

/* Whether the database has the tables of an export. */
bool ht_nsys_is_export(struct ht_db *db);
/* Find the processes that are ranks, and the one of that number; HT_NO_I64: the only one, or the first. */
enum ht_status ht_nsys_choose_process(struct ht_nsys *n, int64_t part) HT_MUST_USE;
/* The clause for rows that are the process's, by a column with its globalPid or globalTid; in the arena, NULL when out of memory. */
const char *ht_nsys_where_own(struct ht_nsys *n, const char *column);
/* Of several processes that have a device each, the device is the rank on this machine; HT_NO_I64: they have not. */
int64_t ht_nsys_rank_by_device(const struct ht_nsys *n);

/* The parts in which an export is read. */
enum ht_status ht_nsys_read_about(struct ht_nsys *n) HT_MUST_USE;
/* What is known of the rank when all is read. */
enum ht_status ht_nsys_put_rank(struct ht_nsys *n) HT_MUST_USE;
enum ht_status ht_nsys_read_names(struct ht_nsys *n) HT_MUST_USE;
enum ht_status ht_nsys_read_gpu(struct ht_nsys *n) HT_MUST_USE;
enum ht_status ht_nsys_read_calls(struct ht_nsys *n) HT_MUST_USE;
enum ht_status ht_nsys_read_nvtx(struct ht_nsys *n) HT_MUST_USE;
enum ht_status ht_nsys_read_samples(struct ht_nsys *n) HT_MUST_USE;

/* The columns of a table by name, of rows that are the process's: by the column that has its globalPid or globalTid; NULL:
 * all rows. See ht_db_select. */
enum ht_status ht_nsys_select(struct ht_nsys *n, const char *table, const char *const *columns,
        const char *process_column, sqlite3_stmt **ret_query) HT_MUST_USE;

/* NULL: it was not recorded in the window. */
const struct ht_nsys_record *ht_nsys_find_record(
        const struct ht_nsys *n, int64_t event, int64_t turn);

/* The times of a row: of its first two columns. False, and counted, without a start. Without an end it lasts to the end of
 * the window, and *ret_is_open. */
bool ht_nsys_times(struct ht_nsys *n, sqlite3_stmt *query, int64_t *ret_start_ns,
        int64_t *ret_dur_ns, bool *ret_is_open);

/* What an id of the dictionary stands for; "<id 7>" when nobody says. */
uint32_t ht_nsys_name(struct ht_nsys *n, sqlite3_stmt *query, int column);

/* An event: begin, then args, then end. */
void ht_nsys_begin(struct ht_nsys *n, char ph, enum ht_nsys_category category, uint32_t name);
void ht_nsys_put(struct ht_nsys *n, enum ht_nsys_cell cell, int64_t value);
void ht_nsys_put_f64(struct ht_nsys *n, enum ht_nsys_cell cell, double value);
/* The number in a cell of the row; nothing when it is null. */
void ht_nsys_put_cell(struct ht_nsys *n, enum ht_nsys_cell cell, sqlite3_stmt *query, int column);
enum ht_status ht_nsys_end(struct ht_nsys *n) HT_MUST_USE;

/* Make a text column of args that are not numbers. */
uint32_t ht_nsys_text_arg(struct ht_nsys *n, const char *key);

#endif
