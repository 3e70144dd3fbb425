/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_calls.c - see comm_calls.h.
 */
#include "model/communication/comm_calls.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "model/communication/comm_ops.h"
#include "model/communication/group_size.h"
#include "model/device/launch.h"
#include "model/rows/dtype.h"
#include "model/rows/work_names.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ht_column ht_call_columns[HT_N_CALL_COLUMNS] = HT_COLUMN_ENTRIES(HT_CALL_COLUMNS);

/* ---- kinds ---- */

/* Names without case and underscores that contain the word are of the kind; the first that fits. */
static const struct {
	const char *word;
	enum ht_comm_kind kind;
} words[] = {
	{ "allreduce", HT_COMM_ALLREDUCE },
	{ "reducescatter", HT_COMM_REDUCE_SCATTER },
	{ "allgather", HT_COMM_ALLGATHER },
	{ "alltoall", HT_COMM_ALLTOALL },
	{ "barrier", HT_COMM_BARRIER },
	{ "broadcast", HT_COMM_BROADCAST },
	{ "send", HT_COMM_SEND_RECV },
	{ "recv", HT_COMM_SEND_RECV },
	{ "gather", HT_COMM_GATHER },
	{ "scatter", HT_COMM_SCATTER },
	{ "reduce", HT_COMM_REDUCE },
};

static enum ht_comm_kind kind_of(const char *name)
{
	char plain[256];
	size_t n = 0;
	for (; *name && n + 1 < sizeof plain; name++)
		if (*name != '_')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
	for (size_t i = 0; i < HT_COUNT(words); i++)
		if (strstr(plain, words[i].word))
			return words[i].kind;
	return HT_COMM_OTHER;
}

const char *ht_comm_kind_name(enum ht_comm_kind kind)
{
	static const char *const names[HT_N_COMM_KINDS] = { "other", "allreduce", "allgather",
		"reduce_scatter", "alltoall", "barrier", "broadcast", "reduce", "gather", "scatter",
		"send/recv" };
	return names[kind];
}

bool ht_comm_kind_synchronises(enum ht_comm_kind kind)
{
	return kind >= HT_COMM_ALLREDUCE && kind <= HT_COMM_BARRIER;
}

double ht_comm_bus_factor(enum ht_comm_kind kind, int64_t n_ranks)
{
	if (n_ranks < 1)
		return NAN;
	double others = (double)(n_ranks - 1) / (double)n_ranks;
	switch (kind) {
	case HT_COMM_ALLREDUCE: return 2 * others;
	case HT_COMM_ALLGATHER:
	case HT_COMM_REDUCE_SCATTER:
	case HT_COMM_ALLTOALL:
	case HT_COMM_GATHER:
	case HT_COMM_SCATTER: return others;
	case HT_COMM_BROADCAST:
	case HT_COMM_REDUCE:
	case HT_COMM_SEND_RECV: return 1;
	default: return NAN;
	}
}

/* ---- one call ---- */

struct call {
	const char *group, *name, *dtype; /* dtype NULL: unknown */
	enum ht_comm_kind kind;
	int64_t size, seq, elements; /* HT_NO_I64 when unknown */
	int64_t bytes;               /* where they are told, and no elements; 0: not */
	int tie;
};

/* What rows say of collectives, and the run that asks. */
struct args {
	struct ht_run *run;
	struct ht_arg_cursor collective, group, ranks, size, seq, from, to, in, out, dtype,
	        in_split, out_split;
};

static struct args find_args(struct ht_run *run)
{
	const struct ht_trace *t = run->trace;
	return (struct args){ .run = run,
		.collective = ht_arg_cursor(t, "Collective name"),
		.group = ht_arg_cursor(t, "Process Group Name"),
		.ranks = ht_arg_cursor(t, "Process Group Ranks"),
		.size = ht_arg_cursor(t, "Group size"),
		.seq = ht_arg_cursor(t, "Seq"),
		.from = ht_arg_cursor(t, "Src Rank"),
		.to = ht_arg_cursor(t, "Dst Rank"),
		.in = ht_arg_cursor(t, "In msg nelems"),
		.out = ht_arg_cursor(t, "Out msg nelems"),
		.dtype = ht_arg_cursor(t, "dtype"),
		.in_split = ht_arg_cursor(t, "In split size"),
		.out_split = ht_arg_cursor(t, "Out split size") };
}

