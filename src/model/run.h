/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what one question knows about its input: the rank in hand, selection, parameters, memory.
 *
 * The registry makes a run from a set and the parameters as text. Ranks are computed alone, on any thread or
 * machine, so a run has one rank in hand; what it may know of the others is in the roster. When parts are
 * brought together no rank is in hand.
 */
#ifndef HT_MODEL_RUN_H
#define HT_MODEL_RUN_H

#include "base/status.h"
#include "store/roster.h"

struct ht_analysis;
struct ht_policy;
struct ht_set_facts;
struct ht_clocks;
struct ht_matches;
struct ht_question;
struct ht_attached;

/* Which ranks of a roster the user chose, as indexes, ascending. */
struct ht_chosen {
	const size_t *at;
	size_t n;
};

struct ht_run {
	ht_ctx *ctx;              /* errors; of the task when a rank is in hand */
	struct ht_arena *scratch; /* dies with the rank in hand, or with the run */
	const struct ht_analysis *analysis;
	/* its parameters and, parallel to them, their texts: NULL where the default is NULL */
	const struct ht_param *params;
	size_t n_params;
	const char **values;
	/* as given: NULL, "all", "last", "3-5,7" (rows/selection.h); steps has one per set, step is that of
	 * the set in hand */
	const char *step, *steps[HT_MAX_SETS];
	const char *annotation;             /* NULL: no restriction */
	const struct ht_policy *policy;     /* which definitions, ours unless asked otherwise */
	const struct ht_view *view;         /* for analyses with columns on request; may be NULL */
	const struct ht_question *question; /* that it answers, as text; NULL: nobody asks for it */
	/* every rank that is known, and those that are looked at; two or more for comparisons */
	const struct ht_roster *rosters[HT_MAX_SETS];
	struct ht_chosen chosen[HT_MAX_SETS];
	size_t n_sets;
	bool is_partial; /* further ranks are elsewhere: that a chosen one is missing is no mistake */
	/* what the policy's rules have to know of each set, and of the one in hand (the first when none is); NULL
	 * unless it needs them */
	const struct ht_set_facts *facts_of[HT_MAX_SETS], *facts;
	bool across; /* finishing compares ranks: as the analysis says, or its choose */
	/* matched collectives and fitted clocks of each set, when parts are brought together; NULL for one rank,
	 * and where the analysis does not ask for them */
	const struct ht_clocks *clocks[HT_MAX_SETS];
	const struct ht_matches *matches[HT_MAX_SETS]; /* those of the clocks */
	const struct ht_time_move *moves[HT_MAX_SETS]; /* the same, by rank of the roster */
	/* the rank in hand */
	const struct ht_trace *trace;
	int64_t rank;
	size_t side, i_rank;                /* which set, and its index in that roster */
	struct ht_memo *memo;               /* of that set; NULL: nothing is kept */
	const struct ht_attached *attached; /* files that join it (attach/attach.h); NULL: none */
	/* the memo is of this rank alone, and other runs look at the rank beside this one (model/run_memo.h);
	 * those with the same selection chose the same steps, ranks and definitions */
	bool shares_rank;
	struct ht_arena_cache *arena_cache; /* for what is shared; NULL: none */
	uint32_t selection;
};

/* The rank in hand, or the i-th chosen one. */
static inline const struct ht_rank *ht_run_rank(const struct ht_run *run)
{
	return &run->rosters[run->side]->ranks[run->i_rank];
}

static inline const struct ht_rank *ht_run_chosen(const struct ht_run *run, size_t side, size_t i)
{
	return &run->rosters[side]->ranks[run->chosen[side].at[i]];
}

/* Our own definition of everything. */
extern const struct ht_policy ht_own_policy;
/* What series take off their times. */
int64_t ht_run_series_zero(const struct ht_run *run);

/* Parameter values by name, parsed by the parameter's type; the registry has checked them. 0, false or NULL where the
 * analysis has no such parameter. */
int64_t ht_run_i64(const struct ht_run *run, const char *param);
double ht_run_f64(const struct ht_run *run, const char *param);
bool ht_run_bool(const struct ht_run *run, const char *param);
const char *ht_run_str(const struct ht_run *run, const char *param); /* NULL when not given */
/* Whether a parameter has this value. */
bool ht_run_is(const struct ht_run *run, const char *param, const char *value);
/* Set a parameter, for an analysis whose choose finds that another value is meant. */
void ht_run_set(struct ht_run *run, const char *param, const char *value);
/* HT_DURATION parameters are text with a unit ("30us", "1.5ms", "200" = ns); here in ns. */
int64_t ht_run_duration_ns(const struct ht_run *run, const char *param);

#endif
