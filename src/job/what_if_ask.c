/*
 * what_if_ask.c - see what_if.h: questions about the traces of a job, each answered by a replay.
 */
#include "job/what_if.h"

#include "base/sort.h"
#include "job/event_edit.h"
#include "job/stages.h"
#include "model/communication/collective_match.h"
#include "model/numbers/stats.h"
#include "table/optional.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this the replay is not the job. */
#define MAX_ERROR      0.05
#define N_RESAMPLES    200
#define N_RANKS_ASKED  5
#define N_GROUPS_ASKED 4
/* Ranks whose slowdown is replayed, those with the most first, and the share that is the worst. */
#define N_RANKS_JUDGED 64
#define WORST_SHARE    0.03

const struct ht_column ht_what_if_columns[HT_N_WHAT_IF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_WHAT_IF_COLUMNS);
const struct ht_column ht_what_if_gap_columns[HT_N_WHAT_IF_GAP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_WHAT_IF_GAP_COLUMNS);

struct asking {
	struct ht_run *run;
	struct ht_event_job job;
	struct ht_event_editor editor;
	ht_table *table;
	size_t n;
	double *recorded, *replayed, *edited, *room; /* by step */
	double recorded_ns, replayed_ns;             /* means */
	double error, worst_error;                   /* of the replay: median and most */
};

static double mean_of(const double *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* What the mean of the steps would be if others of the same kind had been recorded: resampled, the same in every run. */
static void find_interval(struct asking *a, double *ret_low, double *ret_high)
{
	double means[N_RESAMPLES], *sample = a->room;
	uint64_t state = 88172645463325252u;
	for (size_t k = 0; k < N_RESAMPLES; k++) {
		for (size_t i = 0; i < a->n; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			sample[i] = a->edited[state % a->n];
		}
		means[k] = mean_of(sample, a->n);
	}
	qsort(means, N_RESAMPLES, sizeof *means, ht_compare_f64);
	*ret_low = means[N_RESAMPLES / 40];
	*ret_high = means[N_RESAMPLES - 1 - N_RESAMPLES / 40];
}

/* The answer to a question whose edit is in the editor, which is empty afterwards. */
static void ask(struct asking *a, const char *question)
{
	double low, high;
	struct ht_event_edit edit = ht_event_editor_edit(&a->editor);
	ht_event_job_replay(&a->job, &edit, a->edited);
	ht_event_editor_reset(&a->editor);
	double now = mean_of(a->edited, a->n);
	find_interval(a, &low, &high);
	ht_table_row(a->table);
	ht_table_put_str(a->table, HT_WHAT_IF_QUESTION, question);
	ht_table_put_f64(a->table, HT_WHAT_IF_RECORDED, a->recorded_ns);
	ht_table_put_f64(a->table, HT_WHAT_IF_NEW, now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SAVED, a->replayed_ns - now);
	ht_table_put_f64(a->table, HT_WHAT_IF_SHARE, (a->replayed_ns - now) / a->replayed_ns);
	ht_table_put_f64(a->table, HT_WHAT_IF_LOW, low);
	ht_table_put_f64(a->table, HT_WHAT_IF_HIGH, high);
	ht_table_put_f64(a->table, HT_WHAT_IF_ERROR, a->error);
	ht_table_put_f64(a->table, HT_WHAT_IF_WORST_ERROR, a->worst_error);
	ht_table_put_i64(a->table, HT_WHAT_IF_STEPS, (int64_t)a->n);
}

static const char *say(struct asking *a, const char *format, const char *name)
{
	const char *text = ht_arena_printf(a->run->scratch, format, name);
	return text ? text : name;
}

/* Nodes with any of these flags, and all of these values of them. */
static void scale_flagged(struct asking *a, unsigned flags, unsigned values, double factor)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		if ((a->job.flags[i] & flags) == values)
			ht_event_scale(&a->editor, i, factor);
}

static bool has_flagged(const struct asking *a, unsigned flags)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		if ((a->job.flags[i] & flags) && a->job.dur[i] > 0)
			return true;
	return false;
}

static void choose_rank(struct asking *a, size_t i_rank, bool only)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		a->editor.is_chosen[i] = (a->job.i_rank[i] == i_rank) == only;
}

/* ---- which ranks ---- */

struct by_excess {
	double excess;
	size_t i_rank;
};

static int compare_excess(const void *left, const void *right)
{
	const struct by_excess *a = left, *b = right;
	return a->excess != b->excess ? (a->excess > b->excess ? -1 : 1)
	                              : ht_order_i64((int64_t)a->i_rank, (int64_t)b->i_rank);
}

