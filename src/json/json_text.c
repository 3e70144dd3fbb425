/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.c - see json_text.h.
 */
#include "json/json_text.h"

#include "base/text_compare.h"
#include "json/block.h"

#include <string.h>

/* Texts here end in one zero byte, not in padding: nothing may read past it. */
static const char *skip_space(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
		p++;
	return p;
}

static int hex4(const char *p)
{
	int value = 0;
	for (int i = 0; i < 4; i++) {
		int digit = ht_hex_digit(p[i]);
		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* Decode the \uXXXX (pair) at p, n bytes left; returns bytes read, 0 when it is no escape. */
static size_t decode_unicode(const char *p, size_t n, uint32_t *ret_char, size_t *ret_bad)
{
	int high = n >= 6 ? hex4(p + 2) : -1;
	if (high < 0)
		return 0;
	*ret_char = (uint32_t)high;
	if (high < 0xd800 || high > 0xdfff)
		return 6;
	int low = high < 0xdc00 && n >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
	if (low >= 0xdc00 && low <= 0xdfff) {
		*ret_char = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
		return 12;
	}
	++*ret_bad;
	*ret_char = 0xfffd;
	return 6;
}

size_t ht_text_repair(const char *text, size_t n, char *out, size_t *ret_bad)
{
	char *o = out;
	*ret_bad = 0;
	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		len = ht_utf8_length(text + i, n - i);
		if (!len) {
			++*ret_bad;
			o += ht_utf8_put(o, 0xfffd);
			continue;
		}
		memcpy(o, text + i, len);
		o += len;
	}
	return (size_t)(o - out);
}

size_t ht_json_decode(const char *body, size_t n, char *out, size_t *ret_bad)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char *o = out;
	*ret_bad = 0;
	for (size_t i = 0; i < n;) {
		if (body[i] != '\\') {
			size_t len = ht_utf8_length(body + i, n - i);
			if (!len) {
				++*ret_bad;
				o += ht_utf8_put(o, 0xfffd);
				i++;
				continue;
			}
			memcpy(o, body + i, len);
			o += len;
			i += len;
			continue;
		}
		const char *known = i + 1 < n && body[i + 1] ? strchr(from, body[i + 1]) : NULL;
		uint32_t c = 0;
		size_t used = 0;
		if (known) {
			*o++ = to[known - from];
			i += 2;
		} else if (i + 1 < n && body[i + 1] == 'u' &&
		           (used = decode_unicode(body + i, n - i, &c, ret_bad))) {
			o += ht_utf8_put(o, c);
			i += used;
		} else {
			++*ret_bad;
			*o++ = body[i++];
		}
	}
	return (size_t)(o - out);
}

/* ---- validation: returns the end of the value at p, NULL when it is not valid ---- */

static const char *valid_string(const char *p)
{
	for (p++;;) {
		p = ht_string_stop(p);
		unsigned char c = (unsigned char)*p;
		if (c == '"')
			return p + 1;
		if (c >= 0x80) {
			/* the zero behind the text ends a sequence that is cut */
			size_t n = ht_utf8_length(p, strnlen(p, 4));
			if (!n)
				return NULL;
			p += n;
		} else if (c == '\\' && p[1] && strchr("\"\\/bfnrt", p[1])) {
			p += 2;
		} else if (c == '\\' && p[1] == 'u') {
			uint32_t unit;
			size_t bad = 0, used = decode_unicode(p, strnlen(p, 12), &unit, &bad);
			if (!used || bad)
				return NULL;
			p += used;
		} else {
			return NULL;
		}
	}
}

static const char *valid_scalar(const char *p)
{
	if (*p == '"')
		return valid_string(p);
	if (!strncmp(p, "true", 4) || !strncmp(p, "null", 4))
		return p + 4;
	if (!strncmp(p, "false", 5))
		return p + 5;
	struct ht_number number = ht_number_parse(p);
	return number.type == HT_NUMBER_NONE ? NULL : number.end;
}

static const char *valid_key(const char *p)
{
	p = skip_space(p);
	if (*p != '"' || !(p = valid_string(p)))
		return NULL;
	p = skip_space(p);
	return *p == ':' ? skip_space(p + 1) : NULL;
}

