/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_fold.c - dictionaries of a snapshot to records as soon as they are filled; see snapshot.h.
 *
 * What a dictionary is, its keys tell: action an event, filename a frame, total_size a segment, state a block, stage
 * an annotation. Lists of frames become stacks, and lists of records that were made one after the other become
 * ranges of them. All else stays as it is.
 */
#include "read/snapshot.h"

#include "base/checked.h"
#include "base/mem.h"

#include <string.h>

/* Python fills lists in pieces of this length: a list of frames that long may go on. */
#define BATCH 1000
/* A block with an address, a size and a state takes more than this, however it is written. */
#define MIN_BLOCK_BYTES 8

enum ht_snap_key ht_snap_key(const struct ht_snap *s, ht_pk value)
{
	uint64_t id = ht_pk_payload(value);
	return ht_pk_kind(value) == HT_PK_STR && id < s->n_key_of ? (enum ht_snap_key)s->key_of[id]
	                                                          : HT_SNAP_NO_KEY;
}

static bool fail(struct ht_snap *s)
{
	s->status = ht_fail_nomem(s->ctx);
	return true;
}

static ht_pk bad_record(struct ht_snap *s)
{
	ht_chunk_stat(&s->builder->all, HT_STAT_snapshot_record_lost, s->pickle.offset, 1);
	s->draft->about.n_entries_lost++;
	return ht_pk_record(HT_SNAP_BAD, 0);
}

/* ---- frames and stacks ---- */

static bool grow_index(struct ht_mem *mem, struct ht_snap_index *index,
        uint64_t (*hash)(const struct ht_snap *, uint32_t), const struct ht_snap *s)
{
	size_t cap = index->cap ? index->cap * 2 : 1024;
	uint32_t *slots = ht_mem_zalloc(mem, cap * sizeof *slots);
	if (!slots)
		return false;
	for (uint32_t id = 0; id < index->n; id++)
		slots[HT_PROBE(at, cap, hash(s, id), !slots[at])] = id + 1;
	if (index->slots)
		ht_mem_free(mem, index->slots, index->cap * sizeof *slots);
	index->slots = slots;
	index->cap = cap;
	return true;
}

static uint64_t hash_frame(const struct ht_snap *s, uint32_t id)
{
	const struct ht_mem_frame *frame = (const struct ht_mem_frame *)s->draft->frames.data + id;
	return ht_hash(frame, sizeof *frame);
}

static const uint32_t *stack_at(const struct ht_snap *s, uint32_t id, size_t *ret_n)
{
	const uint32_t *offsets = s->draft->stack_offsets.data;
	*ret_n = offsets[id + 1] - offsets[id];
	return (const uint32_t *)s->draft->stack_frames.data + offsets[id];
}

static uint64_t hash_stack(const struct ht_snap *s, uint32_t id)
{
	size_t n;
	const uint32_t *frames = stack_at(s, id, &n);
	return ht_hash(frames, n * sizeof *frames);
}

static bool find_frame(struct ht_snap *s, const struct ht_mem_frame *frame, uint32_t *ret_id)
{
	struct ht_snap_index *index = &s->frames;
	struct ht_mem *mem = s->ctx->mem;
	if (index->n * 2 >= index->cap && !grow_index(mem, index, hash_frame, s))
		return false;
	const struct ht_mem_frame *all = s->draft->frames.data;
	size_t slot = HT_PROBE(at, index->cap, ht_hash(frame, sizeof *frame),
	        !index->slots[at] || !memcmp(&all[index->slots[at] - 1], frame, sizeof *frame));
	if (!index->slots[slot]) {
		if (!HT_VEC_PUSH(mem, &s->draft->frames, struct ht_mem_frame, *frame))
			return false;
		index->slots[slot] = (uint32_t)++index->n;
	}
	*ret_id = index->slots[slot] - 1;
	return true;
}

static bool is_stack(const struct ht_snap *s, uint32_t id, const uint32_t *frames, size_t n)
{
	size_t n_known;
	const uint32_t *known = stack_at(s, id, &n_known);
	return n_known == n && (!n || !memcmp(known, frames, n * sizeof *frames));
}

