/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.h - deflate data (RFC 1951) in two steps, of which the first needs nothing that came before. Private to
 * base/io_ahead.c, which inflates one stream with several threads.
 *
 *   bits ──► tokens: literal bytes, and matches "again what stands so far back"          any place, any thread
 *            deflate_find.c finds a block, deflate_codes.c reads its header, deflate_tokens.c its symbols
 *   tokens ──► text, each match copied from the text before it: deflate_copy.c           in order, one thread
 *
 * Reading bits is two thirds of the work of inflating; copying is the rest, and needs the 32 KiB before. Data that
 * a careful reader might refuse are refused here: whoever asks then has them read by the library behind
 * io_deflate.h, which decides.
 */
#ifndef HT_BASE_DEFLATE_H
#define HT_BASE_DEFLATE_H

#include "base/vec.h"

#include <string.h>

enum ht_deflate_result {
	HT_DEFLATE_OK,
	HT_DEFLATE_SHORT, /* the bits end before what was asked for does */
	HT_DEFLATE_BAD,   /* not deflate, or nothing to be read in this way */
};

/* Readable bytes behind the end of the bits, of any value. */
#define HT_BITS_PADDING 32

/* Bits from the lowest of a byte to the highest. */
struct ht_bits {
	const uint8_t *base, *end; /* all of them */
	const uint8_t *next;       /* the next byte for buffer */
	uint64_t buffer;           /* the lowest n bits come next; those above are right or 0 */
	unsigned n;
};

