/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - who may ask: the names that a browser knows us by, where its page comes from, and the token.
 *
 * Any page that somebody looks at can make his browser send requests to 127.0.0.1, and, by changing what a name
 * stands for (DNS rebinding), under a name of its own. So
 *   - Host must be a name of this machine's loopback, or the one that a proxy was allowed; with a token any, as no
 *     other page knows the token;
 *   - Origin and Sec-Fetch-Site, where the browser says them, must be our own page's;
 *   - with a token, every request shows it: as a cookie, which opening the URL sets, or as a bearer.
 */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include "response.h"
#include "serve.h"

struct guard_headers {
	const char *host, *origin, *fetch_site, *fetch_mode, *authorization, *cookie;
	size_t n_hosts;
};

/* Whether the request may be answered; the refusal is made when not. query_token is that of the URL or NULL; is_page:
 * the page itself, which any site may link to. */
bool guard_allows(const struct serve_options *options, int port,
        const struct guard_headers *headers, const char *query_token, bool is_page,
        struct serve_response *response);
/* The cookie's name; ports share cookies. */
void guard_cookie_name(int port, char name[32]);
/* A name of the loopback interface, with or without a port. */
bool guard_is_loopback(const char *host);

#endif
