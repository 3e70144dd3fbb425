/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_attrs.c - the attributes of a node of an execution trace.
 *
 * Ten have fields of their own; the others are kept as they are. Each is first compared with what stood at its place
 * in the node before (et_habit.h), for a writer spells names and types alike.
 */
#include "et/et_parse.h"

enum attr_kind { U64, I64, STRING };
#define FIRST_STRING 6 /* of the base attributes */
static const struct {
	const char *name, *type;
	enum attr_kind kind;
	size_t offset;
} base_attrs[HT_ET_N_BASE_ATTRS] = {
#define ATTR(name, type, kind)                                                                     \
	{                                                                                          \
#name, type, kind, offsetof(struct ht_et_node, name)                               \
	}
	ATTR(rf_id, "uint64", U64),
	ATTR(fw_parent, "uint64", U64),
	ATTR(seq_id, "int64", I64),
	ATTR(scope, "uint64", U64),
	ATTR(tid, "uint64", U64),
	ATTR(fw_tid, "uint64", U64),
	ATTR(op_schema, "string", STRING),
	ATTR(kernel_backend, "string", STRING),
	ATTR(kernel_file, "string", STRING),
	ATTR(tensor_range, "string", STRING),
#undef ATTR
};

bool ht_et_set_base(
        struct ht_et_parsing *s, size_t i, const struct ht_et_value *value, bool *ret_fits)
{
	void *field = (char *)&s->node + base_attrs[i].offset;
	*ret_fits = false;
	if (base_attrs[i].kind == STRING) {
		if (!ht_et_is_string(value))
			return true;
		uint32_t *id = field;
		if (!ht_et_keep_string(s, value, id))
			return false;
		/* controls are counted wherever they are */
		if (s->custom && !value->traits && ht_et_str_len(s->r->et, *id) == value->n - 2)
			s->custom->strings[i - FIRST_STRING] = *id;
	} else if (base_attrs[i].kind == I64 ? !ht_et_parse_i64(value->text, value->n, field)
	                                     : !ht_et_parse_u64(value->text, value->n, field)) {
		return true;
	}
	*ret_fits = true;
	s->node.flags |= 1u << i;
	return true;
}

bool ht_et_add_extra(struct ht_et_parsing *s, const struct ht_et_value *name,
        const struct ht_et_value *type, const struct ht_et_value *value)
{
	struct ht_et *et = s->r->et;
	struct ht_et_attr attr = { .type = HT_ET_NO_STR };
	if (!ht_et_keep(
	            s, ht_et_intern_string(s->r, name->text, name->n, name->traits, &attr.name)))
		return false;
	if (type && !ht_et_keep(s, ht_et_intern_string(
	                                   s->r, type->text, type->n, type->traits, &attr.type)))
		return false;
	if (!ht_et_keep(
	            s, ht_et_intern_json(s->r, value->text, value->n, value->traits, &attr.value)))
		return false;
	s->node.n_attrs++;
	return ht_et_keep(s, HT_VEC_PUSH(et->mem, &et->attrs, struct ht_et_attr, attr));
}

size_t ht_et_base_attr(const struct ht_et_value *name)
{
	size_t i = 0;
	while (i < HT_ET_N_BASE_ATTRS && !ht_et_is(name, base_attrs[i].name))
		i++;
	return i;
}

/* A string that runs into text which does not follow strings: its quotes were not escaped. It ends at the next
 * quote before a closing brace. */
static bool unescaped_value(
        struct ht_et_parsing *s, const char *start, struct ht_et_value *ret_value)
{
	const char *p = start + 1;
	for (;; p++) {
		p = memchr(p, '"', (size_t)(s->r->end - p));
		if (!p || (size_t)(p - start) > HT_ET_MAX_NAME_BYTES) {
			ht_et_give_up(s->r, p ? p : s->r->end);
			return ht_et_fail(s, p ? HT_ET_BAD : HT_ET_SHORT);
		}
		const char *after = ht_skip_space(p + 1);
		if (after[0] == '}' && (after[1] == ',' || after[1] == ']'))
			break;
	}
	ht_et_count(s->r, HT_ET_STAT_name_unescaped, 1, start);
	*ret_value = (struct ht_et_value){ start, (size_t)(p + 1 - start),
		ht_et_raw_traits(start + 1, (size_t)(p - start) - 1) };
	s->p = p + 1;
	return true;
}

