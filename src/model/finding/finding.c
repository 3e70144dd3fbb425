/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.c - see finding.h.
 */
#include "model/finding/finding.h"

#include "model/finding/template.h"
#include "model/finding/templates.h"
#include "base/checked.h"
#include "base/json_escape.h"
#include "base/text_compare.h"
#include "store/event.h"
#include "table/format.h"
#include "table/note.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ht_finding ht_finding(const char *kind, enum ht_state state)
{
	return (struct ht_finding){ .kind = kind,
		.state = state,
		.variant = "",
		.value = NAN,
		.share = NAN,
		.of_rank = HT_NO_I64,
		.upper_bound_ns = HT_NO_I64,
		.upper_bound_share = NAN,
		.confidence = NAN };
}

void ht_finding_subject(struct ht_finding *f, const char *kind, const char *name)
{
	f->subject_kind = kind;
	f->subject = name;
}

void ht_finding_share(struct ht_finding *f, double share, const char *of, int64_t rank)
{
	f->share = share;
	f->of = of;
	f->of_rank = rank;
}

void ht_finding_value(struct ht_finding *f, double value, const char *unit)
{
	f->value = value;
	f->unit = unit;
}

void ht_finding_event(struct ht_finding *f, int64_t rank, int64_t row)
{
	if (row != HT_NO_I64 && f->n_events < HT_FINDING_EVENTS)
		f->events[f->n_events++] = (struct ht_event_at){ rank, row };
}

void ht_finding_next(struct ht_finding *f, const char *verb)
{
	f->next = verb;
	f->n_args = 0;
}

void ht_finding_arg(struct ht_finding *f, const char *name, const char *value)
{
	if (f->n_args < HT_FINDING_ARGS)
		f->args[f->n_args++] = (struct ht_arg){ name, value };
}

static void add(struct ht_finding *f, struct ht_note_value value)
{
	if (f->n_values < HT_FINDING_VALUES)
		f->values[f->n_values++] = value;
}

void ht_finding_ns(struct ht_finding *f, const char *name, int64_t ns)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_DURATION, .i64 = ns });
}

void ht_finding_count(struct ht_finding *f, const char *name, int64_t count)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_I64, .i64 = count });
}

void ht_finding_bytes(struct ht_finding *f, const char *name, int64_t bytes)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_BYTES, .i64 = bytes });
}

void ht_finding_ratio(struct ht_finding *f, const char *name, double share)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_RATIO, .f64 = share });
}

void ht_finding_number(struct ht_finding *f, const char *name, double number)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_F64, .f64 = number });
}

void ht_finding_text(struct ht_finding *f, const char *name, const char *text)
{
	add(f, (struct ht_note_value){ .name = name, .type = HT_STR, .str = text });
}

void ht_finding_item(struct ht_finding *f, const struct ht_finding_item *item)
{
	if (f->n_items < HT_FINDING_ITEMS)
		f->items[f->n_items++] = *item;
}

struct ht_finding_item ht_item(const char *variant, const char *name)
{
	return (struct ht_finding_item){ .variant = variant,
		.name = name,
		.ns = HT_NO_I64,
		.count = HT_NO_I64,
		.share = NAN,
		.wait = NAN,
		.transfer = NAN,
		.at = { HT_NO_I64, HT_NO_I64 } };
}

/* ---- words ---- */

static const char *saying(
        const struct ht_saying *list, size_t n, const char *kind, const char *variant)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].kind, kind) && !strcmp(list[i].variant, variant))
			return list[i].text;
	return *variant ? saying(list, n, kind, "") : NULL; /* once */
}

const char *ht_term(const char *code)
{
	const char *text = saying(ht_terms, ht_n_terms, code, "");
	return text ? text : code;
}

const char *ht_finding_advice(const char *kind, const char *variant)
{
	return saying(ht_sayings, ht_n_sayings, kind, variant);
}

const char *ht_finding_needs(const char *kind)
{
	return saying(ht_needs, ht_n_needs, kind, "");
}

/* Of that variant, or the one for all variants; NULL: nothing is said of that state. */
static const struct ht_template *find(const struct ht_template *list, size_t n, const char *kind,
        enum ht_state state, const char *variant)
{
	const struct ht_template *found = NULL;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].kind, kind) != 0 || list[i].state != state)
			continue;
		if (!strcmp(list[i].variant, variant))
			return &list[i];
		if (!*list[i].variant)
			found = &list[i];
	}
	return found;
}

/* ---- what templates see ---- */

enum { N_CELLS = 8, N_ALL = HT_FINDING_VALUES + N_CELLS };

