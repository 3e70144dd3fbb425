/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_make.h - the first and the last steps of making a set, whether of files (open.c) or of other sets (join.c).
 */
#ifndef HT_READ_SET_MAKE_H
#define HT_READ_SET_MAKE_H

#include "store/set.h"

/* A set without ranks, to be filled; ended by ht_close in any case. */
enum ht_status ht_set_new(ht_ctx *ctx, struct ht_set **ret_set) HT_MUST_USE;
/* When ranks are in, in order: clock, losses, notes (a vector of const char *, in the set's arena) and what runs share. */
enum ht_status ht_set_finish(ht_ctx *ctx, struct ht_set *set, struct ht_vec *notes) HT_MUST_USE;

#endif
