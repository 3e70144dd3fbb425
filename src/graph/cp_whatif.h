/*
 * cp_whatif.h - rules that say how long some events would take instead.
 *
 * A rule is "what=factor". What is a word of ours (cpu_bound, gpu_communication_bound,
 * critical_path_kernel_launch_delay, kernel, memcpy, communication, ...) or else an extended regular
 * expression that is searched in event names. Time that belongs to such events is multiplied.
 */
#ifndef HT_GRAPH_CP_WHATIF_H
#define HT_GRAPH_CP_WHATIF_H

#include "graph/cp_types.h"

struct ht_cp_rule {
	const char *text; /* as given, "what=factor" */
	const char *what;
	double factor;
	void *regex;      /* regex_t; NULL: what is a word */
	uint8_t *by_name; /* by string id of the trace: 0 not looked at, 1 no, 2 yes */
	/* what is a word for these: a bit for each of enum ht_cp_bound, ht_cp_type, ht_kind and ht_class */
	uint32_t bounds, types, kinds, classes;
};

struct ht_cp_rules {
	const char *text; /* all of them, as given */
	struct ht_cp_rule *list;
	size_t n;
};

/* "a=0.5,b=0"; a comma inside an expression is written "\,". HT_USAGE when it is nothing such. For the
 * names of one trace; memory in run->scratch, to be ended with ht_cp_rules_done. */
enum ht_status ht_cp_rules_read(struct ht_run *run, const struct ht_trace *trace, const char *text,
        struct ht_cp_rules *ret_rules) HT_MUST_USE;
void ht_cp_rules_done(struct ht_cp_rules *rules);

/* The first rule that fits time of that type, bound and row (HT_NONE: of no event); NULL: none. */
const struct ht_cp_rule *ht_cp_rules_find(struct ht_cp_rules *rules, const struct ht_trace *trace,
        enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row);
/* Whether one of them could fit time of the host. */
bool ht_cp_rules_may_fit_host(const struct ht_cp_rules *rules);

#endif
