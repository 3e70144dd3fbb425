/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_look.h - how a table is asked for, whatever it is of: rows and columns, format.
 */
#ifndef SERVE_TABLE_LOOK_H
#define SERVE_TABLE_LOOK_H

#include "request.h"

struct table_look {
	struct ht_view view;
	const char *format;
	bool safe_csv;
};
#define TABLE_LOOK                                                                                 \
	{                                                                                          \
		.view = { .struct_size = sizeof(struct ht_view) }, .format = "json"                \
	}

/* "all", or a count. */
bool table_look_count(const char *text, uint64_t *ret_count);
/* A query parameter that belongs here; false: it does not. ret_status tells about its value, with the refusal made. */
bool table_look_take(struct table_look *look, const struct query_value *given,
        struct serve_response *response, enum ht_status *ret_status);
/* The table as the answer. */
enum ht_status table_look_render(struct serve_request *request, struct serve_response *response,
        const struct table_look *look, const ht_table *table) HT_MUST_USE;

#endif
