/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_cells.c - cells of large tables as args in packed columns; see ascend.h.
 *
 * A cell costs a few nanoseconds. Cells come many rows at once and are looked at column by column, because those of a
 * column are alike and what they will be can be guessed. Almost all numbers are up to 15 digits with at most one point,
 * which become a whole number and a power of ten without being a double; for texts see ascend_texts.h.
 */
#include "read/ascend.h"

#include "base/number.h"
#include "read/ascend_texts.h"
#include "read/decimals.h"

enum kind { KIND_UNKNOWN, KIND_NUMBER, KIND_TEXT, KIND_GROUPED };

struct cell_column {
	size_t at;    /* cell of the row */
	size_t to;    /* column of the table */
	uint8_t kind; /* enum kind */
	bool keeps_missing;
	struct ht_ascend_column *plan;
	struct ht_known_texts *known; /* NULL until there is a text */
};

/* Columns of texts side by side. */
struct text_group {
	struct ht_ascend_texts *texts;
	size_t first, n;
};

/* A cell that is of another type than its column: it has one of its own. */
struct odd_cell {
	uint64_t value;
	uint32_t column;
	uint32_t next; /* of the same row, counted from 1; 0: none */
};

#define ROW_WORDS (HT_CSV_ROWS / 64)

/* Some rows of a batch. */
struct chosen {
	uint64_t has[ROW_WORDS];
	size_t n, n_others;
	uint16_t at[HT_CSV_ROWS];            /* which rows they are */
	const uint32_t *rows[HT_CSV_ROWS];   /* their stops */
	const uint32_t *others[HT_CSV_ROWS]; /* those of the others */
};

struct ht_ascend_cells {
	struct ht_rows *rows;
	struct ht_ascend_plan *plan;
	struct ht_arg_table *table;
	struct cell_column *columns;
	size_t n_columns, first_extra;
	struct text_group *groups;
	size_t n_groups, name;        /* the cell that is the row's name */
	struct cell_column **of_cell; /* NULL: it is in no column */
	ht_decimals_fn read_decimals;
	/* of the batch in hand: which rows have a value, ROW_WORDS per column; in which that is not as in the row before */
	uint64_t *has, changed[ROW_WORDS];
	struct chosen all, some; /* of it: all rows, and some */
	const struct chosen
	        *guess;    /* one of them: those that had a value in a column of numbers before */
	uint8_t *row_has;  /* the same of one row: a byte per column */
	struct ht_vec odd; /* struct odd_cell; its first and last of a row, counted from 1 */
	uint32_t first_odd[HT_CSV_ROWS], last_odd[HT_CSV_ROWS];
};

/* ---- numbers ---- */

struct ht_number ht_ascend_number(const struct ht_csv_cell *cell)
{
	int64_t value;
	uint8_t scale;
	if (!ht_decimal_read(cell->text, cell->n, &value, &scale))
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
	*column = (struct cell_column){ .at = at, .to = c->n_columns, .plan = plan };
	column->keeps_missing = plan && plan->is_text;
	column->kind = column->keeps_missing ? KIND_TEXT : KIND_UNKNOWN;
	c->table->columns[c->n_columns].pool_id = id;
	c->table->columns[c->n_columns].is_text = column->keeps_missing;
	c->n_columns++;
	if (plan)
		c->of_cell[at] = column;
	return true;
}

static bool is_text_cell(const struct ht_ascend_cells *c, size_t at)
{
	return at == c->name || (c->of_cell[at] && c->of_cell[at]->keeps_missing);
}

static bool make_groups(struct ht_ascend_cells *c)
{
	struct ht_ascend_plan *plan = c->plan;
	for (size_t at = 0, end; at < plan->n; at = end) {
		end = at + 1;
		if (!is_text_cell(c, at))
			continue;
		while (end < plan->n && is_text_cell(c, end))
			end++;
		struct text_group *group = &c->groups[c->n_groups];
		*group = (struct text_group){
			ht_ascend_texts_make(c->rows, &plan->arena, at, end - at), at, end - at
		};
		if (!group->texts)
			return false;
		c->n_groups++;
		for (; at < end; at++)
			if (c->of_cell[at])
				c->of_cell[at]->kind = KIND_GROUPED;
	}
	return true;
}

