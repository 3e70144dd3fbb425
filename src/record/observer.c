/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.c - the life of a recording: register, start, stop, unregister, and what forks and exits do
 * to it.
 *
 * Everything here holds one lock and is slow; what threads do while recording is in threads.c and
 * takes no lock. A second registration is refused rather than ignored, so that two parts of a program
 * never believe that both own the output.
 */
#include "base/mem.h"
#include "record/finish.h"
#include "base/options.h"
#include "record/gpu.h"
#include "record/recorder.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_ELEMENTS  4096
#define DEFAULT_MAX_BYTES ((uint64_t)64 << 30)

struct ht_recorder ht_recorder = {
	.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, /* on_cycle may ask */
	.threads_lock = PTHREAD_MUTEX_INITIALIZER,
	.streams_lock = PTHREAD_MUTEX_INITIALIZER,
};

enum ht_status ht_recorder_fail(enum ht_status status, const char *format, ...)
{
	struct ht_thread *thread = ht_thread_get();
	va_list args;
	va_start(args, format);
	if (thread)
		vsnprintf(thread->failure, sizeof thread->failure, format, args);
	va_end(args);
	return status;
}

const char *ht_record_error(void)
{
	struct ht_thread *thread = ht_thread_get();
	return thread ? thread->failure : "out of memory";
}

static void at_fork(void)
{
	pthread_mutex_lock(&ht_recorder.lock);
	ht_names_lock();
	pthread_mutex_lock(&ht_recorder.threads_lock);
	pthread_mutex_lock(&ht_recorder.streams_lock);
	if (ht_recorder.registered)
		pthread_mutex_lock(&ht_recorder.part.lock);
}

static void after_fork_in_parent(void)
{
	if (ht_recorder.registered)
		pthread_mutex_unlock(&ht_recorder.part.lock);
	pthread_mutex_unlock(&ht_recorder.streams_lock);
	pthread_mutex_unlock(&ht_recorder.threads_lock);
	ht_names_unlock();
	pthread_mutex_unlock(&ht_recorder.lock);
}

static void free_streams(struct ht_recorder *r)
{
	struct ht_stream **streams = r->streams.data;
	for (size_t i = 0; i < r->streams.n; i++)
		ht_mem_free(r->mem, streams[i], sizeof **streams);
	ht_vec_free(r->mem, &r->streams, sizeof *streams);
}

/* The recording belongs to the parent: its file is left alone. */
static void after_fork_in_child(void)
{
	struct ht_recorder *r = &ht_recorder;
	bool registered = r->registered;
	pthread_mutexattr_t recursive;
	atomic_store(&r->running, false);
	/* A recursive mutex belongs to the parent's thread: it cannot be unlocked here, only made anew. */
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&r->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_mutex_init(&r->threads_lock, NULL);
	pthread_mutex_init(&r->streams_lock, NULL);
	pthread_mutex_init(&r->part.lock, NULL);
	ht_names_unlock();
	ht_threads_forget();
	ht_names_detach();
	ht_gpu_forget();
	if (registered) {
		ht_part_file_close(&r->part, false);
		free_streams(r);
	}
	r->registered = r->scheduled = false;
	atomic_fetch_add(&r->generation, 1);
}

static void prepare_once(void)
{
	pthread_atfork(at_fork, after_fork_in_parent, after_fork_in_child);
	ht_recorder.needs_fence =
	        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
	ht_recorder.mem = ht_mem_new();
}

enum ht_status ht_recorder_take(
        const char *type, const void *given, size_t first_bytes, void *ret_options, size_t n_bytes)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return ht_recorder_fail(HT_NOMEM, "out of memory");
	enum ht_status status =
	        ht_options_take(ctx, type, given, first_bytes, ret_options, n_bytes);
	if (status != HT_OK)
		(void)ht_recorder_fail(
		        status, "%s: %s", ht_error(ctx)->message, ht_error(ctx)->hint);
	ht_ctx_free(ctx);
	return status;
}

