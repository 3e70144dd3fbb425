/*
 * ascend_cells.c - cells of large tables as args in packed columns; see ascend.h.
 *
 * A cell costs a few nanoseconds: almost all numbers are up to 15 digits with at most one point, which become a whole
 * number and a power of ten without being a double; almost all texts are among the few that their column had before.
 */
#include "read/ascend.h"

#include "base/number.h"

#define N_KNOWN 256 /* texts that a column remembers */

/* A text that was seen, by its first and last bytes. */
struct known_text {
	const char *bytes;
	uint64_t head, tail;
	uint32_t n, id;
};

enum kind { KIND_UNKNOWN, KIND_NUMBER, KIND_TEXT };

struct cell_column {
	size_t at; /* cell of the row */
	size_t to; /* column of the table */
	struct ht_table_column *column;
	uint8_t kind; /* enum kind */
	bool keeps_missing;
	/* the last short number, which is often the next one, too: 0.0 */
	uint8_t last_n, last_scale;
	uint64_t last_bytes;
	int64_t last_value;
	struct ht_ascend_column *plan;
	struct known_text *known; /* N_KNOWN */
};

struct ht_ascend_cells {
	struct ht_rows *rows;
	struct ht_ascend_plan *plan;
	struct ht_arg_table *table;
	struct cell_column *columns;
	size_t n_columns, first_extra;
	struct known_text *names;
};

/* ---- numbers ---- */

static inline uint64_t eight_bytes(const char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	return word;
}

/* The first n bytes of a word, at most eight. */
static inline uint64_t first_bytes(uint64_t word, size_t n)
{
	static const uint64_t masks[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, ~(uint64_t)0 };
	return word & masks[n < 8 ? n : 8];
}

/* A decimal of 1 to 8 bytes: value / 10^scale. The point is taken out and zeros are put in front, so that it is eight
 * digits; nothing here depends on where the point is, which cannot be guessed. */
static inline bool read_short(uint64_t word, size_t n, int64_t *ret_value, uint8_t *ret_scale)
{
	const uint64_t ones = 0x0101010101010101u;
	size_t n_digits = n, scale = 0;
	uint64_t no_point = word ^ (ones * '.');
	uint64_t point = (no_point - ones) & ~no_point & (ones * 0x80);
	if (point) {
		size_t at = (size_t)__builtin_ctzll(point) / 8;
		uint64_t before = first_bytes(word, at);
		n_digits = n - 1;
		scale = n_digits - at;
		if (!at || !scale)
			return false;
		word = before | (word >> (at * 8) >> 8) << (at * 8);
	}
	if (n_digits < 8)
		word = word << (64 - n_digits * 8) | (ones * '0') >> (n_digits * 8);
	*ret_value = ht_eight_digits_of(word);
	*ret_scale = (uint8_t)scale;
	return *ret_value >= 0;
}

/* A decimal of at most 15 digits: value / 10^scale. False for all else, be it a number or not. */
static inline bool read_decimal(
        const struct ht_csv_cell *cell, int64_t *ret_value, uint8_t *ret_scale)
{
	const char *p = cell->text, *end = p + cell->n, *point = end - 1;
	int64_t value = 0;
	if (!cell->n || cell->n > 16 || (cell->n > 1 && *p == '0' && p[1] != '.'))
		return false;
	if (cell->n <= 8)
		return read_short(
		        first_bytes(eight_bytes(p), cell->n), cell->n, ret_value, ret_scale);
	for (; p < end && ht_is_digit(*p); p++)
		value = value * 10 + (*p - '0');
	if (p < end) {
		point = p;
		if (*p++ != '.' || p == end || p == cell->text + 1)
			return false;
		for (; p < end && ht_is_digit(*p); p++)
			value = value * 10 + (*p - '0');
	} else if (cell->n > 15) {
		return false;
	}
	*ret_value = value;
	*ret_scale = (uint8_t)(end - 1 - point);
	return p == end;
}

