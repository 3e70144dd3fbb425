/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.c - opening and reading sources; see io.h.
 *
 * The first bytes of a file tell what it is; they stay in a small head buffer, so that pipes work like
 * files. Plain data are then read straight into the caller's buffer, compressed data pass through a
 * piece buffer into a decoder that writes straight into the caller's buffer. A large gzip file may be inflated by several
 * threads instead (io_ahead.h). When that gives up the decoder, which stands where it was, comes after: what has
 * been delivered already is decoded again and dropped.
 */
#include "base/io.h"
#include "base/door.h"
#include "base/io_ahead.h"
#include "base/io_codec.h"
#include "base/mem.h"
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A page, so that later reads of a file stay aligned. */
#define HEAD_BYTES 4096

/* How much a decoder is asked for at once. */
#define STEP_BYTES ((size_t)256 << 10)

/* Who has read more has it done in the way that was begun. */
#define MAX_LATE_BYTES (4 * STEP_BYTES)

struct ht_source {
	struct ht_mem *mem;
	struct ht_source_info info;
	struct ht_source_limits limits;
	struct ht_input in;
	const struct ht_decoder *decoder; /* NULL: plain */
	void *decoder_state;
	struct ht_damage damage;
	uint64_t pos;           /* decompressed bytes delivered */
	uint64_t n_decoded;     /* by the decoder */
	uint64_t n_out;         /* of that, or of what was inflated ahead, given out */
	struct ht_ahead *ahead; /* NULL: only the decoder */
	bool ahead_failed;      /* it has been given up */
	uint8_t *step; /* decoded but not delivered: [step_next, step_end); NULL until needed */
	size_t step_next, step_end;
	struct ht_vec held; /* looked at but not delivered: from held_next on */
	size_t held_next;
	bool decoder_done;
	bool at_end;
	bool owns_fd;
	size_t piece_cap; /* of the buffer that replaced head; 0: still head */
	size_t path_bytes;
	char *path;
	uint8_t head[HEAD_BYTES];
};

enum ht_status ht_fail_errno(ht_ctx *ctx, const char *path, const char *what, int error)
{
	const char *hint = NULL;
	switch (error) {
	case ENOENT:
	case ENOTDIR: hint = "check the path"; break;
	case EACCES:
	case EPERM: hint = "check the permissions of the file and its directory"; break;
	case ENOSPC:
	case EDQUOT: hint = "free some space or write elsewhere"; break;
	case EMFILE:
	case ENFILE: hint = "raise the limit of open files (ulimit -n) or use fewer jobs"; break;
	case EXDEV: hint = "--follow-links reads it all the same"; break;
	case EROFS: hint = "write elsewhere"; break;
	case EIO: hint = "the storage may be failing; copy the file elsewhere and retry"; break;
	case ENAMETOOLONG: hint = "use a shorter name"; break;
	case ELOOP: hint = "the symbolic links form a circle"; break;
	default: break;
	}
	char text[128];
	/* the system's own words for it are about devices */
	const char *said = error == EXDEV ? "a link leads out of the folder"
	                                  : ht_errno_text(error, text, sizeof text);
	return ht_fail(ctx, HT_IO, path, -1, hint, "%s: %s", what, said);
}

/* One read that retries after signals. 0 bytes is the end. */
static enum ht_status read_some(
        ht_ctx *ctx, const char *path, int fd, void *buf, size_t cap, size_t *ret_n)
{
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, path, "cannot read", EIO);
	ssize_t n;
	do
		n = read(fd, buf, cap);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ht_fail_errno(ctx, path, "cannot read", errno);
	*ret_n = (size_t)n;
	return HT_OK;
}

