/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - what can be read: one descriptor per format, listed in readers.def.
 *
 * Add one: write src/read/x.c with `const struct ht_reader ht_reader_x`, add READER(x) to readers.def. A file is
 * given to the first reader of the list that recognises its name and first bytes. The reader adds rows to the
 * builder (store/builder.h; rows.h for those that do not scan JSON events), and counts what it repairs or
 * leaves out. One trace may be built from several files of several formats, one after the other.
 */
#ifndef HT_READ_READER_H
#define HT_READ_READER_H

#include "base/io.h"
#include "read/sniff.h"
#include "store/builder.h"

/* The start of a file. */
struct ht_head {
	const char *name; /* of the file, without directories */
	const char *text; /* the first decompressed bytes */
	size_t n;
	bool is_all; /* there are no further bytes */
};

/* A file to be read. */
struct ht_reading {
	const char *path; /* as in messages */
	struct ht_source *source;
	size_t chunk_bytes; /* how much text one task scans, 0: default */
	int64_t part;       /* which of its parts, HT_NO_I64: of a file that is one rank */
};

struct ht_reader {
	const char *name; /* as in ht_open_options.reader */
	const char *what; /* what a file of it is: "a memory timeline" */
	/* how names end that are worth a look in a directory, ".json|.jsonl"; NULL: its files are not looked for, or
	 * are of a folder that is known. Compressed files always are. */
	const char *endings;
	bool by_name_only; /* files that directories and globs turn up are not taken: they are named, or nobody's */
	/* Is this such a file? */
	bool (*sniff)(const struct ht_head *head);
	/* The reader of a file that starts like this when its first bytes do not tell: it is opened for that. NULL: they do. */
	const struct ht_reader *(*look_inside)(ht_ctx *ctx, const char *path);
	/* The numbers of its parts, in the arena, when it holds several ranks; else none. NULL: a file is a rank. */
	enum ht_status (*parts)(ht_ctx *ctx, const char *path, struct ht_arena *arena,
	        int64_t **ret_parts, size_t *ret_n);
	/* Add the file to the builder. HT_FORMAT when nothing in it can be used. */
	enum ht_status (*read)(struct ht_builder *builder, const struct ht_reading *reading);
};

/* NULL when no reader knows the file. */
const struct ht_reader *ht_reader_find(const struct ht_head *head);
/* Whether some reader's files are named like this. */
bool ht_reader_looks_for(const char *name);
/* How the names of all of them end, as globs: "*.json, *.pftrace"; in the arena, NULL when out of memory. */
const char *ht_reader_globs(struct ht_arena *arena);
/* NULL when there is none of that name. */
const struct ht_reader *ht_reader_named(const char *name);

#define READER(x) extern const struct ht_reader ht_reader_##x;
#include "read/readers.def"
#undef READER

#endif
