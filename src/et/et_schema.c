/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_schema.c - see et_schema.h.
 */
#include "et/et_schema.h"

#include <string.h>

struct ht_et_piece ht_et_schema_name(const char *schema)
{
	return (struct ht_et_piece){ schema, strcspn(schema, ".(") };
}

struct ht_et_schema ht_et_schema_enter(const char *schema)
{
	const char *open = strchr(schema, '(');
	return (struct ht_et_schema){ open ? open + 1 : NULL };
}

/* The end of an argument: the comma or parenthesis at its own level, outside of quotes. */
static const char *arg_end(const char *p)
{
	size_t depth = 0;
	for (; *p; p++) {
		if (*p == '"' || *p == '\'') {
			const char *end = strchr(p + 1, *p);
			if (end)
				p = end;
		} else if (*p == '(' || *p == '[') {
			depth++;
		} else if (*p == ')' || *p == ']') {
			if (!depth)
				return p;
			depth--;
		} else if (*p == ',' && !depth) {
			return p;
		}
	}
	return p;
}

static struct ht_et_schema_arg split_arg(const char *p, const char *end)
{
	const char *equals = memchr(p, '=', (size_t)(end - p));
	const char *name_end = equals ? equals : end;
	while (name_end > p && name_end[-1] == ' ')
		name_end--;
	const char *name = name_end;
	while (name > p && name[-1] != ' ')
		name--;
	const char *type_end = name > p ? name - 1 : p;
	return (struct ht_et_schema_arg){ { p, (size_t)(type_end - p) },
		{ name, (size_t)(name_end - name) },
		{ equals ? equals + 1 : NULL, equals ? (size_t)(end - equals - 1) : 0 } };
}

bool ht_et_schema_next(struct ht_et_schema *schema, struct ht_et_schema_arg *ret_arg)
{
	while (schema->p) {
		const char *p = schema->p + strspn(schema->p, " ");
		const char *end = arg_end(p);
		schema->p = *end == ',' ? end + 1 : NULL;
		if (end == p || (end == p + 1 && *p == '*'))
			continue;
		*ret_arg = split_arg(p, end);
		return true;
	}
	return false;
}
