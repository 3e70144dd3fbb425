/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the time that waits and deadlines of the server are measured by.
 */
#ifndef HT_SERVE_CLOCK_H
#define HT_SERVE_CLOCK_H

#include <stdint.h>

/* Milliseconds of a clock that only goes forward. */
uint64_t now_ms(void);

#endif
