/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_codes.c - the Huffman codes of a deflate block as tables to look bits up in; see deflate.h.
 *
 * A code is given by the length of each symbol's bits; shorter ones come first, those of one length in the order of
 * symbols. Codes that leave bits without a meaning are refused, but for the distances of a block with one or none.
 */
#include "base/deflate.h"

#define N_LITERALS   286 /* and lengths */
#define N_DISTANCES  30
#define N_LENGTHS    19 /* symbols that code lengths of codes are written with */
#define LENGTHS_BITS 7
#define END_OF_BLOCK 256
#define FIRST_LENGTH 257
#define PER_CODE_BIT 0x01000001u /* a cell's bits, and its bits of code alone */

enum kind { LITERALS, DISTANCES };

/* The cell of a symbol but for the bits of its code. */
static uint32_t symbol_cell(enum kind kind, unsigned symbol)
{
	static const uint8_t length_extra[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3,
		3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const uint8_t length_less_3[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24,
		28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 255 };
	if (kind == DISTANCES) {
		if (symbol >= N_DISTANCES)
			return HT_CELL_SPECIAL | HT_CELL_UNUSED;
		/* two symbols for each number of extra bits, from the third pair on one bit more */
		unsigned extra = symbol < 2 ? 0 : symbol / 2 - 1;
		uint32_t less_1 = symbol < 2 ? symbol : (2 + symbol % 2) << extra;
		return less_1 << 8 | extra;
	}
	if (symbol < END_OF_BLOCK)
		return HT_CELL_LITERAL | 1u << 5 | symbol << 8;
	if (symbol == END_OF_BLOCK)
		return HT_CELL_SPECIAL;
	if (symbol >= N_LITERALS)
		return HT_CELL_SPECIAL | HT_CELL_UNUSED;
	unsigned i = symbol - FIRST_LENGTH;
	return (uint32_t)length_less_3[i] << 8 | length_extra[i];
}

static uint32_t reverse(uint32_t code, unsigned n_bits)
{
	uint32_t reversed = 0;
	for (unsigned i = 0; i < n_bits; i++)
		reversed |= (code >> i & 1) << (n_bits - 1 - i);
	return reversed;
}

/* The first code of each length. False when the lengths are none of a code; ret_n is how many symbols have one. */
static bool first_codes(
        const uint8_t *lengths, unsigned n, unsigned max_bits, uint32_t *firsts, unsigned *ret_n)
{
	unsigned counts[HT_CODE_BITS + 1] = { 0 }, n_used = 0;
	for (unsigned i = 0; i < n; i++)
		counts[lengths[i]]++;
	counts[0] = 0;
	uint32_t code = 0, n_free = 1;
	for (unsigned bits = 1; bits <= max_bits; bits++) {
		code = (code + counts[bits - 1]) << 1;
		firsts[bits] = code;
		n_free *= 2;
		if (counts[bits] > n_free)
			return false;
		n_free -= counts[bits];
		n_used += counts[bits];
	}
	*ret_n = n_used;
	return !n_free || n_used < 2;
}

/* A table in the making. */
struct table {
	enum kind kind;
	uint32_t *cells;
	unsigned bits;     /* that it is looked up with */
	unsigned sub_bits; /* the same of second tables */
	uint32_t n_cells;  /* the next second table starts here */
};

static void set_symbol(struct table *t, unsigned symbol, unsigned n_bits, uint32_t code)
{
	uint32_t *cells = t->cells, n = 1u << t->bits;
	if (n_bits > t->bits) {
		uint32_t *first = &cells[code & (n - 1)];
		if (!*first) {
			*first = HT_CELL_SPECIAL | HT_CELL_TABLE | t->sub_bits << 24 |
			         t->n_cells << 8 | t->bits;
			t->n_cells += 1u << t->sub_bits;
		}
		cells += HT_CELL_PLACE(*first);
		n = 1u << t->sub_bits;
		n_bits -= t->bits;
		code >>= t->bits;
	}
	uint32_t cell = symbol_cell(t->kind, symbol) + n_bits * PER_CODE_BIT;
	for (uint32_t i = code; i < n; i += 1u << n_bits)
		cells[i] = cell;
}

/* Fill the table from the lengths of n symbols. False when they are none of a code. */
static bool make_table(struct table *t, const uint8_t *lengths, unsigned n)
{
	uint32_t next[HT_CODE_BITS + 1];
	unsigned n_used, longest = 0;
	if (!first_codes(lengths, n, HT_CODE_BITS, next, &n_used))
		return false;
	for (unsigned i = 0; i < n; i++)
		longest = lengths[i] > longest ? lengths[i] : longest;
	if (n_used < 2 && (t->kind == LITERALS || longest > 1))
		return false;
	t->n_cells = 1u << t->bits;
	t->sub_bits = longest > t->bits ? longest - t->bits : 0;
	uint32_t unset = n_used < 2 ? HT_CELL_SPECIAL | HT_CELL_UNUSED : 0;
	for (uint32_t i = 0; i < t->n_cells; i++)
		t->cells[i] = unset;
	for (unsigned i = 0; i < n; i++)
		if (lengths[i])
			set_symbol(t, i, lengths[i], reverse(next[lengths[i]]++, lengths[i]));
	return true;
}

/* Where two literals fit the bits of one look, give both. From the last cell on, as those looked at come before. */
static void join_literals(uint32_t *cells)
{
	for (uint32_t i = 1u << HT_LITERAL_BITS; i-- > 0;) {
		uint32_t one = cells[i], two = cells[i >> HT_CELL_BITS(one)];
		uint32_t n_bits = HT_CELL_BITS(one) + HT_CELL_BITS(two);
		if (one & two & HT_CELL_LITERAL && n_bits <= HT_LITERAL_BITS)
			cells[i] = HT_CELL_LITERAL | 2u << 5 | (one & 0xff00) |
			           (two & 0xff00) << 8 | n_bits;
	}
}

static bool make_codes(
        struct ht_codes *codes, const uint8_t *lengths, unsigned n_literals, unsigned n_distances)
{
	struct table literals = { LITERALS, codes->literal, HT_LITERAL_BITS, 0, 0 };
	struct table distances = { DISTANCES, codes->distance, HT_DISTANCE_BITS, 0, 0 };
	if (!lengths[END_OF_BLOCK] || !make_table(&distances, lengths + n_literals, n_distances) ||
	        !make_table(&literals, lengths, n_literals))
		return false;
	join_literals(codes->literal);
	return true;
}

/* The code that lengths are written with: symbol and bits, by the next bits. */
struct length_cell {
	uint8_t symbol, n_bits;
};

static bool read_length_code(struct ht_bits *in, unsigned n, struct length_cell *cells)
{
	static const uint8_t order[N_LENGTHS] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3,
		13, 2, 14, 1, 15 };
	uint8_t lengths[N_LENGTHS] = { 0 };
	uint32_t next[LENGTHS_BITS + 1];
	unsigned n_used;
	for (unsigned i = 0; i < n; i++) {
		if (i == 14)
			ht_bits_fill(
			        in); /* 56 bits are used: 14 of numbers, 14 times 3 of lengths */
		lengths[order[i]] = (uint8_t)ht_bits_take(in, 3);
	}
	if (!first_codes(lengths, N_LENGTHS, LENGTHS_BITS, next, &n_used) || n_used < 2)
		return false;
	for (unsigned symbol = 0; symbol < N_LENGTHS; symbol++) {
		unsigned n_bits = lengths[symbol];
		if (!n_bits)
			continue;
		uint32_t code = reverse(next[n_bits]++, n_bits);
		for (uint32_t i = code; i < 1u << LENGTHS_BITS; i += 1u << n_bits)
			cells[i] = (struct length_cell){ (uint8_t)symbol, (uint8_t)n_bits };
	}
	return true;
}

