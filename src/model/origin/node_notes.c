/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_notes.c - see node_notes.h.
 */
#include "model/origin/node_notes.h"

#include "attach/kind.h"
#include "base/mem.h"
#include "base/search.h"
#include "json/json_text.h"
#include "model/origin/parameters.h"
#include "store/args.h"

#include <stdlib.h>
#include <string.h>

/* A decimal id of 64 bits; false for another text. */
static bool read_id(const char *text, size_t n, uint64_t *ret_id)
{
	uint64_t id = 0;
	if (!n || n > 20)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned)(text[i] - '0');
		if (digit > 9 || id > (UINT64_MAX - digit) / 10)
			return false;
		id = id * 10 + digit;
	}
	*ret_id = id;
	return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r\n", *at))
		at++;
	return at;
}

bool ht_node_notes_sniff(const char *text, size_t n)
{
	const char *end = text + n, *at = skip_blanks(text, end);
	uint64_t id;
	if (at == end || *at != '{')
		return false;
	at = skip_blanks(at + 1, end);
	const char *quote =
	        at < end && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at - 1)) : NULL;
	if (!quote || !read_id(at + 1, (size_t)(quote - at - 1), &id))
		return false;
	at = skip_blanks(quote + 1, end);
	if (at == end || *at != ':')
		return false;
	at = skip_blanks(at + 1, end);
	if (at == end || *at != '[')
		return false;
	at = skip_blanks(at + 1, end);
	return at < end && (*at == '{' || *at == ']');
}

static bool keep(struct ht_node_notes *notes, const struct ht_json_value *value, const char **text)
{
	size_t bad;
	if (value->type != HT_JSON_STRING || value->n < 2)
		return true;
	/* an escape that is none becomes three bytes */
	char *room = ht_arena_room(&notes->arena, 3 * value->n);
	if (room)
		room[ht_json_decode(value->text + 1, value->n - 2, room, &bad)] = '\0';
	*text = room;
	return room;
}

static bool add_node(struct ht_node_notes *notes, uint64_t id, const struct ht_json_value *list)
{
	struct ht_node_note note = { .id = id, .place = notes->list.n };
	struct ht_json reader = ht_json_enter(list);
	struct ht_json_value dictionary;
	while (ht_json_element(&reader, &dictionary)) {
		if (dictionary.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value name = ht_json_get(&dictionary, "name"),
		                     module = ht_json_get(&dictionary, "module_fqn");
		if (!keep(notes, &name, &note.name) || !keep(notes, &module, &note.module))
			return false;
	}
	return HT_VEC_PUSH(notes->mem, &notes->list, struct ht_node_note, note);
}

static int by_id(const void *left, const void *right)
{
	const struct ht_node_note *a = left, *b = right;
	return a->id != b->id ? (a->id > b->id) - (a->id < b->id)
	                      : (a->place > b->place) - (a->place < b->place);
}

enum ht_status ht_node_notes_read(
        ht_ctx *ctx, const char *path, const char *text, size_t n, struct ht_node_notes **ret)
{
	struct ht_json reader = { text };
	if (!ht_json_valid(text, n))
		return ht_fail(ctx, HT_FORMAT, path, -1, "save the annotations again",
		        "kernel annotations that are no JSON");
	struct ht_node_notes *notes = ht_mem_zalloc(ctx->mem, sizeof *notes);
	if (!notes)
		return ht_fail_nomem(ctx);
	notes->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&notes->arena, notes->mem);
	struct ht_json_value all = ht_json_next(&reader), key, value;
	bool ok = true;
	if (all.type == HT_JSON_OBJECT) {
		reader = ht_json_enter(&all);
		while (ok && ht_json_member(&reader, &key, &value)) {
			uint64_t id;
			if (value.type == HT_JSON_ARRAY && read_id(key.text, key.n, &id))
				ok = add_node(notes, id, &value);
		}
	}
	if (!ok) {
		ht_node_notes_free(notes);
		return ht_fail_nomem(ctx);
	}
	if (notes->list.n)
		qsort(notes->list.data, notes->list.n, sizeof(struct ht_node_note), by_id);
	*ret = notes;
	return HT_OK;
}

void ht_node_notes_free(struct ht_node_notes *notes)
{
	if (!notes)
		return;
	struct ht_mem *mem = notes->mem;
	ht_vec_free(mem, &notes->list, sizeof(struct ht_node_note));
	ht_arena_done(&notes->arena);
	ht_mem_free(mem, notes, sizeof *notes);
	ht_mem_release(mem);
}

const struct ht_node_note *ht_node_notes_find(const struct ht_node_notes *notes, uint64_t id)
{
	const struct ht_node_note *list = notes->list.data;
	size_t end = HT_LOWER_BOUND(i, notes->list.n, list[i].id <= id);
	return end && list[end - 1].id == id ? &list[end - 1] : NULL;
}

