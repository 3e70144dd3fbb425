/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - see status.h.
 */
#include "base/status.h"

#include "base/fence.h"
#include "base/mem.h"
#include "holotrace/own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum ht_status ht_ctx_new(ht_ctx **ret_ctx)
{
	ht_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return HT_NOMEM;
	ctx->mem = ht_mem_new();
	if (!ctx->mem) {
		free(ctx);
		return HT_NOMEM;
	}
	pthread_mutex_init(&ctx->lock, NULL);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	ctx->made_unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	ctx->n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	*ret_ctx = ctx;
	return HT_OK;
}

void ht_ctx_free(ht_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->slot)
		ctx->end_slot(ctx->slot);
	ht_fence_free(ctx->fence);
	pthread_mutex_destroy(&ctx->lock);
	ht_mem_release(ctx->mem);
	free(ctx);
}

const struct ht_error *ht_error(const ht_ctx *ctx)
{
	return &ctx->error;
}

void ht_ctx_set_progress(ht_ctx *ctx, ht_progress_fn fn, void *user)
{
	ctx->progress = fn;
	ctx->progress_user = user;
}

void ht_ctx_set_jobs(ht_ctx *ctx, int n_jobs)
{
	ctx->n_jobs = n_jobs;
}

void ht_ctx_set_memory_limit(ht_ctx *ctx, uint64_t bytes)
{
	ctx->mem->limit = bytes;
}

void ht_ctx_memory(const ht_ctx *ctx, uint64_t *ret_now, uint64_t *ret_peak)
{
	*ret_now = atomic_load(&ctx->mem->now);
	*ret_peak = atomic_load(&ctx->mem->peak);
}

const char *ht_version(void)
{
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
	return TEXT(HT_VERSION_MAJOR) "." TEXT(HT_VERSION_MINOR) "." TEXT(HT_VERSION_PATCH);
#undef TEXT
#undef TEXT_
}

const char *ht_status_name(enum ht_status status)
{
	static const char *const names[] = { "ok", "out of memory", "input/output", "format",
		"limit", "usage", "missing", "cancelled", "internal" };
	return (size_t)status < HT_COUNT(names) ? names[status] : "unknown";
}

int ht_ctx_jobs(const ht_ctx *ctx)
{
	int n = ctx->n_jobs > 0 ? ctx->n_jobs : ctx->n_cpus;
	return n < 1 ? 1 : n > 256 ? 256 : n;
}

enum ht_status ht_fail(ht_ctx *ctx, enum ht_status status, const char *file, int64_t offset,
        const char *hint, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	pthread_mutex_lock(&ctx->lock);
	if (ctx->error.status == HT_OK) {
		vsnprintf(ctx->message, sizeof ctx->message, format, ap);
		snprintf(ctx->file, sizeof ctx->file, "%s", file ? file : "");
		snprintf(ctx->hint, sizeof ctx->hint, "%s", hint ? hint : "");
		ctx->error = (struct ht_error){ status, ctx->message, file ? ctx->file : NULL,
			offset, hint ? ctx->hint : NULL };
	}
	status = ctx->error.status;
	pthread_mutex_unlock(&ctx->lock);
	va_end(ap);
	return status;
}

