/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_text.h - a measure of two runs in words: "Step time 25.9 ms ± 1.2 % → 18.4 ms ± 1.0 %, -29.0 %".
 */
#ifndef HT_MODEL_COMPARE_METRIC_TEXT_H
#define HT_MODEL_COMPARE_METRIC_TEXT_H

#include "model/numbers/sampling.h"
#include "model/run.h"

/* Of control and test; ± is the deviation over steps, where there are two or more. In scratch; NULL when out of memory. */
const char *ht_metric_text(struct ht_run *run, const char *what, const struct ht_sample *sides);

#endif
