/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_threads.c - one thread is one track, however its number is written.
 *
 * In 2021 the profiler wrote a thread's number as text for operators ("tid": "25738") and as a number for calls of the
 * runtime and for memory events. Rows whose thread is such a text go to the track of the number, where the file has
 * one in that process; so calls stand inside the operators that make them. The track that they leave stays, empty.
 */
#include "store/seal.h"

#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

struct thread {
	int64_t pid, tid;
	uint8_t pid_type;
	uint16_t document;
	bool as_text;
	uint32_t track;
};

/* The number that a text is, as a number is written: no blanks, no zeros before it. */
static bool parse_number(const char *text, int64_t *ret_number)
{
	char *end = NULL;
	if (*text < '0' || *text > '9' || (*text == '0' && text[1]))
		return false;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	*ret_number = number;
	return !*end && !errno;
}

/* Of one thread the track of the number comes first. */
static int by_thread(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;
	int by = ht_order_i64(a->document, b->document);
	by = by ? by : ht_order_i64(a->pid_type, b->pid_type);
	by = by ? by : ht_order_i64(a->pid, b->pid);
	by = by ? by : ht_order_i64(a->tid, b->tid);
	return by ? by : ht_order_i64(a->as_text, b->as_text);
}

static size_t list_threads(const struct ht_trace *t, struct thread *threads, size_t *ret_texts)
{
	size_t n = 0;
	*ret_texts = 0;
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct ht_track *track = &t->tracks[i];
		struct thread thread = { track->pid, track->tid, track->pid_type, track->document,
			track->tid_type == HT_ID_STR, i };
		if (track->tid_type == HT_ID_ABSENT)
			continue;
		if (thread.as_text && !parse_number(ht_str(t, (uint32_t)track->tid), &thread.tid))
			continue;
		*ret_texts += thread.as_text;
		threads[n++] = thread;
	}
	return n;
}

enum ht_status ht_seal_threads(ht_ctx *ctx, struct ht_trace *t)
{
	struct ht_arena arena;
	size_t n = 0, n_texts = 0, n_moved = 0;
	ht_arena_init(&arena, ctx->mem);
	struct thread *threads = ht_arena_alloc(&arena, (t->n_tracks + 1) * sizeof *threads);
	uint32_t *to = ht_arena_alloc(&arena, (t->n_tracks + 1) * sizeof *to);
	if (threads && to)
		n = list_threads(t, threads, &n_texts);
	/* files without such texts, which are nearly all, end here */
	if (n_texts)
		qsort(threads, n, sizeof *threads, by_thread);
	for (uint32_t i = 0; n_texts && i < t->n_tracks; i++)
		to[i] = i;
	for (size_t i = 1; n_texts && i < n; i++) {
		const struct thread *a = &threads[i - 1], *b = &threads[i];
		bool same = a->document == b->document && a->pid_type == b->pid_type &&
		            a->pid == b->pid && a->tid == b->tid;
		if (same && !a->as_text && b->as_text) {
			to[b->track] = a->track;
			n_moved++;
		}
	}
	uint32_t *track = HT_MUTABLE(uint32_t, t->track);
	for (size_t row = 0; n_moved && row < t->n_track; row++)
		track[row] = to[track[row]];
	bool ok = threads && to;
	ht_arena_done(&arena);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}
