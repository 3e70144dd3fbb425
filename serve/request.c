/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - see request.h. What the web server decodes by itself is left alone: the raw text is taken apart
 * here, so that a separator in a value stays one, and a byte of 0 is refused.
 */
#include "request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool serve_decode(char *text, bool plus_is_space)
{
	char *to = text;
	for (const char *at = text; *at != '\0'; at++) {
		if (*at != '%') {
			*to++ = (char)(plus_is_space && *at == '+' ? ' ' : *at);
			continue;
		}
		int high = digit_of(at[1]), low = high < 0 ? -1 : digit_of(at[2]);
		if (low < 0 || high + low == 0)
			return false;
		*to++ = (char)(high * 16 + low);
		at += 2;
	}
	*to = '\0';
	return true;
}

static int compare_names(const struct query_value *a, const struct query_value *b)
{
	return strcmp(a->name, b->name);
}

/* Insert behind those of the same name: their order counts. */
static void insert(struct serve_request *request, struct query_value value)
{
	size_t i = request->n_query++;
	for (; i > 0 && compare_names(&request->query[i - 1], &value) > 0; i--)
		request->query[i] = request->query[i - 1];
	request->query[i] = value;
}

bool serve_query_parse(struct serve_request *request, struct serve_response *response, char *text)
{
	while (text != NULL && *text != '\0') {
		char *next = text + strcspn(text, "&"), *name = text;
		text = *next == '\0' ? NULL : next + 1;
		*next = '\0';
		if (*name == '\0')
			continue;
		char *value = name + strcspn(name, "=");
		if (*value == '=')
			*value++ = '\0';
		if (!serve_decode(name, true) || !serve_decode(value, true)) {
			(void)serve_refuse(response, 400, "write % as %25",
			        "the query has a %% that no code follows");
			return false;
		}
		if (request->n_query == SERVE_MAX_QUERY) {
			(void)serve_refuse(response, 400, NULL, "more than %d query parameters",
			        SERVE_MAX_QUERY);
			return false;
		}
		insert(request, (struct query_value){ name, value });
	}
	return true;
}

const char *serve_query(const struct serve_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_query; i++)
		if (strcmp(request->query[i].name, name) == 0)
			return request->query[i].value;
	return NULL;
}

/* All of the text as a number. */
static bool parse_i64(const char *text, int64_t *ret_value)
{
	char *end;
	if (*text != '-' && (*text < '0' || *text > '9'))
		return false;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*ret_value = value;
	return true;
}

bool serve_query_i64(const struct serve_request *request, struct serve_response *response,
        const char *name, int64_t min, int64_t max, int64_t otherwise, int64_t *ret_value)
{
	const char *text = serve_query(request, name);
	int64_t value = otherwise;
	if (text != NULL && (!parse_i64(text, &value) || value < min || value > max)) {
		(void)serve_refuse(response, 400, NULL,
		        "%s is a whole number from %" PRId64 " to %" PRId64 ", not \"%.60s\"", name,
		        min, max, text);
		return false;
	}
	*ret_value = value;
	return true;
}

bool serve_query_event(const struct serve_request *request, struct serve_response *response,
        const char *name, int64_t *ret_id)
{
	const char *text = serve_query(request, name);
	const char *colon = text != NULL ? strchr(text, ':') : NULL;
	char first[24] = "";
	int64_t rank = -1, row = -1;
	if (colon != NULL && (size_t)(colon - text) < sizeof(first))
		memcpy(first, text, (size_t)(colon - text));
	if (colon == NULL || !parse_i64(first, &rank) || !parse_i64(colon + 1, &row) || rank < 0 ||
	        rank > INT32_MAX || row < 0 || row > UINT32_MAX) {
		(void)serve_refuse(response, 400, "events are written as in tables: 0:123",
		        "%s names no event: \"%.60s\"", name, text != NULL ? text : "");
		return false;
	}
	*ret_id = ht_event_id(rank, (uint32_t)row);
	return true;
}

uint64_t serve_n_events(const struct serve_request *request)
{
	uint64_t n = 0;
	for (size_t i = 0; request->set != NULL && i < ht_set_n_ranks(request->set); i++)
		n += ht_set_n_events(request->set, i);
	return n;
}
