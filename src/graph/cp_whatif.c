/*
 * cp_whatif.c - see cp_whatif.h.
 */
#include "graph/cp_whatif.h"

#include "base/literal.h"
#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static enum ht_status bad_rule(struct ht_run *run, const char *rule, const char *why)
{
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "give rules such as 'nccl=0.5,gpu_kernel_launch_overhead=0'",
	        "scale '%s' is not a rule: %s", rule, why);
}

/* Rules are asked for every piece of a trace: what their word stands for is found once. */
static void find_words(struct ht_cp_rule *rule)
{
	for (unsigned i = 0; i < HT_CP_N_BOUNDS; i++)
		rule->bounds |= (uint32_t)!strcmp(rule->what, ht_cp_bound_name((enum ht_cp_bound)i))
		                << i;
	for (unsigned i = 0; i < HT_CP_N_TYPES; i++)
		rule->types |= (uint32_t)!strcmp(rule->what, ht_cp_type_name((enum ht_cp_type)i))
		               << i;
	for (unsigned i = 0; i < HT_N_KINDS; i++)
		rule->kinds |= (uint32_t)!strcmp(rule->what, ht_kind_name((enum ht_kind)i)) << i;
	for (unsigned i = 0; i < HT_N_CLASSES; i++)
		rule->classes |= (uint32_t)!strcmp(rule->what, ht_class_name((enum ht_class)i))
		                 << i;
}

static enum ht_status read_rule(
        struct ht_run *run, size_t n_strings, char *item, struct ht_cp_rule *rule)
{
	rule->text = ht_arena_strndup(run->scratch, item, strlen(item));
	if (!rule->text)
		return ht_fail_nomem(run->ctx);
	char *sign = strrchr(item, '=');
	if (!sign || sign == item)
		return bad_rule(run, rule->text, "it needs a name, '=' and a factor");
	struct ht_literal factor = { 0 };
	bool known = ht_literal_parse(sign + 1, &factor) && factor.kind == HT_UNIT_NONE;
	rule->factor = known ? ht_literal_f64(&factor) : -1;
	if (!(rule->factor >= 0) || rule->factor > 1e6)
		return bad_rule(run, rule->text, "the factor is a number from 0 to 1e6");
	*sign = '\0';
	rule->what = item;
	find_words(rule);
	if (rule->bounds || rule->types || rule->kinds || rule->classes)
		return HT_OK;
	char why[HT_PATTERN_WHY];
	rule->by_name = ht_arena_alloc(run->scratch, n_strings + 1);
	regex_t *regex = ht_arena_alloc(run->scratch, sizeof *regex);
	if (!rule->by_name || !regex)
		return ht_fail_nomem(run->ctx);
	if (ht_pattern_compile(rule->what, regex, why) != HT_OK)
		return bad_rule(run, rule->text, why);
	rule->regex = regex;
	return HT_OK;
}

static enum ht_status read_rules(
        struct ht_run *run, size_t n_strings, const char *text, struct ht_cp_rules *rules)
{
	size_t n = 1;
	for (const char *at = text; *at; at++)
		n += *at == ',';
	rules->list = ht_arena_alloc(run->scratch, n * sizeof *rules->list);
	char *copy = ht_arena_strndup(run->scratch, text, strlen(text));
	if (!rules->list || !copy)
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
			HT_TRY(read_rule(run, n_strings, item, &rules->list[rules->n++]));
		item = to;
		if (!*from)
			break;
	}
	return HT_OK;
}

enum ht_status ht_cp_rules_read(struct ht_run *run, const struct ht_trace *trace, const char *text,
        struct ht_cp_rules *ret_rules)
{
	struct ht_cp_rules rules = { .text = text };
	enum ht_status status = read_rules(run, trace->n_string_offsets, text, &rules);
	if (status != HT_OK)
		ht_cp_rules_done(&rules);
	else
		*ret_rules = rules;
	return status;
}

void ht_cp_rules_done(struct ht_cp_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (rules->list[i].regex)
			regfree(rules->list[i].regex);
	}
	rules->n = 0;
}

/* ---- applying ---- */

static bool is_word(const struct ht_cp_rule *rule, const struct ht_trace *t, enum ht_cp_type type,
        enum ht_cp_bound bound, uint32_t row)
{
	if ((rule->bounds >> bound & 1) || (rule->types >> type & 1))
		return true;
	if (row == HT_NONE || type != HT_CP_OPERATOR)
		return false;
	if (rule->kinds >> t->kind[row] & 1)
		return true;
	const struct ht_gpu *gpu = rule->classes ? ht_gpu_of_row(t, row) : NULL;
	return gpu && (rule->classes >> gpu->class_ & 1);
}

static bool matches(struct ht_cp_rule *rule, const struct ht_trace *t, enum ht_cp_type type,
        enum ht_cp_bound bound, uint32_t row)
{
	if (!rule->regex)
		return is_word(rule, t, type, bound, row);
	if (row == HT_NONE || type != HT_CP_OPERATOR || t->name[row] == HT_NO_STR)
		return false;
	uint8_t *known = &rule->by_name[t->name[row]];
	if (!*known)
		*known = regexec(rule->regex, ht_str(t, t->name[row]), 0, NULL, 0) ? 1 : 2;
	return *known == 2;
}

const struct ht_cp_rule *ht_cp_rules_find(struct ht_cp_rules *rules, const struct ht_trace *trace,
        enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row)
{
	for (size_t i = 0; i < rules->n; i++) {
		if (matches(&rules->list[i], trace, type, bound, row))
			return &rules->list[i];
	}
	return NULL;
}

bool ht_cp_rules_may_fit_host(const struct ht_cp_rules *rules)
{
	const uint32_t bounds = 1u << HT_CP_BOUND_NONE | 1u << HT_CP_BOUND_CPU |
	                        1u << HT_CP_BOUND_DATA_LOADING | 1u << HT_CP_BOUND_UNRECORDED;
	const uint32_t types = 1u << HT_CP_OPERATOR | 1u << HT_CP_DEPENDENCY;
	for (size_t i = 0; i < rules->n; i++) {
		const struct ht_cp_rule *rule = &rules->list[i];
		if (rule->regex || (rule->bounds & bounds) || (rule->types & types) || rule->kinds)
			return true;
	}
	return false;
}
