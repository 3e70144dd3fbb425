/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c - see finish.h.
 *
 * Both files come from one replay. Each appears under its name only when it is whole; a failure of one
 * takes both, and leaves the recording to be recovered.
 */
#include "record/finish.h"

#include "base/io.h"
#include "record/nodes.h"
#include "record/recorder.h"
#include "record/recorded_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file in the making. */
struct output {
	struct ht_writer *writer; /* NULL: not wanted */
	struct ht_emit emit;
};

static enum ht_status flush(void *user, const void *bytes, size_t n)
{
	return ht_writer_write(user, bytes, n);
}

static enum ht_status open_output(ht_ctx *ctx, const char *path, struct output *ret_output)
{
	*ret_output = (struct output){ 0 };
	if (!path[0])
		return HT_OK;
	struct output output;
	HT_TRY(ht_writer_open(ctx, path, &output.writer));
	enum ht_status status = ht_emit_init(&output.emit, ctx, flush, output.writer);
	if (status == HT_OK)
		*ret_output = output;
	else
		ht_writer_abort(output.writer);
	return status;
}

/* Keep the file, or drop it after a failure elsewhere. */
static enum ht_status close_output(struct output *output, enum ht_status status)
{
	if (!output->writer)
		return status;
	enum ht_status emitted = ht_emit_done(&output->emit);
	status = status == HT_OK ? emitted : status;
	if (status == HT_OK)
		return ht_writer_commit(output->writer);
	ht_writer_abort(output->writer);
	return status;
}

static enum ht_status write_outputs(const struct ht_image *image, struct ht_replay *replay,
        struct output *et, struct output *trace, int64_t finish_ns)
{
	struct ht_nodes nodes;
	struct ht_rec_timeline timeline;
	struct ht_replay_sink sinks[2];
	size_t n = 0;
	enum ht_status status = HT_OK;
	if (et->writer) {
		ht_nodes_init(&nodes, image, &et->emit);
		ht_nodes_head(&nodes);
		sinks[n++] = ht_nodes_sink(&nodes);
	}
	if (trace->writer) {
		ht_rec_timeline_init(&timeline, image, &trace->emit);
		status = ht_rec_timeline_head(&timeline);
		sinks[n++] = ht_rec_timeline_sink(&timeline);
	}
	if (status == HT_OK)
		status = ht_replay_run(replay, sinks, n);
	if (et->writer) {
		if (status == HT_OK)
			status = ht_nodes_tail(&nodes, finish_ns);
		ht_nodes_done(&nodes);
	}
	if (trace->writer) {
		if (status == HT_OK)
			status = ht_rec_timeline_tail(&timeline);
		ht_rec_timeline_done(&timeline);
	}
	return status;
}

/* Write to these paths; "" is none. */
static enum ht_status finish_image(
        const struct ht_image *image, const char *path, const char *trace_path, int64_t finish_ns)
{
	struct output et, trace;
	struct ht_replay replay;
	HT_TRY(open_output(image->ctx, path, &et));
	enum ht_status status = open_output(image->ctx, trace_path, &trace);
	if (status == HT_OK) {
		status = ht_replay_init(image, &replay);
		if (status == HT_OK) {
			status = write_outputs(image, &replay, &et, &trace, finish_ns);
			ht_replay_done(&replay);
		}
		status = close_output(&trace, status);
	}
	return close_output(&et, status);
}

/* The context's error as this thread's. */
static enum ht_status report(ht_ctx *ctx, enum ht_status status)
{
	const struct ht_error *error = ht_error(ctx);
	if (status == HT_OK)
		return HT_OK;
	return ht_recorder_fail(status, "%s%s%s", error->file ? error->file : "",
	        error->file ? ": " : "", error->message);
}

