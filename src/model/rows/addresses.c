/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses.c - see addresses.h.
 */
#include "model/rows/addresses.h"

#include "base/text_compare.h"

static const char before[] = " at 0x";
#define N_BEFORE (sizeof before - 1)

/* The next address of the text and its length with what is before it; NULL: there is none. */
static const char *find(const char *text, size_t *ret_n)
{
	for (const char *at = text; (at = strstr(at, before)) != NULL; at += N_BEFORE) {
		size_t n = N_BEFORE;
		while (ht_hex_digit(at[n]) >= 0)
			n++;
		if (n > N_BEFORE) {
			*ret_n = n;
			return at;
		}
	}
	return NULL;
}

/* The rest behind each address moves to the front; to may be the text itself. */
static void drop(char *to, const char *text)
{
	size_t n_address, n = 0;
	for (const char *at; (at = find(text, &n_address)) != NULL; text = at + n_address) {
		memmove(to + n, text, (size_t)(at - text));
		n += (size_t)(at - text);
	}
	memmove(to + n, text, strlen(text) + 1);
}

const char *ht_without_addresses(struct ht_mem *mem, struct ht_vec *room, const char *text)
{
	size_t n_address;
	if (!find(text, &n_address))
		return text;
	room->n = 0;
	if (!ht_vec_reserve(mem, room, 1, strlen(text) + 1))
		return NULL;
	drop(room->data, text);
	return room->data;
}

const char *ht_copy_without_addresses(struct ht_arena *arena, const char *text)
{
	size_t n_address;
	if (!find(text, &n_address))
		return text;
	char *copy = ht_arena_strndup(arena, text, strlen(text));
	if (copy)
		drop(copy, copy);
	return copy;
}
