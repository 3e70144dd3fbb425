/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_record.c - run a program and record its CUDA calls, GPU work and NVTX ranges.
 *
 * The program is not changed: CUDA and NVTX load the recorder because the environment names it. The files
 * are written by the program's own process when it ends; when it was killed, they are made here from what
 * it left.
 */
#include "verbs.h"

#if HT_RECORD

#include "holotrace-record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#endif

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "output", 'o', "FILE", NULL, "holotrace-%p.json",
	        "the timeline; %p is the number of the process, .gz and .zst compress",
	        "This command", false },
	{ "et", 0, "FILE", NULL, NULL, "also an execution trace of the annotations", "This command",
	        false },
	{ "cupti", 0, "FILE", NULL, NULL,
	        "the CUPTI library to use instead of the one in the usual places", "This command",
	        false },
	{ "recover", 0, "FILE", NULL, NULL,
	        "run nothing: make the files from FILE.part, which a killed process left",
	        "This command", false },
};

const struct verb command_record = {
	.name = "record",
	.usage = "[-o FILE] -- PROGRAM [ARGUMENT...]",
	.summary = "Run a program and record its CUDA calls, GPU activity and NVTX ranges",
	.text = "The program needs no change: CUDA and NVTX load the recorder when they are first used. CUDA "
	        "calls, kernels, copies and synchronisation come from CUPTI, annotations from NVTX. Processes "
	        "that the program starts are recorded too, each to a file with its number in the name. The "
	        "exit status is the program's.",
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

#if HT_RECORD

#define LIBRARY "libholotrace-inject.so"

enum { EXIT_NOT_STARTED = 126, EXIT_NOT_FOUND = 127 }; /* as shells say it */

/* The library beside this program, where it is built, or where it was installed. */
static bool find_library(char *path, size_t cap)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n > 0) {
		self[n] = 0;
		char *slash = strrchr(self, '/');
		int n_folder = slash ? (int)(slash - self) : 0;
		if ((size_t)snprintf(path, cap, "%.*s/%s", n_folder, self, LIBRARY) < cap &&
		        access(path, R_OK) == 0)
			return true;
	}
	return (size_t)snprintf(path, cap, "%s/%s", HT_LIBDIR, LIBRARY) < cap &&
	       access(path, R_OK) == 0;
}

/* A name as seen from anywhere: the program may change its folder before it records. */
static bool make_absolute(const char *name, char *path, size_t cap)
{
	char folder[PATH_MAX];
	if (name[0] == '/')
		return (size_t)snprintf(path, cap, "%s", name) < cap;
	return getcwd(folder, sizeof folder) &&
	       (size_t)snprintf(path, cap, "%s/%s", folder, name) < cap;
}

