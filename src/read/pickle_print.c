/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_print.c - a value of a pickle as JSON. See pickle.h.
 */
#include "read/pickle.h"

#include "base/emit.h"

#define MAX_PRINT_DEPTH 128

struct print {
	struct ht_pickle *pickle;
	struct ht_emit *emit;
	uint64_t n_left;
	unsigned depth;
};

static enum ht_status print(struct print *p, ht_pk value);

static void print_number(struct print *p, ht_pk value)
{
	int64_t number;
	uint64_t wide;
	double real;
	if (ht_pk_i64(p->pickle, value, &number))
		ht_emit_i64(p->emit, number);
	else if (ht_pk_u64(p->pickle, value, &wide))
		ht_emit_u64(p->emit, wide);
	else if (ht_pk_f64(p->pickle, value, &real))
		ht_emit_f64(p->emit, real);
	else
		HT_EMIT(p->emit, "null");
}

/* The place of the last value of a key: Python keeps the first place and the last value. */
static size_t last_of_key(const ht_pk *items, size_t n, size_t i)
{
	size_t last = i;
	for (size_t k = i + 2; k < n; k += 2)
		if (items[k] == items[i])
			last = k;
	return last;
}

static bool is_repeated(const ht_pk *items, size_t i)
{
	for (size_t k = 0; k < i; k += 2)
		if (items[k] == items[i])
			return true;
	return false;
}

static enum ht_status print_dict(struct print *p, ht_pk value)
{
	size_t n, n_printed = 0;
	const ht_pk *items = ht_pk_items(p->pickle, value, &n);
	ht_emit_char(p->emit, '{');
	for (size_t i = 0; i + 1 < n; i += 2) {
		if (is_repeated(items, i))
			continue;
		if (n_printed++)
			ht_emit_char(p->emit, ',');
		bool is_text = ht_pk_kind(items[i]) == HT_PK_STR;
		if (!is_text)
			ht_emit_char(p->emit, '"');
		HT_TRY(print(p, items[i]));
		if (!is_text)
			ht_emit_char(p->emit, '"');
		ht_emit_char(p->emit, ':');
		HT_TRY(print(p, items[last_of_key(items, n, i) + 1]));
	}
	ht_emit_char(p->emit, '}');
	return HT_OK;
}

static enum ht_status print_list(struct print *p, ht_pk value)
{
	size_t n;
	const ht_pk *items = ht_pk_items(p->pickle, value, &n);
	ht_emit_char(p->emit, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			ht_emit_char(p->emit, ',');
		HT_TRY(print(p, items[i]));
	}
	ht_emit_char(p->emit, ']');
	return HT_OK;
}

static enum ht_status print(struct print *p, ht_pk value)
{
	enum ht_status status = HT_OK;
	size_t n;
	value = ht_pk_resolve(p->pickle, value);
	if (!p->n_left || p->depth >= MAX_PRINT_DEPTH)
		return ht_fail(p->pickle->ctx, HT_LIMIT, p->pickle->path, -1,
		        "it may hold itself, or the same thing many times over",
		        "a value of the pickle is too long to be written down");
	p->n_left--;
	p->depth++;
	switch (ht_pk_kind(value)) {
	case HT_PK_BOOL:
		if (ht_pk_payload(value))
			HT_EMIT(p->emit, "true");
		else
			HT_EMIT(p->emit, "false");
		break;
	case HT_PK_STR: {
		const char *text = ht_pk_text(p->pickle, value, &n);
		ht_emit_string(p->emit, text, n);
		break;
	}
	case HT_PK_LIST:
	case HT_PK_TUPLE: status = print_list(p, value); break;
	case HT_PK_DICT: status = print_dict(p, value); break;
	default: print_number(p, value);
	}
	p->depth--;
	return status;
}

enum ht_status ht_pk_print(
        struct ht_pickle *pickle, ht_pk value, struct ht_emit *emit, uint64_t max_values)
{
	struct print p = { pickle, emit, max_values, 0 };
	return print(&p, value);
}
