/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - sentences from templates and values.
 *
 *   {wait}            the value of that name as people read it: 69.3 ms, 12 %, 1.50 GiB, a name as it is
 *   {share.1}         a share with one digit behind the point: 12.4 %
 *   {n:step}          a number and its noun: 1 step, 5 steps; {n:activity|activities} where the plural is another word
 *   [, mostly {name}] left out when a value in it is absent; groups nest
 *   [{?name}…] [{!name}…]  left out unless the value is there, or absent; nothing is written for it
 *
 * A value outside of groups that is absent is "n/a". A backslash makes the next byte plain.
 */
#ifndef HT_MODEL_TEMPLATE_H
#define HT_MODEL_TEMPLATE_H

#include "holotrace.h"

#include "base/arena.h"

/* The text, in the arena; NULL when out of memory. Separators that groups left at the front are dropped. */
const char *ht_template_fill(struct ht_arena *arena, const char *text,
        const struct ht_note_value *values, size_t n_values);

#endif
