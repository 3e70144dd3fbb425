/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the table for a person at a terminal.
 *
 *   Kernels · 4 ranks · share of GPU busy time            title · method
 *
 *   name            n        sum   share                  labels over their columns
 *   ncclKernel_…   12    3.07 µs  12.4 %  ████▏           numbers aligned at the point, then the bar
 *   … 1 234 more rows                                     what top took away
 *   not shown: tid, pid; --wide shows all                 what the width took away
 *   empty columns not shown: stream                       columns that are null in every row
 *
 *   notes, one paragraph each
 *
 * Tables of sentences (ht_table_set_prose) are written as such: label, sentence, and the other texts below it; their
 * numbers are for programs. Layout in text_layout.c. Names are made safe by escape.c: no control byte of a trace reaches a terminal.
 */
#include "table/brief.h"
#include "table/format.h"
#include "table/text_layout.h"
#include "table/render.h"
#include "table/shorten.h"
#include "base/utf8.h"

#include <string.h>

#define DEFAULT_WIDTH 100
#define BAR_WIDTH     20
#define MIN_BAR_WIDTH 6

#define BOLD          "\033[1m"
#define DIM           "\033[2m"
#define BLUE          "\033[34m"
#define RESET         "\033[0m"

/* What one rendering needs everywhere. */
struct text {
	struct ht_out *out;
	const ht_table *table;
	const struct ht_render_options *options;
	struct ht_arena arena;
	struct ht_layout layout;
	struct ht_brief *
	        *briefs; /* by column of the layout; NULL where every name is shown whole */
	size_t *written; /* by column: bytes of a sentence that earlier lines have; SIZE_MAX: no sentences */
	struct ht_vec clean; /* chars: the safe text */
	size_t width;
	size_t bar_cells; /* 0: no bar */
	double bar_full;  /* value of a full bar */
	bool nomem;
};

static void color(const struct text *t, const char *code)
{
	if (t->options->color)
		ht_out_str(t->out, code);
}

/* The text made safe; ret_width tells its cells. NULL when out of memory. */
static const char *clean(
        struct text *t, const char *text, size_t n, size_t *ret_n, size_t *ret_width)
{
	if (!ht_show_name(t->out->ctx->mem, &t->clean, text, n)) {
		t->nomem = true;
		return NULL;
	}
	*ret_n = t->clean.n;
	*ret_width = ht_utf8_width(t->clean.data, t->clean.n);
	return t->clean.data;
}

static void next_line(struct text *t, size_t indent)
{
	ht_out_char(t->out, '\n');
	ht_out_fill(t->out, ' ', indent);
}

/* A word that begins at indent; one that is longer than a line goes on in the next ones. Answers the column after it. */
static size_t write_word(struct text *t, const char *word, size_t n, size_t indent)
{
	size_t room = t->width > indent + HT_LAYOUT_MIN_TEXT ? t->width - indent : SIZE_MAX;
	size_t width = ht_utf8_width(word, n);
	while (width > room) {
		size_t n_fit = ht_utf8_bytes(word, n, room);
		ht_out_bytes(t->out, word, n_fit);
		next_line(t, indent);
		word += n_fit;
		n -= n_fit;
		width = ht_utf8_width(word, n);
	}
	ht_out_bytes(t->out, word, n);
	return indent + width;
}

/* Whether what follows the space is the unit of the number before it. */
static bool is_before_unit(const char *begin, const char *space, const char *end)
{
	static const char *const units[] = { "%", "ns", "\xc2\xb5s", "ms", "s", "B", "KiB", "MiB",
		"GiB", "TiB", "GB/s" };
	if (space == begin || space[-1] < '0' || space[-1] > '9')
		return false;
	size_t n = 0, n_left = (size_t)(end - space - 1);
	while (n < n_left && !strchr(" ,;:.)", space[1 + n]))
		n++;
	for (size_t i = 0; i < HT_COUNT(units); i++)
		if (n == strlen(units[i]) && !memcmp(space + 1, units[i], n))
			return true;
	return false;
}

/* The end of a word; a number and its unit are one. */
static const char *end_of_word(const char *word, const char *end)
{
	const char *space = word;
	do {
		const char *next = memchr(space + 1, ' ', (size_t)(end - space - 1));
		space = next ? next : end;
	} while (space < end && is_before_unit(word, space, end));
	return space;
}

/* Words broken into lines of at most the width, further lines begin at indent; no word is cut that fits a line. */
/* Lines of more than that are hard to read, however wide the terminal. */
static size_t wrap_width(const struct text *t)
{
	return t->width < DEFAULT_WIDTH ? t->width : DEFAULT_WIDTH;
}

