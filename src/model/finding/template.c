/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c - see template.h.
 */
#include "model/finding/template.h"

#include "table/format.h"
#include "table/note.h"

#include <stdio.h>
#include <string.h>

struct filling {
	struct ht_arena *arena;
	const struct ht_note_value *values;
	size_t n_values;
	struct text {
		char *chars;
		size_t n, cap;
	} out;
	bool no_memory;
};

static void put(struct filling *f, const char *bytes, size_t n)
{
	struct text *out = &f->out;
	if (out->n + n > out->cap) {
		size_t cap = 2 * (out->n + n) + 128;
		char *chars = ht_arena_alloc(f->arena, cap);
		if (!chars) {
			f->no_memory = true;
			return;
		}
		if (out->n)
			memcpy(chars, out->chars, out->n);
		out->chars = chars;
		out->cap = cap;
	}
	if (n)
		memcpy(out->chars + out->n, bytes, n);
	out->n += n;
}

static void put_text(struct filling *f, const char *text)
{
	put(f, text, strlen(text));
}

static const struct ht_note_value *find(const struct filling *f, const char *name, size_t n)
{
	for (size_t i = 0; i < f->n_values; i++)
		if (strlen(f->values[i].name) == n && !memcmp(f->values[i].name, name, n))
			return ht_note_value_is_absent(&f->values[i]) ? NULL : &f->values[i];
	return NULL;
}

/* Whole percents, but never all or nothing of what is not. */
static void put_share(struct filling *f, double share, bool digit)
{
	char buf[HT_FORMAT_BYTES];
	if (digit && share > 0 && share < 0.0005)
		snprintf(buf, sizeof buf, "<0.1 %%");
	else if (digit)
		snprintf(buf, sizeof buf, "%.1f %%", 100 * share);
	else if (share > 0 && share < 0.005)
		snprintf(buf, sizeof buf, "<1 %%");
	else if (share < 1 && share >= 0.995)
		snprintf(buf, sizeof buf, ">99 %%");
	else
		snprintf(buf, sizeof buf, "%.0f %%", 100 * share);
	put_text(f, buf);
}

static void put_value(struct filling *f, const struct ht_note_value *value, bool digit)
{
	char buf[HT_FORMAT_BYTES];
	switch (value->type) {
	case HT_STR: put_text(f, value->str); return;
	case HT_RATIO: put_share(f, value->f64, digit); return;
	case HT_DURATION: ht_format_double(buf, HT_DURATION_F64, (double)value->i64); break;
	case HT_BYTES: ht_format_double(buf, HT_BYTES, (double)value->i64); break;
	case HT_DURATION_F64:
	case HT_F64: ht_format_double(buf, value->type, value->f64); break;
	default: snprintf(buf, sizeof buf, "%lld", (long long)value->i64); break;
	}
	put_text(f, buf);
}

/* "step" or "activity|activities" behind a number. */
static void put_noun(
        struct filling *f, const struct ht_note_value *value, const char *noun, size_t n)
{
	const char *bar = memchr(noun, '|', n);
	bool one = value->i64 == 1 && !ht_type_is_f64(value->type);
	put(f, " ", 1);
	if (bar && !one) {
		put(f, bar + 1, n - (size_t)(bar + 1 - noun));
		return;
	}
	put(f, noun, bar ? (size_t)(bar - noun) : n);
	if (!one && !bar)
		put(f, "s", 1);
}

/* What stands between braces; false when it keeps its group from being written. */
static bool put_place(struct filling *f, const char *place, size_t n)
{
	bool asks = *place == '?', denies = *place == '!';
	size_t skip = asks || denies;
	const char *name = place + skip, *colon = memchr(place, ':', n);
	size_t n_name = (colon ? (size_t)(colon - place) : n) - skip;
	bool digit = n_name > 2 && !memcmp(name + n_name - 2, ".1", 2);
	const struct ht_note_value *value = find(f, name, n_name - (digit ? 2 : 0));
	if (asks || denies)
		return (value != NULL) == asks;
	if (value)
		put_value(f, value, digit);
	if (value && colon)
		put_noun(f, value, colon + 1, n - (size_t)(colon + 1 - place));
	return value != NULL;
}

/* Writes up to the end of the group or of the text, and tells where that is; groups in it that lack something go. */
static const char *fill(struct filling *f, const char *at, bool in_group, bool *ret_whole)
{
	*ret_whole = true;
	while (*at && !(in_group && *at == ']')) {
		const char *end;
		if (*at == '{' && (end = strchr(at, '}')) != NULL) {
			bool is_there = put_place(f, at + 1, (size_t)(end - at - 1));
			if (!is_there && !in_group)
				put_text(f, "n/a");
			*ret_whole &= is_there;
			at = end + 1;
		} else if (*at == '[') {
			size_t before = f->out.n;
			bool is_whole;
			at = fill(f, at + 1, true, &is_whole); /* as deep as the text nests */
			f->out.n = is_whole ? f->out.n : before;
			at += *at == ']';
		} else {
			at += *at == '\\' && at[1];
			put(f, at++, 1);
		}
	}
	return at;
}

const char *ht_template_fill(struct ht_arena *arena, const char *text,
        const struct ht_note_value *values, size_t n_values)
{
	struct filling f = { .arena = arena, .values = values, .n_values = n_values };
	bool is_whole;
	put(&f, "", 0);
	fill(&f, text, false, &is_whole);
	put(&f, "", 1);
	if (f.no_memory)
		return NULL;
	return f.out.chars + strspn(f.out.chars, ";,. ");
}