/* The row with the collective's arguments: the kernel, or record_param_comms around its launch. */
static uint32_t args_row(struct args *args, const struct ht_gpu *gpu)
{
	const struct ht_trace *trace = args->run->trace;
	if (ht_arg_cursor_str(&args->collective, gpu->row))
		return gpu->row;
	uint32_t up = gpu->launch;
	for (int level = 0; up != HT_NONE && level < 64; level++, up = trace->parent[up])
		if (ht_arg_cursor_str(&args->collective, up))
			return up;
	return gpu->row;
}

/* The other member of a group of two; HT_NO_I64: there are more, or the rank is none of them. */
static int64_t other_of_two(const char *ranks, int64_t rank)
{
	int64_t of[2] = { HT_NO_I64, HT_NO_I64 };
	size_t n = 0;
	for (const char *at = ranks ? ranks : ""; *at && n <= 2; n++) {
		char *end = NULL;
		at += strcspn(at, "0123456789");
		long long number = strtoll(at, &end, 10);
		if (end == at)
			break;
		if (n < 2)
			of[n] = number;
		at = end;
	}
	return n != 2 ? HT_NO_I64 : of[0] == rank ? of[1] : of[1] == rank ? of[0] : HT_NO_I64;
}

/* The ranks of a send or receive, as far as they are told: by its arguments, or its group has two members and its name says
 * which way. HT_NO_I64: not. */
static void find_ends(
        struct args *args, uint32_t row, const char *name, int64_t *ret_from, int64_t *ret_to)
{
	int64_t rank = args->run->rank;
	int64_t from = ht_arg_cursor_i64(&args->from, row, HT_NO_I64);
	int64_t to = ht_arg_cursor_i64(&args->to, row, HT_NO_I64);
	bool sends = strstr(name, "send") != NULL, receives = strstr(name, "recv") != NULL;
	if (from == HT_NO_I64 && to == HT_NO_I64 && sends != receives) {
		int64_t other = other_of_two(ht_arg_cursor_str(&args->ranks, row), rank);
		to = sends ? other : HT_NO_I64;
		from = receives ? other : HT_NO_I64;
	}
	*ret_from = from;
	*ret_to = to;
}

/* The pair for a send or receive whose other end is known, else the group with its members. */
static const char *group_text(struct args *args, uint32_t row, bool pair, int64_t from, int64_t to)
{
	const struct ht_run *run = args->run;
	if (pair && (from != HT_NO_I64 || to != HT_NO_I64))
		return ht_arena_printf(run->scratch, "%lld->%lld",
		        (long long)(from != HT_NO_I64 ? from : run->rank),
		        (long long)(to != HT_NO_I64 ? to : run->rank));
	const char *name = pair ? NULL : ht_arg_cursor_str(&args->group, row);
	const char *ranks = pair ? NULL : ht_arg_cursor_str(&args->ranks, row);
	if (name && ranks)
		return ht_arena_printf(run->scratch, "%s %s", name, ranks);
	return name ? name : ranks ? ranks : "";
}

/* Of the group when the file says so, else the members that it lists; HT_NO_I64 when it lists not all. */
static int64_t group_size(struct args *args, uint32_t row)
{
	const char *ranks = ht_arg_cursor_str(&args->ranks, row);
	int64_t size = ht_arg_cursor_i64(&args->size, row, HT_NO_I64), n = 0;
	if (size != HT_NO_I64 || !ranks || strstr(ranks, "..."))
		return size;
	for (const char *at = ranks; *at; at++)
		n += isdigit((unsigned char)*at) && !isdigit((unsigned char)at[1]);
	return n ? n : HT_NO_I64;
}

/* Of splits over the ranks: whether somebody gets nothing, as far as the text shows them. */
static bool has_empty_split(const char *splits)
{
	if (!splits)
		return false;
	if (strstr(splits, "..."))
		return true;
	for (const char *at = splits; *at; at++) {
		bool starts = isdigit((unsigned char)*at) &&
		              (at == splits || !isdigit((unsigned char)at[-1]));
		if (starts && *at == '0' && !isdigit((unsigned char)at[1]))
			return true;
	}
	return false;
}

