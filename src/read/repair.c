/*
 * repair.c - see repair.h.
 *
 * What is accepted: bytes that are not UTF-8, control bytes, unescaped quotes, bad escapes, empty members
 * and stray commas, bare inf and nan. docs/formats/kineto.md tells where each comes from.
 *
 * An unescaped quote is told from a closing one by what follows: the closing quote of a key is followed
 * by a colon; of a value in an object by a brace, or by a comma and another "key":, and for the fields
 * of an event that key must be a field of events; of a list element by a comma or bracket.
 */
#include "read/repair.h"

#include "json/block.h"
#include "json/text.h"

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
	if (!ht_vec_reserve(r->w->load->mem, r->out, 1, n + HT_PADDING))
		return fail(r, HT_REPAIR_NOMEM);
	memcpy((char *)r->out->data + r->out->n, bytes, n);
	r->out->n += n;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *skip(const char *p, const char *limit)
{
	while (p < limit && is_space(*p))
		p++;
	return p;
}

static const char *const event_fields[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "args",
	"id", "bp", "s", "tts", "tdur", "cname", "sf", "esf", "stack", "scope", "id2", "local" };

/* True when "key" with its colon starts at p; known_only: one of an event's fields. */
static bool is_key(const char *p, const char *limit, bool known_only)
{
	if (p >= limit || *p != '"')
		return false;
	const char *end = ++p;
	while (end < limit && *end != '"' && *end != '\n' && end - p < 256)
		end += *end == '\\' && end + 1 < limit ? 2 : 1;
	if (end >= limit || *end != '"')
		return false;
	const char *colon = skip(end + 1, limit);
	if (colon >= limit || *colon != ':')
		return false;
	for (size_t i = 0; known_only && i < HT_COUNT(event_fields); i++)
		if ((size_t)(end - p) == strlen(event_fields[i]) &&
		        !memcmp(p, event_fields[i], (size_t)(end - p)))
			return true;
	return !known_only;
}

/* Does the quote at q close a string in that place? */
static bool closes(const struct repair *r, const char *q, enum place place)
{
	const char *next = skip(q + 1, r->limit);
	if (next >= r->limit)
		return true; /* decided by the caller, which then finds the text incomplete */
	if (place == PLACE_KEY)
		return *next == ':';
	if (place == PLACE_ELEMENT)
		return *next == ',' || *next == ']';
	if (*next == '}') {
		const char *after = skip(next + 1, r->limit);
		return after >= r->limit || *after == ',' || *after == '}' || *after == ']' ||
		       *after == '{';
	}
	if (is_key(next, r->limit, true))
		return true; /* a missing comma */
	if (*next != ',')
		return false;
	next = skip(next + 1, r->limit);
	return next >= r->limit || *next == ',' || *next == '}' ||
	       is_key(next, r->limit, place == PLACE_FIELD);
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

/* A line that starts a new event inside a string means that the string never ended. */
static bool starts_event(const struct repair *r)
{
	const char *p = skip(r->p, r->limit);
	if (p >= r->limit || *p != '{')
		return false;
	return is_key(skip(p + 1, r->limit), r->limit, true);
}

static bool repair_string(struct repair *r, enum place place)
{
	if (!put(r, "\"", 1))
		return false;
	for (r->p++; r->p < r->limit;) {
		if (*r->p == '"') {
			if (closes(r, r->p, place)) {
				r->p++;
				return put(r, "\"", 1);
			}
			count(r, HT_STAT_unescaped_quote);
			r->p++;
			if (!put(r, "\\\"", 2))
				return false;
		} else if (*r->p == '\\') {
			if (!repair_escape(r))
				return false;
		} else if (*r->p == '\n' && starts_event(r)) {
			return fail(r, HT_HOPELESS);
		} else if (!repair_byte(r)) {
			return false;
		}
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
	while (r->p < r->limit && !is_space(*r->p) && !memchr(",]}[{\":", *r->p, 7))
		r->p++;
	size_t n = (size_t)(r->p - start);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	for (size_t i = 0; i < HT_COUNT(words); i++)
		if (word_is(start, n, words[i].word)) {
			if (i >= 3)
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
		r->p = skip(r->p, r->limit);
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
	r->p = skip(r->p, r->limit);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	if (*r->p != ':')
		return fail(r, HT_HOPELESS);
	r->p = skip(r->p + 1, r->limit);
	if (r->p >= r->limit)
		return fail(r, HT_INCOMPLETE);
	if (!put(r, ":", 1))
		return false;
	if (*r->p == ',' || *r->p == '}') {
		count(r, HT_STAT_stray_comma);
		return put(r, "null", 4);
	}
	return repair_value(r, top ? PLACE_FIELD : PLACE_MEMBER);
}

static bool repair_container(struct repair *r, bool top)
{
	char close = *r->p == '{' ? '}' : ']';
	bool first = true;
	if (++r->depth > HT_MAX_DEPTH)
		return fail(r, HT_HOPELESS);
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
	for (const char *q = r->p - 1; !first && (is_space(*q) || *q == ','); q--)
		if (*q == ',') {
			count(r, HT_STAT_stray_comma);
			break;
		}
	r->depth--;
	r->p++;
	return put(r, &close, 1);
}

static bool repair_value(struct repair *r, enum place place)
{
	if (*r->p == '"')
		return repair_string(r, place);
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
	if (!ok)
		return r.state;
	if (!put(&r, "", 0))
		return r.state;
	memset((char *)r.out->data + r.out->n, 0, HT_PADDING);
	w->repair_bits = r.bits;
	*ret_end = r.p;
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

/* Does the bracket at p close the list of events? It is followed by the end of the document, or by
 * the end of the object or its next key. */
static bool closes_list(const char *p, const char *limit)
{
	p = skip(p + 1, limit);
	if (p >= limit || *p == '}')
		return true;
	return *p == ',' && is_key(skip(p + 1, limit), limit, false);
}

const char *ht_next_event(const char *p, const char *limit, bool or_end)
{
	while (p < limit && (p = memchr(p, '}', (size_t)(limit - p)))) {
		const char *next = skip(p + 1, limit);
		if (or_end && next < limit && *next == ']' && closes_list(next, limit))
			return next;
		if (next < limit && *next == ',')
			next = skip(next + 1, limit);
		if (next < limit && *next == '{' && is_key(skip(next + 1, limit), limit, true))
			return next;
		p++;
	}
	return limit;
}

const char *ht_next_key(const char *p, const char *limit)
{
	while (p < limit && (p = memchr(p, ',', (size_t)(limit - p)))) {
		const char *key = skip(p + 1, limit);
		if (is_key(key, limit, false))
			return key;
		p++;
	}
	return limit;
}
