/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.c - see grammar.h.
 */
#include "model/serving/grammar.h"

#include "base/text_compare.h"

#include <string.h>

#define MAX_COUNT ((int64_t)1 << 53)

/* Go past a text; false, and nothing moves, when it does not stand there. */
static bool take(const char **at, const char *text)
{
	if (!ht_text_starts(*at, text))
		return false;
	*at += strlen(text);
	return true;
}

/* A number without sign. */
static bool take_count(const char **at, int64_t *ret_value)
{
	const char *p = *at;
	int64_t value = 0;
	for (; *p >= '0' && *p <= '9' && value < MAX_COUNT / 10; p++)
		value = value * 10 + (*p - '0');
	if (p == *at || (*p >= '0' && *p <= '9'))
		return false;
	*at = p;
	*ret_value = value;
	return true;
}

const struct ht_iteration_name ht_iteration_unknown = { HT_PHASE_OTHER, -1, -1, -1, -1, -1, -1, -1,
	-1, -1 };

/* (14721), or (sq32sk55086sqsq32sqsk55086): tokens, and with the long form KV tokens. */
static bool take_sums(const char **at, int64_t *ret_tokens, int64_t *ret_kv)
{
	int64_t rest;
	if (!take(at, "("))
		return false;
	if (take_count(at, ret_tokens))
		return take(at, ")");
	return take(at, "sq") && take_count(at, ret_tokens) && take(at, "sk") &&
	       take_count(at, ret_kv) && take(at, "sqsq") && take_count(at, &rest) &&
	       take(at, "sqsk") && take_count(at, &rest) && take(at, ")");
}

static bool parse_execute(const char *at, struct ht_iteration_name *n)
{
	int64_t kv = -1;
	bool has_total = take_count(&at, &n->tokens);
	if (has_total && !*at) {
		n->batch = n->tokens;
		n->tokens = -1;
		return true;
	}
	if (has_total && !take(&at, "_"))
		return false;
	if (!take(&at, "context_") || !take_count(&at, &n->context_requests) ||
	        !take_sums(&at, &n->context_tokens, &kv) || !take(&at, "_generation_") ||
	        !take_count(&at, &n->generation_requests) ||
	        !take_sums(&at, &n->generation_tokens, &n->kv_tokens) || *at)
		return false;
	n->requests = n->context_requests + n->generation_requests;
	if (!has_total)
		n->tokens = n->context_tokens + n->generation_tokens;
	n->batch = n->tokens;
	return true;
}

/* The number behind " key=", wherever it stands; -1 when it is not there. */
static int64_t field(const char *text, const char *key)
{
	size_t n = strlen(key);
	int64_t value;
	for (const char *at = text; (at = strstr(at, key)); at += n) {
		const char *number = at + n + 1;
		if (at != text && at[-1] != ' ' && at[-1] != '[')
			continue;
		if (at[n] == '=' && take_count(&number, &value))
			return value;
	}
	return -1;
}

static bool parse_step(const char *at, struct ht_iteration_name *n)
{
	static const struct {
		const char *word;
		enum ht_phase phase;
	} modes[] = { { "EXTEND", HT_PHASE_PREFILL }, { "DECODE", HT_PHASE_DECODE },
		{ "MIXED", HT_PHASE_MIXED }, { "TARGET_VERIFY", HT_PHASE_DECODE },
		{ "DRAFT_LOOP", HT_PHASE_DECODE } };
	size_t i = 0;
	while (i < sizeof modes / sizeof modes[0] && !take(&at, modes[i].word))
		i++;
	if (i == sizeof modes / sizeof modes[0] || (*at != ' ' && *at != ']') ||
	        !ht_text_ends(at, "]"))
		return false;
	n->phase = modes[i].phase;
	int64_t raw = field(at, "raw_bs");
	n->batch = field(at, "bs");
	n->requests = raw >= 0 ? raw : n->batch;
	n->padded = raw >= 0 ? n->batch : -1;
	n->tokens = field(at, "toks");
	n->context_requests = field(at, "c");
	n->generation_requests = field(at, "g");
	n->context_tokens = field(at, "c_sq");
	n->generation_tokens = field(at, "g_sq");
	n->kv_tokens = field(at, "g_sk");
	if (n->tokens < 0 && n->context_tokens >= 0 && n->generation_tokens >= 0)
		n->tokens = n->context_tokens + n->generation_tokens;
	if (n->tokens < 0 && n->phase == HT_PHASE_DECODE)
		n->tokens = n->generation_tokens >= 0 ? n->generation_tokens : n->requests;
	return true;
}

static bool parse_atom(const char *at, enum ht_phase phase, struct ht_iteration_name *n)
{
	if (!ht_text_ends(at, "]"))
		return false;
	const char *bs = strstr(at, "bs=");
	if (!bs || (bs != at && bs[-1] != ' '))
		return false;
	bs += 3;
	if (!take_count(&bs, &n->requests))
		return false;
	if (take(&bs, "/") && !take_count(&bs, &n->padded))
		return false;
	n->phase = phase;
	n->batch = n->padded >= 0 ? n->padded : n->requests;
	n->tokens = field(at, "tok");
	return true;
}

bool ht_iteration_parse(const char *name, struct ht_iteration_name *ret_name)
{
	struct ht_iteration_name n = ht_iteration_unknown;
	const char *at = name;
	bool ok = take(&at, "execute_")   ? parse_execute(at, &n)
	          : take(&at, "step[")    ? parse_step(at, &n)
	          : take(&at, "prefill[") ? parse_atom(at, HT_PHASE_PREFILL, &n)
	          : take(&at, "decode[")  ? parse_atom(at, HT_PHASE_DECODE, &n)
	                                  : false;
	if (!ok)
		return false;
	if (n.context_requests >= 0 && n.generation_requests >= 0)
		n.phase = !n.context_requests      ? HT_PHASE_DECODE
		          : !n.generation_requests ? HT_PHASE_PREFILL
		                                   : HT_PHASE_MIXED;
	*ret_name = n;
	return true;
}

bool ht_capture_parse(const char *name, int64_t *ret_size)
{
	return take(&name, "capture_") && take_count(&name, ret_size) && (*name == '_' || !*name);
}

const char *ht_phase_name(enum ht_phase phase)
{
	static const char *const names[] = { "other", "prefill", "decode", "mixed" };
	return names[phase];
}
