/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_names.c - see row_names.h.
 */
#include "model/rows/row_names.h"
#include "model/rows/work_names.h"
#include "base/hash.h"
#include "store/args.h"

#include <string.h>

/* A name under a parent (paths) or with a shape, in a place. */
struct node {
	uint32_t parent; /* HT_NONE */
	uint32_t name;   /* id in the pool of texts */
	uint32_t shape;  /* likewise, HT_NONE */
	uint32_t place;
};

#define UNKNOWN (UINT32_MAX - 1)

/* n ids, each of that value; NULL when out of memory. */
static uint32_t *fill(struct ht_run *run, size_t n, uint32_t value)
{
	uint32_t *ids = ht_arena_alloc(run->scratch, n * sizeof *ids);
	for (size_t i = 0; ids && i < n; i++)
		ids[i] = value;
	return ids;
}

enum ht_status ht_row_names_init(struct ht_run *run, const struct ht_autograd *autograd,
        enum ht_row_names_by by, bool short_names, struct ht_row_names *ret_names)
{
	struct ht_row_names *names = ret_names;
	*names = (struct ht_row_names){
		.run = run, .trace = run->trace, .by = by, .short_names = short_names
	};
	ht_pool_init(&names->texts, run->ctx->mem);
	ht_pool_init(&names->nodes, run->ctx->mem);
	size_t n_strings = run->trace->n_string_offsets + 1;
	size_t n_rows = by == HT_BY_PATH ? run->trace->n_kind + 1 : 1;
	names->parent = autograd->parent;
	names->text_of = fill(run, n_strings, HT_NONE);
	names->context_of = fill(run, n_rows, UNKNOWN);
	names->way = fill(run, n_rows, 0);
	bool ok = names->text_of && names->context_of && names->way;
	for (size_t i = 0; i < HT_N_PLACES; i++) {
		names->node_of[i] = fill(run, by == HT_BY_NAME ? n_strings : 1, HT_NONE);
		ok = ok && names->node_of[i];
	}
	return ok ? HT_OK : ht_fail_nomem(run->ctx);
}

void ht_row_names_done(struct ht_row_names *names)
{
	ht_vec_free(names->run->ctx->mem, &names->room, 1);
	ht_pool_done(&names->nodes);
	ht_pool_done(&names->texts);
}

bool ht_is_step_name(const char *name)
{
	return strncmp(name, "ProfilerStep", 12) == 0;
}

/* ---- numbers ---- */

static bool add_text(struct ht_row_names *names, const char *text, uint32_t *ret_id)
{
	struct ht_text added;
	size_t n = strlen(text);
	if (!ht_pool_add(&names->texts, text, n, ht_hash(text, n), &added))
		return false;
	*ret_id = added.id;
	return true;
}

static bool text_of_name(struct ht_row_names *names, uint32_t name, uint32_t *ret_id)
{
	if (name == HT_NO_STR)
		return add_text(names, "", ret_id);
	if (names->text_of[name] == HT_NONE) {
		const char *text = ht_name_common(names->run->scratch, ht_str(names->trace, name));
		if (text && names->short_names)
			text = ht_name_shorten(names->run, text);
		if (!text || !add_text(names, text, &names->text_of[name]))
			return false;
	}
	*ret_id = names->text_of[name];
	return true;
}

static bool add_node(struct ht_row_names *names, struct node key, uint32_t *ret_number)
{
	struct ht_text added;
	if (!ht_pool_add(&names->nodes, (const char *)&key, sizeof key, ht_hash(&key, sizeof key),
	            &added))
		return false;
	*ret_number = added.id;
	return true;
}

/* Rows that appear in paths: operators and annotations. */
static bool is_on_path(const struct ht_trace *trace, uint32_t row)
{
	if (trace->kind[row] == HT_KIND_CPU_OP)
		return true;
	return trace->kind[row] == HT_KIND_ANNOTATION &&
	       !ht_is_step_name(ht_str(trace, trace->name[row]));
}

