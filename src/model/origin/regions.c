/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - see regions.h.
 */
#include "model/origin/regions.h"
#include "base/checked.h"
#include "store/args.h"

#include "base/intern.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "model/origin/compiled.h"
#include "model/rows/around.h"

#include <stdlib.h>
#include <string.h>

static const char region_start[] = "Torch-Compiled Region: ";

struct finding {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_vec list;  /* struct ht_compiled_region; those of keys first */
	struct ht_pool keys; /* by place in list */
	struct ht_pool ids;  /* of forward graphs */
	struct ht_vec of_id; /* size_t: the first in list, by number of the id */
	/* what is around a row, from the first graph on */
	struct ht_around regions, backward, frames;
	uint64_t *numbers;     /* sequence numbers of compiled functions, ascending */
	uint32_t *with_number; /* their rows */
	size_t n_numbers;
	struct ht_last_calls calls;
};

static bool is_named(const struct ht_trace *t, uint32_t row, const char *name)
{
	return t->kind[row] == HT_KIND_CPU_OP && !strcmp(ht_str(t, t->name[row]), name);
}

static bool is_region(const void *trace, uint32_t row)
{
	const struct ht_trace *t = trace;
	return t->kind[row] == HT_KIND_CPU_OP &&
	       ht_text_starts(ht_str(t, t->name[row]), region_start);
}

static bool is_backward(const void *trace, uint32_t row)
{
	return is_named(trace, row, "CompiledFunctionBackward");
}

static bool is_frame(const void *trace, uint32_t row)
{
	return is_named(trace, row, "entire_frame_compile");
}

/* Compiled functions by their sequence number. */
static enum ht_status sort_functions(struct finding *f)
{
	const struct ht_trace *t = f->t;
	size_t n = 1;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += is_named(t, row, "CompiledFunction");
	f->numbers = ht_arena_room(f->run->scratch, n * sizeof *f->numbers);
	f->with_number = ht_arena_room(f->run->scratch, n * sizeof *f->with_number);
	if (!f->numbers || !f->with_number)
		return ht_fail_nomem(f->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		int64_t number = is_named(t, row, "CompiledFunction")
		                         ? ht_arg_i64(t, "Sequence number", row, -1)
		                         : -1;
		if (number < 0)
			continue;
		f->numbers[f->n_numbers] = (uint64_t)number;
		f->with_number[f->n_numbers++] = row;
	}
	return ht_sort_keys(f->run->ctx->mem, f->numbers, f->with_number, f->n_numbers)
	               ? HT_OK
	               : ht_fail_nomem(f->run->ctx);
}

/* The region whose gradient is computed around a row, by the sequence number that both carry. */
static uint32_t region_of_backward(struct finding *f, uint32_t row)
{
	row = ht_around_find(&f->backward, row);
	if (row == HT_NONE)
		return HT_NONE;
	int64_t number = ht_arg_i64(f->t, "Sequence number", row, -1);
	size_t i = HT_LOWER_BOUND(k, f->n_numbers, (int64_t)f->numbers[k] < number);
	return i < f->n_numbers && (int64_t)f->numbers[i] == number
	               ? ht_around_find(&f->regions, f->with_number[i])
	               : HT_NONE;
}

static enum ht_status add_graph(struct finding *f, uint32_t row, const char *key, size_t n)
{
	const struct ht_trace *t = f->t;
	struct ht_compiled_region fresh = {
		.key = ht_arena_strndup(f->run->scratch, key, n), .row = row, .compile_row = HT_NONE
	};
	const struct ht_compiled_graph *graph;
	if (!fresh.key)
		return ht_fail_nomem(f->run->ctx);
	if (!f->regions.found) {
		HT_TRY(ht_around_init(f->run, t, is_region, t, &f->regions));
		HT_TRY(ht_around_init(f->run, t, is_backward, t, &f->backward));
		HT_TRY(sort_functions(f));
	}
	uint32_t region = ht_around_find(&f->regions, row);
	if (region == HT_NONE) {
		region = region_of_backward(f, row);
		fresh.is_backward = region != HT_NONE;
	}
	HT_TRY(ht_compiled_graph(f->run, &f->calls, fresh.key, &graph));
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
		struct ht_text text;
		if (!ht_pool_add(&f->keys, key, n, ht_hash(key, n), &text))
			return ht_fail_nomem(f->run->ctx);
		if (text.id == f->list.n)
			HT_TRY(add_graph(f, row, key, n));
		struct ht_compiled_region *region =
		        (struct ht_compiled_region *)f->list.data + text.id;
		region->n_calls++;
		ht_sum(&region->cpu_ns, t->dur_ns[row]);
	}
	return HT_OK;
}

