/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_samples.c - see step_samples.h.
 */
#include "model/compare/step_samples.h"
#include "base/mem.h"
#include "model/steps/timed_steps.h"
#include "base/checked.h"
#include "base/sort.h"
#include "table/optional.h"

#include <math.h>
#include <stdlib.h>

/* One row of a profile. Rows of parts that are spent are gone by the time that these are looked at. */
struct line {
	uint64_t key; /* name and place */
	int64_t count, ns;
	uint32_t sample, side; /* its step and its set */
	uint32_t i_part;
};

/* ---- steps ---- */

/* Index of a step among those of a set; SIZE_MAX: it is none that all ranks have. */
static size_t find_step(const struct ht_set_samples *set, int64_t number)
{
	const int64_t *at = bsearch(&number, set->numbers, set->n, sizeof number, ht_compare_i64);
	return at ? (size_t)(at - set->numbers) : SIZE_MAX;
}

static enum ht_status list_steps(struct ht_step_samples *samples, size_t side)
{
	const struct ht_parts *parts = samples->parts;
	struct ht_set_samples *set = &samples->sets[side];
	struct ht_common_steps common;
	size_t n = 0, n_kept = 0;
	HT_TRY(ht_common_steps_make(samples->run, side, &common));
	for (size_t i = 0; i < parts->n; i++)
		if (parts->list[i].side == side)
			n += ht_table_n_rows(parts->list[i].facts[1]);
	set->numbers = ht_arena_alloc(samples->run->scratch, (n + 1) * sizeof *set->numbers);
	set->n_ranks = ht_arena_alloc(samples->run->scratch, (n + 1) * sizeof *set->n_ranks);
	if (!set->numbers || !set->n_ranks)
		return ht_fail_nomem(samples->run->ctx);
	n = 0;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *steps = parts->list[i].facts[1];
		for (size_t row = 0; parts->list[i].side == side && row < ht_table_n_rows(steps);
		        row++) {
			int64_t number = ht_table_i64_or(steps, row, HT_STEP_NUMBER, HT_NO_I64);
			if (number == HT_NO_I64 || ht_common_steps_have(&common, number))
				set->numbers[n++] = number;
		}
	}
	qsort(set->numbers, n, sizeof *set->numbers, ht_compare_i64);
	for (size_t i = 0; i < n; i++) {
		if (!n_kept || set->numbers[n_kept - 1] != set->numbers[i])
			set->numbers[n_kept++] = set->numbers[i];
		set->n_ranks[n_kept - 1]++;
	}
	set->first = samples->n_values;
	set->n = n_kept;
	samples->n_values += n_kept;
	return HT_OK;
}

/* A rank without communication tells nothing of what transfers take. */
static void take_least(double *least, double ns)
{
	if (ns > 0 && (*least == 0 || ns < *least))
		*least = ns;
}

static enum ht_status add_steps(struct ht_step_samples *samples)
{
	static const size_t columns[] = { HT_STEP_NS, HT_STEP_KERNEL_NS, HT_STEP_COPY_NS,
		HT_STEP_COMM_NS };
	double **values[] = { &samples->step_ns, &samples->kernel_ns, &samples->copy_ns,
		&samples->comm_ns, &samples->gpu_ns, &samples->values, &samples->transfer_ns };
	for (size_t k = 0; k < HT_COUNT(values); k++) {
		*values[k] = ht_arena_alloc(
		        samples->run->scratch, (samples->n_values + 1) * sizeof(double));
		if (!*values[k])
			return ht_fail_nomem(samples->run->ctx);
	}
	for (size_t i = 0; i < samples->parts->n; i++) {
		const ht_table *steps = samples->parts->list[i].facts[1];
		const struct ht_set_samples *set = &samples->sets[samples->parts->list[i].side];
		for (size_t row = 0; row < ht_table_n_rows(steps); row++) {
			size_t step = find_step(
			        set, ht_table_i64_or(steps, row, HT_STEP_NUMBER, HT_NO_I64));
			if (step == SIZE_MAX)
				continue;
			for (size_t k = 0; k < HT_COUNT(columns); k++)
				(*values[k])[set->first + step] +=
				        (double)ht_table_i64(steps, row, columns[k]) /
				        (double)set->n_ranks[step];
			take_least(&samples->transfer_ns[set->first + step],
			        (double)ht_table_i64(steps, row, HT_STEP_COMM_NS));
		}
	}
	samples->touched = ht_arena_alloc(
	        samples->run->scratch, (samples->n_values + 1) * sizeof *samples->touched);
	if (!samples->touched)
		return ht_fail_nomem(samples->run->ctx);
	for (size_t i = 0; i < samples->n_values; i++)
		samples->gpu_ns[i] =
		        samples->kernel_ns[i] + samples->copy_ns[i] + samples->comm_ns[i];
	return HT_OK;
}

