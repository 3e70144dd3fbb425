/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run.c - tools/call: read the arguments, hold the run, run the verbs of the tool.
 *
 * Arguments are those of the tool's schema and nothing else; what names files is refused, so that nothing outside the log
 * directory can be asked for.
 */
#include "mcp/tool.h"

#include "base/list.h"

#include <stdio.h>
#include <string.h>

#define MAX_LIMIT 200

static const char cursor_word[] = "row:";

/* ---- arguments ---- */

/* Those that every tool may have; false: it is another one. */
static bool take_shared(struct mcp_args *args, const struct mcp_tool *tool, const char *name,
        const char *value, bool *ret_ok)
{
	struct {
		const char *name, **to;
		unsigned takes;
	} texts[] = { { "run", &args->run, MCP_RUN }, { "base", &args->base, MCP_BASE },
		{ "where", &args->where, MCP_VIEW }, { "sort", &args->sort, MCP_VIEW },
		{ "columns", &args->columns, MCP_OPTIONS }, { "verb", &args->verb, MCP_OPTIONS } };
	int64_t number = -1;
	*ret_ok = true;
	for (size_t i = 0; i < HT_COUNT(texts); i++)
		if (!strcmp(name, texts[i].name) && (tool->takes & texts[i].takes)) {
			*texts[i].to = value;
			return true;
		}
	if (!(tool->takes & MCP_ROWS))
		return false;
	if (!strcmp(name, "limit")) {
		*ret_ok = ht_parse_i64(value, &number) && number > 0;
		args->limit = number < MAX_LIMIT ? (uint64_t)number : MAX_LIMIT;
		return true;
	}
	if (strcmp(name, "cursor") != 0)
		return false;
	size_t n = sizeof cursor_word - 1;
	*ret_ok =
	        !strncmp(value, cursor_word, n) && ht_parse_i64(value + n, &number) && number >= 0;
	args->offset = (uint64_t)number;
	return true;
}

static bool add_arg(struct mcp_call *call, struct mcp_args *args, const char *name,
        const struct ht_json_value *value)
{
	const char *text = mcp_value_text(&call->arena, value);
	if (value->type == HT_JSON_NULL)
		return true;
	if (!text || args->n == MCP_MAX_ARGS) {
		mcp_refuse(call, RPC_PARAMS,
		        text ? "there are too many arguments: %.60s"
		             : "%.60s is a text, a number or true or false",
		        name);
		return false;
	}
	args->list[args->n++] = (struct ht_arg){ name, text };
	return true;
}

/* The members of an object; those of options are arguments, too, where the tool takes any. */
static bool read_object(struct mcp_call *call, const struct mcp_tool *tool,
        const struct ht_json_value *object, bool inside, struct mcp_args *args)
{
	struct ht_json reader = ht_json_enter(object);
	struct ht_json_value key, value;
	while (ht_json_member(&reader, &key, &value)) {
		struct ht_json_value quoted = { HT_JSON_STRING, key.text - 1, key.n + 2 };
		const char *name = mcp_value_text(&call->arena, &quoted);
		bool ok = true, is_options = name && (tool->takes & MCP_OPTIONS) && !inside &&
		                             !strcmp(name, "options");
		const char *text = is_options ? NULL : mcp_value_text(&call->arena, &value);
		if (name && is_options && value.type == HT_JSON_OBJECT)
			ok = read_object(call, tool, &value, true, args);
		else if (!name || is_options)
			ok = false;
		else if (!text || !take_shared(args, tool, name, text, &ok))
			ok = add_arg(call, args, name, &value);
		if (!ok && !call->error)
			mcp_refuse(call, RPC_PARAMS, "the argument %.60s cannot be %.60s",
			        name ? name : "?", text ? text : "that");
		if (!ok)
			return false;
	}
	return true;
}

