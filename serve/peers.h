/*
 * peers.h - who is connected, since when, and how far: so that clients who only hold connections never keep others out.
 *
 * A connection is new until its first request is whole, busy while a request is answered, idle between requests. When many
 * are open, or one takes too long to say what it wants, those who are not busy are closed, the longest waiting first.
 */
#ifndef SERVE_PEERS_H
#define SERVE_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peers;
struct peer;

/* So many connections may wait; each has so long to say what it wants; the clock is the caller's, in ms. NULL when out of
 * memory. */
struct peers *peers_new(size_t max_waiting, uint64_t ask_ms, uint64_t idle_ms);
void peers_free(struct peers *peers);

/* A connection begins, on a socket that stays open until peer_gone; closes others for it. NULL when out of memory. */
struct peer *peer_come(struct peers *peers, int fd, uint64_t now_ms);
void peer_gone(struct peers *peers, struct peer *peer);
/* Its request is whole; it is answered. */
void peer_busy(struct peers *peers, struct peer *peer, uint64_t now_ms);
void peer_idle(struct peers *peers, struct peer *peer, uint64_t now_ms);

#endif
