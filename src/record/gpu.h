/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - CUDA calls and GPU work of a recording, as CUPTI reports them.
 *
 * CUPTI is loaded at run time; nothing is needed to build, and without it a recording has no GPU side.
 * It hands over buffers of activities from a thread of its own; the facts in them become records of one
 * stream, under a lock that no thread of the program takes. Times are of the recorder's own clock: CUPTI
 * is told to use it, and converts those of the device.
 */
#ifndef HT_RECORD_GPU_H
#define HT_RECORD_GPU_H

#include "record/part_file.h"

/* Recordings hold these numbers: a new kind comes last. */
enum ht_gpu_kind {
	HT_GPU_RUNTIME = 1, /* a call of the CUDA runtime; name, thread */
	HT_GPU_DRIVER,      /* of the driver */
	HT_GPU_KERNEL,      /* name, grid, block, registers, shared memory */
	HT_GPU_MEMCPY,      /* copy_kind, memory kinds, bytes */
	HT_GPU_MEMSET,      /* bytes */
	HT_GPU_SYNC,        /* sync_kind */
	HT_GPU_OVERHEAD,    /* of CUPTI itself; name, thread */
	HT_GPU_EVENT,       /* an event is recorded: stream, event, correlation */
	HT_GPU_DEVICE,      /* see struct ht_gpu_device */
};

/* One activity, as it is stored. */
struct ht_gpu_record {
	uint8_t kind; /* enum ht_gpu_kind */
	uint8_t copy_kind, from_kind, to_kind;
	uint8_t sync_kind;
	uint8_t reserved;
	uint16_t n_registers;
	uint32_t name; /* ht_record_name */
	int64_t start_ns, end_ns;
	uint32_t correlation;
	uint32_t thread; /* the system's number, of calls */
	uint32_t device, context, stream;
	uint32_t event, event_sync;
	uint32_t callback; /* CUPTI's number of the function */
	uint64_t n_bytes;  /* of copies and sets */
	uint32_t grid[3], block[3];
	uint32_t static_shared, dynamic_shared;
	uint32_t graph, peer; /* peer: the other device of a copy, plus one */
};

/* What a device can do; follows its kind in a record of its own. */
struct ht_gpu_device {
	uint8_t kind; /* HT_GPU_DEVICE */
	uint8_t reserved[3];
	uint32_t device;
	uint64_t memory_bytes;
	int32_t major, minor, max_threads_per_block, max_threads_per_sm, regs_per_block, warp_size;
	int32_t shared_per_block, n_sms, regs_per_sm, shared_per_block_optin, shared_per_sm;
	char name[100];
};

/* Load CUPTI, 0 or an errno value with the reason in ret_reason (static). path NULL: the usual places.
 * Once loaded it stays. */
int ht_gpu_load(const char *path, const char **ret_reason);
/* Write activities to this recording from now on, and not any more (after what is pending). */
void ht_gpu_attach(struct ht_part_file *part);
void ht_gpu_detach(void);
/* Switch the collection on and off; off waits for what CUPTI still holds. */
void ht_gpu_run(void);
void ht_gpu_pause(void);
/* The child of a fork has no CUDA. */
void ht_gpu_forget(void);
uint64_t ht_gpu_lost(void);

#endif
