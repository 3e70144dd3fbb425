/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_whatif.c - see cp_whatif.h.
 */
#include "graph/cp_whatif.h"

#include "base/list.h"
#include "base/literal.h"
#include "base/pattern.h"
#include "base/text_compare.h"
#include "model/rows/autograd.h"
#include "store/columns.h"

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

static enum ht_status read_regex(
        struct ht_run *run, const struct ht_cp_rule *rule, const char *pattern, void **ret_regex)
{
	char why[HT_PATTERN_WHY];
	regex_t *regex = ht_arena_alloc(run->scratch, sizeof *regex);
	if (!regex)
		return ht_fail_nomem(run->ctx);
	if (ht_pattern_compile(pattern, regex, why) != HT_OK)
		return bad_rule(run, rule->text, why);
	*ret_regex = regex;
	return HT_OK;
}

static enum ht_status read_list(
        struct ht_run *run, const char *what, const char *text, const char **ret_text)
{
	struct ht_list list = { 0 };
	HT_TRY(ht_list_parse(run->ctx, what, text, &list));
	ht_list_done(run->ctx, &list);
	*ret_text = text;
	return HT_OK;
}

static enum ht_status read_around(
        struct ht_run *run, struct ht_cp_rule *rule, uint32_t kinds, const char *prefix, char *text)
{
	if (rule->n_around == HT_CP_MAX_AROUND)
		return bad_rule(run, rule->text, "it has too many conditions");
	struct ht_cp_around *around = &rule->around[rule->n_around];
	HT_TRY(read_regex(run, rule, text, &around->regex));
	around->kinds = kinds;
	around->prefix = prefix;
	rule->n_around++;
	return HT_OK;
}

/* "1MB-64MB", "64KiB-", "-1MB" or one size. */
static enum ht_status read_sizes(struct ht_run *run, struct ht_cp_rule *rule, const char *text)
{
	const char *dash = strchr(text, '-');
	char *low =
	        ht_arena_strndup(run->scratch, text, dash ? (size_t)(dash - text) : strlen(text));
	const char *ends[] = { low, dash ? dash + 1 : low };
	int64_t values[] = { 0, INT64_MAX };
	if (!low)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < HT_COUNT(ends); i++) {
		struct ht_literal size = { 0 };
		if (!*ends[i])
			continue;
		if (!ht_literal_parse(ends[i], &size) || size.num < 0 ||
		        (size.kind != HT_UNIT_SIZE && size.kind != HT_UNIT_NONE) ||
		        ht_literal_floor(&size) > INT64_MAX)
			return bad_rule(
			        run, rule->text, "@size needs bytes: 64KiB, 1MB-, 1MB-64MB");
		values[i] = (int64_t)ht_literal_floor(&size);
	}
	rule->has_size = true;
	rule->least_bytes = values[0];
	rule->most_bytes = values[1];
	return HT_OK;
}

enum where { STEP, STREAM, RANK, STAGE, GROUP, SIZE, ANNOTATION, MODULE, OPERATOR, N_WHERE };

/* The last "@word:" of a text with one of our words, cut off; NULL: none. */
static char *cut_where(char *item, enum where *ret_where)
{
	static const char *const words[] = { "@step:", "@stream:", "@rank:", "@stage:", "@group:",
		"@size:", "@annotation:", "@module:", "@operator:" };
	char *last = NULL;
	size_t n = 0;
	for (size_t i = 0; i < N_WHERE; i++) {
		for (char *at = item; (at = strstr(at, words[i])); at++) {
			if (last && at < last)
				continue;
			last = at;
			n = strlen(words[i]);
			*ret_where = (enum where)i;
		}
	}
	if (!last)
		return NULL;
	*last = '\0';
	return last + n;
}

