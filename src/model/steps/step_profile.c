/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_profile.c - see step_profile.h.
 *
 * Rows of the frame are put into the buckets of their steps first. Then step by step: count the rows, add the
 * slices of the window, write down what was touched. So memory is that of the names, not names times steps.
 */
#include "model/steps/step_profile.h"
#include "model/device/launch.h"
#include "model/origin/find_origins.h"
#include "model/policy.h"
#include "model/rows/name_tree.h"
#include "model/steps/step_time.h"
#include "model/device/typical_time.h"
#include "base/checked.h"
#include "base/list.h"
#include "base/search.h"
#include "store/columns.h"

#include <string.h>

const struct ht_column ht_profile_columns[HT_N_PROFILE_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_PROFILE_COLUMNS);

const struct ht_column ht_profile_step_columns[HT_N_PROFILE_STEP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_PROFILE_STEP_COLUMNS);

const struct ht_column ht_profile_typical_columns[HT_N_PROFILE_TYPICAL_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_PROFILE_TYPICAL_COLUMNS);

/* Of one name in the step in hand. */
struct tally {
	int64_t count, ns;
	bool touched;
};

/* A line and its number among the names. */
struct line {
	const char *text;
	uint32_t number;
};

struct profile {
	struct ht_run *run;
	const struct ht_profile_options *options;
	const struct ht_trace *trace;
	struct ht_autograd autograd;
	struct ht_frame frame;
	struct ht_row_names names;
	struct ht_origins origins;     /* by line */
	uint8_t *waits;                /* by string id: may_wait */
	struct line last[HT_N_PLACES]; /* that was numbered */
	struct ht_step_time time;
	int64_t *own_ns;       /* by row, of threads beside the steps' */
	struct ht_vec tallies; /* struct tally by number of the name */
	struct ht_vec touched; /* uint32_t numbers */
	bool with_calls;
	struct ht_vec calls;     /* struct ht_call, when typical times are asked for */
	uint32_t *rows;          /* of the frame, by window */
	size_t *first;           /* by window, and the end of the last */
	int64_t ns[HT_N_PLACES]; /* of the step in hand; its length for the cpu */
};

/* ---- places ---- */

static enum ht_place place_of_work(const struct ht_gpu *gpu)
{
	if (!gpu || gpu->class_ == HT_CLASS_COMPUTE)
		return HT_PLACE_KERNEL;
	return gpu->class_ == HT_CLASS_COMM ? HT_PLACE_COMM : HT_PLACE_COPY;
}

/* False: the row does not count. */
static bool find_place(const struct profile *p, uint32_t row, enum ht_place *ret_place)
{
	const struct ht_trace *t = p->trace;
	switch (t->kind[row]) {
	case HT_KIND_KERNEL:
	case HT_KIND_MEMCPY:
	case HT_KIND_MEMSET: *ret_place = place_of_work(ht_gpu_of_row(t, row)); return true;
	case HT_KIND_GPU_ANNOTATION:
	case HT_KIND_SYNC:
	case HT_KIND_CUDA_EVENT:
	case HT_KIND_PROFILER_RANGE: return false;
	/* functions are no operators, and the addresses in their names differ from run to run */
	case HT_KIND_PYTHON: return false;
	case HT_KIND_ANNOTATION:
		if (ht_is_step_name(ht_str(t, t->name[row])))
			return false;
		break;
	default: break;
	}
	*ret_place = p->time.takes_part[t->track[row]] ? HT_PLACE_CPU : HT_PLACE_BACKGROUND;
	return true;
}

/* ---- lines ---- */

/* Each name is looked at once, as names repeat. */
static bool may_wait(const struct profile *p, uint32_t row)
{
	enum { UNSEEN, NO, YES };
	const struct ht_trace *t = p->trace;
	if (t->name[row] == HT_NO_STR)
		return false;
	uint8_t *waits = &p->waits[t->name[row]];
	if (*waits == UNSEEN)
		*waits = ht_may_wait_for_device(ht_str(t, t->name[row])) ? YES : NO;
	return *waits == YES;
}

static const char *line_of(const struct profile *p, uint32_t row, enum ht_place place)
{
	const struct ht_trace *t = p->trace;
	const struct ht_gpu *gpu = ht_place_is_gpu(place) ? ht_gpu_of_row(t, row) : NULL;
	if (gpu) {
		struct ht_origin origin;
		ht_origin_get(&p->origins, (size_t)(gpu - t->gpu), &origin);
		if (origin.source || gpu->launch == HT_NONE)
			return origin.source;
		row = gpu->launch;
	} else if (t->kind[row] == HT_KIND_PYTHON) {
		if (ht_own_lines_has(&p->origins.own, t, row))
			return ht_str(t, t->name[row]);
	} else if (may_wait(p, row)) {
		return HT_WAITING_NAME;
	}
	uint32_t forward = ht_autograd_forward(&p->autograd, row);
	return ht_line_around(t, p->origins.lines, forward == HT_NONE ? row : forward);
}

