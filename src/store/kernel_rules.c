/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_rules.c - see kernel_rules.h.
 */
#include "store/kernel_rules.h"

#include "base/hash.h"
#include "base/io.h"

#include <string.h>

#define MAX_RULE_BYTES ((size_t)1 << 20)

static const struct ht_kernel_rule built_in[] = {
#define RULE(class_, match, text) { HT_CLASS_##class_, HT_MATCH_##match, text },
#include "store/kernel_rules.def"
#undef RULE
};

static bool matches(const struct ht_kernel_rule *rule, const char *name)
{
	switch ((enum ht_name_match)rule->match) {
	case HT_MATCH_PREFIX: return strncmp(name, rule->text, strlen(rule->text)) == 0;
	case HT_MATCH_CONTAINS: return strstr(name, rule->text) != NULL;
	case HT_MATCH_EXACT: return strcmp(name, rule->text) == 0;
	}
	return false;
}

enum ht_class ht_kernel_class(const struct ht_kernel_rules *rules, const char *name)
{
	for (size_t i = 0; rules && i < rules->n_user; i++)
		if (matches(&rules->user[i], name))
			return rules->user[i].class_;
	for (size_t i = 0; i < HT_COUNT(built_in); i++)
		if (matches(&built_in[i], name))
			return built_in[i].class_;
	return HT_CLASS_COMPUTE;
}

/* The next word of a line, cut out in place. */
static char *next_word(char **line, bool rest)
{
	char *start = *line + strspn(*line, " \t");
	char *end = rest ? start + strlen(start) : start + strcspn(start, " \t");
	while (rest && end > start && strchr(" \t\r", end[-1]))
		end--;
	*line = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static bool parse_rule(char *line, struct ht_kernel_rule *ret_rule)
{
	static const char *const classes[] = { "compute", "comm", "memcpy", "memset", "sync" };
	static const char *const matches_[] = { "prefix", "contains", "exact" };
	const char *class_ = next_word(&line, false), *match = next_word(&line, false);
	const char *text = next_word(&line, true);
	bool known = false, how = false;
	for (uint8_t i = 0; i < HT_COUNT(classes); i++)
		if (!strcmp(class_, classes[i])) {
			ret_rule->class_ = i;
			known = true;
		}
	for (uint8_t i = 0; i < HT_COUNT(matches_); i++)
		if (!strcmp(match, matches_[i])) {
			ret_rule->match = i;
			how = true;
		}
	ret_rule->text = text;
	return known && how && *text;
}

enum ht_status ht_kernel_rules_read(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, struct ht_kernel_rules *ret_rules)
{
	struct ht_vec file = { 0 };
	HT_TRY(ht_read_all(ctx, path, MAX_RULE_BYTES, &file));
	size_t n_bytes = file.n, n_lines = 1;
	char *text = ht_arena_strndup(arena, file.data, n_bytes);
	uint64_t hash = ht_hash(file.data, n_bytes);
	ht_vec_free(ctx->mem, &file, 1);
	for (size_t i = 0; text && i < n_bytes; i++)
		n_lines += text[i] == '\n';
	struct ht_kernel_rule *rules = ht_arena_alloc(arena, n_lines * sizeof *rules);
	if (!text || !rules)
		return ht_fail_nomem(ctx);
	size_t n = 0, number = 0;
	for (char *line = text, *next; line; line = next) {
		number++;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \t\r")])
			continue;
		if (!parse_rule(line, &rules[n++]))
			return ht_fail(ctx, HT_USAGE, path, -1,
			        "write: class (compute comm memcpy memset sync), match (prefix contains exact), text",
			        "line %zu is not a kernel rule", number);
	}
	*ret_rules = (struct ht_kernel_rules){ rules, n, hash };
	return HT_OK;
}
