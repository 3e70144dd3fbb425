/*
 * chain_replay.c - see chain_replay.h.
 */
#include "job/chain_replay.h"

#include "base/sort.h"
#include "model/clocks/clocks.h"
#include "table/optional.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A communication kernel, or the end of a step. */
struct node {
	int64_t start_ns, end_ns; /* set time */
	int64_t row;              /* of the kernel */
	int64_t base_ns;          /* when its chain begins */
	int64_t lag_ns;           /* of the chain */
	double transfer_ns;       /* from the last start of the collective to its end */
	uint32_t base;   /* kernel that the chain leads to, NONE: the start of the recording */
	uint32_t before; /* on its stream */
	uint32_t unit;   /* what begins with it */
	uint32_t chain, i_part;
	int64_t step, stream;
	double start, end; /* replayed */
	double lag;        /* of the chain, with the edit */
};

struct unit {
	uint32_t first, n; /* slice of members */
	int64_t begin_ns;
	const char *group;
	bool done;
};

struct rank {
	int64_t number;
	const ht_table *pieces, *chains;
	struct ht_time_move move;
	uint32_t first, n;    /* kernels */
	int64_t start_ns;     /* of its first step */
	uint32_t *end_chain;  /* by chain: the one that it ends in */
	double *saved;        /* by piece: from it to the end of the chain */
	const uint32_t *text; /* by piece: number of its name */
	double *factor;       /* by number of a name: that of the edit; -1: not looked at */
	size_t n_texts;
};

/* Chains that lead to the same collective, or to the start, can be compared. */
struct peer {
	uint32_t base; /* unit, NONE: the start */
	double lag;
	struct node *node;
};

struct ht_chain_job {
	struct ht_run *run;
	struct rank *ranks;
	size_t n_ranks;
	struct node *nodes, *windows; /* windows by step */
	uint32_t n_nodes, n_windows;
	struct unit *units;
	uint32_t *order, *members, n_units;
	double *excess_ns;
	struct peer *peers; /* room for one per rank */
	int64_t *steps;
	size_t n_steps, n_negative;
	double *ends;     /* by step: replayed */
	int64_t since_ns; /* end of the first step: nothing before it is edited */
};

/* ---- ranks ---- */

static bool read_rank(struct ht_chain_job *job, struct rank *r, const struct ht_part *part)
{
	struct ht_arena *scratch = job->run->scratch;
	r->number = part->rank;
	r->pieces = part->facts[HT_CP_FACTS_PIECES];
	r->chains = part->facts[HT_CP_FACTS_CHAINS];
	r->move = ht_part_move(job->run, part);
	size_t n = ht_table_n_rows(r->chains), n_pieces = ht_table_n_rows(r->pieces);
	r->end_chain = ht_arena_alloc(scratch, (n + 1) * sizeof *r->end_chain);
	r->saved = ht_arena_alloc(scratch, (n_pieces + 1) * sizeof *r->saved);
	r->text = ht_table_cells(r->pieces, HT_CP_PIECE_NAME);
	for (size_t i = 0; i < n_pieces; i++)
		if (!ht_table_is_null(r->pieces, i, HT_CP_PIECE_NAME) && r->text[i] >= r->n_texts)
			r->n_texts = r->text[i] + 1;
	r->factor = ht_arena_alloc(scratch, (r->n_texts + 1) * sizeof *r->factor);
	if (!r->end_chain || !r->saved || !r->factor)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		int64_t link = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_LINK, -1);
		uint32_t next = link < 0 ? k : (uint32_t)ht_cp_chain_of_piece(r->chains, link);
		/* links lead back; one that does not is no link */
		r->end_chain[k] = next < k ? r->end_chain[next] : k;
	}
	return true;
}

static int compare_rows(const void *left, const void *right)
{
	return ht_order_i64(((const struct node *)left)->row, ((const struct node *)right)->row);
}

static uint32_t find_node(const struct ht_chain_job *job, const struct rank *r, int64_t row)
{
	struct node key = { .row = row };
	const struct node *found =
	        r->n ? bsearch(&key, job->nodes + r->first, r->n, sizeof key, compare_rows) : NULL;
	return found ? (uint32_t)(found - job->nodes) : NONE;
}

