/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - whether all processes speak alike, before any of them says more; see team.h.
 *
 * What is asked and answered has another form in another version, and numbers of the carriers are as the machine has
 * them. So the first that they exchange is this, whose form stays for ever: everybody sees what all said, and judges
 * alike. Of two versions or byte orders none can go on.
 *
 * Before that: whether they have met at all. A launcher of another MPI, or srun that was not told to serve one, starts
 * processes each of which takes itself for the only one, and all of them would do, print and write everything.
 */
#include "team.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Many launchers kill all when one ends: those that say nothing leave the first this time to say why. */
#define SAYING_SECONDS 5
#define MAGIC          "holotrac"
#define ORDER          ((uint64_t)0x0102030405060708)

/* 192 bytes in every version. */
struct hello {
	char magic[8];
	uint64_t order; /* ORDER, as the machine has it */
	char version[48];
	char host[128];
};

/* A number that a launcher left in the environment; 0 when it did not. */
static long told(const char *name)
{
	const char *text = getenv(name);
	return text != NULL ? strtol(text, NULL, 10) : 0;
}

bool hello_is_met(void)
{
	static const struct {
		const char *size, *rank;
	} launchers[] = {
		{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" }, /* Open MPI */
		{ "PMI_SIZE", "PMI_RANK" },                         /* MPICH and its kin */
		{ "SLURM_STEP_NUM_TASKS", "SLURM_PROCID" },
	};
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int n = 1, n_text = 0;
	size_t i = 0;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	/* the innermost launcher is the one that counts: srun also starts the daemons of Open MPI */
	while (i < 2 && told(launchers[i].size) == 0)
		i++;
	long n_told = told(launchers[i].size);
	if (n > 1 || n_told < 2)
		return true;
	MPI_Get_library_version(version, &n_text);
	version[strcspn(version, ",\n")] = '\0';
	for (char *tab = version; (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';
	if (told(launchers[i].rank) == 0)
		cli_say("%ld processes were started, but they do not find each other. This program is built "
		        "with %s: use the mpirun of that, or with srun --mpi=pmix or --mpi=pmi2",
		        n_told, version);
	else
		sleep(SAYING_SECONDS);
	return false;
}

static struct hello say_hello(void)
{
	struct hello own = { .order = ORDER };
	char name[MPI_MAX_PROCESSOR_NAME];
	int n = 0;
	/* for trying out several versions and machines with one */
	const char *version = getenv("HOLOTRACE_MPI_VERSION");
	if (getenv("HOLOTRACE_MPI_ORDER") != NULL)
		own.order = 0x0807060504030201;
	memcpy(own.magic, MAGIC, sizeof(own.magic));
	snprintf(own.version, sizeof(own.version), "%s", version != NULL ? version : ht_version());
	MPI_Get_processor_name(name, &n);
	snprintf(own.host, sizeof(own.host), "%.*s", (int)sizeof(own.host) - 1, name);
	return own;
}

/* What is wrong between the first process and this one; "" when nothing is. */
static void compare(
        const struct hello *first, const struct hello *other, int rank, char *text, size_t n)
{
	*text = '\0';
	if (memcmp(first->magic, other->magic, sizeof(first->magic)) != 0)
		snprintf(text, n, "process %d is another program than process 0", rank);
	else if (first->order != other->order)
		snprintf(text, n, "process %d (%.*s) has another byte order than process 0 (%.*s)",
		        rank, (int)sizeof(other->host), other->host, (int)sizeof(first->host),
		        first->host);
	else if (strncmp(first->version, other->version, sizeof(first->version)) != 0)
		snprintf(text, n,
		        "process %d (%.*s) is holotrace-mpi %.*s, process 0 (%.*s) is %.*s", rank,
		        (int)sizeof(other->host), other->host, (int)sizeof(other->version),
		        other->version, (int)sizeof(first->host), first->host,
		        (int)sizeof(first->version), first->version);
}

bool hello_is_same(void)
{
	int rank = 0, n = 1;
	char text[640] = "";
	struct hello own = say_hello();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	struct hello *all = calloc((size_t)n, sizeof(*all));
	if (all == NULL || MPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE,
	                           MPI_COMM_WORLD) != MPI_SUCCESS) {
		cli_say("process %d cannot talk to the others", rank);
		free(all);
		MPI_Abort(MPI_COMM_WORLD, EXIT_LIMIT);
		return false;
	}
	for (int i = 1; i < n && text[0] == '\0'; i++)
		compare(&all[0], &all[i], i, text, sizeof(text));
	if (text[0] != '\0' && rank == 0)
		cli_say("%s. Install one version on all nodes", text);
	free(all);
	return text[0] == '\0';
}
