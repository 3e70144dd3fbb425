/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - the lines under a table as data: severity, kind, values, and what to run next.
 *
 *   { warning, "missing-files", values { n 3 }, next { "health" } }   ->   "warning: 3 files are missing. Next: health"
 */
#ifndef HT_TABLE_NOTE_H
#define HT_TABLE_NOTE_H

#include "table/table.h"

/* "idle-breakdown --by device --where 'x == 1'": a verb with its arguments as a shell takes them; an argument "true" is a
 * switch. NULL when out of memory. */
const char *ht_next_line(
        struct ht_arena *arena, const char *verb, const struct ht_arg *args, size_t n);
/* A value that is not there: no text, no number, or HT_NO_I64. */
bool ht_note_value_is_absent(const struct ht_note_value *value);

#endif
