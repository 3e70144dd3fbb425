/*
 * row_names.c - see row_names.h.
 */
#include "model/rows/row_names.h"
#include "model/rows/work_names.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

/* A name under a parent (paths) or with a shape, in a place. */
struct node {
	uint32_t parent; /* HT_NONE */
	uint32_t name;   /* id in the pool of texts */
	uint32_t shape;  /* likewise, HT_NONE */
	uint32_t place;
};

#define UNKNOWN (UINT32_MAX - 1)
/* Of a path with more than 16 names the 8 outermost and the 8 innermost are spelled: all paths together could be
 * as long as the square of the file. */
#define HALF 8

/* What spelling needs to know of a node's path. */
struct path {
	uint32_t n;    /* names, its own included */
	uint32_t head; /* the node with the first HALF of them, itself when there are fewer */
	uint64_t hash; /* of all of them */
};

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
	ht_vec_free(names->run->ctx->mem, &names->paths, sizeof(struct path));
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
		const char *text = ht_str(names->trace, name);
		if (names->short_names)
			text = ht_name_shorten(names->run, text);
		if (!text || !add_text(names, text, &names->text_of[name]))
			return false;
	}
	*ret_id = names->text_of[name];
	return true;
}

/* Parents have been added before their children. */
static struct path path_of(
        const struct ht_row_names *names, const struct node *node, uint32_t number)
{
	const struct ht_text *texts = names->texts.texts.data;
	const struct path *paths = names->paths.data;
	struct path outer = { 0 };
	if (node->parent != HT_NONE)
		outer = paths[node->parent];
	return (struct path){ outer.n + 1, outer.n < HALF ? number : outer.head,
		ht_hash_mix(outer.hash, texts[node->name].hash) };
}

static bool add_node(struct ht_row_names *names, struct node key, uint32_t *ret_number)
{
	struct ht_text added;
	if (!ht_pool_add(&names->nodes, (const char *)&key, sizeof key, ht_hash(&key, sizeof key),
	            &added))
		return false;
	if (names->paths.n == added.id && !HT_VEC_PUSH(names->run->ctx->mem, &names->paths,
	                                          struct path, path_of(names, &key, added.id)))
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

/* Copy a text in front of end; returns its start. */
static char *put_before(const struct ht_row_names *names, char *end, uint32_t text)
{
	const struct ht_text *texts = names->texts.texts.data;
	return memcpy(end - texts[text].n, texts[text].bytes, texts[text].n);
}

/* The nodes whose names are spelled, innermost first. Returns how many; in ret_middle what stands for those left
 * out, between the innermost HALF and the rest: "" for none. */
static size_t choose_names(const struct ht_row_names *names, uint32_t number, uint32_t *nodes,
        char *ret_middle, size_t n_middle)
{
	const struct path *paths = names->paths.data;
	size_t n = 0;
	uint32_t at = number;
	bool cut = paths[number].n > 2 * HALF;
	for (; at != HT_NONE && n < (cut ? HALF : 2 * HALF); at = node_at(names, at).parent)
		nodes[n++] = at;
	*ret_middle = 0;
	if (!cut)
		return n;
	/* the hash keeps paths apart that differ only in what is left out */
	snprintf(ret_middle, n_middle, "… %u more, %08x …", paths[number].n - 2 * HALF,
	        (unsigned)paths[at].hash);
	for (at = paths[number].head; at != HT_NONE; at = node_at(names, at).parent)
		nodes[n++] = at;
	return n;
}

const char *ht_row_names_text(struct ht_row_names *names, uint32_t number)
{
	const struct ht_text *texts = names->texts.texts.data;
	struct node node = node_at(names, number);
	uint32_t nodes[2 * HALF];
	char middle[48];
	size_t n_names = choose_names(names, number, nodes, middle, sizeof middle);
	size_t n = 4 + strlen(middle) + (node.shape == HT_NONE ? 0 : texts[node.shape].n + 1);
	for (size_t k = 0; k < n_names; k++)
		n += texts[node_at(names, nodes[k]).name].n + 3;
	names->room.n = 0;
	if (!ht_vec_reserve(names->run->ctx->mem, &names->room, 1, n))
		return NULL;
	char *text = (char *)names->room.data + n - 1;
	*text = '\0';
	if (node.shape != HT_NONE) {
		text = put_before(names, text, node.shape);
		*--text = ' ';
	}
	for (size_t k = 0; k < n_names; k++) {
		if (k)
			text = memcpy(text - 3, " / ", 3);
		if (k == HALF && *middle) {
			text = memcpy(text - strlen(middle), middle, strlen(middle));
			text = memcpy(text - 3, " / ", 3);
		}
		text = put_before(names, text, node_at(names, nodes[k]).name);
	}
	return text;
}
