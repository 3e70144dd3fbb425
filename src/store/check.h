/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what a trace is made of, and whether one is sound: can every reader follow every number in it
 * without leaving an array or walking in circles?
 *
 * Asked of what comes from outside, a cache file. It says nothing about whether the numbers are right.
 */
#ifndef HT_STORE_CHECK_H
#define HT_STORE_CHECK_H

#include "store/sections.h"

struct ht_step;

/* The sections of struct ht_trace. */
extern const struct ht_sections ht_trace_sections;

/* Are the times of a step such as reading makes them? Analyses reckon with them. */
bool ht_step_is_sound(const struct ht_step *step);

#endif
