/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_test.c - what is written is read back, whatever the form; damage, limits and failing disks are
 * reported and leave nothing behind.
 */
#include "base/io.h"
#include "base/mem.h"
#include "base/platform.h"
#include "holotrace/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_TEXT 300000

struct fixture {
	ht_ctx *ctx;
	char dir[64];
	char path[3][512];
	char text[N_TEXT];
};

static const char *at(struct fixture *f, int i, const char *name)
{
	snprintf(f->path[i], sizeof f->path[i], "%s/%s", f->dir, name);
	return f->path[i];
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	snprintf(f->dir, sizeof f->dir, "/tmp/ht-io-XXXXXX");
	/* Text like a trace's: compresses well, but not without end. */
	unsigned seed = 1;
	for (size_t i = 0; i < N_TEXT; i++) {
		seed = seed * 1103515245 + 12345;
		f->text[i] =
		        i % 16 < 10 ? "\"name\": \"k"[i % 16] : (char)('0' + (seed >> 16) % 10);
	}
	*state = f;
	return !mkdtemp(f->dir);
}

static size_t n_files(const char *path)
{
	size_t n = 0;
	DIR *dir = opendir(path);
	for (struct dirent *item; (item = readdir(dir));)
		n += item->d_name[0] != '.';
	closedir(dir);
	return n;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	DIR *dir = opendir(f->dir);
	for (struct dirent *item; (item = readdir(dir));)
		unlink(at(f, 0, item->d_name));
	closedir(dir);
	rmdir(f->dir);
	uint64_t now, peak;
	ht_ctx_memory(f->ctx, &now, &peak);
	ht_ctx_free(f->ctx);
	free(f);
	return now != 0;
}