/* Chains as nodes: kernels, sorted by row, and ends of steps. */
static void read_nodes(struct ht_chain_job *job, uint32_t i_part)
{
	struct rank *r = &job->ranks[i_part];
	r->first = job->n_nodes;
	r->start_ns = INT64_MAX;
	for (uint32_t k = 0; k < ht_table_n_rows(r->chains); k++) {
		int64_t row = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_ROW, -1);
		int64_t own = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_OWN, 0);
		struct node node = { .start_ns = ht_time_moved(&r->move,
			                     ht_table_i64_or(r->chains, k, HT_CP_CHAIN_START, 0)),
			.end_ns = ht_time_moved(
			        &r->move, ht_table_i64_or(r->chains, k, HT_CP_CHAIN_END, 0)),
			.row = row,
			.base = NONE,
			.before = NONE,
			.unit = NONE,
			.chain = k,
			.i_part = i_part,
			.step = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_STEP, HT_NO_I64),
			.stream = row < 0 ? -1
			                  : ht_table_i64_or(r->pieces, (size_t)own,
			                            HT_CP_PIECE_STREAM, -1) };
		if (row >= 0)
			job->nodes[job->n_nodes++] = node;
		else if (node.step != HT_NO_I64)
			job->windows[job->n_windows++] = node;
		if (row < 0 && node.start_ns < r->start_ns)
			r->start_ns = node.start_ns;
	}
	r->n = job->n_nodes - r->first;
	qsort(job->nodes + r->first, r->n, sizeof *job->nodes, compare_rows);
}

/* Where the chain of a node begins. */
static void find_base(const struct ht_chain_job *job, struct node *node, int64_t time_ns)
{
	const struct rank *r = &job->ranks[node->i_part];
	uint32_t chain = r->end_chain[node->chain];
	int64_t row = ht_table_i64_or(r->chains, chain, HT_CP_CHAIN_NEXT_ROW, -1);
	int64_t next_ns = ht_table_i64_or(r->chains, chain, HT_CP_CHAIN_NEXT_NS, HT_NO_I64);
	node->base = row < 0 ? NONE : find_node(job, r, row);
	node->base_ns = node->base == NONE || next_ns == HT_NO_I64
	                        ? r->start_ns
	                        : ht_time_moved(&r->move, next_ns);
	node->base_ns = node->base_ns < time_ns ? node->base_ns : time_ns;
	node->lag_ns = time_ns > node->base_ns ? time_ns - node->base_ns : 0;
}

struct by_stream {
	int64_t stream, start_ns;
	uint32_t node;
};

static int compare_streams(const void *left, const void *right)
{
	const struct by_stream *a = left, *b = right;
	return a->stream != b->stream       ? ht_order_i64(a->stream, b->stream)
	       : a->start_ns != b->start_ns ? ht_order_i64(a->start_ns, b->start_ns)
	                                    : ht_order_i64(a->node, b->node);
}

static bool find_streams(struct ht_chain_job *job, const struct rank *r)
{
	struct by_stream *list = ht_arena_alloc(job->run->scratch, (r->n + 1) * sizeof *list);
	if (!list)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct node *node = &job->nodes[r->first + i];
		list[i] = (struct by_stream){ node->stream, node->start_ns, r->first + i };
	}
	qsort(list, r->n, sizeof *list, compare_streams);
	for (uint32_t i = 1; i < r->n; i++)
		if (list[i].stream == list[i - 1].stream && list[i].stream >= 0 &&
		        job->nodes[list[i - 1].node].end_ns <= list[i].start_ns)
			job->nodes[list[i].node].before = list[i - 1].node;
	return true;
}

/* ---- collectives ---- */

static void add_unit(struct ht_chain_job *job, const uint32_t *nodes, uint32_t n, const char *group)
{
	struct unit *unit = &job->units[job->n_units];
	uint32_t first = job->n_units ? unit[-1].first + unit[-1].n : 0;
	*unit = (struct unit){ .first = first, .n = n, .begin_ns = INT64_MIN, .group = group };
	for (uint32_t i = 0; i < n; i++) {
		struct node *node = &job->nodes[nodes[i]];
		node->unit = job->n_units;
		job->members[first + i] = nodes[i];
		if (node->start_ns > unit->begin_ns)
			unit->begin_ns = node->start_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct node *node = &job->nodes[nodes[i]];
		node->transfer_ns = (double)(node->end_ns - unit->begin_ns);
		job->n_negative += node->transfer_ns < 0;
		node->transfer_ns = node->transfer_ns < 0 ? 0 : node->transfer_ns;
	}
	job->n_units++;
}

