/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_path.c - see found_path.h.
 */
#include "verdict/found_path.h"

#include "verdict/slow_steps.h"
#include "verdict/words.h"
#include "base/checked.h"
#include "base/sort.h"
#include "model/clocks/clocks.h"
#include "model/rows/addresses.h"
#include "table/optional.h"

#include <string.h>

static int bound_of(const char *name)
{
	int bound = HT_CP_N_BOUNDS - 1;
	while (bound > HT_CP_BOUND_NONE && strcmp(ht_cp_bound_name(bound), name) != 0)
		bound--;
	return bound;
}

/* Steps that what bounds the run is said of, and slow ones. */
enum { BOUND, SLOW, N_LOTS };

struct longest {
	int64_t ns, rank, row;
};

/* Stretches of the path with one bound and name, of one rank. */
struct named {
	const char *name;          /* "": nobody's */
	int64_t ns[N_LOTS];        /* of all of them */
	struct longest of[N_LOTS]; /* the longest of them */
	uint32_t bound;
	uint32_t next_1; /* 1 + the one of the same text with another bound, 0: none */
};

struct path {
	struct ht_findings *f;
	uint32_t **
	        first_1; /* by part, by text of its pieces: 1 + place in by_name; NULL until asked */
	uint32_t *nobody_1;    /* by bound */
	struct ht_vec by_name; /* struct named */
};

/* Where the first of a text is noted; NULL when out of memory. */
static uint32_t *first_of(struct path *path, const struct ht_cp_stretch *stretch)
{
	const ht_table *pieces = path->f->parts->list[stretch->i_part].facts[HT_FOUND_PIECES];
	uint32_t **first_1 = &path->first_1[stretch->i_part];
	if (!stretch->name)
		return &path->nobody_1[stretch->bound];
	if (!*first_1)
		*first_1 = ht_arena_alloc(path->f->run->scratch,
		        (ht_table_n_texts(pieces) + (size_t)1) * sizeof **first_1);
	return *first_1 ? &(*first_1)[stretch->text] : NULL;
}

/* The sum that a stretch belongs to; NULL when out of memory. */
static struct named *named_of(struct path *path, const struct ht_cp_stretch *stretch)
{
	uint32_t *at_1 = first_of(path, stretch);
	while (at_1 && *at_1) {
		struct named *named = (struct named *)path->by_name.data + *at_1 - 1;
		if (named->bound == stretch->bound)
			return named;
		at_1 = &named->next_1;
	}
	struct named added = { .name = stretch->name ? stretch->name : "",
		.of = { { .ns = -1 }, { .ns = -1 } },
		.bound = stretch->bound };
	if (!at_1)
		return NULL;
	/* the list may move, and what points to its end with it */
	*at_1 = (uint32_t)path->by_name.n + 1;
	if (!HT_VEC_PUSH(path->f->run->ctx->mem, &path->by_name, struct named, added))
		return NULL;
	return (struct named *)path->by_name.data + path->by_name.n - 1;
}

static void pool(struct named *into, int lot, int64_t ns, const struct longest *longest)
{
	ht_sum(&into->ns[lot], ns);
	if (longest->ns > into->of[lot].ns)
		into->of[lot] = *longest;
}

/* By bound and name: memory is that of the names, not of the path. */
static bool add_stretch(void *user, const struct ht_cp_stretch *stretch)
{
	struct path *path = user;
	struct ht_findings *f = path->f;
	struct ht_path_bound *bound = &f->path[stretch->bound];
	const struct longest one = { stretch->dur_ns, stretch->rank, stretch->row };
	/* what the device did before the recording is no part of a step */
	if (stretch->bound == HT_CP_BOUND_QUEUED)
		return true;
	bool is_slow = ht_findings_is_slow(f, stretch->step);
	bool is_apart = is_slow && ht_findings_is_apart(f, stretch->step);
	ht_sum(&bound->ns, stretch->dur_ns);
	ht_sum(&f->path_ns, stretch->dur_ns);
	if (is_slow) {
		ht_sum(&bound->slow_ns, stretch->dur_ns);
		ht_sum(&f->slow_path_ns, stretch->dur_ns);
	}
	if (is_apart) {
		ht_sum(&bound->apart_ns, stretch->dur_ns);
		ht_sum(&f->apart_path_ns, stretch->dur_ns);
	}
	if (stretch->inferred)
		ht_sum(&bound->inferred_ns, stretch->dur_ns);
	struct named *named = named_of(path, stretch);
	if (!named)
		return false;
	if (is_slow)
		pool(named, SLOW, stretch->dur_ns, &one);
	if (!is_apart)
		pool(named, BOUND, stretch->dur_ns, &one);
	return true;
}

static int by_bound_and_name(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	return a->bound != b->bound ? (int)a->bound - (int)b->bound : strcmp(a->name, b->name);
}

static void name_bound(struct ht_path_name *of, const struct named *sum, int lot)
{
	if (sum->ns[lot] <= of->ns)
		return;
	*of = (struct ht_path_name){ *sum->name ? sum->name : NULL, sum->ns[lot], sum->of[lot].rank,
		sum->of[lot].row };
}

