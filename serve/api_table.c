/*
 * api_table.c - any analysis over a run, as a table in any format: what the command line's verbs are.
 *
 * Every option of the verb is a query parameter, and so are those of the view. Parameters that name files are not
 * taken: nothing outside the log directory can be asked for.
 */
#include "route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a query means. */
struct question {
	const struct ht_analysis_info *info;
	struct ht_arg args[SERVE_MAX_QUERY + 1];
	size_t n_args;
	struct ht_view view;
	const char *format;
	bool safe_csv;
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
	return (info->instead != NULL && strcmp(info->instead, name) == 0) ||
	       (info->files != NULL && strcmp(info->files, name) == 0);
}

/* "all", or a count. */
static bool parse_count(const char *text, uint64_t *ret_count)
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

/* One of those that belong to the view or the answer; false: it is none. ret_status tells about its value. */
static bool take_view(struct question *question, const struct query_value *given,
        struct serve_response *response, enum ht_status *ret_status)
{
	struct {
		const char *name, **to;
	} texts[] = { { "columns", &question->view.columns }, { "where", &question->view.where },
		{ "sort", &question->view.sort }, { "format", &question->format } };
	struct {
		const char *name;
		uint64_t *to;
	} counts[] = { { "top", &question->view.top }, { "offset", &question->view.offset } };
	static const char *const others[] = { "span", "base", "test", "token" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].name, given->name) == 0) {
			*texts[i].to = given->value;
			return true;
		}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (strcmp(counts[i].name, given->name) != 0)
			continue;
		if (!parse_count(given->value, counts[i].to))
			*ret_status = serve_refuse(response, 400, NULL,
			        "%s is a number of rows, not \"%.60s\"", given->name, given->value);
		return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i], given->name) == 0)
			return true;
	if (strcmp(given->name, "safe-csv") != 0)
		return false;
	question->safe_csv = strcmp(given->value, "true") == 0;
	if (!question->safe_csv && strcmp(given->value, "false") != 0)
		*ret_status = serve_refuse(response, 400, NULL,
		        "%s is true or false, not \"%.60s\"", given->name, given->value);
	return true;
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
		else if (!take_view(question, given, response, &status))
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

/* What a browser is told that the bytes are: it shows none of them as a page, and keeps what is for programs. */
static void describe(struct serve_response *response, const struct ht_format *format)
{
	bool is_page = strncmp(format->type, "text/html", 9) == 0;
	response->type = is_page ? ht_format_find("text")->type : format->type;
	if (!format->has_notes)
		response->save_as = format->ending;
}

static enum ht_status render(struct serve_request *request, struct serve_response *response,
        const struct question *question, const ht_table *table)
{
	const struct ht_render_options look = { .struct_size = sizeof(look),
		.wide = true,
		.for_page = true,
		.safe_csv = question->safe_csv };
	struct ht_sink sink = serve_buffer_sink(&response->body);
	const struct ht_format *format = ht_format_find(question->format);
	if (format != NULL)
		describe(response, format);
	enum ht_status status = ht_render(request->ctx, table, question->format, &look, &sink);
	/* a full buffer is said by its owner */
	return response->body.failed ? HT_OK : status;
}

enum ht_status serve_table(struct serve_request *request, struct serve_response *response)
{
	struct question question = { .info = ht_analysis_find(request->names[1]),
		.view = { .struct_size = sizeof(struct ht_view) },
		.format = "json" };
	ht_table *table;
	if (question.info == NULL || question.info->n_sets == 0)
		return serve_refuse(response, 404, "see /api/v1/analyses",
		        "there is no analysis %.60s", request->names[1]);
	enum ht_status status = read_query(request, response, &question);
	if (status == HT_OK)
		status = choose_sets(request, response, &question);
	if (status == HT_OK)
		status = ht_run(request->ctx, question.info->name, question.sets, question.n_sets,
		        question.args, question.n_args, &question.view, &table);
	if (status != HT_OK)
		return status;
	status = render(request, response, &question, table);
	ht_table_free(table);
	return status;
}
