/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - texts to numbers, for the life of the process.
 *
 * A thread's own table answers what it has seen. The shared pool, under a lock, answers the rest and
 * writes each new text to the recording in progress before anybody can use its number there; so a
 * recording knows all its names whenever it ends.
 */
#include "base/mem.h"
#include "record/recorder.h"

static struct {
	pthread_mutex_t lock;
	struct ht_pool pool; /* mem NULL: not made yet */
	struct ht_stream stream;
	bool attached;
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void write_name(const struct ht_text *text)
{
	struct ht_stream *s = &shared.stream;
	ht_stream_open_record(s);
	ht_stream_put_text(s, text->bytes, text->n);
	(void)ht_stream_commit(s, HT_TYPE_NAME);
}

static bool make_pool(void)
{
	if (shared.pool.mem)
		return true;
	struct ht_mem *mem = ht_mem_new();
	if (!mem)
		return false;
	ht_pool_init(&shared.pool, mem);
	return true;
}

bool ht_names_attach(struct ht_part_file *part)
{
	pthread_mutex_lock(&shared.lock);
	ht_stream_init(&shared.stream, part, HT_CHUNK_NAMES, 0);
	const struct ht_text *texts = shared.pool.texts.data;
	for (size_t i = 0; i < shared.pool.texts.n; i++)
		write_name(&texts[i]);
	shared.attached = true;
	bool complete = ht_counter_get(&shared.stream.n_lost) == 0;
	pthread_mutex_unlock(&shared.lock);
	return complete;
}

void ht_names_detach(void)
{
	pthread_mutex_lock(&shared.lock);
	shared.attached = false;
	pthread_mutex_unlock(&shared.lock);
}

uint64_t ht_names_lost(void)
{
	pthread_mutex_lock(&shared.lock);
	uint64_t n = ht_counter_get(&shared.stream.n_lost);
	pthread_mutex_unlock(&shared.lock);
	return n;
}

void ht_names_lock(void)
{
	pthread_mutex_lock(&shared.lock);
}

void ht_names_unlock(void)
{
	pthread_mutex_unlock(&shared.lock);
}

/* The id in the pool is the number less one. */
static bool add_shared(
        struct ht_thread *thread, const char *text, size_t n, uint64_t hash, uint32_t *ret_id)
{
	pthread_mutex_lock(&shared.lock);
	bool done = make_pool();
	if (done) {
		thread->names.pool = &shared.pool;
		size_t n_before = shared.pool.texts.n;
		done = ht_intern_add(&thread->names, text, n, hash, ret_id);
		if (shared.attached && shared.pool.texts.n > n_before)
			write_name((const struct ht_text *)shared.pool.texts.data + n_before);
	}
	pthread_mutex_unlock(&shared.lock);
	return done;
}

uint32_t ht_record_name(const char *text, size_t n)
{
	struct ht_thread *thread = text && n ? ht_thread_get() : NULL;
	if (!thread)
		return 0;
	uint64_t hash = ht_hash(text, n);
	const struct ht_text *known = ht_intern_find(&thread->names, text, n, hash);
	uint32_t id;
	if (known)
		return known->id + 1;
	return add_shared(thread, text, n, hash, &id) ? id + 1 : 0;
}
