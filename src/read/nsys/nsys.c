/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys.c - the reader of what Nsight Systems exports as SQLite: `nsys export --type sqlite`.
 *
 * Events become those that Kineto writes, so that every analysis knows them:
 *   CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET        GPU activity, linked to its call by correlation
 *   CUPTI_ACTIVITY_KIND_GRAPH_TRACE                     one activity per graph launch, where kernels in it were not recorded
 *   CUPTI_ACTIVITY_KIND_RUNTIME                         runtime and driver calls, by class and name
 *   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, _CUDA_EVENT    waits and records
 *   NVTX_EVENTS                                         operators of emit_nvtx, annotations, marks, calls of NCCL
 *   the rest: see docs/formats/nsys.md
 * Correlations are those of a process, so a process is a rank: an export of several is read once for each (parts of
 * reader.h). Tables are made by the exporter when there is something in them, and their columns grow with its version: all
 * are asked for by name, and each is read once, in its order.
 *
 * Times are nanoseconds since the session began; its start on the wall clock is the base time of the trace.
 */
#include "read/nsys/nsys_file.h"
#include "read/reader.h"
#include "base/text_compare.h"

#include <string.h>

static bool has_text(const struct ht_head *head, const char *text)
{
	size_t n = strlen(text);
	for (const char *at = head->text, *end = head->text + head->n; (size_t)(end - at) >= n;
	        at++) {
		at = memchr(at, text[0], (size_t)(end - at) - n + 1);
		if (!at)
			return false;
		if (!memcmp(at, text, n))
			return true;
	}
	return false;
}

/* The exporter makes its dictionary first, so its name is mostly near the start of the file; else see look_inside of ascend_db.c. */
static bool sniff(const struct ht_head *head)
{
	return head->n >= 16 && !memcmp(head->text, "SQLite format 3", 16) &&
	       (has_text(head, "CREATE TABLE StringIds") ||
	               has_text(head, "CUPTI_ACTIVITY_KIND_") ||
	               has_text(head, "CREATE TABLE NVTX_EVENTS"));
}

/* What is no export: the report itself, and an export that was interrupted, whose first page is written last. */
static bool sniff_report(const struct ht_head *head)
{
	static const char zeros[16];
	bool is_report =
	        ht_text_ends(head->name, ".nsys-rep") || ht_text_ends(head->name, ".qdrep");
	return is_report || (ht_text_ends(head->name, ".sqlite") && head->n >= sizeof zeros &&
	                            !memcmp(head->text, zeros, sizeof zeros));
}

static enum ht_status read_report(struct ht_builder *builder, const struct ht_reading *reading)
{
	const char *path = reading->path;
	size_t n = strlen(path), n_ending = ht_text_ends(path, ".qdrep") ? 6 : 9;
	struct ht_arena arena;
	if (ht_text_ends(path, ".sqlite"))
		return ht_fail(builder->ctx, HT_FORMAT, path, -1,
		        "export it again: nsys export --type sqlite --force-overwrite true",
		        "the export was interrupted: its first page is empty");
	ht_arena_init(&arena, builder->mem);
	char *hint =
	        ht_arena_printf(&arena, "export it: nsys export --type sqlite -o %.*s.sqlite %s",
	                (int)(n > n_ending ? n - n_ending : n), path, path);
	enum ht_status status = ht_fail(builder->ctx, HT_FORMAT, path, -1, hint,
	        "a report of Nsight Systems has to be exported first");
	ht_arena_done(&arena);
	return status;
}

#if !defined(HT_HAVE_SQLITE)

static enum ht_status read_export(struct ht_builder *builder, const struct ht_reading *reading)
{
	return ht_fail(builder->ctx, HT_USAGE, reading->path, -1,
	        "build with libsqlite3 (Debian: libsqlite3-dev)",
	        "this build cannot read databases");
}

static enum ht_status list_parts(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, int64_t **ret_parts, size_t *ret_n)
{
	(void)ctx, (void)path, (void)arena, (void)ret_parts;
	*ret_n = 0;
	return HT_OK;
}

#else

static enum ht_status read_export(struct ht_builder *builder, const struct ht_reading *reading)
{
	const struct ht_source_info *info = ht_source_info(reading->source);
	if (!info->is_regular || !strcmp(info->path, "standard input"))
		return ht_fail(builder->ctx, HT_IO, reading->path, -1, "save it to a file first",
		        "a database cannot be read from standard input or a pipe");
	return ht_nsys_read_file(builder, reading->path, reading->part);
}

static enum ht_status list_parts(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, int64_t **ret_parts, size_t *ret_n)
{
	return ht_nsys_list_parts(ctx, path, arena, ret_parts, ret_n);
}

#endif

const struct ht_reader ht_reader_nsys = {
	.name = "nsys",
	.what = "an export of Nsight Systems",
	.endings = ".sqlite",
	.sniff = sniff,
	.read = read_export,
	.parts = list_parts,
};

const struct ht_reader ht_reader_nsys_report = {
	.name = "nsys-report",
	.what = "a report of Nsight Systems, to be exported: nsys export --type sqlite",
	.endings = ".nsys-rep|.qdrep",
	.by_name_only = true,
	.sniff = sniff_report,
	.read = read_report,
};
