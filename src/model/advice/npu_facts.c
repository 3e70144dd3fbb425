/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_facts.c - see npu_facts.h: kernels, calls and transfers. What tables and headers say is in npu_tables.c.
 */
#include "model/advice/npu_facts.h"

#include "base/checked.h"
#include "base/search.h"
#include "model/numbers/interval.h"
#include "model/advice/npu_fusion.h"
#include "model/advice/npu_tables.h"
#include "model/advice/npu_values.h"
#include "store/trace_meta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

enum pipe { PIPE_VEC, PIPE_MAC, PIPE_SCALAR, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, N_PIPES };
enum { N_PREFIXES = 3 };

/* What is known of a kernel. */
struct kernel {
	uint32_t row, type; /* type: string id, HT_NO_STR */
	int64_t dur_ns;
	int64_t idle_ns; /* of a vector core's pipes, HT_NO_I64: not one, or not measured */
	bool is_product;
};

struct reading {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_bounds *bounds;
	ht_table *table;
	struct ht_npu_values core, state, type, in_shapes, in_types, out_shapes, out_types, fixpipe;
	struct ht_npu_values ratios[N_PIPES][N_PREFIXES];
	struct kernel *kernels;
	size_t n_kernels;
	int64_t kernel_ns;
};

static void put(struct reading *r, enum ht_metric metric, const struct ht_rule_sum *sum)
{
	ht_rule_fact_put(r->t, r->table, metric, HT_NO_I64, sum);
}

/* The kernels that start in the steps and say of what type they are, or where they ran. */
static enum ht_status list_kernels(struct reading *r)
{
	static const char *const pipes[] = { "vec", "mac", "scalar", "mte1", "mte2", "mte3" };
	static const char *const prefixes[] = { "", "aic_", "aiv_" };
	const struct ht_trace *t = r->t;
	char key[64];
	r->kernels = ht_arena_alloc(r->run->scratch, (t->n_gpu + 1) * sizeof *r->kernels);
	if (!r->kernels)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < N_PIPES; i++)
		for (size_t k = 0; k < N_PREFIXES; k++) {
			(void)snprintf(key, sizeof key, "%s%s_ratio", prefixes[k], pipes[i]);
			r->ratios[i][k] = ht_npu_values_open(t, key);
			if (ht_npu_values_any(&r->ratios[i][k]))
				continue;
			(void)snprintf(key, sizeof key, "%s%s_exe_ratio", prefixes[k], pipes[i]);
			r->ratios[i][k] = ht_npu_values_open(t, key);
		}
	return HT_OK;
}

/* The share of time that each pipe is busy, NAN: not recorded. Returns the largest. */
static double read_pipes(struct reading *r, uint32_t row, double *pipes)
{
	double most = NAN;
	for (size_t i = 0; i < N_PIPES; i++) {
		pipes[i] = NAN;
		for (size_t k = 0; k < N_PREFIXES; k++) {
			double ratio = ht_npu_number(&r->ratios[i][k], row);
			if (!(pipes[i] >= ratio) && !isnan(ratio))
				pipes[i] = ratio;
		}
		if (!(most >= pipes[i]) && !isnan(pipes[i]))
			most = pipes[i];
	}
	return most;
}

static int64_t part_of(int64_t ns, double share)
{
	return share > 0 ? ht_round_sat((double)ns * (share < 1 ? share : 1)) : 0;
}

/* ---- matrix products ---- */

/* Bytes of an element; 0: unknown. */
static int64_t bytes_of_type(const char *text, size_t n)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} types[] = { { "FLOAT", 4 }, { "FLOAT16", 2 }, { "DT_BF16", 2 }, { "BF16", 2 },
		{ "DT_FLOAT", 4 }, { "DT_FLOAT16", 2 }, { "INT8", 1 }, { "UINT8", 1 },
		{ "INT32", 4 }, { "INT64", 8 }, { "DOUBLE", 8 }, { "BOOL", 1 }, { "INT16", 2 } };
	for (size_t i = 0; i < HT_COUNT(types); i++)
		if (strlen(types[i].name) == n && !strncmp(types[i].name, text, n))
			return types[i].bytes;
	return 0;
}

