/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_group.c - the events of a walk in groups, so that SQLite need not sort rows by text.
 *
 * GROUP BY name over millions of rows has some hundred names. The walk is gone through twice: once to number the
 * groups and count their rows, once to put each row where its group is:
 *
 *     row   0 1 2 3 4        count  a 2  b 3        places  a: 0 2   b: 1 3 4
 *     name  b a b b a
 *
 * Groups stand in SQL's order of their values, so this serves ORDER BY as well; rows of a group stand in file order.
 * Rows of a group lie far apart, and each cell would wait for memory. So numbers that the query reads come along when
 * rows are put into place, and the name of a group is looked up once.
 * Eight bytes per row and number. Texts are the same in all ranks: each rank's string ids are mapped to common ones.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/event_table.h"
#include "store/columns.h"

#include "base/intern.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct group {
	int64_t keys[HT_PLAN_GROUPS]; /* numbers, codes, or common ids of texts; HT_NO_I64: null */
	uint64_t n, at;
};

struct grouping {
	struct ht_event_walk *walk;
	struct ht_mem *mem;
	struct ht_text_table texts; /* common ids */
	struct ht_vec of_id;        /* struct ht_text by common id */
	size_t i_rank;              /* whose map this is */
	uint32_t *map;              /* by string id: common id + 1, 0 unknown */
	size_t n_map;
	struct ht_vec groups; /* struct group */
	uint32_t *slots;      /* group + 1 by hash of its keys */
	size_t n_slots;
	uint32_t last; /* group of the last row: the next is often in the same */
	/* where the only key is a text, its common id is its group, and this is that of null */
	bool by_text;
	struct group nameless;
};

static void done(struct grouping *g)
{
	if (g->map)
		ht_mem_free(g->mem, g->map, g->n_map * sizeof *g->map);
	if (g->slots)
		ht_mem_free(g->mem, g->slots, g->n_slots * sizeof *g->slots);
	if (g->texts.slots)
		ht_mem_free(g->mem, g->texts.slots, g->texts.cap * sizeof *g->texts.slots);
	ht_vec_free(g->mem, &g->of_id, sizeof(struct ht_text));
	ht_vec_free(g->mem, &g->groups, sizeof(struct group));
}

/* ---- keys ---- */

static bool start_map(struct grouping *g)
{
	size_t n = g->walk->trace->n_string_offsets + 1;
	if (g->map && g->i_rank == g->walk->i_rank)
		return true;
	if (g->map)
		ht_mem_free(g->mem, g->map, g->n_map * sizeof *g->map);
	g->map = ht_mem_zalloc(g->mem, n * sizeof *g->map);
	g->n_map = n;
	g->i_rank = g->walk->i_rank;
	return g->map != NULL;
}

/* The common id of a text of the rank in hand; false when out of memory. */
static bool common_id(struct grouping *g, uint32_t id, int64_t *ret_id)
{
	const struct ht_trace *t = g->walk->trace;
	if (!start_map(g))
		return false;
	if (!g->map[id]) {
		struct ht_text text = { ht_str(t, id), 0, (uint32_t)ht_str_len(t, id), 0 };
		text.hash = ht_hash(text.bytes, text.n);
		const struct ht_text *known =
		        ht_text_table_find(&g->texts, text.bytes, text.n, text.hash);
		text.id = known ? known->id : (uint32_t)g->of_id.n;
		if (!known && (!HT_VEC_PUSH(g->mem, &g->of_id, struct ht_text, text) ||
		                      !ht_text_table_put(g->mem, &g->texts, &text)))
			return false;
		g->map[id] = text.id + 1;
	}
	*ret_id = g->map[id] - 1;
	return true;
}

static bool is_pooled(uint8_t how)
{
	return how == HT_HOW_NAME || how == HT_HOW_CAT;
}

static bool read_keys(struct grouping *g, int64_t *keys)
{
	const struct ht_event_plan *plan = &g->walk->plan;
	for (size_t i = 0; i < plan->n_groups; i++) {
		keys[i] = ht_event_number(g->walk, (enum ht_event_how)plan->groups[i]);
		if (is_pooled(plan->groups[i]) && keys[i] != HT_NO_I64 &&
		        !common_id(g, (uint32_t)keys[i], &keys[i]))
			return false;
	}
	return true;
}

static uint64_t hash_of(const int64_t *keys, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++)
		hash = ht_hash_mix(hash, (uint64_t)keys[i]);
	return hash;
}

static bool is_same(const struct grouping *g, size_t group, const int64_t *keys)
{
	const struct group *groups = g->groups.data;
	return !memcmp(groups[group].keys, keys, g->walk->plan.n_groups * sizeof *keys);
}

