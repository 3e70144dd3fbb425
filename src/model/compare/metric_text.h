/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_text.h - a measure of two runs in words: "Step time 25.9 ms ± 1.2 % → 18.4 ms ± 1.0 %, -29.0 %".
 */
#ifndef HT_MODEL_COMPARE_METRIC_TEXT_H
#define HT_MODEL_COMPARE_METRIC_TEXT_H

#include "model/numbers/sampling.h"
#include "model/run.h"

/* Of control and test, with GPU time where there is any; ± is the deviation over steps, where there are two or more; what may be noise is
 * said to be. n_steps: of each side. In scratch; NULL when out of memory. */
const char *ht_metrics_text(struct ht_run *run, const char *what, const struct ht_sample *step,
        const struct ht_sample *gpu, const size_t *n_steps);

#endif
