/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.h - from a recording to its files.
 */
#ifndef HT_RECORD_FINISH_H
#define HT_RECORD_FINISH_H

#include "record/image.h"

/* Write what the header names. A status, with its text in ht_record_error(). */
enum ht_status ht_finish_live(const struct ht_part_file *part);

#endif
