/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.c - see reload.h.
 */
#include "read/reload.h"

#include "base/mem.h"
#include "read/own_options.h"
#include "read/read.h"

#include <string.h>

static enum ht_status keep_texts(ht_ctx *ctx, struct ht_reload *reload)
{
	const char **texts[] = { &reload->options.cache_dir, &reload->options.kernel_rules,
		&reload->options.reader, &reload->options.attach };
	for (size_t i = 0; i < HT_COUNT(texts); i++) {
		if (!*texts[i])
			continue;
		*texts[i] = ht_arena_strndup(&reload->arena, *texts[i], strlen(*texts[i]));
		if (!*texts[i])
			return ht_fail_nomem(ctx);
	}
	struct ht_open_own *own = ht_arena_alloc(&reload->arena, sizeof *own);
	if (!own)
		return ht_fail_nomem(ctx);
	*own = ht_open_own(&reload->options);
	reload->options.own = own;
	if (!reload->options.kernel_rules)
		return HT_OK;
	return ht_kernel_rules_read(
	        ctx, reload->options.kernel_rules, &reload->arena, &reload->rules);
}

enum ht_status ht_reload_new(
        ht_ctx *ctx, const struct ht_open_options *options, struct ht_reload **ret_reload)
{
	struct ht_reload *reload = ht_mem_zalloc(ctx->mem, sizeof *reload);
	if (!reload)
		return ht_fail_nomem(ctx);
	atomic_init(&reload->n_refs, 1);
	reload->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&reload->arena, reload->mem);
	pthread_mutex_init(&reload->joined.lock, NULL);
	reload->options = *options;
	enum ht_status status = keep_texts(ctx, reload);
	if (status != HT_OK) {
		ht_reload_release(reload);
		return status;
	}
	*ret_reload = reload;
	return HT_OK;
}

struct ht_reload *ht_reload_retain(struct ht_reload *reload)
{
	atomic_fetch_add(&reload->n_refs, 1);
	return reload;
}

void ht_reload_release(struct ht_reload *reload)
{
	if (!reload || atomic_fetch_sub(&reload->n_refs, 1) > 1)
		return;
	struct ht_mem *mem = reload->mem;
	if (reload->joined.data)
		reload->joined.free(reload->joined.data);
	pthread_mutex_destroy(&reload->joined.lock);
	ht_arena_done(&reload->arena);
	ht_mem_free(mem, reload, sizeof *reload);
	ht_mem_release(mem);
}

static enum ht_status load_again(
        ht_ctx *ctx, const struct ht_set *set, size_t i, struct ht_trace **ret_trace);

struct ht_reload *ht_reload_of(const struct ht_set *set, size_t i)
{
	return set->load == load_again ? ((struct ht_reload **)set->load_user)[i] : NULL;
}

static enum ht_status load_again(
        ht_ctx *ctx, const struct ht_set *set, size_t i, struct ht_trace **ret_trace)
{
	const struct ht_reload *reload = ht_reload_of(set, i);
	return ht_read_trace(
	        ctx, set->roster.ranks[i].path, &reload->options, &reload->rules, ret_trace, NULL);
}

static void let_go(struct ht_set *set)
{
	struct ht_reload **list = set->load_user;
	for (size_t i = 0; i < set->roster.n; i++)
		ht_reload_release(list[i]);
}

void ht_reload_use(struct ht_set *set, struct ht_reload **list)
{
	set->load = load_again;
	set->load_user = list;
	set->load_done = let_go;
}
