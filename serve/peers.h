/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - who is connected, since when, and how far: so that clients who only hold connections never keep others out.
 *
 * A connection is a stranger's until a request of it was admitted (its host, its origin, its token), then one that is known. It
 * waits until its request is whole, head and body, and again between requests; meanwhile it is busy. Strangers have little
 * time and little room, in all and by address; those who are known wait for each other only. Who waits too long is closed,
 * and of too many the longest waiting, unless it has just come, or all of its head has and nobody has read it yet.
 */
#ifndef SERVE_PEERS_H
#define SERVE_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peers;
struct peer;

struct peer_limits {
	size_t strangers, of_address, known; /* so many may wait; of_address: strangers of one */
	uint64_t grace_ms;                   /* nobody is closed for others before */
	uint64_t ask_ms;                     /* for the whole of a request: head and body */
	uint64_t idle_ms;                    /* between requests */
};

/* The clock is the caller's, in ms. NULL when out of memory. */
struct peers *peers_new(const struct peer_limits *limits);
void peers_free(struct peers *peers);
/* Close whoever waits beyond its time. */
void peers_expire(struct peers *peers, uint64_t now_ms);

/* A connection begins, on a socket that stays open until peer_gone; closes others for it. NULL when out of memory. */
struct peer *peer_come(struct peers *peers, int fd, uint64_t now_ms);
void peer_gone(struct peers *peers, struct peer *peer);
/* The first line of a request is there: the rest has its time from now on. */
void peer_ask(struct peers *peers, struct peer *peer, uint64_t now_ms);
/* A request of it was admitted. */
void peer_admit(struct peers *peers, struct peer *peer);
/* Its request is whole; it is answered. */
void peer_busy(struct peers *peers, struct peer *peer, uint64_t now_ms);
/* Whether it will send nothing more: it is gone, or only listens. */
bool peer_has_ended(const struct peer *peer);
void peer_idle(struct peers *peers, struct peer *peer, uint64_t now_ms);

#endif
