/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - what reading repaired, lost or found odd, and what that weakens.
 *
 * One row per rank and counter that is not zero, worst first. Counters are named in import_stats.def;
 * they are made while reading and sealing, so this costs nothing. A clean trace gives an empty table. Of several
 * ranks the clocks and collectives are checked too (clocks.h): moved clocks, collectives that no clocks explain
 * and that ranks do not agree about are counted at the end of each rank. Of a rank that is there as text and as database
 * counts and totals of both are compared (table "forms" of the trace): forms_agree, or forms_differ for each that does.
 * Warnings that the profiler wrote into the trace (table "profiler_warnings") are profiler_warning, in its words.
 * Where the exporter's steps have more computing or communication than the work that is there, missing_work says so.
 * Where a trace says how large its job is, or with which ranks it exchanged data, and more ranks take part than are here,
 * missing_ranks says so, without a rank of its own; when it has fewer than are here, too_many_ranks. A trace that
 * says another rank than it is shown as is rank_twice, when another trace has that rank, else rank_differs. Several processes
 * in one file that have steps of their own are several_processes. Numbers of steps that no rank has, between those that are there, are
 * missing_steps; where all are equally far apart only every so many was recorded, and none is missing.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "base/sort.h"
#include "model/clocks/clock_leaving.h"
#include "model/clocks/clocks.h"
#include "model/communication/exporter.h"
#include "model/communication/group_size.h"
#include "model/steps/step_roles.h"
#include "store/import_stats.h"
#include "store/side_table.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "table/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static enum ht_status list_counters(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_CHECK, "check", HT_STR, HT_KEY, "name of the counter", NULL)                    \
	COLUMN(COL_SEVERITY, "severity", HT_STR, HT_MEASURE,                                       \
	        "info, notice, repair (not stored as written) or data loss", NULL)                 \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "how often it was met", NULL)               \
	COLUMN(COL_FIRST_OFFSET, "first_offset", HT_I64, HT_DETAIL,                                \
	        "byte offset of the first one in the decompressed file; absent when "              \
	        "not tied to a place",                                                             \
	        NULL)                                                                              \
	COLUMN(COL_SENTENCE, "sentence", HT_STR, HT_MEASURE,                                       \
	        "what was met and what was done about it", NULL)                                   \
	COLUMN(COL_WEAKENS, "weakens", HT_STR, HT_MEASURE, "which results to read with care", NULL)
HT_COLUMNS(columns, COLUMNS);

/* The number of ranks that a trace says its job has, at least. */
enum { COUNTERS, JOB, STEPS };
#define STEP_COLUMNS(COLUMN)                                                                       \
	COLUMN(STEP_NUMBER, "step", HT_I64, HT_KEY, "number of a step of the rank", NULL)
HT_COLUMNS(step_columns, STEP_COLUMNS);
#define JOB_COLUMNS(COLUMN)                                                                        \
	COLUMN(JOB_RANKS, "ranks", HT_I64, HT_MEASURE, "ranks of the job, at least", NULL)
HT_COLUMNS(job_columns, JOB_COLUMNS);

const struct ht_analysis ht_analysis_health = {
	.info = {
		.name = "health",
		.group = "engine",
		.title = "Health of the traces",
		.question = "What could not be read, what was repaired, and which results does that weaken?",
		.method = "Counters raised while reading, and checks of each trace against itself and the others.",
		HT_ONE_SCHEMA(columns),
		.n_sets = 1,
		.tells_losses = true,
	},
	.facts = { [COUNTERS] = { "counters", columns, HT_COUNT(columns) },
	        [JOB] = { "job", job_columns, HT_COUNT(job_columns) },
	        [STEPS] = { "steps", step_columns, HT_COUNT(step_columns) } },
	.across = true,
	.per_rank = list_counters,
	.finish = finish,
};

#define MOST_HOLES 8

static const char *severity_name(enum ht_severity severity)
{
	static const char *const names[] = { "info", "notice", "repair", "data loss", "severe" };
	return names[severity];
}

static void append(ht_table *table, int64_t rank, const struct ht_stat *stat)
{
	const struct ht_stat_info *info = ht_stat_info((enum ht_stat_code)stat->code);
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, rank);
	ht_table_put_str(table, COL_CHECK, info->name);
	ht_table_put_str(table, COL_SEVERITY, severity_name(info->severity));
	ht_table_put_i64(table, COL_COUNT, (int64_t)stat->count);
	ht_table_put_known(table, COL_FIRST_OFFSET, stat->first_offset, -1);
	ht_table_put_str(table, COL_SENTENCE, info->sentence);
	ht_table_put_str(table, COL_WEAKENS, info->weakens);
}

