/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_rules.c - see mem_rules.h.
 */
#include "model/snapshot/mem_rules.h"

#include "attach/loaded_text.h"
#include "base/pattern.h"
#include "base/text_compare.h"

#include <string.h>

static const char first_line[] = "[memory categories]";

/* ---- the option ---- */

static enum ht_status read_option(struct ht_run *run, const char *option, struct ht_mem_rules *to)
{
	size_t n = 1;
	for (const char *at = option; *at; at++)
		n += *at == ',';
	struct ht_mem_rule *list = ht_arena_room(run->scratch, n * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	to->own = list;
	for (const char *at = option; *at;) {
		size_t length = strcspn(at, ",");
		const char *equals = memchr(at, '=', length);
		if (!equals || equals == at || equals + 1 == at + length)
			return ht_fail(run->ctx, HT_USAGE, NULL, -1,
			        "give category=text, with commas between several",
			        "\"%.*s\" is no rule for categories", (int)length, at);
		struct ht_mem_rule rule = { ht_arena_strndup(
			                            run->scratch, at, (size_t)(equals - at)),
			ht_arena_strndup(
			        run->scratch, equals + 1, length - (size_t)(equals + 1 - at)),
			NULL };
		if (!rule.category || !rule.text)
			return ht_fail_nomem(run->ctx);
		list[to->n_own++] = rule;
		at += length + (at[length] == ',');
	}
	return HT_OK;
}

/* ---- a file ---- */

struct loaded {
	struct ht_loaded_text head;
	struct ht_mem_rule *rules;
	regex_t *regexes;
	size_t n, n_regexes;
};

static bool sniff(const struct ht_attach_head *head)
{
	return head->n >= sizeof first_line - 1 &&
	       !memcmp(head->text, first_line, sizeof first_line - 1);
}

static void free_regexes(void *data)
{
	struct loaded *loaded = data;
	for (size_t i = 0; i < loaded->n_regexes; i++)
		regfree(&loaded->regexes[i]);
}

static enum ht_status wrong_line(ht_ctx *ctx, const char *path, size_t offset, const char *why)
{
	return ht_fail(ctx, HT_FORMAT, path, (int64_t)offset,
	        "a rule is \"category = text\" or \"category ~ regular expression\"", "%s", why);
}

/* One line, which ends with a byte of 0 and has no spaces around it. */
static enum ht_status read_line(
        ht_ctx *ctx, const char *path, size_t offset, char *line, struct loaded *to)
{
	char why[HT_PATTERN_WHY];
	size_t n = strcspn(line, "=~");
	char *value = line + n + (line[n] != '\0');
	struct ht_mem_rule *rule = &to->rules[to->n];
	bool is_pattern = line[n] == '~';
	while (*value == ' ' || *value == '\t')
		value++;
	if (!line[n] || !n || !*value)
		return wrong_line(ctx, path, offset, "no rule for memory categories");
	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	rule->category = ht_arena_strndup(&to->head.arena, line, n);
	rule->text = is_pattern ? NULL : ht_arena_strndup(&to->head.arena, value, strlen(value));
	if (!rule->category || (!is_pattern && !rule->text))
		return ht_fail_nomem(ctx);
	if (is_pattern) {
		if (ht_pattern_compile(value, &to->regexes[to->n_regexes], why) != HT_OK)
			return wrong_line(ctx, path, offset, why);
		rule->regex = &to->regexes[to->n_regexes++];
	}
	to->n++;
	return HT_OK;
}

static enum ht_status read_lines(ht_ctx *ctx, const char *path, char *text, void *data)
{
	struct loaded *to = data;
	size_t n = 1;
	for (const char *at = text; *at; at++)
		n += *at == '\n';
	to->rules = ht_arena_alloc(&to->head.arena, n * sizeof *to->rules);
	to->regexes = ht_arena_alloc(&to->head.arena, n * sizeof *to->regexes);
	if (!to->rules || !to->regexes)
		return ht_fail_nomem(ctx);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		size_t offset = (size_t)(line - text), length = strlen(line);
		while (length && strchr(" \t\r", line[length - 1]))
			line[--length] = '\0';
		line += strspn(line, " \t");
		if (*line && *line != '#' && strcmp(line, first_line) != 0)
			HT_TRY(read_line(ctx, path, offset, line, to));
	}
	return HT_OK;
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	static const struct ht_text_reader how = { .read = read_lines, .done = free_regexes };
	return ht_text_load(ctx, attachment, sizeof(struct loaded), &how, ret_data);
}

const struct ht_attach_kind ht_attach_kind_memory_categories = {
	.name = "memory-categories",
	.what = "categories for memory snapshots",
	.use = "memory-snapshot --by category tries them first",
	.sniff = sniff,
	.load = load,
	.free = ht_text_free,
};

/* ---- both ---- */

enum ht_status ht_mem_rules_make(
        struct ht_run *run, const char *option, struct ht_mem_rules *ret_rules)
{
	size_t at = 0;
	const void *data = NULL;
	*ret_rules = (struct ht_mem_rules){ 0 };
	if (option)
		HT_TRY(read_option(run, option, ret_rules));
	const struct ht_attachment *attachment =
	        ht_attached_next(run->attached, &ht_attach_kind_memory_categories, run->rank, &at);
	if (!attachment)
		return HT_OK;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	const struct loaded *loaded = data;
	ret_rules->attached = loaded->rules;
	ret_rules->n_attached = loaded->n;
	return HT_OK;
}

static const char *first_fitting(const struct ht_mem_rule *rules, size_t n, const char *frame)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].text ? strstr(frame, rules[i].text) != NULL
		                  : regexec(rules[i].regex, frame, 0, NULL, 0) == 0)
			return rules[i].category;
	return NULL;
}

const char *ht_mem_rules_say(const struct ht_mem_rules *rules, const char *frame)
{
	const char *category = first_fitting(rules->own, rules->n_own, frame);
	return category ? category : first_fitting(rules->attached, rules->n_attached, frame);
}
