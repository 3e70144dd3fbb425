/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation.h - values of Perfetto's DebugAnnotation as JSON text.
 *
 *   [[8, 16], "a"]   =   element { element { int 8 } element { int 16 } } element { text "a" }
 */
#ifndef HT_WIRE_ANNOTATION_H
#define HT_WIRE_ANNOTATION_H

#include "base/emit.h"
#include "wire/message.h"

/* Texts that numbers stand for; NULL: none. */
struct ht_annotation_texts {
	void *user;
	const char *(*name)(void *user, uint64_t iid, size_t *ret_n);
	const char *(*text)(void *user, uint64_t iid, size_t *ret_n);
};

/* The value of an annotation as JSON text. False when what it holds is damaged or nested too deep: that part is null. */
bool ht_annotation_print(struct ht_emit *emit, const unsigned char *bytes, size_t n,
        const struct ht_annotation_texts *texts);

#endif
