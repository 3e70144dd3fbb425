/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - see sort.h.
 */
#include "base/sort.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define N_DIGITS   ((size_t)1 << DIGIT_BITS)
#define SMALL      48
/* Merging gives way to the radix sort after so many moves per element. */
#define MAX_MOVES 4

static void insertion_sort(uint64_t *keys, uint32_t *indexes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		uint32_t index = indexes[i];
		size_t j = i;
		for (; j > 0 && keys[j - 1] > key; j--) {
			keys[j] = keys[j - 1];
			indexes[j] = indexes[j - 1];
		}
		keys[j] = key;
		indexes[j] = index;
	}
}

static void radix_pass(const uint64_t *from, const uint32_t *from_i, uint64_t *to, uint32_t *to_i,
        size_t n, unsigned shift)
{
	size_t start[N_DIGITS] = { 0 };
	for (size_t i = 0; i < n; i++)
		start[from[i] >> shift & (N_DIGITS - 1)]++;
	for (size_t d = 0, at = 0; d < N_DIGITS; d++) {
		size_t count = start[d];
		start[d] = at;
		at += count;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = start[from[i] >> shift & (N_DIGITS - 1)]++;
		to[at] = from[i];
		to_i[at] = from_i[i];
	}
}

static void radix_sort(
        uint64_t *keys, uint32_t *indexes, uint64_t *spare, uint32_t *spare_i, size_t n)
{
	uint64_t *from = keys, *to = spare, differ = 0;
	uint32_t *from_i = indexes, *to_i = spare_i;
	for (size_t i = 1; i < n; i++)
		differ |= keys[i] ^ keys[0];
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(differ >> shift & (N_DIGITS - 1)))
			continue;
		radix_pass(from, from_i, to, to_i, n, shift);
		uint64_t *k = from;
		uint32_t *i = from_i;
		from = to;
		from_i = to_i;
		to = k;
		to_i = i;
	}
	if (from != keys) {
		memcpy(keys, from, n * sizeof *keys);
		memcpy(indexes, from_i, n * sizeof *indexes);
	}
}

static size_t end_of_run(const uint64_t *keys, size_t at, size_t n)
{
	while (++at < n && keys[at - 1] <= keys[at])
		;
	return at;
}

/* First of the n sorted keys that is above the key, from the end by doubling steps. */
static size_t upper_bound(const uint64_t *keys, size_t n, uint64_t key)
{
	size_t low = 0, high = n, step = 1;
	while (step <= high && keys[high - step] > key) {
		high -= step;
		step *= 2;
	}
	if (step <= high)
		low = high - step;
	return low + HT_LOWER_BOUND(at, high - low, keys[low + at] <= key);
}

/* Rows of a trace are mostly a few ascending runs that overlap a little: take each run into the sorted
 * part before it, from the end. False when that moves too much; the order of equal keys is kept. */
static bool merge_runs(
        uint64_t *keys, uint32_t *indexes, uint64_t *spare, uint32_t *spare_i, size_t n)
{
	size_t n_moved = 0;
	for (size_t at = end_of_run(keys, 0, n), end; at < n; at = end) {
		end = end_of_run(keys, at, n);
		size_t first = upper_bound(keys, at, keys[at]), left = at, run = end - at, to = end;
		n_moved += end - first;
		if (n_moved / MAX_MOVES > n)
			return false;
		memcpy(spare, keys + at, run * sizeof *keys);
		memcpy(spare_i, indexes + at, run * sizeof *indexes);
		while (run) {
			bool older = left > first && keys[left - 1] > spare[run - 1];
			keys[--to] = older ? keys[left - 1] : spare[run - 1];
			indexes[to] = older ? indexes[left - 1] : spare_i[run - 1];
			left -= older;
			run -= !older;
		}
	}
	return true;
}

/* With room for n keys and indexes. */
static void sort_in_room(
        uint64_t *keys, uint32_t *indexes, uint64_t *spare, uint32_t *spare_i, size_t n)
{
	if (n <= SMALL)
		insertion_sort(keys, indexes, n);
	else if (!merge_runs(keys, indexes, spare, spare_i, n))
		radix_sort(keys, indexes, spare, spare_i, n);
}