static void write_wrapped(
        struct text *t, const char *text, size_t n_text, size_t column, size_t indent)
{
	size_t n, width;
	const char *at = clean(t, text, n_text, &n, &width);
	if (!at)
		return;
	for (const char *end = at + n, *word_end; at < end; at = word_end) {
		const char *word = at;
		while (word < end && *word == ' ')
			word++;
		word_end = word < end ? end_of_word(word, end) : end;
		size_t n_space = (size_t)(word - at), n_word = (size_t)(word_end - word);
		width = ht_utf8_width(word, n_word);
		if (column > indent && column + n_space + width > wrap_width(t)) {
			next_line(t, indent);
			column = indent;
		} else {
			ht_out_fill(t->out, ' ', n_space);
			column += n_space;
		}
		if (column == indent) {
			column = write_word(t, word, n_word, indent);
		} else {
			ht_out_bytes(t->out, word, n_word);
			column += width;
		}
	}
	ht_out_char(t->out, '\n');
}

static void write_title(struct text *t)
{
	size_t n, width;
	const char *title = clean(t, t->table->title, strlen(t->table->title), &n, &width);
	if (!title || !n)
		return;
	color(t, BOLD);
	ht_out_bytes(t->out, title, n);
	color(t, RESET);
	if (t->table->method[0]) {
		ht_out_str(t->out, " · ");
		write_wrapped(t, t->table->method, strlen(t->table->method), width + 3, 0);
	} else {
		ht_out_char(t->out, '\n');
	}
	ht_out_char(t->out, '\n');
}

/* Blanks are written before the next text, never at the end of a line. A text may be wider than a column that is not
 * padded to the widest of all. */
static void write_shown(struct text *t, const struct ht_layout_column *col, const char *shown,
        size_t n, size_t width, size_t *pending)
{
	size_t room = width < col->width ? col->width - width : 0;
	size_t before = col->is_text ? 0 : room;
	ht_out_fill(t->out, ' ', *pending + before);
	ht_out_bytes(t->out, shown, n);
	*pending = room - before;
}

static void write_text(struct text *t, const struct ht_layout_column *col, const char *text,
        size_t n, size_t *pending)
{
	size_t n_shown, width;
	const char *shown = clean(t, text, n, &n_shown, &width);
	if (!shown)
		return;
	if (width <= col->width || col->overflows) {
		write_shown(t, col, shown, n_shown, width, pending);
		return;
	}
	/* a label over a column that shrank below it */
	char *brief = ht_arena_alloc(&t->arena, n_shown + 4);
	if (!brief) {
		t->nomem = true;
		return;
	}
	n_shown = ht_shorten(shown, n_shown, col->width, brief);
	write_shown(t, col, brief, n_shown, ht_utf8_width(brief, n_shown), pending);
}

static void write_name(
        struct text *t, const struct ht_layout_column *col, uint32_t id, size_t *pending)
{
	const struct ht_brief *briefs = t->briefs[col - t->layout.columns];
	if (briefs) {
		write_shown(t, col, briefs[id].text, briefs[id].n, briefs[id].width, pending);
		return;
	}
	const struct ht_table_pool_text *text = ht_table_pool_at(t->table, id);
	write_text(t, col, text->text, text->n, pending);
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
	/* numbers and names come first: the bar has what they leave */
	size_t used = t->layout.width + HT_LAYOUT_GAP;
	bool has_bar = t->options->bars && t->table->bar < ht_n_columns(t->table);
	if (has_bar && (t->options->wide || t->width >= used + MIN_BAR_WIDTH))
		t->bar_cells = t->options->wide || t->width - used > BAR_WIDTH ? BAR_WIDTH
		                                                               : t->width - used;
	t->bar_full = 1;
	if (!t->bar_cells || ht_cells_at(t->table, t->table->bar)->meta.type == HT_RATIO)
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
	size_t n = (size_t)(share * (double)t->bar_cells * 8 + 0.5);
	if (!n)
		return;
	ht_out_fill(t->out, ' ', pending);
	color(t, BLUE);
	for (size_t i = 0; i < n / 8; i++)
		ht_out_str(t->out, "█");
	ht_out_str(t->out, eighths[n % 8]);
	color(t, RESET);
}

/* Bytes of the words that fit, at least one; of a word that is too long, what fits. */
static size_t line_of(const char *text, size_t n, size_t width)
{
	size_t cells = 0, end = 0;
	for (const char *at = text; at < text + n;) {
		const char *here = at;
		uint32_t code = ht_utf8_next(&at);
		if (cells++ == width)
			return end ? end : (size_t)(here - text);
		if (code == ' ')
			end = (size_t)(here - text);
	}
	return n;
}