static bool find_units(struct ht_chain_job *job)
{
	const struct ht_clocks *clocks = job->run->clocks[0];
	const struct ht_roster *roster = job->run->rosters[0];
	struct ht_arena *scratch = job->run->scratch;
	uint32_t *nodes = ht_arena_alloc(scratch, (roster->n + 1) * sizeof *nodes);
	uint32_t *part_of = ht_arena_alloc(scratch, (roster->n + 1) * sizeof *part_of);
	if (!nodes || !part_of)
		return false;
	memset(part_of, 0xff, roster->n * sizeof *part_of);
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		size_t i_rank = ht_roster_find(roster, job->ranks[i].number);
		if (i_rank != SIZE_MAX)
			part_of[i_rank] = i;
	}
	for (size_t i = 0; clocks && i < clocks->matches.n; i++) {
		const struct ht_collective *c = &clocks->matches.collectives[i];
		bool waits = ht_comm_kind_synchronises(c->kind) || c->kind == HT_COMM_SEND_RECV;
		uint32_t n = 0;
		for (size_t k = 0; k < c->n && waits && c->n > 1; k++) {
			uint32_t part = part_of[c->calls[k].i_rank];
			uint32_t node =
			        part == NONE ? NONE
			                     : find_node(job, &job->ranks[part], c->calls[k].row);
			if (node != NONE && job->nodes[node].unit == NONE)
				nodes[n++] = node;
		}
		if (n)
			add_unit(job, nodes, n, c->group);
	}
	for (uint32_t i = 0; i < job->n_nodes; i++)
		if (job->nodes[i].unit == NONE)
			add_unit(job, &i, 1, NULL);
	uint64_t *keys = ht_arena_alloc(scratch, (job->n_units + 1) * sizeof *keys);
	for (uint32_t u = 0; keys && u < job->n_units; u++) {
		keys[u] = ht_sort_key_i64(job->units[u].begin_ns);
		job->order[u] = u;
	}
	return keys && ht_sort_keys(job->run->ctx->mem, keys, job->order, job->n_units);
}

/* ---- steps ---- */

static int compare_steps(const void *left, const void *right)
{
	const struct node *a = left, *b = right;
	return a->step != b->step ? ht_order_i64(a->step, b->step)
	                          : ht_order_i64(a->i_part, b->i_part);
}

static double recorded_end(const struct ht_chain_job *job, size_t s)
{
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < job->n_ranks; i++) {
		int64_t end = job->windows[s * job->n_ranks + i].end_ns;
		last = end > last ? end : last;
	}
	return (double)last;
}

/* Steps that every rank has. */
static bool find_steps(struct ht_chain_job *job)
{
	uint32_t n_kept = 0;
	qsort(job->windows, job->n_windows, sizeof *job->windows, compare_steps);
	job->steps = ht_arena_alloc(job->run->scratch, (job->n_windows + 1) * sizeof *job->steps);
	job->ends = ht_arena_alloc(job->run->scratch, (job->n_windows + 1) * sizeof *job->ends);
	if (!job->steps || !job->ends)
		return false;
	for (uint32_t i = 0, end; i < job->n_windows; i = end) {
		for (end = i;
		        end < job->n_windows && job->windows[end].step == job->windows[i].step;)
			end++;
		if (end - i != job->n_ranks)
			continue;
		memmove(job->windows + n_kept, job->windows + i, (end - i) * sizeof *job->windows);
		job->steps[job->n_steps++] = job->windows[n_kept].step;
		n_kept += end - i;
	}
	job->n_windows = n_kept;
	job->since_ns = job->n_steps ? (int64_t)recorded_end(job, 0) : INT64_MAX;
	return true;
}

