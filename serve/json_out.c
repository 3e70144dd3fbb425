/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.c - see json_out.h.
 */
#include "json_out.h"
#include "holotrace/own.h"

#include <inttypes.h>

#define MAX_SAFE ((uint64_t)1 << 53)

static void begin(struct serve_json *json)
{
	if (json->has_item)
		serve_put(json->out, ",", 1);
	json->has_item = true;
}

void serve_json_open(struct serve_json *json, char bracket)
{
	begin(json);
	serve_put(json->out, &bracket, 1);
	json->has_item = false;
}

void serve_json_close(struct serve_json *json, char bracket)
{
	serve_put(json->out, &bracket, 1);
	json->has_item = true;
}

void serve_json_key(struct serve_json *json, const char *key)
{
	serve_json_str(json, key);
	serve_put(json->out, ":", 1);
	json->has_item = false;
}

void serve_json_str(struct serve_json *json, const char *text)
{
	struct ht_sink sink = serve_buffer_sink(json->out);
	begin(json);
	if (text == NULL)
		serve_puts(json->out, "null");
	else if (ht_escape(json->ctx, text, "json", &sink) != HT_OK)
		json->out->failed = true;
}

void serve_json_i64(struct serve_json *json, int64_t value)
{
	bool is_safe = value < (int64_t)MAX_SAFE && value > -(int64_t)MAX_SAFE;
	begin(json);
	serve_printf(json->out, is_safe ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

void serve_json_u64(struct serve_json *json, uint64_t value)
{
	begin(json);
	serve_printf(json->out, value < MAX_SAFE ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

void serve_json_bool(struct serve_json *json, bool value)
{
	begin(json);
	serve_puts(json->out, value ? "true" : "false");
}

void serve_json_null(struct serve_json *json)
{
	begin(json);
	serve_puts(json->out, "null");
}

void serve_json_event(struct serve_json *json, int64_t id)
{
	begin(json);
	serve_printf(json->out, "\"%" PRId64 ":%" PRIu32 "\"", ht_event_rank(id), ht_event_row(id));
}
