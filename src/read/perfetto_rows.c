/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_rows.c - what was read of a Perfetto trace as rows: spans of begins and ends, instants, counters, arrows.
 *
 * Events of a track are taken by time, and of one time in the order of the file, as Perfetto does; an end closes the latest
 * begin. PyTorch's monitor writes all begins of a group before its ends: of a writer whose events are not in the order of
 * time an end goes before a begin of the same time, unless nothing is open then.
 *
 * Rows of ours are put back in their order, with the keys that they had. Those of others come in the order of the
 * file, behind the names of tracks; their categories are worked out where they have none (category_of).
 */
#include "read/perfetto.h"

#include "base/checked.h"
#include "base/mem.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

struct making {
	struct ht_pf *pf;
	struct ht_rows *rows;
	struct ht_pf_record *records;
	int64_t *times;  /* by record */
	int64_t last_ns; /* the end of the trace */
	uint32_t *order; /* records that are rows */
	size_t n;
	uint32_t *seen; /* by column: 1 + the last row that had it */
	uint32_t name_key, flow_cat, launch_cat, kernel, memcpy_, memset_, runtime;
	uint32_t grid, cbid, correlation, device, stream, corr_id, process_name, thread_name;
};

/* ---- spans ---- */

static void close_span(struct making *m, uint32_t begin, uint32_t end)
{
	struct ht_pf_record *r = &m->records[begin];
	r->end = end;
	m->records[end].end = begin;
	r->dur_ns =
	        m->times[end] > m->times[begin] ? ht_sub_sat(m->times[end], m->times[begin]) : 0;
}

/* The records of one time on one track, of which those of the stack are open. */
struct stack {
	uint32_t *open;
	size_t n;
};

static void take_one(struct making *m, struct stack *s, uint32_t i)
{
	if (m->records[i].type == HT_PF_BEGIN)
		s->open[s->n++] = i;
	else if (s->n)
		close_span(m, s->open[--s->n], i);
	else {
		m->records[i].end = i;
		ht_pf_count(m->pf, HT_STAT_unmatched_end);
	}
}

/* Ends first, as long as something is open. */
static void take_unsorted(struct making *m, struct stack *s, const uint32_t *list, size_t n)
{
	size_t n_open = s->n;
	for (size_t i = 0; i < n; i++)
		if (m->records[list[i]].type == HT_PF_END && n_open) {
			take_one(m, s, list[i]);
			n_open--;
		}
	for (size_t i = 0; i < n; i++)
		if (m->records[list[i]].type == HT_PF_BEGIN)
			take_one(m, s, list[i]);
	/* what is left closes what began at the same time */
	for (size_t i = 0; i < n; i++)
		if (m->records[list[i]].type == HT_PF_END && m->records[list[i]].end == HT_NONE)
			take_one(m, s, list[i]);
}

/* Begins and ends by track and time; of one time in the order of the file. */
static enum ht_status sort_ends(struct making *m, uint32_t *list, size_t n)
{
	struct ht_mem *mem = m->pf->ctx->mem;
	uint64_t *keys = ht_mem_alloc(mem, (n + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(m->pf->ctx);
	for (size_t i = 0; i < n; i++)
		keys[i] = ht_sort_key_i64(m->times[list[i]]);
	bool ok = ht_sort_keys(mem, keys, list, n);
	for (size_t i = 0; i < n; i++)
		keys[i] = m->records[list[i]].track;
	ok = ok && ht_sort_keys(mem, keys, list, n);
	ht_mem_free(mem, keys, (n + 1) * sizeof *keys);
	return ok ? HT_OK : ht_fail_nomem(m->pf->ctx);
}

static void pair_track(struct making *m, struct stack *s, const uint32_t *list, size_t n)
{
	const struct ht_pf_writer *writers = m->pf->writers.data;
	bool is_unsorted =
	        writers[ht_pf_line(m->pf, m->records[list[0]].track)->writer].is_unsorted;
	s->n = 0;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && m->times[list[k]] == m->times[list[i]]; k++)
			;
		if (is_unsorted)
			take_unsorted(m, s, list + i, k - i);
		for (; !is_unsorted && i < k; i++)
			take_one(m, s, list[i]);
	}
	while (s->n) {
		uint32_t begin = s->open[--s->n];
		ht_pf_count(m->pf, HT_STAT_unmatched_begin);
		m->records[begin].dur_ns = ht_sub_sat(m->last_ns, m->times[begin]);
	}
}

