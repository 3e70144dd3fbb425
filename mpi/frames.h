/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - messages between processes: numbers and texts one after the other, and frames of them over a socket.
 *
 * Numbers are little endian. Neither side checks each call: a writer that ran out of memory and a reader that ran
 * out of bytes remember it in `failed`.
 */
#ifndef MPI_FRAMES_H
#define MPI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	char *bytes;
	size_t n, cap;
	bool failed;
};

void wire_free(struct wire *wire);
void wire_put(struct wire *wire, const void *bytes, size_t n);
void wire_put_u64(struct wire *wire, uint64_t value);
/* NULL and "" are told apart. */
void wire_put_str(struct wire *wire, const char *text);
/* Bytes after their number. */
void wire_put_bytes(struct wire *wire, const void *bytes, size_t n);
/* For struct ht_sink, user is the wire. */
bool wire_write(void *user, const void *bytes, size_t n);

struct wire_in {
	const char *at;
	size_t n; /* left */
	bool failed;
};

uint64_t wire_get_u64(struct wire_in *in);
/* In place, as they were put. */
const void *wire_get_bytes(struct wire_in *in, size_t *ret_n);
/* In place and ended by NUL; NULL where NULL was put. */
const char *wire_get_str(struct wire_in *in);

/* A frame over a socket: kind, length, bytes. False when the other side is gone. */
bool frame_send(int fd, uint64_t kind, const void *bytes, size_t n);
/* Waits for it. The caller frees ret_bytes. */
bool frame_receive(int fd, uint64_t *ret_kind, struct wire *ret_bytes);

/* An open file to the process at the other end; -1 for none. */
bool descriptor_send(int fd, int passed);
/* Waits for it; -1 when none was sent. The caller closes it. */
int descriptor_receive(int fd);

#endif
