/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_ops.c - see comm_ops.h.
 */
#include "model/communication/comm_ops.h"

#include "base/search.h"
#include "model/calls/op_tree.h"
#include "model/rows/dtype.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_comm_op_columns[HT_N_COMM_OP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_COMM_OP_COLUMNS);

struct op {
	int64_t start, end; /* of the host's call, or of the kernel */
	uint32_t row;
	uint32_t first, n; /* slice of the kernels */
};

struct kernel {
	size_t op;
	uint32_t row;
};

struct ops {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_op_tree tree;
	uint32_t *op_of; /* by node: operator of communication that it is or is inside of */
	struct op *list;
	size_t n;
	struct kernel *kernels;
	size_t n_kernels;
};

/* ---- sizes ---- */

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n')
		at++;
	return at;
}

/* Elements of the next list of numbers, [3, 4]; a scalar has none. Gives what follows it, NULL at the end. */
static const char *next_elements(const char *at, int64_t *ret_elements)
{
	int64_t elements = 1;
	bool any = false;
	at = skip_blanks(at);
	if (*at != '[')
		return NULL;
	for (at = skip_blanks(at + 1); *at && *at != ']'; at = skip_blanks(at)) {
		char *end = NULL;
		long long value = strtoll(at, &end, 10);
		if (end == at || value < 0 || __builtin_mul_overflow(elements, value, &elements))
			return NULL;
		any = true;
		at = skip_blanks(end);
		at += *at == ',';
	}
	*ret_elements = any ? elements : 0;
	return *at ? at + 1 : NULL;
}

/* Bytes per element of a type as the profiler writes inputs ("float", "c10::Half"). */
static int64_t input_type_bytes(const char *type, size_t n)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} types[] = { { "float", 4 }, { "double", 8 }, { "c10::Half", 2 }, { "c10::BFloat16", 2 },
		{ "int", 4 }, { "long int", 8 }, { "long", 8 }, { "short", 2 }, { "short int", 2 },
		{ "unsigned char", 1 }, { "signed char", 1 }, { "char", 1 }, { "bool", 1 },
		{ "c10::complex<float>", 8 }, { "c10::complex<double>", 16 } };
	for (size_t i = 0; i < HT_COUNT(types); i++)
		if (strlen(types[i].name) == n && !strncmp(type, types[i].name, n))
			return types[i].bytes;
	return n > 11 && !strncmp(type, "c10::Float8", 11) ? 1 : 0;
}

int64_t ht_comm_input_bytes(const struct ht_trace *t, uint32_t row)
{
	const char *dims = ht_arg_str(t, "Input Dims", row);
	const char *types = ht_arg_str(t, "Input type", row);
	int64_t sum = 0, elements = 0;
	dims = dims ? dims : ht_arg_str(t, "Input dims", row);
	if (!dims || !types)
		return HT_NO_I64;
	dims = skip_blanks(dims);
	dims += *dims == '[';
	for (const char *type = types; (dims = next_elements(dims, &elements));) {
		const char *open = strchr(type, '"'), *close = open ? strchr(open + 1, '"') : NULL;
		int64_t bytes = 0;
		if (!close)
			break;
		if (!__builtin_mul_overflow(elements,
		            input_type_bytes(open + 1, (size_t)(close - open - 1)), &bytes))
			ht_sum(&sum, bytes);
		type = close + 1;
		dims = skip_blanks(dims);
		dims += *dims == ',';
	}
	/* lists of tensors have no type of their own */
	return sum ? sum : HT_NO_I64;
}

/* What a kernel says it takes in. */
static int64_t kernel_bytes(const struct ht_trace *t, uint32_t row)
{
	int64_t elements = ht_arg_i64(t, "In msg nelems", row, HT_NO_I64), bytes;
	int64_t each = ht_dtype_bytes(ht_arg_str(t, "dtype", row));
	if (elements < 0 || !each || __builtin_mul_overflow(elements, each, &bytes))
		return HT_NO_I64;
	return bytes;
}

static int64_t bytes_of(const struct ops *o, const struct op *op)
{
	int64_t bytes = ht_comm_input_bytes(o->t, op->row);
	if (bytes != HT_NO_I64)
		return bytes;
	for (uint32_t k = op->first; k < op->first + op->n; k++) {
		int64_t more = kernel_bytes(o->t, o->kernels[k].row);
		if (more != HT_NO_I64)
			bytes = bytes == HT_NO_I64 ? more : ht_add_sat(bytes, more);
	}
	return bytes;
}

/* ---- operators ---- */

static void find_ops(struct ops *o, struct ht_traits *traits)
{
	for (size_t i = 0; i < o->tree.n; i++) {
		const struct ht_op_node *node = &o->tree.nodes[i];
		o->op_of[i] = node->parent == HT_NONE ? HT_NONE : o->op_of[node->parent];
		if (o->op_of[i] != HT_NONE || node->kind == HT_NODE_MERGED ||
		        !(ht_traits_of(traits, node->row) & HT_TRAIT_COMM))
			continue;
		o->op_of[i] = (uint32_t)o->n;
		o->list[o->n++] = (struct op){ .start = o->t->ts_ns[node->row],
			.end = o->tree.ends[node->row],
			.row = node->row };
	}
}

