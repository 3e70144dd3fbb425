/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_sum.c - what a selection of tracks and time holds: sums by class and by name, and idle time.
 *
 * Every span that overlaps [from, to) counts with the part that is inside. By class:
 *   sum   of these parts; work that overlaps counts more than once
 *   busy  time with at least one of them: the union over the chosen tracks of one rank and device
 *   idle  of a device: time with no kernel, copy or fill on any of its chosen tracks
 * GPU work has its class, everything else its kind. A device is that of its tracks; tracks of the host are one.
 * By name: spans of the same name and class over all ranks. Spans inside others count for both, as on the track.
 * O(n log n) for n spans inside.
 *
 * Example: of a kernel from 0 to 10 us and a copy from 8 to 12 us, [5, 20) has 5 us of compute and 4 us of
 * memcpy, and the device is idle for 8 us.
 */
#include "base/options.h"
#include "registry/timeline.h"
#include "store/columns.h"

#include "base/intern.h"
#include "base/sort.h"
#include "model/numbers/interval.h"

#include <stdlib.h>
#include <string.h>

#define CLASS_COLUMNS(COLUMN)                                                                      \
	COLUMN(CLASS_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(CLASS_DEVICE, "device", HT_I64, HT_KEY, "GPU index; null for the host", NULL)       \
	COLUMN(CLASS_CLASS, "class", HT_STR, HT_KEY,                                               \
	        "class of GPU activity, kind of other events; idle: no GPU activity at all", NULL) \
	COLUMN(CLASS_N, "n", HT_I64, HT_MEASURE, "spans that overlap the selection", NULL)         \
	COLUMN(CLASS_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "their time inside it, added up",  \
	        NULL)                                                                              \
	COLUMN(CLASS_BUSY_NS, "busy_ns", HT_DURATION, HT_MEASURE,                                  \
	        "time inside it with at least one of them", NULL)                                  \
	COLUMN(CLASS_BUSY_SHARE, "busy_share", HT_RATIO, HT_MEASURE,                               \
	        "that over the length of the selection", NULL)
HT_COLUMNS(class_columns, CLASS_COLUMNS);

#define NAME_COLUMNS(COLUMN)                                                                       \
	COLUMN(NAME_NAME, "name", HT_STR, HT_KEY, "name of the events", NULL)                      \
	COLUMN(NAME_CLASS, "class", HT_STR, HT_KEY, "class of GPU activity, kind of other events", \
	        NULL)                                                                              \
	COLUMN(NAME_N, "n", HT_I64, HT_MEASURE, "spans that overlap the selection", NULL)          \
	COLUMN(NAME_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "their time inside it, added up",   \
	        NULL)                                                                              \
	COLUMN(NAME_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "that over their number",     \
	        NULL)                                                                              \
	COLUMN(NAME_LONGEST_NS, "longest_ns", HT_DURATION, HT_MEASURE,                             \
	        "time of the longest inside it", NULL)                                             \
	COLUMN(NAME_LONGEST, "longest", HT_EVENT, HT_DETAIL, "the longest", NULL)
HT_COLUMNS(name_columns, NAME_COLUMNS);

#define N_CLASSES (HT_N_KINDS + HT_N_CLASSES)
#define HOST      UINT64_MAX /* behind all devices */

/* Kinds first, then classes of GPU work. */
static size_t class_of(const struct ht_trace *t, uint32_t row)
{
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	return gpu ? HT_N_KINDS + (size_t)gpu->class_ : t->kind[row];
}

static const char *class_text(size_t class_)
{
	return class_ < HT_N_KINDS ? ht_kind_name((enum ht_kind)class_)
	                           : ht_class_name((enum ht_class)(class_ - HT_N_KINDS));
}

/* What was found of one name and class. */
struct named {
	const char *text;
	size_t n_text, class_;
	uint32_t next; /* of the same name, from 1; 0: none */
	int64_t n, sum_ns, longest_ns, longest;
};

struct summing {
	ht_ctx *ctx;
	struct ht_arena *scratch;
	const struct ht_timeline *timeline; /* in hand */
	int64_t from_ns, to_ns;             /* in its own clock */
	int64_t length_ns;                  /* of the selection */
	int32_t device;                     /* in hand */
	/* by class */
	struct ht_vec intervals[N_CLASSES]; /* struct ht_interval */
	/* by name */
	struct ht_pool texts;
	struct ht_vec first; /* uint32_t, by text: its first place in names, from 1 */
	struct ht_vec names; /* struct named */
	uint32_t *text_of;   /* by string id of the rank in hand: its text, from 1 */
	bool nomem;
};

/* ---- by class ---- */

static bool add_interval(void *user, const struct ht_range_hit *hit)
{
	struct summing *s = user;
	struct ht_interval part = { hit->start_ns > s->from_ns ? hit->start_ns : s->from_ns,
		hit->end_ns < s->to_ns ? hit->end_ns : s->to_ns };
	struct ht_vec *list = &s->intervals[class_of(s->timeline->trace, hit->row)];
	s->nomem |= !HT_VEC_PUSH(s->ctx->mem, list, struct ht_interval, part);
	return !s->nomem;
}

static void put_class(const struct summing *s, ht_table *table, const char *name, size_t n,
        int64_t sum_ns, int64_t busy_ns)
{
	ht_table_row(table);
	ht_table_put_i64(table, CLASS_RANK, s->timeline->info.rank);
	ht_table_put_known(table, CLASS_DEVICE, s->device, -1);
	ht_table_put_str(table, CLASS_CLASS, name);
	ht_table_put_i64(table, CLASS_N, (int64_t)n);
	ht_table_put_i64(table, CLASS_SUM_NS, sum_ns);
	ht_table_put_i64(table, CLASS_BUSY_NS, busy_ns);
	ht_table_put_f64(
	        table, CLASS_BUSY_SHARE, s->length_ns ? (double)busy_ns / (double)s->length_ns : 0);
}

/* Merges the lists of the device in hand and empties them. */
static void put_device(struct summing *s, ht_table *table)
{
	struct ht_vec work = { 0 };
	for (size_t c = N_CLASSES; c-- > 0;) {
		struct ht_vec *list = &s->intervals[c];
		struct ht_interval *of = list->data;
		size_t n = list->n;
		int64_t sum_ns = 0;
		if (!n)
			continue;
		for (size_t i = 0; i < n; i++)
			ht_sum(&sum_ns, of[i].end - of[i].start);
		size_t n_merged = ht_interval_merge(s->ctx->mem, of, n);
		put_class(s, table, class_text(c), n, sum_ns, ht_interval_length(of, n_merged));
		for (size_t i = 0; c >= HT_N_KINDS && i < n_merged; i++)
			s->nomem |= !HT_VEC_PUSH(s->ctx->mem, &work, struct ht_interval, of[i]);
		list->n = 0;
	}
	if (s->device >= 0) {
		size_t n = work.n ? ht_interval_merge(s->ctx->mem, work.data, work.n) : 0;
		int64_t busy_ns = n ? ht_interval_length(work.data, n) : 0;
		put_class(s, table, "idle", 0, s->length_ns - busy_ns, s->length_ns - busy_ns);
	}
	ht_vec_free(s->ctx->mem, &work, sizeof(struct ht_interval));
}

/* Devices, then the host: tracks in the order of their devices, each looked at once. */
static void sum_classes(struct summing *s, const bool *chosen, ht_table *table)
{
	const struct ht_timeline *timeline = s->timeline;
	size_t n_tracks = timeline->ranges.n_tracks, n = 0;
	uint64_t *devices = ht_arena_alloc(s->scratch, (n_tracks + 1) * sizeof *devices);
	uint32_t *tracks = ht_arena_alloc(s->scratch, (n_tracks + 1) * sizeof *tracks);
	s->nomem |= !devices || !tracks;
	for (uint32_t i = 0; i < n_tracks && !s->nomem; i++) {
		int32_t device = timeline->trace->tracks[i].device;
		if (!chosen[i] || !timeline->ranges.tracks[i].n)
			continue;
		devices[n] = device < 0 ? HOST : (uint64_t)device;
		tracks[n++] = i;
	}
	s->nomem = s->nomem || !ht_sort_keys(s->ctx->mem, devices, tracks, n);
	for (size_t i = 0; i < n && !s->nomem; i++) {
		s->device = devices[i] == HOST ? -1 : (int32_t)devices[i];
		ht_track_range(
		        &timeline->ranges, tracks[i], s->from_ns, s->to_ns, 0, add_interval, s);
		if (i + 1 == n || devices[i + 1] != devices[i])
			put_device(s, table);
	}
}

/* ---- by name ---- */

/* The text of a name, the same for all ranks. */
static bool find_text(struct summing *s, uint32_t name, struct ht_text *ret_text)
{
	const struct ht_trace *t = s->timeline->trace;
	const char *bytes = ht_str(t, name);
	size_t n = name == HT_NO_STR ? 0 : ht_str_len(t, name);
	if (!ht_pool_add(&s->texts, bytes, n, ht_hash(bytes, n), ret_text))
		return false;
	while (s->first.n <= ret_text->id)
		if (!HT_VEC_PUSH(s->ctx->mem, &s->first, uint32_t, 0))
			return false;
	return true;
}

/* What is known of a name and class; NULL when out of memory. */
static struct named *find_named(struct summing *s, uint32_t name, size_t class_)
{
	size_t slot = name == HT_NO_STR ? s->timeline->trace->n_string_offsets : name;
	struct ht_text text;
	if (!s->text_of[slot]) {
		if (!find_text(s, name, &text))
			return NULL;
		s->text_of[slot] = text.id + 1;
	}
	uint32_t *first = &((uint32_t *)s->first.data)[s->text_of[slot] - 1];
	struct named *names = s->names.data;
	for (uint32_t at = *first; at; at = names[at - 1].next)
		if (names[at - 1].class_ == class_)
			return &names[at - 1];
	text = ((struct ht_text *)s->texts.texts.data)[s->text_of[slot] - 1];
	struct named new = { .text = text.bytes,
		.n_text = text.n,
		.class_ = class_,
		.next = *first,
		.longest_ns = -1 };
	if (!HT_VEC_PUSH(s->ctx->mem, &s->names, struct named, new))
		return NULL;
	*first = (uint32_t)s->names.n;
	return &((struct named *)s->names.data)[s->names.n - 1];
}

static bool add_named(void *user, const struct ht_range_hit *hit)
{
	struct summing *s = user;
	const struct ht_trace *t = s->timeline->trace;
	struct named *named = find_named(s, t->name[hit->row], class_of(t, hit->row));
	if (!named) {
		s->nomem = true;
		return false;
	}
	int64_t ns = (hit->end_ns < s->to_ns ? hit->end_ns : s->to_ns) -
	             (hit->start_ns > s->from_ns ? hit->start_ns : s->from_ns);
	named->n++;
	ht_sum(&named->sum_ns, ns);
	if (ns > named->longest_ns) {
		named->longest_ns = ns;
		named->longest = ht_event_id(s->timeline->info.rank, hit->row);
	}
	return true;
}

static void sum_names(struct summing *s, const bool *chosen)
{
	const struct ht_timeline *timeline = s->timeline;
	s->text_of = ht_arena_alloc(
	        s->scratch, (timeline->trace->n_string_offsets + 1) * sizeof *s->text_of);
	s->nomem |= !s->text_of;
	for (uint32_t i = 0; i < timeline->ranges.n_tracks && !s->nomem; i++)
		if (chosen[i])
			ht_track_range(&timeline->ranges, i, s->from_ns, s->to_ns, 0, add_named, s);
}

static void put_names(const struct summing *s, ht_table *table)
{
	const struct named *names = s->names.data;
	for (size_t i = 0; i < s->names.n; i++) {
		const struct named *named = &names[i];
		ht_table_row(table);
		ht_table_put_strn(table, NAME_NAME, named->text, named->n_text);
		ht_table_put_str(table, NAME_CLASS, class_text(named->class_));
		ht_table_put_i64(table, NAME_N, named->n);
		ht_table_put_i64(table, NAME_SUM_NS, named->sum_ns);
		ht_table_put_f64(table, NAME_MEAN_NS, (double)named->sum_ns / (double)named->n);
		ht_table_put_i64(table, NAME_LONGEST_NS, named->longest_ns);
		ht_table_put_i64(table, NAME_LONGEST, named->longest);
	}
}

/* ---- all of it ---- */

/* Which tracks of the timeline in hand a list names. */
static enum ht_status choose_tracks(struct summing *s, const char *tracks, bool **ret_chosen)
{
	size_t n = s->timeline->ranges.n_tracks;
	bool *chosen = ht_arena_alloc(s->scratch, (n + 1) * sizeof *chosen);
	if (!chosen)
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; !tracks && i < n; i++)
		chosen[i] = true;
	for (const char *at = tracks; at && *at;) {
		char *end;
		long long rank = strtoll(at, &end, 10);
		bool is_pair = end != at && *end == ':';
		at = is_pair ? end + 1 : at;
		unsigned long long track = is_pair ? strtoull(at, &end, 10) : 0;
		if (!is_pair || end == at || (*end && *end != ','))
			return ht_fail(s->ctx, HT_USAGE, NULL, -1, NULL,
			        "tracks: expected rank:track,... and not %.40s", at);
		if (rank == s->timeline->info.rank && track < n)
			chosen[track] = true;
		at = *end ? end + 1 : end;
	}
	*ret_chosen = chosen;
	return HT_OK;
}

