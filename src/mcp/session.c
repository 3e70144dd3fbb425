/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - a client at the other end of two pipes: ht_mcp_open, ht_mcp_take, ht_mcp_close.
 *
 *   take ─► short ones are answered at once, on the caller's thread, so that their order is kept
 *        ─► long ones are queued ─► workers, a context with limits each ─► out, a message at a time
 *        ─► what a message says of the client, and which requests are under way, is the client's (client.c)
 */
#include "base/mem.h"
#include "mcp/client.h"
#include "mcp/log_folder.h"

#include "base/options.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORKERS 4
#define MAX_QUEUED  4096

struct job {
	struct job *next;
	ht_mcp *mcp;
	char *message;
	size_t n;
	ht_mcp_request *request; /* NULL: not to be cancelled */
	uint64_t deadline_ms;    /* 0: waits */
};

struct ht_mcp {
	ht_ctx *ctx;
	struct ht_mcp_options options;
	struct mcp_folder *folder;
	ht_mcp_client *client;
	pthread_mutex_t lock; /* guards the queue and what follows it */
	pthread_cond_t changed;
	struct job *waiting, **last_waiting;
	size_t n_waiting, n_running;
	pthread_t workers[MAX_WORKERS];
	int n_workers;
	bool is_ending;
	pthread_mutex_t out_lock;
	struct ht_sink notify;
	atomic_bool is_broken; /* nobody reads any more, or it ends now */
};

/* ---- out ---- */

/* One message with its newline, whole. */
static bool send_bytes(void *user, const void *bytes, size_t n)
{
	ht_mcp *mcp = user;
	pthread_mutex_lock(&mcp->out_lock);
	bool ok = !atomic_load(&mcp->is_broken) &&
	          mcp->options.out.write(mcp->options.out.user, bytes, n);
	if (!ok)
		atomic_store(&mcp->is_broken, true);
	pthread_mutex_unlock(&mcp->out_lock);
	return ok;
}

/* ---- answering ---- */

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct job *job = user;
	(void)what, (void)done, (void)total;
	return !mcp_request_is_cancelled(job->request) && !atomic_load(&job->mcp->is_broken) &&
	       (!job->deadline_ms || mcp_now_ms() < job->deadline_ms);
}

static struct ht_mcp_host make_host(ht_mcp *mcp, const struct job *job)
{
	struct ht_mcp_host host = { .struct_size = sizeof host,
		.notify = &mcp->notify,
		.max_bytes = mcp->options.answer_bytes,
		.request = job->request };
	mcp_folder_host(mcp->folder, &host);
	return host;
}

static int jobs_for(ht_mcp *mcp)
{
	int n = mcp->options.n_jobs > 0 ? mcp->options.n_jobs : ht_ctx_jobs(mcp->ctx);
	pthread_mutex_lock(&mcp->lock);
	int n_busy = mcp->n_running > 0 ? (int)mcp->n_running : 1;
	pthread_mutex_unlock(&mcp->lock);
	return n > n_busy ? n / n_busy : 1;
}

/* The answer goes out as a whole, unless the request was cancelled. */
static void answer(ht_mcp *mcp, struct job *job)
{
	static const char nothing[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
	                              "\"message\":\"out of memory\"}}\n";
	struct ht_mcp_host host = make_host(mcp, job);
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK) {
		(void)send_bytes(mcp, nothing, sizeof nothing - 1);
		return;
	}
	struct mcp_text text = { .mem = mcp->ctx->mem };
	struct ht_sink sink = mcp_text_sink(&text);
	ht_ctx_set_jobs(ctx, jobs_for(mcp));
	ht_ctx_set_memory_limit(
	        ctx, mcp->options.request_bytes ? mcp->options.request_bytes : (uint64_t)4 << 30);
	job->deadline_ms =
	        mcp_now_ms() + (mcp->options.request_ms ? mcp->options.request_ms : 60000);
	ht_ctx_set_progress(ctx, go_on, job);
	enum ht_status status = mcp_folder_confine(mcp->folder, ctx);
	if (status == HT_OK)
		status = ht_mcp_answer(ctx, &host, job->message, job->n, &sink);
	bool is_wanted = !mcp_request_is_cancelled(job->request);
	if (is_wanted && (status != HT_OK || text.failed))
		(void)send_bytes(mcp, nothing, sizeof nothing - 1);
	else if (is_wanted && text.bytes.n)
		(void)send_bytes(mcp, text.bytes.data, text.bytes.n);
	mcp_text_done(&text);
	ht_ctx_free(ctx);
}

/* ---- the queue ---- */

static void free_job(ht_mcp *mcp, struct job *job)
{
	ht_mem_free(mcp->ctx->mem, job->message, job->n + 1);
	ht_mcp_request_end(job->request);
	ht_mem_free(mcp->ctx->mem, job, sizeof *job);
}

static struct job *new_job(ht_mcp *mcp, const char *message, size_t n)
{
	struct ht_mem *mem = mcp->ctx->mem;
	struct job *job = ht_mem_zalloc(mem, sizeof *job);
	if (!job)
		return NULL;
	job->mcp = mcp;
	job->n = n;
	job->message = ht_mem_alloc(mem, n + 1);
	if (!job->message) {
		free_job(mcp, job);
		return NULL;
	}
	memcpy(job->message, message, n);
	job->message[n] = '\0';
	return job;
}

