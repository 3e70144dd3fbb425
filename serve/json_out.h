/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.h - JSON into a buffer; commas come by themselves.
 *
 *     struct serve_json json = { .ctx = request->ctx, .out = &response->body };
 *     serve_json_open(&json, '{');
 *     serve_json_key(&json, "name"); serve_json_str(&json, name);
 *     serve_json_close(&json, '}');
 *
 * Texts of traces and names of files are hostile: whatever they hold comes out as one JSON string in valid UTF-8.
 */
#ifndef SERVE_JSON_OUT_H
#define SERVE_JSON_OUT_H

#include "buffer.h"

struct serve_json {
	ht_ctx *ctx; /* its error is cleared by writing texts */
	struct serve_buffer *out;
	bool has_item; /* a comma is due before the next one */
};

/* '{' or '[', and the other end. */
void serve_json_open(struct serve_json *json, char bracket);
void serve_json_close(struct serve_json *json, char bracket);
/* Of an object: the key, then any value. */
void serve_json_key(struct serve_json *json, const char *key);
/* NULL is null. */
void serve_json_str(struct serve_json *json, const char *text);
/* Beyond 2^53 as a text of digits, which every reader keeps exactly. */
void serve_json_i64(struct serve_json *json, int64_t value);
void serve_json_u64(struct serve_json *json, uint64_t value);
void serve_json_bool(struct serve_json *json, bool value);
void serve_json_null(struct serve_json *json);
/* An event as "rank:row". */
void serve_json_event(struct serve_json *json, int64_t id);

#endif
