/*
 * number_list.c - see number_list.h.
 */
#include "analysis/common/number_list.h"

#include <stddef.h>
#include <stdlib.h>

/* The next item of the list, which moves on; false at the end and for anything else. */
static bool next_range(const char **list, int64_t *ret_first, int64_t *ret_last)
{
	const char *at = *list;
	if (*at < '0' || *at > '9')
		return false;
	char *end;
	*ret_first = *ret_last = strtoll(at, &end, 10);
	if (*end == '-') {
		at = end + 1;
		if (*at < '0' || *at > '9')
			return false;
		*ret_last = strtoll(at, &end, 10);
	}
	if (*end == ',' && end[1])
		end++;
	else if (*end)
		return false;
	*list = end;
	return true;
}

bool ht_number_list_is_valid(const char *list)
{
	int64_t first, last;
	if (!*list)
		return false;
	while (*list)
		if (!next_range(&list, &first, &last))
			return false;
	return true;
}

bool ht_number_list_has(const char *list, int64_t number)
{
	int64_t first, last;
	while (*list && next_range(&list, &first, &last))
		if (first <= number && number <= last)
			return true;
	return false;
}
