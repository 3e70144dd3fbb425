/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - see answer.h.
 */
#include "answer.h"
#include "holotrace/own.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Less does not get shorter by being compressed, or not by much. */
#define LEAST_BYTES 1024

static int http_status(enum ht_status status)
{
	switch (status) {
	case HT_OK: return 200;
	case HT_USAGE: return 400;
	case HT_MISSING:
	case HT_FORMAT: return 422;
	case HT_LIMIT: return 413;
	case HT_INTERNAL:
	case HT_IO: return 500;
	case HT_NOMEM:
	case HT_CANCELLED: break;
	}
	return 503;
}

/* The error's texts live in the context, which writing clears: they are copied first. */
static void write_problem(ht_ctx *ctx, struct serve_response *response)
{
	const struct ht_error *error = ht_error(ctx);
	struct serve_json json = { .ctx = ctx, .out = &response->body };
	char *message = strdup(response->message[0] != '\0' ? response->message
	                       : error->message != NULL     ? error->message
	                                                    : "the request failed");
	char *hint = response->message[0] != '\0' ? strdup(response->hint)
	             : error->hint != NULL        ? strdup(error->hint)
	                                          : NULL;
	bool is_own = response->message[0] != '\0';
	int64_t offset = is_own ? -1 : error->offset;
	char *file = !is_own && error->file != NULL ? strdup(error->file) : NULL;
	serve_json_open(&json, '{');
	serve_json_key(&json, "error");
	serve_json_str(&json, message);
	serve_json_key(&json, "file");
	serve_json_str(&json, file);
	serve_json_key(&json, "offset");
	if (offset >= 0)
		serve_json_i64(&json, offset);
	else
		serve_json_null(&json);
	serve_json_key(&json, "hint");
	serve_json_str(&json, hint != NULL && hint[0] != '\0' ? hint : NULL);
	serve_json_close(&json, '}');
	serve_puts(&response->body, "\n");
	free(message);
	free(hint);
	free(file);
}

/* Put the compressed body in its place; false when it stays as it is. */
static bool compress(ht_ctx *ctx, struct serve_buffer *body, const char *coding)
{
	struct serve_buffer packed = { .max = body->max };
	struct ht_sink sink = serve_buffer_sink(&packed);
	if (ht_compress(ctx, coding, body->bytes, body->n, &sink) != HT_OK || packed.failed ||
	        packed.n >= body->n) {
		serve_buffer_done(&packed);
		return false;
	}
	serve_buffer_done(body);
	*body = packed;
	return true;
}

struct answer *answer_new(
        ht_ctx *ctx, enum ht_status status, struct serve_response *response, const char *coding)
{
	struct answer *answer = calloc(1, sizeof(*answer));
	struct serve_buffer *body = &response->body;
	if (status == HT_OK && body->failed)
		status = serve_refuse(response, 413, "ask for fewer rows with top and offset",
		        "the answer is too large");
	if (status != HT_OK) {
		serve_buffer_done(body);
		body->max = 0;
		write_problem(ctx, response);
	}
	if (answer == NULL || body->failed) {
		serve_buffer_done(body);
		free(answer);
		return NULL;
	}
	atomic_init(&answer->n_refs, 1);
	answer->status = response->status != 0 ? response->status : http_status(status);
	answer->type =
	        status == HT_OK && response->type != NULL ? response->type : "application/json";
	answer->save_as = status == HT_OK ? response->save_as : NULL;
	if (coding != NULL && body->n >= LEAST_BYTES && compress(ctx, body, coding))
		answer->coding = coding;
	answer->bytes = body->bytes;
	answer->n = body->n;
	*body = (struct serve_buffer){ 0 };
	return answer;
}

struct answer *answer_hold(struct answer *answer)
{
	atomic_fetch_add(&answer->n_refs, 1);
	return answer;
}

void answer_release(struct answer *answer)
{
	if (answer == NULL || atomic_fetch_sub(&answer->n_refs, 1) > 1)
		return;
	free(answer->bytes);
	free(answer);
}

/* Whether a list such as "gzip, zstd;q=0" allows a coding. */
static bool allows(const char *accept, const char *coding)
{
	size_t n = strlen(coding);
	for (const char *at = accept; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
		at += strspn(at, " \t");
		if (strncasecmp(at, coding, n) != 0 || strchr(" \t,;", at[n]) == NULL)
			continue;
		const char *rest = at + n + strspn(at + n, " \t");
		if (*rest != ';')
			return true;
		rest += 1 + strspn(rest + 1, " \t");
		if (strncasecmp(rest, "q=", 2) != 0)
			return true;
		return strtod(rest + 2, NULL) > 0;
	}
	return false;
}

const char *answer_coding(const char *accept)
{
	if (accept == NULL)
		return NULL;
	return allows(accept, "zstd") ? "zstd" : allows(accept, "gzip") ? "gzip" : NULL;
}
