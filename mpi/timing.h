/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.h - where the time of a process goes, for --timings.
 *
 * Every phase has its elapsed time and the processor time of the whole process in it: what is longer than its
 * processor time, on one thread, waited for the disk or for a processor. Each process keeps its own and says it in
 * a line at its end; clocks of different machines are not compared.
 */
#ifndef MPI_TIMING_H
#define MPI_TIMING_H

#include <stdbool.h>
#include <stddef.h>

enum phase {
	PHASE_START, /* of MPI; for a worker, until it knows who it is */
	PHASE_LIST,
	PHASE_OPEN,
	PHASE_DESCRIBE,
	PHASE_JOIN,
	PHASE_MAKE,
	PHASE_MERGE,  /* parts of others */
	PHASE_FINISH, /* the table out of all parts */
	PHASE_SEND,   /* to the other end of the socket */
	PHASE_WAIT,   /* for requests, or for answers */
	PHASE_END,    /* of MPI */
	PHASE_N,
};

struct moment {
	double wall_s, cpu_s;
};

struct timing {
	struct moment began;
	struct moment phases[PHASE_N];
};

struct moment timing_now(void);
/* What went by since then belongs to the phase. */
void timing_add(struct timing *timing, enum phase phase, struct moment since);
/* One line on standard error: "process 3 reads: ...". */
void timing_say(const struct timing *timing, size_t id, const char *does);

#endif
