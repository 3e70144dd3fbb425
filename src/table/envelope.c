/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope.c - what JSON says around the rows of a table: the question, the files, and what to ask next.
 *
 *   {"schema":"holotrace/1","version":"0.1.0","verb":"kernels",
 *    "parameters":{"by":"name","step":null},
 *    "selection":{"sets":[{"ranks":[0,1],"steps":"steps 2–7"}]},
 *    "inputs":[{"set":0,"rank":0,"path":"run/rank0.json.gz","events":749,"hash":"00c0ffee00c0ffee"}],
 *    …
 *    "n_hidden":0,"truncated":false,"check_failed":false,
 *    "next":[{"verb":"idle-breakdown","args":{"by":"device"}}]}
 *
 * next has what findings name, below the table or as its rows, in their order and each once; those found come before
 * those that were looked for and are not there.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/json.h"
#include "table/note.h"
#include "table/table_origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void write_i64(struct ht_out *out, int64_t value)
{
	char buf[HT_FORMAT_BYTES];
	ht_out_bytes(out, buf, ht_format_i64(buf, value));
}

static void write_u64(struct ht_out *out, uint64_t value)
{
	char buf[HT_FORMAT_BYTES];
	ht_out_bytes(out, buf, ht_format_u64(buf, value));
}

static void write_args(struct ht_out *out, const struct ht_arg *args, size_t n)
{
	ht_out_char(out, '{');
	for (size_t i = 0; i < n; i++) {
		ht_out_str(out, i ? "," : "");
		ht_out_json(out, args[i].name);
		ht_out_char(out, ':');
		ht_out_json(out, args[i].value);
	}
	ht_out_char(out, '}');
}

static void write_side(struct ht_out *out, const struct ht_table_origin_side *side)
{
	ht_out_str(out, "{\"ranks\":[");
	for (size_t i = 0; i < side->n_ranks; i++) {
		ht_out_str(out, i ? "," : "");
		write_i64(out, side->ranks[i]);
	}
	ht_out_str(out, "],");
	ht_out_member(out, "steps", side->steps);
	ht_out_char(out, '}');
}

static void write_input(struct ht_out *out, const struct ht_table_origin_input *input)
{
	char hash[17];
	snprintf(hash, sizeof hash, "%016" PRIx64, input->hash);
	ht_out_str(out, "{\"set\":");
	write_u64(out, input->side);
	ht_out_str(out, ",\"rank\":");
	write_i64(out, input->rank);
	ht_out_char(out, ',');
	ht_out_member(out, "path", input->path);
	ht_out_str(out, ",\"events\":");
	write_u64(out, input->n_events);
	ht_out_char(out, ',');
	ht_out_member(out, "hash", hash);
	ht_out_char(out, '}');
}

void ht_json_envelope(struct ht_out *out, const ht_table *table)
{
	static const struct ht_table_origin nobody = { 0 };
	const struct ht_table_origin *origin = table->origin ? table->origin : &nobody;
	ht_out_member(out, "schema", HT_ENVELOPE);
	ht_out_char(out, ',');
	ht_out_member(out, "version", ht_version());
	ht_out_char(out, ',');
	ht_out_member(out, "verb", origin->verb);
	ht_out_str(out, ",\n\"parameters\":");
	write_args(out, origin->params, origin->n_params);
	ht_out_str(out, ",\n\"selection\":{\"sets\":[");
	for (size_t i = 0; i < origin->n_sides; i++) {
		ht_out_str(out, i ? "," : "");
		write_side(out, &origin->sides[i]);
	}
	ht_out_str(out, "]},\n\"inputs\":[");
	for (size_t i = 0; i < origin->n_inputs; i++) {
		ht_out_str(out, i ? ",\n " : "\n ");
		write_input(out, &origin->inputs[i]);
	}
	ht_out_str(out, "],\n");
}

/* ---- what to ask next ---- */

/* The columns by which rows that are findings name their next question; none: SIZE_MAX. */
struct next_columns {
	size_t verb, args, state;
};

