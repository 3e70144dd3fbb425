/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_functions.c - SQLite's own functions on texts whose work no limit would end, in a form that is bounded.
 *
 * A function cannot be interrupted: the clock and memory are looked at between the steps of SQLite's machine only. Most
 * functions take time by the length of their values, which is limited (query_guard.c). These do not:
 *
 *   printf, format           a width or precision of two thousand million is a loop as long
 *   instr, replace           compare the wanted text at every place: length times length
 *   trim, ltrim, rtrim       compare every character with all that are to go: the same
 *   LIKE, GLOB               compare the pattern at every place
 *
 * Answers are SQLite's. Programs that load the extension keep the functions that they have.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/query.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t limit_of(sqlite3_context *call)
{
	return (size_t)sqlite3_limit(sqlite3_context_db_handle(call), SQLITE_LIMIT_LENGTH, -1);
}

static bool is_continued(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* ---- instr, replace ---- */

struct bytes {
	const char *at;
	size_t n;
};

/* As a text, or as it is; false when there is no memory for it. */
static bool bytes_of(sqlite3_value *value, bool as_text, struct bytes *ret_bytes)
{
	ret_bytes->at = as_text ? (const char *)sqlite3_value_text(value)
	                        : (const char *)sqlite3_value_blob(value);
	ret_bytes->n = (size_t)sqlite3_value_bytes(value);
	return ret_bytes->at || !ret_bytes->n;
}

/* The place of a text, in characters from 1; 0: it is not there. */
static sqlite3_int64 place_of(struct bytes in, struct bytes wanted, bool as_text)
{
	sqlite3_int64 place = 1;
	if (!wanted.n)
		return 1;
	/* no character begins with such a byte, except a broken one at the very start */
	bool only_first = as_text && is_continued((unsigned char)*wanted.at);
	const char *found = !in.n ? NULL : memmem(in.at, in.n, wanted.at, wanted.n);
	if (!found || (only_first && found != in.at))
		return 0;
	for (const char *at = in.at + 1; at <= found; at++)
		place += !as_text || !is_continued((unsigned char)*at);
	return place;
}

static void instr(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct bytes in, wanted;
	int type = sqlite3_value_type(values[0]), wanted_type = sqlite3_value_type(values[1]);
	(void)n;
	if (type == SQLITE_NULL || wanted_type == SQLITE_NULL)
		return;
	bool as_text = type != SQLITE_BLOB || wanted_type != SQLITE_BLOB;
	if (!bytes_of(values[0], as_text, &in) || !bytes_of(values[1], as_text, &wanted))
		sqlite3_result_error_nomem(call);
	else
		sqlite3_result_int64(call, place_of(in, wanted, as_text));
}

/* The next place of what is to be replaced, or the end. */
static const char *next_place(struct bytes in, const char *from, struct bytes wanted)
{
	const char *end = in.at + in.n;
	const char *found = memmem(from, (size_t)(end - from), wanted.at, wanted.n);
	return found ? found : end;
}

static char *replaced(struct bytes in, struct bytes wanted, struct bytes by, size_t n)
{
	char *text = sqlite3_malloc64(n + 1), *to = text;
	const char *end = in.at + in.n;
	for (const char *from = in.at; text && from < end;) {
		const char *place = next_place(in, from, wanted);
		memcpy(to, from, (size_t)(place - from));
		to += place - from;
		if (place < end && by.n)
			memcpy(to, by.at, by.n);
		to += place < end ? by.n : 0;
		from = place < end ? place + wanted.n : end;
	}
	return text;
}

static void replace(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct bytes in, wanted, by;
	(void)n;
	if (!bytes_of(values[0], true, &in) || !bytes_of(values[1], true, &wanted) ||
	        !bytes_of(values[2], true, &by)) {
		sqlite3_result_error_nomem(call);
		return;
	}
	if (!in.at || !wanted.at)
		return;
	if (!*wanted.at) {
		sqlite3_result_value(call, values[0]);
		return;
	}
	if (!by.at)
		return;
	uint64_t n_places = 0;
	const char *end = in.at + in.n;
	for (const char *at = in.at; (at = next_place(in, at, wanted)) < end; at += wanted.n)
		n_places++;
	/* no factor is beyond the limit of lengths, which is a matter of megabytes */
	uint64_t n_whole = in.n - n_places * wanted.n + n_places * by.n;
	if (n_whole > limit_of(call)) {
		sqlite3_result_error_toobig(call);
		return;
	}
	char *text = replaced(in, wanted, by, (size_t)n_whole);
	if (text)
		sqlite3_result_text64(call, text, n_whole, sqlite3_free, SQLITE_UTF8);
	else
		sqlite3_result_error_nomem(call);
}

/* ---- trim ---- */

/* Characters beyond ASCII that can be named: each is compared one by one. */
#define MAX_WIDE 256

struct trimmed {
	bool narrow[0x80];
	struct bytes wide[MAX_WIDE];
	size_t n_wide;
};

/* Take the characters apart as SQLite does; false when too many are wide. */
static bool read_set(struct bytes set, struct trimmed *ret_set)
{
	const char *end = set.at + set.n;
	*ret_set = (struct trimmed){ .n_wide = 0 };
	for (const char *at = set.at, *next; at < end; at = next) {
		next = at + 1;
		if ((unsigned char)*at < 0x80) {
			ret_set->narrow[(unsigned char)*at] = true;
			continue;
		}
		while ((unsigned char)*at >= 0xc0 && next < end &&
		        is_continued((unsigned char)*next))
			next++;
		if (ret_set->n_wide == MAX_WIDE)
			return false;
		ret_set->wide[ret_set->n_wide++] = (struct bytes){ at, (size_t)(next - at) };
	}
	return true;
}

/* Bytes of the character at the start, or at the end, that is to go; 0: none is. */
static size_t match_set(const struct trimmed *set, struct bytes in, bool at_end)
{
	unsigned char byte = in.n ? (unsigned char)in.at[at_end ? in.n - 1 : 0] : 0;
	if (!in.n)
		return 0;
	if (byte < 0x80)
		return set->narrow[byte];
	for (size_t i = 0; i < set->n_wide; i++) {
		struct bytes wide = set->wide[i];
		if (wide.n <= in.n &&
		        !memcmp(in.at + (at_end ? in.n - wide.n : 0), wide.at, wide.n))
			return wide.n;
	}
	return 0;
}

enum ends { START = 1, END = 2 };

static void trim(sqlite3_context *call, int n, sqlite3_value **values)
{
	static const enum ends both = START | END;
	const enum ends *ends = sqlite3_user_data(call);
	struct bytes in, given = { " ", 1 };
	struct trimmed set;
	if (!bytes_of(values[0], true, &in) || (n == 2 && !bytes_of(values[1], true, &given))) {
		sqlite3_result_error_nomem(call);
		return;
	}
	if (!in.at || !given.at)
		return;
	if (!read_set(given, &set)) {
		sqlite3_result_error(call, "too many characters to trim", -1);
		return;
	}
	ends = ends ? ends : &both;
	for (size_t n_bytes; *ends & START && (n_bytes = match_set(&set, in, false)) > 0;)
		in = (struct bytes){ in.at + n_bytes, in.n - n_bytes };
	for (size_t n_bytes; *ends & END && (n_bytes = match_set(&set, in, true)) > 0;)
		in.n -= n_bytes;
	sqlite3_result_text64(call, in.at, in.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- LIKE, GLOB ---- */

/* Comparisons of characters, about a second's work. */
#define MAX_COMPARISONS ((uint64_t)1 << 28)

/* One character; 0 when there is none to escape with, or after the mistake has been said. */
static unsigned escape_of(sqlite3_context *call, sqlite3_value *value, bool *ret_failed)
{
	const unsigned char *text = sqlite3_value_text(value);
	int n = 1;
	while (text && *text >= 0xc0 && is_continued(text[n]))
		n++;
	*ret_failed = text && (!*text || text[n]);
	if (*ret_failed)
		sqlite3_result_error(call, "ESCAPE expression must be a single character", -1);
	if (!text || *ret_failed || *text < 0xc0)
		return text && !*ret_failed ? *text : 0;
	unsigned code = *text & (n == 2 ? 0x1f : n == 3 ? 0x0f : 0x07);
	for (int i = 1; i < n; i++)
		code = code << 6 | (text[i] & 0x3f);
	return code;
}

static void like(sqlite3_context *call, int n, sqlite3_value **values)
{
	bool is_glob = sqlite3_user_data(call) != NULL, failed = false;
	struct bytes pattern, in;
	/* a matter of how SQLite was built */
	if ((sqlite3_value_type(values[0]) == SQLITE_BLOB ||
	            sqlite3_value_type(values[1]) == SQLITE_BLOB) &&
	        sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
		sqlite3_result_int(call, 0);
		return;
	}
	if (!bytes_of(values[0], true, &pattern) || !bytes_of(values[1], true, &in)) {
		sqlite3_result_error_nomem(call);
		return;
	}
	sqlite3 *db = sqlite3_context_db_handle(call);
	int longest = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
	if (pattern.n > (size_t)longest || (uint64_t)pattern.n * in.n > MAX_COMPARISONS) {
		sqlite3_result_error(call, "LIKE or GLOB pattern too complex", -1);
		return;
	}
	unsigned escape = n == 3 ? escape_of(call, values[2], &failed) : 0;
	if (failed || !pattern.at || !in.at ||
	        (n == 3 && sqlite3_value_type(values[2]) == SQLITE_NULL))
		return;
	sqlite3_result_int(call, is_glob ? !sqlite3_strglob(pattern.at, in.at)
	                                 : !sqlite3_strlike(pattern.at, in.at, escape));
}

/* ---- printf ---- */

struct printing {
	sqlite3_context *call;
	sqlite3_str *out;
	int n, at; /* arguments: how many, which is next */
	sqlite3_value **values;
};

static sqlite3_value *next_value(struct printing *p)
{
	return p->at < p->n ? p->values[p->at++] : NULL;
}

/* Digits, or a star and the next argument; the text then begins behind them. */
static sqlite3_int64 read_number(struct printing *p, const char **at)
{
	sqlite3_int64 number = 0;
	if (**at == '*') {
		sqlite3_value *value = next_value(p);
		(*at)++;
		/* as SQLite takes it: an int */
		return value ? (int)sqlite3_value_int64(value) : 0;
	}
	for (; **at >= '0' && **at <= '9'; (*at)++)
		number = number < INT_MAX ? number * 10 + (**at - '0') : number;
	return number & INT_MAX;
}

/* A specification in parts. */
struct spec {
	char flags[16];
	sqlite3_int64 width, precision; /* precision -1: none */
	char type;
};

static const char *read_spec(struct printing *p, const char *at, struct spec *ret_spec)
{
	static const char known[] = "-+ #!0,";
	*ret_spec = (struct spec){ .precision = -1 };
	size_t n_flags = 0;
	for (; *at && strchr(known, *at); at++)
		if (n_flags < sizeof ret_spec->flags - 1)
			ret_spec->flags[n_flags++] = *at;
	ret_spec->width = read_number(p, &at);
	if (*at == '.') {
		at++;
		ret_spec->precision = llabs(read_number(p, &at));
	}
	at += strspn(at, "l");
	/* as a C function %z would free what it prints */
	ret_spec->type = *at == 'z' ? 's' : *at;
	return *at ? at + 1 : at;
}

/* The first character of a text, again and again. */
static void print_character(struct printing *p, const struct spec *spec, sqlite3_value *value)
{
	const char *text = value ? (const char *)sqlite3_value_text(value) : NULL;
	sqlite3_int64 n_copies = spec->precision > 1 ? spec->precision : 1;
	int n = 1, n_blank = (int)(llabs(spec->width) - n_copies);
	bool is_left = spec->width < 0 || strchr(spec->flags, '-');
	while (text && (unsigned char)*text >= 0xc0 && n < 4 &&
	        is_continued((unsigned char)text[n]))
		n++;
	if (!is_left && n_blank > 0)
		sqlite3_str_appendchar(p->out, n_blank, ' ');
	while (n_copies-- > 0)
		sqlite3_str_append(p->out, text ? text : "", n);
	if (is_left && n_blank > 0)
		sqlite3_str_appendchar(p->out, n_blank, ' ');
}

static void print_one(struct printing *p, const struct spec *spec)
{
	char format[80], width[24] = "", precision[24] = "";
	sqlite3_value *value = spec->type == '%' ? NULL : next_value(p);
	bool is_whole = strchr("diuoxXpr", spec->type) != NULL;
	/* a star's negative width is a minus and the width */
	if (spec->width)
		sqlite3_snprintf(sizeof width, width, "%s%lld", spec->width < 0 ? "-" : "",
		        llabs(spec->width));
	if (spec->precision >= 0)
		sqlite3_snprintf(sizeof precision, precision, ".%lld", spec->precision);
	sqlite3_snprintf(sizeof format, format, "%%%s%s%s%s%c", spec->flags, width, precision,
	        is_whole ? "ll" : "", spec->type);
	if (is_whole)
		sqlite3_str_appendf(p->out, format, value ? sqlite3_value_int64(value) : 0);
	else if (strchr("feEgG", spec->type))
		sqlite3_str_appendf(p->out, format, value ? sqlite3_value_double(value) : 0.0);
	else if (spec->type == 'c')
		print_character(p, spec, value);
	else if (strchr("sqQw", spec->type))
		sqlite3_str_appendf(p->out, format, value ? sqlite3_value_text(value) : NULL);
	else
		sqlite3_str_appendf(p->out, format);
}

/* False after what is wrong has been said. */
static bool print_all(struct printing *p, const char *format)
{
	sqlite3_int64 limit = (sqlite3_int64)limit_of(p->call);
	for (const char *at = format; *at;) {
		struct spec spec;
		size_t n = strcspn(at, "%");
		/* nothing at all is null, and not an empty text */
		if (n)
			sqlite3_str_append(p->out, at, (int)n);
		at += n;
		if (!*at)
			break;
		const char *next = read_spec(p, at + 1, &spec);
		if (llabs(spec.width) > limit || spec.precision > limit) {
			sqlite3_result_error_toobig(p->call);
			return false;
		}
		if (!spec.type && next == at + 1)
			sqlite3_str_append(p->out, "%", 1);
		/* what SQLite does not know ends the text there */
		if (!spec.type || !strchr("%nduixXoprfeEgGsqQwc", spec.type))
			break;
		if (spec.type == 'n')
			sqlite3_str_append(p->out, "", 0);
		else
			print_one(p, &spec);
		at = next;
	}
	return true;
}

static void print(sqlite3_context *call, int n, sqlite3_value **values)
{
	const char *format = n ? (const char *)sqlite3_value_text(values[0]) : NULL;
	if (!format)
		return;
	struct printing p = { call, sqlite3_str_new(sqlite3_context_db_handle(call)), n - 1, 0,
		values + 1 };
	bool done = print_all(&p, format);
	int code = sqlite3_str_errcode(p.out), n_bytes = sqlite3_str_length(p.out);
	char *text = sqlite3_str_finish(p.out);
	if (done && code == SQLITE_OK) {
		sqlite3_result_text(call, text, n_bytes, sqlite3_free);
		return;
	}
	sqlite3_free(text);
	if (done)
		sqlite3_result_error_code(call, code);
}

int ht_sql_register_bounded(sqlite3 *db)
{
	static const enum ends start = START, end = END;
	static const struct {
		const char *name;
		int n;
		void (*call)(sqlite3_context *, int, sqlite3_value **);
		const enum ends *ends; /* of GLOB: any */
	} list[] = {
		{ "like", 2, like, NULL },
		{ "like", 3, like, NULL },
		{ "glob", 2, like, &start },
		{ "instr", 2, instr, NULL },
		{ "replace", 3, replace, NULL },
		{ "trim", 1, trim, NULL },
		{ "trim", 2, trim, NULL },
		{ "ltrim", 1, trim, &start },
		{ "ltrim", 2, trim, &start },
		{ "rtrim", 1, trim, &end },
		{ "rtrim", 2, trim, &end },
		{ "printf", -1, print, NULL },
		{ "format", -1, print, NULL },
	};
	int code = SQLITE_OK;
	for (size_t i = 0; i < HT_COUNT(list) && code == SQLITE_OK; i++)
		code = sqlite3_create_function(db, list[i].name, list[i].n,
		        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
		        (void *)(uintptr_t)list[i].ends, list[i].call, NULL, NULL);
	return code;
}

#endif
