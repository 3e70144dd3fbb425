/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_habit.h - what the nodes of one file have in common, so that they need not be taken apart again.
 *
 * A writer spells the keys of every node alike. The text from the end of one value to the start of the next is
 * remembered by its place in the node together with what it means; a node whose text is the same there goes on
 * with its value at once. Operators of one name have the same types and often the same shapes: these texts are
 * remembered by the name and compared with what comes before its end is looked for.
 *
 * Nothing here decides what a text means: what is not as remembered is read by its keys.
 */
#ifndef HT_ET_ET_HABIT_H
#define HT_ET_ET_HABIT_H

#include "json/block_base.h"

/* Longer ones, of deep indentation, are not remembered. */
#define HT_ET_LITERAL_BYTES 192
#define HT_ET_N_PLACES      24

/* Containers whose members have places. */
enum ht_et_level { HT_ET_LEVEL_NODE, HT_ET_LEVEL_IO, HT_ET_LEVEL_ATTRS, HT_ET_N_LEVELS };

struct ht_et_place {
	uint16_t n;             /* bytes of text; 0: nothing remembered */
	uint16_t key_at, n_key; /* where the key is in it */
	uint8_t field;          /* what it means, in the numbers of the level */
	uint32_t name, type;    /* string ids of an attribute beyond the ten */
	char text[HT_ET_LITERAL_BYTES];
};

struct ht_et_habit {
	struct ht_et_place places[HT_ET_N_LEVELS][HT_ET_N_PLACES];
};

/* Strings and arrays of the last node of a name: inputs, outputs, and the attributes that are strings. */
struct ht_et_custom {
	uint32_t io[8];
	uint32_t strings[4];
	uint32_t next_name; /* of the node that came then */
};

/* What is remembered for this place when the text at p is that, else NULL. */
static inline const struct ht_et_place *ht_et_habit_find(
        const struct ht_et_habit *habit, enum ht_et_level level, size_t place, const char *p)
{
	if (place >= HT_ET_N_PLACES)
		return NULL;
	const struct ht_et_place *known = &habit->places[level][place];
	return known->n && ht_same_text(p, known->text, known->n) ? known : NULL;
}

/* Remember the text from start to end, its key and meaning. */
static inline struct ht_et_place *ht_et_habit_learn(struct ht_et_habit *habit,
        enum ht_et_level level, size_t place, const char *start, const char *end, const char *key,
        size_t n_key, uint8_t field)
{
	size_t n = (size_t)(end - start);
	if (place >= HT_ET_N_PLACES || n > HT_ET_LITERAL_BYTES)
		return NULL;
	struct ht_et_place *known = &habit->places[level][place];
	known->n = (uint16_t)n;
	known->key_at = (uint16_t)(key - start);
	known->n_key = (uint16_t)n_key;
	known->field = field;
	memcpy(known->text, start, n);
	return known;
}

#endif
