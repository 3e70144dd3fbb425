/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - see build.h.
 */
#include "store/build.h"

#include "store/arg_table.h"
#include "store/assemble.h"
#include "store/draft.h"
#include "store/seal.h"
#include "store/trace_meta.h"

void ht_builder_init(struct ht_builder *builder, ht_ctx *ctx, const char *path)
{
	*builder = (struct ht_builder){ .ctx = ctx, .mem = ctx->mem, .path = path };
	ht_pool_init(&builder->strings, ctx->mem);
	ht_pool_init(&builder->columns, ctx->mem);
	ht_pool_init(&builder->shapes, ctx->mem);
	ht_pool_init(&builder->tracks, ctx->mem);
	ht_pool_init(&builder->categories, ctx->mem);
	ht_chunk_init(&builder->all, ctx->mem);
}

void ht_builder_done(struct ht_builder *builder)
{
	ht_chunk_done(&builder->all);
	ht_drafts_done(builder);
	ht_mem_draft_done(builder->mem, &builder->snapshot);
	ht_arg_tables_done(builder);
	ht_pool_done(&builder->strings);
	ht_pool_done(&builder->columns);
	ht_pool_done(&builder->shapes);
	ht_pool_done(&builder->tracks);
	ht_pool_done(&builder->categories);
}

struct sealing {
	struct ht_builder *builder;
	const struct ht_kernel_rules *rules;
	struct ht_trace *trace;
};

static enum ht_status seal(void *user)
{
	const struct sealing *s = user;
	struct ht_builder *builder = s->builder;
	ht_ctx *ctx = builder->ctx;
	struct ht_tally tally = { 0 };
	HT_TRY(ht_drafts_assemble(builder, s->trace));
	HT_TRY(ht_mem_draft_assemble(ctx, &builder->snapshot, s->trace));
	HT_TRY(ht_assemble(ctx, builder, s->trace));
	for (int code = 0; code < HT_N_STATS; code++) {
		tally.count[code] = builder->all.stats[code].count;
		tally.first_offset[code] = builder->all.stats[code].first_offset;
	}
	/* what was read is in the trace: its memory is free while links are made */
	ht_builder_done(builder);
	ht_builder_init(builder, ctx, builder->path);
	return ht_seal(ctx, s->trace, s->rules, &tally);
}

enum ht_status ht_builder_seal(
        struct ht_builder *builder, const struct ht_kernel_rules *rules, struct ht_trace *t)
{
	ht_ctx *ctx = builder->ctx;
	struct ht_trace_meta *meta = HT_SECTION_ALLOC(ctx, t, meta_, struct ht_trace_meta, 1);
	if (!meta)
		return ht_fail_nomem(ctx);
	*meta = (struct ht_trace_meta){ .file_bytes = builder->file_bytes,
		.json_bytes = builder->text_bytes,
		.compression = builder->compression,
		.dialect = builder->dialect,
		.n_documents = builder->n_documents };
	t->meta = meta;
	struct sealing s = { builder, rules, t };
	/* as many as there are steps side by side, and more where they are long */
	size_t n_most = 4 + ht_n_ranges(ctx, builder->all.n);
	return ht_with_crew(ctx, n_most, seal, &s);
}
