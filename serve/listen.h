/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the listening socket.
 */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include "serve.h"

struct listening {
	int fd, port;
	char host[256]; /* for the URL; brackets around addresses of version 6 */
};

/* HT_IO or HT_USAGE with a text. */
enum ht_status listen_open(const struct serve_options *options, struct listening *ret_listening,
        char error[SERVE_ERROR_BYTES]) HT_MUST_USE;

#endif
