/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_flags.h - what a node of a graph of events is.
 */
#ifndef HT_JOB_EVENT_FLAGS_H
#define HT_JOB_EVENT_FLAGS_H

enum ht_node_flag {
	HT_EVENT_WORK = 1,   /* GPU activity; else host */
	HT_EVENT_COMM = 2,   /* a communication kernel */
	HT_EVENT_ENDS = 4,   /* ends its step: the host at the end of the step, or work of it */
	HT_EVENT_LOADS = 8,  /* loads data */
	HT_EVENT_GC = 16,    /* collects garbage */
	HT_EVENT_AGAIN = 32, /* activations that are computed again in the backward pass */
	/* of the backward pass, and of the optimizer; what is neither counts to the forward pass. GPU activity has it of its launch */
	HT_EVENT_BACKWARD = 64,
	HT_EVENT_OPTIMIZER = 128,
};

#define HT_EVENT_PHASES (HT_EVENT_BACKWARD | HT_EVENT_OPTIMIZER)

#endif
