/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_node.c - one node of an execution trace, from its opening brace to its closing one.
 *
 * Two layouts, told by their keys: nested (ctrl_deps, inputs and outputs as objects, attrs) and flat (parent,
 * inputs, input_shapes, ... and attributes as keys of the node). Keys, attributes and argument texts are first
 * compared with those of the nodes before (et_habit.h), for most are the same.
 *
 * A name that was not escaped ends where the key that always follows it begins. A node whose brace is missing
 * ends where the next one begins.
 */
#include "et/et_parse.h"

/* ---- keys ---- */

/* What a member of a node is. */
enum field {
	FIELD_ID,
	FIELD_NAME,
	FIELD_PARENT,
	FIELD_ATTRS,
	FIELD_IO, /* eight: inputs, their shapes, types and strides, the same of outputs */
	FIELD_BASE = FIELD_IO + 8,
	FIELD_OTHER = FIELD_BASE + HT_ET_N_BASE_ATTRS,
};

static enum field node_field(const struct ht_et_value *key);

/* What a member of inputs or outputs is; 4 for what is none of the four. */
static size_t io_field(const struct ht_et_value *key)
{
	static const char *const names[4] = { "values", "shapes", "types", "strides" };
	size_t k = 0;
	while (k < 4 && !ht_et_is(key, names[k]))
		k++;
	return k;
}

/* The key at p with the colon and blanks around: as in the node before, or taken apart and remembered. */
static bool next_key(struct ht_et_parsing *s, enum ht_et_level level, size_t place,
        struct ht_et_value *ret_key, unsigned *ret_field)
{
	const struct ht_et_place *known = ht_et_habit_find(s->r->habit, level, place, s->p);
	if (known) {
		*ret_key = (struct ht_et_value){ s->p + known->key_at, known->n_key, 0 };
		*ret_field = known->field;
		/* a text that ended with its colon goes before blanks, too */
		s->p = ht_skip_space(s->p + known->n);
		return true;
	}
	const char *start = s->p;
	if (!ht_et_any_key(s, ret_key))
		return false;
	s->p = ht_skip_space(s->p);
	*ret_field = level == HT_ET_LEVEL_NODE ? node_field(ret_key) : (unsigned)io_field(ret_key);
	if (!ret_key->traits && s->p < s->r->end)
		ht_et_habit_learn(s->r->habit, level, place, start, s->p, ret_key->text, ret_key->n,
		        (uint8_t)*ret_field);
	return true;
}

/* ---- arguments ---- */

static const size_t io_offsets[8] = {
#define IO(name) offsetof(struct ht_et_node, name)
	IO(in.values),
	IO(in.shapes),
	IO(in.types),
	IO(in.strides),
	IO(out.values),
	IO(out.shapes),
	IO(out.types),
	IO(out.strides),
#undef IO
};

/* Remember a text that was interned as it is; a repaired one is longer. */
static void learn_text(const struct ht_et_parsing *s, uint32_t *guess, uint32_t id, size_t n)
{
	if (ht_et_str_len(s->r->et, id) == n)
		*guess = id;
}

/* One of the eight texts of arguments. An array that begins as a whole one ends where that does. */
static bool set_text(struct ht_et_parsing *s, size_t k)
{
	uint32_t *field = (uint32_t *)(void *)((char *)&s->node + io_offsets[k]);
	uint32_t *guess = s->custom ? &s->custom->io[k] : NULL;
	struct ht_et_value value;
	s->p = ht_skip_space(s->p);
	if (guess && *guess != HT_ET_NO_STR && ht_et_begins_with(s, s->p, *guess)) {
		*field = *guess;
		s->p += ht_et_str_len(s->r->et, *guess);
		if (k % 4 == 0)
			s->pending[k / 4].text = NULL;
		return true;
	}
	if (!ht_et_any_value(s, &value))
		return false;
	bool is_plain = value.text[0] == '[' && !value.traits;
	if (k % 4 == 0)
		s->pending[k / 4].text = NULL;
	if (k % 4 == 0 && is_plain) {
		uint64_t hash = ht_hash(value.text, value.n);
		ht_pool_prefetch(&s->r->et->pool, hash);
		s->pending[k / 4] = (struct ht_et_pending){ value.text, value.n, hash };
		return true;
	}
	if (!ht_et_keep(s, ht_et_intern_json(s->r, value.text, value.n, value.traits, field)))
		return false;
	if (guess && is_plain)
		learn_text(s, guess, *field, value.n);
	return true;
}