static bool add_stack(struct ht_snap *s, const uint32_t *frames, size_t n)
{
	struct ht_mem_draft *d = s->draft;
	struct ht_mem *mem = s->ctx->mem;
	if (d->stack_frames.n + n >= UINT32_MAX ||
	        (!d->stack_offsets.n && !HT_VEC_PUSH(mem, &d->stack_offsets, uint32_t, 0)) ||
	        !ht_vec_reserve(mem, &d->stack_frames, sizeof *frames, n))
		return false;
	memcpy((uint32_t *)d->stack_frames.data + d->stack_frames.n, frames, n * sizeof *frames);
	d->stack_frames.n += n;
	return HT_VEC_PUSH(mem, &d->stack_offsets, uint32_t, (uint32_t)d->stack_frames.n);
}

/* The id of the stack of these values, all of them frames; the caller has looked. */
static bool find_stack(struct ht_snap *s, const ht_pk *items, size_t n, uint32_t *ret_id)
{
	struct ht_snap_index *index = &s->stacks;
	struct ht_mem *mem = s->ctx->mem;
	s->scratch.n = 0;
	if (!ht_vec_reserve(mem, &s->scratch, sizeof(uint32_t), n))
		return false;
	uint32_t *frames = s->scratch.data;
	for (size_t i = 0; i < n; i++)
		frames[i] = (uint32_t)ht_pk_record_index(ht_pk_resolve(&s->pickle, items[i]));
	if (index->n * 2 >= index->cap && !grow_index(mem, index, hash_stack, s))
		return false;
	size_t slot = HT_PROBE(at, index->cap, ht_hash(frames, n * sizeof *frames),
	        !index->slots[at] || is_stack(s, index->slots[at] - 1, frames, n));
	if (!index->slots[slot]) {
		if (!add_stack(s, frames, n))
			return false;
		index->slots[slot] = (uint32_t)++index->n;
	}
	*ret_id = index->slots[slot] - 1;
	return true;
}

static bool are_frames(const struct ht_snap *s, const ht_pk *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_pk item = ht_pk_resolve(&s->pickle, items[i]);
		if (ht_pk_kind(item) != HT_PK_RECORD || ht_pk_record_type(item) != HT_SNAP_FRAME)
			return false;
	}
	return n > 0;
}

/* What is known of a list, which many records can share; NULL when out of memory. A list that has items keeps its number. */
static struct ht_snap_known *known_of(struct ht_snap *s, ht_pk list)
{
	size_t object = ht_pk_payload(list);
	if (!ht_vec_reach(s->ctx->mem, &s->known, sizeof(struct ht_snap_known), object + 1))
		return NULL;
	return (struct ht_snap_known *)s->known.data + object;
}

/* The stack of a value of frames; none when it is no list of frames. */
static uint32_t stack_of(struct ht_snap *s, ht_pk value)
{
	uint32_t id = HT_MEM_NO_STACK;
	size_t n;
	value = ht_pk_resolve(&s->pickle, value);
	if (ht_pk_kind(value) == HT_PK_RECORD)
		return ht_pk_record_type(value) == HT_SNAP_STACK
		               ? (uint32_t)ht_pk_record_index(value)
		               : id;
	const ht_pk *items = ht_pk_items(&s->pickle, value, &n);
	if (!n)
		return id;
	struct ht_snap_known *known = known_of(s, value);
	if (known && known->n == n)
		return known->stack;
	if (!known || (are_frames(s, items, n) && !find_stack(s, items, n, &id)))
		fail(s);
	else if (id != HT_MEM_NO_STACK)
		*known = (struct ht_snap_known){ (uint32_t)n, id };
	return id;
}

static uint32_t text_of(ht_pk value)
{
	return ht_pk_kind(value) == HT_PK_STR ? (uint32_t)ht_pk_payload(value) : HT_NO_STR;
}