static enum ht_status read_where(struct ht_run *run, struct ht_cp_rule *rule, char *item)
{
	const uint32_t annotations = 1u << HT_KIND_ANNOTATION, modules = 1u << HT_KIND_PYTHON;
	enum where where = N_WHERE;
	for (char *text; (text = cut_where(item, &where));) {
		if (where == STEP)
			HT_TRY(read_list(run, "@step", text, &rule->steps));
		else if (where == STREAM)
			HT_TRY(read_list(run, "@stream", text, &rule->streams));
		else if (where == RANK)
			HT_TRY(read_list(run, "@rank", text, &rule->ranks));
		else if (where == STAGE)
			HT_TRY(read_list(run, "@stage", text, &rule->stages));
		else if (where == GROUP)
			HT_TRY(read_regex(run, rule, text, &rule->group));
		else if (where == SIZE)
			HT_TRY(read_sizes(run, rule, text));
		else if (where == MODULE)
			HT_TRY(read_around(run, rule, modules, "nn.Module: ", text));
		else
			HT_TRY(read_around(run, rule,
			        where == ANNOTATION ? annotations : 1u << HT_KIND_CPU_OP, NULL,
			        text));
	}
	return HT_OK;
}

/* A number behind the word of a value, or a time behind its sign. */
static bool read_amount(struct ht_cp_rule *rule, const char *text)
{
	static const struct {
		const char *start;
		enum ht_cp_value value;
		enum ht_unit_kind kind;
		double least, most;
	} forms[] = { { "ranks:", HT_CP_RANKS, HT_UNIT_NONE, 1, 1e6 },
		{ "repeat:", HT_CP_REPEAT, HT_UNIT_NONE, 0, 64 },
		{ "+", HT_CP_INSERT, HT_UNIT_TIME, 0, 1e15 },
		{ "", HT_CP_SET, HT_UNIT_TIME, 0, 1e15 },
		{ "", HT_CP_FACTOR, HT_UNIT_NONE, 0, 1e6 } };
	for (size_t i = 0; i < HT_COUNT(forms); i++) {
		struct ht_literal literal = { 0 };
		size_t n = strlen(forms[i].start);
		if (!ht_text_starts(text, forms[i].start) ||
		        !ht_literal_parse(text + n, &literal) || literal.kind != forms[i].kind)
			continue;
		rule->value = forms[i].value;
		rule->factor = ht_literal_f64(&literal);
		return rule->factor >= forms[i].least && rule->factor <= forms[i].most &&
		       (rule->value != HT_CP_RANKS ||
		               ht_literal_floor(&literal) == ht_literal_ceil(&literal));
	}
	return false;
}

static enum ht_status read_value(struct ht_run *run, struct ht_cp_rule *rule, const char *text)
{
	static const struct {
		const char *word;
		enum ht_cp_value value;
	} words[] = { { "median", HT_CP_MEDIAN }, { "ideal", HT_CP_MEDIAN }, { "best", HT_CP_BEST },
		{ "apart", HT_CP_APART }, { "serial", HT_CP_SERIAL }, { "fuse", HT_CP_FUSE },
		{ "remove", HT_CP_FACTOR } };
	for (size_t i = 0; i < HT_COUNT(words); i++) {
		if (!strcmp(text, words[i].word)) {
			rule->value = words[i].value;
			return HT_OK;
		}
	}
	return read_amount(rule, text)
	               ? HT_OK
	               : bad_rule(run, rule->text,
	                         "the value is a factor from 0 to 1e6, a time (2ms, +2ms), median, best, remove, "
	                         "apart, serial, fuse, ranks:N, or repeat:N up to 64");
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
	HT_TRY(read_value(run, rule, sign + 1));
	*sign = '\0';
	HT_TRY(read_where(run, rule, item));
	rule->what = item;
	find_words(rule);
	if (!*item || rule->bounds || rule->types || rule->kinds || rule->classes)
		return HT_OK;
	rule->by_name = ht_arena_alloc(run->scratch, n_strings + 1);
	return rule->by_name ? read_regex(run, rule, item, &rule->regex) : ht_fail_nomem(run->ctx);
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
	bool looks_around = false;
	for (size_t i = 0; i < rules.n; i++)
		looks_around |= rules.list[i].n_around > 0;
	if (status == HT_OK && looks_around && trace->n_kind) {
		struct ht_autograd autograd;
		status = ht_autograd_make(run, trace, &autograd);
		rules.parent = status == HT_OK ? autograd.parent : NULL;
	}
	if (status != HT_OK)
		ht_cp_rules_done(&rules);
	else
		*ret_rules = rules;
	return status;
}

void ht_cp_rules_done(struct ht_cp_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct ht_cp_rule *rule = &rules->list[i];
		if (rule->regex)
			regfree(rule->regex);
		if (rule->group)
			regfree(rule->group);
		for (size_t k = 0; k < rule->n_around; k++)
			regfree(rule->around[k].regex);
	}
	rules->n = 0;
}