static bool grow_slots(struct grouping *g)
{
	size_t n = g->n_slots ? g->n_slots * 2 : 256, n_groups = g->walk->plan.n_groups;
	uint32_t *slots = ht_mem_zalloc(g->mem, n * sizeof *slots);
	const struct group *groups = g->groups.data;
	if (!slots)
		return false;
	for (size_t i = 0; i < g->groups.n; i++)
		slots[HT_PROBE(at, n, hash_of(groups[i].keys, n_groups), !slots[at])] =
		        (uint32_t)i + 1;
	if (g->slots)
		ht_mem_free(g->mem, g->slots, g->n_slots * sizeof *g->slots);
	g->slots = slots;
	g->n_slots = n;
	return true;
}

/* The same where the only key is a text: its common id is its group. */
static struct group *group_of_text(struct grouping *g, int64_t id)
{
	while (g->groups.n <= (size_t)id) {
		struct group new = { .keys = { (int64_t)g->groups.n } };
		if (!HT_VEC_PUSH(g->mem, &g->groups, struct group, new))
			return NULL;
	}
	return (struct group *)g->groups.data + id;
}

/* The group of the row in hand, new when there is none; NULL when out of memory. */
static struct group *group_of_row(struct grouping *g)
{
	struct group new = { 0 };
	if (!read_keys(g, new.keys))
		return NULL;
	if (g->by_text && new.keys[0] != HT_NO_I64)
		return group_of_text(g, new.keys[0]);
	if (g->by_text)
		return &g->nameless;
	if (g->groups.n && is_same(g, g->last, new.keys))
		return (struct group *)g->groups.data + g->last;
	if (g->groups.n * 2 >= g->n_slots && !grow_slots(g))
		return NULL;
	uint64_t hash = hash_of(new.keys, g->walk->plan.n_groups);
	size_t slot = HT_PROBE(
	        at, g->n_slots, hash, !g->slots[at] || is_same(g, g->slots[at] - 1, new.keys));
	if (!g->slots[slot]) {
		if (!HT_VEC_PUSH(g->mem, &g->groups, struct group, new))
			return NULL;
		g->slots[slot] = (uint32_t)g->groups.n;
	}
	g->last = g->slots[slot] - 1;
	return (struct group *)g->groups.data + g->last;
}

/* ---- order ---- */

struct ranked {
	const struct grouping *grouping;
	size_t group;
};

static int compare_texts(const struct ht_text *a, const struct ht_text *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int order = n ? memcmp(a->bytes, b->bytes, n) : 0;
	return order ? order : (a->n > b->n) - (a->n < b->n);
}