static void put(const char *path, const void *bytes, size_t n, const char *mode)
{
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static size_t get(const char *path, uint8_t **ret_bytes)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	FILE *file = fopen(path, "rb");
	*ret_bytes = malloc((size_t)st.st_size + 1);
	assert_int_equal(fread(*ret_bytes, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	return (size_t)st.st_size;
}

static enum ht_status write_file(
        ht_ctx *ctx, const char *path, const char *text, size_t n, size_t n_step)
{
	struct ht_writer *writer;
	HT_TRY(ht_writer_open(ctx, path, &writer));
	for (size_t i = 0; i < n; i += n_step) {
		enum ht_status status =
		        ht_writer_write(writer, text + i, n - i < n_step ? n - i : n_step);
		if (status != HT_OK) {
			ht_writer_abort(writer);
			return status;
		}
	}
	return ht_writer_commit(writer);
}

struct outcome {
	char *bytes;
	size_t n;
	struct ht_damage damage;
	uint64_t file_pos, pos;
};

static enum ht_status read_rest(
        ht_ctx *ctx, struct ht_source *source, size_t n_step, size_t cap, struct outcome *out)
{
	for (size_t n = 1; n;) {
		if (cap - out->n < n_step)
			n_step = cap - out->n;
		HT_TRY(ht_source_read(ctx, source, out->bytes + out->n, n_step, &n));
		out->n += n;
	}
	out->damage = *ht_source_damage(source);
	out->file_pos = ht_source_file_pos(source);
	out->pos = ht_source_pos(source);
	return HT_OK;
}

static enum ht_status read_file(
        ht_ctx *ctx, const char *path, size_t n_step, size_t piece, struct outcome *out)
{
	struct ht_source *source;
	const size_t cap = 4 * N_TEXT;
	out->n = 0;
	out->bytes = malloc(cap);
	enum ht_status status = ht_source_open(ctx, path, &source);
	if (status == HT_OK) {
		struct ht_source_limits limits = HT_SOURCE_LIMITS;
		limits.piece_bytes = piece;
		ht_source_set_limits(source, &limits);
		status = read_rest(ctx, source, n_step, cap, out);
		ht_source_close(source);
	}
	if (status != HT_OK)
		free(out->bytes);
	return status;
}

static void expect_text(
        struct fixture *f, const char *path, size_t n_step, size_t piece, size_t n_copies)
{
	struct outcome out;
	assert_int_equal(read_file(f->ctx, path, n_step, piece, &out), HT_OK);
	assert_int_equal(out.n, n_copies * N_TEXT);
	for (size_t i = 0; i < n_copies; i++)
		assert_memory_equal(out.bytes + i * N_TEXT, f->text, N_TEXT);
	assert_int_equal(out.damage.kind, HT_DAMAGE_NONE);
	assert_int_equal(out.pos, out.n);
	free(out.bytes);
}

static const char *const names[] = { "a.json", "a.json.gz", "a.json.zst" };

static void reads_what_was_written(void **state)
{
	static const size_t steps[] = { 1, 77, 4096, 65536, 4 * N_TEXT };
	struct fixture *f = *state;
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		for (size_t j = 0; j < HT_COUNT(steps); j++) {
			const char *path = at(f, 0, names[i]);
			assert_int_equal(
			        write_file(f->ctx, path, f->text, N_TEXT, steps[j]), HT_OK);
			expect_text(f, path, steps[j], 512 << 10, 1);
			expect_text(f, path, 4 * N_TEXT, steps[j], 1);
		}
	}
	assert_int_equal(n_files(f->dir), HT_COUNT(names));
}

static bool write_bytes(void *user, const void *bytes, size_t n)
{
	put(user, bytes, n, "ab");
	return true;
}

static bool write_nothing(void *user, const void *bytes, size_t n)
{
	(void)user;
	(void)bytes;
	(void)n;
	return false;
}

static void memory_is_compressed_too(void **state)
{
	static const char *const codings[] = { "gzip", "zstd" };
	struct fixture *f = *state;
	for (size_t i = 0; i < HT_COUNT(codings); i++) {
		const char *path = at(f, 0, codings[i]);
		struct ht_sink sink = { write_bytes, (void *)(uintptr_t)path };
		assert_int_equal(ht_compress(f->ctx, codings[i], f->text, N_TEXT, &sink), HT_OK);
		struct stat st;
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size < N_TEXT);
		expect_text(f, path, 4096, 4096, 1);
		sink = (struct ht_sink){ write_nothing, NULL };
		assert_int_equal(ht_compress(f->ctx, codings[i], f->text, N_TEXT, &sink), HT_IO);
	}
	struct ht_sink sink = { write_nothing, NULL };
	assert_int_equal(ht_compress(f->ctx, "br", f->text, N_TEXT, &sink), HT_USAGE);
}

static void empty_files_are_empty(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		struct outcome out;
		const char *path = at(f, 0, names[i]);
		assert_int_equal(write_file(f->ctx, path, "", 0, 1), HT_OK);
		assert_int_equal(read_file(f->ctx, path, 10, 10, &out), HT_OK);
		assert_int_equal(out.n, 0);
		assert_int_equal(out.damage.kind, HT_DAMAGE_NONE);
		free(out.bytes);
	}
}

static void content_decides_not_the_name(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	assert_int_equal(write_file(f->ctx, at(f, 0, "a.gz"), f->text, N_TEXT, N_TEXT), HT_OK);
	size_t n = get(f->path[0], &bytes);
	put(at(f, 1, "plain.json"), bytes, n, "wb");
	put(at(f, 2, "plain.gz"), f->text, N_TEXT, "wb");
	free(bytes);
	expect_text(f, f->path[1], N_TEXT, 1000, 1);
	expect_text(f, f->path[2], N_TEXT, 1000, 1);
	struct ht_source *source;
	assert_int_equal(ht_source_open(f->ctx, f->path[1], &source), HT_OK);
	const struct ht_source_info *info = ht_source_info(source);
	struct stat st;
	assert_int_equal(stat(f->path[1], &st), 0);
	assert_int_equal(info->compression, HT_GZIP);
	assert_true(info->is_regular);
	assert_int_equal(info->file_bytes, n);
	assert_int_equal(info->mtime_ns, ht_stat_mtime_ns(&st));
	assert_string_equal(info->path, f->path[1]);
	ht_source_close(source);
}

