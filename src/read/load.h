/*
 * load.h - one file into rows: read or inflate, cut into pieces, scan on all threads, check in order.
 */
#ifndef HT_READ_LOAD_H
#define HT_READ_LOAD_H

#include "base/io.h"
#include "read/document.h"

/* What a file holds. */
struct ht_loaded {
	struct ht_load load;       /* pools that the ids refer to */
	struct ht_chunk all;       /* all rows, in file order */
	struct ht_doc_state state; /* at the end */
	uint64_t file_bytes, json_bytes;
	enum ht_compression compression;
};

/* Read a whole source. On success the caller ends with ht_loaded_done; on failure nothing is left. */
enum ht_status ht_load_file(ht_ctx *ctx, struct ht_source *source, const char *path,
        size_t chunk_bytes, struct ht_loaded *ret_loaded) HT_MUST_USE;
void ht_loaded_done(struct ht_loaded *loaded);

#endif
