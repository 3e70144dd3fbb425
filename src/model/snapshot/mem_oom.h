/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_oom.h - why the allocator could not give what was asked for.
 *
 * At an oom event: R requested, D that the driver still had free, A allocated and V reserved by the allocator, free runs
 * inside V. Capacity is V + D where nothing else says it. The first that fits:
 *
 *   limit            D >= R: the driver had it; a cap on the allocator refused (set_per_process_memory_fraction)
 *   fragmentation    V - A >= R in the request's own pool and stream, but no free run is that long
 *   pool-isolation   V - A >= R only together with other streams, or private pools of CUDA graphs
 *   outside          more memory is neither reserved here nor free than is reserved: other processes, NCCL, cuBLAS; known
 *                    only where the capacity of the device is
 *   shortage         A + R is more than there is
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_OOM_H
#define HT_MODEL_SNAPSHOT_MEM_OOM_H

#include "model/snapshot/mem_state.h"

enum ht_mem_oom_class {
	HT_MEM_OOM_LIMIT,
	HT_MEM_OOM_FRAGMENTATION,
	HT_MEM_OOM_ISOLATION,
	HT_MEM_OOM_OUTSIDE,
	HT_MEM_OOM_SHORTAGE,
};

struct ht_mem_oom {
	int64_t event;
	enum ht_mem_oom_class class_;
	int64_t requested, driver_free, allocated, reserved;
	int64_t pool_free, pool_largest; /* free runs of the request's pool and stream */
	int64_t all_free;                /* of all */
	int64_t capacity;                /* HT_NO_I64: unknown */
	int64_t outside;                 /* capacity that is neither reserved nor free, HT_NO_I64 */
	uint32_t stack;
};

/* capacity: of the device where it is known, else HT_NO_I64. Memory in scratch. */
enum ht_status ht_mem_oom_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *device, int64_t event, int64_t capacity,
        struct ht_mem_oom *ret_oom) HT_MUST_USE;
/* All of a device, in their order; the list is in scratch. */
enum ht_status ht_mem_ooms_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *device, int64_t capacity, struct ht_mem_oom **ret_list,
        size_t *ret_n) HT_MUST_USE;
const char *ht_mem_oom_name(enum ht_mem_oom_class class_);
/* What would have helped, a sentence, by the name of the class. */
const char *ht_mem_oom_help(const char *name, bool is_expandable);

#endif