static enum ht_type type_of_unit(const char *unit)
{
	return ht_text_same(unit, "ns")      ? HT_DURATION_F64
	       : ht_text_same(unit, "ratio") ? HT_RATIO
	                                     : HT_F64;
}

/* "step time" or "step time (rank 1)" */
static const char *whole_text(struct ht_arena *arena, const struct ht_finding *f)
{
	if (!f->of || f->of_rank == HT_NO_I64)
		return f->of ? ht_term(f->of) : NULL;
	return ht_arena_printf(arena, "%s (rank %lld)", ht_term(f->of), (long long)f->of_rank);
}

static size_t gather(struct ht_arena *arena, const struct ht_finding *f, const char *items,
        struct ht_note_value *to)
{
	size_t n = f->n_values;
	memcpy(to, f->values, n * sizeof *to);
	to[n++] = (struct ht_note_value){ .name = "subject", .type = HT_STR, .str = f->subject };
	to[n++] = (struct ht_note_value){
		.name = "value", .type = type_of_unit(f->unit), .f64 = f->value
	};
	if (ht_text_same(f->unit, "bytes") && !isnan(f->value))
		to[n - 1] = (struct ht_note_value){
			.name = "value", .type = HT_BYTES, .i64 = ht_cut_sat(f->value)
		};
	to[n++] = (struct ht_note_value){ .name = "share", .type = HT_RATIO, .f64 = f->share };
	to[n++] =
	        (struct ht_note_value){ .name = "of", .type = HT_STR, .str = whole_text(arena, f) };
	to[n++] = (struct ht_note_value){
		.name = "bound", .type = HT_DURATION, .i64 = f->upper_bound_ns
	};
	to[n++] = (struct ht_note_value){
		.name = "bound_share", .type = HT_RATIO, .f64 = f->upper_bound_share
	};
	to[n++] = (struct ht_note_value){
		.name = "items", .type = HT_STR, .str = items && *items ? items : NULL
	};
	return n;
}

static const char *say_item(
        struct ht_arena *arena, const char *kind, const struct ht_finding_item *item)
{
	const struct ht_note_value values[] = {
		{ .name = "name", .type = HT_STR, .str = item->name },
		{ .name = "ns", .type = HT_DURATION, .i64 = item->ns },
		{ .name = "count", .type = HT_I64, .i64 = item->count },
		{ .name = "share", .type = HT_RATIO, .f64 = item->share },
		{ .name = "wait", .type = HT_RATIO, .f64 = item->wait },
		{ .name = "transfer", .type = HT_RATIO, .f64 = item->transfer },
	};
	const struct ht_template *found =
	        find(ht_item_templates, ht_n_item_templates, kind, HT_STATE_FOUND, item->variant);
	return ht_template_fill(
	        arena, found ? found->text : "{name}[ {share}]", values, HT_COUNT(values));
}

static const char *say_items(struct ht_arena *arena, const struct ht_finding *f)
{
	const char *text = "", *between = ", ";
	for (size_t i = 0; i < ht_n_item_templates; i++)
		if (!strcmp(ht_item_templates[i].kind, f->kind) &&
		        !strcmp(ht_item_templates[i].variant, "between"))
			between = ht_item_templates[i].text;
	for (size_t i = 0; text && i < f->n_items; i++) {
		const char *one = say_item(arena, f->kind, &f->items[i]);
		text = one ? ht_arena_printf(arena, "%s%s%s", text, i ? between : "", one) : NULL;
	}
	return text;
}

/* A name of code stays as it is written: aten::mm, torch.compile, rec.py(9). */
static bool begins_with_code(const char *text)
{
	for (; *text && *text != ' '; text++)
		if (*text == '_' || *text == '(' || *text == '<' ||
		        (*text == ':' && text[1] == ':') ||
		        (*text == '.' && isalnum((unsigned char)text[1])))
			return true;
	return false;
}

static const char *capital(struct ht_arena *arena, const char *text)
{
	if (begins_with_code(text))
		return text;
	return ht_arena_printf(arena, "%c%s", toupper((unsigned char)*text), *text ? text + 1 : "");
}

enum ht_status ht_finding_say(
        struct ht_arena *arena, const struct ht_finding *f, struct ht_sentence *ret)
{
	static const struct ht_template nothing = { "", HT_STATE_FOUND, "", "", "", "" };
	struct ht_note_value values[N_ALL];
	struct ht_sentence s;
	const struct ht_template *found =
	        find(ht_templates, ht_n_templates, f->kind, f->state, f->variant);
	const char *items = say_items(arena, f);
	if (!items)
		return HT_NOMEM;
	size_t n = gather(arena, f, items, values);
	found = found ? found : &nothing;
	s.text = ht_template_fill(arena, found->text, values, n);
	s.more = ht_template_fill(arena, found->more, values, n);
	s.heading = *found->heading ? ht_template_fill(arena, found->heading, values, n)
	            : s.text        ? capital(arena, s.text)
	                            : NULL;
	s.whole = !s.text || !s.more ? NULL
	          : *s.more          ? ht_arena_printf(arena, "%s; %s", s.text, s.more)
	                             : s.text;
	if (!s.heading || !s.whole)
		return HT_NOMEM;
	*ret = s;
	return HT_OK;
}