static int compare_keys(const struct grouping *g, uint8_t how, int64_t a, int64_t b)
{
	const struct ht_text *texts = g->of_id.data;
	if (a == b)
		return 0;
	if (a == HT_NO_I64 || b == HT_NO_I64)
		return a == HT_NO_I64 ? -1 : 1;
	switch (how) {
	case HT_HOW_NAME:
	case HT_HOW_CAT: return compare_texts(&texts[a], &texts[b]);
	case HT_HOW_KIND:
		return strcmp(ht_kind_name((enum ht_kind)a), ht_kind_name((enum ht_kind)b));
	case HT_HOW_CLASS:
		return strcmp(ht_class_name((enum ht_class)a), ht_class_name((enum ht_class)b));
	default: return a < b ? -1 : 1;
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	const struct grouping *g = left->grouping;
	const struct group *groups = g->groups.data;
	const struct ht_event_plan *plan = &g->walk->plan;
	for (size_t i = 0; i < plan->n_groups; i++) {
		int order = compare_keys(g, plan->groups[i], groups[left->group].keys[i],
		        groups[right->group].keys[i]);
		if (order)
			return plan->descending[i] ? -order : order;
	}
	return 0;
}

/* Where the rows of a group begin; answers where those of the next do. */
static uint64_t place_one(const struct grouping *g, struct group *group, uint64_t at)
{
	uint64_t n = g->walk->plan.one_each && group->n ? 1 : group->n;
	group->at = at;
	group->n = 0;
	return at + n;
}

/* Where the rows of each group begin; answers how many rows there are, or false. */
static bool place_groups(struct grouping *g, size_t *ret_n)
{
	struct group *groups = g->groups.data;
	size_t n_bytes = (g->groups.n + 1) * sizeof(struct ranked);
	struct ranked *order = ht_mem_alloc(g->mem, n_bytes);
	const struct ht_event_plan *plan = &g->walk->plan;
	uint64_t at = 0;
	if (!order)
		return false;
	if (!plan->descending[0])
		at = place_one(g, &g->nameless, at);
	for (size_t i = 0; i < g->groups.n; i++)
		order[i] = (struct ranked){ g, i };
	if (g->groups.n)
		qsort(order, g->groups.n, sizeof *order, compare_groups);
	for (size_t i = 0; i < g->groups.n; i++)
		at = place_one(g, &groups[order[i].group], at);
	if (plan->descending[0])
		at = place_one(g, &g->nameless, at);
	ht_mem_free(g->mem, order, n_bytes);
	*ret_n = (size_t)at;
	return true;
}

/* ---- both passes ---- */

static int count_rows(struct grouping *g)
{
	int code = ht_event_walk_first(g->walk);
	while (code == SQLITE_OK && !g->walk->is_end) {
		struct group *group = group_of_row(g);
		if (!group)
			return SQLITE_NOMEM;
		group->n++;
		code = ht_event_walk_next(g->walk);
	}
	return code;
}

static void place_row(struct ht_event_walk *w, struct group *group, uint64_t *places)
{
	uint64_t at = group->at + group->n;
	places[at] = (uint64_t)w->i_rank << 32 | w->row | (group->n ? 0 : HT_GROUP_START);
	for (size_t i = 0; i < w->plan.n_carried; i++)
		w->carried[i][at] = ht_event_number(w, (enum ht_event_how)w->plan.carried[i]);
}

static int place_rows(struct grouping *g, uint64_t *places)
{
	struct ht_event_walk *w = g->walk;
	int code = ht_event_walk_first(w);
	while (code == SQLITE_OK && !w->is_end) {
		struct group *group = group_of_row(g);
		if (!group)
			return SQLITE_NOMEM;
		if (!w->plan.one_each || !group->n)
			place_row(w, group, places);
		group->n++;
		code = ht_event_walk_next(w);
	}
	return code;
}

void ht_event_group_forget(struct ht_event_walk *w)
{
	size_t n_bytes = (w->n_grouped + 1) * sizeof *w->grouped;
	for (size_t i = 0; i < HT_PLAN_CARRIED; i++) {
		if (w->carried[i])
			ht_mem_free(w->arena.mem, w->carried[i], n_bytes);
		w->carried[i] = NULL;
	}
	if (w->grouped)
		ht_mem_free(w->arena.mem, w->grouped, n_bytes);
	w->grouped = NULL;
	w->group_name = NULL;
}

/* Room for n rows; false when out of memory, and what there is will be forgotten. */
static bool make_room(struct ht_event_walk *w, size_t n, uint64_t **ret_places)
{
	bool ok = true;
	w->n_grouped = n;
	*ret_places = ht_mem_alloc(w->arena.mem, (n + 1) * sizeof **ret_places);
	for (size_t i = 0; i < w->plan.n_carried; i++) {
		w->carried[i] = ht_mem_alloc(w->arena.mem, (n + 1) * sizeof *w->carried[i]);
		ok &= w->carried[i] != NULL;
	}
	return ok && *ret_places;
}

int ht_event_group(struct ht_event_walk *w)
{
	struct grouping g = { .walk = w, .mem = w->arena.mem };
	uint64_t *places = NULL;
	size_t n = 0;
	g.by_text = w->plan.n_groups == 1 && is_pooled(w->plan.groups[0]);
	int code = count_rows(&g);
	if (code == SQLITE_OK && (!place_groups(&g, &n) || !make_room(w, n, &places)))
		code = SQLITE_NOMEM;
	if (code == SQLITE_OK)
		code = place_rows(&g, places);
	done(&g);
	w->grouped = places;
	w->at_grouped = 0;
	w->is_end = false;
	w->i_rank = SIZE_MAX;
	return code == SQLITE_OK ? ht_event_group_next(w) : code;
}

int ht_event_group_next(struct ht_event_walk *w)
{
	if (w->at_grouped == w->n_grouped) {
		w->is_end = true;
		return SQLITE_OK;
	}
	uint64_t place = w->grouped[w->at_grouped++];
	size_t i_rank = (size_t)((place & ~HT_GROUP_START) >> 32);
	w->row = (uint32_t)place;
	int code = i_rank == w->i_rank ? SQLITE_OK : ht_event_walk_take(w, i_rank);
	if (code != SQLITE_OK || !(place & HT_GROUP_START))
		return code;
	w->group_name = NULL;
	for (size_t i = 0; i < w->plan.n_groups; i++) {
		uint32_t name = w->trace->name[w->row];
		if (w->plan.groups[i] == HT_HOW_NAME && name != HT_NO_STR) {
			w->group_name = ht_str(w->trace, name);
			w->n_group_name = ht_str_len(w->trace, name);
		}
	}
	return SQLITE_OK;
}

#endif