/* Extra columns come first, as they do in the event. */
struct ht_ascend_cells *ht_ascend_cells_make(struct ht_ascend_plan *plan, struct ht_rows *rows,
        const char *const *extra, size_t name, enum ht_status *ret_status)
{
	struct ht_ascend_cells *c = ht_arena_alloc(&plan->arena, sizeof *c);
	size_t n_extra = 0;
	while (extra[n_extra])
		n_extra++;
	*ret_status = HT_OK;
	if (plan->n + n_extra > HT_ARG_TABLE_COLUMNS)
		return NULL;
	if (c) {
		*c = (struct ht_ascend_cells){ .rows = rows,
			.plan = plan,
			.name = name,
			.read_decimals = ht_decimals_best() };
		c->table = ht_arg_table_new(rows->builder, plan->n + n_extra);
		c->columns =
		        ht_arena_alloc(&plan->arena, (plan->n + n_extra + 1) * sizeof *c->columns);
		c->groups = ht_arena_alloc(&plan->arena, plan->n * sizeof *c->groups);
		c->of_cell = ht_arena_alloc(&plan->arena, plan->n * sizeof *c->of_cell);
		c->has = ht_arena_alloc(
		        &plan->arena, (plan->n + n_extra + 1) * ROW_WORDS * sizeof *c->has);
		c->row_has = ht_arena_alloc(&plan->arena, plan->n + n_extra + 1);
	}
	bool ok = c && c->table && c->columns && c->groups && c->of_cell && c->has && c->row_has;
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
	if (ok && make_groups(c)) {
		c->first_extra = n_extra;
		c->table->n_columns = c->n_columns;
		return c;
	}
	*ret_status = ht_fail_nomem(rows->builder->ctx);
	return NULL;
}

void ht_ascend_cells_done(struct ht_ascend_cells *c)
{
	for (size_t i = 0; c && i < c->n_groups; i++)
		ht_ascend_texts_done(c->groups[i].texts);
	if (c)
		ht_vec_free(c->rows->builder->mem, &c->odd, sizeof(struct odd_cell));
}

/* Rows first to first + n of a column have a value. */
static inline void note(uint64_t *has, size_t first, size_t n)
{
	for (size_t end = first + n; first < end;) {
		size_t n_own = 64 - first % 64 < end - first ? 64 - first % 64 : end - first;
		has[first / 64] |= ~(uint64_t)0 >> (64 - n_own) << first % 64;
		first += n_own;
	}
}

/* It has none after all. */
static inline size_t unnote(uint64_t *has, size_t row)
{
	has[row / 64] &= ~((uint64_t)1 << row % 64);
	return 1;
}

static inline uint64_t *has_of(struct ht_ascend_cells *c, const struct cell_column *column)
{
	return c->has + column->to * ROW_WORDS;
}

/* ---- a column of a batch ---- */

static inline uint32_t text_id(
        struct ht_ascend_cells *c, struct cell_column *column, const struct ht_csv_cell *cell)
{
	if (!column->known)
		column->known = ht_known_texts_make(&c->plan->arena);
	if (column->known)
		return ht_known_text(column->known, c->rows, cell);
	c->rows->worker.out_of_memory = true;
	return HT_NO_STR;
}

static inline bool is_missing(const struct cell_column *column, const struct ht_csv_cell *cell)
{
	return !cell->n || (!column->keeps_missing && ht_ascend_is_missing(cell));
}

static struct ht_number whole_number(const struct ht_csv_cell *cell)
{
	struct ht_number number = ht_number_parse(cell->text);
	if (number.end != cell->text + cell->n)
		number.type = HT_NUMBER_NONE;
	return number;
}

