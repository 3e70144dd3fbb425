/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_groups.c - see et_groups.h.
 */
#include "et/et_groups.h"

#include "base/hash.h"
#include "et/et_args.h"
#include "json/json_text.h"

#include <string.h>

bool ht_et_is_group_init(const struct ht_et *et, uint32_t row)
{
	return strstr(ht_et_str(et, ht_et_nodes(et)[row].name), "process_group:init") != NULL;
}

char *ht_et_decode(struct ht_arena *arena, const char *text, size_t n)
{
	size_t n_bad;
	if (!text || n < 2 || text[0] != '"' || text[n - 1] != '"')
		return NULL;
	char *out = ht_arena_alloc(arena, 3 * n);
	if (out)
		out[ht_json_decode(text + 1, n - 2, out, &n_bad)] = '\0';
	return out;
}

static char *member(struct ht_arena *arena, const struct ht_json_value *object, const char *key)
{
	struct ht_json_value value = ht_json_get(object, key);
	if (value.type == HT_JSON_STRING)
		return ht_et_decode(arena, value.text, value.n);
	return value.type == HT_JSON_END ? NULL : ht_arena_strndup(arena, value.text, value.n);
}

static int64_t number(const struct ht_json_value *object, const char *key)
{
	struct ht_json_value value = ht_json_get(object, key);
	int64_t n;
	return value.type != HT_JSON_END && ht_json_i64(&value, &n) ? n : -1;
}

struct finding {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_et_groups groups;
	struct ht_vec list; /* struct ht_et_group */
};

static enum ht_status add_group(struct finding *f, const struct ht_json_value *object, uint32_t row)
{
	struct ht_et_group group = { .name = member(f->arena, object, "pg_name"),
		.description = member(f->arena, object, "pg_desc"),
		.backend = member(f->arena, object, "backend_config"),
		.ranks = member(f->arena, object, "ranks"),
		.size = number(object, "group_size"),
		.count = number(object, "group_count"),
		.node = row };
	return HT_VEC_PUSH(f->ctx->mem, &f->list, struct ht_et_group, group)
	               ? HT_OK
	               : ht_fail_nomem(f->ctx);
}

/* The first input of the node as JSON text, decoded; NULL when it is no string. */
static const char *declaration(struct finding *f, const struct ht_et *et, uint32_t row)
{
	struct ht_et_list list = ht_et_list(ht_et_str(et, ht_et_nodes(et)[row].in.values));
	struct ht_et_piece piece;
	return ht_et_list_next(&list, &piece) ? ht_et_decode(f->arena, piece.text, piece.n) : NULL;
}

static enum ht_status add_node(struct finding *f, const struct ht_et *et, uint32_t row)
{
	const char *text = declaration(f, et, row);
	struct ht_json_value list, object;
	if (!text || !ht_json_valid(text, strlen(text))) {
		if (!f->groups.n_bad++)
			f->groups.first_bad = row;
		return HT_OK;
	}
	struct ht_json reader = { text };
	list = ht_json_next(&reader);
	if (list.type != HT_JSON_ARRAY)
		return HT_OK;
	reader = ht_json_enter(&list);
	while (ht_json_element(&reader, &object))
		if (object.type == HT_JSON_OBJECT)
			HT_TRY(add_group(f, &object, row));
	return HT_OK;
}

static struct ht_et_group_slot *slot_of(const struct ht_et_groups *groups, const char *name)
{
	const struct ht_et_group_slot *slots = groups->slots;
	return &groups->slots[HT_PROBE(at, groups->n_slots, ht_hash(name, strlen(name)),
	        !slots[at].first_1 || !strcmp(groups->list[slots[at].first_1 - 1].name, name))];
}

/* Traces of large jobs have thousands of groups. */
static bool index_names(struct ht_et_groups *groups, struct ht_arena *arena)
{
	for (groups->n_slots = 16; groups->n_slots < 2 * groups->n;)
		groups->n_slots *= 2;
	groups->slots = ht_arena_alloc(arena, groups->n_slots * sizeof *groups->slots);
	if (!groups->slots)
		return false;
	for (uint32_t i = 0; i < groups->n; i++) {
		struct ht_et_group *group = &groups->list[i];
		if (!group->name)
			continue;
		struct ht_et_group_slot *slot = slot_of(groups, group->name);
		group->is_repeated =
		        slot->first_1 && groups->list[slot->last_1 - 1].node == group->node;
		slot->last_1 = i + 1;
		if (!slot->first_1)
			slot->first_1 = i + 1;
	}
	return true;
}

enum ht_status ht_et_groups_find(ht_ctx *ctx, const struct ht_et *et, struct ht_arena *arena,
        struct ht_et_groups *ret_groups)
{
	struct finding f = { .ctx = ctx, .arena = arena };
	enum ht_status status = HT_OK;
	for (uint32_t row = 0; row < ht_et_n(et) && status == HT_OK; row++)
		if (ht_et_is_group_init(et, row))
			status = add_node(&f, et, row);
	size_t n_bytes = f.list.n * sizeof(struct ht_et_group);
	f.groups.list = ht_arena_alloc(arena, n_bytes + 1);
	if (status == HT_OK && !f.groups.list)
		status = ht_fail_nomem(ctx);
	if (status == HT_OK) {
		if (n_bytes)
			memcpy(f.groups.list, f.list.data, n_bytes);
		f.groups.n = f.list.n;
		if (!index_names(&f.groups, arena))
			status = ht_fail_nomem(ctx);
		*ret_groups = f.groups;
	}
	ht_vec_free(ctx->mem, &f.list, sizeof(struct ht_et_group));
	return status;
}

const struct ht_et_group *ht_et_group_of(const struct ht_et_groups *groups, const char *name)
{
	uint32_t first_1 = slot_of(groups, name)->first_1;
	return first_1 ? &groups->list[first_1 - 1] : NULL;
}
