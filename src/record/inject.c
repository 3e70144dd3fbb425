/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c - record a program that knows nothing of it.
 *
 * `holotrace record` sets the environment and runs the program. CUDA loads this library at cuInit because
 * of CUDA_INJECTION64_PATH, NVTX at its first range because of NVTX_INJECTION64_PATH; whoever comes first
 * starts the recording, and the end of the program ends it.
 *
 *   HOLOTRACE_RECORD_TRACE   the timeline; "%p" is the process's number
 *   HOLOTRACE_RECORD_ET      the execution trace
 *   HOLOTRACE_RECORD_CUPTI   the library to use for GPU work
 *   HOLOTRACE_RECORD_PID     the process that may use names without "%p"; others add their number
 */
#include "record/inject.h"

#include "holotrace-record.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool started;

/* The name with "%p" replaced; without one, ".PID" goes before the ending for all but one process. */
static const char *file_name(const char *variable, char *name, size_t cap)
{
	const char *asked = getenv(variable), *owner = getenv("HOLOTRACE_RECORD_PID");
	if (!asked || !asked[0])
		return NULL;
	const char *mark = strstr(asked, "%p");
	int n;
	if (mark) {
		n = snprintf(name, cap, "%.*s%ld%s", (int)(mark - asked), asked, (long)getpid(),
		        mark + 2);
	} else if (owner && strtol(owner, NULL, 10) != (long)getpid()) {
		const char *base = strrchr(asked, '/'), *dot = strchr(base ? base : asked, '.');
		int n_stem = dot ? (int)(dot - asked) : (int)strlen(asked);
		n = snprintf(
		        name, cap, "%.*s.%ld%s", n_stem, asked, (long)getpid(), dot ? dot : "");
	} else {
		n = snprintf(name, cap, "%s", asked);
	}
	return n > 0 && (size_t)n < cap ? name : NULL;
}

static void finish(void)
{
	struct ht_record_stats stats = { .struct_size = sizeof stats };
	if (!ht_record_is_registered())
		return;
	if (ht_record_unregister() != 0)
		fprintf(stderr, "holotrace record: %s\n", ht_record_error());
	ht_record_get_stats(&stats);
	if (stats.n_lost)
		fprintf(stderr, "holotrace record: %llu records were lost\n",
		        (unsigned long long)stats.n_lost);
}

static int rank_from_environment(const char *const *variables, size_t n, int fallback)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = getenv(variables[i]);
		if (text && text[0])
			return (int)strtol(text, NULL, 10);
	}
	return fallback;
}

static void start(void)
{
	static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_PROCID" };
	static const char *const sizes[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		"SLURM_NTASKS" };
	static char trace[PATH_MAX], et[PATH_MAX];
	const char *et_path = file_name("HOLOTRACE_RECORD_ET", et, sizeof et);
	struct ht_record_options options = { .struct_size = sizeof options,
		.flags = HT_RECORD_CUDA,
		.trace_path = file_name("HOLOTRACE_RECORD_TRACE", trace, sizeof trace),
		.rank = rank_from_environment(ranks, sizeof ranks / sizeof ranks[0], 0),
		.n_ranks = rank_from_environment(sizes, sizeof sizes / sizeof sizes[0], 0),
		.cupti_path = getenv("HOLOTRACE_RECORD_CUPTI") };
	if (!et_path && !options.trace_path)
		return;
	int error = ht_record_register(et_path, &options);
	/* Not fatal: calls and ranges are still recorded. */
	if (error || ht_record_error()[0])
		fprintf(stderr, "holotrace record: %s\n", ht_record_error());
	if (error)
		return;
	started = ht_record_start() == 0;
	atexit(finish);
}

bool inject_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
	return started;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Called by the CUDA driver. */
int InitializeInjection(void)
{
	return inject_start() ? 1 : 0;
}
