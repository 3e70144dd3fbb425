/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_tokens.c - blocks of deflate data into literals and matches; see deflate.h.
 *
 * What a match repeats need not be known, so that reading can start at any block.
 */
#include "base/deflate.h"

/* A turn of the loop over symbols adds so much at most. */
#define TURN_LITERALS 16
#define TURN_MATCHES  4
/* How much room is made at once, at least. */
#define MORE_LITERALS ((size_t)32 << 10)
#define MORE_MATCHES  ((size_t)16 << 10)
/* With twice as many, and some, the longest run of literals still fits a token. */
#define MAX_TOKEN_BYTES ((size_t)2 << 20)

enum block_type { STORED, FIXED, DYNAMIC };

void ht_tokens_free(struct ht_mem *mem, struct ht_tokens *tokens)
{
	ht_vec_free(mem, &tokens->matches, sizeof(uint32_t));
	ht_vec_free(mem, &tokens->literals, 1);
	*tokens = (struct ht_tokens){ 0 };
}

/* Where symbols go: room in the tokens. */
struct room {
	uint8_t *literal, *literal_end;
	const uint8_t *run; /* where the literals behind the last match start */
	uint32_t *match, *match_end;
	uint64_t n_copied; /* bytes that matches make */
};

static bool make_room(struct ht_tokens *tokens, struct ht_mem *mem, struct room *ret_room)
{
	struct ht_vec *literals = &tokens->literals, *matches = &tokens->matches;
	if (!ht_vec_reserve(mem, literals, 1, MORE_LITERALS + HT_COPY_PADDING) ||
	        !ht_vec_reserve(mem, matches, sizeof(uint32_t), MORE_MATCHES))
		return false;
	ret_room->literal = (uint8_t *)literals->data + literals->n;
	ret_room->literal_end =
	        (uint8_t *)literals->data + literals->cap - HT_COPY_PADDING - TURN_LITERALS;
	ret_room->run = ret_room->literal - tokens->n_run;
	ret_room->match = (uint32_t *)matches->data + matches->n;
	ret_room->match_end = (uint32_t *)matches->data + matches->cap - TURN_MATCHES;
	ret_room->n_copied = 0;
	return true;
}

static void keep(struct ht_tokens *tokens, const struct room *room)
{
	size_t n_literals = (size_t)(room->literal - (uint8_t *)tokens->literals.data);
	tokens->n_text += room->n_copied + n_literals - tokens->literals.n;
	tokens->literals.n = n_literals;
	tokens->matches.n = (size_t)(room->match - (uint32_t *)tokens->matches.data);
	tokens->n_run = (size_t)(room->literal - room->run);
}

/* Pass over the bits of a length or distance; its value less the smallest one. */
static inline uint32_t take_value(struct ht_bits *in, uint32_t cell)
{
	uint64_t bits = ht_bits_take(in, HT_CELL_BITS(cell));
	return HT_CELL_VALUE(cell) + (uint32_t)(bits >> HT_CELL_CODE(cell));
}

static inline uint32_t look_up(const uint32_t *cells, unsigned n_bits, const struct ht_bits *in)
{
	return cells[in->buffer & (((uint64_t)1 << n_bits) - 1)];
}

/* What stands in the second table, for a cell that is one. */
static inline uint32_t look_further(const uint32_t *cells, struct ht_bits *in, uint32_t cell)
{
	ht_bits_take(in, HT_CELL_BITS(cell));
	return look_up(cells + HT_CELL_PLACE(cell), HT_CELL_CODE(cell), in);
}

/* One or two literals; both bytes are written, as the place behind is free. */
static inline void add_literals(struct room *room, struct ht_bits *in, uint32_t cell)
{
	room->literal[0] = (uint8_t)(cell >> 8);
	room->literal[1] = (uint8_t)(cell >> 16);
	room->literal += HT_CELL_COUNT(cell);
	ht_bits_take(in, HT_CELL_BITS(cell));
}

static inline void add_match(struct room *room, uint32_t length_3, uint32_t distance_1)
{
	size_t n_run = (size_t)(room->literal - room->run);
	if (n_run >= HT_TOKEN_LONG_RUN) {
		*room->match++ = HT_TOKEN_LONG_RUN | (uint32_t)n_run << 9;
		n_run = 0;
	}
	*room->match++ = HT_TOKEN(n_run, length_3, distance_1);
	room->run = room->literal;
	room->n_copied += length_3 + 3;
}

/* Symbols up to the end of the block, or while there is room: then ret_is_end is false. Bits never run out within a turn:
 * 56 suffice for a length and a distance, or for three short codes of literals. */