static bool read_args(struct mcp_call *call, const struct mcp_tool *tool, struct mcp_args *args)
{
	struct ht_json_value object = ht_json_get(&call->params, "arguments");
	*args = (struct mcp_args){ .limit = tool->limit };
	if (object.type == HT_JSON_END || object.type == HT_JSON_NULL)
		return true;
	if (object.type != HT_JSON_OBJECT) {
		mcp_refuse(call, RPC_PARAMS, "arguments is an object");
		return false;
	}
	return read_object(call, tool, &object, false, args);
}

/* ---- running verbs ---- */

static bool takes(const struct ht_analysis_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, name))
			return mcp_param_is_shown(info, &info->params[i]);
	for (size_t i = 0; i < ht_n_common_params(); i++)
		if (!strcmp(ht_common_param(i)->name, name))
			return true;
	return false;
}

/* An argument that no verb of the tool takes is a mistake, and is told with what there is. */
static enum ht_status check_args(
        struct mcp_call *call, const char *verbs, const struct mcp_args *args)
{
	for (size_t i = 0; i < args->n; i++) {
		const char *at = verbs, *names = "";
		struct mcp_verb verb;
		bool is_taken = false;
		while (mcp_verb_next(&at, &verb)) {
			const struct ht_analysis_info *info = ht_analysis_find(verb.name);
			is_taken |= takes(info, args->list[i].name);
			for (size_t k = 0; names && k < info->n_params; k++)
				if (mcp_param_is_shown(info, &info->params[k]))
					names = ht_arena_printf(&call->arena, "%s%s%s", names,
					        *names ? ", " : "", info->params[k].name);
		}
		if (!is_taken)
			return ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL,
			        "there is no argument %.60s; own arguments are %.300s",
			        args->list[i].name, names && *names ? names : "none");
	}
	return HT_OK;
}

/* The sets of a verb: the run, or both sides, the base first. */
struct sides {
	ht_set *sets[2];
	size_t n;
	char count_name[64];
};

static size_t list_args(const struct mcp_verb *verb, const struct mcp_args *given,
        const struct sides *sides, struct ht_arg *list)
{
	const struct ht_analysis_info *info = ht_analysis_find(verb->name);
	size_t n = 0;
	for (size_t i = 0; i < given->n; i++) {
		bool is_fixed = false;
		for (size_t k = 0; k < verb->n_fixed; k++)
			is_fixed |= !strcmp(verb->fixed[k].name, given->list[i].name);
		if (!is_fixed && takes(info, given->list[i].name))
			list[n++] = given->list[i];
	}
	for (size_t k = 0; k < verb->n_fixed; k++)
		list[n++] = verb->fixed[k];
	if (info->sides[0])
		list[n++] = (struct ht_arg){ sides->count_name, "1" };
	return n;
}

static enum ht_status run_verb(struct mcp_call *call, const struct mcp_verb *verb,
        const struct mcp_args *given, const struct sides *sides, bool is_first,
        struct mcp_result *result)
{
	struct ht_arg list[MCP_MAX_ARGS + HT_COUNT(verb->fixed) + 1];
	const struct ht_view view = { .struct_size = sizeof view,
		.columns = is_first ? given->columns : NULL,
		.where = is_first ? given->where : NULL,
		.sort = is_first ? given->sort : NULL,
		.top = given->limit,
		.offset = is_first ? given->offset : 0 };
	struct mcp_part part = { .offset = view.offset, .has_pages = is_first };
	size_t n = list_args(verb, given, sides, list);
	HT_TRY(ht_ask(call->ctx, sides->sets, sides->n,
	        &(struct ht_query){ sizeof(struct ht_query), verb->name, list, n, &view },
	        &part.table));
	part.verb = ht_arena_strndup(&call->arena, verb->name, strlen(verb->name));
	bool is_empty = !ht_table_n_rows(part.table) && result->n_parts;
	if (!part.verb || is_empty || (verb->if_notes && !ht_table_n_notes(part.table))) {
		ht_table_free(part.table);
		return part.verb ? HT_OK : ht_fail_nomem(call->ctx);
	}
	result->parts[result->n_parts++] = part;
	mcp_next_of_table(call, result, part.table);
	return HT_OK;
}

