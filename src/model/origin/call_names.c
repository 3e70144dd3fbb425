/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_names.c - see call_names.h.
 *
 * Names of calls are cut at their dots, and each stretch of as many parts as an operator has is hashed; stretches are sorted by their
 * hash and, with one hash, as the calls are. Whoever takes a call moves the start of its hash past it, so that all operators of
 * one name go over its calls once.
 */
#include "model/origin/call_names.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"

#include <string.h>

/* An operator of more parts is looked up by so many and compared whole. */
#define MAX_PARTS 4

/* Parts of a call's name that stand together. */
struct stretch {
	uint32_t call, at; /* the byte where it starts */
};

/* How far the calls of a hash are taken. */
struct start {
	uint32_t turn, at;
};

/* All stretches of one length. */
struct index {
	uint64_t *hashes;
	uint32_t *order; /* of the stretches */
	struct stretch *list;
	struct start *starts; /* by the first place of a hash */
	size_t n;
	bool is_made;
};

struct ht_call_names {
	const struct ht_compiled_graph *graph;
	uint32_t *taken; /* by call: in which turn */
	uint32_t turn;
	struct index by_parts[MAX_PARTS + 1]; /* 0: whole names */
};

enum ht_status ht_call_names_new(
        struct ht_run *run, const struct ht_compiled_graph *graph, struct ht_call_names **ret_names)
{
	struct ht_call_names *names = ht_arena_alloc(run->scratch, sizeof *names);
	if (!names)
		return ht_fail_nomem(run->ctx);
	names->graph = graph;
	names->turn = 1;
	names->taken = ht_arena_alloc(run->scratch, (graph->n + 1) * sizeof *names->taken);
	*ret_names = names;
	return names->taken ? HT_OK : ht_fail_nomem(run->ctx);
}

const struct ht_compiled_graph *ht_call_names_graph(const struct ht_call_names *names)
{
	return names->graph;
}

void ht_call_names_restart(struct ht_call_names *names)
{
	names->turn++;
}

/* ---- stretches ---- */

/* How many bytes the first parts of a text have, SIZE_MAX when it has fewer parts; 0 is all of it. */
static size_t length_of(const char *text, size_t n_parts)
{
	if (!n_parts)
		return strlen(text);
	size_t n = strcspn(text, ".");
	while (--n_parts) {
		if (!text[n])
			return SIZE_MAX;
		n += 1 + strcspn(text + n + 1, ".");
	}
	return n;
}

/* Where the next stretch can start; NULL: nowhere. */
static const char *next_part(const char *at, size_t n_parts)
{
	at = n_parts ? strchr(at, '.') : NULL;
	return at ? at + 1 : NULL;
}

static size_t count_stretches(const struct ht_compiled_graph *graph, size_t n_parts)
{
	size_t n = 0;
	for (size_t i = 0; i < graph->n; i++)
		for (const char *at = graph->calls[i].name; at; at = next_part(at, n_parts))
			n++;
	return n;
}

static enum ht_status make_index(struct ht_run *run, struct ht_call_names *names, size_t n_parts)
{
	struct index *index = &names->by_parts[n_parts];
	size_t n = count_stretches(names->graph, n_parts) + 1;
	index->hashes = ht_arena_room(run->scratch, n * sizeof *index->hashes);
	index->order = ht_arena_room(run->scratch, n * sizeof *index->order);
	index->list = ht_arena_room(run->scratch, n * sizeof *index->list);
	index->starts = ht_arena_alloc(run->scratch, n * sizeof *index->starts);
	if (!index->hashes || !index->order || !index->list || !index->starts)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < names->graph->n; i++) {
		const char *name = names->graph->calls[i].name;
		const char *at = n_parts ? next_part(name, n_parts) : name;
		for (; at; at = next_part(at, n_parts)) {
			size_t length = length_of(at, n_parts);
			if (length == SIZE_MAX)
				break; /* those behind it have fewer parts still */
			index->list[index->n] =
			        (struct stretch){ (uint32_t)i, (uint32_t)(at - name) };
			index->order[index->n] = (uint32_t)index->n;
			index->hashes[index->n++] = ht_hash(at, length);
		}
	}
	index->is_made = true;
	return ht_sort_keys(run->ctx->mem, index->hashes, index->order, index->n)
	               ? HT_OK
	               : ht_fail_nomem(run->ctx);
}

/* ---- operators ---- */

static size_t count_parts(const char *text)
{
	size_t n = 1;
	for (; n < MAX_PARTS && (text = strchr(text, '.')); n++)
		text++;
	return n;
}

/* The first call that is not taken and has the text, UINT32_MAX: none. */
static enum ht_status find_call(struct ht_run *run, struct ht_call_names *names, size_t n_parts,
        const char *text, uint32_t *ret_call)
{
	struct index *index = &names->by_parts[n_parts];
	size_t n = strlen(text);
	uint64_t hash = ht_hash(text, length_of(text, n_parts));
	*ret_call = UINT32_MAX;
	if (!index->is_made)
		HT_TRY(make_index(run, names, n_parts));
	size_t at = HT_LOWER_BOUND(i, index->n, index->hashes[i] < hash);
	struct start *start = &index->starts[at];
	if (start->turn != names->turn)
		*start = (struct start){ names->turn, (uint32_t)at };
	for (at = start->at; at < index->n && index->hashes[at] == hash; at++) {
		const struct stretch *stretch = &index->list[index->order[at]];
		const char *name = names->graph->calls[stretch->call].name + stretch->at;
		if (names->taken[stretch->call] == names->turn) {
			start->at += start->at == at;
			continue;
		}
		if (!strncmp(name, text, n) && (!name[n] || (n_parts && name[n] == '.'))) {
			*ret_call = stretch->call;
			break;
		}
	}
	return HT_OK;
}

enum ht_status ht_call_names_take(struct ht_run *run, struct ht_call_names *names, const char *op,
        const struct ht_compiled_call **ret_call)
{
	const char *base = strstr(op, "::");
	uint32_t call, part = UINT32_MAX;
	HT_TRY(find_call(run, names, 0, op, &call));
	if (base && base[2])
		HT_TRY(find_call(run, names, count_parts(base + 2), base + 2, &part));
	call = part < call ? part : call;
	*ret_call = call == UINT32_MAX ? NULL : &names->graph->calls[call];
	if (call != UINT32_MAX)
		names->taken[call] = names->turn;
	return HT_OK;
}
