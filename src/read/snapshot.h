/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - a memory snapshot while it is read: records of the dictionary to columns of the store.
 */
#ifndef HT_READ_SNAPSHOT_H
#define HT_READ_SNAPSHOT_H

#include "read/pickle.h"
#include "store/builder.h"

/* Keys of the dictionaries that mean something. */
enum ht_snap_key {
	HT_SNAP_NO_KEY,
#define KEY(name) HT_SNAP_##name,
#include "read/snapshot_keys.def"
#undef KEY
	HT_SNAP_N_KEYS
};

/* What containers are folded to. */
enum ht_snap_record {
	HT_SNAP_FRAME, /* index of a frame */
	HT_SNAP_STACK, /* stack id */
	HT_SNAP_POOL,  /* both numbers of a pool id, 26 bits each */
	HT_SNAP_BAD,   /* an event or block that could not be understood */
	/* index of an event, segment, block, annotation; and a list of such that follow each other: index of a range */
	HT_SNAP_ENTRY,
	HT_SNAP_SEGMENT,
	HT_SNAP_BLOCK,
	HT_SNAP_NOTE,
	HT_SNAP_RANGE,
};

struct ht_snap_range {
	unsigned type; /* enum ht_snap_record of its items */
	uint64_t first, n;
};

/* Ids by the hash of what they stand for: 1 + id, 0 is free. */
struct ht_snap_index {
	uint32_t *slots;
	size_t cap, n;
};

/* The stack of a list of frames that stays a list, and how long the list was; a list only ever grows. */
struct ht_snap_known {
	uint32_t n, stack;
};

struct ht_snap {
	ht_ctx *ctx;
	struct ht_builder *builder;
	struct ht_mem_draft *draft;
	struct ht_pickle pickle;
	uint8_t *key_of; /* enum ht_snap_key by string id */
	size_t n_key_of;
	struct ht_snap_index frames, stacks;
	struct ht_vec ranges;  /* struct ht_snap_range */
	struct ht_vec scratch; /* uint32_t: frames of the stack in hand */
	struct ht_vec text;    /* char: settings as JSON */
	enum ht_status status; /* of folds */
	uint64_t n_bytes;      /* that all records together speak of */
	uint64_t n_placed;     /* blocks of all segments */
	struct ht_vec known;   /* struct ht_snap_known by object of the pickle */
};

enum ht_status ht_snap_init(
        struct ht_snap *snap, struct ht_builder *builder, const char *path) HT_MUST_USE;
void ht_snap_done(struct ht_snap *snap);
/* Make the draft of the dictionary: HT_FORMAT when it is none of a snapshot. */
enum ht_status ht_snap_finish(struct ht_snap *snap, ht_pk root) HT_MUST_USE;

/* The folds, and the stack of a list of frames that is none yet (snapshot_fold.c). */
extern const struct ht_pk_folds ht_snap_folds;
/* Count what contradicts itself: sums of blocks, times, frees of what was never allocated (snapshot_checks.c). */
enum ht_status ht_snap_check(struct ht_snap *snap) HT_MUST_USE;
/* JSON of the same dictionary, into the pickle's values (snapshot_json.c). */
enum ht_status ht_snap_json(struct ht_pickle *pickle, const struct ht_pk_bytes *bytes) HT_MUST_USE;

/* ---- for both files of it ---- */
enum ht_snap_key ht_snap_key(const struct ht_snap *snap, ht_pk value);

#endif
