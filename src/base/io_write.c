/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_write.c - writing files; see holotrace.h.
 *
 *   small writes ─► staged ─► [encoder] ─► out ─► file without a name (temp.h) ─► path on commit
 *
 * Staging spares the encoders and the system tiny pieces. A reader of the path sees the old file or
 * the whole new one, never a part. The data are not forced to the disk: a trace can be made again.
 */
#include "base/io.h"
#include "base/io_codec.h"
#include "base/mem.h"
#include "base/temp.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)

struct ht_writer {
	ht_ctx *ctx;
	struct ht_mem *mem;
	struct ht_output out;
	const struct ht_encoder *encoder; /* NULL: plain, staged in out itself */
	void *encoder_state;
	uint8_t *staged;
	size_t n_staged;
	enum ht_status failed;
	bool owns_fd; /* a device or pipe that is written in place */
	struct ht_temp temp;
	char path[PATH_MAX];
};

enum ht_status ht_output_flush(struct ht_output *out)
{
	size_t n_done = 0;
	if (out->sink) {
		if (!out->sink->write(out->sink->user, out->bytes, out->n))
			return ht_fail(out->ctx, HT_IO, NULL, -1, NULL,
			        "cannot write: the receiver stopped");
		n_done = out->n;
	}
	while (n_done < out->n) {
		if (ht_io_should_fail(out->ctx))
			return ht_fail_errno(out->ctx, out->path, "cannot write", ENOSPC);
		ssize_t n = write(out->fd, out->bytes + n_done, out->n - n_done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ht_fail_errno(out->ctx, out->path, "cannot write", errno);
		n_done += (size_t)n;
	}
	out->n = 0;
	return HT_OK;
}

/* Close the file; nothing is left of an unfinished one. */
static void drop_file(struct ht_writer *writer)
{
	if (writer->owns_fd)
		close(writer->out.fd);
	writer->owns_fd = false;
	ht_temp_abort(&writer->temp);
}

static void free_writer(struct ht_writer *writer)
{
	struct ht_mem *mem = writer->mem;
	if (writer->encoder_state)
		writer->encoder->close(mem, writer->encoder_state);
	ht_mem_free(mem, writer->staged, BUFFER_BYTES);
	ht_mem_free(mem, writer->out.bytes, BUFFER_BYTES);
	ht_mem_free(mem, writer, sizeof *writer);
	ht_mem_release(mem);
}

static enum ht_status open_temp(struct ht_writer *writer, const struct stat *old)
{
	int error = ht_temp_open(writer->path, old ? old->st_mode & 0777 : 0666, &writer->temp);
	if (error)
		return ht_fail_errno(writer->ctx, writer->path, "cannot create", error);
	/* in spite of the umask; a file system without modes may refuse */
	if (old)
		(void)fchmod(writer->temp.fd, old->st_mode & 0777);
	writer->out.fd = writer->temp.fd;
	return HT_OK;
}

static enum ht_status open_target(struct ht_writer *writer, const char *path)
{
	ht_ctx *ctx = writer->ctx;
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, path, "cannot create", ENOSPC);
	if (strlen(path) >= sizeof writer->path)
		return ht_fail_errno(ctx, path, "cannot create", ENAMETOOLONG);
	struct stat st;
	if (stat(path, &st) < 0) {
		memcpy(writer->path, path, strlen(path) + 1);
		return open_temp(writer, NULL);
	}
	if (S_ISDIR(st.st_mode))
		return ht_fail(ctx, HT_IO, path, -1, "name a file in it",
		        "cannot write: it is a directory");
	/* Write where a link points to, not over the link. Descriptors passed by a shell have no
	 * name that could be resolved or renamed; they are not regular files. */
	if (S_ISREG(st.st_mode)) {
		if (!realpath(path, writer->path))
			return ht_fail_errno(ctx, path, "cannot create", errno);
		return open_temp(writer, &st);
	}
	memcpy(writer->path, path, strlen(path) + 1);
	writer->out.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (writer->out.fd < 0)
		return ht_fail_errno(ctx, path, "cannot write", errno);
	writer->owns_fd = true;
	return HT_OK;
}