/* The values that were left for the end of the node. */
static bool set_pending(struct ht_et_parsing *s)
{
	uint32_t *fields[2] = { &s->node.in.values, &s->node.out.values };
	for (size_t i = 0; i < 2; i++) {
		const struct ht_et_pending *left = &s->pending[i];
		if (!left->text)
			continue;
		if (!ht_et_keep(s,
		            ht_et_intern_array(s->r, left->text, left->n, left->hash, fields[i])))
			return false;
		if (s->custom)
			learn_text(s, &s->custom->io[4 * i], *fields[i], left->n);
	}
	return true;
}

/* {"values": [...], "shapes": [...], "types": [...], "strides": [...]}; first is 0 for inputs, 4 for outputs. */
static bool parse_io(struct ht_et_parsing *s, size_t first)
{
	if (!ht_et_expect(s, '{'))
		return false;
	if (*ht_skip_space(s->p) == '}') {
		s->p = ht_skip_space(s->p) + 1;
		return true;
	}
	for (size_t place = 0;; place++) {
		struct ht_et_value key, value;
		unsigned k;
		if (!next_key(s, HT_ET_LEVEL_IO, place, &key, &k))
			return false;
		if (k < 4 ? !set_text(s, first + k) : !ht_et_any_value(s, &value))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p != ',')
			break;
		s->p++;
	}
	return ht_et_expect(s, '}');
}

/* ---- members ---- */

/* The quote before the key that always follows a name; NULL when none is before the end. */
static const char *find_name_end(const char *p, const char *end)
{
	static const char nested[] = "\", \"ctrl_deps\": ", flat[] = "\", \"id\": ";
	for (; (p = memchr(p, '"', (size_t)(end - p))); p++)
		if (!memcmp(p, nested, sizeof nested - 1) || !memcmp(p, flat, sizeof flat - 1))
			return p;
	return NULL;
}

/* The string was followed by something that does not follow strings: search the key that always does. */
static bool unescaped_name(
        struct ht_et_parsing *s, const char *start, struct ht_et_value *ret_value)
{
	size_t left = (size_t)(s->r->end - start);
	const char *end = left < HT_ET_MAX_NAME_BYTES ? s->r->end : start + HT_ET_MAX_NAME_BYTES;
	const char *found = find_name_end(start + 1, end);
	if (!found) {
		ht_et_give_up(s->r, end);
		return ht_et_fail(s, left < HT_ET_MAX_NAME_BYTES ? HT_ET_SHORT : HT_ET_BAD);
	}
	/* beyond the node's own text lies another node's name */
	ht_et_give_up(s->r, found);
	if (memmem(start + 1, (size_t)(found - start - 1), "\"attrs\": [", 10))
		return ht_et_fail(s, HT_ET_BAD);
	ht_et_count(s->r, HT_ET_STAT_name_unescaped, 1, start);
	*ret_value = (struct ht_et_value){ start, (size_t)(found + 1 - start),
		ht_et_raw_traits(start + 1, (size_t)(found - start) - 1) };
	s->p = found + 1;
	return true;
}

static struct ht_et_custom *last_custom(const struct ht_et_reader *r)
{
	return r->last_custom_1 ? (struct ht_et_custom *)r->customs.data + r->last_custom_1 - 1
	                        : NULL;
}

/* What is remembered of the nodes of this name, whose text has these traits; false when out of memory. */
static bool find_custom(struct ht_et_parsing *s, unsigned traits)
{
	struct ht_et_reader *r = s->r;
	struct ht_mem *mem = r->ctx->mem;
	size_t name = s->node.name;
	if (name >= r->custom_of.n) {
		size_t extra = name + 1 - r->custom_of.n;
		if (!ht_vec_reserve(mem, &r->custom_of, sizeof(uint32_t), extra))
			return false;
		memset((uint32_t *)r->custom_of.data + r->custom_of.n, 0, extra * sizeof(uint32_t));
		r->custom_of.n += extra;
	}
	uint32_t *row_1 = (uint32_t *)r->custom_of.data + name;
	if (!*row_1) {
		struct ht_et_custom none;
		memset(&none, 0xff, sizeof none);
		if (!HT_VEC_PUSH(mem, &r->customs, struct ht_et_custom, none))
			return false;
		*row_1 = (uint32_t)r->customs.n;
	}
	s->custom = (struct ht_et_custom *)r->customs.data + *row_1 - 1;
	struct ht_et_custom *last = last_custom(r);
	if (last && !traits)
		last->next_name = s->node.name;
	r->last_custom_1 = *row_1;
	return true;
}

