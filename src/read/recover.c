/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c - see recover.h.
 *
 * An event is told from other objects by its own keys: ph, or any of the fields that no header value and no
 * arg list of a profiler has. Its place must fit, too: behind a comma, a bracket or a brace, with at most
 * one byte of damage between. Nothing here follows strings over more than the look-ahead: in damaged text
 * nobody knows what is inside a string.
 */
#include "read/recover.h"
#include "json/events_key.h"

#include "base/status.h"
#include "read/sniff.h"

#include <string.h>

#define MAX_KEY_BYTES 256
#define FORM_BYTES    ((ptrdiff_t)1024)
#define MARK_PH       0

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

const char *ht_skip_blanks(const char *p, const char *limit)
{
	while (p < limit && is_blank(*p))
		p++;
	return p;
}

/* ---- keys ---- */

static bool is_one_of(const char *const *names, size_t n_names, const char *key, size_t n)
{
	for (size_t i = 0; i < n_names; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], key, n))
			return true;
	return false;
}

static bool is_of_kind(const char *key, size_t n, enum ht_key_kind kind)
{
	static const char *const core[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur",
		"args" };
	static const char *const others[] = { "id", "bp", "s", "tts", "tdur", "cname", "sf", "esf",
		"stack", "scope", "id2", "local" };
	switch (kind) {
	case HT_ANY_KEY: return true;
	case HT_HEADER_KEY: return ht_is_header_key(key, n);
	case HT_CORE_FIELD: return is_one_of(core, HT_COUNT(core), key, n);
	case HT_EVENT_FIELD: break;
	}
	return is_one_of(core, HT_COUNT(core), key, n) ||
	       is_one_of(others, HT_COUNT(others), key, n);
}

const char *ht_quote_end(const char *p, const char *limit)
{
	for (p++; p < limit && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < limit ? p : NULL;
}

bool ht_key_form(const char *p, const char *limit, enum ht_key_kind kind)
{
	if (p >= limit || *p != '"')
		return false;
	const char *near = limit - p > MAX_KEY_BYTES ? p + MAX_KEY_BYTES : limit;
	const char *end = ht_quote_end(p, near);
	if (!end || memchr(p, '\n', (size_t)(end - p)))
		return false;
	const char *colon = ht_skip_blanks(end + 1, ht_look_limit(p, limit));
	return colon < limit && *colon == ':' && is_of_kind(p + 1, (size_t)(end - p - 1), kind);
}

/* Which of the keys that only events have starts at p; HT_N_MARKS for none. */
static size_t mark_at(const char *p, const char *limit)
{
	static const char *const marks[HT_N_MARKS] = {
		[MARK_PH] = "ph", "ts", "cat", "pid", "tid", "dur"
	};
	size_t i = 0;
	if (limit - p < 5 || *p != '"')
		return HT_N_MARKS;
	size_t n = p[3] == '"' ? 2 : 3;
	while (i < HT_N_MARKS && !is_one_of(&marks[i], 1, p + 1, n))
		i++;
	return i < HT_N_MARKS && ht_key_form(p, limit, HT_ANY_KEY) ? i : HT_N_MARKS;
}

bool ht_mark_form(const char *p, const char *limit)
{
	return mark_at(p, limit) < HT_N_MARKS;
}

/* ---- events ---- */

/* The end of what tells an event. */
static const char *form_limit(const char *p, const char *limit)
{
	return limit - p > FORM_BYTES ? p + FORM_BYTES : limit;
}

/* Does the object at p, or for depth 1 the one around p from there on, have a key of its own that marks events: this one, or
 * any for HT_N_MARKS? ret_is_seen: it was seen to its end, or to where it is. */
static bool has_mark(
        const char *p, const char *limit, size_t depth, size_t wanted, bool *ret_is_seen)
{
	*ret_is_seen = true;
	for (; p < limit; p++) {
		if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (--depth == 0)
				return false;
		} else if (*p == '"') {
			size_t mark = depth == 1 ? mark_at(p, limit) : HT_N_MARKS;
			if (mark < HT_N_MARKS && (wanted == HT_N_MARKS || mark == wanted))
				return true;
			if (!(p = ht_quote_end(p, limit)))
				break;
		}
	}
	*ret_is_seen = false;
	return false;
}

