/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_look.c - see table_look.h.
 */
#include "table_look.h"
#include "holotrace/own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool table_look_count(const char *text, uint64_t *ret_count)
{
	char *end;
	if (strcmp(text, "all") == 0) {
		*ret_count = 0;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_count = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

bool table_look_take(struct table_look *look, const struct query_value *given,
        struct serve_response *response, enum ht_status *ret_status)
{
	struct {
		const char *name, **to;
	} texts[] = { { "columns", &look->view.columns }, { "where", &look->view.where },
		{ "sort", &look->view.sort }, { "format", &look->format } };
	struct {
		const char *name;
		uint64_t *to;
	} counts[] = { { "top", &look->view.top }, { "offset", &look->view.offset } };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].name, given->name) == 0) {
			*texts[i].to = given->value;
			return true;
		}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (strcmp(counts[i].name, given->name) != 0)
			continue;
		if (!table_look_count(given->value, counts[i].to))
			*ret_status = serve_refuse(response, 400, NULL,
			        "%s is a number of rows, not \"%.60s\"", given->name, given->value);
		return true;
	}
	if (strcmp(given->name, "token") == 0)
		return true;
	if (strcmp(given->name, "safe-csv") != 0)
		return false;
	look->safe_csv = strcmp(given->value, "true") == 0;
	if (!look->safe_csv && strcmp(given->value, "false") != 0)
		*ret_status = serve_refuse(response, 400, NULL,
		        "%s is true or false, not \"%.60s\"", given->name, given->value);
	return true;
}

/* What a browser is told that the bytes are: it shows none of them as a page, and keeps what is for programs. */
static void describe(struct serve_response *response, const struct ht_format *format)
{
	bool is_page = strncmp(format->type, "text/html", 9) == 0;
	response->type = is_page ? ht_format_find("text")->type : format->type;
	if (!format->has_notes)
		response->save_as = format->ending;
}

enum ht_status table_look_render(struct serve_request *request, struct serve_response *response,
        const struct table_look *look, const ht_table *table)
{
	const struct ht_render_options options = {
		.struct_size = sizeof(options), .wide = true, .safe_csv = look->safe_csv
	};
	struct ht_sink sink = serve_buffer_sink(&response->body);
	const struct ht_format *format = ht_format_find(look->format);
	if (format != NULL)
		describe(response, format);
	enum ht_status status =
	        ht_render_for_page(request->ctx, table, look->format, &options, &sink);
	/* a full buffer is said by its owner */
	return response->body.failed ? HT_OK : status;
}