/* Ranks by how much longer their nodes take than those of their peers, most first. */
static struct by_excess *order_ranks(struct asking *a)
{
	size_t n = a->job.n_ranks;
	struct by_excess *order = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *order);
	if (!order)
		return NULL;
	for (size_t i = 0; i < n; i++)
		order[i].i_rank = i;
	ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, NULL);
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		order[a->job.i_rank[i]].excess += a->job.dur[i] - a->editor.dur[i];
	ht_event_editor_reset(&a->editor);
	qsort(order, n, sizeof *order, compare_excess);
	return order;
}

static enum ht_status ask_ranks(struct asking *a)
{
	struct by_excess *order = order_ranks(a);
	if (!order)
		return ht_fail_nomem(a->run->ctx);
	for (size_t k = 0; k < N_RANKS_ASKED && k < a->job.n_ranks && order[k].excess > 0; k++) {
		const char *question = ht_arena_printf(a->run->scratch,
		        "rank %" PRId64 " like its peers", a->job.ranks[order[k].i_rank].number);
		if (!question)
			return ht_fail_nomem(a->run->ctx);
		choose_rank(a, order[k].i_rank, true);
		ht_event_like_peers(&a->editor, HT_PEER_OTHERS, a->editor.is_chosen);
		ask(a, question);
	}
	return HT_OK;
}

/* ---- which groups and kernels ---- */

/* Each process group that takes part in more than one collective, in the order of its first. */
static enum ht_status ask_groups(struct asking *a)
{
	const char *asked[N_GROUPS_ASKED];
	size_t n = 0;
	for (uint32_t u = 0; u < a->job.n_units && n < N_GROUPS_ASKED; u++) {
		const char *group = a->job.units[u].of->group;
		bool is_new = *group != '\0';
		for (size_t k = 0; k < n && is_new; k++)
			is_new = strcmp(asked[k], group) != 0;
		if (!is_new)
			continue;
		asked[n++] = group;
		for (uint32_t i = 0; i < a->job.n_nodes; i++) {
			uint32_t unit = a->job.unit[i];
			if (unit != HT_NONE && !strcmp(a->job.units[unit].of->group, group))
				ht_event_scale(&a->editor, i, 0.5);
		}
		ask(a, say(a, "group %s twice as fast", group));
	}
	return HT_OK;
}

/* The kernel that computes longest in all steps. */
static const char *find_kernel(struct asking *a)
{
	const struct ht_event_job *job = &a->job;
	const char *best = NULL;
	double most = 0;
	for (size_t k = 0; k < job->n_ranks; k++) {
		const struct ht_event_rank *r = &job->ranks[k];
		double *sums =
		        ht_arena_alloc(a->run->scratch, (r->n_texts + (size_t)1) * sizeof *sums);
		for (uint32_t i = 0; sums && i < r->n; i++) {
			uint32_t node = r->first + i;
			bool computes = (job->flags[node] & (HT_EVENT_WORK | HT_EVENT_COMM)) ==
			                        HT_EVENT_WORK &&
			                ht_event_job_name(job, node);
			if (!computes || (sums[r->text[i]] += job->dur[node]) <= most)
				continue;
			most = sums[r->text[i]];
			best = ht_event_job_name(job, node);
		}
	}
	return best;
}

static void ask_kernel(struct asking *a, const char *name)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++) {
		const char *own =
		        a->job.flags[i] & HT_EVENT_WORK ? ht_event_job_name(&a->job, i) : NULL;
		if (own && !strcmp(own, name))
			ht_event_scale(&a->editor, i, 0.8);
	}
	ask(a, say(a, "20 %% faster: %s", name));
}

/* ---- questions ---- */

static enum ht_status ask_own(struct asking *a, const char *text)
{
	struct ht_cp_rules rules;
	struct ht_trace none = { 0 };
	if (!text)
		return HT_OK;
	HT_TRY(ht_cp_rules_read(a->run, &none, text, &rules));
	ht_event_apply(&a->editor, &rules);
	ask(a, text);
	ht_cp_rules_done(&rules);
	return HT_OK;
}

static enum ht_status ask_communication(struct asking *a)
{
	if (a->job.n_ranks > 1 && !a->job.n_units)
		HT_TRY(ht_table_add_note(a->table,
		        "no collective is on two ranks: every rank is replayed alone, and none waits for another"));
	if (a->job.n_units) {
		ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, NULL);
		ask(a, "no stragglers");
		HT_TRY(ask_ranks(a));
		HT_TRY(ask_groups(a));
	}
	if (!has_flagged(a, HT_EVENT_COMM))
		return HT_OK;
	scale_flagged(a, HT_EVENT_COMM, HT_EVENT_COMM, 0.5);
	ask(a, "communication twice as fast");
	scale_flagged(a, HT_EVENT_COMM, HT_EVENT_COMM, 0);
	ask(a, "communication instant");
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		a->editor.is_apart[i] = a->job.flags[i] & HT_EVENT_COMM;
	ask(a, "communication overlapped, on a stream of its own");
	return HT_OK;
}