/* ---- over what is known ---- */

/* The last site that an annotation was put over; replays of a graph repeat it. The path of its module is one text for all
 * sites, as those can be as many as the kernels of the trace. */
struct over {
	uint32_t under, site;
	bool is_set;
	const char *path;
};

struct applying {
	struct ht_run *run;
	uint32_t *site;
	uint8_t *of_graph;
	struct ht_vec *sites;
};

static bool put_over(
        struct applying *a, size_t i_gpu, const char *name, const char *module, struct over *over)
{
	uint32_t under = a->site[i_gpu];
	a->of_graph[i_gpu] = 1;
	if (!over->is_set || over->under != under) {
		struct ht_origin origin = { .method = HT_ORIGIN_NONE };
		if (under != HT_NONE)
			origin = ((struct ht_origin *)a->sites->data)[under];
		if (origin.method == HT_ORIGIN_NONE) {
			origin = (struct ht_origin){ .op = name, .op_row = (uint32_t)a->sites->n };
			origin.starts_call = name != NULL;
		}
		origin.method = HT_ORIGIN_ANNOTATION;
		origin.confidence = 1;
		if (module) {
			if (!over->path)
				over->path = ht_fqn_path(a->run->scratch, module);
			origin.module = over->path;
			origin.module_via = HT_MODULE_VIA_FQN;
			origin.is_backward = false;
		}
		*over = (struct over){ under, (uint32_t)a->sites->n, true, over->path };
		if ((module && !origin.module) ||
		        !HT_VEC_PUSH(a->run->ctx->mem, a->sites, struct ht_origin, origin))
			return false;
	}
	a->site[i_gpu] = over->site;
	return true;
}

static enum ht_status apply_notes(
        struct applying *a, const struct ht_node_notes *notes, uint64_t *n_matched)
{
	const struct ht_trace *t = a->run->trace;
	struct ht_arg_cursor ids = ht_arg_cursor(t, "graph node id");
	struct over *overs = ht_arena_alloc(a->run->scratch, (notes->list.n + 1) * sizeof *overs);
	if (!overs)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		int64_t id = ht_arg_cursor_i64(&ids, t->gpu[i].row, 0);
		const struct ht_node_note *note =
		        id ? ht_node_notes_find(notes, (uint64_t)id) : NULL;
		if (!note || (!note->name && !note->module))
			continue;
		++*n_matched;
		size_t at = (size_t)(note - (const struct ht_node_note *)notes->list.data);
		if (!put_over(a, i, note->name, note->module, &overs[at]))
			return ht_fail_nomem(a->run->ctx);
	}
	return HT_OK;
}

/* Annotations that the exporter has merged into the events. */
static enum ht_status apply_own(struct applying *a)
{
	const struct ht_trace *t = a->run->trace;
	struct ht_arg_cursor modules = ht_arg_cursor(t, "module_fqn");
	struct ht_arg_cursor ids = ht_arg_cursor(t, "graph node id");
	struct over *overs =
	        ht_arena_alloc(a->run->scratch, (t->n_string_offsets + 1) * sizeof *overs);
	if (!overs)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		/* kernels that calls of their own launched have an operator, and modules around it */
		bool of_graph = a->of_graph[i] || ht_arg_cursor_i64(&ids, t->gpu[i].row, 0) != 0;
		const char *module = of_graph ? ht_arg_cursor_str(&modules, t->gpu[i].row) : NULL;
		uint32_t id = module ? ht_str_find(t, module) : HT_NO_STR;
		if (id != HT_NO_STR && *module && !put_over(a, i, NULL, module, &overs[id]))
			return ht_fail_nomem(a->run->ctx);
	}
	return HT_OK;
}

bool ht_node_notes_any(struct ht_run *run)
{
	size_t at = 0;
	return ht_attached_next(
	               run->attached, &ht_attach_kind_kernel_annotations, run->rank, &at) ||
	       ht_str_find(run->trace, "module_fqn") != HT_NO_STR;
}

enum ht_status ht_node_notes_apply(struct ht_run *run, uint32_t *site, uint8_t *of_graph,
        struct ht_vec *sites, uint64_t *n_matched)
{
	struct applying a = { run, site, of_graph, sites };
	const struct ht_attachment *attachment;
	size_t at = 0;
	HT_TRY(apply_own(&a));
	while ((attachment = ht_attached_next(
	                run->attached, &ht_attach_kind_kernel_annotations, run->rank, &at))) {
		const void *data;
		HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
		HT_TRY(apply_notes(&a, data, &n_matched[attachment->i]));
	}
	return HT_OK;
}
