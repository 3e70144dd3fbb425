/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_json.c - the dictionary of a snapshot written as JSON, as mosaic does: tuples are lists there.
 *
 * A plain parser over a window of the bytes that calls the same values as the opcodes of pickles do. It accepts
 * what Python's json module writes, NaN and Infinity with it.
 */
#include "read/snapshot.h"

#include "base/number.h"
#include "json/json_text.h"

#include <math.h>
#include <string.h>

#define MAX_TEXT   ((size_t)64 << 20)
#define MAX_NUMBER 64
#define BATCH      1000

struct parse {
	struct ht_pickle *p;
	struct ht_pk_window w;
	struct ht_vec text; /* char: of the string in hand, decoded */
	char open[256];     /* '{' or '[' */
	size_t depth;
	size_t n_items[256]; /* on the stack, of lists */
	bool is_cut;
};

static enum ht_status cut(struct parse *j)
{
	j->is_cut = true;
	return j->w.status;
}

static enum ht_status wrong(struct parse *j, const char *expected)
{
	if (!ht_pk_window_has(&j->w, 1))
		return cut(j);
	return ht_fail(j->p->ctx, HT_FORMAT, j->p->path, ht_pk_window_offset(&j->w),
	        "the file may be damaged", "the JSON of the snapshot is broken: %s expected",
	        expected);
}

static unsigned char look(struct parse *j)
{
	while (ht_pk_window_has(&j->w, 1) && memchr(" \t\r\n", *j->w.at, 4))
		j->w.at++;
	return ht_pk_window_has(&j->w, 1) ? *j->w.at : 0;
}

static enum ht_status push_string(struct parse *j)
{
	size_t n = 1, bad = 0;
	while (ht_pk_window_has(&j->w, n + 1) && j->w.at[n] != '"') {
		n += j->w.at[n] == '\\' ? 2 : 1;
		if (n > MAX_TEXT)
			return ht_pk_refuse(j->p, "a text of the snapshot is too long");
	}
	if (!ht_pk_window_has(&j->w, n + 1))
		return cut(j);
	const char *body = (const char *)j->w.at + 1;
	if (!ht_vec_reserve(j->p->ctx->mem, &j->text, 1, 3 * n))
		return ht_fail_nomem(j->p->ctx);
	size_t n_text = ht_json_decode(body, n - 1, j->text.data, &bad);
	j->w.at += n + 1;
	return ht_pk_push_str(j->p, j->text.data, n_text);
}

static enum ht_status push_number(struct parse *j)
{
	char text[MAX_NUMBER + 1];
	size_t n = 0;
	while (n < MAX_NUMBER && ht_pk_window_has(&j->w, n + 1) &&
	        (ht_is_digit((char)j->w.at[n]) || memchr("+-.eE", j->w.at[n], 5))) {
		text[n] = (char)j->w.at[n];
		n++;
	}
	text[n] = '\0';
	/* more digits may have followed */
	if (!ht_pk_window_has(&j->w, n + 1))
		return cut(j);
	struct ht_number number = ht_number_parse(text);
	if (number.type == HT_NUMBER_NONE || number.end != text + n)
		return wrong(j, "a value");
	j->w.at += n;
	return number.type == HT_NUMBER_I64   ? ht_pk_push_i64(j->p, number.i)
	       : number.type == HT_NUMBER_U64 ? ht_pk_push_u64(j->p, number.u)
	                                      : ht_pk_push_f64(j->p, number.f);
}

