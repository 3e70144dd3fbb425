/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_refs.h - who holds a trace: counted references, and the memory behind it.
 */
#ifndef HT_STORE_TRACE_REFS_H
#define HT_STORE_TRACE_REFS_H

#include <stdbool.h>
#include <stdint.h>

struct ht_trace;

/* A trace is made with one reference; the last one to be released frees it. NULL is fine. */
struct ht_trace *ht_trace_retain(struct ht_trace *trace);
void ht_trace_release(const struct ht_trace *trace);
/* Give the pages of a mapped file back; they come again when they are looked at. False when it is not one. */
bool ht_trace_rest(const struct ht_trace *trace);
/* What it holds in memory or as mapped file. */
uint64_t ht_trace_bytes(const struct ht_trace *trace);

#endif
