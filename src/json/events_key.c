/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_key.c - see events_key.h.
 */
#include "json/events_key.h"

#include <string.h>

bool ht_is_exact_events_key(const char *name, size_t n)
{
	return n == strlen(HT_EVENTS_KEY) && !memcmp(name, HT_EVENTS_KEY, n);
}

const char *ht_find_events_key(const char *text, size_t n)
{
	static const char quoted[] = "\"" HT_EVENTS_KEY "\"";
	return memmem(text, n, quoted, sizeof quoted - 1);
}

bool ht_is_events_key(const char *name, size_t n)
{
	static const char want[] = HT_EVENTS_KEY;
	const size_t n_want = sizeof want - 1;
	size_t head = 0, tail = 0;
	if (n + 1 < n_want || n > n_want + 1)
		return false;
	while (head < n && head < n_want && name[head] == want[head])
		head++;
	while (tail < n - head && tail < n_want - head &&
	        name[n - 1 - tail] == want[n_want - 1 - tail])
		tail++;
	/* what is left of each between the common ends */
	return n - head - tail <= 1 && n_want - head - tail <= 1;
}
