/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_functions.c - every analysis over traces as a function of SQL: its name, its arguments, its views.
 *
 * Arguments are one text, as on the command line without the dashes: 'by=all, num-kernels=5'. A comma starts the
 * next argument only where the name of one and = follow, so that lists stay whole: 'rank=0,2, by=all'. What would
 * open files is refused: the other run of a comparison is given beside the query.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/result_table.h"

#include "registry/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_ARGUMENTS 64

bool ht_sql_offers(const struct ht_analysis_info *info)
{
	/* columns on request are what the table of events has */
	return !info->files && !info->n_further;
}

void ht_sql_analysis_name(const struct ht_analysis_info *info, char *ret_name)
{
	snprintf(ret_name, HT_SQL_NAME_BYTES, "%s", info->name);
	for (char *p = ret_name; *p; p++)
		if (*p == '-')
			*p = '_';
	if (ht_sql_is_fixed_table(ret_name))
		snprintf(ret_name + strlen(ret_name), HT_SQL_NAME_BYTES - strlen(ret_name),
		        "_analysis");
}

/* ---- arguments ---- */

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '-' || byte == '_';
}

static bool is_same_name(const char *param, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (param[i] != (text[i] == '_' ? '-' : text[i]))
			return false;
	return !param[n];
}

static const struct ht_param *find_param(
        const struct ht_analysis_info *info, const char *text, size_t n)
{
	for (size_t i = 0; i < info->n_params; i++)
		if (is_same_name(info->params[i].name, text, n))
			return &info->params[i];
	for (size_t i = 0; i < ht_n_common_params(); i++)
		if (is_same_name(ht_common_param(i)->name, text, n))
			return ht_common_param(i);
	return NULL;
}

static size_t name_length(const char *text)
{
	size_t n = 0;
	while (is_name_byte(text[n]))
		n++;
	return n;
}

/* Does an argument begin here: a parameter's name, then = or, of a flag, the end? */
static bool begins(const struct ht_analysis_info *info, const char *text)
{
	size_t n = name_length(text);
	const struct ht_param *param = n ? find_param(info, text, n) : NULL;
	const char *after = text + n + strspn(text + n, " \t\r\n");
	return param && (*after == '=' || (param->type == HT_BOOL && (!*after || *after == ',')));
}

static const char *value_end(const struct ht_analysis_info *info, const char *text)
{
	for (; *text; text++)
		if (*text == ';' ||
		        (*text == ',' && begins(info, text + 1 + strspn(text + 1, " \t\r\n"))))
			return text;
	return text;
}

static enum ht_status fail_argument(
        ht_ctx *ctx, const struct ht_analysis_info *info, const char *text, size_t n)
{
	char hint[256] = "it takes: ";
	for (size_t i = 0; i < info->n_params; i++)
		snprintf(hint + strlen(hint), sizeof hint - strlen(hint), "%s%s", i ? ", " : "",
		        info->params[i].name);
	return ht_fail(ctx, HT_USAGE, NULL, -1,
	        info->n_params ? hint : "it takes: rank, step, annotation",
	        "%s has no argument '%.*s'", info->name, (int)(n < 60 ? n : 60), text);
}

/* The next argument of the text, which moves on. */
static enum ht_status read_argument(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_analysis_info *info, const char **text, struct ht_arg *ret)
{
	static const char blanks[] = " \t\r\n";
	const char *at = *text;
	size_t n = name_length(at);
	const struct ht_param *param = n ? find_param(info, at, n) : NULL;
	if (!param)
		return fail_argument(ctx, info, at, n ? n : strcspn(at, ",;"));
	if (info->input_param && !strcmp(param->name, info->input_param))
		return ht_fail(ctx, HT_USAGE, NULL, -1, "open it with holotrace itself",
		        "%s: a query opens no files", param->name);
	at += n;
	at += strspn(at, blanks);
	const char *value = "true";
	if (*at == '=') {
		at += 1 + strspn(at + 1, blanks);
		const char *end = value_end(info, at);
		size_t n_value = (size_t)(end - at);
		while (n_value && strchr(blanks, at[n_value - 1]))
			n_value--;
		value = ht_arena_strndup(arena, at, n_value);
		at = end;
	}
	if (!value)
		return ht_fail_nomem(ctx);
	*ret = (struct ht_arg){ param->name, value };
	*text = at;
	return HT_OK;
}

static enum ht_status read_arguments(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_analysis_info *info, const char *text, struct ht_arg *args, size_t *ret_n)
{
	size_t n = 0;
	for (;;) {
		text += strspn(text, " \t\r\n,;");
		if (!*text)
			break;
		if (n == MAX_ARGUMENTS)
			return ht_fail(ctx, HT_LIMIT, NULL, -1, NULL, "more than %d arguments",
			        MAX_ARGUMENTS);
		HT_TRY(read_argument(ctx, arena, info, &text, &args[n]));
		n++;
	}
	*ret_n = n;
	return HT_OK;
}

static bool is_given(const struct ht_arg *args, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(args[i].name, name))
			return true;
	return false;
}

