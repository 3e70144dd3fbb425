/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_cost.c - see op_cost.h. One function per family of formulas; e is bytes per element, |T| elements of a tensor.
 *
 *   GEMM        F = 2 M N K                                  Q = e (M K + K N + M N) + bias
 *   CONV        F = 2 n o (c / groups) prod(k) prod(out)     Q = e (|x| + |w| + |out|)
 *   transposed  F = 2 n prod(x) prod(w), without the batch   as above
 *   backward    one F for dX and one for dW, by the mask     two inputs and one result each
 *   ATTENTION   F = 2 B Hq pairs (D + Dv)                    Q = e (q + k + v + o) + 4 B Hq Sq
 *   backward    F = 2 B Hq pairs (3 D + 2 Dv)                Q = e (q, k, v, o, do read; dq, dk, dv written)
 *   MOE         F = 2 T k (W1 + W2), W elements of an expert  Q = e (2 T H + weights of k to min(E, T k) experts)
 *   RNN         F = 2 T W, W elements of weight matrices      Q = e (x + all weights + y)
 *   backward    F = 4 T W: dX and dW                          Q = 2 e (x + all weights + y)
 *   pairs       Sq Sk; causal with Sq <= Sk: Sq Sk - Sq (Sq - 1) / 2, the last query sees every key
 * Products are made in 128 bits; what does not fit 63 bits is refused rather than wrong.
 */
#include "model/efficiency/op_cost.h"

#include <string.h>

typedef unsigned __int128 wide;

/* Products stop here: far beyond what is accepted, and a few of them still add up. */
#define WIDE_MAX ((wide)1 << 120)

static wide times(wide a, wide b)
{
	wide product;
	return __builtin_mul_overflow(a, b, &product) || product > WIDE_MAX ? WIDE_MAX : product;
}

enum family {
	GEMM,
	INT_MM,
	BMM,
	SCALED_MM,
	GROUPED_MM,
	CONV,
	CONV_BACKWARD,
	ATTENTION,
	MOE,
	RNN,
	RNN_BACK,
	ATTENTION_BACK,
	MAP,
	COPY,
	CAST,
	CAT,
	REDUCE,
	ROWWISE,
	EMBEDDING,
	EMBEDDING_BACK,
	GATHER,
	LISTS
};

#define MAX_PLACES 9

struct ht_op_formula {
	const char *name;
	uint8_t family;
	int8_t at[MAX_PLACES];
};

static const struct ht_op_formula formulas[] = {
#define FORMULA(name, family, ...) { name, family, { __VA_ARGS__ } },
#include "model/efficiency/op_formulas.def"
#undef FORMULA
};

const struct ht_op_formula *ht_op_formula_find(const char *name)
{
	for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
		if (!strcmp(formulas[i].name, name))
			return &formulas[i];
	return NULL;
}

bool ht_op_formula_is_matrix(const struct ht_op_formula *formula)
{
	return formula->family <= ATTENTION_BACK;
}

const char *ht_cost_method(enum ht_cost_state state)
{
	static const char *const texts[HT_N_COST_STATES] = {
		[HT_COST_KNOWN] = "formula",
		[HT_COST_INTERVAL] = "interval",
		[HT_COST_NO_FORMULA] = "none: no formula",
		[HT_COST_NO_SHAPES] = "none: shapes not recorded",
		[HT_COST_LONG_LIST] = "none: list too long to be recorded",
		[HT_COST_MISMATCH] = "none: shape mismatch",
		[HT_COST_TOO_LARGE] = "none: sizes too large",
		[HT_COST_NO_OPERATOR] = "none: no operator",
	};
	return texts[state];
}

/* ---- a cost in the making ---- */

struct costing {
	const struct ht_op_formula *formula;
	const struct ht_op_args *args;
	enum ht_causal causal;
	wide flops, flops_max, vector_flops, bytes, bytes_max, odd_size;
	enum ht_dtype dtype, from; /* from: of what is copied */
	bool is_open;              /* the upper bounds are others */
	bool no_bytes;             /* a type is not known */
	bool not_fit;              /* sizes do not fit */
	bool is_long;              /* a list without sizes */
	bool is_causal;
};

