/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - see load.h.
 *
 * All threads run the same loop and pick what is most urgent:
 *
 *    accept  the next piece in order is scanned: was it scanned from the state in which the piece
 *            before it ended? Else scan it again, in order (happens at the first and last piece, and
 *            where text is damaged). Then its rows have their places, and while they are copied there
 *            the next piece may be accepted
 *    scan    a filled piece waits: scan it from the guessed state "before an event"
 *    fill    a free piece: inflate into it, cut it where an event seems to start, and carry the rest
 *            over to the next piece. Of a plain file only the place of the cut is looked for; the
 *            text is read by whoever scans it, so that reading is not one thread's work. With more than
 *            two threads the one that inflates goes on with it, as its tables are in its core's cache
 *    help    with MIN_HELPERS threads or more a large gzip file is inflated by all of them: decode a part of it
 *            that will be filled in later. A few parts are kept ready before anything is scanned, more when
 *            there is nothing to scan
 *
 * A file with more arg columns than can be kept is scanned in order from the first surplus on, so that the
 * columns kept are the first of the file, whoever met them first.
 *
 * A ring of pieces bounds the memory; the reader cannot run ahead of the scanners. A guess that is
 * wrong costs time, never correctness, so the rows do not depend on threads or on where text is cut.
 */
#include "read/load.h"

#include "base/mem.h"
#include "base/thread.h"
#include "json/block.h"
#include "read/recover.h"

#include <string.h>

#define DEFAULT_CHUNK_BYTES ((size_t)1 << 20)
/* Smaller pieces are cut anywhere instead of at event starts: for tests. */
#define MIN_CUT_BYTES ((size_t)4096)
/* Text without an event start is cut anywhere once it is so long. */
#define MAX_UNCUT_BYTES ((size_t)4 << 20)
#define MAX_RING        1024
/* With fewer threads inflating by all of them costs more than it gains. */
#define MIN_HELPERS 6
/* Filling is then quicker than scanning: more that wait to be scanned would only take memory. */
#define MAX_AHEAD_PIECES 4

enum piece_state { PIECE_FREE, PIECE_FILLED, PIECE_SCANNING, PIECE_SCANNED, PIECE_COPYING };

struct piece {
	enum piece_state state;
	struct ht_vec text; /* with HT_PADDING zero bytes behind */
	int64_t offset;
	size_t n_unread; /* bytes of a plain file from offset on that are still to be read */
	enum ht_status read_status;
	bool final;
	uint64_t file_pos; /* how much of the file is read with it */
	struct ht_chunk chunk;
	struct ht_doc_state start, end;
	size_t used;
	enum ht_status status;
};

/* The memory of a piece, for another one: the last that was let go is the first to be used again, as it is likely to be
 * in a core's cache still. */
struct spare {
	struct ht_vec text;
	struct ht_chunk chunk;
};

struct pipeline {
	ht_ctx *ctx;
	struct ht_source *source;
	struct ht_builder *out;
	struct ht_doc_state state; /* after the pieces accepted so far */
	size_t chunk_bytes;
	bool direct;       /* a plain file: read at any place */
	bool ahead;        /* a gzip file: inflated by many */
	uint64_t file_pos; /* how much of the file is read */
	uint64_t whole;    /* bytes of the file, 0: what it will give is not to be foreseen */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_rwlock_t arrays; /* of out->all: read to copy into them, written to move them */
	struct piece *ring;
	struct spare *spares; /* room for those of all pieces */
	size_t n_ring, n_spares;
	uint64_t n_filled, n_taken,
	        n_accepted; /* pieces so far: filled, taken for scanning, accepted */
	bool filling, accepting, at_end, failed;
	const struct ht_worker
	        *filler; /* who filled last, when it is to go on; NULL: anybody may */
	enum ht_status status;
	struct ht_vec
	        carry; /* text behind the last cut, for the next piece; owned by the filler. Of a
	                      * plain file: room to look for the next cut */
	int64_t next_offset; /* file offset of the next piece */
	struct ht_vec left;  /* text that an accepted piece could not use; owned by the accepter */
	int64_t left_offset;
	size_t left_seen; /* how much of left was scanned in vain */
	/* A file has too many arg columns: from then on pieces are scanned in order only, by a worker that
	 * knows which columns came first. */
	bool in_order;
	struct ht_worker *ordered; /* NULL before */
	struct ht_column_use use;
	bool lines;    /* the file is one event per line */
	bool skipping; /* behind damage: where events start again is not to be guessed */
	struct ht_worker *workers;
	size_t n_workers;
	pthread_t caller;
};