/* ---- two forms of a rank ---- */

struct form_row {
	const char *what, *unit;
	int64_t counts[2], totals[2], tolerance; /* of text, of the database */
};

static struct form_row read_form(
        const struct ht_trace *t, const struct ht_side_table *table, uint64_t row)
{
	struct form_row f = { .what = "", .unit = "" };
	const char *text = ht_side_str(t, ht_side_column_find(t, table, "what"), row);
	const char *unit = ht_side_str(t, ht_side_column_find(t, table, "unit"), row);
	const struct {
		const char *key;
		int64_t *to;
	} cells[] = { { "text_count", &f.counts[0] }, { "database_count", &f.counts[1] },
		{ "text_total", &f.totals[0] }, { "database_total", &f.totals[1] },
		{ "tolerance", &f.tolerance } };
	for (size_t i = 0; i < HT_COUNT(cells); i++)
		(void)ht_side_i64(t, ht_side_column_find(t, table, cells[i].key), row, cells[i].to);
	f.what = text ? text : "";
	f.unit = unit ? unit : "";
	return f;
}

static bool differs(const struct form_row *f)
{
	int64_t apart = ht_sub_sat(f->totals[0], f->totals[1]);
	apart = apart < 0 ? ht_sub_sat(0, apart) : apart;
	return f->counts[0] != f->counts[1] || apart > f->tolerance;
}

/* NULL when out of memory. */
static const char *total_text(struct ht_run *run, const struct form_row *f, size_t i)
{
	char buf[HT_FORMAT_BYTES];
	if (f->unit[0] == 'b')
		return ht_arena_printf(run->scratch, "%" PRId64 " %s", f->totals[i], f->unit);
	ht_format_double(buf, HT_DURATION_F64, (double)f->totals[i]);
	return ht_arena_printf(run->scratch, "%s", buf);
}

static void put_form(struct ht_run *run, ht_table *table, const char *check, const char *severity,
        int64_t count, const char *sentence, const char *weakens)
{
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, run->rank);
	ht_table_put_str(table, COL_CHECK, check);
	ht_table_put_str(table, COL_SEVERITY, severity);
	ht_table_put_i64(table, COL_COUNT, count);
	ht_table_put_null(table, COL_FIRST_OFFSET);
	ht_table_put_str(table, COL_SENTENCE, sentence);
	ht_table_put_str(table, COL_WEAKENS, weakens);
}

static enum ht_status compare_forms(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	const struct ht_side_table *forms = ht_side_table_find(t, "forms");
	const char *same = "";
	int64_t n_same = 0;
	for (uint64_t row = 0; forms && row < forms->n_rows; row++) {
		struct form_row f = read_form(t, forms, row);
		const char *totals[2] = { total_text(run, &f, 0), total_text(run, &f, 1) };
		if (!totals[0] || !totals[1])
			return ht_fail_nomem(run->ctx);
		const char *sentence =
		        differs(&f)
		                ? ht_arena_printf(run->scratch,
		                          "%s: %" PRId64 " with %s in the text, %" PRId64
		                          " with %s in the database; %" PRId64
		                          " %s apart, and rounding explains %" PRId64,
		                          f.what, f.counts[0], totals[0], f.counts[1], totals[1],
		                          ht_sub_sat(f.totals[0], f.totals[1]), f.unit, f.tolerance)
		                : (same = ht_arena_printf(run->scratch,
		                           "%s%s%s: %" PRId64 " with %s", same, *same ? ", " : "",
		                           f.what, f.counts[0], totals[0]));
		if (!sentence)
			return ht_fail_nomem(run->ctx);
		n_same += !differs(&f);
		if (differs(&f))
			put_form(run, table, "forms_differ", severity_name(HT_NOTICE), 1, sentence,
			        "answers differ with --prefer");
	}
	if (n_same)
		put_form(run, table, "forms_agree", severity_name(HT_INFO), n_same,
		        ht_arena_printf(run->scratch, "text and database have the same %s", same),
		        "nothing");
	return HT_OK;
}

/* ---- what the profiler reported of itself ---- */

#define MAX_WARNINGS 50

