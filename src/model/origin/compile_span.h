/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_span.h - one span of what torch.compile did.
 */
#ifndef HT_MODEL_ORIGIN_COMPILE_SPAN_H
#define HT_MODEL_ORIGIN_COMPILE_SPAN_H

#include <stdint.h>

struct ht_compile_span {
	const char *name, *compile_id; /* "0/1", NULL where the log does not say */
	int64_t ts_ns, dur_ns;         /* in the log Unix time, of a rank the clock of its trace */
	uint32_t depth;                /* 0: inside no other one of its thread */
	uint32_t row;                  /* of the trace, HT_NONE */
};

#endif