static bool append(struct ht_mem *mem, struct ht_vec *text, const char *bytes, size_t n)
{
	if (!ht_vec_reserve(mem, text, 1, n + HT_PADDING))
		return false;
	if (n)
		memcpy((char *)text->data + text->n, bytes, n);
	text->n += n;
	memset((char *)text->data + text->n, 0, HT_PADDING);
	return true;
}

/* Where to cut the text: the last place where an event seems to start, or 0 for nowhere. */
static size_t find_cut(const char *text, size_t n)
{
	for (size_t window = 16 << 10;; window *= 8) {
		const char *from = text + (n > window ? n - window : 0);
		const char *last = ht_last_event(from, text + n);
		if (last)
			return (size_t)(last - text);
		if (from == text)
			return 0;
	}
}

/* Read until the piece is full and can be cut. */
static enum ht_status fill(struct pipeline *l, struct piece *piece)
{
	struct ht_mem *mem = l->ctx->mem;
	size_t want = l->chunk_bytes;
	piece->offset = l->next_offset;
	piece->text.n = 0;
	if (!append(mem, &piece->text, l->carry.data, l->carry.n))
		return ht_fail_nomem(l->ctx);
	l->carry.n = 0;
	for (;; want = piece->text.n) {
		size_t n;
		if (!ht_vec_reserve(mem, &piece->text, 1, want + HT_PADDING))
			return ht_fail_nomem(l->ctx);
		char *tail = (char *)piece->text.data + piece->text.n;
		HT_TRY(ht_source_read(l->ctx, l->source, tail, want, &n));
		piece->text.n += n;
		memset((char *)piece->text.data + piece->text.n, 0, HT_PADDING);
		piece->final = n < want;
		size_t cut = piece->text.n;
		if (!piece->final && l->chunk_bytes >= MIN_CUT_BYTES)
			cut = find_cut(piece->text.data, piece->text.n);
		if (!cut && !piece->final && piece->text.n < MAX_UNCUT_BYTES)
			continue;
		cut = cut ? cut : piece->text.n;
		const char *text = piece->text.data;
		if (!append(mem, &l->carry, text + cut, piece->text.n - cut))
			return ht_fail_nomem(l->ctx);
		piece->text.n = cut;
		memset((char *)piece->text.data + cut, 0, HT_PADDING);
		l->next_offset = piece->offset + (int64_t)cut;
		piece->file_pos = ht_source_file_pos(l->source);
		return HT_OK;
	}
}

/* The last place in [start, end) of a plain file where an event seems to start; start for none. */
static enum ht_status find_direct_cut(
        struct pipeline *l, uint64_t start, uint64_t end, uint64_t *ret_cut)
{
	for (size_t window = 16 << 10;; window *= 8) {
		size_t n = end - start < window ? (size_t)(end - start) : window;
		l->carry.n = 0;
		if (!ht_vec_reserve(l->ctx->mem, &l->carry, 1, n + HT_PADDING))
			return ht_fail_nomem(l->ctx);
		HT_TRY(ht_source_read_at(l->ctx, l->source, end - n, l->carry.data, n, &n));
		const char *text = l->carry.data;
		memset((char *)l->carry.data + n, 0, HT_PADDING);
		const char *last = ht_last_event(text, text + n);
		bool is_all = end - start <= window;
		if (last || is_all) {
			*ret_cut = last ? end - n + (uint64_t)(last - text) : start;
			return HT_OK;
		}
	}
}

