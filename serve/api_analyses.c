/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_analyses.c - the registry, as the page needs it (Analyses in web/src/model.ts).
 */
#include "holotrace/own.h"
#include "route.h"

#include <string.h>

static void put(struct serve_json *json, const char *key, const char *text)
{
	serve_json_key(json, key);
	serve_json_str(json, text);
}

/* "a|b|c" as a list. */
static void put_choices(struct serve_json *json, const char *choices)
{
	serve_json_key(json, "choices");
	if (choices == NULL) {
		serve_json_null(json);
		return;
	}
	serve_json_open(json, '[');
	while (*choices != '\0') {
		char word[128];
		size_t n = strcspn(choices, "|");
		if (n < sizeof(word)) {
			memcpy(word, choices, n);
			word[n] = '\0';
			serve_json_str(json, word);
		}
		choices += n + (choices[n] == '|');
	}
	serve_json_close(json, ']');
}

static void put_param(struct serve_json *json, const struct ht_param *param)
{
	serve_json_open(json, '{');
	put(json, "name", param->name);
	put(json, "type", ht_type_name(param->type));
	put(json, "default", param->default_value);
	put(json, "help", param->help);
	put_choices(json, param->choices);
	serve_json_close(json, '}');
}

static void put_schema(struct serve_json *json, const struct ht_schema *schema)
{
	serve_json_open(json, '{');
	put(json, "name", schema->name != NULL ? schema->name : "");
	serve_json_key(json, "columns");
	serve_json_open(json, '[');
	for (size_t i = 0; i < schema->n_columns; i++) {
		const struct ht_column *column = &schema->columns[i];
		serve_json_open(json, '{');
		put(json, "name", column->name);
		put(json, "type", ht_type_name(column->type));
		put(json, "unit", ht_column_unit(column));
		put(json, "role", ht_role_name(column->role));
		put(json, "sentence", column->sentence);
		serve_json_close(json, '}');
	}
	serve_json_close(json, ']');
	serve_json_close(json, '}');
}

static void put_analysis(struct serve_json *json, const struct ht_analysis_info *info)
{
	serve_json_open(json, '{');
	put(json, "name", info->name);
	put(json, "group", info->group);
	put(json, "group_title", ht_group_title(info->group));
	put(json, "title", info->title);
	put(json, "question", info->question);
	put(json, "method", info->method);
	serve_json_key(json, "params");
	serve_json_open(json, '[');
	for (size_t i = 0; i < info->n_params; i++) {
		const char *name = info->params[i].name;
		/* those that name files cannot be given here */
		if ((info->input_param == NULL || strcmp(name, info->input_param) != 0) &&
		        (info->files == NULL || strcmp(name, info->files) != 0))
			put_param(json, &info->params[i]);
	}
	serve_json_close(json, ']');
	serve_json_key(json, "schemas");
	serve_json_open(json, '[');
	for (size_t i = 0; i < info->n_schemas; i++)
		put_schema(json, &info->schemas[i]);
	serve_json_close(json, ']');
	put(json, "chosen_by", info->chosen_by);
	put(json, "page_view", info->page_view);
	serve_json_key(json, "n_sets");
	serve_json_u64(json, info->n_sets);
	serve_json_key(json, "lists_events");
	serve_json_bool(json, info->lists_events);
	serve_json_close(json, '}');
}

enum ht_status serve_analyses(struct serve_request *request, struct serve_response *response)
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	serve_json_open(&json, '{');
	put(&json, "version", ht_version());
	serve_json_key(&json, "common");
	serve_json_open(&json, '[');
	for (size_t i = 0; i < ht_n_common_params(); i++)
		put_param(&json, ht_common_param(i));
	serve_json_close(&json, ']');
	serve_json_key(&json, "analyses");
	serve_json_open(&json, '[');
	/* what is over files that are no traces has nothing to look at here */
	for (size_t i = 0; i < ht_n_analyses(); i++)
		if (ht_analysis_at(i)->n_sets > 0)
			put_analysis(&json, ht_analysis_at(i));
	serve_json_close(&json, ']');
	serve_json_close(&json, '}');
	serve_puts(&response->body, "\n");
	return HT_OK;
}