/* A text in a column of numbers, or a number beyond what these are. */
static void put_odd(struct ht_ascend_cells *c, struct cell_column *column, size_t row,
        const struct ht_csv_cell *cell, const struct ht_number *number)
{
	struct ht_ascend_column *plan = column->plan;
	bool is_text = number->type == HT_NUMBER_NONE;
	enum ht_arg_type type = is_text ? HT_ARG_STR : HT_ARG_U64;
	if (plan->of[type] == UINT32_MAX)
		plan->of[type] = ht_rows_column(c->rows, plan->key, plan->n_key, type);
	struct odd_cell odd = { is_text ? text_id(c, column, cell) : number->u, plan->of[type], 0 };
	if (!HT_VEC_PUSH(c->rows->builder->mem, &c->odd, struct odd_cell, odd)) {
		c->rows->worker.out_of_memory = true;
		return;
	}
	uint32_t own = (uint32_t)c->odd.n;
	if (c->first_odd[row])
		((struct odd_cell *)c->odd.data)[c->last_odd[row] - 1].next = own;
	else
		c->first_odd[row] = own;
	c->last_odd[row] = own;
}

/* What cannot just be written behind the others; false: the cell has no value in this column. */
static bool put_rare(struct ht_ascend_cells *c, struct cell_column *column, size_t row,
        const struct ht_csv_cell *cell)
{
	struct ht_table_column *to = &c->table->columns[column->to];
	struct ht_number number;
	int64_t value;
	uint8_t scale;
	if (is_missing(column, cell))
		return false;
	if (ht_decimal_read(cell->text, cell->n, &value, &scale)) {
		ht_table_column_put(c->table, to, value, scale);
		return true;
	}
	number = whole_number(cell);
	switch (number.type) {
	case HT_NUMBER_I64: ht_table_column_put(c->table, to, number.i, 0); return true;
	case HT_NUMBER_F64:
		memcpy(&value, &number.f, sizeof value);
		ht_table_column_put(c->table, to, value, HT_PACK_RAW);
		return true;
	case HT_NUMBER_U64:
	case HT_NUMBER_NONE: break;
	}
	put_odd(c, column, row, cell, &number);
	return false;
}

/* N/A as it is mostly written. */
static inline bool is_not_there(const struct ht_csv_rows *batch, const uint32_t *stop)
{
	uint32_t start = stop[-1] + 1;
	return *stop - start == 3 && !memcmp(batch->text + start, "N/A", 3);
}

/* Those that have a value, and the others. */
static void choose_rows(const struct ht_csv_rows *batch, const uint64_t *has, struct chosen *chosen)
{
	chosen->n = chosen->n_others = 0;
	memcpy(chosen->has, has, sizeof chosen->has);
	for (size_t row = 0; row < batch->n; row++) {
		const uint32_t *stops = batch->stops + row * batch->n_columns;
		if (has[row / 64] >> row % 64 & 1) {
			chosen->rows[chosen->n] = stops;
			chosen->at[chosen->n++] = (uint16_t)row;
		} else {
			chosen->others[chosen->n_others++] = stops;
		}
	}
}

/* Do the others have no value in a column? */
static bool are_chosen(const struct chosen *chosen, const struct ht_csv_rows *batch, size_t column)
{
	for (size_t i = 0; i < chosen->n_others; i++)
		if (!is_not_there(batch, chosen->others[i] + column))
			return false;
	return true;
}

static void put_numbers(
        struct ht_ascend_cells *c, struct cell_column *column, struct ht_csv_rows *batch)
{
	struct ht_table_column *to = &c->table->columns[column->to];
	/* rows that have no counter have no other either */
	bool is_guess = are_chosen(c->guess, batch, column->at);
	const struct chosen *chosen = is_guess ? c->guess : &c->all;
	uint64_t *has = has_of(c, column);
	size_t n_missing = 0;
	uint8_t scale;
	memcpy(has, chosen->has, sizeof chosen->has);
	for (size_t i = 0, n; i < chosen->n;) {
		int64_t *out = ht_table_column_room(to, &n, &scale);
		n = c->read_decimals(batch->text, chosen->rows + i,
		        n < chosen->n - i ? n : chosen->n - i, column->at, scale, out);
		ht_table_column_wrote(c->table, to, n);
		i += n;
		if (i < chosen->n) {
			size_t row = chosen->at[i++];
			struct ht_csv_cell cell = ht_csv_rows_cell(batch, column->at, row);
			if (!put_rare(c, column, row, &cell))
				n_missing += unnote(has, row);
		}
		for (; i < chosen->n && is_not_there(batch, chosen->rows[i] + column->at); i++)
			n_missing += unnote(has, chosen->at[i]);
	}
	if ((n_missing || !is_guess) && (chosen->n - n_missing) * 2 >= batch->n) {
		choose_rows(batch, has, &c->some);
		c->guess = &c->some;
	}
}

