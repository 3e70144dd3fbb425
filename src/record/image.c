/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c - see image.h.
 */
#include "record/image.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/any_text.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void ht_cursor_init(struct ht_cursor *cursor, const struct ht_image_stream *stream)
{
	*cursor = (struct ht_cursor){ .stream = stream };
}

unsigned ht_cursor_next(struct ht_cursor *cursor, struct ht_bytes *ret_record)
{
	for (;;) {
		unsigned type = ht_get_record(&cursor->chunk, ret_record);
		if (type)
			return type;
		if (cursor->i_chunk == cursor->stream->n_chunks)
			return 0;
		const struct ht_part_chunk *chunk = cursor->stream->chunks[cursor->i_chunk++];
		const uint8_t *bytes = (const uint8_t *)(chunk + 1);
		size_t used = atomic_load_explicit(&chunk->used, memory_order_acquire);
		cursor->chunk = (struct ht_bytes){ bytes, bytes + used, false };
		cursor->ns = chunk->start_ns;
		cursor->id = chunk->start_id;
	}
}

static int compare_chunks(const void *a, const void *b)
{
	const struct ht_part_chunk *x = *(const struct ht_part_chunk *const *)a;
	const struct ht_part_chunk *y = *(const struct ht_part_chunk *const *)b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorted chunks into streams; a stream ends where a number is missing or comes twice. */
static enum ht_status group_chunks(struct ht_image *image)
{
	const struct ht_part_chunk **chunks = image->chunks.data;
	size_t n = image->chunks.n, n_streams = 0;
	if (n)
		qsort(chunks, n, sizeof *chunks, compare_chunks);
	for (size_t i = 0; i < n; i++)
		n_streams += !i || chunks[i]->kind != chunks[i - 1]->kind ||
		             chunks[i]->stream != chunks[i - 1]->stream;
	if (!n_streams)
		return HT_OK;
	image->streams = ht_mem_zalloc(image->ctx->mem, n_streams * sizeof *image->streams);
	if (!image->streams)
		return ht_fail_nomem(image->ctx);
	image->streams_cap = n_streams;
	struct ht_image_stream *s = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!s || s->kind != chunks[i]->kind || s->index != chunks[i]->stream) {
			s = &image->streams[image->n_streams++];
			*s = (struct ht_image_stream){ .kind = chunks[i]->kind,
				.index = chunks[i]->stream,
				.chunks = &chunks[i] };
		}
		if (chunks[i]->number == s->n_chunks)
			s->n_chunks++;
	}
	return HT_OK;
}

static bool needs_escape(const struct ht_name *name)
{
	for (uint32_t i = 0; i < name->n; i++)
		if ((unsigned char)name->bytes[i] < 0x20 || strchr("\"\\", name->bytes[i]))
			return true;
	return !ht_utf8_valid(name->bytes, name->n);
}

/* The name as JSON takes it, in memory of the image unless it can stay where it is. */
static enum ht_status escape_name(struct ht_image *image, struct ht_name *name)
{
	if (!name->n || !needs_escape(name))
		return HT_OK;
	struct ht_vec text = { 0 };
	enum ht_status status = ht_rec_escape(image->ctx, name->bytes, name->n, &text);
	char *copy = status == HT_OK ? ht_arena_strndup(&image->escaped, text.data, text.n) : NULL;
	name->bytes = copy;
	name->n = copy ? (uint32_t)text.n : 0;
	ht_vec_free(image->ctx->mem, &text, 1);
	return status == HT_OK && !copy ? ht_fail_nomem(image->ctx) : status;
}

static enum ht_status read_names(struct ht_image *image, const struct ht_image_stream *s)
{
	struct ht_cursor cursor;
	struct ht_bytes record;
	ht_cursor_init(&cursor, s);
	for (unsigned type; (type = ht_cursor_next(&cursor, &record)) != 0;) {
		if (type != HT_TYPE_NAME)
			continue;
		struct ht_name name = { .n = (uint32_t)ht_get_u64(&record) };
		name.bytes = ht_get_raw(&record, name.n);
		if (!name.bytes)
			name = (struct ht_name){ "", 0 };
		HT_TRY(escape_name(image, &name));
		if (!HT_VEC_PUSH(image->ctx->mem, &image->names, struct ht_name, name))
			return ht_fail_nomem(image->ctx);
	}
	return HT_OK;
}

/* Who wrote a stream; what was said last is true. */
static enum ht_status read_thread(struct ht_image *image, struct ht_image_stream *s)
{
	struct ht_cursor cursor;
	struct ht_bytes record;
	ht_cursor_init(&cursor, s);
	for (unsigned type; (type = ht_cursor_next(&cursor, &record)) != 0;) {
		if (type != HT_TYPE_THREAD)
			continue;
		(void)ht_get_u64(&record);
		(void)ht_get_u64(&record);
		uint32_t os_thread = (uint32_t)ht_get_u64(&record);
		struct ht_name name = { .n = (uint32_t)ht_get_u64(&record) };
		name.bytes = ht_get_raw(&record, name.n);
		if (record.bad)
			continue;
		s->os_thread = os_thread;
		s->name = name;
	}
	return escape_name(image, &s->name);
}