/* Read until buf is full or the file ends. */
static enum ht_status read_full(struct ht_input *in, uint8_t *buf, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	while (n < cap && !in->at_end) {
		size_t got;
		HT_TRY(read_some(in->ctx, in->path, in->fd, buf + n, cap - n, &got));
		in->at_end = !got;
		in->n_read += got;
		n += got;
	}
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_input_fill(struct ht_input *in)
{
	size_t n = 0;
	if (in->next < in->end || in->at_end)
		return HT_OK;
	HT_TRY(read_some(in->ctx, in->path, in->fd, in->bytes, in->cap, &n));
	in->at_end = !n;
	in->n_read += n;
	in->next = 0;
	in->end = n;
	return HT_OK;
}

uint64_t ht_input_pos(const struct ht_input *in)
{
	return in->n_read - (in->end - in->next);
}

/* Pipes that a shell or parent made, as against named ones: opening those would wait for a writer. */
static bool is_passed_descriptor(const char *path)
{
	return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/", 6) ||
	       !strcmp(path, "/dev/stdin");
}

static enum ht_status open_file(ht_ctx *ctx, struct ht_source *source, const char *path)
{
	if (!strcmp(path, "-")) {
		source->in.fd = STDIN_FILENO;
		return HT_OK;
	}
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, path, "cannot open", EIO);
	/* Without blocking: a named pipe nobody writes to must not hang us before fstat. */
	int fd = ht_door_open(ctx, path, O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return ht_fail_errno(ctx, path, "cannot open", errno);
	source->in.fd = fd;
	source->owns_fd = true;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return ht_fail_errno(ctx, path, "cannot open", errno);
	return HT_OK;
}

bool ht_source_stat(const char *path, struct stat *ret_stat)
{
	return (strcmp(path, "-") ? stat(path, ret_stat) : fstat(STDIN_FILENO, ret_stat)) == 0;
}

static enum ht_status check_kind(ht_ctx *ctx, struct ht_source *source, const char *path)
{
	struct stat st;
	if (fstat(source->in.fd, &st) < 0)
		return ht_fail_errno(ctx, source->path, "cannot open", errno);
	if (S_ISDIR(st.st_mode))
		return ht_fail(ctx, HT_IO, source->path, -1, "name a file in it",
		        "cannot read: it is a directory");
	if (S_ISREG(st.st_mode)) {
		source->info.is_regular = true;
		source->info.file_bytes = (uint64_t)st.st_size;
		source->info.mtime_ns = ht_stat_mtime_ns(&st);
	} else if (source->owns_fd && !is_passed_descriptor(path)) {
		return ht_fail(ctx, HT_IO, source->path, -1,
		        "pass its content on standard input and name it -",
		        "cannot read: not a regular file");
	}
	return HT_OK;
}

enum ht_compression ht_compression_of(const void *bytes, size_t n)
{
	const uint8_t *head = bytes;
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const uint8_t skippable[3] = { 0x2a, 0x4d, 0x18 };
	if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		return HT_GZIP;
	if (n >= 4 && !memcmp(head, zstd, 4))
		return HT_ZSTD;
	if (n >= 4 && (head[0] & 0xf0) == 0x50 && !memcmp(head + 1, skippable, 3))
		return HT_ZSTD;
	return HT_PLAIN;
}

static enum ht_status open_source(ht_ctx *ctx, struct ht_source *source, const char *path)
{
	const char *shown = strcmp(path, "-") ? path : "standard input";
	source->path_bytes = strlen(shown) + 1;
	source->path = ht_mem_alloc(ctx->mem, source->path_bytes);
	if (!source->path)
		return ht_fail_nomem(ctx);
	memcpy(source->path, shown, source->path_bytes);
	source->info.path = source->path;
	source->in.path = source->path;
	HT_TRY(open_file(ctx, source, path));
	HT_TRY(check_kind(ctx, source, path));

	source->in.bytes = source->head;
	source->in.cap = HEAD_BYTES;
	HT_TRY(read_full(&source->in, source->head, HEAD_BYTES, &source->in.end));
	source->info.compression = ht_compression_of(source->head, source->in.end);
	if (source->info.compression != HT_PLAIN) {
		source->decoder =
		        source->info.compression == HT_GZIP ? &ht_gzip_decoder : &ht_zstd_decoder;
		HT_TRY(source->decoder->open(ctx, &source->decoder_state));
	}
	return HT_OK;
}

enum ht_status ht_source_open(ht_ctx *ctx, const char *path, struct ht_source **ret_source)
{
	struct ht_source *source = ht_mem_zalloc(ctx->mem, sizeof *source);
	if (!source)
		return ht_fail_nomem(ctx);
	source->mem = ht_mem_retain(ctx->mem);
	source->limits = (struct ht_source_limits)HT_SOURCE_LIMITS;
	source->in.ctx = ctx;
	source->in.fd = -1;
	enum ht_status status = open_source(ctx, source, path);
	if (status != HT_OK) {
		ht_source_close(source);
		return status;
	}
	*ret_source = source;
	return HT_OK;
}

void ht_source_close(struct ht_source *source)
{
	if (!source)
		return;
	struct ht_mem *mem = source->mem;
	ht_ahead_close(source->ahead);
	if (source->decoder_state)
		source->decoder->close(mem, source->decoder_state);
	if (source->piece_cap)
		ht_mem_free(mem, source->in.bytes, source->piece_cap);
	ht_mem_free(mem, source->step, STEP_BYTES);
	ht_vec_free(mem, &source->held, 1);
	if (source->owns_fd)
		close(source->in.fd);
	ht_mem_free(mem, source->path, source->path_bytes);
	ht_mem_free(mem, source, sizeof *source);
	ht_mem_release(mem);
}

const struct ht_source_info *ht_source_info(const struct ht_source *source)
{
	return &source->info;
}

void ht_source_set_limits(struct ht_source *source, const struct ht_source_limits *limits)
{
	source->limits = *limits;
}

static enum ht_status read_plain(struct ht_source *source, uint8_t *buf, size_t cap, size_t *ret_n)
{
	struct ht_input *in = &source->in;
	size_t n_head = in->end - in->next, n;
	if (n_head > cap)
		n_head = cap;
	memcpy(buf, in->bytes + in->next, n_head);
	in->next += n_head;
	HT_TRY(read_full(in, buf + n_head, cap - n_head, &n));
	*ret_n = n_head + n;
	return HT_OK;
}

/* Exchange the head for a buffer that holds whole pieces; what is unused of the head moves along. */
static enum ht_status grow_input(struct ht_source *source)
{
	struct ht_input *in = &source->in;
	size_t piece = source->limits.piece_bytes ? source->limits.piece_bytes : HEAD_BYTES;
	size_t cap = piece > HEAD_BYTES ? piece : HEAD_BYTES;
	uint8_t *bytes = ht_mem_alloc(source->mem, cap);
	if (!bytes)
		return ht_fail_nomem(in->ctx);
	memcpy(bytes, in->bytes + in->next, in->end - in->next);
	in->end -= in->next;
	in->next = 0;
	in->bytes = bytes;
	in->cap = piece;
	source->piece_cap = cap;
	return HT_OK;
}

/* Decode one step. How much of damaged data can be used depends on how much a decoder is asked for, so it
 * is always asked for the same: what is delivered does not depend on the caller's buffers. */
static enum ht_status decode_step(struct ht_source *source, uint8_t *out, size_t *ret_n)
{
	HT_TRY(source->decoder->read(
	        source->decoder_state, &source->in, out, STEP_BYTES, ret_n, &source->damage));
	source->decoder_done = *ret_n < STEP_BYTES;
	source->n_decoded += *ret_n;
	if (source->damage.kind == HT_DAMAGE_NONE || source->n_decoded)
		return HT_OK;
	return ht_fail(source->in.ctx, HT_FORMAT, source->path, 0,
	        "copy or download the file again", "unusable %s data: %s, at compressed byte %llu",
	        source->info.compression == HT_GZIP ? "gzip" : "zstd", source->damage.text,
	        (unsigned long long)source->damage.offset);
}

/* Where inflating ahead was given up: decode to what has been delivered, which is dropped. */
static enum ht_status catch_up(struct ht_source *source)
{
	while (source->n_decoded < source->n_out && !source->decoder_done) {
		HT_TRY(decode_step(source, source->step, &source->step_end));
		source->step_next = source->step_end;
	}
	/* less is there only of a file that has changed meanwhile */
	if (source->n_decoded > source->n_out)
		source->step_next -= (size_t)(source->n_decoded - source->n_out);
	return HT_OK;
}

/* The next bytes, inflated ahead; that begins at the start of the text, of which some may have been delivered before. */
static void take_ahead(struct ht_source *source, uint8_t *out, size_t cap, size_t *ret_n)
{
	struct ht_ahead *ahead = source->ahead;
	bool ok = true;
	for (uint64_t left; ok && (left = source->n_out - ht_ahead_pos(ahead));) {
		size_t n = left < cap ? (size_t)left : cap;
		ok = ht_ahead_read(source->in.ctx, ahead, out, n, ret_n) && *ret_n == n;
	}
	*ret_n = 0;
	if (ok)
		ok = ht_ahead_read(source->in.ctx, ahead, out, cap, ret_n);
	source->decoder_done = ok && *ret_n < cap;
	source->ahead_failed = !ok;
}

/* The next bytes, some of at least STEP_BYTES. */
static enum ht_status decode_some(struct ht_source *source, uint8_t *out, size_t cap, size_t *ret_n)
{
	if (!ht_source_is_ahead(source))
		return decode_step(source, out, ret_n);
	take_ahead(source, out, cap, ret_n);
	return HT_OK;
}

/* What fits goes straight to the caller; the last, partial step through a buffer of our own. */
static enum ht_status read_compressed(
        struct ht_source *source, uint8_t *buf, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	if (!source->piece_cap)
		HT_TRY(grow_input(source));
	while (n < cap) {
		size_t left = source->step_end - source->step_next, n_step = 0;
		bool is_behind = !ht_source_is_ahead(source) && source->n_decoded < source->n_out;
		if (left) {
			n_step = left < cap - n ? left : cap - n;
			memcpy(buf + n, source->step + source->step_next, n_step);
			source->step_next += n_step;
		} else if (source->decoder_done) {
			break;
		} else if (cap - n >= STEP_BYTES && !is_behind) {
			HT_TRY(decode_some(source, buf + n, cap - n, &n_step));
		} else {
			if (!source->step &&
			        !(source->step = ht_mem_alloc(source->mem, STEP_BYTES)))
				return ht_fail_nomem(source->in.ctx);
			source->step_next = 0;
			HT_TRY(is_behind ? catch_up(source)
			                 : decode_some(source, source->step, STEP_BYTES,
			                           &source->step_end));
		}
		n += n_step;
		source->n_out += n_step;
	}
	*ret_n = n;
	return HT_OK;
}

static enum ht_status check_limits(const struct ht_source *source)
{
	const struct ht_source_limits *limits = &source->limits;
	if (limits->max_bytes && source->pos > limits->max_bytes)
		return ht_fail(source->in.ctx, HT_LIMIT, source->path, (int64_t)source->pos,
		        "split the trace, or trim it when recording",
		        "more than %llu bytes in one source",
		        (unsigned long long)limits->max_bytes);
	uint64_t used = ht_source_file_pos(source);
	if (source->decoder && limits->max_ratio && source->pos > limits->ratio_from_bytes &&
	        source->pos / (used ? used : 1) > limits->max_ratio)
		return ht_fail(source->in.ctx, HT_LIMIT, source->path, (int64_t)source->pos,
		        "it looks like a decompression bomb; unpack it first if it is not",
		        "%llu compressed bytes became %llu, more than %llu times as many",
		        (unsigned long long)used, (unsigned long long)source->pos,
		        (unsigned long long)limits->max_ratio);
	return HT_OK;
}

static enum ht_status read_ahead(
        ht_ctx *ctx, struct ht_source *source, void *buf, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	source->in.ctx = ctx;
	if (!source->at_end && cap) {
		HT_TRY(source->decoder ? read_compressed(source, buf, cap, &n)
		                       : read_plain(source, buf, cap, &n));
		source->at_end = n < cap;
		source->pos += n;
		HT_TRY(check_limits(source));
	}
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_source_peek(
        ht_ctx *ctx, struct ht_source *source, size_t n, const char **ret_bytes, size_t *ret_n)
{
	if (!ht_vec_reserve(source->mem, &source->held, 1, n))
		return ht_fail_nomem(ctx);
	HT_TRY(read_ahead(ctx, source, source->held.data, n, &source->held.n));
	source->pos -= source->held.n;
	*ret_bytes = source->held.data;
	*ret_n = source->held.n;
	return HT_OK;
}

enum ht_status ht_source_read(
        ht_ctx *ctx, struct ht_source *source, void *buf, size_t cap, size_t *ret_n)
{
	size_t n = source->held.n - source->held_next, n_more;
	if (n > cap)
		n = cap;
	if (n) {
		memcpy(buf, (const char *)source->held.data + source->held_next, n);
		source->held_next += n;
		source->pos += n;
	}
	HT_TRY(read_ahead(ctx, source, (char *)buf + n, cap - n, &n_more));
	*ret_n = n + n_more;
	return HT_OK;
}

/* A regular file of which all that is before our place has been read. */
static bool is_from_start(const struct ht_source *source)
{
	return source->info.is_regular &&
	       lseek(source->in.fd, 0, SEEK_CUR) == (off_t)source->in.n_read;
}

bool ht_source_is_direct(const struct ht_source *source)
{
	uint64_t n = source->info.file_bytes, max = source->limits.max_bytes;
	/* files of /proc have no size, and a descriptor that was passed on may stand anywhere */
	return !source->decoder && !source->pos && n && (!max || n <= max) && is_from_start(source);
}

int ht_read_at(ht_ctx *ctx, int fd, uint64_t offset, void *buf, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	while (n < cap) {
		ssize_t n_now = -1;
		if (ht_io_should_fail(ctx))
			errno = EIO;
		else
			n_now = pread(fd, (char *)buf + n, cap - n, (off_t)(offset + n));
		if (n_now < 0 && errno == EINTR)
			continue;
		if (n_now < 0)
			return errno;
		if (!n_now)
			break;
		n += (size_t)n_now;
	}
	*ret_n = n;
	return 0;
}

enum ht_status ht_source_read_at(ht_ctx *ctx, const struct ht_source *source, uint64_t offset,
        void *buf, size_t cap, size_t *ret_n)
{
	int error = ht_read_at(ctx, source->in.fd, offset, buf, cap, ret_n);
	return error ? ht_fail_errno(ctx, source->path, "cannot read", error) : HT_OK;
}

void ht_source_pass(struct ht_source *source, uint64_t n)
{
	source->pos = n;
}

bool ht_source_start_ahead(ht_ctx *ctx, struct ht_source *source, size_t n_threads)
{
	const struct ht_source_limits *limits = &source->limits;
	if (source->ahead || source->info.compression != HT_GZIP || source->decoder_done ||
	        source->n_decoded > MAX_LATE_BYTES || !is_from_start(source))
		return source->ahead;
	/* far from the limit, so that only the decoder can come to it: it knows exactly */
	struct ht_ahead_file file = { .fd = source->in.fd,
		.n_bytes = source->info.file_bytes,
		.chunk_bytes = limits->ahead_bytes ? limits->ahead_bytes : 1,
		.max_ratio = (limits->max_ratio + 3) / 4 };
	source->ahead = ht_ahead_open(ctx, &file, n_threads);
	return source->ahead;
}

bool ht_source_wants_help(const struct ht_source *source, bool urgent)
{
	return source->ahead && ht_ahead_wants_help(source->ahead, urgent);
}

void ht_source_help(ht_ctx *ctx, struct ht_source *source)
{
	if (source->ahead)
		ht_ahead_help(ctx, source->ahead);
}

bool ht_source_is_ready(const struct ht_source *source, size_t n)
{
	return !source->ahead || ht_ahead_is_ready(source->ahead, n);
}

bool ht_source_is_ahead(const struct ht_source *source)
{
	return source->ahead && !source->ahead_failed;
}

uint64_t ht_source_file_pos(const struct ht_source *source)
{
	return ht_source_is_ahead(source) ? ht_ahead_file_pos(source->ahead)
	                                  : ht_input_pos(&source->in);
}

uint64_t ht_source_pos(const struct ht_source *source)
{
	return source->pos;
}

const struct ht_damage *ht_source_damage(const struct ht_source *source)
{
	return &source->damage;
}

enum ht_status ht_source_read_all(
        ht_ctx *ctx, struct ht_source *source, size_t max_bytes, struct ht_vec *text)
{
	for (size_t n = 1; n;) {
		if (text->n > max_bytes)
			return ht_fail(ctx, HT_LIMIT, source->path, (int64_t)max_bytes, NULL,
			        "more than %zu bytes", max_bytes);
		if (!ht_vec_reserve(ctx->mem, text, 1, 4096))
			return ht_fail_nomem(ctx);
		/* One byte stays free for the 0 at the end. */
		HT_TRY(ht_source_read(
		        ctx, source, (char *)text->data + text->n, text->cap - text->n - 1, &n));
		text->n += n;
	}
	((char *)text->data)[text->n] = '\0';
	return HT_OK;
}

enum ht_status ht_read_all(ht_ctx *ctx, const char *path, size_t max_bytes, struct ht_vec *ret_text)
{
	struct ht_source *source;
	struct ht_vec text = { 0 };
	HT_TRY(ht_source_open(ctx, path, &source));
	enum ht_status status = ht_source_read_all(ctx, source, max_bytes, &text);
	ht_source_close(source);
	if (status != HT_OK) {
		ht_vec_free(ctx->mem, &text, 1);
		return status;
	}
	*ret_text = text;
	return HT_OK;
}
