/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on standard error that says how far a long read is.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool enabled;
	int width;
	bool shown;       /* a line is on the screen */
	int64_t begun_ns; /* when the program started to work */
	int64_t phase_ns; /* when the present phase began */
	int64_t drawn_ns; /* when the line was drawn last */
	uint64_t phase_done;
	char what[128];
};

void progress_init(struct progress *progress, bool enabled, int width);
/* An ht_progress_fn; user is the struct progress. Cancels when the user interrupts (interrupt.h). */
bool progress_update(void *user, const char *what, uint64_t done, uint64_t total);
/* Take the line away, if there is one. */
void progress_clear(struct progress *progress);

#endif
