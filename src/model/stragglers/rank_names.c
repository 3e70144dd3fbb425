/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_names.c - see rank_names.h.
 */
#include "model/stragglers/rank_names.h"
#include "base/text_compare.h"

#include <inttypes.h>
#include <string.h>

/* Ranks of a node, where nothing else says what a node is. */
#define NODE 8
/* A world of more ranks than this is a damaged file's. */
#define MOST_RANKS 1000000
/* More ranges than this are not listed. */
#define MOST_RANGES 4

const char *ht_ranks_text(struct ht_arena *scratch, const int64_t *numbers, size_t n)
{
	const char *text = n == 1 ? "rank " : "ranks ";
	size_t n_ranges = 0;
	for (size_t first = 0, end; text && first < n; first = end) {
		for (end = first + 1; end < n && numbers[end] == numbers[end - 1] + 1; end++)
			;
		if (n_ranges == MOST_RANGES)
			return ht_arena_printf(scratch, "%s and %zu more", text, n - first);
		const char *between = n_ranges++ ? ", " : "";
		if (end - first == 1)
			text = ht_arena_printf(
			        scratch, "%s%s%" PRId64, text, between, numbers[first]);
		else
			text = ht_arena_printf(scratch, "%s%s%" PRId64 "%s%" PRId64, text, between,
			        numbers[first], end - first == 2 ? ", " : "\u2013",
			        numbers[end - 1]);
	}
	return text;
}

/* ---- nodes ---- */

struct text {
	const char *at;
	size_t n;
};

static bool drop_number(struct text *text, char before)
{
	size_t n = text->n;
	while (n && text->at[n - 1] >= '0' && text->at[n - 1] <= '9')
		n--;
	if (n == text->n || n < 2 || text->at[n - 1] != before)
		return false;
	text->n = n - 1;
	return true;
}

/* The host in the name of a file; n 0: it has none. */
static struct text host_of(const char *path)
{
	static const char *const endings[] = { ".pt.trace.json", ".pt.trace.json.gz" };
	const char *slash = strrchr(path, '/');
	struct text name = { slash ? slash + 1 : path, 0 };
	for (size_t i = 0; i < HT_COUNT(endings) && !name.n; i++)
		if (ht_text_ends(name.at, endings[i]))
			name.n = strlen(name.at) - strlen(endings[i]);
	if (!name.n)
		return name;
	drop_number(&name, '.');
	if (!drop_number(&name, '_'))
		name.n = 0;
	return name;
}

static bool is_in(const struct ht_late_set *set, const struct ht_parts *parts, int64_t number)
{
	for (size_t i = 0; i < set->n; i++)
		if (parts->list[set->parts[i]].rank == number)
			return true;
	return false;
}

/* " (node X)", " (of node X)" or "" by the hosts in names of files; NULL when out of memory. */
static const char *by_host(
        struct ht_run *run, const struct ht_parts *parts, const struct ht_late_set *set)
{
	const struct ht_roster *roster = run->rosters[0];
	struct text host = { NULL, 0 };
	size_t n_inside = 0, n_outside = 0, n_elsewhere = 0;
	for (size_t i = 0; i < roster->n; i++) {
		struct text one = host_of(roster->ranks[i].path);
		bool inside = is_in(set, parts, roster->ranks[i].number);
		if (!one.n)
			return "";
		if (inside && !host.n)
			host = one;
	}
	for (size_t i = 0; i < roster->n; i++) {
		struct text one = host_of(roster->ranks[i].path);
		bool same = one.n == host.n && !memcmp(one.at, host.at, host.n);
		bool inside = is_in(set, parts, roster->ranks[i].number);
		n_inside += inside && same;
		n_outside += !inside && same;
		n_elsewhere += !same;
	}
	if (n_inside < set->n || !n_elsewhere)
		return "";
	return ht_arena_printf(
	        run->scratch, n_outside ? " (of node %.*s)" : " (node %.*s)", (int)host.n, host.at);
}

/* Does a process group of the job have just the ranks of a node? */
static bool has_node_groups(const struct ht_run *run, const struct ht_lateness *lateness)
{
	const struct ht_roster *roster = run->rosters[0];
	for (size_t i = 0; roster->n > NODE && i < lateness->n; i++) {
		const struct ht_collective *c = lateness->arrivals[i].collective;
		if (c->n != NODE || c->size != NODE)
			continue;
		int64_t first = roster->ranks[c->calls[0].i_rank].number;
		int64_t last = roster->ranks[c->calls[NODE - 1].i_rank].number;
		if (first % NODE == 0 && last == first + NODE - 1)
			return true;
	}
	return false;
}

static const char *by_number(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_lateness *lateness, const struct ht_late_set *set)
{
	int64_t first = parts->list[set->parts[0]].rank;
	int64_t last = parts->list[set->parts[set->n - 1]].rank;
	if (first / NODE != last / NODE || !has_node_groups(run, lateness))
		return "";
	return ht_arena_printf(run->scratch,
	        set->n == NODE ? " (node %" PRId64 ")" : " (of node %" PRId64 ")", first / NODE);
}

const char *ht_late_set_text(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_lateness *lateness, const struct ht_late_set *set)
{
	int64_t *numbers = ht_arena_alloc(run->scratch, (set->n + 1) * sizeof *numbers);
	if (!numbers)
		return NULL;
	for (size_t i = 0; i < set->n; i++)
		numbers[i] = parts->list[set->parts[i]].rank;
	const char *text = ht_ranks_text(run->scratch, numbers, set->n);
	if (!text || set->n < 2)
		return text;
	const char *node = by_host(run, parts, set);
	if (node && !*node)
		node = by_number(run, parts, lateness, set);
	return node ? ht_arena_printf(run->scratch, "%s%s", text, node) : NULL;
}

/* ---- who is missing ---- */

const char *ht_missing_ranks_text(struct ht_run *run, const struct ht_lateness *lateness)
{
	const struct ht_roster *roster = run->rosters[0];
	int64_t world = 0;
	bool incomplete = false;
	for (size_t i = 0; i < roster->n; i++)
		if (roster->ranks[i].job.world_size > world)
			world = roster->ranks[i].job.world_size;
	for (size_t i = 0; i < lateness->n && !incomplete; i++)
		incomplete = !lateness->arrivals[i].collective->complete;
	if (!incomplete || world <= (int64_t)roster->n || world > MOST_RANKS)
		return "";
	int64_t *numbers = ht_arena_alloc(run->scratch, (size_t)(world + 1) * sizeof *numbers);
	size_t n = 0;
	if (!numbers)
		return NULL;
	for (int64_t number = 0; number < world; number++)
		if (ht_roster_find(roster, number) == SIZE_MAX)
			numbers[n++] = number;
	return n ? ht_ranks_text(run->scratch, numbers, n) : "";
}
