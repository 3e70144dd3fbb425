/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab.h - room for large blocks, side by side in huge pages.
 *
 * A block by itself has huge pages only as far as whole ones fit into it, and the columns of a trace are some
 * hundred blocks of less than a few of them. So blocks are cut one after the other from slabs that are many huge
 * pages long. Each is a block of its own from then on: it is unmapped, moved and grown by itself, as its first and
 * last pages are nobody else's. What nobody touches takes no memory.
 *
 * Little is saved where little is used, and a huge page may be more than all of it: the first blocks are not for here.
 */
#ifndef HT_BASE_SLAB_H
#define HT_BASE_SLAB_H

#include <pthread.h>
#include <stddef.h>

struct ht_slab {
	pthread_mutex_t lock;
	char *next; /* what is left of the slab in hand */
	size_t n_left;
};

void ht_slab_init(struct ht_slab *slab);
/* Nothing of what was cut may be in use. */
void ht_slab_done(struct ht_slab *slab);
/* Give back what is left of the slab in hand: a huge page of it may be in memory already. The next block begins another. */
void ht_slab_drop(struct ht_slab *slab);
/* A block of n bytes, zeroed, to be unmapped by its user; NULL where there are no huge pages or no memory. Any thread
 * may ask. */
void *ht_slab_cut(struct ht_slab *slab, size_t n);

#endif