static enum ht_status pair_ends(struct making *m, struct ht_arena *arena)
{
	size_t n_records = m->pf->records.n, n = 0;
	uint32_t *list = ht_arena_room(arena, (n_records + 1) * sizeof *list);
	struct stack s = { .open = ht_arena_room(arena, (n_records + 1) * sizeof *s.open) };
	if (!list || !s.open)
		return ht_fail_nomem(m->pf->ctx);
	for (uint32_t i = 0; i < n_records; i++) {
		const struct ht_pf_record *r = &m->records[i];
		bool ends = r->type == HT_PF_BEGIN || r->type == HT_PF_END;
		if (ends && !r->is_stage && r->clock != HT_NONE && r->track != HT_NONE)
			list[n++] = i;
	}
	HT_TRY(sort_ends(m, list, n));
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && m->records[list[k]].track == m->records[list[i]].track;
		        k++)
			;
		pair_track(m, &s, list + i, k - i);
	}
	return HT_OK;
}

/* ---- one row ---- */

static uint32_t column_of(struct making *m, uint32_t key, uint8_t type, bool top_level)
{
	struct ht_pf *pf = m->pf;
	uint64_t id = (uint64_t)key << 8 | (uint64_t)type << 1 | top_level;
	uint32_t column = ht_map64_find(&pf->column_of, id);
	if (column != HT_NONE)
		return column;
	column = ht_rows_column_of(m->rows, key, (enum ht_arg_type)type, top_level);
	if (column != UINT32_MAX)
		pf->failed |= !ht_map64_put(pf->ctx->mem, &pf->column_of, id, column);
	return column;
}

static void put_item(struct making *m, uint32_t item, uint64_t value)
{
	if (!ht_worker_item(&m->rows->worker, item, UINT32_MAX, value))
		m->pf->failed = true;
}

/* NULL: it has none, and perhaps nobody has. */
static const struct ht_pf_arg *args_of(const struct making *m, const struct ht_pf_record *r)
{
	return r->n_args ? (const struct ht_pf_arg *)m->pf->args.data + r->first_arg : NULL;
}

/* An arg of the row in hand, once per column. */
static void put_arg(struct making *m, const struct ht_pf_arg *arg, bool top_level)
{
	uint32_t column = column_of(m, arg->key, arg->type, top_level);
	uint32_t row = m->rows->worker.chunk->n + 1;
	if (column == UINT32_MAX || column >= HT_MAX_COLUMNS)
		return;
	if (m->seen[column] == row) {
		ht_pf_count(m->pf, HT_STAT_duplicate_key);
		return;
	}
	m->seen[column] = row;
	put_item(m, HT_FIELD_COUNT + column, arg->value);
}

static void set_track(struct making *m, const struct ht_pf_line *line)
{
	struct ht_track_key *track = &m->rows->worker.track;
	track->document = ht_pf_document(m->pf, line->document);
	if (line->has_pid) {
		track->pid = line->pid;
		track->pid_type = HT_ID_INT;
	} else if (line->pid_text != HT_NO_STR) {
		track->pid = line->pid_text;
		track->pid_type = HT_ID_STR;
	}
	if (line->has_tid) {
		track->tid = line->tid;
		track->tid_type = HT_ID_INT;
	} else if (line->tid_text != HT_NO_STR) {
		track->tid = line->tid_text;
		track->tid_type = HT_ID_STR;
	}
}

/* ---- rows of ours ---- */

static void put_own_field(
        struct making *m, const struct ht_pf_record *r, int64_t ts_ns, uint32_t key, char phase)
{
	struct ht_worker *w = &m->rows->worker;
	switch (key) {
	case HT_FIELD_PH: w->ph = phase; break;
	case HT_FIELD_CAT:
		w->cat = r->cat;
		w->has_cat = r->cat != HT_NO_STR;
		break;
	case HT_FIELD_NAME: w->name = r->name; break;
	case HT_FIELD_TS:
		w->ts_ns = ts_ns;
		w->has_ts = true;
		break;
	case HT_FIELD_DUR:
		w->dur_ns = r->dur_ns < 0 ? 0 : r->dur_ns;
		w->has_dur = true;
		break;
	default: break;
	}
	put_item(m, key, 0);
}