static int tie_of(struct args *args, uint32_t row, const struct call *call, bool sends)
{
	/* a receive ends after the send began; a send may leave its data and go */
	if (call->kind == HT_COMM_SEND_RECV)
		return !*call->group ? 0 : sends ? HT_TIE_ARRIVES : HT_TIE_LEAVES;
	if (!ht_comm_kind_synchronises(call->kind))
		return 0;
	if (call->kind == HT_COMM_ALLTOALL &&
	        (has_empty_split(ht_arg_cursor_str(&args->in_split, row)) ||
	                has_empty_split(ht_arg_cursor_str(&args->out_split, row))))
		return 0;
	return HT_TIE_ARRIVES | HT_TIE_LEAVES;
}

/* From the row whose args say it, and the row that has its name. */
static enum ht_status describe(struct args *args, const struct ht_group_sizes *sizes, uint32_t row,
        uint32_t name_row, struct call *ret_call)
{
	struct ht_run *run = args->run;
	const struct ht_trace *trace = run->trace;
	const char *name = ht_arg_cursor_str(&args->collective, row);
	struct call call = { .dtype = ht_arg_cursor_str(&args->dtype, row) };
	if (!name || !*name)
		name = ht_name_shorten(run, ht_str(trace, trace->name[name_row]));
	if (!name)
		return ht_fail_nomem(run->ctx);
	call.kind = kind_of(name);
	bool pair = call.kind == HT_COMM_SEND_RECV;
	int64_t from = HT_NO_I64, to = HT_NO_I64;
	if (pair)
		find_ends(args, row, name, &from, &to);
	/* both ends of a pair must have one name */
	call.name = pair ? ht_comm_kind_name(HT_COMM_SEND_RECV) : name;
	call.group = group_text(args, row, pair, from, to);
	if (!call.group)
		return ht_fail_nomem(run->ctx);
	call.size = pair ? 2 : group_size(args, row);
	if (call.size == HT_NO_I64 && !*call.group)
		call.size = ht_group_size_of(sizes, name);
	/* sends and receives are numbered by each rank alone */
	call.seq = pair ? HT_NO_I64 : ht_arg_cursor_i64(&args->seq, row, HT_NO_I64);
	int64_t in = ht_arg_cursor_i64(&args->in, row, HT_NO_I64);
	int64_t out = ht_arg_cursor_i64(&args->out, row, HT_NO_I64);
	call.elements = in > out ? in : out;
	call.tie = tie_of(args, row, &call, to != HT_NO_I64);
	*ret_call = call;
	return HT_OK;
}

/* ---- the rank ---- */

static bool is_call(const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	return gpu->class_ == HT_CLASS_COMM && ht_is_span(trace, gpu->row);
}

static bool has_launched(const struct ht_trace *trace)
{
	for (size_t i = 0; i < trace->n_gpu; i++)
		if (is_call(trace, &trace->gpu[i]) && trace->gpu[i].launch != HT_NONE)
			return true;
	return false;
}

/* ---- calls of the host ---- */

/* Of a backend whose call on the host is the communication itself. */
static bool names_host_call(const char *name)
{
	static const char *const backends[] = { "gloo:", "mpi:", "ucc:" };
	for (size_t i = 0; i < HT_COUNT(backends); i++)
		if (!strncmp(name, backends[i], strlen(backends[i])))
			return true;
	return false;
}

static bool has_host_names(const struct ht_trace *trace)
{
	for (uint32_t id = 0; id + 1 < trace->n_string_offsets; id++)
		if (names_host_call(ht_str(trace, id)))
			return true;
	return false;
}

static bool has_kernels(const struct ht_trace *trace)
{
	for (size_t i = 0; i < trace->n_gpu; i++)
		if (is_call(trace, &trace->gpu[i]))
			return true;
	return false;
}

enum ht_status ht_comm_host_calls(struct ht_run *run, const uint32_t **ret_rows, size_t *ret_n)
{
	const struct ht_trace *trace = run->trace;
	bool any = !has_kernels(trace) && has_host_names(trace);
	uint32_t *rows =
	        ht_arena_alloc(run->scratch, ((any ? trace->n_kind : 0) + 1) * sizeof *rows);
	size_t n = 0;
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; any && row < trace->n_kind; row++)
		if ((trace->kind[row] == HT_KIND_ANNOTATION ||
		            trace->kind[row] == HT_KIND_CPU_OP) &&
		        ht_is_span(trace, row) && trace->name[row] != HT_NO_STR &&
		        names_host_call(ht_str(trace, trace->name[row])))
			rows[n++] = row;
	*ret_rows = rows;
	*ret_n = n;
	return HT_OK;
}

