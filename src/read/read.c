/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - see read.h.
 */
#include "read/read.h"

#include "base/mem.h"
#include "read/ascend_forms.h"
#include "read/discover.h"
#include "read/own_options.h"
#include "read/part_path.h"
#include "read/rank_files.h"
#include "read/reader.h"
#include "store/build.h"
#include "store/cache.h"
#include "store/check.h"
#include "store/seal.h"
#include "store/trace.h"
#include "store/trace_refs.h"

#include <string.h>

static enum ht_status check_strict(
        ht_ctx *ctx, const char *path, const struct ht_stat *stats, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ht_stat_info *info = ht_stat_info((enum ht_stat_code)stats[i].code);
		if (info->severity >= HT_REPAIR)
			return ht_fail(ctx, HT_FORMAT, path, stats[i].first_offset,
			        "leave --strict out to use what could be read", "%s (%llu times)",
			        info->sentence, (unsigned long long)stats[i].count);
	}
	return HT_OK;
}

/* The reader that knows the file; files that were named and nobody knows are tried as traces, which says best
 * what is wrong with them. */
static enum ht_status choose_reader(
        ht_ctx *ctx, const struct ht_reading *reading, const struct ht_reader **ret_reader)
{
	struct ht_head head = { .name = ht_file_name(reading->path) };
	HT_TRY(ht_source_peek(ctx, reading->source, HT_SNIFF_BYTES, &head.text, &head.n));
	head.is_all = head.n < HT_SNIFF_BYTES;
	*ret_reader = ht_reader_find(&head);
	if (!*ret_reader)
		*ret_reader = &ht_reader_kineto;
	return HT_OK;
}

static enum ht_status add_source(
        struct ht_builder *builder, const struct ht_reading *reading, const char *reader_name)
{
	const struct ht_reader *reader = reader_name ? ht_reader_named(reader_name) : NULL;
	const struct ht_source_info *info = ht_source_info(reading->source);
	if (!reader)
		HT_TRY(choose_reader(builder->ctx, reading, &reader));
	builder->path = reading->path;
	HT_TRY(reader->read(builder, reading));
	if (!builder->file_bytes)
		builder->compression = info->compression;
	builder->file_bytes +=
	        info->is_regular ? info->file_bytes : ht_source_file_pos(reading->source);
	builder->text_bytes += ht_source_pos(reading->source);
	return HT_OK;
}

static enum ht_status add_file(
        struct ht_builder *builder, const char *path, int64_t part, const struct ht_open_options *o)
{
	struct ht_reading reading = { .path = strcmp(path, "-") ? path : "standard input",
		.chunk_bytes = ht_open_own(o).chunk_bytes,
		.part = part };
	HT_TRY(ht_source_open(builder->ctx, path, &reading.source));
	enum ht_status status = add_source(builder, &reading, o->reader);
	ht_source_close(reading.source);
	return status;
}

/* A file of a rank that has others: what cannot be used of it is counted. */
static enum ht_status add_member(struct ht_builder *builder, const char *path,
        const struct ht_open_options *o, size_t *n_read)
{
	enum ht_status status = add_file(builder, path, HT_NO_I64, o);
	*n_read += status == HT_OK;
	if (status != HT_FORMAT)
		return status;
	ht_chunk_stat(&builder->all, HT_STAT_file_lost, -1, 1);
	return HT_OK;
}

/* What the views of a rank need and its files do not have, and what they have twice. */
static void count_missing(struct ht_builder *builder, const struct ht_rank_files *files)
{
	static const struct {
		const char *file;
		enum ht_stat_code code;
	} needs[] = { { "trace_view.json", HT_STAT_missing_trace },
		{ "kernel_details.csv", HT_STAT_missing_kernels },
		{ "operator_details.csv", HT_STAT_missing_operators },
		{ "memory_record.csv", HT_STAT_missing_memory },
		{ "operator_memory.csv", HT_STAT_missing_memory },
		{ "step_trace_time.csv", HT_STAT_missing_communication },
		{ "communication.json", HT_STAT_missing_communication } };
	if (files->has_text && files->has_db)
		ht_chunk_stat(&builder->all, HT_STAT_other_form, -1, 1);
	for (size_t i = 0; files->is_text && i < HT_COUNT(needs); i++) {
		bool found = false;
		for (size_t k = 0; k < files->n; k++)
			found |= !strncmp(ht_file_name(files->paths[k]), needs[i].file,
			        strlen(needs[i].file));
		if (!found)
			ht_chunk_stat(&builder->all, needs[i].code, -1, 1);
	}
}

/* What a rank is read from: a part of a file, a file, or several files. */
struct origin {
	const char *path;
	int64_t part;
	struct ht_rank_files files;
};

static enum ht_status find_origin(ht_ctx *ctx, const char *path, const struct ht_open_options *o,
        struct ht_arena *arena, struct origin *ret)
{
	ret->path = ht_part_path_split(ctx, path, arena, &ret->part);
	if (!ret->path)
		return ht_fail_nomem(ctx);
	return ht_rank_files_list(ctx, ret->path, o->prefer_db, arena, &ret->files);
}

