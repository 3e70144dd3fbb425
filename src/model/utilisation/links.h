/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - what collectives have to share, and what they could attain: compute that runs meanwhile, and the bandwidth of links.
 *
 * The bandwidth of a link in one direction is what the user says. Else it is half of the fabric of the device (devices.def), where all
 * ranks are there and have devices of different numbers, as those of one node do; otherwise it is not known, because a
 * trace does not say which ranks share a node.
 */
#ifndef HT_MODEL_UTILISATION_LINKS_H
#define HT_MODEL_UTILISATION_LINKS_H

#include "model/part.h"
#include "model/rows/frame.h"

#define HT_LINK_CALL_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_LINK_CALL_ROW, "row", HT_I64, HT_KEY, "row of a communication kernel", NULL)     \
	COLUMN(HT_LINK_CALL_COMPUTE_NS, "compute_ns", HT_DURATION, HT_MEASURE,                     \
	        "time of it with a compute kernel on the device", NULL)
HT_COLUMN_NUMBERS(HT_LINK_CALL_COLUMNS, HT_N_LINK_CALL_COLUMNS);
#define HT_LINK_DEVICE_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_LINK_DEVICE, "device", HT_I64, HT_KEY, "number of the device", NULL)             \
	COLUMN(HT_LINK_FABRIC, "fabric_bytes_per_s", HT_F64, HT_MEASURE,                           \
	        "peak bandwidth to other devices, both directions together", "byte/s")
HT_COLUMN_NUMBERS(HT_LINK_DEVICE_COLUMNS, HT_N_LINK_DEVICE_COLUMNS);
extern const struct ht_column ht_link_call_columns[], ht_link_device_columns[];

/* Of the communication kernels of the frame, ascending; and of the devices that they run on. */
enum ht_status ht_links_put(struct ht_run *run, const struct ht_frame *frame, ht_table *calls,
        ht_table *devices) HT_MUST_USE;

/* Time with compute of a call of a part, whose facts[k] has the calls; HT_NO_I64: not known. */
int64_t ht_link_compute_ns(const struct ht_part *part, size_t k, int64_t row);
/* GB/s in one direction; said: what the user says, NAN: nothing. facts[k] of the parts has the devices. NAN: not known. */
double ht_link_peak(const struct ht_run *run, const struct ht_parts *parts, size_t k, double said);

#endif
