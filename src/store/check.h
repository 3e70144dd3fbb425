/*
 * check.h - is a trace sound: can every reader follow every number in it without leaving an array or
 * walking in circles?
 *
 * Asked of what comes from outside, a cache file. It says nothing about whether the numbers are right.
 */
#ifndef HT_STORE_CHECK_H
#define HT_STORE_CHECK_H

#include "store/trace.h"

/* Linear time; sections are looked at on all threads of the context. HT_NOMEM or HT_CANCELLED when it
 * could not be told. */
enum ht_status ht_trace_check_all(
        ht_ctx *ctx, const struct ht_trace *trace, bool *ret_sound) HT_MUST_USE;
/* The same on the calling thread alone; false also when out of memory. */
bool ht_trace_check(const struct ht_trace *trace);

#endif
