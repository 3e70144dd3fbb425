/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - what each thread keeps between calls, and the calls themselves.
 *
 * The state of a thread lives as long as the thread, its stream as long as the recording. To enter a
 * call is a store to the thread's own memory, and a look at `running`; to stop a recording is to clear
 * that, to fence all threads by one call to the kernel, and to wait for those who entered before. Nobody waits for a thread that is elsewhere, so a stop can be
 * called with any lock of the program held.
 */
#include "base/mem.h"
#include "base/options.h"
#include "record/recorder.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IDS_AT_ONCE         4096
#define TOKEN_SEQUENCE_BITS 36
#define TOKEN_INDEX_BITS    20
#define TOKEN_MAX_INDEX     (((uint64_t)1 << TOKEN_INDEX_BITS) - 1)
#define TOKEN_MAX_SEQUENCE  (((uint64_t)1 << TOKEN_SEQUENCE_BITS) - 1)

/* All that the library has in each thread's own memory, so it may have the fastest kind. */
static _Thread_local struct ht_thread *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static bool exit_works;
static atomic_ullong next_ids = 1;

static void unlink_thread(struct ht_thread *thread)
{
	if (thread->prev)
		thread->prev->next = thread->next;
	else
		ht_recorder.threads = thread->next;
	if (thread->next)
		thread->next->prev = thread->prev;
}

static void free_thread(struct ht_thread *thread)
{
	if (thread->names.pool)
		ht_intern_done(&thread->names);
	free(thread);
}

static void at_thread_exit(void *user)
{
	struct ht_thread *thread = user;
	mine = NULL;
	pthread_mutex_lock(&ht_recorder.threads_lock);
	unlink_thread(thread);
	pthread_mutex_unlock(&ht_recorder.threads_lock);
	free_thread(thread);
}

static void make_exit_key(void)
{
	exit_works = pthread_key_create(&exit_key, at_thread_exit) == 0;
}

struct ht_thread *ht_thread_get(void)
{
	if (mine)
		return mine;
	pthread_once(&exit_once, make_exit_key);
	struct ht_thread *thread = exit_works ? calloc(1, sizeof *thread) : NULL;
	if (!thread || pthread_setspecific(exit_key, thread) != 0) {
		free(thread);
		return NULL;
	}
	pthread_mutex_lock(&ht_recorder.threads_lock);
	thread->next = ht_recorder.threads;
	if (thread->next)
		thread->next->prev = thread;
	ht_recorder.threads = thread;
	pthread_mutex_unlock(&ht_recorder.threads_lock);
	mine = thread;
	return thread;
}

void ht_threads_wait(void)
{
	pthread_mutex_lock(&ht_recorder.threads_lock);
	for (struct ht_thread *thread = ht_recorder.threads; thread; thread = thread->next)
		while (thread != mine && atomic_load(&thread->busy))
			sched_yield();
	pthread_mutex_unlock(&ht_recorder.threads_lock);
}

void ht_threads_forget(void)
{
	struct ht_thread *next;
	for (struct ht_thread *thread = ht_recorder.threads; thread; thread = next) {
		next = thread->next;
		if (thread != mine)
			free_thread(thread);
	}
	ht_recorder.threads = mine;
	if (mine) {
		mine->prev = mine->next = NULL;
		mine->stream = NULL;
		mine->generation = 0;
		atomic_store(&mine->busy, 0);
	}
}

static int64_t time_now(void)
{
	return ht_recorder.in_ticks ? ht_record_ticks() : ht_record_now();
}

/* A record with the time since the last one at its start. */
static int64_t open_timed(struct ht_stream *s, int64_t now)
{
	ht_stream_open_record(s);
	if (ht_stream_room(s, HT_VARINT_MAX))
		s->at = ht_put_u64(s->at, (uint64_t)(now - s->last_ns));
	return now;
}

/* Whether no other thread has written since this one did: only then the order of its records is all there is to know. */
static bool wrote_last(const struct ht_stream *s)
{
	return atomic_load_explicit(&ht_recorder.last_writer, memory_order_relaxed) == s->index + 1;
}

static bool commit_timed(struct ht_stream *s, enum ht_record_type type, int64_t now)
{
	bool done = ht_stream_commit(s, type);
	if (done)
		s->last_ns = now;
	/* a thread that is alone only looks */
	if (!wrote_last(s))
		atomic_store_explicit(&ht_recorder.last_writer, s->index + 1, memory_order_relaxed);
	return done;
}

static void write_thread(struct ht_thread *thread, uint64_t number)
{
	struct ht_stream *s = thread->stream;
	char name[64];
	memcpy(name, thread->name, sizeof name);
	if (!name[0] && pthread_getname_np(pthread_self(), name, sizeof name) != 0)
		name[0] = 0;
	s->number = number ? number : s->number;
	int64_t now = open_timed(s, time_now());
	if (ht_stream_room(s, 2 * HT_VARINT_MAX)) {
		s->at = ht_put_u64(s->at, s->number);
		s->at = ht_put_u64(s->at, (uint64_t)syscall(SYS_gettid));
	}
	ht_stream_put_text(s, name, strlen(name));
	(void)commit_timed(s, HT_TYPE_THREAD, now);
}

