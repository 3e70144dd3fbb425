/*
 * cp_whatif.c - see cp_whatif.h.
 */
#include "graph/cp_whatif.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static enum ht_status bad_rule(struct ht_run *run, const char *rule, const char *why)
{
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "give rules such as 'nccl=0.5,gpu_kernel_launch_overhead=0'",
	        "scale '%s' is not a rule: %s", rule, why);
}

static enum ht_status read_rule(struct ht_run *run, char *item, struct ht_cp_rule *ret_rule)
{
	struct ht_cp_rule rule = { 0 };
	rule.text = ht_arena_strndup(run->scratch, item, strlen(item));
	if (!rule.text)
		return ht_fail_nomem(run->ctx);
	char *sign = strrchr(item, '=');
	if (!sign || sign == item)
		return bad_rule(run, rule.text, "it needs a name, '=' and a factor");
	char *end;
	rule.factor = strtod(sign + 1, &end);
	if (end == sign + 1 || *end || !(rule.factor >= 0) || rule.factor > 1e6)
		return bad_rule(run, rule.text, "the factor is a number from 0 to 1e6");
	*sign = '\0';
	rule.what = item;
	regex_t regex;
	if (regcomp(&regex, rule.what, REG_EXTENDED | REG_NOSUB))
		return bad_rule(run, rule.text, "the expression is not valid");
	regfree(&regex);
	*ret_rule = rule;
	return HT_OK;
}

enum ht_status ht_cp_rules_read(
        struct ht_run *run, const char *text, const struct ht_cp_rule **ret_rules, size_t *ret_n)
{
	size_t n = 1, n_rules = 0;
	for (const char *at = text; *at; at++)
		n += *at == ',';
	struct ht_cp_rule *rules = ht_arena_alloc(run->scratch, n * sizeof *rules);
	char *copy = ht_arena_strndup(run->scratch, text, strlen(text));
	if (!rules || !copy)
		return ht_fail_nomem(run->ctx);
	char *item = copy, *to = copy;
	for (const char *from = text;; from++) {
		if (from[0] == '\\' && from[1] == ',') {
			*to++ = *++from;
			continue;
		}
		bool ends = !*from || *from == ',';
		*to++ = ends ? '\0' : *from;
		if (!ends)
			continue;
		if (*item)
			HT_TRY(read_rule(run, item, &rules[n_rules++]));
		item = to;
		if (!*from)
			break;
	}
	*ret_rules = rules;
	*ret_n = n_rules;
	return HT_OK;
}

/* ---- applying ---- */

struct matcher {
	const struct ht_cp_graph *g;
	const char *what;
	regex_t regex;
	uint8_t *by_name; /* by string id: 0 not looked at, 1 no, 2 yes */
};

static bool is_word(const struct matcher *m, const struct ht_cp_edge *edge)
{
	const struct ht_trace *t = m->g->trace;
	if (!strcmp(m->what, ht_cp_bound_name(ht_cp_bound(m->g, edge))) ||
	        !strcmp(m->what, ht_cp_type_name(edge->type)))
		return true;
	if (edge->row == HT_NONE || edge->type != HT_CP_OPERATOR)
		return false;
	if (!strcmp(m->what, ht_kind_name(t->kind[edge->row])))
		return true;
	const struct ht_gpu *gpu = ht_gpu_of_row(t, edge->row);
	return gpu && !strcmp(m->what, ht_class_name(gpu->class_));
}

static bool matches(struct matcher *m, const struct ht_cp_edge *edge)
{
	if (is_word(m, edge))
		return true;
	if (edge->row == HT_NONE || edge->type != HT_CP_OPERATOR)
		return false;
	uint32_t name = m->g->trace->name[edge->row];
	if (name == HT_NO_STR)
		return false;
	if (!m->by_name[name])
		m->by_name[name] =
		        regexec(&m->regex, ht_str(m->g->trace, name), 0, NULL, 0) ? 1 : 2;
	return m->by_name[name] == 2;
}

enum ht_status ht_cp_rules_apply(struct ht_run *run, const struct ht_cp_graph *graph,
        const struct ht_cp_rule *rules, size_t n_rules, double **ret_weights, size_t *ret_n_edges)
{
	size_t n_strings = graph->trace->n_string_offsets, n = 0;
	double *weights = ht_arena_alloc(run->scratch, (graph->n_edges + 1) * sizeof *weights);
	bool *scaled = ht_arena_alloc(run->scratch, graph->n_edges + 1);
	uint8_t *by_name = ht_arena_alloc(run->scratch, n_strings + 1);
	if (!weights || !scaled || !by_name)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < graph->n_edges; i++)
		weights[i] = ht_cp_weight(graph, i);
	for (size_t k = 0; k < n_rules; k++) {
		struct matcher m = { .g = graph, .what = rules[k].what, .by_name = by_name };
		memset(by_name, 0, n_strings);
		if (regcomp(&m.regex, m.what, REG_EXTENDED | REG_NOSUB))
			return bad_rule(run, rules[k].text, "the expression is not valid");
		for (size_t i = 0; i < graph->n_edges; i++) {
			if (scaled[i] || !matches(&m, &graph->edges[i]))
				continue;
			scaled[i] = true;
			weights[i] *= rules[k].factor;
			n++;
		}
		regfree(&m.regex);
	}
	*ret_weights = weights;
	*ret_n_edges = n;
	return HT_OK;
}