bool ht_json_valid(const char *text, size_t n)
{
	char closing[HT_MAX_DEPTH];
	size_t depth = 0;
	const char *p = skip_space(text);
	for (;;) {
		if (*p == '{' || *p == '[') {
			if (depth == HT_MAX_DEPTH)
				return false;
			char close = *p == '{' ? '}' : ']';
			p = skip_space(p + 1);
			if (*p != close) {
				closing[depth++] = close;
				if (close == '}' && !(p = valid_key(p)))
					return false;
				continue;
			}
			p++;
		} else if (!(p = valid_scalar(p))) {
			return false;
		}
		for (;;) {
			p = skip_space(p);
			if (!depth)
				return (size_t)(p - text) == n;
			if (*p == closing[depth - 1]) {
				depth--;
				p++;
				continue;
			}
			if (*p != ',')
				return false;
			p = skip_space(p + 1);
			if (closing[depth - 1] == '}' && !(p = valid_key(p)))
				return false;
			break;
		}
	}
}

/* ---- pull reader over text known to be valid ---- */

static const char *skip_string(const char *p)
{
	/* the zero behind the text also ends it: texts of a cache file are not validated again */
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

static const char *skip_container(const char *p)
{
	size_t depth = 0;
	for (;;) {
		p = ht_structure_stop(p);
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (!*p)
			return p;
		depth += *p == '{' || *p == '[' ? 1 : (size_t)-1;
		p++;
		if (!depth)
			return p;
	}
}

struct ht_json_value ht_json_next(struct ht_json *reader)
{
	const char *p = skip_space(reader->p), *start = p;
	enum ht_json_type type = HT_JSON_END;
	switch (*p) {
	case '{': type = HT_JSON_OBJECT; break;
	case '[': type = HT_JSON_ARRAY; break;
	case '"': type = HT_JSON_STRING; break;
	case 't': type = HT_JSON_TRUE; break;
	case 'f': type = HT_JSON_FALSE; break;
	case 'n': type = HT_JSON_NULL; break;
	case '\0':
	case ']':
	case '}': return (struct ht_json_value){ HT_JSON_END, p, 0 };
	default: type = HT_JSON_NUMBER; break;
	}
	if (type == HT_JSON_OBJECT || type == HT_JSON_ARRAY)
		p = skip_container(p);
	else if (type == HT_JSON_STRING)
		p = skip_string(p);
	else
		while (*p && !strchr(",]} \n\r\t", *p))
			p++;
	reader->p = p;
	return (struct ht_json_value){ type, start, (size_t)(p - start) };
}

struct ht_json ht_json_enter(const struct ht_json_value *container)
{
	return (struct ht_json){ container->text + 1 };
}

bool ht_json_element(struct ht_json *reader, struct ht_json_value *ret_value)
{
	reader->p = skip_space(reader->p);
	if (*reader->p == ',')
		reader->p = skip_space(reader->p + 1);
	*ret_value = ht_json_next(reader);
	return ret_value->type != HT_JSON_END;
}

bool ht_json_member(
        struct ht_json *reader, struct ht_json_value *ret_key, struct ht_json_value *ret_value)
{
	if (!ht_json_element(reader, ret_key))
		return false;
	reader->p = skip_space(reader->p) + 1; /* the colon */
	*ret_value = ht_json_next(reader);
	ret_key->text++;
	ret_key->n -= 2;
	return true;
}

struct ht_json_value ht_json_get(const struct ht_json_value *object, const char *key)
{
	struct ht_json_value name, value, none = { HT_JSON_END, "", 0 };
	if (object->type != HT_JSON_OBJECT)
		return none;
	struct ht_json reader = ht_json_enter(object);
	while (ht_json_member(&reader, &name, &value))
		if (name.n == strlen(key) && !memcmp(name.text, key, name.n))
			return value;
	return none;
}

bool ht_json_i64(const struct ht_json_value *value, int64_t *ret)
{
	const char *p = value->text + (value->type == HT_JSON_STRING);
	if (value->type != HT_JSON_STRING && value->type != HT_JSON_NUMBER)
		return false;
	struct ht_number number = ht_number_parse(p);
	if (number.type == HT_NUMBER_I64)
		*ret = number.i;
	return number.type == HT_NUMBER_I64;
}
