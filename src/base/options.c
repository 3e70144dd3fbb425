/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - see options.h.
 */
#include "base/options.h"

#include <string.h>

/* No struct grows so large: a size beyond it is memory that nobody set. */
#define MAX_BYTES 4096

static bool any_set(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return true;
	return false;
}

enum ht_status ht_options_take(ht_ctx *ctx, const char *type, const void *given, size_t first_bytes,
        void *ret_options, size_t n_bytes)
{
	size_t given_bytes = 0;
	if (given)
		memcpy(&given_bytes, given, sizeof given_bytes);
	if (given && !given_bytes)
		given_bytes = first_bytes;
	if (given && (given_bytes < first_bytes || given_bytes > MAX_BYTES))
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "zero the struct, then set struct_size to its sizeof",
		        "struct %s: struct_size cannot be %zu", type, given_bytes);
	if (given_bytes > n_bytes &&
	        any_set((const unsigned char *)given + n_bytes, given_bytes - n_bytes))
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "use a newer library, or leave the newer options at zero",
		        "struct %s: an option is set that version %s does not know", type,
		        ht_version());
	size_t known_bytes = given_bytes < n_bytes ? given_bytes : n_bytes;
	memset(ret_options, 0, n_bytes);
	if (given)
		memcpy(ret_options, given, known_bytes);
	memcpy(ret_options, &n_bytes, sizeof n_bytes);
	return HT_OK;
}
