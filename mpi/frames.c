/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.c - see frames.h.
 */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

void wire_free(struct wire *wire)
{
	free(wire->bytes);
	*wire = (struct wire){ 0 };
}

void wire_put(struct wire *wire, const void *bytes, size_t n)
{
	if (n > wire->cap - wire->n) {
		size_t cap = wire->cap * 2 > wire->n + n ? wire->cap * 2 : wire->n + n + 64;
		char *more = wire->failed ? NULL : realloc(wire->bytes, cap);
		if (more == NULL) {
			wire->failed = true;
			return;
		}
		wire->bytes = more;
		wire->cap = cap;
	}
	if (n > 0)
		memcpy(wire->bytes + wire->n, bytes, n);
	wire->n += n;
}

void wire_put_u64(struct wire *wire, uint64_t value)
{
	unsigned char bytes[8];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	wire_put(wire, bytes, sizeof(bytes));
}

void wire_put_str(struct wire *wire, const char *text)
{
	/* the NUL goes along, so that texts can be used in place; none is told by the length 0 */
	wire_put_bytes(wire, text, text != NULL ? strlen(text) + 1 : 0);
}

void wire_put_bytes(struct wire *wire, const void *bytes, size_t n)
{
	wire_put_u64(wire, n);
	wire_put(wire, bytes, n);
}

bool wire_write(void *user, const void *bytes, size_t n)
{
	struct wire *wire = user;
	wire_put(wire, bytes, n);
	return !wire->failed;
}

static const char *take(struct wire_in *in, size_t n)
{
	if (in->failed || n > in->n) {
		in->failed = true;
		return NULL;
	}
	const char *at = in->at;
	in->at += n;
	in->n -= n;
	return at;
}

uint64_t wire_get_u64(struct wire_in *in)
{
	const char *at = take(in, 8);
	uint64_t value = 0;
	for (size_t i = 0; at != NULL && i < 8; i++)
		value |= (uint64_t)(unsigned char)at[i] << 8 * i;
	return value;
}

const void *wire_get_bytes(struct wire_in *in, size_t *ret_n)
{
	uint64_t n = wire_get_u64(in);
	const char *at = n <= in->n ? take(in, (size_t)n) : NULL;
	in->failed = in->failed || at == NULL;
	*ret_n = at != NULL ? (size_t)n : 0;
	return at;
}

const char *wire_get_str(struct wire_in *in)
{
	size_t n;
	const char *text = wire_get_bytes(in, &n);
	if (n > 0 && text[n - 1] != '\0') {
		in->failed = true;
		return NULL;
	}
	return n > 0 ? text : NULL;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = write(fd, bytes, n);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool receive_all(int fd, char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t got = read(fd, bytes, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		n -= (size_t)got;
	}
	return true;
}

bool frame_send(int fd, uint64_t kind, const void *bytes, size_t n)
{
	uint64_t head[2] = { kind, n };
	return send_all(fd, (const char *)head, sizeof(head)) && send_all(fd, bytes, n);
}

bool frame_receive(int fd, uint64_t *ret_kind, struct wire *ret_bytes)
{
	/* both ends of a socket pair are on one machine */
	uint64_t head[2];
	if (!receive_all(fd, (char *)head, sizeof(head)))
		return false;
	struct wire bytes = { .bytes = malloc(head[1] + 1), .n = head[1], .cap = head[1] + 1 };
	if (bytes.bytes == NULL || !receive_all(fd, bytes.bytes, bytes.n)) {
		free(bytes.bytes);
		return false;
	}
	*ret_kind = head[0];
	*ret_bytes = bytes;
	return true;
}

/* Room for one descriptor beside the bytes of a message, aligned as its head. */
union beside {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool descriptor_send(int fd, int passed)
{
	char has = passed >= 0;
	union beside beside = { .bytes = { 0 } };
	struct iovec vec = { &has, 1 };
	struct msghdr message = { .msg_iov = &vec, .msg_iovlen = 1 };
	ssize_t sent;
	if (has) {
		message.msg_control = beside.bytes;
		message.msg_controllen = sizeof(beside.bytes);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &passed, sizeof(int));
	}
	do
		sent = sendmsg(fd, &message, 0);
	while (sent < 0 && errno == EINTR);
	return sent == 1;
}

int descriptor_receive(int fd)
{
	char has = 0;
	int passed = -1;
	union beside beside = { .bytes = { 0 } };
	struct iovec vec = { &has, 1 };
	struct msghdr message = { .msg_iov = &vec,
		.msg_iovlen = 1,
		.msg_control = beside.bytes,
		.msg_controllen = sizeof(beside.bytes) };
	ssize_t got;
	do
		got = recvmsg(fd, &message, 0);
	while (got < 0 && errno == EINTR);
	struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(&passed, CMSG_DATA(head), sizeof(int));
	return passed;
}
