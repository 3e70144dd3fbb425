/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_ahead.c - see io_ahead.h.
 *
 *   file      | header |  chunk 0  |  chunk 1  |  chunk 2  | ...        cut anywhere
 *   blocks    |        |───┬────┬────┬──┬────┬────┬───┬────┬ ...
 *   tokens             |───────────────|──────────────|──── ...         from the first block of a chunk on,
 *                                                                      up to the first of the next
 *
 * A chunk is known by its number; it lies in slot number modulo slots. Chunks are claimed in order, at most as many as
 * there are slots from the one in work on. Text is delivered only when it is followed by MARGIN bytes of good text, or
 * by the end: the other decoder might deliver less of what stands close before damage.
 */
#include "base/io_ahead.h"

#include "base/deflate.h"
#include "base/io_codec.h"
#include "base/io_deflate.h"
#include "base/mem.h"

#include <pthread.h>

#define MARGIN ((uint64_t)256 << 10)
/* So much text is made at a time: it is still in the core's cache when it is checked. */
#define STEP ((size_t)256 << 10)
/* Read behind a chunk at first, for the block that goes on there. */
#define TAIL_BYTES ((size_t)64 << 10)
/* Tokens over compressed bytes; of text that is no bomb it is two or three. */
#define MAX_TOKEN_RATIO 5
#define MIN_CHUNKS      4
#define MIN_SLOTS       4
#define MAX_SLOTS       8
/* So many chunks from the one in work on are worked on before anything else. */
#define N_URGENT 3
/* Chunks whose start was not found, over all, from which on this does not pay. */
#define MAX_REDONE_SHARE 8
#define HEADER_BYTES     4096
#define TRAILER_BYTES    8
#define NOWHERE          UINT64_MAX

enum chunk_state { CHUNK_FREE, CHUNK_BUSY, CHUNK_DONE };

struct chunk {
	enum chunk_state state;
	uint64_t number;
	uint64_t start, end; /* in bits of the file; start is NOWHERE when none was found */
	bool is_last;        /* the last block ends here */
	bool is_bad;
	struct ht_tokens tokens;
};

/* What is needed only while a chunk is worked on. */
struct bench {
	struct bench *next;
	struct ht_vec input;   /* uint8_t, and HT_BITS_PADDING behind */
	uint64_t input_offset; /* in the file */
	struct ht_codes codes;
};

struct ht_ahead {
	struct ht_mem *mem;
	struct ht_ahead_file file;
	uint64_t first; /* byte of the file where the deflate data start */
	uint64_t n_chunks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	struct chunk *slots;
	size_t n_slots;
	struct bench *benches; /* not in use */
	uint64_t n_claimed;    /* chunks before this one have been claimed, or passed over */
	uint64_t current;      /* the chunk in work; those before are let go */
	bool gave_up;
	/* of the reader */
	uint64_t tail;   /* the last chunk that is known to fit those before; NOWHERE at first */
	uint64_t n_good; /* bytes of text up to its end */
	uint64_t n_left; /* bytes of text of the current chunk */
	uint64_t n_redone;
	uint32_t crc;
	uint8_t trailer[TRAILER_BYTES];
	struct ht_copier copier;
};

static struct chunk *slot_of(struct ht_ahead *a, uint64_t number)
{
	return &a->slots[number % a->n_slots];
}

/* The first byte of a chunk, whatever blocks there are. */
static uint64_t chunk_offset(const struct ht_ahead *a, uint64_t number)
{
	return a->first + number * a->file.chunk_bytes;
}

/* The chunk that has a bit of the file. */
static uint64_t chunk_with(const struct ht_ahead *a, uint64_t bit)
{
	uint64_t number = (bit / 8 - a->first) / a->file.chunk_bytes;
	return number < a->n_chunks ? number : a->n_chunks - 1;
}

static uint64_t next_chunk(struct ht_ahead *a)
{
	return a->tail == NOWHERE ? 0 : chunk_with(a, slot_of(a, a->tail)->end);
}

/* The bytes of a plain header, as most programs write it; 0 for any other. */
static size_t header_bytes(const uint8_t *bytes, size_t n)
{
	enum { HAS_NAME = 8, HAS_COMMENT = 16 };
	size_t at = 10;
	if (n < at || bytes[0] != 0x1f || bytes[1] != 0x8b || bytes[2] != 8 ||
	        bytes[3] & ~(HAS_NAME | HAS_COMMENT))
		return 0;
	for (unsigned flag = HAS_NAME; flag <= HAS_COMMENT; flag *= 2) {
		if (!(bytes[3] & flag))
			continue;
		const uint8_t *end = memchr(bytes + at, 0, n - at);
		if (!end)
			return 0;
		at = (size_t)(end - bytes) + 1;
	}
	return at;
}

