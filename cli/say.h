/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - lines on standard error.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

/* Write a text to standard error as part of a line: controls, which a file's name may have too, are shown as \x1b. */
void cli_put_error(const char *text);
/* Print "holotrace: ..." as one line on standard error, in the same way. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
