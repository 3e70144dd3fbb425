/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_samples.h - profiles of all ranks brought together: values by step, for comparing runs.
 *
 * A sample is one step of one set: the mean over the ranks that have the step. Samples of the sets stand one
 * after the other:
 *     values  | set 0: step 3, step 4 | set 1: step 3, step 4, step 5 |
 */
#ifndef HT_MODEL_COMPARE_STEP_SAMPLES_H
#define HT_MODEL_COMPARE_STEP_SAMPLES_H

#include "model/compare/line_pairs.h"
#include "model/numbers/sampling.h"
#include "model/rows/name_tree.h"
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
	double *transfer_ns; /* communication of the rank that has least of it in the step: others wait for it */
	struct ht_sample step_time[HT_MAX_SETS]; /* of the job; the mean is the median */
	/* names or paths of all ranks, each once */
	struct ht_name_tree tree; /* texts are those of the parts */
	size_t k_names, k_paths;  /* the parts' tables of names and of paths; no paths: 0 */
	const struct ht_line_pairs *pairs;
	uint32_t **numbers; /* by part: numbers of its texts, or of its paths */
	struct line *lines; /* by name and place, then side */
	size_t n_lines, at;
	/* of the name in hand */
	size_t first;  /* its first line: where to seek it */
	uint32_t name; /* its number in the tree */
	enum ht_place place;
	int64_t count[HT_MAX_SETS], ns[HT_MAX_SETS]; /* over all ranks and steps */
	double *values;                              /* time by sample, 0 but for those touched */
	uint32_t *touched;                           /* samples, by set */
	size_t n_touched[HT_MAX_SETS];               /* up to the end of each set */
};

/* Which tables of the parts: names and paths of ht_profile_put; its steps are table 1. */
struct ht_sample_tables {
	size_t names;
	size_t paths; /* 0: names have none */
	const struct ht_line_pairs
	        *pairs; /* names of set 0 that are called otherwise in set 1; NULL: none */
};

/* HT_FORMAT when numbers in them cannot be. Memory in scratch but for the names, which done frees, also after a
 * failure. */
enum ht_status ht_step_samples_init(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_sample_tables *tables, struct ht_step_samples *ret_samples) HT_MUST_USE;
void ht_step_samples_done(struct ht_step_samples *samples);
/* Take the next name in hand; false after the last one. Seek the first line of one that was in hand to have it next; 0
 * is the first. */
bool ht_step_samples_next(struct ht_step_samples *samples);
void ht_step_samples_seek(struct ht_step_samples *samples, size_t line);
/* The text of the name in hand: of a name without a path as long as the parts, else until the next call; NULL when out
 * of memory. */
const char *ht_step_samples_name(struct ht_step_samples *samples);
/* The samples of one set: of values by sample, and of the name in hand, which takes no longer than it has lines. */
struct ht_sample ht_step_samples_of(
        const struct ht_step_samples *samples, const double *values, size_t side);
struct ht_sample ht_step_samples_own(const struct ht_step_samples *samples, size_t side);
/* Of one part per step: GPU activities without waiting for other ranks, and that waiting, which is communication beyond that of the rank
 * which has least in the step. room is that of room, in scratch; NULL when out of memory. */
double *ht_step_samples_room(const struct ht_step_samples *samples);
void ht_step_samples_part(const struct ht_step_samples *samples, size_t i_part, double *room,
        struct ht_sample *ret_own, struct ht_sample *ret_wait);
/* The samples of every part of the name in hand, its own steps. */
void ht_step_samples_by_part(const struct ht_step_samples *samples, struct ht_sample *ret_of);

#endif
