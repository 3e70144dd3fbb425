/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - see builder.h.
 */
#include "store/builder.h"

#include "store/trace.h"
#include "store/trace_meta.h"

bool ht_builder_header(
        struct ht_builder *b, const char *key, size_t n_key, const char *value, size_t n_value)
{
	struct ht_text key_text, value_text;
	if (!ht_pool_add(&b->strings, key, n_key, ht_hash(key, n_key), &key_text) ||
	        !ht_pool_add(&b->strings, value, n_value, ht_hash(value, n_value), &value_text))
		return false;
	struct ht_header header = { .key = key_text.id, .value = value_text.id };
	return HT_VEC_PUSH(b->mem, &b->all.headers, struct ht_header, header);
}
