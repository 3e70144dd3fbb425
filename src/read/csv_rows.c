/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_rows.c - see csv_rows.h.
 *
 * A row is cut into cells where it stands. When it does not end within the text that is there, more text is read
 * behind it and it is cut again; text in front of it is dropped, so the buffer holds a piece and a row.
 *
 * There are two ways to cut. The index (csv_index.h) finds the ends of all cells of some text at once, as long as quotes
 * stand where they should and rows end. Where it says nothing the row is walked cell by cell, which knows what to
 * make of everything. Both give the same cells.
 */
#include "read/csv_rows.h"

#include "base/mem.h"
#include "json/block.h"

#include <strings.h>

/* Small enough to stay in a near cache until it is used. */
#define PIECE_BYTES ((size_t)256 << 10)

void ht_csv_init(struct ht_csv *csv, ht_ctx *ctx, struct ht_source *source, const char *path)
{
	*csv = (struct ht_csv){ .ctx = ctx,
		.source = source,
		.path = path,
		.piece_bytes = PIECE_BYTES,
		.make_index = ht_csv_index_best(),
		.at = HT_CSV_FRONT,
		.end = HT_CSV_FRONT,
		.buf_offset = -HT_CSV_FRONT };
}

void ht_csv_done(struct ht_csv *csv)
{
	ht_vec_free(csv->ctx->mem, &csv->buf, 1);
	ht_vec_free(csv->ctx->mem, &csv->cell_vec, sizeof(struct ht_csv_cell));
	ht_mem_free(csv->ctx->mem, csv->index, sizeof *csv->index);
}

/* The next comma, line end or zero; behind the text stands a zero. */
static const char *cell_stop(const char *p)
{
	while (*p && *p != ',' && *p != '\n')
		p++;
	return p;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct ht_csv_cell trim(const char *start, const char *end)
{
	while (start < end && is_blank(*start))
		start++;
	while (end > start && is_blank(end[-1]))
		end--;
	return (struct ht_csv_cell){ start, (size_t)(end - start) };
}

/* A quoted cell: [start, close) is between its quotes, in which n_doubled pairs stand. */
struct quoted {
	char *start, *close;
	size_t n_doubled;
};

/* The cell whose opening quote is at p; false when the text ends before it does. */
static bool find_quoted(char *p, char *limit, struct quoted *ret)
{
	*ret = (struct quoted){ .start = p + 1 };
	for (char *at = p + 1;; at += 2) {
		at = memchr(at, '"', (size_t)(limit - at));
		ret->close = at;
		if (!at || at + 1 >= limit)
			return at != NULL;
		if (at[1] != '"')
			return true;
		ret->n_doubled++;
	}
}

/* Quoted twice and no more: the quotes inside are at its ends. */
static bool is_twice_quoted(const struct quoted *q)
{
	return q->n_doubled == 2 && q->close - q->start >= 4 && !memcmp(q->start, "\"\"", 2) &&
	       !memcmp(q->close - 2, "\"\"", 2);
}

/* Without its quotes; doubled ones are made single where they stand. */
static struct ht_csv_cell unquote(const struct quoted *q)
{
	char *end = q->close;
	if (is_twice_quoted(q))
		return trim(q->start + 2, q->close - 2);
	if (q->n_doubled) {
		end = q->start;
		for (char *from = q->start; from < q->close; from++) {
			*end++ = *from;
			from += *from == '"';
		}
	}
	struct ht_csv_cell cell = trim(q->start, end);
	if (cell.n >= 2 && cell.text[0] == '"' && cell.text[cell.n - 1] == '"')
		cell = trim(cell.text + 1, cell.text + cell.n - 1);
	return cell;
}

enum cut { CUT_ROW, CUT_MORE, CUT_NOMEM };

/* Is the row that goes on at p, inside or behind a cell, whole? */
static bool row_ends(char *p, char *limit)
{
	for (struct quoted q;;) {
		p += cell_stop(p) - p;
		while (p < limit && !*p)
			p += cell_stop(p + 1) - p;
		if (p >= limit || *p == '\n')
			return p < limit;
		for (p++; p < limit && is_blank(*p);)
			p++;
		if (p < limit && *p == '"') {
			if (!find_quoted(p, limit, &q))
				return false;
			p = q.close + 1;
		}
	}
}

/* One cell at *p, which moves to what ends it. False when the row must be seen whole first. */
static bool cut_cell(struct ht_csv *csv, char **p, char *limit, bool final, struct ht_csv_cell *ret)
{
	char *start = *p, *after;
	struct quoted q;
	while (start < limit && is_blank(*start))
		start++;
	after = start;
	bool quotes = start < limit && *start == '"', closed = false;
	if (quotes) {
		closed = find_quoted(start, limit, &q);
		if (!final && (!closed || q.close + 1 >= limit))
			return false;
		after = closed ? q.close + 1 : start;
		/* what was made single cannot be read again; one look tells of all cells of the row */
		if (closed && q.n_doubled && !is_twice_quoted(&q) && !final && !csv->is_whole) {
			if (!row_ends(after, limit))
				return false;
			csv->is_whole = true;
		}
	}
	const char *stop = quotes && !closed ? limit : cell_stop(after);
	while (stop < limit && !*stop)
		stop = cell_stop(stop + 1); /* zeros inside the text are text */
	if (stop > limit)
		stop = limit;
	*ret = closed ? unquote(&q) : trim(start + (quotes && !closed), stop);
	csv->is_cut |= quotes && !closed;
	*p += stop - *p;
	return true;
}

/* Cut the row at csv->at; final: the text ends where it ends. */
static enum cut cut_row(struct ht_csv *csv, bool final)
{
	char *text = csv->buf.data, *p = text + csv->at, *limit = text + csv->end;
	struct ht_vec *vec = &csv->cell_vec;
	vec->n = 0;
	csv->is_cut = csv->is_whole = false;
	for (bool done = false; !done;) {
		if (!ht_vec_reserve(csv->ctx->mem, vec, sizeof(struct ht_csv_cell), 1))
			return CUT_NOMEM;
		struct ht_csv_cell *cell = (struct ht_csv_cell *)vec->data + vec->n;
		if (!cut_cell(csv, &p, limit, final, cell) || (!final && p >= limit))
			return CUT_MORE;
		vec->n++;
		done = p >= limit || *p == '\n';
		csv->is_cut |= p >= limit;
		p += p < limit;
	}
	csv->offset = csv->buf_offset + (int64_t)csv->at;
	csv->at = (size_t)(p - text);
	return CUT_ROW;
}

/* ---- by the index ---- */

static bool has_quote(const char *p, const char *end)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t word;
	for (; end - p >= 8; p += 8) {
		memcpy(&word, p, sizeof word);
		word ^= ones * '"';
		if ((word - ones) & ~word & (ones * 0x80))
			return true;
	}
	for (; p < end; p++)
		if (*p == '"')
			return true;
	return false;
}

