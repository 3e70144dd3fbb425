/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.c - see look.h.
 */
#include "read/look.h"

#include "read/derived_trace.h"
#include "read/file_name.h"

static enum ht_status look_at(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        struct ht_source *source, char *buffer, struct ht_look *look)
{
	struct ht_source_limits limits = HT_SOURCE_LIMITS;
	limits.piece_bytes = HT_SNIFF_BYTES;
	ht_source_set_limits(source, &limits);
	look->is_plain = ht_source_info(source)->compression == HT_PLAIN;
	HT_TRY(ht_source_read(ctx, source, buffer, HT_SNIFF_BYTES, &look->n));
	struct ht_head head = { ht_file_name(path), buffer, look->n, look->n < HT_SNIFF_BYTES };
	look->reader = ht_reader_find(&head);
	if (look->reader && look->reader->look_inside)
		look->reader = look->reader->look_inside(ctx, path);
	look->what = look->reader ? look->reader->what
	                          : ht_sniff_trace(head.text, head.n, head.is_all).what;
	if (!ht_derived_trace_source(arena, path, head.text, head.n, &look->derived_from))
		return ht_fail_nomem(ctx);
	return HT_OK;
}

enum ht_status ht_look_into(ht_ctx *ctx, const char *path, struct ht_arena *arena, char *buffer,
        struct ht_look *ret_look)
{
	struct ht_source *source;
	HT_TRY(ht_source_open(ctx, path, &source));
	*ret_look = (struct ht_look){ 0 };
	enum ht_status status = look_at(ctx, path, arena, source, buffer, ret_look);
	ht_source_close(source);
	if (status == HT_FORMAT) {
		pthread_mutex_lock(&ctx->lock);
		ctx->error.status = HT_OK;
		pthread_mutex_unlock(&ctx->lock);
		*ret_look = (struct ht_look){ .what = "damaged compressed data" };
		return HT_OK;
	}
	return status;
}
