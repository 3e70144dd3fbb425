/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_axis.c - see group_axis.h.
 */
#include "model/communication/group_axis.h"

#include "base/status.h"
#include "json/json_text.h"

#include <ctype.h>
#include <string.h>

#define MAX_WORD 24

static enum ht_axis axis_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum ht_axis axis;
	} words[] = { { "pp", HT_AXIS_PIPELINE }, { "pipeline", HT_AXIS_PIPELINE },
		{ "pipe", HT_AXIS_PIPELINE }, { "tp", HT_AXIS_TENSOR },
		{ "tensor", HT_AXIS_TENSOR }, { "cp", HT_AXIS_CONTEXT },
		{ "context", HT_AXIS_CONTEXT }, { "ep", HT_AXIS_EXPERT },
		{ "expert", HT_AXIS_EXPERT }, { "dp", HT_AXIS_DATA }, { "data", HT_AXIS_DATA },
		{ "fsdp", HT_AXIS_DATA }, { "hsdp", HT_AXIS_DATA }, { "ddp", HT_AXIS_DATA },
		{ "embedding", HT_AXIS_OTHER } };
	for (size_t i = 0; i < HT_COUNT(words); i++)
		if (!strcmp(word, words[i].word))
			return words[i].axis;
	return HT_AXIS_NONE;
}

enum ht_axis ht_axis_of(const char *description)
{
	enum ht_axis axis = HT_AXIS_NONE;
	char word[MAX_WORD];
	size_t n = 0;
	for (const char *at = description;; at++) {
		if (isalpha((unsigned char)*at)) {
			word[n] = (char)tolower((unsigned char)*at);
			n += n < MAX_WORD - 1;
			continue;
		}
		word[n] = '\0';
		n = 0;
		enum ht_axis own = axis_of_word(word);
		if (own != HT_AXIS_NONE && axis != HT_AXIS_NONE && own != axis)
			return HT_AXIS_NONE;
		axis = own != HT_AXIS_NONE ? own : axis;
		if (!*at)
			return axis;
	}
}

int64_t ht_group_place(const char *ranks, int64_t rank, int64_t *ret_first, int64_t *ret_size)
{
	struct ht_json reader = { ranks };
	int64_t found = -1, number;
	*ret_size = *ret_first = 0;
	if (!ht_json_valid(ranks, strlen(ranks)))
		return -1;
	struct ht_json_value list = ht_json_next(&reader), item;
	if (list.type != HT_JSON_ARRAY)
		return -1;
	reader = ht_json_enter(&list);
	for (; ht_json_element(&reader, &item); ++*ret_size) {
		if (!ht_json_i64(&item, &number))
			continue;
		*ret_first = *ret_size ? *ret_first : number;
		if (found < 0 && number == rank)
			found = *ret_size;
	}
	return found;
}