static enum ht_status take_options(
        struct ht_recorder *r, const char *path, const struct ht_record_options *o)
{
	struct ht_record_options options;
	HT_TRY(ht_recorder_take(HT_OPTIONS_OF(ht_record_options, cupti_path, o, &options)));
	if (!path && !options.trace_path)
		return ht_recorder_fail(
		        HT_USAGE, "neither an execution trace nor a timeline to write");
	const char *texts[] = { path, options.trace_path, options.cupti_path };
	char *copies[] = { r->path, r->trace_path, r->cupti_path };
	for (size_t i = 0; i < HT_COUNT(texts); i++) {
		size_t n = texts[i] ? strlen(texts[i]) : 0;
		if (n >= HT_PART_PATH - sizeof ".part")
			return ht_recorder_fail(HT_USAGE, "%s: the name is too long", texts[i]);
		memcpy(copies[i], texts[i] ? texts[i] : "", n + 1);
	}
	options.max_elements = options.max_elements ? options.max_elements : DEFAULT_ELEMENTS;
	options.max_bytes = options.max_bytes ? options.max_bytes : DEFAULT_MAX_BYTES;
	r->options = options;
	return HT_OK;
}

static void fill_header(const struct ht_recorder *r, struct ht_part_header *header)
{
	struct timespec wall;
	struct tm local;
	clock_gettime(CLOCK_REALTIME, &wall);
	header->start_ns = ht_record_now();
	header->in_ticks = r->in_ticks;
	header->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
	header->pid = getpid();
	header->flags = r->options.flags;
	header->max_elements = r->options.max_elements;
	header->rank = r->options.rank;
	header->n_ranks = r->options.n_ranks;
	if (!localtime_r(&wall.tv_sec, &local) ||
	        !strftime(header->time, sizeof header->time, "%Y-%m-%d %H:%M:%S", &local))
		header->time[0] = 0;
	memcpy(header->path, r->path, strlen(r->path) + 1);
	memcpy(header->trace, r->trace_path, strlen(r->trace_path) + 1);
	snprintf(header->program, sizeof header->program, "%s", program_invocation_short_name);
}

static enum ht_status open_recording(struct ht_recorder *r)
{
	char name[PATH_MAX];
	const char *base = r->path[0] ? r->path : r->trace_path;
	snprintf(name, sizeof name, "%.*s.part", (int)sizeof name - 6, base);
	bool in_memory = (r->options.flags & HT_RECORD_IN_MEMORY) != 0;
	int error =
	        ht_part_file_open(&r->part, r->mem, in_memory ? NULL : name, r->options.max_bytes);
	if (error)
		return ht_recorder_fail(
		        error == ENOMEM ? HT_NOMEM : HT_IO, "%s: %s", name, strerror(error));
	/* Nobody sees the times of a recording without a timeline. */
	r->in_ticks = !r->trace_path[0] && ht_record_has_ticks();
	fill_header(r, r->part.header);
	if (!ht_names_attach(&r->part)) {
		ht_names_detach();
		ht_part_file_close(&r->part, true);
		return ht_recorder_fail(HT_IO, "%s: no room for the names", name);
	}
	if (r->options.flags & HT_RECORD_CUDA)
		ht_gpu_attach(&r->part);
	return HT_OK;
}

