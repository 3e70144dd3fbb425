/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed_bytes.c - see sealed_bytes.h.
 */
#include "base/sealed_bytes.h"

#include "base/hash.h"

#include <string.h>

void ht_sealed_begin(struct ht_bytes_out *out, const struct ht_sealed_kind *kind)
{
	ht_bytes_put(out, kind->magic, strlen(kind->magic));
	ht_bytes_put_str(out, ht_version());
}

enum ht_status ht_sealed_write(ht_ctx *ctx, struct ht_bytes_out *out,
        const struct ht_sealed_kind *kind, const struct ht_sink *sink)
{
	enum ht_status status = HT_OK;
	ht_bytes_put_u64(out, ht_hash(out->bytes.data, out->bytes.n));
	if (out->failed)
		status = ht_fail_nomem(ctx);
	else if (!sink->write(sink->user, out->bytes.data, out->bytes.n))
		status = ht_fail(ctx, HT_IO, NULL, -1, NULL, "cannot write %s", kind->what);
	ht_vec_free(out->mem, &out->bytes, 1);
	return status;
}

enum ht_status ht_sealed_open(ht_ctx *ctx, struct ht_bytes_in *in, struct ht_arena *arena,
        const struct ht_sealed_kind *kind)
{
	const unsigned char *all = in->at;
	size_t n = in->n, n_magic = strlen(kind->magic);
	const void *magic = ht_bytes_get(in, n_magic);
	if (!magic || memcmp(magic, kind->magic, n_magic) != 0)
		return ht_fail(ctx, HT_FORMAT, NULL, 0, kind->maker, "%s", kind->none);
	const char *version = ht_bytes_get_str(in, arena);
	if (!version || strcmp(version, ht_version()) != 0)
		return ht_fail(ctx, HT_FORMAT, NULL, -1, "use one version everywhere",
		        "%s was made by version %.32s, this is %s", kind->what,
		        version ? version : "unknown", ht_version());
	struct ht_bytes_in end = { n >= 8 ? all + n - 8 : all, n >= 8 ? 8 : 0, false };
	if (in->n < 8 || ht_bytes_get_u64(&end) != ht_hash(all, n - 8))
		return ht_fail(ctx, HT_FORMAT, NULL, -1, "copy or make it again",
		        "%s is damaged or cut short", kind->what);
	in->n -= 8;
	return HT_OK;
}
