/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_parse.h - a node on its way from text to store, and the steps that its parts share; for et_node.c and
 * et_attrs.c only. A step answers false when it cannot go on, and says why in result.
 */
#ifndef HT_ET_ET_PARSE_H
#define HT_ET_ET_PARSE_H

#include "et/et_reader.h"
#include "json/block_base.h"

#include <string.h>

/* How far the end of a name is looked for. */
#define HT_ET_MAX_NAME_BYTES ((size_t)1 << 20)

/* The values of inputs or outputs. Most are new, so their place in the pool is not in a cache: it is asked for when
 * they are met, and looked at when the node is done. */
struct ht_et_pending {
	const char *text; /* NULL: none */
	size_t n;
	uint64_t hash;
};

struct ht_et_parsing {
	struct ht_et_reader *r;
	const char *p;
	struct ht_et_node node;
	struct ht_et_custom *custom; /* of the node's name; NULL: not known yet */
	struct ht_et_pending pending[2];
	enum ht_et_parse result; /* why a step answered false */
};

static inline bool ht_et_fail(struct ht_et_parsing *s, enum ht_et_parse result)
{
	s->result = result;
	return false;
}

/* Out of text, or text that is none of JSON's. */
static inline bool ht_et_fail_here(struct ht_et_parsing *s)
{
	return ht_et_fail(s, s->p >= s->r->end ? HT_ET_SHORT : HT_ET_BAD);
}

static inline bool ht_et_keep(struct ht_et_parsing *s, bool was_kept)
{
	return was_kept || ht_et_fail(s, HT_ET_FAILED);
}

/* Blanks, then this byte. */
static inline bool ht_et_expect(struct ht_et_parsing *s, char wanted)
{
	s->p = ht_skip_space(s->p);
	if (*s->p != wanted)
		return ht_et_fail_here(s);
	s->p++;
	return true;
}

struct ht_et_value {
	const char *text;
	size_t n;
	unsigned traits; /* enum ht_et_trait */
};

static inline bool ht_et_any_value(struct ht_et_parsing *s, struct ht_et_value *ret_value)
{
	unsigned traits = 0;
	bool bad = false;
	s->p = ht_skip_space(s->p);
	const char *end = ht_et_value_end(s->r, s->p, &traits, &bad);
	if (!end)
		return ht_et_fail(s, bad ? HT_ET_BAD : HT_ET_SHORT);
	*ret_value = (struct ht_et_value){ s->p, (size_t)(end - s->p), traits };
	s->p = end;
	return true;
}

/* A key and its colon. */
static inline bool ht_et_any_key(struct ht_et_parsing *s, struct ht_et_value *ret_key)
{
	unsigned traits = 0;
	s->p = ht_skip_space(s->p);
	if (*s->p != '"')
		return ht_et_fail_here(s);
	const char *end = ht_et_string_end(s->r, s->p, &traits);
	if (!end)
		return ht_et_fail(s, HT_ET_SHORT);
	*ret_key = (struct ht_et_value){ s->p + 1, (size_t)(end - s->p) - 2, traits };
	s->p = end;
	return ht_et_expect(s, ':');
}

static inline bool ht_et_is(const struct ht_et_value *value, const char *text)
{
	return strlen(text) == value->n && !memcmp(value->text, text, value->n);
}

static inline bool ht_et_is_string(const struct ht_et_value *value)
{
	return value->n >= 2 && value->text[0] == '"';
}

static inline bool ht_et_keep_string(
        struct ht_et_parsing *s, const struct ht_et_value *value, uint32_t *ret_id)
{
	return ht_et_keep(
	        s, ht_et_intern_string(s->r, value->text + 1, value->n - 2, value->traits, ret_id));
}

/* Whether the text at p begins with an interned one. */
static inline bool ht_et_begins_with(const struct ht_et_parsing *s, const char *p, uint32_t id)
{
	const struct ht_text *text = (const struct ht_text *)s->r->et->pool.texts.data + id;
	return (size_t)(s->r->end - p) >= text->n && !memcmp(p, text->bytes, text->n);
}

/* Digits of a number that ends where JSON's do; NULL when it is not of that kind, which is then read as a value. */
static inline const char *ht_et_digits_end(const char *p, uint64_t *ret_value)
{
	const char *start = p;
	uint64_t value = 0;
	while ((unsigned char)(*p - '0') < 10)
		value = value * 10 + (unsigned char)(*p++ - '0');
	*ret_value = value;
	/* nineteen digits fit into 64 bits */
	return p > start && p - start < 20 && (*p == ',' || *p == '}' || *p == ' ' || *p == '\n')
	               ? p
	               : NULL;
}

/* The list of attributes at p. */
bool ht_et_parse_attrs(struct ht_et_parsing *s);
/* Which of the ten a name is; HT_ET_N_BASE_ATTRS: none. */
size_t ht_et_base_attr(const struct ht_et_value *name);
/* Set one of the ten; *ret_fits is false when the value is not of its kind. */
bool ht_et_set_base(
        struct ht_et_parsing *s, size_t i, const struct ht_et_value *value, bool *ret_fits);
/* Keep an attribute beyond the ten, or a key of the node (type NULL). */
bool ht_et_add_extra(struct ht_et_parsing *s, const struct ht_et_value *name,
        const struct ht_et_value *type, const struct ht_et_value *value);

#endif
