/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_tree.c - names of the machine's processes and threads, which the tracing service collects; see perfetto.h.
 *
 * They are kept until all tracks are known: only those of processes and threads that have events, and that no descriptor names, are used.
 */
#include "read/perfetto.h"

/* The name of a process, and of a thread of it; tids are the machine's. */
static uint64_t process_key(int64_t pid)
{
	return ht_hash_mix(0x960CE, (uint64_t)pid);
}
static uint64_t thread_key(int64_t pid, int64_t tid)
{
	return ht_hash_mix(ht_hash_mix(0x74EAD, (uint64_t)pid), (uint64_t)tid);
}

/* A process or a thread: who it is, and what it is called. The words of a command line follow each other; the first is the program. */
static void take_one(struct ht_pf *pf, const struct ht_wire_field *one, bool is_thread)
{
	struct ht_wire wire = { .p = one->bytes, .end = one->bytes + one->n };
	struct ht_wire_field field, name = { 0 };
	int64_t id = 0, group = 0;
	const uint32_t name_field = is_thread ? HT_PF_TREE_THREAD_NAME : HT_PF_TREE_COMMAND;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_TREE_PID && field.type != HT_WIRE_BYTES)
			id = (int32_t)field.value;
		else if (is_thread && field.number == HT_PF_TREE_TGID &&
		         field.type != HT_WIRE_BYTES)
			group = (int32_t)field.value;
		else if (field.number == name_field && field.type == HT_WIRE_BYTES && !name.bytes)
			name = field;
	if (wire.bad || !name.n)
		return;
	uint32_t text = ht_rows_text(&pf->rows, (const char *)name.bytes, name.n);
	pf->failed |= text == HT_NO_STR ||
	              !ht_map64_put(pf->ctx->mem, &pf->tree_names,
	                      is_thread ? thread_key(group, id) : process_key(id), text);
}

void ht_pf_tree(struct ht_pf *pf, const struct ht_wire_field *tree)
{
	struct ht_wire wire = { .p = tree->bytes, .end = tree->bytes + tree->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		if (field.type == HT_WIRE_BYTES &&
		        (field.number == HT_PF_TREE_PROCESS || field.number == HT_PF_TREE_THREAD))
			take_one(pf, &field, field.number == HT_PF_TREE_THREAD);
	if (wire.bad)
		ht_pf_count(pf, HT_STAT_packet_lost);
}

void ht_pf_tree_apply(struct ht_pf *pf)
{
	struct ht_map64 named = { 0 }; /* processes that have a name */
	for (uint32_t i = 0; pf->tree_names.n && i < pf->tracks.n; i++) {
		const struct ht_pf_line *line = ht_pf_line(pf, i);
		if (line->has_pid && line->is_process && line->process_name != HT_NO_STR)
			pf->failed |=
			        !ht_map64_put(pf->ctx->mem, &named, process_key(line->pid), 0);
	}
	for (uint32_t i = 0; pf->tree_names.n && !pf->failed && i < pf->tracks.n; i++) {
		struct ht_pf_line *line = ht_pf_line(pf, i);
		if (!line->has_pid)
			continue;
		if (line->is_thread && line->has_tid && line->name == HT_NO_STR)
			line->name =
			        ht_map64_find(&pf->tree_names, thread_key(line->pid, line->tid));
		uint64_t key = process_key(line->pid);
		uint32_t name = ht_map64_find(&pf->tree_names, key);
		if (name == HT_NONE || ht_map64_find(&named, key) != HT_NONE)
			continue;
		/* said once, by the first of its tracks */
		line->process_name = name;
		line->is_process = true;
		pf->failed |= !ht_map64_put(pf->ctx->mem, &named, key, 0);
	}
	ht_map64_done(pf->ctx->mem, &named);
}