/* Many members, so that their borders meet the borders of input pieces and output buffers. */
static void members_and_frames_follow_each_other(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 8, 9, 17, 18, 19, 64, 1000, 100000 };
	struct fixture *f = *state;
	for (size_t i = 1; i < HT_COUNT(names); i++) {
		const char *path = at(f, 0, names[i]), *part = at(f, 1, i == 1 ? "p.gz" : "p.zst");
		put(path, "", 0, "wb");
		for (size_t k = 0; k < N_TEXT; k += 3000) {
			uint8_t *bytes;
			assert_int_equal(write_file(f->ctx, part, f->text + k, 3000, 3000), HT_OK);
			size_t n = get(part, &bytes);
			put(path, bytes, n, "ab");
			free(bytes);
		}
		for (size_t k = 0; k < HT_COUNT(pieces); k++) {
			expect_text(f, path, N_TEXT, pieces[k], 1);
			expect_text(f, path, pieces[k] + 2, pieces[k], 1);
		}
		if (i == 1) {
			static const uint8_t padding[5000];
			put(path, padding, sizeof padding, "ab");
			expect_text(f, path, 4 * N_TEXT, 999, 1);
		}
		/* Anything else after the end is damage, behind which all is delivered. */
		put(path, "junk junk junk", 14, "ab");
		struct outcome out;
		assert_int_equal(read_file(f->ctx, path, 4 * N_TEXT, 512 << 10, &out), HT_OK);
		assert_int_equal(out.n, N_TEXT);
		assert_int_equal(out.damage.kind, HT_DAMAGE_CORRUPT);
		free(out.bytes);
	}
}

static void cut_files_give_what_they_have(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 1; i < HT_COUNT(names); i++) {
		uint8_t *bytes;
		const char *path = at(f, 0, names[i]);
		assert_int_equal(write_file(f->ctx, path, f->text, N_TEXT, N_TEXT), HT_OK);
		size_t n = get(path, &bytes), n_last = 0;
		for (size_t k = 0; k < 60; k++) {
			struct outcome out;
			size_t n_cut = k < 30 ? k : k < 50 ? n * (k - 29) / 21 : n - (60 - k);
			put(path, bytes, n_cut, "wb");
			enum ht_status status = read_file(f->ctx, path, 5000, 700, &out);
			if (status != HT_OK) {
				assert_int_equal(status, HT_FORMAT);
				assert_string_equal(ht_error(f->ctx)->file, path);
				assert_non_null(ht_error(f->ctx)->hint);
				ht_error_clear(f->ctx);
				assert_int_equal(n_last, 0);
				continue;
			}
			/* Fewer bytes than the magic number are plain data. */
			if (n_cut >= 4) {
				assert_int_equal(out.damage.kind, HT_DAMAGE_TRUNCATED);
				assert_int_equal(out.damage.offset, n_cut);
				assert_true(out.n >= n_last && out.n <= N_TEXT);
				assert_memory_equal(out.bytes, f->text, out.n);
				n_last = out.n;
			}
			free(out.bytes);
		}
		assert_int_equal(n_last, N_TEXT);
		free(bytes);
	}
}

