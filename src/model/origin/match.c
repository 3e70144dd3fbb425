/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - see match.h.
 */
#include "model/origin/match.h"

#include "base/hash.h"
#include "base/sort.h"
#include "model/origin/align.h"
#include "model/origin/fit.h"
#include "store/args.h"

#include <stdlib.h>
#include <string.h>

/* The items of one stream. */
struct lane {
	int64_t stream;
	uint32_t *at; /* places in the whole */
	uint64_t *keys;
	size_t n;
	uint64_t names; /* of all keys, whatever their order */
	bool is_taken;
};

struct lanes {
	struct lane *list;
	size_t n;
};

#define MAX_LANES 64

/* n items, each with a stream and a key. False when they are on more streams than anybody uses. */
typedef void (*item_fn)(const void *of, size_t i, int64_t *ret_stream, uint64_t *ret_key);

static void replay_item(const void *of, size_t i, int64_t *ret_stream, uint64_t *ret_key)
{
	const struct ht_graph_replay *replay = of;
	*ret_stream = replay->trace->gpu[replay->gpus[i]].stream;
	*ret_key = replay->keys[i];
}

static void tape_item(const void *of, size_t i, int64_t *ret_stream, uint64_t *ret_key)
{
	const struct ht_tape_entry *entries = of;
	*ret_stream = entries[i].stream;
	*ret_key = entries[i].key;
}

static enum ht_status split(
        struct ht_run *run, const void *of, size_t n, item_fn item, struct lanes *ret_lanes)
{
	struct lanes lanes = { ht_arena_alloc(run->scratch, MAX_LANES * sizeof *lanes.list), 0 };
	if (!lanes.list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		int64_t stream;
		uint64_t key;
		size_t k = 0;
		item(of, i, &stream, &key);
		while (k < lanes.n && lanes.list[k].stream != stream)
			k++;
		if (k == MAX_LANES)
			break;
		struct lane *lane = &lanes.list[k];
		if (k == lanes.n) {
			*lane = (struct lane){ .stream = stream,
				.at = ht_arena_room(run->scratch, n * sizeof *lane->at),
				.keys = ht_arena_room(run->scratch, n * sizeof *lane->keys) };
			lanes.n++;
		}
		if (!lane->at || !lane->keys)
			return ht_fail_nomem(run->ctx);
		lane->names += ht_hash_u64(key);
		lane->at[lane->n] = (uint32_t)i;
		lane->keys[lane->n++] = key;
	}
	*ret_lanes = lanes;
	return HT_OK;
}

/* The one lane with the same names; NULL when there is none, or several. */
static struct lane *find_lane(struct lanes *lanes, const struct lane *like)
{
	struct lane *found = NULL;
	for (size_t i = 0; i < lanes->n; i++) {
		struct lane *lane = &lanes->list[i];
		if (lane->is_taken || lane->n != like->n || lane->names != like->names)
			continue;
		if (found)
			return NULL;
		found = lane;
	}
	return found;
}

static enum ht_status match_lanes(
        struct ht_run *run, struct lanes *replayed, struct lanes *taped, struct ht_matched *matched)
{
	for (size_t k = 0; k < replayed->n; k++) {
		const struct lane *lane = &replayed->list[k];
		struct lane *other = find_lane(taped, lane);
		size_t n;
		if (!other)
			continue;
		uint32_t *partner = ht_arena_room(run->scratch, lane->n * sizeof *partner);
		if (!partner)
			return ht_fail_nomem(run->ctx);
		other->is_taken = true;
		HT_TRY(ht_align(run->ctx, lane->keys, lane->n, other->keys, other->n, partner, &n));
		for (size_t i = 0; i < lane->n; i++)
			if (partner[i] != UINT32_MAX)
				matched->partner[lane->at[i]] = other->at[partner[i]];
		matched->n += n;
	}
	return HT_OK;
}

