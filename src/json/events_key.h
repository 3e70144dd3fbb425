/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_key.h - the key under which a document has its events.
 */
#ifndef HT_JSON_EVENTS_KEY_H
#define HT_JSON_EVENTS_KEY_H

#include <stdbool.h>
#include <stddef.h>

#define HT_EVENTS_KEY "traceEvents"

/* Exactly that key. */
bool ht_is_exact_events_key(const char *name, size_t n);
/* The first such key of a text, or a string like it: its quote. NULL for none. */
const char *ht_find_events_key(const char *text, size_t n);
/* That key, or it with one byte damaged, missing or too much: readers look into its value. */
bool ht_is_events_key(const char *name, size_t n);

#endif