static void put_texts(
        struct ht_ascend_cells *c, struct cell_column *column, struct ht_csv_rows *batch)
{
	struct ht_table_column *to = &c->table->columns[column->to];
	uint64_t *has = has_of(c, column);
	uint8_t scale;
	for (size_t row = 0, room, n; row < batch->n;) {
		int64_t *out = ht_table_column_room(to, &room, &scale);
		for (n = 0; row < batch->n && n < room; row++) {
			struct ht_csv_cell cell = ht_csv_rows_cell(batch, column->at, row);
			if (is_missing(column, &cell))
				continue;
			out[n++] = text_id(c, column, &cell);
			has[row / 64] |= (uint64_t)1 << row % 64;
		}
		ht_table_column_wrote(c->table, to, n);
	}
}

/* One of columns side by side. */
static void put_ids(struct ht_ascend_cells *c, const struct cell_column *column,
        const uint32_t *const *ids, size_t i, size_t n_rows)
{
	struct ht_table_column *to = &c->table->columns[column->to];
	uint64_t *has = has_of(c, column);
	uint8_t scale;
	for (size_t row = 0, room, n; row < n_rows;) {
		int64_t *out = ht_table_column_room(to, &room, &scale);
		for (n = 0; row < n_rows && n < room; row++) {
			uint64_t id = ids[row][i], is_there = id != HT_NO_STR;
			out[n] = (int64_t)id;
			n += is_there;
			has[row / 64] |= is_there << row % 64;
		}
		ht_table_column_wrote(c->table, to, n);
	}
}

static void put_group(struct ht_ascend_cells *c, const struct text_group *group,
        struct ht_csv_rows *batch, uint32_t *ret_names)
{
	const uint32_t *ids[HT_CSV_ROWS];
	ht_ascend_texts_find(group->texts, batch, ids);
	for (size_t i = 0; i < group->n; i++)
		if (c->of_cell[group->first + i])
			put_ids(c, c->of_cell[group->first + i], ids, i, batch->n);
	for (size_t row = 0; c->name - group->first < group->n && row < batch->n; row++)
		ret_names[row] = ids[row][c->name - group->first];
}

void ht_ascend_cells_extra(struct ht_ascend_cells *c, size_t i, struct ht_csv_rows *batch,
        size_t at, int64_t none, int64_t *ret_values)
{
	struct ht_table_column *to = &c->table->columns[c->columns[i].to];
	uint64_t *has = has_of(c, &c->columns[i]);
	for (size_t row = 0, n; row < batch->n; row += n + 1) {
		n = c->read_decimals(
		        batch->text, c->all.rows + row, batch->n - row, at, 0, ret_values + row);
		note(has, row, n);
		if (row + n == batch->n)
			break;
		struct ht_csv_cell cell = ht_csv_rows_cell(batch, at, row + n);
		bool is_whole = ht_ascend_i64(&cell, &ret_values[row + n]);
		ret_values[row + n] = is_whole ? ret_values[row + n] : none;
		note(has, row + n, is_whole);
	}
	for (size_t row = 0; row < batch->n; row++)
		if (has[row / 64] >> row % 64 & 1)
			ht_table_column_put(c->table, to, ret_values[row], 0);
}

/* The first cell that a column has says what it is of. */
static void find_kind(
        struct ht_ascend_cells *c, struct cell_column *column, struct ht_csv_rows *batch)
{
	for (size_t row = 0; row < batch->n && column->kind == KIND_UNKNOWN; row++) {
		struct ht_csv_cell cell = ht_csv_rows_cell(batch, column->at, row);
		if (is_missing(column, &cell))
			continue;
		bool is_text = whole_number(&cell).type == HT_NUMBER_NONE;
		column->kind = is_text ? KIND_TEXT : KIND_NUMBER;
		c->table->columns[column->to].is_text = is_text;
	}
}