static enum ht_status read_streams(struct ht_image *image)
{
	struct ht_name none = { "", 0 };
	ht_arena_init(&image->escaped, image->ctx->mem);
	if (!HT_VEC_PUSH(image->ctx->mem, &image->names, struct ht_name, none))
		return ht_fail_nomem(image->ctx);
	HT_TRY(group_chunks(image));
	for (size_t i = 0; i < image->n_streams; i++) {
		struct ht_image_stream *s = &image->streams[i];
		if (s->kind == HT_CHUNK_NAMES && s->index == 0)
			HT_TRY(read_names(image, s));
		if (s->kind == HT_CHUNK_CALLS)
			HT_TRY(read_thread(image, s));
	}
	return HT_OK;
}

static enum ht_status finish_open(struct ht_image *image, enum ht_status status)
{
	if (status == HT_OK)
		status = read_streams(image);
	if (status != HT_OK)
		ht_image_done(image);
	return status;
}

enum ht_status ht_image_of_part(
        ht_ctx *ctx, const struct ht_part_file *part, struct ht_image *ret_image)
{
	*ret_image = (struct ht_image){ .ctx = ctx, .header = part->header };
	if (!ht_vec_reserve(ctx->mem, &ret_image->chunks, sizeof(void *), part->chunks.n + 1))
		return ht_fail_nomem(ctx);
	if (part->chunks.n)
		memcpy(ret_image->chunks.data, part->chunks.data, part->chunks.n * sizeof(void *));
	ret_image->chunks.n = part->chunks.n;
	return finish_open(ret_image, HT_OK);
}

/* A chunk may begin at any page; a page that is no head is passed over. */
static enum ht_status find_chunks(struct ht_image *image)
{
	size_t offset = HT_PART_PAGE;
	while (image->map_bytes - offset >= HT_PART_PAGE) {
		const struct ht_part_chunk *chunk =
		        (const void *)((const char *)image->map + offset);
		size_t left = image->map_bytes - offset;
		bool good = chunk->magic == HT_CHUNK_MAGIC && chunk->n_bytes >= HT_PART_PAGE &&
		            chunk->n_bytes % HT_PART_PAGE == 0 && chunk->n_bytes <= left &&
		            chunk->used <= chunk->n_bytes - sizeof *chunk;
		if (good && !HT_VEC_PUSH(image->ctx->mem, &image->chunks,
		                    const struct ht_part_chunk *, chunk))
			return ht_fail_nomem(image->ctx);
		image->n_skipped += !good;
		offset += good ? chunk->n_bytes : HT_PART_PAGE;
	}
	return HT_OK;
}

static bool is_text(const char *text, size_t cap)
{
	return memchr(text, 0, cap) != NULL;
}

static enum ht_status check_header(struct ht_image *image, const char *path)
{
	const struct ht_part_header *h = image->map;
	if (image->map_bytes < HT_PART_PAGE ||
	        memcmp(h->magic, HT_PART_MAGIC, sizeof h->magic) != 0)
		return ht_fail(image->ctx, HT_FORMAT, path, 0, "give the .part file that it left",
		        "not an unfinished recording");
	if (h->version != HT_PART_VERSION)
		return ht_fail(image->ctx, HT_FORMAT, path, 8, NULL,
		        "a recording of version %u; this program knows %u", h->version,
		        HT_PART_VERSION);
	if (!is_text(h->path, sizeof h->path) || !is_text(h->trace, sizeof h->trace) ||
	        !is_text(h->time, sizeof h->time) || !is_text(h->program, sizeof h->program))
		return ht_fail(image->ctx, HT_FORMAT, path, 0, NULL, "damaged header");
	image->header = h;
	return HT_OK;
}

enum ht_status ht_image_open(ht_ctx *ctx, const char *path, struct ht_image *ret_image)
{
	*ret_image = (struct ht_image){ .ctx = ctx };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return ht_fail_errno(ctx, path, "cannot open", error);
	}
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)HT_PART_PAGE) {
		close(fd);
		return ht_fail(ctx, HT_FORMAT, path, -1, NULL, "not an unfinished recording");
	}
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int error = errno;
	close(fd);
	if (map == MAP_FAILED)
		return ht_fail_errno(ctx, path, "cannot map", error);
	ret_image->map = map;
	ret_image->map_bytes = (size_t)st.st_size;
	enum ht_status status = check_header(ret_image, path);
	if (status == HT_OK)
		status = find_chunks(ret_image);
	return finish_open(ret_image, status);
}

void ht_image_done(struct ht_image *image)
{
	struct ht_mem *mem = image->ctx->mem;
	ht_mem_free(mem, image->streams, image->streams_cap * sizeof *image->streams);
	ht_vec_free(mem, &image->chunks, sizeof(void *));
	ht_vec_free(mem, &image->names, sizeof(struct ht_name));
	ht_arena_done(&image->escaped);
	if (image->map)
		munmap(image->map, image->map_bytes);
	*image = (struct ht_image){ .ctx = image->ctx };
}
