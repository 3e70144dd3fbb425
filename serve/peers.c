/*
 * peers.c - see peers.h.
 *
 * Those who wait are in a list, the longest waiting first. To be closed is to be shut down: the web server finds the end
 * of the stream, and forgets the connection itself.
 */
#include "peers.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

struct peer {
	struct peer *prev, *next; /* of those who wait; NULL: busy, or closed */
	uint64_t end_ms;          /* when it is closed unless it asks */
	int fd;
	bool is_waiting;
};

struct peers {
	pthread_mutex_t lock;
	struct peer list; /* the ends of the list */
	size_t n_waiting, max_waiting;
	uint64_t ask_ms, idle_ms;
};

struct peers *peers_new(size_t max_waiting, uint64_t ask_ms, uint64_t idle_ms)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	if (peers == NULL)
		return NULL;
	pthread_mutex_init(&peers->lock, NULL);
	peers->list.prev = peers->list.next = &peers->list;
	peers->max_waiting = max_waiting;
	peers->ask_ms = ask_ms;
	peers->idle_ms = idle_ms;
	return peers;
}

void peers_free(struct peers *peers)
{
	if (peers == NULL)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

static void leave(struct peers *peers, struct peer *peer)
{
	if (!peer->is_waiting)
		return;
	peer->prev->next = peer->next;
	peer->next->prev = peer->prev;
	peer->is_waiting = false;
	peers->n_waiting--;
}

static void wait(struct peers *peers, struct peer *peer, uint64_t end_ms)
{
	leave(peers, peer);
	peer->prev = peers->list.prev;
	peer->next = &peers->list;
	peer->prev->next = peer->next->prev = peer;
	peer->is_waiting = true;
	peer->end_ms = end_ms;
	peers->n_waiting++;
}

/* Close whoever waits beyond its time, and the longest waiting of too many. Times in the list ascend by kind only, so all of
 * it is looked at: it is short. */
static void close_some(struct peers *peers, uint64_t now_ms)
{
	for (struct peer *peer = peers->list.next, *next; peer != &peers->list; peer = next) {
		next = peer->next;
		if (peer->end_ms > now_ms && peers->n_waiting <= peers->max_waiting)
			continue;
		leave(peers, peer);
		(void)shutdown(peer->fd, SHUT_RDWR);
	}
}

struct peer *peer_come(struct peers *peers, int fd, uint64_t now_ms)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return NULL;
	peer->fd = fd;
	pthread_mutex_lock(&peers->lock);
	wait(peers, peer, now_ms + peers->ask_ms);
	close_some(peers, now_ms);
	pthread_mutex_unlock(&peers->lock);
	return peer;
}

void peer_gone(struct peers *peers, struct peer *peer)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	leave(peers, peer);
	pthread_mutex_unlock(&peers->lock);
	free(peer);
}

void peer_busy(struct peers *peers, struct peer *peer, uint64_t now_ms)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	leave(peers, peer);
	close_some(peers, now_ms);
	pthread_mutex_unlock(&peers->lock);
}

void peer_idle(struct peers *peers, struct peer *peer, uint64_t now_ms)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	wait(peers, peer, now_ms + peers->idle_ms);
	pthread_mutex_unlock(&peers->lock);
}
