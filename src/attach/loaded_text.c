/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_text.c - see loaded_text.h.
 */
#include "attach/loaded_text.h"

#include "base/mem.h"

#define MAX_BYTES ((size_t)1 << 20)

void ht_text_free(void *data)
{
	struct ht_loaded_text *head = data;
	struct ht_mem *mem = head->mem;
	if (head->how->done)
		head->how->done(data);
	ht_arena_done(&head->arena);
	ht_mem_free(mem, head, head->n_bytes);
	ht_mem_release(mem);
}

enum ht_status ht_text_load(ht_ctx *ctx, const struct ht_attachment *attachment, size_t n_bytes,
        const struct ht_text_reader *how, void **ret_data)
{
	struct ht_loaded_text *head = ht_mem_zalloc(ctx->mem, n_bytes);
	if (!head)
		return ht_fail_nomem(ctx);
	struct ht_vec text = { 0 };
	/* what is attached may outlive the context that read it */
	struct ht_mem *mem = ht_mem_retain(ctx->mem);
	*head = (struct ht_loaded_text){ .mem = mem, .n_bytes = n_bytes, .how = how };
	ht_arena_init(&head->arena, mem);
	enum ht_status status = ht_attachment_text(ctx, attachment, 0, MAX_BYTES, &text);
	if (status == HT_OK)
		status = how->read(ctx, attachment->path, text.data, head);
	ht_vec_free(ctx->mem, &text, 1);
	if (status != HT_OK)
		ht_text_free(head);
	else
		*ret_data = head;
	return status;
}
