/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_args.h - arguments of a node: values, shapes, types and strides walked together.
 *
 * A type says how to read its value: Int, Tensor(float), GenericList[Int,Tensor(c10::Half)], Tuple[...]; a dtype
 * may hold blanks, colons, angle brackets and parentheses. Texts come from files: brackets may be anything, so
 * every step is bounded by the NUL behind the text, and what does not fit together reads as absent.
 */
#ifndef HT_ET_ET_ARGS_H
#define HT_ET_ET_ARGS_H

#include "et/et.h"

/* How deep types may nest. */
#define HT_ET_MAX_NESTING 64

/* A piece of text. */
struct ht_et_piece {
	const char *text;
	size_t n;
};

/* A JSON array entered: the next element, false at its end. A string comes with its quotes. */
struct ht_et_list {
	const char *p;   /* NULL: no array, or at its end */
	const char *end; /* its bracket, once it was met */
};
struct ht_et_list ht_et_list(const char *text);
bool ht_et_list_next(struct ht_et_list *list, struct ht_et_piece *ret_element);
/* Where the next element begins; NULL at the end. Who takes it moves p behind it. */
const char *ht_et_list_peek(struct ht_et_list *list);
/* Elements of an array; 0 for anything else. */
size_t ht_et_list_count(const char *text);

enum ht_et_type { HT_ET_SCALAR, HT_ET_TENSOR, HT_ET_LIST, HT_ET_TUPLE, HT_ET_BAD_TYPE };

/* The next of the types that are separated by commas; false at the end. dtype or element types are inner. A type
 * whose brackets do not match is HT_ET_BAD_TYPE. */
struct ht_et_type_piece {
	enum ht_et_type kind;
	struct ht_et_piece text, inner;
};
bool ht_et_type_next(struct ht_et_piece *types, struct ht_et_type_piece *ret_type);

/* The six fields of a tensor, or five in old files. Behind it; NULL when it is none. */
const char *ht_et_tensor_parse(const char *text, struct ht_et_tensor *ret_tensor,
        struct ht_et_piece *ret_device, int *ret_n_fields);

/* Everything about one argument or one element of it. NULL texts where an array is too short or absent. */
struct ht_et_arg {
	struct ht_et_type_piece type;
	struct ht_et_piece value, shape, stride; /* text NULL: absent */
	size_t index;                            /* of the argument, from 0 */
};
/* Tell each tensor of the inputs or outputs, in flat order. False from the callback stops. */
typedef bool (*ht_et_tensor_fn)(void *user, const struct ht_et_arg *arg);
void ht_et_each_tensor(
        const struct ht_et *et, const struct ht_et_io *io, ht_et_tensor_fn fn, void *user);

#endif
