/*
 * cp_whatif.h - how long the critical path would be if some events took another time.
 *
 * A rule is "what=factor". What is a word of ours (cpu_bound, gpu_communication_bound,
 * critical_path_kernel_launch_delay, kernel, memcpy, communication, ...) or an extended regular
 * expression that is searched in event names. Weights of the edges that belong to such events are
 * multiplied; the rest, and who waits for whom, stays.
 */
#ifndef HT_GRAPH_CP_WHATIF_H
#define HT_GRAPH_CP_WHATIF_H

#include "graph/cp_graph.h"

struct ht_cp_rule {
	const char *text; /* as given, "what=factor" */
	const char *what;
	double factor;
};

/* "a=0.5,b=0"; a comma inside an expression is written "\,". HT_USAGE when it is nothing such. */
enum ht_status ht_cp_rules_read(struct ht_run *run, const char *text,
        const struct ht_cp_rule **ret_rules, size_t *ret_n) HT_MUST_USE;

/* Edge weights with the rules applied, the first that fits an edge counts; n_edges is how many have a
 * rule. Memory in run->scratch. */
enum ht_status ht_cp_rules_apply(struct ht_run *run, const struct ht_cp_graph *graph,
        const struct ht_cp_rule *rules, size_t n_rules, double **ret_weights,
        size_t *ret_n_edges) HT_MUST_USE;

#endif
