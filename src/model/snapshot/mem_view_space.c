/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view_space.c - where memory lies: fragmentation, segments, pools and blocks of a snapshot. See mem_view.h.
 */
#include "base/mem.h"
#include "model/snapshot/mem_state.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_view.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- fragmentation ---- */

static void put_ratio(ht_table *table, size_t column, double part, double whole)
{
	if (whole > 0)
		ht_table_put_f64(table, column, part / whole);
	else
		ht_table_put_null(table, column);
}

static void put_pressure(
        struct ht_mem_view *v, const struct ht_mem_device *d, const struct ht_mem_pressure *p)
{
	ht_table *table = v->table;
	bool is_known = p->event != HT_MEM_BEFORE;
	bool is_bad = ht_mem_is_fragmented(p->ratio, p->free, d->peak_reserved);
	ht_table_put_str(table, FRAG_FINDING, is_bad ? "fragmented" : "not fragmented");
	if (!is_known) {
		ht_table_put_nulls(table, FRAG_WORST_RATIO, FRAG_HELP);
	} else {
		ht_table_put_f64(table, FRAG_WORST_RATIO, p->ratio);
		ht_table_put_i64(table, FRAG_WORST_EVENT, p->event - d->first);
		ht_table_put_i64(table, FRAG_WANTED_BYTES,
		        p->segment > p->request ? p->segment : p->request);
		ht_table_put_i64(table, FRAG_FREE_IN_PIECES_BYTES, p->free);
	}
	ht_table_put_str(table, FRAG_HELP,
	        is_bad ? ht_mem_fragmentation_help(v->run->trace->more->mem_about->is_expandable)
	               : NULL);
}

enum ht_status ht_mem_view_fragmentation(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		struct ht_mem_layout state;
		struct ht_mem_pressure worst;
		int64_t event;
		if (!ht_mem_view_moment(v, d, &event))
			continue;
		HT_TRY(ht_mem_layout_at(v->run, v->history, d, event, &state));
		HT_TRY(ht_mem_pressure_find(v->run, v->history, d, &worst));
		struct ht_mem_free f = ht_mem_layout_free(&state, NULL);
		ht_table_row(v->table);
		ht_table_put_i64(v->table, FRAG_RANK, v->run->rank);
		ht_table_put_i64(v->table, FRAG_DEVICE, d->device);
		ht_table_put_i64(v->table, FRAG_RESERVED_BYTES, f.reserved);
		ht_table_put_i64(v->table, FRAG_FREE_BYTES, f.free);
		ht_table_put_i64(v->table, FRAG_LARGEST_FREE_BYTES, f.largest);
		ht_table_put_i64(v->table, FRAG_FREE_RUNS, f.n_runs);
		put_ratio(v->table, FRAG_FRAGMENTATION, f.sum_squares,
		        (double)f.reserved * (double)f.reserved);
		put_ratio(v->table, FRAG_SCATTERED_SHARE, (double)(f.free - f.largest),
		        (double)f.free);
		ht_table_put_i64(v->table, FRAG_WASTE_BYTES, f.waste);
		put_pressure(v, d, &worst);
	}
	return HT_OK;
}

/* ---- segments and pools ---- */

const char *ht_mem_pool_text(struct ht_run *run, const uint32_t *pool)
{
	return pool[0] || pool[1] ? ht_arena_printf(run->scratch, "(%" PRIu32 ", %" PRIu32 ")",
	                                    pool[0], pool[1])
	                          : "default";
}

static const char *type_text(unsigned type)
{
	return type == HT_MEM_SMALL ? "small" : type == HT_MEM_LARGE ? "large" : NULL;
}

const char *ht_mem_address_text(struct ht_run *run, uint64_t addr)
{
	return ht_arena_printf(run->scratch, "0x%" PRIx64, addr);
}

enum ht_status ht_mem_view_segments(struct ht_mem_view *v)
{
	const struct ht_trace *t = v->run->trace;
	ht_table *table = v->table;
	for (size_t i = 0; i < t->more->n_mem_segments; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[i];
		int64_t largest = 0;
		for (uint32_t k = 0; k < g->n_blocks; k++) {
			const struct ht_mem_block *b = &t->more->mem_blocks[g->first_block + k];
			if (b->state == HT_MEM_INACTIVE && b->size > largest)
				largest = b->size;
		}
		ht_table_row(table);
		ht_table_put_i64(table, SEGMENT_RANK, v->run->rank);
		ht_table_put_i64(table, SEGMENT_DEVICE, g->device);
		ht_table_put_str(table, SEGMENT_ADDRESS, ht_mem_address_text(v->run, g->addr));
		ht_table_put_i64(table, SEGMENT_TOTAL_BYTES, g->total);
		ht_table_put_i64(table, SEGMENT_ALLOCATED_BYTES, g->allocated);
		ht_table_put_i64(table, SEGMENT_ACTIVE_BYTES, g->active);
		ht_table_put_i64(table, SEGMENT_REQUESTED_BYTES, g->requested);
		ht_table_put_i64(table, SEGMENT_LARGEST_FREE_BYTES, largest);
		ht_table_put_i64(table, SEGMENT_BLOCKS, g->n_blocks);
		ht_table_put_i64(table, SEGMENT_STREAM, g->stream);
		ht_table_put_str(table, SEGMENT_POOL, ht_mem_pool_text(v->run, g->pool));
		ht_table_put_str(table, SEGMENT_TYPE, type_text(g->type));
		ht_table_put_i64(table, SEGMENT_IS_EXPANDABLE, g->is_expandable);
		ht_table_put_str(table, SEGMENT_KEY, ht_mem_user_text(v->run, g->stack));
	}
	return HT_OK;
}