/* One tensor of a list "81920,4096": its elements and its last axis. False when it is something else. */
static bool read_shape(const char *text, size_t n, double *ret_elements, int64_t *ret_last)
{
	const char *end = text + n;
	*ret_elements = 1;
	for (const char *p = text; p < end;) {
		char *stop;
		long long axis = strtoll(p, &stop, 10);
		if (stop == p || axis < 0)
			return false;
		*ret_elements *= (double)axis;
		*ret_last = axis;
		p = stop + (stop < end);
		if (stop < end && *stop != ',')
			return false;
	}
	return n > 0;
}

/* Bytes of all tensors of "a,b;c,d" with types "X;Y"; is any last axis no multiple of 256? 0: unknown. */
static double bytes_of_tensors(const char *shapes, const char *types, bool *ret_odd)
{
	double sum = 0;
	while (*shapes && *types) {
		size_t n = strcspn(shapes, ";"), n_type = strcspn(types, ";");
		int64_t last = 0, bytes = bytes_of_type(types, n_type);
		double elements;
		if (!bytes || !read_shape(shapes, n, &elements, &last))
			return 0;
		*ret_odd |= last % 256 != 0;
		sum += elements * (double)bytes;
		shapes += n + (shapes[n] == ';');
		types += n_type + (types[n_type] == ';');
	}
	return sum;
}

/* What a large product lacks to where its cube or its memory would bound it. */
static void add_product(struct reading *r, const struct kernel *kernel, const double *pipes,
        struct ht_rule_sum *sum)
{
	bool odd = false;
	double bytes = bytes_of_tensors(ht_npu_text(&r->in_shapes, kernel->row),
	        ht_npu_text(&r->in_types, kernel->row), &odd);
	double out = bytes_of_tensors(ht_npu_text(&r->out_shapes, kernel->row),
	        ht_npu_text(&r->out_types, kernel->row), &odd);
	double mac = pipes[PIPE_MAC], mte2 = pipes[PIPE_MTE2];
	if (!bytes || !out || bytes + out < (double)HT_LARGE_PRODUCT_BYTES || isnan(mac) ||
	        isnan(mte2))
		return;
	sum->whole = ht_add_sat(sum->whole == HT_NO_I64 ? 0 : sum->whole, kernel->dur_ns);
	if (mac >= 0.8 || mte2 >= 0.95)
		return;
	double room = 0.8 - mac > 0.95 - mte2 ? 0.8 - mac : 0.95 - mte2;
	int64_t ns = part_of(kernel->dur_ns, room), count = sum->count;
	ht_rule_sum_add(sum, ns, kernel->row, ns);
	sum->count = count + odd;
}

/* ---- attention ---- */

/* Axes of the i-th tensor of "a,b;c,d", at most four; 0: it has none or others. */
static size_t read_axes(const char *shapes, size_t i, int64_t axes[4])
{
	size_t n = 0;
	for (; i && *shapes; shapes++)
		i -= *shapes == ';';
	for (const char *p = shapes; !i && *p && *p != ';';) {
		char *stop;
		long long axis = strtoll(p, &stop, 10);
		if (stop == p || axis <= 0 || n == 4 || (*stop && *stop != ',' && *stop != ';'))
			return 0;
		axes[n++] = axis;
		p = stop + (*stop == ',');
	}
	return n;
}

/* What softmax keeps has axes batch, heads, sequence and 8, whatever the layout of the inputs is. */
static bool find_heads(const char *shapes, int64_t *ret_heads, int64_t *ret_length)
{
	int64_t axes[4];
	size_t n_tensors = 1;
	for (const char *p = shapes; *p; p++)
		n_tensors += *p == ';';
	for (size_t i = 0; i < n_tensors; i++)
		if (read_axes(shapes, i, axes) == 4 && axes[3] == 8) {
			*ret_heads = axes[1];
			*ret_length = axes[2];
			return true;
		}
	return false;
}

/* Is the sequence or a head no multiple of 128? A query of three axes has all heads in the last one. */
static bool is_odd_attention(const char *in, const char *out)
{
	int64_t axes[4], heads, length;
	size_t n = read_axes(in, 0, axes);
	if (n < 3 || (!find_heads(out, &heads, &length) && !find_heads(in, &heads, &length)))
		return false;
	int64_t head = n == 4 ? axes[3] : axes[2] / heads;
	return head % 128 != 0 || length % 128 != 0;
}

