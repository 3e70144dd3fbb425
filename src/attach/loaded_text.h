/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_text.h - what a kind of attachment reads of a text that users write by hand: rules, formulas.
 *
 *     struct loaded { struct ht_loaded_text head; struct rules rules; };      the head comes first
 *
 *     load: return ht_text_load(ctx, attachment, sizeof(struct loaded), &how, ret_data);
 *     free: ht_text_free
 */
#ifndef HT_ATTACH_LOADED_TEXT_H
#define HT_ATTACH_LOADED_TEXT_H

#include "attach/kind.h"

struct ht_loaded_text;

/* How a text becomes data. */
struct ht_text_reader {
	/* Of text, which ends with a byte of 0 and may be changed; to is zero behind its head. Memory in the arena of the head. */
	enum ht_status (*read)(ht_ctx *ctx, const char *path, char *text, void *to);
	/* What the arena does not free, also after a read that failed; NULL: nothing. */
	void (*done)(void *data);
};

struct ht_loaded_text {
	struct ht_mem *mem;
	struct ht_arena arena;
	size_t n_bytes;
	const struct ht_text_reader *how;
};

/* The first file of an attachment, of 1 MiB at most, into n_bytes that begin with a head. */
enum ht_status ht_text_load(ht_ctx *ctx, const struct ht_attachment *attachment, size_t n_bytes,
        const struct ht_text_reader *how, void **ret_data) HT_MUST_USE;
void ht_text_free(void *data);

#endif
