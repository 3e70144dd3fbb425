/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - numbers that nobody can guess: tokens, ids of sessions.
 */
#ifndef SERVE_RANDOM_H
#define SERVE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* False when the system has none to give. */
bool random_bytes(void *bytes, size_t n);
/* A text of n - 1 hexadecimal digits, an even number. */
bool random_hex(char *text, size_t n);

#endif