static int by_pool(const void *x, const void *y)
{
	const struct ht_mem_segment *a = *(const struct ht_mem_segment *const *)x;
	const struct ht_mem_segment *b = *(const struct ht_mem_segment *const *)y;
	const int64_t left[] = { a->device, a->pool[0], a->pool[1], a->type, a->stream };
	const int64_t right[] = { b->device, b->pool[0], b->pool[1], b->type, b->stream };
	for (size_t i = 0; i < HT_COUNT(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

enum ht_status ht_mem_view_pools(struct ht_mem_view *v)
{
	const struct ht_trace *t = v->run->trace;
	ht_table *table = v->table;
	size_t n = t->more->n_mem_segments;
	const struct ht_mem_segment **list =
	        ht_arena_room(v->run->scratch, (n + 1) * sizeof(*list));
	if (!list)
		return ht_fail_nomem(v->run->ctx);
	for (size_t i = 0; i < n; i++)
		list[i] = &t->more->mem_segments[i];
	qsort(list, n, sizeof(*list), by_pool);
	for (size_t i = 0, end; i < n; i = end) {
		int64_t reserved = 0, allocated = 0, active = 0;
		for (end = i; end < n && !by_pool(&list[i], &list[end]); end++) {
			reserved += list[end]->total;
			allocated += list[end]->allocated;
			active += list[end]->active;
		}
		ht_table_row(table);
		ht_table_put_i64(table, POOL_RANK, v->run->rank);
		ht_table_put_i64(table, POOL_DEVICE, list[i]->device);
		ht_table_put_str(table, POOL_POOL, ht_mem_pool_text(v->run, list[i]->pool));
		ht_table_put_str(table, POOL_TYPE, type_text(list[i]->type));
		ht_table_put_i64(table, POOL_STREAM, list[i]->stream);
		ht_table_put_i64(table, POOL_SEGMENTS, (int64_t)(end - i));
		ht_table_put_i64(table, POOL_RESERVED_BYTES, reserved);
		ht_table_put_i64(table, POOL_ALLOCATED_BYTES, allocated);
		ht_table_put_i64(table, POOL_ACTIVE_BYTES, active);
		ht_table_put_i64(table, POOL_IDLE_BYTES, reserved - active);
		put_ratio(table, POOL_IDLE_SHARE, (double)(reserved - active), (double)reserved);
	}
	return HT_OK;
}

/* ---- blocks ---- */

const char *ht_mem_piece_state(const struct ht_mem_life *life, int64_t event)
{
	return !life                                ? "inactive"
	       : ht_mem_life_allocated(life, event) ? "active_allocated"
	                                            : "active_pending_free";
}

static enum ht_status put_piece(struct ht_mem_view *v, const struct ht_mem_device *d,
        const struct ht_mem_layout *state, const struct ht_mem_piece *piece, int64_t event)
{
	ht_table *table = v->table;
	const struct ht_mem_extent *extent = &state->extents[piece->extent];
	const struct ht_mem_life *life = piece->life;
	const char *key = life ? ht_mem_name_of(&v->names, life) : NULL;
	if (life && !key)
		return ht_fail_nomem(v->run->ctx);
	ht_table_row(table);
	ht_table_put_i64(table, BLOCK_RANK, v->run->rank);
	ht_table_put_i64(table, BLOCK_DEVICE, d->device);
	ht_table_put_str(table, BLOCK_ADDRESS, ht_mem_address_text(v->run, piece->addr));
	ht_table_put_i64(table, BLOCK_BYTES, piece->size);
	ht_table_put_known(
	        table, BLOCK_REQUESTED_BYTES, life ? life->requested : HT_NO_I64, HT_NO_I64);
	ht_table_put_str(table, BLOCK_STATE, ht_mem_piece_state(life, event));
	ht_table_put_str(table, BLOCK_SEGMENT, ht_mem_address_text(v->run, extent->addr));
	ht_table_put_i64(table, BLOCK_STREAM, extent->stream);
	ht_table_put_str(table, BLOCK_POOL, ht_mem_pool_text(v->run, extent->pool));
	ht_table_put_known(table, BLOCK_ALLOC_EVENT,
	        life && life->alloc >= 0 ? life->alloc - d->first : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(table, BLOCK_FREE_EVENT,
	        life && life->free_requested >= 0 && life->free_requested != HT_MEM_NEVER
	                ? life->free_requested - d->first
	                : HT_NO_I64,
	        HT_NO_I64);
	ht_table_put_str(table, BLOCK_KEY, key);
	ht_table_put_str(
	        table, BLOCK_STACK, life ? ht_mem_names_stack(&v->names, life->stack) : NULL);
	return HT_OK;
}

enum ht_status ht_mem_view_blocks(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		struct ht_mem_layout state;
		int64_t event;
		if (!ht_mem_view_moment(v, d, &event))
			continue;
		HT_TRY(ht_mem_layout_at(v->run, v->history, d, event, &state));
		for (size_t k = 0; k < state.n_pieces; k++)
			HT_TRY(put_piece(v, d, &state, &state.pieces[k], event));
	}
	return HT_OK;
}
