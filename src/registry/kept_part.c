/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_part.c - see kept_part.h.
 *
 *   frame | what the part depends on | its tables
 *
 * A part depends on the trace, on what was asked, and on little else (docs/design/parts.md); all of it stands in the file
 * and is compared, and so does a hash of the program's sources: another build may find out something else. The file's name
 * is a hash of what was asked, so that the part of a file that has changed, or of another build, replaces the old one. What
 * several analyses have in common (ht_common_facts) is a file of its own, for all of them. What needs facts of all ranks or has
 * files attached is not kept, nor what is about as large as the trace.
 *
 * The cache can only help: whatever is wrong with a file, the part is made anew and takes its place.
 */
#include "registry/kept_part.h"

#include "attach/attach.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sealed_bytes.h"
#include "model/policy.h"
#include "registry/part_bytes.h"
#include "registry/run_part.h"
#include "sources_hash.h"
#include "store/cache_beside.h"
#include "store/set.h"

#include <string.h>

/* So many bytes are kept of a rank, and so many more for each of its events. */
#define FEW_BYTES   ((uint64_t)64 << 10)
#define EVENT_BYTES 16

static const struct ht_sealed_kind kind = { "holotrace kept part 1\n", "the kept part",
	"this is no kept part", "" };

/* A rank, and where the cache has its trace. */
struct place {
	const struct ht_rank *rank;
	const struct ht_cached *trace;
};

bool ht_kept_is_alone(const struct ht_run *run)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	/* rules that choose rows or need facts look at all ranks */
	if (run->policy->select_rows || run->policy->needs_facts || ht_attached_n(run->attached))
		return false;
	if (run->analysis == &ht_calls_analysis)
		return true;
	return run->n_sets == 1 && info->n_sets == 1 && !info->sides[0] && !info->input_param &&
	       !info->files && !ht_run_wants_facts(run);
}

static bool find_place(const struct ht_run *run, const struct ht_rank *rank,
        const struct ht_cached *cached, struct place *ret_place)
{
	*ret_place = (struct place){ rank, cached };
	return cached->place && ht_kept_is_alone(run);
}

/* Of rank i of a set, in the set that was opened here where other processes have the rest. */
static bool place_in(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct place *ret_place)
{
	const struct ht_rank *rank = &run->rosters[run->side]->ranks[i];
	if (set->origin_at) {
		i = set->origin_at[i];
		set = set->origin;
	}
	return set && i != SIZE_MAX && find_place(run, rank, &set->kept[i].cached, ret_place);
}

/* ---- what a part depends on ---- */

/* Of the parameters that all have; the ranks are chosen, and the rules are ours. */
static void put_selection(const struct ht_run *run, struct ht_bytes_out *out)
{
	ht_bytes_put_str(out, run->steps[0]);
	ht_bytes_put_str(out, run->annotation);
	ht_bytes_put_u64(out, run->rosters[0]->n > 1 || run->is_partial);
}

void ht_kept_put_asked(const struct ht_run *run, struct ht_bytes_out *out)
{
	const struct ht_analysis *analysis = run->analysis;
	for (size_t i = 0; i < analysis->info.n_params; i++)
		ht_bytes_put_str(out, run->values[i]);
	put_selection(run, out);
	ht_bytes_put_u64(out, run->across);
	/* rows that are shown as they are may be chosen by who looks at them */
	const struct ht_view *view = analysis->facts[0].columns ? NULL : run->view;
	ht_bytes_put_str(out, view ? view->columns : NULL);
	ht_bytes_put_str(out, view ? view->where : NULL);
	ht_bytes_put_str(out, view ? view->sort : NULL);
}

/* What is kept in one file: tables of a part, and under which name. */
struct piece {
	const char *name;
	struct ht_facts_range range;
	bool is_common; /* of several analyses: what one of them has as parameters does not matter */
};

/* The common facts of a part come first, where there are some; those of its own may be none. */
static size_t list_pieces(const struct ht_analysis *analysis, struct piece *pieces)
{
	const struct ht_common_facts *common = analysis->common;
	const char *name = analysis->info.name ? analysis->info.name : analysis->info.title;
	size_t n = 0;
	if (common)
		pieces[n++] = (struct piece){ common->name, { 0, common->n }, true };
	if (!common || analysis->per_rank)
		pieces[n++] =
		        (struct piece){ name, { common ? common->n : 0, HT_PART_TABLES }, false };
	return n;
}
enum { MAX_PIECES = 2 };

static void put_question(const struct ht_run *run, const struct ht_rank *rank,
        const struct piece *piece, struct ht_bytes_out *out)
{
	ht_bytes_put_str(out, piece->name);
	ht_bytes_put_i64(out, rank->number);
	ht_bytes_put_str(out, rank->path);
	if (piece->is_common)
		put_selection(run, out);
	else if (run->analysis != &ht_calls_analysis)
		ht_kept_put_asked(run, out);
}

void ht_kept_put_id(const struct ht_cache_id *id, struct ht_bytes_out *out)
{
	ht_bytes_put_words(out, id, sizeof *id / sizeof(uint64_t), sizeof(uint64_t));
}

/* All of it as the file begins; its name. */
static uint64_t put_front(const struct ht_run *run, const struct place *place,
        const struct piece *piece, struct ht_bytes_out *out)
{
	ht_sealed_begin(out, &kind);
	put_question(run, place->rank, piece, out);
	uint64_t name = ht_hash(out->bytes.data, out->bytes.n);
	ht_bytes_put_u64(out, HT_SOURCES_HASH);
	ht_kept_put_id(&place->trace->id, out);
	return name;
}

/* ---- taking ---- */