/* Args come in the order of keys: those of the event itself before and behind the ones in its args. */
static enum ht_status put_own_row(struct making *m, uint32_t i)
{
	const struct ht_pf_record *r = &m->records[i];
	const struct ht_pf_layout *layout = (struct ht_pf_layout *)m->pf->layouts.data + r->layout;
	const uint32_t *keys =
	        layout->n_keys ? (uint32_t *)m->pf->keys.data + layout->first_key : NULL;
	const struct ht_pf_arg *args = args_of(m, r);
	size_t at = 0, n_top = 0;
	for (uint32_t k = 0; k < layout->n_keys; k++)
		n_top += keys[k] >= HT_FIELD_COUNT;
	ht_worker_begin_event(&m->rows->worker);
	m->rows->extended = HT_NONE;
	if (r->track != HT_NONE)
		set_track(m, ht_pf_line(m->pf, r->track));
	for (uint32_t k = 0; k < layout->n_keys; k++) {
		if (keys[k] >= HT_FIELD_COUNT) {
			n_top--;
			if (at < r->n_args)
				put_arg(m, &args[at++], true);
			continue;
		}
		put_own_field(m, r, m->times[i], keys[k], layout->phase);
		if (keys[k] != HT_FIELD_ARGS)
			continue;
		while (at + n_top < r->n_args)
			put_arg(m, &args[at++], false);
		put_item(m, HT_FIELD_ARGS_END, 0);
	}
	return ht_row_end(m->rows, -1);
}

/* ---- rows of others ---- */

static const char *text_of(struct making *m, uint32_t id)
{
	size_t n;
	return id == HT_NO_STR ? "" : ht_rows_text_at(m->rows, id, &n);
}

static bool has_arg(const struct making *m, const struct ht_pf_record *r, uint32_t key)
{
	const struct ht_pf_arg *args = args_of(m, r);
	for (uint32_t i = 0; i < r->n_args; i++)
		if (args[i].key == key)
			return true;
	return false;
}

static bool starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* What a span without a category that analyses know is: told by its args, its track or its name, in this order. */
static uint32_t category_of(
        struct making *m, const struct ht_pf_record *r, const struct ht_pf_line *line)
{
	static const struct {
		const char *theirs, *ours;
	} known[] = { { "kernel_dispatch", "kernel" }, { "memory_copy", "gpu_memcpy" },
		{ "hip_api", "cuda_runtime" }, { "hip_runtime_api", "cuda_runtime" },
		{ "marker_api", "user_annotation" } };
	const char *cat = text_of(m, r->cat), *name = text_of(m, r->name),
	           *track = text_of(m, line->name);
	bool on_device = has_arg(m, r, m->stream) || has_arg(m, r, m->device);
	for (size_t i = 0; i < HT_COUNT(known); i++)
		if (!strcmp(cat, known[i].theirs))
			return ht_rows_text(m->rows, known[i].ours, strlen(known[i].ours));
	if (*cat && !r->is_stage)
		return r->cat;
	if (has_arg(m, r, m->grid) || starts(track, "COMPUTE AGENT ["))
		return m->kernel;
	if (starts(track, "COPY to AGENT [") || (on_device && starts(name, "Memcpy")))
		return m->memcpy_;
	if (on_device && starts(name, "Memset"))
		return m->memset_;
	if (r->is_stage)
		return m->kernel;
	if (has_arg(m, r, m->cbid) || (!on_device && has_arg(m, r, m->correlation)))
		return m->runtime;
	return HT_NO_STR;
}

static void put_more(struct making *m, uint32_t key, int64_t value)
{
	struct ht_pf_arg arg = { .key = key, .type = HT_ARG_I64, .value = (uint64_t)value };
	put_arg(m, &arg, false);
}

/* rocprofv3: "COMPUTE AGENT [0] QUEUE [1] (GPU)". */
static void put_agent(struct making *m, const struct ht_pf_record *r, const struct ht_pf_line *line)
{
	const char *track = text_of(m, line->name);
	long long agent, queue;
	if (r->cat == m->kernel && !has_arg(m, r, m->stream) &&
	        sscanf(track, "COMPUTE AGENT [%lld] QUEUE [%lld]", &agent, &queue) == 2) {
		put_more(m, m->device, agent);
		put_more(m, m->stream, queue);
	}
	const struct ht_pf_arg *args = args_of(m, r);
	bool has_correlation = has_arg(m, r, m->correlation);
	for (uint32_t i = 0; i < r->n_args && !has_correlation; i++)
		if (args[i].key == m->corr_id && args[i].type == HT_ARG_I64)
			put_more(m, m->correlation, (int64_t)args[i].value);
}