static const char *text_at(const ht_table *table, size_t row, size_t column)
{
	return ht_table_is_null(table, row, column) ? "" : ht_table_str(table, row, column);
}

static bool names_next(const ht_table *table, const struct next_columns *at, size_t row)
{
	return *text_at(table, row, at->verb) != '\0';
}

static bool is_found(const ht_table *table, const struct next_columns *at, size_t row)
{
	return at->state == SIZE_MAX || !strcmp(text_at(table, row, at->state), "found");
}

static bool same_next(const ht_table *table, const struct next_columns *at, size_t a, size_t b)
{
	return !strcmp(text_at(table, a, at->verb), text_at(table, b, at->verb)) &&
	       !strcmp(text_at(table, a, at->args), text_at(table, b, at->args));
}

/* Rows of findings are few: a report of findings has a line each. */
#define MAX_NEXT_ROWS 200

static void write_rows_next(
        struct ht_out *out, const ht_table *table, const struct next_columns *at, bool *ret_any)
{
	size_t n = table->n_rows < MAX_NEXT_ROWS ? table->n_rows : MAX_NEXT_ROWS;
	for (int found = 1; found >= 0; found--)
		for (size_t row = 0; row < n; row++) {
			bool is_new = names_next(table, at, row) &&
			              is_found(table, at, row) == (found == 1);
			for (size_t k = 0; is_new && k < n; k++) {
				bool is_before =
				        is_found(table, at, k) == (found == 1) ? k < row : !found;
				is_new = !is_before || !same_next(table, at, k, row);
			}
			if (!is_new)
				continue;
			ht_out_str(out, *ret_any ? ",\n " : "\n ");
			*ret_any = true;
			ht_out_char(out, '{');
			ht_out_member(out, "verb", text_at(table, row, at->verb));
			/* the cell is an object already */
			const char *args = text_at(table, row, at->args);
			ht_out_str(out, ",\"args\":");
			ht_out_str(out, *args ? args : "{}");
			ht_out_char(out, '}');
		}
}

static bool same_args(const struct ht_note *a, const struct ht_note *b)
{
	bool same = a->n_next_args == b->n_next_args;
	for (size_t i = 0; same && i < a->n_next_args; i++)
		same = !strcmp(a->next_args[i].name, b->next_args[i].name) &&
		       !strcmp(a->next_args[i].value, b->next_args[i].value);
	return same;
}

static bool is_repeated(const ht_table *table, size_t i)
{
	const struct ht_note *note = ht_table_note_at(table, i);
	for (size_t k = 0; k < i; k++) {
		const struct ht_note *other = ht_table_note_at(table, k);
		if (other->next && !strcmp(other->next, note->next) && same_args(other, note))
			return true;
	}
	return false;
}

static void write_notes_next(struct ht_out *out, const ht_table *table, bool *ret_any)
{
	for (size_t i = 0; i < table->notes.n; i++) {
		const struct ht_note *note = ht_table_note_at(table, i);
		if (!note->next || is_repeated(table, i))
			continue;
		ht_out_str(out, *ret_any ? ",\n {" : "\n {");
		*ret_any = true;
		ht_out_member(out, "verb", note->next);
		ht_out_str(out, ",\"args\":");
		write_args(out, note->next_args, note->n_next_args);
		ht_out_char(out, '}');
	}
}

void ht_json_rest(struct ht_out *out, const ht_table *table)
{
	const struct next_columns at = { ht_table_find_column(table, "next_verb"),
		ht_table_find_column(table, "next_args"), ht_table_find_column(table, "state") };
	bool any = false;
	ht_out_str(out, "\"n_hidden\":");
	write_u64(out, table->n_hidden);
	ht_out_str(out, table->n_hidden ? ",\"truncated\":true" : ",\"truncated\":false");
	ht_out_str(out, ht_table_check_failed(table) ? ",\"check_failed\":true"
	                                             : ",\"check_failed\":false");
	ht_out_str(out, ",\n\"next\":[");
	write_notes_next(out, table, &any);
	if (at.verb != SIZE_MAX && at.args != SIZE_MAX)
		write_rows_next(out, table, &at, &any);
	ht_out_char(out, ']');
}
