/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_json.h - JSON inside a <script> of a page: what it holds can never end the script.
 *
 * "<" is written as \u003c, so neither </script> nor <!-- of a trace's names is seen by the parser of HTML. Texts
 * are cut to a length that a page can show; integers that a browser's numbers cannot hold are written as texts.
 */
#ifndef CLI_SCRIPT_JSON_H
#define CLI_SCRIPT_JSON_H

#include "output.h"

struct script_json {
	ht_ctx *ctx;
	struct output *output;
	size_t n;
	char buffer[1 << 15];
};

void script_json_init(struct script_json *json, ht_ctx *ctx, struct output *output);
/* What was collected goes to the output; to be called at the end. */
void script_json_flush(struct script_json *json);
/* Text of the program itself, as it is. */
void script_json_raw(struct script_json *json, const char *text);
/* A text in quotes, cut when it is very long; NULL is null. */
void script_json_text(struct script_json *json, const char *text);
void script_json_i64(struct script_json *json, int64_t value);
/* "key": with a comma before it unless it is the first. */
void script_json_key(struct script_json *json, const char *key, bool first);

/* A table as web/src/model.ts has it. Rows for which kept is false are left out, NULL keeps all; rows beyond
 * max_bytes of JSON are left out and counted as hidden. */
void script_json_table(
        struct script_json *json, const ht_table *table, const bool *kept, size_t max_bytes);

#endif