/* The next line of a sentence. True when there is another after it. */
static bool write_sentence(
        struct text *t, const struct ht_layout_column *col, uint32_t id, size_t *pending)
{
	const struct ht_table_pool_text *text = ht_table_pool_at(t->table, id);
	size_t *at = &t->written[col - t->layout.columns], n, width;
	const char *shown = clean(t, text->text, text->n, &n, &width);
	if (!shown || *at >= n) {
		*pending += col->width;
		return false;
	}
	size_t n_line = line_of(shown + *at, n - *at, col->width);
	write_shown(t, col, shown + *at, n_line, ht_utf8_width(shown + *at, n_line), pending);
	*at += n_line;
	while (*at < n && shown[*at] == ' ')
		(*at)++;
	return *at < n;
}

static void write_cell(
        struct text *t, const struct ht_layout_column *col, size_t row, size_t *pending)
{
	const struct ht_cells *cells = ht_cells_at(t->table, col->column);
	char buf[HT_FORMAT_BYTES];
	if (!col->is_text)
		write_number(t, col, row, pending);
	else if (cells->meta.type == HT_STR && !ht_cell_is_null(cells, row))
		write_name(t, col, cells->str[row], pending);
	else
		write_text(t, col, buf, ht_format_human(buf, cells, row), pending);
}

/* One line of a row; sentences may need more. */
static bool write_line(struct text *t, size_t row, bool first)
{
	size_t pending = 0;
	bool more = false;
	for (size_t i = 0; i < t->layout.n_columns; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		const struct ht_cells *cells = ht_cells_at(t->table, col->column);
		if (!col->shown)
			continue;
		if (t->written[i] != SIZE_MAX && !ht_cell_is_null(cells, row))
			more |= write_sentence(t, col, cells->str[row], &pending);
		else if (first)
			write_cell(t, col, row, &pending);
		else
			pending += col->width;
		pending += HT_LAYOUT_GAP;
	}
	if (first && t->bar_cells)
		write_bar(t, row, pending);
	ht_out_char(t->out, '\n');
	return more;
}

static void write_row(struct text *t, size_t row)
{
	for (size_t i = 0; i < t->layout.n_columns; i++)
		if (t->written[i] != SIZE_MAX)
			t->written[i] = 0;
	bool first = true;
	while (write_line(t, row, first))
		first = false;
}

/* ---- prose: a label, its sentence, and what else is text below it ---- */

static const struct ht_table_pool_text *text_at(const struct text *t, size_t column, size_t row)
{
	const struct ht_cells *cells = ht_cells_at(t->table, column);
	if (cells->meta.type != HT_STR || ht_cell_is_null(cells, row))
		return NULL;
	return ht_table_pool_at(t->table, cells->str[row]);
}

static size_t widest_label(struct text *t)
{
	size_t widest = 0, n, width;
	for (size_t row = 0; row < t->table->n_rows; row++) {
		const struct ht_table_pool_text *label = text_at(t, 0, row);
		if (label && clean(t, label->text, label->n, &n, &width) && width > widest)
			widest = width;
	}
	return widest;
}

/* "evidence 0:12, 2:7 · next stragglers" */
static void write_particulars(struct text *t, size_t row, size_t indent)
{
	struct ht_vec line = { 0 };
	struct ht_mem *mem = t->out->ctx->mem;
	for (size_t column = 2; column < ht_n_columns(t->table); column++) {
		const struct ht_table_pool_text *more = text_at(t, column, row);
		const char *label = ht_cells_at(t->table, column)->label;
		if (ht_cells_at(t->table, column)->meta.role == HT_DETAIL)
			continue;
		const char *before = line.n ? " · " : "";
		size_t n_before = strlen(before), n_label = strlen(label);
		if (!more || !more->n)
			continue;
		if (!ht_vec_reserve(mem, &line, 1, n_before + n_label + 1 + more->n)) {
			t->nomem = true;
			break;
		}
		char *to = (char *)line.data + line.n;
		memcpy(to, before, n_before);
		memcpy(to + n_before, label, n_label);
		to[n_before + n_label] = ' ';
		memcpy(to + n_before + n_label + 1, more->text, more->n);
		line.n += n_before + n_label + 1 + more->n;
	}
	if (line.n) {
		color(t, DIM);
		ht_out_fill(t->out, ' ', indent);
		write_wrapped(t, line.data, line.n, indent, indent);
		color(t, RESET);
	}
	ht_vec_free(mem, &line, 1);
}

static void write_prose(struct text *t)
{
	size_t indent = widest_label(t) + HT_LAYOUT_GAP;
	for (size_t row = 0; row < t->table->n_rows && !ht_out_failed(t->out) && !t->nomem; row++) {
		const struct ht_table_pool_text *label = text_at(t, 0, row);
		const struct ht_table_pool_text *sentence = text_at(t, 1, row);
		size_t n = 0, width = 0;
		const char *shown = label ? clean(t, label->text, label->n, &n, &width) : NULL;
		color(t, BOLD);
		if (shown)
			ht_out_bytes(t->out, shown, n);
		color(t, RESET);
		ht_out_fill(t->out, ' ', indent - width);
		if (sentence)
			write_wrapped(t, sentence->text, sentence->n, indent, indent);
		else
			ht_out_char(t->out, '\n');
		write_particulars(t, row, indent);
	}
}

