/*
 * read.c - see read.h.
 */
#include "read/read.h"

#include "read/assemble.h"
#include "read/load.h"
#include "store/cache.h"
#include "store/check.h"
#include "store/seal.h"

#include <string.h>

#define DEFAULT_CACHE_BYTES ((uint64_t)8 << 30)

/* Refuse a file in which nothing was found, with the reason that helps most. */
static enum ht_status check_found(
        ht_ctx *ctx, const char *path, const struct ht_loaded *loaded, const struct ht_trace *t)
{
	const struct ht_chunk_stat *lost = &loaded->all.stats[HT_STAT_events_lost];
	const struct ht_chunk_stat *skipped = &loaded->all.stats[HT_STAT_bytes_skipped];
	if (!loaded->json_bytes)
		return ht_fail(ctx, HT_FORMAT, path, 0, "the export may have been interrupted",
		        "the file is empty");
	if (!loaded->state.any_events) {
		bool nodes = ht_str_find(t, "nodes") != HT_NO_STR;
		return ht_fail(ctx, HT_FORMAT, path, 0,
		        nodes ? "this is an execution trace; give the Kineto trace of the same run"
		              : "expected a JSON object with traceEvents, a list of events, or one event per line",
		        "no traceEvents in the file");
	}
	uint64_t n_lists = loaded->all.stats[HT_STAT_nested_array].count;
	if (!ht_n_events(t) && n_lists > HT_MAX_LIST_DEPTH)
		return ht_fail(ctx, HT_FORMAT, path, 0, "this does not look like a profiler trace",
		        "no event in %llu nested lists", (unsigned long long)n_lists);
	if (!ht_n_events(t) && skipped->count)
		return ht_fail(ctx, HT_FORMAT, path, skipped->first_offset,
		        "the file may be damaged or not a trace",
		        "no event could be understood; the first defect is");
	if (!ht_n_events(t) && lost->count)
		return ht_fail(ctx, HT_FORMAT, path, lost->first_offset,
		        "the file may be damaged or not a trace",
		        "no event could be understood; the first defect is");
	return HT_OK;
}

static enum ht_status check_strict(ht_ctx *ctx, const char *path, const struct ht_trace *t)
{
	for (size_t i = 0; i < t->n_stats; i++) {
		const struct ht_stat_info *info = ht_stat_info((enum ht_stat_code)t->stats[i].code);
		if (info->severity >= HT_REPAIR)
			return ht_fail(ctx, HT_FORMAT, path, t->stats[i].first_offset,
			        "leave --strict out to use what could be read", "%s (%llu times)",
			        info->sentence, (unsigned long long)t->stats[i].count);
	}
	return HT_OK;
}

static enum ht_status seal_loaded(ht_ctx *ctx, const char *path, struct ht_loaded *loaded,
        const struct ht_kernel_rules *rules, struct ht_trace *t)
{
	struct ht_tally tally = { 0 };
	struct ht_trace_meta *meta = HT_SECTION_ALLOC(ctx, t, meta_, struct ht_trace_meta, 1);
	if (!meta)
		return ht_fail_nomem(ctx);
	*meta = (struct ht_trace_meta){ .file_bytes = loaded->file_bytes,
		.json_bytes = loaded->json_bytes,
		.compression = loaded->compression };
	t->meta = meta;
	HT_TRY(ht_assemble(ctx, loaded, t));
	HT_TRY(check_found(ctx, path, loaded, t));
	meta->n_documents = loaded->state.document + (loaded->state.phase != HT_PHASE_START);
	for (int code = 0; code < HT_N_STATS; code++) {
		tally.count[code] = loaded->all.stats[code].count;
		tally.first_offset[code] = loaded->all.stats[code].first_offset;
	}
	ht_loaded_done(loaded);
	*loaded = (struct ht_loaded){ .load = { .mem = ctx->mem }, .all = { .mem = ctx->mem } };
	return ht_seal(ctx, t, rules, &tally);
}

static enum ht_status read_text(ht_ctx *ctx, const char *path, size_t chunk_bytes,
        const struct ht_kernel_rules *rules, struct ht_trace *t)
{
	struct ht_source *source;
	struct ht_loaded loaded;
	HT_TRY(ht_source_open(ctx, path, &source));
	if (!strcmp(path, "-"))
		path = "standard input";
	enum ht_status status = ht_load_file(ctx, source, path, chunk_bytes, &loaded);
	ht_source_close(source);
	HT_TRY(status);
	status = seal_loaded(ctx, path, &loaded, rules, t);
	ht_loaded_done(&loaded);
	return status;
}

static enum ht_status read_or_map(ht_ctx *ctx, const char *path, const struct ht_open_options *o,
        const struct ht_kernel_rules *rules, struct ht_trace *t)
{
	struct ht_cache_key key;
	bool cached = !o->no_cache && o->cache_dir && strcmp(path, "-"), hit = false, stored;
	if (cached) {
		HT_TRY(ht_cache_key_make(ctx, path, rules->hash, o->verify_cache, &key));
		HT_TRY(ht_cache_load(
		        ctx, o->cache_dir, &key, &ht_trace_sections, t, &t->map, &hit));
	}
	if (hit) {
		t->meta = t->meta_;
		return HT_OK;
	}
	HT_TRY(read_text(ctx, path, o->chunk_bytes, rules, t));
	if (cached)
		HT_TRY(ht_cache_store(ctx, o->cache_dir, &key, &ht_trace_sections, t,
		        o->cache_max_bytes ? o->cache_max_bytes : DEFAULT_CACHE_BYTES, &stored));
	return HT_OK;
}

enum ht_status ht_read_trace(ht_ctx *ctx, const char *path, const struct ht_open_options *options,
        const struct ht_kernel_rules *rules, struct ht_trace **ret_trace)
{
	struct ht_trace *t = ht_mem_zalloc(ctx->mem, sizeof *t);
	if (!t)
		return ht_fail_nomem(ctx);
	t->mem = ht_mem_retain(ctx->mem);
	size_t n = strlen(path) + 1;
	t->path = ht_mem_alloc(ctx->mem, n);
	enum ht_status status = t->path ? HT_OK : ht_fail_nomem(ctx);
	if (t->path)
		memcpy(t->path, path, n);
	if (status == HT_OK)
		status = read_or_map(ctx, path, options, rules, t);
	if (status == HT_OK && options->strict)
		status = check_strict(ctx, path, t);
	if (status == HT_NOMEM)
		ht_error_in_file(ctx, path);
	if (status != HT_OK) {
		ht_trace_release(t);
		return status;
	}
	*ret_trace = t;
	return HT_OK;
}
