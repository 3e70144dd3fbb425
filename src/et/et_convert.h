/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_convert.h - writing execution traces: Chakra's messages, JSON, a linked trace, DOT, a timeline.
 */
#ifndef HT_ET_ET_CONVERT_H
#define HT_ET_ET_CONVERT_H

#include "et/et_plan.h"
#include "base/emit.h"

/* Where bytes go. */
struct ht_et_out {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_writer *writer;
};

enum ht_status ht_et_write_chakra(
        const struct ht_et_out *out, const struct ht_et_plan *plan) HT_MUST_USE;
/* The nodes as read, in PyTorch's layout, damage repaired; Chakra's nodes in their own. */
enum ht_status ht_et_write_json(const struct ht_et_out *out, const struct ht_et *et) HT_MUST_USE;
/* The same with GPU nodes, times and dependencies, as Chakra's linker writes it. */
enum ht_status ht_et_write_linked(
        const struct ht_et_out *out, const struct ht_et_plan *plan) HT_MUST_USE;
enum ht_status ht_et_write_dot(
        const struct ht_et_out *out, const struct ht_et_plan *plan) HT_MUST_USE;
enum ht_status ht_et_write_timeline(
        const struct ht_et_out *out, const struct ht_et_plan *plan) HT_MUST_USE;

/* JSON text as Python's repr writes the value: single quotes, True, None, blanks behind commas. Appended to a
 * vector of char; false when out of memory. */
bool ht_et_repr(struct ht_mem *mem, struct ht_vec *text, const char *json);
/* The other way: tokens of a repr as those of JSON, which are valid JSON when the repr was that of a value. scratch
 * is a vector of char. False when a string has no end. */
struct ht_emit;
bool ht_et_repr_read(
        struct ht_mem *mem, struct ht_emit *e, struct ht_vec *scratch, const char *repr, size_t n);

#endif
