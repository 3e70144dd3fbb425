/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_snapshot.c - the memory snapshot of a trace as text, for ht_dump.
 */
#include "base/emit.h"
#include "base/hash.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

struct dump {
	const struct ht_trace *t;
	struct ht_emit *emit;
};

static void word(const struct dump *d, const char *text)
{
	ht_emit_char(d->emit, ' ');
	ht_emit_text(d->emit, text, strlen(text));
}

static void number(const struct dump *d, int64_t value)
{
	ht_emit_char(d->emit, ' ');
	if (value == HT_NO_I64)
		ht_emit_char(d->emit, '-');
	else
		ht_emit_i64(d->emit, value);
}

static void text(const struct dump *d, uint32_t id)
{
	ht_emit_char(d->emit, ' ');
	if (id == HT_NO_STR)
		ht_emit_char(d->emit, '-');
	else
		ht_emit_string(d->emit, ht_str(d->t, id), ht_str_len(d->t, id));
}

/* What stands in its frames, as a number. */
static void stack(const struct dump *d, uint32_t id)
{
	const struct ht_trace *t = d->t;
	uint64_t hash = 0;
	for (uint32_t i = id == HT_MEM_NO_STACK ? 0 : t->more->mem_stack_offsets[id];
	        id != HT_MEM_NO_STACK && i < t->more->mem_stack_offsets[id + 1]; i++) {
		const struct ht_mem_frame *frame =
		        &t->more->mem_frames[t->more->mem_stack_frames[i]];
		const char *file = ht_str(t, frame->file), *name = ht_str(t, frame->name);
		hash = ht_hash_mix(hash, ht_hash(file, strlen(file)));
		hash = ht_hash_mix(hash, ht_hash(name, strlen(name)) ^ (uint64_t)frame->line);
	}
	ht_emit_char(d->emit, ' ');
	ht_emit_u64(d->emit, hash);
}

static void dump_segments(const struct dump *d)
{
	for (size_t i = 0; i < d->t->more->n_mem_segments; i++) {
		const struct ht_mem_segment *g = &d->t->more->mem_segments[i];
		HT_EMIT(d->emit, "memory_segment ");
		ht_emit_u64(d->emit, g->addr);
		const int64_t numbers[] = { g->device, g->total, g->allocated, g->active,
			g->requested, g->stream, g->pool[0], g->pool[1], g->type,
			g->is_expandable };
		for (size_t k = 0; k < HT_COUNT(numbers); k++)
			number(d, numbers[k]);
		stack(d, g->stack);
		ht_emit_char(d->emit, '\n');
		for (uint32_t k = 0; k < g->n_blocks; k++) {
			const struct ht_mem_block *b = &d->t->more->mem_blocks[g->first_block + k];
			HT_EMIT(d->emit, "memory_block ");
			ht_emit_u64(d->emit, b->addr);
			number(d, b->size);
			number(d, b->requested);
			word(d, ht_mem_state_name((enum ht_mem_state)b->state));
			stack(d, b->stack);
			ht_emit_char(d->emit, '\n');
		}
	}
}

static void dump_events(const struct dump *d)
{
	for (size_t i = 0; i < d->t->more->n_mem_events; i++) {
		const struct ht_mem_event *e = &d->t->more->mem_events[i];
		HT_EMIT(d->emit, "memory_event ");
		ht_emit_u64(d->emit, e->addr);
		word(d, ht_mem_action_name((enum ht_mem_action)e->action));
		const int64_t numbers[] = { e->device, e->size, e->stream, e->time_ns, e->pool[0],
			e->pool[1] };
		for (size_t k = 0; k < HT_COUNT(numbers); k++)
			number(d, numbers[k]);
		text(d, e->context);
		text(d, e->metadata);
		text(d, e->category);
		stack(d, e->stack);
		ht_emit_char(d->emit, '\n');
	}
}

void ht_mem_dump(const struct ht_trace *t, struct ht_emit *emit)
{
	struct dump d = { t, emit };
	dump_segments(&d);
	dump_events(&d);
	for (size_t i = 0; i < t->more->n_mem_annotations; i++) {
		const struct ht_mem_annotation *a = &t->more->mem_annotations[i];
		HT_EMIT(emit, "memory_annotation");
		number(&d, a->time_ns);
		number(&d, a->is_end);
		text(&d, a->name);
		ht_emit_char(emit, '\n');
	}
}
