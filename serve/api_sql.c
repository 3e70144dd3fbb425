/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_sql.c - a query over the ranks of a run: the body is {"query": "SELECT ..."}, or the query itself as plain text.
 *
 * Queries only read, and only traces: parameters that name files are not taken by the tables of analyses either.
 */
#include "route.h"

#include "server.h"
#include "holotrace/own.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 100000

static int digit_of(char c)
{
	const char *digits = "0123456789abcdef", *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;
	return c >= '0' && c <= '9' ? c - '0' : at != NULL ? (int)(at - digits) : -1;
}

/* Four digits of a JSON escape; -1 when they are none. */
static int unit_at(const char *text)
{
	int unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = digit_of(text[i]);
		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static char *put_utf8(char *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* The escape behind a backslash; its end, or NULL when it is none. */
static const char *decode_escape(const char *at, char **to)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *name = *at != '\0' ? strchr(names, *at) : NULL;
	if (name != NULL) {
		*(*to)++ = values[name - names];
		return at + 1;
	}
	int unit = *at == 'u' ? unit_at(at + 1) : -1;
	if (unit <= 0)
		return NULL;
	at += 5;
	if (unit >= 0xd800 && unit < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
		int low = unit_at(at + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		*to = put_utf8(*to,
		        0x10000 + ((unsigned)(unit - 0xd800) << 10) + (unsigned)(low - 0xdc00));
		return at + 6;
	}
	if (unit >= 0xd800 && unit < 0xe000)
		return NULL;
	*to = put_utf8(*to, (unsigned)unit);
	return at;
}

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* The query of {"query": "..."}, which the caller frees; NULL when the body is none. */
static char *decode_body(const char *body)
{
	const char *at = skip_space(body);
	if (*at != '{' || strncmp(at = skip_space(at + 1), "\"query\"", 7) != 0 ||
	        *(at = skip_space(at + 7)) != ':' || *(at = skip_space(at + 1)) != '"')
		return NULL;
	char *query = malloc(strlen(at) + 1), *to = query;
	at++;
	while (query != NULL && at != NULL && *at != '"' && *at != '\0') {
		if (*at == '\\')
			at = decode_escape(at + 1, &to);
		else
			*to++ = *at++;
	}
	if (query == NULL || at == NULL || *at != '"' || *(at = skip_space(at + 1)) != '}' ||
	        *skip_space(at + 1) != '\0') {
		free(query);
		return NULL;
	}
	*to = '\0';
	return query;
}

enum ht_status serve_sql(struct serve_request *request, struct serve_response *response)
{
	const struct ht_sql_options options = { .struct_size = sizeof(options),
		.timeout_ms = request->server->options.request_ms,
		.max_rows = MAX_ROWS };
	struct ht_sink sink = serve_buffer_sink(&response->body);
	ht_table *table;
	bool is_json = *skip_space(request->body) == '{';
	char *query = is_json ? decode_body(request->body) : copy_text(request->body);
	if (query == NULL || strlen(request->body) != request->n_body) {
		free(query);
		return serve_refuse(
		        response, 400, "send {\"query\": \"SELECT ...\"}", "the body has no query");
	}
	enum ht_status status = ht_sql(request->ctx, request->set, query, &options, &table);
	free(query);
	if (status != HT_OK)
		return status;
	status = ht_render_for_page(request->ctx, table, "json", NULL, &sink);
	ht_table_free(table);
	return response->body.failed ? HT_OK : status;
}