static bool is_wait(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_call(t->kind[row]) && ht_is_span(t, row) && t->name[row] != HT_NO_STR &&
	       ht_is_wait_name(ht_str(t, t->name[row]));
}

/* The call that a row is right inside of, as an index; n: none. */
static size_t call_around(const struct ht_trace *t, const uint32_t *rows, size_t n, uint32_t row)
{
	uint32_t around = t->parent[row];
	size_t i = around == HT_NONE ? n : HT_LOWER_BOUND(at, n, rows[at] < around);
	return i < n && rows[i] == around ? i : n;
}

/* Between the beginning of a call and its first wait, and between one wait and the next, at most: longer, and it has begun. */
#define READY_GAP_NS 100000

/* Where the first row inside each call begins that is no wait for a device. */
static void find_begun(const struct ht_trace *t, const uint32_t *rows, size_t n, int64_t *begun_ns)
{
	for (size_t i = 0; i < n; i++)
		begun_ns[i] = ht_end_ns(t, rows[i]);
	for (uint32_t row = 0; n && row < t->n_kind; row++) {
		size_t i = call_around(t, rows, n, row);
		if (i < n && !is_wait(t, row) && t->ts_ns[row] < begun_ns[i])
			begun_ns[i] = t->ts_ns[row];
	}
}

/* The rows that wait right inside a call, by time. */
static enum ht_status list_waits(
        struct ht_run *run, const uint32_t *rows, size_t n, uint32_t **ret_waits, size_t *ret_n)
{
	const struct ht_trace *t = run->trace;
	struct ht_vec keys = { 0 }, waits = { 0 };
	bool ok = true;
	for (uint32_t row = 0; n && ok && row < t->n_kind; row++) {
		if (!is_wait(t, row) || call_around(t, rows, n, row) == n)
			continue;
		ok = HT_VEC_PUSH(run->ctx->mem, &keys, uint64_t, ht_sort_key_i64(t->ts_ns[row])) &&
		     HT_VEC_PUSH(run->ctx->mem, &waits, uint32_t, row);
	}
	ok = ok && ht_sort_keys(run->ctx->mem, keys.data, waits.data, waits.n);
	uint32_t *list = ok ? ht_arena_alloc(run->scratch, (waits.n + 1) * sizeof *list) : NULL;
	if (list && waits.n)
		memcpy(list, waits.data, waits.n * sizeof *list);
	*ret_waits = list;
	*ret_n = waits.n;
	ht_vec_free(run->ctx->mem, &keys, sizeof(uint64_t));
	ht_vec_free(run->ctx->mem, &waits, sizeof(uint32_t));
	return list ? HT_OK : ht_fail_nomem(run->ctx);
}

/* When each of the calls has its data: of tensors on a device Gloo waits for copies of them first, and only then communicates. What a
 * call waits for as it begins is its own rank's time; waits at its end are for what it has received. */
static enum ht_status find_ready(
        struct ht_run *run, const uint32_t *rows, size_t n, int64_t **ret_ready_ns)
{
	const struct ht_trace *t = run->trace;
	int64_t *ready_ns = ht_arena_alloc(run->scratch, (n + 1) * sizeof *ready_ns);
	int64_t *begun_ns = ht_arena_alloc(run->scratch, (n + 1) * sizeof *begun_ns);
	uint32_t *waits = NULL;
	size_t n_waits = 0;
	if (!ready_ns || !begun_ns)
		return ht_fail_nomem(run->ctx);
	HT_TRY(list_waits(run, rows, n, &waits, &n_waits));
	find_begun(t, rows, n, begun_ns);
	for (size_t i = 0; i < n; i++)
		ready_ns[i] = t->ts_ns[rows[i]];
	for (size_t k = 0; k < n_waits; k++) {
		size_t i = call_around(t, rows, n, waits[k]);
		int64_t start_ns = t->ts_ns[waits[k]], end_ns = ht_end_ns(t, waits[k]);
		if (start_ns < begun_ns[i] && end_ns > ready_ns[i] &&
		        ht_sub_sat(start_ns, ready_ns[i]) <= READY_GAP_NS)
			ready_ns[i] = end_ns < begun_ns[i] ? end_ns : begun_ns[i];
	}
	*ret_ready_ns = ready_ns;
	return HT_OK;
}

