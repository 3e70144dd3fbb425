/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c - the table of tools, and what clients are told of them: names, sentences and schemas of arguments, which come
 * from the descriptors of the analyses.
 */
#include "mcp/tool.h"

#include "table/escape.h"

#include <stdio.h>
#include <string.h>

#define HELP_BYTES 57

static const struct mcp_tool tools[] = {
#define TOOL(name, title, runner, takes, limit, verbs, extra, then, text)                          \
	{ #name, title, text, verbs, extra, then, takes, limit, mcp_run_##runner },
#include "mcp/tools.def"
#undef TOOL
};

size_t mcp_n_tools(void)
{
	return HT_COUNT(tools);
}

const struct mcp_tool *mcp_tool_at(size_t i)
{
	return &tools[i];
}

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t i = 0; name && i < HT_COUNT(tools); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

/* "verb:name=value,name=value;verb" */
bool mcp_verb_next(const char **text, struct mcp_verb *ret_verb)
{
	*ret_verb = (struct mcp_verb){ .if_notes = **text == '?' };
	*text += ret_verb->if_notes;
	size_t n = strcspn(*text, ";"), n_name = strcspn(*text, ":;");
	if (!n)
		return false;
	snprintf(ret_verb->name, sizeof ret_verb->name, "%.*s", (int)n_name, *text);
	if (n > n_name)
		snprintf(ret_verb->words, sizeof ret_verb->words, "%.*s", (int)(n - n_name - 1),
		        *text + n_name + 1);
	for (char *at = ret_verb->words; *at && ret_verb->n_fixed < HT_COUNT(ret_verb->fixed);) {
		char *equals = strchr(at, '='), *comma = equals ? strchr(equals, ',') : NULL;
		if (!equals)
			break;
		*equals = '\0';
		ret_verb->fixed[ret_verb->n_fixed++] = (struct ht_arg){ at, equals + 1 };
		if (comma)
			*comma = '\0';
		at = comma ? comma + 1 : equals + 1 + strlen(equals + 1);
	}
	*text += n + ((*text)[n] == ';');
	return true;
}

bool mcp_param_is_shown(const struct ht_analysis_info *info, const struct ht_param *param)
{
	bool names_files = (info->input_param && !strcmp(info->input_param, param->name)) ||
	                   (info->files && !strcmp(info->files, param->name));
	bool counts_sides = info->sides[0] && !strncmp(param->name, "n-", 2);
	return !names_files && !counts_sides && !strstr(param->name, "hta-");
}

/* ---- schemas ---- */

/* The properties of one tool, as they are written. */
struct schema {
	struct ht_out *out;
	bool has_any;
};

static void begin_property(struct schema *schema, const char *name)
{
	ht_out_str(schema->out, schema->has_any ? "," : "");
	schema->has_any = true;
	ht_out_json(schema->out, name);
	ht_out_str(schema->out, ":{");
}

static void put_property(
        struct schema *schema, const char *name, const char *type, const char *text)
{
	begin_property(schema, name);
	mcp_member(schema->out, "type", type, true);
	mcp_member(schema->out, "description", text, false);
	ht_out_char(schema->out, '}');
}

/* "a|b" as a list of texts; separator is | or a comma. */
static void put_choices(struct ht_out *out, const char *choices, const char *separator)
{
	ht_out_str(out, ",\"enum\":[");
	while (*choices) {
		char word[128];
		size_t n = strcspn(choices, separator);
		snprintf(word, sizeof word, "%.*s", (int)n, choices);
		ht_out_json(out, word);
		choices += n + (choices[n] != '\0');
		ht_out_str(out, *choices ? "," : "");
	}
	ht_out_char(out, ']');
}

static const char *json_type(enum ht_type type)
{
	switch (type) {
	case HT_BOOL: return "boolean";
	case HT_I64:
	case HT_U64: return "integer";
	default: return "string";
	}
}

static void put_param(struct schema *schema, const struct ht_param *param)
{
	begin_property(schema, param->name);
	mcp_member(schema->out, "type", json_type(param->type), true);
	if (param->choices)
		put_choices(schema->out, param->choices, "|");
	/* the first clause: the list of tools is read by a model before each question */
	char help[HELP_BYTES];
	size_t n = strcspn(param->help, ";:");
	snprintf(help, sizeof help, "%.*s", (int)(n < HELP_BYTES ? n : HELP_BYTES), param->help);
	mcp_member(schema->out, "description", help, false);
	ht_out_char(schema->out, '}');
}

/* "name|type|text;..."; a type with commas is a list of choices, a text that begins with ! is of one that is required. */
static void put_extra(struct schema *schema, const char *extra)
{
	char name[64], type[64], text[256];
	int n;
	for (; sscanf(extra, "%63[^|]|%63[^|]|%255[^;]%n", name, type, text, &n) == 3;
	        extra += n + (extra[n] == ';')) {
		begin_property(schema, name);
		mcp_member(schema->out, "type", strchr(type, ',') ? "string" : type, true);
		if (strchr(type, ','))
			put_choices(schema->out, type, ",");
		mcp_member(schema->out, "description", text + (text[0] == '!'), false);
		ht_out_char(schema->out, '}');
	}
}

/* Parameters of the first verb; the fixed ones are the tool's. */
static void put_verb_params(struct schema *schema, const struct mcp_tool *tool)
{
	const char *verbs = tool->verbs;
	struct mcp_verb verb, other;
	if (!mcp_verb_next(&verbs, &verb))
		return;
	bool again = mcp_verb_next(&verbs, &other) && !strcmp(verb.name, other.name);
	const struct ht_analysis_info *info = ht_analysis_find(verb.name);
	for (size_t i = 0; i < info->n_params; i++) {
		bool is_fixed = false;
		for (size_t k = 0; k < verb.n_fixed && !again; k++)
			is_fixed |= !strcmp(verb.fixed[k].name, info->params[i].name);
		if (!is_fixed && mcp_param_is_shown(info, &info->params[i]))
			put_param(schema, &info->params[i]);
	}
}

/* All verbs that look at one run. */
static void put_any_verb(struct schema *schema)
{
	struct ht_out *out = schema->out;
	begin_property(schema, "verb");
	mcp_member(out, "type", "string", true);
	ht_out_str(out, ",\"enum\":[");
	for (size_t i = 0, n = 0; i < ht_n_analyses(); i++)
		if (ht_analysis_at(i)->n_sets == 1) {
			ht_out_str(out, n++ ? "," : "");
			ht_out_json(out, ht_analysis_at(i)->name);
		}
	ht_out_str(out, "]");
	mcp_member(out, "description", "the analysis", false);
	ht_out_char(out, '}');
	begin_property(schema, "options");
	ht_out_str(out, "\"type\":\"object\"");
	mcp_member(out, "description",
	        "its options by name, as on the command line: {\"by\": \"device\"}", false);
	ht_out_char(out, '}');
}

static void put_properties(struct schema *schema, const struct mcp_tool *tool)
{
	if (tool->takes & MCP_OPTIONS)
		put_any_verb(schema);
	if (tool->takes & MCP_RUN)
		put_property(schema, "run", "string", "from find_runs");
	if (tool->takes & MCP_BASE)
		put_property(schema, "base", "string", "name of the run to compare with");
	put_extra(schema, tool->extra);
	put_verb_params(schema, tool);
	if (tool->takes & MCP_SELECT) {
		put_property(schema, "rank", "string", "ranks: 0,2-3");
		put_property(schema, "step", "string", "steps: 3-5, last, all");
		put_property(
		        schema, "annotation", "string", "inside annotations that contain this");
	}
	if (tool->takes & MCP_VIEW) {
		put_property(schema, "where", "string", "filter: dur_ns > 1ms and name ~ nccl");
		put_property(schema, "sort", "string", "columns; -column descends");
	}
	if (tool->takes & MCP_ROWS) {
		put_property(schema, "limit", "integer", "rows, up to 200");
		put_property(schema, "cursor", "string", "next_cursor");
	}
}

static void put_required(struct ht_out *out, const struct mcp_tool *tool)
{
	char name[64], text[256];
	int n;
	bool any = false;
	ht_out_str(out, ",\"required\":[");
	if (tool->takes & MCP_OPTIONS) {
		ht_out_str(out, "\"verb\"");
		any = true;
	}
	for (const char *at = tool->extra;
	        sscanf(at, "%63[^|]|%*[^|]|%255[^;]%n", name, text, &n) == 2;
	        at += n + (at[n] == ';'))
		if (text[0] == '!') {
			ht_out_str(out, any ? "," : "");
			any = true;
			ht_out_json(out, name);
		}
	if (tool->takes & MCP_BASE)
		ht_out_str(out, any ? ",\"base\"" : "\"base\"");
	ht_out_char(out, ']');
}

static void write_tool(struct ht_out *out, const struct mcp_tool *tool)
{
	struct schema schema = { out, false };
	ht_out_char(out, '{');
	mcp_member(out, "name", tool->name, true);
	mcp_member(out, "title", tool->title, false);
	mcp_member(out, "description", tool->text, false);
	ht_out_str(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
	put_properties(&schema, tool);
	ht_out_char(out, '}');
	put_required(out, tool);
	ht_out_str(out, ",\"additionalProperties\":false},"
	                "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}");
}

void mcp_tools_list(struct mcp_call *call)
{
	ht_out_str(call->out, "{\"tools\":[");
	for (size_t i = 0; i < HT_COUNT(tools); i++) {
		ht_out_str(call->out, i ? "," : "");
		write_tool(call->out, &tools[i]);
	}
	ht_out_str(call->out, "]}");
}
