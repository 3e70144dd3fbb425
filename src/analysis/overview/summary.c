/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - a run in ten findings, each with its evidence and where to look next.
 *
 *   decode, prefill, mixed  of a serving engine, as iterations has them: wall time, tokens per second; said only then
 *   missing         what the traces lack for the findings below; said only then
 *   step time       median, of the slowest rank each (model/steps/timed_steps.h), and the CPU span of a step; "recording" where there are no steps
 *   slow steps      where there are some: by how much they lengthen the mean, and what they have more of; said only then
 *   recompilation   of torch.compile inside the window, as attribution --view compile has it; said only then
 *   time breakdown  of the GPU span, as temporal-breakdown divides it
 *   GPU             how long kernels run, as steps has it, and why the device idles, as idle-breakdown divides it
 *   efficiency      MFU, GPU time near its roof, bandwidth of copies: the totals of efficiency; said where shapes were recorded
 *   bound by        what would shorten a step most by its absence, slow steps not counted: CPU, data loading, compute,
 *                   memcpy, communication (its transfer, where waiting is known), waiting for a rank, kernel launch, and what is
 *                   between steps: after the completion of one and before the next begins
 *   savings         upper bound per step for each: what-if of one rank, else its share of the path
 *   slow rank       the verdict of stragglers
 *   operators, kernels, modules, collectives  the three that take most time
 *   memory          of a memory snapshot: who holds the peak; why a request failed, what grows per step, fragmentation, idle pools and ranks
 *                   unlike the others where there are some. A snapshot without a trace has these lines alone
 *
 * Everything is said from the facts of those verbs (verdict/findings.h). When a rank keeps the others waiting, the path
 * leads through that rank; as much of what bounds it there (the GPU, or the host) as it is late by counts as waiting for
 * it. Where the traces do not tell, the line says so. O(n log n).
 *
 * Example: three ranks compute 1 ms, the fourth 10 ms, and an all-reduce of 1 ms follows: 11 ms, of which 9 are waiting
 * for the fourth, 1 is computing and 1 transfer.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "verdict/findings.h"
#include "verdict/found_runtime.h"
#include "verdict/make_findings.h"
#include "verdict/rank_facts.h"
#include "verdict/slow_steps.h"
#include "verdict/report_text.h"
#include "model/finding/finding.h"
#include "model/rows/frame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of the path or of a step that is worth a word. */
#define WORTH_A_WORD 0.01
/* A name has this much of what it is named for, or time is spread. */
#define WORTH_NAMING 0.25
/* Less than this of the steps' time is not all of it. */
#define MOST 0.9

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = HT_COLUMN_ENTRIES(HT_REPORT_COLUMNS);

