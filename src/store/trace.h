/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a whole trace: the columns that most readers want (columns.h), and the rest behind them.
 *
 *     trace ─► columns                      columns.def
 *           ─► more ─► sections             sections.def: flows, header, side tables, memory snapshot
 *                  └─► ownership
 *
 * Elements are defined where they are used: flow.h, trace_meta.h, side_table.h, import_stats.h, allocator_snapshot.h.
 */
#ifndef HT_STORE_TRACE_H
#define HT_STORE_TRACE_H

#include "base/map.h"
#include "store/columns.h"

struct ht_mem;

#define SECTION(name, type)                                                                        \
	const type *name;                                                                          \
	size_t n_##name;
struct ht_trace_more {
#include "store/sections.def"
	/* ownership: sections in the bytes of a cache file, or each from mem */
	struct ht_mem *mem;
	struct ht_map map;
	atomic_int n_sharers; /* references besides the first */
};
#undef SECTION

/* A trace as it lies in memory, which is what ht_trace_sections describes. */
struct ht_whole_trace {
	struct ht_trace trace;
	struct ht_trace_more more;
};

static inline struct ht_trace *ht_whole_trace_init(struct ht_whole_trace *whole)
{
	*whole = (struct ht_whole_trace){ .trace.more = &whole->more };
	return &whole->trace;
}

/* For those who make a trace, or hold it. */
static inline struct ht_trace_more *ht_more(struct ht_trace *trace)
{
	return &((struct ht_whole_trace *)(void *)trace)->more;
}

#endif
