/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.c - the server of a build without libmicrohttpd: it says what is missing.
 */
#include "serve.h"

#include <stdio.h>

enum ht_status serve_start(const struct serve_options *options, struct server **ret_server,
        char error[SERVE_ERROR_BYTES])
{
	(void)options;
	(void)ret_server;
	snprintf(error, SERVE_ERROR_BYTES,
	        "this build has no web server: libmicrohttpd was not there. Install it (Debian: "
	        "apt-get install libmicrohttpd-dev) and build again");
	return HT_USAGE;
}

const char *serve_url(const struct server *server)
{
	(void)server;
	return "";
}

int serve_port(const struct server *server)
{
	(void)server;
	return 0;
}

void serve_stop(struct server *server)
{
	(void)server;
}

const char *serve_build_info(void)
{
	return NULL;
}
