/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - JSON strings and small documents: decode, encode, validate, and a pull reader for the
 * header values of a trace.
 */
#ifndef HT_JSON_JSON_TEXT_H
#define HT_JSON_JSON_TEXT_H

#include "base/number.h"
#include "base/utf8.h"

/* How deep containers may nest before the text is refused. */
#define HT_MAX_DEPTH 256

/* Copy a text, zeros included, into out, which has room for 3 n bytes, with U+FFFD for every byte that is no UTF-8;
 * returns the length. ret_bad counts them. */
size_t ht_text_repair(const char *text, size_t n, char *out, size_t *ret_bad);

/* Decode the body of a JSON string (without quotes) into out, which has room for n bytes; returns the
 * decoded length. ret_bad counts escapes and bytes that were not valid and became U+FFFD (out then has
 * room for 3 n). NULL body escapes other than JSON's are kept literally and counted in ret_bad too. */
size_t ht_json_decode(const char *body, size_t n, char *out, size_t *ret_bad);
/* True when text is exactly one valid JSON value (RFC 8259, depth at most HT_MAX_DEPTH). The text is
 * followed by a zero byte. */
bool ht_json_valid(const char *text, size_t n);

/* A pull reader over one valid JSON value. */
enum ht_json_type {
	HT_JSON_END,
	HT_JSON_OBJECT,
	HT_JSON_ARRAY,
	HT_JSON_STRING,
	HT_JSON_NUMBER,
	HT_JSON_TRUE,
	HT_JSON_FALSE,
	HT_JSON_NULL
};

struct ht_json {
	const char *p;
};

/* A value and where its text is. Containers are read by making a reader of `text`. */
struct ht_json_value {
	enum ht_json_type type;
	const char *text;
	size_t n;
};

/* Next value at the reader; steps over it. */
struct ht_json_value ht_json_next(struct ht_json *reader);
/* Iterate: after ht_json_enter on a container's text, next member; false at the end. key is the raw
 * text without quotes. */
struct ht_json ht_json_enter(const struct ht_json_value *container);
bool ht_json_member(
        struct ht_json *reader, struct ht_json_value *ret_key, struct ht_json_value *ret_value);
bool ht_json_element(struct ht_json *reader, struct ht_json_value *ret_value);
/* The member of an object by its key, type END when absent. */
struct ht_json_value ht_json_get(const struct ht_json_value *object, const char *key);
/* The integer of a number or numeric string. */
bool ht_json_i64(const struct ht_json_value *value, int64_t *ret);

#endif
