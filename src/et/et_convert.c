/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_convert.c - execution traces written again, one file per rank; see holotrace.h.
 */
#include "et/et_convert.h"
#include "store/trace_refs.h"

#include "base/io.h"
#include "base/options.h"
#include "base/rank_path.h"
#include "et/et_files.h"
#include "store/set.h"

#include <string.h>
#include <sys/stat.h>

enum form { TO_CHAKRA, TO_JSON, TO_LINKED, TO_DOT, TO_TIMELINE, N_FORMS };
static const char *const form_names[N_FORMS] = { "chakra", "json", "linked", "dot", "timeline" };

struct conversion {
	ht_ctx *ctx;
	struct ht_arena arena; /* of the file in hand */
	const struct ht_et_convert_options *options;
	struct ht_set *set; /* NULL: no Kineto traces */
	enum form form;
};

static bool ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), k = strlen(ending);
	static const char *const packed[] = { ".gz", ".zst" };
	for (size_t i = 0; i < HT_COUNT(packed); i++)
		if (n > strlen(packed[i]) && !strcmp(path + n - strlen(packed[i]), packed[i]))
			n -= strlen(packed[i]);
	return n >= k && !memcmp(path + n - k, ending, k);
}

/* As asked for, else by the file's ending. */
static enum ht_status choose_form(struct conversion *c, const char *path)
{
	const char *to = c->options->to;
	if (!to) {
		c->form = ends_in(path, ".et")    ? TO_CHAKRA
		          : ends_in(path, ".dot") ? TO_DOT
		          : c->set                ? TO_LINKED
		                                  : TO_JSON;
		return HT_OK;
	}
	for (int form = 0; form < N_FORMS; form++)
		if (!strcmp(to, form_names[form])) {
			c->form = (enum form)form;
			return HT_OK;
		}
	return ht_fail(c->ctx, HT_USAGE, NULL, -1, "chakra, json, linked, dot or timeline",
	        "there is no form '%s' of execution traces", to);
}

static enum ht_status check_source(struct conversion *c, const struct ht_et *et, const char *path)
{
	struct stat from, to;
	if (!strcmp(path, "-"))
		return HT_OK;
	bool reads = c->set && ht_set_reads(c->set, path);
	if (reads || (ht_source_stat(et->path, &from) && stat(path, &to) == 0 &&
	                     from.st_dev == to.st_dev && from.st_ino == to.st_ino))
		return ht_fail(c->ctx, HT_USAGE, path, -1, "write to another file",
		        "cannot write over a file that is being read");
	for (int code = 0; code < HT_ET_N_STATS && !c->options->partial; code++)
		if (et->stats[code].count && ht_et_stat_info((enum ht_et_stat_code)code)->is_loss)
			return ht_fail(c->ctx, HT_FORMAT, et->path, et->stats[code].first_offset,
			        "--partial writes what could be read", "%s (%llu)",
			        ht_et_stat_info((enum ht_et_stat_code)code)->defect,
			        (unsigned long long)et->stats[code].count);
	return HT_OK;
}

/* The Kineto trace of a rank; NULL when there is none. The caller releases it. */
static enum ht_status take_trace(struct conversion *c, struct ht_et_file *file, size_t n_files,
        const struct ht_trace **ret_trace)
{
	*ret_trace = NULL;
	if (!c->set)
		return HT_OK;
	const struct ht_roster *roster = &c->set->roster;
	size_t i = file->rank == HT_ET_NO_RANK ? SIZE_MAX : ht_roster_find(roster, file->rank);
	if (i == SIZE_MAX && roster->n == 1 && n_files == 1)
		i = 0;
	if (i == SIZE_MAX)
		return ht_fail(c->ctx, HT_MISSING, file->path, -1, "name the rank: RANK=FILE",
		        "no Kineto trace is of its rank");
	if (file->rank == HT_ET_NO_RANK)
		file->rank = roster->ranks[i].number;
	return ht_set_acquire(c->ctx, c->set, i, ret_trace);
}

static enum ht_status write_form(
        struct conversion *c, struct ht_writer *writer, const struct ht_et_plan *plan)
{
	struct ht_et_out out = { c->ctx, &c->arena, writer };
	switch (c->form) {
	case TO_CHAKRA: return ht_et_write_chakra(&out, plan);
	case TO_JSON: return ht_et_write_json(&out, plan->et);
	case TO_LINKED: return ht_et_write_linked(&out, plan);
	case TO_DOT: return ht_et_write_dot(&out, plan);
	case TO_TIMELINE:
	case N_FORMS: break;
	}
	return ht_et_write_timeline(&out, plan);
}

