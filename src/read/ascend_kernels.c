/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_kernels.c - the reader of kernel_details.csv: one row per task of an NPU, with shapes and counters.
 *
 * When the rank's timeline was read before, its tasks are there already: a row adds its columns as args to the task of
 * the same name that starts at the same time. The timeline rounds starts of communication to whole nanoseconds in
 * another way, so a difference of up to a microsecond is none. Rows without such a task become tasks of their own,
 * as all do when there is no timeline: spans of category "kernel" on the device and stream that the row names.
 */
#include "read/ascend.h"

#include "base/checked.h"
#include "base/free_places.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/search.h"

#include <stdlib.h>

#define NEAR_NS 1000

static const char *const name_names[] = { "Name", "kernel_name", "Op Name", NULL };
static const char *const start_names[] = { "Start Time(us)", "Start Time", "Task Start Time(us)",
	NULL };
static const char *const duration_names[] = { "Duration(us)", "Duration", "Task Duration(us)",
	NULL };
static const char *const stream_names[] = { "Stream ID", NULL };
static const char *const device_names[] = { "Device_id", NULL };

static const char *const own_args[] = { "device", "stream", NULL };
enum { OWN_DEVICE, OWN_STREAM };

/* A task of the timeline. */
struct task {
	uint32_t name, row;
	int64_t ts_ns;
};

struct reading {
	struct ht_builder *builder;
	struct ht_rows rows;
	struct ht_ascend_plan plan;
	bool has_plan;
	size_t name, start, duration, stream, device;
	uint32_t category, stream_column, device_column;
	/* when all rows are tasks of their own; NULL: some may not be */
	struct ht_ascend_cells *cells;
	bool packs;
	struct task *tasks; /* by name, then time */
	size_t n_tasks;
	void *free_room;
	struct ht_free_places free; /* tasks that no row has */
};

