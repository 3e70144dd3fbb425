/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repr.c - JSON text as Python's repr of the value.
 *
 * ASTRA-sim cuts two characters at each end of a metadata node's values, ['...'], and reads the rest as JSON, so the
 * form matters. Strings are in single quotes unless they hold one and no double quote.
 */
#include "et/et_convert.h"

#include "base/mem.h"
#include "et/et_args.h"
#include "base/number.h"
#include "json/json_text.h"

#include <stdio.h>
#include <string.h>

static bool append(struct ht_mem *mem, struct ht_vec *text, const char *bytes, size_t n)
{
	if (!ht_vec_reserve(mem, text, 1, n + 1))
		return false;
	memcpy((char *)text->data + text->n, bytes, n);
	text->n += n;
	return true;
}

static bool append_string(struct ht_mem *mem, struct ht_vec *text, const char *body, size_t n)
{
	char *decoded = ht_mem_alloc(mem, 3 * n + 1);
	if (!decoded)
		return false;
	size_t n_bad, n_decoded = ht_json_decode(body, n, decoded, &n_bad);
	bool has_single = memchr(decoded, '\'', n_decoded),
	     has_double = memchr(decoded, '"', n_decoded);
	char quote = has_single && !has_double ? '"' : '\'';
	bool ok = append(mem, text, &quote, 1);
	for (size_t i = 0; i < n_decoded && ok; i++) {
		unsigned char c = (unsigned char)decoded[i];
		char escape[8];
		if (c == '\\' || c == (unsigned char)quote)
			snprintf(escape, sizeof escape, "\\%c", c);
		else if (c == '\n' || c == '\r' || c == '\t')
			snprintf(escape, sizeof escape, "\\%c",
			        c == '\n'   ? 'n'
			        : c == '\r' ? 'r'
			                    : 't');
		else if (c < ' ' || c == 0x7f)
			snprintf(escape, sizeof escape, "\\x%02x", c);
		else
			snprintf(escape, sizeof escape, "%c", c);
		ok = append(mem, text, escape, strlen(escape));
	}
	ht_mem_free(mem, decoded, 3 * n + 1);
	return ok && append(mem, text, &quote, 1);
}

static bool append_scalar(struct ht_mem *mem, struct ht_vec *text, struct ht_et_piece value)
{
	static const char *const names[][2] = { { "true", "True" }, { "false", "False" },
		{ "null", "None" } };
	char digits[40];
	for (size_t i = 0; i < 3; i++)
		if (value.n == strlen(names[i][0]) && !memcmp(value.text, names[i][0], value.n))
			return append(mem, text, names[i][1], strlen(names[i][1]));
	struct ht_number number = ht_number_parse(value.text);
	if (number.type != HT_NUMBER_F64)
		return append(mem, text, value.text, value.n);
	return append(mem, text, digits, (size_t)ht_double_print(digits, number.f));
}

/* Lists inside each other without recursion: brackets are copied, and a blank stands behind each comma. */
bool ht_et_repr(struct ht_mem *mem, struct ht_vec *text, const char *json)
{
	bool ok = true;
	for (const char *p = json; *p && ok;) {
		if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') {
			p++;
		} else if (*p == ',') {
			ok = append(mem, text, ", ", 2);
			p++;
		} else if (*p == '[' || *p == ']') {
			ok = append(mem, text, p++, 1);
		} else if (*p == '"') {
			const char *end = p + 1;
			while (*end && *end != '"')
				end += *end == '\\' && end[1] ? 2 : 1;
			ok = append_string(mem, text, p + 1, (size_t)(end - p - 1));
			p = *end ? end + 1 : end;
		} else {
			size_t n = strcspn(p, ",[]\" \n\r\t");
			ok = append_scalar(mem, text, (struct ht_et_piece){ p, n });
			p += n;
		}
	}
	return ok;
}
