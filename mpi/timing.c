/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing.c - see timing.h.
 */
#include "timing.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LEAST_S 0.0005 /* of a phase that is worth its words */

static double read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct moment timing_now(void)
{
	return (struct moment){ read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID) };
}

void timing_add(struct timing *timing, enum phase phase, struct moment since)
{
	struct moment now = timing_now();
	timing->phases[phase].wall_s += now.wall_s - since.wall_s;
	timing->phases[phase].cpu_s += now.cpu_s - since.cpu_s;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void timing_say(const struct timing *timing, size_t id, const char *does)
{
	static const char *const names[PHASE_N] = { "start", "list", "open", "describe", "join",
		"make", "merge", "finish", "send", "wait", "end" };
	char text[1024];
	size_t n = (size_t)snprintf(text, sizeof(text), "holotrace: process %zu %s: %.3f s", id,
	        does, timing_now().wall_s - timing->began.wall_s);
	struct rusage used;
	for (size_t i = 0; i < PHASE_N; i++) {
		struct moment phase = timing->phases[i];
		if (phase.wall_s >= LEAST_S)
			n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s %.3f (%.3f)",
			        names[i], phase.wall_s, phase.cpu_s);
	}
	getrusage(RUSAGE_SELF, &used);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
	        "; user %.3f, system %.3f, page faults %ld, switches %ld + %ld, peak %ld MiB\n",
	        seconds(used.ru_utime), seconds(used.ru_stime), used.ru_minflt, used.ru_nvcsw,
	        used.ru_nivcsw, used.ru_maxrss >> 10);
	/* at once, or the lines of other processes come between */
	if (write(STDERR_FILENO, text, n) < 0) {
		/* nobody is there to be told */
	}
}
