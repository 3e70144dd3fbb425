/*
 * hta_frame.h - HTA's own selection of rows; frame.c asks for it when run->hta_rows is set.
 */
#ifndef HT_HTA_HTA_FRAME_H
#define HT_HTA_HTA_FRAME_H

#include "model/frame.h"

/* Fill rows, gpu and cut of a frame whose trace is set. */
enum ht_status ht_hta_frame_fill(struct ht_run *run, struct ht_frame *frame) HT_MUST_USE;

/* A time of the file as HTA reads it: the double nearest to its microseconds. */
double ht_hta_us(int64_t ns);
/* The same in whole ns: absolute unix times come out in steps of 250 ns. */
int64_t ht_hta_ns(int64_t ns);

/* Room in scratch for the two lists of a frame. */
enum ht_status ht_frame_alloc_lists(struct ht_run *run, size_t n_rows, size_t n_gpu,
        uint32_t **ret_rows, uint32_t **ret_gpu) HT_MUST_USE;

#endif
