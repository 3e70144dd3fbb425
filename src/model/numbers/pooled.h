/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pooled.h - numbers grouped by texts: in one rank, over ranks, and of two sides.
 *
 * A group has some texts as its key (any may be missing) and some integers, each of which is pooled by a rule: sums,
 * smallest, largest, whether any. Ranks write their groups into a table of a part and finish pools these; the rules do
 * not care about order, so parts can come in any grouping.
 *
 *     keys           values
 *     "mm" "[2,3]"   calls  ns ...
 */
#ifndef HT_MODEL_NUMBERS_POOLED_H
#define HT_MODEL_NUMBERS_POOLED_H

#include "base/intern.h"
#include "model/part.h"

enum ht_pool_rule {
	HT_POOL_SUM,
	HT_POOL_SUM_WIDE, /* beyond 64 bits: two columns in tables */
	HT_POOL_MIN,
	HT_POOL_MAX,
	HT_POOL_ANY, /* a flag: 0 or 1 */
};

#define HT_POOL_MAX_KEYS   16
#define HT_POOL_MAX_VALUES 32

struct ht_pooled {
	struct ht_run *run;
	size_t n_keys, n_values; /* per group, and values of each side */
	size_t n_sides;
	const uint8_t *rules;         /* enum ht_pool_rule, one per value */
	struct ht_pool texts, tuples; /* tuples are the groups: by their ids */
	struct ht_vec values;         /* __int128: group, then side, then value */
};

/* rules has n_values entries and stays the caller's. End it with done, also after a failure. */
void ht_pooled_init(struct ht_pooled *pooled, struct ht_run *run, size_t n_keys, size_t n_sides,
        const uint8_t *rules, size_t n_values);
void ht_pooled_done(struct ht_pooled *pooled);
/* The number of a text; NULL has HT_NONE. False when out of memory. */
bool ht_pooled_text(struct ht_pooled *pooled, const char *text, uint32_t *ret_text);
/* The text of such a number; it ends with a byte of 0. */
const char *ht_pooled_text_at(const struct ht_pooled *pooled, uint32_t text);
/* The same for the id of a string in a trace, HT_NO_STR is ""; known has an entry per string of it, 0 until that string
 * is asked for, and saves looking for it again. */
bool ht_pooled_name(struct ht_pooled *pooled, const struct ht_trace *trace, uint32_t id,
        uint32_t *known, uint32_t *ret_text);
/* The group of these texts, made when it is new; false when out of memory. */
bool ht_pooled_group(struct ht_pooled *pooled, const uint32_t *texts, size_t *ret_group);
static inline size_t ht_pooled_n(const struct ht_pooled *pooled)
{
	return pooled->tuples.texts.n;
}
/* Pool all values of something into a group, and read one. What nothing was pooled into is 0. */
void ht_pooled_add(struct ht_pooled *pooled, size_t group, size_t side, const __int128 *values);
__int128 ht_pooled_value(const struct ht_pooled *pooled, size_t group, size_t side, size_t value);
/* The same within 64 bits. */
int64_t ht_pooled_i64(const struct ht_pooled *pooled, size_t group, size_t side, size_t value);
/* Whether anything was pooled into a group on this side. */
bool ht_pooled_has(const struct ht_pooled *pooled, size_t group, size_t side);
/* NULL for a text that is missing. */
const char *ht_pooled_key(const struct ht_pooled *pooled, size_t group, size_t key);

/* Append the groups of side 0 to the table of a part: the keys, then the values, by the texts of the keys. */
enum ht_status ht_pooled_put(const struct ht_pooled *pooled, ht_table *table) HT_MUST_USE;
/* Pool the k-th tables of all parts, those of side s into side s. */
enum ht_status ht_pooled_parts(
        struct ht_pooled *pooled, const struct ht_parts *parts, size_t k) HT_MUST_USE;
/* The groups by the texts of their keys; memory in scratch, NULL when out of it. */
size_t *ht_pooled_order(const struct ht_pooled *pooled);

#endif
