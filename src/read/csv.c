/*
 * csv.c - see csv.h.
 *
 * A row is cut into cells where it stands. When it does not end within the text that is there, more text is read
 * behind it and it is cut again; text in front of it is dropped, so the buffer holds a piece and a row.
 */
#include "read/csv.h"

#include "json/block.h"

#include <strings.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define PIECE_BYTES ((size_t)1 << 20)

void ht_csv_init(struct ht_csv *csv, ht_ctx *ctx, struct ht_source *source, const char *path)
{
	*csv = (struct ht_csv){
		.ctx = ctx, .source = source, .path = path, .piece_bytes = PIECE_BYTES
	};
}

void ht_csv_done(struct ht_csv *csv)
{
	ht_vec_free(csv->ctx->mem, &csv->buf, 1);
	ht_vec_free(csv->ctx->mem, &csv->cell_vec, sizeof(struct ht_csv_cell));
}

/* Commas, line ends and zeros of 64 bytes, bit by bit. */
static inline uint64_t find_stops(const char *p)
{
	uint64_t bits = 0;
#if defined(__SSE2__)
	const __m128i comma = _mm_set1_epi8(','), line = _mm_set1_epi8('\n');
	const __m128i zero = _mm_setzero_si128();
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i hit = _mm_or_si128(
		        _mm_or_si128(_mm_cmpeq_epi8(b, comma), _mm_cmpeq_epi8(b, line)),
		        _mm_cmpeq_epi8(b, zero));
		bits |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << i;
	}
#else
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(p[i] == ',' || p[i] == '\n' || !p[i]) << i;
#endif
	return bits;
}

/* The next comma, line end or zero; behind the text stands a zero. */
static const char *cell_stop(const char *p)
{
	uint64_t bits;
	for (; !(bits = find_stops(p)); p += 64) {
	}
	return p + __builtin_ctzll(bits);
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
		/* what was made single cannot be read again */
		if (closed && q.n_doubled && !is_twice_quoted(&q) && !final &&
		        !row_ends(after, limit))
			return false;
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

/* Most cells: no quotes, no blanks around. */
static inline bool is_plain(const char *start, const char *stop)
{
	unsigned char first = (unsigned char)*start;
	return first > ' ' && first != '"' && (stop == start || (unsigned char)stop[-1] > ' ');
}

/* The cells from p on that are plain, up to one that is not, the row's end, or as many as there is room for. Returns where
 * the next cell starts; *ret_done: the row's end was met, and that is behind it. */
static const char *cut_plain(
        const char *p, struct ht_csv_cell *cells, size_t *n, size_t cap, bool *ret_done)
{
	struct ht_csv_cell *cell = cells + *n, *last = cells + cap;
	const char *base = p;
	char stopped_by = ',';
	for (uint64_t bits = find_stops(base); cell < last && stopped_by == ','; cell++) {
		while (!bits) {
			base += 64;
			bits = find_stops(base);
		}
		const char *stop = base + __builtin_ctzll(bits);
		bits &= bits - 1;
		stopped_by = *stop;
		if (!is_plain(p, stop) || !stopped_by)
			break;
		cell->text = p;
		cell->n = (size_t)(stop - p);
		p = stop + 1;
	}
	*n = (size_t)(cell - cells);
	*ret_done = stopped_by == '\n' && cell > cells && p[-1] == '\n';
	return p;
}

/* Cut the row at csv->at; final: the text ends where it ends. */
static enum cut cut_row(struct ht_csv *csv, bool final)
{
	char *text = csv->buf.data, *p = text + csv->at, *limit = text + csv->end;
	struct ht_vec *vec = &csv->cell_vec;
	vec->n = 0;
	csv->is_cut = false;
	for (bool done = false; !done;) {
		if (vec->n == vec->cap &&
		        !ht_vec_reserve(csv->ctx->mem, vec, sizeof(struct ht_csv_cell), 1))
			return CUT_NOMEM;
		p += cut_plain(p, vec->data, &vec->n, vec->cap, &done) - p;
		if (done || vec->n == vec->cap)
			continue;
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
	if (left && csv->at)
		memmove(csv->buf.data, (char *)csv->buf.data + csv->at, left);
	csv->buf.n = left;
	if (!ht_vec_reserve(csv->ctx->mem, &csv->buf, 1, want + HT_PADDING))
		return ht_fail_nomem(csv->ctx);
	char *text = csv->buf.data;
	csv->buf_offset += (int64_t)csv->at;
	csv->at = 0;
	HT_TRY(ht_source_read(csv->ctx, csv->source, text + left, want, &n));
	csv->at_end = n < want;
	csv->end = csv->buf.n = left + n;
	memset(text + csv->end, 0, HT_PADDING);
	if (!csv->started && csv->end >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		csv->at = 3;
	csv->started |= csv->end >= 3 || csv->at_end;
	return HT_OK;
}

enum ht_status ht_csv_next(struct ht_csv *csv, bool *ret_more)
{
	for (;;) {
		enum cut cut = CUT_MORE;
		if (csv->started && csv->at < csv->end)
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

size_t ht_csv_find(const struct ht_csv *csv, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < csv->n_cells; i++)
		if (csv->cells[i].n == n && !strncasecmp(csv->cells[i].text, name, n))
			return i;
	return SIZE_MAX;
}