/* Say which part of a plain file the piece is. */
static enum ht_status fill_direct(struct pipeline *l, struct piece *piece)
{
	uint64_t size = ht_source_info(l->source)->file_bytes, start = (uint64_t)l->next_offset;
	uint64_t end = start, cut = start, want = l->chunk_bytes;
	do {
		end = size - end < want ? size : end + want;
		want = end - start;
		cut = end;
		if (end < size)
			HT_TRY(find_direct_cut(l, start, end, &cut));
	} while (cut == start && end < size && want < MAX_UNCUT_BYTES);
	cut = cut == start ? end : cut;
	piece->offset = (int64_t)start;
	piece->n_unread = (size_t)(cut - start);
	piece->final = cut == size;
	piece->file_pos = cut;
	piece->text.n = 0;
	l->next_offset = (int64_t)cut;
	return HT_OK;
}

/* Have the text of a piece. What a file has lost since it was opened is missing at its end. */
static enum ht_status read_piece(struct pipeline *l, struct piece *piece)
{
	size_t n = piece->n_unread;
	piece->n_unread = 0;
	if (!l->direct)
		return HT_OK;
	if (!ht_vec_reserve(l->ctx->mem, &piece->text, 1, n + HT_PADDING))
		return ht_fail_nomem(l->ctx);
	HT_TRY(ht_source_read_at(
	        l->ctx, l->source, (uint64_t)piece->offset, piece->text.data, n, &n));
	piece->text.n = n;
	memset((char *)piece->text.data + n, 0, HT_PADDING);
	return HT_OK;
}

static enum ht_status scan(
        struct ht_worker *w, struct piece *piece, const struct ht_doc_state *from)
{
	ht_chunk_clear(&piece->chunk);
	w->chunk = &piece->chunk;
	w->text_offset = piece->offset;
	w->out_of_memory = w->too_many_columns = false;
	piece->start = piece->end = *from;
	return ht_scan_text(
	        w, piece->text.data, piece->text.n, piece->final, &piece->end, &piece->used);
}

/* Join text that was left over with the piece that follows it. */
static enum ht_status prepend_left(struct pipeline *l, struct piece *piece)
{
	struct ht_mem *mem = l->ctx->mem;
	if (!append(mem, &l->left, piece->text.data, piece->text.n))
		return ht_fail_nomem(l->ctx);
	struct ht_vec joined = l->left;
	l->left = piece->text;
	l->left.n = 0;
	piece->text = joined;
	piece->offset = l->left_offset;
	return HT_OK;
}

/* From here on in order: columns that have values stay, and new ones as long as there is room. */
static enum ht_status start_order(struct pipeline *l)
{
	struct ht_mem *mem = l->ctx->mem;
	const struct ht_chunk_column *columns = l->out->all.columns.data;
	size_t n = l->out->all.columns.n;
	l->ordered = ht_mem_zalloc(mem, sizeof *l->ordered);
	if (!l->ordered)
		return ht_fail_nomem(l->ctx);
	ht_worker_init(l->ordered, l->out);
	l->ordered->use = &l->use;
	if (!ht_vec_reserve(mem, &l->use.used, 1, n))
		return ht_fail_nomem(l->ctx);
	for (size_t i = 0; i < n; i++) {
		((uint8_t *)l->use.used.data)[i] = columns[i].n != 0;
		l->use.n += columns[i].n != 0;
	}
	l->use.used.n = n;
	return HT_OK;
}

static enum ht_status scan_in_order(struct pipeline *l, struct ht_worker *w, struct piece *piece)
{
	if (!l->ordered) {
		enum ht_status status = scan(w, piece, &l->state);
		if (status != HT_LIMIT || !w->too_many_columns)
			return status;
		HT_TRY(start_order(l));
	}
	return scan(l->ordered, piece, &l->state);
}

/* Say where the rows of a piece go. */
static bool assign(struct pipeline *l, struct piece *piece)
{
	struct ht_chunk *all = &l->out->all;
	bool ok = true;
	if (!ht_chunk_has_room(all, &piece->chunk)) {
		pthread_rwlock_wrlock(&l->arrays);
		struct ht_portion read = { piece->file_pos, l->whole };
		ok = ht_chunk_make_space(all, &piece->chunk, &read);
		pthread_rwlock_unlock(&l->arrays);
	}
	return ok && ht_chunk_assign(all, &piece->chunk);
}

static void copy(struct pipeline *l, const struct piece *piece)
{
	pthread_rwlock_rdlock(&l->arrays);
	ht_chunk_copy(&l->out->all, &piece->chunk);
	pthread_rwlock_unlock(&l->arrays);
}

