/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_replay.c - see event_replay.h.
 */
#include "job/event_replay.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/thread.h"
#include "model/clocks/clocks.h"
#include "table/optional.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

bool ht_event_job_room(struct ht_event_job *job, size_t n, size_t n_edges, size_t n_units)
{
	struct ht_arena *a = job->run->scratch;
	job->before = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->launch = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->unit = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->i_rank = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->step = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->first_edge = ht_arena_alloc(a, (n + 2) * sizeof(uint32_t));
	job->flags = ht_arena_room(a, n + 1);
	job->is_free = ht_arena_alloc(a, n + 1);
	job->recorded = ht_arena_room(a, (n + 1) * sizeof(double));
	job->dur = ht_arena_room(a, (n + 1) * sizeof(double));
	job->before_lag = ht_arena_room(a, (n + 1) * sizeof(double));
	job->launch_lag = ht_arena_room(a, (n + 1) * sizeof(double));
	job->rules = ht_arena_room(a, (n + 1) * sizeof(uint64_t));
	job->start = ht_arena_room(a, (n + 1) * sizeof(double));
	job->end = ht_arena_room(a, (n + 1) * sizeof(double));
	job->members = ht_arena_room(a, (n + 1) * sizeof(uint32_t));
	job->units = ht_arena_room(a, (n_units + 1) * sizeof *job->units);
	job->order = ht_arena_room(a, (n + n_units + 1) * sizeof(uint32_t));
	job->edge_from = ht_arena_room(a, (n_edges + 1) * sizeof(uint32_t));
	job->edge_lag = ht_arena_room(a, (n_edges + 1) * sizeof(double));
	job->edge_kind = ht_arena_room(a, n_edges + 1);
	return job->before && job->launch && job->unit && job->i_rank && job->step &&
	       job->first_edge && job->flags && job->is_free && job->recorded && job->dur &&
	       job->before_lag && job->launch_lag && job->rules && job->start && job->end &&
	       job->members && job->units && job->order && job->edge_from && job->edge_lag &&
	       job->edge_kind;
}

static uint32_t node_of(const struct ht_event_rank *r, int64_t place)
{
	return place < 0 ? HT_NONE : r->first + (uint32_t)place;
}

/* Times are those of the job from its first moment on: doubles have room for a month in nanoseconds. */
static void read_nodes(struct ht_event_job *job, uint32_t i_rank, int64_t zero_ns)
{
	struct ht_event_rank *r = &job->ranks[i_rank];
	const ht_table *nodes = r->part->facts[HT_EVENT_FACTS_NODES];
	struct ht_time_move move = ht_part_move(job->run, r->part);
	r->text = ht_table_cells(nodes, HT_EVENT_NAME);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t node = r->first + i;
		int64_t start = ht_time_moved(&move, ht_table_i64(nodes, i, HT_EVENT_START));
		job->recorded[node] = (double)(start - zero_ns);
		job->dur[node] = (double)ht_table_i64(nodes, i, HT_EVENT_DUR);
		job->before[node] = node_of(r, ht_table_i64_or(nodes, i, HT_EVENT_BEFORE, -1));
		job->launch[node] = node_of(r, ht_table_i64_or(nodes, i, HT_EVENT_LAUNCHED, -1));
		job->before_lag[node] = (double)ht_table_i64(nodes, i, HT_EVENT_BEFORE_LAG);
		job->launch_lag[node] = (double)ht_table_i64(nodes, i, HT_EVENT_LAUNCH_LAG);
		job->flags[node] = (uint8_t)ht_table_i64(nodes, i, HT_EVENT_FLAGS);
		job->rules[node] = (uint64_t)ht_table_i64(nodes, i, HT_EVENT_RULES);
		job->step[node] = (uint32_t)ht_table_i64_or(nodes, i, HT_EVENT_STEP, HT_NONE);
		job->unit[node] = HT_NONE;
		job->i_rank[node] = i_rank;
		if (!ht_table_is_null(nodes, i, HT_EVENT_NAME) && r->text[i] >= r->n_texts)
			r->n_texts = r->text[i] + 1;
	}
}

