/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_names.h - what the name of a host call says about waiting; found once per name.
 */
#ifndef HT_GRAPH_CP_NAMES_H
#define HT_GRAPH_CP_NAMES_H

#include "model/run.h"

enum ht_cp_name {
	HT_CP_NAME_KNOWN = 1,     /* the other bits are set */
	HT_CP_NAME_WAITS = 2,     /* a call that may wait for the GPU */
	HT_CP_NAME_COPIES = 4,    /* a copy call: waits for its own copy only */
	HT_CP_NAME_LOCKS = 8,     /* holds the runtime's lock */
	HT_CP_NAME_AUTOGRAD = 16, /* the autograd engine at work */
	HT_CP_NAME_DATA_LOAD = 32,
	HT_CP_NAME_RECORDS = 64, /* records an event on a stream */
	HT_CP_NAME_DEVICE = 128, /* waits for everything on the device */
};

struct ht_cp_names {
	const struct ht_trace *trace;
	uint8_t *bits;                   /* by string id */
	void *data_load;                 /* regex_t of names that load data, or NULL */
	bool (*waits)(const char *name); /* which calls wait; NULL: by what names say */
};

/* data_load NULL: none; waits NULL: by what names say. Memory in run->scratch; HT_USAGE when the expression is not valid. To be ended
 * with ht_cp_names_done. */
enum ht_status ht_cp_names_make(struct ht_run *run, const struct ht_trace *trace,
        const char *data_load, bool (*waits)(const char *name),
        struct ht_cp_names *ret_names) HT_MUST_USE;
void ht_cp_names_done(struct ht_cp_names *names);
/* Sets the bits of a name that was not looked at yet; ht_cp_names_bits (cp_look.h) asks for it. */
void ht_cp_names_look(struct ht_cp_names *names, uint32_t id);

#endif