static void put_args(struct making *m, const struct ht_pf_record *r, bool top_level)
{
	const struct ht_pf_arg *args = args_of(m, r);
	for (uint32_t i = 0; i < r->n_args; i++)
		if (args[i].is_top == top_level)
			put_arg(m, &args[i], top_level);
}

static void begin_row(
        struct making *m, char ph, uint32_t cat, uint32_t name, const struct ht_pf_line *line)
{
	ht_row_begin(m->rows, ph, cat, name);
	set_track(m, line);
	if (m->rows->worker.track.pid_type != HT_ID_ABSENT)
		put_item(m, HT_FIELD_PID, 0);
	if (m->rows->worker.track.tid_type != HT_ID_ABSENT)
		put_item(m, HT_FIELD_TID, 0);
}

static enum ht_status put_row(struct making *m, uint32_t i)
{
	struct ht_pf_record *r = &m->records[i];
	const struct ht_pf_line *line = ht_pf_line(m->pf, r->track);
	bool is_span = r->type == HT_PF_BEGIN || r->is_stage || r->phase == 'X',
	     counts = r->type == HT_PF_COUNTER;
	if (is_span)
		r->cat = category_of(m, r, line);
	begin_row(m,
	        r->phase  ? r->phase
	        : is_span ? 'X'
	        : counts  ? 'C'
	                  : 'i',
	        r->cat, counts ? line->name : r->name, line);
	ht_row_time(m->rows, m->times[i]);
	if (is_span)
		ht_row_duration(m->rows, r->dur_ns < 0 ? 0 : r->dur_ns);
	if (r->phase)
		put_args(m, r, true);
	put_item(m, HT_FIELD_ARGS, 0);
	put_args(m, r, false);
	if (r->end != HT_NONE)
		put_args(m, &m->records[r->end], false);
	put_agent(m, r, line);
	put_item(m, HT_FIELD_ARGS_END, 0);
	return ht_row_end(m->rows, -1);
}

/* ---- tracks of others ---- */

/* Process and thread of a track that says neither: those of the tracks above it, and its name. */
static void resolve(struct making *m, struct ht_pf_line *line)
{
	struct ht_pf *pf = m->pf;
	uint64_t parent = line->parent;
	char text[40];
	if (line->has_own || (line->has_pid && line->has_tid))
		return;
	for (unsigned hops = 0; !line->has_pid && parent && hops < 32; hops++) {
		uint32_t at = ht_map64_find(&pf->track_of, parent);
		if (at == HT_NONE)
			break;
		const struct ht_pf_line *above = ht_pf_line(pf, at);
		line->pid = above->pid;
		line->has_pid = above->has_pid;
		parent = above->parent;
	}
	if (!line->has_pid)
		line->pid_text = ht_rows_text(m->rows, "Perfetto", 8);
	line->tid_text = line->name;
	if (line->name == HT_NO_STR) {
		int n = line->is_process ? snprintf(text, sizeof text, "process")
		                         : snprintf(text, sizeof text, "track %llu",
		                                   (unsigned long long)line->uuid);
		line->tid_text = ht_rows_text(m->rows, text, (size_t)n);
	}
	if (line->name == HT_NO_STR && line->is_counter)
		line->name = line->tid_text;
}

static enum ht_status put_name(
        struct making *m, const struct ht_pf_line *line, uint32_t what, uint32_t name)
{
	begin_row(m, 'M', HT_NO_STR, what, line);
	ht_row_put(m->rows, column_of(m, m->name_key, HT_ARG_STR, false), name);
	return ht_row_end(m->rows, -1);
}

static enum ht_status name_tracks(struct making *m)
{
	for (uint32_t i = 0; i < m->pf->tracks.n; i++) {
		struct ht_pf_line *line = ht_pf_line(m->pf, i);
		if (line->is_process && line->process_name != HT_NO_STR)
			HT_TRY(put_name(m, line, m->process_name, line->process_name));
		if (line->is_thread && line->name != HT_NO_STR)
			HT_TRY(put_name(m, line, m->thread_name, line->name));
	}
	return HT_OK;
}

