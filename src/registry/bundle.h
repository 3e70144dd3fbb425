/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - the parts of some ranks together with all that finishing needs; bundle.c makes, merges and
 * finishes them, bundle_file.c turns them into bytes and back.
 */
#ifndef HT_REGISTRY_BUNDLE_H
#define HT_REGISTRY_BUNDLE_H

#include "registry/question.h"
#include "registry/registry.h"

struct ht_bundle {
	struct ht_mem *mem;
	struct ht_arena arena; /* owns all texts and lists */
	struct ht_question question;
	size_t n_sets;
	struct ht_roster rosters[HT_MAX_SETS];
	const char *steps[HT_MAX_SETS]; /* what was chosen when the parts were made */
	bool one_step
	        [HT_MAX_SETS]; /* some were made of ranks that together had one step, which is not cut off */
	struct ht_set_facts *facts_of[HT_MAX_SETS]; /* NULL: not needed */
	struct ht_parts parts;
	/* Of joined sets: a hash of their descriptions, which is the same for all that may be merged; the rosters
	 * are empty then, as finishing has the sets. 0: the rosters are here. */
	uint64_t joined_hash;
	struct ht_parts calls; /* communication calls of all ranks, where finishing needs clocks */
};

#endif
