/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - see note.h.
 */
#include "table/note.h"

#include "table/storage.h"
#include "table/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t ht_table_n_notes(const ht_table *table)
{
	return table->notes.n;
}

const struct ht_note_value *ht_note_value(const struct ht_note *note, size_t i)
{
	return i < note->n_values ? &note->values[i] : NULL;
}

const struct ht_note *ht_table_note_at(const ht_table *table, size_t i)
{
	return i < table->notes.n ? (const struct ht_note *)table->notes.data + i : NULL;
}

const char *ht_table_note(const ht_table *table, size_t i)
{
	const struct ht_note *note = ht_table_note_at(table, i);
	return note ? note->line : NULL;
}

bool ht_note_value_is_absent(const struct ht_note_value *value)
{
	if (value->type == HT_STR)
		return !value->str;
	if (ht_type_is_f64(value->type))
		return isnan(value->f64);
	return value->i64 == INT64_MIN;
}

static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                   "0123456789_-.,:/%+@")];
}

const char *ht_next_line(
        struct ht_arena *arena, const char *verb, const struct ht_arg *args, size_t n)
{
	const char *line = verb;
	for (size_t i = 0; line && i < n; i++) {
		const char *value = args[i].value;
		if (!strcmp(value, "true"))
			line = ht_arena_printf(arena, "%s --%s", line, args[i].name);
		else if (is_plain(value))
			line = ht_arena_printf(arena, "%s --%s %s", line, args[i].name, value);
		else
			line = ht_arena_printf(arena, "%s --%s '%s'", line, args[i].name, value);
	}
	return line;
}

/* The table's own, NULL for NULL; what there is no memory for is remembered. */
static const char *keep(ht_table *table, const char *text, bool *ok)
{
	const char *copy = text ? ht_table_copy_text(table, text, strlen(text)) : NULL;
	*ok &= !text || copy;
	return copy;
}

static void keep_values(ht_table *table, struct ht_note *note, bool *ok)
{
	const struct ht_note_value *from = note->values;
	struct ht_note_value *values =
	        ht_arena_alloc(&table->arena, (note->n_values + 1) * sizeof *values);
	*ok &= values != NULL;
	for (size_t i = 0; *ok && i < note->n_values; i++) {
		values[i] = from[i];
		values[i].name = keep(table, from[i].name, ok);
		values[i].str = keep(table, from[i].str, ok);
	}
	note->values = values;
}

static void keep_args(ht_table *table, struct ht_note *note, bool *ok)
{
	const struct ht_arg *from = note->next_args;
	struct ht_arg *args = ht_arena_alloc(&table->arena, (note->n_next_args + 1) * sizeof *args);
	*ok &= args != NULL;
	for (size_t i = 0; *ok && i < note->n_next_args; i++)
		args[i] = (struct ht_arg){ keep(table, from[i].name, ok),
			keep(table, from[i].value, ok) };
	note->next_args = args;
}

static const char *line_of(ht_table *table, const struct ht_note *note)
{
	const char *before = note->severity == HT_NOTE_WARNING ? "warning: " : "";
	if (!*before && !note->next)
		return note->text;
	const char *next = note->next ? ht_next_line(&table->arena, note->next, note->next_args,
	                                        note->n_next_args)
	                              : "";
	return next ? ht_arena_printf(&table->arena, "%s%s%s%s", before, note->text,
	                      *next ? ". Next: " : "", next)
	            : NULL;
}

enum ht_status ht_table_put_note(ht_table *table, const struct ht_note *note)
{
	struct ht_note kept = *note;
	bool ok = true;
	kept.kind = keep(table, note->kind ? note->kind : "note", &ok);
	kept.state = keep(table, note->state, &ok);
	kept.text = keep(table, note->text, &ok);
	kept.next = keep(table, note->next, &ok);
	keep_values(table, &kept, &ok);
	keep_args(table, &kept, &ok);
	kept.line = ok ? line_of(table, &kept) : NULL;
	if (!kept.line || !HT_VEC_PUSH(table->mem, &table->notes, struct ht_note, kept))
		return ht_table_fail(table, HT_NOMEM);
	return HT_OK;
}

static enum ht_status add_text(
        ht_table *table, enum ht_note_severity severity, const char *format, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, format, ap);
	char *text = n < 0 ? NULL : ht_arena_alloc(&table->arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	const struct ht_note note = { .severity = severity, .text = text };
	return text ? ht_table_put_note(table, &note) : ht_table_fail(table, HT_NOMEM);
}

enum ht_status ht_table_add_note(ht_table *table, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	enum ht_status status = add_text(table, HT_NOTE_INFO, format, ap);
	va_end(ap);
	return status;
}

enum ht_status ht_table_add_warning(ht_table *table, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	enum ht_status status = add_text(table, HT_NOTE_WARNING, format, ap);
	va_end(ap);
	return status;
}
