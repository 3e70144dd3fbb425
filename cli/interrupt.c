/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.c - see interrupt.h.
 *
 * Where the system has files without names nothing would be left of one anyway; elsewhere a temporary
 * file would lie beside the target until the next writer comes.
 */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t n_holds, pending;

static void end_by(int signal_number)
{
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void note(int signal_number)
{
	if (n_holds == 0 || pending != 0)
		end_by(signal_number);
	pending = signal_number;
}

void interrupt_hold(void)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old, new = { .sa_handler = note, .sa_flags = SA_RESTART };
		/* what the caller wants ignored, as nohup does, stays ignored */
		if (n_holds == 0 && sigaction(signals[i], NULL, &old) == 0 &&
		        old.sa_handler != SIG_IGN)
			sigaction(signals[i], &new, NULL);
	}
	n_holds = n_holds + 1;
}

void interrupt_release(void)
{
	n_holds = n_holds - 1;
	if (n_holds == 0 && pending != 0)
		end_by((int)pending);
}

bool interrupt_forget(void)
{
	bool had_come = pending != 0;
	pending = 0;
	interrupt_release();
	return had_come;
}

bool interrupt_pending(void)
{
	return pending != 0;
}
