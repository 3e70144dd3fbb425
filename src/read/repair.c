/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.c - see repair.h.
 *
 * What is accepted: bytes that are not UTF-8, control bytes, unescaped quotes, bad escapes, empty members
 * and stray commas, bare inf and nan. docs/formats/kineto.md tells where each comes from.
 *
 * An unescaped quote is told from a closing one by what follows: the closing quote of a key is followed
 * by a colon; of a value in an object by a brace, or by a comma and another "key":, and for the fields
 * of an event that key must be a field of events once a quote was passed; of a list element by a comma or
 * bracket. A string that would go on over the start of an event, the end of the list or the next field
 * lost its quote: the event is given up, not joined with what follows.
 */
#include "read/repair.h"

#include "json/block.h"
#include "json/json_text.h"
#include "read/recover.h"

#include <string.h>
#include <strings.h>

enum place { PLACE_KEY, PLACE_FIELD, PLACE_MEMBER, PLACE_ELEMENT };

struct repair {
	struct ht_worker *w;
	const char *p, *limit;
	struct ht_vec *out;
	uint64_t bits;
	unsigned depth;
	enum ht_repair state; /* HT_REPAIRED while all is well */
};

static bool fail(struct repair *r, enum ht_repair state)
{
	if (r->state == HT_REPAIRED)
		r->state = state;
	return false;
}

static void count(struct repair *r, enum ht_stat_code code)
{
	r->bits |= (uint64_t)1 << code;
}

static bool put(struct repair *r, const char *bytes, size_t n)
{
	if (!ht_vec_reserve(r->w->builder->mem, r->out, 1, n + HT_PADDING))
		return fail(r, HT_REPAIR_NOMEM);
	memcpy((char *)r->out->data + r->out->n, bytes, n);
	r->out->n += n;
	return true;
}

static const char *skip(const struct repair *r, const char *p)
{
	return ht_skip_blanks(p, r->limit);
}

/* Does the quote at q close a string in that place? clean: no quote of the string was taken for text yet. */
static bool closes(const struct repair *r, const char *q, enum place place, bool clean)
{
	const char *limit = ht_look_limit(q, r->limit), *next = ht_skip_blanks(q + 1, limit);
	if (next >= limit)
		return true; /* decided by the caller, which then finds the text incomplete */
	if (place == PLACE_KEY)
		return *next == ':';
	if (place == PLACE_ELEMENT)
		return *next == ',' || *next == ']';
	if (*next == '}') {
		next = ht_skip_blanks(next + 1, limit);
		return next >= limit || memchr(",}]{", *next, 4);
	}
	if (ht_key_form(next, limit, HT_EVENT_FIELD))
		return true; /* a missing comma */
	if (*next != ',')
		return false;
	next = ht_skip_blanks(next + 1, limit);
	bool any = clean || place == PLACE_MEMBER;
	return next >= limit || *next == ',' || *next == '}' ||
	       ht_key_form(next, limit, any ? HT_ANY_KEY : HT_EVENT_FIELD);
}

static bool repair_escape(struct repair *r)
{
	const char *p = r->p;
	if (p + 1 >= r->limit)
		return fail(r, HT_INCOMPLETE);
	char decoded[12 * 3];
	size_t n = 2, bad;
	if (p[1] == 'u') {
		/* a pair of surrogates is one escape */
		bool pair = r->limit - p >= 12 && p[6] == '\\' && p[7] == 'u';
		n = r->limit - p < 6 ? (size_t)(r->limit - p) : 6;
		ht_json_decode(p, n, decoded, &bad);
		if (bad && pair) {
			n = 12;
			ht_json_decode(p, n, decoded, &bad);
			if (bad)
				n = 6;
		}
		if (bad && n == 6 && (p[2] | 0x20) == 'd') {
			count(r, HT_STAT_invalid_utf8);
			r->p += 6;
			return put(r, "\\ufffd", 6);
		}
		if (!bad) {
			r->p += n;
			return put(r, p, n);
		}
	} else if (p[1] && strchr("\"\\/bfnrt", p[1])) {
		r->p += 2;
		return put(r, p, 2);
	}
	count(r, HT_STAT_bad_escape);
	r->p++;
	return put(r, "\\\\", 2);
}

