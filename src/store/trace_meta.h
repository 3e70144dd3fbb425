/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_meta.h - what a trace file says about itself: sizes, times, rank, devices, process groups, keys of its header.
 */
#ifndef HT_STORE_TRACE_META_H
#define HT_STORE_TRACE_META_H

#include "store/event.h"

struct ht_trace;

struct ht_trace_meta {
	uint64_t file_bytes, json_bytes; /* as stored; decompressed */
	int64_t base_ns;                 /* baseTimeNanoseconds, HT_NO_I64 when absent */
	int64_t rank, world_size;        /* HT_NO_I64 when the file does not say */
	int64_t min_ts_ns, max_end_ns;   /* over rows with a usable time; HT_NO_I64 when none */
	int64_t window_end_ns;           /* Record Window End, HT_NO_I64 when absent */
	uint32_t dialect;
	uint32_t n_documents;
	uint32_t compression; /* enum ht_compression */
	uint32_t has_host_steps;
	uint64_t string_salt; /* of the places in string_index */
};

struct ht_device {
	int64_t id;
	uint32_t name;                     /* string id or HT_NO_STR */
	uint32_t properties;               /* the whole JSON object */
	int64_t total_memory_bytes, n_sms; /* HT_NO_I64 when absent */
};

struct ht_process_group {
	uint32_t name, description, backend; /* string ids or HT_NO_STR */
	uint32_t ranks;                      /* JSON array text */
	int64_t size;
};

/* The top-level key of a trace that was made by drawing into another: the name of that file. */
#define HT_DERIVED_FROM_KEY "holotrace_made_from"

/* A top-level key of the document other than traceEvents, by document and in file order. */
struct ht_header {
	uint32_t key, value; /* value is JSON text */
	uint16_t document;
	uint8_t after_events;
	uint8_t pad[5];
};

/* What the header says about a device, NULL when it says nothing. */
const struct ht_device *ht_trace_device(const struct ht_trace *trace, int64_t id);

#endif
