/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h - the tolerant reader: turns text with defects into valid JSON, and counts what it did.
 *
 * The strict scanner gives up at the first defect; this one reads the same value again, writes a
 * repaired copy, and the strict scanner reads that. So there is one place that stores events.
 */
#ifndef HT_READ_REPAIR_H
#define HT_READ_REPAIR_H

#include "read/event_worker.h"

enum ht_repair {
	HT_REPAIRED,   /* the copy is in worker->repaired, followed by padding; counters are set */
	HT_INCOMPLETE, /* the text ends inside the value */
	HT_HOPELESS,   /* no reading makes sense */
	HT_REPAIR_NOMEM,
};

/* Repair the event at p ('{'); limit is the end of the text. *ret_end is its end, or where it was given up. */
enum ht_repair ht_repair_event(
        struct ht_worker *worker, const char *p, const char *limit, const char **ret_end);
/* Repair the value of a top-level key. */
enum ht_repair ht_repair_header(
        struct ht_worker *worker, const char *p, const char *limit, const char **ret_end);

#endif
