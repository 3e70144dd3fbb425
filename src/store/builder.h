/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - a trace while readers fill it: rows, args and counters, with ids that all its pieces share.
 *
 *   ht_builder  one per trace: pools that give ids to strings, arg columns, shapes, tracks, categories,
 *               and all rows so far, whatever files they come from
 *   ht_chunk    one per piece of text: rows in file order, numbered from 0 (chunk.h)
 *
 * Because the ids are shared, joining chunks is concatenation; chunks of one file, and files of one rank,
 * follow each other. ht_builder_seal (build.h) turns the whole into a trace.
 */
#ifndef HT_STORE_BUILDER_H
#define HT_STORE_BUILDER_H

#include "base/intern.h"
#include "base/io.h"
#include "store/chunk.h"
#include "store/allocator_snapshot.h"

#include <string.h>

/* Distinct (key, type) pairs in one file; real traces have some 150. Of more, the first ones stored in file
 * order are kept, and the args of the others are counted as too_many_keys. */
#define HT_MAX_COLUMNS 16384

/* Keys of the pools; all bytes are significant, so zero-initialise. */
struct ht_track_key {
	int64_t pid, tid;
	uint8_t pid_type, tid_type;
	uint16_t document;
	uint32_t zero;
};

struct ht_column_key {
	uint32_t key; /* string id */
	uint8_t type, top_level;
	uint16_t table; /* 1 + number of the arg table whose own column it is, 0: none */
};

struct ht_builder {
	ht_ctx *ctx;
	struct ht_mem *mem;
	const char *path; /* of the file being read, for messages */
	struct ht_pool strings, columns, shapes, tracks, categories;
	struct ht_chunk all;             /* the rows of all files, in order of reading */
	uint64_t file_bytes, text_bytes; /* of all files, as stored and decompressed */
	enum ht_compression compression; /* of the first one */
	bool was_extended;    /* args were added to older rows: columns are out of order */
	struct ht_vec drafts; /* side tables, see draft.h */
	struct ht_vec tables; /* struct ht_arg_table *: args that came as tables, see arg_table.h */
	struct ht_mem_draft snapshot; /* memory snapshot */
	uint32_t dialect;     /* enum ht_dialect when a reader knows it, else 0: by the rows */
	uint16_t n_documents; /* of the files before the one being read: pids of each are its own */
};

/* A key of the trace's header and its value, which is valid JSON. False when out of memory. */
bool ht_builder_header(struct ht_builder *builder, const char *key, size_t n_key, const char *value,
        size_t n_value);

#endif
