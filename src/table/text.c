/*
 * text.c - the table for a person at a terminal.
 *
 *   Kernels · 4 ranks · share of GPU busy time            title · method
 *
 *   name            n        sum   share                  labels over their columns
 *   ncclKernel_…   12    3.07 µs  12.4 %  ████▏           numbers aligned at the point, then the bar
 *   … 1 234 more rows                                     what top took away
 *   not shown: tid, pid; --wide shows all                 what the width took away
 *
 *   notes, one paragraph each
 *
 * Layout in layout.c. Names are made safe by escape.c: no control byte of a trace reaches a terminal.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/layout.h"
#include "table/render.h"
#include "table/shorten.h"
#include "table/utf8.h"

#include <string.h>

#define DEFAULT_WIDTH 100
#define BAR_WIDTH     20

#define BOLD          "\033[1m"
#define DIM           "\033[2m"
#define BLUE          "\033[34m"
#define RESET         "\033[0m"

/* What one rendering needs everywhere. */
struct text {
	struct ht_out *out;
	const ht_table *table;
	const struct ht_render_options *options;
	struct ht_layout layout;
	struct ht_vec clean, brief; /* chars: the safe text, and the shortened one */
	size_t width;
	bool has_bar;
	double bar_full; /* value of a full bar */
	bool nomem;
};

static void color(const struct text *t, const char *code)
{
	if (t->options->color)
		ht_out_str(t->out, code);
}

/* The text made safe and no wider than width; ret_width tells its cells. NULL when out of memory. */
static const char *fit(
        struct text *t, const char *text, size_t n, size_t width, size_t *ret_n, size_t *ret_width)
{
	struct ht_mem *mem = t->out->ctx->mem;
	if (!ht_clean(mem, &t->clean, text, n)) {
		t->nomem = true;
		return NULL;
	}
	*ret_n = t->clean.n;
	*ret_width = ht_utf8_width(t->clean.data, t->clean.n);
	if (*ret_width <= width)
		return t->clean.data;
	t->brief.n = 0;
	if (!ht_vec_reserve(mem, &t->brief, 1, t->clean.n + 4)) {
		t->nomem = true;
		return NULL;
	}
	*ret_n = ht_shorten(t->clean.data, t->clean.n, width, t->brief.data);
	*ret_width = ht_utf8_width(t->brief.data, *ret_n);
	return t->brief.data;
}

/* Words broken into lines of at most the width; no word is cut. */
static void write_wrapped(struct text *t, const char *text, size_t column)
{
	size_t n, width;
	const char *at = fit(t, text, strlen(text), SIZE_MAX, &n, &width);
	if (!at)
		return;
	for (const char *end = at + n, *word_end; at < end; at = word_end) {
		const char *word = at;
		while (word < end && *word == ' ')
			word++;
		word_end = memchr(word, ' ', (size_t)(end - word));
		if (!word_end)
			word_end = end;
		size_t n_space = (size_t)(word - at), n_word = (size_t)(word_end - word);
		width = ht_utf8_width(word, n_word);
		if (column && column + n_space + width > t->width && !t->options->wide) {
			ht_out_char(t->out, '\n');
			column = 0;
		} else {
			ht_out_fill(t->out, ' ', n_space);
			column += n_space;
		}
		ht_out_bytes(t->out, word, n_word);
		column += width;
	}
	ht_out_char(t->out, '\n');
}

static void write_title(struct text *t)
{
	size_t n, width;
	const char *title = fit(t, t->table->title, strlen(t->table->title), SIZE_MAX, &n, &width);
	if (!title || !n)
		return;
	color(t, BOLD);
	ht_out_bytes(t->out, title, n);
	color(t, RESET);
	if (t->table->method[0]) {
		ht_out_str(t->out, " · ");
		write_wrapped(t, t->table->method, width + 3);
	} else {
		ht_out_char(t->out, '\n');
	}
	ht_out_char(t->out, '\n');
}

/* Blanks are written before the next text, never at the end of a line. */
static void write_text(struct text *t, const struct ht_layout_column *col, const char *text,
        size_t n, size_t *pending)
{
	size_t n_shown, width;
	const char *shown = fit(t, text, n, col->width, &n_shown, &width);
	if (!shown)
		return;
	size_t before = col->is_text ? 0 : col->width - width;
	ht_out_fill(t->out, ' ', *pending + before);
	ht_out_bytes(t->out, shown, n_shown);
	*pending = col->width - width - before;
}

static void write_number(
        struct text *t, const struct ht_layout_column *col, size_t row, size_t *pending)
{
	char buf[HT_FORMAT_BYTES];
	size_t n = ht_format_human(buf, ht_cells_at(t->table, col->column), row), n_int, n_frac,
	       n_unit;
	ht_layout_split(buf, n, &n_int, &n_frac, &n_unit);
	size_t parts = col->n_int + col->n_frac + col->n_unit;
	ht_out_fill(t->out, ' ', *pending + (col->width - parts) + (col->n_int - n_int));
	const char *space = memchr(buf, ' ', n);
	size_t n_number = space ? (size_t)(space - buf) : n;
	ht_out_bytes(t->out, buf, n_number);
	*pending = col->n_frac - n_frac;
	if (space) {
		ht_out_fill(t->out, ' ', *pending);
		ht_out_bytes(t->out, space, n - n_number);
		*pending = 0;
	}
	*pending += col->n_unit - n_unit;
}

