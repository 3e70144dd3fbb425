/*
 * summary.c - the verdict on a run in ten lines, each with its evidence and where to look next.
 *
 *   step time    median on the host, and up to the end of its GPU work
 *   made of      what a GPU's time is made of, as temporal-breakdown divides it
 *   GPU          how long kernels run, as steps has it, and what the device waits for while idle, as idle-breakdown tells
 *   bound by     what most of the critical path of the job depends on: the host, data loading, computing, memory copies,
 *                communication (its transfer, where waiting is known), waiting for a rank, launching
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
#include "model/advice/slow_step.h"
#include "model/rows/frame.h"
#include "table/brief.h"
#include "table/format.h"
#include "table/shorten.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names of a list, and cells of each. */
#define N_TOPS     3
#define NAME_CELLS 60
/* A part of the path or of a step that is worth a word. */
#define WORTH_A_WORD 0.01
/* A name has this much of what it is named for, or time is spread. */
#define WORTH_NAMING 0.25
/* Less than this of the steps' time is not all of it. */
#define MOST 0.9

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "topic", HT_STR, HT_KEY, "what the line is about", NULL },
	{ "finding", HT_STR, HT_MEASURE, "what was found", NULL },
	{ "evidence", HT_STR, HT_MEASURE, "events behind it, as rank:row", NULL },
	{ "next", HT_STR, HT_MEASURE, "verb and options that show more", NULL },
	{ "value_ns", HT_DURATION, HT_MEASURE,
	        "the time that it is about, of a step or, of lists, of the first in all", NULL },
	{ "share", HT_RATIO, HT_MEASURE, "of the whole that the sentence names", NULL },
	{ "saves_ns", HT_DURATION, HT_MEASURE, "what a step could be shorter by, at most", NULL },
};

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

/* ---- words ---- */

struct summary {
	struct ht_findings f;
	struct ht_run *run;
	ht_table *table;
	bool no_memory;
};

static const char *keep(struct summary *s, const char *text)
{
	s->no_memory |= !text;
	return text ? text : "";
}

#define SAY(s, ...) keep(s, ht_arena_printf((s)->run->scratch, __VA_ARGS__))

static const char *time_text(struct summary *s, int64_t ns)
{
	char buf[HT_FORMAT_BYTES];
	ht_format_double(buf, HT_DURATION_F64, (double)ns);
	return SAY(s, "%s", buf);
}

static double share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static const char *share_text(struct summary *s, int64_t part, int64_t whole)
{
	double share = 100 * share_of(part, whole);
	return share > 0 && share < 1 ? "<1 %" : SAY(s, "%.0f %%", share);
}

/* As much of a name as a list bears. */
static const char *name_in(struct summary *s, const char *name, size_t cells)
{
	static const char module[] = "nn.Module: ";
	size_t n = strlen(name), n_kept = 0;
	char *plain = ht_arena_alloc(s->run->scratch, n + 1);
	char *text = ht_arena_alloc(s->run->scratch, n + 5);
	if (!plain || !text)
		return keep(s, NULL);
	for (const char *at = name; *at;) {
		bool skips = !strncmp(at, module, sizeof module - 1);
		at += skips ? sizeof module - 1 : 0;
		if (!skips)
			plain[n_kept++] = *at++;
	}
	text[ht_shorten(plain, n_kept, cells, text)] = '\0';
	return text;
}

static const char *short_name(struct summary *s, const char *name)
{
	return name_in(s, name, NAME_CELLS);
}

static const char *event_text(struct summary *s, int64_t rank, int64_t row)
{
	return row == HT_NO_I64 ? NULL : SAY(s, "%" PRId64 ":%" PRId64, rank, row);
}

/* "a, b": what was said before may be empty. */
static const char *and_then(struct summary *s, const char *before, const char *more)
{
	return *before ? SAY(s, "%s, %s", before, more) : more;
}

struct line {
	const char *topic, *finding, *evidence, *next;
	int64_t value_ns;          /* HT_NO_I64: none */
	int64_t part_ns, whole_ns; /* of the share; whole 0: none */
	int64_t saves_ns;          /* HT_NO_I64: none */
};