bool ht_event_form(const char *p, const char *limit)
{
	bool is_seen;
	limit = form_limit(p, limit);
	const char *first = ht_skip_blanks(p + 1, limit);
	if (!ht_key_form(first, limit, HT_ANY_KEY))
		return false;
	if (has_mark(p, limit, 0, HT_N_MARKS, &is_seen))
		return true;
	/* not decided by what is in sight: long names come first in some files */
	return !is_seen && ht_key_form(first, limit, HT_CORE_FIELD);
}

bool ht_phase_form(const char *p, const char *limit)
{
	bool is_seen;
	limit = form_limit(p, limit);
	return p < limit && *p == '{' && has_mark(p, limit, 0, MARK_PH, &is_seen);
}

bool ht_outer_key_form(const char *p, const char *limit)
{
	bool is_seen;
	if (ht_key_form(p, limit, HT_HEADER_KEY))
		return true;
	if (!ht_key_form(p, limit, HT_ANY_KEY) || ht_key_form(p, limit, HT_EVENT_FIELD))
		return false;
	limit = form_limit(p, limit);
	return !has_mark(p, limit, 1, HT_N_MARKS, &is_seen);
}

bool ht_has_phase(const char *p, size_t n)
{
	const char *limit = p + n;
	while (p < limit && (p = memmem(p, (size_t)(limit - p), "\"ph\"", 4)))
		if (ht_key_form(p++, limit, HT_ANY_KEY))
			return true;
	return false;
}

static bool is_structure(unsigned char c)
{
	return c == ',' || c == '{' || c == '}' || c == '[' || c == ']';
}

/* Can the next event of a list start behind these? */
static bool separates(struct ht_before before)
{
	unsigned char c = before.last;
	if (is_structure(c) || c <= ' ' || c >= 0x7f)
		return true;
	return c != ':' && c != '"' && is_structure(before.next_to_last);
}

/* Is the next event of this list in sight, before the list of another document? */
static bool event_follows(const char *p, const char *limit)
{
	for (; p < limit && (p = memchr(p, '}', (size_t)(limit - p))); p++) {
		const char *next = ht_skip_blanks(p + 1, limit);
		if (next >= limit || *next != ',')
			continue;
		next = ht_skip_blanks(next + 1, limit);
		if (next < limit && *next == '{' && ht_event_form(next, limit))
			return true;
	}
	return false;
}

/* Behind the bracket that closes the list comes the end of the object or its next key, and no more events. */
bool ht_list_end_form(const char *p, const char *limit, struct ht_before before)
{
	limit = ht_look_limit(p, limit);
	const char *next = ht_skip_blanks(p + 1, limit);
	if (before.last == ':' || before.last == '"')
		return false;
	if (next >= limit)
		return true;
	if (*next == '}') {
		next = ht_skip_blanks(next + 1, limit);
		return next >= limit ||
		       (*next == '{' ? !ht_event_form(next, limit) : !memchr(",}]\":", *next, 5));
	}
	if (*next != ',')
		return false;
	next = ht_skip_blanks(next + 1, limit);
	/* in an event lists end before keys, too; that of the events ends behind a brace, and most keys behind it are known */
	if (!ht_key_form(next, limit, before.last == '}' ? HT_ANY_KEY : HT_HEADER_KEY))
		return false;
	const char *other = ht_find_events_key(next, (size_t)(limit - next));
	return !event_follows(next, other ? other : limit);
}

/* ---- the search ---- */

static bool is_key_place(const struct ht_search *s, const char *p, const char *limit)
{
	if (!is_structure(s->before.last) || s->before.last == '[')
		return false;
	/* the first key of an object is that of an event, or of a value in one */
	bool is_over = (s->in_header ? s->depth <= 0 : !s->saw_event) && s->before.last != '{';
	return is_over ? ht_outer_key_form(p, limit) : ht_key_form(p, limit, HT_HEADER_KEY);
}

static bool is_event_place(const struct ht_search *s, const char *p, const char *limit)
{
	bool fits = s->in_header ? s->before.last != ':' : separates(s->before);
	return fits && ht_event_form(p, limit);
}