static void list_warnings(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	const struct ht_side_table *warnings = ht_side_table_find(t, "profiler_warnings");
	for (uint64_t i = 0; warnings && i < warnings->n_rows && i < MAX_WARNINGS; i++) {
		const char *text = ht_side_str(t, ht_side_column_find(t, warnings, "text"), i);
		if (text)
			put_form(run, table, "profiler_warning", severity_name(HT_NOTICE), 1, text,
			        "what the profiler's text names");
	}
}

/* ---- what the exporter says of its steps ---- */

/* Sums of durations are no less than the time that the exporter counts, so where that is clearly more, work is missing. */
static enum ht_status compare_steps(struct ht_run *run, ht_table *table)
{
	static const struct {
		enum ht_class class_;
		const char *words;
	} kinds[] = { { HT_CLASS_COMPUTE, "computing" }, { HT_CLASS_COMM, "communication" } };
	const struct ht_trace *t = run->trace;
	struct ht_exporter_step *steps = NULL;
	size_t n = 0;
	int64_t told[HT_COUNT(kinds)] = { 0 };
	if (!t->n_gpu)
		return HT_OK;
	HT_TRY(ht_exporter_steps(run, false, &steps, &n));
	for (size_t i = 0; i < n; i++) {
		ht_sum(&told[0], steps[i].computing_ns);
		ht_sum(&told[1], ht_add_sat(steps[i].exposed_ns, steps[i].overlapped_ns));
	}
	for (size_t k = 0; k < HT_COUNT(kinds); k++) {
		char there[HT_FORMAT_BYTES], here[HT_FORMAT_BYTES];
		int64_t ns = 0;
		for (size_t i = 0; i < t->n_gpu; i++)
			if (t->gpu[i].class_ == kinds[k].class_ && ht_is_span(t, t->gpu[i].row))
				ht_sum(&ns, t->dur_ns[t->gpu[i].row]);
		if ((double)told[k] <= 1.1 * (double)ns)
			continue;
		ht_format_double(there, HT_DURATION_F64, (double)told[k]);
		ht_format_double(here, HT_DURATION_F64, (double)ns);
		const char *sentence = ht_arena_printf(run->scratch,
		        "the exporter's steps have %s of %s, the NPU work that is here %s", there,
		        kinds[k].words, here);
		if (!sentence)
			return ht_fail_nomem(run->ctx);
		put_form(run, table, "missing_work", severity_name(HT_NOTICE), 1, sentence,
		        "all that is counted over NPU work; distributed --view steps has the exporter's steps");
	}
	return HT_OK;
}

/* ---- the job ---- */

static enum ht_status find_missing(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	int64_t size = 0, n_here = (int64_t)run->rosters[0]->n;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *job = parts->list[i].facts[JOB];
		for (size_t row = 0; row < ht_table_n_rows(job); row++)
			if (ht_table_i64(job, row, JOB_RANKS) > size)
				size = ht_table_i64(job, row, JOB_RANKS);
	}
	if (size == n_here || !size)
		return HT_OK;
	bool missing = size > n_here;
	const char *sentence = missing ? ht_arena_printf(run->scratch,
	                                         "the job has %" PRId64
	                                         " ranks or more, of which %" PRId64 " %s here",
	                                         size, n_here, n_here == 1 ? "is" : "are")
	                               : ht_arena_printf(run->scratch,
	                                         "the job has %" PRId64 " ranks, and %" PRId64
	                                         " are here: copies, or several runs",
	                                         size, n_here);
	if (!sentence)
		return ht_fail_nomem(run->ctx);
	ht_table_row(table);
	ht_table_put_null(table, COL_RANK);
	ht_table_put_str(table, COL_CHECK, missing ? "missing_ranks" : "too_many_ranks");
	ht_table_put_str(table, COL_SEVERITY, severity_name(HT_NOTICE));
	ht_table_put_i64(table, COL_COUNT, missing ? size - n_here : n_here - size);
	ht_table_put_null(table, COL_FIRST_OFFSET);
	ht_table_put_str(table, COL_SENTENCE, sentence);
	ht_table_put_str(table, COL_WEAKENS,
	        missing ? "waiting for ranks, slow ranks, matched collectives: others may be the cause"
	                : "everything over ranks: name the traces of one run");
	return HT_OK;
}