/* ---- arrows of others ---- */

struct end_of_flow {
	uint64_t id;
	int64_t ts_ns;
	uint32_t record;
};

static int compare_flows(const void *left, const void *right)
{
	const struct end_of_flow *a = left, *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->ts_ns != b->ts_ns ? ht_order_i64(a->ts_ns, b->ts_ns)
	                            : (a->record > b->record) - (a->record < b->record);
}

static enum ht_status put_arrow_end(
        struct making *m, char ph, const struct end_of_flow *flow, uint32_t cat, uint64_t id)
{
	struct ht_pf_arg arg = {
		.key = ht_rows_text(m->rows, "id", 2), .type = HT_ARG_I64, .value = id
	};
	begin_row(m, ph, cat, cat, ht_pf_line(m->pf, m->records[flow->record].track));
	ht_row_time(m->rows, flow->ts_ns);
	put_arg(m, &arg, true);
	if (ph == 'f') {
		arg.key = ht_rows_text(m->rows, "bp", 2);
		arg.type = HT_ARG_STR;
		arg.value = ht_rows_text(m->rows, "e", 1);
		put_arg(m, &arg, true);
	}
	return ht_row_end(m->rows, -1);
}

static enum ht_status put_arrows(struct making *m)
{
	struct ht_pf *pf = m->pf;
	struct ht_vec list = { 0 };
	const uint64_t *ids = pf->flows.data;
	enum ht_status status = HT_OK;
	for (uint32_t i = 0; i < pf->records.n; i++) {
		const struct ht_pf_record *r = &m->records[i];
		struct end_of_flow flow = { 0, m->times[i], i };
		if (r->type == HT_PF_END || r->clock == HT_NONE || r->track == HT_NONE)
			continue;
		for (uint32_t k = 0; k < r->n_flows; k++) {
			flow.id = ids[r->first_flow + k];
			pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &list, struct end_of_flow, flow);
		}
	}
	const struct end_of_flow *flows = list.data;
	ht_sort_items(pf->ctx->mem, list.data, list.n, sizeof *flows, compare_flows);
	for (size_t i = 1; i < list.n && status == HT_OK && !pf->failed; i++) {
		uint32_t to = m->records[flows[i].record].cat;
		bool launches = to == m->kernel || to == m->memcpy_ || to == m->memset_;
		uint32_t cat = launches ? m->launch_cat : m->flow_cat;
		if (flows[i].id != flows[i - 1].id || flows[i].record == flows[i - 1].record)
			continue;
		status = put_arrow_end(m, 's', &flows[i - 1], cat, i);
		if (status == HT_OK)
			status = put_arrow_end(m, 'f', &flows[i], cat, i);
	}
	ht_vec_free(pf->ctx->mem, &list, sizeof *flows);
	return status;
}

/* ---- all ---- */

static void convert_times(struct making *m)
{
	struct ht_pf *pf = m->pf;
	const struct ht_pf_clock_ref *clocks = pf->clocks.data;
	m->last_ns = INT64_MIN;
	for (size_t i = 0; i < pf->records.n; i++) {
		const struct ht_pf_record *r = &m->records[i];
		m->times[i] = 0;
		if (r->clock == HT_NONE)
			continue;
		if (pf->is_own) {
			m->times[i] = (int64_t)((uint64_t)pf->zero_ns + r->time);
		} else {
			m->times[i] = ht_pf_time(pf, r->clock, r->time);
			if (clocks[r->clock].next == HT_NONE)
				ht_pf_count(pf, HT_STAT_clock_unrelated);
		}
		if (m->times[i] > m->last_ns)
			m->last_ns = m->times[i];
	}
}

static uint16_t document_of(const struct making *m, const struct ht_pf_record *r)
{
	return ht_pf_document(
	        m->pf, r->track == HT_NONE ? 0 : ht_pf_line(m->pf, r->track)->document);
}