static enum ht_status ask_all(struct asking *a, const char *scale)
{
	static const struct {
		const char *question;
		unsigned flag;
	} flagged[] = { { "data loading instant", HT_EVENT_LOADS },
		{ "no garbage collection", HT_EVENT_GC }, { "no recomputation", HT_EVENT_AGAIN } };
	const char *kernel = find_kernel(a);
	HT_TRY(ask_own(a, scale));
	HT_TRY(ask_communication(a));
	if (has_flagged(a, HT_EVENT_WORK)) {
		scale_flagged(a, HT_EVENT_WORK, 0, 0);
		ask(a, "no CPU time");
	}
	for (size_t i = 0; i < HT_COUNT(flagged); i++) {
		if (!has_flagged(a, flagged[i].flag))
			continue;
		scale_flagged(a, flagged[i].flag, flagged[i].flag, 0);
		ask(a, flagged[i].question);
	}
	if (kernel)
		ask_kernel(a, kernel);
	return HT_OK;
}

/* Gaps of GPU activity that nothing explains, of all ranks: how much of all step time, and the largest. */
static enum ht_status note_gaps(struct asking *a)
{
	double sum = 0, most = 0;
	const struct ht_event_rank *of = NULL;
	uint32_t at = 0;
	for (size_t k = 0; k < a->job.n_ranks; k++) {
		const struct ht_event_rank *r = &a->job.ranks[k];
		const ht_table *nodes = r->part->facts[HT_EVENT_FACTS_NODES];
		for (uint32_t i = 0; i < r->n; i++) {
			double gap = (double)ht_table_i64(nodes, i, HT_EVENT_GAP);
			if (a->job.step[r->first + i] == HT_NONE)
				continue;
			sum += gap;
			if (gap > most) {
				most = gap;
				of = r;
				at = i;
			}
		}
	}
	double total = (a->job.recorded_ends[a->job.n_windows - 1] - a->job.begins[0]) *
	               (double)a->job.n_ranks;
	if (!of)
		return ht_table_add_note(a->table, "no unexplained gaps before GPU activity");
	return ht_table_add_note(a->table,
	        "unexplained gaps before GPU activity: %.2f %% of step time of all ranks; the longest, %.3f ms, before "
	        "event %" PRId64 " of rank %" PRId64 "; --view gaps lists them",
	        100 * sum / total, most / 1e6,
	        ht_table_i64_or(of->part->facts[HT_EVENT_FACTS_NODES], at, HT_EVENT_ROW, -1),
	        of->number);
}

static enum ht_status measure(struct asking *a)
{
	double *errors = a->room + a->n;
	ht_event_job_replay(&a->job, &(struct ht_event_edit){ 0 }, a->replayed);
	for (size_t i = 0; i < a->n; i++) {
		/* a step in which nothing happens has no end */
		if (!isfinite(a->replayed[i])) {
			a->n = 0;
			return ht_table_add_note(a->table,
			        "n/a: a step has neither CPU time nor GPU activity to replay");
		}
		a->recorded[i] = ht_event_job_recorded_ns(&a->job, i);
		errors[i] = a->recorded[i] > 0
		                    ? fabs(a->replayed[i] - a->recorded[i]) / a->recorded[i]
		                    : 0;
		a->worst_error = fmax(a->worst_error, errors[i]);
	}
	a->error = ht_middle_f64(errors, a->n, a->room);
	a->recorded_ns = mean_of(a->recorded, a->n);
	a->replayed_ns = mean_of(a->replayed, a->n);
	HT_TRY(ht_table_add_note(a->table,
	        "replay without edits: %.2f %% off the recorded step time in the median, %.2f %% at most, over %zu "
	        "steps; %zu transfers ended before they began and count as 0",
	        100 * a->error, 100 * a->worst_error, a->n, a->job.n_negative));
	if (a->job.n_broken)
		HT_TRY(ht_table_add_warning(a->table,
		        "%zu collectives wait for each other, the first a %s: their ranks do not wait in the replay",
		        a->job.n_broken, a->job.broken));
	return note_gaps(a);
}

