/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_events.c - see filter.h.
 */
#include "write/kept_events.h"

#include "base/checked.h"
#include "base/mem.h"
#include "store/columns.h"

#include <stdio.h>
#include <string.h>

static enum ht_status parse_time(
        ht_ctx *ctx, const char *what, const char *text, int64_t fallback, int64_t *ret_ns)
{
	*ret_ns = fallback;
	if (!text || !*text || ht_parse_i64(text, ret_ns))
		return HT_OK;
	return ht_fail(ctx, HT_USAGE, NULL, -1, "give whole nanoseconds of the trace's own clock",
	        "%s is no time: %s", what, text);
}

static const char *some_text(const char *text)
{
	return text && *text && strcmp(text, "all") ? text : NULL;
}

static enum ht_status parse(
        ht_ctx *ctx, const struct ht_convert_options *options, struct ht_filter *filter)
{
	filter->categories = some_text(options->categories);
	filter->threads = some_text(options->threads);
	filter->has_window = options->from_ns || options->to_ns;
	HT_TRY(parse_time(ctx, "the start", options->from_ns, INT64_MIN, &filter->from_ns));
	HT_TRY(parse_time(ctx, "the end", options->to_ns, INT64_MAX, &filter->to_ns));
	HT_TRY(ht_list_parse(ctx, "the step", options->steps, &filter->steps));
	return ht_list_parse(ctx, "the document", options->document, &filter->documents);
}

enum ht_status ht_filter_init(
        ht_ctx *ctx, const struct ht_convert_options *options, struct ht_filter *ret_filter)
{
	struct ht_filter filter = { 0 };
	enum ht_status status = parse(ctx, options, &filter);
	if (status != HT_OK)
		ht_filter_done(ctx, &filter);
	else
		*ret_filter = filter;
	return status;
}

void ht_filter_done(ht_ctx *ctx, struct ht_filter *filter)
{
	ht_list_done(ctx, &filter->steps);
	ht_list_done(ctx, &filter->documents);
}

/* Is the text one of the items of a comma list? */
static bool is_listed(const char *list, const char *text, size_t n)
{
	for (const char *p = list;; p++) {
		size_t n_item = strcspn(p, ",");
		if (n_item == n && !memcmp(p, text, n))
			return true;
		p += n_item;
		if (!*p)
			return false;
	}
}

static int print_id(const struct ht_trace *t, uint8_t type, int64_t value, char *out, size_t cap)
{
	if (type == HT_ID_STR)
		return snprintf(out, cap, "%s", ht_str(t, (uint32_t)value));
	if (type == HT_ID_INT)
		return snprintf(out, cap, "%lld", (long long)value);
	return snprintf(out, cap, "-");
}

/* A thread is listed as "pid/tid", or with all of its process as "pid". */
static bool is_track_listed(
        const struct ht_trace *t, const struct ht_track *track, const char *list)
{
	char text[512];
	int n_pid = print_id(t, track->pid_type, track->pid, text, sizeof text / 2);
	if (n_pid < 0 || (size_t)n_pid >= sizeof text / 2)
		return false;
	if (is_listed(list, text, (size_t)n_pid))
		return true;
	text[n_pid] = '/';
	size_t room = sizeof text - (size_t)n_pid - 1;
	int n_tid = print_id(t, track->tid_type, track->tid, text + n_pid + 1, room);
	return n_tid >= 0 && (size_t)n_tid < room &&
	       is_listed(list, text, (size_t)n_pid + 1 + (size_t)n_tid);
}

static void fill(struct ht_row_filter *rows)
{
	const struct ht_filter *filter = rows->filter;
	const struct ht_trace *t = rows->trace;
	for (size_t i = 0; i < t->n_steps; i++)
		rows->step[i] = ht_list_has(&filter->steps, t->steps[i].number);
	for (size_t i = 0; i < t->n_categories; i++) {
		uint32_t name = t->categories[i].name;
		rows->category[i] =
		        !filter->categories ||
		        (name != HT_NO_STR && is_listed(filter->categories, ht_str(t, name),
		                                      ht_str_len(t, name)));
	}
	for (size_t i = 0; i < t->n_tracks; i++)
		rows->track[i] =
		        !filter->threads || is_track_listed(t, &t->tracks[i], filter->threads);
}

enum ht_status ht_row_filter_init(ht_ctx *ctx, const struct ht_filter *filter,
        const struct ht_trace *trace, struct ht_row_filter *ret_filter)
{
	struct ht_row_filter rows = { .filter = filter, .trace = trace };
	rows.all = !filter->has_window && !filter->steps.some && !filter->documents.some &&
	           !filter->categories && !filter->threads;
	if (!rows.all) {
		rows.step = ht_mem_alloc(ctx->mem, trace->n_steps);
		rows.category = ht_mem_alloc(ctx->mem, trace->n_categories);
		rows.track = ht_mem_alloc(ctx->mem, trace->n_tracks);
		if (!rows.step || !rows.category || !rows.track) {
			ht_row_filter_done(ctx, &rows);
			return ht_fail_nomem(ctx);
		}
		fill(&rows);
	}
	*ret_filter = rows;
	return HT_OK;
}

void ht_row_filter_done(ht_ctx *ctx, struct ht_row_filter *rows)
{
	ht_mem_free(ctx->mem, rows->step, rows->trace->n_steps);
	ht_mem_free(ctx->mem, rows->category, rows->trace->n_categories);
	ht_mem_free(ctx->mem, rows->track, rows->trace->n_tracks);
	rows->step = rows->category = rows->track = NULL;
}

/* Waits and event records on the GPU have no launch that would give them a step: they belong to the
 * step in whose window they start. */
static bool starts_in_step(const struct ht_row_filter *rows, uint32_t row)
{
	const struct ht_trace *t = rows->trace;
	if (!ht_kind_is_device(t->kind[row]) || ht_kind_is_gpu_work(t->kind[row]))
		return false;
	for (size_t i = 0; i < t->n_steps; i++)
		if (rows->step[i] && t->steps[i].ts_ns <= t->ts_ns[row] &&
		        t->ts_ns[row] < t->steps[i].end_ns)
			return true;
	return false;
}

static bool overlaps_window(const struct ht_row_filter *rows, uint32_t row)
{
	const struct ht_trace *t = rows->trace;
	int64_t end;
	if (__builtin_add_overflow(t->ts_ns[row], t->dur_ns[row], &end))
		end = INT64_MAX;
	return !(t->flags[row] & HT_EV_NO_TS) && t->ts_ns[row] <= rows->filter->to_ns &&
	       end >= rows->filter->from_ns;
}

bool ht_row_filter_keeps(const struct ht_row_filter *rows, uint32_t row)
{
	const struct ht_filter *filter = rows->filter;
	const struct ht_trace *t = rows->trace;
	if (rows->all)
		return true;
	if (!ht_list_has(&filter->documents, t->tracks[t->track[row]].document))
		return false;
	if (t->kind[row] == HT_KIND_METADATA)
		return true;
	if (!rows->category[t->cat[row]] || !rows->track[t->track[row]])
		return false;
	if (filter->steps.some && (ht_step_of(t, row) == HT_NONE ? !starts_in_step(rows, row)
	                                                         : !rows->step[ht_step_of(t, row)]))
		return false;
	return !filter->has_window || overlaps_window(rows, row);
}
