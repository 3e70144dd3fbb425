/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reword.c - a finished table in the words of another vendor; see table.h.
 *
 * Texts of a table are its own copies, and a new word is no longer than the old one, so texts change where they are.
 * Headings are short and may grow: they are made anew.
 */
#include "table/storage.h"
#include "table/table.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* Does the word stand alone at that place, or in the plural, as sentences have it, and not in a name or a path? */
static bool stands_alone(const char *text, const char *at, const char *word)
{
	size_t n = strlen(word);
	const char *end = at + n + (at[n] == 's');
	bool begins = at == text || at[-1] == ' ' || at[-1] == '(';
	if (!begins || !isalnum((unsigned char)word[n - 1]))
		return begins;
	return (!*end || strchr(" ,;:.)'=-", *end)) &&
	       (*end != '.' || !isalnum((unsigned char)end[1]));
}

/* Returns the length of the text, which is the table's own. */
static size_t reword(const char *text, const struct ht_reword *word)
{
	size_t n_from = strlen(word->from), n_to = strlen(word->to);
	assert(n_to <= n_from);
	for (char *at = (char *)(uintptr_t)text; (at = strstr(at, word->from)) != NULL;) {
		if (!stands_alone(text, at, word->from)) {
			at += n_from;
			continue;
		}
		memcpy(at, word->to, n_to);
		memmove(at + n_to, at + n_from, strlen(at + n_from) + 1);
		at += n_to;
	}
	return strlen(text);
}

static void reword_texts(ht_table *table, const struct ht_reword *word)
{
	const struct ht_note *notes = table->notes.data;
	struct ht_table_pool_text *texts = table->pool.texts.data;
	if (table->title)
		reword(table->title, word);
	if (table->method)
		reword(table->method, word);
	for (size_t i = 0; i < table->notes.n; i++) {
		reword(notes[i].text, word);
		if (notes[i].line && notes[i].line != notes[i].text)
			reword(notes[i].line, word);
	}
	for (size_t c = 0; c < ht_n_columns(table); c++)
		if (ht_cells_at(table, c)->meta.sentence)
			reword(ht_cells_at(table, c)->meta.sentence, word);
	/* the first text is "", which nobody owns */
	for (size_t i = 1; table->own_words && i < table->pool.texts.n; i++)
		texts[i].n = reword(texts[i].text, word);
}

/* A part of a name is between underscores. */
static void reword_label(ht_table *table, struct ht_cells *cells, const struct ht_reword *word)
{
	const char *label = cells->label, *at = strstr(label, word->from);
	size_t n = strlen(word->from);
	if (!at || (at != label && at[-1] != '_') || (at[n] && at[n] != '_'))
		return;
	label = ht_arena_printf(
	        &table->arena, "%.*s%s%s", (int)(at - label), label, word->to, at + n);
	if (label)
		cells->label = label;
}

void ht_table_reword(ht_table *table, const struct ht_reword *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		reword_texts(table, &words[i]);
}

void ht_table_reword_labels(ht_table *table, const struct ht_reword *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < ht_n_columns(table); c++)
			reword_label(table, ht_cells_at(table, c), &words[i]);
}
