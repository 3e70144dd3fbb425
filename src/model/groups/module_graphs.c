/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_graphs.c - see module_graphs.h.
 *
 * Paths are texts here: those of a recording have other string ids than the trace. Activities are sorted by that text and the
 * module around the launch, and each path is spelled once however often it ran.
 */
#include "model/groups/module_graphs.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/origin/find_origins.h"
#include "store/columns.h"

#include <string.h>

#define BETWEEN_BYTES (sizeof HT_MODULE_BETWEEN - 1)

const char *ht_module_bare_name(const char *name)
{
	static const char *const marks[] = { "nn.Module: ", "[pl][module]" };
	for (size_t i = 0; i < HT_COUNT(marks); i++)
		if (!strncmp(name, marks[i], strlen(marks[i])))
			return name + strlen(marks[i]);
	return name;
}

/* Launch calls of one name that no module is known of. */
struct calls {
	uint32_t name;
	int64_t n, ns;
};
#define MAX_CALLS 8

struct adder {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_module_places *places;
	struct ht_pooled *pooled;
	struct ht_origins origins;
	struct ht_named_modules named;
	uint8_t *is_counted;  /* by row: a launch without a module that was counted */
	uint32_t *site_texts; /* by site: 1 + its text; 0: not asked for yet */
	struct calls calls[MAX_CALLS];
	int64_t next_order;
	uint64_t *keys; /* text, way and place of activities with a module of their own */
	uint32_t *gpus;
	size_t n;
	int64_t known_ns[HT_N_MODULE_SHARE_COLUMNS];
};

/* The way, between text and place. */
enum {
	RECORDED_BACKWARD = 1, /* the recording has it in the backward pass of the module */
	AROUND_BACKWARD = 2,   /* the table has it there already */
	N_WAY_BITS = 2
};

/* "nn.Module: A / nn.Module: B" as "A / B", below another path or by itself where it begins with that. */
static const char *spell_path(struct ht_arena *arena, const char *around, const char *recorded)
{
	size_t n_around = strlen(around);
	char *text = ht_arena_alloc(arena, n_around + BETWEEN_BYTES + strlen(recorded) + 1);
	size_t n = 0;
	if (!text)
		return NULL;
	for (const char *at = recorded; at;) {
		const char *end = strstr(at, HT_MODULE_BETWEEN), *name = ht_module_bare_name(at);
		size_t n_name = end ? (size_t)(end - name) : strlen(name);
		if (n) {
			memcpy(text + n, HT_MODULE_BETWEEN, BETWEEN_BYTES);
			n += BETWEEN_BYTES;
		}
		memcpy(text + n, name, n_name);
		n += n_name;
		at = end ? end + BETWEEN_BYTES : NULL;
	}
	text[n] = '\0';
	bool begins_with =
	        n_around && !strncmp(text, around, n_around) &&
	        (!text[n_around] || !strncmp(text + n_around, HT_MODULE_BETWEEN, BETWEEN_BYTES));
	if (!n_around || begins_with)
		return text;
	memmove(text + n_around + BETWEEN_BYTES, text, n + 1);
	memcpy(text, around, n_around);
	memcpy(text + n_around, HT_MODULE_BETWEEN, BETWEEN_BYTES);
	return text;
}

/* Add to the group of the first n bytes of a path. */
static bool add_level(struct adder *a, const char *path, size_t n, int64_t depth, __int128 *values)
{
	char *text = ht_arena_strndup(a->run->scratch, path, n);
	const char *name = text;
	size_t group;
	for (const char *at = text; at && (at = strstr(at, HT_MODULE_BETWEEN));)
		name = at += BETWEEN_BYTES;
	if (!text || !ht_pooled_set_text(a->pooled, HT_MODULE_PATH, text) ||
	        !ht_pooled_set_text(a->pooled, HT_MODULE_NAME, name) ||
	        !ht_pooled_group(a->pooled, &group))
		return false;
	values[HT_MODULE_DEPTH] = depth;
	values[HT_MODULE_ORDER] = a->next_order++;
	for (size_t k = 0; k < HT_N_MODULE_VALUES; k++)
		ht_pooled_set(a->pooled, k, values[k]);
	ht_pooled_add(a->pooled, group, 0);
	return true;
}