static enum ht_status make(struct ht_chain_job *job, const struct ht_parts *parts)
{
	struct ht_arena *scratch = job->run->scratch;
	size_t n = 0;
	job->n_ranks = parts->n;
	job->ranks = ht_arena_alloc(scratch, (parts->n + 1) * sizeof *job->ranks);
	for (size_t i = 0; i < parts->n; i++)
		n += ht_table_n_rows(parts->list[i].facts[HT_CP_FACTS_CHAINS]);
	job->nodes = ht_arena_alloc(scratch, (n + 1) * sizeof *job->nodes);
	job->windows = ht_arena_alloc(scratch, (n + 1) * sizeof *job->windows);
	job->units = ht_arena_alloc(scratch, (n + 1) * sizeof *job->units);
	job->order = ht_arena_alloc(scratch, (n + 1) * sizeof *job->order);
	job->members = ht_arena_alloc(scratch, (n + 1) * sizeof *job->members);
	job->excess_ns = ht_arena_alloc(scratch, (parts->n + 1) * sizeof(double));
	job->peers = ht_arena_alloc(scratch, (parts->n + 1) * sizeof *job->peers);
	if (!job->ranks || !job->nodes || !job->windows || !job->units || !job->order ||
	        !job->members || !job->excess_ns || !job->peers)
		return ht_fail_nomem(job->run->ctx);
	for (uint32_t i = 0; i < parts->n; i++) {
		if (!read_rank(job, &job->ranks[i], &parts->list[i]))
			return ht_fail_nomem(job->run->ctx);
		read_nodes(job, i);
		if (!find_streams(job, &job->ranks[i]))
			return ht_fail_nomem(job->run->ctx);
	}
	for (uint32_t i = 0; i < job->n_nodes; i++)
		find_base(job, &job->nodes[i], job->nodes[i].start_ns);
	for (uint32_t i = 0; i < job->n_windows; i++)
		find_base(job, &job->windows[i], job->windows[i].end_ns);
	return find_units(job) && find_steps(job) ? HT_OK : ht_fail_nomem(job->run->ctx);
}

enum ht_status ht_chain_job_make(
        struct ht_run *run, const struct ht_parts *parts, struct ht_chain_job **ret_job)
{
	struct ht_chain_job *job = ht_arena_alloc(run->scratch, sizeof *job);
	if (!job)
		return ht_fail_nomem(run->ctx);
	job->run = run;
	HT_TRY(make(job, parts));
	*ret_job = job;
	return HT_OK;
}

/* ---- what an edit takes off ---- */

static double rule_factor(const struct ht_cp_rules *rules, const struct rank *r, size_t piece)
{
	int64_t bound = ht_table_i64_or(r->pieces, piece, HT_CP_PIECE_BOUND, 0);
	int64_t type = ht_table_i64_or(r->pieces, piece, HT_CP_PIECE_TYPE, 0);
	const char *name = ht_table_is_null(r->pieces, piece, HT_CP_PIECE_NAME)
	                           ? NULL
	                           : ht_table_str(r->pieces, piece, HT_CP_PIECE_NAME);
	for (size_t i = 0; rules && i < rules->n; i++) {
		const struct ht_cp_rule *rule = &rules->list[i];
		bool word = (rule->bounds >> (bound & 31) & 1) || (rule->types >> (type & 31) & 1);
		if (word ||
		        (name && type == HT_CP_OPERATOR && !regexec(rule->regex, name, 0, NULL, 0)))
			return rule->factor;
	}
	return 1;
}

/* The factor of a piece. That of a name is found once, as rules search in names. */
static double factor_of(const struct ht_chain_edit *edit, struct rank *r, size_t piece)
{
	int64_t bound = ht_table_i64_or(r->pieces, piece, HT_CP_PIECE_BOUND, 0);
	if (edit->instant >> (bound & 31) & 1)
		return 0;
	bool named = !ht_table_is_null(r->pieces, piece, HT_CP_PIECE_NAME);
	if (edit->name && named && r->factor[r->text[piece]] < 0) {
		bool same = !strcmp(edit->name, ht_table_str(r->pieces, piece, HT_CP_PIECE_NAME));
		r->factor[r->text[piece]] = same ? edit->name_factor : 1;
	}
	if (edit->name)
		return named ? r->factor[r->text[piece]] : 1;
	return edit->rules ? rule_factor(edit->rules, r, piece) : 1;
}