static void add_attention(struct reading *r, const struct kernel *kernel, const char *type,
        const double *pipes, struct ht_rule_sum *sum)
{
	bool backward = strstr(type, "Grad") != NULL;
	double own = backward ? ht_npu_number(&r->fixpipe, kernel->row) : pipes[PIPE_VEC];
	double memory = pipes[PIPE_MTE2];
	if (isnan(own) || isnan(memory) || own + memory <= 0)
		return;
	sum->whole = ht_add_sat(sum->whole == HT_NO_I64 ? 0 : sum->whole, kernel->dur_ns);
	int64_t count = sum->count + is_odd_attention(ht_npu_text(&r->in_shapes, kernel->row),
	                                     ht_npu_text(&r->out_shapes, kernel->row));
	double room = 0.8 - memory < 0.75 - own ? 0.8 - memory : 0.75 - own;
	int64_t ns = room > 0 ? part_of(kernel->dur_ns, room) : 0;
	if (ns || count > sum->count)
		ht_rule_sum_add(sum, ns, kernel->row, ns);
	sum->count = count;
}

/* ---- what kernels tell ---- */

struct told {
	struct ht_rule_sum cpu, fixed, format, product, unbound, attention;
	int64_t n_placed, n_states, n_measured;
};

/* Time in which a vector core neither computes nor moves data; HT_NO_I64: nothing says. */
static int64_t idle_of_vector(const double *pipes, int64_t dur_ns)
{
	double vec = pipes[PIPE_VEC], in = pipes[PIPE_MTE2], out = pipes[PIPE_MTE3];
	double all = vec + in + out;
	if (isnan(all) || all <= 0)
		return HT_NO_I64;
	return all < 0.9 && vec < 0.7 && in < 0.7 && out < 0.7 ? part_of(dur_ns, 1 - all) : 0;
}

static void read_kernel(struct reading *r, uint32_t row, struct told *told)
{
	const struct ht_trace *t = r->t;
	const char *core = ht_npu_text(&r->core, row), *state = ht_npu_text(&r->state, row);
	const char *type = ht_npu_text(&r->type, row);
	double pipes[N_PIPES], most = read_pipes(r, row, pipes);
	struct kernel kernel = { .row = row,
		.dur_ns = t->dur_ns[row],
		.type = *type ? ht_str_find(t, type) : HT_NO_STR,
		.idle_ns = HT_NO_I64,
		.is_product = strstr(type, "MatMul") != NULL };
	if (!strcmp(core, "AI_VECTOR_CORE"))
		kernel.idle_ns = idle_of_vector(pipes, kernel.dur_ns);
	told->n_placed += *core != 0;
	if (!strcmp(core, "AI_CPU"))
		ht_rule_sum_add(&told->cpu, kernel.dur_ns, row, kernel.dur_ns);
	told->n_states += *state != 0;
	if (!strcmp(state, "static"))
		told->fixed.part++;
	else if (*state)
		ht_rule_sum_add(&told->fixed, 0, row, kernel.dur_ns);
	if (!strncmp(type, "TransData", 9))
		ht_rule_sum_add(&told->format, kernel.dur_ns, row, kernel.dur_ns);
	if (kernel.is_product)
		add_product(r, &kernel, pipes, &told->product);
	if (strstr(type, "FlashAttention"))
		add_attention(r, &kernel, type, pipes, &told->attention);
	/* a kernel whose counters are all 0 was not measured */
	told->n_measured += most > 0;
	int64_t rest_ns = part_of(kernel.dur_ns, 1 - most);
	if (most > 0 && most <= 0.8 && kernel.dur_ns > HT_LONG_KERNEL_NS)
		ht_rule_sum_add(&told->unbound, rest_ns, row, rest_ns);
	ht_sum(&r->kernel_ns, kernel.dur_ns);
	r->kernels[r->n_kernels++] = kernel;
}

