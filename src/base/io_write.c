/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_write.c - writing files; see holotrace.h.
 *
 *   small writes ─► staged ─► [encoder] ─► out ─► file without a name (temp.h) ─► path on commit
 *
 * Staging spares the encoders and the system tiny pieces. A reader of the path sees the old file or
 * the whole new one, never a part. The data are not forced to the disk: a trace can be made again.
 */
#include "base/folder.h"
#include "base/io.h"
#include "base/io_codec.h"
#include "base/mem.h"
#include "base/temp.h"
#include "base/text_compare.h"
#include "base/writer.h"

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

static enum ht_status refuse(struct ht_writer *writer, const char *what, int error)
{
	if (error == ELOOP)
		return ht_fail(writer->ctx, HT_IO, writer->path, -1,
		        "name the place that it leads to, or write to a folder of your own",
		        "%s: a link in a folder that everybody can write to", what);
	return ht_fail_errno(writer->ctx, writer->path, what, error);
}

static enum ht_status open_temp(
        struct ht_writer *writer, int folder, const char *name, const struct stat *old)
{
	int error = ht_temp_open_at(folder, name, old ? old->st_mode & 0777 : 0666, &writer->temp);
	if (error)
		return refuse(writer, "cannot create", error);
	/* in spite of the umask; a file system without modes may refuse */
	if (old)
		(void)fchmod(writer->temp.fd, old->st_mode & 0777);
	writer->out.fd = writer->temp.fd;
	return HT_OK;
}

/* A device or pipe. What was put in its place since it was looked at is neither cut nor written over. */
static enum ht_status open_in_place(
        struct ht_writer *writer, int folder, const char *name, int flags)
{
	struct stat st;
	int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	int error = fd < 0 ? errno : fstat(fd, &st) ? errno : S_ISREG(st.st_mode) ? EEXIST : 0;
	if (error && fd >= 0)
		close(fd);
	if (error)
		return refuse(writer, "cannot write", error);
	writer->out.fd = fd;
	writer->owns_fd = true;
	return HT_OK;
}

/* Write where a link points to, not over the link, unless it points nowhere. Descriptors passed by a shell have no name that
 * could be resolved or renamed; they are not regular files. */
static enum ht_status open_linked(struct ht_writer *writer, int folder, const char *name)
{
	char real[PATH_MAX];
	const char *real_name;
	struct stat st;
	if (ht_folder_is_shared(folder))
		return refuse(writer, "cannot create", ELOOP);
	if (fstatat(folder, name, &st, 0))
		return open_temp(writer, folder, name, NULL);
	if (!S_ISREG(st.st_mode))
		return open_in_place(writer, folder, name, 0);
	int target = realpath(writer->path, real) ? ht_folder_of(real, &real_name) : -1;
	if (target < 0)
		return refuse(writer, "cannot create", errno);
	enum ht_status status = open_temp(writer, target, real_name, &st);
	close(target);
	return status;
}

/* owned: the user named the path, and a link there is his; else it is replaced. */
static enum ht_status open_at(struct ht_writer *writer, int folder, const char *name, bool owned)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return open_temp(writer, folder, name, NULL);
	if (S_ISLNK(st.st_mode) && !owned)
		return open_temp(writer, folder, name, NULL);
	struct stat to = st;
	if (S_ISDIR(st.st_mode) ||
	        (S_ISLNK(st.st_mode) && !fstatat(folder, name, &to, 0) && S_ISDIR(to.st_mode)))
		return ht_fail(writer->ctx, HT_IO, writer->path, -1, "name a file in it",
		        "cannot write: it is a directory");
	if (S_ISLNK(st.st_mode))
		return open_linked(writer, folder, name);
	if (S_ISREG(st.st_mode))
		return open_temp(writer, folder, name, &st);
	return open_in_place(writer, folder, name, O_NOFOLLOW);
}

/* A folder that is open already, or -1: the one of the path. */
static enum ht_status open_target(struct ht_writer *writer, int folder, const char *path)
{
	ht_ctx *ctx = writer->ctx;
	const char *name = path;
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, path, "cannot create", ENOSPC);
	if (strlen(path) >= sizeof writer->path)
		return ht_fail_errno(ctx, path, "cannot create", ENAMETOOLONG);
	memcpy(writer->path, path, strlen(path) + 1);
	bool owned = folder < 0;
	if (owned)
		folder = ht_folder_of(path, &name);
	else
		name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (folder < 0)
		return refuse(writer, "cannot create", errno);
	enum ht_status status = open_at(writer, folder, *name ? name : ".", owned);
	if (owned)
		close(folder);
	return status;
}

static enum ht_status open_writer(struct ht_writer *writer, int folder, const char *path)
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
	if (folder < 0 && !strcmp(path, "-")) {
		writer->out.fd = STDOUT_FILENO;
		writer->out.path = "standard output";
		return HT_OK;
	}
	writer->out.path = writer->path;
	return open_target(writer, folder, path);
}

enum ht_status ht_writer_open_at(
        ht_ctx *ctx, int folder, const char *path, struct ht_writer **ret_writer)
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
	enum ht_status status = open_writer(writer, folder, path);
	if (status != HT_OK) {
		ht_writer_abort(writer);
		return status;
	}
	*ret_writer = writer;
	return HT_OK;
}

enum ht_status ht_writer_open(ht_ctx *ctx, const char *path, struct ht_writer **ret_writer)
{
	return ht_writer_open_at(ctx, -1, path, ret_writer);
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