static void write_header(struct text *t)
{
	size_t pending = 0;
	color(t, DIM);
	for (size_t i = 0; i < t->layout.n_columns; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		if (!col->shown)
			continue;
		const char *label = ht_cells_at(t->table, col->column)->label;
		write_text(t, col, label, strlen(label), &pending);
		pending += HT_LAYOUT_GAP;
	}
	color(t, RESET);
	ht_out_char(t->out, '\n');
}

static double bar_value(const struct text *t, size_t row)
{
	const struct ht_cells *cells = ht_cells_at(t->table, t->table->bar);
	if (ht_cell_is_null(cells, row) || cells->meta.type == HT_STR)
		return 0;
	return ht_type_is_f64(cells->meta.type) ? cells->f64[row] : (double)cells->i64[row];
}

static void prepare_bar(struct text *t)
{
	t->has_bar = t->options->bars && t->table->bar < ht_n_columns(t->table);
	t->bar_full = 1;
	if (!t->has_bar || ht_cells_at(t->table, t->table->bar)->meta.type == HT_RATIO)
		return;
	t->bar_full = 0;
	for (size_t row = 0; row < t->table->n_rows; row++)
		if (bar_value(t, row) > t->bar_full)
			t->bar_full = bar_value(t, row);
}

static void write_bar(struct text *t, size_t row, size_t pending)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	double share = t->bar_full > 0 ? bar_value(t, row) / t->bar_full : 0;
	share = share < 0 ? 0 : share > 1 ? 1 : share;
	size_t n = (size_t)(share * BAR_WIDTH * 8 + 0.5);
	if (!n)
		return;
	ht_out_fill(t->out, ' ', pending);
	color(t, BLUE);
	for (size_t i = 0; i < n / 8; i++)
		ht_out_str(t->out, "█");
	ht_out_str(t->out, eighths[n % 8]);
	color(t, RESET);
}

static void write_row(struct text *t, size_t row)
{
	size_t pending = 0;
	for (size_t i = 0; i < t->layout.n_columns; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		if (!col->shown)
			continue;
		const struct ht_cells *cells = ht_cells_at(t->table, col->column);
		char buf[HT_FORMAT_BYTES];
		if (!col->is_text) {
			write_number(t, col, row, &pending);
		} else if (cells->meta.type == HT_STR && !ht_cell_is_null(cells, row)) {
			const struct ht_table_pool_text *text =
			        ht_table_pool_at(t->table, cells->str[row]);
			write_text(t, col, text->text, text->n, &pending);
		} else {
			size_t n = ht_format_human(buf, cells, row);
			write_text(t, col, buf, n, &pending);
		}
		pending += HT_LAYOUT_GAP;
	}
	if (t->has_bar)
		write_bar(t, row, pending);
	ht_out_char(t->out, '\n');
}

static void write_left_out(struct text *t)
{
	const char *before = "not shown: ";
	for (size_t i = 0; i < t->layout.n_columns; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		size_t n, width;
		if (col->shown)
			continue;
		const char *name = ht_cells_at(t->table, col->column)->meta.name;
		const char *shown = fit(t, name, strlen(name), SIZE_MAX, &n, &width);
		ht_out_str(t->out, before);
		if (shown)
			ht_out_bytes(t->out, shown, n);
		before = ", ";
	}
	ht_out_str(t->out, "; --wide shows all\n");
}

static void write_foot(struct text *t)
{
	char buf[HT_FORMAT_BYTES];
	color(t, DIM);
	if (!t->table->n_rows && ht_n_columns(t->table))
		ht_out_str(t->out, "no rows\n");
	if (t->table->n_hidden) {
		ht_out_str(t->out, "… ");
		ht_out_bytes(t->out, buf, ht_format_count(buf, t->table->n_hidden));
		ht_out_str(t->out, t->table->n_hidden == 1 ? " more row\n" : " more rows\n");
	}
	if (t->layout.n_left_out)
		write_left_out(t);
	color(t, RESET);
	if (t->table->notes.n)
		ht_out_char(t->out, '\n');
	for (size_t i = 0; i < t->table->notes.n; i++)
		write_wrapped(t, ht_table_note(t->table, i), 0);
}

enum ht_status ht_render_text(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	struct text t = { .out = out, .table = table, .options = options };
	ht_ctx *ctx = out->ctx;
	t.width = options->width > 0 ? (size_t)options->width : DEFAULT_WIDTH;
	prepare_bar(&t);
	size_t bar = t.has_bar ? BAR_WIDTH + HT_LAYOUT_GAP : 0;
	size_t room = options->wide ? SIZE_MAX : t.width > bar ? t.width - bar : 1;
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = ht_layout_make(ctx, table, room, &arena, &t.layout);
	if (status == HT_OK) {
		if (!options->no_title)
			write_title(&t);
		if (table->n_rows)
			write_header(&t);
		for (size_t row = 0; row < table->n_rows && !out->failed && !t.nomem; row++)
			write_row(&t, row);
		write_foot(&t);
	}
	ht_vec_free(ctx->mem, &t.clean, 1);
	ht_vec_free(ctx->mem, &t.brief, 1);
	ht_arena_done(&arena);
	return t.nomem ? ht_fail_nomem(ctx) : status;
}