/* In the child: the environment, then the program. */
static void start_program(
        const struct cli *cli, int gate, const char *library, const char *output, const char *et)
{
	char pid[32], none;
	/* until it is known what was there before */
	while (read(gate, &none, 1) < 0 && errno == EINTR)
		;
	const char *cupti = opts_value(&cli->opts, "cupti");
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	setenv("CUDA_INJECTION64_PATH", library, 1);
	setenv("NVTX_INJECTION64_PATH", library, 1);
	setenv("HOLOTRACE_RECORD_TRACE", output, 1);
	setenv("HOLOTRACE_RECORD_PID", pid, 1);
	if (et)
		setenv("HOLOTRACE_RECORD_ET", et, 1);
	if (cupti)
		setenv("HOLOTRACE_RECORD_CUPTI", cupti, 1);
	cli->opts.args[cli->opts.n_args] = NULL; /* argv had one more */
	char **argv = (char **)(void *)cli->opts.args;
	execvp(argv[0], argv);
	cli_say("%s: %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_STARTED);
}

static void replace_pid(const char *name, pid_t pid, char *path, size_t cap)
{
	const char *mark = strstr(name, "%p");
	if (mark)
		snprintf(path, cap, "%.*s%ld%s", (int)(mark - name), name, (long)pid, mark + 2);
	else
		snprintf(path, cap, "%s", name);
}

/* The files of one process, and what was there under their names before it began. */
struct files {
	char path[PATH_MAX], et_path[PATH_MAX], part[PATH_MAX + 8];
	struct stat path_before, part_before; /* zero: nothing */
};

static void name_files(const char *output, const char *et, pid_t pid, struct files *ret_files)
{
	struct files *f = ret_files;
	*f = (struct files){ 0 };
	replace_pid(output, pid, f->path, sizeof f->path);
	if (et)
		replace_pid(et, pid, f->et_path, sizeof f->et_path);
	snprintf(f->part, sizeof f->part, "%s.part", et ? f->et_path : f->path);
	(void)stat(f->path, &f->path_before);
	(void)lstat(f->part, &f->part_before);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* What the process left when it was killed. A part that was there before is somebody else's: it stays. */
static void keep_part(const struct files *f)
{
	struct stat after;
	if (lstat(f->part, &after) != 0 || !S_ISREG(after.st_mode))
		return;
	if (is_same(&f->part_before, &after)) {
		cli_say("%s is of an earlier program; holotrace record --recover makes its files",
		        f->part);
	} else if (ht_record_recover(f->part, f->et_path, f->path) == 0) {
		cli_say("the program was killed; what it had recorded is kept");
		unlink(f->part);
	} else {
		cli_say("%s", ht_record_error());
	}
}

/* Say what came of it; files of a killed process are made here. */
static void report(const struct files *f, int status)
{
	struct stat after;
	keep_part(f);
	if (stat(f->path, &after) == 0 && !is_same(&f->path_before, &after))
		cli_say("wrote %s", f->path);
	else if (status != EXIT_NOT_FOUND && status != EXIT_NOT_STARTED)
		cli_say("nothing was recorded: the program used neither CUDA nor NVTX");
}

static int wait_for(pid_t pid)
{
	int status = 0;
	/* The program decides what these mean. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int recover(const struct cli *cli, const char *part)
{
	if (ht_record_recover(
	            part, opts_value(&cli->opts, "et"), opts_value(&cli->opts, "output")) == 0)
		return EXIT_DONE;
	cli_say("%s", ht_record_error());
	return EXIT_INPUT;
}

static int run_program(
        const struct cli *cli, const char *library, const char *output, const char *et)
{
	struct files files;
	int gate[2];
	fflush(NULL);
	pid_t pid = pipe2(gate, O_CLOEXEC) == 0 ? fork() : -1;
	if (pid < 0) {
		cli_say("cannot start a process: %s", strerror(errno));
		return EXIT_LIMIT;
	}
	if (pid == 0) {
		close(gate[1]);
		start_program(cli, gate[0], library, output, et);
	}
	name_files(output, et, pid, &files);
	close(gate[0]);
	close(gate[1]);
	int status = wait_for(pid);
	report(&files, status);
	return status;
}

static int run(struct cli *cli)
{
	char library[PATH_MAX], output[PATH_MAX], et[PATH_MAX];
	const char *part = opts_value(&cli->opts, "recover"),
	           *name = opts_value(&cli->opts, "output");
	const char *et_name = opts_value(&cli->opts, "et");
	if (part)
		return recover(cli, part);
	if (!cli->opts.n_args) {
		cli_say("no program to run: holotrace record [-o FILE] -- PROGRAM");
		return EXIT_USAGE;
	}
	if (!find_library(library, sizeof library)) {
		cli_say("%s is neither beside this program nor in %s", LIBRARY, HT_LIBDIR);
		return EXIT_INPUT;
	}
	if (!make_absolute(name ? name : "holotrace-%p.json", output, sizeof output) ||
	        (et_name && !make_absolute(et_name, et, sizeof et))) {
		cli_say("the name of the file is too long");
		return EXIT_USAGE;
	}
	return run_program(cli, library, output, et_name ? et : NULL);
}

#else

static int run(struct cli *cli)
{
	(void)cli;
	cli_say("this program was built without the recorder");
	return EXIT_USAGE;
}

#endif
