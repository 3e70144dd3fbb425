/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_attach.c - execution traces that join a Kineto trace: columns et.* of events.
 */
#include "attach/kind.h"
#include "et/et_files.h"
#include "et/et_join.h"

static bool sniff(const struct ht_attach_head *head)
{
	enum ht_et_format format;
	return ht_et_sniff(head->text, head->n, head->is_all, &format);
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	struct ht_et *et;
	struct ht_et_join join;
	HT_TRY(ht_et_read(run->ctx, attachment->files[0], false, &et));
	enum ht_status status = ht_et_join_make(run->ctx, et, run->trace, run->scratch, &join);
	if (status == HT_OK)
		*ret_use = (struct ht_attach_use){
			.matched = join.is_refused ? 0 : join.n_pairs,
			.n = join.n_events,
			.things = "operators and annotations",
			.is_refused = join.is_refused,
			.text = join.is_refused
			                ? "names of nodes and events contradict each other: of another run?"
			                : NULL,
		};
	ht_et_free(et);
	return status;
}

const struct ht_attach_kind ht_attach_kind_execution_trace = {
	.name = "execution-trace",
	.what = "an execution trace",
	.use = "events shows its nodes: columns et.node, et.op_schema, ...; memory-timeline and memory-snapshot derive categories of memory",
	.sniff = sniff,
	.judge = judge,
};
