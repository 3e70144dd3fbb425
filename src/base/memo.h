/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memo.h - what several runs over one set share: computed by the first, found by the others.
 *
 * A value lies in an arena of its own and never changes once it is kept, so it is read without a lock. A memo
 * only saves time: what cannot be kept, or is beyond HT_MEMO_MAX_BYTES together, is computed again.
 */
#ifndef HT_BASE_MEMO_H
#define HT_BASE_MEMO_H

#include "base/arena.h"

#include <pthread.h>

#define HT_MEMO_MAX_BYTES ((size_t)128 << 20)

struct ht_memo_key {
	size_t of;        /* what it is computed from: the position of a rank */
	const void *kind; /* the address of something that only its maker has */
	uint32_t variant;
};

struct ht_memo_entry;
struct ht_memo {
	struct ht_mem *mem;
	pthread_mutex_t lock;
	/* by hash of the key; a few at first, then room that grows with the entries */
	struct ht_memo_entry *few[8];
	struct ht_memo_entry **slots; /* NULL: the few */
	size_t n_slots, n;
	size_t n_bytes; /* of all arenas */
};

/* What is kept lies in memory of mem. */
void ht_memo_init(struct ht_memo *memo, struct ht_mem *mem);
void ht_memo_done(struct ht_memo *memo);

/* Whether so many bytes more would be kept: what would not need not be copied first. */
bool ht_memo_has_room(struct ht_memo *memo, size_t n_bytes);
/* NULL: nobody kept it yet. */
const void *ht_memo_find(struct ht_memo *memo, struct ht_memo_key key);
/* Keep value and take over the arena that it lies in. The answer is value, or what another thread kept
 * first; NULL when there is no room, and the arena stays the caller's then. */
const void *ht_memo_keep(
        struct ht_memo *memo, struct ht_memo_key key, struct ht_arena *arena, const void *value);

#endif