static bool fold_frame(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_mem_frame frame = { HT_NO_STR, HT_NO_STR, 0 };
	uint32_t id;
	int64_t line;
	for (size_t i = 0; i < n; i += 2) {
		enum ht_snap_key key = ht_snap_key(s, items[i]);
		if (key == HT_SNAP_filename)
			frame.file = text_of(items[i + 1]);
		else if (key == HT_SNAP_name)
			frame.name = text_of(items[i + 1]);
		else if (key == HT_SNAP_line && ht_pk_i64(&s->pickle, items[i + 1], &line) &&
		         line >= 0 && line <= INT32_MAX)
			frame.line = (int32_t)line;
	}
	if (!find_frame(s, &frame, &id))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_FRAME, id);
	return true;
}

/* ---- events ---- */

static void take_pool(const struct ht_snap *s, ht_pk value, uint32_t *pool)
{
	size_t n;
	int64_t a, b;
	value = ht_pk_resolve(&s->pickle, value);
	const ht_pk *items = ht_pk_items(&s->pickle, value, &n);
	if (ht_pk_kind(value) == HT_PK_RECORD && ht_pk_record_type(value) == HT_SNAP_POOL) {
		pool[0] = (uint32_t)(ht_pk_record_index(value) >> 26);
		pool[1] = (uint32_t)(ht_pk_record_index(value) & 0x3ffffff);
	} else if (n == 2 && ht_pk_i64(&s->pickle, items[0], &a) &&
	           ht_pk_i64(&s->pickle, items[1], &b)) {
		pool[0] = (uint32_t)a;
		pool[1] = (uint32_t)b;
	}
}

static bool take_time(const struct ht_snap *s, ht_pk value, int64_t *ret_ns)
{
	int64_t us;
	if (!ht_pk_i64(&s->pickle, value, &us))
		return false;
	if (us >= -HT_MAX_TIME_NS / 1000 && us <= HT_MAX_TIME_NS / 1000)
		*ret_ns = us * 1000;
	return true;
}

static bool take_size(const struct ht_snap *s, ht_pk value, int64_t *ret_size)
{
	return ht_pk_i64(&s->pickle, value, ret_size) && *ret_size >= 0;
}

/* Whether a record speaks of a size that can be: all that a program allocates while it runs is far below this, and sums over records
 * need not be looked at then. */
static bool is_size(struct ht_snap *s, int64_t size)
{
	const uint64_t max = (uint64_t)1 << 60;
	if ((uint64_t)size > max - s->n_bytes)
		return false;
	s->n_bytes += (uint64_t)size;
	return true;
}

static enum ht_mem_action action_of(struct ht_snap *s, ht_pk value)
{
	enum ht_snap_key word = ht_snap_key(s, value);
	if (word >= HT_SNAP_alloc && word <= HT_SNAP_snapshot)
		return (enum ht_mem_action)(word - HT_SNAP_alloc);
	ht_chunk_stat(&s->builder->all, HT_STAT_snapshot_action_unknown, s->pickle.offset, 1);
	return HT_MEM_OTHER;
}
_Static_assert(
        HT_SNAP_snapshot - HT_SNAP_alloc == HT_MEM_SNAPSHOT, "words in the order of actions");

/* One key of an event; false when its value is of another type. */
static bool take_entry(struct ht_snap *s, enum ht_snap_key key, ht_pk value, struct ht_mem_event *e)
{
	switch (key) {
	case HT_SNAP_action:
		e->action = (uint8_t)action_of(s, value);
		return ht_pk_kind(value) == HT_PK_STR;
	case HT_SNAP_addr:
	case HT_SNAP_device_free: return ht_pk_u64(&s->pickle, value, &e->addr);
	case HT_SNAP_size: return take_size(s, value, &e->size);
	case HT_SNAP_stream: return ht_pk_i64(&s->pickle, value, &e->stream);
	case HT_SNAP_time_us: return take_time(s, value, &e->time_ns);
	case HT_SNAP_frames: e->stack = stack_of(s, value); return true;
	case HT_SNAP_compile_context: e->context = text_of(value); return true;
	case HT_SNAP_user_metadata: e->metadata = text_of(value); return true;
	case HT_SNAP_category: e->category = text_of(value); return true;
	case HT_SNAP_pool_id: take_pool(s, value, e->pool); return true;
	default: return true;
	}
}

