/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_comm.c - which items of a plan communicate: what, with whom, how much.
 *
 * With a Kineto trace communication is GPU work, told by the kernel's name and by the record_param_comms node around
 * its launch. Without one the record_param_comms nodes stand for it themselves.
 */
#include "et/et_plan.h"
#include "store/args.h"

#include "base/checked.h"
#include "et/et_args.h"
#include "et/et_files.h"
#include "et/et_reader.h"

#include <ctype.h>
#include <string.h>

static bool is_comm_node(const struct ht_et *et, uint32_t row)
{
	return !strcmp(ht_et_str(et, ht_et_nodes(et)[row].name), "record_param_comms");
}

/* The node that describes what a call communicates: itself, one around it, or one inside of it. */
static uint32_t find_comm(const struct ht_et *et, uint32_t row)
{
	uint32_t at = row;
	for (int level = 0; level < 4 && at != HT_ET_NONE; level++, at = ht_et_nodes(et)[at].parent)
		if (is_comm_node(et, at))
			return at;
	for (uint32_t i = et->first_child[row]; i < et->first_child[row + 1]; i++)
		if (is_comm_node(et, et->children[i]))
			return et->children[i];
	return HT_ET_NONE;
}

/* Lower case without signs: "ncclDevKernel_AllReduce_Sum" is "nccldevkernelallreducesum". */
static void fold(const char *name, char *out, size_t n)
{
	size_t k = 0;
	for (; *name && k + 1 < n; name++)
		if (isalnum((unsigned char)*name))
			out[k++] = (char)tolower((unsigned char)*name);
	out[k] = '\0';
}

/* Chakra's number of a collective, -1 when the name has none. Longer names stand before those that they contain. */
static int8_t comm_type_of(const char *name)
{
	static const struct {
		const char *part;
		int8_t type;
	} types[] = { { "reducescatter", 7 }, { "allreduce", 0 }, { "alltoall", 6 },
		{ "allgather", 2 }, { "broadcast", 5 }, { "barrier", 9 }, { "scatter", 4 },
		{ "gather", 3 }, { "reduce", 1 } };
	char folded[256];
	fold(name, folded, sizeof folded);
	for (size_t i = 0; i < HT_COUNT(types); i++)
		if (strstr(folded, types[i].part))
			return types[i].type;
	return -1;
}

static bool tell_bytes(void *user, const struct ht_et_arg *arg)
{
	int64_t *sum = user;
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	uint64_t bytes;
	if (arg->value.text && ht_et_tensor_parse(arg->value.text, &tensor, &device, &n_fields) &&
	        !__builtin_mul_overflow(tensor.numel, tensor.itemsize, &bytes) && bytes < INT64_MAX)
		ht_sum(sum, (int64_t)bytes);
	return true;
}

static int64_t bytes_of(const struct ht_et *et, uint32_t row)
{
	int64_t sum = 0;
	ht_et_each_tensor(et, &ht_et_nodes(et)[row].in, tell_bytes, &sum);
	return sum < 0 ? 0 : sum;
}

/* "allreduce", "send", ...; from the attributes, else the first string among the inputs of older versions. */
static const char *collective_of(const struct ht_et *et, uint32_t row, struct ht_arena *arena)
{
	size_t n;
	const char *text = ht_et_attr_text(et, row, "collective_name", &n);
	if (text)
		return ht_arena_strndup(arena, text, n);
	struct ht_et_list values = ht_et_list(ht_et_str(et, ht_et_nodes(et)[row].in.values));
	struct ht_et_piece value;
	while (ht_et_list_next(&values, &value))
		if (value.text[0] == '"')
			return ht_et_decode(arena, value.text, value.n);
	return NULL;
}

/* The number behind (seq, p2p) and (group, description): the peer, as rank of the group. -1: there is none. */
static int64_t peer_in_group(const struct ht_et *et, uint32_t row)
{
	struct ht_et_list types = ht_et_list(ht_et_str(et, ht_et_nodes(et)[row].in.types));
	struct ht_et_list values = ht_et_list(ht_et_str(et, ht_et_nodes(et)[row].in.values));
	struct ht_et_piece type, value;
	bool had_group = false;
	while (ht_et_list_next(&types, &type) && ht_et_list_next(&values, &value)) {
		int64_t peer;
		if (had_group && type.n == 5 && !memcmp(type.text, "\"Int\"", 5) &&
		        ht_et_parse_i64(value.text, value.n, &peer))
			return peer;
		had_group |= type.n > 15 && !memcmp(type.text, "\"Tuple[String,", 14);
	}
	return -1;
}

/* A rank of the whole run from one of a group. */
static int64_t global_rank(
        const struct ht_et_plan *plan, uint32_t row, const char *group, int64_t rank)
{
	const struct ht_et_group *found = group ? ht_et_group_of(&plan->groups, group) : NULL;
	struct ht_et_list ranks = ht_et_list(found ? found->ranks : NULL);
	struct ht_et_piece piece;
	int64_t number, start = 0, stride = 1;
	for (int64_t i = 0; ht_et_list_next(&ranks, &piece); i++)
		if (i == rank && ht_et_parse_i64(piece.text, piece.n, &number))
			return number;
	if (!found) {
		(void)ht_et_attr_i64(plan->et, row, "global_rank_start", &start);
		(void)ht_et_attr_i64(plan->et, row, "global_rank_stride", &stride);
	}
	/* beyond all numbers is no rank */
	if (__builtin_mul_overflow(stride, rank, &number) ||
	        __builtin_add_overflow(start, number, &number))
		return -1;
	return number;
}