enum ht_status ht_record_register(const char *path, const struct ht_record_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ht_recorder *r = &ht_recorder;
	pthread_once(&once, prepare_once);
	if (!r->mem)
		return ht_recorder_fail(HT_NOMEM, "out of memory");
	pthread_mutex_lock(&r->lock);
	enum ht_status status =
	        r->registered ? ht_recorder_fail(HT_USAGE, "%s is being recorded", r->path)
	                      : take_options(r, path, options);
	if (status == HT_OK && (r->options.flags & HT_RECORD_CUDA)) {
		/* The calls of a program without its GPU work are better than nothing. */
		const char *reason = "";
		if (ht_gpu_load(r->cupti_path[0] ? r->cupti_path : NULL, &reason) != 0) {
			r->options.flags &= ~(uint32_t)HT_RECORD_CUDA;
			(void)ht_recorder_fail(HT_OK, "no GPU activity is recorded: %s", reason);
		}
	}
	if (status == HT_OK)
		status = open_recording(r);
	if (status == HT_OK) {
		r->registered = r->ever = true;
		r->stats = (struct ht_record_stats){ 0 };
		atomic_fetch_add(&r->generation, 1);
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}

void ht_recorder_run(void)
{
	if (atomic_load(&ht_recorder.running))
		return;
	if (ht_recorder.options.flags & HT_RECORD_CUDA)
		ht_gpu_run();
	ht_part_file_prepare(&ht_recorder.part);
	atomic_fetch_add(&ht_recorder.window, 1);
	atomic_store(&ht_recorder.running, true);
}

void ht_recorder_pause(void)
{
	if (!atomic_load(&ht_recorder.running))
		return;
	atomic_store(&ht_recorder.running, false);
	/* Whoever has not seen that yet is seen to be busy after this. */
	if (!ht_recorder.needs_fence)
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	ht_threads_wait();
	if (ht_recorder.options.flags & HT_RECORD_CUDA)
		ht_gpu_pause();
}

enum ht_status ht_record_start(void)
{
	struct ht_recorder *r = &ht_recorder;
	pthread_mutex_lock(&r->lock);
	enum ht_status status =
	        r->registered ? HT_OK : ht_recorder_fail(HT_USAGE, "nothing is registered");
	if (status == HT_OK && r->options.schedule.active)
		ht_schedule_start();
	else if (status == HT_OK)
		ht_recorder_run();
	pthread_mutex_unlock(&r->lock);
	return status;
}

static void stop(struct ht_recorder *r)
{
	if (r->scheduled)
		ht_schedule_stop();
	ht_recorder_pause();
}

enum ht_status ht_record_stop(void)
{
	struct ht_recorder *r = &ht_recorder;
	pthread_mutex_lock(&r->lock);
	enum ht_status status =
	        r->registered ? HT_OK : ht_recorder_fail(HT_USAGE, "nothing is registered");
	if (status == HT_OK)
		stop(r);
	pthread_mutex_unlock(&r->lock);
	return status;
}

static void count(const struct ht_recorder *r, struct ht_record_stats *ret_stats)
{
	struct ht_record_stats stats = { .n_lost = ht_names_lost() + ht_gpu_lost() };
	struct ht_stream **streams = r->streams.data;
	for (size_t i = 0; i < r->streams.n; i++) {
		stats.n_calls += ht_counter_get(&streams[i]->n_begins);
		stats.n_lost += ht_counter_get(&streams[i]->n_lost);
		stats.n_bytes += ht_counter_get(&streams[i]->n_bytes);
	}
	stats.n_threads = (uint32_t)r->streams.n;
	*ret_stats = stats;
}

enum ht_status ht_record_unregister(void)
{
	struct ht_recorder *r = &ht_recorder;
	pthread_mutex_lock(&r->lock);
	enum ht_status status = HT_OK;
	if (r->registered) {
		stop(r);
		if (r->options.flags & HT_RECORD_CUDA)
			ht_gpu_detach();
		ht_names_detach();
		count(r, &r->stats);
		status = ht_finish_live(&r->part);
		ht_part_file_close(&r->part, status == HT_OK);
		free_streams(r);
		r->registered = false;
		atomic_fetch_add(&r->generation, 1);
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}

void ht_record_get_stats(struct ht_record_stats *ret_stats)
{
	struct ht_recorder *r = &ht_recorder;
	if (!ret_stats)
		return;
	pthread_mutex_lock(&r->lock);
	struct ht_record_stats stats = r->stats;
	if (r->registered) {
		pthread_mutex_lock(&r->streams_lock);
		count(r, &stats);
		pthread_mutex_unlock(&r->streams_lock);
	}
	pthread_mutex_unlock(&r->lock);
	HT_OPTIONS_GIVE(ht_record_stats, n_threads, &stats, ret_stats);
}

const char *ht_record_output_path(void)
{
	return ht_recorder.ever ? ht_recorder.path : NULL;
}

bool ht_record_is_registered(void)
{
	return ht_recorder.registered;
}

bool ht_record_is_running(void)
{
	return atomic_load(&ht_recorder.running);
}

/* A program that ends without a word still gets its files. */
__attribute__((destructor)) static void at_exit(void)
{
	if (ht_record_unregister() != HT_OK)
		return; /* there is nobody to tell */
}
