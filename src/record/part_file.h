/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_file.h - the file a recording lives in until its JSON is written.
 *
 *   [ header page ][ chunk ][ chunk ][ chunk ] ...        mapped; grown by segments
 *                  └ head, records of one stream
 *
 * The file is mapped shared, so the kernel has every byte that was stored even when the process is
 * killed. A chunk belongs to one stream, which alone writes it; `used` moves after a record is whole,
 * so what lies below it can always be read. Without a file the same chunks are anonymous memory.
 */
#ifndef HT_RECORD_PART_FILE_H
#define HT_RECORD_PART_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>

#define HT_PART_MAGIC   "HTRECORD"
#define HT_PART_VERSION 1
#define HT_PART_PAGE    ((size_t)4096)
#define HT_CHUNK_MAGIC  0x4b4e4843u /* "CHNK" */
#define HT_PART_PATH    1600

struct ht_part_header {
	char magic[8];
	uint32_t version;
	uint32_t flags; /* enum ht_record_flags */
	int64_t pid;
	int64_t start_ns; /* of the monotonic clock */
	int64_t wall_ns;  /* since 1970, at the same moment */
	int64_t in_ticks; /* records count ticks of the processor, which only order them; else ns */
	uint32_t max_elements;
	int32_t rank, n_ranks;
	char time[24];            /* local, "YYYY-MM-DD HH:MM:SS" */
	char path[HT_PART_PATH];  /* "": no execution trace */
	char trace[HT_PART_PATH]; /* "": no timeline */
	char program[256];
};

enum ht_chunk_kind {
	HT_CHUNK_CALLS = 1, /* of one thread, in order of time */
	HT_CHUNK_NAMES,     /* texts in order of their numbers, from 1 */
	HT_CHUNK_GPU,       /* CUDA calls and GPU work, in no order */
};

struct ht_part_chunk {
	uint32_t magic;
	uint32_t kind;   /* enum ht_chunk_kind */
	uint32_t stream; /* from 0, per kind */
	uint32_t number; /* of this chunk in its stream, from 0 */
	uint64_t n_bytes;
	int64_t start_ns;      /* what the first record's time is counted from */
	uint64_t start_id;     /* and its record id */
	_Atomic uint64_t used; /* bytes after this head */
	uint64_t reserved[2];
};

struct ht_segment {
	uint8_t *bytes;
	size_t n_bytes;
};

struct ht_part_file {
	struct ht_mem *mem;
	int fd; /* -1: in memory */
	uint64_t max_bytes;
	uint64_t file_bytes;
	atomic_bool
	        is_full; /* the disk had no more; records that need some are lost, and counted */
	pthread_mutex_t lock;   /* guards what follows */
	struct ht_vec segments; /* struct ht_segment */
	size_t last_used;       /* bytes of the last segment */
	const uint8_t *ready;   /* its pages are there up to here; NULL: unknown */
	struct ht_vec chunks;   /* struct ht_part_chunk * */
	struct ht_part_header *header;
	char name[PATH_MAX];
};

static inline int64_t ht_record_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Ticks that all processors agree on, at a fraction of the cost. For order only. */
static inline int64_t ht_record_ticks(void)
{
#if defined(__x86_64__)
	return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	int64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return ht_record_now();
#endif
}
/* Does the kernel trust them? */
bool ht_record_has_ticks(void);

/* Create the file (name NULL: memory only) with a header to fill in. 0 or an errno value. */
int ht_part_file_open(
        struct ht_part_file *part, struct ht_mem *mem, const char *name, uint64_t max_bytes);
/* A chunk with room for n_bytes of records, zeroed but for its head. NULL: no room. Thread-safe. */
struct ht_part_chunk *ht_part_file_chunk(
        struct ht_part_file *part, const struct ht_part_chunk *head, size_t n_bytes);
/* Before recording goes on: have the memory of a usual window ready, for to get a page costs as much as to record
 * ten operators into it. */
void ht_part_file_prepare(struct ht_part_file *part);
/* Unmap and close; the file is removed when asked. No stream may be in use. */
void ht_part_file_close(struct ht_part_file *part, bool remove_file);

#endif