/* Most rows are around the line of the row before. */
static bool number_row(struct profile *p, uint32_t row, enum ht_place place, uint32_t *ret_number)
{
	if (p->options->by != HT_BY_LINE)
		return ht_row_names_number(&p->names, row, place, ret_number);
	const char *line = line_of(p, row, place);
	line = line ? line : HT_NO_LINE_NAME;
	/* what a line does on the GPU is one */
	place = place == HT_PLACE_COPY ? HT_PLACE_KERNEL : place;
	struct line *last = &p->last[place];
	if (last->text != line) {
		if (!ht_row_names_extra(&p->names, line, place, &last->number))
			return false;
		last->text = line;
	}
	*ret_number = last->number;
	return true;
}

/* ---- tallies ---- */

static bool tally(struct profile *p, uint32_t number, int64_t count, int64_t ns)
{
	struct ht_mem *mem = p->run->ctx->mem;
	while (p->tallies.n <= number)
		if (!HT_VEC_PUSH(mem, &p->tallies, struct tally, (struct tally){ 0 }))
			return false;
	struct tally *tally = (struct tally *)p->tallies.data + number;
	if (!tally->touched && !HT_VEC_PUSH(mem, &p->touched, uint32_t, number))
		return false;
	tally->touched = true;
	tally->count += count;
	ht_sum(&tally->ns, ns);
	return true;
}

static bool count_row(struct profile *p, uint32_t row, size_t i_window)
{
	enum ht_place place;
	uint32_t number;
	if (!find_place(p, row, &place))
		return true;
	bool on_gpu = ht_place_is_gpu(place);
	int64_t ns = on_gpu ? p->trace->dur_ns[row] : p->own_ns ? p->own_ns[row] : 0;
	ht_sum(&p->ns[place], ns);
	if (on_gpu ? !p->options->gpu : !p->options->cpu)
		return true;
	if (!number_row(p, row, place, &number) || !tally(p, number, 1, ns))
		return false;
	struct ht_call call = { number, (uint32_t)i_window, p->trace->ts_ns[row], ns };
	return !on_gpu || place == HT_PLACE_COMM || !p->with_calls ||
	       HT_VEC_PUSH(p->run->ctx->mem, &p->calls, struct ht_call, call);
}

/* A slice of a window: of a row, of the step itself, or of nothing. */
static bool take_slice(void *user, uint32_t row, int64_t ns)
{
	struct profile *p = user;
	enum ht_place place;
	uint32_t number;
	bool of_row = row != HT_NONE && find_place(p, row, &place);
	/* what Python does between operators is that of a line */
	bool has_line = of_row || (row != HT_NONE && p->options->by == HT_BY_LINE);
	/* what is asked for is inside an annotation: all else is no part of it */
	if (!of_row && p->run->annotation)
		return true;
	ht_sum(&p->ns[HT_PLACE_CPU], ns);
	if (!p->options->cpu)
		return true;
	if (has_line ? !number_row(p, row, HT_PLACE_CPU, &number)
	             : !ht_row_names_extra(&p->names, HT_OUTSIDE_NAME, HT_PLACE_CPU, &number))
		return false;
	return tally(p, number, 0, ns);
}

static enum ht_status put_touched(struct profile *p, int64_t step, ht_table *table)
{
	bool by_path = p->options->by == HT_BY_PATH;
	for (size_t i = 0; i < p->touched.n; i++) {
		uint32_t number = ((uint32_t *)p->touched.data)[i];
		struct tally *tally = (struct tally *)p->tallies.data + number;
		const char *name = by_path ? NULL : ht_row_names_text(&p->names, number);
		if (!name && !by_path)
			return ht_fail_nomem(p->run->ctx);
		ht_table_row(table);
		ht_table_put_str(table, HT_PROFILE_NAME, name);
		ht_table_put_i64(table, HT_PROFILE_PLACE, ht_row_names_place(&p->names, number));
		ht_table_put_known(table, HT_PROFILE_STEP, step, HT_NO_I64);
		ht_table_put_i64(table, HT_PROFILE_COUNT, tally->count);
		ht_table_put_i64(table, HT_PROFILE_NS, tally->ns);
		ht_table_put_known(table, HT_PROFILE_PATH, by_path ? number : HT_NO_I64, HT_NO_I64);
		*tally = (struct tally){ 0 };
	}
	p->touched.n = 0;
	return HT_OK;
}

static void put_paths(const struct profile *p, ht_table *table)
{
	for (uint32_t i = 0; i < ht_row_names_n(&p->names); i++) {
		struct ht_row_path path = ht_row_names_path(&p->names, i);
		ht_name_path_put(table, path.name, path.parent);
	}
}