/* Numbers of all ranks, ascending, each once; memory in scratch. */
static enum ht_status step_numbers(
        struct ht_run *run, const struct ht_parts *parts, int64_t **ret_numbers, size_t *ret_n)
{
	size_t n = 0, n_kept = 0;
	for (size_t i = 0; i < parts->n; i++)
		n += ht_table_n_rows(parts->list[i].facts[STEPS]);
	int64_t *numbers = ht_arena_alloc(run->scratch, (n + 1) * sizeof *numbers);
	if (!numbers)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t i = 0; i < parts->n; i++)
		for (size_t row = 0; row < ht_table_n_rows(parts->list[i].facts[STEPS]); row++)
			numbers[n++] = ht_table_i64(parts->list[i].facts[STEPS], row, STEP_NUMBER);
	qsort(numbers, n, sizeof *numbers, ht_compare_i64);
	for (size_t i = 0; i < n; i++)
		if (!n_kept || numbers[n_kept - 1] != numbers[i])
			numbers[n_kept++] = numbers[i];
	*ret_numbers = numbers;
	*ret_n = n_kept;
	return HT_OK;
}

/* "5, 7–8": what is not between numbers that ascend, and how many that are. NULL when out of memory. */
static const char *holes_text(
        struct ht_run *run, const int64_t *numbers, size_t n, int64_t *ret_missing)
{
	const char *text = "";
	size_t n_holes = 0;
	*ret_missing = 0;
	for (size_t i = 1; text && i < n; i++) {
		int64_t first = ht_add_sat(numbers[i - 1], 1), last = ht_sub_sat(numbers[i], 1);
		if (first > last)
			continue;
		*ret_missing = ht_add_sat(*ret_missing, ht_add_sat(ht_sub_sat(last, first), 1));
		if (n_holes++ >= MOST_HOLES)
			continue;
		const char *comma = n_holes > 1 ? ", " : "";
		text = first == last
		               ? ht_arena_printf(run->scratch, "%s%s%" PRId64, text, comma, first)
		               : ht_arena_printf(run->scratch, "%s%s%" PRId64 "–%" PRId64, text,
		                         comma, first, last);
	}
	return text && n_holes > MOST_HOLES ? ht_arena_printf(run->scratch, "%s and others", text)
	                                    : text;
}

static enum ht_status find_missing_steps(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	int64_t *numbers = NULL, n_missing = 0;
	size_t n = 0;
	bool is_even = true;
	HT_TRY(step_numbers(run, parts, &numbers, &n));
	for (size_t i = 2; i < n; i++)
		is_even &= ht_sub_sat(numbers[i], numbers[i - 1]) ==
		           ht_sub_sat(numbers[i - 1], numbers[i - 2]);
	const char *holes = holes_text(run, numbers, n, &n_missing);
	if (!holes)
		return ht_fail_nomem(run->ctx);
	if (!n_missing || (n > 2 && is_even))
		return HT_OK;
	const char *sentence = ht_arena_printf(run->scratch,
	        "steps go from %" PRId64 " to %" PRId64 ", and %s %s %s", numbers[0],
	        numbers[n - 1], holes, n_missing == 1 ? "is" : "are",
	        parts->n == 1 ? "not here" : "on no rank");
	if (!sentence)
		return ht_fail_nomem(run->ctx);
	ht_table_row(table);
	ht_table_put_null(table, COL_RANK);
	ht_table_put_str(table, COL_CHECK, "missing_steps");
	ht_table_put_str(table, COL_SEVERITY, severity_name(HT_NOTICE));
	ht_table_put_i64(table, COL_COUNT, n_missing);
	ht_table_put_null(table, COL_FIRST_OFFSET);
	ht_table_put_str(table, COL_SENTENCE, sentence);
	ht_table_put_str(table, COL_WEAKENS,
	        "step times and what is summed over steps: nothing is known of these");
	return HT_OK;
}

/* ---- one trace ---- */

static enum ht_status check_rank(struct ht_run *run, ht_table *table)
{
	int64_t said = run->trace->meta->rank;
	bool twice = said != HT_NO_I64 && ht_roster_find(run->rosters[0], said) != SIZE_MAX;
	if (said == HT_NO_I64 || said == run->rank)
		return HT_OK;
	const char *sentence = ht_arena_printf(run->scratch,
	        "the file says that it is of rank %" PRId64 "%s; it is shown as rank %" PRId64,
	        said, twice ? ", which another trace is" : "", run->rank);
	if (!sentence)
		return ht_fail_nomem(run->ctx);
	put_form(run, table, twice ? "rank_twice" : "rank_differs", severity_name(HT_NOTICE), 1,
	        sentence,
	        twice ? "everything over ranks: a copy counts twice, and runs may be mixed"
	              : "process groups, and who sends to whom");
	return HT_OK;
}