static const struct ht_op_tensor *tensor(struct costing *c, size_t place, int n_dims)
{
	const struct ht_op_tensor *found = ht_op_tensor(c->args, c->formula->at[place], n_dims);
	c->not_fit |= !found;
	return found;
}

/* Elements of a type, read or written once. */
static void move(struct costing *c, wide n_elements, enum ht_dtype dtype)
{
	uint64_t each = ht_element_bytes(dtype);
	c->no_bytes |= !each && n_elements > 0;
	c->bytes += times(n_elements, each);
}

static void read_tensor(struct costing *c, const struct ht_op_tensor *t)
{
	if (t)
		move(c, t->n_unique, (enum ht_dtype)t->dtype);
}

static const struct ht_op_tensor *list(struct costing *c, size_t place)
{
	size_t at = (size_t)c->formula->at[place];
	const struct ht_op_tensor *found = at < c->args->n ? &c->args->list[at] : NULL;
	c->is_long |= found && !found->is_tensor && !found->concrete;
	c->not_fit |= !found || !found->is_list || found->is_bad;
	return found;
}

/* Of an argument that may be missing. */
static void read_place(struct costing *c, size_t place)
{
	read_tensor(c, ht_op_tensor(c->args, c->formula->at[place], -1));
}

static void finish_bytes(struct costing *c)
{
	if (!c->is_open)
		c->flops_max = c->flops, c->bytes_max = c->bytes;
}

/* ---- matrix products ---- */

static wide size(const struct ht_op_tensor *t, size_t dim)
{
	return (wide)t->dims[dim];
}

/* Tensor cores load 16 bytes at a time. */
static bool is_odd(enum ht_dtype dtype, wide n_elements)
{
	bool uses_cores = dtype >= HT_DTYPE_F32 && dtype <= HT_DTYPE_F8;
	return uses_cores && n_elements * ht_element_bytes(dtype) % 16 != 0;
}

/* Elements from one row of a matrix to the next, or from one column to the next where these are what lies together; 0: nothing is
 * known of it. */
static wide pitch_of(const struct ht_op_tensor *t)
{
	size_t row = t->n_dims - 2u, column = t->n_dims - 1u;
	/* what lies together has stride 1 */
	size_t across = t->strides[column] == 1 ? row : column, along = row + column - across;
	return t->strides[along] == 1 && t->strides[across] > 0 ? (wide)t->strides[across] : 0;
}

/* Of factors and result, which PyTorch writes row by row, the size of rows that do not come out even; 0: none such. Where strides
 * were not recorded the factors may lie either way, and mostly it is K that lies together. Products of a vector use no tensor cores. */
static wide odd_size(
        enum ht_dtype dtype, const struct ht_op_tensor *a, const struct ht_op_tensor *b)
{
	wide m = size(a, a->n_dims - 2u), k = size(a, a->n_dims - 1u), n = size(b, b->n_dims - 1u);
	bool known = a->has_strides && b->has_strides;
	const wide sizes[] = { n, known ? pitch_of(a) : k, known ? pitch_of(b) : k };
	for (size_t i = 0; m > 1 && k > 1 && n > 1 && i < sizeof sizes / sizeof *sizes; i++)
		if (is_odd(dtype, sizes[i]))
			return sizes[i];
	return 0;
}

static void cost_gemm(struct costing *c, int n_dims, enum ht_dtype result)
{
	const struct ht_op_tensor *a = tensor(c, 0, n_dims), *b = tensor(c, 1, n_dims);
	if (!a || !b)
		return;
	size_t d = (size_t)n_dims;
	wide batch = n_dims == 3 ? size(a, 0) : 1, m = size(a, d - 2), k = size(a, d - 1);
	wide n = size(b, d - 1);
	c->not_fit |= size(b, d - 2) != k || (n_dims == 3 && size(b, 0) != batch);
	/* two values of four bits lie in a byte, and sizes count bytes */
	wide packed = a->dtype == HT_DTYPE_F4 ? 2 : 1;
	c->dtype = (enum ht_dtype)a->dtype;
	c->flops = times(2 * batch * m * k, n * packed);
	c->odd_size = odd_size(c->dtype, a, b);
	read_tensor(c, a);
	read_tensor(c, b);
	read_place(c, 2);
	move(c, batch * m * n, result ? result : c->dtype);
}

