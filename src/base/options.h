/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - take a caller's option struct, whatever version of it the caller was compiled with.
 *
 * Public option structs start with struct_size and grow only at their end. The library works on a copy of
 * its own size, in which the fields that the caller does not know are zero:
 *
 *     struct_size 0             the struct as it was first published; fields added later are not looked at
 *     up to ours                what the caller knows is copied, the rest is zero
 *     more than ours            a newer caller: fine while it uses nothing that we do not know
 */
#ifndef HT_BASE_OPTIONS_H
#define HT_BASE_OPTIONS_H

#include "base/status.h"

#include <string.h>

/* Fill ret_options, a struct of n_bytes, from given, which may be NULL. first_bytes is what the first
 * published version had. HT_USAGE for a size that no version can have, or for unknown fields in use. */
enum ht_status ht_options_take(ht_ctx *ctx, const char *type, const void *given, size_t first_bytes,
        void *ret_options, size_t n_bytes) HT_MUST_USE;

/* What ht_options_take wants to know behind the context. last is the last field that the first published version of the
 * struct had. */
#define HT_OPTIONS_OF(type, last, given, ret_options)                                              \
	(#type), (const struct type *)(given),                                                     \
	        offsetof(struct type, last) + sizeof(((struct type *)NULL)->last),                 \
	        (struct type *)(ret_options), sizeof(struct type)

#define HT_OPTIONS_TAKE(ctx, type, last, given, ret_options)                                       \
	ht_options_take((ctx), HT_OPTIONS_OF(type, last, given, ret_options))

/* The other way: fill in a caller's struct of any version from ours. Never beyond its struct_size, which stays. */
static inline void ht_options_give(
        void *ret_struct, size_t first_bytes, const void *ours, size_t n_bytes)
{
	size_t asked, own = sizeof asked;
	memcpy(&asked, ret_struct, own);
	size_t n = asked ? asked : first_bytes;
	n = n < n_bytes ? n : n_bytes;
	if (n > own)
		memcpy((char *)ret_struct + own, (const char *)ours + own, n - own);
}

/* last is the last field that the first published version of the struct had. */
#define HT_OPTIONS_GIVE(type, last, ours, ret_struct)                                              \
	ht_options_give((struct type *)(ret_struct),                                               \
	        offsetof(struct type, last) + sizeof(((struct type *)NULL)->last),                 \
	        (const struct type *)(ours), sizeof(struct type))

#endif
