/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.h - what a device can do at best: dense operations per second by type, bytes per second (devices.def).
 *
 * A device is known by its name, and only when the number of its SMs in the trace fits: fewer are a part of one (MIG, or a
 * limit), whose peaks are scaled and which says so; more are another device, and so is one whose memory, by clock and width of
 * its bus where the trace has them, is as fast as another's. What is not listed is unknown, never the nearest
 * one: a wrong peak makes every number that follows wrong. The user can say what a device is capable of:
 *     name=X,fp64=..,fp32=..,tf32=..,bf16=..,fp16=..,fp8=..,fp4=..,int8=..,hbm=..,fabric=..    (TFLOP/s, TOP/s and GB/s)
 * Of NPUs: cube=.. for matrix products in bf16 and fp16, vector=.. for everything else.
 */
#ifndef HT_MODEL_EFFICIENCY_PEAKS_H
#define HT_MODEL_EFFICIENCY_PEAKS_H

#include "model/efficiency/op_args.h"
#include "model/run.h"

struct ht_peaks {
	bool is_known;
	const char *name;          /* of the device, "" when the trace has none */
	const char *source;        /* of the numbers */
	double flops[HT_N_DTYPES]; /* per second, of matrix products; 0: not known */
	double vector_flops;       /* per second, of everything else; 0: not known */
	double achieved; /* bf16 and fp16 per second as measured by others; 0: not known */
	double bytes, fabric_bytes; /* per second; 0: not known */
	int64_t n_sms;              /* in the trace, HT_NO_I64: not recorded */
	double part;                /* of the whole device: 1, or less with fewer SMs */
};

/* Of a device of the rank in hand. spec is what the user said, NULL: nothing; it counts for every device, or for those of its
 * name. HT_USAGE when it cannot be read. Texts live in scratch or in the trace. */
enum ht_status ht_peaks_find(
        struct ht_run *run, int64_t device, const char *spec, struct ht_peaks *ret) HT_MUST_USE;
/* Refuse a spec that cannot be read. */
enum ht_status ht_peaks_check(struct ht_run *run, const char *spec) HT_MUST_USE;

#endif