static void cost_scaled_mm(struct costing *c)
{
	enum ht_dtype result = ht_dtype_of_number(ht_op_int(c->args, c->formula->at[3], -1));
	cost_gemm(c, 2, result ? result : HT_DTYPE_BF16);
}

/* Rows of A go to the matrices of B by offsets that the trace does not have; their sum is known all the same. */
static void cost_grouped_mm(struct costing *c)
{
	const struct ht_op_tensor *a = tensor(c, 0, -1), *b = tensor(c, 1, -1);
	const struct ht_op_tensor *offsets = ht_op_tensor(c->args, c->formula->at[2], 1);
	enum ht_dtype result = ht_dtype_of_number(ht_op_int(c->args, c->formula->at[4], -1));
	if (!a || !b)
		return;
	c->dtype = (enum ht_dtype)a->dtype;
	wide groups = offsets ? size(offsets, 0) : 1, m, k, n, n_out;
	if (a->n_dims == 2 && b->n_dims == 3) {
		m = size(a, 0), k = size(a, 1), n = size(b, 2), n_out = m * n;
		c->not_fit |= size(b, 1) != k;
	} else if (a->n_dims == 2 && b->n_dims == 2) {
		m = size(a, 1), k = size(a, 0), n = size(b, 1), n_out = groups * k * n;
		c->not_fit |= size(b, 0) != m;
	} else if (a->n_dims == 3 && b->n_dims == 3) {
		m = size(a, 0) * size(a, 1), k = size(a, 2), n = size(b, 2), n_out = m * n;
		c->not_fit |= size(b, 1) != k || size(b, 0) != size(a, 0);
	} else {
		c->not_fit = true;
		return;
	}
	c->flops = times(2 * m * k, n);
	read_tensor(c, a);
	read_tensor(c, b);
	move(c, n_out,
	        result                            ? result
	        : ht_element_bytes(c->dtype) == 1 ? HT_DTYPE_BF16
	                                          : c->dtype);
}

/* ---- convolutions ---- */

struct conv {
	const struct ht_op_tensor *x, *w;
	bool transposed;
	int64_t groups;
};

static wide product_from(const struct ht_op_tensor *t, size_t first)
{
	wide product = 1;
	for (size_t k = first; k < t->n_dims; k++)
		product = times(product, size(t, k));
	return product;
}

/* The arguments of each spatial dimension: one for all may stand for each. */
static bool per_dim(struct costing *c, size_t place, size_t n, int64_t fallback, int64_t *ret)
{
	size_t found = ht_op_ints(c->args, c->formula->at[place], ret, HT_OP_MAX_DIMS);
	for (size_t k = found; k < n && found <= 1; k++)
		ret[k] = found ? ret[0] : fallback;
	for (size_t k = 0; k < n; k++)
		if (ret[k] < 0 || ret[k] > HT_OP_MAX_DIM)
			return false;
	return found <= 1 || found == n;
}

/* Sizes of the result without batch and channels. */
static wide conv_result(struct costing *c, const struct conv *conv)
{
	int64_t pad[HT_OP_MAX_DIMS], stride[HT_OP_MAX_DIMS], dilation[HT_OP_MAX_DIMS];
	int64_t more[HT_OP_MAX_DIMS];
	size_t n = conv->x->n_dims - 2u;
	wide product = 1;
	if (!per_dim(c, 3, n, 0, pad) || !per_dim(c, 4, n, 1, stride) ||
	        !per_dim(c, 5, n, 1, dilation) || !per_dim(c, 8, n, 0, more)) {
		c->not_fit = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		__int128 in = conv->x->dims[i + 2],
		         reach = (__int128)dilation[i] * (conv->w->dims[i + 2] - 1);
		__int128 out = conv->transposed ? (in - 1) * stride[i] - 2 * (__int128)pad[i] +
		                                          reach + more[i] + 1
		                                : in + 2 * (__int128)pad[i] - reach - 1;
		c->not_fit |= out < 0 || stride[i] < 1;
		if (c->not_fit)
			return 0;
		product = times(product, (wide)(conv->transposed ? out : out / stride[i] + 1));
	}
	return product;
}

