/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - see ids.h.
 */
#include "record/ids.h"

#include "base/hash.h"
#include "base/mem.h"

static bool grow(struct ht_ids *ids)
{
	struct ht_mem *mem = ids->mem;
	size_t cap = ids->cap ? ids->cap * 2 : 1024;
	uint64_t *keys = ht_mem_zalloc(mem, cap * sizeof *keys);
	uint64_t *numbers = ht_mem_alloc(mem, cap * sizeof *numbers);
	if (!keys || !numbers) {
		ht_mem_free(mem, keys, cap * sizeof *keys);
		ht_mem_free(mem, numbers, cap * sizeof *numbers);
		return false;
	}
	for (size_t i = 0; i < ids->cap; i++) {
		if (!ids->keys[i])
			continue;
		size_t j = HT_PROBE(at, cap, ids->keys[i], !keys[at]);
		keys[j] = ids->keys[i];
		numbers[j] = ids->ids[i];
	}
	ht_mem_free(mem, ids->keys, ids->cap * sizeof *keys);
	ht_mem_free(mem, ids->ids, ids->cap * sizeof *numbers);
	ids->keys = keys;
	ids->ids = numbers;
	ids->cap = cap;
	return true;
}

/* Where an address is or belongs. 0 marks what is free, so it stands for itself as another. */
static size_t slot_of(const struct ht_ids *ids, uint64_t *address)
{
	*address = *address ? *address : UINT64_MAX;
	return HT_PROBE(at, ids->cap, *address, !ids->keys[at] || ids->keys[at] == *address);
}

bool ht_ids_of(struct ht_ids *ids, uint64_t address, uint64_t *ret_id)
{
	if (ids->n * 2 >= ids->cap && !grow(ids))
		return false;
	size_t i = slot_of(ids, &address);
	if (!ids->keys[i] || !ids->ids[i]) {
		ids->n += !ids->keys[i];
		ids->keys[i] = address;
		ids->ids[i] = ++ids->n_given;
	}
	*ret_id = ids->ids[i];
	return true;
}

void ht_ids_forget(struct ht_ids *ids, uint64_t address)
{
	if (!ids->cap)
		return;
	size_t i = slot_of(ids, &address);
	if (!ids->keys[i])
		return;
	ids->ids[i] = 0;
	ids->generation++;
}

void ht_ids_done(struct ht_ids *ids)
{
	ht_mem_free(ids->mem, ids->keys, ids->cap * sizeof *ids->keys);
	ht_mem_free(ids->mem, ids->ids, ids->cap * sizeof *ids->ids);
}