static enum ht_status make_plan(struct conversion *c, const struct ht_et *et,
        const struct ht_trace *trace, int64_t rank, struct ht_et_plan *ret_plan)
{
	struct ht_et_link_options options = { .as_chakra = c->options->as_chakra,
		.gap_ns = HT_ET_GAP_NS };
	struct ht_et_link *link = NULL;
	if (c->form == TO_JSON) {
		*ret_plan = (struct ht_et_plan){ .et = et };
		return HT_OK;
	}
	if (et->format == HT_ET_CHAKRA && (c->form == TO_CHAKRA || c->form == TO_LINKED))
		return ht_fail(c->ctx, HT_USAGE, et->path, -1,
		        "json, dot and timeline can be written of it",
		        "the file has Chakra's form already");
	if (c->form == TO_LINKED && !trace)
		return ht_fail(c->ctx, HT_USAGE, et->path, -1, "give it with --kineto FILE",
		        "a linked trace needs the Kineto trace of the same window");
	if (trace) {
		link = ht_arena_alloc(&c->arena, sizeof *link);
		if (!link)
			return ht_fail_nomem(c->ctx);
		HT_TRY(ht_et_link_make(c->ctx, et, trace, &options, &c->arena, link));
		HT_TRY(ht_et_link_demand(c->ctx, et, link));
	}
	return ht_et_plan_make(
	        c->ctx, et, trace, link, c->options->as_chakra, rank, &c->arena, ret_plan);
}

static enum ht_status write_file(struct conversion *c, const struct ht_et *et,
        const struct ht_trace *trace, int64_t rank, const char *path)
{
	struct ht_et_plan plan;
	struct ht_writer *writer;
	HT_TRY(check_source(c, et, path));
	HT_TRY(make_plan(c, et, trace, rank, &plan));
	HT_TRY(ht_writer_open(c->ctx, path, &writer));
	enum ht_status status = write_form(c, writer, &plan);
	if (status != HT_OK) {
		ht_writer_abort(writer);
		return status;
	}
	return ht_writer_commit(writer);
}

static enum ht_status convert_one(
        struct conversion *c, const struct ht_et_files *files, size_t i, const char *path)
{
	struct ht_et_file *file = &files->list[i];
	const struct ht_trace *trace = NULL;
	struct ht_et *et = NULL;
	ht_arena_init(&c->arena, c->ctx->mem);
	const char *one = ht_rank_path(
	        &c->arena, path, file->rank == HT_ET_NO_RANK ? (int64_t)i : file->rank);
	enum ht_status status = one ? HT_OK : ht_fail_nomem(c->ctx);
	if (status == HT_OK)
		status = take_trace(c, file, files->n, &trace);
	if (status == HT_OK)
		status = ht_et_read(c->ctx, file->path, false, &et);
	if (status == HT_OK)
		status = write_file(c, et, trace, file->rank, one);
	ht_et_free(et);
	ht_trace_release(trace);
	ht_arena_done(&c->arena);
	return status;
}

static enum ht_status convert_all(
        struct conversion *c, const char *list, struct ht_arena *arena, const char *path)
{
	struct ht_et_files files;
	HT_TRY(choose_form(c, path));
	HT_TRY(ht_et_files_find(c->ctx, list, arena, &files));
	if (files.n > 1 && !strstr(path, HT_RANK_PLACE))
		return ht_fail(c->ctx, HT_USAGE, path, -1, "put {rank} into the name",
		        "%zu execution traces cannot go into one file", files.n);
	for (size_t i = 0; i < files.n; i++)
		HT_TRY(convert_one(c, &files, i, path));
	return HT_OK;
}

enum ht_status ht_et_convert(ht_ctx *ctx, const char *et, ht_set *kineto, const char *path,
        const struct ht_et_convert_options *options)
{
	struct ht_et_convert_options taken = { 0 };
	struct ht_arena arena;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_et_convert_options, partial, options, &taken));
	struct conversion c = { .ctx = ctx, .options = &taken, .set = kineto };
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = convert_all(&c, et, &arena, path);
	ht_arena_done(&arena);
	return status;
}
