/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.c - see sequence.h.
 */
#include "model/calls/sequence.h"
#include "base/sort.h"
#include "model/calls/call_graph.h"
#include "model/policy.h"
#include "model/rows/work_names.h"
#include "base/json_escape.h"
#include "base/intern.h"
#include "base/checked.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* A piece of GPU work under a root. */
struct piece {
	int64_t ts_ns;
	uint32_t root, row;
};

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_sequences(const void *left, const void *right)
{
	const struct ht_sequence *const *a = left, *const *b = right;
	if ((*a)->count != (*b)->count)
		return (*a)->count > (*b)->count ? -1 : 1;
	return strcmp((*a)->pattern, (*b)->pattern);
}

/* By string id: does the name contain the text? */
static enum ht_status match_names(
        struct ht_run *run, const struct ht_trace *trace, const char *text, bool **ret_matches)
{
	size_t n = trace->n_string_offsets ? trace->n_string_offsets - 1 : 0;
	bool *matches = ht_arena_alloc(run->scratch, n + 1);
	if (!matches)
		return ht_fail_nomem(run->ctx);
	for (uint32_t id = 0; text && id < n; id++)
		matches[id] = strstr(ht_str(trace, id), text) != NULL;
	*ret_matches = matches;
	return HT_OK;
}

static enum ht_status find_roots(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_call_graph *graph, const struct ht_sequence_options *options,
        uint32_t **ret_root_of)
{
	const struct ht_trace *trace = frame->trace;
	bool *matches = NULL;
	HT_TRY(match_names(run, trace, options->operator_name, &matches));
	uint32_t *root_of = ht_arena_alloc(run->scratch, (trace->n_kind + 1) * sizeof *root_of);
	if (!root_of)
		return ht_fail_nomem(run->ctx);
	memset(root_of, 0xff, (trace->n_kind + 1) * sizeof *root_of);
	int32_t only_depth = -1;
	for (size_t i = 0; i < graph->n_order; i++) {
		uint32_t row = graph->order[i], up = graph->parent[row];
		if (up != HT_NONE && root_of[up] != HT_NONE) {
			root_of[row] = root_of[up];
			continue;
		}
		bool is_root = !options->operator_name
		                       ? trace->kind[row] == HT_KIND_CPU_OP
		                       : trace->name[row] != HT_NO_STR && matches[trace->name[row]];
		/* order[] is by depth, so the first match is the shallowest */
		if (is_root && run->policy->roots_at_one_depth && only_depth < 0)
			only_depth = graph->depth[row];
		if (is_root && (only_depth < 0 || graph->depth[row] == only_depth))
			root_of[row] = row;
	}
	*ret_root_of = root_of;
	return HT_OK;
}

static size_t add_piece(
        const struct ht_trace *trace, uint32_t root, uint32_t row, struct piece *pieces, size_t n)
{
	if (root != HT_NONE)
		pieces[n++] = (struct piece){ trace->ts_ns[row], root, row };
	return n;
}

static enum ht_status add_waits(struct ht_run *run, const struct ht_frame *frame,
        const uint32_t *root_of, struct piece *pieces, size_t *n)
{
	struct ht_row_columns columns;
	HT_TRY(run->policy->columns(run, frame, false, &columns));
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		if (frame->trace->kind[row] == HT_KIND_SYNC && columns.stream[row] > 0 &&
		        columns.partner[row] > 0)
			*n = add_piece(
			        frame->trace, root_of[columns.partner[row]], row, pieces, *n);
	}
	return HT_OK;
}

/* GPU work under roots, by root and start. */
static enum ht_status collect(struct ht_run *run, const struct ht_frame *frame,
        const uint32_t *root_of, struct piece **ret_pieces, size_t *ret_n)
{
	const struct ht_trace *trace = frame->trace;
	size_t room = run->policy->waits_are_work ? frame->n_rows : frame->n_gpu, n = 0;
	struct piece *pieces = ht_arena_alloc(run->scratch, (room + 1) * sizeof *pieces);
	if (!pieces)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_gpu; i++) {
		uint32_t row = trace->gpu[frame->gpu[i]].row;
		n = add_piece(trace, root_of[row], row, pieces, n);
	}
	if (run->policy->waits_are_work)
		HT_TRY(add_waits(run, frame, root_of, pieces, &n));
	ht_sort_items(run->ctx->mem, pieces, n, sizeof *pieces, compare_pieces);
	*ret_pieces = pieces;
	*ret_n = n;
	return HT_OK;
}

/* Names as shown, made once per string. Full names that look the same when shortened get one id. */
struct names {
	struct ht_run *run;
	const struct ht_trace *trace;
	struct ht_pool pool; /* shown texts */
	const char **shown;  /* by string id, NULL until asked */
	uint32_t *shown_id;  /* by string id */
	bool shorten;
};

