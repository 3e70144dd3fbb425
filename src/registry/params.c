/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.c - see params.h.
 */
#include "registry/params.h"

#include "base/list.h"
#include "base/literal.h"

#include <string.h>

/* "3:1234": rank and row. */
static bool parse_event(const char *text, int64_t *ret_id)
{
	int64_t rank, row;
	char digits[24];
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	if (!n || n >= sizeof digits)
		return false;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (!ht_parse_i64(digits, &rank) || !ht_parse_i64(colon + 1, &row) || rank < 0 ||
	        rank > INT32_MAX || row < 0 || row >= UINT32_MAX)
		return false;
	*ret_id = ht_event_id(rank, (uint32_t)row);
	return true;
}

static bool is_choice(const char *choices, const char *text)
{
	size_t n = strlen(text);
	for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strcspn(p, "|") == n && !strncmp(p, text, n))
			return true;
	return false;
}

enum ht_status ht_param_check(ht_ctx *ctx, const struct ht_param *param, const char *text)
{
	int64_t integer;
	double number;
	bool flag, ok = true;
	const char *want = "a text";
	switch (param->type) {
	case HT_I64:
	case HT_U64:
	case HT_BYTES:
		ok = ht_parse_i64(text, &integer);
		want = "a whole number";
		break;
	case HT_RATIO:
		ok = ht_parse_ratio(text, &number);
		want = "a share such as 0.03 or 3%";
		break;
	case HT_F64:
	case HT_DURATION_F64:
		ok = ht_parse_f64(text, &number);
		want = "a number";
		break;
	case HT_BOOL:
		ok = ht_parse_bool(text, &flag);
		want = "true or false";
		break;
	case HT_TIME:
	case HT_DURATION:
		ok = ht_parse_duration(text, &integer);
		want = "a time such as 30us or 1.5ms";
		break;
	case HT_EVENT:
		ok = parse_event(text, &integer);
		want = "an event such as 0:1234, rank and row";
		break;
	case HT_STR: ok = !param->choices || is_choice(param->choices, text); break;
	}
	if (ok)
		return HT_OK;
	if (param->type == HT_STR && param->choices)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "--%s %s: expected one of %s",
		        param->name, text, param->choices);
	return ht_fail(
	        ctx, HT_USAGE, NULL, -1, NULL, "--%s %s: expected %s", param->name, text, want);
}