/* ---- steps ---- */

static bool is_in(const struct ht_window *window, int64_t ts)
{
	return window->start <= ts && ts < window->end;
}

/* The window that a row of the frame belongs to: of its step, else the one that it starts in; the last when the
 * steps are told by other ways. */
static size_t window_of(const struct profile *p, uint32_t row)
{
	const struct ht_trace *t = p->trace;
	const struct ht_step_time *time = &p->time;
	if (time->n_windows == 1)
		return 0;
	int64_t number =
	        ht_step_of(t, row) == HT_NONE ? HT_NO_I64 : t->steps[ht_step_of(t, row)].number;
	int64_t ts = number == HT_NO_I64 ? t->ts_ns[row] : t->steps[ht_step_of(t, row)].ts_ns;
	size_t low = HT_LOWER_BOUND(at, time->n_windows, time->windows[at].start <= ts);
	/* windows may overlap, and of several with one number the first stands for all */
	for (size_t i = low; i-- > 0;)
		if (number == HT_NO_I64 ? is_in(&time->windows[i], ts)
		                        : time->windows[i].number == number)
			return i;
	return time->n_windows - 1;
}

static enum ht_status sort_rows(struct profile *p)
{
	size_t n = p->frame.n_rows, n_windows = p->time.n_windows;
	uint32_t *of = ht_arena_room(p->run->scratch, (n + 1) * sizeof *of);
	p->rows = ht_arena_room(p->run->scratch, (n + 1) * sizeof *p->rows);
	p->first = ht_arena_alloc(p->run->scratch, (n_windows + 2) * sizeof *p->first);
	if (!of || !p->rows || !p->first)
		return ht_fail_nomem(p->run->ctx);
	for (size_t i = 0; i < n && n_windows; i++) {
		of[i] = (uint32_t)window_of(p, p->frame.rows[i]);
		p->first[of[i] + 2]++;
	}
	for (size_t k = 0; k < n_windows; k++)
		p->first[k + 2] += p->first[k + 1];
	/* first[k + 1] walks from the start of bucket k to its end, where that of k + 1 starts */
	for (size_t i = 0; i < n && n_windows; i++)
		p->rows[p->first[of[i] + 1]++] = p->frame.rows[i];
	return HT_OK;
}

/* Only where there are such threads: most traces have few. */
static enum ht_status own_time(struct profile *p)
{
	const struct ht_trace *t = p->trace;
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		if (p->time.takes_part[i] || t->tracks[i].device >= 0 || !t->tracks[i].n_spans)
			continue;
		if (!p->own_ns)
			p->own_ns = ht_arena_alloc(
			        p->run->scratch, (t->n_kind + 1) * sizeof *p->own_ns);
		if (!p->own_ns)
			return ht_fail_nomem(p->run->ctx);
		HT_TRY(ht_own_time_add(&p->time, i, p->own_ns));
	}
	return HT_OK;
}

static enum ht_status put_step(
        struct profile *p, size_t i_window, const struct ht_profile_tables *tables)
{
	int64_t number = p->time.windows[i_window].number;
	memset(p->ns, 0, sizeof p->ns);
	for (size_t i = p->first[i_window]; i < p->first[i_window + 1]; i++)
		if (!count_row(p, p->rows[i], i_window))
			return ht_fail_nomem(p->run->ctx);
	HT_TRY(ht_step_time_walk(&p->time, i_window, take_slice, p));
	HT_TRY(put_touched(p, number, tables->names));
	ht_table *steps = tables->steps;
	if (!steps)
		return HT_OK;
	ht_table_row(steps);
	ht_table_put_known(steps, HT_STEP_NUMBER, number, HT_NO_I64);
	ht_table_put_i64(steps, HT_STEP_NS, p->ns[HT_PLACE_CPU]);
	ht_table_put_i64(steps, HT_STEP_KERNEL_NS, p->ns[HT_PLACE_KERNEL]);
	ht_table_put_i64(steps, HT_STEP_COPY_NS, p->ns[HT_PLACE_COPY]);
	ht_table_put_i64(steps, HT_STEP_COMM_NS, p->ns[HT_PLACE_COMM]);
	return HT_OK;
}