const char *ht_et_item_group(
        const struct ht_et_plan *plan, const struct ht_et_item *item, struct ht_arena *arena)
{
	size_t n;
	if (item->gpu != HT_ET_NONE) {
		uint32_t row = plan->trace->gpu[plan->link->gpus[item->gpu].gpu].row;
		const char *name = ht_arg_str(plan->trace, "Process Group Name", row);
		if (name)
			return name;
	}
	const char *text = item->comm != HT_ET_NONE
	                           ? ht_et_attr_text(plan->et, item->comm, "pg_name", &n)
	                           : NULL;
	return text ? ht_arena_strndup(arena, text, n) : NULL;
}

static void set_peer(const struct ht_et_plan *plan, struct ht_et_item *item, struct ht_arena *arena)
{
	int64_t peer = peer_in_group(plan->et, item->comm);
	if (peer < 0)
		return;
	peer = global_rank(plan, item->comm, ht_et_item_group(plan, item, arena), peer);
	item->peer = peer >= 0 && peer <= INT32_MAX ? (int32_t)peer : -1;
}

/* By Chakra's rule: the call around the record, else the host, says whether it sends or receives. */
static enum ht_et_node_type send_or_recv(
        const struct ht_et_plan *plan, const struct ht_et_item *item, const char *collective)
{
	const struct ht_et *et = plan->et;
	uint32_t row = item->row;
	if (is_comm_node(et, row) && ht_et_nodes(et)[row].parent != HT_ET_NONE)
		row = ht_et_nodes(et)[row].parent;
	const char *name = ht_et_str(et, ht_et_nodes(et)[row].name);
	if (!plan->as_chakra && collective && !strcmp(collective, "send"))
		return HT_ET_SEND;
	if (!plan->as_chakra && collective && !strcmp(collective, "recv"))
		return HT_ET_RECV;
	return strstr(name, "send") ? HT_ET_SEND : strstr(name, "recv") ? HT_ET_RECV : HT_ET_COLL;
}

static void classify_gpu(
        const struct ht_et_plan *plan, struct ht_et_item *item, struct ht_arena *arena)
{
	const char *name = ht_et_item_name(plan, item);
	if (!strstr(name, "ncclDevKernel") && !strstr(name, "ncclKernel"))
		return;
	/* of work launched before the window nothing tells with whom; it counts as work of its duration */
	if (plan->link->gpus[item->gpu].is_orphan)
		return;
	item->comm = find_comm(plan->et, item->row);
	const char *collective =
	        item->comm != HT_ET_NONE ? collective_of(plan->et, item->comm, arena) : NULL;
	item->type = strstr(name, "SendRecv") ? (uint8_t)send_or_recv(plan, item, collective)
	                                      : HT_ET_COLL;
	item->comm_bytes = bytes_of(plan->et, item->row);
	if (!item->comm_bytes && item->comm != HT_ET_NONE && !plan->as_chakra)
		item->comm_bytes = bytes_of(plan->et, item->comm);
	if (item->type == HT_ET_COLL) {
		item->comm_type = strstr(name, "SendRecv") ? 6 : comm_type_of(name);
		if (item->comm_type < 0 && collective)
			item->comm_type = comm_type_of(collective);
		/* a collective that simulators have no number for is work of its duration */
		if (item->comm_type < 0)
			item->type = HT_ET_COMP;
	} else if (item->comm != HT_ET_NONE && !plan->as_chakra) {
		set_peer(plan, item, arena);
	}
}

/* Without GPU work the record of a collective stands for it, and does not run on the host. */
static void classify_record(
        const struct ht_et_plan *plan, struct ht_et_item *item, struct ht_arena *arena)
{
	const char *collective = collective_of(plan->et, item->row, arena);
	int8_t type = collective ? comm_type_of(collective) : -1;
	bool sends = collective && !strcmp(collective, "send");
	bool receives = collective && !strcmp(collective, "recv");
	if (type < 0 && !sends && !receives)
		return;
	item->comm = item->row;
	item->is_cpu_op = false;
	item->comm_type = type;
	item->comm_bytes = bytes_of(plan->et, item->row);
	item->type = sends ? HT_ET_SEND : receives ? HT_ET_RECV : HT_ET_COLL;
	if (sends || receives)
		set_peer(plan, item, arena);
}

void ht_et_item_classify(
        const struct ht_et_plan *plan, struct ht_et_item *item, struct ht_arena *arena)
{
	item->type = HT_ET_COMP;
	item->comm_type = -1;
	item->peer = item->tag = -1;
	if (item->gpu != HT_ET_NONE)
		classify_gpu(plan, item, arena);
	else if (ht_et_is_group_init(plan->et, item->row))
		item->type = HT_ET_METADATA;
	else if (!plan->link && !plan->as_chakra && is_comm_node(plan->et, item->row))
		classify_record(plan, item, arena);
}
