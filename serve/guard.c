/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - see guard.h.
 */
#include "guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HOST 256

/* The name in "name:port" or "[::1]:port"; false when it is neither. */
static bool host_name(const char *host, char name[MAX_HOST])
{
	bool is_v6 = host[0] == '[';
	size_t n = is_v6 ? strcspn(host, "]") : strcspn(host, ":");
	const char *rest = host + n + (is_v6 && host[n] == ']');
	if (n == 0 || n >= MAX_HOST || (is_v6 && host[n] != ']'))
		return false;
	if (*rest == ':') {
		size_t n_digits = strspn(rest + 1, "0123456789");
		if (n_digits > 5 || rest[1 + n_digits] != '\0')
			return false;
	} else if (*rest != '\0') {
		return false;
	}
	memcpy(name, host + is_v6, n - is_v6);
	name[n - is_v6] = '\0';
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789.-_:";
	return name[strspn(name, allowed)] == '\0';
}

static bool is_loopback_name(const char *name)
{
	struct in_addr v4;
	size_t n = strlen(name);
	if (strcasecmp(name, "localhost") == 0 || strcmp(name, "::1") == 0)
		return true;
	if (n > 10 && strcasecmp(name + n - 10, ".localhost") == 0)
		return true;
	return inet_pton(AF_INET, name, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

bool guard_is_loopback(const char *host)
{
	char name[MAX_HOST];
	return host_name(host, name) && is_loopback_name(name);
}

static bool is_our_host(const struct serve_options *options, const struct guard_headers *headers)
{
	char name[MAX_HOST];
	if (headers->n_hosts != 1 || headers->host == NULL || !host_name(headers->host, name))
		return false;
	if (options->token != NULL || is_loopback_name(name))
		return true;
	return options->allowed_host != NULL && strcasecmp(name, options->allowed_host) == 0;
}

/* An origin is ours when its host and port are those that were asked. */
static bool is_our_origin(const struct serve_options *options, const struct guard_headers *headers)
{
	const char *origin = headers->origin;
	if (origin == NULL)
		return true;
	const char *host = strncmp(origin, "http://", 7) == 0    ? origin + 7
	                   : strncmp(origin, "https://", 8) == 0 ? origin + 8
	                                                         : NULL;
	if (host == NULL)
		return false;
	if (strcasecmp(host, headers->host) == 0)
		return true;
	char name[MAX_HOST];
	return options->allowed_host != NULL && host_name(host, name) &&
	       strcasecmp(name, options->allowed_host) == 0;
}

/* What browsers say of where a request comes from: other sites may link to the page, and nothing else. */
static bool is_our_page(const struct guard_headers *headers, bool is_page)
{
	const char *site = headers->fetch_site;
	if (site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
		return true;
	return is_page && headers->fetch_mode != NULL &&
	       strcmp(headers->fetch_mode, "navigate") == 0;
}

/* Takes as long for a wrong token as for the right one. */
static bool is_token(const char *token, const char *given, size_t n_given)
{
	size_t n = strlen(token);
	unsigned differs = n != n_given;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)token[i] ^
		           (unsigned char)(i < n_given ? given[i] : ~token[i]);
	return differs == 0;
}

void guard_cookie_name(int port, char name[32])
{
	snprintf(name, 32, "holotrace_%d", port);
}

static bool has_cookie(const char *cookies, const char *token, int port)
{
	char name[32];
	guard_cookie_name(port, name);
	size_t n_name = strlen(name);
	for (const char *at = cookies; at != NULL && *at != '\0';) {
		at += strspn(at, " ;");
		size_t n = strcspn(at, ";");
		if (n > n_name && strncmp(at, name, n_name) == 0 && at[n_name] == '=' &&
		        is_token(token, at + n_name + 1, n - n_name - 1))
			return true;
		at += n;
	}
	return false;
}

static bool shows_token(const struct serve_options *options, int port,
        const struct guard_headers *headers, const char *query_token)
{
	const char *bearer = headers->authorization;
	if (options->token == NULL)
		return true;
	if (query_token != NULL && is_token(options->token, query_token, strlen(query_token)))
		return true;
	if (bearer != NULL && strncasecmp(bearer, "Bearer ", 7) == 0 &&
	        is_token(options->token, bearer + 7, strlen(bearer + 7)))
		return true;
	return has_cookie(headers->cookie, options->token, port);
}

bool guard_allows(const struct serve_options *options, int port,
        const struct guard_headers *headers, const char *query_token, bool is_page,
        struct serve_response *response)
{
	if (!is_our_host(options, headers)) {
		(void)serve_refuse(response, 403,
		        "use the address that holotrace serve printed, or start it with --allow-host",
		        "the Host of the request is not a name of this server");
		return false;
	}
	if (!is_our_origin(options, headers) || !is_our_page(headers, is_page)) {
		(void)serve_refuse(
		        response, 403, NULL, "the request comes from another site's page");
		return false;
	}
	if (!shows_token(options, port, headers, query_token)) {
		(void)serve_refuse(response, 403,
		        "open the whole URL that holotrace serve printed, with its token",
		        "the token is missing or wrong");
		return false;
	}
	return true;
}