/* The members of an attribute in any order. */
static bool attr_members(struct ht_et_parsing *s, struct ht_et_value found[3])
{
	static const char *const keys[3] = { "name", "type", "value" };
	do {
		struct ht_et_value key, value;
		s->p = ht_skip_space(s->p);
		if (*s->p == '}')
			break;
		if (!ht_et_any_key(s, &key))
			return false;
		const char *start = s->p = ht_skip_space(s->p);
		if (!ht_et_any_value(s, &value))
			return false;
		s->p = ht_skip_space(s->p);
		if (*start == '"' && *s->p != ',' && *s->p != '}' &&
		        !unescaped_value(s, start, &value))
			return false;
		s->p = ht_skip_space(s->p);
		for (size_t k = 0; k < 3; k++)
			if (ht_et_is(&key, keys[k]))
				found[k] = value;
	} while (*s->p == ',' && s->p++);
	return ht_et_expect(s, '}');
}

/* Remember the text before an attribute's value, which ended the attribute; i is that of its base attribute. */
static void learn_attr(struct ht_et_parsing *s, size_t place, const char *start,
        const struct ht_et_value found[3], size_t i)
{
	const struct ht_et_value *value = &found[2];
	const struct ht_et *et = s->r->et;
	const char *after = ht_skip_space(value->text + value->n);
	if (found[0].traits || found[1].traits || value->text < found[0].text ||
	        value->text < found[1].text || *after != '}' || after + 1 != s->p)
		return;
	struct ht_et_place *known = ht_et_habit_learn(s->r->habit, HT_ET_LEVEL_ATTRS, place, start,
	        value->text, found[0].text, found[0].n, (uint8_t)i);
	if (known && i == HT_ET_N_BASE_ATTRS) {
		const struct ht_et_attr *last =
		        (const struct ht_et_attr *)et->attrs.data + et->attrs.n - 1;
		known->name = last->name;
		known->type = last->type;
	}
}

static bool any_attr(struct ht_et_parsing *s, size_t place)
{
	struct ht_et_value found[3] = { { NULL, 0, 0 } }, name, type;
	const char *start = s->p;
	uint64_t n_odd = s->r->et->stats[HT_ET_STAT_name_unescaped].count;
	if (!ht_et_expect(s, '{') || !attr_members(s, found))
		return false;
	if (!found[0].text || !found[1].text || !found[2].text || !ht_et_is_string(&found[0]) ||
	        !ht_et_is_string(&found[1])) {
		s->node.flags |= HT_ET_BAD_ATTR;
		return true;
	}
	bool is_odd = n_odd != s->r->et->stats[HT_ET_STAT_name_unescaped].count;
	name = (struct ht_et_value){ found[0].text + 1, found[0].n - 2, found[0].traits };
	type = (struct ht_et_value){ found[1].text + 1, found[1].n - 2, found[1].traits };
	size_t i = ht_et_base_attr(&name);
	bool fits = false;
	if (i < HT_ET_N_BASE_ATTRS && !ht_et_set_base(s, i, &found[2], &fits))
		return false;
	if (i < HT_ET_N_BASE_ATTRS && (!fits || !ht_et_is(&type, base_attrs[i].type)))
		s->node.flags |= HT_ET_BAD_ATTR;
	else if (!is_odd && fits)
		learn_attr(s, place, start, found, i);
	if (fits)
		return true;
	if (!ht_et_add_extra(s, &name, &type, &found[2]))
		return false;
	if (!is_odd && i == HT_ET_N_BASE_ATTRS)
		learn_attr(s, place, start, found, i);
	return true;
}

