/*
 * et_node.c - one node of an execution trace, from its opening brace to its closing one.
 *
 * Two layouts, told by their keys: nested (ctrl_deps, inputs and outputs as objects, attrs) and flat (parent,
 * inputs, input_shapes, ... and attributes as keys of the node). Attributes come in the same order with the same
 * spelling in every node that PyTorch writes, so each is first compared with what it should look like.
 *
 * A name that was not escaped ends where the key that always follows it begins. A node whose brace is missing
 * ends where the next one begins.
 */
#include "et/et_reader.h"

#include "et/et_args.h"
#include "json/block.h"

#include <string.h>

/* How far the end of a name is looked for. */
#define MAX_NAME_BYTES ((size_t)1 << 20)

struct parse {
	struct ht_et_reader *r;
	const char *p;
	struct ht_et_node node;
	enum ht_et_parse result; /* why a step answered false */
};

static bool fail(struct parse *s, enum ht_et_parse result)
{
	s->result = result;
	return false;
}

/* Out of text, or text that is none of JSON's. */
static bool fail_here(struct parse *s)
{
	return fail(s, s->p >= s->r->end ? HT_ET_SHORT : HT_ET_BAD);
}

static bool keep(struct parse *s, bool was_kept)
{
	return was_kept || fail(s, HT_ET_FAILED);
}

/* Blanks, then this byte. */
static bool expect(struct parse *s, char wanted)
{
	s->p = ht_skip_space(s->p);
	if (*s->p != wanted)
		return fail_here(s);
	s->p++;
	return true;
}

struct value {
	const char *text;
	size_t n;
	bool escaped;
};

static bool any_value(struct parse *s, struct value *ret_value)
{
	bool escaped = false, bad = false;
	s->p = ht_skip_space(s->p);
	const char *end = ht_et_value_end(s->r, s->p, &escaped, &bad);
	if (!end)
		return fail(s, bad ? HT_ET_BAD : HT_ET_SHORT);
	*ret_value = (struct value){ s->p, (size_t)(end - s->p), escaped };
	s->p = end;
	return true;
}

/* A key and its colon. */
static bool any_key(struct parse *s, struct value *ret_key)
{
	bool escaped = false;
	s->p = ht_skip_space(s->p);
	if (*s->p != '"')
		return fail_here(s);
	const char *end = ht_et_string_end(s->r, s->p, &escaped);
	if (!end)
		return fail(s, HT_ET_SHORT);
	*ret_key = (struct value){ s->p + 1, (size_t)(end - s->p) - 2, escaped };
	s->p = end;
	return expect(s, ':');
}

static bool is(const struct value *value, const char *text)
{
	return strlen(text) == value->n && !memcmp(value->text, text, value->n);
}

static bool is_string(const struct value *value)
{
	return value->n >= 2 && value->text[0] == '"';
}

static bool intern_string(struct parse *s, const struct value *value, uint32_t *ret_id)
{
	return keep(s,
	        ht_et_intern_string(s->r, value->text + 1, value->n - 2, value->escaped, ret_id));
}

/* ---- attributes ---- */