static bool repair_byte(struct repair *r)
{
	unsigned char c = (unsigned char)*r->p;
	if (c >= 0x80) {
		size_t n = ht_utf8_length(r->p, (size_t)(r->limit - r->p));
		if (n) {
			r->p += n;
			return put(r, r->p - n, n);
		}
		count(r, HT_STAT_invalid_utf8);
		r->p++;
		return put(r, "\xEF\xBF\xBD", 3);
	}
	r->p++;
	if (c >= 0x20)
		return put(r, r->p - 1, 1);
	static const char hex[] = "0123456789abcdef";
	char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
	count(r, HT_STAT_control_bytes);
	return put(r, escape, 6);
}

/* What was passed of a string. */
struct passed {
	bool structure; /* commas, colons, brackets */
	bool brace;     /* one that closes */
	bool object;    /* behind a quote, or in a key, one that closes and then one that opens */
};

/* A string that goes on over these was not closed where it should: what follows is not its text. */
static bool is_border(
        const struct repair *r, enum place place, struct ht_before before, struct passed passed)
{
	const char *p = r->p, *limit = ht_look_limit(p, r->limit);
	switch (*p) {
	case '{':
		return (memchr(",[]}", before.last, 4) || p[-1] == '\n') && ht_event_form(p, limit);
	case ']': return before.last == '}' && ht_list_end_form(p, limit, before);
	case '"':
		return (place == PLACE_KEY && passed.structure) ||
		       (passed.brace && ht_mark_form(p, limit)) ||
		       (place == PLACE_FIELD && ht_key_form(p, limit, HT_CORE_FIELD)) ||
		       ht_key_form(p, limit, HT_HEADER_KEY);
	default: return false;
	}
}

/* The quote that closes a string over such is that of the first key of the next event, which is damaged, too, or of that key's
 * value: a key of events comes next. */
static bool is_of_next_event(const struct repair *r, enum place place, struct passed passed)
{
	const char *limit = ht_look_limit(r->p, r->limit);
	const char *next = ht_skip_blanks(r->p + 1, limit);
	if (!passed.object || place == PLACE_KEY)
		return passed.object;
	return next < limit && *next == ',' && ht_mark_form(ht_skip_blanks(next + 1, limit), limit);
}

static bool repair_text_byte(struct repair *r)
{
	if (*r->p == '\\')
		return repair_escape(r);
	if (*r->p != '"')
		return repair_byte(r);
	count(r, HT_STAT_unescaped_quote);
	r->p++;
	return put(r, "\\\"", 2);
}

/* Neither structure nor blank, quote or escape, and what JSON allows: most of a text. */
static bool is_plain(char c)
{
	return c > ' ' && c != '"' && c != '\\' && c != '{' && c != '}' && c != '[' && c != ']' &&
	       c != ':' && c != ',';
}

/* Plain bytes from here on, all at once: texts may be as long as a file. */
static bool repair_plain(struct repair *r, struct ht_before *before)
{
	const char *start = r->p;
	while (r->p < r->limit && is_plain(*r->p))
		r->p++;
	size_t n = (size_t)(r->p - start);
	if (!n)
		return true;
	*before = (struct ht_before){ (unsigned char)r->p[-1],
		n > 1 ? (unsigned char)r->p[-2] : before->last };
	return put(r, start, n);
}