/* Do input and weights belong together? */
static bool conv_fits(const struct conv *conv)
{
	const struct ht_op_tensor *x = conv->x, *w = conv->w;
	if (!x || !w || x->n_dims != w->n_dims || x->n_dims < 3 || conv->groups < 1)
		return false;
	return conv->transposed ? x->dims[1] == w->dims[0]
	                        : (__int128)w->dims[1] * conv->groups == x->dims[1];
}

static wide conv_flops(const struct conv *conv, wide n_result)
{
	wide each = times(2 * size(conv->x, 0), product_from(conv->w, 0));
	return times(each, conv->transposed ? product_from(conv->x, 2) : n_result);
}

static void cost_conv(struct costing *c)
{
	const int8_t *at = c->formula->at;
	struct conv conv = { tensor(c, 0, -1), tensor(c, 1, -1),
		at[7] == -2 || ht_op_bool(c->args, at[7], false), ht_op_int(c->args, at[6], 1) };
	if (!conv_fits(&conv)) {
		c->not_fit = true;
		return;
	}
	wide n_result = conv_result(c, &conv);
	wide channels = conv.transposed ? size(conv.w, 1) * (wide)conv.groups : size(conv.w, 0);
	c->dtype = (enum ht_dtype)conv.x->dtype;
	c->flops = conv_flops(&conv, n_result);
	read_tensor(c, conv.x);
	read_tensor(c, conv.w);
	read_place(c, 2);
	move(c, times(size(conv.x, 0) * channels, n_result), c->dtype);
}

static void cost_conv_backward(struct costing *c)
{
	const int8_t *at = c->formula->at;
	const struct ht_op_tensor *g = tensor(c, 0, -1);
	struct conv conv = { tensor(c, 1, -1), tensor(c, 2, -1), ht_op_bool(c->args, at[6], false),
		ht_op_int(c->args, at[7], 1) };
	int64_t mask[3] = { 1, 1, 0 };
	if (!g || !conv_fits(&conv) || g->n_dims != conv.x->n_dims ||
	        g->dims[0] != conv.x->dims[0]) {
		c->not_fit = true;
		return;
	}
	ht_op_ints(c->args, at[8], mask, 3);
	wide n_parts = (wide)(mask[0] != 0) + (wide)(mask[1] != 0);
	c->dtype = (enum ht_dtype)conv.x->dtype;
	c->flops = times(n_parts, conv_flops(&conv, product_from(g, 2)));
	for (wide part = 0; part < n_parts; part++) {
		read_tensor(c, g);
		read_tensor(c, conv.x);
		read_tensor(c, conv.w);
	}
}

/* ---- attention ---- */

struct attention {
	wide batch, heads, queries, keys, d, d_v;
	bool causal;
};

static wide pairs(const struct attention *a, enum ht_causal causal)
{
	wide q = a->queries, k = a->keys, all = q * k;
	if (!a->causal || causal == HT_CAUSAL_FULL || !q || !k)
		return all;
	if (q > k) /* queries beyond the last key see all of them */
		return causal == HT_CAUSAL_HALF ? all - k * k / 2 : all - k * (k - 1) / 2;
	return causal == HT_CAUSAL_HALF ? all - q * q / 2 : all - q * (q - 1) / 2;
}

/* Sequences of several lengths: one of them is as long as said and the others share the rest, or as many as can be are. */
static void pairs_of_lengths(struct costing *c, const struct attention *a, wide n, wide longest,
        wide *ret_least, wide *ret_most)
{
	wide total = a->queries, rest = total > longest ? total - longest : 0;
	struct attention one = *a;
	one.queries = one.keys = longest;
	wide full = longest ? total / longest : 0;
	*ret_most = full * pairs(&one, c->causal);
	*ret_least = pairs(&one, c->causal);
	one.queries = one.keys = longest ? total - full * longest : 0;
	*ret_most += pairs(&one, c->causal);
	one.queries = one.keys = n > 1 ? rest / (n - 1) : 0;
	*ret_least += (n > 1 ? n - 1 : 0) * pairs(&one, c->causal);
	if (*ret_least > *ret_most)
		*ret_least = *ret_most;
}

