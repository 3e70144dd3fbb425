/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_main.c - holotrace-mpi: the program over the processes that mpirun or srun starts; see team.h.
 *
 * The worker is forked before MPI starts, so that nothing of MPI is in it.
 */
#include "team.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define TIMEOUT_S  60
#define MAX_HANDED 256 /* file descriptors that a launcher may hand down */

static bool read_timeout(const char *text, double *ret_s)
{
	char *end = NULL;
	double value = text != NULL ? strtod(text, &end) : 0;
	if (end == NULL || end == text || *end != '\0' || !(value >= 1)) {
		cli_say("--timeout takes a number of seconds, 1 at least");
		return false;
	}
	*ret_s = value;
	return true;
}

/* Options of the launch come before the verb. False after the mistake has been said. */
static bool read_launch(int argc, char **argv, struct launch *ret_launch)
{
	static const char timeout[] = "--timeout";
	struct launch launch = { .timeout_s = TIMEOUT_S };
	int i = 1;
	for (; i < argc; i++) {
		const char *value = NULL;
		if (strcmp(argv[i], "--local") == 0) {
			launch.local = true;
			continue;
		}
		if (strcmp(argv[i], "--timings") == 0) {
			launch.timings = true;
			continue;
		}
		if (strncmp(argv[i], timeout, strlen(timeout)) != 0)
			break;
		if (argv[i][strlen(timeout)] == '=')
			value = argv[i] + strlen(timeout) + 1;
		else if (argv[i][strlen(timeout)] == '\0')
			value = ++i < argc ? argv[i] : NULL;
		else
			break;
		if (!read_timeout(value, &launch.timeout_s))
			return false;
	}
	launch.n_used = i - 1;
	*ret_launch = launch;
	return true;
}

/* What the launcher handed down is for the carrier alone; open ends would look as if it were still there. */
static void close_handed(int keep)
{
	for (int fd = STDERR_FILENO + 1; fd < MAX_HANDED; fd++)
		if (fd != keep)
			(void)close(fd);
}

static int run_child(int fd, pid_t carrier, const struct launch *launch, int argc, char **argv)
{
	uint64_t kind;
	struct wire bytes;
	struct desk desk = { .timing.began = timing_now() };
#ifdef __linux__
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	close_handed(fd);
	heaps_set_up();
	if (getppid() != carrier || !frame_receive(fd, &kind, &bytes))
		return EXIT_LIMIT;
	memcpy(&desk.seat, bytes.bytes, sizeof(desk.seat));
	/* the nodes stand behind it, and stay */
	desk.nodes = (const uint64_t *)(const void *)(bytes.bytes + sizeof(desk.seat));
	desk.marks = board_map(descriptor_receive(fd));
	timing_add(&desk.timing, PHASE_START, desk.timing.began);
	if (desk.seat.id != 0)
		return worker_run(fd, &desk, launch->timings);
	argv[launch->n_used] = argv[0];
	return leader_run(fd, &desk, launch->timings, argc - launch->n_used, argv + launch->n_used);
}

int main(int argc, char **argv)
{
	struct launch launch;
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	if (!read_launch(argc, argv, &launch))
		return EXIT_USAGE;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
		cli_say("no socket for the worker");
		return EXIT_LIMIT;
	}
	pid_t carrier = getpid(), worker = fork();
	if (worker < 0) {
		cli_say("no process for the worker");
		return EXIT_LIMIT;
	}
	if (worker == 0) {
		close(ends[0]);
		int code = run_child(ends[1], carrier, &launch, argc, argv);
		fflush(NULL);
		_exit(code);
	}
	close(ends[1]);
	return carrier_run(ends[0], (int)worker, &launch);
}