struct ht_number ht_ascend_number(const struct ht_csv_cell *cell)
{
	int64_t value;
	uint8_t scale;
	if (!read_decimal(cell, &value, &scale))
		return ht_number_parse(cell->text);
	struct ht_number number = {
		.type = HT_NUMBER_I64, .i = value, .end = cell->text + cell->n
	};
	if (scale) {
		/* an exact quotient of two exact doubles: what the general way gives, too */
		number.type = HT_NUMBER_F64;
		number.f = (double)value / ht_pack_powers[scale];
	}
	return number;
}

/* ---- texts ---- */

/* Text is followed by at least eight bytes that can be read. */
static uint32_t find_text(
        struct ht_rows *rows, struct known_text *known, const struct ht_csv_cell *cell)
{
	size_t n = cell->n;
	uint64_t head = first_bytes(eight_bytes(cell->text), n);
	uint64_t tail = n > 8 ? eight_bytes(cell->text + n - 8) : 0;
	uint64_t hash = (head ^ (tail << 7 | tail >> 57) ^ n) * 0x9E3779B97F4A7C15u;
	struct known_text *slot = &known[hash >> 56];
	if (slot->bytes && slot->n == n && slot->head == head && slot->tail == tail &&
	        (n <= 16 || !memcmp(slot->bytes + 8, cell->text + 8, n - 16)))
		return slot->id;
	uint32_t id = ht_rows_text(rows, cell->text, n);
	size_t n_kept;
	const char *kept = ht_rows_text_at(rows, id, &n_kept);
	/* one that was repaired is another text */
	if (id != HT_NO_STR && n_kept == n && !memcmp(kept, cell->text, n))
		*slot = (struct known_text){ kept, head, tail, (uint32_t)n, id };
	return id;
}

static struct known_text *make_known(struct ht_ascend_plan *plan)
{
	struct known_text *known = ht_arena_alloc(&plan->arena, N_KNOWN * sizeof *known);
	if (known)
		memset(known, 0, N_KNOWN * sizeof *known);
	return known;
}

uint32_t ht_ascend_cells_name(struct ht_ascend_cells *cells, const struct ht_csv_cell *cell)
{
	return find_text(cells->rows, cells->names, cell);
}

/* ---- columns ---- */

static bool add_column(struct ht_ascend_cells *c, size_t at, struct ht_ascend_column *plan,
        const char *key, size_t n_key)
{
	uint32_t id = ht_rows_table_column(c->rows, key, n_key, c->table);
	struct cell_column *column = &c->columns[c->n_columns];
	if (id == UINT32_MAX)
		return !c->rows->worker.out_of_memory;
	for (size_t i = 0; i < c->n_columns; i++)
		if (c->table->columns[i].pool_id == id)
			return true; /* the same key again */
	*column = (struct cell_column){ .at = at,
		.to = c->n_columns,
		.column = &c->table->columns[c->n_columns],
		.plan = plan };
	column->keeps_missing = plan && plan->is_text;
	column->kind = column->keeps_missing ? KIND_TEXT : KIND_UNKNOWN;
	column->known = make_known(c->plan);
	c->table->columns[c->n_columns].pool_id = id;
	c->table->columns[c->n_columns].is_text = column->keeps_missing;
	c->n_columns++;
	return column->known != NULL;
}

/* Extra columns come first, as they do in the event. */
struct ht_ascend_cells *ht_ascend_cells_make(struct ht_ascend_plan *plan, struct ht_rows *rows,
        const char *const *extra, enum ht_status *ret_status)
{
	struct ht_ascend_cells *c = ht_arena_alloc(&plan->arena, sizeof *c);
	size_t n_extra = 0;
	while (extra[n_extra])
		n_extra++;
	*ret_status = HT_OK;
	if (plan->n + n_extra > HT_ARG_TABLE_COLUMNS)
		return NULL;
	if (c) {
		*c = (struct ht_ascend_cells){ .rows = rows, .plan = plan };
		c->table = ht_arg_table_new(rows->builder, plan->n + n_extra);
		c->columns =
		        ht_arena_alloc(&plan->arena, (plan->n + n_extra + 1) * sizeof *c->columns);
		c->names = make_known(plan);
	}
	bool ok = c && c->table && c->columns && c->names;
	for (size_t i = 0; ok && i < n_extra; i++)
		ok = add_column(c, SIZE_MAX, NULL, extra[i], strlen(extra[i]));
	if (ok && c->n_columns < n_extra) {
		c->table->n_columns = 0;
		return NULL;
	}
	for (size_t i = 0; ok && i < plan->n; i++)
		if (!plan->columns[i].is_used)
			ok = add_column(c, i, &plan->columns[i], plan->columns[i].key,
			        plan->columns[i].n_key);
	if (ok) {
		c->first_extra = n_extra;
		c->table->n_columns = c->n_columns;
		return c;
	}
	*ret_status = ht_fail_nomem(rows->builder->ctx);
	return NULL;
}

