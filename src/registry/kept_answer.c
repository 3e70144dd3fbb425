/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_answer.c - see kept_answer.h.
 *
 *   frame | what was asked, of which ranks | the build, a hash of all that is known of the ranks | the table
 *
 * Bringing a thousand parts together takes a second and their memory, and who looks at a run asks the same each time. A
 * table depends on what its parts do (kept_part.h), on which ranks there are, and on what is known of them without their
 * events: the roster, with the state of each file. Those are long, so a hash of them is compared. The file stands beside the trace of the first
 * rank; its name is a hash of what was asked, so that the answer about more ranks takes the place of the one before.
 *
 * Of one rank the part is as good as the table. Not kept are answers about traces without a place in the cache, answers
 * that make the program fail (gates), and long ones: those are about as long as their parts.
 */
#include "registry/kept_answer.h"

#include "attach/attach.h"
#include "base/hash.h"
#include "base/sealed_bytes.h"
#include "registry/kept_part.h"
#include "sources_hash.h"
#include "store/cache_beside.h"
#include "store/set.h"
#include "table/table.h"
#include "table/table_bytes.h"

#include <string.h>

#define MOST_BYTES ((size_t)2 << 20)

static const struct ht_sealed_kind kind = { "holotrace kept answer 1\n", "the kept answer",
	"this is no kept answer", "" };

/* Whether nothing joins any of several ranks, and the cache has them all. */
static bool has_place(const struct ht_run *run, const struct ht_set *set)
{
	struct ht_run one = *run;
	if (run->n_sets != 1 || set->origin_at || set->roster.n < 2)
		return false;
	for (size_t i = 0; i < set->roster.n; i++)
		if (!set->kept[i].cached.place ||
		        ht_attached_of(run->ctx, set, i, &one.attached) != HT_OK ||
		        !ht_kept_is_alone(&one))
			return false;
	return true;
}

static uint64_t hash_ranks(const struct ht_run *run, const struct ht_set *set, bool *failed)
{
	struct ht_bytes_out all = { .mem = run->ctx->mem };
	ht_roster_put(&set->roster, &all);
	for (size_t i = 0; i < set->roster.n; i++)
		ht_kept_put_id(&set->kept[i].cached.id, &all);
	uint64_t hash = ht_hash(all.bytes.data, all.bytes.n);
	*failed |= all.failed;
	ht_vec_free(all.mem, &all.bytes, 1);
	return hash;
}

/* How the file begins; its name. */
static uint64_t put_front(
        const struct ht_run *run, const struct ht_set *set, struct ht_bytes_out *out)
{
	const struct ht_chosen *chosen = &run->chosen[0];
	ht_sealed_begin(out, &kind);
	ht_bytes_put_str(out, run->analysis->info.name);
	ht_kept_put_asked(run, out);
	ht_bytes_put_u64(out, chosen->n == set->roster.n ? 0 : chosen->n);
	for (size_t i = 0; chosen->n < set->roster.n && i < chosen->n; i++)
		ht_bytes_put_i64(out, set->roster.ranks[chosen->at[i]].number);
	uint64_t name = ht_hash(out->bytes.data, out->bytes.n);
	ht_bytes_put_u64(out, HT_SOURCES_HASH);
	ht_bytes_put_u64(out, hash_ranks(run, set, &out->failed));
	return name;
}

static ht_table *unpack(ht_ctx *ctx, const struct ht_vec *front, const struct ht_vec *bytes)
{
	const size_t n_hash = sizeof(uint64_t);
	ht_table *table = NULL;
	if (bytes->n < front->n + n_hash || memcmp(bytes->data, front->data, front->n) != 0)
		return NULL;
	struct ht_bytes_in in = { (const unsigned char *)bytes->data + front->n,
		bytes->n - front->n - n_hash, false };
	struct ht_bytes_in end = { in.at + in.n, n_hash, false };
	if (ht_bytes_get_u64(&end) != ht_hash(bytes->data, bytes->n - n_hash) ||
	        ht_table_unpack(ctx, &in, &table) != HT_OK)
		return NULL;
	if (!in.n)
		return table;
	ht_table_free(table);
	return NULL;
}

ht_table *ht_kept_answer_take(const struct ht_run *run, const struct ht_set *set)
{
	ht_ctx *ctx = run->ctx;
	struct ht_bytes_out front = { .mem = ctx->mem };
	struct ht_vec bytes = { 0 };
	ht_table *table = NULL;
	if (!has_place(run, set))
		return NULL;
	uint64_t name = put_front(run, set, &front);
	if (!front.failed && ht_cache_beside_read(ctx, &set->kept[0].cached, name, &bytes))
		table = unpack(ctx, &front.bytes, &bytes);
	ht_vec_free(ctx->mem, &bytes, 1);
	ht_vec_free(ctx->mem, &front.bytes, 1);
	ht_error_clear(ctx);
	return table;
}

void ht_kept_answer_give(const struct ht_run *run, const struct ht_set *set, const ht_table *table)
{
	struct ht_bytes_out out = { .mem = run->ctx->mem };
	if (ht_table_check_failed(table) || !has_place(run, set))
		return;
	uint64_t name = put_front(run, set, &out);
	ht_table_pack(table, &out);
	if (!out.failed)
		ht_bytes_put_u64(&out, ht_hash(out.bytes.data, out.bytes.n));
	if (!out.failed && out.bytes.n <= MOST_BYTES)
		ht_cache_beside_write(run->ctx, &set->kept[0].cached, name, &out.bytes);
	ht_vec_free(out.mem, &out.bytes, 1);
}
