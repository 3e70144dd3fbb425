/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_timeline.c - memory timelines that join a trace: `memory-timeline` shows them in place of the trace's own, and
 * `memory-snapshot` has categories from them.
 */
#include "attach/kind.h"

#include "read/sniff.h"

static bool sniff(const struct ht_attach_head *head)
{
	return ht_sniff_trace(head->text, head->n, head->is_all).kind == HT_SNIFF_MEMORY_TIMELINE;
}

const struct ht_attach_kind ht_attach_kind_memory_timeline = {
	.name = "memory-timeline",
	.what = "a memory timeline",
	.use = "memory-timeline shows it; memory-snapshot has categories of memory from its raw form",
	.sniff = sniff,
	.load = ht_attach_load_trace,
	.free = ht_attach_free_trace,
};
