/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_forms.h - memory timelines come as sums, "x.json", and event by event, "x.raw.json.gz": of the two the latter is read.
 */
#ifndef HT_READ_RAW_FORMS_H
#define HT_READ_RAW_FORMS_H

#include "base/arena.h"
#include "read/skipped.h"

struct ht_raw_forms {
	struct ht_arena *arena;
	const char **paths; /* sorted */
	size_t n;
};

/* Those among some files. False when out of memory. */
bool ht_raw_forms_list(struct ht_raw_forms *raw, struct ht_arena *arena,
        const struct ht_skipped *files, size_t n_files);
/* Has a file of sums one of them? */
bool ht_raw_forms_has(const struct ht_raw_forms *raw, const char *path);

#endif