double *ht_step_samples_room(const struct ht_step_samples *samples)
{
	return ht_arena_alloc(samples->run->scratch, (2 * samples->n_values + 1) * sizeof(double));
}

void ht_step_samples_part(const struct ht_step_samples *samples, size_t i_part, double *room,
        struct ht_sample *ret_own, struct ht_sample *ret_wait)
{
	const struct ht_part *part = &samples->parts->list[i_part];
	const struct ht_set_samples *set = &samples->sets[part->side];
	const ht_table *steps = part->facts[1];
	double *own = room, *wait = room + samples->n_values;
	size_t n = 0;
	for (size_t row = 0; row < ht_table_n_rows(steps); row++) {
		size_t step =
		        find_step(set, ht_table_i64_or(steps, row, HT_STEP_NUMBER, HT_NO_I64));
		if (step == SIZE_MAX || n == set->n)
			continue;
		double comm = (double)ht_table_i64(steps, row, HT_STEP_COMM_NS);
		wait[n] = fmax(comm - samples->transfer_ns[set->first + step], 0);
		own[n] = (double)ht_table_i64(steps, row, HT_STEP_KERNEL_NS) +
		         (double)ht_table_i64(steps, row, HT_STEP_COPY_NS) + comm - wait[n];
		n++;
	}
	*ret_own = ht_sample_of(own, n);
	*ret_wait = ht_sample_of(wait, n);
}

/* ---- names ---- */

static enum ht_status fail_cell(const struct ht_step_samples *samples)
{
	return ht_fail(samples->run->ctx, HT_FORMAT, NULL, -1, "make it again",
	        "the part does not hold what it should");
}

/* Numbers of the texts of a part, each looked up once. */
static enum ht_status number_names(
        struct ht_step_samples *samples, const struct ht_part *part, uint32_t *numbers)
{
	struct ht_name_tree *tree = &samples->tree;
	const ht_table *facts = part->facts[samples->k_names];
	for (uint32_t i = 0; i < ht_table_n_texts(facts); i++) {
		const char *text = ht_table_text(facts, i);
		if (samples->pairs && part->side == 0)
			text = ht_line_pairs_find(samples->pairs, text);
		if (!ht_name_tree_name(tree, text, &numbers[i]) ||
		        !ht_name_tree_add(tree, HT_NONE, numbers[i], &numbers[i]))
			return ht_fail_nomem(samples->run->ctx);
	}
	return HT_OK;
}

static enum ht_status number_part(struct ht_step_samples *samples, size_t i_part)
{
	struct ht_run *run = samples->run;
	const struct ht_part *part = &samples->parts->list[i_part];
	if (samples->k_paths)
		return ht_name_tree_read(run->ctx, &samples->tree, part->facts[samples->k_paths],
		        run->scratch, &samples->numbers[i_part]);
	size_t n = ht_table_n_texts(part->facts[samples->k_names]);
	samples->numbers[i_part] = ht_arena_alloc(run->scratch, (n + 1) * sizeof(uint32_t));
	if (!samples->numbers[i_part])
		return ht_fail_nomem(run->ctx);
	return number_names(samples, part, samples->numbers[i_part]);
}

/* Index of a row's name among the numbers of its part. */
static uint64_t name_of(const struct ht_step_samples *samples, const ht_table *facts, size_t row)
{
	return samples->k_paths ? (uint64_t)ht_table_i64_or(facts, row, HT_PROFILE_PATH, HT_NO_I64)
	                        : ((const uint32_t *)ht_table_cells(facts, HT_PROFILE_NAME))[row];
}

static uint64_t key_of(const struct ht_step_samples *samples, size_t i_part, size_t row)
{
	const ht_table *facts = samples->parts->list[i_part].facts[samples->k_names];
	return (uint64_t)samples->numbers[i_part][name_of(samples, facts, row)] * HT_N_PLACES +
	       (uint64_t)ht_table_i64(facts, row, HT_PROFILE_PLACE);
}

/* ---- lines ---- */

static enum ht_status check_rows(const struct ht_step_samples *samples, size_t i_part)
{
	const struct ht_part *part = &samples->parts->list[i_part];
	const ht_table *facts = part->facts[samples->k_names];
	size_t n = samples->k_paths ? ht_table_n_rows(part->facts[samples->k_paths])
	                            : ht_table_n_texts(facts);
	for (size_t row = 0; row < ht_table_n_rows(facts); row++)
		if ((uint64_t)ht_table_i64(facts, row, HT_PROFILE_PLACE) >= HT_N_PLACES ||
		        name_of(samples, facts, row) >= n)
			return fail_cell(samples);
	return HT_OK;
}