/* Text that an incomplete event left is scanned again only when it has doubled. */
static bool worth_a_scan(const struct pipeline *l, const struct piece *piece)
{
	return piece->final || l->left.n + piece->text.n >= 2 * l->left_seen;
}

/* Keep the rows of the next piece in order. */
static enum ht_status accept(struct pipeline *l, struct ht_worker *w, struct piece *piece)
{
	const char *text = piece->text.data;
	HT_TRY(piece->read_status);
	if (l->left.n && !worth_a_scan(l, piece)) {
		ht_chunk_clear(&piece->chunk); /* nothing to copy */
		return append(l->ctx->mem, &l->left, text, piece->text.n) ? HT_OK
		                                                          : ht_fail_nomem(l->ctx);
	}
	uint8_t n_lost_keys = l->state.n_lost_keys;
	if (l->left.n || l->ordered || piece->status != HT_OK || piece->end.n_lost_keys ||
	        !ht_doc_state_equal(&piece->start, &l->state)) {
		if (l->left.n)
			HT_TRY(prepend_left(l, piece));
		HT_TRY(scan_in_order(l, w, piece));
		n_lost_keys = piece->end.n_lost_keys;
	}
	l->state = piece->end;
	l->state.n_lost_keys = n_lost_keys;
	l->left.n = 0;
	l->left_offset = piece->offset + (int64_t)piece->used;
	l->left_seen = piece->text.n - piece->used;
	text = piece->text.data;
	if (!append(l->ctx->mem, &l->left, text + piece->used, piece->text.n - piece->used))
		return ht_fail_nomem(l->ctx);
	if ((uint64_t)l->out->all.n + piece->chunk.n >= HT_NONE - 1)
		return ht_fail(l->ctx, HT_LIMIT, l->out->path, -1,
		        "split the capture into shorter windows", "more than %u events in one file",
		        HT_NONE - 2);
	return assign(l, piece) ? HT_OK : ht_fail_nomem(l->ctx);
}

static void stop(struct pipeline *l, enum ht_status status)
{
	if (!l->failed)
		l->status = status;
	l->failed = true;
	pthread_cond_broadcast(&l->changed);
}

static struct piece *piece_at(struct pipeline *l, uint64_t i)
{
	return &l->ring[i % l->n_ring];
}

/* There may be more to do. One thread is enough: whoever has done something looks for the next himself and wakes one,
 * too. But the caller's has to tell how far it is. */
static void wake(struct pipeline *l)
{
	bool is_end = l->at_end && l->n_accepted == l->n_filled;
	if (is_end || l->ctx->progress)
		pthread_cond_broadcast(&l->changed);
	else
		pthread_cond_signal(&l->changed);
}

static void take_memory(struct pipeline *l, struct piece *piece)
{
	if (!l->n_spares)
		return; /* it has none yet, and gets its own */
	const struct spare *spare = &l->spares[--l->n_spares];
	piece->text = spare->text;
	piece->chunk = spare->chunk;
}

static void leave_memory(struct pipeline *l, struct piece *piece)
{
	l->spares[l->n_spares++] = (struct spare){ piece->text, piece->chunk };
	piece->text = (struct ht_vec){ 0 };
	ht_chunk_init(&piece->chunk, l->ctx->mem);
}

/* Each of these is called with the lock held, works without it, and takes it again. */
static void do_accept(struct pipeline *l, struct ht_worker *w)
{
	struct piece *piece = piece_at(l, l->n_accepted);
	l->accepting = true;
	pthread_mutex_unlock(&l->lock);
	enum ht_status status = accept(l, w, piece);
	pthread_mutex_lock(&l->lock);
	l->accepting = false;
	piece->state = PIECE_COPYING;
	l->n_accepted++;
	l->in_order = l->ordered != NULL;
	l->lines = l->state.phase == HT_DOC_LINES;
	l->skipping = l->state.skipping;
	if (status != HT_OK) {
		stop(l, status);
		return;
	}
	wake(l);
	pthread_mutex_unlock(&l->lock);
	copy(l, piece);
	pthread_mutex_lock(&l->lock);
	leave_memory(l, piece);
	piece->state = PIECE_FREE;
}

