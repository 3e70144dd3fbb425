/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_columns.h - the columns of memory-snapshot's views, in the order in which they are put.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_COLUMNS_H
#define HT_MODEL_SNAPSHOT_MEM_COLUMNS_H

#include "table/table.h"

#define HT_MEM_SUMMARY_COLUMNS(COLUMN)                                                                                        \
	COLUMN(SUMMARY_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                                            \
	COLUMN(SUMMARY_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                                            \
	COLUMN(SUMMARY_PEAK_ALLOCATED_BYTES, "peak_allocated_bytes", HT_BYTES, HT_MEASURE,                                    \
	        "most bytes in blocks that tensors hold, as max_memory_allocated counts", NULL)                               \
	COLUMN(SUMMARY_PEAK_RESERVED_BYTES, "peak_reserved_bytes", HT_BYTES, HT_MEASURE,                                      \
	        "most bytes reserved from the driver", NULL)                                                                  \
	COLUMN(SUMMARY_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                                              \
	        "bytes in blocks that tensors hold at the end", NULL)                                                         \
	COLUMN(SUMMARY_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                                                \
	        "bytes reserved from the driver at the end", NULL)                                                            \
	COLUMN(SUMMARY_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_MEASURE,                                                    \
	        "allocated, and held for other streams, at the end", NULL)                                                    \
	COLUMN(SUMMARY_REQUESTED_BYTES, "requested_bytes", HT_BYTES, HT_MEASURE,                                              \
	        "bytes that were asked for of these", NULL)                                                                   \
	COLUMN(SUMMARY_N_EVENTS, "n_events", HT_I64, HT_MEASURE,                                                              \
	        "recorded events of the allocator", NULL)                                                                     \
	COLUMN(SUMMARY_LOST_EVENTS, "lost_events", HT_I64, HT_MEASURE,                                                        \
	        "known to be missing: allocations of blocks that the history only frees, and entries that could not be read", \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_BASE_BYTES, "base_bytes", HT_BYTES, HT_MEASURE,                                                        \
	        "allocated before the first event", NULL)                                                                     \
	COLUMN(SUMMARY_PEAK_REQUESTED_BYTES, "peak_requested_bytes", HT_BYTES, HT_DETAIL,                                     \
	        "most bytes asked for of active blocks, as memory_viz draws them", NULL)                                      \
	COLUMN(SUMMARY_HELD_FOR_STREAMS_BYTES, "held_for_streams_bytes", HT_BYTES, HT_DETAIL,                                 \
	        "most bytes that were freed but waited for other streams", NULL)                                              \
	COLUMN(SUMMARY_PEAK_EVENT, "peak_event", HT_I64, HT_DETAIL, "event of the peak, from 0",                              \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_PEAK_TIME_NS, "peak_time_ns", HT_DURATION, HT_DETAIL,                                                  \
	        "its time since the first event", NULL)                                                                       \
	COLUMN(SUMMARY_PEAK_ANNOTATION, "peak_annotation", HT_STR, HT_DETAIL,                                                 \
	        "annotations around it, the outermost first", NULL)                                                           \
	COLUMN(SUMMARY_PEAK_KEY, "peak_key", HT_STR, HT_MEASURE,                                                              \
	        "who holds most at the peak, by the parameter by", NULL)                                                      \
	COLUMN(SUMMARY_PEAK_SHARE, "peak_share", HT_RATIO, HT_MEASURE, "its share of the peak",                               \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_MOSAIC_DYNAMIC_BYTES, "mosaic_dynamic_bytes", HT_BYTES, HT_DETAIL,                                     \
	        "peak of what the history allocates, as mosaic reports it", NULL)                                             \
	COLUMN(SUMMARY_MOSAIC_STATIC_BYTES, "mosaic_static_bytes", HT_BYTES, HT_DETAIL,                                       \
	        "blocks at the end that no event names, as mosaic reports it", NULL)                                          \
	COLUMN(SUMMARY_LEAK_KEY, "leak_key", HT_STR, HT_MEASURE,                                                              \
	        "line whose blocks pile up most from step to step; null: none", NULL)                                         \
	COLUMN(SUMMARY_LEAK_BYTES_PER_STEP, "leak_bytes_per_step", HT_F64, HT_MEASURE,                                        \
	        "by how much", "bytes")                                                                                       \
	COLUMN(SUMMARY_OOM_CLASS, "oom_class", HT_STR, HT_MEASURE,                                                            \
	        "why the first request that failed did so; null: none failed", NULL)                                          \
	COLUMN(SUMMARY_FRAGMENTATION, "fragmentation_ratio", HT_F64, HT_MEASURE,                                              \
	        "free in pieces over what was wanted when a segment was taken, at most; fragmented from 4 on, "               \
	        "where that is a fifth of what was reserved",                                                                 \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_IDLE_POOL_BYTES, "idle_pool_bytes", HT_BYTES, HT_MEASURE,                                              \
	        "reserved and not active at the end in private pools, such as those of CUDA graphs",                          \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_PEAK_KEY_2, "peak_key_2", HT_STR, HT_DETAIL, "who holds most but one",                                 \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_PEAK_SHARE_2, "peak_share_2", HT_RATIO, HT_DETAIL, "its share of the peak",                            \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_PEAK_KEY_3, "peak_key_3", HT_STR, HT_DETAIL, "who holds most but two",                                 \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_PEAK_SHARE_3, "peak_share_3", HT_RATIO, HT_DETAIL, "its share of the peak",                            \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_STEPS, "steps", HT_I64, HT_DETAIL,                                                                     \
	        "steps that are known, four of which a leak needs", NULL)                                                     \
	COLUMN(SUMMARY_LEAKS, "leaks", HT_I64, HT_DETAIL, "stacks whose blocks pile up", NULL)                                \
	COLUMN(SUMMARY_OOM_KEY, "oom_key", HT_STR, HT_DETAIL, "line whose request failed first",                              \
	        NULL)                                                                                                         \
	COLUMN(SUMMARY_OOM_REQUESTED_BYTES, "oom_requested_bytes", HT_BYTES, HT_DETAIL,                                       \
	        "what it asked for", NULL)                                                                                    \
	COLUMN(SUMMARY_OOM_DRIVER_FREE_BYTES, "oom_driver_free_bytes", HT_BYTES, HT_DETAIL,                                   \
	        "what the driver had free then", NULL)                                                                        \
	COLUMN(SUMMARY_OOM_ALLOCATED_BYTES, "oom_allocated_bytes", HT_BYTES, HT_DETAIL,                                       \
	        "what tensors held then", NULL)                                                                               \
	COLUMN(SUMMARY_OOM_FREE_BYTES, "oom_free_bytes", HT_BYTES, HT_DETAIL,                                                 \
	        "free in the pool and stream of the request", NULL)                                                           \
	COLUMN(SUMMARY_OOM_LARGEST_FREE_BYTES, "oom_largest_free_bytes", HT_BYTES, HT_DETAIL,                                 \
	        "longest free run of it", NULL)                                                                               \
	COLUMN(SUMMARY_OOM_OTHER_FREE_BYTES, "oom_other_pools_free_bytes", HT_BYTES, HT_DETAIL,                               \
	        "free in other pools and streams", NULL)                                                                      \
	COLUMN(SUMMARY_OOM_OUTSIDE_BYTES, "oom_outside_bytes", HT_BYTES, HT_DETAIL,                                           \
	        "neither reserved here nor free, where the size of the device is known", NULL)                                \
	COLUMN(SUMMARY_WANTED_BYTES, "fragmentation_wanted_bytes", HT_BYTES, HT_DETAIL,                                       \
	        "what was wanted at the event of fragmentation_ratio", NULL)                                                  \
	COLUMN(SUMMARY_IN_PIECES_BYTES, "fragmentation_free_bytes", HT_BYTES, HT_DETAIL,                                      \
	        "what was free in pieces then", NULL)                                                                         \
	COLUMN(SUMMARY_EXPANDABLE, "expandable_segments", HT_BOOL, HT_DETAIL,                                                 \
	        "the setting was on", NULL)                                                                                   \
	COLUMN(SUMMARY_POOL_RESERVED_BYTES, "private_pool_bytes", HT_BYTES, HT_DETAIL,                                        \
	        "reserved in private pools at the end", NULL)
HT_COLUMN_NUMBERS(HT_MEM_SUMMARY_COLUMNS, N_SUMMARY_COLUMNS);

#define HT_MEM_PEAK_COLUMNS(COLUMN)                                                                          \
	COLUMN(PEAK_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                              \
	COLUMN(PEAK_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                              \
	COLUMN(PEAK_KEY, "key", HT_STR, HT_KEY, "who allocated it, by the parameter by", NULL)               \
	COLUMN(PEAK_BYTES, "bytes", HT_BYTES, HT_MEASURE, "bytes in its blocks at that moment",              \
	        NULL)                                                                                        \
	COLUMN(PEAK_SHARE, "share", HT_RATIO, HT_MEASURE,                                                    \
	        "of all allocated bytes of the device at that moment", NULL)                                 \
	COLUMN(PEAK_BLOCKS, "blocks", HT_I64, HT_MEASURE, "blocks", NULL)                                    \
	COLUMN(PEAK_REQUESTED_BYTES, "requested_bytes", HT_BYTES, HT_DETAIL,                                 \
	        "bytes that were asked for", NULL)                                                           \
	COLUMN(PEAK_SOURCE, "source", HT_STR, HT_DETAIL,                                                     \
	        "who says the category: recorded (the file), timeline or execution-trace (attached), rules " \
	        "(yours), estimated (rules over stacks)",                                                    \
	        NULL)
HT_COLUMN_NUMBERS(HT_MEM_PEAK_COLUMNS, N_PEAK_COLUMNS);

#define HT_MEM_LEAK_COLUMNS(COLUMN)                                                                \
	COLUMN(LEAK_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                    \
	COLUMN(LEAK_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                    \
	COLUMN(LEAK_KEY, "key", HT_STR, HT_KEY, "the user's own line whose blocks pile up", NULL)  \
	COLUMN(LEAK_BYTES_PER_STEP, "bytes_per_step", HT_F64, HT_MEASURE,                          \
	        "median slope of the bytes asked for and held at ends of steps (Theil-Sen)",       \
	        "bytes")                                                                           \
	COLUMN(LEAK_STEPS, "steps", HT_I64, HT_MEASURE, "steps that were looked at", NULL)         \
	COLUMN(LEAK_GROWING_STEPS, "growing_steps", HT_I64, HT_MEASURE,                            \
	        "of them, end with more than the one before", NULL)                                \
	COLUMN(LEAK_FIRST_BYTES, "first_bytes", HT_BYTES, HT_MEASURE,                              \
	        "held at the end of the first step", NULL)                                         \
	COLUMN(LEAK_LAST_BYTES, "last_bytes", HT_BYTES, HT_MEASURE,                                \
	        "held at the end of the last step", NULL)                                          \
	COLUMN(LEAK_BLOCKS, "blocks", HT_I64, HT_MEASURE,                                          \
	        "blocks of later steps that are still held", NULL)                                 \
	COLUMN(LEAK_STEPS_TO_OOM, "steps_to_oom", HT_F64, HT_MEASURE,                              \
	        "steps until the device is full; null: its size is not known", NULL)               \
	COLUMN(LEAK_TIME_TO_OOM_NS, "time_to_oom_ns", HT_DURATION_F64, HT_MEASURE,                 \
	        "the same as time", NULL)                                                          \
	COLUMN(LEAK_STACK, "stack", HT_STR, HT_DETAIL, "its stack, from the outermost in", NULL)
HT_COLUMN_NUMBERS(HT_MEM_LEAK_COLUMNS, N_LEAK_COLUMNS);

#define HT_MEM_OOM_COLUMNS(COLUMN)                                                                 \
	COLUMN(OOM_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                     \
	COLUMN(OOM_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                     \
	COLUMN(OOM_EVENT, "event", HT_I64, HT_KEY, "event of the error, from 0", NULL)             \
	COLUMN(OOM_TIME_NS, "time_ns", HT_DURATION, HT_MEASURE, "its time since the first event",  \
	        NULL)                                                                              \
	COLUMN(OOM_CLASS, "class", HT_STR, HT_MEASURE,                                             \
	        "limit, fragmentation, pool-isolation, outside or shortage", NULL)                 \
	COLUMN(OOM_REQUESTED_BYTES, "requested_bytes", HT_BYTES, HT_MEASURE, "what was asked for", \
	        NULL)                                                                              \
	COLUMN(OOM_DRIVER_FREE_BYTES, "driver_free_bytes", HT_BYTES, HT_MEASURE,                   \
	        "what the driver still had", NULL)                                                 \
	COLUMN(OOM_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE, "what tensors held",  \
	        NULL)                                                                              \
	COLUMN(OOM_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                         \
	        "what the allocator had reserved", NULL)                                           \
	COLUMN(OOM_FREE_BYTES, "free_bytes", HT_BYTES, HT_MEASURE,                                 \
	        "free inside segments of the request's pool and stream", NULL)                     \
	COLUMN(OOM_LARGEST_FREE_BYTES, "largest_free_bytes", HT_BYTES, HT_MEASURE,                 \
	        "the longest free run of these", NULL)                                             \
	COLUMN(OOM_OTHER_POOLS_FREE_BYTES, "other_pools_free_bytes", HT_BYTES, HT_MEASURE,         \
	        "free inside segments that the request may not use", NULL)                         \
	COLUMN(OOM_CAPACITY_BYTES, "capacity_bytes", HT_BYTES, HT_DETAIL,                          \
	        "memory of the device, where a trace says it", NULL)                               \
	COLUMN(OOM_OUTSIDE_BYTES, "outside_bytes", HT_BYTES, HT_DETAIL,                            \
	        "of that, neither reserved here nor free: other processes and libraries", NULL)    \
	COLUMN(OOM_KEY, "key", HT_STR, HT_MEASURE, "the user's own line that asked", NULL)         \
	COLUMN(OOM_HELP, "help", HT_STR, HT_MEASURE, "what would have helped", NULL)
HT_COLUMN_NUMBERS(HT_MEM_OOM_COLUMNS, N_OOM_COLUMNS);

#define HT_MEM_FRAG_COLUMNS(COLUMN)                                                                  \
	COLUMN(FRAG_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                      \
	COLUMN(FRAG_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                      \
	COLUMN(FRAG_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                          \
	        "reserved at that moment", NULL)                                                     \
	COLUMN(FRAG_FREE_BYTES, "free_bytes", HT_BYTES, HT_MEASURE, "free inside segments", NULL)    \
	COLUMN(FRAG_LARGEST_FREE_BYTES, "largest_free_bytes", HT_BYTES, HT_MEASURE,                  \
	        "the longest free run", NULL)                                                        \
	COLUMN(FRAG_FREE_RUNS, "free_runs", HT_I64, HT_MEASURE, "free runs", NULL)                   \
	COLUMN(FRAG_FRAGMENTATION, "fragmentation", HT_F64, HT_DETAIL,                               \
	        "sum of squares of free runs over the square of reserved, as memory_viz prints it",  \
	        NULL)                                                                                \
	COLUMN(FRAG_SCATTERED_SHARE, "scattered_share", HT_RATIO, HT_MEASURE,                        \
	        "of free bytes, outside of the longest run", NULL)                                   \
	COLUMN(FRAG_WASTE_BYTES, "waste_bytes", HT_BYTES, HT_MEASURE,                                \
	        "of blocks in use, beyond what was asked for", NULL)                                 \
	COLUMN(FRAG_FINDING, "finding", HT_STR, HT_MEASURE,                                          \
	        "fragmented: a segment was taken while four times as much, and a fifth of what was " \
	        "reserved, was free in its pool and stream",                                         \
	        NULL)                                                                                \
	COLUMN(FRAG_WORST_RATIO, "worst_ratio", HT_F64, HT_MEASURE,                                  \
	        "free in pieces over what was wanted, when a segment was taken, at most", NULL)      \
	COLUMN(FRAG_WORST_EVENT, "worst_event", HT_I64, HT_DETAIL, "that event, from 0", NULL)       \
	COLUMN(FRAG_WANTED_BYTES, "wanted_bytes", HT_BYTES, HT_DETAIL, "what was wanted then",       \
	        NULL)                                                                                \
	COLUMN(FRAG_FREE_IN_PIECES_BYTES, "free_in_pieces_bytes", HT_BYTES, HT_DETAIL,               \
	        "what was free then", NULL)                                                          \
	COLUMN(FRAG_HELP, "help", HT_STR, HT_MEASURE, "what helps", NULL)
HT_COLUMN_NUMBERS(HT_MEM_FRAG_COLUMNS, N_FRAG_COLUMNS);

#define HT_MEM_SEGMENT_COLUMNS(COLUMN)                                                             \
	COLUMN(SEGMENT_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                 \
	COLUMN(SEGMENT_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                 \
	COLUMN(SEGMENT_ADDRESS, "address", HT_STR, HT_KEY, "where it begins", NULL)                \
	COLUMN(SEGMENT_TOTAL_BYTES, "total_bytes", HT_BYTES, HT_MEASURE,                           \
	        "reserved from the driver", NULL)                                                  \
	COLUMN(SEGMENT_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                   \
	        "in blocks that tensors hold", NULL)                                               \
	COLUMN(SEGMENT_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_MEASURE,                         \
	        "allocated, and held for other streams", NULL)                                     \
	COLUMN(SEGMENT_REQUESTED_BYTES, "requested_bytes", HT_BYTES, HT_MEASURE, "asked for",      \
	        NULL)                                                                              \
	COLUMN(SEGMENT_LARGEST_FREE_BYTES, "largest_free_bytes", HT_BYTES, HT_MEASURE,             \
	        "its longest free run", NULL)                                                      \
	COLUMN(SEGMENT_BLOCKS, "blocks", HT_I64, HT_MEASURE, "blocks, free ones with them", NULL)  \
	COLUMN(SEGMENT_STREAM, "stream", HT_I64, HT_MEASURE,                                       \
	        "stream that it serves, 0 is the default", NULL)                                   \
	COLUMN(SEGMENT_POOL, "pool", HT_STR, HT_MEASURE, "default, or the id of a private pool",   \
	        NULL)                                                                              \
	COLUMN(SEGMENT_TYPE, "type", HT_STR, HT_MEASURE, "small: for requests up to 1 MiB; large", \
	        NULL)                                                                              \
	COLUMN(SEGMENT_IS_EXPANDABLE, "is_expandable", HT_BOOL, HT_MEASURE, "whether it grows",    \
	        NULL)                                                                              \
	COLUMN(SEGMENT_KEY, "key", HT_STR, HT_MEASURE, "the user's own line that took it", NULL)
HT_COLUMN_NUMBERS(HT_MEM_SEGMENT_COLUMNS, N_SEGMENT_COLUMNS);

#define HT_MEM_CHURN_COLUMNS(COLUMN)                                                               \
	COLUMN(CHURN_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(CHURN_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                   \
	COLUMN(CHURN_STEP, "step", HT_I64, HT_KEY, "step; null: what is after the last one", NULL) \
	COLUMN(CHURN_ALLOCATIONS, "allocations", HT_I64, HT_MEASURE, "allocations", NULL)          \
	COLUMN(CHURN_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                     \
	        "asked for by them", NULL)                                                         \
	COLUMN(CHURN_RELEASES, "releases", HT_I64, HT_MEASURE, "releases", NULL)                   \
	COLUMN(CHURN_SEGMENTS, "segments", HT_I64, HT_MEASURE,                                     \
	        "segments taken from the driver, which stalls", NULL)                              \
	COLUMN(CHURN_SEGMENT_BYTES, "segment_bytes", HT_BYTES, HT_MEASURE, "their bytes", NULL)    \
	COLUMN(CHURN_LONGEST_WAIT_NS, "longest_wait_ns", HT_DURATION, HT_MEASURE,                  \
	        "longest time that a freed block waited for other streams", NULL)
HT_COLUMN_NUMBERS(HT_MEM_CHURN_COLUMNS, N_CHURN_COLUMNS);

#define HT_MEM_POOL_COLUMNS(COLUMN)                                                                \
	COLUMN(POOL_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                    \
	COLUMN(POOL_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                    \
	COLUMN(POOL_POOL, "pool", HT_STR, HT_KEY,                                                  \
	        "default, or the id of a private pool: a CUDA graph's", NULL)                      \
	COLUMN(POOL_TYPE, "type", HT_STR, HT_KEY, "small or large", NULL)                          \
	COLUMN(POOL_STREAM, "stream", HT_I64, HT_KEY, "stream", NULL)                              \
	COLUMN(POOL_SEGMENTS, "segments", HT_I64, HT_MEASURE, "segments", NULL)                    \
	COLUMN(POOL_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE, "reserved at the end", \
	        NULL)                                                                              \
	COLUMN(POOL_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                      \
	        "allocated at the end", NULL)                                                      \
	COLUMN(POOL_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_MEASURE, "active at the end", NULL) \
	COLUMN(POOL_IDLE_BYTES, "idle_bytes", HT_BYTES, HT_MEASURE, "reserved and not active",     \
	        NULL)                                                                              \
	COLUMN(POOL_IDLE_SHARE, "idle_share", HT_RATIO, HT_MEASURE,                                \
	        "of the pool's reserved bytes", NULL)
HT_COLUMN_NUMBERS(HT_MEM_POOL_COLUMNS, N_POOL_COLUMNS);

#define HT_MEM_BLOCK_COLUMNS(COLUMN)                                                               \
	COLUMN(BLOCK_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(BLOCK_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                   \
	COLUMN(BLOCK_ADDRESS, "address", HT_STR, HT_KEY, "where it begins", NULL)                  \
	COLUMN(BLOCK_BYTES, "bytes", HT_BYTES, HT_MEASURE, "its size", NULL)                       \
	COLUMN(BLOCK_REQUESTED_BYTES, "requested_bytes", HT_BYTES, HT_MEASURE,                     \
	        "asked for; null: free", NULL)                                                     \
	COLUMN(BLOCK_STATE, "state", HT_STR, HT_MEASURE,                                           \
	        "active_allocated, active_pending_free or inactive", NULL)                         \
	COLUMN(BLOCK_SEGMENT, "segment", HT_STR, HT_DETAIL, "address of its segment", NULL)        \
	COLUMN(BLOCK_STREAM, "stream", HT_I64, HT_DETAIL, "stream of its segment", NULL)           \
	COLUMN(BLOCK_POOL, "pool", HT_STR, HT_DETAIL, "pool of its segment", NULL)                 \
	COLUMN(BLOCK_ALLOC_EVENT, "alloc_event", HT_I64, HT_MEASURE,                               \
	        "event that allocated it; null: before the first", NULL)                           \
	COLUMN(BLOCK_FREE_EVENT, "free_event", HT_I64, HT_MEASURE,                                 \
	        "event that frees it; null: none", NULL)                                           \
	COLUMN(BLOCK_KEY, "key", HT_STR, HT_MEASURE, "who allocated it, by the parameter by",      \
	        NULL)                                                                              \
	COLUMN(BLOCK_STACK, "stack", HT_STR, HT_DETAIL, "its stack, from the outermost in", NULL)
HT_COLUMN_NUMBERS(HT_MEM_BLOCK_COLUMNS, N_BLOCK_COLUMNS);

#define HT_MEM_MAP_COLUMNS(COLUMN)                                                                 \
	COLUMN(MAP_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                     \
	COLUMN(MAP_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                     \
	COLUMN(MAP_SEGMENT, "segment", HT_STR, HT_KEY, "address of the segment", NULL)             \
	COLUMN(MAP_POOL, "pool", HT_STR, HT_DETAIL, "its pool", NULL)                              \
	COLUMN(MAP_OFFSET_BYTES, "offset_bytes", HT_BYTES, HT_KEY,                                 \
	        "where the piece begins in the segment", NULL)                                     \
	COLUMN(MAP_BYTES, "bytes", HT_BYTES, HT_MEASURE, "its length", NULL)                       \
	COLUMN(MAP_HELD_BYTES, "held_bytes", HT_BYTES, HT_MEASURE, "of it in blocks", NULL)        \
	COLUMN(MAP_BLOCKS, "blocks", HT_I64, HT_MEASURE, "blocks in it; 0: free", NULL)            \
	COLUMN(MAP_STATE, "state", HT_STR, HT_DETAIL,                                              \
	        "active_allocated, active_pending_free, inactive, or several of them", NULL)       \
	COLUMN(MAP_KEY, "key", HT_STR, HT_MEASURE,                                                 \
	        "who allocated most of it, by the parameter by", NULL)                             \
	COLUMN(MAP_SEGMENTS, "segments", HT_I64, HT_DETAIL,                                        \
	        "segments of the device; the 64 largest are shown", NULL)
HT_COLUMN_NUMBERS(HT_MEM_MAP_COLUMNS, N_MAP_COLUMNS);

#define HT_MEM_EVENT_COLUMNS(COLUMN)                                                               \
	COLUMN(EVENT_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                   \
	COLUMN(EVENT_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                   \
	COLUMN(EVENT_EVENT, "event", HT_I64, HT_KEY, "number of the event, from 0", NULL)          \
	COLUMN(EVENT_TIME_NS, "time_ns", HT_DURATION, HT_MEASURE, "time since the first event",    \
	        NULL)                                                                              \
	COLUMN(EVENT_ACTION, "action", HT_STR, HT_MEASURE, "what the allocator did", NULL)         \
	COLUMN(EVENT_ADDRESS, "address", HT_STR, HT_MEASURE,                                       \
	        "of the block or segment; of an oom what was free", NULL)                          \
	COLUMN(EVENT_BYTES, "bytes", HT_BYTES, HT_MEASURE, "asked for; of segments, reserved",     \
	        NULL)                                                                              \
	COLUMN(EVENT_STREAM, "stream", HT_I64, HT_DETAIL, "stream", NULL)                          \
	COLUMN(EVENT_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                     \
	        "allocated after it", NULL)                                                        \
	COLUMN(EVENT_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_DETAIL, "active after it", NULL)   \
	COLUMN(EVENT_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE, "reserved after it",  \
	        NULL)                                                                              \
	COLUMN(EVENT_KEY, "key", HT_STR, HT_MEASURE, "the user's own line", NULL)                  \
	COLUMN(EVENT_ANNOTATION, "annotation", HT_STR, HT_DETAIL, "annotations around it", NULL)   \
	COLUMN(EVENT_COMPILE_CONTEXT, "compile_context", HT_STR, HT_DETAIL,                        \
	        "id of the compiled graph", NULL)                                                  \
	COLUMN(EVENT_USER_METADATA, "user_metadata", HT_STR, HT_DETAIL,                            \
	        "metadata that the user set", NULL)
HT_COLUMN_NUMBERS(HT_MEM_EVENT_COLUMNS, N_EVENT_COLUMNS);

#define HT_MEM_TIMELINE_COLUMNS(COLUMN)                                                            \
	COLUMN(TIMELINE_RANK, "rank", HT_I64, HT_KEY, "rank of the snapshot", NULL)                \
	COLUMN(TIMELINE_DEVICE, "device", HT_I64, HT_KEY, "index of the GPU", NULL)                \
	COLUMN(TIMELINE_EVENT, "event", HT_I64, HT_KEY,                                            \
	        "event with the most allocated of its piece of the history", NULL)                 \
	COLUMN(TIMELINE_TIME_NS, "time_ns", HT_DURATION, HT_MEASURE,                               \
	        "its time since the first event", NULL)                                            \
	COLUMN(TIMELINE_KEY, "key", HT_STR, HT_KEY,                                                \
	        "who allocated, by the parameter by; the largest, then the others", NULL)          \
	COLUMN(TIMELINE_BYTES, "bytes", HT_BYTES, HT_MEASURE, "its bytes after that event", NULL)  \
	COLUMN(TIMELINE_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE, "of all", NULL)  \
	COLUMN(TIMELINE_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                    \
	        "reserved after that event", NULL)
HT_COLUMN_NUMBERS(HT_MEM_TIMELINE_COLUMNS, N_TIMELINE_COLUMNS);

#endif