static enum ht_status read_files(ht_ctx *ctx, const struct origin *origin,
        const struct ht_open_options *o, const struct ht_kernel_rules *rules, struct ht_trace *t)
{
	const struct ht_rank_files *files = &origin->files;
	struct ht_builder builder;
	size_t n_read = 0;
	/* small pieces of text, small pieces of everything: an event has more bytes than that */
	size_t chunk_bytes = ht_open_own(o).chunk_bytes;
	size_t range_rows = chunk_bytes / 16 + (chunk_bytes != 0);
	ctx->range_rows = range_rows < HT_RANGE_ROWS ? (uint32_t)range_rows : 0;
	ht_builder_init(&builder, ctx, origin->path);
	enum ht_status status =
	        files->n ? HT_OK : add_file(&builder, origin->path, origin->part, o);
	for (size_t i = 0; status == HT_OK && i < files->n; i++)
		status = add_member(&builder, files->paths[i], o, &n_read);
	if (status == HT_OK && files->n && !n_read)
		status = HT_FORMAT; /* the last failure says why */
	else if (status == HT_OK)
		ht_error_clear(ctx);
	if (status == HT_OK)
		count_missing(&builder, files);
	if (status == HT_OK)
		status = ht_ascend_forms_compare(&builder, files);
	if (status == HT_OK)
		status = ht_builder_seal(&builder, rules, t);
	ht_builder_done(&builder);
	return status;
}

static enum ht_status make_key(ht_ctx *ctx, const struct origin *origin,
        const struct ht_open_options *o, const struct ht_kernel_rules *rules,
        struct ht_cache_key *ret_key)
{
	const struct ht_rank_files *files = &origin->files;
	const char *path = origin->path;
	uint64_t meaning = rules->hash;
	if (o->reader)
		meaning = ht_hash_mix(meaning, ht_hash(o->reader, strlen(o->reader)));
	if (origin->part != HT_NO_I64)
		meaning = ht_hash_mix(meaning, (uint64_t)origin->part);
	/* both forms are compared, one is read */
	if (files->n_others)
		meaning = ht_hash_mix(meaning, files->is_text);
	if (files->n)
		return ht_cache_key_join(ctx, path, files->paths, files->n + files->n_others,
		        meaning, o->verify_cache, ret_key);
	return ht_cache_key_make(ctx, path, meaning, o->verify_cache, ret_key);
}

static bool is_cached(const char *path, const struct ht_open_options *o)
{
	return !o->no_cache && o->cache_dir && strcmp(path, "-");
}

static enum ht_status read_or_map(ht_ctx *ctx, const char *path, const struct ht_open_options *o,
        const struct ht_kernel_rules *rules, struct ht_arena *arena, struct ht_trace *t,
        struct ht_cached *ret_cached)
{
	struct ht_cache_key key;
	struct origin origin;
	bool cached = is_cached(path, o), hit = false, stored;
	HT_TRY(find_origin(ctx, path, o, arena, &origin));
	if (cached) {
		HT_TRY(make_key(ctx, &origin, o, rules, &key));
		HT_TRY(ht_cache_load(
		        ctx, o->cache_dir, &key, &ht_trace_sections, t, &ht_more(t)->map, &hit));
	}
	if (hit) {
		t->meta = t->meta_;
		*ret_cached = ht_cache_key_place(&key);
		return HT_OK;
	}
	HT_TRY(read_files(ctx, &origin, o, rules, t));
	if (!cached)
		return HT_OK;
	HT_TRY(ht_cache_store(
	        ctx, o->cache_dir, &key, &ht_trace_sections, t, ht_cache_max_bytes(o), &stored));
	if (stored)
		*ret_cached = ht_cache_key_place(&key);
	return HT_OK;
}

enum ht_status ht_read_trace(ht_ctx *ctx, const char *path, const struct ht_open_options *options,
        const struct ht_kernel_rules *rules, struct ht_trace **ret_trace,
        struct ht_cached *ret_cached)
{
	struct ht_cached cached = { 0 };
	struct ht_whole_trace *whole = ht_mem_alloc(ctx->mem, sizeof *whole);
	if (!whole)
		return ht_fail_nomem(ctx);
	struct ht_trace *t = ht_whole_trace_init(whole);
	whole->more.mem = ht_mem_retain(ctx->mem);
	size_t n = strlen(path) + 1;
	t->path = ht_mem_alloc(ctx->mem, n);
	enum ht_status status = t->path ? HT_OK : ht_fail_nomem(ctx);
	if (t->path)
		memcpy(t->path, path, n);
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	if (status == HT_OK)
		status = read_or_map(ctx, path, options, rules, &arena, t, &cached);
	ht_arena_done(&arena);
	if (status == HT_OK && options->strict)
		status = check_strict(ctx, path, t->more->stats, t->more->n_stats);
	if (status == HT_NOMEM)
		ht_error_in_file(ctx, path);
	if (status != HT_OK) {
		ht_trace_release(t);
		return status;
	}
	*ret_trace = t;
	if (ret_cached)
		*ret_cached = cached;
	return HT_OK;
}

enum ht_status ht_read_known(ht_ctx *ctx, const char *path, const struct ht_open_options *options,
        const struct ht_kernel_rules *rules, struct ht_arena *arena, struct ht_rank *ret_rank,
        struct ht_cached *ret_cached, bool *ret_known)
{
	struct ht_cache_key key;
	struct origin origin;
	struct ht_section description;
	*ret_known = false;
	if (!is_cached(path, options))
		return HT_OK;
	HT_TRY(find_origin(ctx, path, options, arena, &origin));
	HT_TRY(make_key(ctx, &origin, options, rules, &key));
	HT_TRY(ht_cache_peek(
	        ctx, options->cache_dir, &key, &ht_trace_sections, arena, &description));
	*ret_known = ht_rank_unpack(description.data, description.n, path, arena, ret_rank);
	if (*ret_known)
		*ret_cached = ht_cache_key_place(&key);
	return *ret_known && options->strict
	               ? check_strict(ctx, path, ret_rank->stats, ret_rank->n_stats)
	               : HT_OK;
}