static const char *const states[] = {
	[HT_STATE_UNKNOWN] = "unknown", [HT_STATE_NONE] = "none", [HT_STATE_FOUND] = "found"
};

enum ht_status ht_finding_note(struct ht_arena *arena, const struct ht_finding *f, ht_table *table)
{
	struct ht_sentence sentence;
	struct ht_note_value values[N_ALL];
	if (ht_finding_say(arena, f, &sentence) != HT_OK)
		return ht_table_fail(table, HT_NOMEM);
	struct ht_note note = { .severity = f->severity,
		.kind = f->kind,
		.state = states[f->state],
		.text = sentence.whole,
		.next = f->next,
		.next_args = f->args,
		.n_next_args = f->n_args,
		.values = values };
	size_t n = gather(arena, f, NULL, values);
	for (size_t i = 0; i < n; i++)
		if (!ht_note_value_is_absent(&values[i]))
			values[note.n_values++] = values[i];
	return ht_table_put_note(table, &note);
}

/* ---- rows ---- */

struct json {
	struct ht_arena *arena;
	const char *text;
};

static const char *quoted(struct ht_arena *arena, const char *text)
{
	char *out = ht_arena_alloc(arena, strlen(text) * HT_JSON_ESCAPE_BYTES + 3);
	if (!out)
		return NULL;
	*out = '"';
	memcpy(ht_json_escape_text(out + 1, text), "\"", 2);
	return out;
}

static const char *value_text(struct ht_arena *arena, const struct ht_note_value *value)
{
	if (value->type == HT_STR)
		return quoted(arena, value->str);
	char buf[HT_FORMAT_BYTES];
	if (ht_type_is_f64(value->type))
		ht_format_f64(buf, value->f64);
	else
		ht_format_i64(buf, value->i64);
	return ht_arena_printf(arena, "%s", buf);
}

/* "name": value, behind what there is. */
static void put_member(struct json *json, const struct ht_note_value *value)
{
	if (!json->text || ht_note_value_is_absent(value))
		return;
	const char *text = value_text(json->arena, value);
	json->text = text ? ht_arena_printf(json->arena, "%s%s\"%s\":%s", json->text,
	                            *json->text ? "," : "", value->name, text)
	                  : NULL;
}

static const char *item_json(struct ht_arena *arena, const struct ht_finding_item *item)
{
	const struct ht_note_value values[] = {
		{ .name = "kind", .type = HT_STR, .str = *item->variant ? item->variant : NULL },
		{ .name = "name", .type = HT_STR, .str = item->name },
		{ .name = "ns", .type = HT_I64, .i64 = item->ns },
		{ .name = "count", .type = HT_I64, .i64 = item->count },
		{ .name = "share", .type = HT_F64, .f64 = item->share },
		{ .name = "wait_share", .type = HT_F64, .f64 = item->wait },
		{ .name = "transfer_share", .type = HT_F64, .f64 = item->transfer },
		{ .name = "rank",
		        .type = HT_I64,
		        .i64 = item->at.row == HT_NO_I64 ? HT_NO_I64 : item->at.rank },
		{ .name = "event", .type = HT_I64, .i64 = item->at.row },
	};
	struct json json = { arena, "" };
	for (size_t i = 0; i < HT_COUNT(values); i++)
		put_member(&json, &values[i]);
	return json.text ? ht_arena_printf(arena, "{%s}", json.text) : NULL;
}

/* {"host_ns":…,"items":[{…}]}; NULL when out of memory, "" of nothing. */
static const char *values_json(struct ht_arena *arena, const struct ht_finding *f)
{
	struct json json = { arena, "" };
	const char *items = "";
	for (size_t i = 0; i < f->n_values; i++)
		put_member(&json, &f->values[i]);
	for (size_t i = 0; items && i < f->n_items; i++) {
		const char *one = item_json(arena, &f->items[i]);
		items = one ? ht_arena_printf(arena, "%s%s%s", items, i ? "," : "", one) : NULL;
	}
	if (!json.text || !items)
		return NULL;
	if (!*items)
		return *json.text ? ht_arena_printf(arena, "{%s}", json.text) : "";
	return ht_arena_printf(
	        arena, "{%s%s\"items\":[%s]}", json.text, *json.text ? "," : "", items);
}

