/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_origins.h - where the GPU activity of a rank comes from, found once where several analyses run together.
 */
#ifndef HT_MODEL_ORIGIN_FIND_ORIGINS_H
#define HT_MODEL_ORIGIN_FIND_ORIGINS_H

#include "model/origin/origin.h"

/* Of the rank in hand; found once where several analyses run together. with_modules: modules of level A, too. */
enum ht_status ht_origins_make(
        struct ht_run *run, bool with_modules, struct ht_origins *ret_origins) HT_MUST_USE;
/* Whether more can be known of modules than what is around launches: by graphs, or by a log of torch.compile. */
bool ht_origins_deepen(const struct ht_run *run);

#endif