static void read_kernels(struct reading *r)
{
	struct told told = { .cpu = HT_RULE_SUM,
		.fixed = HT_RULE_SUM,
		.format = HT_RULE_SUM,
		.product = HT_RULE_SUM,
		.unbound = HT_RULE_SUM,
		.attention = HT_RULE_SUM };
	const struct ht_trace *t = r->t;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row;
		if (t->gpu[i].class_ == HT_CLASS_COMPUTE && ht_is_span(t, row) &&
		        ht_bounds_hold(r->bounds, t->ts_ns[row]))
			read_kernel(r, row, &told);
	}
	told.fixed.whole = told.n_states;
	told.format.whole = r->kernel_ns;
	if (told.n_placed)
		put(r, HT_METRIC_AI_CPU, &told.cpu);
	if (told.n_states)
		put(r, HT_METRIC_STATIC, &told.fixed);
	if (ht_npu_values_any(&r->type) && r->kernel_ns > 0)
		put(r, HT_METRIC_FORMAT, &told.format);
	if (told.product.whole != HT_NO_I64)
		put(r, HT_METRIC_CUBE, &told.product);
	if (told.attention.whole != HT_NO_I64)
		put(r, HT_METRIC_ATTENTION, &told.attention);
	if (told.n_measured)
		put(r, HT_METRIC_NO_BOUND, &told.unbound);
}

static int by_type(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Kernels of one type on vector cores. */
static void judge_vector_type(const struct kernel *list, size_t n, struct ht_rule_sum *sum)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].idle_ns == HT_NO_I64)
			continue;
		sum->whole = ht_add_sat(sum->whole == HT_NO_I64 ? 0 : sum->whole, list[i].dur_ns);
		if (list[i].idle_ns)
			ht_rule_sum_add(sum, list[i].idle_ns, list[i].row, list[i].idle_ns);
	}
}

static void judge_vectors(struct reading *r)
{
	struct ht_rule_sum sum = HT_RULE_SUM;
	qsort(r->kernels, r->n_kernels, sizeof *r->kernels, by_type);
	for (size_t first = 0, end; first < r->n_kernels; first = end) {
		int64_t ns = 0;
		for (end = first;
		        end < r->n_kernels && r->kernels[end].type == r->kernels[first].type; end++)
			ht_sum(&ns, r->kernels[end].dur_ns);
		if (ns >= r->kernel_ns / 100 || ns >= 1000000000)
			judge_vector_type(r->kernels + first, end - first, &sum);
	}
	if (sum.whole != HT_NO_I64)
		put(r, HT_METRIC_VECTOR, &sum);
}

/* ---- the clock of the cores ---- */

struct sample {
	int64_t ts_ns;
	double mhz;
};

