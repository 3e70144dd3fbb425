/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - numbers for nodes, tensors and memory: one counter, as PyTorch has it.
 *
 * An address keeps its number for the whole recording, whatever lies there, unless it is forgotten.
 */
#ifndef HT_RECORD_IDS_H
#define HT_RECORD_IDS_H

#include "base/vec.h"

struct ht_ids {
	struct ht_mem *mem;
	uint64_t *keys, *ids; /* open addressing; key 0: free */
	size_t cap, n;
	uint64_t n_given;    /* numbers so far */
	uint64_t generation; /* how often something was forgotten */
};

/* The number of an address, a new one when it is met first. False when out of memory. */
bool ht_ids_of(struct ht_ids *ids, uint64_t address, uint64_t *ret_id);
/* What comes to this address next is another thing. */
void ht_ids_forget(struct ht_ids *ids, uint64_t address);
void ht_ids_done(struct ht_ids *ids);

#endif
