/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates.h - the words of findings, as data (templates.def).
 */
#ifndef HT_MODEL_TEMPLATES_H
#define HT_MODEL_TEMPLATES_H

#include "model/finding/state.h"

#include <stddef.h>

/* What is said of a kind in a state; heading "": the text with a capital does. */
struct ht_template {
	const char *kind;
	enum ht_state state;
	const char *variant;
	const char *heading, *text, *more;
};

/* A word or a sentence for a kind or code. */
struct ht_saying {
	const char *kind, *variant, *text;
};

extern const struct ht_template ht_templates[], ht_item_templates[];
extern const size_t ht_n_templates, ht_n_item_templates;
extern const struct ht_saying ht_sayings[], ht_needs[], ht_terms[];
extern const size_t ht_n_sayings, ht_n_needs, ht_n_terms;

#endif
