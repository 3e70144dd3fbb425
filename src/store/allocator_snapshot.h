/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_snapshot.h - what the CUDA caching allocator wrote down of itself: segments and blocks at one moment, and the
 * events that led there.
 *
 *   events       in file order per device, devices one after the other
 *   segments     what was reserved from the driver ─► slice of blocks, in address order
 *   stacks       distinct call stacks, innermost frame first ─► slice of stack_frames ─► frames
 *   annotations  starts and ends of record_function scopes while events were recorded
 *
 * Times are Unix nanoseconds, HT_NO_I64 where the file has none. Texts are string ids of the trace. A rank has one
 * snapshot at most; a trace without one has no mem_about.
 */
#ifndef HT_STORE_ALLOCATOR_SNAPSHOT_H
#define HT_STORE_ALLOCATOR_SNAPSHOT_H

#include "base/status.h"

#define HT_MEM_NO_STACK UINT32_MAX

enum ht_mem_action {
	HT_MEM_ALLOC,
	HT_MEM_FREE_REQUESTED, /* the tensor died; other streams may still use the block */
	HT_MEM_FREE_COMPLETED, /* the block is in the pool again */
	HT_MEM_FREE,           /* both at once, of old files */
	HT_MEM_SEGMENT_ALLOC,
	HT_MEM_SEGMENT_FREE,
	HT_MEM_SEGMENT_MAP,
	HT_MEM_SEGMENT_UNMAP,
	HT_MEM_OOM,
	HT_MEM_SNAPSHOT,
	HT_MEM_OTHER,
	HT_MEM_N_ACTIONS
};

enum ht_mem_state { HT_MEM_ALLOCATED, HT_MEM_PENDING_FREE, HT_MEM_INACTIVE };

enum ht_mem_pool { HT_MEM_SMALL, HT_MEM_LARGE, HT_MEM_POOL_UNKNOWN };

struct ht_mem_event {
	uint64_t addr;  /* of the block or segment; of an oom what the driver had free */
	int64_t size;   /* bytes that were asked for; of segments what they have */
	int64_t stream; /* handle of the CUDA stream */
	int64_t time_ns;
	uint32_t stack;    /* HT_MEM_NO_STACK: not recorded */
	uint32_t context;  /* id of torch.compile, HT_NO_STR */
	uint32_t metadata; /* of the user, HT_NO_STR */
	uint32_t category; /* as recorded, HT_NO_STR */
	uint32_t pool[2];  /* private pool, { 0, 0 } the default or unknown */
	uint16_t device;
	uint8_t action; /* enum ht_mem_action */
	uint8_t pad[5];
};

struct ht_mem_segment {
	uint64_t addr;
	int64_t total, allocated, active, requested; /* bytes */
	int64_t stream;
	uint32_t pool[2];
	uint32_t stack;
	uint32_t first_block, n_blocks;
	uint16_t device;
	uint8_t type; /* enum ht_mem_pool */
	uint8_t is_expandable;
};

struct ht_mem_block {
	uint64_t addr;
	int64_t size, requested;
	uint32_t stack, segment;
	uint8_t state; /* enum ht_mem_state */
	uint8_t pad[7];
};

struct ht_mem_frame {
	uint32_t file, name; /* string ids, HT_NO_STR */
	int32_t line;
};

struct ht_mem_annotation {
	int64_t time_ns;
	uint32_t name;
	uint16_t device;
	uint8_t is_end;
	uint8_t pad;
};

/* What holds for the snapshot as a whole. */
struct ht_mem_about {
	int64_t max_split_bytes; /* blocks of more are not split; -1: none are so large */
	uint32_t roundup_divisions
	        [16];            /* per power of two from 1 MiB on; 0 and 1: rounded to 512 B */
	uint32_t n_devices;      /* 1 + the highest device that there is something of */
	uint32_t is_expandable;  /* expandable_segments was set */
	uint64_t n_entries_lost; /* events that could not be understood */
};

/* A snapshot while it is read; vectors of the structs above, and of uint32_t. */
struct ht_mem_draft {
	bool is_there;
	struct ht_mem_about about;
	struct ht_vec events, segments, blocks, frames, stack_offsets, stack_frames, annotations;
};

struct ht_trace;
/* Make the sections of the draft, which is empty afterwards; free a draft. */
enum ht_status ht_mem_draft_assemble(
        ht_ctx *ctx, struct ht_mem_draft *draft, struct ht_trace *trace) HT_MUST_USE;
void ht_mem_draft_done(struct ht_mem *mem, struct ht_mem_draft *draft);
/* A line per segment, block, event and annotation, with a hash of the text of each stack. */
struct ht_emit;
void ht_mem_dump(const struct ht_trace *trace, struct ht_emit *emit);

/* Whether the elements of a section are sound, as in sections.h. */
#define CHECK(section)                                                                             \
	bool ht_check_##section(const void *store, void *facts, size_t first, size_t n)
CHECK(mem_about);
CHECK(mem_events);
CHECK(mem_segments);
CHECK(mem_blocks);
CHECK(mem_frames);
CHECK(mem_stack_offsets);
CHECK(mem_stack_frames);
CHECK(mem_annotations);
#undef CHECK

const char *ht_mem_action_name(enum ht_mem_action action);
const char *ht_mem_state_name(enum ht_mem_state state);

#endif
