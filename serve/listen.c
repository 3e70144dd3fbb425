/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - see listen.h.
 */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_PORTS 100
/* As many as the system allows: who finds the queue full comes again a second later. */
#define BACKLOG 4096

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} as;
	socklen_t n;
};

/* Names are not looked up: a static program could not, and what to listen at is an address. */
static bool parse_address(const char *host, int port, struct address *ret_address)
{
	struct address address = { 0 };
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &address.as.v4.sin_addr) == 1) {
		address.as.v4.sin_family = AF_INET;
		address.as.v4.sin_port = htons((uint16_t)port);
		address.n = sizeof(address.as.v4);
	} else if (inet_pton(AF_INET6, host, &address.as.v6.sin6_addr) == 1) {
		address.as.v6.sin6_family = AF_INET6;
		address.as.v6.sin6_port = htons((uint16_t)port);
		address.n = sizeof(address.as.v6);
	}
	*ret_address = address;
	return address.n > 0;
}

/* A socket at an address, or -1 with errno. */
static int try_address(const struct address *at)
{
	int yes = 1, no = 0;
	int fd = socket(at->as.any.sa_family, SOCK_STREAM, 0);
	if (fd < 0)
		return -1;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* at all addresses means those of both versions */
	if (at->as.any.sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, &at->as.any, at->n) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int port_of(int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t n = sizeof(at);
	if (getsockname(fd, (struct sockaddr *)&at, &n) != 0)
		return 0;
	return at.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&at)->sin6_port)
	                                : ntohs(((struct sockaddr_in *)&at)->sin_port);
}

enum ht_status listen_open(const struct serve_options *options, struct listening *ret_listening,
        char error[SERVE_ERROR_BYTES])
{
	const char *host = options->bind_all       ? "::"
	                   : options->host != NULL ? options->host
	                                           : "127.0.0.1";
	struct listening at = { .fd = -1 };
	struct address address;
	int last = options->port + (options->or_next_port ? N_PORTS : 0);
	for (int port = options->port; at.fd < 0 && port <= last && port <= 65535; port++) {
		if (!parse_address(host, port, &address)) {
			snprintf(error, SERVE_ERROR_BYTES,
			        "cannot listen at %s: give an address, such as 0.0.0.0 or that of a "
			        "network",
			        host);
			return HT_USAGE;
		}
		at.fd = try_address(&address);
		/* machines without addresses of version 6 */
		if (at.fd < 0 && options->bind_all && errno != EADDRINUSE &&
		        parse_address("0.0.0.0", port, &address))
			at.fd = try_address(&address);
		if (at.fd < 0 && errno != EADDRINUSE)
			break;
	}
	if (at.fd < 0) {
		snprintf(error, SERVE_ERROR_BYTES, "cannot listen at %s, port %d: %s", host,
		        options->port, strerror(errno));
		return HT_IO;
	}
	at.port = port_of(at.fd);
	if (options->bind_all) {
		if (gethostname(at.host, sizeof(at.host) - 1) != 0 || at.host[0] == '\0')
			snprintf(at.host, sizeof(at.host), "127.0.0.1");
	} else {
		snprintf(at.host, sizeof(at.host), strchr(host, ':') != NULL ? "[%s]" : "%s", host);
	}
	*ret_listening = at;
	return HT_OK;
}
