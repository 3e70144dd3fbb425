/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - what an analysis is: a descriptor, what to find out about one rank, how to bring it together.
 *
 * CONTRIBUTING.md has the steps of adding one. CLI verb, Python function, completion, man and docs page follow.
 *
 * per_rank computes over run->trace, the rank in hand, and appends rows to the tables of its part. It runs on
 * any thread, sees no other rank but in the roster, and its times are the trace's own. finish brings the parts
 * of all ranks together; without one, or with NULL, the rows of the parts follow each other. Neither keeps
 * state, prints, reads files or includes another analysis; what two of them share is in model/ or graph/;
 * where definitions differ they ask the policy. Threads, order, progress, cancelling and memory are the registry's. An analysis without data adds
 * a note and returns HT_OK.
 */
#ifndef HT_ANALYSIS_ANALYSIS_H
#define HT_ANALYSIS_ANALYSIS_H

#include "model/drawing.h"
#include "model/part.h"

struct ht_analysis {
	struct ht_analysis_info info;
	/* how the file of the parameter that replaces the traces (info.input_param) is read; NULL: finish reads it, without a set */
	const char *input_reader;
	/* what the numbers are, in a few words: the line under the title has ranks and steps before it
	 * (ht_frame_set_method). NULL: info.method, for what does not depend on a selection or finish words itself */
	const char *of;
	/* tables of a part; when there are none, a part is one table with the columns of the view */
	struct ht_schema facts[HT_PART_TABLES];
	/* before anything is computed: refuse parameters, or choose ranks, steps and run->across otherwise; may be
	 * NULL */
	enum ht_status (*choose)(struct ht_run *run);
	/* finish compares ranks: where there are several it gets matched collectives and fitted clocks
	 * (model/clocks/clocks.h). Otherwise clocks are fitted where the columns have times. */
	bool across;
	/* whether run->facts are needed though the policy does not say so; may be NULL: no */
	bool (*wants_facts)(const struct ht_run *run);
	const struct ht_common_facts *common; /* before per_rank; may be NULL */
	/* may be NULL where all is common */
	enum ht_status (*per_rank)(struct ht_run *run, struct ht_part *part);
	/* whether the numbers of a part that was read lead to something that is there, where finish takes them for
	 * more than numbers; may be NULL: it takes none so. The columns are those declared, times are times */
	bool (*is_sound)(const struct ht_part *part);
	enum ht_status (*finish)(struct ht_run *run, const struct ht_parts *parts, ht_table *table);
	/* what is drawn into the trace of the rank in hand; NULL unless info.draws. Memory in run->scratch */
	enum ht_status (*draw)(struct ht_run *run, struct ht_drawing *ret_drawing);
};

/* The one schema of an analysis without views, for its info. */
#define HT_ONE_SCHEMA(list)                                                                        \
	.schemas = (const struct ht_schema[]){ { "", list, HT_COUNT(list) } }, .n_schemas = 1

#endif