/* What stands at p. */
static enum ht_resume_at place_at(const struct ht_search *s, const char *p, const char *limit)
{
	unsigned wanted = s->wanted;
	limit = ht_look_limit(p, limit);
	if (*p == '"' && wanted & HT_RESUME_BIT(HT_RESUME_KEY) && is_key_place(s, p, limit))
		return HT_RESUME_KEY;
	if (*p == ']' && wanted & HT_RESUME_BIT(HT_RESUME_LIST_END) &&
	        ht_list_end_form(p, limit, s->before))
		return HT_RESUME_LIST_END;
	if (*p != '{')
		return HT_RESUME_NONE;
	if (wanted & HT_RESUME_BIT(HT_RESUME_EVENT) && is_event_place(s, p, limit))
		return HT_RESUME_EVENT;
	if (wanted & HT_RESUME_BIT(HT_RESUME_DOCUMENT) &&
	        ht_key_form(ht_skip_blanks(p + 1, limit), limit, HT_HEADER_KEY))
		return HT_RESUME_DOCUMENT;
	return HT_RESUME_NONE;
}

static void step_over(struct ht_search *s, const char *p, const char *limit)
{
	limit = ht_look_limit(p, limit);
	if (*p == '{' || *p == '[')
		s->depth++;
	else if (*p == '}' || *p == ']')
		s->depth--;
	size_t mark = mark_at(p, limit);
	if (mark < HT_N_MARKS)
		s->n_marks[mark]++;
	if (*p == '"' && !s->saw_event)
		s->saw_event = ht_key_form(p, limit, HT_EVENT_FIELD);
	s->before = (struct ht_before){ (unsigned char)*p, s->before.last };
}

uint32_t ht_search_events(const struct ht_search *search)
{
	uint32_t n = search->saw_event && !search->in_header;
	for (size_t i = 0; i < HT_N_MARKS; i++)
		n = search->n_marks[i] > n ? search->n_marks[i] : n;
	return n;
}

static bool is_special(char c)
{
	return c == '"' || c == '{' || c == '}' || c == '[' || c == ']';
}

/* The next byte that can be a place or moves the depth. Disks that fill up leave gigabytes of zeros. */
static const char *next_special(const char *p, const char *end)
{
	static const char zeros[64];
	for (; p < end && !is_special(*p); p++)
		while (!*p && end - p > (ptrdiff_t)sizeof zeros && !memcmp(p, zeros, sizeof zeros))
			p += sizeof zeros - 1;
	return p < end ? p : end;
}

/* What stands before p, behind the text from start on that was stepped over. */
static struct ht_before look_back(struct ht_before before, const char *start, const char *p)
{
	unsigned char seen[2];
	size_t n = 0;
	while (p > start && n < 2)
		if (!is_blank(*--p))
			seen[n++] = (unsigned char)*p;
	if (n == 2)
		return (struct ht_before){ seen[0], seen[1] };
	return n ? (struct ht_before){ seen[0], before.last } : before;
}

enum ht_resume_at ht_search_resume(
        struct ht_search *search, const char *p, const char *limit, bool final, const char **ret_p)
{
	const char *end = final ? limit : limit - p < HT_LOOK_AHEAD ? p : limit - HT_LOOK_AHEAD;
	while (p < end) {
		const char *start = p;
		p = next_special(p, end);
		search->before = look_back(search->before, start, p);
		if (p >= end)
			break;
		enum ht_resume_at place = place_at(search, p, limit);
		*ret_p = p;
		if (place != HT_RESUME_NONE)
			return place;
		step_over(search, p++, limit);
	}
	*ret_p = p;
	return HT_RESUME_NONE;
}

const char *ht_last_event(const char *p, const char *limit)
{
	const char *last = NULL;
	while (p < limit && (p = memchr(p, '}', (size_t)(limit - p)))) {
		const char *next = ht_skip_blanks(p + 1, limit);
		if (next < limit && *next == ',')
			next = ht_skip_blanks(next + 1, limit);
		if (next < limit && *next == '{' &&
		        ht_key_form(ht_skip_blanks(next + 1, limit), limit, HT_EVENT_FIELD))
			last = next;
		p++;
	}
	return last;
}