/* Heads and lengths of the query, key and value at places 0 to 2. */
static bool read_attention(struct costing *c, struct attention *ret, wide *ret_n_lengths)
{
	const int8_t *at = c->formula->at;
	const struct ht_op_tensor *q = tensor(c, 0, -1), *k = tensor(c, 1, -1),
	                          *v = tensor(c, 2, -1);
	const struct ht_op_tensor *lengths = ht_op_tensor(c->args, at[5], 1);
	bool rows = at[4] == 2; /* (B, S, H, D) */
	*ret_n_lengths = lengths && lengths->dims[0] > 1 ? size(lengths, 0) - 1 : 0;
	if (!q || !k || !v || q->n_dims != k->n_dims || k->n_dims != v->n_dims || q->n_dims < 3 ||
	        q->n_dims > 4)
		return false;
	size_t d = q->n_dims, h = rows ? d - 2 : d - 3, s = rows ? d - 3 : d - 2;
	*ret = (struct attention){ .batch = d == 4 ? size(q, 0) : 1,
		.heads = size(q, h),
		.queries = size(q, s),
		.keys = size(k, s),
		.d = size(q, d - 1),
		.d_v = size(v, d - 1),
		.causal = ht_op_bool(c->args, at[3], false) || ht_op_int(c->args, at[3], 0) > 0 };
	bool fits = k->dims[d - 1] == q->dims[d - 1] && k->dims[s] == v->dims[s];
	/* several heads of queries may share one of keys */
	return fits && k->dims[h] > 0 && q->dims[h] % k->dims[h] == 0 &&
	       (d == 3 || (k->dims[0] == q->dims[0] && v->dims[0] == q->dims[0]));
}

static void cost_attention(struct costing *c, bool backward)
{
	struct attention a = { 0 };
	wide n_lengths = 0;
	if (!read_attention(c, &a, &n_lengths)) {
		c->not_fit = true;
		return;
	}
	const struct ht_op_tensor *q = tensor(c, 0, -1), *k = tensor(c, 1, -1),
	                          *v = tensor(c, 2, -1);
	int64_t longest = ht_op_int(c->args, c->formula->at[6], 0);
	wide each = 2 * a.batch * a.heads * (backward ? 3 * a.d + 2 * a.d_v : a.d + a.d_v);
	wide least = pairs(&a, c->causal), most = least;
	if (n_lengths && longest > 0)
		pairs_of_lengths(c, &a, n_lengths, (wide)longest, &least, &most);
	c->not_fit |= n_lengths && longest <= 0;
	c->is_causal = a.causal;
	c->dtype = (enum ht_dtype)q->dtype;
	c->flops = times(each, least);
	c->flops_max = times(each, most);
	c->is_open = least != most;
	wide n_result = a.batch * a.heads * a.queries * a.d_v;
	for (int times = 0; times < (backward ? 2 : 1); times++) { /* dq, dk, dv are as large */
		read_tensor(c, q);
		read_tensor(c, k);
		read_tensor(c, v);
	}
	move(c, n_result * (backward ? 2 : 1), c->dtype);
	c->bytes += 4 * a.batch * a.heads * a.queries;
	c->bytes_max = c->bytes;
}

/* Tokens (T, H) by the k experts that each has, of weights (E, I or 2 I, H) and (E, H, I). Which experts are asked for is
 * not recorded: at least those of one token, at most all or as many as there are choices. */
static void cost_moe(struct costing *c)
{
	const struct ht_op_tensor *x = tensor(c, 0, 2), *first = tensor(c, 1, 3);
	const struct ht_op_tensor *second = tensor(c, 2, 3), *chosen = tensor(c, 3, 2);
	if (!x || !first || !second || !chosen)
		return;
	wide tokens = size(x, 0), k = size(chosen, 1), experts = size(first, 0);
	wide inner = size(second, 2), each = product_from(first, 1) + product_from(second, 1);
	c->not_fit |= size(chosen, 0) != tokens || size(first, 2) != size(x, 1) ||
	              size(second, 1) != size(x, 1) || size(second, 0) != experts ||
	              (size(first, 1) != inner && size(first, 1) != 2 * inner);
	wide most = times(tokens, k) < experts ? times(tokens, k) : experts;
	c->dtype = (enum ht_dtype)x->dtype;
	c->flops = c->flops_max = times(2 * times(tokens, k), each);
	move(c, 2 * times(tokens, size(x, 1)), c->dtype);
	wide activations = c->bytes;
	move(c, times(k < most ? k : most, each), (enum ht_dtype)first->dtype);
	c->bytes_max = activations + times(times(most, each), ht_element_bytes(first->dtype));
	c->is_open = c->bytes_max != c->bytes;
}