static bool fold_entry(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_mem_event event = { .size = -1,
		.time_ns = HT_NO_I64,
		.stack = HT_MEM_NO_STACK,
		.context = HT_NO_STR,
		.metadata = HT_NO_STR,
		.category = HT_NO_STR };
	bool ok = true;
	for (size_t i = 0; i < n; i += 2)
		ok &= take_entry(s, ht_snap_key(s, items[i]), items[i + 1], &event);
	if (!ok || event.size < 0 || !is_size(s, event.size)) {
		*value = bad_record(s);
		return true;
	}
	if (s->draft->events.n >= UINT32_MAX ||
	        !HT_VEC_PUSH(s->ctx->mem, &s->draft->events, struct ht_mem_event, event))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_ENTRY, s->draft->events.n - 1);
	return true;
}

/* ---- annotations ---- */

static bool fold_note(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_mem_annotation note = { .time_ns = HT_NO_I64, .name = HT_NO_STR };
	int64_t device = 0;
	bool ok = true;
	for (size_t i = 0; i < n; i += 2) {
		switch (ht_snap_key(s, items[i])) {
		case HT_SNAP_stage:
			note.is_end = ht_snap_key(s, items[i + 1]) == HT_SNAP_END;
			ok &= note.is_end || ht_snap_key(s, items[i + 1]) == HT_SNAP_START;
			break;
		case HT_SNAP_name: note.name = text_of(items[i + 1]); break;
		case HT_SNAP_device: ok &= ht_pk_i64(&s->pickle, items[i + 1], &device); break;
		case HT_SNAP_time_us: ok &= take_time(s, items[i + 1], &note.time_ns); break;
		default: break;
		}
	}
	note.device = device >= 0 && device < UINT16_MAX ? (uint16_t)device : 0;
	if (!ok || note.name == HT_NO_STR) {
		*value = bad_record(s);
		return true;
	}
	if (!HT_VEC_PUSH(s->ctx->mem, &s->draft->annotations, struct ht_mem_annotation, note))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_NOTE, s->draft->annotations.n - 1);
	return true;
}

/* ---- blocks and segments ---- */

/* The last of a block's history in old files: what was asked for, and where. */
static void take_history(struct ht_snap *s, ht_pk value, struct ht_mem_block *block)
{
	size_t n;
	const ht_pk *items = ht_pk_items(&s->pickle, value, &n);
	if (!n)
		return;
	ht_pk entry = ht_pk_resolve(&s->pickle, items[0]);
	ht_pk size = ht_pk_find(&s->pickle, entry, "real_size");
	if (!take_size(s, size, &block->requested))
		block->requested = -1;
	block->stack = stack_of(s, ht_pk_find(&s->pickle, entry, "frames"));
}

static bool take_state(const struct ht_snap *s, ht_pk value, uint8_t *ret_state)
{
	switch (ht_snap_key(s, value)) {
	case HT_SNAP_active_allocated: *ret_state = HT_MEM_ALLOCATED; return true;
	case HT_SNAP_active_pending_free:
	case HT_SNAP_active_awaiting_free: *ret_state = HT_MEM_PENDING_FREE; return true;
	case HT_SNAP_inactive: *ret_state = HT_MEM_INACTIVE; return true;
	default: return false;
	}
}

static bool fold_block(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_mem_block block = {
		.size = -1, .requested = -1, .stack = HT_MEM_NO_STACK, .segment = UINT32_MAX
	};
	bool ok = true;
	for (size_t i = 0; i < n; i += 2) {
		ht_pk item = items[i + 1];
		switch (ht_snap_key(s, items[i])) {
		case HT_SNAP_address: ok &= ht_pk_u64(&s->pickle, item, &block.addr); break;
		case HT_SNAP_size: ok &= take_size(s, item, &block.size); break;
		case HT_SNAP_requested_size: ok &= take_size(s, item, &block.requested); break;
		case HT_SNAP_state: ok &= take_state(s, item, &block.state); break;
		case HT_SNAP_frames: block.stack = stack_of(s, item); break;
		case HT_SNAP_history: take_history(s, item, &block); break;
		default: break;
		}
	}
	if (block.requested < 0)
		block.requested = block.size;
	if (!ok || block.size < 0 || !is_size(s, block.size) || !is_size(s, block.requested)) {
		*value = bad_record(s);
		return true;
	}
	if (s->draft->blocks.n >= UINT32_MAX ||
	        !HT_VEC_PUSH(s->ctx->mem, &s->draft->blocks, struct ht_mem_block, block))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_BLOCK, s->draft->blocks.n - 1);
	return true;
}