/* A stream of this recording for the thread. */
static bool take_stream(struct ht_thread *thread, uint64_t number)
{
	struct ht_recorder *r = &ht_recorder;
	struct ht_stream *s = ht_mem_alloc(r->mem, sizeof *s);
	if (!s)
		return false;
	pthread_mutex_lock(&r->streams_lock);
	size_t index = r->streams.n;
	bool done =
	        index <= TOKEN_MAX_INDEX && HT_VEC_PUSH(r->mem, &r->streams, struct ht_stream *, s);
	pthread_mutex_unlock(&r->streams_lock);
	if (!done) {
		ht_mem_free(r->mem, s, sizeof *s);
		return false;
	}
	ht_stream_init(s, &r->part, HT_CHUNK_CALLS, (uint32_t)index);
	s->last_ns = r->in_ticks ? ht_record_ticks() : r->part.header->start_ns;
	thread->stream = s;
	thread->generation = atomic_load(&r->generation);
	write_thread(thread, number ? number : index + 1);
	return true;
}

static void mark_window(struct ht_stream *s, unsigned window)
{
	int64_t now = open_timed(s, time_now());
	if (ht_stream_room(s, HT_VARINT_MAX))
		s->at = ht_put_u64(s->at, window);
	if (commit_timed(s, HT_TYPE_WINDOW, now))
		s->window = window;
}

/* This thread with the recording held, or NULL: nothing is recorded, or this thread is recording a
 * call already. `number` is what it is called from its first record on, 0: the next one. */
static struct ht_thread *enter(uint64_t number)
{
	struct ht_recorder *r = &ht_recorder;
	if (!atomic_load_explicit(&r->running, memory_order_relaxed))
		return NULL;
	struct ht_thread *thread = ht_thread_get();
	if (!thread || atomic_load_explicit(&thread->busy, memory_order_relaxed))
		return NULL;
	atomic_store_explicit(&thread->busy, 1, memory_order_relaxed);
	if (r->needs_fence)
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&r->running, memory_order_acquire)) {
		unsigned window = atomic_load_explicit(&r->window, memory_order_relaxed);
		if (thread->generation ==
		                atomic_load_explicit(&r->generation, memory_order_relaxed) ||
		        take_stream(thread, number)) {
			if (thread->stream->window != window)
				mark_window(thread->stream, window);
			if (thread->stream->window == window)
				return thread;
			ht_counter_add(&thread->stream->n_lost, 1);
		}
	}
	ht_thread_leave(thread);
	return NULL;
}

static uint64_t fresh_id(struct ht_thread *thread)
{
	if (thread->next_id == thread->end_id) {
		thread->next_id = atomic_fetch_add(&next_ids, IDS_AT_ONCE);
		thread->end_id = thread->next_id + IDS_AT_ONCE;
	}
	return thread->next_id++;
}

static void put_call(struct ht_stream *s, const struct ht_record_call *call, uint64_t id)
{
	if (!ht_stream_room(s, 1 + 9 * HT_VARINT_MAX))
		return;
	bool kernel = call->kernel_backend || call->kernel_file || call->tensor_range;
	uint8_t *at = s->at;
	*at++ = (uint8_t)((call->scope & 15) | (call->sequence != -1 ? HT_BEGIN_SEQUENCE : 0) |
	                  (call->forward_thread ? HT_BEGIN_FORWARD : 0) |
	                  (call->schema ? HT_BEGIN_SCHEMA : 0) | (kernel ? HT_BEGIN_KERNEL : 0));
	at = ht_put_u64(at, call->name);
	at = ht_put_i64(at, (int64_t)(id - s->last_id));
	if (call->sequence != -1)
		at = ht_put_i64(at, call->sequence);
	if (call->forward_thread)
		at = ht_put_u64(at, call->forward_thread);
	if (call->schema)
		at = ht_put_u64(at, call->schema);
	if (kernel) {
		at = ht_put_u64(at, call->kernel_backend);
		at = ht_put_u64(at, call->kernel_file);
		at = ht_put_u64(at, call->tensor_range);
	}
	s->at = at;
}