static void find_saved(const struct ht_chain_edit *edit, int64_t since_ns, struct rank *r)
{
	bool takes_off = edit->instant || edit->name || edit->rules;
	memset(r->saved, 0, ht_table_n_rows(r->pieces) * sizeof *r->saved);
	for (size_t i = 0; i < r->n_texts; i++)
		r->factor[i] = -1;
	for (size_t k = 0; takes_off && k < ht_table_n_rows(r->chains); k++) {
		int64_t first = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_FIRST, 0);
		int64_t n = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_N, 0);
		int64_t link = ht_table_i64_or(r->chains, k, HT_CP_CHAIN_LINK, -1);
		double sum = link < 0 || r->end_chain[k] == k ? 0 : r->saved[link];
		for (int64_t piece = first + n; piece-- > first;) {
			double dur = (double)ht_table_i64_or(
			        r->pieces, (size_t)piece, HT_CP_PIECE_DUR, 0);
			int64_t start =
			        ht_table_i64_or(r->pieces, (size_t)piece, HT_CP_PIECE_START, 0);
			if (ht_time_moved(&r->move, start) >= since_ns)
				sum += dur * (1 - factor_of(edit, r, (size_t)piece));
			r->saved[piece] = sum;
		}
	}
}

static double lag_of(const struct ht_chain_job *job, const struct node *node)
{
	const struct rank *r = &job->ranks[node->i_part];
	int64_t first = ht_table_i64_or(r->chains, node->chain, HT_CP_CHAIN_FIRST, 0);
	int64_t link = ht_table_i64_or(r->chains, node->chain, HT_CP_CHAIN_LINK, -1);
	double saved = ht_table_i64_or(r->chains, node->chain, HT_CP_CHAIN_N, 0) ? r->saved[first]
	               : link >= 0 && r->end_chain[node->chain] != node->chain   ? r->saved[link]
	                                                                         : 0;
	return (double)node->lag_ns - saved;
}

/* ---- replaying ---- */

static int compare_peers(const void *left, const void *right)
{
	const struct peer *a = left, *b = right;
	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	return a->lag != b->lag ? (a->lag < b->lag ? -1 : 1)
	                        : ht_order_i64(a->node->i_part, b->node->i_part);
}

/* Chains that are longer than the median of those beside them take that. */
static void even_out(struct ht_chain_job *job, const struct ht_chain_edit *edit, size_t n)
{
	struct peer *peers = job->peers;
	for (size_t i = 0; i < n; i++) {
		const struct node *node = peers[i].node;
		peers[i].base = node->base == NONE ? NONE : job->nodes[node->base].unit;
		peers[i].lag = node->lag;
	}
	qsort(peers, n, sizeof *peers, compare_peers);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && peers[end].base == peers[first].base;)
			end++;
		double median = peers[first + (end - first - 1) / 2].lag;
		for (size_t i = first; i < end; i++) {
			struct node *node = peers[i].node;
			bool chosen = !edit->of_parts || edit->of_parts[node->i_part];
			if (!chosen || node->start_ns < job->since_ns || node->lag <= median)
				continue;
			if (!edit->of_parts)
				job->excess_ns[node->i_part] += node->lag - median;
			node->lag = median;
		}
	}
}

static double when(const struct ht_chain_job *job, const struct node *node, double lag)
{
	double from = (double)node->base_ns;
	if (node->base != NONE) {
		const struct node *base = &job->nodes[node->base];
		if (job->units[base->unit].done)
			from += base->end - (double)base->end_ns;
	}
	return from + lag;
}

static void replay_unit(
        struct ht_chain_job *job, const struct ht_chain_edit *edit, struct unit *unit)
{
	double begin = -1e300;
	for (uint32_t i = 0; i < unit->n; i++) {
		struct node *node = &job->nodes[job->members[unit->first + i]];
		node->lag = lag_of(job, node);
		job->peers[i].node = node;
	}
	if (edit->like_peers)
		even_out(job, edit, unit->n);
	for (uint32_t i = 0; i < unit->n; i++) {
		struct node *node = &job->nodes[job->members[unit->first + i]];
		node->start = when(job, node, node->lag);
		if (node->before != NONE && job->units[job->nodes[node->before].unit].done &&
		        node->start < job->nodes[node->before].end)
			node->start = job->nodes[node->before].end;
		begin = node->start > begin ? node->start : begin;
	}
	bool is_late = unit->begin_ns >= job->since_ns;
	bool scaled = is_late && edit->scales_transfers &&
	              (!edit->group || (unit->group && !strcmp(edit->group, unit->group)));
	for (uint32_t i = 0; i < unit->n; i++) {
		struct node *node = &job->nodes[job->members[unit->first + i]];
		double factor = scaled ? edit->transfer : 1;
		if (edit->rules && is_late) {
			const struct rank *r = &job->ranks[node->i_part];
			int64_t own = ht_table_i64_or(r->chains, node->chain, HT_CP_CHAIN_OWN, 0);
			factor *= rule_factor(edit->rules, r, (size_t)own);
		}
		node->end = begin + node->transfer_ns * factor;
	}
	unit->done = true;
}