/* Time under a path, which is inside one of n_around bytes that the table has it under already; n_around 0: it has not. */
static bool move_time(struct adder *a, const char *path, size_t n_around, unsigned way, int64_t ns)
{
	bool was_backward = way & AROUND_BACKWARD, turns = way == RECORDED_BACKWARD;
	size_t from = was_backward ? HT_MODULE_BACKWARD_DEVICE_SELF : HT_MODULE_DEVICE_SELF;
	size_t self = way ? HT_MODULE_BACKWARD_DEVICE_SELF : HT_MODULE_DEVICE_SELF;
	size_t n_path = strlen(path), end = 0;
	for (int64_t depth = 1; end < n_path; depth++) {
		const char *next =
		        strstr(path + end + (end ? BETWEEN_BYTES : 0), HT_MODULE_BETWEEN);
		__int128 values[HT_N_MODULE_VALUES] = { 0 };
		end = next ? (size_t)(next - path) : n_path;
		if (end <= n_around && turns) {
			values[HT_MODULE_DEVICE_TOTAL] -= ns;
			values[HT_MODULE_BACKWARD_DEVICE_TOTAL] += ns;
		} else if (end > n_around) {
			values[self + 1] += ns;
		}
		if (end == n_around)
			values[from] -= ns;
		if (end == n_path)
			values[self] += ns;
		if (!add_level(a, path, end, depth, values))
			return false;
	}
	return true;
}

/* Of no module, recorded or around the launch. */
static void add_call(struct adder *a, uint32_t launch, int64_t ns)
{
	size_t i = 0;
	while (i + 1 < MAX_CALLS && a->calls[i].n && a->calls[i].name != a->t->name[launch])
		i++;
	a->calls[i].name = a->t->name[launch];
	a->calls[i].n += !a->is_counted[launch];
	ht_sum(&a->calls[i].ns, ns);
	a->is_counted[launch] = 1;
}

/* The modules of an activity that the trace does not have around its launch. */
static struct ht_below find_modules(
        const struct adder *a, uint32_t i_gpu, const struct ht_origin *site, bool has_place)
{
	struct ht_below found = { 0 };
	const char *named = ht_named_module(&a->named, i_gpu);
	if (site && site->module)
		return (struct ht_below){ site->module, site->module_via, site->confidence, false };
	if (a->origins.trace)
		found = ht_origin_below(&a->origins, i_gpu);
	if (!found.text && !has_place && named)
		found = (struct ht_below){ named,
			a->named.is_hierarchy ? HT_MODULE_VIA_HIERARCHY : HT_MODULE_VIA_ANNOTATION,
			1, a->named.is_backward[i_gpu] };
	return found;
}

static bool find_text(
        struct adder *a, const char *text, const struct ht_origin *site, uint32_t *ret)
{
	uint32_t *known = site ? &a->site_texts[site - a->origins.sites] : NULL;
	*ret = HT_NONE;
	if (!text || !*text)
		return true;
	if (known && *known) {
		*ret = *known - 1;
		return true;
	}
	if (!ht_pooled_text(a->pooled, text, ret))
		return false;
	if (known)
		*known = *ret + 1;
	return true;
}

/* How its module is known: by what is found, else by what is around its launch. */
static void add_share(
        struct adder *a, const struct ht_below *found, bool has_place, bool is_backward, int64_t ns)
{
	enum ht_module_via via = found         ? found->via
	                         : !has_place  ? HT_MODULE_VIA_NONE
	                         : is_backward ? HT_MODULE_VIA_BACKWARD
	                                       : HT_MODULE_VIA_FRAMES;
	ht_sum(&a->known_ns[found && found->confidence < 1 ? HT_MODULE_ALIGNED_NS
	                    : via                          ? HT_MODULE_EXACT_NS
	                                                   : HT_MODULE_UNKNOWN_NS],
	        ns);
	if (via)
		ht_sum(&a->known_ns[HT_MODULE_BY_NS + via - 1], ns);
}