static bool repair_string(struct repair *r, enum place place)
{
	struct ht_before before = { 0 };
	struct passed passed = { 0 };
	bool clean = true;
	if (!put(r, "\"", 1))
		return false;
	for (r->p++; r->p < r->limit;) {
		if (!repair_plain(r, &before))
			return false;
		if (r->p >= r->limit)
			break;
		char c = *r->p;
		if (c == '"' && closes(r, r->p, place, clean)) {
			if (is_of_next_event(r, place, passed))
				return fail(r, HT_HOPELESS);
			r->p++;
			return put(r, "\"", 1);
		}
		if (is_border(r, place, before, passed))
			return fail(r, HT_HOPELESS);
		clean &= c != '"';
		passed.structure |= c && strchr("{}[]:,", c);
		passed.brace |= c == '}';
		passed.object |=
		        (!clean || place == PLACE_KEY) && c == '{' &&
		        (before.last == '}' || (before.last == ',' && before.next_to_last == '}'));
		if (!memchr(" \n\r\t", c, 4))
			before = (struct ht_before){ (unsigned char)c, before.last };
		if (!repair_text_byte(r))
			return false;
	}
	return fail(r, HT_INCOMPLETE);
}

static bool word_is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(p, word, n) == 0;
}

/* A number that JSON does not allow but that has one meaning: +1, .5, 5., 007. */
static bool repair_number(struct repair *r, const char *p, size_t n)
{
	char text[128], *o = text;
	if (n > 100)
		return fail(r, HT_HOPELESS);
	if (*p == '-')
		*o++ = '-';
	if (*p == '-' || *p == '+') {
		p++;
		n--;
	}
	while (n > 1 && *p == '0' && ht_is_digit(p[1])) {
		p++;
		n--;
	}
	if (n && *p == '.')
		*o++ = '0';
	memcpy(o, p, n);
	o += n;
	if (n && o[-1] == '.')
		*o++ = '0';
	*o = '\0';
	struct ht_number number = ht_number_parse(text);
	if (number.type == HT_NUMBER_NONE || number.end != o)
		return fail(r, HT_HOPELESS);
	count(r, HT_STAT_bare_number);
	return put(r, text, (size_t)(o - text));
}

static bool repair_word(struct repair *r)
{
	static const struct {
		const char *word, *json;
	} words[] = { { "true", "true" }, { "false", "false" }, { "null", "null" },
		{ "none", "null" }, { "nan", "\"nan\"" }, { "-nan", "\"nan\"" },
		{ "inf", "\"inf\"" }, { "-inf", "\"-inf\"" }, { "infinity", "\"inf\"" },
		{ "-infinity", "\"-inf\"" } };
	const char *start = r->p;
	while (r->p < r->limit && !memchr(",]}[{\": \n\r\t", *r->p, 11))
		r->p++;
	size_t n = (size_t)(r->p - start);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	for (size_t i = 0; i < HT_COUNT(words); i++)
		if (word_is(start, n, words[i].word)) {
			if (i >= 3 || memcmp(start, words[i].word, n) != 0)
				count(r, HT_STAT_bare_number);
			return put(r, words[i].json, strlen(words[i].json));
		}
	struct ht_number number = ht_number_parse(start);
	if (number.type != HT_NUMBER_NONE && number.end == r->p)
		return put(r, start, n);
	return n ? repair_number(r, start, n) : fail(r, HT_HOPELESS);
}

static bool repair_value(struct repair *r, enum place place);

/* Step over space and surplus commas; false at the end of the text. */
static bool skip_commas(struct repair *r, bool comma_expected)
{
	for (;; r->p++) {
		r->p = skip(r, r->p);
		if (r->p >= r->limit)
			return fail(r, HT_INCOMPLETE);
		if (*r->p != ',')
			return true;
		if (!comma_expected)
			count(r, HT_STAT_stray_comma);
		comma_expected = false;
	}
}

static bool repair_member(struct repair *r, bool top)
{
	if (*r->p != '"')
		return fail(r, HT_HOPELESS);
	if (!repair_string(r, PLACE_KEY))
		return false;
	r->p = skip(r, r->p);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	if (*r->p != ':')
		return fail(r, HT_HOPELESS);
	r->p = skip(r, r->p + 1);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	if (!put(r, ":", 1))
		return false;
	if (*r->p == ',' || *r->p == '}') {
		count(r, HT_STAT_missing_value);
		return put(r, "null", 4);
	}
	return repair_value(r, top ? PLACE_FIELD : PLACE_MEMBER);
}

