/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_history.c - a store of many runs (holotrace history), as a table in any format. It is only read.
 *
 * Options are those of the command line's verb that ask; those that add to a store are not taken.
 */
#include "route.h"
#include "server.h"
#include "table_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct question {
	struct ht_history_options options;
	struct table_look look;
};

static bool parse_share(const char *text, double *ret_share)
{
	char *end;
	errno = 0;
	*ret_share = strtod(text, &end);
	return errno == 0 && end != text && *end == '\0' && *ret_share >= 0 && *ret_share < 1e9;
}

/* An option of the history; false: it is none. ret_fits tells about its value. */
static bool take_option(
        struct ht_history_options *options, const struct query_value *given, bool *ret_fits)
{
	struct {
		const char *name, **to;
	} texts[] = { { "view", &options->view }, { "path", &options->path },
		{ "since", &options->since } };
	struct {
		const char *name;
		double *to;
	} shares[] = { { "min-change", &options->min_change },
		{ "max-pvalue", &options->max_pvalue } };
	*ret_fits = true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].name, given->name) == 0) {
			*texts[i].to = given->value;
			return true;
		}
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (strcmp(shares[i].name, given->name) == 0) {
			*ret_fits = parse_share(given->value, shares[i].to);
			return true;
		}
	if (strcmp(given->name, "window") != 0)
		return false;
	*ret_fits = table_look_count(given->value, &options->window);
	return true;
}

static enum ht_status read_query(const struct serve_request *request,
        struct serve_response *response, struct question *question)
{
	for (size_t i = 0; i < request->n_query; i++) {
		const struct query_value *given = &request->query[i];
		enum ht_status status = HT_OK;
		bool fits;
		if (take_option(&question->options, given, &fits)) {
			if (!fits)
				return serve_refuse(response, 400, NULL, "%s cannot be \"%.60s\"",
				        given->name, given->value);
		} else if (!table_look_take(&question->look, given, response, &status)) {
			return serve_refuse(response, 400, "see /api/v1/openapi.json",
			        "a history has no option %.60s", given->name);
		}
		if (status != HT_OK)
			return status;
	}
	return HT_OK;
}

/* Where the store is, which the caller frees; NULL with a refusal. */
static char *find_path(struct serve_request *request, struct serve_response *response)
{
	struct runs *runs = &request->server->runs;
	pthread_mutex_lock(&runs->lock);
	const struct history *history = runs_find_history(runs, request->names[0]);
	char *path = history != NULL ? copy_text(history->path) : NULL;
	bool is_scanning = runs->is_scanning;
	pthread_mutex_unlock(&runs->lock);
	if (path == NULL)
		(void)serve_refuse(response, is_scanning ? 503 : 404, "see /api/v1/runs",
		        "there is no history %.200s", request->names[0]);
	return path;
}

enum ht_status serve_history(struct serve_request *request, struct serve_response *response)
{
	struct question question = { .options = { .struct_size = sizeof(question.options) },
		.look = TABLE_LOOK };
	ht_table *table;
	enum ht_status status = read_query(request, response, &question);
	if (status != HT_OK)
		return status;
	char *path = find_path(request, response);
	if (path == NULL)
		return HT_USAGE;
	question.options.shown = &question.look.view;
	status = ht_history(request->ctx, path, &question.options, &table);
	free(path);
	if (status != HT_OK)
		return status;
	status = table_look_render(request, response, &question.look, table);
	ht_table_free(table);
	return status;
}
