/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - see convert.h.
 *
 * Merged traces stand on the clock of the first: its times and its baseTimeNanoseconds stay as they
 * are, the others move by the difference of the offsets that aligned the set.
 */
#include "write/convert.h"

#include "base/rank_path.h"
#include "store/import_stats.h"
#include "store/trace.h"
#include "store/trace_refs.h"

#include "model/device/counter_events.h"
#include "base/io.h"
#include "store/trace_meta.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct conversion {
	ht_ctx *ctx;
	const struct ht_set *set;
	const struct ht_convert_options *options;
	const struct ht_clocks *clocks; /* NULL: those of the files */
	const struct ht_write_extras *extras;
	struct ht_filter filter;
	struct ht_arena arena;
	size_t *chosen; /* positions in the set */
	size_t n;
	const struct ht_trace_format *format;
	struct ht_emit emit;       /* of the file being written */
	struct ht_trace_file file; /* the same */
};

/* ---- counters ---- */

static void counter_value(void *user, struct ht_args_out *args)
{
	const struct ht_counter_event *counter = user;
	int64_t whole = counter->value >= 0 && counter->value < 1e15 ? (int64_t)counter->value : -1;
	if ((double)whole == counter->value)
		ht_args_i64(args, counter->key, whole);
	else
		ht_args_f64(args, counter->key, counter->value);
}

static enum ht_status add_counters(struct conversion *c, struct ht_trace_out *out)
{
	const struct ht_counter_event *counters = NULL;
	size_t n = 0;
	struct ht_arena arena;
	ht_arena_init(&arena, c->ctx->mem);
	enum ht_status status = ht_counter_events(
	        c->ctx, c->set, out->i_trace, out->trace, true, &arena, &counters, &n);
	for (size_t i = 0; status == HT_OK && i < n; i++) {
		struct ht_counter_event counter = counters[i];
		ht_write_event(out, &(struct ht_new_event){ .ph = 'C',
		                            .name = counter.name,
		                            .pid = &counter.pid,
		                            .id = counter.id >= 0 ? &counter.id : NULL,
		                            .ts_ns = counter.ts_ns,
		                            .args = counter_value,
		                            .args_user = &counter });
	}
	ht_arena_done(&arena);
	return status;
}

/* What comes behind the rows of a trace. */
static enum ht_status add_events(struct ht_trace_out *out)
{
	struct conversion *c = out->add_user;
	if (c->options->with_counters)
		HT_TRY(add_counters(c, out));
	if (out->extras && out->extras->events)
		HT_TRY(out->extras->events(out->extras->user, out->i_trace, out));
	ht_name_processes(out);
	return out->emit->status;
}

/* ---- one file ---- */

static enum ht_status to_writer(void *user, const void *bytes, size_t n)
{
	return ht_writer_write(user, bytes, n);
}

/* What a trace that is drawn into says of itself, so that it is no rank beside the one it was made from. */
static const char *source_name(const struct conversion *c, const struct ht_trace *t)
{
	if ((!c->options->with_counters && !c->extras) || !strcmp(t->path, "-"))
		return NULL;
	for (size_t i = 0; i < t->more->n_headers; i++)
		if (!strcmp(ht_str(t, t->more->headers[i].key), HT_DERIVED_FROM_KEY))
			return NULL;
	const char *slash = strrchr(t->path, '/');
	return slash ? slash + 1 : t->path;
}

static struct ht_trace_out begin_trace(
        struct conversion *c, size_t i_trace, const struct ht_trace *trace)
{
	return (struct ht_trace_out){ .ctx = c->ctx,
		.emit = &c->emit,
		.format = c->format,
		.file = &c->file,
		.trace = trace,
		.i_trace = i_trace,
		.rank = c->set->roster.ranks[i_trace].number,
		.extras = c->extras,
		.add_events = add_events,
		.add_user = c };
}

/* One trace, more_header for the first of several; alone when there are no pids. */
static enum ht_status write_trace(
        struct conversion *c, struct ht_trace_out *out, const char *more_header)
{
	struct ht_row_filter rows;
	HT_TRY(ht_row_filter_init(c->ctx, &c->filter, out->trace, &rows));
	out->filter = &rows;
	enum ht_status status = ht_trace_out_init(out);
	if (status == HT_OK)
		status = out->pids ? c->format->merged(out, more_header) : c->format->alone(out);
	ht_trace_out_done(out);
	ht_row_filter_done(c->ctx, &rows);
	return status;
}

/* Files may begin with the time of their first event. */
static void note_times(struct conversion *c, const struct ht_trace_out *out)
{
	const struct ht_trace *t = out->trace;
	int64_t first_ns = INT64_MAX;
	for (size_t row = 0; row < t->n_ts_ns; row++)
		if (!(t->flags[row] & HT_EV_NO_TS) && t->ts_ns[row] < first_ns)
			first_ns = t->ts_ns[row];
	if (first_ns == INT64_MAX)
		return;
	first_ns = ht_time_moved(&out->move, first_ns);
	if (!c->file.has_zero || first_ns < c->file.zero_ns)
		c->file.zero_ns = first_ns;
	c->file.has_zero = true;
}