/* The blocks of a segment know it, and where they are if the file does not say. */
static void take_blocks(struct ht_snap *s, ht_pk value, struct ht_mem_segment *segment)
{
	value = ht_pk_resolve(&s->pickle, value);
	if (ht_pk_kind(value) != HT_PK_RECORD || ht_pk_record_type(value) != HT_SNAP_RANGE)
		return;
	const struct ht_snap_range *range =
	        (const struct ht_snap_range *)s->ranges.data + ht_pk_record_index(value);
	if (range->type != HT_SNAP_BLOCK)
		return;
	segment->first_block = (uint32_t)range->first;
	segment->n_blocks = (uint32_t)range->n;
}

/* Each block is written once, so that all segments together have no more of them than fit into the bytes so far; those of a list that many
 * segments refer to are as many as one likes. */
static void place_blocks(struct ht_snap *s, const struct ht_mem_segment *segment)
{
	struct ht_mem_block *blocks = s->draft->blocks.data; /* NULL: there is none */
	uint64_t at = segment->addr;
	s->n_placed += segment->n_blocks;
	if (s->n_placed > (uint64_t)s->pickle.offset / MIN_BLOCK_BYTES) {
		if (s->status == HT_OK)
			s->status = ht_fail(s->ctx, HT_LIMIT, s->pickle.path, s->pickle.offset,
			        "write the snapshot anew: each segment has blocks of its own",
			        "the segments share lists of blocks: together they have more than the file holds");
		return;
	}
	for (uint32_t i = 0; i < segment->n_blocks; i++) {
		struct ht_mem_block *block = &blocks[segment->first_block + i];
		if (!block->addr)
			block->addr = at;
		at = block->addr + (uint64_t)block->size;
		block->segment = (uint32_t)s->draft->segments.n;
	}
}

/* One key of a segment; false when its value is of another type. */
static bool take_segment(
        struct ht_snap *s, enum ht_snap_key key, ht_pk value, struct ht_mem_segment *g)
{
	int64_t device;
	switch (key) {
	case HT_SNAP_device:
		if (!ht_pk_i64(&s->pickle, value, &device) || device < 0 || device >= UINT16_MAX)
			return false;
		g->device = (uint16_t)device;
		return true;
	case HT_SNAP_address: return ht_pk_u64(&s->pickle, value, &g->addr);
	case HT_SNAP_total_size: return take_size(s, value, &g->total);
	case HT_SNAP_allocated_size: return take_size(s, value, &g->allocated);
	case HT_SNAP_active_size: return take_size(s, value, &g->active);
	case HT_SNAP_requested_size: return take_size(s, value, &g->requested);
	case HT_SNAP_stream: return ht_pk_i64(&s->pickle, value, &g->stream);
	case HT_SNAP_segment_type:
		g->type = ht_snap_key(s, value) == HT_SNAP_small   ? HT_MEM_SMALL
		          : ht_snap_key(s, value) == HT_SNAP_large ? HT_MEM_LARGE
		                                                   : HT_MEM_POOL_UNKNOWN;
		return true;
	case HT_SNAP_segment_pool_id: take_pool(s, value, g->pool); return true;
	case HT_SNAP_is_expandable:
		g->is_expandable = value == ht_pk_make(HT_PK_BOOL, 1);
		return true;
	case HT_SNAP_frames: g->stack = stack_of(s, value); return true;
	case HT_SNAP_blocks: take_blocks(s, value, g); return true;
	default: return true;
	}
}

static bool fold_segment(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_mem_segment segment = {
		.total = -1, .stack = HT_MEM_NO_STACK, .type = HT_MEM_POOL_UNKNOWN
	};
	bool ok = true;
	for (size_t i = 0; i < n; i += 2)
		ok &= take_segment(s, ht_snap_key(s, items[i]), items[i + 1], &segment);
	if (!ok || segment.total < 0 || !is_size(s, segment.total) ||
	        !is_size(s, segment.allocated) || !is_size(s, segment.active) ||
	        !is_size(s, segment.requested)) {
		*value = bad_record(s);
		return true;
	}
	place_blocks(s, &segment);
	if (s->draft->segments.n >= UINT32_MAX ||
	        !HT_VEC_PUSH(s->ctx->mem, &s->draft->segments, struct ht_mem_segment, segment))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_SEGMENT, s->draft->segments.n - 1);
	return true;
}