static enum ht_status check_processes(struct ht_run *run, ht_table *table)
{
	uint32_t track;
	size_t n = ht_step_processes(run->trace, &track);
	if (n < 2)
		return HT_OK;
	const char *sentence = ht_arena_printf(run->scratch,
	        "%zu processes in one file have steps of their own; steps are those of process %" PRId64,
	        n, run->trace->tracks[track].pid);
	if (!sentence)
		return ht_fail_nomem(run->ctx);
	put_form(run, table, "several_processes", severity_name(HT_NOTICE), (int64_t)n, sentence,
	        "what is of a rank: steps, critical path, launches; waiting for ranks is n/a");
	return HT_OK;
}

static enum ht_status list_counters(struct ht_run *run, struct ht_part *part)
{
	const struct ht_trace *t = run->trace;
	struct ht_group_sizes sizes;
	HT_TRY(ht_group_sizes_make(run, &sizes));
	ht_table_row(part->facts[JOB]);
	ht_table_put_i64(part->facts[JOB], JOB_RANKS, sizes.job);
	for (size_t i = 0; i < t->n_steps; i++) {
		if (t->steps[i].number == HT_NO_I64)
			continue;
		ht_table_row(part->facts[STEPS]);
		ht_table_put_i64(part->facts[STEPS], STEP_NUMBER, t->steps[i].number);
	}
	for (int severity = HT_SEVERE; severity >= HT_INFO; severity--)
		for (size_t k = 0; k < t->more->n_stats; k++) {
			enum ht_stat_code code = (enum ht_stat_code)t->more->stats[k].code;
			if ((int)ht_stat_info(code)->severity == severity)
				append(part->facts[0], run->rank, &t->more->stats[k]);
		}
	HT_TRY(check_rank(run, part->facts[0]));
	HT_TRY(check_processes(run, part->facts[0]));
	list_warnings(run, part->facts[0]);
	HT_TRY(compare_steps(run, part->facts[0]));
	return compare_forms(run, part->facts[0]);
}

static enum ht_status count_clock(struct ht_run *run, int64_t rank, ht_table *table)
{
	const struct ht_clocks *clocks = run->clocks[0];
	size_t i_rank = ht_roster_find(run->rosters[0], rank);
	const struct ht_clock *clock = &clocks->of[i_rank];
	int64_t later_ns = HT_NO_I64;
	HT_TRY(ht_clock_leaving(run, i_rank, &later_ns));
	const struct ht_stat counts[] = {
		{ .code = HT_STAT_impossible_clocks, .count = clock->n_violated },
		{ .code = HT_STAT_collective_mismatch, .count = clock->n_mismatched },
		{ .code = HT_STAT_clock_moved,
		        .count = clocks->from_files && (clock->moved_ns || clock->drift_ppt) },
		{ .code = HT_STAT_clock_doubtful, .count = later_ns != HT_NO_I64 },
	};
	for (size_t i = 0; i < HT_COUNT(counts); i++) {
		struct ht_stat stat = counts[i];
		stat.first_offset = -1;
		if (stat.count)
			append(table, rank, &stat);
	}
	if (later_ns == HT_NO_I64)
		return HT_OK;
	return ht_table_add_note(table,
	        "rank %" PRId64
	        " leaves collectives %.3f ms %s than the others: so much its clock may be %s",
	        rank, fabs((double)later_ns) / 1e6, later_ns < 0 ? "earlier" : "later",
	        later_ns < 0 ? "behind" : "ahead");
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	ht_table_set_own_words(table);
	const struct ht_roster *roster = run->rosters[0];
	for (size_t i = 0; i < parts->n; i++) {
		struct ht_time_move move = ht_part_move(run, &parts->list[i]);
		HT_TRY(ht_table_append(table, parts->list[i].facts[0], &move));
		if (run->clocks[0])
			HT_TRY(count_clock(run, parts->list[i].rank, table));
	}
	HT_TRY(find_missing(run, parts, table));
	HT_TRY(find_missing_steps(run, parts, table));
	HT_TRY(ht_clocks_note_odd(run, table));
	for (size_t i = 0; i < roster->n_notes; i++)
		HT_TRY(ht_table_add_note(table, "%s", roster->notes[i]));
	if (!ht_table_n_rows(table))
		HT_TRY(ht_table_add_note(table, "nothing was repaired, lost or found odd"));
	return HT_OK;
}
