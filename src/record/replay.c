/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - see replay.h.
 */
#include "record/replay.h"

#include "base/mem.h"
#include "record/stream.h"
#include "base/checked.h"
#include "base/search.h"

static struct ht_mem *mem_of(const struct ht_replay *replay)
{
	return replay->image->ctx->mem;
}

/* ---- which calls ended ------------------------------------------------------------------------- */

/* A call that ended on another thread than its own. */
struct far_end {
	uint64_t stream, sequence;
	uint64_t window;
};

struct window_start {
	uint64_t window, sequence; /* of the first call in it */
};

struct first_pass {
	struct ht_vec *windows; /* struct window_start, by stream */
	struct ht_vec far;      /* struct far_end */
};

static bool set_ended(struct ht_mem *mem, struct ht_replay_stream *s, uint64_t sequence)
{
	size_t word = (size_t)(sequence >> 6);
	if (word >= s->n_ended_words) {
		size_t n = s->n_ended_words * 2 > word + 64 ? s->n_ended_words * 2 : word + 64;
		uint64_t *ended = ht_mem_realloc(mem, s->ended, s->n_ended_words * 8, n * 8);
		if (!ended)
			return false;
		memset(ended + s->n_ended_words, 0, (n - s->n_ended_words) * 8);
		s->ended = ended;
		s->n_ended_words = n;
	}
	s->ended[word] |= (uint64_t)1 << (sequence & 63);
	return true;
}

static bool has_ended(const struct ht_replay_stream *s, uint64_t sequence)
{
	size_t word = (size_t)(sequence >> 6);
	return word < s->n_ended_words && s->ended[word] >> (sequence & 63) & 1;
}

/* Where an END record points: a stream's index plus one, or 0 for its own, and the call's number. */
static void get_target(
        struct ht_bytes *record, uint64_t n_begins, uint64_t *ret_stream, uint64_t *ret_sequence)
{
	*ret_stream = ht_get_u64(record);
	uint64_t number = ht_get_u64(record);
	*ret_sequence = *ret_stream ? number : n_begins - 1 - number;
}

static bool scan_stream(struct ht_replay *replay, size_t i_stream, struct first_pass *pass)
{
	struct ht_mem *mem = mem_of(replay);
	struct ht_replay_stream *s = &replay->streams[i_stream];
	struct ht_cursor cursor = s->cursor;
	struct ht_bytes record;
	struct window_start now = { 0 };
	uint64_t n_begins = 0;
	bool done = true;
	for (unsigned type; done && (type = ht_cursor_next(&cursor, &record)) != 0;) {
		if (type == HT_TYPE_BEGIN) {
			n_begins++;
			continue;
		}
		(void)ht_get_u64(&record);
		if (type == HT_TYPE_WINDOW) {
			now = (struct window_start){ ht_get_u64(&record), n_begins };
			done = HT_VEC_PUSH(mem, &pass->windows[i_stream], struct window_start, now);
		} else if (type == HT_TYPE_END) {
			uint64_t stream, sequence;
			get_target(&record, n_begins, &stream, &sequence);
			struct far_end far = { stream - 1, sequence, now.window };
			if (stream)
				done = HT_VEC_PUSH(mem, &pass->far, struct far_end, far);
			else if (sequence >= now.sequence && sequence < n_begins)
				done = set_ended(mem, s, sequence);
		}
	}
	s->n_begins = n_begins;
	return done;
}

static struct ht_replay_stream *stream_by_index(const struct ht_replay *replay, uint64_t index)
{
	size_t low = HT_LOWER_BOUND(
	        at, replay->n_streams, replay->streams[at].cursor.stream->index < index);
	bool found = low < replay->n_streams && replay->streams[low].cursor.stream->index == index;
	return found ? &replay->streams[low] : NULL;
}

/* The window in which a call of a stream began. */
static uint64_t window_of(const struct ht_vec *windows, uint64_t sequence)
{
	const struct window_start *starts = windows->data;
	size_t low = HT_LOWER_BOUND(at, windows->n, starts[at].sequence <= sequence);
	return low ? starts[low - 1].window : 0;
}