static void do_scan(struct pipeline *l, struct ht_worker *w)
{
	struct piece *piece = piece_at(l, l->n_taken++);
	struct ht_doc_state from =
	        l->n_taken == 1 ? (struct ht_doc_state){ 0 } : ht_doc_state_guess(l->lines);
	piece->state = PIECE_SCANNING;
	bool in_order = l->in_order || l->skipping;
	pthread_mutex_unlock(&l->lock);
	piece->read_status = read_piece(l, piece);
	in_order |= piece->read_status != HT_OK;
	/* an error may be the fault of the guess: accept scans again and reports */
	w->guessing = true;
	enum ht_status status = in_order ? HT_LIMIT : scan(w, piece, &from);
	w->guessing = false;
	pthread_mutex_lock(&l->lock);
	piece->status = status;
	piece->state = PIECE_SCANNED;
}

static void do_fill(struct pipeline *l, const struct ht_worker *w)
{
	struct piece *piece = piece_at(l, l->n_filled);
	take_memory(l, piece);
	l->filling = true;
	l->filler = l->direct || l->n_workers <= 2 ? NULL : w;
	pthread_mutex_unlock(&l->lock);
	enum ht_status status = l->direct ? fill_direct(l, piece) : fill(l, piece);
	pthread_mutex_lock(&l->lock);
	l->filling = false;
	l->at_end = piece->final;
	l->file_pos = piece->file_pos;
	piece->state = PIECE_FILLED;
	l->n_filled++;
	if (status != HT_OK)
		stop(l, status);
}

static void do_help(struct pipeline *l)
{
	pthread_mutex_unlock(&l->lock);
	ht_source_help(l->ctx, l->source);
	pthread_mutex_lock(&l->lock);
}

/* Is there a piece to be filled, and can that be done without waiting for others? */
static bool can_be_filled(struct pipeline *l)
{
	if (l->filling || l->at_end || l->n_filled - l->n_accepted >= l->n_ring ||
	        piece_at(l, l->n_filled)->state != PIECE_FREE)
		return false;
	return !l->ahead || (l->n_filled - l->n_taken < MAX_AHEAD_PIECES &&
	                            ht_source_is_ready(l->source, l->chunk_bytes));
}

/* Called with the lock held, from the thread that called the library. */
static void tell(struct pipeline *l)
{
	if (!l->ctx->progress || !pthread_equal(pthread_self(), l->caller))
		return;
	const struct ht_source_info *info = ht_source_info(l->source);
	if (!l->file_pos)
		return;
	enum ht_status status = ht_progress(l->ctx, l->out->path, l->file_pos, info->file_bytes);
	if (status != HT_OK)
		stop(l, status);
}

