/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brief.c - see brief.h.
 */
#include "table/brief.h"
#include "table/demangle.h"
#include "table/escape.h"
#include "table/shorten.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ELLIPSIS        "\xe2\x80\xa6"
#define ELLIPSIS_BYTES  3
#define DEMANGLED_BYTES 4096
/* Columns narrower than this show the difference only. */
#define HEAD_FROM_WIDTH 14

/* A name that does not fit as it is. */
struct name {
	const char *full; /* safe, whole */
	size_t n_full;
	struct ht_brief *brief;
};

bool ht_show_name(struct ht_mem *mem, struct ht_vec *chars, const char *text, size_t n)
{
	char plain[DEMANGLED_BYTES];
	size_t n_plain = ht_demangle(text, n, plain, sizeof plain);
	return n_plain ? ht_clean(mem, chars, plain, n_plain) : ht_clean(mem, chars, text, n);
}

size_t ht_show_name_width(const char *text, size_t n)
{
	char plain[DEMANGLED_BYTES];
	size_t n_plain = ht_demangle(text, n, plain, sizeof plain);
	return n_plain ? ht_clean_width(plain, n_plain) : ht_clean_width(text, n);
}

static int compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
	return order ? order : (n_a > n_b) - (n_a < n_b);
}

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int order = compare_bytes(x->brief->text, x->brief->n, y->brief->text, y->brief->n);
	return order ? order : compare_bytes(x->full, x->n_full, y->full, y->n_full);
}

static size_t shared_front(const struct name *a, const struct name *b)
{
	size_t n = a->n_full < b->n_full ? a->n_full : b->n_full, i = 0;
	while (i < n && a->full[i] == b->full[i])
		i++;
	return i;
}

static bool joins(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (unsigned char)c >= 0x80;
}

/* What nobody reads at the front of a kernel: its type and namespaces, up to the name of the function. */
static size_t n_noise(const char *text, size_t n)
{
	static const char type[] = "void ", nameless[] = "(anonymous namespace)";
	const size_t n_type = sizeof type - 1, n_nameless = sizeof nameless - 1;
	if (n <= n_type || memcmp(text, type, n_type) != 0)
		return 0;
	size_t found = n_type;
	for (size_t i = n_type; i + 1 < n && text[i] != '<'; i++) {
		if (n - i > n_nameless && !memcmp(text + i, nameless, n_nameless))
			i += n_nameless;
		if (text[i] == '(')
			break;
		if (text[i] == ':' && i + 1 < n && text[i + 1] == ':')
			found = i + 2;
	}
	return found;
}

/* Some of the front, and the word in which the name parts from its neighbours. */
static bool show_difference(
        struct name *name, size_t differs_at, size_t width, struct ht_arena *arena)
{
	size_t from = differs_at;
	while (from && joins(name->full[from - 1]))
		from--;
	size_t head = width >= HEAD_FROM_WIDTH ? width / 3 : 0, begin = n_noise(name->full, from);
	const char *front = name->full + begin;
	size_t n_head = ht_utf8_bytes(front, from - begin, head);
	head = ht_utf8_width(front, n_head);
	/* a word that begins so early that nothing is left out between */
	const char *gap = begin + n_head < from ? ELLIPSIS : "";
	size_t room = width - head - (*gap ? 1 : 0);
	size_t n_tail = ht_utf8_bytes(name->full + from, name->n_full - from, room);
	/* the difference itself must be seen */
	if (from + n_tail <= differs_at && differs_at < name->n_full) {
		from = differs_at;
		while (((unsigned char)name->full[from] & 0xc0) == 0x80)
			from--;
		gap = ELLIPSIS;
		room = width - head - 1;
		n_tail = ht_utf8_bytes(name->full + from, name->n_full - from, room);
	}
	char *text = ht_arena_printf(
	        arena, "%.*s%s%.*s", (int)n_head, front, gap, (int)n_tail, name->full + from);
	if (!text)
		return false;
	name->brief->text = text;
	name->brief->n = strlen(text);
	name->brief->width = ht_utf8_width(text, name->brief->n);
	return true;
}

/* names are sorted by what they became, then by what they are: a name shares most with a neighbour. */
static bool tell_apart(struct name *names, size_t n, size_t width, struct ht_arena *arena)
{
	size_t *differs = ht_arena_alloc(arena, (n + 1) * sizeof *differs);
	if (!differs)
		return false;
	for (size_t i = 1; i < n; i++) {
		if (compare_bytes(names[i].brief->text, names[i].brief->n, names[i - 1].brief->text,
		            names[i - 1].brief->n) != 0)
			continue;
		size_t shared = shared_front(&names[i - 1], &names[i]) + 1;
		differs[i - 1] = differs[i - 1] > shared ? differs[i - 1] : shared;
		differs[i] = shared;
	}
	for (size_t i = 0; i < n; i++)
		if (differs[i] && !show_difference(&names[i], differs[i] - 1, width, arena))
			return false;
	return true;
}

/* The text at its full length and as shorten.h has it. */
static bool make_one(struct ht_mem *mem, const struct ht_table_pool_text *text, const char *unit,
        size_t width, struct ht_arena *arena, struct ht_vec *chars, struct name *ret_name)
{
	if (!ht_show_name(mem, chars, text->text, text->n))
		return false;
	struct ht_brief *brief = ret_name->brief;
	ret_name->n_full = chars->n;
	brief->text = ret_name->full = ht_arena_strndup(arena, chars->data, chars->n);
	brief->n = chars->n;
	brief->width = ht_utf8_width(chars->data, chars->n);
	if (!brief->text || brief->width <= width)
		return brief->text != NULL;
	char *dst = ht_arena_alloc(arena, chars->n + 5);
	if (!dst)
		return false;
	brief->n = ht_shorten_cell(unit, ret_name->full, ret_name->n_full, width, dst);
	brief->text = dst;
	brief->width = ht_utf8_width(dst, brief->n);
	return true;
}

static bool make_all(struct ht_mem *mem, const ht_table *table, size_t column, size_t width,
        struct ht_arena *arena, struct ht_vec *chars, struct ht_brief *briefs)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	struct name *names = ht_arena_alloc(arena, (table->pool.texts.n + 1) * sizeof *names);
	size_t n = 0;
	bool shortened = false;
	if (!names)
		return false;
	for (size_t row = 0; row < table->n_rows; row++) {
		uint32_t id = cells->str[row];
		if (briefs[id].text)
			continue;
		names[n].brief = &briefs[id];
		if (!make_one(mem, ht_table_pool_at(table, id), cells->meta.unit, width, arena,
		            chars, &names[n]))
			return false;
		shortened |= names[n].full != briefs[id].text;
		n++;
	}
	if (!shortened)
		return true;
	qsort(names, n, sizeof *names, compare_names);
	return tell_apart(names, n, width, arena);
}

enum ht_status ht_brief_make(ht_ctx *ctx, const ht_table *table, size_t column, size_t width,
        struct ht_arena *arena, struct ht_brief **ret_briefs)
{
	struct ht_brief *briefs = ht_arena_alloc(arena, (table->pool.texts.n + 1) * sizeof *briefs);
	struct ht_vec chars = { 0 };
	bool ok = briefs && make_all(ctx->mem, table, column, width, arena, &chars, briefs);
	ht_vec_free(ctx->mem, &chars, 1);
	*ret_briefs = briefs;
	return ok ? HT_OK : ht_fail_nomem(ctx);
}