bool ht_cp_rules_need_job(const struct ht_cp_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->list[i].value != HT_CP_FACTOR || rules->list[i].ranks ||
		        rules->list[i].stages || rules->list[i].group || rules->list[i].has_size)
			return true;
	return false;
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

/* The innermost row at or around one that a condition names; HT_NONE: none. */
static uint32_t find_around(const struct ht_cp_around *around, const uint32_t *parent,
        const struct ht_trace *t, uint32_t row)
{
	for (; row != HT_NONE; row = parent[row]) {
		if (!(around->kinds >> t->kind[row] & 1) || t->name[row] == HT_NO_STR)
			continue;
		const char *name = ht_str(t, t->name[row]);
		if ((!around->prefix || ht_text_starts(name, around->prefix)) &&
		        !regexec(around->regex, name, 0, NULL, 0))
			return row;
	}
	return HT_NONE;
}

/* Where to look for what is around a row: GPU activity is where its launch is. */
static uint32_t host_row(const struct ht_trace *t, uint32_t row)
{
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	return gpu ? gpu->launch : row;
}

static const uint32_t *parents(const struct ht_cp_rules *rules, const struct ht_trace *t)
{
	return rules->parent ? rules->parent : t->parent;
}

static bool is_there(const struct ht_cp_rules *rules, const struct ht_cp_rule *rule,
        const struct ht_trace *t, uint32_t row)
{
	if (!rule->steps && !rule->streams && !rule->n_around)
		return true;
	if (row == HT_NONE)
		return false;
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	uint32_t step = ht_step_of(t, gpu && gpu->launch != HT_NONE ? gpu->launch : row);
	if (rule->steps &&
	        (step == HT_NONE || !ht_list_text_has(rule->steps, t->steps[step].number)))
		return false;
	if (rule->streams && (!gpu || !ht_list_text_has(rule->streams, gpu->stream)))
		return false;
	for (size_t i = 0; i < rule->n_around; i++)
		if (find_around(&rule->around[i], parents(rules, t), t, host_row(t, row)) ==
		        HT_NONE)
			return false;
	return true;
}

static bool matches(const struct ht_cp_rules *rules, struct ht_cp_rule *rule,
        const struct ht_trace *t, enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row)
{
	if (!is_there(rules, rule, t, row))
		return false;
	if (!rule->regex)
		return !*rule->what || is_word(rule, t, type, bound, row);
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
		if (matches(rules, &rules->list[i], trace, type, bound, row))
			return &rules->list[i];
	}
	return NULL;
}

uint32_t ht_cp_rule_event(const struct ht_cp_rules *rules, const struct ht_cp_rule *rule,
        const struct ht_trace *t, uint32_t row)
{
	const uint32_t *parent = parents(rules, t);
	uint32_t outermost = row;
	if (row == HT_NONE || *rule->what || !rule->n_around)
		return row;
	for (uint32_t at = host_row(t, row);
	        (at = find_around(rule->around, parent, t, at)) != HT_NONE; at = parent[at])
		outermost = at;
	return outermost;
}

bool ht_cp_rules_may_fit_host(const struct ht_cp_rules *rules)
{
	const uint32_t bounds = 1u << HT_CP_BOUND_NONE | 1u << HT_CP_BOUND_CPU |
	                        1u << HT_CP_BOUND_DATA_LOADING | 1u << HT_CP_BOUND_UNRECORDED;
	const uint32_t types = 1u << HT_CP_OPERATOR | 1u << HT_CP_DEPENDENCY;
	for (size_t i = 0; i < rules->n; i++) {
		const struct ht_cp_rule *rule = &rules->list[i];
		if (rule->regex || !*rule->what || (rule->bounds & bounds) ||
		        (rule->types & types) || rule->kinds)
			return true;
	}
	return false;
}

uint64_t ht_cp_rules_fit(struct ht_cp_rules *rules, const struct ht_trace *trace,
        enum ht_cp_type type, enum ht_cp_bound bound, uint32_t row)
{
	uint64_t fit = 0;
	for (size_t i = 0; i < rules->n && i < 64; i++)
		fit |= (uint64_t)matches(rules, &rules->list[i], trace, type, bound, row) << i;
	return fit;
}