static size_t longest_run(const uint64_t *keys, size_t at, size_t n)
{
	size_t longest = 0;
	for (size_t end; at < n; at = end) {
		end = end_of_run(keys, at, n);
		longest = longest > end - at ? longest : end - at;
	}
	return longest;
}

/* With room for n_room keys and indexes. False when out of memory; *ret_done is what sorting answers. */
static bool sort_with_room(struct ht_mem *mem, uint64_t *keys, uint32_t *indexes, size_t n,
        size_t n_room, bool merges_only, bool *ret_done)
{
	uint64_t *spare = ht_mem_alloc(mem, n_room * sizeof *spare);
	uint32_t *spare_i = ht_mem_alloc(mem, n_room * sizeof *spare_i);
	bool ok = spare && spare_i;
	*ret_done = true;
	if (ok && merges_only)
		*ret_done = merge_runs(keys, indexes, spare, spare_i, n);
	else if (ok)
		sort_in_room(keys, indexes, spare, spare_i, n);
	ht_mem_free(mem, spare, n_room * sizeof *spare);
	ht_mem_free(mem, spare_i, n_room * sizeof *spare_i);
	return ok;
}

bool ht_sort_keys(struct ht_mem *mem, uint64_t *keys, uint32_t *indexes, size_t n)
{
	size_t first = n ? end_of_run(keys, 0, n) : 0;
	bool done = false;
	if (first >= n)
		return true;
	if (n <= SMALL) {
		insertion_sort(keys, indexes, n);
		return true;
	}
	/* merging needs room for the runs behind the first one, and a trace is mostly one long run */
	size_t run = longest_run(keys, first, n);
	if (run <= n / 2 && !sort_with_room(mem, keys, indexes, n, run, true, &done))
		return false;
	return done || sort_with_room(mem, keys, indexes, n, n, false, &done);
}

/* ---- by many threads ---- */

/* So many keys are looked at for each part, to make parts of about the same size. */
#define SAMPLES 16

struct parting {
	ht_ctx *ctx;
	uint64_t *keys, *spare;
	uint32_t *indexes, *spare_i;
	size_t n, n_parts;
	uint64_t *limits; /* keys of a part are below its limit; the last has none */
	uint32_t *places; /* by share and part: where its keys go; at first their number */
	uint32_t *ends;   /* of the parts */
	atomic_bool is_unsorted;
};

/* Shares of the keys as they are, of which there are as many as parts. */
static struct ht_range share_at(const struct parting *p, size_t i)
{
	return (struct ht_range){ (uint32_t)(p->n * i / p->n_parts),
		(uint32_t)(p->n * (i + 1) / p->n_parts) };
}

static enum ht_status check_share(void *user, size_t i, int i_worker)
{
	struct parting *p = user;
	struct ht_range share = share_at(p, i);
	(void)i_worker;
	for (uint32_t k = share.first + (share.first == 0); k < share.end; k++)
		if (p->keys[k - 1] > p->keys[k]) {
			atomic_store_explicit(&p->is_unsorted, true, memory_order_relaxed);
			break;
		}
	return HT_OK;
}

static size_t part_of(const struct parting *p, uint64_t key, size_t hint)
{
	bool same = (hint + 1 == p->n_parts || key < p->limits[hint]) &&
	            (!hint || key >= p->limits[hint - 1]);
	return same ? hint : HT_LOWER_BOUND(at, p->n_parts - 1, p->limits[at] <= key);
}

static enum ht_status count_share(void *user, size_t i, int i_worker)
{
	struct parting *p = user;
	struct ht_range share = share_at(p, i);
	uint32_t *n = p->places + i * p->n_parts;
	size_t part = 0;
	(void)i_worker;
	for (uint32_t k = share.first; k < share.end; k++)
		n[part = part_of(p, p->keys[k], part)]++;
	return HT_OK;
}

