/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - access to a sealed trace; see trace.h.
 */
#include "store/trace.h"

#include "base/hash.h"
#include "base/search.h"
#include "store/trace_meta.h"

#include <string.h>

const char *ht_str(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? "" : t->string_bytes + t->string_offsets[id];
}

size_t ht_str_len(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? 0
	                       : (size_t)(t->string_offsets[id + 1] - t->string_offsets[id] - 1);
}

static bool is_text(const struct ht_trace *t, uint32_t id, const char *text, size_t n)
{
	return ht_str_len(t, id) == n && memcmp(ht_str(t, id), text, n) == 0;
}

uint32_t ht_str_find(const struct ht_trace *t, const char *text)
{
	size_t n = strlen(text);
	if (!t->n_string_index)
		return HT_NO_STR;
	const uint32_t *ids = t->string_index;
	return ids[HT_PROBE_FROM(at, t->n_string_index,
	        ht_hash_place(ht_hash(text, n), t->meta->string_salt),
	        ids[at] == HT_NO_STR || is_text(t, ids[at], text, n))];
}

/* Bytes that differ have a bit in them set; eight are looked at at once. */
size_t ht_n_of_kind(const struct ht_trace *t, enum ht_kind kind)
{
	const uint64_t ones = 0x0101010101010101, low = 0x7f * ones;
	size_t n = 0, i = 0, n_rows = ht_n_events(t);
	for (; i + sizeof ones <= n_rows; i += sizeof ones) {
		uint64_t bytes;
		memcpy(&bytes, t->kind + i, sizeof bytes);
		bytes ^= ones * (uint64_t)kind;
		/* the highest bit of each byte: whether it has any */
		uint64_t differ = (((bytes & low) + low) | bytes) & ~low;
		/* the product adds them up in its highest byte */
		n += sizeof ones - (size_t)((differ >> 7) * ones >> 56);
	}
	for (; i < n_rows; i++)
		n += t->kind[i] == kind;
	return n;
}

const char *ht_cat(const struct ht_trace *t, uint32_t row)
{
	return ht_str(t, t->categories[t->cat[row]].name);
}

/* ---- links ---- */

const struct ht_device *ht_trace_device(const struct ht_trace *trace, int64_t id)
{
	size_t at = HT_LOWER_BOUND(i, trace->more->n_devices, trace->more->devices[i].id < id);
	return at < trace->more->n_devices && trace->more->devices[at].id == id
	               ? &trace->more->devices[at]
	               : NULL;
}

const struct ht_gpu *ht_gpu_of_row(const struct ht_trace *t, uint32_t row)
{
	size_t low = HT_LOWER_BOUND(at, t->n_gpu, t->gpu[at].row < row);
	return low < t->n_gpu && t->gpu[low].row == row ? &t->gpu[low] : NULL;
}

const struct ht_gpu *ht_gpu_of_row_near(const struct ht_trace *t, uint32_t row, size_t *at)
{
	*at = HT_LOWER_BOUND_NEAR(i, t->n_gpu, *at, t->gpu[i].row < row);
	return *at < t->n_gpu && t->gpu[*at].row == row ? &t->gpu[*at] : NULL;
}

void ht_launch_gpus(
        const struct ht_trace *t, uint32_t launch_row, const uint32_t **ret_gpus, size_t *ret_n)
{
	size_t low = HT_LOWER_BOUND(at, t->n_launch_rows, t->launch_rows[at] < launch_row);
	bool found = low < t->n_launch_rows && t->launch_rows[low] == launch_row;
	*ret_gpus = found ? t->launch_gpu + t->launch_offsets[low] : NULL;
	*ret_n = found ? t->launch_offsets[low + 1] - t->launch_offsets[low] : 0;
}
