/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_about.c - what an export says besides its events: who wrote it, when, on what, and which rank it is.
 *
 * The environment of the program is in it, secrets and all. It is read for the numbers of the ranks alone.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/utf8.h"
#include "read/nsys/nsys.h"
#include "store/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum ht_status put_header(struct ht_nsys *n, const char *key, const char *json)
{
	return json && ht_builder_header(n->db.builder, key, strlen(key), json, strlen(json))
	               ? HT_OK
	               : ht_fail_nomem(n->db.ctx);
}

/* A text as JSON, in the arena; what has to be escaped is left out, what is no UTF-8 repaired. NULL when out of memory. */
static char *quote(struct ht_nsys *n, const char *text)
{
	/* a byte that is no UTF-8 becomes three */
	char *json = ht_arena_alloc(&n->arena, 3 * strlen(text) + 3), *to = json;
	if (!json)
		return NULL;
	if (!ht_utf8_valid(text, strlen(text)))
		ht_chunk_stat(&n->db.builder->all, HT_STAT_invalid_utf8, -1, 1);
	*to++ = '"';
	const char *end = to + ht_utf8_repair(text, strlen(text), to);
	for (const char *at = to; at < end; at++)
		if (*at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
			*to++ = *at;
	*to++ = '"';
	*to = '\0';
	return json;
}

static enum ht_status put_fact(struct ht_nsys *n, const char *key, const char *text)
{
	char *json = quote(n, text);
	return json ? put_header(n, key, json) : ht_fail_nomem(n->db.ctx);
}

/* ---- name and value ---- */

static const char *cell_text(struct ht_nsys *n, sqlite3_stmt *query, int column)
{
	size_t length;
	const char *text = ht_database_text(&n->db.file, query, column, &length);
	return text ? ht_arena_strndup(&n->arena, text, length) : NULL;
}

/* The value of a name in a table of such pairs, in the arena; NULL: not there. The name may have something before it that
 * ends in a colon: older exporters say which process an option is of. */
static enum ht_status find_value(
        struct ht_nsys *n, const char *table, const char *name, const char **ret_value)
{
	static const char *const columns[] = { "name", "value", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	*ret_value = NULL;
	HT_TRY(ht_db_select(&n->db, table, columns, NULL, &query));
	while (!*ret_value && ht_db_next(&n->db, query, &status)) {
		size_t length, n_name = strlen(name);
		const char *at = ht_database_text(&n->db.file, query, 0, &length);
		if (at && length >= n_name && !strcmp(at + length - n_name, name) &&
		        (length == n_name || at[length - n_name - 1] == ':'))
			*ret_value = cell_text(n, query, 1);
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_producer(struct ht_nsys *n)
{
	const char *product, *version, *schema;
	HT_TRY(find_value(n, "META_DATA_EXPORT", "EXPORT_PRODUCT_NAME", &product));
	HT_TRY(find_value(n, "META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION", &version));
	HT_TRY(find_value(n, "META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION", &schema));
	char *both =
	        ht_arena_printf(&n->arena, "%s%s%s", product ? product : "NVIDIA Nsight Systems",
	                version ? " " : "", version ? version : "");
	if (!both)
		return ht_fail_nomem(n->db.ctx);
	HT_TRY(put_fact(n, "producer", both));
	if (schema && schema[0] != '3')
		ht_chunk_stat(&n->db.builder->all, HT_STAT_schema_unknown, -1, 1);
	return schema ? put_fact(n, "export schema", schema) : HT_OK;
}

static enum ht_status read_system(struct ht_nsys *n)
{
	static const char *const facts[][2] = { { "Hostname", "hostname" },
		{ "OsDescription", "operating system" }, { "CpuDescription", "CPU" },
		{ "CpuCores", "CPU cores" }, { "NvDriverVersion", "driver" },
		{ "CudaDriverVersion", "CUDA driver" } };
	const char *value;
	for (size_t i = 0; i < HT_COUNT(facts); i++) {
		HT_TRY(find_value(n, "TARGET_INFO_SYSTEM_ENV", facts[i][0], &value));
		if (value && *value)
			HT_TRY(put_fact(n, facts[i][1], value));
	}
	HT_TRY(find_value(n, "META_DATA_CAPTURE", "CUDA_GRAPH_TRACE_OPTIONS:MODE", &value));
	n->is_graph_mode = value && !strcmp(value, "Graph");
	return value ? put_fact(n, "CUDA graph trace", value) : HT_OK;
}

/* The first number of a column. */
static enum ht_status read_number(
        struct ht_nsys *n, const char *table, const char *column, int64_t *ret_value)
{
	const char *const columns[] = { column, NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, table, columns, NULL, &query));
	if (ht_db_next(&n->db, query, &status))
		*ret_value = ht_db_i64(query, 0, *ret_value);
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_clock(struct ht_nsys *n)
{
	int64_t base_ns = HT_NO_I64;
	HT_TRY(read_number(n, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &base_ns));
	HT_TRY(read_number(n, "ANALYSIS_DETAILS", "duration", &n->window_end_ns));
	if (base_ns == HT_NO_I64)
		return HT_OK;
	return put_header(
	        n, "baseTimeNanoseconds", ht_arena_printf(&n->arena, "%" PRId64, base_ns));
}

/* ---- devices ---- */

enum { G_ID, G_NAME, G_NUMBERS };
static const char *const gpu_columns[] = { "id", "name", "totalMemory", "smCount", "computeMajor",
	"computeMinor", "maxThreadsPerBlock", "maxRegistersPerBlock", "threadsPerWarp",
	"maxShmemPerBlock", "maxShmemPerBlockOptin", "maxShmemPerSm", "maxRegistersPerSm",
	"memoryBandwidth", "clockRate", "l2CacheSize", "maxWarpsPerSm", NULL };
/* as Kineto calls them */
static const char *const gpu_keys[] = { "totalGlobalMem", "numSms", "computeMajor", "computeMinor",
	"maxThreadsPerBlock", "regsPerBlock", "warpSize", "sharedMemPerBlock",
	"sharedMemPerBlockOptin", "sharedMemPerMultiprocessor", "regsPerMultiprocessor",
	"memoryBandwidth", "clockRate", "l2CacheSize", NULL };

/* Programs number the devices that they see: as length, the number of each for the process. */
static enum ht_status read_cuda_ids(struct ht_nsys *n, struct ht_db_words *ids)
{
	static const char *const columns[] = { "gpuId", "cudaId", "pid", NULL };
	int64_t pid = n->n_processes ? n->processes[n->own].key & 0xffffff : HT_NO_I64;
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "TARGET_INFO_CUDA_DEVICE", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t gpu = ht_db_i64(query, 0, -1), id = ht_db_i64(query, 1, gpu);
		if (ht_db_i64(query, 2, -1) != pid || gpu < 0 || id < 0)
			continue;
		struct ht_db_word *word = ht_db_words_add(&n->db, ids, gpu);
		if (!word) {
			status = ht_fail_nomem(n->db.ctx);
			break;
		}
		word->n = (size_t)id;
	}
	sqlite3_finalize(query);
	return status;
}

static enum ht_status describe_gpu(
        struct ht_nsys *n, sqlite3_stmt *query, const struct ht_db_words *ids, char **json)
{
	int64_t id = ht_db_i64(query, G_ID, 0), warps = ht_db_i64(query, 16, 0),
	        width = ht_db_i64(query, 8, 0);
	const struct ht_db_word *seen_as = ht_db_words_find(ids, id);
	const char *name = cell_text(n, query, G_NAME);
	id = seen_as ? (int64_t)seen_as->n : id;
	char *quoted = quote(n, name ? name : ""), *numbers = ht_arena_printf(&n->arena, "%s", "");
	for (int i = 0; numbers && gpu_keys[i]; i++)
		if (!ht_db_is_null(query, G_NUMBERS + i))
			numbers = ht_arena_printf(&n->arena, "%s, \"%s\": %" PRId64, numbers,
			        gpu_keys[i], (int64_t)sqlite3_column_int64(query, G_NUMBERS + i));
	if (numbers && warps > 0 && warps < 1024 && width > 0 && width < 1024)
		numbers = ht_arena_printf(&n->arena,
		        "%s, \"maxThreadsPerMultiprocessor\": %" PRId64, numbers, warps * width);
	char *item = quoted && numbers
	                     ? ht_arena_printf(&n->arena, "{\"id\": %" PRId64 ", \"name\": %s%s}",
	                               id, quoted, numbers)
	                     : NULL;
	*json = item ? ht_arena_printf(&n->arena, "%s%s%s", *json, **json ? ", " : "", item) : NULL;
	if (!*json)
		return ht_fail_nomem(n->db.ctx);
	if (id >= 0 && id < (int64_t)HT_COUNT(n->n_sms))
		n->n_sms[id] = ht_db_i64(query, 3, 0);
	/* sealing finds texts, and adds none */
	(void)ht_rows_text(&n->db.rows, item, strlen(item));
	if (name)
		(void)ht_rows_text(&n->db.rows, quoted + 1, strlen(quoted) - 2);
	return HT_OK;
}

/* No machine has more devices than there is room for what is known of them; rows beyond that are left out. */
static enum ht_status read_devices(struct ht_nsys *n)
{
	struct ht_db_words ids = { 0 };
	char *json = ht_arena_printf(&n->arena, "%s", "");
	enum ht_status status = json ? read_cuda_ids(n, &ids) : ht_fail_nomem(n->db.ctx);
	sqlite3_stmt *query = NULL;
	if (status == HT_OK)
		status = ht_db_select(&n->db, "TARGET_INFO_GPU", gpu_columns, NULL, &query);
	for (size_t i = 0; ht_db_next(&n->db, query, &status); i++)
		if (i < HT_COUNT(n->n_sms))
			status = describe_gpu(n, query, &ids, &json);
		else
			ht_chunk_stat(&n->db.builder->all, HT_STAT_row_lost, -1, 1);
	sqlite3_finalize(query);
	ht_db_words_done(&n->db, &ids);
	if (status != HT_OK || !*json)
		return status;
	return put_header(n, "deviceProperties", ht_arena_printf(&n->arena, "[%s]", json));
}

/* ---- rank ---- */

/* The value of a variable of the program's environment: NAME="12". */
static bool env_number(const char *text, const char *name, int64_t *ret_value)
{
	size_t n = strlen(name);
	if (strncmp(text, name, n) || text[n] != '=')
		return false;
	text += n + 1;
	text += *text == '"';
	size_t n_digits = strspn(text, "0123456789");
	if (!n_digits || n_digits > 9 || (text[n_digits] && text[n_digits] != '"'))
		return false;
	*ret_value = strtol(text, NULL, 10);
	return true;
}

/* The launcher's variables are those of the program when that is all there is. */
static enum ht_status read_environment(struct ht_nsys *n, int64_t *rank, int64_t *world)
{
	static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_PROCID" };
	static const char *const worlds[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		"SLURM_NTASKS" };
	static const char *const columns[] = { "name", "value", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	size_t best = HT_COUNT(ranks), best_world = HT_COUNT(worlds);
	HT_TRY(ht_db_select(&n->db, "META_DATA_CAPTURE", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		size_t length;
		const char *name = ht_database_text(&n->db.file, query, 0, &length);
		if (!name || !strstr(name, "ENVIRONMENT_VARIABLE"))
			continue;
		const char *text = ht_database_text(&n->db.file, query, 1, &length);
		for (size_t i = 0; text && i < best; i++)
			if (env_number(text, ranks[i], rank))
				best = i;
		for (size_t i = 0; text && i < best_world; i++)
			if (env_number(text, worlds[i], world))
				best_world = i;
	}
	sqlite3_finalize(query);
	return status;
}

/* The exporter lists everything that runs on the machine: names and ranks are of the processes that are ranks. */
static bool is_own(const struct ht_nsys *n, sqlite3_stmt *query, int column)
{
	return n->n_processes && !ht_db_is_null(query, column) &&
	       ht_nsys_process_of(sqlite3_column_int64(query, column)) == n->processes[n->own].key;
}

/* As MPI numbers the process; all its threads have one number. */
static enum ht_status read_mpi_rank(struct ht_nsys *n, int64_t *rank)
{
	static const char *const columns[] = { "globalTid", "rank", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "MPI_RANKS", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status))
		if (is_own(n, query, 0) && ht_db_i64(query, 1, -1) >= 0)
			*rank = ht_db_i64(query, 1, 0);
	sqlite3_finalize(query);
	return status;
}

static enum ht_status read_rank(struct ht_nsys *n)
{
	int64_t rank = HT_NO_I64, world = HT_NO_I64;
	if (n->n_processes == 1)
		HT_TRY(read_environment(n, &rank, &world));
	HT_TRY(read_mpi_rank(n, &rank));
	if (n->n_processes > 1 && rank == HT_NO_I64)
		rank = ht_nsys_rank_by_device(n);
	n->rank = rank;
	n->world_size = world > rank ? world : HT_NO_I64;
	return HT_OK;
}

enum ht_status ht_nsys_put_rank(struct ht_nsys *n)
{
	if (n->rank == HT_NO_I64)
		return HT_OK;
	char *world =
	        n->world_size == HT_NO_I64
	                ? ht_arena_printf(&n->arena, "%s", "")
	                : ht_arena_printf(&n->arena, ", \"world_size\": %" PRId64, n->world_size);
	return put_header(n, "distributedInfo",
	        world ? ht_arena_printf(&n->arena, "{\"rank\": %" PRId64 "%s}", n->rank, world)
	              : NULL);
}

/* ---- what the profiler itself reports ---- */

static enum ht_status read_diagnostics(struct ht_nsys *n)
{
	static const char *const columns[] = { "severity", "text", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "DIAGNOSTIC_EVENT", columns, NULL, &query));
	while (ht_db_next(&n->db, query, &status)) {
		int64_t severity = ht_db_i64(query, 0, 0);
		size_t length;
		const char *text = ht_database_text(&n->db.file, query, 1, &length);
		if (severity < 2 || severity > 3 || !text)
			continue;
		status = ht_db_warn(&n->db, text, length);
	}
	sqlite3_finalize(query);
	return status;
}

enum ht_status ht_nsys_read_about(struct ht_nsys *n)
{
	HT_TRY(read_producer(n));
	HT_TRY(read_clock(n));
	HT_TRY(read_system(n));
	HT_TRY(read_devices(n));
	HT_TRY(read_rank(n));
	return read_diagnostics(n);
}

/* ---- names of processes and threads ---- */

static enum ht_status name_one(
        struct ht_nsys *n, const char *what, int64_t global_id, uint32_t name)
{
	if (name == HT_NO_STR)
		return HT_OK;
	ht_row_begin(&n->db.rows, 'M', HT_NO_STR, ht_rows_text(&n->db.rows, what, strlen(what)));
	ht_row_process(&n->db.rows, ht_nsys_pid(global_id), ht_nsys_tid(global_id));
	ht_row_put(&n->db.rows, n->arg_name, name);
	return ht_row_end(&n->db.rows, -1);
}

enum ht_status ht_nsys_read_names(struct ht_nsys *n)
{
	static const char *const processes[] = { "globalPid", "name", NULL };
	static const char *const threads[] = { "globalTid", "nameId", NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(&n->db, "PROCESSES", processes, NULL, &query));
	while (ht_db_next(&n->db, query, &status))
		if (is_own(n, query, 0))
			status = name_one(n, "process_name", sqlite3_column_int64(query, 0),
			        ht_db_text(&n->db, query, 1));
	sqlite3_finalize(query);
	HT_TRY(status);
	HT_TRY(ht_db_select(&n->db, "ThreadNames", threads, NULL, &query));
	while (ht_db_next(&n->db, query, &status))
		if (is_own(n, query, 0))
			status = name_one(n, "thread_name", sqlite3_column_int64(query, 0),
			        ht_db_string_id(&n->db, query, 1));
	sqlite3_finalize(query);
	return status;
}

#endif
