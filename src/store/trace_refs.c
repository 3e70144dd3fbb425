/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_refs.c - see trace_refs.h.
 */
#include "store/trace_refs.h"

#include "base/mem.h"
#include "store/check.h"
#include "store/trace.h"
#include "base/map.h"

#include <string.h>

struct ht_trace *ht_trace_retain(struct ht_trace *t)
{
	atomic_fetch_add(&ht_more(t)->n_sharers, 1);
	return t;
}

bool ht_trace_rest(const struct ht_trace *t)
{
	return ht_map_rest(&t->more->map);
}

uint64_t ht_trace_bytes(const struct ht_trace *t)
{
	return t->more->map.bytes ? t->more->map.n : ht_sections_bytes(&ht_trace_sections, t);
}

void ht_trace_release(const struct ht_trace *shared)
{
	struct ht_trace *t = (struct ht_trace *)(uintptr_t)shared;
	if (!t || atomic_fetch_sub(&ht_more(t)->n_sharers, 1) > 0)
		return;
	struct ht_mem *mem = t->more->mem;
	if (t->more->map.bytes)
		ht_map_close(&ht_more(t)->map);
	else
		ht_sections_free(&ht_trace_sections, t, mem);
	if (t->path)
		ht_mem_free(mem, t->path, strlen(t->path) + 1);
	ht_mem_free(mem, t, sizeof(struct ht_whole_trace));
	ht_mem_release(mem);
}
