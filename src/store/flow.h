/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - arrows between events, as the file has them.
 */
#ifndef HT_STORE_FLOW_H
#define HT_STORE_FLOW_H

#include <stdint.h>

/* A flow: start and finish rows, and the spans they bind to. */
struct ht_flow {
	uint64_t id;
	uint32_t cat;                   /* string id */
	uint32_t start_row, finish_row; /* the s and f rows, HT_NONE when lone */
	uint32_t from, to;              /* spans they bind to, HT_NONE when none */
	uint32_t pad;
};

#endif
