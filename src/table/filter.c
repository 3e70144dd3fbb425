/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - see filter.h.
 *
 * First every test is bound to its column: a number becomes a range of the column's type, a text a
 * memo with one verdict per pooled string, so that a regular expression runs once per distinct name.
 * Then the tree is evaluated BLOCK_ROWS rows at a time, a byte per row: 0 no, 1 yes, 2 unknown.
 */
#include "table/filter.h"
#include "base/literal.h"
#include "base/pattern.h"
#include "table/resolve.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define BLOCK_ROWS 8192

enum { NO = 0, YES = 1, UNKNOWN = 2 };

struct ht_test {
	const struct ht_cells *cells;
	struct { /* rows from lo to hi, or outside when negate */
		union {
			int64_t i64;
			uint64_t u64;
			double f64;
		} lo, hi;
	} range;
	bool negate, never; /* never: nothing lies in the range */
	uint8_t *memo;      /* per string id: 0 not asked yet, else 1 + verdict */
	regex_t regex;
	struct ht_test *next; /* of those with a regex, to free */
};

struct filter {
	ht_ctx *ctx;
	const ht_table *table;
	struct ht_arena *arena;
	struct ht_test *regexes;
};

static enum ht_status bad_value(struct filter *f, const struct ht_where *node, const char *what)
{
	return ht_fail(f->ctx, HT_USAGE, NULL, -1, NULL, "bad filter: %s %s %s: %s", node->column,
	        ht_where_op_text(node->op), node->value, what);
}

/* Integers from lo to hi that are also of the column's type. */
static void set_integer_range(struct ht_test *test, ht_i128 lo, ht_i128 hi)
{
	bool is_unsigned = test->cells->meta.type == HT_U64;
	ht_i128 min = is_unsigned ? 0 : INT64_MIN,
	        max = is_unsigned ? (ht_i128)UINT64_MAX : INT64_MAX;
	lo = lo < min ? min : lo;
	hi = hi > max ? max : hi;
	test->never = lo > hi;
	if (test->never)
		return;
	test->range.lo.u64 = (uint64_t)lo;
	test->range.hi.u64 = (uint64_t)hi;
}

static void bind_integer(struct ht_test *test, enum ht_where_op op, const struct ht_literal *value)
{
	const ht_i128 far = (ht_i128)1 << 100;
	ht_i128 floor_ = ht_literal_floor(value), ceil_ = ht_literal_ceil(value);
	switch (op) {
	case HT_LT: set_integer_range(test, -far, ceil_ - 1); break;
	case HT_LE: set_integer_range(test, -far, floor_); break;
	case HT_GT: set_integer_range(test, floor_ + 1, far); break;
	case HT_GE: set_integer_range(test, ceil_, far); break;
	default:
		/* A fraction equals no integer: ceil is above floor, the range is empty. */
		set_integer_range(test, ceil_, floor_);
		test->negate = op == HT_NE;
	}
}

static void bind_double(struct ht_test *test, enum ht_where_op op, double value)
{
	double lo = -DBL_MAX, hi = DBL_MAX;
	if (op == HT_LT)
		hi = nextafter(value, -INFINITY);
	else if (op == HT_GT)
		lo = nextafter(value, INFINITY);
	if (op == HT_LE || op == HT_EQ || op == HT_NE)
		hi = value;
	if (op == HT_GE || op == HT_EQ || op == HT_NE)
		lo = value;
	test->range.lo.f64 = lo;
	test->range.hi.f64 = hi;
	test->negate = op == HT_NE;
}

