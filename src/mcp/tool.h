/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h - tools: a line each in tools.def. A tool makes tables; how they are shown to a model is done once (tool_answer.c).
 */
#ifndef HT_MCP_TOOL_H
#define HT_MCP_TOOL_H

#include "mcp/mcp_message.h"

#define MCP_MAX_TABLES 4

struct mcp_tool;

/* What a tool was called with. */
struct mcp_args {
	struct ht_arg list[MCP_MAX_ARGS]; /* as they came, less those below */
	size_t n;
	const char *run, *base, *verb, *where, *sort, *columns;
	uint64_t limit, offset;
};

/* A question that follows: a tool and what to call it with. */
struct mcp_next {
	const char *tool, *verb; /* verb: of analyze only */
	struct ht_arg args[MCP_MAX_ARGS];
	size_t n_args;
};

/* What a tool found. */
struct mcp_result {
	const char *run;  /* NULL: of none */
	const char *base; /* of a comparison */
	const char *lead; /* a line before all else, NULL: none */
	struct mcp_part {
		const char *verb;
		ht_table *table; /* owned */
		uint64_t offset;
		bool has_pages; /* the cursor is about it */
	} parts[MCP_MAX_TABLES];
	size_t n_parts;
	struct mcp_next next[MCP_MAX_NEXT];
	size_t n_next;
	const char *picture, *picture_type; /* base64 and MIME type; NULL: none */
	const char *drawing;                /* text of an SVG; NULL: none */
};

typedef enum ht_status (*mcp_tool_fn)(struct mcp_call *call, const struct mcp_tool *tool,
        const struct mcp_args *args, struct mcp_result *result);

/* What an argument is, for the schema. */
enum {
	MCP_RUN = 1,     /* the run, optional where there is one only */
	MCP_BASE = 2,    /* and what to compare it with */
	MCP_SELECT = 4,  /* rank, step, annotation */
	MCP_ROWS = 8,    /* limit, cursor */
	MCP_VIEW = 16,   /* where, sort */
	MCP_OPTIONS = 32 /* any verb with its options */
};

struct mcp_tool {
	const char *name, *title, *text;
	/* "steps;?critical-path:view=what-if": what it runs, with arguments that are fixed; what has a question mark is shown
	 * only when it has something to tell; "": code */
	const char *verbs;
	const char *extra; /* "name|type|!required text;...": further arguments; "": none */
	const char *then;  /* tool that is to be asked next in any case; "": none */
	unsigned takes, limit;
	mcp_tool_fn run;
};

size_t mcp_n_tools(void);
const struct mcp_tool *mcp_tool_at(size_t i);
const struct mcp_tool *mcp_tool_find(const char *name);

/* One verb of a tool, taken apart. */
struct mcp_verb {
	char name[64];
	bool if_notes; /* shown only when it has notes */
	struct ht_arg fixed[4];
	size_t n_fixed;
	char words[128]; /* what fixed points into */
};
/* The verb at the text; false at the end. Moves on to the next one. */
bool mcp_verb_next(const char **text, struct mcp_verb *ret_verb);

/* A parameter that agents give: no file, nothing of HTA's. */
bool mcp_param_is_shown(const struct ht_analysis_info *info, const struct ht_param *param);

#define MCP_RUNNER(name)                                                                           \
	enum ht_status name(struct mcp_call *call, const struct mcp_tool *tool,                    \
	        const struct mcp_args *args, struct mcp_result *result)
MCP_RUNNER(mcp_run_verbs);
MCP_RUNNER(mcp_run_find);
MCP_RUNNER(mcp_run_events);
MCP_RUNNER(mcp_run_sql);
MCP_RUNNER(mcp_run_timeline);

/* What to ask next. */
void mcp_next_add(struct mcp_result *result, const struct mcp_next *next);
/* By verb and its arguments: the tool that runs it, or analyze. */
void mcp_next_verb(
        struct mcp_result *result, const char *verb, const struct ht_arg *args, size_t n_args);
/* What findings of a table name, and the events behind the first. */
void mcp_next_of_table(struct mcp_call *call, struct mcp_result *result, const ht_table *table);
void mcp_next_write(
        struct ht_out *out, const struct mcp_result *result, const struct mcp_next *next);

/* Write the result of tools/call, within the bytes that an answer has. */
enum ht_status mcp_result_write(
        struct mcp_call *call, const struct mcp_tool *tool, struct mcp_result *result) HT_MUST_USE;
/* The same for what went wrong: the error of the context. */
void mcp_result_fail(struct mcp_call *call);

#endif
