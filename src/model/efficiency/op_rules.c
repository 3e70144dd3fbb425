/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_rules.c - see op_rules.h.
 */
#include "model/efficiency/op_rules.h"

#include "base/glob.h"
#include "base/number.h"

#include <string.h>

/* Brackets nest no deeper. */
#define MAX_DEPTH 32

/* ---- expressions ---- */

struct parser {
	const char *p;
	const struct ht_op_args *args; /* NULL: only whether the text is one */
	int depth;
	bool is_bad;     /* no expression */
	bool is_missing; /* an argument does not have it, or the number does not fit */
};

static __int128 sum(struct parser *s);

static void skip_blanks(struct parser *s)
{
	while (*s->p == ' ' || *s->p == '\t')
		s->p++;
}

static bool take(struct parser *s, char c)
{
	skip_blanks(s);
	if (*s->p != c)
		return false;
	s->p++;
	return true;
}

static int64_t digits(struct parser *s)
{
	int64_t value = 0;
	s->is_bad |= !ht_is_digit(*s->p);
	for (; ht_is_digit(*s->p); s->p++) {
		s->is_bad |= value > INT64_MAX / 16;
		value = s->is_bad ? 0 : value * 10 + (*s->p - '0');
	}
	return value;
}

static __int128 size_of(struct parser *s, const struct ht_op_tensor *tensor)
{
	bool from_end;
	s->is_bad |= !take(s, '[');
	from_end = take(s, '-');
	skip_blanks(s);
	int64_t k = digits(s);
	s->is_bad |= !take(s, ']');
	if (!tensor)
		return 0;
	k = from_end ? tensor->n_dims - k : k;
	s->is_missing |= k < 0 || k >= tensor->n_dims;
	return s->is_missing || s->is_bad ? 0 : tensor->dims[k];
}

/* d<i>[k], n<i>, e<i>, c<i> */
static __int128 argument(struct parser *s)
{
	char what = *s->p++;
	int64_t i = digits(s);
	bool there = s->args && i < HT_OP_MAX_ARGS;
	const struct ht_op_tensor *tensor = there ? ht_op_tensor(s->args, (int)i, -1) : NULL;
	s->is_missing |= s->args && what != 'c' && !tensor;
	uint64_t each = tensor ? ht_element_bytes(tensor->dtype) : 0;
	int64_t scalar = there ? ht_op_int(s->args, (int)i, INT64_MIN) : INT64_MIN;
	switch (what) {
	case 'd': return size_of(s, tensor);
	case 'n': return tensor ? (__int128)tensor->n_elements : 0;
	case 'e': s->is_missing |= s->args && !each; return (__int128)each;
	default: s->is_missing |= s->args && scalar == INT64_MIN; return s->is_missing ? 0 : scalar;
	}
}

/* Numbers stay within 63 bits, so that products of two fit. */
static __int128 fitting(struct parser *s, __int128 value)
{
	s->is_missing |= value > INT64_MAX || value < -(__int128)INT64_MAX;
	return s->is_missing ? 0 : value;
}

static __int128 factor(struct parser *s)
{
	__int128 value = 0;
	skip_blanks(s);
	if (ht_is_digit(*s->p))
		return fitting(s, digits(s));
	if (*s->p && strchr("dnec", *s->p))
		return fitting(s, argument(s));
	s->is_bad |= !take(s, '(') || ++s->depth > MAX_DEPTH;
	if (s->is_bad)
		return 0;
	value = sum(s);
	s->depth--;
	s->is_bad |= !take(s, ')');
	return value;
}

static __int128 product(struct parser *s)
{
	__int128 value = factor(s);
	while (!s->is_bad) {
		if (take(s, '*')) {
			value = fitting(s, value * factor(s));
		} else if (take(s, '/')) {
			__int128 by = factor(s);
			s->is_missing |= s->args && by == 0;
			value = by ? value / by : 0;
		} else {
			break;
		}
	}
	return value;
}

static __int128 sum(struct parser *s)
{
	__int128 value = product(s);
	while (!s->is_bad) {
		if (take(s, '+'))
			value = fitting(s, value + product(s));
		else if (take(s, '-'))
			value = fitting(s, value - product(s));
		else
			break;
	}
	return value;
}

/* ---- lines ---- */

