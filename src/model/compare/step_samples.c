/*
 * step_samples.c - see step_samples.h.
 */
#include "model/compare/step_samples.h"
#include "base/checked.h"
#include "base/sort.h"

#include <stdlib.h>

/* One row of a profile. */
struct line {
	uint32_t name;        /* its number */
	uint32_t i_part, row; /* where it is */
	uint32_t sample;
	uint8_t place;
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

/* The number of a text, in order of appearance. */
static bool number_name(struct ht_step_samples *samples, const char *text, uint32_t *ret_number)
{
	size_t n = strlen(text);
	uint64_t hash = ht_hash(text, n);
	const struct ht_text *known = ht_text_table_find(&samples->names, text, n, hash);
	uint32_t number = known ? known->id : (uint32_t)samples->names.n;
	struct ht_text added = { text, hash, (uint32_t)n, number };
	if (!known && !ht_text_table_put(samples->run->ctx->mem, &samples->names, &added))
		return false;
	samples->texts[number] = text;
	*ret_number = number;
	return true;
}

/* Lines of one part; texts of its table are looked up once each. */
static enum ht_status add_lines(struct ht_step_samples *samples, size_t i_part)
{
	const struct ht_part *part = &samples->parts->list[i_part];
	const ht_table *facts = part->facts[0];
	const struct ht_set_samples *set = &samples->sets[part->side];
	const uint32_t *texts = ht_table_cells(facts, HT_PROFILE_NAME);
	uint32_t *name_of = ht_arena_alloc(
	        samples->run->scratch, (ht_table_n_texts(facts) + 1) * sizeof *name_of);
	if (!name_of)
		return ht_fail_nomem(samples->run->ctx);
	for (uint32_t i = 0; i < ht_table_n_texts(facts); i++)
		if (!number_name(samples, ht_table_text(facts, i), &name_of[i]))
			return ht_fail_nomem(samples->run->ctx);
	for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
		int64_t number = number_at(facts, row, HT_PROFILE_STEP);
		samples->lines[samples->n_lines++] =
		        (struct line){ name_of[texts[row]], (uint32_t)i_part, (uint32_t)row,
			        (uint32_t)(set->first + find_step(set, number)),
			        (uint8_t)ht_table_i64(facts, row, HT_PROFILE_PLACE) };
	}
	return HT_OK;
}

static uint64_t key_of(const struct line *line)
{
	return (uint64_t)line->name * HT_N_PLACES + line->place;
}

static enum ht_status sort_lines(struct ht_step_samples *samples)
{
	struct ht_mem *mem = samples->run->ctx->mem;
	size_t n = samples->n_lines, n_bytes = (n + 1) * sizeof(uint64_t);
	uint64_t *keys = ht_mem_alloc(mem, n_bytes);
	if (!keys)
		return ht_fail_nomem(samples->run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = key_of(&samples->lines[i]);
		samples->order[i] = i;
	}
	bool ok = ht_sort_keys(mem, keys, samples->order, n);
	ht_mem_free(mem, keys, n_bytes);
	return ok ? HT_OK : ht_fail_nomem(samples->run->ctx);
}

static enum ht_status collect_lines(struct ht_step_samples *samples)
{
	struct ht_run *run = samples->run;
	size_t n = ht_parts_n_rows(samples->parts, 0), n_texts = 0;
	for (size_t i = 0; i < samples->parts->n; i++)
		n_texts += ht_table_n_texts(samples->parts->list[i].facts[0]);
	samples->lines = ht_arena_alloc(run->scratch, (n + 1) * sizeof *samples->lines);
	samples->order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *samples->order);
	samples->texts = ht_arena_alloc(run->scratch, (n_texts + 1) * sizeof *samples->texts);
	if (!samples->lines || !samples->order || !samples->texts)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < samples->parts->n; i++)
		HT_TRY(add_lines(samples, i));
	return sort_lines(samples);
}

enum ht_status ht_step_samples_init(
        struct ht_run *run, const struct ht_parts *parts, struct ht_step_samples *ret_samples)
{
	*ret_samples = (struct ht_step_samples){ .run = run, .parts = parts };
	for (size_t side = 0; side < run->n_sets; side++)
		HT_TRY(list_steps(ret_samples, side));
	HT_TRY(add_steps(ret_samples));
	return collect_lines(ret_samples);
}

void ht_step_samples_done(struct ht_step_samples *samples)
{
	ht_mem_free(samples->run->ctx->mem, samples->names.slots,
	        samples->names.cap * sizeof(struct ht_text));
}

bool ht_step_samples_next(struct ht_step_samples *samples)
{
	if (samples->at == samples->n_lines)
		return false;
	const struct line *first = &samples->lines[samples->order[samples->at]];
	memset(samples->count, 0, sizeof samples->count);
	memset(samples->ns, 0, sizeof samples->ns);
	memset(samples->values, 0, samples->n_values * sizeof *samples->values);
	samples->name = samples->texts[first->name];
	samples->place = (enum ht_place)first->place;
	for (; samples->at < samples->n_lines; samples->at++) {
		const struct line *line = &samples->lines[samples->order[samples->at]];
		if (key_of(line) != key_of(first))
			break;
		const struct ht_part *part = &samples->parts->list[line->i_part];
		const struct ht_set_samples *set = &samples->sets[part->side];
		int64_t ns = ht_table_i64(part->facts[0], line->row, HT_PROFILE_NS);
		samples->count[part->side] +=
		        ht_table_i64(part->facts[0], line->row, HT_PROFILE_COUNT);
		ht_sum(&samples->ns[part->side], ns);
		samples->values[line->sample] +=
		        (double)ns / (double)set->n_ranks[line->sample - set->first];
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
