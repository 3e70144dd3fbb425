/*
 * summary.c - the verdict on a run in ten lines, each with its evidence and where to look next.
 *
 *   step time    median on the host, and up to the end of its GPU work
 *   slow steps   where there are some: by how much they lengthen the mean, and what they have more of; said only then
 *   made of      what a GPU's time is made of, as temporal-breakdown divides it
 *   GPU          how long kernels run, as steps has it, and what the device waits for while idle, as idle-breakdown tells
 *   bound by     what most of the critical path of the job, without slow steps, depends on: the host, data loading,
 *                computing, memory copies, communication (its transfer, where waiting is known), waiting for a rank, launching
 *   could save   by how much each could shorten a step at most: what-if of one rank, else its share of the path
 *   slow rank    the verdict of stragglers
 *   operators, kernels, modules, collectives  the three that take most time
 *
 * Everything is said from the facts of those verbs (verdict/findings.h). When a rank keeps the others waiting, the path
 * leads through that rank; as much of what bounds it there (the GPU, or the host) as it is late by counts as waiting for
 * it. Where the traces do not tell, the line says so. O(n log n).
 *
 * Example: three ranks compute 1 ms, the fourth 10 ms, and an all-reduce of 1 ms follows: 11 ms, of which 9 are waiting
 * for the fourth, 1 is computing and 1 transfer.
 */
#include "analysis/analysis.h"
#include "verdict/findings.h"
#include "verdict/slow_steps.h"
#include "verdict/telling.h"
#include "model/rows/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A part of the path or of a step that is worth a word. */
#define WORTH_A_WORD 0.01
/* A name has this much of what it is named for, or time is spread. */
#define WORTH_NAMING 0.25
/* Less than this of the steps' time is not all of it. */
#define MOST 0.9

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = HT_COLUMN_ENTRIES(HT_TOLD_COLUMNS);

const struct ht_analysis ht_analysis_summary = {
	.info = { .name = "summary",
	        .group = "conclusions",
	        .title = "Summary",
	        .question =
	                "How long is a step, what bounds it, and what should be looked at first?",
	        .method =
	                "Conclusions from steps, temporal-breakdown, idle-breakdown, critical-path and "
	                "stragglers, each with the events behind it.",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1 },
	.facts = { HT_FINDINGS_FACTS },
	.across = true,
	.common = &ht_findings_common,
	.is_sound = ht_findings_are_sound,
	.finish = finish,
};

/* ---- step time, what it is made of, the GPU ---- */

static const char *steps_words(const struct ht_telling *s)
{
	return s->f.has_steps ? "the steps' time" : "the time that was recorded";
}

