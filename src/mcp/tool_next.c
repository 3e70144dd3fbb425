/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_next.c - what to ask next: verbs that findings name become tools with arguments.
 */
#include "mcp/tool.h"

#include "table/escape.h"

#include <string.h>

static bool same(const struct mcp_next *a, const struct mcp_next *b)
{
	bool is_same = !strcmp(a->tool, b->tool) && a->n_args == b->n_args &&
	               (a->verb == b->verb || (a->verb && b->verb && !strcmp(a->verb, b->verb)));
	for (size_t i = 0; is_same && i < a->n_args; i++)
		is_same = !strcmp(a->args[i].name, b->args[i].name) &&
		          !strcmp(a->args[i].value, b->args[i].value);
	return is_same;
}

void mcp_next_add(struct mcp_result *result, const struct mcp_next *next)
{
	for (size_t i = 0; i < result->n_next; i++)
		if (same(&result->next[i], next))
			return;
	if (result->n_next < MCP_MAX_NEXT)
		result->next[result->n_next++] = *next;
}

static bool has_arg(const struct ht_arg *args, size_t n, const struct ht_arg *wanted)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(args[i].name, wanted->name) && !strcmp(args[i].value, wanted->value))
			return true;
	return false;
}

/* How well a tool stands for a verb with arguments: 0 not at all, else more for each that is fixed there. */
static size_t fitness(const struct mcp_tool *tool, const char *name, const struct ht_arg *args,
        size_t n_args, struct mcp_verb *ret_verb)
{
	const char *verbs = tool->verbs;
	if (!mcp_verb_next(&verbs, ret_verb) || strcmp(ret_verb->name, name) != 0 ||
	        (tool->takes & MCP_BASE))
		return 0;
	for (size_t i = 0; i < ret_verb->n_fixed; i++)
		if (!has_arg(args, n_args, &ret_verb->fixed[i]))
			return 0;
	return 1 + ret_verb->n_fixed;
}

void mcp_next_verb(
        struct mcp_result *result, const char *name, const struct ht_arg *args, size_t n_args)
{
	const struct ht_analysis_info *info = ht_analysis_find(name);
	struct mcp_next next = { .tool = "analyze", .verb = info ? info->name : NULL };
	struct mcp_verb best = { .n_fixed = 0 }, verb;
	size_t most = 0;
	if (!info || info->n_sets != 1 || n_args > MCP_MAX_ARGS)
		return;
	for (size_t i = 0; i < mcp_n_tools(); i++) {
		size_t fit = fitness(mcp_tool_at(i), name, args, n_args, &verb);
		if (fit > most) {
			most = fit;
			best = verb;
			next.tool = mcp_tool_at(i)->name;
			next.verb = NULL;
		}
	}
	for (size_t i = 0; i < n_args; i++)
		if (!has_arg(best.fixed, best.n_fixed, &args[i]))
			next.args[next.n_args++] = args[i];
	mcp_next_add(result, &next);
}

/* The cell has them as a JSON object of texts. */
static size_t read_args(struct mcp_call *call, const char *text, struct ht_arg *args)
{
	struct ht_json reader = { text };
	size_t n = 0;
	if (!ht_json_valid(text, strlen(text)))
		return 0;
	struct ht_json_value object = ht_json_next(&reader), key, value;
	if (object.type != HT_JSON_OBJECT)
		return 0;
	reader = ht_json_enter(&object);
	while (n < MCP_MAX_ARGS && ht_json_member(&reader, &key, &value)) {
		const char *name = ht_arena_strndup(&call->arena, key.text, key.n);
		const char *one = mcp_value_text(&call->arena, &value);
		if (name && one)
			args[n++] = (struct ht_arg){ name, one };
	}
	return n;
}

static const char *text_at(const ht_table *table, size_t row, const char *column)
{
	size_t c = ht_table_find_column(table, column);
	return c == SIZE_MAX || ht_table_is_null(table, row, c) ? "" : ht_table_str(table, row, c);
}

/* The events behind the first finding, to confirm it with. */
static void add_evidence(struct mcp_call *call, struct mcp_result *result, const ht_table *table)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		const char *events = text_at(table, row, "evidence");
		if (!*events || strcmp(text_at(table, row, "state"), "found") != 0)
			continue;
		struct mcp_next next = { .tool = "events", .n_args = 1 };
		const char *copy = ht_arena_strndup(&call->arena, events, strlen(events));
		next.args[0] = (struct ht_arg){ "events", copy };
		if (copy)
			mcp_next_add(result, &next);
		return;
	}
}

void mcp_next_of_table(struct mcp_call *call, struct mcp_result *result, const ht_table *table)
{
	struct ht_arg args[MCP_MAX_ARGS];
	for (size_t i = 0; i < ht_table_n_notes(table); i++) {
		const struct ht_note *note = ht_table_note_at(table, i);
		size_t n = note->next && note->n_next_args <= MCP_MAX_ARGS ? note->n_next_args : 0;
		for (size_t k = 0; k < n; k++) {
			const struct ht_arg *arg = &note->next_args[k];
			args[k].name = ht_arena_strndup(&call->arena, arg->name, strlen(arg->name));
			args[k].value =
			        ht_arena_strndup(&call->arena, arg->value, strlen(arg->value));
			if (!args[k].name || !args[k].value)
				return;
		}
		if (note->next)
			mcp_next_verb(result, note->next, args, n);
	}
	if (ht_table_find_column(table, "next_verb") == SIZE_MAX)
		return;
	for (int found = 1; found >= 0; found--)
		for (size_t row = 0; row < ht_table_n_rows(table); row++) {
			bool is_found = !strcmp(text_at(table, row, "state"), "found");
			const char *verb = text_at(table, row, "next_verb");
			if (*verb && is_found == (found == 1))
				mcp_next_verb(result, verb, args,
				        read_args(call, text_at(table, row, "next_args"), args));
			if (row == 0 && found)
				add_evidence(call, result, table);
		}
}

static void write_args(struct ht_out *out, const struct ht_arg *args, size_t n, bool any)
{
	for (size_t i = 0; i < n; i++, any = true) {
		/* booleans are such in schemas */
		bool is_bool = !strcmp(args[i].value, "true") || !strcmp(args[i].value, "false");
		ht_out_str(out, any ? "," : "");
		ht_out_json(out, args[i].name);
		ht_out_char(out, ':');
		if (is_bool)
			ht_out_str(out, args[i].value);
		else
			ht_out_json(out, args[i].value);
	}
}

void mcp_next_write(
        struct ht_out *out, const struct mcp_result *result, const struct mcp_next *next)
{
	const struct mcp_tool *tool = mcp_tool_find(next->tool);
	bool names_run = false, any = false;
	for (size_t i = 0; i < next->n_args; i++)
		names_run |= !strcmp(next->args[i].name, "run");
	ht_out_char(out, '{');
	if (result->run && !names_run && (tool->takes & MCP_RUN)) {
		mcp_member(out, "run", result->run, true);
		any = true;
	}
	if (result->base && (tool->takes & MCP_BASE)) {
		mcp_member(out, "base", result->base, !any);
		any = true;
	}
	if (next->verb) {
		mcp_member(out, "verb", next->verb, !any);
		ht_out_str(out, ",\"options\":{");
		write_args(out, next->args, next->n_args, false);
		ht_out_char(out, '}');
	} else {
		write_args(out, next->args, next->n_args, any);
	}
	ht_out_char(out, '}');
}