static enum ht_status open_writer(struct ht_writer *writer, const char *path)
{
	writer->out.bytes = ht_mem_alloc(writer->mem, BUFFER_BYTES);
	if (!writer->out.bytes)
		return ht_fail_nomem(writer->ctx);
	writer->out.cap = BUFFER_BYTES;
	writer->encoder = ht_text_ends(path, ".gz")    ? &ht_gzip_encoder
	                  : ht_text_ends(path, ".zst") ? &ht_zstd_encoder
	                                               : NULL;
	if (writer->encoder) {
		writer->staged = ht_mem_alloc(writer->mem, BUFFER_BYTES);
		if (!writer->staged)
			return ht_fail_nomem(writer->ctx);
		HT_TRY(writer->encoder->open(writer->ctx, &writer->encoder_state));
	}
	if (!strcmp(path, "-")) {
		writer->out.fd = STDOUT_FILENO;
		writer->out.path = "standard output";
		return HT_OK;
	}
	writer->out.path = writer->path;
	return open_target(writer, path);
}

enum ht_status ht_writer_open(ht_ctx *ctx, const char *path, struct ht_writer **ret_writer)
{
	ht_error_clear(ctx);
	struct ht_writer *writer = ht_mem_zalloc(ctx->mem, sizeof *writer);
	if (!writer)
		return ht_fail_nomem(ctx);
	writer->ctx = ctx;
	writer->mem = ht_mem_retain(ctx->mem);
	writer->out.ctx = ctx;
	writer->out.fd = -1;
	writer->temp.fd = -1;
	enum ht_status status = open_writer(writer, path);
	if (status != HT_OK) {
		ht_writer_abort(writer);
		return status;
	}
	*ret_writer = writer;
	return HT_OK;
}

/* Fill whatever buffer comes first, pass it on whenever it is full. */
static enum ht_status stage(struct ht_writer *writer, const uint8_t *bytes, size_t n)
{
	uint8_t *buffer = writer->encoder ? writer->staged : writer->out.bytes;
	size_t *n_used = writer->encoder ? &writer->n_staged : &writer->out.n;
	while (n) {
		size_t n_part = BUFFER_BYTES - *n_used;
		if (n_part > n)
			n_part = n;
		memcpy(buffer + *n_used, bytes, n_part);
		*n_used += n_part;
		bytes += n_part;
		n -= n_part;
		if (*n_used < BUFFER_BYTES)
			break;
		if (writer->encoder) {
			writer->n_staged = 0;
			HT_TRY(writer->encoder->write(writer->encoder_state, writer->staged,
			        BUFFER_BYTES, false, &writer->out));
		} else {
			HT_TRY(ht_output_flush(&writer->out));
		}
	}
	return HT_OK;
}

enum ht_status ht_writer_write(struct ht_writer *writer, const void *bytes, size_t n)
{
	if (writer->failed != HT_OK)
		return writer->failed;
	writer->failed = stage(writer, bytes, n);
	if (writer->failed != HT_OK)
		drop_file(writer);
	return writer->failed;
}

static enum ht_status finish(struct ht_writer *writer)
{
	ht_ctx *ctx = writer->ctx;
	if (writer->failed != HT_OK)
		return writer->failed;
	if (writer->encoder)
		HT_TRY(writer->encoder->write(writer->encoder_state, writer->staged,
		        writer->n_staged, true, &writer->out));
	HT_TRY(ht_output_flush(&writer->out));
	if (writer->owns_fd) {
		writer->owns_fd = false;
		/* Network file systems report a full disk only now. */
		if (close(writer->out.fd) < 0 && errno != EINTR)
			return ht_fail_errno(ctx, writer->out.path, "cannot write", errno);
	}
	if (writer->temp.fd < 0)
		return HT_OK;
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, writer->path, "cannot put into place", EIO);
	int error = ht_temp_commit(&writer->temp);
	return error ? ht_fail_errno(ctx, writer->path, "cannot put into place", error) : HT_OK;
}

enum ht_status ht_writer_commit(struct ht_writer *writer)
{
	enum ht_status status = finish(writer);
	drop_file(writer);
	free_writer(writer);
	return status;
}

void ht_writer_abort(struct ht_writer *writer)
{
	if (!writer)
		return;
	drop_file(writer);
	free_writer(writer);
}