void ht_ascend_cells_put(struct ht_ascend_cells *c, struct ht_csv_rows *batch, uint32_t *ret_names)
{
	uint64_t all[ROW_WORDS] = { 0 };
	c->odd.n = 0;
	memset(c->first_odd, 0, batch->n * sizeof *c->first_odd);
	memset(c->has, 0, c->n_columns * ROW_WORDS * sizeof *c->has);
	for (size_t i = 0; i < ROW_WORDS && batch->n > i * 64; i++)
		all[i] = batch->n < i * 64 + 64 ? ((uint64_t)1 << batch->n % 64) - 1 : ~(uint64_t)0;
	choose_rows(batch, all, &c->all);
	c->guess = &c->all;
	for (size_t i = c->first_extra; i < c->n_columns; i++) {
		struct cell_column *column = &c->columns[i];
		if (column->kind == KIND_UNKNOWN)
			find_kind(c, column, batch);
		if (column->kind == KIND_TEXT)
			put_texts(c, column, batch);
		if (column->kind == KIND_NUMBER)
			put_numbers(c, column, batch);
	}
	for (size_t i = 0; i < c->n_groups; i++)
		put_group(c, &c->groups[i], batch, ret_names);
}

/* In which rows some column has a value and had none in the row before, or the other way round; in the first one. */
static void find_changes(struct ht_ascend_cells *c)
{
	memset(c->changed, 0, sizeof c->changed);
	for (size_t i = 0; i < c->n_columns; i++) {
		const uint64_t *has = c->has + i * ROW_WORDS;
		uint64_t before = 0;
		for (size_t word = 0; word < ROW_WORDS; word++) {
			c->changed[word] |= has[word] ^ (has[word] << 1 | before);
			before = has[word] >> 63;
		}
	}
	c->changed[0] |= 1;
}

static const uint8_t *find_row_has(struct ht_ascend_cells *c, size_t row)
{
	for (size_t i = 0; i < c->n_columns; i++)
		c->row_has[i] = c->has[i * ROW_WORDS + row / 64] >> row % 64 & 1;
	return c->row_has;
}

/* Can the row be stored together with others? */
static bool is_plain(const struct ht_ascend_cells *c, const struct ht_spans *spans, size_t row)
{
	return !(c->odd.n && c->first_odd[row]) && ht_span_is_plain(spans, row);
}

/* One that has cells or times that are odd. */
static enum ht_status end_odd(struct ht_ascend_cells *c, const struct ht_spans *spans, size_t row,
        const uint8_t *has, int64_t offset)
{
	const struct odd_cell *odd = c->odd.data;
	ht_row_begin_span(c->rows, spans, row);
	for (uint32_t i = c->odd.n ? c->first_odd[row] : 0; i; i = odd[i - 1].next)
		ht_row_put(c->rows, odd[i - 1].column, odd[i - 1].value);
	return ht_row_end_of_table(c->rows, c->table, has, offset);
}

enum ht_status ht_ascend_cells_end(
        struct ht_ascend_cells *c, const struct ht_csv_rows *batch, const struct ht_spans *spans)
{
	find_changes(c);
	for (size_t row = 0, n; row < spans->n; row += n) {
		bool is_new = c->changed[row / 64] >> row % 64 & 1;
		const uint8_t *has = is_new ? find_row_has(c, row) : NULL;
		int64_t offset = ht_csv_rows_offset(batch, row);
		n = 1;
		if (!is_plain(c, spans, row)) {
			HT_TRY(end_odd(c, spans, row, has, offset));
			continue;
		}
		while (row + n < spans->n && !(c->changed[(row + n) / 64] >> (row + n) % 64 & 1) &&
		        is_plain(c, spans, row + n))
			n++;
		HT_TRY(ht_rows_end_of_table(c->rows, spans, row, n, c->table, has, offset));
	}
	return HT_OK;
}