static enum ht_status push_word(struct parse *j)
{
	static const char *const words[] = { "null", "true", "false", "NaN", "Infinity",
		"-Infinity" };
	for (size_t i = 0; i < HT_COUNT(words); i++) {
		size_t n = strlen(words[i]), n_here = n;
		if (!ht_pk_window_has(&j->w, n))
			n_here = (size_t)(j->w.end - j->w.at);
		if (memcmp(j->w.at, words[i], n_here) != 0)
			continue;
		if (n_here < n)
			return cut(j);
		j->w.at += n;
		return i == 0  ? ht_pk_push(j->p, ht_pk_make(HT_PK_NONE, 0))
		       : i < 3 ? ht_pk_push(j->p, ht_pk_make(HT_PK_BOOL, i == 1))
		       : i < 4 ? ht_pk_push_f64(j->p, NAN)
		               : ht_pk_push_f64(j->p, i == 4 ? INFINITY : -INFINITY);
	}
	return push_number(j);
}

static enum ht_status open_container(struct parse *j, char letter)
{
	if (j->depth >= HT_COUNT(j->open))
		return ht_pk_refuse(j->p, "containers are nested deeper than 256 levels");
	j->w.at++;
	j->open[j->depth] = letter;
	j->n_items[j->depth++] = 0;
	HT_TRY(ht_pk_push_new(j->p, letter == '{' ? HT_PK_DICT : HT_PK_LIST));
	return ht_pk_push_mark(j->p);
}

static enum ht_status close_container(struct parse *j)
{
	char letter = j->open[--j->depth];
	j->w.at++;
	return ht_pk_fill_from_mark(j->p, letter == '{' ? HT_PK_DICT : HT_PK_LIST);
}

/* A value is there, or a container was closed: what may follow it? */
static enum ht_status after_value(struct parse *j)
{
	while (j->depth) {
		bool is_dict = j->open[j->depth - 1] == '{';
		unsigned char c = look(j);
		if (c == ',') {
			j->w.at++;
			/* long lists are filled in pieces, as Python's pickler does */
			if (!is_dict && ++j->n_items[j->depth - 1] % BATCH == 0) {
				HT_TRY(ht_pk_fill_from_mark(j->p, HT_PK_LIST));
				HT_TRY(ht_pk_push_mark(j->p));
			}
			return HT_OK;
		}
		if (c != (is_dict ? '}' : ']'))
			return wrong(j, is_dict ? "a comma or }" : "a comma or ]");
		HT_TRY(close_container(j));
	}
	return HT_OK;
}

static enum ht_status push_key(struct parse *j)
{
	if (look(j) != '"')
		return wrong(j, "a key");
	HT_TRY(push_string(j));
	if (j->is_cut)
		return HT_OK;
	if (look(j) != ':')
		return wrong(j, "a colon");
	j->w.at++;
	return HT_OK;
}

static enum ht_status parse_value(struct parse *j)
{
	bool in_dict = j->depth && j->open[j->depth - 1] == '{';
	if (in_dict)
		HT_TRY(push_key(j));
	if (j->is_cut)
		return HT_OK;
	unsigned char c = look(j);
	j->p->offset = ht_pk_window_offset(&j->w);
	if (!c && !ht_pk_window_has(&j->w, 1))
		return wrong(j, "a value");
	if (c == '{' || c == '[') {
		HT_TRY(open_container(j, (char)c));
		if (look(j) != (c == '{' ? '}' : ']'))
			return HT_OK;
		HT_TRY(close_container(j));
	} else {
		HT_TRY(c == '"' ? push_string(j) : push_word(j));
	}
	return j->is_cut ? HT_OK : after_value(j);
}

enum ht_status ht_snap_json(struct ht_pickle *pickle, const struct ht_pk_bytes *bytes)
{
	struct parse j = { .p = pickle, .w = { .ctx = pickle->ctx, .bytes = bytes } };
	enum ht_status status = HT_OK;
	if (ht_pk_window_has(&j.w, 3) && !memcmp(j.w.at, "\xef\xbb\xbf", 3))
		j.w.at += 3;
	do
		status = parse_value(&j);
	while (status == HT_OK && j.depth && !j.is_cut);
	pickle->is_cut = j.is_cut;
	if (status == HT_OK)
		status = j.w.status;
	ht_vec_free(pickle->ctx->mem, &j.text, 1);
	ht_pk_window_done(&j.w);
	return status;
}
