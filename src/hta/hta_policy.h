/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_policy.h - HTA's definitions as a policy: the one place where they are chosen.
 */
#ifndef HT_HTA_HTA_POLICY_H
#define HT_HTA_HTA_POLICY_H

#include "model/policy.h"

/* values: HTA's values for oddities that can be chosen (hta-compat), its rows included; rows: its selection of
 * rows alone (hta-rows). Its derived columns can be asked for in any case. */
const struct ht_policy *ht_hta_policy(bool values, bool rows);

#endif
