/*
 * number_list.c - see number_list.h.
 */
#include "analysis/common/number_list.h"

#include <stdlib.h>

/* One item; text moves behind it and its comma. */
static bool next_range(const char **text, int64_t *ret_first, int64_t *ret_last)
{
	char *end;
	*ret_first = *ret_last = strtoll(*text, &end, 10);
	if (end == *text)
		return false;
	if (*end == '-') {
		const char *second = end + 1;
		*ret_last = strtoll(second, &end, 10);
		if (end == second)
			return false;
	}
	if (*end != ',' && *end != '\0')
		return false;
	*text = *end == ',' ? end + 1 : end;
	return true;
}

bool ht_number_list_is_valid(const char *text)
{
	int64_t first, last;
	while (*text) {
		if (!next_range(&text, &first, &last))
			return false;
	}
	return true;
}

bool ht_number_list_has(const char *text, int64_t number)
{
	int64_t first, last;
	while (*text && next_range(&text, &first, &last)) {
		if (first <= number && number <= last)
			return true;
	}
	return false;
}