/* A string of the ten: as the last one of the node's name, or any without escapes. */
static bool usual_string(struct ht_et_parsing *s, size_t i, const char *p)
{
	uint32_t *field = (uint32_t *)(void *)((char *)&s->node + base_attrs[i].offset);
	uint32_t guess = s->custom ? s->custom->strings[i - FIRST_STRING] : HT_ET_NO_STR;
	struct ht_et_value value = { p, 0, 0 };
	bool fits = false;
	if (*p != '"')
		return false;
	if (guess != HT_ET_NO_STR && ht_et_begins_with(s, p + 1, guess)) {
		const char *end = p + 1 + ht_et_str_len(s->r->et, guess);
		if (end[0] == '"' && *ht_skip_space(end + 1) == '}') {
			*field = guess;
			s->node.flags |= 1u << i;
			s->p = ht_skip_space(end + 1) + 1;
			return true;
		}
	}
	const char *end = ht_et_string_end(s->r, p, &value.traits);
	if (!end || *ht_skip_space(end) != '}')
		return false;
	value.n = (size_t)(end - p);
	if (!ht_et_set_base(s, i, &value, &fits) || !fits)
		return false;
	s->p = ht_skip_space(end) + 1;
	return true;
}

static bool usual_number(struct ht_et_parsing *s, size_t i, const char *p)
{
	uint64_t value, *field = (uint64_t *)(void *)((char *)&s->node + base_attrs[i].offset);
	bool negative = *p == '-' && base_attrs[i].kind == I64;
	const char *end = ht_et_digits_end(p + negative, &value);
	if (!end || (base_attrs[i].kind == I64 && value > INT64_MAX))
		return false;
	end = ht_skip_space(end);
	if (*end != '}')
		return false;
	*field = negative ? 0 - value : value;
	s->node.flags |= 1u << i;
	s->p = end + 1;
	return true;
}

/* An attribute beyond the ten whose name and type are known. */
static bool usual_extra(struct ht_et_parsing *s, const struct ht_et_place *known, const char *p)
{
	struct ht_et *et = s->r->et;
	struct ht_et_attr attr = { known->name, known->type, HT_ET_NO_STR };
	unsigned traits = 0;
	bool bad = false;
	const char *end = ht_et_value_end(s->r, p, &traits, &bad);
	if (!end || *ht_skip_space(end) != '}')
		return false;
	if (!ht_et_keep(s, ht_et_intern_json(s->r, p, (size_t)(end - p), traits, &attr.value)))
		return false;
	s->p = ht_skip_space(end) + 1;
	s->node.n_attrs++;
	return ht_et_keep(s, HT_VEC_PUSH(et->mem, &et->attrs, struct ht_et_attr, attr));
}

/* An attribute that is spelled as in the node before; false when it is another. */
static bool usual_attr(struct ht_et_parsing *s, size_t place)
{
	const struct ht_et_place *known =
	        ht_et_habit_find(s->r->habit, HT_ET_LEVEL_ATTRS, place, s->p);
	if (!known)
		return false;
	const char *p = ht_skip_space(s->p + known->n);
	if (known->field == HT_ET_N_BASE_ATTRS)
		return usual_extra(s, known, p);
	return base_attrs[known->field].kind == STRING ? usual_string(s, known->field, p)
	                                               : usual_number(s, known->field, p);
}

bool ht_et_parse_attrs(struct ht_et_parsing *s)
{
	if (!ht_et_expect(s, '['))
		return false;
	s->p = ht_skip_space(s->p);
	if (*s->p == ']') {
		s->p++;
		return true;
	}
	for (size_t place = 0;; place++) {
		s->p = ht_skip_space(s->p);
		if (!usual_attr(s, place) && (s->result == HT_ET_FAILED || !any_attr(s, place)))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p != ',')
			break;
		s->p++;
	}
	return ht_et_expect(s, ']');
}