static bool open_slots(struct ht_ahead *a, size_t n_threads)
{
	size_t n = n_threads < MIN_SLOTS ? MIN_SLOTS : n_threads;
	n = n < MAX_SLOTS ? n : MAX_SLOTS;
	/* small chunks of data that cannot be compressed must do for one step, too */
	n += (MARGIN + STEP) / a->file.chunk_bytes;
	a->slots = ht_mem_zalloc(a->mem, n * sizeof *a->slots);
	a->n_slots = a->slots ? n : 0;
	return a->slots;
}

struct ht_ahead *ht_ahead_open(ht_ctx *ctx, const struct ht_ahead_file *file, size_t n_threads)
{
	uint8_t header[HEADER_BYTES];
	size_t n;
	if (file->n_bytes / MIN_CHUNKS < file->chunk_bytes ||
	        ht_read_at(ctx, file->fd, 0, header, sizeof header, &n))
		return NULL;
	size_t first = header_bytes(header, n);
	struct ht_ahead *a = first ? ht_mem_zalloc(ctx->mem, sizeof *a) : NULL;
	if (!a)
		return NULL;
	a->mem = ctx->mem;
	a->file = *file;
	a->first = first;
	a->tail = NOWHERE;
	a->n_chunks = (file->n_bytes - first + file->chunk_bytes - 1) / file->chunk_bytes;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (!open_slots(a, n_threads)) {
		ht_ahead_close(a);
		return NULL;
	}
	return a;
}

void ht_ahead_close(struct ht_ahead *a)
{
	if (!a)
		return;
	struct ht_mem *mem = a->mem;
	for (struct bench *bench = a->benches, *next; bench; bench = next) {
		next = bench->next;
		ht_vec_free(mem, &bench->input, 1);
		ht_mem_free(mem, bench, sizeof *bench);
	}
	for (size_t i = 0; i < a->n_slots; i++)
		ht_tokens_free(mem, &a->slots[i].tokens);
	ht_mem_free(mem, a->slots, a->n_slots * sizeof *a->slots);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	ht_mem_free(mem, a, sizeof *a);
}

/* Called with the lock held. */
static bool can_claim(struct ht_ahead *a)
{
	return !a->gave_up && a->n_claimed < a->n_chunks &&
	       a->n_claimed < a->current + a->n_slots &&
	       slot_of(a, a->n_claimed)->state == CHUNK_FREE;
}

static struct chunk *claim(struct ht_ahead *a)
{
	struct chunk *chunk = slot_of(a, a->n_claimed);
	chunk->state = CHUNK_BUSY;
	chunk->number = a->n_claimed++;
	return chunk;
}

static struct bench *take_bench(struct ht_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	struct bench *bench = a->benches;
	if (bench)
		a->benches = bench->next;
	pthread_mutex_unlock(&a->lock);
	return bench ? bench : ht_mem_zalloc(a->mem, sizeof *bench);
}

/* Read n more bytes of the file behind those that are there; false when there are none. */
static bool read_more(ht_ctx *ctx, struct ht_ahead *a, struct bench *bench, size_t n)
{
	struct ht_vec *input = &bench->input;
	if (!ht_vec_reserve(a->mem, input, 1, n + HT_BITS_PADDING))
		return false;
	uint8_t *end = (uint8_t *)input->data + input->n;
	if (ht_read_at(ctx, a->file.fd, bench->input_offset + input->n, end, n, &n) || !n)
		return false;
	input->n += n;
	memset(end + n, 0, HT_BITS_PADDING);
	return true;
}

static struct ht_bits bits_of(const struct bench *bench)
{
	const uint8_t *bytes = bench->input.data;
	return (struct ht_bits){ .base = bytes, .next = bytes, .end = bytes + bench->input.n };
}

