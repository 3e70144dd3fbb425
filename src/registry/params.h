/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - parameter values from text, by their type.
 */
#ifndef HT_REGISTRY_PARAMS_H
#define HT_REGISTRY_PARAMS_H

#include "base/status.h"

/* Whether text is a value of the parameter; HT_USAGE with what would be one. */
enum ht_status ht_param_check(
        ht_ctx *ctx, const struct ht_param *param, const char *text) HT_MUST_USE;

#endif
