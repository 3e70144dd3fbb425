/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_names.h - what makes two rows of a trace, or of two traces, the same: name, call path, or name and shape.
 *
 * Rows are numbered by what they are called and where they ran; equal rows share a number, whose text is the
 * same in every trace. A path goes on from an autograd thread to what is open on the thread that waits for it
 * (autograd.h); it is told as the number of the path around it and a name (name_tree.h puts those of several ranks
 * together), because texts of deep paths would repeat each other without end.
 */
#ifndef HT_MODEL_ROWS_ROW_NAMES_H
#define HT_MODEL_ROWS_ROW_NAMES_H

#include "base/intern.h"
#include "model/rows/autograd.h"

/* By line: names of the lines are given by who knows them, see ht_row_names_extra. */
enum ht_row_names_by { HT_BY_NAME, HT_BY_PATH, HT_BY_SHAPE, HT_BY_LINE };

/* Where a row's time passes. */
enum ht_place {
	HT_PLACE_NONE,       /* not told */
	HT_PLACE_CPU,        /* the thread of the steps, and the backward pass that it waits for */
	HT_PLACE_BACKGROUND, /* other host threads */
	HT_PLACE_KERNEL,     /* kernels that compute */
	HT_PLACE_COPY,       /* other GPU work: copies, sets, kernels that only wait */
	HT_PLACE_COMM,       /* communication on the GPU */
	HT_N_PLACES
};

static inline bool ht_place_is_gpu(enum ht_place place)
{
	return place >= HT_PLACE_KERNEL;
}

struct ht_row_names {
	struct ht_run *run;
	const struct ht_trace *trace;
	const uint32_t *parent; /* by row, over threads */
	enum ht_row_names_by by;
	bool short_names;               /* without template arguments and parameters */
	struct ht_pool texts, nodes;    /* names; keys are nodes, whose id is the number */
	struct ht_vec room;             /* char: of the text asked for last */
	uint32_t *text_of;              /* by string id: text in the pool, HT_NONE until asked */
	uint32_t *node_of[HT_N_PLACES]; /* by string id: number by name, HT_NONE until asked */
	uint32_t *context_of; /* by row: number that its children hang under, UNKNOWN until asked */
	uint32_t *way;        /* room for the rows from one to the top */
};

/* Names of the rows of the trace in hand; paths follow the autograd's parents. The caller ends it with done, also
 * after a failure. */
enum ht_status ht_row_names_init(struct ht_run *run, const struct ht_autograd *autograd,
        enum ht_row_names_by by, bool short_names, struct ht_row_names *ret_names) HT_MUST_USE;
void ht_row_names_done(struct ht_row_names *names);
/* The number of a row, or of a text that is no row's; false when out of memory. */
bool ht_row_names_number(
        struct ht_row_names *names, uint32_t row, enum ht_place place, uint32_t *ret_number);
bool ht_row_names_extra(
        struct ht_row_names *names, const char *text, enum ht_place place, uint32_t *ret_number);
enum ht_place ht_row_names_place(const struct ht_row_names *names, uint32_t number);
/* Numbers given so far. */
size_t ht_row_names_n(const struct ht_row_names *names);
/* What a number stands for by path: a name, inside the path of a smaller number or HT_NONE. */
struct ht_row_path {
	uint32_t parent;
	const char *name;
};
struct ht_row_path ht_row_names_path(const struct ht_row_names *names, uint32_t number);
/* "name" or "name shape", until the next call; NULL when out of memory. */
const char *ht_row_names_text(struct ht_row_names *names, uint32_t number);

/* ProfilerStep#N */
bool ht_is_step_name(const char *name);

#endif
