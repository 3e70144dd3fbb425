/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pids.h - process ids that stay apart when several ranks go into one file.
 *
 * The processes of a trace are numbered, those with small ids (GPUs) first, and get
 *     pid = position of the trace * stride + number        stride: 100, or more when needed
 * so GPU 0 of the third trace is 200. Ids that are texts become "rank R <text>". Flow and async ids are
 * moved out of each other's way too.
 */
#ifndef HT_WRITE_PIDS_H
#define HT_WRITE_PIDS_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

struct ht_pid {
	int64_t old;       /* value or string id */
	uint16_t document; /* of the trace */
	uint8_t type;      /* enum ht_id_type: INT or STR */
	bool has_name;     /* the trace has a process_name event for it */
	uint32_t number;   /* of an integer pid, from 0 */
};

/* The processes of one trace. */
struct ht_pids {
	struct ht_vec list; /* struct ht_pid, sorted */
	uint32_t *of_track; /* by track: index into list, HT_NONE when it has no pid or no rows */
	size_t n_tracks;
	int64_t rank;
	int64_t first; /* added to the number */
	uint64_t i_trace;
};

enum ht_status ht_pids_init(ht_ctx *ctx, const struct ht_trace *trace, int64_t rank, size_t i_trace,
        struct ht_pids *ret_pids) HT_MUST_USE;
void ht_pids_done(ht_ctx *ctx, struct ht_pids *pids);
/* Call for all traces once all are known. */
void ht_pids_place(struct ht_pids *pids, size_t n);
/* The process of a whole number in the first document, NULL when the trace has none. */
const struct ht_pid *ht_pids_find(const struct ht_pids *pids, int64_t pid);

#endif
