/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_file.c - see part_file.h.
 */
#include "record/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST_SEGMENT ((size_t)256 << 10)
#define LAST_SEGMENT  ((size_t)16 << 20)
#define READY_BYTES   ((size_t)4 << 20) /* 40,000 operators */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

bool ht_record_has_ticks(void)
{
#if defined(__x86_64__)
	static const char *const good[] = { "tsc", "kvm-clock" };
	char name[32] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
	        O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, name, sizeof name - 1);
	close(fd);
	name[n > 0 ? n - 1 : 0] = 0; /* the end of the line */
	for (size_t i = 0; i < HT_COUNT(good); i++)
		if (strcmp(name, good[i]) == 0)
			return true;
	return false;
#else
	return true;
#endif
}

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Blocks are reserved before they are mapped: a full disk is an error here, not a signal later. Beyond the limit on the
 * size of files the kernel ends the program that is recorded, so it is not asked. */
static int grow_file(struct ht_part_file *part, size_t n_bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	        part->file_bytes + n_bytes > limit.rlim_cur)
		return EFBIG;
	if (fallocate(part->fd, 0, (off_t)part->file_bytes, (off_t)n_bytes) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return errno;
	return ftruncate(part->fd, (off_t)(part->file_bytes + n_bytes)) == 0 ? 0 : errno;
}

static int add_segment(struct ht_part_file *part, size_t wanted)
{
	size_t n = part->segments.n;
	size_t n_bytes = FIRST_SEGMENT << (n < 6 ? n : 6);
	n_bytes = n_bytes > LAST_SEGMENT ? LAST_SEGMENT : n_bytes;
	n_bytes = n_bytes < wanted ? round_up(wanted, FIRST_SEGMENT) : n_bytes;
	/* to ask a full disk again for each record costs more than the recording */
	if (atomic_load(&part->is_full))
		return ENOSPC;
	if (part->file_bytes + n_bytes > part->max_bytes)
		return EFBIG;
	if (!ht_vec_reserve(part->mem, &part->segments, sizeof(struct ht_segment), 1))
		return ENOMEM;
	int error = part->fd >= 0 ? grow_file(part, n_bytes) : 0;
	if (error)
		atomic_store(&part->is_full, true);
	if (error)
		return error;
	int how = part->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, how, part->fd,
	        part->fd >= 0 ? (off_t)part->file_bytes : 0);
	if (bytes == MAP_FAILED)
		return errno;
	struct ht_segment segment = { bytes, n_bytes };
	((struct ht_segment *)part->segments.data)[part->segments.n++] = segment;
	part->file_bytes += n_bytes;
	part->last_used = 0;
	part->ready = NULL;
	return 0;
}

/* n_bytes, a multiple of the page, of the last segment or a new one. */
static int take(struct ht_part_file *part, size_t n_bytes, uint8_t **ret_bytes)
{
	struct ht_segment *last =
	        part->segments.n ? (struct ht_segment *)part->segments.data + part->segments.n - 1
	                         : NULL;
	if (!last || last->n_bytes - part->last_used < n_bytes) {
		int error = add_segment(part, n_bytes);
		if (error)
			return error;
		last = (struct ht_segment *)part->segments.data + part->segments.n - 1;
	}
	*ret_bytes = last->bytes + part->last_used;
	part->last_used += n_bytes;
	return 0;
}

/* A file of our own: what had the name, an older recording or a link that somebody put there, loses it and nothing else. */
static int create_file(const char *name)
{
	int fd = -1;
	for (int i = 0; i < 3 && fd < 0; i++) {
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && (errno != EEXIST || (unlink(name) != 0 && errno != ENOENT)))
			return -1;
	}
	return fd;
}

int ht_part_file_open(
        struct ht_part_file *part, struct ht_mem *mem, const char *name, uint64_t max_bytes)
{
	*part = (struct ht_part_file){ .mem = mem, .fd = -1, .max_bytes = max_bytes };
	if (name) {
		size_t n = strlen(name);
		if (n >= sizeof part->name)
			return ENAMETOOLONG;
		memcpy(part->name, name, n + 1);
		part->fd = create_file(name);
		if (part->fd < 0)
			return errno;
	}
	pthread_mutex_init(&part->lock, NULL);
	uint8_t *page;
	int error = take(part, HT_PART_PAGE, &page);
	if (error) {
		ht_part_file_close(part, true);
		return error;
	}
	_Static_assert(sizeof(struct ht_part_header) <= HT_PART_PAGE, "header fits its page");
	part->header = (struct ht_part_header *)page;
	memcpy(part->header->magic, HT_PART_MAGIC, sizeof part->header->magic);
	part->header->version = HT_PART_VERSION;
	return 0;
}

void ht_part_file_prepare(struct ht_part_file *part)
{
	pthread_mutex_lock(&part->lock);
	struct ht_segment *last = (struct ht_segment *)part->segments.data + part->segments.n - 1;
	/* Without room for it, or for what takes its place, recording finds out itself. */
	if (last->n_bytes - part->last_used >= READY_BYTES / 2 ||
	        add_segment(part, READY_BYTES) == 0) {
		last = (struct ht_segment *)part->segments.data + part->segments.n - 1;
		uint8_t *from = last->bytes + part->last_used;
		size_t n = last->n_bytes - part->last_used;
		n = n < READY_BYTES ? n : READY_BYTES;
		part->ready = madvise(from, n, MADV_POPULATE_WRITE) == 0 ? from + n : NULL;
	}
	pthread_mutex_unlock(&part->lock);
}

struct ht_part_chunk *ht_part_file_chunk(
        struct ht_part_file *part, const struct ht_part_chunk *head, size_t n_bytes)
{
	n_bytes = round_up(n_bytes + sizeof *head, HT_PART_PAGE);
	pthread_mutex_lock(&part->lock);
	uint8_t *bytes = NULL;
	bool is_ready = false;
	if (!ht_vec_reserve(part->mem, &part->chunks, sizeof(struct ht_part_chunk *), 1) ||
	        take(part, n_bytes, &bytes) != 0)
		bytes = NULL;
	if (bytes) {
		((struct ht_part_chunk **)part->chunks.data)[part->chunks.n++] =
		        (struct ht_part_chunk *)bytes;
		is_ready = bytes < part->ready && (size_t)(part->ready - bytes) >= n_bytes;
	}
	pthread_mutex_unlock(&part->lock);
	if (!bytes)
		return NULL;
	/* All pages at once: cheaper than a fault for each. Kernels that cannot say so, fault. */
	if (!is_ready)
		(void)madvise(bytes, n_bytes, MADV_POPULATE_WRITE);
	struct ht_part_chunk *chunk = (struct ht_part_chunk *)bytes;
	*chunk = *head;
	chunk->n_bytes = n_bytes;
	chunk->used = 0;
	/* A reader of the file believes the head by its magic, so that comes last. */
	atomic_thread_fence(memory_order_release);
	chunk->magic = HT_CHUNK_MAGIC;
	return chunk;
}

void ht_part_file_close(struct ht_part_file *part, bool remove_file)
{
	const struct ht_segment *segments = part->segments.data;
	for (size_t i = 0; i < part->segments.n; i++)
		munmap(segments[i].bytes, segments[i].n_bytes);
	ht_vec_free(part->mem, &part->segments, sizeof(struct ht_segment));
	ht_vec_free(part->mem, &part->chunks, sizeof(struct ht_part_chunk *));
	if (part->fd >= 0) {
		close(part->fd);
		if (remove_file)
			unlink(part->name);
	}
	pthread_mutex_destroy(&part->lock);
	part->fd = -1;
	part->header = NULL;
}
