/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_names.c - see column_names.h.
 */
#include "sql/column_names.h"

#include "base/mem.h"

/* Only ASCII has case in SQL. */
static const char *lower(struct ht_arena *arena, const char *text)
{
	char *copy = ht_arena_strndup(arena, text, strlen(text));
	for (char *p = copy; p && *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	return copy;
}

/* Take a name unless somebody has it; false when out of memory. */
static bool take(struct ht_names *names, const char *name, bool *ret_taken)
{
	const char *key = lower(names->arena, name);
	if (!key)
		return false;
	size_t n = strlen(key);
	uint64_t hash = ht_hash(key, n);
	*ret_taken = !ht_text_table_find(&names->taken, key, n, hash);
	struct ht_text text = { key, hash, (uint32_t)n, 0 };
	return !*ret_taken || ht_text_table_put(names->arena->mem, &names->taken, &text);
}

const char *ht_names_add(struct ht_names *names, const char *name, const char *other)
{
	bool taken = false;
	if (!take(names, name, &taken))
		return NULL;
	if (taken)
		return ht_arena_strndup(names->arena, name, strlen(name));
	if (!take(names, other, &taken))
		return NULL;
	if (taken)
		return ht_arena_strndup(names->arena, other, strlen(other));
	for (unsigned number = 2;; number++) {
		const char *numbered = ht_arena_printf(names->arena, "%s:%u", other, number);
		if (!numbered || !take(names, numbered, &taken))
			return NULL;
		if (taken)
			return numbered;
	}
}

void ht_names_done(struct ht_names *names)
{
	if (names->taken.slots)
		ht_mem_free(names->arena->mem, names->taken.slots,
		        names->taken.cap * sizeof *names->taken.slots);
	names->taken = (struct ht_text_table){ 0 };
}