static bool take_activity(struct adder *a, uint32_t i_gpu)
{
	const struct ht_gpu *gpu = &a->t->gpu[i_gpu];
	bool has_origins = a->origins.trace, is_backward = false;
	const struct ht_origin *site = has_origins ? ht_origin_in_graph(&a->origins, i_gpu) : NULL;
	uint32_t place = a->places->find(a->places->user, i_gpu, &is_backward), text = HT_NONE;
	int64_t ns = a->t->dur_ns[gpu->row];
	struct ht_below found = find_modules(a, i_gpu, site, place != HT_NONE);
	if (!find_text(a, found.text, site, &text))
		return false;
	bool is_recorded = site && site->module;
	add_share(a, text != HT_NONE ? &found : NULL, place != HT_NONE, is_backward, ns);
	if (place == HT_MODULE_STAYS)
		return true;
	/* what a recording has of a graph stays where its backward pass is */
	if (text != HT_NONE && !(is_recorded && is_backward)) {
		unsigned way =
		        (is_backward ? AROUND_BACKWARD : 0) |
		        ((is_recorded && site->is_backward) || found.is_backward ? RECORDED_BACKWARD
		                                                                 : 0);
		a->keys[a->n] = ((uint64_t)text << N_WAY_BITS | way) << 32 | place;
		a->gpus[a->n++] = i_gpu;
	} else if (place == HT_NONE && gpu->launch != HT_NONE && has_origins &&
	           a->origins.of_graph && a->origins.of_graph[i_gpu]) {
		add_call(a, gpu->launch, ns);
	}
	return true;
}

static bool add_sites(struct adder *a)
{
	for (size_t i = 0, end; i < a->n; i = end) {
		uint32_t place = (uint32_t)a->keys[i],
		         text = (uint32_t)(a->keys[i] >> (32 + N_WAY_BITS));
		unsigned way = (unsigned)(a->keys[i] >> 32) & ((1u << N_WAY_BITS) - 1);
		int64_t ns = 0;
		for (end = i; end < a->n && a->keys[end] == a->keys[i]; end++)
			ht_sum(&ns, a->t->dur_ns[a->t->gpu[a->gpus[end]].row]);
		const char *around =
		        place == HT_NONE ? "" : a->places->spell(a->places->user, place);
		const char *path = around ? spell_path(a->run->scratch, around,
		                                    ht_pooled_text_at(a->pooled, text))
		                          : NULL;
		if (!path || !move_time(a, path, strlen(around), way, ns))
			return false;
	}
	for (size_t i = 0; i < MAX_CALLS && a->calls[i].n; i++) {
		const char *name = ht_str(a->t, a->calls[i].name);
		__int128 values[HT_N_MODULE_VALUES] = { [HT_MODULE_CALLS] = a->calls[i].n,
			[HT_MODULE_DEVICE_SELF] = a->calls[i].ns,
			[HT_MODULE_DEVICE_TOTAL] = a->calls[i].ns };
		if (!add_level(a, name, strlen(name), 1, values))
			return false;
	}
	return true;
}

static enum ht_status take_all(struct adder *a, const struct ht_frame *frame)
{
	struct ht_arena *scratch = a->run->scratch;
	if (ht_origins_deepen(a->run))
		HT_TRY(ht_origins_make(a->run, false, &a->origins));
	HT_TRY(ht_named_modules_make(a->run, a->places->has_modules, &a->named));
	/* beside calls of modules, an optimizer is none */
	if (a->places->has_modules && !a->named.is_hierarchy)
		a->named.texts = NULL;
	a->is_counted = ht_arena_alloc(scratch, ht_n_events(a->t) + (size_t)1);
	a->site_texts = ht_arena_alloc(scratch, (a->origins.n_sites + 1) * sizeof *a->site_texts);
	a->keys = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *a->keys);
	a->gpus = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *a->gpus);
	bool ok = a->is_counted && a->site_texts && a->keys && a->gpus;
	for (size_t i = 0; ok && i < frame->n_gpu; i++)
		ok = take_activity(a, frame->gpu[i]);
	ok = ok && ht_sort_keys(a->run->ctx->mem, a->keys, a->gpus, a->n) && add_sites(a);
	return ok ? HT_OK : ht_fail_nomem(a->run->ctx);
}

enum ht_status ht_module_graphs_add(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_module_places *places, struct ht_pooled *pooled, ht_table *shares)
{
	struct adder a = { .run = run,
		.t = run->trace,
		.places = places,
		.pooled = pooled,
		.next_order = (int64_t)1 << 32 };
	HT_TRY(take_all(&a, frame));
	if (!shares)
		return HT_OK;
	ht_table_row(shares);
	for (size_t k = 0; k < HT_N_MODULE_SHARE_COLUMNS; k++)
		ht_table_put_i64(shares, k, a.known_ns[k]);
	return HT_OK;
}
