/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_file.h - the layout of a cache file; shared by the loader and the writer.
 *
 *   head ─ length of each section ─ path ─ pad ─ section ─ pad ─ section ...
 *
 * Sections start at multiples of HT_CACHE_ALIGN and follow each other, so their lengths tell where they are.
 * The checksum covers every byte after itself: it is the hash of the hashes of all up to the first section
 * and of each part of a section (sections.h), so that parts are verified by many threads. Pads are zero.
 */
#ifndef HT_STORE_CACHE_FILE_H
#define HT_STORE_CACHE_FILE_H

#include "store/cache_key.h"
#include "store/sections.h"

/* Of this layout; kinds of stores have versions of their own. */
#define HT_CACHE_VERSION 9
#define HT_CACHE_ALIGN   ((uint64_t)64)
#define HT_CACHE_SUFFIX  ".htc"
/* Names begin with the place of the trace; then comes the kind of store, or what is kept beside one. */
#define HT_CACHE_PLACE_CHARS 16
#define HT_CACHE_BESIDE      ".part-"

struct ht_cache_head {
	char magic[8];
	uint64_t checksum;
	uint64_t file_bytes;
	uint32_t version;
	uint32_t byte_order; /* HT_CACHE_ORDER as this machine writes it */
	char kind[16];       /* name of the kind of store */
	uint64_t layout;     /* ht_sections_layout of it */
	struct ht_cache_id id;
	uint32_t n_path;
	uint32_t n_sections;
};

#define HT_CACHE_MAGIC   "\x89HTC\r\n\x1a\n"
#define HT_CACHE_ORDER   0x01020304u
#define HT_CACHE_COVERED offsetof(struct ht_cache_head, file_bytes)

/* Path of the cache file of a key; false when it is too long. */
bool ht_cache_path(const char *dir, const struct ht_cache_key *key, const struct ht_sections *kind,
        char *ret_path, size_t cap) HT_MUST_USE;
/* Where the bytes of a file begin to be sections. */
uint64_t ht_cache_first_section(const struct ht_sections *kind, size_t n_path);
/* Point a store to its sections in the bytes of a file. False when they do not fill it, or a pad is not
 * zero. The numbers of the head before the lengths are not looked at, but for n_path. */
bool ht_cache_place(
        const struct ht_sections *kind, const char *bytes, size_t n, void *store) HT_MUST_USE;
/* The right checksum of a file whose sections have been placed; 0 when out of memory. For tests. */
uint64_t ht_cache_checksum(const struct ht_sections *kind, const char *bytes, const void *store);
/* Make room for a file of so many bytes, at most max_bytes, which replaces that of its name: left-over temporary files
 * go and, as far as needed, those used longest ago. False when what this context stored or used leaves none; then
 * nothing more is stored with it. */
struct ht_temp;
bool ht_cache_make_room(
        ht_ctx *ctx, int folder, const char *name, uint64_t bytes, uint64_t max_bytes) HT_MUST_USE;
/* The same for what only saves time: that there is no room is not counted, and others are stored still. */
bool ht_cache_find_room(
        ht_ctx *ctx, int folder, const char *name, uint64_t bytes, uint64_t max_bytes) HT_MUST_USE;
/* The end of a file that room was made for: it gets its name, or goes. Whether it is there. temp NULL: it was never
 * begun. */
bool ht_cache_land(ht_ctx *ctx, struct ht_temp *temp, uint64_t bytes, bool is_good);

static inline uint64_t ht_cache_align(uint64_t offset)
{
	return (offset + HT_CACHE_ALIGN - 1) & ~(HT_CACHE_ALIGN - 1);
}

#endif
