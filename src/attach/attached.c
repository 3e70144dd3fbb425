/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached.c - see attach.h: from sources to attachments, and their data.
 */
#include "attach/kind.h"
#include "store/trace_refs.h"

#include "base/io.h"
#include "attach/find.h"
#include "base/mem.h"
#include "read/read.h"
#include "read/reload.h"
#include "read/reader.h"
#include "read/sniff.h"

#include <string.h>

/* What was read of an attachment. */
struct loaded {
	pthread_mutex_t lock;
	void *data;
	bool is_there;
};

struct ht_attached {
	struct ht_mem *mem;
	struct ht_arena arena;
	struct ht_attachment *list;
	struct loaded *loaded; /* parallel to the list */
	size_t n;
	const struct ht_reload *reload; /* which owns this */
};

static void free_attached(void *user)
{
	struct ht_attached *attached = user;
	struct ht_mem *mem = attached->mem;
	for (size_t i = 0; i < attached->n; i++) {
		struct loaded *loaded = &attached->loaded[i];
		if (loaded->is_there && attached->list[i].kind->free)
			attached->list[i].kind->free(loaded->data);
		pthread_mutex_destroy(&loaded->lock);
	}
	ht_arena_done(&attached->arena);
	ht_mem_free(mem, attached, sizeof *attached);
	ht_mem_release(mem);
}

/* Whether the attachments of a kind that name a rank all name the same. */
static void mark_only_rank(struct ht_attached *attached, const struct ht_attach_kind *kind)
{
	int64_t only = HT_NO_I64;
	bool is_one = true;
	for (size_t i = 0; i < attached->n; i++) {
		const struct ht_attachment *a = &attached->list[i];
		if (a->kind != kind || a->rank == HT_NO_I64)
			continue;
		is_one = is_one && (only == HT_NO_I64 || only == a->rank);
		only = a->rank;
	}
	for (size_t i = 0; is_one && i < attached->n; i++)
		attached->list[i].is_only_rank |= attached->list[i].kind == kind;
}

/* What was found, with room for what is read of it. */
static enum ht_status take_found(ht_ctx *ctx, struct ht_attached *attached, struct ht_vec *found)
{
	size_t n = found->n;
	attached->list = ht_arena_alloc(&attached->arena, (n + 1) * sizeof *attached->list);
	attached->loaded = ht_arena_alloc(&attached->arena, (n + 1) * sizeof *attached->loaded);
	if (!attached->list || !attached->loaded)
		return ht_fail_nomem(ctx);
	if (n)
		memcpy(attached->list, found->data, n * sizeof *attached->list);
	for (size_t i = 0; i < n; i++) {
		attached->list[i].i = i;
		attached->list[i].of = attached;
		pthread_mutex_init(&attached->loaded[i].lock, NULL);
	}
	attached->n = n;
#define ATTACH(x) mark_only_rank(attached, &ht_attach_kind_##x);
#include "attach/attach.def"
#undef ATTACH
	return HT_OK;
}

static enum ht_status make(ht_ctx *ctx, const struct ht_reload *reload, const char *path,
        struct ht_attached **ret_attached)
{
	struct ht_attached *attached = ht_mem_zalloc(reload->mem, sizeof *attached);
	struct ht_vec found = { 0 };
	if (!attached)
		return ht_fail_nomem(ctx);
	attached->mem = ht_mem_retain(reload->mem);
	attached->reload = reload;
	ht_arena_init(&attached->arena, attached->mem);
	enum ht_status status = HT_OK;
	if (reload->options.attach)
		status = ht_attach_find(ctx, reload->options.attach, &attached->arena, &found);
	if (status == HT_OK && reload->options.attach_beside)
		status = ht_attach_find_beside(ctx, path, &attached->arena, &found);
	if (status == HT_OK)
		status = take_found(ctx, attached, &found);
	ht_vec_free(ctx->mem, &found, sizeof(struct ht_attachment));
	if (status != HT_OK) {
		free_attached(attached);
		return status;
	}
	*ret_attached = attached;
	return HT_OK;
}