static enum ht_status place_share(void *user, size_t i, int i_worker)
{
	struct parting *p = user;
	struct ht_range share = share_at(p, i);
	uint32_t *at = p->places + i * p->n_parts;
	size_t part = 0;
	(void)i_worker;
	for (uint32_t k = share.first; k < share.end; k++) {
		part = part_of(p, p->keys[k], part);
		p->spare[at[part]] = p->keys[k];
		p->spare_i[at[part]++] = p->indexes[k];
	}
	return HT_OK;
}

static enum ht_status sort_part(void *user, size_t i, int i_worker)
{
	struct parting *p = user;
	size_t first = i ? p->ends[i - 1] : 0, n = p->ends[i] - first;
	(void)i_worker;
	memcpy(p->keys + first, p->spare + first, n * sizeof *p->keys);
	memcpy(p->indexes + first, p->spare_i + first, n * sizeof *p->indexes);
	sort_in_room(p->keys + first, p->indexes + first, p->spare + first, p->spare_i + first, n);
	return HT_OK;
}

static enum ht_status choose_limits(struct parting *p, struct ht_arena *arena)
{
	size_t n = p->n_parts * SAMPLES;
	uint64_t *sample = ht_arena_alloc(arena, n * sizeof *sample);
	uint32_t *unused = ht_arena_alloc(arena, n * sizeof *unused);
	if (!sample || !unused)
		return ht_fail_nomem(p->ctx);
	for (size_t i = 0; i < n; i++)
		sample[i] = p->keys[p->n * (2 * i + 1) / (2 * n)];
	if (!ht_sort_keys(p->ctx->mem, sample, unused, n))
		return ht_fail_nomem(p->ctx);
	for (size_t i = 0; i + 1 < p->n_parts; i++)
		p->limits[i] = sample[(i + 1) * SAMPLES];
	return HT_OK;
}

static enum ht_status sort_parts(struct parting *p, struct ht_arena *arena)
{
	size_t n = p->n_parts;
	p->limits = ht_arena_alloc(arena, n * sizeof *p->limits);
	p->places = ht_arena_alloc(arena, n * n * sizeof *p->places);
	p->ends = ht_arena_alloc(arena, n * sizeof *p->ends);
	p->spare = ht_arena_alloc(arena, p->n * sizeof *p->spare);
	p->spare_i = ht_arena_alloc(arena, p->n * sizeof *p->spare_i);
	if (!p->limits || !p->places || !p->ends || !p->spare || !p->spare_i)
		return ht_fail_nomem(p->ctx);
	HT_TRY(choose_limits(p, arena));
	HT_TRY(ht_parallel(p->ctx, n, count_share, p));
	uint32_t at = 0;
	for (size_t part = 0; part < n; part++) {
		for (size_t share = 0; share < n; share++) {
			uint32_t *place = &p->places[share * n + part], count = *place;
			*place = at;
			at += count;
		}
		p->ends[part] = at;
	}
	HT_TRY(ht_parallel(p->ctx, n, place_share, p));
	return ht_parallel(p->ctx, n, sort_part, p);
}

enum ht_status ht_sort_keys_shared(ht_ctx *ctx, uint64_t *keys, uint32_t *indexes, size_t n)
{
	struct parting p = { .ctx = ctx, .keys = keys, .indexes = indexes, .n = n };
	size_t most = 4 * (size_t)ht_ctx_jobs(ctx);
	p.n_parts = ht_n_ranges(ctx, n);
	p.n_parts = p.n_parts < most ? p.n_parts : most;
	if (p.n_parts < 2 || (ht_ctx_jobs(ctx) == 1 && !ctx->range_rows))
		return ht_sort_keys(ctx->mem, keys, indexes, n) ? HT_OK : ht_fail_nomem(ctx);
	HT_TRY(ht_parallel(ctx, p.n_parts, check_share, &p));
	if (!atomic_load(&p.is_unsorted))
		return HT_OK;
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = sort_parts(&p, &arena);
	ht_arena_done(&arena);
	return status;
}

/* ---- items ---- */