/* Every weight matrix of every layer and direction meets every element of every sequence. n: products for each of them. */
static void cost_rnn(struct costing *c, wide n)
{
	const struct ht_op_tensor *x = tensor(c, 0, -1), *weights = list(c, 1);
	int64_t hidden = ht_op_int(c->args, c->formula->at[2], -1);
	int64_t projected = ht_op_int(c->args, c->formula->at[3], 0);
	bool both_ways = ht_op_bool(c->args, c->formula->at[4], false);
	c->not_fit |= !x || x->n_dims < 2 || hidden < 1 || hidden > HT_OP_MAX_DIM ||
	              projected < 0 || projected > hidden;
	if (c->not_fit || !x->dims[x->n_dims - 1])
		return;
	wide n_tokens = (wide)x->n_elements / size(x, x->n_dims - 1u);
	wide width = (wide)(projected ? projected : hidden) * (both_ways ? 2 : 1);
	c->dtype = (enum ht_dtype)x->dtype;
	c->flops = times(2 * n * n_tokens, weights->n_matrix);
	move(c, n * ((wide)x->n_elements + weights->n_elements + times(n_tokens, width)), c->dtype);
}

/* ---- what moves more than it computes ---- */

/* The tensor arguments broadcast: elements and type of the result. */
static wide broadcast(struct costing *c, enum ht_dtype *ret_dtype)
{
	int64_t dims[HT_OP_MAX_DIMS] = { 0 };
	size_t n_dims = 0;
	wide n = 1;
	*ret_dtype = HT_DTYPE_UNKNOWN;
	for (size_t i = 0; i < c->args->n; i++) {
		const struct ht_op_tensor *t = ht_op_tensor(c->args, (int)i, -1);
		if (!t)
			continue;
		/* numbers without dimensions do not change the type */
		bool counts = t->n_dims > 0 || *ret_dtype == HT_DTYPE_UNKNOWN;
		if (counts && t->dtype != HT_DTYPE_BOOL &&
		        ht_element_bytes(t->dtype) >= ht_element_bytes(*ret_dtype))
			*ret_dtype = (enum ht_dtype)t->dtype;
		for (size_t k = 0; k < t->n_dims; k++) { /* the last dimensions meet */
			int64_t *at = &dims[HT_OP_MAX_DIMS - 1 - k],
			        other = t->dims[t->n_dims - 1 - k];
			c->not_fit |= k < n_dims && *at != 1 && other != 1 && *at != other;
			*at = k >= n_dims || *at == 1 ? other : *at;
		}
		n_dims = t->n_dims > n_dims ? t->n_dims : n_dims;
	}
	for (size_t k = 0; k < n_dims; k++)
		n = times(n, (wide)dims[HT_OP_MAX_DIMS - 1 - k]);
	return n;
}

static void cost_map(struct costing *c)
{
	const int8_t *at = c->formula->at;
	enum ht_dtype result;
	wide n = broadcast(c, &result);
	const struct ht_op_tensor *self = ht_op_tensor(c->args, 0, -1);
	for (size_t i = 0; i < c->args->n; i++)
		read_tensor(c, ht_op_tensor(c->args, (int)i, -1));
	c->dtype = result;
	c->vector_flops = times(n, (wide)at[0]);
	if (at[1] && self)
		result = (enum ht_dtype)self->dtype;
	move(c, n, at[3] ? HT_DTYPE_BOOL : result);
	c->bytes += n * (wide)at[2];
	c->not_fit |= !self && !ht_op_tensor(c->args, 1, -1);
}

static void cost_copy(struct costing *c)
{
	const struct ht_op_tensor *to = tensor(c, 0, -1);
	if (!to)
		return;
	c->dtype = (enum ht_dtype)to->dtype;
	if (c->formula->at[1] >= 0) {
		const struct ht_op_tensor *from = tensor(c, 1, -1);
		c->from = from ? (enum ht_dtype)from->dtype : HT_DTYPE_UNKNOWN;
		read_tensor(c, from);
	}
	move(c, to->n_elements, c->dtype);
}

