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

static bool write_text(void *user, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, user) == n;
}

static void put_text(FILE *out, const char *text)
{
	struct ht_sink sink = { .write = write_text, .user = out };
	ht_ctx *ctx = NULL;
	bool plain = true;
	for (const char *at = text; *at; at++)
		plain = plain && *at >= 0x20 && *at < 0x7f;
	if (plain)
		fputs(text, out);
	else if (ht_ctx_new(&ctx) == HT_OK)
		plain = ht_escape(ctx, text, "text", &sink) == HT_OK;
	ht_ctx_free(ctx);
}

void cli_put_error(const char *text)
{
	put_text(stderr, text);
}

/* In one piece: launchers put lines of several processes together as they come. */
static void put_line(const char *text)
{
	char *line = NULL;
	size_t n;
	FILE *memory = open_memstream(&line, &n), *out = memory ? memory : stderr;
	fputs("holotrace: ", out);
	put_text(out, text);
	fputc('\n', out);
	if (memory && !fclose(memory))
		fwrite(line, 1, n, stderr);
	free(line);
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
	put_line(text != NULL ? text : room);
	if (text != room)
		free(text);
	va_end(again);
	va_end(list);
}
