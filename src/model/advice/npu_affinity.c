/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_affinity.c - operators that NPUs have a fused one for; see npu_fusion.h.
 *
 * Looks at the outermost aten:: operators of each thread in the steps, one behind the other, without those of optimizers and of
 * the backward pass, for
 *
 *   matmul .. softmax .. matmul        npu_fusion_attention   costs what runs between the products
 *   chunk, neg, cat, mul, add          npu_rotary_mul         (chunk: also split, slice, narrow)
 *   pow, mean, add, rsqrt, mul         npu_rms_norm
 *   chunk, silu, mul                   npu_swiglu
 *   gelu                               fast_gelu              costs what it takes
 *
 * Casts, copies and views between them are passed over. The others cost the device time of all but the longest of
 * them: one pass over the data stays. An operator counts once. Optimizers are a metric of their own. O(n).
 */
#include "model/advice/npu_fusion.h"

#include "model/calls/op_tree.h"

#include <string.h>

/* What an operator is to the patterns. */
enum class {
	OTHER = 1,
	PASSED = 2, /* casts, copies, views */
	MATMUL = 4,
	SOFTMAX = 8,
	CHUNK = 16,
	NEG = 32,
	CAT = 64,
	MUL = 128,
	ADD = 256,
	POW = 512,
	MEAN = 1024,
	RSQRT = 2048,
	SILU = 4096,
	GELU = 8192,
};

static const struct {
	const char *name;
	enum class is;
} classes[] = { { "matmul", MATMUL }, { "bmm", MATMUL }, { "baddbmm", MATMUL },
	{ "einsum", MATMUL }, { "softmax", SOFTMAX }, { "_softmax", SOFTMAX }, { "chunk", CHUNK },
	{ "split", CHUNK }, { "split_with_sizes", CHUNK }, { "unsafe_chunk", CHUNK },
	{ "slice", CHUNK }, { "narrow", CHUNK }, { "neg", NEG }, { "cat", CAT }, { "concat", CAT },
	{ "mul", MUL }, { "mul_", MUL }, { "add", ADD }, { "add_", ADD }, { "pow", POW },
	{ "square", POW }, { "mean", MEAN }, { "rsqrt", RSQRT }, { "silu", SILU },
	{ "silu_", SILU }, { "gelu", GELU }, { "to", PASSED }, { "_to_copy", PASSED },
	{ "type_as", PASSED }, { "float", PASSED }, { "npu_dtype_cast", PASSED },
	{ "contiguous", PASSED }, { "clone", PASSED }, { "alias", PASSED }, { "detach", PASSED },
	{ "view", PASSED }, { "reshape", PASSED }, { "_unsafe_view", PASSED },
	{ "flatten", PASSED }, { "unflatten", PASSED }, { "transpose", PASSED },
	{ "permute", PASSED }, { "t", PASSED }, { "unsqueeze", PASSED }, { "squeeze", PASSED },
	{ "expand", PASSED }, { "expand_as", PASSED }, { "as_strided", PASSED },
	{ "select", PASSED } };

/* How many operators may stand between two of a pattern. */
#define MAX_BETWEEN 16
#define MAX_PIECES  5

struct pattern {
	const char *pieces_text, *fused;
	unsigned pieces[MAX_PIECES]; /* classes; a chunk may come several times */
	size_t n;
	unsigned between; /* classes that may stand there */
	bool keeps_ends;  /* the first and last stay what they are */
};

static const struct pattern patterns[] = {
	{ "matmul..softmax..matmul", "npu_fusion_attention", { MATMUL, SOFTMAX, MATMUL }, 3,
	        ~(unsigned)(MATMUL | SOFTMAX), true },
	{ "chunk-neg-cat-mul-add", "npu_rotary_mul", { CHUNK, NEG, CAT, MUL, ADD }, 5, PASSED,
	        false },
	{ "pow-mean-add-rsqrt-mul", "npu_rms_norm", { POW, MEAN, ADD, RSQRT, MUL }, 5, PASSED,
	        false },
	{ "chunk-silu-mul", "npu_swiglu", { CHUNK, SILU, MUL }, 3, PASSED | CHUNK, false },
	{ "gelu", "fast_gelu", { GELU }, 1, PASSED, false },
};

/* An outermost operator. */
struct op {
	uint32_t row, track;
	unsigned class_;
	int64_t device_ns;
	bool is_used;
};

static const char prefix[] = "aten::";

static bool is_aten(const char *name)
{
	return !strncmp(name, prefix, sizeof prefix - 1);
}

static unsigned class_of(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(classes); i++)
		if (!strcmp(name + sizeof prefix - 1, classes[i].name))
			return classes[i].is;
	return OTHER;
}

/* Do others inside this node not count? */
static bool hides(const struct ht_trace *t, const struct ht_op_node *node)
{
	static const char backward[] = "autograd::engine::evaluate_function";
	const char *name = ht_str(t, t->name[node->row]);
	if (node->kind == HT_NODE_OPTIMIZER || node->kind == HT_NODE_LOADER)
		return true;
	return node->kind == HT_NODE_OPERATOR &&
	       (is_aten(name) || !strncmp(name, backward, sizeof backward - 1));
}

