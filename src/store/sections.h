/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.h - a store as data: which arrays it has, how they are freed, checked, cached and dumped.
 *
 * A store is a struct whose arrays ("sections") are pairs of members, `const type *name; size_t n_name;`.
 * A list of them describes one kind of store; the code below, and the cache, know nothing else about it.
 * There are no pointers in elements, so that a section can be written and mapped as it is.
 *
 * A new kind: a .def file with SECTION(name, type), a struct made of it, a check_name for each section, and
 *
 *     static const struct ht_section_info list[] = {
 *     #define SECTION(name, type) HT_SECTION_INFO(struct ht_graph, name, type),
 *     #include "store/graph_sections.def"
 *     #undef SECTION
 *     };
 *     const struct ht_sections ht_graph_sections = { "graph", 1, list, HT_COUNT(list), ... };
 */
#ifndef HT_STORE_SECTIONS_H
#define HT_STORE_SECTIONS_H

#include "base/status.h"

#include <string.h>

struct ht_emit;

/* Can every reader follow the elements [first, first + n) without leaving an array? Asked of one part at a
 * time, in any order and by many threads; other sections have the lengths that begin approved, but their
 * elements may be anything. */
typedef bool (*ht_check_fn)(const void *store, void *facts, size_t first, size_t n);

struct ht_section_info {
	const char *name;
	size_t elem_bytes;
	size_t offset;     /* of the pointer in the struct; the count follows it */
	ht_check_fn check; /* NULL: any bytes will do */
};

/* One kind of store. */
struct ht_sections {
	const char *name; /* lower case letters */
	uint32_t version; /* raise when the meaning of a section changes; names and sizes speak for
	                   * themselves */
	const struct ht_section_info *list;
	size_t n;
	/* Hash of whatever else the numbers depend on, such as enums; NULL: nothing. */
	uint64_t (*meaning)(void);
	/* Is a store sound, beyond each element on its own? begin looks at lengths and may prepare facts
	 * for the checks; NULL facts without an error: unsound. end looks at what needs all sections, after
	 * each of them was found sound, and frees the facts; it is called also when they were not. */
	enum ht_status (*begin)(ht_ctx *ctx, const void *store, void **ret_facts);
	enum ht_status (*end)(ht_ctx *ctx, const void *store, void *facts, bool *sound);
};

#define HT_SECTION_INFO(struct_, name_, type_) HT_SECTION_INFO_AT(struct_, name_, name_, type_)
/* The same where the section is a member of a member. */
#define HT_SECTION_INFO_AT(struct_, place_, name_, type_)                                          \
	{                                                                                          \
		.name = #name_, .elem_bytes = sizeof(type_), .offset = offsetof(struct_, place_),  \
		.check = check_##name_                                                             \
	}

struct ht_section {
	const void *data;
	size_t n;
};

static inline struct ht_section ht_section_get(
        const void *store, const struct ht_section_info *info)
{
	struct ht_section section;
	memcpy(&section.data, (const char *)store + info->offset, sizeof section.data);
	memcpy(&section.n, (const char *)store + info->offset + sizeof section.data,
	        sizeof section.n);
	return section;
}

static inline void ht_section_set(
        void *store, const struct ht_section_info *info, struct ht_section section)
{
	memcpy((char *)store + info->offset, &section.data, sizeof section.data);
	memcpy((char *)store + info->offset + sizeof section.data, &section.n, sizeof section.n);
}

/* Sections are const but for who makes them. */
#define HT_MUTABLE(type, array) ((type *)(uintptr_t)(array))
/* Allocate one; NULL when out of memory. Not zeroed below HT_MEM_MAP_BYTES. (base/mem.h) */
#define HT_SECTION_ALLOC(ctx, trace, section, type, count)                                         \
	((type *)(uintptr_t)((trace)->n_##section = (count),                                       \
	        (trace)->section = ht_mem_alloc((ctx)->mem, (count) * sizeof(type))))

/* Free the sections of a store that owns them. */
void ht_sections_free(const struct ht_sections *kind, void *store, struct ht_mem *mem);
/* What the sections hold. */
uint64_t ht_sections_bytes(const struct ht_sections *kind, const void *store);
/* Hash of all that decides how the bytes of a store of this kind are to be read. */
uint64_t ht_sections_layout(const struct ht_sections *kind);

/* ---- parts ---- */

/* Sections are checked and hashed in parts, which stay in a core's cache between the two. Parts with the same
 * position in sections of numbers hold the same elements and are looked at together, so that checks which
 * compare columns find the others there too. Parts are numbered through all sections. */
#define HT_PART_ELEMS ((size_t)32 << 10)
#define HT_PART_BYTES ((size_t)256 << 10)

struct ht_section_part {
	const struct ht_section_info *info;
	const char *bytes;
	size_t first, n; /* elements */
};

size_t ht_sections_n_parts(const struct ht_sections *kind, const void *store);
struct ht_section_part ht_sections_part(
        const struct ht_sections *kind, const void *store, size_t i);

/* Look at every part, on all threads of the context, and at the whole. look may be NULL; it sees each part
 * before it is checked. HT_NOMEM or HT_CANCELLED when it could not be told. */
typedef void (*ht_look_fn)(void *user, size_t i_part, const struct ht_section_part *part);
enum ht_status ht_sections_check(ht_ctx *ctx, const struct ht_sections *kind, const void *store,
        ht_look_fn look, void *user, bool *ret_sound) HT_MUST_USE;

/* Every section with its elements as hexadecimal numbers: a text that determines the store. */
void ht_sections_dump(const struct ht_sections *kind, const void *store, struct ht_emit *emit);

#endif
