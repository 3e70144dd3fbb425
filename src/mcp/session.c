/*
 * session.c - a client at the other end of two pipes: ht_mcp_open, ht_mcp_take, ht_mcp_close.
 *
 *   take ─► short ones are answered at once, on the caller's thread, so that their order is kept
 *        ─► long ones are queued ─► workers, a context with limits each ─► out, a message at a time
 *        ─► notifications/cancelled sets the flag of the request, which its progress function sees; it has no answer then
 */
#include "mcp/folder.h"

#include "base/options.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_WORKERS 4
#define MAX_QUEUED  4096

struct job {
	struct job *next;
	ht_mcp *mcp;
	char *message;
	size_t n;
	char *id; /* as it stands in the message */
	size_t n_id;
	atomic_bool is_cancelled;
	uint64_t deadline_ms; /* 0: waits */
};

struct ht_mcp {
	ht_ctx *ctx;
	struct ht_mcp_options options;
	struct mcp_folder *folder;
	pthread_mutex_t lock; /* guards the queues and what follows them */
	pthread_cond_t changed;
	struct job *waiting, **last_waiting, *running;
	size_t n_waiting, n_running;
	pthread_t workers[MAX_WORKERS];
	int n_workers;
	bool is_ending;
	pthread_mutex_t out_lock;
	struct ht_sink notify;
	atomic_bool is_broken; /* nobody reads any more, or it ends now */
	atomic_int log_level;
	atomic_bool is_old;
};

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

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
	return !atomic_load(&job->is_cancelled) && !atomic_load(&job->mcp->is_broken) &&
	       (!job->deadline_ms || now_ms() < job->deadline_ms);
}

static struct ht_mcp_host make_host(ht_mcp *mcp)
{
	struct ht_mcp_host host = { .struct_size = sizeof host,
		.notify = &mcp->notify,
		.log_level = atomic_load(&mcp->log_level),
		.is_old = atomic_load(&mcp->is_old),
		.max_bytes = mcp->options.answer_bytes };
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
	struct ht_mcp_host host = make_host(mcp);
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
	job->deadline_ms = now_ms() + (mcp->options.request_ms ? mcp->options.request_ms : 60000);
	ht_ctx_set_progress(ctx, go_on, job);
	enum ht_status status = mcp_folder_confine(mcp->folder, ctx);
	if (status == HT_OK)
		status = ht_mcp_answer(ctx, &host, job->message, job->n, &sink);
	bool is_wanted = !atomic_load(&job->is_cancelled);
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
	ht_mem_free(mcp->ctx->mem, job->id, job->n_id + 1);
	ht_mem_free(mcp->ctx->mem, job, sizeof *job);
}

static struct job *new_job(ht_mcp *mcp, const char *message, size_t n, const struct mcp_call *call)
{
	struct ht_mem *mem = mcp->ctx->mem;
	struct job *job = ht_mem_zalloc(mem, sizeof *job);
	if (!job)
		return NULL;
	job->mcp = mcp;
	job->n = n;
	job->n_id = call->id.type != HT_JSON_END ? call->id.n : 0;
	job->message = ht_mem_alloc(mem, n + 1);
	job->id = ht_mem_alloc(mem, job->n_id + 1);
	if (!job->message || !job->id) {
		free_job(mcp, job);
		return NULL;
	}
	memcpy(job->message, message, n);
	job->message[n] = '\0';
	memcpy(job->id, call->id.text ? call->id.text : "", job->n_id);
	return job;
}

static void remove_running(ht_mcp *mcp, struct job *job)
{
	struct job **at = &mcp->running;
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	mcp->n_running--;
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
		job->next = mcp->running;
		mcp->running = job;
		mcp->n_running++;
		pthread_mutex_unlock(&mcp->lock);
		if (go_on(job, NULL, 0, 0))
			answer(mcp, job);
		pthread_mutex_lock(&mcp->lock);
		remove_running(mcp, job);
		free_job(mcp, job);
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

static void cancel(ht_mcp *mcp, const struct ht_json_value *id)
{
	struct job *lists[2];
	pthread_mutex_lock(&mcp->lock);
	lists[0] = mcp->waiting;
	lists[1] = mcp->running;
	for (size_t i = 0; i < HT_COUNT(lists); i++)
		for (struct job *job = lists[i]; job; job = job->next)
			if (id->n && job->n_id == id->n && !memcmp(job->id, id->text, id->n))
				atomic_store(&job->is_cancelled, true);
	pthread_mutex_unlock(&mcp->lock);
}

static void refuse_queued(ht_mcp *mcp, const struct job *job)
{
	char text[512];
	int n = snprintf(text, sizeof text,
	        "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32000,\"message\":"
	        "\"more than %d requests wait: send fewer at once\"}}\n",
	        (int)(job->n_id < 256 ? job->n_id : 4), job->n_id < 256 ? job->id : "null",
	        MAX_QUEUED);
	(void)send_bytes(mcp, text, (size_t)n);
}

/* ---- the session ---- */

/* What the session itself has to know of a message. */
static void note(ht_mcp *mcp, struct mcp_call *call)
{
	struct ht_json_value id = ht_json_get(&call->params, "requestId");
	if (!strcmp(call->method, "notifications/cancelled"))
		cancel(mcp, &id);
	if (!strcmp(call->method, "logging/setLevel")) {
		int level = mcp_log_level(mcp_param(call, "level"));
		if (level >= 0)
			atomic_store(&mcp->log_level, level);
	}
	if (!strcmp(call->method, "initialize")) {
		const char *version = mcp_param(call, "protocolVersion");
		atomic_store(&mcp->is_old, version && !strcmp(version, "2024-11-05"));
	}
}

enum ht_status ht_mcp_take(ht_mcp *mcp, const char *message, size_t n)
{
	struct mcp_call call = { .ctx = mcp->ctx };
	ht_arena_init(&call.arena, mcp->ctx->mem);
	bool is_long = false;
	if (mcp_rpc_read(&call, message, n) && call.method) {
		note(mcp, &call);
		is_long = call.id.type != HT_JSON_END && mcp_method_is_long(call.method);
	}
	struct job *job = new_job(mcp, message, n, &call);
	ht_arena_done(&call.arena);
	if (!job)
		return HT_NOMEM;
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
	atomic_init(&mcp->log_level, 1);
	pthread_mutex_init(&mcp->lock, NULL);
	pthread_mutex_init(&mcp->out_lock, NULL);
	pthread_cond_init(&mcp->changed, NULL);
	enum ht_status status = mcp_folder_new(ctx, &taken, &mcp->folder);
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
	if (mcp->folder)
		mcp_folder_free(mcp->folder);
	pthread_cond_destroy(&mcp->changed);
	pthread_mutex_destroy(&mcp->out_lock);
	pthread_mutex_destroy(&mcp->lock);
	ht_mem_free(mcp->ctx->mem, mcp, sizeof *mcp);
}
