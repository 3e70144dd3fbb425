/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_payload.h - what NCCL says of its calls by NVTX: communicator, size of the message, peer; of communicators their
 * ranks.
 *
 * The exporter stores the bytes as they are, or decoded as JSON, where it was asked to. The layout is NCCL's own since it
 * has payloads: a communicator in 8 bytes, then either the bytes of the message (8) and a peer, root or reduction (4), or,
 * of calls that make communicators, ranks, rank and device (4 each); little-endian.
 */
#ifndef HT_READ_NSYS_NSYS_PAYLOAD_H
#define HT_READ_NSYS_NSYS_PAYLOAD_H

#include "read/nsys/nsys.h"

struct ht_nsys_payload {
	uint64_t communicator;
	int64_t bytes, peer;   /* HT_NO_I64: not said */
	int64_t n_ranks, rank; /* of calls that make communicators */
};

/* Plain args. */
struct ht_nsys_payload_args {
	uint32_t collective, group, size, elements, dtype, from, to;
};
void ht_nsys_payload_args_make(struct ht_nsys *n, struct ht_nsys_payload_args *args);

/* False when it is no call of NCCL, or says nothing. name is the call; json and bytes may be NULL. */
bool ht_nsys_payload_read(const char *name, size_t n_name, const char *json, size_t n_json,
        const unsigned char *bytes, size_t n_bytes, struct ht_nsys_payload *ret_payload);
/* As args of the event in hand; the rank of the largest communicator is the process's. */
enum ht_status ht_nsys_payload_put(struct ht_nsys *n, const struct ht_nsys_payload_args *args,
        const char *name, size_t n_name, const struct ht_nsys_payload *payload) HT_MUST_USE;

#endif
