/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_hint.c - what to do about a query that SQLite does not understand.
 *
 * Names are looked for among what the query can mean: columns among those of the tables that it names.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/query.h"

#include "registry/registry.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <string.h>

struct nearest {
	const char *query, *wanted;
	char best[HT_SQL_NAME_BYTES];
	size_t distance;
	char table[HT_SQL_NAME_BYTES]; /* the first that the query names */
};

static bool is_letter(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Whether the query has that word, in any case. */
static bool has_word(const char *query, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = query; at && *at; at++)
		if ((at == query || !is_letter(at[-1])) && !sqlite3_strnicmp(at, word, (int)n) &&
		        !is_letter(at[n]))
			return true;
	return false;
}

/* How far a name is from what was wanted: slips of letters, or a unit that is left out (dur, duration: dur_ns). */
static size_t distance_of(const char *wanted, const char *word)
{
	size_t n = strlen(wanted), n_stem = strcspn(word, "_");
	size_t slips = ht_edit_distance(wanted, n, word, strlen(word));
	bool is_stem = n_stem > 1 && word[n_stem] && !sqlite3_strnicmp(wanted, word, (int)n_stem);
	if (is_stem && n == n_stem)
		return 1;
	if (is_stem && n_stem > 2 && slips > 2)
		return 2;
	/* one slip in three letters */
	return slips <= (n + 2) / 3 ? slips : SIZE_MAX;
}

static void offer(struct nearest *n, const char *word)
{
	size_t distance = distance_of(n->wanted, word);
	if (distance == SIZE_MAX || (n->best[0] && distance >= n->distance))
		return;
	snprintf(n->best, sizeof n->best, "%s", word);
	n->distance = distance;
}

static void offer_tables(struct nearest *n)
{
	char name[HT_SQL_NAME_BYTES];
	for (size_t i = 0; ht_sql_fixed_table(i); i++)
		offer(n, ht_sql_fixed_table(i)->name);
	for (size_t i = 0; i < ht_n_analyses(); i++)
		if (ht_sql_offers(ht_analysis_at(i))) {
			ht_sql_analysis_name(ht_analysis_at(i), name);
			offer(n, name);
		}
}

static bool is_named(struct nearest *n, const char *table)
{
	if (!has_word(n->query, table))
		return false;
	if (!n->table[0])
		snprintf(n->table, sizeof n->table, "%s", table);
	return true;
}

static void offer_columns(struct nearest *n)
{
	for (size_t i = 0; ht_sql_fixed_table(i); i++)
		for (size_t c = 0; is_named(n, ht_sql_fixed_table(i)->name) &&
		                   c < ht_sql_fixed_table(i)->n_columns;
		        c++)
			offer(n, ht_sql_fixed_table(i)->columns[c].name);
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		char name[HT_SQL_NAME_BYTES];
		ht_sql_analysis_name(info, name);
		bool wanted = ht_sql_offers(info) && is_named(n, name);
		for (size_t k = 0; wanted && k < info->n_schemas; k++)
			for (size_t c = 0; c < info->schemas[k].n_columns; c++)
				offer(n, info->schemas[k].columns[c].name);
	}
}

static void offer_functions(struct nearest *n)
{
	for (size_t i = 0; i < ht_sql_n_functions; i++) {
		char name[HT_SQL_NAME_BYTES];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(ht_sql_functions[i].call, "("),
		        ht_sql_functions[i].call);
		offer(n, name);
	}
}

/* ---- what is said otherwise here ---- */

/* A table that is wanted and is an analysis over files. */
static bool hint_for_files(const char *word, char *room, size_t n_room)
{
	char name[HT_SQL_NAME_BYTES];
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		ht_sql_analysis_name(info, name);
		if (!info->files || sqlite3_stricmp(name, word) != 0)
			continue;
		snprintf(room, n_room,
		        "it is over files, and a query opens none: holotrace %s FILE gives the table",
		        info->name);
		return true;
	}
	return false;
}

/* An analysis by the name that it has as a verb. */
static bool hint_for_dash(const char *query, char *room, size_t n_room)
{
	char name[HT_SQL_NAME_BYTES];
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (!ht_sql_offers(info) || !strchr(info->name, '-') ||
		        !has_word(query, info->name))
			continue;
		ht_sql_analysis_name(info, name);
		snprintf(room, n_room, "it is %s here", name);
		return true;
	}
	return false;
}

