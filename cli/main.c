/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program in one process; holotrace-mpi is the same over several.
 */
#include "cli.h"

int main(int argc, char **argv)
{
	heaps_set_up();
	return program_run(argc, argv, NULL);
}
