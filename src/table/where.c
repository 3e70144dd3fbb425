/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.c - see where.h. A recursive descent over the text itself; each rule is one function.
 */
#include "table/where.h"
#include "base/literal.h"

#include <string.h>
#include <strings.h>

struct parser {
	ht_ctx *ctx;
	struct ht_arena *arena;
	const char *text, *at;
	int depth, n_tests;
};

static const char *const op_texts[] = { "==", "!=", "<", "<=", ">", ">=", "~", "!~" };

const char *ht_where_op_text(enum ht_where_op op)
{
	return op_texts[op];
}

static enum ht_status expected(struct parser *p, const char *what)
{
	size_t at = (size_t)(p->at - p->text);
	const char *hint = "as in: dur_ns > 1ms and (name ~ nccl or not stream == 7)";
	if (!*p->at)
		return ht_fail(p->ctx, HT_USAGE, NULL, -1, hint,
		        "bad filter: expected %s at the end of \"%s\"", what, p->text);
	return ht_fail(p->ctx, HT_USAGE, NULL, -1, hint,
	        "bad filter: expected %s at character %zu, before \"%.40s\"", what, at + 1, p->at);
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\r\n");
}

static size_t word_length(const char *at)
{
	return strcspn(at, " \t\r\n()<>=!~\"'");
}

/* Moves past the keyword when it is next. */
static bool take_keyword(struct parser *p, const char *keyword)
{
	skip_blanks(p);
	size_t n = strlen(keyword);
	if (word_length(p->at) != n || strncasecmp(p->at, keyword, n) != 0)
		return false;
	p->at += n;
	return true;
}

static struct ht_where *new_node(struct parser *p, enum ht_where_kind kind)
{
	struct ht_where *node = ht_arena_alloc(p->arena, sizeof *node);
	if (node)
		node->kind = kind;
	else
		(void)ht_fail_nomem(p->ctx);
	return node;
}

/* Text between two marks; a backslash takes the mark, and in quotes itself, literally. */
static enum ht_status take_quoted(struct parser *p, const char **ret_text)
{
	char mark = *p->at;
	char *text = ht_arena_alloc(p->arena, strlen(p->at) + 1);
	if (!text)
		return ht_fail_nomem(p->ctx);
	size_t n = 0;
	const char *at = p->at + 1;
	for (; *at && *at != mark; at++) {
		if (at[0] == '\\' && (at[1] == mark || (at[1] == '\\' && mark != '/')))
			at++;
		else if (at[0] == '\\' && at[1])
			text[n++] = *at++;
		text[n++] = *at;
	}
	if (!*at) {
		p->at = at;
		return expected(p, mark == '/' ? "a closing /" : "a closing quote");
	}
	p->at = at + 1;
	*ret_text = text;
	return HT_OK;
}

static enum ht_status take_word(struct parser *p, const char *what, const char **ret_text)
{
	skip_blanks(p);
	if (*p->at == '"' || *p->at == '\'')
		return take_quoted(p, ret_text);
	size_t n = word_length(p->at);
	if (!n)
		return expected(p, what);
	char *text = ht_arena_strndup(p->arena, p->at, n);
	if (!text)
		return ht_fail_nomem(p->ctx);
	p->at += n;
	*ret_text = text;
	return HT_OK;
}

/* A number's unit may stand apart: "1 ms". */
static enum ht_status take_unit(struct parser *p, struct ht_where *node)
{
	const char *before = p->at;
	skip_blanks(p);
	size_t n = word_length(p->at);
	struct ht_literal number;
	if (ht_literal_parse(node->value, &number) && number.kind == HT_UNIT_NONE &&
	        ht_unit_find(p->at, n)) {
		node->value = ht_arena_printf(p->arena, "%s%.*s", node->value, (int)n, p->at);
		p->at += n;
		return node->value ? HT_OK : ht_fail_nomem(p->ctx);
	}
	p->at = before;
	return HT_OK;
}

static bool take_op(struct parser *p, enum ht_where_op *ret_op)
{
	static const struct {
		const char *text;
		enum ht_where_op op;
	} ops[] = { { "==", HT_EQ }, { "!=", HT_NE }, { "<=", HT_LE }, { ">=", HT_GE },
		{ "!~", HT_UNLIKE }, { "<", HT_LT }, { ">", HT_GT }, { "~", HT_LIKE },
		{ "=", HT_EQ } };
	skip_blanks(p);
	for (size_t i = 0; i < HT_COUNT(ops); i++) {
		size_t n = strlen(ops[i].text);
		if (strncmp(p->at, ops[i].text, n) != 0)
			continue;
		p->at += n;
		*ret_op = ops[i].op;
		return true;
	}
	return false;
}

