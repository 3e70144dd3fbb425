/*
 * cache_file.h - the layout of a cache file; shared by the loader and the writer.
 *
 *   head ─ n section entries ─ path ─ pad ─ section ─ pad ─ section ...
 *
 * Sections start at multiples of HT_CACHE_ALIGN. The checksum covers every byte after itself: the file
 * from there on is hashed in blocks, and the hashes of the blocks are hashed, so that blocks can be
 * verified by many threads.
 */
#ifndef HT_STORE_CACHE_FILE_H
#define HT_STORE_CACHE_FILE_H

#include "base/hash.h"
#include "store/cache.h"

/* Raise when the meaning of a section changes; changed names and sizes are noticed by themselves. */
#define HT_CACHE_VERSION 3
#define HT_CACHE_ALIGN   ((uint64_t)64)
#define HT_CACHE_BLOCK   ((size_t)1 << 20)
#define HT_CACHE_SUFFIX  ".htc"

enum {
#define SECTION(name, type) HT_SECTION_##name,
#include "store/sections.def"
#undef SECTION
	HT_N_SECTIONS
};

struct ht_cache_head {
	char magic[8];
	uint64_t checksum;
	uint64_t file_bytes;
	uint32_t version;
	uint32_t byte_order; /* HT_CACHE_ORDER as this machine writes it */
	uint64_t layout;     /* ht_cache_layout() */
	struct ht_cache_id id;
	uint32_t n_path;
	uint32_t n_sections;
};

struct ht_cache_section {
	uint64_t offset, n;
};

#define HT_CACHE_MAGIC   "\x89HTC\r\n\x1a\n"
#define HT_CACHE_ORDER   0x01020304u
#define HT_CACHE_COVERED offsetof(struct ht_cache_head, file_bytes)

/* Hash of all that decides how the bytes are to be read: names and sizes of sections, names of counters
 * and the rules that classify, pointer size, version of the library. */
uint64_t ht_cache_layout(void);
/* Hash of one block, with the best instructions of this CPU. */
uint64_t ht_cache_hash(const void *bytes, size_t n);
uint64_t ht_cache_hash_avx2(const void *bytes, size_t n);
/* Is what was stored what is wanted? */
bool ht_cache_id_fits(const struct ht_cache_id *stored, const struct ht_cache_id *wanted);
/* Path of the cache file of a key; false when it is too long. */
bool ht_cache_path(
        const char *dir, const struct ht_cache_key *key, char *ret_path, size_t cap) HT_MUST_USE;
/* Remove left-over temporary files and, until at most max_bytes are left, the files used longest ago
 * other than keep (a name). */
void ht_cache_evict(ht_ctx *ctx, const char *dir, const char *keep, uint64_t max_bytes);

static inline uint64_t ht_cache_align(uint64_t offset)
{
	return (offset + HT_CACHE_ALIGN - 1) & ~(HT_CACHE_ALIGN - 1);
}

#endif