static enum ht_status add_gpu_time(struct finding *f)
{
	const struct ht_trace *t = f->t;
	struct ht_compiled_region *list = f->list.data;
	struct ht_around calls;
	if (!f->list.n)
		return HT_OK;
	HT_TRY(ht_around_init(f->run, t, ht_is_compiled_call, t, &calls));
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t launch = t->gpu[i].launch;
		uint32_t around = launch == HT_NONE ? HT_NONE : ht_around_find(&calls, launch);
		size_t n;
		const char *key =
		        around == HT_NONE ? NULL : ht_compiled_key(ht_str(t, t->name[around]), &n);
		const struct ht_text *text =
		        key ? ht_pool_find(&f->keys, key, n, ht_hash(key, n)) : NULL;
		if (text)
			ht_sum(&list[text->id].gpu_ns, t->dur_ns[t->gpu[i].row]);
	}
	return HT_OK;
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

/* Remember an id for a place in the list, where it is new; which place it is for. */
static bool add_id(struct finding *f, const char *id, size_t place, size_t *ret_place)
{
	struct ht_text text;
	size_t n = strlen(id);
	if (!ht_pool_add(&f->ids, id, n, ht_hash(id, n), &text) ||
	        (text.id == f->of_id.n && !HT_VEC_PUSH(f->run->ctx->mem, &f->of_id, size_t, place)))
		return false;
	*ret_place = ((size_t *)f->of_id.data)[text.id];
	return true;
}

static enum ht_status list_ids(struct finding *f)
{
	const struct ht_compiled_region *list = f->list.data;
	for (size_t i = 0, place; i < f->list.n; i++)
		if (!list[i].is_backward && list[i].compile_id &&
		        !add_id(f, list[i].compile_id, i, &place))
			return ht_fail_nomem(f->run->ctx);
	return ht_around_init(f->run, f->t, is_frame, f->t, &f->frames);
}

/* The forward graph of a compile id, made when nothing called it. */
static enum ht_status find_id(
        struct finding *f, const char *id, uint32_t row, struct ht_compiled_region **ret_region)
{
	struct ht_compiled_region fresh = { .compile_id = id, .row = row, .compile_row = HT_NONE };
	size_t place;
	if (!add_id(f, id, f->list.n, &place) ||
	        (place == f->list.n &&
	                !HT_VEC_PUSH(f->run->ctx->mem, &f->list, struct ht_compiled_region, fresh)))
		return ht_fail_nomem(f->run->ctx);
	*ret_region = (struct ht_compiled_region *)f->list.data + place;
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
		if (!f->frames.found)
			HT_TRY(list_ids(f));
		uint32_t around = ht_around_find(&f->frames, row);
		const char *id = id_of(f, name);
		struct ht_compiled_region *region = NULL;
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
	ht_pool_init(&f.keys, run->ctx->mem);
	ht_pool_init(&f.ids, run->ctx->mem);
	enum ht_status status = find_graphs(&f);
	if (status == HT_OK)
		status = add_gpu_time(&f);
	if (status == HT_OK)
		status = find_compilations(&f);
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
	ht_vec_free(run->ctx->mem, &f.of_id, sizeof(size_t));
	ht_pool_done(&f.keys);
	ht_pool_done(&f.ids);
	*ret_list = list;
	*ret_n = n;
	return status;
}