static void put_line(struct summary *s, const struct line *line)
{
	ht_table_row(s->table);
	ht_table_put_str(s->table, line->topic);
	ht_table_put_str(s->table, line->finding);
	ht_table_put_str(s->table, line->evidence && *line->evidence ? line->evidence : NULL);
	ht_table_put_str(s->table, line->next);
	ht_table_put_known(s->table, line->value_ns, HT_NO_I64);
	if (line->whole_ns > 0)
		ht_table_put_f64(s->table, share_of(line->part_ns, line->whole_ns));
	else
		ht_table_put_null(s->table);
	ht_table_put_known(s->table, line->saves_ns, HT_NO_I64);
}

/* ---- step time, what it is made of, the GPU ---- */

static void say_step_time(struct summary *s)
{
	const struct ht_findings *f = &s->f;
	const struct ht_step_times *host = &f->host, *device = &f->device;
	size_t n_ranks = f->parts->n;
	struct line line = {
		.topic = "step time", .next = "steps", .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	if (device->n)
		line.value_ns = device->median_ns;
	if (!device->n) {
		line.finding = "cannot tell: no steps, operators or GPU work were recorded";
	} else if (!f->has_steps) {
		line.finding = SAY(s,
		        "cannot tell: no profiler steps were recorded (schedule and prof.step()); all of "
		        "it takes %s, and that is what the lines below are about",
		        time_text(s, device->median_ns));
	} else {
		bool slow = device->number != HT_NO_I64 &&
		            (double)device->most_ns >= HT_SLOW_STEP * (double)device->median_ns;
		const char *which =
		        slow ? SAY(s, ", the longest is step %" PRId64, device->number) : "";
		const char *of = f->n_steps * n_ranks > 1 ? "median of " : "";
		const char *on_host =
		        host->n ? SAY(s, "%s on the host, ", time_text(s, host->median_ns)) : "";
		const char *spread =
		        device->n > 1 ? SAY(s, "; %s to %s%s", time_text(s, device->least_ns),
		                                time_text(s, device->most_ns), which)
		                      : "";
		const char *end =
		        SAY(s, "%s up to the end of its GPU work", time_text(s, device->median_ns));
		line.finding = SAY(s, "%s%s (%s%zu step%s on %zu rank%s%s)", on_host,
		        f->n_devices || f->told.ns ? end : "no GPU work was recorded", of,
		        f->n_steps, f->n_steps == 1 ? "" : "s", n_ranks, n_ranks == 1 ? "" : "s",
		        spread);
		line.evidence = event_text(s, device->rank, device->row);
	}
	put_line(s, &line);
}

/* An event of a part of the device's time: its longest, or the work that ended the longest gap. */
static const char *part_of_time(struct summary *s, int column)
{
	static const struct {
		int column, kind;
	} kinds[] = { { HT_BREAKDOWN_COMPUTE, HT_TOP_KERNEL }, { HT_BREAKDOWN_COMM, HT_TOP_COMM },
		{ HT_BREAKDOWN_MEMCPY, HT_TOP_COPY }, { HT_BREAKDOWN_MEMSET, HT_TOP_COPY } };
	const struct ht_idle_time *gap = &s->f.idle[0];
	for (size_t i = 0; i < HT_COUNT(kinds); i++) {
		const struct ht_tops *tops = &s->f.tops[kinds[i].kind];
		if (kinds[i].column == column)
			return tops->n ? event_text(s, tops->list[0].rank, tops->list[0].row)
			               : NULL;
	}
	for (int k = 1; k < HT_IDLE_N; k++)
		if (s->f.idle[k].row_ns > gap->row_ns)
			gap = &s->f.idle[k];
	return column == HT_BREAKDOWN_IDLE ? event_text(s, gap->rank, gap->row) : NULL;
}

/* Without GPU work: what the steps go to on the host. */
static void say_made_of_host(struct summary *s)
{
	static const struct {
		enum ht_busy role;
		const char *words;
	} roles[] = { { HT_BUSY_COMM, "communication" }, { HT_BUSY_LOADER, "data loading" },
		{ HT_BUSY_CPU, "operators and annotations" },
		{ HT_BUSY_OTHER, "nothing that was recorded" } };
	struct line line = {
		.topic = "made of", .next = "steps", .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	const char *text = "";
	int64_t sum = 0;
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		ht_sum(&sum, s->f.roles[roles[i].role]);
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		if (s->f.roles[roles[i].role] > 0)
			text = and_then(s, text,
			        SAY(s, "%s %s", roles[i].words,
			                share_text(s, s->f.roles[roles[i].role], sum)));
	line.finding = sum ? SAY(s, "%s, of the steps' time on the host", text)
	                   : "cannot tell: no GPU work was recorded";
	line.next = sum ? "steps" : "temporal-breakdown";
	if (s->f.told.ns > 0)
		line.finding = SAY(s,
		        "computing %s, communication that nothing hides %s, free %s, of the exporter's steps",
		        share_text(s, s->f.told.computing_ns, s->f.told.ns),
		        share_text(s, s->f.told.exposed_ns, s->f.told.ns),
		        share_text(s, s->f.told.free_ns, s->f.told.ns));
	put_line(s, &line);
}

static void say_made_of(struct summary *s)
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
	struct line line = { .topic = "made of",
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
		const char *more = SAY(s, "%s %s", parts[i].words, share_text(s, part, span));
		if (parts[i].column == HT_BREAKDOWN_COMM && s->f.knows_waits)
			more = SAY(s, "%s (%s waiting for ranks, %s transfer)", more,
			        share_text(s, ns[HT_BREAKDOWN_WAIT], span),
			        share_text(s, ns[HT_BREAKDOWN_TRANSFER], span));
		text = and_then(s, text, more);
	}
	int64_t window = s->f.gpu.window_ns;
	const char *narrow =
	        window > 0 && share_of(span, window) < MOST
	                ? SAY(s, ", which is %s of the steps' time", share_text(s, span, window))
	                : "";
	line.finding = SAY(s, "%s, of the time from first to last GPU work%s", text, narrow);
	put_line(s, &line);
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

static void say_gpu(struct summary *s)
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
	struct line line = { .topic = "GPU",
		.next = "idle-breakdown --by device",
		.value_ns = HT_NO_I64,
		.part_ns = gpu->busy_ns,
		.whole_ns = gpu->window_ns,
		.saves_ns = HT_NO_I64 };
	int64_t idle_ns = 0;
	for (int k = 0; k < HT_IDLE_N; k++) {
		ht_sum(&idle_ns, s->f.idle[k].ns);
		if (has_host(&s->f) && share_of(s->f.idle[k].ns, span) >= WORTH_A_WORD)
			text = and_then(s, text,
			        SAY(s, "%s %s", share_text(s, s->f.idle[k].ns, span), words[k]));
	}
	if (!has_host(&s->f) && share_of(idle_ns, span) >= WORTH_A_WORD)
		text = SAY(s, "%s for what nothing says", share_text(s, idle_ns, span));
	if (!gpu->window_ns)
		line.finding = s->f.n_devices ? "cannot tell: no kernels were recorded"
		                              : "cannot tell: no GPU work was recorded";
	else
		line.finding = SAY(s, "kernels run %s of the steps' time%s%s%s",
		        share_text(s, gpu->busy_ns, gpu->window_ns),
		        *text ? "; from its first to its last work it waits " : "", text,
		        *text ? "" : "; between its first and its last work it does not wait");
	line.evidence = part_of_time(s, HT_BREAKDOWN_IDLE);
	put_line(s, &line);
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
	const struct ht_path_bound *of; /* NULL: waiting for a rank */
};

static int by_path(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->path_ns != b->path_ns)
		return a->path_ns > b->path_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

static void add_bound(struct part *part, const struct ht_path_bound *of)
{
	part->path_ns += of->ns;
	part->saves_ns += of->saved_ns;
	if (!part->of || of->ns > part->of->ns)
		part->of = of;
}

/* As much of the path as a rank is late by, from what it is late with. */
static void add_late_rank(const struct ht_findings *f, struct part *parts)
{
	const struct ht_late_rank *rank = f->latest;
	if (!rank || !f->device.median_ns)
		return;
	const struct ht_verdict *verdict = &f->stragglers.verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(&f->stragglers, rank);
	bool host = cause.side ? !strcmp(cause.side, "host") : !f->n_devices;
	struct part *from = &parts[host ? BOUND_HOST : BOUND_COMPUTE];
	/* of the path as it is of a step */
	int64_t late = ht_findings_late_cost(
	        f, rank->i_part, verdict->late_steps_ns / (int64_t)verdict->n_steps);
	int64_t of_path = (int64_t)((__int128)late * f->path_ns / f->device.median_ns);
	if (of_path > from->path_ns)
		of_path = from->path_ns;
	from->path_ns -= of_path;
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

static const char *bound_words(struct summary *s, const struct part *part)
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
	case BOUND_RANK: return SAY(s, "waiting for rank %" PRId64, s->f.latest->rank);
	case BOUND_LAUNCH: return "launching";
	case N_BOUNDS: break;
	}
	return "";
}