/* The number that the children of a row hang under. */
static bool context(struct ht_row_names *names, uint32_t row, uint32_t *ret_number)
{
	const struct ht_trace *trace = names->trace;
	size_t n_way = 0;
	while (row != HT_NONE && names->context_of[row] == UNKNOWN) {
		names->way[n_way++] = row;
		row = names->parent[row];
	}
	uint32_t number = row == HT_NONE ? HT_NONE : names->context_of[row];
	while (n_way) {
		row = names->way[--n_way];
		struct node key = { .parent = number, .shape = HT_NONE, .place = HT_PLACE_CPU };
		if (is_on_path(trace, row) && (!text_of_name(names, trace->name[row], &key.name) ||
		                                      !add_node(names, key, &number)))
			return false;
		names->context_of[row] = number;
	}
	*ret_number = number;
	return true;
}

static bool make_node(
        struct ht_row_names *names, uint32_t row, enum ht_place place, uint32_t *ret_number)
{
	const struct ht_trace *trace = names->trace;
	struct node key = { .parent = HT_NONE, .shape = HT_NONE, .place = place };
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(trace->kind[row]) && names->by != HT_BY_NAME
	                                   ? ht_gpu_of_row(trace, row)
	                                   : NULL;
	if (names->by == HT_BY_PATH &&
	        !context(names, gpu ? gpu->launch : names->parent[row], &key.parent))
		return false;
	if (names->by == HT_BY_SHAPE) {
		uint32_t op = gpu ? gpu->op : row;
		const char *shape = op == HT_NONE ? NULL : ht_arg_str(trace, "Input Dims", op);
		if (shape && !add_text(names, shape, &key.shape))
			return false;
	}
	return text_of_name(names, trace->name[row], &key.name) && add_node(names, key, ret_number);
}

bool ht_row_names_number(
        struct ht_row_names *names, uint32_t row, enum ht_place place, uint32_t *ret_number)
{
	uint32_t name = names->trace->name[row];
	if (names->by != HT_BY_NAME || name == HT_NO_STR)
		return make_node(names, row, place, ret_number);
	uint32_t *known = &names->node_of[place][name];
	if (*known == HT_NONE && !make_node(names, row, place, known))
		return false;
	*ret_number = *known;
	return true;
}

bool ht_row_names_extra(
        struct ht_row_names *names, const char *text, enum ht_place place, uint32_t *ret_number)
{
	struct node key = { .parent = HT_NONE, .shape = HT_NONE, .place = place };
	return add_text(names, text, &key.name) && add_node(names, key, ret_number);
}

/* ---- texts ---- */

static struct node node_at(const struct ht_row_names *names, uint32_t number)
{
	struct node node;
	memcpy(&node, ((const struct ht_text *)names->nodes.texts.data)[number].bytes, sizeof node);
	return node;
}

enum ht_place ht_row_names_place(const struct ht_row_names *names, uint32_t number)
{
	return (enum ht_place)node_at(names, number).place;
}

size_t ht_row_names_n(const struct ht_row_names *names)
{
	return names->nodes.texts.n;
}

static const struct ht_text *text_at(const struct ht_row_names *names, uint32_t text)
{
	return (const struct ht_text *)names->texts.texts.data + text;
}

struct ht_row_path ht_row_names_path(const struct ht_row_names *names, uint32_t number)
{
	struct node node = node_at(names, number);
	return (struct ht_row_path){ node.parent, text_at(names, node.name)->bytes };
}

const char *ht_row_names_text(struct ht_row_names *names, uint32_t number)
{
	struct node node = node_at(names, number);
	const struct ht_text *name = text_at(names, node.name);
	if (node.shape == HT_NONE)
		return name->bytes;
	const struct ht_text *shape = text_at(names, node.shape);
	names->room.n = 0;
	if (!ht_vec_reserve(names->run->ctx->mem, &names->room, 1, (size_t)name->n + shape->n + 2))
		return NULL;
	char *text = names->room.data;
	memcpy(text, name->bytes, name->n);
	text[name->n] = ' ';
	memcpy(text + name->n + 1, shape->bytes, (size_t)shape->n + 1);
	return text;
}
