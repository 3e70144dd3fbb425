/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iteration_rules.c - see iteration_rules.h.
 */
#include "model/serving/iteration_rules.h"

#include "base/number.h"
#include "base/platform.h"
#include "base/text_compare.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MAX_RULES   1024
#define MAX_PATTERN 1024
#define MAX_COUNT   ((int64_t)1 << 53)

static const struct {
	const char *name;
	size_t at;
} fields[] = {
	{ "requests", offsetof(struct ht_iteration_name, requests) },
	{ "tokens", offsetof(struct ht_iteration_name, tokens) },
	{ "context_requests", offsetof(struct ht_iteration_name, context_requests) },
	{ "context_tokens", offsetof(struct ht_iteration_name, context_tokens) },
	{ "generation_requests", offsetof(struct ht_iteration_name, generation_requests) },
	{ "generation_tokens", offsetof(struct ht_iteration_name, generation_tokens) },
	{ "batch", offsetof(struct ht_iteration_name, batch) },
	{ "padded", offsetof(struct ht_iteration_name, padded) },
	{ "kv_tokens", offsetof(struct ht_iteration_name, kv_tokens) },
};

/* The field of n bytes, NULL: none. */
static int64_t *find_field(struct ht_iteration_name *name, const char *text, size_t n)
{
	for (size_t i = 0; i < HT_COUNT(fields); i++)
		if (strlen(fields[i].name) == n && !memcmp(fields[i].name, text, n))
			return (int64_t *)(void *)((char *)name + fields[i].at);
	return NULL;
}

/* Digits that were gone over, from somewhere before a place in them on. */
struct digits {
	const char *first; /* that is not 0 */
	const char *end;
};

/* A number, all of its digits. Those that are known from the last call, which was not further on, are not gone over again. */
static bool take_number(const char **at, struct digits *known, int64_t *ret)
{
	int64_t value = 0;
	if (!known->end || *at >= known->end)
		*known = (struct digits){ *at, *at + strspn(*at, "0123456789") };
	if (*at == known->end)
		return false;
	if (known->first < *at)
		known->first = *at;
	while (known->first < known->end && *known->first == '0')
		known->first++;
	for (const char *p = known->first; p < known->end; p++) {
		if (value >= MAX_COUNT / 10)
			return false;
		value = value * 10 + (*p - '0');
	}
	*at = known->end;
	*ret = value;
	return true;
}

/* A pattern on its way over a text. */
struct fitting {
	const char *pattern, *at;
	struct ht_iteration_name *name;
	/* of the fields behind the last *, in their order. Each field is reached further on, or at the same place, the
	 * later that is tried. */
	struct digits known[MAX_PATTERN / (sizeof "{batch}" - 1) + 1];
	size_t n_known, i_field;
};

/* Go over one byte of the pattern, or a field. */
static bool take_one(struct fitting *f)
{
	if (*f->pattern != '{') {
		if (!*f->at || *f->at != *f->pattern)
			return false;
		f->at++;
		f->pattern++;
		return true;
	}
	const char *field = f->pattern + 1;
	size_t n = strcspn(field, "}"), i = f->i_field++;
	int64_t *to = find_field(f->name, field, n);
	if (i == f->n_known)
		f->known[f->n_known++] = (struct digits){ 0 };
	if (!to || !take_number(&f->at, &f->known[i], to))
		return false;
	f->pattern = field + n + 1;
	return true;
}

/* What does not fit behind a * is tried again one byte later. */
static bool fits(const char *pattern, const char *at, struct ht_iteration_name *name)
{
	const char *star = NULL, *retry = NULL;
	struct fitting f;
	f.pattern = pattern;
	f.at = at;
	f.name = name;
	f.n_known = f.i_field = 0;
	while (*f.at || *f.pattern) {
		if (*f.pattern == '*') {
			star = ++f.pattern;
			retry = f.at;
			f.n_known = f.i_field = 0;
		} else if (!*f.pattern || !take_one(&f)) {
			if (!star || !*retry)
				return false;
			f.pattern = star;
			f.at = ++retry;
			f.i_field = 0;
		}
	}
	return true;
}

static void fill_in(struct ht_iteration_name *n)
{
	bool has_both = n->context_requests >= 0 && n->generation_requests >= 0;
	if (n->phase == HT_PHASE_OTHER && has_both)
		n->phase = !n->context_requests      ? HT_PHASE_DECODE
		           : !n->generation_requests ? HT_PHASE_PREFILL
		                                     : HT_PHASE_MIXED;
	if (n->requests < 0 && has_both)
		n->requests = n->context_requests + n->generation_requests;
	if (n->tokens < 0 && n->context_tokens >= 0 && n->generation_tokens >= 0)
		n->tokens = n->context_tokens + n->generation_tokens;
	if (n->tokens < 0 && n->phase == HT_PHASE_DECODE)
		n->tokens = n->requests;
	if (n->batch < 0)
		n->batch = n->padded >= 0 ? n->padded : n->requests;
}

