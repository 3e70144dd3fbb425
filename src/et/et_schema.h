/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_schema.h - the text of an operator's schema: "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
 */
#ifndef HT_ET_ET_SCHEMA_H
#define HT_ET_ET_SCHEMA_H

#include "et/et_args.h"

/* Up to the overload's dot or the first parenthesis: "aten::add". */
struct ht_et_piece ht_et_schema_name(const char *schema);

struct ht_et_schema_arg {
	struct ht_et_piece type, name, default_value; /* default: text NULL when there is none */
};

/* The arguments in order; the star that stands between them is none. */
struct ht_et_schema {
	const char *p; /* NULL: at the end */
};
struct ht_et_schema ht_et_schema_enter(const char *schema);
bool ht_et_schema_next(struct ht_et_schema *schema, struct ht_et_schema_arg *ret_arg);

#endif
