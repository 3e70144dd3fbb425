/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_snapshot.c - memory snapshots in the store: from the draft to sections, and their checks. See allocator_snapshot.h.
 */
#include "store/allocator_snapshot.h"

#include "base/mem.h"
#include "store/sections.h"
#include "store/trace.h"

const char *ht_mem_action_name(enum ht_mem_action action)
{
	static const char *const names[HT_MEM_N_ACTIONS] = { "alloc", "free_requested",
		"free_completed", "free", "segment_alloc", "segment_free", "segment_map",
		"segment_unmap", "oom", "snapshot", "other" };
	return names[action];
}

const char *ht_mem_state_name(enum ht_mem_state state)
{
	static const char *const names[] = { "active_allocated", "active_pending_free",
		"inactive" };
	return names[state];
}

/* ---- assembling ---- */

/* The array of a vector becomes a section as it is. */
static bool take(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, const void **ret_data,
        size_t *ret_n)
{
	if (!vec->n)
		ht_vec_free(mem, vec, elem_bytes);
	void *data =
	        vec->n ? ht_mem_realloc(mem, vec->data, vec->cap * elem_bytes, vec->n * elem_bytes)
	               : ht_mem_alloc(mem, 0);
	if (!data)
		return false;
	*ret_data = data;
	*ret_n = vec->n;
	*vec = (struct ht_vec){ 0 };
	return true;
}

#define TAKE(section, type, vec)                                                                   \
	do {                                                                                       \
		const void *data_;                                                                 \
		if (!take(ctx->mem, &d->vec, sizeof(type), &data_, &ht_more(t)->n_##section))      \
			return ht_fail_nomem(ctx);                                                 \
		ht_more(t)->section = data_;                                                       \
	} while (0)

enum ht_status ht_mem_draft_assemble(ht_ctx *ctx, struct ht_mem_draft *d, struct ht_trace *t)
{
	struct ht_mem_about *about = HT_SECTION_ALLOC(
	        ctx, ht_more(t), mem_about, struct ht_mem_about, (size_t)d->is_there);
	if (!about)
		return ht_fail_nomem(ctx);
	if (d->is_there)
		*about = d->about;
	TAKE(mem_events, struct ht_mem_event, events);
	TAKE(mem_segments, struct ht_mem_segment, segments);
	TAKE(mem_blocks, struct ht_mem_block, blocks);
	TAKE(mem_frames, struct ht_mem_frame, frames);
	TAKE(mem_stack_offsets, uint32_t, stack_offsets);
	TAKE(mem_stack_frames, uint32_t, stack_frames);
	TAKE(mem_annotations, struct ht_mem_annotation, annotations);
	return HT_OK;
}

void ht_mem_draft_done(struct ht_mem *mem, struct ht_mem_draft *d)
{
	ht_vec_free(mem, &d->events, sizeof(struct ht_mem_event));
	ht_vec_free(mem, &d->segments, sizeof(struct ht_mem_segment));
	ht_vec_free(mem, &d->blocks, sizeof(struct ht_mem_block));
	ht_vec_free(mem, &d->frames, sizeof(struct ht_mem_frame));
	ht_vec_free(mem, &d->stack_offsets, sizeof(uint32_t));
	ht_vec_free(mem, &d->stack_frames, sizeof(uint32_t));
	ht_vec_free(mem, &d->annotations, sizeof(struct ht_mem_annotation));
}

/* ---- checks ---- */

static bool is_text(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR || (size_t)id + 1 < t->n_string_offsets;
}

static bool is_stack(const struct ht_trace *t, uint32_t id)
{
	return id == HT_MEM_NO_STACK || (size_t)id + 1 < t->more->n_mem_stack_offsets;
}

static bool is_instant(int64_t ns)
{
	return ns == HT_NO_I64 || (ns >= -HT_MAX_TIME_NS && ns <= HT_MAX_TIME_NS);
}

bool ht_check_mem_about(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	(void)facts;
	(void)first;
	(void)n;
	return t->more->n_mem_about <= 1 && t->more->mem_about->n_devices <= UINT16_MAX + 1;
}

bool ht_check_mem_events(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (const struct ht_mem_event *e = t->more->mem_events + first; n--; e++)
		sound &= e->action < HT_MEM_N_ACTIONS && e->size >= 0 && is_instant(e->time_ns) &&
		         is_stack(t, e->stack) && is_text(t, e->context) &&
		         is_text(t, e->metadata) && is_text(t, e->category) &&
		         t->more->n_mem_about == 1 && e->device < t->more->mem_about->n_devices;
	return sound;
}

/* Blocks are of one segment: those of the next one follow. */
static bool shares_no_block(const struct ht_trace *t, const struct ht_mem_segment *s)
{
	const struct ht_mem_segment *before = s == t->more->mem_segments ? NULL : s - 1;
	return !before || s->first_block >= (uint64_t)before->first_block + before->n_blocks;
}

bool ht_check_mem_segments(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (const struct ht_mem_segment *s = t->more->mem_segments + first; n--; s++)
		sound &= s->type <= HT_MEM_POOL_UNKNOWN && is_stack(t, s->stack) && s->total >= 0 &&
		         (uint64_t)s->first_block + s->n_blocks <= t->more->n_mem_blocks &&
		         shares_no_block(t, s) && t->more->n_mem_about == 1 &&
		         s->device < t->more->mem_about->n_devices;
	return sound;
}

bool ht_check_mem_blocks(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (const struct ht_mem_block *b = t->more->mem_blocks + first; n--; b++)
		sound &= b->state <= HT_MEM_INACTIVE && is_stack(t, b->stack) && b->size >= 0 &&
		         b->requested >= 0 && b->segment < t->more->n_mem_segments;
	return sound;
}

bool ht_check_mem_frames(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (const struct ht_mem_frame *f = t->more->mem_frames + first; n--; f++)
		sound &= is_text(t, f->file) && is_text(t, f->name);
	return sound;
}

bool ht_check_mem_stack_offsets(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	const uint32_t *offsets = t->more->mem_stack_offsets;
	bool sound = offsets[0] == 0 &&
	             offsets[t->more->n_mem_stack_offsets - 1] == t->more->n_mem_stack_frames;
	(void)facts;
	for (size_t i = first ? first : 1; i < first + n; i++)
		sound &= offsets[i] >= offsets[i - 1];
	return sound;
}

bool ht_check_mem_stack_frames(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (size_t i = first; i < first + n; i++)
		sound &= t->more->mem_stack_frames[i] < t->more->n_mem_frames;
	return sound;
}

bool ht_check_mem_annotations(const void *store, void *facts, size_t first, size_t n)
{
	const struct ht_trace *t = store;
	bool sound = true;
	(void)facts;
	for (const struct ht_mem_annotation *a = t->more->mem_annotations + first; n--; a++)
		sound &= is_text(t, a->name) && is_instant(a->time_ns);
	return sound;
}