/* How shapes are written. */
static bool is_thrice_quoted(const char *start, const char *end)
{
	return end - start >= 6 && !memcmp(start, "\"\"\"", 3) && !memcmp(end - 3, "\"\"\"", 3) &&
	       !has_quote(start + 3, end - 3);
}

/* A cell that starts with a quote or a blank, or ends with a blank. A quote that it starts with has its other at the
 * end. */
static struct ht_csv_cell tidy(char *start, char *end)
{
	if (*start != '"' || end == start)
		return trim(start, end);
	if (is_thrice_quoted(start, end))
		return trim(start + 3, end - 3);
	struct quoted q;
	(void)find_quoted(start, end, &q);
	return unquote(&q);
}

static inline struct ht_csv_cell cell_between(char *start, char *end)
{
	/* the last byte of an empty cell is not its own */
	const char *last = end - (end > start);
	if ((unsigned char)*start <= '"' || (unsigned char)*last <= ' ')
		return tidy(start, end);
	return (struct ht_csv_cell){ start, (size_t)(end - start) };
}

static void forget_index(struct ht_csv *csv)
{
	csv->i_line = 0;
	if (csv->index)
		csv->index->n_lines = 0;
}

/* Are there rows in the index? When there are none the text that comes is indexed. False when out of memory. */
static bool find_rows(struct ht_csv *csv, bool *ret_found)
{
	if (!csv->index)
		csv->index = ht_mem_zalloc(csv->ctx->mem, sizeof *csv->index);
	if (!csv->index)
		return false;
	if (csv->i_line == csv->index->n_lines && csv->started && csv->at < csv->end) {
		size_t n = csv->end - csv->at;
		csv->indexed = csv->at;
		csv->i_line = 0;
		csv->make_index((char *)csv->buf.data + csv->at,
		        n < HT_CSV_WINDOW ? n : HT_CSV_WINDOW, csv->index);
	}
	*ret_found = csv->i_line < csv->index->n_lines;
	return true;
}

/* The next row of the index: its stops, and where it starts in the indexed text. */
struct indexed_row {
	const uint32_t *stops;
	size_t n_cells;
	uint32_t start;
};