static enum ht_status match_names(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_tape_entry *entries, size_t m, struct ht_matched *matched)
{
	struct lanes replayed, taped;
	HT_TRY(split(run, replay, replay->n, replay_item, &replayed));
	HT_TRY(split(run, entries, m, tape_item, &taped));
	if (replayed.n > 1 && taped.n > 1)
		return match_lanes(run, &replayed, &taped, matched);
	uint64_t *keys = ht_arena_room(run->scratch, (m + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (size_t j = 0; j < m; j++)
		keys[j] = entries[j].key;
	return ht_align(run->ctx, replay->keys, replay->n, keys, m, matched->partner, &matched->n);
}

/* ---- by position ---- */

/* What launches must have in common for their kernels to have one name. */
struct position {
	uint64_t group; /* operator, its shapes, and which of its launches it is */
	uint64_t key;   /* of the kernel's name */
	uint32_t at;
};

static int by_group(const void *left, const void *right)
{
	const struct position *a = left, *b = right;
	int by = (a->group > b->group) - (a->group < b->group);
	by = by ? by : (a->key > b->key) - (a->key < b->key);
	return by ? by : (a->at > b->at) - (a->at < b->at);
}

static uint64_t group_of(const struct ht_tape *tape, const struct ht_tape_entry *entry, size_t nth)
{
	const struct ht_trace *t = tape->trace;
	if (entry->op == HT_NONE)
		return nth; /* nothing is known of it */
	const char *op = ht_str(t, t->name[entry->op]);
	const char *dims = ht_arg_str(t, "Input Dims", entry->op);
	uint64_t hash = ht_hash(op, strlen(op));
	hash = ht_hash_mix(hash, dims ? ht_hash(dims, strlen(dims)) : 0);
	return ht_hash_mix(hash, nth) | (uint64_t)1 << 63;
}

/* Of each group the name that most kernels have; others do not fit. */
static void drop_deviants(const struct position *list, size_t n, struct ht_matched *matched)
{
	for (size_t i = 0, end; i < n; i = end) {
		size_t best = 0;
		uint64_t most = 0;
		for (end = i; end < n && list[end].group == list[i].group;) {
			size_t first = end;
			while (end < n && list[end].group == list[i].group &&
			        list[end].key == list[first].key)
				end++;
			if (end - first > best) {
				best = end - first;
				most = list[first].key;
			}
		}
		for (size_t k = i; k < end; k++)
			if (list[k].key != most)
				matched->partner[list[k].at] = UINT32_MAX;
	}
}

static bool fits(const struct ht_graph_replay *replay, const struct ht_tape *tape,
        const struct ht_tape_entry *entry, size_t i)
{
	const struct ht_trace *t = replay->trace;
	uint32_t row = t->gpu[replay->gpus[i]].row;
	if (t->kind[row] != entry->kind)
		return false;
	return entry->kind != HT_KIND_KERNEL || entry->op == HT_NONE ||
	       ht_origin_fits(
	               ht_str(tape->trace, tape->trace->name[entry->op]), ht_str(t, t->name[row]));
}

static enum ht_status match_positions(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, const struct ht_tape_entry *entries, struct ht_matched *matched)
{
	struct position *list = ht_arena_room(run->scratch, (replay->n + 1) * sizeof *list);
	size_t nth = 0;
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < replay->n; i++) {
		nth = i && entries[i].op == entries[i - 1].op ? nth + 1 : 0;
		list[i] = (struct position){ group_of(tape, &entries[i], nth), replay->keys[i],
			(uint32_t)i };
		matched->partner[i] = fits(replay, tape, &entries[i], i) ? (uint32_t)i : UINT32_MAX;
	}
	qsort(list, replay->n, sizeof *list, by_group);
	drop_deviants(list, replay->n, matched);
	for (size_t i = 0; i < replay->n; i++)
		matched->n += matched->partner[i] != UINT32_MAX;
	return HT_OK;
}

static bool is_kernel(const struct ht_graph_replay *replay, size_t i)
{
	return replay->trace->kind[replay->trace->gpu[replay->gpus[i]].row] == HT_KIND_KERNEL;
}

/* The end of a stretch of memcpy and memset, up to the next kernel. */
static size_t replayed_until(const struct ht_graph_replay *replay, size_t i)
{
	while (i < replay->n && !is_kernel(replay, i))
		i++;
	return i;
}

static size_t taped_until(const struct ht_tape_entry *entries, size_t m, size_t j)
{
	while (j < m && entries[j].kind != HT_KIND_KERNEL)
		j++;
	return j;
}

/* A graph may do without a memset or memcpy that was captured. With as many kernels on both sides these pair one by one, and
 * what stands between two of them where there is as much of it on both. ret_place[i] is the entry of an activity, UINT32_MAX:
 * none. False when the numbers of kernels differ. */
static bool place_by_kernels(const struct ht_graph_replay *replay,
        const struct ht_tape_entry *entries, size_t m, uint32_t *ret_place)
{
	size_t i = 0, j = 0;
	memset(ret_place, 0xff, replay->n * sizeof *ret_place);
	for (;;) {
		size_t i_end = replayed_until(replay, i), j_end = taped_until(entries, m, j);
		for (size_t k = 0; i_end - i == j_end - j && k < i_end - i; k++)
			ret_place[i + k] = (uint32_t)(j + k);
		if (i_end == replay->n || j_end == m)
			return i_end == replay->n && j_end == m;
		ret_place[i_end] = (uint32_t)j_end;
		i = i_end + 1;
		j = j_end + 1;
	}
}

/* Without names and with another number of launches. */
static enum ht_status match_kernels(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, const struct ht_tape_entry *entries, size_t m,
        struct ht_matched *matched)
{
	uint32_t *place = ht_arena_room(run->scratch, (replay->n + 1) * sizeof *place);
	struct ht_tape_entry *picked =
	        ht_arena_alloc(run->scratch, (replay->n + 1) * sizeof *picked);
	if (!place || !picked)
		return ht_fail_nomem(run->ctx);
	if (!place_by_kernels(replay, entries, m, place))
		return HT_OK;
	for (size_t i = 0; i < replay->n; i++) {
		picked[i].kind = HT_N_KINDS; /* fits nothing */
		picked[i].op = HT_NONE;
		if (place[i] != UINT32_MAX)
			picked[i] = entries[place[i]];
	}
	HT_TRY(match_positions(run, replay, tape, picked, matched));
	for (size_t i = 0; i < replay->n; i++)
		if (matched->partner[i] != UINT32_MAX)
			matched->partner[i] = place[i];
	return HT_OK;
}

enum ht_status ht_match(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, size_t first, size_t m, struct ht_matched *ret_matched)
{
	struct ht_matched matched = { .partner = ht_arena_room(run->scratch,
		                              (replay->n + 1) * sizeof *matched.partner) };
	if (!matched.partner)
		return ht_fail_nomem(run->ctx);
	memset(matched.partner, 0xff, (replay->n + 1) * sizeof *matched.partner);
	const struct ht_tape_entry *entries = tape->entries + first;
	if (tape->has_names)
		HT_TRY(match_names(run, replay, entries, m, &matched));
	else if (replay->n == m)
		HT_TRY(match_positions(run, replay, tape, entries, &matched));
	else
		HT_TRY(match_kernels(run, replay, tape, entries, m, &matched));
	size_t longer = replay->n > m ? replay->n : m;
	matched.confidence = longer ? (double)matched.n / (double)longer : 0;
	for (size_t i = 0; i < replay->n; i++)
		if (matched.partner[i] != UINT32_MAX)
			matched.partner[i] += (uint32_t)first;
	*ret_matched = matched;
	return HT_OK;
}