static bool show(struct names *names, uint32_t row, uint32_t *ret_id)
{
	uint32_t id = names->trace->name[row];
	if (id == HT_NO_STR) {
		*ret_id = HT_NONE;
		return true;
	}
	if (!names->shown[id]) {
		const char *name = ht_str(names->trace, id);
		if (names->shorten)
			name = ht_name_shorten(names->run, name);
		size_t n = name ? strlen(name) : 0;
		struct ht_text text;
		if (!name || !ht_pool_add(&names->pool, name, n, ht_hash(name, n), &text))
			return false;
		names->shown[id] = name;
		names->shown_id[id] = text.id;
	}
	*ret_id = names->shown_id[id];
	return true;
}

static const char *shown_text(const struct names *names, uint32_t row)
{
	uint32_t id = names->trace->name[row];
	return id == HT_NO_STR ? "" : names->shown[id];
}

/* "op|kernel|kernel"; NULL when out of memory. The names have been shown before. */
static const char *spell(const struct names *names, const struct piece *pieces, size_t n)
{
	const char *op = ht_str(names->trace, names->trace->name[pieces[0].root]);
	size_t n_bytes = strlen(op) + 1;
	for (size_t i = 0; i < n; i++)
		n_bytes += strlen(shown_text(names, pieces[i].row)) + 1;
	char *text = ht_arena_alloc(names->run->scratch, n_bytes);
	if (!text)
		return NULL;
	char *at = stpcpy(text, op);
	for (size_t i = 0; i < n; i++) {
		*at++ = '|';
		at = stpcpy(at, shown_text(names, pieces[i].row));
	}
	return text;
}

struct tally {
	struct names names;
	struct ht_pool
	        pool;       /* keys: name id of the root, shown ids of its work -> pattern number */
	struct ht_vec list; /* struct ht_sequence by pattern number */
	struct ht_vec key;  /* uint32_t */
	uint32_t *sequence_of;
};

static bool make_key(struct tally *tally, const struct piece *pieces, size_t n)
{
	struct ht_mem *mem = tally->names.run->ctx->mem;
	const struct ht_trace *trace = tally->names.trace;
	tally->key.n = 0;
	if (!HT_VEC_PUSH(mem, &tally->key, uint32_t, trace->name[pieces[0].root]))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t id;
		if (!show(&tally->names, pieces[i].row, &id) ||
		        !HT_VEC_PUSH(mem, &tally->key, uint32_t, id))
			return false;
	}
	return true;
}

/* Count one root with its n pieces. */
static bool count_root(struct tally *tally, const struct piece *pieces, size_t n)
{
	const struct ht_trace *trace = tally->names.trace;
	uint32_t root = pieces[0].root;
	if (!make_key(tally, pieces, n))
		return false;
	struct ht_text text;
	size_t n_bytes = tally->key.n * sizeof(uint32_t);
	uint64_t hash = ht_hash(tally->key.data, n_bytes);
	if (!ht_pool_add(&tally->pool, tally->key.data, n_bytes, hash, &text))
		return false;
	if (text.id == tally->list.n) {
		struct ht_sequence fresh = { .operator_name = ht_str(trace, trace->name[root]),
			.pattern = spell(&tally->names, pieces, n),
			.n_kernels = n };
		struct ht_mem *mem = tally->names.run->ctx->mem;
		if (!fresh.pattern || !HT_VEC_PUSH(mem, &tally->list, struct ht_sequence, fresh))
			return false;
	}
	struct ht_sequence *sequence = (struct ht_sequence *)tally->list.data + text.id;
	sequence->count++;
	ht_sum(&sequence->op_ns, trace->dur_ns[root]);
	for (size_t i = 0; i < n; i++)
		ht_sum(&sequence->gpu_ns, trace->dur_ns[pieces[i].row]);
	tally->sequence_of[root] = text.id;
	return true;
}

static enum ht_status count_roots(
        struct tally *tally, const struct piece *pieces, size_t n, int64_t min_length)
{
	for (size_t start = 0; start < n;) {
		size_t end = start + 1;
		while (end < n && pieces[end].root == pieces[start].root)
			end++;
		if ((int64_t)(end - start) >= min_length &&
		        !count_root(tally, pieces + start, end - start))
			return ht_fail_nomem(tally->names.run->ctx);
		start = end;
	}
	return HT_OK;
}

