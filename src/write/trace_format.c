/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format.c - see format.h: the list of formats, and the values of rows as all of them write them.
 */
#include "write/trace_format.h"

#include "base/text_compare.h"
#include "store/shape.h"

#include <stdio.h>

static const struct ht_trace_format *const formats[] = {
#define FORMAT(x) &ht_format_##x,
#include "write/formats.def"
#undef FORMAT
};

const struct ht_trace_format *ht_format_of(const char *path)
{
	size_t n = strlen(path);
	if (ht_text_ends(path, ".gz"))
		n -= 3;
	else if (ht_text_ends(path, ".zst"))
		n -= 4;
	for (size_t i = 0; i + 1 < HT_COUNT(formats); i++) {
		size_t n_ending = strlen(formats[i]->ending);
		if (n >= n_ending && !memcmp(path + n - n_ending, formats[i]->ending, n_ending))
			return formats[i];
	}
	return formats[HT_COUNT(formats) - 1];
}

/* ---- one trace ---- */

static uint8_t role_of(const struct ht_trace *t, const struct ht_arg_column *column)
{
	static const struct {
		const char *key;
		uint8_t top_level, role;
	} roles[] = { { "id", 1, HT_MERGE_FLOW_ID }, { "correlation", 0, HT_MERGE_LINK_ID },
		{ "External id", 0, HT_MERGE_LINK_ID }, { "external id", 0, HT_MERGE_LINK_ID },
		{ "Record function id", 0, HT_MERGE_LINK_ID }, { "Ev Idx", 0, HT_MERGE_FRAME_ID },
		{ "wait_on_cuda_event_record_corr_id", 0, HT_MERGE_LINK_ID },
		{ "Python id", 0, HT_MERGE_FRAME_ID }, { "Python parent id", 0, HT_MERGE_FRAME_ID },
		{ "name", 0, HT_MERGE_PROCESS_NAME }, { "labels", 0, HT_MERGE_PROCESS_LABELS },
		{ "sort_index", 0, HT_MERGE_SORT_INDEX } };
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		if (column->top_level == roles[i].top_level &&
		        !strcmp(ht_str(t, column->key), roles[i].key))
			return roles[i].role;
	return HT_MERGE_PLAIN;
}

enum ht_status ht_trace_out_init(struct ht_trace_out *out)
{
	const struct ht_trace *t = out->trace;
	out->walk = NULL;
	out->text = (struct ht_vec){ 0 };
	out->process_name = ht_str_find(t, "process_name");
	out->process_labels = ht_str_find(t, "process_labels");
	out->process_sort_index = ht_str_find(t, "process_sort_index");
	ht_arena_init(&out->arena, out->ctx->mem);
	out->roles = ht_arena_alloc(&out->arena, t->n_arg_columns + 1);
	struct ht_row_walk *walk = ht_arena_alloc(&out->arena, sizeof *walk);
	if (!out->roles || !walk)
		return ht_fail_nomem(out->ctx);
	for (size_t i = 0; out->pids && i < t->n_arg_columns; i++)
		out->roles[i] = role_of(t, &t->arg_columns[i]);
	HT_TRY(ht_row_walk_init(out->ctx, t, walk));
	out->walk = walk;
	return HT_OK;
}

void ht_trace_out_done(struct ht_trace_out *out)
{
	if (out->walk)
		ht_row_walk_done(out->ctx, out->walk);
	out->walk = NULL;
	ht_vec_free(out->ctx->mem, &out->text, 1);
	ht_arena_done(&out->arena);
}

bool ht_trace_out_keeps(const struct ht_trace_out *out, uint32_t row)
{
	const struct ht_write_extras *extras = out->extras;
	if (out->filter && !ht_row_filter_keeps(out->filter, row))
		return false;
	return !extras || !extras->keep_row || out->trace->kind[row] == HT_KIND_METADATA ||
	       extras->keep_row(extras->user, out->i_trace, row);
}

/* ---- values ---- */

static void set_i64(struct ht_cell *cell, int64_t value)
{
	*cell = (struct ht_cell){ .type = HT_ARG_I64, .i64 = value };
}