static enum ht_status order_rows(struct making *m, struct ht_arena *arena)
{
	struct ht_pf *pf = m->pf;
	size_t n = pf->records.n;
	uint64_t *keys = ht_arena_room(arena, (n + 1) * sizeof *keys);
	m->order = ht_arena_room(arena, (n + 1) * sizeof *m->order);
	if (!keys || !m->order)
		return ht_fail_nomem(pf->ctx);
	for (uint32_t i = 0; i < n; i++) {
		const struct ht_pf_record *r = &m->records[i];
		if (pf->is_own ? r->number < 0 : r->type == HT_PF_END)
			continue;
		if (!pf->is_own && (r->clock == HT_NONE || r->track == HT_NONE ||
		                           (!r->type && !r->is_stage && !r->phase))) {
			ht_pf_count(pf, HT_STAT_packet_lost);
			continue;
		}
		keys[m->n] = pf->is_own ? (uint64_t)r->number : i;
		m->order[m->n++] = i;
	}
	bool ok = ht_sort_keys(pf->ctx->mem, keys, m->order, m->n);
	if (pf->n_documents > 1) {
		/* rows of a document are together, whatever their numbers say */
		for (size_t i = 0; i < m->n; i++)
			keys[i] = document_of(m, &m->records[m->order[i]]);
		ok = ok && ht_sort_keys(pf->ctx->mem, keys, m->order, m->n);
	}
	return ok ? HT_OK : ht_fail_nomem(pf->ctx);
}

static void find_words(struct making *m)
{
	const struct {
		uint32_t *to;
		const char *text;
	} words[] = { { &m->name_key, "name" }, { &m->flow_cat, "flow" },
		{ &m->launch_cat, "ac2g" }, { &m->kernel, "kernel" }, { &m->memcpy_, "gpu_memcpy" },
		{ &m->memset_, "gpu_memset" }, { &m->runtime, "cuda_runtime" },
		{ &m->grid, "grid" }, { &m->cbid, "cbid" }, { &m->correlation, "correlation" },
		{ &m->device, "device" }, { &m->stream, "stream" }, { &m->corr_id, "corr_id" },
		{ &m->process_name, "process_name" }, { &m->thread_name, "thread_name" } };
	for (size_t i = 0; i < HT_COUNT(words); i++)
		*words[i].to = ht_rows_text(m->rows, words[i].text, strlen(words[i].text));
}

static enum ht_status put_rows(struct making *m)
{
	struct ht_pf *pf = m->pf;
	if (!pf->is_own) {
		find_words(m);
		for (uint32_t i = 0; i < pf->tracks.n; i++)
			resolve(m, ht_pf_line(pf, i));
		ht_pf_tree_apply(pf);
		HT_TRY(name_tracks(m));
	}
	for (size_t i = 0; i < m->n; i++) {
		const struct ht_pf_record *r = &m->records[m->order[i]];
		if (pf->is_own && r->layout == HT_NONE) {
			ht_pf_count(pf, HT_STAT_packet_lost);
			continue;
		}
		HT_TRY(pf->is_own ? put_own_row(m, m->order[i]) : put_row(m, m->order[i]));
	}
	if (!pf->is_own)
		HT_TRY(put_arrows(m));
	if (pf->n_documents > 1)
		ht_chunk_stat(&pf->builder->all, HT_STAT_concatenated_documents, -1,
		        pf->n_documents - 1u);
	return pf->failed ? ht_fail_nomem(pf->ctx) : HT_OK;
}

enum ht_status ht_pf_make_rows(struct ht_pf *pf)
{
	struct making m = { .pf = pf, .rows = &pf->rows, .records = pf->records.data };
	struct ht_arena arena;
	HT_TRY(ht_pf_join_clocks(pf));
	if (pf->records.n >= HT_NONE)
		return ht_fail(pf->ctx, HT_LIMIT, pf->builder->path, -1,
		        "split the capture into shorter windows", "too many events in one trace");
	ht_arena_init(&arena, pf->ctx->mem);
	m.times = ht_arena_room(&arena, (pf->records.n + 1) * sizeof *m.times);
	m.seen = ht_arena_alloc(&arena, HT_MAX_COLUMNS * sizeof *m.seen);
	enum ht_status status = m.times && m.seen ? HT_OK : ht_fail_nomem(pf->ctx);
	if (status == HT_OK) {
		convert_times(&m);
		status = pair_ends(&m, &arena);
	}
	if (status == HT_OK)
		status = order_rows(&m, &arena);
	if (status == HT_OK)
		status = put_rows(&m);
	ht_arena_done(&arena);
	return status;
}