/* The end of a step on the last rank. */
static double replay_step(struct ht_chain_job *job, const struct ht_chain_edit *edit, size_t s)
{
	double last = -1e300;
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct node *window = &job->windows[s * job->n_ranks + i];
		window->lag = lag_of(job, window);
		job->peers[i].node = window;
	}
	if (edit->like_peers)
		even_out(job, edit, job->n_ranks);
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct node *window = &job->windows[s * job->n_ranks + i];
		double end = when(job, window, window->lag);
		last = end > last ? end : last;
	}
	return last;
}

void ht_chain_job_replay(
        struct ht_chain_job *job, const struct ht_chain_edit *edit, double *ret_steps_ns)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		find_saved(edit, job->since_ns, &job->ranks[i]);
		if (edit->like_peers && !edit->of_parts)
			job->excess_ns[i] = 0;
	}
	for (uint32_t u = 0; u < job->n_units; u++)
		job->units[u].done = false;
	for (uint32_t u = 0; u < job->n_units; u++)
		replay_unit(job, edit, &job->units[job->order[u]]);
	for (size_t s = 0; s < job->n_steps; s++)
		job->ends[s] = replay_step(job, edit, s);
	for (size_t i = 0; i < ht_chain_job_n_steps(job); i++)
		ret_steps_ns[i] = job->ends[i + 1] - job->ends[i];
}

/* ---- what there is to ask about ---- */

size_t ht_chain_job_n_steps(const struct ht_chain_job *job)
{
	return job->n_steps > 1 ? job->n_steps - 1 : 0;
}

int64_t ht_chain_job_step(const struct ht_chain_job *job, size_t i)
{
	return job->steps[i + 1];
}

double ht_chain_job_recorded_ns(const struct ht_chain_job *job, size_t i)
{
	return recorded_end(job, i + 1) - recorded_end(job, i);
}

size_t ht_chain_job_n_kernels(const struct ht_chain_job *job)
{
	return job->n_nodes;
}

size_t ht_chain_job_n_negative(const struct ht_chain_job *job)
{
	return job->n_negative;
}

const double *ht_chain_job_excess_ns(const struct ht_chain_job *job)
{
	return job->excess_ns;
}

bool ht_chain_job_has(const struct ht_chain_job *job, enum ht_cp_bound bound)
{
	for (size_t i = 0; i < job->n_ranks; i++)
		for (size_t k = 0; k < ht_table_n_rows(job->ranks[i].pieces); k++)
			if (ht_table_i64_or(job->ranks[i].pieces, k, HT_CP_PIECE_BOUND, 0) ==
			        (int64_t)bound)
				return true;
	return false;
}

const char *ht_chain_job_kernel(const struct ht_chain_job *job)
{
	const char *best = NULL;
	double most = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		struct rank *r = &job->ranks[i];
		memset(r->factor, 0, r->n_texts * sizeof *r->factor);
		for (size_t k = 0; k < ht_table_n_rows(r->pieces); k++) {
			if (ht_table_i64_or(r->pieces, k, HT_CP_PIECE_BOUND, 0) !=
			                HT_CP_BOUND_GPU_COMPUTE ||
			        ht_table_is_null(r->pieces, k, HT_CP_PIECE_NAME))
				continue;
			double *sum = &r->factor[r->text[k]];
			*sum += (double)ht_table_i64_or(r->pieces, k, HT_CP_PIECE_DUR, 0);
			if (*sum > most) {
				most = *sum;
				best = ht_table_str(r->pieces, k, HT_CP_PIECE_NAME);
			}
		}
	}
	return best;
}