static enum ht_status run_sets(struct ht_sql_session *s, const struct ht_analysis_info *info,
        const struct ht_arg *args, size_t n_args, ht_table **ret_table)
{
	ht_set *sets[] = { s->base, s->set };
	bool compares = info->n_sets > 1;
	if (compares && !s->base)
		return ht_fail(s->ctx, HT_USAGE, NULL, -1,
		        "a query opens no files; give it beside the query: holotrace sql TRACE --base "
		        "OTHER, run.sql(query, base=other)",
		        "it compares with another run, and none is given");
	return ht_ask(s->ctx, compares ? sets : &s->set, compares ? 2 : 1,
	        &(struct ht_query){ sizeof(struct ht_query), info->name, args, n_args, NULL },
	        ret_table);
}

static enum ht_status run(struct ht_sql_session *s, const struct ht_result_source *source,
        const char *arguments, ht_table **ret_table)
{
	struct ht_arg args[MAX_ARGUMENTS + 1];
	struct ht_arena arena;
	size_t n = 0;
	ht_arena_init(&arena, s->ctx->mem);
	enum ht_status status = read_arguments(s->ctx, &arena, source->info, arguments, args, &n);
	if (status == HT_OK && source->default_view && !is_given(args, n, source->info->chosen_by))
		args[n++] = (struct ht_arg){ source->info->chosen_by, source->default_view };
	if (status == HT_OK)
		status = run_sets(s, source->info, args, n, ret_table);
	ht_arena_done(&arena);
	if (status != HT_OK)
		ht_error_prefix(s->ctx, "%s", source->name);
	return status;
}

enum ht_status ht_result_make(struct ht_sql_session *s, const struct ht_result_source *source,
        const char *arguments, ht_table **ret_table)
{
	ht_table *table;
	if (source->info)
		return run(s, source, arguments, ret_table);
	HT_TRY(ht_table_new(
	        s->ctx, NULL, source->table->columns, source->table->n_columns, &table));
	enum ht_status status = source->fill(s, table);
	if (status == HT_OK)
		status = ht_table_finish(s->ctx, table);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

/* ---- views ---- */

/* The view that an argument text asks for, as its number. */
static size_t view_of(const struct ht_result_source *source, const char *text, size_t n)
{
	const struct ht_analysis_info *info = source->info;
	size_t n_name = strlen(info->chosen_by);
	const char *wanted = source->default_view ? source->default_view : info->schemas[0].name;
	size_t n_wanted = strlen(wanted);
	for (size_t i = 0; i + n_name < n; i++) {
		bool is_start = !i || !is_name_byte(text[i - 1]);
		size_t at = i + n_name;
		if (!is_start || !is_same_name(info->chosen_by, text + i, n_name))
			continue;
		while (at < n && text[at] == ' ')
			at++;
		if (at >= n || text[at] != '=')
			continue;
		for (at++; at < n && text[at] == ' ';)
			at++;
		wanted = text + at;
		for (n_wanted = 0; at < n && is_name_byte(text[at]); at++)
			n_wanted++;
	}
	for (size_t i = 0; i < info->n_schemas; i++)
		if (is_same_name(info->schemas[i].name, wanted, n_wanted))
			return i;
	return 0;
}

/* The text of the literal that follows a function's name, empty when none does. */
static const char *literal_after(const char *at, size_t *ret_n)
{
	at += strspn(at, " \t\r\n");
	*ret_n = 0;
	if (*at != '(')
		return "";
	at += 1 + strspn(at + 1, " \t\r\n");
	if (*at != '\'')
		return "";
	*ret_n = strcspn(at + 1, "'");
	return at + 1;
}

bool ht_result_shows(
        const struct ht_sql_session *s, const struct ht_result_source *source, size_t i_view)
{
	const char *query = s->query ? s->query : "";
	size_t n_name = strlen(source->name), n_calls = 0;
	if (!source->info->chosen_by)
		return true;
	for (const char *at = query; *at; at++) {
		size_t n;
		bool is_start = at == query || !is_name_byte(at[-1]);
		if (!is_start || sqlite3_strnicmp(at, source->name, (int)n_name) != 0 ||
		        is_name_byte(at[n_name]))
			continue;
		const char *text = literal_after(at + n_name, &n);
		n_calls++;
		if (view_of(source, text, n) == i_view)
			return true;
	}
	return !n_calls && view_of(source, "", 0) == i_view;
}

/* ---- registration ---- */

int ht_sql_register_results(struct ht_sql_session *s)
{
	int code = ht_sql_register_small(s);
	for (size_t i = 0; i < ht_n_analyses() && code == SQLITE_OK; i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		/* as a table beside events, collectives are their calls */
		struct ht_result_source source = { .info = info, .default_view = info->details };
		char name[HT_SQL_NAME_BYTES];
		if (!ht_sql_offers(info))
			continue;
		ht_sql_analysis_name(info, name);
		code = ht_sql_register_result(s, name, source);
	}
	return code;
}

#endif
