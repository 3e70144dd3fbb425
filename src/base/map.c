/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - see map.h.
 *
 *   open ─► lease ─► map ─► entry in the list
 *   somebody opens the file for writing ─► he waits ─► SIGIO to our thread ─► it copies the bytes, moves the
 *   copy over the mapping in one step, gives the lease back ─► he goes on
 *
 * One thread waits for all files. It exists while any is mapped, takes no other signal, and no signal of the
 * program goes to it. The kernel waits 45 s (/proc/sys/fs/lease-break-time); copying takes milliseconds.
 *
 * A child process after fork has the mappings but not the thread: there a cut file is deadly until it opens
 * files of its own.
 */
#include "base/map.h"

#include "base/mem.h"
#include "base/platform.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#if HT_HAS_LEASES
#include <sys/syscall.h>
#endif
#include <unistd.h>

#define SMALL_BYTES ((size_t)1 << 20) /* copied rather than watched */
#define BLOCK_BYTES ((size_t)1 << 20)

#if HT_HAS_LEASES
#define MAX_ENTRIES 1024

struct entry {
	void *bytes;
	size_t n;
	int fd; /* holds the lease; -1: the bytes are a copy by now */
};

static struct {
	pthread_mutex_t life; /* starting and ending the thread */
	pthread_mutex_t lock; /* the rest */
	pthread_cond_t is_up;
	pthread_t thread;
	pid_t tid; /* 0: no thread */
	bool end;
	size_t n;
	struct entry entries[MAX_ENTRIES];
} guard = { .life = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.is_up = PTHREAD_COND_INITIALIZER };

/* ---- the thread ---- */

/* Copy the bytes and put the copy in their place. Readers see the same bytes at the same address throughout.
 * Without memory for it the file stays mapped. */
static void move_to_memory(struct entry *entry)
{
	void *copy =
	        mmap(NULL, entry->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	memcpy(copy, entry->bytes, entry->n);
	if (mprotect(copy, entry->n, PROT_READ) ||
	        mremap(copy, entry->n, entry->n, MREMAP_MAYMOVE | MREMAP_FIXED, entry->bytes) ==
	                MAP_FAILED) {
		munmap(copy, entry->n);
		return;
	}
	/* not by closing alone: a child process may have the descriptor, too */
	fcntl(entry->fd, F_SETLEASE, F_UNLCK);
	close(entry->fd);
	entry->fd = -1;
}

static bool is_wanted(const struct entry *entry)
{
	return entry->fd >= 0 && fcntl(entry->fd, F_GETLEASE) != F_RDLCK;
}

static void *wait_for_signals(void *unused)
{
	sigset_t wanted;
	(void)unused;
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGIO);
	pthread_mutex_lock(&guard.lock);
	guard.tid = (pid_t)syscall(SYS_gettid); /* glibc has gettid since 2.30 only */
	pthread_cond_signal(&guard.is_up);
	while (!guard.end) {
		pthread_mutex_unlock(&guard.lock);
		sigwaitinfo(&wanted, NULL);
		pthread_mutex_lock(&guard.lock);
		for (size_t i = 0; i < guard.n; i++)
			if (is_wanted(&guard.entries[i]))
				move_to_memory(&guard.entries[i]);
	}
	guard.tid = 0;
	pthread_mutex_unlock(&guard.lock);
	return NULL;
}

static void before_fork(void)
{
	pthread_mutex_lock(&guard.life);
	pthread_mutex_lock(&guard.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&guard.lock);
	pthread_mutex_unlock(&guard.life);
}

static void in_child(void)
{
	guard.tid = 0;
	after_fork();
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* Have a thread; false when there can be none. Called with guard.life held. */
static bool start_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all, before;
	pthread_once(&once, watch_forks);
	if (guard.tid)
		return true;
	guard.end = false;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return false;
	bool started = !pthread_create(&guard.thread, NULL, wait_for_signals, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_lock(&guard.lock);
	while (started && !guard.tid)
		pthread_cond_wait(&guard.is_up, &guard.lock);
	pthread_mutex_unlock(&guard.lock);
	return started;
}

/* Let the thread go when nothing is mapped any more. Called with guard.life held. */
static void end_thread(void)
{
	pthread_mutex_lock(&guard.lock);
	bool end = !guard.n && guard.tid;
	guard.end = end;
	if (end)
		pthread_kill(guard.thread, SIGIO);
	pthread_mutex_unlock(&guard.lock);
	if (end)
		pthread_join(guard.thread, NULL);
}

/* ---- mapping ---- */

static size_t max_entries(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 4 > MAX_ENTRIES)
		return MAX_ENTRIES;
	return limit.rlim_cur / 4;
}