static enum ht_status start(struct asking *a, const struct ht_parts *parts)
{
	HT_TRY(ht_event_job_make(a->run, parts, &a->job));
	HT_TRY(ht_event_job_stages(&a->job));
	a->n = a->job.n_steps;
	a->recorded = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->replayed = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->edited = ht_arena_alloc(a->run->scratch, (a->n + 1) * sizeof(double));
	a->room = ht_arena_alloc(a->run->scratch, 3 * (a->n + 1) * sizeof(double));
	if (!a->recorded || !a->replayed || !a->edited || !a->room)
		return ht_fail_nomem(a->run->ctx);
	return ht_event_editor_make(&a->job, &a->editor);
}

enum ht_status ht_what_if_ask(
        struct ht_run *run, const struct ht_parts *parts, const char *scale, ht_table *table)
{
	struct asking a = { .run = run, .table = table };
	HT_TRY(start(&a, parts));
	if (!a.n)
		return ht_table_add_note(table, "n/a: no step that all ranks have");
	HT_TRY(measure(&a));
	if (!a.n)
		return HT_OK;
	if (a.error > MAX_ERROR)
		return ht_table_add_warning(table,
		        "the replay is more than 5 %% off: no savings are shown; --view gaps lists what it does not explain");
	return ask_all(&a, scale);
}

/* ---- gaps ---- */

struct gap {
	int64_t ns;
	size_t i_rank;
	uint32_t node;
};

static int compare_gaps(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->i_rank != b->i_rank ? ht_order_i64((int64_t)a->i_rank, (int64_t)b->i_rank)
	                              : ht_order_i64(a->node, b->node);
}

enum ht_status ht_what_if_gaps(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	size_t n = 0, most = ht_parts_n_rows(parts, HT_EVENT_FACTS_NODES);
	struct gap *gaps = ht_arena_room(run->scratch, (most + 1) * sizeof *gaps);
	if (!gaps)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < parts->n; k++) {
		const ht_table *nodes = parts->list[k].facts[HT_EVENT_FACTS_NODES];
		for (uint32_t i = 0; i < ht_table_n_rows(nodes); i++)
			if (ht_table_i64(nodes, i, HT_EVENT_GAP) > 0 &&
			        !ht_table_is_null(nodes, i, HT_EVENT_STEP))
				gaps[n++] =
				        (struct gap){ ht_table_i64(nodes, i, HT_EVENT_GAP), k, i };
	}
	qsort(gaps, n, sizeof *gaps, compare_gaps);
	for (size_t i = 0; i < n; i++) {
		const struct ht_part *part = &parts->list[gaps[i].i_rank];
		const ht_table *nodes = part->facts[HT_EVENT_FACTS_NODES];
		struct ht_time_move move = ht_part_move(run, part);
		int64_t start = ht_table_i64(nodes, gaps[i].node, HT_EVENT_START);
		ht_table_row(table);
		ht_table_put_i64(table, HT_GAP_RANK, part->rank);
		ht_table_put_i64(table, HT_GAP_LENGTH, gaps[i].ns);
		ht_table_put_i64(table, HT_GAP_UNTIL, ht_time_moved(&move, start));
		ht_table_put_cell(table, HT_GAP_NAME, nodes, gaps[i].node, HT_EVENT_NAME);
		ht_table_put_cell(table, HT_GAP_ROW, nodes, gaps[i].node, HT_EVENT_ROW);
	}
	return n ? HT_OK : ht_table_add_note(table, "no unexplained gaps before GPU activity");
}

/* ---- whose slowdown it is ---- */

static double replay_mean(struct asking *a)
{
	struct ht_event_edit edit = ht_event_editor_edit(&a->editor);
	ht_event_job_replay(&a->job, &edit, a->edited);
	ht_event_editor_reset(&a->editor);
	return mean_of(a->edited, a->n);
}

/* Mean step time when the ranks of a set, or all others, are ideal. */
static double ideal_mean(struct asking *a, const bool *of_rank, bool others)
{
	for (uint32_t i = 0; i < a->job.n_nodes; i++)
		a->editor.is_chosen[i] = of_rank[a->job.i_rank[i]] != others;
	ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, a->editor.is_chosen);
	return replay_mean(a);
}

/* How much of the slowdown goes when the ranks of a set are ideal, and comes when they alone are not. */
static struct ht_what_if_share find_share(
        struct asking *a, const struct ht_what_if_slowdown *s, const bool *of_rank)
{
	double lost = s->time_ns - s->ideal_ns, left = ideal_mean(a, of_rank, false);
	return (struct ht_what_if_share){ (s->time_ns - left) / lost,
		(ideal_mean(a, of_rank, true) - s->ideal_ns) / lost, left };
}

