/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.c - see peers.h.
 *
 * Those who wait are in two lists, strangers and those who are known, the longest waiting first. Lists are short, so they are
 * walked. To be closed is to be shut down: the web server finds the end of the stream, and forgets the connection itself.
 */
#include "peers.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct list;

struct peer {
	struct peer *prev, *next;
	struct list *list; /* where it waits; NULL: busy, or closed */
	uint64_t since_ms; /* it waits */
	uint64_t end_ms;   /* when it is closed unless it asks */
	uint64_t address;
	int fd;
	bool is_known;
};

struct list {
	struct peer ends;
	size_t n, max;
};

struct peers {
	pthread_mutex_t lock;
	struct peer_limits limits;
	struct list strangers, known;
};

static void init_list(struct list *list, size_t max)
{
	list->ends.prev = list->ends.next = &list->ends;
	list->max = max;
}

struct peers *peers_new(const struct peer_limits *limits)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	if (peers == NULL)
		return NULL;
	pthread_mutex_init(&peers->lock, NULL);
	peers->limits = *limits;
	init_list(&peers->strangers, limits->strangers);
	init_list(&peers->known, limits->known);
	return peers;
}

void peers_free(struct peers *peers)
{
	if (peers == NULL)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

/* Whose a connection is: an address of version 4, or the network of one of version 6, of which a client has many. 0: nobody
 * knows. */
static uint64_t address_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from = { 0 };
	socklen_t n = sizeof(from);
	uint64_t network = 0;
	if (getpeername(fd, &from.any, &n) != 0)
		return 0;
	if (from.any.sa_family == AF_INET)
		return ntohl(from.v4.sin_addr.s_addr);
	if (from.any.sa_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&from.v6.sin6_addr)) {
		uint32_t v4;
		memcpy(&v4, from.v6.sin6_addr.s6_addr + 12, sizeof(v4));
		return ntohl(v4);
	}
	memcpy(&network, from.v6.sin6_addr.s6_addr, sizeof(network));
	return network;
}

static void leave(struct peer *peer)
{
	if (peer->list == NULL)
		return;
	peer->prev->next = peer->next;
	peer->next->prev = peer->prev;
	peer->list->n--;
	peer->list = NULL;
}

static void wait(struct list *list, struct peer *peer, uint64_t since_ms, uint64_t end_ms)
{
	leave(peer);
	peer->since_ms = since_ms;
	peer->prev = list->ends.prev;
	peer->next = &list->ends;
	peer->prev->next = peer->next->prev = peer;
	peer->list = list;
	peer->end_ms = end_ms;
	list->n++;
}

static void close_peer(struct peer *peer)
{
	leave(peer);
	(void)shutdown(peer->fd, SHUT_RDWR);
}

/* Whether it has asked, and it is the web server that has not come to read it yet. */
static bool has_asked(const struct peer *peer)
{
	char head[16 << 10];
	ssize_t n = recv(peer->fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	for (const char *at = head, *end = head + n; n > 0 && at != NULL && end - at >= 4;) {
		at = memchr(at, '\r', (size_t)(end - at) - 3);
		if (at != NULL && memcmp(at++, "\r\n\r\n", 4) == 0)
			return true;
	}
	return false;
}

static bool may_close(const struct peer *peer, uint64_t now_ms, uint64_t grace_ms)
{
	return now_ms - peer->since_ms >= grace_ms && !has_asked(peer);
}

/* Times in a list ascend by kind only, so all of it is looked at. */
static void close_some(struct list *list, uint64_t now_ms, uint64_t grace_ms)
{
	for (struct peer *peer = list->ends.next, *next; peer != &list->ends; peer = next) {
		next = peer->next;
		if (peer->end_ms <= now_ms ||
		        (list->n > list->max && may_close(peer, now_ms, grace_ms)))
			close_peer(peer);
	}
}

/* The longest waiting stranger of an address, when it has too many. */
static void close_of_address(struct peers *peers, uint64_t address, uint64_t now_ms)
{
	struct list *list = &peers->strangers;
	size_t n = 0;
	for (struct peer *peer = list->ends.next; peer != &list->ends; peer = peer->next)
		n += peer->address == address;
	for (struct peer *peer = list->ends.next, *next;
	        n > peers->limits.of_address && peer != &list->ends; peer = next) {
		next = peer->next;
		if (peer->address != address || !may_close(peer, now_ms, peers->limits.grace_ms))
			continue;
		close_peer(peer);
		n--;
	}
}

static void expire(struct peers *peers, uint64_t now_ms)
{
	close_some(&peers->strangers, now_ms, peers->limits.grace_ms);
	close_some(&peers->known, now_ms, peers->limits.grace_ms);
}

void peers_expire(struct peers *peers, uint64_t now_ms)
{
	pthread_mutex_lock(&peers->lock);
	expire(peers, now_ms);
	pthread_mutex_unlock(&peers->lock);
}

struct peer *peer_come(struct peers *peers, int fd, uint64_t now_ms)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return NULL;
	peer->fd = fd;
	peer->address = address_of(fd);
	pthread_mutex_lock(&peers->lock);
	wait(&peers->strangers, peer, now_ms, now_ms + peers->limits.ask_ms);
	close_of_address(peers, peer->address, now_ms);
	expire(peers, now_ms);
	pthread_mutex_unlock(&peers->lock);
	return peer;
}

void peer_gone(struct peers *peers, struct peer *peer)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	leave(peer);
	pthread_mutex_unlock(&peers->lock);
	free(peer);
}

void peer_ask(struct peers *peers, struct peer *peer, uint64_t now_ms)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	/* a stranger's time runs since it came */
	if (peer->list == &peers->known)
		peer->end_ms = now_ms + peers->limits.ask_ms;
	pthread_mutex_unlock(&peers->lock);
}

void peer_admit(struct peers *peers, struct peer *peer)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	peer->is_known = true;
	if (peer->list == &peers->strangers)
		wait(&peers->known, peer, peer->since_ms, peer->end_ms);
	pthread_mutex_unlock(&peers->lock);
}

void peer_busy(struct peers *peers, struct peer *peer, uint64_t now_ms)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	leave(peer);
	expire(peers, now_ms);
	pthread_mutex_unlock(&peers->lock);
}

bool peer_has_ended(const struct peer *peer)
{
	char any;
	return peer != NULL && recv(peer->fd, &any, sizeof(any), MSG_PEEK | MSG_DONTWAIT) == 0;
}

void peer_idle(struct peers *peers, struct peer *peer, uint64_t now_ms)
{
	if (peer == NULL)
		return;
	pthread_mutex_lock(&peers->lock);
	if (peer->is_known)
		wait(&peers->known, peer, now_ms, now_ms + peers->limits.idle_ms);
	else
		wait(&peers->strangers, peer, now_ms, now_ms + peers->limits.ask_ms);
	pthread_mutex_unlock(&peers->lock);
}