uint64_t ht_record_begin(const struct ht_record_call *call)
{
	struct ht_record_call taken;
	/* Callers of this version have nothing to be looked at, nor those of the first one: it is the same. */
	if (call && call->struct_size && call->struct_size != sizeof *call) {
		if (ht_recorder_take(HT_OPTIONS_OF(ht_record_call, n_inputs, call, &taken)))
			return 0;
		call = &taken;
	}
	struct ht_thread *thread = call ? enter(call->thread) : NULL;
	if (!thread)
		return 0;
	const struct ht_record_options *options = &ht_recorder.options;
	struct ht_stream *s = thread->stream;
	uint64_t id = call->record_id ? call->record_id : fresh_id(thread), token = 0;
	if (call->thread && call->thread != s->number)
		write_thread(thread, call->thread);
	int64_t now = open_timed(s, time_now());
	put_call(s, call, id);
	ht_stream_put_values(s, call->inputs,
	        options->flags & HT_RECORD_NO_INPUTS ? 0 : call->n_inputs, options->max_elements);
	uint64_t sequence = ht_counter_get(&s->n_begins);
	if (sequence > TOKEN_MAX_SEQUENCE)
		s->failed = true;
	if (commit_timed(s, HT_TYPE_BEGIN, now)) {
		s->last_id = id;
		token = (thread->generation & 0xff) << (TOKEN_INDEX_BITS + TOKEN_SEQUENCE_BITS) |
		        (uint64_t)s->index << TOKEN_SEQUENCE_BITS | sequence;
		ht_counter_add(&s->n_begins, 1);
		token++;
	}
	ht_thread_leave(thread);
	return token;
}

void ht_record_end(uint64_t token, const struct ht_record_result *result)
{
	struct ht_record_result taken;
	if (result && result->struct_size && result->struct_size != sizeof *result)
		result = ht_recorder_take(
		                 HT_OPTIONS_OF(ht_record_result, n_attributes, result, &taken))
		                 ? NULL
		                 : &taken;
	struct ht_thread *thread = token ? enter(0) : NULL;
	if (!thread)
		return;
	token--;
	const struct ht_record_options *options = &ht_recorder.options;
	static const struct ht_record_result nothing;
	struct ht_stream *s = thread->stream;
	uint64_t index = token >> TOKEN_SEQUENCE_BITS & TOKEN_MAX_INDEX;
	uint64_t sequence = token & TOKEN_MAX_SEQUENCE;
	result = result ? result : &nothing;
	if (token >> (TOKEN_INDEX_BITS + TOKEN_SEQUENCE_BITS) == (thread->generation & 0xff)) {
		/* Ticks only order what threads do, and a call that ends where it began follows what its thread did before, as long
		 * as no other thread did something meanwhile, such as the backward pass while this one waits for it; only who
		 * tells objects apart by when their addresses were given back asks more. To ask the processor
		 * twice a call is a good part of its cost. */
		bool by_order = ht_recorder.in_ticks && index == s->index && wrote_last(s) &&
		                !(options->flags & HT_RECORD_NEW_IDS);
		int64_t now = open_timed(s, by_order ? s->last_ns : time_now());
		if (ht_stream_room(s, 2 * HT_VARINT_MAX)) {
			/* Most calls end where they began, and last in first out. */
			uint64_t n_begins = ht_counter_get(&s->n_begins);
			bool here = index == s->index && sequence < n_begins;
			s->at = ht_put_u64(s->at, here ? 0 : index + 1);
			s->at = ht_put_u64(s->at, here ? n_begins - 1 - sequence : sequence);
		}
		ht_stream_put_values(s, result->outputs,
		        options->flags & HT_RECORD_NO_OUTPUTS ? 0 : result->n_outputs,
		        options->max_elements);
		ht_stream_put_attributes(s, result->attributes, result->n_attributes);
		(void)commit_timed(s, HT_TYPE_END, now);
	}
	ht_thread_leave(thread);
}

uint64_t ht_record_push(const char *name)
{
	if (!name || !atomic_load_explicit(&ht_recorder.running, memory_order_relaxed))
		return 0;
	struct ht_record_call call = { .name = ht_record_name(name, strlen(name)),
		.scope = HT_RECORD_ANNOTATION,
		.sequence = -1 };
	return ht_record_begin(&call);
}

void ht_record_freed(const void *address)
{
	struct ht_thread *thread = ht_recorder.options.flags & HT_RECORD_NEW_IDS ? enter(0) : NULL;
	if (!thread)
		return;
	struct ht_stream *s = thread->stream;
	int64_t now = open_timed(s, time_now());
	if (ht_stream_room(s, HT_VARINT_MAX))
		s->at = ht_put_u64(s->at, (uintptr_t)address);
	(void)commit_timed(s, HT_TYPE_FREED, now);
	ht_thread_leave(thread);
}

void ht_record_name_thread(const char *name)
{
	struct ht_thread *thread = name ? ht_thread_get() : NULL;
	if (!thread)
		return;
	size_t n = strlen(name);
	n = n < sizeof thread->name ? n : sizeof thread->name - 1;
	memcpy(thread->name, name, n);
	thread->name[n] = 0;
	thread = enter(0);
	if (!thread)
		return;
	write_thread(thread, 0);
	ht_thread_leave(thread);
}