/* ---- the folds ---- */

static bool fold_dict(void *user, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_snap *s = user;
	for (size_t i = 0; i < n; i += 2) {
		switch (ht_snap_key(s, items[i])) {
		case HT_SNAP_action: return fold_entry(s, items, n, value);
		case HT_SNAP_filename: return fold_frame(s, items, n, value);
		case HT_SNAP_total_size: return fold_segment(s, items, n, value);
		case HT_SNAP_state: return fold_block(s, items, n, value);
		case HT_SNAP_stage: return fold_note(s, items, n, value);
		default: break;
		}
	}
	return false;
}

/* Records that follow each other, and follow those that the list has; bad ones are left out. */
static bool fold_range(struct ht_snap *s, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_snap_range range = { .n = 0 };
	bool is_old = ht_pk_kind(*value) == HT_PK_RECORD;
	if (is_old && ht_pk_record_type(*value) != HT_SNAP_RANGE)
		return false;
	if (is_old)
		range = ((const struct ht_snap_range *)s->ranges.data)[ht_pk_record_index(*value)];
	for (size_t i = 0; i < n; i++) {
		ht_pk item = ht_pk_resolve(&s->pickle, items[i]);
		if (ht_pk_kind(item) != HT_PK_RECORD)
			return false;
		unsigned type = ht_pk_record_type(item);
		uint64_t index = ht_pk_record_index(item);
		if (type == HT_SNAP_BAD)
			continue;
		if (type < HT_SNAP_ENTRY || type > HT_SNAP_NOTE)
			return false;
		if (!range.n) {
			range = (struct ht_snap_range){ type, index, 1 };
		} else if (type == range.type && index == range.first + range.n) {
			range.n++;
		} else {
			(void)bad_record(s);
		}
	}
	if (is_old) {
		((struct ht_snap_range *)s->ranges.data)[ht_pk_record_index(*value)] = range;
		return true;
	}
	if (!HT_VEC_PUSH(s->ctx->mem, &s->ranges, struct ht_snap_range, range))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_RANGE, s->ranges.n - 1);
	return true;
}

/* The two numbers of a pool id, if they are small ones. */
static bool fold_pool(void *user, const ht_pk *items, size_t n, ht_pk before, ht_pk *value)
{
	const struct ht_snap *s = user;
	enum ht_snap_key key = ht_snap_key(s, before);
	int64_t a, b;
	if (key != HT_SNAP_pool_id && key != HT_SNAP_segment_pool_id)
		return false;
	if (n != 2 || !ht_pk_i64(&s->pickle, items[0], &a) || !ht_pk_i64(&s->pickle, items[1], &b))
		return false;
	if (a < 0 || b < 0 || a >= 1 << 26 || b >= 1 << 26)
		return false;
	*value = ht_pk_record(HT_SNAP_POOL, (uint64_t)a << 26 | (uint64_t)b);
	return true;
}

static bool fold_list(void *user, const ht_pk *items, size_t n, ht_pk *value)
{
	struct ht_snap *s = user;
	uint32_t id;
	bool is_new = ht_pk_kind(*value) != HT_PK_RECORD;
	ht_pk first = ht_pk_resolve(&s->pickle, items[0]);
	if (ht_pk_kind(first) != HT_PK_RECORD)
		return false;
	if (ht_pk_record_type(first) != HT_SNAP_FRAME)
		return fold_range(s, items, n, value);
	if (!is_new || n == BATCH || !are_frames(s, items, n))
		return false;
	if (!find_stack(s, items, n, &id))
		return fail(s);
	*value = ht_pk_record(HT_SNAP_STACK, id);
	return true;
}

const struct ht_pk_folds ht_snap_folds = { fold_dict, fold_list, fold_pool };