enum ht_status ht_attached_to(ht_ctx *ctx, struct ht_reload *reload, const char *path,
        const struct ht_attached **ret_attached)
{
	struct ht_attached *attached = NULL;
	enum ht_status status = HT_OK;
	*ret_attached = NULL;
	if (!reload->options.attach && !reload->options.attach_beside)
		return HT_OK;
	pthread_mutex_lock(&reload->joined.lock);
	if (!reload->joined.data) {
		status = make(ctx, reload, path, &attached);
		reload->joined.data = attached;
		reload->joined.free = free_attached;
	}
	*ret_attached = reload->joined.data;
	pthread_mutex_unlock(&reload->joined.lock);
	return status;
}

enum ht_status ht_attached_of(
        ht_ctx *ctx, const struct ht_set *set, size_t i, const struct ht_attached **ret_attached)
{
	*ret_attached = NULL;
	if (set->origin_at && !ht_set_has(set, i))
		return HT_OK;
	if (set->origin_at)
		return ht_attached_of(ctx, set->origin, set->origin_at[i], ret_attached);
	struct ht_reload *reload = ht_reload_of(set, i);
	return reload ? ht_attached_to(ctx, reload, set->roster.ranks[i].path, ret_attached)
	              : HT_OK;
}

struct ht_reload *ht_attached_hold(const struct ht_set *set, size_t i)
{
	if (set->origin_at)
		return ht_set_has(set, i) ? ht_attached_hold(set->origin, set->origin_at[i]) : NULL;
	struct ht_reload *reload = ht_reload_of(set, i);
	return reload ? ht_reload_retain(reload) : NULL;
}

void ht_attached_let_go(struct ht_reload *held)
{
	ht_reload_release(held);
}

size_t ht_attached_n(const struct ht_attached *attached)
{
	return attached ? attached->n : 0;
}

const struct ht_attachment *ht_attached_at(const struct ht_attached *attached, size_t i)
{
	return &attached->list[i];
}

bool ht_attachment_is_for(const struct ht_attachment *attachment, int64_t rank)
{
	return attachment->rank == HT_NO_I64 || attachment->rank == rank ||
	       attachment->is_only_rank;
}

const struct ht_attachment *ht_attached_next(const struct ht_attached *attached,
        const struct ht_attach_kind *kind, int64_t rank, size_t *at)
{
	for (; attached && *at < attached->n; ++*at)
		if (attached->list[*at].kind == kind &&
		        ht_attachment_is_for(&attached->list[*at], rank))
			return &attached->list[(*at)++];
	return NULL;
}

enum ht_status ht_attachment_load(
        ht_ctx *ctx, const struct ht_attachment *attachment, const void **ret_data)
{
	struct loaded *loaded = &attachment->of->loaded[attachment->i];
	enum ht_status status = HT_OK;
	pthread_mutex_lock(&loaded->lock);
	if (!loaded->is_there && attachment->kind->load) {
		status = attachment->kind->load(ctx, attachment, &loaded->data);
		loaded->is_there = status == HT_OK;
	}
	*ret_data = loaded->data;
	pthread_mutex_unlock(&loaded->lock);
	return status;
}

bool ht_attach_is_trace(const struct ht_attach_head *head)
{
	return ht_sniff_is_trace(ht_sniff_trace(head->text, head->n, head->is_all).kind);
}

bool ht_attach_is_snapshot(const struct ht_attach_head *head)
{
	struct ht_head start = {
		.name = head->path, .text = head->text, .n = head->n, .is_all = head->is_all
	};
	return ht_reader_snapshot.sniff(&start);
}

enum ht_status ht_attachment_trace(
        ht_ctx *ctx, const struct ht_attachment *attachment, struct ht_trace **ret_trace)
{
	const struct ht_reload *reload = attachment->of->reload;
	struct ht_open_options options = reload->options;
	options.reader = NULL;
	return ht_read_trace(ctx, attachment->files[0], &options, &reload->rules, ret_trace, NULL);
}

enum ht_status ht_attach_load_trace(
        ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	struct ht_trace *trace;
	HT_TRY(ht_attachment_trace(ctx, attachment, &trace));
	*ret_data = trace;
	return HT_OK;
}

void ht_attach_free_trace(void *data)
{
	ht_trace_release(data);
}

enum ht_status ht_attachment_text(ht_ctx *ctx, const struct ht_attachment *attachment, size_t i,
        size_t max_bytes, struct ht_vec *ret_text)
{
	return ht_read_all(ctx, attachment->files[i], max_bytes, ret_text);
}
