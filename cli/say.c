/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.c - see say.h.
 */
#include "say.h"

#include "holotrace.h"
#include "holotrace/own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool write_error(void *user, const void *bytes, size_t n)
{
	(void)user;
	return fwrite(bytes, 1, n, stderr) == n;
}

void cli_put_error(const char *text)
{
	struct ht_sink sink = { .write = write_error };
	ht_ctx *ctx = NULL;
	bool plain = true;
	for (const char *at = text; *at; at++)
		plain = plain && *at >= 0x20 && *at < 0x7f;
	if (plain)
		fputs(text, stderr);
	else if (ht_ctx_new(&ctx) == HT_OK)
		plain = ht_escape(ctx, text, "text", &sink) == HT_OK;
	ht_ctx_free(ctx);
}

void cli_say(const char *format, ...)
{
	char room[512], *text = room;
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int n = vsnprintf(room, sizeof(room), format, list);
	if (n >= (int)sizeof(room) && (text = malloc((size_t)n + 1)) != NULL)
		vsnprintf(text, (size_t)n + 1, format, again);
	fputs("holotrace: ", stderr);
	cli_put_error(text != NULL ? text : room);
	fputc('\n', stderr);
	if (text != room)
		free(text);
	va_end(again);
	va_end(list);
}
