/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_whatif.h - rules that say how long some events would take instead.
 *
 * A rule is "what@where=value". What is a word of ours (cpu_bound, gpu_communication_bound,
 * critical_path_kernel_launch_delay, kernel, memcpy, communication, ...) or else an extended regular
 * expression that is searched in event names; nothing means all events. Where is any number of
 *     @step:3-5   @stream:7                      of that step, on that stream
 *     @annotation:X   @module:X   @operator:X    inside something whose name the expression X is found in
 *     @rank:0,2   @stage:1   @group:X            of those ranks, of that stage of the pipeline, in process groups with X in their text
 *     @size:1MB-64MB                             collectives of that many bytes; either end may be left out
 * Time that belongs to such events is multiplied by the value, a factor. Over the ranks of a job the value may be:
 *     median, ideal   the median of the same event on the other ranks of its kind
 *     best            the least that any of them took
 *     remove          as a factor of 0
 *     apart           as long as it was, but on a stream of its own
 *     serial          as long as it was, but in turn with the GPU activity that is launched before and after it
 *     2ms, +2ms       each event takes that long, or is followed by that much more on its thread or stream
 *     fuse            neighbours on a stream are one kernel, which takes what their bytes take at the bandwidth of the device
 *     ranks:8         collectives as in a group of that many ranks
 *     repeat:2        each event happens that often, with all that it launches; 1.5: every second one twice
 */
#ifndef HT_GRAPH_CP_WHATIF_H
#define HT_GRAPH_CP_WHATIF_H

#include "graph/cp_types.h"

enum ht_cp_value {
	HT_CP_FACTOR,
	HT_CP_MEDIAN,
	HT_CP_BEST,
	HT_CP_APART,
	HT_CP_SERIAL,
	HT_CP_SET,
	HT_CP_INSERT,
	HT_CP_FUSE,
	HT_CP_RANKS,
	HT_CP_REPEAT
};

/* Something around an event: of this kind, with this expression in its name. */
struct ht_cp_around {
	void *regex;        /* regex_t */
	uint32_t kinds;     /* a bit for each of enum ht_kind */
	const char *prefix; /* of the name, NULL: any */
};
#define HT_CP_MAX_AROUND 4

struct ht_cp_rule {
	const char *text; /* as given, "what=factor" */
	const char *what;
	double factor; /* of set and insert nanoseconds, of ranks and repeat how many */
	enum ht_cp_value value;
	const char *steps, *streams, *ranks, *stages; /* lists; NULL: all */
	void *group;                                  /* regex_t; NULL: any */
	bool has_size;
	int64_t least_bytes, most_bytes; /* with has_size */
	struct ht_cp_around around[HT_CP_MAX_AROUND];
	size_t n_around;
	void *regex;      /* regex_t; NULL: what is a word, or nothing */
	uint8_t *by_name; /* by string id of the trace: 0 not looked at, 1 no, 2 yes */
	/* what is a word for these: a bit for each of enum ht_cp_bound, ht_cp_type, ht_kind and ht_class */
	uint32_t bounds, types, kinds, classes;
};

struct ht_cp_rules {
	const char *text; /* all of them, as given */
	struct ht_cp_rule *list;
	size_t n;
	const uint32_t *parent; /* by row: what is around it, over threads */
};

/* "a=0.5,b=0"; a comma inside an expression or a list is written "\,". HT_USAGE when it is nothing such. For the
 * names of one trace; memory in run->scratch, to be ended with ht_cp_rules_done. */
enum ht_status ht_cp_rules_read(struct ht_run *run, const struct ht_trace *trace, const char *text,
        struct ht_cp_rules *ret_rules) HT_MUST_USE;
void ht_cp_rules_done(struct ht_cp_rules *rules);

/* Does a rule ask for more than one rank knows? */
bool ht_cp_rules_need_job(const struct ht_cp_rules *rules);

/* The first rule that fits time of that type, bound and row (HT_NONE: of no event); NULL: none. */
const struct ht_cp_rule *ht_cp_rules_find(struct ht_cp_rules *rules, const struct ht_trace *trace,
        enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row);
/* Whether one of them could fit time of the host. */
bool ht_cp_rules_may_fit_host(const struct ht_cp_rules *rules);

/* The event that a rule is about which fits time of a row: where the rule has a name or a word the row, else the outermost one that its first
 * condition names. */
uint32_t ht_cp_rule_event(const struct ht_cp_rules *rules, const struct ht_cp_rule *rule,
        const struct ht_trace *trace, uint32_t row);

/* All rules that fit it, a bit for each; those after the 64th do not count. */
uint64_t ht_cp_rules_fit(struct ht_cp_rules *rules, const struct ht_trace *trace,
        enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row);

#endif