static bool is_param(const struct ht_param *param, const char *word)
{
	size_t n = strlen(param->name);
	for (size_t i = 0; i < n; i++)
		if (word[i] != param->name[i] && !(word[i] == '_' && param->name[i] == '-'))
			return false;
	return !word[n];
}

/* A parameter of an analysis that is not in a text: kernel_breakdown(by = 'all'). */
static bool hint_for_param(const char *query, const char *word, char *room, size_t n_room)
{
	char name[HT_SQL_NAME_BYTES];
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		ht_sql_analysis_name(info, name);
		for (size_t k = 0; ht_sql_offers(info) && k < info->n_params; k++) {
			if (!is_param(&info->params[k], word) || !has_word(query, name))
				continue;
			snprintf(room, n_room, "options are given as a text: %s('%s=...')", name,
			        info->params[k].name);
			return true;
		}
	}
	return false;
}

/* A text in the quotes of names, or the name of an argument that no event has. */
static bool hint_for_quotes(const char *query, const char *word, char *room, size_t n_room)
{
	size_t n = strlen(word);
	for (const char *at = query; (at = strchr(at, '"')) != NULL; at++) {
		if (strncmp(at + 1, word, n) != 0 || at[n + 1] != '"')
			continue;
		snprintf(room, n_room,
		        "a text stands in single quotes; SELECT DISTINCT key FROM arg_values lists the "
		        "arguments of events, which args has as columns");
		return true;
	}
	return false;
}

/* ---- by message ---- */

enum about { TABLE, COLUMN, FUNCTION, READING, SYNTAX, AMBIGUOUS };

static const char *hint_for_name(struct nearest *n, enum about about, char *room, size_t n_room)
{
	if (about == TABLE && hint_for_files(n->wanted, room, n_room))
		return room;
	if (about == COLUMN && hint_for_param(n->query, n->wanted, room, n_room))
		return room;
	if (about == TABLE)
		offer_tables(n);
	else if (about == COLUMN)
		offer_columns(n);
	else
		offer_functions(n);
	if (n->best[0])
		snprintf(room, n_room, "did you mean %s?", n->best);
	else if (about == COLUMN && hint_for_quotes(n->query, n->wanted, room, n_room))
		return room;
	else if (about == COLUMN)
		snprintf(room, n_room,
		        "SELECT name FROM sql_columns WHERE table_name = '%s' lists its columns",
		        n->table[0] ? n->table : "...");
	else
		snprintf(room, n_room, "%s",
		        about == TABLE ? "SELECT name FROM sql_tables lists all"
		                       : "SELECT name FROM sql_tables WHERE kind = 'function' "
		                         "lists ours; SQLite's own are there too");
	return room;
}

const char *ht_sql_hint(const char *query, const char *message, char *room, size_t n_room)
{
	static const struct {
		const char *start;
		enum about about;
	} kinds[] = {
		{ "no such table: ", TABLE },
		{ "no such column: ", COLUMN },
		{ "no such function: ", FUNCTION },
		{ "not authorized", READING },
		{ "access to ", READING },
		{ "near \"-\": syntax error", SYNTAX },
		{ "ambiguous column name: ", AMBIGUOUS },
	};
	for (size_t i = 0; i < HT_COUNT(kinds); i++) {
		size_t n = strlen(kinds[i].start);
		if (strncmp(message, kinds[i].start, n) != 0)
			continue;
		const char *word = message + n, *dot = strrchr(word, '.');
		struct nearest nearest = { .query = query ? query : "",
			.wanted = dot ? dot + 1 : word };
		switch (kinds[i].about) {
		case READING: return HT_SQL_READS;
		case SYNTAX: return hint_for_dash(nearest.query, room, n_room) ? room : NULL;
		case AMBIGUOUS:
			snprintf(room, n_room, "say of which table: g.%s, after FROM gpu g",
			        nearest.wanted);
			return room;
		default: return hint_for_name(&nearest, kinds[i].about, room, n_room);
		}
	}
	return NULL;
}

#endif
