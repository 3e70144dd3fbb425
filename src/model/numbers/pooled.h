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
 *
 * What is pooled has its keys set, then its values, each once and by its number, as cells are put into a row of a table: one
 * that is forgotten or set twice is a fault of the analysis, and ht_pooled_put fails the table with HT_INTERNAL that
 * names the column.
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

/* The values of a group are one list, as columns are (table.h), with their rules:
 *
 *     #define VALUES(VALUE)                                                                       \
 *             VALUE(OP_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "events", NULL)                   \
 *             VALUE(OP_AREA, SUM_WIDE, "area", HT_I64, HT_MEASURE, "blocks times duration", NULL)
 *     HT_COLUMN_NUMBERS(VALUES, N_VALUES);
 *     static const uint8_t rules[N_VALUES] = HT_POOL_RULES(VALUES);
 *     static const struct ht_column columns[] = HT_POOL_COLUMNS(KEYS, VALUES);
 *
 * where KEYS is a list of columns. A wide value is two of them, area_high and area_low. */
#define HT_POOL_RULE(number, rule, ...) HT_POOL_##rule,
#define HT_POOL_RULES(values)                                                                      \
	{                                                                                          \
		values(HT_POOL_RULE)                                                               \
	}
#define HT_POOL_COLUMN(number, rule, ...) HT_POOL_COLUMN_##rule(__VA_ARGS__)
#define HT_POOL_COLUMN_SUM(...)           { __VA_ARGS__ },
#define HT_POOL_COLUMN_MIN(...)           { __VA_ARGS__ },
#define HT_POOL_COLUMN_MAX(...)           { __VA_ARGS__ },
#define HT_POOL_COLUMN_ANY(...)           { __VA_ARGS__ },
#define HT_POOL_COLUMN_SUM_WIDE(name, type, role, sentence, unit)                                  \
	{ name "_high", type, role, sentence ", upper 64 bits", unit },                            \
	        { name "_low", type, role, "and lower", unit },
#define HT_POOL_COLUMNS(keys, values)                                                              \
	{                                                                                          \
		keys(HT_COLUMN_ENTRY) values(HT_POOL_COLUMN)                                       \
	}
#define HT_POOL_KEY_WIDTH(...)           +1
#define HT_POOL_WIDTH(number, rule, ...) +1 + (HT_POOL_##rule == HT_POOL_SUM_WIDE)
/* How many columns that is. */
#define HT_POOL_N_COLUMNS(keys, values) (0 keys(HT_POOL_KEY_WIDTH) values(HT_POOL_WIDTH))

/* What is to be pooled next. How often a key or value was set is a number of two bits, at twice its own number: those of
 * all are one sum, which the compiler adds up. */
struct ht_pool_item {
	uint64_t keys_set, values_set;
	uint32_t texts[HT_POOL_MAX_KEYS];
	__int128 values[HT_POOL_MAX_VALUES];
};

struct ht_pooled {
	struct ht_run *run;
	size_t n_keys, n_values; /* per group, and values of each side */
	size_t n_sides;
	const uint8_t *rules;         /* enum ht_pool_rule, one per value */
	struct ht_pool texts, tuples; /* tuples are the groups: by their ids */
	struct ht_vec values;         /* __int128: group, then side, then value */
	struct ht_pool_item next;
	size_t bad_column; /* 1 + that of the first key or value that was not set once; 0: none */
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
/* A key of what is to be pooled: the number of a text, HT_NONE where it has none. */
static inline void ht_pooled_set_key(struct ht_pooled *pooled, size_t key, uint32_t text)
{
	pooled->next.keys_set += (uint64_t)1 << 2 * key;
	pooled->next.texts[key] = text;
}
/* The same by its text, which may be NULL; false when out of memory. */
bool ht_pooled_set_text(struct ht_pooled *pooled, size_t key, const char *text);
/* The group of these keys, made when it is new; false when out of memory. */
bool ht_pooled_group(struct ht_pooled *pooled, size_t *ret_group);
static inline size_t ht_pooled_n(const struct ht_pooled *pooled)
{
	return pooled->tuples.texts.n;
}
/* A value of what is to be pooled. */
static inline void ht_pooled_set(struct ht_pooled *pooled, size_t value, __int128 by)
{
	pooled->next.values_set += (uint64_t)1 << 2 * value;
	pooled->next.values[value] = by;
}
/* Pool these values into a group, and read one of a group. What nothing was pooled into is 0. */
void ht_pooled_add(struct ht_pooled *pooled, size_t group, size_t side);
__int128 ht_pooled_value(const struct ht_pooled *pooled, size_t group, size_t side, size_t value);
/* The same within 64 bits. */
int64_t ht_pooled_i64(const struct ht_pooled *pooled, size_t group, size_t side, size_t value);
/* Whether anything was pooled into a group on this side. */
bool ht_pooled_has(const struct ht_pooled *pooled, size_t group, size_t side);
/* NULL for a text that is missing. */
const char *ht_pooled_key(const struct ht_pooled *pooled, size_t group, size_t key);

/* Append the groups of side 0 to the table of a part: the keys, then the values, by the texts of the keys. */
enum ht_status ht_pooled_put(const struct ht_pooled *pooled, ht_table *table) HT_MUST_USE;
/* One of them. */
void ht_pooled_put_group(const struct ht_pooled *pooled, size_t group, ht_table *table);
/* Pool the k-th tables of all parts, those of side s into side s. */
enum ht_status ht_pooled_parts(
        struct ht_pooled *pooled, const struct ht_parts *parts, size_t k) HT_MUST_USE;
/* The groups by the texts of their keys; memory in scratch, NULL when out of it. */
size_t *ht_pooled_order(const struct ht_pooled *pooled);

#endif