static size_t add_lines(
        const struct ht_step_samples *samples, size_t i_part, struct line *lines, uint64_t *keys)
{
	size_t n = 0;
	const struct ht_part *part = &samples->parts->list[i_part];
	const struct ht_set_samples *set = &samples->sets[part->side];
	const ht_table *facts = part->facts[samples->k_names];
	for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
		size_t step =
		        find_step(set, ht_table_i64_or(facts, row, HT_PROFILE_STEP, HT_NO_I64));
		if (step == SIZE_MAX)
			continue;
		keys[n] = key_of(samples, i_part, row);
		lines[n] = (struct line){ keys[n], ht_table_i64(facts, row, HT_PROFILE_COUNT),
			ht_table_i64(facts, row, HT_PROFILE_NS), (uint32_t)(set->first + step),
			(uint32_t)part->side, (uint32_t)i_part };
		n++;
	}
	return n;
}

/* By name and place; the order of parts and steps stays. */
static bool sort_lines(struct ht_step_samples *samples, uint64_t *keys, uint32_t *order)
{
	size_t n = samples->n_lines;
	struct line *sorted =
	        ht_arena_alloc(samples->run->scratch, (n + 1) * sizeof *samples->lines);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (!sorted || !ht_sort_keys(samples->run->ctx->mem, keys, order, n))
		return false;
	for (size_t i = 0; i < n; i++)
		sorted[i] = samples->lines[order[i]];
	samples->lines = sorted;
	return true;
}

static enum ht_status collect_lines(struct ht_step_samples *samples)
{
	struct ht_mem *mem = samples->run->ctx->mem;
	const struct ht_parts *parts = samples->parts;
	size_t n = ht_parts_n_rows(parts, samples->k_names), n_lines = n + 1;
	size_t n_bytes = n_lines * (sizeof(struct line) + sizeof(uint64_t) + sizeof(uint32_t));
	uint64_t *keys = ht_mem_alloc(mem, n_bytes);
	if (!keys)
		return ht_fail_nomem(samples->run->ctx);
	struct line *lines = (struct line *)(void *)(keys + n_lines);
	samples->lines = lines;
	for (size_t i = 0; i < parts->n; i++) {
		samples->n_lines +=
		        add_lines(samples, i, lines + samples->n_lines, keys + samples->n_lines);
		if (parts->spent)
			ht_table_drop_rows(parts->list[i].facts[samples->k_names]);
	}
	bool ok = sort_lines(samples, keys, (uint32_t *)(void *)(lines + n_lines));
	ht_mem_free(mem, keys, n_bytes);
	return ok ? HT_OK : ht_fail_nomem(samples->run->ctx);
}

/* Step times of the job: around their median, as that is what is said of a job (timed_steps.h). Of a trace that is looked at
 * whole it is how long that lasts. */
static enum ht_status time_steps(struct ht_step_samples *samples, size_t side)
{
	const struct ht_set_samples *set = &samples->sets[side];
	struct ht_sample *sample = &samples->step_time[side];
	struct ht_job_steps job;
	*sample = ht_step_samples_of(samples, samples->step_ns, side);
	HT_TRY(ht_job_steps_make(samples->run, side, &job));
	if (!job.n_median || (set->n && set->numbers[0] == HT_NO_I64))
		return HT_OK;
	*sample = (struct ht_sample){ .n = job.n_median, .mean = (double)job.median_ns };
	for (size_t i = 0; i < job.n; i++) {
		double off = (double)job.list[i].time_ns - sample->mean;
		sample->squares += job.list[i].is_left_out ? 0 : off * off;
	}
	return HT_OK;
}

enum ht_status ht_step_samples_init(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_sample_tables *tables, struct ht_step_samples *ret_samples)
{
	struct ht_step_samples *samples = ret_samples;
	*samples = (struct ht_step_samples){ .run = run,
		.parts = parts,
		.k_names = tables->names,
		.k_paths = tables->paths,
		.pairs = tables->pairs };
	ht_name_tree_init(&samples->tree, run->ctx->mem);
	for (size_t side = 0; side < run->n_sets; side++)
		HT_TRY(list_steps(samples, side));
	HT_TRY(add_steps(samples));
	for (size_t side = 0; side < run->n_sets; side++)
		HT_TRY(time_steps(samples, side));
	samples->numbers = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *samples->numbers);
	if (!samples->numbers)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		HT_TRY(number_part(samples, i));
		HT_TRY(check_rows(samples, i));
		/* the tree has them now */
		if (tables->paths && parts->spent)
			ht_table_drop_rows(parts->list[i].facts[tables->paths]);
	}
	return collect_lines(samples);
}