void ht_ascend_cells_extra(struct ht_ascend_cells *c, size_t i, int64_t value)
{
	ht_arg_table_decimal(c->table, i, value, 0);
}

/* What is no decimal of few digits. */
static void put_odd(struct ht_ascend_cells *c, struct cell_column *column,
        const struct ht_csv_cell *cell, const struct ht_number *number)
{
	struct ht_ascend_column *plan = column->plan;
	bool is_text = number->type == HT_NUMBER_NONE;
	enum ht_arg_type type = is_text ? HT_ARG_STR : HT_ARG_U64;
	if (plan->of[type] == UINT32_MAX)
		plan->of[type] = ht_rows_column(c->rows, plan->key, plan->n_key, type);
	ht_row_put(c->rows, plan->of[type],
	        is_text ? find_text(c->rows, column->known, cell) : number->u);
}

static void put_long(
        struct ht_ascend_cells *c, struct cell_column *column, const struct ht_csv_cell *cell)
{
	int64_t value;
	uint8_t scale;
	if (read_decimal(cell, &value, &scale)) {
		column->kind = KIND_NUMBER;
		ht_arg_table_decimal(c->table, column->to, value, scale);
		return;
	}
	struct ht_number number = ht_number_parse(cell->text);
	if (number.end != cell->text + cell->n)
		number.type = HT_NUMBER_NONE;
	if (column->kind == KIND_UNKNOWN) {
		column->kind = number.type == HT_NUMBER_NONE ? KIND_TEXT : KIND_NUMBER;
		c->table->columns[column->to].is_text = column->kind == KIND_TEXT;
	}
	if (column->kind == KIND_TEXT)
		ht_arg_table_text(c->table, column->to, find_text(c->rows, column->known, cell));
	else if (number.type == HT_NUMBER_I64)
		ht_arg_table_decimal(c->table, column->to, number.i, 0);
	else if (number.type == HT_NUMBER_F64)
		ht_arg_table_double(c->table, column->to, number.f);
	else
		put_odd(c, column, cell, &number);
}

/* Almost all: a number of at most eight bytes. False when it is something else. */
static inline bool put_short(
        struct ht_ascend_cells *c, struct cell_column *column, const struct ht_csv_cell *cell)
{
	size_t n = cell->n;
	uint64_t bytes = first_bytes(eight_bytes(cell->text), n);
	if (n != column->last_n || bytes != column->last_bytes) {
		bool pads = n > 1 && (bytes & 0xff) == '0' && (bytes >> 8 & 0xff) != '.';
		if (pads || !read_short(bytes, n, &column->last_value, &column->last_scale)) {
			column->last_n = 0;
			return false;
		}
		column->last_n = (uint8_t)n;
		column->last_bytes = bytes;
		column->kind = KIND_NUMBER;
	}
	ht_table_column_put(c->table, column->column, column->last_value, column->last_scale);
	return true;
}

enum ht_status ht_ascend_cells_end(struct ht_ascend_cells *c, const struct ht_csv *row)
{
	for (size_t i = c->first_extra; i < c->n_columns; i++) {
		struct cell_column *column = &c->columns[i];
		const struct ht_csv_cell *cell = &row->cells[column->at];
		if (!cell->n)
			continue;
		if (column->kind != KIND_TEXT && cell->n <= 8 && put_short(c, column, cell))
			continue;
		if (!column->keeps_missing && ht_ascend_is_missing(cell))
			continue;
		if (column->kind == KIND_TEXT)
			ht_arg_table_text(
			        c->table, column->to, find_text(c->rows, column->known, cell));
		else
			put_long(c, column, cell);
	}
	return ht_row_end_of_table(c->rows, c->table, row->offset);
}
