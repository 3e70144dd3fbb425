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
bool ht_parse_bool(const char *text, bool *ret);
bool ht_parse_f64(const char *text, double *ret);
/* "0.03" or "3%". */
bool ht_parse_ratio(const char *text, double *ret);
/* "30us", "1.5 ms", "200" (ns). */
bool ht_parse_duration(const char *text, int64_t *ret_ns);

#endif
