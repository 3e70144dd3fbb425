/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_reader.h - what the files that read execution traces share; for this folder only.
 */
#ifndef HT_ET_ET_READER_H
#define HT_ET_ET_READER_H

#include "et/et.h"
#include "et/et_habit.h"
#include "et/et_number.h"

enum ht_et_parse {
	HT_ET_PARSED,
	HT_ET_SHORT,  /* the text in hand ends before the item does */
	HT_ET_BAD,    /* this is no such item */
	HT_ET_FAILED, /* out of memory */
};

/* What a string or an array has in its text. */
enum ht_et_trait {
	HT_ET_ESCAPED = 1,  /* backslashes */
	HT_ET_CONTROLS = 2, /* control characters; told of strings only */
};

struct ht_et_reader {
	ht_ctx *ctx;
	struct ht_et *et;
	const char *text, *end; /* in hand; zeros from end on */
	int64_t base;           /* offset of text in the file */
	struct ht_vec scratch;  /* char, for decoding */
	struct ht_vec
	        lists; /* uint32_t by string id of types: 1 + where its steps begin; 0: not looked at */
	struct ht_vec steps;     /* char (et_tensors.c) */
	struct ht_vec custom_of; /* uint32_t by string id of a name: 1 + row of customs; 0: none */
	struct ht_vec customs;   /* struct ht_et_custom */
	size_t last_custom_1;    /* 1 + row of that of the last name; 0: none */
	struct ht_et_habit *habit;
	const char *reach;    /* how far a node that failed was looked at */
	uint64_t n_failed;    /* bytes looked at for nothing so far */
	uint32_t last_device; /* of the last tensor */
	bool out_of_memory;   /* noticed where nothing can be answered */
};

static inline void ht_et_count(
        struct ht_et_reader *r, enum ht_et_stat_code code, uint64_t n, const char *at)
{
	struct ht_et_stat *stat = &r->et->stats[code];
	if (!stat->count)
		stat->first_offset = r->base + (at - r->text);
	stat->count += n;
}

/* What was looked at, up to p, is no text of its kind. */
static inline const char *ht_et_give_up(struct ht_et_reader *r, const char *p)
{
	if (p > r->reach)
		r->reach = p;
	return NULL;
}

/* The id of a text; false when out of memory. */
bool ht_et_intern(struct ht_et *et, const char *text, size_t n, uint32_t *ret_id);

/* Behind the string whose opening quote is at p; NULL when the text ends first. */
const char *ht_et_string_end(struct ht_et_reader *r, const char *p, unsigned *ret_traits);
/* Behind any value at p; NULL with *ret_bad or because the text ends. An array of arguments holds no objects. */
const char *ht_et_value_end(
        struct ht_et_reader *r, const char *p, unsigned *ret_traits, bool *ret_bad);
/* enum ht_et_trait of a string's body that is not as JSON has it; its backslashes mean nothing. */
unsigned ht_et_raw_traits(const char *body, size_t n);
/* A string's body or a JSON text as string id, repaired where the writer is known to spoil it. */
bool ht_et_intern_string(
        struct ht_et_reader *r, const char *body, size_t n, unsigned traits, uint32_t *ret_id);
bool ht_et_intern_json(
        struct ht_et_reader *r, const char *text, size_t n, unsigned traits, uint32_t *ret_id);
/* A JSON text without escapes whose ht_hash is known. */
bool ht_et_intern_array(
        struct ht_et_reader *r, const char *text, size_t n, uint64_t hash, uint32_t *ret_id);
/* The node whose brace is at *at, appended to the store; *at moves behind it. */
enum ht_et_parse ht_et_parse_node(struct ht_et_reader *r, const char **at);
/* Tensors of a finished node. False when out of memory. */
bool ht_et_add_tensors(struct ht_et_reader *r, struct ht_et_node *node, uint32_t row);

/* Read Chakra's messages. */
enum ht_status ht_et_read_chakra(ht_ctx *ctx, const char *bytes, size_t n, struct ht_et *et);

#endif
