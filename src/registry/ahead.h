/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - parts that were made while the traces were opened, for the question that is asked then.
 *
 * A set that is larger than memory would be read twice: once to know all ranks, once to look at each. Who says at
 * the opening what he will ask (ht_open_for) has each rank looked at while its trace is at hand.
 */
#ifndef HT_REGISTRY_AHEAD_H
#define HT_REGISTRY_AHEAD_H

#include "registry/registry.h"

/* The part of rank i of the roster of the run's side, when it was made ahead and is what the run would make. It is
 * the caller's then. */
bool ht_ahead_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *ret_part);

#endif
