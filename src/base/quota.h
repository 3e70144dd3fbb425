/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - how much may still be stored in a directory that several threads fill; see store/cache_quota.c.
 */
#ifndef HT_BASE_QUOTA_H
#define HT_BASE_QUOTA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct ht_cache_quota {
	pthread_mutex_t lock;
	uint64_t in_flight; /* bytes of files that are being written and have no name yet */
	atomic_ullong n_refused;
};

#endif