/* Expressions end where the next key begins, or the line does. */
static const char *expression_end(const char *p)
{
	static const char *const keys[] = { "flops", "vector", "bytes" };
	for (; *p; p++)
		for (size_t k = 0; k < HT_COUNT(keys); k++) {
			size_t n = strlen(keys[k]);
			if (!strncmp(p, keys[k], n) && p[n + strspn(p + n, " \t")] == '=')
				return p;
		}
	return p;
}

static const char **field_of(struct ht_op_rule *rule, const char *key, size_t n)
{
	if (n == 5 && !memcmp(key, "flops", n))
		return &rule->flops;
	if (n == 6 && !memcmp(key, "vector", n))
		return &rule->vector;
	return n == 5 && !memcmp(key, "bytes", n) ? &rule->bytes : NULL;
}

static bool is_expression(const char *text)
{
	struct parser s = { .p = text };
	sum(&s);
	skip_blanks(&s);
	return !s.is_bad && !*s.p;
}

/* The line is writable and ends in NUL: names and expressions are cut out of it. */
static bool read_line(char *line, struct ht_op_rule *rule)
{
	char *p = line + strcspn(line, " \t");
	rule->name = line;
	if (!*p)
		return false;
	*p++ = '\0';
	while (*(p += strspn(p, " \t"))) {
		size_t n_key = strcspn(p, " \t=");
		const char **field = field_of(rule, p, n_key);
		p += n_key;
		p += strspn(p, " \t");
		if (!field || *field || *p++ != '=')
			return false;
		char *end = (char *)expression_end(p), *last = end;
		*field = p;
		while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
			last--;
		char next = *end;
		*last = '\0';
		if (!is_expression(*field))
			return false;
		if (!next)
			break;
		/* a blank stands before the next key: it was cut at, and the key itself is whole */
		if (last == end)
			return false;
		p = end;
	}
	return rule->flops || rule->vector || rule->bytes;
}

enum ht_status ht_op_rules_read(ht_ctx *ctx, const char *file, const char *text,
        struct ht_arena *arena, struct ht_op_rules *ret)
{
	size_t n_lines = 1, number = 0;
	for (const char *p = text; *p; p++)
		n_lines += *p == '\n' || *p == '\r';
	ret->n = 0;
	ret->list = ht_arena_alloc(arena, n_lines * sizeof *ret->list);
	if (!ret->list)
		return ht_fail_nomem(ctx);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\r\n"), blank = strspn(p, " \t");
		number++;
		if (blank < n && p[blank] != '#') {
			char *line = ht_arena_printf(arena, "%.*s", (int)(n - blank), p + blank);
			if (!line)
				return ht_fail_nomem(ctx);
			if (!read_line(line, &ret->list[ret->n++]))
				return ht_fail(ctx, HT_FORMAT, file, p - text,
				        "a line is: NAME flops = EXPRESSION bytes = EXPRESSION",
				        "line %zu is no rule of efficiency", number);
		}
		p += n;
		p += *p == '\r' && p[1] == '\n' ? 2 : *p != '\0';
	}
	return HT_OK;
}

const struct ht_op_rule *ht_op_rules_find(const struct ht_op_rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->n; i++)
		if (ht_glob_matches(rules->list[i].name, name))
			return &rules->list[i];
	return NULL;
}

static uint64_t value_of(const char *text, const struct ht_op_args *args, bool *missing)
{
	struct parser s = { .p = text, .args = args };
	__int128 value = text ? sum(&s) : 0;
	*missing |= s.is_missing || value < 0;
	return *missing ? 0 : (uint64_t)value;
}

struct ht_op_cost ht_op_rule_cost(const struct ht_op_rule *rule, const struct ht_op_args *args)
{
	bool missing = false;
	struct ht_op_cost cost = { .state = HT_COST_KNOWN, .has_bytes = rule->bytes != NULL };
	cost.flops = cost.flops_max = value_of(rule->flops, args, &missing);
	cost.vector_flops = value_of(rule->vector, args, &missing);
	cost.bytes = cost.bytes_max = value_of(rule->bytes, args, &missing);
	cost.is_matrix = rule->flops != NULL;
	for (size_t i = 0; i < args->n && !cost.dtype; i++)
		cost.dtype = args->list[i].dtype;
	if (missing)
		return (struct ht_op_cost){ .state = args->has_dims ? HT_COST_MISMATCH
			                                            : HT_COST_NO_SHAPES };
	return cost;
}