static enum ht_status work(void *user, size_t i_task, int i_worker)
{
	struct pipeline *l = user;
	struct ht_worker *w = &l->workers[i_task];
	(void)i_worker;
	pthread_mutex_lock(&l->lock);
	while (!l->failed && !(l->at_end && l->n_accepted == l->n_filled)) {
		size_t waiting = (size_t)(l->n_filled - l->n_taken);
		bool can_fill = can_be_filled(l);
		tell(l);
		if (l->failed)
			break;
		if (can_fill && l->filler == w)
			do_fill(l, w);
		else if (!l->accepting && l->n_accepted < l->n_filled &&
		         piece_at(l, l->n_accepted)->state == PIECE_SCANNED)
			do_accept(l, w);
		else if (l->ahead && ht_source_wants_help(l->source, true))
			do_help(l);
		else if (can_fill && waiting < 2)
			do_fill(l, w);
		else if (waiting)
			do_scan(l, w);
		else if (l->ahead && ht_source_wants_help(l->source, false))
			do_help(l);
		else if (can_fill)
			do_fill(l, w);
		else {
			pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		wake(l);
	}
	pthread_mutex_unlock(&l->lock);
	return HT_OK;
}

static enum ht_status run(struct pipeline *l, size_t n_workers)
{
	struct ht_mem *mem = l->ctx->mem;
	l->n_workers = n_workers;
	l->n_ring = l->ahead ? n_workers + MAX_AHEAD_PIECES + 2 : 2 * n_workers + 2;
	l->n_ring = l->n_ring < MAX_RING ? l->n_ring : MAX_RING;
	l->ring = ht_mem_zalloc(mem, l->n_ring * sizeof *l->ring);
	l->spares = ht_mem_zalloc(mem, l->n_ring * sizeof *l->spares);
	l->workers = ht_mem_zalloc(mem, n_workers * sizeof *l->workers);
	bool ok = l->ring && l->spares && l->workers;
	for (size_t i = 0; ok && i < l->n_ring; i++)
		ht_chunk_init(&l->ring[i].chunk, mem);
	for (size_t i = 0; ok && i < n_workers; i++)
		ht_worker_init(&l->workers[i], l->out);
	enum ht_status status = HT_OK;
	if (ok)
		status = ht_parallel(l->ctx, n_workers, work, l);
	else
		status = ht_fail_nomem(l->ctx);
	if (status == HT_OK && l->failed)
		status = l->status;
	for (size_t i = 0; ok && i < n_workers; i++)
		ht_worker_done(&l->workers[i]);
	if (l->ordered)
		ht_worker_done(l->ordered);
	ht_mem_free(mem, l->ordered, sizeof *l->ordered);
	ht_vec_free(mem, &l->use.used, 1);
	for (size_t i = 0; ok && i < l->n_ring; i++) {
		ht_chunk_done(&l->ring[i].chunk);
		ht_vec_free(mem, &l->ring[i].text, 1);
	}
	for (size_t i = 0; i < l->n_spares; i++) {
		ht_chunk_done(&l->spares[i].chunk);
		ht_vec_free(mem, &l->spares[i].text, 1);
	}
	ht_vec_free(mem, &l->carry, 1);
	ht_vec_free(mem, &l->left, 1);
	ht_mem_free(mem, l->ring, l->n_ring * sizeof *l->ring);
	ht_mem_free(mem, l->spares, l->n_ring * sizeof *l->spares);
	ht_mem_free(mem, l->workers, n_workers * sizeof *l->workers);
	return status;
}

static void note_damage(struct ht_builder *out, const struct ht_source *source, uint64_t n_before)
{
	const struct ht_damage *damage = ht_source_damage(source);
	if (damage->kind == HT_DAMAGE_NONE)
		return;
	enum ht_stat_code code =
	        damage->kind == HT_DAMAGE_TRUNCATED ? HT_STAT_truncated : HT_STAT_corrupt_stream;
	/* a stream that ends early cuts the text too: that is one truncation, not two */
	if (code != HT_STAT_truncated || out->all.stats[code].count == n_before)
		ht_chunk_stat(&out->all, code, (int64_t)ht_source_pos(source), 1);
}

enum ht_status ht_load_text(struct ht_builder *builder, struct ht_source *source,
        size_t chunk_bytes, struct ht_doc_state *ret_state)
{
	ht_ctx *ctx = builder->ctx;
	uint64_t n_truncated = builder->all.stats[HT_STAT_truncated].count;
	struct pipeline l = { .ctx = ctx,
		.source = source,
		.out = builder,
		.chunk_bytes = chunk_bytes ? chunk_bytes : DEFAULT_CHUNK_BYTES,
		.caller = pthread_self() };
	l.direct = l.chunk_bytes >= MIN_CUT_BYTES && ht_source_is_direct(source);
	/* what is foreseen and not needed would count against a limit; rows of other files say nothing of this one */
	const struct ht_source_info *info = ht_source_info(source);
	if (info->is_regular && !builder->all.n && !builder->mem->limit)
		l.whole = info->file_bytes;
	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.changed, NULL);
	pthread_rwlock_init(&l.arrays, NULL);
	size_t n_workers = (size_t)ht_ctx_jobs(ctx);
	/* what lies ahead would count against a limit, too */
	if (n_workers >= MIN_HELPERS && !builder->mem->limit)
		l.ahead = ht_source_start_ahead(ctx, source, n_workers);
	enum ht_status status = run(&l, n_workers);
	pthread_rwlock_destroy(&l.arrays);
	pthread_cond_destroy(&l.changed);
	pthread_mutex_destroy(&l.lock);
	HT_TRY(status);
	if (l.direct)
		ht_source_pass(source, (uint64_t)l.next_offset);
	note_damage(builder, source, n_truncated);
	*ret_state = l.state;
	return HT_OK;
}