static void free_facts(struct ht_part *part)
{
	for (size_t k = 0; k < HT_PART_TABLES; k++) {
		ht_table_free(part->facts[k]);
		part->facts[k] = NULL;
	}
}

/* Bytes of a file that begin as they should. */
static bool read_piece(const struct ht_run *run, const struct piece *piece,
        const struct ht_vec *front, const struct ht_vec *bytes, struct ht_part *part)
{
	const size_t n_hash = sizeof(uint64_t);
	if (bytes->n < front->n + n_hash || memcmp(bytes->data, front->data, front->n) != 0)
		return false;
	struct ht_bytes_in in = { (const unsigned char *)bytes->data + front->n,
		bytes->n - front->n - n_hash, false };
	struct ht_bytes_in end = { in.at + in.n, n_hash, false };
	return ht_bytes_get_u64(&end) == ht_hash(bytes->data, bytes->n - n_hash) &&
	       ht_part_unpack(run->ctx, &in, piece->range, run->analysis, part) == HT_OK && !in.n;
}

static bool take_piece(const struct ht_run *run, const struct place *place,
        const struct piece *piece, struct ht_part *part)
{
	ht_ctx *ctx = run->ctx;
	struct ht_bytes_out front = { .mem = ctx->mem };
	struct ht_vec bytes = { 0 };
	uint64_t name = put_front(run, place, piece, &front);
	bool is_good = !front.failed && ht_cache_beside_read(ctx, place->trace, name, &bytes) &&
	               read_piece(run, piece, &front.bytes, &bytes, part);
	ht_vec_free(ctx->mem, &bytes, 1);
	ht_vec_free(ctx->mem, &front.bytes, 1);
	return is_good;
}

/* All of a part, or the common facts alone; nothing when not all of it is there. */
static bool take(const struct ht_run *run, const struct place *place, bool only_common,
        struct ht_part *ret_part)
{
	const struct ht_analysis *analysis = run->analysis;
	struct ht_part part = { .side = run->side, .rank = place->rank->number };
	struct piece pieces[MAX_PIECES];
	size_t n = list_pieces(analysis, pieces);
	bool is_good = true;
	bool (*is_sound)(const struct ht_part *) =
	        only_common ? analysis->common->is_sound : analysis->is_sound;
	/* the small ones first: without them the others are not needed */
	for (size_t i = only_common ? 1 : n; i-- > 0 && is_good;)
		is_good = take_piece(run, place, &pieces[i], &part);
	if (is_good && (!is_sound || is_sound(&part))) {
		*ret_part = part;
		return true;
	}
	free_facts(&part);
	ht_error_clear(run->ctx);
	return false;
}

bool ht_kept_part_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *ret_part)
{
	struct place place;
	return place_in(run, set, i, &place) && take(run, &place, false, ret_part);
}

bool ht_kept_common_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *part)
{
	struct place place;
	return run->analysis->common && place_in(run, set, i, &place) &&
	       take(run, &place, true, part);
}

bool ht_kept_common_take_new(
        const struct ht_run *run, const struct ht_cached *cached, struct ht_part *part)
{
	struct place place;
	return run->analysis->common && find_place(run, run->rosters[0]->ranks, cached, &place) &&
	       take(run, &place, true, part);
}

/* What a rank's own files begin with is enough: whoever takes the part looks at all of it. */
bool ht_kept_part_is_there(const struct ht_run *run, const struct ht_cached *cached)
{
	struct piece pieces[MAX_PIECES];
	struct place place;
	bool is_there = find_place(run, run->rosters[0]->ranks, cached, &place);
	size_t n = list_pieces(run->analysis, pieces);
	for (size_t i = 0; i < n && is_there; i++) {
		struct ht_bytes_out front = { .mem = run->ctx->mem };
		uint64_t name = put_front(run, &place, &pieces[i], &front);
		is_there = !front.failed &&
		           ht_cache_beside_begins(run->ctx, cached, name, &front.bytes);
		ht_vec_free(front.mem, &front.bytes, 1);
	}
	return is_there;
}

/* ---- giving ---- */

static void give_piece(const struct ht_run *run, const struct place *place,
        const struct piece *piece, const struct ht_part *part)
{
	struct ht_bytes_out out = { .mem = run->ctx->mem };
	uint64_t name = put_front(run, place, piece, &out);
	ht_part_pack(part, piece->range, &out);
	if (!out.failed)
		ht_bytes_put_u64(&out, ht_hash(out.bytes.data, out.bytes.n));
	if (!out.failed && out.bytes.n <= FEW_BYTES + place->rank->n_events * EVENT_BYTES)
		ht_cache_beside_write(run->ctx, place->trace, name, &out.bytes);
	ht_vec_free(out.mem, &out.bytes, 1);
}

static void give(const struct ht_run *run, const struct place *place, bool has_common,
        const struct ht_part *part)
{
	struct piece pieces[MAX_PIECES];
	size_t n = list_pieces(run->analysis, pieces);
	for (size_t i = 0; i < n; i++)
		if (!has_common || !pieces[i].is_common)
			give_piece(run, place, &pieces[i], part);
}

void ht_kept_part_give(const struct ht_run *run, const struct ht_set *set, size_t i,
        bool has_common, const struct ht_part *part)
{
	struct place place;
	if (place_in(run, set, i, &place))
		give(run, &place, has_common, part);
}

void ht_kept_part_give_new(const struct ht_run *run, const struct ht_cached *cached,
        bool has_common, const struct ht_part *part)
{
	struct place place;
	if (find_place(run, run->rosters[0]->ranks, cached, &place))
		give(run, &place, has_common, part);
}