/* Operators in scratch; *ret_ns: device time of them all. */
static enum ht_status list_ops(struct ht_run *run, const struct ht_bounds *bounds, struct op **ret,
        size_t *ret_n, int64_t *ret_ns)
{
	const struct ht_trace *t = run->trace;
	struct ht_traits traits;
	struct ht_op_tree tree;
	HT_TRY(ht_traits_init(run, t, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &tree));
	struct op *list = ht_arena_alloc(run->scratch, (tree.n + 1) * sizeof *list);
	bool *is_inside = ht_arena_alloc(run->scratch, tree.n + 1);
	size_t n = 0;
	if (!list || !is_inside)
		return ht_fail_nomem(run->ctx);
	*ret_ns = 0;
	for (size_t i = 0; i < tree.n; i++) {
		const struct ht_op_node *node = &tree.nodes[i];
		is_inside[i] = node->parent != HT_NONE &&
		               (is_inside[node->parent] || hides(t, &tree.nodes[node->parent]));
		if (node->kind != HT_NODE_OPERATOR || is_inside[i] ||
		        !is_aten(ht_str(t, t->name[node->row])) ||
		        !ht_bounds_hold(bounds, t->ts_ns[node->row]))
			continue;
		list[n++] = (struct op){ .row = node->row,
			.track = t->track[node->row],
			.class_ = class_of(ht_str(t, t->name[node->row])),
			.device_ns = node->device_total_ns };
		ht_sum(ret_ns, node->device_total_ns);
	}
	*ret = list;
	*ret_n = n;
	return HT_OK;
}

/* Where the pattern that begins at an operator ends: behind its last piece; 0: it is none. */
static size_t match(const struct pattern *pattern, const struct op *ops, size_t n, size_t first)
{
	size_t at = first + 1, skipped = 0;
	if (!(ops[first].class_ & pattern->pieces[0]) || ops[first].is_used)
		return 0;
	for (size_t piece = 1; piece < pattern->n; at++) {
		if (at == n || ops[at].track != ops[first].track || ops[at].is_used)
			return 0;
		bool again = piece == 1 && pattern->pieces[0] == CHUNK && ops[at].class_ == CHUNK;
		if (ops[at].class_ & pattern->pieces[piece]) {
			piece++;
			skipped = 0;
		} else if (!again &&
		           (!(ops[at].class_ & pattern->between) || ++skipped > MAX_BETWEEN)) {
			return 0;
		}
	}
	return at;
}

/* What the operators of one occurrence cost; they are used up. The longest of them is *ret_longest. */
static int64_t cost_of(
        const struct pattern *pattern, struct op *list, size_t n, const struct op **ret_longest)
{
	size_t first = pattern->keeps_ends, end = n - pattern->keeps_ends;
	int64_t sum = 0;
	*ret_longest = &list[first];
	for (size_t i = first; i < end; i++) {
		ht_sum(&sum, list[i].device_ns);
		if (list[i].device_ns > (*ret_longest)->device_ns)
			*ret_longest = &list[i];
		list[i].is_used = true;
	}
	return pattern->keeps_ends || pattern->n == 1 ? sum : sum - (*ret_longest)->device_ns;
}

/* All occurrences of a pattern; false when out of memory. */
static bool find_pattern(struct ht_run *run, const struct pattern *pattern, struct op *ops,
        size_t n, struct ht_rule_sum *sum)
{
	const struct op *longest;
	int64_t count = 0;
	for (size_t i = 0; i < n; i++) {
		size_t end = match(pattern, ops, n, i);
		if (!end)
			continue;
		int64_t ns = cost_of(pattern, ops + i, end - i, &longest);
		ht_rule_sum_add(sum, ns, longest->row, longest->device_ns);
		count++;
		i = end - 1 - pattern->keeps_ends;
	}
	if (count)
		sum->name = ht_arena_printf(run->scratch, "%s%s%s for %lld x %s", sum->name,
		        *sum->name ? ", " : "", pattern->fused, (long long)count,
		        pattern->pieces_text);
	return sum->name != NULL;
}

enum ht_status ht_npu_affinity_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	struct ht_rule_sum sum = HT_RULE_SUM;
	struct op *ops = NULL;
	size_t n = 0;
	int64_t device_ns = 0;
	HT_TRY(list_ops(run, bounds, &ops, &n, &device_ns));
	/* what a pattern costs nobody knows when no operator is linked to its work */
	if (!device_ns)
		return HT_OK;
	sum.name = "";
	for (size_t i = 0; i < HT_COUNT(patterns); i++)
		if (!find_pattern(run, &patterns[i], ops, n, &sum))
			return ht_fail_nomem(run->ctx);
	ht_rule_fact_put(run->trace, table, HT_METRIC_AFFINITY, HT_NO_I64, &sum);
	return HT_OK;
}