const struct ht_analysis ht_analysis_summary = {
	.info = { .name = "summary",
	        .group = "conclusions",
	        .page_view = "overview",
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

static const char *steps_term(const struct ht_report *s)
{
	return s->f.has_steps ? "of.step_time" : "of.recording";
}

/* Several, or none worth counting. */
static int64_t if_several(size_t n)
{
	return n > 1 ? (int64_t)n : HT_NO_I64;
}

/* Of a run without steps: no step time, but how long it was recorded, which the shares below are of. */
static void say_recording(struct ht_report *s)
{
	struct ht_finding found = ht_finding("recording", HT_STATE_FOUND);
	ht_finding_next(&found, "steps");
	ht_finding_value(&found, (double)ht_findings_mean_step(&s->f), "ns");
	ht_finding_count(&found, "n_ranks", if_several(s->f.parts->n));
	ht_report_line(s, "recording", &found);
}

static void say_step_time(struct ht_report *s)
{
	const struct ht_findings *f = &s->f;
	const struct ht_step_times *host = &f->host, *device = &f->device;
	size_t n_ranks = f->parts->n;
	struct ht_finding found =
	        ht_finding("step-time", device->n ? HT_STATE_FOUND : HT_STATE_UNKNOWN);
	ht_finding_next(&found, "steps");
	if (!device->n) {
		found.variant = "no_events";
	} else {
		ht_finding_value(&found, (double)device->median_ns, "ns");
		/* a first step that is longer still is in the line of slow steps alone */
		bool slow =
		        device->number == f->slow.number && ht_findings_is_slow(f, device->number);
		ht_finding_count(&found, "n_steps", device->n > 1 ? (int64_t)device->n : HT_NO_I64);
		ht_finding_count(&found, "n_ranks", (int64_t)n_ranks);
		ht_finding_ns(&found, "least", device->n > 1 ? device->least_ns : HT_NO_I64);
		ht_finding_ns(&found, "most", device->most_ns);
		ht_finding_count(&found, "longest", slow ? device->number : HT_NO_I64);
		/* of the same steps */
		if (!f->slow.n && device->n_mean == f->job.n * f->job.n_ranks)
			ht_finding_ns(&found, "mean", ht_findings_mean_apart(f));
		ht_finding_count(&found, "n_mean", (int64_t)f->job.n);
		ht_finding_count(&found, "mean_ranks", if_several(n_ranks));
		ht_finding_ns(&found, "host", host->n ? host->median_ns : HT_NO_I64);
		ht_finding_text(&found, "no_gpu", f->n_devices || f->exported.ns ? NULL : "");
		ht_finding_event(&found, device->rank, device->row);
	}
	ht_report_line(s, "step time", &found);
}

/* Operators that only the exporter lists are no events. */
static bool has_events(const struct ht_tops *tops)
{
	return tops->n && tops->list[0].row != HT_NO_I64;
}

/* Is anything of the CPU there? Calls that launch graphs are, without any operator. Tables of an NPU's activity alone do not show what it waited for. */
static bool has_host(const struct ht_findings *f)
{
	return f->host.n || f->path[HT_CP_BOUND_CPU].ns || f->path[HT_CP_BOUND_LAUNCH_DELAY].ns ||
	       has_events(&f->tops[HT_TOP_OPERATOR]) ||
	       has_events(&f->tops[HT_TOP_OPERATOR_HOST]) || f->idle[HT_IDLE_HOST_WAIT].ns ||
	       !f->n_devices;
}

/* What the traces lack for the findings below; no line where they lack nothing. */
static void say_missing(struct ht_report *s)
{
	const struct ht_findings *f = &s->f;
	const char *lost = s->run->rosters[0]->loss_note;
	struct ht_finding found = ht_finding("missing", HT_STATE_FOUND);
	bool no_gpu = f->device.n && !f->n_devices && !f->exported.ns;
	const struct ht_finding_item gpu = ht_item("no_gpu_activity", NULL),
	                             cpu = ht_item("no_cpu_activity", NULL),
	                             loss = ht_item("lost", lost);
	if (no_gpu)
		ht_finding_item(&found, &gpu);
	if (f->n_devices && !has_host(f))
		ht_finding_item(&found, &cpu);
	if (lost)
		ht_finding_item(&found, &loss);
	found.variant = found.n_items ? found.items[0].variant : "";
	found.severity = HT_NOTE_WARNING;
	ht_finding_next(&found, "health");
	if (found.n_items)
		ht_report_line(s, "missing", &found);
}

/* An event of a part of the device's time: its longest, or the activity that ended the longest gap. */
static struct ht_event_at part_of_time(const struct ht_report *s, int column)
{
	static const struct {
		int column, kind;
	} kinds[] = { { HT_BREAKDOWN_COMPUTE, HT_TOP_KERNEL }, { HT_BREAKDOWN_COMM, HT_TOP_COMM },
		{ HT_BREAKDOWN_MEMCPY, HT_TOP_COPY }, { HT_BREAKDOWN_MEMSET, HT_TOP_COPY } };
	const struct ht_idle_time *gap = &s->f.idle[0];
	const struct ht_event_at none = { HT_NO_I64, HT_NO_I64 };
	for (size_t i = 0; i < HT_COUNT(kinds); i++) {
		const struct ht_tops *tops = &s->f.tops[kinds[i].kind];
		if (kinds[i].column == column)
			return tops->n ? (struct ht_event_at){ tops->list[0].rank,
				tops->list[0].row }
			               : none;
	}
	for (int k = 1; k < HT_IDLE_N; k++)
		if (s->f.idle[k].row_ns > gap->row_ns)
			gap = &s->f.idle[k];
	return column == HT_BREAKDOWN_IDLE ? (struct ht_event_at){ gap->rank, gap->row } : none;
}

static void add_share(struct ht_finding *f, const char *variant, int64_t part, int64_t whole)
{
	struct ht_finding_item item = ht_item(variant, NULL);
	item.ns = part;
	item.share = ht_ratio(part, whole);
	if (part > 0)
		ht_finding_item(f, &item);
}

/* Steps that only the exporter knows. */
static void say_exporter_breakdown(struct ht_report *s)
{
	const struct ht_exported_times *exported = &s->f.exported;
	struct ht_finding f = ht_finding("time-breakdown", HT_STATE_FOUND);
	f.variant = "exporter";
	ht_finding_next(&f, "steps");
	add_share(&f, "computing", exported->computing_ns, exported->ns);
	add_share(&f, "not_overlapped", exported->exposed_ns, exported->ns);
	add_share(&f, "free", exported->free_ns, exported->ns);
	ht_finding_share(
	        &f, ht_ratio(exported->computing_ns, exported->ns), "of.exporter_steps", HT_NO_I64);
	ht_report_line(s, "time breakdown", &f);
}

/* Without GPU activity: what the steps go to on the CPU. */
static void say_host_breakdown(struct ht_report *s)
{
	static const struct {
		enum ht_busy role;
		const char *variant;
	} roles[] = { { HT_BUSY_COMM, "host_communication" }, { HT_BUSY_LOADER, "data_loading" },
		{ HT_BUSY_CPU, "operators" }, { HT_BUSY_OTHER, "unattributed" } };
	int64_t sum = 0;
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		ht_sum(&sum, s->f.roles[roles[i].role]);
	struct ht_finding f = ht_finding("time-breakdown", sum ? HT_STATE_FOUND : HT_STATE_UNKNOWN);
	f.variant = sum ? "cpu" : "no_gpu_activity";
	ht_finding_next(&f, sum ? "steps" : "temporal-breakdown");
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		add_share(&f, roles[i].variant, s->f.roles[roles[i].role], sum);
	if (f.n_items)
		ht_finding_share(&f, f.items[0].share, steps_term(s), HT_NO_I64);
	ht_report_line(s, "time breakdown", &f);
}

static void say_breakdown(struct ht_report *s)
{
	static const struct {
		int column;
		const char *variant;
	} parts[] = { { HT_BREAKDOWN_COMPUTE, "compute" }, { HT_BREAKDOWN_COMM, "communication" },
		{ HT_BREAKDOWN_MEMCPY, "memcpy" }, { HT_BREAKDOWN_MEMSET, "memset" },
		{ HT_BREAKDOWN_OTHER, "wait" }, { HT_BREAKDOWN_IDLE, "idle" },
		{ HT_BREAKDOWN_OUTSIDE, "outside" } };
	const int64_t *ns = s->f.breakdown, span = ns[HT_BREAKDOWN_SPAN];
	struct ht_finding f = ht_finding("time-breakdown", HT_STATE_FOUND);
	struct ht_event_at at = { HT_NO_I64, HT_NO_I64 };
	int64_t most = 0, window = s->f.gpu.window_ns;
	ht_finding_next(&f, "temporal-breakdown");
	for (size_t i = 0; i < HT_COUNT(parts); i++) {
		int64_t part = ns[parts[i].column];
		add_share(&f, parts[i].variant, part, span);
		if (part > 0 && parts[i].column == HT_BREAKDOWN_COMM && s->f.knows_waits) {
			struct ht_finding_item *item = &f.items[f.n_items - 1];
			item->wait = ht_ratio(ns[HT_BREAKDOWN_WAIT], span);
			item->transfer = ht_ratio(ns[HT_BREAKDOWN_TRANSFER], span);
		}
		if (part <= most)
			continue;
		most = part;
		at = part_of_time(s, parts[i].column);
		ht_finding_subject(&f, "cause", parts[i].variant);
	}
	ht_finding_event(&f, at.rank, at.row);
	ht_finding_share(&f, ht_ratio(most, span), "of.gpu_span", HT_NO_I64);
	if (window > 0 && ht_ratio(span, window) < MOST) {
		ht_finding_ratio(&f, "span_share", ht_ratio(span, window));
		ht_finding_text(&f, "span_of", ht_term(steps_term(s)));
	}
	ht_report_line(s, "time breakdown", &f);
}

static void say_gpu(struct ht_report *s)
{
	static const char *const variants[HT_IDLE_N] = { [HT_IDLE_HOST_WAIT] = "host_wait",
		[HT_IDLE_KERNEL_WAIT] = "kernel_wait",
		[HT_IDLE_COMMUNICATION] = "communication",
		[HT_IDLE_OTHER] = "other",
		[HT_IDLE_LEADING] = "leading" };
	const struct ht_gpu_use *gpu = &s->f.gpu;
	int64_t span = s->f.breakdown[HT_BREAKDOWN_SPAN], idle_ns = 0;
	struct ht_finding f = ht_finding("gpu", gpu->window_ns ? HT_STATE_FOUND : HT_STATE_UNKNOWN);
	struct ht_event_at at = part_of_time(s, HT_BREAKDOWN_IDLE);
	for (int k = 0; k < HT_IDLE_N; k++) {
		ht_sum(&idle_ns, s->f.idle[k].ns);
		if (has_host(&s->f) && ht_ratio(s->f.idle[k].ns, span) >= WORTH_A_WORD)
			add_share(&f, variants[k], s->f.idle[k].ns, span);
	}
	if (!has_host(&s->f) && ht_ratio(idle_ns, span) >= WORTH_A_WORD)
		add_share(&f, "unattributed", idle_ns, span);
	if (gpu->window_ns)
		ht_finding_share(
		        &f, ht_ratio(gpu->busy_ns, gpu->window_ns), steps_term(s), HT_NO_I64);
	else
		f.variant = s->f.n_devices ? "no_kernels" : "no_gpu_activity";
	ht_finding_event(&f, at.rank, at.row);
	ht_finding_next(&f, "idle-breakdown");
	ht_finding_arg(&f, "by", "device");
	ht_report_line(s, "GPU", &f);
}

/* Where shapes were recorded. */
static void say_efficiency(struct ht_report *s)
{
	struct ht_use_sum sum = ht_use_sum(s->f.parts, 0, HT_FOUND_USE);
	struct ht_finding f = ht_use_finding(&sum);
	if (s->f.n_devices && sum.n_ranks)
		ht_report_line(s, "efficiency", &f);
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
	BOUND_BETWEEN,
	N_BOUNDS
};

struct part {
	enum bound bound;
	int64_t path_ns, saves_ns;      /* of the whole path */
	int64_t usual_ns;               /* of the path, slow steps not counted */
	const struct ht_path_bound *of; /* NULL: waiting for a rank, or between steps */
};

/* Of the steps that are not slow, as of all. */
static int64_t usually_saves_ns(const struct part *part)
{
	if (part->path_ns <= 0)
		return 0;
	return (int64_t)((__int128)part->saves_ns * part->usual_ns / part->path_ns);
}

/* What would shorten a step most comes first: a path may lead through kernels that something else would take as long as. */
static int by_bound(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	int64_t ns[2] = { usually_saves_ns(a), usually_saves_ns(b) };
	if (ns[0] != ns[1])
		return ns[0] > ns[1] ? -1 : 1;
	if (a->usual_ns != b->usual_ns)
		return a->usual_ns > b->usual_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

static void add_bound(struct part *part, const struct ht_path_bound *of)
{
	part->path_ns += of->ns;
	part->usual_ns += of->ns - of->apart_ns;
	part->saves_ns += of->saved_ns;
	if (!part->of || of->ns > part->of->ns)
		part->of = of;
}

static int64_t usual_path_ns(const struct ht_findings *f)
{
	return f->path_ns - f->apart_path_ns;
}

/* All that shares are of: the path, and what is between steps. */
static int64_t whole_ns(const struct ht_findings *f)
{
	return ht_add_sat(f->path_ns, f->between_ns);
}

static int64_t usual_whole_ns(const struct ht_findings *f)
{
	return ht_add_sat(usual_path_ns(f), f->between_ns - f->apart_between_ns);
}

/* Of so much of the path as of a whole in steps, no more than there is. */
static int64_t of_path_ns(int64_t ns, int64_t step_ns, int64_t path_ns, int64_t most_ns)
{
	int64_t part = step_ns > 0 ? (int64_t)((__int128)ns * path_ns / step_ns) : 0;
	return part < most_ns ? part : most_ns;
}

/* So much of what the path has of one thing is waiting for a rank; what is not there to be given remains. */
static void give_late(struct part *from, struct part *rank, int64_t *path_ns, int64_t *usual_ns)
{
	int64_t path = *path_ns < from->path_ns ? *path_ns : from->path_ns;
	int64_t usual = *usual_ns < from->usual_ns ? *usual_ns : from->usual_ns;
	from->path_ns -= path;
	from->usual_ns -= usual;
	from->saves_ns = from->saves_ns > path ? from->saves_ns - path : 0;
	rank->path_ns += path;
	rank->saves_ns += path;
	rank->usual_ns += usual;
	*path_ns -= path;
	*usual_ns -= usual;
}

/* As much of the path as a rank is late by, from what it is late with. */
static void add_late_rank(const struct ht_findings *f, struct part *parts)
{
	const struct ht_late_rank *rank = f->latest;
	if (!rank || !ht_findings_mean_step(f))
		return;
	const struct ht_verdict *verdict = &f->stragglers.verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(&f->stragglers, rank);
	bool host = cause.side ? !strcmp(cause.side, "host") : !f->n_devices;
	int64_t late_ns = ht_straggler_cost_ns(verdict), step_ns = ht_findings_mean_step(f);
	int64_t path_ns = of_path_ns(late_ns, step_ns, whole_ns(f), INT64_MAX);
	int64_t usual_ns =
	        of_path_ns(late_ns, ht_findings_bound_step(f), usual_whole_ns(f), INT64_MAX);
	if (!host)
		give_late(&parts[BOUND_COMPUTE], &parts[BOUND_RANK], &path_ns, &usual_ns);
	/* who waits in calls of the CPU is on no path through the device of the late rank */
	if (host || f->calls_host)
		give_late(&parts[BOUND_HOST], &parts[BOUND_RANK], &path_ns, &usual_ns);
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
	parts[BOUND_BETWEEN].path_ns = parts[BOUND_BETWEEN].saves_ns = f->between_ns;
	parts[BOUND_BETWEEN].usual_ns = f->between_ns - f->apart_between_ns;
}

static const char *bound_text(struct ht_report *s, const struct part *part)
{
	switch (part->bound) {
	case BOUND_HOST: return ht_term("bound.cpu");
	case BOUND_DATA: return ht_term("bound.data_loading");
	case BOUND_COMPUTE: return ht_term("bound.compute");
	case BOUND_MEMORY: return ht_term("bound.memory");
	case BOUND_COMM:
		return ht_term(s->f.parts->n < 2  ? "bound.communication_one_rank"
		               : s->f.knows_waits ? "bound.communication"
		                                  : "bound.communication_unmatched");
	case BOUND_RANK:
		return HT_SAY(s, "%s %s", ht_term("bound.rank"),
		        ht_words_keep(
		                &s->words, ht_straggler_names(&s->f.stragglers, s->f.latest)));
	case BOUND_LAUNCH: return ht_term("bound.launch");
	case BOUND_BETWEEN: return ht_term("bound.between");
	case N_BOUNDS: break;
	}
	return "";
}

static void set_bound_next(const struct ht_report *s, const struct part *part, struct ht_finding *f)
{
	static const char *const verbs[N_BOUNDS] = { [BOUND_HOST] = "critical-path",
		[BOUND_DATA] = "steps",
		[BOUND_COMPUTE] = "kernel-breakdown",
		[BOUND_MEMORY] = "memory-bandwidth",
		[BOUND_COMM] = "comm-overlap",
		[BOUND_RANK] = "stragglers",
		[BOUND_LAUNCH] = "launch-stats",
		[BOUND_BETWEEN] = "steps" };
	ht_finding_next(f, part->bound == BOUND_COMM && (s->f.compares || s->f.calls_host)
	                           ? "collectives"
	                           : verbs[part->bound]);
	if (part->bound == BOUND_HOST) {
		ht_finding_arg(f, "view", "path");
		ht_finding_arg(f, "where", "bound_by == cpu_bound");
	}
}

/* Shares are of step time where something of it is on no path. */
static bool is_of_steps(const struct ht_findings *f)
{
	return f->between_ns > 0;
}

/* What most of it is. */
static void add_main_part(
        struct ht_report *s, const struct part *part, int64_t path_ns, struct ht_finding *f)
{
	if (!part->of)
		return;
	const struct ht_path_name *most = &part->of->most;
	int64_t whole = part->of->ns - part->of->apart_ns;
	/* of that, waiting for a rank may have been taken off */
	int64_t most_ns = most->ns < part->usual_ns ? most->ns : part->usual_ns;
	if (!most->name && part->bound != BOUND_HOST)
		return;
	ht_finding_text(f, "hot",
	        most->name ? ht_report_brief(s, most->name) : ht_term("outside_operators"));
	ht_finding_ratio(f, "hot_share", ht_ratio(most_ns, path_ns));
	ht_finding_text(f, "hot_of", ht_term(is_of_steps(&s->f) ? "of.step_time" : "of.the_path"));
	ht_finding_text(f, "spread", ht_ratio(most->ns, whole) < WORTH_NAMING ? "" : NULL);
}

/* in_slow: of all steps, so that what slow ones have counts where it is more; else of the others. */
static struct ht_event_at part_evidence(
        const struct ht_report *s, const struct part *part, bool in_slow)
{
	if (part->bound == BOUND_RANK) {
		struct ht_straggler_cause cause =
		        ht_straggler_cause_of(&s->f.stragglers, s->f.latest);
		return (struct ht_event_at){ s->f.latest->rank,
			cause.side ? cause.excess->row : s->f.latest->worst_call->row };
	}
	const struct ht_idle_time *gap = &s->f.idle[HT_IDLE_HOST_WAIT];
	if (part->bound == BOUND_BETWEEN)
		return (struct ht_event_at){ gap->rank, gap->row };
	const struct ht_path_name *most = &part->of->most, *slow = &part->of->slow;
	if (most->row == HT_NO_I64 || (in_slow && slow->row != HT_NO_I64 && slow->ns > most->ns))
		most = slow;
	return (struct ht_event_at){ most->rank, most->row };
}

static int64_t inferred_ns(const struct ht_findings *f)
{
	int64_t sum = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		ht_sum(&sum, f->path[k].inferred_ns);
	return sum;
}

/* Without slow steps; of those that recur without a first one that is slow for another reason; or of all. */
static const char *path_term(const struct ht_findings *f)
{
	static const char *const terms[][3] = {
		{ "of.step_time", "of.usual_step_time", "of.later_step_time" },
		{ "of.critical_path", "of.usual_path", "of.later_path" },
		{ "of.job_path", "of.usual_job_path", "of.later_job_path" },
	};
	int without = !f->slow.n_apart ? 0 : f->slow.recurs ? 2 : 1;
	return terms[is_of_steps(f) ? 0 : f->parts->n > 1 ? 2 : 1][without];
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
	       ht_ratio(saves_ns, whole_ns(f)) < WORTH_A_WORD;
}

/* Of the path, slow steps not counted. */
static int64_t usual_launch_ns(const struct part *parts)
{
	for (size_t i = 0; i < N_BOUNDS; i++)
		if (parts[i].bound == BOUND_LAUNCH)
			return parts[i].usual_ns;
	return 0;
}

/* What comes second by what it saves may have more of the path than the first: then its savings say why. */
static void add_second(
        struct ht_report *s, const struct part *second, int64_t first_ns, struct ht_finding *found)
{
	int64_t whole = usual_whole_ns(&s->f);
	if (ht_ratio(second->usual_ns, whole) < WORTH_NAMING)
		return;
	ht_finding_text(found, "second", bound_text(s, second));
	ht_finding_ratio(found, "second_share", ht_ratio(second->usual_ns, whole));
	if (second->usual_ns > first_ns)
		ht_finding_ratio(found, "second_saves", ht_ratio(usually_saves_ns(second), whole));
}

static void say_bound(struct ht_report *s, const struct part *parts)
{
	const struct ht_findings *f = &s->f;
	struct ht_finding found = ht_finding("bound-by", HT_STATE_FOUND);
	if (f->path_ns <= 0 || !has_host(f) || !f->device.n) {
		found.state = HT_STATE_UNKNOWN;
		found.variant = f->path_ns <= 0 ? "no_duration"
		                : f->device.n   ? "no_cpu"
		                                : "no_events";
		ht_finding_next(&found, "health");
		ht_report_line(s, "bound by", &found);
		return;
	}
	double inferred = ht_ratio(inferred_ns(f), f->path_ns);
	int64_t whole = usual_whole_ns(f);
	struct ht_event_at at = part_evidence(s, &parts[0], false);
	bool launches = parts[0].bound == BOUND_HOST && launches_most(f, parts);
	int64_t usual_ns = parts[0].usual_ns + (launches ? usual_launch_ns(parts) : 0);
	ht_finding_subject(
	        &found, "cause", launches ? ht_term("bound.cpu_launch") : bound_text(s, &parts[0]));
	ht_finding_value(&found,
	        (double)of_path_ns(usual_ns, whole, ht_findings_bound_step(f), INT64_MAX), "ns");
	ht_finding_share(&found, ht_ratio(usual_ns, whole), path_term(f), HT_NO_I64);
	found.upper_bound_ns = ht_findings_per_step(f, parts[0].saves_ns);
	found.confidence = 1 - inferred;
	if (!launches)
		add_main_part(s, &parts[0], whole, &found);
	/* launches are in the first */
	add_second(s, &parts[launches && parts[1].bound == BOUND_LAUNCH ? 2 : 1], usual_ns, &found);
	ht_finding_text(&found, "no_gpu", f->n_devices ? NULL : "");
	ht_finding_ratio(&found, "inferred", inferred < 0.5 ? NAN : inferred);
	ht_finding_event(&found, at.rank, at.row);
	set_bound_next(s, &parts[0], &found);
	ht_report_line(s, "bound by", &found);
}

/* What slow steps have more of. */
static void add_slow_cause(
        struct ht_report *s, const struct ht_slow_cause *cause, struct ht_finding *found)
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
		return;
	part.bound = bounds[cause->of - f->path];
	ht_finding_text(found, "cause", bound_text(s, &part));
	ht_finding_ns(found, "more", cause->ns);
	const char *name = slow->name                 ? ht_report_brief(s, slow->name)
	                   : part.bound == BOUND_HOST ? ht_term("outside_operators")
	                                              : NULL;
	int64_t n_slow = (int64_t)(f->slow.n - f->slow.n_echoes),
	        compile_ns = ht_found_compile_ns(f);
	__int128 all_ns = (__int128)cause->ns * n_slow;
	if ((__int128)2 * compile_ns >= all_ns && part.bound == BOUND_HOST)
		name = ht_term("recompiling");
	else if ((__int128)2 * slow->ns < all_ns)
		ht_finding_ns(found, "name_ns", slow->ns / n_slow);
	ht_finding_text(found, "name", name);
	ht_finding_count(found, "cause_rank", f->parts->n > 1 ? slow->rank : HT_NO_I64);
}

/* Steps that are not like the others; no line where there are none. */
static void say_slow_steps(struct ht_report *s)
{
	const struct ht_findings *f = &s->f;
	struct ht_slow_cause cause = ht_findings_slow_cause(f);
	int64_t mean_ns = ht_findings_mean_step(f), usual_ns = ht_findings_usual_step(f);
	struct ht_finding found = ht_finding("slow-steps", HT_STATE_FOUND);
	if (!f->slow.n)
		return;
	ht_finding_value(&found, (double)f->slow.most_ns, "ns");
	ht_finding_share(&found, ht_ratio(mean_ns - usual_ns, mean_ns), "of.mean_step", HT_NO_I64);
	found.upper_bound_ns = mean_ns - usual_ns;
	size_t n_slow = f->slow.n - f->slow.n_echoes;
	ht_finding_text(&found, "several", n_slow > 1 ? "" : NULL);
	ht_finding_count(&found, "n_slow", (int64_t)n_slow);
	ht_finding_count(&found, "n_steps", (int64_t)f->n_steps);
	ht_finding_count(&found, "longest", f->slow.number);
	ht_finding_text(&found, "times",
	        HT_SAY(s, "%.1f", (double)f->slow.most_ns / (double)f->device.median_ns));
	ht_finding_ns(&found, "usual", usual_ns);
	ht_finding_ns(&found, "mean", mean_ns);
	add_slow_cause(s, &cause, &found);
	ht_finding_event(&found, f->slow.rank, f->slow.row);
	if (cause.of)
		ht_finding_event(&found, cause.of->slow.rank, cause.of->slow.row);
	ht_finding_next(&found, "steps");
	ht_finding_arg(&found, "sort", "-total_ns");
	ht_report_line(s, "slow steps", &found);
}

static int by_savings(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (int)a->bound - (int)b->bound;
}

static void add_saving(
        struct ht_report *s, const struct part *part, bool launches, struct ht_finding *found)
{
	const struct ht_findings *f = &s->f;
	if (ht_ratio(part->saves_ns, whole_ns(f)) < WORTH_A_WORD)
		return;
	struct ht_finding_item item =
	        ht_item("", launches && part->bound == BOUND_HOST ? ht_term("bound.cpu_launch")
	                                                          : bound_text(s, part));
	item.ns = ht_findings_per_step(f, part->saves_ns);
	item.share = ht_ratio(part->saves_ns, whole_ns(f));
	item.at = part_evidence(s, part, true);
	ht_finding_item(found, &item);
	ht_finding_event(found, item.at.rank, item.at.row);
}

static void say_savings(struct ht_report *s, struct part *parts)
{
	const struct ht_findings *f = &s->f;
	struct ht_finding found = ht_finding("savings", HT_STATE_UNKNOWN);
	ht_finding_next(&found, "critical-path");
	if (f->parts->n > 1)
		ht_finding_arg(&found, "across", "true");
	else
		ht_finding_arg(&found, "view", "what-if");
	qsort(parts, N_BOUNDS, sizeof *parts, by_savings);
	bool launches = launches_most(f, parts);
	for (size_t i = 0; has_host(f) && f->device.n && i < N_BOUNDS; i++)
		add_saving(s, &parts[i], launches, &found);
	found.variant = !f->device.n ? "no_events" : has_host(f) ? "no_path" : "no_cpu";
	if (found.n_items) {
		const struct ht_finding_item *most = &found.items[0];
		found.state = HT_STATE_FOUND;
		found.variant = "";
		found.upper_bound_ns = most->ns;
		ht_finding_subject(&found, "cause", most->name);
		ht_finding_share(&found, most->share,
		        is_of_steps(f)    ? "of.step_time"
		        : f->parts->n > 1 ? "of.job_path"
		                          : "of.critical_path",
		        HT_NO_I64);
		ht_finding_text(&found, "steps", f->has_steps ? "" : NULL);
		ht_finding_ns(&found, "mean",
		        f->slow.n ? ht_findings_mean_step(f) : ht_findings_mean_apart(f));
	}
	ht_report_line(s, "savings", &found);
}

static void say_slow_rank(struct ht_report *s)
{
	const struct ht_findings *f = &s->f;
	struct ht_finding found = ht_finding("slow-rank", HT_STATE_UNKNOWN);
	found.variant = f->parts->n > 1 ? "no_collectives" : "single_rank";
	ht_finding_next(&found, "stragglers");
	if (f->latest) {
		int64_t cost_ns = ht_straggler_cost_ns(&f->stragglers.verdicts[f->latest->i_part]);
		if (ht_straggler_finding(&f->stragglers, f->latest, &found) != HT_OK)
			ht_words_keep(&s->words, NULL);
		ht_finding_value(&found, (double)cost_ns, "ns");
		ht_finding_share(&found, ht_ratio(cost_ns, ht_findings_mean_step(f)),
		        "of.mean_step", HT_NO_I64);
	} else if (f->compares) {
		found = ht_straggler_nobody(&f->stragglers);
	}
	ht_report_line(s, "slow rank", &found);
}

/* Lines of memory snapshots, the peak always and the others where there is something; then notes. */
static enum ht_status end_lines(struct ht_report *s)
{
	HT_TRY(ht_report_memory(s));
	if (s->words.no_memory)
		return ht_fail_nomem(s->run->ctx);
	HT_TRY(ht_findings_note(s->run, s->table));
	return ht_clocks_note_odd(s->run, s->table);
}

static enum ht_status say_all(struct ht_report *s, const struct ht_parts *parts)
{
	struct part bounds[N_BOUNDS];
	HT_TRY(ht_findings_make(s->run, parts, &s->f));
	if (!s->f.device.n && ht_mem_findings_any(parts, HT_FOUND_MEMORY))
		return end_lines(s);
	find_parts(&s->f, bounds);
	qsort(bounds, N_BOUNDS, sizeof *bounds, by_bound);
	ht_report_serving(s);
	say_missing(s);
	(s->f.device.n && !s->f.has_steps ? say_recording : say_step_time)(s);
	say_slow_steps(s);
	ht_report_recompilations(s);
	if (s->f.n_devices)
		say_breakdown(s);
	else if (s->f.exported.ns > 0)
		say_exporter_breakdown(s);
	else
		say_host_breakdown(s);
	say_gpu(s);
	say_efficiency(s);
	say_bound(s, bounds);
	say_savings(s, bounds);
	say_slow_rank(s);
	ht_report_tops(s);
	return end_lines(s);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_report s = { .run = run, .table = table, .words = { .arena = run->scratch } };
	HT_TRY(ht_frame_set_method(run, table, "key findings, with evidence"));
	ht_table_set_prose(table);
	return say_all(&s, parts);
}