/* Edges are sorted by the node that waits, and every one has such a node (ht_event_graph_is_sound). */
static void read_edges(struct ht_event_job *job, const struct ht_event_rank *r)
{
	const ht_table *edges = r->part->facts[HT_EVENT_FACTS_EDGES];
	size_t n_rows = ht_table_n_rows(edges), e = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		job->first_edge[r->first + i] = r->first_edge + (uint32_t)e;
		for (; e < n_rows && ht_table_i64(edges, e, HT_EDGE_TO) == i; e++) {
			size_t at = r->first_edge + e;
			job->edge_from[at] = node_of(r, ht_table_i64(edges, e, HT_EDGE_FROM));
			job->edge_lag[at] = (double)ht_table_i64(edges, e, HT_EDGE_LAG);
			job->edge_kind[at] = (uint8_t)ht_table_i64(edges, e, HT_EDGE_KIND);
		}
	}
}

struct reading {
	struct ht_event_job *job;
	int64_t zero_ns;
};

static enum ht_status read_rank(void *user, size_t i_rank, int i_worker)
{
	const struct reading *r = user;
	(void)i_worker;
	read_nodes(r->job, (uint32_t)i_rank, r->zero_ns);
	read_edges(r->job, &r->job->ranks[i_rank]);
	return HT_OK;
}

const char *ht_event_job_name(const struct ht_event_job *job, uint32_t node)
{
	const struct ht_event_rank *r = &job->ranks[job->i_rank[node]];
	const ht_table *nodes = r->part->facts[HT_EVENT_FACTS_NODES];
	return ht_table_is_null(nodes, node - r->first, HT_EVENT_NAME)
	               ? NULL
	               : ht_table_str(nodes, node - r->first, HT_EVENT_NAME);
}

/* ---- collectives ---- */

struct by_row {
	int64_t row;
	uint32_t node;
};

static int compare_rows(const void *left, const void *right)
{
	return ht_order_i64(
	        ((const struct by_row *)left)->row, ((const struct by_row *)right)->row);
}

struct kernels {
	struct by_row *list;
	size_t n;
};

static bool list_kernels(struct ht_event_job *job, size_t i_rank, struct kernels *ret)
{
	const struct ht_event_rank *r = &job->ranks[i_rank];
	const ht_table *nodes = r->part->facts[HT_EVENT_FACTS_NODES];
	for (uint32_t i = 0; i < r->n; i++)
		ret->n += job->flags[r->first + i] & HT_EVENT_COMM ? 1 : 0;
	ret->list = ht_arena_room(job->run->scratch, (ret->n + 1) * sizeof *ret->list);
	if (!ret->list)
		return false;
	ret->n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (job->flags[r->first + i] & HT_EVENT_COMM)
			ret->list[ret->n++] =
			        (struct by_row){ ht_table_i64_or(nodes, i, HT_EVENT_ROW, -1),
				        r->first + i };
	qsort(ret->list, ret->n, sizeof *ret->list, compare_rows);
	return true;
}

/* What a rank does with others, in no order: ranks of the same stage do the same. */
static uint64_t shape_of(const struct ht_collective *c, bool is_lower)
{
	struct {
		int64_t kind, size, side;
	} key = { c->kind, (int64_t)c->n, c->kind == HT_COMM_SEND_RECV ? 1 + is_lower : 0 };
	return ht_hash(&key, sizeof key);
}