static const char *bound_next(const struct summary *s, const struct part *part)
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
static const char *main_part(struct summary *s, const struct part *part)
{
	if (part->bound == BOUND_RANK)
		return "";
	const struct ht_path_bound *of = part->of;
	const char *how = share_of(of->name_ns, of->ns) < WORTH_NAMING
	                          ? "spread widely, the largest part"
	                          : "most of all";
	if (!of->name)
		return part->bound == BOUND_HOST ? SAY(s, ", %s outside of operators (%s of that)",
		                                           how, share_text(s, of->name_ns, of->ns))
		                                 : "";
	return SAY(s, ", %s %s (%s of that)", how, short_name(s, of->name),
	        share_text(s, of->name_ns, of->ns));
}

static const char *part_evidence(struct summary *s, const struct part *part)
{
	if (part->bound == BOUND_RANK) {
		struct ht_straggler_cause cause =
		        ht_straggler_cause_of(&s->f.stragglers, s->f.latest);
		return event_text(s, s->f.latest->rank,
		        cause.side ? cause.excess->row : s->f.latest->worst_call->row);
	}
	return event_text(s, part->of->rank, part->of->row);
}

static int64_t inferred_ns(const struct ht_findings *f)
{
	int64_t sum = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		ht_sum(&sum, f->path[k].inferred_ns);
	return sum;
}