static enum ht_status bind_number(struct filter *f, struct ht_where *node, struct ht_test *test)
{
	const struct ht_column *column = &test->cells->meta;
	struct ht_literal value;
	bool is_true = !strcasecmp(node->value, "true") || !strcasecmp(node->value, "yes");
	bool is_false = !strcasecmp(node->value, "false") || !strcasecmp(node->value, "no");
	if (node->op == HT_LIKE || node->op == HT_UNLIKE)
		return bad_value(f, node, "~ searches text, and this column has numbers");
	if (column->type == HT_BOOL && (is_true || is_false))
		value = (struct ht_literal){ .num = is_true, .den = 1 };
	else if (!ht_literal_parse(node->value, &value))
		return bad_value(f, node, "not a number such as 200, 1.5ms, 64KiB or 12%");
	if (value.kind != HT_UNIT_NONE) {
		const char *text = ht_column_unit(column);
		const struct ht_unit *unit = text ? ht_unit_find(text, strlen(text)) : NULL;
		if (!unit || unit->kind != value.kind ||
		        __builtin_mul_overflow(value.num, (ht_i128)unit->den, &value.num) ||
		        __builtin_mul_overflow(value.den, (ht_i128)unit->num, &value.den))
			return bad_value(f, node, "the unit does not fit the column");
	}
	if (ht_type_is_f64(column->type))
		bind_double(test, node->op, ht_literal_f64(&value));
	else
		bind_integer(test, node->op, &value);
	return HT_OK;
}

static enum ht_status bind_regex(struct filter *f, struct ht_where *node, struct ht_test *test)
{
	char why[HT_PATTERN_WHY];
	enum ht_status status = ht_pattern_compile(node->value, &test->regex, why);
	if (status == HT_LIMIT)
		return ht_fail(f->ctx, HT_LIMIT, NULL, -1, "use a shorter pattern",
		        "regular expression %s", why);
	if (status != HT_OK)
		return bad_value(f, node, why);
	test->next = f->regexes;
	f->regexes = test;
	return HT_OK;
}

static enum ht_status bind(struct filter *f, struct ht_where *node)
{
	if (node->left)
		HT_TRY(bind(f, node->left));
	if (node->right)
		HT_TRY(bind(f, node->right));
	if (!node->column)
		return HT_OK;
	size_t column;
	HT_TRY(ht_table_resolve(f->ctx, f->table, node->column, &column));
	struct ht_test *test = node->test = ht_arena_alloc(f->arena, sizeof *test);
	if (!test)
		return ht_fail_nomem(f->ctx);
	test->cells = ht_cells_at(f->table, column);
	if (node->kind == HT_WHERE_NULL)
		return HT_OK;
	if (test->cells->meta.type != HT_STR)
		return bind_number(f, node, test);
	test->memo = ht_arena_alloc(f->arena, f->table->pool.texts.n);
	if (!test->memo)
		return ht_fail_nomem(f->ctx);
	return node->is_regex ? bind_regex(f, node, test) : HT_OK;
}

static bool text_matches(const struct ht_where *node, const char *text)
{
	if (node->is_regex)
		return (regexec(&node->test->regex, text, 0, NULL, 0) == 0) ==
		       (node->op == HT_LIKE);
	int order = strcmp(text, node->value);
	switch (node->op) {
	case HT_EQ: return order == 0;
	case HT_NE: return order != 0;
	case HT_LT: return order < 0;
	case HT_LE: return order <= 0;
	case HT_GT: return order > 0;
	case HT_GE: return order >= 0;
	case HT_LIKE: return strstr(text, node->value) != NULL;
	default: return strstr(text, node->value) == NULL;
	}
}

static void test_text(const struct filter *f, const struct ht_where *node, size_t row, size_t n,
        uint8_t *ret_verdicts)
{
	const uint32_t *ids = node->test->cells->str + row;
	uint8_t *memo = node->test->memo;
	for (size_t i = 0; i < n; i++) {
		if (!memo[ids[i]])
			memo[ids[i]] =
			        1 + text_matches(node, ht_table_pool_at(f->table, ids[i])->text);
		ret_verdicts[i] = memo[ids[i]] - 1;
	}
}