static enum ht_status write_alone(struct conversion *c, size_t i_trace)
{
	const struct ht_trace *trace = NULL;
	HT_TRY(ht_set_acquire(c->ctx, c->set, i_trace, &trace));
	struct ht_trace_out out = begin_trace(c, i_trace, trace);
	out.derived_from = source_name(c, trace);
	note_times(c, &out);
	enum ht_status status = write_trace(c, &out, NULL);
	ht_trace_release(trace);
	return status;
}

/* ---- all in one file ---- */

static enum ht_status merged_header(struct conversion *c, const char **ret_text)
{
	const char *text = "\"holotrace_merged_ranks\":[";
	for (size_t i = 0; i < c->n && text; i++)
		text = ht_arena_printf(&c->arena, "%s%s%lld", text, i ? "," : "",
		        (long long)c->set->roster.ranks[c->chosen[i]].number);
	*ret_text = text ? ht_arena_printf(&c->arena, "%s],\n", text) : NULL;
	return *ret_text ? HT_OK : ht_fail_nomem(c->ctx);
}

/* Ranks are brought to one clock, which begins where that of the first does. */
static struct ht_time_move merged_move(const struct conversion *c, size_t i_trace)
{
	const struct ht_rank *ranks = c->set->roster.ranks;
	size_t first = c->chosen[0];
	struct ht_time_move move = { .shift_ns = ranks[i_trace].offset_ns };
	int64_t first_ns = ranks[first].offset_ns;
	if (c->clocks) {
		move = c->clocks->moves[i_trace];
		first_ns = c->clocks->moves[first].shift_ns;
	}
	move.shift_ns = ht_sub_sat(move.shift_ns, first_ns);
	return move;
}

/* One rank of several. */
static enum ht_status write_one_merged(
        struct conversion *c, size_t i, const struct ht_pids *pids, const char *merged)
{
	size_t i_trace = c->chosen[i];
	const struct ht_trace *trace = NULL;
	HT_TRY(ht_set_acquire(c->ctx, c->set, i_trace, &trace));
	struct ht_trace_out out = begin_trace(c, i_trace, trace);
	out.move = merged_move(c, i_trace);
	out.pids = pids;
	enum ht_status status = write_trace(c, &out, i ? NULL : merged);
	ht_trace_release(trace);
	return status;
}

/* The header is the first trace's. */
static enum ht_status write_together(
        struct conversion *c, const struct ht_pids *pids, const struct ht_trace *first)
{
	const char *merged = NULL;
	HT_TRY(merged_header(c, &merged));
	for (size_t i = 0; i < c->n; i++)
		HT_TRY(write_one_merged(c, i, &pids[i], merged));
	struct ht_trace_out out = begin_trace(c, c->chosen[0], first);
	c->format->close(&out);
	return HT_OK;
}

static enum ht_status find_pids(struct conversion *c, size_t i, struct ht_pids *pids)
{
	const struct ht_trace *trace = NULL;
	HT_TRY(ht_set_acquire(c->ctx, c->set, c->chosen[i], &trace));
	enum ht_status status =
	        ht_pids_init(c->ctx, trace, c->set->roster.ranks[c->chosen[i]].number, i, pids);
	struct ht_trace_out out = begin_trace(c, c->chosen[i], trace);
	out.move = merged_move(c, c->chosen[i]);
	note_times(c, &out);
	ht_trace_release(trace);
	return status;
}

static enum ht_status write_merged(struct conversion *c, size_t i_unused)
{
	(void)i_unused;
	const struct ht_trace *first = NULL;
	struct ht_pids *pids = ht_arena_alloc(&c->arena, c->n * sizeof *pids);
	if (!pids)
		return ht_fail_nomem(c->ctx);
	HT_TRY(ht_set_acquire(c->ctx, c->set, c->chosen[0], &first));
	enum ht_status status = HT_OK;
	size_t n = 0;
	for (; n < c->n && status == HT_OK; n++)
		status = find_pids(c, n, &pids[n]);
	if (status == HT_OK) {
		ht_pids_place(pids, n);
		status = write_together(c, pids, first);
	}
	for (size_t i = 0; i < n; i++)
		ht_pids_done(c->ctx, &pids[i]);
	ht_trace_release(first);
	return status;
}

/* ---- files ---- */

typedef enum ht_status (*write_fn)(struct conversion *c, size_t i_trace);

static enum ht_status write_file(
        struct conversion *c, const char *path, write_fn write, size_t i_trace)
{
	struct ht_writer *writer;
	c->file = (struct ht_trace_file){ 0 };
	HT_TRY(ht_writer_open(c->ctx, path, &writer));
	enum ht_status status = ht_emit_init(&c->emit, c->ctx, to_writer, writer);
	if (status == HT_OK) {
		status = write(c, i_trace);
		enum ht_status drained = ht_emit_done(&c->emit);
		if (status == HT_OK)
			status = drained;
	}
	if (status != HT_OK) {
		ht_writer_abort(writer);
		return status;
	}
	return ht_writer_commit(writer);
}