static struct indexed_row row_at(const struct ht_csv *csv)
{
	const struct ht_csv_index *index = csv->index;
	size_t first = csv->i_line ? index->lines[csv->i_line - 1] + 1 : 0;
	return (struct indexed_row){ index->stops + first, index->lines[csv->i_line] + 1 - first,
		(uint32_t)(csv->at - csv->indexed) };
}

static void pass_row(struct ht_csv *csv, const struct indexed_row *row)
{
	csv->at = csv->indexed + row->stops[row->n_cells - 1] + 1;
	csv->i_line++;
}

static enum cut cut_indexed(struct ht_csv *csv)
{
	struct indexed_row row = row_at(csv);
	struct ht_vec *vec = &csv->cell_vec;
	char *text = (char *)csv->buf.data + csv->indexed, *start = text + row.start;
	vec->n = 0;
	csv->is_cut = false;
	csv->offset = csv->buf_offset + (int64_t)csv->at;
	if (!ht_vec_reserve(csv->ctx->mem, vec, sizeof(struct ht_csv_cell), row.n_cells))
		return CUT_NOMEM;
	struct ht_csv_cell *cells = vec->data;
	for (; vec->n < row.n_cells; vec->n++) {
		char *end = text + row.stops[vec->n];
		cells[vec->n] = cell_between(start, end);
		start = end + 1;
	}
	pass_row(csv, &row);
	return CUT_ROW;
}

/* Move what is unused to the front and read a piece behind it. */
static enum ht_status read_more(struct ht_csv *csv)
{
	size_t left = csv->end - csv->at, n, want = csv->piece_bytes;
	if (left > HT_CSV_MAX_ROW)
		return ht_fail(csv->ctx, HT_FORMAT, csv->path, csv->buf_offset + (int64_t)csv->at,
		        "a quote may be missing", "a row of more than %zu bytes", HT_CSV_MAX_ROW);
	/* a row that did not fit is looked at again from its start: double what is there */
	if (want < left)
		want = left;
	bool is_new = !csv->buf.data;
	if (left && csv->at > HT_CSV_FRONT)
		memmove((char *)csv->buf.data + HT_CSV_FRONT, (char *)csv->buf.data + csv->at,
		        left);
	csv->buf.n = is_new ? 0 : HT_CSV_FRONT + left;
	if (!ht_vec_reserve(csv->ctx->mem, &csv->buf, 1, HT_CSV_FRONT + want + HT_PADDING))
		return ht_fail_nomem(csv->ctx);
	char *text = csv->buf.data;
	if (is_new)
		memset(text, 0, HT_CSV_FRONT);
	csv->buf_offset += (int64_t)csv->at - HT_CSV_FRONT;
	csv->at = HT_CSV_FRONT;
	forget_index(csv);
	HT_TRY(ht_source_read(csv->ctx, csv->source, text + HT_CSV_FRONT + left, want, &n));
	csv->at_end = n < want;
	csv->end = csv->buf.n = HT_CSV_FRONT + left + n;
	memset(text + csv->end, 0, HT_PADDING);
	if (!csv->started && left + n >= 3 && !memcmp(text + csv->at, "\xef\xbb\xbf", 3))
		csv->at += 3;
	csv->started |= left + n >= 3 || csv->at_end;
	return HT_OK;
}

enum ht_status ht_csv_next(struct ht_csv *csv, bool *ret_more)
{
	for (bool indexed;;) {
		enum cut cut = CUT_MORE;
		if (!find_rows(csv, &indexed))
			return ht_fail_nomem(csv->ctx);
		if (indexed)
			cut = cut_indexed(csv);
		else if (csv->started && csv->at < csv->end)
			cut = cut_row(csv, csv->at_end);
		if (cut == CUT_NOMEM)
			return ht_fail_nomem(csv->ctx);
		csv->cells = csv->cell_vec.data;
		csv->n_cells = csv->cell_vec.n;
		*ret_more = cut == CUT_ROW;
		if (cut == CUT_ROW && (csv->n_cells > 1 || csv->cells[0].n))
			return HT_OK;
		if (cut == CUT_ROW)
			continue;
		if (csv->at_end)
			return HT_OK;
		HT_TRY(read_more(csv));
	}
}

/* ---- many rows ---- */

void ht_csv_rows_init(struct ht_csv_rows *rows, ht_ctx *ctx, size_t n_columns)
{
	*rows = (struct ht_csv_rows){ .ctx = ctx, .n_columns = n_columns };
	ht_arena_init(&rows->own_arena, ctx->mem);
	rows->arena = &rows->own_arena;
}

void ht_csv_rows_done(struct ht_csv_rows *rows)
{
	ht_vec_free(rows->ctx->mem, &rows->line, 1);
	ht_vec_free(rows->ctx->mem, &rows->line_stops, sizeof(uint32_t));
	ht_arena_done(&rows->own_arena);
}

