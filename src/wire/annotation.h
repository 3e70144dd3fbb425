/*
 * annotation.h - lists and dictionaries as values of Perfetto's DebugAnnotation, and back to JSON text.
 *
 *   [[8, 16], "a"]   =   element { element { int 8 } element { int 16 } } element { text "a" }
 *
 * What the messages cannot tell apart (an empty list, 1.50, another spelling of a text) is kept as JSON text in its
 * place, so that the text reads back byte by byte.
 */
#ifndef HT_WIRE_ANNOTATION_H
#define HT_WIRE_ANNOTATION_H

#include "base/emit.h"
#include "wire/message.h"

/* Put the fields of a value, one JSON text of n bytes with a 0 behind it, into a message. */
enum ht_status ht_annotation_put(
        ht_ctx *ctx, struct ht_message *message, const char *json, size_t n) HT_MUST_USE;

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