static enum ht_status choose(struct conversion *c)
{
	struct ht_list ranks;
	HT_TRY(ht_list_parse(c->ctx, "the rank", c->options->ranks, &ranks));
	c->chosen = ht_arena_alloc(&c->arena, (c->set->roster.n + 1) * sizeof *c->chosen);
	for (size_t i = 0; c->chosen && i < c->set->roster.n; i++)
		if (ht_list_has(&ranks, c->set->roster.ranks[i].number))
			c->chosen[c->n++] = i;
	ht_list_done(c->ctx, &ranks);
	if (!c->chosen)
		return ht_fail_nomem(c->ctx);
	if (!c->n)
		return ht_fail(c->ctx, HT_MISSING, NULL, -1, "`holotrace info` lists the ranks",
		        "none of the traces has rank %s", c->options->ranks);
	return HT_OK;
}

/* A trace of which reading lost something would pass for a whole one once it is written. */
static enum ht_status check_whole(const struct conversion *c)
{
	for (size_t i = 0; i < c->n && !c->options->partial; i++) {
		const struct ht_rank *rank = &c->set->roster.ranks[c->chosen[i]];
		for (size_t k = 0; k < rank->n_stats; k++) {
			const struct ht_stat_info *info =
			        ht_stat_info((enum ht_stat_code)rank->stats[k].code);
			if (info->severity >= HT_DATA_LOSS)
				return ht_fail(c->ctx, HT_FORMAT, rank->path,
				        rank->stats[k].first_offset,
				        "--partial writes what could be read; `holotrace health` lists what is missing",
				        "the written trace would not be whole: %s", info->sentence);
		}
	}
	return HT_OK;
}

struct file_id {
	dev_t device;
	ino_t inode;
};

static int compare_ids(const void *left, const void *right)
{
	const struct file_id *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static bool identify(const char *path, struct file_id *ret_id)
{
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	*ret_id = (struct file_id){ st.st_dev, st.st_ino };
	return true;
}

/* Before anything is written: a trace must not be replaced by what was made of it. */
static enum ht_status refuse_sources(struct conversion *c, const char *path)
{
	const struct ht_roster *roster = &c->set->roster;
	struct file_id *ids = ht_arena_alloc(&c->arena, (roster->n + 1) * sizeof *ids), target;
	size_t n = 0;
	if (!ids)
		return ht_fail_nomem(c->ctx);
	for (size_t i = 0; i < roster->n; i++)
		n += identify(roster->ranks[i].path, &ids[n]);
	qsort(ids, n, sizeof *ids, compare_ids);
	for (size_t i = 0; i < c->n; i++) {
		const char *one = ht_rank_path(&c->arena, path, roster->ranks[c->chosen[i]].number);
		if (!one)
			return ht_fail_nomem(c->ctx);
		if (identify(one, &target) && bsearch(&target, ids, n, sizeof *ids, compare_ids))
			return ht_fail(c->ctx, HT_USAGE, one, -1, "write to another file",
			        "cannot write over a trace that is being read");
	}
	return HT_OK;
}

static enum ht_status convert(struct conversion *c, const char *path)
{
	HT_TRY(choose(c));
	HT_TRY(check_whole(c));
	HT_TRY(refuse_sources(c, path));
	if (c->options->merge || c->n == 1) {
		const char *one =
		        ht_rank_path(&c->arena, path, c->set->roster.ranks[c->chosen[0]].number);
		if (!one)
			return ht_fail_nomem(c->ctx);
		return write_file(
		        c, one, c->options->merge ? write_merged : write_alone, c->chosen[0]);
	}
	if (!strstr(path, HT_RANK_PLACE))
		return ht_fail(c->ctx, HT_USAGE, path, -1,
		        "put {rank} into the name, merge the ranks, or choose one",
		        "%zu ranks cannot go into one file", c->n);
	for (size_t i = 0; i < c->n; i++) {
		int64_t rank = c->set->roster.ranks[c->chosen[i]].number;
		const char *one = ht_rank_path(&c->arena, path, rank);
		if (!one)
			return ht_fail_nomem(c->ctx);
		enum ht_status status = write_file(c, one, write_alone, c->chosen[i]);
		if (status != HT_OK) {
			ht_error_prefix(c->ctx, "rank %lld", (long long)rank);
			return status;
		}
	}
	return HT_OK;
}

enum ht_status ht_convert_set(ht_ctx *ctx, const struct ht_set *set, const char *path,
        const struct ht_convert_options *options, const struct ht_clocks *clocks,
        const struct ht_write_extras *extras)
{
	static const struct ht_convert_options none;
	struct conversion c = { .ctx = ctx,
		.set = set,
		.options = options ? options : &none,
		.clocks = clocks,
		.format = ht_format_of(path),
		.extras = extras };
	HT_TRY(ht_filter_init(ctx, c.options, &c.filter));
	ht_arena_init(&c.arena, ctx->mem);
	enum ht_status status = convert(&c, path);
	ht_arena_done(&c.arena);
	ht_filter_done(ctx, &c.filter);
	return status;
}