/* The name that followed the last one before; false when it is another. */
static bool usual_name(struct ht_et_parsing *s)
{
	const struct ht_et_custom *last = last_custom(s->r);
	if (!last || last->next_name == HT_ET_NO_STR || *s->p != '"' ||
	        !ht_et_begins_with(s, s->p + 1, last->next_name))
		return false;
	const char *end = s->p + 1 + ht_et_str_len(s->r->et, last->next_name);
	if (end[0] != '"' || end[1] != ',' || *ht_skip_space(end + 2) != '"')
		return false;
	s->node.name = last->next_name;
	s->node.flags |= HT_ET_NAME;
	s->p = end + 1;
	return true;
}

static bool parse_name(struct ht_et_parsing *s)
{
	struct ht_et_value value;
	s->p = ht_skip_space(s->p);
	if (usual_name(s))
		return ht_et_keep(s, find_custom(s, 0));
	const char *start = s->p;
	if (!ht_et_any_value(s, &value))
		return false;
	if (!ht_et_is_string(&value))
		return true;
	s->p = ht_skip_space(s->p);
	if (*s->p != ',' && *s->p != '}') {
		if (s->p >= s->r->end)
			return ht_et_fail(s, HT_ET_SHORT);
		if (!unescaped_name(s, start, &value))
			return false;
	} else if (*s->p == ',' && *ht_skip_space(s->p + 1) != '"' &&
	           ht_skip_space(s->p + 1) < s->r->end && !unescaped_name(s, start, &value)) {
		return false;
	}
	s->node.flags |= HT_ET_NAME;
	return ht_et_keep_string(s, &value, &s->node.name) &&
	       ht_et_keep(s, find_custom(s, value.traits));
}

/* A whole number; false when it is something else. */
static inline bool usual_id(struct ht_et_parsing *s, uint64_t *ret_id)
{
	uint64_t id;
	const char *end = ht_et_digits_end(s->p, &id);
	if (!end)
		return false;
	*ret_id = id;
	s->p = end;
	return true;
}

/* The parent's id; lists of ids, as converters write, start with it. */
static bool parse_parent(struct ht_et_parsing *s, const struct ht_et_value *key)
{
	struct ht_et_value value;
	if (usual_id(s, &s->node.parent_id)) {
		s->node.flags |= HT_ET_PARENT;
		return true;
	}
	if (!ht_et_any_value(s, &value))
		return false;
	struct ht_et_value first = value;
	if (value.text[0] == '[') {
		const char *p = ht_skip_space(value.text + 1);
		first = (struct ht_et_value){ p, strspn(p, "0123456789"), 0 };
		if (!ht_et_add_extra(s, key, NULL, &value))
			return false;
	}
	if (ht_et_parse_u64(first.text, first.n, &s->node.parent_id))
		s->node.flags |= HT_ET_PARENT;
	return true;
}

static bool parse_id(struct ht_et_parsing *s, const struct ht_et_value *key)
{
	struct ht_et_value value;
	if (usual_id(s, &s->node.id)) {
		s->node.flags |= HT_ET_ID;
		return true;
	}
	if (!ht_et_any_value(s, &value))
		return false;
	if (!ht_et_parse_u64(value.text, value.n, &s->node.id))
		return ht_et_add_extra(s, key, NULL, &value);
	s->node.flags |= HT_ET_ID;
	return true;
}

static enum field node_field(const struct ht_et_value *key)
{
	static const struct {
		const char *name;
		enum field field;
	} keys[] = { { "id", FIELD_ID }, { "name", FIELD_NAME }, { "ctrl_deps", FIELD_PARENT },
		{ "parent", FIELD_PARENT }, { "attrs", FIELD_ATTRS }, { "inputs", FIELD_IO },
		{ "input_shapes", FIELD_IO + 1 }, { "input_types", FIELD_IO + 2 },
		{ "input_strides", FIELD_IO + 3 }, { "outputs", FIELD_IO + 4 },
		{ "output_shapes", FIELD_IO + 5 }, { "output_types", FIELD_IO + 6 },
		{ "output_strides", FIELD_IO + 7 } };
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		if (ht_et_is(key, keys[i].name))
			return keys[i].field;
	return (enum field)(FIELD_BASE + ht_et_base_attr(key));
}

/* Inputs, outputs or one of their texts in the flat layout. */
static bool parse_arguments(struct ht_et_parsing *s, size_t k)
{
	if (k % 4 == 0)
		s->node.flags |= k ? HT_ET_OUTPUTS : HT_ET_INPUTS;
	return k % 4 == 0 && *s->p == '{' ? parse_io(s, k) : set_text(s, k);
}