enum ht_status ht_fail_nomem(ht_ctx *ctx)
{
	/* arenas refuse memory once their work is cancelled */
	if (ht_ctx_is_cancelled(ctx))
		return ht_fail(ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
	if (atomic_load(&ctx->mem->hit_limit))
		return ht_fail(ctx, HT_LIMIT, NULL, -1,
		        "raise the memory limit or load fewer ranks at once",
		        "memory limit of %llu bytes reached", ctx->mem->limit);
	return ht_fail(ctx, HT_NOMEM, NULL, -1, NULL, "out of memory");
}

void ht_error_prefix(ht_ctx *ctx, const char *format, ...)
{
	char prefix[256];
	va_list ap;
	va_start(ap, format);
	vsnprintf(prefix, sizeof prefix - 2, format, ap);
	va_end(ap);
	size_t n = strlen(prefix);
	memcpy(prefix + n, ": ", 2);
	n += 2;
	pthread_mutex_lock(&ctx->lock);
	size_t room = sizeof ctx->message - n - 1, old = strlen(ctx->message);
	if (old > room)
		old = room;
	memmove(ctx->message + n, ctx->message, old);
	memcpy(ctx->message, prefix, n);
	ctx->message[n + old] = '\0';
	pthread_mutex_unlock(&ctx->lock);
}

void ht_error_in_file(ht_ctx *ctx, const char *file)
{
	pthread_mutex_lock(&ctx->lock);
	if (ctx->error.status != HT_OK && !ctx->error.file) {
		snprintf(ctx->file, sizeof ctx->file, "%s", file);
		ctx->error.file = ctx->file;
	}
	pthread_mutex_unlock(&ctx->lock);
}

void ht_error_save(const ht_ctx *ctx, struct ht_error_text *ret_text)
{
	ret_text->error = ctx->error;
	memcpy(ret_text->message, ctx->message, sizeof ctx->message);
	memcpy(ret_text->file, ctx->file, sizeof ctx->file);
	memcpy(ret_text->hint, ctx->hint, sizeof ctx->hint);
}

void ht_error_load(ht_ctx *ctx, const struct ht_error_text *text)
{
	ctx->error = text->error;
	memcpy(ctx->message, text->message, sizeof ctx->message);
	memcpy(ctx->file, text->file, sizeof ctx->file);
	memcpy(ctx->hint, text->hint, sizeof ctx->hint);
	ctx->error.message = ctx->message;
	ctx->error.file = text->error.file ? ctx->file : NULL;
	ctx->error.hint = text->error.hint ? ctx->hint : NULL;
}

void ht_error_clear(ht_ctx *ctx)
{
	ctx->error = (struct ht_error){ .offset = -1 };
	ctx->message[0] = '\0';
	atomic_store(&ctx->cancelled, false);
}

enum ht_status ht_progress(ht_ctx *ctx, const char *what, uint64_t done, uint64_t total)
{
	if (ctx->progress && !ctx->progress(ctx->progress_user, what, done, total))
		atomic_store(&ctx->cancelled, true);
	if (ht_ctx_is_cancelled(ctx))
		return ht_fail(ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
	return HT_OK;
}

bool ht_ctx_is_cancelled(const ht_ctx *ctx)
{
	for (; ctx; ctx = ctx->parent)
		if (atomic_load_explicit(&ctx->cancelled, memory_order_relaxed))
			return true;
	return false;
}

void ht_ctx_begin_task(ht_ctx *parent, ht_ctx *ret_child)
{
	memset(ret_child, 0, sizeof *ret_child);
	ret_child->mem = parent->mem;
	ret_child->n_jobs = 1;
	ret_child->range_rows = parent->range_rows;
	ret_child->parent = parent;
	ret_child->made_unix_ns = parent->made_unix_ns;
	pthread_mutex_init(&ret_child->lock, NULL);
	ht_error_clear(ret_child);
	/* injected faults are one series over all tasks */
	atomic_store(&ret_child->fail_io_in, atomic_load(&parent->fail_io_in));
}

void *ht_ctx_slot(const ht_ctx *ctx, void *(*make)(void), void (*end)(void *slot))
{
	while (ctx->parent)
		ctx = ctx->parent;
	/* to make it is not a change that anybody can see */
	ht_ctx *own = (ht_ctx *)(uintptr_t)ctx;
	pthread_mutex_lock(&own->lock);
	if (!own->slot) {
		own->slot = make();
		own->end_slot = end;
	}
	void *slot = own->slot;
	pthread_mutex_unlock(&own->lock);
	return slot;
}

enum ht_status ht_ctx_end_task(ht_ctx *parent, ht_ctx *child, enum ht_status status)
{
	if (status == HT_NOMEM && child->error.status == HT_OK)
		status = ht_fail_nomem(child);
	if (status != HT_OK)
		status = ht_fail(parent, status, child->error.file, child->error.offset,
		        child->error.hint, "%s", child->message);
	pthread_mutex_destroy(&child->lock);
	return status;
}

bool ht_io_should_fail(ht_ctx *ctx)
{
	return atomic_load_explicit(&ctx->fail_io_in, memory_order_relaxed) > 0 &&
	       atomic_fetch_sub(&ctx->fail_io_in, 1) == 1;
}
