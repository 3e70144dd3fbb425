/*
 * repair.h - the tolerant reader: turns text with defects into valid JSON, and counts what it did.
 *
 * The strict scanner gives up at the first defect; this one reads the same value again, writes a
 * repaired copy, and the strict scanner reads that. So there is one place that stores events.
 */
#ifndef HT_READ_REPAIR_H
#define HT_READ_REPAIR_H

#include "read/chunk.h"

enum ht_repair {
	HT_REPAIRED,   /* the copy is in worker->repaired, followed by padding; counters are set */
	HT_INCOMPLETE, /* the text ends inside the value */
	HT_HOPELESS,   /* no reading makes sense */
	HT_REPAIR_NOMEM,
};

/* Repair the event at p ('{'); limit is the end of the text. */
enum ht_repair ht_repair_event(
        struct ht_worker *worker, const char *p, const char *limit, const char **ret_end);
/* Repair the value of a top-level key. */
enum ht_repair ht_repair_header(
        struct ht_worker *worker, const char *p, const char *limit, const char **ret_end);

/* Where the next event seems to start after p; limit when there is none. With or_end also the bracket
 * that seems to close the list. Used to resume after a hopeless event, and to guess where a file can
 * be cut. */
const char *ht_next_event(const char *p, const char *limit, bool or_end);

/* Where the next "key": of an object seems to start, behind a comma; limit when there is none. */
const char *ht_next_key(const char *p, const char *limit);

#endif
