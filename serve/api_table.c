/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_table.c - any analysis over a run, as a table in any format: what the command line's verbs are.
 *
 * Every option of the verb is a query parameter, and so are those of the view. Parameters that name files are not
 * taken: nothing outside the log directory can be asked for.
 */
#include "costs.h"
#include "route.h"
#include "server.h"
#include "table_look.h"

#include <stdio.h>
#include <string.h>

/* What a query means. */
struct question {
	const struct ht_analysis_info *info;
	struct ht_arg args[SERVE_MAX_QUERY + 1];
	size_t n_args;
	struct table_look look;
	ht_set *sets[HT_MAX_SETS];
	size_t n_sets;
	char count_name[64],
	        count[24]; /* of comparisons of several runs: how many the first side has */
};

static bool takes(const struct ht_analysis_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_params; i++)
		if (strcmp(info->params[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < ht_n_common_params(); i++)
		if (strcmp(ht_common_param(i)->name, name) == 0)
			return true;
	return false;
}

static bool names_files(const struct ht_analysis_info *info, const char *name)
{
	return (info->input_param != NULL && strcmp(info->input_param, name) == 0) ||
	       (info->files != NULL && strcmp(info->files, name) == 0);
}

/* What chooses the sets. */
static bool is_of_sets(const char *name)
{
	static const char *const names[] = { "span", "base", "test" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static enum ht_status read_query(const struct serve_request *request,
        struct serve_response *response, struct question *question)
{
	const struct ht_analysis_info *info = question->info;
	for (size_t i = 0; i < request->n_query; i++) {
		const struct query_value *given = &request->query[i];
		enum ht_status status = HT_OK;
		if (names_files(info, given->name))
			return serve_refuse(response, 400, "use the command line for files",
			        "%s cannot be given here: it names files", given->name);
		if (takes(info, given->name))
			question->args[question->n_args++] =
			        (struct ht_arg){ given->name, given->value };
		else if (!is_of_sets(given->name) &&
		         !table_look_take(&question->look, given, response, &status))
			return serve_refuse(response, 400, "see /api/v1/analyses",
			        "%s has no option %.60s", info->name, given->name);
		if (status != HT_OK)
			return status;
	}
	return HT_OK;
}

/* The sets: the run, or those to compare, the bases first. */
static enum ht_status choose_sets(const struct serve_request *request,
        struct serve_response *response, struct question *question)
{
	const struct ht_analysis_info *info = question->info;
	size_t n_base = 0;
	if (info->n_sets == 1) {
		question->sets[question->n_sets++] = request->set;
		return HT_OK;
	}
	for (size_t i = 0; i < request->n_others; i++)
		if (!request->others[i].is_test)
			question->sets[question->n_sets++] = request->others[i].set;
	n_base = question->n_sets;
	question->sets[question->n_sets++] = request->set;
	for (size_t i = 0; i < request->n_others; i++)
		if (request->others[i].is_test)
			question->sets[question->n_sets++] = request->others[i].set;
	if (n_base == 0)
		return serve_refuse(response, 400, "add base=RUN",
		        "%s compares the run with another", info->name);
	if (info->sides[0] == NULL && question->n_sets != info->n_sets)
		return serve_refuse(response, 400, NULL, "%s compares two runs", info->name);
	if (info->sides[0] != NULL) {
		snprintf(
		        question->count_name, sizeof(question->count_name), "n-%s", info->sides[0]);
		snprintf(question->count, sizeof(question->count), "%zu", n_base);
		question->args[question->n_args++] =
		        (struct ht_arg){ question->count_name, question->count };
	}
	return HT_OK;
}

enum ht_status serve_table(struct serve_request *request, struct serve_response *response)
{
	struct question question = { .info = ht_analysis_find(request->names[1]),
		.look = TABLE_LOOK };
	ht_table *table;
	if (question.info == NULL || question.info->n_sets == 0)
		return serve_refuse(response, 404, "see /api/v1/analyses",
		        "there is no analysis %.60s", request->names[1]);
	enum ht_status status = read_query(request, response, &question);
	if (status == HT_OK)
		status = choose_sets(request, response, &question);
	uint64_t start_ms = now_ms();
	if (status == HT_OK)
		status = ht_ask(request->ctx, question.sets, question.n_sets,
		        &(struct ht_query){ sizeof(struct ht_query), question.info->name,
		                question.args, question.n_args, &question.look.view },
		        &table);
	if (status != HT_OK)
		return status;
	costs_note(request->server->costs, question.info->name, serve_n_events(request),
	        now_ms() - start_ms);
	status = table_look_render(request, response, &question.look, table);
	ht_table_free(table);
	return status;
}
