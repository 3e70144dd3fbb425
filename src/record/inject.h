/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - the library that unmodified programs load, on the word of the environment.
 */
#ifndef HT_RECORD_INJECT_H
#define HT_RECORD_INJECT_H

#include <stdbool.h>
#include <stdint.h>

typedef const void *(*export_table_fn)(uint32_t id);

/* Start the recording that the environment asks for, once. False: it asks for none, or it failed. */
bool inject_start(void);

#endif