/* Map the file under a lease. False when that does not work. Called with guard.life held. */
static bool map_guarded(int fd, struct ht_map *ret_map)
{
	struct stat st;
	if (guard.n >= max_entries() || !start_thread())
		return false;
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = guard.tid };
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETLEASE, F_RDLCK) || fstat(fd, &st) ||
	        !st.st_size)
		return false;
	struct entry entry = { .n = (size_t)st.st_size, .fd = fd };
	entry.bytes = mmap(NULL, entry.n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (entry.bytes == MAP_FAILED)
		return false;
	pthread_mutex_lock(&guard.lock);
	/* whoever came between lease and list was not seen */
	bool kept = !is_wanted(&entry);
	if (kept)
		guard.entries[guard.n++] = entry;
	pthread_mutex_unlock(&guard.lock);
	if (!kept)
		munmap(entry.bytes, entry.n);
	else
		*ret_map = (struct ht_map){ .bytes = entry.bytes, .n = entry.n };
	return kept;
}

/* Called with guard.lock held. */
static struct entry *find_entry(const struct ht_map *map)
{
	for (size_t i = 0; i < guard.n; i++)
		if (guard.entries[i].bytes == map->bytes)
			return &guard.entries[i];
	return NULL;
}

bool ht_map_rest(const struct ht_map *map)
{
	if (!map->bytes || map->mem)
		return false;
	pthread_mutex_lock(&guard.lock);
	struct entry *entry = find_entry(map);
	bool mapped = entry && entry->fd >= 0 && !madvise(entry->bytes, entry->n, MADV_DONTNEED);
	pthread_mutex_unlock(&guard.lock);
	return mapped;
}

static void unmap_guarded(const struct ht_map *map)
{
	pthread_mutex_lock(&guard.life);
	pthread_mutex_lock(&guard.lock);
	struct entry *entry = find_entry(map);
	if (entry) {
		munmap(entry->bytes, entry->n);
		if (entry->fd >= 0)
			close(entry->fd);
		*entry = guard.entries[--guard.n];
	}
	pthread_mutex_unlock(&guard.lock);
	end_thread();
	pthread_mutex_unlock(&guard.life);
}

/* Map the file under a lease, which is given back when that does not work. */
static bool map_under_lease(int fd, struct ht_map *ret_map)
{
	pthread_mutex_lock(&guard.life);
	bool guarded = map_guarded(fd, ret_map);
	if (!guarded) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		end_thread();
	}
	pthread_mutex_unlock(&guard.life);
	return guarded;
}
#else
static bool map_under_lease(int fd, struct ht_map *ret_map)
{
	(void)fd;
	(void)ret_map;
	return false;
}

bool ht_map_rest(const struct ht_map *map)
{
	(void)map;
	return false;
}

static void unmap_guarded(const struct ht_map *map)
{
	(void)map;
}
#endif

/* ---- copying ---- */

struct copying {
	ht_ctx *ctx;
	int fd;
	char *bytes;
	size_t n;
	atomic_bool failed;
};

static enum ht_status copy_block(void *user, size_t i_task, int i_worker)
{
	struct copying *c = user;
	size_t at = i_task * BLOCK_BYTES;
	size_t end = c->n - at < BLOCK_BYTES ? c->n : at + BLOCK_BYTES;
	(void)i_worker;
	while (at < end) {
		ssize_t n = ht_io_should_fail(c->ctx)
		                    ? -1
		                    : pread(c->fd, c->bytes + at, end - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			atomic_store(&c->failed, true);
			break;
		}
		at += (size_t)n;
	}
	return HT_OK;
}

enum ht_status ht_map_copy(ht_ctx *ctx, int fd, struct ht_map *ret_map)
{
	struct stat st;
	*ret_map = (struct ht_map){ 0 };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return HT_OK;
	}
	struct copying c = { .ctx = ctx, .fd = fd, .n = (size_t)st.st_size };
	c.bytes = ht_mem_alloc(ctx->mem, c.n);
	enum ht_status status =
	        c.bytes ? ht_parallel(ctx, (c.n + BLOCK_BYTES - 1) / BLOCK_BYTES, copy_block, &c)
	                : ht_fail_nomem(ctx);
	close(fd);
	if (status == HT_OK && !atomic_load(&c.failed))
		*ret_map = (struct ht_map){ c.bytes, c.n, ht_mem_retain(ctx->mem) };
	else
		ht_mem_free(ctx->mem, c.bytes, c.n);
	return status;
}

enum ht_status ht_map_open(ht_ctx *ctx, int fd, struct ht_map *ret_map)
{
	struct stat st;
	bool guarded = false;
	if (!ht_io_should_fail(ctx) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	        st.st_size > (off_t)SMALL_BYTES)
		guarded = map_under_lease(fd, ret_map);
	return guarded ? HT_OK : ht_map_copy(ctx, fd, ret_map);
}

void ht_map_close(struct ht_map *map)
{
	if (map->bytes && map->mem) {
		ht_mem_free(map->mem, (void *)(uintptr_t)map->bytes, map->n);
		ht_mem_release(map->mem);
	} else if (map->bytes) {
		unmap_guarded(map);
	}
	*map = (struct ht_map){ 0 };
}
