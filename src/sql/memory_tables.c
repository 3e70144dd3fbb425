/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_tables.c - memory snapshots as tables: mem_segment, mem_block, mem_event, mem_stack, mem_annotation.
 *
 * The columns of the store as they are: sizes as recorded, times in Unix ns. What follows from them is memory_snapshot's.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/memory_tables.h"

#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

#define SEGMENT_COLUMNS(COLUMN)                                                                    \
	COLUMN(SEGMENT_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                 \
	COLUMN(SEGMENT_ID, "segment_id", HT_I64, HT_KEY, "number of the segment", NULL)            \
	COLUMN(SEGMENT_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                 \
	COLUMN(SEGMENT_ADDRESS, "address", HT_U64, HT_MEASURE, "where it begins", NULL)            \
	COLUMN(SEGMENT_TOTAL, "total_bytes", HT_BYTES, HT_MEASURE, "reserved", NULL)               \
	COLUMN(SEGMENT_ALLOCATED, "allocated_bytes", HT_BYTES, HT_MEASURE, "in tensors", NULL)     \
	COLUMN(SEGMENT_ACTIVE, "active_bytes", HT_BYTES, HT_MEASURE, "not in the pool", NULL)      \
	COLUMN(SEGMENT_REQUESTED, "requested_bytes", HT_BYTES, HT_MEASURE, "asked for", NULL)      \
	COLUMN(SEGMENT_STREAM, "stream", HT_I64, HT_MEASURE, "stream", NULL)                       \
	COLUMN(SEGMENT_POOL_A, "pool_a", HT_I64, HT_MEASURE, "first number of the pool id", NULL)  \
	COLUMN(SEGMENT_POOL_B, "pool_b", HT_I64, HT_MEASURE, "second number of the pool id", NULL) \
	COLUMN(SEGMENT_TYPE, "type", HT_STR, HT_MEASURE, "small or large", NULL)                   \
	COLUMN(SEGMENT_EXPANDABLE, "is_expandable", HT_BOOL, HT_MEASURE, "whether it grows", NULL) \
	COLUMN(SEGMENT_STACK, "stack_id", HT_I64, HT_MEASURE, "stack that took it", NULL)
HT_COLUMNS(segment_columns, SEGMENT_COLUMNS);

#define BLOCK_COLUMNS(COLUMN)                                                                      \
	COLUMN(BLOCK_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(BLOCK_SEGMENT, "segment_id", HT_I64, HT_KEY, "its segment", NULL)                   \
	COLUMN(BLOCK_ADDRESS, "address", HT_U64, HT_KEY, "where it begins", NULL)                  \
	COLUMN(BLOCK_SIZE, "bytes", HT_BYTES, HT_MEASURE, "its size", NULL)                        \
	COLUMN(BLOCK_REQUESTED, "requested_bytes", HT_BYTES, HT_MEASURE,                           \
	        "asked for; of free blocks what was asked for last", NULL)                         \
	COLUMN(BLOCK_STATE, "state", HT_STR, HT_MEASURE,                                           \
	        "active_allocated, active_pending_free or inactive", NULL)                         \
	COLUMN(BLOCK_STACK, "stack_id", HT_I64, HT_MEASURE, "stack that allocated it", NULL)
HT_COLUMNS(block_columns, BLOCK_COLUMNS);

#define EVENT_COLUMNS(COLUMN)                                                                      \
	COLUMN(EVENT_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(EVENT_ID, "event_id", HT_I64, HT_KEY, "number of the event in the file", NULL)      \
	COLUMN(EVENT_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                   \
	COLUMN(EVENT_ACTION, "action", HT_STR, HT_MEASURE, "what the allocator did", NULL)         \
	COLUMN(EVENT_ADDRESS, "address", HT_U64, HT_MEASURE,                                       \
	        "of the block or segment; of an oom what the driver had free", NULL)               \
	COLUMN(EVENT_SIZE, "bytes", HT_BYTES, HT_MEASURE, "asked for; of segments, reserved",      \
	        NULL)                                                                              \
	COLUMN(EVENT_STREAM, "stream", HT_I64, HT_MEASURE, "stream", NULL)                         \
	COLUMN(EVENT_TIME, "unix_ns", HT_I64, HT_MEASURE, "Unix time", "ns")                       \
	COLUMN(EVENT_STACK, "stack_id", HT_I64, HT_MEASURE, "stack that asked", NULL)              \
	COLUMN(EVENT_CONTEXT, "compile_context", HT_STR, HT_MEASURE, "id of the compiled graph",   \
	        NULL)                                                                              \
	COLUMN(EVENT_METADATA, "user_metadata", HT_STR, HT_MEASURE, "that the user set", NULL)     \
	COLUMN(EVENT_CATEGORY, "category", HT_STR, HT_MEASURE, "as recorded", NULL)
HT_COLUMNS(event_columns, EVENT_COLUMNS);

#define STACK_COLUMNS(COLUMN)                                                                      \
	COLUMN(STACK_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(STACK_ID, "stack_id", HT_I64, HT_KEY, "number of the stack", NULL)                  \
	COLUMN(STACK_DEPTH, "depth", HT_I64, HT_KEY, "place of the frame, the innermost is 0",     \
	        NULL)                                                                              \
	COLUMN(STACK_FILE, "file", HT_STR, HT_MEASURE, "its file", NULL)                           \
	COLUMN(STACK_LINE, "line", HT_I64, HT_MEASURE, "its line", NULL)                           \
	COLUMN(STACK_FUNC, "func", HT_STR, HT_MEASURE, "its function", NULL)
HT_COLUMNS(stack_columns, STACK_COLUMNS);

#define NOTE_COLUMNS(COLUMN)                                                                       \
	COLUMN(NOTE_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                    \
	COLUMN(NOTE_NAME, "name", HT_STR, HT_KEY, "name of the annotation", NULL)                  \
	COLUMN(NOTE_STAGE, "stage", HT_STR, HT_KEY, "START or END", NULL)                          \
	COLUMN(NOTE_DEVICE, "device", HT_I64, HT_MEASURE, "index of the GPU", NULL)                \
	COLUMN(NOTE_TIME, "unix_ns", HT_I64, HT_MEASURE, "Unix time", "ns")
HT_COLUMNS(note_columns, NOTE_COLUMNS);

static void put_text(ht_table *table, size_t column, const struct ht_trace *t, uint32_t id)
{
	ht_table_put_str(table, column, id == HT_NO_STR ? NULL : ht_str(t, id));
}

static void put_stack_id(ht_table *table, size_t column, uint32_t stack)
{
	ht_table_put_known(
	        table, column, stack == HT_MEM_NO_STACK ? HT_NO_I64 : (int64_t)stack, HT_NO_I64);
}

static void put_segments(const struct ht_trace *t, int64_t rank, ht_table *table)
{
	for (size_t i = 0; i < t->more->n_mem_segments; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[i];
		ht_table_row(table);
		ht_table_put_i64(table, SEGMENT_RANK, rank);
		ht_table_put_i64(table, SEGMENT_ID, (int64_t)i);
		ht_table_put_i64(table, SEGMENT_DEVICE, g->device);
		ht_table_put_i64(table, SEGMENT_ADDRESS, (int64_t)g->addr);
		ht_table_put_i64(table, SEGMENT_TOTAL, g->total);
		ht_table_put_i64(table, SEGMENT_ALLOCATED, g->allocated);
		ht_table_put_i64(table, SEGMENT_ACTIVE, g->active);
		ht_table_put_i64(table, SEGMENT_REQUESTED, g->requested);
		ht_table_put_i64(table, SEGMENT_STREAM, g->stream);
		ht_table_put_i64(table, SEGMENT_POOL_A, g->pool[0]);
		ht_table_put_i64(table, SEGMENT_POOL_B, g->pool[1]);
		ht_table_put_str(table, SEGMENT_TYPE,
		        g->type == HT_MEM_SMALL   ? "small"
		        : g->type == HT_MEM_LARGE ? "large"
		                                  : NULL);
		ht_table_put_i64(table, SEGMENT_EXPANDABLE, g->is_expandable);
		put_stack_id(table, SEGMENT_STACK, g->stack);
	}
}

static void put_blocks(const struct ht_trace *t, int64_t rank, ht_table *table)
{
	for (size_t i = 0; i < t->more->n_mem_blocks; i++) {
		const struct ht_mem_block *b = &t->more->mem_blocks[i];
		ht_table_row(table);
		ht_table_put_i64(table, BLOCK_RANK, rank);
		ht_table_put_i64(table, BLOCK_SEGMENT, b->segment);
		ht_table_put_i64(table, BLOCK_ADDRESS, (int64_t)b->addr);
		ht_table_put_i64(table, BLOCK_SIZE, b->size);
		ht_table_put_i64(table, BLOCK_REQUESTED, b->requested);
		ht_table_put_str(
		        table, BLOCK_STATE, ht_mem_state_name((enum ht_mem_state)b->state));
		put_stack_id(table, BLOCK_STACK, b->stack);
	}
}

static void put_events(const struct ht_trace *t, int64_t rank, ht_table *table)
{
	for (size_t i = 0; i < t->more->n_mem_events; i++) {
		const struct ht_mem_event *e = &t->more->mem_events[i];
		ht_table_row(table);
		ht_table_put_i64(table, EVENT_RANK, rank);
		ht_table_put_i64(table, EVENT_ID, (int64_t)i);
		ht_table_put_i64(table, EVENT_DEVICE, e->device);
		ht_table_put_str(
		        table, EVENT_ACTION, ht_mem_action_name((enum ht_mem_action)e->action));
		ht_table_put_i64(table, EVENT_ADDRESS, (int64_t)e->addr);
		ht_table_put_i64(table, EVENT_SIZE, e->size);
		ht_table_put_i64(table, EVENT_STREAM, e->stream);
		ht_table_put_known(table, EVENT_TIME, e->time_ns, HT_NO_I64);
		put_stack_id(table, EVENT_STACK, e->stack);
		put_text(table, EVENT_CONTEXT, t, e->context);
		put_text(table, EVENT_METADATA, t, e->metadata);
		put_text(table, EVENT_CATEGORY, t, e->category);
	}
}

static void put_stacks(const struct ht_trace *t, int64_t rank, ht_table *table)
{
	for (size_t i = 0; i + 1 < t->more->n_mem_stack_offsets; i++) {
		uint32_t first = t->more->mem_stack_offsets[i],
		         end = t->more->mem_stack_offsets[i + 1];
		for (uint32_t k = first; k < end; k++) {
			const struct ht_mem_frame *f =
			        &t->more->mem_frames[t->more->mem_stack_frames[k]];
			ht_table_row(table);
			ht_table_put_i64(table, STACK_RANK, rank);
			ht_table_put_i64(table, STACK_ID, (int64_t)i);
			ht_table_put_i64(table, STACK_DEPTH, k - first);
			put_text(table, STACK_FILE, t, f->file);
			ht_table_put_i64(table, STACK_LINE, f->line);
			put_text(table, STACK_FUNC, t, f->name);
		}
	}
}

static void put_annotations(const struct ht_trace *t, int64_t rank, ht_table *table)
{
	for (size_t i = 0; i < t->more->n_mem_annotations; i++) {
		const struct ht_mem_annotation *a = &t->more->mem_annotations[i];
		ht_table_row(table);
		ht_table_put_i64(table, NOTE_RANK, rank);
		put_text(table, NOTE_NAME, t, a->name);
		ht_table_put_str(table, NOTE_STAGE, a->is_end ? "END" : "START");
		ht_table_put_i64(table, NOTE_DEVICE, a->device);
		ht_table_put_known(table, NOTE_TIME, a->time_ns, HT_NO_I64);
	}
}

typedef void (*put_fn)(const struct ht_trace *t, int64_t rank, ht_table *table);

static enum ht_status fill(struct ht_sql_session *s, ht_table *table, put_fn put)
{
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct ht_trace *t;
		if (ht_sql_take(s, i, &t) != SQLITE_OK)
			return s->failed;
		put(t, s->set->roster.ranks[i].number, table);
	}
	return HT_OK;
}

static enum ht_status fill_segments(struct ht_sql_session *s, ht_table *table)
{
	return fill(s, table, put_segments);
}

static enum ht_status fill_blocks(struct ht_sql_session *s, ht_table *table)
{
	return fill(s, table, put_blocks);
}

static enum ht_status fill_events(struct ht_sql_session *s, ht_table *table)
{
	return fill(s, table, put_events);
}

static enum ht_status fill_stacks(struct ht_sql_session *s, ht_table *table)
{
	return fill(s, table, put_stacks);
}

static enum ht_status fill_annotations(struct ht_sql_session *s, ht_table *table)
{
	return fill(s, table, put_annotations);
}

const struct ht_sql_small ht_sql_memory_tables[HT_SQL_N_MEMORY] = {
	{ { "mem_segment", "segments of memory snapshots", segment_columns,
	          HT_COUNT(segment_columns) },
	        fill_segments },
	{ { "mem_block", "blocks of memory snapshots", block_columns, HT_COUNT(block_columns) },
	        fill_blocks },
	{ { "mem_event", "events of memory snapshots", event_columns, HT_COUNT(event_columns) },
	        fill_events },
	{ { "mem_stack", "frames of the stacks of memory snapshots", stack_columns,
	          HT_COUNT(stack_columns) },
	        fill_stacks },
	{ { "mem_annotation", "annotations of memory snapshots", note_columns,
	          HT_COUNT(note_columns) },
	        fill_annotations },
};

#endif