/* Objects have another address in each process, and may be made anew for each call: what is called of them is the same. */
static enum ht_status drop_addresses(struct ht_findings *f, struct named *by_name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		by_name[i].name = ht_copy_without_addresses(f->run->scratch, by_name[i].name);
		if (!by_name[i].name)
			return ht_fail_nomem(f->run->ctx);
	}
	return HT_OK;
}

/* Of each bound, the name with most time on all ranks, and its longest stretch. */
static enum ht_status name_bounds(struct ht_findings *f, struct named *by_name, size_t n)
{
	HT_TRY(drop_addresses(f, by_name, n));
	ht_sort_items(f->run->ctx->mem, by_name, n, sizeof *by_name, by_bound_and_name);
	for (size_t first = 0, end; first < n; first = end) {
		struct named sum = by_name[first];
		struct ht_path_bound *bound = &f->path[sum.bound];
		for (end = first + 1; end < n && !by_bound_and_name(&sum, &by_name[end]); end++)
			for (int lot = 0; lot < N_LOTS; lot++)
				pool(&sum, lot, by_name[end].ns[lot], &by_name[end].of[lot]);
		name_bound(&bound->most, &sum, BOUND);
		name_bound(&bound->slow, &sum, SLOW);
	}
	return HT_OK;
}

static enum ht_status find_path(struct ht_findings *f)
{
	struct ht_arena *scratch = f->run->scratch;
	struct path path = { .f = f,
		.first_1 = ht_arena_alloc(scratch, (f->parts->n + 1) * sizeof *path.first_1),
		.nobody_1 = ht_arena_alloc(scratch, HT_CP_N_BOUNDS * sizeof *path.nobody_1) };
	if (!path.first_1 || !path.nobody_1)
		return ht_fail_nomem(f->run->ctx);
	enum ht_status status = ht_cp_across_each(f->run, f->parts, add_stretch, &path);
	if (status == HT_OK && path.by_name.n)
		status = name_bounds(f, path.by_name.data, path.by_name.n);
	ht_vec_free(f->run->ctx->mem, &path.by_name, sizeof(struct named));
	return status;
}

/* What steps save as part of the path. A first step may have begun before the work that counts as its own, and paths of several
 * processes in one file run at the same time: the path is longer than the steps, but each saves of its own work alone, and no more is
 * saved than there is. */
static int64_t of_path(const struct ht_findings *f, int64_t saved_ns)
{
	int64_t steps_ns = ht_findings_mean_step(f) * (int64_t)f->n_steps;
	if (steps_ns > 0 && f->path_ns > steps_ns)
		saved_ns = (int64_t)((__int128)saved_ns * f->path_ns / steps_ns);
	return saved_ns < f->path_ns ? saved_ns : f->path_ns;
}

/* Of several ranks: as large a part of the job's path as of the steps of the rank that stands for all, and no more than the path
 * has of it. */
static int64_t of_job(
        const struct ht_findings *f, int64_t saved_ns, int64_t steps_ns, int64_t bound_ns)
{
	int64_t ns = steps_ns > 0 ? (int64_t)((__int128)saved_ns * f->path_ns / steps_ns) : 0;
	return ns < bound_ns ? ns : bound_ns;
}

/* Do ranks wait for each other pair by pair, as the stages of a pipeline? Then one gets nowhere without the others. */
static bool has_pairs(const struct ht_findings *f)
{
	const struct ht_clocks *clocks = f->parts->n > 1 ? f->run->clocks[0] : NULL;
	for (size_t i = 0; clocks && i < clocks->matches.n; i++) {
		const struct ht_collective *c = &clocks->matches.collectives[i];
		if (c->kind == HT_COMM_SEND_RECV && c->n > 1)
			return true;
	}
	return false;
}