void ht_step_samples_done(struct ht_step_samples *samples)
{
	ht_name_tree_done(&samples->tree);
}

/* ---- the name in hand ---- */

static void clear_hand(struct ht_step_samples *samples)
{
	size_t n = samples->run->n_sets ? samples->n_touched[samples->run->n_sets - 1] : 0;
	for (size_t i = 0; i < n; i++)
		samples->values[samples->touched[i]] = 0;
	memset(samples->n_touched, 0, sizeof samples->n_touched);
	memset(samples->count, 0, sizeof samples->count);
	memset(samples->ns, 0, sizeof samples->ns);
}
/* One row of the name in hand; n is how many samples were touched. Parts of one set follow each other. */
static void take_line(struct ht_step_samples *samples, const struct line *line, size_t *n)
{
	const struct ht_set_samples *set = &samples->sets[line->side];
	ht_sum(&samples->count[line->side], line->count);
	ht_sum(&samples->ns[line->side], line->ns);
	double *value = &samples->values[line->sample];
	if (line->ns > 0) {
		if (*value == 0)
			samples->touched[(*n)++] = line->sample;
		*value += (double)line->ns / (double)set->n_ranks[line->sample - set->first];
	}
	samples->n_touched[line->side] = *n;
}

bool ht_step_samples_next(struct ht_step_samples *samples)
{
	size_t n = 0;
	if (samples->at == samples->n_lines)
		return false;
	const struct line *line = &samples->lines[samples->at];
	uint64_t key = line->key;
	clear_hand(samples);
	samples->first = samples->at;
	samples->name = (uint32_t)(key / HT_N_PLACES);
	samples->place = (enum ht_place)(key % HT_N_PLACES);
	do {
		take_line(samples, line++, &n);
		samples->at++;
	} while (samples->at < samples->n_lines && line->key == key);
	for (size_t side = 1; side < samples->run->n_sets; side++)
		if (samples->n_touched[side] < samples->n_touched[side - 1])
			samples->n_touched[side] = samples->n_touched[side - 1];
	return true;
}

void ht_step_samples_seek(struct ht_step_samples *samples, size_t line)
{
	samples->at = line;
}

const char *ht_step_samples_name(struct ht_step_samples *samples)
{
	static const struct ht_name_spelling spelling = { .between = " / ", .most = 16 };
	return ht_name_tree_text(&samples->tree, samples->name, &spelling);
}

struct ht_sample ht_step_samples_of(
        const struct ht_step_samples *samples, const double *values, size_t side)
{
	const struct ht_set_samples *set = &samples->sets[side];
	return ht_sample_of(values + set->first, set->n);
}

struct ht_sample ht_step_samples_own(const struct ht_step_samples *samples, size_t side)
{
	struct ht_sample own = { .n = samples->sets[side].n };
	size_t first = side ? samples->n_touched[side - 1] : 0, end = samples->n_touched[side];
	for (size_t i = first; i < end; i++)
		own.mean += samples->values[samples->touched[i]];
	own.mean = own.n ? own.mean / (double)own.n : 0;
	for (size_t i = first; i < end; i++) {
		double off = samples->values[samples->touched[i]] - own.mean;
		own.squares += off * off;
	}
	/* all others are 0 */
	own.squares += (double)(own.n - (end - first)) * own.mean * own.mean;
	return own;
}

void ht_step_samples_by_part(const struct ht_step_samples *samples, struct ht_sample *ret_of)
{
	for (size_t p = 0; p < samples->parts->n; p++)
		ret_of[p] =
		        (struct ht_sample){ .n = samples->sets[samples->parts->list[p].side].n };
	/* lines of one part follow each other */
	for (size_t first = samples->first, end; first < samples->at; first = end) {
		struct ht_sample *own = &ret_of[samples->lines[first].i_part];
		for (end = first; end < samples->at &&
		                  samples->lines[end].i_part == samples->lines[first].i_part;
		        end++)
			own->mean += (double)samples->lines[end].ns / (double)own->n;
		for (size_t i = first; i < end; i++) {
			double off = (double)samples->lines[i].ns - own->mean;
			own->squares += off * off;
		}
		/* all others are 0 */
		own->squares += (double)(own->n - (end - first)) * own->mean * own->mean;
	}
}
