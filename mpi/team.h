/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - who does what in holotrace-mpi.
 *
 * Every MPI process is two: a carrier, which speaks MPI and nothing else, and a worker, its child, which reads
 * traces and never sees MPI. They talk over a socket. So a worker may be killed, run out of memory or compute for
 * an hour, and its carrier still answers; and the carriers, which are small, are not what the system kills.
 *
 *     worker 0 (leader: the program, prints)        worker 1             worker 2
 *        │ request ▲ answers of all                    ▲ │                  ▲ │
 *     carrier 0 ──────── request ──────────────► carrier 1 ─────────► carrier 2
 *               ◄─────── answers, merged ──────            ◄─────────
 *
 * The leader asks, everybody answers, and the answers come back along a tree. A request is one of the kinds below;
 * an answer is a list of items, one per worker, of which those that hold parts are merged on the way.
 */
#ifndef MPI_TEAM_H
#define MPI_TEAM_H

#include "board.h"
#include "timing.h"
#include "frames.h"
#include "cli.h"

enum kind {
	KIND_LIST = 1, /* find the files of these sources on your machine */
	KIND_OPEN,     /* open your share of these files, and describe it */
	KIND_DESCRIBE, /* describe it again, with facts */
	KIND_JOIN,     /* these are the descriptions of all */
	KIND_MAKE,     /* compute the parts of your ranks */
	KIND_CLOSE,
	KIND_ANSWER, /* items */
	KIND_SEAT,   /* from the carrier: who you are */
	KIND_QUIT,   /* the exit code; the last that comes from above */
	KIND_BYE,    /* the last that comes from below */
	KIND_BEAT,   /* still there */
};

/* What is said before the verb. */
struct launch {
	bool local;   /* files are found on each machine */
	bool timings; /* each process says where its time went */
	double timeout_s;
	int n_used; /* words of the command line before the verb */
};

/* What the carrier knows about a process. */
struct seat {
	size_t id, n;   /* which of how many processes */
	size_t node;    /* which machine, from 0 */
	size_t i_local; /* which of the processes of that machine */
	int n_jobs;     /* threads that are its own */
	bool local;     /* --local: files are found on each machine */
	bool has_board; /* on every machine */
};

enum item_state { ITEM_OK, ITEM_ERROR, ITEM_DEAD };

/* What a worker answered; bytes are in place. */
struct item {
	size_t id, node;
	enum item_state state;
	const char *bytes; /* of OK and ERROR; of DEAD a text: "was killed by signal 9" */
	size_t n;
};

void item_put(struct wire *out, const struct item *item);
bool item_get(struct wire_in *in, struct item *ret_item);

/* An error of the library, to travel. */
void error_put(struct wire *out, const struct ht_error *error);
bool error_get(struct wire_in *in, struct ht_error *ret_error);

/* What a worker holds of one set of the leader's. */
struct holding {
	ht_set *own;    /* the traces of this process, NULL: it has none */
	ht_set *joined; /* as part of all */
};

struct desk {
	ht_ctx *ctx;
	struct seat seat;
	const uint64_t *nodes;   /* of each process the machine */
	_Atomic uint32_t *marks; /* of the board */
	struct holding sets[HT_MAX_SETS];
	struct timing timing;
};

/* Do what a request asks, and put the item that answers it. */
void desk_answer(struct desk *desk, enum kind kind, struct wire_in request, struct wire *answer);
void desk_close(struct desk *desk, size_t i_set);

/* A question, to travel; NULL for none. Texts of what comes out are in place, args has room for OPTS_MAX. */
void question_put(struct wire *out, const struct question *question);

/* Options of opening, to travel. */
void options_put(struct wire *out, const struct ht_open_options *options);

/* The worker's side of the socket, until it is told to quit; an exit code. */
int worker_run(int fd, struct desk *desk, bool timings);
/* The leader: the program over all processes; an exit code. */
int leader_run(int fd, const struct desk *desk, bool timings, int argc, char **argv);

/* Whether the processes that were started are one run; the first says it when they are not. After MPI has started. */
bool hello_is_met(void);
/* Whether all processes are of one version and byte order; process 0 says what is not. After MPI has started. */
bool hello_is_same(void);

/* The carrier's side: MPI from start to end. worker is the process at the other end of the socket; who is not
 * heard of for the timeout is taken for dead. An exit code. */
int carrier_run(int fd, int worker, const struct launch *launch);

#endif