static void say_bound(struct summary *s, const struct part *parts)
{
	const struct ht_findings *f = &s->f;
	struct line line = { .topic = "bound by",
		.next = bound_next(s, &parts[0]),
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	if (f->path_ns <= 0 || !has_host(f)) {
		line.finding =
		        f->path_ns > 0
		                ? "cannot tell: nothing of the host was recorded, no operators, no launches"
		                : "cannot tell: nothing with a duration was recorded";
		line.next = "health";
		put_line(s, &line);
		return;
	}
	int64_t inferred = inferred_ns(f);
	const char *doubt = share_of(inferred, f->path_ns) < 0.5
	                            ? ""
	                            : SAY(s, "; %s of the path rests on inferred dependencies",
	                                      share_text(s, inferred, f->path_ns));
	const char *no_gpu = f->n_devices ? "" : " (no GPU work was recorded)";
	const char *second = share_of(parts[1].path_ns, f->path_ns) < WORTH_NAMING
	                             ? ""
	                             : SAY(s, "; then %s, %s", bound_words(s, &parts[1]),
	                                       share_text(s, parts[1].path_ns, f->path_ns));
	line.finding = SAY(s, "%s: %s of the critical path%s%s%s%s%s", bound_words(s, &parts[0]),
	        share_text(s, parts[0].path_ns, f->path_ns), f->parts->n > 1 ? " of the job" : "",
	        main_part(s, &parts[0]), second, no_gpu, doubt);
	line.evidence = part_evidence(s, &parts[0]);
	line.value_ns = ht_findings_per_step(f, parts[0].path_ns);
	line.part_ns = parts[0].path_ns;
	line.whole_ns = f->path_ns;
	line.saves_ns = ht_findings_per_step(f, parts[0].saves_ns);
	put_line(s, &line);
}

static int by_savings(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

static void say_savings(struct summary *s, struct part *parts)
{
	const struct ht_findings *f = &s->f;
	const char *text = "", *events = "";
	struct line line = { .topic = "could save",
		.next = f->parts->n > 1 ? "critical-path --across" : "critical-path --view what-if",
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	qsort(parts, N_BOUNDS, sizeof *parts, by_savings);
	for (size_t i = 0; i < N_BOUNDS; i++) {
		const struct part *part = &parts[i];
		if (share_of(part->saves_ns, f->path_ns) < WORTH_A_WORD)
			continue;
		const char *event = part_evidence(s, part);
		text = and_then(s, text,
		        SAY(s, "%s %s (%s)", bound_words(s, part),
		                time_text(s, ht_findings_per_step(f, part->saves_ns)),
		                share_text(s, part->saves_ns, f->path_ns)));
		if (event)
			events = and_then(s, events, event);
	}
	line.evidence = events;
	line.finding = !has_host(f) ? "cannot tell: nothing of the host was recorded"
	               : *text      ? SAY(s, "at most, of a step: %s", text)
	                       : "cannot tell: no part of the path could be told from the others";
	if (!has_host(f))
		line.evidence = "";
	put_line(s, &line);
}

static void say_slow_rank(struct summary *s)
{
	const struct ht_findings *f = &s->f;
	size_t most_steps = 0;
	struct line line = { .topic = "slow rank",
		.next = "stragglers",
		.value_ns = HT_NO_I64,
		.saves_ns = HT_NO_I64 };
	for (size_t i = 0; f->compares && i < f->parts->n; i++)
		if (f->stragglers.verdicts[i].n_steps > most_steps)
			most_steps = f->stragglers.verdicts[i].n_steps;
	if (f->latest) {
		const struct ht_verdict *verdict = &f->stragglers.verdicts[f->latest->i_part];
		struct part late = { .bound = BOUND_RANK };
		line.finding = keep(s, ht_straggler_sentence(&f->stragglers, f->latest));
		line.evidence = part_evidence(s, &late);
		int64_t late_ns = verdict->late_steps_ns / (int64_t)verdict->n_steps;
		line.value_ns = ht_findings_late_cost(f, f->latest->i_part, late_ns);
		if ((double)line.value_ns < MOST * (double)late_ns)
			line.finding = SAY(s,
			        "%s; computing hides some of that, and a step is longer by at most %s",
			        line.finding, time_text(s, line.value_ns));
		line.part_ns = line.value_ns;
		line.whole_ns = f->device.median_ns;
	} else if (!f->compares) {
		line.finding =
		        f->parts->n > 1
		                ? "cannot tell: no collective makes these ranks wait for each other"
		                : "cannot tell: this is one rank";
	} else if (most_steps < 2) {
		line.finding =
		        "cannot tell: without two steps nothing says what a rank's time varies by";
	} else {
		line.finding = "none: no rank keeps the others waiting in most steps";
	}
	put_line(s, &line);
}

/* ---- what takes most time ---- */

static bool has_equal(const char *const *names, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return true;
	return false;
}

/* Each by where it differs from the others, as a table would show them. */
static enum ht_status tell_apart(struct summary *s, const struct ht_tops *tops, const char **names)
{
	static const struct ht_column column = { "name", HT_STR, HT_KEY, "name", NULL };
	ht_ctx *ctx = s->run->ctx;
	struct ht_brief *briefs = NULL;
	ht_table *table;
	HT_TRY(ht_table_new(ctx, "", &column, 1, &table));
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		ht_table_row(table);
		ht_table_put_str(table, name_in(s, tops->list[i].name, SIZE_MAX));
	}
	enum ht_status status = ht_brief_make(ctx, table, 0, NAME_CELLS, s->run->scratch, &briefs);
	for (size_t i = 0; status == HT_OK && i < ht_table_n_rows(table); i++) {
		const struct ht_brief *brief = &briefs[ht_cells_at(table, 0)->str[i]];
		names[i] = SAY(s, "%.*s", (int)brief->n, brief->text);
	}
	ht_table_free(table);
	return status;
}

/* Names that differ must not look the same. */
static void name_tops(struct summary *s, const struct ht_tops *tops, const char **names)
{
	size_t n = tops->n < N_TOPS ? tops->n : N_TOPS;
	for (size_t i = 0; i < n; i++)
		names[i] = short_name(s, tops->list[i].name);
	if (has_equal(names, n) && tell_apart(s, tops, names) != HT_OK)
		keep(s, NULL);
}

static void say_tops(struct summary *s, const char *topic, const struct ht_tops *tops,
        const char *of, const char *none, const char *next)
{
	const char *text = "", *events = "";
	struct line line = {
		.topic = topic, .next = next, .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	const char *names[N_TOPS];
	name_tops(s, tops, names);
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		const struct ht_top *top = &tops->list[i];
		text = and_then(s, text,
		        SAY(s, "%s %s in %" PRId64 " (%s)", names[i], time_text(s, top->ns),
		                top->count, share_text(s, top->ns, tops->total_ns)));
		if (top->row != HT_NO_I64)
			events = and_then(s, events, event_text(s, top->rank, top->row));
	}
	line.finding = tops->n ? SAY(s, "%s, %s", text, of) : none;
	line.evidence = events;
	if (tops->n) {
		line.value_ns = tops->list[0].ns;
		line.part_ns = tops->list[0].ns;
		line.whole_ns = tops->total_ns;
	}
	put_line(s, &line);
}

static void say_all_tops(struct summary *s)
{
	struct ht_tops *tops = s->f.tops;
	bool gpu = tops[HT_TOP_OPERATOR].n > 0;
	say_tops(s, "operators", &tops[gpu ? HT_TOP_OPERATOR : HT_TOP_OPERATOR_HOST],
	        gpu ? "of the GPU time that operators launched themselves"
	            : "of the operators' own time on the host",
	        "cannot tell: no operators were recorded", "operators");
	say_tops(s, "kernels", &tops[HT_TOP_KERNEL], "of the time of kernels that compute",
	        "cannot tell: no kernels were recorded", "kernels");
	bool host_modules = tops[HT_TOP_MODULE_HOST].n > 0;
	say_tops(s, "modules", &tops[host_modules ? HT_TOP_MODULE_HOST : HT_TOP_MODULE],
	        host_modules ? "of the host time inside modules and their backward pass"
	                     : "of the GPU time inside modules",
	        s->f.n_devices
	                ? "cannot tell: no GPU work inside modules was recorded (with_stack and with_modules)"
	                : "cannot tell: no modules were recorded (with_stack and with_modules)",
	        host_modules ? "modules --sort -host_total_ns" : "modules");
	say_tops(s, "collectives", &tops[HT_TOP_COMM],
	        s->f.n_devices ? "of the time of communication kernels, waiting included"
	                       : "of the time of communication calls, waiting included",
	        s->f.n_devices ? "none: no communication kernels were recorded"
	                       : "cannot tell: no GPU work was recorded",
	        s->f.compares ? "collectives" : "comm-overlap");
}

static enum ht_status say_all(struct summary *s, const struct ht_parts *parts)
{
	struct part bounds[N_BOUNDS];
	HT_TRY(ht_findings_make(s->run, parts, &s->f));
	find_parts(&s->f, bounds);
	qsort(bounds, N_BOUNDS, sizeof *bounds, by_path);
	say_step_time(s);
	if (s->f.n_devices)
		say_made_of(s);
	else
		say_made_of_host(s);
	say_gpu(s);
	say_bound(s, bounds);
	say_savings(s, bounds);
	say_slow_rank(s);
	say_all_tops(s);
	if (s->no_memory)
		return ht_fail_nomem(s->run->ctx);
	HT_TRY(ht_findings_note(s->run, s->table));
	return ht_clocks_note_odd(s->run, s->table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct summary s = { .run = run, .table = table };
	HT_TRY(ht_frame_set_method(run, table, "conclusions, with the events behind them"));
	ht_table_set_prose(table);
	return say_all(&s, parts);
}
