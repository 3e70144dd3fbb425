/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_calls.c - calls of an export: of CUDA's runtime and driver, of libraries, of the operating system; what profiling
 * itself cost.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/nsys/nsys.h"

enum { R_START, R_END, R_CLASS, R_TID, R_CORRELATION, R_NAME, R_RETURNED };
static const char *const call_columns[] = { "start", "end", "eventClass", "globalTid",
	"correlationId", "nameId", "returnValue", NULL };

/* Begun with times and thread; false when the row is no event. */
static bool begin_call(struct ht_nsys *n, sqlite3_stmt *query, enum ht_nsys_category category,
        uint32_t name, int64_t global_tid)
{
	int64_t start_ns, dur_ns;
	bool is_open;
	if (!ht_nsys_times(n, query, &start_ns, &dur_ns, &is_open))
		return false;
	ht_nsys_begin(n, 'X', category, name);
	ht_row_process(&n->db.rows, ht_nsys_pid(global_tid), ht_nsys_tid(global_tid));
	ht_row_time(&n->db.rows, start_ns);
	ht_row_duration(&n->db.rows, dur_ns);
	return true;
}

/* ---- CUDA ---- */

/* What a name of the dictionary is as a call; found once. */
struct call_name {
	uint32_t str;
	enum ht_nsys_category category;
	bool is_kept; /* waits for an event or stream, or records one */
};

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
static size_t without_version(const char *text, size_t n)
{
	size_t end = n;
	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end < n && end >= 2 && text[end - 1] == 'v' && text[end - 2] == '_' ? end - 2 : n;
}

static bool is_driver_name(const char *text)
{
	return text[0] == 'c' && text[1] == 'u' && text[2] >= 'A' && text[2] <= 'Z';
}

static struct call_name describe_call(struct ht_nsys *n, sqlite3_stmt *query)
{
	const struct ht_db_word *word =
	        ht_db_words_find(&n->db.strings, ht_db_i64(query, R_NAME, -1));
	bool is_driver = ht_db_i64(query, R_CLASS, 0) == 1;
	if (!word)
		return (struct call_name){ ht_nsys_name(n, query, R_NAME),
			is_driver ? HT_NSYS_CAT_DRIVER : HT_NSYS_CAT_RUNTIME, false };
	/* the class of older exports is another number */
	if (!strncmp(word->text, "cuda", 4) || is_driver_name(word->text))
		is_driver = is_driver_name(word->text);
	return (struct call_name){ ht_rows_text(&n->db.rows, word->text,
		                           without_version(word->text, word->n)),
		is_driver ? HT_NSYS_CAT_DRIVER : HT_NSYS_CAT_RUNTIME,
		strstr(word->text, "Event") || strstr(word->text, "Synchronize") };
}

/* Names by their numbers: of the runtime, of the driver. */
struct call_names {
	struct ht_db_words of[2];
};

static enum ht_status know_call(
        struct ht_nsys *n, struct call_names *all, sqlite3_stmt *query, struct call_name *ret_name)
{
	struct ht_db_words *names = &all->of[ht_db_i64(query, R_CLASS, 0) == 1];
	int64_t key = ht_db_i64(query, R_NAME, -1);
	struct ht_db_word *known = ht_db_words_find(names, key);
	if (!known) {
		struct call_name name = describe_call(n, query);
		known = ht_db_words_add(&n->db, names, key);
		if (!known)
			return ht_fail_nomem(n->db.ctx);
		known->str = name.str;
		known->n = (size_t)name.category * 2 + name.is_kept;
	}
	*ret_name = (struct call_name){ known->str, (enum ht_nsys_category)(known->n / 2),
		known->n % 2 != 0 };
	return HT_OK;
}

static enum ht_status keep_call(struct ht_nsys *n, sqlite3_stmt *query, uint32_t name)
{
	size_t length;
	struct ht_db_word *call =
	        ht_db_words_add(&n->db, &n->calls, ht_db_i64(query, R_CORRELATION, -1));
	if (!call)
		return ht_fail_nomem(n->db.ctx);
	call->text = ht_rows_text_at(&n->db.rows, name, &length);
	call->n = (size_t)ht_db_i64(query, R_START, 0);
	return HT_OK;
}

