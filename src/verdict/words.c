/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - see words.h.
 */
#include "verdict/words.h"

#include "table/format.h"

const char *ht_words_keep(struct ht_words *words, const char *text)
{
	words->no_memory |= !text;
	return text ? text : "";
}

const char *ht_words_time(struct ht_words *words, int64_t ns)
{
	char buf[HT_FORMAT_BYTES];
	ht_format_double(buf, HT_DURATION_F64, (double)ns);
	return ht_words_keep(words, ht_arena_printf(words->arena, "%s", buf));
}
