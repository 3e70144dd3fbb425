/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_doing.h - what the CPU does while a device waits for it: operators and calls, Python, or nothing that was recorded.
 *
 * A host that is too slow at launching is in operators, calls and the Python code between them, which takes microseconds. A
 * stretch of HT_QUIET_NS and more without any operator or call on any thread is something else: a sleep, files, a lock, a
 * request that has not come, a long piece of Python. Where Python frames were recorded they cover it.
 */
#ifndef HT_MODEL_ADVICE_HOST_DOING_H
#define HT_MODEL_ADVICE_HOST_DOING_H

#include "model/numbers/interval.h"
#include "model/run.h"

#define HT_QUIET_NS 1000000

/* Of [from, until) what is in long stretches without operators and calls: inside Python, and inside nothing. */
struct ht_quiet {
	int64_t python_ns, nothing_ns;
};

struct ht_host_doing {
	struct ht_interval *calls,
	        *python; /* merged, of all threads; what it awaits is with the calls */
	size_t n_calls, n_python;
	struct ht_quiet *
	        before; /* by call: in all stretches from the first call to it, as devices by the thousand wait over all of them */
};

/* Of the rank in hand, with what it is known to wait for besides; memory in scratch. O(n log n). */
enum ht_status ht_host_doing_make(struct ht_run *run, const struct ht_interval *awaits,
        size_t n_awaits, struct ht_host_doing *ret_doing) HT_MUST_USE;

/* O(log n). */
void ht_host_quiet_add(const struct ht_host_doing *doing, int64_t from_ns, int64_t until_ns,
        struct ht_quiet *quiet);

#endif
