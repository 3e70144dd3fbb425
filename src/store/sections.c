/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.c - see sections.h.
 */
#include "store/sections.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/emit.h"

void ht_sections_free(const struct ht_sections *kind, void *store, struct ht_mem *mem)
{
	for (size_t i = 0; i < kind->n; i++) {
		struct ht_section section = ht_section_get(store, &kind->list[i]);
		ht_mem_free(
		        mem, (void *)(uintptr_t)section.data, section.n * kind->list[i].elem_bytes);
	}
}

uint64_t ht_sections_bytes(const struct ht_sections *kind, const void *store)
{
	uint64_t n = 0;
	for (size_t i = 0; i < kind->n; i++)
		n += ht_section_get(store, &kind->list[i]).n * kind->list[i].elem_bytes;
	return n;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return ht_hash_mix(hash, ht_hash(text, strlen(text)));
}

uint64_t ht_sections_layout(const struct ht_sections *kind)
{
	uint64_t hash = mix_text(mix_text(sizeof(void *), ht_version()), kind->name);
	hash = ht_hash_mix(hash, kind->version);
	for (size_t i = 0; i < kind->n; i++)
		hash = ht_hash_mix(mix_text(hash, kind->list[i].name), kind->list[i].elem_bytes);
	return kind->meaning ? ht_hash_mix(hash, kind->meaning()) : hash;
}

/* ---- parts ---- */

static size_t part_elems(const struct ht_section_info *info)
{
	size_t n = HT_PART_BYTES / info->elem_bytes;
	return !n ? 1 : n < HT_PART_ELEMS ? n : HT_PART_ELEMS;
}

static size_t n_parts_of(const struct ht_section_info *info, const void *store)
{
	size_t n = ht_section_get(store, info).n;
	return n / part_elems(info) + (n % part_elems(info) != 0);
}

/* The i-th part of a section. */
static struct ht_section_part part_of(
        const struct ht_section_info *info, const void *store, size_t i)
{
	struct ht_section section = ht_section_get(store, info);
	size_t n_elems = part_elems(info), first = i * n_elems;
	return (struct ht_section_part){ .info = info,
		.bytes = (const char *)section.data + first * info->elem_bytes,
		.first = first,
		.n = section.n - first < n_elems ? section.n - first : n_elems };
}

size_t ht_sections_n_parts(const struct ht_sections *kind, const void *store)
{
	size_t n = 0;
	for (size_t i = 0; i < kind->n; i++)
		n += n_parts_of(&kind->list[i], store);
	return n;
}

struct ht_section_part ht_sections_part(const struct ht_sections *kind, const void *store, size_t i)
{
	size_t k = 0;
	for (size_t n; i >= (n = n_parts_of(&kind->list[k], store)); k++)
		i -= n;
	return part_of(&kind->list[k], store, i);
}

/* ---- checks ---- */

struct checking {
	const struct ht_sections *kind;
	const void *store;
	void *facts;
	ht_look_fn look;
	void *user;
	atomic_bool unsound;
};

/* The i-th part of every section that has so many. */
static enum ht_status check_parts(void *user, size_t i_task, int i_worker)
{
	struct checking *c = user;
	size_t first_part = 0, n_parts;
	(void)i_worker;
	for (size_t k = 0; k < c->kind->n; k++, first_part += n_parts) {
		const struct ht_section_info *info = &c->kind->list[k];
		n_parts = n_parts_of(info, c->store);
		if (i_task >= n_parts)
			continue;
		if (atomic_load_explicit(&c->unsound, memory_order_relaxed))
			break;
		struct ht_section_part part = part_of(info, c->store, i_task);
		if (c->look)
			c->look(c->user, first_part + i_task, &part);
		if (info->check && !info->check(c->store, c->facts, part.first, part.n))
			atomic_store(&c->unsound, true);
	}
	return HT_OK;
}

enum ht_status ht_sections_check(ht_ctx *ctx, const struct ht_sections *kind, const void *store,
        ht_look_fn look, void *user, bool *ret_sound)
{
	void *facts = NULL;
	size_t n_tasks = 0;
	*ret_sound = false;
	HT_TRY(kind->begin(ctx, store, &facts));
	if (!facts)
		return HT_OK;
	struct checking c = {
		.kind = kind, .store = store, .facts = facts, .look = look, .user = user
	};
	for (size_t k = 0; k < kind->n; k++) {
		size_t n = n_parts_of(&kind->list[k], store);
		n_tasks = n > n_tasks ? n : n_tasks;
	}
	enum ht_status status = ht_parallel(ctx, n_tasks, check_parts, &c);
	bool sound = status == HT_OK && !atomic_load(&c.unsound);
	enum ht_status ended = kind->end(ctx, store, facts, &sound);
	*ret_sound = sound;
	return status != HT_OK ? status : ended;
}

/* ---- dump ---- */

void ht_sections_dump(const struct ht_sections *kind, const void *store, struct ht_emit *emit)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < kind->n; i++) {
		const struct ht_section_info *info = &kind->list[i];
		struct ht_section section = ht_section_get(store, info);
		HT_EMIT(emit, "section ");
		ht_emit_text(emit, info->name, strlen(info->name));
		ht_emit_char(emit, ' ');
		ht_emit_u64(emit, section.n);
		const unsigned char *bytes = section.data;
		for (size_t k = 0; k < section.n * info->elem_bytes; k++) {
			if (k % info->elem_bytes == 0)
				ht_emit_char(emit, k ? ' ' : '\n');
			ht_emit_char(emit, digits[bytes[k] >> 4]);
			ht_emit_char(emit, digits[bytes[k] & 15]);
		}
		ht_emit_char(emit, '\n');
	}
}