bool ht_iteration_read(const struct ht_iteration_rules *rules, const char *name,
        struct ht_iteration_name *ret_name)
{
	for (size_t i = 0; rules && i < rules->n; i++) {
		struct ht_iteration_name found = ht_iteration_unknown;
		if (!fits(rules->list[i].pattern, name, &found))
			continue;
		found.phase = rules->list[i].phase;
		fill_in(&found);
		*ret_name = found;
		return true;
	}
	return ht_iteration_parse(name, ret_name);
}

/* ---- reading ---- */

struct reader {
	ht_ctx *ctx;
	const char *file;
	struct ht_arena *arena;
	struct ht_iteration_rules *rules;
	int line;
};

static enum ht_status refuse(struct reader *r, const char *what)
{
	return ht_fail(r->ctx, HT_FORMAT, r->file, -1,
	        "write lines such as: iteration decode engine.decode bs={requests} kv={kv_tokens}",
	        "line %d of the rules: %s", r->line, what);
}

/* Every { begins a field that is known. */
static bool is_pattern(const char *pattern)
{
	struct ht_iteration_name name;
	for (const char *at = pattern; (at = strchr(at, '{')); at++)
		if (!strchr(at, '}') || !find_field(&name, at + 1, strcspn(at + 1, "}")))
			return false;
	return *pattern;
}

static enum ht_status read_iteration(struct reader *r, char *text)
{
	static const struct {
		const char *word;
		enum ht_phase phase;
	} phases[] = { { "auto ", HT_PHASE_OTHER }, { "prefill ", HT_PHASE_PREFILL },
		{ "decode ", HT_PHASE_DECODE }, { "mixed ", HT_PHASE_MIXED } };
	size_t i = 0;
	while (i < HT_COUNT(phases) && !ht_text_starts(text, phases[i].word))
		i++;
	if (i == HT_COUNT(phases))
		return refuse(r, "the phase is auto, prefill, decode or mixed");
	char *pattern = text + strlen(phases[i].word);
	pattern += strspn(pattern, " ");
	if (strlen(pattern) >= MAX_PATTERN)
		return refuse(r, "the annotation is longer than a pattern may be");
	if (!is_pattern(pattern))
		return refuse(r, "the annotation has a field in braces that there is not");
	if (r->rules->n == MAX_RULES)
		return refuse(r, "there are too many rules");
	r->rules->list[r->rules->n++] = (struct ht_iteration_rule){ phases[i].phase, pattern };
	return HT_OK;
}

/* layers=32 kv_heads=8 head_dim=128 kv_element_bytes=2, in any order. */
static enum ht_status read_model(struct reader *r, const char *text)
{
	static const char *const keys[] = {
		"layers=", "kv_heads=", "head_dim=", "kv_element_bytes="
	};
	__int128 bytes = 2;
	unsigned seen = 0;
	while (*text) {
		size_t i = 0;
		int64_t value;
		struct digits known = { 0 };
		while (i < HT_COUNT(keys) && !ht_text_starts(text, keys[i]))
			i++;
		if (i == HT_COUNT(keys) || seen >> i & 1)
			break;
		text += strlen(keys[i]);
		if (!take_number(&text, &known, &value) || value < 1 || value > INT32_MAX)
			break;
		seen |= 1u << i;
		bytes *= value;
		text += strspn(text, " ");
	}
	if (*text || seen != (1u << HT_COUNT(keys)) - 1 || bytes > MAX_COUNT)
		return refuse(r, "a model has layers=, kv_heads=, head_dim= and kv_element_bytes=");
	r->rules->kv_token_bytes = (int64_t)bytes;
	return HT_OK;
}

static enum ht_status read_line(struct reader *r, char *line)
{
	size_t n = strlen(line);
	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return HT_OK;
	for (char *at = line; (at = strchr(at, '\t'));)
		*at = ' ';
	if (ht_text_starts(line, "iteration "))
		return read_iteration(r, line + 10 + strspn(line + 10, " "));
	if (ht_text_starts(line, "model "))
		return read_model(r, line + 6 + strspn(line + 6, " "));
	return refuse(r, "a line begins with iteration or model");
}

enum ht_status ht_iteration_rules_read(ht_ctx *ctx, const char *file, const char *text,
        struct ht_arena *arena, struct ht_iteration_rules *ret)
{
	struct reader r = { ctx, file, arena, ret, 0 };
	*ret = (struct ht_iteration_rules){
		.list = ht_arena_alloc(arena, MAX_RULES * sizeof *ret->list), .kv_token_bytes = -1
	};
	if (!ret->list)
		return ht_fail_nomem(ctx);
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = ht_arena_strndup(arena, text, n);
		r.line++;
		if (!line)
			return ht_fail_nomem(ctx);
		HT_TRY(read_line(&r, line));
		text += n + (text[n] == '\n');
	}
	return HT_OK;
}
