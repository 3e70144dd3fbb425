/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - Ctrl-C and its like while a file is being written: the file goes first, then the program.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From hold to release SIGINT, SIGTERM and SIGHUP only set a flag, which whoever writes has to look at; a
 * second one ends the program at once. Release ends it when one has come. Calls may be nested. */
void interrupt_hold(void);
void interrupt_release(void);
bool interrupt_pending(void);
/* Release, and go on though one has come; whether one has. For a prompt, where it ends the query only. */
bool interrupt_forget(void);

#endif
