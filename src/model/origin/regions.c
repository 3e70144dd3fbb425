/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - see regions.h.
 */
#include "model/origin/regions.h"
#include "base/checked.h"
#include "store/args.h"

#include "base/text_compare.h"
#include "model/origin/compiled.h"

#include <stdlib.h>
#include <string.h>

static const char region_start[] = "Torch-Compiled Region: ";

struct finding {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_vec list; /* struct ht_compiled_region */
};

static bool is_named(const struct ht_trace *t, uint32_t row, const char *name)
{
	return t->kind[row] == HT_KIND_CPU_OP && !strcmp(ht_str(t, t->name[row]), name);
}

static uint32_t region_around(const struct ht_trace *t, uint32_t row)
{
	while (row != HT_NONE && (t->kind[row] != HT_KIND_CPU_OP ||
	                                 !ht_text_starts(ht_str(t, t->name[row]), region_start)))
		row = t->parent[row];
	return row;
}

/* The region whose gradient is computed around a row, by the sequence number that both carry. */
static uint32_t region_of_backward(const struct ht_trace *t, uint32_t row)
{
	while (row != HT_NONE && !is_named(t, row, "CompiledFunctionBackward"))
		row = t->parent[row];
	if (row == HT_NONE)
		return HT_NONE;
	int64_t number = ht_arg_i64(t, "Sequence number", row, -1);
	for (uint32_t other = 0; number >= 0 && other < ht_n_events(t); other++)
		if (is_named(t, other, "CompiledFunction") &&
		        ht_arg_i64(t, "Sequence number", other, -2) == number)
			return region_around(t, other);
	return HT_NONE;
}

static struct ht_compiled_region *find_key(struct finding *f, const char *key, size_t n)
{
	struct ht_compiled_region *list = f->list.data;
	for (size_t i = 0; i < f->list.n; i++)
		if (list[i].key && strlen(list[i].key) == n && !memcmp(list[i].key, key, n))
			return &list[i];
	return NULL;
}

static enum ht_status add_graph(struct finding *f, uint32_t row, const char *key, size_t n)
{
	const struct ht_trace *t = f->t;
	struct ht_compiled_region fresh = {
		.key = ht_arena_strndup(f->run->scratch, key, n), .row = row, .compile_row = HT_NONE
	};
	const struct ht_compiled_graph *graph;
	uint32_t region = region_around(t, row);
	if (!fresh.key)
		return ht_fail_nomem(f->run->ctx);
	if (region == HT_NONE) {
		region = region_of_backward(t, row);
		fresh.is_backward = region != HT_NONE;
	}
	HT_TRY(ht_compiled_graph(f->run, fresh.key, &graph));
	if (region != HT_NONE) {
		fresh.region = ht_str(t, t->name[region]);
		fresh.compile_id = fresh.region + sizeof region_start - 1;
	} else if (graph) {
		fresh.compile_id = graph->compile_id;
	}
	return HT_VEC_PUSH(f->run->ctx->mem, &f->list, struct ht_compiled_region, fresh)
	               ? HT_OK
	               : ht_fail_nomem(f->run->ctx);
}

static enum ht_status find_graphs(struct finding *f)
{
	const struct ht_trace *t = f->t;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		size_t n;
		const char *key = t->kind[row] == HT_KIND_ANNOTATION && ht_is_span(t, row)
		                          ? ht_compiled_key(ht_str(t, t->name[row]), &n)
		                          : NULL;
		if (!key)
			continue;
		if (!find_key(f, key, n))
			HT_TRY(add_graph(f, row, key, n));
		struct ht_compiled_region *region = find_key(f, key, n);
		region->n_calls++;
		ht_sum(&region->cpu_ns, t->dur_ns[row]);
	}
	return HT_OK;
}