static enum ht_status put_typical(struct profile *p, ht_table *table)
{
	struct ht_call *calls = p->calls.data;
	size_t n = p->calls.n, n_steps = p->time.n_windows;
	size_t *firsts = ht_arena_alloc(p->run->scratch, (n_steps + 1) * sizeof *firsts);
	double *values = ht_arena_alloc(p->run->scratch, (n + n_steps + 1) * sizeof *values);
	if (!firsts || !values)
		return ht_fail_nomem(p->run->ctx);
	ht_calls_sort(calls, n);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && calls[end].name == calls[first].name;)
			end++;
		const struct ht_call *own = calls + first;
		const char *name = ht_row_names_text(&p->names, own->name);
		if (!name)
			return ht_fail_nomem(p->run->ctx);
		ht_table_row(table);
		ht_table_put_str(table, HT_TYPICAL_NAME, name);
		ht_table_put_f64(table, HT_TYPICAL_BY_PLACE,
		        ht_typical_by_place(own, end - first, n_steps, firsts, values));
		ht_table_put_f64(table, HT_TYPICAL_BY_HALF,
		        ht_typical_by_half(own, end - first, n_steps, values));
	}
	return HT_OK;
}

static enum ht_status put_steps(struct profile *p, const struct ht_profile_tables *tables)
{
	HT_TRY(ht_step_time_init(
	        p->run, &p->frame, &p->autograd, p->options->by == HT_BY_LINE, &p->time));
	HT_TRY(own_time(p));
	HT_TRY(sort_rows(p));
	p->with_calls = tables->typical != NULL;
	for (size_t i = 0; i < p->time.n_windows; i++)
		HT_TRY(put_step(p, i, tables));
	if (tables->paths)
		put_paths(p, tables->paths);
	return p->with_calls ? put_typical(p, tables->typical) : HT_OK;
}

/* The caller ends it with done, also after a failure. */
static enum ht_status profile_init(struct ht_run *run, const struct ht_profile_options *options,
        bool with_autograd, struct profile *p)
{
	*p = (struct profile){ .run = run, .options = options, .trace = run->trace };
	p->time.run = p->names.run = run;
	p->autograd.parent = run->trace->parent;
	if (with_autograd)
		HT_TRY(ht_autograd_make(run, run->trace, &p->autograd));
	if (options->by == HT_BY_LINE) {
		p->waits = ht_arena_alloc(run->scratch, run->trace->n_string_offsets + 1);
		if (!p->waits)
			return ht_fail_nomem(run->ctx);
		HT_TRY(ht_origins_make(run, false, &p->origins));
	}
	return ht_row_names_init(run, &p->autograd, options->by, options->short_names, &p->names);
}

static void profile_done(struct profile *p)
{
	ht_step_time_done(&p->time);
	ht_vec_free(p->run->ctx->mem, &p->tallies, sizeof(struct tally));
	ht_vec_free(p->run->ctx->mem, &p->touched, sizeof(uint32_t));
	ht_vec_free(p->run->ctx->mem, &p->calls, sizeof(struct ht_call));
	ht_row_names_done(&p->names);
}

enum ht_status ht_profile_put(struct ht_run *run, const struct ht_profile_options *options,
        const struct ht_profile_tables *tables)
{
	struct profile p;
	enum ht_status status = profile_init(run, options, true, &p);
	if (status == HT_OK)
		status = ht_frame_make(run, &p.frame);
	if (status == HT_OK)
		status = put_steps(&p, tables);
	profile_done(&p);
	return status;
}

/* ---- rows as they are ---- */

static enum ht_status count_rows_of(struct profile *p, const char *steps)
{
	struct ht_row_columns columns;
	struct ht_list list = { 0 };
	bool ok = true;
	HT_TRY(ht_frame_make(p->run, &p->frame));
	HT_TRY(p->run->policy->columns(p->run, &p->frame, true, &columns));
	HT_TRY(ht_list_parse(p->run->ctx, "step", steps, &list));
	for (size_t i = 0; i < p->frame.n_rows && ok; i++) {
		uint32_t row = p->frame.rows[i], number;
		bool wanted = columns.stream[row] == -1 ? p->options->cpu : p->options->gpu;
		if (wanted && ht_list_has(&list, columns.iteration[row]))
			ok = number_row(p, row, HT_PLACE_NONE, &number) &&
			     tally(p, number, 1, p->trace->dur_ns[row]);
	}
	ht_list_done(p->run->ctx, &list);
	return ok ? HT_OK : ht_fail_nomem(p->run->ctx);
}

enum ht_status ht_profile_put_rows(struct ht_run *run, const struct ht_profile_options *options,
        const struct ht_profile_tables *tables)
{
	struct profile p;
	const char *steps = run->step;
	run->step = "all";
	enum ht_status status = profile_init(run, options, options->by == HT_BY_PATH, &p);
	if (status == HT_OK)
		status = count_rows_of(&p, steps);
	if (status == HT_OK)
		status = put_touched(&p, HT_NO_I64, tables->names);
	if (status == HT_OK && tables->paths)
		put_paths(&p, tables->paths);
	ht_table_row(tables->steps);
	ht_table_put_nulls_to_end(tables->steps, HT_STEP_NUMBER);
	profile_done(&p);
	return status;
}