/* One of the ten as key of the node, or a key that has no field. */
static bool other_member(struct ht_et_parsing *s, const struct ht_et_value *key, size_t i)
{
	struct ht_et_value value;
	bool fits = false;
	if (!ht_et_any_value(s, &value))
		return false;
	if (i < HT_ET_N_BASE_ATTRS) {
		if (!ht_et_set_base(s, i, &value, &fits))
			return false;
		s->node.flags |= fits ? HT_ET_FLAT : HT_ET_BAD_ATTR;
		if (fits)
			return true;
	}
	return ht_et_add_extra(s, key, NULL, &value);
}

static bool parse_member(struct ht_et_parsing *s, size_t place)
{
	struct ht_et_value key;
	unsigned field;
	if (!next_key(s, HT_ET_LEVEL_NODE, place, &key, &field))
		return false;
	switch (field) {
	case FIELD_ID: return parse_id(s, &key);
	case FIELD_NAME: return parse_name(s);
	case FIELD_PARENT: return parse_parent(s, &key);
	case FIELD_ATTRS: s->node.flags |= HT_ET_ATTRS; return ht_et_parse_attrs(s);
	default:
		return field < FIELD_BASE ? parse_arguments(s, field - FIELD_IO)
		                          : other_member(s, &key, field - FIELD_BASE);
	}
}

static bool parse_members(struct ht_et_parsing *s)
{
	s->p = ht_skip_space(s->p + 1);
	for (size_t place = 0; *s->p != '}'; place++) {
		if (!parse_member(s, place))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p == '}')
			break;
		if (s->p >= s->r->end)
			return ht_et_fail(s, HT_ET_SHORT);
		const char *next = *s->p == ',' ? ht_skip_space(s->p + 1) : s->p;
		if (next >= s->r->end)
			return ht_et_fail(s, HT_ET_SHORT);
		/* the next node begins, or the list ends, where a key should be */
		if ((*next == '{' || *next == ']') && (s->node.flags & HT_ET_ID)) {
			ht_et_count(s->r, HT_ET_STAT_missing_brace, 1, s->p);
			return true;
		}
		if (next == s->p)
			return ht_et_fail(s, HT_ET_BAD);
		s->p = next;
	}
	s->p++;
	return true;
}

enum ht_et_parse ht_et_parse_node(struct ht_et_reader *r, const char **at)
{
	static const struct ht_et_io no_io = { HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR,
		HT_ET_NO_STR };
	struct ht_et *et = r->et;
	size_t n_attrs = et->attrs.n, n_tensors = et->tensors.n;
	struct ht_et_stat stats[HT_ET_N_STATS];
	memcpy(stats, et->stats, sizeof stats);
	r->reach = *at;
	struct ht_et_parsing s = { .r = r,
		.p = *at,
		.result = HT_ET_BAD,
		.node = { .name = HT_ET_NO_STR,
		        .seq_id = -1,
		        .op_schema = HT_ET_NO_STR,
		        .kernel_backend = HT_ET_NO_STR,
		        .kernel_file = HT_ET_NO_STR,
		        .tensor_range = HT_ET_NO_STR,
		        .in = no_io,
		        .out = no_io,
		        .first_attr = (uint32_t)n_attrs,
		        .offset = r->base + (*at - r->text) } };
	bool done = parse_members(&s) && set_pending(&s);
	/* something that has neither id nor name is no node */
	if (done && !(s.node.flags & (HT_ET_ID | HT_ET_NAME)))
		done = ht_et_fail(&s, HT_ET_BAD);
	if (done && (et->nodes.n >= HT_ET_NONE - 1 || et->tensors.n >= HT_ET_NONE / 2 ||
	                    et->attrs.n >= HT_ET_NONE / 2))
		done = ht_et_fail(&s, HT_ET_FAILED);
	if (done)
		done = ht_et_keep(
		        &s, ht_et_add_tensors(r, &s.node, (uint32_t)et->nodes.n) &&
		                    HT_VEC_PUSH(et->mem, &et->nodes, struct ht_et_node, s.node));
	if (!done) {
		et->attrs.n = n_attrs;
		et->tensors.n = n_tensors;
		memcpy(et->stats, stats, sizeof stats);
		ht_et_give_up(r, s.p);
		return s.result;
	}
	*at = s.p;
	return HT_ET_PARSED;
}
