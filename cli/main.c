/*
 * main.c - the program in one process; holotrace-mpi is the same over several.
 */
#include "cli.h"

#ifdef __GLIBC__
#include <malloc.h>

/* Threads fill tables of their own, and glibc asks the kernel for each page of them, under a lock that all page
 * faults of the process wait for: 16 threads were slower than 4. It asks for more at once, which costs addresses
 * and no memory. */
static void set_up_heaps(void)
{
	(void)mallopt(M_TOP_PAD, 16 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
}
#else
static void set_up_heaps(void) {}
#endif

int main(int argc, char **argv)
{
	set_up_heaps();
	return program_run(argc, argv, NULL);
}
