/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.c - the thread that looks for files and brings what is read into view.
 *
 * It looks again after rescan_ms, or after twenty times as long as the last look took, so that a huge directory does
 * not keep the machine busy.
 */
#include "publish.h"
#include "scan.h"

#include <time.h>

#define SHARE   20
#define TICK_MS 1000

/* Until something changes, but not beyond a time; under the lock. */
static void wait_until(struct runs *runs, uint64_t end_ms)
{
	uint64_t now = now_ms(), wait_ms = end_ms > now ? end_ms - now : 0;
	struct timespec until;
	wait_ms = wait_ms < TICK_MS ? wait_ms : TICK_MS;
	/* the clock may be set meanwhile; then one wait is shorter or longer */
	clock_gettime(CLOCK_REALTIME, &until);
	wait_ms += (uint64_t)until.tv_nsec / 1000000;
	until.tv_sec += (time_t)(wait_ms / 1000);
	until.tv_nsec = (long)(wait_ms % 1000) * 1000000;
	pthread_cond_timedwait(&runs->changed, &runs->lock, &until);
}

void *keeper_main(void *user)
{
	struct server *server = user;
	struct runs *runs = &server->runs;
	uint64_t next_ms = 0;
	pthread_mutex_lock(&runs->lock);
	while (!runs->is_stopping) {
		if (now_ms() >= next_ms || runs->wants_rescan) {
			uint64_t start_ms = now_ms(), rest_ms = server->options.rescan_ms;
			bool forgets_gone = runs->forgets_gone;
			runs->wants_rescan = runs->forgets_gone = false;
			pthread_mutex_unlock(&runs->lock);
			scan(server, forgets_gone);
			uint64_t took_ms = now_ms() - start_ms;
			next_ms =
			        now_ms() + (took_ms * SHARE > rest_ms ? took_ms * SHARE : rest_ms);
			pthread_mutex_lock(&runs->lock);
		}
		uint64_t generation = runs->generation;
		pthread_mutex_unlock(&runs->lock);
		http_expire(server->http);
		uint64_t due_ms = publish(server);
		uint64_t end_ms = due_ms < next_ms - now_ms() ? now_ms() + due_ms : next_ms;
		pthread_mutex_lock(&runs->lock);
		/* what was told since is not told again */
		if (runs->generation == generation && !runs->wants_rescan && !runs->is_stopping)
			wait_until(runs, end_ms);
	}
	pthread_mutex_unlock(&runs->lock);
	return NULL;
}