static int compare_tasks(const void *x, const void *y)
{
	const struct task *a = x, *b = y;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* The spans of the timeline without a category: tasks, and others that no row is named like. */
static enum ht_status list_tasks(struct reading *r)
{
	struct ht_builder *builder = r->builder;
	const struct ht_chunk *all = &builder->all;
	const struct ht_text *categories = builder->categories.texts.data;
	if (!all->n)
		return HT_OK;
	r->tasks = ht_mem_alloc(builder->mem, all->n * sizeof *r->tasks);
	r->free_room = ht_mem_alloc(builder->mem, ht_free_places_bytes(all->n));
	if (!r->tasks || !r->free_room)
		return ht_fail_nomem(builder->ctx);
	for (uint32_t row = 0; row < all->n; row++) {
		uint32_t category;
		memcpy(&category, categories[all->cat[row]].bytes, sizeof category);
		if ((all->flags[row] & HT_EV_SPAN) && category == HT_NO_STR)
			r->tasks[r->n_tasks++] = (struct task){
				.name = all->name[row], .row = row, .ts_ns = all->ts_ns[row]
			};
	}
	qsort(r->tasks, r->n_tasks, sizeof *r->tasks, compare_tasks);
	r->free = ht_free_places(r->free_room, r->n_tasks);
	return HT_OK;
}

/* The place, counted from 1, of the first task of a name from a time on. */
static uint32_t place_of(const struct reading *r, uint32_t name, int64_t ts_ns)
{
	return 1 + (uint32_t)HT_LOWER_BOUND(i, r->n_tasks,
	                   r->tasks[i].name < name ||
	                           (r->tasks[i].name == name && r->tasks[i].ts_ns < ts_ns));
}

/* The task of a place when it has that name and is near; NULL. */
static const struct task *near_task(
        const struct reading *r, uint32_t place, uint32_t name, int64_t ts_ns)
{
	const struct task *task = r->tasks + place - 1;
	return place && place <= r->n_tasks && task->name == name &&
	                       task->ts_ns >= ht_sub_sat(ts_ns, NEAR_NS) &&
	                       task->ts_ns <= ht_add_sat(ts_ns, NEAR_NS)
	               ? task
	               : NULL;
}

/* The free task of that name nearest to a time, of several the first; NULL when none is near. */
static const struct task *find_task(struct reading *r, uint32_t name, int64_t ts_ns)
{
	uint32_t place = place_of(r, name, ts_ns);
	const struct task *behind = near_task(r, ht_free_behind(&r->free, place), name, ts_ns);
	const struct task *before = near_task(r, ht_free_before(&r->free, place - 1), name, ts_ns);
	if (before)
		before = near_task(
		        r, ht_free_behind(&r->free, place_of(r, name, before->ts_ns)), name, ts_ns);
	if (!before || !behind)
		return before ? before : behind;
	return behind->ts_ns - ts_ns < ts_ns - before->ts_ns ? behind : before;
}

static enum ht_status begin(void *user, const struct ht_csv *header)
{
	struct reading *r = user;
	HT_TRY(ht_ascend_plan_make(header, &r->plan));
	r->has_plan = true;
	r->name = ht_ascend_take(&r->plan, header, name_names);
	r->start = ht_ascend_take(&r->plan, header, start_names);
	r->duration = ht_ascend_take(&r->plan, header, duration_names);
	r->stream = ht_ascend_take(&r->plan, header, stream_names);
	r->device = ht_ascend_take(&r->plan, header, device_names);
	if (r->name == SIZE_MAX || r->start == SIZE_MAX || r->duration == SIZE_MAX)
		return ht_fail(header->ctx, HT_FORMAT, header->path, 0, NULL,
		        "the table has no columns for name, start and duration");
	r->category = ht_rows_text(&r->rows, "kernel", 6);
	r->stream_column = ht_rows_column(&r->rows, "stream", 6, HT_ARG_I64);
	r->device_column = ht_rows_column(&r->rows, "device", 6, HT_ARG_I64);
	HT_TRY(list_tasks(r));
	enum ht_status status = HT_OK;
	if (!r->n_tasks)
		r->cells = ht_ascend_cells_make(&r->plan, &r->rows, own_args, r->name, &status);
	r->packs = r->cells != NULL;
	return status;
}

/* Times of the rows of a batch. */
struct times {
	int64_t ts_ns[HT_CSV_ROWS], dur_ns[HT_CSV_ROWS];
};

/* The form that stamps have: digits, three of them behind a point, and mostly a tab. */
static inline bool read_stamp(struct ht_csv_rows *rows, size_t column, size_t row, int64_t *ret_ns)
{
	const uint32_t *stop = rows->stops + row * rows->n_columns + column;
	const char *start = rows->text + (uint32_t)(stop[-1] + 1), *end = rows->text + *stop;
	uint8_t n_fraction;
	if (ht_time_plain(start, ret_ns, &n_fraction) == end - (end[-1] == '\t'))
		return true;
	struct ht_csv_cell cell = ht_csv_rows_cell(rows, column, row);
	return ht_ascend_time(&cell, ret_ns);
}

static bool take_times(
        struct reading *r, struct ht_csv_rows *rows, size_t i, struct times *times, size_t to)
{
	if (ht_csv_rows_cell(rows, r->name, i).n &&
	        read_stamp(rows, r->start, i, &times->ts_ns[to]) &&
	        read_stamp(rows, r->duration, i, &times->dur_ns[to]))
		return true;
	ht_ascend_lose_row(r->builder, rows->is_cut, ht_csv_rows_offset(rows, i));
	return false;
}

/* The devices or streams of rows, which are args of them, too; none: what is said instead. */
static void take_extra(struct reading *r, struct ht_csv_rows *rows, size_t column, size_t extra,
        int64_t none, int64_t *ret_values)
{
	if (column != SIZE_MAX)
		ht_ascend_cells_extra(r->cells, extra, rows, column, none, ret_values);
	for (size_t i = 0; column == SIZE_MAX && i < rows->n; i++)
		ret_values[i] = none;
}

static enum ht_status put_tasks(
        struct reading *r, struct ht_csv_rows *rows, const struct times *times)
{
	int64_t devices[HT_CSV_ROWS], streams[HT_CSV_ROWS];
	uint32_t names[HT_CSV_ROWS];
	struct ht_spans spans = { rows->n, r->category, names, devices, streams, times->ts_ns,
		times->dur_ns };
	ht_ascend_cells_put(r->cells, rows, names);
	take_extra(r, rows, r->device, OWN_DEVICE, 0, devices);
	take_extra(r, rows, r->stream, OWN_STREAM, -1, streams);
	return rows->out_of_memory ? ht_fail_nomem(rows->ctx)
	                           : ht_ascend_cells_end(r->cells, rows, &spans);
}

/* Rows that are tasks of their own, with their args in packed columns; those without name and times are lost. */
static enum ht_status put_rows(void *user, struct ht_csv_rows *rows)
{
	struct reading *r = user;
	struct times times;
	for (size_t first = 0, n; first < rows->n; first += n + 1) {
		for (n = 0; first + n < rows->n && take_times(r, rows, first + n, &times, n);)
			n++;
		if (!n)
			continue;
		struct ht_csv_rows good = ht_csv_rows_slice(rows, first, n);
		HT_TRY(put_tasks(r, &good, &times));
	}
	return rows->out_of_memory ? ht_fail_nomem(rows->ctx) : HT_OK;
}

static enum ht_status put(void *user, const struct ht_csv *row)
{
	struct reading *r = user;
	const struct ht_csv_cell *cells = row->cells;
	int64_t ts_ns, dur_ns, stream = -1, device = 0;
	if (!cells[r->name].n || !ht_ascend_time(&cells[r->start], &ts_ns) ||
	        !ht_ascend_time(&cells[r->duration], &dur_ns)) {
		ht_ascend_lose_row(r->builder, row->is_cut, row->offset);
		return HT_OK;
	}
	uint32_t name = ht_rows_text(&r->rows, cells[r->name].text, cells[r->name].n);
	const struct task *task = r->n_tasks ? find_task(r, name, ts_ns) : NULL;
	bool has_stream = r->stream != SIZE_MAX && ht_ascend_i64(&cells[r->stream], &stream);
	bool has_device = r->device != SIZE_MAX && ht_ascend_i64(&cells[r->device], &device);
	if (task) {
		ht_free_take(&r->free, (uint32_t)(task - r->tasks) + 1);
		ht_row_extend(&r->rows, task->row);
	} else {
		ht_row_begin(&r->rows, 'X', r->category, name);
		ht_row_process(&r->rows, device, stream);
		ht_row_time(&r->rows, ts_ns);
		ht_row_duration(&r->rows, dur_ns);
		if (r->n_tasks)
			ht_chunk_stat(&r->builder->all, HT_STAT_unmatched_kernels, row->offset, 1);
	}
	if (has_device)
		ht_row_put(&r->rows, r->device_column, (uint64_t)device);
	if (has_stream)
		ht_row_put(&r->rows, r->stream_column, (uint64_t)stream);
	ht_ascend_put_rest(&r->plan, row, &r->rows);
	return ht_row_end(&r->rows, row->offset);
}

static bool sniff(const struct ht_head *head)
{
	static const char *const columns[] = { "Name", "Duration(us)", "Accelerator Core", NULL };
	return ht_ascend_header_has(head, columns);
}

static enum ht_status read_kernels(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct reading r = { .builder = builder };
	struct ht_ascend_table table = { begin, put, &r, put_rows, &r.packs };
	size_t n_before = builder->all.n;
	ht_rows_init(&r.rows, builder);
	enum ht_status status = ht_ascend_read_table(builder, reading, &table);
	ht_ascend_cells_done(r.cells);
	ht_rows_done(&r.rows);
	ht_mem_free(builder->mem, r.tasks, n_before * sizeof *r.tasks);
	if (r.free_room)
		ht_mem_free(builder->mem, r.free_room, ht_free_places_bytes(n_before));
	if (r.has_plan)
		ht_ascend_plan_done(&r.plan);
	builder->n_documents++;
	return status;
}

const struct ht_reader ht_reader_ascend_kernels = {
	.name = "ascend-kernels",
	.what = "kernel details of Ascend",
	.by_name_only = true,
	.sniff = sniff,
	.read = read_kernels,
};