static void add_unit(
        struct ht_event_job *job, const uint32_t *nodes, uint32_t n, const struct ht_collective *c)
{
	struct ht_event_unit *unit = &job->units[job->n_units];
	uint32_t first = job->n_units ? unit[-1].first + unit[-1].n : 0;
	double begin = -INFINITY;
	*unit = (struct ht_event_unit){ .first = first, .n = n, .of = c };
	for (uint32_t i = 0; i < n; i++) {
		job->members[first + i] = nodes[i];
		job->unit[nodes[i]] = job->n_units;
		begin = fmax(begin, job->recorded[nodes[i]]);
		job->ranks[job->i_rank[nodes[i]]].shape += shape_of(c, i == 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		double transfer = job->recorded[nodes[i]] + job->dur[nodes[i]] - begin;
		bool is_free = transfer < 0 && c->kind == HT_COMM_SEND_RECV;
		job->is_free[nodes[i]] = is_free;
		job->n_early += is_free;
		job->n_negative += transfer < 0 && !is_free;
		if (!is_free)
			job->dur[nodes[i]] = fmax(transfer, 0);
	}
	job->n_units++;
}

static bool find_units(struct ht_event_job *job)
{
	const struct ht_clocks *clocks = job->run->clocks[0];
	const struct ht_roster *roster = job->run->rosters[0];
	struct ht_arena *scratch = job->run->scratch;
	uint32_t *nodes = ht_arena_room(scratch, (roster->n + 1) * sizeof *nodes);
	struct kernels *kernels = ht_arena_alloc(scratch, (roster->n + 1) * sizeof *kernels);
	if (!nodes || !kernels)
		return false;
	for (size_t i = 0; i < job->n_ranks; i++) {
		size_t at = ht_roster_find(roster, job->ranks[i].number);
		if (at != SIZE_MAX && !list_kernels(job, i, &kernels[at]))
			return false;
	}
	for (size_t i = 0; clocks && i < clocks->matches.n; i++) {
		const struct ht_collective *c = &clocks->matches.collectives[i];
		bool waits = ht_comm_kind_synchronises(c->kind) || c->kind == HT_COMM_SEND_RECV;
		uint32_t n = 0;
		for (size_t k = 0; k < c->n && waits && c->n > 1; k++) {
			const struct kernels *of = &kernels[c->calls[k].i_rank];
			struct by_row key = { .row = c->calls[k].row };
			const struct by_row *found =
			        of->n ? bsearch(&key, of->list, of->n, sizeof key, compare_rows)
			              : NULL;
			if (found && job->unit[found->node] == HT_NONE)
				nodes[n++] = found->node;
		}
		if (n > 1)
			add_unit(job, nodes, n, c);
	}
	return true;
}

double ht_event_unit_transfer(const struct ht_event_job *job, const struct ht_event_unit *unit)
{
	double most = 0;
	for (uint32_t i = 0; i < unit->n; i++)
		most = fmax(most, job->dur[job->members[unit->first + i]]);
	return most;
}

/* ---- steps ---- */

struct window {
	int64_t step;
	double start, end;
	uint32_t i_rank, i_window;
};

static int compare_windows(const void *left, const void *right)
{
	const struct window *a = left, *b = right;
	if (a->step != b->step)
		return ht_order_i64(a->step, b->step);
	return a->i_rank != b->i_rank ? ht_order_i64(a->i_rank, b->i_rank)
	                              : ht_order_i64(a->i_window, b->i_window);
}

static size_t list_windows(struct ht_event_job *job, int64_t zero_ns, struct window *windows)
{
	size_t n = 0;
	for (uint32_t k = 0; k < job->n_ranks; k++) {
		const struct ht_part *part = job->ranks[k].part;
		const ht_table *table = part->facts[HT_EVENT_FACTS_WINDOWS];
		struct ht_time_move move = ht_part_move(job->run, part);
		for (uint32_t i = 0; i < ht_table_n_rows(table); i++) {
			int64_t start = ht_table_i64(table, i, HT_WINDOW_START);
			int64_t end = ht_table_i64(table, i, HT_WINDOW_END);
			windows[n++] =
			        (struct window){ ht_table_i64_or(table, i, HT_WINDOW_STEP, i),
				        (double)(ht_time_moved(&move, start) - zero_ns),
				        (double)(ht_time_moved(&move, end) - zero_ns), k, i };
		}
	}
	qsort(windows, n, sizeof *windows, compare_windows);
	return n;
}

/* Steps that every rank has once; nodes of others have none. */
static bool find_steps(struct ht_event_job *job, int64_t zero_ns)
{
	struct ht_arena *a = job->run->scratch;
	size_t n_all = 0, most = 0;
	for (size_t k = 0; k < job->n_ranks; k++) {
		size_t n = ht_table_n_rows(job->ranks[k].part->facts[HT_EVENT_FACTS_WINDOWS]);
		n_all += n;
		most = n > most ? n : most;
	}
	struct window *windows = ht_arena_room(a, (n_all + 1) * sizeof *windows);
	uint32_t *number = ht_arena_room(a, (job->n_ranks * most + 1) * sizeof *number);
	job->steps = ht_arena_alloc(a, (most + 1) * sizeof *job->steps);
	job->ends = ht_arena_alloc(a, (most + 1) * sizeof *job->ends);
	job->begins = ht_arena_alloc(a, (most + 1) * sizeof *job->begins);
	job->recorded_ends = ht_arena_alloc(a, (most + 1) * sizeof *job->recorded_ends);
	if (!windows || !number || !job->steps || !job->ends || !job->begins || !job->recorded_ends)
		return false;
	memset(number, 0xff, job->n_ranks * most * sizeof *number);
	list_windows(job, zero_ns, windows);
	for (size_t i = 0, end; i < n_all; i = end) {
		double first = INFINITY, last = -INFINITY;
		for (end = i; end < n_all && windows[end].step == windows[i].step; end++) {
			first = fmin(first, windows[end].start);
			last = fmax(last, windows[end].end);
		}
		if (end - i != job->n_ranks ||
		        windows[end - 1].i_rank - windows[i].i_rank + 1 != end - i)
			continue;
		for (size_t k = i; k < end; k++)
			number[windows[k].i_rank * most + windows[k].i_window] =
			        (uint32_t)job->n_windows;
		job->steps[job->n_windows] = windows[i].step;
		job->begins[job->n_windows] = first;
		job->recorded_ends[job->n_windows++] = last;
	}
	for (uint32_t i = 0; i < job->n_nodes; i++)
		if (job->step[i] != HT_NONE)
			job->step[i] = number[job->i_rank[i] * most + job->step[i]];
	job->n_steps = job->n_windows > 1 ? job->n_windows - 1 : job->n_windows;
	return true;
}

enum ht_status ht_event_job_make(
        struct ht_run *run, const struct ht_parts *parts, struct ht_event_job *job)
{
	*job = (struct ht_event_job){ .run = run, .n_ranks = parts->n };
	size_t n = ht_parts_n_rows(parts, HT_EVENT_FACTS_NODES);
	size_t n_edges = ht_parts_n_rows(parts, HT_EVENT_FACTS_EDGES);
	size_t n_units = run->clocks[0] ? run->clocks[0]->matches.n : 0;
	uint32_t e = 0;
	int64_t zero_ns = INT64_MAX;
	if (n >= HT_NONE / 4 || n_edges >= HT_NONE / 4)
		return ht_fail(run->ctx, HT_LIMIT, NULL, -1, "choose fewer steps with --step",
		        "the job has %zu nodes, which is more than a replay can hold", n);
	job->ranks = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *job->ranks);
	if (!job->ranks || !ht_event_job_room(job, n, n_edges, n_units))
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < parts->n; k++) {
		const ht_table *nodes = parts->list[k].facts[HT_EVENT_FACTS_NODES];
		struct ht_time_move move = ht_part_move(run, &parts->list[k]);
		job->ranks[k] = (struct ht_event_rank){ .number = parts->list[k].rank,
			.part = &parts->list[k],
			.first = job->n_nodes,
			.n = (uint32_t)ht_table_n_rows(nodes),
			.first_edge = e };
		job->n_nodes += job->ranks[k].n;
		e += (uint32_t)ht_table_n_rows(parts->list[k].facts[HT_EVENT_FACTS_EDGES]);
		for (uint32_t i = 0; i < job->ranks[k].n; i++) {
			int64_t at = ht_time_moved(&move, ht_table_i64(nodes, i, HT_EVENT_START));
			zero_ns = at < zero_ns ? at : zero_ns;
		}
	}
	job->first_edge[n] = e;
	HT_TRY(ht_parallel(run->ctx, parts->n, read_rank, &(struct reading){ job, zero_ns }));
	if (!find_units(job) || !find_steps(job, zero_ns))
		return ht_fail_nomem(run->ctx);
	return ht_event_job_sort(job);
}

