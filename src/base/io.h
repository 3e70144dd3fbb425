/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - bytes in from plain, gzip or zstd files and standard input, bytes out into files that appear whole.
 *
 *     struct ht_source *source;                        struct ht_writer *writer;
 *     HT_TRY(ht_source_open(ctx, path, &source));      HT_TRY(ht_writer_open(ctx, path, &writer));
 *     do                                               ... ht_writer_write(writer, bytes, n) ...
 *             ht_source_read(ctx, source, buf, cap, &n) HT_TRY(ht_writer_commit(writer));
 *     while (n);
 *     ht_source_close(source);
 *
 * What a file holds is decided by its first bytes, never by its name. Damaged compressed data is not
 * an error while some of it can be used: the bytes before the damage are delivered, then the end, and
 * ht_source_damage() tells. Compressed traces of killed processes are cut like this.
 */
#ifndef HT_BASE_IO_H
#define HT_BASE_IO_H

#include "base/damage.h"
#include "base/status.h"

#include <sys/stat.h>
#include <sys/types.h>

enum ht_compression {
	HT_PLAIN,
	HT_GZIP,
	HT_ZSTD,
};

/* By the first four bytes, or fewer where a file has no more. */
enum ht_compression ht_compression_of(const void *bytes, size_t n);

/* What is known of a source once it is open. */
struct ht_source_info {
	const char *path; /* owned by the source; "standard input" for "-" */
	enum ht_compression compression;
	bool is_regular;     /* a file with a size; else a pipe or terminal */
	uint64_t file_bytes; /* as stored; 0 when not regular */
	int64_t mtime_ns;    /* since 1970; 0 when not regular */
};

/* Guards against data that expand without end. A member that is 0 is off. */
struct ht_source_limits {
	uint64_t max_bytes;        /* decompressed, of one source */
	uint64_t max_ratio;        /* decompressed over compressed, looked at only ... */
	uint64_t ratio_from_bytes; /* ... after so many decompressed bytes */
	size_t piece_bytes;        /* compressed bytes read at once; set before the first read */
	size_t ahead_bytes;        /* compressed bytes that one thread inflates ahead at a time */
};

#define HT_SOURCE_LIMITS                                                                           \
	{                                                                                          \
		.max_bytes = (uint64_t)1 << 40, .max_ratio = 400,                                  \
		.ratio_from_bytes = (uint64_t)1 << 30, .piece_bytes = 512 << 10,                   \
		.ahead_bytes = 256 << 10                                                           \
	}

struct ht_source;

/* Open a file, or standard input for "-". The caller closes it. A directory or a named pipe is
 * HT_IO; /dev/fd/N, as made by a shell's <(...), works. */
enum ht_status ht_source_open(
        ht_ctx *ctx, const char *path, struct ht_source **ret_source) HT_MUST_USE;
void ht_source_close(struct ht_source *source);
const struct ht_source_info *ht_source_info(const struct ht_source *source);
void ht_source_set_limits(struct ht_source *source, const struct ht_source_limits *limits);

/* What stat says of the file that would be read; of standard input for "-". False when there is none. */
bool ht_source_stat(const char *path, struct stat *ret_stat);

/* Fill buf with decompressed bytes. Fewer than cap means the end is reached, 0 that it was reached
 * before. HT_FORMAT when compressed data cannot be used from the very first byte on. */
enum ht_status ht_source_read(
        ht_ctx *ctx, struct ht_source *source, void *buf, size_t cap, size_t *ret_n) HT_MUST_USE;
/* Look at up to n bytes ahead of the first read, which delivers them again. They live until then. */
enum ht_status ht_source_peek(ht_ctx *ctx, struct ht_source *source, size_t n,
        const char **ret_bytes, size_t *ret_n) HT_MUST_USE;
/* A plain file can be read at any place, by many threads at once: true then. */
bool ht_source_is_direct(const struct ht_source *source);
/* Fill buf from an offset on; fewer than cap bytes at the end of the file only. */
enum ht_status ht_source_read_at(ht_ctx *ctx, const struct ht_source *source, uint64_t offset,
        void *buf, size_t cap, size_t *ret_n) HT_MUST_USE;
/* The first n bytes have been read in this way: they count as delivered. */
void ht_source_pass(struct ht_source *source, uint64_t n);
/* Large gzip files can be inflated by many threads, if the caller lends them; what is delivered is the same. True when
 * there is something to lend a hand with. */
bool ht_source_start_ahead(ht_ctx *ctx, struct ht_source *source, size_t n_threads);
/* Is there a part to be inflated ahead? When urgent: one that reading will have to wait for. By any thread. */
bool ht_source_wants_help(const struct ht_source *source, bool urgent);
/* Inflate one part ahead. By any number of threads at once, also while another one reads. */
void ht_source_help(ht_ctx *ctx, struct ht_source *source);
/* Can n bytes be read without waiting for such a part? Not while another thread reads. */
bool ht_source_is_ready(const struct ht_source *source, size_t n);
/* Is, or was, it read in this way to the end? It is given up for data that are not in order, or not worth it. */
bool ht_source_is_ahead(const struct ht_source *source);
/* Bytes used up of the stored file (for progress against file_bytes), and bytes delivered. */
uint64_t ht_source_file_pos(const struct ht_source *source);
uint64_t ht_source_pos(const struct ht_source *source);
/* Complete once ht_source_read has come to the end. Lives with the source. */
const struct ht_damage *ht_source_damage(const struct ht_source *source);

/* The rest of a source as ht_read_all reads it; text is empty before, and freed by the caller also on failure. */
enum ht_status ht_source_read_all(
        ht_ctx *ctx, struct ht_source *source, size_t max_bytes, struct ht_vec *text) HT_MUST_USE;

/* Read a whole small file, decompressed, into a vector of char that the caller frees. A byte of 0
 * follows the text and is not counted. More than max_bytes is HT_LIMIT. */
enum ht_status ht_read_all(
        ht_ctx *ctx, const char *path, size_t max_bytes, struct ht_vec *ret_text) HT_MUST_USE;

/* Writing files is in holotrace.h: ht_writer_open and so on. */

/* Set an HT_IO error from an errno value: "cannot open: Permission denied" with a hint that fits. */
enum ht_status ht_fail_errno(ht_ctx *ctx, const char *path, const char *what, int error);

#endif
