/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pids.c - see pids.h.
 */
#include "write/pids.h"

#include "base/mem.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* Documents, numbers before texts, numbers from 0 up, then negative ones. */
static int compare_pids(const void *left, const void *right)
{
	const struct ht_pid *a = left, *b = right;
	if (a->document != b->document)
		return a->document < b->document ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	uint64_t x = (uint64_t)a->old, y = (uint64_t)b->old;
	return x < y ? -1 : x > y;
}

static bool add_pids(struct ht_mem *mem, const struct ht_trace *t, struct ht_pids *pids)
{
	memset(pids->of_track, 0xff, t->n_tracks * sizeof *pids->of_track);
	for (size_t row = 0; row < t->n_track; row++) {
		const struct ht_track *track = &t->tracks[t->track[row]];
		if (pids->of_track[t->track[row]] != HT_NONE || track->pid_type == HT_ID_ABSENT)
			continue;
		pids->of_track[t->track[row]] = 0;
		struct ht_pid pid = { track->pid, track->document, track->pid_type, false, 0 };
		if (!HT_VEC_PUSH(mem, &pids->list, struct ht_pid, pid))
			return false;
	}
	return true;
}

static void number_pids(struct ht_pids *pids)
{
	struct ht_pid *list = pids->list.data;
	size_t n = 0;
	uint32_t number = 0;
	if (pids->list.n)
		qsort(list, pids->list.n, sizeof *list, compare_pids);
	for (size_t i = 0; i < pids->list.n; i++)
		if (!n || compare_pids(&list[n - 1], &list[i]))
			list[n++] = list[i];
	pids->list.n = n;
	for (size_t i = 0; i < n; i++)
		if (list[i].type == HT_ID_INT)
			list[i].number = number++;
}

static struct ht_pid *find(const struct ht_pids *pids, const struct ht_pid *pid)
{
	return pids->list.n ? bsearch(pid, pids->list.data, pids->list.n, sizeof *pid, compare_pids)
	                    : NULL;
}

static void note_names(const struct ht_trace *t, struct ht_pids *pids)
{
	uint32_t name = ht_str_find(t, "process_name");
	struct ht_pid *list = pids->list.data;
	for (size_t row = 0; row < t->n_name && name != HT_NO_STR; row++)
		if (t->name[row] == name && t->ph[row] == 'M' &&
		        pids->of_track[t->track[row]] != HT_NONE)
			list[pids->of_track[t->track[row]]].has_name = true;
}

enum ht_status ht_pids_init(ht_ctx *ctx, const struct ht_trace *t, int64_t rank, size_t i_trace,
        struct ht_pids *ret_pids)
{
	struct ht_pids pids = { .n_tracks = t->n_tracks, .rank = rank, .i_trace = i_trace };
	pids.of_track = ht_mem_alloc(ctx->mem, t->n_tracks * sizeof *pids.of_track);
	if (!pids.of_track || !add_pids(ctx->mem, t, &pids)) {
		ht_pids_done(ctx, &pids);
		return ht_fail_nomem(ctx);
	}
	number_pids(&pids);
	for (size_t i = 0; i < t->n_tracks; i++)
		if (pids.of_track[i] != HT_NONE) {
			const struct ht_track *track = &t->tracks[i];
			struct ht_pid pid = { .old = track->pid,
				.document = track->document,
				.type = track->pid_type };
			pids.of_track[i] =
			        (uint32_t)(find(&pids, &pid) - (struct ht_pid *)pids.list.data);
		}
	note_names(t, &pids);
	*ret_pids = pids;
	return HT_OK;
}

void ht_pids_done(ht_ctx *ctx, struct ht_pids *pids)
{
	ht_vec_free(ctx->mem, &pids->list, sizeof(struct ht_pid));
	ht_mem_free(ctx->mem, pids->of_track, pids->n_tracks * sizeof *pids->of_track);
	pids->of_track = NULL;
}

void ht_pids_place(struct ht_pids *pids, size_t n)
{
	int64_t stride = 100;
	for (size_t i = 0; i < n; i++)
		while ((size_t)stride < pids[i].list.n)
			stride *= 10;
	for (size_t i = 0; i < n; i++)
		pids[i].first = (int64_t)i * stride;
}

const struct ht_pid *ht_pids_find(const struct ht_pids *pids, int64_t pid)
{
	return find(pids, &(struct ht_pid){ .old = pid, .type = HT_ID_INT });
}
