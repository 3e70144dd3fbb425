/*
 * memo.h - what several runs over one set share: computed by the first, found by the others.
 *
 * A value lies in an arena of its own and never changes once it is kept, so it is read without a lock. A memo
 * only saves time: what cannot be kept is computed again.
 */
#ifndef HT_BASE_MEMO_H
#define HT_BASE_MEMO_H

#include "base/mem.h"

#include <pthread.h>

struct ht_memo_key {
	const void *of;   /* what it is computed from */
	const void *kind; /* the address of something that only its maker has */
	uint32_t variant;
};

struct ht_memo_entry;
struct ht_memo {
	pthread_mutex_t lock;
	struct ht_memo_entry *last;
};

void ht_memo_init(struct ht_memo *memo);
void ht_memo_done(struct ht_memo *memo);

/* NULL: nobody kept it yet. */
const void *ht_memo_find(struct ht_memo *memo, struct ht_memo_key key);
/* Keep value and take over the arena that it lies in. The answer is value, or what another thread kept
 * first; NULL when out of memory, and the arena is freed then. */
const void *ht_memo_keep(
        struct ht_memo *memo, struct ht_memo_key key, struct ht_arena *arena, const void *value);

#endif
