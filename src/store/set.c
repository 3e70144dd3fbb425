/*
 * set.c - see set.h.
 */
#include "store/set.h"

#include <stdlib.h>
#include <string.h>

/* A trace without base time whose times are near today's unix time in ns. */
static bool is_absolute(const struct ht_trace *t)
{
	const int64_t year_2001_ns = 1000000000000000000;
	return t->meta->base_ns == HT_NO_I64 && t->meta->min_ts_ns > year_2001_ns;
}

void ht_set_align(struct ht_set *set)
{
	size_t n_base = 0, n_absolute = 0;
	int64_t zero = INT64_MAX;
	for (size_t i = 0; i < set->n; i++) {
		const struct ht_trace_meta *meta = set->traces[i]->meta;
		n_base += meta->base_ns != HT_NO_I64;
		n_absolute += is_absolute(set->traces[i]);
		if (meta->min_ts_ns == HT_NO_I64)
			continue;
		int64_t base = meta->base_ns == HT_NO_I64 ? 0 : meta->base_ns, first;
		if (__builtin_add_overflow(base, meta->min_ts_ns, &first))
			first = meta->min_ts_ns;
		if (first < zero)
			zero = first;
	}
	set->aligned = set->n <= 1 || n_base + n_absolute == set->n;
	set->zero_unix_ns =
	        set->n && n_base + n_absolute == set->n && zero != INT64_MAX ? zero : HT_NO_I64;
	for (size_t i = 0; i < set->n; i++) {
		const struct ht_trace_meta *meta = set->traces[i]->meta;
		int64_t base = meta->base_ns == HT_NO_I64 ? 0 : meta->base_ns;
		if (meta->min_ts_ns == HT_NO_I64)
			set->offset_ns[i] = 0;
		else if (!set->aligned || __builtin_sub_overflow(base, zero, &set->offset_ns[i]))
			set->offset_ns[i] = -meta->min_ts_ns;
	}
}

void ht_close(ht_set *set)
{
	if (!set)
		return;
	struct ht_mem *mem = set->arena.mem;
	if (set->memo)
		ht_memo_done(set->memo);
	for (size_t i = 0; i < set->n; i++)
		ht_trace_free(set->traces[i]);
	ht_arena_done(&set->arena);
	ht_mem_free(mem, set, sizeof *set);
	ht_mem_release(mem);
}

size_t ht_set_n_ranks(const ht_set *set)
{
	return set->n;
}

int64_t ht_set_rank(const ht_set *set, size_t i)
{
	return i < set->n ? set->ranks[i] : HT_NO_I64;
}

const char *ht_set_path(const ht_set *set, size_t i)
{
	return i < set->n ? set->traces[i]->path : "";
}

uint64_t ht_set_n_events(const ht_set *set, size_t i)
{
	return i < set->n ? ht_n_events(set->traces[i]) : 0;
}

const char *ht_set_loss_note(const ht_set *set)
{
	return set->loss_note;
}