static bool settle_far(struct ht_replay *replay, const struct first_pass *pass)
{
	const struct far_end *far = pass->far.data;
	for (size_t i = 0; i < pass->far.n; i++) {
		struct ht_replay_stream *s = stream_by_index(replay, far[i].stream);
		if (!s || far[i].sequence >= s->n_begins ||
		        window_of(&pass->windows[s - replay->streams], far[i].sequence) !=
		                far[i].window)
			continue;
		if (!set_ended(mem_of(replay), s, far[i].sequence))
			return false;
	}
	return true;
}

static enum ht_status find_ended(struct ht_replay *replay)
{
	struct ht_mem *mem = mem_of(replay);
	size_t n_bytes = replay->n_streams * sizeof(struct ht_vec);
	struct first_pass pass = { .windows = ht_mem_zalloc(mem, n_bytes) };
	bool done = pass.windows != NULL;
	for (size_t i = 0; done && i < replay->n_streams; i++)
		done = scan_stream(replay, i, &pass);
	done = done && settle_far(replay, &pass);
	for (size_t i = 0; pass.windows && i < replay->n_streams; i++)
		ht_vec_free(mem, &pass.windows[i], sizeof(struct window_start));
	ht_mem_free(mem, pass.windows, n_bytes);
	ht_vec_free(mem, &pass.far, sizeof(struct far_end));
	return done ? HT_OK : ht_fail_nomem(replay->image->ctx);
}

/* ---- all threads by time ----------------------------------------------------------------------- */

/* Read ahead; every record of a thread starts with the time since the one before. */
static void advance(struct ht_replay_stream *s)
{
	s->type = ht_cursor_next(&s->cursor, &s->record);
	if (!s->type)
		return;
	ht_sum(&s->cursor.ns, (int64_t)ht_get_u64(&s->record));
	s->ns = s->cursor.ns;
}

static bool comes_first(const struct ht_replay *replay, uint32_t a, uint32_t b)
{
	int64_t x = replay->streams[a].ns, y = replay->streams[b].ns;
	return x != y ? x < y : a < b;
}