static void find_kernels(struct ops *o, struct ht_traits *traits)
{
	for (size_t i = 0; i < o->t->n_gpu; i++) {
		const struct ht_gpu *gpu = &o->t->gpu[i];
		if (ht_busy_of_work(traits, gpu) != HT_BUSY_COMM || !ht_is_span(o->t, gpu->row))
			continue;
		uint32_t node = o->tree.of_gpu[i];
		uint32_t op = node == HT_NONE ? HT_NONE : o->op_of[node];
		if (op == HT_NONE) {
			op = (uint32_t)o->n;
			o->list[o->n++] = (struct op){ .start = o->t->ts_ns[gpu->row],
				.end = ht_end_ns(o->t, gpu->row),
				.row = gpu->row };
		}
		o->list[op].n++;
		o->kernels[o->n_kernels++] = (struct kernel){ op, gpu->row };
	}
}

static int by_op(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int by_start(const void *left, const void *right)
{
	const struct op *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* record_param_comms is around calls of any kind: what is inside says which. */
static const char *name_of(const struct ops *o, const uint32_t *inner, const struct op *op)
{
	uint32_t node = ht_kind_is_gpu_work(o->t->kind[op->row]) ? HT_NONE : o->tree.of[op->row];
	uint32_t row = node == HT_NONE || inner[node] == HT_NONE ? op->row : inner[node];
	return ht_str(o->t, o->t->name[row]);
}

/* By node of an operator: the first row of communication inside it that has another name. */
static enum ht_status find_inner(struct ops *o, struct ht_traits *traits, uint32_t **ret_inner)
{
	uint32_t *inner = ht_arena_alloc(o->run->scratch, (o->tree.n + 1) * sizeof *inner);
	if (!inner)
		return ht_fail_nomem(o->run->ctx);
	memset(inner, 0xff, (o->tree.n + 1) * sizeof *inner);
	for (size_t i = 0; i < o->tree.n; i++) {
		const struct ht_op_node *node = &o->tree.nodes[i];
		uint32_t op = o->op_of[i];
		if (op == HT_NONE || node->kind == HT_NODE_MERGED)
			continue;
		uint32_t outer = o->tree.of[o->list[op].row], row = o->list[op].row;
		bool names = !strcmp(ht_str(o->t, o->t->name[row]), "record_param_comms") &&
		             o->t->name[node->row] != o->t->name[row] &&
		             (ht_traits_of(traits, node->row) & HT_TRAIT_COMM);
		if (names && inner[outer] == HT_NONE)
			inner[outer] = node->row;
	}
	*ret_inner = inner;
	return HT_OK;
}

/* ---- rows ---- */

struct range {
	int64_t start, end;
	uint32_t row;
};

static int by_range(const void *left, const void *right)
{
	const struct range *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int64_t step_of(const struct ht_bounds *bounds, const struct op *op)
{
	size_t i = HT_LOWER_BOUND(at, bounds->n, bounds->list[at].start <= op->start);
	if (!i || op->end > bounds->list[i - 1].end)
		return HT_NO_I64;
	return bounds->list[i - 1].number;
}

static void put_op(const struct ops *o, size_t number, const char *name, const struct op *op,
        int64_t step, struct range *ranges, ht_table *table)
{
	size_t n = 0;
	int64_t bytes = bytes_of(o, op);
	if (!ht_kind_is_gpu_work(o->t->kind[op->row]))
		ranges[n++] = (struct range){ op->start, op->end, op->row };
	for (uint32_t k = op->first; k < op->first + op->n; k++) {
		uint32_t row = o->kernels[k].row;
		ranges[n++] = (struct range){ o->t->ts_ns[row], ht_end_ns(o->t, row), row };
	}
	qsort(ranges, n, sizeof *ranges, by_range);
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, HT_COMM_OP, (int64_t)number);
		ht_table_put_str(table, HT_COMM_OP_NAME, name);
		ht_table_put_known(table, HT_COMM_OP_BYTES, bytes, HT_NO_I64);
		ht_table_put_known(table, HT_COMM_OP_STEP, step, HT_NO_I64);
		ht_table_put_i64(table, HT_COMM_OP_ROW, ranges[i].row);
		ht_table_put_i64(table, HT_COMM_OP_START, ranges[i].start);
		ht_table_put_i64(table, HT_COMM_OP_END, ranges[i].end);
	}
}

enum ht_status ht_comm_ops_put(struct ht_run *run, struct ht_traits *traits,
        const struct ht_bounds *bounds, ht_table *table)
{
	struct ops o = { .run = run, .t = run->trace };
	uint32_t *inner = NULL;
	HT_TRY(ht_op_tree_make(run, traits, &o.tree));
	size_t n_most = o.tree.n + o.t->n_gpu + 1;
	o.op_of = ht_arena_alloc(run->scratch, n_most * sizeof *o.op_of);
	o.list = ht_arena_alloc(run->scratch, n_most * sizeof *o.list);
	o.kernels = ht_arena_alloc(run->scratch, (o.t->n_gpu + 1) * sizeof *o.kernels);
	struct range *ranges = ht_arena_alloc(run->scratch, (o.t->n_gpu + 2) * sizeof *ranges);
	if (!o.op_of || !o.list || !o.kernels || !ranges)
		return ht_fail_nomem(run->ctx);
	find_ops(&o, traits);
	find_kernels(&o, traits);
	HT_TRY(find_inner(&o, traits, &inner));
	qsort(o.kernels, o.n_kernels, sizeof *o.kernels, by_op);
	for (uint32_t i = 0, at = 0; i < o.n; i++) {
		o.list[i].first = at;
		at += o.list[i].n;
	}
	qsort(o.list, o.n, sizeof *o.list, by_start);
	for (size_t i = 0; i < o.n; i++) {
		const struct op *op = &o.list[i];
		put_op(&o, i, name_of(&o, inner, op), op, step_of(bounds, op), ranges, table);
	}
	return HT_OK;
}