static void sync_file(const char *path)
{
	int fd = path[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
}

static enum ht_status finish_live(const struct ht_part_file *part)
{
	ht_ctx *ctx;
	struct ht_image image;
	if (ht_ctx_new(&ctx) != HT_OK)
		return ht_recorder_fail(HT_NOMEM, "out of memory");
	const struct ht_part_header *header = part->header;
	enum ht_status status = ht_image_of_part(ctx, part, &image);
	if (status == HT_OK) {
		status = finish_image(&image, header->path, header->trace, ht_record_now());
		ht_image_done(&image);
	}
	if (status == HT_OK && header->flags & HT_RECORD_SYNC) {
		sync_file(header->path);
		sync_file(header->trace);
	}
	status = report(ctx, status);
	ht_ctx_free(ctx);
	return status;
}

/* A file beyond the limit on their size is an error, and no end of the program that is recorded: what the kernel sends then is
 * held back, and taken before it can arrive. */
enum ht_status ht_finish_live(const struct ht_part_file *part)
{
	const struct timespec at_once = { 0 };
	sigset_t limit, before;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	(void)pthread_sigmask(SIG_BLOCK, &limit, &before);
	enum ht_status status = finish_live(part);
	while (!sigismember(&before, SIGXFSZ) && sigtimedwait(&limit, NULL, &at_once) > 0)
		;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* When nobody said when it ended: the last moment that anything says. */
static int64_t last_moment(const struct ht_image *image)
{
	int64_t last = image->header->start_ns;
	for (size_t i = 0; i < image->chunks.n && !image->header->in_ticks; i++) {
		int64_t ns = ((const struct ht_part_chunk **)image->chunks.data)[i]->start_ns;
		last = ns > last ? ns : last;
	}
	return last;
}

/* Where a file goes that nobody named: beside the part, under the name that the part has for it, whatever folder it says,
 * and over no file that is there. "": the recording has no such file. */
static enum ht_status place_beside(ht_ctx *ctx, const char *part, const char *registered,
        struct ht_arena *arena, const char **ret_path)
{
	size_t n = strnlen(registered, HT_PART_PATH);
	const char *slash = memrchr(registered, '/', n), *folder = strrchr(part, '/');
	const char *name = slash ? slash + 1 : registered;
	size_t n_name = n - (size_t)(name - registered);
	*ret_path = "";
	if (!n)
		return HT_OK;
	if (n == HT_PART_PATH || !n_name || (n_name <= 2 && !memcmp(name, "..", n_name)))
		return ht_fail(ctx, HT_FORMAT, part, -1, "name the files to write",
		        "the part has no name for its file");
	char *path = ht_arena_printf(
	        arena, "%.*s%.*s", folder ? (int)(folder - part) + 1 : 0, part, (int)n_name, name);
	struct stat st;
	if (!path)
		return ht_fail_nomem(ctx);
	if (lstat(path, &st) == 0)
		return ht_fail(ctx, HT_USAGE, path, -1,
		        "name the files to write, or move this one away",
		        "the file exists already");
	*ret_path = path;
	return HT_OK;
}

static enum ht_status recover(ht_ctx *ctx, const struct ht_image *image, const char *part,
        const char *path, const char *trace_path)
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = HT_OK;
	if (!path)
		status = place_beside(ctx, part, image->header->path, &arena, &path);
	if (status == HT_OK && !trace_path)
		status = place_beside(ctx, part, image->header->trace, &arena, &trace_path);
	if (status == HT_OK && !path[0] && !trace_path[0])
		status = ht_fail(ctx, HT_MISSING, part, -1, NULL,
		        "the process was killed before it began to record");
	if (status == HT_OK)
		status = finish_image(image, path, trace_path, last_moment(image));
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_record_recover(const char *part, const char *path, const char *trace_path)
{
	ht_ctx *ctx;
	struct ht_image image;
	if (!part)
		return ht_recorder_fail(HT_USAGE, "no part is named");
	if (ht_ctx_new(&ctx) != HT_OK)
		return ht_recorder_fail(HT_NOMEM, "out of memory");
	enum ht_status status = ht_image_open(ctx, part, &image);
	if (status == HT_OK && trace_path && image.header->in_ticks) {
		status = ht_fail(
		        ctx, HT_MISSING, part, -1, NULL, "no times were recorded for a timeline");
		ht_image_done(&image);
	}
	if (status == HT_OK) {
		status = recover(ctx, &image, part, path, trace_path);
		ht_image_done(&image);
	}
	status = report(ctx, status);
	ht_ctx_free(ctx);
	return status;
}