static void cost_cast(struct costing *c)
{
	const struct ht_op_tensor *from = tensor(c, 0, -1);
	enum ht_dtype to = ht_dtype_of_number(ht_op_int(c->args, c->formula->at[1], -1));
	if (!from)
		return;
	c->from = (enum ht_dtype)from->dtype;
	c->dtype = to ? to : c->from;
	read_tensor(c, from);
	move(c, from->n_elements, c->dtype);
}

static void cost_cat(struct costing *c)
{
	const struct ht_op_tensor *all = list(c, 0);
	if (all)
		move(c, 2 * (wide)all->n_elements, (enum ht_dtype)all->dtype);
}

static void cost_lists(struct costing *c)
{
	const int8_t *at = c->formula->at;
	const struct ht_op_tensor *all = list(c, 0);
	if (!all)
		return;
	c->vector_flops = (wide)all->n_elements * (wide)at[1];
	move(c, (wide)all->n_elements * (wide)(at[2] + at[3]), (enum ht_dtype)all->dtype);
}

static void cost_reduce(struct costing *c)
{
	const struct ht_op_tensor *x = tensor(c, 0, -1);
	int64_t dims[HT_OP_MAX_DIMS], one = ht_op_int(c->args, c->formula->at[1], INT64_MIN);
	if (!x)
		return;
	c->not_fit |= ht_op_tensor(c->args, 1, -1) != NULL; /* of two tensors: no reduction */
	size_t n_dims = ht_op_ints(c->args, c->formula->at[1], dims, HT_OP_MAX_DIMS);
	if (!n_dims && one != INT64_MIN)
		dims[n_dims++] = one;
	wide n_result = n_dims ? x->n_elements : 1;
	for (size_t k = 0; k < n_dims; k++) {
		int64_t dim = dims[k] < 0 ? dims[k] + x->n_dims : dims[k];
		c->not_fit |= dim < 0 || dim >= x->n_dims;
		if (!c->not_fit && x->dims[dim] > 0)
			n_result /= (wide)x->dims[dim];
	}
	c->dtype = (enum ht_dtype)x->dtype;
	c->vector_flops = x->n_elements;
	read_tensor(c, x);
	move(c, n_result, c->dtype);
}

static void cost_rowwise(struct costing *c)
{
	const struct ht_op_tensor *x = tensor(c, 0, -1);
	if (!x)
		return;
	c->dtype = (enum ht_dtype)x->dtype;
	c->vector_flops = (wide)x->n_elements * (wide)c->formula->at[1];
	move(c, (wide)x->n_elements * (wide)c->formula->at[2], c->dtype);
	/* weights and statistics are smaller */
	for (size_t i = 1; i < c->args->n; i++) {
		const struct ht_op_tensor *t = ht_op_tensor(c->args, (int)i, -1);
		if (t && t->n_elements < x->n_elements)
			read_tensor(c, t);
	}
}

static void cost_embedding(struct costing *c, bool backward)
{
	const struct ht_op_tensor *rows = tensor(c, 0, backward ? -1 : 2), *at = tensor(c, 1, -1);
	if (!rows || !at || !rows->n_dims)
		return;
	wide n = at->n_elements, width = size(rows, rows->n_dims - 1u);
	c->dtype = (enum ht_dtype)rows->dtype;
	read_tensor(c, at);
	if (!backward) {
		move(c, 2 * n * width, c->dtype);
		return;
	}
	int64_t n_rows = ht_op_int(c->args, c->formula->at[2], -1);
	c->not_fit |= n_rows < 0 || n_rows > HT_OP_MAX_DIM;
	c->vector_flops = n * width;
	read_tensor(c, rows);
	move(c, c->not_fit ? 0 : (wide)n_rows * width, c->dtype);
}

static void cost_gather(struct costing *c)
{
	const struct ht_op_tensor *x = tensor(c, 0, -1), *at = tensor(c, 1, -1);
	if (!x || !at)
		return;
	c->dtype = (enum ht_dtype)x->dtype;
	c->vector_flops = (wide)at->n_elements * (wide)c->formula->at[2];
	read_tensor(c, at);
	move(c, 2 * (wide)at->n_elements, c->dtype);
}