static void sift_down(struct ht_replay *replay, size_t i)
{
	uint32_t *heap = replay->heap, moved = heap[i];
	for (size_t child; (child = 2 * i + 1) < replay->n_heap; i = child) {
		if (child + 1 < replay->n_heap && comes_first(replay, heap[child + 1], heap[child]))
			child++;
		if (!comes_first(replay, heap[child], moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

enum ht_status ht_replay_init(const struct ht_image *image, struct ht_replay *ret_replay)
{
	struct ht_replay *replay = ret_replay;
	struct ht_mem *mem = image->ctx->mem;
	*replay = (struct ht_replay){ .image = image };
	size_t n = 0;
	for (size_t i = 0; i < image->n_streams; i++)
		n += image->streams[i].kind == HT_CHUNK_CALLS;
	if (!n)
		return HT_OK;
	replay->streams = ht_mem_zalloc(mem, n * sizeof *replay->streams);
	replay->heap = ht_mem_alloc(mem, n * sizeof *replay->heap);
	if (!replay->streams || !replay->heap) {
		ht_mem_free(mem, replay->streams, n * sizeof *replay->streams);
		ht_mem_free(mem, replay->heap, n * sizeof *replay->heap);
		return ht_fail_nomem(image->ctx);
	}
	for (size_t i = 0; i < image->n_streams; i++)
		if (image->streams[i].kind == HT_CHUNK_CALLS)
			ht_cursor_init(
			        &replay->streams[replay->n_streams++].cursor, &image->streams[i]);
	/* Calls before any word of a thread exist in damaged files only; they are of number 0. */
	struct ht_replay_thread nobody = { 0 };
	enum ht_status status = HT_VEC_PUSH(mem, &replay->threads, struct ht_replay_thread, nobody)
	                                ? find_ended(replay)
	                                : ht_fail_nomem(image->ctx);
	for (size_t i = 0; status == HT_OK && i < n; i++) {
		replay->streams[i].n_begins = 0;
		advance(&replay->streams[i]);
		if (replay->streams[i].type)
			replay->heap[replay->n_heap++] = (uint32_t)i;
	}
	for (size_t i = replay->n_heap; i-- > 0;)
		sift_down(replay, i);
	if (status != HT_OK)
		ht_replay_done(replay);
	return status;
}

static void free_op(struct ht_mem *mem, struct ht_op *op)
{
	ht_vec_free(mem, &op->text, 1);
	ht_mem_free(mem, op, sizeof *op);
}

void ht_replay_done(struct ht_replay *replay)
{
	struct ht_mem *mem = mem_of(replay);
	for (size_t i = 0; i < replay->n_streams; i++) {
		struct ht_replay_stream *s = &replay->streams[i];
		struct ht_op **open = s->open.data;
		for (size_t j = 0; j < s->open.n; j++)
			free_op(mem, open[j]);
		ht_vec_free(mem, &s->open, sizeof *open);
		ht_mem_free(mem, s->ended, s->n_ended_words * 8);
	}
	for (size_t i = 0; i < replay->threads.n; i++)
		ht_vec_free(
		        mem, &ht_replay_thread(replay, (uint32_t)i)->stack, sizeof(struct ht_op *));
	ht_vec_free(mem, &replay->threads, sizeof(struct ht_replay_thread));
	for (struct ht_op *op = replay->free_ops, *next; op; op = next) {
		next = op->next;
		free_op(mem, op);
	}
	ht_mem_free(mem, replay->streams, replay->n_streams * sizeof *replay->streams);
	ht_mem_free(mem, replay->heap, replay->n_streams * sizeof *replay->heap);
	*replay = (struct ht_replay){ .image = replay->image };
}

struct ht_op *ht_replay_top(const struct ht_replay_thread *thread)
{
	return thread->stack.n ? ((struct ht_op **)thread->stack.data)[thread->stack.n - 1] : NULL;
}

struct ht_replay_thread *ht_replay_find(const struct ht_replay *replay, uint64_t number)
{
	for (size_t i = 0; i < replay->threads.n; i++)
		if (ht_replay_thread(replay, (uint32_t)i)->number == number)
			return ht_replay_thread(replay, (uint32_t)i);
	return NULL;
}

/* From here on, the calls of a stream are those of another thread. */
static enum ht_status switch_thread(struct ht_replay *replay, struct ht_replay_stream *s)
{
	struct ht_replay_thread fresh = { .number = ht_get_u64(&s->record) };
	const struct ht_replay_thread *known = ht_replay_find(replay, fresh.number);
	s->i_thread = (uint32_t)(known ? (size_t)(known - ht_replay_thread(replay, 0))
	                               : replay->threads.n);
	if (!known &&
	        !HT_VEC_PUSH(mem_of(replay), &replay->threads, struct ht_replay_thread, fresh))
		return ht_fail_nomem(replay->image->ctx);
	return HT_OK;
}

static struct ht_op *take_op(struct ht_replay *replay)
{
	struct ht_op *op = replay->free_ops;
	if (!op)
		return ht_mem_zalloc(mem_of(replay), sizeof *op);
	replay->free_ops = op->next;
	struct ht_vec text = op->text;
	text.n = 0;
	*op = (struct ht_op){ .text = text };
	return op;
}

static void get_call(struct ht_replay_stream *s, struct ht_op *op)
{
	struct ht_bytes *record = &s->record;
	uint8_t bits = ht_get_byte(record);
	op->scope = bits & 15;
	op->begin_ns = s->ns;
	op->name = ht_get_u64(record);
	op->record_id = s->cursor.id += (uint64_t)ht_get_i64(record);
	op->sequence = bits & HT_BEGIN_SEQUENCE ? ht_get_i64(record) : -1;
	op->forward_thread = bits & HT_BEGIN_FORWARD ? ht_get_u64(record) : 0;
	op->schema = bits & HT_BEGIN_SCHEMA ? ht_get_u64(record) : 0;
	if (bits & HT_BEGIN_KERNEL) {
		op->kernel_backend = ht_get_u64(record);
		op->kernel_file = ht_get_u64(record);
		op->tensor_range = ht_get_u64(record);
	}
	op->inputs = *record;
}

/* Reading the id keeps those after it right, also for a call that is left out. */
static void skip_call(struct ht_replay_stream *s)
{
	(void)ht_get_byte(&s->record);
	(void)ht_get_u64(&s->record);
	s->cursor.id += (uint64_t)ht_get_i64(&s->record);
}

static enum ht_status begin(struct ht_replay *replay, struct ht_replay_stream *s,
        const struct ht_replay_sink *sinks, size_t n_sinks)
{
	uint64_t sequence = s->n_begins++;
	if (!has_ended(s, sequence)) {
		skip_call(s);
		return HT_OK;
	}
	struct ht_op *op = take_op(replay);
	if (!op)
		return ht_fail_nomem(replay->image->ctx);
	op->i_stream = (uint32_t)(s - replay->streams);
	op->i_thread = s->i_thread;
	op->sequence_in_stream = sequence;
	get_call(s, op);
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < n_sinks; i++)
		if (sinks[i].begin)
			status = sinks[i].begin(sinks[i].user, replay, op);
	struct ht_vec *stack = &ht_replay_thread(replay, op->i_thread)->stack;
	if (status == HT_OK && (!HT_VEC_PUSH(mem_of(replay), stack, struct ht_op *, op) ||
	                               !ht_vec_reserve(mem_of(replay), &s->open, sizeof op, 1)))
		status = ht_fail_nomem(replay->image->ctx);
	if (status != HT_OK) {
		free_op(mem_of(replay), op);
		return status;
	}
	((struct ht_op **)s->open.data)[s->open.n++] = op;
	return HT_OK;
}

static void remove_at(struct ht_vec *ops, size_t i)
{
	struct ht_op **all = ops->data;
	memmove(&all[i], &all[i + 1], (ops->n - i - 1) * sizeof *all);
	ops->n--;
}

/* Take a call from where it is open, nearly always the last. NULL: it ended before. */
static struct ht_op *take_open(
        struct ht_replay *replay, struct ht_replay_stream *s, uint64_t sequence)
{
	struct ht_op **open = s->open.data, *op = NULL;
	for (size_t i = s->open.n; i-- > 0 && !op;) {
		if (open[i]->sequence_in_stream == sequence) {
			op = open[i];
			remove_at(&s->open, i);
		}
	}
	if (!op)
		return NULL;
	struct ht_vec *stack = &ht_replay_thread(replay, op->i_thread)->stack;
	for (size_t i = stack->n; i-- > 0;) {
		if (((struct ht_op **)stack->data)[i] == op) {
			remove_at(stack, i);
			break;
		}
	}
	return op;
}

static enum ht_status end(struct ht_replay *replay, struct ht_replay_stream *s,
        const struct ht_replay_sink *sinks, size_t n_sinks)
{
	uint64_t index, sequence;
	get_target(&s->record, s->n_begins, &index, &sequence);
	struct ht_replay_stream *origin = index ? stream_by_index(replay, index - 1) : s;
	struct ht_op *op = origin ? take_open(replay, origin, sequence) : NULL;
	if (!op)
		return HT_OK;
	op->end_ns = s->ns;
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < n_sinks; i++) {
		struct ht_bytes outputs = s->record;
		if (sinks[i].end)
			status = sinks[i].end(sinks[i].user, replay, op, &outputs);
	}
	op->next = replay->free_ops;
	replay->free_ops = op;
	return status;
}

static enum ht_status tell(struct ht_replay *replay, struct ht_replay_stream *s,
        const struct ht_replay_sink *sinks, size_t n_sinks)
{
	if (s->type == HT_TYPE_BEGIN)
		return begin(replay, s, sinks, n_sinks);
	if (s->type == HT_TYPE_END)
		return end(replay, s, sinks, n_sinks);
	if (s->type == HT_TYPE_THREAD)
		return switch_thread(replay, s);
	if (s->type == HT_TYPE_FREED) {
		uint64_t address = ht_get_u64(&s->record);
		for (size_t i = 0; i < n_sinks; i++)
			if (sinks[i].freed)
				sinks[i].freed(sinks[i].user, address);
	}
	return HT_OK;
}

enum ht_status ht_replay_run(
        struct ht_replay *replay, const struct ht_replay_sink *sinks, size_t n_sinks)
{
	while (replay->n_heap) {
		struct ht_replay_stream *s = &replay->streams[replay->heap[0]];
		HT_TRY(tell(replay, s, sinks, n_sinks));
		advance(s);
		if (!s->type)
			replay->heap[0] = replay->heap[--replay->n_heap];
		if (replay->n_heap > 1)
			sift_down(replay, 0);
	}
	return HT_OK;
}