static void test_numbers(const struct ht_test *test, size_t row, size_t n, uint8_t *ret_verdicts)
{
	const struct ht_cells *cells = test->cells;
	uint8_t flip = test->negate;
	if (test->never) {
		memset(ret_verdicts, flip, n);
	} else if (ht_type_is_f64(cells->meta.type)) {
		double lo = test->range.lo.f64, hi = test->range.hi.f64;
		for (size_t i = 0; i < n; i++) {
			double value = cells->f64[row + i];
			ret_verdicts[i] = (uint8_t)(value >= lo && value <= hi) ^ flip;
		}
	} else if (cells->meta.type == HT_U64) {
		uint64_t lo = test->range.lo.u64, hi = test->range.hi.u64;
		for (size_t i = 0; i < n; i++) {
			uint64_t value = cells->u64[row + i];
			ret_verdicts[i] = (uint8_t)(value >= lo && value <= hi) ^ flip;
		}
	} else {
		int64_t lo = test->range.lo.i64, hi = test->range.hi.i64;
		for (size_t i = 0; i < n; i++) {
			int64_t value = cells->i64[row + i];
			ret_verdicts[i] = (uint8_t)(value >= lo && value <= hi) ^ flip;
		}
	}
}

/* Verdicts of n rows from row on. spare has a block of bytes for each level of the tree's right sides. */
static void evaluate(const struct filter *f, const struct ht_where *node, size_t row, size_t n,
        uint8_t *ret_verdicts, uint8_t *spare)
{
	if (node->left)
		evaluate(f, node->left, row, n, ret_verdicts, spare);
	if (node->right)
		evaluate(f, node->right, row, n, spare, spare + BLOCK_ROWS);
	const struct ht_test *test = node->test;
	switch (node->kind) {
	case HT_WHERE_AND:
		for (size_t i = 0; i < n; i++) {
			uint8_t a = ret_verdicts[i], b = spare[i];
			ret_verdicts[i] = a == NO || b == NO ? NO : a | b;
		}
		break;
	case HT_WHERE_OR:
		for (size_t i = 0; i < n; i++) {
			uint8_t a = ret_verdicts[i], b = spare[i];
			ret_verdicts[i] = a == YES || b == YES ? YES : a | b;
		}
		break;
	case HT_WHERE_NOT:
		for (size_t i = 0; i < n; i++)
			ret_verdicts[i] = ret_verdicts[i] == UNKNOWN ? UNKNOWN : !ret_verdicts[i];
		break;
	case HT_WHERE_NULL:
		for (size_t i = 0; i < n; i++)
			ret_verdicts[i] = ht_cell_is_null(test->cells, row + i);
		break;
	case HT_WHERE_TEST:
		if (test->memo)
			test_text(f, node, row, n, ret_verdicts);
		else
			test_numbers(test, row, n, ret_verdicts);
		for (size_t i = 0; test->cells->valid && i < n; i++)
			if (!test->cells->valid[row + i])
				ret_verdicts[i] = UNKNOWN;
		break;
	}
}

/* Blocks that evaluate needs beyond its own: the deepest nesting of right sides. */
static size_t right_depth(const struct ht_where *node)
{
	size_t left = node->left ? right_depth(node->left) : 0;
	size_t right = node->right ? 1 + right_depth(node->right) : 0;
	return left > right ? left : right;
}

enum ht_status ht_filter_rows(ht_ctx *ctx, const ht_table *table, struct ht_where *tree,
        struct ht_arena *arena, uint32_t *rows, size_t *ret_n)
{
	struct filter f = { .ctx = ctx, .table = table, .arena = arena };
	enum ht_status status = bind(&f, tree);
	uint8_t *verdicts = ht_arena_alloc(arena, (1 + right_depth(tree)) * BLOCK_ROWS);
	if (status == HT_OK && !verdicts)
		status = ht_fail_nomem(ctx);
	size_t n_kept = 0;
	for (size_t row = 0; status == HT_OK && row < table->n_rows; row += BLOCK_ROWS) {
		size_t n = table->n_rows - row < BLOCK_ROWS ? table->n_rows - row : BLOCK_ROWS;
		evaluate(&f, tree, row, n, verdicts, verdicts + BLOCK_ROWS);
		for (size_t i = 0; i < n; i++) {
			rows[n_kept] = (uint32_t)(row + i);
			n_kept += verdicts[i] == YES;
		}
	}
	for (struct ht_test *test = f.regexes; test; test = test->next)
		regfree(&test->regex);
	if (status == HT_OK)
		*ret_n = n_kept;
	return status;
}
