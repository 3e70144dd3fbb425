/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses.h - names without the addresses of objects, which are others in each process and often in each call.
 *
 *     "<built-in method mm of type object at 0x7f31c0d2a0e0>"   ->   "<built-in method mm of type object>"
 */
#ifndef HT_MODEL_ROWS_ADDRESSES_H
#define HT_MODEL_ROWS_ADDRESSES_H

#include "base/arena.h"
#include "base/vec.h"

/* The text itself where it has none, else a copy in room, alive until the next call with it; NULL when out of memory. */
const char *ht_without_addresses(struct ht_mem *mem, struct ht_vec *room, const char *text);
/* The text itself where it has none, else a copy in the arena; NULL when out of memory. */
const char *ht_copy_without_addresses(struct ht_arena *arena, const char *text);

#endif