static enum ht_status put_cuda_call(
        struct ht_nsys *n, struct call_names *names, sqlite3_stmt *query)
{
	int64_t tid = ht_db_i64(query, R_TID, 0);
	struct call_name name = { 0 };
	HT_TRY(know_call(n, names, query, &name));
	if (!begin_call(n, query, name.category, name.str, tid))
		return HT_OK;
	/* numbers of a process: another one has the same for other calls */
	if (n->n_processes && ht_nsys_process_of(tid) == n->processes[n->own].key) {
		ht_nsys_put_cell(n, HT_NSYS_CORRELATION, query, R_CORRELATION);
		if (name.is_kept)
			HT_TRY(keep_call(n, query, name.str));
	}
	if (ht_db_i64(query, R_RETURNED, 0))
		ht_nsys_put_cell(n, HT_NSYS_RETURNED, query, R_RETURNED);
	return ht_nsys_end(n);
}

static enum ht_status read_cuda_calls(struct ht_nsys *n)
{
	struct call_names names = { 0 };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, "globalTid", &query));
	while (ht_db_next(&n->db, query, &status))
		status = put_cuda_call(n, &names, query);
	sqlite3_finalize(query);
	for (size_t i = 0; i < HT_COUNT(names.of); i++)
		ht_db_words_done(&n->db, &names.of[i]);
	return status;
}

/* ---- others ---- */

enum {
	O_START,
	O_END,
	O_TID,
	O_NAME,
	O_TEXT, /* as tables of MPI and UCX call it */
	O_RETURNED,
	O_NESTING,
	O_SIZE,
	O_RECEIVED,
	O_PEER,
	O_ROOT,
	O_TAG,
	O_COMMUNICATOR
};
static const char *const other_columns[] = { "start", "end", "globalTid", "nameId", "textId",
	"returnValue", "nestingLevel", "size", "recvSize", "remoteRank", "rootRank", "tag",
	"commHandle", NULL };

static enum ht_status read_others(
        struct ht_nsys *n, const char *table, enum ht_nsys_category category)
{
	static const struct {
		int column;
		enum ht_nsys_cell cell;
	} cells[] = { { O_SIZE, HT_NSYS_BYTES }, { O_RECEIVED, HT_NSYS_RECEIVED },
		{ O_PEER, HT_NSYS_PEER }, { O_ROOT, HT_NSYS_ROOT }, { O_TAG, HT_NSYS_TAG },
		{ O_COMMUNICATOR, HT_NSYS_COMMUNICATOR } };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_nsys_select(n, table, other_columns, "globalTid", &query));
	while (ht_db_next(&n->db, query, &status)) {
		int name = ht_db_is_null(query, O_NAME) ? O_TEXT : O_NAME;
		if (!begin_call(n, query, category, ht_nsys_name(n, query, name),
		            ht_db_i64(query, O_TID, 0)))
			continue;
		if (ht_db_i64(query, O_RETURNED, 0))
			ht_nsys_put_cell(n, HT_NSYS_RETURNED, query, O_RETURNED);
		if (ht_db_i64(query, O_NESTING, 0))
			ht_nsys_put_cell(n, HT_NSYS_NESTING, query, O_NESTING);
		for (size_t i = 0; i < HT_COUNT(cells); i++)
			ht_nsys_put_cell(n, cells[i].cell, query, cells[i].column);
		status = ht_nsys_end(n);
	}
	sqlite3_finalize(query);
	return status;
}

enum ht_status ht_nsys_read_calls(struct ht_nsys *n)
{
	static const char *const libraries[] = { "CUDNN_EVENTS", "CUBLAS_EVENTS", "NCCL_EVENTS",
		"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS",
		"MPI_OTHER_EVENTS", "UCX_EVENTS", "UCP_EVENTS", "UCP_SUBMIT_EVENTS",
		"UCP_PROGRESS_EVENTS", "OPENSHMEM_EVENTS", "NVSHMEM_EVENTS" };
	HT_TRY(read_cuda_calls(n));
	for (size_t i = 0; i < HT_COUNT(libraries); i++)
		HT_TRY(read_others(n, libraries[i], HT_NSYS_CAT_LIBRARY));
	HT_TRY(read_others(n, "OSRT_API", HT_NSYS_CAT_OS));
	HT_TRY(read_others(n, "PROFILER_OVERHEAD", HT_NSYS_CAT_OVERHEAD));
	return read_others(n, "CUPTI_ACTIVITY_KIND_OVERHEAD", HT_NSYS_CAT_OVERHEAD);
}

#endif
