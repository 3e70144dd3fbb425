/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.c - contexts whose memory comes from the user: ht_ctx_new_with.
 */
#include "base/mem.h"
#include "base/options.h"

enum ht_status ht_ctx_new_with(const struct ht_ctx_options *options, ht_ctx **ret_ctx)
{
	struct ht_ctx_options taken;
	ht_ctx *ctx;
	HT_TRY(ht_ctx_new(&ctx));
	enum ht_status status = HT_OPTIONS_TAKE(ctx, ht_ctx_options, user, options, &taken);
	/* without a context nobody could read a text */
	if (status != HT_OK || !taken.allocate != !taken.release) {
		ht_ctx_free(ctx);
		return HT_USAGE;
	}
	ctx->mem->allocate = taken.allocate;
	ctx->mem->release = taken.release;
	ctx->mem->allocator = taken.user;
	*ret_ctx = ctx;
	return HT_OK;
}