/* One item of the list of n lengths, of which i are known: a length, or a number of times the last one or 0. */
static bool read_length(struct ht_bits *in, const struct length_cell *cells, uint8_t *lengths,
        unsigned n, unsigned *i)
{
	const struct length_cell *cell = &cells[in->buffer & ((1u << LENGTHS_BITS) - 1)];
	unsigned n_times = 1;
	uint8_t length = cell->symbol;
	ht_bits_take(in, cell->n_bits);
	if (cell->symbol >= 16) {
		bool again = cell->symbol == 16;
		if (again && !*i)
			return false;
		length = again ? lengths[*i - 1] : 0;
		n_times = again                ? 3 + (unsigned)ht_bits_take(in, 2)
		          : cell->symbol == 17 ? 3 + (unsigned)ht_bits_take(in, 3)
		                               : 11 + (unsigned)ht_bits_take(in, 7);
	}
	if (n_times > n - *i)
		return false;
	memset(lengths + *i, length, n_times);
	*i += n_times;
	return true;
}

enum ht_deflate_result ht_codes_read(struct ht_codes *codes, struct ht_bits *in)
{
	struct length_cell cells[1 << LENGTHS_BITS];
	uint8_t lengths[N_LITERALS + N_DISTANCES];
	if (in->next > in->end)
		return HT_DEFLATE_SHORT;
	ht_bits_fill(in);
	unsigned n_literals = (unsigned)ht_bits_take(in, 5) + FIRST_LENGTH;
	unsigned n_distances = (unsigned)ht_bits_take(in, 5) + 1;
	unsigned n_codes = (unsigned)ht_bits_take(in, 4) + 4;
	if (n_literals > N_LITERALS || n_distances > N_DISTANCES)
		return HT_DEFLATE_BAD;
	if (!read_length_code(in, n_codes, cells))
		return HT_DEFLATE_BAD;
	unsigned n = n_literals + n_distances;
	for (unsigned i = 0; i < n;) {
		if (in->next > in->end)
			return HT_DEFLATE_SHORT;
		ht_bits_fill(in);
		if (!read_length(in, cells, lengths, n, &i))
			return HT_DEFLATE_BAD;
	}
	return make_codes(codes, lengths, n_literals, n_distances) ? HT_DEFLATE_OK : HT_DEFLATE_BAD;
}

void ht_codes_set_fixed(struct ht_codes *codes)
{
	uint8_t lengths[288 + 32];
	for (unsigned i = 0; i < 288; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	memset(lengths + 288, 5, 32);
	make_codes(codes, lengths, 288, 32);
}
