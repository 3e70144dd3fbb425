/*
 * step_samples.c - see step_samples.h.
 */
#include "model/step_samples.h"
#include "base/checked.h"
#include "base/sort.h"

#include <stdlib.h>

/* One row of a profile. */
struct line {
	uint32_t name; /* in the pool */
	uint32_t side;
	uint32_t sample;
	uint8_t place;
	int64_t count, ns;
};

/* ---- steps ---- */

static int compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static int64_t number_at(const ht_table *table, size_t row, size_t column)
{
	return ht_table_is_null(table, row, column) ? HT_NO_I64 : ht_table_i64(table, row, column);
}

/* Index of a step among those of a set; it is there. */
static size_t find_step(const struct ht_set_samples *set, int64_t number)
{
	const int64_t *at = bsearch(&number, set->numbers, set->n, sizeof number, compare_numbers);
	return at ? (size_t)(at - set->numbers) : 0;
}

static enum ht_status list_steps(struct ht_step_samples *samples, size_t side)
{
	const struct ht_parts *parts = samples->parts;
	struct ht_set_samples *set = &samples->sets[side];
	size_t n = 0, n_kept = 0;
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
		        row++)
			set->numbers[n++] = number_at(steps, row, HT_STEP_NUMBER);
	}
	qsort(set->numbers, n, sizeof *set->numbers, compare_numbers);
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

static enum ht_status add_steps(struct ht_step_samples *samples)
{
	static const size_t columns[] = { HT_STEP_NS, HT_STEP_KERNEL_NS, HT_STEP_COPY_NS,
		HT_STEP_COMM_NS };
	double **values[] = { &samples->step_ns, &samples->kernel_ns, &samples->copy_ns,
		&samples->comm_ns, &samples->gpu_ns, &samples->values };
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
			size_t step = find_step(set, number_at(steps, row, HT_STEP_NUMBER));
			for (size_t k = 0; k < HT_COUNT(columns); k++)
				(*values[k])[set->first + step] +=
				        (double)ht_table_i64(steps, row, columns[k]) /
				        (double)set->n_ranks[step];
		}
	}
	for (size_t i = 0; i < samples->n_values; i++)
		samples->gpu_ns[i] =
		        samples->kernel_ns[i] + samples->copy_ns[i] + samples->comm_ns[i];
	return HT_OK;
}

/* ---- names ---- */

/* Lines of one part; texts of its table are looked up once each. */
static enum ht_status add_lines(struct ht_step_samples *samples, const struct ht_part *part)
{
	const ht_table *facts = part->facts[0];
	const struct ht_set_samples *set = &samples->sets[part->side];
	const uint32_t *texts = ht_table_cells(facts, HT_PROFILE_NAME);
	uint32_t *name_of = ht_arena_alloc(
	        samples->run->scratch, (ht_table_n_texts(facts) + 1) * sizeof *name_of);
	if (!name_of)
		return ht_fail_nomem(samples->run->ctx);
	for (uint32_t i = 0; i < ht_table_n_texts(facts); i++) {
		const char *text = ht_table_text(facts, i);
		struct ht_text added;
		size_t n = strlen(text);
		if (!ht_pool_add(&samples->names, text, n, ht_hash(text, n), &added))
			return ht_fail_nomem(samples->run->ctx);
		name_of[i] = added.id;
	}
	for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
		int64_t number = number_at(facts, row, HT_PROFILE_STEP);
		samples->lines[samples->n_lines++] = (struct line){ .name = name_of[texts[row]],
			.side = (uint32_t)part->side,
			.sample = (uint32_t)(set->first + find_step(set, number)),
			.place = (uint8_t)ht_table_i64(facts, row, HT_PROFILE_PLACE),
			.count = ht_table_i64(facts, row, HT_PROFILE_COUNT),
			.ns = ht_table_i64(facts, row, HT_PROFILE_NS) };
	}
	return HT_OK;
}

static uint64_t key_of(const struct line *line)
{
	return (uint64_t)line->name * HT_N_PLACES + line->place;
}

static enum ht_status collect_lines(struct ht_step_samples *samples)
{
	struct ht_run *run = samples->run;
	size_t n = ht_parts_n_rows(samples->parts, 0);
	samples->lines = ht_arena_alloc(run->scratch, (n + 1) * sizeof *samples->lines);
	samples->order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *samples->order);
	uint64_t *keys = ht_arena_alloc(run->scratch, (n + 1) * sizeof *keys);
	if (!samples->lines || !samples->order || !keys)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < samples->parts->n; i++)
		HT_TRY(add_lines(samples, &samples->parts->list[i]));
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = key_of(&samples->lines[i]);
		samples->order[i] = i;
	}
	return ht_sort_keys(run->ctx->mem, keys, samples->order, n) ? HT_OK
	                                                            : ht_fail_nomem(run->ctx);
}

enum ht_status ht_step_samples_init(
        struct ht_run *run, const struct ht_parts *parts, struct ht_step_samples *ret_samples)
{
	*ret_samples = (struct ht_step_samples){ .run = run, .parts = parts };
	ht_pool_init(&ret_samples->names, run->ctx->mem);
	for (size_t side = 0; side < run->n_sets; side++)
		HT_TRY(list_steps(ret_samples, side));
	HT_TRY(add_steps(ret_samples));
	return collect_lines(ret_samples);
}

void ht_step_samples_done(struct ht_step_samples *samples)
{
	ht_pool_done(&samples->names);
}

bool ht_step_samples_next(struct ht_step_samples *samples)
{
	if (samples->at == samples->n_lines)
		return false;
	const struct line *first = &samples->lines[samples->order[samples->at]];
	memset(samples->count, 0, sizeof samples->count);
	memset(samples->ns, 0, sizeof samples->ns);
	memset(samples->values, 0, samples->n_values * sizeof *samples->values);
	samples->name = ((const struct ht_text *)samples->names.texts.data)[first->name].bytes;
	samples->place = (enum ht_place)first->place;
	for (; samples->at < samples->n_lines; samples->at++) {
		const struct line *line = &samples->lines[samples->order[samples->at]];
		if (key_of(line) != key_of(first))
			break;
		const struct ht_set_samples *set = &samples->sets[line->side];
		samples->count[line->side] += line->count;
		ht_sum(&samples->ns[line->side], line->ns);
		samples->values[line->sample] +=
		        (double)line->ns / (double)set->n_ranks[line->sample - set->first];
	}
	return true;
}

void ht_step_samples_rewind(struct ht_step_samples *samples)
{
	samples->at = 0;
}

struct ht_sample ht_step_samples_of(
        const struct ht_step_samples *samples, const double *values, size_t side)
{
	const struct ht_set_samples *set = &samples->sets[side];
	return ht_sample_of(values + set->first, set->n);
}