static bool repair_container(struct repair *r, bool top)
{
	char close = *r->p == '{' ? '}' : ']';
	bool first = true;
	r->depth++;
	if (!put(r, r->p++, 1))
		return false;
	for (;; first = false) {
		const char *before = r->p;
		if (!skip_commas(r, !first))
			return false;
		if (*r->p == close)
			break;
		if (!first && !memchr(before, ',', (size_t)(r->p - before)))
			count(r, HT_STAT_missing_comma);
		if (!first && !put(r, ",", 1))
			return false;
		if (close == '}' ? !repair_member(r, top) : !repair_value(r, PLACE_ELEMENT))
			return false;
	}
	/* a comma right before the closing bracket */
	for (const char *q = r->p - 1; !first && memchr(", \n\r\t", *q, 5); q--)
		if (*q == ',') {
			count(r, HT_STAT_stray_comma);
			break;
		}
	r->depth--;
	r->p++;
	return put(r, &close, 1);
}

/* A list or object that nests too deep: step over it by its brackets, and write null. */
static bool cut_container(struct repair *r)
{
	struct ht_before before = { 0 };
	size_t depth = 0;
	for (; r->p < r->limit; r->p++) {
		char c = *r->p;
		if (is_border(r, PLACE_MEMBER, before, (struct passed){ .structure = true }))
			return fail(r, HT_HOPELESS);
		if (!memchr(" \n\r\t", c, 4))
			before = (struct ht_before){ (unsigned char)c, before.last };
		if (c == '"') {
			/* a string without its end is damage of another kind */
			for (r->p++; r->p < r->limit && *r->p != '"'; r->p++)
				r->p += *r->p == '\\';
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			r->p++;
			count(r, HT_STAT_too_deep);
			return put(r, "null", 4);
		}
	}
	r->p = r->limit;
	return fail(r, HT_INCOMPLETE);
}

static bool repair_value(struct repair *r, enum place place)
{
	/* a key of events in a list: the bracket that closes it, and the start of that event, are in the text before */
	if (place == PLACE_ELEMENT && ht_mark_form(r->p, ht_look_limit(r->p, r->limit)))
		return fail(r, HT_HOPELESS);
	if (*r->p == '"')
		return repair_string(r, place);
	/* the event itself is one level more than its values */
	if ((*r->p == '{' || *r->p == '[') && r->depth > HT_MAX_DEPTH)
		return cut_container(r);
	/* the list of events is in no event, and in no value of the header */
	if (place == PLACE_ELEMENT && ht_phase_form(r->p, ht_look_limit(r->p, r->limit)))
		return fail(r, HT_HOPELESS);
	if (*r->p == '{' || *r->p == '[')
		return repair_container(r, false);
	return repair_word(r);
}

static enum ht_repair run(
        struct ht_worker *w, const char *p, const char *limit, bool event, const char **ret_end)
{
	struct repair r = { .w = w, .p = p, .limit = limit, .out = &w->repaired };
	w->repaired.n = 0;
	bool ok = event ? repair_container(&r, true) : repair_value(&r, PLACE_MEMBER);
	*ret_end = r.p;
	if (!ok)
		return r.state;
	if (!put(&r, "", 0))
		return r.state;
	memset((char *)r.out->data + r.out->n, 0, HT_PADDING);
	w->repair_bits = r.bits;
	return HT_REPAIRED;
}

enum ht_repair ht_repair_event(
        struct ht_worker *w, const char *p, const char *limit, const char **ret_end)
{
	return run(w, p, limit, true, ret_end);
}

enum ht_repair ht_repair_header(
        struct ht_worker *w, const char *p, const char *limit, const char **ret_end)
{
	return run(w, p, limit, false, ret_end);
}
