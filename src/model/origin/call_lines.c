/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_lines.c - see call_lines.h.
 */
#include "model/origin/call_lines.h"

#include "base/mem.h"
#include "model/origin/compiled_graph.h"

#include <string.h>

#define BETWEEN   " + "
#define N_BETWEEN (sizeof BETWEEN - 1)
/* Lines of a call; what is fused from more has the first ones. */
#define MAX_LINES 32

bool ht_call_line_next(const char **at, struct ht_piece *ret_line)
{
	if (!*at)
		return false;
	const char *end = strstr(*at, BETWEEN);
	*ret_line = (struct ht_piece){ *at, (int)(end ? (size_t)(end - *at) : strlen(*at)) };
	*at = end ? end + N_BETWEEN : NULL;
	return true;
}

size_t ht_call_line_find(const char *lines, struct ht_piece line)
{
	struct ht_piece each;
	for (size_t i = 0; ht_call_line_next(&lines, &each); i++)
		if (each.n == line.n && !memcmp(each.text, line.text, (size_t)line.n))
			return i;
	return SIZE_MAX;
}

/* A folder may be called "a + b", which would be two lines: there the blanks are left out. */
static size_t without_between(struct ht_piece line, char *to)
{
	size_t n = 0;
	for (int i = 0; i < line.n; i++) {
		bool is_between = (size_t)(line.n - i) >= N_BETWEEN &&
		                  !memcmp(line.text + i, BETWEEN, N_BETWEEN);
		to[n++] = is_between ? '+' : line.text[i];
		i += is_between ? (int)N_BETWEEN - 1 : 0;
	}
	return n;
}

enum ht_status ht_call_line_add(
        ht_ctx *ctx, struct ht_arena *arena, struct ht_compiled_call *call, struct ht_piece line)
{
	char text[HT_CALL_LINE_BYTES];
	if (call->n_sources >= MAX_LINES || line.n > HT_CALL_LINE_BYTES)
		return HT_OK;
	line = (struct ht_piece){ text, (int)without_between(line, text) };
	if (ht_call_line_find(call->source, line) != SIZE_MAX)
		return HT_OK;
	call->source = ht_arena_printf(arena, "%s%s%.*s", call->source ? call->source : "",
	        call->source ? BETWEEN : "", line.n, line.text);
	call->n_sources++;
	return call->source ? HT_OK : ht_fail_nomem(ctx);
}