/* Slowdown of the ranks that can have one, and the share of the worst of them. */
static enum ht_status find_workers(
        struct asking *a, size_t n_parts, struct ht_what_if_slowdown *ret)
{
	struct by_excess *order = order_ranks(a);
	bool *of = ht_arena_alloc(a->run->scratch, n_parts + 1);
	ret->of_part = ht_arena_alloc(a->run->scratch, (n_parts + 1) * sizeof *ret->of_part);
	ret->is_worst = ht_arena_alloc(a->run->scratch, n_parts + 1);
	if (!order || !of || !ret->of_part || !ret->is_worst)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < n_parts; i++)
		ret->of_part[i] = 1;
	/* a rank that takes no longer than its peers slows nobody down */
	for (size_t k = 0; k < n_parts && k < N_RANKS_JUDGED && order[k].excess > 0; k++) {
		memset(of, 0, n_parts);
		of[order[k].i_rank] = true;
		ret->of_part[order[k].i_rank] = ideal_mean(a, of, true) / ret->ideal_ns;
	}
	for (size_t i = 0; i < n_parts; i++)
		order[i].excess = ret->of_part[order[i].i_rank];
	qsort(order, n_parts, sizeof *order, compare_excess);
	size_t n_worst = (size_t)ceil(WORST_SHARE * (double)n_parts);
	for (size_t k = 0; k < n_worst; k++)
		ret->is_worst[order[k].i_rank] = true;
	ret->worst = find_share(a, ret, ret->is_worst);
	return HT_OK;
}

/* The same for stages and replicas, and for CPU and GPU. */
static enum ht_status find_places(struct asking *a, struct ht_what_if_slowdown *ret)
{
	struct ht_event_job *job = &a->job;
	bool *of = ht_arena_alloc(a->run->scratch, job->n_ranks + 1);
	ret->n_stages = job->n_stages;
	ret->n_replicas = job->n_replicas;
	ret->of_stage =
	        ht_arena_alloc(a->run->scratch, ((size_t)job->n_stages + 1) * sizeof(double));
	ret->of_replica =
	        ht_arena_alloc(a->run->scratch, ((size_t)job->n_replicas + 1) * sizeof(double));
	if (!of || !ret->of_stage || !ret->of_replica)
		return ht_fail_nomem(a->run->ctx);
	for (int64_t k = 0; job->n_stages > 1 && k < job->n_stages + job->n_replicas; k++) {
		bool is_stage = k < job->n_stages;
		int64_t number = is_stage ? k : k - job->n_stages;
		if (!is_stage && job->n_replicas > N_RANKS_JUDGED)
			break;
		for (size_t i = 0; i < job->n_ranks; i++)
			of[i] = (is_stage ? job->ranks[i].stage : job->ranks[i].replica) == number;
		*(is_stage ? &ret->of_stage[number] : &ret->of_replica[number]) =
		        ideal_mean(a, of, true) / ret->ideal_ns;
		if (is_stage)
			ret->last = find_share(a, ret, of);
	}
	for (int gpu = 0; gpu < 2; gpu++) {
		for (uint32_t i = 0; i < job->n_nodes; i++)
			a->editor.is_chosen[i] = (job->flags[i] & HT_EVENT_WORK ? 0 : 1) == gpu;
		ht_event_like_peers(&a->editor, HT_PEER_MEDIAN, a->editor.is_chosen);
		*(gpu ? &ret->of_gpu : &ret->of_cpu) = replay_mean(a) / ret->ideal_ns;
	}
	return HT_OK;
}

enum ht_status ht_what_if_slowdown_find(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_slowdown *ret)
{
	struct asking a = { .run = run, .table = table };
	*ret = (struct ht_what_if_slowdown){ 0 };
	HT_TRY(start(&a, parts));
	if (!a.n || parts->n < 2 || !a.job.n_units)
		return ht_table_add_note(table,
		        "n/a: whose slowdown it is needs steps and ranks that communicate on the GPU");
	HT_TRY(measure(&a));
	if (!a.n)
		return HT_OK;
	if (a.error > MAX_ERROR)
		return ht_table_add_warning(
		        table, "the replay is more than 5 %% off: no slowdown is shown");
	ret->time_ns = a.replayed_ns;
	ht_event_like_peers(&a.editor, HT_PEER_MEDIAN, NULL);
	ret->ideal_ns = replay_mean(&a);
	ret->is_known = true;
	HT_TRY(find_workers(&a, parts->n, ret));
	return find_places(&a, ret);
}