/* All verbs over the sets. That one of several has nothing to look at is no failure while another one has. */
static enum ht_status run_all(struct mcp_call *call, const char *verbs, const struct mcp_args *args,
        struct sides *sides, struct mcp_result *result)
{
	struct mcp_verb verb;
	struct ht_error_text first = { { 0 }, "", "", "" };
	bool is_first = true;
	HT_TRY(check_args(call, verbs, args));
	for (; mcp_verb_next(&verbs, &verb) && result->n_parts < MCP_MAX_TABLES; is_first = false) {
		const struct ht_analysis_info *info = ht_analysis_find(verb.name);
		if (info->sides[0])
			snprintf(sides->count_name, sizeof sides->count_name, "n-%s",
			        info->sides[0]);
		enum ht_status status = run_verb(call, &verb, args, sides, is_first, result);
		if (status == HT_CANCELLED || status == HT_NOMEM || status == HT_LIMIT)
			return status;
		if (status != HT_OK && first.error.status == HT_OK)
			ht_error_save(call->ctx, &first);
	}
	if (result->n_parts || first.error.status == HT_OK)
		return HT_OK;
	ht_error_load(call->ctx, &first);
	return first.error.status;
}

static enum ht_status refuse_verb(struct mcp_call *call, const char *verb)
{
	return ht_fail(call->ctx, HT_USAGE, NULL, -1, "tools/list has the verbs of analyze",
	        verb ? "there is no analysis %.60s over one run" : "verb is missing%.0s",
	        verb ? verb : "");
}

MCP_RUNNER(mcp_run_verbs)
{
	struct mcp_held held = { .set = NULL }, base = { .set = NULL };
	const char *verbs = tool->verbs;
	if (tool->takes & MCP_OPTIONS) {
		const struct ht_analysis_info *info =
		        args->verb ? ht_analysis_find(args->verb) : NULL;
		if (!info || info->n_sets != 1)
			return refuse_verb(call, args->verb);
		verbs = info->name;
	}
	if ((tool->takes & MCP_BASE) && !args->base)
		return ht_fail(call->ctx, HT_USAGE, NULL, -1, "find_runs lists the runs",
		        "base is missing: the run to compare with");
	HT_TRY(mcp_run_hold(call, args->run, &held));
	enum ht_status status = args->base ? mcp_run_hold(call, args->base, &base) : HT_OK;
	if (status == HT_OK) {
		struct sides sides = { .n = 0 };
		if (args->base)
			sides.sets[sides.n++] = base.set;
		sides.sets[sides.n++] = held.set;
		result->run = held.name;
		result->base = args->base ? base.name : NULL;
		status = run_all(call, verbs, args, &sides, result);
	}
	if (base.set)
		mcp_run_release(call, &base);
	mcp_run_release(call, &held);
	return status;
}

/* ---- the method ---- */

void mcp_tools_call(struct mcp_call *call)
{
	const char *name = mcp_param(call, "name");
	const struct mcp_tool *tool = mcp_tool_find(name);
	struct mcp_args args;
	struct mcp_result *result = ht_arena_alloc(&call->arena, sizeof *result);
	if (!result || !tool) {
		mcp_refuse(
		        call, RPC_PARAMS, "there is no tool %.60s", name ? name : "without a name");
		return;
	}
	if (!read_args(call, tool, &args))
		return;
	enum ht_status status = tool->run(call, tool, &args, result);
	const struct mcp_tool *then = mcp_tool_find(tool->then);
	if (status == HT_OK && then) {
		/* first, whatever the findings name */
		struct mcp_next next = { .tool = then->name };
		size_t n = result->n_next < MCP_MAX_NEXT ? result->n_next : MCP_MAX_NEXT - 1;
		memmove(result->next + 1, result->next, n * sizeof *result->next);
		result->next[0] = next;
		result->n_next = n + 1;
	}
	if (status == HT_OK)
		status = mcp_result_write(call, tool, result);
	if (status != HT_OK)
		mcp_result_fail(call);
	for (size_t i = 0; i < result->n_parts; i++)
		ht_table_free(result->parts[i].table);
}
