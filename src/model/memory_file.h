/*
 * memory_file.h - PyTorch's raw memory timeline: what export_memory_timeline("x.raw.json.gz") writes.
 *
 * A JSON list of [time_ns, action, bytes, category], gzip or not. bytes is signed; category counts
 *   0 parameter  1 optimizer state  2 input  3 temporary  4 activation  5 gradient  6 autograd detail
 *   7 unknown
 * Events of things that were there before the recording have a negative time and come first; they
 * stand at the earliest positive time. The action (preexisting, create, increment version, destroy) is
 * not needed: bytes has its sign.
 */
#ifndef HT_MODEL_MEMORY_FILE_H
#define HT_MODEL_MEMORY_FILE_H

#include "base/status.h"

enum { HT_N_MEMORY_CATEGORIES = 8 };

struct ht_memory_sample {
	int64_t unix_ns;
	int64_t bytes[HT_N_MEMORY_CATEGORIES]; /* held from this time on */
};

/* One sample per run of events with the same time, in file order. Memory in the arena. HT_FORMAT with
 * the offset when the file is something else. */
enum ht_status ht_memory_file_read(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        const struct ht_memory_sample **ret_samples, size_t *ret_n) HT_MUST_USE;

/* "parameter", "optimizer_state", ...; category below HT_N_MEMORY_CATEGORIES. */
const char *ht_memory_category_name(size_t category);

#endif
