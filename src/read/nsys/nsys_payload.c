/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_payload.c - see nsys_payload.h.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/number.h"
#include "json/json_text.h"
#include "read/nsys/nsys_payload.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_call(const char *name, size_t n, const char *what)
{
	return n >= strlen(what) && !memcmp(name, what, strlen(what));
}

static uint64_t little_endian(const unsigned char *bytes, size_t n)
{
	uint64_t value = 0;
	for (size_t i = n; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static int64_t small_at(const unsigned char *bytes, size_t n, size_t at)
{
	return n >= at + 4 ? (int32_t)(uint32_t)little_endian(bytes + at, 4) : HT_NO_I64;
}

static bool makes_communicator(const char *name, size_t n)
{
	return is_call(name, n, "ncclCommInit") || is_call(name, n, "ncclCommSplit");
}

static bool read_bytes(const char *name, size_t n_name, const unsigned char *bytes, size_t n,
        struct ht_nsys_payload *p)
{
	if (!bytes || n < 8)
		return false;
	p->communicator = little_endian(bytes, 8);
	if (makes_communicator(name, n_name)) {
		p->n_ranks = small_at(bytes, n, 8);
		p->rank = small_at(bytes, n, 12);
	} else if (n >= 16) {
		uint64_t size = little_endian(bytes + 8, 8);
		p->bytes = size <= INT64_MAX ? (int64_t)size : HT_NO_I64;
		p->peer = small_at(bytes, n, 16);
	}
	return true;
}

static bool read_json(const char *json, size_t n, struct ht_nsys_payload *p)
{
	static const char *const peers[] = { "Peer rank", "Root" };
	if (!json || !ht_json_valid(json, n))
		return false;
	struct ht_json reader = { json };
	struct ht_json_value object = ht_json_next(&reader), value;
	int64_t number;
	if (object.type != HT_JSON_OBJECT)
		return false;
	value = ht_json_get(&object, "NCCL communicator ID");
	struct ht_number id = { .type = HT_NUMBER_NONE };
	if (value.type == HT_JSON_NUMBER)
		id = ht_number_parse(value.text);
	bool is_ours = id.type == HT_NUMBER_I64 || id.type == HT_NUMBER_U64;
	p->communicator = !is_ours ? 0 : id.type == HT_NUMBER_U64 ? id.u : (uint64_t)id.i;
	value = ht_json_get(&object, "Message size [bytes]");
	if (ht_json_i64(&value, &number))
		p->bytes = number;
	for (size_t i = 0; i < HT_COUNT(peers); i++) {
		value = ht_json_get(&object, peers[i]);
		if (ht_json_i64(&value, &number))
			p->peer = number;
	}
	value = ht_json_get(&object, "No. of ranks");
	if (ht_json_i64(&value, &number))
		p->n_ranks = number;
	value = ht_json_get(&object, "Rank");
	if (ht_json_i64(&value, &number))
		p->rank = number;
	return is_ours || p->bytes != HT_NO_I64 || p->n_ranks != HT_NO_I64;
}

bool ht_nsys_payload_read(const char *name, size_t n_name, const char *json, size_t n_json,
        const unsigned char *bytes, size_t n_bytes, struct ht_nsys_payload *ret_payload)
{
	*ret_payload = (struct ht_nsys_payload){ 0, HT_NO_I64, HT_NO_I64, HT_NO_I64, HT_NO_I64 };
	if (!name || !is_call(name, n_name, "nccl"))
		return false;
	return read_json(json, n_json, ret_payload) ||
	       read_bytes(name, n_name, bytes, n_bytes, ret_payload);
}

void ht_nsys_payload_args_make(struct ht_nsys *n, struct ht_nsys_payload_args *args)
{
	struct ht_rows *rows = &n->db.rows;
	args->collective = ht_nsys_text_arg(n, "Collective name");
	args->group = ht_nsys_text_arg(n, "Process Group Name");
	args->size = ht_rows_column(rows, "Group size", 10, HT_ARG_I64);
	args->elements = ht_rows_column(rows, "In msg nelems", 13, HT_ARG_I64);
	args->dtype = ht_nsys_text_arg(n, "dtype");
	args->from = ht_rows_column(rows, "Src Rank", 8, HT_ARG_I64);
	args->to = ht_rows_column(rows, "Dst Rank", 8, HT_ARG_I64);
}

/* "ncclAllReduce" is allreduce, as c10d calls it. */
static uint32_t lower_name(struct ht_rows *rows, const char *name, size_t n)
{
	char text[64];
	size_t length = 0;
	for (size_t i = strlen("nccl"); i < n && length < sizeof text; i++)
		text[length++] =
		        (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
	return ht_rows_text(rows, text, length);
}

enum ht_status ht_nsys_payload_put(struct ht_nsys *n, const struct ht_nsys_payload_args *args,
        const char *name, size_t n_name, const struct ht_nsys_payload *p)
{
	struct ht_rows *rows = &n->db.rows;
	char text[32];
	bool says_ranks = p->n_ranks > 0 && p->rank >= 0 && p->rank < p->n_ranks;
	int length = snprintf(text, sizeof text, "0x%" PRIx64, p->communicator);
	ht_row_put(rows, args->group, ht_rows_text(rows, text, (size_t)length));
	if (p->bytes != HT_NO_I64) {
		/* it counts bytes, whatever they are of */
		ht_row_put(rows, args->collective, lower_name(rows, name, n_name));
		ht_row_put(rows, args->elements, (uint64_t)p->bytes);
		ht_row_put(rows, args->dtype, ht_rows_text(rows, "Byte", 4));
		const struct ht_db_word *made =
		        ht_db_words_find(&n->communicators, (int64_t)p->communicator);
		if (made && !says_ranks)
			ht_row_put(rows, args->size, made->n);
		/* peers are numbered by the communicator: only in that of all they are ranks */
		bool is_world = made && (int64_t)made->n == n->largest;
		if (is_world && p->peer >= 0 && is_call(name, n_name, "ncclSend"))
			ht_row_put(rows, args->to, (uint64_t)p->peer);
		if (is_world && p->peer >= 0 && is_call(name, n_name, "ncclRecv"))
			ht_row_put(rows, args->from, (uint64_t)p->peer);
	}
	if (!says_ranks)
		return HT_OK;
	ht_row_put(rows, args->size, (uint64_t)p->n_ranks);
	struct ht_db_word *made =
	        ht_db_words_add(&n->db, &n->communicators, (int64_t)p->communicator);
	if (!made)
		return ht_fail_nomem(n->db.ctx);
	made->n = (size_t)p->n_ranks;
	if (n->largest == HT_NO_I64 || p->n_ranks > n->largest) {
		n->largest = n->world_size = p->n_ranks;
		n->rank = p->rank;
	}
	return HT_OK;
}

#endif