static void *work(void *user)
{
	ht_mcp *mcp = user;
	pthread_mutex_lock(&mcp->lock);
	for (;;) {
		while (!mcp->waiting && !mcp->is_ending)
			pthread_cond_wait(&mcp->changed, &mcp->lock);
		struct job *job = mcp->waiting;
		if (!job)
			break;
		mcp->waiting = job->next;
		if (!mcp->waiting)
			mcp->last_waiting = &mcp->waiting;
		mcp->n_waiting--;
		mcp->n_running++;
		pthread_mutex_unlock(&mcp->lock);
		if (go_on(job, NULL, 0, 0))
			answer(mcp, job);
		free_job(mcp, job);
		pthread_mutex_lock(&mcp->lock);
		mcp->n_running--;
	}
	pthread_mutex_unlock(&mcp->lock);
	return NULL;
}

/* False when there are too many: the client is told. */
static bool enqueue(ht_mcp *mcp, struct job *job)
{
	pthread_mutex_lock(&mcp->lock);
	bool fits = mcp->n_waiting < MAX_QUEUED && mcp->n_workers > 0;
	if (fits) {
		*mcp->last_waiting = job;
		mcp->last_waiting = &job->next;
		mcp->n_waiting++;
		pthread_cond_signal(&mcp->changed);
	}
	pthread_mutex_unlock(&mcp->lock);
	return fits;
}

static void refuse_queued(ht_mcp *mcp, const struct job *job)
{
	char text[512];
	size_t n_id;
	const char *id = mcp_request_id(job->request, &n_id);
	int n = snprintf(text, sizeof text,
	        "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32000,\"message\":"
	        "\"more than %d requests wait: send fewer at once\"}}\n",
	        (int)(n_id < 256 ? n_id : 4), n_id < 256 ? id : "null", MAX_QUEUED);
	(void)send_bytes(mcp, text, (size_t)n);
}

/* ---- the session ---- */

enum ht_status ht_mcp_take(ht_mcp *mcp, const char *message, size_t n)
{
	struct mcp_call call = { .ctx = mcp->ctx };
	ht_arena_init(&call.arena, mcp->ctx->mem);
	bool is_long = false;
	struct job *job = new_job(mcp, message, n);
	enum ht_status status = job ? HT_OK : HT_NOMEM;
	if (job && mcp_rpc_read(&call, message, n) && call.method) {
		status = mcp_client_note(mcp->client, &call, &job->request);
		is_long = job->request && mcp_method_is_long(call.method);
	}
	ht_arena_done(&call.arena);
	if (status != HT_OK) {
		if (job)
			free_job(mcp, job);
		return status;
	}
	if (is_long && enqueue(mcp, job))
		return HT_OK;
	if (is_long)
		refuse_queued(mcp, job);
	else
		answer(mcp, job);
	free_job(mcp, job);
	return atomic_load(&mcp->is_broken) ? HT_IO : HT_OK;
}

enum ht_status ht_mcp_open(ht_ctx *ctx, const struct ht_mcp_options *options, ht_mcp **ret_mcp)
{
	struct ht_mcp_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_mcp_options, out, options, &taken));
	if (!taken.n_sources || !taken.out.write)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "give a log directory and where to answer");
	ht_mcp *mcp = ht_mem_zalloc(ctx->mem, sizeof *mcp);
	if (!mcp)
		return ht_fail_nomem(ctx);
	mcp->ctx = ctx;
	mcp->options = taken;
	mcp->notify = (struct ht_sink){ send_bytes, mcp };
	mcp->last_waiting = &mcp->waiting;
	pthread_mutex_init(&mcp->lock, NULL);
	pthread_mutex_init(&mcp->out_lock, NULL);
	pthread_cond_init(&mcp->changed, NULL);
	enum ht_status status = ht_mcp_client_new(ctx, NULL, 0, &mcp->client);
	if (status == HT_OK)
		status = mcp_folder_new(ctx, &taken, &mcp->folder);
	int n = ht_ctx_jobs(ctx) < MAX_WORKERS ? ht_ctx_jobs(ctx) : MAX_WORKERS;
	while (status == HT_OK && mcp->n_workers < n &&
	        !pthread_create(&mcp->workers[mcp->n_workers], NULL, work, mcp))
		mcp->n_workers++;
	if (status == HT_OK && !mcp->n_workers)
		status = ht_fail(ctx, HT_LIMIT, NULL, -1, NULL, "cannot start a thread");
	if (status != HT_OK) {
		ht_mcp_close(mcp, true);
		return status;
	}
	*ret_mcp = mcp;
	return HT_OK;
}

void ht_mcp_close(ht_mcp *mcp, bool is_now)
{
	if (!mcp)
		return;
	if (is_now)
		atomic_store(&mcp->is_broken, true);
	pthread_mutex_lock(&mcp->lock);
	mcp->is_ending = true;
	pthread_cond_broadcast(&mcp->changed);
	pthread_mutex_unlock(&mcp->lock);
	for (int i = 0; i < mcp->n_workers; i++)
		pthread_join(mcp->workers[i], NULL);
	ht_mcp_client_free(mcp->client);
	if (mcp->folder)
		mcp_folder_free(mcp->folder);
	pthread_cond_destroy(&mcp->changed);
	pthread_mutex_destroy(&mcp->out_lock);
	pthread_mutex_destroy(&mcp->lock);
	ht_mem_free(mcp->ctx->mem, mcp, sizeof *mcp);
}
