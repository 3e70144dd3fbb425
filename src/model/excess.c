/*
 * excess.c - see excess.h.
 */
#include "model/excess.h"
#include "hta/hta_names.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

/* Time by name and rank: times[name * n_frames + i_frame]. */
struct profile {
	struct ht_run *run;
	size_t n_frames;
	struct ht_pool names;
	struct ht_vec times; /* int64_t */
};

static int64_t *cell(struct profile *profile, const char *name, size_t i_frame)
{
	struct ht_text text;
	size_t n = strlen(name);
	if (!ht_pool_add(&profile->names, name, n, ht_hash(name, n), &text))
		return NULL;
	while (profile->times.n < (text.id + 1) * profile->n_frames)
		if (!HT_VEC_PUSH(profile->run->ctx->mem, &profile->times, int64_t, 0))
			return NULL;
	return (int64_t *)profile->times.data + text.id * profile->n_frames + i_frame;
}

/* By string id, time summed first, so that each name is looked up once. */
static enum ht_status add_names(struct profile *profile, const struct ht_frame *frame,
        size_t i_frame, const int64_t *ns, bool shorten)
{
	const struct ht_trace *trace = frame->trace;
	for (uint32_t id = 0; id < trace->n_string_offsets; id++) {
		if (!ns[id])
			continue;
		const char *name = ht_str(trace, id);
		if (shorten)
			name = ht_hta_shorten_name(profile->run->scratch, name);
		else if (strncmp(name, "ProfilerStep", 12) == 0)
			name = "ProfilerStep";
		int64_t *at = name ? cell(profile, name, i_frame) : NULL;
		if (!at)
			return ht_fail_nomem(profile->run->ctx);
		*at += ns[id];
	}
	return HT_OK;
}

static void sum_gpu(const struct ht_frame *frame, int64_t *ns)
{
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_COMM && trace->name[gpu->row] != HT_NO_STR)
			ns[trace->name[gpu->row]] += trace->dur_ns[gpu->row];
	}
}

static bool is_api_call(const struct ht_trace *trace, uint32_t row)
{
	return trace->kind[row] == HT_KIND_RUNTIME || trace->kind[row] == HT_KIND_DRIVER;
}

/* What a row's time is taken off: the annotation around it; none inside another API call, whose time
 * has been taken off already. */
static uint32_t payer(const struct ht_trace *trace, uint32_t row)
{
	for (uint32_t up = trace->parent[row]; up != HT_NONE; up = trace->parent[up]) {
		if (trace->kind[up] == HT_KIND_ANNOTATION)
			return up;
		if (is_api_call(trace, up))
			return HT_NONE;
	}
	return HT_NONE;
}

static void sum_host(const struct ht_frame *frame, int64_t *ns)
{
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		bool annotation = trace->kind[row] == HT_KIND_ANNOTATION;
		if (annotation && trace->name[row] != HT_NO_STR)
			ns[trace->name[row]] += trace->dur_ns[row];
		if (!annotation && !is_api_call(trace, row))
			continue;
		uint32_t up = payer(trace, row);
		if (up != HT_NONE && trace->name[up] != HT_NO_STR)
			ns[trace->name[up]] -= trace->dur_ns[row];
	}
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static enum ht_status find_largest(struct profile *profile, struct ht_excess *ret)
{
	size_t n = profile->n_frames;
	struct ht_arena *scratch = profile->run->scratch;
	int64_t *sorted = ht_arena_alloc(scratch, (n + 1) * sizeof *sorted);
	if (!sorted)
		return ht_fail_nomem(profile->run->ctx);
	const struct ht_text *names = profile->names.texts.data;
	const int64_t *times = profile->times.data;
	for (size_t name = 0; name < profile->names.texts.n; name++, times += n) {
		memcpy(sorted, times, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, compare);
		const char *text = NULL;
		for (size_t i = 0; i < n; i++) {
			int64_t excess_ns = times[i] - sorted[(n - 1) / 2];
			if (excess_ns <= ret[i].ns)
				continue;
			if (!text)
				text = ht_arena_strndup(scratch, names[name].bytes, names[name].n);
			if (!text)
				return ht_fail_nomem(profile->run->ctx);
			ret[i] = (struct ht_excess){ text, excess_ns };
		}
	}
	return HT_OK;
}

static enum ht_status find(
        struct profile *profile, const struct ht_frame *frames, bool host, struct ht_excess *ret)
{
	for (size_t i = 0; i < profile->n_frames; i++) {
		int64_t *ns = ht_arena_alloc(profile->run->scratch,
		        (frames[i].trace->n_string_offsets + 1) * sizeof *ns);
		if (!ns)
			return ht_fail_nomem(profile->run->ctx);
		(host ? sum_host : sum_gpu)(&frames[i], ns);
		HT_TRY(add_names(profile, &frames[i], i, ns, !host));
		ret[i] = (struct ht_excess){ NULL, 0 };
	}
	return find_largest(profile, ret);
}

enum ht_status ht_excess_find(struct ht_run *run, const struct ht_frame *frames, size_t n_frames,
        struct ht_excess *ret_host, struct ht_excess *ret_gpu)
{
	for (int host = 0; host < 2; host++) {
		struct profile profile = { .run = run, .n_frames = n_frames };
		ht_pool_init(&profile.names, run->ctx->mem);
		enum ht_status status = find(&profile, frames, host, host ? ret_host : ret_gpu);
		ht_pool_done(&profile.names);
		ht_vec_free(run->ctx->mem, &profile.times, sizeof(int64_t));
		HT_TRY(status);
	}
	return HT_OK;
}