static void set_str(const struct ht_trace *t, struct ht_cell *cell, uint8_t type, uint32_t id)
{
	*cell = (struct ht_cell){
		.type = type, .text = ht_str(t, id), .n = ht_str_len(t, id), .id = id
	};
}

/* "rank R" and more, then the text, which may have zeros. */
static void set_composed(struct ht_trace_out *out, struct ht_cell *cell, const char *before,
        const char *text, size_t n)
{
	size_t n_before = strlen(before);
	out->text.n = 0;
	*cell = (struct ht_cell){ .type = HT_ARG_STR, .text = "", .id = HT_NO_STR };
	if (!ht_vec_reserve(out->ctx->mem, &out->text, 1, n_before + n + 1)) {
		out->emit->status = ht_fail_nomem(out->ctx);
		return;
	}
	char *to = out->text.data;
	memcpy(to, before, n_before);
	memcpy(to + n_before, text, n);
	cell->text = to;
	cell->n = n_before + n;
}

static void set_ranked(struct ht_trace_out *out, struct ht_cell *cell, const char *text, size_t n)
{
	char before[48];
	snprintf(before, sizeof before, "rank %lld ", (long long)out->pids->rank);
	set_composed(out, cell, before, text, n);
}

/* "rank R pid P: NAME", so that the process can be found again. */
static void set_process_name(struct ht_trace_out *out, struct ht_cell *cell, uint32_t i_track,
        const char *name, size_t n)
{
	const struct ht_track *track = &out->trace->tracks[i_track];
	char before[80];
	if (track->pid_type == HT_ID_INT)
		snprintf(before, sizeof before, "rank %lld pid %lld: ", (long long)out->pids->rank,
		        (long long)track->pid);
	else
		snprintf(before, sizeof before, "rank %lld: ", (long long)out->pids->rank);
	set_composed(out, cell, before, name, n);
}

static void set_id(const struct ht_trace *t, struct ht_cell *cell, uint8_t type, int64_t value)
{
	if (type == HT_ID_STR)
		set_str(t, cell, HT_ARG_STR, (uint32_t)value);
	else if (type == HT_ID_INT)
		set_i64(cell, value);
	else
		*cell = (struct ht_cell){ .type = HT_ARG_NULL };
}

void ht_pid_cell(struct ht_trace_out *out, uint32_t i_track, struct ht_cell *cell)
{
	const struct ht_track *track = &out->trace->tracks[i_track];
	if (!out->pids || out->pids->of_track[i_track] == HT_NONE) {
		set_id(out->trace, cell, track->pid_type, track->pid);
	} else if (track->pid_type == HT_ID_STR) {
		uint32_t id = (uint32_t)track->pid;
		set_ranked(out, cell, ht_str(out->trace, id), ht_str_len(out->trace, id));
	} else {
		const struct ht_pid *list = out->pids->list.data;
		set_i64(cell, out->pids->first + list[out->pids->of_track[i_track]].number);
	}
}

void ht_tid_cell(struct ht_trace_out *out, uint32_t i_track, struct ht_cell *cell)
{
	const struct ht_track *track = &out->trace->tracks[i_track];
	set_id(out->trace, cell, track->tid_type, track->tid);
}

/* Distinct per trace, and below 2^53 for readers that go through doubles. */
int64_t ht_moved_id(const struct ht_trace_out *out, int64_t id)
{
	bool fits = out->pids && id >= 0 && id < (int64_t)1 << 40 && out->pids->i_trace < 1 << 13;
	return fits ? id + (int64_t)(out->pids->i_trace << 40) : id;
}