static inline uint64_t ht_load_u64(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* At least 56 bits are there afterwards. Allowed while next is not behind end; one more fill may follow. */
static inline void ht_bits_fill(struct ht_bits *in)
{
	in->buffer |= ht_load_u64(in->next) << in->n;
	in->next += (63 - in->n) >> 3;
	in->n |= 56;
}

static inline uint64_t ht_bits_take(struct ht_bits *in, unsigned n)
{
	uint64_t value = in->buffer & (((uint64_t)1 << n) - 1);
	in->buffer >>= n;
	in->n -= n;
	return value;
}

/* In bits, from base on. */
static inline uint64_t ht_bits_pos(const struct ht_bits *in)
{
	return (uint64_t)(in->next - in->base) * 8 - in->n;
}

static inline bool ht_bits_are_over(const struct ht_bits *in)
{
	return ht_bits_pos(in) > (uint64_t)(in->end - in->base) * 8;
}

/* pos is not behind the end. */
static inline void ht_bits_seek(struct ht_bits *in, uint64_t pos)
{
	in->next = in->base + pos / 8;
	in->buffer = 0;
	in->n = 0;
	ht_bits_fill(in);
	ht_bits_take(in, (unsigned)(pos % 8));
}

/* Tables are looked up with the next so many bits; longer codes go on in a second table behind the first. There are at
 * most 143 and 15 of those: each has two codes or more. */
#define HT_LITERAL_BITS   10
#define HT_DISTANCE_BITS  9
#define HT_CODE_BITS      15
#define HT_LITERAL_CELLS  ((1 << HT_LITERAL_BITS) + 143 * (1 << (HT_CODE_BITS - HT_LITERAL_BITS)))
#define HT_DISTANCE_CELLS ((1 << HT_DISTANCE_BITS) + 15 * (1 << (HT_CODE_BITS - HT_DISTANCE_BITS)))

/* What the next bits say. Each cell has the number of bits to pass over in the lowest five.
 *
 *   literals           31 set    30..24       23..16 second   15..8 first   6..5 how many
 *   length, distance   31..28 0  27..24 code  22..8 smallest value (lengths - 3, distances - 1)
 *                                bits alone   its extra bits are among those passed over
 *   second table       30, 28    27..24 its   23..8 where it starts
 *                                bits
 *   not in use         30, 29
 *   end of the block   30
 */
#define HT_CELL_LITERAL  ((uint32_t)1 << 31)
#define HT_CELL_SPECIAL  ((uint32_t)1 << 30)
#define HT_CELL_UNUSED   ((uint32_t)1 << 29)
#define HT_CELL_TABLE    ((uint32_t)1 << 28)
#define HT_CELL_BITS(c)  ((c)&31)
#define HT_CELL_CODE(c)  ((c) >> 24 & 15)
#define HT_CELL_VALUE(c) ((c) >> 8 & 0x7fff)
#define HT_CELL_PLACE(c) ((c) >> 8 & 0xffff)
#define HT_CELL_COUNT(c) ((c) >> 5 & 3)

struct ht_codes {
	uint32_t literal[HT_LITERAL_CELLS]; /* and lengths */
	uint32_t distance[HT_DISTANCE_CELLS];
};

/* The codes of a dynamic block; its first three bits are read. */
enum ht_deflate_result ht_codes_read(struct ht_codes *codes, struct ht_bits *in);
void ht_codes_set_fixed(struct ht_codes *codes);

/* The first place from a bit on, and before another, where a dynamic block that is not the last one seems to start. */
bool ht_deflate_find(
        struct ht_codes *scratch, struct ht_bits *in, uint64_t from, uint64_t to, uint64_t *ret_at);

/* A match: so many literals, then so many bytes from so far back. Or HT_TOKEN_LONG_RUN | number << 9: literals only. */
#define HT_TOKEN(n_run, length_3, distance_1)                                                      \
	((uint32_t)(n_run) | (uint32_t)(length_3) << 9 | (uint32_t)(distance_1) << 17)
#define HT_TOKEN_LONG_RUN    511
#define HT_TOKEN_RUN(t)      ((t)&511)
#define HT_TOKEN_LONG(t)     ((t) >> 9)
#define HT_TOKEN_LENGTH(t)   (((t) >> 9 & 255) + 3)
#define HT_TOKEN_DISTANCE(t) (((t) >> 17) + 1)

#define HT_DEFLATE_WINDOW    ((size_t)32 << 10)

struct ht_tokens {
	struct ht_vec matches;  /* uint32_t */
	struct ht_vec literals; /* uint8_t, and HT_COPY_PADDING bytes behind */
	size_t n_run;           /* literals behind the last match */
	uint64_t n_text;        /* bytes that all of it makes */
};

#define HT_COPY_PADDING 32

void ht_tokens_free(struct ht_mem *mem, struct ht_tokens *tokens);

/* What to read, and what was read. */
struct ht_deflate_span {
	uint64_t start; /* of a block, in bits */
	uint64_t
	        stop; /* the first block from here on that ht_deflate_find could find is not read any more */
	size_t max_bytes; /* of tokens; more than 8 MiB is never used */
	uint64_t end;     /* set: of what was read */
	bool is_last;     /* set: the last block was read */
};

/* Add the tokens of whole blocks. When SHORT is answered end is that of the last whole block, and to go on from there
 * with more bits is fine. */
enum ht_deflate_result ht_tokens_read(struct ht_tokens *tokens, struct ht_mem *mem,
        struct ht_codes *codes, struct ht_bits *in, struct ht_deflate_span *span);

/* Copying a match may look so far behind it. */
#define HT_WINDOW_PADDING 64

/* Text in the making, in parts that each lie in memory of their own. */
struct ht_copier {
	uint64_t n_text;           /* made in earlier parts */
	uint8_t *start, *next;     /* of this part: what is made already */
	size_t i_match, i_literal; /* of the tokens in work */
	size_t n_run, n_length;    /* still to do of the match before i_match */
	size_t distance;
	uint8_t window[HT_DEFLATE_WINDOW]; /* the last bytes of earlier parts, up to its end */
	uint8_t padding[HT_WINDOW_PADDING];
};

void ht_copier_begin(struct ht_copier *copier, uint8_t *part);
/* Make the next n bytes of the part; the copier is set to its first token before. False when a match reaches back before
 * the start of all text, or the tokens end. */
bool ht_copier_make(struct ht_copier *copier, const struct ht_tokens *tokens, size_t n);
/* The part will be gone. */
void ht_copier_end(struct ht_copier *copier);

#endif
