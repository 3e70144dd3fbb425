/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - the context, its error text, and the one hiding macro.
 *
 * The text is set once, where the fault is known; callers may only prefix it ("rank 3: ").
 */
#ifndef HT_BASE_STATUS_H
#define HT_BASE_STATUS_H

#include "holotrace.h"
#include "base/arena.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>

#define HT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HT_TRY(expr)                                                                               \
	do {                                                                                       \
		enum ht_status ht_try_ = (expr);                                                   \
		if (ht_try_ != HT_OK)                                                              \
			return ht_try_;                                                            \
	} while (0)

struct ht_ctx {
	struct ht_mem *mem;
	int n_jobs; /* 0: one per CPU */
	int n_cpus; /* when this was made: to ask the system costs as much as to read a small file */
	ht_progress_fn progress;
	void *progress_user;
	atomic_bool cancelled;
	const ht_ctx *parent; /* of a task's context */
	int64_t made_unix_ns; /* when this was made, or what the task belongs to */
	void *slot;           /* ht_ctx_slot; NULL in a task's context */
	void (*end_slot)(void *slot);
	struct ht_fence *fence; /* what paths are confined to; NULL: nothing. See base/door.h */
	pthread_mutex_t lock; /* guards the slot and the error below: pool tasks may fail at once */
	struct ht_error error;
	char message[1024];
	char file[1024];
	char hint[512];
	/* Fault injection for tests: the n-th read or write from now fails; 0 is off. */
	atomic_llong fail_io_in;
	uint32_t range_rows; /* tests: how many rows a task gets; 0: HT_RANGE_ROWS */
};

/* An error kept aside, as a context has room for one only. */
struct ht_error_text {
	struct ht_error error; /* status HT_OK: none */
	char message[sizeof((struct ht_ctx *)0)->message];
	char file[sizeof((struct ht_ctx *)0)->file];
	char hint[sizeof((struct ht_ctx *)0)->hint];
};

/* Set the error, return the status. The first error of a call wins; file and hint may be NULL. */
enum ht_status ht_fail(ht_ctx *ctx, enum ht_status status, const char *file, int64_t offset,
        const char *hint, const char *format, ...) __attribute__((format(printf, 6, 7)));
enum ht_status ht_fail_nomem(ht_ctx *ctx);
/* Put "prefix: " before the current message. */
void ht_error_prefix(ht_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Name the file that the current error is about, unless it names one. */
void ht_error_in_file(ht_ctx *ctx, const char *file);
/* Keep a copy of the context's error; make one the error of a context, this or another. */
void ht_error_save(const ht_ctx *ctx, struct ht_error_text *ret_text);
void ht_error_load(ht_ctx *ctx, const struct ht_error_text *text);
/* Forget the last error; every public entry point starts with this. */
void ht_error_clear(ht_ctx *ctx);
/* Tell the caller how far we are; HT_CANCELLED when it said stop. Only from the calling thread. */
enum ht_status ht_progress(
        ht_ctx *ctx, const char *what, uint64_t done, uint64_t total) HT_MUST_USE;
/* True when the n-th I/O operation is told to fail; call before each read or write. */
bool ht_io_should_fail(ht_ctx *ctx);
/* A context for one task on one thread: the parent's memory, an error and one thread of its own, no progress.
 * Cancelling the parent cancels it. end gives its error to the parent and answers its status. */
void ht_ctx_begin_task(ht_ctx *parent, ht_ctx *ret_child);
enum ht_status ht_ctx_end_task(ht_ctx *parent, ht_ctx *child, enum ht_status status) HT_MUST_USE;
/* What a layer above keeps for as long as the context lives, shared by its tasks: made when somebody first asks for it,
 * ended by end. There is room for one such thing, the cache's (store/cache_quota.c). NULL: it could not be made. */
void *ht_ctx_slot(const ht_ctx *ctx, void *(*make)(void), void (*end)(void *slot));
/* Whether this context, or one that it was made from, was told to stop. */
bool ht_ctx_is_cancelled(const ht_ctx *ctx);
int ht_ctx_jobs(const ht_ctx *ctx);

#endif