static const char *args_json(struct ht_arena *arena, const struct ht_finding *f)
{
	struct json json = { arena, "" };
	for (size_t i = 0; i < f->n_args; i++)
		put_member(&json,
		        &(struct ht_note_value){
		                .name = f->args[i].name, .type = HT_STR, .str = f->args[i].value });
	return json.text ? ht_arena_printf(arena, "{%s}", json.text) : NULL;
}

static const char *events_text(struct ht_arena *arena, const struct ht_finding *f)
{
	const char *text = "";
	for (size_t i = 0; text && i < f->n_events; i++)
		text = ht_arena_printf(arena, "%s%s%lld:%lld", text, i ? ", " : "",
		        (long long)f->events[i].rank, (long long)f->events[i].row);
	return text;
}

/* The cells of a row, from a column on. */
struct cells {
	ht_table *table;
	size_t first;
};

static void put_text(ht_table *table, size_t column, const char *text)
{
	ht_table_put_str(table, column, text && *text ? text : NULL);
}

static void cell_text(const struct cells *c, size_t cell, const char *text)
{
	put_text(c->table, c->first + cell, text);
}

static void cell_known(const struct cells *c, size_t cell, int64_t value)
{
	ht_table_put_known(c->table, c->first + cell, value, HT_NO_I64);
}

static void cell_number(const struct cells *c, size_t cell, double value)
{
	ht_table_put_f64(c->table, c->first + cell, value);
}

static void put_words(const struct cells *c, const struct ht_finding *f)
{
	bool has_share = !isnan(f->share);
	cell_text(c, HT_CELL_KIND, f->kind);
	cell_text(c, HT_CELL_STATE, states[f->state]);
	cell_text(c, HT_CELL_REASON, f->variant);
	cell_text(c, HT_CELL_SUBJECT_KIND, f->subject_kind);
	cell_text(c, HT_CELL_SUBJECT, f->subject);
	cell_number(c, HT_CELL_VALUE, f->value);
	cell_text(c, HT_CELL_UNIT, isnan(f->value) ? NULL : f->unit);
	cell_text(c, HT_CELL_OF, has_share ? ht_term(f->of) : NULL);
	cell_known(c, HT_CELL_OF_RANK, has_share ? f->of_rank : HT_NO_I64);
	cell_number(c, HT_CELL_BOUND_SHARE, f->upper_bound_share);
	cell_number(c, HT_CELL_CONFIDENCE, f->confidence);
	cell_known(c, HT_CELL_AT_RANK, f->n_events ? f->events[0].rank : HT_NO_I64);
	cell_known(c, HT_CELL_AT_EVENT, f->n_events ? f->events[0].row : HT_NO_I64);
}

enum ht_status ht_finding_row(struct ht_arena *arena, const struct ht_finding *f, const char *label,
        const struct ht_finding_places *at, ht_table *table)
{
	struct ht_sentence sentence;
	if (ht_finding_say(arena, f, &sentence) != HT_OK)
		return ht_table_fail(table, HT_NOMEM);
	const char *events = events_text(arena, f), *values = values_json(arena, f);
	const char *args = args_json(arena, f);
	const char *next = f->next ? ht_next_line(arena, f->next, f->args, f->n_args) : "";
	if (!events || !values || !args || !next)
		return ht_table_fail(table, HT_NOMEM);
	bool is_time = ht_text_same(f->unit, "ns") && !isnan(f->value);
	const struct cells c = { table, at->cells };
	ht_table_row(table);
	put_text(table, at->label, label);
	put_text(table, at->sentence, sentence.whole);
	if (at->advice != SIZE_MAX)
		put_text(table, at->advice, f->advice);
	cell_text(&c, HT_CELL_EVIDENCE, events);
	cell_text(&c, HT_CELL_NEXT, next);
	cell_known(&c, HT_CELL_VALUE_NS, is_time ? ht_cut_sat(f->value) : HT_NO_I64);
	cell_number(&c, HT_CELL_SHARE, f->share);
	cell_known(&c, HT_CELL_BOUND_NS, f->upper_bound_ns);
	put_words(&c, f);
	cell_text(&c, HT_CELL_NEXT_VERB, f->next);
	cell_text(&c, HT_CELL_NEXT_ARGS, f->next ? args : NULL);
	cell_text(&c, HT_CELL_HEADING, sentence.heading);
	cell_text(&c, HT_CELL_DETAIL, sentence.more);
	cell_text(&c, HT_CELL_VALUES, values);
	return HT_OK;
}