enum attr_kind { U64, I64, STRING };
static const struct {
	const char *name, *type;
	enum attr_kind kind;
	size_t offset;
	const char *text; /* up to its value, as PyTorch writes it */
	size_t n;
} base_attrs[HT_ET_N_BASE_ATTRS] = {
#define ATTR(name, type, kind)                                                                     \
	{                                                                                          \
#name, type, kind, offsetof(struct ht_et_node, name),                              \
		        "{\"name\": \"" #name "\", \"type\": \"" type "\", \"value\": ",           \
		        sizeof("{\"name\": \"" #name "\", \"type\": \"" type "\", \"value\": ") -  \
		                1                                                                  \
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

/* Set one of the ten; *ret_fits is false when the value is not of its kind. */
static bool set_base(struct parse *s, size_t i, const struct value *value, bool *ret_fits)
{
	void *field = (char *)&s->node + base_attrs[i].offset;
	*ret_fits = false;
	if (base_attrs[i].kind == STRING) {
		if (!is_string(value))
			return true;
		if (!intern_string(s, value, field))
			return false;
	} else if (base_attrs[i].kind == I64 ? !ht_et_parse_i64(value->text, value->n, field)
	                                     : !ht_et_parse_u64(value->text, value->n, field)) {
		return true;
	}
	*ret_fits = true;
	s->node.flags |= 1u << i;
	return true;
}

static bool add_extra(struct parse *s, const struct value *name, const struct value *type,
        const struct value *value)
{
	struct ht_et *et = s->r->et;
	struct ht_et_attr attr = { .type = HT_ET_NO_STR };
	if (!keep(s, ht_et_intern_string(s->r, name->text, name->n, name->escaped, &attr.name)))
		return false;
	if (type &&
	        !keep(s, ht_et_intern_string(s->r, type->text, type->n, type->escaped, &attr.type)))
		return false;
	if (!keep(s, ht_et_intern_json(s->r, value->text, value->n, value->escaped, &attr.value)))
		return false;
	s->node.n_attrs++;
	return keep(s, HT_VEC_PUSH(et->mem, &et->attrs, struct ht_et_attr, attr));
}

static size_t base_attr_of(const struct value *name)
{
	size_t i = 0;
	while (i < HT_ET_N_BASE_ATTRS && !is(name, base_attrs[i].name))
		i++;
	return i;
}

/* A string that runs into text which does not follow strings: its quotes were not escaped. It ends at the next
 * quote before a closing brace. */
static bool unescaped_value(struct parse *s, const char *start, struct value *ret_value)
{
	const char *p = start + 1;
	for (;; p++) {
		p = memchr(p, '"', (size_t)(s->r->end - p));
		if (!p || (size_t)(p - start) > MAX_NAME_BYTES)
			return fail(s, p ? HT_ET_BAD : HT_ET_SHORT);
		const char *after = ht_skip_space(p + 1);
		if (after[0] == '}' && (after[1] == ',' || after[1] == ']'))
			break;
	}
	ht_et_count(s->r, HT_ET_STAT_name_unescaped, 1, start);
	*ret_value = (struct value){ start, (size_t)(p + 1 - start), false };
	s->p = p + 1;
	return true;
}

/* The members of an attribute in any order. */
static bool attr_members(struct parse *s, struct value found[3])
{
	static const char *const keys[3] = { "name", "type", "value" };
	do {
		struct value key, value;
		s->p = ht_skip_space(s->p);
		if (*s->p == '}')
			break;
		if (!any_key(s, &key))
			return false;
		const char *start = s->p = ht_skip_space(s->p);
		if (!any_value(s, &value))
			return false;
		s->p = ht_skip_space(s->p);
		if (*start == '"' && *s->p != ',' && *s->p != '}' &&
		        !unescaped_value(s, start, &value))
			return false;
		s->p = ht_skip_space(s->p);
		for (size_t k = 0; k < 3; k++)
			if (is(&key, keys[k]))
				found[k] = value;
	} while (*s->p == ',' && s->p++);
	return expect(s, '}');
}

static bool any_attr(struct parse *s)
{
	struct value found[3] = { { NULL, 0, false } }, name, type;
	if (!expect(s, '{') || !attr_members(s, found))
		return false;
	if (!found[0].text || !found[1].text || !found[2].text || !is_string(&found[0]) ||
	        !is_string(&found[1])) {
		s->node.flags |= HT_ET_BAD_ATTR;
		return true;
	}
	name = (struct value){ found[0].text + 1, found[0].n - 2, found[0].escaped };
	type = (struct value){ found[1].text + 1, found[1].n - 2, found[1].escaped };
	size_t i = base_attr_of(&name);
	bool fits = false;
	if (i < HT_ET_N_BASE_ATTRS && !set_base(s, i, &found[2], &fits))
		return false;
	if (fits && is(&type, base_attrs[i].type))
		return true;
	if (i < HT_ET_N_BASE_ATTRS)
		s->node.flags |= HT_ET_BAD_ATTR;
	return fits || add_extra(s, &name, &type, &found[2]);
}

/* The attribute that comes next in PyTorch's order, spelled as PyTorch does; false when it is another. */
static bool usual_attr(struct parse *s, size_t i)
{
	const char *p = s->p + base_attrs[i].n;
	struct value value = { p, 0, false };
	bool fits = false;
	if (memcmp(s->p, base_attrs[i].text, base_attrs[i].n) != 0)
		return false;
	if (base_attrs[i].kind == STRING) {
		const char *end = *p == '"' ? ht_et_string_end(s->r, p, &value.escaped) : NULL;
		if (!end || *end != '}')
			return false;
		value.n = (size_t)(end - p);
	} else {
		while (*p == '-' || ((unsigned char)(*p - '0') < 10))
			p++;
		if (*p != '}')
			return false;
		value.n = (size_t)(p - value.text);
	}
	if (!set_base(s, i, &value, &fits) || !fits)
		return false;
	s->p = value.text + value.n + 1;
	return true;
}

static bool parse_attrs(struct parse *s)
{
	size_t i = 0;
	if (!expect(s, '['))
		return false;
	s->p = ht_skip_space(s->p);
	if (*s->p == ']') {
		s->p++;
		return true;
	}
	for (;;) {
		s->p = ht_skip_space(s->p);
		if (i < HT_ET_N_BASE_ATTRS && usual_attr(s, i))
			i++;
		else if (s->result == HT_ET_FAILED || !any_attr(s))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p != ',')
			break;
		s->p++;
	}
	return expect(s, ']');
}

/* ---- arguments ---- */

static bool set_text(struct parse *s, uint32_t *ret_id)
{
	struct value value;
	return any_value(s, &value) &&
	       keep(s, ht_et_intern_json(s->r, value.text, value.n, value.escaped, ret_id));
}

/* {"values": [...], "shapes": [...], "types": [...], "strides": [...]} */
static bool parse_io(struct parse *s, struct ht_et_io *io)
{
	static const char *const names[4] = { "values", "shapes", "types", "strides" };
	uint32_t *const fields[4] = { &io->values, &io->shapes, &io->types, &io->strides };
	if (!expect(s, '{'))
		return false;
	s->p = ht_skip_space(s->p);
	if (*s->p == '}') {
		s->p++;
		return true;
	}
	for (;;) {
		struct value key, value;
		size_t k = 0;
		if (!any_key(s, &key))
			return false;
		while (k < 4 && !is(&key, names[k]))
			k++;
		if (k < 4 ? !set_text(s, fields[k]) : !any_value(s, &value))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p != ',')
			break;
		s->p++;
	}
	return expect(s, '}');
}

static bool add_tensor(struct ht_et_reader *r, const char *value)
{
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	if (!ht_et_tensor_parse(value, &tensor, &device, &n_fields))
		return true;
	uint32_t known = r->last_device;
	if (device.text && known != HT_ET_NO_STR && ht_et_str_len(r->et, known) == device.n &&
	        !memcmp(ht_et_str(r->et, known), device.text, device.n))
		tensor.device = known;
	else if (device.text && !ht_et_intern(r->et, device.text, device.n, &tensor.device))
		r->out_of_memory = true;
	r->last_device = tensor.device;
	if (!HT_VEC_PUSH(r->et->mem, &r->et->tensors, struct ht_et_tensor, tensor))
		r->out_of_memory = true;
	return !r->out_of_memory;
}

static bool tell_tensor(void *user, const struct ht_et_arg *arg)
{
	return !arg->value.text || add_tensor(user, arg->value.text);
}

/* Where an interned list of types names tensors; looked at once. */
static struct ht_et_type_list look_at_types(const char *types)
{
	struct ht_et_type_list known = { .state = 1 };
	struct ht_et_list list = ht_et_list(types);
	struct ht_et_piece type;
	if (!strstr(types, "Tensor("))
		return known;
	known.state = 3;
	for (size_t i = 0; ht_et_list_next(&list, &type); i++) {
		bool is_tensor = type.n > 8 && !memcmp(type.text, "\"Tensor(", 8);
		if (is_tensor && i < 64)
			known.mask |= (uint64_t)1 << i;
		else if (is_tensor ||
		         (type.n > 1 && memmem(type.text + 1, type.n - 1, "Tensor(", 7)))
			known.state = 2;
	}
	return known;
}

static const struct ht_et_type_list *type_list(struct ht_et_reader *r, uint32_t types)
{
	static const struct ht_et_type_list none = { .state = 1 };
	if (types == HT_ET_NO_STR)
		return &none;
	if (types >= r->lists.n) {
		size_t extra = types + 1 - r->lists.n;
		if (!ht_vec_reserve(r->ctx->mem, &r->lists, sizeof none, extra)) {
			r->out_of_memory = true;
			return &none;
		}
		memset((struct ht_et_type_list *)r->lists.data + r->lists.n, 0,
		        extra * sizeof none);
		r->lists.n += extra;
	}
	struct ht_et_type_list *known = (struct ht_et_type_list *)r->lists.data + types;
	if (!known->state)
		*known = look_at_types(ht_et_str(r->et, types));
	return known;
}

/* Tensors of the inputs or the outputs; their number. */
static uint32_t add_tensors_of(struct ht_et_reader *r, const struct ht_et_io *io)
{
	const struct ht_et_type_list *known = type_list(r, io->types);
	size_t n_before = r->et->tensors.n;
	if (known->state == 2) {
		/* shapes and strides are not needed here */
		struct ht_et_io only = { io->values, HT_ET_NO_STR, io->types, HT_ET_NO_STR };
		ht_et_each_tensor(r->et, &only, tell_tensor, r);
	} else if (known->state == 3) {
		struct ht_et_list list = ht_et_list(ht_et_str(r->et, io->values));
		struct ht_et_piece value;
		for (uint64_t mask = known->mask; mask && ht_et_list_next(&list, &value);
		        mask >>= 1)
			if (mask & 1 && !add_tensor(r, value.text))
				break;
	}
	return (uint32_t)(r->et->tensors.n - n_before);
}

bool ht_et_add_tensors(struct ht_et_reader *r, struct ht_et_node *node, uint32_t row)
{
	const struct ht_vec *tensors = &r->et->tensors;
	size_t first = tensors->n;
	node->first_tensor = (uint32_t)first;
	node->n_in = add_tensors_of(r, &node->in);
	node->n_out = add_tensors_of(r, &node->out);
	for (size_t i = first; i < tensors->n; i++)
		((struct ht_et_tensor *)tensors->data)[i].node = row;
	return !r->out_of_memory;
}

/* ---- members ---- */

/* The string was followed by something that does not follow strings: search the key that always does. */
static bool unescaped_name(struct parse *s, const char *start, struct value *ret_value)
{
	static const char *const next[] = { "\", \"ctrl_deps\": ", "\", \"id\": " };
	const char *found = NULL;
	size_t left = (size_t)(s->r->end - start);
	for (size_t i = 0; i < HT_COUNT(next); i++) {
		const char *at =
		        memmem(start + 1, (left < MAX_NAME_BYTES ? left : MAX_NAME_BYTES) - 1,
		                next[i], strlen(next[i]));
		if (at && (!found || at < found))
			found = at;
	}
	if (!found)
		return fail(s, left < MAX_NAME_BYTES ? HT_ET_SHORT : HT_ET_BAD);
	/* beyond the node's own text lies another node's name */
	if (memmem(start + 1, (size_t)(found - start - 1), "\"attrs\": [", 10))
		return fail(s, HT_ET_BAD);
	ht_et_count(s->r, HT_ET_STAT_name_unescaped, 1, start);
	*ret_value = (struct value){ start, (size_t)(found + 1 - start), false };
	s->p = found + 1;
	return true;
}

static bool parse_name(struct parse *s)
{
	struct value value;
	s->p = ht_skip_space(s->p);
	const char *start = s->p;
	if (!any_value(s, &value))
		return false;
	if (!is_string(&value))
		return true;
	s->p = ht_skip_space(s->p);
	if (*s->p != ',' && *s->p != '}') {
		if (s->p >= s->r->end)
			return fail(s, HT_ET_SHORT);
		if (!unescaped_name(s, start, &value))
			return false;
	} else if (*s->p == ',' && *ht_skip_space(s->p + 1) != '"' &&
	           ht_skip_space(s->p + 1) < s->r->end && !unescaped_name(s, start, &value)) {
		return false;
	}
	s->node.flags |= HT_ET_NAME;
	return intern_string(s, &value, &s->node.name);
}

/* The parent's id; lists of ids, as converters write, start with it. */
static bool parse_parent(struct parse *s, const struct value *key)
{
	struct value value;
	if (!any_value(s, &value))
		return false;
	struct value first = value;
	if (value.text[0] == '[') {
		const char *p = ht_skip_space(value.text + 1);
		first = (struct value){ p, strspn(p, "0123456789"), false };
		if (!add_extra(s, key, NULL, &value))
			return false;
	}
	if (ht_et_parse_u64(first.text, first.n, &s->node.parent_id))
		s->node.flags |= HT_ET_PARENT;
	return true;
}

/* A key of the flat layout's arguments, or NULL. */
static uint32_t *flat_field(struct parse *s, const struct value *key, unsigned *ret_flag)
{
	struct ht_et_node *node = &s->node;
	const struct {
		const char *name;
		uint32_t *field;
		unsigned flag;
	} keys[] = { { "inputs", &node->in.values, HT_ET_INPUTS },
		{ "input_shapes", &node->in.shapes, 0 }, { "input_types", &node->in.types, 0 },
		{ "input_strides", &node->in.strides, 0 },
		{ "outputs", &node->out.values, HT_ET_OUTPUTS },
		{ "output_shapes", &node->out.shapes, 0 }, { "output_types", &node->out.types, 0 },
		{ "output_strides", &node->out.strides, 0 } };
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		if (is(key, keys[i].name)) {
			*ret_flag = keys[i].flag;
			return keys[i].field;
		}
	return NULL;
}

static bool other_member(struct parse *s, const struct value *key)
{
	struct value value;
	unsigned flag = 0;
	uint32_t *field = flat_field(s, key, &flag);
	if (field) {
		s->node.flags |= flag;
		return set_text(s, field);
	}
	if (!any_value(s, &value))
		return false;
	size_t i = base_attr_of(key);
	bool fits = false;
	if (i < HT_ET_N_BASE_ATTRS) {
		if (!set_base(s, i, &value, &fits))
			return false;
		s->node.flags |= fits ? HT_ET_FLAT : HT_ET_BAD_ATTR;
		if (fits)
			return true;
	}
	return add_extra(s, key, NULL, &value);
}

static bool parse_member(struct parse *s)
{
	struct value key, value;
	if (!any_key(s, &key))
		return false;
	s->p = ht_skip_space(s->p);
	bool is_object = *s->p == '{';
	if (is(&key, "id")) {
		if (!any_value(s, &value))
			return false;
		if (ht_et_parse_u64(value.text, value.n, &s->node.id))
			s->node.flags |= HT_ET_ID;
		else
			return add_extra(s, &key, NULL, &value);
		return true;
	}
	if (is(&key, "name"))
		return parse_name(s);
	if (is(&key, "ctrl_deps") || is(&key, "parent"))
		return parse_parent(s, &key);
	if (is(&key, "inputs") && is_object) {
		s->node.flags |= HT_ET_INPUTS;
		return parse_io(s, &s->node.in);
	}
	if (is(&key, "outputs") && is_object) {
		s->node.flags |= HT_ET_OUTPUTS;
		return parse_io(s, &s->node.out);
	}
	if (is(&key, "attrs")) {
		s->node.flags |= HT_ET_ATTRS;
		return parse_attrs(s);
	}
	return other_member(s, &key);
}

static bool parse_members(struct parse *s)
{
	s->p = ht_skip_space(s->p + 1);
	while (*s->p != '}') {
		if (!parse_member(s))
			return false;
		s->p = ht_skip_space(s->p);
		if (*s->p == '}')
			break;
		if (s->p >= s->r->end)
			return fail(s, HT_ET_SHORT);
		const char *next = *s->p == ',' ? ht_skip_space(s->p + 1) : s->p;
		if (next >= s->r->end)
			return fail(s, HT_ET_SHORT);
		/* the next node begins, or the list ends, where a key should be */
		if ((*next == '{' || *next == ']') && (s->node.flags & HT_ET_ID)) {
			ht_et_count(s->r, HT_ET_STAT_missing_brace, 1, s->p);
			return true;
		}
		if (next == s->p)
			return fail(s, HT_ET_BAD);
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
	struct parse s = { .r = r,
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
	bool done = parse_members(&s);
	/* something that has neither id nor name is no node */
	if (done && !(s.node.flags & (HT_ET_ID | HT_ET_NAME)))
		done = fail(&s, HT_ET_BAD);
	if (done && (et->nodes.n >= HT_ET_NONE - 1 || et->tensors.n >= HT_ET_NONE / 2 ||
	                    et->attrs.n >= HT_ET_NONE / 2))
		done = fail(&s, HT_ET_FAILED);
	if (done)
		done = keep(
		        &s, ht_et_add_tensors(r, &s.node, (uint32_t)et->nodes.n) &&
		                    HT_VEC_PUSH(et->mem, &et->nodes, struct ht_et_node, s.node));
	if (!done) {
		et->attrs.n = n_attrs;
		et->tensors.n = n_tensors;
		memcpy(et->stats, stats, sizeof stats);
		return s.result;
	}
	*at = s.p;
	return HT_ET_PARSED;
}
