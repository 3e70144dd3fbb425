/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - names from a trace are a stranger's bytes: made safe to show.
 *
 * Control characters (a terminal obeys them), line separators, and marks that are invisible or turn
 * the reading direction (they make one name look like another) show as \n, \t, \x1b or \u202e.
 */
#ifndef HT_TABLE_ESCAPE_H
#define HT_TABLE_ESCAPE_H

#include "table/out.h"

/* Replaces the content of chars by the text, safe for a terminal, with a NUL that n does not count.
 * False when out of memory. */
bool ht_clean(struct ht_mem *mem, struct ht_vec *chars, const char *text, size_t n);
/* Cells that ht_clean's result takes. */
size_t ht_clean_width(const char *text, size_t n);
/* The same for CSV, where blanks and line breaks are the field's own business and marks are harmless: what
 * a terminal obeys is replaced, everything else is as it was. */
bool ht_has_controls(const char *text, size_t n);
void ht_out_controls(struct ht_out *out, const char *text, size_t n);
/* Written for HTML text and quoted attributes. */
void ht_out_html(struct ht_out *out, const char *text);
/* Written as a quoted JSON string, which any reader turns back into the text; NULL is null. */
void ht_out_json(struct ht_out *out, const char *text);
/* Written for a Markdown paragraph or table cell. */
void ht_out_md(struct ht_out *out, const char *text);

#endif
