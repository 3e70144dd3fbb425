/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates.c - templates.def as tables.
 */
#include "model/finding/templates.h"

#include "base/status.h"

#define SAY(kind, state, variant, heading, text, more)                                             \
	{ kind, HT_STATE_##state, variant, heading, text, more },
#define ITEM(kind, variant, text)
#define ADVISE(kind, variant, text)
#define NEEDS(kind, text)
#define TERM(code, text)
const struct ht_template ht_templates[] = {
#include "model/finding/templates.def"
};
#undef SAY
#undef ITEM
const size_t ht_n_templates = HT_COUNT(ht_templates);

#define SAY(kind, state, variant, heading, text, more)
#define ITEM(kind, variant, text) { kind, HT_STATE_FOUND, variant, "", text, "" },
const struct ht_template ht_item_templates[] = {
#include "model/finding/templates.def"
};
#undef ITEM
#undef ADVISE
const size_t ht_n_item_templates = HT_COUNT(ht_item_templates);

#define ITEM(kind, variant, text)
#define ADVISE(kind, variant, text) { kind, variant, text },
const struct ht_saying ht_sayings[] = {
#include "model/finding/templates.def"
};
#undef ADVISE
#undef NEEDS
const size_t ht_n_sayings = HT_COUNT(ht_sayings);

#define ADVISE(kind, variant, text)
#define NEEDS(kind, text) { kind, "", text },
const struct ht_saying ht_needs[] = {
#include "model/finding/templates.def"
};
#undef NEEDS
#undef TERM
const size_t ht_n_needs = HT_COUNT(ht_needs);

#define NEEDS(kind, text)
#define TERM(code, text) { code, "", text },
const struct ht_saying ht_terms[] = {
#include "model/finding/templates.def"
};
const size_t ht_n_terms = HT_COUNT(ht_terms);