/* Make tokens of the blocks from a bit of the file on, up to the first of the next chunk. False when that fails. */
static bool read_tokens(ht_ctx *ctx, struct ht_ahead *a, struct chunk *chunk, struct bench *bench)
{
	uint64_t base = bench->input_offset * 8, stop = chunk_offset(a, chunk->number + 1) * 8;
	struct ht_deflate_span span = { .start = chunk->start - base,
		.stop = chunk->number + 1 == a->n_chunks ? UINT64_MAX : stop - base,
		.max_bytes = MAX_TOKEN_RATIO * (a->file.chunk_bytes + TAIL_BYTES) };
	struct ht_tokens *tokens = &chunk->tokens;
	tokens->matches.n = tokens->literals.n = tokens->n_run = 0;
	tokens->n_text = 0;
	for (;;) {
		struct ht_bits in = bits_of(bench);
		enum ht_deflate_result result =
		        ht_tokens_read(tokens, a->mem, &bench->codes, &in, &span);
		if (result == HT_DEFLATE_OK)
			break;
		/* a block that is longer than a chunk is not worth it */
		if (result == HT_DEFLATE_BAD ||
		        bench->input.n > 2 * (a->file.chunk_bytes + TAIL_BYTES) ||
		        !read_more(ctx, a, bench, TAIL_BYTES))
			return false;
		span.start = span.end;
	}
	chunk->end = base + span.end;
	chunk->is_last = span.is_last;
	uint64_t n_bytes = (chunk->end - chunk->start + 7) / 8;
	return !a->file.max_ratio || tokens->n_text / a->file.max_ratio <= n_bytes;
}