/* ---- rows ---- */

static int64_t step_of(const struct ht_trace *trace, uint32_t row)
{
	bool inside = row != HT_NONE && ht_step_of(trace, row) != HT_NONE;
	return inside ? trace->steps[ht_step_of(trace, row)].number : HT_NO_I64;
}

/* Of a call of the host whose output is as large as its input: what the inputs are. */
static int64_t told_bytes(const struct ht_trace *trace, uint32_t row, enum ht_comm_kind kind)
{
	if (kind != HT_COMM_ALLREDUCE && kind != HT_COMM_BROADCAST && kind != HT_COMM_REDUCE)
		return 0;
	return ht_comm_input_bytes(trace, row);
}

/* launch HT_NONE: not recorded, or the call is the host's own. */
static void put_call(ht_table *table, const struct ht_trace *trace, const struct call *call,
        uint32_t row, int64_t start_ns, uint32_t launch, int64_t step, bool launched_only)
{
	int64_t launch_ns = launch == HT_NONE ? HT_NO_I64 : trace->ts_ns[launch];
	int64_t bytes = ht_dtype_bytes(call->dtype);
	bool sized = bytes > 0 && call->elements >= 0 && call->elements < INT64_MAX / bytes;
	int64_t told = call->bytes > 0 ? call->bytes : HT_NO_I64;
	ht_table_row(table);
	ht_table_put_str(table, HT_CALL_GROUP, call->group);
	ht_table_put_str(table, HT_CALL_NAME, call->name);
	ht_table_put_i64(table, HT_CALL_KIND, call->kind);
	ht_table_put_i64(table, HT_CALL_TIE, call->tie);
	ht_table_put_known(table, HT_CALL_SIZE, call->size, HT_NO_I64);
	ht_table_put_known(table, HT_CALL_SEQ, call->seq, HT_NO_I64);
	ht_table_put_known(table, HT_CALL_STEP, step, HT_NO_I64);
	ht_table_put_str(table, HT_CALL_DTYPE, call->dtype);
	ht_table_put_known(table, HT_CALL_ELEMENTS, call->elements, HT_NO_I64);
	ht_table_put_known(table, HT_CALL_BYTES, sized ? bytes * call->elements : told, HT_NO_I64);
	ht_table_put_i64(table, HT_CALL_START, start_ns);
	ht_table_put_i64(table, HT_CALL_DUR, ht_sub_sat(ht_end_ns(trace, row), start_ns));
	ht_table_put_known(table, HT_CALL_LAUNCH, launch_ns, HT_NO_I64);
	if (launched_only)
		ht_table_put_known(table, HT_CALL_ORDER, launch_ns, HT_NO_I64);
	else
		ht_table_put_i64(table, HT_CALL_ORDER, trace->ts_ns[row]);
	ht_table_put_i64(table, HT_CALL_ROW, row);
}

enum ht_status ht_comm_calls_put(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *trace = run->trace;
	bool launched_only = has_launched(trace);
	struct args args = find_args(run);
	struct ht_group_sizes sizes;
	HT_TRY(ht_group_sizes_make(run, &sizes));
	const uint32_t *rows = NULL;
	size_t n = 0;
	for (size_t i = 0; i < trace->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[i];
		struct call call = { 0 };
		if (!is_call(trace, gpu))
			continue;
		HT_TRY(describe(&args, &sizes, args_row(&args, gpu), gpu->row, &call));
		put_call(table, trace, &call, gpu->row, trace->ts_ns[gpu->row], gpu->launch,
		        step_of(trace, gpu->row), launched_only);
	}
	int64_t *ready_ns = NULL;
	HT_TRY(ht_comm_host_calls(run, &rows, &n));
	HT_TRY(find_ready(run, rows, n, &ready_ns));
	for (size_t i = 0; i < n; i++) {
		struct call call = { 0 };
		HT_TRY(describe(&args, &sizes, rows[i], rows[i], &call));
		call.bytes = told_bytes(trace, rows[i], call.kind);
		put_call(table, trace, &call, rows[i], ready_ns[i], HT_NONE,
		        step_of(trace, rows[i]), false);
	}
	return HT_OK;
}