/* A generated kernel: each tensor is read or written, and may be both. */
static void cost_generated(struct costing *c)
{
	bool any = false;
	for (size_t i = 0; i < c->args->n; i++) {
		const struct ht_op_tensor *t = ht_op_tensor(c->args, (int)i, -1);
		any |= t && t->n_dims > 0;
		if (t && t->n_dims > 0 && !c->dtype)
			c->dtype = (enum ht_dtype)t->dtype;
		read_tensor(c, t && t->n_dims > 0 ? t : NULL);
	}
	c->not_fit |= !any;
	c->is_open = true;
	c->bytes_max = 2 * c->bytes;
}

/* ---- all of them ---- */

static void cost_family(struct costing *c)
{
	switch ((enum family)c->formula->family) {
	case GEMM: cost_gemm(c, 2, HT_DTYPE_UNKNOWN); break;
	case INT_MM: cost_gemm(c, 2, HT_DTYPE_I32); break;
	case BMM: cost_gemm(c, 3, HT_DTYPE_UNKNOWN); break;
	case SCALED_MM: cost_scaled_mm(c); break;
	case GROUPED_MM: cost_grouped_mm(c); break;
	case CONV: cost_conv(c); break;
	case CONV_BACKWARD: cost_conv_backward(c); break;
	case ATTENTION: cost_attention(c, false); break;
	case ATTENTION_BACK: cost_attention(c, true); break;
	case MOE: cost_moe(c); break;
	case RNN: cost_rnn(c, 1); break;
	case RNN_BACK: cost_rnn(c, 2); break;
	case MAP: cost_map(c); break;
	case COPY: cost_copy(c); break;
	case CAST: cost_cast(c); break;
	case CAT: cost_cat(c); break;
	case REDUCE: cost_reduce(c); break;
	case ROWWISE: cost_rowwise(c); break;
	case EMBEDDING: cost_embedding(c, false); break;
	case EMBEDDING_BACK: cost_embedding(c, true); break;
	case GATHER: cost_gather(c); break;
	case LISTS: cost_lists(c); break;
	}
}

static bool has_bad_sizes(const struct ht_op_args *args)
{
	for (size_t i = 0; i < args->n; i++)
		if (args->list[i].is_bad || args->list[i].n_elements == UINT64_MAX)
			return true;
	return false;
}

static bool is_copy(const struct ht_op_formula *formula)
{
	return formula->family == CAST || formula->family == CAT ||
	       (formula->family == COPY && formula->at[1] >= 0);
}

struct ht_op_cost ht_op_cost(
        const struct ht_op_formula *formula, const struct ht_op_args *args, enum ht_causal causal)
{
	struct costing c = { .formula = formula, .args = args, .causal = causal };
	struct ht_op_cost cost = { .state = HT_COST_NO_SHAPES };
	if (!args->has_dims)
		return cost;
	cost.state = HT_COST_TOO_LARGE;
	if (has_bad_sizes(args))
		return cost;
	if (formula)
		cost_family(&c);
	else
		cost_generated(&c);
	finish_bytes(&c);
	cost.state = c.is_long ? HT_COST_LONG_LIST : HT_COST_MISMATCH;
	if (c.not_fit)
		return cost;
	/* a product without elements does nothing */
	bool is_matrix = formula && ht_op_formula_is_matrix(formula);
	if (is_matrix && !c.flops_max)
		c.bytes = c.bytes_max = 0;
	const wide limit = INT64_MAX;
	cost.state = HT_COST_TOO_LARGE;
	if (c.flops_max > limit || c.vector_flops > limit || c.bytes_max > limit)
		return cost;
	return (struct ht_op_cost){ .flops = (uint64_t)c.flops,
		.flops_max = (uint64_t)c.flops_max,
		.vector_flops = (uint64_t)c.vector_flops,
		.bytes = c.no_bytes ? 0 : (uint64_t)c.bytes,
		.bytes_max = c.no_bytes ? 0 : (uint64_t)c.bytes_max,
		.dtype = (uint8_t)c.dtype,
		.state = c.is_open ? HT_COST_INTERVAL : HT_COST_KNOWN,
		.has_bytes = !c.no_bytes,
		.is_matrix = is_matrix,
		.odd_size = (uint64_t)c.odd_size,
		.is_causal = c.is_causal,
		.is_copy = formula && is_copy(formula),
		.cast_from = (uint8_t)(c.from != c.dtype && c.dtype ? c.from : HT_DTYPE_UNKNOWN) };
}