static int by_time(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

/* What a kernel loses to a clock below the highest that was seen. */
static double lost_ns(const struct sample *list, size_t n, double most, int64_t start, int64_t end)
{
	double lost = 0;
	size_t first = HT_LOWER_BOUND(at, n, list[at].ts_ns <= start);
	for (size_t i = first ? first - 1 : 0; i < n && list[i].ts_ns < end; i++) {
		int64_t from = list[i].ts_ns > start ? list[i].ts_ns : start;
		int64_t to = i + 1 < n && list[i + 1].ts_ns < end ? list[i + 1].ts_ns : end;
		if (from < to)
			lost += (double)(to - from) * (1 - list[i].mhz / most);
	}
	return lost;
}

static enum ht_status read_clock(struct reading *r)
{
	const struct ht_trace *t = r->t;
	struct ht_npu_values mhz = ht_npu_values_open(t, "MHz");
	struct ht_rule_sum sum = HT_RULE_SUM;
	uint32_t name = ht_str_find(t, "AI Core Freq");
	double most = 0;
	size_t n = 0;
	if (name == HT_NO_STR || !ht_npu_values_any(&mhz) || !r->n_kernels)
		return HT_OK;
	size_t n_room = (mhz.columns[0] ? mhz.columns[0]->n : 0) +
	                (mhz.columns[1] ? mhz.columns[1]->n : 0) + 1;
	struct sample *list = ht_arena_alloc(r->run->scratch, n_room * sizeof *list);
	if (!list)
		return ht_fail_nomem(r->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		double value = t->name[row] == name && t->kind[row] == HT_KIND_COUNTER
		                       ? ht_npu_number(&mhz, row)
		                       : NAN;
		if (!(value > 0) || n >= n_room)
			continue;
		list[n++] = (struct sample){ t->ts_ns[row], value };
		most = value > most ? value : most;
	}
	qsort(list, n, sizeof *list, by_time);
	sum.whole = 0;
	for (size_t i = 0; n && i < r->n_kernels; i++) {
		const struct kernel *kernel = &r->kernels[i];
		int64_t start = t->ts_ns[kernel->row], end = start + kernel->dur_ns;
		if (start < list[0].ts_ns)
			continue;
		int64_t ns = ht_round_sat(lost_ns(list, n, most, start, end));
		sum.whole = ht_add_sat(sum.whole, kernel->dur_ns);
		ht_rule_sum_add(&sum, ns, kernel->row, ns);
	}
	if (sum.whole > 0)
		put(r, HT_METRIC_FREQUENCY, &sum);
	return HT_OK;
}

/* ---- calls on the host ---- */

static bool is_own_optimizer(const char *name)
{
	static const char prefix[] = "Optimizer.step#";
	return !strncmp(name, prefix, sizeof prefix - 1) &&
	       strncmp(name + sizeof prefix - 1, "NpuFused", 8) != 0;
}

/* Of each thread, what follows what. */
static void read_track(struct reading *r, const struct ht_track *track,
        struct ht_rule_sum *blocking, struct ht_rule_sum *launches, uint32_t launch, uint32_t sync)
{
	const struct ht_trace *t = r->t;
	int64_t launched_end = INT64_MIN;
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t row = t->track_rows[track->first + i];
		/* calls inside the launch do not come after it */
		if (!ht_is_span(t, row) || t->ts_ns[row] < launched_end)
			continue;
		bool waits = t->name[row] == sync && sync != HT_NO_STR;
		if (waits && launched_end != INT64_MIN && ht_bounds_hold(r->bounds, t->ts_ns[row]))
			ht_rule_sum_add(blocking, t->dur_ns[row], row, t->dur_ns[row]);
		launched_end = INT64_MIN;
		if (t->name[row] == launch && ht_bounds_hold(r->bounds, t->ts_ns[row])) {
			ht_rule_sum_add(launches, t->dur_ns[row], row, t->dur_ns[row]);
			launched_end = ht_end_ns(t, row);
		}
	}
}

static void read_calls(struct reading *r)
{
	const struct ht_trace *t = r->t;
	struct ht_rule_sum compile = HT_RULE_SUM, gc = HT_RULE_SUM, optimizer = HT_RULE_SUM;
	struct ht_rule_sum blocking = HT_RULE_SUM, launches = HT_RULE_SUM;
	uint32_t compiles = ht_str_find(t, "AscendCL@aclopCompileAndExecute");
	uint32_t launch = ht_str_find(t, "Node@launch");
	uint32_t sync = ht_str_find(t, "AscendCL@aclrtSynchronizeStream");
	uint32_t collects = ht_str_find(t, "GC");
	bool has_optimizer = false;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		uint32_t name = t->name[row];
		if (name == HT_NO_STR || !ht_is_span(t, row) || ht_kind_is_device(t->kind[row]) ||
		        !ht_bounds_hold(r->bounds, t->ts_ns[row]))
			continue;
		if (name == compiles)
			ht_rule_sum_add(&compile, t->dur_ns[row], row, t->dur_ns[row]);
		if (name == collects && t->dur_ns[row] > 1000000)
			ht_rule_sum_add(&gc, t->dur_ns[row], row, t->dur_ns[row]);
		bool is_op = t->kind[row] == HT_KIND_CPU_OP || t->kind[row] == HT_KIND_ANNOTATION;
		if (!is_op || strncmp(ht_str(t, name), "Optimizer.step#", 15) != 0)
			continue;
		has_optimizer = true;
		if (is_own_optimizer(ht_str(t, name)))
			ht_rule_sum_add(&optimizer, t->dur_ns[row], row, t->dur_ns[row]);
	}
	for (size_t k = 0; launch != HT_NO_STR && k < t->n_tracks; k++)
		read_track(r, &t->tracks[k], &blocking, &launches, launch, sync);
	if (launch != HT_NO_STR) {
		put(r, HT_METRIC_COMPILE, &compile);
		put(r, HT_METRIC_BLOCKING, &blocking);
		put(r, HT_METRIC_LAUNCHES, &launches);
	}
	if (collects != HT_NO_STR)
		put(r, HT_METRIC_GC, &gc);
	if (has_optimizer)
		put(r, HT_METRIC_OPTIMIZER, &optimizer);
}

