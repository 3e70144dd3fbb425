/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - see list.h.
 */
#include "base/list.h"

#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number at text; NULL when there is none or it does not fit. */
static const char *number(const char *text, int64_t *ret_value)
{
	const char *digits = text + (*text == '-');
	if (*digits < '0' || *digits > '9')
		return NULL;
	char *end;
	errno = 0;
	*ret_value = strtoll(text, &end, 10);
	return errno ? NULL : end;
}

bool ht_parse_i64(const char *text, int64_t *ret_value)
{
	int64_t value;
	const char *end = number(text, &value);
	if (!end || *end)
		return false;
	*ret_value = value;
	return true;
}

/* One item, up to the comma or the end; NULL when it is not a number or range. */
static const char *item(const char *p, struct ht_list_range *ret_range)
{
	p = number(p, &ret_range->first);
	ret_range->last = ret_range->first;
	if (p && *p == '-') {
		p++;
		if (!*p || *p == ',')
			ret_range->last = INT64_MAX;
		else
			p = number(p, &ret_range->last);
	}
	bool ends = p && (!*p || *p == ',') && ret_range->first <= ret_range->last;
	return ends ? p : NULL;
}

/* NULL, nothing and "all". */
static bool is_everything(const char *text)
{
	return !text || !*text || !strcmp(text, "all");
}

static int compare(const void *left, const void *right)
{
	const struct ht_list_range *a = left, *b = right;
	return (a->first > b->first) - (a->first < b->first);
}

/* Sort, and join what touches, so that a value is in at most one range. */
static void tidy(struct ht_list *list)
{
	struct ht_list_range *ranges = list->ranges.data;
	size_t last = 0;
	qsort(ranges, list->ranges.n, sizeof *ranges, compare);
	for (size_t i = 1; i < list->ranges.n; i++) {
		if (ranges[i].first > ranges[last].last)
			ranges[++last] = ranges[i];
		else if (ranges[i].last > ranges[last].last)
			ranges[last].last = ranges[i].last;
	}
	list->ranges.n = last + 1;
}

enum ht_status ht_list_parse(
        ht_ctx *ctx, const char *what, const char *text, struct ht_list *ret_list)
{
	struct ht_list list = { 0 };
	if (is_everything(text)) {
		*ret_list = list;
		return HT_OK;
	}
	list.some = true;
	for (const char *p = text;; p++) {
		struct ht_list_range range;
		p = item(p, &range);
		if (!p) {
			ht_list_done(ctx, &list);
			return ht_fail(ctx, HT_USAGE, NULL, -1,
			        "write numbers and ranges as in 0,2-3,7- or all",
			        "%s is no list of numbers: %s", what, text);
		}
		if (!HT_VEC_PUSH(ctx->mem, &list.ranges, struct ht_list_range, range)) {
			ht_list_done(ctx, &list);
			return ht_fail_nomem(ctx);
		}
		if (!*p)
			break;
	}
	tidy(&list);
	*ret_list = list;
	return HT_OK;
}

void ht_list_done(ht_ctx *ctx, struct ht_list *list)
{
	ht_vec_free(ctx->mem, &list->ranges, sizeof(struct ht_list_range));
	list->some = false;
}

bool ht_list_has(const struct ht_list *list, int64_t value)
{
	const struct ht_list_range *ranges = list->ranges.data;
	if (!list->some)
		return true;
	size_t low = HT_LOWER_BOUND(at, list->ranges.n, ranges[at].last < value);
	return low < list->ranges.n && ranges[low].first <= value;
}

bool ht_list_text_has(const char *text, int64_t value)
{
	struct ht_list_range range;
	if (is_everything(text))
		return true;
	for (const char *p = item(text, &range); p; p = *p ? item(p + 1, &range) : NULL)
		if (range.first <= value && value <= range.last)
			return true;
	return false;
}