/* "before a, b, c" of the columns left out for want of values, or of room. */
static void write_left_out(struct text *t, const char *before, bool empty, const char *after)
{
	struct ht_mem *mem = t->out->ctx->mem;
	struct ht_vec line = { 0 };
	bool ok = true;
	for (size_t i = 0; ok && i < t->layout.n_columns; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		if (col->shown || col->is_empty != empty)
			continue;
		const char *name = ht_cells_at(t->table, col->column)->label;
		const char *lead = line.n ? ", " : before;
		size_t n_lead = strlen(lead), n_name = strlen(name);
		ok = ht_vec_reserve(mem, &line, 1, n_lead + n_name + strlen(after) + 1);
		if (!ok)
			break;
		memcpy((char *)line.data + line.n, lead, n_lead);
		memcpy((char *)line.data + line.n + n_lead, name, n_name);
		line.n += n_lead + n_name;
	}
	t->nomem |= !ok;
	if (ok && line.n) {
		memcpy((char *)line.data + line.n, after, strlen(after) + 1);
		write_wrapped(t, line.data, strlen(line.data), 0, 0);
	}
	ht_vec_free(mem, &line, 1);
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
	if (t->table->n_rows && t->layout.n_left_out)
		write_left_out(t, "not shown: ", false, "; --wide shows all");
	if (t->layout.n_empty)
		write_left_out(t, "empty columns not shown: ", true, "");
	color(t, RESET);
	if (t->table->notes.n)
		ht_out_char(t->out, '\n');
	for (size_t i = 0; i < t->table->notes.n; i++)
		write_wrapped(
		        t, ht_table_note(t->table, i), strlen(ht_table_note(t->table, i)), 0, 0);
}

/* Longer texts are no sentences. */
#define SENTENCE_BYTES 2000

/* Sentences are wrapped, names are shortened: every text of several words, and none of C++. */
static bool has_sentences(const ht_table *table, size_t column)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	bool any = false;
	for (size_t row = 0; row < table->n_rows; row++) {
		if (ht_cell_is_null(cells, row))
			continue;
		const struct ht_table_pool_text *text = ht_table_pool_at(table, cells->str[row]);
		if (text->n > SENTENCE_BYTES || !memchr(text->text, ' ', text->n) ||
		        strstr(text->text, "::") || strpbrk(text->text, "<>{}|"))
			return false;
		any = true;
	}
	return any;
}

static enum ht_status lay_out(struct text *t)
{
	ht_ctx *ctx = t->out->ctx;
	size_t room = t->options->wide ? SIZE_MAX : t->width;
	HT_TRY(ht_layout_make(ctx, t->table, room, &t->arena, &t->layout));
	prepare_bar(t);
	size_t n = t->layout.n_columns;
	t->briefs = ht_arena_alloc(&t->arena, (n + 1) * sizeof *t->briefs);
	t->written = ht_arena_alloc(&t->arena, (n + 1) * sizeof *t->written);
	if (!t->briefs || !t->written)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_layout_column *col = &t->layout.columns[i];
		t->written[i] = SIZE_MAX;
		if (!col->shown || !col->may_shrink || col->overflows || col->width >= col->whole)
			continue;
		if (has_sentences(t->table, col->column))
			t->written[i] = 0;
		else
			HT_TRY(ht_brief_make(
			        ctx, t->table, col->column, col->width, &t->arena, &t->briefs[i]));
	}
	return HT_OK;
}

enum ht_status ht_render_text(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	struct text t = { .out = out, .table = table, .options = options };
	ht_ctx *ctx = out->ctx;
	t.width = options->width > 0 ? (size_t)options->width : DEFAULT_WIDTH;
	ht_arena_init(&t.arena, ctx->mem);
	enum ht_status status = lay_out(&t);
	if (status == HT_OK) {
		if (!options->no_title)
			write_title(&t);
		bool prose = table->prose && ht_n_columns(table) > 1;
		if (prose) {
			write_prose(&t);
			t.layout.n_left_out = t.layout.n_empty = 0;
		} else if (table->n_rows) {
			write_header(&t);
		}
		for (size_t row = 0;
		        !prose && row < table->n_rows && !ht_out_failed(out) && !t.nomem; row++)
			write_row(&t, row);
		write_foot(&t);
	}
	ht_vec_free(ctx->mem, &t.clean, 1);
	ht_arena_done(&t.arena);
	return t.nomem ? ht_fail_nomem(ctx) : status;
}