/* ---- transfers ---- */

/* When matrix products run, merged. */
static enum ht_status list_products(struct reading *r, struct ht_interval **ret, size_t *ret_n)
{
	struct ht_interval *list =
	        ht_arena_alloc(r->run->scratch, (r->n_kernels + 1) * sizeof *list);
	size_t n = 0;
	if (!list)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < r->n_kernels; i++) {
		int64_t start = r->t->ts_ns[r->kernels[i].row];
		if (r->kernels[i].is_product)
			list[n++] = (struct ht_interval){ start, start + r->kernels[i].dur_ns };
	}
	*ret_n = ht_interval_merge(r->run->ctx->mem, list, n);
	*ret = list;
	return HT_OK;
}

static enum ht_status read_transfers(struct reading *r)
{
	const struct ht_trace *t = r->t;
	struct ht_npu_values transport = ht_npu_values_open(t, "transport type"),
	                     size = ht_npu_values_open(t, "size(Byte)");
	struct ht_npu_values link = ht_npu_values_open(t, "link type"),
	                     speed = ht_npu_values_open(t, "bandwidth(GB/s)");
	struct ht_rule_sum unaligned = HT_RULE_SUM, contention = HT_RULE_SUM;
	struct ht_interval *products = NULL;
	size_t n_products = 0;
	if (!transport.columns[2] || !ht_npu_values_any(&size))
		return HT_OK;
	HT_TRY(list_products(r, &products, &n_products));
	unaligned.whole = contention.whole = 0;
	const struct ht_arg_column *column = transport.columns[2];
	for (uint64_t i = 0; i < column->n; i++) {
		uint32_t row = ht_arg_row(t, column, i);
		double bytes = ht_npu_number(&size, row), gb = ht_npu_number(&speed, row);
		if (strcmp(ht_npu_text(&transport, row), "SDMA") != 0 || !ht_is_span(t, row) ||
		        !strcmp(ht_npu_text(&link, row), "ON_CHIP") || !(bytes > 512) ||
		        !ht_bounds_hold(r->bounds, t->ts_ns[row]))
			continue;
		unaligned.whole++;
		if (fmod(bytes, 512) != 0)
			ht_rule_sum_add(&unaligned, 1, row, t->dur_ns[row]);
		if (isnan(gb))
			continue;
		contention.whole = ht_add_sat(contention.whole, t->dur_ns[row]);
		bool shared = ht_interval_within(
		                      products, n_products, t->ts_ns[row], ht_end_ns(t, row)) > 0;
		if (gb < 0.8 * 18 && shared)
			ht_rule_sum_add(&contention, t->dur_ns[row], row, t->dur_ns[row]);
	}
	if (unaligned.whole)
		put(r, HT_METRIC_UNALIGNED, &unaligned);
	if (contention.whole && n_products)
		put(r, HT_METRIC_CONTENTION, &contention);
	return HT_OK;
}

enum ht_status ht_npu_facts_put(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	struct reading r = { .run = run,
		.t = t,
		.bounds = bounds,
		.table = table,
		.core = ht_npu_values_open(t, "Accelerator Core"),
		.state = ht_npu_values_open(t, "OP State"),
		.type = ht_npu_values_open(t, "Type"),
		.in_shapes = ht_npu_values_open(t, "Input Shapes"),
		.in_types = ht_npu_values_open(t, "Input Data Types"),
		.out_shapes = ht_npu_values_open(t, "Output Shapes"),
		.out_types = ht_npu_values_open(t, "Output Data Types"),
		.fixpipe = ht_npu_values_open(t, "aic_fixpipe_ratio") };
	if (t->meta->dialect != HT_DIALECT_ASCEND)
		return HT_OK;
	HT_TRY(ht_npu_tables_put(run, !bounds->n, table));
	if (!bounds->n)
		return HT_OK;
	HT_TRY(list_kernels(&r));
	read_kernels(&r);
	judge_vectors(&r);
	HT_TRY(read_clock(&r));
	read_calls(&r);
	HT_TRY(read_transfers(&r));
	HT_TRY(ht_npu_blocks_put(run, bounds, table));
	HT_TRY(ht_npu_sequences_put(run, bounds, table));
	return ht_npu_affinity_put(run, bounds, table);
}
