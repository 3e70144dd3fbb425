/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_groups.h - the process groups that an execution trace declares.
 *
 * "## process_group:init ##" carries a JSON text: a list of objects with pg_name, pg_desc, backend_config, ranks,
 * group_size and group_count. An empty list of ranks means all of them.
 */
#ifndef HT_ET_ET_GROUPS_H
#define HT_ET_ET_GROUPS_H

#include "et/et.h"

struct ht_et_group {
	const char *name, *description, *backend; /* NULL when absent */
	const char *ranks;                        /* JSON list */
	int64_t size, count;                      /* -1 when absent */
	uint32_t node;                            /* row that declares it */
	bool is_repeated;                         /* the node declares that name before, too */
};

struct ht_et_groups {
	struct ht_et_group *list;
	size_t n;
	size_t n_bad; /* declarations that are no JSON */
	uint32_t first_bad;
	/* by name: place of the first group of it, and of the last one, plus 1; 0: free */
	struct ht_et_group_slot {
		uint32_t first_1, last_1;
	} * slots;
	size_t n_slots; /* a power of two */
};

/* All groups in file order; memory is the arena's. */
enum ht_status ht_et_groups_find(ht_ctx *ctx, const struct ht_et *et, struct ht_arena *arena,
        struct ht_et_groups *ret_groups) HT_MUST_USE;
/* The first of that name, or NULL. */
const struct ht_et_group *ht_et_group_of(const struct ht_et_groups *groups, const char *name);
bool ht_et_is_group_init(const struct ht_et *et, uint32_t row);
/* The text of a JSON string, decoded, in the arena; NULL for anything else or when out of memory. */
char *ht_et_decode(struct ht_arena *arena, const char *text, size_t n);

#endif