static void flipped_bits_are_noticed(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 1; i < HT_COUNT(names); i++) {
		uint8_t *bytes;
		const char *path = at(f, 0, names[i]);
		assert_int_equal(write_file(f->ctx, path, f->text, N_TEXT, N_TEXT), HT_OK);
		size_t n = get(path, &bytes), n_harmless = 0;
		for (size_t k = 0; k < 200; k++) {
			struct outcome out;
			/* Past the gzip header, whose time stamp nothing protects; up to the last
			 * byte, so that checksum and length are hit too. */
			size_t where = k < 20 ? n - 1 - k : 10 + (n - 10) * (k - 20) / 180;
			bytes[where] ^= (uint8_t)(1 << k % 8);
			put(path, bytes, n, "wb");
			bytes[where] ^= (uint8_t)(1 << k % 8);
			enum ht_status status = read_file(f->ctx, path, N_TEXT, 4096, &out);
			ht_error_clear(f->ctx);
			if (status == HT_OK) {
				/* A bit may mean nothing: padding, a code that no byte uses. */
				if (out.damage.kind == HT_DAMAGE_NONE) {
					n_harmless++;
					assert_int_equal(out.n, N_TEXT);
					assert_memory_equal(out.bytes, f->text, N_TEXT);
				} else {
					assert_non_null(out.damage.text);
				}
				free(out.bytes);
			} else {
				assert_true(status == HT_FORMAT || status == HT_LIMIT);
			}
		}
		assert_true(n_harmless < 5);
		free(bytes);
	}
}

static void bombs_are_refused(void **state)
{
	struct fixture *f = *state;
	char *zeros = calloc(1, N_TEXT);
	for (size_t i = 1; i < HT_COUNT(names); i++) {
		const char *path = at(f, 0, names[i]);
		assert_int_equal(write_file(f->ctx, path, zeros, N_TEXT, N_TEXT), HT_OK);
		struct ht_source_limits limits[] = { { .max_ratio = 20, .ratio_from_bytes = 50000 },
			{ .max_bytes = 100000 }, { .max_ratio = 20, .ratio_from_bytes = N_TEXT } };
		for (size_t k = 0; k < HT_COUNT(limits); k++) {
			struct ht_source *source;
			size_t n = 1, n_all = 0;
			enum ht_status status = HT_OK;
			assert_int_equal(ht_source_open(f->ctx, path, &source), HT_OK);
			ht_source_set_limits(source, &limits[k]);
			for (; n && status == HT_OK; n_all += n)
				status = ht_source_read(f->ctx, source, zeros, 10000, &n);
			assert_int_equal(status, k == 2 ? HT_OK : HT_LIMIT);
			assert_true(k == 2 || n_all < 130000);
			ht_source_close(source);
			ht_error_clear(f->ctx);
		}
	}
	free(zeros);
}

static void large_zstd_windows_are_refused(void **state)
{
	/* A frame header that asks for a window of 2^31 bytes. */
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00 };
	struct fixture *f = *state;
	struct outcome out;
	put(at(f, 0, "w.zst"), frame, sizeof frame, "wb");
	assert_int_equal(read_file(f->ctx, f->path[0], 100, 100, &out), HT_LIMIT);
}

static void standard_input_works(void **state)
{
	struct fixture *f = *state;
	int saved = dup(STDIN_FILENO);
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		const char *path = at(f, 0, names[i]);
		assert_int_equal(write_file(f->ctx, path, f->text, N_TEXT, N_TEXT), HT_OK);
		int fd = open(path, O_RDONLY);
		dup2(fd, STDIN_FILENO);
		close(fd);
		expect_text(f, "-", 10000, 512 << 10, 1);
		/* Through a pipe, where neither size nor seeking exists. */
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		uint8_t *bytes;
		size_t n = get(path, &bytes), n_part = n < 60000 ? n : 60000;
		assert_int_equal(write(ends[1], bytes, n_part), n_part);
		free(bytes);
		close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		struct ht_source *source;
		assert_int_equal(ht_source_open(f->ctx, "/dev/fd/0", &source), HT_OK);
		assert_false(ht_source_info(source)->is_regular);
		char start[1000];
		size_t n_read;
		assert_int_equal(
		        ht_source_read(f->ctx, source, start, sizeof start, &n_read), HT_OK);
		assert_int_equal(n_read, sizeof start);
		assert_memory_equal(start, f->text, sizeof start);
		ht_source_close(source);
	}
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static void expect_open_error(struct fixture *f, const char *path, const char *part)
{
	struct ht_source *source;
	assert_int_equal(ht_source_open(f->ctx, path, &source), HT_IO);
	assert_string_equal(ht_error(f->ctx)->file, path);
	assert_non_null(strstr(ht_error(f->ctx)->message, part));
	assert_non_null(ht_error(f->ctx)->hint);
	ht_error_clear(f->ctx);
}