static void say_step_time(struct ht_telling *s)
{
	const struct ht_findings *f = &s->f;
	const struct ht_step_times *host = &f->host, *device = &f->device;
	size_t n_ranks = f->parts->n;
	struct ht_told_line line = {
		.topic = "step time", .next = "steps", .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	if (device->n)
		line.value_ns = f->has_steps ? device->median_ns : ht_findings_mean_step(f);
	if (!device->n) {
		line.finding = "cannot tell: no steps, operators or GPU work were recorded";
	} else if (!f->has_steps) {
		line.finding = HT_SAY(s,
		        "cannot tell: no profiler steps were recorded (schedule and prof.step()); all of "
		        "it takes %s%s, and that is what the lines below are about",
		        ht_words_time(&s->words, line.value_ns),
		        n_ranks > 1 ? " on average of ranks" : "");
	} else {
		bool slow = ht_findings_is_slow(f, device->number);
		const char *which =
		        slow ? HT_SAY(s, ", the longest is step %" PRId64, device->number) : "";
		const char *of = f->n_steps * n_ranks > 1 ? "median of " : "";
		const char *on_host = host->n ? HT_SAY(s, "%s on the host, ",
		                                        ht_words_time(&s->words, host->median_ns))
		                              : "";
		const char *spread =
		        device->n > 1 ? HT_SAY(s, "; %s to %s%s",
		                                ht_words_time(&s->words, device->least_ns),
		                                ht_words_time(&s->words, device->most_ns), which)
		                      : "";
		const char *end = HT_SAY(s, "%s up to the end of its GPU work",
		        ht_words_time(&s->words, device->median_ns));
		line.finding = HT_SAY(s, "%s%s (%s%zu step%s on %zu rank%s%s)", on_host,
		        f->n_devices || f->told.ns ? end : "no GPU work was recorded", of,
		        f->n_steps, f->n_steps == 1 ? "" : "s", n_ranks, n_ranks == 1 ? "" : "s",
		        spread);
		line.evidence = ht_tell_event(s, device->rank, device->row);
	}
	ht_tell_line(s, &line);
}

/* An event of a part of the device's time: its longest, or the work that ended the longest gap. */
static const char *part_of_time(struct ht_telling *s, int column)
{
	static const struct {
		int column, kind;
	} kinds[] = { { HT_BREAKDOWN_COMPUTE, HT_TOP_KERNEL }, { HT_BREAKDOWN_COMM, HT_TOP_COMM },
		{ HT_BREAKDOWN_MEMCPY, HT_TOP_COPY }, { HT_BREAKDOWN_MEMSET, HT_TOP_COPY } };
	const struct ht_idle_time *gap = &s->f.idle[0];
	for (size_t i = 0; i < HT_COUNT(kinds); i++) {
		const struct ht_tops *tops = &s->f.tops[kinds[i].kind];
		if (kinds[i].column == column)
			return tops->n ? ht_tell_event(s, tops->list[0].rank, tops->list[0].row)
			               : NULL;
	}
	for (int k = 1; k < HT_IDLE_N; k++)
		if (s->f.idle[k].row_ns > gap->row_ns)
			gap = &s->f.idle[k];
	return column == HT_BREAKDOWN_IDLE ? ht_tell_event(s, gap->rank, gap->row) : NULL;
}

/* Without GPU work: what the steps go to on the host. */
static void say_made_of_host(struct ht_telling *s)
{
	static const struct {
		enum ht_busy role;
		const char *words;
	} roles[] = { { HT_BUSY_COMM, "communication" }, { HT_BUSY_LOADER, "data loading" },
		{ HT_BUSY_CPU, "operators and annotations" },
		{ HT_BUSY_OTHER, "nothing that was recorded" } };
	struct ht_told_line line = {
		.topic = "made of", .next = "steps", .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	const char *text = "";
	int64_t sum = 0;
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		ht_sum(&sum, s->f.roles[roles[i].role]);
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		if (s->f.roles[roles[i].role] > 0)
			text = ht_tell_and(s, text,
			        HT_SAY(s, "%s %s", roles[i].words,
			                ht_tell_share(s, s->f.roles[roles[i].role], sum)));
	line.finding = sum ? HT_SAY(s, "%s, of %s on the host", text, steps_words(s))
	                   : "cannot tell: no GPU work was recorded";
	line.next = sum ? "steps" : "temporal-breakdown";
	if (s->f.told.ns > 0)
		line.finding = HT_SAY(s,
		        "computing %s, communication that nothing hides %s, free %s, of the exporter's steps",
		        ht_tell_share(s, s->f.told.computing_ns, s->f.told.ns),
		        ht_tell_share(s, s->f.told.exposed_ns, s->f.told.ns),
		        ht_tell_share(s, s->f.told.free_ns, s->f.told.ns));
	ht_tell_line(s, &line);
}

static void say_made_of(struct ht_telling *s)
{
	static const struct {
		int column;
		const char *words;
	} parts[] = { { HT_BREAKDOWN_COMPUTE, "computing" },
		{ HT_BREAKDOWN_COMM, "communication that nothing hides" },
		{ HT_BREAKDOWN_MEMCPY, "copies" }, { HT_BREAKDOWN_MEMSET, "fills" },
		{ HT_BREAKDOWN_OTHER, "kernels that only wait" }, { HT_BREAKDOWN_IDLE, "idle" },
		{ HT_BREAKDOWN_OUTSIDE, "work of other steps" } };
	const int64_t *ns = s->f.breakdown, span = ns[HT_BREAKDOWN_SPAN];
	const char *text = "";
	struct ht_told_line line = { .topic = "made of",
		.next = "temporal-breakdown",
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	int64_t most = 0;
	for (size_t i = 0; i < HT_COUNT(parts); i++) {
		int64_t part = ns[parts[i].column];
		if (part <= 0)
			continue;
		if (part > most) {
			most = part;
			line.evidence = part_of_time(s, parts[i].column);
		}
		const char *more = HT_SAY(s, "%s %s", parts[i].words, ht_tell_share(s, part, span));
		if (parts[i].column == HT_BREAKDOWN_COMM && s->f.knows_waits)
			more = HT_SAY(s, "%s (%s waiting for ranks, %s transfer)", more,
			        ht_tell_share(s, ns[HT_BREAKDOWN_WAIT], span),
			        ht_tell_share(s, ns[HT_BREAKDOWN_TRANSFER], span));
		text = ht_tell_and(s, text, more);
	}
	int64_t window = s->f.gpu.window_ns;
	const char *narrow = window > 0 && ht_ratio(span, window) < MOST
	                             ? HT_SAY(s, ", which is %s of %s",
	                                       ht_tell_share(s, span, window), steps_words(s))
	                             : "";
	line.finding = HT_SAY(s, "%s, of the time from first to last GPU work%s", text, narrow);
	ht_tell_line(s, &line);
}

/* Operators that only the exporter lists are no events. */
static bool has_events(const struct ht_tops *tops)
{
	return tops->n && tops->list[0].row != HT_NO_I64;
}

/* Is anything of the host there? Tables of an NPU's work alone do not say what it waited for. */
static bool has_host(const struct ht_findings *f)
{
	return f->host.n || has_events(&f->tops[HT_TOP_OPERATOR]) ||
	       has_events(&f->tops[HT_TOP_OPERATOR_HOST]) || f->idle[HT_IDLE_HOST_WAIT].ns ||
	       !f->n_devices;
}

static void say_gpu(struct ht_telling *s)
{
	static const char *const words[HT_IDLE_N] = { [HT_IDLE_HOST_WAIT] =
		                                              "for the host to launch",
		[HT_IDLE_KERNEL_WAIT] = "for launches under way",
		[HT_IDLE_COMMUNICATION] = "for communication",
		[HT_IDLE_OTHER] = "for something else though launched",
		[HT_IDLE_LEADING] = "before the first launch in the file" };
	const struct ht_gpu_use *gpu = &s->f.gpu;
	int64_t span = s->f.breakdown[HT_BREAKDOWN_SPAN];
	const char *text = "";
	struct ht_told_line line = { .topic = "GPU",
		.next = "idle-breakdown --by device",
		.value_ns = HT_NO_I64,
		.part_ns = gpu->busy_ns,
		.whole_ns = gpu->window_ns,
		.saves_ns = HT_NO_I64 };
	int64_t idle_ns = 0;
	for (int k = 0; k < HT_IDLE_N; k++) {
		ht_sum(&idle_ns, s->f.idle[k].ns);
		if (has_host(&s->f) && ht_ratio(s->f.idle[k].ns, span) >= WORTH_A_WORD)
			text = ht_tell_and(s, text,
			        HT_SAY(s, "%s %s", ht_tell_share(s, s->f.idle[k].ns, span),
			                words[k]));
	}
	if (!has_host(&s->f) && ht_ratio(idle_ns, span) >= WORTH_A_WORD)
		text = HT_SAY(s, "%s for what nothing says", ht_tell_share(s, idle_ns, span));
	if (!gpu->window_ns)
		line.finding = s->f.n_devices ? "cannot tell: no kernels were recorded"
		                              : "cannot tell: no GPU work was recorded";
	else
		line.finding = HT_SAY(s, "kernels run %s of %s%s%s%s",
		        ht_tell_share(s, gpu->busy_ns, gpu->window_ns), steps_words(s),
		        *text ? "; from its first to its last work it waits " : "", text,
		        *text ? "" : "; between its first and its last work it does not wait");
	line.evidence = part_of_time(s, HT_BREAKDOWN_IDLE);
	ht_tell_line(s, &line);
}

/* ---- what bounds it ---- */

enum bound {
	BOUND_HOST,
	BOUND_DATA,
	BOUND_COMPUTE,
	BOUND_MEMORY,
	BOUND_COMM,
	BOUND_RANK,
	BOUND_LAUNCH,
	N_BOUNDS
};

struct part {
	enum bound bound;
	int64_t path_ns, saves_ns;      /* of the whole path */
	int64_t usual_ns;               /* of the path, slow steps not counted */
	const struct ht_path_bound *of; /* NULL: waiting for a rank */
};

static int by_path(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->usual_ns != b->usual_ns)
		return a->usual_ns > b->usual_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

static void add_bound(struct part *part, const struct ht_path_bound *of)
{
	part->path_ns += of->ns;
	part->usual_ns += of->ns - of->slow_ns;
	part->saves_ns += of->saved_ns;
	if (!part->of || of->ns > part->of->ns)
		part->of = of;
}

static int64_t usual_path_ns(const struct ht_findings *f)
{
	return f->path_ns - f->slow_path_ns;
}

/* Of so much of the path as of a whole in steps, no more than there is. */
static int64_t of_path_ns(int64_t ns, int64_t step_ns, int64_t path_ns, int64_t most_ns)
{
	int64_t part = step_ns > 0 ? (int64_t)((__int128)ns * path_ns / step_ns) : 0;
	return part < most_ns ? part : most_ns;
}

/* As much of the path as a rank is late by, from what it is late with. */
static void add_late_rank(const struct ht_findings *f, struct part *parts)
{
	const struct ht_late_rank *rank = f->latest;
	int64_t step_ns = ht_findings_mean_step(f);
	if (!rank || !step_ns)
		return;
	const struct ht_verdict *verdict = &f->stragglers.verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(&f->stragglers, rank);
	bool host = cause.side ? !strcmp(cause.side, "host") : !f->n_devices;
	struct part *from = &parts[host ? BOUND_HOST : BOUND_COMPUTE];
	/* of the path as it is of a step */
	int64_t late = ht_straggler_cost_ns(verdict);
	int64_t of_path = of_path_ns(late, step_ns, f->path_ns, from->path_ns);
	int64_t of_usual =
	        of_path_ns(late, ht_findings_usual_step(f), usual_path_ns(f), from->usual_ns);
	from->path_ns -= of_path;
	from->usual_ns -= of_usual;
	parts[BOUND_RANK].usual_ns = of_usual;
	from->saves_ns = from->saves_ns > of_path ? from->saves_ns - of_path : 0;
	parts[BOUND_RANK].path_ns = of_path;
	parts[BOUND_RANK].saves_ns = of_path;
}

static void find_parts(const struct ht_findings *f, struct part *parts)
{
	for (int k = 0; k < N_BOUNDS; k++)
		parts[k] = (struct part){ .bound = k };
	add_bound(&parts[BOUND_HOST], &f->path[HT_CP_BOUND_CPU]);
	add_bound(&parts[BOUND_DATA], &f->path[HT_CP_BOUND_DATA_LOADING]);
	add_bound(&parts[BOUND_COMPUTE], &f->path[HT_CP_BOUND_GPU_COMPUTE]);
	add_bound(&parts[BOUND_MEMORY], &f->path[HT_CP_BOUND_GPU_MEMORY]);
	add_bound(&parts[BOUND_COMM], &f->path[HT_CP_BOUND_GPU_COMMUNICATION]);
	add_bound(&parts[BOUND_LAUNCH], &f->path[HT_CP_BOUND_LAUNCH_DELAY]);
	add_bound(&parts[BOUND_LAUNCH], &f->path[HT_CP_BOUND_KERNEL_DELAY]);
	add_late_rank(f, parts);
}

static const char *bound_words(struct ht_telling *s, const struct part *part)
{
	switch (part->bound) {
	case BOUND_HOST: return "the host";
	case BOUND_DATA: return "data loading";
	case BOUND_COMPUTE: return "computing on the GPU";
	case BOUND_MEMORY: return "memory copies";
	case BOUND_COMM:
		return !s->f.compares ? "communication (waiting or transfer: one rank cannot tell)"
		       : s->f.knows_waits
		               ? "communication transfer"
		               : "communication (waiting or transfer: not every call has its counterparts)";
	case BOUND_RANK:
		return HT_SAY(s, "waiting for %s",
		        ht_words_keep(
		                &s->words, ht_straggler_names(&s->f.stragglers, s->f.latest)));
	case BOUND_LAUNCH: return "launching";
	case N_BOUNDS: break;
	}
	return "";
}

static const char *bound_next(const struct ht_telling *s, const struct part *part)
{
	switch (part->bound) {
	case BOUND_HOST: return "critical-path --view path --where 'bound_by == cpu_bound'";
	case BOUND_DATA: return "steps";
	case BOUND_COMPUTE: return "kernel-breakdown";
	case BOUND_MEMORY: return "memory-bandwidth";
	case BOUND_COMM: return s->f.compares ? "collectives" : "comm-overlap";
	case BOUND_RANK: return "stragglers";
	case BOUND_LAUNCH: return "launch-stats";
	case N_BOUNDS: break;
	}
	return "critical-path";
}

/* What most of it is. */
static const char *main_part(struct ht_telling *s, const struct part *part)
{
	if (part->bound == BOUND_RANK)
		return "";
	const struct ht_path_name *most = &part->of->most;
	int64_t whole = part->of->ns - part->of->slow_ns;
	const char *how = ht_ratio(most->ns, whole) < WORTH_NAMING
	                          ? "spread widely, the largest part"
	                          : "most of all";
	if (!most->name)
		return part->bound == BOUND_HOST
		               ? HT_SAY(s, ", %s outside of operators (%s of that)", how,
		                         ht_tell_share(s, most->ns, whole))
		               : "";
	return HT_SAY(s, ", %s %s (%s of that)", how, ht_tell_brief(s, most->name),
	        ht_tell_share(s, most->ns, whole));
}

static const char *part_evidence(struct ht_telling *s, const struct part *part)
{
	if (part->bound == BOUND_RANK) {
		struct ht_straggler_cause cause =
		        ht_straggler_cause_of(&s->f.stragglers, s->f.latest);
		return ht_tell_event(s, s->f.latest->rank,
		        cause.side ? cause.excess->row : s->f.latest->worst_call->row);
	}
	const struct ht_path_name *most =
	        part->of->most.row == HT_NO_I64 ? &part->of->slow : &part->of->most;
	return ht_tell_event(s, most->rank, most->row);
}

static int64_t inferred_ns(const struct ht_findings *f)
{
	int64_t sum = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		ht_sum(&sum, f->path[k].inferred_ns);
	return sum;
}

static void say_bound(struct ht_telling *s, const struct part *parts)
{
	const struct ht_findings *f = &s->f;
	struct ht_told_line line = { .topic = "bound by",
		.next = bound_next(s, &parts[0]),
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	if (f->path_ns <= 0 || !has_host(f)) {
		line.finding =
		        f->path_ns > 0
		                ? "cannot tell: nothing of the host was recorded, no operators, no launches"
		                : "cannot tell: nothing with a duration was recorded";
		line.next = "health";
		ht_tell_line(s, &line);
		return;
	}
	int64_t inferred = inferred_ns(f);
	const char *doubt = ht_ratio(inferred, f->path_ns) < 0.5
	                            ? ""
	                            : HT_SAY(s, "; %s of the path rests on inferred dependencies",
	                                      ht_tell_share(s, inferred, f->path_ns));
	const char *no_gpu = f->n_devices ? "" : " (no GPU work was recorded)";
	int64_t whole = usual_path_ns(f);
	const char *second = ht_ratio(parts[1].usual_ns, whole) < WORTH_NAMING
	                             ? ""
	                             : HT_SAY(s, "; then %s, %s", bound_words(s, &parts[1]),
	                                       ht_tell_share(s, parts[1].usual_ns, whole));
	line.finding = HT_SAY(s, "%s: %s of the critical path%s%s%s%s%s%s",
	        bound_words(s, &parts[0]), ht_tell_share(s, parts[0].usual_ns, whole),
	        f->parts->n > 1 ? " of the job" : "", f->slow.n ? " without slow steps" : "",
	        main_part(s, &parts[0]), second, no_gpu, doubt);
	line.evidence = part_evidence(s, &parts[0]);
	line.value_ns = of_path_ns(parts[0].usual_ns, whole, ht_findings_usual_step(f), INT64_MAX);
	line.part_ns = parts[0].usual_ns;
	line.whole_ns = whole;
	line.saves_ns = ht_findings_per_step(f, parts[0].saves_ns);
	ht_tell_line(s, &line);
}

/* What slow steps have more of. */
static const char *slow_cause_text(struct ht_telling *s, const struct ht_slow_cause *cause)
{
	const struct ht_findings *f = &s->f;
	const struct ht_path_name *slow = cause->of ? &cause->of->slow : NULL;
	struct part part = { .of = cause->of };
	static const enum bound bounds[HT_CP_N_BOUNDS] = { [HT_CP_BOUND_CPU] = BOUND_HOST,
		[HT_CP_BOUND_DATA_LOADING] = BOUND_DATA,
		[HT_CP_BOUND_GPU_COMPUTE] = BOUND_COMPUTE,
		[HT_CP_BOUND_GPU_MEMORY] = BOUND_MEMORY,
		[HT_CP_BOUND_GPU_COMMUNICATION] = BOUND_COMM,
		[HT_CP_BOUND_LAUNCH_DELAY] = BOUND_LAUNCH,
		[HT_CP_BOUND_KERNEL_DELAY] = BOUND_LAUNCH };
	if (!slow)
		return "";
	part.bound = bounds[cause->of - f->path];
	const char *name = slow->name                 ? ht_tell_brief(s, slow->name)
	                   : part.bound == BOUND_HOST ? "outside of operators"
	                                              : NULL;
	const char *rank = f->parts->n > 1 ? HT_SAY(s, " on rank %" PRId64, slow->rank) : "";
	return HT_SAY(s, "; %s has more by %s%s%s%s%s", bound_words(s, &part),
	        ht_words_time(&s->words, cause->ns), f->slow.n > 1 ? " each" : "",
	        name ? ", most of all " : "", name ? name : "", rank);
}

/* Steps that are not like the others; no line where there are none. */
static void say_slow_steps(struct ht_telling *s)
{
	const struct ht_findings *f = &s->f;
	const struct ht_step_times *steps = &f->device;
	struct ht_slow_cause cause = ht_findings_slow_cause(f);
	int64_t mean_ns = ht_findings_mean_step(f), usual_ns = ht_findings_usual_step(f);
	struct ht_told_line line = { .topic = "slow steps",
		.next = "steps --sort -total_ns",
		.value_ns = steps->most_ns,
		.part_ns = mean_ns - usual_ns,
		.whole_ns = mean_ns,
		.saves_ns = mean_ns - usual_ns };
	const char *events = ht_tell_event(s, steps->rank, steps->row);
	if (!f->slow.n)
		return;
	const char *which =
	        f->slow.n == 1 ? ""
	                       : HT_SAY(s, "%zu of %zu, the longest is ", f->slow.n, f->n_steps);
	line.finding = HT_SAY(s,
	        "%sstep %" PRId64
	        " with %s, %.1f times the median; without %s a step takes %s on average instead of %s%s",
	        which, steps->number, ht_words_time(&s->words, steps->most_ns),
	        (double)steps->most_ns / (double)steps->median_ns, f->slow.n == 1 ? "it" : "them",
	        ht_words_time(&s->words, usual_ns), ht_words_time(&s->words, mean_ns),
	        slow_cause_text(s, &cause));
	line.evidence = events ? events : "";
	if (cause.of && cause.of->slow.row != HT_NO_I64)
		line.evidence = ht_tell_and(s, line.evidence,
		        ht_tell_event(s, cause.of->slow.rank, cause.of->slow.row));
	ht_tell_line(s, &line);
}

static int by_savings(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

/* Calls that launch are the host's: it is that which is too slow where the path goes through launches, and without their way to
 * the device alone nothing would be saved. */
static bool launches_most(const struct ht_findings *f, const struct part *parts)
{
	int64_t path_ns[N_BOUNDS] = { 0 }, saves_ns = 0;
	for (size_t i = 0; i < N_BOUNDS; i++) {
		path_ns[parts[i].bound] = parts[i].path_ns;
		saves_ns = parts[i].bound == BOUND_LAUNCH ? parts[i].saves_ns : saves_ns;
	}
	return path_ns[BOUND_LAUNCH] > path_ns[BOUND_HOST] &&
	       ht_ratio(saves_ns, f->path_ns) < WORTH_A_WORD;
}

static void say_savings(struct ht_telling *s, struct part *parts)
{
	const struct ht_findings *f = &s->f;
	const char *text = "", *events = "";
	struct ht_told_line line = { .topic = "could save",
		.next = f->parts->n > 1 ? "critical-path --across" : "critical-path --view what-if",
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	qsort(parts, N_BOUNDS, sizeof *parts, by_savings);
	bool launches = launches_most(f, parts);
	for (size_t i = 0; i < N_BOUNDS; i++) {
		const struct part *part = &parts[i];
		if (ht_ratio(part->saves_ns, f->path_ns) < WORTH_A_WORD)
			continue;
		const char *what = launches && part->bound == BOUND_HOST
		                           ? "the host, launching above all,"
		                           : bound_words(s, part);
		const char *event = part_evidence(s, part);
		text = ht_tell_and(s, text,
		        HT_SAY(s, "%s %s (%s)", what,
		                ht_words_time(&s->words, ht_findings_per_step(f, part->saves_ns)),
		                ht_tell_share(s, part->saves_ns, f->path_ns)));
		if (event)
			events = ht_tell_and(s, events, event);
	}
	line.evidence = events;
	line.finding = !has_host(f) ? "cannot tell: nothing of the host was recorded"
	               : *text && f->slow.n
	                       ? HT_SAY(s, "at most, of a step of %s on average: %s",
	                                 ht_words_time(&s->words, ht_findings_mean_step(f)), text)
	               : *text && !f->has_steps ? HT_SAY(s, "at most, of all of it: %s", text)
	               : *text                  ? HT_SAY(s, "at most, of a step: %s", text)
	                       : "cannot tell: no part of the path could be told from the others";
	if (!has_host(f))
		line.evidence = "";
	ht_tell_line(s, &line);
}

static void say_slow_rank(struct ht_telling *s)
{
	const struct ht_findings *f = &s->f;
	struct ht_told_line line = { .topic = "slow rank",
		.next = "stragglers",
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	if (f->latest) {
		const struct ht_verdict *verdict = &f->stragglers.verdicts[f->latest->i_part];
		struct part late = { .bound = BOUND_RANK };
		line.finding =
		        ht_words_keep(&s->words, ht_straggler_sentence(&f->stragglers, f->latest));
		line.evidence = part_evidence(s, &late);
		line.value_ns = ht_straggler_cost_ns(verdict);
		line.part_ns = line.value_ns;
		line.whole_ns = ht_findings_mean_step(f);
	} else if (!f->compares) {
		line.finding =
		        f->parts->n > 1
		                ? "cannot tell: no collective makes these ranks wait for each other"
		                : "cannot tell: this is one rank";
	} else if (f->stragglers.n_steps < 2) {
		line.finding =
		        "cannot tell: without two steps nothing says what a rank's time varies by";
	} else if (*f->stragglers.missing) {
		line.finding =
		        HT_SAY(s, "cannot tell: the trace of %s is missing", f->stragglers.missing);
	} else {
		line.finding = "none: no rank keeps the others waiting in most steps";
	}
	ht_tell_line(s, &line);
}

static enum ht_status say_all(struct ht_telling *s, const struct ht_parts *parts)
{
	struct part bounds[N_BOUNDS];
	HT_TRY(ht_findings_make(s->run, parts, &s->f));
	find_parts(&s->f, bounds);
	qsort(bounds, N_BOUNDS, sizeof *bounds, by_path);
	say_step_time(s);
	say_slow_steps(s);
	if (s->f.n_devices)
		say_made_of(s);
	else
		say_made_of_host(s);
	say_gpu(s);
	say_bound(s, bounds);
	say_savings(s, bounds);
	say_slow_rank(s);
	ht_tell_tops(s);
	if (s->words.no_memory)
		return ht_fail_nomem(s->run->ctx);
	HT_TRY(ht_findings_note(s->run, s->table));
	return ht_clocks_note_odd(s->run, s->table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_telling s = { .run = run, .table = table, .words = { .arena = run->scratch } };
	HT_TRY(ht_frame_set_method(run, table, "conclusions, with the events behind them"));
	ht_table_set_prose(table);
	return say_all(&s, parts);
}