/* Runs shorter than this on average are no order. */
#define RUN_ITEMS 8

typedef int (*compare_fn)(const void *, const void *);

/* Merge [a, b) and [b, end) into to. Sizes that are constants make the copies single moves. */
static inline __attribute__((always_inline)) void merge_of_size(
        const char *a, const char *b, const char *end, char *to, size_t size, compare_fn compare)
{
	const char *a_end = b;
	while (a < a_end && b < end) {
		const char **next = compare(a, b) <= 0 ? &a : &b;
		memcpy(to, *next, size);
		*next += size;
		to += size;
	}
	memcpy(to, a, (size_t)(a_end - a));
	memcpy(to + (a_end - a), b, (size_t)(end - b));
}

static void merge_items(
        const char *a, const char *b, const char *end, char *to, size_t size, compare_fn compare)
{
	if (b == end || compare(b - size, b) <= 0) {
		memcpy(to, a, (size_t)(end - a));
		return;
	}
	switch (size) {
	case 8: merge_of_size(a, b, end, to, 8, compare); break;
	case 16: merge_of_size(a, b, end, to, 16, compare); break;
	case 24: merge_of_size(a, b, end, to, 24, compare); break;
	case 32: merge_of_size(a, b, end, to, 32, compare); break;
	case 40: merge_of_size(a, b, end, to, 40, compare); break;
	default: merge_of_size(a, b, end, to, size, compare); break;
	}
}

/* The starts of runs, and n behind the last; 0 when there are more than fit. */
static size_t find_runs(const char *items, size_t n, size_t size, compare_fn compare,
        uint32_t *starts, size_t n_most)
{
	size_t n_runs = 0;
	starts[n_runs++] = 0;
	for (size_t i = 1; i < n; i++) {
		if (compare(items + (i - 1) * size, items + i * size) <= 0)
			continue;
		if (n_runs == n_most)
			return 0;
		starts[n_runs++] = (uint32_t)i;
	}
	starts[n_runs] = (uint32_t)n;
	return n_runs;
}

/* Neighbours become one until one is left; answers where it is. */
static char *merge_all(
        char *items, char *room, size_t size, compare_fn compare, uint32_t *starts, size_t n_runs)
{
	char *from = items, *to = room;
	while (n_runs > 1) {
		size_t n = 0;
		for (size_t i = 0; i < n_runs; i += 2) {
			size_t middle = i + 1 < n_runs ? starts[i + 1] : starts[n_runs];
			size_t end = i + 2 < n_runs ? starts[i + 2] : starts[n_runs];
			size_t first = starts[i];
			merge_items(from + first * size, from + middle * size, from + end * size,
			        to + first * size, size, compare);
			starts[n++] = (uint32_t)first;
		}
		starts[n] = starts[n_runs];
		n_runs = n;
		char *other = from;
		from = to;
		to = other;
	}
	return from;
}

void ht_sort_items(struct ht_mem *mem, void *items, size_t n, size_t size, compare_fn compare)
{
	size_t i = 1, n_most = n / RUN_ITEMS + 1;
	while (i < n && compare((char *)items + (i - 1) * size, (char *)items + i * size) <= 0)
		i++;
	if (i >= n)
		return;
	/* the runs, then a copy of the items, which needs its alignment */
	size_t runs_bytes = ((n_most + 1) * sizeof(uint32_t) + 15) & ~(size_t)15;
	size_t n_bytes = runs_bytes + n * size;
	char *room = n >= SMALL && n < UINT32_MAX ? ht_mem_alloc(mem, n_bytes) : NULL;
	uint32_t *starts = (uint32_t *)(void *)room;
	size_t n_runs = room ? find_runs(items, n, size, compare, starts, n_most) : 0;
	if (n_runs) {
		const char *sorted =
		        merge_all(items, room + runs_bytes, size, compare, starts, n_runs);
		if (sorted != items)
			memcpy(items, sorted, n * size);
	} else {
		qsort(items, n, size, compare);
	}
	ht_mem_free(mem, room, room ? n_bytes : 0);
}