static void unreadable_things_are_explained(void **state)
{
	struct fixture *f = *state;
	expect_open_error(f, at(f, 0, "missing"), "No such file");
	expect_open_error(f, f->dir, "directory");
	expect_open_error(f, "/dev/zero", "not a regular file");
	assert_int_equal(mkfifo(at(f, 0, "fifo"), 0600), 0);
	expect_open_error(f, f->path[0], "not a regular file");
	put(at(f, 0, "secret"), "x", 1, "wb");
	assert_int_equal(chmod(f->path[0], 0), 0);
	if (access(f->path[0], R_OK))
		expect_open_error(f, f->path[0], "Permission denied");
}

static void writing_is_all_or_nothing(void **state)
{
	struct fixture *f = *state;
	struct ht_writer *writer;
	put(at(f, 0, "a.json"), "old", 3, "wb");
	assert_int_equal(symlink("a.json", at(f, 1, "link.json")), 0);
	assert_int_equal(ht_writer_open(f->ctx, f->path[0], &writer), HT_OK);
	assert_int_equal(ht_writer_write(writer, f->text, N_TEXT), HT_OK);
	assert_true(n_files(f->dir) <= 3);
	ht_writer_abort(writer);
	assert_int_equal(n_files(f->dir), 2);
	uint8_t *bytes;
	assert_int_equal(get(f->path[0], &bytes), 3);
	free(bytes);
	assert_int_equal(write_file(f->ctx, f->path[1], f->text, N_TEXT, 1000), HT_OK);
	expect_text(f, f->path[0], N_TEXT, 1000, 1);
	struct stat st;
	assert_int_equal(lstat(f->path[1], &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(ht_writer_open(f->ctx, f->dir, &writer), HT_IO);
	ht_error_clear(f->ctx);
	assert_int_equal(ht_writer_open(f->ctx, at(f, 2, "none/b.json"), &writer), HT_IO);
	assert_string_equal(ht_error(f->ctx)->file, f->path[2]);
	ht_error_clear(f->ctx);
	assert_int_equal(write_file(f->ctx, "/dev/null", f->text, N_TEXT, 1000), HT_OK);
	assert_int_equal(write_file(f->ctx, "/dev/full", f->text, N_TEXT, 1000), HT_IO);
	assert_non_null(strstr(ht_error(f->ctx)->message, "No space"));
	ht_error_clear(f->ctx);
}

static enum ht_status round_trip(ht_ctx *ctx, const char *path, const char *text, bool *ret_is_same)
{
	struct outcome out;
	HT_TRY(write_file(ctx, path, text, N_TEXT, 50000));
	HT_TRY(read_file(ctx, path, 100000, 4096, &out));
	*ret_is_same = out.n == N_TEXT && !memcmp(out.bytes, text, N_TEXT);
	free(out.bytes);
	return HT_OK;
}

/* Fail the first, second, ... operation until none is left to fail. */
static void every_failure_is_clean(void **state)
{
	struct fixture *f = *state;
	for (int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < HT_COUNT(names); i++) {
			const char *path = at(f, 0, names[i]);
			enum ht_status status = HT_IO;
			int n = 0;
			bool is_same = false;
			while (status != HT_OK) {
				n++;
				if (kind)
					atomic_store(&f->ctx->mem->fail_in, n);
				else
					atomic_store(&f->ctx->fail_io_in, n);
				status = round_trip(f->ctx, path, f->text, &is_same);
				assert_true(status == HT_OK || status == (kind ? HT_NOMEM : HT_IO));
				assert_int_equal(status, ht_error(f->ctx)->status);
				ht_error_clear(f->ctx);
				/* Either nothing or a whole file under its own name. */
				assert_true(n_files(f->dir) == (access(path, F_OK) ? 0 : 1));
				unlink(path);
				uint64_t now, peak;
				ht_ctx_memory(f->ctx, &now, &peak);
				assert_int_equal(now, 0);
			}
			assert_true(is_same);
			assert_true(n > 4);
			atomic_store(&f->ctx->mem->fail_in, 0);
			atomic_store(&f->ctx->fail_io_in, 0);
		}
	}
}

static void whole_files_are_read_at_once(void **state)
{
	struct fixture *f = *state;
	struct ht_vec text;
	assert_int_equal(write_file(f->ctx, at(f, 0, "a.gz"), f->text, N_TEXT, N_TEXT), HT_OK);
	assert_int_equal(ht_read_all(f->ctx, f->path[0], N_TEXT, &text), HT_OK);
	assert_int_equal(text.n, N_TEXT);
	assert_memory_equal(text.data, f->text, N_TEXT);
	assert_int_equal(((char *)text.data)[N_TEXT], 0);
	ht_vec_free(f->ctx->mem, &text, 1);
	assert_int_equal(ht_read_all(f->ctx, f->path[0], N_TEXT - 1, &text), HT_LIMIT);
}

/* What was looked at comes again, before what follows, in buffers of any size. */
static void peeked_bytes_come_again(void **state)
{
	struct fixture *f = *state;
	static const size_t peeks[] = { 1, 4095, 4096, 70000, N_TEXT, N_TEXT + 1 };
	static const size_t buffers[] = { 1000, 65536, N_TEXT + 1 };
	char *copy = malloc(N_TEXT + 1);
	for (size_t i = 0; i < HT_COUNT(names) * HT_COUNT(peeks) * HT_COUNT(buffers); i++) {
		size_t n_peek = peeks[i / HT_COUNT(names) % HT_COUNT(peeks)], n, total = 0;
		size_t cap = buffers[i / HT_COUNT(names) / HT_COUNT(peeks)];
		const char *path = at(f, 0, names[i % HT_COUNT(names)]), *seen;
		struct ht_source *source;
		assert_int_equal(write_file(f->ctx, path, f->text, N_TEXT, N_TEXT), HT_OK);
		assert_int_equal(ht_source_open(f->ctx, path, &source), HT_OK);
		assert_int_equal(ht_source_peek(f->ctx, source, n_peek, &seen, &n), HT_OK);
		assert_int_equal(n, n_peek < N_TEXT ? n_peek : N_TEXT);
		assert_memory_equal(seen, f->text, n);
		assert_int_equal(ht_source_pos(source), 0);
		do {
			size_t left = N_TEXT + 1 - total;
			assert_int_equal(ht_source_read(f->ctx, source, copy + total,
			                         cap < left ? cap : left, &n),
			        HT_OK);
			total += n;
		} while (n);
		assert_int_equal(total, N_TEXT);
		assert_int_equal(ht_source_pos(source), N_TEXT);
		assert_memory_equal(copy, f->text, N_TEXT);
		ht_source_close(source);
	}
	free(copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_what_was_written),
		TEST(memory_is_compressed_too),
		TEST(empty_files_are_empty),
		TEST(content_decides_not_the_name),
		TEST(members_and_frames_follow_each_other),
		TEST(cut_files_give_what_they_have),
		TEST(flipped_bits_are_noticed),
		TEST(bombs_are_refused),
		TEST(large_zstd_windows_are_refused),
		TEST(standard_input_works),
		TEST(unreadable_things_are_explained),
		TEST(writing_is_all_or_nothing),
		TEST(every_failure_is_clean),
		TEST(whole_files_are_read_at_once),
		TEST(peeked_bytes_come_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