/* ---- replay ---- */

static double start_of(
        const struct ht_event_job *job, const struct ht_event_edit *edit, uint32_t node)
{
	double scale = edit->scale ? edit->scale[node] : 1, start = -INFINITY;
	uint32_t before = job->before[node];
	/* what stands apart has a stream of its own */
	while (before != HT_NONE && edit->is_apart &&
	        edit->is_apart[before] != edit->is_apart[node])
		before = job->before[before];
	if (before != HT_NONE && edit->is_fused && edit->is_fused[node])
		return job->end[before];
	if (before != HT_NONE)
		start = job->end[before] + job->before_lag[node];
	if (job->launch[node] != HT_NONE)
		start = fmax(start, job->end[job->launch[node]] + scale * job->launch_lag[node]);
	for (uint32_t e = job->first_edge[node]; e < job->first_edge[node + 1]; e++) {
		uint32_t from = job->edge_from[e];
		bool overlaps = job->edge_kind[e] == HT_EDGE_OVERLAP;
		double rate = overlaps && edit->dur && job->dur[from] > 0
		                      ? edit->dur[from] / job->dur[from]
		              : overlaps ? 1
		                         : scale;
		start = fmax(start,
		        (overlaps ? job->start[from] : job->end[from]) + rate * job->edge_lag[e]);
	}
	return start == -INFINITY ? job->recorded[node] : start;
}

