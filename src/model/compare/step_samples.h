/*
 * step_samples.h - profiles of all ranks brought together: values by step, for comparing runs.
 *
 * A sample is one step of one set: the mean over the ranks that have the step. Samples of the sets stand one
 * after the other:
 *     values  | set 0: step 3, step 4 | set 1: step 3, step 4, step 5 |
 */
#ifndef HT_MODEL_COMPARE_STEP_SAMPLES_H
#define HT_MODEL_COMPARE_STEP_SAMPLES_H

#include "model/compare/sampling.h"
#include "model/steps/step_profile.h"

struct ht_set_samples {
	size_t first, n;  /* slice of the values */
	int64_t *numbers; /* of the steps, ascending; HT_NO_I64: the whole trace */
	int64_t *n_ranks; /* that have the step */
};

struct ht_step_samples {
	struct ht_run *run;
	const struct ht_parts *parts;
	struct ht_set_samples sets[HT_MAX_SETS];
	size_t n_values;
	double *step_ns, *kernel_ns, *copy_ns, *comm_ns; /* by sample */
	double *gpu_ns;                                  /* the last three together */
	/* names of all ranks, each once, in order of appearance */
	struct ht_text_table names; /* texts are those of the parts */
	const char **texts;         /* by name */
	struct line *lines;
	uint32_t *order; /* of the lines, by name and place */
	size_t n_lines, at;
	/* of the name in hand */
	const char *name;
	enum ht_place place;
	int64_t count[HT_MAX_SETS], ns[HT_MAX_SETS]; /* over all ranks and steps */
	double *values;                              /* time by sample */
};

/* Parts are those of ht_profile_put. Memory in scratch but for the names, which done frees, also after a
 * failure. */
enum ht_status ht_step_samples_init(struct ht_run *run, const struct ht_parts *parts,
        struct ht_step_samples *ret_samples) HT_MUST_USE;
void ht_step_samples_done(struct ht_step_samples *samples);
/* Take the next name in hand; false after the last one. Rewind to begin again. */
bool ht_step_samples_next(struct ht_step_samples *samples);
void ht_step_samples_rewind(struct ht_step_samples *samples);
/* The samples of one set among values. */
struct ht_sample ht_step_samples_of(
        const struct ht_step_samples *samples, const double *values, size_t side);

#endif