static enum ht_status sum_ranks(struct summing *s, const ht_timeline *const *timelines, size_t n,
        const char *tracks, int64_t from_ns, int64_t to_ns, bool by_name, ht_table *table)
{
	for (size_t i = 0; i < n && !s->nomem; i++) {
		bool *chosen = NULL;
		s->timeline = timelines[i];
		s->from_ns = ht_timeline_own_ns(timelines[i], from_ns);
		s->to_ns = ht_timeline_own_ns(timelines[i], to_ns);
		HT_TRY(choose_tracks(s, tracks, &chosen));
		if (by_name)
			sum_names(s, chosen);
		else
			sum_classes(s, chosen, table);
	}
	if (s->nomem)
		return ht_fail_nomem(s->ctx);
	if (by_name)
		put_names(s, table);
	HT_TRY(ht_table_finish(s->ctx, table));
	return by_name ? ht_table_sort(s->ctx, table, "-sum_ns,name,class") : HT_OK;
}

static enum ht_status make_sums(ht_ctx *ctx, const ht_timeline *const *timelines, size_t n,
        const char *tracks, int64_t from_ns, int64_t to_ns, bool by_name, ht_table *table)
{
	struct ht_arena scratch;
	struct summing s = {
		.ctx = ctx, .scratch = &scratch, .length_ns = ht_sub_sat(to_ns, from_ns)
	};
	ht_arena_init(&scratch, ctx->mem);
	ht_pool_init(&s.texts, ctx->mem);
	enum ht_status status = sum_ranks(&s, timelines, n, tracks, from_ns, to_ns, by_name, table);
	for (size_t i = 0; i < N_CLASSES; i++)
		ht_vec_free(ctx->mem, &s.intervals[i], sizeof(struct ht_interval));
	ht_vec_free(ctx->mem, &s.first, sizeof(uint32_t));
	ht_vec_free(ctx->mem, &s.names, sizeof(struct named));
	ht_pool_done(&s.texts);
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_timeline_sum(ht_ctx *ctx, const ht_timeline *const *timelines, size_t n_timelines,
        const struct ht_sum_options *options, ht_table **ret_table)
{
	struct ht_sum_options o;
	ht_table *table;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_sum_options, by, options, &o));
	bool by_name = o.by && !strcmp(o.by, "name");
	if (o.by && !by_name && strcmp(o.by, "class") != 0)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "by %s: expected class or name", o.by);
	if (o.to_ns < o.from_ns)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "the selection ends before it begins");
	HT_TRY(ht_table_new(ctx, "Selection", by_name ? name_columns : class_columns,
	        by_name ? HT_COUNT(name_columns) : HT_COUNT(class_columns), &table));
	enum ht_status status = make_sums(
	        ctx, timelines, n_timelines, o.tracks, o.from_ns, o.to_ns, by_name, table);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}