static void finish_unit(
        struct ht_event_job *job, const double *dur, const struct ht_event_unit *unit)
{
	double begin = -INFINITY;
	for (uint32_t i = 0; i < unit->n; i++)
		begin = fmax(begin, job->start[job->members[unit->first + i]]);
	for (uint32_t i = 0; i < unit->n; i++) {
		uint32_t member = job->members[unit->first + i];
		if (!job->is_free[member])
			job->end[member] = begin + dur[member];
	}
}

void ht_event_job_replay(
        struct ht_event_job *job, const struct ht_event_edit *edit, double *ret_steps_ns)
{
	const double *dur = edit->dur ? edit->dur : job->dur;
	for (size_t s = 0; s < job->n_windows; s++)
		job->ends[s] = -INFINITY;
	for (uint32_t k = 0; k < job->n_order; k++) {
		uint32_t node = job->order[k];
		if (node >= job->n_nodes) {
			finish_unit(job, dur, &job->units[node - job->n_nodes]);
			continue;
		}
		job->start[node] = start_of(job, edit, node);
		job->end[node] = job->start[node] + dur[node];
	}
	for (uint32_t i = 0; i < job->n_nodes; i++)
		if (job->step[i] != HT_NONE && (job->flags[i] & HT_EVENT_ENDS))
			job->ends[job->step[i]] = fmax(job->ends[job->step[i]], job->end[i]);
	for (size_t i = 0; i < job->n_steps; i++)
		ret_steps_ns[i] = job->n_windows > 1 ? job->ends[i + 1] - job->ends[i]
		                                     : job->ends[i] - job->begins[i];
}

double ht_event_job_recorded_ns(const struct ht_event_job *job, size_t i)
{
	return job->n_windows > 1 ? job->recorded_ends[i + 1] - job->recorded_ends[i]
	                          : job->recorded_ends[i] - job->begins[i];
}