static void add_gpu_time(struct finding *f)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; f->list.n && i < t->n_gpu; i++) {
		uint32_t launch = t->gpu[i].launch;
		uint32_t around = launch == HT_NONE ? HT_NONE : ht_compiled_around(t, launch);
		size_t n;
		const char *key =
		        around == HT_NONE ? NULL : ht_compiled_key(ht_str(t, t->name[around]), &n);
		struct ht_compiled_region *region = key ? find_key(f, key, n) : NULL;
		if (region)
			ht_sum(&region->gpu_ns, t->dur_ns[t->gpu[i].row]);
	}
}

/* ---- compilations ---- */

/* "0/1" behind compile_id=; NULL when it is not there. */
static const char *id_of(struct finding *f, const char *text)
{
	const char *at = strstr(text, "compile_id=");
	if (!at)
		return NULL;
	at += strlen("compile_id=");
	return ht_arena_strndup(f->run->scratch, at, strcspn(at, ", \t\n"));
}

static bool is_again(const char *compile_id)
{
	const char *slash = strchr(compile_id, '/');
	return slash && strtol(slash + 1, NULL, 10) > 0;
}

/* The forward graph of a compile id, made when nothing called it. */
static enum ht_status find_id(
        struct finding *f, const char *id, uint32_t row, struct ht_compiled_region **ret_region)
{
	struct ht_compiled_region *list = f->list.data;
	for (size_t i = 0; i < f->list.n; i++)
		if (!list[i].is_backward && ht_text_same(list[i].compile_id, id)) {
			*ret_region = &list[i];
			return HT_OK;
		}
	struct ht_compiled_region fresh = { .compile_id = id, .row = row, .compile_row = HT_NONE };
	if (!HT_VEC_PUSH(f->run->ctx->mem, &f->list, struct ht_compiled_region, fresh))
		return ht_fail_nomem(f->run->ctx);
	*ret_region = (struct ht_compiled_region *)f->list.data + f->list.n - 1;
	return HT_OK;
}

static enum ht_status find_compilations(struct finding *f)
{
	const struct ht_trace *t = f->t;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		const char *name = ht_str(t, t->name[row]);
		if (t->kind[row] != HT_KIND_ANNOTATION ||
		        !ht_text_starts(name, "entire_frame_compile_data"))
			continue;
		uint32_t around = t->parent[row];
		const char *id = id_of(f, name);
		struct ht_compiled_region *region = NULL;
		while (around != HT_NONE && !is_named(t, around, "entire_frame_compile"))
			around = t->parent[around];
		if (!id || around == HT_NONE)
			continue;
		HT_TRY(find_id(f, id, around, &region));
		ht_sum(&region->compile_ns, t->dur_ns[around]);
		region->compile_row = around;
		region->n_recompiled += is_again(id);
		if (is_again(id))
			HT_TRY(ht_recompile_reason(f->run, id, &region->reason));
	}
	return HT_OK;
}

static int by_first_call(const void *left, const void *right)
{
	const struct ht_compiled_region *a = left, *b = right;
	if (a->is_backward != b->is_backward)
		return a->is_backward ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

enum ht_status ht_regions_find(
        struct ht_run *run, const struct ht_compiled_region **ret_list, size_t *ret_n)
{
	struct finding f = { .run = run, .t = run->trace };
	struct ht_compiled_region *list = NULL;
	enum ht_status status = find_graphs(&f);
	if (status == HT_OK) {
		add_gpu_time(&f);
		status = find_compilations(&f);
	}
	size_t n = f.list.n;
	if (status == HT_OK)
		list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (status == HT_OK && !list)
		status = ht_fail_nomem(run->ctx);
	if (status == HT_OK && n) {
		memcpy(list, f.list.data, n * sizeof *list);
		qsort(list, n, sizeof *list, by_first_call);
	}
	ht_vec_free(run->ctx->mem, &f.list, sizeof(struct ht_compiled_region));
	*ret_list = list;
	*ret_n = n;
	return status;
}