struct ht_csv_cell ht_csv_rows_tidy(struct ht_csv_rows *rows, const char *start, const char *end)
{
	if (rows->is_tidy)
		return (struct ht_csv_cell){ start, (size_t)(end - start) };
	if (*start != '"' || end == start)
		return trim(start, end);
	if (is_thrice_quoted(start, end))
		return trim(start + 3, end - 3);
	if (!has_quote(start + 1, end - 1))
		return trim(start + 1, end - 1);
	/* it may be asked for again, so the text stays as it is */
	size_t n = (size_t)(end - start);
	char *copy = ht_arena_alloc(rows->arena, n + 1 + HT_PADDING);
	if (!copy) {
		rows->out_of_memory = true;
		return (struct ht_csv_cell){ start, 0 };
	}
	memcpy(copy, start, n);
	memset(copy + n, 0, 1 + HT_PADDING);
	return tidy(copy, copy + n);
}

/* Rows of the index that have just the columns, as many as there are at hand. */
static void take_indexed(struct ht_csv *csv, struct ht_csv_rows *rows)
{
	const struct ht_csv_index *index = csv->index;
	size_t first = csv->i_line ? index->lines[csv->i_line - 1] + 1 : 0, at = first;
	rows->text = (const char *)csv->buf.data + csv->indexed;
	rows->offset = csv->buf_offset + (int64_t)csv->indexed;
	rows->stops = index->stops + first;
	while (rows->n < HT_CSV_ROWS && csv->i_line < index->n_lines &&
	        index->lines[csv->i_line] + 1 == at + rows->n_columns) {
		at += rows->n_columns;
		rows->n++;
		csv->i_line++;
	}
	if (rows->n)
		csv->at = csv->indexed + index->stops[at - 1] + 1;
}

/* The row in hand as a batch: its cells one behind the other. */
static bool take_one(const struct ht_csv *csv, struct ht_csv_rows *rows)
{
	struct ht_mem *mem = csv->ctx->mem;
	size_t n = HT_CSV_FRONT + HT_PADDING;
	for (size_t i = 0; i < csv->n_cells; i++)
		n += csv->cells[i].n + 1;
	rows->line.n = rows->line_stops.n = 0;
	if (!ht_vec_reserve(mem, &rows->line, 1, n + rows->n_columns) ||
	        !ht_vec_reserve(mem, &rows->line_stops, sizeof(uint32_t), rows->n_columns + 1))
		return false;
	char *text = rows->line.data;
	uint32_t *stops = rows->line_stops.data, at = 0;
	memset(text, 0, n + rows->n_columns);
	text += HT_CSV_FRONT;
	*stops++ = UINT32_MAX;
	for (size_t i = 0; i < rows->n_columns; i++) {
		size_t n_cell = i < csv->n_cells ? csv->cells[i].n : 0;
		if (n_cell)
			memcpy(text + at, csv->cells[i].text, n_cell);
		at += (uint32_t)n_cell;
		stops[i] = at;
		text[at++] = ',';
	}
	rows->text = text;
	rows->stops = stops;
	rows->offset = csv->offset;
	rows->n = 1;
	rows->is_tidy = true;
	rows->is_cut = csv->is_cut;
	rows->is_short = csv->n_cells < rows->n_columns;
	return true;
}

enum ht_status ht_csv_next_rows(struct ht_csv *csv, struct ht_csv_rows *rows)
{
	bool found = false, more;
	rows->n = 0;
	rows->is_cut = rows->is_short = rows->is_tidy = false;
	ht_arena_done(rows->arena);
	ht_arena_init(rows->arena, csv->ctx->mem);
	if (!find_rows(csv, &found))
		return ht_fail_nomem(csv->ctx);
	/* an empty line is a row of one cell, but is to be skipped */
	if (found && rows->n_columns > 1)
		take_indexed(csv, rows);
	if (rows->n)
		return HT_OK;
	HT_TRY(ht_csv_next(csv, &more));
	return !more || take_one(csv, rows) ? HT_OK : ht_fail_nomem(csv->ctx);
}

struct ht_csv_rows ht_csv_rows_slice(const struct ht_csv_rows *rows, size_t first, size_t n)
{
	struct ht_csv_rows slice = *rows;
	slice.stops += first * rows->n_columns;
	slice.n = n;
	return slice;
}

size_t ht_csv_find(const struct ht_csv *csv, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < csv->n_cells; i++)
		if (csv->cells[i].n == n && !strncasecmp(csv->cells[i].text, name, n))
			return i;
	return SIZE_MAX;
}
