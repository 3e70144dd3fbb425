/*
 * finish.h - from a recording to its files.
 */
#ifndef HT_RECORD_FINISH_H
#define HT_RECORD_FINISH_H

#include "record/image.h"

/* Write what the header names. 0 or an errno value, with its text in ht_record_error(). */
int ht_finish_live(const struct ht_part *part);
/* Write to these paths; "" is none. */
enum ht_status ht_finish_image(const struct ht_image *image, const char *path,
        const char *trace_path, int64_t finish_ns) HT_MUST_USE;

#endif