bool ht_merged_cell(struct ht_trace_out *out, uint32_t row, uint32_t i_column, uint64_t at,
        struct ht_cell *cell)
{
	const struct ht_trace *t = out->trace;
	const struct ht_arg_column *column = &t->arg_columns[i_column];
	uint8_t role = out->roles[i_column];
	bool is_text = column->type == HT_ARG_STR, is_integer = column->type == HT_ARG_I64;
	bool is_metadata = t->ph[row] == 'M' && t->name[row] != HT_NO_STR;
	if (!is_text && !is_integer)
		return false;
	int64_t value = ht_arg_i64_at(t, column, at);
	const char *text = is_text ? ht_str(t, (uint32_t)value) : "";
	size_t n = is_text ? ht_str_len(t, (uint32_t)value) : 0;
	/* of what links calls with work 0 is none, of frames and what is counted it is the first */
	if ((role == HT_MERGE_FLOW_ID || role == HT_MERGE_FRAME_ID ||
	            (role == HT_MERGE_LINK_ID && value > 0)) &&
	        is_integer)
		set_i64(cell, ht_moved_id(out, value));
	else if (role == HT_MERGE_FLOW_ID)
		set_ranked(out, cell, text, n);
	else if (role == HT_MERGE_PROCESS_NAME && is_text && is_metadata &&
	         t->name[row] == out->process_name)
		set_process_name(out, cell, t->track[row], text, n);
	else if (role == HT_MERGE_PROCESS_LABELS && is_text && is_metadata &&
	         t->name[row] == out->process_labels)
		set_ranked(out, cell, text, n);
	else if (role == HT_MERGE_SORT_INDEX && is_integer && is_metadata &&
	         t->name[row] == out->process_sort_index &&
	         t->tracks[t->track[row]].pid_type == HT_ID_INT)
		ht_pid_cell(out, t->track[row], cell);
	else
		return false;
	return true;
}

void ht_row_cell(struct ht_trace_out *out, uint32_t row, uint32_t i_column, struct ht_cell *cell)
{
	const struct ht_trace *t = out->trace;
	const struct ht_arg_column *column = &t->arg_columns[i_column];
	uint64_t at;
	*cell = (struct ht_cell){ .type = HT_ARG_NULL };
	if (!ht_row_walk_find(out->walk, i_column, row, &at))
		return;
	if (out->roles[i_column] != HT_MERGE_PLAIN && ht_merged_cell(out, row, i_column, at, cell))
		return;
	if (column->type == HT_ARG_STR || column->type == HT_ARG_JSON) {
		set_str(t, cell, column->type, (uint32_t)ht_arg_i64_at(t, column, at));
		return;
	}
	cell->type = column->type;
	if (column->type == HT_ARG_F64)
		cell->f64 = ht_arg_f64_at(t, column, at);
	else if (column->type != HT_ARG_NULL)
		cell->i64 = ht_arg_i64_at(t, column, at);
}

/* ---- added args and events ---- */

void ht_args_i64(struct ht_args_out *args, const char *key, int64_t value)
{
	args->put(args, key, &(struct ht_cell){ .type = HT_ARG_I64, .i64 = value });
}

void ht_args_f64(struct ht_args_out *args, const char *key, double value)
{
	args->put(args, key, &(struct ht_cell){ .type = HT_ARG_F64, .f64 = value });
}

static void put_text(struct ht_args_out *args, const char *key, uint8_t type, const char *text)
{
	args->put(args, key,
	        &(struct ht_cell){
	                .type = type, .text = text, .n = strlen(text), .id = HT_NO_STR });
}

void ht_args_str(struct ht_args_out *args, const char *key, const char *value)
{
	put_text(args, key, HT_ARG_STR, value);
}

void ht_args_json(struct ht_args_out *args, const char *key, const char *json)
{
	put_text(args, key, HT_ARG_JSON, json);
}

void ht_write_event(struct ht_trace_out *out, const struct ht_new_event *event)
{
	out->format->event(out, event);
}

static void name_arg(void *user, struct ht_args_out *args)
{
	ht_args_str(args, "name", user);
}

void ht_name_processes(struct ht_trace_out *out)
{
	const struct ht_pid *list = out->pids ? out->pids->list.data : NULL;
	for (size_t i = 0; list && i < out->pids->list.n; i++) {
		int64_t pid = out->pids->first + list[i].number, tid = 0;
		char name[80];
		if (list[i].has_name || list[i].type != HT_ID_INT)
			continue;
		snprintf(name, sizeof name, "rank %lld pid %lld", (long long)out->pids->rank,
		        (long long)list[i].old);
		ht_write_event(out, &(struct ht_new_event){ .ph = 'M',
		                            .name = "process_name",
		                            .pid = &pid,
		                            .tid = &tid,
		                            .is_placed = true,
		                            .args = name_arg,
		                            .args_user = name });
	}
}