/* Work on a chunk that was claimed, from a bit of the file on, or from where a block is found. */
static void work_on(ht_ctx *ctx, struct ht_ahead *a, struct chunk *chunk, uint64_t start)
{
	struct bench *bench = take_bench(a);
	uint64_t offset = chunk_offset(a, chunk->number), found;
	size_t n = a->file.chunk_bytes + TAIL_BYTES;
	chunk->start = start;
	chunk->is_bad = true;
	if (bench) {
		bench->input.n = 0;
		bench->input_offset = start == NOWHERE ? offset : start / 8;
		bool is_read = read_more(ctx, a, bench, n);
		if (is_read && start == NOWHERE) {
			struct ht_bits in = bits_of(bench);
			if (ht_deflate_find(&bench->codes, &in, 0,
			            (uint64_t)a->file.chunk_bytes * 8, &found))
				chunk->start = offset * 8 + found;
		}
		if (is_read && chunk->start != NOWHERE)
			chunk->is_bad = !read_tokens(ctx, a, chunk, bench);
	}
	pthread_mutex_lock(&a->lock);
	if (bench) {
		bench->next = a->benches;
		a->benches = bench;
	}
	chunk->state = chunk->number < a->current ? CHUNK_FREE : CHUNK_DONE;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

bool ht_ahead_wants_help(struct ht_ahead *a, bool urgent)
{
	pthread_mutex_lock(&a->lock);
	bool wants = can_claim(a) && (!urgent || a->n_claimed < a->current + N_URGENT);
	pthread_mutex_unlock(&a->lock);
	return wants;
}

void ht_ahead_help(ht_ctx *ctx, struct ht_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	struct chunk *chunk = can_claim(a) ? claim(a) : NULL;
	pthread_mutex_unlock(&a->lock);
	if (chunk)
		work_on(ctx, a, chunk, chunk->number ? NOWHERE : a->first * 8);
}

bool ht_ahead_is_ready(struct ht_ahead *a, size_t n)
{
	bool ready = true;
	pthread_mutex_lock(&a->lock);
	uint64_t n_good = a->n_good, number = next_chunk(a);
	bool is_last = a->tail != NOWHERE && slot_of(a, a->tail)->is_last;
	while (ready && !a->gave_up && !is_last && n_good < n + MARGIN) {
		const struct chunk *chunk = slot_of(a, number);
		if (number >= a->n_claimed || number >= a->current + a->n_slots) {
			ready = !can_claim(a);
			break;
		}
		ready = chunk->state == CHUNK_DONE;
		if (ready) {
			is_last = chunk->is_last || chunk->is_bad;
			n_good += chunk->tokens.n_text;
			number = chunk_with(a, chunk->end);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return ready;
}

/* Have a chunk that starts at a bit of the file: made already, or made now. NULL when there is no room for it. */
static struct chunk *obtain(ht_ctx *ctx, struct ht_ahead *a, uint64_t number, uint64_t start)
{
	struct chunk *chunk = slot_of(a, number);
	pthread_mutex_lock(&a->lock);
	bool has_room = number < a->current + a->n_slots;
	while (has_room && chunk->state == CHUNK_BUSY)
		pthread_cond_wait(&a->changed, &a->lock);
	bool is_made = has_room && number < a->n_claimed;
	if (has_room && !is_made) {
		a->n_claimed = number;
		claim(a);
	}
	pthread_mutex_unlock(&a->lock);
	if (!has_room)
		return NULL;
	if (!is_made || chunk->start != start) {
		a->n_redone += is_made;
		work_on(ctx, a, chunk, start);
	}
	return chunk;
}

/* Check that the next chunk fits the last one. */
static bool append_chunk(ht_ctx *ctx, struct ht_ahead *a)
{
	uint64_t number = next_chunk(a);
	uint64_t start = a->tail == NOWHERE ? a->first * 8 : slot_of(a, a->tail)->end;
	/* behind the last cut no further chunk can start */
	if (a->tail != NOWHERE && number <= a->tail)
		return false;
	const struct chunk *chunk = obtain(ctx, a, number, start);
	if (!chunk || chunk->is_bad || a->n_redone > 2 + number / MAX_REDONE_SHARE)
		return false;
	if (a->tail == NOWHERE)
		a->n_left = chunk->tokens.n_text;
	a->tail = number;
	a->n_good += chunk->tokens.n_text;
	if (!chunk->is_last)
		return true;
	/* more members, or anything else, may follow */
	size_t n;
	uint64_t end = (chunk->end + 7) / 8;
	return end + TRAILER_BYTES == a->file.n_bytes &&
	       !ht_read_at(ctx, a->file.fd, end, a->trailer, TRAILER_BYTES, &n) &&
	       n == TRAILER_BYTES;
}

/* Go on with the next chunk; the one that is done is let go. */
static void pass_chunk(struct ht_ahead *a)
{
	uint64_t next = chunk_with(a, slot_of(a, a->current)->end);
	pthread_mutex_lock(&a->lock);
	for (uint64_t i = a->current; i < next && i < a->n_claimed; i++)
		if (slot_of(a, i)->state == CHUNK_DONE)
			slot_of(a, i)->state = CHUNK_FREE;
	a->current = next;
	pthread_mutex_unlock(&a->lock);
	a->copier.i_match = a->copier.i_literal = 0;
	a->n_left = slot_of(a, next)->tokens.n_text;
}

static bool make_text(struct ht_ahead *a, size_t n)
{
	while (n) {
		if (!a->n_left)
			pass_chunk(a);
		size_t n_part = a->n_left < n ? (size_t)a->n_left : n;
		if (!ht_copier_make(&a->copier, &slot_of(a, a->current)->tokens, n_part))
			return false;
		a->crc = ht_deflate_crc(a->crc, a->copier.next - n_part, n_part);
		n -= n_part;
		a->n_left -= n_part;
		a->n_good -= n_part;
	}
	return true;
}

static bool is_as_said(const struct ht_ahead *a)
{
	uint64_t said = ht_load_u64(a->trailer);
	uint64_t n = a->copier.n_text + (uint64_t)(a->copier.next - a->copier.start);
	return (uint32_t)said == a->crc && said >> 32 == (uint32_t)n;
}

/* The next n bytes, which may be less than STEP; fewer at the end. */
static bool read_step(ht_ctx *ctx, struct ht_ahead *a, size_t *n)
{
	while (a->n_good < *n + MARGIN && !(a->tail != NOWHERE && slot_of(a, a->tail)->is_last))
		if (!append_chunk(ctx, a))
			return false;
	*n = a->n_good < *n ? (size_t)a->n_good : *n;
	return make_text(a, *n) && (a->n_good || is_as_said(a));
}

bool ht_ahead_read(ht_ctx *ctx, struct ht_ahead *a, uint8_t *out, size_t cap, size_t *ret_n)
{
	bool ok = !a->gave_up, is_end = false;
	*ret_n = 0;
	ht_copier_begin(&a->copier, out);
	while (ok && !is_end && *ret_n < cap) {
		size_t n_want = cap - *ret_n < STEP ? cap - *ret_n : STEP, n = n_want;
		ok = read_step(ctx, a, &n);
		*ret_n += ok ? n : 0;
		is_end = n < n_want;
	}
	if (ok) {
		ht_copier_end(&a->copier);
		return true;
	}
	pthread_mutex_lock(&a->lock);
	a->gave_up = true;
	pthread_mutex_unlock(&a->lock);
	return false;
}

uint64_t ht_ahead_pos(const struct ht_ahead *a)
{
	return a->copier.n_text;
}

uint64_t ht_ahead_file_pos(const struct ht_ahead *a)
{
	const struct chunk *chunk = &a->slots[a->current % a->n_slots];
	if (a->tail == NOWHERE)
		return a->first;
	if (chunk->is_last && !a->n_left)
		return a->file.n_bytes;
	uint64_t n_text = chunk->tokens.n_text;
	return (chunk->end - (chunk->end - chunk->start) * a->n_left / (n_text ? n_text : 1)) / 8;
}