/* What-if of one rank, which of several stands for all; without it the time on the path bounds what could be saved. */
static void find_savings(struct ht_findings *f)
{
	bool known = false, idle_known = false;
	int64_t saved[HT_CP_N_BOUNDS] = { 0 }, length[HT_CP_N_BOUNDS] = { 0 }, steps_ns = 0;
	int64_t idle_ns = 0;
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *what_if = f->parts->list[p].facts[HT_FOUND_WHAT_IF];
		for (size_t i = 0; i < ht_table_n_rows(what_if); i++) {
			const char *scale = ht_table_str(what_if, i, HT_CP_WHAT_IF_SCALE);
			const char *end = strchr(scale, '=');
			char name[64];
			if (!strcmp(scale, HT_CP_SCALE_IDLE)) {
				idle_known = true;
				ht_sum(&idle_ns, ht_table_i64(what_if, i, HT_CP_WHAT_IF_SAVED));
				continue;
			}
			if (!end || (size_t)(end - scale) >= sizeof name)
				continue;
			memcpy(name, scale, (size_t)(end - scale));
			name[end - scale] = '\0';
			known = true;
			ht_sum(&saved[bound_of(name)],
			        ht_table_i64(what_if, i, HT_CP_WHAT_IF_SAVED));
			ht_sum(&length[bound_of(name)],
			        ht_table_i64(what_if, i, HT_CP_WHAT_IF_LENGTH));
		}
	}
	/* without communication a step still takes as long as its computing */
	struct ht_path_bound *comm = &f->path[HT_CP_BOUND_GPU_COMMUNICATION];
	int64_t computing =
	        f->n_devices ? f->breakdown[HT_BREAKDOWN_COMPUTE] / (int64_t)f->n_devices : 0;
	int64_t rest = f->path_ns > computing ? f->path_ns - computing : 0;
	/* no rank stands for one that all others wait for, nor for the other stages */
	known &= f->parts->n == 1 || (!f->latest && !has_pairs(f));
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		steps_ns = length[k] > steps_ns ? length[k] : steps_ns;
	/* windows of what-if begin on the CPU, and overlap where that is ahead */
	int64_t all_ns = ht_findings_mean_step(f) * (int64_t)f->n_steps;
	steps_ns = all_ns > 0 && all_ns < steps_ns ? all_ns : steps_ns;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		f->path[k].saved_ns = !known ? f->path[k].ns
		                      : f->parts->n == 1
		                              ? of_path(f, saved[k])
		                              : of_job(f, saved[k], steps_ns, f->path[k].ns);
	comm->saved_ns = comm->saved_ns < rest ? comm->saved_ns : rest;
	int64_t on_path = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		if (HT_CP_IDLE_BOUNDS & 1u << k)
			ht_sum(&on_path, f->path[k].ns);
	f->idle_saved_ns = !known || !idle_known ? on_path
	                   : f->parts->n == 1    ? of_path(f, idle_ns)
	                                         : of_job(f, idle_ns, steps_ns, on_path);
}

/* Less between steps is nothing: shares are of the path then. */
#define BETWEEN_LEAST 0.01

/* A step lasts from the completion of the one before, its window from its own start: what is between them is on no path. */
static void find_between(struct ht_findings *f)
{
	int64_t n_apart = (int64_t)f->slow.n_apart, n_rows = (int64_t)f->slow.n_apart_rows;
	int64_t steps_ns = ht_findings_mean_step(f) * (int64_t)f->n_steps;
	int64_t apart_ns = n_rows ? f->slow.apart_ns / n_rows * n_apart : 0;
	if (!f->has_steps || f->path_ns <= 0)
		return;
	f->between_ns = steps_ns > f->path_ns ? steps_ns - f->path_ns : 0;
	if (ht_ratio(f->between_ns, steps_ns) < BETWEEN_LEAST)
		f->between_ns = 0;
	f->apart_between_ns = apart_ns > f->apart_path_ns ? apart_ns - f->apart_path_ns : 0;
	if (f->apart_between_ns > f->between_ns)
		f->apart_between_ns = f->between_ns;
}

enum ht_status ht_found_path(struct ht_findings *f)
{
	HT_TRY(find_path(f));
	find_between(f);
	find_savings(f);
	return HT_OK;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t part_of(double share, int64_t whole_ns, int64_t most_ns)
{
	return least(ht_cut_sat(share * (double)whole_ns), most_ns);
}

void ht_found_path_host_calls(struct ht_findings *f)
{
	struct ht_path_bound *host = &f->path[HT_CP_BOUND_CPU];
	struct ht_path_bound *comm = &f->path[HT_CP_BOUND_GPU_COMMUNICATION];
	const struct ht_tops *calls = &f->tops[HT_TOP_COMM];
	int64_t steps_ns = 0, comm_ns = f->roles[HT_BUSY_COMM];
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *steps = f->parts->list[p].facts[HT_FOUND_STEPS];
		for (size_t i = 0; i < ht_table_n_rows(steps); i++)
			ht_sum(&steps_ns, ht_table_i64_or(steps, i, HT_FOUND_STEP_TIME_NS, 0));
		comm_ns -= f->waits_ns[p] == HT_NO_I64 ? 0 : f->waits_ns[p];
	}
	if ((f->n_devices && !f->calls_host) || comm_ns <= 0 || steps_ns <= 0 || !calls->n)
		return;
	double share = (double)comm_ns / (double)steps_ns;
	int64_t slow = part_of(share, f->slow_path_ns, host->slow_ns);
	int64_t apart = part_of(share, f->apart_path_ns, host->apart_ns);
	int64_t usual = part_of(share, f->path_ns - f->apart_path_ns, host->ns - host->apart_ns);
	int64_t saved = least(apart + usual, host->saved_ns);
	host->ns -= apart + usual;
	host->slow_ns -= slow;
	host->apart_ns -= apart;
	host->saved_ns -= saved;
	/* whose the calls' time was is not known: no name has more than is left */
	host->most.ns = least(host->most.ns, host->ns - host->apart_ns);
	host->slow.ns = least(host->slow.ns, host->slow_ns);
	ht_sum(&comm->ns, apart + usual);
	ht_sum(&comm->slow_ns, slow);
	ht_sum(&comm->apart_ns, apart);
	ht_sum(&comm->saved_ns, saved);
	comm->most = comm->slow = (struct ht_path_name){ calls->list[0].name, usual,
		calls->list[0].rank, calls->list[0].row };
	comm->slow.ns = slow;
}
