/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the calls of a recording in the order in which they began and ended, over all threads.
 *
 * Two passes. The first, thread by thread, finds which calls ended in the window they began in: only
 * those are replayed, so the children of a call that was cut off belong to its parent. The second merges
 * the threads by time and keeps a stack for each, as the recorder did not.
 *
 * A stream is what one thread of the system wrote; a thread here is a logical one, as its calls name it.
 * They are nearly always the same, but a call that was made on one thread may begin on another.
 */
#ifndef HT_RECORD_REPLAY_H
#define HT_RECORD_REPLAY_H

#include "record/image.h"

struct ht_op {
	struct ht_op *next; /* of those that are free */
	uint32_t i_stream;  /* into ht_replay.streams */
	uint32_t i_thread;  /* into ht_replay.threads */
	uint32_t scope;
	uint64_t sequence_in_stream;
	uint64_t record_id;
	int64_t sequence; /* autograd's */
	uint64_t forward_thread;
	uint64_t name, schema, kernel_backend, kernel_file, tensor_range; /* numbers of names */
	int64_t begin_ns, end_ns;
	struct ht_bytes inputs;                   /* count and values */
	uint64_t node, parent_node, forward_node; /* for who writes nodes */
	struct ht_vec text;                       /* char; likewise, kept for the next op */
};

struct ht_replay_stream {
	struct ht_cursor cursor;
	struct ht_bytes record; /* the next one */
	unsigned type;          /* 0: no more */
	int64_t ns;             /* its time */
	uint64_t *ended;        /* bit per begin */
	size_t n_ended_words;
	uint64_t n_begins;  /* so far */
	struct ht_vec open; /* struct ht_op *, begun here */
	uint32_t i_thread;  /* whose calls begin now */
};

struct ht_replay_thread {
	uint64_t number;
	struct ht_vec stack; /* struct ht_op * */
	uint64_t node;       /* for who writes nodes, 0: none yet */
};

struct ht_replay {
	const struct ht_image *image;
	struct ht_replay_stream *streams; /* of calls only */
	size_t n_streams;
	uint32_t *heap; /* indexes of streams with records left, by time */
	size_t n_heap;
	struct ht_op *free_ops;
	struct ht_vec threads; /* struct ht_replay_thread */
};

/* What is told, in order of time. Any may be NULL. */
struct ht_replay_sink {
	void *user;
	enum ht_status (*begin)(void *user, struct ht_replay *replay, struct ht_op *op);
	/* outputs: count and values, then count and attributes. */
	enum ht_status (*end)(
	        void *user, struct ht_replay *replay, struct ht_op *op, struct ht_bytes *outputs);
	void (*freed)(void *user, uint64_t address);
};

enum ht_status ht_replay_init(
        const struct ht_image *image, struct ht_replay *ret_replay) HT_MUST_USE;
void ht_replay_done(struct ht_replay *replay);
/* Tell the sinks everything, once. */
enum ht_status ht_replay_run(
        struct ht_replay *replay, const struct ht_replay_sink *sinks, size_t n_sinks) HT_MUST_USE;
static inline struct ht_replay_thread *ht_replay_thread(
        const struct ht_replay *replay, uint32_t i_thread)
{
	return (struct ht_replay_thread *)replay->threads.data + i_thread;
}
/* The thread with a number, or NULL. */
struct ht_replay_thread *ht_replay_find(const struct ht_replay *replay, uint64_t number);
/* The innermost open call of a thread, or NULL. */
struct ht_op *ht_replay_top(const struct ht_replay_thread *thread);

#endif
