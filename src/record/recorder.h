/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the recording in progress, and what each thread knows of it.
 *
 *   ht_record_begin ─► enter ─► this thread's stream ─► its chunks ─► PATH.part
 *                        │ busy = 1                        │ finish: ht_image ─► JSON
 *   ht_record_stop  ─► running = 0, then wait until nobody is busy
 *
 * `generation` counts registrations; a thread whose stream is of another one takes a new stream.
 * `window` counts starts; the first record of a stream in a window is a mark, and finishing pairs
 * begin and end within a window only.
 */
#ifndef HT_RECORD_RECORDER_H
#define HT_RECORD_RECORDER_H

#include "base/intern.h"
#include "record/stream.h"

struct ht_thread {
	atomic_int busy;     /* in begin or end: the recording must stay */
	uint64_t generation; /* of stream */
	struct ht_stream *stream;
	struct ht_intern names;
	uint64_t next_id, end_id; /* record ids taken in advance */
	struct ht_thread *prev, *next;
	char name[64]; /* "": ask the system */
	char failure[1200];
};

struct ht_recorder {
	pthread_mutex_t lock; /* of life: register, start, stop, step, unregister */
	atomic_bool running;
	bool in_ticks;    /* what is the time: see struct ht_part_header */
	bool needs_fence; /* the kernel cannot fence for all threads at once */
	atomic_uint window;
	atomic_ullong generation;
	atomic_bool registered; /* also asked by signal handlers */
	bool ever;
	struct ht_mem *mem;
	struct ht_record_options options;
	char path[PATH_MAX], trace_path[PATH_MAX], cupti_path[PATH_MAX];
	struct ht_part_file part;
	struct ht_record_stats stats; /* of the last recording */

	pthread_mutex_t
	        threads_lock; /* held while waiting for busy threads: they must not take it */
	struct ht_thread *threads;
	pthread_mutex_t streams_lock;
	struct ht_vec streams; /* struct ht_stream * of threads */

	/* 1 + the index of the stream that wrote the last record. Alone on its cache line: threads that take turns pass it on,
	 * and nothing else goes with it. */
	_Alignas(128) atomic_uint last_writer;

	/* The schedule. */
	_Alignas(128) bool scheduled; /* started, and step() moves it */
	uint64_t i_step;
	uint64_t step_token;
};

extern struct ht_recorder ht_recorder;

/* What goes wrong is said here; answers the status. */
enum ht_status ht_recorder_fail(enum ht_status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* ht_options_take, with HT_OPTIONS_OF, where there is no context. */
enum ht_status ht_recorder_take(const char *type, const void *given, size_t first_bytes,
        void *ret_options, size_t n_bytes) HT_MUST_USE;

/* This thread, made at its first call; NULL when out of memory. */
struct ht_thread *ht_thread_get(void);
static inline void ht_thread_leave(struct ht_thread *thread)
{
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
}
/* After running = false: wait until no thread is in a call. */
void ht_threads_wait(void);
/* In the child of a fork only this thread is left. */
void ht_threads_forget(void);

/* Start writing names to a recording (all known ones at once), and stop doing so. */
bool ht_names_attach(struct ht_part_file *part);
void ht_names_detach(void);
uint64_t ht_names_lost(void);
/* Names for the finisher in the same process: texts by number. */
void ht_names_lock(void);
void ht_names_unlock(void);

/* The steps of life with the lock held. */
void ht_recorder_run(void);
void ht_recorder_pause(void);

/* schedule.c */
enum ht_schedule_action {
	HT_SCHEDULE_OFF,
	HT_SCHEDULE_WARM_UP,
	HT_SCHEDULE_RECORD,
	HT_SCHEDULE_LAST
};
void ht_schedule_start(void);
void ht_schedule_stop(void);

#endif
