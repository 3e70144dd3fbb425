/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - a recording to read: the chunks of a live one, or those a killed process left in its file.
 *
 * Streams come with their chunks in order; a cursor walks the records of one. Whatever a file holds,
 * reading stays inside it: a chunk that makes no sense is passed over, and so is what follows it in its
 * stream, for ends are counted from begins.
 */
#ifndef HT_RECORD_IMAGE_H
#define HT_RECORD_IMAGE_H

#include "record/varint.h"
#include "record/part_file.h"

/* Escaped already, as the inside of a JSON string: a name is read once and written often. */
struct ht_name {
	const char *bytes;
	uint32_t n;
};

struct ht_image_stream {
	uint32_t kind, index;
	const struct ht_part_chunk **chunks;
	size_t n_chunks;
	uint32_t os_thread;
	struct ht_name name;
};

struct ht_image {
	ht_ctx *ctx;
	const struct ht_part_header *header;
	struct ht_vec chunks;            /* const struct ht_part_chunk *, sorted */
	struct ht_image_stream *streams; /* by kind, then index */
	size_t n_streams, streams_cap;
	struct ht_vec names;     /* struct ht_name by number; 0 is "" */
	struct ht_arena escaped; /* names that JSON cannot take as they are */
	void *map;               /* the file, NULL: a live recording */
	size_t map_bytes;
	uint64_t n_skipped; /* pages of the file that held no chunk */
};

enum ht_status ht_image_of_part(
        ht_ctx *ctx, const struct ht_part_file *part, struct ht_image *ret_image) HT_MUST_USE;
enum ht_status ht_image_open(ht_ctx *ctx, const char *path, struct ht_image *ret_image) HT_MUST_USE;
void ht_image_done(struct ht_image *image);

static inline struct ht_name ht_image_name(const struct ht_image *image, uint64_t number)
{
	static const struct ht_name none = { "", 0 };
	return number < image->names.n ? ((const struct ht_name *)image->names.data)[number] : none;
}

struct ht_cursor {
	const struct ht_image_stream *stream;
	size_t i_chunk;
	struct ht_bytes chunk;
	int64_t ns;  /* of the record read last */
	uint64_t id; /* of the call that began last */
};

void ht_cursor_init(struct ht_cursor *cursor, const struct ht_image_stream *stream);
/* The next record's type, 0 at the end. */
unsigned ht_cursor_next(struct ht_cursor *cursor, struct ht_bytes *ret_record);

#endif