/* Copy the patterns to scratch in order, and renumber the roots. */
static enum ht_status sort_sequences(struct tally *tally, struct ht_sequences *ret)
{
	struct ht_run *run = tally->names.run;
	size_t n = tally->list.n;
	const struct ht_sequence *list = tally->list.data;
	const struct ht_sequence **order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *order);
	struct ht_sequence *sorted = ht_arena_alloc(run->scratch, (n + 1) * sizeof *sorted);
	uint32_t *place = ht_arena_alloc(run->scratch, (n + 1) * sizeof *place);
	if (!order || !sorted || !place)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		order[i] = &list[i];
	qsort(order, n, sizeof *order, compare_sequences);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = *order[i];
		place[order[i] - list] = (uint32_t)i;
	}
	for (size_t row = 0; row < tally->names.trace->n_kind; row++)
		if (tally->sequence_of[row] != HT_NONE)
			tally->sequence_of[row] = place[tally->sequence_of[row]];
	ret->list = sorted;
	ret->n = n;
	ret->sequence_of = tally->sequence_of;
	return HT_OK;
}

static enum ht_status tally_init(
        struct tally *tally, struct ht_run *run, const struct ht_trace *trace, bool shorten)
{
	size_t n_strings = trace->n_string_offsets, n_rows = trace->n_kind + 1;
	*tally = (struct tally){ .names = { .run = run, .trace = trace, .shorten = shorten } };
	tally->names.shown = ht_arena_alloc(run->scratch, (n_strings + 1) * sizeof(char *));
	tally->names.shown_id = ht_arena_alloc(run->scratch, (n_strings + 1) * sizeof(uint32_t));
	tally->sequence_of = ht_arena_alloc(run->scratch, n_rows * sizeof(uint32_t));
	if (!tally->names.shown || !tally->names.shown_id || !tally->sequence_of)
		return ht_fail_nomem(run->ctx);
	memset(tally->sequence_of, 0xff, n_rows * sizeof(uint32_t));
	ht_pool_init(&tally->names.pool, run->ctx->mem);
	ht_pool_init(&tally->pool, run->ctx->mem);
	return HT_OK;
}

static void tally_done(struct tally *tally)
{
	struct ht_mem *mem = tally->names.run->ctx->mem;
	ht_pool_done(&tally->names.pool);
	ht_pool_done(&tally->pool);
	ht_vec_free(mem, &tally->list, sizeof(struct ht_sequence));
	ht_vec_free(mem, &tally->key, sizeof(uint32_t));
}

enum ht_status ht_sequences_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sequence_options *options, struct ht_sequences *ret_sequences)
{
	struct ht_call_graph graph;
	HT_TRY(ht_call_graph_make(run, frame, run->policy->one_backward, &graph));
	uint32_t *root_of = NULL;
	HT_TRY(find_roots(run, frame, &graph, options, &root_of));
	struct piece *pieces = NULL;
	size_t n = 0;
	HT_TRY(collect(run, frame, root_of, &pieces, &n));

	struct tally tally;
	HT_TRY(tally_init(&tally, run, frame->trace, options->short_names));
	struct ht_sequences sequences = { .root_of = root_of };
	enum ht_status status = count_roots(&tally, pieces, n, options->min_length);
	if (status == HT_OK)
		status = sort_sequences(&tally, &sequences);
	tally_done(&tally);
	if (status == HT_OK)
		*ret_sequences = sequences;
	return status;
}

/* {"pattern": count} with the pattern as a JSON string; NULL when out of memory. */
static const char *spell_json(struct ht_run *run, const struct ht_sequence *sequence)
{
	char *quoted =
	        ht_arena_alloc(run->scratch, HT_JSON_ESCAPE_BYTES * strlen(sequence->pattern) + 1);
	if (!quoted)
		return NULL;
	ht_json_escape_text(quoted, sequence->pattern);
	return ht_arena_printf(
	        run->scratch, "{\"%s\": %llu}", quoted, (unsigned long long)sequence->count);
}

enum ht_status ht_sequences_overlay(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sequences *sequences, size_t n_top, const struct ht_row_text **ret_rows,
        size_t *ret_n)
{
	size_t n_rows = frame->trace->n_kind, n = 0;
	if (n_top > sequences->n)
		n_top = sequences->n;
	const char **texts = ht_arena_alloc(run->scratch, (n_top + 1) * sizeof *texts);
	struct ht_row_text *rows = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *rows);
	if (!texts || !rows)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_top; i++) {
		texts[i] = spell_json(run, &sequences->list[i]);
		if (!texts[i])
			return ht_fail_nomem(run->ctx);
	}
	for (uint32_t row = 0; row < n_rows; row++) {
		uint32_t root = sequences->root_of[row];
		if (root != HT_NONE && sequences->sequence_of[root] < n_top)
			rows[n++] =
			        (struct ht_row_text){ row, texts[sequences->sequence_of[root]] };
	}
	*ret_rows = rows;
	*ret_n = n;
	return HT_OK;
}