static enum ht_status parse_null(struct parser *p, const char *column, struct ht_where **ret_node)
{
	bool negate = take_keyword(p, "not");
	if (!take_keyword(p, "null"))
		return expected(p, negate ? "null" : "null or not null");
	struct ht_where *node = new_node(p, HT_WHERE_NULL);
	struct ht_where *outer = node && negate ? new_node(p, HT_WHERE_NOT) : node;
	if (!node || !outer)
		return ht_fail_nomem(p->ctx);
	node->column = column;
	if (negate)
		outer->left = node;
	*ret_node = outer;
	return HT_OK;
}

static enum ht_status parse_test(struct parser *p, struct ht_where **ret_node)
{
	const char *column;
	if (++p->n_tests > HT_WHERE_MAX_TESTS)
		return ht_fail(p->ctx, HT_LIMIT, NULL, -1,
		        "use a regular expression: name ~ /a|b|c/",
		        "filter limit of %d tests reached", HT_WHERE_MAX_TESTS);
	HT_TRY(take_word(p, "a column name", &column));
	if (take_keyword(p, "is"))
		return parse_null(p, column, ret_node);
	struct ht_where *node = new_node(p, HT_WHERE_TEST);
	if (!node)
		return HT_NOMEM;
	node->column = column;
	if (!take_op(p, &node->op))
		return expected(p, "an operator (== != < <= > >= ~ !~) or is null");
	skip_blanks(p);
	bool quoted = *p->at == '"' || *p->at == '\'';
	node->is_regex = *p->at == '/' && (node->op == HT_LIKE || node->op == HT_UNLIKE);
	if (node->is_regex)
		HT_TRY(take_quoted(p, &node->value));
	else
		HT_TRY(take_word(p, "a value", &node->value));
	if (!quoted && !node->is_regex)
		HT_TRY(take_unit(p, node));
	*ret_node = node;
	return HT_OK;
}

static enum ht_status parse_or(struct parser *p, struct ht_where **ret_node);

static enum ht_status parse_factor(struct parser *p, struct ht_where **ret_node)
{
	if (p->depth >= HT_WHERE_MAX_DEPTH)
		return ht_fail(p->ctx, HT_LIMIT, NULL, -1, NULL,
		        "filter limit of %d levels reached", HT_WHERE_MAX_DEPTH);
	skip_blanks(p);
	enum ht_status status;
	p->depth++;
	if (*p->at == '(') {
		p->at++;
		status = parse_or(p, ret_node);
		skip_blanks(p);
		if (status == HT_OK && *p->at != ')')
			status = expected(p, "and, or, or )");
		else if (status == HT_OK)
			p->at++;
	} else if (take_keyword(p, "not")) {
		struct ht_where *inner, *node = new_node(p, HT_WHERE_NOT);
		status = node ? parse_factor(p, &inner) : HT_NOMEM;
		if (status == HT_OK) {
			node->left = inner;
			*ret_node = node;
		}
	} else {
		status = parse_test(p, ret_node);
	}
	p->depth--;
	return status;
}

/* Operands of one keyword, joined from the left. */
static enum ht_status parse_chain(struct parser *p, const char *keyword, enum ht_where_kind kind,
        enum ht_status (*operand)(struct parser *, struct ht_where **), struct ht_where **ret_node)
{
	struct ht_where *left;
	HT_TRY(operand(p, &left));
	while (take_keyword(p, keyword)) {
		struct ht_where *node = new_node(p, kind);
		if (!node)
			return HT_NOMEM;
		node->left = left;
		HT_TRY(operand(p, &node->right));
		left = node;
	}
	*ret_node = left;
	return HT_OK;
}

static enum ht_status parse_and(struct parser *p, struct ht_where **ret_node)
{
	return parse_chain(p, "and", HT_WHERE_AND, parse_factor, ret_node);
}

static enum ht_status parse_or(struct parser *p, struct ht_where **ret_node)
{
	return parse_chain(p, "or", HT_WHERE_OR, parse_and, ret_node);
}

enum ht_status ht_where_parse(
        ht_ctx *ctx, const char *text, struct ht_arena *arena, struct ht_where **ret_tree)
{
	struct parser p = { .ctx = ctx, .arena = arena, .text = text, .at = text };
	struct ht_where *tree;
	if (strlen(text) > HT_WHERE_MAX_BYTES)
		return ht_fail(ctx, HT_LIMIT, NULL, -1, NULL, "filter limit of %d bytes reached",
		        HT_WHERE_MAX_BYTES);
	HT_TRY(parse_or(&p, &tree));
	skip_blanks(&p);
	if (*p.at)
		return expected(&p, "and or or");
	*ret_tree = tree;
	return HT_OK;
}
