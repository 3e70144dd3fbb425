/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_frame.h - HTA's own selection of rows, and what it reads from them.
 */
#ifndef HT_HTA_HTA_FRAME_H
#define HT_HTA_HTA_FRAME_H

#include "model/rows/frame.h"

/* Fill rows, gpu and cut of a frame whose trace is set. */
enum ht_status ht_hta_frame_fill(struct ht_run *run, struct ht_frame *frame) HT_MUST_USE;

/* A time of the file as HTA reads it: the double nearest to its microseconds. */
double ht_hta_us(int64_t ns);
/* The same in whole ns: absolute unix times come out in steps of 250 ns. */
int64_t ht_hta_ns(int64_t ns);

/* The columns that HTA derives: stream 4294967295 is -1 unless HTA's values are asked for; with its rows
 * iterations follow its rule (3.2), where GPU rows of stream 0 have HT_NO_I64. */
enum ht_status ht_hta_columns(struct ht_run *run, const struct ht_frame *frame, bool with_iteration,
        struct ht_row_columns *ret_columns) HT_MUST_USE;
/* Does HTA count the row among its GPU rows when it filters: with stream and correlation, or a wait on an event
 * or context? */
bool ht_hta_is_gpu_row(
        const struct ht_trace *trace, const struct ht_row_columns *columns, uint32_t row);

/* The number of the step whose range holds a row, or the launch of GPU work; -1: none, also between steps. */
int64_t ht_hta_step_of(const struct ht_trace *trace, uint32_t row);

#endif
