/*
 * module_graphs.c - see module_graphs.h.
 *
 * Paths are texts here: those of a recording have other string ids than the trace. Replays of one kind share their sites, so
 * activities are sorted by site and module around the launch, and each path is spelled once however often it ran.
 */
#include "model/groups/module_graphs.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/origin/origin.h"

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
	uint8_t *is_counted; /* by row: a launch without a module that was counted */
	struct calls calls[MAX_CALLS];
	int64_t next_order;
	uint64_t *keys; /* site and place of activities with a module */
	uint32_t *gpus;
	size_t n;
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
	uint32_t texts[HT_N_MODULE_KEYS];
	size_t group;
	for (const char *at = text; at && (at = strstr(at, HT_MODULE_BETWEEN));)
		name = at += BETWEEN_BYTES;
	if (!text || !ht_pooled_text(a->pooled, text, &texts[HT_MODULE_PATH]) ||
	        !ht_pooled_text(a->pooled, name, &texts[HT_MODULE_NAME]) ||
	        !ht_pooled_group(a->pooled, texts, &group))
		return false;
	values[HT_MODULE_DEPTH] = depth;
	values[HT_MODULE_ORDER] = a->next_order++;
	ht_pooled_add(a->pooled, group, 0, values);
	return true;
}

/* Time under a path, which is inside one of n_around bytes that the table has it under already; n_around 0: it has not. */
static bool move_time(
        struct adder *a, const char *path, size_t n_around, bool is_backward, int64_t ns)
{
	size_t self = is_backward ? HT_MODULE_BACKWARD_DEVICE_SELF : HT_MODULE_DEVICE_SELF;
	size_t n_path = strlen(path), end = 0;
	for (int64_t depth = 1; end < n_path; depth++) {
		const char *next =
		        strstr(path + end + (end ? BETWEEN_BYTES : 0), HT_MODULE_BETWEEN);
		__int128 values[HT_N_MODULE_VALUES] = { 0 };
		end = next ? (size_t)(next - path) : n_path;
		if (end <= n_around && is_backward) {
			values[HT_MODULE_DEVICE_TOTAL] -= ns;
			values[HT_MODULE_BACKWARD_DEVICE_TOTAL] += ns;
		} else if (end > n_around) {
			values[self + 1] += ns;
		}
		if (end == n_around)
			values[HT_MODULE_DEVICE_SELF] -= ns;
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

static void take_activity(struct adder *a, uint32_t i_gpu)
{
	const struct ht_gpu *gpu = &a->t->gpu[i_gpu];
	const struct ht_origin *site = ht_origin_in_graph(&a->origins, i_gpu);
	uint32_t place = a->places->find(a->places->user, i_gpu);
	if (place == HT_MODULE_STAYS)
		return;
	if (site && site->module) {
		a->keys[a->n] = (uint64_t)(site - a->origins.sites) << 32 | place;
		a->gpus[a->n++] = i_gpu;
	} else if (place == HT_NONE && gpu->launch != HT_NONE) {
		add_call(a, gpu->launch, a->t->dur_ns[gpu->row]);
	}
}

static bool add_sites(struct adder *a)
{
	for (size_t i = 0, end; i < a->n; i = end) {
		const struct ht_origin *site = &a->origins.sites[a->keys[i] >> 32];
		uint32_t place = (uint32_t)a->keys[i];
		int64_t ns = 0;
		for (end = i; end < a->n && a->keys[end] == a->keys[i]; end++)
			ht_sum(&ns, a->t->dur_ns[a->t->gpu[a->gpus[end]].row]);
		const char *around =
		        place == HT_NONE ? "" : a->places->spell(a->places->user, place);
		const char *path =
		        around ? spell_path(a->run->scratch, around, site->module) : NULL;
		if (!path || !move_time(a, path, strlen(around), site->is_backward, ns))
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

enum ht_status ht_module_graphs_add(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_module_places *places, struct ht_pooled *pooled)
{
	struct ht_arena *scratch = run->scratch;
	struct adder a = { .run = run,
		.t = run->trace,
		.places = places,
		.pooled = pooled,
		.next_order = (int64_t)1 << 32 };
	if (!ht_has_graph_launches(a.t))
		return HT_OK;
	HT_TRY(ht_origins_make(run, false, &a.origins));
	a.is_counted = ht_arena_alloc(scratch, ht_n_events(a.t) + (size_t)1);
	a.keys = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *a.keys);
	a.gpus = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *a.gpus);
	if (!a.is_counted || !a.keys || !a.gpus)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_gpu; i++)
		if (a.origins.of_graph[frame->gpu[i]])
			take_activity(&a, frame->gpu[i]);
	return ht_sort_keys(run->ctx->mem, a.keys, a.gpus, a.n) && add_sites(&a)
	               ? HT_OK
	               : ht_fail_nomem(run->ctx);
}
