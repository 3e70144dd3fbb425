/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - how the ranks of a set are read again: options and rules as they were, shared by the sets that the
 * rank belongs to.
 */
#ifndef HT_READ_RELOAD_H
#define HT_READ_RELOAD_H

#include "store/kernel_rules.h"
#include "store/set.h"

/* What joins the ranks from other files, made by who asks first (attach/attach.h); lock guards it. */
struct ht_joined {
	pthread_mutex_t lock;
	void *data; /* NULL: nobody has asked */
	void (*free)(void *data);
};

/* Immutable once made, but for what joins the ranks; the last set to go frees it. */
struct ht_reload {
	atomic_int n_refs;
	struct ht_mem *mem;
	struct ht_arena arena; /* owns what the rest points to */
	struct ht_open_options options;
	struct ht_kernel_rules rules;
	struct ht_joined joined;
};

/* Keeps what the options point to, and reads the rules that they name. */
enum ht_status ht_reload_new(ht_ctx *ctx, const struct ht_open_options *options,
        struct ht_reload **ret_reload) HT_MUST_USE;
struct ht_reload *ht_reload_retain(struct ht_reload *reload);
void ht_reload_release(struct ht_reload *reload);

/* Make a set read its ranks again in these ways, one per rank; it takes over the list, which is in its arena, and
 * the references in it. */
void ht_reload_use(struct ht_set *set, struct ht_reload **list);
/* That of a rank; NULL when the set was not opened from files. */
struct ht_reload *ht_reload_of(const struct ht_set *set, size_t i);

#endif
