/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_rules.h - which class a piece of GPU work has, by name: a table that users can extend.
 *
 * Copies and sets are told by category; the rules decide about kernels, and the first match wins:
 * the user's rules first, then kernel_rules.def, then compute. A rule file has one rule per line,
 *
 *     comm  prefix    my_allreduce_
 *     comm  contains  nvshmem
 *     sync  exact     wait_flag
 *
 * with # for comments. Classes: compute comm memcpy memset sync.
 */
#ifndef HT_STORE_KERNEL_RULES_H
#define HT_STORE_KERNEL_RULES_H

#include "base/status.h"
#include "store/event.h"

enum ht_name_match { HT_MATCH_PREFIX, HT_MATCH_CONTAINS, HT_MATCH_EXACT };

struct ht_kernel_rule {
	uint8_t class_, match;
	const char *text;
};

struct ht_kernel_rules {
	const struct ht_kernel_rule *user; /* NULL: none */
	size_t n_user;
	uint64_t hash; /* of the user's rules, part of the cache key */
};

/* Read a rule file into the arena. */
enum ht_status ht_kernel_rules_read(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        struct ht_kernel_rules *ret_rules) HT_MUST_USE;
enum ht_class ht_kernel_class(const struct ht_kernel_rules *rules, const char *name);

#endif