static enum ht_deflate_result read_symbols(
        const struct ht_codes *codes, struct ht_bits *from, struct room *to, bool *ret_is_end)
{
	struct ht_bits in = *from;
	struct room room = *to;
	enum ht_deflate_result result = HT_DEFLATE_OK;
	*ret_is_end = false;
	while (room.literal < room.literal_end && room.match < room.match_end) {
		if (in.next > in.end) {
			result = HT_DEFLATE_SHORT;
			break;
		}
		ht_bits_fill(&in);
		uint32_t cell = look_up(codes->literal, HT_LITERAL_BITS, &in);
		if (cell & HT_CELL_LITERAL) {
			add_literals(&room, &in, cell);
			cell = look_up(codes->literal, HT_LITERAL_BITS, &in);
			if (cell & HT_CELL_LITERAL) {
				add_literals(&room, &in, cell);
				cell = look_up(codes->literal, HT_LITERAL_BITS, &in);
			}
			if (cell & HT_CELL_LITERAL) {
				add_literals(&room, &in, cell);
				continue;
			}
			ht_bits_fill(&in);
		}
		if (cell & HT_CELL_TABLE) {
			cell = look_further(codes->literal, &in, cell);
			if (cell & HT_CELL_LITERAL) {
				add_literals(&room, &in, cell);
				continue;
			}
		}
		if (cell & HT_CELL_SPECIAL) {
			ht_bits_take(&in, HT_CELL_BITS(cell));
			*ret_is_end = true;
			result = cell & HT_CELL_UNUSED ? HT_DEFLATE_BAD : HT_DEFLATE_OK;
			break;
		}
		uint32_t length_3 = take_value(&in, cell);
		cell = look_up(codes->distance, HT_DISTANCE_BITS, &in);
		if (cell & HT_CELL_TABLE)
			cell = look_further(codes->distance, &in, cell);
		if (cell & HT_CELL_SPECIAL) {
			result = HT_DEFLATE_BAD;
			break;
		}
		add_match(&room, length_3, take_value(&in, cell));
	}
	*from = in;
	*to = room;
	return result;
}

static enum ht_deflate_result read_coded(struct ht_tokens *tokens, struct ht_mem *mem,
        const struct ht_codes *codes, struct ht_bits *in, size_t max_bytes)
{
	enum ht_deflate_result result = HT_DEFLATE_OK;
	for (bool is_end = false; !is_end && result == HT_DEFLATE_OK;) {
		struct room room;
		size_t n_bytes = tokens->literals.n + tokens->matches.n * sizeof(uint32_t);
		if (n_bytes > max_bytes || !make_room(tokens, mem, &room))
			return HT_DEFLATE_BAD;
		result = read_symbols(codes, in, &room, &is_end);
		keep(tokens, &room);
	}
	return result;
}

/* From the next whole byte on: a length, the same with all bits turned, and so many bytes. */
static enum ht_deflate_result read_stored(
        struct ht_tokens *tokens, struct ht_mem *mem, struct ht_bits *in)
{
	const uint8_t *bytes = in->base + (ht_bits_pos(in) + 7) / 8;
	if (in->end - bytes < 4)
		return HT_DEFLATE_SHORT;
	uint32_t sizes = (uint32_t)ht_load_u64(bytes);
	size_t n = sizes & 0xffff;
	if ((sizes >> 16 ^ n) != 0xffff)
		return HT_DEFLATE_BAD;
	bytes += 4;
	if ((size_t)(in->end - bytes) < n)
		return HT_DEFLATE_SHORT;
	if (!ht_vec_reserve(mem, &tokens->literals, 1, n + HT_COPY_PADDING))
		return HT_DEFLATE_BAD;
	memcpy((uint8_t *)tokens->literals.data + tokens->literals.n, bytes, n);
	tokens->literals.n += n;
	tokens->n_run += n;
	tokens->n_text += n;
	ht_bits_seek(in, (uint64_t)(bytes + n - in->base) * 8);
	return HT_DEFLATE_OK;
}

static enum ht_deflate_result read_block(struct ht_tokens *tokens, struct ht_mem *mem,
        struct ht_codes *codes, struct ht_bits *in, size_t max_bytes)
{
	unsigned type = (unsigned)ht_bits_take(in, 2);
	enum ht_deflate_result result = HT_DEFLATE_OK;
	if (type == STORED)
		result = read_stored(tokens, mem, in);
	else if (type > DYNAMIC)
		result = HT_DEFLATE_BAD;
	else if (type == FIXED)
		ht_codes_set_fixed(codes);
	else
		result = ht_codes_read(codes, in);
	if (result == HT_DEFLATE_OK && type != STORED)
		result = read_coded(tokens, mem, codes, in, max_bytes);
	/* what stands behind the end was read as bits, too */
	return ht_bits_are_over(in) ? HT_DEFLATE_SHORT : result;
}

enum ht_deflate_result ht_tokens_read(struct ht_tokens *tokens, struct ht_mem *mem,
        struct ht_codes *codes, struct ht_bits *in, struct ht_deflate_span *span)
{
	size_t max_bytes = span->max_bytes < MAX_TOKEN_BYTES ? span->max_bytes : MAX_TOKEN_BYTES;
	enum ht_deflate_result result = HT_DEFLATE_OK;
	span->is_last = false;
	span->end = span->start;
	ht_bits_seek(in, span->start);
	while (!span->is_last) {
		struct ht_tokens before = *tokens;
		if (in->next > in->end)
			return HT_DEFLATE_SHORT;
		ht_bits_fill(in);
		/* BFINAL 0, BTYPE 2: what ht_deflate_find looks for */
		if (span->end >= span->stop && (in->buffer & 7) == DYNAMIC << 1)
			break;
		bool is_last = ht_bits_take(in, 1);
		result = read_block(tokens, mem, codes, in, max_bytes);
		if (result != HT_DEFLATE_OK) {
			tokens->literals.n = before.literals.n;
			tokens->matches.n = before.matches.n;
			tokens->n_run = before.n_run;
			tokens->n_text = before.n_text;
			break;
		}
		span->is_last = is_last;
		span->end = ht_bits_pos(in);
	}
	return result;
}
